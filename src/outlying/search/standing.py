"""Where a row stands among all rows of a table: exceptional, unusual, or neither (method 5e).

Strengths are in nats beyond what an ordinary row shows by chance. By counting alone, the most
extreme of n ordinary rows reaches about 0.8 ln n: that is the line of exceptional rows, raised a
little by the table itself where heavy tails and strong relations raise the strengths of all rows. A
clean table has next to none, and no reference rows or random numbers are needed to tell.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from outlying.table.columns import Floats

#: A row that is not exceptional is unusual if it is stronger than this share of all rows.
UNUSUAL = 0.97
#: With it, the slope of the tail of strengths is told by this one.
INNER = 0.9
#: What the tail raises the line of exceptional rows by, at most, in nats: many wrong rows make a
#: tail look heavy, and must not hide each other.
LEEWAY = 0.5
#: Strengths closer than this are the same.
SAME_STRENGTH = 1e-9


def chance_extreme(rows: int) -> float:
    """Return how strong, in nats, the most extreme of so many ordinary rows is by counting."""
    return 0.8 * math.log(max(rows, 2))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """The strengths of all rows, and from which on a row is exceptional or unusual."""

    ordered: Floats
    exceptional: float
    unusual: float

    @classmethod
    def of(cls, strengths: Floats) -> Standing:
        """Draw the lines."""
        ordered = np.sort(strengths)
        inner, unusual = np.quantile(ordered, [INNER, UNUSUAL]).tolist()
        line = _raised(chance_extreme(len(ordered)), inner, unusual, len(ordered))
        return cls(ordered, line, max(unusual, SAME_STRENGTH))

    def at_least(self, strength: float) -> int:
        """Count the rows with a finding at least this strong."""
        return len(self.ordered) - int(
            np.searchsorted(self.ordered, strength - SAME_STRENGTH, "left")
        )


def _raised(line: float, inner: float, outer: float, rows: int) -> float:
    """Raise a line halfway to the strongest of so many rows, by an exponential tail of strengths.

    There is one where a tenth of the rows has a finding; less than 0 is no finding. It is never
    lowered: verdicts must not depend on how many weak findings other properties have.
    """
    if inner <= 0:
        return line
    slope = (outer - inner) / math.log((1 - INNER) / (1 - UNUSUAL))
    strongest = outer + slope * math.log((1 - UNUSUAL) * rows)
    return line + min(max((strongest - line) / 2, 0.0), LEEWAY)
