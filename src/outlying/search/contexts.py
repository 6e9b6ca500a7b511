"""Which conditions of an object go together: contexts that keep enough rows.

The candidate generation of an apriori search, by bits: all contexts of two conditions, those of
three where they are not too many, and longer ones grown from chosen ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from outlying.kernel.library import compiled
from outlying.search import limits
from outlying.search.limits import PAIRS
from outlying.search.screen.bitsets import (
    BITS,
    NONE,
    Contexts,
    Places,
    Words,
    Workspace,
    packed,
    rows_in,
)
from outlying.search.screen.neighbours import Sample
from outlying.table.columns import Mask

_BLOCK = 256
_WORDS_AT_ONCE = 1 << 18


class Marked(Protocol):
    """Conditions of one object."""

    @property
    def marks(self) -> Mask:
        """Which rows nearby satisfy each; the last line stands for no condition."""


class CandidateContexts:
    """The contexts that can be made of the conditions of one object."""

    def __init__(
        self,
        conditions: Marked,
        own: Sequence[int],
        sample: Sample,
        least_rows: Callable[[int], float],
        most: int,
        work: Workspace,
    ) -> None:
        """Take conditions, the family of each, and how long a context may be.

        `least_rows` tells how many of all rows a context of so many conditions must keep. What goes
        together is found when it is asked for: compiled code finds it for many objects at once.
        """
        self.conditions, self.work, self.sample = conditions, work, sample
        self._least_rows = least_rows
        self.screened = len(sample.screened)
        self.own = np.array([*own, NONE])
        self.most = most

    @functools.cached_property
    def words(self) -> Words:
        """The screened rows that satisfy each condition, as bits."""
        return _in_words(self.conditions.marks[:, : self.screened])

    @property
    def levels(self) -> int:
        """All contexts of up to so many conditions are among the short ones."""
        return PAIRS if self.triples is None else PAIRS + 1

    def least_rows(self, conditions: int) -> float:
        """Return how many screened rows a context of so many conditions must keep."""
        return self.sample.least_screened(self._least_rows(conditions), conditions)

    @functools.cached_property
    def pairs(self) -> Contexts:
        """All contexts of two conditions that keep enough rows."""
        if self.most < PAIRS:
            return np.zeros((0, PAIRS), dtype=np.int64)
        masks = self.conditions.marks[:-1, : self.screened].astype(np.float32)
        rows = masks @ masks.T
        first, second = np.nonzero(np.triu(rows >= self.least_rows(PAIRS), 1))
        apart = self.own[first] != self.own[second]
        return np.stack([first[apart], second[apart]], axis=1)

    @functools.cached_property
    def triples(self) -> Contexts | None:
        """All contexts of three conditions that keep enough rows; None if they are many."""
        if self.most <= PAIRS:
            return None
        found, total = [np.zeros((0, PAIRS + 1), dtype=np.int64)], 0
        conditions = np.arange(len(self.own) - 1)
        for start in range(0, len(self.pairs), _BLOCK):
            pairs = self.pairs[start : start + _BLOCK]
            second = pairs[:, 1:]
            later = (conditions > second) & (self.own[:-1] != self.own[second])  # also the first's
            place, third = np.nonzero(later)
            triples = np.column_stack([pairs[place], third])
            found.append(triples[self._are_large(triples)])
            total += len(found[-1])
            if total > limits.MOST_TRIPLES:
                return None
        return np.concatenate(found)

    @functools.cached_property
    def short(self) -> Contexts:
        """All contexts that are screened without a choice: the shortest first."""
        rows = np.count_nonzero(self.conditions.marks[:-1, : self.screened], axis=1)
        single = np.flatnonzero(rows >= self.least_rows(1)) if self.most else np.zeros(0, np.int64)
        single = np.append(NONE, single)
        parts = [single[:, np.newaxis], self.pairs]
        if self.triples is not None:
            parts.append(self.triples)
        short = np.full((sum(map(len, parts)), parts[-1].shape[1]), NONE, dtype=np.int64)
        start = 0
        for part in parts:
            short[start : start + len(part), short.shape[1] - part.shape[1] :] = part
            start += len(part)
        return short

    def without(self, family: int) -> Mask:
        """Return which of the short contexts have no condition on a family."""
        found = np.ones(len(self.short), dtype=bool)
        for column in self.own[self.short.T]:
            found &= column != family
        return found

    def _are_large(self, contexts: Contexts) -> Mask:
        """Return which contexts hold enough rows."""
        least, kernel = self.least_rows(contexts.shape[1]), compiled()
        if kernel is not None:
            return kernel.rows(self.words, contexts) >= least
        step = max(1, _WORDS_AT_ONCE // max(1, self.words.shape[1]))
        large = np.zeros(len(contexts), dtype=bool)
        for start in range(0, len(contexts), step):
            words = self.work.intersected(self.words, contexts[start : start + step])
            large[start : start + step] = rows_in(self.work.counted(words)) >= least
        return large

    def extended(
        self, leaders: list[Contexts], properties: Places, families: int
    ) -> list[Contexts]:
        """Extend the leaders of properties of some families by conditions on others.

        Each context once; only those that keep enough rows.
        """
        bases = np.concatenate(leaders)
        places = np.repeat(np.arange(len(leaders)), [len(some) for some in leaders])
        free = np.ones((len(bases), families + 1), dtype=bool)
        np.put_along_axis(free, self.own[bases], values=False, axis=1)
        np.put_along_axis(free, properties[places][:, np.newaxis], values=False, axis=1)
        free[:, NONE] = False
        number, condition = np.nonzero(free[:, self.own])
        grown = np.sort(np.column_stack([bases[number], condition]), axis=1)
        grown = np.column_stack([places[number], grown])
        _, first = np.unique(keys(grown, max(len(self.own), len(leaders))), return_index=True)
        grown = grown[first]
        grown = grown[self._are_large(grown[:, 1:])]
        ends = np.searchsorted(grown[:, 0], np.arange(1, len(leaders)))
        return np.split(grown[:, 1:], ends)


def as_tuple(context: npt.NDArray[np.int64]) -> tuple[int, ...]:
    """Return a line of contexts as exact scores know it."""
    return tuple(context[context != NONE].tolist())


def padded(contexts: Contexts, width: int) -> Contexts:
    """Return contexts with places for so many conditions."""
    return np.pad(contexts, ((0, 0), (width - contexts.shape[1], 0)), constant_values=NONE)


def lengths(contexts: Contexts) -> Places:
    """Count the conditions of each context."""
    found = np.zeros(len(contexts), dtype=np.int64)
    for column in contexts.T:
        found += column != NONE
    return found


def keys(contexts: Contexts, base: int) -> Places:
    """Return a number for each context of one length, without NONE: equal ones have the same."""
    length = contexts.shape[1]
    kind = np.int64 if base**length < 2**63 else object
    keys = np.zeros(len(contexts), dtype=kind)
    for column in contexts.T:
        keys = keys * base + column
    return keys


def _in_words(marks: Mask) -> Words:
    padding = np.zeros((len(marks), -marks.shape[1] % BITS), dtype=bool)
    return packed(np.concatenate([marks, padding], axis=1))
