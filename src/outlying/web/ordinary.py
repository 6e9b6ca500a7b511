"""What would be ordinary in place of a story: the nearest typical value, and which rows have it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence

from outlying.results.findings import Findings
from outlying.results.stories import Pair, Story
from outlying.sources.duckdb.browse import ColumnFacts
from outlying.table.parts import Part, part_of
from outlying.table.values import Form, Value, number_of, plain
from outlying.web.queries import QueryFilter

TWINS = 3
"""Rows alike that are shown."""


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are ordinary twins: of the same group, typical, near in the other columns."""

    value: Value
    filters: tuple[QueryFilter, ...]
    group: list[QueryFilter]
    distance: dict[str, Value]
    row: int

    @classmethod
    def of(cls, findings: Findings, story: Story, columns: Sequence[ColumnFacts]) -> Wanted:
        """Describe the twins of a row for one of its stories."""
        pair = story.headline
        forms = {facts.name: facts.form for facts in columns}
        group = [QueryFilter.of_condition(condition) for condition in pair.conditions]
        value, typical = nearest_typical(pair, forms)
        told = {pair.column, pair.property}
        told |= {condition.attribute for condition in pair.conditions}
        compared = [name for name in findings.population.columns if name in forms]
        values = findings.object
        distance = {name: values.get(name) for name in compared if name not in told}
        row = 0 if findings.row is None else findings.row + 1
        return cls(value, (*group, typical), group, distance, row)


def nearest_typical(pair: Pair, forms: Mapping[str, Form]) -> tuple[Value, QueryFilter]:
    """Return the typical value that is nearest to the odd one, and what rows it stands for.

    The property may be derived from a column, one of those of these forms.
    """
    _, part = part_of(pair.property, forms) or (None, None)
    form = forms.get(pair.property) or ("number" if part is None else part.form)
    if part is Part.WRITTEN:  # typical is whatever could be read
        return None, QueryFilter(pair.column, "present")
    if pair.value is None:  # in place of a gap any value would do, and none is nearest
        return None, QueryFilter(pair.property, "present")
    ranges = [item for item in pair.typical if isinstance(item, tuple)]
    if not ranges:
        common = next((item for item in pair.typical if not isinstance(item, tuple)), None)
        return common, QueryFilter(pair.property, "equals", value=plain(common))
    low, high = min(ranges, key=lambda ends: min(_apart(form, pair.value, end) for end in ends))
    end = min((low, high), key=lambda each: _apart(form, pair.value, each))
    return end, QueryFilter(pair.property, "interval", plain(low), plain(high))


def _apart(form: Form, value: Value, other: Value) -> float:
    """Return how far two values are apart; 0 where one of them is missing."""
    with contextlib.suppress(ValueError):
        if value is not None and other is not None:
            return abs(number_of(form, value) - number_of(form, other))
    return 0.0
