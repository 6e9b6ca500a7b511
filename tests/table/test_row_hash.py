"""Hashes of rows and draws by them: slow twins, order, copies, texts that are numbers."""

from __future__ import annotations

import math
import struct
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.table import row_hash
from outlying.table.columns import (
    CategoricalColumn,
    Column,
    NumericColumn,
    Rows,
    categorical_column,
    numeric_column,
)

MASK = 2**64 - 1
TEXTS = st.text(st.characters(), max_size=40) | st.integers(-(10**25), 10**25).map(str)


def bits(number: float) -> int:
    return int.from_bytes(struct.pack("<d", number), "little")


def columns_of(table: dict[str, list[Any]]) -> list[Column]:
    return [
        categorical_column(name, cells)
        if any(isinstance(cell, str) for cell in cells)
        else numeric_column(name, cells)
        for name, cells in table.items()
    ]


# --- numbers of cells -----------------------------------------------------------------------


def test_texts_of_whole_numbers_have_the_hashes_of_these() -> None:
    for text in ("12", "-7", "0", "1", str(2**53), str(-(2**53)), "1000000"):
        assert int(row_hash.label_hashes([text])[0]) == bits(float(text))


def test_what_only_looks_like_a_whole_number_is_a_text() -> None:
    texts = ["007", "+1", "-0", "1.0", "1e3", " 1", "1 ", "", "-", "--1", "1-", "٣", "00", "0"]
    texts += ["12", "1", "-1", "7", "1000", "3", str(2**53 + 1), str(10**30), "1" * 300]
    assert len(set(row_hash.label_hashes(texts).tolist())) == len(texts)


@given(st.lists(TEXTS, max_size=30))
def test_equal_texts_and_only_these_have_equal_numbers(texts: list[str]) -> None:
    numbers = row_hash.label_hashes(texts).tolist()
    assert len(set(numbers)) == len(set(texts))
    assert [row_hash.label_hashes([text])[0] for text in texts] == numbers


def test_texts_that_differ_in_length_or_one_byte_differ() -> None:
    texts = ["a" * size for size in range(600)] + ["\0" * size for size in range(1, 40)]
    texts += ["a" * place + "b" + "a" * (299 - place) for place in range(300)]
    texts += ["x" * 16 + "y" * place for place in range(1, 40)]
    assert len(set(row_hash.label_hashes(texts).tolist())) == len(texts)


def test_texts_may_begin_anywhere_in_a_buffer() -> None:
    buffer = np.frombuffer(b"xxabc12defyy", dtype=np.uint8)
    found = row_hash.text_hashes(buffer, np.array([2, 5, 7, 10]))
    assert found.tolist() == row_hash.label_hashes(["abc", "12", "def"]).tolist()
    assert row_hash.text_hashes(b"", np.array([0], dtype=np.int64)).tolist() == []


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_whole_numbers_have_the_hashes_of_their_texts(values: list[int]) -> None:
    found = row_hash.whole_hashes(np.array(values, dtype=np.int64))
    assert found.tolist() == row_hash.label_hashes([str(value) for value in values]).tolist()


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_whole_numbers_without_a_sign_too(values: list[int]) -> None:
    found = row_hash.whole_hashes(np.array(values, dtype=np.uint64))
    assert found.tolist() == row_hash.label_hashes([str(value) for value in values]).tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32])
def test_short_whole_numbers_are_like_long_ones(dtype: Any) -> None:
    values = np.array([0, 1, 100, 127], dtype=dtype)
    assert row_hash.whole_hashes(values).tolist() == [bits(v) for v in (0.0, 1.0, 100.0, 127.0)]


# --- row hashes -----------------------------------------------------------------------------


