"""The verify pass: exact counts and distributions of columns inside contexts.

What is asked is known beforehand, by a search among a sample of the rows. Whoever reads the rows
needs to know nothing of objects and models: contexts are tests of values.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from outlying.derived.calendar import MINUTE
from outlying.method.density import Counts
from outlying.method.distribution import Bounds, Distribution
from outlying.method.measure import SCALES
from outlying.search.cells import (
    MISSING,
    OTHER,
    Attribute,
    CategoryCoder,
    NumberCoder,
    NumericAttribute,
    exponent_of,
)
from outlying.search.evaluation import CandidateCondition, Context, ContextView, Exact, Groups
from outlying.search.evidence import Claims
from outlying.search.model import Model
from outlying.sources.columns import Field
from outlying.sources.passes import Batch
from outlying.stream.histograms import (
    MOST_BINS,
    MOST_VALUES,
    CategoricalGroup,
    Codes,
    Grid,
    Group,
    Histograms,
    NumericGroup,
    Zone,
    affordable_bins,
    affordable_states,
)
from outlying.stream.judging import ColumnReader, columns_in
from outlying.stream.profile import Profile
from outlying.table.columns import CategoricalColumn, Column, Floats, Mask, NumericColumn
from outlying.table.table import Condition
from outlying.table.values import Form, value_of

_MOST_ROWS = 262_144  # of a batch that are worked on at a time
_LEAST_ROWS = 16_384
_CELLS = 2**22  # of all columns together; each takes 16 bytes while it is worked on
_STEPS = {"integer": 1.0, "date": 86_400_000_000.0}
_REACHES = 1, SCALES[-1] / 2  # windows around an object in which bins are fine
_NEARLY_ALL = 0.95  # a sample with so many distinct values comes of more than can be kept
_NO_ENDS = math.inf, -math.inf


# --- what is asked -------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class ValueTest:
    """A test of one column; intervals are closed, in its unit, and hold no missing value."""

    column: str
    kind: Literal["interval", "equals", "missing"]
    low: float = -math.inf
    high: float = math.inf
    label: str | bool | None = None  # of "equals"

    def test(self, column: Column) -> Mask:
        """Return which rows satisfy it."""
        if self.kind == "missing":
            return column.missing()
        if column.is_numeric:
            return np.asarray((column.values >= self.low) & (column.values <= self.high))
        is_there = self.label in column.labels
        place = column.labels.index(self.label) if is_there else len(column.labels)
        return np.asarray(column.codes == place)


#: Predicates that must all hold.
Conjunction: TypeAlias = frozenset[ValueTest]
EVERYWHERE: Conjunction = frozenset()


@dataclasses.dataclass(frozen=True, slots=True)
class Query:
    """How a column is distributed in a context; of "missing", only how many rows have no value."""

    column: str
    kind: Literal["numbers", "labels", "missing"]
    context: Conjunction = EVERYWHERE


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColumnPlan:
    """How a column is read and counted: by a grid of bins where more than `limit` are distinct."""

    reader: ColumnReader
    grid: Grid | None = None
    limit: int = MOST_VALUES
    exponent: int = 0
    form: Form = "number"


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """An object, the model that judged it, and what is to be told; a new one is one more row."""

    model: Model
    attributes: tuple[Attribute, ...]  # of the table in memory that the object is a row of
    row: int
    claims: Claims
    is_new: bool = False

    @functools.cached_property
    def queries(self) -> list[Query]:
        """The histograms that are needed: of pairs, and of all columns that are shown."""
        found = []
        for claim in self.claims.found:
            own = self._attribute(claim.property)
            found += [*self._pictured(own), self.query(own, claim.context)]
            found += [self.query(self._shown(number), ()) for number in claim.context]
        for number, _ in self.claims.surprise[: self.model.options.top]:
            found += self._pictured(self._attribute(number))
        return found

    def _pictured(self, attribute: Attribute) -> list[Query]:
        """Ask for an attribute among all rows, and for the columns that it relates, if it does."""
        origin = attribute.column.origin
        related = () if origin is None or not origin.given else (origin.parent, *origin.given)
        beside = [own for own in self.attributes if own.column.name in related]
        return [self.query(own, ()) for own in (attribute, *beside)]

    @functools.cached_property
    def predicates(self) -> list[ValueTest]:
        """The conditions that are told of."""
        return [self.predicate(number) for own in self.claims.found for number in own.context]

    def query(self, attribute: Attribute, context: Context) -> Query:
        """Ask how an attribute is distributed in a context of conditions of the model."""
        inside = frozenset(map(self.predicate, context))
        kind = "missing" if attribute.kind == "gaps" else attribute.kind
        return Query(attribute.column.key, kind, inside)

    def predicate(self, condition: int) -> ValueTest:
        """Return what the rows of a condition satisfy: a range of codes, in values."""
        span = self.model.cells.spans[condition]
        own, coder = self.model.attributes[span.attribute], self.model.cells.coders[span.attribute]
        key = own.column.key
        if span.high == MISSING:
            return ValueTest(key, "missing")
        if isinstance(coder, CategoryCoder):
            assert not isinstance(own, NumericAttribute)  # noqa: S101 - as its coder is none
            category = own.categories[int(np.flatnonzero(coder.places == span.low)[0])]
            return ValueTest(key, "equals", label=cast(str | bool, category))
        assert isinstance(own, NumericAttribute)  # noqa: S101 - as its coder is
        return ValueTest(key, "interval", *_ends(own, coder, span.low - OTHER, span.high - OTHER))

    def _attribute(self, number: int) -> Attribute:
        """Return a property of the model, seen in the table of the object."""
        own = self.model.properties[number]
        attribute = self.attributes[own.place]
        return attribute.missingness if own.is_gap else attribute

    def _shown(self, condition: int) -> Attribute:
        """Return the property that a condition is shown by; see `Exact`."""
        attribute = self.attributes[self.model.cells.spans[condition].attribute]
        is_gap = attribute.is_constant or attribute.column.is_missing(self.row)
        return attribute.missingness if is_gap else attribute

    @functools.cached_property
    def numeric_places(self) -> dict[str, float]:
        """What the object holds in columns of numbers."""
        return {
            own.column.key: float(own.column.values[self.row])
            for own in self.attributes
            if isinstance(own, NumericAttribute) and not own.column.is_missing(self.row)
        }


def _ends(
    attribute: NumericAttribute, coder: NumberCoder, first: int, last: int
) -> tuple[float, float]:
    """Return the closed interval of a range; a number at a border belongs to what lies below."""
    borders = coder.borders
    low, high = -math.inf, math.inf
    if first > 0:
        low = float(np.nextafter(attribute.unscaled(borders[first - 1]), math.inf))
    if last < len(borders):
        high = attribute.unscaled(borders[last])
    return low, high


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What all rows say to what was asked of them."""

    rows: int
    groups: dict[Query, Group]
    counts: dict[ValueTest, int]
    ends: dict[ValueTest, tuple[float, float]]  # infinite where no row holds a number


