"""What pages show of a table: facts of its columns, and its cells in files mapped into memory.

Any row is there at once, none has to be held. One file for the numbers of each numeric column,
three for a categorical one: its codes, the texts of its labels one after the other, and where each
of these ends. A numeric column that was read from texts has all of them, and one more: the rows
whose text is no number.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from outlying.options import ColumnType
from outlying.table.columns import CategoricalColumn, Column, NumericColumn
from outlying.table.values import TIMES, Form, Value, plain, value_of

MOST_CATEGORIES = 30
"""So many of the commonest categories are named."""


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnOverview:
    """What a column holds; `low` and `high` are those of numbers."""

    name: str
    form: Form
    type: ColumnType
    missing: int
    distinct: int
    low: Value = None
    high: Value = None
    categories: tuple[str, ...] = ()
    unread: int = 0  # rows with a text that is no number; they count as missing, too
    spread: float = 1.0  # from the 1st to the 99th percentile, by which differences are measured

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        own = {name: getattr(self, name) for name in ("name", "form", "type", "missing", "unread")}
        return own | {
            "distinct": self.distinct,
            "low": plain(self.low),
            "high": plain(self.high),
            "categories": list(self.categories),
        }


def facts_of(column: Column) -> ColumnOverview:
    """Look at a column once."""
    missing = int(np.count_nonzero(column.missing()))
    if not column.is_numeric:
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels))
        common = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
        names = tuple(str(plain(column.labels[place])) for place in common)
        return ColumnOverview(
            column.name, column.form, "categorical", missing, len(column.labels), categories=names
        )
    kind: ColumnType = "datetime" if column.form in TIMES else "numeric"
    known = column.values[np.isfinite(column.values)]
    if not len(known):
        return ColumnOverview(column.name, column.form, kind, missing, 0)
    low, near, far, high = (float(x) for x in np.quantile(known, (0, 0.01, 0.99, 1)))
    distinct = len(np.unique(known))
    ends = value_of(column.form, low), value_of(column.form, high)
    spread = (far - near) or (high - low) or 1.0
    facts = ColumnOverview(column.name, column.form, kind, missing, distinct, *ends, spread=spread)
    return dataclasses.replace(facts, unread=len(column.unread_rows()))


# --- cells in files --------------------------------------------------------------------------


def write_cells(columns: Sequence[Column], folder: Path, *, with_texts: bool = False) -> None:
    """Write the cells of all columns into a new folder.

    `with_texts`: also the texts that numbers were read from, so that they can be read again.
    """
    folder.mkdir(mode=0o700)
    for place, column in enumerate(columns):
        if not column.is_numeric:
            _write_texts(column, folder / str(place))
            continue
        column.values.tofile(folder / f"{place}.values")
        rows = column.unread_rows()
        if column.written is not None and len(rows):
            rows.tofile(folder / f"{place}.unread")
            _write_texts(column.written.texts.taken(rows), folder / str(place))
        if column.written is not None and with_texts:
            _write_texts(column.written.texts, folder / f"{place}.found")


def _write_texts(column: CategoricalColumn, path: Path) -> None:
    texts = [str(label).encode("utf-8", "surrogatepass") for label in column.labels]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    column.codes.tofile(f"{path}.codes")
    ends.tofile(f"{path}.ends")
    Path(f"{path}.texts").write_bytes(b"".join(texts) or b"\0")  # nothing is not mapped


class CellFiles:
    """The cells of a table, read from files that another process may have written."""

    def __init__(self, folder: Path, forms: Sequence[tuple[Form, bool]]) -> None:
        """Map the files; `forms` says of each column what it holds, and whether it is numeric."""
        self._folder = folder
        self._columns = [
            _NumberCells(folder, place, form)
            if is_numeric
            else _TextCells(folder / str(place), form)
            for place, (form, is_numeric) in enumerate(forms)
        ]

    def rows(self, positions: Sequence[int]) -> list[list[Value]]:
        """Return the values of some rows by their positions from 0."""
        chosen = np.asarray(positions, dtype=np.int64)
        columns = [column.values(chosen) for column in self._columns]
        return [list(row) for row in zip(*columns, strict=True)]

    def unread(self, place: int) -> dict[int, Value]:
        """Return the texts of a numeric column that are no numbers, by their positions."""
        column = self._columns[place]
        return column.unread if isinstance(column, _NumberCells) else {}

    def column(self, place: int, name: str) -> Column:
        """Return all cells of a column, by its place."""
        return self._columns[place].column(name)

    def source_column(self, place: int, name: str) -> Column:
        """Return all cells of a column as its source has them, before texts were read."""
        path = self._folder / f"{place}.found"
        is_there = Path(f"{path}.codes").exists()
        return _TextCells(path, "text").column(name) if is_there else self.column(place, name)


class _NumberCells:
    def __init__(self, folder: Path, place: int, form: Form) -> None:
        self._form = form
        self._numbers = _mapped(folder / f"{place}.values", np.float64)
        unread = folder / f"{place}.unread"
        self.unread: dict[int, Value] = {}
        if unread.exists():
            rows = np.fromfile(unread, np.int64)
            texts = _TextCells(folder / str(place), "text").values(np.arange(len(rows)))
            self.unread = dict(zip(rows.tolist(), texts, strict=True))

    def values(self, positions: npt.NDArray[np.int64]) -> list[Value]:
        found = [value_of(self._form, number) for number in self._numbers[positions].tolist()]
        if not self.unread:
            return found
        rows = positions.tolist()
        return [self.unread.get(row, cell) for row, cell in zip(rows, found, strict=True)]

    def column(self, name: str) -> NumericColumn:
        return NumericColumn(name, self._form, self._numbers)


class _TextCells:
    def __init__(self, path: Path, form: Form) -> None:
        self._form, self._is_boolean = form, form == "boolean"
        self._codes = _mapped(Path(f"{path}.codes"), np.int32)
        self._ends = _mapped(Path(f"{path}.ends"), np.int64)
        self._texts = _mapped(Path(f"{path}.texts"), np.uint8)

    def values(self, positions: npt.NDArray[np.int64]) -> list[Value]:
        return [None if code < 0 else self._label(code) for code in self._codes[positions].tolist()]

    def column(self, name: str) -> CategoricalColumn:
        labels: Any = tuple(map(self._label, range(len(self._ends) - 1)))
        return CategoricalColumn(name, self._form, self._codes, labels)

    def _label(self, code: int) -> Value:
        begin, end = self._ends[code : code + 2].tolist()
        text = self._texts[begin:end].tobytes().decode("utf-8", "surrogatepass")
        return text == "True" if self._is_boolean else text


def _mapped(path: Path, kind: Any) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = np.memmap(path, kind, "r")
    return found
