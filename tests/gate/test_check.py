"""The gate: a verdict with an exit code, in every format; what was accepted, what has moved."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlying
from outlying.gate import accepted, report
from outlying.gate.accepted import Accepted
from outlying.gate.check import limit_of


def rows(seed: int, count: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    city = rng.choice(["Rome", "Oslo", "Lima"], count)
    mean = pd.Series(city).map({"Rome": 20, "Oslo": 5, "Lima": 18}).to_numpy()
    heat = rng.normal(mean, 1.5).round(2)
    ids = [f"r{seed}-{k}" for k in range(count)]
    return pd.DataFrame({"id": ids, "city": city, "heat": heat, "wind": rng.gamma(2, 3, count)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base, its model, a clean night, a night with two wrong rows, and one that has moved."""
    path = tmp_path_factory.mktemp("nights")
    base, night = rows(1, 1200), rows(2, 200)
    base.to_csv(path / "base.csv", index=False)
    night.to_csv(path / "clean.csv", index=False)
    wrong = night.copy()
    wrong.loc[7, "heat"] = 99.0
    wrong.loc[9, "heat"] = -70.0
    wrong.to_csv(path / "wrong.csv", index=False)
    night.drop(columns="wind").to_csv(path / "cut.csv", index=False)
    night.assign(wind=["much"] * 200).to_csv(path / "changed.csv", index=False)
    night.assign(wind=night["wind"] + 4).to_csv(path / "moved.csv", index=False)
    night.head(0).to_csv(path / "empty.csv", index=False)
    night.head(5).to_csv(path / "few.csv", index=False)
    outlying.Explainer(path / "base.csv").save(path / "base.outlying")
    return path


def command(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "outlying", *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONUTF8": "1"},
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("clean.csv", "--against", "base.outlying"), 0, "clean: 0 of 200 rows exceptional"),
        (("wrong.csv", "--against", "base.outlying"), 1, "findings: 2 of 200 rows"),
        (("wrong.csv", "--against", "base.csv"), 1, "row 8 (r2-7): heat = 99"),
        (("wrong.csv", "--against", "base.outlying", "--max-exceptional", "1%"), 0, "clean: 2 of"),
        (
            ("wrong.csv", "--against", "base.outlying", "--max-exceptional=5", "--warn-above=1"),
            0,
            "warning: 2 of 200",
        ),
        (("wrong.csv",), 1, "findings: 2 of 200 rows exceptional"),
        (("few.csv",), 3, "5 rows are too few"),
        (("few.csv", "--against", "base.outlying"), 0, "clean: 0 of 5 rows"),
        (("empty.csv", "--against", "base.outlying"), 3, "there are no rows"),
        (("cut.csv", "--against", "base.outlying"), 3, "column 'wind' is missing"),
        (("changed.csv", "--against", "base.outlying"), 3, "holds texts such as 'much'"),
        (("moved.csv", "--against", "base.outlying"), 0, "warning: wind has moved"),
        (("none.csv",), 2, ""),
        (("clean.csv", "--max-exceptional", "many"), 2, ""),
        (("clean.csv", "--against", "clean.csv", "--accept", "none.toml"), 2, ""),
    ],
)
def test_exit_codes(folder: Path, words: tuple[str, ...], code: int, said: str) -> None:
    done = command(folder, "check", *words)
    assert done.returncode == code, done.stderr
    assert said in done.stdout
    assert "Traceback" not in done.stderr
    assert bool(done.stderr) == (code == 2)


def test_formats_say_the_same(folder: Path) -> None:
    found = outlying.check(folder / "wrong.csv", against=folder / "base.outlying")
    whole = json.loads(found.to_json())
    assert (whole["verdict"], whole["exit_code"], whole["exceptional"]) == ("findings", 1, 2)
    assert [item["row"] for item in whole["rows"]] == [8, 10]
    cases = ET.fromstring(report.junit(found)).findall(".//testcase")  # noqa: S314
    names = [case.get("name", "").split("/")[-1] for case in cases]
    assert names == ["wrong.csv", "row 8 (r2-7)", "row 10 (r2-9)"]
    assert all(case.find("failure") is not None for case in cases)
    assert report.table(found).count("\n| ") == 4
    annotations = report.github(found).splitlines()
    assert [line.split(" ")[0] for line in annotations] == ["::error"] * 3
    done = command(folder, "check", "wrong.csv", "--against", "base.outlying", "--quiet")
    assert len(done.stdout.splitlines()) == 1


