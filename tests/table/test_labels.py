"""Columns that say which rows are asked for get a hint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.table.columns import numeric_column
from outlying.table.targets import label_columns, lone_rows
from tests.conftest import Run


@pytest.fixture
def orders() -> dict[str, Any]:
    """Rows 3, 4 and 5 are wrong, and a column says so."""
    rng = np.random.default_rng(0)
    amount = rng.normal(50, 5, 120)
    amount[[3, 4, 5]] = 900.0, 950.0, 1000.0
    mark = np.array(["no"] * 120, dtype=object)
    mark[[3, 4, 5]] = "yes"
    return {"amount": amount, "charge back": mark, "flag": (mark == "yes") * 1.0}


def labels(data: dict[str, Any], *rows: int) -> tuple[str, ...]:
    return label_columns(outlying.Explainer(data).table, list(rows))


def test_a_label_has_one_value_on_these_rows_and_another_on_all_others(
    orders: dict[str, Any],
) -> None:
    assert labels(orders, 3, 4, 5) == ("charge back", "flag")
    assert labels(orders, 5, 3, 4, 4) == ("charge back", "flag")
    assert labels(orders, 3, 4) == ()
    assert labels(orders, 3, 4, 5, 6) == ()
    assert labels(orders, 3) == ()
    assert labels(orders | {"flag": np.where(orders["flag"] == 1, 1.0, np.nan)}, 3, 4, 5) == (
        "charge back",
    )
    table = outlying.Explainer(orders).table
    assert label_columns(table, None) == ()
    assert numeric_column("flag", orders["flag"]).content()[0] is None


def test_python_is_told(orders: dict[str, Any]) -> None:
    explainer = outlying.Explainer(orders)
    for found in explainer.explain_many(where={"charge back": "yes"}):
        said = " ".join(str(found).split())
        assert "charge back seems to be a label of the rows asked for" in said
        assert 'exclude=["charge back", "flag"] leaves them out.' in said
        assert found.stories[0].columns == ("amount",)  # labels come last
        assert {story.columns for story in found.stories[1:]} == {("charge back",), ("flag",)}
    alone = explainer.explain(row=3)
    assert "seems to be a label" not in str(alone)
    others = {name: orders[name] for name in ("amount",)}
    assert outlying.Explainer(others).explain(row=3).hints == ()


def test_the_command_line_names_its_own_option(
    run: Run, orders: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "orders.csv"
    lines = [",".join(map(str, cells)) for cells in zip(*orders.values(), strict=True)]
    file.write_text("\n".join([",".join(orders), *lines]) + "\n")
    text = run("explain", file, "--rows", "4-6")[1]
    assert "- --exclude 'charge back' --exclude flag leaves them out." in text
    assert "exclude=" not in text
    kept = run("explain", file, "--where-true", "flag", "--exclude", "charge back")[1]
    assert "seems to be a label" not in kept
    assert "flag was not compared: it names the rows to explain." in kept


def test_columns_in_which_one_row_differs(orders: dict[str, Any]) -> None:
    state, sealed, note = (np.array([value] * 120, dtype=object) for value in ("ok", True, None))
    state[0], sealed[1], note[70] = "checked", False, "see there"
    level = np.full(120, 1.0)
    level[119] = np.nan
    data = orders | {"state": state, "sealed": sealed, "note": note, "level": level}
    lone = {"state": 0, "sealed": 1, "note": 70, "level": 119}
    assert lone_rows(outlying.Explainer(data).table) == lone
    few = {name: values[:19] for name, values in data.items()}
    assert lone_rows(outlying.Explainer(few).table) == {}


def test_a_column_in_which_only_this_row_differs_is_told(orders: dict[str, Any]) -> None:
    state = np.array(["ok"] * 120, dtype=object)
    state[3] = "checked"
    explainer = outlying.Explainer(orders | {"state": state})
    said = "state is the same in all rows but this one"
    alone, among = explainer.explain(row=3), [*explainer.explain_many(rows=[2, 3])]
    assert any(note.startswith(said) for note in alone.notes)
    assert 'exclude=["state"] leaves it out.' in str(alone)
    assert among[1] == alone
    assert not any("all rows but" in note for note in among[0].notes)
    assert not any("all rows but" in note for note in explainer.explain(row=4).notes)


def test_a_value_that_only_this_row_has_is_noted(orders: dict[str, Any]) -> None:
    """What others lack cannot be compared, and yet it is worth a look."""
    said = "remark is filled in this row only."
    for usual, expected in ((None, [7]), ("ok", [])):
        data = orders | {"remark": [*[usual] * 7, "see letter", *[usual] * 112]}
        explainer = outlying.Explainer(data)
        assert [row for row in (7, 8) if said in explainer.explain(row=row).notes] == expected
        assert said not in outlying.explain(data, row=7, exclude=["remark"]).notes
