"""A query over files: FROM 'orders.csv' JOIN 'customers.csv' USING (customer).

The engine is sealed before the query runs: it reads the files that the query names as tables, and
nothing else, whatever functions the query calls. Its result is held in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlying.errors import OptionError, SourceError, shown
from outlying.sources import duckdb as engine

if TYPE_CHECKING:
    import pyarrow

_EXAMPLE = "FROM 'orders.csv' JOIN 'customers.csv' USING (customer)"
_SHOWN = 60  # characters of a query by which it is called


def files_of(query: str) -> list[str]:
    """Return the files that a query names as tables; an error says what is wrong with it."""
    with engine.connection() as connected:
        parsed = connected.execute("SELECT json_serialize_sql(?)", [query]).fetchone()
    tree = json.loads(parsed[0]) if parsed else {}
    if tree.get("error", True):
        said = tree.get("error_message", "it cannot be read")
        raise OptionError(f"--query is {shown(query)}: {said}; allowed: a SELECT, or {_EXAMPLE}")
    if len(tree["statements"]) != 1:
        raise OptionError(f"--query is {shown(query)}: several statements; allowed: one SELECT")
    named = dict.fromkeys(name for name in _tables(tree) if _is_file_name(name))
    if not named:
        raise OptionError(
            f"--query is {shown(query)}, which names no file; name one in quotes, as in "
            f"{_EXAMPLE}, or give the database as SOURCE"
        )
    for name in named:
        if not Path(name).is_file():
            raise SourceError(f"the query names {name!r}, and there is no such file")
    return list(named)


def _tables(node: Any) -> Iterator[str]:
    """Return the names that stand for tables anywhere in a parsed query."""
    if isinstance(node, list):
        for item in node:
            yield from _tables(item)
    elif isinstance(node, dict):
        if node.get("type") == "BASE_TABLE":
            yield str(node["table_name"])
        for item in node.values():
            yield from _tables(item)


def _is_file_name(name: str) -> bool:
    return "." in name or "/" in name or "\\" in name


def result_of(query: str) -> pyarrow.Table:
    """Run a query over the files that it names, and no others."""
    files = files_of(query)
    name = query if len(query) <= _SHOWN else f"{query[: _SHOWN - 1]}…"
    with engine.connection() as connected, engine.plain_errors(name):
        allowed = ", ".join(engine.literal(file) for file in files)
        connected.execute(f"SET allowed_paths = [{allowed}]")
        connected.execute("SET enable_external_access = false; SET lock_configuration = true")
        return connected.sql(query).to_arrow_table()


def name_of(query: str) -> str:
    """Return what results call the table that a query makes."""
    return " and ".join(files_of(query))
