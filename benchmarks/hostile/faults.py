"""Faults of the system, at random moments of a command; what is left behind is looked at.

No result is ever half a file: it is the old one, the whole new one, or lines that can be continued.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.hostile.report import tell

OLD = "an older result\n"
FORMS = ("text", "json", "html", "jsonl")
_ROWS = 3000
_LARGE = Path(tempfile.gettempdir()) / f"hostile-large-{os.getpid()}"


class _FoundError(Exception):
    """What was left behind is wrong."""


def check(is_so: bool, what: str) -> None:
    if not is_so:
        raise _FoundError(what)


def table(folder: Path, rows: int = _ROWS) -> Path:
    """Write a table on which some rows take a while."""
    rng, path = random.Random(3), folder / "t.csv"
    lines = [",".join(f"{rng.gauss(0, 1):.3f}" for _ in range(8)) for _ in range(rows)]
    path.write_text("\n".join(["a,b,c,d,e,f,g,h", *lines]) + "\n")
    return path


def started(*args: object, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "outlying", *map(str, args)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=env)


def explained(
    path: Path, form: str, target: Path, *more: object, env: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start to explain many rows into a file."""
    many = ("--rows", "1-60", "--workers", 2)
    return started("explain", path, *many, "--format", form, "-o", target, *more, env=env)


def is_whole(path: Path, form: str) -> bool:
    """Return whether a file holds a whole result."""
    text = path.read_text()
    if form == "json":
        return len(json.loads(text)["objects"]) == 60
    if form == "jsonl":
        return bool([*map(json.loads, text.splitlines())][-1].keys() == {"patterns"})
    return text.rstrip().endswith("</html>") if form == "html" else "in common" in text


def look(folder: Path, form: str, *, hidden: bool) -> str:
    """Look at what is left; hidden temporary files only where nobody could take them away."""
    target = folder / "out"
    names = {path.name for path in folder.iterdir()} - {"t.csv", "out"}
    partial = names & {"out.partial"}
    check(not partial or form == "jsonl", f"left behind: {partial}")
    others = {name for name in names - partial if not (hidden and name.startswith("."))}
    check(not others, f"left behind: {others}")
    text = target.read_text()
    check(text == OLD or is_whole(target, form), "half a result")
    return "the old result" if text == OLD else "the new result"


def resumed(folder: Path, path: Path) -> None:
    """Continue what was interrupted."""
    if not (folder / "out.partial").exists():
        return
    (folder / "out").unlink(missing_ok=True)
    run = explained(path, "jsonl", folder / "out", "--resume")
    _, err = run.communicate(timeout=120)
    check(run.returncode == 0, f"cannot be continued: {err}")
    check(is_whole(folder / "out", "jsonl"), "half a result after --resume")


def ended_by(number: int, form: str, rng: random.Random, folder: Path) -> str:
    """Send a signal at a random moment."""
    path = table(folder)
    (folder / "out").write_text(OLD)
    run = explained(path, form, folder / "out")
    time.sleep(rng.uniform(0, 4))
    with contextlib.suppress(ProcessLookupError):
        run.send_signal(number)
    _, err = run.communicate(timeout=60)
    expected = (0, -number, 128 + number)
    check(run.returncode in expected, f"exit code {run.returncode}: {err[-300:]}")
    is_ours = "outlying/cli" in err  # Python itself may be interrupted before it comes to that
    check("Traceback" not in err or not is_ours, err[-600:])
    time.sleep(0.5)
    found = look(folder, form, hidden=number == signal.SIGKILL)
    resumed(folder, path)
    return found


def worker_killed(form: str, rng: random.Random, folder: Path) -> str:
    """Kill one of the processes that work."""
    path = table(folder)
    (folder / "out").write_text(OLD)
    run = explained(path, form, folder / "out")
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    workers: list[str] = []
    while run.poll() is None and len(workers) < 2:
        with contextlib.suppress(OSError):
            workers = children.read_text().split()
    time.sleep(rng.uniform(0, 0.5))
    with contextlib.suppress(ProcessLookupError, IndexError):
        os.kill(int(rng.choice(workers)), signal.SIGKILL)
    _, err = run.communicate(timeout=60)
    check(run.returncode in (0, 2), f"exit code {run.returncode}: {err[-300:]}")
    check("Traceback" not in err, err[-600:])
    check(run.returncode == 0 or "worker process died" in err, err[-300:])
    found = look(folder, form, hidden=False)
    resumed(folder, path)
    return found


