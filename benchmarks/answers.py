"""Do answers stay the same? Explanations by every source, option and stream.

    python -m benchmarks.answers write before.json     # at one commit
    python -m benchmarks.answers write after.json      # at another
    python -m benchmarks.answers compare before.json after.json
    python -m benchmarks.answers compare --stories before.json after.json

Bytes are compared, or with `--stories` which columns the first story of each row is about, and
whether it is exceptional: what a change of the measure or of the wording must leave alone.

Only the public interface is used, so that the file runs at any commit. `--spark` adds Spark, which
needs Java.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import outlying

Case = Callable[[], list[outlying.Findings]]


def mixed(rows: int, seed: int = 1) -> pd.DataFrame:
    """Make a table with numbers, labels, dates, gaps, and a story in each of its first rows."""
    rng = np.random.default_rng(seed)
    city = rng.choice(np.array(["A", "B", "C"]), rows, p=[0.3, 0.3, 0.4])
    temp = np.select([city == "A", city == "B"], [30.0, 5.0], 15.0) + rng.normal(size=rows)
    load = rng.gamma(2.0, 30.0, rows)
    cost = 3 * load + rng.normal(0, 4, rows)
    seen = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, rows), unit="D")
    grade = rng.integers(0, 7, rows)
    flag = rng.random(rows) < 0.2
    note = np.where(flag, "late", "fine").astype(object)
    city[0], temp[0] = "A", 5.2
    cost[1] = 3 * load[1] + 90
    note[2], flag[2] = "late", False
    frame = pd.DataFrame(
        {
            "key": [f"k{place:06d}" for place in range(rows)],
            "city": city,
            "temp": temp.round(2),
            "load": load,
            "cost": cost,
            "seen": seen,
            "grade": grade,
            "flag": flag,
            "note": note,
        }
    )
    frame.loc[rng.random(rows) < 0.03, "temp"] = np.nan
    frame.loc[rng.random(rows) < 0.03, "city"] = None
    frame.loc[0, ["city", "temp"]] = ["A", 5.2]
    frame.loc[3, "load"] = np.nan
    return frame


def wide(rows: int, columns: int) -> dict[str, Any]:
    """Make a table of many numbers, a few of which go together."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(rows, columns))
    values[:, 1] = values[:, 0] + 0.1 * rng.normal(size=rows)
    values[0, :2] = 1.5, -1.5
    return {f"x{place}": values[:, place] for place in range(columns)}


def cases(folder: Path, spark: bool) -> Iterator[tuple[str, Case]]:
    """Name all explanations; files lie in `folder`, which is the current one."""
    small, middle, large = mixed(600), mixed(5_000), mixed(20_000)
    yield from _options(small)
    yield from _sizes(small, middle, large)
    yield from _objects(small, middle)
    yield from _sources(folder, small)
    yield from _streams(folder, {"small": small, "large": large})
    if spark:
        yield from _spark(folder)


def _one(data: Any, row: int, **options: Any) -> Case:
    return lambda: [outlying.explain(data, row=row, **options)]


def _of(explainer: outlying.Explainer, **asked: Any) -> Case:
    return lambda: [explainer.explain(**asked)]


def _many(explainer: outlying.Explainer, **asked: Any) -> Case:
    return lambda: list(explainer.explain_many(**asked))


def _streamed(source: Callable[[], Any], where: Any) -> Case:
    return lambda: list(outlying.explain_many(source(), where=where))


def _new(source: str, item: dict[str, Any]) -> Case:
    return lambda: [outlying.explain(source, object=item)]


def _options(data: pd.DataFrame) -> Iterator[tuple[str, Case]]:
    every: list[dict[str, Any]] = [
        {},
        {"references": 20, "min_confidence": 0.9},
        {"min_support": 0.3},
        {"min_support": 0.02},
        {"max_conditions": 0},
        {"max_conditions": 1},
        {"max_conditions": 2},
        {"top": 1},
        {"top": 50},
        {"columns": ["city", "temp", "cost"]},
        {"exclude": ["note"]},
        {"types": {"grade": "categorical"}},
    ]
    paper: list[dict[str, Any]] = [
        {},
        {"measure": "relative"},
        {"scales": "several"},
        {"interval": "run"},
        {"bandwidth": "adaptive", "max_conditions": 2},
        {"min_outlierness": 0.5},
        {"min_outlierness": 0.999},
        {"seed": 3},
        {"discretise": "equi-width", "bins": 8},
        {"discretise": "equi-depth", "bins": 5},
    ]
    for options in [*every, *({"preset": "paper"} | own for own in paper)]:
        for row in (0, 1, 17):
            yield f"option {options} row {row}", _one(data, row, **options)


