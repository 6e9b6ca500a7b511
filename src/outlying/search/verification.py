"""From estimated pairs to exact ones: the strongest are computed from all rows."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable

from outlying.method.measure import SAME_SCORE
from outlying.search import limits
from outlying.search.minimality import Chosen
from outlying.search.scoring import Context, Effort, Evaluation, ExactScores, Hit, Outcome, rank_of
from outlying.search.shortlist import Key, Ranked, Shortlist


def verified(short: Shortlist, exact: Evaluation, top: int) -> Outcome:
    """Choose among the pairs of a shortlist by their exact scores."""
    return Verification(short, ExactScores(exact), top).outcome(lambda: short.closest)


class Verification:
    """The choice among estimated pairs by their exact scores."""

    def __init__(self, short: Shortlist, scores: ExactScores, top: int) -> None:
        self.short, self.scores, self.exact, self.top = short, scores, scores.exact, top
        self.failed: dict[Key, None] = {}  # below the threshold, or of too few rows; in order
        self.hits: list[Hit] = []
        self.stories: dict[frozenset[int], float] = {}  # sets of columns, and their best score
        self.looked = self.dropped = 0  # of the ranked ones, and those that fail
        self._chosen = Chosen(self._reaching)

    def outcome(self, closest: Callable[[], Iterable[Ranked]]) -> Outcome:
        """Return the pairs that reach the threshold, or else the closest ones."""
        for place, context in self.short.small:
            self._take(place, context)
        self._verify()
        near = [] if self.hits else self._closest(closest())
        return Outcome(
            tuple(self.hits),
            tuple(near),
            self.short.levels,
            self._is_cut(),
            Effort(self.short.screened, self.scores.looked, self.dropped, self.short.unvisited),
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
                if shared.issubset(self.exact.families_of(place, rank[-1])):
                    self.looked += 1
                    continue
            self.looked += 1
            self._take(place, rank[-1])
            self.dropped += (place, rank[-1]) in self.failed

    def _is_weak(self, estimate: float) -> bool:
        """Return whether a pair is too weak to be among the first stories."""
        if len(self.stories) < self.top:
            return False
        return estimate < heapq.nlargest(self.top, self.stories.values())[-1] - limits.SLACK

    def _shared_columns(self) -> set[int]:
        """Return the columns of the strongest pair that all others so far have, too."""
        first = max(self.hits, key=lambda hit: hit.score)
        shared = set(self.exact.families_of(first.property, first.context))
        for hit in self.hits:
            shared &= set(self.exact.families_of(hit.property, hit.context))
        return shared

    def _take(self, place: int, context: Context) -> None:
        hit = self.scores.reaching(place, context)
        if hit is None:
            self.failed[place, context] = None
            return
        if self.exact.options.minimality == "strict" or self._chosen(hit):
            self.hits.append(hit)
            self._tell(hit)

    def _tell(self, hit: Hit) -> None:
        """Note a story, or another telling of one."""
        columns = frozenset(self.exact.families_of(hit.property, hit.context))
        known = next((story for story in self.stories if story <= columns), columns)
        self.stories[known] = max(hit.score, self.stories.get(known, -math.inf))

    def _reaching(self, place: int, context: Context) -> Hit | None:
        """Return a pair that may be reported and reaches the threshold."""
        if not self.short.may_report(place, context):
            return None
        return self.scores.reaching(place, context)

    def _closest(self, ranked: Iterable[Ranked]) -> list[Hit]:
        """Return the strongest pair of each property, where none reaches the threshold."""
        pairs = [*self.failed, *((place, rank[-1]) for rank, place in ranked)]
        hits = [self.scores.look(place, context) for place, context in pairs]
        known = [hit for hit in hits if hit is not None and hit.outlierness > SAME_SCORE]
        best: dict[int, Hit] = {}
        for hit in sorted(known, key=rank_of):
            best.setdefault(hit.property, hit)
        return [best[place] for place in sorted(best)]

    def _is_cut(self) -> bool:
        """Return whether there are more stories: pairs that contain none of those told."""
        if len(self.stories) < self.top or self.short.alone is None:
            return False
        left = self.short.ranked[self.looked :]
        return left.tell_more(self.stories) or self.short.others.tell_more(self.stories)
