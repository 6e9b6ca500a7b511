"""Predicates on columns, and contexts: the rows that satisfy all predicates of a conjunction.

Batches of rows are tested; which rows satisfy something is kept as bits, 64 to a word.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.tally import Words
from outlying.table.columns import Codes, Floats, Mask

Label: TypeAlias = str | bool

#: Rows to a word.
BITS = 64


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


def codes_of(
    labels: Sequence[Label], codes: Mapping[Label, int], other: int
) -> npt.NDArray[np.int64]:
    """Look up the codes of labels, many at a time; `other` is that of those without one."""
    found = map(codes.get, labels, itertools.repeat(other))
    return np.fromiter(found, dtype=np.int64, count=len(labels))


class Contexts:
    """Conjunctions, numbered, whose rows are found batch by batch; the empty one is left out."""

    def __init__(self, conjunctions: Iterable[Conjunction]) -> None:
        wanted = dict.fromkeys(each for each in conjunctions if each)
        self.number = {each: number for number, each in enumerate(wanted)}
        self._by_column: dict[str, list[Predicate]] = {}
        for predicate in conjunction(itertools.chain.from_iterable(wanted)):
            self._by_column.setdefault(predicate.column, []).append(predicate)

    @property
    def columns(self) -> list[str]:
        """The columns that are tested."""
        return list(self._by_column)

    def rows(self, cells: Mapping[str, Cells], rows: int) -> Iterator[Words]:
        """Return the rows of each context, by its number, as bits."""
        words = {
            predicate: _packed(mask, rows)
            for column, predicates in self._by_column.items()
            for predicate, mask in _tested(predicates, cells[column])
        }
        for each in self.number:
            yield np.bitwise_and.reduce([words[predicate] for predicate in each])


def _tested(predicates: Sequence[Predicate], cells: Cells) -> Iterator[tuple[Predicate, Mask]]:
    """Test predicates on one column."""
    if isinstance(cells, CodedLabels):
        wanted = {p.label: place for place, p in enumerate(predicates) if p.label is not None}
        line_of = np.append(codes_of(cells.labels, wanted, -1), -1)  # what is missing has none
        lines = line_of.take(cells.codes, mode="wrap")
        missing = cells.codes < 0
    else:
        missing = np.isnan(cells)
    for place, own in enumerate(predicates):
        if own.kind in ("missing", "known"):
            yield own, missing if own.kind == "missing" else ~missing
        elif isinstance(cells, CodedLabels):
            yield own, lines == place
        else:
            yield own, (cells >= own.low) & (cells <= own.high)


def _packed(mask: Mask, rows: int) -> Words:
    words = np.zeros(-(-rows // BITS), dtype=np.uint64)
    bits = np.packbits(mask, bitorder="little")
    words.view(np.uint8)[: len(bits)] = bits
    return words


def row_numbers(words: Words) -> npt.NDArray[np.int64]:
    """Return the rows whose bits are set."""
    mask = np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)
    return np.flatnonzero(mask)
