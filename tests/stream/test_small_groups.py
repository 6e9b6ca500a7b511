"""Small groups of large tables: no sample shows them, a pass reads them, in memory and in streams.

One of 1,000 accounts has an amount that is usual for others. Its hundred rows are too few to be
estimated by the rows that are drawn.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import outlying
from outlying.stream.counting import limits
from outlying.stream.verify import planning
from tests.engine_tables import same_pairs

ROWS, ACCOUNTS = 100_000, 1_000
ODD = 77
ORDINARY = 78


def payments(rows: int = ROWS, accounts: int = ACCOUNTS) -> pd.DataFrame:
    """A table in which row 77 has an amount that is usual for accounts other than its own."""
    rng = np.random.default_rng(15)
    account = rng.integers(0, accounts, rows)
    level = rng.permutation(accounts) / accounts
    amount = np.exp(2 + 5 * level[account] + 0.1 * rng.normal(size=rows))
    amount[ODD] = np.exp(2 + 5 * ((level[account[ODD]] + 0.5) % 1))
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "account": [f"A{number:05d}" for number in account],
            "amount": np.round(amount, 2),
            "age": np.round(40 + 12 * rng.normal(size=rows)).astype(int),
            "noise": np.where(rng.random(rows) < 0.02, np.nan, rng.normal(size=rows)),
            "city": rng.choice(["Ankara", "Bergen", "Cusco", "Dakar"], rows),
            "vip": rng.random(rows) < 0.3,
        }
    )


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return payments()


@pytest.fixture(scope="module")
def folder(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    whole: Path = tmp_path_factory.mktemp("payments")
    for number, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[part].to_parquet(whole / f"{number}.parquet", index=False)
    return whole


@pytest.fixture(scope="module")
def in_memory(frame: pd.DataFrame) -> list[outlying.Findings]:
    return list(outlying.explain_many(frame, rows=[ODD, ORDINARY], exclude=["id"], references=40))


def streamed(source: Any, **options: Any) -> list[outlying.Findings]:
    wheres = [{"id": ODD}, {"id": ORDINARY}]
    return list(
        outlying.explain_many(source, where=wheres, exclude=["id"], references=40, **options)
    )


def check_amount_given_account(findings: outlying.Findings) -> None:
    first = findings.pairs[0]
    assert (first.property, [item.attribute for item in first.conditions]) == (
        "amount",
        ["account"],
    )
    assert first.exceptional


def test_an_amount_that_is_wrong_for_its_account_is_told_so(
    in_memory: list[outlying.Findings],
) -> None:
    odd, ordinary = in_memory
    check_amount_given_account(odd)
    assert not any(pair.exceptional for pair in ordinary.pairs)


def test_files_say_the_same(folder: Path, in_memory: list[outlying.Findings]) -> None:
    for found, truth in zip(streamed(folder), in_memory, strict=True):
        same_pairs(found, truth)
        assert [pair.confidence for pair in found.pairs] == [
            pair.confidence for pair in truth.pairs
        ]
    check_amount_given_account(streamed(folder, workers=1)[0])


def test_csv_says_the_same(
    frame: pd.DataFrame, tmp_path: Path, in_memory: list[outlying.Findings]
) -> None:
    frame.to_csv(tmp_path / "payments.csv", index=False)
    for found, truth in zip(streamed(str(tmp_path / "*.csv")), in_memory, strict=True):
        same_pairs(found, truth)


def test_a_new_object_is_one_more_row_of_its_group(folder: Path, frame: pd.DataFrame) -> None:
    new = {
        name: cell.item() if hasattr(cell, "item") else cell
        for name, cell in frame.iloc[ODD].drop("id").items()
    }
    found = outlying.explain(folder, object=new, exclude=["id"], references=0)
    truth = outlying.explain(frame, object=new, exclude=["id"], references=0)
    same_pairs(found, truth)
    assert found.pairs[0].group_size == 1 + int((frame["account"] == new["account"]).sum())


@pytest.mark.parametrize("kept", [0, 5_000])
def test_groups_that_cannot_be_kept_are_counted(
    folder: Path,
    in_memory: list[outlying.Findings],
    kept: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Objects get the same answer; rows to compare with are counted coarsely."""
    monkeypatch.setattr(planning, "MOST_KEPT", kept)
    plans = []
    planned = planning.plan_verification

    def noted(*given: Any) -> Any:
        plans.append(planned(*given))
        return plans[-1]

    monkeypatch.setattr("outlying.stream.asking.plan_verification", noted)
    found = streamed(folder)
    assert bool(plans[0].small) == (kept > 0)
    assert any(query.is_coarse for query in plans[0].queries)
    for one, truth in zip(found, in_memory, strict=True):
        same_pairs(one, truth)
        for pair, other in zip(one.pairs, truth.pairs, strict=True):
            assert pair.confidence == pytest.approx(other.confidence, abs=0.05)
    check_amount_given_account(found[0])


def test_coarse_bins_are_few() -> None:
    assert limits.coarse_bins(1) == limits.MOST_COARSE
    assert limits.coarse_bins(10**6) == limits.LEAST_COARSE


def test_a_group_without_values_is_small_as_well(tmp_path: Path) -> None:
    """A hundred rows without a terminal are compared among themselves."""
    frame = payments(20_000, 40).assign(terminal="till")
    rng = np.random.default_rng(1)
    rows = rng.choice(np.arange(100, 20_000), 100, replace=False)
    frame.loc[[*rows, ODD], "terminal"] = None
    frame.loc[rows, "amount"] = np.round(rng.normal(50, 1, 100), 2)
    frame.loc[ODD, "amount"] = 99.0
    frame.to_parquet(tmp_path / "0.parquet", index=False)
    found = outlying.explain(tmp_path, where={"id": ODD}, exclude=["id"], references=0)
    truth = outlying.explain(frame, row=ODD, exclude=["id"], references=0)
    same_pairs(found, truth)
    first = found.pairs[0]
    assert (first.property, [item.kind for item in first.conditions]) == ("amount", ["missing"])
    assert first.group_size == 101
