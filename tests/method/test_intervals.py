"""Natural intervals: what does not depend on the object is the same for all objects."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from outlying.method.intervals import candidates, segments
from outlying.options import Options


@given(seed=st.integers(0, 2**32 - 1), peaks=st.integers(1, 5))
def test_values_in_one_segment_have_the_same_intervals(seed: int, peaks: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(10 * rng.integers(peaks, size=200), 1))
    found, options = segments(values), Options()
    known: dict[int, list[tuple[float, float]]] = {}
    for value in values.tolist():
        own = found.holding(value)
        assert (own is None) == (len(found) == 1)  # every value of the column is in a segment
        if own is not None:
            around = candidates(values, found, value, len(values), len(values), options)
            assert known.setdefault(own, around) == around
            assert found.lows[own] <= value <= found.highs[own]
    assert len(known) == (len(found) if len(found) > 1 else 0)
    for low, high in zip(found.highs[:-1].tolist(), found.lows[1:].tolist(), strict=True):
        between = (low + high) / 2
        assert between in (low, high) or found.holding(between) is None
