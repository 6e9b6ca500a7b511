"""From hits of the search to pairs for people: tails, typical values, the order of results."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from outlying import outlierness
from outlying.conditions import Condition
from outlying.density import Counts, Floats, bandwidth, frequencies
from outlying.findings import Pair, Ranges
from outlying.options import Options
from outlying.population import Attribute, CategoricalAttribute, NumericAttribute, Summary
from outlying.screen import Property
from outlying.search import Context, Evaluation, Hit
from outlying.sketches import (
    NumericSketch,
    Picture,
    Sketch,
    categorical_sketch,
    shown_categories,
)
from outlying.table import Mask, Rows
from outlying.values import Value, value_of
from outlying.vicinity import Sample

TYPICAL_SHARE = 0.9
_GAPS_IN_A_RANGE = 3

Sketcher: TypeAlias = Callable[[Floats, Floats], NumericSketch]
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

    @property
    def place(self) -> float | Value:
        """The object's value as a number of the column, or its category."""
        attribute = self.attribute
        if isinstance(attribute, NumericAttribute):
            return float(attribute.column.values[self.row])
        return attribute.categories[int(attribute.codes[self.row])]

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
    profile = exact.shared.profile(
        exact.key(hit.property, hit.context), lambda: _profile(trait, exact.mask(hit.context))
    )
    pair = Pair(
        property=trait.name,
        value=trait.value,
        conditions=tuple(premise.condition for premise in chosen),
        outlierness=hit.outlierness,
        rarity=hit.summary.rarity,
        tail=profile.tail(hit.summary.at_object),
        support=hit.group / rows,
        group_size=hit.group,
        known=profile.known,
        lift=hit.summary.mean / hit.overall.mean,
        strength=hit.strength,
        overall_outlierness=hit.overall.outlierness(options.measure),
        typical=profile.typical(trait, hit.summary.at_object),
        reaches_threshold=hit.outlierness >= options.min_outlierness - outlierness.SAME_SCORE,
        measure=options.measure,
        min_confidence=options.min_confidence,
        picture=_picture(hit, profile, exact),
    )
    names = tuple(premise.attribute for premise in chosen)
    order = (-hit.score, len(chosen), pair.tail, -hit.group, trait.name, names, hit.context)
    return order, pair


def _picture(
    hit: Hit, profile: NumericProfile | CategoricalProfile, exact: Evaluation[Trait, Premise]
) -> Picture:
    """Sketch a pair: its property inside and outside of the context, and the context itself."""
    trait = exact.properties[hit.property]
    around = [exact.properties[exact.own[item]] for item in hit.context]
    inside, overall = _sketches(trait, profile)
    return Picture(
        place=trait.place,
        inside=inside,
        overall=overall,
        densities=(1 / hit.summary.rarity, 1 / hit.overall.rarity),
        areas=tuple(area / hit.summary.mean for area in profile.areas(hit.summary.at_object)),
        context=tuple(_sketch(other) for other in around),
        places=tuple(other.place for other in around),
    )


def _sketches(trait: Trait, profile: NumericProfile | CategoricalProfile) -> tuple[Sketch, Sketch]:
    """Sketch a property inside of a context and over the whole table, with the same categories."""
    if isinstance(profile, NumericProfile):
        return profile.sketch, _sketch(trait)
    shown = shown_categories(profile.counts, int(trait.position))
    inside = categorical_sketch(profile.counts, profile.labels, shown)
    return inside, _sketch(trait, shown)


def _sketch(trait: Trait, shown: Sequence[int] | None = None) -> Sketch:
    """Sketch an attribute over the whole table."""
    attribute = trait.attribute
    if isinstance(attribute, NumericAttribute):
        return attribute.sketch(trait.options.bandwidth)
    if shown is None:
        shown = shown_categories(attribute.totals, int(trait.position))
    return categorical_sketch(attribute.totals, attribute.categories, shown)


def best_by_attributes(pairs: Iterable[tuple[Order, Pair]]) -> list[Pair]:
    """Order pairs; of those with the same property and attributes keep the first scale only."""
    kept: dict[tuple[str, tuple[str, ...]], Pair] = {}
    for _, pair in sorted(pairs, key=lambda item: item[0]):
        attributes = tuple(condition.attribute for condition in pair.conditions)
        kept.setdefault((pair.property, attributes), pair)
    return list(kept.values())


