"""Samples drawn by row hashes: the same rows whatever the order of rows and columns.

The distinct rows with the least hashes (a bottom-k sketch, also known as k minimum values) are a
uniform sample of all distinct rows. Each is kept with the number of its copies, and rows are drawn
from these by systematic sampling. A pass over a table that outgrows memory keeps the same sketch,
and draws the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from outlying.table.columns import Column, Rows
from outlying.table.row_hash import (
    MISSING_HASH,
    Hashes,
    label_hashes,
    salted_sums,
    splitmix64,
)

#: How many distinct rows the sketch keeps.
SKETCH_SIZE = 65_536


def row_hashes(columns: Iterable[Column], rows: int) -> Hashes:
    """Return the hash of each row of a table in memory."""
    return splitmix64(salted_sums((column.cells() for column in columns), rows))


def sample_rows(
    columns: Iterable[Column], rows: int, count: int, sketch_size: int = SKETCH_SIZE
) -> Rows:
    """Draw rows as if at random, but always the same ones; all where there are no more."""
    hashes = row_hashes((c if c.is_numeric else c.with_plain_labels() for c in columns), rows)
    least, counts = _bottom_k(hashes, max(sketch_size, count))
    places = systematic_sample(least, counts, count)
    kept = np.flatnonzero(hashes <= least[-1]) if len(least) else np.arange(0)
    ordered = kept[np.argsort(hashes[kept], kind="stable")]
    starts = np.cumsum(counts) - counts
    return np.asarray(ordered[starts[places] + _occurrences_before(places)], dtype=np.int64)


def shuffle_by_ranks(columns: Iterable[Column], rows: Rows) -> Rows:
    """Return rows in an order as if at random that no name, unit or way of storing values changes.

    Numbers count by their ranks among the rows, categories by their labels.
    """
    total = np.zeros(len(rows), dtype=np.uint64)
    for column in columns:
        if column.is_numeric:
            _, ranks = np.unique(column.values[rows], return_inverse=True)
            total += splitmix64(ranks.astype(np.uint64))
        else:
            labels = label_hashes(column.with_plain_labels().labels)
            total += splitmix64(np.append(labels, MISSING_HASH))[column.codes[rows]]
    return np.asarray(rows[np.argsort(splitmix64(total), kind="stable")], dtype=np.int64)


def systematic_sample(hashes: Hashes, counts: Rows, wanted: int) -> Rows:
    """Draw from distinct rows, given by ascending hashes and their numbers of copies.

    Return the place of each row drawn among the distinct ones. Rows are taken at equal steps
    through all copies, so that each distinct row has its share, and shuffled by their hashes: any
    number of the first ones is a fair sample as well.
    """
    total = int(counts.sum())
    if total <= wanted:
        places = np.repeat(np.arange(len(hashes)), counts)
    else:
        places = np.searchsorted(np.cumsum(counts), _midpoints(total, wanted), side="right")
    copies = _occurrences_before(places)
    order = splitmix64(hashes[places] + splitmix64(copies.astype(np.uint64)))
    return np.asarray(places[np.lexsort((copies, hashes[places], order))], dtype=np.int64)


def limit_copies(columns: Iterable[Column], rows: int, most: int) -> tuple[Rows, Rows]:
    """Return rows without copies beyond a number, and for each row its place among these."""
    hashes = row_hashes(columns, rows)
    kept = np.flatnonzero(_occurrences_before(hashes) < most)
    order = np.argsort(hashes[kept], kind="stable")
    return kept, order[np.searchsorted(hashes[kept], hashes, sorter=order)]


def _bottom_k(hashes: Hashes, k: int) -> tuple[Hashes, Rows]:
    """Return the k least of the distinct hashes, and how many rows have each."""
    if k < len(hashes):  # without copies, so many rows are enough
        some = hashes[hashes <= np.partition(hashes, k)[k]]
        least, counts = np.unique(some, return_counts=True)
        if len(least) >= k:
            return least[:k], counts[:k]
    least, counts = np.unique(hashes, return_counts=True)
    return least[:k], counts[:k]


def _midpoints(total: int, parts: int) -> Rows:
    """Return the middles of equal parts, rounded down: floor((2i + 1) total / (2 parts))."""
    odd = 2 * np.arange(parts, dtype=np.int64) + 1
    halves = max(1, 2 * parts)
    whole, rest = divmod(total, halves)  # in two steps, as the product may be too large
    return odd * whole + odd * rest // halves


def _occurrences_before(numbers: Hashes | Rows) -> Rows:
    """Return for each number how many equal ones come before it."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    before = np.empty(len(numbers), dtype=np.int64)
    sizes = np.diff(np.append(begins, len(numbers)))
    before[order] = np.arange(len(numbers)) - np.repeat(begins, sizes)
    return before
