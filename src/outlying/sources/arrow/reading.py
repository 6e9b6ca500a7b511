"""What Arrow brings, read into memory: only columns that can be used, within bounds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from outlying.errors import MissingExtraError, RowAt, SourceError
from outlying.sources.columns import read_all, skipped, table_of, unique_names
from outlying.sources.compression import check_expanded
from outlying.sources.passes import Batch
from outlying.sources.sql import first_line, plain_errors
from outlying.sources.types.arrow import unusable
from outlying.table.table import SkippedColumn, Table

if TYPE_CHECKING:
    import pyarrow


class ArrowFile(Protocol):
    """A file that Arrow has opened."""

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns as they are in the file."""

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Read some columns, batch by batch."""


def check_arrow(what: str) -> None:
    """Refuse to go on without Arrow, and say how to install it."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError(f"reading {what}", "big") from None


@contextlib.contextmanager
def arrow_errors(
    source: str, *more: type[Exception], reason: Callable[[Exception], str] = first_line
) -> Iterator[None]:
    """Turn errors of Arrow, and of whatever it reads from, into ours."""
    import pyarrow

    kinds = (pyarrow.ArrowException, OSError, UnicodeDecodeError, *more)
    with plain_errors(source, *kinds, reason=reason):
        yield


def check_batch(source: str, batch: Batch, names: Sequence[str], first_row: int) -> None:
    """Refuse a batch that is damaged; of texts that are not UTF-8, say in which row.

    Its rows are counted on from the first one.
    """
    import pyarrow

    try:
        batch.validate(full=True)  # or else its bytes are taken as they are
    except pyarrow.ArrowInvalid:
        for name, column in zip(names, batch.columns, strict=True):
            for row, text in enumerate(_bytes_of(column), start=first_row):
                _check_utf8(source, name, row, text)
        raise


def _bytes_of(column: pyarrow.Array) -> list[bytes | None]:
    """Return texts as they are written; nothing of other columns.

    Where more than the encoding is wrong, Arrow's error says so: places outside are never read.
    """
    import pyarrow

    is_coded = pyarrow.types.is_dictionary(column.type)
    texts = column.dictionary if is_coded else column
    kinds = {pyarrow.string(): pyarrow.binary(), pyarrow.large_string(): pyarrow.large_binary()}
    if texts.type not in kinds:
        return []
    texts = texts.view(kinds[texts.type])
    texts.validate(full=True)
    if is_coded:
        column.indices.validate(full=True)
        texts = pyarrow.DictionaryArray.from_arrays(column.indices, texts).dictionary_decode()
    found: list[bytes | None] = texts.to_pylist()
    return found


def _check_utf8(source: str, name: str, row: int, text: bytes | None) -> None:
    try:
        (text or b"").decode()
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{source}: column {name!r} holds text that is not UTF-8 in ",
            RowAt(row),
            f" (byte 0x{error.object[error.start]:02x}); write it as UTF-8 there, or leave the "
            "column out",
        ) from None


def usable(source: str, schema: pyarrow.Schema) -> tuple[list[str], list[SkippedColumn]]:
    """Return the names of columns that can be used, and why others cannot."""
    unique_names(source, schema.names)
    reasons = {field.name: unusable(field.type) for field in schema}
    names = [name for name, what in reasons.items() if what is None]
    return names, [skipped(name, what) for name, what in reasons.items() if what is not None]


def read_file(source: str, file: ArrowFile, size: int) -> Table:
    """Read a file of so many bytes."""
    names, unused = usable(source, file.schema)
    return read_batches(source, file.schema, names, unused, _bounded(source, file, names, size))


def _bounded(source: str, file: ArrowFile, names: Sequence[str], size: int) -> Iterator[Batch]:
    total = rows = 0
    for batch in file.batches(names):
        check_batch(source, batch, names, rows)
        rows += batch.num_rows
        total += batch.get_total_buffer_size()  # PyArrow before 22 cannot tell nbytes of views
        check_expanded(source, total, size)
        yield batch


def read_batches(
    source: str,
    schema: pyarrow.Schema,
    names: Sequence[str],
    unused: Sequence[SkippedColumn],
    batches: Iterable[Batch],
) -> Table:
    """Make a table of batches; columns that are not used stay in their places as left out."""
    import pyarrow

    wanted = pyarrow.schema([schema.field(name) for name in names])
    found = pyarrow.Table.from_batches(list(batches) if names else [], wanted)
    return table_of(source, read_all(schema, found.columns, unused))
