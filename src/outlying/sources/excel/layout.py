"""Where the table is on a sheet: titles above it, its header, merged cells, empty rows."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Sequence
from typing import Any, TypeAlias

from outlying.errors import shown

Row: TypeAlias = list[Any]

NO_HEADER = "no header line found: columns are named column0, column1, ..."
EMPTY = ""
"""What a cell without a value holds."""


@dataclasses.dataclass(frozen=True, slots=True)
class Merged:
    """Cells that are one: their value is in the first of them."""

    top: int
    left: int
    bottom: int
    right: int


@dataclasses.dataclass(frozen=True, slots=True)
class SheetLayout:
    """The columns of the table on a sheet, and what a reader should know about it."""

    columns: list[tuple[str, Sequence[Any]]]
    notes: list[str]


def is_filled(row: Row) -> bool:
    """Return whether any cell of a row has a value."""
    return any(cell != EMPTY for cell in row)


def layout_of(rows: list[Row], merged: Sequence[Merged], left: int = 0) -> SheetLayout:
    """Find the table among rows of equal length, of which some are filled; `left` is their column.

    Lines of one cell above it are titles. Its header goes on for as long as cells of it are merged
    from left to right: these name groups of columns.
    """
    first = _first_of_table(rows)
    titles = [shown(cell) for row in rows[:first] for cell in row if cell != EMPTY]
    notes = [f"left out above the header: {', '.join(titles[:3])}"] if titles else []
    inside = [cells for cells in merged if cells.top >= first]
    _fill(rows, inside)
    last = first
    while last + 1 < len(rows) and any(m.top == last and m.right > m.left for m in inside):
        last += 1
    names, body = _names(rows[first : last + 1]), rows[last + 1 :]
    if names is None:
        names, body = [f"column{place}" for place in range(len(rows[first]))], rows[first:]
        notes.append(NO_HEADER)
    filled = [row for row in body if is_filled(row)]
    left_out = len(body) - len(filled)
    if left_out:
        notes.append(f"{left_out} empty row{'s' if left_out > 1 else ''} left out")
    if any(cells.bottom > last for cells in inside):
        notes.append("the value of merged cells is taken for each of them")
    return SheetLayout(_columns(names, filled, left), notes)


def _first_of_table(rows: list[Row]) -> int:
    """Return the first row of several values, or the first of any where there is one column."""
    known = [sum(cell != EMPTY for cell in row) for row in rows]
    return next(place for place, count in enumerate(known) if count >= min(2, max(known)))


def _fill(rows: list[Row], merged: Sequence[Merged]) -> None:
    """Write the value of merged cells into each of them."""
    room = sum(map(len, rows))
    for cells in merged:
        area = [row[cells.left : cells.right + 1] for row in rows[cells.top : cells.bottom + 1]]
        room -= sum(map(len, area))
        if room < 0:
            raise ValueError("merged cells overlap; undo that, or save the sheet as CSV")
        for row in rows[cells.top : cells.bottom + 1] if area and area[0] else ():
            row[cells.left : cells.right + 1] = [area[0][0]] * len(area[0])


def _names(header: list[Row]) -> list[str] | None:
    """Return the names that lines of a header give to columns; None: they are no header."""
    cells = [cell for row in header for cell in row if cell != EMPTY]
    if 2 * sum(isinstance(cell, str) for cell in cells) < len(cells):
        return None
    parts = (
        dict.fromkeys(_text(cell) for cell in cells if cell != EMPTY)
        for cells in zip(*header, strict=True)
    )
    return [" ".join(part) for part in parts]


def _text(cell: Any) -> str:
    return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell).strip()


def _columns(names: list[str], rows: list[Row], left: int) -> list[tuple[str, Sequence[Any]]]:
    """Return the columns that have a name or a value; those without a name get one."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return [
        (name or f"column {_letters(place)}", cells)
        for place, (name, cells) in enumerate(zip(names, columns, strict=True), start=left)
        if name or any(cell != EMPTY for cell in cells)
    ]


def _letters(place: int) -> str:
    """Write the number of a column as workbooks do: A, B, ..., Z, AA, ..."""
    more, last = divmod(place, 26)
    return (_letters(more - 1) if more else "") + chr(ord("A") + last)


def values_of(cells: Sequence[Any]) -> list[Any]:
    """Return the values of a column as a table knows them.

    Workbooks have one type for numbers, whole or not, and one for days and moments: a column of
    whole numbers, or of whole days, is one of these.
    """
    numbers = [cell for cell in cells if type(cell) in (int, float)]
    known = sum(cell != EMPTY for cell in cells)
    are_whole = len(numbers) < known or all(float(number).is_integer() for number in numbers)
    has_moments = any(isinstance(cell, dt.datetime) for cell in cells)
    return [_value(cell, are_whole, has_moments) for cell in cells]


def _value(cell: Any, are_whole: bool, has_moments: bool) -> Any:
    if type(cell) is float and are_whole and cell.is_integer():
        return int(cell)
    if type(cell) is dt.date and has_moments:
        return dt.datetime.combine(cell, dt.time())
    return None if cell == EMPTY else cell
