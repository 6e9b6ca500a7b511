"""The guided search: screen many contexts at once, compute exactly what is strongest (method 5).

All contexts of up to two conditions are screened, those of three where they are not too many;
beyond, only extensions of the strongest ones of each property: a beam search. What is given in the
end is always computed from all rows.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np

from outlying.method.density import Floats, density_at
from outlying.method.measure import (
    DECIMALS,
    SAME_DENSITY,
    excess,
    least_rarity,
    lift,
    rarity,
    rounded,
    strength,
)
from outlying.search import limits
from outlying.search.cache import Cache, StoredContexts
from outlying.search.contexts import CandidateContexts, keys, lengths
from outlying.search.scoring import Context, Evaluation, Outcome
from outlying.search.screen.bitsets import NONE, Contexts, Places, Workspace
from outlying.search.screen.histograms import Estimate, Summaries, figures
from outlying.search.screen.neighbours import NeighbourCounter
from outlying.search.shortlist import (
    ExactScores,
    Rank,
    Ranked,
    ScreenedContexts,
    Shortlist,
    Verification,
    as_tuple,
    least_where_nan,
)
from outlying.search.threads import one_blas_thread
from outlying.table.columns import Mask


def guided(exact: Evaluation, cache: Cache, top: int, *, quick: bool = False) -> Outcome:
    """Find the strongest minimal pairs, `top` of them or more.

    A quick search relies on the estimates, and computes exactly only what it returns.
    """
    with one_blas_thread, np.errstate(divide="ignore", invalid="ignore"):
        return _GuidedSearch(exact, cache, quick=quick).outcome(top)


def shortlisted(exact: Evaluation, cache: Cache, top: int, *, quick: bool = False) -> Shortlist:
    """Find by a sample alone which pairs are worth computing exactly."""
    with one_blas_thread, np.errstate(divide="ignore", invalid="ignore"):
        return _GuidedSearch(exact, cache, quick=quick).shortlist(top)


class _GuidedSearch:
    """What is fixed for one object: its conditions, and which of them go together."""

    def __init__(self, exact: Evaluation, cache: Cache, *, quick: bool) -> None:
        self.exact, self.sample, self.is_quick = exact, cache.sample, quick
        self.scores, self.work = ExactScores(exact), Workspace()
        self.relies_on_estimates = quick or not self.sample.is_whole
        self.most = exact.options.max_conditions
        self.conditions = cache.own(exact.candidates)
        self.contexts = CandidateContexts(
            self.conditions.marks,
            exact.own,
            self.sample,
            exact.options.min_support,
            self.most,
            self.work,
        )
        self.levels = self.contexts.levels
        numbers = self.conditions.numbers[self.contexts.short]
        self.stored = cache.stored(numbers, len(exact.properties))
        self.screened = self.unvisited = 0

    def outcome(self, top: int) -> Outcome:
        """Search all properties, then compute exactly what is strongest of all."""
        searched = self._searched()
        short = self._short(searched, top, ())
        return Verification(short, self.scores, top).outcome(lambda: self._closest(searched, top))

    def shortlist(self, top: int) -> Shortlist:
        """Search all properties, and return what is to be computed exactly."""
        searched = self._searched()
        short = self._short(searched, top, ())
        if len(short.ranked) < top + limits.CLOSEST:  # else some that were dropped are close
            short = self._short(searched, top, self._closest(searched, top))
        if not self.is_quick:
            return short
        pairs = [*short.pairs, *((place, ()) for place in range(len(searched)))]
        found = {(place, context): searched[place].estimate(context) for place, context in pairs}
        return dataclasses.replace(short, estimates=found)

    def _short(
        self, searched: list[_PropertySearch], top: int, closest: Iterable[Ranked]
    ) -> Shortlist:
        """Rank the pairs that reach the threshold; of a sample, some of the strongest count."""
        ranked = sorted((rank, found.place) for found in searched for rank in found.reported())
        most = len(ranked) if self.sample.is_whole else limits.MOST_VERIFIED * (top + 1)
        others = {self.exact.attributes(place, rank[-1]) for rank, place in ranked[most:]}
        return Shortlist(
            ranked=tuple(ranked[:most]),
            closest=tuple(closest),
            others=frozenset(others),
            levels=min(self.levels, self.most),
            screened=self.screened,
            unvisited=self.unvisited,
            estimates={},
        )

    def _closest(self, searched: list[_PropertySearch], top: int) -> list[Ranked]:
        """Return the pairs that are strongest of their property, reach the threshold or not."""
        ranked = [(rank, found.place) for found in searched for rank in found.closest()]
        if self.is_quick:
            return sorted(ranked)[: limits.CLOSEST]
        if self.sample.is_whole:
            return ranked
        by_property = itertools.groupby(ranked, key=lambda item: item[1])
        return sorted(min(some) for _, some in by_property)[: top + limits.CLOSEST]

    def _searched(self) -> list[_PropertySearch]:
        """Screen short contexts for each property, then extend the strongest, level by level."""
        total, searched = len(self.exact.properties), []
        for place in range(total):
            self.exact.progress(place, total)
            searched.append(_PropertySearch(self, place))
            searched[-1].short_contexts()
        for length in range(self.levels, self.most):
            for start in range(0, total, self._at_once()):
                self._extend(searched[start : start + self._at_once()], length)
        return searched

    def _at_once(self) -> int:
        """Return for how many properties contexts are extended together: memory is bounded."""
        return max(1, limits.MOST_EXTENDED // (limits.BEAM * len(self.contexts.own)))

    def _extend(self, some: list[_PropertySearch], length: int) -> None:
        """Extend the strongest contexts of some properties by one condition."""
        leaders = [found.leaders(length) for found in some]
        places = np.array([found.place for found in some])
        grown = self.contexts.extended(leaders, places, len(self.exact.properties))
        for found, contexts in zip(some, grown, strict=True):
            found.long_contexts(contexts)


class _PropertySearch:
    """The search for one property."""

    def __init__(self, run: _GuidedSearch, place: int) -> None:
        self.run, self.exact, self.place = run, run.exact, place
        self.searched: list[tuple[ScreenedContexts, Mask]] = []  # contexts, and which of them reach
        self.known: dict[int, Contexts] = {}  # contexts that reach, by number of conditions
        self.last: tuple[ScreenedContexts, Mask]
        self.overall_mean = math.nan
        self.measure = run.exact.options.measure
        self.needed = least_rarity(run.exact.options.min_outlierness, self.measure)
        self.own = run.exact.properties[place]
        self.histogram = self.own.histogram(run.sample)
        self.is_exact = self.histogram.is_exact and run.sample.is_whole
        self.neighbours = NeighbourCounter(
            self.histogram, self.own.position, run.conditions.marks, run.sample, run.work
        )

    def short_contexts(self) -> None:
        """Search all contexts of few conditions."""
        contexts, stored = self.run.contexts, self.run.stored
        kept = (contexts.own[contexts.short] != self.place).all(axis=1)
        kept = self.promising(np.flatnonzero(kept))
        self.search(contexts.short[kept], None if stored is None else stored[kept])
        self.last = self.searched[-1]

    def long_contexts(self, contexts: Contexts) -> None:
        """Search contexts that are one condition longer."""
        self.search(contexts[~self.is_dead(contexts)])
        self.last = self.searched[-1]
        self.check_parts(contexts.shape[1])

    def promising(self, kept: Places) -> Places:
        """In wide tables, keep of the pairs of conditions those that are strongest alone."""
        properties = len(self.exact.properties)
        if properties <= limits.WIDE or self.run.most < limits.PAIRS:
            return kept
        short, most = self.run.contexts.short[kept], limits.MOST_PAIRS // properties
        is_pair = short[:, -limits.PAIRS] != NONE
        if np.count_nonzero(is_pair) <= most:
            return kept
        alone = self.scored(short[~is_pair], None)
        merits = np.full(len(self.run.contexts.own), -math.inf)
        merits[alone.contexts[:, -1]] = alone.scores
        pairs = kept[is_pair]
        order = np.argpartition(-merits[short[is_pair]].max(axis=1), most)[:most]
        self.run.unvisited += len(pairs) - len(order)
        return np.concatenate([kept[~is_pair], pairs[np.sort(order)]])

    def search(self, contexts: Contexts, stored: StoredContexts | None = None) -> None:
        """Screen contexts, and note which reach the threshold while no part of them does."""
        scored = self.scored(contexts, stored)
        reaches = np.zeros(len(contexts), dtype=bool)
        close = np.flatnonzero(scored.rarity >= self.needed / limits.MARGIN)
        conditions = lengths(contexts[close])
        for length in np.unique(conditions).tolist():  # shorter ones first
            here = close[conditions == length]
            here = here[~self.is_dead(contexts[here, contexts.shape[1] - length :])]
            here = here[self.reaching(scored, here)]
            reaches[here] = True
            self.learn(contexts[here, contexts.shape[1] - length :])
        self.searched.append((scored, reaches))

    def learn(self, contexts: Contexts) -> None:
        """Remember contexts of one length that reach the threshold."""
        if len(contexts):
            length = contexts.shape[1]
            earlier = self.known.get(length, contexts[:0])
            self.known[length] = np.concatenate([earlier, contexts])

    def is_dead(self, contexts: Contexts) -> Mask:
        """Tell in which contexts of one length a part is known to be enough."""
        length, base = contexts.shape[1], len(self.run.contexts.own)
        dead = np.full(len(contexts), 0 in self.known and length > 0)
        for size, known in self.known.items():
            if 0 < size < length:
                wanted = keys(known, base)
                for columns in itertools.combinations(range(length), size):
                    dead |= np.isin(keys(contexts[:, columns], base), wanted)
        return dead

    def leaders(self, length: int) -> Contexts:
        """Choose the contexts to extend: the strongest of the last, of which no part is enough."""
        scored, reaches = self.last
        contexts = scored.contexts[:, scored.contexts.shape[1] - length :]
        if 0 in self.known or contexts.shape[1] < length:
            return np.zeros((0, length), dtype=np.int64)
        alive = ~reaches & (contexts != NONE).all(axis=1)
        if self.known:
            alive &= ~self.is_dead(contexts)
        return contexts[[place for _, place in scored.strongest(limits.BEAM, alive)]]

    def check_parts(self, length: int) -> None:
        """Where a long context reaches the threshold, screen its parts that were not."""
        if length not in self.known:
            return
        for size in range(self.run.levels + 1, length):
            columns = itertools.combinations(range(length), size)
            parts = np.concatenate([self.known[length][:, chosen] for chosen in columns])
            base = len(self.run.contexts.own)
            seen = [s.contexts for s, _ in self.searched if s.contexts.shape[1] == size]
            old = np.concatenate([keys(contexts, base) for contexts in seen])
            fresh, first = np.unique(keys(parts, base), return_index=True)
            parts = parts[first[~np.isin(fresh, old)]]
            self.search(parts[~self.is_dead(parts)])

    def reported(self) -> Iterator[Rank]:
        """Return the contexts that reach the threshold while no part of them does."""
        for scored, reaches in self.searched:
            places = np.flatnonzero(reaches)
            for place in places[~self._is_dead_padded(scored.contexts[places])]:
                yield scored.ranked(int(place))[0]

    def _is_dead_padded(self, contexts: Contexts) -> Mask:
        dead = np.zeros(len(contexts), dtype=bool)
        conditions = lengths(contexts)
        for length in np.unique(conditions).tolist():
            here = np.flatnonzero(conditions == length)
            dead[here] = self.is_dead(contexts[here, contexts.shape[1] - length :])
        return dead

    def scored(self, contexts: Contexts, stored: StoredContexts | None) -> ScreenedContexts:
        """Score contexts by estimates."""
        self.run.screened += len(contexts)
        rows, mean, at_object = self.estimated(contexts, stored)
        if len(self.searched) == 0:  # the first context of all is the one without conditions
            self.overall_mean = float(mean[0])
        if self.measure == "paper":
            rare = scores = least_where_nan(excess(mean, at_object, self.histogram.unit))
        else:
            rare = least_where_nan(rarity(mean, at_object))
            lifts = lift(mean, self.overall_mean)
            conditions = lengths(contexts).astype(np.float64)
            scores = least_where_nan(strength(rare, lifts, conditions))
        decimals = DECIMALS if self.is_exact else limits.ESTIMATED_DECIMALS
        return ScreenedContexts(contexts, rows, rounded(scores, self.measure, decimals), rare)

    def estimated(
        self, contexts: Contexts, stored: StoredContexts | None
    ) -> tuple[Floats, Floats, Floats]:
        """Return rows, mean(F) and f_o in contexts, NaN where there is nothing to compare."""
        if self.exact.options.bandwidth == "adaptive" or len(contexts) == 0:
            return self.computed(contexts)  # such windows are not estimated
        found = self.summaries(contexts, stored)
        mean, width = self.histogram.joined(found, self.own.position)
        near = self.neighbours.counted(contexts, self.histogram.radii(width))
        return found.rows, mean, density_at(near, found.known, width)

    def summaries(self, contexts: Contexts, stored: StoredContexts | None) -> Summaries:
        """Return what is typical in contexts; what other objects have found is not found again."""

        def make(new: Places | slice) -> Floats:
            words = self.run.conditions.words(self.histogram)
            return figures(self.histogram, words, contexts[new], self.run.work)

        if stored is None:
            return Summaries.of(make(slice(None)))
        return Summaries.of(stored.figures(self.histogram, make))

    def estimate(self, context: Context) -> Estimate:
        """Return what is typical in a context, and how far from the object its neighbours are."""
        found = self.summaries(np.array([[NONE, *context]]), None)
        mean, width = self.histogram.joined(found, self.own.position)
        reach = self.histogram.reach(float(width[0]))
        return Estimate(float(mean[0]), float(width[0]), self.histogram.unit, reach)

    def computed(self, contexts: Contexts) -> tuple[Floats, Floats, Floats]:
        """Return the same exactly, one context after the other."""
        hits = [self.run.scores.look(self.place, as_tuple(context)) for context in contexts]
        units = [hit.summary.unit for hit in hits if hit is not None]
        scale = units[0] / self.histogram.unit if units else 1.0  # the screen has one of its own
        figures = [
            (0.0, math.nan, math.nan)
            if hit is None
            else (float(hit.group), hit.summary.mean * scale, hit.summary.at_object * scale)
            for hit in hits
        ]
        rows, mean, at_object = np.array(figures).reshape(-1, 3).T
        return rows, mean, at_object

    def reaching(self, scored: ScreenedContexts, places: Places) -> Mask:
        """Return which contexts reach the threshold: by estimate, or exactly where it is close."""
        rarity = scored.rarity[places]
        reaches = rarity >= self.needed * (1 - limits.SAME_RARITY)
        if self.run.relies_on_estimates or self.is_exact:
            return reaches
        for number in np.flatnonzero(rarity < self.needed * limits.MARGIN):
            if len(self.run.scores.hits) >= limits.MOST_LOOKS:  # those near the threshold are weak
                break
            hit = self.run.scores.look(self.place, as_tuple(scored.contexts[places[number]]))
            reaches[number] = self.exact.reaches(hit)
        return reaches

    def closest(self) -> list[Rank]:
        """Return the strongest contexts in which the object seems rarer than a typical member."""
        least = 0.0 if self.measure == "paper" else 1 + SAME_DENSITY
        ranked = [
            rank
            for scored, _ in self.searched
            for rank, _ in scored.strongest(limits.CLOSEST, scored.rarity > least)
        ]
        return sorted(ranked)[: limits.CLOSEST]
