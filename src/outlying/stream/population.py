"""A population that is read as a stream: a pass, a model of the rows drawn, another pass.

The first pass is made once and kept. Rows are judged as those of tables in memory are, by a model
of the rows that the first pass has drawn. What is told of an object, another pass counts in all
rows; to rank them, one judges each. A table that turns out to be small is held in memory.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from outlying import sentences as say
from outlying.errors import OptionError, RowError, SourceError
from outlying.options import Options
from outlying.parallel import usable_workers
from outlying.search import model
from outlying.search.memory import MemoryPopulation
from outlying.search.population import Result, Searched, Searching
from outlying.search.scoring import Progress
from outlying.search.standing import Standing
from outlying.stream.lookup import (
    Lookup,
    LookupPass,
    Together,
    UnreadTable,
    fields_for,
    with_found_rows,
)
from outlying.stream.profile import Profile, finish
from outlying.stream.profile_pass import (
    EvidencePass,
    PastPass,
    ProfilePass,
    ProfileState,
    fields_of,
)
from outlying.stream.score_pass import Ranked, ScorePass
from outlying.stream.verify_pass import SampledTarget, VerifyRun, check_rows
from outlying.table.columns import Column, Derivation, infinities_note
from outlying.table.selection import Selection, is_asked_for, not_empty
from outlying.table.table import SkippedColumn, Table
from outlying.table.targets import ObjectCheck, RowRequest, Target, Targets
from outlying.table.values import Form

if TYPE_CHECKING:
    from outlying.sources.columns import Field
    from outlying.sources.passes import Feeder

#: Cells of all rows that are held to compare rows with their past.
MOST_PAST = 2**24
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

    @property
    def drawn(self) -> Table:
        """The rows that were drawn, typed by what all rows hold; all of a small table."""
        profile = self._profiled()
        columns = tuple(column.first(profile.drawn) for column in profile.table.columns)
        return dataclasses.replace(profile.table, columns=columns, rows=profile.drawn)

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
            profile = self._with_past(profile.with_relations(self.options), workers)
        else:
            self._memory = MemoryPopulation(profile.table, self.options, is_of_stream=True)
        self._profile = profile

    def _with_past(self, profile: Profile, workers: int | None) -> Profile:
        """Find what the past of rows says, where a panel is named and all rows can be held."""
        names, options = {column.name for column in profile.used}, self.options
        is_off = not options.derive or None in (options.entity, options.time)
        if is_off or not options.panel or not names.issuperset(options.panel):
            return profile
        if profile.rows * len(names) > MOST_PAST:
            return profile.with_notes([say.NO_PAST_OF_STREAMS.format(count=f"{MOST_PAST:,}")])
        plan = PastPass(tuple(field for field in profile.fields if field.name in names))
        rows = self.feeder.fold(plan, plan.columns, None, workers)
        check_rows(self.feeder.source, profile.rows, sum(map(len, rows)), "when all were held")
        return profile.with_past(plan, rows, self.options)

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
        return functools.partial(
            _each, self._run.searched(items, usable_workers(workers), progress)
        )

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
    answers: Sequence[Callable[[], Searched]], finish: Callable[[Searched], Result]
) -> Generator[Result, None, None]:
    for answer in answers:
        yield finish(answer())


def _copy(profile: Profile, row: int) -> int:
    """Find a row that was looked for among those that were drawn."""
    places = np.arange(profile.drawn)
    for column in profile.table.columns:
        places = places[column.same(row, places)]
    return int(places[0])


Object: TypeAlias = Mapping[str, Any]
View: TypeAlias = tuple[tuple[Form, ...], tuple[SkippedColumn, ...], tuple[Derivation, ...]]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NewObject:
    """A new object: its row in the table of a profile, and notes on its values."""

    row: int
    home: Profile
    notes: tuple[str, ...]


def checked(profile: Profile, whole: Table, asked: RowRequest, options: Options) -> list[Object]:
    """Check new objects against all columns; give what they hold in those that are compared."""
    compared = {column.name: column for column in profile.table.columns}
    columns = tuple(compared.get(column.name, column) for column in whole.columns)
    unasked = {name for name in whole.names if not is_asked_for(name, options)}
    fits = ObjectCheck(
        dataclasses.replace(whole, columns=columns),
        options,
        unasked | profile.too_fine(options),
    )
    objects = asked.objects or ()
    for place, item in enumerate(objects):
        with asked.about(place):
            fits.check(item)
    return [{name: value for name, value in item.items() if name in compared} for item in objects]


def placed_objects(
    profile: Profile, objects: Sequence[Object], options: Options
) -> list[NewObject]:
    """Put new objects behind the rows that were drawn, those together that see a table alike."""
    empty = tuple(column.first(0) for column in profile.table.columns)
    alone = [_finite(_joined(empty, item)) for item in objects]
    views = [_view(profile, columns, options) for columns, _ in alone]
    homes = {
        view: _home(profile, view, [o for o, v in zip(objects, views, strict=True) if v == view])
        for view in dict.fromkeys(views)
    }
    row_in = dict.fromkeys(homes, profile.drawn)
    found = []
    for view, (_, notes) in zip(views, alone, strict=True):
        found.append(NewObject(row_in[view], homes[view], notes))
        row_in[view] += 1
    return found


def _joined(columns: Sequence[Column], item: Object) -> tuple[Column, ...]:
    return tuple(column.with_value(item.get(column.name)) for column in columns)


def _finite(columns: Sequence[Column]) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Count infinite values as missing, and say so; where they are refused there are none."""
    kept = [column.without_infinities(as_missing=True) for column in columns]
    notes = (infinities_note(column.name, count) for column, count in kept if count)
    return tuple(column for column, _ in kept), tuple(notes)


def _view(profile: Profile, columns: Sequence[Column], options: Options) -> View:
    """Return how an object sees a table: forms, columns that take no part, derived ones."""
    skipped = profile.left_out_with(columns, options)
    forms = tuple(column.form for column in columns)
    return forms, skipped, profile.derivations_with(columns, skipped, options)


def _home(profile: Profile, view: View, objects: Sequence[Object]) -> Profile:
    """Return the profile with objects behind the rows that were drawn."""
    columns = tuple(column.first(profile.drawn) for column in profile.table.columns)
    for item in objects:
        columns, _ = _finite(_joined(columns, item))
    table = dataclasses.replace(profile.table, columns=columns, rows=profile.drawn + len(objects))
    return dataclasses.replace(profile, table=table, skipped=view[1], derivations=view[2])
