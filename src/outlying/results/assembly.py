"""From hits of the search to stories for people: their order, tails, typical values, pictures."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np

from outlying.derived.choosing import taking_part
from outlying.derived.relations import Computed, Relation
from outlying.derived.sketches import relation_sketch
from outlying.method.distribution import Between
from outlying.method.profiles import (
    CategoricalSketch,
    NumericProfile,
    NumericSketch,
    Picture,
    Profile,
    Ranges,
    RelationSketch,
    Sketch,
    categorical_sketch,
    shown_categories,
)
from outlying.options import Options
from outlying.results import culprits
from outlying.results.culprits import CellKind, Clues, Finding, Grouping, StoryBuilder
from outlying.results.findings import Findings, Population
from outlying.results.notes import hints_on, how_computed, notes_on, table_notes
from outlying.results.stories import LEAST_STRENGTH, Pair, Rank, Story
from outlying.search.evaluation import Evaluation, Hit, ObjectProperty
from outlying.search.evidence import Standing
from outlying.search.memory import Searched
from outlying.table.values import Form, Mask, Value, lies_between

#: Forms whose numbers are moments, not quantities.
_MOMENTS: tuple[Form, ...] = ("date", "datetime", "instant", "time")
_TIMES: tuple[Form, ...] = (*_MOMENTS, "duration")
MICROSECONDS = 1e6

Typical: TypeAlias = Ranges | tuple[Value, ...]
HitOrder: TypeAlias = tuple[float, int, float, int, tuple[int, ...], bool, tuple[int, ...]]


def explained(searched: Searched, options: Options) -> Findings:
    """Put together what was found on an object: its stories in order, and what to know of them."""
    outcome, exact = searched.outcome, searched.exact
    hits, told = grouped(outcome.best, exact, options.top)
    stories = _ranked(_described(hits, told[: options.top], searched), searched)
    people = Population.of(searched.table, searched.rows, searched.selection)
    how = tuple(how_computed(searched, stories))
    shared = (*searched.table.notes, *table_notes(searched, options), *how)
    own = [note for note in searched.notes if note not in searched.table.notes]
    return Findings(
        row=searched.row,
        key=searched.key,
        values=tuple(searched.values.items()),
        population=people,
        options=options,
        stories=stories,
        found=len(told),
        notes=(*shared, *own, *notes_on(searched, len(told), options)),
        hints=tuple(hints_on(len(told), options)),
        blamed=tuple((name, share) for name, share in blamed(searched).items()),
        table_notes=shared,
        how=how,
    )


def blamed(searched: Searched) -> dict[str, float]:
    """Return for each compared column how much weaker the strongest finding is without it."""
    exact = searched.exact
    evidence = _evidence(searched.outcome.reported, exact)
    families = sorted({own.family for own in exact.properties})
    shares = dict(zip(families, culprits.blame(evidence, range(len(families))), strict=True))
    shares |= {name: 0.0 for name in families if not _is_judged(exact, name)}
    return {name: shares[name] for name in taking_part(searched.selection, searched.table.names)}


def _ranked(stories: tuple[Story, ...], searched: Searched) -> tuple[Story, ...]:
    """Compare each story with the strongest findings of all rows that were judged."""
    standing, outcome = searched.standing, searched.outcome
    if standing is None:
        return stories
    is_judged = not searched.is_new and (
        len(standing.ordered) == searched.rows or _is_among(standing, outcome.reported)
    )
    strengths = [story.strength if outcome.reported else 0.0 for story in stories]
    ranks = [Rank.of(standing, strength, is_judged) for strength in strengths]
    return tuple(story.ranked(rank) for story, rank in zip(stories, ranks, strict=True))


def _is_among(standing: Standing, reported: Sequence[Hit]) -> bool:
    top = max((hit.strength for hit in reported), default=0.0)
    return standing.at_least(top) > standing.at_least(top + LEAST_STRENGTH)


def grouped(
    hits: Iterable[Hit], exact: Evaluation, top: int
) -> tuple[list[Hit], list[StoryBuilder]]:
    """Order hits, the strongest first, and join those that tell the same story."""
    ordered: list[Hit] = []
    grouping = Grouping()
    members = functools.cache(lambda item: exact.candidates[item].test(None))
    for _, some in itertools.groupby(sorted(hits, key=_rank), key=_rank):
        equals = list(some)
        look = len(equals) > 1 and len(grouping.stories) < top
        for hit in sorted(equals, key=lambda hit: _order(hit, exact, look)):
            grouping.add(_finding(hit, exact, len(ordered), _group(hit, members)))
            ordered.append(hit)
    return ordered, grouping.stories


def _rank(hit: Hit) -> tuple[float, int]:
    return -hit.score, len(hit.context)


def _order(hit: Hit, exact: Evaluation, look: bool) -> HitOrder:
    """Return what orders a hit: score, conditions, tail (if looked at), rows, then names."""
    families = exact.families_of(hit.property, hit.context)
    tail = 0.0
    if look:
        tail = exact.profile(hit.property, hit.context).tail(hit.summary)
    is_gap = exact.properties[hit.property].value is None  # a part of the column says more
    return *_rank(hit), tail, -hit.group, families, is_gap, (hit.property, *hit.context)


def _finding(hit: Hit, exact: Evaluation, number: int = 0, group: Hashable = None) -> Finding:
    columns = exact.families_of(hit.property, hit.context)
    origin = exact.properties[hit.property].attribute.column.origin
    is_relation = origin is not None and origin.says_more
    is_mutual = is_relation and isinstance(origin, Relation) and origin.is_mutual
    told = columns[0], frozenset(columns), hit.strength, number, group
    return Finding(*told, is_relation=is_relation, is_mutual=is_mutual)


def _group(hit: Hit, members: Callable[[int], Mask]) -> Hashable:
    """Return what tells the rows of a context from others, as a numeric property shows them.

    Contexts of equally many rows, with the same window, rarity and lift to the ninth digit, and the
    same `members` where a number is the same in nearly all rows, select the same rows: a label,
    say, and what it follows from. Frequencies of categories are equal by chance too often.
    """
    found = hit.summary
    if not hit.context or found.reach is None:
        return None
    figures = [f"{x:.8e}" for x in (found.reach, found.rarity, found.lift)]
    rows = np.logical_and.reduce([members(item) for item in hit.context])
    return hit.property, hit.group, found.scale, found.near, *figures, rows.tobytes()


def _described(
    hits: Sequence[Hit], told: Sequence[StoryBuilder], searched: Searched
) -> tuple[Story, ...]:
    """Describe stories; only their headlines get pictures."""
    evidence = _evidence(hits, searched.exact)
    chosen = culprits.culprits(told, evidence)
    stories = []
    for number, (item, culprit) in enumerate(zip(told, chosen, strict=True)):
        is_known = culprit in chosen[:number]
        undecided = () if is_known else culprits.undecided(item, evidence)
        stories.append(_story(item, culprit, undecided, hits, searched))
    return tuple(stories)


def _story(
    told: StoryBuilder,
    culprit: int,
    undecided: Sequence[int],
    hits: Sequence[Hit],
    searched: Searched,
) -> Story:
    shown, exact = [*told.findings, *told.absorbed], searched.exact
    place = shown.index(told.headline(culprit))
    pairs = tuple(
        pair_of(
            hits[finding.number],
            exact,
            searched.values,
            is_finding=bool(searched.outcome.reported),
            with_picture=number == place,
        )
        for number, finding in enumerate(shown)
    )
    names = sorted({own.family for own in exact.properties})
    columns = tuple(names[column] for column in sorted(told.columns))
    doubtful = tuple(names[column] for column in undecided)
    return Story(columns, names[culprit], pairs[place], pairs, doubtful)


def _evidence(hits: Sequence[Hit], exact: Evaluation) -> Clues:
    """Return what findings tell of the columns, and which formulas that the row keeps join."""
    found = [_finding(hit, exact) for hit in hits]
    formulas = {
        place: frozenset(exact.families_of(place, ()))
        for place, own in enumerate(exact.properties)
        if isinstance(own.attribute.column.origin, Computed)
    }
    broken = [formulas.pop(place) for place in {hit.property for hit in hits} & formulas.keys()]
    kept = [own for own in formulas.values() if own.isdisjoint(frozenset().union(*broken))]
    surprise = {exact.families[place]: nats for place, nats in reversed(exact.rarest)}
    return Clues(found, _kinds(exact), culprits.joined_columns(kept), surprise)


def _kinds(exact: Evaluation) -> list[CellKind]:
    """Return what each column is: that of the column itself, or of its first part."""
    kinds: dict[int, CellKind] = {}
    for family, own in zip(exact.families, exact.properties, strict=True):
        is_judged = _is_judged(exact, own.family)
        kinds.setdefault(family, _kind(own) if is_judged else CellKind.CONTEXT)
    return [kinds[family] for family in sorted(kinds)]


def _is_judged(exact: Evaluation, column: str) -> bool:
    return exact.properties[0].options.judges(column)


def _kind(own: ObjectProperty) -> CellKind:
    if own.value is None:
        return CellKind.MISSING
    if own.attribute.kind != "numbers":
        return CellKind.CATEGORY
    return CellKind.TIME if own.attribute.column.form in _MOMENTS else CellKind.NUMBER


def pair_of(
    hit: Hit,
    exact: Evaluation,
    values: Mapping[str, Value],
    *,
    is_finding: bool = True,
    with_picture: bool = True,
) -> Pair:
    """Describe a hit on an object with these values."""
    own = exact.properties[hit.property]
    chosen = [exact.candidates[item] for item in hit.context]
    rows = exact.rows
    profile = exact.profile(hit.property, hit.context)
    typical = _typical(profile, own, hit)
    origin = own.attribute.column.origin
    form, reach = own.attribute.column.form, hit.summary.reach
    unit = MICROSECONDS if form in _TIMES else 1.0  # of times, distances are in seconds
    is_line = isinstance(profile, NumericProfile) and form != "time"
    home = next((item for item in exact.properties if item.name == own.family), own)
    cell = home.attribute.column
    return Pair(
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
        overall_outlierness=hit.overall.outlierness(),
        typical=typical,
        is_finding=is_finding,
        bound=_bound(hit, profile, exact),
        scale=hit.summary.scale,
        near=hit.summary.near,
        reach=None if reach is None else reach / unit,
        gap=_gap(own, profile, typical),
        beyond=profile.beyond(own.place) if is_line else None,
        neighbours=profile.neighbours(own.place) if is_line else (None, None),
        picture=_picture(hit, profile, exact) if with_picture else None,
        parent=None if origin is None else origin.parent,
        parent_value=None if origin is None else values[origin.parent],
        said=None if origin is None or own.value is None else origin.said(values),
        group=origin.where(values) if isinstance(origin, Relation) else "",
        given=() if origin is None else origin.given,
        expected=None if origin is None or own.value is None else origin.expected(values),
        as_written=cell.bound(home.row) if cell.is_numeric else None,
        breach=origin.breach(values) if isinstance(origin, Relation) else None,
    )


def _typical(profile: Profile, own: ObjectProperty, hit: Hit) -> Typical:
    """Return what is typical of a group: in a small one, not the object's own place in it."""
    typical = profile.typical(own.place, hit.summary.at_object)
    others = tuple(item for item in typical if item != (own.value, own.value))
    return cast(Typical, others or typical)


