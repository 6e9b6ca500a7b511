"""Tables read as a stream, as a person uses them: Python and the command line."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import outlying
from outlying.errors import (
    ColumnError,
    ObjectError,
    OptionError,
    OutlyingError,
    RowError,
    SourceError,
)
from outlying.sources import passes
from outlying.sources.columns import Field
from outlying.stream import population as streamed
from outlying.stream.histograms import Grid
from outlying.stream.judging import ColumnReader, numbering
from outlying.stream.verify import ColumnPlan, Query, ValueTest, VerifyPass
from tests.conftest import Run

pytestmark = pytest.mark.usefixtures("few_drawn")

ROWS = 18_000  # more than are drawn
SMALL = 600


def weather(rows: int) -> pd.DataFrame:
    """A table in which row 7 is cold for its city, and row 9 has no pressure."""
    rng = np.random.default_rng(6)
    city = rng.choice(["A", "B", "C"], rows)
    temp = np.where(city == "A", 30.0, 5.0) + rng.normal(size=rows)
    city[7], temp[7] = "A", 5.2
    pressure = rng.normal(1000, 10, rows)
    pressure[9] = np.nan
    code = [f"r{row}" for row in range(rows)]
    marked = np.isin(np.arange(rows), [7, 9])
    return pd.DataFrame(
        {"key": code, "city": city, "temp": temp, "pressure": pressure, "odd": marked}
    )


@pytest.fixture(scope="module", params=[SMALL, ROWS], ids=["small", "large"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    whole: Path = tmp_path_factory.mktemp("weather")
    frame = weather(request.param)
    for number, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[part].to_parquet(whole / f"{number}.parquet", index=False)
    return whole


def rows_in(folder: Path) -> int:
    return sum(len(pd.read_parquet(file, columns=["key"])) for file in folder.iterdir())


def test_a_row_of_a_folder_is_that_of_memory(folder: Path) -> None:
    found = outlying.explain(folder, where={"key": "r7"})
    expected = outlying.explain(weather(rows_in(folder)), row=7)
    assert found.row is None
    assert found.key == (("key", "r7"),)
    assert found.object == expected.object
    assert found.population.columns == expected.population.columns
    assert found.population.skipped_columns == expected.population.skipped_columns
    for pair, truth in zip(found.pairs, expected.pairs, strict=True):
        assert pair.conditions == truth.conditions
        assert pair.to_dict() | {"strength": 0} == truth.to_dict() | {"strength": 0}
        assert pair.strength == pytest.approx(truth.strength, rel=1e-9)
        assert pair.picture is not None
        assert truth.picture is not None
        assert pair.picture.densities == pytest.approx(truth.picture.densities)
        assert pair.picture.areas == pytest.approx(truth.picture.areas)


def test_a_constant_that_speaks_of_identifiers_names_no_row(tmp_path: Path) -> None:
    weather(SMALL).assign(note="an identifier").to_parquet(tmp_path / "0.parquet", index=False)
    assert outlying.explain(tmp_path, where={"key": "r7"}).key == (("key", "r7"),)


def test_a_row_is_named_in_words(folder: Path, run: Run) -> None:
    code, out, err = run("explain", folder, "--where", "key=r7", "--columns", "city,temp")
    assert (code, err) == (0, "")
    assert out.startswith("The row with key = r7 in ")
    assert "city=A" in out
    code, page, _ = run("explain", folder, "--where", "key=r7", "--format", "html")
    assert code == 0
    assert "<h1>Why is the row with key = r7 of " in page


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "html"])
def test_many_rows_by_their_values(folder: Path, run: Run, tmp_path: Path, form: str) -> None:
    keys = tmp_path / "keys.jsonl"
    keys.write_text('{"key": "r7"}\n\n{"key": "r9"}\n')
    code, out, _ = run("explain", folder, "--where-file", keys, "--format", form)
    assert code == 0
    if form == "json":
        document = json.loads(out)
        assert [entry["key"] for entry in document["objects"]] == [{"key": "r7"}, {"key": "r9"}]
        assert document["rows"] == rows_in(folder)
    if form == "jsonl":
        head, *lines = map(json.loads, out.splitlines())
        assert head["fingerprint"] is None
        assert [line.get("key") for line in lines[:2]] == [{"key": "r7"}, {"key": "r9"}]
    for key in ("r7", "r9"):
        assert key in out


def test_rows_that_a_column_marks(folder: Path, run: Run) -> None:
    code, out, _ = run("explain", folder, "--where-true", "odd", "--format", "json")
    document = json.loads(out)
    assert code == 0
    assert sorted(entry["key"]["key"] for entry in document["objects"]) == ["r7", "r9"]
    assert "odd" not in document["columns"]


def test_the_same_rows_by_values_in_memory(run: Run, tmp_path: Path) -> None:
    weather(SMALL).to_csv(tmp_path / "w.csv", index=False)
    keys = tmp_path / "keys.jsonl"
    keys.write_text('{"key": "r9"}\n{"key": "r7"}\n')
    code, out, _ = run("explain", tmp_path / "w.csv", "--where-file", keys, "--format", "json")
    assert code == 0
    assert [entry["row"] for entry in json.loads(out)["objects"]] == [10, 8]
    keys.write_text('{"key": "r9"}\n{"key": "none"}\n')
    code, _, err = run("explain", tmp_path / "w.csv", "--where-file", keys)
    assert code == 2
    assert f"line 2 of {keys}: no row has key = none" in err


def test_a_new_object_joins_the_counts(folder: Path) -> None:
    new = {"city": "A", "temp": 5.3, "pressure": 1001.5}
    options: dict[str, Any] = {"exclude": ["odd", "key"]}
    found = outlying.explain(folder, object=new, **options)
    expected = outlying.explain(weather(rows_in(folder)), object=new, **options)
    assert found.population.rows == expected.population.rows
    assert found.notes[-1] == expected.notes[-1]
    for pair, truth in zip(found.pairs, expected.pairs, strict=True):
        assert (pair.property, pair.conditions) == (truth.property, truth.conditions)
        assert (pair.group_size, pair.known) == (truth.group_size, truth.known)
        assert pair.rarity == pytest.approx(truth.rarity, rel=1e-9)
        assert pair.tail == pytest.approx(truth.tail, rel=1e-9)


def test_a_new_category_and_a_missing_value(folder: Path) -> None:
    new = {"city": "Z", "temp": None, "pressure": 1001.5}
    found = outlying.explain(folder, object=new, exclude=["odd", "key"])
    truth = outlying.explain(weather(rows_in(folder)), object=new, exclude=["odd", "key"])
    assert [(p.property, p.conditions) for p in found.pairs] == [
        (p.property, p.conditions) for p in truth.pairs
    ]
    assert [p.rarity for p in found.pairs] == pytest.approx([p.rarity for p in truth.pairs])


NEW: dict[str, Any] = {"city": "A", "temp": 5.3, "pressure": 1001.5, "count": 7, "unit": 4.0}
NEWCOMERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "with what is excluded": {"odd": True},
    "with an identifier": {"key": "new"},
    "a fraction among whole numbers": {"count": 7.5},
    "far off": {"temp": 1e9, "count": 10**12},
    "as far as can be": {"temp": 1e300},
    "infinite": {"temp": np.inf},
    "another value than all rows": {"unit": 5.0},
    "no value where all rows have one": {"unit": None},
    "a new category": {"city": "Z"},
}


def wider(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return weather(rows).assign(count=rng.integers(0, 40, rows), unit=4.0)


def told(found: outlying.Findings) -> Any:
    remedies = (" (exact=True searches all rows)", ' (search="exhaustive" visits all)')
    notes = " ".join(found.notes)
    for remedy in remedies:
        notes = notes.replace(remedy, "")
    pairs = [
        (p.property, p.value, p.conditions, p.group_size, p.known, p.typical, p.strength, numbers)
        for p in found.pairs
        for numbers in [[f"{n:.9g}" for n in (p.rarity, p.tail, p.lift, p.outlierness)]]
    ]
    values = {name: repr(found.object[name]) for name in found.population.columns}
    return pairs, notes, values, found.population.rows, found.population.skipped_columns


@pytest.mark.parametrize("rows", [SMALL, ROWS])
def test_new_objects_are_those_of_memory(rows: int) -> None:
    """Many at once, one at a time and in memory: it is the same."""
    frame = wider(rows)
    objects = [NEW | change for change in NEWCOMERS.values()]
    options: dict[str, Any] = {"exclude": ["odd"], "infinite": "missing", "references": 3}
    together = list(outlying.explain_many(duckdb.from_df(frame), objects=objects, **options))
    for name, item, found in zip(NEWCOMERS, objects, together, strict=True):
        memory = outlying.explain(frame, object=item, **options)
        assert told(found) == told(memory), name
    alone = outlying.explain(duckdb.from_df(frame), object=objects[3], **options)
    assert alone.to_dict()["objects"] == together[3].to_dict()["objects"]


@pytest.mark.parametrize("rows", [SMALL, ROWS])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"temp": np.inf}, "column 'temp' has an infinite value in the object"),
        ({"city": 5}, "the object's 'city' is 5"),
        ({"town": "A"}, "the object has an unknown column 'town'"),
        ({"odd": "perhaps"}, "the object's 'odd' is 'perhaps'"),
    ],
)
def test_objects_that_do_not_fit(rows: int, change: dict[str, Any], words: str) -> None:
    frame, item = wider(rows), NEW | change
    for source in (frame, duckdb.from_df(frame)):
        with pytest.raises(OutlyingError, match=f"^{words}"):
            outlying.explain(source, object=item, exclude=["odd"])
        with pytest.raises(OutlyingError, match=rf"^objects\[1\]: {words}"):
            list(outlying.explain_many(source, objects=[NEW, item], exclude=["odd"]))


def test_what_an_object_may_lack_is_told_by_all_rows() -> None:
    """Nearly every row that was drawn has a text of its own; but not nearly every row."""
    rng = np.random.default_rng(8)
    numbers = rng.integers(0, 60_000, 60_000)
    frame = pd.DataFrame({"part": [f"p{number}" for number in numbers], "x": numbers % 7})
    for source in (frame, duckdb.from_df(frame)):
        with pytest.raises(ObjectError, match="no value for 'part'"):
            outlying.explain(source, object={"x": 3}, references=0)


def test_positions_are_refused(folder: Path, run: Run) -> None:
    with pytest.raises(RowError, match=r"no position; name the row by values .* where="):
        outlying.explain(folder, row=7)
    with pytest.raises(RowError, match="no position"):
        list(outlying.explain_many(pl.scan_parquet(folder / "*.parquet"), rows=[1]))
    for flags in (["--row", "8"], ["--rows", "1-3"]):
        code, _, err = run("explain", folder, *flags)
        assert code == 2
        assert "rows have no numbers; name them by --where" in err


@pytest.mark.parametrize(
    ("where", "error", "words"),
    [
        ({"key": "nobody"}, RowError, "no row has key = nobody"),
        ({"city": "A"}, RowError, "rows have city = A"),
        ({"kye": "r7"}, ColumnError, "did you mean 'key'"),
        ({}, RowError, "where is empty"),
        ({"temp": "warm"}, RowError, "column 'temp' expects a number"),
    ],
)
def test_wheres_that_name_no_row(folder: Path, where: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        outlying.explain(folder, where=where)


@pytest.mark.parametrize(
    "option",
    [
        {"exact": True},
        {"preset": "paper"},
        {"preset": "paper", "discretise": "equi-width"},
    ],
)
def test_options_that_need_memory(folder: Path, option: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="needs the table in memory"):
        outlying.explain(folder, where={"key": "r7"}, **option)


def test_what_else_needs_memory(folder: Path) -> None:
    explainer = outlying.Explainer(folder)
    for call in (explainer.strengths, explainer.blame):
        with pytest.raises(OptionError, match="needs all rows in memory"):
            call()
    with pytest.raises(OptionError, match="memory"):
        outlying.detect(explainer, detector="feature-bagging")


def test_a_stream_cannot_be_resumed(folder: Path, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "why.jsonl"
    flags = ["--where-true", "odd", "--format", "jsonl", "-o", out, "--resume"]
    code, _, err = run("explain", folder, *flags)
    assert code == 2
    assert "leave --resume out" in err
    assert not out.exists()


def test_a_table_that_changes_between_the_passes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rows_in(folder) == SMALL:
        pytest.skip("a small table needs one pass only")
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    run = numbering

    def after(change: Any) -> Any:
        def made(*given: Any) -> Any:
            change()
            return run(*given)

        return made

    monkeypatch.setattr(streamed, "numbering", after(lambda: (copy / "2.parquet").unlink()))
    with pytest.raises(SourceError, match=r"2\.parquet|has changed while it was read"):
        outlying.explain(copy, where={"key": "r7"})
    shutil.copytree(folder, copy, dirs_exist_ok=True)

    def drop_a_column() -> None:
        for file in copy.iterdir():
            pd.read_parquet(file).drop(columns="temp").to_parquet(file, index=False)

    monkeypatch.setattr(streamed, "numbering", after(drop_a_column))
    with pytest.raises(SourceError, match=r"0\.parquet has changed"):
        outlying.explain(copy, where={"key": "r7"})


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE t SET city = 'Z'",
        "UPDATE t SET temp = temp + 1000",
        "UPDATE t SET temp = NULL",
        "UPDATE t SET city = 'B' WHERE key = 'r7'",
    ],
)
def test_rows_that_change_between_the_passes(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many rows as before, but not the same ones."""
    run = numbering
    with duckdb.connect() as connected:
        connected.register("given", weather(ROWS).drop(columns="odd"))
        connected.execute("CREATE TABLE t AS FROM given")

        def made(*given: Any) -> Any:
            connected.execute(change)
            return run(*given)

        monkeypatch.setattr(streamed, "numbering", made)
        with pytest.raises(SourceError, match="has changed while it was read: a row of the first"):
            outlying.explain(outlying.scan(connected, table="t"), where={"key": "r7"}, references=0)


