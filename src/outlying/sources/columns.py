"""From Arrow arrays to columns, and from columns to a table: the rules that all sources share."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from outlying import sentences as say
from outlying.errors import ColumnError, NoRowsError, SourceError, shown
from outlying.options import ColumnType
from outlying.parallel import thread_map, usable_workers
from outlying.parsing.plain import TEXT, PlainTally, decide
from outlying.parsing.reading import Reading
from outlying.sources import arrow_arrays as types
from outlying.table.columns import (
    CategoricalColumn,
    Column,
    Floats,
    NumericColumn,
    WrittenTexts,
    frozen,
    integer_column,
    parsed_number,
)
from outlying.table.table import FrameLibrary, SkippedColumn, Table
from outlying.table.values import (
    LARGEST_EXACT_INTEGER,
    TIMES,
    Form,
    printable,
    quantity_text,
    whole_text,
)

_FIRST = 1000  # rows to look at before all
_MANY = 100_000  # cells that are worth several threads


@dataclasses.dataclass(frozen=True, slots=True)
class RawColumn:
    """An array that is to become a column, and what a reader should know about it."""

    array: Any
    note: str | None = None
    are_keys: bool = False  # texts that are whole numbers, too long for quantities


def table_of(
    source: str,
    columns: dict[str, RawColumn | str],
    notes: Iterable[str] = (),
    frame_library: FrameLibrary = "pandas",
    *,
    index: Sequence[Column] = (),
    left_out: Sequence[SkippedColumn] = (),
    knows_types: bool | None = None,
    commas: bool = False,
) -> Table:
    """Put columns together; a table without rows or usable columns is refused.

    A text says why a column cannot be used, `left_out` are further ones; `index` are columns that
    name the rows. A table of nothing but texts knows no types, unless the source says otherwise.
    `columns` is empty in the end: arrays go when they are read.
    """
    if not columns and not left_out:
        raise SourceError(f"{source}: there are no columns; a table needs at least one")
    if knows_types is None:
        knows_types = not all(map(is_of_texts, columns.values()))
    read = _read_all(columns, knows_types=knows_types, commas=commas)
    usable = tuple(column for column, _ in read if not isinstance(column, SkippedColumn))
    unused = *(column for column, _ in read if isinstance(column, SkippedColumn)), *left_out
    if not usable:
        reasons = "; ".join(f"{column.name!r} {column.reason}" for column in unused[:5])
        raise SourceError(f"{source}: no column can be used: {reasons}")
    rows = len(usable[0])
    if rows == 0:
        raise NoRowsError(f"{source}: there are no rows, only column names")
    said = [
        say.COLUMN_HOLDS.format(column=repr(column.name), said=note)
        for column, note in read
        if note is not None
    ]
    named = tuple(column.name for column in index)
    return Table((*index, *usable), rows, source, unused, (*notes, *said), frame_library, named)


def _read_all(
    columns: dict[str, RawColumn | str], *, knows_types: bool, commas: bool
) -> list[tuple[Column | SkippedColumn, str | None]]:
    """Read columns, and what is said of each; by several threads where they are large."""
    texts = [] if knows_types else [name for name, made in columns.items() if is_of_texts(made)]
    cells = sum(len(made.array) for made in columns.values() if isinstance(made, RawColumn))
    threads = min(usable_workers(None), len(columns)) if cells > _MANY else 1

    def read_one(name: str) -> tuple[Column | SkippedColumn, str | None]:
        made = columns.pop(name)
        if isinstance(made, str):
            return skipped(name, made), None
        kind = kinds.get(name, TEXT)
        array = kind.read(made.array)
        said, are_keys = made.note, made.are_keys or kind.are_keys
        del made
        column, note = from_arrow(name, array, are_keys=are_keys)
        return column, "; ".join(filter(None, dict.fromkeys((said, note, kind.note)))) or None

    with thread_map(max(1, threads)) as mapped:
        tallies = list(mapped(lambda name: PlainTally.of(columns[name].array), texts))  # type: ignore[union-attr]
        kinds = dict(zip(texts, decide(tallies, commas=commas), strict=True))
        return list(mapped(read_one, list(columns)))


def is_of_texts(made: RawColumn | str) -> bool:
    """Return whether an array holds texts of which nothing is known: mixed values were typed."""
    if isinstance(made, str) or made.are_keys or made.note is not None:
        return False
    return types.is_plain_text(made.array.type)


def from_arrow(
    name: str, array: types.Array, *, are_keys: bool = False
) -> tuple[Column | SkippedColumn, str | None]:
    """Make a column of an Arrow array, and say what a reader should know of it."""
    form = types.form_of(array.type)
    if form == "integer":
        column = integer_column(name, *types.whole(array))
        note = None if column.is_numeric else say.LONG_NUMBERS
        return column, note
    if form == "number":
        numbers = types.numbers(array, "number")
        return NumericColumn(name, _form_of_reals(numbers), frozen(numbers)), None
    if form in TIMES:
        return NumericColumn(name, form, frozen(types.numbers(array, form))), None
    if form in ("text", "boolean"):
        column = types.categories(array, form).column(name)  # type: ignore[arg-type]
        return dataclasses.replace(column, are_of_numbers=are_keys), None
    return skipped(name, form), None


def _form_of_reals(numbers: Floats) -> Form:
    """Return how numbers count: whole ones with gaps, which pandas holds as reals, as whole."""
    known = numbers[~np.isnan(numbers)]
    if not 0 < len(known) < len(numbers) or not are_whole(numbers):
        return "number"
    return "number" if np.abs(known).max() > LARGEST_EXACT_INTEGER else "integer"


def are_whole(numbers: Floats) -> bool:
    """Return whether all numbers are whole, those that are missing apart."""
    return all(
        bool(np.all((some == np.floor(some)) | np.isnan(some)))
        for some in (numbers[:_FIRST], numbers[_FIRST:])
    )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Numbers of some rows, NaN where one is missing, and what they are like."""

    values: Floats
    missing: int
    infinite: int  # left out, where such values count as missing
    low: float  # NaN where no number is known
    high: float

    @classmethod
    @np.errstate(invalid="ignore")  # NaN may come in a form that signals
    def of(cls, values: Floats, *, is_finite: bool = True) -> Numbers:
        """Look at numbers once; infinite ones become missing, unless they may stay."""
        low, high = (float(f(values)) if len(values) else math.nan for f in (np.min, np.max))
        if math.isfinite(low) and math.isfinite(high):
            return cls(values, 0, 0, low + 0.0, high + 0.0)
        missing, infinite = int(np.count_nonzero(np.isnan(values))), 0
        if is_finite:
            infinite = int(np.count_nonzero(np.isinf(values)))
            values = np.where(np.isinf(values), np.nan, values) if infinite else values
        low, high = (float(f.reduce(values, initial=np.nan)) for f in (np.fmin, np.fmax))
        return cls(values, missing, infinite, low + 0.0, high + 0.0)


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """How a column is read: what the source holds, and what the user declared it to be."""

    name: str
    form: Form
    wanted: ColumnType | None = None
    is_compared: bool = True  # infinite values of others stay what they are
    written: Reading | None = None  # how texts are read, which only all rows together show

    @property
    def may_be_written(self) -> bool:
        """Whether these are texts that may turn out to be numbers or dates, or were declared to."""
        is_used = self.is_compared or self.wanted is not None
        return self.form == "text" and self.wanted != "categorical" and is_used

    @property
    def read_as(self) -> Form:
        """The form of the column that is made of it."""
        if self.form == "text":
            return "text" if self.written is None else self.written.form
        is_category = self.form in ("text", "boolean")
        if self.wanted == "categorical":
            return self.form if is_category else "text"
        if self.wanted == "numeric":
            return "number" if is_category else self.form
        if self.wanted == "datetime":
            return self.form if self.form in TIMES else "datetime"
        return self.form

    @property
    def is_numeric(self) -> bool:
        """Whether the cells are numbers, not categories."""
        return self.read_as not in ("text", "boolean")

    @property
    def may_be_keys(self) -> bool:
        """Whether these are whole numbers that become texts, should most be beyond 2**53."""
        return self.form == "integer" and self.wanted is None

    @property
    def are_labels_of_numbers(self) -> bool:
        """Whether it holds numbers that were declared to be categories."""
        return self.wanted == "categorical" and self.form in ("number", "integer")

    def empty(self) -> Column:
        """Return the column without rows."""
        none = CategoricalColumn(self.name, self.form, np.zeros(0, dtype=np.int32), ())
        if self.is_numeric:
            return NumericColumn(self.name, self.read_as, np.zeros(0), written=self._written(none))
        return dataclasses.replace(none, form=self.read_as)

    def _written(self, texts: CategoricalColumn) -> WrittenTexts | None:
        return None if self.written is None else WrittenTexts(texts, self.written)

    def numbers(self, array: types.Array) -> Numbers:
        """Read the cells of a column that holds numbers."""
        if self.read_as == self.form:
            return Numbers.of(types.numbers(array, self.form), is_finite=self.is_compared)
        coded = self.coded(array)  # each category is read once
        if self.written is not None:
            parsed = self.written.numbers(coded.texts.to_pylist())
        else:
            is_plain = self.form in ("number", "integer")
            cells = (float(label) if is_plain else label for label in coded.labels)
            parsed = np.array(
                [parsed_number(self.name, cell, self.read_as, "some row") for cell in cells]
            )
        values = np.append(parsed, math.nan)[coded.codes]
        return Numbers.of(values, is_finite=self.is_compared)

    def coded(self, array: types.Array, are_distinct: bool = True) -> types.Coded:
        """Read cells as categories; they may come several times where that is quicker."""
        if self.form in ("text", "boolean"):
            return types.categories(array, self.form, are_distinct)
        return types.categories_of_numbers(array, self.form)

    def column(self, array: types.Array) -> Column:
        """Make a column of a table in memory."""
        if self.is_numeric:
            values = self.numbers(array).values + 0.0
            texts = None if self.written is None else self._written(self._categorical(array))
            may_be_long = self.may_be_keys and (np.abs(values) >= LARGEST_EXACT_INTEGER).any()
            exact = types.whole(array)[0] if may_be_long else None
            return NumericColumn(
                self.name, self.read_as, frozen(values), written=texts, exact=exact
            )
        return self._categorical(array)

    def _categorical(self, array: types.Array) -> CategoricalColumn:
        """Make a column of categories, be they texts that are read as numbers."""
        form = self.read_as if self.written is None else self.form
        return dataclasses.replace(self.coded(array).column(self.name), form=form)


