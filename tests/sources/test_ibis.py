"""Tables of Ibis on DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import pytest

import outlying
from outlying.errors import OptionError, SourceError
from outlying.sources import read
from outlying.sources.registry import feeder_of
from tests import postgres
from tests.carriers import column_values
from tests.conftest import Run
from tests.feeding import Count, rows_of, types_of
from tests.sources.test_sources_agree import CSV, answer

ibis = pytest.importorskip("ibis")

# Ibis calls what pandas and DuckDB will give up
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CREATE = (
    "CREATE TABLE t (n BIGINT, word VARCHAR(9), day DATE, x DOUBLE PRECISION)",
    "INSERT INTO t VALUES (1, 'x', '2024-01-01', 1.5), (2, NULL, '2024-02-01', NULL), "
    "(3, 'y', NULL, -2.0)",
)
ROWS = [
    (1, "x", dt.date(2024, 1, 1), 1.5),
    (2, None, dt.date(2024, 2, 1), None),
    (3, "y", None, -2.0),
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    yield from postgres.started()


def of_duckdb(folder: Path) -> Any:
    native = duckdb.connect(str(folder / "t.duckdb"))
    for statement in CREATE:
        native.execute(statement)
    return ibis.duckdb.from_connection(native)


def of_sqlite(folder: Path) -> Any:
    with sqlite3.connect(folder / "t.db") as native:
        for statement in CREATE:
            native.execute(statement)
    native.close()
    return ibis.sqlite.connect(folder / "t.db")


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def connection(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    makers: dict[str, Callable[[Path], Any]] = {"duckdb": of_duckdb, "sqlite": of_sqlite}
    if request.param in makers:
        connected = makers[request.param](tmp_path)
    else:
        place = urlsplit(request.getfixturevalue("server"))
        connected = ibis.postgres.connect(
            host=place.hostname, port=place.port, user=place.username, database="postgres"
        )
        for statement in ("DROP TABLE IF EXISTS t", *CREATE):
            connected.raw_sql(statement).close()
        connected.con.commit()
    yield connected
    connected.disconnect()


def test_rows(connection: Any) -> None:
    table = connection.table("t")
    feeder: Any = feeder_of(table)
    assert rows_of(feeder) == sorted(ROWS, key=repr)
    assert rows_of(feeder, ["x", "n"]) == sorted([(r[3], r[0]) for r in ROWS], key=repr)
    assert feeder.fold(Count(), [], None) == 3
    assert feeder.source == f"{connection.name} t"
    assert types_of(feeder) == {"n": "int64", "word": "string", "day": "date32[day]", "x": "double"}


def test_in_memory(connection: Any) -> None:
    table = read(connection.table("t"))
    assert sorted(column_values(table, "n")) == [1, 2, 3]
    assert table.source == f"{connection.name} t"


def test_queries(connection: Any) -> None:
    table = connection.table("t")
    query = table.filter(table.n < 3).mutate(twice=table.n * 2).select("twice", "word")
    feeder = outlying.scan(query)
    assert (rows_of(feeder), feeder.source) == ([(2, "x"), (4, None)], "Ibis query")


def test_names_that_mean_something_elsewhere(tmp_path: Path) -> None:
    native = duckdb.connect()
    native.execute('CREATE TABLE t AS SELECT 1 AS "read", 2 AS "cursor", 3 AS "commit", 4 AS "a.b"')
    table = ibis.duckdb.from_connection(native).table("t")
    assert rows_of(outlying.scan(table)) == [(1, 2, 3, 4)]


def test_refusals(connection: Any) -> None:
    table = connection.table("t")
    with pytest.raises(OptionError, match="the option encoding is for text files"):
        outlying.scan(table, encoding="utf-8")
    feeder = outlying.scan(table)
    feeder.schema()
    connection.raw_sql("DROP TABLE t").close()
    if connection.name == "postgres":
        connection.con.commit()
    with pytest.raises(SourceError, match=rf"{connection.name} t: cannot be read: "):
        rows_of(feeder)


def test_the_same_answer_as_from_a_file() -> None:
    native = duckdb.connect()
    native.execute(f"CREATE TABLE patients AS FROM read_csv('{CSV}')")
    assert answer(ibis.duckdb.from_connection(native).table("patients")) == answer(CSV)


def test_columns_that_cannot_be_used(run: Run) -> None:
    native = duckdb.connect()
    native.execute("CREATE TABLE t AS SELECT 1 AS a, [1] AS lists, 'x'::BLOB AS bytes")
    feeder = outlying.scan(ibis.duckdb.from_connection(native).table("t"))
    assert [column.name for column in feeder.skipped] == ["lists", "bytes"]
