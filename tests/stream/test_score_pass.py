"""Every row of a stream is judged as in memory, in whatever order and batches they come."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import outlying
from outlying.options import Options
from outlying.search.memory import MemoryPopulation
from outlying.sources.passes import fold
from outlying.stream.judging import ScorePass, StreamRanking, TopRows
from outlying.stream.population import StreamedPopulation

pytestmark = pytest.mark.usefixtures("few_drawn")

ROWS = 8_000


def payments() -> pd.DataFrame:
    """A table with gaps, rare labels, dates, texts that name rows, and rows that are odd."""
    rng = np.random.default_rng(3)
    city = rng.choice(["A", "B", "C"], ROWS)
    amount = np.round(np.exp(rng.normal(3, 1, ROWS)) + np.where(city == "A", 200, 0), 2)
    amount[7], city[8] = 9_000.0, "rare"
    age = rng.integers(18, 90, ROWS).astype(float)
    age[rng.random(ROWS) < 0.05] = np.nan
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, ROWS), "D")
    flag = np.arange(ROWS) == 9
    key = [f"r{row}" for row in range(ROWS)]
    return pd.DataFrame(
        {"key": key, "city": city, "amount": amount, "age": age, "day": day, "flag": flag}
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("payments") / "p.parquet"
    payments().to_parquet(path, index=False, row_group_size=900)
    return path


def population(file: Path) -> StreamedPopulation:
    return StreamedPopulation(outlying.scan(file), Options.of())


def plain(ranked: StreamRanking) -> Any:
    lists = [
        (rows.keys, rows.values, rows.strengths.tolist(), rows.combinations.tolist())
        for rows in (ranked.by_strength, ranked.by_combination)
    ]
    return lists, ranked.rows, ranked.exceptional, ranked.unusual


def test_rows_rank_as_in_memory(file: Path) -> None:
    explainer = outlying.Explainer(payments())
    memory = explainer._population
    assert isinstance(memory, MemoryPopulation)
    strengths, combinations = memory.scores()
    found = population(file).ranked(50)
    for rows, scores, own in (
        (found.by_strength, strengths, found.by_strength.strengths),
        (found.by_combination, combinations, found.by_combination.combinations),
    ):
        assert own == pytest.approx(np.sort(scores)[::-1][:50], abs=1e-8)
        places = [int(str(dict(key)["key"])[1:]) for key in rows.keys]
        assert scores[places] == pytest.approx(own, abs=1e-8)
    standing = memory.standing()
    assert found.standing.exceptional == pytest.approx(standing.exceptional)
    assert found.exceptional == np.count_nonzero(strengths >= standing.exceptional - 1e-9)
    assert found.rows == ROWS
    assert dict(found.by_strength.keys[0]) == {"key": "r7"}
    assert found.by_strength.values[0]["amount"] == 9_000.0


def test_order_batches_and_workers_change_nothing(file: Path) -> None:
    one = population(file)
    expected = one.ranked(20, workers=1)
    assert plain(one.ranked(20, workers=3)) == plain(expected)
    profile, standing = one._profiled(), one.standing()
    work = ScorePass(one._model(), profile, 20)
    sent = pickle.loads(pickle.dumps(work))  # noqa: S301 - our own
    table = pa.Table.from_pandas(payments(), preserve_index=False).select(
        [field.name for field in work.fields]
    )
    table = table.take(np.random.default_rng(1).permutation(ROWS))
    for rows in (777, ROWS):
        state = fold(table.to_batches(max_chunksize=rows), sent, workers=2)
        assert plain(work.finish(state, profile, standing)) == plain(expected)


def test_ties_are_decided_by_the_second_score_and_the_hash() -> None:
    scores = np.array([[2.0, 2.0, 5.0, 2.0, 2.0], [1.0, 3.0, 0.0, 1.0, 1.0]])
    hashes = np.array([9, 8, 7, 1, 5], dtype=np.uint64)
    table = pa.table({"x": range(5)})
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0]):
        top = TopRows(3)
        for place in order:
            own = top.candidates(scores[:, [place]])
            if len(own):
                top.add(scores[:, [place]], hashes[[place]], table.slice(place, 1))
        assert top.table.column("x").to_pylist() == [2, 1, 3]
    assert sorted(TopRows(2).candidates(scores)) == [1, 2]
    assert sorted(TopRows(3).candidates(scores)) == [0, 1, 2, 3, 4]
