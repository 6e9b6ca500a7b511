"""What confidence means: how often an ordinary row reaches it.

python -m benchmarks.calibration -o benchmarks/results/calibration.md
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import outlying
from benchmarks.machine import header
from benchmarks.quality import stories

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99)
FIRST_SEED = 30  # beyond those of the quality benchmark


def main() -> None:
    parser = argparse.ArgumentParser(description="Explain ordinary rows of made tables.")
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--rows", type=int, default=60, help="rows of each table, drawn at random")
    parser.add_argument("-o", "--output", type=Path, help="write the report there, too")
    args = parser.parse_args()
    found = [item for seed in range(args.tables) for item in _rows(FIRST_SEED + seed, args.rows)]
    claims = sum(is_claimed for _, is_claimed in found)
    lines = [
        header("Confidence of ordinary rows"),
        f"{len(found)} rows of {args.tables} tables without a story; {claims} "
        f"({claims / len(found):.1%}) are called exceptional.\n",
        "| confidence at least | ordinary rows |",
        "| --- | --- |",
    ]
    for level in LEVELS:
        share = sum(confidence >= level for confidence, _ in found) / len(found)
        lines.append(f"| {level:g} | {share:.1%} |")
    print("\n".join(lines))
    if args.output:
        args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _rows(seed: int, count: int) -> list[tuple[float, bool]]:
    """Return the confidence of some rows of a table, and whether they are called exceptional."""
    case = stories.make(stories.NONE, seed)
    explainer = outlying.Explainer(case.data)
    chosen = np.random.default_rng(seed).choice(case.rows, count, replace=False)
    answers = [explainer.explain(row=int(row)) for row in chosen]
    return [(answer.confidence or 0.0, answer.exceptional) for answer in answers]


if __name__ == "__main__":
    main()
