"""The twin itself, against values that can be worked out by hand."""

import math
import random

import pytest

from tests import naive

Column = list[float | str | bool | None]


def test_bandwidth_by_hand() -> None:
    # Mean 2, squared deviations 4, 0, 4: population variance 8/3.
    assert naive.bandwidth([0.0, 2.0, 4.0]) == pytest.approx(1.06 * math.sqrt(8 / 3) * 3**-0.2)


def test_parzen_of_three_points_by_hand() -> None:
    # Variance (1.1**2 + 1**2 + 2.1**2) / 3 = 2.20667, h = 1.2640: only 0 and 0.1 see each other.
    h = 1.06 * math.sqrt(6.62 / 3) * 3**-0.2
    expected = [2 / (3 * h), 2 / (3 * h), 1 / (3 * h)]
    assert naive.parzen_densities([0.0, 0.1, 3.2]) == pytest.approx(expected)


def test_adaptive_parzen_by_hand() -> None:
    # Pilot 2:2:1, so widths 1 : 1 : sqrt(2) over their geometric mean 2**(1/6).
    h = 1.06 * math.sqrt(6.62 / 3) * 3**-0.2
    near, far = h / 2 ** (1 / 6), h * math.sqrt(2) / 2 ** (1 / 6)
    expected = [2 / (3 * near), 2 / (3 * near), 1 / (3 * far)]
    assert naive.parzen_densities([0.0, 0.1, 3.2], "adaptive") == pytest.approx(expected)


def test_parzen_needs_spread() -> None:
    with pytest.raises(ValueError, match="spread"):
        naive.parzen_densities([1.0, 1.0])


def test_frequencies() -> None:
    assert naive.frequency_densities(["a", "b", "a", "a"]) == [0.75, 0.25, 0.75, 0.75]


def test_areas_by_hand() -> None:
    # G is 0 up to 1, 1/3 up to 2, 2/3 up to 4, then 1.
    above, below = naive.areas([1.0, 2.0, 4.0], 2.0)
    assert above == pytest.approx(2 / 3)
    assert below == pytest.approx(1 / 3)


@pytest.mark.parametrize("seed", range(20))
def test_areas_obey_the_identity(seed: int) -> None:
    rng = random.Random(seed)
    densities = [rng.choice([0.5, 1.0, rng.random(), 9 * rng.random()]) for _ in range(25)]
    for f_o in (densities[0], max(densities), min(densities), 0.0, 20.0):
        above, below = naive.areas(densities, f_o)
        assert above - below == pytest.approx(math.fsum(densities) / 25 - f_o)


def test_measures_at_known_values() -> None:
    assert naive.omega(0.0) == 0.0
    assert naive.omega(-1.0) == 0.0
    assert naive.omega(1.0) == pytest.approx(0.4621, abs=1e-4)
    assert naive.omega(math.log(3)) == pytest.approx(0.5)
    line = [float(x) for x in range(40)]
    assert naive.scaled_rarity([*line, 60.0], 60.0, 10.0) == (899 / 41, 4)
    assert naive.tail([0.1, 0.1 * (1 + 1e-12), 0.2, 0.3], 0.1) == 0.5


def test_mixture_of_two_clusters() -> None:
    points = [0.0, 1.0, 2.0, 100.0, 101.0, 102.0]
    counts = [5, 10, 5, 10, 20, 10]
    (w1, m1, b1), (w2, m2, b2) = naive.mixture(points, counts, 0.5)
    assert (m1, m2) == pytest.approx((1.0, 101.0))
    assert (b1, b2) == pytest.approx((math.sqrt(0.5), math.sqrt(0.5)))
    # Each update takes 1 from the mass: about 19 : 39 (the fit stops once it hardly gains).
    assert (w1, w2) == pytest.approx((19 / 58, 39 / 58), abs=0.02)


def test_mixture_with_a_far_value_does_not_underflow() -> None:
    found = naive.mixture([0.0, 0.1, 0.2, 1e9], [10, 10, 10, 5], 0.05)
    assert math.fsum(w for w, _, _ in found) == pytest.approx(1.0)
    assert found[-1][1] == pytest.approx(1e9)


def test_many_distinct_values_share_points() -> None:
    assert len(naive.grouped([float(x) for x in range(512)])) == 512
    # One far value: the others all lie in the first bin of width, and are split by rank alone.
    far = naive.grouped([float(x) for x in range(1023)] + [1e9])
    assert far[0] == [0.0, 1.0, 2.0, 3.0]
    assert len(far) == 257
    assert far[-1] == [1e9]


