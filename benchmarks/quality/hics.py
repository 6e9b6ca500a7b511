"""The HiCS tables: numeric columns, and rows that are odd in known sets of columns jointly."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np

from benchmarks.quality.cases import Case, Target, Truth

MARKS = ("is_anomaly", "subspaces")  # what is known of a row, and not shown to any method


def cases(folder: Path) -> list[Case]:
    """Read every `hics_*.csv` of a folder, in the order of the names."""
    paths = sorted(folder.glob("hics_*.csv"))
    if not paths:
        raise FileNotFoundError(f"no hics_*.csv in {folder}; name the folder that holds them")
    return [read(path) for path in paths]


def read(path: Path) -> Case:
    """Read one table."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    names = [name for name in lines[0] if name not in MARKS]
    return Case(
        suite="hics",
        kind=f"hics {len(names):03d}",
        name=path.stem,
        data={name: np.array([float(line[name]) for line in lines]) for name in names},
        targets=tuple(
            Target(row, truths(line["subspaces"], names))
            for row, line in enumerate(lines)
            if line["subspaces"].strip() != "-"
        ),
    )


def truths(subspaces: str, names: list[str]) -> tuple[Truth, ...]:
    """Turn "[7 8]; [1 2 3]; " into sets of columns; each of them is a right answer."""
    groups = re.findall(r"\[([\d\s]+)\]", subspaces)
    return tuple(Truth(frozenset(names[int(place)] for place in group.split())) for group in groups)
