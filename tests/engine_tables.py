"""One table for every engine: gaps of all kinds, infinity, dates, decimals, odd names."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from outlying import Findings, Pair

#: More rows than distinct values are counted, so that one column needs bins.
ROWS = 110_000
ASKED = (7, 11, 13, 500)
KEY = "the id"
OPTIONS: dict[str, Any] = {"exclude": [KEY], "infinite": "missing"}


def table(rows: int = ROWS) -> pa.Table:
    """Make the table; some rows are odd."""
    rng = np.random.default_rng(20)
    city = rng.choice(np.array(["Ål", "B'c", 'D"e', "F"]), rows)
    temp = np.select([city == "Ål", city == "B'c"], [30.0, 5.0], 15.0) + rng.normal(size=rows)
    temp[rng.random(rows) < 0.01] = np.nan
    temp[[20, 21]] = np.inf, -np.inf
    city[7], temp[7] = "Ål", 5.2
    cents = np.round(np.exp(rng.normal(3, 1, rows)) * 100).astype(int)
    cents[13] = 99_999_99
    days = rng.integers(-900, 900, rows)
    seconds = rng.integers(0, 40_000, rows)
    flags = np.where(rng.random(rows) < 0.3, True, False).astype(object)
    flags[rng.random(rows) < 0.02] = None
    cities = city.astype(object)
    cities[rng.random(rows) < 0.01] = None
    cities[7] = "Ål"
    return pa.table(
        {
            KEY: pa.array(np.arange(rows)),
            'ci"ty': pa.array(cities, pa.string()),
            "temp °C": pa.array(temp, mask=rng.random(rows) < 0.01),
            "mo'ney": pa.array([Decimal(int(c)).scaleb(-2) for c in cents], pa.decimal128(12, 2)),
            "d.a.y": pa.array([dt.date(1970, 1, 1) + dt.timedelta(int(d)) for d in days]),
            "seen at": pa.array(
                [dt.datetime(2024, 3, 1) + dt.timedelta(seconds=int(s)) for s in seconds],
                pa.timestamp("us"),
            ),
            "%s": pa.array(rng.integers(-20, 21, rows), mask=rng.random(rows) < 0.05),
            "sel ect": pa.array(flags, pa.bool_()),
        }
    )


def frame(found: pa.Table) -> pd.DataFrame:
    """Return the table as pandas users have it."""
    return found.to_pandas()


def parquet(found: pa.Table, folder: Path) -> Path:
    """Write the table into several files, one of them without rows."""
    cuts = [0, 10, len(found) // 3, len(found) // 3, len(found)]
    for number in range(4):
        part = found.slice(cuts[number], cuts[number + 1] - cuts[number])
        pq.write_table(part, folder / f"part-{number}.parquet", row_group_size=20_000)
    return folder


def wheres() -> list[dict[str, int]]:
    return [{KEY: row} for row in ASKED]


def check_same(found: Findings, expected: Findings) -> None:
    """The same pairs with the same numbers, or within what a pair says of itself."""
    same_pairs(found, expected)
    for pair, truth in zip(found.pairs, expected.pairs, strict=True):
        assert (pair.exceptional, pair.unusual) == (truth.exceptional, truth.unusual)
        assert (pair.as_strong, pair.judged) == (truth.as_strong, truth.judged)
    assert found.population.rows == expected.population.rows
    assert found.population.skipped_columns == expected.population.skipped_columns
    assert dict(found.key) == {KEY: expected.object[KEY]}


def same_pairs(found: Findings, expected: Findings) -> None:
    """The same numbers, whatever others are compared with."""
    assert [named(pair) for pair in found.pairs] == [named(pair) for pair in expected.pairs]
    for pair, truth in zip(found.pairs, expected.pairs, strict=True):
        assert truth.bound == 0.0
        slack = pair.bound + 1e-9
        assert pair.rarity == _near(truth.rarity, slack * pair.rarity)
        assert pair.lift == _near(truth.lift, slack * pair.lift)
        assert pair.outlierness == _near(truth.outlierness, slack)
        assert pair.tail == _near(truth.tail, slack)
        assert pair.scale == truth.scale
        assert (pair.group_size, pair.known) == (truth.group_size, truth.known)
        if pair.bound == 0.0:
            assert (pair.typical, pair.near, pair.gap) == (truth.typical, truth.near, truth.gap)


def named(pair: Pair) -> tuple[object, ...]:
    return pair.property, pair.value, pair.conditions


def _near(number: float, slack: float) -> Any:
    import pytest

    return pytest.approx(number, rel=0, abs=slack)
