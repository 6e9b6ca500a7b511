"""The entry point: the group of commands. Errors of the user exit with code 2."""

from __future__ import annotations

import sys

import click
from click.shell_completion import get_completion_class

import outlying
from outlying.cli.demo import demo
from outlying.cli.detect import detect
from outlying.cli.explain import explain
from outlying.cli.paper import paper
from outlying.errors import OptionError
from outlying.search.kernel.library import said


def main() -> None:
    """Run the command line."""
    try:
        cli.main(standalone_mode=False)
    except outlying.OutlyingError as error:
        _fail(click.ClickException(error.shell_message()))
    except click.ClickException as error:
        _fail(error)
    except (KeyboardInterrupt, click.Abort) as stop:
        said = str(stop.__cause__ or "")  # what the interrupted work has to say
        click.echo(said or "Interrupted; nothing was written.", err=True)
        sys.exit(130)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        sys.stderr.close()
        sys.exit(0)


def _fail(error: click.ClickException) -> None:
    """Show what the user can repair: a message, no traceback, exit code 2."""
    error.show()
    sys.exit(2)


def _say_version(context: click.Context) -> None:
    click.echo(f"outlying, version {outlying.__version__}\n{said()}")
    context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=lambda context, _, is_asked: _say_version(context) if is_asked else None,
    help="Show the version, and whether the screen is compiled.",
)
def cli() -> None:
    """Why is this row an outlier? Ranked, readable pairs of context and property.

    Try `outlying demo` first, then `outlying explain FILE --row N` on a file of your own, or
    `outlying detect FILE` where no row is known to be odd.
    """


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for a shell; see docs/cli.md for where to put it."""
    kind = get_completion_class(shell)
    if kind is None:
        raise OptionError(f"no completion for {shell!r}; allowed: bash, zsh or fish")
    click.echo(kind(cli, {}, "outlying", "_OUTLYING_COMPLETE").source())


for _command in (explain, demo, detect, paper):
    cli.add_command(_command)
