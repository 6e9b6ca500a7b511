"""ORC files, stripe by stripe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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

_BYTES = 8  # that a value takes in memory, or so


def read(file: InputFile) -> Table:
    """Read all columns of one file."""
    check_arrow("ORC files")
    with arrow_errors(file.source):
        return read_file(file.source, OrcFile(file.source, file.path), file.path.stat().st_size)


def stream(files: Files) -> ArrowFeeder:
    """Feed from files."""
    return ArrowFeeder(files, OrcFile)


class OrcFile:
    """An ORC file."""

    def __init__(self, source: str, path: Path) -> None:
        from pyarrow import orc

        with path.open("rb") as stream:
            if stream.read(3) != b"ORC":
                raise SourceError(f"{source}: is not an ORC file (it does not start with ORC)")
        with arrow_errors(source):
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
