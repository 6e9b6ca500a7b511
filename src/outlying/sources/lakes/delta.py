"""Delta Lake tables: a folder or an address with a log, or a table of deltalake that is open."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from outlying.errors import MissingExtraError, OutlyingError, SourceError
from outlying.sources.batches import BatchFeeder
from outlying.sources.lakes.snapshots import snapshot_of
from outlying.sources.local import BATCH_ROWS, collected
from outlying.sources.passes import Batch
from outlying.sources.recognise import is_address, name_of, path_of
from outlying.sources.sql import first_line
from outlying.table.table import Table

if TYPE_CHECKING:
    from deltalake import DeltaTable


def read(data: str | os.PathLike[str] | DeltaTable, snapshot: object = None) -> Table:
    """Read all rows into memory, in no particular order."""
    return collected(stream(data, snapshot))


def stream(data: str | os.PathLike[str] | DeltaTable, snapshot: object = None) -> BatchFeeder:
    """Feed from a table in the state that it has now, or had; later changes do not matter."""
    wanted = snapshot_of(snapshot)
    table: Any = opened(data) if isinstance(data, (str, os.PathLike)) else data
    source = name_of(data if isinstance(data, (str, os.PathLike)) else table.table_uri.rstrip("/"))
    with _told(source):
        if wanted is not None:
            table = type(table)(table.table_uri, storage_options=_options(table))
            _go_to(source, table, wanted)
        dataset = table.to_pyarrow_dataset()
    return BatchFeeder(
        source,
        lambda: dataset.schema,
        lambda names: _batches(dataset, names),
        lambda: _told(source),
    )


def opened(data: str | os.PathLike[str]) -> DeltaTable:
    """Open a table by its folder or its address, in the state that it has now."""
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise MissingExtraError("reading Delta Lake tables", "delta") from None
    name = os.fsdecode(data)
    with _told(name_of(data)):
        return DeltaTable(name if is_address(name) else str(path_of(name).absolute()))


def _options(table: Any) -> Any:
    return getattr(table, "_storage_options", None)


def _go_to(source: str, table: Any, wanted: int | dt.datetime) -> None:
    last, is_there = table.version(), False
    with contextlib.suppress(Exception):
        table.load_as_version(wanted)
        is_there = isinstance(wanted, int) or _written(table) <= wanted.timestamp()
    if not is_there:
        raise SourceError(f"{source}: there is no snapshot {wanted}; the last version is {last}")


def _written(table: Any) -> float:
    """Return when the state of a table was written: before the first, deltalake takes the first."""
    return float(table.history(1)[0].get("timestamp", 0)) / 1000


def _batches(dataset: Any, names: Sequence[str]) -> Iterable[Batch]:
    """Read some columns, without much ahead of what is used."""
    scanner = dataset.scanner(
        columns=list(names), batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1
    )
    found: Iterable[Batch] = scanner.to_batches()
    return found


@contextlib.contextmanager
def _told(source: str) -> Iterator[None]:
    try:
        yield
    except OutlyingError:
        raise
    except Exception as error:
        said = type(error).__name__ if is_address(source) else first_line(error)
        raise SourceError(f"{source}: cannot be read as a Delta Lake table: {said}") from None
