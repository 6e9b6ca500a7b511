"""Contexts: the rows that satisfy all predicates of a conjunction, for many of them at once."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from outlying.kernel.tally import Words
from outlying.stream.verify.predicates import (
    Cells,
    Conjunction,
    Predicate,
    conjunction,
    evaluate,
)

#: Rows to a word.
BITS = 64


@dataclasses.dataclass(frozen=True, slots=True)
class _Step:
    """One step down the tree: how many predicates came before, and the next one."""

    depth: int
    predicate: int
    is_end: bool  # a conjunction is complete


class ContextTrie:
    """Conjunctions as paths of a prefix tree, so that what several share is computed once.

    The empty conjunction is none of them.
    """

    def __init__(self, conjunctions: Iterable[Conjunction]) -> None:
        wanted = {each for each in conjunctions if each}
        uses = Counter(predicate for each in wanted for predicate in each)
        self._predicates = sorted(uses, key=lambda predicate: predicate.sort_key)
        self._by_column = _by_column(self._predicates)
        paths = _paths(wanted, uses)
        self._steps = tuple(self._walk(paths))
        self._depth = max(map(len, paths), default=0)
        self.number = {conjunction(path): number for number, path in enumerate(paths)}

    @property
    def columns(self) -> list[str]:
        """The columns that are tested."""
        return list(self._by_column)

    def rows(self, cells: Mapping[str, Cells], rows: int) -> Iterator[Words]:
        """Return the rows of each context, by its number, as bits, which hold until the next."""
        words = self._evaluated(cells, rows)
        reached = np.empty((self._depth, words.shape[1]), dtype=np.uint64)
        for step in self._steps:
            own = words[step.predicate]
            if step.depth == 0:
                reached[0] = own
            else:
                np.bitwise_and(reached[step.depth - 1], own, out=reached[step.depth])
            if step.is_end:
                yield reached[step.depth]

    def _evaluated(self, cells: Mapping[str, Cells], rows: int) -> Words:
        """Return a line of bits for each predicate, as many as fill whole words."""
        words: Words = np.zeros((len(self._predicates), -(-rows // BITS)), dtype=np.uint64)
        first = 0
        for name, predicates in self._by_column.items():
            evaluate(predicates, cells[name], words[first : first + len(predicates)])
            first += len(predicates)
        return words

    def _walk(self, paths: Iterable[Conjunction]) -> Iterator[_Step]:
        """Go along all paths; what one shares with the one before is not gone again."""
        place = {predicate: place for place, predicate in enumerate(self._predicates)}
        before: Conjunction = ()
        for path in paths:
            for depth in range(_shared(before, path), len(path)):
                yield _Step(depth, place[path[depth]], is_end=depth == len(path) - 1)
            before = path


def _paths(conjunctions: Iterable[Conjunction], uses: Mapping[Predicate, int]) -> list[Conjunction]:
    """Order the predicates of each conjunction, the most used first, and then the conjunctions."""
    ranked = sorted(uses, key=lambda predicate: (-uses[predicate], predicate.sort_key))
    rank = {predicate: place for place, predicate in enumerate(ranked)}
    numbers = sorted(sorted(rank[predicate] for predicate in each) for each in conjunctions)
    return [tuple(ranked[number] for number in path) for path in numbers]


def _shared(path: Conjunction, other: Conjunction) -> int:
    """Count the elements at the beginning that are the same."""
    pairs = enumerate(zip(path, other, strict=False))
    return next((place for place, (one, two) in pairs if one != two), min(len(path), len(other)))


def _by_column(predicates: Iterable[Predicate]) -> dict[str, list[Predicate]]:
    groups: dict[str, list[Predicate]] = {}
    for predicate in predicates:
        groups.setdefault(predicate.column, []).append(predicate)
    return groups


def row_numbers(words: Words) -> npt.NDArray[np.int64]:
    """Return the rows whose bits are set."""
    mask = np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)
    return np.flatnonzero(mask)
