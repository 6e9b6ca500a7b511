"""Whether values that occur twice do so by chance: amounts and remarks do, keys do not."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from outlying.derived.shape import patterns
from outlying.table.arrays import Counts, Floats

#: Numbers drawn at random would give so many equal pairs, or more, where they are in fact keys; or
#: so few that even one pair is no chance.
_MANY_PAIRS = 10.0
_NO_PAIRS = 0.02
#: The density of numbers is that of so many parts of equally many rows, or parts of so many rows.
_PARTS = 10
_LEAST_ROWS = 4
#: Codes are texts of which this share is made like codes.
_NEARLY_ALL = 0.9

_NUMBER = re.compile(r"(?=.{1,48}$)[0-9]+(?:[-./ ][0-9]+)*")
_CODE = re.compile(r"(?=.*[0-9@])\S+")


def are_keys(values: Floats, counts: Counts) -> bool:
    """Return whether equal numbers would be no chance, of distinct numbers in order.

    Amounts and counts have about as many equal pairs as chance gives; keys have fewer, as they are
    given once.
    """
    pairs = _pairs_by_chance(values, counts)
    return pairs >= _MANY_PAIRS or 0 < pairs <= _NO_PAIRS


def _pairs_by_chance(values: Floats, counts: Counts) -> float:
    """Return how many pairs of numbers that are drawn at random would be equal.

    Of n numbers from a range, n^2 / 2 range (the birthday problem). One wild value stretches a
    range, and few numbers are spread evenly; so it is that of each of several parts.
    """
    rows = int(counts.sum())
    if rows < 2:
        return 0.0
    parts = max(1, min(_PARTS, rows // _LEAST_ROWS))
    ranks = np.arange(parts) * rows // parts
    starts = values[np.searchsorted(np.cumsum(counts), ranks, side="right")]
    widths = np.maximum(np.diff(np.append(starts, values[-1] + 1)), 1.0)
    shares = np.diff(np.append(ranks, rows)) / rows
    return float(rows * (rows - 1) / 2 * (shares**2 / widths).sum())


def are_key_texts(counts: Mapping[str, int]) -> bool:
    """Return whether equal texts would be no chance: those of codes, not those of free text."""
    if all(map(_NUMBER.fullmatch, counts)):
        numbers = np.array([float(re.sub("[^0-9]", "", text)) for text in counts])
        values, places = np.unique(numbers, return_inverse=True)
        rows = np.bincount(places, weights=list(counts.values())).astype(np.int64)
        return are_keys(values, rows)
    enough = _NEARLY_ALL * len(counts)
    if sum(map(bool, map(_CODE.fullmatch, counts))) >= enough:
        return True
    shapes, times = np.unique(patterns(list(counts), are_collapsed=True), return_counts=True)
    usual = str(shapes[np.argmax(times)])
    return bool(times.max() >= enough) and "9" in usual and "a" not in usual
