"""Bins of numbers, compiled and by NumPy: the same whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlying.kernel import library
from outlying.kernel.library import Kernel
from outlying.stream.histograms import Codes, Grid
from outlying.table.columns import Floats
from tests.kernel.builds import LESS

NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.integers(-3, 3).map(float)
counts = settings(
    max_examples=100 // LESS,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def codes_of(grid: Grid, numbers: Floats, kernel: Kernel | None) -> Codes:
    with pytest.MonkeyPatch.context() as patch:
        if kernel is None:
            patch.setenv(library.VARIABLE, "numpy")
        else:
            patch.setattr(library, "_loaded", lambda _: kernel)
            patch.delenv(library.VARIABLE, raising=False)
        return grid.codes(numbers)


@counts
@given(
    sample=st.lists(st.floats(-1e9, 1e9) | st.sampled_from([0.0, 1.0]), min_size=2, max_size=80),
    numbers=st.lists(NUMBERS, max_size=60),
    bins=st.integers(1, 500),
)
def test_counts_have_the_bins_of_numpy(
    kernel: Kernel, sample: list[float], numbers: list[float], bins: int
) -> None:
    drawn = np.sort(np.array(sample))
    grid = Grid.of(drawn, float(drawn[0]), float(drawn[-1]), bins)
    asked = np.concatenate([np.array(numbers, dtype=np.float64), drawn, [np.nan, np.inf, -np.inf]])
    expected = codes_of(grid, asked, None)
    found = codes_of(grid, asked, kernel)
    assert found.tolist() == expected.tolist()
    assert found.dtype == expected.dtype
