"""The guided search: screen many contexts at once, look exactly at what is strongest (method 5).

All contexts of up to two conditions are screened, those of three where they are not too many;
beyond, only extensions of the strongest ones of each property. What is given in the end is always
computed from all rows.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from outlying.method.density import Floats, density_at
from outlying.method.measure import (
    SAME_DENSITY,
    excess,
    least_rarity,
    lift,
    rarity,
    rounded,
    strength,
)
from outlying.search.contexts import PAIRS, Joins, keys
from outlying.search.ranking import Rank, Scored, or_less, plain
from outlying.search.scoring import Context, Evaluation, Outcome
from outlying.search.screen.bitsets import Contexts, Places
from outlying.search.screen.histograms import Estimate
from outlying.search.screen.neighbours import Vicinity
from outlying.search.shelf import Shelf
from outlying.search.shortlist import Looks, Ranked, Settling, Shortlist
from outlying.table.columns import Mask

BEAM = 15
#: In tables of more columns, pairs of conditions are screened from the most promising on, so many
#: for all properties together.
WIDE = 100
MOST_PAIRS = 2_000_000
#: An estimate decides alone if it is off the threshold by more than this factor.
MARGIN = 1.1
#: So many contexts near the threshold are looked at, for all properties together.
MOST_LOOKS = 2000
#: So many times as many pairs as asked for, where only a sample was screened.
MOST_VERIFIED = 4
_MOST_EXTENDED = 500_000
_CLOSEST = 3  # contexts to look at where none reaches the threshold
_ESTIMATED_DIGITS = 4
_ROUNDING = 1e-12


def guided(
    exact: Evaluation[Any, Any], shelf: Shelf, top: int, *, is_hasty: bool = False
) -> Outcome:
    """Find the strongest minimal pairs, `top` of them or more.

    In haste all is left to the estimates, and only what is given is computed exactly.
    """
    with _one_thread(), np.errstate(divide="ignore", invalid="ignore"):
        return _Guided(exact, shelf, is_hasty=is_hasty).outcome(top)


def shortlisted(
    exact: Evaluation[Any, Any], shelf: Shelf, top: int, *, is_hasty: bool = False
) -> Shortlist:
    """Find by a sample alone which pairs are worth to be computed exactly."""
    with _one_thread(), np.errstate(divide="ignore", invalid="ignore"):
        return _Guided(exact, shelf, is_hasty=is_hasty).shortlist(top)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Keep matrix products on one thread.

    Ours are small and many; threads that wait for each other make them many times slower wherever
    something else runs on the machine.
    """
    with _thread_pools().limit(limits=1, user_api="blas"):
        yield


@functools.cache
def _thread_pools() -> Any:
    """Find the libraries that use threads, once."""
    import threadpoolctl  # type: ignore[import-untyped]

    return threadpoolctl.ThreadpoolController()


