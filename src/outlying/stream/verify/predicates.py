"""Predicates on single columns, tested for a batch of rows at a time.

What a predicate says of the rows is kept as bits, 64 rows to a word.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from outlying.kernel.tally import Words
from outlying.table.columns import Codes, Floats, Mask

Label: TypeAlias = str | bool
Bytes: TypeAlias = npt.NDArray[np.uint8]

_ROWS, _PREDICATES = 16_384, 32  # that are compared at a time, so that all stays in cache
_RARE = 512  # a label that fewer rows than one in so many have is sooner looked up


@dataclasses.dataclass(frozen=True, slots=True)
class Predicate:
    """A test of one column.

    Intervals are closed, in the unit of the column; a missing value is in none. `label` is for
    "equals".
    """

    column: str
    kind: Literal["interval", "equals", "missing", "known"]
    low: float = -math.inf
    high: float = math.inf
    label: Label | None = None

    @property
    def sort_key(self) -> tuple[str, str, float, float, str]:
        """Something to sort predicates by."""
        return self.column, self.kind, self.low, self.high, repr(self.label)


#: Predicates that must all hold: a context. Without doubles, sorted.
Conjunction: TypeAlias = tuple[Predicate, ...]


def conjunction(predicates: Iterable[Predicate]) -> Conjunction:
    """Return predicates once each, in an order of their own."""
    return tuple(sorted(set(predicates), key=lambda predicate: predicate.sort_key))


@dataclasses.dataclass(frozen=True, slots=True)
class CodedLabels:
    """The cells of a column of categories in some rows: codes into labels, -1 where missing."""

    codes: Codes
    labels: Sequence[Label]

    def __len__(self) -> int:
        return len(self.codes)


Cells: TypeAlias = Floats | CodedLabels


def evaluate(predicates: Sequence[Predicate], cells: Cells, words: Words) -> None:
    """Test predicates on one column; a line of words, empty at first, takes the bits of each."""
    lines = words.view(np.uint8)
    if isinstance(cells, CodedLabels):
        _test_labels(predicates, cells, lines)
        return
    _test_intervals(predicates, cells, lines)
    for predicate, line in zip(predicates, lines, strict=True):
        if predicate.kind == "missing":
            _pack(np.isnan(cells), line)


def _test_labels(predicates: Sequence[Predicate], cells: CodedLabels, lines: Bytes) -> None:
    """Test labels: frequent ones by comparing all rows, all rare ones by one look at each row."""
    wanted: dict[Label, int] = {}
    for place, predicate in enumerate(predicates):
        if predicate.kind == "equals":
            wanted[cast(Label, predicate.label)] = place
        else:
            _pack((cells.codes >= 0) == (predicate.kind == "known"), lines[place])
    line_of = np.append(codes_of(cells.labels, wanted, -1), -1)  # what is missing has no line
    rows = np.bincount(cells.codes + 1, minlength=len(line_of))
    for code in np.flatnonzero((line_of[:-1] >= 0) & (rows[1:] * _RARE > len(cells))).tolist():
        _pack(cells.codes == code, lines[line_of[code]])
        line_of[code] = -1
    if np.any(line_of >= 0):
        found = line_of.take(cells.codes, mode="wrap")
        own = np.flatnonzero(found >= 0)
        bits = np.left_shift(1, own % 8).astype(np.uint8)
        np.bitwise_or.at(lines, (found[own], own // 8), bits)


def codes_of(
    labels: Sequence[Label], codes: Mapping[Label, int], other: int
) -> npt.NDArray[np.int64]:
    """Look up the codes of labels, many at a time; `other` is that of those without one."""
    found = map(codes.get, labels, itertools.repeat(other))
    return np.fromiter(found, dtype=np.int64, count=len(labels))


def _test_intervals(predicates: Sequence[Predicate], numbers: Floats, lines: Bytes) -> None:
    """Test all as intervals, which NaN is never in.

    Each comparison is one of many rows with many ends: of smaller ones, threads would spend more
    time on waiting for each other (the second pass over ten million rows took half as long again).
    """
    lows = np.array([[predicate.low] for predicate in predicates])
    highs = np.array([[predicate.high] for predicate in predicates])
    for start in range(0, len(numbers), _ROWS):
        block = numbers[start : start + _ROWS]
        inside = slice(start // 8, -(-(start + len(block)) // 8))
        for first in range(0, len(predicates), _PREDICATES):
            some = slice(first, first + _PREDICATES)
            masks = block <= highs[some]
            np.bitwise_and(masks, block >= lows[some], out=masks)
            lines[some, inside] = np.packbits(masks, axis=1, bitorder="little")


def _pack(mask: Mask, line: Bytes) -> None:
    bits = np.packbits(mask, bitorder="little")
    line[: len(bits)] = bits
