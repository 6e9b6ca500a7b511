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

from outlying.method.density import Floats
from outlying.method.measure import (
    DECIMALS,
    SAME_DENSITY,
    excess,
    least_rarity,
    rounded,
    strength,
)
from outlying.search import limits
from outlying.search.cache import Cache, StoredContexts
from outlying.search.contexts import CandidateContexts, keys, lengths
from outlying.search.minimality import ReportedContexts, parts
from outlying.search.property_screen import PropertyScreen
from outlying.search.scoring import Evaluation, Glance, Outcome
from outlying.search.screen.bitsets import NONE, Contexts, Places, Workspace
from outlying.search.shortlist import (
    ExactScores,
    Key,
    Rank,
    Ranked,
    ScreenedContexts,
    Shortlist,
    Verification,
    as_tuple,
    glance_of,
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
            exact.least_rows,
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
        pairs = [*short.estimated, *((place, ()) for place in range(len(searched)))]
        found = {
            (place, context): searched[place].screen.estimate(context) for place, context in pairs
        }
        return dataclasses.replace(short, estimates=found)

    def _short(
        self, searched: list[_PropertySearch], top: int, closest: Iterable[Ranked]
    ) -> Shortlist:
        """Rank the pairs that may be reported; of a sample, some of the strongest count."""
        ranked = sorted((rank, found.place) for found in searched for rank in found.reported())
        most = len(ranked) if self.sample.is_whole else limits.MOST_VERIFIED * (top + 1)
        chosen = [*ranked[:most], *self._without_culprits(ranked, most)]
        others = {
            frozenset(self.exact.attributes(place, rank[-1])) for rank, place in ranked[most:]
        }
        return Shortlist(
            ranked=tuple(chosen),
            closest=tuple(closest),
            parts=self._parts(ranked, chosen),
            small=self._small(),
            others=frozenset(others),
            levels=min(self.levels, self.most),
            screened=self.screened,
            unvisited=self.unvisited,
            alone=None if self.is_quick else np.array([found.alone() for found in searched]),
            glance=self._glance(ranked, searched),
            estimates={},
        )

    def _glance(self, ranked: list[Ranked], searched: list[_PropertySearch]) -> Glance:
        found = ((-rank[0], self.exact.attributes(place, rank[-1])) for rank, place in ranked)
        return glance_of(found, np.array([each.searched[0][0].rarity[0] for each in searched]))

    def _without_culprits(self, ranked: list[Ranked], most: int) -> list[Ranked]:
        """Return, for each column of the strongest pair, the strongest of the rest without it.

        How ordinary the row is without a column tells whether that column is to blame.
        """
        if self.is_quick or most >= len(ranked):
            return []
        rank, place = ranked[0]
        found: dict[int, Ranked] = {}
        columns = set(self.exact.attributes(place, rank[-1]))
        for item in ranked[:most]:
            columns &= set(self.exact.attributes(item[1], item[0][-1]))
        for item in ranked[most:]:
            for column in columns - found.keys():
                if column not in self.exact.attributes(item[1], item[0][-1]):
                    found[column] = item
            if len(found) == len(columns):
                break
        return sorted(set(found.values()))

    def _parts(self, ranked: list[Ranked], chosen: list[Ranked]) -> tuple[Key, ...]:
        """Return what else must be known to tell whether pairs are much stronger than parts."""
        if self.exact.options.minimality == "strict" or len(chosen) == len(ranked):
            return ()
        known = {(place, rank[-1]) for rank, place in ranked}
        own = {(place, rank[-1]) for rank, place in chosen}
        needed = {(place, part) for place, context in own for part in parts(context) if part}
        return tuple(sorted((needed & known) - own))

    def _small(self) -> tuple[Key, ...]:
        """Return the pairs whose context is a group too small to be drawn, for all properties."""
        exact = self.exact
        items = [place for place, item in enumerate(exact.candidates) if item.is_small]
        places = range(len(exact.properties))
        return tuple(
            (place, (item,)) for item in items for place in places if place != exact.own[item]
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
        for length in range(self.levels, min(self.most, len(set(self.exact.own)))):
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
        self.searched: list[tuple[ScreenedContexts, Mask]] = []  # contexts, and which of them count
        self.known: dict[int, Contexts] = {}  # contexts that reach, by number of conditions
        self.last: tuple[ScreenedContexts, Mask]
        options = run.exact.options
        self.measure, self.is_strict = options.measure, options.minimality == "strict"
        self.needed = least_rarity(options.min_outlierness, self.measure)
        own = run.exact.properties[place]
        self.screen = PropertyScreen(own, run.exact, run.conditions, run.sample, run.work)
        self.is_exact = self.screen.is_exact
        slip = limits.SAME_STRENGTH if self.is_exact else limits.SLIP
        self.chosen = ReportedContexts(len(run.contexts.own), slip)

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
        if self.is_strict:
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
        """Screen contexts, and note which reach the threshold and may be reported."""
        scored = self.scored(contexts, stored)
        counts = np.zeros(len(contexts), dtype=bool)
        close = np.flatnonzero(scored.rarity >= self.needed / limits.MARGIN)
        conditions = lengths(contexts[close])
        for length in np.unique(conditions).tolist():  # shorter ones first
            here = close[conditions == length]
            own = contexts[here, contexts.shape[1] - length :]
            if self.is_strict:
                kept = ~self.is_dead(own)
            else:
                kept = self.chosen.possible(own, scored.strengths[here])
            here = here[kept]
            here = here[self.reaching(scored, here)]
            counts[here] = True
            own = contexts[here, contexts.shape[1] - length :]
            if self.is_strict:
                self.learn(own)
            else:
                self.chosen.learn(own, scored.strengths[here])
        self.searched.append((scored, counts))

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
        """Choose the contexts to extend: the strongest of the last with rows enough for it.

        If contexts must be minimal, those of which no part is enough.
        """
        scored, reaches = self.last
        contexts = scored.contexts[:, scored.contexts.shape[1] - length :]
        if 0 in self.known or contexts.shape[1] < length:
            return np.zeros((0, length), dtype=np.int64)
        alive = (contexts != NONE).all(axis=1)
        alive &= scored.rows >= self.run.contexts.least_rows(length + 1)
        if self.is_strict:
            alive &= ~reaches & ~self.is_dead(contexts)
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
        """Return the contexts that reach the threshold and may be reported."""
        for scored, counts in self.searched:
            places = np.flatnonzero(counts)
            if self.is_strict:
                places = places[~self._is_dead_padded(scored.contexts[places])]
            for place in places:
                yield scored.ranked(int(place))[0]

    def alone(self) -> Floats:
        """Return the strength given the best single condition on each attribute."""
        found = np.full(len(self.exact.properties), -math.inf)
        scored = self.searched[0][0]
        single = lengths(scored.contexts) == 1
        own = self.run.contexts.own[scored.contexts[single, -1]]
        np.maximum.at(found, own, scored.strengths[single])
        return found

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
        if self.exact.options.bandwidth == "adaptive" or len(contexts) == 0:
            return self.computed(contexts)  # such windows are not estimated
        found = self.screen.rarest(contexts, stored)
        conditions = lengths(contexts).astype(np.float64)
        strengths = least_where_nan(strength(found.rarity, found.lift, conditions))
        rare, scores = least_where_nan(found.rarity), strengths
        if self.measure == "paper":
            unit = self.screen.histogram.unit
            rare = scores = least_where_nan(excess(found.mean, found.at_object, unit))
        return self._screened(contexts, found.rows, scores, rare, strengths)

    def computed(self, contexts: Contexts) -> ScreenedContexts:
        """Score contexts exactly, one after the other."""
        hits = [self.run.scores.look(self.place, as_tuple(context)) for context in contexts]
        figures = [
            (0.0, -math.inf, -math.inf, -math.inf)
            if hit is None
            else (
                float(hit.group),
                hit.score,
                hit.summary.excess() if self.measure == "paper" else hit.summary.rarity,
                hit.strength,
            )
            for hit in hits
        ]
        return self._screened(contexts, *np.array(figures).reshape(-1, 4).T)

    def _screened(
        self, contexts: Contexts, rows: Floats, scores: Floats, rare: Floats, strengths: Floats
    ) -> ScreenedContexts:
        decimals = DECIMALS if self.is_exact else limits.ESTIMATED_DECIMALS
        scores = rounded(scores, self.measure, decimals)
        return ScreenedContexts(contexts, rows, scores, rare, strengths)

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
