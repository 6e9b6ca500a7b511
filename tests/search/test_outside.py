"""How far values lie outside, and what explains them away, against the twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import models

rents = st.builds(
    models.random_table,
    seed=st.integers(0, 10**6),
    rows=st.integers(200, 300),
    kinds=st.lists(
        st.sampled_from(["rent", "by group", "labels", "few", "spike"]), min_size=1, max_size=2
    ).map(lambda kinds: ["rent", "by group", *kinds]),
    gaps=st.sampled_from([0.0, 0.02]),
)


@settings(max_examples=6)
@given(table=rents)
def test_what_groups_explain_is_what_the_twin_says(table: models.Table) -> None:
    """Larger tables, whose groups are large enough to explain something."""
    found = models.model_of(table, max_conditions=1).evidence
    expected = models.judged_by_twin(table, max_conditions=1)
    for row, judged in enumerate(expected):
        own = [one.outside for one in judged]
        assert found.outside[row] == pytest.approx([one.strength for one in own], abs=1e-9)
        assert found.surprise[row] == pytest.approx([one.surprise for one in own], abs=1e-9)
        assert found.group[row].tolist() == [one.group for one in own]
        assert found.explained[row].tolist() == [one.explained for one in own]


def payments(rng: np.random.Generator) -> models.Table:
    amounts = [*rng.uniform(5, 75, 960).round(2).tolist(), *[1000.0] * 40]
    return {"amount": amounts, "kind": [*["shop"] * 960, *["rent"] * 40]}


def test_a_group_of_one_value_explains_this_value_only() -> None:
    """All rents are 1,000: so is an ordinary one, and none of 100,000 is."""
    model = models.model_of(payments(np.random.default_rng(0)))
    assert model.evidence.outside[960:, 0].max() <= 0
    exponent = model.attributes[0].exponent
    new = [np.ldexp([1000.0, 100_000.0], -exponent), np.array([0, 0], dtype=np.int32)]
    found = model.judged(new)
    assert found.outside[0, 0] <= 0
    assert found.outside[1, 0] >= model.standing.exceptional


def test_a_rare_category_that_a_group_often_has_is_explained() -> None:
    """A currency that hardly any row has is ordinary in its country, and odd elsewhere."""
    table: models.Table = {
        "country": [*["DE"] * 970, *["CH"] * 30],
        "currency": ["CHF", *["EUR"] * 969, *["CHF"] * 11, *["EUR"] * 19],
    }
    model = models.model_of(table, max_conditions=0)
    place = [p.attribute.column.name for p in model.properties].index("currency")
    found = model.evidence.outside[:, place]
    assert np.flatnonzero(found > 0).tolist() == [0]
    expected = models.judged_by_twin(table, max_conditions=0)
    assert found.tolist() == pytest.approx([judged[place].outside.strength for judged in expected])


@pytest.mark.parametrize(("tenth", "is_explained"), [("rent", True), ("shop", False)])
def test_five_of_the_ten_nearest_values_explain(tenth: str, is_explained: bool) -> None:
    """Four rents are near, then five purchases; the tenth nearest payment decides."""
    rng = np.random.default_rng(0)
    near = [*["rent"] * 5, *["shop"] * 5, tenth]
    kinds = [*near, *["rent"] * 34, *["shop"] * 555]
    amounts = [1000.0 - place for place in range(11)] + rng.uniform(5, 75, 589).round(2).tolist()
    table: models.Table = {"amount": amounts, "kind": list(kinds)}
    found = models.model_of(table, max_conditions=1).evidence
    own = models.judged_by_twin(table, max_conditions=1)[0][0].outside
    assert found.outside[0, 0] == pytest.approx(own.strength, abs=1e-9)
    assert (found.explained[0, 0], found.group[0, 0]) == (own.explained, own.group)
    assert (found.outside[0, 0] <= 0) == is_explained
