"""Parquet, IPC (Feather) and ORC files, one or many: read by Arrow, batch by batch.

Files may lack columns that others have, which are missing values there; but numbers in one file and
texts in the next are no column. Parquet files may be on other machines.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
import struct
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeAlias

from outlying import sentences as say
from outlying.errors import SourceError
from outlying.parsing import pa
from outlying.sources import arrow_arrays as types
from outlying.sources import passes, registry
from outlying.sources.columns import unique_names
from outlying.sources.copies import CHUNK, InputFile, check_expanded
from outlying.sources.files import Files, check_spelling, check_unchanged, type_keys
from outlying.sources.passes import (
    Batch,
    Feeder,
    SourceField,
    SourceShape,
    collected,
    completed,
    pieces,
    shape_of,
)
from outlying.sources.recognise import name_of, translate_errors
from outlying.sources.remote import Place, find_places, is_several, open_place, remote_errors
from outlying.table.table import Table

File: TypeAlias = "InputFile | Place"

_BUFFER = 1 << 18  # bytes of a column that are read at a time
_SMALL = 1 << 16  # bytes of a dictionary with few labels
_BYTES = 8  # that a value takes in memory, or so
_IPC, _IPC_STREAM = b"ARROW1", b"\xff\xff\xff\xff"
_PACKED = re.compile(rb"\x28\xb5\x2f\xfd|\x04\x22\x4d\x18")  # how buffers by zstd and LZ4 begin
_MOST_BYTES = 1 << 40  # a larger buffer is not made
_VALUES = {
    "boolean": "booleans",
    **dict.fromkeys(("integer", "number"), "numbers"),
    "text": "texts",
    "date": "dates",
    "datetime": "timestamps",
    "instant": "timestamps with a zone",
    "time": "times of day",
    "duration": "durations",
}


def read(data: InputFile | str) -> Table:
    """Read all usable columns of one file, here or on another machine by its address."""
    feeder = stream(data if isinstance(data, str) else Files(data.source, (data,)))
    feeder.check_size()
    return collected(feeder)


def stream(data: Files | str) -> ArrowFeeder:
    """Feed from files, or from Parquet files on another machine: one, a pattern or a folder."""
    if not isinstance(data, str):
        look = {".parquet": _parquet, ".orc": _orc}.get(data.suffix, _ipc)
        return ArrowFeeder(data.source, lambda: map(look, data.unchanged_files()), data.notes)

    def places() -> list[Place]:
        return find_places(data) if is_several(data) else [open_place(data, is_part=True)]

    return ArrowFeeder(name_of(data), lambda: map(_parquet, places()))


def is_large(address: str) -> bool:
    """Return whether a file, a pattern or a folder is rather streamed than read into memory."""
    if is_several(address):
        return True
    return (open_place(address, is_part=True).state()[0] or 0) > registry.LARGE


# --- one file of each format ---------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class _Part:
    """A file as it was when it was first looked at, and what reads some of its columns."""

    file: File
    state: tuple[int | None, object]
    schema: pa.Schema
    rows: int  # 0: nobody knows
    batches: Callable[[Sequence[str]], Iterable[Batch]]


def _check_ends(file: InputFile, kind: str, start: bytes, end: bytes = b"", more: str = "") -> None:
    """Refuse what is cut off or of another format, in clearer words than the library's."""
    with file.path.open("rb") as stream:
        first = stream.read(len(start))
        stream.seek(max(0, file.size - len(end)))
        last = stream.read()
    if first != start:
        what = f"it does not start with {start.decode()}"
        raise SourceError(f"{file.source}: is not {kind} file ({what}){more}")
    if end and last != end:
        name = kind.split()[-1]
        raise SourceError(
            f"{file.source}: the {name} file is cut off (its end is missing); copy it again"
        )


def _arrow_errors(file: File) -> AbstractContextManager[None]:
    if isinstance(file, InputFile):
        return translate_errors(file.source, "pyarrow")
    return remote_errors(file.source, of_arrow=True)


def _parquet(file: File) -> _Part:
    state = file.state()
    if isinstance(file, InputFile):
        _check_ends(file, "a Parquet", b"PAR1", b"PAR1")
    with _open_parquet(file) as parquet:
        metadata, schema = parquet.metadata, _schema_of(parquet)

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        coded = _small_dictionaries(metadata, schema, names)
        with _open_parquet(file, metadata=metadata, read_dictionary=coded) as parquet:
            yield from parquet.iter_batches(passes.BATCH_ROWS, columns=names)

    return _Part(file, state, schema, metadata.num_rows, batches)


