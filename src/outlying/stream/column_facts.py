"""What is counted of one column in all rows, and what follows from it for the column."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from outlying.derived.calendar import DATES, CalendarFacts
from outlying.derived.choosing import Facts
from outlying.derived.keys import MOST_ODD, MOST_REPEATED, KeyFacts
from outlying.derived.texts import TextFacts
from outlying.parsing.columns import Decision, decide, not_read
from outlying.parsing.reading import Reading, Tally, declared_kind
from outlying.sources import arrow_arrays as arrays
from outlying.sources.arrow_arrays import Array, Coded, arrow, whole
from outlying.sources.columns import Field, Numbers
from outlying.stream.bottom_k import DistinctCounter, RowSketch, estimated_count
from outlying.table.columns import Column, Floats
from outlying.table.row_hash import (
    MISSING_HASH,
    Cells,
    Hashes,
    are_long,
    float_hashes,
    salted_sums,
    splitmix64,
    whole_hashes,
)
from outlying.table.selection import MOST_TEXTS
from outlying.table.values import LARGEST_EXACT_INTEGER, TRAILING_ZERO, are_keys

if TYPE_CHECKING:
    import pyarrow

#: More keys than this are not counted; nor are numbers of which more than this occur twice.
MOST_KEYS = MOST_TEXTS
_MOST_TWICE = MOST_REPEATED * MOST_KEYS
#: In more rows there are more keys, or more of them occur twice.
_MOST_KEY_ROWS = MOST_KEYS / (1 - MOST_ODD)


_CHUNK = 1 << 20  # numbers that are hashed at a time


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What one column holds in all rows."""

    missing: int
    low: float | int  # of its known numbers; NaN where there are none
    high: float | int
    distinct: int | None  # of categories; None: numbers, which are not counted
    is_exact: bool  # whether they were counted, not estimated
    counts_rows: bool = False  # whether its numbers are those of the rows, in any order

    def joined(self, new: Column, labels: int) -> ColumnFacts:
        """Take in one more row, the only one of a column with the labels that are known."""
        if new.is_missing(0):
            return dataclasses.replace(self, missing=self.missing + 1)
        if new.is_numeric:
            low, high = np.fmin(self.low, new.values[0]), np.fmax(self.high, new.values[0])
            return dataclasses.replace(self, low=float(low), high=float(high))
        are_known = labels == self.distinct  # all that there are
        more = len(new.labels) - labels if are_known else 0
        return dataclasses.replace(self, distinct=(self.distinct or 0) + more)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Texts:
    """Texts of some rows, made Python's piece by piece."""

    coded: Coded

    def __len__(self) -> int:
        return len(self.coded.texts)

    def __getitem__(self, places: slice) -> list[str]:
        return self.coded.texts[places].to_pylist()  # type: ignore[no-any-return]


