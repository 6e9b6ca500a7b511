"""What all suites share: a table, rows with a known answer, and what a method answers."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True)
class Premise:
    """One true condition: an interval (either end may be open, None), a category, or a gap."""

    column: str
    low: Any = None
    high: Any = None
    value: Any = None
    is_missing: bool = False


@dataclasses.dataclass(frozen=True)
class Truth:
    """Why a row is outlying: the columns of the story, and how it was planted where that is known.

    A broken relation can be told from each of its sides, so the set of columns is what counts.
    """

    columns: frozenset[str]
    property: str | None = None
    premises: tuple[Premise, ...] = ()


@dataclasses.dataclass(frozen=True)
class Target:
    """A row to explain. No truths: the row is ordinary. Several: each of them is right.

    `kind` tells rows of one table apart, where it matters.
    """

    row: int
    truths: tuple[Truth, ...]
    kind: str | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """A table (float arrays with NaN, object arrays of str and None, datetime64) and its rows."""

    suite: str  # "hics", "planted" or "real"
    kind: str  # rows of one kind are averaged
    name: str
    data: dict[str, Array]
    targets: tuple[Target, ...]

    @builtins.property
    def rows(self) -> int:
        """The number of rows of the table."""
        return len(next(iter(self.data.values())))


@dataclasses.dataclass(frozen=True)
class Guess:
    """One explanation: the columns it names, and which of them it calls the odd one, if any."""

    columns: frozenset[str]
    property: str | None = None
    premises: tuple[Premise, ...] = ()


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a method says of a row, best first; nothing where it does not flag the row.

    `claims` tells whether it calls the row exceptional; `stands_out`, whether exceptional or at
    least unusual, None where the method knows no such step. A method that only ranks columns gives
    all of them, the most suspicious first, as `ranking`.
    """

    guesses: tuple[Guess, ...]
    claims: bool
    stands_out: bool | None = None
    ranking: tuple[str, ...] = ()


class Method(Protocol):
    """An explainer under test. `fit` sees the table once, `explain` any of its rows."""

    name: str

    def fit(self, case: Case) -> None:
        """Prepare a table."""

    def explain(self, target: Target) -> Answer:
        """Explain a row of it."""


def f1(found: frozenset[str], true: frozenset[str]) -> float:
    """Return the harmonic mean of precision and recall of the columns named."""
    return 2 * len(found & true) / (len(found) + len(true))


def best_f1(guesses: Sequence[Guess], truths: Sequence[Truth]) -> float:
    """Return the F1 of the best of some guesses against the best of the truths; 0 for no guess."""
    return max((f1(g.columns, t.columns) for g in guesses for t in truths), default=0.0)
