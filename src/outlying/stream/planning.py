"""What is asked of all rows, in terms of columns and their values, and how a pass will count it.

Whoever reads the rows needs to know nothing of objects, pairs and conditions: columns are read or
derived, and numbered as a model numbers them.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from outlying.derived.calendar import MINUTE
from outlying.method.density import Floats
from outlying.method.distribution import Distribution
from outlying.method.measure import SCALES
from outlying.search.attributes import Attribute, NumericAttribute, exponent_of
from outlying.search.cells import MISSING, OTHER, CategoryCoder, NumberCoder
from outlying.search.cells import Numbers as ModelNumbers
from outlying.search.evidence import Claims
from outlying.search.model import Model
from outlying.search.scoring import Context
from outlying.sources.columns import Field, Numbers
from outlying.sources.passes import Batch
from outlying.stream.histograms import (
    MOST_STEPS,
    MOST_VALUES,
    Dictionary,
    Encoding,
    Grid,
    Range,
    Zone,
    affordable_bins,
)
from outlying.stream.profile import OTHER_LABEL, Profile
from outlying.table.columns import CategoricalColumn, Column, Derivation, Mask, NumericColumn
from outlying.table.values import Form

_STEPS = {"integer": 1.0, "date": 86_400_000_000.0}
_REACHES = 1, SCALES[-1] / 2  # windows around an object in which bins are fine
_NEARLY_ALL = 0.95  # a sample with so many distinct values comes of more than can be kept
_MOST = 1e100  # a value, however far off: products of it stay finite


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColumnReader:
    """How a column is read, be it one that is derived from columns of the table."""

    field: Field
    derivation: Derivation | None = None  # of a derived column, whose parent the field reads
    given: tuple[Field, ...] = ()  # the other columns that it needs

    @classmethod
    def of(cls, column: Column, fields: Mapping[str, Field]) -> ColumnReader:
        """Return how a column of a model is read, given how those of the table are."""
        derivation = column.origin
        if derivation is None:
            return cls(fields[column.name])
        given = tuple(fields[name] for name in derivation.given)
        return cls(fields[derivation.parent], derivation, given)

    @property
    def key(self) -> str:
        """What questions know the column by."""
        return self.field.name if self.derivation is None else self.derivation.key

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table that are read for it."""
        return (self.field.name, *(field.name for field in self.given))


def columns_in(batch: Batch, readers: Iterable[ColumnReader]) -> list[Column]:
    """Return columns of a batch; those that several are derived from are read once.

    The labels of categories are not sorted.
    """
    known: dict[tuple[str, bool], Column] = {}

    def column(field: Field, *, has_texts: bool) -> Column:
        key = field.name, has_texts and field.written is not None
        if key not in known:
            array = batch.column(field.name)
            known[key] = field.column(array) if key[1] else _plain(field, array)
        return known[key]

    found = []
    for reader in readers:
        if reader.derivation is None:
            found.append(column(reader.field, has_texts=False))
        else:
            read = [column(field, has_texts=True) for field in (reader.field, *reader.given)]
            found.append(reader.derivation.column({own.name: own for own in read}))
    return found


def _plain(field: Field, array: Any) -> Column:
    cells = field.read(array)
    if isinstance(cells, Numbers):
        return NumericColumn(field.name, field.read_as, cells.values)
    labels: Any = tuple(cells.labels)
    return CategoricalColumn(field.name, field.read_as, cells.codes, labels)


def numbering(attributes: Sequence[Attribute]) -> Callable[[Sequence[Column]], list[ModelNumbers]]:
    """Return what numbers the cells of rows, given the column of each attribute of a model.

    The model need not have seen these rows.
    """
    known: list[dict[Any, int]] = [
        {}
        if isinstance(item, NumericAttribute)
        else {label: code for code, label in enumerate(item.categories)}
        for item in attributes
    ]
    return functools.partial(_numbered, attributes, known)


def _numbered(
    attributes: Sequence[Attribute], known: Sequence[dict[Any, int]], columns: Sequence[Column]
) -> list[ModelNumbers]:
    return [_numbers(*own) for own in zip(attributes, columns, known, strict=True)]


def _numbers(attribute: Attribute, column: Column, known: Mapping[Any, int]) -> ModelNumbers:
    if column.is_numeric:
        assert isinstance(attribute, NumericAttribute)  # noqa: S101 - of the same column
        factor, exponent = attribute.factor, attribute.exponent
        values = column.values
        values = np.ldexp(values, -exponent) if factor is None else values * factor
        return np.clip(values, -_MOST, _MOST) + 0.0  # there is one zero
    other = known.get(OTHER_LABEL, len(known))
    found = map(known.get, column.labels, itertools.repeat(other))
    codes = np.fromiter(itertools.chain(found, (-1,)), np.int32, len(column.labels) + 1)
    return codes.take(column.codes, mode="wrap")


