"""What the system does to a command: full devices, closed streams and pipes, signals, names."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import outlying

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A table with characters that are not ASCII."""
    path = tmp_path / "people.csv"
    rows = (f"{row % 7},{'äöü漢😀'[row % 5]},{row * row % 11}" for row in range(300))
    path.write_text("\n".join(["größe,ort,c", *rows]) + "\n", encoding="utf-8")
    return path


def shell(command: str, *args: object, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run outlying in a shell, which the command tells what to do with its streams."""
    whole = [sys.executable, "-m", "outlying", *map(str, args)]
    script = command.replace("OUTLYING", '"$@"')
    return subprocess.run(
        ["bash", "-c", script, "bash", *whole],  # noqa: S607
        capture_output=True,
        env=os.environ | env,
        check=False,
    )


EXPLAIN_ONE = ("--row", 3)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("form", ["text", "json", "jsonl", "html"])
def test_a_full_device_is_said(people: Path, form: str) -> None:
    done = shell("OUTLYING > /dev/full", "explain", people, *EXPLAIN_ONE, "--format", form)
    assert done.returncode == 2
    assert b"cannot write to standard output: No space left" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"ignored" not in done.stderr


def test_help_on_a_full_device() -> None:
    done = shell("OUTLYING > /dev/full", "--help")
    assert (done.returncode, done.stderr) == (2, b"Error: No space left on device\n")


@pytest.mark.parametrize("args", [["explain", "{}", "--rows", "1-80"], ["-h"]])
def test_a_pipe_that_nobody_reads_ends_quietly(people: Path, args: list[str]) -> None:
    filled = [arg.format(people) for arg in args]
    done = shell("OUTLYING | true; echo ${PIPESTATUS[0]}", *filled)
    assert done.stdout == b"141\n"
    assert done.stderr == b""


def test_streams_that_are_closed(people: Path, tmp_path: Path) -> None:
    args = ("explain", people, *EXPLAIN_ONE)
    done = shell("OUTLYING >&-", *args)
    assert (done.returncode, b"standard output is closed" in done.stderr) == (2, True)
    file = tmp_path / "out.json"
    assert shell("OUTLYING >&- 2>&- <&-", *args, "-o", file, "--format", "json").returncode == 0
    assert json.loads(file.read_text())["rows"] == 300
    done = shell("OUTLYING <&-", "explain", people, "--objects", "-")
    assert (done.returncode, b"standard input is closed" in done.stderr) == (2, True)
    assert shell("OUTLYING 2>&-", "explain", tmp_path / "none.csv", "--row", 1).returncode == 2


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "html"])
def test_output_in_an_encoding_without_these_characters(people: Path, form: str) -> None:
    args = ("explain", people, *EXPLAIN_ONE, "--format", form)
    done = shell("OUTLYING", *args, PYTHONIOENCODING="ascii")
    plain = shell("OUTLYING", *args, PYTHONIOENCODING="utf-8").stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.decode("ascii")
    if form == "json":
        assert json.loads(said) == json.loads(plain)
    elif form == "html":
        assert html.unescape(said) == html.unescape(plain)
    else:
        assert "\\u00f6" in said


def test_names_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    name = "\x1b[31mred\x07\u202e"
    for args in (["explain", f"{name}.csv", "--row", 1], [f"--{name}"], ["explain", name, name]):
        done = shell("OUTLYING", *args)
        assert done.returncode == 2
        assert b"\x1b" not in done.stderr
        assert b"\x07" not in done.stderr
        assert "\u202e".encode() not in done.stderr
    file = tmp_path / f"{name}.csv"
    file.write_text("a,b\n1,2\n3,4\n5,6\n")
    output = tmp_path / name
    args = ["explain", file, "--rows", "1-2", "--format", "jsonl", "-o", output]
    for more in ([], ["--resume"]):
        done = shell("OUTLYING", *args, *more)
        assert (done.returncode, b"\x1b" in done.stderr) == (0, False)


def test_an_error_in_python_says_names_harmlessly() -> None:
    with pytest.raises(outlying.SourceError, match=r"\\x1b\[2J") as caught:
        outlying.explain("\x1b[2J.csv", row=1)
    assert "\x1b" not in str(caught.value)


# --- limits -----------------------------------------------------------------------------------


def with_limit(kind: str, limit: int, *args: object, **env: str) -> tuple[int, str, str]:
    """Run outlying with a limit of the system; return exit code, standard output and error."""
    import resource

    number = getattr(resource, kind)
    done = subprocess.run(
        [sys.executable, "-m", "outlying", *map(str, args)],
        env=os.environ | env,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(number, (limit, limit)),
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@LINUX
@pytest.mark.parametrize("mebibytes", [400, 800])
def test_memory_that_runs_out_is_said(tmp_path: Path, mebibytes: int) -> None:
    """Before data are read, and while they are."""
    path = tmp_path / "large.csv"
    lines = [",".join(f"{place}.{row}{row}" for place in range(12)) for row in range(500)]
    path.write_text("\n".join([",".join("abcdefghijkl"), *lines * 1000]) + "\n")
    args = ("explain", path, "--row", 3)
    one = {"OPENBLAS_NUM_THREADS": "1"}  # or else the limit would depend on the number of cores
    code, out, err = with_limit("RLIMIT_AS", mebibytes << 20, *args, **one)
    assert (code, out) == (2, "")
    assert err.startswith("Error: there is not enough memory; --engine duckdb reads a large file")
    assert err.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="needs limits of the system")
def test_a_full_folder_for_temporary_files_is_said(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    ends = ("\n", "\r\n")
    lines = (f"{row % 7},{row * row % 11}{ends[row % 2]}" for row in range(3000))
    path.write_bytes("".join(["a,b\n", *lines]).encode())
    (tmp_path / "temporary").mkdir()
    args = ("explain", path, "--row", 3)
    room = {"TMPDIR": str(tmp_path / "temporary")}
    code, out, err = with_limit("RLIMIT_FSIZE", 1000, *args, **room)
    assert (code, out) == (2, "")
    assert f"cannot be written to {tmp_path / 'temporary'}: File too large; repair the" in err
    assert "TMPDIR" in err
    assert err.count("\n") == 1
    assert not [*(tmp_path / "temporary").iterdir()]
    assert with_limit("RLIMIT_FSIZE", 1_000_000, *args, **room)[0] == 0


# --- interrupts while modules are loaded -----------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="ends by a signal")
@pytest.mark.parametrize("command", ["-m outlying", "bin/outlying", "-c import outlying"])
def test_an_interrupt_while_modules_are_loaded(tmp_path: Path, command: str) -> None:
    """It ends the command without a traceback; a program that only imports us is left alone."""
    (tmp_path / "bin").mkdir()
    script = "from outlying.cli.main import main; main()"
    (tmp_path / "bin" / "outlying").write_text(script)
    stop = "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(60)"
    (tmp_path / "numpy.py").write_text(stop)
    done = subprocess.run(
        [sys.executable, *command.split(" ", 1)],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{Path(outlying.__file__).parent.parent}"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        check=False,
    )
    assert done.returncode == -signal.SIGINT
    assert ("KeyboardInterrupt" in done.stderr) == ("import" in command)
    assert done.stderr == "" or "import" in command


# --- signals, and workers that die ----------------------------------------------------------


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A table on which many rows keep several processes busy for a while."""
    path = tmp_path / "many.csv"
    rng = np.random.default_rng(3)
    rows = [",".join(map(str, line)) for line in rng.normal(size=(3000, 8)).round(3)]
    path.write_text("\n".join(["a,b,c,d,e,f,g,h", *rows]) + "\n")
    return path


def started(*args: object) -> subprocess.Popen[str]:
    """Start the command line; signals that the tests were told to ignore (nohup) count for it."""
    program = (
        "import runpy, signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); "
        "runpy.run_module('outlying', run_name='__main__', alter_sys=True)"
    )
    command = [sys.executable, "-c", program, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not is_so():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def children(process: subprocess.Popen[str]) -> list[int]:
    files = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [int(number) for file in files for number in file.read_text().split()]


ALL = ("--rows", "1-3000", "--workers", 2)


@LINUX
@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_signal_that_ends_leaves_nothing_half_done(
    many: Path, tmp_path: Path, signal_name: str, form: str
) -> None:
    number, target = getattr(signal, signal_name), tmp_path / "out"
    partial = tmp_path / "out.partial"
    process = started("explain", many, *ALL, "--format", form, "-o", target)
    wait_until(lambda: len(children(process)) == 2, process)
    if form == "jsonl":
        wait_until(lambda: partial.read_bytes().count(b"\n") > 1, process)
    workers = children(process)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (128 + number, "")
    assert "Traceback" not in err
    left = ["many.csv", "out.partial"] if form == "jsonl" else ["many.csv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == left
    assert ("--resume continues" in err) == (form == "jsonl")
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


@LINUX
def test_a_worker_that_is_killed_is_told_and_the_run_continued(many: Path, tmp_path: Path) -> None:
    target, partial = tmp_path / "out", tmp_path / "out.partial"
    args = ("explain", many, *ALL, "--format", "jsonl", "-o", target)
    process = started(*args)
    wait_until(lambda: len(children(process)) == 2, process)
    lines = partial.read_bytes().count(b"\n")
    wait_until(lambda: partial.read_bytes().count(b"\n") > lines, process)
    os.kill(children(process)[0], signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert re.search(r"a worker process died while it worked on data row \d+;", err)
    assert "--workers 1" in err
    assert re.search(r"[\d,]+ of 3,000 are explained in .*out.partial; .*--resume continues", err)
    assert "Traceback" not in err
    assert not target.exists()
    process = started(*args, "--resume")
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert target.read_bytes().count(b"\n") == 3002