def _sizes(*tables: pd.DataFrame) -> Iterator[tuple[str, Case]]:
    for data in tables:
        for row in (0, 1, 2, 3, 40):
            yield f"{len(data)} rows, row {row}", _one(data, row)
    yield "exact", _one(tables[1], 1, exact=True)
    yield "60 columns", _one(wide(300, 60), 0)
    yield "110 columns", _one(wide(200, 110), 0)


def _objects(small: pd.DataFrame, middle: pd.DataFrame) -> Iterator[tuple[str, Case]]:
    new = {
        "city": "A", "temp": 4.0, "load": 80.5, "cost": 500, "seen": "2024-03-05",
        "grade": 9, "flag": True, "note": "odd", "key": "new",
    }  # fmt: skip
    for name, data in (("small", small), ("middle", middle)):
        explainer = outlying.Explainer(data)
        yield f"new object, {name}", _of(explainer, object=new)
        yield f"where, {name}", _of(explainer, where={"key": "k000001"})
        yield (
            f"many rows, {name}",
            _many(explainer, rows=[5, 2, 9, 0], workers=1),
        )
        yield f"every where, {name}", _many(explainer, where={"temp": 5.2})


def _sources(folder: Path, data: pd.DataFrame) -> Iterator[tuple[str, Case]]:
    import polars as pl
    import pyarrow as pa

    data.to_csv(folder / "a.csv", index=False)
    data.to_csv(folder / "a.tsv", index=False, sep="\t")
    data.to_csv(folder / "a.csv.gz", index=False)
    data.to_json(folder / "a.jsonl", orient="records", lines=True, date_format="iso")
    arrow = pa.Table.from_pandas(data, preserve_index=False)
    carriers = {
        "polars": pl.from_arrow(arrow),
        "arrow": arrow,
        "dict": {name: list(column) for name, column in data.items()},
        "array": data[["temp", "load", "cost"]].to_numpy(),
        "records": data[["temp", "load", "cost"]].to_records(index=False),
        "csv": "a.csv",
        "tsv": "a.tsv",
        "csv.gz": "a.csv.gz",
        "jsonl": "a.jsonl",
    }
    data.to_parquet(folder / "a.parquet")
    carriers["parquet"] = "a.parquet"
    for name, carrier in carriers.items():
        for row in (0, 1):
            yield f"{name}, row {row}", _one(carrier, row)


def _streams(folder: Path, tables: dict[str, pd.DataFrame]) -> Iterator[tuple[str, Case]]:
    import duckdb

    wheres = [{"key": "k000000"}, {"key": "k000001"}, {"key": "k000040"}]
    new = {"city": "A", "temp": 4.0, "load": 80.5, "cost": 500.25, "seen": "2024-03-05",
           "grade": 9, "flag": True, "note": "odd"}  # fmt: skip
    for name, data in tables.items():
        parts = folder / name
        parts.mkdir()
        half = len(data) // 2
        data[:half].to_parquet(parts / "1.parquet")
        data[half:].to_parquet(parts / "2.parquet")
        data.to_csv(folder / f"{name}.csv", index=False)
        connected = duckdb.connect(str(folder / f"{name}.duckdb"))
        connected.execute(f"CREATE TABLE kept AS FROM '{name}/*.parquet'")
        connected.close()
        plain = data.assign(seen=data["seen"].astype(str), flag=data["flag"].astype(int))
        _sqlite(folder / f"{name}.sqlite", plain)
        for kind, source in _sources_of(name).items():
            yield f"stream {kind}, {name}", _streamed(source, wheres)
        yield f"stream, new object, {name}", _new(name, new)
        yield (
            f"stream, every where, {name}",
            _streamed(_sources_of(name)["folder"], {"temp": 5.2}),
        )


