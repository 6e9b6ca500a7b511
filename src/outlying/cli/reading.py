"""Tables that the command line reads as a stream: folders, patterns, databases, Spark."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

import click

from outlying.api import Explainer
from outlying.cli.columns import names
from outlying.cli.columns import types as read_types
from outlying.cli.jobs import Job, Loaded, Told
from outlying.cli.targets import Decorator, decorated
from outlying.cli.terminal import progress_line
from outlying.errors import OptionError
from outlying.options import Engine
from outlying.table.targets import Targets

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

    def feeder(self) -> Feeder | None:
        """Open what is read as a stream; None for what is read into memory."""
        from outlying.sources.registry import opened

        return opened(
            self.source,
            self.engine,
            table=self.table,
            query=self.query,
            master=self.master,
        )


def streamed(
    feeder: Feeder,
    job: Job,
    given: dict[str, Any],
    columns: tuple[str, ...],
    exclude: tuple[str, ...],
    types: tuple[str, ...],
) -> Loaded:
    """Explain what is named of a table that is read as a stream: all at once."""
    if job.resume:
        raise OptionError(
            f"{feeder.source} is read as a stream: all rows are explained at once, so that there "
            "is nothing to continue; leave --resume out"
        )
    table = Explainer(feeder).table
    marks = [] if job.naming.where_true is None else [job.naming.where_true]
    explainer = Explainer(
        feeder,
        **given,
        columns=names(columns, table) or None,
        exclude=[*names(exclude, table), *marks],
        types=read_types(types, table),
    )
    sought = job.naming.streamed(table)
    with progress_line() as line, sought.placed():
        named = {sought.keyword: sought.items}
        found = list(explainer.explain_many(**named, workers=job.workers, progress=line.step))
    return Loaded(Told(found, explainer.options), Targets(keys=tuple(dict(f.key) for f in found)))
