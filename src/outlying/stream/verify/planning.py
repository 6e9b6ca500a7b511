"""Plans of the columns: how their numbers are encoded, exactly where they are few."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from outlying.method.density import Floats
from outlying.method.distribution import Distribution
from outlying.search.attributes import exponent_of
from outlying.stream.counting.encodings import Dictionary, Encoding, Grid, Range
from outlying.stream.counting.layout import Zone
from outlying.stream.counting.limits import MOST_STEPS, MOST_VALUES, affordable_bins
from outlying.stream.profile.profile import Profile
from outlying.stream.verify.plan import ColumnPlan, Query
from outlying.stream.verify.predicates import Conjunction
from outlying.stream.verify.questions import Question
from outlying.table.columns import NumericColumn

_STEPS = {"integer": 1.0, "date": 86_400_000_000.0}
_NEARLY_ALL = 0.95  # a sample with so many distinct values comes of more than can be kept


def plan_columns(
    profile: Profile,
    queries: Sequence[Query],
    counts: Iterable[Conjunction],
    questions: Sequence[Question],
) -> dict[str, ColumnPlan]:
    """Plan how all columns that are asked about are read, and their numbers encoded."""
    contexts = [*(query.context for query in queries), *counts]
    asked = {predicate.column for context in contexts for predicate in context}
    asked |= {query.column for query in queries}
    numeric = [query.column for query in queries if query.kind == "numbers"]
    bins = affordable_bins(len(numeric))
    plans = {}
    for field in profile.fields:
        if field.name in numeric:
            encoding = _encoding(profile, field.name, bins, questions)
            exponent = exponent_of(max(map(abs, profile.ends(field.name))))
            plans[field.name] = ColumnPlan(field, encoding, exponent)
        elif field.name in asked:
            plans[field.name] = ColumnPlan(field)
    return plans


def _encoding(profile: Profile, name: str, bins: int, questions: Sequence[Question]) -> Encoding:
    column = cast(NumericColumn, profile.table.column(name))
    low, high = profile.ends(name)
    step = _STEPS.get(column.form)
    if step is not None and (high - low) / step < MOST_STEPS and (high - low) % step == 0:
        return Range(low, int((high - low) / step) + 1, step)
    values = column.values[: profile.drawn]
    sample = np.sort(values[~np.isnan(values)])
    grid = Grid.of(sample, low, high, bins, _zones(name, sample, profile.rows, questions))
    distinct = 1 + np.count_nonzero(np.diff(sample))
    is_surely_long = profile.rows > MOST_VALUES and distinct > _NEARLY_ALL * len(sample)
    return grid if is_surely_long else Dictionary(grid)


def _zones(name: str, sample: Floats, rows: int, questions: Sequence[Question]) -> list[Zone]:
    """Return where rows near an object are: around its value, as far as its window may reach."""
    if len(sample) < 2 or sample[0] == sample[-1]:
        return []
    found = Distribution.of(sample)
    window = found.width_among(rows)
    values = {
        float(cast(float, own.place))
        for question in questions
        if not question.is_estimated
        for own in question.asked.properties
        if own.name == name and own.attribute.kind == "numbers"
    }
    return [(value, window) for value in sorted(values)]
