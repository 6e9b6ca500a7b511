"""Rows that are asked for by their values: what is looked for, and the pass that finds it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from outlying.errors import RowError
from outlying.parsing.reading import styles_of
from outlying.sources.arrow_arrays import Array, of_numbers
from outlying.sources.columns import Field
from outlying.sources.passes import Batch, Pass
from outlying.stream.bottom_k import RowSketch
from outlying.stream.column_facts import ColumnCounts, cells_of, hashes_of_rows, typed_by_all_rows
from outlying.stream.profile_pass import copied, takeable
from outlying.table.columns import Rows
from outlying.table.row_hash import (
    MISSING_HASH,
    Cells,
    Hashes,
    float_hashes,
    label_hashes,
    salted_sums,
)
from outlying.table.table import SkippedColumn, Table, where_text
from outlying.table.targets import RowRequest, Where, check_where, is_mark, no_mark, not_a_mark
from outlying.table.values import (
    TIMES,
    Value,
    is_missing,
    text_of,
    value_of,
    without_trailing_zero,
)

if TYPE_CHECKING:
    import pyarrow

    from outlying.stream.profile import Profile

#: One where may stand for this many rows.
MOST_ROWS = 10_000

_WHOLE = re.compile(r"-?[1-9][0-9]*|0")
_LOW_BITS = 16


#: The hashes of wheres, by the columns that they name.
HashesByColumns: TypeAlias = tuple[tuple[tuple[str, ...], Hashes], ...]


def matching_rows(
    wheres: HashesByColumns, cells: Mapping[str, Cells], rows: int
) -> Iterator[tuple[Rows, Hashes]]:
    """Find rows of a batch that are looked for, with the hashes of the wheres they fit."""
    for names, wanted in wheres:
        found = salted_sums([cells[name] for name in names], rows)
        places = _candidates(found, wanted)
        places = places[np.isin(found[places], wanted)]
        if len(places):
            yield places, found[places]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """What rows to look for: one for each of several wheres, or every one that fits.

    A where has a hash, as a row has: that of the columns it names.
    """

    asked: RowRequest
    wheres: tuple[Where, ...]
    hashes: Hashes
    by_columns: HashesByColumns

    @classmethod
    def of(cls, asked: RowRequest, unread: UnreadTable) -> Lookup:
        """Check what is looked for."""
        if asked.marks is not None:
            unread.table.column(asked.marks)
            return cls(asked, ({asked.marks: True},), np.zeros(0, np.uint64), ())
        wheres = list(asked.wheres or ()) if asked.every is None else [asked.every]
        hashes = []
        for place, one in enumerate(wheres):
            with asked.about(place):
                hashes.append(unread.hash_of(one))
        groups: dict[tuple[str, ...], list[int]] = {}
        for one, its_hash in zip(wheres, hashes, strict=True):
            groups.setdefault(tuple(sorted(one)), []).append(its_hash)
        by_columns = [(names, np.unique(np.array(of, np.uint64))) for names, of in groups.items()]
        return cls(asked, tuple(wheres), np.array(hashes, np.uint64), tuple(by_columns))

    @property
    def is_for_every(self) -> bool:
        """Whether one where stands for all rows that fit."""
        return self.asked.every is not None or self.asked.marks is not None

    @property
    def names(self) -> set[str]:
        """The columns that are looked at."""
        marks = set() if self.asked.marks is None else {self.asked.marks}
        return marks.union(name for names, _ in self.by_columns for name in names)

    def check(self, table: Table) -> None:
        """Check once more, when what the columns hold is known from all rows."""
        for place, where in enumerate(() if self.asked.marks is not None else self.wheres):
            with self.asked.about(place):
                table.matching(where)

    def places(self, found: RowSketch) -> Rows:
        """Return the places of the rows that are asked for among those that were found."""
        if self.is_for_every:
            return np.repeat(np.arange(len(found.hashes)), found.copies)
        copies = dict(zip(found.hashes.tolist(), found.copies.tolist(), strict=True))
        for place, (where, its_hash) in enumerate(zip(self.wheres, self.hashes, strict=True)):
            with self.asked.about(place):
                _refuse_but_one(where, copies.get(int(its_hash), 0))
        return np.searchsorted(found.hashes, self.hashes)


def _refuse_but_one(where: Where, count: int) -> None:
    wanted = where_text(where)
    if count == 0:
        raise RowError(f"no row has {wanted}; one is needed")
    if count > 1:
        raise RowError(f"{count:,} rows have {wanted}; one is needed: add a column to where")


def _refuse_none_or_too_many(where: Where, count: int) -> None:
    """Refuse a where that stands for no row, or for too many."""
    wanted = where_text(where)
    if count == 0:
        raise RowError(f"no row has {wanted}; at least one is needed")
    if count > MOST_ROWS:
        raise RowError(
            f"{count:,} rows have {wanted}; at most {MOST_ROWS:,} are explained at once where the "
            "table is streamed: add a column to where"
        )


def _candidates(found: Hashes, wanted: Hashes) -> Rows:
    """Find quickly what may be wanted: all whose lower bits are."""
    if len(wanted) == 1:
        return np.flatnonzero(found == wanted[0])
    mask = np.uint64((1 << _LOW_BITS) - 1)
    is_wanted = np.zeros(1 << _LOW_BITS, dtype=bool)
    is_wanted[wanted & mask] = True
    return np.flatnonzero(is_wanted[found & mask])


class UnreadTable:
    """A table of which no row was read yet, as far as wheres need it."""

    def __init__(self, fields: Iterable[Field], skipped: Iterable[SkippedColumn]) -> None:
        self.fields = {field.name: field for field in fields}
        columns = tuple(field.empty() for field in self.fields.values())
        self.table = Table(columns, 0, "", tuple(skipped))

    def hash_of(self, where: object) -> int:
        """Check a where, and return its hash."""
        known = check_where(where)
        self.table.matching({name: self._key(name, value) for name, value in known.items()})
        cells = [Cells(n, _hash_of(self.fields[n], v)) for n, v in known.items()]
        return int(salted_sums(cells, 1)[0])

    def _key(self, name: str, value: object) -> object:
        """Take the text of a whole number for one: its column may yet turn out to hold texts."""
        field = self.fields.get(name)
        is_key = field is not None and field.may_be_keys and isinstance(value, str)
        return int(str(value)) if is_key and _WHOLE.fullmatch(str(value)) else value


def _hash_of(field: Field, value: object) -> Hashes:
    if is_missing(value):
        return np.array([MISSING_HASH], dtype=np.uint64)
    if field.may_be_keys and isinstance(value, (int, np.integer, str)):
        return label_hashes([str(value)])
    column = field.empty()
    if column.is_numeric:
        return float_hashes(np.array([column.number_in(value)]))
    return label_hashes([_plain(field, str(column.label_of(value)))])


def fields_for(
    asked: RowRequest, fields: Sequence[Field], typed: Callable[[], Sequence[Field]]
) -> tuple[Field, ...]:
    """Return how columns are read that rows are looked for in.

    Numbers and dates written for people are found by what they mean, as in memory; only all rows
    show what that is, and `typed` returns it. A text that means nothing is looked for as it is.
    """
    values: dict[str, list[Any]] = {}
    for where in [*(asked.wheres or ()), *([] if asked.every is None else [asked.every])]:
        for name, value in where.items() if isinstance(where, Mapping) else ():
            values.setdefault(name, []).append(value)
    in_doubt = {f.name for f in fields if f.may_be_written and _may_mean(values.get(f.name, ()))}
    if not in_doubt:
        return tuple(fields)
    read = {field.name: field for field in typed() if field.name in in_doubt}
    return tuple(read.get(f.name, f) if _are_read(read.get(f.name), values) else f for f in fields)


def _may_mean(values: Sequence[Any]) -> bool:
    texts = [value for value in values if isinstance(value, str)]
    return len(texts) < len(values) or any(style is not None for style, _ in styles_of(texts))


def _are_read(field: Field | None, values: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether what is looked for is something that the column is read as."""
    if field is None or field.written is None:
        return False
    texts = [value for value in values[field.name] if isinstance(value, str)]
    has_others = len(texts) < len(values[field.name])
    return has_others or not np.isnan(field.written.numbers(texts)).all()


