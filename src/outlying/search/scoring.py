"""Scores of pairs of context and property, computed exactly (paper, sections 4 and 5.2; method 5).

A context is an ascending tuple of places in the list of conditions that the object satisfies, a
property a place in the list of its properties. Both lists are ordered by the names of attributes,
so that these places decide between ties.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from outlying.method.density import Floats
from outlying.method.measure import (
    Summary,
    Typical,
    counted_near,
    least_rarity,
    reaches,
    rounded,
    scales_of,
)
from outlying.method.profiles import Profile
from outlying.method.sketches import Sketch
from outlying.options import Options
from outlying.search import limits
from outlying.search.attributes import Attribute
from outlying.search.cache import Cache, Group, Key
from outlying.search.objects import CandidateCondition, ObjectProperty
from outlying.table.columns import Mask
from outlying.table.values import Value

Context: TypeAlias = tuple[int, ...]
Progress: TypeAlias = Callable[[int, int], None]


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
class Effort:
    """What the guided search did: pairs of context and property it screened, and what came of them.

    `verified` ones were computed exactly from all rows; those `dropped` did not reach the threshold
    then, or kept too few rows. `unvisited` ones were too many to screen.
    """

    screened: int = 0
    verified: int = 0
    dropped: int = 0
    unvisited: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Glance:
    """What a quick search tells of a row beside its strongest pair."""

    rest: float  # the strongest pair without the column that is most to blame, 0 if there is none
    blamed: int  # that column
    surprise: float  # mean over all columns of the logarithm of the rarity without conditions


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What a search found: the minimal pairs, or else the strongest pair of each property."""

    reported: tuple[Hit, ...]
    closest: tuple[Hit, ...]
    levels: int | None  # up to which every context was visited; None: all of them
    is_cut: bool = False  # whether there are more stories than were computed exactly
    effort: Effort | None = None
    #: The strength of each property given the best single condition on each attribute, be it below
    #: the threshold; -inf where there is none.
    alone: Floats | None = None
    glance: Glance | None = None

    @property
    def best(self) -> tuple[Hit, ...]:
        """What is given: the pairs that reach the threshold, otherwise the closest ones."""
        return self.reported or self.closest


class Evaluation:
    """Scores of the pairs of one object; who measures them, in memory or not, is left open."""

    def __init__(
        self,
        properties: Sequence[ObjectProperty],
        candidates: Sequence[CandidateCondition],
        rows: int,
        options: Options,
        progress: Progress | None = None,
    ) -> None:
        self.properties, self.candidates, self.options = properties, candidates, options
        self.rows, self.progress = rows, progress or no_progress
        self.scales = scales_of(options.measure, options.bandwidth)
        self.needed = least_rarity(options.min_outlierness, "relative")
        places = {item.name: place for place, item in enumerate(properties)}
        self.own = [places[item.attribute] for item in candidates]
        families = {
            name: place for place, name in enumerate(sorted({p.family for p in properties}))
        }
        self.families = [families[item.family] for item in properties]
        self._overall: dict[int, Summary | None] = {}
        self._least_rows: dict[int, float] = {}

    def least_rows(self, conditions: int) -> float:
        """Return how many rows a context of so many conditions must keep."""
        least = self._least_rows.get(conditions)
        if least is None:
            least = self.options.least_rows(self.rows, conditions) - limits.SAME_ROWS
            self._least_rows[conditions] = least
        return least

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
        measure = self.options.measure
        strength = summary.strength(len(context))
        score = summary.excess() if measure == "paper" else strength  # Omega saturates at 1
        return Hit(
            place,
            context,
            group,
            summary,
            overall,
            summary.outlierness(measure),
            strength,
            rounded(score, measure),
        )

    def reaches(self, hit: Hit | None) -> bool:
        """Return whether a pair reaches the threshold."""
        return hit is not None and reaches(hit.outlierness, self.options.min_outlierness)

    def look(self, place: int, context: Context) -> Hit | None:
        """Score a property in a context; None, too, where the context keeps too few rows."""
        group, summary = self.measured(place, context)
        if group < self.least_rows(len(context)):
            return None
        return self.hit(place, context, group, summary)

    def reaching(self, place: int, context: Context) -> Hit | None:
        """Score a property in a context; None, too, where the threshold is not reached."""
        hit = self.look(place, context)
        return hit if self.reaches(hit) else None

    def families_of(self, place: int, context: Context) -> tuple[int, ...]:
        """Return the columns of the table that a pair is about, that of its property first.

        A column and what is derived from it are one family: they tell of the same cell.
        """
        families = self.families
        return (families[place], *(families[self.own[item]] for item in context))

    @property
    def condition_families(self) -> list[int]:
        """The family of each condition: contexts hold no two of one, nor of their property's."""
        return [self.families[place] for place in self.own]


