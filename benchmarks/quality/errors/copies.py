"""Rows with wrong cells, and clean rows beside them."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterable, Iterator

import numpy as np

from benchmarks.quality.cases import Case, Target, Truth
from benchmarks.quality.errors import tables
from benchmarks.quality.errors.injector import KINDS, Rng, Wrong, inject
from benchmarks.quality.errors.tables import Half, Table

COPIES = 4  # of a table, for each kind of error
SHARES = (0.01, 0.02, 0.03)  # of the rows of a table that are wrong at once
MOST_ASKED = 30  # wrong rows of a batch that are explained
CLEAN = 40  # rows of a table


@dataclasses.dataclass(frozen=True, eq=False)
class ErrorCase(Case):
    """A table with wrong cells; a truth for each wrong cell of a row, none for a clean row."""

    source: str  # the table that it is a copy of
    half: Half

    @property
    def table(self) -> Table:
        """The columns, by name."""
        return self.data

    @property
    def row(self) -> int:
        """The first row to explain."""
        return self.targets[0].row

    @property
    def columns(self) -> tuple[str, ...]:
        """The wrong columns of that row: two for a swap, none for a clean row."""
        return tuple(sorted({name for truth in self.targets[0].truths for name in truth.columns}))

    @property
    def column(self) -> str:
        """The wrong column of that row; the first by name where two were swapped."""
        return self.columns[0]


def cases(
    half: Half | None = None,
    seed: int = 0,
    copies: int = COPIES,
    kinds: Iterable[str] = KINDS,
) -> Iterator[ErrorCase]:
    """Yield copies of real tables with one error each; the same arguments, the same cases."""
    for name in tables.names(half):
        for kind in kinds:
            for number in range(copies):
                case = copy(name, kind, number, seed)
                if case is not None:
                    yield case


def copy(name: str, kind: str, number: int, seed: int = 0) -> ErrorCase | None:
    """Return a copy of a table with one error; None where no column can have such an error."""
    table = tables.load(name)
    wrong = inject(table, kind, rng_of(seed, name, kind, number))
    if wrong is None:
        return None
    return _case(
        name, kind, f"{name}/{kind}/{seed}-{number}", wrong.planted(table), (target(wrong),)
    )


def batch(name: str, share: float, seed: int = 0) -> ErrorCase:
    """Return a table in which a share of the rows is wrong at once, by errors of all kinds.

    Explained are at most MOST_ASKED of them, and as many clean rows.
    """
    table, rng = tables.load(name), rng_of(seed, name, "batch", round(1000 * share))
    rows = len(next(iter(table.values())))
    wrongs = _distinct(table, max(1, round(share * rows)), rng)
    planted = {key: column.copy() for key, column in table.items()}
    for wrong in wrongs:
        for key, value in wrong.values.items():
            planted[key][wrong.row] = value
    clean = rng.permutation(np.setdiff1d(np.arange(rows), [wrong.row for wrong in wrongs]))
    asked = wrongs[:MOST_ASKED]
    targets = [target(wrong) for wrong in asked]
    targets += [Target(int(row), ()) for row in clean[: len(asked)]]
    return _case(name, "batch", f"{name}/batch/{seed}-{share:g}", planted, tuple(targets))


def clean(name: str, seed: int = 0, most: int = CLEAN) -> ErrorCase:
    """Return a table as it is, with some of its rows to explain."""
    table = tables.load(name)
    rows = len(next(iter(table.values())))
    drawn = rng_of(seed, name, "clean", 0).permutation(rows)[:most]
    targets = tuple(Target(int(row), ()) for row in drawn)
    return _case(name, "clean", f"{name}/clean/{seed}", table, targets)


def target(wrong: Wrong) -> Target:
    """Return the row to explain, with each of its wrong cells as an answer that is right."""
    return Target(wrong.row, truths_of(wrong.values), wrong.kind)


def truths_of(columns: Iterable[str]) -> tuple[Truth, ...]:
    """Return a truth for each wrong cell."""
    return tuple(Truth(frozenset({name}), name) for name in columns)


def rng_of(seed: int, name: str, kind: str, number: int) -> Rng:
    """Return random numbers of their own for each case."""
    return np.random.default_rng([seed, zlib.crc32(f"{name}/{kind}".encode()), number])


def _distinct(table: Table, count: int, rng: Rng) -> list[Wrong]:
    """Draw errors of all kinds into different rows."""
    found: dict[int, Wrong] = {}
    while len(found) < count:
        wrong = inject(table, KINDS[rng.integers(len(KINDS))], rng)
        if wrong is not None:
            found.setdefault(wrong.row, wrong)
    return list(found.values())


def _case(name: str, kind: str, full: str, table: Table, targets: tuple[Target, ...]) -> ErrorCase:
    half = tables.half_of(name)
    return ErrorCase("errors", kind, full, table, targets, source=name, half=half)
