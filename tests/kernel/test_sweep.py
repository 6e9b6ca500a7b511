"""What describes sorted values, by compiled code and by NumPy: the same numbers, bit by bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlying.kernel import sweep
from outlying.kernel.library import Kernel
from outlying.method.density import Floats
from outlying.method.distribution import distinct
from tests.kernel.builds import LESS, used

SEEDS = st.integers(0, 2**32 - 1)
ROWS = st.one_of(st.integers(2, 300), st.sampled_from([1000, 4097, 20_001]))
SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, rows: rng.normal(size=rows),
    "ties": lambda rng, rows: np.round(rng.normal(size=rows), 1),
    "heavy": lambda rng, rows: rng.standard_cauchy(rows),
    "tiny": lambda rng, rows: rng.normal(size=rows) * 1e-300,
    "zeros": lambda rng, rows: rng.choice([0.0, 1.0], rows),
}


@given(seed=SEEDS, edges=st.integers(0, 500))
@settings(max_examples=100 // LESS, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_are_located_among_edges(
    by_either: Callable[..., object], seed: int, edges: int
) -> None:
    rng = np.random.default_rng(seed)
    given_edges = np.unique(rng.normal(size=edges).round(1))
    values = np.append(rng.normal(size=50).round(1), [np.nan, np.inf, -np.inf])
    found = by_either(sweep.located, given_edges, values)
    counts = [int((given_edges <= x).sum()) for x in values.tolist()]
    counts[50] = len(given_edges) + 1
    assert np.asarray(found).tolist() == counts


@pytest.fixture
def by_either(kernel: Kernel) -> Callable[..., object]:
    """Return what calls a function by compiled code and by NumPy, and compares."""

    def call(function: Callable[..., object], *given: object) -> object:
        results = []
        for found in (kernel, None):
            with used(found):
                results.append(function(*given))
        one, other = (repr([np.asarray(part).tolist() for part in as_tuple(x)]) for x in results)
        assert one == other
        return results[0]

    return call


def as_tuple(result: object) -> tuple[object, ...]:
    """Return results as a tuple, be it one."""
    return result if isinstance(result, tuple) else (result,)


@settings(
    max_examples=150 // LESS,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(shape=st.sampled_from(sorted(SHAPES)), rows=ROWS, seed=SEEDS)
def test_sweeps_describe_values_as_numpy_does(
    by_either: Callable[..., tuple[Floats, ...]], shape: str, rows: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(SHAPES[shape](rng, rows))
    found, counts, before = distinct(values)
    assert found.tolist() == sorted(set(values.tolist()))
    assert before[-1] == counts.sum() == rows
    if len(found) < 2:
        return
    reach = float(found[-1] - found[0]) / 20
    around = np.asarray(by_either(sweep.rows_around, found, before, reach))
    for place in rng.integers(len(found), size=5):  # the last digit of a sum may decide either way
        near = np.abs(values - found[place])
        least = np.count_nonzero(near < reach * (1 - 1e-9))
        assert least <= around[place] <= np.count_nonzero(near <= reach * (1 + 1e-9))
    by_either(sweep.totals_after, values, np.array([reach / 3, reach]))
    points = np.sort(rng.choice(values, 100))
    for side in ("left", "right"):
        by_either(sweep.places_of, values, points, side)
