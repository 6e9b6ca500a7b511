"""The yardstick for confidence: what the same search finds on ordinary rows (method 5).

Among thousands of pairs something always looks rare. How strong a finding has to be to mean
something, the table itself tells: rows drawn from it are explained in the same way, once for all
objects, and not before a confidence is asked for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from outlying.options import Options
from outlying.parallel import in_order, usable_workers
from outlying.search.scoring import Progress

MOST_ROWS = 200
LEAST_ROWS = 50
_CELLS = 4_000
_SAME_STRENGTH = 1e-9


def enough_rows(columns: int, is_large: bool, options: Options) -> int:
    """Return how many rows to ask: by default fewer where each takes long."""
    if options.references is not None:
        return options.references
    if options.search == "exhaustive":
        return LEAST_ROWS
    affordable = _CELLS // (max(1, columns) * (4 if is_large else 1))
    return max(LEAST_ROWS, min(MOST_ROWS, affordable))


class References:
    """The strongest findings of some rows of a population."""

    def __init__(
        self,
        rows: Callable[[], tuple[list[int], int]],
        strongest: Callable[[int], float],
        copies: Callable[[int, Sequence[int]], list[int]],
    ) -> None:
        """Take who gives the rows, with how many of them count, who searches one, who compares."""
        self._rows, self._strongest, self._copies = rows, strongest, copies
        self.count = 0
        self._found: dict[int, float] | None = None

    @classmethod
    def known(
        cls,
        found: dict[int, float],
        count: int,
        copies: Callable[[int, Sequence[int]], list[int]],
    ) -> References:
        """Take rows that have been searched already, so many of which count."""
        references = cls(lambda: ([], 0), lambda _: 0.0, copies)
        references._found, references.count = found, count
        return references

    def found(
        self, progress: Progress | None = None, workers: int | None = None
    ) -> dict[int, float]:
        """Return the strength of the strongest pair of each row; searched once."""
        if self._found is None:
            rows, self.count = self._rows()
            found = {}
            work = in_order(self._strongest, rows, usable_workers(workers))
            with contextlib.closing(work) as strongest:
                for done, row in enumerate(rows):
                    if progress is not None:
                        progress(done, len(rows))
                    found[row] = next(strongest)
            self._found = found
        return self._found

    def own(self, row: int | None) -> int | None:
        """Return the row that stands for an object: its first copy, as one is as good as another.

        Which of several equal rows is drawn depends on their order; the answer must not.
        """
        return None if row is None else next(iter(self._copies(row, list(self.found()))), None)

    def __getstate__(self) -> dict[str, Any]:
        """Keep what was found, not the population, where a result is copied or stored."""
        found = self.found()
        nobody = {"_rows": None, "_strongest": None, "_copies": None}
        return nobody | {"_found": found, "count": self.count}


class Yardstick:
    """Reference rows as seen from one object, which is not compared with itself."""

    def __init__(self, references: References, row: int | None) -> None:
        self.references, self.row = references, row
        self._is_own = False  # whether `row` is the one among the references

    @property
    def own(self) -> int | None:
        """The reference row that is the object, if there is one."""
        if not self._is_own:
            self.row, self._is_own = self.references.own(self.row), True
        return self.row

    def __getstate__(self) -> dict[str, Any]:
        """Compare rows before the population is left behind."""
        return {"references": self.references, "row": self.own, "_is_own": True}

    def compare(self, strength: float) -> tuple[int, int]:
        """Return how many rows have a finding at least this strong, and how many were asked."""
        found = self.references.found()
        others = [strongest for row, strongest in found.items() if row != self.own]
        others = others[: self.references.count]
        return sum(other >= strength - _SAME_STRENGTH for other in others), len(others)

    def confidence(self, strength: float) -> float:
        """Return the share of rows whose strongest pair is weaker."""
        as_strong, asked = self.compare(strength)
        return (asked - as_strong) / asked