def test_progress_and_scans(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    feeder = outlying.scan(folder)
    outlying.explain(feeder, where={"key": "r7"}, progress=lambda *step: seen.append(step))
    assert feeder.scans == (1 if rows_in(folder) == SMALL else 2)
    assert seen


def test_a_thousand_objects_share_the_passes() -> None:
    whole = weather(ROWS).drop(columns="odd").assign(place=np.arange(ROWS))
    relation = duckdb.from_df(whole)
    feeder = outlying.scan(relation)
    wheres = [{"place": row} for row in range(0, 1000, 5)]
    found = list(
        outlying.explain_many(feeder, where=wheres, exclude=["place"], references=0, top=3)
    )
    assert feeder.scans == 2
    assert [item.key for item in found] == [
        (("place", row), ("key", f"r{row}")) for row in range(0, 1000, 5)
    ]
    alone = outlying.explain(relation, where=wheres[3], exclude=["place"], references=0, top=3)
    assert [p.to_dict() for p in alone.pairs] == [p.to_dict() for p in found[3].pairs]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(folder: Path, tmp_path: Path, run: Run) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / "1.parquet").chmod(0)
    code, _, err = run("explain", tmp_path / "copy", "--where", "key=r7")
    assert code == 2
    assert "ermission" in err


def test_engines_of_single_files(folder: Path, run: Run, tmp_path: Path) -> None:
    file = folder / "0.parquet"
    code, out, _ = run("explain", file, "--where", "key=r7", "--engine", "duckdb")
    assert code == 0
    assert "The row with key = r7" in out
    code, out, _ = run("explain", file, "--where", "key=r7")
    assert "Row 8, key = r7, of" in out
    code, _, err = run("explain", folder, "--where", "key=r7", "--engine", "memory")
    assert code == 2
    assert "is a folder" in err
    code, _, err = run("explain", file, "--where", "key=r7", "--engine", "spark")
    assert code == 2
    assert "--master URL" in err
    code, _, err = run("explain", file, "--where", "key=r7", "--table", "t")
    assert code == 2
    assert "database" in err


