"""Which columns are derived: parts of each, and relations between them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from outlying.derived.calendar import (
    DATES,
    MINUTES,
    MOST_OTHERS,
    CalendarDerivation,
    CalendarFacts,
    calendar_derivations,
)
from outlying.derived.past import find_past
from outlying.derived.relations import (
    QUANTITIES,
    SAMPLE,
    Computed,
    Fitted,
    Held,
    Input,
    Prediction,
    Relation,
    nature_of,
    numbers_of,
)
from outlying.derived.rules import Later, OfOwnKind, find_rules
from outlying.derived.texts import (
    KeyFacts,
    TextFacts,
    key_derivations,
    text_derivations,
    written_derivations,
)
from outlying.method import arithmetic, relations
from outlying.method.distances import EXPECTED, MOST_EXCEPTIONS, share_of_exceptions
from outlying.method.relations import Variable
from outlying.options import Options
from outlying.table.columns import Column, Derivation
from outlying.table.row_hash import sample_rows, shuffle_by_ranks
from outlying.table.selection import Selection, compared
from outlying.table.table import SkippedColumn, SkipReason, Table
from outlying.table.values import Form, Rows

Facts: TypeAlias = CalendarFacts | TextFacts | KeyFacts

#: Columns that take no part as a whole may do so by their parts.
_IN_PARTS = (SkipReason.IDENTIFIER, SkipReason.TOO_MANY_TEXTS, SkipReason.TOO_MANY_IN_STREAM)


def facts_of(column: Column) -> Facts | None:
    """Count what decides on the parts of a column in memory; None where it has none."""
    if column.is_numeric and column.form in DATES:
        return CalendarFacts.of(column.values)
    if column.is_numeric:
        if column.form != "integer":
            return None
        clock = CalendarFacts.of_clock(column.values)
        return clock if clock.is_clock else KeyFacts.of(column.values)
    if column.form != "text" or column.are_of_numbers:
        return None
    return of_times(TextFacts.of(column))


def of_times(facts: TextFacts) -> TextFacts | CalendarFacts:
    """Return the facts of texts as hours and minutes, if they are: 0312."""
    may_be_times = facts.is_whole and facts.distinct <= MINUTES + MOST_OTHERS
    clock = CalendarFacts.of_texts(facts.counts if may_be_times else {})
    return clock if clock.is_clock else facts


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
    if isinstance(facts, CalendarFacts):
        if not column.is_numeric:
            return facts.merged(CalendarFacts.of_texts(TextFacts.of(column).counts))
        count = CalendarFacts.of if column.form in DATES else CalendarFacts.of_clock
        return facts.merged(count(column.values))
    return facts.merged(KeyFacts.of(column.values)) if column.is_numeric else facts


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
    columns: Sequence[Column], selection: Selection, facts: Mapping[str, Facts], options: Options
) -> Iterator[Derivation]:
    """Return the derived columns that facts about all rows ask for."""
    names = {column.name for column in columns}
    having = names_with_parts(selection, options)
    for column in columns:
        if column.name in having:
            known = facts.get(column.name)
            is_of_numbers = column.form not in DATES and not isinstance(known, TextFacts)
            if column.name in options.declared and is_of_numbers:
                known = None  # what is declared as something else is no hours and minutes
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


# --- relations ----------------------------------------------------------------------------------

#: Between more columns they are not looked for: the time grows with the square of their number.
MOST_COLUMNS = 300


def with_relations(
    selection: Selection,
    table: Table,
    options: Options,
    most: int,
    known: Sequence[Column] | None = None,
) -> Selection:
    """Add what columns of a table in memory say of each other, by `most` rows or as `known`."""
    by_name = {column.name: column for column in selection.columns}
    found: Sequence[Derivation]
    if known is not None:
        given = (column.origin for column in known if column.origin is not None)
        found = [item for item in given if {item.parent, *item.given} <= by_name.keys()]
    else:
        rows = np.arange(table.rows)
        if table.rows > most:
            rows = sample_rows(compared(table, options), table.rows, most)
        found = find_relations(selection.columns, table.names, options, rows)
        if table.rows > most:
            found = by_all_rows(selection.columns, found)
        found = [*found, *past_of(selection.columns, table.names, options, found)]
    columns = tuple(item.column(by_name) for item in found)
    return dataclasses.replace(selection, derived=(*selection.derived, *columns))


def find_relations(
    columns: Sequence[Column], names: Collection[str], options: Options, drawn: Rows
) -> list[Relation]:
    """Return the relations between columns, as rows drawn show them; `names` are taken."""
    if not options.derive or not 2 <= len(columns) <= MOST_COLUMNS:
        return []
    ordered = sorted(columns, key=lambda column: column.name)
    drawn = shuffle_by_ranks(ordered, drawn)
    rows = drawn[:SAMPLE]
    inputs = [Input.of(column, rows) for column in ordered]
    variables = [
        Variable(item.values(column, rows), item.form in QUANTITIES)
        for item, column in zip(inputs, ordered, strict=True)
    ]
    related = arithmetic.with_exact(variables, relations.find(variables))
    made = (_relation(item, inputs, ordered, drawn) for item in related)
    predicted = [item for item in made if item is not None]
    by_rule = [*find_rules(ordered, drawn, options)]
    known = {(item.parent, item.given) for item in by_rule}
    timed = {name for item in by_rule if isinstance(item, Later) for name in item.used}
    kept = [
        item
        for item in predicted
        if (item.parent, item.given) not in known and not timed.issuperset(item.used)
    ]
    return [item for item in (*kept, *by_rule) if item.name not in names]


def by_all_rows(columns: Sequence[Column], found: Sequence[Derivation]) -> list[Derivation]:
    """Return relations as all rows show them, though they were found by those drawn."""
    by_name = {column.name: column for column in columns}
    return [item.by_all(by_name) if isinstance(item, Relation) else item for item in found]


def is_counted(item: Derivation) -> bool:
    """Return whether rows that were not drawn tell more of a relation."""
    return isinstance(item, (Held, OfOwnKind))


def past_of(
    columns: Sequence[Column], names: Collection[str], options: Options, found: Sequence[Derivation]
) -> list[Relation]:
    """Return what the own past of rows says, given all of them and the relations found before."""
    if not options.derive or not 2 <= len(columns) <= MOST_COLUMNS:
        return []
    ordered = sorted(columns, key=lambda column: column.name)
    kinds = [item.things for item in found if isinstance(item, OfOwnKind)]
    return [item for item in find_past(ordered, options, kinds) if item.name not in names]


def _relation(
    item: relations.Related | arithmetic.ExactRelation,
    inputs: Sequence[Input],
    columns: Sequence[Column],
    drawn: Rows,
) -> Prediction | None:
    """Return a relation as all rows drawn show it; None where these do not."""
    own, given = columns[item.target], tuple(inputs[place] for place in item.given)
    target = own.name, own.form, tuple(one.name for one in given), given
    nature = nature_of(own, drawn[:SAMPLE])
    if isinstance(item, relations.Related):
        return _confirmed(Fitted(*target, item.fit, **nature), columns, drawn)
    places = (item.target, *item.given)
    result, *others = (
        np.asarray(inputs[place].values(columns[place], drawn), dtype=np.float64)
        for place in places
    )
    away = item.formula.off(result, others)
    known = int(np.count_nonzero(~np.isnan(away)))
    holding = int(np.count_nonzero(away == 0))
    return Computed(*target, item.formula, holding=holding, known=known, **nature)


def _confirmed(found: Fitted, columns: Sequence[Column], drawn: Rows) -> Fitted | None:
    """Look at a fit on all rows drawn, not only on those that it was made of.

    It has few exceptions there, too. Of a category most of whose rows are off it says nothing: few
    rows of the sample had it, or another line.
    """
    by_name = {column.name: column.taken(drawn) for column in columns if column.name in found.used}
    residuals = numbers_of(found.column(by_name))
    known = ~np.isnan(residuals)
    inputs = []
    for item in found.inputs:
        if item.labels is not None:
            codes = np.asarray(item.values(by_name[item.name]), dtype=np.int64)
            is_far = np.abs(residuals) > 2 * EXPECTED
            rows = np.bincount(codes[known], minlength=len(item.labels))
            far = np.bincount(codes[known & is_far], minlength=len(item.labels))
            unfit = (far > rows / 2) & (rows > 0)
            item = item.without(np.flatnonzero(unfit).tolist())
        inputs.append(item)
    found = dataclasses.replace(found, inputs=tuple(inputs))
    away = numbers_of(found.column(by_name))
    away = away[~np.isnan(away)]
    return found if len(away) and share_of_exceptions(away) <= MOST_EXCEPTIONS else None