def disk_full(form: str, rng: random.Random, folder: Path) -> str:
    """Write to a file system of a few hundred kilobytes."""
    small = folder / "small"
    small.mkdir()
    size = rng.choice([16, 64, 256])
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        return "not tried: nothing can be mounted"
    try:
        path = table(folder)
        (small / "out").write_text(OLD)
        run = explained(path, form, small / "out")
        _, err = run.communicate(timeout=120)
        check(run.returncode in (0, 2), f"exit code {run.returncode}: {err[-300:]}")
        check("Traceback" not in err, err[-600:])
        return look(small, form, hidden=False)
    finally:
        subprocess.run(["umount", str(small)], check=False)  # noqa: S607


def temporary_full(form: str, rng: random.Random, folder: Path) -> str:
    """Stream and read with a folder for temporary files that is full."""
    small = folder / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={rng.choice([4, 64])}k", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        return "not tried: nothing can be mounted"
    try:
        path = table(folder)
        lines = path.read_bytes().splitlines()
        ends = rng.choice([[b"\n"], [b"\n", b"\r\n"]])  # a file of both is copied first
        path.write_bytes(b"".join(line + ends[row % len(ends)] for row, line in enumerate(lines)))
        (folder / "out").write_text(OLD)
        run = explained(path, form, folder / "out", env=os.environ | {"TMPDIR": str(small)})
        _, err = run.communicate(timeout=120)
        check(run.returncode in (0, 2), f"exit code {run.returncode}: {err[-300:]}")
        check("Traceback" not in err, err[-600:])
        return "answered" if run.returncode == 0 else "refused"
    finally:
        subprocess.run(["umount", str(small)], check=False)  # noqa: S607


def read_only(form: str, rng: random.Random, folder: Path) -> str:
    """Write to a folder that may only be read; for root, on a file system that is so."""
    del rng
    place, path = folder / "locked", table(folder, 50)
    place.mkdir(mode=0o555)
    target = place / "out" if os.geteuid() else Path("/proc/out")
    run = explained(path, form, target)
    _, err = run.communicate(timeout=60)
    check(run.returncode == 2, f"exit code {run.returncode}")
    check("cannot write" in err and "Traceback" not in err, err[-600:])
    return "refused"


def changed_below(form: str, rng: random.Random, folder: Path) -> str:
    """Change the table while it is read as a stream."""
    path = table(folder, 30_000)
    (folder / "out").write_text(OLD)
    where = ("--where-true", "flag", "--engine", "duckdb")
    lines = path.read_text().splitlines()
    marked = [f"{line},{int(place in (5, 7))}" for place, line in enumerate(lines[1:])]
    path.write_text("\n".join([f"{lines[0]},flag", *marked]) + "\n")
    run = started("explain", path, *where, "--format", form, "-o", folder / "out")
    time.sleep(rng.uniform(0.5, 4))
    if run.poll() is None:
        rng.choice(_CHANGES)(path)
    _, err = run.communicate(timeout=120)
    check(run.returncode in (0, 2), f"exit code {run.returncode}: {err[-300:]}")
    check("Traceback" not in err, err[-600:])
    left = {item.name for item in folder.iterdir()} - {"t.csv", "out"}
    check(not left, f"left behind: {left}")
    return "answered" if run.returncode == 0 else "refused"


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _grow(path: Path) -> None:
    with path.open("a") as stream:
        stream.write("1,2,3,4,5,6,7,8,0\n")


def _spoil(path: Path) -> None:
    path.write_text("nothing\n")


_CHANGES: tuple[Callable[[Path], None], ...] = (_cut, _grow, _spoil, lambda path: path.unlink())


def closed_pipe(form: str, rng: random.Random, folder: Path) -> str:
    """Stop to read standard output at a random place."""
    path = table(folder)
    run = started("explain", path, "--rows", "1-60", "--format", form)
    assert run.stdout is not None
    assert run.stderr is not None
    run.stdout.read(rng.choice([0, 1, 100, 10_000]))
    run.stdout.close()
    err = run.stderr.read()
    run.stderr.close()
    code = run.wait(timeout=60)
    check(code in (0, -signal.SIGPIPE), f"exit code {code}")
    check(err == "", err[-300:])
    return "ended quietly"


