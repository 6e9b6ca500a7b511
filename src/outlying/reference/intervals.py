"""Natural intervals: the conditions of numeric attributes (paper, section 5.1; method 4).

A mixture of Gaussians, fitted by EM with annihilation (`method.mixture`), labels the values of an
attribute; runs of equal labels are its segments (`method.intervals`). The object's conditions are
the intervals around o[a] that segments make.
"""

from __future__ import annotations

import math

import numpy as np

from outlying.method.density import Floats
from outlying.method.intervals import MOST_SCALES, WINDOW_SHARE, Segments
from outlying.options import PaperOptions

Ends = tuple[float, float]

_WINDOWS = 17  # of an attribute without structure, evenly spread over the ranks


def natural_intervals(
    values: Floats, found: Segments, value: float, least: float, options: PaperOptions
) -> list[Ends]:
    """Return the intervals around o[a], the finest first.

    Where the attribute has no inner structure, there is none by the paper; with several scales it
    is the window of the `least` ranks around o[a].
    """
    if len(found) == 1:
        return [] if options.scales == "one" else [_around(values, found, value, least)]
    own = int(np.searchsorted(found.lows, value, side="right")) - 1
    finest = _span(found, own) if options.interval == "span" else _run(found, own)
    if options.scales == "one":
        return [finest]
    return list(dict.fromkeys([finest, *found.coarser[own][-(MOST_SCALES - 1) :]]))


def window_rows(least: float, rows: int) -> float:
    """Return how many rows a window of ranks holds: a fifth, or as many as a context must."""
    return max(least, WINDOW_SHARE * rows)


def _run(found: Segments, own: int) -> Ends:
    """Return the run of consecutive values of one component around o[a]."""
    return float(found.lows[own]), float(found.highs[own])


def _span(found: Segments, own: int) -> Ends:
    """Return the least and the greatest value of the component: the paper's literal reading."""
    same = np.flatnonzero(found.labels == found.labels[own])
    return float(found.lows[same[0]]), float(found.highs[same[-1]])


def _around(values: Floats, found: Segments, value: float, rows: float) -> Ends:
    """Return the window around o[a], in the direction that ties are decided in."""
    if found.is_backwards:
        low, high = _window(-values[::-1], -value, rows)
        return -high, -low
    return _window(values, value, rows)


def _window(values: Floats, value: float, rows: float) -> Ends:
    """Return the window of ranks whose middle is nearest to o[a], of some evenly spread ones."""
    size = min(len(values), math.ceil(rows - 1e-9))
    first, last = np.searchsorted(values, value), np.searchsorted(values, value, side="right") - 1
    starts = (len(values) - size) * np.arange(_WINDOWS) // (_WINDOWS - 1)
    start = starts[np.argmin(np.abs(first + last - (2 * starts + size - 1)))]
    return float(values[start]), float(values[start + size - 1])