class Exact(Evaluation):
    """Scores computed from all rows, which are in memory."""

    def __init__(
        self,
        properties: Sequence[ObjectProperty],
        candidates: Sequence[CandidateCondition],
        rows: int,
        options: Options,
        cache: Cache,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(properties, candidates, rows, options, progress)
        self.cache, self.numbers = cache, cache.numbers(candidates)

    def measured(self, place: int, context: Context) -> tuple[int, Summary | None]:
        """Count the rows of a context and summarise a property there."""
        if self.options.bandwidth == "adaptive":
            mask = self.mask(context)
            return int(np.count_nonzero(mask)), self.summary(place, mask)
        if self._is_small(context):
            return self._measured_small(place, context)
        return self._measured(place, context)

    def _is_small(self, context: Context) -> bool:
        return len(context) == 1 and self.candidates[context[0]].is_small

    def _measured(self, place: int, context: Context) -> tuple[int, Summary | None]:
        """Count and summarise; what is typical is shared among objects."""
        attribute = self.properties[place].attribute.whole
        group = self.cache.group(self.key(place, context), lambda: self._group(attribute, context))
        if group.typical is None:
            return group.rows, None
        typical = group.typical
        near = self._near(place, typical, lambda width: self.near(place, context, width))
        if len(near) > len(typical.neighbours):
            attribute.widen(typical, self.mask(context), self.scales[: len(near)])
        return group.rows, attribute.summary_with(typical, near)

    def _measured_small(self, place: int, context: Context) -> tuple[int, Summary | None]:
        """Do the same with a list of rows: small groups are many, and most of them a few rows."""
        own, members = self.properties[place], self.candidates[context[0]].members
        rows = np.zeros(0, dtype=np.int64) if members is None else members()
        if len(rows) < self.least_rows(1):
            return len(rows), None
        attribute, key = own.attribute.whole, self.key(place, context)
        group = self.cache.group(key, lambda: Group(len(rows), attribute.typical(rows)))
        typical = group.typical
        if typical is None:
            return group.rows, None
        near = self._near(place, typical, lambda width: attribute.near(own.row, rows, width))
        attribute.widen(typical, rows, self.scales[: len(near)])
        return group.rows, attribute.summary_with(typical, near)

    def _near(self, place: int, typical: Typical, count: Callable[[float], int]) -> list[float]:
        """Count the rows near the object within windows that `count` is told the width of."""
        scales = self.scales[: self.properties[place].attribute.scales]
        return counted_near(
            scales, typical.known, self.needed, lambda scale: count(scale * typical.width)
        )

    def near(self, place: int, context: Context, width: float) -> int:
        """Count the rows of a context that lie within a window around the object."""
        own = self.properties[place]
        near = own.attribute.whole.rows_near(own.row, width)
        for item in context:
            near = near[self.mask_of(item)[near]]
        return len(near)

    def summary(self, place: int, mask: Mask) -> Summary | None:
        """Summarise a property among the rows of a mask."""
        own = self.properties[place]
        attribute = own.attribute.whole
        if self.options.bandwidth == "adaptive":
            return attribute.summary(mask, own.row, "adaptive")
        typical = attribute.typical(mask)
        if typical is None:
            return None
        near = self._near(
            place,
            typical,
            lambda width: int(np.count_nonzero(mask[attribute.rows_near(own.row, width)])),
        )
        attribute.widen(typical, mask, self.scales[: len(near)])
        return attribute.summary_with(typical, near)

    def key(self, place: int, context: Context) -> Key:
        """Return what names a property in a context among all objects."""
        numbers = self.numbers
        return self.properties[place].attribute.whole, tuple([numbers[item] for item in context])

    def _group(self, attribute: Attribute, context: Context) -> Group:
        mask = self.mask(context)
        rows = int(np.count_nonzero(mask))
        is_large = rows >= self.least_rows(len(context))
        return Group(rows, attribute.typical(mask) if is_large else None)

    def mask_of(self, item: int) -> Mask:
        """Return which rows satisfy a condition."""
        return self.cache.mask(self.numbers[item], self._test(item))

    def _test(self, item: int) -> Callable[[], Mask]:
        return functools.partial(self.candidates[item].test, None)

    def sizes(self, place: int, context: Context) -> tuple[int, int]:
        """Count the rows of a context, and those of them that have the property."""
        mask, own = self.mask(context), self.properties[place]
        rows = int(np.count_nonzero(mask))
        if own.value is not None:
            mask &= ~own.attribute.column.missing()
        return rows, int(np.count_nonzero(mask))

    def mask(self, context: Context) -> Mask:
        """Return which rows satisfy all conditions of a context: DB_E."""
        mask = np.ones(self.rows, dtype=bool)
        for item in context:
            mask &= self.mask_of(item)
        return mask

    def profile(self, place: int, context: Context) -> Profile:
        """Return what a description needs of a property in a context, once for all objects."""
        attribute = self.properties[place].attribute.whole
        return self.cache.profile(
            self.key(place, context),
            lambda: attribute.profile(self.mask(context), self.options.bandwidth),
        )

    def bounds(self, place: int, context: Context) -> None:
        """Return None: all rows are counted, value by value, and nothing is left open."""

    def sketch(self, place: int, shown: Sequence[Value] | None = None) -> Sketch:
        """Sketch a property over the whole table, with the given categories or the usual ones."""
        own = self.properties[place]
        return own.attribute.whole.sketch(own.row, self.options.bandwidth, shown)


class ExactScores:
    """Pairs scored exactly, each once."""

    def __init__(self, exact: Evaluation) -> None:
        self.exact = exact
        self.hits: dict[tuple[int, Context], Hit | None] = {}
        self._failed: set[tuple[int, Context]] = set()  # known not to reach the threshold

    def look(self, place: int, context: Context) -> Hit | None:
        """Score a pair exactly."""
        if (place, context) not in self.hits:
            self.hits[place, context] = self.exact.look(place, context)
            self._failed.discard((place, context))
        return self.hits[place, context]

    def reaching(self, place: int, context: Context) -> Hit | None:
        """Score a pair exactly where it reaches the threshold."""
        key = place, context
        if key in self.hits:
            return self.hits[key] if self.exact.reaches(self.hits[key]) else None
        if key in self._failed:
            return None
        hit = self.exact.reaching(place, context)
        if hit is None:
            self._failed.add(key)
        else:
            self.hits[key] = hit
        return hit

    @property
    def looked(self) -> int:
        """How many pairs were looked at."""
        return len(self.hits) + len(self._failed)


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""


def rank_of(hit: Hit) -> tuple[float, int, int, Context]:
    """Order hits of one property: score, fewer conditions, more rows, names."""
    return (-hit.score, len(hit.context), -hit.group, hit.context)
