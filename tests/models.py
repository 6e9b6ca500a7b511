"""Models of small tables, and random tables that give them something to find."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from outlying.method.intervals import segments
from outlying.options import Options
from outlying.search.cells import attribute_of
from outlying.search.model import Model
from outlying.table.columns import Column, NumericColumn, categorical_column, frozen
from tests import naive_engine as naive
from tests.naive_sweep import Segments, Value

Table = dict[str, list[Value]]

KINDS = (
    *("normal", "group", "tied", "tied by group", "few", "spike", "heavy", "rent", "parity"),
    *("labels", "by group", "bits", "more bits", "sign"),
)


def model_of(table: Mapping[str, Sequence[Value]], *, threads: int = 1, **given: Any) -> Model:
    """Make a model of a table whose floats are numbers and whose texts are categories."""
    attributes = [attribute_of(column_of(name, table[name])) for name in sorted(table)]
    rows = len(next(iter(table.values())))
    return Model(attributes, None, rows, Options.of(**given), threads)


def column_of(name: str, cells: Sequence[Value]) -> Column:
    """Make a column of numbers, if it holds any, or of categories."""
    if any(isinstance(cell, float) for cell in cells):
        numbers = [math.nan if cell is None else float(cell) for cell in cells]
        return NumericColumn(name, "number", frozen(np.array(numbers)))
    return categorical_column(name, cells)


def segments_of(numbers: list[float]) -> Segments:
    """Return natural segments, which the twin takes as given."""
    found = segments(np.array(numbers))
    return list(zip(found.lows.tolist(), found.highs.tolist(), strict=True)), found.coarser


def judged_by_twin(table: Table, **given: Any) -> list[list[naive.Judged]]:
    """Judge all rows of a table by the twin."""
    options, rows = Options.of(**given), len(next(iter(table.values())))

    def least(conditions: int) -> int:
        return max(2, round(options.least_rows(rows, conditions)))

    return naive.judged(table, least, options.max_conditions, segments_of)


def random_table(seed: int, rows: int, kinds: Sequence[str], gaps: float = 0.0) -> Table:
    """Return a table of columns that share hidden groups, with a few wrong cells.

    Numbers are whole multiples of 1/64, on the scale of models too.
    """
    rng = np.random.default_rng(seed)
    group = rng.choice(3, rows, p=[0.65, 0.28, 0.07])
    latent = rng.normal(size=rows)
    bits = rng.integers(4, size=rows)
    table: Table = {}
    for place, kind in enumerate(kinds):
        cells = _cells(rng, kind, group, latent, bits)
        for row in rng.choice(rows, 2, replace=False).tolist():
            if isinstance(cells[row], float) and kind not in ("few", "spike"):
                cells[row] = float(rng.choice([999.0, 17.5, -99.0, 5 * float(cells[row])]))
            else:
                cells[row] = cells[int(rng.integers(rows))]
        missing = rng.random(rows) < gaps
        table[f"c{place}"] = [None if m else c for c, m in zip(cells, missing, strict=True)]
    return table


def _cells(rng: np.random.Generator, kind: str, group: Any, latent: Any, bits: Any) -> Any:
    rows = len(group)
    if kind == "labels":
        return rng.choice(["a", "b", "c", "d"], rows, p=[0.5, 0.3, 0.15, 0.05]).tolist()
    if kind == "many labels":  # one row of three has a label that hardly any other has
        own = np.where(group, "y", "x")
        rare = np.array([f"v{k}" for k in rng.integers(4 * rows, size=rows)])
        return np.where(rng.random(rows) < 1 / 3, rare, own).tolist()
    if kind == "by group":
        wrong = rng.random(rows) < 0.05
        return np.array(["x", "y", "z"])[
            np.where(wrong, rng.integers(3, size=rows), group)
        ].tolist()
    flags = {"bits": bits % 2, "more bits": bits // 2, "sign": (latent > 0).astype(int)}
    if kind in flags:
        return np.array(["no", "yes"])[flags[kind]].tolist()
    numbers: dict[str, Callable[[], Any]] = {
        "normal": lambda: rng.normal(size=rows),
        "group": lambda: 20.0 * group + rng.normal(size=rows),
        "tied": lambda: 3 * latent + 0.2 * rng.normal(size=rows),
        "tied by group": lambda: np.where(group, -1, 1) * latent + 0.05 * rng.normal(size=rows),
        "few": lambda: rng.choice([0.0, 1.0, 2.0, 5.0], rows, p=[0.7, 0.2, 0.08, 0.02]),
        "spike": lambda: np.where(rng.random(rows) < 0.8, 0.0, rng.exponential(size=rows)),
        "rent": lambda: np.where(group == 2, 900.0, 20.0) * np.exp(0.2 * rng.normal(size=rows)),
        "parity": lambda: 9.0 * (bits % 2 ^ bits // 2 ^ (latent > 0)) + rng.normal(size=rows),
        "heavy": lambda: np.exp(1.5 * rng.normal(size=rows)),
    }
    return (np.round(numbers[kind]() * 64) / 64).tolist()


def tables(most: int = 4, most_rows: int = 120) -> st.SearchStrategy[Table]:
    """Small tables of several kinds of columns."""
    return st.builds(
        random_table,
        seed=st.integers(0, 10**6),
        rows=st.integers(30, most_rows),
        kinds=st.lists(st.sampled_from(KINDS), min_size=2, max_size=most),
        gaps=st.sampled_from([0.0, 0.0, 0.05, 0.3]),
    )
