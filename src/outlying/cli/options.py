"""Options that commands share: which columns are compared and how, who reads the table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import click

from outlying.errors import ColumnError, OptionError, unknown_name
from outlying.options import Engine
from outlying.sources import registry
from outlying.table.table import Table

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder

Command: TypeAlias = Callable[..., None]
Decorator: TypeAlias = Callable[[Command], Command]


def decorated(command: Command, options: Sequence[Decorator]) -> Command:
    """Give a command several options, which its help shows in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def assignment(item: str, table: Table, flag: str) -> tuple[str, str]:
    """Split COLUMN=VALUE at the equals sign behind a known column."""
    if "=" not in item:
        raise OptionError(f"{flag} is {item!r}; allowed: COLUMN=VALUE")
    places = [place for place, char in enumerate(item) if char == "="]
    for place in places:
        if item[:place] in table.names:
            return item[:place], item[place + 1 :]
    raise ColumnError(unknown_name("column", item[: places[0]], table.names))


_COLUMN_OPTIONS: tuple[Decorator, ...] = tuple(
    click.option(*flags, multiple=True, metavar=metavar, help=help_text)
    for flags, metavar, help_text in (
        (("--columns",), "NAMES", "Only these columns; separate by commas or repeat."),
        (("--exclude",), "NAMES", "Not these columns; separate by commas or repeat."),
        (("--type", "types"), "COLUMN=TYPE", "Read as numeric, categorical or datetime."),
    )
)


_DERIVE: Decorator = click.option(
    "--derive/--no-derive",
    default=True,
    show_default=True,
    help="Compare parts of columns, too: hours, patterns, spelling.",
)


def column_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that choose columns and their types."""
    return decorated(command, (*_COLUMN_OPTIONS, _DERIVE))


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


_STREAM_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--engine",
        type=click.Choice(get_args(Engine)),
        default="auto",
        show_default=True,
        help="Who reads SOURCE: large files are streamed, others read into memory.",
    ),
    click.option("--table", metavar="NAME", help="The table of a database."),
    click.option("--query", metavar="SQL", help="A query in place of a table of a database."),
    click.option(
        "--master", metavar="URL", help="Of Spark: spark://HOST:PORT, local[2], sc://HOST."
    ),
)


_SOURCE_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--snapshot",
        metavar="VERSION",
        help="The state of a Delta Lake or Iceberg table: its number, or a moment.",
    ),
    click.option("--sheet", metavar="NAME", help="The sheet of a workbook.  [default: the first]"),
    click.option(
        "--encoding",
        metavar="NAME",
        help="Of a text file that is not UTF-8: cp1252, utf-16, shift_jis, ...",
    ),
    click.option(
        "--allow-external",
        is_flag=True,
        default=None,
        help="Let a DuckDB file or an Iceberg table that you trust read files elsewhere.",
    ),
)


def source_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how a file is read."""
    return decorated(command, _SOURCE_OPTIONS)


def stream_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command the options that say who reads the table."""
    return decorated(command, _STREAM_OPTIONS)


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """Where the table is, and who reads it."""

    source: str
    engine: Engine
    given: dict[str, Any]

    @classmethod
    def taken_from(cls, source: str, given: dict[str, Any]) -> Reading:
        """Take the options that say who reads the table, and how, out of all options given."""
        names = ("table", "query", "master", *registry.OPTIONS)
        return cls(source, given.pop("engine"), {name: given.pop(name) for name in names})

    def opened(self) -> Table | Feeder:
        """Read the table into memory, or open what is read as a stream."""
        return registry.named(self.source, self.engine, **self.given)
