"""The exhaustive search: the paper's level-wise search for minimal pairs (section 5.2).

A property is *alive* in a context as long as no subset of that context reports it; where a larger
context may be reported if it is much stronger, it stays alive. Contexts and
their supports are shared by all properties, which are held as bits of one integer; a context is
visited only if all its subsets of one condition less are alive (an apriori join).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from outlying.method.measure import SAME_SCORE
from outlying.search import minimality
from outlying.search.scoring import Context, Exact, Glance, Hit, Outcome, rank_of
from outlying.search.shortlist import glance_of
from outlying.table.columns import Mask


def exhaustive(exact: Exact) -> Outcome:
    """Find every minimal pair: the paper's search."""
    run = _Exhaustive(exact)
    run.level_wise(exact.options.max_conditions)
    return run.outcome()


class _Exhaustive:
    """Level by level over all contexts: what is fixed, and what has been found so far."""

    def __init__(self, exact: Exact) -> None:
        self.exact = exact
        self.families = exact.condition_families
        self.excluded = [_bits_of(exact.families, family) for family in self.families]
        self.reported: list[Hit] = []
        self.closest: dict[int, Hit] = {}
        self.is_strict = exact.options.minimality == "strict"
        count = len(set(exact.families))
        self.alone = np.full((count, count), -math.inf)

    def level_wise(self, levels: int) -> None:
        """Visit every context up to this many conditions that the apriori join lets through."""
        alone = self.visit((), self.exact.mask(()), (1 << len(self.exact.properties)) - 1)
        alive: dict[Context, int] = {(): alone}
        for _ in range(min(levels, len(set(self.families)))):  # one condition per family
            alive = self.next_level(alive)

    def next_level(self, alive: dict[Context, int]) -> dict[Context, int]:
        """Join the contexts of one level into those of the next (a real apriori join)."""
        grown: dict[Context, int] = {}
        for done, (context, bits) in enumerate(alive.items()):
            self.exact.progress(done, len(alive))
            mask = self.exact.mask(context)
            for added in range(context[-1] + 1 if context else 0, len(self.exact.candidates)):
                joined = (*context, added)
                living = bits & ~self.excluded[added] & self.living_in_subsets(joined, alive)
                if living:
                    inner = mask & self.exact.mask_of(added)
                    if left := self.visit(joined, inner, living):
                        grown[joined] = left
        return grown

    def living_in_subsets(self, joined: Context, alive: dict[Context, int]) -> int:
        """Return which properties are alive in all subsets that the join has not looked at yet."""
        if self.families[joined[-1]] in [self.families[item] for item in joined[:-1]]:
            return 0  # at most one condition per family
        living = -1
        for place in range(len(joined) - 1):
            living &= alive.get(joined[:place] + joined[place + 1 :], 0)
        return living

    def visit(self, context: Context, mask: Mask, living: int) -> int:
        """Evaluate the living properties of a context; return those that stay alive."""
        group = int(np.count_nonzero(mask))
        if group < self.exact.least_rows(len(context)):
            return 0
        for place in _bits(living):
            if self.evaluate(place, context, mask, group) and self.is_strict:
                living &= ~(1 << place)
        return living

    def evaluate(self, place: int, context: Context, mask: Mask, group: int) -> bool:
        """Evaluate a property in a context; return whether it reaches the threshold."""
        summary = self.exact.summary(place, mask) if context else self.exact.overall(place)
        hit = self.exact.hit(place, context, group, summary)
        if hit is None:
            return False
        if len(context) == 1:
            pair = self.exact.families_of(place, context)
            self.alone[pair] = max(self.alone[pair], hit.strength)
        if self.exact.reaches(hit):
            self.reported.append(hit)
            return True
        best = self.closest.get(place)
        if hit.outlierness > SAME_SCORE and (best is None or rank_of(hit) < rank_of(best)):
            self.closest[place] = hit
        return False

    def outcome(self) -> Outcome:
        hits = self.reported if self.is_strict else minimality.reported(self.reported)
        closest = tuple(self.closest.values())
        glance = self.glance(hits)
        return Outcome(tuple(hits), closest, None, alone=self.alone, glance=glance)

    def glance(self, hits: list[Hit]) -> Glance:
        exact = self.exact
        columns = (frozenset(exact.families_of(hit.property, hit.context)) for hit in hits)
        strengths = (hit.strength for hit in hits)
        found = sorted(zip(strengths, columns, strict=True), key=lambda item: -item[0])
        overall = map(exact.overall, range(len(exact.properties)))
        rarities = [math.nan if each is None else each.rarity for each in overall]
        return glance_of(found, np.array(rarities))


def _bits_of(families: Sequence[int], family: int) -> int:
    """Return the properties of a family as bits."""
    return sum(1 << place for place, own in enumerate(families) if own == family)


def _bits(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low
