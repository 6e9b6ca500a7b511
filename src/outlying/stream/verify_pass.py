"""The verify pass: exact counts and distributions of columns inside contexts.

What is asked is known beforehand, by a search among a sample of the rows: histograms of columns,
each among the rows of a context, and numbers of such rows. One pass answers all.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np

from outlying.errors import SourceError
from outlying.method.density import Counts
from outlying.method.distribution import Bounds
from outlying.options import Options
from outlying.search.attributes import Attribute, attribute_of
from outlying.search.evaluation import Exact, Groups
from outlying.search.evidence import Claims, claims
from outlying.search.memory import Prepared, knows_column
from outlying.search.model import Model
from outlying.search.population import Searched
from outlying.search.scoring import CandidateCondition, Context, ContextView, Progress
from outlying.sources.passes import Batch, Feeder
from outlying.stream.histograms import (
    CategoricalGroup,
    Codes,
    Dictionary,
    Group,
    Histograms,
    NumericGroup,
    affordable_states,
    histograms_of,
)
from outlying.stream.planning import (
    ColumnReader,
    Conjunction,
    Predicate,
    Query,
    Question,
    VerifyPlan,
    columns_in,
    numbering,
    plan_verification,
)
from outlying.stream.profile import Profile
from outlying.table.columns import CategoricalColumn, Column, Mask
from outlying.table.table import Condition
from outlying.table.targets import Target
from outlying.table.values import Form, value_of

_AT_ONCE = 2  # columns whose answers are made at a time
_MOST_ROWS = 262_144  # of a batch that are worked on at a time
_LEAST_ROWS = 16_384
_CELLS = 2**22  # of all columns together; each takes 16 bytes while it is worked on


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What all rows say to what was asked of them."""

    rows: int
    groups: dict[Query, Group]
    counts: dict[Predicate, int]
    ends: dict[Predicate, tuple[float, float]]  # infinite where no row holds a number

    def group(self, query: Query, form: Form) -> Group:
        """Return the rows that were asked about, of a column that may be read as another form."""
        found = self.groups[query]
        if isinstance(found, NumericGroup) and found.form != form:
            return dataclasses.replace(found, form=form)
        return found


@dataclasses.dataclass(slots=True, eq=False)
class VerifyState:
    """What is known of some of the rows."""

    rows: int
    counts: Counts  # of rows in each context
    histograms: dict[_Key, Histograms]
    ends: dict[Predicate, tuple[float, float]]  # the least and the greatest number in intervals


#: A column, and whether it is only counted how many rows have no value there.
_Key: TypeAlias = tuple[str, bool]
_NO_ENDS = math.inf, -math.inf