def test_reports_escape_what_tables_hold(folder: Path) -> None:
    night = rows(2, 200)
    night.loc[3, "city"] = "<b>&\"'\n::error::|x|\x1b[31m"
    night.loc[3, "heat"] = 99.0
    found = outlying.check(night, against=folder / "base.outlying", id=["city"])
    assert found.exit_code == 1
    cases = ET.fromstring(report.junit(found)).findall(".//testcase")  # noqa: S314
    assert len(cases) == 1 + found.exceptional
    assert all(line.startswith("::") for line in report.github(found).splitlines())
    for told in (str(found), report.github(found), report.table(found), report.junit(found)):
        assert "\x1b" not in told


def test_options_of_a_file(folder: Path, tmp_path: Path) -> None:
    for name, content in (
        ("outlying.toml", 'against = "{}"\nmax_exceptional = "5%"\nquiet = true\n'),
        ("pyproject.toml", '[tool.outlying]\nagainst = "{}"\nmax-exceptional = 5\nquiet = true\n'),
    ):
        (tmp_path / name).write_text(content.format(folder / "base.outlying"))
        done = command(tmp_path, "check", folder / "wrong.csv")
        assert (done.returncode, done.stdout.count("\n")) == (0, 1), done.stderr
        given = command(tmp_path, "check", folder / "wrong.csv", "--max-exceptional", 1)
        assert given.returncode == 1
        (tmp_path / name).unlink()
    (tmp_path / "own.toml").write_text("max_exeptional = 5\n")
    done = command(tmp_path, "check", folder / "wrong.csv", "--config", "own.toml")
    assert done.returncode == 2
    assert "max-exceptional" in done.stderr
    (tmp_path / "own.toml").write_text("quiet = 5\n")
    assert command(tmp_path, "check", folder / "wrong.csv", "--config=own.toml").returncode == 2


def test_marked_rows_are_the_wrong_ones(folder: Path) -> None:
    night = pd.read_csv(folder / "wrong.csv")
    none = outlying.check(night.assign(late=False), where_true="late")
    assert (none.exit_code, none.verdict) == (0, "clean")
    marked = night.assign(late=night.index.isin([7, 30]))
    found = outlying.check(marked, where_true="late", against=folder / "base.outlying")
    assert (found.exit_code, found.exceptional) == (1, 2)
    assert [item.row for item in found.rows] == [7, 30]


def test_a_stream_is_checked(folder: Path) -> None:
    found = outlying.check(outlying.scan(folder / "wrong.csv"), against=folder / "base.outlying")
    assert (found.exit_code, found.exceptional) == (1, 2)
    alone = outlying.check(outlying.scan(folder / "wrong.csv"))
    assert (alone.exit_code, alone.exceptional) == (1, 2)


def test_a_night_that_has_not_moved_is_not_said_to_have_moved(folder: Path) -> None:
    for seed in range(10, 40):
        night = rows(seed, 100)
        assert not outlying.check(night, against=folder / "base.outlying").drifts, seed


def test_a_chosen_rate_draws_the_line(folder: Path) -> None:
    done = command(folder, "check", "wrong.csv", "--against", "base.outlying", "--fdr", 0.05)
    assert (done.returncode, "findings: 2 of 200" in done.stdout) == (1, True), done.stderr
    assert "false discovery rate of 5%" in done.stdout
    assert outlying.check(folder / "clean.csv", fdr=0.05).exit_code == 0
    assert command(folder, "check", "wrong.csv", "--fdr", 2).returncode == 2


# --- what was accepted ---------------------------------------------------------------------------


