"""Which cases are run, and how many of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.quality import peers
from benchmarks.quality.cases import Method
from benchmarks.quality.errors import (
    copies,
    dirty,
    examples,
    faint,
    groups,
    habits,
    relations,
    tables,
)
from benchmarks.quality.errors.copies import ErrorCase
from benchmarks.quality.errors.injector import KINDS
from benchmarks.quality.ours import Ours

PARTS = ("errors", "habits", "dirty", "groups", "faint", "relations", "examples")
WIDE = 20  # columns


@dataclasses.dataclass(frozen=True)
class Amounts:
    """How many cases there are of each kind."""

    errors: int = 6  # copies of a real table for each kind of error
    errors_wide: int = 2  # of one of many columns, which takes long
    habits: int = 6  # copies of a table for each kind of error in texts, times and keys
    shares: tuple[float, ...] = copies.SHARES
    clean: int = copies.CLEAN
    cells: int = 15
    dirty_clean: int = 25
    published: int = dirty.AS_PUBLISHED
    draws: int = dirty.DRAWS
    groups: tuple[int, ...] = (8, 3)  # tables of each size
    faint: int = 8
    relations: int = 12
    examples: int = 5


FULL = Amounts()
MIDDLE = Amounts(
    errors=3,
    errors_wide=0,
    habits=6,
    shares=(0.02,),
    clean=30,
    cells=8,
    dirty_clean=12,
    published=100,
    draws=4,
    groups=(4, 1),
    faint=3,
    relations=6,
    examples=1,
)
SHORT = Amounts(
    errors=1,
    errors_wide=0,
    habits=3,
    shares=(0.02,),
    clean=8,
    cells=4,
    dirty_clean=4,
    published=30,
    draws=2,
    groups=(1, 1),
    faint=1,
    relations=2,
    examples=1,
)


@dataclasses.dataclass(frozen=True)
class Settings:
    """What is to be run."""

    parts: tuple[str, ...]
    data: Path | None
    amounts: Amounts
    has_peers: bool
    seed: int = 0

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, ours first."""
        return tuple(methods()) if self.has_peers else (Ours.name,)

    @property
    def has_dirty(self) -> bool:
        """Whether the tables of data.gov are there."""
        return self.data is not None and (self.data / "dirty").is_dir()


def methods() -> dict[str, type[Method]]:
    """Return all methods that can run here, by name."""
    return {Ours.name: Ours, **peers.installed(), peers.RobustZ.name: peers.RobustZ}


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Enough to make a case in any process."""

    make: Callable[..., ErrorCase | None]
    arguments: tuple[Any, ...]
    weight: float = 1.0  # the heaviest begin first, so that none is left over at the end

    def case(self) -> ErrorCase | None:
        """Make the case; None where the table cannot have such an error."""
        return self.make(*self.arguments)


def plan(settings: Settings) -> list[Recipe]:
    """Return the recipes in the order of the report."""
    parts = {
        "errors": _errors,
        "habits": _habits,
        "dirty": _dirty,
        "groups": _groups,
        "faint": _faint,
        "relations": _relations,
        "examples": _examples,
    }
    return [recipe for part in PARTS if part in settings.parts for recipe in parts[part](settings)]


def left_out(settings: Settings) -> list[str]:
    """Say which parts are missing, and what to do about it."""
    notes = []
    if "errors" in settings.parts and tables.lacking():
        lacks = ", ".join(tables.lacking())
        notes.append(f"The real tables are left out; they need {lacks}: {peers.INSTALL}")
    if "dirty" in settings.parts and not settings.has_dirty:
        notes.append("The tables of data.gov are left out: name the folder with dirty/ by --data.")
    if settings.has_peers:
        notes += [
            f"{name} is left out; it needs {', '.join(lacks)}: {peers.INSTALL}"
            for name, lacks in peers.absent().items()
        ]
    if "errors" in settings.parts and not settings.amounts.errors_wide:
        notes.append(f"Tables of more than {WIDE} columns are left out of this run.")
    if not settings.has_peers:
        notes.append("The other tools are left out of this run: add --peers.")
    return notes


def _errors(settings: Settings) -> Iterator[Recipe]:
    if tables.lacking():
        return
    amounts, seed = settings.amounts, settings.seed
    for name in tables.names():
        is_wide = len(tables.load(name)) > WIDE
        count = amounts.errors_wide if is_wide else amounts.errors
        if not count:
            continue
        weight = 1e6 if is_wide else len(next(iter(tables.load(name).values())))
        for kind in KINDS:
            for number in range(count):
                yield Recipe(copies.copy, (name, kind, number, seed), weight)
        for share in amounts.shares:
            yield Recipe(copies.batch, (name, share, seed), 2 * weight)
        yield Recipe(copies.clean, (name, seed, amounts.clean), 2 * weight)


def _habits(settings: Settings) -> Iterator[Recipe]:
    """Plan all kinds in real tables, and typos in those of data.gov."""
    amounts, seed, data = settings.amounts, settings.seed, settings.data
    for name in () if tables.lacking() else tables.names():
        if len(tables.load(name)) > WIDE and not amounts.errors_wide:
            continue
        weight = len(next(iter(tables.load(name).values())))
        for kind in habits.KINDS:
            for number in range(amounts.habits):
                yield Recipe(habits.copy, (name, kind, number, seed), weight)
        yield Recipe(habits.clean, (name, seed, amounts.clean), 2 * weight)
    if data is None or not settings.has_dirty:
        return
    for name in sorted({name for part in dirty.PARTS for name in dirty.names(data, part)}):
        for number in range(amounts.habits):
            yield Recipe(habits.copy, (name, "typo", number, seed, data))


def _dirty(settings: Settings) -> Iterator[Recipe]:
    if settings.data is None or not settings.has_dirty:
        return
    amounts, seed, data = settings.amounts, settings.seed, settings.data
    for part in dirty.PARTS:
        for name in dirty.names(data, part):
            cells = len(dirty.wrong_cells(data, part, name))
            for number in range(min(amounts.cells, cells)):
                yield Recipe(dirty.copy, (data, part, name, number, seed))
            yield Recipe(dirty.clean, (data, part, name, seed, amounts.dirty_clean))
    if "hospital" in dirty.names(data, "published"):
        yield Recipe(dirty.hospital, (data, seed, amounts.published), 1e5)
        for draw in range(amounts.draws):
            yield Recipe(dirty.thinned, (data, draw, seed), 1e4)


def _groups(settings: Settings) -> Iterator[Recipe]:
    for kind, count in zip(groups.SIZES, settings.amounts.groups, strict=True):
        accounts, each = groups.SIZES[kind]
        for number in range(count):
            yield Recipe(groups.make, (kind, number, settings.seed), accounts * each)


def _faint(settings: Settings) -> Iterator[Recipe]:
    for deviations in faint.DEVIATIONS:
        for relation in faint.RELATIONS:
            for number in range(settings.amounts.faint):
                yield Recipe(faint.make, (relation, deviations, number, settings.seed))


def _relations(settings: Settings) -> Iterator[Recipe]:
    for kind in relations.KINDS:
        for number in range(settings.amounts.relations):
            yield Recipe(relations.make, (kind, number, settings.seed))


def _examples(settings: Settings) -> Iterator[Recipe]:
    for name in examples.NAMES:
        if name == "penguin" and peers.lacking(("palmerpenguins", "pandas")):
            continue
        for number in range(1 if name == "fever" else settings.amounts.examples):
            yield Recipe(examples.make, (name, number, settings.seed))
