"""Where a grid has its bins: by a sample of the column, and finer around values that matter.

What a detail is worth is told by bounds on the rarity of objects, in columns of eleven shapes with
a million bins: how far bins may put it off, for nine of ten objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.stream.counting.scale import LARGEST, Scale
from outlying.table.columns import Floats

#: A value, and how far around it bins should be fine.
Zone: TypeAlias = tuple[float, float]
Parts: TypeAlias = npt.NDArray[np.int32]

_BINS_PER_CELL = 16
_CROWDED = 0.02  # where a cell holds a greater share, cells by rank may be better
_KNOTS = 512  # of the smoothed distribution of the sample
_MOST_ATOMS = 4  # each costs a comparison for every row
_LEAST_COPIES, _LEAST_SHARE = 3, 0.005
_LEAST_OVERLAP = 1e-9  # of a zone with cells
_BY_WIDTH = 0.125  # the share of bins by the width of cells, where cells are by rank


def atoms_of(sample: Floats) -> tuple[Floats, Floats]:
    """Find the few values that deserve bins of their own; return them, and the sample without.

    With many rows at 0 and few bins, a context of little else has no spread in its bins, and no
    bound; where 0 has a bin of its own, the bound is 0.001.
    """
    values, counts = np.unique(sample, return_counts=True)
    frequent = np.flatnonzero(counts >= max(_LEAST_COPIES, _LEAST_SHARE * len(sample)))
    kept = frequent[np.argsort(-counts[frequent], kind="stable")[:_MOST_ATOMS]]
    atoms = np.sort(values[kept])
    return atoms, sample[~np.isin(sample, atoms)]


def scale_of(smooth: Floats, low: float, high: float, bins: int) -> Scale:
    """Choose cells: by value, or by rank where too many rows would be in one.

    A column over twelve orders of magnitude has a bound of 0.0002 by rank, of 0.13 by value.
    """
    cells = max(1, bins // _BINS_PER_CELL)
    plain, ranked = (Scale.over(low, high, cells, is_ranked=kind) for kind in (False, True))
    crowd = _crowd(plain, smooth)
    return ranked if crowd > _CROWDED and _crowd(ranked, smooth) < crowd else plain


def _crowd(scale: Scale, smooth: Floats) -> float:
    """Return the share of the sample in the fullest cell."""
    cells = scale.places(smooth).astype(np.int64)
    return float(np.bincount(cells, minlength=1).max() / max(1, len(smooth)))


def parts_of(scale: Scale, smooth: Floats, bins: int, zones: Sequence[Zone]) -> Parts:
    """Divide cells, at least into one part: by the rows in each, and more in zones.

    With equal parts in all cells the bound is eight times as large (0.0025, not 0.0003), without
    zones half as large again. Cells by rank are divided by their width, too: a few rows in the far
    ones decide on the spread (0.12 for a heavy tail in 131,072 bins without, 0.0025 with).
    """
    shares = _shares(scale, smooth)
    if scale.is_ranked:
        shares = (1 - _BY_WIDTH) * shares + _BY_WIDTH * _widths(scale)
    parts = 1 + np.floor(shares * (bins - scale.cells))
    if zones:
        overlaps = np.add.reduce([_overlaps(scale, zone) for zone in zones])
        parts += np.ceil(overlaps * (bins / 4 / len(zones)))
    return parts.astype(np.int32)


def _shares(scale: Scale, smooth: Floats) -> Floats:
    """Return the share of rows in each cell, by a distribution smoothed over neighbours."""
    if len(smooth) < 2:
        return np.full(scale.cells, 1 / scale.cells)
    shares = np.linspace(0, 1, min(_KNOTS, len(smooth)))
    knots = scale.places(smooth[(shares * (len(smooth) - 1)).astype(np.int64)])
    return np.diff(np.interp(np.arange(2, scale.cells + 3), knots, shares))


def _widths(scale: Scale) -> Floats:
    """Return the share of each cell in the range of values."""
    ends, _ = scale.around(np.arange(2.0, scale.cells + 3))
    widths = np.diff(ends / 4)
    return np.asarray(widths / max(float(np.add.reduce(widths)), 1 / LARGEST))


def _overlaps(scale: Scale, zone: Zone) -> Floats:
    """Return the share of each cell in a zone, as far as it is in cells at all."""
    value, radius = zone
    ends = np.array([max(-LARGEST, value - radius), min(LARGEST, value + radius)])
    low, high = scale.places(ends)
    edges = np.arange(2, scale.cells + 3)
    common = np.maximum(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0.0)
    return np.asarray(common / max(float(np.add.reduce(common)), _LEAST_OVERLAP))
