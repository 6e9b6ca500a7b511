"""What the compiled screen saves: the same searches by NumPy and compiled, in turns, in one run.

    python -m benchmarks.screens -o benchmarks/results/screens.md

Each measurement is a process of its own, which counts its own processor time: other work on the
machine hardly changes that. The answers of both are compared byte by byte.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import outlying
from benchmarks.machine import header
from benchmarks.speed import tables
from benchmarks.speed.spec import Spec
from outlying.kernel.library import VARIABLE, said

#: Kind, rows and columns of a table.
TABLES = (("subspaces", 1_000, 20), ("subspaces", 1_000, 100), ("xor", 100_000, 20))
JOBS = {"one": "one row", "references": "{} reference rows", "many": "{} rows"}
SCREENS = ("numpy", "compiled")


@dataclasses.dataclass(frozen=True)
class Took:
    """Seconds of a processor, and a hash of what was found."""

    seconds: float
    found: str


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the compiled screen with NumPy's.")
    parser.add_argument("--rows", type=int, default=20, help="reference rows, and rows of many")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, help="write the report there, too")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        job, kind, rows, columns = args.measure
        spec = Spec(job, kind=kind, rows=int(rows), columns=int(columns), objects=args.rows)
        print(json.dumps(dataclasses.asdict(took(spec))))
        return
    lines = [line(job, *table, args.rows, args.repeats) for table in TABLES for job in JOBS]
    text = page(lines, args.repeats)
    print(text)
    if args.output:
        args.output.write_text(text + "\n", encoding="utf-8")


def took(spec: Spec) -> Took:
    """Search once; the table, its intervals and the imports are not timed."""
    table = tables.make(spec)
    made = outlying.Explainer(table.data, references=0)
    population = made.in_memory("the benchmark")
    population.find_intervals()
    rows = table.drawn(spec.objects)
    begin = time.process_time()
    if spec.job == "references":
        found = repr(list(population.strongest(rows, 1)))
    else:
        some = rows[:1] if spec.job == "one" else rows
        found = "\n".join(made.explain(row=row).to_json() for row in some)
    seconds = time.process_time() - begin
    return Took(seconds, hashlib.sha256(found.encode()).hexdigest())


def line(job: str, kind: str, rows: int, columns: int, objects: int, repeats: int) -> str:
    """Measure a job by both screens in turns."""
    command = [sys.executable, "-m", "benchmarks.screens", "--rows", str(objects)]
    found: dict[str, list[Took]] = {screen: [] for screen in SCREENS}
    for _ in range(repeats):
        for screen in SCREENS:
            run = subprocess.run(
                [*command, "--measure", job, kind, str(rows), str(columns)],
                env=os.environ | {VARIABLE: screen},
                capture_output=True,
                text=True,
                check=True,
            )
            found[screen].append(Took(**json.loads(run.stdout)))
    is_same = len({each.found for some in found.values() for each in some}) == 1
    slow, fast = (statistics.median(each.seconds for each in found[name]) for name in SCREENS)
    name, what = f"{rows:,} x {columns}", JOBS[job].format(objects)
    same = "the same" if is_same else "DIFFERENT"
    text = f"| {name} | {what} | {slow:.2f} s | {fast:.2f} s | {slow / fast:.1f} | {same} |"
    print(text, file=sys.stderr, flush=True)
    return text


def page(lines: list[str], repeats: int) -> str:
    """Return the report."""
    return "\n".join(
        [
            header("What the compiled screen saves"),
            f"Seconds of one processor for the search alone, the median of {repeats}; both screens "
            f"in turns. {said()[0].upper()}{said()[1:]}.",
            "",
            "| table | what | NumPy | compiled | ratio | answers |",
            "| --- | --- | --- | --- | --- | --- |",
            *lines,
        ]
    )


if __name__ == "__main__":
    main()