class VerifyPass:
    """One pass that answers all queries of a plan."""

    def __init__(self, plan: VerifyPlan) -> None:
        self.plan = plan
        contexts = [query.context for query in plan.queries] + [(own,) for own in plan.conditions]
        self._number = {
            each: place for place, each in enumerate(dict.fromkeys(filter(None, contexts)))
        }
        self._predicates = dict.fromkeys(own for each in self._number for own in each)
        self._queries: dict[_Key, list[Query]] = {}  # those of each histogram
        self._asked: dict[Conjunction, list[tuple[_Key, int]]] = {}  # what to count in a context
        for query in dict.fromkeys(plan.queries):
            key = query.column, query.kind == "missing"
            own = self._queries.setdefault(key, [])
            self._asked.setdefault(query.context, []).append((key, len(own)))
            own.append(query)

    def __reduce__(self) -> tuple[type[VerifyPass], tuple[VerifyPlan]]:
        return VerifyPass, (self.plan,)

    @property
    def columns(self) -> list[str]:
        """The columns that are read; derived ones by their parents."""
        return sorted({name for reader in self._readers for name in reader.names})

    @property
    def _readers(self) -> list[ColumnReader]:
        """How the columns are read that are asked about."""
        tested = {own.column for own in self._predicates}
        asked = tested | {query.column for query in self.plan.queries}
        return [self.plan.columns[name].reader for name in sorted(asked)]

    def affordable(self, workers: int) -> int:
        """Return how many threads may work, each with a state of its own, within the budget.

        How finely numbers are counted does not depend on it, and so no answer does.
        """
        numbers = [query.column for query in self.plan.queries if query.kind == "numbers"]
        encodings = (self.plan.columns[name].encoding for name in numbers)
        counts = sum(encoding.most_codes for encoding in encodings)
        return min(workers, affordable_states(counts))

    def start(self) -> VerifyState:
        """Return the state of no rows."""
        histograms = {}
        for (name, is_missing), queries in self._queries.items():
            encoding = Dictionary() if is_missing else self.plan.columns[name].encoding
            histograms[name, is_missing] = histograms_of(encoding, len(queries))
        ends = {own: _NO_ENDS for own in self.plan.conditions if own.kind == "interval"}
        return VerifyState(0, np.zeros(len(self._number), dtype=np.int64), histograms, ends)

    def add(self, state: VerifyState, batch: Batch) -> VerifyState:
        """Take in a batch of rows."""
        rows = _rows_at_once(len(self._readers))
        for start in range(0, batch.num_rows, rows):
            self._add(state, batch.slice(start, rows))
        return state

    def merge(self, state: VerifyState, other: VerifyState) -> VerifyState:
        """Put the states of two parts of the table together."""
        merged: dict[_Key, Any] = state.histograms
        for key, histograms in other.histograms.items():
            merged[key] = merged[key].merged(histograms)
        ends = {own: _wider(state.ends[own], other.ends[own]) for own in state.ends}
        rows, counts = state.rows + other.rows, state.counts + other.counts
        return VerifyState(rows, counts, merged, ends)

    def finish(self, state: VerifyState) -> Answers:
        """Return the answers."""
        groups: dict[Query, Group] = {}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for queries, found in pool.map(functools.partial(self._groups, state), self._queries):
                groups.update(zip(queries, found, strict=True))
        counts = {own: self._count(state, (own,)) for own in self.plan.conditions}
        return Answers(state.rows, groups, counts, state.ends)

    def _groups(self, state: VerifyState, key: _Key) -> tuple[list[Query], list[Group]]:
        """Return the answers to the queries about a column."""
        queries, plan = self._queries[key], self.plan.columns[key[0]]
        rows = [self._count(state, query.context) for query in queries]
        return queries, state.histograms[key].groups(rows, plan.form, plan.exponent)

    def _count(self, state: VerifyState, context: Conjunction) -> int:
        return int(state.counts[self._number[context]]) if context else state.rows

    def _add(self, state: VerifyState, batch: Batch) -> None:
        readers = self._readers
        keys = (reader.key for reader in readers)
        cells = dict(zip(keys, columns_in(batch, readers), strict=True))
        state.rows += batch.num_rows
        masks = {own: own.test(cells[own.column]) for own in self._predicates}
        for own, ends in state.ends.items():
            values = cells[own.column].values[masks[own]]  # type: ignore[union-attr]
            if len(values):
                found = float(values.min()) + 0.0, float(values.max()) + 0.0  # there is one zero
                state.ends[own] = _wider(ends, found)
        codes = {key: self._encoded(state, key, cells[key[0]]) for key in self._queries}
        for key, place in self._asked.get((), ()):
            state.histograms[key].matrix.count(place, codes[key])
        for context, number in self._number.items():
            rows = np.flatnonzero(np.logical_and.reduce([masks[own] for own in context]))
            state.counts[number] += len(rows)
            for key, place in self._asked.get(context, ()):
                state.histograms[key].matrix.count(place, codes[key][rows])

    @staticmethod
    def _encoded(state: VerifyState, key: _Key, cells: Column) -> Codes:
        """Encode the cells of a column; its histograms may become others."""
        if key[1]:
            codes = cells.missing().astype(np.int32)
            cells = CategoricalColumn(cells.name, "text", codes, ("known", "missing"))
        state.histograms[key], found = state.histograms[key].encode(cells)
        return found


