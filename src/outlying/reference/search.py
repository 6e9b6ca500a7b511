"""The search for minimal pairs (E, p) of one object, level by level (paper, section 5.2; method 5).

E is an ascending tuple of places in the list of conditions that o satisfies, p a place in the list
of properties. Both lists are ordered by name, so that places decide between ties. Reported is
(E, p) where E has at most k conditions, DB_E keeps sigma of the rows, p is not in E, its
outlierness reaches theta, and no proper subset of E reports p. p is *alive* in E as long as neither
E nor a subset reports it. A context of level j is visited only for the properties that are alive in
all its subsets of level j - 1 (a real apriori join); level 0, without conditions, counts.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from outlying.method.density import Floats, frequencies
from outlying.method.intervals import Segments
from outlying.method.measure import SAME_SCORE, Summary, reaches
from outlying.method.profiles import NumericProfile, Profile
from outlying.options import Options, PaperOptions
from outlying.reference.formulas import (
    OmegaSummary,
    distribution,
    natural_intervals,
    score,
    window_rows,
)
from outlying.search.attributes import Attribute, CategoricalAttribute, NumericAttribute
from outlying.search.scoring import (
    CandidateCondition,
    Context,
    Evaluation,
    Hit,
    ObjectProperty,
    Outcome,
)
from outlying.table.columns import Mask, Rows
from outlying.table.table import Condition
from outlying.table.values import value_of

Alive: TypeAlias = Mapping[Context, frozenset[int]]  # properties by context

_NONE: frozenset[int] = frozenset()
_SAME_ROWS = 1e-9  # what rounding may add to a number of rows that is a share of all


def minimal_pairs(scores: Scores, progress: Callable[[int, int], None]) -> Outcome:
    """Find every minimal pair; where none reaches theta, the strongest of each property."""
    search = _LevelWise(scores)
    options = scores.options
    judged = [k for k, own in enumerate(scores.properties) if options.judges(own.family)]
    alive: Alive = {(): search.visit((), judged)}
    for _ in range(min(options.max_conditions, len(scores.candidates))):
        alive = search.next_level(alive, progress)
    return Outcome(reported=tuple(search.reported), closest=tuple(search.closest.values()))


class _LevelWise:
    """What has been found so far."""

    def __init__(self, scores: Scores) -> None:
        self.scores, self.theta = scores, scores.paper.min_outlierness
        self.family_of_condition = [scores.families[k] for k in scores.property_of_condition]
        self.reported: list[Hit] = []
        self.closest: dict[int, Hit] = {}

    def next_level(self, alive: Alive, progress: Callable[[int, int], None]) -> Alive:
        """Join the contexts of one level into those of the next."""
        grown: dict[Context, frozenset[int]] = {}
        for done, context in enumerate(alive):
            progress(done, len(alive))
            for added in range(context[-1] + 1 if context else 0, len(self.family_of_condition)):
                joined = (*context, added)
                if living := self.living(joined, alive):
                    grown[joined] = self.visit(joined, living)
        return {context: living for context, living in grown.items() if living}

    def living(self, context: Context, alive: Alive) -> frozenset[int]:
        """Return the properties that are alive in all subsets, and in none of the conditions."""
        families = {self.family_of_condition[item] for item in context}
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


class Scores(Evaluation):
    """All that belongs to one object o: what is given, and scores of pairs on demand."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        segments: Mapping[str, Segments],
        row: int,
        rows: int,
        options: Options,
    ) -> None:
        """Take attributes ordered by name, with the segments of those that are numeric."""
        self.rows, self.row, self.options = rows, row, options
        self.paper = options.paper or PaperOptions()
        self.segments = segments
        properties = [ObjectProperty.of(item, row, options) for item in attributes]
        given = [item for attribute in attributes for item in self._conditions(attribute)]
        self.masks = [mask for _, mask in given]
        places = {item.name: place for place, item in enumerate(properties)}
        own = [places[condition.attribute] for condition, _ in given]
        super().__init__(properties, [_candidate(*item) for item in given], own, rows)
        self._overall = functools.cache(lambda place: self._summary(place, self.mask(())))
        self._whole = functools.cache(lambda attribute: distribution(attribute.sorted, "fixed"))
        self._profile = functools.cache(self._described)

    # --- conditions -----------------------------------------------------------------------------

    def _conditions(self, attribute: Attribute) -> Iterator[tuple[Condition, Mask]]:
        """Return the conditions on an attribute that o satisfies, the finest first.

        Those that keep fewer rows than sigma asks for, or all of them, say nothing.
        """
        origin = attribute.column.origin
        if not self.options.compares_by(attribute.column.family):
            return
        if origin is not None and (
            not origin.gives_conditions or attribute.column.is_missing(self.row)
        ):
            return
        for condition, mask in self._satisfied(attribute):
            if self.least_rows(1) <= np.count_nonzero(mask) < self.rows:
                yield condition, mask

    def _satisfied(self, attribute: Attribute) -> Iterator[tuple[Condition, Mask]]:
        column, name = attribute.column, attribute.column.name
        if column.is_missing(self.row):
            yield Condition(name, "missing"), column.missing()
        elif isinstance(attribute, CategoricalAttribute):
            same = attribute.codes == attribute.codes[self.row]
            yield Condition(name, "equals", value=column.value(self.row)), same
        elif name in self.segments:  # values that are all equal have none
            window = window_rows(self.least_rows(1), self.rows)
            given = attribute.sorted, self.segments[name], attribute.scaled(self.row)
            for ends in natural_intervals(*given, window, self.paper):
                low, high = (attribute.unscaled(end) for end in ends)
                shown = (value_of(attribute.column.form, end) for end in (low, high))
                values = attribute.column.values
                yield Condition(name, "interval", *shown), (values >= low) & (values <= high)

    def least_rows(self, conditions: int) -> float:
        """Return how many rows DB_E must keep: sigma."""
        return self.options.least_rows(self.rows, conditions) - _SAME_ROWS

    def mask(self, context: Context) -> Mask:
        """Return which rows satisfy all conditions of E: DB_E."""
        mask = np.ones(self.rows, dtype=bool)
        for item in context:
            mask &= self.masks[item]
        return mask

    # --- scores ---------------------------------------------------------------------------------

    def scored(self, place: int, context: Context, mask: Mask) -> Hit | None:
        """Score a property among the rows of DB_E; None where there is nothing to compare."""
        summary, overall = self._summary(place, mask), self._overall(place)
        if summary is None or overall is None:
            return None
        rows, conditions = int(np.count_nonzero(mask)), len(context)
        given = summary.outlierness(), summary.strength(conditions), score(summary, conditions)
        return Hit(place, context, rows, summary, overall, *given)

    def _summary(self, place: int, mask: Mask) -> Summary | None:
        attribute = self.properties[place].attribute
        kind = OmegaSummary if self.paper.measure == "paper" else Summary
        if isinstance(attribute, CategoricalAttribute):
            return self._of_category(attribute, mask, kind)
        return self._of_number(attribute, mask, kind)

    def _of_category(
        self, attribute: CategoricalAttribute, mask: Mask, kind: type[Summary]
    ) -> Summary | None:
        """Summarise frequencies: mean(F) is the sum of their squares."""
        group, own = attribute.profile(mask), int(attribute.codes[self.row])
        lift = group.lift(attribute.profile(self.mask(())))
        if math.isnan(lift):
            return None
        f = frequencies(group.counts)
        return kind(float(f @ f), float(f[own]), 1.0, lift, near=int(group.counts[own]))

    def _of_number(
        self, attribute: NumericAttribute, mask: Mask, kind: type[Summary]
    ) -> Summary | None:
        """Summarise Parzen densities: F at the rows of DB_E, f_o at the object."""
        values = _values(attribute, mask)
        if len(values) == 0 or values[0] == values[-1]:
            return None
        found = distribution(values, self.paper.bandwidth)
        density = found.densities()
        own = int(np.searchsorted(found.values, attribute.scaled(self.row)))
        fixed = found if self.paper.bandwidth == "fixed" else distribution(values, "fixed")
        lift = fixed.lift(self._whole(attribute))
        given = found.mean(density), float(density[own]), attribute.unit, lift
        if fixed is not found:
            return kind(*given)
        near, reach = int(found.neighbours()[own]), attribute.unscaled(found.width / 2)
        return kind(*given, near=near, reach=reach)

    # --- what a description asks for --------------------------------------------------------------

    def profile(self, place: int, context: Context) -> Profile:
        """Describe a property in a context, once."""
        return self._profile(place, context)

    def _described(self, place: int, context: Context) -> Profile:
        attribute, mask = self.properties[place].attribute, self.mask(context)
        if isinstance(attribute, CategoricalAttribute):
            return attribute.profile(mask)
        found = distribution(_values(attribute, mask), self.paper.bandwidth)
        return NumericProfile(found, attribute.column.form, attribute.exponent)


def _values(attribute: NumericAttribute, mask: Mask) -> Floats:
    """Return the values of the rows of DB_E in ascending order."""
    return np.asarray(attribute.sorted[mask[attribute.order]])


def _candidate(condition: Condition, mask: Mask) -> CandidateCondition:
    def test(rows: Rows | None) -> Mask:
        return mask if rows is None else mask[rows]

    return CandidateCondition(condition, int(np.count_nonzero(mask)), test)
