"""Conditions as bits, compiled and by NumPy: the same words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlying.kernel import library
from outlying.kernel.library import Kernel
from outlying.search.screen.bitsets import Layout
from tests.kernel.builds import LESS

layouts = settings(
    max_examples=100 // LESS,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@layouts
@given(
    sizes=st.lists(st.integers(0, 150), max_size=4),
    others=st.integers(0, 70),
    conditions=st.sampled_from([1, 2, 63, 64, 65, 130]),
    behind=st.integers(0, 9),
    seed=st.integers(0, 99),
)
def test_layouts_are_those_of_numpy(
    kernel: Kernel, sizes: list[int], others: int, conditions: int, behind: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = sum(sizes) + others
    order = rng.permutation(rows)[: sum(sizes)]
    layout = Layout(order, np.cumsum([0, *sizes])[:-1], rows)
    marks = list(rng.random((conditions, rows + behind)) < rng.random((conditions, 1)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(library.VARIABLE, "numpy")
        expected = layout.packed(marks)
        patch.delenv(library.VARIABLE)
        patch.setattr(library, "_loaded", lambda _: kernel)
        found = layout.packed(marks)
    assert [words.tolist() for words in found] == [words.tolist() for words in expected]
