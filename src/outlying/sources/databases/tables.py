"""Which table of a database to read: the one that is named, or the only one there is."""

from __future__ import annotations

from collections.abc import Sequence

from outlying.errors import SourceError, unknown_name


def chosen_table(source: str, table: str | None, known: Sequence[str]) -> str:
    """Return the name of the table to read; one of several has to be named."""
    if table is not None:
        return table
    if len(known) == 1:
        return known[0]
    if not known:
        raise SourceError(f"{source}: holds no table")
    shown = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
    raise SourceError(f"{source}: holds {len(known)} tables; name one with table=: {shown}")


def no_such_table(source: str, table: str, known: Sequence[str]) -> SourceError:
    """Make the error of a table that is not there."""
    return SourceError(f"{source}: {unknown_name('table', table, known)}")
