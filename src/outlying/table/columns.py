"""Typed columns: all that the core ever sees of a table.

Both kinds of column answer the same questions by the same methods; where code must ask which kind
it has, `is_numeric` tells, also the type checker. Arrays are read-only: a table is a value.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from outlying import sentences as say
from outlying.errors import ColumnError, InfiniteValueError, RowAt
from outlying.options import ColumnType
from outlying.table.row_hash import HashedCells, are_long, float_hashes, label_hashes, whole_hashes
from outlying.table.values import (
    EXPECTS,
    LARGEST_EXACT_INTEGER,
    Form,
    Value,
    are_keys,
    day_of,
    is_gap,
    is_missing,
    label_text,
    number_of,
    text_of,
    value_of,
    whole_text,
    without_trailing_zero,
)
from outlying.table.values import Codes as Codes
from outlying.table.values import Floats as Floats
from outlying.table.values import Mask as Mask
from outlying.table.values import Rows as Rows

Labels: TypeAlias = tuple[str, ...] | tuple[bool, ...]


class Derivation(Protocol):
    """How a column is computed from others: a part of its parent, or what others say of it.

    What it needs to know of the whole table was decided before (`outlying.derived`), so that
    a table in memory, a sample of it and a batch of its rows give the same cells.
    """

    is_both_ways: ClassVar[bool]  # whether intervals of the parent, too, tell less of the given
    says_more: ClassVar[bool]  # whether these say more than contexts of the same columns do

    @property
    def parent(self) -> str:
        """The column of the table whose cells it tells of."""

    def expected(self, values: Mapping[str, Value]) -> tuple[Value, Value] | None:
        """Return the least and the greatest value of the parent that are expected, if known."""

    @property
    def given(self) -> tuple[str, ...]:
        """The other columns that it needs, as a relation does: these are its context."""

    @property
    def follows(self) -> tuple[str, ...]:
        """Those of them that are numbers, and tell more along a line than by intervals."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Those of them whose values name things: a range of such numbers says nothing."""

    @property
    def explains(self) -> float:
        """The share that it explains of what its parent varies by; 0 where that is not compared."""

    @property
    def name(self) -> str:
        """The name of the derived column, such as `when (hour)`."""

    @property
    def gives_conditions(self) -> bool:
        """Whether it groups rows; if not, it is only ever a property."""

    @property
    def key(self) -> str:
        """Something that tells it from a derivation of the same name by other facts."""

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest number that it gives; NaN where it gives categories."""

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Compute the column from its parent and what is given, or from any rows of them."""

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say what is odd of a parent's value, in words that follow it; None: the part says it."""