def test_two_clusters_are_two_segments() -> None:
    rng = random.Random(1)
    low = [rng.gauss(0, 1) for _ in range(30)]
    high = [rng.gauss(50, 1) for _ in range(20)]
    values = [*low, *high]
    rng.shuffle(values)
    first, second = naive.segments(values)
    assert first[:3] == (min(low), max(low), 30)
    assert second[:3] == (min(high), max(high), 20)
    assert naive.segments(values, seed=3)[0][:3] == first[:3]
    assert naive.intervals(values, low[0], 50) == [(min(low), max(low))]


def test_the_most_alike_neighbours_merge() -> None:
    # Borders 0, 2, 4.5, 9: widths 2, 2.5, 4.5; densities 5, 4, 2/3.
    parts = [(0.0, 1.0, 10, 0), (3.0, 4.0, 10, 1), (5.0, 9.0, 3, 0)]
    assert naive.merged(parts) == [(0.0, 4.0, 20, 0), (5.0, 9.0, 3, 0)]


def test_window_of_nearest_ranks() -> None:
    values = [float(x) for x in range(20)]
    assert naive.window(values, 10.0, 20, 0.1) == (8.0, 11.0)  # floor((10 + 10 - 4 + 1) / 2) = 8
    assert naive.window(values, 0.0, 20, 0.1) == (0.0, 3.0)
    assert naive.window(values, 19.0, 20, 0.1) == (16.0, 19.0)
    assert naive.window(values, 10.0, 200, 0.1) == (0.0, 19.0)


def cats_and_dogs() -> dict[str, Column]:
    """A dog as light as a cat: ordinary overall, and among cats; odd among dogs."""
    cats: Column = [4.0, 4.1, 4.2, 4.3, 4.4, 4.5, 4.6, 4.7, 4.8, 4.9]
    dogs: Column = [*[30.0 + d / 100 for d in range(29)], 4.5]
    kinds: Column = ["cat" if r < 10 else "dog" for r in range(40)]
    return {"kind": kinds, "weight": [*cats, *dogs], "planet": ["Earth"] * 40}


def test_planted_value_comes_first() -> None:
    table = cats_and_dogs()
    first = naive.explain(table, 39)[0]
    assert first.property == "weight"
    assert first.value == 4.5
    assert first.conditions == (naive.Condition("kind", "equals", value="dog"),)
    assert (first.group_size, first.known, first.support) == (30, 30, 0.75)
    assert first.tail == pytest.approx(1 / 30)
    # All other dogs lie within half a window: densities 29 and 1 over 30 h; mean 842/30 of that.
    assert first.rarity == pytest.approx(842 / 30)
    assert first.outlierness == pytest.approx(1 - 30 / 842)
    assert first.strength == pytest.approx(math.log(first.rarity) + math.log(first.lift) - 0.3)
    assert first.exceptional


def test_searches_agree_where_two_conditions_are_all() -> None:
    table = cats_and_dogs()
    for measure in ("relative", "paper"):
        guided = naive.explain(table, 39, measure=measure)
        assert guided == naive.explain(table, 39, measure=measure, search="exhaustive")


def test_being_missing_is_a_property() -> None:
    values: Column = [None, *[float(x % 7) for x in range(29)]]
    pairs = naive.explain({"a": values, "b": ["x", "y"] * 15}, 0)
    first = pairs[0]
    # Frequencies 29/30 and 1/30: mean (29 * 29 + 1) / 900.
    assert (first.property, first.value, first.conditions) == ("a", None, ())
    assert first.rarity == pytest.approx(842 / 30)
    assert first.known == first.group_size == 30


def test_nothing_reaches_the_threshold() -> None:
    table: dict[str, Column] = {"a": [0.0, 1.0, 2.0, 3.0, 9.0], "b": ["x", "x", "y", "y", "y"]}
    pairs = naive.explain(table, 4)
    assert [pair.property for pair in pairs] == ["a", "b"][: len(pairs)]
    assert pairs
    assert not any(pair.exceptional for pair in pairs)


def test_minimal_and_one_pair_per_attributes() -> None:
    rng = random.Random(5)
    n = 30
    table: dict[str, Column] = {name: [rng.gauss(0, 1) for _ in range(n)] for name in "abcd"}
    table["e"] = [rng.choice("uvw") for _ in range(n)]
    for search in ("guided", "exhaustive"):
        pairs = naive.explain(table, 3, min_outlierness=0.6, search=search)
        named = [(p.property, tuple(c.attribute for c in p.conditions)) for p in pairs]
        assert len(set(named)) == len(named)
        for p in pairs:
            assert p.outlierness >= 0.6
            assert p.property not in [c.attribute for c in p.conditions]
            for q in pairs:
                if p.property == q.property:
                    assert not set(q.conditions) < set(p.conditions)


def test_unknown_option() -> None:
    with pytest.raises(ValueError, match="sideways"):
        naive.explain(cats_and_dogs(), 0, search="sideways")
