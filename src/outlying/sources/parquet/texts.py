"""Texts of few kinds in large Parquet files, read as codes: so no text is made for each row."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outlying.sources.columns import Reading, read_coded, read_labels
from outlying.sources.types.duckdb import Plan
from outlying.table.columns import Mask

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Smaller files are read as they are: each column of texts takes queries of its own.
LEAST_ROWS = 50_000
#: Columns of more kinds are read as they are.
MOST_KINDS = 10_000


def coded(
    connected: DuckDBPyConnection,
    relation: str,
    path: Sequence[str],
    rows: int,
    plans: Sequence[Plan | str],
) -> list[Plan | str]:
    """Plan texts of few kinds as codes; other columns, and those of small files, stay as they are.

    The connection must be private: types are made in it.
    """
    if rows < LEAST_ROWS:
        return list(plans)
    return [
        _coded(connected, relation, path, plan, place)
        if isinstance(plan, Plan) and plan.finish is read_labels
        else plan
        for place, plan in enumerate(plans)
    ]


def _coded(
    connected: DuckDBPyConnection, relation: str, path: Sequence[str], plan: Plan, place: int
) -> Plan:
    query = f"SELECT DISTINCT {plan.sql} AS kind FROM {relation} LIMIT {MOST_KINDS + 2}"  # noqa: S608
    connected.execute(f"CREATE TEMP TABLE kinds{place} AS {query}", path)
    kinds = f"FROM kinds{place} WHERE kind IS NOT NULL ORDER BY kind"
    labels = [kind for (kind,) in connected.execute(kinds).fetchall()]
    if not 0 < len(labels) <= MOST_KINDS:
        return plan
    connected.execute(f"CREATE TYPE kind{place} AS ENUM ({kinds})")
    sql = f"enum_code(CAST({plan.sql} AS kind{place}))"
    return Plan(sql, functools.partial(_read, labels=labels))


def _read(name: str, codes: Any, missing: Mask | None, *, labels: list[str]) -> Reading:
    numbers = codes.astype(np.int32)
    if missing is not None:
        numbers[missing] = -1
    return read_coded(name, numbers, labels)
