"""Relations between columns: how far a cell is from what others of its row say (method 6b).

A relation is a derived column like any other, but of several columns: its parent is the one that is
predicted, and the predictors are given. They are found on a sample of rows, drawn by what these
hold, and then know what to expect of any row.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from outlying.method import arithmetic, relations
from outlying.method.relations import Values, Variable
from outlying.options import Options
from outlying.table.arrays import Floats, Rows
from outlying.table.columns import Column, Derivation, Labels, NumericColumn, frozen
from outlying.table.sampling import sample_rows
from outlying.table.selection import Selection, compared
from outlying.table.table import Table
from outlying.table.values import (
    Form,
    Value,
    number_of,
    number_text,
    printable,
    range_text,
    telling_digits,
    text_of,
    value_of,
)

#: Relations are found on so many rows.
SAMPLE = 2_048
#: Between more columns they are not looked for: the time grows with the square of their number.
MOST_COLUMNS = 300
#: Categories with fewer rows in the sample say nothing; no more of them are told apart.
LEAST_CATEGORY, MOST_CATEGORIES = 5, 150
_QUANTITIES: tuple[Form, ...] = ("number", "integer", "duration")
_SHORT = 40  # characters of a name or a value


@dataclasses.dataclass(frozen=True, slots=True)
class Input:
    """A column as a relation sees it: numbers, or the categories that are told apart."""

    name: str
    form: Form
    labels: Labels | None = None  # None: numbers

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
            return column.values[rows]
        places = {label: place for place, label in enumerate(self.labels or ())}
        codes = [*(places.get(label, -1) for label in column.labels), -1]
        return np.array(codes, dtype=np.int32)[column.codes[rows]]

    def value(self, value: Value) -> Values:
        """Return a single value in the same way."""
        if self.labels is None:
            return np.array([math.nan if value is None else number_of(self.form, value)])
        place = self.labels.index(value) if value in self.labels else -1
        return np.array([place], dtype=np.int32)


@dataclasses.dataclass(frozen=True)
class Relation:
    """What some columns say of another one."""

    parent: str
    form: Form
    inputs: tuple[Input, ...]

    gives_conditions: ClassVar[bool] = False
    kind: ClassVar[str]

    @property
    def given(self) -> tuple[str, ...]:
        """The columns that it needs beside its parent."""
        return tuple(item.name for item in self.inputs)

    @property
    def name(self) -> str:
        """The name of the derived column."""
        return f"{self.parent} given {', '.join(self.given)}"

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
        parent = columns[self.parent]
        values = parent.values if parent.is_numeric else np.zeros(0)
        found = self.residuals(values, [item.values(columns[item.name]) for item in self.inputs])
        return NumericColumn(self.name, "number", frozen(found), self)

    def residuals(self, values: Floats, inputs: Sequence[Values]) -> Floats:
        """Return how far values are off, in usual distances; NaN where that is not known."""
        raise NotImplementedError

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say what is expected instead."""
        raise NotImplementedError

    @property
    def sentence(self) -> str:
        """The relation in words."""
        raise NotImplementedError

    def _row(self, values: Mapping[str, Value]) -> list[Values]:
        return [item.value(values[item.name]) for item in self.inputs]

    def _given(self, values: Mapping[str, Value]) -> str:
        return _listed(
            f"{printable(name, _SHORT)} = {printable(text_of(values[name]), _SHORT)}"
            for name in self.given
        )


