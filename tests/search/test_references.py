"""Confidence: how a finding compares with those on other rows of the table."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.options import Options
from outlying.search import references
from outlying.search.prepared import Prepared
from outlying.search.references import Strongest

Table = dict[str, Any]


@pytest.fixture
def table() -> Table:
    """Two cities of different temperature; row 0 breaks the rule."""
    rng = np.random.default_rng(3)
    city = np.repeat(["A", "B"], 150)
    temp = np.where(city == "A", rng.normal(30, 1, 300), rng.normal(5, 1, 300))
    temp[0] = 5.2
    return {"city": city, "temp": temp, "noise": rng.normal(size=300)}


@pytest.mark.references
def test_a_story_stands_out_and_an_ordinary_row_does_not(table: Table) -> None:
    explainer = outlying.Explainer(table)
    story, ordinary = explainer.explain(row=0), explainer.explain(row=1)
    assert story.exceptional
    assert story.confidence == 1.0
    assert story.pairs[0].standing == "None of 200 other rows has a finding this strong."
    assert not ordinary.exceptional
    assert ordinary.confidence is not None
    assert ordinary.confidence < 0.97


def test_reaching_the_threshold_is_not_enough() -> None:
    """Every other row has a finding just as strong: then the pair is unusual, no more."""
    rng = np.random.default_rng(0)
    table = {f"far{row}": rng.normal(size=60) for row in range(0, 60, 4)}
    for row in range(0, 60, 4):
        table[f"far{row}"][row] = 40.0
    found = outlying.explain(table, row=4, max_conditions=0, references=40, top=1).pairs[0]
    assert found.reaches_threshold
    assert found.confidence is not None
    assert found.confidence < 0.97
    assert not found.exceptional
    assert "far4 = 40.0 is unusual among" in found.sentence
    assert "have findings at least this strong" in found.standing


def test_reference_rows_are_explained_when_asked_and_once(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    screened = Prepared.quickly_screened

    def counted(
        self: Prepared, rows: Sequence[int], *args: Any
    ) -> Sequence[Callable[[], Strongest]]:
        asked.extend(rows)
        return screened(self, rows, *args)

    monkeypatch.setattr(Prepared, "quickly_screened", counted)
    alone = outlying.Explainer(table, references=0).explain(row=0)
    assert alone.confidence is None
    assert not asked
    explainer = outlying.Explainer(table, references=4)
    findings = [explainer.explain(row=row) for row in (0, 1)]
    assert len(asked) == 4 + 1
    assert all(found.confidence is not None for found in findings)
    later = alone.with_confidence(explainer.references())
    assert [pair.comparison for pair in later.pairs] == [p.comparison for p in findings[0].pairs]
    explainer.explain(object={"city": "A", "temp": 5.0, "noise": 0.0}).to_json()
    assert len(asked) == 4 + 1


def test_prepare_asks_at_once_and_tells_how_far_it_is(table: Table) -> None:
    told: list[tuple[int, int]] = []
    explainer = outlying.Explainer(table, references=3)
    explainer.prepare(lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[0] == (0, 4)
    assert all(done < total == 4 for done, total in told)


def test_without_references_the_threshold_decides(table: Table) -> None:
    findings = outlying.explain(table, row=0, references=0)
    assert findings.confidence is None
    assert findings.exceptional
    assert findings.pairs[0].standing == ""
    assert '"confidence": null' in findings.to_json()
    assert "confidence" not in str(findings)


def test_a_row_is_not_compared_with_itself(table: Table) -> None:
    explainer = outlying.Explainer(table, references=300)
    assert "of 299 other rows" in explainer.explain(row=0).pairs[0].standing
    explainer = outlying.Explainer(table, references=1)
    for row in range(0, 300, 25):
        for found in explainer.explain(row=row).pairs:
            assert "The only other row compared" in found.standing


def test_the_order_of_rows_changes_nothing(table: Table) -> None:
    order = np.random.default_rng(1).permutation(300)
    shuffled = {name: values[order] for name, values in table.items()}
    place = int(np.flatnonzero(order == 0)[0])
    first = outlying.explain(table, row=0, references=20)
    second = outlying.explain(shuffled, row=place, references=20)
    assert first.pairs == second.pairs
    assert [pair.confidence for pair in first.pairs] == [pair.confidence for pair in second.pairs]


def test_findings_can_be_stored(table: Table) -> None:
    findings = outlying.explain(table, row=0, references=5)
    again = pickle.loads(pickle.dumps(findings))  # noqa: S301 - our own
    assert again == findings
    assert again.to_json() == findings.to_json()


@pytest.mark.references
def test_how_many_rows_are_asked() -> None:
    assert references.enough_rows(10, False, Options()) == 200
    assert references.enough_rows(40, False, Options()) == 100
    assert references.enough_rows(10, True, Options()) == 100
    assert references.enough_rows(20, True, Options()) == 66
    assert references.enough_rows(70, True, Options()) == 57
    assert references.enough_rows(500, True, Options()) == 50
    assert references.enough_rows(500, False, Options()) == 50
    assert references.enough_rows(10, False, Options.of(search="exhaustive")) == 50
    assert references.enough_rows(10, True, Options.of(references=7)) == 7


@pytest.mark.slow
@pytest.mark.references
def test_ordinary_rows_are_seldom_called_exceptional() -> None:
    """Rows like any other: a confidence of 0.95 or more in about 5%, a claim in fewer."""
    claims = confident = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        groups = rng.integers(3, size=400)
        data: Table = {f"n{i}": rng.normal(size=400) for i in range(3)}
        data |= {"label": np.array(["x", "y", "z"])[groups], "level": groups + rng.normal(size=400)}
        explainer = outlying.Explainer(data)
        for row in range(40):
            findings = explainer.explain(row=row)
            claims += findings.exceptional
            confident += (findings.confidence or 0.0) >= 0.95
    assert confident <= 14  # 6 expected of 120; more in one of a thousand cases
    assert claims <= confident


@pytest.mark.parametrize("count", range(2, 20, 3))
def test_copies_of_the_object_do_not_depend_on_the_order_of_rows(count: int) -> None:
    """Which of several equal rows was drawn, and which was asked about, must not matter."""
    kinds = np.array([0] * 9 + [1] * 9 + [2, 2, 2])
    table = {"v": np.array([1.0, 2.0, 9.0])[kinds], "w": np.array([4.0, 8.0, 4.0])[kinds]}
    answers = set()
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(len(kinds))
        shuffled = {name: cells[order] for name, cells in table.items()}
        for row in np.flatnonzero(kinds[order] == 2):
            findings = outlying.explain(shuffled, row=int(row), references=count)
            answers.add(dataclasses.replace(findings, row=0).to_json())
    assert len(answers) == 1


def ordinary(strength: float, rest: float = 2.0, blamed: int = 0) -> Strongest:
    return Strongest(strength, rest, blamed, 0.0)


def test_a_row_without_a_finding_is_weaker_than_any() -> None:
    rows = tuple(ordinary(-math.inf) for _ in range(100))
    found = references.References(rows, tuple(range(100)), 100, 5).compare(2.4)
    assert (found.as_strong, found.confidence) == (0, 1.0)
    assert found.chance == pytest.approx(1 / 101)


def test_the_tail_tells_one_in_a_thousand() -> None:
    """Of exponential strengths the chance is known; the estimate errs on the safe side."""
    safe = []
    for seed in range(200):
        strengths = np.random.default_rng(seed).exponential(0.8, 200)
        others = sorted(strengths.tolist(), reverse=True)
        beyond = 0.8 * math.log(1000)
        as_strong = sum(other >= beyond for other in others)
        safe.append(references.chance_of(beyond, others, as_strong))
    assert np.median(safe) < 0.005
    assert np.mean(np.array(safe) >= 0.001) > 0.9


def test_the_chance_falls_with_strength_and_is_a_count_where_many_are_as_strong() -> None:
    others = sorted(np.random.default_rng(0).exponential(1.0, 200).tolist(), reverse=True)
    found = [
        references.chance_of(strength, others, sum(other >= strength for other in others))
        for strength in np.linspace(0.0, 12.0, 60)
    ]
    assert all(first >= second for first, second in itertools.pairwise(found[20:]))
    assert found[0] == 1.0


def test_a_dirty_table_is_compared_without_its_odd_cells() -> None:
    """Many rows with one odd cell each, in many columns; in one column it is a heavy tail."""
    clean = [ordinary(2.5) for _ in range(70)]
    spread = [ordinary(6.0, 2.4, blamed=number % 10) for number in range(30)]
    column = [ordinary(6.0, 2.4, blamed=3) for _ in range(30)]
    hashes = tuple(range(100))
    dirty = references.References((*clean, *spread), hashes, 100, 12)
    heavy = references.References((*clean, *column), hashes, 100, 12)
    assert (dirty.is_robust, heavy.is_robust) == (True, False)
    assert dirty.compare(5.5).confidence == 1.0
    assert heavy.compare(5.5).confidence == pytest.approx(0.7)


def test_columns_that_mark_single_rows_do_not_crowd_out_others() -> None:
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {f"c{place}": rng.normal(size=300) for place in range(4)}
    columns["fever"] = rng.normal(36.7, 0.25, 300)
    columns["fever"][5] = 39.6
    for place in range(16):
        flag = np.array(["no"] * 300, dtype=object)
        flag[20 + place] = "yes"
        columns[f"flag {place}"] = flag
    explainer = outlying.Explainer(columns)
    fever, flag_only = explainer.explain(row=5), explainer.explain(row=20)
    assert fever.stories[0].columns == ("fever",)
    assert fever.stories[0].exceptional
    assert flag_only.stories[0].columns == ("flag 0",)
    assert not flag_only.exceptional  # 16 rows of 300 have one
