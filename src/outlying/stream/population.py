"""A population that is read as a stream: a pass, a model of the rows drawn, another pass."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from outlying import sentences as say
from outlying.derived.choosing import is_counted
from outlying.derived.past import may_have_past
from outlying.errors import OptionError, RowError, SourceError
from outlying.options import Options
from outlying.parallel import usable_workers
from outlying.search import model
from outlying.search.cells import Attribute, attribute_of
from outlying.search.evaluation import Progress
from outlying.search.evidence import Claims, Standing, claims
from outlying.search.memory import (
    MemoryPopulation,
    Prepared,
    Result,
    Searched,
    Searching,
    knows_column,
)
from outlying.search.model import Model
from outlying.sources.passes import Collect, Feeder
from outlying.stream.judging import ScorePass, StreamRanking, numbering
from outlying.stream.lookups import CountPass, EvidencePass, Lookup, Together, fields_for
from outlying.stream.profile import Profile, ProfilePass, copied, fields_of, finish, takeable
from outlying.stream.verify import Answers, Question, Verification, VerifiedGroups, VerifyPass
from outlying.table.columns import Column
from outlying.table.selection import Selection, is_asked_for, not_empty
from outlying.table.table import Table
from outlying.table.targets import ObjectCheck, RowRequest, Target, Targets

#: Cells of all rows that are held to compare rows with their past.
MOST_PAST = 2**24
_NEEDS_MEMORY = {
    "exact": (False, "exact=True searches all rows"),
    "paper": (None, 'preset="paper" visits all contexts'),
}

Object: TypeAlias = Mapping[str, Any]


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
        return profile.with_columns(_drawn(profile)).table

    def _profiled(
        self,
        progress: Progress | None = None,
        workers: int | None = None,
        lookup: Lookup | None = None,
    ) -> Profile:
        """Return what the first pass found, with the rows that are looked up behind those drawn."""
        read, known = functools.partial(self._read, progress, workers), self._profile
        if known is None:
            works = Together([self._plan] if lookup is None else [self._plan, lookup])
            state, *found = read(works)
            known = self._profile = self._kept(finish(self._plan, state, self.table), workers)
        elif lookup is not None:
            found = [read(lookup)]
        if lookup is None:
            return known
        check_rows(self.feeder.source, known.rows, found[0].rows, "when rows were looked for")
        return lookup.finish(found[0], known)

    def _read(self, progress: Progress | None, workers: int | None, work: Any) -> Any:
        columns = list(dict.fromkeys(field.name for field in work.fields))
        return self.feeder.fold(work, columns, progress, workers)

    def _kept(self, profile: Profile, workers: int | None) -> Profile:
        """Return what is kept of the first pass, and of those that it suggests."""
        profile = profile.with_notes(self.feeder.notes)
        not_empty(profile.selection)
        if profile.rows < 2:
            raise SourceError(
                f"{self.feeder.source} has {profile.rows} rows; a row is explained by comparing it "
                "with others, so at least two are needed"
            )
        if profile.is_whole:
            self._memory = MemoryPopulation(profile.table, self.options, is_of_stream=True)
            return profile
        evidence = EvidencePass.of(profile)
        state = self._read(None, workers, evidence) if evidence.fields else evidence.start()
        profile = evidence.finish(state, profile)
        not_empty(profile.selection)
        return self._by_all_rows(profile.with_relations(), workers)

    def _by_all_rows(self, profile: Profile, workers: int | None) -> Profile:
        """Ask all rows about relations and a past; where they cannot be held, count what holds."""
        may_be_panel = may_have_past(profile.used, self.options, profile.derivations)
        if not (may_be_panel or any(map(is_counted, profile.derivations))):
            return profile
        if profile.rows * len(profile.used) > MOST_PAST:
            told = [say.NO_PAST_OF_STREAMS.format(count=f"{MOST_PAST:,}")] if may_be_panel else []
            count = CountPass.of(profile)
            state = self._read(None, workers, count) if count.fields else count.start()
            return count.finish(state, profile).with_notes(told)
        names = {column.name for column in profile.used}
        fields = tuple(field for field in profile.fields if field.name in names)
        batches = self.feeder.fold(Collect(), [f.name for f in fields], None, workers)
        rows = [
            copied(fields, takeable(batch, fields), np.arange(batch.num_rows)) for batch in batches
        ]
        check_rows(self.feeder.source, profile.rows, sum(map(len, rows)), "when all were held")
        return profile.with_past(rows)

    # --- what is asked for ----------------------------------------------------------------------

    def targets(
        self, asked: RowRequest, progress: Progress | None = None, workers: int | None = None
    ) -> Targets:
        """Find what is asked for, and check all of it."""
        for given, what in ((asked.rows, "no order and no position"), (asked.index, "no index")):
            if given is not None:
                raise RowError(
                    f"{self.table.source} is read as a stream, whose rows have {what}; name the "
                    "row by values that only it has: where={column: value}"
                )
        if asked.objects is not None:
            return self._new(asked, self._profiled(progress, workers))
        fields = fields_for(asked, self._fields, lambda: self._profiled(progress, workers).fields)
        lookup = Lookup.of(asked, fields, self.table.skipped)
        home = self._profiled(progress, workers, lookup)
        count = home.table.rows - home.drawn
        wheres = lookup.wheres * count if lookup.is_for_every else lookup.wheres
        return self._rows(home, wheres)

    def _rows(self, home: Profile, wheres: Sequence[Object]) -> Targets:
        found: list[Target] = []
        for place, where in enumerate(wheres):
            row, values = home.drawn + place, home.values(place)
            key = home.key(values, where)
            if self._memory is None:
                found.append(SampledTarget(row=row, key=key, values=values, home=home))
            else:
                found.append(Target(row=_copy(home, row), key=key, values=values))
        return Targets(tuple(found), have_positions=False)

    def _new(self, asked: RowRequest, profile: Profile) -> Targets:
        objects = _checked(profile, self.table, asked)
        found: Iterable[Target] = (Target(new=item) for item in objects)
        if self._memory is None:
            found = _placed(profile, objects)
        return Targets(tuple(found), have_positions=False)

    # --- the second pass ------------------------------------------------------------------------

    def searching(
        self, targets: Targets, workers: int | None, progress: Progress | None
    ) -> Searching:
        """Judge all objects, and ask all rows in one pass about what is told of them."""
        if self._memory is not None:
            return self._memory.searching(targets, workers, progress)
        items = [item for item in targets if isinstance(item, SampledTarget)]
        questions = self._questions(items, self._model(workers, progress))
        profile, work = self._profiled(), VerifyPass.of(self._profiled(), questions)
        state = self._read(progress, work.affordable(usable_workers(workers)), work)
        check_rows(self.feeder.source, profile.rows, state.rows, "in the second")
        return functools.partial(self._answers, items, questions, work.finish(state))

    @functools.cached_property
    def _prepared(self) -> Prepared:
        """The rows that were drawn, made ready to be judged."""
        profile = self._profiled()
        if self._memory is not None:
            return self._memory.prepared
        chosen = profile.known_selection
        return Prepared.of(profile.table, self.options, chosen, total=profile.rows)

    def _model(self, workers: int | None = None, progress: Progress | None = None) -> Model:
        """Return what rows are judged by, made of the rows that were drawn and judged, once."""
        self._prepared.evidence(usable_workers(workers), progress)
        return self._prepared.model()

    def standing(self, workers: int | None = None, progress: Progress | None = None) -> Standing:
        """Judge the rows that were drawn, once: how strong findings are on them."""
        self._profiled(progress, workers)
        if self._memory is not None:
            return self._memory.standing(workers, progress)
        return self._model(workers, progress).standing

    def ranked(
        self, top: int, workers: int | None = None, progress: Progress | None = None
    ) -> StreamRanking:
        """Judge every row in one pass, and keep those that score highest."""
        profile = self._profiled(progress, workers)
        standing = self.standing(workers, progress)
        work = ScorePass(self._prepared.model(), profile, top)
        state = self._read(progress, workers, work)
        check_rows(self.feeder.source, profile.rows, state.rows, "when they were judged")
        return work.finish(state, profile, standing)

    def targets_of(self, ranked: StreamRanking, top: int) -> Targets:
        """Return the first rows by strength, to be explained."""
        return self._rows(ranked.home, [{}] * min(top, len(ranked.by_strength)))

    def _questions(self, items: Sequence[SampledTarget], model: Model) -> list[Question]:
        """Judge objects; return what is to be told of each."""
        numbers_in, found = numbering(self._prepared.attributes), dict[int, Question]()
        for home in {id(item.home): item.home for item in items}.values():
            own = [item for item in items if item.home is home]
            selection = home.selection
            columns = sorted((*selection.columns, *selection.derived), key=lambda own: own.name)
            attributes = tuple(map(attribute_of, columns))
            known = [item for item in own if self._knows(item, attributes)]
            rows = np.array([item.row for item in known], dtype=np.int64)
            told: dict[int, Claims] = {}
            if known:
                numbers = numbers_in([column.taken(rows) for column in columns])
                told = dict(zip(map(id, known), claims(model.judged(numbers)), strict=True))
            for item in own:
                judge, own_claims, row = model, told.get(id(item)), int(item.row or 0)
                if own_claims is None:  # a new object that brings other columns into play
                    alone = home.only(row)
                    new = Prepared.of(alone.table, self.options, alone.selection, has_new=True)
                    last = np.array([new.table.rows - 1])
                    judge, own_claims = new.model(), claims(new.evidence_of(last))[0]
                found[id(item)] = Question(judge, attributes, row, own_claims, item.new is not None)
        return [found[id(item)] for item in items]

    def _knows(self, item: SampledTarget, new: Sequence[Attribute]) -> bool:
        """Return whether the model can judge an object: it has its columns, and knows its gaps."""
        own = self._prepared.attributes
        return item.new is None or (
            len(own) == len(new)
            and all(map(knows_column, own, new, itertools.repeat(int(item.row or 0))))
        )

    def _answers(
        self,
        items: Sequence[SampledTarget],
        questions: Sequence[Question],
        answers: Answers,
        finish: Callable[[Searched], Result],
    ) -> Generator[Result, None, None]:
        for item, question in zip(items, questions, strict=True):
            yield finish(self._answer(item, question, answers))

    def _answer(self, item: SampledTarget, question: Question, answers: Answers) -> Searched:
        """Return what is told of an object, in numbers of all rows."""
        profile, table = self._profiled(), item.home.table
        exact = Verification(VerifiedGroups(question, answers, profile.rows))
        if not exact.hold_object:
            raise _changed(self.feeder.source, "a row of the first pass is not in the second")
        return Searched(
            row=None,
            key=item.key,
            values=table.values(question.row) if item.values is None else item.values,
            table=profile.table,
            rows=profile.rows,
            selection=item.home.selection,
            attributes=question.attributes,
            standing=question.model.standing,
            is_streamed=True,
            is_new=question.is_new,
            notes=(*profile.table.notes, *item.notes),
            outcome=exact.outcome(),
            exact=exact,
        )


def _drawn(profile: Profile) -> tuple[Column, ...]:
    return tuple(column.first(profile.drawn) for column in profile.table.columns)


def _copy(profile: Profile, row: int) -> int:
    places = np.arange(profile.drawn)
    for column in profile.table.columns:
        places = places[column.same(row, places)]
    return int(places[0])


def check_rows(source: str, expected: int, rows: int, when: str) -> None:
    """Refuse a table that has become another one between two passes."""
    if rows != expected:
        raise _changed(source, f"{expected:,} rows in the first pass, {rows:,} {when}")


def _changed(source: str, how: str) -> SourceError:
    return SourceError(
        f"{source} has changed while it was read: {how}; try again when nobody writes"
    )


@dataclasses.dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SampledTarget(Target):
    """A target that is a row of a profile's table, behind the rows that were drawn."""

    home: Profile
    notes: tuple[str, ...] = ()


