"""`outlying completion`: scripts that complete commands and options in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from outlying.errors import OptionError


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for a shell; see docs/cli.md for where to put it."""
    kind = get_completion_class(shell)
    if kind is None:
        raise OptionError(f"no completion for {shell!r}; allowed: bash, zsh or fish")
    click.echo(kind(context.find_root().command, {}, "outlying", "_OUTLYING_COMPLETE").source())