@dataclasses.dataclass(frozen=True)
class Fitted(Relation):
    """A number that others predict, more or less."""

    fit: relations.Fit

    kind: ClassVar[str] = "fit"

    def residuals(self, values: Floats, inputs: Sequence[Values]) -> Floats:
        """Return how far values are from what is expected."""
        return self.fit.residuals(values, inputs)

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say which range is expected, given what others hold."""
        form: Form = "number" if self.form == "integer" else self.form
        low, high = (value_of(form, float(end[0])) for end in self.fit.expected(self._row(values)))
        digits = telling_digits(values[self.parent], (low, high))
        return f"expected {range_text(low, high, digits)} given {self._given(values)}"

    @property
    def sentence(self) -> str:
        """The relation in words: how much is explained."""
        share = math.floor(100 * self.fit.explained)
        given = _listed(printable(name, _SHORT) for name in self.given)
        return f"{printable(self.parent, _SHORT)} follows from {given} ({share}% explained)"


@dataclasses.dataclass(frozen=True)
class Computed(Relation):
    """A number that is computed from others, to rounding."""

    formula: arithmetic.Formula
    holding: int
    known: int

    kind: ClassVar[str] = "formula"

    def residuals(self, values: Floats, inputs: Sequence[Values]) -> Floats:
        """Return how far values are from what they should be."""
        return self.formula.residuals(values, [np.asarray(own, dtype=np.float64) for own in inputs])

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say what the value should be, how often it is, and by how much it differs here."""
        own = number_of(self.form, values[self.parent])
        wanted = float(self.formula.expected(self._row(values))[0][0])  # type: ignore[arg-type]
        more = "more" if own > wanted else "less"
        off = number_text(abs(own - wanted)).removesuffix(".0")
        return (
            f"expected {number_text(wanted).removesuffix('.0')}: {self.sentence}; "
            f"here it is {off} {more}"
        )

    @property
    def sentence(self) -> str:
        """The relation in words: the formula, and how often it holds."""
        names = [printable(name, _SHORT) for name in self.given]
        text = self.formula.text(names)
        rows = f"{self.holding:,} of {self.known:,} rows"
        return f"{printable(self.parent, _SHORT)} is {text} in {rows}"


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


def _listed(words: Iterator[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def with_relations(
    selection: Selection,
    table: Table,
    options: Options,
    most: int,
    known: Sequence[Column] | None = None,
) -> Selection:
    """Add what columns of a table in memory say of each other.

    Of a large table, `most` rows are drawn, as for a stream; `known` are columns of relations that
    were found before.
    """
    by_name = {column.name: column for column in selection.columns}
    found: Sequence[Derivation]
    if known is not None:
        given = (column.origin for column in known if column.origin is not None)
        found = [item for item in given if {item.parent, *item.given} <= by_name.keys()]
    else:
        rows = sample_rows(compared(table, options), table.rows, most)
        found = find_relations(selection.columns, table.names, options, rows)
    columns = tuple(item.column(by_name) for item in found)
    return dataclasses.replace(selection, derived=(*selection.derived, *columns))


def find_relations(
    columns: Sequence[Column], names: Collection[str], options: Options, drawn: Rows
) -> list[Relation]:
    """Return the relations between columns, as rows drawn in an order as if at random show them.

    `names` are those of all columns of the table: no relation is called like one of them.
    """
    if not options.derive or not 2 <= len(columns) <= MOST_COLUMNS:
        return []
    ordered = sorted(columns, key=lambda column: column.name)
    rows = drawn[:SAMPLE]
    inputs = [Input.of(column, rows) for column in ordered]
    variables = [
        Variable(item.values(column, rows), item.form in _QUANTITIES)
        for item, column in zip(inputs, ordered, strict=True)
    ]
    related = arithmetic.with_exact(variables, relations.find(variables))
    found = [_relation(item, inputs, ordered, drawn) for item in related]
    return [item for item in found if item.name not in names]


def _relation(
    item: relations.Related | arithmetic.Exact,
    inputs: Sequence[Input],
    columns: Sequence[Column],
    drawn: Rows,
) -> Relation:
    own = inputs[item.target]
    given = tuple(inputs[place] for place in item.given)
    if isinstance(item, relations.Related):
        return Fitted(own.name, own.form, given, item.fit)
    places = (item.target, *item.given)
    target, *others = (
        np.asarray(inputs[place].values(columns[place], drawn), dtype=np.float64)
        for place in places
    )
    away = item.formula.off(target, others)
    known = int(np.count_nonzero(~np.isnan(away)))
    holding = int(np.count_nonzero(away == 0))
    return Computed(own.name, own.form, given, item.formula, holding, known)