def signalled(number: int) -> Callable[[str, random.Random, Path], str]:
    return lambda form, rng, folder: ended_by(number, form, rng, folder)


def large_table(wide: bool) -> Path:
    """Write a table of about 100 MB, or of 100,000 columns, once for all rounds."""
    path = _LARGE / ("wide.csv" if wide else "large.csv")
    if not path.exists():
        rng, fields = random.Random(4), 100_000 if wide else 20
        _LARGE.mkdir(exist_ok=True)
        with path.open("w") as stream:
            stream.write(",".join(f"c{place}" for place in range(fields)) + "\n")
            lines = [
                ",".join(f"{rng.gauss(0, 1):.5f}" for _ in range(fields)) + "\n"
                for _ in range(30 if wide else 700)
            ]
            for _ in range(1 if wide else 900):
                stream.writelines(lines)
    return path


def large_file(number: int) -> Callable[[str, random.Random, Path], str]:
    """Send a signal while a large file is read: into memory, or as a stream."""

    def fault(form: str, rng: random.Random, folder: Path) -> str:
        path = large_table(wide=rng.random() < 0.25)
        (folder / "out").write_text(OLD)
        asked = rng.choice([("--row", 3), ("--where", "c0=9", "--engine", "duckdb")])
        temporary = folder / "temporary"
        temporary.mkdir()
        env = os.environ | {"TMPDIR": str(temporary)}
        more = ("--format", form, "-o", folder / "out")
        run = started("explain", path, *asked, *more, env=env)
        time.sleep(rng.uniform(0.5, 8))
        for _ in range(rng.choice([1, 1, 3])):  # people press it again
            with contextlib.suppress(ProcessLookupError):
                run.send_signal(number)
            time.sleep(0.1)
        _, err = run.communicate(timeout=120)
        expected = (0, 2, -number, 128 + number)  # 2: no row has that value
        check(run.returncode in expected, f"exit code {run.returncode}: {err[-300:]}")
        check("Traceback" not in err and "ignored" not in err, err[-600:])
        left = {item.name for item in (*folder.iterdir(), *temporary.iterdir())}
        check(left == {"out", "temporary"}, f"left behind: {left}")
        is_old = (folder / "out").read_text() == OLD
        check(is_old or run.returncode == 0, "half a result")
        return "the old result" if is_old else "the new result"

    return fault


FAULTS: dict[str, Callable[[str, random.Random, Path], str]] = {
    "SIGKILL": signalled(signal.SIGKILL),
    "SIGTERM": signalled(signal.SIGTERM),
    "SIGINT": signalled(signal.SIGINT),
    "SIGINT, large file": large_file(signal.SIGINT),
    "SIGTERM, large file": large_file(signal.SIGTERM),
    "killed worker": worker_killed,
    "full disk": disk_full,
    "full folder for temporary files": temporary_full,
    "read-only folder": read_only,
    "changed file": changed_below,
    "closed pipe": closed_pipe,
}


def _outcomes(rounds: int, seed: int, only: list[str]) -> Iterator[tuple[str, str]]:
    for name, fault in FAULTS.items():
        if only and name not in only:
            continue
        for place in range(rounds):
            form = FORMS[place % len(FORMS)]
            with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
                try:
                    yield name, fault(form, random.Random(seed + place), Path(folder))
                except (_FoundError, subprocess.TimeoutExpired, ValueError, KeyError) as error:
                    said = re.sub(r"\s+", " ", str(error))
                    yield name, f"FAULT ({form}, {place}): {type(error).__name__} {said}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12, help="of each fault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], choices=[*FAULTS])
    parser.add_argument("-o", "--output", type=Path, help="write the counts to a file, too")
    given = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # may be ignored where this runs by itself
        signal.signal(number, signal.default_int_handler)
    counts: collections.Counter[str] = collections.Counter()
    faults = 0
    for name, outcome in _outcomes(given.rounds, given.seed, given.only):
        if outcome.startswith("FAULT"):
            faults += 1
            print(f"{name}: {outcome}", flush=True)
            outcome = "FAULT"
        counts[f"{name}: {outcome}"] += 1
    tried = f"{given.rounds} times each, from seed {given.seed}: random moments, places and sizes"
    summary = f"{counts.total():,} faults of the system ({tried}), {faults} of ours."
    shutil.rmtree(_LARGE, ignore_errors=True)
    tell("Faults of the system", summary, counts, given.output)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
