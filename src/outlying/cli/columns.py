"""Which columns a command compares, and how it reads them: --columns, --exclude, --type."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from outlying.cli.options import Decorator, decorated
from outlying.cli.targets import assignment
from outlying.table.table import Table

_OPTIONS: tuple[Decorator, ...] = tuple(
    click.option(*flags, multiple=True, metavar=metavar, help=help_text)
    for flags, metavar, help_text in (
        (("--columns",), "NAMES", "Only these columns; separate by commas or repeat."),
        (("--exclude",), "NAMES", "Not these columns; separate by commas or repeat."),
        (("--type", "types"), "COLUMN=TYPE", "Read as numeric, categorical or datetime."),
    )
)


def column_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that choose columns and their types."""
    return decorated(command, _OPTIONS)


def names(given: Sequence[str], table: Table) -> list[str]:
    """Split lists of names at commas, except in names that hold commas themselves."""
    known = {*table.names, *(item.name for item in table.skipped)}
    return [
        name.strip() if name not in known else name
        for text_given in given
        for name in ([text_given] if text_given in known else text_given.split(","))
    ]


def types(given: Sequence[str], table: Table) -> dict[str, str]:
    """Read COLUMN=TYPE."""
    return dict(assignment(item, table, "--type") for item in given)