@dataclasses.dataclass(slots=True, eq=False)
class PartCounts:
    """What decides on columns derived from one, counted in any part of its rows, and bounded.

    Days and minutes of moments are few. Texts are kept with their counts up to a limit; of more,
    those with the least hashes, which show shapes, but not which labels are near each other. Whole
    numbers are counted as long as they may be keys.
    """

    days: CalendarFacts | None = None
    keys: KeyFacts | None = None
    are_no_keys: bool = False  # numbers are not whole, or many occur twice
    are_many_keys: bool = False
    texts: RowSketch | None = None

    def add_numbers(self, field: Field, values: Floats) -> None:
        """Take in numbers; NaN is missing."""
        if field.read_as in DATES:
            found = CalendarFacts.of(values)
            self.days = found if self.days is None else self.days.merged(found)
        elif field.read_as in ("integer", "number"):
            self._add_keys(values)

    def _add_keys(self, values: Floats) -> None:
        if self.are_no_keys or self.are_many_keys:
            return
        known = values[~np.isnan(values)]
        rows = len(known) + (0 if self.keys is None else self.keys.rows)
        if rows > _MOST_KEY_ROWS or not bool(np.all(np.floor(known) == known)):
            self._take_no_keys()
        else:
            self._take_keys(KeyFacts.of(known))

    def _take_no_keys(self) -> None:
        self.keys, self.are_no_keys = None, True

    def _take_keys(self, found: KeyFacts) -> None:
        """Take in keys, as long as they may be some, and are few enough."""
        keys = found if self.keys is None else self.keys.merged(found)
        self.are_no_keys |= bool(np.count_nonzero(keys.counts > 1) > _MOST_TWICE)
        self.are_many_keys |= len(keys.values) > MOST_KEYS
        self.keys = None if self.are_no_keys or self.are_many_keys else keys

    def add_texts(self, coded: Coded, hashes: Hashes) -> None:
        """Take in texts with their hashes."""
        if self.texts is None:
            self.texts = RowSketch(MOST_TEXTS + 1)
        rows = np.bincount(coded.codes[coded.codes >= 0], minlength=len(hashes))
        self.texts.add_counted(
            splitmix64(hashes),
            rows,
            lambda places: arrow().table({"text": coded.texts.take(arrays.of_numbers(places))}),
        )

    def merge(self, other: PartCounts) -> None:
        """Take in the counts of other rows."""
        if other.days is not None:
            self.days = other.days if self.days is None else self.days.merged(other.days)
        self.are_many_keys |= other.are_many_keys
        if other.are_no_keys or self.are_no_keys:
            self._take_no_keys()
        elif other.keys is not None and not self.are_many_keys:
            self._take_keys(other.keys)
        elif self.are_many_keys:
            self.keys = None
        if other.texts is not None:
            if self.texts is None:
                self.texts = RowSketch(MOST_TEXTS + 1)
            self.texts.merge(other.texts)

    def facts(self, known: int) -> Facts | None:
        """Return the facts of a column with so many known values."""
        if self.days is not None:
            return self.days
        if self.keys is not None:
            return self.keys
        if self.texts is None or not len(self.texts.hashes):
            return None
        hashes, texts = self.texts.hashes, self.texts.rows().column("text").to_pylist()
        is_whole = len(hashes) <= MOST_TEXTS
        counts = dict(zip(texts, self.texts.copies.tolist(), strict=True))
        distinct = len(hashes) if is_whole else estimated_count(hashes)
        return TextFacts(counts, distinct, known, is_whole)


