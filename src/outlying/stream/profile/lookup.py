"""Rows that are looked for by what they hold, however many, in one look at each batch."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np

from outlying.errors import RowError
from outlying.sources.types.arrow import Field
from outlying.table.columns import Rows
from outlying.table.row_hash import (
    MISSING_HASH,
    Cells,
    HashedCells,
    Hashes,
    float_hashes,
    label_hashes,
    salted_sums,
)
from outlying.table.table import SkippedColumn, Table, where_text
from outlying.table.targets import Asked, Where, check_where
from outlying.table.values import is_missing, number_of, without_trailing_zero

#: One where may stand for this many rows.
MOST_ROWS = 10_000

_WHOLE = re.compile(r"-?[1-9][0-9]*|0")
_LOW_BITS = 16


#: By the names of columns: the numbers of the wheres that name these.
Groups: TypeAlias = tuple[tuple[tuple[str, ...], Hashes], ...]


def hits(groups: Groups, cells: Mapping[str, Cells], rows: int) -> Iterator[tuple[Rows, Hashes]]:
    """Find rows of a batch that are looked for, with the numbers of the wheres they fit."""
    for names, wanted in groups:
        found = salted_sums([cells[name] for name in names], rows)
        places = _near(found, wanted)
        places = places[np.isin(found[places], wanted)]
        if len(places):
            yield places, found[places]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Sought:
    """What rows to look for: one for each of several wheres, or every one that fits.

    A where has a number, as a row has a mark: that of the columns it names.
    """

    asked: Asked
    wheres: tuple[Where, ...]
    numbers: Hashes
    groups: Groups

    @classmethod
    def of(cls, asked: Asked, columns: Columns) -> Sought:
        """Check what is looked for."""
        wheres = list(asked.wheres or ()) if asked.every is None else [asked.every]
        numbers = []
        for place, one in enumerate(wheres):
            with asked.about(place):
                numbers.append(columns.number(one))
        groups: dict[tuple[str, ...], list[int]] = {}
        for one, number in zip(wheres, numbers, strict=True):
            groups.setdefault(tuple(sorted(one)), []).append(number)
        numbered = [(names, np.unique(np.array(of, np.uint64))) for names, of in groups.items()]
        return cls(asked, tuple(wheres), np.array(numbers, np.uint64), tuple(numbered))

    @property
    def is_for_every(self) -> bool:
        """Whether one where stands for all rows that fit."""
        return self.asked.every is not None

    @property
    def names(self) -> set[str]:
        """The columns that are looked at."""
        return {name for names, _ in self.groups for name in names}

    def check(self, columns: Columns) -> None:
        """Check once more, when what the columns hold is known from all rows."""
        for place, where in enumerate(self.wheres):
            with self.asked.about(place):
                columns.table.matching(where)

    def places(self, marks: Hashes, counts: Rows) -> Rows:
        """Return the place of the only row that each where names."""
        count_of = dict(zip(marks.tolist(), counts.tolist(), strict=True))
        for place, (where, number) in enumerate(zip(self.wheres, self.numbers, strict=True)):
            with self.asked.about(place):
                _refuse_but_one(where, count_of.get(int(number), 0))
        return np.searchsorted(marks, self.numbers)


def _refuse_but_one(where: Where, count: int) -> None:
    wanted = where_text(where)
    if count == 0:
        raise RowError(f"no row has {wanted}; one is needed")
    if count > 1:
        raise RowError(f"{count:,} rows have {wanted}; one is needed: add a column to where")


def refuse_number(where: Where, count: int) -> None:
    """Refuse a where that is to stand for several rows, but for none or too many."""
    wanted = where_text(where)
    if count == 0:
        raise RowError(f"no row has {wanted}; at least one is needed")
    if count > MOST_ROWS:
        raise RowError(
            f"{count:,} rows have {wanted}; at most {MOST_ROWS:,} are explained at once where the "
            "table is streamed: add a column to where"
        )


def _near(found: Hashes, wanted: Hashes) -> Rows:
    """Find quickly what may be wanted: all whose lower bits are."""
    if len(wanted) == 1:
        return np.flatnonzero(found == wanted[0])
    mask = np.uint64((1 << _LOW_BITS) - 1)
    is_wanted = np.zeros(1 << _LOW_BITS, dtype=bool)
    is_wanted[wanted & mask] = True
    return np.flatnonzero(is_wanted[found & mask])


class Columns:
    """The columns of a table of which no row was read yet, as far as wheres need them."""

    def __init__(self, fields: Iterable[Field], skipped: Iterable[SkippedColumn]) -> None:
        self.fields = {field.name: field for field in fields}
        columns = tuple(field.empty() for field in self.fields.values())
        self.table = Table(columns, 0, "", tuple(skipped))

    def number(self, where: object) -> int:
        """Check a where, and give its number."""
        known = check_where(where)
        self.table.matching({name: self._key(name, value) for name, value in known.items()})
        cells = [HashedCells(n, _number_of(self.fields[n], v)) for n, v in known.items()]
        return int(salted_sums(cells, 1)[0])

    def _key(self, name: str, value: object) -> object:
        """Take the text of a whole number for one: its column may yet turn out to hold texts."""
        field = self.fields.get(name)
        is_key = field is not None and field.may_be_keys and isinstance(value, str)
        return int(str(value)) if is_key and _WHOLE.fullmatch(str(value)) else value


def _number_of(field: Field, value: object) -> Hashes:
    if is_missing(value):
        return np.array([MISSING_HASH], dtype=np.uint64)
    if field.may_be_keys and isinstance(value, (int, np.integer, str)):
        return label_hashes([str(value)])
    if field.is_numeric:
        return float_hashes(np.array([number_of(field.read_as, value)]))
    column = field.empty()
    label = "" if column.is_numeric else column.label_of(value)
    return label_hashes([_plain(field, str(label))])


def _plain(field: Field, label: str) -> str:
    return without_trailing_zero(label) if are_labels_of_numbers(field) else label


def are_labels_of_numbers(field: Field) -> bool:
    """Return whether a column holds numbers that were declared to be categories."""
    return field.wanted == "categorical" and field.form in ("number", "integer")
