"""A population that is read as a stream: a pass, a model of the rows drawn, another pass.

The first pass is made once and kept. Rows are judged as those of tables in memory are, by a model
of the rows that the first pass has drawn. What is told of an object, another pass counts in all
rows; to rank them, one judges each. A table that turns out to be small is held in memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outlying.errors import OptionError, RowError, SourceError
from outlying.options import Options
from outlying.parallel import usable_workers
from outlying.search import model
from outlying.search.memory import MemoryPopulation
from outlying.search.population import Result, Searched, Searching
from outlying.search.scoring import Progress
from outlying.search.standing import Standing
from outlying.stream.evidence_pass import EvidencePass
from outlying.stream.lookup import (
    Lookup,
    LookupPass,
    Together,
    UnreadTable,
    fields_for,
    with_found_rows,
)
from outlying.stream.new_objects import checked, placed_objects
from outlying.stream.profile import Profile, finish
from outlying.stream.profile_pass import ProfilePass, ProfileState, fields_of
from outlying.stream.score_pass import Ranked, ScorePass
from outlying.stream.verify_run import Results, SampledTarget, VerifyRun, check_rows
from outlying.table.selection import Selection, not_empty
from outlying.table.table import Table
from outlying.table.targets import RowRequest, Target, Targets

if TYPE_CHECKING:
    from outlying.sources.arrow_types import Field
    from outlying.sources.passes import Feeder

_NEEDS_MEMORY = {
    "exact": (False, "exact=True searches all rows"),
    "paper": (None, 'preset="paper" visits all contexts'),
}


class StreamedPopulation:
    """A table whose rows are read when they are needed, and not kept."""

    is_streamed = True

    def __init__(self, feeder: Feeder, options: Options) -> None:
        for name, (allowed, why) in _NEEDS_MEMORY.items():
            if getattr(options, name) != allowed:
                raise OptionError(
                    f"{why}, which needs the table in memory; {feeder.source} is read as a "
                    "stream: leave the option out, or read the table into memory first"
                )
        self.feeder, self.options = feeder, options
        self._fields, unusable = fields_of(feeder.source, feeder.schema(), options)
        unread = (*feeder.skipped, *unusable)
        columns = tuple(field.empty() for field in self._fields)
        self.table = Table(columns, 0, feeder.source, unread, (), feeder.frame_library)
        self._plan = ProfilePass.of(options, self._fields, unread, model.MOST_ROWS)
        self._profile: Profile | None = None
        self._memory: MemoryPopulation | None = None

    # --- the first pass -------------------------------------------------------------------------

    def count(self) -> int:
        """Return the number of rows."""
        return self._profiled().rows

    def selection(self) -> Selection:
        """Return which columns take part."""
        return self._profiled().selection

    def _profiled(self, progress: Progress | None = None, workers: int | None = None) -> Profile:
        if self._profile is None:
            state = self.feeder.fold(self._plan, self._plan.columns, progress, workers)
            self._keep(state, workers)
        assert self._profile is not None  # noqa: S101 - just made
        return self._profile

    def _keep(self, state: ProfileState, workers: int | None) -> None:
        """Keep what the first pass has found."""
        profile = finish(self._plan, state, self.table).with_notes(self.feeder.notes)
        not_empty(profile.selection)
        if profile.rows < 2:
            raise SourceError(
                f"{self.feeder.source} has {profile.rows} rows; a row is explained by comparing it "
                "with others, so at least two are needed"
            )
        if not profile.is_whole:
            plan = EvidencePass.of(profile, self.options)
            seen = plan.start()
            if plan.columns:
                seen = self.feeder.fold(plan, plan.columns, None, workers)
            profile = plan.finish(seen, profile)
            not_empty(profile.selection)
            profile = profile.with_relations(self.options)
        else:
            self._memory = MemoryPopulation(profile.table, self.options, is_of_stream=True)
        self._profile = profile

    def _found(
        self,
        lookup: Lookup,
        fields: tuple[Field, ...],
        progress: Progress | None,
        workers: int | None,
    ) -> Profile:
        """Find rows: in the first pass, or in one of their own where that has been made."""
        plan = LookupPass.of(fields, lookup)
        if self._profile is None:
            both = Together([self._plan, plan])
            columns = list(dict.fromkeys([*self._plan.columns, *plan.columns]))
            first, state = self.feeder.fold(both, columns, progress, workers)
            self._keep(first, workers)
        else:
            state = self.feeder.fold(plan, plan.columns, progress, workers)
        profile = self._profiled()
        check_rows(self.feeder.source, profile.rows, state.rows, "when rows were looked for")
        return with_found_rows(profile, plan, state, lookup)

    # --- what is asked for ----------------------------------------------------------------------

    def targets(
        self, asked: RowRequest, progress: Progress | None = None, workers: int | None = None
    ) -> Targets:
        """Find what is asked for, and check all of it."""
        if asked.rows is not None:
            raise RowError(
                f"{self.table.source} is read as a stream, whose rows have no order and no "
                "position; name the row by values that only it has: where={column: value}"
            )
        if asked.index is not None:
            raise RowError(
                f"{self.table.source} is read as a stream, whose rows have no index; name the row "
                "by values that only it has: where={column: value}"
            )
        if asked.objects is not None:
            return self._new(asked, self._profiled(progress, workers))
        fields = fields_for(asked, self._fields, lambda: self._profiled(progress, workers).fields)
        lookup = Lookup.of(asked, UnreadTable(fields, self.table.skipped))
        home = self._found(lookup, fields, progress, workers)
        count = home.table.rows - home.drawn
        wheres = lookup.wheres * count if lookup.is_for_every else lookup.wheres
        found = (self._row(home, place, where) for place, where in enumerate(wheres))
        return Targets(tuple(found), have_positions=False)

    def _row(self, home: Profile, place: int, where: Mapping[str, Any]) -> Target:
        row, values = home.drawn + place, home.values(place)
        key = home.key(values, where)
        if self._memory is not None:
            return Target(row=_copy(home, row), key=key, values=values)
        return SampledTarget(row=row, key=key, values=values, home=home)

    def _new(self, asked: RowRequest, profile: Profile) -> Targets:
        objects = checked(profile, self.table, asked, self.options)
        if self._memory is not None:
            return Targets(tuple(Target(new=item) for item in objects), have_positions=False)
        placed = (
            SampledTarget(row=new.row, new=item, home=new.home, notes=new.notes)
            for item, new in zip(
                objects, placed_objects(profile, objects, self.options), strict=True
            )
        )
        return Targets(tuple(placed), have_positions=False)

    # --- the second pass ------------------------------------------------------------------------

    def searching(
        self, targets: Targets, workers: int | None, progress: Progress | None
    ) -> Searching:
        """Judge all objects, and ask all rows in one pass about what is told of them."""
        if self._memory is not None:
            return self._memory.searching(targets, workers, progress)
        items = [item for item in targets if isinstance(item, SampledTarget)]
        results = self._run.results(items, usable_workers(workers), progress)
        return functools.partial(_each, results, items)

    def standing(self, workers: int | None = None, progress: Progress | None = None) -> Standing:
        """Judge the rows that were drawn, once: how strong findings are on them."""
        self._profiled(progress, workers)
        if self._memory is not None:
            return self._memory.standing(workers, progress)
        return self._run.model(usable_workers(workers), progress).standing

    def ranked(
        self, top: int, workers: int | None = None, progress: Progress | None = None
    ) -> Ranked:
        """Judge every row in one pass, and keep those that score highest."""
        profile = self._profiled(progress, workers)
        standing = self.standing(workers, progress)
        prepared = self._run.prepared if self._memory is None else self._memory.prepared
        work = ScorePass(prepared.model(), profile, top)
        state = self.feeder.fold(work, work.columns, progress, workers)
        check_rows(self.feeder.source, profile.rows, state.rows, "when they were judged")
        return work.finish(state, profile, standing)

    def targets_of(self, ranked: Ranked, top: int) -> Targets:
        """Return the first rows by strength, to be explained."""
        count = min(top, len(ranked.by_strength))
        found = (self._row(ranked.home, place, {}) for place in range(count))
        return Targets(tuple(found), have_positions=False)

    @functools.cached_property
    def _run(self) -> VerifyRun:
        return VerifyRun(self.feeder, self._profiled(), self.options)


def _each(
    results: Results, items: Sequence[Target], finish: Callable[[Searched], Result]
) -> Generator[Result, None, None]:
    for item in items:
        yield finish(results.searched(item))


def _copy(profile: Profile, row: int) -> int:
    """Find a row that was looked for among those that were drawn."""
    places = np.arange(profile.drawn)
    for column in profile.table.columns:
        places = places[column.same(row, places)]
    return int(places[0])
