"""What else is asked of all rows: some by their values, and columns that say nothing."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from outlying.derived.relations import Held
from outlying.derived.rules import OfOwnKind
from outlying.errors import RowError
from outlying.method.density import Counts
from outlying.parsing.reading import styles_of
from outlying.sources.arrow_arrays import Array
from outlying.sources.columns import Field
from outlying.sources.passes import Batch
from outlying.stream.counting import (
    ColumnCounts,
    Sketch,
    cells_of,
    hashes_of_rows,
    taken,
    typed_by_all_rows,
)
from outlying.stream.profile import Profile, ProfileState, copied, takeable
from outlying.table.columns import Column, Rows
from outlying.table.row_hash import (
    MISSING_HASH,
    HashedCells,
    Hashes,
    float_hashes,
    label_hashes,
    salted_sums,
)
from outlying.table.selection import Copy, are_codes, copies_in, may_count_rows, row_numbers
from outlying.table.table import SkippedColumn, Table, where_text
from outlying.table.targets import RowRequest, Where, check_where, marks_in, no_mark, not_a_mark
from outlying.table.values import Value, is_missing, text_of, without_trailing_zero

#: One where may stand for this many rows.
MOST_ROWS = 10_000

_WHOLE = re.compile(r"-?[1-9][0-9]*|0")

# --- rows that are asked for ---------------------------------------------------------------------


@dataclasses.dataclass(slots=True)
class LookupState(ProfileState):
    """What was found among some rows, by hashes of wheres or their own; counts of others."""

    fitting: int = 0  # rows that fit a where, or are marked
    no_marks: tuple[Value, ...] = ()  # what is none where marks are looked for: one of it, or none


@dataclasses.dataclass(frozen=True, eq=False)
class Lookup:
    """A pass for rows that are asked for: one for each of several wheres, or all that fit."""

    asked: RowRequest
    wheres: tuple[Where, ...]
    hashes: Hashes  # of the wheres
    compared: tuple[Field, ...]
    beside: tuple[Field, ...]  # columns that are looked at, but not compared

    @classmethod
    def of(
        cls, asked: RowRequest, fields: Sequence[Field], unusable: Sequence[SkippedColumn]
    ) -> Lookup:
        """Check what is looked for, before any row is read."""
        table = _unread(fields, unusable)
        by_name = {field.name: field for field in fields}
        wheres: list[Where] = list(asked.wheres or ()) if asked.every is None else [asked.every]
        hashes = []
        for place, one in enumerate(wheres):
            with asked.about(place):
                hashes.append(_hash_of(check_where(one), by_name, table))
        if asked.marks is not None:
            table.column(asked.marks)
            wheres = [{asked.marks: True}]
        names = {name for one in wheres for name in one}
        compared = tuple(field for field in fields if field.is_compared)
        beside = (field for field in fields if field.name in names and not field.is_compared)
        return cls(asked, tuple(wheres), np.array(hashes, np.uint64), compared, tuple(beside))

    @property
    def is_for_every(self) -> bool:
        """Whether one where, or a mark, stands for all rows that fit."""
        return self.asked.every is not None or self.asked.marks is not None

    @functools.cached_property
    def groups(self) -> dict[tuple[str, ...], Hashes]:
        """The hashes of wheres in ascending order, by the columns that they name."""
        found: dict[tuple[str, ...], list[np.uint64]] = {}
        for where, own in zip(self.wheres, self.hashes, strict=False):  # marks have no hash
            found.setdefault(tuple(sorted(where)), []).append(own)
        return {names: np.unique(np.array(own)) for names, own in found.items()}

    @property
    def fields(self) -> tuple[Field, ...]:
        """How the columns are read."""
        return (*self.compared, *self.beside)

    def start(self) -> LookupState:
        """Return the state of no rows."""
        counts = {field.name: ColumnCounts.of(field) for field in self.beside}
        return LookupState(counts, Sketch(max(len(self.wheres), MOST_ROWS)))

    def add(self, state: LookupState, batch: Batch) -> LookupState:
        """Take in a batch of rows."""
        if batch.num_rows == 0:
            return state
        arrays = takeable(batch, self.fields)
        state.rows += batch.num_rows
        for places, hashes in self._found(state, arrays, batch.num_rows):
            state.fitting += len(places)
            if self.is_for_every and state.fitting > MOST_ROWS:
                continue  # far too many, which will be refused: only their number counts
            table = copied(self.fields, arrays, places)
            # Rows of one where differ in columns that are compared, or not at all.
            known_by = hashes_of_rows(self.compared, table) if self.is_for_every else hashes
            state.sketch.add(known_by, lambda some, table=table: taken(table, some))  # type: ignore[misc]
        return state

    def _found(
        self, state: LookupState, arrays: Mapping[str, Array], rows: int
    ) -> Iterator[tuple[Rows, Hashes]]:
        """Return rows of a batch that are looked for, with the hashes of the wheres they fit."""
        names = {name for group in self.groups for name in group}
        cells = {f.name: cells_of(f, arrays[f.name]) for f in self.compared if f.name in names}
        for field in self.beside:
            cells[field.name] = state.counts[field.name].add(field, arrays[field.name])
        for group, wanted in self.groups.items():
            found = salted_sums([cells[name] for name in group], rows)
            near = np.minimum(np.searchsorted(wanted, found), len(wanted) - 1)
            places = np.flatnonzero(wanted[near] == found)
            if len(places):
                yield places, found[places]
        if self.asked.marks is not None:
            field = next(field for field in self.fields if field.name == self.asked.marks)
            marked, no_marks = _marked(field, arrays[field.name])
            state.no_marks = _first((*state.no_marks, *no_marks))
            if len(marked):
                yield marked, np.zeros(len(marked), np.uint64)

    def merge(self, state: LookupState, other: LookupState) -> LookupState:
        """Put what was found in two parts of the table together."""
        state.merge(other)
        state.fitting += other.fitting
        state.no_marks = _first((*state.no_marks, *other.no_marks))
        return state

    def finish(self, state: LookupState, profile: Profile) -> Profile:
        """Return the profile with the rows that were found behind those that were drawn."""
        if not self.wheres:
            return profile
        beside = [typed_by_all_rows(f, state.counts[f.name], state.rows) for f in self.beside]
        marks = self.asked.marks
        if marks is None:  # check once more, by what all rows show columns to hold
            table = _unread([*profile.fields, *beside], profile.table.skipped)
            for place, where in enumerate(self.wheres):
                with self.asked.about(place):
                    table.matching(where)
        elif state.no_marks:
            raise RowError(not_a_mark(marks, state.no_marks[0], "some row"))
        elif not state.fitting:
            raise RowError(no_mark(marks))
        places = self._every(state) if self.is_for_every else self._one_each(state.sketch)
        return profile.with_rows(taken(state.sketch.rows, places), beside)

    def _every(self, state: LookupState) -> Rows:
        """Return the places of all rows that fit, among the distinct ones that were found."""
        wanted = where_text(self.wheres[0])
        if state.fitting == 0:
            raise RowError(f"no row has {wanted}; check the value")
        if state.fitting > MOST_ROWS:
            raise RowError(
                f"{state.fitting:,} rows have {wanted}; at most {MOST_ROWS:,} are explained at "
                "once where the table is streamed: add a column to where"
            )
        return np.repeat(np.arange(len(state.sketch.hashes)), state.sketch.copies)

    def _one_each(self, found: Sketch) -> Rows:
        """Return the place of the only row of each where among those that were found."""
        copies = dict(zip(found.hashes.tolist(), found.copies.tolist(), strict=True))
        for place, (where, its_hash) in enumerate(zip(self.wheres, self.hashes, strict=True)):
            wanted, count = where_text(where), copies.get(int(its_hash), 0)
            with self.asked.about(place):
                if count == 0:
                    raise RowError(f"no row has {wanted}; check the value")
                if count > 1:
                    raise RowError(f"{count:,} rows have {wanted}; add a column to where")
        return np.searchsorted(found.hashes, self.hashes)


def _unread(fields: Sequence[Field], unusable: Sequence[SkippedColumn]) -> Table:
    return Table(tuple(field.empty() for field in fields), 0, "", tuple(unusable))


def _hash_of(where: Where, fields: Mapping[str, Field], table: Table) -> int:
    known = dict(where)
    for name, value in where.items():  # a column of whole numbers may yet turn out to hold texts
        may_be_key = name in fields and fields[name].may_be_keys and isinstance(value, str)
        if may_be_key and _WHOLE.fullmatch(value):
            known[name] = int(value)
    table.matching(known)
    cells = [HashedCells(name, _hash_of_cell(fields[name], value)) for name, value in where.items()]
    return int(salted_sums(cells, 1)[0])


def _hash_of_cell(field: Field, value: object) -> Hashes:
    if is_missing(value):
        return np.array([MISSING_HASH], dtype=np.uint64)
    if field.may_be_keys and isinstance(value, (int, np.integer, str)):
        return label_hashes([str(value)])
    column = field.empty()
    if column.is_numeric:
        return float_hashes(np.array([column.number_in(value)]))
    label = str(column.label_of(value))
    return label_hashes([without_trailing_zero(label) if field.are_labels_of_numbers else label])


def fields_for(
    asked: RowRequest, fields: Sequence[Field], typed: Callable[[], Sequence[Field]]
) -> tuple[Field, ...]:
    """Return how columns are read that rows are looked for in.

    Numbers and dates written for people are found by what they mean, as in memory; only all rows
    show what that is, and `typed` returns it.
    """
    values: dict[str, list[Any]] = {}
    for where in [*(asked.wheres or ()), *([] if asked.every is None else [asked.every])]:
        for name, value in where.items() if isinstance(where, Mapping) else ():
            values.setdefault(name, []).append(value)
    in_doubt = {f.name for f in fields if f.may_be_written and _may_mean(values.get(f.name, ()))}
    if not in_doubt:
        return tuple(fields)
    read = {f.name: f for f in typed() if f.name in in_doubt and _are_read(f, values[f.name])}
    return tuple(read.get(field.name, field) for field in fields)


def _may_mean(values: Sequence[Any]) -> bool:
    texts = [value for value in values if isinstance(value, str)]
    return len(texts) < len(values) or any(style is not None for style, _ in styles_of(texts))


def _are_read(field: Field, values: Sequence[Any]) -> bool:
    """Return whether what is looked for is something that the column is read as."""
    texts = [value for value in values if isinstance(value, str)]
    if field.written is None:
        return False
    return len(texts) < len(values) or not np.isnan(field.written.numbers(texts)).all()


def _marked(field: Field, array: Array) -> tuple[Rows, tuple[Value, ...]]:
    """Return the rows that a column marks, and one of the values that are no marks."""
    column = Field(field.name, field.form, is_compared=False).column(array)
    rows, wrong = marks_in(column)
    return rows, _first([column.value(row) for row in wrong])


def _first(values: Sequence[Value]) -> tuple[Value, ...]:
    """Return one of several values of a column, whatever their order; none of none."""
    return (min(values, key=lambda value: (text_of(value), str(value))),) if values else ()


class Together:
    """Passes that read the same batches; the state is a list of theirs."""

    def __init__(self, passes: Sequence[Any]) -> None:
        self.passes = tuple(passes)
        self.fields = [field for each in passes for field in each.fields]

    def start(self) -> list[Any]:
        """Return the states of no rows."""
        return [each.start() for each in self.passes]

    def add(self, states: list[Any], batch: Batch) -> list[Any]:
        """Take in a batch of rows."""
        return [each.add(state, batch) for each, state in zip(self.passes, states, strict=True)]

    def merge(self, states: list[Any], others: list[Any]) -> list[Any]:
        """Put the states of two parts of the table together."""
        pairs = zip(states, others, strict=True)
        return [each.merge(*own) for each, own in zip(self.passes, pairs, strict=True)]


# --- columns that say nothing, as the rows drawn suggest -----------------------------------------


#: For each copy the categories beside those of the original, if it renames these; None: it is none.
EvidenceState: TypeAlias = dict[str, set[tuple[Value, Value]] | None]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class EvidencePass:
    """Which columns say nothing beside others, as the rows drawn suggest and all rows decide."""

    fields: tuple[Field, ...]
    copies: tuple[Copy, ...]
    counting: tuple[str, ...]  # columns that hold the numbers of the rows

    @classmethod
    def of(cls, profile: Profile) -> EvidencePass:
        """Plan by what the rows that were drawn suggest."""
        declared, used = profile.options.declared, profile.used
        counting = tuple(
            own.name for own in used if own.name not in declared and _counts_rows(own, profile)
        )
        if len(counting) == len(used):
            counting = ()  # what else is there?
        drawn = [own.first(profile.drawn) for own in used if own.name not in counting]
        suggested = copies_in(drawn, are_drawn=True)
        copies = tuple(copy for copy in suggested if copy.name not in declared)
        names = {name for copy in copies for name in (copy.name, copy.original)}
        fields = tuple(field for field in profile.fields if field.name in names)
        return cls(fields, copies, counting)

    def start(self) -> EvidenceState:
        """Return the state of no rows."""
        return {copy.name: set() for copy in self.copies}

    def add(self, state: EvidenceState, batch: Batch) -> EvidenceState:
        """Take in a batch of rows."""
        columns = {field.name: field.column(batch.column(field.name)) for field in self.fields}
        for copy in self.copies:
            column, original, pairs = columns[copy.name], columns[copy.original], state[copy.name]
            is_renamed = not copy.is_same and not copy.tolerance
            if pairs is not None and is_renamed:
                pairs |= _pairs(column, original)
                is_right = bool((column.missing() == original.missing()).all())
            else:
                is_right = pairs is not None and copy.holds(column, original)
            if not is_right:
                state[copy.name] = None
        return state

    def merge(self, state: EvidenceState, other: EvidenceState) -> EvidenceState:
        """Put what was seen of two parts of the table together."""
        for name, pairs in other.items():
            own = state[name]
            state[name] = None if own is None or pairs is None else own | pairs
        return state

    def finish(self, state: EvidenceState, profile: Profile) -> Profile:
        """Return the profile without the columns that are no evidence."""
        copies = [copy for copy in self.copies if _holds(copy, state[copy.name])]
        left_out = (*map(row_numbers, self.counting), *(copy.skipped() for copy in copies))
        names = {item.name for item in left_out}
        return dataclasses.replace(
            profile,
            skipped=(*profile.skipped, *left_out),
            copies=(*profile.copies, *copies),
            derivations=tuple(item for item in profile.derivations if item.parent not in names),
        )


def _holds(copy: Copy, pairs: set[tuple[Value, Value]] | None) -> bool:
    """Return whether a copy is one in all rows: each category stands beside one other."""
    if pairs is None or not len(pairs) == len(dict(pairs)) == len({other for _, other in pairs}):
        return False
    ordered = sorted((str(text), cast(int, number)) for number, text in pairs)
    return not copy.is_code or are_codes({text: float(number) for text, number in ordered})


def _counts_rows(column: Column, profile: Profile) -> bool:
    facts = profile.facts[column.name]
    low, high = float(facts.low), float(facts.high)
    return facts.counts_rows and may_count_rows(column, profile.rows, low, high)


def _pairs(column: Column, original: Column) -> set[tuple[Value, Value]]:
    """Return which categories stand beside which."""
    first: Sequence[int] = np.unique(
        np.stack([column.content()[1], original.content()[1]]), axis=1, return_index=True
    )[1].tolist()
    return {(column.value(row), original.value(row)) for row in first if not column.is_missing(row)}


@dataclasses.dataclass(frozen=True, slots=True)
class CountPass:
    """How often relations hold, counted in all rows, where these are too many to be held."""

    fields: tuple[Field, ...]
    relations: tuple[Held, ...]

    @classmethod
    def of(cls, profile: Profile) -> CountPass:
        """Plan by the relations that were found."""
        relations = tuple(item for item in profile.derivations if isinstance(item, Held))
        names = {name for item in relations for name in item.used}
        return cls(tuple(field for field in profile.fields if field.name in names), relations)

    def start(self) -> Counts:
        """Return the counts of no rows."""
        return np.zeros((len(self.relations), 2), dtype=np.int64)

    def add(self, state: Counts, batch: Batch) -> Counts:
        """Take in a batch of rows."""
        columns = {field.name: field.column(batch.column(field.name)) for field in self.fields}
        return np.asarray(state + [item.counts(columns) for item in self.relations])

    def merge(self, state: Counts, other: Counts) -> Counts:
        """Add up the counts of two parts of the table."""
        return state + other

    def finish(self, state: Counts, profile: Profile) -> Profile:
        """Return the profile with relations as all rows show them; things keep the rows drawn."""
        counts = iter(state.tolist())
        found = []
        for item in profile.derivations:
            if isinstance(item, Held):
                item = item.counted(*next(counts))
            elif isinstance(item, OfOwnKind):
                item = dataclasses.replace(item, is_of_drawn=True)
            found.append(item)
        return dataclasses.replace(profile, derivations=tuple(found))