def _gap(own: ObjectProperty, profile: Profile, typical: Typical) -> tuple[Value, Value] | None:
    """Return the nearest values around one that lies among what is typical."""
    if not isinstance(profile, NumericProfile):
        return None
    ranges = cast(Ranges, typical)
    is_among = bool(ranges) and lies_between(ranges[0][0], ranges[-1][1], own.value)
    return profile.gap(own.place) if is_among else None


def _bound(hit: Hit, profile: Profile, exact: Evaluation) -> float:
    """Return how far the numbers of a pair may be off, where values were counted in bins."""
    inside, overall = exact.bounds(hit.property, hit.context), exact.bounds(hit.property, ())
    if inside is None or overall is None:
        return 0.0
    summary, own = hit.summary, profile.tail(hit.summary)
    rarity, tail = inside.rarity(summary.scale), inside.tail(summary.scale)
    return max(
        rarity.off(summary.rarity),
        Between(1 / rarity.high, 1 / rarity.low).off(1 / summary.rarity) / summary.rarity,
        inside.lift(overall).off(summary.lift),
        tail.high - own,
        own - tail.low,
    )


def _picture(hit: Hit, profile: Profile, exact: Evaluation) -> Picture:
    own = exact.properties[hit.property]
    around = [exact.property_of_condition[item] for item in hit.context]
    inside, overall = _sketches(hit, profile, exact)
    return Picture(
        place=own.place,
        inside=inside,
        overall=overall,
        densities=(1 / hit.summary.rarity, 1 / hit.overall.rarity),
        areas=tuple(area / hit.summary.mean for area in profile.areas(hit.summary)),
        context=tuple(exact.sketch(other) for other in around),
        places=tuple(exact.properties[other].place for other in around),
        relation=_relation(own, exact),
    )


