"""Level-wise search for minimal pairs of context and property (paper, section 5.2; method 5).

A context is a sorted tuple of condition numbers. A property is *alive* in a context as long as no
subset of that context reports it; contexts and their supports are shared by all properties, which
are held as bits of one integer.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from outlying.options import Options
from outlying.outlierness import SAME_SCORE, rounded, strength
from outlying.population import Summary
from outlying.table import Mask

Context: TypeAlias = tuple[int, ...]
Progress: TypeAlias = Callable[[int, int], None]

EXHAUSTIVE_LEVELS = 2
BEAM = 15
ROUNDING = 1e-9


class Property(Protocol):
    """What the search asks of a property of the object."""

    @property
    def name(self) -> str:
        """The attribute it belongs to."""

    def summary(self, mask: Mask) -> Summary | None:
        """Summarise its densities among the marked rows."""


class Candidate(Protocol):
    """What the search asks of a condition: its attribute and the rows that satisfy it."""

    @property
    def attribute(self) -> str:
        """The attribute it is about."""

    @property
    def mask(self) -> Mask:
        """The rows that satisfy it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Hit:
    """A property evaluated in a context."""

    property: int
    context: Context
    group: int
    summary: Summary
    overall: Summary  # the same property without conditions
    outlierness: float
    strength: float
    score: float  # what hits are ordered by, rounded so that ties are ties


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What a search found: every minimal pair, and the strongest pair of each property."""

    reported: tuple[Hit, ...]
    closest: tuple[Hit, ...]
    levels: int  # up to which every context was visited


def search(
    properties: Sequence[Property],
    candidates: Sequence[Candidate],
    rows: int,
    options: Options,
    progress: Progress | None = None,
) -> Outcome:
    """Find every minimal pair that the chosen kind of search reaches."""
    run = _Search(properties, candidates, rows, options, progress or _quiet)
    levels = options.max_conditions
    if options.search == "guided":
        levels = min(levels, EXHAUSTIVE_LEVELS)
    run.level_wise(levels)
    if levels < options.max_conditions:
        run.guided()
    return run.outcome(levels)


def _quiet(done: int, total: int) -> None:
    """Report to nobody."""


class _Search:
    """One search: what is fixed, and what has been found so far."""

    def __init__(
        self,
        properties: Sequence[Property],
        candidates: Sequence[Candidate],
        rows: int,
        options: Options,
        progress: Progress,
    ) -> None:
        self.properties, self.candidates, self.options = properties, candidates, options
        self.rows, self.progress = rows, progress
        self.least_rows = options.min_support * rows - ROUNDING
        places = {item.name: place for place, item in enumerate(properties)}
        self.own_bit = [1 << places[item.attribute] for item in candidates]
        self.reported: list[dict[Context, Hit]] = [{} for _ in properties]
        self.leaders = [_Leaders(options.max_conditions) for _ in properties]
        self.deep: list[set[Context]] = [set() for _ in properties]  # visited beyond all levels

    def level_wise(self, levels: int) -> None:
        """Visit every context up to this many conditions that the apriori join lets through."""
        everything = np.ones(self.rows, dtype=bool)
        self.overall = [item.summary(everything) for item in self.properties]
        alive: dict[Context, int] = {
            (): self.visit((), everything, (1 << len(self.properties)) - 1)
        }
        for _ in range(levels):
            alive = self.next_level(alive)

    def next_level(self, alive: dict[Context, int]) -> dict[Context, int]:
        """Join the contexts of one level into those of the next (a real apriori join)."""
        grown: dict[Context, int] = {}
        for done, (context, bits) in enumerate(alive.items()):
            self.progress(done, len(alive))
            mask = self.mask(context)
            for added in range(context[-1] + 1 if context else 0, len(self.candidates)):
                joined = (*context, added)
                living = bits & ~self.own_bit[added] & self.living_in_subsets(joined, alive)
                if living:
                    inner = mask & self.candidates[added].mask
                    if left := self.visit(joined, inner, living):
                        grown[joined] = left
        return grown

    def living_in_subsets(self, joined: Context, alive: dict[Context, int]) -> int:
        """Tell which properties are alive in all subsets that the join has not looked at yet."""
        if self.own_bit[joined[-1]] in [self.own_bit[item] for item in joined[:-1]]:
            return 0  # at most one condition per attribute
        living = -1
        for place in range(len(joined) - 1):
            living &= alive.get(joined[:place] + joined[place + 1 :], 0)
        return living

    def visit(self, context: Context, mask: Mask, living: int) -> int:
        """Evaluate the living properties of a context; give those that stay alive."""
        group = int(np.count_nonzero(mask))
        if group < self.least_rows:
            return 0
        for place in _bits(living):
            if self.evaluate(place, context, mask, group):
                living &= ~(1 << place)
        return living

    def evaluate(self, place: int, context: Context, mask: Mask, group: int) -> bool:
        """Evaluate a property in a context; tell whether it reaches the threshold."""
        hit = self.hit(place, context, mask, group)
        if hit is None:
            return False
        if hit.outlierness >= self.options.min_outlierness - SAME_SCORE:
            self.reported[place][context] = hit
            return True
        self.leaders[place].add(hit)
        return False

    def hit(self, place: int, context: Context, mask: Mask, group: int) -> Hit | None:
        summary = self.properties[place].summary(mask)
        overall = self.overall[place]
        if summary is None or overall is None:
            return None
        score = summary.outlierness(self.options.measure)
        power = strength(summary.mean, summary.at_object, overall.mean, len(context))
        ordering = power
        if self.options.measure == "paper":  # before Omega, which saturates at 1
            ordering = (summary.mean - summary.at_object) * summary.unit
        ordering = rounded(ordering, self.options.measure)
        return Hit(place, context, group, summary, overall, score, power, ordering)

    def mask(self, context: Context) -> Mask:
        """Mark the rows that satisfy all conditions of a context."""
        mask = np.ones(self.rows, dtype=bool)
        for item in context:
            mask &= self.candidates[item].mask
        return mask

    def guided(self) -> None:
        """Property by property, extend the strongest contexts that are still alive."""
        for place, leaders in enumerate(self.leaders):
            self.progress(place, len(self.properties))
            for level in range(EXHAUSTIVE_LEVELS, self.options.max_conditions):
                known = set(self.reported[place])  # the order of visits must not matter
                for hit in leaders.strongest(level):
                    self.extend(place, hit.context, known)
                self.keep_minimal(place)

    def extend(self, place: int, context: Context, known: set[Context]) -> None:
        """Add each condition to a context and evaluate what is new."""
        mask = self.mask(context)
        taken = 1 << place
        for item in context:
            taken |= self.own_bit[item]
        for added, bit in enumerate(self.own_bit):
            if not bit & taken:
                joined = tuple(sorted((*context, added)))
                if joined not in self.deep[place] and known.isdisjoint(_proper_subsets(joined)):
                    self.evaluate_minimal(place, joined, mask & self.candidates[added].mask)

    def keep_minimal(self, place: int) -> None:
        """Forget contexts of which a subset has been reported since."""
        found = self.reported[place]
        self.reported[place] = {
            context: hit
            for context, hit in found.items()
            if found.keys().isdisjoint(_proper_subsets(context))
        }

    def evaluate_minimal(self, place: int, context: Context, mask: Mask) -> None:
        """Evaluate a context; where it reaches the threshold, its unvisited subsets, too."""
        self.deep[place].add(context)
        group = int(np.count_nonzero(mask))
        if group < self.least_rows or not self.evaluate(place, context, mask, group):
            return
        for size in range(EXHAUSTIVE_LEVELS + 1, len(context)):
            for subset in itertools.combinations(context, size):
                if subset not in self.deep[place]:
                    self.evaluate_minimal(place, subset, self.mask(subset))

    def outcome(self, levels: int) -> Outcome:
        reported = tuple(hit for found in self.reported for hit in found.values())
        closest = tuple(leaders.best for leaders in self.leaders if leaders.best is not None)
        return Outcome(reported, closest, levels)


class _Leaders:
    """The strongest contexts of one property below the threshold; holds no more than it must."""

    def __init__(self, levels: int) -> None:
        self.best: Hit | None = None  # of all levels, rarer than a typical member at least
        self._by_level: list[list[Hit]] = [[] for _ in range(levels + 1)]

    def add(self, hit: Hit) -> None:
        if hit.outlierness > SAME_SCORE and (self.best is None or _rank(hit) < _rank(self.best)):
            self.best = hit
        level = self._by_level[len(hit.context)]
        level.append(hit)
        if len(level) >= 8 * BEAM:
            level[:] = sorted(level, key=_rank)[:BEAM]

    def strongest(self, level: int) -> list[Hit]:
        return sorted(self._by_level[level], key=_rank)[:BEAM]


def _rank(hit: Hit) -> tuple[float, int, int, Context]:
    """Order hits of one property: score, fewer conditions, more rows, names."""
    return (-hit.score, len(hit.context), -hit.group, hit.context)


def _bits(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def _proper_subsets(context: Context) -> Iterator[Context]:
    for size in range(len(context)):
        yield from itertools.combinations(context, size)
