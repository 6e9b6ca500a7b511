"""What the first pass keeps of all rows: bottom-k sketches, and counts of each column.

Bottom-k sketches (k minimum values) hold, of very many things, those with the least hashes: a
uniform sample of the distinct things, whose greatest hash tells how many there are (Bar-Yossef et
al. 2002).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from outlying.derived.calendar import DATES, MOST_OTHERS, CalendarFacts
from outlying.derived.choosing import Facts, of_times
from outlying.derived.texts import MOST_ODD, MOST_REPEATED, KeyFacts, TextFacts
from outlying.parsing import pa, pc
from outlying.parsing.columns import Decision, decide
from outlying.parsing.reading import FORMS, Reading, Tally, declared_kind
from outlying.sources import arrow_arrays as arrays
from outlying.sources.arrow_arrays import Array, Coded, whole
from outlying.sources.columns import Field, Numbers, are_whole
from outlying.table.columns import Column, Floats, Rows, not_as_declared
from outlying.table.row_hash import (
    MISSING_HASH,
    HashedCells,
    Hashes,
    are_long,
    float_hashes,
    salted_sums,
    splitmix64,
    whole_hashes,
)
from outlying.table.selection import MOST_TEXTS
from outlying.table.values import LARGEST_EXACT_INTEGER, TRAILING_ZERO, are_keys

_RANGE = 2.0**64  # of hashes
#: More keys than this are not counted; nor are numbers of which more than this occur twice.
MOST_KEYS = MOST_TEXTS
_MOST_TWICE = MOST_REPEATED * MOST_KEYS
#: In more rows there are more keys, or more of them occur twice.
_MOST_KEY_ROWS = MOST_KEYS / (1 - MOST_ODD)
_CHUNK = 1 << 20  # numbers that are hashed at a time

Taken: TypeAlias = Callable[[Rows], "pa.Table"]


class Sketch:
    """The distinct things with the least hashes, how many copies each has, and one row of each.

    Of those that are kept in the end, none was ever left out: the numbers of copies are exact.
    """

    def __init__(self, most: int) -> None:
        """Take how many distinct things are kept."""
        self.most = most
        self._hashes: Hashes = np.zeros(0, dtype=np.uint64)
        self._copies: Rows = np.zeros(0, dtype=np.int64)
        self._rows: pa.Table | None = None
        self._waiting: list[tuple[Hashes, Rows, pa.Table | None]] = []

    @property
    def hashes(self) -> Hashes:
        """The least hashes, ascending."""
        self._settle()
        return self._hashes

    @property
    def copies(self) -> Rows:
        """How many rows have each of them."""
        self._settle()
        return self._copies

    @property
    def rows(self) -> pa.Table:
        """The rows that were given with them; there must be one."""
        self._settle()
        return self._rows

    @property
    def is_whole(self) -> bool:
        """Whether all distinct things that were seen are kept, and another would be."""
        return len(self.hashes) < self.most

    @property
    def distinct(self) -> int:
        """How many distinct things there are: counted as long as they are few, or estimated."""
        if self.is_whole:
            return len(self.hashes)
        return round((len(self.hashes) - 1) * _RANGE / (float(self.hashes[-1]) + 1))

    def add(self, hashes: Hashes, rows: Taken | None = None, copies: Rows | None = None) -> None:
        """Take in things with their copies, one by default; `rows` returns those at new places."""
        is_full = len(self._hashes) == self.most
        near = np.flatnonzero(hashes <= self._hashes[-1]) if is_full else np.arange(len(hashes))
        distinct, first, places = np.unique(hashes[near], return_index=True, return_inverse=True)
        weights = None if copies is None else copies[near]
        totals = np.bincount(places, weights, minlength=len(distinct)).astype(np.int64)
        self._take_in(distinct, totals, rows and (lambda new: rows(near[first[new]])))

    def merge(self, other: Sketch) -> None:
        """Take in the sketch of another part of the table."""
        rows = other.rows
        self._take_in(other.hashes, other.copies, rows and (lambda new: taken(rows, new)))

    def _take_in(self, hashes: Hashes, copies: Rows, rows: Taken | None) -> None:
        """Take in distinct hashes in ascending order; `rows` returns those at places here."""
        places = np.searchsorted(self._hashes, hashes)
        is_new = np.ones(len(hashes), dtype=bool)
        inside = places < len(self._hashes)
        is_new[inside] = self._hashes[places[inside]] != hashes[inside]
        self._copies[places[~is_new]] += copies[~is_new]
        new = np.flatnonzero(is_new)
        if len(new):
            self._waiting.append((hashes[new], copies[new], rows and rows(new)))
            if sum(len(own) for own, *_ in self._waiting) > self.most // 2:
                self._settle()

    def _settle(self) -> None:
        """Put what waits in order, and let go of what is not among the least."""
        if not self._waiting:
            return
        parts = [(self._hashes, self._copies, self._rows), *self._waiting]
        hashes, copies = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        kept = order[begins[: self.most]]
        self._hashes, self._waiting = hashes[kept], []
        self._copies = np.add.reduceat(copies[order], begins)[: self.most]
        tables = [rows for *_, rows in parts if rows is not None]
        self._rows = taken(joined_rows(tables), kept) if tables else None

    def __getstate__(self) -> dict[str, object]:
        """Send no more than what is kept."""
        self._settle()
        return self.__dict__


def taken(table: pa.Table, rows: Rows) -> pa.Table:
    """Return some rows."""
    return table.take(arrays.of_numbers(rows))


def joined_rows(tables: Iterable[pa.Table]) -> pa.Table:
    """Put rows together, in one piece."""
    return pa.concat_tables(tables, promote_options="permissive").combine_chunks()


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnTotals:
    """What one column holds in all rows."""

    missing: int
    low: float | int  # of its known numbers; NaN where there are none
    high: float | int
    distinct: int | None  # of categories; None: numbers, which are not counted
    is_exact: bool = True  # whether they were counted, not estimated
    counts_rows: bool = False  # whether its numbers are those of the rows, in any order

    def joined(self, new: Column, known: Column) -> ColumnTotals:
        """Take in one more row, the only one of a column with the labels that are known."""
        if new.is_missing(0):
            return dataclasses.replace(self, missing=self.missing + 1)
        if new.is_numeric:
            low, high = np.fmin(self.low, new.values[0]), np.fmax(self.high, new.values[0])
            return dataclasses.replace(self, low=float(low), high=float(high))
        if known.is_numeric or len(known.labels) != self.distinct:  # not all that there are
            return self
        return dataclasses.replace(self, distinct=len(new.labels))


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
    labels: Sketch = dataclasses.field(default_factory=lambda: Sketch(MOST_TEXTS + 1))
    parts: CalendarFacts | KeyFacts | None = None  # what decides on columns derived from numbers
    clock: CalendarFacts | None = None  # of numbers, as long as they may be hours and minutes
    tally: Tally | None = None  # of texts that may be numbers or dates

    @classmethod
    def of(cls, field: Field, *, knows_types: bool = True) -> ColumnCounts:
        """Return the counts of no row of a column."""
        found = cls()
        if field.may_be_written:
            found.tally = Tally(declared_kind(field.wanted), has_ends=True, knows_types=knows_types)
        if field.read_as in DATES:
            found.parts = CalendarFacts.of(np.zeros(0))
        elif field.read_as in ("integer", "number"):
            found.parts = KeyFacts.of(np.zeros(0))
            found.clock = CalendarFacts.of_clock(np.zeros(0))
        return found

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
        self.labels.merge(other.labels)
        self.parts = _merged(self.parts, other.parts)
        self.clock = _merged_clocks(self.clock, other.clock)
        if self.tally is not None and other.tally is not None:
            self.tally.merge(other.tally)

    def counts_rows(self, rows: int) -> bool:
        """Return whether numbers are those of all rows, each once: their hashes add up to these."""
        if self.hash_sum is None or self.missing or self.high - self.low != rows - 1:
            return False
        low = int(self.low)
        starts = range(low, low + rows, _CHUNK)
        blocks = (np.arange(k, min(k + _CHUNK, low + rows), dtype=np.float64) for k in starts)
        return sum(map(_hash_sum, blocks)) % 2**64 == self.hash_sum

    def _add_hashes(self, more: int | None) -> None:
        if more is None or self.hash_sum is None:
            self.hash_sum = None
        else:
            self.hash_sum = (self.hash_sum + more) % 2**64

    def _widen(self, low: float | int, high: float | int) -> None:
        if low == low:
            self.low = low if self.low != self.low else min(self.low, low)
            self.high = high if self.high != self.high else max(self.high, high)

    def add(self, field: Field, array: Array) -> HashedCells:
        """Take in some cells, and return them as row hashes need them."""
        if field.is_numeric:
            return self._add_numbers(field, array)
        if field.form in ("number", "integer"):
            plain = Field(field.name, field.form, is_compared=False)
            self._look_at(plain, plain.numbers(array), array)
        coded = field.coded(array, are_distinct=False)
        hashes = _label_hashes(field, coded)
        self.missing += coded.missing
        self.labels.add(
            splitmix64(hashes),
            lambda places: pa.table({"text": coded.texts.take(arrays.of_numbers(places))}),
            coded.counts(),
        )
        if self.tally is not None:
            texts = coded.texts
            self.tally.add(len(texts), lambda some: texts[some].to_pylist(), coded.counts)
        return HashedCells(field.name, hashes, coded.codes)

    def _add_numbers(self, field: Field, array: Array) -> HashedCells:
        found = field.numbers(array)
        self.missing += found.missing
        self.infinite += found.infinite
        self._look_at(field, found, array)
        if self.hash_sum is not None:
            # of the numbers of rows no two are alike
            is_wide = found.low >= 0 and found.high - found.low >= len(found.values) - 1
            has_gaps = found.missing + found.infinite > 0
            may_count_rows = field.read_as == "integer" and is_wide and not has_gaps
            self._add_hashes(_hash_sum(found.values) if may_count_rows else None)
        if isinstance(self.parts, CalendarFacts):
            self.parts = self.parts.merged(CalendarFacts.of(found.values))
        elif self.parts is not None:
            keys = KeyFacts.of(found.values) if are_whole(found.values) else None
            self.parts = _merged(self.parts, keys)
        if self.clock is not None:
            self.clock = _merged_clocks(self.clock, CalendarFacts.of_clock(found.values))
        cells = _number_cells(field, found, array)
        if field.is_compared and _may_be_long(field, array):  # they may turn out to be categories
            hashes = cells.hashes
            if self.labels.is_whole:  # a quick look
                hashes = arrays.held(arrays.of_numbers(hashes).unique())
            self.labels.add(splitmix64(hashes[hashes != MISSING_HASH]))
        return cells

    def _look_at(self, field: Field, found: Numbers, array: Array) -> None:
        low, high = found.low, found.high
        if pa.types.is_integer(array.type):
            if _is_at_limit(found):
                values, missing = whole(array)
                known = values if missing is None else values[~missing]
                low, high = int(known.min()), int(known.max())
                self.long += int(np.count_nonzero(are_long(known)))
        elif self.is_whole and field.form == "number":
            self.is_whole = are_whole(found.values)
        self._widen(low, high)

    def part_facts(self, field: Field, rows: int) -> Facts | None:
        """Return what decides on the parts of a column, as all of so many rows show its type."""
        if field.are_labels_of_numbers:
            return None
        if field.form != "text":
            is_clock = field.form == "integer" and self.clock is not None and self.clock.is_clock
            return self.clock if is_clock else self.parts
        if not len(self.labels.hashes):
            return None
        texts = self.labels.rows.column("text").to_pylist()
        copies, is_whole = self.labels.copies, self.labels.is_whole
        if field.written is None:
            counts = dict(zip(texts, copies.tolist(), strict=True))
            known = rows - self.missing
            return of_times(TextFacts(counts, self.labels.distinct, known, is_whole))
        return _facts_of_meaning(field.written, texts, copies) if is_whole else None


def _merged(
    one: CalendarFacts | KeyFacts | None, other: CalendarFacts | KeyFacts | None
) -> CalendarFacts | KeyFacts | None:
    """Return facts of more rows; None where numbers are no keys, or too many to be counted."""
    if isinstance(one, CalendarFacts) and isinstance(other, CalendarFacts):
        return one.merged(other)
    if not (isinstance(one, KeyFacts) and isinstance(other, KeyFacts)):
        return None
    if one.rows + other.rows > _MOST_KEY_ROWS:
        return None
    found = one.merged(other)
    return None if np.count_nonzero(found.counts > 1) > _MOST_TWICE else found


def _merged_clocks(one: CalendarFacts | None, other: CalendarFacts | None) -> CalendarFacts | None:
    both = None if one is None or other is None else one.merged(other)
    return None if both is None or both.others > MOST_OTHERS else both


def _facts_of_meaning(reading: Reading, texts: Sequence[str], rows: Rows) -> Facts | None:
    """Return the facts of what texts mean."""
    numbers = reading.numbers(list(texts))
    if reading.form in DATES:
        return CalendarFacts.of(numbers, rows)
    if reading.form != "integer":
        return None
    clock = CalendarFacts.of_clock(numbers, rows)
    return clock if clock.is_clock else KeyFacts.of(numbers, rows)


def _hash_sum(values: Floats) -> int:
    return int(splitmix64(float_hashes(values)).sum(dtype=np.uint64))


def cells_of(field: Field, array: Array) -> HashedCells:
    """Return some cells as row hashes need them, without counting anything."""
    if field.is_numeric:
        return _number_cells(field, field.numbers(array), array)
    coded = field.coded(array, are_distinct=False)
    return HashedCells(field.name, _label_hashes(field, coded), coded.codes)


def hashes_of_rows(fields: Sequence[Field], table: pa.Table) -> Hashes:
    """Return the row hashes of some rows in memory."""
    cells = [cells_of(field, table.column(field.name).combine_chunks()) for field in fields]
    return splitmix64(salted_sums(cells, len(table)))


def _number_cells(field: Field, found: Numbers, array: Array) -> HashedCells:
    if not (_may_be_long(field, array) and _is_at_limit(found)):
        return HashedCells(field.name, float_hashes(found.values))
    values, missing = whole(array)
    hashes = whole_hashes(values)
    if missing is not None:
        hashes[missing] = MISSING_HASH
    return HashedCells(field.name, hashes)


def _may_be_long(field: Field, array: Array) -> bool:
    """Return whether whole numbers may be such as floating point does not hold."""
    return bool(field.may_be_keys and array.type.bit_width == 64)


def typed_by_all_rows(field: Field, counts: ColumnCounts, rows: int) -> Field:
    """Return a field with the form that all rows together show, as tables in memory have it."""
    if field.may_be_written:
        return _as_written(field, counts)
    if field.form == "integer" and counts.are_keys(rows):
        if field.wanted == "numeric":
            return dataclasses.replace(field, form="number")
        return dataclasses.replace(field, wanted=field.wanted or "categorical")
    known = rows - counts.missing - counts.infinite
    is_whole = counts.is_whole and max(-counts.low, counts.high) <= LARGEST_EXACT_INTEGER
    if field.form == "number" and counts.missing and known and is_whole and not counts.infinite:
        return dataclasses.replace(field, form="integer")
    return field


def _as_written(field: Field, counts: ColumnCounts) -> Field:
    """Return a field of texts as they are to be read; what was declared must hold for all."""
    decision, wanted = counts.decision(), declared_kind(field.wanted)
    wrong = None if counts.tally is None else counts.tally.styles.get(None)
    if wanted is not None and (wrong is not None or (decision and decision.misfits)):
        texts = [*(decision.misfits if decision else ()), *([wrong.example] if wrong else [])]
        example = min(filter(None, texts))
        raise not_as_declared(field.name, FORMS[wanted], example, "some row")
    if decision is not None:
        return dataclasses.replace(field, written=decision.reading)
    return field if wanted is None else dataclasses.replace(field, written=Reading.declared(wanted))


def facts_of(field: Field, counts: ColumnCounts, rows: int) -> ColumnTotals:
    """Return what is told of a column of all rows, as these show its type."""
    missing = counts.missing + counts.infinite
    if field.written is not None:
        decision = counts.decision()
        ends = (math.nan, math.nan) if decision is None else decision.ends
        unread = 0 if decision is None else decision.missing
        return ColumnTotals(missing + unread, *ends, None)
    if field.is_numeric:
        ends, counts_rows = (float(counts.low), float(counts.high)), counts.counts_rows(rows)
        return ColumnTotals(missing, *ends, None, counts_rows=counts_rows)
    seen = counts.labels
    return ColumnTotals(missing, math.nan, math.nan, seen.distinct, seen.is_whole)


def _label_hashes(field: Field, coded: Coded) -> Hashes:
    if not field.are_labels_of_numbers:
        return coded.numbers()
    texts = pc.replace_substring_regex(coded.texts, TRAILING_ZERO, "")
    return dataclasses.replace(coded, texts=texts).numbers()


def _is_at_limit(found: Numbers) -> bool:
    return max(abs(found.low), abs(found.high)) >= LARGEST_EXACT_INTEGER
