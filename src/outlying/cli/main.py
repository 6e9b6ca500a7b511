"""The entry point: the group of commands. What the user can repair exits with code 2."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import click
from click.shell_completion import get_completion_class

import outlying
from outlying import loading
from outlying import sentences as say
from outlying.cli.commands import compare, detect, explain
from outlying.cli.gate import accept, check, fit
from outlying.cli.serve import demo, mcp, serve, skill
from outlying.cli.terminal import (
    leave_output,
    leave_pipe,
    prepare_memory,
    prepare_streams,
    stopped_by_signals,
)
from outlying.errors import NoMemoryError, OptionError, harmless, unknown_name
from outlying.kernel.library import describe_kernel

#: How the loader of libraries says that there is not enough memory for them.
_NOT_MAPPED = ("failed to map segment", "cannot allocate memory")


#: The commands in groups, the first ones to try first.
_COMMANDS: dict[str, tuple[click.Command, ...]] = {
    "What is odd, and why": (detect, explain, compare),
    "To look around": (demo, serve),
    "In a pipeline": (fit, check, accept),
    "For agents": (skill, mcp),
}


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

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command; what is none might have been a file."""
        if args[0] not in self.commands:
            ctx.fail(unknown_name("command or file", args[0], self.commands))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands in groups, with their whole first sentences."""
        for group, commands in _COMMANDS.items():
            with formatter.section(group):
                formatter.write_dl([(item.name or "", _summary(item)) for item in commands])

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


def main() -> None:
    """Run the command line."""
    prepare_streams()
    prepare_memory()
    try:
        with stopped_by_signals() as signals:
            loading.finish()
            code = cli.main(standalone_mode=False)
        sys.stdout.flush()  # what cannot be written is said while it can be said
        if code:
            sys.exit(code)
    except outlying.OutlyingError as error:
        _fail(click.ClickException(error.shell_message()))
    except click.ClickException as error:
        error.message = harmless(error.message)  # type: ignore[misc]
        _fail(error)
    except (KeyboardInterrupt, click.Abort) as stop:
        said = str(stop.__cause__ or "")  # what the interrupted work has to say
        click.echo(harmless(said or say.INTERRUPTED), err=True)
        exec("")  # noqa: S102 - or else Python, which saw the interrupt pass exec(), ends by SIGINT
        sys.exit(128 + (signals or [signal.SIGINT])[-1])
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except MemoryError:
        _fail(click.ClickException(NoMemoryError().shell_message()))
    except ImportError as error:
        if not any(words in str(error) for words in _NOT_MAPPED):
            raise
        _fail(click.ClickException(NoMemoryError().shell_message()))
    except (BrokenPipeError, PipeClosedError):  # the reader, say `head`, has seen enough
        leave_pipe()
    except OSError as error:
        file = "" if error.filename is None else f"{error.filename}: "
        _fail(click.ClickException(harmless(f"{file}{error.strerror or error}")))


def _fail(error: click.ClickException) -> None:
    error.show()
    leave_output()
    sys.exit(2)


def _say_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        click.echo(f"outlying, version {outlying.__version__}\n{describe_kernel()}")
        context.exit()


@click.group(
    cls=Commands,
    subcommand_metavar="FILE | COMMAND [ARGS]...",
    options_metavar="",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_say_version,
    help="Show the version, and whether the kernel is compiled.",
)
def cli() -> None:
    """Find what is odd in a table, and say why.

    \b
      outlying demo                            an example that is built in
      outlying orders.csv                      its odd rows, the oddest first
      outlying explain orders.csv --row 17     why this row is odd
      outlying COMMAND --help                  the options of a command
    """  # noqa: D301 - click wants a backspace


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for a shell (docs/cli.md says where to put it)."""
    kind = get_completion_class(shell)
    if kind is None:
        raise OptionError(f"no completion for {shell!r}; allowed: bash, zsh or fish")
    click.echo(kind(cli, {}, "outlying", "_OUTLYING_COMPLETE").source())


_COMMANDS["For the shell"] = (completion,)
for _command in itertools.chain(*_COMMANDS.values()):
    cli.add_command(_command)
