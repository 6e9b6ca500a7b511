"""Lazy frames of polars, by its streaming engine: never collected, only the asked columns read."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from outlying.errors import ColumnError, SourceError
from outlying.sources.columns import skipped
from outlying.sources.local import BATCH_ROWS, Field, LocalFeeder, Shape
from outlying.sources.passes import Batch
from outlying.sources.sql import first_line, plain_errors
from outlying.sources.types.polars import arrow_type, selected, to_arrow, unusable

if TYPE_CHECKING:
    import polars

_SOURCE = "polars LazyFrame"
_OLDEST = (1, 38)


def stream(frame: polars.LazyFrame) -> LazyFeeder:
    """Feed from a query of polars."""
    return LazyFeeder(frame)


class LazyFeeder(LocalFeeder):
    """A query of polars that has not run yet; it runs once for every scan."""

    frame_library = "polars"

    def __init__(self, frame: polars.LazyFrame) -> None:
        super().__init__(_SOURCE)
        _check_version()
        self._frame = frame

    def _inspect(self) -> Shape:
        fields, unused = [], []
        with self._plain_errors():
            schema = self._frame.collect_schema()
        for name, kind in schema.items():
            if "\0" in name:
                raise ColumnError(
                    f"{self.source}: column {name!r} has a NUL in its name; rename it"
                )
            what = unusable(kind)
            if what is None:
                comes = arrow_type(kind)
                fields.append(Field(name, name, comes, comes))
            else:
                unused.append(skipped(name, what))
        return Shape(tuple(fields), tuple(unused))

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        names = [field.name for field in fields or self.raw_shape.fields[:1]]
        with self._plain_errors(names):
            now = self._frame.collect_schema()
            frame = self._frame.select(selected(name, now.get(name)) for name in names)
            batches = frame.collect_batches(
                chunk_size=BATCH_ROWS, maintain_order=False, engine="streaming"
            )
            try:
                for batch in batches:
                    yield from to_arrow(batch).to_batches()
            finally:
                del batches  # what ends the query when not all was read

    @contextlib.contextmanager
    def _plain_errors(self, names: Sequence[str] = ()) -> Iterator[None]:
        from polars.exceptions import InvalidOperationError, PolarsError

        with plain_errors(self.source, PolarsError, OSError):
            try:
                yield
            except InvalidOperationError as error:
                if "conversion from" not in str(error):
                    raise
                raise ColumnError(
                    f"{self.source}: {first_line(error)}, in one of the columns "
                    f"{', '.join(map(repr, names))}; cast it to text or a float, or leave it out"
                ) from None


def _check_version() -> None:
    """Refuse older versions, whose batches just end where the query fails."""
    import polars

    version = tuple(int(part) for part in polars.__version__.split(".")[:2])
    if version < _OLDEST:
        raise SourceError(
            f"polars {polars.__version__} cannot read a LazyFrame in batches; install polars "
            f"{_OLDEST[0]}.{_OLDEST[1]} or later, or collect the frame first"
        )
