"""Sketches of relations: rows that keep them, what is expected, and the row that does not."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.method.profiles import CategoricalSketch, RelationSketch
from outlying.render import scene

ROWS = 1_000


def orders() -> dict[str, Any]:
    """One row breaks each relation: 0 a product, 1 a line, 2 its account, 3 a zip, 4 an order."""
    rng = np.random.default_rng(3)
    table: dict[str, Any] = {
        "quantity": rng.integers(1, 9, ROWS),
        "price": rng.lognormal(3, 0.6, ROWS).round(2),
        "height": rng.normal(170, 9, ROWS).round(1),
        "zip": rng.choice(["10115", "80331", "50667"], ROWS),
        "start": rng.uniform(0, 900, ROWS).round(1),
    }
    account = rng.integers(0, 80, ROWS)
    level = rng.lognormal(4, 1, 80)
    table["total"] = (table["quantity"] * table["price"]).round(2)
    table["weight"] = (0.9 * table["height"] - 85 + rng.normal(0, 4, ROWS)).round(1)
    table["account"] = np.array([f"A{number:03}" for number in account])
    table["amount"] = (level[account] * rng.lognormal(0, 0.15, ROWS)).round(2)
    cities = {"10115": "Berlin", "80331": "Munich", "50667": "Cologne"}
    table["city"] = np.array([cities[item] for item in table["zip"]])
    table["end"] = table["start"] + rng.exponential(300, ROWS).round(1)
    table["total"][0] *= 0.8
    table["weight"][1] += 45
    table["amount"][2] *= 9
    table["city"][3] = "Munich" if table["city"][3] != "Munich" else "Berlin"
    table["end"][4] = table["start"][4] - 400
    return table


@pytest.fixture(scope="module")
def found() -> list[outlying.Pair]:
    table = orders()
    columns = ("total", "weight", "amount", "city", "end")
    return [
        next(pair for pair in item.pairs if pair.given and name in (pair.column, *pair.given))
        for item, name in zip(outlying.explain_many(table, rows=range(5)), columns, strict=True)
    ]


def sketch(pair: outlying.Pair) -> RelationSketch:
    assert pair.picture is not None
    assert isinstance(pair.picture.relation, RelationSketch)
    return pair.picture.relation


def expected_at(found: RelationSketch) -> tuple[float, float]:
    points, low, high = found.band
    at = int(np.argmin(np.abs(points - found.own[0])))
    return float(low[at]), float(high[at])


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_row_is_outside_of_what_is_expected(found: list[outlying.Pair], place: int) -> None:
    """And most of the rows drawn are inside."""
    drawn = sketch(found[place])
    low, high = expected_at(drawn)
    assert not low - 1e-6 <= drawn.own[1] <= high + 1e-6
    order = np.argsort(drawn.band[0], kind="stable")
    points, lows, highs = (side[order] for side in drawn.band)
    least, most = (np.interp(drawn.x, points, side) for side in (lows, highs))
    assert np.mean((drawn.y >= least - 0.02) & (drawn.y <= most + 0.02)) > 0.9
    assert 10 <= len(drawn.x) <= 300


def test_a_column_along_another_one(found: list[outlying.Pair]) -> None:
    drawn = sketch(found[1])
    assert {found[1].column, drawn.given} == {"height", "weight"}
    table = orders()
    own = table[str(drawn.given)][1], table[found[1].column][1]
    assert drawn.own == pytest.approx(own)


def test_several_columns_give_what_is_computed(found: list[outlying.Pair]) -> None:
    drawn, table = sketch(found[0]), orders()
    assert drawn.given == ""
    assert found[0].column == "total"
    assert drawn.own[0] == pytest.approx(table["quantity"][0] * table["price"][0], abs=0.01)
    assert drawn.x == pytest.approx(drawn.y, abs=0.011)


def test_the_rows_of_the_same_thing(found: list[outlying.Pair]) -> None:
    drawn, table = sketch(found[2]), orders()
    assert drawn.given is None
    others = (table["account"] == table["account"][2]) & (np.arange(ROWS) != 2)
    assert drawn.y.tolist() == sorted(table["amount"][others])


def test_labels_of_the_rows_that_are_given_the_same(found: list[outlying.Pair]) -> None:
    assert found[3].picture is not None
    counted = found[3].picture.relation
    assert isinstance(counted, CategoricalSketch)
    table = orders()
    same = table["city"][table["zip"] == table["zip"][3]]
    assert {bar.label: bar.count for bar in counted.bars} == {
        label: int(np.count_nonzero(same == label)) for label in set(same)
    }
    chart = scene.property_chart(found[3], found[3].picture)
    assert isinstance(chart, scene.BarChart)
    assert [bar.label for bar in chart.bars if bar.is_object] == [table["city"][3]]


def test_sketches_do_not_depend_on_the_order_of_rows(found: list[outlying.Pair]) -> None:
    table = {name: values[::-1] for name, values in orders().items()}
    for place, pair in enumerate(found):
        pairs = outlying.explain(table, row=ROWS - 1 - place).pairs
        other = next(
            item for item in pairs if (item.column, item.given) == (pair.column, pair.given)
        )
        assert other.picture is not None
        if isinstance(other.picture.relation, RelationSketch):
            one, same = sketch(pair), other.picture.relation
            for own, others in ((one.x, same.x), (one.y, same.y)):
                assert np.sort(own) == pytest.approx(np.sort(others))


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("choice", ["auto", "linear", "log"])
def test_a_relation_is_drawn_inside_of_its_picture(
    found: list[outlying.Pair], place: int, choice: Any
) -> None:
    pair = found[place]
    assert pair.picture is not None
    chart = scene.property_chart(pair, pair.picture, choice)
    if isinstance(chart, scene.Chart) and chart.kind == "scatter":
        for shape in chart.shapes:
            assert np.all((shape.x >= 0) & (shape.x <= 1))
            assert np.all((shape.y >= 0) & (shape.y <= 1))
        (rows,) = chart.of_role("rows")
        assert len(rows.x) >= 5
        assert 0 < chart.mark_place < 1
        (own,) = chart.of_role("this")
        assert own.x[0] == chart.mark_place
    assert "<figure>" in pair._repr_html_()
    assert pair.plot("property", axis=choice).axes[0].has_data()


def test_a_row_a_little_off_a_formula_is_seen_beside_it(found: list[outlying.Pair]) -> None:
    """The axis shows what is near: over the whole table the row would be on the line."""
    assert found[0].picture is not None
    chart = scene.property_chart(found[0], found[0].picture)
    assert isinstance(chart, scene.Chart)
    (own,) = chart.of_role("this")
    assert abs(chart.mark_place - own.y[0]) > 0.05


def test_without_a_sketch_there_is_the_distance(found: list[outlying.Pair]) -> None:
    pair = found[1]
    assert pair.picture is not None
    picture = dataclasses.replace(pair.picture, relation=None)
    assert scene.property_chart(pair, picture).kind == "density"


def test_the_rows_of_a_sensor_in_time() -> None:
    """Those next to the row, one after the other, and what its neighbours suggest."""
    rng = np.random.default_rng(5)
    sensors, steps = 12, 120
    temp = np.cumsum(rng.normal(0, 0.3, (sensors, steps)), axis=1) + rng.normal(20, 6, (sensors, 1))
    temp[4, 20] += 8
    hours = np.datetime64("2024-03-01T00:00") + np.arange(steps) * np.timedelta64(60, "m")
    table = {
        "sensor": np.repeat([f"S{number:02}" for number in range(sensors)], steps),
        "taken": np.tile(hours, sensors),
        "temp": temp.ravel().round(2),
    }
    found = outlying.explain(table, row=4 * steps + 20)
    pair = next(item for item in found.pairs if item.picture and is_series(item))
    drawn = sketch(pair)
    assert drawn.given == "taken"
    others = np.delete(table["temp"][4 * steps : 5 * steps], 20)
    assert drawn.y.tolist() == others[: len(drawn.y)].tolist()
    assert np.all(np.diff(drawn.x) > 0)
    low, high = expected_at(drawn)
    assert low < high < drawn.own[1]
    assert pair.picture is not None
    chart = scene.property_chart(pair, pair.picture)
    assert isinstance(chart, scene.Chart)
    assert chart.text == "other rows with the same sensor"
    assert [shape.role for shape in chart.shapes if shape.kind == "line"][-1] == "series"


def test_labels_that_predict_a_number() -> None:
    """Rows with the same labels stand along the number: two columns of dots would say less."""
    rng = np.random.default_rng(2)
    kind = np.repeat(["a", "b", "c"], 200)
    value = rng.normal(0, 1, 600) + 30 * (kind == "a")
    value[0] = 20.0
    pairs = outlying.explain({"kind": kind, "value": value}, row=0).pairs
    drawn = sketch(next(pair for pair in pairs if pair.given == ("kind",)))
    assert drawn.given is None
    assert drawn.y.tolist() == sorted(value[1:200])
    assert expected_at(drawn)[0] > 20


def is_series(pair: outlying.Pair) -> bool:
    found = pair.picture and pair.picture.relation
    return isinstance(found, RelationSketch) and found.is_series
