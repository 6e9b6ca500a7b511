"""The screen: estimates of many contexts at once against exact densities."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable

import numpy as np
import pytest

import outlying
from outlying import guided, screen
from outlying.density import Floats
from outlying.population import CategoricalAttribute, NumericAttribute, attribute_of
from outlying.sampling import drawn
from outlying.table import CategoricalColumn, NumericColumn

ROWS = 1500

SHAPES: dict[str, Callable[[np.random.Generator], Floats]] = {
    "normal": lambda rng: rng.normal(size=ROWS),
    "clusters": lambda rng: rng.choice([0.0, 8.0, 9.5], ROWS) + rng.normal(0, 0.3, ROWS),
    "heavy": lambda rng: rng.standard_t(2, ROWS),
    "spike": lambda rng: np.where(rng.random(ROWS) < 0.5, 0.0, rng.exponential(size=ROWS)),
    "gaps": lambda rng: np.where(rng.random(ROWS) < 0.3, np.nan, rng.normal(size=ROWS)),
}


def masks(rng: np.random.Generator, values: Floats, row: int) -> screen.Masks:
    """Contexts of several sizes, one of them tied to the values; the row is in all of them."""
    shares = [rng.random(ROWS) < share for share in (1.1, 0.5, 0.3, 0.2)]
    shares.append(values > np.nanmedian(values))
    marked = np.stack(shares, axis=1).astype(np.float32)
    marked[row] = 1
    return marked


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("groups", [64, 10**6])
def test_estimates_are_close(shape: str, groups: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a group for each value nothing is estimated; with 64 groups little is lost."""
    monkeypatch.setattr(screen, "GROUPS", groups)
    rng = np.random.default_rng(5)
    values = SHAPES[shape](rng)
    attribute = attribute_of(NumericColumn("x", "number", values))
    assert isinstance(attribute, NumericAttribute)
    row = int(np.nanargmax(values))
    marked = masks(rng, values, row)
    cells = np.arange(marked.shape[1] ** 2)
    mean, at_object = attribute.screen(row, None).estimate(marked, marked, cells)
    for cell in cells:
        i, j = divmod(int(cell), marked.shape[1])
        exact = attribute.summary((marked[:, i] * marked[:, j]).astype(bool), row, "fixed")
        assert exact is not None
        found = math.log(mean[cell] / at_object[cell])
        error = found - math.log(exact.rarity)
        if groups > 64:
            assert error == pytest.approx(0, abs=1e-9)
        elif exact.rarity < 2 / (1 - 0.9):  # where it decides what is looked at
            assert abs(error) < math.log(guided.MARGIN)
        else:  # a neighbour more or less of a lonely object
            assert abs(error) < math.log(2.5)


@pytest.mark.parametrize("labels", [3, 200])
def test_categories_are_counted(labels: int) -> None:
    """Exactly, but for the many categories that hardly any row has."""
    rng = np.random.default_rng(7)
    codes = np.minimum(rng.geometric(0.1, ROWS), labels).astype(np.int32) - 1
    row = int(np.argmax(codes))
    attribute = attribute_of(
        CategoricalColumn("x", "text", codes, tuple(f"c{code:03d}" for code in range(labels)))
    )
    assert isinstance(attribute, CategoricalAttribute)
    marked = masks(rng, codes.astype(float), row)
    cells = np.arange(marked.shape[1] ** 2)
    mean, at_object = attribute.screen(row, None).estimate(marked, marked, cells)
    for cell in cells:
        i, j = divmod(int(cell), marked.shape[1])
        exact = attribute.summary((marked[:, i] * marked[:, j]).astype(bool), row, "fixed")
        if exact is None:  # a single category
            assert np.isnan(mean[cell])
            continue
        assert at_object[cell] == pytest.approx(exact.at_object, rel=1e-9)
        assert mean[cell] == pytest.approx(exact.mean, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_screened_search_finds_what_the_exact_one_finds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    level = rng.integers(3, size=600)
    table = {
        "a": level * 5 + rng.normal(size=600),
        "b": rng.normal(size=600),
        "c": level * -4 + rng.normal(size=600),
        "d": np.array(["p", "q", "r"])[level],
        "e": rng.exponential(size=600),
    }
    table["a"][:8] = table["a"][8:16]
    rows = list(range(8))
    found = [outlying.explain(table, row=row, top=1000, references=0) for row in rows]
    monkeypatch.setattr(screen, "GROUPS", 10**6)
    exact = [outlying.explain(table, row=row, top=1000, references=0) for row in rows]
    for quick, sure in zip(found, exact, strict=True):
        reached = [pair for pair in quick.pairs if pair.reaches_threshold]
        assert reached == [pair for pair in sure.pairs if pair.reaches_threshold]


def test_the_same_rows_are_drawn_in_any_order() -> None:
    rng = np.random.default_rng(2)
    table = {"x": rng.normal(size=50), "y": rng.integers(4, size=50).astype(float)}
    order = rng.permutation(50)

    def values(columns: dict[str, Floats]) -> list[tuple[float, ...]]:
        attributes = [
            attribute_of(NumericColumn(name, "number", cells)) for name, cells in columns.items()
        ]
        rows = drawn(attributes, 50, 10)
        return [tuple(float(cells[row]) for cells in columns.values()) for row in rows]

    assert values(table) == values({name: cells[order] for name, cells in table.items()})
    backwards = values({name: table[name] for name in ("y", "x")})
    assert [(x, y) for y, x in backwards] == values(table)


def test_large_tables_are_screened_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("outlying.explain")
    monkeypatch.setattr(module, "SCREENED", 500)
    rng = np.random.default_rng(4)
    city = rng.choice(["A", "B", "C"], 3000)
    temp = np.where(city == "A", 30.0, 5.0) + rng.normal(size=3000)
    city[7], temp[7] = "A", 5.2
    findings = outlying.explain({"city": city, "temp": temp, "z": rng.normal(size=3000)}, row=7)
    assert {findings.pairs[0].property, findings.pairs[0].conditions[0].attribute} == {
        "city",
        "temp",
    }
    assert any("screened by 500 of the 3,000 rows" in note for note in findings.notes)
    city_pair = next(pair for pair in findings.pairs if pair.property == "temp")
    assert city_pair.group_size == int(np.count_nonzero(city == "A"))
