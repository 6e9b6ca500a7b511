"""Tables that another library reads as often as it is asked: those of lakes, and queries.

Tables of Delta Lake and Iceberg are folders, or opened by their own library from any catalog. Ibis
is one way to BigQuery, Snowflake, Trino, MySQL, SQL Server and many more.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from outlying.checks import check_flag
from outlying.errors import (
    ColumnError,
    MissingExtraError,
    OptionError,
    SourceError,
    not_its_own,
    shown,
)
from outlying.parsing import pa
from outlying.sources.databases import describe_error
from outlying.sources.duckdb import DuckFeeder
from outlying.sources.passes import BATCH_ROWS, Batch, BatchFeeder, Feeder, collected
from outlying.sources.recognise import (
    first_line,
    is_a,
    is_address,
    is_delta,
    name_of,
    path_of,
    translate_errors,
)
from outlying.table.table import Table

if TYPE_CHECKING:
    import polars
    from deltalake import DeltaTable
    from ibis.expr.types import Table as IbisTable


def read(data: Any, **options: Any) -> Table:
    """Read all rows into memory, in no particular order."""
    return collected(stream(data, **options))


def stream(data: Any, snapshot: object = None, **options: Any) -> Feeder:
    """Feed from a query, or a table as it is now, or was; later changes do not matter."""
    if hasattr(data, "collect_schema"):
        return _of_polars(data)
    if is_a("ibis", "Table")(data):
        return _of_ibis(data)
    wanted = snapshot_of(snapshot)
    return _of_delta(data, wanted) if is_delta(data) else _of_iceberg(data, wanted, **options)


def snapshot_of(given: object) -> int | dt.datetime | None:
    """Read the option: a whole number, or a moment, which is in UTC unless it says otherwise."""
    known = given
    if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) < 20:
        known = int(given)
    elif isinstance(given, str):
        with contextlib.suppress(ValueError):
            known = dt.datetime.fromisoformat(given)
    if isinstance(known, dt.datetime):
        return known if known.tzinfo is not None else known.replace(tzinfo=dt.UTC)
    if known is None or (isinstance(known, int) and not isinstance(known, bool) and known >= 0):
        return known
    raise OptionError(
        f"snapshot is {shown(given)}; allowed: the number of a version, or a moment such as "
        "'2024-05-31T12:00:00Z'"
    )


def _describe_error(kind: str, source: str, error: Exception) -> SourceError:
    """Say that a table cannot be read; of addresses, which hold secrets, not a word of theirs."""
    said = type(error).__name__ if is_address(source) else first_line(error)
    return SourceError(f"{source}: cannot be read as {kind} table: {said}")


# --- Delta Lake ----------------------------------------------------------------------------------

_explain_delta = functools.partial(_describe_error, "a Delta Lake")


def _of_delta(data: Any, wanted: int | dt.datetime | None) -> BatchFeeder:
    table: Any = open_delta(data) if isinstance(data, (str, os.PathLike)) else data
    source = name_of(data if isinstance(data, (str, os.PathLike)) else table.table_uri.rstrip("/"))
    with translate_errors(source, explain=_explain_delta):
        if wanted is not None:
            options = getattr(table, "_storage_options", None)
            table = type(table)(table.table_uri, storage_options=options)
            last, is_there = table.version(), False
            with contextlib.suppress(Exception):
                table.load_as_version(wanted)
                is_there = isinstance(wanted, int) or _written(table) <= wanted.timestamp()
            if not is_there:
                raise SourceError(
                    f"{source}: there is no snapshot {wanted}; the last version is {last}"
                )
        dataset = table.to_pyarrow_dataset()

    def batches(names: Sequence[str]) -> Iterable[Batch]:
        scanner = dataset.scanner(  # without much ahead of what is used
            columns=list(names), batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1
        )
        found: Iterable[Batch] = scanner.to_batches()
        return found

    return BatchFeeder(source, lambda: dataset.schema, batches, _explain_delta)


def _written(table: Any) -> float:
    """Return when the state of a table was written: before the first, deltalake takes the first."""
    return float(table.history(1)[0].get("timestamp", 0)) / 1000


def open_delta(data: str | os.PathLike[str]) -> DeltaTable:
    """Open a table by its folder or its address, in the state that it has now."""
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise MissingExtraError("reading Delta Lake tables", "delta") from None
    name = os.fsdecode(data)
    with translate_errors(name_of(data), explain=_explain_delta):
        return DeltaTable(name if is_address(name) else str(path_of(name).absolute()))


# --- Iceberg -------------------------------------------------------------------------------------

_explain_iceberg = functools.partial(_describe_error, "an Iceberg")


def _of_iceberg(
    data: Any, wanted: int | dt.datetime | None, allow_external: object = False
) -> BatchFeeder:
    """Feed from a table of a folder, or of a catalog.

    The metadata in a folder name files anywhere, and may name the code that opens them: unless
    `allow_external`, files elsewhere are refused, and such settings ignored.
    """
    try:
        from pyiceberg.table import Table as IcebergTable
    except ImportError:
        raise MissingExtraError("reading Iceberg tables", "iceberg") from None
    is_sealed = not check_flag("allow_external", allow_external)
    is_open = isinstance(data, IcebergTable)
    source = "Iceberg table" if is_open else name_of(data)
    with translate_errors(source, explain=_explain_iceberg):
        table: Any = data if is_open else _open_iceberg(_metadata_of(source, data), is_sealed)
        number = _snapshot_in(source, table, wanted)
        if is_sealed and not is_open:
            _check_inside(source, path_of(data).resolve(), table, number)

    def reader(names: Sequence[str] = ()) -> Any:
        fields = tuple(names) or ("*",)
        return table.scan(snapshot_id=number, selected_fields=fields).to_arrow_batch_reader()

    return BatchFeeder(source, lambda: reader().schema, reader, _explain_iceberg)


def _open_iceberg(metadata: str, is_sealed: bool) -> Any:
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
    """Refuse a snapshot of which a file is not below the folder; each is checked, then opened."""

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


def _metadata_of(source: str, data: str | os.PathLike[str]) -> str:

    def number(path: Path) -> int:
        found = re.match(r"v?(\d{1,18})", path.name)
        return int(found[1]) if found else -1

    known = (path_of(data) / "metadata").glob("*.metadata.json")
    last = max(known, key=lambda path: (number(path), path.name), default=None)
    if last is None:
        raise SourceError(f"{source}: holds no metadata of an Iceberg table")
    return last.absolute().as_uri()


def _snapshot_in(source: str, table: Any, wanted: int | dt.datetime | None) -> int:
    """Return the number of the snapshot that is meant; it stays that one."""
    if wanted is None:
        found = table.current_snapshot()
    elif isinstance(wanted, dt.datetime):
        found = table.snapshot_as_of_timestamp(int(wanted.timestamp() * 1000))
    else:
        found = table.snapshot_by_id(wanted)
    if found is None:
        known = [snapshot.snapshot_id for snapshot in table.snapshots()]
        last = ", ".join(map(str, known[-3:])) or "none"
        asked = "" if wanted is None else f" {wanted}"
        raise SourceError(f"{source}: there is no snapshot{asked}; the last ones are: {last}")
    number: int = found.snapshot_id
    return number


# --- queries of polars and Ibis ------------------------------------------------------------------


def _of_polars(frame: polars.LazyFrame) -> BatchFeeder:
    """Feed from a query of polars by its streaming engine; it is never collected."""
    import polars
    from polars import selectors

    source = "polars LazyFrame"
    long = [getattr(polars, name) for name in ("Int128", "UInt128") if hasattr(polars, name)]

    def select(name: str, kind: Any) -> polars.Expr:
        """Select a column; whole numbers that Arrow has no type for are cast."""
        column = selectors.by_name(name).as_expr()  # unlike col, it takes no name for a pattern
        return column.cast(polars.Int64) if kind in long else column

    def to_arrow(frame: polars.DataFrame) -> pa.Table:
        """Turn a frame into Arrow with types that all versions of Arrow know."""
        return frame.to_arrow(compat_level=polars.CompatLevel.oldest())

    def types() -> dict[str, pa.DataType | str]:
        kinds: dict[str, pa.DataType | str] = {}
        for name, kind in frame.collect_schema().items():
            if "\0" in name:
                raise ColumnError(f"{source}: column {name!r} has a NUL in its name; rename it")
            kinds[name] = "Python objects"
            if kind != polars.Object:
                empty = polars.DataFrame(schema={name: kind}).lazy().select(select(name, kind))
                kinds[name] = to_arrow(empty.collect()).schema.types[0]
        return kinds

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        now = frame.collect_schema()
        found = frame.select(select(name, now.get(name)) for name in names).collect_batches(
            chunk_size=BATCH_ROWS, maintain_order=False, engine="streaming"
        )
        try:
            for batch in found:
                yield from to_arrow(batch).to_batches()
        except polars.exceptions.PolarsError as error:
            if "conversion from" not in str(error):
                raise
            raise ColumnError(
                f"{source}: {first_line(error)}, in one of the columns "
                f"{', '.join(map(repr, names))}; cast it to text or a float, or leave it out"
            ) from None
        finally:
            del found  # what ends the query when not all was read

    feeder = BatchFeeder(source, types, batches)
    feeder.frame_library = "polars"
    return feeder


def _of_ibis(table: IbisTable) -> Feeder:
    source = "Ibis query"
    with contextlib.suppress(Exception):  # whatever a backend makes of it; a query has no name
        source = f"{table.get_backend().name} {table.get_name()}"
    with translate_errors(source, explain=describe_error):
        backend = table.get_backend()
        if backend.name == "duckdb":  # whose newer versions lack the method that Ibis calls
            query, connection = table.compile(), backend.con
            return DuckFeeder(
                lambda: contextlib.nullcontext(connection.sql(query)), source, list(table.columns)
            )
        schema = table.schema().to_pyarrow()

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        promised = pa.schema([schema.field(name) for name in names])
        found = table.select(*names).to_pyarrow_batches(chunk_size=BATCH_ROWS)
        with contextlib.closing(found) as reader:
            for batch in reader:
                yield batch.cast(promised)

    return BatchFeeder(source, lambda: schema, batches, describe_error)
