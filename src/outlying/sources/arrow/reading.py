"""What Arrow brings, read into memory: only columns that can be used, within bounds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from outlying.errors import MissingExtraError
from outlying.sources.columns import Reading, skipped, table_of, unique_names
from outlying.sources.compression import check_expanded
from outlying.sources.passes import Batch
from outlying.sources.sql import first_line, plain_errors
from outlying.sources.types.arrow import unusable
from outlying.sources.types.narwhals import read_series
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
    total = 0
    for batch in file.batches(names):
        batch.validate(full=True)  # first: its bytes are taken as they are
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
    import narwhals as nw
    import pyarrow

    wanted = pyarrow.schema([schema.field(name) for name in names])
    found = pyarrow.Table.from_batches(list(batches) if names else [], wanted)
    left_out = {column.name: column for column in unused}
    return table_of(
        source,
        [
            Reading(left_out[name]) if name in left_out else _column(nw, found, name)
            for name in dict.fromkeys([*schema.names, *left_out])
        ],
    )


def _column(nw: Any, table: pyarrow.Table, name: str) -> Reading:
    return read_series(name, nw.from_native(table.column(name), series_only=True))
