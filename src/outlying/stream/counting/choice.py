"""How the numbers of each column are counted in the verify pass: exactly where they are few."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from outlying.method.density import Floats
from outlying.method.distribution import Distribution
from outlying.stream.counting.grids import (
    LEAST_BINS,
    MOST_BINS,
    MOST_VALUES,
    Coding,
    Dictionary,
    Grid,
    Range,
)
from outlying.stream.profile.profile import Profile
from outlying.stream.verify.questions import Question
from outlying.stream.verify.rules import Rules
from outlying.stream.verify.verify_pass import ColumnPlan, Look
from outlying.table.columns import NumericColumn

#: The most bins of a grid.
FINEST = 1_048_576
#: Counts of all looks together take no more bytes than this, in each thread or task.
BUDGET = 128 * 2**20
_BYTES = 12  # of a bin: a count, and half as much for bins beside those asked for
_STEPS = {"integer": 1.0, "date": 86_400_000_000.0}
_NEARLY_ALL = 0.95  # a sample with so many distinct values comes of more than can be kept


def affordable(looks: int) -> int:
    """Choose how many bins a grid may have, so that the counts of all looks fit the memory."""
    return max(LEAST_BINS, min(FINEST, int(BUDGET / (_BYTES * max(1, looks)))))


def codings(
    profile: Profile, looks: Sequence[Look], counts: Iterable[Rules], questions: Sequence[Question]
) -> dict[str, ColumnPlan]:
    """Plan all columns that are asked about."""
    named = {rule.column for look in looks for rule in look.rules}
    named |= {rule.column for rules in counts for rule in rules}
    numeric = [look.column for look in looks if look.asks == "numbers"]
    bins = affordable(len(numeric))
    asked = named | {look.column for look in looks}
    plans = {}
    for field in profile.fields:
        if field.name in asked:
            is_counted = field.name in numeric
            coding = _coding(profile, field.name, bins, questions) if is_counted else None
            plans[field.name] = ColumnPlan(field, coding)
    return plans


def _coding(profile: Profile, name: str, bins: int, questions: Sequence[Question]) -> Coding:
    column = cast(NumericColumn, profile.table.column(name))
    low, high = profile.ends(name)
    step = _STEPS.get(column.form)
    if step is not None and (high - low) / step < MOST_BINS and (high - low) % step == 0:
        return Range(low, int((high - low) / step) + 1, step)
    values = column.values[: profile.drawn]
    sample = np.sort(values[~np.isnan(values)])
    grid = Grid.of(sample, low, high, bins, _zones(name, sample, profile.rows, questions))
    distinct = 1 + np.count_nonzero(np.diff(sample))
    is_surely_long = profile.rows > MOST_VALUES and distinct > _NEARLY_ALL * len(sample)
    return grid if is_surely_long else Dictionary(grid)


def _zones(
    name: str, sample: Floats, rows: int, questions: Sequence[Question]
) -> list[tuple[float, float]]:
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
