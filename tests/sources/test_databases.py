"""Databases: files of DuckDB and SQLite, a real PostgreSQL, open connections."""

from __future__ import annotations

import contextlib
import datetime as dt
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from adbc_driver_postgresql import dbapi as postgres_driver
from adbc_driver_sqlite import dbapi as sqlite_driver
from hypothesis import given, settings
from hypothesis import strategies as st

import outlying
from outlying.errors import ColumnError, SourceError
from outlying.sources import duckdb as engine
from outlying.sources import passes
from outlying.sources import registry as feeders
from outlying.sources.passes import Feeder
from tests import postgres
from tests.conftest import Run
from tests.feeding import Collect, Count, Fails, Total, rows_of, table_of, types_of

Sql = Callable[..., None]


def reasons_of(feeder: Feeder) -> dict[str, str]:
    assert isinstance(feeder, passes.Feeder)
    return {column.name: column.reason.split(",")[0] for column in feeder.skipped}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a PostgreSQL server."""
    yield from postgres.started()


@pytest.fixture
def uri(server: str) -> Iterator[str]:
    """The address of a PostgreSQL server whose database is empty."""
    yield server
    execute(server, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")


def execute(uri: str, *statements: str) -> None:
    with (
        contextlib.closing(postgres_driver.connect(uri, autocommit=True)) as connection,
        contextlib.closing(connection.cursor()) as cursor,
    ):
        for statement in statements:
            cursor.execute(statement)


POSTGRES: dict[str, tuple[str, str, Any]] = {
    "small": ("(-3)::int2", "int16", -3),
    "int": ("5::int4", "int32", 5),
    "big": ("(2::numeric ^ 62)::int8", "int64", 2**62),
    "real": ("0.5::float4", "float", 0.5),
    "nan": ("'NaN'::float8", "double", None),
    "inf": ("'-Infinity'::float8", "double", float("-inf")),
    "numeric": ("0.1::numeric", "double", 0.1),
    "long": (
        "1234567890123456789012345678.0123456789::numeric(38, 10)",
        "double",
        1234567890123456789012345678.0123456789,
    ),
    "nan_numeric": ("'NaN'::numeric", "double", None),
    "inf_numeric": ("'Infinity'::numeric", "double", float("inf")),
    "money": ("12.5::numeric::money", "double", 12.5),
    "oid": ("4294967295::oid", "int64", 2**32 - 1),
    "bool": ("false", "bool", False),
    "text": ("'ä ''\"%s'::text", "string", "ä '\"%s"),
    "padded": ("'x'::char(5)", "string", "x"),
    "null": ("NULL::text", "string", None),
    "uuid": (
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
        "string",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    ),
    "jsonb": ("'{\"a\": 1}'::jsonb", "string", '{"a": 1}'),
    "mood": ("'ok'::mood", "string", "ok"),
    "grade": ("7::grade", "int32", 7),
    "inet": ("'10.0.0.1'::inet", "string", "10.0.0.1/32"),
    "date": ("'0001-03-01'::date", "date32[day]", dt.date(1, 3, 1)),
    "endless": ("'infinity'::date", "date32[day]", None),
    "moment": (
        "'1900-01-01 10:00:00.000001'::timestamp",
        "timestamp[us]",
        dt.datetime(1900, 1, 1, 10, 0, 0, 1),
    ),
    "never": ("'-infinity'::timestamp", "timestamp[us]", None),
    "instant": (
        "'2020-06-01 12:00:00+02'::timestamptz",
        "timestamp[us, tz=UTC]",
        dt.datetime(2020, 6, 1, 10, tzinfo=dt.UTC),
    ),
    "ever": ("'infinity'::timestamptz", "timestamp[us, tz=UTC]", None),
    "time": ("'10:00'::time", "time64[us]", dt.time(10)),
    "timetz": ("'10:00+02'::timetz", "time64[us]", dt.time(10)),
    "span": ("'1 year 1 month 2 days 00:00:00.5'::interval", "duration[us]", None),
}
POSTGRES["span"] = (*POSTGRES["span"][:2], dt.timedelta(360 + 30 + 2, 0.5))


class TestPostgres:
    def test_types(self, uri: str) -> None:
        columns = ", ".join(f'{sql} AS "{name}"' for name, (sql, *_) in POSTGRES.items())
        execute(
            uri,
            "CREATE TYPE mood AS ENUM ('sad', 'ok')",
            "CREATE DOMAIN grade AS int CHECK (value > 0)",
            f"CREATE TABLE t AS SELECT {columns}",
        )
        feeder = outlying.scan(uri, table="t")
        assert types_of(feeder) == {name: kind for name, (_, kind, _) in POSTGRES.items()}
        assert rows_of(feeder) == [tuple(value for *_, value in POSTGRES.values())]
        assert feeder.fold(Count(), [], None) == 1

    def test_types_of_an_empty_table_and_of_queries(self, uri: str) -> None:
        execute(uri, "CREATE TABLE t (a numeric, b interval)")
        for feeder in (outlying.scan(uri), outlying.scan(uri, query="SELECT * FROM t; ")):
            assert types_of(feeder) == {"a": "double", "b": "duration[us]"}
            assert table_of(feeder).num_rows == 0

    def test_unusable_columns(self, uri: str) -> None:
        sql = "SELECT 1 AS a, ARRAY[1] AS l, ROW(1, 2) AS r, 'x'::bytea AS b, B'1' AS c"
        feeder = outlying.scan(uri, query=f"{sql}, point(1, 2) AS p, int4range(1, 2) AS i")
        assert feeder.schema().names == ["a"]
        assert reasons_of(feeder) == {
            "l": "holds lists",
            "r": "holds values of type record",
            "b": "holds bytes",
            "c": "holds bits",
            "p": "holds values of type point",
            "i": "holds values of type int4range",
        }

    @pytest.mark.parametrize("name", ['a"b', "a'b", "sel ect", "%s", "ü", "$1", "a.b", "?", ":x"])
    def test_odd_names(self, uri: str, name: str) -> None:
        quoted = '"' + name.replace('"', '""') + '"'
        execute(uri, f'CREATE TABLE {quoted} AS SELECT 1 AS x, 2 AS {quoted}, 3 AS "X"')
        feeder = outlying.scan(uri, table=name)
        assert rows_of(feeder, [name, "X", "x"]) == [(2, 3, 1)]

    def test_tables_of_other_schemas(self, uri: str) -> None:
        execute(uri, 'CREATE SCHEMA "My Shop"', 'CREATE TABLE "My Shop"."Orders" AS SELECT 1 AS a')
        try:
            assert rows_of(outlying.scan(uri, table="My Shop.Orders")) == [(1,)]
            assert rows_of(outlying.scan(uri)) == [(1,)]
            with pytest.raises(SourceError, match=r"unknown table 'Orders'.*'My Shop\.Orders'"):
                outlying.scan(uri, table="Orders")
        finally:
            execute(uri, 'DROP SCHEMA "My Shop" CASCADE')

    def test_views_and_partitions(self, uri: str) -> None:
        execute(
            uri,
            "CREATE TABLE p (a int) PARTITION BY LIST (a)",
            "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)",
            "CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2)",
            "INSERT INTO p VALUES (1), (2)",
            "CREATE VIEW v AS SELECT a + 1 AS b FROM p",
            "CREATE MATERIALIZED VIEW m AS SELECT a + 2 AS c FROM p",
        )
        found = [rows_of(outlying.scan(uri, table=name)) for name in ("p", "p2", "v", "m")]
        assert found == [[(1,), (2,)], [(2,)], [(2,), (3,)], [(3,), (4,)]]
        with pytest.raises(SourceError, match="5 tables; name one with table=: m, p, p1, p2, v"):
            outlying.scan(uri)

    def test_many_rows_come_in_several_batches(self, uri: str) -> None:
        execute(
            uri,
            "CREATE TABLE t AS SELECT i, repeat('x', 200) AS s FROM generate_series(1, 300000) i",
        )
        feeder = outlying.scan(uri)
        assert len(feeder.fold(Collect(), ["i", "s"], None)) > 2
        assert feeder.fold(Total(), ["i"], None) == 300000 * 300001 // 2

    def test_a_pass_that_fails_leaves_the_server_free(self, uri: str) -> None:
        execute(uri, "CREATE TABLE t AS SELECT i FROM generate_series(1, 300000) i")
        feeder = outlying.scan(uri)
        with pytest.raises(ZeroDivisionError):
            feeder.fold(Fails(), ["i"], None)
        execute(uri, "DROP TABLE t")
        assert not [t for t in threading.enumerate() if t.name.startswith("outlying")]

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ("DROP TABLE t", 'relation "t" does not exist'),
            ("ALTER TABLE t DROP COLUMN b", "column t.b does not exist"),
            ("ALTER TABLE t ALTER b TYPE text", "column 'b' is now of type string"),
        ],
    )
    def test_what_changes_between_two_looks(self, uri: str, change: str, words: str) -> None:
        execute(uri, "CREATE TABLE t AS SELECT 1 AS a, 2 AS b")
        feeder = outlying.scan(uri)
        assert feeder.schema().names == ["a", "b"]
        execute(uri, change)
        with pytest.raises(SourceError, match=words):
            feeder.fold(Count(), ["a", "b"], None)

    def test_faults(self, uri: str) -> None:
        with pytest.raises(SourceError, match="holds no table"):
            outlying.scan(uri)
        with pytest.raises(SourceError, match="syntax error"):
            outlying.scan(uri, query="SELEC 1").schema()
        with pytest.raises(ColumnError, match="both called 'a'"):
            outlying.scan(uri, query="SELECT 1 AS a, 2 AS a").schema()
        with pytest.raises(SourceError, match="cannot be read") as refused:
            outlying.scan("postgresql://me:secret@127.0.0.1:1/nope", table="t")
        assert "secret" not in str(refused.value)
        with pytest.raises(SourceError, match='database "nope" does not exist'):
            outlying.scan(uri.removesuffix("postgres") + "nope")

    def test_passwords_are_not_shown(self, uri: str) -> None:
        execute(uri, "CREATE TABLE t AS SELECT 1 AS a")
        feeder = outlying.scan(uri.replace("postgres@", "postgres:secret@") + "?connect_timeout=5")
        assert feeder.source == f"{uri} t"

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT 1) t; CREATE TABLE new (a int); SELECT * FROM (SELECT 1",
            "SELECT 1; CREATE TABLE new (a int)",
            "CREATE TABLE new (a int)",
            "SELECT set_config('transaction_read_only', 'off', false)",
        ],
    )
    def test_a_query_only_reads(self, uri: str, query: str) -> None:
        with pytest.raises(SourceError):
            rows_of(outlying.scan(uri, query=query))
        with pytest.raises(SourceError, match="no table"):
            outlying.scan(uri).schema()

    def test_nothing_is_written(self, uri: str) -> None:
        execute(uri, "CREATE TABLE t AS SELECT 1 AS a", "CREATE SEQUENCE s")
        feeder = outlying.scan(uri, query="SELECT nextval('s') AS n")
        with pytest.raises(SourceError, match="read-only transaction"):
            feeder.fold(Count(), ["n"], None)

    def test_open_connections(self, uri: str) -> None:
        execute(uri, "CREATE TABLE t AS SELECT 1 AS a, 0.1::numeric AS b")
        with contextlib.closing(postgres_driver.connect(uri)) as connection:
            with contextlib.closing(connection.cursor()) as cursor:
                cursor.execute("INSERT INTO t VALUES (2, 0.2)")
            feeder = feeders.feeder_of(connection)
            assert feeder is not None
            assert rows_of(feeder) == [(1, 0.1), (2, 0.2)]
            connection.rollback()
            assert rows_of(feeder) == [(1, 0.1)]


class TestDuckDBFiles:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "it's.db"
        with duckdb.connect(str(path)) as connection:
            connection.execute(
                "CREATE TABLE t AS SELECT i, i / 2 AS h FROM range(1000) t(i);"
                "CREATE VIEW v AS SELECT count(*) AS n FROM t; CREATE SCHEMA s;"
                'CREATE TABLE s."t.u" AS SELECT 5 AS five'
            )
        return path

    def test_tables_views_and_queries(self, path: Path) -> None:
        assert outlying.scan(path, table="t").fold(Total(), ["i"], None) == 499500
        assert rows_of(outlying.scan(path, table="v")) == [(1000,)]
        assert rows_of(outlying.scan(path, query='SELECT five FROM s."t.u"')) == [(5,)]
        assert outlying.scan(str(path), table="t").source == f"{path} t"
        with pytest.raises(SourceError, match=r"3 tables; name one with table=: s\.t\.u, t, v"):
            feeders.feeder_of(path)

    def test_it_is_found_by_its_content(self, path: Path) -> None:
        other = path.with_suffix(".data")
        path.rename(other)
        assert rows_of(outlying.scan(other, table="v")) == [(1000,)]

    def test_a_table_that_vanishes(self, path: Path) -> None:
        feeder = outlying.scan(path, table="t")
        assert feeder.schema().names == ["i", "h"]
        with duckdb.connect(str(path)) as connection:
            connection.execute("DROP VIEW v; DROP TABLE t")
        with pytest.raises(SourceError, match="Table with name t does not exist"):
            feeder.fold(Count(), ["i"], None)

    def test_nothing_can_be_written(self, path: Path) -> None:
        with pytest.raises(SourceError, match="holds DELETE; allowed: exactly one SELECT"):
            outlying.scan(path, query="DELETE FROM t RETURNING i").schema()

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT 1 AS a) t; COPY (SELECT 42) TO '{new}'; SELECT * FROM (SELECT 1 AS a",
            "SELECT 1 AS a; COPY (SELECT 42) TO '{new}'",
            "COPY (SELECT 42) TO '{new}'",
            "ATTACH '{new}'",
            "INSTALL httpfs",
            "SET threads = 1",
            "SELECT 1; SELECT 2",
            "",
            "SELECT * FROM read_csv('{other}')",
            "SELECT * FROM '{other}'",
            "SELECT * FROM read_text('{other}')",
            "SELECT * FROM sniff_csv('{other}')",
            "SELECT * FROM glob('{folder}/*')",
            "SELECT * FROM t WHERE i IN (SELECT a FROM read_csv('{other}'))",
            "FROM query('DROP TABLE t')",
        ],
    )
    def test_a_query_only_reads_its_database(self, path: Path, query: str) -> None:
        new, other = path.with_name("new.csv"), path.with_name("other.csv")
        path = path.rename(path.with_name("its.db"))
        other.write_text("a,b\n1,2\n")
        given = query.format(new=new, other=other, folder=path.parent)
        with pytest.raises(SourceError):
            rows_of(outlying.scan(path, query=given))
        assert sorted(item.name for item in path.parent.iterdir()) == ["its.db", "other.csv"]

    @pytest.mark.parametrize(
        ("query", "rows"),
        [
            ("SELECT count(*) AS n FROM t -- all", [(1000,)]),
            ("SELECT count(*) AS n FROM t; ", [(1000,)]),
            ("WITH x AS (SELECT 1 AS a) FROM x", [(1,)]),
            ("SELECT ') t; --' AS a", [(") t; --",)]),
            ("VALUES (1)", [(1,)]),
        ],
    )
    def test_queries_that_are_one_select(self, path: Path, query: str, rows: list[Any]) -> None:
        assert rows_of(outlying.scan(path, query=query)) == rows

    def test_a_query_may_need_more_memory_than_there_is(self, path: Path) -> None:
        query = "SELECT hash(i) AS h, repeat('x', 200) AS x FROM range(1000000) r(i) ORDER BY 1"
        feeder = engine.stream(path, query=query, memory="150MB")
        assert feeder.fold(Count(), ["h", "x"], None) == 1_000_000

    def test_another_statement_on_an_open_connection(self, path: Path) -> None:
        new = path.with_name("new.csv")
        with duckdb.connect() as connection:
            with pytest.raises(SourceError, match="exactly one SELECT"):
                outlying.scan(connection, query=f"SELECT 1; COPY (SELECT 42) TO '{new}'")
            with pytest.raises(SourceError, match="syntax error"):
                outlying.scan(connection, query="SELECT 1) t; DROP TABLE x")
        assert not new.exists()

    def test_it_is_no_table_by_itself(self, tmp_path: Path) -> None:
        path = tmp_path / "broken.duckdb"
        path.write_bytes(bytes(8) + b"DUCK" + bytes(100))
        with pytest.raises(SourceError, match="cannot be read"):
            outlying.scan(path, table="t")
        with pytest.raises(SourceError, match="no such file"):
            outlying.scan(tmp_path / "none.duckdb", table="t")


class TestSqlite:
    def database(self, tmp_path: Path, *statements: str) -> Path:
        path = tmp_path / "it's 100% [1]?.db"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()
        return path

    def test_types_are_those_of_all_rows(self, tmp_path: Path) -> None:
        path = self.database(
            tmp_path,
            "CREATE TABLE t (i INT, r REAL, x, d DATE, m DATETIME, z TEXT, f BOOLEAN, g BOOLEAN, "
            "n NUMERIC, b BLOB, e)",
            "WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 1999) INSERT "
            "INTO t SELECT i, i, NULL, NULL, NULL, NULL, i % 2, i, i, NULL, NULL FROM s",
            "INSERT INTO t VALUES (-9223372036854775808, 9e999, 'late', '1850-03-01', "
            "'2024-01-01 10:00:00.25', '2024-01-01T10:00:00+02:00', NULL, 0, 0.5, x'00', NULL)",
            "INSERT INTO t (m, z, d) "
            "VALUES ('2024-01-01T10:00', '2024-01-01 10:00Z', '9999-12-31')",
        )
        feeder = outlying.scan(path)
        assert types_of(feeder) == {
            "i": "int64",
            "r": "double",
            "x": "string",
            "d": "date32[day]",
            "m": "timestamp[us]",
            "z": "timestamp[us, tz=UTC]",
            "f": "bool",
            "g": "int64",
            "n": "double",
            "e": "string",
        }
        assert reasons_of(feeder) == {"b": "holds bytes"}
        rows = rows_of(feeder)
        assert len(rows) == 2002
        known = (-(2**63), float("inf"), "late", dt.date(1850, 3, 1))
        moment = dt.datetime(2024, 1, 1, 10, 0, 0, 250000)
        instant = dt.datetime(2024, 1, 1, 8, tzinfo=dt.UTC)
        assert (*known, moment, instant, None, 0, 0.5, None) in rows
        other = dt.datetime(2024, 1, 1, 10)
        last = (None, None, None, dt.date(9999, 12, 31), other, other.replace(tzinfo=dt.UTC))
        assert (*last, None, None, None, None) in rows

    @pytest.mark.parametrize(
        "text",
        [
            "2024-02-30",
            "2024-1-1",
            "2024-01-01 25:00",
            "now",
        ],
    )
    def test_texts_that_are_no_dates_stay_texts(self, tmp_path: Path, text: str) -> None:
        path = self.database(tmp_path, f"CREATE TABLE t AS SELECT '{text}' AS d")
        assert rows_of(outlying.scan(path)) == [(text,)]

    @pytest.mark.parametrize("more", ["", ", 1 AS n"])
    def test_decimals_beyond_microseconds_are_told(self, tmp_path: Path, more: str) -> None:
        moments = ("2024-01-01 10:00:00.1234567", "2024-01-02 10:00:00.1234560")
        query = " UNION ALL ".join(f"SELECT '{text}' AS m{more}" for text in moments)
        feeder = outlying.scan(self.database(tmp_path, f"CREATE TABLE t AS {query}"))
        found = [row[0] for row in rows_of(feeder)]
        assert found == [dt.datetime(2024, 1, day, 10, 0, 0, 123456) for day in (1, 2)]
        said = "Column 'm': decimals of seconds beyond microseconds were left out in 1 row."
        assert feeder.notes == (said,)

    @settings(max_examples=25)
    @given(
        st.lists(
            st.none()
            | st.integers(-(2**63), 2**63 - 1)
            | st.floats(allow_nan=False)
            | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
            max_size=8,
        )
    )
    def test_whatever_a_column_holds(self, tmp_path_factory: Any, cells: list[Any]) -> None:
        path = tmp_path_factory.mktemp("sqlite") / "t.db"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE t (x, place INTEGER)")
            pairs = list(zip(cells, range(len(cells)), strict=True))
            connection.executemany("INSERT INTO t VALUES (?, ?)", pairs)
            connection.commit()
        found = {place: x for x, place in rows_of(outlying.scan(path), ["x", "place"])}
        assert [found[place] is None for place in range(len(cells))] == [c is None for c in cells]
        kinds = {type(cell) for cell in cells} - {type(None)}
        if len(kinds) == 1 and kinds != {str}:
            assert [found[place] for place in range(len(cells))] == cells

    @pytest.mark.parametrize("name", ['a"b', "a'b", "sel ect", "%s", "ü", "?", "a.b", "[x]", "`"])
    def test_odd_names(self, tmp_path: Path, name: str) -> None:
        quoted = '"' + name.replace('"', '""') + '"'
        path = self.database(tmp_path, f"CREATE TABLE {quoted} AS SELECT 1 AS x, 2 AS {quoted}")
        assert rows_of(outlying.scan(path, table=name), [name, "x"]) == [(2, 1)]

    def test_views_queries_and_empty_tables(self, tmp_path: Path) -> None:
        path = self.database(
            tmp_path, "CREATE TABLE t (a INT, b TEXT)", "CREATE VIEW v AS SELECT 1 AS one"
        )
        assert table_of(outlying.scan(path, table="t")).num_rows == 0
        assert rows_of(outlying.scan(path, table="v")) == [(1,)]
        assert rows_of(outlying.scan(path, query="SELECT one + 1 AS two FROM v -- x")) == [(2,)]
        with pytest.raises(SourceError, match="2 tables; name one with table=: t, v"):
            feeders.feeder_of(path)
        with pytest.raises(SourceError, match="unknown table 'w'"):
            outlying.scan(path, table="w")

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT 1) t; ATTACH '{new}' AS x; SELECT * FROM (SELECT 1",
            "SELECT 1; VACUUM INTO '{new}'",
            "VACUUM INTO '{new}'",
            "ATTACH '{new}' AS x",
            "DELETE FROM t RETURNING a",
            "PRAGMA journal_mode = WAL",
            "SELECT load_extension('{new}')",
        ],
    )
    def test_a_query_only_reads(self, tmp_path: Path, query: str) -> None:
        path = self.database(tmp_path, "CREATE TABLE t (a, b)", "INSERT INTO t VALUES (1, 2.5)")
        with pytest.raises(SourceError):
            outlying.scan(path, query=query.format(new=tmp_path / "new")).schema()
        assert [item.name for item in tmp_path.iterdir()] == [path.name]

    @pytest.mark.parametrize(
        "change",
        ["DROP TABLE t", "ALTER TABLE t DROP COLUMN b", "INSERT INTO t VALUES ('text', 1)"],
    )
    def test_what_changes_between_two_looks(self, tmp_path: Path, change: str) -> None:
        path = self.database(tmp_path, "CREATE TABLE t (a, b)", "INSERT INTO t VALUES (1, 2.5)")
        feeder = outlying.scan(path)
        assert types_of(feeder) == {"a": "int64", "b": "double"}
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(change)
            connection.commit()
        with pytest.raises(
            SourceError, match=r"no such (table|column)|Type mismatch|is now of type"
        ):
            feeder.fold(Count(), ["a", "b"], None)

    def test_many_rows(self, tmp_path: Path) -> None:
        path = self.database(
            tmp_path,
            "CREATE TABLE t AS WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s "
            "WHERE i < 300000) SELECT i FROM s",
        )
        feeder = outlying.scan(path)
        assert feeder.fold(Total(), ["i"], None) == 300000 * 300001 // 2
        sizes = [batch.num_rows for batch in feeder.fold(Collect(), ["i"], None)]
        assert max(sizes) <= passes.BATCH_ROWS
        assert feeder.fold(Count(), [], None) == 300000

    def test_open_connections(self, tmp_path: Path) -> None:
        path = self.database(tmp_path, "CREATE TABLE t AS SELECT 1 AS a")
        with contextlib.closing(sqlite_driver.connect(str(path))) as connection:
            feeder = outlying.scan(connection, table="t")
            assert (rows_of(feeder), feeder.source) == ([(1,)], "SQLite t")
        with (
            contextlib.closing(sqlite3.connect(path)) as plain,
            pytest.raises(SourceError, match="gives no Arrow batches; give the path of a SQLite"),
        ):
            outlying.scan(plain, table="t")

    def test_a_broken_database(self, tmp_path: Path) -> None:
        path = tmp_path / "t.db"
        path.write_bytes(b"SQLite format 3\0" + bytes(100))
        with pytest.raises(SourceError, match="cannot be read"):
            outlying.scan(path, table="t")

    def test_text_that_is_not_utf8(self, tmp_path: Path, run: Run) -> None:
        path = self.database(
            tmp_path,
            "CREATE TABLE t (id INTEGER, name TEXT)",
            "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE "
            "i < 49) SELECT i, 'n' || i % 5 FROM n",
            "INSERT INTO t VALUES (50, CAST(X'4dfc6c6c6572' AS TEXT))",
        )
        said = (
            r"column 'name' holds text that is not UTF-8 in row 50 \(counted from 0\) \(byte 0xfc"
        )
        with pytest.raises(SourceError, match=said):
            rows_of(outlying.scan(path, table="t"))
        call = ("explain", path, "--table", "t", "--where", "id=3")
        code, out, err = run(*call)
        assert (code, out) == (2, "")
        assert "column 'name' holds text that is not UTF-8 in data row 51 (byte 0xfc)" in err
        assert run(*call, "--exclude", "name")[0] == 0

    def test_names_that_are_not_utf8(self, tmp_path: Path) -> None:
        path = self.database(tmp_path, "CREATE TABLE naXXme (id INTEGER)")
        path.write_bytes(path.read_bytes().replace(b"naXXme", b"na\xe9\xe9me"))
        with pytest.raises(SourceError, match="a name in it is not UTF-8"):
            rows_of(outlying.scan(path))
