"""Which rows of a copy are meant: conditions of an address, in SQL or on derived columns; twins.

Names never become SQL. Derived columns are not in the copy: one that a filter asks for is computed
from its parent by the same code as for findings, so that a condition means the same rows in both.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from outlying.checks import check_choice, check_names
from outlying.derived.calendar import DAY
from outlying.derived.choosing import derivations, facts_of
from outlying.errors import OptionError, not_allowed, shown
from outlying.results.findings import Findings
from outlying.results.stories import Pair, Story
from outlying.table.arrays import Mask
from outlying.table.columns import CategoricalColumn, Column, NumericColumn
from outlying.table.table import Condition, Part, part_of
from outlying.table.values import (
    Form,
    Value,
    number_of,
    plain,
    printable,
    range_text,
    read_text,
    text_of,
)
from outlying.web.cells import CellFiles, ColumnOverview

FilterKind = Literal["equals", "interval", "missing", "present", "contains"]
_FIELDS = ("attribute", "kind", "low", "high", "value")


@dataclasses.dataclass(frozen=True, slots=True)
class Filter:
    """One condition on the rows of a page; an end of an interval that is None is open.

    An address holds it as JSON, with the fields of a finding's condition.
    """

    attribute: str
    kind: FilterKind
    low: Any = None
    high: Any = None
    value: Any = None

    @classmethod
    def of_condition(cls, condition: Condition) -> Filter:
        """Return the filter that finds the rows of a condition."""
        ends = plain(condition.low), plain(condition.high)
        return cls(condition.attribute, condition.kind, *ends, plain(condition.value))

    @classmethod
    def read(cls, given: object) -> Filter:
        """Check a filter that comes from outside: JSON, or what was read from it."""
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except (ValueError, RecursionError):
                raise not_allowed("filter", given, "a JSON object") from None
        if not isinstance(given, Mapping) or not isinstance(given.get("attribute"), str):
            raise OptionError(f"filter is {shown(given)}; needed: an object with an attribute")
        check_names(given, _FIELDS)
        check_choice("filter's kind", given.get("kind"), get_args(FilterKind))
        found = cls(*(cast(Any, given.get(name)) for name in _FIELDS))
        for end in (found.low, found.high, found.value):
            if not isinstance(end, (str, int, float, bool, type(None))):
                raise OptionError(f"filter holds {shown(end)}; allowed: a text or a number")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the filter as plain values."""
        return {name: getattr(self, name) for name in _FIELDS}

    def to_json(self) -> str:
        """Write the filter as it stands in an address."""
        known = {name: value for name, value in self.to_dict().items() if value is not None}
        return json.dumps(known, ensure_ascii=False)

    def __str__(self) -> str:
        name = printable(self.attribute)
        if self.kind in ("missing", "present"):
            return f"{name} is {'missing' if self.kind == 'missing' else 'known'}"
        if self.kind == "contains":
            return f"{name} contains {text_of(self.value)}"
        if self.kind == "equals":
            return f"{name} = {text_of(self.value)}"
        if self.low is None or self.high is None:
            end = self.high if self.low is None else self.low
            return f"{name} is at {'most' if self.low is None else 'least'} {text_of(end)}"
        if self.low == self.high:
            return f"{name} = {text_of(self.low)}"
        return f"{name} is {range_text(self.low, self.high)}"


def condition_sql(column: str, facts: ColumnOverview, item: Filter) -> tuple[str, list[Any]]:
    """Write a condition on a column of the copy, and its parameters."""
    if item.kind == "missing":
        return f"{column} IS NULL", []
    if item.kind == "present":
        return f"{column} IS NOT NULL", []
    if item.kind == "contains":
        return containing(column, facts), [label_in_copy(item.value)]
    if item.kind == "equals":
        return _equals(column, facts, item)
    return _interval(column, facts, item)