# --- what is asked -------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Predicate:
    """A test of one column.

    Intervals are closed, in the unit of the column; a missing value is in none. `label` is for
    "equals".
    """

    column: str
    kind: Literal["interval", "equals", "missing", "known"]
    low: float = -math.inf
    high: float = math.inf
    label: str | bool | None = None

    @property
    def sort_key(self) -> tuple[str, str, float, float, str]:
        """Something to sort predicates by."""
        return self.column, self.kind, self.low, self.high, repr(self.label)

    def test(self, column: Column) -> Mask:
        """Return which rows satisfy it."""
        if self.kind == "interval":
            assert column.is_numeric  # noqa: S101 - as the interval is of numbers
            return np.asarray((column.values >= self.low) & (column.values <= self.high))
        if self.kind == "equals":
            assert not column.is_numeric  # noqa: S101 - as the label is one of categories
            place = (
                column.labels.index(self.label)
                if self.label in column.labels
                else len(column.labels)
            )
            return np.asarray(column.codes == place)
        return column.missing() if self.kind == "missing" else ~column.missing()


#: Predicates that must all hold: a context. Without doubles, sorted.
Conjunction: TypeAlias = tuple[Predicate, ...]


def conjunction(predicates: Iterable[Predicate]) -> Conjunction:
    """Return predicates once each, in an order of their own."""
    return tuple(sorted(set(predicates), key=lambda predicate: predicate.sort_key))


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


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColumnPlan:
    """How a column is read, and how its cells are encoded where a query asks for them.

    Histograms of numbers are of numbers divided by 2**exponent.
    """

    reader: ColumnReader
    encoding: Encoding = dataclasses.field(default_factory=Dictionary)
    exponent: int = 0
    form: Form = "number"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class VerifyPlan:
    """All that is asked of a table.

    Of `conditions` the rows are counted, and where they are intervals, the least and the greatest
    number that a row holds are found.
    """

    columns: Mapping[str, ColumnPlan]
    queries: tuple[Query, ...] = ()
    conditions: tuple[Predicate, ...] = ()


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
            return Predicate(key, "equals", label=cast(str | bool, category))
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
    conditions = tuple(dict.fromkeys(own for each in questions for own in each.predicates()))
    asked = {own.column for own in conditions} | {query.column for query in queries}
    numeric = [query.column for query in queries if query.kind == "numbers"]
    bins = affordable_bins(len(numeric))
    columns = {}
    for reader in readable(profile, questions):
        if reader.key in numeric:
            columns[reader.key] = _numeric_plan(profile, reader, bins, questions)
        elif reader.key in asked:
            columns[reader.key] = ColumnPlan(reader)
    return VerifyPlan(columns, queries, conditions)


def readable(profile: Profile, questions: Iterable[Question]) -> Iterator[ColumnReader]:
    """Return how the columns of the table are read, and all that questions derive from them."""
    fields = {field.name: field for field in profile.fields}
    yield from map(ColumnReader, profile.fields)
    asked = (own.column for question in questions for own in question.attributes)
    derived = {column.key: column for column in asked if column.origin is not None}
    for key in sorted(derived):
        yield ColumnReader.of(derived[key], fields)


def _numeric_plan(
    profile: Profile, reader: ColumnReader, bins: int, questions: Sequence[Question]
) -> ColumnPlan:
    if reader.derivation is None:
        column = cast(NumericColumn, profile.table.column(reader.key))
        low, high = profile.ends(reader.key)
    else:
        column = cast(NumericColumn, profile.derived(reader.derivation))
        low, high = reader.derivation.ends
    exponent = exponent_of(max(abs(low), abs(high)))
    is_part = column.form == "time" and reader.derivation is not None
    step = MINUTE if is_part else _STEPS.get(column.form)
    if step is not None and (high - low) / step < MOST_STEPS and (high - low) % step == 0:
        steps = Range(low, int((high - low) / step) + 1, step)
        return ColumnPlan(reader, steps, exponent, column.form)
    values = column.values[: profile.drawn]
    sample = np.sort(values[~np.isnan(values)])
    known = (each.numeric_places for each in questions)
    places = {own[reader.key] for own in known if reader.key in own}
    grid = Grid.of(sample, low, high, bins, _zones(sample, profile.rows, sorted(places)))
    distinct = 1 + np.count_nonzero(np.diff(sample))
    is_surely_long = profile.rows > MOST_VALUES and distinct > _NEARLY_ALL * len(sample)
    is_long = is_surely_long or distinct > MOST_VALUES
    return ColumnPlan(reader, grid if is_long else Dictionary(grid), exponent, column.form)


def _zones(sample: Floats, rows: int, values: Iterable[float]) -> list[Zone]:
    """Return where rows near objects are: around their values, as far as windows may reach."""
    if len(sample) < 2 or sample[0] == sample[-1]:
        return []
    window = Distribution.of(sample).width_among(rows)
    return [(value, reach * window) for value in values for reach in _REACHES]
