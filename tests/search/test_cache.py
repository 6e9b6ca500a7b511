"""What objects share changes no result: not what was explained before, not what was forgotten."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.search import prepared, shared, shelf
from outlying.search.shared import Group, Shared
from outlying.table.conditions import Condition

ROWS = 900
ASKED = (0, 1, 2, 450, 899)

#: So little that what is shared is forgotten all the time.
LIMITS: dict[str, list[tuple[object, str, int]]] = {
    "as usual": [],
    "hardly any conditions": [(shelf, "MOST_CONDITIONS", 2)],
    "conditions": [(shelf, "MOST_CONDITIONS", 24)],
    "marks": [(shelf, "MOST_MARKS", 0)],
    "no figures": [(shelf, "MOST_FIGURES", 0)],
    "few figures": [(shelf, "MOST_FIGURES", 1_400)],
    "bytes": [(shared, "MOST_BYTES", 1)],
    "some bytes": [(shared, "MOST_BYTES", 4 * ROWS)],
    "groups": [(shared, "MOST_GROUPS", 1)],
}
LIMITS["all"] = [LIMITS[name][0] for name in ("conditions", "few figures", "bytes", "groups")]


def table() -> dict[str, Any]:
    """Numbers, labels and gaps; some rows break what ties the columns."""
    rng = np.random.default_rng(6)
    level = rng.integers(3, size=ROWS)
    found = {
        "a": level * 6 + rng.normal(size=ROWS),
        "b": rng.normal(size=ROWS),
        "c": np.round(level * -4 + rng.normal(size=ROWS), 1),
        "d": np.array(["p", "q", "r"])[level],
        "e": np.where(rng.random(ROWS) < 0.2, np.nan, rng.exponential(size=ROWS)),
        "f": rng.choice(["x", "y"], ROWS),
    }
    found["a"][:3] = found["a"][::-1][:3] + 9
    return found


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("screened", [300, ROWS], ids=["by a sample", "by all rows"])
def test_nothing_explained_before_changes_a_result(
    limits: str, screened: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared, "SCREENED", screened)
    monkeypatch.setattr(prepared, "NEARBY", 600)
    data = table()
    fresh = [outlying.explain(data, row=row).to_json() for row in ASKED]
    for module, name, value in LIMITS[limits]:
        monkeypatch.setattr(module, name, value)
    explainer = outlying.Explainer(data)
    for row in range(100, 130):
        explainer.explain(row=row)
    assert [explainer.explain(row=row).to_json() for row in ASKED] == fresh
    assert [explainer.explain(row=row).to_json() for row in reversed(ASKED)] == fresh[::-1]


@pytest.mark.parametrize(
    "options", [{"search": "exhaustive", "max_conditions": 2}, {"measure": "paper"}], ids=str
)
def test_other_searches_share_as_well(options: dict[str, Any]) -> None:
    data = {name: cells[:200] for name, cells in table().items()}
    explainer = outlying.Explainer(data, references=0, **options)
    for row in range(100, 110):
        explainer.explain(row=row)
    for row in (0, 1, 150):
        fresh = outlying.explain(data, row=row, references=0, **options)
        assert explainer.explain(row=row).to_json() == fresh.to_json()


@pytest.mark.parametrize("limits", ["as usual", "all"])
def test_the_limits_above_are_reached(limits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the test above would say nothing."""
    for module, name, value in LIMITS[limits]:
        monkeypatch.setattr(module, name, value)
    explainer = outlying.Explainer(table(), references=0)
    for row in range(100, 130):
        explainer.explain(row=row)
    ready = explainer.in_memory("").prepared
    held = ready.shelf
    assert (len(held._numbers) > 24) == (limits == "as usual")
    assert (len(held._places) * len(ready.attributes) > 1_400) == (limits == "as usual")
    assert (len(ready.shared._groups) > 1) == (limits == "as usual")
    assert (len(ready.shared._masks) > 1) == (limits == "as usual")
    assert (len(ready.shared._profiles) > 1) == (limits == "as usual")


def test_limits_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked for, no more is held than allowed; and what is held is not made again."""
    monkeypatch.setattr(shared, "MOST_BYTES", 250)
    monkeypatch.setattr(shared, "MOST_GROUPS", 3)
    store, made = Shared(), list[int]()
    numbers = [store.number(Condition("x", "equals", value=str(place))) for place in range(7)]
    assert len(set(numbers)) == 7

    def mask(number: int) -> Any:
        made.append(number)
        return np.full(100, number % 2 == 0)

    def group(number: int) -> Group:
        return Group(number, None)

    for number in (*numbers, *numbers):
        assert store.mask(number, functools.partial(mask, number))[0] == (number % 2 == 0)
        assert sum(held.nbytes for held in store._masks.values()) <= 250
        again = len(made)
        store.mask(number, functools.partial(mask, number))
        assert len(made) == again
        key: Any = (None, (number,))
        assert store.group(key, functools.partial(group, number)).rows == number
        assert len(store._groups) <= 3
