"""A table that is read as a stream: what is asked of it, and the way to an answer.

A table that turns out to be small is explained as one in memory; of a larger one, rows that were
drawn and two passes have to do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from outlying.errors import OptionError, SourceError
from outlying.options import Options
from outlying.results.findings import Findings
from outlying.search.scoring import Progress
from outlying.stream.new_objects import checked, newcomers
from outlying.stream.population import Named, Streamed
from outlying.stream.profile.profile import Profile, finish
from outlying.stream.profile.profile_pass import ProfilePass, fields_of
from outlying.stream.wanted import Wanted
from outlying.table.columns import first_rows
from outlying.table.selection import some
from outlying.table.table import Table
from outlying.table.values import Value

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder

_NEEDS_MEMORY = {
    "exact": (False, "exact=True searches all rows"),
    "search": ("guided", 'search="exhaustive" visits all contexts'),
    "bandwidth": ("fixed", 'bandwidth="adaptive" needs the density at every row'),
    "discretise": (None, "discretise= cuts all values into bins"),
}


class InMemory(Protocol):
    """A table in memory, to be explained."""

    def explain(
        self,
        *,
        row: int | None = None,
        object: Mapping[str, Any] | None = None,  # noqa: A002
    ) -> Findings:
        """Explain a row or a new object."""


class Stream:
    """A table whose rows are read when they are needed, and not kept."""

    def __init__(self, feeder: Feeder, options: Options) -> None:
        for name, (allowed, why) in _NEEDS_MEMORY.items():
            if getattr(options, name) != allowed:
                raise OptionError(
                    f"{why}, which needs the table in memory; {feeder.source} is read as a "
                    "stream: leave the option out, or read the table into memory first"
                )
        self.feeder, self.options = feeder, options
        self.schema = feeder.schema()
        fields, unusable = fields_of(feeder.source, self.schema, options)
        columns = tuple(field.empty() for field in fields)
        self.table = Table(columns, 0, feeder.source, (*feeder.skipped, *unusable))
        self._plan(Wanted())

    def _plan(self, wanted: Wanted) -> ProfilePass:
        return ProfilePass.of(
            self.feeder.source,
            self.schema,
            self.options,
            where=wanted.where,
            meaning=wanted.meaning,
            skipped=self.feeder.skipped,
        )

    def explained(
        self,
        wanted: Wanted,
        workers: int,
        progress: Progress | None,
        in_memory: Callable[[Table], InMemory],
    ) -> list[Findings]:
        """Explain all that is wanted, in two passes at most."""
        plan = self._plan(wanted)
        state = self.feeder.fold(plan, plan.columns, progress)
        profile = finish(plan, state, self.feeder.source, self.feeder.frame_library)
        profile = profile.with_notes(self.feeder.notes)
        some(profile.selection)
        if profile.rows < 2:
            raise SourceError(
                f"{self.feeder.source} has {profile.rows} rows; a row is explained by comparing it "
                "with others, so at least two are needed"
            )
        named = _named(profile, wanted)
        objects = checked(profile, self.table, wanted, self.options)
        if profile.is_whole:
            return _explained_whole(profile, named, objects, in_memory)
        for new in newcomers(profile, objects, self.options):
            named.append(Named(new.row, home=new.home, notes=new.notes))
        return Streamed(self.feeder, profile, self.options).explained(named, workers, progress)


def _named(profile: Profile, wanted: Wanted) -> list[Named]:
    """Return the rows that were found, each with the values that name it."""
    if wanted.where is None:
        return []
    count = profile.table.rows - profile.drawn
    wheres = wanted.where if wanted.meaning == "each" else [wanted.where] * count
    return [
        Named(profile.drawn + place, _key(profile, place, where))
        for place, where in zip(range(count), wheres, strict=True)
    ]


def _key(profile: Profile, place: int, where: Mapping[str, Any]) -> tuple[tuple[str, Value], ...]:
    """Name a row by what was looked for, as the table holds it, and by columns of identifiers."""
    held = profile.values(place)
    identifiers = [item.name for item in profile.skipped if "identifier" in item.reason]
    return tuple((name, held[name]) for name in dict.fromkeys((*where, *identifiers)))


def _explained_whole(
    profile: Profile,
    named: Sequence[Named],
    objects: Sequence[Mapping[str, Any]],
    in_memory: Callable[[Table], InMemory],
) -> list[Findings]:
    """Explain rows of a table of which all rows were drawn."""
    columns = tuple(first_rows(column, profile.drawn) for column in profile.table.columns)
    table = dataclasses.replace(profile.table, columns=columns, rows=profile.drawn)
    explainer = in_memory(table)
    if objects:
        return [explainer.explain(object=item) for item in objects]
    return [
        dataclasses.replace(
            explainer.explain(row=_copy(profile, item.row)),
            row=None,
            key=item.key,
            values=tuple(profile.values(item.row - profile.drawn).items()),
        )
        for item in named
    ]


def _copy(profile: Profile, row: int) -> int:
    """Find a row that was looked for among those that were drawn."""
    places = np.arange(profile.drawn)
    for column in profile.table.columns:
        places = places[column.same(row, places)]
    return int(places[0])
