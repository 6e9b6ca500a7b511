"""Rows drawn by what they hold: the same rows whatever the order of rows and columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from outlying.table import Column, NumericColumn, Rows

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))


def drawn(columns: Iterable[Column], rows: int, count: int) -> Rows:
    """Draw rows as if at random, but always the same ones; all where there are no more.

    A row is drawn by its values, and by how many copies of it came before. Without the second,
    copies would be drawn all or none: in a table of few distinct rows, a sample would hold one.
    """
    marks = _marks(columns, rows)
    copy = _copy_numbers(marks)
    again = copy > 0
    marks[again] = _mixed(marks[again] + _mixed(copy[again].astype(np.uint64)))
    return _least(marks, count)


def without_copies(columns: Iterable[Column], rows: int, most: int) -> tuple[Rows, Rows]:
    """Give the rows without all copies beyond a number, and for each row its place among these."""
    marks = _marks(columns, rows)
    kept = np.flatnonzero(_copy_numbers(marks) < most)
    order = np.argsort(marks[kept], kind="stable")
    return kept, order[np.searchsorted(marks[kept], marks, sorter=order)]


def _copy_numbers(marks: npt.NDArray[np.uint64]) -> Rows:
    """Count for each row the equal ones before it."""
    order = np.argsort(marks, kind="stable")
    ordered = marks[order]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    copy = np.empty(len(marks), dtype=np.int64)
    copy[order] = np.arange(len(marks)) - np.repeat(begins, np.diff(np.append(begins, len(marks))))
    return copy


def _marks(columns: Iterable[Column], rows: int) -> npt.NDArray[np.uint64]:
    """Give each row a number that looks random, and depends on its values alone."""
    marks = np.zeros(rows, dtype=np.uint64)
    for place, column in enumerate(sorted(columns, key=lambda column: column.name)):
        salt = np.full(1, place + 1, dtype=np.uint64)  # or columns could change places
        marks += _mixed(_cells(column) + _mixed(salt))
    return _mixed(marks)


def _least(marks: npt.NDArray[np.uint64], count: int) -> Rows:
    """Give the rows with the least numbers, in the order of these."""
    if count < len(marks):
        first = np.argpartition(marks, count)[:count]
        return np.asarray(first[np.lexsort((first, marks[first]))], dtype=np.int64)
    return np.asarray(np.argsort(marks, kind="stable"), dtype=np.int64)


def _cells(column: Column) -> npt.NDArray[np.uint64]:
    """Give equal values equal numbers, and no value one of its own."""
    if isinstance(column, NumericColumn):
        bits = (column.values + 0.0).view(np.uint64)  # the two zeros are one
        return np.where(np.isnan(column.values), np.uint64(1), bits)
    labels = [_number(str(label)) for label in column.labels]
    return np.array([*labels, 1], dtype=np.uint64)[column.codes]


def _number(label: str) -> int:
    digest = hashlib.blake2b(label.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scatter 64-bit numbers (the finaliser of SplitMix64)."""
    mixed = numbers * _GOLDEN
    mixed = (mixed ^ (mixed >> _SHIFTS[0])) * _FACTORS[0]
    mixed = (mixed ^ (mixed >> _SHIFTS[1])) * _FACTORS[1]
    return np.asarray(mixed ^ (mixed >> _SHIFTS[2]))
