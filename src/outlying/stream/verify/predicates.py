"""Predicates on single columns, tested for a batch of rows at a time.

What a predicate says of the rows is kept as bits, 64 rows to a word.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.search.screen.bitsets import Words
from outlying.table.columns import Codes, Floats, Mask

_BLOCK = 65_536  # rows at a time: their numbers stay in cache, which halves the time


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
    label: str | bool | None = None

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
    labels: Sequence[str | bool]

    def __len__(self) -> int:
        return len(self.codes)


Cells: TypeAlias = Floats | CodedLabels


def evaluate(predicates: Sequence[Predicate], cells: Cells, words: Words) -> None:
    """Test predicates on one column; a line of words, empty at first, takes the bits of each."""
    lines = words.view(np.uint8)
    if isinstance(cells, CodedLabels):
        for predicate, line in zip(predicates, lines, strict=True):
            _pack(_label_mask(cells, predicate), line)
        return
    for start in range(0, len(cells), _BLOCK):
        block = cells[start : start + _BLOCK]
        for predicate, line in zip(predicates, lines, strict=True):
            _pack(_number_mask(block, predicate), line[start // 8 :])


def _pack(mask: Mask, line: npt.NDArray[np.uint8]) -> None:
    bits = np.packbits(mask, bitorder="little")
    line[: len(bits)] = bits


def _number_mask(numbers: Floats, predicate: Predicate) -> Mask:
    if predicate.kind == "missing":
        return np.isnan(numbers)
    mask = np.asarray(numbers <= predicate.high)  # never true of NaN
    if predicate.low > -math.inf:
        np.bitwise_and(mask, numbers >= predicate.low, out=mask)
    return mask


def _label_mask(cells: CodedLabels, predicate: Predicate) -> Mask:
    if predicate.kind == "known":
        return np.asarray(cells.codes >= 0)
    if predicate.kind == "missing":
        return np.asarray(cells.codes < 0)
    known = [code for code, label in enumerate(cells.labels) if label == predicate.label]
    return np.asarray(cells.codes == (known[0] if known else len(cells.labels)))