@dataclasses.dataclass(slots=True)
class ColumnCounts:
    """Counts of one column, of any part of its rows."""

    missing: int = 0
    infinite: int = 0
    low: float | int = math.nan
    high: float | int = math.nan
    long: int = 0  # whole numbers that floating point does not hold
    is_whole: bool = True  # whether this is known of all numbers; of times, nobody asks
    hash_sum: int | None = 0  # of numbers, as long as they may be those of the rows
    distinct: DistinctCounter = dataclasses.field(
        default_factory=lambda: DistinctCounter(MOST_TEXTS)
    )
    parts: PartCounts | None = None  # of columns from which others may be derived
    tally: Tally | None = None  # of texts that may be numbers or dates

    @classmethod
    def of(cls, field: Field, *, has_parts: bool = False, knows_types: bool = True) -> ColumnCounts:
        """Return the counts of no row of a column."""
        tally = None
        if field.may_be_written:
            tally = Tally(declared_kind(field.wanted), has_ends=True, knows_types=knows_types)
        return cls(parts=PartCounts() if has_parts else None, tally=tally)

    def decision(self) -> Decision | None:
        """Return how texts are to be read; None: as they are."""
        return None if self.tally is None else decide(self.tally)

    def are_keys(self, rows: int) -> bool:
        """Return whether whole numbers are keys or hashes, no quantities, given all rows."""
        return are_keys(self.long, rows - self.missing)

    def merge(self, other: ColumnCounts) -> None:
        """Take in the counts of other rows."""
        self.missing += other.missing
        self.infinite += other.infinite
        self.long += other.long
        self.is_whole &= other.is_whole
        self._add_hashes(other.hash_sum)
        self._widen(other.low, other.high)
        self.distinct.merge(other.distinct)
        if self.tally is not None and other.tally is not None:
            self.tally.merge(other.tally)
        if self.parts is not None and other.parts is not None:
            self.parts.merge(other.parts)

    def counts_rows(self, rows: int) -> bool:
        """Return whether numbers are those of all rows, from the least on, each once.

        They are if their hashes add up to those of these numbers.
        """
        if self.hash_sum is None or self.missing or self.high - self.low != rows - 1:
            return False
        low = int(self.low)
        starts = range(low, low + rows, _CHUNK)
        numbers = (np.arange(s, min(s + _CHUNK, low + rows), dtype=float) for s in starts)
        return self.hash_sum == sum(map(_hash_sum, numbers)) % 2**64

    def _add_hashes(self, total: int | None) -> None:
        both = None if self.hash_sum is None or total is None else self.hash_sum + total
        self.hash_sum = None if both is None else both % 2**64

    def _widen(self, low: float | int, high: float | int) -> None:
        """Widen the range of known numbers."""
        if low == low:
            self.low = low if self.low != self.low else min(self.low, low)
            self.high = high if self.high != self.high else max(self.high, high)

    def add(self, field: Field, array: Array) -> Cells:
        """Take in some cells, and return them as row hashes need them."""
        if field.is_numeric:
            return self._add_numbers(field, array)
        if field.form in ("number", "integer"):
            plain = Field(field.name, field.form, is_compared=False)
            self._look_at(plain, plain.numbers(array), array)
        coded = field.coded(array, are_distinct=False)
        hashes = _label_hashes(field, coded)
        self.missing += coded.missing
        self.distinct.add(hashes)
        if self.tally is not None:
            self.tally.add(_Texts(coded), coded.counts)
        if self.parts is not None and field.form == "text":
            self.parts.add_texts(coded, hashes)
        return Cells(field.name, hashes, coded.codes)

    def _add_numbers(self, field: Field, array: Array) -> Cells:
        found = field.numbers(array)
        self.missing += found.missing
        self.infinite += found.infinite
        self._look_at(field, found, array)
        if self.hash_sum is not None:
            self._add_hashes(_hash_sum(found.values) if _may_count_rows(field, found) else None)
        if self.parts is not None:
            self.parts.add_numbers(field, found.values)
        cells = _number_cells(field, found, array)
        if field.is_compared and _may_be_long(field, array):
            self._count_keys(cells.hashes)
        return cells

    def _look_at(self, field: Field, found: Numbers, array: Array) -> None:
        low, high = found.low, found.high
        if low == low and arrow().types.is_integer(array.type):
            low, high = _whole_range(found, array)
            if exceeds_floats(low, high):
                self.long += _long_in(array)
        elif self.is_whole and field.form == "number":
            self.is_whole = _are_whole(found.values)
        self._widen(low, high)

    def _count_keys(self, hashes: Hashes) -> None:
        """Count whole numbers that may turn out to be categories; at first by a quick look."""
        if self.distinct.is_exact:
            hashes = arrays.held(arrays.of_numbers(hashes).unique())
        self.distinct.add(hashes[hashes != MISSING_HASH])


def _may_count_rows(field: Field, found: Numbers) -> bool:
    """Return whether some numbers may be those of rows, of which there are no two alike."""
    is_wide = found.low >= 0 and found.high - found.low >= len(found.values) - 1
    return field.read_as == "integer" and is_wide and not found.has_gaps


def _hash_sum(values: Floats) -> int:
    return int(splitmix64(float_hashes(values)).sum(dtype=np.uint64))


