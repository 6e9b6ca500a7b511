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
from outlying.search.minimality import Chosen
from outlying.search.scoring import Context, Effort, Evaluation, Glance, Hit, Outcome, rank_of
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
    strengths: Floats

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

    `closest` are pairs to fall back on where none of the ranked ones reaches the threshold. `parts`
    are needed to tell whether a larger context is much stronger; `small` ones could not be
    estimated, as too few of their rows were drawn.
    """

    ranked: tuple[Ranked, ...]
    closest: tuple[Ranked, ...]
    parts: tuple[Key, ...]
    small: tuple[Key, ...]
    others: frozenset[frozenset[int]]  # attributes of the pairs that are too weak to be computed
    levels: int
    screened: int
    unvisited: int
    alone: Floats | None
    glance: Glance
    estimates: dict[Key, Estimate]  # of a quick search only, which relies on them

    @property
    def estimated(self) -> list[Key]:
        """The property and the context of the pairs that were estimated."""
        return [*((place, rank[-1]) for rank, place in (*self.ranked, *self.closest)), *self.parts]

    @property
    def pairs(self) -> list[Key]:
        """The property and the context of all that may be computed exactly."""
        return [*self.estimated, *self.small]


def glance_of(found: Iterable[tuple[float, Iterable[int]]], rarities: Floats) -> Glance:
    """Look at the strengths and columns of pairs, the strongest first, and at rarities alone."""
    known = np.maximum(np.where(np.isfinite(rarities), rarities, 1.0), 1.0)
    surprise = float(np.add.reduce(np.log(known)) / len(known))
    rests: dict[int, float] = {}  # by column of the strongest pair: the strongest one without it
    left: set[int] | None = None
    for strength, columns in found:
        left = set(columns) if left is None else left
        for column in left.difference(columns):
            rests[column] = strength
        left -= rests.keys()
        if not left:
            break
    rests |= dict.fromkeys(left or (), 0.0)
    rest, blamed = min(((rest, column) for column, rest in rests.items()), default=(0.0, 0))
    return Glance(rest, blamed, surprise)


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
        self.failed: dict[Key, Hit | None] = {}  # below the threshold, or of too few rows
        self.hits: list[Hit] = []
        self.stories: dict[frozenset[int], float] = {}  # sets of columns, and their best score
        self._ranked = {(place, rank[-1]) for rank, place in short.ranked}
        self._possible = self._ranked.union(short.parts)
        self._chosen = Chosen(self._reaching)

    def outcome(self, closest: Callable[[], Iterable[Ranked]]) -> Outcome:
        """Return the pairs that reach the threshold, or else the closest ones."""
        for place, context in self.short.small:
            self._take(place, context)
        self._verify()
        near = [] if self.hits else self._closest(closest())
        dropped = len(self.failed.keys() & self._ranked)
        return Outcome(
            tuple(self.hits),
            tuple(near),
            self.short.levels,
            self._found() if self.hits else len(near),
            Effort(self.short.screened, len(self.scores.hits), dropped, self.short.unvisited),
            self.short.alone,
            self.short.glance,
        )

    def _verify(self) -> None:
        """Compute the strongest pairs exactly, until the estimates of the rest are too weak.

        But for each column of the strongest pair, one without it is computed: how strong it is
        tells whether that column is to blame.
        """
        for rank, place in self.short.ranked:
            if self._is_weak(-rank[0]):
                shared = set() if self.top == 1 else self._shared_columns()
                if not shared:
                    return
                if shared.issubset(self.exact.attributes(place, rank[-1])):
                    continue
            self._take(place, rank[-1])

    def _is_weak(self, estimate: float) -> bool:
        """Return whether a pair is too weak to be among the first stories."""
        if len(self.stories) < self.top:
            return False
        return estimate < heapq.nlargest(self.top, self.stories.values())[-1] - limits.SLACK

    def _shared_columns(self) -> set[int]:
        """Return the columns of the strongest pair that all others so far have, too."""
        first = max(self.hits, key=lambda hit: hit.score)
        shared = set(self.exact.attributes(first.property, first.context))
        for hit in self.hits:
            shared &= set(self.exact.attributes(hit.property, hit.context))
        return shared

    def _take(self, place: int, context: Context) -> None:
        hit = self.scores.look(place, context)
        if hit is None or not self.exact.reaches(hit):
            self.failed[place, context] = hit
            return
        if self.exact.options.minimality == "strict" or self._chosen(hit):
            self.hits.append(hit)
            self._tell(hit)

    def _tell(self, hit: Hit) -> None:
        """Note a story, or another telling of one."""
        columns = frozenset(self.exact.attributes(hit.property, hit.context))
        known = next((story for story in self.stories if story <= columns), columns)
        self.stories[known] = max(hit.score, self.stories.get(known, -math.inf))

    def _reaching(self, place: int, context: Context) -> Hit | None:
        """Return a pair that may be reported and reaches the threshold."""
        if context and (place, context) not in self._possible:
            return None
        hit = self.scores.look(place, context)
        return hit if self.exact.reaches(hit) else None

    def _closest(self, ranked: Iterable[Ranked]) -> list[Hit]:
        """Return the strongest pair of each property, where none reaches the threshold."""
        looked = (self.scores.look(place, rank[-1]) for rank, place in ranked)
        hits = [*self.failed.values(), *looked]
        known = [hit for hit in hits if hit is not None and hit.outlierness > SAME_SCORE]
        best: dict[int, Hit] = {}
        for hit in sorted(known, key=rank_of):
            best.setdefault(hit.property, hit)
        return [best[place] for place in sorted(best)]

    def _found(self) -> int:
        """Count the stories: sets of columns that contain none of the stronger ones.

        Where enough were found, those that were only estimated count, too.
        """
        if len(self.stories) < self.top:
            return len(self.stories)
        found = list(self.stories)
        ranked = (self.exact.attributes(p, c) for p, c in self._ranked - self.failed.keys())
        others = {*map(frozenset, ranked), *self.short.others}
        for columns in sorted(others, key=lambda some: (len(some), sorted(some))):
            if len(found) < limits.MOST_STORIES and not any(story <= columns for story in found):
                found.append(columns)
        return len(found)
