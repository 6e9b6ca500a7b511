"""Rare cells of contexts of one to four conditions, against the twin's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlying
from outlying.kernel.tally import Layout
from outlying.search import sweep as bins
from outlying.search.cells import CategoricalAttribute
from outlying.search.model import Model
from outlying.search.sweep import ALL_TRIPLES, RareCells, Sweep, Swept, lay_out
from tests import models, naive_engine
from tests import naive_sweep as naive


def layout_of(model: Model, place: int) -> Layout:
    """Lay out the rows of a model in the bins of a property."""
    own = model.properties[place]
    numbers = own.numbers(model.numbers)
    cut: bins.NumericBins | bins.CategoryBins
    if isinstance(own.attribute, CategoricalAttribute):
        cut = bins.CategoryBins.cut(numbers, len(own.attribute.categories))
    else:
        cut = bins.NumericBins.cut(np.sort(numbers[~np.isnan(numbers)]))
    return bins.layout_of(cut, cut.of(numbers))


def swept(model: Model, place: int, depth: int, with_empty: bool, triples: int) -> Swept:
    layout = layout_of(model, place)
    words = lay_out(layout, model.cells, model.codes)
    free = model.cells.contexts_of(model.properties[place].place)
    given: dict[str, Any] = {"least": model.least, "with_empty": with_empty}
    own = Sweep(layout, model.cells, words, free, all_triples=triples, **given)
    return own.run(depth)


def check(
    table: models.Table, depth: int, support: float, with_empty: bool, triples: int = ALL_TRIPLES
) -> list[int]:
    """Compare all cells of all properties; return how many there are, by number of conditions."""
    model = models.model_of(table, min_support=support)
    conditions = naive.conditions_of(table, model.least(1), models.segments_of)
    totals = [0] * depth
    for place, (name, _, cells) in enumerate(naive_engine.properties_of(table)):
        given = naive.bins_of(cells), conditions, name, model.least, with_empty, triples
        expected = naive.Sweep(*given)
        expected.run(depth)
        found = swept(model, place, depth, with_empty, triples)
        lifts = [expected.lifts.get(k, 0.0) for k in range(len(conditions))]
        assert found.lifts.tolist() == pytest.approx(lifts)
        if not found.levels:  # there is no condition on another column
            assert not any(expected.levels)
            continue
        for size, (own, other) in enumerate(zip(found.levels, expected.levels, strict=True)):
            rare = {(c.context, c.bin): c.strength for c in other}
            members = [tuple(k for k in m if k >= 0) for m in own.members.tolist()]
            listed = dict(
                zip(zip(members, own.bins.tolist(), strict=True), own.strengths, strict=True)
            )
            assert listed == pytest.approx(rare, abs=2e-9)
            assert np.all(np.diff(own.strengths) <= 0)
            totals[size] += len(rare)
    return totals


@settings(max_examples=25)
@given(
    table=models.tables(most=3),
    support=st.sampled_from([4, 8, 0.1]),
    with_empty=st.booleans(),
    triples=st.sampled_from([0, ALL_TRIPLES]),
)
def test_cells_are_those_of_the_twin(
    table: models.Table, support: float, with_empty: bool, triples: int
) -> None:
    check(table, 3, support, with_empty, triples)


@pytest.mark.parametrize("seed", range(2))
def test_what_only_three_conditions_show_is_found(seed: int) -> None:
    """A parity of three columns leaves no trace in two of them."""
    table = models.random_table(seed, 320, ["parity", "bits", "more bits", "sign"])
    by_size = check(table, 3, 10, with_empty=True)
    assert by_size[2] > 0


@pytest.mark.parametrize("with_empty", [False, True])
def test_labels_that_share_a_bin_are_not_alike(with_empty: bool) -> None:
    """No pairs are counted among them; they may be rare in a context together."""
    table = models.random_table(2, 500, ["many labels", "by group", "tied"])
    assert len(set(table["c0"])) > 129
    assert check(table, 2, 8, with_empty)[0] > 0


def test_a_label_is_not_rare_among_labels_that_are_all_different() -> None:
    """Hardly any rows of a gazetteer share a postcode: those that do are no oddity."""
    rng, rows = np.random.default_rng(4), 6000
    table = {
        "postcode": [f"{3000 * share**1.5:05.0f}" for share in rng.random(rows)],
        "country": rng.choice(["AT", "DE", "CH"], rows).tolist(),
        "height": rng.normal(300, 50, rows).tolist(),
    }
    assert len(outlying.detect(table).exceptional) == 0


def test_a_beam_goes_on_to_four_conditions() -> None:
    kinds = ["parity", "bits", "more bits", "sign", "by group"]
    assert check(models.random_table(3, 240, kinds), 4, 6, with_empty=False)[3] > 0


def test_beams_of_many_contexts_are_those_of_the_twin() -> None:
    """More contexts of the same columns have an excess than a beam takes."""
    table = models.random_table(5, 100, ["normal", "tied", "tied by group", "normal"])
    check(table, 3, 4, with_empty=False, triples=0)


def test_one_more_condition_counts_only_if_much_stronger() -> None:
    """By ln 3; not less, and not without a cell of fewer conditions."""
    own = np.array([0, 1, 2])
    layout = bins.layout_of(bins.NumericBins(np.array([1.0, 2.0])), own)
    words = np.full((2, layout.words), ~np.uint64(0))
    much = math.log(3)
    levels = []
    for members, strengths in (
        ([0, -1], [3.0, 3.0]),
        ([0, 1], [3 + much + 1e-3, 3 + much - 1e-3, 2]),
    ):
        places = np.arange(len(strengths), dtype=np.int32)
        context = np.array([[*members, -1, -1]] * len(strengths), dtype=np.int32)
        levels.append(RareCells(places, context, np.array(strengths)))
    swept = Swept.of(levels, np.zeros(2))
    found = swept.assigned(layout, words, 3)
    assert swept.cells.strengths[found].tolist() == [3 + much + 1e-3, 3.0, 2.0]
    assert swept.cells.members[found, :2].tolist() == [[0, 1], [0, -1], [0, 1]]
