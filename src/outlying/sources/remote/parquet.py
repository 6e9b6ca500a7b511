"""Parquet files on other machines: their footers, then the column chunks that are asked for."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Generator, Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from outlying.errors import SourceError
from outlying.sources import registry
from outlying.sources.arrow.feeder import fields_of, pieces
from outlying.sources.arrow.reading import arrow_errors, check_arrow, read_file, usable
from outlying.sources.compression import check_expanded
from outlying.sources.local import BATCH_ROWS, Field, LocalFeeder, Shape, changed
from outlying.sources.passes import Batch
from outlying.sources.recognise import name_of
from outlying.sources.remote.copying import expanded, is_several, path_in
from outlying.sources.remote.opening import Place, opened, quiet, told
from outlying.sources.sql import first_line
from outlying.table.table import Table

if TYPE_CHECKING:
    import pyarrow

_BYTES = 8  # that a value takes in memory, or so


def read(address: str) -> Table:
    """Read the columns of one file that can be used."""
    check_arrow("Parquet files of other machines")
    place = opened(address, is_part=True)
    with _told(place.source), RemoteParquet.opened(place) as file:
        size = place.state()[0] or 0
        check_expanded(place.source, file.rows * len(file.schema) * _BYTES, size)
        return read_file(place.source, file, size)


def stream(address: str) -> RemoteFeeder:
    """Feed from a file, a pattern or a folder."""
    return RemoteFeeder(address)


def is_large(address: str) -> bool:
    """Return whether a file, a pattern or a folder is rather streamed than read into memory."""
    if _is_several(address):
        return True
    return (opened(address, is_part=True).state()[0] or 0) > registry.LARGE


def _is_several(address: str) -> bool:
    return is_several(address, registry.suffix_of(PurePosixPath(path_in(address)), (".parquet",)))


@contextlib.contextmanager
def _told(source: str) -> Iterator[None]:
    """Tell errors of Arrow in its words, which know no address, and others in ours."""
    with told(source), quiet(), arrow_errors(source, reason=_reason):
        yield


def _reason(error: Exception) -> str:
    import pyarrow

    said = first_line(error)
    is_arrows = isinstance(error, pyarrow.ArrowException) or type(error) is OSError
    if not is_arrows or getattr(error, "errno", None) is not None or "://" in said:
        raise error  # of the file system: for `told`
    return said


class RemoteParquet:
    """A Parquet file of another machine."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.schema: pyarrow.Schema = file.schema_arrow
        self.rows: int = file.metadata.num_rows

    @classmethod
    @contextlib.contextmanager
    def opened(cls, place: Place) -> Iterator[RemoteParquet]:
        """Open a file; what Arrow asks for is asked for, no byte more."""
        import pyarrow.parquet

        with place.files.open(place.path, "rb", block_size=1 << 20, cache_type="none") as stream:
            yield cls(pyarrow.parquet.ParquetFile(stream, pre_buffer=True))

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Read some columns, one group of rows after the other."""
        for group in range(self._file.num_row_groups):
            found = self._file.iter_batches(BATCH_ROWS, row_groups=[group], columns=list(columns))
            for batch in found:
                yield batch.select(columns)


class RemoteFeeder(LocalFeeder):
    """Parquet files on other machines that are one table."""

    def __init__(self, address: str) -> None:
        super().__init__(name_of(address))
        self._address = address

    @functools.cached_property
    def _places(self) -> list[Place]:
        address = self._address
        return expanded(address) if _is_several(address) else [opened(address, is_part=True)]

    def _inspect(self) -> Shape:
        self._states = [place.state() for place in self._places]
        schemas = []
        for place in self._places:
            with _told(place.source), RemoteParquet.opened(place) as file:
                schemas.append(file.schema.remove_metadata())
        for place, schema in zip(self._places, schemas, strict=True):
            if not schema.equals(schemas[0]):
                raise SourceError(
                    f"{self.source}: {place.source} has other columns than "
                    f"{self._places[0].source}; write all files alike"
                )
        names, unused = usable(self.source, schemas[0])
        return Shape(fields_of(schemas[0], names), tuple(unused))

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        names = [field.name for field in fields or self.shape.fields[:1]]
        for place, state in zip(self._places, self._states, strict=True):
            if place.state() != state:
                raise changed(self.source, f"{place.source} was written to")
            with _told(place.source), RemoteParquet.opened(place) as file:
                rows = 0
                for batch in file.batches(names):
                    yield from pieces(place.source, batch, rows)
                    rows += batch.num_rows
