"""The older method: numbers cut into bins."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import outlying
from outlying.options import Discretise
from outlying.reference.formulas import bin_numbers, binned, inner_edges
from outlying.table.columns import CategoricalColumn, numeric_column
from tests import naive, strategies
from tests.conftest import Run
from tests.every_pair import fast_pairs

KINDS = st.sampled_from(["equi-width", "equi-depth"])
NUMBERS = ("outlierness", "rarity", "tail", "support", "lift", "strength", "overall_outlierness")


def cut(values: Any, kind: Discretise, bins: int) -> CategoricalColumn:
    column = binned(numeric_column("x", values), kind, bins)
    assert isinstance(column, CategoricalColumn)
    return column


@given(values=st.integers(1, 60).flatmap(strategies.numbers), kind=KINDS, bins=st.integers(2, 12))
def test_bins_are_those_of_the_twin(values: list[float], kind: Discretise, bins: int) -> None:
    column = cut(values, kind, bins)
    slow = naive.bin_numbers(values, kind, bins)
    used = sorted(set(slow))
    assert column.codes.tolist() == [used.index(place) for place in slow]
    assert len(set(column.labels)) == len(used)


@settings(max_examples=60)
@given(
    table=strategies.tables(),
    place=st.integers(0, 1000),
    kind=KINDS,
    bins=st.integers(2, 6),
    measure=st.sampled_from(["relative", "paper"]),
    least=st.sampled_from([0.3, 0.6, 0.9]),
)
def test_explanations_are_those_of_the_twin(
    table: strategies.Table,
    place: int,
    kind: Discretise,
    bins: int,
    measure: str,
    least: float,
) -> None:
    cells = [naive.binned(column, kind, bins) for column in table.values()]
    assume(any(naive.takes_part(column) for column in table.values()))
    options: dict[str, Any] = {
        "discretise": kind,
        "bins": bins,
        "measure": measure,
        "min_outlierness": least,
        "min_support": 0.1,
        "max_conditions": 3,
    }
    row = place % len(cells[0])
    slow = naive.explain(table, row, search="exhaustive", minimality="strict", **options)
    fast = fast_pairs(table, row, options | {"preset": "paper"})
    assert [told(pair) for pair in fast] == [told(pair) for pair in slow]
    for quick, sure in zip(fast, slow, strict=True):
        assert (quick.group_size, quick.known) == (sure.group_size, sure.known)
        for name in NUMBERS:
            assert getattr(quick, name) == pytest.approx(getattr(sure, name), rel=1e-9, abs=1e-9)


def told(pair: Any) -> tuple[Any, ...]:
    return (pair.property, *((c.attribute, c.kind) for c in pair.conditions))


def test_an_edge_belongs_to_the_bin_that_it_ends() -> None:
    column = cut([0.0, 1.0, 2.0, 3.0, 4.0, math.nan], "equi-width", 2)
    assert column.codes.tolist() == [0, 0, 0, 1, 1, -1]
    assert column.labels == ("0 to 2", "3 to 4")


def test_equal_quantiles_merge() -> None:
    column = cut([0, 0, 0, 0, 0, 0, 1, 2], "equi-depth", 4)
    assert column.codes.tolist() == [0, 0, 0, 0, 0, 0, 1, 1]
    assert column.labels == ("0", "1 to 2")


def test_bins_without_rows_are_none() -> None:
    assert cut([0.0, 0.1, 9.9, 10.0], "equi-width", 10).labels == ("0 to 0.1", "9.9 to 10")


def test_names_differ_where_six_digits_do_not() -> None:
    labels = cut([5 + 1e-12 * step for step in range(4)], "equi-width", 2).labels
    assert len(set(labels)) == 2


def test_huge_numbers_do_not_overflow() -> None:
    assert cut([-1.7e308, 0.0, 1.7e308], "equi-width", 3).codes.tolist() == [0, 1, 2]


def test_bins_end_at_even_distances() -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    edges = inner_edges(values, "equi-width", 2)
    assert edges.tolist() == [2]
    assert bin_numbers(values, edges).tolist() == [0, 0, 0, 1, 1]


def test_dates_are_cut_as_dates() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=day) for day in range(20)]
    table = {"day": [*days, dt.date(2025, 1, 1)]}
    options: dict[str, Any] = {"discretise": "equi-width", "bins": 4, "measure": "relative"}
    pair = outlying.explain(table, row=20, preset="paper", **options).pairs[0]
    assert pair.value == "2025-01-01"
    assert pair.typical == ("2024-01-01 to 2024-01-20",)


def test_bins_of_a_new_object_are_those_of_the_population_with_it() -> None:
    steps, letters = [float(step) for step in range(20)], ["a", "b"] * 10
    table = {"x": steps, "y": letters}
    fresh = {"x": 100.0, "y": "a"}
    longer = {"x": [*steps, 100.0], "y": [*letters, "a"]}
    options: dict[str, Any] = {"preset": "paper", "discretise": "equi-width", "bins": 5}
    joined = outlying.explain(table, object=fresh, **options)
    assert joined.pairs == outlying.explain(longer, row=20, **options).pairs
    assert joined.pairs[0].value == "100"
    assert joined.object == fresh


@pytest.mark.parametrize(("zeros", "is_one_bin"), [(1, True), (5, False)])
def test_what_was_done_is_said(zeros: int, is_one_bin: bool) -> None:
    """A bin of half of the rows ends at the greatest value where more than half have it."""
    table = {"x": [0.0] * zeros + [1.0] * (10 - zeros), "y": [float(step) for step in range(10)]}
    options: dict[str, Any] = {"discretise": "equi-depth", "bins": 2}
    notes = outlying.explain(table, row=0, preset="paper", **options).notes
    assert any("2 equi-depth bins" in note for note in notes)
    assert any("one bin" in note and note.endswith("'x'.") for note in notes) == is_one_bin


def test_the_command_line_has_it(run: Run, tmp_path: Any) -> None:
    file = tmp_path / "t.csv"
    file.write_text("x\n" + "\n".join(map(str, [*range(20), 99])))
    words = ["explain", file, "--row", 21, "--preset", "paper", "--measure", "relative"]
    code, out, _ = run(*words, "--discretise", "equi-width", "--bins", 4)
    assert code == 0
    assert "x = 99, expected " in out
    code, _, err = run(*words, "--bins", 4)
    assert code == 2
    assert "nothing is cut into bins" in err


def test_bins_are_limited_before_they_take_all_memory() -> None:
    with pytest.raises(outlying.OptionError, match="bins is 1000000000; allowed: 2 to 1,000,000"):
        outlying.Options.of(preset="paper", discretise="equi-width", bins=10**9)
