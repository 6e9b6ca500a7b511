"""Parquet files with plain columns only, read by Arrow itself: that takes half as long.

Plain are columns for which Arrow and the engine agree on the type. Texts of few kinds stay the
dictionaries that they are in the files. Whatever else there is, the engine reads all.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from outlying.sources.local import BATCH_ROWS, Field
from outlying.sources.sql import plain_errors
from outlying.sources.types.arrow import is_text

if TYPE_CHECKING:
    from pathlib import Path

    from outlying.sources.passes import Batch

_BUFFER = 1 << 18  # bytes of a column that are read at a time
_SMALL = 1 << 16  # bytes of a dictionary with few labels


def are_plain(paths: Sequence[Path], fields: Sequence[Field]) -> bool:
    """Return whether Arrow can read these columns of all files as the engine would."""
    return bool(fields) and all(_is_plain(path, fields) for path in paths)


def batches(source: str, paths: Sequence[Path], fields: Sequence[Field]) -> Iterator[Batch]:
    """Read files, one after the other, batch by batch."""
    import pyarrow

    names = [field.name for field in fields]
    with plain_errors(source, pyarrow.ArrowException, OSError):
        for path in paths:
            with opened(path, _coded(path, fields)) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=names):
                    yield _read(batch, fields)


def opened(path: Path, coded: Sequence[str] = ()) -> Any:
    """Open a file that is read in small parts; some texts stay the dictionaries they are there."""
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(
        path, read_dictionary=list(coded), buffer_size=_BUFFER, pre_buffer=False
    )


def _is_plain(path: Path, fields: Sequence[Field]) -> bool:
    import pyarrow

    try:
        with opened(path) as file:
            types = dict(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True))
            leaves = [column.path for column in file.schema]
    except (pyarrow.ArrowException, OSError):  # for the engine, which says what is wrong
        return False
    return all(
        leaves.count(field.name) == 1 and _agree(types.get(field.name), field) for field in fields
    )


def _agree(kind: Any, field: Field) -> bool:
    """Return whether Arrow reads what the engine reads, apart from moments that are infinite."""
    from pyarrow import types

    if kind is None or types.is_string_view(kind):
        return False
    if is_text(kind.value_type if types.is_dictionary(kind) else kind):
        return is_text(field.comes)
    if types.is_timestamp(kind) and types.is_timestamp(field.comes):
        return bool(kind.unit == field.comes.unit and bool(kind.tz) == bool(field.comes.tz))
    plain = (types.is_integer, types.is_floating, types.is_boolean, types.is_date32)
    return any(test(kind) for test in plain) and bool(kind == field.comes)


def _coded(path: Path, fields: Sequence[Field]) -> list[str]:
    """Name the columns of texts that have a small dictionary."""
    with opened(path) as file:
        groups = file.metadata.num_row_groups
        first = file.metadata.row_group(0) if groups else None
    if first is None:
        return []
    chunks = {(c := first.column(place)).path_in_schema: c for place in range(first.num_columns)}
    texts = [field.name for field in fields if is_text(field.comes)]
    return [name for name in texts if has_small_dictionary(chunks[name])]


def has_small_dictionary(chunk: Any) -> bool:
    """Return whether the texts of a part of a column are of few kinds."""
    start = chunk.dictionary_page_offset
    return start is not None and 0 < chunk.data_page_offset - start <= _SMALL


def _read(batch: Batch, fields: Sequence[Field]) -> Batch:
    import pyarrow

    arrays = [_column(batch.column(field.name), field) for field in fields]
    return pyarrow.RecordBatch.from_arrays(arrays, [f"c{place}" for place in range(len(arrays))])


def _column(array: Any, field: Field) -> Any:
    """Return a column with the type that the engine would give it; texts must be valid."""
    from pyarrow import types

    kind = array.type
    if types.is_dictionary(kind):
        array.dictionary.validate(full=True)
        return array
    if is_text(kind):
        array.validate(full=True)
    if types.is_temporal(kind):
        array = _finite(array)
    return array if kind == field.comes else array.cast(field.comes)


def _finite(array: Any) -> Any:
    """Leave out moments that are infinite, which are the greatest numbers of their type."""
    import pyarrow
    import pyarrow.compute as pc

    numbers = array.view(pyarrow.int32() if array.type.bit_width == 32 else pyarrow.int64())
    least, greatest = _infinite(array.type.bit_width)
    found = pc.min_max(numbers).as_py()
    if found["min"] is None or (found["min"] > least and found["max"] < greatest):
        return array
    is_finite = pc.and_(pc.greater(numbers, least), pc.less(numbers, greatest))
    return pc.if_else(is_finite, array, pyarrow.scalar(None, array.type))


@functools.cache
def _infinite(bits: int) -> tuple[int, int]:
    greatest = 2 ** (bits - 1) - 1
    return -greatest, greatest
