"""Plans of a pass: what is counted and what is kept, and how numbers are encoded."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np

from outlying.method.density import Floats
from outlying.method.distribution import Distribution
from outlying.method.measure import SCALES
from outlying.search.attributes import exponent_of
from outlying.sources.types.arrow import Field
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
from outlying.table.columns import Derivation, NumericColumn
from outlying.table.derived.calendar import MINUTE

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
    for item in _readable(profile, questions):
        if item.key in fine:
            encoding = _encoding(profile, item, bins, _zones(profile, item, questions))
            exponent = exponent_of(max(map(abs, item.ends)))
            other = _coarser(item, few, encoding) if item.key in coarse else None
            plans[item.key] = ColumnPlan(item.field, encoding, exponent, other, item.derivation)
        elif item.key in asked:
            plans[item.key] = ColumnPlan(item.field, derivation=item.derivation)
    return plans


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Readable:
    """A column that can be asked about: of the table, or derived from one."""

    profile: Profile
    field: Field
    derivation: Derivation | None = None

    @property
    def key(self) -> str:
        """What questions know it by."""
        return self.field.name if self.derivation is None else self.derivation.key

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest number that there may be."""
        if self.derivation is None:
            return self.profile.ends(self.field.name)
        return self.derivation.ends

    @property
    def column(self) -> NumericColumn:
        """The column of the rows that are in memory."""
        parent = self.profile.table.column(self.field.name)
        found = parent if self.derivation is None else self.derivation.column(parent)
        return cast(NumericColumn, found)

    def drawn(self) -> Floats:
        """Return the numbers that were drawn, sorted."""
        values = self.column.values[: self.profile.drawn]
        return np.sort(values[~np.isnan(values)])


def _readable(profile: Profile, questions: Iterable[Question]) -> Iterator[_Readable]:
    """Return the columns of the table, and all that questions derive from them."""
    fields = {field.name: field for field in profile.fields}
    yield from (_Readable(profile, field) for field in profile.fields)
    derived = {
        own.key: own.attribute.column.origin
        for question in questions
        for own in question.asked.properties
    }
    for key in sorted(derived):
        derivation = derived[key]
        if derivation is not None:
            yield _Readable(profile, fields[derivation.parent], derivation)


def _encoding(profile: Profile, item: _Readable, bins: int, zones: Sequence[Zone]) -> Encoding:
    low, high = item.ends
    form = item.column.form
    step = _STEPS.get(form) if form != "time" or item.derivation is None else MINUTE
    if step is not None and (high - low) / step < MOST_STEPS and (high - low) % step == 0:
        return Range(low, int((high - low) / step) + 1, step)
    sample = item.drawn()
    grid = Grid.of(sample, low, high, bins, zones)
    distinct = 1 + np.count_nonzero(np.diff(sample))
    is_surely_long = profile.rows > MOST_VALUES and distinct > _NEARLY_ALL * len(sample)
    return grid if is_surely_long else Dictionary(grid)


def _coarser(item: _Readable, bins: int, encoding: Encoding) -> Encoding:
    """Return an encoding of a column by so many bins, or fewer values."""
    if isinstance(encoding, Range) and encoding.span <= bins:
        return encoding
    return Grid.of(item.drawn(), *item.ends, bins)


def _zones(profile: Profile, item: _Readable, questions: Sequence[Question]) -> list[Zone]:
    """Return where rows near an object are: around its value, as far as its windows may reach."""
    sample = item.drawn()
    if len(sample) < 2 or sample[0] == sample[-1]:
        return []
    window = Distribution.of(sample).width_among(profile.rows)
    values = {
        float(cast(float, own.place))
        for question in questions
        if not question.is_estimated
        for own in question.asked.properties
        if own.key == item.key and own.attribute.kind == "numbers"
    }
    return [(value, reach * window) for value in sorted(values) for reach in _REACHES]
