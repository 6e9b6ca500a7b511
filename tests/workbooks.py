"""Workbooks for tests: xlsx by openpyxl, ods and odd xlsx files by hand."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import openpyxl

Sheets = Mapping[str, Sequence[Sequence[Any]]]

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_ODS = "urn:oasis:names:tc:opendocument:xmlns"


def write_xlsx(path: Path, sheets: Sheets, merged: Sequence[str] = ()) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([None if cell != cell else cell for cell in row])
        for cells in merged:
            sheet.merge_cells(cells)
    book.save(path)
    return path


def write_ods(path: Path, sheets: Sheets) -> Path:
    tables = "".join(
        f'<table:table table:name="{escape(name)}">{"".join(map(_ods_row, rows))}</table:table>'
        for name, rows in sheets.items()
    )
    return raw_ods(path, tables)


def raw_ods(path: Path, tables: str) -> Path:
    """Write an ods file of whatever XML."""
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    names = " ".join(f'xmlns:{n}="{_ODS}:{n}:1.0"' for n in ("office", "table", "text"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", kind)
        archive.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{_ODS}:manifest:1.0"><manifest:file-entry '
            f'manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>',
        )
        archive.writestr(
            "content.xml",
            f"<office:document-content {names}><office:body><office:spreadsheet>{tables}"
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


def _ods_row(row: Sequence[Any]) -> str:
    return f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>"


def _ods_cell(value: Any) -> str:
    if value is None or value != value:
        return "<table:table-cell/>"
    kind, attribute = "string", ""
    if isinstance(value, bool):
        kind, attribute = "boolean", f'office:boolean-value="{str(value).lower()}"'
    elif isinstance(value, (int, float)):
        kind, attribute = "float", f'office:value="{value!r}"'
    elif isinstance(value, dt.date):
        kind, attribute = "date", f'office:date-value="{value.isoformat()}"'
    text = escape(str(value))
    return (
        f'<table:table-cell office:value-type="{kind}" {attribute}><text:p>{text}</text:p>'
        "</table:table-cell>"
    )


def raw_xlsx(path: Path, data: str, more: Mapping[str, str | bytes] | None = None) -> Path:
    """Write an xlsx file of one sheet with whatever XML as its data."""
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default '
        'Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": _relation("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relation("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{data}</sheetData>'
        "</worksheet>",
        **(more or {}),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def _relation(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/{kind}" Target="{target}"/></Relationships>'
    )
