"""What the system gives a command, and how it ends: signals, pipes, streams that are closed."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import errno
import io
import os
import signal
import sys
import types
from collections.abc import Iterator
from typing import Any

import click

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
    """Keep libraries from crashes and endless loops where address space is limited (ulimit -v).

    DuckDB's allocator opens an arena for each thread, and does not see that there is no room for
    it; OpenBLAS tries for ever to get memory for its threads.
    """
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


class PipeClosedError(Exception):
    """Nobody reads standard output any more."""


class Commands(click.Group):
    """A group of commands; what is none names a table, in which `detect` finds what is odd.

    A closed pipe is left to its caller; click would exit with 1.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; `outlying hr.csv` is short for `outlying detect hr.csv`."""
        own = {flag for item in self.get_params(ctx) for flag in item.opts}
        if args and args[0] not in self.commands and args[0] not in own and _is_source(args[0]):
            args = ["detect", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their whole first sentences."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, _summary(self.commands[name])) for name in self.list_commands(ctx)]
            )

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the arguments; help is shown here."""
        with _pipes_told():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with _pipes_told():
            return super().invoke(ctx)


def _is_source(name: str) -> bool:
    """Return whether an argument names a table, or is an option of looking for what is odd."""
    return name.startswith("-") or any(char in name for char in "./\\:*") or os.path.exists(name)  # noqa: PTH110


def _summary(command: click.Command) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split())


@contextlib.contextmanager
def _pipes_told() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise PipeClosedError from None


def leave_output() -> None:
    """Write nothing more to standard output where what is left cannot be written either."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def leave_at_once() -> None:
    """End the process though threads still work on what nobody waits for.

    The interpreter would wait for them; and those of engines that it ends itself print what they
    leave behind ("nanobind: leaked 28 instances!"), or crash.
    """
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
