"""Level-wise search for minimal pairs of context and property (paper, section 5.2; method 5).

A context is a sorted tuple of condition numbers. A property is *alive* in a context as long as no
subset of that context reports it; contexts and their supports are shared by all properties, which
are held as bits of one integer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from outlying import screen
from outlying.conditions import Condition
from outlying.findings import Effort
from outlying.options import Options
from outlying.outlierness import SAME_SCORE, rounded, strength
from outlying.population import Attribute, Summary, Typical
from outlying.profiles import Profile
from outlying.shared import Group, Key, Shared
from outlying.sketches import Sketch
from outlying.table import Mask, Rows
from outlying.values import Value
from outlying.vicinity import Sample

Context: TypeAlias = tuple[int, ...]
Progress: TypeAlias = Callable[[int, int], None]

ROUNDING = 1e-9


class Property(Protocol):
    """What the search asks of a property of the object."""

    @property
    def name(self) -> str:
        """The attribute it belongs to."""

    @property
    def attribute(self) -> Attribute:
        """The attribute itself."""

    @property
    def row(self) -> int:
        """The row of the object."""

    def summary(self, mask: Mask) -> Summary | None:
        """Summarise its densities among the marked rows."""

    def grouped(self, sample: Sample) -> screen.Property:
        """Prepare to estimate it in many contexts, by a sample of the rows or by all."""

    @property
    def position(self) -> float:
        """Where the object lies among the groups of its values."""


class Candidate(Protocol):
    """What the search asks of a condition: its attribute and the rows that satisfy it."""

    @property
    def attribute(self) -> str:
        """The attribute it is about."""

    @property
    def condition(self) -> Condition:
        """What it says."""

    def marked(self, rows: Rows | None) -> Mask:
        """Mark those of some rows, or of all, that satisfy it."""


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
    """What a search found: the minimal pairs, or else the strongest pair of each property."""

    reported: tuple[Hit, ...]
    closest: tuple[Hit, ...]
    levels: int | None  # up to which every context was visited; None: all of them
    found: int = 0  # pairs of other attributes each, those not computed exactly included
    effort: Effort | None = None

    @property
    def best(self) -> tuple[Hit, ...]:
        """What is given: the pairs that reach the threshold, otherwise the closest ones."""
        return self.reported or self.closest


P = TypeVar("P", bound=Property)
C = TypeVar("C", bound=Candidate)


class Evaluation(Generic[P, C]):
    """Scores of the pairs of one object; who measures them, in memory or not, is left open."""

    def __init__(
        self,
        properties: Sequence[P],
        candidates: Sequence[C],
        rows: int,
        options: Options,
        progress: Progress | None = None,
    ) -> None:
        self.properties, self.candidates, self.options = properties, candidates, options
        self.rows, self.progress = rows, progress or _quiet
        self.least_rows = options.min_support * rows - ROUNDING
        places = {item.name: place for place, item in enumerate(properties)}
        self.own = [places[item.attribute] for item in candidates]
        self._overall: dict[int, Summary | None] = {}

    def measured(self, place: int, context: Context) -> tuple[int, Summary | None]:
        """Count the rows of a context and summarise a property there."""
        raise NotImplementedError

    def overall(self, place: int) -> Summary | None:
        """Summarise a property without conditions, once."""
        if place not in self._overall:
            self._overall[place] = self.measured(place, ())[1]
        return self._overall[place]

    def hit(self, place: int, context: Context, group: int, summary: Summary | None) -> Hit | None:
        """Score a property in a context; None where there is nothing to compare."""
        overall = self.overall(place)
        if summary is None or overall is None:
            return None
        score = summary.outlierness(self.options.measure)
        power = strength(summary.mean, summary.at_object, overall.mean, len(context))
        ordering = power
        if self.options.measure == "paper":  # before Omega, which saturates at 1
            ordering = (summary.mean - summary.at_object) * summary.unit
        ordering = rounded(ordering, self.options.measure)
        return Hit(place, context, group, summary, overall, score, power, ordering)

    def reaches(self, hit: Hit | None) -> bool:
        """Tell whether a pair reaches the threshold."""
        return hit is not None and hit.outlierness >= self.options.min_outlierness - SAME_SCORE

    def look(self, place: int, context: Context) -> Hit | None:
        """Score a property in a context; None, too, where the context keeps too few rows."""
        group, summary = self.measured(place, context)
        return None if group < self.least_rows else self.hit(place, context, group, summary)

    def attributes(self, hit_property: int, context: Context) -> tuple[int, ...]:
        """Give the attributes of a pair, its property first; scales do not count."""
        return (hit_property, *(self.own[item] for item in context))


class Exact(Evaluation[P, C]):
    """Scores computed from all rows, which are in memory."""

    def __init__(
        self,
        properties: Sequence[P],
        candidates: Sequence[C],
        rows: int,
        options: Options,
        shared: Shared,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(properties, candidates, rows, options, progress)
        self.shared = shared
        self.numbers = [shared.number(item.condition) for item in candidates]
        self.everything = np.ones(rows, dtype=bool)

    def measured(self, place: int, context: Context) -> tuple[int, Summary | None]:
        """Count the rows of a context and summarise a property there; what is typical is shared."""
        trait = self.properties[place]
        if self.options.bandwidth == "adaptive":
            mask = self.mask(context)
            return int(np.count_nonzero(mask)), trait.summary(mask)
        attribute = trait.attribute.whole
        group = self.shared.group(self.key(place, context), lambda: self._group(attribute, context))
        if group.typical is None:
            return group.rows, None
        near = self.near(place, context, group.typical)
        return group.rows, attribute.seen(group.typical, near)

    def near(self, place: int, context: Context, typical: Typical) -> int:
        """Count the rows of a context that lie near the object."""
        trait = self.properties[place]
        near = trait.attribute.whole.rows_near(trait.row, typical)
        for item in context:
            near = near[self.mask_of(item)[near]]
        return len(near)

    def key(self, place: int, context: Context) -> Key:
        """Give what names a property in a context among all objects."""
        numbers = self.numbers
        return self.properties[place].attribute.whole, tuple([numbers[item] for item in context])

    def _group(self, attribute: Attribute, context: Context) -> Group:
        mask = self.mask(context)
        rows = int(np.count_nonzero(mask))
        return Group(rows, attribute.typical(mask) if rows >= self.least_rows else None)

    def mask_of(self, item: int) -> Mask:
        """Mark the rows that satisfy a condition."""
        return self.shared.mask(self.numbers[item], lambda: self.candidates[item].marked(None))

    def mask(self, context: Context) -> Mask:
        """Mark the rows that satisfy all conditions of a context."""
        mask = self.everything.copy()
        for item in context:
            mask &= self.mask_of(item)
        return mask

    def profile(self, place: int, context: Context) -> Profile:
        """Give what a description needs of a property in a context, once for all objects."""
        attribute = self.properties[place].attribute.whole
        return self.shared.profile(
            self.key(place, context),
            lambda: attribute.profile(self.mask(context), self.options.bandwidth),
        )

    def bounds(self, place: int, context: Context) -> None:
        """Give nothing: all rows are counted, value by value."""

    def sketch(self, place: int, shown: Sequence[Value] | None = None) -> Sketch:
        """Sketch a property over the whole table, with the given categories or the usual ones."""
        trait = self.properties[place]
        return trait.attribute.whole.sketch(trait.row, self.options.bandwidth, shown)


def exhaustive(exact: Exact[Any, Any]) -> Outcome:
    """Find every minimal pair: the paper's search."""
    run = _Exhaustive(exact)
    run.level_wise(exact.options.max_conditions)
    return run.outcome()


