"""Rows as bits against plain boolean arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.search.screen.bitsets import (
    BITS,
    Layout,
    Places,
    Words,
    Workspace,
    packed,
    rows_below,
    rows_in,
)
from outlying.table.columns import Mask

SIZES = st.sampled_from([0, 1, 2, 5, 63, 64, 65, 130])
SEEDS = st.integers(0, 2**32 - 1)


def unpacked(words: npt.NDArray[np.uint64]) -> Mask:
    """The bits of words, one after the other: written without any of our code."""
    shifts = np.arange(BITS, dtype=np.uint64)
    bits = (words[:, :, np.newaxis] >> shifts) & np.uint64(1)
    return bits.reshape(len(words), words.shape[1] * BITS).astype(bool)


def random_marks(rng: np.random.Generator, conditions: int, rows: int) -> Mask:
    """Marks of several conditions: the first of all rows, the last of none."""
    marks = rng.random((conditions, rows)) < rng.random((conditions, 1))
    marks[0], marks[-1] = True, False
    return marks


def laid_out(layout: Layout, marks: Mask) -> Words:
    return np.array(layout.packed(list(marks)), dtype=np.uint64)


def begins(sizes: list[int]) -> Places:
    return np.cumsum([0, *sizes], dtype=np.int64)[:-1]


@pytest.mark.parametrize("rows", [0, 64, 128, 192])
def test_packed_bits_are_the_marks(rows: int) -> None:
    marks = random_marks(np.random.default_rng(rows), 5, rows)
    words = packed(marks)
    assert words.shape == (5, rows // BITS)
    assert np.array_equal(unpacked(words), marks)


@given(st.lists(SIZES, max_size=5), SIZES, SEEDS)
def test_groups_fill_words_of_their_own(sizes: list[int], others: int, seed: int) -> None:
    """Whatever the sizes of the groups; some rows are in none of them."""
    rng = np.random.default_rng(seed)
    rows = sum(sizes) + others
    order = rng.permutation(rows)[: sum(sizes)]
    marks = random_marks(rng, 4, rows)
    layout = Layout(order, begins(sizes), rows)
    words = laid_out(layout, marks)
    assert words.shape == (4, len(layout.group_of_word))
    assert np.array_equal(unpacked(words)[:, layout.slots], marks[:, order])

    group_of_row = np.repeat(np.arange(len(sizes)), sizes)
    assert np.array_equal(layout.group_of_word[layout.slots // BITS], group_of_row)
    counts = Workspace().counted(words)
    for group in range(len(sizes)):
        members = marks[:, order[group_of_row == group]]
        here = counts[:, layout.group_of_word == group]
        assert np.array_equal(rows_in(here), np.count_nonzero(members, axis=1))
    assert np.array_equal(rows_in(counts), np.count_nonzero(marks[:, order], axis=1))


@given(SIZES, st.lists(st.tuples(st.integers(1, 4), st.integers(0, 40)), max_size=4), SEEDS)
def test_contexts_are_what_all_conditions_mark(
    rows: int, asked: list[tuple[int, int]], seed: int
) -> None:
    """Also where memory is used again for more contexts, fewer, or none."""
    rng = np.random.default_rng(seed)
    marks = random_marks(rng, 6, rows)
    order = rng.permutation(rows)
    layout = Layout(order, begins([rows]), rows)
    words, work = laid_out(layout, marks), Workspace()
    for length, number in asked:
        contexts = rng.integers(len(marks), size=(number, length))
        expected: Mask = np.asarray(marks[contexts].all(axis=1))
        found = work.intersected(words, contexts)
        assert np.array_equal(unpacked(found)[:, layout.slots], expected[:, order])
        counts = work.counted(found)
        assert np.array_equal(counts, unpacked(found).reshape(*found.shape, BITS).sum(axis=2))
        assert np.array_equal(rows_in(counts), np.count_nonzero(expected, axis=1))


@given(st.sampled_from([0, 1, 63, 64, 65, 127, 128, 200]), st.integers(0, 12), SEEDS)
def test_rows_before_an_end_are_counted(rows: int, contexts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    marks = rng.random((contexts, rows)) < rng.random()
    padding = np.zeros((contexts, BITS - rows % BITS), dtype=bool)
    words = packed(np.concatenate([marks, padding], axis=1))
    ends = rng.integers(rows, endpoint=True, size=contexts)
    ends[: contexts // 2] = rng.choice([0, rows, rows // BITS * BITS], contexts // 2)
    found = rows_below(words, Workspace().counted(words), ends)
    expected = [int(mask[:end].sum()) for mask, end in zip(marks, ends, strict=True)]
    assert found.tolist() == expected


def test_memory_holds_until_the_next_call() -> None:
    work = Workspace()
    words = np.arange(8, dtype=np.uint64).reshape(2, 4)
    first = work.intersected(words, np.array([[1]]))
    assert np.array_equal(first, words[1:])
    second = work.intersected(words, np.array([[0]]))
    assert np.shares_memory(first, second)
