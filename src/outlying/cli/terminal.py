"""What people see of a run: findings as text, with colours, and how far it is."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import click

from outlying.render import detection_text as flags
from outlying.render import text
from outlying.render.text import CHARACTERS
from outlying.results.detections import Detection, Flagged
from outlying.results.documents import Pattern
from outlying.results.findings import Findings
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
_PLAIN_WIDTH = 88


#: How the commands name rows and those of their options that are hinted at.
EXPLAIN = Terms(
    1,
    "data row",
    "--all",
    {name: f"--{name}" for name in ("top", "exact", "exclude")},
)
DETECT = Terms(1, "data row", "--all", {"top": "--pairs", "exclude": "--exclude"})
DEMO = Terms(1, "data row", "--all", {})


def rendered(
    findings: Findings, is_terminal: bool, terms: Terms = EXPLAIN, *, everything: bool = False
) -> str:
    """Write findings as text, coloured and as wide as the terminal where there is one."""
    return text.render(
        findings,
        width(is_terminal),
        _style(is_terminal),
        everything=everything,
        terms=terms,
        with_sparks=is_terminal and _has_characters(),
    )


def _has_characters() -> bool:
    """Return whether the terminal can show small pictures."""
    try:
        CHARACTERS.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return os.environ.get("TERM") != "dumb"


def summed_up(patterns: Sequence[Pattern], are_new: bool, is_terminal: bool) -> str:
    """Write what many objects have in common."""
    return text.summary(patterns, are_new, width(is_terminal), _style(is_terminal))


def detected(detection: Detection, is_terminal: bool, *, with_rows: bool = True) -> str:
    """Write what is odd in a table, or only by what it was detected."""
    write = flags.render if with_rows else flags.heading
    return write(detection, width(is_terminal), _style(is_terminal), DETECT)


def flagged_line(item: Flagged, detection: Detection, is_terminal: bool) -> str:
    """Write why a row is explained, above its findings."""
    return flags.line(item, detection.settings, width(is_terminal), DETECT) + "\n\n"


def width(is_terminal: bool) -> int:
    """Return how many characters a line may have."""
    if not is_terminal:
        return _PLAIN_WIDTH
    return min(100, shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns)


def _style(is_terminal: bool) -> text.Style:
    return _coloured if is_terminal and "NO_COLOR" not in os.environ else text.no_style


def _coloured(content: str, role: str) -> str:
    return click.style(content, **_STYLES[role])


class ProgressLine:
    """One line on standard error, and only when it takes a while.

    Where that is no terminal, a line now and then, in work that takes minutes.
    """

    def __init__(self) -> None:
        self._begin, self._length = time.monotonic(), 0
        self._said = self._begin

    def step(self, done: int, total: int) -> None:
        """Say how far one search is."""
        self._show(f"working: {100 * done // max(1, total):3d}% of this step")

    def objects(self, done: int, total: int, before: int = 0) -> None:
        """Say how many objects are done, of these `before` in an earlier run, and what is left."""
        seconds = time.monotonic() - self._begin
        left = duration(seconds / max(1, done - before) * (total - done))
        self._show(f"{done:,} of {total:,} explained, {left} left")

    def stage(self, name: str, done: int, total: int) -> None:
        """Say what is being done, and how far the whole is."""
        self._show(f"working: {100 * done // max(1, total):3d}%, {name}")

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
        if not sys.stderr.isatty():
            if now - self._said > _SELDOM:
                self._said = now
                click.echo(f"  {content}", err=True)
        elif now - self._begin > _PATIENCE:
            click.echo(f"\r  {content}".ljust(self._length + 1), nl=False, err=True)
            self._length = len(content) + 2


@contextlib.contextmanager
def progress_line() -> Iterator[ProgressLine]:
    """Show progress, and clear it away whatever happens."""
    line = ProgressLine()
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
