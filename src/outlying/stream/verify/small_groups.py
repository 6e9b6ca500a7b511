"""Small groups: the rows of single labels, kept cell by cell instead of being counted.

One of 50,000 accounts has a few hundred of ten million rows. Bins for them would take as much
memory as those for all rows; their cells take little, and leave nothing open.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.method.density import Floats
from outlying.stream.verify.histograms import Answer, LabelHistogram, MissingCount, NumberHistogram
from outlying.stream.verify.plan import Query
from outlying.stream.verify.predicates import Cells, CodedLabels, Label
from outlying.table.columns import Mask

#: Cells of some rows: numbers, NaN where missing, or labels, None where missing.
Kept: TypeAlias = npt.NDArray[Any]


@dataclasses.dataclass(slots=True, eq=False)
class KeptRows:
    """Rows of small groups, in pieces: the group of each, and its cells by column."""

    groups: list[npt.NDArray[np.int32]] = dataclasses.field(default_factory=list)
    cells: list[dict[str, Kept]] = dataclasses.field(default_factory=list)

    def add(self, other: KeptRows) -> None:
        """Take in other rows."""
        self.groups += other.groups
        self.cells += other.cells


class SmallGroups:
    """Queries about groups of one column: rows that have a label, or, for None, no value."""

    def __init__(self, name: str, queries: Sequence[Query]) -> None:
        self.name, self.queries = name, queries
        self.columns = sorted({query.column for query in queries})
        labels = dict.fromkeys(query.context[0].label for query in queries)
        self._groups = {label: group for group, label in enumerate(labels)}

    def keep(self, kept: KeptRows, cells: Mapping[str, Cells]) -> None:
        """Keep what the queries need of a batch."""
        found = self._found(cells[self.name])
        rows = np.flatnonzero(found >= 0)
        if len(rows):
            kept.groups.append(found[rows])
            kept.cells.append({name: _taken(cells[name], rows) for name in self.columns})

    def _found(self, cells: Cells) -> npt.NDArray[np.int32]:
        """Return the group of each row, -1 where it is in none."""
        missing = self._groups.get(None, -1)
        if not isinstance(cells, CodedLabels):
            return np.where(np.isnan(cells), np.int32(missing), np.int32(-1))
        groups = [self._groups.get(label, -1) for label in cells.labels]
        return np.array([*groups, missing], dtype=np.int32).take(cells.codes, mode="wrap")

    def results(self, kept: KeptRows, exponents: Mapping[str, int]) -> Iterator[Answer]:
        """Return the answer to each query; numbers are divided by two to the power of these."""
        groups = np.concatenate([*kept.groups, np.empty(0, dtype=np.int32)])
        order = np.argsort(groups, kind="stable")
        ends = np.searchsorted(groups[order], np.arange(len(self._groups) + 1))
        columns = {name: _joined(kept, name)[order] for name in self.columns}
        for query in self.queries:
            group = self._groups[query.context[0].label]
            cells = columns[query.column][ends[group] : ends[group + 1]]
            yield _answer(query, cells, exponents[query.column])


def _taken(cells: Cells, rows: npt.NDArray[np.int64]) -> Kept:
    """Return the cells of some rows."""
    if not isinstance(cells, CodedLabels):
        return cells[rows]
    taken = np.empty(len(rows), dtype=object)
    taken[:] = [None if code < 0 else cells.labels[code] for code in cells.codes[rows].tolist()]
    return taken


def _joined(kept: KeptRows, name: str) -> Kept:
    return np.concatenate([piece[name] for piece in kept.cells]) if kept.cells else np.empty(0)


def _answer(query: Query, cells: Kept, exponent: int) -> Answer:
    known = cells[_are_known(cells)]
    if query.kind == "missing":
        return MissingCount(len(known), len(cells) - len(known))
    if query.kind == "numbers":
        return _numbers(len(cells), known + 0.0, exponent)  # the two zeros are one
    return _labels(len(cells), Counter(known.tolist()))


def _are_known(cells: Kept) -> Mask:
    if cells.dtype == object:
        return np.array([cell is not None for cell in cells], dtype=bool)
    return ~np.isnan(cells)


def _labels(rows: int, counts: Counter[Label]) -> LabelHistogram:
    labels = tuple(sorted(counts))
    return LabelHistogram(rows, labels, np.array([counts[label] for label in labels], dtype=int))


def _numbers(rows: int, known: Floats, exponent: int) -> NumberHistogram:
    values, counts = np.unique(np.ldexp(known, -exponent), return_counts=True)
    return NumberHistogram(rows, values, counts, values, values)