class _Named:
    """What a column of either kind is called by those who ask about it."""

    __slots__ = ()
    name: str
    origin: Derivation | None

    @property
    def family(self) -> str:
        """The column of the table whose cells it tells of: itself, or the one it comes from."""
        return self.name if self.origin is None else self.origin.parent

    @property
    def key(self) -> str:
        """What a pass knows it by: derived columns of one name may follow from other facts."""
        return self.name if self.origin is None else self.origin.key


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NumericColumn(_Named):
    """Numbers, or what is a number inside: dates, times, durations. NaN is missing.

    Where they were written for people, `written` holds the texts, by which rows are told apart.
    Whole numbers that floating point does not hold are also there as they came: `exact`.
    """

    is_numeric: ClassVar[Literal[True]] = True

    name: str
    form: Form
    values: Floats
    origin: Derivation | None = None  # of a derived column
    written: WrittenTexts | None = None
    exact: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def missing(self) -> Mask:
        """Return a mask of the rows without a value."""
        return np.isnan(self.values)

    def is_missing(self, row: int) -> bool:
        """Return whether a row has no value."""
        return bool(np.isnan(self.values[row]))

    def value(self, row: int) -> Value:
        """Return the value of a row as people know it."""
        number = float(self.values[row])
        if self.exact is not None and abs(number) >= LARGEST_EXACT_INTEGER:
            return int(self.exact[row])
        return value_of(self.form, number)

    def cell(self, row: int) -> Value:
        """Return what stands in a row: its value, or a text that does not fit the others."""
        value = self.value(row)
        if value is not None or self.written is None:
            return value
        text = self.written.texts.value(row)
        return None if text is None or is_gap(str(text)) else text

    def bound(self, row: int) -> str | None:
        """Return the text of a row that bounds its number, such as <0.6; None: it is the number."""
        if self.written is None:
            return None
        text = str(self.written.texts.value(row))
        return text if self.written.reading.is_bound(text) else None

    def unread_rows(self) -> Rows:
        """Return the rows that hold a text which is no number, and does not stand for a gap."""
        if self.written is None:
            return np.arange(0)
        texts = self.written.texts
        is_told = np.array([*(not is_gap(str(label)) for label in texts.labels), False])
        return np.flatnonzero(is_told[texts.codes] & self.missing())

    def same(self, row: int, rows: Rows | slice = slice(None)) -> Mask:
        """Return a mask of those of some rows that hold what a row holds, be it nothing."""
        if self.is_missing(row):
            return np.isnan(self.values[rows])
        return np.asarray(self.values[rows] == self.values[row])

    def matches(self, value: object) -> Mask:
        """Return a mask of the rows that hold exactly this value."""
        if is_missing(value):
            return self.missing()
        number = self.number_in(value)
        if np.isnan(number) and self.written is not None:
            return self.written.texts.matches(value)
        return np.asarray(self.values == number)

    def number_in(self, value: object) -> float:
        """Return the number that a value stands for; NaN for a text that does not fit the rest."""
        if self.written is not None and isinstance(value, str):
            return float(self.written.reading.numbers([value])[0])
        return number_of(self.form, value)

    def first(self, rows: int) -> NumericColumn:
        """Return the first rows of the column."""
        return self._with(self.values[:rows], lambda texts: texts.first(rows), slice(rows))

    def with_value(self, value: object) -> NumericColumn:
        """Return the column with one more row; ValueError says what would have been allowed."""
        number = np.nan if is_missing(value) else self.number_in(value)
        whole = np.isnan(number) or number % 1 == 0
        form: Form = "number" if self.form == "integer" and not whole else self.form
        text = value if is_missing(value) or isinstance(value, str) else label_text(number)
        longer = self._with(
            frozen(np.append(self.values, number)), lambda texts: texts.with_value(text)
        )
        written, exact = longer.written, self.exact
        if (
            written is not None
            and isinstance(value, str)
            and np.isnan(number)
            and not is_gap(value)
        ):
            written = dataclasses.replace(written, reading=written.reading.with_one_wrong())
        if exact is not None:
            new = 0 if not np.isfinite(number) else int(cast(Any, value))
            exact = np.append(exact.astype(object), new) if whole else None
        return dataclasses.replace(longer, form=form, written=written, exact=exact)

    def taken(self, rows: Rows) -> NumericColumn:
        """Return some rows of the column."""
        return self._with(self.values[rows], lambda texts: texts.taken(rows), rows)

    def _with(
        self,
        values: Floats,
        changed: Callable[[CategoricalColumn], CategoricalColumn],
        rows: slice | Rows | None = None,
    ) -> NumericColumn:
        """Return the column with other rows, and with the texts of these."""
        written = self.written
        if written is not None:
            written = dataclasses.replace(written, texts=changed(written.texts))
        exact = None if self.exact is None or rows is None else self.exact[rows]
        return dataclasses.replace(self, values=values, written=written, exact=exact)

    def without_infinities(self, *, as_missing: bool) -> tuple[NumericColumn, str | None]:
        """Refuse infinite values, or count them as missing, and say so."""
        infinite = np.isinf(self.values)
        if not infinite.any():
            return self, None
        if not as_missing:
            raise InfiniteValueError(self.name, int(np.flatnonzero(infinite)[0]))
        known = numeric_column(self.name, np.where(infinite, np.nan, self.values), self.form)
        return known, infinities_note(self.name, int(infinite.sum()))

    def retyped(self, kind: ColumnType) -> Column:
        """Return the column read as the type that the user asked for."""
        is_plain = self.form in ("number", "integer")
        if kind == "categorical":
            values = (self.value(row) for row in range(len(self)))
            texts = [None if value is None else label_text(value) for value in values]
            return categorical_column(self.name, texts, are_of_numbers=is_plain)
        if kind == "datetime" and is_plain:
            return _read_as(self, "datetime")
        if self.exact is None:
            return self
        return dataclasses.replace(self, exact=None)  # a stream knows the declared type at once

    def cells(self) -> HashedCells:
        """Return the cells as row hashes need them."""
        if self.written is not None:
            return self.written.texts.cells()
        if self.exact is not None:
            return HashedCells(self.name, whole_hashes(self.exact, self.missing()))
        return HashedCells(self.name, float_hashes(self.values))

    def content(self) -> tuple[None, Floats]:
        """Return labels, of which there are none, and cells that are equal byte by byte."""
        return None, np.where(self.missing(), np.nan, self.values)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CategoricalColumn(_Named):
    """Categories as codes into sorted labels; -1 is missing."""

    is_numeric: ClassVar[Literal[False]] = False

    name: str
    form: Form
    codes: Codes
    labels: Labels
    are_of_numbers: bool = False  # whether they are numbers: keys, or declared to be categories
    origin: Derivation | None = None  # of a derived column

    def __len__(self) -> int:
        return len(self.codes)

    def missing(self) -> Mask:
        """Return a mask of the rows without a value."""
        return np.asarray(self.codes < 0)

    def value(self, row: int) -> Value:
        """Return the category of a row."""
        code = int(self.codes[row])
        return None if code < 0 else self.labels[code]

    cell = value

    def is_missing(self, row: int) -> bool:
        """Return whether a row has no value."""
        return bool(self.codes[row] < 0)

    def same(self, row: int, rows: Rows | slice = slice(None)) -> Mask:
        """Return a mask of those of some rows that hold what a row holds, be it nothing."""
        return np.asarray(self.codes[rows] == self.codes[row])

    def matches(self, value: object) -> Mask:
        """Return a mask of the rows of exactly this category."""
        if is_missing(value):
            return self.missing()
        label = self.label_of(value)
        code = self.labels.index(label) if label in self.labels else len(self.labels)
        return np.asarray(self.codes == code)

    def first(self, rows: int) -> CategoricalColumn:
        """Return the first rows of the column."""
        return dataclasses.replace(self, codes=self.codes[:rows])

    def with_value(self, value: object) -> CategoricalColumn:
        """Return the column with one more row, in a new category if need be."""
        if is_missing(value):
            return self._with_code(-1)
        label: Any = self._checked(value)
        place = bisect.bisect_left(self.labels, label)
        if self.labels[place : place + 1] == (label,):
            return self._with_code(place)
        labels: Any = (*self.labels[:place], label, *self.labels[place:])
        moved = self.codes + (self.codes >= place).astype(np.int32)
        return dataclasses.replace(self, codes=moved, labels=labels)._with_code(place)

    def _with_code(self, code: int) -> CategoricalColumn:
        return dataclasses.replace(self, codes=frozen(np.append(self.codes, np.int32(code))))

    def taken(self, rows: Rows) -> CategoricalColumn:
        """Return some rows of the column, with the labels that they have."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        gaps = int(used[0] < 0) if len(used) else 0
        labels = tuple(self.labels[code] for code in used[gaps:].tolist())
        return dataclasses.replace(self, codes=(codes - gaps).astype(np.int32), labels=labels)

    def without_infinities(self, *, as_missing: bool) -> tuple[CategoricalColumn, None]:  # noqa: ARG002
        """Return the column itself: no category is infinite."""
        return self, None

    def retyped(self, kind: ColumnType) -> Column:
        """Return the column read as the type that the user asked for."""
        if kind == "categorical":
            return self
        return _read_as(self, "number" if kind == "numeric" else "datetime")

    def parsed(self, reading: TextReading, form: Form | None = None) -> NumericColumn:
        """Return texts as what they are read as, each label once."""
        numbers = np.append(reading.numbers([str(label) for label in self.labels]), np.nan)
        values, written = frozen(numbers[self.codes]), WrittenTexts(self, reading)
        return NumericColumn(self.name, form or reading.form, values, written=written)

    def with_plain_labels(self) -> CategoricalColumn:
        """Return the column with "3" for "3.0": a pass knows its form only at the end."""
        if not self.are_of_numbers:
            return self
        labels = tuple(without_trailing_zero(str(label)) for label in self.labels)
        return dataclasses.replace(self, labels=labels)

    def cells(self) -> HashedCells:
        """Return the cells as row hashes need them."""
        return HashedCells(self.name, label_hashes(self.labels), self.codes)

    def content(self) -> tuple[Labels, Codes]:
        """Return labels, and cells that are equal byte by byte."""
        return self.labels, self.codes

    def label_of(self, value: object) -> str | bool:
        """Return the label that a value stands for; ValueError says what is allowed."""
        if self.form == "text" and isinstance(value, int) and not isinstance(value, bool):
            return whole_text(value)  # keys beyond 2**53 are texts here
        return self._checked(value)

    def _checked(self, value: object) -> str | bool:
        wanted = bool if self.form == "boolean" else str
        if isinstance(value, np.bool_):
            value = bool(value)
        if not isinstance(value, wanted):
            raise ValueError(EXPECTS[self.form])
        return value


class TextReading(Protocol):
    """How the texts of a column are read (`outlying.parsing`)."""

    @property
    def form(self) -> Form:
        """What they are read as."""

    def numbers(self, texts: Sequence[str]) -> Floats:
        """Read texts; NaN stands for what does not fit."""

    def is_bound(self, text: str) -> bool:
        """Return whether a text that is read bounds its number."""

    def with_one_wrong(self) -> TextReading:
        """Count one more row that does not fit."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class WrittenTexts:
    """The texts that numbers or dates were read from, and how."""

    texts: CategoricalColumn
    reading: TextReading


