"""Iceberg tables: a folder with their metadata, or a table of pyiceberg from any catalog."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from outlying.checks import check_flag
from outlying.errors import MissingExtraError, OutlyingError, SourceError, not_its_own
from outlying.sources.batches import BatchFeeder
from outlying.sources.lakes.snapshots import snapshot_of
from outlying.sources.local import collected
from outlying.sources.passes import Batch
from outlying.sources.recognise import name_of, path_of
from outlying.sources.sql import first_line
from outlying.table.table import Table


def read(data: Any, snapshot: object = None, allow_external: object = False) -> Table:
    """Read all rows into memory, in no particular order."""
    return collected(stream(data, snapshot, allow_external))


def stream(data: Any, snapshot: object = None, allow_external: object = False) -> BatchFeeder:
    """Feed from a table in the state that it has now, or had; later changes do not matter.

    The metadata in a folder name all other files by their whole path, and may name the code that
    opens them. Unless `allow_external`, files elsewhere are refused, and such settings ignored.
    """
    try:
        from pyiceberg.table import Table as IcebergTable
    except ImportError:
        raise MissingExtraError("reading Iceberg tables", "iceberg") from None
    wanted, is_sealed = snapshot_of(snapshot), not check_flag("allow_external", allow_external)
    is_open = isinstance(data, IcebergTable)
    source = "Iceberg table" if is_open else name_of(data)
    with _told(source):
        table: Any = data if is_open else _opened(_metadata_of(source, data), is_sealed)
        number = _snapshot_in(source, table, wanted)
        if is_sealed and not is_open:
            _check_inside(source, path_of(os.fsdecode(data)).resolve(), table, number)

    def batches(names: Sequence[str]) -> Iterable[Batch]:
        fields = tuple(names) or ("*",)
        reader = table.scan(snapshot_id=number, selected_fields=fields).to_arrow_batch_reader()
        found: Iterable[Batch] = reader
        return found

    def schema() -> Any:
        return table.scan(snapshot_id=number).to_arrow_batch_reader().schema

    return BatchFeeder(source, schema, batches, lambda: _told(source))


def _opened(metadata: str, is_sealed: bool) -> Any:
    """Open a table by its metadata; sealed, by our own means and not by those that it names."""
    from pyiceberg.catalog.noop import NoopCatalog
    from pyiceberg.io.pyarrow import PyArrowFileIO
    from pyiceberg.serializers import FromInputFile
    from pyiceberg.table import StaticTable

    if not is_sealed:
        return StaticTable.from_metadata(metadata)
    files, catalog = PyArrowFileIO(), NoopCatalog("static-table")
    content = FromInputFile.table_metadata(files.new_input(metadata))
    return StaticTable(("static-table", metadata), content, metadata, files, catalog)


def _check_inside(source: str, folder: Path, table: Any, number: int) -> None:
    """Refuse a snapshot of which a file is not below the folder; each is looked at before it opens.

    Those are its list of manifests, the manifests, and the files of data and of deleted rows.
    """

    def check(location: str) -> None:
        parts = urlsplit(location)
        path = Path(parts.path if parts.scheme else location)
        is_local = parts.scheme in ("", "file") and not parts.netloc
        if not is_local or not path.resolve().is_relative_to(folder):
            raise not_its_own(source, "an Iceberg table", location)

    snapshot = table.snapshot_by_id(number)
    check(snapshot.manifest_list)
    for manifest in snapshot.manifests(table.io):
        check(manifest.manifest_path)
        for entry in manifest.fetch_manifest_entry(table.io):
            check(entry.data_file.file_path)


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