def naive_hashes(table: dict[str, list[Any]]) -> list[int]:
    """Cell by cell, in whole numbers of any size."""

    def cell_hash(cell: Any) -> int:
        if cell is None or cell != cell:
            return 0x7FF8000000000000
        return int(row_hash.label_hashes([cell])[0]) if isinstance(cell, str) else bits(cell + 0.0)

    def salted(name: str, number: int) -> int:
        number = (number ^ number >> 32) * int(row_hash._salt(name)) & MASK
        return number ^ number >> 32

    def splitmix64(x: int) -> int:
        x = x * 0x9E3779B97F4A7C15 & MASK
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
        x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
        return x ^ x >> 31

    rows = zip(*table.values(), strict=True)
    return [
        splitmix64(sum(salted(n, cell_hash(c)) for n, c in zip(table, row, strict=True)) & MASK)
        for row in rows
    ]


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    rows = draw(st.integers(0, 12))
    numbers = st.floats() | st.sampled_from([0.0, -0.0, 1.0])
    texts = st.sampled_from(["a", "b", "12", ""]) | st.none()
    names = draw(st.lists(st.text(max_size=5), max_size=4, unique=True))
    kinds = [draw(st.sampled_from([numbers, texts])) for _ in names]
    return {
        name: draw(st.lists(kind, min_size=rows, max_size=rows))
        for name, kind in zip(names, kinds, strict=True)
    }


@given(tables())
def test_row_hashes_are_those_of_the_slow_twin(table: dict[str, list[Any]]) -> None:
    rows = len(next(iter(table.values()), []))
    assert row_hash.row_hashes(columns_of(table), rows).tolist() == naive_hashes(table)


def test_rows_of_many_blocks_are_hashed_like_few() -> None:
    rng = np.random.default_rng(1)
    columns = [numeric_column("x", rng.normal(size=50_000)), numeric_column("y", np.arange(50_000))]
    found = row_hash.row_hashes(columns, 50_000)
    part = [numeric_column(column.name, column.values[40_000:40_010]) for column in columns]
    assert found[40_000:40_010].tolist() == row_hash.row_hashes(part, 10).tolist()


def test_zeros_are_one_and_all_that_is_missing_is() -> None:
    odd = np.array([0xFFF8000000000001, 0x7FF0000000000001], dtype=np.uint64).view(np.float64)
    values = np.array([0.0, -0.0, np.nan, -np.nan, *odd])
    found = row_hash.row_hashes([NumericColumn("x", "number", values)], 6)
    assert len(set(found[:2])) == len(set(found[2:])) == 1
    assert found[0] != found[2]


def test_a_text_column_of_whole_numbers_has_the_hashes_of_the_numbers() -> None:
    cells = [3, None, -12, 3, 0]
    texts = categorical_column("x", [None if c is None else str(c) for c in cells])
    numbers = numeric_column("x", [math.nan if c is None else c for c in cells])
    assert row_hash.row_hashes([texts], 5).tolist() == row_hash.row_hashes([numbers], 5).tolist()


@pytest.mark.parametrize("values", [10, 100, 2**20])
@pytest.mark.parametrize("step", [1.0, 0.5, 1e6])
def test_small_whole_numbers_scatter(values: int, step: float) -> None:
    """They differ in a few of the upper bits only."""
    whole = np.random.default_rng(values).integers(values, size=(110_000, 8))
    cells = np.unique(whole, axis=0)[:100_000] * step
    columns = [numeric_column(f"c{place}", cells[:, place]) for place in range(8)]
    found = row_hash.row_hashes(columns, 100_000)
    assert len(np.unique(found)) == 100_000
    for shift in (0, 20, 40, 56):
        counts = np.bincount((found >> np.uint64(shift)).astype(np.int64) & 255, minlength=256)
        assert np.all(np.abs(counts - 100_000 / 256) < 6 * np.sqrt(100_000 / 256))


def test_swapped_cells_are_another_row() -> None:
    one = row_hash.row_hashes(columns_of({"a": [1.0], "b": [2.0], "c": [2.0]}), 1)
    assert one != row_hash.row_hashes(columns_of({"a": [2.0], "b": [1.0], "c": [2.0]}), 1)
    assert one == row_hash.row_hashes(columns_of({"c": [2.0], "b": [2.0], "a": [1.0]}), 1)


# --- draws ----------------------------------------------------------------------------------


