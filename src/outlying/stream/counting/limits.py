"""How much is counted: limits of bins and values, and of the memory for counts."""

from __future__ import annotations

#: The most distinct values of a column that are all kept.
MOST_VALUES = 100_000
#: The widest range of whole numbers, or days, that are all counted.
MOST_STEPS = 131_072
#: The least and the most bins that are asked of a grid.
LEAST_BINS, MOST_BINS = 4_096, 262_144

_COUNT_BYTES = 8
_STATE_BYTES = 128 * 2**20  # of the counts of one thread or task, as far as the least bins allow
_TOTAL_BYTES = 256 * 2**20  # of the counts of all threads
_EXTRA = 4 / 3  # a grid has bins in zones besides those asked for


def affordable_bins(histograms: int) -> int:
    """Return how many bins a grid may have, so that the counts of all histograms fit the memory."""
    most = int(_STATE_BYTES / (_COUNT_BYTES * _EXTRA * max(1, histograms)))
    return max(LEAST_BINS, min(MOST_BINS, most))


def affordable_states(counts: int) -> int:
    """Return how many states of so many counts may exist at once; one always may."""
    return max(1, _TOTAL_BYTES // max(1, counts * _COUNT_BYTES))