def _sources_of(name: str) -> dict[str, Callable[[], Any]]:
    import duckdb
    import polars as pl

    return {
        "folder": lambda: name,
        "glob": lambda: f"{name}/*.parquet",
        "csv by duckdb": lambda: outlying.scan(f"{name}.csv"),
        "relation": lambda: duckdb.sql(f"FROM '{name}/*.parquet'"),
        "database": lambda: outlying.scan(f"{name}.duckdb", table="kept"),
        "query": lambda: outlying.scan(f"{name}.duckdb", query="SELECT * FROM kept"),
        "sqlite": lambda: outlying.scan(f"{name}.sqlite", table="kept"),
        "lazy": lambda: pl.scan_parquet(f"{name}/*.parquet"),
    }


def _sqlite(path: Path, data: pd.DataFrame) -> None:
    import sqlite3

    with contextlib.closing(sqlite3.connect(path)) as connected:
        data.to_sql("kept", connected, index=False)
        connected.commit()


def _spark(folder: Path) -> Iterator[tuple[str, Case]]:
    wheres = [{"key": "k000000"}, {"key": "k000001"}]
    for name in ("small", "large"):
        # Spark cannot read times in nanoseconds, which pandas writes
        data = pd.read_parquet(folder / name)
        (folder / f"spark_{name}").mkdir()
        data.assign(seen=data["seen"].dt.date).to_parquet(folder / f"spark_{name}" / "1.parquet")

        def explained(n: str = name) -> list[outlying.Findings]:
            from pyspark.sql import SparkSession

            os.environ["PYSPARK_PYTHON"] = sys.executable
            session = SparkSession.builder.master("local[2]").getOrCreate()
            frame = session.read.parquet(f"spark_{n}")
            return list(outlying.explain_many(frame, where=wheres))

        yield f"spark, {name}", explained


def answer(case: Case) -> list[dict[str, Any]]:
    """Return the JSON, the text and the hash of the page of each finding, or the error in words."""
    try:
        found = case()
    except outlying.OutlyingError as error:
        return [{"error": f"{type(error).__name__}: {error}"}]
    return [
        {
            "json": findings.to_dict(),
            "text": str(findings),
            "html": hashlib.sha256(findings.to_html().encode()).hexdigest(),
        }
        for findings in found
    ]


def write(target: Path, spark: bool) -> None:
    target = target.absolute()
    found = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, case in cases(Path(folder), spark):
            found[name] = answer(case)
            print(f"{len(found):4} {name}", file=sys.stderr)
    target.write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")
    print(f"{len(found)} cases, {sum(map(len, found.values()))} explanations in {target}")


def compare(before: Path, after: Path) -> int:
    """Name the cases that differ; give how many."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    different = [name for name in old if json.dumps(old[name]) != json.dumps(new.get(name))]
    different += [name for name in new if name not in old]
    for name in different:
        print(f"differs: {name}")
    same = len(old) - len([name for name in different if name in old])
    total = sum(map(len, old.values()))
    print(f"{same} of {len(old)} cases ({total} explanations) are the same, byte for byte")
    return len(different)


Told = tuple[frozenset[str], bool, str]


def first_story(found: dict[str, Any]) -> Told:
    """Return the columns of the first story, whether it is exceptional, and its sentence."""
    if "error" in found:
        return frozenset(), False, found["error"]
    told = found["json"]["objects"][0]
    if not told["stories"]:
        return frozenset(), False, "nothing is told"
    story = told["stories"][0]
    sentence = told["pairs"][story["headline"]]["sentence"]
    return frozenset(story["columns"]), story["exceptional"], sentence


def compare_stories(before: Path, after: Path) -> int:
    """Name the explanations whose exceptional first story differs, and return how many."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    total = different = quiet = 0
    for name in old:
        for place, (left, right) in enumerate(zip(old[name], new.get(name, []), strict=False)):
            was, now = first_story(left), first_story(right)
            total += 1
            quiet += not (was[1] or now[1])
            if (was[1] or now[1]) and was[:2] != now[:2]:
                different += 1
                print(f"differs: {name} [{place}]\n  before: {was[2]}\n  after:  {now[2]}")
    print(
        f"{total} explanations: {total - quiet - different} tell the same first story, "
        f"{quiet} tell nothing exceptional either time, {different} differ"
    )
    return different


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("file", type=Path)
    writing.add_argument("--spark", action="store_true")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--stories", action="store_true")
    given = parser.parse_args()
    if given.command == "write":
        write(given.file, given.spark)
    else:
        judge = compare_stories if given.stories else compare
        sys.exit(bool(judge(given.before, given.after)))


if __name__ == "__main__":
    main()