def label_in_copy(value: Any) -> str:
    """Write a category as the database holds it: halves of characters are escaped."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text.encode("utf-8", "backslashreplace").decode()


def _text(column: str, facts: ColumnOverview) -> str:
    """Write the text of a cell as pages show it."""
    if facts.type == "categorical":
        return column
    if facts.form in ("date", "datetime", "instant"):
        moment = f"make_timestamp(CAST({column} AS BIGINT))"
        return (
            f"strftime({moment}, '{'%Y-%m-%d' if facts.form == 'date' else '%Y-%m-%d %H:%M:%S'}')"
        )
    if facts.form == "time":
        return f"strftime(make_timestamp(CAST({column} AS BIGINT)), '%H:%M:%S')"
    if facts.form == "duration":
        return f"CAST({column} / 1000000 AS VARCHAR)"
    return f"CAST({column} AS {'BIGINT' if facts.form == 'integer' else 'DOUBLE'})::VARCHAR"


def containing(column: str, facts: ColumnOverview) -> str:
    """Look for a text in a cell in any case; the database lowers both, so that they agree."""
    return f"contains(lower({_text(column, facts)}), lower(?))"


def _equals(column: str, facts: ColumnOverview, item: Filter) -> tuple[str, list[Any]]:
    if item.value is None:
        return f"{column} IS NULL", []
    if facts.type == "categorical":
        return f"{column} = ?", [label_in_copy(item.value)]
    return f"{column} = ?", [number_in_copy(facts, item.value)]


def _interval(column: str, facts: ColumnOverview, item: Filter) -> tuple[str, list[Any]]:
    number = f"TRY_CAST({column} AS DOUBLE)" if facts.type == "categorical" else column
    parts, parameters = [f"{column} IS NOT NULL"], []
    for sign, end in ((">=", item.low), ("<=", item.high)):
        if end is not None:
            parts.append(f"{number} {sign} ?")
            parameters.append(number_in_copy(facts, end))
    return " AND ".join(parts), parameters


def number_in_copy(facts: ColumnOverview, value: Any) -> float:
    """Return a value as the number that the database holds; an error says what is expected."""
    form: Form = "number" if facts.type == "categorical" else facts.form
    try:
        if isinstance(value, str):
            value = read_text(form, value)
        return number_of(form, value)
    except ValueError as error:
        raise OptionError(f"filter: column {facts.name!r} expects {error}") from None


# --- derived columns -------------------------------------------------------------------------

_KEPT = 2  # columns that were computed last
_MOST_TEXTS = 1_000_000  # distinct ones: to look at more would keep others waiting


class DerivedColumns:
    """What is derived from the columns of a copy, computed when it is first asked for."""

    def __init__(self, columns: Sequence[ColumnOverview], cells: CellFiles) -> None:
        self._places = {facts.name: place for place, facts in enumerate(columns)}
        self._columns, self._cells = columns, cells
        self._kept = functools.lru_cache(_KEPT)(self._computed)
        self._lock = threading.Lock()

    def knows(self, name: str) -> bool:
        """Return whether this is the name of a part of a column."""
        return part_of(name, self._places) is not None

    def numbers(self, item: Filter) -> npt.NDArray[np.int32]:
        """Return the numbers, from 1, of the rows that meet a condition."""
        return np.flatnonzero(_met(self.column(item.attribute), item)).astype(np.int32) + 1

    def column(self, name: str) -> Column:
        """Return a derived column."""
        with self._lock:
            return self._kept(name)

    def _computed(self, name: str) -> Column:
        parent, part = part_of(name, self._places) or (name, None)
        place = self._places[parent]
        column = self._cells.column(place, parent)
        if part is Part.WRITTEN:
            raise OptionError(f"filter: rows cannot be found by {name!r}, only by {parent!r}")
        if not column.is_numeric and self._columns[place].distinct > _MOST_TEXTS:
            raise OptionError(f"filter: {parent!r} has too many texts to find rows by {name!r}")
        facts = facts_of(column)
        found = () if facts is None else derivations(parent, column.form, facts)
        derivation = next((item for item in found if item.name == name), None)
        if derivation is None:
            raise OptionError(f"filter: nothing is derived from {parent!r} as {name!r}")
        return derivation.column({parent: column})


def _met(column: Column, item: Filter) -> Mask:
    """Return which rows meet a condition."""
    if item.kind in ("missing", "present") or (item.kind == "equals" and item.value is None):
        return np.asarray(column.missing() == (item.kind != "present"))
    if not column.is_numeric:
        return _of_category(column, item)
    low, high = (item.value, item.value) if item.kind == "equals" else (item.low, item.high)
    if item.kind == "contains":
        raise OptionError(f"filter: {item.attribute!r} holds no texts; allowed: a range")
    return _between(column, low, high)


def _of_category(column: CategoricalColumn, item: Filter) -> Mask:
    wanted = str(item.value)
    if item.kind == "interval":
        raise OptionError(f"filter: {item.attribute!r} has no ranges; allowed: one of its values")
    if item.kind == "equals":
        met = [str(label) == wanted for label in column.labels]
    else:
        met = [wanted.lower() in str(label).lower() for label in column.labels]
    return np.array([*met, False])[column.codes]


def _between(column: NumericColumn, low: object, high: object) -> Mask:
    """Return which rows lie in a range; one of hours may go across midnight."""
    values = column.values % DAY if column.form == "time" else column.values
    first = -np.inf if low is None else _number(column, low)
    last = np.inf if high is None else _number(column, high)
    if column.form == "time" and last < first:
        return np.asarray((values >= first) | (values <= last))
    return np.asarray((values >= first) & (values <= last))


def _number(column: NumericColumn, end: object) -> float:
    try:
        return number_of(column.form, read_text(column.form, str(end)))
    except ValueError as error:
        raise OptionError(f"filter: {column.name!r} expects {error}") from None


# --- what would be ordinary ------------------------------------------------------------------

TWINS = 3
"""Rows alike that are shown."""


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are ordinary twins: of the same group, typical, near in the other columns."""

    value: Value
    filters: tuple[Filter, ...]
    group: list[Filter]
    distance: dict[str, Value]
    row: int

    @classmethod
    def of(cls, findings: Findings, story: Story, columns: Sequence[ColumnOverview]) -> Wanted:
        """Describe the twins of a row for one of its stories."""
        pair = story.headline
        forms = {facts.name: facts.form for facts in columns}
        group = [Filter.of_condition(condition) for condition in pair.conditions]
        value, typical = nearest_typical(pair, forms)
        told = {pair.column, pair.property}
        told |= {condition.attribute for condition in pair.conditions}
        compared = [name for name in findings.population.columns if name in forms]
        values = findings.object
        distance = {name: values.get(name) for name in compared if name not in told}
        row = 0 if findings.row is None else findings.row + 1
        return cls(value, (*group, typical), group, distance, row)


