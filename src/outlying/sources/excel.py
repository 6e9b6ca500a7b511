"""Workbooks: xlsx, xlsm, xlsb, xls and ods, one sheet at a time, read by calamine.

A few kilobytes can ask for more memory than there is, by cells that are far apart, and calamine
then ends the process. So a process with limits opens the file first.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from outlying import sentences as say
from outlying.errors import MissingExtraError, SourceError, harmless, shown, unknown_name
from outlying.sources.columns import table_of, unique_names, without_totals
from outlying.sources.copies import InputFile, check_expanded
from outlying.sources.frames import array_of
from outlying.sources.recognise import translate_errors, unreadable
from outlying.table.table import Table

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook, SheetMetadata


class OpeningLimits(NamedTuple):
    """What a workbook may take while it is opened."""

    memory: int = 4 << 30  # bytes
    seconds: float = 30
    seconds_per_megabyte: float = 2


_LIMITS = OpeningLimits()

_MARKED = "FFFFD7B5"  # the colour of an odd cell
_REHEARSAL = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]),) * 2)
except ImportError:
    pass
try:
    from python_calamine import CalamineWorkbook
    with CalamineWorkbook.from_path(sys.argv[1]) as book:
        book.get_sheet_by_name(sys.argv[2] or book.sheet_names[0])
except MemoryError:
    raise
except Exception:
    pass
"""


