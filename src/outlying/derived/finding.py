"""Which relations a table has: found on rows drawn, in memory and on streams alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

import numpy as np

from outlying.derived.past import find_past
from outlying.derived.relations import (
    QUANTITIES,
    SAMPLE,
    Computed,
    Fitted,
    Input,
    Prediction,
    Relation,
    nature_of,
    numbers_of,
)
from outlying.derived.rules import Later, OfOwnKind, find_rules
from outlying.method import arithmetic, relations
from outlying.method.distances import EXPECTED, MOST_EXCEPTIONS, share_of_exceptions
from outlying.method.relations import Variable
from outlying.options import Options
from outlying.table.columns import Column, Derivation
from outlying.table.row_hash import sample_rows, shuffle_by_ranks
from outlying.table.selection import Selection, compared
from outlying.table.table import Table
from outlying.table.values import Rows

#: Between more columns they are not looked for: the time grows with the square of their number.
MOST_COLUMNS = 300


def with_relations(
    selection: Selection,
    table: Table,
    options: Options,
    most: int,
    known: Sequence[Column] | None = None,
) -> Selection:
    """Add what columns of a table in memory say of each other.

    Of a large table, `most` rows are drawn, as for a stream; `known` are columns of relations that
    were found before.
    """
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
        found = [*found, *past_of(selection.columns, table.names, options, found)]
    columns = tuple(item.column(by_name) for item in found)
    return dataclasses.replace(selection, derived=(*selection.derived, *columns))


def find_relations(
    columns: Sequence[Column], names: Collection[str], options: Options, drawn: Rows
) -> list[Relation]:
    """Return the relations between columns, as rows drawn in any order show them.

    `names` are those of all columns of the table: no relation is called like one of them.
    """
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


def past_of(
    columns: Sequence[Column],
    names: Collection[str],
    options: Options,
    found: Sequence[Derivation],
) -> list[Relation]:
    """Return what the own past of rows says, given all of them and the relations found before."""
    if not options.derive or not 2 <= len(columns) <= MOST_COLUMNS:
        return []
    ordered = sorted(columns, key=lambda column: column.name)
    kinds = [item.things for item in found if isinstance(item, OfOwnKind)]
    return [item for item in find_past(ordered, options, kinds) if item.name not in names]


def _relation(
    item: relations.Related | arithmetic.Exact,
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
    return Computed(*target, item.formula, holding, known, **nature)


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
