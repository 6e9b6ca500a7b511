"""The screen at several scales: what it estimates is what an exact look finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import outlying
from outlying.search import guided as search
from outlying.search import limits
from outlying.search.screen import histograms
from outlying.search.shortlist import as_tuple

ROWS = 900


def table() -> dict[str, Any]:
    """Return columns with far values of several kinds, a gap and a heavy tail."""
    rng = np.random.default_rng(3)
    far = rng.normal(50.0, 1.0, ROWS)
    far[0] = 80.0
    between = np.concatenate([rng.normal(0, 1, ROWS // 2), rng.normal(60, 1, ROWS - ROWS // 2)])
    between[0] = 30.0
    heavy = np.exp(rng.normal(0.0, 2.0, ROWS))
    heavy[0] = 5_000.0
    whole = np.round(rng.normal(20, 3, ROWS))
    whole[0] = 55.0
    return {
        "between": between,
        "far": far,
        "group": rng.choice(["a", "b", "c"], ROWS),
        "heavy": heavy,
        "whole": whole,
    }


@pytest.mark.parametrize("groups", [64, 10**6])
@pytest.mark.parametrize("row", [0, 1, 2])
def test_estimates_are_those_of_exact_looks(
    row: int, groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a group for each value nothing is estimated; with 64, strengths are off by little."""
    monkeypatch.setattr(histograms, "GROUPS", groups)
    explainer = outlying.Explainer(table(), references=0)
    prepared = explainer.in_memory("this").prepared
    exact = prepared.exact(row)
    run = search._GuidedSearch(exact, prepared.cache, quick=False)
    scales = set()
    for place in range(len(exact.properties)):
        found = search._PropertySearch(run, place)
        found.short_contexts()
        scored = found.searched[0][0]
        for number, context in enumerate(scored.contexts):
            hit = exact.look(place, as_tuple(context))
            if hit is None:
                continue
            scales.add(hit.summary.scale)
            off = abs(scored.strengths[number] - hit.strength)
            if groups > 64:
                assert off < 1e-9
                assert scored.rarity[number] == pytest.approx(hit.summary.rarity)
            elif hit.summary.rarity >= 10:
                assert off < limits.SLIP
    if row == 0:
        assert max(scales) > 4


def test_distance_counts() -> None:
    """Twice as far off is rarer, up to the number of rows."""
    data = table()
    found = []
    for far in (53.5, 56.0, 80.0):
        data["far"][0] = far
        pairs = outlying.explain({"far": data["far"]}, row=0, references=0).pairs
        found.append(pairs[0].rarity)
    assert found == sorted(found)
    assert found[0] < found[-1] / 2
    assert found[-1] == pytest.approx(ROWS, rel=0.02)


def test_one_wild_value_elsewhere_does_not_lift() -> None:
    """The window of the whole table is wide, that of the group is not: lift compares at one."""
    rng = np.random.default_rng(1)
    value, group = rng.normal(size=ROWS), rng.choice(["a", "b"], ROWS)
    value[0], group[0] = 1e6, "a"
    value[1], group[1] = 4.5, "b"
    stories = outlying.explain({"group": group, "value": value}, row=1, references=0).stories
    pairs = [pair for story in stories for pair in story.pairs if pair.property == "value"]
    assert pairs
    assert all(pair.lift <= 1 / pair.support + 1e-9 for pair in pairs)
    assert all(pair.lift < 1.2 for pair in pairs if pair.conditions)


def test_where_all_rows_are_equal_there_is_nothing_to_compare() -> None:
    """A context whose screened rows, and the object, have one value: no rarity, and no window."""
    rng = np.random.default_rng(2)
    rows = 4000
    group = np.where(np.arange(rows) % 2 == 0, "still", "moving")
    speed = np.where(group == "still", 0.0, rng.choice([40.0, 50.0, 60.0], rows))
    explainer = outlying.Explainer({"group": group, "speed": speed}, references=0)
    prepared = explainer.in_memory("this").prepared
    run = search._GuidedSearch(prepared.exact(0), prepared.cache, quick=True)
    found = search._PropertySearch(run, 1)
    found.short_contexts()
    scored = found.searched[0][0]
    alone = [
        number for number, context in enumerate(scored.contexts) if len(as_tuple(context)) == 1
    ]
    assert alone
    assert all(scored.rarity[number] == -np.inf for number in alone)
    assert all(rank[-1] == () for rank in found.closest())
