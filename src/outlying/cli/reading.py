"""Who reads the table that a command names: into memory, or as a stream."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

import click

from outlying import sources
from outlying.cli.options import Decorator, decorated
from outlying.options import Engine
from outlying.table.table import Table

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder

_OPTIONS: tuple[Decorator, ...] = (
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


def stream_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command the options that say who reads the table."""
    return decorated(command, _OPTIONS)


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """Where the table is, and who reads it."""

    source: str
    engine: Engine
    table: str | None
    query: str | None
    master: str | None

    @classmethod
    def taken_from(cls, source: str, given: dict[str, Any]) -> Reading:
        """Take the options that say who reads the table out of all options given."""
        taken = {name: given.pop(name) for name in ("engine", "table", "query", "master")}
        return cls(source, **taken)

    def opened(self) -> Table | Feeder:
        """Read the table into memory, or open what is read as a stream."""
        from outlying.sources.registry import opened

        feeder = opened(
            self.source,
            self.engine,
            table=self.table,
            query=self.query,
            master=self.master,
        )
        return sources.read(self.source) if feeder is None else feeder
