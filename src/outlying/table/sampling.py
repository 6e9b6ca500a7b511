"""Rows drawn by what they hold: the same rows whatever the order of rows and columns.

Equal rows are of one kind, known by its mark. The kinds with the least marks are kept with how
many rows each has, and rows are drawn from these: so do passes over tables that outgrow memory,
and the same rows are drawn there.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

import numpy as np

from outlying.table.columns import CategoricalColumn, Column, Rows
from outlying.table.row_hash import Marks, marks, mixed

#: Rows are drawn from this many kinds.
KINDS = 65_536
#: What labels of whole numbers may end in.
PLAIN = r"\.0$"


def plain_label(label: str) -> str:
    """Write labels of whole numbers alike.

    A table writes them by the form of the whole column, which a pass knows only at its end.
    """
    return re.sub(PLAIN, "", label)


def drawn(columns: Iterable[Column], rows: int, count: int) -> Rows:
    """Draw rows as if at random, but always the same ones; all where there are no more."""
    found = marks(map(_plain, columns), rows)
    kinds, counts = _least_kinds(found, max(KINDS, count))
    places = draw(kinds, counts, count)
    kept = np.flatnonzero(found <= kinds[-1]) if len(kinds) else np.arange(0)
    ordered = kept[np.argsort(found[kept], kind="stable")]
    starts = np.cumsum(counts) - counts
    return np.asarray(ordered[starts[places] + _times_before(places)], dtype=np.int64)


def _plain(column: Column) -> Column:
    if not isinstance(column, CategoricalColumn) or not column.are_of_numbers:
        return column
    labels = tuple(plain_label(str(label)) for label in column.labels)
    return dataclasses.replace(column, labels=labels)


def draw(kinds: Marks, counts: Rows, wanted: int) -> Rows:
    """Draw rows from kinds with ascending marks: for each row drawn, the place of its kind.

    Every so many-th row is drawn, so that each kind has its share. The order is as if random: any
    number of the first ones is a fair sample as well.
    """
    total = int(counts.sum())
    if total <= wanted:
        places = np.repeat(np.arange(len(kinds)), counts)
    else:
        places = np.searchsorted(np.cumsum(counts), _evenly(total, wanted), side="right")
    copies = _times_before(places)
    order = mixed(kinds[places] + mixed(copies.astype(np.uint64)))
    return np.asarray(places[np.lexsort((copies, kinds[places], order))], dtype=np.int64)


def without_copies(columns: Iterable[Column], rows: int, most: int) -> tuple[Rows, Rows]:
    """Return rows without copies beyond a number, and for each row its place among these."""
    found = marks(columns, rows)
    kept = np.flatnonzero(_times_before(found) < most)
    order = np.argsort(found[kept], kind="stable")
    return kept, order[np.searchsorted(found[kept], found, sorter=order)]


def _least_kinds(found: Marks, most: int) -> tuple[Marks, Rows]:
    """Return the least of the distinct marks, and how many rows have each."""
    if most < len(found):  # without copies, so many rows are enough
        some = found[found <= np.partition(found, most)[most]]
        kinds, counts = np.unique(some, return_counts=True)
        if len(kinds) >= most:
            return kinds[:most], counts[:most]
    kinds, counts = np.unique(found, return_counts=True)
    return kinds[:most], counts[:most]


def _evenly(total: int, wanted: int) -> Rows:
    """Return the middles of equal parts, rounded down: floor((2i + 1) total / (2 wanted))."""
    odd = 2 * np.arange(wanted, dtype=np.int64) + 1
    parts = max(1, 2 * wanted)
    whole, rest = divmod(total, parts)  # in two steps, as the product may be too large
    return odd * whole + odd * rest // parts


def _times_before(numbers: Marks | Rows) -> Rows:
    """Count for each number the equal ones before it."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    before = np.empty(len(numbers), dtype=np.int64)
    sizes = np.diff(np.append(begins, len(numbers)))
    before[order] = np.arange(len(numbers)) - np.repeat(begins, sizes)
    return before
