"""The guided search: screen many contexts at once, compute exactly what is strongest (method 5).

What is given in the end is always computed from all rows.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from outlying.method.density import Floats
from outlying.search import limits
from outlying.search.batches import screened_together
from outlying.search.cache import Cache
from outlying.search.contexts import lengths
from outlying.search.quick import QuickSearch, searched_quickly
from outlying.search.reporting import Reporting
from outlying.search.scoring import Context, Evaluation, Glance, Outcome
from outlying.search.screen.bitsets import NONE, Places
from outlying.search.screen.histograms import Estimate
from outlying.search.screening import Asked, Rank, ScreenedContexts, ScreenedProperty
from outlying.search.shortlist import (
    Ranked,
    RankedPairs,
    Shortlist,
    glance_of,
    parts_of,
    small_pairs,
)
from outlying.search.strict import StrictSearch, strictly_searched
from outlying.search.verification import Verification
from outlying.table.columns import Mask

Found = TypeVar("Found")


def guided_together(
    exacts: Sequence[Evaluation], cache: Cache, top: int, *, quick: bool = False, threads: int = 1
) -> Iterator[Outcome]:
    """Find the strongest minimal pairs, `top` of them or more, of objects screened together.

    A quick search relies on the estimates, and computes exactly only what it returns.
    """
    for search in searches_together(exacts, cache, quick=quick, threads=threads):
        yield by_numpy(search.outcome, top)


def shortlisted_together(
    exacts: Sequence[Evaluation], cache: Cache, top: int, *, quick: bool = False, threads: int = 1
) -> Iterator[Shortlist]:
    """Find by a sample alone, for objects screened together, what is worth computing exactly."""
    for search in searches_together(exacts, cache, quick=quick, threads=threads):
        yield by_numpy(search.shortlist, top)


def by_numpy(work: Callable[[int], Found], top: int) -> Found:
    """Do the rest of a search: its outcome, or its shortlist."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return work(top)


def searches_together(
    exacts: Sequence[Evaluation], cache: Cache, *, quick: bool = False, threads: int = 1
) -> Sequence[GuidedSearch | QuickSearch]:
    """Screen objects together; what is left of each search is done one by one, see `by_numpy`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        asked = [Asked(exact, cache) for exact in exacts]
        if exacts and exacts[0].options.minimality == "strict":
            return [GuidedSearch(each, strictly_searched(each, quick), quick) for each in asked]
        if quick:
            return searched_quickly(asked, threads)
        searched: list[list[_PropertySearch]] = [[] for _ in asked]

        def decide(some: ScreenedProperty) -> None:
            for number, found in zip(some.objects, _decided(asked, some), strict=True):
                searched[number].append(found)

        screened_together(asked, decide, threads)
        pairs = zip(asked, searched, strict=True)
        return [GuidedSearch(each, found, quick=False) for each, found in pairs]


class GuidedSearch:
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
        short = self._short(top)
        return Verification(short, self.asked.scores, top).outcome(lambda: self._closest(top))

    def shortlist(self, top: int) -> Shortlist:
        """Return what is to be computed exactly."""
        short = self._short(top)
        if len(short.ranked) < top + limits.CLOSEST:  # else some that were dropped are close
            short = dataclasses.replace(short, closest=tuple(self._closest(top)))
        if not self.is_quick:
            return short
        pairs = [*short.estimated, *((place, ()) for place in range(len(self.searched)))]
        found = {
            (place, context): self.searched[place].estimate(context) for place, context in pairs
        }
        return dataclasses.replace(short, estimates=found)

    def _short(self, top: int) -> Shortlist:
        """Rank the pairs that may be reported; of a sample, some of the strongest count."""
        reported = ((found.place, some) for found in self.searched for some in found.reported())
        ranked = RankedPairs.of(reported, self.asked.contexts.own, self.exact.families)
        most = len(ranked) if self.sample.is_whole else limits.MOST_VERIFIED * (top + 1)
        chosen = ranked[:most]
        if not self.is_quick and most < len(ranked):
            chosen = ranked[np.concatenate([np.arange(most), self._without_culprits(ranked, most)])]
        return Shortlist(
            ranked=chosen,
            closest=(),
            parts=() if self.exact.options.minimality == "strict" else parts_of(ranked, chosen),
            small=small_pairs(self.exact),
            others=ranked[most:],
            levels=min(self.asked.levels, self.asked.most),
            screened=self.asked.screened,
            unvisited=self.asked.unvisited,
            alone=None if self.is_quick else self._alone(),
            glance=self._glance(ranked),
            estimates={},
        )

    def _alone(self) -> Floats:
        """Return the strength of each family given the best single condition on each other."""
        found = np.full((self.asked.families, self.asked.families), -math.inf)
        lines = np.array([found.alone() for found in self.searched])
        np.maximum.at(found, np.array(self.exact.families), lines)
        return found

    def _glance(self, ranked: RankedPairs) -> Glance:
        found = ((-rank[0], self.exact.families_of(place, rank[-1])) for rank, place in ranked)
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
    """What is known of one property of an object after the screen."""

    def __init__(
        self,
        asked: Asked,
        property_: ScreenedProperty,
        scored: ScreenedContexts,
        counts: Mask,
    ) -> None:
        """Take screened contexts, the one without conditions first, and which may be reported."""
        self.place, self.histogram = property_.place, property_.histogram
        conditions = lengths(scored.contexts)
        kept = counts | (conditions == 0)
        rare = np.flatnonzero(scored.rarity > asked.ordinary)
        if len(rare) > limits.CLOSEST:
            least = np.partition(scored.scores[rare], -limits.CLOSEST)[-limits.CLOSEST]
            rare = rare[scored.scores[rare] >= least]
        kept[rare] = True
        places = np.flatnonzero(kept)
        self._scored, self._counts = scored[places], counts[places]
        self._closest = np.searchsorted(places, rare)
        single = np.flatnonzero(conditions == 1)
        own = asked.contexts.own[scored.contexts[single, -1]]
        self._alone = np.full(asked.families, -math.inf)
        np.maximum.at(self._alone, own, scored.strengths[single])

    def reported(self) -> list[ScreenedContexts]:
        """Return the contexts that reach the threshold and may be reported."""
        return [self._scored[np.flatnonzero(self._counts)]]

    def closest(self) -> list[Rank]:
        """Return the strongest contexts in which the object seems rarer than a typical member."""
        return sorted(map(self._scored.ranked, self._closest.tolist()))[: limits.CLOSEST]

    def alone(self) -> Floats:
        """Return the strength given the best single condition on each family."""
        return self._alone

    def rarity(self) -> float:
        """Return how rare the object is without conditions."""
        return float(self._scored.rarity[0])

    def estimate(self, context: Context) -> Estimate:
        """Return what is typical in a context: one that is reported, or close, or none at all."""
        return self._scored.estimate(context, self.histogram)


def _decided(asked: Sequence[Asked], some: ScreenedProperty) -> Iterator[_PropertySearch]:
    """Decide which contexts of a property are reported, for several objects at once."""
    counts = Reporting(asked, some, quick=False).counts()
    for number, here in zip(some.objects, some.slices, strict=True):
        yield _PropertySearch(asked[number], some, some.scored[here], counts[here])
