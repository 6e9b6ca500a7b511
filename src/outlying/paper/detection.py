"""Whether feature bagging finds the objects that the paper explains.

Rounds vote for their single most abnormal row, and rows are ranked by votes, as in the paper. It
does not say whether attributes are brought to one scale first, so both ways are tried.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from outlying.api import Explainer
from outlying.detect.api import detect
from outlying.paper.published import Claim
from outlying.results.detections import Flagged
from outlying.table.table import Table

ROUNDS = 50
#: As they are, and divided by the standard deviation (the default of detect).
SCALES = ("none", "deviation")


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Where the paper's object stands, and who is first, with one seed; counted from 1."""

    seed: int
    rank: int
    votes: int
    first: int


@dataclasses.dataclass(frozen=True, slots=True)
class Detected:
    """The paper's object among all rows, over seeds."""

    claim: Claim
    scale: str
    places: tuple[Place, ...]

    @property
    def times_first(self) -> int:
        """With how many seeds the paper's object is the first one."""
        return sum(place.rank == 1 for place in self.places)

    @property
    def ranks(self) -> tuple[int, int]:
        """The best and the worst rank."""
        found = [place.rank for place in self.places]
        return min(found), max(found)

    @property
    def votes(self) -> tuple[int, int]:
        """The fewest and the most votes."""
        found = [place.votes for place in self.places]
        return min(found), max(found)

    @property
    def winners(self) -> tuple[int, ...]:
        """Which objects are first with any seed, the most frequent one first."""
        found = [place.first for place in self.places]
        return tuple(sorted(set(found), key=lambda row: (-found.count(row), row)))


def detected(table: Table, claim: Claim, seeds: int, told: Callable[[], None]) -> list[Detected]:
    """Rank the rows with some seeds; `told` hears of each."""
    explainer = Explainer(table)

    def places(scale: str) -> Iterator[Place]:
        for seed in range(seeds):
            told()
            yield _place(_ranked(explainer, scale, seed), claim.object - 1, seed)

    return [Detected(claim, scale, tuple(places(scale))) for scale in SCALES]


def _place(ranked: tuple[Flagged, ...], row: int, seed: int) -> Place:
    own = next(item for item in ranked if item.row == row)
    first = ranked[0]
    return Place(seed, own.rank, own.votes or 0, first.row + 1)


def _ranked(explainer: Explainer, scale: str, seed: int) -> tuple[Flagged, ...]:
    """Return all rows, the most abnormal first."""
    found = detect(
        explainer, combine="votes", rounds=ROUNDS, scale=scale, seed=seed, top=explainer.rows
    )
    return found.rows