def _checked(profile: Profile, whole: Table, asked: RowRequest) -> list[Object]:
    """Check new objects against all columns; give what they hold in those that are compared."""
    compared = {column.name: column for column in profile.table.columns}
    columns = tuple(compared.get(column.name, column) for column in whole.columns)
    unasked = {name for name in whole.names if not is_asked_for(name, profile.options)}
    table = dataclasses.replace(whole, columns=columns)
    fits = ObjectCheck(table, profile.options, unasked | profile.too_fine())
    for place, item in enumerate(asked.objects or ()):
        with asked.about(place):
            fits.check(item)
    return [
        {name: value for name, value in item.items() if name in compared}
        for item in asked.objects or ()
    ]


def _placed(profile: Profile, objects: Sequence[Object]) -> list[SampledTarget]:
    """Put new objects behind the rows that were drawn, those together that see a table alike."""
    empty, drawn = tuple(column.first(0) for column in profile.table.columns), _drawn(profile)
    homes: dict[Any, Profile] = {}
    places: list[tuple[Any, int, tuple[str, ...]]] = []
    for item in objects:
        alone, notes = _with_object(empty, item)
        left_out, derivations = profile.seen_by(alone)
        view = tuple(column.form for column in alone), left_out, derivations
        home = homes.get(view, profile.with_columns(drawn))
        places.append((view, home.table.rows, notes))
        home = home.with_columns(_with_object(home.table.columns, item)[0])
        homes[view] = dataclasses.replace(home, skipped=left_out, derivations=derivations)
    return [
        SampledTarget(row=row, new=item, home=homes[view], notes=notes)
        for item, (view, row, notes) in zip(objects, places, strict=True)
    ]


def _with_object(
    columns: Sequence[Column], item: Object
) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Return columns with one more row, and notes; infinite values are missing, or were refused."""
    whole = (column.with_value(item.get(column.name)) for column in columns)
    kept = [column.without_infinities(as_missing=True) for column in whole]
    notes = tuple(note for _, note in kept if note is not None)
    return tuple(column for column, _ in kept), notes