class NumericProfile:
    """A numeric property in a context: how rare its values are, and where most of them lie."""

    def __init__(self, values: Floats, densities: Floats, sketch: Sketcher) -> None:
        """Take sorted values with the density at each, and find where 90% of them lie.

        These are the values of highest density. A range of them ends where the next one is further
        off than the window of the density can see, or than three usual steps between values
        (rounded values have steps wider than the window). Of fewer than ten rows, nearly all is not
        all.
        """
        self.known = len(values)
        self.ranked = np.sort(densities)
        share = TYPICAL_SHARE * len(values)
        rank = math.ceil(share - 1e-9) if len(values) >= 10 else math.floor(share)
        self.least = float(self.ranked[len(values) - rank]) * (1 - outlierness.SAME_DENSITY)
        self.kept = values[densities >= self.least]
        self.ends = np.flatnonzero(np.diff(self.kept) > _widest_gap(values))
        self.sketch = sketch(values, self.ranked)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        own = self.ranked.nbytes + self.kept.nbytes + self.ends.nbytes
        return own + self.sketch.nbytes

    def tail(self, at_object: float) -> float:
        """Give the share of rows at least as rare as an object."""
        limit = at_object * (1 + outlierness.SAME_DENSITY)
        return float(np.searchsorted(self.ranked, limit, side="right") / self.known)

    def areas(self, at_object: float) -> tuple[float, float]:
        """Give the areas above and below the cdf of the densities."""
        return outlierness.areas(self.ranked, at_object)

    def typical(self, trait: Trait, at_object: float) -> Ranges:
        """Say where the 90% of highest density lie; ranges end where the object lies between."""
        attribute, kept, ends = trait.attribute, self.kept, self.ends
        if at_object < self.least:
            place = int(np.searchsorted(kept, trait.position)) - 1
            if 0 <= place < len(kept) - 1:
                ends = np.union1d(ends, [place])
        starts, stops = kept[np.append(0, ends + 1)], kept[np.append(ends, len(kept) - 1)]
        return tuple(
            (_shown(attribute, low), _shown(attribute, high))
            for low, high in zip(starts, stops, strict=True)
        )


class CategoricalProfile:
    """A categorical property in a context: how many rows each category has."""

    def __init__(self, counts: Counts, labels: Sequence[Value]) -> None:
        self.counts, self.labels, self.known = counts, labels, int(counts.sum())

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.counts.nbytes

    def tail(self, at_object: float) -> float:
        """Give the share of rows at least as rare as an object."""
        return outlierness.tail(frequencies(self.counts), at_object, self.counts)

    def areas(self, at_object: float) -> tuple[float, float]:
        """Give the areas above and below the cdf of the frequencies."""
        return outlierness.areas(frequencies(self.counts), at_object, self.counts)

    def typical(self, trait: Trait, at_object: float) -> tuple[Value, ...]:  # noqa: ARG002
        """Name the most frequent categories that hold 90% of the rows."""
        order = np.argsort(-self.counts, kind="stable")
        shares = np.cumsum(self.counts[order]) / self.known
        codes = order[: int(np.searchsorted(shares, TYPICAL_SHARE - 1e-9)) + 1]
        return tuple(self.labels[code] for code in codes)


def _profile(trait: Trait, mask: Mask) -> NumericProfile | CategoricalProfile:
    attribute = trait.attribute
    if isinstance(attribute, CategoricalAttribute):
        return CategoricalProfile(attribute.counts(mask), attribute.categories)
    values, densities = attribute.densities(mask, trait.options.bandwidth)
    kind = trait.options.bandwidth
    return NumericProfile(
        values, densities, lambda values, ranked: attribute.sketched(values, ranked, kind)
    )


def _shown(attribute: Attribute, number: float) -> Value:
    """Give a number of the attribute's scale as people know it."""
    unscaled = attribute.unscaled(number) if isinstance(attribute, NumericAttribute) else number
    return value_of(attribute.column.form, unscaled)


def _widest_gap(values: Floats) -> float:
    steps = np.diff(values)
    steps = steps[steps > 0]
    return max(bandwidth(values), _GAPS_IN_A_RANGE * float(np.median(steps)))
