"""Exact looks by compiled code against NumPy: the same numbers, bit by bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import outlying
from outlying.kernel import library
from outlying.kernel.library import Kernel
from outlying.kernel.look import (
    Bits,
    Conditions,
    RawColumn,
    WholeColumn,
    all_members,
    counted_codes,
)
from outlying.method.density import Floats
from outlying.search import limits, prepared
from outlying.table.columns import Mask
from tests.kernel.builds import LESS

SEEDS = st.integers(0, 2**32 - 1)
ROWS = st.sampled_from([1, 2, 63, 64, 65, 500, 3000])
SCALES = (1, 2, 4, 8)
SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, rows: rng.normal(size=rows),
    "ties": lambda rng, rows: np.round(rng.normal(size=rows), 1),
    "heavy": lambda rng, rows: rng.standard_cauchy(rows),
    "one huge": lambda rng, rows: np.append(rng.normal(size=rows - 1), 1e12),
    "tiny": lambda rng, rows: rng.normal(size=rows) * 1e-300,
    "one value": lambda rng, rows: np.full(rows, 3.25),
    "zeros": lambda rng, rows: rng.choice([0.0, -0.0, 1.0], rows),
    "gaps": lambda rng, rows: np.where(rng.random(rows) < 0.3, np.nan, rng.normal(size=rows)),
    "nothing": lambda rng, rows: np.full(rows, np.nan),
}
looks = settings(
    max_examples=120 // LESS,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def masks_of(rng: np.random.Generator, rows: int) -> list[Mask]:
    """Make one to three conditions of any width."""
    return [rng.random(rows) < rng.random() for _ in range(rng.integers(1, 4))]


def near_of(values: Floats, point: float, width: float, needed: float) -> list[int]:
    """Count by NumPy the values near a point, as long as they may show a rarity."""
    near: list[int] = []
    for scale in SCALES:
        reach = scale * width / 2
        count = np.searchsorted(values, point + reach, "right")
        count -= np.searchsorted(values, point - reach)
        if near and not count * needed <= len(values):
            break
        near.append(int(count))
    return near


@looks
@given(shape=st.sampled_from(sorted(SHAPES)), rows=ROWS, seed=SEEDS, width=st.floats(0, 10))
def test_looks_at_numbers_are_those_of_numpy(
    kernel: Kernel, shape: str, rows: int, seed: int, width: float
) -> None:
    rng = np.random.default_rng(seed)
    column, factor, masks = (
        SHAPES[shape](rng, rows),
        2.0 ** int(rng.integers(-3, 3)),
        masks_of(rng, rows),
    )
    context = Conditions(kernel, [Bits.of(mask) for mask in masks])
    mask = np.logical_and.reduce(masks)
    assert context.rows() == np.count_nonzero(mask) <= context.most
    scaled = column * factor + 0.0
    order = np.flatnonzero(~np.isnan(scaled))
    order = order[np.argsort(scaled[order])]
    whole = WholeColumn(kernel, scaled[order], order, rows)
    by_value = Conditions(kernel, [whole.laid_out(Bits.of(mask)) for mask in masks], whole)
    raw = RawColumn(kernel, column, factor)
    expected = np.sort(scaled[mask & ~np.isnan(scaled)])
    point, needed = (float(scaled[order[0]]) if len(order) else 0.0), rng.uniform(0, 5)
    near = near_of(expected, point, width, needed)
    for members in (whole.members(by_value), raw.members(context), whole.members(by_value).kept()):
        assert members.values.tobytes() == expected.tobytes()
        assert (members.rows, members.known) == (context.rows(), len(expected))
        is_spread = len(expected) > 0 and expected[0] != expected[-1]
        assert members.variance == (kernel.variance(expected) if is_spread else 0.0)
        if len(order) == 0:
            continue
        assert members.near(point, width, SCALES, needed) == near
        assert members.totals(width, SCALES[1 : len(near)]) == [
            int(np.searchsorted(expected, expected + scale * width / 2, "right").sum())
            for scale in SCALES[1 : len(near)]
        ]
        ends = expected + width / 2, expected - width / 2
        around = np.searchsorted(scaled[order], ends[0], "right").sum()
        around -= np.searchsorted(scaled[order], ends[1]).sum()
        assert whole.around(members, width / 2) == around
    inside = mask & (scaled >= point - width / 2) & (scaled <= point + width / 2)
    between = raw.between(context, point - width / 2, point + width / 2)
    assert between == np.count_nonzero(inside)
    few = whole.members(by_value, least=rows + 1), raw.members(context, least=rows + 1)
    assert [(members.rows, members.known) for members in few] == [(context.rows(), 0)] * 2
    everything = all_members(kernel, scaled[order])
    assert everything.near(point, width, SCALES, needed) == near_of(
        scaled[order], point, width, needed
    )


@looks
@given(rows=ROWS, seed=SEEDS)
def test_looks_at_categories_are_those_of_numpy(kernel: Kernel, rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes, masks = rng.integers(-1, 5, rows).astype(np.int32), masks_of(rng, rows)
    context = Conditions(kernel, [Bits.of(mask) for mask in masks])
    chosen = codes[np.logical_and.reduce(masks)]
    expected = np.bincount(chosen[chosen >= 0], minlength=5)
    found = counted_codes(kernel, codes, 5, context)
    assert found.counts.tolist() == expected.tolist()
    assert found.rows == context.rows()


@looks
@given(
    shape=st.sampled_from(["normal", "ties", "heavy", "one huge", "tiny"]),
    rows=st.one_of(st.integers(2, 300), st.sampled_from([1000, 4097, 20_001])),
    seed=SEEDS,
)
def test_variances_have_the_same_bits_for_exact_looks(
    kernel: Kernel, shape: str, rows: int, seed: int
) -> None:
    values = np.sort(SHAPES[shape](np.random.default_rng(seed), rows))
    values[-1] += 1.0
    offsets = (values - values[0]) / (values[-1] - values[0])
    deviations = offsets - np.add.reduce(offsets) / rows
    assert kernel.variance(values) == np.add.reduce(deviations * deviations) / rows


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 129])
def test_rows_beyond_the_last_are_never_looked_at(kernel: Kernel, rows: int) -> None:
    everything = Conditions(kernel, [Bits.of(np.ones(rows, dtype=bool))])
    assert everything.rows() == rows
    assert len(RawColumn(kernel, np.arange(float(rows)), 1.0).members(everything).values) == rows


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_many_looks_give_the_bytes_of_numpy(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, missing: float
) -> None:
    monkeypatch.setattr(limits, "SCREENED", 100)
    monkeypatch.setattr(limits, "NEARBY", 300)
    monkeypatch.setattr(prepared, "_MANY", 1)  # columns are sorted, and conditions laid out by them
    rng = np.random.default_rng(7)
    group = rng.integers(0, 4, 600)
    table = {
        "a": group * 10.0 + rng.normal(size=600),
        "b": np.where(rng.random(600) < missing, np.nan, group - rng.gamma(2.0, 1.0, 600)),
        "c": np.round(rng.normal(size=600) + group, 1),
        "d": np.array(["u", "v", "w", "x"])[group],
    }

    def found() -> list[object]:
        made = outlying.Explainer(dict(table), references=5)
        together = [one.to_json() for one in made.explain_many(rows=range(15), workers=1)]
        assert together[3] == made.explain(row=3).to_json()
        return [*together, *made.in_memory("a test").strongest(range(15), 1)]

    monkeypatch.setenv(library.VARIABLE, "numpy")
    expected = found()
    monkeypatch.delenv(library.VARIABLE)
    monkeypatch.setattr(library, "_loaded", lambda _: kernel)
    assert found() == expected
