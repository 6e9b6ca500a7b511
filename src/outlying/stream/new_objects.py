"""New objects of a table that is read as a stream: checked, and put behind the rows drawn from it.

Each is explained as if it were the only one. Those that see the table alike share what is prepared:
a fraction makes a column of whole numbers one of numbers, and a column that has the same value in
every row takes part where the object has another.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from outlying.options import Options
from outlying.stream.profile import Profile
from outlying.table.columns import Column, Derivation, infinities_note
from outlying.table.selection import is_asked_for
from outlying.table.table import SkippedColumn, Table
from outlying.table.targets import ObjectCheck, RowRequest
from outlying.table.values import Form

Object: TypeAlias = Mapping[str, Any]
View: TypeAlias = tuple[tuple[Form, ...], tuple[SkippedColumn, ...], tuple[Derivation, ...]]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NewObject:
    """A new object: its row in the table of a profile, and notes on its values."""

    row: int
    home: Profile
    notes: tuple[str, ...]


def checked(profile: Profile, whole: Table, asked: RowRequest, options: Options) -> list[Object]:
    """Check new objects against all columns; give what they hold in those that are compared."""
    compared = {column.name: column for column in profile.table.columns}
    columns = tuple(compared.get(column.name, column) for column in whole.columns)
    unasked = {name for name in whole.names if not is_asked_for(name, options)}
    fits = ObjectCheck(
        dataclasses.replace(whole, columns=columns),
        options,
        unasked | profile.too_fine(options),
    )
    objects = asked.objects or ()
    for place, item in enumerate(objects):
        with asked.about(place):
            fits.check(item)
    return [{name: value for name, value in item.items() if name in compared} for item in objects]


def placed_objects(
    profile: Profile, objects: Sequence[Object], options: Options
) -> list[NewObject]:
    """Put new objects behind the rows that were drawn, those together that see a table alike."""
    empty = tuple(column.first(0) for column in profile.table.columns)
    alone = [_finite(_joined(empty, item)) for item in objects]
    views = [_view(profile, columns, options) for columns, _ in alone]
    homes = {
        view: _home(profile, view, [o for o, v in zip(objects, views, strict=True) if v == view])
        for view in dict.fromkeys(views)
    }
    row_in = dict.fromkeys(homes, profile.drawn)
    found = []
    for view, (_, notes) in zip(views, alone, strict=True):
        found.append(NewObject(row_in[view], homes[view], notes))
        row_in[view] += 1
    return found


def _joined(columns: Sequence[Column], item: Object) -> tuple[Column, ...]:
    return tuple(column.with_value(item.get(column.name)) for column in columns)


def _finite(columns: Sequence[Column]) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Count infinite values as missing, and say so; where they are refused there are none."""
    kept = [column.without_infinities(as_missing=True) for column in columns]
    notes = (infinities_note(column.name, count) for column, count in kept if count)
    return tuple(column for column, _ in kept), tuple(notes)


def _view(profile: Profile, columns: Sequence[Column], options: Options) -> View:
    """Return how an object sees a table: forms, columns that take no part, derived ones."""
    skipped = profile.left_out_with(columns, options)
    forms = tuple(column.form for column in columns)
    return forms, skipped, profile.derivations_with(columns, skipped, options)


def _home(profile: Profile, view: View, objects: Sequence[Object]) -> Profile:
    """Return the profile with objects behind the rows that were drawn."""
    columns = tuple(column.first(profile.drawn) for column in profile.table.columns)
    for item in objects:
        columns, _ = _finite(_joined(columns, item))
    table = dataclasses.replace(profile.table, columns=columns, rows=profile.drawn + len(objects))
    return dataclasses.replace(profile, table=table, skipped=view[1], derivations=view[2])
