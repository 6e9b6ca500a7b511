"""Natural intervals of a numeric attribute, at several scales (paper, section 5.1; method 4).

A mixture labels the values; runs of equal labels are the segments of the attribute. They do not
depend on the object, so they are found once per population; the object only chooses among them.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
import math

import numpy as np

from outlying.method import mixture
from outlying.method.density import Counts, Floats, bandwidth_of
from outlying.options import Interval, Options

MOST_POINTS = 512
MOST_SCALES = 3
WINDOW_SHARE = 0.2
WIDER = 1.05  # in a sample, so that a window keeps its share of all rows
WINDOWS = 17  # of each attribute without structure, evenly spread over the ranks
NARROWEST = 0.5  # the least width of a component, in Parzen bandwidths


@dataclasses.dataclass(frozen=True)
class Segments:
    """The segments of an attribute: for each its least and greatest value, rows and component."""

    lows: Floats
    highs: Floats
    rows: Counts
    labels: Counts

    def __len__(self) -> int:
        return len(self.lows)

    def holding(self, value: float) -> int | None:
        """Return which of several segments holds a value: around all values of it are the same.

        None where there is only one, or the value lies between two.
        """
        own = int(np.searchsorted(self.lows, value, side="right")) - 1
        is_held = len(self) > 1 and own >= 0 and value <= self.highs[own]
        return own if is_held else None

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
            joined = next(i for i, jump in enumerate(jumps) if jump <= least + mixture.TIE)
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

    @functools.cached_property
    def ends(self) -> tuple[list[float], list[float]]:
        """The least and the greatest values, to be looked up one by one."""
        return self.lows.tolist(), self.highs.tolist()


def segments(values: Floats, seed: int | None = None) -> Segments:
    """Cut sorted values, not all equal, into runs that belong to the same component."""
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


def candidates(
    values: Floats,
    found: Segments,
    value: float,
    rows: int,
    total: int,
    options: Options,
) -> list[tuple[float, float]]:
    """Return the intervals around the object's value that may serve as conditions, finest first.

    `values` are the sorted known values of the attribute among some of all rows. Where not all of
    them were drawn, the object's value may lie beside those: the nearest interval is then drawn out
    to it.
    """
    if len(found) == 1:
        least = options.least_rows(total) / total
        share = max(least, WINDOW_SHARE) * (WIDER if rows < total else 1.0)
        around = [] if options.scales == "one" else [_neighbourhood(values, value, share * rows)]
    else:
        around = _around(found, value, options)
    return list(dict.fromkeys((min(low, value), max(high, value)) for low, high in around))


def _around(found: Segments, value: float, options: Options) -> list[tuple[float, float]]:
    """Return intervals made of the segments around a value."""
    own = _nearest(found, value)
    finest = _finest(found, own, options.interval)
    if options.scales == "one":
        return [finest]
    return [finest, *found.coarser[own][-(MOST_SCALES - 1) :]]


def _nearest(found: Segments, value: float) -> int:
    """Return the segment that holds a value, or the nearest one; the first of two."""
    lows, highs = found.ends
    own = max(0, bisect.bisect_right(lows, value) - 1)
    if own + 1 < len(lows) and lows[own + 1] - value < value - highs[own]:
        return own + 1
    return own


def _finest(found: Segments, own: int, interval: Interval) -> tuple[float, float]:
    if interval == "run":
        return found.ends[0][own], found.ends[1][own]
    same = np.flatnonzero(found.labels == found.labels[own])
    return float(found.lows[same[0]]), float(found.highs[same[-1]])


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


def _neighbourhood(values: Floats, value: float, rows: float) -> tuple[float, float]:
    """Return a window of ranks around the object: the context of an attribute without structure.

    It is one of some windows that are the same for all objects, so that these can share what is
    found in them: the one whose middle is nearest, the first of two.
    """
    size = min(len(values), math.ceil(rows - 1e-9))
    left = int(np.searchsorted(values, value, side="left"))
    right = max(left, int(np.searchsorted(values, value, side="right")) - 1)
    spare = len(values) - size
    starts = [spare * number // (WINDOWS - 1) for number in range(WINDOWS)]
    start = min(starts, key=lambda start: abs(left + right - (2 * start + size - 1)))
    return float(values[start]), float(values[start + size - 1])
