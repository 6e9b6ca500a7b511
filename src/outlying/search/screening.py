"""The screen, level by level: what an object looks like in many contexts, and which are worth more.

All contexts of up to two conditions are screened, those of three where they are not too many;
beyond, only extensions of the strongest ones of each property: a beam search. What comes of it is
small: the contexts that may reach the threshold, those of up to one condition, and the strongest.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from outlying.method.density import Floats
from outlying.method.measure import (
    CONDITION_PENALTY,
    DECIMALS,
    SAME_DENSITY,
    excess,
    least_rarity,
    rounded,
    strength,
)
from outlying.search import limits
from outlying.search.cache import Cache
from outlying.search.contexts import CandidateContexts, as_tuple, lengths, padded
from outlying.search.property_screen import PropertyScreen, Rarest
from outlying.search.scoring import Context, Evaluation, ExactScores
from outlying.search.screen.bitsets import NONE, Contexts, Places, Workspace
from outlying.search.screen.histograms import Estimate, Histogram
from outlying.table.columns import Mask

Rank: TypeAlias = tuple[float, int, float, Context]  # score, conditions, rows: the less the better

_ROUNDED = 39  # bits of a strength that do not count where contexts are chosen


def discounts(most: int) -> Floats:
    """Return by what strengths, as products, are less for each number of conditions."""
    return np.array([math.exp(-CONDITION_PENALTY * number) for number in range(most + 1)])


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ScreenedContexts:
    """Contexts of one property with what the screen says of them."""

    contexts: Contexts
    rows: Floats
    scores: Floats  # -inf where there is nothing to compare
    rarity: Floats  # or the paper's difference of areas
    strengths: Floats
    keys: Floats  # what the strongest are chosen by; -inf where there is nothing to compare
    found: Rarest | None  # None where it was computed exactly

    def __getitem__(self, places: Places | slice) -> ScreenedContexts:
        """Choose some of them."""
        return ScreenedContexts(
            self.contexts[places],
            self.rows[places],
            self.scores[places],
            self.rarity[places],
            self.strengths[places],
            self.keys[places],
            None if self.found is None else self.found[places],
        )

    def strongest(self, number: int, kept: Mask) -> list[int]:
        """Choose some of the contexts; ties: fewer conditions, more rows, their names."""
        places = np.flatnonzero(kept & (self.keys > -math.inf))
        if len(places) > number:
            keys = self.keys[places]
            places = places[keys >= np.partition(keys, -number)[-number]]
        return sorted(places.tolist(), key=self._order)[:number]

    def _order(self, place: int) -> tuple[float, int, float, Context]:
        context = as_tuple(self.contexts[place])
        return -self.keys[place], len(context), -float(self.rows[place]), context

    def ranked(self, place: int) -> Rank:
        """Return what orders a context."""
        context = as_tuple(self.contexts[place])
        return -float(self.scores[place]), len(context), -float(self.rows[place]), context

    def estimate(self, context: Context, histogram: Histogram) -> Estimate:
        """Return what is typical in a context, and how far from the object its neighbours are."""
        line = [NONE] * (self.contexts.shape[1] - len(context)) + list(context)
        place, found = int(np.flatnonzero((self.contexts == line).all(axis=1))[0]), self.found
        assert found is not None  # noqa: S101 - estimates are asked for where there are any
        known, width = float(found.known[place]), float(found.width[place])
        return Estimate(
            inside=float(found.inside[place]) / known if known else math.nan,
            width=width,
            unit=histogram.unit,
            reach=histogram.reach(width),
            lift=float(found.lift[place]),
            scale=int(found.scale[place]),
        )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ScreenedProperty:
    """The contexts of one property that may be reported, of some objects."""

    place: int
    histogram: Histogram
    objects: Sequence[int]
    slices: Sequence[slice]  # the contexts of each object
    scored: ScreenedContexts


Take: TypeAlias = Callable[[ScreenedProperty], None]


class Bars:
    """For each object, the strength below which nothing matters; -inf where all does."""

    def __init__(self, least: Floats) -> None:
        self.least = least

    @property
    def products(self) -> Floats:
        """The same as products of rarity and lift, as strengths are compared while screening."""
        return np.exp(self.least)


def least_where_nan(numbers: Floats) -> Floats:
    """Put what is not comparable last in an order."""
    return np.where(np.isnan(numbers), -math.inf, numbers)


class Asked:
    """An object made ready for the screen: its conditions, and which of them go together."""

    def __init__(self, exact: Evaluation, cache: Cache) -> None:
        self.exact, self.cache, self.sample = exact, cache, cache.sample
        self.scores, self.work = ExactScores(exact), Workspace()
        self.most = exact.options.max_conditions
        self.conditions = cache.own(exact.candidates)
        self.contexts = CandidateContexts(
            self.conditions,
            exact.condition_families,
            self.sample,
            exact.least_rows,
            self.most,
            self.work,
        )
        self.screened = self.unvisited = 0
        options = exact.options
        self.needed = least_rarity(options.min_outlierness, options.measure)

    @functools.cached_property
    def levels(self) -> int:
        """All contexts of up to so many conditions are screened."""
        return self.contexts.levels

    @property
    def longest(self) -> int:
        """How many conditions a context can have at most."""
        return min(self.most, len(set(self.exact.condition_families)))

    @property
    def families(self) -> int:
        """How many families there are: columns of the table with what is derived from each."""
        return len(set(self.exact.families))

    @property
    def is_wide(self) -> bool:
        """Whether not all pairs of conditions may be screened."""
        return len(self.exact.properties) > limits.WIDE and self.most >= limits.PAIRS

    def promising(self, kept: Places, alone: ScreenedContexts) -> Places:
        """In wide tables, keep of the pairs of conditions those that are strongest alone."""
        short, most = self.contexts.short[kept], limits.MOST_PAIRS // len(self.exact.properties)
        is_pair = short[:, -limits.PAIRS] != NONE
        if np.count_nonzero(is_pair) <= most:
            return kept
        merits = np.full(len(self.contexts.own), -math.inf)
        merits[alone.contexts[:, -1]] = alone.scores
        pairs = kept[is_pair]
        order = np.argsort(-merits[short[is_pair]].max(axis=1), kind="stable")[:most]
        self.unvisited += len(pairs) - len(order)
        return np.concatenate([kept[~is_pair], pairs[np.sort(order)]])

    def kept(self, scored: ScreenedContexts) -> ScreenedContexts:
        """Keep what may be reported, short contexts, and the strongest."""
        kept = lengths(scored.contexts) <= 1
        kept |= scored.rarity >= self.needed / limits.MARGIN
        kept[scored.strongest(limits.CLOSEST, scored.rarity > self.ordinary)] = True
        return scored[np.flatnonzero(kept)]

    @property
    def ordinary(self) -> float:
        """The rarity, or the paper's difference, of an object that is like all others."""
        return 0.0 if self.exact.options.measure == "paper" else 1 + SAME_DENSITY

    def scored(self, contexts: Contexts, found: Rarest, histogram: Histogram) -> ScreenedContexts:
        """Score contexts by what the screen found."""
        conditions = lengths(contexts)
        strengths = strength(found.rarity, found.lift, conditions.astype(np.float64))
        rare = least_where_nan(found.rarity)
        scores = strengths = least_where_nan(strengths)
        measure, products = self.exact.options.measure, found.rarity * found.lift
        keys = _rounded(products * discounts(contexts.shape[1])[conditions])
        if measure == "paper":
            rare = scores = least_where_nan(excess(found.mean, found.at_object, histogram.unit))
        is_exact = histogram.is_exact and self.sample.is_whole
        decimals = DECIMALS if is_exact else limits.ESTIMATED_DECIMALS
        scores = rounded(scores, measure, decimals)
        if measure == "paper":
            keys = scores
        return ScreenedContexts(contexts, found.rows, scores, rare, strengths, keys, found)


