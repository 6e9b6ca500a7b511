"""Parquet files, one or many, here or on other machines: read by Arrow, batch by batch.

Files may lack columns that others have, which are missing values there. A column must hold the
same sort of values in all of them: numbers in one file and texts in the next are no column.
Folders may give columns (key=value), typed by the values of all of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from outlying.errors import SourceError
from outlying.sources import arrow_types as types
from outlying.sources import registry
from outlying.sources.columns import skipped, unique_names
from outlying.sources.decoding import check_expanded
from outlying.sources.faults import translate_errors
from outlying.sources.local import (
    BATCH_ROWS,
    Field,
    LocalFeeder,
    Shape,
    changed,
    check_batch,
    collected,
)
from outlying.sources.passes import Batch
from outlying.sources.paths import Files, InputFile, check_spelling, type_keys
from outlying.sources.recognise import name_of
from outlying.sources.remote import Place, expanded, is_several, opened, path_in, remote_errors
from outlying.table.table import Table

if TYPE_CHECKING:
    import pyarrow

_BUFFER = 1 << 18  # bytes of a column that are read at a time
_SMALL = 1 << 16  # bytes of a dictionary with few labels
_BYTES = 8  # that a value takes in memory, or so
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


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A file of the table: what messages call it, how it is opened, what its folders say."""

    name: str
    open: Callable[[], AbstractContextManager[Any]]
    """Opens what Arrow reads from: a path, or a stream."""
    errors: Callable[[], AbstractContextManager[None]]
    """Turns errors of whoever reads into ours."""
    size: int
    keys: tuple[tuple[str, str | None], ...] = ()
    check_unchanged: Callable[[], None] = lambda: None


def read(data: InputFile | str) -> Table:
    """Read all usable columns of one file, here or on another machine by its address."""
    feeder = stream(data if isinstance(data, str) else Files(data.source, (data,)))
    feeder.check_size()
    return collected(feeder)


def stream(data: Files | str) -> ParquetFeeder:
    """Feed from files, or from a file, a pattern or a folder on another machine."""
    if isinstance(data, str):
        return ParquetFeeder(name_of(data), lambda: _remote_parts(data))
    return ParquetFeeder(data.source, lambda: _local_parts(data), data.notes)


def is_large(address: str) -> bool:
    """Return whether a file, a pattern or a folder is rather streamed than read into memory."""
    if _is_several(address):
        return True
    return (opened(address, is_part=True).state()[0] or 0) > registry.LARGE


def _is_several(address: str) -> bool:
    return is_several(address, registry.suffix_of(PurePosixPath(path_in(address)), (".parquet",)))


def _local_parts(files: Files) -> list[Part]:
    for file in files.files:
        check_magic(file.source, file.path)
    return [_local_part(files, file) for file in files.files]


def _local_part(files: Files, file: InputFile) -> Part:
    return Part(
        file.source,
        lambda: contextlib.nullcontext(file.path),
        lambda: translate_errors(file.source, "pyarrow"),
        file.size,
        file.keys,
        files.check_unchanged,
    )


def _remote_parts(address: str) -> list[Part]:
    places = expanded(address) if _is_several(address) else [opened(address, is_part=True)]
    return [_remote_part(name_of(address), place) for place in places]


def _remote_part(source: str, place: Place) -> Part:
    """Describe a file of another machine; what Arrow asks for is asked for, no byte more."""
    state = place.state()

    def check_unchanged() -> None:
        if place.state() != state:
            raise changed(source, f"{place.source} was written to")

    def open_stream() -> AbstractContextManager[Any]:
        stream: AbstractContextManager[Any] = place.files.open(
            place.path, "rb", block_size=1 << 20, cache_type="none"
        )
        return stream

    def errors() -> AbstractContextManager[None]:
        return remote_errors(place.source, of_arrow=True)

    return Part(place.source, open_stream, errors, state[0] or 0, (), check_unchanged)