def read(file: InputFile, sheet: str | None = None, *, limits: OpeningLimits = _LIMITS) -> Table:
    """Read a sheet: the one of this name, or the first that people see; others are told."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise MissingExtraError("reading workbooks", "excel") from None
    _check_size(file)
    _rehearse(file, None, limits)
    with (
        translate_errors(file.source, "python_calamine", explain=_describe_error),
        CalamineWorkbook.from_path(file.path) as book,
    ):
        name, notes = _choose_sheet(file, book, sheet)
        if name != book.sheet_names[0]:
            _rehearse(file, name, limits)
        return _table(file, book.get_sheet_by_name(name), notes)


def sheet_names(path: Path) -> tuple[str, ...]:
    """Return the sheets with cells of a workbook that could be read, in its order."""
    from python_calamine import CalamineWorkbook

    with CalamineWorkbook.from_path(path) as book:
        return tuple(sheet.name for sheet in _with_cells(book))


def _describe_error(source: str, error: Exception) -> BaseException:
    if type(error).__name__ == "PasswordError":
        return SourceError(f"{source}: is protected by a password; save it without one")
    if "detect file format" in str(error):
        said = "it is no workbook; if it is an archive, unpack it and give the file inside"
        return SourceError(f"{source}: cannot be read: {said}")
    return unreadable(source, error)


def _check_size(file: InputFile) -> None:
    """Refuse an archive that grows beyond reason, before any of it is unpacked."""
    size = 0
    # where it is no archive, calamine says what is wrong
    with contextlib.suppress(Exception), zipfile.ZipFile(file.path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    check_expanded(file.source, size, file.path.stat().st_size)


def _rehearse(file: InputFile, sheet: str | None, limits: OpeningLimits) -> None:
    """Open a sheet in a process that may take so much memory and time, and no more."""
    if not sys.executable:  # Python is part of another program
        return
    allowed = limits.seconds + limits.seconds_per_megabyte * file.size / (1 << 20)
    given = [str(file.path.absolute()), sheet or "", str(limits.memory)]
    call = [sys.executable, "-P", "-c", _REHEARSAL, *given]
    try:
        subprocess.run(call, check=True, capture_output=True, timeout=allowed)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise file.error(f"takes longer than {allowed:.0f} seconds to open; {_REMEDY}") from None
    except subprocess.CalledProcessError:
        raise file.error(
            f"is damaged, or needs more than {limits.memory >> 20:,} MiB of memory, as cells that "
            f"are far apart do; {_REMEDY}"
        ) from None


_REMEDY = "delete what is not part of the table, or save the sheet as CSV"


def _choose_sheet(
    file: InputFile, book: CalamineWorkbook, sheet: str | None
) -> tuple[str, list[str]]:
    from python_calamine import SheetVisibleEnum

    sheets = _with_cells(book)
    names = [s.name for s in sheets]
    if not names:
        raise file.error("holds no sheet with cells")
    if sheet is not None:
        if sheet not in names:
            raise file.error(unknown_name("sheet", sheet, names))
        return sheet, []
    visible = [s.name for s in sheets if s.visible == SheetVisibleEnum.Visible]
    first = (visible or names)[0]
    others = [shown(name) for name in names if name != first]
    more = ", ..." if len(others) > 5 else ""
    named = f"{', '.join(others[:5])}{more}"
    note = say.SHEET_READ.format(sheet=repr(first), others=named)
    return first, [note] if others else []


def _with_cells(book: CalamineWorkbook) -> list[SheetMetadata]:
    from python_calamine import SheetTypeEnum

    return [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]


def _table(file: InputFile, sheet: CalamineSheet, notes: list[str]) -> Table:
    layout, columns = _contents(file, sheet)
    unique_names(file.source, [name for name, _, _ in columns])
    values = {name: array_of(_values_of(cells)) for name, _, cells in columns}
    return without_totals(table_of(file.source, values, [*notes, *layout.notes]))


def _contents(file: InputFile, sheet: CalamineSheet) -> tuple[_Layout, _Columns]:
    """Find the table on a sheet, and the name, the place and the cells of each column."""
    rows, (top, left) = sheet.to_python(), sheet.start or (0, 0)
    if not any(map(_is_filled, rows)):
        raise file.error(f"sheet {sheet.name!r} is empty")
    merged = [
        _Merged(max(0, y - top), max(0, x - left), v - top, w - left)
        for (y, x), (v, w) in sheet.merged_cell_ranges or ()
    ]
    try:
        found = _layout_of(rows, merged)
    except ValueError as error:
        raise file.error(f"sheet {sheet.name!r}: {error}") from None
    return found, _columns(found.names, [rows[line] for line in found.lines], left)


def _places(file: InputFile, sheet: str | None) -> tuple[str, list[int], dict[str, int]]:
    """Return which sheet is read, the line of each row and the place of each column, all from 1."""
    from python_calamine import CalamineWorkbook

    with CalamineWorkbook.from_path(file.path) as book:
        name, _ = _choose_sheet(file, book, sheet)
        own = book.get_sheet_by_name(name)
        layout, columns = _contents(file, own)
        top = (own.start or (0, 0))[0]
        return name, [top + line + 1 for line in layout.lines], {n: k + 1 for n, k, _ in columns}


def marked_workbook(
    path: Path, sheet: str | None, cells: Mapping[str, Sequence[Any]]
) -> bytes | None:
    """Return a workbook with its odd cells shaded, a comment on each, and a sheet that lists them.

    `cells` is that list, whose rows count from 1. What openpyxl does not know, as shapes, is lost.
    None: it does not write this kind, or is not installed.
    """
    if path.suffix.lower() not in (".xlsx", ".xlsm") or not path.is_file():
        return None
    try:
        import openpyxl
        from openpyxl.comments import Comment
        from openpyxl.styles import PatternFill
    except ImportError:
        return None
    name, lines, columns = _places(InputFile(str(path), path, path.suffix), sheet)
    book = openpyxl.load_workbook(path, keep_vba=path.suffix.lower() == ".xlsm")
    for row, column, said in zip(cells["row"], cells["column"], cells["sentence"], strict=True):
        cell = book[name].cell(lines[row - 1], columns[column])
        if isinstance(cell, openpyxl.cell.MergedCell):
            continue
        cell.fill = PatternFill("solid", fgColor=_MARKED)
        before = "" if cell.comment is None else f"{cell.comment.text}\n\n"
        cell.comment = Comment(f"{before}{harmless(said)}", "outlying")
    listed = book.create_sheet("odd cells")
    for line in (cells, *zip(*cells.values(), strict=True)):
        listed.append([harmless(cell) if isinstance(cell, str) else cell for cell in line])
        for cell in listed[listed.max_row]:
            cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type  # no formula
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


# --- where the table is on a sheet ---------------------------------------------------------------

_Row: TypeAlias = list[Any]
_Columns: TypeAlias = list[tuple[str, int, Sequence[Any]]]

_EMPTY = ""  # what a cell without a value holds


class _Merged(NamedTuple):
    """Cells that are one: their value is in the first of them."""

    top: int
    left: int
    bottom: int
    right: int


class _Layout(NamedTuple):
    """Where a table is among rows: the names of its columns, and the lines of its own rows."""

    names: list[str]
    lines: list[int]
    notes: list[str]


def _is_filled(row: _Row) -> bool:
    return any(cell != _EMPTY for cell in row)


def _layout_of(rows: list[_Row], merged: Sequence[_Merged]) -> _Layout:
    """Find the table: below titles of one cell, under lines of a header that merged cells join."""
    known = [sum(cell != _EMPTY for cell in row) for row in rows]
    # the first row of several values, or the first of any where there is one column
    first = next(place for place, count in enumerate(known) if count >= min(2, max(known)))
    titles = [shown(cell) for row in rows[:first] for cell in row if cell != _EMPTY]
    text = say.LINES_LEFT_OUT[len(titles) > 1]
    above = text.format(count=len(titles), where="above", lines=", ".join(titles[:3]))
    notes = [above] if titles else []
    inside = [cells for cells in merged if cells.top >= first]
    _fill(rows, inside)
    last = first
    while last + 1 < len(rows) and any(m.top == last and m.right > m.left for m in inside):
        last += 1
    names, start = _names(rows[first : last + 1]), last + 1
    if names is None:
        names, start = [f"column{place}" for place in range(len(rows[first]))], first
        notes.append(say.NO_HEADER)
    filled = [line for line in range(start, len(rows)) if _is_filled(rows[line])]
    left_out = len(rows) - start - len(filled)
    if left_out:
        notes.append(say.EMPTY_ROWS[left_out > 1].format(count=left_out))
    if any(cells.bottom > last for cells in inside):
        notes.append(say.MERGED_CELLS)
    return _Layout(names, filled, notes)


def _fill(rows: list[_Row], merged: Sequence[_Merged]) -> None:
    room = sum(map(len, rows))
    for cells in merged:
        area = [row[cells.left : cells.right + 1] for row in rows[cells.top : cells.bottom + 1]]
        room -= sum(map(len, area))
        if room < 0:
            raise ValueError("merged cells overlap; undo that, or save the sheet as CSV")
        for row in rows[cells.top : cells.bottom + 1] if area and area[0] else ():
            row[cells.left : cells.right + 1] = [area[0][0]] * len(area[0])


def _names(header: list[_Row]) -> list[str] | None:
    """Return the names that lines of a header give to columns; None: they are no header."""
    cells = [cell for row in header for cell in row if cell != _EMPTY]
    if 2 * sum(isinstance(cell, str) for cell in cells) < len(cells):
        return None
    names = []
    for column in zip(*header, strict=True):
        parts = (
            str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell).strip()
            for cell in column
            if cell != _EMPTY
        )
        names.append(" ".join(dict.fromkeys(parts)))
    return names


def _columns(names: list[str], rows: list[_Row], left: int) -> _Columns:
    """Return the columns that have a name or a value; those without a name get one."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return [
        (name or f"column {_letters(place)}", place, cells)
        for place, (name, cells) in enumerate(zip(names, columns, strict=True), start=left)
        if name or any(cell != _EMPTY for cell in cells)
    ]


def _letters(place: int) -> str:
    """Write the number of a column as workbooks do: A, B, ..., Z, AA, ..."""
    more, last = divmod(place, 26)
    return (_letters(more - 1) if more else "") + chr(ord("A") + last)


def _values_of(cells: Sequence[Any]) -> list[Any]:
    """Return the values of a column as a table knows them: whole numbers, or days, if all are."""
    numbers = [cell for cell in cells if type(cell) in (int, float)]
    known = sum(cell != _EMPTY for cell in cells)
    are_whole = len(numbers) < known or all(float(number).is_integer() for number in numbers)
    has_moments = any(isinstance(cell, dt.datetime) for cell in cells)
    found: list[Any] = []
    for cell in cells:
        if type(cell) is float and are_whole and cell.is_integer():
            found.append(int(cell))
        elif type(cell) is dt.date and has_moments:
            found.append(dt.datetime.combine(cell, dt.time()))
        else:
            found.append(None if cell == _EMPTY else cell)
    return found
