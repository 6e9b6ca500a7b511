"""Iceberg tables: a folder with their metadata, or a table of pyiceberg from any catalog."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from outlying.errors import MissingExtraError, OutlyingError, SourceError
from outlying.sources.arrow.feeder import BatchFeeder, collected
from outlying.sources.lakes.snapshots import snapshot_of
from outlying.sources.passes import Batch
from outlying.sources.recognise import name_of, path_of
from outlying.sources.sql import first_line
from outlying.table.table import Table


def read(data: Any, snapshot: object = None) -> Table:
    """Read all rows into memory, in no particular order."""
    return collected(stream(data, snapshot))


def stream(data: Any, snapshot: object = None) -> BatchFeeder:
    """Feed from a table in the state that it has now, or had; later changes do not matter."""
    try:
        from pyiceberg.table import StaticTable
        from pyiceberg.table import Table as IcebergTable
    except ImportError:
        raise MissingExtraError("reading Iceberg tables", "iceberg") from None
    wanted = snapshot_of(snapshot)
    is_open = isinstance(data, IcebergTable)
    source = "Iceberg table" if is_open else name_of(data)
    with _told(source):
        table: Any = data if is_open else StaticTable.from_metadata(_metadata_of(source, data))
        number = _snapshot_in(source, table, wanted)

    def batches(names: Sequence[str]) -> Iterable[Batch]:
        fields = tuple(names) or ("*",)
        reader = table.scan(snapshot_id=number, selected_fields=fields).to_arrow_batch_reader()
        found: Iterable[Batch] = reader
        return found

    def schema() -> Any:
        return table.scan(snapshot_id=number).to_arrow_batch_reader().schema

    return BatchFeeder(source, schema, batches, lambda: _told(source))


def metadata_in(folder: Path) -> list[Path]:
    """Return the descriptions of a table's states, the last one at the end."""
    found = (folder / "metadata").glob("*.metadata.json")
    return sorted(found, key=lambda path: (_number_of(path), path.name))


def _number_of(path: Path) -> int:
    found = re.match(r"v?(\d{1,18})", path.name)
    return int(found[1]) if found else -1


def _metadata_of(source: str, data: str | os.PathLike[str]) -> str:
    known = metadata_in(path_of(os.fsdecode(data)))
    if not known:
        raise SourceError(f"{source}: holds no metadata of an Iceberg table")
    return known[-1].absolute().as_uri()


def _snapshot_in(source: str, table: Any, wanted: int | dt.datetime | None) -> int:
    """Return the number of the snapshot that is meant; it stays that one."""
    known = [snapshot.snapshot_id for snapshot in table.snapshots()]
    if wanted is None:
        found = table.current_snapshot()
    elif isinstance(wanted, dt.datetime):
        found = table.snapshot_as_of_timestamp(int(wanted.timestamp() * 1000))
    else:
        found = table.snapshot_by_id(wanted)
    if found is None:
        last = ", ".join(map(str, known[-3:])) or "none"
        asked = "" if wanted is None else f" {wanted}"
        raise SourceError(f"{source}: there is no snapshot{asked}; the last ones are: {last}")
    number: int = found.snapshot_id
    return number


@contextlib.contextmanager
def _told(source: str) -> Iterator[None]:
    try:
        yield
    except OutlyingError:
        raise
    except Exception as error:
        raise SourceError(
            f"{source}: cannot be read as an Iceberg table: {first_line(error)}"
        ) from None
