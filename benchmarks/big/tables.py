"""Large Parquet tables with one odd row, made by DuckDB: the same on every machine."""

from __future__ import annotations

from pathlib import Path

import duckdb

#: The odd row, by its id; it is cold for its city.
ODD = 77
NUMERIC = ("amount", "temp", "age", "noise0", "noise1", "noise2", "level", "day")
LABELS = ("city", "kind", "vip")
_ROWS_PER_GROUP = 1_000_000


def table(folder: Path, millions: int) -> Path:
    """Make a table of so many million rows and 12 columns, or find the one made before."""
    return _made(folder / f"big-{millions}.parquet", _query(millions * 1_000_000))


def accounts(folder: Path, millions: int, count: int) -> Path:
    """Make a table of so many accounts; the odd row has an amount that is usual for others."""
    return _made(folder / f"accounts-{millions}.parquet", _payments(millions * 1_000_000, count))


def _made(path: Path, query: str) -> Path:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".partial")
        with duckdb.connect() as connected:
            connected.execute("SET preserve_insertion_order = false")
            connected.execute(
                f"COPY ({query}) TO '{unfinished}' "
                f"(FORMAT parquet, ROW_GROUP_SIZE {_ROWS_PER_GROUP})"
            )
        unfinished.rename(path)
    return path


def _uniform(salt: int) -> str:
    return f"(hash(i * 16 + {salt}) / 18446744073709551616.0)"


def _normal(salt: int) -> str:
    """Return a sum of four uniform numbers, with mean 0 and variance 1."""
    return "(" + " + ".join(_uniform(salt + k) for k in range(4)) + f" - 2) * {3**0.5}"


def _query(rows: int) -> str:
    city = f"CASE WHEN i = {ODD} THEN 0 ELSE floor(4 * {_uniform(1)}) END"
    return f"""
    WITH drawn AS (SELECT i, CAST({city} AS INTEGER) AS place FROM range({rows}) t(i))
    SELECT
        i AS id,
        exp(2 + 0.8 * {_normal(100)}) AS amount,
        CASE WHEN i = {ODD} THEN 5.2 ELSE [30.0, 5.0, 12.0, 20.0][place + 1] + {_normal(200)} END
            AS temp,
        CAST(40 + 12 * {_normal(300)} AS INTEGER) AS age,
        {_normal(400)} AS noise0,
        {_uniform(500)} AS noise1,
        CASE WHEN {_uniform(600)} < 0.02 THEN NULL ELSE {_normal(610)} END AS noise2,
        CAST(floor(1000 * {_uniform(700)}) AS INTEGER) AS level,
        DATE '2020-01-01' + CAST(floor(2000 * {_uniform(800)}) AS INTEGER) AS day,
        ['Ankara', 'Bergen', 'Cusco', 'Dakar'][place + 1] AS city,
        ['new', 'old', 'lost'][1 + CAST(floor(3 * {_uniform(900)}) AS INTEGER)] AS kind,
        {_uniform(1000)} < 0.3 AS vip
    FROM drawn
    """  # noqa: S608 - numbers only


def _payments(rows: int, count: int) -> str:
    level = "(hash(account * 31 + 7) / 18446744073709551616.0)"
    return f"""
    WITH drawn AS (SELECT i, CAST(floor({count} * {_uniform(1)}) AS BIGINT) AS account
                   FROM range({rows}) t(i))
    SELECT
        i AS id,
        'A' || lpad(CAST(account AS VARCHAR), 6, '0') AS account,
        CASE WHEN i = {ODD} THEN exp(2 + 5 * (({level} + 0.5) % 1.0))
             ELSE exp(2 + 5 * {level} + 0.1 * {_normal(100)}) END AS amount,
        CAST(40 + 12 * {_normal(300)} AS INTEGER) AS age,
        {_normal(400)} AS noise0,
        {_uniform(500)} AS noise1,
        DATE '2020-01-01' + CAST(floor(2000 * {_uniform(800)}) AS INTEGER) AS day,
        ['Ankara', 'Bergen', 'Cusco', 'Dakar'][1 + CAST(floor(4 * {_uniform(850)}) AS INTEGER)]
            AS city,
        ['new', 'old', 'lost'][1 + CAST(floor(3 * {_uniform(900)}) AS INTEGER)] AS kind,
        {_uniform(1000)} < 0.3 AS vip
    FROM drawn
    """  # noqa: S608 - numbers only
