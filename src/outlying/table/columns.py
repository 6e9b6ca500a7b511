"""Typed columns: all that the core ever sees of a table.

A source turns whatever it reads into these; nothing past this module knows about files,
dataframes or engines. Arrays are made read-only: a table is a value.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.errors import ColumnError, InfiniteValueError
from outlying.options import ColumnType
from outlying.table.values import EXPECTS, Form, Value, is_missing, number_of, text_of, value_of

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.int32]
Mask: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]

LARGEST_EXACT_INTEGER = 2**53


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NumericColumn:
    """Numbers, or what is a number inside: dates, times, durations. NaN is missing."""

    name: str
    form: Form
    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    def missing(self) -> Mask:
        """Mark the rows without a value."""
        return np.isnan(self.values)

    def is_missing(self, row: int) -> bool:
        """Return whether a row has no value."""
        return bool(np.isnan(self.values[row]))

    def value(self, row: int) -> Value:
        """Return the value of a row as people know it."""
        return value_of(self.form, float(self.values[row]))

    def with_value(self, value: object) -> NumericColumn:
        """Return the column with one more row; ValueError says what would have been allowed."""
        number = np.nan if is_missing(value) else number_of(self.form, value)
        whole = np.isnan(number) or number % 1 == 0
        form: Form = "number" if self.form == "integer" and not whole else self.form
        return NumericColumn(self.name, form, frozen(np.append(self.values, number)))

    def taken(self, rows: Rows) -> NumericColumn:
        """Return some rows of the column."""
        return dataclasses.replace(self, values=self.values[rows])

    def same(self, row: int, rows: Rows) -> Mask:
        """Mark those of some rows that hold what a row holds, be it nothing."""
        if self.is_missing(row):
            return np.isnan(self.values[rows])
        return np.asarray(self.values[rows] == self.values[row])

    def matches(self, value: object) -> Mask:
        """Mark the rows that hold exactly this value."""
        if is_missing(value):
            return self.missing()
        return np.asarray(self.values == number_of(self.form, value))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CategoricalColumn:
    """Categories as codes into sorted labels; -1 is missing."""

    name: str
    form: Form
    codes: Codes
    labels: tuple[str, ...] | tuple[bool, ...]
    are_of_numbers: bool = False  # whether they are numbers that were declared to be categories

    def __len__(self) -> int:
        return len(self.codes)

    def missing(self) -> Mask:
        """Mark the rows without a value."""
        return np.asarray(self.codes < 0)

    def is_missing(self, row: int) -> bool:
        """Return whether a row has no value."""
        return bool(self.codes[row] < 0)

    def value(self, row: int) -> Value:
        """Return the category of a row."""
        code = int(self.codes[row])
        return None if code < 0 else self.labels[code]

    def with_value(self, value: object) -> CategoricalColumn:
        """Return the column with one more row, in a new category if need be."""
        if is_missing(value):
            return dataclasses.replace(self, codes=frozen(np.append(self.codes, np.int32(-1))))
        label: Any = self._checked(value)
        place = bisect.bisect_left(self.labels, label)
        if self.labels[place : place + 1] == (label,):
            return dataclasses.replace(self, codes=frozen(np.append(self.codes, np.int32(place))))
        labels: Any = (*self.labels[:place], label, *self.labels[place:])
        moved = self.codes + (self.codes >= place).astype(np.int32)
        codes = frozen(np.append(moved, np.int32(place)))
        return dataclasses.replace(self, codes=codes, labels=labels)

    def taken(self, rows: Rows) -> CategoricalColumn:
        """Return some rows of the column, with the labels that they have."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        gaps = int(used[0] < 0) if len(used) else 0
        labels = tuple(self.labels[code] for code in used[gaps:].tolist())
        return dataclasses.replace(self, codes=(codes - gaps).astype(np.int32), labels=labels)

    def same(self, row: int, rows: Rows) -> Mask:
        """Mark those of some rows that hold what a row holds, be it nothing."""
        return np.asarray(self.codes[rows] == self.codes[row])

    def matches(self, value: object) -> Mask:
        """Mark the rows of exactly this category."""
        if is_missing(value):
            return self.missing()
        label = self.label_of(value)
        code = self.labels.index(label) if label in self.labels else len(self.labels)
        return np.asarray(self.codes == code)

    def label_of(self, value: object) -> str | bool:
        """Return the label that a value stands for; ValueError says what is allowed."""
        is_key = self.form == "text" and isinstance(value, int) and not isinstance(value, bool)
        return str(value) if is_key else self._checked(value)  # keys beyond 2**53 are texts here

    def _checked(self, value: object) -> str | bool:
        wanted = bool if self.form == "boolean" else str
        if isinstance(value, np.bool_):
            value = bool(value)
        if not isinstance(value, wanted):
            raise ValueError(EXPECTS[self.form])
        return value