def check_magic(source: str, path: Path) -> None:
    """Refuse what is cut off or no Parquet file at all, in clearer words than the library's."""
    with path.open("rb") as stream:
        start = stream.read(4)
        stream.seek(max(0, path.stat().st_size - 4))
        end = stream.read(4)
    if start != b"PAR1":
        raise SourceError(f"{source}: is not a Parquet file (it does not start with PAR1)")
    if end != b"PAR1":
        raise SourceError(
            f"{source}: the Parquet file is cut off (its end is missing); copy it again"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class _Contents:
    """What the footer of a file tells."""

    part: Part
    metadata: Any
    schema: pyarrow.Schema

    @property
    def rows(self) -> int:
        rows: int = self.metadata.num_rows
        return rows

    def sizes(self) -> Counter[str]:
        """Return the compressed bytes of every column."""
        found: Counter[str] = Counter()
        for number in range(self.metadata.num_row_groups):
            group = self.metadata.row_group(number)
            for place in range(group.num_columns):
                chunk = group.column(place)
                found[chunk.path_in_schema] += chunk.total_compressed_size
        return found

    def coded(self, names: Sequence[str]) -> list[str]:
        """Name the columns of texts that have a small dictionary: they stay as they are stored."""
        if not self.metadata.num_row_groups:
            return []
        first = self.metadata.row_group(0)
        chunks = (first.column(place) for place in range(first.num_columns))
        small = {chunk.path_in_schema for chunk in chunks if _has_small_dictionary(chunk)}
        plain = {field.name for field in self.schema if types.is_text(field.type)}
        return [name for name in names if name in small & plain]


def _has_small_dictionary(chunk: Any) -> bool:
    start = chunk.dictionary_page_offset
    return start is not None and 0 < chunk.data_page_offset - start <= _SMALL


class ParquetFeeder(LocalFeeder):
    """Parquet files that are one table."""

    def __init__(
        self,
        source: str,
        parts: Callable[[], list[Part]],
        notes: Sequence[str] = (),
    ) -> None:
        """Feed from what `parts` finds."""
        super().__init__(source)
        self._find, self._said = parts, tuple(notes)

    def check_size(self) -> None:
        """Refuse files whose rows would need far more memory than they should."""
        cells = sum(contents.rows * len(contents.schema) for contents in self._contents)
        check_expanded(self.source, cells * _BYTES, sum(c.part.size for c in self._contents))

    @functools.cached_property
    def _contents(self) -> list[_Contents]:

        contents = []
        for part in self._find():
            part.check_unchanged()
            with part.errors(), part.open() as place, self._opened(place) as file:
                contents.append(_Contents(part, file.metadata, _schema_of(file)))
        return contents

    def _opened(self, place: Any, **more: Any) -> Any:
        """Open a file that is read in small parts, a stream as it asks for.

        What is read lies in memory of the system's own making: Arrow's usual pool takes it in huge
        pages, and to have these zeroed takes longer than to read a large file.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        is_path, usual = isinstance(place, Path), pa.default_memory_pool()
        settings = {"buffer_size": _BUFFER} if is_path else {}
        pa.set_memory_pool(pa.system_memory_pool())  # which a reader keeps
        try:
            return pq.ParquetFile(
                place, pre_buffer=not is_path, coerce_int96_timestamp_unit="us", **settings, **more
            )
        finally:
            pa.set_memory_pool(usual)

    @functools.cached_property
    def _keys(self) -> dict[str, Any]:
        """The columns that folders give, a value for each file."""
        return type_keys([dict(contents.part.keys) for contents in self._contents])

    def _inspect(self) -> Shape:
        schemas = [contents.schema for contents in self._contents]
        for schema in schemas:
            unique_names(self.source, schema.names)
        names = list(dict.fromkeys(name for schema in schemas for name in schema.names))
        if len(schemas) > 1 or self._keys:
            check_spelling(self.source, [*names, *self._keys])
        unified = {name: self._unified(name) for name in names if name not in self._keys}
        kinds = {**unified, **{key: values.type for key, values in self._keys.items()}}
        reasons = {name: types.unusable(kind) for name, kind in kinds.items()}
        fields = [Field(n, n, kinds[n], kinds[n]) for n, what in reasons.items() if what is None]
        unused = [skipped(name, what) for name, what in reasons.items() if what is not None]
        return Shape(tuple(fields), tuple(unused), (*self._said, *self._notes(names)))

    def _unified(self, name: str) -> Any:
        """Return the type of a column in all files, which must fit together."""
        import pyarrow as pa

        first: tuple[Any, str, str] | None = None
        for contents in self._contents:
            if name not in contents.schema.names:
                continue
            kind = contents.schema.field(name).type
            form = types.form_of(kind)
            values = _VALUES.get(form, "lists or records")
            if pa.types.is_null(kind):
                continue
            if first is None:
                first = kind, values, contents.part.name
            elif first[1] != values:
                raise SourceError(
                    f"{self.source}: column {name!r} holds {first[1]} in {first[2]} and {values} "
                    f"in {contents.part.name}; write both alike, or name only files that fit "
                    "together"
                )
            elif first[0] != kind:
                first = _common(first[0], kind), *first[1:]
        return pa.null() if first is None else first[0]

    def _notes(self, names: Sequence[str]) -> list[str]:
        """Say which columns are not in all files, or in the names of their folders as well."""
        files = len(self._contents)
        counts = Counter(name for contents in self._contents for name in contents.schema.names)
        lacking = [
            f"column {name!r}: not in {files - counts[name]} of {files} files, read as missing "
            "there"
            for name in names
            if counts[name] < files and name not in self._keys
        ]
        return lacking + [
            f"column {key!r}: in the files and in the names of their folders, which are taken"
            for key in self._keys
            if key in counts
        ]

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        for place, contents in enumerate(self._contents):
            contents.part.check_unchanged()
            yield from self._read_part(place, contents, fields)
            contents.part.check_unchanged()

    def _read_part(
        self, number: int, contents: _Contents, fields: Sequence[Field]
    ) -> Generator[Batch, None, None]:

        part, rows = contents.part, 0
        own = [
            f.name for f in fields if f.name in contents.schema.names and f.name not in self._keys
        ]
        if not own:
            for start in range(0, contents.rows, BATCH_ROWS):
                yield self._with_others(
                    None, min(BATCH_ROWS, contents.rows - start), number, fields
                )
            return
        with (
            part.errors(),
            part.open() as place,
            self._opened(
                place, metadata=contents.metadata, read_dictionary=contents.coded(own)
            ) as file,
        ):
            for batch in file.iter_batches(BATCH_ROWS, columns=own):
                batch = batch.select(own)
                check_batch(part.name, batch, own, rows)
                rows += batch.num_rows
                yield self._with_others(batch, batch.num_rows, number, fields)

    def _with_others(
        self, batch: Batch | None, rows: int, number: int, fields: Sequence[Field]
    ) -> Batch:
        """Return a batch with columns of folders, and of other files."""
        import pyarrow as pa

        arrays = []
        for field in fields:
            if field.name in self._keys:
                arrays.append(pa.repeat(self._keys[field.name][number], rows))
            elif batch is None or field.name not in batch.schema.names:
                arrays.append(pa.nulls(rows, field.comes))
            else:
                arrays.append(types.as_type(batch.column(field.name), field.comes))
        if not arrays:
            return pa.RecordBatch.from_arrays([pa.nulls(rows)], ["nothing"]).select([])
        return pa.RecordBatch.from_arrays(arrays, [field.name for field in fields])

    def _bytes(self, fields: Sequence[Field]) -> int:
        return sum(self._sizes[field.name] for field in fields)

    @functools.cached_property
    def _sizes(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for contents in self._contents:
            found.update(contents.sizes())
        return found

    def _total(self) -> int:
        return sum(contents.rows for contents in self._contents)


def _schema_of(file: Any) -> Any:
    """Return the columns as they will come: intervals, bytes to Arrow, as durations."""
    import pyarrow as pa

    schema = file.schema_arrow.remove_metadata()
    logical = {
        column.path: column.converted_type
        for column in map(file.schema.column, range(len(file.schema)))
    }
    for place, field in enumerate(schema):
        if logical.get(field.name) == "INTERVAL":
            schema = schema.set(place, pa.field(field.name, pa.duration("us")))
    return schema


def _common(one: Any, other: Any) -> Any:
    """Return a type that holds the values of two others of the same sort."""
    import pyarrow as pa

    fields = [pa.schema([("x", kind)]) for kind in (one, other)]
    try:
        return pa.unify_schemas(fields, promote_options="permissive").field("x").type
    except pa.ArrowTypeError:
        return (
            pa.float64()
            if pa.types.is_floating(one) or pa.types.is_decimal(one)
            else pa.large_string()
        )