def _plain(field: Field, label: str) -> str:
    return without_trailing_zero(label) if field.are_labels_of_numbers else label


@dataclasses.dataclass(slots=True)
class LookupState:
    """What was found among some rows."""

    counts: dict[str, ColumnCounts]  # of columns that are only looked at
    found: RowSketch  # by the hash of their where; where it stands for many, by their own
    rows: int = 0
    fitting: int = 0  # rows that fit a where, or are marked
    no_marks: tuple[Value, ...] = ()  # what is none where marks are looked for: one of it, or none


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class LookupPass:
    """What rows to look for, and how the columns are read that are compared or looked at."""

    compared: tuple[Field, ...]
    beside: tuple[Field, ...]  # looked at, but not compared
    wheres: HashesByColumns
    is_for_every: bool
    most: int
    marks: str | None = None

    @classmethod
    def of(cls, fields: tuple[Field, ...], lookup: Lookup) -> LookupPass:
        """Plan by how columns are read."""
        compared = tuple(field for field in fields if field.is_compared)
        names = lookup.names
        beside = tuple(f for f in fields if f.name in names and not f.is_compared)
        most = max(len(lookup.wheres), MOST_ROWS)
        marks = lookup.asked.marks
        return cls(compared, beside, lookup.by_columns, lookup.is_for_every, most, marks)

    @property
    def fields(self) -> tuple[Field, ...]:
        """How the columns are read."""
        return (*self.compared, *self.beside)

    @property
    def columns(self) -> list[str]:
        """The columns to be read."""
        return [field.name for field in self.fields]

    def start(self) -> LookupState:
        """Return the state of no rows."""
        counts = {field.name: ColumnCounts.of(field) for field in self.beside}
        return LookupState(counts, RowSketch(self.most))

    def add(self, state: LookupState, batch: Batch) -> LookupState:
        """Take in a batch of rows."""
        rows = batch.num_rows
        if rows == 0:
            return state
        arrays = takeable(batch, self.fields)
        names = {name for group, _ in self.wheres for name in group}
        looked_at = [field for field in self.compared if field.name in names]
        cells = {field.name: cells_of(field, arrays[field.name]) for field in looked_at}
        for field in self.beside:
            cells[field.name] = state.counts[field.name].add(field, arrays[field.name])
        state.rows += rows
        for places, hashes in self._found(state, arrays, cells, rows):
            state.fitting += len(places)
            if self.is_for_every and state.fitting > MOST_ROWS:
                continue  # far too many, which will be refused: only their number counts
            table = copied(self.fields, arrays, places)
            # Rows of one where differ in columns that are compared, or not at all.
            known_by = hashes_of_rows(self.compared, table) if self.is_for_every else hashes
            state.found.add(known_by, lambda some, table=table: _taken(table, some))  # type: ignore[misc]
        return state

    def _found(
        self, state: LookupState, arrays: Mapping[str, Array], cells: Mapping[str, Cells], rows: int
    ) -> Iterator[tuple[Rows, Hashes]]:
        """Find rows of a batch that are looked for, be it by a column that marks them."""
        if self.marks is None:
            yield from matching_rows(self.wheres, cells, rows)
            return
        field = next(field for field in self.fields if field.name == self.marks)
        marked, no_marks = _marked(field, arrays[self.marks])
        state.no_marks = _first((*state.no_marks, *no_marks))
        if len(marked):
            yield marked, np.zeros(len(marked), np.uint64)

    def merge(self, state: LookupState, other: LookupState) -> LookupState:
        """Put what was found in two parts of the table together."""
        state.rows += other.rows
        state.fitting += other.fitting
        state.no_marks = _first((*state.no_marks, *other.no_marks))
        for name, counts in other.counts.items():
            state.counts[name].merge(counts)
        state.found.merge(other.found)
        return state


