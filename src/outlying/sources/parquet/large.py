"""Numbers, and texts of few kinds, of large Parquet files by Arrow, where it is installed.

It writes them to arrays batch by batch, which takes half as long as the engine does. All other
columns, and those that it cannot read or sees as another type, are left to the engine.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from outlying.parallel import thread_map, usable_threads
from outlying.sources.columns import Reading, read_coded, read_labels, read_own_reals
from outlying.sources.parquet.plain import has_small_dictionary, opened
from outlying.sources.parquet.texts import MOST_KINDS
from outlying.sources.types.duckdb import Plan
from outlying.table.columns import Mask

_BATCH_ROWS = 65_536  # of all columns: they stay in the processor's cache
_TEXT = "varchar"
_REALS = ("double", "float")
#: What the engine calls the numbers that Arrow reads as it does.
_NUMBERS = {
    **{kind: kind for kind in _REALS},
    **{f"{sign}{kind}": f"{arrow}{bits}"
       for sign, arrow in (("", "int"), ("u", "uint"))
       for kind, bits in (("tinyint", 8), ("smallint", 16), ("integer", 32), ("bigint", 64))},
}  # fmt: skip


def read(
    path: Path, rows: int, names: Sequence[str], kinds: Sequence[str], plans: Sequence[Plan | str]
) -> Mapping[int, Reading]:
    """Read the columns that Arrow can read, by their places; `kinds` are the engine's types."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return {}
    with contextlib.suppress(pyarrow.ArrowException, OSError):  # the engine says what is wrong
        with pyarrow.parquet.ParquetFile(path) as file:
            wanted = {
                name: _column(kind, rows, plan)
                for name, kind, plan in zip(names, kinds, plans, strict=True)
                if isinstance(plan, Plan) and _agree(file, name, kind, plan)
            }
        _fill(path, wanted)
        read = {name: column for name, column in wanted.items() if not column.is_given_up}
        return {names.index(name): column.finish(name) for name, column in read.items()}
    return {}


def _column(kind: str, rows: int, plan: Plan) -> _Column:
    if kind == _TEXT:
        return _Texts(rows)
    return _Reals(rows) if kind in _REALS else _Wholes(rows, plan)


def _agree(file: Any, name: str, kind: str, plan: Plan) -> bool:
    """Return whether a column has one place in the file, and the same type there."""
    schema = file.schema_arrow
    leaves = [column.path for column in file.schema]
    if leaves.count(name) != 1 or schema.names.count(name) != 1:
        return False
    found = str(schema.field(name).type)
    if kind != _TEXT:
        return found == _NUMBERS.get(kind)
    first = file.metadata.row_group(0).column(leaves.index(name))
    is_plain = found in ("string", "large_string") and plan.finish is read_labels
    return is_plain and has_small_dictionary(first)


def _fill(path: Path, wanted: Mapping[str, _Column]) -> None:
    """Read columns by several threads, each of which takes some."""
    threads = min(usable_threads(None), len(wanted))
    shares = [dict(list(wanted.items())[first::threads]) for first in range(threads)]
    with thread_map(max(1, threads)) as mapped:
        for _ in mapped(lambda share: _fill_some(path, share), shares):
            pass


def _fill_some(path: Path, wanted: Mapping[str, _Column]) -> None:
    texts = [name for name, column in wanted.items() if isinstance(column, _Texts)]
    with opened(path, texts) as file:
        start = 0
        for batch in file.iter_batches(_BATCH_ROWS, columns=list(wanted), use_threads=False):
            for name, column in wanted.items():
                column.add(start, batch.column(name))
            start += batch.num_rows


class _Column(Protocol):
    """A column that is filled, batch by batch."""

    @property
    def is_given_up(self) -> bool:
        """Whether it is left to the engine after all."""

    def add(self, start: int, array: Any) -> None:
        """Take in the rows from some place on."""

    def finish(self, name: str) -> Reading:
        """Return the column."""


class _Reals:
    """Numbers that need not be whole; NaN is missing."""

    is_given_up = False

    def __init__(self, rows: int) -> None:
        self._values = np.empty(rows)

    def add(self, start: int, array: Any) -> None:
        here = self._values[start : start + len(array)]
        here[:] = (array.fill_null(math.nan) if array.null_count else array).to_numpy()

    def finish(self, name: str) -> Reading:
        return read_own_reals(name, self._values)


class _Wholes:
    """Whole numbers, which may be too long for floating point."""

    is_given_up = False

    def __init__(self, rows: int, plan: Plan) -> None:
        self._rows, self._plan = rows, plan
        self._values: Any = None
        self._missing: Mask | None = None

    def add(self, start: int, array: Any) -> None:
        here = slice(start, start + len(array))
        if array.null_count:
            if self._missing is None:
                self._missing = np.zeros(self._rows, dtype=bool)
            self._missing[here] = array.is_null().to_numpy(zero_copy_only=False)
            array = array.fill_null(0)
        values = array.to_numpy()
        if self._values is None:
            self._values = np.empty(self._rows, dtype=values.dtype)
        self._values[here] = values

    def finish(self, name: str) -> Reading:
        return self._plan.finish(name, self._values, self._missing)


class _Texts:
    """Texts as codes into those that came so far."""

    def __init__(self, rows: int) -> None:
        self._codes = np.empty(rows, dtype=np.int32)
        self._place: dict[str, int] = {}

    @property
    def is_given_up(self) -> bool:
        return not 0 < len(self._place) <= MOST_KINDS

    def add(self, start: int, array: Any) -> None:
        if len(self._place) > MOST_KINDS:
            return
        array.dictionary.validate(full=True)
        texts = array.dictionary.to_pylist()
        indices = array.indices.fill_null(len(texts)).to_numpy()
        is_used = np.bincount(indices, minlength=len(texts) + 1) > 0
        place, codes = self._place, np.full(len(texts) + 1, -1, dtype=np.int32)
        for number in np.flatnonzero(is_used[:-1]).tolist():
            codes[number] = place.setdefault(texts[number], len(place))
        codes.take(indices, out=self._codes[start : start + len(array)], mode="clip")

    def finish(self, name: str) -> Reading:
        return read_coded(name, self._codes, list(self._place))