def naive_draw(kinds: list[int], counts: list[int], wanted: int) -> list[int]:
    total = sum(counts)
    rows = [place for place, count in enumerate(counts) for _ in range(count)]
    if total > wanted:
        rows = [rows[(2 * i + 1) * total // (2 * wanted)] for i in range(wanted)]
    seen: Counter[int] = Counter()
    keyed = []
    for place in rows:
        one = np.array([seen[place]], dtype=np.uint64)
        key = row_hash.splitmix64(
            np.array([kinds[place]], dtype=np.uint64) + row_hash.splitmix64(one)
        )
        keyed.append((int(key[0]), kinds[place], seen[place], place))
        seen[place] += 1
    return [place for *_, place in sorted(keyed)]


@given(
    st.dictionaries(st.integers(0, MASK), st.integers(1, 30), max_size=20),
    st.integers(0, 60),
)
def test_draws_are_those_of_the_slow_twin(kinds: dict[int, int], wanted: int) -> None:
    ordered = sorted(kinds)
    counts = [kinds[kind] for kind in ordered]
    found = row_hash.systematic_sample(
        np.array(ordered, dtype=np.uint64), np.array(counts, dtype=np.int64), wanted
    )
    assert found.tolist() == naive_draw(ordered, counts, wanted)


def test_draws_are_exact_where_products_would_overflow() -> None:
    counts = np.array([2**61, 2**61 + 1, 2**61 - 1], dtype=np.int64)
    kinds = np.array([1, 2, 3], dtype=np.uint64)
    total = int(counts.sum())
    expected = Counter(
        0 if place < 2**61 else 1 if place < 2**62 + 1 else 2
        for place in ((2 * i + 1) * total // 2000 for i in range(1000))
    )
    assert Counter(row_hash.systematic_sample(kinds, counts, 1000).tolist()) == expected


@pytest.mark.parametrize("part", [50, 200])
def test_every_prefix_of_a_draw_is_a_fair_sample(part: int) -> None:
    counts = np.array([6000, 3000, 1000], dtype=np.int64)
    kinds = np.array([10, 2**40, 2**63], dtype=np.uint64)
    found = np.bincount(row_hash.systematic_sample(kinds, counts, 1000)[:part], minlength=3) / part
    assert found == pytest.approx([0.6, 0.3, 0.1], abs=4 * 0.5 / math.sqrt(part))


def chosen_by_hand(columns: list[Column], rows: int, count: int, kinds: int) -> list[int]:
    found = row_hash.row_hashes(columns, rows).tolist()
    members: dict[int, list[int]] = {}
    for row, mark in enumerate(found):
        members.setdefault(mark, []).append(row)
    kept = sorted(members)[: max(kinds, count)]
    places = naive_draw(kept, [len(members[mark]) for mark in kept], count)
    return [members[kept[place]].pop(0) for place in places]


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(0, 70), st.integers(1, 40))
def test_rows_are_drawn_from_a_bottom_k_sketch(cells: list[int], count: int, kinds: int) -> None:
    columns: list[Column] = [numeric_column("x", cells)]
    found = row_hash.sample_rows(columns, len(cells), count, kinds).tolist()
    assert found == chosen_by_hand(columns, len(cells), count, kinds)


def test_the_same_rows_are_drawn_in_any_order() -> None:
    """Whatever the order of rows, of columns, and of the labels behind the codes."""
    rng = np.random.default_rng(2)
    numbers = {"x": rng.normal(size=50), "y": rng.integers(4, size=50).astype(float)}
    numbers["y"][:5] = np.nan
    labels = rng.choice(["p", "q", "r"], 50)

    def chosen(order: Rows, names: str, known: tuple[str, ...], count: int) -> list[int]:
        columns: dict[str, Column] = {
            name: NumericColumn(name, "number", cells[order]) for name, cells in numbers.items()
        }
        codes = np.array([known.index(label) for label in labels[order]], dtype=np.int32)
        columns["z"] = CategoricalColumn("z", "text", codes, known)
        rows = row_hash.sample_rows([columns[name] for name in names], 50, count)
        return [int(order[row]) for row in rows]

    plain = chosen(np.arange(50), "xyz", ("p", "q", "r"), 10)
    assert len(set(plain)) == 10
    order = rng.permutation(50)
    assert chosen(order, "xyz", ("p", "q", "r"), 10) == plain
    assert chosen(order, "zyx", ("r", "p", "q"), 10) == plain
    assert sorted(chosen(order, "xyz", ("p", "q", "r"), 60)) == list(range(50))


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 4))
def test_copies_beyond_a_number_are_left_out(cells: list[int], most: int) -> None:
    kept, places = row_hash.limit_copies([numeric_column("x", cells)], len(cells), most)
    assert Counter(cells[row] for row in kept) == {
        cell: min(count, most) for cell, count in Counter(cells).items()
    }
    assert [cells[kept[place]] for place in places] == cells
