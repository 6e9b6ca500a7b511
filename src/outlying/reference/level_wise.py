"""The search for minimal pairs, level by level (paper, section 5.2; method 5).

Reported is (E, p) where E has at most k conditions, DB_E keeps sigma of the rows, p is not in E,
its outlierness reaches theta, and no proper subset of E reports p. p is *alive* in E as long as
neither E nor a subset reports it. A context of level j is visited only for the properties that are
alive in all its subsets of level j - 1 (a real apriori join); level 0, without conditions, counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np

from outlying.method.measure import SAME_SCORE, reaches
from outlying.reference.scores import Scores
from outlying.search.scoring import Context, Hit, Outcome

Alive: TypeAlias = Mapping[Context, frozenset[int]]  # properties by context
_NONE: frozenset[int] = frozenset()


def minimal_pairs(scores: Scores, progress: Callable[[int, int], None]) -> Outcome:
    """Find every minimal pair; where none reaches theta, the strongest of each property."""
    search = _LevelWise(scores)
    k = scores.options.max_conditions
    alive: Alive = {(): search.visit((), frozenset(range(len(scores.properties))))}
    for _ in range(min(k, len(scores.candidates))):
        alive = search.next_level(alive, progress)
    return Outcome(reported=tuple(search.reported), closest=tuple(search.closest.values()))


class _LevelWise:
    """What has been found so far."""

    def __init__(self, scores: Scores) -> None:
        self.scores, self.theta = scores, scores.paper.min_outlierness
        self.families = [scores.families[place] for place in scores.own]  # of conditions
        self.reported: list[Hit] = []
        self.closest: dict[int, Hit] = {}

    def next_level(self, alive: Alive, progress: Callable[[int, int], None]) -> Alive:
        """Join the contexts of one level into those of the next."""
        grown: dict[Context, frozenset[int]] = {}
        for done, context in enumerate(alive):
            progress(done, len(alive))
            for added in range(context[-1] + 1 if context else 0, len(self.families)):
                joined = (*context, added)
                if living := self.living(joined, alive):
                    grown[joined] = self.visit(joined, living)
        return {context: living for context, living in grown.items() if living}

    def living(self, context: Context, alive: Alive) -> frozenset[int]:
        """Return the properties that are alive in all subsets, and in none of the conditions."""
        families = {self.families[item] for item in context}
        if len(families) < len(context):
            return _NONE  # one condition per attribute
        subsets = itertools.combinations(context, len(context) - 1)
        living = frozenset.intersection(*(alive.get(subset, _NONE) for subset in subsets))
        return frozenset(p for p in living if self.scores.families[p] not in families)

    def visit(self, context: Context, living: Iterable[int]) -> frozenset[int]:
        """Score the living properties of a context; return those that stay alive."""
        mask = self.scores.mask(context)
        if np.count_nonzero(mask) < self.scores.least_rows(len(context)):
            return _NONE
        hits = {place: self.scores.scored(place, context, mask) for place in living}
        return frozenset(place for place, hit in hits.items() if not self.is_reported(hit))

    def is_reported(self, hit: Hit | None) -> bool:
        """Take a pair: report it if it reaches theta, or remember it as the closest."""
        if hit is None:
            return False
        if reaches(hit.outlierness, self.theta):
            self.reported.append(hit)
            return True
        best = self.closest.get(hit.property)
        if hit.outlierness > SAME_SCORE and (best is None or _rank(hit) < _rank(best)):
            self.closest[hit.property] = hit
        return False


def _rank(hit: Hit) -> tuple[float, int, int, Context]:
    """Order pairs of one property: score, fewer conditions, more rows, names."""
    return -hit.score, len(hit.context), -hit.group, hit.context
