"""Files that Arrow reads batch by batch: IPC files (Feather), IPC streams and ORC."""

from __future__ import annotations

import contextlib
import re
import struct
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlying.errors import SourceError
from outlying.sources.copies import CHUNK, InputFile, check_expanded
from outlying.sources.files import Files
from outlying.sources.passes import (
    Batch,
    Field,
    LocalFeeder,
    Shape,
    collected,
    pieces,
    shape_of,
)
from outlying.sources.recognise import translate_errors
from outlying.table.table import Table

if TYPE_CHECKING:
    import pyarrow

FILE, STREAM, ORC = b"ARROW1", b"\xff\xff\xff\xff", b"ORC"
"""How the files begin."""

_PACKED = re.compile(rb"\x28\xb5\x2f\xfd|\x04\x22\x4d\x18")  # how buffers by zstd and LZ4 begin
_MOST_BYTES = 1 << 40  # a larger buffer is not made
_BYTES = 8  # that a value takes in memory, or so


def read(file: InputFile) -> Table:
    """Read all columns of one file."""
    return collected(stream(Files(file.source, (file,))))


def stream(files: Files) -> ArrowFeeder:
    """Feed from files."""
    return ArrowFeeder(files, OrcFile if files.suffix == ".orc" else IpcFile)


class ArrowFeeder(LocalFeeder):
    """Files that are one table, all of the same columns."""

    def __init__(self, files: Files, opened: type[IpcFile] | type[OrcFile]) -> None:
        super().__init__(files.source)
        if files.keys:
            raise SourceError(
                f"{files.source}: folders give keys to its files (key=value), which is known of "
                "Parquet and CSV files only; name the files of one folder"
            )
        self._files = files
        self._opened = opened

    def _inspect(self) -> Shape:
        with translate_errors(self.source, "pyarrow"):
            schemas = [self._opened(file.source, file.path).schema for file in self._files.files]
            shape = shape_of(self.source, schemas[0], notes=self._files.notes)
        for file, schema in zip(self._files.files, schemas, strict=True):
            if not schema.equals(schemas[0]):
                raise SourceError(
                    f"{self.source}: {file.source} has other columns than "
                    f"{self._files.files[0].source}; write all files alike"
                )
        return shape

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        self._files.check_unchanged()
        names = [field.name for field in fields or self.raw_shape.fields[:1]]
        with translate_errors(self.source, "pyarrow"):
            for file in self._files.files:
                rows = 0
                for batch in self._opened(file.source, file.path).batches(names):
                    yield from pieces(file.source, batch, rows)
                    rows += batch.num_rows
        self._files.check_unchanged()

    def _bytes(self, fields: Sequence[Field]) -> int:  # noqa: ARG002
        return self._files.size


class IpcFile:
    """An IPC file or an IPC stream."""

    def __init__(self, source: str, path: Path) -> None:
        self._source, self._path = source, path
        self._size = path.stat().st_size
        with path.open("rb") as stream:
            start = stream.read(len(FILE))
            stream.seek(max(0, self._size - len(FILE)))
            end = stream.read()
        self._is_file = start == FILE
        if not self._is_file and not start.startswith(STREAM):
            raise SourceError(
                f"{source}: is not an Arrow file (it does not start with ARROW1); older files of "
                "Feather have to be written anew"
            )
        if self._is_file and end != FILE:
            raise SourceError(
                f"{source}: the Arrow file is cut off (its end is missing); copy it again"
            )
        with translate_errors(source, "pyarrow"), self._opened(None) as reader:
            self.schema: pyarrow.Schema = reader.schema

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Read some columns, batch by batch; before that, add up what buffers will take."""
        check_expanded(self._source, _expanded(self._path), self._size)
        with self._opened([self.schema.get_field_index(name) for name in columns]) as reader:
            number = reader.num_record_batches if self._is_file else None
            for batch in reader if number is None else map(reader.get_batch, range(number)):
                yield batch.select(columns)

    @contextlib.contextmanager
    def _opened(self, fields: list[int] | None) -> Iterator[Any]:
        """Open the file; it is not mapped into memory, as it may be cut off meanwhile."""
        import pyarrow
        from pyarrow import ipc

        options = ipc.IpcReadOptions(included_fields=fields)
        with pyarrow.OSFile(str(self._path)) as file:
            yield (ipc.open_file if self._is_file else ipc.open_stream)(file, options=options)


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


class OrcFile:
    """An ORC file."""

    def __init__(self, source: str, path: Path) -> None:
        from pyarrow import orc

        with path.open("rb") as stream:
            if stream.read(len(ORC)) != ORC:
                raise SourceError(f"{source}: is not an ORC file (it does not start with ORC)")
        with translate_errors(source, "pyarrow"):
            self._file = orc.ORCFile(path)
            self.schema: pyarrow.Schema = self._file.schema
        cells = self._file.nrows * len(self.schema)
        check_expanded(source, cells * _BYTES, path.stat().st_size)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Read some columns, stripe by stripe."""
        rows = 0
        for stripe in range(self._file.nstripes):
            batch = self._file.read_stripe(stripe, columns=list(columns))
            rows += batch.num_rows
            yield batch.select(columns)
        if rows != self._file.nrows:
            raise OSError(f"{self._file.nrows} rows were promised, {rows} are there")