Column: TypeAlias = NumericColumn | CategoricalColumn


def first_rows(column: Column, rows: int) -> Column:
    """Return the first rows of a column."""
    if isinstance(column, NumericColumn):
        return dataclasses.replace(column, values=column.values[:rows])
    return dataclasses.replace(column, codes=column.codes[:rows])


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make an array read-only."""
    array.flags.writeable = False
    return array


def numeric_column(name: str, values: npt.ArrayLike, form: Form = "number") -> NumericColumn:
    """Make a numeric column; NaN is missing."""
    return NumericColumn(name, form, frozen(np.array(values, dtype=np.float64)))


def integer_column(name: str, values: npt.NDArray[Any], missing: Mask | None = None) -> Column:
    """Make a column of whole numbers, kept exact.

    Whole numbers beyond 2**53 are codes (keys, hashes), not quantities, and floating point would
    merge neighbours: they become categories.
    """
    known = values if missing is None else values[~missing]
    if len(known) and max(abs(int(known.min())), abs(int(known.max()))) > LARGEST_EXACT_INTEGER:
        gaps = np.zeros(len(values), dtype=bool) if missing is None else missing
        texts = [None if gap else str(v) for v, gap in zip(values.tolist(), gaps, strict=True)]
        return categorical_column(name, texts)
    numbers = values.astype(np.float64)
    if missing is not None:
        numbers[missing] = np.nan
    return numeric_column(name, numbers, "integer")


def categorical_column(
    name: str,
    values: Sequence[Any],
    form: Form = "text",
    label_of: Mapping[Any, str | bool | None] | None = None,
) -> CategoricalColumn:
    """Make a categorical column from labels, or from values and a label for each; None: missing."""
    given = {value: value for value in set(values)} if label_of is None else label_of
    labels = sorted({label for label in given.values() if label is not None})
    code_of: dict[str | bool | None, int] = {label: code for code, label in enumerate(labels)}
    code_of[None] = -1
    codes = {value: code_of[label] for value, label in given.items()}
    array = np.fromiter(map(codes.__getitem__, values), dtype=np.int32, count=len(values))
    return CategoricalColumn(name, form, frozen(array), tuple(labels))  # type: ignore[arg-type]


def retyped(column: Column, kind: ColumnType) -> Column:
    """Read a column as another type than its own, as the user asked."""
    if kind == "categorical":
        return column if isinstance(column, CategoricalColumn) else _as_categories(column)
    plain = column.form in ("number", "integer")
    if isinstance(column, NumericColumn) and (kind == "numeric" or not plain):
        return column
    form: Form = "number" if kind == "numeric" else "datetime"
    numbers = [_number_in(column, row, form) for row in range(len(column))]
    return numeric_column(column.name, numbers, form)


def _as_categories(column: NumericColumn) -> CategoricalColumn:
    values = (column.value(row) for row in range(len(column)))
    found = categorical_column(column.name, [None if v is None else text_of(v) for v in values])
    return dataclasses.replace(found, are_of_numbers=column.form in ("number", "integer"))


def _number_in(column: Column, row: int, form: Form) -> float:
    value = column.value(row)
    if value is None:
        return np.nan
    try:
        if form == "number" and isinstance(value, (str, bool)):
            return float(value)
        return number_of(form, value)
    except ValueError:
        raise ColumnError(
            f"column {column.name!r} was to be read as {form}, but row {row} (counted from 0; "
            f"data row {row + 1}) holds {text_of(value)!r}; allowed there: {EXPECTS[form]}"
        ) from None


def without_infinities(column: Column, *, as_missing: bool) -> tuple[Column, int]:
    """Refuse infinite values, or count them as missing; the count is for the result's notes."""
    if not isinstance(column, NumericColumn):
        return column, 0
    infinite = np.isinf(column.values)
    count = int(infinite.sum())
    if count and not as_missing:
        raise InfiniteValueError(column.name, int(np.flatnonzero(infinite)[0]))
    if not count:
        return column, 0
    return numeric_column(
        column.name, np.where(infinite, np.nan, column.values), column.form
    ), count


def infinities_note(name: str, count: int) -> str:
    """Say that infinite values of a column count as missing."""
    values = "an infinite value counts" if count == 1 else "infinite values count"
    number = "" if count == 1 else f"{count:,} "
    return f"column {name!r}: {number}{values} as missing"
