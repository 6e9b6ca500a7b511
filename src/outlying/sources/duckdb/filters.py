"""Conditions on the rows of a copy, and how DuckDB is asked for them; names never become SQL."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from outlying.errors import OptionError
from outlying.sources.duckdb.facts import ColumnFacts
from outlying.table.values import Form, number_of, read_text

FilterKind = Literal["equals", "interval", "missing", "present", "contains"]


@dataclasses.dataclass(frozen=True, slots=True)
class Filter:
    """One condition on the rows of a page; an end of an interval that is None is open."""

    attribute: str
    kind: FilterKind
    low: Any = None
    high: Any = None
    value: Any = None


def condition_sql(column: str, facts: ColumnFacts, item: Filter) -> tuple[str, list[Any]]:
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


def _text(column: str, facts: ColumnFacts) -> str:
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


def containing(column: str, facts: ColumnFacts) -> str:
    """Look for a text in a cell in any case; the database lowers both, so that they agree."""
    return f"contains(lower({_text(column, facts)}), lower(?))"


def _equals(column: str, facts: ColumnFacts, item: Filter) -> tuple[str, list[Any]]:
    if item.value is None:
        return f"{column} IS NULL", []
    if facts.type == "categorical":
        return f"{column} = ?", [label_in_copy(item.value)]
    return f"{column} = ?", [number_in_copy(facts, item.value)]


def _interval(column: str, facts: ColumnFacts, item: Filter) -> tuple[str, list[Any]]:
    number = f"TRY_CAST({column} AS DOUBLE)" if facts.type == "categorical" else column
    parts, parameters = [f"{column} IS NOT NULL"], []
    for sign, end in ((">=", item.low), ("<=", item.high)):
        if end is not None:
            parts.append(f"{number} {sign} ?")
            parameters.append(number_in_copy(facts, end))
    return " AND ".join(parts), parameters


def number_in_copy(facts: ColumnFacts, value: Any) -> float:
    """Return a value as the number that the database holds; an error says what is expected."""
    form: Form = "number" if facts.type == "categorical" else facts.form
    try:
        if isinstance(value, str):
            value = read_text(form, value)
        return number_of(form, value)
    except ValueError as error:
        raise OptionError(f"filter: column {facts.name!r} expects {error}") from None
