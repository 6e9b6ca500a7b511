"""Lazy frames of polars, by its streaming engine: never collected, only the asked columns read."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from outlying.errors import ColumnError, SourceError
from outlying.sources.columns import skip_reason
from outlying.sources.local import BATCH_ROWS, Field, LocalFeeder, Shape
from outlying.sources.passes import Batch
from outlying.sources.types.arrow_names import unusable
from outlying.table.table import SkippedColumn

if TYPE_CHECKING:
    import polars
    import pyarrow

_SOURCE = "polars LazyFrame"
_OLDEST = (1, 38)


class LazyFeeder(LocalFeeder):
    """A query of polars that has not run yet; it runs once for every scan."""

    def __init__(self, frame: polars.LazyFrame, workers: int | None = None) -> None:
        super().__init__(_SOURCE, workers)
        _check_version()
        self._frame = frame

    def _inspect(self) -> Shape:
        fields, skipped = [], []
        with self._plain_errors():
            schema = self._frame.collect_schema()
        for name, kind in schema.items():
            reason = _unusable(kind)
            if reason is None:
                comes = _arrow_type(name, kind)
                fields.append(Field(name, name, comes, comes))
            else:
                skipped.append(SkippedColumn(name, reason))
        return Shape(tuple(fields), tuple(skipped))

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        names = [field.name for field in fields or self.shape.fields[:1]]
        with self._plain_errors(names):
            now = self._frame.collect_schema()
            frame = self._frame.select(_plain(name, now.get(name)) for name in names)
            batches = frame.collect_batches(
                chunk_size=BATCH_ROWS, maintain_order=False, engine="streaming"
            )
            try:
                for batch in batches:
                    yield from _arrow(batch).to_batches()
            finally:
                del batches  # what ends the query when not all was read

    @contextlib.contextmanager
    def _plain_errors(self, names: Sequence[str] = ()) -> Iterator[None]:
        import polars

        try:
            yield
        except polars.exceptions.InvalidOperationError as error:
            if "conversion from" not in str(error):
                raise self._error(error) from None
            raise ColumnError(
                f"{self.source}: {_first_line(error)}, in one of the columns "
                f"{', '.join(map(repr, names))}; cast it to text or a float, or leave it out"
            ) from None
        except (polars.exceptions.PolarsError, OSError) as error:
            raise self._error(error) from None

    def _error(self, error: Exception) -> SourceError:
        return SourceError(f"{self.source}: cannot be read: {_first_line(error)}")


def _check_version() -> None:
    """Refuse older versions, whose batches just end where the query fails."""
    import polars

    version = tuple(int(part) for part in polars.__version__.split(".")[:2])
    if version < _OLDEST:
        raise SourceError(
            f"polars {polars.__version__} cannot read a LazyFrame in batches; install polars "
            f"{_OLDEST[0]}.{_OLDEST[1]} or later, or collect the frame first"
        )


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__


def _plain(name: str, kind: Any) -> polars.Expr:
    """Select a column with a type that arrives as it should."""
    import polars
    from polars import selectors

    column = selectors.by_name(name).as_expr()  # unlike col, it takes no name for a pattern
    if isinstance(kind, polars.Decimal):  # through text, which gives the nearest number
        return column.cast(polars.String).cast(polars.Float64)
    if kind in _long_integers():
        return column.cast(polars.Int64)
    return column


def _long_integers() -> tuple[Any, ...]:
    import polars

    return tuple(getattr(polars, name) for name in ("Int128", "UInt128") if hasattr(polars, name))


def _unusable(kind: Any) -> str | None:
    import polars

    if kind == polars.Object:
        return skip_reason("Python objects")
    if isinstance(kind, polars.Decimal) or kind in _long_integers():
        return None
    return unusable(_arrow_type("column", kind))


def _arrow_type(name: str, kind: Any) -> pyarrow.DataType:
    import polars

    empty = polars.DataFrame(schema={name: kind}).lazy().select(_plain(name, kind)).collect()
    return _arrow(empty).schema.types[0]


def _arrow(frame: polars.DataFrame) -> pyarrow.Table:
    """Turn a frame into Arrow with types that all versions of Arrow know."""
    import polars

    return frame.to_arrow(compat_level=polars.CompatLevel.oldest())