@contextlib.contextmanager
def _open_parquet(file: File, **more: Any) -> Iterator[Any]:
    """Open a file that is read in small parts; of another machine, what Arrow asks for, no more.

    It is read into memory of the system's own making: that Arrow's usual pool zeroes huge pages
    takes longer than to read a large file.
    """
    import pyarrow.parquet as pq

    usual = pa.default_memory_pool()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_arrow_errors(file))
        place: Any = file.path
        settings: dict[str, Any] = {"pre_buffer": False, "buffer_size": _BUFFER}
        if not isinstance(file, InputFile):
            stream = file.files.open(file.path, "rb", block_size=1 << 20, cache_type="none")
            place, settings = stack.enter_context(stream), {"pre_buffer": True}
        pa.set_memory_pool(pa.system_memory_pool())  # which a reader keeps
        try:
            parquet = pq.ParquetFile(place, coerce_int96_timestamp_unit="us", **settings, **more)
        finally:
            pa.set_memory_pool(usual)
        yield stack.enter_context(parquet)


def _schema_of(parquet: Any) -> Any:
    """Return the columns as they will come: intervals, bytes to Arrow, as durations."""
    schema = parquet.schema_arrow.remove_metadata()
    columns = map(parquet.schema.column, range(len(parquet.schema)))
    logical = {column.path: column.converted_type for column in columns}
    for place, field in enumerate(schema):
        if logical.get(field.name) == "INTERVAL":
            schema = schema.set(place, pa.field(field.name, pa.duration("us")))
    return schema


def _small_dictionaries(metadata: Any, schema: Any, names: Sequence[str]) -> list[str]:
    """Name the columns of texts that have a small dictionary: they stay as they are stored."""
    if not metadata.num_row_groups:
        return []
    group = metadata.row_group(0)
    small = set()
    for chunk in map(group.column, range(group.num_columns)):
        start = chunk.dictionary_page_offset
        if start is not None and 0 < chunk.data_page_offset - start <= _SMALL:
            small.add(chunk.path_in_schema)
    return [name for name in names if name in small and types.is_text(schema.field(name).type)]


def _ipc(file: InputFile) -> _Part:
    state, is_stream = file.state(), file.head().startswith(_IPC_STREAM)
    if not is_stream:
        more = "; older files of Feather have to be written anew"
        _check_ends(file, "an Arrow", _IPC, _IPC, more)
    check_expanded(file.source, _expanded(file.path), file.size)

    @contextlib.contextmanager
    def open_ipc(fields: list[int] | None = None) -> Iterator[Any]:
        """Open the file; it is not mapped into memory, as it may be cut off meanwhile."""
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        with _arrow_errors(file), pa.OSFile(str(file.path)) as stream:
            yield (pa.ipc.open_stream if is_stream else pa.ipc.open_file)(stream, options=options)

    with open_ipc() as reader:
        schema = reader.schema

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        with open_ipc([schema.get_field_index(name) for name in names]) as reader:
            count = None if is_stream else reader.num_record_batches
            yield from reader if count is None else map(reader.get_batch, range(count))

    return _Part(file, state, schema, 0, batches)


def _expanded(path: Path) -> int:
    """Return how many bytes the compressed buffers of a file say that they unpack to.

    Each is a number of 64 bits, aligned to these, and then a frame by its first bytes.
    """
    total = start = 0
    kept = b""
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            content = kept + chunk
            for found in _PACKED.finditer(content):
                place = found.start() - 8
                if place >= 0 and (start + place) % 8 == 0:
                    (size,) = struct.unpack_from("<q", content, place)
                    total += size if 0 < size < _MOST_BYTES else 0
            kept = content[-11:]  # what may be the beginning of one
            start += len(content) - len(kept)
    return total


