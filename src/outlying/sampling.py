"""Rows drawn by what they hold: the same rows whatever the order of rows and columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from outlying.population import Attribute, NumericAttribute, Rows

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))


def drawn(attributes: Iterable[Attribute], rows: int, count: int) -> Rows:
    """Draw rows as if at random, but always the same ones; all where there are no more."""
    marks = np.zeros(rows, dtype=np.uint64)
    for attribute in attributes:
        marks += _mixed(_codes(attribute).astype(np.uint64) + np.uint64(1))
    order = np.argsort(_mixed(marks), kind="stable")
    return np.asarray(order[:count], dtype=np.int64)


def _codes(attribute: Attribute) -> npt.NDArray[np.int64]:
    """Give each distinct value of a column a number, in their order; -1 where missing."""
    if not isinstance(attribute, NumericAttribute):
        return attribute.codes.astype(np.int64)
    codes = np.full(len(attribute.column), -1, dtype=np.int64)
    codes[attribute.order] = np.cumsum(np.diff(attribute.sorted, prepend=-np.inf) > 0)
    return codes


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scatter 64-bit numbers (the finaliser of SplitMix64)."""
    mixed = numbers * _GOLDEN
    mixed = (mixed ^ (mixed >> _SHIFTS[0])) * _FACTORS[0]
    mixed = (mixed ^ (mixed >> _SHIFTS[1])) * _FACTORS[1]
    return np.asarray(mixed ^ (mixed >> _SHIFTS[2]))
