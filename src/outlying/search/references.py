"""Reference rows: how strong the findings are that the same search makes on ordinary rows.

Among thousands of pairs something always looks rare. How strong a finding has to be to mean
something, the table itself tells: rows drawn from it are explained in the same way, once for all
objects (method 5, "Confidence"; in the spirit of conformal p-values).
"""

from __future__ import annotations

import dataclasses

from outlying.options import Options
from outlying.search import limits

MOST_ROWS = 200
LEAST_ROWS = 50
_CELLS = 4_000


def enough_rows(columns: int, is_large: bool, options: Options) -> int:
    """Return how many rows to compare with: by default fewer where each takes long."""
    if options.references is not None:
        return options.references
    if options.search == "exhaustive":
        return LEAST_ROWS
    affordable = _CELLS // (max(1, columns) * (4 if is_large else 1))
    return max(LEAST_ROWS, min(MOST_ROWS, affordable))


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """How a finding compares with those on ordinary rows."""

    as_strong: int  # rows with a finding at least this strong
    asked: int  # rows that were searched

    @property
    def confidence(self) -> float:
        """The share of rows whose strongest finding is weaker."""
        return (self.asked - self.as_strong) / self.asked


@dataclasses.dataclass(frozen=True, slots=True)
class References:
    """The strongest findings of some rows of a population: plain values, the same for all objects.

    There is one row more than count, as the object itself may be among them.
    """

    strengths: tuple[float, ...]
    hashes: tuple[int, ...]  # of the rows' values
    count: int

    def compare(self, strength: float, row_hash: int | None = None) -> Comparison:
        """Compare a finding on a row, known by the hash of its values, with those on other rows.

        One row with the object's own values is left out. Which of several equal rows was drawn
        depends on their order; the answer does not.
        """
        others = list(self.strengths)
        if row_hash in self.hashes:
            del others[self.hashes.index(row_hash)]
        others = others[: self.count]
        least = strength - limits.SAME_STRENGTH
        return Comparison(sum(other >= least for other in others), len(others))