def _relation(own: ObjectProperty, exact: Evaluation) -> RelationSketch | CategoricalSketch | None:
    """Sketch the relation that a property is, with how its columns are spread."""
    origin = own.attribute.column.origin
    if not isinstance(origin, Relation):
        return None
    places = {
        item.name: place for place, item in enumerate(exact.properties) if item.value is not None
    }
    columns = {name: exact.properties[place].attribute.column for name, place in places.items()}
    found = relation_sketch(origin, columns, own.row)
    if not isinstance(found, RelationSketch):
        return found
    parent = exact.sketch(places[origin.parent])
    other = exact.sketch(places[found.given]) if found.given else parent
    if not isinstance(parent, NumericSketch) or not isinstance(other, NumericSketch):
        return None
    return dataclasses.replace(found, sketches=(other, parent))


def _sketches(hit: Hit, profile: Profile, exact: Evaluation) -> tuple[Sketch, Sketch]:
    """Sketch a property inside of a context and over the whole table, with the same categories."""
    if isinstance(profile, NumericProfile):
        return profile.sketch(hit.summary.scale), exact.sketch(hit.property)
    code = profile.labels.index(exact.properties[hit.property].place)
    shown = shown_categories(profile.counts, code)
    inside = categorical_sketch(profile.counts, profile.labels, shown)
    return inside, exact.sketch(hit.property, [profile.labels[code] for code in shown])