Column: TypeAlias = NumericColumn | CategoricalColumn


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


def numeric_column(name: str, values: npt.ArrayLike, form: Form = "number") -> NumericColumn:
    """Make a numeric column; NaN is missing."""
    return NumericColumn(name, form, frozen(np.array(values, dtype=np.float64)))


def integer_column(name: str, values: npt.NDArray[Any], missing: Mask | None = None) -> Column:
    """Make a column of whole numbers of at most 64 bits, kept exact; most beyond 2**53 are keys."""
    known = values if missing is None else values[~missing]
    long = int(np.count_nonzero(are_long(known)))
    if are_keys(long, len(known)):
        texts: list[str | None] = list(map(str, values.tolist()))
        for row in () if missing is None else np.flatnonzero(missing).tolist():
            texts[row] = None
        return categorical_column(name, texts, are_of_numbers=True)
    numbers = values.astype(np.float64)
    if missing is not None:
        numbers[missing] = np.nan
    exact = frozen(values.copy()) if long else None
    return NumericColumn(name, "integer", frozen(numbers), exact=exact)


def categorical_column(
    name: str, values: Sequence[Any], form: Form = "text", *, are_of_numbers: bool = False
) -> CategoricalColumn:
    """Make a categorical column from labels; None is missing."""
    labels = tuple(sorted({value for value in values if value is not None}))
    code_of = {None: -1} | {label: code for code, label in enumerate(labels)}
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.int32, count=len(values))
    return CategoricalColumn(name, form, frozen(codes), labels, are_of_numbers)


def _read_as(column: Column, form: Form) -> NumericColumn:
    cells = enumerate(map(column.value, range(len(column))))
    numbers = [
        np.nan if value is None else parsed_number(column.name, value, form, RowAt(row))
        for row, value in cells
    ]
    return numeric_column(column.name, numbers, form)


def parsed_number(name: str, value: Value, form: Form, place: RowAt | str) -> float:
    """Read a value as the form that its column was declared to have; it stands in this place."""
    try:
        if form == "number" and isinstance(value, (str, bool)):
            return float(value)
        return day_of(value) if isinstance(value, (int, float)) else number_of(form, value)
    except ValueError:
        raise not_as_declared(name, form, value, place) from None


def not_as_declared(name: str, form: Form, value: Value, place: RowAt | str) -> ColumnError:
    """Make the error about a value that is not what its column was declared to hold."""
    return ColumnError(
        f"column {name!r} cannot be read as {form}: ",
        place,
        f" holds {text_of(value)!r}, not {EXPECTS[form]}",
    )


def infinities_note(name: str, count: int) -> str:
    """Return the note that infinite values of a column count as missing."""
    said = say.INFINITE[count > 1].format(rows=count)
    return say.COLUMN_HOLDS.format(column=repr(name), said=said)
