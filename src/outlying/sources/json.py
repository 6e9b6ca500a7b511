"""JSON: an array of objects, or one object after another (JSON lines).

Read with Python's own parser: the engine guesses a schema, turns objects with many keys into maps,
renames keys that differ only in case, and may fail on long whole numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from outlying.errors import ColumnError, NoRowsError
from outlying.parsing.plain import TIMES, type_texts
from outlying.sources.columns import RawColumn, is_of_texts, table_of
from outlying.sources.copies import InputFile
from outlying.sources.frames import array_of
from outlying.table.table import Table

_SPACE = re.compile(r"[ \t\r\n]*")


def read(file: InputFile) -> Table:
    """Read the objects as rows and their keys as columns; an absent key is a missing value."""
    try:
        text = file.path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        file.check_text()
        raise
    rows = _objects(file, list(_values(file, text)))
    keys = dict.fromkeys(key for row in rows for key in row)
    if not rows:
        raise NoRowsError(f"{file.source}: there are no rows, only an empty array")
    columns = {key: array_of([row.get(key) for row in rows]) for key in keys}
    texts = {n: m.array for n, m in columns.items() if isinstance(m, RawColumn) and is_of_texts(m)}
    if len(texts) < len(columns):  # others have types: of these, all that are dates or times
        columns |= {name: RawColumn(array) for name, array in type_texts(texts, TIMES).items()}
    return table_of(file.source, columns)


def _values(file: InputFile, text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    place = 0
    try:
        while (place := _SPACE.match(text, place).end()) < len(text):  # type: ignore[union-attr]
            value, place = decoder.raw_decode(text, place)
            yield value
    except json.JSONDecodeError as error:
        fault = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise file.error(f"is not valid JSON: {fault}") from None
    except (ValueError, RecursionError) as error:
        raise file.error(f"cannot be read: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ColumnError(f"an object has the key {twice!r} twice; every column needs its own name")
    return content


def _objects(file: InputFile, values: list[Any]) -> list[dict[str, Any]]:
    rows = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise file.error(
                f"value {number} is of type {type(row).__name__}; allowed: an array of objects, "
                "or one object per line"
            )
    return rows
