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
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlying.errors import SourceError
from outlying.sources import arrow_arrays as types
from outlying.sources import registry
from outlying.sources.columns import unique_names
from outlying.sources.copies import InputFile, check_expanded
from outlying.sources.files import Files, check_spelling, check_unchanged, type_keys
from outlying.sources.passes import (
    BATCH_ROWS,
    Batch,
    Field,
    LocalFeeder,
    Shape,
    check_batch,
    collected,
    shape_of,
)
from outlying.sources.recognise import name_of, translate_errors
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


def read(data: InputFile | str) -> Table:
    """Read all usable columns of one file, here or on another machine by its address."""
    feeder = stream(data if isinstance(data, str) else Files(data.source, (data,)))
    feeder.check_size()
    return collected(feeder)


def stream(data: Files | str) -> ParquetFeeder:
    """Feed from files, or from a file, a pattern or a folder on another machine."""
    if isinstance(data, str):
        return ParquetFeeder(name_of(data), lambda: _places(data))
    return ParquetFeeder(data.source, lambda: _readable(data), data.notes)


def is_large(address: str) -> bool:
    """Return whether a file, a pattern or a folder is rather streamed than read into memory."""
    if _is_several(address):
        return True
    return (opened(address, is_part=True).state()[0] or 0) > registry.LARGE


def _is_several(address: str) -> bool:
    return is_several(address, registry.suffix_of(path_in(address), (".parquet",)))


def _readable(files: Files) -> Sequence[InputFile]:
    for file in files.files:
        check_magic(file.source, file.path)
    files.check_unchanged()
    return files.files


def _places(address: str) -> list[Place]:
    return expanded(address) if _is_several(address) else [opened(address, is_part=True)]


@contextlib.contextmanager
def _opened(file: InputFile | Place, **more: Any) -> Iterator[Any]:
    """Open a file that is read in small parts; of another machine, what Arrow asks for, no more.

    What is read lies in memory of the system's own making: Arrow's usual pool takes it in huge
    pages, and to have these zeroed takes longer than to read a large file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    place: Any
    usual = pa.default_memory_pool()
    with contextlib.ExitStack() as stack:
        if isinstance(file, InputFile):
            stack.enter_context(translate_errors(file.source, "pyarrow"))
            place, settings = file.path, {"buffer_size": _BUFFER}
        else:
            stack.enter_context(remote_errors(file.source, of_arrow=True))
            stream = file.files.open(file.path, "rb", block_size=1 << 20, cache_type="none")
            place, settings = stack.enter_context(stream), {"pre_buffer": True}
        pa.set_memory_pool(pa.system_memory_pool())  # which a reader keeps
        try:
            parquet = pq.ParquetFile(
                place, coerce_int96_timestamp_unit="us", **{"pre_buffer": False, **settings, **more}
            )
        finally:
            pa.set_memory_pool(usual)
        yield stack.enter_context(parquet)


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

    file: InputFile | Place
    state: tuple[int | None, object]  # when it was first looked at
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
        files: Callable[[], Sequence[InputFile | Place]],
        notes: Sequence[str] = (),
    ) -> None:
        """Feed from what `files` finds."""
        super().__init__(source)
        self._find, self._said = files, tuple(notes)

    def check_size(self) -> None:
        """Refuse files whose rows would need far more memory than they should."""
        cells = sum(contents.rows * len(contents.schema) for contents in self._contents)
        check_expanded(self.source, cells * _BYTES, sum(c.state[0] or 0 for c in self._contents))

    @functools.cached_property
    def _contents(self) -> list[_Contents]:

        contents = []
        for file in self._find():
            state = file.state()
            with _opened(file) as parquet:
                contents.append(_Contents(file, state, parquet.metadata, _schema_of(parquet)))
        return contents

    @functools.cached_property
    def _keys(self) -> dict[str, Any]:
        """The columns that folders give, a value for each file."""
        return type_keys([contents.file.keys for contents in self._contents])

    def _inspect(self) -> Shape:
        schemas = [contents.schema for contents in self._contents]
        for schema in schemas:
            unique_names(self.source, schema.names)
        names = list(dict.fromkeys(name for schema in schemas for name in schema.names))
        if len(schemas) > 1 or self._keys:
            check_spelling(self.source, [*names, *self._keys])
        unified = {name: self._unified(name) for name in names if name not in self._keys}
        kinds = {**unified, **{key: values.type for key, values in self._keys.items()}}
        shape = shape_of(self.source, kinds, notes=(*self._said, *self._notes(names)))
        as_stored = tuple(dataclasses.replace(field, type=field.comes) for field in shape.fields)
        return dataclasses.replace(shape, fields=as_stored)

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
                first = kind, values, contents.file.source
            elif first[1] != values:
                raise SourceError(
                    f"{self.source}: column {name!r} holds {first[1]} in {first[2]} and {values} "
                    f"in {contents.file.source}; write both alike, or name only files that fit "
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
            check_unchanged(self.source, contents.file, contents.state)
            yield from self._read_part(place, contents, fields)
            check_unchanged(self.source, contents.file, contents.state)

    def _read_part(
        self, number: int, contents: _Contents, fields: Sequence[Field]
    ) -> Generator[Batch, None, None]:

        rows = 0
        own = [
            f.name for f in fields if f.name in contents.schema.names and f.name not in self._keys
        ]
        if not own:
            for start in range(0, contents.rows, BATCH_ROWS):
                yield self._with_others(
                    None, min(BATCH_ROWS, contents.rows - start), number, fields
                )
            return
        coded = contents.coded(own)
        with _opened(contents.file, metadata=contents.metadata, read_dictionary=coded) as file:
            for batch in file.iter_batches(BATCH_ROWS, columns=own):
                batch = batch.select(own)
                check_batch(contents.file.source, batch, own, rows)
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