def cells_of(field: Field, array: Array) -> Cells:
    """Return some cells as row hashes need them, without counting anything."""
    if field.is_numeric:
        return _number_cells(field, field.numbers(array), array)
    coded = field.coded(array, are_distinct=False)
    return Cells(field.name, _label_hashes(field, coded), coded.codes)


def hashes_of_rows(fields: Sequence[Field], table: pyarrow.Table) -> Hashes:
    """Return the row hashes of some rows in memory."""
    arrays = (table.column(field.name).combine_chunks() for field in fields)
    cells = (cells_of(field, array) for field, array in zip(fields, arrays, strict=True))
    return splitmix64(salted_sums(cells, len(table)))


def _number_cells(field: Field, found: Numbers, array: Array) -> Cells:
    if not (_may_be_long(field, array) and _is_at_limit(found)):
        return Cells(field.name, float_hashes(found.values))
    values, missing = whole(array)
    hashes = whole_hashes(values)
    if missing is not None:
        hashes[missing] = MISSING_HASH
    return Cells(field.name, hashes)


def _may_be_long(field: Field, array: Array) -> bool:
    """Return whether whole numbers may be such as floating point does not hold."""
    return bool(field.may_be_keys and array.type.bit_width == 64)


def typed_by_all_rows(field: Field, counts: ColumnCounts, rows: int) -> Field:
    """Return a field with the form that all rows together show, as tables in memory have it.

    Whole numbers are texts if most are too long; numbers with gaps are whole ones if all are.
    """
    if field.may_be_written:
        return _as_written(field, counts)
    if field.form == "integer" and counts.are_keys(rows):
        if field.wanted == "numeric":
            return dataclasses.replace(field, form="number")
        return dataclasses.replace(field, wanted=field.wanted or "categorical")
    known = rows - counts.missing - counts.infinite
    are_whole = counts.is_whole and not exceeds_floats(counts.low, counts.high)
    if field.form == "number" and counts.missing and known and are_whole and not counts.infinite:
        return dataclasses.replace(field, form="integer")
    return field


def _as_written(field: Field, counts: ColumnCounts) -> Field:
    """Return a field of texts as they are to be read; what was declared must hold for all."""
    decision, wanted = counts.decision(), declared_kind(field.wanted)
    wrong = None if counts.tally is None else counts.tally.styles.get(None)
    if wanted is not None and (wrong is not None or (decision and decision.misfits)):
        texts = [*(decision.misfits if decision else ()), *([wrong.example] if wrong else [])]
        raise not_read(field.name, wanted, min(filter(None, texts)), "some row")
    if decision is not None:
        return dataclasses.replace(field, written=decision.reading)
    return field if wanted is None else dataclasses.replace(field, written=Reading.declared(wanted))


def exceeds_floats(low: float | int, high: float | int) -> bool:
    """Return whether floating point does not hold all numbers between as whole ones."""
    return max(abs(low), abs(high)) > LARGEST_EXACT_INTEGER


def _label_hashes(field: Field, coded: Coded) -> Hashes:
    if not field.are_labels_of_numbers:
        return coded.numbers()
    texts = arrow().compute.replace_substring_regex(coded.texts, TRAILING_ZERO, "")
    return dataclasses.replace(coded, texts=texts).numbers()


def _is_at_limit(found: Numbers) -> bool:
    return max(abs(found.low), abs(found.high)) >= LARGEST_EXACT_INTEGER


def _whole_range(found: Numbers, array: Array) -> tuple[int, int]:
    if not _is_at_limit(found):
        return int(found.low), int(found.high)
    bounds = arrow().compute.min_max(array).as_py()
    return bounds["min"], bounds["max"]


def _long_in(array: Array) -> int:
    values, missing = whole(array)
    found = are_long(values)
    return int(np.count_nonzero(found if missing is None else found & ~missing))


def _are_whole(values: Floats) -> bool:
    """Return whether all numbers are whole, those that are missing apart."""
    return all(
        bool(np.all((some == np.floor(some)) | np.isnan(some)))
        for some in (values[:1000], values[1000:])
    )