def test_databases_on_the_command_line(run: Run, tmp_path: Path) -> None:
    whole = weather(SMALL)
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connected:
        connected.register("given", whole)
        connected.execute('CREATE TABLE "odd ""name""" AS FROM given')
    flags = ["--where", "key=r7", "--table", 'odd "name"']
    code, out, err = run("explain", tmp_path / "shop.duckdb", *flags)
    assert (code, err) == (0, "")
    assert "cells are exceptional:\n\n 1. temp = 5.2, expected" in out
    code, _, err = run(
        "explain", tmp_path / "shop.duckdb", "--table", "nothing", "--where", "key=r7"
    )
    assert code == 2
    assert "nothing" in err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"key": "none"}', "no row has key = none"),
        ('{"kee": "r7"}', "unknown column 'kee'"),
        ('{"city": "A"}', "rows have city = A"),
    ],
)
def test_faults_of_keys_are_told_by_their_line(
    folder: Path, run: Run, tmp_path: Path, line: str, words: str
) -> None:
    keys = tmp_path / "keys.jsonl"
    keys.write_text(f'{{"key": "r7"}}\n\n{line}\n')
    code, _, err = run("explain", folder, "--where-file", keys)
    assert code == 2
    assert err.startswith(f"Error: line 3 of {keys}: ")
    assert words in err


