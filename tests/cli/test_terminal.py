"""A real terminal: colours where they are wanted, small pictures where it has the characters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "t.csv"
    rows = [f"{30 + i % 7 / 10},{'ab'[i % 2]}" for i in range(80)]
    path.write_text("\n".join(["temp,kind", *rows, "5.2,a"]), encoding="utf-8")
    return path


def shown(table: Path, **environment: str) -> str:
    """Run the command line on a pseudo-terminal and give what it shows."""
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        pytest.skip(f"no pseudo-terminal can be had: {error}")
    command = [sys.executable, "-m", "outlying", "explain", str(table)]
    command += ["--row", "81"]
    known = {"PATH": os.environ["PATH"], "TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=known | environment) as run:
        os.close(theirs)
        found = b""
        while chunk := _read(ours):
            found += chunk
        assert run.wait() == 0
    os.close(ours)
    return found.decode("utf-8")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other end is closed
        return b""


def test_the_group_is_drawn_and_the_row_marked(table: Path) -> None:
    text = shown(table)
    assert "█" in text
    assert "▲ 5.2" in text
    assert "\x1b[" in text


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"PYTHONIOENCODING": "ascii"}])
def test_no_characters_no_pictures(table: Path, environment: dict[str, str]) -> None:
    text = shown(table, **environment)
    assert "temp = 5.2, expected 30 to 30.6" in text
    assert "▲" not in text


def test_pictures_do_without_colours(table: Path) -> None:
    text = shown(table, NO_COLOR="1")
    assert "▲ 5.2" in text
    assert "\x1b[" not in text
