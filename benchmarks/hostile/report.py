"""Counts of outcomes, printed and kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.machine import header


def tell(title: str, summary: str, counts: Mapping[str, int], path: Path | None) -> None:
    """Print what was tried and what came of it; write it to a file where one is given."""
    print(summary, flush=True)
    for name, count in counts.items():
        print(f"  {count:7,}  {name}")
    if path is not None:
        lines = [f"| {name} | {count:,} |" for name, count in counts.items()]
        table = "\n".join(["| outcome | how often |", "| --- | --- |", *lines])
        path.write_text(f"{header(title)}\n{summary}\n\n{table}\n", encoding="utf-8")
