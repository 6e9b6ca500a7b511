"""Relations between columns: how far a cell is from what others of its row say (method 6b).

A relation is a derived column like any other, but of several columns: its parent is the one that is
predicted, and the predictors are given. They are found on a sample of rows, drawn by what these
hold, and then know what to expect of any row.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypedDict

import numpy as np

from outlying import sentences as say
from outlying.method import arithmetic, relations
from outlying.method.distances import DUST, unit_of
from outlying.method.relations import Codes, Values
from outlying.table.columns import Column, NumericColumn, frozen
from outlying.table.selection import Selection
from outlying.table.values import (
    Floats,
    Form,
    Rows,
    Value,
    number_of,
    printable,
    quantity_text,
    range_text,
    telling_digits,
    text_of,
    value_of,
)

#: Relations are found on so many rows.
SAMPLE = 2_048
#: Categories with fewer rows in the sample say nothing; no more of them are told apart.
LEAST_CATEGORY, MOST_CATEGORIES = 5, 150
QUANTITIES: tuple[Form, ...] = ("number", "integer", "duration")
#: Numbers farther from 0 are not compared with others: their products and squares would overflow.
FARTHEST_NUMBER = 1e100
SHORT = 40  # characters of a name or a value
Facts: TypeAlias = Mapping[str, str | int]
#: How a row breaks a relation.
Side: TypeAlias = Literal["above", "below", "off", "far above", "far below"]
_SIDES: dict[Side, str] = {"above": "more than", "below": "less than"}

NO_LIMITS = -math.inf, math.inf


@dataclasses.dataclass(frozen=True, slots=True)
class Input:
    """A column as a relation sees it: numbers, or the categories that are told apart."""

    name: str
    form: Form
    labels: tuple[Value, ...] | None = None  # None: numbers

    def without(self, places: Collection[int]) -> Input:
        """Return the same without some categories: nothing is known of these."""
        kept = (None if k in places else label for k, label in enumerate(self.labels or ()))
        return dataclasses.replace(self, labels=tuple(kept))

    @classmethod
    def of(cls, column: Column, rows: Rows) -> Input:
        """Look at a column on a sample of rows."""
        if column.is_numeric:
            return cls(column.name, column.form)
        codes = column.codes[rows]
        counts = np.bincount(codes[codes >= 0], minlength=len(column.labels))
        order = np.lexsort((np.arange(len(counts)), -counts))[:MOST_CATEGORIES]
        kept = sorted(order[counts[order] >= LEAST_CATEGORY].tolist())
        return cls(column.name, column.form, tuple(column.labels[place] for place in kept))

    def values(self, column: Column, rows: Rows | slice = slice(None)) -> Values:
        """Return the numbers of a column, or the places of its categories; -1 for others."""
        if column.is_numeric:
            return _without_far(column.values[rows])
        places = {label: k for k, label in enumerate(self.labels or ()) if label is not None}
        codes = [*(places.get(label, -1) for label in column.labels), -1]
        return np.array(codes, dtype=np.int32)[column.codes[rows]]

    def value(self, value: Value) -> Values:
        """Return a single value in the same way."""
        if self.labels is None:
            return _without_far(np.array([_number(self.form, value)]))
        is_known = value is not None and value in self.labels
        place = self.labels.index(value) if is_known else -1
        return np.array([place], dtype=np.int32)


def _number(form: Form, value: Value) -> float:
    return math.nan if value is None else number_of(form, value)


@dataclasses.dataclass(frozen=True, slots=True)
class Breach:
    """How code finds the rows that break a relation: by the parent and a formula of what is given.

    The parent is less than the formula, or so far off it.
    """

    formula: str = "{0}"
    off: float | None = None


class Nature(TypedDict):
    """The unit of a column, its least and its greatest value."""

    unit: float
    limits: tuple[float, float]


def nature_of(column: Column, rows: Rows) -> Nature:
    """Return what some rows show of the numbers of a column."""
    numbers = column.values[rows] if column.is_numeric and column.form in QUANTITIES else None
    known = np.zeros(0) if numbers is None else numbers[~np.isnan(numbers)]
    if not len(known):
        return Nature(unit=0.0, limits=NO_LIMITS)
    return Nature(unit=unit_of(known), limits=(float(known.min()), float(known.max())))


def numbers_of(column: Column) -> Floats:
    """Return the values of a column that holds numbers."""
    assert column.is_numeric  # noqa: S101 - as it was when the relation was found
    return column.values


def _without_far(numbers: Floats) -> Floats:
    return np.where(np.abs(numbers) <= FARTHEST_NUMBER, numbers, math.nan)


@dataclasses.dataclass(frozen=True, eq=False)
class Keys:
    """The labels of a column, or numbers that repeat like labels, from 0 on."""

    name: str
    form: Form
    numbers: Floats | None  # ascending; None of labels
    labels: tuple[Value, ...] = ()
    distinct: int = 0  # how many occur
    rows: int = 0

    def __len__(self) -> int:
        return self.distinct

    @classmethod
    def of(cls, column: Column, rows: Rows, *, is_declared: bool = False) -> Keys | None:
        """Return the keys of a column on some rows; None where they hardly repeat.

        Unless the user has declared that they are keys.
        """
        if not column.is_numeric:
            codes = column.codes[rows]
            distinct = int(np.count_nonzero(np.bincount(codes[codes >= 0])))
            few = is_declared or 2 <= distinct <= len(rows) / 2
            keys = cls(column.name, column.form, None, column.labels, distinct, len(rows))
            return keys if few else None
        if column.form != "integer" and not is_declared:
            return None
        numbers = np.unique(column.values[rows])
        numbers = numbers[~np.isnan(numbers)]
        few = is_declared or 2 <= len(numbers) <= len(rows) / 2
        keys = cls(column.name, column.form, numbers, (), len(numbers), len(rows))
        return keys if few else None

    def codes(
        self, column: Column, rows: Rows | slice = slice(None), *, with_new: bool = False
    ) -> Codes:
        """Return the place of each value among the keys; -1 where it is missing.

        Also -1 where it is none of them, or with `with_new`, their number.
        """
        found = self._codes(column, rows)
        if not with_new:
            return found
        count = len(self.labels if self.numbers is None else self.numbers)
        is_new = (found < 0) & ~column.missing()[rows]
        return np.where(is_new, count, found).astype(np.int32)

    def _codes(self, column: Column, rows: Rows | slice) -> Codes:
        if self.numbers is None:
            assert not column.is_numeric  # noqa: S101 - as it was when keys were made
            if tuple(column.labels) == self.labels:
                return column.codes[rows].astype(np.int32)
            places = {label: place for place, label in enumerate(self.labels)}
            codes = [*(places.get(label, -1) for label in column.labels), -1]
            return np.array(codes, dtype=np.int32)[column.codes[rows]]
        assert column.is_numeric  # noqa: S101
        values = column.values[rows]
        found = np.minimum(np.searchsorted(self.numbers, values), len(self.numbers) - 1)
        return np.where(self.numbers[found] == values, found, -1).astype(np.int32)

    def code(self, value: Value) -> int:
        """Return the place of a value; -1 where it is none of the keys."""
        if self.numbers is None:
            return self.labels.index(value) if value in self.labels else -1
        found = np.flatnonzero(self.numbers == (math.nan if value is None else value))
        return int(found[0]) if len(found) else -1

    def said(self, value: Value) -> str:
        """Write the column and a value of it."""
        return f"{printable(self.name, SHORT)} = {printable(text_of(value), SHORT)}"

    def value(self, code: int) -> Value:
        """Return a key."""
        return self.labels[code] if self.numbers is None else int(self.numbers[code])

    def text(self, code: int) -> str:
        """Write a key."""
        return printable(text_of(self.value(code)), SHORT)


@dataclasses.dataclass(frozen=True, eq=False)
class Relation:
    """What some columns say of another one."""

    parent: str
    form: Form
    given: tuple[str, ...]  # the columns that it needs beside its parent
    _: dataclasses.KW_ONLY
    unit: float = 0.0  # that the parent is rounded to; 0 where it is not
    limits: tuple[float, float] = NO_LIMITS  # the least and the greatest value of the parent

    gives_conditions: ClassVar[bool] = False
    is_mutual: ClassVar[bool] = True  # whether any of its columns may be the wrong one
    is_by_names: ClassVar[bool] = False  # whether what is given names things, be it numbers
    runs_along: ClassVar[bool] = False  # whether contexts that are intervals of it say less
    is_both_ways: ClassVar[bool] = False  # whether those of its parent, too, say less of it
    says_more: ClassVar[bool] = True  # whether it says more than a context of the same columns
    explains: ClassVar[float] = 0.0  # the share of its parent's variation; 0: it is not compared
    kind: ClassVar[str]
    words: ClassVar[str]  # a template of its sentence
    #: What is said of rows that break it, and how: of numbers that others predict, on which side.
    exception: ClassVar[str] = say.EXCEPTION
    sides: ClassVar[Mapping[Side, str]] = {"off": ""}
    #: How the derived column is called: of `parent`, `given`, and for the past, of `order`.
    title: ClassVar[str] = "{parent} given {given}"

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns whose values name things."""
        return self.given if self.is_by_names else ()

    @property
    def used(self) -> tuple[str, ...]:
        """All its columns."""
        return (self.parent, *self.given)

    @property
    def follows(self) -> tuple[str, ...]:
        """The numbers that it runs along, in place of contexts that are intervals of these."""
        return self.given if self.runs_along else ()

    @property
    def name(self) -> str:
        """The name of the derived column."""
        return self.title.format(parent=self.parent, given=", ".join(self.given))

    @property
    def key(self) -> str:
        """What tells it from a relation of the same columns by other rows."""
        return f"{self.name} by {hashlib.blake2b(repr(self).encode(errors='replace')).hexdigest()}"

    @property
    def ends(self) -> tuple[float, float]:
        """The farthest that values are off."""
        return -relations.FARTHEST, relations.FARTHEST

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Return how far the values of rows are off, in usual distances."""
        raise NotImplementedError

    def by_all(self, columns: Mapping[str, Column]) -> Relation:  # noqa: ARG002
        """Return the same as all rows show it, though it was found by some of them."""
        return self

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say what is expected instead."""
        return say.EXPECTED.format(expected=self.range_text(values))

    def where(self, values: Mapping[str, Value]) -> str:  # noqa: ARG002
        """Say by what, or among which rows, that is expected; empty where all are meant."""
        return ""

    def unknown(self, values: Mapping[str, Value]) -> str | None:  # noqa: ARG002
        """Say why nothing is expected of a row, where that is not for a missing value."""
        return None

    def breach(self, values: Mapping[str, Value]) -> Breach | None:  # noqa: ARG002
        """Return how code finds the rows that break it like this one, where that is simple."""
        return None

    @property
    def facts(self) -> Facts:
        """What its sentence tells beside the columns."""
        return {}

    @property
    def sentence(self) -> str:
        """The relation in words."""
        return self._told(self.words)

    def exception_text(self, side: Side) -> str:
        """Say of a group of rows that they break it."""
        return self._told(self.exception, **{"side": self.sides[side], **self.facts})

    def _told(self, words: str, **facts: str | int) -> str:
        given = listed(printable(name, SHORT) for name in self.given)
        told = {"column": printable(self.parent, SHORT), "relation": printable(self.name)}
        return words.format(given=given, **{**told, **self.facts, **facts})

    def ends_expected(self, values: Mapping[str, Value]) -> tuple[float, float] | None:  # noqa: ARG002
        """Return the least and the greatest number that is expected; None of what is no number."""
        return None

    def expected(self, values: Mapping[str, Value]) -> tuple[Value, Value] | None:
        """Return the same as values of the parent, in whole units of it."""
        ends = None if values[self.parent] is None else self.ends_expected(values)
        if ends is None or not all(map(math.isfinite, ends)):
            return None
        low, high = ends
        if low < high:  # what is computed is told as it is
            low, high = self._within_limits(low, high)
        if self.unit and high - low >= self.unit:
            digits = max(0, round(-math.log10(self.unit)))
            least = round(math.floor(low / self.unit + DUST) * self.unit, digits)
            most = round(math.ceil(high / self.unit - DUST) * self.unit, digits)
            own = number_of(self.form, values[self.parent])
            if low <= own <= high or not least <= own <= most:  # what is odd is not among them
                low, high = least, most
        form: Form = "number" if self.form == "integer" else self.form
        return value_of(form, low), value_of(form, high)

    def _within_limits(self, low: float, high: float) -> tuple[float, float]:
        """Return the part of a range where there are values; all of it beyond, but for the sign."""
        least, most = self.limits
        first, last = 0.0 if least >= 0 else -math.inf, 0.0 if most <= 0 else math.inf
        low, high = (min(max(end, first), last) for end in (low, high))
        return (least if low < least < high else low), (most if low < most < high else high)

    def range_text(self, values: Mapping[str, Value]) -> str:
        """Write what is expected."""
        ends = self.expected(values)
        if ends is None:
            return say.SOMETHING_ELSE
        own = values[self.parent]
        return range_text(*ends, telling_digits(own, ends), own)