def _orc(file: InputFile) -> _Part:
    from pyarrow import orc

    state = file.state()
    _check_ends(file, "an ORC", b"ORC")
    with _arrow_errors(file):
        stored = orc.ORCFile(file.path)
    check_expanded(file.source, stored.nrows * len(stored.schema) * _BYTES, file.size)

    def batches(names: Sequence[str]) -> Iterator[Batch]:
        rows = 0
        for stripe in range(stored.nstripes):
            batch = stored.read_stripe(stripe, columns=list(names))
            rows += batch.num_rows
            yield batch
        if rows != stored.nrows:
            raise OSError(f"{stored.nrows} rows were promised, {rows} are there")

    return _Part(file, state, stored.schema, stored.nrows, batches)


class ArrowFeeder(Feeder):
    """Files that are one table."""

    def __init__(
        self, source: str, look: Callable[[], Iterable[_Part]], notes: Sequence[str] = ()
    ) -> None:
        """Feed from the files at which `look` looks."""
        super().__init__(source)
        self._look, self._first_notes = look, tuple(notes)

    def check_size(self) -> None:
        """Refuse files whose rows would need far more memory than they should."""
        cells = sum(part.rows * len(part.schema) for part in self._parts)
        check_expanded(self.source, cells * _BYTES, sum(p.state[0] or 0 for p in self._parts))

    @functools.cached_property
    def _parts(self) -> list[_Part]:
        return list(self._look())

    @functools.cached_property
    def _keys(self) -> dict[str, Any]:
        """The columns that folders give, a value for each file."""
        return type_keys([part.file.keys for part in self._parts])

    def _inspect(self) -> SourceShape:
        counts = Counter(
            name for part in self._parts for name in unique_names(self.source, part.schema.names)
        )
        if len(self._parts) > 1 or self._keys:
            check_spelling(self.source, [*counts, *self._keys])
        kinds = {name: self._type_of(name) for name in counts if name not in self._keys}
        kinds |= {key: values.type for key, values in self._keys.items()}
        shape = shape_of(self.source, kinds, notes=(*self._first_notes, *self._notes(counts)))
        as_stored = tuple(dataclasses.replace(field, type=field.comes) for field in shape.fields)
        return dataclasses.replace(shape, fields=as_stored)

    def _type_of(self, name: str) -> Any:
        """Return the type of a column in all files, which must fit together."""
        common, sort, first = pa.null(), "", ""
        for part in self._parts:
            if name not in part.schema.names:
                continue
            kind, file = part.schema.field(name).type, part.file.source
            values = _VALUES.get(types.form_of(kind), "lists or records")
            if pa.types.is_null(kind):
                continue
            if first and sort != values:
                raise SourceError(
                    f"{self.source}: column {name!r} holds {sort} in {first} and {values} in "
                    f"{file}; write both alike, or name only files that fit together"
                )
            common = _common(common, kind) if first else kind
            sort, first = values, first or file
        return common

    def _notes(self, counts: Counter[str]) -> list[str]:
        files = len(self._parts)
        lacking = [
            say.COLUMN_HOLDS.format(
                column=repr(name), said=say.NOT_IN_ALL_FILES.format(some=count, files=files)
            )
            for name, count in counts.items()
            if count < files and name not in self._keys
        ]
        return lacking + [
            say.COLUMN_HOLDS.format(column=repr(key), said=say.KEY_TWICE)
            for key in self._keys
            if key in counts
        ]

    def _read(self, fields: Sequence[SourceField]) -> Generator[Batch, None, None]:
        for number, part in enumerate(self._parts):
            check_unchanged(self.source, part.file, part.state)
            stored = [name for name in part.schema.names if name not in self._keys]
            wanted = {field.name for field in fields}
            own = [name for name in stored if name in wanted] or part.schema.names[:1]
            rows = 0
            with _arrow_errors(part.file):
                for batch in part.batches(own):
                    for piece in pieces(part.file.source, batch.select(own), rows):
                        values = {key: of_files[number] for key, of_files in self._keys.items()}
                        yield completed(piece, fields, values)
                    rows += batch.num_rows
            check_unchanged(self.source, part.file, part.state)

    def _total(self) -> int:
        return sum(part.rows for part in self._parts) or self._rows


def _common(one: Any, other: Any) -> Any:
    """Return a type that holds the values of two others of the same sort."""
    fields = [pa.schema([("x", kind)]) for kind in (one, other)]
    try:
        return pa.unify_schemas(fields, promote_options="permissive").field("x").type
    except pa.ArrowTypeError:
        is_number = pa.types.is_floating(one) or pa.types.is_decimal(one)
        return pa.float64() if is_number else pa.large_string()
