"""Mixtures fitted by compiled code and by NumPy: the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlying.kernel import library
from outlying.kernel.library import Kernel
from outlying.method import mixture
from outlying.method.density import Counts, Floats
from outlying.method.intervals import segments
from tests.kernel.builds import LESS, used

fits = settings(
    max_examples=60 // LESS,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def fitted(
    kernel: Kernel | None, values: Floats, counts: Counts, floor: float, seed: int | None = None
) -> list[list[float]]:
    with used(kernel):
        found = mixture.fit(values, counts, floor, seed)
    return [found.weights.tolist(), found.means.tolist(), found.widths.tolist()]


@fits
@given(
    points=st.dictionaries(
        st.floats(-1e6, 1e6) | st.integers(-20, 20).map(float),
        st.integers(1, 2000),
        min_size=2,
        max_size=60,
    ),
    share=st.floats(1e-6, 0.5),
    seed=st.none() | st.integers(0, 9),
)
def test_fits_have_the_bits_of_numpy(
    kernel: Kernel, points: dict[float, int], share: float, seed: int | None
) -> None:
    values = np.array(sorted(points))
    counts = np.array([points[value] for value in values.tolist()])
    floor = share * max(float(values[-1] - values[0]), 1e-9)
    expected = fitted(None, values, counts, floor, seed)
    assert fitted(kernel, values, counts, floor, seed) == expected


def drawn(name: str, rows: int) -> Floats:
    rng = np.random.default_rng(3)
    if name == "two normal ones":
        return np.concatenate([rng.normal(size=rows // 2), rng.normal(8, 0.5, rows - rows // 2)])
    shapes = {
        "gamma": rng.gamma(2.0, 30.0, rows),
        "rounded": rng.normal(size=rows).round(1),
        # components that are nearly the same go apart from the last bit on
        "heavy tails": rng.standard_cauchy(rows),
        "decades": np.exp(rng.normal(0, 3, rows)),
        "far away": 1e9 + rng.normal(size=rows),
    }
    return shapes[name]


@pytest.mark.parametrize("rows", [5, 65, 20_000])
@pytest.mark.parametrize(
    "name", ["two normal ones", "gamma", "rounded", "heavy tails", "decades", "far away"]
)
def test_segments_of_fits_are_those_of_numpy(
    kernel: Kernel, name: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.sort(drawn(name, rows))
    monkeypatch.setenv(library.VARIABLE, "numpy")
    expected = segments(values)
    monkeypatch.delenv(library.VARIABLE)
    monkeypatch.setattr(library, "_loaded", lambda _: kernel)
    found = segments(values)
    assert found.lows.tolist() == expected.lows.tolist()
    assert found.highs.tolist() == expected.highs.tolist()
    assert found.labels.tolist() == expected.labels.tolist()
