"""Marks: what a column holds that says of each row whether it is asked for."""

from __future__ import annotations

from outlying.table.values import Value, text_of

_YES = {"true", "t", "yes", "y", "1", "1.0", "on"}
_NO = {"", "false", "f", "no", "n", "0", "0.0", "off"}


def is_mark(value: Value) -> bool | None:
    """Return whether a value marks its row; None where it says neither yes nor no."""
    if value is None or isinstance(value, bool):
        return bool(value)
    if isinstance(value, (int, float)) and value >= 0 and value % 1 == 0:
        return value != 0
    word = value.strip().casefold() if isinstance(value, str) else None
    return word in _YES if word in _YES | _NO else None


def not_a_mark(name: str, value: Value, place: str) -> str:
    """Say what is no mark; many detectors write -1 for outliers, and 1 for all others."""
    is_negative = isinstance(value, (int, float)) and value < 0
    hint = "write a detector's -1 and 1 as 1 and 0" if is_negative else "make a column of these"
    return (
        f"--where-true: column {name!r} holds {text_of(value)!r} in {place}; allowed: true or "
        "false, yes or no, whole numbers from 0, where 0 is not marked, or nothing; "
        f"{hint}, or name the rows by --rows"
    )


def no_mark(name: str) -> str:
    """Say that a column marks no row."""
    return f"--where-true: column {name!r} marks no row; at least one is needed"
