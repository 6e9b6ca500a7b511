"""The pairs (E, p) of one object: its properties, its conditions, and the score of each pair.

E is an ascending tuple of places in the list of conditions that o satisfies, p a place in the list
of properties. Both lists are ordered by name, so that places decide between ties.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from outlying.method.density import Floats, frequencies
from outlying.method.distribution import Distribution, typical_categories
from outlying.method.intervals import Segments
from outlying.method.measure import Summary
from outlying.method.profiles import CategoricalProfile, NumericProfile, Profile
from outlying.options import Options, PaperOptions
from outlying.reference.densities import distribution
from outlying.reference.intervals import natural_intervals, window_rows
from outlying.reference.outlierness import OmegaSummary, score
from outlying.search.attributes import Attribute, NumericAttribute
from outlying.search.category_attributes import CategoricalAttribute
from outlying.search.objects import CandidateCondition, ObjectProperty
from outlying.search.scoring import Context, Evaluation, Hit
from outlying.table.columns import Mask, Rows
from outlying.table.conditions import Condition
from outlying.table.values import value_of

_SAME_ROWS = 1e-9  # what rounding may add to a number of rows that is a share of all


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
        properties = [ObjectProperty.of(item, row, options) for item in attributes]
        candidates = [item for own in attributes for item in self._conditions(own, segments)]
        self.masks = [mask for _, mask in candidates]
        places = {item.name: place for place, item in enumerate(properties)}
        own = [places[condition.attribute] for condition, _ in candidates]
        super().__init__(properties, [_candidate(*item) for item in candidates], own, rows)
        self._overall: dict[int, Summary | None] = {}  # of each property, without conditions
        self._whole: dict[int, Distribution] = {}
        self._profiles: dict[tuple[int, Context], Profile] = {}

    @property
    def paper(self) -> PaperOptions:
        """The options of the paper."""
        return self.options.paper or PaperOptions()

    # --- conditions -----------------------------------------------------------------------------

    def _conditions(
        self, attribute: Attribute, segments: Mapping[str, Segments]
    ) -> Iterator[tuple[Condition, Mask]]:
        """Return the conditions on an attribute that o satisfies, the finest first.

        Those that keep fewer rows than sigma asks for, or all of them, say nothing.
        """
        origin, least = attribute.column.origin, self.least_rows(1)
        if origin is None or (
            origin.gives_conditions and not attribute.column.is_missing(self.row)
        ):
            for condition, mask in self._satisfied(attribute, segments):
                if least <= np.count_nonzero(mask) < self.rows:
                    yield condition, mask

    def _satisfied(
        self, attribute: Attribute, segments: Mapping[str, Segments]
    ) -> Iterator[tuple[Condition, Mask]]:
        column, name, row = attribute.column, attribute.column.name, self.row
        if column.is_missing(row):
            yield Condition(name, "missing"), column.missing()
        elif isinstance(attribute, CategoricalAttribute):
            yield (
                Condition(name, "equals", value=column.value(row)),
                attribute.codes == attribute.codes[row],
            )
        elif name in segments:  # values that are all equal have none
            given = attribute.sorted, segments[name], attribute.scaled(row)
            window = window_rows(self.least_rows(1), self.rows)
            for ends in natural_intervals(*given, window, self.paper):
                low, high = (attribute.unscaled(end) for end in ends)
                shown = [value_of(attribute.column.form, end) for end in (low, high)]
                values = attribute.column.values
                condition = Condition(name, "interval", low=shown[0], high=shown[1])
                yield condition, (values >= low) & (values <= high)

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
        if place not in self._overall:
            self._overall[place] = self._summary(place, self.mask(()))
        summary, overall = self._summary(place, mask), self._overall[place]
        if summary is None or overall is None:
            return None
        rows, conditions = int(np.count_nonzero(mask)), len(context)
        strength = summary.strength(conditions)
        given = summary.outlierness(), strength, score(summary, conditions)
        return Hit(place, context, rows, summary, overall, *given)

    def _summary(self, place: int, mask: Mask) -> Summary | None:
        attribute = self.properties[place].attribute
        kind = OmegaSummary if self.paper.measure == "paper" else Summary
        if isinstance(attribute, CategoricalAttribute):
            return self._of_category(attribute, mask, kind)
        return self._of_number(place, attribute, mask, kind)

    def _of_category(
        self, attribute: CategoricalAttribute, mask: Mask, kind: type[Summary]
    ) -> Summary | None:
        """Summarise frequencies: mean(F) is the sum of their squares."""
        counts, own = attribute.counts(mask), int(attribute.codes[self.row])
        totals = attribute.counts(self.mask(()))
        typical = typical_categories(counts, totals, int(totals.sum()))
        if typical is None:
            return None
        f = frequencies(counts)
        return kind(float(f @ f), float(f[own]), 1.0, typical.lift, near=int(counts[own]))

    def _of_number(
        self, place: int, attribute: NumericAttribute, mask: Mask, kind: type[Summary]
    ) -> Summary | None:
        """Summarise Parzen densities: F at the rows of DB_E, f_o at the object."""
        values = self._values(attribute, mask)
        if len(values) == 0 or values[0] == values[-1]:
            return None
        found = distribution(values, self.paper.bandwidth)
        density = found.densities()
        own = int(np.searchsorted(found.values, attribute.scaled(self.row)))
        given = found.mean(density), float(density[own]), attribute.unit
        if self.paper.bandwidth == "adaptive":
            return kind(*given, self._lift(place, attribute, distribution(values, "fixed")))
        near, reach = int(found.neighbours()[own]), attribute.unscaled(found.width / 2)
        return kind(*given, self._lift(place, attribute, found), near=near, reach=reach)

    def _lift(self, place: int, attribute: NumericAttribute, found: Distribution) -> float:
        """Return how much tighter values are than all rows around them (method 5)."""
        if place not in self._whole:
            self._whole[place] = distribution(attribute.sorted, "fixed")
        typical = found.typical(self._whole[place])
        return math.nan if typical is None else typical.lift

    @staticmethod
    def _values(attribute: NumericAttribute, mask: Mask) -> Floats:
        """Return the values of the rows of DB_E in ascending order."""
        return np.asarray(attribute.sorted[mask[attribute.order]])

    # --- what a description asks for --------------------------------------------------------------

    def profile(self, place: int, context: Context) -> Profile:
        """Describe a property in a context, once."""
        if (place, context) not in self._profiles:
            self._profiles[place, context] = self._profile(place, context)
        return self._profiles[place, context]

    def _profile(self, place: int, context: Context) -> Profile:
        attribute, mask = self.properties[place].attribute, self.mask(context)
        if isinstance(attribute, CategoricalAttribute):
            return CategoricalProfile(attribute.counts(mask), attribute.categories)
        found = distribution(self._values(attribute, mask), self.paper.bandwidth)
        return NumericProfile(found, attribute.column.form, attribute.exponent)

    def bounds(self, place: int, context: Context) -> None:
        """Return None: all rows are counted, and nothing is left open."""


def _candidate(condition: Condition, mask: Mask) -> CandidateCondition:
    def test(rows: Rows | None) -> Mask:
        return mask if rows is None else mask[rows]

    return CandidateCondition(condition, int(np.count_nonzero(mask)), test)
