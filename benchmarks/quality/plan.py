"""Which methods run over which cases."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from benchmarks.quality import hics, peers, real, stories
from benchmarks.quality.ours import Ours
from benchmarks.quality.run import LARGE, OURS, Source, Task, methods

SUITES = ("hics", "planted", "real")
REAL_NEEDS = ("scikit-learn", "palmerpenguins", "pandas")  # the packages that hold the tables
SMALL_HICS = "hics 010"
FEW = 5  # large tables: one seed for so many; thinned tables: so many seeds
ORDINARY = 2  # tables of ordinary rows for each table of another kind
SHORT_TARGETS = 4
SHORT_KINDS = ("interval", "linear", "missing")
SHORT_HICS = 1  # files
SHORT_REAL = ("iris",)


@dataclasses.dataclass(frozen=True)
class Settings:
    """What is to be run. A short run looks at small tables and a few rows of each."""

    suites: tuple[str, ...]
    hics: Path | None
    seeds: int
    is_short: bool
    has_peers: bool

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, ours first."""
        return tuple(methods() if self.has_peers else OURS)

    @property
    def most(self) -> int | None:
        """How many rows of a table are explained at most."""
        return SHORT_TARGETS if self.is_short else None


def plan(settings: Settings) -> list[Task]:
    """Return the tasks in the order of the report."""
    suites = {"hics": _hics, "planted": _planted, "real": _real}
    return [task for name in SUITES if name in settings.suites for task in suites[name](settings)]


def left_out(settings: Settings) -> list[str]:
    """Say which parts of the comparison are missing, and what to do about it."""
    notes = []
    if "hics" in settings.suites and settings.hics is None:
        notes.append("The HiCS tables are left out: name their folder with --hics.")
    if "real" in settings.suites and peers.lacking(REAL_NEEDS):
        lacks = ", ".join(peers.lacking(REAL_NEEDS))
        notes.append(f"The real tables are left out; they need {lacks}: {peers.INSTALL}")
    if settings.has_peers:
        notes += [
            f"{name} is left out; it needs {', '.join(lacks)}: {peers.INSTALL}"
            for name, lacks in peers.absent().items()
        ]
    else:
        notes.append("The other tools are left out of this run: add --peers.")
    return notes


def _hics(settings: Settings) -> Iterator[Task]:
    if settings.hics is None:
        return
    cases = hics.cases(settings.hics)
    for case in cases[:SHORT_HICS] if settings.is_short else cases:
        path = settings.hics / f"{case.name}.csv"
        source = Source("hics", str(path), most=settings.most)
        weight = len(case.data) ** 2 * len(case.targets)
        for name in settings.methods:
            yield Task(source, name, weight if name in OURS else 0)
        if case.kind == SMALL_HICS:
            yield from _thinned(source)


def _planted(settings: Settings) -> Iterator[Task]:
    for kind in kinds(settings):
        for seed in range(seeds_of(kind, settings.seeds)):
            source = Source("planted", kind, seed, settings.most)
            for name in settings.methods:
                yield Task(source, name, weight=1e6 if kind in LARGE else 0)
            if kind not in (stories.NONE, *LARGE) and seed < FEW:
                yield from _thinned(source)


def kinds(settings: Settings) -> tuple[str, ...]:
    """Return the kinds of planted tables."""
    if settings.is_short:
        return (*SHORT_KINDS, stories.NONE)
    return (*stories.KINDS_CORE, *stories.KINDS_ADDED, stories.NONE)


def seeds_of(kind: str, seeds: int) -> int:
    """Return the number of tables of a kind."""
    if kind == stories.NONE and seeds > 1:
        return ORDINARY * seeds
    return max(1, seeds // FEW) if kind in LARGE else seeds


def _thinned(source: Source) -> Iterator[Task]:
    yield Task(dataclasses.replace(source, is_thinned=True), Ours.name)


def _real(settings: Settings) -> Iterator[Task]:
    if peers.lacking(REAL_NEEDS):
        return
    for place in _real_places(settings):
        for name in settings.methods:
            yield Task(Source("real", str(place)), name)


def _real_places(settings: Settings) -> list[int]:
    """Return the places of the real cases; a short run takes one copy of the smallest table."""
    if settings.is_short:
        return [real.COPIES * real.KINDS.index(kind) for kind in SHORT_REAL]
    return list(range(real.COPIES * len(real.KINDS)))