class _Guided:
    """What is fixed for one object: marks of its conditions, and which of them go together."""

    def __init__(self, exact: Evaluation[Any, Any], shelf: Shelf, *, is_hasty: bool) -> None:
        self.exact, self.shelf, self.sample = exact, shelf, shelf.sample
        self.looks = Looks(exact)
        self.is_hasty = is_hasty
        self.leave_it_to_estimates = is_hasty or not self.sample.is_whole
        self.most = exact.options.max_conditions
        self.numbers = shelf.numbers_of(exact.candidates)
        marks = shelf.marks[self.numbers]
        self.joins = Joins(marks, exact.own, self.sample, exact.options.min_support, self.most)
        self.levels = self.joins.levels
        self.short_places = shelf.places_of(self.numbers[self.joins.short], len(exact.properties))
        self.screened = self.unvisited = 0

    def outcome(self, top: int) -> Outcome:
        """Search all properties, then look exactly at what is strongest of all."""
        searched = self._searched()
        short = self._short(searched, top, ())
        return Settling(short, self.looks, top).outcome(lambda: self._closest(searched, top))

    def shortlist(self, top: int) -> Shortlist:
        """Search all properties, and give what is to be looked at exactly."""
        searched = self._searched()
        short = self._short(searched, top, ())
        if len(short.ranked) < top + _CLOSEST:  # else some that were dropped are close enough
            short = self._short(searched, top, self._closest(searched, top))
        if not self.is_hasty:
            return short
        pairs = [*short.pairs, *((place, ()) for place in range(len(searched)))]
        found = {(place, context): searched[place].estimate(context) for place, context in pairs}
        return dataclasses.replace(short, estimates=found)

    def _short(self, searched: list[_Property], top: int, closest: Iterable[Ranked]) -> Shortlist:
        """Rank the pairs that reach the threshold; of a sample, some of the strongest count."""
        ranked = sorted((rank, found.place) for found in searched for rank in found.reported())
        most = len(ranked) if self.sample.is_whole else MOST_VERIFIED * (top + 1)
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

    def _closest(self, searched: list[_Property], top: int) -> list[Ranked]:
        """Return the pairs that are strongest of their property, reach the threshold or not."""
        ranked = [(rank, found.place) for found in searched for rank in found.closest()]
        if self.is_hasty:
            return sorted(ranked)[:_CLOSEST]
        if self.sample.is_whole:
            return ranked
        by_property = itertools.groupby(ranked, key=lambda item: item[1])
        return sorted(min(some) for _, some in by_property)[: top + _CLOSEST]

    def _searched(self) -> list[_Property]:
        """Screen short contexts for each property, then extend the strongest, level by level."""
        total, searched = len(self.exact.properties), []
        for place in range(total):
            self.exact.progress(place, total)
            searched.append(_Property(self, place))
            searched[-1].short_contexts()
        for length in range(self.levels, self.most):
            for start in range(0, total, self._at_once()):
                self._extend(searched[start : start + self._at_once()], length)
        return searched

    def _at_once(self) -> int:
        """Give for how many properties contexts may be extended together: memory is bounded."""
        return max(1, _MOST_EXTENDED // (BEAM * len(self.joins.own)))

    def _extend(self, some: list[_Property], length: int) -> None:
        """Extend the strongest contexts of some properties by one condition."""
        leaders = [found.leaders(length) for found in some]
        places = np.array([found.place for found in some])
        grown = self.joins.extended(leaders, places, len(self.exact.properties))
        for found, contexts in zip(some, grown, strict=True):
            found.long_contexts(contexts)


class _Property:
    """The search for one property."""

    def __init__(self, run: _Guided, place: int) -> None:
        self.run, self.exact, self.place = run, run.exact, place
        self.searched: list[tuple[Scored, Mask]] = []  # contexts, and which of them reach
        self.known: dict[int, Contexts] = {}  # contexts that reach, by number of conditions
        self.last: tuple[Scored, Mask]
        self.overall_mean = math.nan
        self.measure = run.exact.options.measure
        self.needed = least_rarity(run.exact.options.min_outlierness, self.measure)
        self.trait = run.exact.properties[place]
        self.grouped = self.trait.grouped(run.sample)
        self.is_exact = self.grouped.is_exact and run.sample.is_whole
        self.vicinity: Vicinity | None = None

    def short_contexts(self) -> None:
        """Search all contexts of few conditions."""
        kept = (self.run.joins.own[self.run.joins.short] != self.place).all(axis=1)
        kept = self.promising(np.flatnonzero(kept))
        known = self.run.short_places
        self.search(self.run.joins.short[kept], None if known is None else known[kept])
        self.last = self.searched[-1]

    def long_contexts(self, contexts: Contexts) -> None:
        """Search contexts that are one condition longer."""
        self.search(contexts[~self.is_dead(contexts)])
        self.last = self.searched[-1]
        self.check_parts(contexts.shape[1])

    def promising(self, kept: Places) -> Places:
        """In wide tables, keep of the pairs of conditions those that are strongest alone."""
        properties = len(self.exact.properties)
        if properties <= WIDE or self.run.most < PAIRS:
            return kept
        short = self.run.joins.short[kept]
        is_pair = short[:, -PAIRS] > 0
        if np.count_nonzero(is_pair) <= MOST_PAIRS // properties:
            return kept
        alone = self.scored(short[~is_pair], None)
        merits = np.full(len(self.run.joins.own), -math.inf)
        merits[alone.contexts[:, -1]] = alone.scores
        pairs = kept[is_pair]
        most = MOST_PAIRS // properties
        order = np.argpartition(-merits[short[is_pair]].max(axis=1), most)[:most]
        self.run.unvisited += len(pairs) - len(order)
        return np.concatenate([kept[~is_pair], pairs[np.sort(order)]])

    def search(self, contexts: Contexts, places: Places | None = None) -> None:
        """Screen contexts, and note which reach the threshold while no part of them does."""
        scored = self.scored(contexts, places)
        reaches = np.zeros(len(contexts), dtype=bool)
        close = np.flatnonzero(scored.rarity >= self.needed / MARGIN)
        lengths = np.count_nonzero(contexts[close], axis=1)
        for length in np.unique(lengths).tolist():  # shorter ones first
            here = close[lengths == length]
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
        length, base = contexts.shape[1], len(self.run.joins.own)
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
        alive = ~reaches & (contexts > 0).all(axis=1)
        if self.known:
            alive &= ~self.is_dead(contexts)
        return contexts[[place for _, place in scored.strongest(BEAM, alive)]]

    def check_parts(self, length: int) -> None:
        """Where a long context reaches the threshold, look at its parts that were not screened."""
        if length not in self.known:
            return
        for size in range(self.run.levels + 1, length):
            columns = itertools.combinations(range(length), size)
            parts = np.concatenate([self.known[length][:, chosen] for chosen in columns])
            base = len(self.run.joins.own)
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
        lengths = np.count_nonzero(contexts, axis=1)
        for length in np.unique(lengths).tolist():
            here = np.flatnonzero(lengths == length)
            dead[here] = self.is_dead(contexts[here, contexts.shape[1] - length :])
        return dead

    def scored(self, contexts: Contexts, places: Places | None) -> Scored:
        """Score contexts by estimates."""
        self.run.screened += len(contexts)
        rows, mean, at_object = self.estimated(contexts, places)
        if len(self.searched) == 0:  # the first context of all is the one without conditions
            self.overall_mean = float(mean[0])
        if self.measure == "paper":
            rare = scores = or_less(excess(mean, at_object, self.grouped.unit))
        else:
            rare = or_less(rarity(mean, at_object))
            conditions = np.count_nonzero(contexts, axis=1)
            scores = or_less(strength(rare, lift(mean, self.overall_mean), conditions))
        decimals = 9 if self.is_exact else _ESTIMATED_DIGITS
        return Scored(contexts, rows, rounded(scores, self.measure, decimals), rare)

    def estimated(self, contexts: Contexts, places: Places | None) -> tuple[Floats, Floats, Floats]:
        """Give rows, mean(F) and f_o in contexts, NaN where there is nothing to compare."""
        if self.exact.options.bandwidth == "adaptive" or len(contexts) == 0:
            return self.looked_at(contexts)  # such windows are not estimated
        run, grouped, value = self.run, self.grouped, self.trait.position
        found = run.shelf.summaries(grouped, run.numbers[contexts], places)
        mean, width = grouped.seen_from(found, value)
        if self.vicinity is None:
            self.vicinity = Vicinity(grouped, value, run.joins.marks, run.sample)
        near = self.vicinity.counted(contexts, grouped.radii(width))
        return found.rows, mean, density_at(near, found.known, width)

    def estimate(self, context: Context) -> Estimate:
        """Return what is typical in a context, and how far from the object its neighbours are."""
        numbers = np.array([[0, *(item + 1 for item in context)]])
        found = self.run.shelf.summaries(self.grouped, self.run.numbers[numbers], None)
        mean, width = self.grouped.seen_from(found, self.trait.position)
        reach = self.grouped.reach(float(width[0]))
        return Estimate(float(mean[0]), float(width[0]), self.grouped.unit, reach)

    def looked_at(self, contexts: Contexts) -> tuple[Floats, Floats, Floats]:
        """Return the same exactly, one context after the other."""
        hits = [self.run.looks.look(self.place, plain(context)) for context in contexts]
        units = [hit.summary.unit for hit in hits if hit is not None]
        scale = units[0] / self.grouped.unit if units else 1.0  # the screen has one of its own
        figures = [
            (0.0, math.nan, math.nan)
            if hit is None
            else (float(hit.group), hit.summary.mean * scale, hit.summary.at_object * scale)
            for hit in hits
        ]
        rows, mean, at_object = np.array(figures).reshape(-1, 3).T
        return rows, mean, at_object

    def reaching(self, scored: Scored, places: Places) -> Mask:
        """Return which contexts reach the threshold: by estimate, or exactly where it is close."""
        rarity = scored.rarity[places]
        reaches = rarity >= self.needed * (1 - _ROUNDING)
        if self.run.leave_it_to_estimates or self.is_exact:
            return reaches
        for number in np.flatnonzero(rarity < self.needed * MARGIN):
            if (
                len(self.run.looks.hits) >= MOST_LOOKS
            ):  # many pairs: those near the threshold are weak
                break
            hit = self.run.looks.look(self.place, plain(scored.contexts[places[number]]))
            reaches[number] = self.exact.reaches(hit)
        return reaches

    def closest(self) -> list[Rank]:
        """Return the strongest contexts in which the object seems rarer than a typical member."""
        least = 0.0 if self.measure == "paper" else 1 + SAME_DENSITY
        ranked = [
            rank
            for scored, _ in self.searched
            for rank, _ in scored.strongest(_CLOSEST, scored.rarity > least)
        ]
        return sorted(ranked)[:_CLOSEST]
