"""What is timed. A job is prepared outside the clock: imports, the table, its form.

A prepared job runs against a clock and gives a function for what it found, which is called when the
measurement is over.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

import outlying
from benchmarks.speed import peers, tables
from benchmarks.speed.clock import Clock
from benchmarks.speed.spec import Spec

Facts: TypeAlias = dict[str, Any]
Job: TypeAlias = Callable[[Clock], Callable[[], Facts]]

SINGLES = 3  # of many objects are compared with being asked one by one
BINS = 64


def everything() -> None:
    """Import all of this package and what it works with, so that no import is timed."""
    for name in ("pandas", "pyarrow", "duckdb", "concurrent.futures"):
        importlib.import_module(name)
    for module in pkgutil.walk_packages(outlying.__path__, "outlying."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


# This package.


def explain(spec: Spec) -> Job:
    """Explain one row of a frame, or of a file where the spec names one."""
    everything()
    table = None if spec.path else tables.make(spec)
    data = spec.path if table is None else table.frame()
    row = spec.row if table is None else table.row
    truth = table.truths[table.row] if table else None

    def run(clock: Clock) -> Callable[[], Facts]:
        found = outlying.explain(data, row=row, **spec.options)
        clock.lap("explain")
        if spec.says:
            str(found)
            clock.lap("write")
        return lambda: _facts(found, truth)

    return run


def explainer(spec: Spec) -> Job:
    """Explain one row of a frame by an explainer, whose making is a stage of its own."""
    everything()
    table = tables.make(spec)
    frame = table.frame()

    def run(clock: Clock) -> Callable[[], Facts]:
        made = outlying.Explainer(frame, **spec.options)
        clock.lap("prepare")
        found = made.explain(row=table.row)
        clock.lap("explain")
        if spec.says:
            str(found)
            clock.lap("write")
        return lambda: _facts(found, table.truths[table.row])

    return run


def many(spec: Spec) -> Job:
    """Explain many rows of a frame, one after the other or by several processes."""
    everything()
    table = tables.make(spec)
    frame, rows = table.frame(), table.drawn(spec.objects)

    def run(_clock: Clock) -> Callable[[], Facts]:
        made: Any = outlying.Explainer(frame, **spec.options)
        found = []
        for findings in made.explain_many(rows=rows, workers=spec.workers):
            found.append(findings)
            if spec.says:
                str(findings)
        return lambda: _facts_of_many(made, found, table)

    return run


def strengths(spec: Spec) -> Job:
    """Judge all rows of a frame."""
    everything()
    table = tables.make(spec)
    frame = table.frame()

    def run(_clock: Clock) -> Callable[[], Facts]:
        found = outlying.Explainer(frame, **spec.options).strengths(workers=spec.workers)
        return lambda: _ranked(table, found.argsort()[::-1][: len(table.truths)].tolist())

    return run


def against(spec: Spec) -> Job:
    """Judge the rows of a frame by the model of a fifth of them, whose making is a stage."""
    everything()
    frame = tables.make(spec).frame()
    base, new = frame[: spec.rows // 5], frame[spec.rows // 5 :]

    def run(clock: Clock) -> Callable[[], Facts]:
        made = outlying.Explainer(base)
        made.prepare(workers=spec.workers)
        clock.lap("fit")
        found = outlying.Explainer(new, against=made).strengths(workers=spec.workers)
        clock.lap("score")
        return lambda: {"rows": len(found)}

    return run


def relations(spec: Spec) -> Job:
    """Find what the columns of a frame say of each other."""
    everything()
    from outlying.derived.choosing import find_relations
    from outlying.options import Options

    table = outlying.Explainer(tables.make(spec).frame()).table
    rows = np.arange(table.rows)

    def run(_clock: Clock) -> Callable[[], Facts]:
        found = find_relations(table.columns, table.names, Options(), rows)
        return lambda: {"relations": len(found)}

    return run


def detect(spec: Spec) -> Job:
    """Judge every row of a frame, and rank all by what is found."""
    everything()
    table = tables.make(spec)
    frame = table.frame()

    def run(_clock: Clock) -> Callable[[], Facts]:
        found = outlying.detect(frame, top=len(table.truths), **spec.options)
        return lambda: _ranked(table, [one.row for one in found.rows])

    return run


def detect_stream(spec: Spec) -> Job:
    """Judge every row of a file in passes by DuckDB, and explain the first."""
    everything()
    assert spec.path is not None
    feeder = outlying.scan(spec.path)

    def run(_clock: Clock) -> Callable[[], Facts]:
        outlying.detect(feeder, **spec.options)
        return lambda: {"scans": feeder.scans}

    return run


def _ranked(table: tables.Table, first: Iterable[int | None]) -> Facts:
    right = sum(row in table.truths for row in first)
    return {"outlying": len(table.truths), "right": right}


def _facts(found: outlying.Findings, truth: frozenset[str] | None) -> Facts:
    first = columns_of(found.pairs[0]) if found.pairs else frozenset()
    pairs = [described(pair) for pair in found.pairs]
    return {
        "first": sorted(first),
        "right": None if truth is None else first == truth,
        "found": found.found,
        "pairs": digest(json.dumps(pair) for pair in pairs),
    }


def _facts_of_many(made: Any, found: list[outlying.Findings], table: tables.Table) -> Facts:
    firsts = {one.row: columns_of(one.pairs[0]) for one in found if one.pairs}
    singles = [made.explain(row=one.row).to_json() == one.to_json() for one in found[:SINGLES]]
    return {
        "objects": len(found),
        "answers": digest(one.to_json() for one in found),
        "as_one_by_one": all(singles),
        "outlying": len(table.truths),
        "right": sum(firsts.get(row) == truth for row, truth in table.truths.items()),
    }


def columns_of(pair: outlying.Pair) -> frozenset[str]:
    """Return the columns that a pair names."""
    return frozenset({pair.column if pair.given else pair.property, *pair.others})


def described(pair: Any) -> list[Any]:
    """Return what must be the same in a pair of this package and of the twin."""
    conditions = [
        [c.attribute, c.kind, plain(c.low), plain(c.high), plain(c.value)] for c in pair.conditions
    ]
    return [pair.property, conditions, int(pair.group_size), round(float(pair.rarity), 6)]


def plain(value: Any) -> Any:
    """Give every kind of number as a float."""
    return float(value) if isinstance(value, Real) else value


def digest(texts: Iterable[str]) -> str:
    """Return a short text that is the same only for the same texts."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


