"""From hits of the search to pairs for people: tails, typical values, the order of results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from outlying.method.distribution import Between
from outlying.method.measure import reaches
from outlying.method.profiles import NumericProfile, Profile
from outlying.method.sketches import Picture, Sketch, categorical_sketch, shown_categories
from outlying.options import Options
from outlying.results.findings import Findings, Pair, Population
from outlying.results.notes import notes_on
from outlying.search.population import Measured, Searched
from outlying.search.scoring import Context, Hit

Order: TypeAlias = tuple[float, int, float, int, str, tuple[str, ...], Context]


def explained(searched: Searched, options: Options) -> Findings:
    """Put together what was found on an object: its pairs in order, and what to know of them."""
    pairs = tuple(best_pairs(searched.outcome.best, searched.exact, options.top))
    return Findings(
        row=searched.row,
        key=searched.key,
        values=tuple(searched.values.items()),
        population=Population.of(searched.table, searched.rows, searched.selection),
        options=options,
        pairs=pairs,
        found=searched.outcome.found,
        notes=(*searched.notes, *notes_on(searched, pairs, options)),
        effort=searched.outcome.effort,
        row_hash=searched.row_hash,
    )


def best_pairs(hits: Iterable[Hit], exact: Measured, top: int) -> list[Pair]:
    """Describe the strongest hits, in order."""
    described = (pair_of(hit, exact) for hit in _worth_describing(hits, exact, top))
    return best_by_attributes(described)[:top]


def _worth_describing(hits: Iterable[Hit], exact: Measured, top: int) -> Iterator[Hit]:
    """Return the strongest hits, and what ties with them; of several scales the strongest."""
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


def pair_of(hit: Hit, exact: Measured) -> tuple[Order, Pair]:
    """Describe a hit in full, with the key that orders it."""
    own = exact.properties[hit.property]
    chosen = [exact.candidates[item] for item in hit.context]
    options, rows = own.options, exact.rows
    profile = exact.profile(hit.property, hit.context)
    pair = Pair(
        property=own.name,
        value=own.value,
        conditions=tuple(item.condition for item in chosen),
        outlierness=hit.outlierness,
        rarity=hit.summary.rarity,
        tail=profile.tail(hit.summary),
        support=hit.group / rows,
        group_size=hit.group,
        known=profile.known,
        lift=hit.summary.lift,
        strength=hit.strength,
        overall_outlierness=hit.overall.outlierness(options.measure),
        typical=profile.typical(own.place, hit.summary.at_object),
        reaches_threshold=reaches(hit.outlierness, options.min_outlierness),
        measure=options.measure,
        min_confidence=options.min_confidence,
        bound=_bound(hit, profile, exact),
        picture=_picture(hit, profile, exact),
    )
    names = tuple(item.attribute for item in chosen)
    order = (-hit.score, len(chosen), pair.tail, -hit.group, own.name, names, hit.context)
    return order, pair


def _bound(hit: Hit, profile: Profile, exact: Measured) -> float:
    """Return how far the numbers of a pair may be off, where values were counted in bins.

    Rarity and lift as shares of themselves, outlierness and tail as they are; the largest of them.
    """
    inside, overall = exact.bounds(hit.property, hit.context), exact.bounds(hit.property, ())
    if inside is None or overall is None:
        return 0.0
    summary = hit.summary
    rarity, tail, own = (
        inside.rarity(summary.scale),
        inside.tail(summary.scale),
        profile.tail(summary),
    )
    return max(
        rarity.off(summary.rarity),
        Between(1 / rarity.high, 1 / rarity.low).off(1 / summary.rarity) / summary.rarity,
        inside.lift(overall).off(summary.lift),
        tail.high - own,
        own - tail.low,
    )


def _picture(hit: Hit, profile: Profile, exact: Measured) -> Picture:
    """Sketch a pair: its property inside and outside of the context, and the context itself."""
    own = exact.properties[hit.property]
    around = [exact.own[item] for item in hit.context]
    inside, overall = _sketches(hit, profile, exact)
    return Picture(
        place=own.place,
        inside=inside,
        overall=overall,
        densities=(1 / hit.summary.rarity, 1 / hit.overall.rarity),
        areas=tuple(area / hit.summary.mean for area in profile.areas(hit.summary)),
        context=tuple(exact.sketch(other) for other in around),
        places=tuple(exact.properties[other].place for other in around),
    )


def _sketches(hit: Hit, profile: Profile, exact: Measured) -> tuple[Sketch, Sketch]:
    """Sketch a property inside of a context and over the whole table, with the same categories."""
    if isinstance(profile, NumericProfile):
        return profile.sketch(hit.summary.scale), exact.sketch(hit.property)
    code = profile.labels.index(exact.properties[hit.property].place)
    shown = shown_categories(profile.counts, code)
    inside = categorical_sketch(profile.counts, profile.labels, shown)
    return inside, exact.sketch(hit.property, [profile.labels[code] for code in shown])


def best_by_attributes(pairs: Iterable[tuple[Order, Pair]]) -> list[Pair]:
    """Order pairs; of those with the same property and attributes keep the first scale only."""
    kept: dict[tuple[str, tuple[str, ...]], Pair] = {}
    for _, pair in sorted(pairs, key=lambda item: item[0]):
        attributes = tuple(condition.attribute for condition in pair.conditions)
        kept.setdefault((pair.property, attributes), pair)
    return list(kept.values())
