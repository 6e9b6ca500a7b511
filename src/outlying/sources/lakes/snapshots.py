"""Which state of a table is meant: a version by its number, or the one at some moment."""

from __future__ import annotations

import datetime as dt

from outlying.errors import OptionError, shown


def snapshot_of(given: object) -> int | dt.datetime | None:
    """Read the option: a whole number, or a moment, which is in UTC unless it says otherwise."""
    if given is None or (isinstance(given, int) and not isinstance(given, bool) and given >= 0):
        return given
    if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) < 20:
        return int(given)
    if isinstance(given, str):
        try:
            given = dt.datetime.fromisoformat(given)
        except ValueError:
            raise _unknown(given) from None
    if not isinstance(given, dt.datetime):
        raise _unknown(given)
    return given if given.tzinfo is not None else given.replace(tzinfo=dt.UTC)


def _unknown(given: object) -> OptionError:
    return OptionError(
        f"snapshot is {shown(given)}; allowed: the number of a version, or a moment such as "
        "'2024-05-31T12:00:00Z'"
    )