def _rounded(products: Floats) -> Floats:
    """Return strengths, rounded so that ties are ties, as whole numbers in the same order."""
    keys = (products.view(np.int64) + (1 << (_ROUNDED - 1))) >> _ROUNDED
    return np.where(np.isnan(products), -math.inf, keys)


class PropertyScreening:
    """Screens contexts of one object for one property, by NumPy."""

    def __init__(self, asked: Asked, place: int) -> None:
        self.asked, self.place, self.exact = asked, place, asked.exact
        own = self.exact.properties[place]
        self.screen = PropertyScreen(own, self.exact, asked.conditions, asked.sample, asked.work)
        self.is_exact = self.screen.is_exact

    def short_contexts(self) -> ScreenedContexts:
        """Screen all contexts of few conditions."""
        contexts = self.asked.contexts
        kept = np.flatnonzero(contexts.without(self.exact.families[self.place]))
        if self.asked.is_wide:
            single = kept[lengths(contexts.short[kept]) <= 1]
            kept = self.asked.promising(kept, self.scored(contexts.short[single]))
        return self.scored(contexts.short[kept])

    def scored(self, contexts: Contexts) -> ScreenedContexts:
        """Score contexts by estimates."""
        self.asked.screened += len(contexts)
        if self.exact.options.bandwidth == "adaptive" or len(contexts) == 0:
            return self._computed(contexts)  # such windows are not estimated
        found = self.screen.rarest(contexts)
        return self.asked.scored(contexts, found, self.screen.histogram)

    def _computed(self, contexts: Contexts) -> ScreenedContexts:
        """Score contexts exactly, one after the other."""
        hits = [self.asked.scores.look(self.place, as_tuple(context)) for context in contexts]
        measure = self.exact.options.measure
        figures = [
            (0.0, -math.inf, -math.inf, -math.inf)
            if hit is None
            else (
                float(hit.group),
                hit.score,
                hit.summary.excess() if measure == "paper" else hit.summary.rarity,
                hit.strength,
            )
            for hit in hits
        ]
        rows, scores, rare, strengths = np.array(figures).reshape(-1, 4).T
        scores = rounded(scores, measure, DECIMALS if self.is_exact else limits.ESTIMATED_DECIMALS)
        return ScreenedContexts(contexts, rows, scores, rare, strengths, scores, None)

    def leaders(self, scored: ScreenedContexts, length: int, alive: Mask | None = None) -> Contexts:
        """Choose the contexts to extend: the strongest of a length with rows enough for it."""
        contexts = scored.contexts[:, max(0, scored.contexts.shape[1] - length) :]
        if contexts.shape[1] < length:
            return np.zeros((0, length), dtype=np.int64)
        kept = (contexts != NONE).all(axis=1) if alive is None else alive
        kept = kept & (scored.rows >= self.asked.contexts.least_rows(length + 1))
        return contexts[scored.strongest(limits.BEAM, kept)]


