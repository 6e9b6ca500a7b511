"""Which columns are derived from which: decided by facts about all rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from outlying.derived.calendar import (
    DATES,
    CalendarDerivation,
    CalendarFacts,
    calendar_derivations,
)
from outlying.derived.keys import KeyFacts, key_derivations
from outlying.derived.texts import TextFacts, text_derivations, written_derivations
from outlying.options import Options
from outlying.table.columns import Column, Derivation
from outlying.table.selection import Selection
from outlying.table.table import SkippedColumn, SkipReason, Table
from outlying.table.values import Form

Facts: TypeAlias = CalendarFacts | TextFacts | KeyFacts

#: Columns that take no part as a whole may do so by their parts.
_IN_PARTS = (
    SkipReason.IDENTIFIER,
    SkipReason.TOO_MANY_TEXTS,
    SkipReason.TOO_MANY_IN_STREAM,
)


def facts_of(column: Column) -> Facts | None:
    """Count what decides on the parts of a column in memory; None where it has none."""
    if column.is_numeric and column.form in DATES:
        return CalendarFacts.of(column.values)
    if column.is_numeric:
        if column.form != "integer":
            return None
        clock = CalendarFacts.of_clock(column.values)
        return clock if clock.is_clock else KeyFacts.of(column.values)
    return TextFacts.of(column) if column.form == "text" and not column.are_of_numbers else None


def derivations(parent: str, form: Form, facts: Facts) -> Iterator[Derivation]:
    """Return the parts of a column that may say something."""
    if isinstance(facts, CalendarFacts):
        yield from calendar_derivations(parent, form, facts)
    elif isinstance(facts, KeyFacts):
        if form == "integer":
            yield from key_derivations(parent, facts)
    else:
        yield from text_derivations(parent, facts)


def joined(facts: Facts, column: Column) -> Facts:
    """Return facts with those of further rows of the column."""
    if isinstance(facts, TextFacts):
        return facts if column.is_numeric else facts.joined(column)
    if not column.is_numeric:
        return facts
    if isinstance(facts, CalendarFacts):
        count = CalendarFacts.of if column.form in DATES else CalendarFacts.of_clock
        return facts.merged(count(column.values))
    return facts.merged(KeyFacts.of(column.values))


def with_derived(selection: Selection, table: Table, options: Options) -> Selection:
    """Add what is derived from the columns of a table in memory."""
    having = names_with_parts(selection, options)
    facts = ((column.name, facts_of(column)) for column in table.columns if column.name in having)
    known = {name: found for name, found in facts if found is not None}
    by_name = {column.name: column for column in table.columns}
    derived = tuple(
        derivation.column(by_name)
        for derivation in chosen(table.columns, selection, known, options)
    )
    return with_parts(selection, derived)


def with_parts(selection: Selection, derived: tuple[Column, ...]) -> Selection:
    """Add derived columns; times of day on a circle are compared by these alone."""
    origins = (column.origin for column in derived)
    circles = {
        item.parent
        for item in origins
        if isinstance(item, CalendarDerivation) and item.replaces_parent
    }
    columns = tuple(column for column in selection.columns if column.name not in circles)
    return dataclasses.replace(selection, columns=columns, derived=derived)


def chosen(
    columns: Sequence[Column],
    selection: Selection,
    facts: Mapping[str, Facts],
    options: Options,
) -> Iterator[Derivation]:
    """Return the derived columns that facts about all rows ask for."""
    names = {column.name for column in columns}
    having = names_with_parts(selection, options)
    for column in columns:
        if column.name in having:
            known = facts.get(column.name)
            if column.name in options.declared and column.form == "integer":
                known = None  # numbers that are declared as such are no hours and minutes
            for derivation in _parts_of(column, known):
                if derivation.name not in names and derivation.name not in options.exclude:
                    yield derivation


def _parts_of(column: Column, facts: Facts | None) -> Iterator[Derivation]:
    """Return the parts of a column that facts ask for, or that it shows itself."""
    if facts is not None:
        yield from derivations(column.name, column.form, facts)
    yield from written_derivations(column)


def names_with_parts(selection: Selection, options: Options) -> set[str]:
    """Return the columns whose parts are compared, if they have any."""
    if not options.derive:
        return set()
    in_parts = {item.name for item in selection.skipped if item.why in _IN_PARTS}
    return in_parts | {column.name for column in selection.columns}


def taking_part(selection: Selection, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the columns of a table that take part, as a whole or by parts."""
    used = {column.family for column in (*selection.columns, *selection.derived)}
    return tuple(name for name in names if name in used)


def left_out(selection: Selection) -> tuple[SkippedColumn, ...]:
    """Return the columns that take no part at all."""
    in_parts = {column.family for column in selection.derived}
    return tuple(item for item in selection.skipped if item.name not in in_parts)
