"""Natural intervals: they tile a column, and do not depend on the sign of its numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from outlying.method.intervals import segments


@given(seed=st.integers(0, 2**32 - 1), peaks=st.integers(1, 5))
def test_segments_hold_all_values_and_coarser_ones_hold_them(seed: int, peaks: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(10 * rng.integers(peaks, size=200), 1))
    found = segments(values)
    assert found.rows.sum() == len(values)
    assert (found.lows[1:] > found.highs[:-1]).all()
    lows, highs = found.lows.tolist(), found.highs.tolist()
    for low, high, rows in zip(lows, highs, found.rows.tolist(), strict=True):
        assert np.count_nonzero((values >= low) & (values <= high)) == rows
    for low, high, wider in zip(lows, highs, found.coarser, strict=True):
        for wide_low, wide_high in wider:
            assert wide_low in lows
            assert wide_high in highs
            assert wide_low <= low <= high <= wide_high
            low, high = wide_low, wide_high


@given(
    st.lists(st.integers(-40, 400).map(float), min_size=3, max_size=90, unique=True)
    | st.lists(st.floats(-1e3, 1e3, width=32), min_size=3, max_size=60),
)
def test_the_sign_of_numbers_does_not_matter(numbers: list[float]) -> None:
    values = np.sort(np.array(numbers)) + 0.0
    gaps = np.diff(values)
    assume(values[0] < values[-1] and (np.abs(gaps - gaps[::-1]) > 1e-6 * np.ptp(values)).any())
    own, mirrored = segments(values), segments(-values[::-1])
    assert mirrored.lows.tolist() == (-own.highs[::-1]).tolist()
    assert mirrored.highs.tolist() == (-own.lows[::-1]).tolist()
    turned = [[(-high, -low) for low, high in wider] for wider in reversed(own.coarser)]
    assert mirrored.coarser == turned