def nearest_typical(pair: Pair, forms: Mapping[str, Form]) -> tuple[Value, Filter]:
    """Return the typical value that is nearest to the odd one, and what rows it stands for.

    The property may be derived from a column, one of those of these forms.
    """
    _, part = part_of(pair.property, forms) or (None, None)
    form = forms.get(pair.property) or ("number" if part is None else part.form)
    if part is Part.WRITTEN:  # typical is whatever could be read
        return None, Filter(pair.column, "present")
    if pair.value is None:  # in place of a gap any value would do, and none is nearest
        return None, Filter(pair.property, "present")
    ranges = [item for item in pair.typical if isinstance(item, tuple)]
    if not ranges:
        common = next((item for item in pair.typical if not isinstance(item, tuple)), None)
        return common, Filter(pair.property, "equals", value=plain(common))
    low, high = min(ranges, key=lambda ends: min(_apart(form, pair.value, end) for end in ends))
    end = min((low, high), key=lambda each: _apart(form, pair.value, each))
    return end, Filter(pair.property, "interval", plain(low), plain(high))


def _apart(form: Form, value: Value, other: Value) -> float:
    """Return how far two values are apart; 0 where one of them is missing."""
    with contextlib.suppress(ValueError):
        if value is not None and other is not None:
            return abs(number_of(form, value) - number_of(form, other))
    return 0.0
