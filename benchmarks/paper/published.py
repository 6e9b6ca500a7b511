"""What the paper reports (arXiv 1306.3558): its settings and its numbers, to be put beside ours.

Nothing here is computed. Attributes and objects are counted from 1, as in the paper.
"""

from __future__ import annotations

import dataclasses

from outlying.options import PAPER

#: The paper's parameters sigma and k.
SUPPORT: float = PAPER["min_support"]
CONDITIONS: int = PAPER["max_conditions"]
#: The outlierness of the object between the two clusters of Unif2.
UNIF2 = 0.775
#: The Gaussian example: outlierness of v1.
GAUSSIAN = 0.91


@dataclasses.dataclass(frozen=True, slots=True)
class Bound:
    """A condition of the paper: an attribute lies in an interval."""

    number: int
    low: float
    high: float


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """What the paper reports on one table."""

    name: str
    file: str
    rows: int
    attributes: int
    object: int
    property: int
    conditions: tuple[Bound, ...]
    outlierness: float
    interval_seconds: float
    search_seconds: float


CLAIMS = (
    Claim("Ecoli", "ecoli.csv", 336, 7, 223, 4, (), 1.0, 6.4, 16.8),
    Claim("Yeast", "yeast.csv", 1484, 8, 990, 3, (Bound(2, 0.13, 0.38),), 0.997, 54, 139),
    Claim(
        "Cloud",
        "cloud.csv",
        1024,
        10,
        354,
        6,
        (Bound(1, 1.0, 6.7), Bound(2, 134.9, 255.0), Bound(5, 2450.5, 3211.5)),
        1.0,
        703,
        91,
    ),
)
