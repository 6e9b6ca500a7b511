"""What is asked of all rows, in terms of columns and their values, and how a pass will count it.

Whoever reads the rows needs to know nothing of objects, pairs and conditions.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, cast

import numpy as np

from outlying.derived.calendar import MINUTE
from outlying.method.density import Floats
from outlying.method.distribution import Distribution
from outlying.method.measure import SCALES
from outlying.search.attributes import Attribute, NumericAttribute, exponent_of
from outlying.search.cells import MISSING, OTHER, CategoryCoder, NumberCoder
from outlying.search.evidence import Claims
from outlying.search.model import Model
from outlying.search.scoring import Context
from outlying.sources.arrow_types import Field
from outlying.stream.contexts import Conjunction, Label, Predicate, conjunction
from outlying.stream.counting import (
    MOST_STEPS,
    MOST_VALUES,
    Dictionary,
    Encoding,
    Grid,
    Range,
    Zone,
    affordable_bins,
)
from outlying.stream.profile import Profile
from outlying.table.columns import Derivation, NumericColumn

_STEPS = {"integer": 1.0, "date": 86_400_000_000.0}
_REACHES = 1, SCALES[-1] / 2  # windows around an object in which bins are fine
_NEARLY_ALL = 0.95  # a sample with so many distinct values comes of more than can be kept


@dataclasses.dataclass(frozen=True, slots=True)
class Query:
    """The question how a column is distributed in a context.

    Asked for "missing", it is only how many rows have a value and how many have none.
    """

    column: str
    kind: Literal["numbers", "labels", "missing"]
    context: Conjunction = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "context", conjunction(self.context))

    @property
    def known(self) -> Conjunction:
        """The rows of the context that have a value in the column."""
        return conjunction((*self.context, Predicate(self.column, "known")))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColumnPlan:
    """How a column is read, and how its numbers are encoded where a query asks for them.

    Histograms of numbers are of numbers divided by 2**exponent.
    """

    field: Field
    encoding: Encoding | None = None
    exponent: int = 0
    derivation: Derivation | None = None  # of a derived column, whose parent the field reads
    given: tuple[Field, ...] = ()  # the other columns that it needs

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are read for it."""
        return (self.field.name, *(field.name for field in self.given))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class VerifyPlan:
    """All that is asked of a table.

    `counts` are contexts of which to count the rows, `ranges` intervals of which to find the least
    and the greatest number that a row holds.
    """

    columns: Mapping[str, ColumnPlan]
    queries: tuple[Query, ...] = ()
    counts: tuple[Conjunction, ...] = ()
    ranges: tuple[Predicate, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """An object, the model that judged it, and what is to be told of it.

    A new object is one more row, which whoever reads the others does not see.
    """

    model: Model
    attributes: tuple[Attribute, ...]  # of the table in memory that the object is a row of
    row: int
    claims: Claims
    is_new: bool = False

    def queries(self) -> Iterator[Query]:
        """Return the histograms that are needed: of pairs, and of all columns that are shown."""
        for claim in self.claims.found:
            own = self._attribute(claim.property)
            yield self.query(own, ())
            yield self.query(own, claim.context)
            for condition in claim.context:
                yield self.query(self._shown(condition), ())
        for number, _ in self.claims.surprise[: self.model.options.top]:
            yield self.query(self._attribute(number), ())

    def predicates(self) -> Iterator[Predicate]:
        """Return the conditions that are told of."""
        for claim in self.claims.found:
            yield from map(self.predicate, claim.context)

    def query(self, attribute: Attribute, context: Context) -> Query:
        """Ask how an attribute is distributed in a context of conditions of the model."""
        inside = self.conjunction(context)
        if attribute.kind == "gaps":
            return Query(attribute.column.key, "missing", inside)
        return Query(attribute.column.key, attribute.kind, inside)

    def conjunction(self, context: Context) -> Conjunction:
        """Return what the rows of a context satisfy."""
        return conjunction(map(self.predicate, context))

    def predicate(self, condition: int) -> Predicate:
        """Return what the rows of a condition satisfy: a range of codes, in values."""
        span = self.model.cells.spans[condition]
        own, coder = self.model.attributes[span.attribute], self.model.cells.coders[span.attribute]
        key = own.column.key
        if span.high == MISSING:
            return Predicate(key, "missing")
        if isinstance(coder, CategoryCoder):
            assert not isinstance(own, NumericAttribute)  # noqa: S101 - as its coder is none
            category = own.categories[int(np.flatnonzero(coder.places == span.low)[0])]
            return Predicate(key, "equals", label=cast(Label, category))
        assert isinstance(own, NumericAttribute)  # noqa: S101 - as its coder is
        return Predicate(key, "interval", *_ends(own, coder, span.low - OTHER, span.high - OTHER))

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
    """Return the closed interval, in the column's own unit, of a range between borders.

    A number at a border belongs to what lies below it.
    """
    borders = coder.borders
    low, high = -math.inf, math.inf
    if first > 0:
        low = float(np.nextafter(attribute.unscaled(borders[first - 1]), math.inf))
    if last < len(borders):
        high = attribute.unscaled(borders[last])
    return low, high


def plan_verification(profile: Profile, questions: Sequence[Question]) -> VerifyPlan:
    """Plan a pass that answers all questions."""
    queries = tuple(dict.fromkeys(query for each in questions for query in each.queries()))
    conditions = dict.fromkeys(own for each in questions for own in each.predicates())
    ranges = tuple(own for own in conditions if own.kind == "interval")
    columns = plan_columns(profile, queries, {own.column for own in conditions}, questions)
    return VerifyPlan(columns, queries, tuple((own,) for own in conditions), ranges)


def plan_columns(
    profile: Profile,
    queries: Sequence[Query],
    tested: Iterable[str],
    questions: Sequence[Question],
) -> dict[str, ColumnPlan]:
    """Plan how all columns that are asked about are read, and their numbers encoded."""
    asked = {*tested, *(query.column for query in queries)}
    numeric = [query.column for query in queries if query.kind == "numbers"]
    bins = affordable_bins(len(numeric))
    plans = {}
    for item in readable(profile, questions):
        if item.key in numeric:
            encoding = _encoding(profile, item, bins, _zones(profile, item, questions))
            exponent = exponent_of(max(map(abs, item.ends)))
            plans[item.key] = ColumnPlan(
                item.field, encoding, exponent, item.derivation, item.given
            )
        elif item.key in asked:
            plans[item.key] = ColumnPlan(item.field, derivation=item.derivation, given=item.given)
    return plans


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Readable:
    """A column that can be asked about: of the table, or derived from one."""

    profile: Profile
    field: Field
    derivation: Derivation | None = None
    given: tuple[Field, ...] = ()

    @property
    def key(self) -> str:
        """What questions know it by."""
        return self.field.name if self.derivation is None else self.derivation.key

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest number that there may be."""
        if self.derivation is None:
            return self.profile.ends(self.field.name)
        return self.derivation.ends

    @property
    def column(self) -> NumericColumn:
        """The column of the rows that are in memory."""
        if self.derivation is None:
            return cast(NumericColumn, self.profile.table.column(self.field.name))
        return cast(NumericColumn, self.profile.derived(self.derivation))

    def drawn(self) -> Floats:
        """Return the numbers that were drawn, sorted."""
        values = self.column.values[: self.profile.drawn]
        return np.sort(values[~np.isnan(values)])


def readable(profile: Profile, questions: Iterable[Question]) -> Iterator[_Readable]:
    """Return the columns of the table, and all that questions derive from them."""
    fields = {field.name: field for field in profile.fields}
    yield from (_Readable(profile, field) for field in profile.fields)
    derived = {
        own.column.key: own.column.origin for question in questions for own in question.attributes
    }
    for key in sorted(derived):
        derivation = derived[key]
        if derivation is not None:
            given = tuple(fields[name] for name in derivation.given)
            yield _Readable(profile, fields[derivation.parent], derivation, given)


def _encoding(profile: Profile, item: _Readable, bins: int, zones: Sequence[Zone]) -> Encoding:
    low, high = item.ends
    form = item.column.form
    step = _STEPS.get(form) if form != "time" or item.derivation is None else MINUTE
    if step is not None and (high - low) / step < MOST_STEPS and (high - low) % step == 0:
        return Range(low, int((high - low) / step) + 1, step)
    sample = item.drawn()
    grid = Grid.of(sample, low, high, bins, zones)
    distinct = 1 + np.count_nonzero(np.diff(sample))
    is_surely_long = profile.rows > MOST_VALUES and distinct > _NEARLY_ALL * len(sample)
    return grid if is_surely_long or distinct > MOST_VALUES else Dictionary(grid)


def _zones(profile: Profile, item: _Readable, questions: Sequence[Question]) -> list[Zone]:
    """Return where rows near an object are: around its value, as far as its windows may reach."""
    sample = item.drawn()
    if len(sample) < 2 or sample[0] == sample[-1]:
        return []
    window = Distribution.of(sample).width_among(profile.rows)
    values = {
        each.numeric_places[item.key] for each in questions if item.key in each.numeric_places
    }
    return [(value, reach * window) for value in sorted(values) for reach in _REACHES]
