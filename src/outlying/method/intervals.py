"""Natural intervals of a numeric attribute, at several scales (paper, section 5.1; method 4).

A mixture labels the values; runs of equal labels are the segments of the attribute. They do not
depend on the object, so they are found once per population; the object only chooses among them.
The sign of numbers must not matter, but a fit begins at one end and ties need a first one: both
follow the direction in which gaps between values first differ from those read backwards.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math

import numpy as np

from outlying.method import mixture
from outlying.method.density import Counts, Floats, bandwidth_of

MOST_POINTS = 512
MOST_SCALES = 3
WINDOW_SHARE = 0.2
NARROWEST = 0.5  # the least width of a component, in Parzen bandwidths
SAME_GAP = 1e-9  # of the range: gaps that differ by less may do so by rounding, in another unit


@dataclasses.dataclass(frozen=True)
class Segments:
    """The segments of an attribute: for each its least and greatest value, rows and component."""

    lows: Floats
    highs: Floats
    rows: Counts
    labels: Counts
    is_backwards: bool = False  # whether ties are decided from the greatest value on

    def __len__(self) -> int:
        return len(self.lows)

    @functools.cached_property
    def merges(self) -> list[list[int]]:
        """Merge the adjacent segments most alike in density, down to two.

        Each step gives where the segments that are left begin. They tile the domain: a border lies
        halfway between neighbours, so that a segment of equal values has a width too.
        """
        borders = (self.highs[:-1] + self.lows[1:]) / 2
        edges = np.concatenate(([self.lows[0]], borders, [self.highs[-1]]))
        starts, steps = list(range(len(self))), []
        while len(starts) > 2:
            logs = _log_densities(edges, self.rows, starts)
            jumps = [abs(b - a) for a, b in itertools.pairwise(logs)]
            least = min(jumps)
            tied = [i for i, jump in enumerate(jumps) if jump <= least + mixture.TIE]
            joined = tied[-1 if self.is_backwards else 0]
            starts = [*starts[: joined + 1], *starts[joined + 2 :]]
            steps.append(starts)
        return steps

    @functools.cached_property
    def coarser(self) -> list[list[tuple[float, float]]]:
        """Return for each segment the merged ones that it is part of, the finest first."""
        found = []
        for own in range(len(self)):
            covers = (_cover(starts, own, len(self)) for starts in self.merges)
            merged = dict.fromkeys([(own, own), *covers])
            found.append([(float(self.lows[a]), float(self.highs[b])) for a, b in merged][1:])
        return found


def segments(values: Floats, seed: int | None = None) -> Segments:
    """Cut sorted values, not all equal, into runs that belong to the same component."""
    if _is_backwards(values):
        return _mirrored(_segments(-values[::-1], seed))
    return _segments(values, seed)


def _is_backwards(values: Floats) -> bool:
    """Return whether values are to be taken from the greatest one on: so is the mirror image not.

    Neither is one whose gaps are the same from both ends.
    """
    gaps = np.diff(values)
    differ = gaps - gaps[::-1]
    places = np.flatnonzero(np.abs(differ) > SAME_GAP * (values[-1] - values[0]))
    return len(places) > 0 and bool(differ[places[0]] > 0)


def _mirrored(found: Segments) -> Segments:
    lows, highs = -found.highs[::-1], -found.lows[::-1]
    return Segments(lows, highs, found.rows[::-1], found.labels[::-1], is_backwards=True)


def _segments(values: Floats, seed: int | None) -> Segments:
    floor = NARROWEST * bandwidth_of(values)
    starts = _point_starts(values)
    counts = np.diff(np.append(starts, len(values)))
    points = np.add.reduceat(values, starts) / counts
    labels = mixture.fit(points, counts, floor, seed).assign(points)
    first = np.flatnonzero(np.diff(labels, prepend=-1))
    begins = starts[first]
    ends = np.append(begins[1:], len(values))
    return Segments(values[begins], values[ends - 1], ends - begins, labels[first])


def _point_starts(values: Floats) -> Counts:
    """Return the positions where a new point of the fit begins.

    Distinct values are points of their own. Where they are too many, a new point begins with each
    of 256 bins of equal row count and of 256 bins of equal width: the first keep one far value from
    squeezing all others into one point, the second keep a point from straddling a gap.
    """
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf))
    if len(starts) <= MOST_POINTS:
        return starts
    half = MOST_POINTS // 2
    by_rank = starts * half // len(values)
    width = (values[-1] - values[0]) / half
    by_value = np.floor((values[starts] - values[0]) / width).astype(np.int64)
    return starts[np.flatnonzero(np.diff(by_rank + by_value, prepend=-1))]


def _log_densities(edges: Floats, rows: Counts, starts: list[int]) -> list[float]:
    ends = [*starts[1:], len(rows)]
    return [
        math.log(int(rows[a:b].sum())) - math.log(_width(edges[a], edges[b]))
        for a, b in zip(starts, ends, strict=True)
    ]


def _width(low: float, high: float) -> float:
    """Return the width of a segment; between neighbouring numbers there is no border halfway."""
    return float(max(high - low, np.spacing(max(abs(low), abs(high)))))


def _cover(starts: list[int], own: int, count: int) -> tuple[int, int]:
    index = max(i for i, start in enumerate(starts) if start <= own)
    end = starts[index + 1] if index + 1 < len(starts) else count
    return starts[index], end - 1
