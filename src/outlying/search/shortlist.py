"""From estimated pairs to exact ones: what the screen has found promising is verified.

The estimates say what is to be computed, whatever comes out: so all of it can be computed in one
pass over a table that is not in memory.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
import sys
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.method.density import Floats
from outlying.method.measure import SAME_SCORE
from outlying.search import limits
from outlying.search.scoring import Context, Effort, Evaluation, Hit, Outcome, rank_of
from outlying.search.screen.bitsets import NONE, Contexts
from outlying.search.screen.histograms import Estimate
from outlying.table.columns import Mask

Rank: TypeAlias = tuple[float, int, float, Context]  # score, conditions, rows: the less the better


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ScreenedContexts:
    """Contexts of one property with what the screen says of them."""

    contexts: Contexts
    rows: Floats
    scores: Floats  # -inf where there is nothing to compare
    rarity: Floats  # or the paper's difference of areas

    def strongest(self, number: int, kept: Mask) -> list[tuple[Rank, int]]:
        """Choose some of the contexts by score; ties: fewer conditions, more rows, their names."""
        scores = np.where(kept, self.scores, -math.inf)
        least = -sys.float_info.max
        if len(scores) > number:
            least = max(least, float(np.partition(scores, -number)[-number]))
        best = (self.ranked(place) for place in np.flatnonzero(scores >= least).tolist())
        return sorted(best)[:number]

    def ranked(self, place: int) -> tuple[Rank, int]:
        """Return what orders a context, and its place."""
        context = as_tuple(self.contexts[place])
        rank = (-float(self.scores[place]), len(context), -float(self.rows[place]), context)
        return rank, place


def least_where_nan(numbers: Floats) -> Floats:
    """Put what is not comparable last in an order."""
    return np.where(np.isnan(numbers), -math.inf, numbers)


def as_tuple(context: npt.NDArray[np.int64]) -> Context:
    """Return a line of contexts as exact scores know it."""
    return tuple(context[context != NONE].tolist())


Key: TypeAlias = tuple[int, Context]  # property and context
Ranked: TypeAlias = tuple[Rank, int]  # what orders a context, and the property


@dataclasses.dataclass(frozen=True, slots=True)
class Shortlist:
    """What a sample leaves to be computed exactly, in the order of its estimates.

    `closest` are pairs to fall back on where none of the ranked ones reaches the threshold.
    """

    ranked: tuple[Ranked, ...]
    closest: tuple[Ranked, ...]
    others: frozenset[tuple[int, ...]]  # attributes of the pairs that are too weak to be computed
    levels: int
    screened: int
    unvisited: int
    estimates: dict[Key, Estimate]  # of a quick search only, which relies on them

    @property
    def pairs(self) -> list[Key]:
        """The property and the context of all that may be computed exactly."""
        return [(place, rank[-1]) for rank, place in (*self.ranked, *self.closest)]


def verified(short: Shortlist, exact: Evaluation, top: int) -> Outcome:
    """Choose among the pairs of a shortlist by their exact scores."""
    return Verification(short, ExactScores(exact), top).outcome(lambda: short.closest)


class ExactScores:
    """Pairs scored exactly, each once."""

    def __init__(self, exact: Evaluation) -> None:
        self.exact = exact
        self.hits: dict[Key, Hit | None] = {}

    def look(self, place: int, context: Context) -> Hit | None:
        """Score a pair exactly."""
        if (place, context) not in self.hits:
            self.hits[place, context] = self.exact.look(place, context)
        return self.hits[place, context]


class Verification:
    """The choice among estimated pairs by their exact scores."""

    def __init__(self, short: Shortlist, scores: ExactScores, top: int) -> None:
        self.short, self.scores, self.exact, self.top = short, scores, scores.exact, top
        self.dropped: dict[Key, Hit | None] = {}

    def outcome(self, closest: Callable[[], Iterable[Ranked]]) -> Outcome:
        """Return the pairs that reach the threshold, or else the closest ones."""
        hits = self._verified()
        near = [] if hits else self._closest(closest())
        return Outcome(
            tuple(hits),
            tuple(near),
            self.short.levels,
            self._found() if hits else len(near),
            Effort(
                self.short.screened, len(self.scores.hits), len(self.dropped), self.short.unvisited
            ),
        )

    def _verified(self) -> list[Hit]:
        """Compute the strongest pairs exactly, until the estimates of the rest are too weak."""
        hits: list[Hit] = []
        best: dict[tuple[int, ...], float] = {}
        for rank, place in self.short.ranked:
            if len(best) >= self.top and (
                -rank[0] < heapq.nlargest(self.top, best.values())[-1] - limits.SLACK
            ):
                break
            hit = self.scores.look(place, rank[-1])
            if hit is not None and self.exact.reaches(hit):
                hits.append(hit)
                attributes = self.exact.attributes(place, hit.context)
                best[attributes] = max(hit.score, best.get(attributes, -math.inf))
            else:
                self.dropped[place, rank[-1]] = hit
        return hits

    def _closest(self, ranked: Iterable[Ranked]) -> list[Hit]:
        """Return the strongest pair of each property, where none reaches the threshold."""
        looked = (self.scores.look(place, rank[-1]) for rank, place in ranked)
        hits = [*self.dropped.values(), *looked]
        known = [hit for hit in hits if hit is not None and hit.outlierness > SAME_SCORE]
        best: dict[int, Hit] = {}
        for hit in sorted(known, key=rank_of):
            best.setdefault(hit.property, hit)
        return [best[place] for place in sorted(best)]

    def _found(self) -> int:
        """Count the pairs that differ in more than the scale of an interval.

        Where enough were found, those that were only estimated count, too.
        """
        pairs = {(place, rank[-1]) for rank, place in self.short.ranked} - self.dropped.keys()
        attributes = {self.exact.attributes(place, context) for place, context in pairs}
        return len(attributes | self.short.others if len(attributes) >= self.top else attributes)
