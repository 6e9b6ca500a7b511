"""Findings as code: each predicate is run, and selects exactly the rows that it should."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import outlying
from outlying.errors import OptionError
from outlying.method.arithmetic import Formula
from outlying.render.predicates import DIALECTS, CellTest, RowPredicate, as_code, predicates

#: Names and values that would end a text, a name or a comment if they were not quoted.
ODD_NAMES = ('a "b', "c'd", "e;--f", "g{h}", "back\\slash", "{% raw %}")
ODD_TEXTS = ("it's", '"; drop table t; --', "a\\", "{{ x }}", "new\nline", "%s :x ?", "{x}")
DAY = dt.date(2024, 2, 29)
MOMENT = dt.datetime(2024, 2, 29, 8, 30, 0, 123456)


def selected(predicate: RowPredicate, table: pa.Table) -> dict[str, list[int]]:
    """The rows that a predicate selects, by engine."""
    frame, scope = table.to_pandas(date_as_object=True), {"pd": pd, "pl": pl, "datetime": dt}
    mask = eval(predicate.written("pandas"), {**scope, "df": frame})  # noqa: S307 - what is tested
    data = pl.DataFrame(table).with_row_index("row number")
    rows = data.filter(eval(predicate.written("polars"), scope))["row number"]  # noqa: S307
    where = predicate.written("sql")
    query = f"SELECT rowid FROM t WHERE {where} ORDER BY rowid"  # noqa: S608 - what is tested
    with duckdb.connect() as connection:
        connection.register("v", table)
        connection.execute("CREATE TABLE t AS SELECT * FROM v")
        found = [row for (row,) in connection.execute(query).fetchall()]
    return {"pandas": np.flatnonzero(mask).tolist(), "polars": rows.to_list(), "sql": found}


def expected(predicate: RowPredicate, table: pa.Table) -> list[int]:
    """The same by loops."""
    return [
        row
        for row, values in enumerate(table.to_pylist())
        if all(_holds(term, values) for term in predicate.terms)
    ]


def _holds(term: CellTest, values: dict[str, Any]) -> bool:
    value, others = values[term.column], [values[name] for name in term.others]
    if others:
        if any(item is None or item != item for item in (value, *others)):
            return False
        formula = term.formula.format(*(f"others[{k}]" for k in range(len(others))))
        wanted = eval(formula, {"others": others})  # noqa: S307 - what is tested
        return bool(value < wanted if term.kind != "off" else abs(value - wanted) >= term.low)
    if value is None or term.kind in ("missing", "known"):
        return (value is None) == (term.kind == "missing")
    if value != value:
        return False
    if term.kind == "equals":
        return bool(value == term.low)
    if term.kind == "inside":
        return bool(term.low < value < term.high)
    return (term.low is None or value >= term.low) and (term.high is None or value <= term.high)


def check(predicate: RowPredicate, table: pa.Table) -> list[int]:
    rows = expected(predicate, table)
    assert selected(predicate, table) == dict.fromkeys(("pandas", "polars", "sql"), rows)
    return rows


def test_every_kind_of_term_and_value() -> None:
    numbers = [0.1 + 0.2, 0.3, -5.0, 1e300, 7.0, None, float("nan")]
    table = pa.table(
        {
            "x": pa.array(numbers, from_pandas=False),
            "n": [1, 2, 3, 2**60, 5, None, 7],
            "s": [*ODD_TEXTS],
            "b": [True, False, None, True, False, True, False],
            "d": [DAY + dt.timedelta(days=k) for k in range(6)] + [None],
            "t": [MOMENT + dt.timedelta(seconds=k) for k in range(6)] + [None],
            "u": [MOMENT.replace(tzinfo=dt.UTC) + dt.timedelta(seconds=k) for k in range(7)],
            "i": [dt.timedelta(seconds=k, microseconds=1) for k in range(7)],
        }
    )
    terms = [CellTest("x", "between", 0.3, None), CellTest("x", "between", None, 0.3)]
    terms += [
        CellTest("x", "inside", 0.3, 7.0),
        CellTest("n", "equals", 2**60),
        CellTest("n", "missing"),
    ]
    terms += [CellTest("s", "equals", text) for text in ODD_TEXTS]
    terms += [CellTest("b", "equals", True), CellTest("b", "equals", False), CellTest("b", "known")]
    terms += [
        CellTest("d", "between", DAY, DAY + dt.timedelta(days=2)),
        CellTest("t", "equals", MOMENT),
    ]
    terms += [
        CellTest("t", "between", MOMENT + dt.timedelta(seconds=4), None),
        CellTest("t", "missing"),
    ]
    terms += [CellTest("u", "between", None, MOMENT.replace(tzinfo=dt.UTC))]
    terms += [CellTest("i", "equals", dt.timedelta(seconds=3, microseconds=1))]
    for term in terms:
        assert check(RowPredicate((term,), ""), table) or term.column == "x", term
    assert len(check(RowPredicate((terms[0], CellTest("s", "known")), ""), table)) == 4


def shop(rows: int = 900) -> dict[str, Any]:
    random = np.random.default_rng(12)
    net, tax = random.integers(100, 9000, rows) / 100, random.integers(1, 900, rows) / 100
    amount, price = random.integers(1, 90, rows), random.integers(100, 5000, rows) / 100
    ordered = [MOMENT + dt.timedelta(hours=int(k)) for k in random.integers(0, 9000, rows)]
    wait = random.exponential(400, rows) + 1
    shipped = [day + dt.timedelta(hours=float(k)) for day, k in zip(ordered, wait, strict=True)]
    least = random.normal(50, 20, rows)
    return {
        **{"net": net, "tax": tax, "total {x}": np.round(net + tax, 2)},
        **{"amount": amount.astype(np.int32), "price": price, "bill": np.round(amount * price, 2)},
        **{"ordered": ordered, "shipped": shipped},
        **{"low": least, "high": least + random.exponential(20, rows)},
    }


def test_of_a_broken_rule_all_rows_that_break_it_are_selected() -> None:
    data = shop()
    data["total {x}"][[5, 70]] += 31.5
    data["bill"][9] += 800
    for row in (20, 300):
        data["ordered"][row], data["shipped"][row] = data["shipped"][row], data["ordered"][row]
    data["low"][400], data["high"][400] = data["high"][400] + 9, data["low"][400]
    data["high"][401] = data["net"][402] = data["price"][403] = np.nan
    table = pa.table(data)
    found = outlying.detect(table, unusual=True)
    rules = {
        item.terms[-1].column: check(item, table)
        for item in predicates(found)
        if item.terms[-1].others
    }
    wanted = {"shipped": [20, 300], "high": [400], "total {x}": [5, 70], "bill": [9]}
    assert {name: rules.get(name) for name in wanted} == wanted
    code = as_code(found)
    assert '"shipped" < "ordered"' in code
    assert 'abs("total {x}" - ("net" + "tax")) BETWEEN ' in code
    assert 'abs("bill" - (1.0e0 * "amount" * "price")) BETWEEN ' in code


def test_a_formula_that_divides_by_a_column_is_no_rule() -> None:
    def code(shape: int, factor: float = 1.0, constant: float = 0.0) -> str | None:
        return Formula(shape, factor, 0.01, 5.0, constant).code(2)

    assert [code(shape) for shape in (7, 8)] == [None, None]
    assert code(0) == "{0} + {1}"
    assert code(0, 1.8, -32) == "1.8e0 * ({0} + {1}) + -32.0e0"
    assert code(5) == "1.0e0 * {0} * (1 - {1} * 0.01)"


def table_of_odd_names() -> pa.Table:
    random = np.random.default_rng(8)
    rows = 900
    kind = random.choice(ODD_TEXTS[:3], rows)
    size = np.select([kind == ODD_TEXTS[0], kind == ODD_TEXTS[1]], [50.0, 5.0], 500.0)
    size = size * random.normal(1, 0.05, rows)
    other, day = (
        random.normal(0, 1, rows),
        [DAY + dt.timedelta(days=int(k) % 50) for k in range(rows)],
    )
    flag = random.choice(ODD_TEXTS[3:5], rows)
    kind[11], size[11], other[40] = ODD_TEXTS[0], 5.0, 30.0
    flag[77] = "flog"
    columns = (kind, size, other, pa.array(day), flag)
    return pa.table(dict(zip(ODD_NAMES, columns, strict=False)))


def test_findings_select_their_rows_whatever_names_and_values_hold() -> None:
    table = table_of_odd_names()
    found = outlying.detect(table, unusual=True)
    rows = {item.row for item in found.rows if item.word == "exceptional"}
    assert {11, 40} <= rows
    for item in found.rows:
        assert item.findings is not None
        for predicate in predicates(item.findings):
            assert item.row in check(predicate, table), predicate


def test_of_numbers_far_out_as_many_rows_are_selected_as_are_as_far_out() -> None:
    table = table_of_odd_names()
    found = outlying.detect(table).rows
    for item in found:
        assert item.findings is not None
        for cell in item.findings.odd_cells:
            pair = cell.story.headline
            (first, *_) = predicates(item.findings)
            if pair.beyond is not None and first.terms[-1].kind == "between":
                assert len(expected(first, table)) == pair.beyond


def test_where_one_value_is_unlike_others_the_nearest_ordinary_one_is_said() -> None:
    table = table_of_odd_names()
    told = outlying.explain(table, row=40).pairs[0]
    ((_, high),) = [item for item in told.typical if isinstance(item, tuple)]
    assert told.ordinary_at == high
    assert told.to_dict()["ordinary_at"] == high
    told = outlying.explain(table, row=11).pairs[0]
    assert told.ordinary_at is not None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_code_says_each_finding_once(dialect: Any) -> None:
    found = outlying.detect(table_of_odd_names())
    text = as_code(found, dialect, table="my table; drop")
    assert "drop" not in text.replace("my_table_drop", "").replace("drop table t", "")
    assert text.count(", expected ") == len(predicates(found))
    assert as_code([], dialect) is not None
    if dialect in ("pandas", "polars", "pandera"):
        compile(text, "code", "exec")
    if dialect == "gx":
        assert len(json.loads(text)["expectations"]) == len(predicates(found))
    with pytest.raises(OptionError, match="dialect"):
        as_code(found, "cobol")  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:PySpark does not:FutureWarning")  # which pandera imports
def test_a_check_of_pandera_fails_on_the_odd_rows_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYARROW_IGNORE_TIMEZONE", "1")  # pandera lets PySpark set it, for good
    pandera = pytest.importorskip("pandera.pandas", reason="pandera is not installed")
    table = table_of_odd_names().to_pandas(date_as_object=True)
    found = outlying.detect(table)
    scope: dict[str, Any] = {}
    exec(as_code(found, "pandera"), scope)  # noqa: S102 - what is tested
    with pytest.raises(pandera.errors.SchemaErrors) as error:
        scope["schema"].validate(table, lazy=True)
    assert set(error.value.failure_cases["index"]) == {item.row for item in found.rows}
    fine = table.drop(index=[item.row for item in found.rows])
    assert len(scope["schema"].validate(fine, lazy=True)) == len(fine)
