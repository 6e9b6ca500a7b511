"""The search for contexts of which no part is enough (paper, section 5.2).

What reaches the threshold decides which contexts are extended, so each level is decided before the
next one is screened.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from outlying.method.density import Floats
from outlying.search import limits
from outlying.search.contexts import as_tuple, keys, lengths
from outlying.search.scoring import Context
from outlying.search.screen.bitsets import NONE, Contexts, Places
from outlying.search.screen.histograms import Estimate
from outlying.search.screening import (
    Asked,
    PropertyScreening,
    Rank,
    ScreenedContexts,
    extended,
)
from outlying.table.columns import Mask


def strictly_searched(asked: Asked, quick: bool) -> list[StrictSearch]:
    """Screen short contexts for each property, then extend the strongest, level by level."""
    total = len(asked.exact.properties)
    searched = []
    for place in range(total):
        asked.exact.progress(place, total)
        searched.append(StrictSearch(asked, place, quick))
        searched[-1].short_contexts()
    for length in range(asked.levels, asked.longest):
        leaders = [found.leaders(length) for found in searched]
        for found, contexts in zip(searched, extended(asked, leaders, range(total)), strict=True):
            found.long_contexts(contexts)
    return searched


class StrictSearch:
    """The search for one property."""

    def __init__(self, asked: Asked, place: int, quick: bool) -> None:
        self.asked, self.exact, self.place = asked, asked.exact, place
        self.searched: list[tuple[ScreenedContexts, Mask]] = []  # contexts, and which of them count
        self.known: dict[int, Contexts] = {}  # contexts that reach, by number of conditions
        self.last: tuple[ScreenedContexts, Mask]
        self.screening = PropertyScreening(asked, place)
        self.relies_on_estimates = quick or not asked.sample.is_whole
        self.needed = asked.needed

    def short_contexts(self) -> None:
        """Search all contexts of few conditions."""
        self._search(self.screening.short_contexts())
        self.last = self.searched[-1]

    def long_contexts(self, contexts: Contexts) -> None:
        """Search contexts that are one condition longer."""
        self._search(self.screening.scored(contexts[~self._is_dead(contexts)]))
        self.last = self.searched[-1]
        self._check_parts(contexts.shape[1])

    def _search(self, scored: ScreenedContexts) -> None:
        """Note which of screened contexts reach the threshold, shorter ones first."""
        contexts = scored.contexts
        counts = np.zeros(len(contexts), dtype=bool)
        close = np.flatnonzero(scored.rarity >= self.needed / limits.MARGIN)
        conditions = lengths(contexts[close])
        for length in np.unique(conditions).tolist():
            here = close[conditions == length]
            own = contexts[:, contexts.shape[1] - length :]
            here = here[~self._is_dead(own[here])]
            here = here[self._reaching(scored, here)]
            counts[here] = True
            self._learn(own[here])
        self.searched.append((scored, counts))

    def _learn(self, contexts: Contexts) -> None:
        """Remember contexts of one length that reach the threshold."""
        if len(contexts):
            length = contexts.shape[1]
            earlier = self.known.get(length, contexts[:0])
            self.known[length] = np.concatenate([earlier, contexts])

    def _is_dead(self, contexts: Contexts) -> Mask:
        """Tell in which contexts of one length a part is known to be enough."""
        length, base = contexts.shape[1], len(self.asked.contexts.own)
        dead = np.full(len(contexts), 0 in self.known and length > 0)
        for size, known in self.known.items():
            if 0 < size < length:
                wanted = keys(known, base)
                for columns in itertools.combinations(range(length), size):
                    dead |= np.isin(keys(contexts[:, columns], base), wanted)
        return dead

    def leaders(self, length: int) -> Contexts:
        """Choose the contexts to extend: the strongest of which no part is enough."""
        scored, reaches = self.last
        if 0 in self.known or scored.contexts.shape[1] < length:
            return np.zeros((0, length), dtype=np.int64)
        contexts = scored.contexts[:, scored.contexts.shape[1] - length :]
        alive = (contexts != NONE).all(axis=1) & ~reaches & ~self._is_dead(contexts)
        return self.screening.leaders(scored, length, alive)

    def _check_parts(self, length: int) -> None:
        """Where a long context reaches the threshold, screen its parts that were not."""
        if length not in self.known:
            return
        for size in range(self.asked.levels + 1, length):
            columns = itertools.combinations(range(length), size)
            parts = np.concatenate([self.known[length][:, chosen] for chosen in columns])
            base = len(self.asked.contexts.own)
            seen = [s.contexts for s, _ in self.searched if s.contexts.shape[1] == size]
            old = np.concatenate([keys(contexts, base) for contexts in seen])
            fresh, first = np.unique(keys(parts, base), return_index=True)
            parts = parts[first[~np.isin(fresh, old)]]
            self._search(self.screening.scored(parts[~self._is_dead(parts)]))

    def reported(self) -> list[ScreenedContexts]:
        """Return the contexts that reach the threshold, and of which no part does."""
        found = []
        for scored, counts in self.searched:
            places = np.flatnonzero(counts)
            found.append(scored[places[~self._is_dead_padded(scored.contexts[places])]])
        return found

    def alone(self) -> Floats:
        """Return the strength given the best single condition on each family."""
        found = np.full(self.asked.families, -math.inf)
        scored = self.searched[0][0]
        single = lengths(scored.contexts) == 1
        own = self.asked.contexts.own[scored.contexts[single, -1]]
        np.maximum.at(found, own, scored.strengths[single])
        return found

    def _is_dead_padded(self, contexts: Contexts) -> Mask:
        dead = np.zeros(len(contexts), dtype=bool)
        conditions = lengths(contexts)
        for length in np.unique(conditions).tolist():
            here = np.flatnonzero(conditions == length)
            dead[here] = self._is_dead(contexts[here, contexts.shape[1] - length :])
        return dead

    def _reaching(self, scored: ScreenedContexts, places: Places) -> Mask:
        """Return which contexts reach the threshold: by estimate, or exactly where it is close."""
        rarity = scored.rarity[places]
        reaches = rarity >= self.needed * (1 - limits.SAME_RARITY)
        if self.relies_on_estimates or self.screening.is_exact:
            return reaches
        for number in np.flatnonzero(rarity < self.needed * limits.MARGIN):
            if (
                len(self.asked.scores.hits) >= limits.MOST_LOOKS
            ):  # those near the threshold are weak
                break
            hit = self.asked.scores.look(self.place, as_tuple(scored.contexts[places[number]]))
            reaches[number] = self.exact.reaches(hit)
        return reaches

    def closest(self) -> list[Rank]:
        """Return the strongest contexts in which the object seems rarer than a typical member."""
        ranked = [
            scored.ranked(place)
            for scored, _ in self.searched
            for place in scored.strongest(limits.CLOSEST, scored.rarity > self.asked.ordinary)
        ]
        return sorted(ranked)[: limits.CLOSEST]

    def rarity(self) -> float:
        """Return how rare the object is without conditions."""
        return float(self.searched[0][0].rarity[0])

    def estimate(self, context: Context) -> Estimate:
        """Return what is typical in a context."""
        found = self.screening.scored(np.array([[NONE, *context]]))
        return found.estimate(context, self.screening.screen.histogram)