def with_found_rows(
    profile: Profile, plan: LookupPass, state: LookupState, lookup: Lookup
) -> Profile:
    """Return the profile with the rows that were found behind those that were drawn."""
    if not lookup.wheres:
        return profile
    beside = [typed_by_all_rows(f, state.counts[f.name], state.rows) for f in plan.beside]
    if plan.marks is not None:
        _refuse_bad_marks(plan.marks, state)
    lookup.check(UnreadTable([*profile.fields, *beside], profile.table.skipped).table)
    if lookup.is_for_every:
        _refuse_none_or_too_many(lookup.wheres[0], state.fitting)
    places = lookup.places(state.found)
    return profile.with_rows(_taken(state.found.rows(), places), beside)


def _marked(field: Field, array: Array) -> tuple[Rows, tuple[Value, ...]]:
    """Return the rows that a column marks, and one of the values that are no marks."""
    plain = Field(field.name, field.form, is_compared=False)
    if not plain.is_numeric:
        coded = plain.coded(array)
        labels: list[Value] = [*coded.labels]
        told = [is_mark(label) for label in labels]
        wrong = [label for label, mark in zip(labels, told, strict=True) if mark is None]
        return np.flatnonzero(np.array([*map(bool, told), False])[coded.codes]), _first(wrong)
    values = plain.numbers(array).values
    is_count = (values >= 0) & (np.floor(values) == values) & np.isfinite(values)
    if plain.form in TIMES:
        is_count[:] = False
    wrong_ones = values[~(is_count | np.isnan(values))]
    named = () if not len(wrong_ones) else (value_of(plain.form, float(wrong_ones.min())),)
    return np.flatnonzero(is_count & (values > 0)), named


def _first(values: Sequence[Value]) -> tuple[Value, ...]:
    """Return one of several values of a column, whatever their order; none of none."""
    return (min(values, key=lambda value: (text_of(value), str(value))),) if values else ()


def _refuse_bad_marks(name: str, state: LookupState) -> None:
    if state.no_marks:
        raise RowError(not_a_mark(name, state.no_marks[0], "some row"))
    if not state.fitting:
        raise RowError(no_mark(name))


def _taken(table: pyarrow.Table, rows: Rows) -> pyarrow.Table:
    return table.take(of_numbers(rows))


class Together:
    """Passes that read the same batches; the state is a list of theirs."""

    def __init__(self, passes: Sequence[Pass[Any]]) -> None:
        self.passes = tuple(passes)

    def start(self) -> list[Any]:
        """Return the states of no rows."""
        return [each.start() for each in self.passes]

    def add(self, states: list[Any], batch: Batch) -> list[Any]:
        """Take in a batch of rows."""
        return [each.add(state, batch) for each, state in zip(self.passes, states, strict=True)]

    def merge(self, states: list[Any], others: list[Any]) -> list[Any]:
        """Put the states of two parts of the table together."""
        return [
            each.merge(state, other)
            for each, state, other in zip(self.passes, states, others, strict=True)
        ]
