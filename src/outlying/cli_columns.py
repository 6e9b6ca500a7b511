"""Which columns a command compares, and how it reads them: --columns, --exclude, --type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import click

from outlying.cli_targets import assignment
from outlying.table import Table

Decorator: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]


def repeated(flag: str, metavar: str, help_text: str, name: str | None = None) -> Decorator:
    """Give a command an option that may come several times."""
    names = (flag,) if name is None else (flag, name)
    return click.option(*names, multiple=True, metavar=metavar, help=help_text)


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
