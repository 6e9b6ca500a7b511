"""A command and its surroundings: streams, signals and pipes; what people see of a run."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import errno
import io
import math
import os
import shutil
import signal
import sys
import time
import types
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
    1, "row", "--all", "--all", {name: f"--{name}" for name in ("top", "exact", "exclude")}
)
DETECT = Terms(1, "row", "--all", "--all", {"top": "--pairs", "exclude": "--exclude"})
DEMO = Terms(1, "row", "--all", "--all", {})


def look(
    is_terminal: bool, terms: Terms = EXPLAIN, *, everything: bool = False, with_notes: bool = True
) -> Look:
    """Return how text is written: coloured and as wide as the terminal where there is one."""
    is_coloured = is_terminal and "NO_COLOR" not in os.environ
    return Look(
        width(is_terminal),
        _coloured if is_coloured else text.no_style,
        everything,
        with_sparks=is_terminal and _has_characters(),
        with_notes=with_notes,
        terms=terms,
    )


def _has_characters() -> bool:
    try:
        CHARACTERS.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return os.environ.get("TERM") != "dumb"


def header_lines(source: str, rows: int) -> int | None:
    """Return how many lines stand above the first row: one, if every row has one of its own."""
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


def _coloured(content: str, role: str) -> str:
    return click.style(content, **_STYLES[role])


class ProgressLine:
    """One line on standard error when it takes a while; where that is no terminal, seldom."""

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


# --- streams, signals and pipes ------------------------------------------------------------------

_ENDING = ("SIGTERM", "SIGHUP")
_ERRORS = "outlying"  # how characters are written that the encoding of a stream does not have


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[list[int]]:
    """Let signals that end a process clean up first, as an interrupt does; yield what came."""
    came: list[int] = []

    def stop(number: int, frame: types.FrameType | None) -> None:  # noqa: ARG001
        came.append(number)
        raise KeyboardInterrupt

    before = {}
    for name in _ENDING:
        number = getattr(signal, name, None)
        with contextlib.suppress(ValueError):  # not in the main thread
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, stop)
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def prepare_streams() -> None:
    """Let standard streams take all characters, and say it where they are closed."""
    codecs.register_error(_ERRORS, _escaped)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            _hold(number)
            closed = _Closed() if name != "stderr" else open(os.devnull, "w")  # noqa: SIM115, PTH123
            setattr(sys, name, closed)
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def prepare_memory() -> None:
    """Keep DuckDB's allocator and OpenBLAS from crashes where address space is limited."""
    with contextlib.suppress(ImportError):  # a system without such limits
        import resource

        if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            os.environ.setdefault("DUCKDB_JE_MALLOC_CONF", "narenas:1")
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _hold(number: int) -> None:
    """Keep a file that is opened later from taking the place of a closed stream."""
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_RDWR)


class _Closed(io.TextIOBase):
    """A standard stream that was closed before the start."""

    encoding = "utf-8"

    def read(self, size: int | None = -1, /) -> str:  # noqa: ARG002
        raise OSError(errno.EBADF, "standard input is closed")

    def write(self, text: str, /) -> int:  # noqa: ARG002
        raise OSError(errno.EBADF, "standard output is closed; open it, or name a file by -o FILE")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Write characters that an encoding does not have as JSON does, in text and in JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    codes = (units[place : place + 2].hex() for place in range(0, len(units), 2))
    return "".join(f"\\u{code}" for code in codes), error.end


def leave_output() -> None:
    """Write nothing more to standard output where what is left cannot be written either."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def leave_at_once() -> None:
    """End the process: the interpreter would wait for threads, and engines' own print or crash."""
    leave_output()
    atexit._run_exitfuncs()
    os._exit(0)


def leave_pipe() -> None:
    """End as other tools do whose output nobody reads any more: by a signal, without a word."""
    leave_output()
    sys.stderr = None
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    sys.exit(0)
