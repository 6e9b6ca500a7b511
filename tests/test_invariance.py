"""What must not matter: the order of rows and columns, names, units, doubled rows."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import outlying
from benchmarks.planted import KINDS, plant
from tests import naive, strategies


def cases() -> list[Any]:
    return [pytest.param(kind, seed, id=f"{kind}-{seed}") for kind in KINDS for seed in range(2)]


def explained(data: dict[str, Any], row: int, **options: Any) -> outlying.Findings:
    return outlying.explain(data, row=row, top=1000, **options)


@pytest.mark.parametrize(("kind", "seed"), cases())
@pytest.mark.parametrize("bandwidth", [None, "fixed", "adaptive"])
def test_row_order_changes_no_byte(kind: str, seed: int, bandwidth: str | None) -> None:
    planted = plant(kind, seed, rows=250, noise=4)
    order = np.random.default_rng(seed).permutation(250)
    shuffled = {name: column[order] for name, column in planted.data.items()}
    row = int(np.flatnonzero(order == planted.row)[0])
    options = {} if bandwidth is None else {"preset": "paper", "bandwidth": bandwidth}
    before = explained(planted.data, planted.row, **options)
    after = explained(shuffled, row, **options)
    assert dataclasses.replace(after, row=before.row).to_json() == before.to_json()


@settings(max_examples=60)
@given(
    table=strategies.tables(), place=st.integers(0, 1000), order=st.randoms(use_true_random=False)
)
def test_row_order_of_any_table(table: strategies.Table, place: int, order: Any) -> None:
    assume(any(naive.takes_part(cells) for cells in table.values()))
    rows = len(next(iter(table.values())))
    row = place % rows
    places = list(range(rows))
    order.shuffle(places)
    shuffled = {name: [cells[old] for old in places] for name, cells in table.items()}
    before = explained(dict(table), row)
    after = explained(shuffled, places.index(row))
    assert dataclasses.replace(after, row=row).to_json() == before.to_json()


@pytest.mark.parametrize(("kind", "seed"), cases())
def test_column_order_changes_no_pair(kind: str, seed: int) -> None:
    planted = plant(kind, seed, rows=250, noise=4)
    turned = dict(reversed(planted.data.items()))
    before, after = explained(planted.data, planted.row), explained(turned, planted.row)
    assert json.dumps([p.to_dict() for p in after.pairs]) == json.dumps(
        [p.to_dict() for p in before.pairs]
    )


@pytest.mark.parametrize(("kind", "seed"), cases())
def test_renaming_changes_names_only(kind: str, seed: int) -> None:
    planted = plant(kind, seed, rows=250, noise=4)
    renamed = {f"neu {name}": column for name, column in planted.data.items()}
    before, after = explained(planted.data, planted.row), explained(renamed, planted.row)
    for old, new in zip(before.pairs, after.pairs, strict=True):
        given = f" given {', '.join(f'neu {name}' for name in old.given)}" if old.given else ""
        assert new.property == f"neu {old.property.split(' given ')[0]}{given}"
        assert [c.attribute for c in new.conditions] == [
            f"neu {c.attribute}" for c in old.conditions
        ]
        numbers = [(pair.strength, pair.rarity, pair.tail) for pair in (old, new)]
        assert numbers[1] == pytest.approx(numbers[0], rel=1e-9)


@pytest.mark.parametrize(("kind", "seed"), cases())
def test_units_do_not_matter(kind: str, seed: int) -> None:
    """An affine change of unit changes no number of the relative measure beyond 1e-9."""
    planted = plant(kind, seed, rows=250, noise=4)
    factors = iter([1e9, 0.3048, 1e-3, 1.8, 7e3] * 10)
    turned = {
        name: column if column.dtype == object else column.astype(float) * next(factors) + 1
        for name, column in planted.data.items()
    }
    before, after = explained(planted.data, planted.row), explained(turned, planted.row)
    for old, new in zip(before.pairs, after.pairs, strict=True):
        assert new.property == old.property
        assert [c.attribute for c in new.conditions] == [c.attribute for c in old.conditions]
        assert new.group_size == old.group_size
        for name in ("outlierness", "rarity", "tail", "lift", "strength", "overall_outlierness"):
            assert getattr(new, name) == pytest.approx(getattr(old, name), rel=1e-9, abs=1e-9)


@settings(max_examples=60)
@given(
    size=st.integers(4, 25),
    times=st.integers(2, 4),
    place=st.integers(0, 1000),
    data=st.data(),
)
def test_doubled_rows_keep_proportions(size: int, times: int, place: int, data: Any) -> None:
    table = {name: data.draw(strategies.label_cells(size)) for name in ("a", "b", "c")}
    assume(any(naive.takes_part(cells) for cells in table.values()))
    types = dict.fromkeys(table, "categorical")
    doubled = {name: cells * times for name, cells in table.items()}
    options = {"types": types, "preset": "paper", "measure": "relative", "min_outlierness": 0.5}
    before = explained(dict(table), place % size, **options)
    after = explained(doubled, place % size, **options)
    assert len(before.pairs) == len(after.pairs)
    for old, new in zip(before.pairs, after.pairs, strict=True):
        assert (new.property, new.conditions) == (old.property, old.conditions)
        assert new.group_size == times * old.group_size
        for name in ("outlierness", "rarity", "tail", "support", "lift", "strength"):
            assert getattr(new, name) == pytest.approx(getattr(old, name), rel=1e-9, abs=1e-9)


def test_the_two_zeros_are_one() -> None:
    """Whichever of them comes first among equal values."""
    cells = [0.0, -0.0, 0.0, -0.0, 1.0, 2.0, 2.0, 3.0] * 4
    table: strategies.Table = {"x": [*cells], "y": ["a", *["b"] * (len(cells) - 1)]}
    turned = {name: [column[0], *reversed(column[1:])] for name, column in table.items()}
    assert outlying.explain(turned, row=0).to_json() == outlying.explain(table, row=0).to_json()


def rides(rows: int = 5_000) -> dict[str, Any]:
    """Make a table of more rows than relations are fitted on."""
    rng = np.random.default_rng(8)
    zone = rng.choice(np.array(["north", "south", "harbour"]), rows, p=[0.5, 0.4, 0.1])
    distance = rng.gamma(3.0, 2.0, rows).round(1) + 0.5
    fare = (3 + 2.1 * distance + (zone == "harbour") * 4 + rng.normal(0, 0.6, rows)).round(2)
    started = np.datetime64("2024-03-01") + rng.integers(0, 200, rows).astype("timedelta64[D]")
    fare[17] += 9.0
    return {"zone": zone, "distance": distance, "fare": fare, "started": started}


def as_texts(column: Any) -> list[str]:
    return [str(value) for value in column.tolist()]


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda data: {f"z{n[::-1]}": c for n, c in data.items()}, id="names"),
        pytest.param(lambda data: {**data, "fare": data["fare"] * 1.609344}, id="unit"),
        pytest.param(
            lambda data: {**data, "started": as_texts(data["started"])}, id="dates as texts"
        ),
        pytest.param(lambda data: {n: as_texts(c) for n, c in data.items()}, id="all as texts"),
    ],
)
def test_rows_are_drawn_alike_for_relations(changed: Any) -> None:
    """The rows that relations are fitted on depend on neither names nor units nor storage."""
    before, after = (outlying.detect(data).scores for data in (rides(), changed(rides())))
    assert np.argmax(before) == 17
    np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-9)
