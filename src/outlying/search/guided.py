"""The guided search: screen many contexts at once, compute exactly what is strongest (method 5).

What is given in the end is always computed from all rows.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from outlying.method.density import Floats
from outlying.search import limits
from outlying.search.batches import screened_together
from outlying.search.cache import Cache
from outlying.search.contexts import as_tuple, lengths
from outlying.search.minimality import ReportedContexts, parts
from outlying.search.scoring import Context, Evaluation, Glance, Outcome
from outlying.search.screen.bitsets import NONE, Places
from outlying.search.screen.histograms import Estimate
from outlying.search.screening import Asked, Rank, ScreenedContexts
from outlying.search.shortlist import Key, Ranked, RankedPairs, Shortlist, glance_of
from outlying.search.strict import StrictSearch, strictly_searched
from outlying.search.threads import one_blas_thread
from outlying.search.verification import Verification
from outlying.table.columns import Mask


def guided(exact: Evaluation, cache: Cache, top: int, *, quick: bool = False) -> Outcome:
    """Find the strongest minimal pairs, `top` of them or more.

    A quick search relies on the estimates, and computes exactly only what it returns.
    """
    return next(guided_together([exact], cache, top, quick=quick))


def guided_together(
    exacts: Sequence[Evaluation], cache: Cache, top: int, *, quick: bool = False, threads: int = 1
) -> Iterator[Outcome]:
    """Search several objects, which are screened together."""
    for search in _searches(exacts, cache, quick=quick, threads=threads):
        with one_blas_thread, np.errstate(divide="ignore", invalid="ignore"):
            yield search.outcome(top)


def shortlisted(exact: Evaluation, cache: Cache, top: int, *, quick: bool = False) -> Shortlist:
    """Find by a sample alone which pairs are worth computing exactly."""
    return next(shortlisted_together([exact], cache, top, quick=quick))


def shortlisted_together(
    exacts: Sequence[Evaluation], cache: Cache, top: int, *, quick: bool = False, threads: int = 1
) -> Iterator[Shortlist]:
    """Do so for several objects, which are screened together."""
    for search in _searches(exacts, cache, quick=quick, threads=threads):
        with one_blas_thread, np.errstate(divide="ignore", invalid="ignore"):
            yield search.shortlist(top)


def _searches(
    exacts: Sequence[Evaluation], cache: Cache, *, quick: bool, threads: int
) -> list[_GuidedSearch]:
    with one_blas_thread, np.errstate(divide="ignore", invalid="ignore"):
        asked = [Asked(exact, cache) for exact in exacts]
        if exacts and exacts[0].options.minimality == "strict":
            return [_GuidedSearch(each, strictly_searched(each, quick), quick) for each in asked]
        found = screened_together(asked, threads)
        return [
            _GuidedSearch(
                each,
                [_PropertySearch(each, place, scored, quick) for place, scored in enumerate(some)],
                quick,
            )
            for each, some in zip(asked, found, strict=True)
        ]


class _GuidedSearch:
    """What was screened of one object, to be computed exactly where it is strongest."""

    def __init__(
        self,
        asked: Asked,
        searched: Sequence[_PropertySearch] | Sequence[StrictSearch],
        quick: bool,
    ) -> None:
        self.asked, self.exact, self.sample = asked, asked.exact, asked.sample
        self.searched, self.is_quick = searched, quick

    def outcome(self, top: int) -> Outcome:
        """Compute exactly what is strongest of all properties."""
        short = self._short(top, ())
        return Verification(short, self.asked.scores, top).outcome(lambda: self._closest(top))

    def shortlist(self, top: int) -> Shortlist:
        """Return what is to be computed exactly."""
        short = self._short(top, ())
        if len(short.ranked) < top + limits.CLOSEST:  # else some that were dropped are close
            short = dataclasses.replace(short, closest=tuple(self._closest(top)))
        if not self.is_quick:
            return short
        pairs = [*short.estimated, *((place, ()) for place in range(len(self.searched)))]
        found = {
            (place, context): self.searched[place].estimate(context) for place, context in pairs
        }
        return dataclasses.replace(short, estimates=found)

    def _short(self, top: int, closest: Iterable[Ranked]) -> Shortlist:
        """Rank the pairs that may be reported; of a sample, some of the strongest count."""
        reported = ((found.place, some) for found in self.searched for some in found.reported())
        ranked = RankedPairs.of(reported, self.asked.contexts.own)
        most = len(ranked) if self.sample.is_whole else limits.MOST_VERIFIED * (top + 1)
        chosen = ranked[:most]
        if not self.is_quick and most < len(ranked):
            chosen = ranked[np.concatenate([np.arange(most), self._without_culprits(ranked, most)])]
        return Shortlist(
            ranked=chosen,
            closest=tuple(closest),
            parts=self._parts(ranked, chosen),
            small=self._small(),
            others=ranked[most:],
            levels=min(self.asked.levels, self.asked.most),
            screened=self.asked.screened,
            unvisited=self.asked.unvisited,
            alone=None if self.is_quick else np.array([found.alone() for found in self.searched]),
            glance=self._glance(ranked),
            estimates={},
        )

    def _glance(self, ranked: RankedPairs) -> Glance:
        found = ((-rank[0], self.exact.attributes(place, rank[-1])) for rank, place in ranked)
        return glance_of(found, np.array([found.rarity() for found in self.searched]))

    def _without_culprits(self, ranked: RankedPairs, most: int) -> Places:
        """Return, for each column of the strongest pair, the strongest of the rest without it.

        How ordinary the row is without a column tells whether that column is to blame.
        """
        columns, rest = ranked[:most].columns, ranked[most:]
        shared = [column for column in columns[0] if column != NONE]
        shared = [column for column in shared if (columns == column).any(axis=1).all()]
        found = {rest.without(int(column)) for column in shared}
        return np.array(
            sorted(place + most for place in found if place is not None), dtype=np.int64
        )

    def _parts(self, ranked: RankedPairs, chosen: RankedPairs) -> tuple[Key, ...]:
        """Return what else must be known to tell whether pairs are much stronger than parts."""
        if self.exact.options.minimality == "strict" or len(chosen) == len(ranked):
            return ()
        own = {(place, rank[-1]) for rank, place in chosen}
        needed = {(place, part) for place, context in own for part in parts(context) if part}
        return tuple(key for key in sorted(needed - own) if ranked.has(*key))

    def _small(self) -> tuple[Key, ...]:
        """Return the pairs whose context is a group too small to be drawn, for all properties."""
        exact = self.exact
        items = [place for place, item in enumerate(exact.candidates) if item.is_small]
        places = range(len(exact.properties))
        return tuple(
            (place, (item,)) for item in items for place in places if place != exact.own[item]
        )

    def _closest(self, top: int) -> list[Ranked]:
        """Return the pairs that are strongest of their property, reach the threshold or not."""
        ranked = [(rank, found.place) for found in self.searched for rank in found.closest()]
        if self.is_quick:
            return sorted(ranked)[: limits.CLOSEST]
        if self.sample.is_whole:
            return ranked
        by_property = itertools.groupby(ranked, key=lambda item: item[1])
        return sorted(min(some) for _, some in by_property)[: top + limits.CLOSEST]


class _PropertySearch:
    """Which of the screened contexts of one property are reported: by estimate, or exactly."""

    def __init__(self, asked: Asked, place: int, scored: ScreenedContexts, quick: bool) -> None:
        self.asked, self.exact, self.place, self.scored = asked, asked.exact, place, scored
        self.histogram = asked.exact.properties[place].histogram(asked.sample)
        self.is_exact = self.histogram.is_exact and asked.sample.is_whole
        self.relies_on_estimates = quick or not asked.sample.is_whole
        self.lengths = lengths(scored.contexts)
        self.counts = self._reporting()

    def _reporting(self) -> Mask:
        """Note which contexts reach the threshold and may be reported, shorter ones first."""
        scored, counts = self.scored, np.zeros(len(self.lengths), dtype=bool)
        slip = limits.SAME_STRENGTH if self.is_exact else limits.SLIP
        chosen = ReportedContexts(len(self.asked.contexts.own), slip)
        close = np.flatnonzero(scored.rarity >= self.asked.needed / limits.MARGIN)
        for length in np.unique(self.lengths[close]).tolist():
            here = close[self.lengths[close] == length]
            own = scored.contexts[:, scored.contexts.shape[1] - length :]
            here = here[chosen.possible(own[here], scored.strengths[here])]
            here = here[self._reaching(here)]
            chosen.learn(own[here], scored.strengths[here])
            counts[here] = True
        return counts

    def _reaching(self, places: Places) -> Mask:
        """Return which contexts reach the threshold: by estimate, or exactly where it is close."""
        rarity, needed, scores = self.scored.rarity[places], self.asked.needed, self.asked.scores
        reaches = rarity >= needed * (1 - limits.SAME_RARITY)
        if self.relies_on_estimates or self.is_exact:
            return reaches
        for number in np.flatnonzero(rarity < needed * limits.MARGIN):
            if len(scores.hits) >= limits.MOST_LOOKS:  # those near the threshold are weak
                break
            hit = scores.look(self.place, as_tuple(self.scored.contexts[places[number]]))
            reaches[number] = self.exact.reaches(hit)
        return reaches

    def reported(self) -> list[ScreenedContexts]:
        """Return the contexts that reach the threshold and may be reported."""
        return [self.scored[np.flatnonzero(self.counts)]]

    def closest(self) -> list[Rank]:
        """Return the strongest contexts in which the object seems rarer than a typical member."""
        places = np.flatnonzero(self.scored.rarity > self.asked.ordinary).tolist()
        return sorted(map(self.scored.ranked, places))[: limits.CLOSEST]

    def alone(self) -> Floats:
        """Return the strength given the best single condition on each attribute."""
        found = np.full(len(self.exact.properties), -math.inf)
        single = self.lengths == 1
        own = self.asked.contexts.own[self.scored.contexts[single, -1]]
        np.maximum.at(found, own, self.scored.strengths[single])
        return found

    def rarity(self) -> float:
        """Return how rare the object is without conditions."""
        return float(self.scored.rarity[self.lengths == 0][0])

    def estimate(self, context: Context) -> Estimate:
        """Return what is typical in a context."""
        return self.scored.estimate(context, self.histogram)