#: A column, and whether it is only counted how many rows have no value there.
_Key: TypeAlias = tuple[str, bool]


@dataclasses.dataclass(slots=True, eq=False)
class VerifyState:
    """What is known of some of the rows."""

    rows: int
    counts: Counts  # of rows in each context
    histograms: dict[_Key, Histograms]
    ends: dict[ValueTest, tuple[float, float]]  # the least and the greatest number in intervals


class VerifyPass:
    """One pass that answers queries, counts the rows of conditions, and finds ends of intervals."""

    def __init__(
        self,
        plans: Mapping[str, ColumnPlan],
        queries: Iterable[Query] = (),
        conditions: Iterable[ValueTest] = (),
    ) -> None:
        self.plans = plans
        self.queries = tuple(dict.fromkeys(queries))
        self.conditions = tuple(dict.fromkeys(conditions))
        contexts = dict.fromkeys(own.context for own in self.queries)
        contexts |= dict.fromkeys(frozenset([own]) for own in self.conditions)
        self._number = {each: place for place, each in enumerate(filter(None, contexts))}
        self._predicates = dict.fromkeys(own for each in self._number for own in each)
        self._queries: dict[_Key, list[Query]] = {}  # those of each histogram
        self._asked: dict[Conjunction, list[tuple[_Key, int]]] = {}  # what to count in a context
        for query in self.queries:
            key = query.column, query.kind == "missing"
            own = self._queries.setdefault(key, [])
            self._asked.setdefault(query.context, []).append((key, len(own)))
            own.append(query)
        tested = {own.column for own in self._predicates} | {own.column for own in self.queries}
        self._readers = [plans[name].reader for name in sorted(tested)]

    def __reduce__(self) -> tuple[type[VerifyPass], tuple[Any, ...]]:
        return VerifyPass, (self.plans, self.queries, self.conditions)

    @classmethod
    def of(cls, profile: Profile, questions: Sequence[Question]) -> VerifyPass:
        """Plan a pass that answers all questions."""
        queries = list(dict.fromkeys(query for each in questions for query in each.queries))
        conditions = dict.fromkeys(own for each in questions for own in each.predicates)
        asked = {own.column for own in conditions} | {query.column for query in queries}
        numeric = [query.column for query in queries if query.kind == "numbers"]
        bins = affordable_bins(len(numeric))
        fields = {field.name: field for field in profile.fields}
        columns = {own.column.key: own.column for each in questions for own in each.attributes}
        origins = sorted(key for key, own in columns.items() if own.origin is not None)
        derived = (ColumnReader.of(columns[key], fields) for key in origins)
        plans = {}
        for reader in (*map(ColumnReader, profile.fields), *derived):
            if reader.key in numeric:
                known = (each.numeric_places for each in questions)
                places = {own[reader.key] for own in known if reader.key in own}
                plans[reader.key] = _plan_of_numbers(profile, reader, bins, sorted(places))
            elif reader.key in asked:
                plans[reader.key] = ColumnPlan(reader)
        return cls(plans, queries, conditions)

    @property
    def fields(self) -> list[Field]:
        """How columns are read; derived ones by their parents."""
        return [field for own in self._readers for field in (own.field, *own.given)]

    def affordable(self, workers: int) -> int:
        """Return how many threads may have a state of their own; no answer depends on it."""
        plans = (self.plans[query.column] for query in self.queries if query.kind == "numbers")
        codes = (max(own.limit + 1, 0 if own.grid is None else own.grid.size) for own in plans)
        return min(workers, affordable_states(sum(codes)))

    def start(self) -> VerifyState:
        """Return the state of no rows."""
        histograms = {}
        for (name, is_missing), queries in self._queries.items():
            own = self.plans[name]
            kind = (None, MOST_VALUES) if is_missing else (own.grid, own.limit)
            histograms[name, is_missing] = Histograms(len(queries), *kind)
        ends = {own: _NO_ENDS for own in self.conditions if own.kind == "interval"}
        return VerifyState(0, np.zeros(len(self._number), dtype=np.int64), histograms, ends)

    def add(self, state: VerifyState, batch: Batch) -> VerifyState:
        """Take in a batch of rows: the fewer at a time, the more columns there are."""
        rows = _CELLS // max(1, len(self._readers))
        rows = max(_LEAST_ROWS, min(_MOST_ROWS, rows - rows % _LEAST_ROWS))
        for start in range(0, batch.num_rows, rows):
            self._add(state, batch.slice(start, rows))
        return state

    def _add(self, state: VerifyState, batch: Batch) -> None:
        keys = (reader.key for reader in self._readers)
        cells = dict(zip(keys, columns_in(batch, self._readers), strict=True))
        state.rows += batch.num_rows
        masks = {own: own.test(cells[own.column]) for own in self._predicates}
        for own, ends in state.ends.items():
            values = cells[own.column].values[masks[own]]  # type: ignore[union-attr]
            if len(values):
                found = float(values.min()) + 0.0, float(values.max()) + 0.0  # there is one zero
                state.ends[own] = _wider(ends, found)
        codes = {key: _encoded(state.histograms[key], key, cells) for key in self._queries}
        for key, place in self._asked.get(EVERYWHERE, ()):
            state.histograms[key].count(place, codes[key])
        for context, number in self._number.items():
            rows = np.flatnonzero(np.logical_and.reduce([masks[own] for own in context]))
            state.counts[number] += len(rows)
            for key, place in self._asked.get(context, ()):
                state.histograms[key].count(place, codes[key][rows])

    def merge(self, state: VerifyState, other: VerifyState) -> VerifyState:
        """Put the states of two parts of the table together."""
        for key, histograms in other.histograms.items():
            state.histograms[key].merge(histograms)
        for own, ends in other.ends.items():
            state.ends[own] = _wider(state.ends[own], ends)
        state.rows += other.rows
        state.counts += other.counts
        return state

    def finish(self, state: VerifyState) -> Answers:
        """Return the answers."""
        counts = {context: int(state.counts[place]) for context, place in self._number.items()}
        counts[EVERYWHERE] = state.rows
        groups: dict[Query, Group] = {}
        for key, queries in self._queries.items():
            plan, rows = self.plans[key[0]], [counts[query.context] for query in queries]
            found = state.histograms[key].groups(rows, plan.form, plan.exponent)
            groups.update(zip(queries, found, strict=True))
        own = {each: counts[frozenset([each])] for each in self.conditions}
        return Answers(state.rows, groups, own, state.ends)