def test_a_fault_of_the_only_key_has_no_number(folder: Path, run: Run) -> None:
    code, _, err = run("explain", folder, "--where", "key=none")
    assert (code, err) == (2, "Error: no row has key = none; check the value\n")


def test_a_fault_of_a_new_object(folder: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text('{"sity": "A"}')
    for flag, place in (("--object", "--object"), ("--objects", f"line 1 of {tmp_path}/o.json")):
        code, _, err = run("explain", folder, flag, tmp_path / "o.json")
        assert code == 2
        assert err.startswith(f"Error: {place}: the object has an unknown column 'sity'")


def test_keys_of_many_digits_on_the_command_line(run: Run, tmp_path: Path) -> None:
    frame = weather(SMALL).assign(key=np.arange(SMALL) + 2**62)
    frame.to_parquet(tmp_path / "t.parquet")
    for engine in ("memory", "duckdb"):
        given = ("--where", f"key={2**62 + 7}", "--engine", engine, "--references", "0")
        code, out, _ = run("explain", tmp_path / "t.parquet", *given)
        assert code == 0
        assert f"key={2**62 + 7}" in out
        code, _, err = run("explain", tmp_path / "t.parquet", "--where", "key=5", *given[2:])
        assert (code, err) == (2, "Error: no row has key = 5; check the value\n")


def test_the_first_pass_is_kept(folder: Path) -> None:
    """What is asked later of the same population needs fewer scans, and gives the same."""
    scan, is_small = outlying.scan(folder), rows_in(folder) == SMALL
    explainer = outlying.Explainer(scan, exclude=["odd"], references=5)
    assert explainer.rows == rows_in(folder)
    assert explainer.population.columns == ("city", "temp", "pressure")
    assert scan.scans == 1
    new = {"key": "new", "city": "A", "temp": 5.0, "pressure": 1000.0}
    found = explainer.explain(object=new)
    assert scan.scans == (1 if is_small else 2)
    row = explainer.explain(where={"key": "r7"})
    assert scan.scans == (2 if is_small else 4)
    options: dict[str, Any] = {"exclude": ["odd"], "references": 5}
    assert row.to_json() == outlying.explain(folder, where={"key": "r7"}, **options).to_json()
    assert found.to_json() == outlying.explain(folder, object=new, **options).to_json()


def test_findings_of_a_stream_are_plain_values(folder: Path) -> None:
    findings = outlying.explain(folder, where={"key": "r7"}, references=5)
    again = pickle.loads(pickle.dumps(findings))  # noqa: S301 - our own
    assert again.to_json() == findings.to_json()
    assert len(pickle.dumps(findings)) < 300_000


def test_workers_are_honoured(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many threads as asked for take in what is read, and the answer is the same."""
    asked: list[int | None] = []
    fold = passes.fold

    def noted(batches: Any, work: Any, workers: int | None, *rest: Any) -> Any:
        asked.append(workers)
        return fold(batches, work, workers, *rest)

    monkeypatch.setattr(passes, "fold", noted)
    found = {}
    for workers in (1, 2, 8):
        asked.clear()
        wheres = [{"key": "r7"}, {"key": "r9"}]
        many = outlying.explain_many(folder, where=wheres, references=5, workers=workers)
        found[workers] = [findings.to_json() for findings in many]
        assert asked == [workers] * (1 if rows_in(folder) == SMALL else 2)
    assert found[1] == found[2] == found[8]


def test_states_of_all_threads_fit_the_memory() -> None:
    """The more is counted, the fewer threads count it, however many there are."""
    reader = ColumnReader(Field("x", "number"))
    grid = Grid.of(np.arange(9.0), 0.0, 8.0, 64)
    for queries, threads in ((1, 8), (8, 4), (16, 2), (64, 1)):
        ends = [ValueTest("x", "interval", 0.0, float(place)) for place in range(queries)]
        asked = [Query("x", "numbers", frozenset([each])) for each in ends]
        work = VerifyPass({"x": ColumnPlan(reader, grid, 2**20)}, asked)
        assert work.affordable(8) in (threads, threads - 1)
        assert work.affordable(1) == 1


@pytest.mark.parametrize("is_broken", [False, True])
def test_numbers_of_rows_are_known_in_the_first_pass(
    is_broken: bool, tmp_path: Path, few_drawn: int
) -> None:
    """Each occurs once; where one is written twice instead of another, they are evidence."""
    rows = 2 * few_drawn
    rng = np.random.default_rng(4)
    number = rng.permutation(rows) + 1
    if is_broken:  # the sum stays the same
        number[np.isin(number, [701, 703])] = 702
    pd.DataFrame({"nr": number, "x": rng.normal(size=rows), "y": rng.normal(size=rows)}).to_parquet(
        tmp_path / "t.parquet"
    )
    scan = outlying.scan(tmp_path / "t.parquet")
    found = outlying.explain(scan, where={"nr": 4})
    assert scan.scans == 2
    assert ("nr" in found.population.columns) == is_broken


def sensors(path: Path, rows: int) -> dict[str, Any]:
    """Write readings of eight sensors, in no order, one of which jumps; return where it is."""
    rng = np.random.default_rng(3)
    own, hour = np.repeat(np.arange(8), rows // 8), np.tile(np.arange(rows // 8), 8)
    walk = rng.normal(0, 0.2, (8, rows // 8)).cumsum(axis=1).ravel()
    celsius = np.round(15 + 3 * rng.normal(size=8)[own] + walk, 2)
    celsius[300] += 3
    when = pd.Timestamp("2024-03-01") + pd.to_timedelta(hour, unit="h")
    table = pd.DataFrame({"sensor": [f"s{code}" for code in own], "when": when, "celsius": celsius})
    table.sample(frac=1, random_state=1).to_parquet(path / "part.parquet")
    return {"sensor": f"s{own[300]}", "when": when[300].to_pydatetime()}


@pytest.mark.parametrize("named", [{"entity": "sensor", "time": "when"}, {"time": "when"}, {}])
def test_rows_of_a_stream_are_compared_with_their_past(
    named: dict[str, Any], tmp_path: Path, few_drawn: int
) -> None:
    """As those in memory are, though the model is made of a part of them; be it by a guess."""
    where = sensors(tmp_path, 4 * few_drawn)
    told = [
        outlying.explain(source, where=where, **named).stories[0].headline
        for source in (tmp_path, pd.read_parquet(tmp_path))
    ]
    assert [item.column for item in told] == ["celsius", "celsius"]
    assert told[0].given == told[1].given == ("sensor", "when")
    assert told[0].said == told[1].said


def test_a_past_that_a_stream_does_not_have_is_said(
    tmp_path: Path, few_drawn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows in the order of time are compared where all can be held, and never silently not."""
    where = sensors(tmp_path, 2 * few_drawn)
    monkeypatch.setattr("outlying.stream.population.MOST_PAST", 6 * few_drawn - 1)
    options: list[dict[str, Any]] = [{"time": "when"}, {}]
    for named in options:
        found = outlying.explain(tmp_path, where=where, **named)
        assert any("not compared with earlier and later ones" in note for note in found.notes)


@pytest.mark.parametrize("named", [{"entity": None}, {"time": None}, {"derive": False}])
def test_a_past_that_nobody_wants_takes_no_pass(
    named: dict[str, Any], tmp_path: Path, few_drawn: int
) -> None:
    sensors(tmp_path, 2 * few_drawn)
    scan = outlying.scan(tmp_path)
    explainer = outlying.Explainer(scan, **named)
    assert explainer.rows == 2 * few_drawn
    assert scan.scans == 1
    asked = outlying.scan(tmp_path)
    assert outlying.Explainer(asked).rows == 2 * few_drawn
    assert asked.scans == 2


def test_days_that_name_no_row_take_no_pass(tmp_path: Path, few_drawn: int) -> None:
    rng = np.random.default_rng(8)
    rows = 2 * few_drawn
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, rows), unit="D")
    table = pd.DataFrame({"day": day, "x": rng.normal(size=rows), "y": rng.normal(size=rows)})
    table.to_parquet(tmp_path / "part.parquet")
    scan = outlying.scan(tmp_path)
    assert outlying.Explainer(scan).rows == rows
    assert scan.scans == 1


@pytest.mark.parametrize("x", [40.0, 80.5, 150.0])
def test_the_columns_of_a_relation_are_pictured(x: float, tmp_path: Path, few_drawn: int) -> None:
    """Also where nothing else is told of them."""
    rng = np.random.default_rng(2)
    load = rng.gamma(2.0, 30.0, 4 * few_drawn)
    cost = 3 * load + rng.normal(0, 4, len(load))
    table = pd.DataFrame({"load": load, "cost": cost, "noise": rng.normal(size=len(load))})
    table.to_parquet(tmp_path / "part.parquet")
    item = {"load": x, "cost": 3 * x + 60, "noise": 0.1}
    for source in (tmp_path, table):
        pair = outlying.explain(source, object=item).stories[0].headline
        assert {pair.column, *pair.others} == {"load", "cost"}
        assert pair.picture is not None
        assert pair.picture.relation is not None
