"""Quick searches: only how strong the strongest finding of a row is, and what to know beside it.

Reference rows, strengths and detection ask for no more. So the search is one by branch and bound:
what is found in some properties sets a bar for the others, and weaker contexts are not given back.
The bar is low enough that the answer is the same as without it; where the estimates turn out to
have been too far off, the object is searched once more with a lower one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np

from outlying.method.density import Floats
from outlying.search import limits
from outlying.search.batches import can_set_bars, screened_together
from outlying.search.reporting import Reporting
from outlying.search.scoring import Outcome
from outlying.search.screen.bitsets import NONE, Places
from outlying.search.screen.histograms import Estimate
from outlying.search.screening import Asked, Bars, ScreenedContexts, ScreenedProperty
from outlying.search.shortlist import Key, RankedPairs, Shortlist, glance_of, parts_of, small_pairs
from outlying.search.verification import Verification

#: Estimates of strengths may be larger than what is exact by this before a search is repeated.
_OFF = 0.5
#: More than what rounding takes off a strength.
_ROUNDED = 0.01
_VERIFIED = 2 * limits.MOST_VERIFIED  # pairs, where only a sample was screened


def searched_quickly(asked: Sequence[Asked], threads: int) -> list[QuickSearch]:
    """Screen objects together, and decide what of them may be reported."""
    return _Batch(asked, threads).searches()


class _RisingBars(Bars):
    """For each object, the strength below which nothing matters; it rises with what is found.

    What matters are the pairs that are computed exactly, and for each column of the strongest pair
    the strongest one without it: in the order of their strengths, these are no weaker than the pair
    from which on no column is shared by all.
    """

    def __init__(self, objects: int, *, is_whole: bool) -> None:
        super().__init__(np.full(objects, -math.inf))
        self.is_whole = is_whole
        self._found: list[list[tuple[float, int]]] = [[] for _ in range(objects)]

    def learn(self, number: int, scores: Floats, columns: Places) -> None:
        """Take the strengths of pairs of an object with one property, and their columns.

        Some of the strongest are enough: with fewer pairs a bar is lower.
        """
        some = np.argsort(-scores, kind="stable")[:_VERIFIED]
        some = some[scores[some] >= self.least[number]]
        if len(some) == 0:
            return
        found = self._found[number]
        for score, own in zip(scores[some].tolist(), columns[some].tolist(), strict=True):
            found.append((score, sum({1 << column for column in own if column != NONE})))
        found.sort(reverse=True)
        if self.is_whole:
            least = found[0][0] - limits.SLACK - _OFF
        else:
            least = found[_VERIFIED - 1][0] if len(found) >= _VERIFIED else -math.inf
        shared, rest = found[0][1], -math.inf
        for score, own in found:
            shared &= own
            if not shared:
                rest = score
                break
        self.least[number] = max(self.least[number], min(least, rest) - _ROUNDED)
        del found[sum(score >= self.least[number] for score, _ in found) :]


class _Batch:
    """Objects that are searched together."""

    def __init__(self, asked: Sequence[Asked], threads: int, bars: Floats | None = None) -> None:
        """Take objects, and bars that they are to be searched with."""
        self.asked, self.threads = asked, threads
        self.total = len(asked[0].exact.properties) if asked else 0
        self.bars: Bars = (
            _RisingBars(len(asked), is_whole=bool(asked) and asked[0].sample.is_whole)
            if bars is None
            else Bars(bars)
        )
        self.is_pruned = bool(asked) and can_set_bars(asked)
        self.rarities = np.ones((len(asked), self.total))
        self.reported: list[list[tuple[int, ScreenedContexts]]] = [[] for _ in asked]
        self.screened: list[list[tuple[ScreenedProperty, slice]]] = [[] for _ in asked]

    def searches(self) -> list[QuickSearch]:
        """Screen all properties."""
        screened_together(
            self.asked, self._take, self.threads, self.bars if self.is_pruned else None
        )
        return [QuickSearch(self, number) for number in range(len(self.asked))]

    def _take(self, some: ScreenedProperty) -> None:
        reporting = Reporting(self.asked, some, quick=True)
        counts, contexts = np.flatnonzero(reporting.counts()), some.scored.contexts
        alone = np.flatnonzero((contexts == NONE).all(axis=1))
        self.rarities[reporting.objects[alone], some.place] = some.scored.rarity[alone]
        for number, here in zip(some.objects, some.slices, strict=True):
            self.screened[number].append((some, here))
        objects = reporting.objects[counts]
        starts = np.flatnonzero(np.diff(objects, prepend=-1))
        for places in np.split(counts, starts[1:]) if len(counts) else ():
            self._report(int(reporting.objects[places[0]]), some.place, some.scored[places])

    def _report(self, number: int, place: int, scored: ScreenedContexts) -> None:
        self.reported[number].append((place, scored))
        if self.is_pruned and isinstance(self.bars, _RisingBars):
            exact, own = self.asked[number].exact, self.asked[number].contexts.own
            family = np.full((len(scored.contexts), 1), exact.families[place])
            columns = np.concatenate([family, own[scored.contexts]], axis=1)
            self.bars.learn(number, scored.scores, columns)


class QuickSearch:
    """What was screened of one object."""

    def __init__(self, batch: _Batch, number: int) -> None:
        self._batch, self._number, self.asked = batch, number, batch.asked[number]
        self.exact, self.is_whole = self.asked.exact, self.asked.sample.is_whole

    def outcome(self, _top: int) -> Outcome:
        """Compute exactly what is strongest; search once more if a bar was too high for that."""
        verification = Verification(self._short(), self.asked.scores, 1)
        outcome = verification.outcome(lambda: ())
        best = max(verification.stories.values(), default=-math.inf)
        bar = float(self._batch.bars.least[self._number]) if self._batch.is_pruned else -math.inf
        if not self.is_whole or best - limits.SLACK >= bar or bar == -math.inf:
            return outcome
        bars = np.array([best - limits.SLACK - _ROUNDED])
        return _Batch([self.asked], self._batch.threads, bars).searches()[0].outcome(1)

    def shortlist(self, _top: int) -> Shortlist:
        """Return what is to be computed exactly, and what was estimated of it."""
        short = self._short()
        pairs = [*short.estimated, *((place, ()) for place in range(self._batch.total))]
        return dataclasses.replace(short, estimates=dict(self._estimates(pairs)))

    def _short(self) -> Shortlist:
        ranked = RankedPairs.of(
            self._batch.reported[self._number], self.asked.contexts.own, self.exact.families
        )
        chosen = ranked if self.is_whole else ranked[:_VERIFIED]
        found = ((-rank[0], self.exact.families_of(place, rank[-1])) for rank, place in ranked)
        return Shortlist(
            ranked=chosen,
            closest=(),
            parts=parts_of(ranked, chosen),
            small=small_pairs(self.exact),
            others=ranked[len(chosen) :],
            levels=min(self.asked.levels, self.asked.most),
            screened=self.asked.screened,
            unvisited=self.asked.unvisited,
            alone=None,
            glance=glance_of(found, self._batch.rarities[self._number]),
            estimates={},
        )

    def _estimates(self, pairs: Sequence[Key]) -> Iterator[tuple[Key, Estimate]]:
        screened = {some.place: (some, here) for some, here in self._batch.screened[self._number]}
        for place, context in pairs:
            some, here = screened[place]
            yield (place, context), some.scored[here].estimate(context, some.histogram)
