"""Models against their slow twin, and what must not change what they find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlying
from outlying.kernel import library
from outlying.search.evidence import LEEWAY, Evidence, Standing, chance_extreme
from outlying.search.model import numbers_of
from tests import models
from tests import naive_engine as naive

few = settings(max_examples=25)


@settings(max_examples=40)
@given(
    table=models.tables(),
    depth=st.sampled_from([1, 2, 2, 3, 4]),
    support=st.sampled_from([None, None, 5, 0.2]),
)
def test_evidence_is_that_of_the_twin(
    table: models.Table, depth: int, support: float | None
) -> None:
    options: dict[str, Any] = {"max_conditions": depth, "min_support": support}
    model = models.model_of(table, **options)
    expected = models.judged_by_twin(table, **options)
    found = model.evidence
    names = [(p.attribute.column.name, p.is_gap) for p in model.properties]
    assert names == [(name, gap) for name, gap, _ in naive.properties_of(table)]
    for row, judged in enumerate(expected):
        for place, own in enumerate(judged):
            assert found.misfit[row, place] == pytest.approx(own.misfit, abs=2e-9)
            assert found.context(row, place) == own.context
            outside = own.outside
            assert found.outside[row, place] == pytest.approx(outside.strength, abs=1e-9)
            assert found.surprise[row, place] == pytest.approx(outside.surprise, abs=1e-9)
            assert found.group[row, place] == outside.group
            assert found.explained[row, place] == outside.explained
            assert found.strengths(place)[row] == pytest.approx(own.strength, abs=2e-9)
    surprise = [[one.outside.surprise for one in judged] for judged in expected]
    assert found.combination == pytest.approx(naive.combinations(table, surprise), abs=1e-5)
    strengths = [max(one.strength for one in judged) for judged in expected]
    lines = model.standing.exceptional, model.standing.unusual
    assert lines == pytest.approx(naive.lines(strengths), abs=1e-8)


def parts_of(evidence: Evidence) -> dict[str, Any]:
    """Return all that counts against rows: rows x properties, or x 4 conditions."""
    each = list(enumerate(evidence.cells))
    contexts = [cells.members[evidence.cell[:, place]] for place, cells in each]
    names = ("outside", "group", "explained", "surprise", "misfit")
    return {
        **{name: getattr(evidence, name) for name in names},
        "contexts": np.array(contexts).swapaxes(0, 1),
    }


def same(found: Evidence, expected: Evidence, rows: Any = np.s_[:]) -> None:
    """Check that evidence is the same as that against some rows, bit by bit."""
    others = parts_of(expected)
    for name, part in parts_of(found).items():
        assert np.array_equal(part, others[name][rows]), name


@few
@given(table=models.tables())
def test_compiled_code_and_numpy_give_the_same_evidence(table: models.Table) -> None:
    found = models.model_of(table).evidence
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(library.VARIABLE, "numpy")
        expected = models.model_of(table).evidence
    same(found, expected)


@few
@given(table=models.tables(), seed=st.integers(0, 99))
def test_the_order_of_rows_changes_nothing(table: models.Table, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(table["c0"]))
    turned = {name: [cells[row] for row in order] for name, cells in table.items()}
    same(models.model_of(turned).evidence, models.model_of(table).evidence, order)


@few
@given(table=models.tables())
def test_threads_change_nothing(table: models.Table) -> None:
    same(models.model_of(table, threads=2).evidence, models.model_of(table).evidence)


@few
@given(table=models.tables())
def test_names_in_the_same_order_change_nothing(table: models.Table) -> None:
    renamed = {f"neu {name}": cells for name, cells in table.items()}
    same(models.model_of(renamed).evidence, models.model_of(table).evidence)


@few
@given(table=models.tables(most=5))
def test_the_order_of_columns_changes_no_strength(table: models.Table) -> None:
    """Up to two conditions, all contexts are counted; equally strong ones may be told instead."""
    turned = {f"c{9 - place}": cells for place, cells in enumerate(table.values())}
    before = models.model_of(table, max_conditions=2)
    after = models.model_of(turned, max_conditions=2)
    places = {(p.attribute.column.name, p.is_gap): k for k, p in enumerate(after.properties)}
    for place, own in enumerate(before.properties):
        name = f"c{9 - int(own.attribute.column.name[1:])}"
        other = places[name, own.is_gap]
        for kind in ("outside", "misfit", "surprise"):
            one = parts_of(before.evidence)[kind][:, place]
            assert np.array_equal(one, parts_of(after.evidence)[kind][:, other])


@few
@given(table=models.tables(), unit=st.sampled_from([2.0, 2.0**-40, 2.0**300, 1000.0, 0.0625]))
def test_units_change_nothing(table: models.Table, unit: float) -> None:
    """To the last bit for powers of two, up to rounding otherwise."""
    scaled: models.Table = {
        name: [cell * unit if isinstance(cell, float) else cell for cell in cells]
        for name, cells in table.items()
    }
    found, expected = models.model_of(scaled).evidence, models.model_of(table).evidence
    if unit != 1000.0:
        same(found, expected)
    for kind in ("outside", "misfit", "surprise"):
        own = parts_of(expected)[kind]
        assert parts_of(found)[kind] == pytest.approx(own, abs=1e-9)


@few
@given(table=models.tables(), seed=st.integers(0, 10**6))
def test_a_column_of_noise_changes_what_is_told_with_it_only(
    table: models.Table, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    noise = {"noise": rng.normal(size=len(table["c0"])).tolist()}
    before = models.model_of(table, max_conditions=2)
    after = models.model_of(table | noise, max_conditions=2)
    known = len(before.cells.spans)
    assert after.cells.spans[:known] == before.cells.spans
    expected = parts_of(before.evidence)
    found = {k: own[:, : len(before.properties)] for k, own in parts_of(after.evidence).items()}
    without = (found["contexts"] < known).all(axis=2)
    assert np.array_equal(found["misfit"][without], expected["misfit"][without])
    assert np.array_equal(found["surprise"], expected["surprise"])


@few
@given(table=models.tables(), seed=st.integers(0, 10**6))
def test_a_column_that_groups_no_rows_changes_nothing(table: models.Table, seed: int) -> None:
    rng = np.random.default_rng(seed)
    unique: models.Table = {"unique": [f"{number}" for number in rng.random(len(table["c0"]))]}
    before, after = models.model_of(table), models.model_of(table | unique)
    same(before.evidence, after.evidence, np.s_[:, : len(before.properties)])


@few
@given(table=models.tables())
def test_rows_of_the_table_are_judged_alike_as_others(table: models.Table) -> None:
    model = models.model_of(table)
    same(model.judged(model.numbers), model.evidence)
    some = np.arange(0, len(table["c0"]), 3)
    numbers = [numbers_of(attribute, some) for attribute in model.attributes]
    same(model.judged(numbers), model.evidence, some)


def test_categories_that_the_table_does_not_know_are_judged() -> None:
    table = models.random_table(1, 100, ["normal", "by group", "tied"])
    model = models.model_of(table)
    numbers = [own[:2] for own in model.numbers]
    numbers[1] = np.array([3, 900], dtype=np.int32)
    found = model.judged(numbers)
    assert found.outside[0, 1] == found.outside[1, 1] > 0


def test_more_conditions_than_contexts_have_are_as_many_as_they_have() -> None:
    table = models.random_table(1, 100, ["normal", "by group", "tied"])
    found = models.model_of(table, max_conditions=9).evidence
    same(found, models.model_of(table).evidence)


def test_a_table_without_properties_has_no_exceptional_row() -> None:
    model = models.model_of({"a": [1.0] * 40, "b": ["x"] * 40})
    assert model.standing.ordered.tolist() == [0.0] * 40
    assert model.standing.exceptional > 0


@pytest.mark.parametrize("sentinels", [1, 5, 30])
@pytest.mark.parametrize("size", [999.0, 99_999.0, 1e9, -1e6])
@pytest.mark.parametrize("shape", ["rounded", "whole", "spike"])
def test_codes_hide_no_error_in_a_column_of_few_values(
    sentinels: int, size: float, shape: str
) -> None:
    """A code that many rows share, and a round value, are neither a grid nor a wide window."""
    rng = np.random.default_rng(5)
    values = {
        "rounded": rng.normal(100, 10, 1_000).round(1),
        "whole": rng.poisson(6, 1_000).astype(float),
        "spike": np.where(np.arange(1_000) < 980, 2.0, rng.integers(1, 5, 1_000)),
    }[shape]
    values = rng.permutation(values)
    values[-2:] = np.median(values) + 20 * max(values.std(), 0.3)
    values[:sentinels] = size
    noise = {f"n{i}": rng.normal(size=1_000) for i in range(3)}
    table = {name: column.tolist() for name, column in ({"value": values} | noise).items()}
    found = models.model_of(table)
    assert found.evidence.strongest[-2:].min() >= found.standing.exceptional


@pytest.mark.parametrize("sentinels", [0, 1, 5, 30])
@pytest.mark.parametrize("sentinel", [-999.0, 9999.0])
@pytest.mark.parametrize("seed", range(3))
def test_codes_for_unknown_hide_no_error(sentinels: int, sentinel: float, seed: int) -> None:
    """A value twenty standard deviations off is exceptional beside any number of sentinels."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=2000)
    values[:sentinels], values[-1] = sentinel, 20.0
    model = models.model_of({"a": values.tolist(), "b": rng.normal(size=2000).tolist()})
    strengths = model.evidence.strongest
    assert strengths[-1] >= model.standing.exceptional
    clean = strengths[sentinels:-1]
    assert np.count_nonzero(clean >= model.standing.exceptional) <= 1


