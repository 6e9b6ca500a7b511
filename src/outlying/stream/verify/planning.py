"""Plans of a pass: what is counted and what is kept, and how numbers are encoded."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from outlying.method.density import Floats
from outlying.method.distribution import Distribution
from outlying.method.measure import SCALES
from outlying.search.attributes import exponent_of
from outlying.stream.counting.encodings import Dictionary, Encoding, Grid, Range
from outlying.stream.counting.layout import Zone
from outlying.stream.counting.limits import (
    MOST_KEPT,
    MOST_STEPS,
    MOST_VALUES,
    affordable_bins,
    coarse_bins,
)
from outlying.stream.profile.profile import Profile
from outlying.stream.verify.plan import ColumnPlan, Query, VerifyPlan
from outlying.stream.verify.predicates import Conjunction
from outlying.stream.verify.questions import Question
from outlying.table.columns import NumericColumn

_STEPS = {"integer": 1.0, "date": 86_400_000_000.0}
_REACHES = 1, SCALES[-1] / 2  # windows around an object in which bins are fine
_NEARLY_ALL = 0.95  # a sample with so many distinct values comes of more than can be kept


def plan_verification(profile: Profile, questions: Sequence[Question]) -> VerifyPlan:
    """Plan a pass that answers all questions."""
    asked = dict.fromkeys(query for each in questions for query in each.queries())
    kept, counted = plan_small_groups(questions, profile.rows / profile.drawn)
    queries = tuple(dict.fromkeys([*asked, *counted]))
    small = tuple(query for query in kept if query not in asked)
    counts = tuple(dict.fromkeys(context for each in questions for context in each.counts()))
    contexts = [*(query.context for query in (*queries, *small)), *counts]
    columns = plan_columns(profile, queries, contexts, questions)
    return VerifyPlan(columns, queries, counts, small)


def plan_small_groups(
    questions: Iterable[Question], rows_per_drawn: float
) -> tuple[list[Query], list[Query]]:
    """Choose the small groups whose rows are kept, and return the queries about them, and others.

    As many are kept as memory allows, those of objects before those of rows to compare with, the
    smaller ones first. Others are counted like any group; where only compared with, coarsely.
    """
    groups: dict[Conjunction, SmallGroup] = {}
    for question in questions:
        for query, drawn in question.small():
            own = groups.setdefault(query.context, SmallGroup(drawn, set()))
            own.queries.add(query)
            own.is_compared_only &= question.is_estimated
    kept: list[Query] = []
    counted: list[Query] = []
    cells = 0.0
    for group in sorted(groups.values(), key=SmallGroup.sort_key):
        queries = sorted(group.queries, key=lambda query: (query.column, query.kind))
        cells += max(1, group.drawn) * rows_per_drawn * len(queries)
        if cells <= MOST_KEPT:
            kept += queries
        else:
            counted += [group.counted(query) for query in queries]
    return kept, counted


@dataclasses.dataclass(slots=True, eq=False)
class SmallGroup:
    """What is asked of a small group."""

    drawn: int
    queries: set[Query]
    is_compared_only: bool = True

    def sort_key(self) -> tuple[bool, int, list[tuple[str, str, float, float, str]]]:
        """Return something to sort groups by: those to be kept come first."""
        context = next(iter(self.queries)).context
        keys = [predicate.sort_key for predicate in context]
        return self.is_compared_only, self.drawn, keys

    def counted(self, query: Query) -> Query:
        """Return a query as it is asked where rows are counted."""
        is_coarse = self.is_compared_only and query.kind == "numbers"
        return dataclasses.replace(query, is_coarse=is_coarse)


def plan_columns(
    profile: Profile,
    queries: Sequence[Query],
    contexts: Iterable[Conjunction],
    questions: Sequence[Question],
) -> dict[str, ColumnPlan]:
    """Plan how all columns that are asked about are read, and their numbers encoded."""
    asked = {predicate.column for context in contexts for predicate in context}
    asked |= {query.column for query in queries}
    numeric = [query for query in queries if query.kind == "numbers"]
    fine = [query.column for query in numeric if not query.is_coarse]
    coarse = [query.column for query in numeric if query.is_coarse]
    bins, few = affordable_bins(len(fine)), coarse_bins(len(coarse))
    plans = {}
    for field in profile.fields:
        if field.name in fine:
            zones = _zones(profile, field.name, questions)
            encoding = _encoding(profile, field.name, bins, zones)
            exponent = exponent_of(max(map(abs, profile.ends(field.name))))
            other = _coarser(profile, field.name, few, encoding) if field.name in coarse else None
            plans[field.name] = ColumnPlan(field, encoding, exponent, other)
        elif field.name in asked:
            plans[field.name] = ColumnPlan(field)
    return plans


def _encoding(profile: Profile, name: str, bins: int, zones: Sequence[Zone]) -> Encoding:
    column = cast(NumericColumn, profile.table.column(name))
    low, high = profile.ends(name)
    step = _STEPS.get(column.form)
    if step is not None and (high - low) / step < MOST_STEPS and (high - low) % step == 0:
        return Range(low, int((high - low) / step) + 1, step)
    sample = _drawn(profile, name)
    grid = Grid.of(sample, low, high, bins, zones)
    distinct = 1 + np.count_nonzero(np.diff(sample))
    is_surely_long = profile.rows > MOST_VALUES and distinct > _NEARLY_ALL * len(sample)
    return grid if is_surely_long else Dictionary(grid)


def _coarser(profile: Profile, name: str, bins: int, encoding: Encoding) -> Encoding:
    """Return an encoding of a column by so many bins, or fewer values."""
    if isinstance(encoding, Range) and encoding.span <= bins:
        return encoding
    return Grid.of(_drawn(profile, name), *profile.ends(name), bins)


def _drawn(profile: Profile, name: str) -> Floats:
    """Return the numbers of a column that were drawn, sorted."""
    column = cast(NumericColumn, profile.table.column(name))
    values = column.values[: profile.drawn]
    return np.sort(values[~np.isnan(values)])


def _zones(profile: Profile, name: str, questions: Sequence[Question]) -> list[Zone]:
    """Return where rows near an object are: around its value, as far as its windows may reach."""
    sample = _drawn(profile, name)
    if len(sample) < 2 or sample[0] == sample[-1]:
        return []
    window = Distribution.of(sample).width_among(profile.rows)
    values = {
        float(cast(float, own.place))
        for question in questions
        if not question.is_estimated
        for own in question.asked.properties
        if own.name == name and own.attribute.kind == "numbers"
    }
    return [(value, reach * window) for value in sorted(values) for reach in _REACHES]