def extended(asked: Asked, leaders: Sequence[Contexts], places: Sequence[int]) -> list[Contexts]:
    """Extend contexts of properties by one condition, some properties at once."""
    families, found = np.array(asked.exact.families), []
    most = max(1, limits.MOST_EXTENDED // (limits.BEAM * len(asked.contexts.own)))
    for start in range(0, len(places), most):
        some = slice(start, start + most)
        own = families[list(places[some])]
        found += asked.contexts.extended(list(leaders[some]), own, asked.families)
    return found


def screened_by_numpy(asked: Asked, number: int, take: Take) -> None:
    """Screen an object, level by level; let `take` have what may be reported of each property."""
    total = len(asked.exact.properties)
    screens, last = [], []
    for place in range(total):
        asked.exact.progress(place, total)
        screens.append(PropertyScreening(asked, place))
        last.append(screens[-1].short_contexts())
    kept = [[asked.kept(scored)] for scored in last]
    for length in range(asked.levels, asked.longest):
        pairs = zip(screens, last, strict=True)
        leaders = [screen.leaders(scored, length) for screen, scored in pairs]
        grown = extended(asked, leaders, range(total))
        last = [screen.scored(contexts) for screen, contexts in zip(screens, grown, strict=True)]
        for some, scored in zip(kept, last, strict=True):
            some.append(asked.kept(scored))
    for place, (screen, some) in enumerate(zip(screens, kept, strict=True)):
        scored = asked.kept(_together(some, max(1, asked.longest)))
        here = slice(0, len(scored.rows))
        take(ScreenedProperty(place, screen.screen.histogram, [number], [here], scored))


def _together(some: Sequence[ScreenedContexts], width: int) -> ScreenedContexts:
    """Put screened contexts of several lengths together, the shortest first."""
    width = max(width, *(each.contexts.shape[1] for each in some))
    contexts = np.concatenate([padded(each.contexts, width) for each in some])
    found = [each.found for each in some if each.found is not None]
    return ScreenedContexts(
        contexts,
        np.concatenate([each.rows for each in some]),
        np.concatenate([each.scores for each in some]),
        np.concatenate([each.rarity for each in some]),
        np.concatenate([each.strengths for each in some]),
        np.concatenate([each.keys for each in some]),
        Rarest.together(found) if found else None,
    )
