"""Rank space (method 5c), slow and obvious: conditions, bins, rare cells of the engine's twin."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise

Value = float | str | bool | None
Table = Mapping[str, Sequence[Value]]
Context = tuple[int, ...]
#: Least and greatest value of each natural segment, and by segment the coarser ones that hold it.
Segments = tuple[list[tuple[float, float]], list[list[tuple[float, float]]]]

LN3 = math.log(3)


# --- method 5c: conditions ---


@dataclass(frozen=True)
class Condition:
    """A condition on a column: a range of numbers, open below, or one value, or a gap."""

    column: str
    rows: frozenset[int]
    holds: Callable[[Value], bool] = field(compare=False)


def conditions_of(
    table: Table, least: int, segments: Callable[[list[float]], Segments]
) -> list[Condition]:
    """Return the conditions of a table, by the names of columns, then by code."""
    found = []
    for name in sorted(table):
        cells = table[name]
        for holds in _tests(list(cells), least, segments, step=1 if len(table) <= 50 else 2):
            rows = frozenset(row for row, cell in enumerate(cells) if holds(cell))
            if least <= len(rows) < 0.97 * len(cells):
                found.append(Condition(name, rows, holds))
    return found


def _tests(
    cells: list[Value], least: int, segments: Callable[[list[float]], Segments], step: int
) -> list[Callable[[Value], bool]]:
    def is_missing(cell: Value) -> bool:
        return cell is None

    known = [cell for cell in cells if cell is not None]
    if known and isinstance(known[0], float):
        numbers = sorted(cell for cell in known if isinstance(cell, float))
        borders, ranges = _ranges(numbers, segments, step)
        ends = [-math.inf, *borders, math.inf]
        return [is_missing, *(_within(ends[low], ends[high + 1]) for low, high in sorted(ranges))]
    counts = {value: known.count(value) for value in known}
    frequent = sorted((v for v in counts if counts[v] >= least), key=lambda v: (-counts[v], str(v)))
    return [is_missing, *(_equal(value) for value in sorted(frequent[:1024], key=str))]


def _within(low: float, high: float) -> Callable[[Value], bool]:
    return lambda cell: cell is not None and low < float(cell) <= high


def _equal(value: Value) -> Callable[[Value], bool]:
    return lambda cell: cell is not None and cell == value


def _ranges(
    numbers: list[float], segments: Callable[[list[float]], Segments], step: int
) -> tuple[list[float], set[tuple[int, int]]]:
    """Return borders between codes, and the ranges of codes that are conditions."""
    distinct = sorted(set(numbers))
    if len(distinct) <= 12:
        borders = [(a + b) / 2 for a, b in pairwise(distinct)]
        return borders, {(place, place) for place in range(len(distinct))}
    finest, coarser = segments(numbers)
    if len(finest) > 1:
        borders = [(a[1] + b[0]) / 2 for a, b in pairwise(finest)]
        ranges = {(place, place) for place in range(len(finest))}
        begins = [low for low, _ in finest]
        ends = [high for _, high in finest]
        for around in coarser:
            for low, high in around[-2:]:
                ranges.add((begins.index(low), ends.index(high)))
        return borders, ranges
    cuts = [k * len(numbers) // 10 for k in range(1, 10)]
    borders = sorted({(numbers[cut - 1] + numbers[cut]) / 2 for cut in cuts})
    return borders, {(k, k + 1) for k in range(0, len(borders), step)}


# --- method 5c: bins ---


@dataclass(frozen=True)
class Bins:
    """The bins of a property: of each row, or None, and the windows around each, widest first."""

    of_row: list[int | None]
    count: int
    windows: list[list[list[int]]]  # windows x bins: the bins in the window
    pool: int | None = None  # the bin of many labels, which are not alike

    @cached_property
    def mass(self) -> list[int]:
        """How many rows each holds."""
        return [self.of_row.count(own) for own in range(self.count)]


def bins_of(cells: Sequence[Value]) -> Bins:
    """Cut a property into bins."""
    known = [cell for cell in cells if cell is not None]
    if not isinstance(known[0], float):
        order = sorted(set(known), key=lambda v: (-known.count(v), str(v)))
        places = {value: min(place, 127) for place, value in enumerate(order)}
        count = max(places.values()) + 1
        of_row = [None if cell is None else places[cell] for cell in cells]
        pool = 127 if len(order) > 128 else None
        return Bins(of_row, count, [[[own] for own in range(count)]], pool)
    numbers = sorted(float(cell) for cell in known)
    edges = _edges(numbers)
    found = [None if c is None else sum(edge <= float(c) for edge in edges) for c in cells]
    count = len(edges) + 1
    return Bins(found, count, _windows([found.count(own) for own in range(count)]))


def _bins(known: int) -> int:
    return 16 if known < 2048 else 32 if known < 8192 else 64


def _edges(numbers: list[float]) -> list[float]:
    n, bins = len(numbers), _bins(len(numbers))
    small = [1]
    while 4 * small[-1] < n / bins:
        small.append(4 * small[-1])
    cuts = {k * n // bins for k in range(1, bins)} | set(small) | {n - t for t in small}
    edges = {numbers[cut] for cut in cuts if 0 < cut < n}
    return sorted(edge for edge in edges if edge > numbers[0])


def _windows(counts: list[int]) -> list[list[list[int]]]:
    n, each = sum(counts), range(len(counts))
    middles = [sum(counts[:own]) + counts[own] / 2 for own in each]
    share, found = 1 / 4, []
    while True:
        reach = share * n / 2
        found.append([[b for b in each if abs(middles[b] - middles[a]) <= reach] for a in each])
        if share <= 1 / _bins(n):
            return found
        share /= 2


# --- method 5c: counting, contexts, rows ---


@dataclass(frozen=True)
class Counted:
    """A context counted: its rows that know the property, its lift, the rarity of bins."""

    size: int
    lift: float
    rarities: dict[int, float]


def counted(bins: Bins, rows: frozenset[int] | set[int], least: int, with_empty: bool) -> Counted:
    """Count a context in the bins of a property."""
    here = [0] * bins.count
    for row in rows:
        own = bins.of_row[row]
        if own is not None:
            here[own] += 1
    size, n = sum(here), sum(bins.mass)
    if size < least:
        return Counted(size, 0.0, {})
    lift, rarities = 0.0, [0.0] * bins.count
    for window in bins.windows:
        near = [sum(here[b] for b in around) for around in window]
        alike = [a for a in range(bins.count) if a != bins.pool]
        usual = sum(here[a] * sum(bins.mass[b] for b in window[a]) for a in alike)
        pairs = sum(here[a] * near[a] for a in alike)
        if usual >= 5 * n:
            lift = max(lift, pairs * n / (size * usual))
        if pairs >= 10 * size:
            rarities = [max(r, pairs / max(c, 1)) for r, c in zip(rarities, near, strict=True)]
        if usual < 10 * n and pairs < 10 * size:
            break
    held = (own for own in range(bins.count) if with_empty or here[own])
    return Counted(size, min(lift, n / size), {own: rarities[own] / size for own in held})


@dataclass(frozen=True)
class Cell:
    """A rare cell: a bin of a context."""

    context: Context
    bin: int
    strength: float


@dataclass
class Sweep:
    """All rare cells of a property, by number of conditions."""

    bins: Bins
    conditions: Sequence[Condition]
    own: str
    least: Callable[[int], int]
    with_empty: bool = False
    all_triples: int = 20_000
    levels: list[list[Cell]] = field(default_factory=list)
    lifts: dict[int, float] = field(default_factory=dict)

    def run(self, depth: int) -> None:
        """Sweep over contexts of up to so many conditions."""
        free = [k for k, c in enumerate(self.conditions) if c.column != self.own]
        level = self._count([(k,) for k in free])
        self.lifts = {context[0]: found.lift for context, found in level.items()}
        for size in range(2, depth + 1):
            contexts: list[Context]
            if size == 2:
                contexts = [pair for pair in combinations(free, 2) if self._is_apart(pair)]
            else:
                beam = self._beam(level, size)
                large = [c for c, found in level.items() if found.size >= self.least(size)]
                if size == 3 and len(large) * len(free) <= 3 * self.all_triples:
                    beam = large
                wider = {tuple(sorted((*c, k))) for c in beam for k in free if k not in c}
                contexts = sorted(context for context in wider if self._is_apart(context))
            level = self._count(contexts)

    def _is_apart(self, context: Context) -> bool:
        return len({self.conditions[k].column for k in context}) == len(context)

    def _count(self, contexts: Sequence[Context]) -> dict[Context, Counted]:
        found, cells = {}, []
        for context in contexts:
            rows = set.intersection(*(set(self.conditions[k].rows) for k in context))
            own = counted(self.bins, rows, self.least(len(context)), self.with_empty)
            found[context] = own
            for place, rarity in own.rarities.items():
                if rarity >= 10:
                    gain = math.log(rarity) + math.log(max(own.lift, 0.001))
                    strength = round(gain - 0.3 * len(context), 9)
                    if strength >= 2:
                        cells.append(Cell(context, place, strength))
        self.levels.append(cells)
        return found

    def _beam(self, level: dict[Context, Counted], size: int) -> list[Context]:
        excess = {}
        for context, found in level.items():
            parts = max(self.lifts[k] for k in context)
            more = found.size * (found.lift - parts)
            if found.size >= self.least(size) and more > 0:
                excess[context] = round(more, 9)
        chosen: list[Context] = []
        seen: dict[tuple[str, ...], int] = {}
        for context in sorted(excess, key=lambda c: (-excess[c], c)):
            columns = tuple(sorted(self.conditions[k].column for k in context))
            seen[columns] = seen.get(columns, 0) + 1
            if seen[columns] <= 8 and len(chosen) < 100:
                chosen.append(context)
        return chosen

    def misfit(self, row: int) -> tuple[float, Context]:
        """Return the strength of the cell that a row takes, and its context."""
        best: tuple[float, Context] = (0.0, ())
        for cells in self.levels:
            held = [
                cell
                for cell in cells
                if cell.bin == self.bins.of_row[row]
                and all(row in self.conditions[k].rows for k in cell.context)
            ]
            if held:
                first = min(held, key=lambda cell: (-cell.strength, cell.context))
                if best[0] == 0 or first.strength > best[0] + LN3:
                    best = first.strength, first.context
        return best
