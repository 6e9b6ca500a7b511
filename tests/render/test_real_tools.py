"""Checks made of findings, run by dbt and Great Expectations in environments of their own.

scripts/tools makes these.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

import duckdb
import pyarrow as pa

import outlying
from tests.render.test_predicates import table_of_odd_names
from tests.tools import tool

_PROJECT = "name: shop\nversion: '1.0'\nprofile: shop\n"
_PROFILE = "shop: {target: dev, outputs: {dev: {type: duckdb, path: shop.duckdb}}}\n"
_VALIDATE = """
import json, sys
import great_expectations as gx
suite, *paths = sys.argv[1:]
sources = gx.get_context(mode="ephemeral").data_sources
for path in paths:
    source = sources.add_sqlite(path, connection_string="sqlite:///" + path)
    asset = source.add_table_asset("t", table_name="t")
    batch = asset.add_batch_definition_whole_table("all").get_batch()
    found = batch.validate(gx.ExpectationSuite(**json.load(open(suite))))
    print(json.dumps([item.result.get("observed_value") for item in found.results]))
"""


def odd_and_fine() -> tuple[outlying.Detection, pa.Table, pa.Table]:
    table = table_of_odd_names()
    found = outlying.detect(table)
    fine = [row for row in range(len(table)) if row not in found.positions]
    return found, table, table.take(fine)


def test_dbt_fails_on_the_odd_rows_and_passes_without_them(tmp_path: Path) -> None:
    dbt = tool("dbt")
    found, table, fine = odd_and_fine()
    for name in ("models", "tests"):
        (tmp_path / name).mkdir()
    (tmp_path / "dbt_project.yml").write_text(_PROJECT)
    (tmp_path / "profiles.yml").write_text(_PROFILE)
    (tmp_path / "models" / "orders.sql").write_text("select * from raw_orders")
    (tmp_path / "tests" / "odd.sql").write_text(outlying.as_code(found, "dbt", table="orders"))
    for rows, code, told in ((table, 1, f"Got {len(found.rows)} results"), (fine, 0, "PASS=2")):
        with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
            connection.register("v", rows)
            connection.execute("CREATE OR REPLACE TABLE raw_orders AS SELECT * FROM v")
        call = [dbt, "build", "--profiles-dir", ".", "--no-use-colors"]
        done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        assert told in done.stdout


def test_great_expectations_finds_the_odd_rows(tmp_path: Path) -> None:
    python = tool("python")
    found, table, fine = odd_and_fine()
    suite = tmp_path / "suite.json"
    suite.write_text(outlying.as_code(found, "gx"))
    for name, rows in (("odd", table), ("fine", fine)):
        with sqlite3.connect(tmp_path / f"{name}.db") as connection:
            rows.to_pandas().to_sql("t", connection, index=False)
    call = [python, "-W", "ignore", "-c", _VALIDATE, str(suite), "odd.db", "fine.db"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    odd, none = map(json.loads, done.stdout.splitlines()[-2:])
    assert (odd, none) == ([1] * len(found.rows), [0] * len(found.rows))