def _quiet(done: int, total: int) -> None:
    """Report to nobody."""


class _Exhaustive:
    """Level by level over all contexts: what is fixed, and what has been found so far."""

    def __init__(self, exact: Exact[Any, Any]) -> None:
        self.exact = exact
        self.own_bit = [1 << place for place in exact.own]
        self.reported: list[Hit] = []
        self.closest: dict[int, Hit] = {}

    def level_wise(self, levels: int) -> None:
        """Visit every context up to this many conditions that the apriori join lets through."""
        alone = self.visit((), self.exact.everything, (1 << len(self.exact.properties)) - 1)
        alive: dict[Context, int] = {(): alone}
        for _ in range(levels):
            alive = self.next_level(alive)

    def next_level(self, alive: dict[Context, int]) -> dict[Context, int]:
        """Join the contexts of one level into those of the next (a real apriori join)."""
        grown: dict[Context, int] = {}
        for done, (context, bits) in enumerate(alive.items()):
            self.exact.progress(done, len(alive))
            mask = self.exact.mask(context)
            for added in range(context[-1] + 1 if context else 0, len(self.exact.candidates)):
                joined = (*context, added)
                living = bits & ~self.own_bit[added] & self.living_in_subsets(joined, alive)
                if living:
                    inner = mask & self.exact.mask_of(added)
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
        if group < self.exact.least_rows:
            return 0
        for place in _bits(living):
            if self.evaluate(place, context, mask, group):
                living &= ~(1 << place)
        return living

    def evaluate(self, place: int, context: Context, mask: Mask, group: int) -> bool:
        """Evaluate a property in a context; tell whether it reaches the threshold."""
        trait = self.exact.properties[place]
        summary = trait.summary(mask) if context else self.exact.overall(place)
        hit = self.exact.hit(place, context, group, summary)
        if hit is None:
            return False
        if self.exact.reaches(hit):
            self.reported.append(hit)
            return True
        best = self.closest.get(place)
        if hit.outlierness > SAME_SCORE and (best is None or rank_of(hit) < rank_of(best)):
            self.closest[place] = hit
        return False

    def outcome(self) -> Outcome:
        best = self.reported or self.closest.values()
        found = {self.exact.attributes(hit.property, hit.context) for hit in best}
        return Outcome(tuple(self.reported), tuple(self.closest.values()), None, len(found))


def rank_of(hit: Hit) -> tuple[float, int, int, Context]:
    """Order hits of one property: score, fewer conditions, more rows, names."""
    return (-hit.score, len(hit.context), -hit.group, hit.context)


def _bits(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low
