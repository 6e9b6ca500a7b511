"""Explain rows of large Parquet files: how long, how much memory, beside a plain scan.

python -m benchmarks.big --folder FOLDER -o benchmarks/results/big.md
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.big.tables import accounts, table
from benchmarks.machine import header

_MOST_PAYMENTS = 10  # million rows: beyond, labels are too many to take part


def main() -> None:
    args = _parser().parse_args()
    lines = [header("Tables that outgrow memory"), _about(), ""]
    for part in (_one(args), _groups(args), _many(args)):
        lines += [*part, ""]
    report = "\n".join(lines)
    if args.output is None:
        print(report)
    else:
        args.output.write_text(report, encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.big", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the tables are made")
    parser.add_argument("--millions", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--objects", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    return parser


def _about() -> str:
    return (
        "Parquet tables of 12 columns (5 of doubles, 3 of whole numbers, a date, 2 of labels, a "
        "boolean), made by DuckDB; one row is cold for its city. Each figure is the best of some "
        "runs in fresh processes, imports included; memory is the peak of the process, CPU that of "
        "all its threads, which other work on the machine changes least. `histograms` "
        "is DuckDB counting every column that is read, one after the other; `all rows` judges "
        "every row, and explains the ten oddest."
    )


def _one(args: argparse.Namespace) -> Iterator[str]:
    yield "| rows | | time | to histograms | CPU | to histograms | memory | bound |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for millions in args.millions:
        path = str(table(args.folder, millions))
        plain = _best(args.runs, job="histograms", path=path)
        alone = _best(args.runs, job="explain", path=path)
        full = _best(args.runs, job="detect", path=path)
        assert {"city", "temp"} == set(alone["facts"]["columns"]), alone["facts"]
        for what, run in (("histograms", plain), ("a row", alone), ("all rows", full)):
            ratios = (run[name] / plain[name] for name in ("seconds", "cpu"))
            times, cpu = (f"{ratio:.1f}" for ratio in ratios)
            bound = f"{run['facts']['bound']:.1g}" if "bound" in run["facts"] else ""
            yield (
                f"| {millions}M | {what} | {run['seconds']:.1f} s | {times} | {run['cpu']:.1f} s "
                f"| {cpu} | {run['megabytes']:,.0f} MB | {bound} |"
            )


def _groups(args: argparse.Namespace) -> Iterator[str]:
    yield "One of many accounts has an amount that is usual for others:"
    yield ""
    yield "| rows | accounts | told as | exceptional | seconds | memory |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for millions in args.millions:
        if millions <= _MOST_PAYMENTS:
            path = accounts(args.folder, millions, count := 5_000 * millions)
            run = _best(args.runs, job="explain", path=str(path))
            facts = run["facts"]
            yield (
                f"| {millions}M | {count:,} | {' given '.join(facts['columns'])} "
                f"| {'yes' if facts['exceptional'] else 'no'} | {run['seconds']:.1f} s "
                f"| {run['megabytes']:,.0f} MB |"
            )


def _many(args: argparse.Namespace) -> Iterator[str]:
    millions = min(10, max(args.millions))
    path = table(args.folder, millions)
    yield f"Many rows of {millions} million, in the same two passes:"
    yield ""
    yield "| objects | seconds | memory | read | bound |"
    yield "| --- | --- | --- | --- | --- |"
    for objects in args.objects:
        run = _best(1, job="explain", path=str(path), objects=objects)
        yield (
            f"| {objects:,} | {run['seconds']:.1f} s | {run['megabytes']:,.0f} MB "
            f"| {run['facts']['read'] / 1e6:,.0f} MB | {run['facts']['bound']:.1g} |"
        )


def _best(runs: int, **spec: Any) -> dict[str, Any]:
    """Measure some times in processes of their own, and keep the fastest run."""
    found = [_measured(spec) for _ in range(runs)]
    return min(found, key=lambda run: run["seconds"])


def _measured(spec: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.big.measure", json.dumps(spec)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
