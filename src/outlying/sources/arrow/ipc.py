"""Files of Arrow itself: IPC files (Feather) and IPC streams.

Buffers may be compressed, and say themselves how large they will be: that is summed up before any
is unpacked.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from outlying.errors import SourceError
from outlying.sources.arrow.feeder import ArrowFeeder
from outlying.sources.arrow.reading import arrow_errors, check_arrow, read_file
from outlying.sources.compression import check_expanded
from outlying.sources.files import InputFile
from outlying.sources.passes import Batch
from outlying.sources.paths import Files
from outlying.table.table import Table

if TYPE_CHECKING:
    import pyarrow

FILE, STREAM = b"ARROW1", b"\xff\xff\xff\xff"
"""How IPC files and IPC streams begin."""

_DICTIONARY = 2  # the kind of message that holds the labels of a column


def read(file: InputFile) -> Table:
    """Read all columns of one file."""
    check_arrow("Arrow files")
    with arrow_errors(file.source):
        return read_file(file.source, IpcFile(file.source, file.path), file.path.stat().st_size)


def stream(files: Files) -> ArrowFeeder:
    """Feed from files."""
    return ArrowFeeder(files, IpcFile)


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
        with arrow_errors(source), self._opened(None) as reader:
            self.schema: pyarrow.Schema = reader.schema

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Read some columns, batch by batch."""
        self._check_sizes()
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

    def _check_sizes(self) -> None:
        expanded = 0
        try:
            with self._path.open("rb") as stream:
                for head, start in self._messages(stream):
                    expanded += _expanded(head, start, stream)
                    check_expanded(self._source, expanded, self._size)
        except (struct.error, IndexError, ValueError, OverflowError) as error:
            raise SourceError(f"{self._source}: cannot be read: {error}") from None

    def _messages(self, stream: BinaryIO) -> Iterator[tuple[bytes, int]]:
        """Return the head of each batch of rows or labels, and where its body starts."""
        if not self._is_file:
            yield from _messages_from(stream)
            return
        stream.seek(self._size - 10)
        (length,) = struct.unpack("<i", stream.read(4))
        footer = _Node.root(_part(stream, self._size - 10 - length, length))
        for place in (2, 3):  # labels, rows
            for start in footer.structs(place, 24):
                offset, prefix, _ = struct.unpack_from("<qi4xq", footer.buffer, start)
                head = _part(stream, offset, prefix)
                yield head[8 if head.startswith(STREAM) else 4 :], offset + prefix


def _part(stream: BinaryIO, start: int, length: int) -> bytes:
    """Read a part of a file, or less where the file ends; lengths in a file may lie."""
    size = os.fstat(stream.fileno()).st_size
    stream.seek(min(max(0, start), size))
    return stream.read(max(0, min(length, size - start)))


def _messages_from(stream: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Return the heads of all messages, one behind the other, and where their bodies start."""
    place = 0
    while len(prefix := _part(stream, place, 8)) == 8:
        (length,) = struct.unpack("<4xi", prefix)
        if length <= 0:
            return
        head = _part(stream, place + 8, length)
        yield head, place + 8 + length
        body = _Node.root(head).number(3)
        if body < 0:
            return
        place += 8 + length + body


def _expanded(head: bytes, start: int, stream: BinaryIO) -> int:
    """Return how many bytes a batch takes when its buffers are unpacked."""
    message = _Node.root(head)
    batch = message.child(2)
    if batch is not None and message.byte(1) == _DICTIONARY:
        batch = batch.child(1)
    if batch is None or batch.place(3) is None:  # a schema, or a batch that is not compressed
        return 0
    spans = (struct.unpack_from("<qq", batch.buffer, at) for at in batch.structs(2, 16))
    parts = (_part(stream, start + at, 8) for at, length in spans if length >= 8)
    return sum(max(0, struct.unpack("<q", part)[0]) for part in parts)


class _Node:
    """A table of a FlatBuffer: its fields are found by their number."""

    def __init__(self, buffer: bytes, start: int) -> None:
        self.buffer, self._start = buffer, start
        self._fields = start - struct.unpack_from("<i", buffer, start)[0]

    @classmethod
    def root(cls, buffer: bytes) -> _Node:
        return cls(buffer, struct.unpack_from("<I", buffer)[0])

    def place(self, field: int) -> int | None:
        """Return where a field is; None: it has none."""
        (size,) = struct.unpack_from("<H", self.buffer, self._fields)
        at = 4 + 2 * field
        offset = struct.unpack_from("<H", self.buffer, self._fields + at)[0] if at < size else 0
        return self._start + offset if offset else None

    def byte(self, field: int) -> int:
        place = self.place(field)
        return 0 if place is None else self.buffer[place]

    def number(self, field: int) -> int:
        place = self.place(field)
        return 0 if place is None else int(struct.unpack_from("<q", self.buffer, place)[0])

    def child(self, field: int) -> _Node | None:
        place = self.place(field)
        return None if place is None else _Node(self.buffer, self._target(place))

    def structs(self, field: int, size: int) -> Iterator[int]:
        """Return where the items of a list are that take so many bytes each."""
        place = self.place(field)
        if place is not None:
            start = self._target(place)
            (count,) = struct.unpack_from("<I", self.buffer, start)
            yield from (start + 4 + size * number for number in range(count))

    def _target(self, place: int) -> int:
        return place + int(struct.unpack_from("<I", self.buffer, place)[0])
