"""Whether feature bagging finds the objects that the paper explains.

Rounds vote for their single most abnormal row, and rows are ranked by votes, as in the paper. It
does not say whether attributes are brought to one scale first, so both ways are tried.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from benchmarks.paper.published import Claim
from outlying.api import Explainer
from outlying.detect.api import detect
from outlying.options import Scale
from outlying.results.detections import Flagged
from outlying.table.table import Table

ROUNDS = 50
#: As they are, and divided by the standard deviation (the default of detect).
SCALES: tuple[Scale, ...] = ("none", "deviation")


@dataclasses.dataclass(frozen=True, slots=True)
class SeedResult:
    """Where the paper's object ranks, and who is first, with one seed; counted from 1."""

    rank: int
    votes: int
    first: int


@dataclasses.dataclass(frozen=True, slots=True)
class Detected:
    """The paper's object among all rows, over seeds."""

    claim: Claim
    scale: Scale
    results: tuple[SeedResult, ...]

    @property
    def times_first(self) -> int:
        """With how many seeds the paper's object is the first one."""
        return sum(result.rank == 1 for result in self.results)

    @property
    def ranks(self) -> tuple[int, int]:
        """The best and the worst rank."""
        found = [result.rank for result in self.results]
        return min(found), max(found)

    @property
    def votes(self) -> tuple[int, int]:
        """The fewest and the most votes."""
        found = [result.votes for result in self.results]
        return min(found), max(found)

    @property
    def winners(self) -> tuple[int, ...]:
        """Which objects are first with any seed, the most frequent one first."""
        found = [result.first for result in self.results]
        return tuple(sorted(set(found), key=lambda row: (-found.count(row), row)))


def detected(table: Table, claim: Claim, seeds: int, on_step: Callable[[], None]) -> list[Detected]:
    """Return how the object ranks with some seeds; `on_step` is called before each."""
    explainer = Explainer(table)

    def results(scale: Scale) -> Iterator[SeedResult]:
        for seed in range(seeds):
            on_step()
            yield _result(_ranked(explainer, scale, seed), claim.object - 1)

    return [Detected(claim, scale, tuple(results(scale))) for scale in SCALES]


def _result(ranked: tuple[Flagged, ...], row: int) -> SeedResult:
    own = next(item for item in ranked if item.row == row)
    first = ranked[0]
    return SeedResult(own.rank, own.votes or 0, (first.row or 0) + 1)


def _ranked(explainer: Explainer, scale: Scale, seed: int) -> tuple[Flagged, ...]:
    """Return all rows, the most abnormal first."""
    found = detect(
        explainer,
        detector="feature-bagging",
        combine="votes",
        rounds=ROUNDS,
        scale=scale,
        seed=seed,
        top=explainer.rows,
    )
    return found.rows
