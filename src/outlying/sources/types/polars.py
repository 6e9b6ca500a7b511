"""What the types of polars become in Arrow batches, and the expression that selects each.

Only for lazy frames: those in memory are read as any other dataframe (`types/narwhals.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlying.sources import arrow_types as arrow

if TYPE_CHECKING:
    import polars
    import pyarrow


def selected(name: str, kind: Any) -> polars.Expr:
    """Select a column with a type that arrives as it should."""
    import polars
    from polars import selectors

    column = selectors.by_name(name).as_expr()  # unlike col, it takes no name for a pattern
    if isinstance(kind, polars.Decimal):  # through text, which gives the nearest number
        return column.cast(polars.String).cast(polars.Float64)
    if kind in _long_integers():
        return column.cast(polars.Int64)
    return column


def unusable(kind: Any) -> str | None:
    """Say what a column of this type holds that cannot be used; None: it can."""
    import polars

    if kind == polars.Object:
        return "Python objects"
    if isinstance(kind, polars.Decimal) or kind in _long_integers():
        return None
    return arrow.unusable(arrow_type(kind))


def arrow_type(kind: Any) -> pyarrow.DataType:
    """Return the Arrow type that a selected column arrives as."""
    import polars

    empty = polars.DataFrame(schema={"x": kind}).lazy().select(selected("x", kind)).collect()
    return to_arrow(empty).schema.types[0]


def to_arrow(frame: polars.DataFrame) -> pyarrow.Table:
    """Turn a frame into Arrow with types that all versions of Arrow know."""
    import polars

    return frame.to_arrow(compat_level=polars.CompatLevel.oldest())


def _long_integers() -> tuple[Any, ...]:
    import polars

    return tuple(getattr(polars, name) for name in ("Int128", "UInt128") if hasattr(polars, name))
