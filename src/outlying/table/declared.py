"""What the user declares of a table: the types of columns, and what infinite values mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from outlying.errors import InfiniteValueError
from outlying.options import Options
from outlying.table.columns import infinities_note
from outlying.table.selection import is_asked_for, optional_columns
from outlying.table.table import Table


def as_declared(table: Table, options: Options) -> Table:
    """Apply the user's types, and refuse infinite values or count them as missing."""
    wanted = dict(options.types)
    for name in (*wanted, *options.exclude, *(options.columns or ())):
        if name not in [skipped.name for skipped in table.skipped]:
            table.column(name)
    columns = [
        column.retyped(wanted[column.name]) if column.name in wanted else column
        for column in table.columns
    ]
    return _finite(dataclasses.replace(table, columns=tuple(columns)), options)


def with_object(table: Table, values: Mapping[str, Any], options: Options) -> Table:
    """Add a new object as the last row of a table that is as declared."""
    joined = table.with_object(values, optional_columns(table, options))
    try:
        return _finite(joined, options)
    except InfiniteValueError as error:  # all rows but the last one are known to be finite
        raise InfiniteValueError(error.column, None) from None


def _finite(table: Table, options: Options) -> Table:
    """Refuse infinite values in what is compared, or count them as missing and say so."""
    columns, notes = [], list(table.notes)
    for column in table.columns:
        kept, count = column, 0
        if is_asked_for(column.name, options):
            as_missing = options.infinite == "missing"
            kept, count = column.without_infinities(as_missing=as_missing)
        if count:
            notes.append(infinities_note(column.name, count))
        columns.append(kept)
    return dataclasses.replace(table, columns=tuple(columns), notes=tuple(notes))