def test_accepted_findings_are_silent_until_they_expire(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "accepted.toml"
    given = ("wrong.csv", "--against", "base.outlying", "-o", file, "--reason", 'a "heat" wave')
    done = command(folder, "accept", *given, "--row", 8, "--expires", "2030-01-01")
    assert done.returncode == 0, done.stderr
    done = command(folder, "accept", *given, "--row", 10, "--author", "Ann")
    assert done.returncode == 0, done.stderr
    found = accepted.read(file)
    assert [(item.column, item.value) for item in found[:2]] == [("heat", 99.0), ("heat", -70.0)]
    assert found[0].entity == {"id": "r2-7"}
    own: dict[str, Any] = {"against": folder / "base.outlying", "accept": str(file)}
    silent = outlying.check(folder / "wrong.csv", **own, today=dt.date(2029, 1, 1))
    assert (silent.exit_code, silent.exceptional, silent.accepted) == (0, 0, 2)
    expired = outlying.check(folder / "wrong.csv", **own, today=dt.date(2031, 1, 1))
    assert (expired.exit_code, expired.exceptional, expired.accepted) == (1, 1, 1)
    assert any("accepted until 2030-01-01" in said for said in expired.warnings)
    unused = outlying.check(folder / "clean.csv", **own, today=dt.date(2029, 1, 1))
    assert (unused.exit_code, unused.verdict) == (0, "warning")
    assert sum("not met" in said for said in unused.warnings) == 2


def test_accepting_keeps_what_is_there_and_no_table_is_written_over(
    folder: Path, tmp_path: Path
) -> None:
    given = ("wrong.csv", "--against", "base.outlying", "--reason", "x", "--row", 8, "-o")
    assert command(folder, "accept", *given, "wrong.csv").returncode == 2
    other = tmp_path / "other.toml"
    other.write_text("[project]\nname = 'mine'\n")
    assert command(folder, "accept", *given, other).returncode == 2
    assert other.read_text() == "[project]\nname = 'mine'\n"
    assert command(folder, "accept", *given[:-2], 1, "-o", tmp_path / "none.toml").returncode == 2
    assert not (tmp_path / "none.toml").exists()
    file = tmp_path / "twice.toml"
    for _ in range(2):
        assert command(folder, "accept", *given, file).returncode == 0
    assert len(accepted.read(file)) == len({str(item) for item in accepted.read(file)})


def test_a_range_and_no_entity_accept_more(folder: Path) -> None:
    night, base = folder / "wrong.csv", folder / "base.outlying"
    explainer = outlying.Explainer(night, against=base)
    hot, cold = (explainer.explain(row=row).stories[0].columns for row in (7, 9))
    entry = Accepted(hot, "heat", low=90.0)
    some = [entry, Accepted(cold, "heat", high=-60.0)]
    found = outlying.check(night, against=base, accept=some)
    assert (found.exit_code, found.accepted) == (0, 2)
    assert entry.holds(95.0)
    assert not entry.holds(80.0)
    assert not entry.holds(None)
    assert not entry.holds("95")


def test_wrong_rows_leave_the_yardstick(folder: Path) -> None:
    night = pd.read_csv(folder / "wrong.csv")
    wrong = Accepted(("heat",), "heat", value=99.0, entity={"id": "r2-7"}, verdict="wrong")
    found = outlying.check(night, accept=[wrong])
    assert (found.exceptional, found.accepted, found.count) == (1, 1, 200)
    assert not found.warnings


@settings(max_examples=100)
@given(
    st.builds(
        Accepted,
        columns=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1).map(tuple),
        column=st.text(st.characters(exclude_categories=["Cs"])),
        value=st.one_of(st.integers(-(2**60), 2**60), st.floats(-1e9, 1e9), st.booleans()),
        entity=st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"])),
            st.text(st.characters(exclude_categories=["Cs"])),
            max_size=2,
        ),
        verdict=st.sampled_from(["fine", "wrong"]),
        reason=st.text(st.characters(exclude_categories=["Cs"])),
        date=st.dates(),
    )
)
def test_what_is_accepted_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, entry: Accepted
) -> None:
    path = tmp_path_factory.mktemp("accepted") / "a.toml"
    path.write_text(accepted.added(path, [entry]), encoding="utf-8", newline="")
    assert accepted.read(path) == [entry]


@pytest.mark.parametrize(
    "content",
    [
        "x = 1",
        "[[accepted]]\nvalue = 3",
        "[[accepted]]\ncolumn = 3",
        "[[accepted]]\ncolumn = 'a'\nverdict = 'bad'",
        "[[accepted]]\ncolumn = 'a'\nexpires = 'soon'",
        "[[accepted]]\ncolumn = 'a'\nmore = 1",
        "accepted = 5",
        "[[",
    ],
)
def test_wrong_files_of_accepted_findings_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.toml"
    path.write_text(content)
    with pytest.raises(outlying.SourceError, match=r"a\.toml"):
        accepted.read(path)


@pytest.mark.parametrize(
    ("given", "count"),
    [(0, 0), (3, 3), ("3", 3), (0.05, 10), ("0.05", 10), ("1%", 2), ("0.4%", 0), ("100%", 200)],
)
def test_limits(given: Any, count: int) -> None:
    assert limit_of("max", given, 200) == count


@pytest.mark.parametrize(
    "given", ["200%", -1, "x", None, True, float("nan"), 1.5, "-3%", float("inf")]
)
def test_wrong_limits_are_refused(given: Any) -> None:
    with pytest.raises(outlying.OptionError, match="a number of rows"):
        limit_of("max", given, 200)
