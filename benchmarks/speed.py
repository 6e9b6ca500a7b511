"""How fast: the naive twin, the import, the paper's smallest table. Ratios come from one run.

    python -m benchmarks.speed --data ../shared/data -o benchmarks/results/speed.md

The naive twin would need more than half an hour for the larger table: it is stopped after
--patience seconds.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty
from typing import Any

import outlying
from benchmarks.machine import header
from benchmarks.planted import plant
from tests import naive

#: Rows and noise columns of the tables for the twin: one that it finishes, one of 2,000 x 20.
SIZES = ((300, 6), (2000, 17))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the speed of outlying.")
    parser.add_argument("--data", type=Path, help="folder with ecoli.csv")
    parser.add_argument("--patience", type=float, default=600, help="seconds given to the twin")
    parser.add_argument("-o", "--output", type=Path, help="write the report there, too")
    args = parser.parse_args()
    lines = [header("Speed")]
    lines += [show(imports()), show(ecoli(args.data))]
    lines += [show(against_naive(rows, noise, args.patience)) for rows, noise in SIZES]
    if args.output:
        args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def show(text: str) -> str:
    """Print a part of the report as soon as it is there."""
    print(text, flush=True)
    return text


def imports(rounds: int = 9) -> str:
    """Time the imports in fresh processes, turn by turn."""
    taken: dict[str, list[float]] = {"numpy": [], "outlying": []}
    for _ in range(rounds):
        for name, times in taken.items():
            code = f"from time import perf_counter as t; a = t(); import {name}; print(t() - a)"
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            times.append(float(done.stdout))
    ours, numpy = statistics.median(taken["outlying"]), statistics.median(taken["numpy"])
    return (
        "## Import\n"
        f"`import outlying`: {ours:.3f} s; `import numpy`: {numpy:.3f} s; ratio {ours / numpy:.2f} "
        f"(medians of {rounds} fresh processes).\n"
    )


def ecoli(folder: Path | None) -> str:
    """Explain one row of a table of 336 x 7 in memory, end to end."""
    if folder is None or not (folder / "ecoli.csv").exists():
        return "## Ecoli\nNot run: --data names no folder with ecoli.csv.\n"
    table = outlying.sources.read(folder / "ecoli.csv")
    data = {column.name: list(map(column.value, range(table.rows))) for column in table.columns}
    taken = [timed(lambda: outlying.explain(data, row=222, exclude=["site"])) for _ in range(7)]
    paper: dict[str, Any] = {
        "search": "exhaustive",
        "scales": "one",
        "measure": "paper",
        "min_support": 0.2,
    }
    literal = [
        timed(lambda: outlying.explain(data, row=222, exclude=["site"], max_conditions=3, **paper))
        for _ in range(7)
    ]
    return (
        "## Ecoli, 336 x 7, one row\n"
        f"Defaults: {statistics.median(taken):.2f} s; the paper's settings: "
        f"{statistics.median(literal):.2f} s (the paper reports 6.4 + 16.8 s).\n"
    )


def against_naive(rows: int, noise: int, patience: float) -> str:
    """Search exhaustively up to three conditions, by the library and by the twin in one run.

    The twin works in a process of its own and is stopped when patience ends; the ratio is then a
    lower bound.
    """
    planted = plant("xor", 0, rows=rows, noise=noise)
    options: dict[str, Any] = {"search": "exhaustive", "max_conditions": 3}
    results: dict[str, Any] = {}
    ours = timed(
        lambda: results.update(
            fast=outlying.explain(planted.data, row=planted.row, top=10_000, **options)
        )
    )
    plain = {name: [cell(x) for x in column] for name, column in planted.data.items()}
    queue: Any = multiprocessing.Queue()
    twin = multiprocessing.Process(target=_twin, args=(queue, plain, planted.row, options))
    twin.start()
    try:
        slow, found = queue.get(timeout=patience)
    except Empty:
        slow, found = patience, None
    twin.terminate()
    title = f"## The naive twin, {rows:,} x {len(plain)}, exhaustive, three conditions\n"
    if found is None:
        return (
            f"{title}outlying {ours:.2f} s; the twin was stopped after {slow:.0f} s: more than "
            f"{slow / ours:.0f} times faster.\n"
        )
    same = [described(pair) for pair in results["fast"].pairs] == found
    return (
        f"{title}outlying {ours:.2f} s, twin {slow:.0f} s: {slow / ours:.0f} times faster. "
        f"Same pairs: {'yes' if same else 'NO'} ({len(found)}).\n"
    )


def _twin(queue: Any, table: Any, row: int, options: dict[str, Any]) -> None:
    found: list[Any] = []
    taken = timed(lambda: found.extend(naive.explain(table, row, **options)))
    queue.put((taken, [described(pair) for pair in found]))


def described(pair: Any) -> tuple[Any, ...]:
    """Give what must be the same in both."""
    conditions = [(c.attribute, c.kind, c.low, c.high, c.value) for c in pair.conditions]
    return pair.property, conditions, pair.group_size, round(pair.rarity, 6)


def cell(value: Any) -> float | str | None:
    """Give a cell as the twin takes it."""
    if value is None or value != value:
        return None
    return value if isinstance(value, str) else float(value)


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