# --- tables ---------------------------------------------------------------------------------------

_TOTALS = re.compile(
    r"(?:grand |sub)?totals?|sums?|gesamt(?:summe)?|summe|total (?:general|général)|totale|totaal|"
    r"suma|итого"
)
_LEAST_SUMMANDS = 3


def without_totals(table: Table) -> Table:
    """Leave out a last row that adds up those above it: a word says so, and a column of numbers."""
    last = table.rows - 1
    if last < _LEAST_SUMMANDS:
        return table
    texts = ((column.name, column.value(last)) for column in table.columns)
    words = ((name, text) for name, text in texts if isinstance(text, str))
    named = [(n, text) for n, text in words if _TOTALS.fullmatch(text.strip(" :*").casefold())]
    sums = [column for column in table.columns if _adds_up(column, last)]
    if not named or not sums:
        return table
    rows = np.arange(last)
    cells = (named[0], (sums[0].name, sums[0].value(last)))
    told = (say.CELL.format(column=printable(n), value=quantity_text(v)) for n, v in cells)
    note = say.LAST_ROW_TOTALS.format(cells=", ".join(told))
    columns = tuple(column.taken(rows) for column in table.columns)
    return dataclasses.replace(table, columns=columns, rows=last, notes=(*table.notes, note))


def _adds_up(column: Column, last: int) -> bool:
    """Return whether the last number is the sum of all others, but for rounding."""
    if not column.is_numeric or column.form not in ("number", "integer"):
        return False
    known = column.values[:last][np.isfinite(column.values[:last])]
    with np.errstate(over="ignore"):
        least = np.abs(known).sum() * 1e-9
    if np.count_nonzero(known) < _LEAST_SUMMANDS or not np.isfinite(least):
        return False
    return bool(abs(column.values[last] - known.sum()) <= max(least, 1e-9))


def unique_names(source: str, names: Iterable[object]) -> list[str]:
    """Turn column names into texts; two columns of one name could not be told apart later."""
    places: dict[str, int] = {}
    for place, name in enumerate(map(text_of_any, names), start=1):
        if name in places:
            raise ColumnError(
                f"{source}: columns {places[name]} and {place} are both called {name!r}; "
                "rename one of them, every column needs a name of its own"
            )
        places[name] = place
    return list(places)


def text_of_any(cell: Any) -> str:
    """Turn what is no text into one, whatever its class makes of that."""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return whole_text(cell)
    try:
        return str(cell)
    except Exception:  # a class of the user's
        return shown(cell)


def skipped(name: str, what: str) -> SkippedColumn:
    """Say of a column that what it holds cannot be compared."""
    return SkippedColumn(name, f"holds {what}, which cannot be compared")