# What it is compared with.


def twin(spec: Spec) -> Job:
    """Let the naive twin of the tests explain one row."""
    naive: Any = importlib.import_module("tests.naive")
    table = tables.make(spec)
    data = {name: [_cell(value) for value in column] for name, column in table.data.items()}

    def run(_clock: Clock) -> Callable[[], Facts]:
        pairs = naive.explain(data, table.row, **spec.options)
        found = [json.dumps(described(pair)) for pair in pairs]
        return lambda: {"found": len(found), "pairs": digest(found)}

    return run


def _cell(value: Any) -> float | str | None:
    if value is None or value != value:
        return None
    return value if isinstance(value, str) else float(value)


def trees(spec: Spec) -> Job:
    """Fit OutlierTree, which flags and explains all rows at once."""
    table = tables.make(spec)
    tree = peers.OutlierTree(table.frame(), **spec.options)

    def run(_clock: Clock) -> Callable[[], Facts]:
        tree.fit()
        return lambda: {
            "outlying": len(table.truths),
            "right": sum(tree.named(row) == truth for row, truth in table.truths.items()),
        }

    return run


def forest(spec: Spec) -> Job:
    """Encode, grow an isolation forest, and share out the score of one row by SHAP."""
    table = tables.make(spec)
    forest = peers.ForestShap(table.frame())

    def run(clock: Clock) -> Callable[[], Facts]:
        forest.encode()
        clock.lap("encode")
        forest.fit()
        clock.lap("fit")
        forest.explain(table.row)
        clock.lap("explain")
        return lambda: {"dimensions": forest.dimensions}

    return run


def histograms(spec: Spec) -> Job:
    """Let DuckDB read all columns of a Parquet file and count a histogram of each."""
    duckdb: Any = importlib.import_module("duckdb")
    assert spec.path is not None
    file = f"read_parquet('{spec.path}')"

    def run(clock: Clock) -> Callable[[], Facts]:
        with duckdb.connect() as connected:
            described = connected.execute(f"DESCRIBE FROM {file}").fetchall()
            labels = [name for name, kind, *_ in described if kind == "VARCHAR"]
            numbers = [name for name, *_ in described if name not in labels]
            found = _numeric_histograms(connected, file, numbers)
            clock.lap("numbers")
            for name in labels:
                query = f'SELECT "{name}", count(*) FROM {file} GROUP BY 1'  # noqa: S608
                found.append(connected.execute(query).fetchall())
            clock.lap("categories")
        return lambda: {"columns": len(found), "numbers": len(numbers)}

    return run


def _numeric_histograms(connected: Any, file: str, names: list[str]) -> list[Any]:
    """Count bins of equal width for all columns by one query; another one gives their ends."""
    ends = ", ".join(f'min("{name}"), max("{name}")' for name in names)
    found = connected.execute(f"SELECT {ends} FROM {file}").fetchone()  # noqa: S608
    bins = [
        [low + (high - low) * step / BINS for step in range(1, BINS + 1)]
        for low, high in zip(found[::2], found[1::2], strict=True)
    ]
    counts = ", ".join(f'histogram("{name}"::DOUBLE, ?::DOUBLE[])' for name in names)
    return list(connected.execute(f"SELECT {counts} FROM {file}", bins).fetchone())  # noqa: S608


def write(spec: Spec) -> Job:
    """Write a table as Parquet, for other jobs; tells which row is outlying."""
    table = tables.make(spec)
    frame = table.frame()

    def run(_clock: Clock) -> Callable[[], Facts]:
        frame.to_parquet(spec.path, index=False)
        return lambda: {"row": table.row}

    return run


JOBS: dict[str, Callable[[Spec], Job]] = {
    "explain": explain,
    "explainer": explainer,
    "many": many,
    "strengths": strengths,
    "against": against,
    "relations": relations,
    "detect": detect,
    "detect_stream": detect_stream,
    "twin": twin,
    "trees": trees,
    "forest": forest,
    "histograms": histograms,
    "write": write,
}
