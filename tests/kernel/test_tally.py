"""Contexts counted in bins, compiled and by NumPy: the same whole numbers and bits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from outlying.kernel import tally
from outlying.kernel.library import Kernel
from outlying.search.sweep import CategoryBins, NumericBins, layout_of
from tests.kernel.builds import LESS, used

checks = settings(
    max_examples=60 // LESS,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
SEEDS = st.integers(0, 10**6)
ROWS = st.integers(1, 400) | st.integers(2000, 2500)


def both(kernel: Kernel, made: Callable[[], Any]) -> None:
    """Check that a kernel and NumPy give arrays of the same numbers."""
    with used(kernel):
        found = made()
    with used(None):
        expected = made()
    for own, other in zip(found, expected, strict=True):
        assert own.tolist() == other.tolist()
        assert own.dtype == other.dtype


class Case:
    """Rows in the bins of a property, and the codes of one more attribute of six conditions."""

    def __init__(self, seed: int, rows: int) -> None:
        rng = self.rng = np.random.default_rng(seed)
        if rng.random() < 0.5:
            values = rng.normal(size=rows).round(int(rng.integers(4)))
            values[rng.random(rows) < rng.choice([0, 0.2])] = np.nan
            cut: NumericBins | CategoryBins
            values[0] = 1.0
            cut = NumericBins.cut(np.sort(values[~np.isnan(values)]))
            own = cut.of(values)
        else:
            categories = int(rng.integers(1, 9)) if rng.random() < 0.7 else 200
            codes = rng.integers(-1, max(1, categories - 2), rows).astype(np.int32)
            cut = CategoryBins.cut(codes, categories)  # some of them hold no row
            own = cut.of(codes)
        self.layout = layout_of(cut, own)
        near = np.where(
            rng.random(rows) < 0.7, own * 4 // max(cut.count, 1), rng.integers(4, size=rows)
        )
        self.codes = (near + 1).astype(np.uint16)
        self.first = np.array([0, 1, 3, 6, 7, 9], dtype=np.int32)
        self.listed = np.array([0, 0, 1, 1, 2, 3, 4, 4, 5], dtype=np.int32)

    def words(self) -> tally.Words:
        bits = np.zeros((6, self.layout.words), dtype=np.uint64)
        slots = np.flatnonzero(self.layout.rows >= 0).astype(np.int32)
        order = self.layout.rows[slots]
        tally.lay_out(slots, order, self.codes, self.first, self.listed, bits)
        return bits

    def contexts(self, count: int) -> tally.Small:
        """Return contexts of one to four conditions, in four places."""
        members = np.full((count, 4), -1, dtype=np.int32)
        for own in members:
            chosen = self.rng.choice(6, int(self.rng.integers(1, 5)), replace=False)
            own[: len(chosen)] = np.sort(chosen)
        return members


@checks
@given(seed=SEEDS, rows=ROWS)
def test_rows_of_conditions_and_contexts(kernel: Kernel, seed: int, rows: int) -> None:
    case = Case(seed, rows)
    both(kernel, lambda: [case.words()])
    words, members = case.words(), case.contexts(10)
    both(kernel, lambda: [tally.join(words, members)])


@checks
@given(seed=SEEDS, rows=ROWS, with_empty=st.booleans(), rarity=st.sampled_from([1.5, 3.0, 10.0]))
def test_counts_lifts_and_rare_cells(
    kernel: Kernel, seed: int, rows: int, with_empty: bool, rarity: float
) -> None:
    case = Case(seed, rows)
    assume(case.layout.known > 0)
    words = case.words()
    first, second = (np.ascontiguousarray(side, dtype=np.int32) for side in np.triu_indices(6))
    limits: dict[str, Any] = {
        "least": 2,
        "rarity": rarity,
        "bar": 1.1 * rarity,
        "with_empty": with_empty,
    }
    both(kernel, lambda: tally.count(case.layout, words, words, first, second, **limits))


@checks
@given(seed=SEEDS, rows=ROWS)
def test_cells_are_assigned_alike(kernel: Kernel, seed: int, rows: int) -> None:
    case = Case(seed, rows)
    words, members = case.words(), case.contexts(40)
    bins = case.rng.integers(case.layout.bins, size=40).astype(np.int32)
    both(kernel, lambda: [tally.assign(case.layout, words, bins, members, rows)])


@checks
@given(seed=SEEDS, size=st.integers(1, 300), attributes=st.integers(1, 4))
def test_conditions_that_nearest_rows_share(
    kernel: Kernel, seed: int, size: int, attributes: int
) -> None:
    rng, rows = np.random.default_rng(seed), 20
    each, conditions = np.array([0, 1, 3, 6, 7, 9]), np.array([0, 0, 1, 1, 2, 3, 4, 4, 5])
    listing = tally.Listing(
        *(
            np.asarray(array, dtype=np.int32)
            for array in (
                np.arange(attributes + 1) * len(each),
                np.concatenate([each + k * len(conditions) for k in range(attributes)]),
                np.concatenate([conditions + 6 * k for k in range(attributes)]),
                np.tile([0, 1, 2, 2, 3, 4], attributes),
                np.tile([1, 2, 2, 2, 4, 4], attributes),
            )
        )
    )
    low = rng.integers(size, size=rows)
    high = np.minimum(low + rng.integers(1, 25, size=rows), size)
    codes = np.sort(rng.integers(5, size=(attributes, size)), axis=1).astype(np.uint16)
    around = tally.NearbyMembers(
        low.astype(np.int32),
        high.astype(np.int32),
        rng.random(rows) < 0.5,
        np.ascontiguousarray(codes[:, low]),
        codes,
    )
    skipped = rng.random(attributes) < 0.3
    for least in (1, 5):
        limits: dict[str, Any] = {"least": least, "concentration": 1.5}
        both(kernel, functools.partial(tally.shared, around, listing, skipped, **limits))


def test_a_bin_without_rows_is_no_word(kernel: Kernel) -> None:
    """Two words of one bin and none of another are as many words as bins."""
    codes = np.zeros(100, dtype=np.int32)
    cut = CategoryBins.cut(codes, 2)
    layout = layout_of(cut, cut.of(codes))
    words = np.full((1, layout.words), ~np.uint64(0))
    words[0, 1] = (1 << 36) - 1
    none = np.zeros(1, dtype=np.int32)
    with used(kernel):
        found = tally.count(layout, words, words, none, none, least=2, rarity=1.1, bar=1.1)
    assert (found.sizes.tolist(), found.lifts.tolist(), len(found.bin)) == ([100], [1.0], 0)