@pytest.mark.parametrize("seed", range(4))
def test_what_a_minority_always_has_is_no_finding(seed: int) -> None:
    """A rent is larger than all other payments, and ordinary among rents."""
    rng = np.random.default_rng(seed)
    kinds = np.where(np.arange(1000) < 40, "rent", rng.choice(["food", "shop", "fuel"], 1000))
    amounts = np.where(kinds == "rent", rng.normal(950, 60, 1000), rng.uniform(5, 75, 1000))
    amounts[0] = 2500.0
    model = models.model_of({"amount": amounts.round(2).tolist(), "kind": kinds.tolist()})
    strengths = model.evidence.strongest
    assert np.count_nonzero(strengths[1:40] >= model.standing.exceptional) == 0
    assert np.count_nonzero(strengths[1:40] > 0) <= 2
    assert strengths.argmax() == 0
    assert strengths[0] >= model.standing.unusual
    explained = model.evidence.explained[0, 0]
    assert model.attributes[model.cells.spans[explained].attribute].column.name == "kind"


def test_a_value_among_others_of_its_kind_is_not_far_outside() -> None:
    """A sodium of 145 is far from other high results, but not from the sodium among them."""
    rng = np.random.default_rng(3)
    kinds = {"Na": (140, 2.5, 145), "K": (4.2, 0.35, 5.1), "Glu": (5.3, 0.7, 6.1), "CRP": (3, 2, 5)}
    analyte = rng.choice([*kinds], 3_000)
    middle, spread, high = np.array([kinds[name] for name in analyte]).T
    value = np.abs(rng.normal(middle, spread)).round(1)
    value[7] = {"Na": 180.0}.get(str(analyte[7]), 42.0)
    data = {
        "analyte": analyte,
        "value": value,
        "age": rng.integers(1, 95, 3_000),
        "sex": rng.choice(["F", "M"], 3_000),
        "flag": np.where(value > high, "H", "N"),
    }
    strengths = outlying.Explainer(data).strengths()
    line = chance_extreme(3_000)
    others = (analyte == "Na") & (strengths > line) & (np.arange(3_000) != 7)
    assert strengths[7] > line
    assert np.count_nonzero(others) <= 1  # eight without the rule


