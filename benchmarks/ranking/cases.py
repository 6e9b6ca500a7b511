"""What all suites share: a table, its wrong rows, and what a ranker says of all rows."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]
Rng: TypeAlias = np.random.Generator
Half: TypeAlias = Literal["choose", "report"]
Frame: TypeAlias = Any  # a pandas.DataFrame; pandas has no types of its own

HALVES: tuple[Half, Half] = ("choose", "report")


@dataclasses.dataclass(frozen=True, eq=False)
class Ranked:
    """What a ranker says of all rows of a table; None where it does not say.

    `scores`: larger is odder, NaN is the least odd. `combination`: a second score, for rows that
    are a little odd all over. `columns`: the odd column of each row, None for rows without one.
    """

    scores: Floats
    exceptional: Mask | None = None
    unusual: Mask | None = None
    combination: Floats | None = None
    columns: Sequence[str | None] | None = None


Ranker: TypeAlias = Callable[[Any], Ranked]  # takes a DataFrame, or a Path of a file


@dataclasses.dataclass(frozen=True)
class Wrong:
    """Why a row is wrong: a kind of error, and the column that holds it where that is known."""

    kind: str
    column: str | None = None
    is_gross: bool = True


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """A table (a frame, or the path of a file) and its wrong rows, by position from 0."""

    data: Any
    rows: int
    wrong: dict[int, Wrong]

    @classmethod
    def of(cls, frame: Frame, wrong: dict[int, Wrong]) -> Case:
        """Return the case of a frame."""
        return cls(frame, len(frame), wrong)

    @property
    def is_wrong(self) -> Mask:
        """Which rows are wrong."""
        marks = np.zeros(self.rows, dtype=np.bool_)
        marks[list(self.wrong)] = True
        return marks

    def frame(self) -> Frame:
        """Return the table for reading, as text where it is a file."""
        if isinstance(self.data, Path):
            return pd.read_csv(self.data, sep=None, engine="python", dtype=str)
        return self.data


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Which table to make: cheap to send to another process."""

    suite: str
    kind: str
    seed: int
    half: Half

    def rng(self) -> Rng:
        """Return random numbers of its own for each table."""
        words = f"{self.suite}/{self.kind}".encode()
        return np.random.default_rng([self.seed, *words])


@dataclasses.dataclass(frozen=True)
class Settings:
    """What was asked for on the command line."""

    data: Path = Path("../shared/data")
    halves: tuple[Half, ...] = HALVES
    seeds: int | None = None  # tables of each kind and half
    rows: int | None = None  # at most so many of a real table; 0: all
    large: bool = True


class Suite(Protocol):
    """A module that makes tables: `TITLE`, `SHOWN` (figures of the report), and two functions."""

    TITLE: str
    SHOWN: tuple[str, ...]

    def recipes(self, settings: Settings) -> list[Recipe]:
        """Return what to make."""

    def make(self, recipe: Recipe, settings: Settings) -> Case:
        """Make one table."""


def seeded(
    suite: str, kinds: Sequence[str], settings: Settings, seeds: int, at_least: int = 1
) -> list[Recipe]:
    """Return recipes of each kind: even seeds are for choosing, odd ones for reporting."""
    count = max(at_least, settings.seeds if settings.seeds is not None else seeds)
    return [
        Recipe(suite, kind, 2 * number + HALVES.index(half), half)
        for kind in kinds
        for half in settings.halves
        for number in range(count)
    ]


def listed(suite: str, names: dict[str, Half], settings: Settings) -> list[Recipe]:
    """Return recipes of tables that exist once, each of which belongs to one half."""
    return [Recipe(suite, name, 0, half) for name, half in names.items() if half in settings.halves]


def drawn(rows: int, most: int, seed: int) -> Rows:
    """Return the positions of at most so many rows in their order, drawn by a seed; 0: all."""
    if not most or rows <= most:
        return np.arange(rows)
    return np.sort(np.random.default_rng(seed).permutation(rows)[:most])


def load_ranker(name: str) -> Ranker:
    """Return the ranker that `module:function` names."""
    module, _, function = name.partition(":")
    try:
        found: Ranker = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"ranker {name!r}: give MODULE:FUNCTION ({error})") from error
    return found
