"""What people see of a run: findings as text, with colours, and how far it is."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from outlying import sentences as say
from outlying.render import text
from outlying.render.text import CHARACTERS, Look
from outlying.results.wording import Terms

_STYLES: dict[str, dict[str, Any]] = {
    "title": {"bold": True},
    "exceptional": {},
    "ordinary": {"dim": True},
    "detail": {"dim": True},
    "picture": {"fg": "cyan"},
}
_SELDOM = 15.0  # seconds between lines of progress where there is no terminal
_PATIENCE = 1.0  # seconds before a progress line appears
_PLAIN_WIDTH, _WIDEST = 88, 120
_LINED, _MOST_BYTES = (".csv", ".tsv"), 1 << 26  # files whose lines are counted

#: How the commands name rows and those of their options that are hinted at.
EXPLAIN = Terms(
    1,
    "row",
    "--all",
    "--all",
    {name: f"--{name}" for name in ("top", "exact", "exclude")},
)
DETECT = Terms(1, "row", "--all", "--all", {"top": "--pairs", "exclude": "--exclude"})
DEMO = Terms(1, "row", "--all", "--all", {})


def look(is_terminal: bool, terms: Terms = EXPLAIN, *, everything: bool = False) -> Look:
    """Return how text is written: coloured and as wide as the terminal where there is one."""
    return Look(
        width(is_terminal),
        _style(is_terminal),
        everything,
        with_sparks=is_terminal and _has_characters(),
        terms=terms,
    )


def _has_characters() -> bool:
    """Return whether the terminal can show small pictures."""
    try:
        CHARACTERS.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return os.environ.get("TERM") != "dumb"


def header_lines(source: str, rows: int) -> int | None:
    """Return how many lines of a text file stand above its first row; None where that is unclear.

    It is one, if every row has a line of its own: a text of several lines would shift the others.
    """
    path = Path(source)
    try:
        if path.suffix.lower() not in _LINED or path.stat().st_size > _MOST_BYTES:
            return None
        content = path.read_bytes()
    except (OSError, ValueError):
        return None
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    return 1 if lines == rows + 1 else None


def width(is_terminal: bool) -> int:
    """Return how many characters a line may have."""
    if not is_terminal:
        return _PLAIN_WIDTH
    return min(_WIDEST, shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns)


def _style(is_terminal: bool) -> text.Style:
    return _coloured if is_terminal and "NO_COLOR" not in os.environ else text.no_style


def _coloured(content: str, role: str) -> str:
    return click.style(content, **_STYLES[role])


class ProgressLine:
    """One line on standard error, and only when it takes a while.

    Where that is no terminal, a line now and then, in work that takes minutes.
    """

    def __init__(self, is_quiet: bool = False) -> None:
        self._begin, self._length = time.monotonic(), 0
        self._said, self._is_quiet = self._begin, is_quiet

    def step(self, done: int, total: int) -> None:
        """Say how far one search is."""
        percent = f"{100 * done // max(1, total):3d}"
        self._show(say.WORKING.format(percent=percent))

    def objects(self, done: int, total: int, before: int = 0) -> None:
        """Say how many objects are done, of these `before` in an earlier run, and what is left."""
        seconds = time.monotonic() - self._begin
        left = duration(seconds / max(1, done - before) * (total - done))
        self._show(say.EXPLAINED_SO_FAR.format(done=f"{done:,}", total=f"{total:,}", left=left))

    def stage(self, name: str, done: int, total: int) -> None:
        """Say what is being done, and how far the whole is."""
        percent = f"{100 * done // max(1, total):3d}"
        self._show(say.WORKING_ON.format(percent=percent, stage=name))

    def restart(self) -> None:
        """Count the time from now."""
        self.clear()
        self._begin = time.monotonic()

    def clear(self) -> None:
        """Leave nothing behind."""
        if self._length:
            click.echo("\r" + " " * self._length + "\r", nl=False, err=True)
        self._length = 0

    def _show(self, content: str) -> None:
        now = time.monotonic()
        if self._is_quiet:
            return
        if not sys.stderr.isatty():
            if now - self._said > _SELDOM:
                self._said = now
                click.echo(f"  {content}", err=True)
        elif now - self._begin > _PATIENCE:
            click.echo(f"\r  {content}".ljust(self._length + 1), nl=False, err=True)
            self._length = len(content) + 2


@contextlib.contextmanager
def progress_line(is_quiet: bool = False) -> Iterator[ProgressLine]:
    """Show progress, and clear it away whatever happens."""
    line = ProgressLine(is_quiet)
    try:
        yield line
    finally:
        line.clear()


def duration(seconds: float) -> str:
    """Write a remaining time as people say it: about 40 s, about 3 min, about 2.5 h."""
    if seconds < 90:
        return f"about {math.ceil(seconds)} s"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"