def test_what_few_of_a_group_always_have_is_no_finding_where_the_others_have_none() -> None:
    """The bonus of the few of level 3 whose salary is that of lower levels, which have none."""
    rng = np.random.default_rng(1)
    level = rng.choice([1, 2, 3, 4, 5], 2_500, p=[0.35, 0.3, 0.2, 0.1, 0.05])
    team = rng.choice(["ops", "it", "sales", "hr", "legal"], 2_500, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    born = (2002 - level * 4 - rng.gamma(3, 3, 2_500)).astype(int)
    hired = born + 20 + rng.integers(0, np.maximum(2004 - born, 1))
    salary = np.exp(10 + 0.25 * level + rng.normal(0, 0.1, 2_500)) * np.where(team == "it", 1.15, 1)
    has_bonus = (level >= 3) & (rng.random(2_500) < 0.7)
    bonus = np.where(has_bonus, np.exp(8 + rng.normal(0, 0.5, 2_500)).round(-1), 0)
    data = {"level": level, "team": team, "born": born, "hired": hired}
    data |= {"salary": salary.round(-2), "bonus": bonus, "remote": rng.random(2_500) < 0.3}
    strengths = outlying.Explainer(data).strengths()
    is_ordinary = (level == 3) & (bonus > 0) & (bonus < 6_000)
    assert np.count_nonzero(is_ordinary & (strengths > chance_extreme(2_500))) <= 2  # eight without


def test_a_row_at_the_border_of_an_interval_is_judged_by_those_around_it() -> None:
    """Short grown-ups are among children where height is small, but not among their neighbours."""
    rng = np.random.default_rng(4)
    age = np.concatenate([rng.uniform(2, 10, 300), rng.uniform(20, 80, 900)])
    height = np.where(age < 15, 80 + 5 * age, 165) + rng.normal(0, 7, 1200)
    height[5] = 165.0
    table: models.Table = {"c0": age.tolist(), "c1": height.tolist()}
    model = models.model_of(table)
    shortest = 300 + int(np.argmin(height[300:]))
    strengths = model.evidence.strongest
    assert np.argmax(strengths) == 5
    assert strengths[shortest] < model.standing.exceptional <= strengths[5]


def test_weak_findings_do_not_lower_the_line_of_exceptional_rows() -> None:
    quiet = Standing.of(np.concatenate([np.zeros(850), np.full(150, 2.0)]))
    assert quiet.exceptional == Standing.of(np.zeros(1000)).exceptional


def test_empty_cells_that_rows_share_come_after_what_is_odd_by_itself() -> None:
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {name: rng.normal(50, 5, 4000).round(1).tolist() for name in "abc"}
    table["a"][0] = table["a"][1] = table["b"][2] = None
    model = models.model_of(table)
    shared, alone = model.evidence.strongest[:2], model.evidence.strongest[2]
    most = chance_extreme(4000) + LEEWAY
    assert shared == pytest.approx([most, most])
    assert alone > most > model.standing.exceptional


def test_an_empty_cell_is_explained_by_one_that_is_empty_in_more_rows() -> None:
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {name: rng.normal(50, 5, 1000).round(1).tolist() for name in "abc"}
    for row in range(6):
        table["a"][row] = None
        table["b"][row] = table["b"][row] if row > 3 else None
    model = models.model_of(table)
    gaps = {p.attribute.column.name: k for k, p in enumerate(model.properties) if p.is_gap}
    assert (model.evidence.strengths(gaps["b"])[:4] <= 0).all()
    assert (model.evidence.strengths(gaps["a"])[:6] > 0).all()
    expected = models.judged_by_twin(table)
    for row in range(8):
        own = [judged.strength for judged in expected[row]]
        assert [model.evidence.strengths(k)[row] for k in range(len(own))] == pytest.approx(own)
