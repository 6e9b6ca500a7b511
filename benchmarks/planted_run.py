"""How often the first pair names exactly the planted columns, by kind of story.

python -m benchmarks.planted_run --seeds 100 -o benchmarks/results/planted.md
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import outlying
from benchmarks.machine import header
from benchmarks.planted import KINDS, no_story, plant


def main() -> None:
    parser = argparse.ArgumentParser(description="Explain planted rows of made tables.")
    parser.add_argument("--seeds", type=int, default=100, help="tables per kind")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--noise", type=int, default=8, help="columns besides the story's own")
    parser.add_argument("-o", "--output", type=Path, help="write the report there, too")
    args = parser.parse_args()
    lines = [
        header("Planted tables"),
        f"{args.seeds} tables per kind, {args.rows:,} rows, {args.noise} noise columns, "
        "default options.\n",
        "| kind | right columns first | in the first five | planted property first | s per row |",
        "| --- | --- | --- | --- | --- |",
    ]
    print("\n".join(lines))
    for kind in KINDS:
        lines.append(row_of(kind, args.seeds, args.rows, args.noise))
        print(lines[-1], flush=True)
    claims = sum(
        outlying.explain(table.data, row=table.row).exceptional
        for table in (no_story(seed, args.rows, args.noise) for seed in range(args.seeds))
    )
    lines.append(
        f"\nOrdinary rows for which something is called exceptional: {claims} of {args.seeds}."
    )
    print(lines[-1])
    if args.output:
        args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def row_of(kind: str, seeds: int, rows: int, noise: int) -> str:
    first = five = same = 0
    start = time.perf_counter()
    for seed in range(seeds):
        planted = plant(kind, seed, rows, noise)
        findings = outlying.explain(planted.data, row=planted.row)
        right = [named(pair) == planted.columns for pair in findings.pairs[:5]]
        first += right[0] and findings.pairs[0].exceptional
        five += any(right)
        same += right[0] and findings.pairs[0].property == planted.property
    taken = (time.perf_counter() - start) / seeds
    return (
        f"| {kind} | {first / seeds:.0%} | {five / seeds:.0%} | {same / seeds:.0%} | {taken:.2f} |"
    )


def named(pair: outlying.Pair) -> frozenset[str]:
    """Give the columns that a pair names."""
    return frozenset({pair.property, *(condition.attribute for condition in pair.conditions)})


if __name__ == "__main__":
    main()
