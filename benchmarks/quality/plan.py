"""Which methods run over which cases."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from benchmarks.quality import hics, peers, real, stories
from benchmarks.quality.run import OURS, Source, Task, methods

SUITES = ("hics", "planted", "real")
REAL_NEEDS = ("scikit-learn", "palmerpenguins", "pandas")  # the packages that hold the tables
LARGE = ("columns_100", "columns_200", "rows_100000", "rows_1000000")
SMALL_HICS = "hics 010"
FEW = 5  # large and real tables: one seed for so many; thinned tables: so many seeds
ORDINARY = 2  # tables of ordinary rows for each table of another kind
SHORT_TARGETS = 4


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
    """Give the tasks in the order of the report."""
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
        notes.append("The other tools are left out of this short run: add --peers.")
    return notes


def _hics(settings: Settings) -> Iterator[Task]:
    if settings.hics is None:
        return
    for case in hics.cases(settings.hics):
        is_small = case.kind == SMALL_HICS
        if settings.is_short and not is_small:
            continue
        path = settings.hics / f"{case.name}.csv"
        source = Source("hics", str(path), most=settings.most)
        weight = len(case.data) ** 2 * len(case.targets)
        for name in settings.methods:
            yield Task(source, name, weight if name in OURS else 0)
        if is_small:
            yield from _thinned(source)


def _planted(settings: Settings) -> Iterator[Task]:
    for kind in kinds(settings):
        for seed in range(seeds_of(kind, settings.seeds)):
            source = Source("planted", kind, seed, settings.most)
            for name in settings.methods:
                yield Task(source, name, weight=1e6 if kind in LARGE else 0)
            if _is_thinned_too(kind, seed, settings):
                yield from _thinned(source)


def kinds(settings: Settings) -> tuple[str, ...]:
    """Give the kinds of planted tables; a short run has none that stands for a size."""
    added = stories.KINDS_ADDED
    if settings.is_short:
        added = tuple(kind for kind in added if not kind.startswith(("columns_", "rows_")))
    return (*stories.KINDS_CORE, *added, stories.NONE)


def seeds_of(kind: str, seeds: int) -> int:
    """Give the number of tables of a kind."""
    if kind == stories.NONE:
        return ORDINARY * seeds
    return max(1, seeds // FEW) if kind in LARGE else seeds


def _is_thinned_too(kind: str, seed: int, settings: Settings) -> bool:
    chosen = stories.KINDS_CORE if settings.is_short else kinds(settings)
    return kind in chosen and kind not in (stories.NONE, *LARGE) and seed < FEW


def _thinned(source: Source) -> Iterator[Task]:
    for name in OURS:
        yield Task(dataclasses.replace(source, is_thinned=True), name)


def _real(settings: Settings) -> Iterator[Task]:
    if peers.lacking(REAL_NEEDS):
        return
    for seed in range(max(1, settings.seeds // FEW)):
        for place in _real_places(settings):
            for name in settings.methods:
                yield Task(Source("real", str(place), seed), name)


def _real_places(settings: Settings) -> range:
    """Give the places of the real cases; a short run takes two tables of each kind."""
    step = real.COPIES // 2 if settings.is_short else 1
    return range(0, real.COPIES * len(real.KINDS), step)
