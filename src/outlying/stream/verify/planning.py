"""Plans of a pass: what is counted, and how numbers are encoded."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np

from outlying.derived.calendar import MINUTE
from outlying.method.density import Floats
from outlying.method.distribution import Distribution
from outlying.method.measure import SCALES
from outlying.search.attributes import exponent_of
from outlying.sources.types.arrow import Field
from outlying.stream.counting.encodings import Dictionary, Encoding, Grid, Range
from outlying.stream.counting.layout import Zone
from outlying.stream.counting.limits import MOST_STEPS, MOST_VALUES, affordable_bins
from outlying.stream.profile.profile import Profile
from outlying.stream.verify.plan import ColumnPlan, Query, VerifyPlan
from outlying.stream.verify.questions import Question
from outlying.table.columns import Derivation, NumericColumn

_STEPS = {"integer": 1.0, "date": 86_400_000_000.0}
_REACHES = 1, SCALES[-1] / 2  # windows around an object in which bins are fine
_NEARLY_ALL = 0.95  # a sample with so many distinct values comes of more than can be kept


def plan_verification(profile: Profile, questions: Sequence[Question]) -> VerifyPlan:
    """Plan a pass that answers all questions."""
    queries = tuple(dict.fromkeys(query for each in questions for query in each.queries()))
    conditions = dict.fromkeys(own for each in questions for own in each.predicates())
    ranges = tuple(own for own in conditions if own.kind == "interval")
    columns = plan_columns(profile, queries, {own.column for own in conditions}, questions)
    return VerifyPlan(columns, queries, tuple((own,) for own in conditions), ranges)


def plan_columns(
    profile: Profile,
    queries: Sequence[Query],
    tested: Iterable[str],
    questions: Sequence[Question],
) -> dict[str, ColumnPlan]:
    """Plan how all columns that are asked about are read, and their numbers encoded."""
    asked = {*tested, *(query.column for query in queries)}
    numeric = [query.column for query in queries if query.kind == "numbers"]
    bins = affordable_bins(len(numeric))
    plans = {}
    for item in readable(profile, questions):
        if item.key in numeric:
            encoding = _encoding(profile, item, bins, _zones(profile, item, questions))
            exponent = exponent_of(max(map(abs, item.ends)))
            plans[item.key] = ColumnPlan(
                item.field, encoding, exponent, item.derivation, item.given
            )
        elif item.key in asked:
            plans[item.key] = ColumnPlan(item.field, derivation=item.derivation, given=item.given)
    return plans


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Readable:
    """A column that can be asked about: of the table, or derived from one."""

    profile: Profile
    field: Field
    derivation: Derivation | None = None
    given: tuple[Field, ...] = ()

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
        if self.derivation is None:
            return cast(NumericColumn, self.profile.table.column(self.field.name))
        return cast(NumericColumn, self.profile.derived(self.derivation))

    def drawn(self) -> Floats:
        """Return the numbers that were drawn, sorted."""
        values = self.column.values[: self.profile.drawn]
        return np.sort(values[~np.isnan(values)])


def readable(profile: Profile, questions: Iterable[Question]) -> Iterator[_Readable]:
    """Return the columns of the table, and all that questions derive from them."""
    fields = {field.name: field for field in profile.fields}
    yield from (_Readable(profile, field) for field in profile.fields)
    derived = {
        own.column.key: own.column.origin for question in questions for own in question.attributes
    }
    for key in sorted(derived):
        derivation = derived[key]
        if derivation is not None:
            given = tuple(fields[name] for name in derivation.given)
            yield _Readable(profile, fields[derivation.parent], derivation, given)


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
    return grid if is_surely_long or distinct > MOST_VALUES else Dictionary(grid)


def _zones(profile: Profile, item: _Readable, questions: Sequence[Question]) -> list[Zone]:
    """Return where rows near an object are: around its value, as far as its windows may reach."""
    sample = item.drawn()
    if len(sample) < 2 or sample[0] == sample[-1]:
        return []
    window = Distribution.of(sample).width_among(profile.rows)
    values = {
        each.numeric_places[item.key] for each in questions if item.key in each.numeric_places
    }
    return [(value, reach * window) for value in sorted(values) for reach in _REACHES]