def _wider(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return min(one[0], other[0]), max(one[1], other[1])


def _rows_at_once(columns: int) -> int:
    """Choose how many rows to work on at a time: the fewer, the more columns there are."""
    rows = _CELLS // max(1, columns)
    return max(_LEAST_ROWS, min(_MOST_ROWS, rows - rows % _LEAST_ROWS))


# --- the objects of a stream ---------------------------------------------------------------------


class VerifiedGroups(Groups):
    """The rows of a stream by the conditions of a model, as far as was asked for an object."""

    def __init__(self, question: Question, answers: Answers, rows: int) -> None:
        """Take how many rows there are in all."""
        super().__init__(question.attributes, question.model)
        self.question, self.answers = question, answers
        self.rows = rows + question.is_new

    def mask(self, condition: int) -> Mask:
        """Return which of the rows that the model is made of satisfy a condition."""
        return self.model.cells.mask(condition, self.model.codes)

    def _condition(self, number: int) -> CandidateCondition:
        own, is_new = self.question.predicate(number), self.question.is_new
        column = self.attributes[self.model.cells.spans[number].attribute].column
        bounds = (math.nan, math.nan)
        if own.kind == "missing":
            condition = Condition(column.name, "missing")
        elif own.kind == "interval":
            bounds = self.answers.ends[own]
            if is_new:
                value = self.question.numeric_places[own.column]
                bounds = min(bounds[0], value), max(bounds[1], value)
            low, high = (value_of(column.form, bound) for bound in bounds)
            condition = Condition(column.name, "interval", low=low, high=high)
        else:
            condition = Condition(column.name, "equals", value=own.label)
        rows = self.answers.counts[own] + is_new
        test = functools.partial(self._test, number)
        return CandidateCondition(condition, rows, test, bounds)

    def group(self, attribute: Attribute, context: Context) -> Group:
        """Return a property in a context, the object included."""
        query = self.question.query(attribute, context)
        group = self.answers.group(query, attribute.column.form)
        if self.question.is_new:
            group = group.joined(attribute.place(self.question.row))
        return group

    def _view(self, attribute: Attribute, context: Context) -> ContextView:
        return self.group(attribute, context).view(self.group(attribute, ()))


class Verification(Exact):
    """The pairs of an object that are told, evaluated by what was counted of all rows."""

    groups: VerifiedGroups

    def __init__(self, groups: VerifiedGroups) -> None:
        super().__init__(groups, groups.question.row, groups.question.claims)

    @property
    def hold_object(self) -> bool:
        """Whether the object is among the rows that were counted, as it must be."""
        question = self.groups.question
        return question.is_new or all(
            self._group(place, tuple(map(self.numbers.index, claim.context))).holds(
                self.properties[place].place
            )
            for place, claim in self._found
        )

    def _group(self, place: int, context: Context) -> Group:
        numbers = tuple(self.numbers[item] for item in context)
        return self.groups.group(self.properties[place].attribute, numbers)

    def bounds(self, place: int, context: Context) -> Bounds | None:
        """Return what is left open of a property in a context; None where all is counted."""
        overall, inside = self._group(place, ()), self._group(place, context)
        if isinstance(inside, CategoricalGroup) or isinstance(overall, CategoricalGroup):
            return None
        if overall.found.is_exact:
            return None
        return inside.bounds(self.properties[place].place)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class SampledTarget(Target):
    """A target that is a row of a profile's table, behind the rows that were drawn."""

    home: Profile | None = None
    notes: tuple[str, ...] = ()


def check_rows(source: str, expected: int, rows: int, when: str) -> None:
    """Refuse a table that has become another one between two passes."""
    if rows != expected:
        raise changed(source, f"{expected:,} rows in the first pass, {rows:,} {when}")


def changed(source: str, how: str) -> SourceError:
    """Return the error about a table that changes while it is read."""
    return SourceError(
        f"{source} has changed while it was read: {how}; try again when nobody writes"
    )


#: An object, and the attributes of the table that it is a row of: a new one may see others.
Seen: TypeAlias = tuple[SampledTarget, tuple[Attribute, ...]]


class VerifyRun:
    """The rows drawn from a table, and a feeder who reads all of its rows."""

    def __init__(self, feeder: Feeder, profile: Profile, options: Options) -> None:
        self.feeder, self.profile, self.options = feeder, profile, options
        chosen = profile.known_selection
        self.prepared = Prepared.of(profile.table, options, chosen, total=profile.rows)
        self.numbers_in = numbering(self.prepared.attributes)

    def model(self, threads: int = 1, progress: Progress | None = None) -> Model:
        """Return what rows are judged by, made of the rows that were drawn and judged, once."""
        self.prepared.evidence(threads, progress)
        return self.prepared.model()

    def searched(
        self, targets: Sequence[SampledTarget], workers: int, progress: Progress | None
    ) -> list[Callable[[], Searched]]:
        """Judge objects, and ask all rows in one pass about what is told of them.

        Return for each what makes its answer, in numbers of all rows.
        """
        self.model(workers, progress)
        homes = {id(item.home): item.home for item in targets if item.home is not None}
        attributes = {key: attributes_of(home) for key, home in homes.items()}
        seen = [(item, attributes[id(item.home)]) for item in targets]
        questions = list(self._questions(seen))
        plan = plan_verification(self.profile, questions)
        work = VerifyPass(plan)
        state = self.feeder.fold(work, work.columns, progress, work.affordable(workers))
        check_rows(self.feeder.source, self.profile.rows, state.rows, "in the second")
        answers = work.finish(state)
        pairs = zip(targets, questions, strict=True)
        return [functools.partial(self._answer, *pair, answers) for pair in pairs]

    def _questions(self, seen: Sequence[Seen]) -> Iterator[Question]:
        """Judge all objects; return what is to be told of each."""
        known = self._judged([pair for pair in seen if self._fits(*pair)])
        for item, attributes in seen:
            model, told = self.model(), known.get(id(item))
            if told is None:  # a new object that brings other columns into play
                assert item.home is not None  # noqa: S101
                home = item.home.only(int(item.row or 0))
                own = Prepared.of(home.table, self.options, home.selection, has_new=True)
                last = np.array([own.table.rows - 1])
                model, told = own.model(), claims(own.evidence_of(last))[0]
            yield Question(model, attributes, int(item.row or 0), told, item.new is not None)

    def _judged(self, seen: Sequence[Seen]) -> dict[int, Claims]:
        """Judge objects of which the model of the rows drawn knows all columns."""
        by_home: dict[int, list[Seen]] = {}
        for pair in seen:
            by_home.setdefault(id(pair[0].home), []).append(pair)
        found: dict[int, Claims] = {}
        for pairs in by_home.values():
            rows = np.array([item.row for item, _ in pairs])
            columns = [own.column.taken(rows) for own in pairs[0][1]]
            evidence = self.model().judged(self.numbers_in(columns))
            found.update(zip((id(item) for item, _ in pairs), claims(evidence), strict=True))
        return found

    def _fits(self, item: SampledTarget, new: Sequence[Attribute]) -> bool:
        """Return whether the model of the rows drawn can judge an object.

        It cannot where other columns take part, or where a new one is the first to lack a value.
        """
        own = self.prepared.attributes
        return item.new is None or (
            len(own) == len(new)
            and all(map(knows_column, own, new, itertools.repeat(int(item.row or 0))))
        )

    def _answer(self, item: SampledTarget, question: Question, answers: Answers) -> Searched:
        """Return what is told of an object, in numbers of all rows."""
        assert item.home is not None  # noqa: S101 - made by this population
        profile = self.profile
        exact = Verification(VerifiedGroups(question, answers, profile.rows))
        if not exact.hold_object:
            raise changed(self.feeder.source, "a row of the first pass is not in the second")
        table, row = item.home.table, question.row
        return Searched(
            row=None,
            key=item.key,
            values=table.values(row) if item.values is None else item.values,
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


def attributes_of(profile: Profile) -> tuple[Attribute, ...]:
    """Return the attributes of a table, by name."""
    chosen = profile.selection
    columns: list[Column] = sorted((*chosen.columns, *chosen.derived), key=lambda own: own.name)
    return tuple(map(attribute_of, columns))
