"""Workbooks: xlsx, xlsm, xlsb, xls and ods, one sheet at a time, read by calamine.

A few kilobytes of a workbook can ask for more memory than there is, by cells that are far apart,
and calamine ends the process where it does not get it. So a process with limits opens the file
first, and what it does not survive is refused.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from outlying.errors import MissingExtraError, shown, unknown_name
from outlying.sources.columns import read_all, table_of, unique_names
from outlying.sources.compression import check_expanded
from outlying.sources.excel.layout import Merged, is_filled, layout_of, values_of
from outlying.sources.files import InputFile
from outlying.sources.python_values import array_of
from outlying.sources.sql import first_line, plain_errors
from outlying.table.table import Table

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook, SheetMetadata

MOST_MEMORY = 4 << 30
"""Bytes that a workbook may take while it is opened."""
SECONDS, SECONDS_PER_MEGABYTE = 30, 2
"""How long that may last."""

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


def read(file: InputFile, sheet: str | None = None) -> Table:
    """Read a sheet: the one of this name, or the first that people see; others are told."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError
    except ImportError:
        raise MissingExtraError("reading workbooks", "excel") from None
    _check_size(file)
    _rehearse(file, None)
    try:
        with (
            plain_errors(file.source, CalamineError, OSError, reason=_reason),
            CalamineWorkbook.from_path(file.path) as book,
        ):
            name, notes = _chosen(file, book, sheet)
            if name != book.sheet_names[0]:
                _rehearse(file, name)
            return _table(file, book.get_sheet_by_name(name), notes)
    except PasswordError:
        raise file.error("is protected by a password; save it without one") from None


def sheet_names(path: Path) -> tuple[str, ...]:
    """Return the sheets with cells of a workbook that could be read, in its order."""
    from python_calamine import CalamineWorkbook

    with CalamineWorkbook.from_path(path) as book:
        return tuple(sheet.name for sheet in _with_cells(book))


def _reason(error: Exception) -> str:
    if "detect file format" in str(error):
        return "it is no workbook; if it is an archive, unpack it and give the file inside"
    return first_line(error)


def _check_size(file: InputFile) -> None:
    """Refuse an archive that grows beyond reason, before any of it is unpacked."""
    size = 0
    # where it is no archive, calamine says what is wrong
    with contextlib.suppress(Exception), zipfile.ZipFile(file.path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    check_expanded(file.source, size, file.path.stat().st_size)


def _rehearse(file: InputFile, sheet: str | None) -> None:
    """Open a sheet in a process that may take so much memory and time, and no more."""
    if not sys.executable:  # Python is part of another program
        return
    allowed = SECONDS + SECONDS_PER_MEGABYTE * file.path.stat().st_size / (1 << 20)
    given = [str(file.path.absolute()), sheet or "", str(MOST_MEMORY)]
    call = [sys.executable, "-P", "-c", _REHEARSAL, *given]
    try:
        subprocess.run(call, check=True, capture_output=True, timeout=allowed)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise file.error(f"takes longer than {allowed:.0f} seconds to open; {_REMEDY}") from None
    except subprocess.CalledProcessError:
        raise file.error(
            f"is damaged, or needs more than {MOST_MEMORY >> 20:,} MiB of memory, as cells that "
            f"are far apart do; {_REMEDY}"
        ) from None


_REMEDY = "delete what is not part of the table, or save the sheet as CSV"


def _chosen(file: InputFile, book: CalamineWorkbook, sheet: str | None) -> tuple[str, list[str]]:
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
    note = f"sheet {first!r} is read; others: {', '.join(others[:5])}{more} (the option sheet)"
    return first, [note] if others else []


def _with_cells(book: CalamineWorkbook) -> list[SheetMetadata]:
    from python_calamine import SheetTypeEnum

    return [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]


def _table(file: InputFile, sheet: CalamineSheet, notes: list[str]) -> Table:
    rows, (top, left) = sheet.to_python(), sheet.start or (0, 0)
    if not any(map(is_filled, rows)):
        raise file.error(f"sheet {sheet.name!r} is empty")
    merged = [
        Merged(max(0, y - top), max(0, x - left), v - top, w - left)
        for (y, x), (v, w) in sheet.merged_cell_ranges or ()
    ]
    try:
        found = layout_of(rows, merged, left)
    except ValueError as error:
        raise file.error(f"sheet {sheet.name!r}: {error}") from None
    unique_names(file.source, [name for name, _ in found.columns])
    columns = {name: array_of(values_of(cells)) for name, cells in found.columns}
    return table_of(file.source, read_all(columns), [*notes, *found.notes])
