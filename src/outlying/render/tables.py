"""Tables for other programs: dataframes, Markdown, CSV for spreadsheets, and an Excel workbook.

What a cell holds came from anywhere: nothing that a spreadsheet would compute is left as it is.
"""

from __future__ import annotations

import csv
import importlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, get_args

from outlying.errors import MissingExtraError, harmless
from outlying.table.table import FrameLibrary
from outlying.table.values import number_text

Columns = Mapping[str, Sequence[Any]]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet begins to compute
_MOST_CHARACTERS = 32_767  # of a cell of a workbook
_LONGEST_YEAR = 1980  # before which an archive has no date


def frame(columns: dict[str, list[Any]], preferred: FrameLibrary) -> Any:
    """Return a dataframe of the preferred library, or of another where that is not installed."""
    for name in (preferred, *get_args(FrameLibrary)):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return library.DataFrame(
            {name: list(map(_whole, cells)) for name, cells in columns.items()}
        )
    raise MissingExtraError("to_frame()", "pandas")


def _whole(cell: Any) -> Any:
    """Return a text without halves of characters, which no library takes; others as they are."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell


def _rows(columns: Columns) -> list[tuple[Any, ...]]:
    return list(zip(*columns.values(), strict=True))


def markdown(columns: Columns) -> str:
    """Return a Markdown table."""
    lines = [columns.keys(), ["---"] * len(columns), *_rows(columns)]
    return "\n".join(f"| {' | '.join(map(markdown_text, line))} |" for line in lines)


def markdown_text(value: Any) -> str:
    """Return a value as Markdown shows it; nothing where there is none."""
    shown = number_text(value, 10) if isinstance(value, float) else str(value)
    text = harmless("" if value is None else shown)
    for char in "\\|<>`*_[]":
        text = text.replace(char, f"\\{char}")
    return text


def csv_text(columns: Columns) -> str:
    """Return a CSV file; it begins with the mark by which spreadsheets know UTF-8."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\r\n")
    lines.writerow(columns)
    lines.writerows([safe_cell(value) for value in row] for row in _rows(columns))
    return "\ufeff" + out.getvalue()


def safe_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def workbook(columns: Columns, shaded: Sequence[str] = ()) -> bytes:
    """Return an Excel workbook of one sheet; cells of `shaded` columns are marked as odd."""
    heads = "".join(_sheet_cell(name, 1) for name in columns)
    styles = [2 if name in shaded else 0 for name in columns]
    body = "".join(f"<row>{''.join(map(_sheet_cell, row, styles))}</row>" for row in _rows(columns))
    sheet = _SHEET.format(rows=f"<row>{heads}</row>{body}")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (*_PARTS.items(), ("xl/worksheets/sheet1.xml", sheet)):
            info = zipfile.ZipInfo(name, (_LONGEST_YEAR, 1, 1, 0, 0, 0))  # the same bytes each time
            archive.writestr(info, _HEAD + content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _sheet_cell(value: Any, style: int) -> str:
    if value is None:
        return f'<c s="{style}"/>'
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'<c s="{style}"><v>{value!r}</v></c>'
    text = escape(harmless(str(value))[:_MOST_CHARACTERS], quote=False)
    return f'<c s="{style}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET = f'<worksheet xmlns="{_MAIN}"><sheetData>{{rows}}</sheetData></worksheet>'
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships'
    f'+xml"/><Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_KIND}.worksheet+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_KIND}.styles+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
    f'Type="{_RELATION}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}"><sheets>'
    '<sheet name="odd cells" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_RELATION}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="r2" Type="{_RELATION}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><fonts count="2"><font/><font><b/></font>'
    '</fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill '
    'patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor '
    'rgb="FFF7B27E"/></patternFill></fill></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/><xf fontId="1" '
    'applyFont="1"/><xf fillId="2" applyFill="1"/></cellXfs><cellStyles count="1"><cellStyle '
    'name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}
