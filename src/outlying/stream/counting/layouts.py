"""Where a grid has its bins: by a sample of the column, and finer around values that matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.stream.counting.ordinals import LARGEST, Scale
from outlying.table.columns import Floats

#: A value, and how far around it bins should be fine.
Zone: TypeAlias = tuple[float, float]

_BINS_PER_CELL = 16
_OUTER = 0.002  # the share of the sample on either side that no cell covers
_CROWDED = 0.02  # where a cell holds a greater share, cells by rank may be better
_KNOTS = 512  # of the smoothed distribution of the sample
_MOST_ATOMS = 4  # each costs a comparison for every row
_LEAST_COPIES, _LEAST_SHARE = 3, 0.005
_LEAST_OVERLAP = 1e-9  # of a zone with cells
_REACH = 0.125  # single values this near, as a share of the central range, belong to it


def atoms_of(sample: Floats) -> tuple[Floats, Floats]:
    """Find the few values that deserve bins of their own; give them, and the sample without."""
    values, counts = np.unique(sample, return_counts=True)
    frequent = np.flatnonzero(counts >= max(_LEAST_COPIES, _LEAST_SHARE * len(sample)))
    kept = frequent[np.argsort(-counts[frequent], kind="stable")[:_MOST_ATOMS]]
    atoms = np.sort(values[kept])
    return atoms, sample[~np.isin(sample, atoms)]


def scale_of(smooth: Floats, atoms: Floats, whole: Zone, bins: int) -> tuple[Scale, Zone | None]:
    """Choose the cells, and the range that they cover: nearly all rows, but no far values."""
    cells = max(1, bins // _BINS_PER_CELL)
    central = _central(smooth, atoms, whole)
    plain, ranked = (Scale.over(*central, cells, is_ranked=kind) for kind in (False, True))
    scale = ranked if _is_better(ranked, plain, smooth) else plain
    return scale, (central if scale.factor else None)


def _is_better(ranked: Scale, plain: Scale, smooth: Floats) -> bool:
    """Return whether cells by rank are the better ones: where many rows would be in one cell."""
    if plain.factor == 0.0 or ranked.factor == 0.0:
        return ranked.factor > 0.0
    crowd = _crowd(plain, smooth)
    return crowd > _CROWDED and _crowd(ranked, smooth) < crowd


def _central(smooth: Floats, atoms: Floats, whole: Zone) -> Zone:
    cut = int(_OUTER * len(smooth))
    if len(smooth) < 2 or smooth[cut] == smooth[-1 - cut]:
        return whole
    low, high = float(smooth[cut]), float(smooth[-1 - cut])
    reach = (high / 2 - low / 2) * (2 * _REACH)
    near = atoms[(atoms >= low - reach) & (atoms <= high + reach)]
    return float(min(low, *near, low)), float(max(high, *near, high))


def _crowd(scale: Scale, smooth: Floats) -> float:
    """Return the share of the sample in the fullest cell."""
    cells = scale.places(smooth).astype(np.int64)
    counts = np.bincount(cells, minlength=scale.cells + 2)[1:-1]
    return float(counts.max() / max(1, len(smooth)))


def parts_of(
    scale: Scale, smooth: Floats, bins: int, zones: Sequence[Zone]
) -> npt.NDArray[np.int32]:
    """Divide the cells: in proportion to the rows in each, at least into one part."""
    if scale.factor == 0.0:
        return np.ones(scale.cells, dtype=np.int32)
    parts = 1 + np.floor(_shares(scale, smooth) * (bins - scale.cells))
    for zone in zones:
        parts += np.ceil(_overlaps(scale, zone) * (bins / 4 / len(zones)))
    return parts.astype(np.int32)


def _shares(scale: Scale, smooth: Floats) -> Floats:
    """Return the share of rows in each cell, by a distribution smoothed over neighbours."""
    if len(smooth) < 2:
        return np.full(scale.cells, 1 / scale.cells)
    shares = np.linspace(0, 1, min(_KNOTS, len(smooth)))
    knots = scale.places(smooth[(shares * (len(smooth) - 1)).astype(np.int64)])
    return np.diff(np.interp(np.arange(1, scale.cells + 2), knots, shares))


def _overlaps(scale: Scale, zone: Zone) -> Floats:
    """Return the share of each cell in a zone, as far as it is in cells at all."""
    low, high = scale.places(np.array(_bounds(zone)))
    edges = np.arange(1, scale.cells + 2)
    common = np.maximum(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0.0)
    return np.asarray(common / max(float(np.add.reduce(common)), _LEAST_OVERLAP))


def _bounds(zone: Zone) -> Zone:
    value, radius = zone
    return max(-LARGEST, value - radius), min(LARGEST, value + radius)


def outer_edges(
    sample: Floats, whole: Zone, central: Zone | None, bins: int, zones: Sequence[Zone]
) -> tuple[Floats, Floats]:
    """Choose edges before and after the cells: the sample's own values, with more in between.

    Without cells, all edges come before.
    """
    low, high = whole
    first, last = central or (np.inf, np.inf)
    ends = [low, np.nextafter(high, np.inf) if high < LARGEST else high]
    edges = np.unique(np.concatenate((ends, sample[_is_outside(sample, first, last)])))
    pieces = [_within(zone, bins // 4 // len(zones)) for zone in zones]
    edges = np.unique(np.concatenate((_refined(edges, bins // 8), *pieces)))
    edges = edges[(edges >= ends[0]) & (edges <= ends[1])]
    return edges[edges < first], edges[edges > last]


def _is_outside(numbers: Floats, first: float, last: float) -> npt.NDArray[np.bool_]:
    return np.asarray((numbers <= first) | (numbers >= last))


def _within(zone: Zone, count: int) -> Floats:
    low, high = _bounds(zone)
    return _whole(np.linspace(low / 4, high / 4, max(2, count)))


def _refined(edges: Floats, most: int) -> Floats:
    """Divide the gaps between edges evenly, where there are not many edges already."""
    pieces = max(1, most // len(edges))
    places = np.linspace(0, len(edges) - 1, (len(edges) - 1) * pieces + 1)
    between = _whole(np.interp(places, np.arange(len(edges)), edges / 4))
    return np.unique(np.concatenate((edges, between)))


def _whole(quarters: Floats) -> Floats:
    """Enlarge what was computed with quarters, so that the greatest numbers are no exception."""
    return np.asarray(np.clip(quarters, -LARGEST / 4, LARGEST / 4) * 4)
