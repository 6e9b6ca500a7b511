"""Numeric tables in the manner of HiCS: rows that are odd in a few columns jointly, nowhere else.

The columns fall into subspaces of 2 to 5. In each of them every ordinary row keeps close to 0 in at
least one column, anywhere from 0 to 1 in the others. An outlying row of a subspace has 0.5 to 1 in
all of its columns: ordinary in each column and in every smaller set of them. That is how the HiCS
tables of `benchmarks.quality` look, up to 50 columns; here any number can be made.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Rng: TypeAlias = np.random.Generator

OUTLIERS = 5  # of each subspace
NEAR = 0.008  # standard deviation around 0
SIZES = (2, 3, 4, 5)


def make(seed: int, rows: int, columns: int) -> tuple[dict[str, Floats], dict[int, frozenset[str]]]:
    """Return a table, and the columns in which each of its outlying rows is odd."""
    rng = np.random.default_rng([seed, rows, columns])
    sizes = _sizes(rng, columns)
    names = [f"c{place:03d}" for place in rng.permutation(columns)]
    odd = rng.choice(rows, size=(len(sizes), OUTLIERS), replace=False)
    data: dict[str, Floats] = {}
    truths: dict[int, frozenset[str]] = {}
    for size, outliers in zip(sizes, odd, strict=True):
        own = names[len(data) : len(data) + size]
        data |= dict(zip(own, _subspace(rng, rows, size, outliers).T, strict=True))
        truths |= {int(row): frozenset(own) for row in outliers}
    return dict(sorted(data.items())), truths


def _sizes(rng: Rng, columns: int) -> list[int]:
    """Split the columns into subspaces; none is left with a single column."""
    sizes: list[int] = []
    while (left := columns - sum(sizes)) > 0:
        sizes.append(int(rng.choice([size for size in SIZES if size == left or size <= left - 2])))
    return sizes


def _subspace(rng: Rng, rows: int, size: int, outliers: npt.NDArray[np.int64]) -> Floats:
    values = rng.uniform(size=(rows, size))
    values[np.arange(rows), rng.integers(size, size=rows)] = rng.normal(0, NEAR, size=rows)
    values[outliers] = rng.uniform(0.5, 1, size=(len(outliers), size))
    return values