def _encoded(histograms: Histograms, key: _Key, cells: Mapping[str, Column]) -> Codes:
    column = cells[key[0]]
    if key[1]:
        codes = column.missing().astype(np.int32)
        column = CategoricalColumn(column.name, "text", codes, ("known", "missing"))
    return histograms.encode(column)


def _wider(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return min(one[0], other[0]), max(one[1], other[1])


def _plan_of_numbers(
    profile: Profile, reader: ColumnReader, bins: int, places: Sequence[float]
) -> ColumnPlan:
    """Plan how finely a column is counted: most finely near `places`, where objects are."""
    origin = reader.derivation
    if origin is None:
        column, facts = profile.table.column(reader.key), profile.facts[reader.key]
        low, high = float(facts.low), float(facts.high)
    else:
        column = origin.column({own.name: own for own in profile.table.columns})
        low, high = origin.ends
    values = cast(NumericColumn, column).values[: profile.drawn]
    sample = np.sort(values[~np.isnan(values)])
    grid = Grid.of(sample, low, high, bins, _zones(sample, profile.rows, places))
    distinct = 1 + np.count_nonzero(np.diff(sample))
    is_surely_long = profile.rows > MOST_VALUES and distinct > _NEARLY_ALL * len(sample)
    limit = 0 if is_surely_long or distinct > MOST_VALUES else MOST_VALUES
    is_part = column.form == "time" and origin is not None
    step = MINUTE if is_part else _STEPS.get(column.form)
    if step is not None and (high - low) / step < MOST_BINS and (high - low) % step == 0:
        limit = int((high - low) / step) + 1  # there are no more values
    exponent = exponent_of(max(abs(low), abs(high)))
    return ColumnPlan(reader, grid, limit, exponent, column.form)


def _zones(sample: Floats, rows: int, values: Iterable[float]) -> list[Zone]:
    """Return where rows near objects are: around their values, as far as windows may reach."""
    if len(sample) < 2 or sample[0] == sample[-1]:
        return []
    window = Distribution.of(sample).width_among(rows)
    return [(value, reach * window) for value in values for reach in _REACHES]


# --- what is told of objects ---------------------------------------------------------------------


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
                bounds = _wider(bounds, (value, value))
            low, high = (value_of(column.form, bound) for bound in bounds)
            condition = Condition(column.name, "interval", low=low, high=high)
        else:
            condition = Condition(column.name, "equals", value=own.label)
        rows = self.answers.counts[own] + is_new
        return CandidateCondition(condition, rows, functools.partial(self._test, number), bounds)

    def group(self, attribute: Attribute, context: Context) -> Group:
        """Return a property in a context, the object included."""
        group = self.answers.groups[self.question.query(attribute, context)]
        if isinstance(group, NumericGroup):  # a new object may have it read as another form
            group = dataclasses.replace(group, form=attribute.column.form)
        return group.joined(attribute.place(self.question.row)) if self.question.is_new else group

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
        return self.groups.question.is_new or all(
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
        return None if overall.found.is_exact else inside.bounds(self.properties[place].place)
