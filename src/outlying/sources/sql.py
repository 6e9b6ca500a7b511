"""SQL that every engine understands: quoted names and texts, tables and queries."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence

from outlying.errors import SourceError


@dataclasses.dataclass(frozen=True, slots=True)
class Relation:
    """What to read of a database: SQL that stands where a table can, and what it is called."""

    sql: str
    name: str = "(query)"
    """The name of a table as it was given."""
    is_query: bool = True


def relation_of(query: str) -> Relation:
    """Write a query so that it can stand where a table can; a comment at its end stays one."""
    return Relation(f"(\n{query.strip().removesuffix(';')}\n)")


def identifier(name: str) -> str:
    """Write a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Write a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def selected(columns: Sequence[str]) -> str:
    """Write what to select: these expressions as c0, c1, ...; something where there is none."""
    return ", ".join(f"{sql} AS c{place}" for place, sql in enumerate(columns)) or "1 AS c0"


def readings_of(table: str) -> list[str]:
    """Write the ways to understand the name of a table: as it is, or divided at its dots."""
    parts = table.split(".")
    return [identifier(table), *([".".join(map(identifier, parts))] if len(parts) > 1 else [])]


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, or its class where there is none."""
    return str(error).strip().split("\n")[0] or type(error).__name__


@contextlib.contextmanager
def interrupts() -> Iterator[None]:
    """Raise an interrupt as such where DuckDB has noticed it, and tells it as an error."""
    try:
        yield
    except Exception as error:
        if str(error).startswith(("Query interrupted", "INTERRUPT Error")):
            raise KeyboardInterrupt from None
        raise


@contextlib.contextmanager
def plain_errors(
    source: str, *kinds: type[Exception], reason: Callable[[Exception], str] = first_line
) -> Iterator[None]:
    """Say of errors of these kinds that the source cannot be read, and for what reason."""
    try:
        yield
    except kinds as error:
        raise SourceError(f"{source}: cannot be read: {reason(error)}") from None