@dataclasses.dataclass(frozen=True, eq=False)
class Held(Relation):
    """A relation that each row keeps or breaks."""

    _: dataclasses.KW_ONLY
    holding: int = 0  # rows that keep it
    known: int = 0

    def off(self, columns: Mapping[str, Column]) -> Floats:
        """Return 0 of rows that keep it; NaN where that is not known."""
        return numbers_of(self.column(columns))

    def counts(self, columns: Mapping[str, Column]) -> tuple[int, int]:
        """Count the rows that keep it, and those of which that is known."""
        off = self.off(columns)
        return int(np.count_nonzero(off == 0)), int(np.count_nonzero(~np.isnan(off)))

    def counted(self, holding: int, known: int) -> Self:
        """Return the same with counts of other rows."""
        return dataclasses.replace(self, holding=holding, known=known)

    def by_all(self, columns: Mapping[str, Column]) -> Self:
        """Count in all rows how often it holds."""
        return self.counted(*self.counts(columns))

    @property
    def facts(self) -> Facts:
        """How often it holds."""
        return {"holding": self.holding, "known": self.known}


@dataclasses.dataclass(frozen=True, eq=False)
class Prediction(Relation):
    """A number that others predict."""

    inputs: tuple[Input, ...]

    @property
    def follows(self) -> tuple[str, ...]:
        """The numbers that predict it."""
        return tuple(item.name for item in self.inputs if item.labels is None)

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Return how far the values of rows are off, in usual distances."""
        inputs = [item.values(columns[item.name]) for item in self.inputs]
        found = self.residuals(numbers_of(columns[self.parent]), inputs)
        return NumericColumn(self.name, "number", frozen(found), self)

    def residuals(self, values: Floats, inputs: Sequence[Values]) -> Floats:
        """Return how far values are off, in usual distances; NaN where that is not known."""
        raise NotImplementedError

    def _row(self, values: Mapping[str, Value]) -> list[Values]:
        return [item.value(values[item.name]) for item in self.inputs]

    def _given(self, values: Mapping[str, Value]) -> str:
        return listed(
            f"{printable(name, SHORT)} = {printable(text_of(values[name]), SHORT)}"
            for name in self.given
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Fitted(Prediction):
    """A number that others predict, more or less."""

    fit: relations.Fit

    kind: ClassVar[str] = "fit"
    words: ClassVar[str] = say.DEPENDS
    exception: ClassVar[str] = say.OUT_OF_RANGE
    sides: ClassVar[Mapping[Side, str]] = _SIDES | {
        "off": "not as",
        "far above": "far more than",
        "far below": "far less than",
    }

    def residuals(self, values: Floats, inputs: Sequence[Values]) -> Floats:
        """Return how far values are from what is expected."""
        return self.fit.residuals(values, inputs)

    def ends_expected(self, values: Mapping[str, Value]) -> tuple[float, float]:
        """Return what is expected, given what others hold."""
        low, high = self.fit.expected(self._row(values))
        return float(low[0]), float(high[0])

    def where(self, values: Mapping[str, Value]) -> str:
        """Say what others hold."""
        return say.GIVEN.format(given=self._given(values))

    @property
    def explains(self) -> float:  # type: ignore[override]
        """The share that it explains of what its parent varies."""
        return self.fit.explained

    @property
    def says_more(self) -> bool:  # type: ignore[override]
        """Whether a number predicts it; categories are contexts."""
        return bool(self.follows)

    @property
    def facts(self) -> Facts:
        """How much is explained."""
        explain = say.EXPLAIN_ONE if len(self.given) == 1 else say.EXPLAIN_SEVERAL
        return {"explain": explain, "share": math.floor(100 * self.fit.explained)}


@dataclasses.dataclass(frozen=True, eq=False)
class Computed(Prediction, Held):
    """A number that is computed from others, to rounding."""

    formula: arithmetic.Formula

    is_both_ways: ClassVar[bool] = True
    kind: ClassVar[str] = "formula"
    words: ClassVar[str] = say.COMPUTED
    exception: ClassVar[str] = say.NOT_COMPUTED
    sides: ClassVar[Mapping[Side, str]] = _SIDES | {"off": "not"}

    def residuals(self, values: Floats, inputs: Sequence[Values]) -> Floats:
        """Return how far values are from what they should be."""
        return self.formula.residuals(values, [np.asarray(own, dtype=np.float64) for own in inputs])

    def ends_expected(self, values: Mapping[str, Value]) -> tuple[float, float]:
        """Return the only number that is expected, twice."""
        row = [np.asarray(own, dtype=np.float64) for own in self._row(values)]
        wanted = float(self.formula.expected(row)[0][0])
        return wanted, wanted

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say what the value should be."""
        return say.EXPECTED.format(expected=quantity_text(self.ends_expected(values)[0]))

    def where(self, values: Mapping[str, Value]) -> str:  # noqa: ARG002
        """Say by which formula, and how often that holds."""
        return say.BY_FORMULA.format(
            formula=self.formula.text([printable(name, SHORT) for name in self.given]),
            holding=self.holding,
            known=self.known,
        )

    def breach(self, values: Mapping[str, Value]) -> Breach | None:  # noqa: ARG002
        """Return that rows are off the formula by more than rounding."""
        forms = {self.form, *(item.form for item in self.inputs)}
        code = self.formula.code(len(self.given)) if forms <= {"number", "integer"} else None
        return None if code is None else Breach(code, self.formula.tolerance)

    @property
    def facts(self) -> Facts:
        """The formula, and how often it holds."""
        formula = self.formula.text([printable(name, SHORT) for name in self.given])
        return {"formula": formula, **super().facts}


@dataclasses.dataclass(frozen=True, slots=True)
class RelationSummary:
    """A relation as results list it: the column, what it follows from, and how."""

    column: str
    given: tuple[str, ...]
    kind: str
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Return the relation as it stands in the JSON result."""
        return dataclasses.asdict(self) | {"given": list(self.given)}


def summaries(selection: Selection) -> tuple[RelationSummary, ...]:
    """List the relations that take part."""
    found = (column.origin for column in selection.relations)
    return tuple(
        RelationSummary(item.parent, item.given, item.kind, item.sentence)
        for item in found
        if isinstance(item, Relation)
    )


def listed(words: Iterable[str]) -> str:
    """Return words as a sentence has them: a, b and c."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
