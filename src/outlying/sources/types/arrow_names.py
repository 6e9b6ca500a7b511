"""Which types of Arrow a table can have columns of, and what others are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outlying.sources.columns import skip_reason

if TYPE_CHECKING:
    import pyarrow


def unusable(kind: pyarrow.DataType) -> str | None:
    """Say why a column of this type is left out; None: it is not."""
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return unusable(kind.value_type)
    if _is_usable(kind):
        return None
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return skip_reason("lists")
    if types.is_struct(kind) or types.is_map(kind):
        return skip_reason("records")
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return skip_reason("bytes")
    return skip_reason(f"values of type {kind}")


def _is_usable(kind: pyarrow.DataType) -> bool:
    import pyarrow.types as types

    numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    texts = (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
    times = (types.is_date, types.is_timestamp, types.is_time, types.is_duration)
    return any(test(kind) for test in (*numbers, *texts, *times))
