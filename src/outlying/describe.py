"""From hits of the search to pairs for people: tails, typical values, the order of results."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np

from outlying import outlierness
from outlying.conditions import Condition
from outlying.density import Floats, bandwidth
from outlying.findings import Pair, Ranges
from outlying.options import Options
from outlying.population import (
    Attribute,
    CategoricalAttribute,
    NumericAttribute,
    Profile,
    Rows,
    Summary,
)
from outlying.screen import Property, Sample
from outlying.search import Context, Evaluation, Hit
from outlying.table import CategoricalColumn, Mask
from outlying.values import Value, value_of

TYPICAL_SHARE = 0.9
_GAPS_IN_A_RANGE = 3

Order: TypeAlias = tuple[float, int, float, int, str, tuple[str, ...], Context]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Trait:
    """A property of the object: an attribute seen from its row."""

    name: str
    attribute: Attribute
    row: int
    options: Options

    @property
    def value(self) -> Value:
        """The object's value; None where the property is that it is missing."""
        return self.attribute.column.value(self.row)

    def summary(self, mask: Mask) -> Summary | None:
        """Summarise its densities among the marked rows."""
        return self.attribute.summary(mask, self.row, self.options.bandwidth)

    def grouped(self, sample: Sample) -> Property:
        """Prepare to estimate it in many contexts."""
        return self.attribute.grouped(sample)

    @property
    def position(self) -> float:
        """Where the object lies among the groups of its values."""
        return self.attribute.position(self.row)

    def profile(self, mask: Mask) -> Profile:
        """Give its densities at all marked rows."""
        return self.attribute.profile(mask, self.row, self.options.bandwidth)


class Premise:
    """A condition that the object satisfies, with the rows that satisfy it too."""

    def __init__(
        self, condition: Condition, group: int, test: Callable[[Rows | None], Mask]
    ) -> None:
        """Take how many rows satisfy it, and who marks them, among all rows or among some."""
        self.condition, self.group, self._test = condition, group, test

    @property
    def attribute(self) -> str:
        """The attribute it is about."""
        return self.condition.attribute

    def marked(self, rows: Rows | None) -> Mask:
        """Mark those of some rows, or of all, that satisfy it."""
        return self._test(rows)


def best_pairs(hits: Iterable[Hit], exact: Evaluation[Trait, Premise], top: int) -> list[Pair]:
    """Describe the strongest hits, in order."""
    described = (pair_of(hit, exact) for hit in _worth_describing(hits, exact, top))
    return best_by_attributes(described)[:top]


def _worth_describing(
    hits: Iterable[Hit], exact: Evaluation[Trait, Premise], top: int
) -> Iterator[Hit]:
    """Give the strongest hits, and what ties with them; of several scales the strongest."""
    kept: dict[tuple[int, ...], tuple[float, int]] = {}
    last = (-math.inf, 0)
    for hit in sorted(hits, key=lambda hit: (-hit.score, len(hit.context))):
        rank = (-hit.score, len(hit.context))
        if len(kept) >= top and rank > last:
            return
        first = kept.setdefault(exact.attributes(hit.property, hit.context), rank)
        if first == rank:
            last = max(last, rank)
            yield hit


def pair_of(hit: Hit, exact: Evaluation[Trait, Premise]) -> tuple[Order, Pair]:
    """Describe a hit in full, with the key that orders it."""
    trait = exact.properties[hit.property]
    chosen = [exact.candidates[item] for item in hit.context]
    options, rows = trait.options, exact.rows
    profile = trait.profile(exact.mask(hit.context))
    pair = Pair(
        property=trait.name,
        value=trait.value,
        conditions=tuple(premise.condition for premise in chosen),
        outlierness=hit.outlierness,
        rarity=hit.summary.rarity,
        tail=outlierness.tail(profile.densities, profile.at_object, profile.rows),
        support=hit.group / rows,
        group_size=hit.group,
        known=int(profile.rows.sum()),
        lift=hit.summary.mean / hit.overall.mean,
        strength=hit.strength,
        overall_outlierness=hit.overall.outlierness(options.measure),
        typical=typical(trait, profile),
        reaches_threshold=hit.outlierness >= options.min_outlierness - outlierness.SAME_SCORE,
        min_confidence=options.min_confidence,
    )
    names = tuple(premise.attribute for premise in chosen)
    order = (-hit.score, len(chosen), pair.tail, -hit.group, trait.name, names, hit.context)
    return order, pair


def best_by_attributes(pairs: Iterable[tuple[Order, Pair]]) -> list[Pair]:
    """Order pairs; of those with the same property and attributes keep the first scale only."""
    kept: dict[tuple[str, tuple[str, ...]], Pair] = {}
    for _, pair in sorted(pairs, key=lambda item: item[0]):
        attributes = tuple(condition.attribute for condition in pair.conditions)
        kept.setdefault((pair.property, attributes), pair)
    return list(kept.values())


def typical(trait: Trait, profile: Profile) -> Ranges | tuple[Value, ...]:
    """Say where the 90% of the group with the highest density lie."""
    attribute = trait.attribute
    if isinstance(attribute, CategoricalAttribute):
        return _typical_categories(attribute, profile)
    return _typical_ranges(attribute, profile, attribute.scaled(trait.row))


def _typical_categories(attribute: CategoricalAttribute, profile: Profile) -> tuple[Value, ...]:
    order = np.argsort(-profile.rows, kind="stable")
    shares = np.cumsum(profile.rows[order]) / profile.rows.sum()
    codes = order[: int(np.searchsorted(shares, TYPICAL_SHARE - 1e-9)) + 1]
    column = attribute.column
    if isinstance(column, CategoricalColumn) and attribute.codes is column.codes:
        return tuple(column.labels[code] for code in codes)
    return tuple(("known", "missing")[code] for code in codes)


def _typical_ranges(attribute: NumericAttribute, profile: Profile, value: float) -> Ranges:
    """Join the values of highest density into ranges.

    A range ends where the next such value is further off than the window of the density can see,
    or than three usual steps between values (rounded values have steps wider than the window), or
    where the object itself lies between. Of fewer than ten rows, nearly all is not all.
    """
    values, densities = profile.values, profile.densities
    share = TYPICAL_SHARE * len(values)
    rank = (math.ceil(share - 1e-9) if len(values) >= 10 else math.floor(share)) - 1
    least = np.sort(densities)[::-1][rank]
    kept = values[densities >= least * (1 - outlierness.SAME_DENSITY)]
    gaps = np.diff(kept)
    ends = gaps > _widest_gap(values)
    if profile.at_object < least * (1 - outlierness.SAME_DENSITY):
        ends |= (kept[:-1] < value) & (value < kept[1:])
    breaks = np.flatnonzero(ends)
    starts, stops = kept[np.append(0, breaks + 1)], kept[np.append(breaks, len(kept) - 1)]
    form = attribute.column.form
    return tuple(
        (value_of(form, attribute.unscaled(low)), value_of(form, attribute.unscaled(high)))
        for low, high in zip(starts, stops, strict=True)
    )


def _widest_gap(values: Floats) -> float:
    steps = np.diff(values)
    steps = steps[steps > 0]
    return max(bandwidth(values), _GAPS_IN_A_RANGE * float(np.median(steps)))
