"""The kinds of tables with groups: columns, and the cells to change for them to be wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from benchmarks.ranking.cases import Array, Floats, Rng

SPREAD = (0.04, 0.15)  # of the values of a group, as a share of its level
ERRORS = 8
APART = 4.0  # the level of a wrong value is so many times the right one, or less than its inverse
EPOCH = np.datetime64("2015-01-01")
TOWNS = np.array([f"town {letter}" for letter in "ABCDEFGH"], dtype=object)


class Edit(NamedTuple):
    """A cell that becomes wrong."""

    row: int
    column: str
    value: Any
    kind: str = "context"


Columns: TypeAlias = dict[str, Array]
Kind: TypeAlias = Callable[[Rng, int], tuple[Columns, list[Edit]]]


class World:
    """Some large groups and one or two minorities, each with a level of its own."""

    def __init__(self, rng: Rng, rows: int, minorities: int = 2, majorities: int = 2) -> None:
        self.rng = rng
        small = rng.uniform(0.03, 0.09, minorities)
        large = rng.dirichlet(np.full(majorities, 8.0)) * (1 - small.sum())
        self.count = minorities + majorities
        self.codes = rng.choice(self.count, rows, p=[*small, *large])
        steps = rng.uniform(np.log(APART), np.log(3 * APART), self.count)
        self.levels = np.exp(rng.permutation(np.cumsum(steps)) + rng.uniform(-1, 2))
        self.spread = rng.uniform(*SPREAD)
        self.odd = self._odd(minorities)

    @property
    def labels(self) -> Array:
        """The names of the groups."""
        return TOWNS[self.codes]

    def _odd(self, minorities: int) -> list[int]:
        """Draw rows that become wrong: half of them in minorities, as far as there are such."""
        drawn = self.rng.permutation(len(self.codes))
        small = drawn[self.codes[drawn] < minorities][: ERRORS // 2]
        large = drawn[self.codes[drawn] >= minorities][: ERRORS - len(small)]
        return [int(row) for row in self.rng.permutation([*small, *large])]

    def around(self, levels: Floats) -> Floats:
        """Draw ordinary values of some levels."""
        return levels * (1 + self.spread * self.rng.normal(size=np.shape(levels)))

    def value(self, level: float) -> float:
        """Draw an ordinary value of a level."""
        return round(float(level * (1 + self.spread * self.rng.normal())), 2)

    def other(self, row: int) -> int:
        """Return another group than that of a row: all levels are APART."""
        return int((self.codes[row] + self.rng.integers(1, self.count)) % self.count)

    def away(self, row: int) -> float:
        """Return the level of another group."""
        return float(self.levels[self.other(row)])


def _amounts(world: World, draw: Callable[[Any], Any]) -> tuple[Columns, list[Edit]]:
    """Make amounts by group; wrong ones are drawn for another group."""
    amount = np.round(draw(world.levels[world.codes]), 2)
    edits = [Edit(row, "amount", round(float(draw(world.away(row))), 2)) for row in world.odd]
    return {"group": world.labels, "amount": amount}, edits


def _two_groups(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    world = World(rng, rows, minorities=1, majorities=1)
    return _amounts(world, world.around)


def _five_groups(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    world = World(rng, rows, minorities=2, majorities=3)
    return _amounts(world, world.around)


def _lognormal(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    world = World(rng, rows)
    return _amounts(world, lambda level: level * rng.lognormal(0, 0.3, np.shape(level)))


def _heavy(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    world = World(rng, rows)
    spread = world.spread / 2
    return _amounts(world, lambda level: level * (1 + spread * rng.standard_t(3, np.shape(level))))


def _zeros(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Half of the amounts are 0 in every group."""
    world = World(rng, rows)
    table, edits = _amounts(world, world.around)
    table["amount"] = np.where(rng.random(rows) < 0.5, 0.0, table["amount"])
    return table, edits


def _nested(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Sizes inside of groups; wrong is the size of the row, or its group."""
    world = World(rng, rows)
    sizes, factors = rng.integers(0, 3, rows), np.array([1.0, 2.2, 5.0])
    amount = world.around(world.levels[world.codes] * factors[sizes])
    levels = [
        world.away(row) * factors[sizes[row]]
        if place % 2
        else world.levels[world.codes[row]] * factors[0 if sizes[row] else 2]
        for place, row in enumerate(world.odd)
    ]
    edits = [
        Edit(row, "amount", world.value(level))
        for row, level in zip(world.odd, levels, strict=True)
    ]
    size = np.array(["small", "medium", "large"], dtype=object)[sizes]
    return {"group": world.labels, "size": size, "amount": amount.round(2)}, edits


def _covariate(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Multiply a price per unit of each group by a quantity that spreads over a decade."""
    world = World(rng, rows, minorities=1)
    quantity = np.exp(rng.normal(1, 0.7, rows)).round(2)
    amount = world.around(world.levels[world.codes]) * quantity
    edits = [
        Edit(
            row,
            "amount",
            round(world.value(world.away(row)) * quantity[row], 2),
        )
        for row in world.odd
    ]
    return {"group": world.labels, "quantity": quantity, "amount": amount.round(2)}, edits


def _seasons(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Degrees by month, colder in a minority of stations; wrong ones are of the other season."""
    world = World(rng, rows, minorities=1)
    month = rng.integers(1, 13, rows)
    cold = np.where(world.codes == 0, -9.0, 0.0)
    degrees = 14 + 11 * np.sin((month - 4) * np.pi / 6) + cold + rng.normal(0, 1.5, rows)
    signs = np.where(degrees > 14 + cold, -1, 1)
    edits = [
        Edit(row, "degrees", round(degrees[row] + signs[row] * rng.uniform(14, 20), 1))
        for row in world.odd
    ]
    return {"station": world.labels, "month": month, "degrees": degrees.round(1)}, edits


def _counts(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    world = World(rng, rows)
    rates = rng.permutation([1.0, 16.0, 60.0, 180.0])
    wrong = [Edit(row, "visits", int(rng.poisson(rates[world.other(row)]))) for row in world.odd]
    return {"group": world.labels, "visits": rng.poisson(rates[world.codes])}, wrong


def _labels(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Brands of each group, some of them rare; wrong ones are sold by another group only."""
    world = World(rng, rows, majorities=3)
    own = rng.choice(3, rows, p=[0.7, 0.26, 0.04])
    brands = np.array([f"brand {place:02d}" for place in range(3 * world.count)], dtype=object)
    edits = [
        Edit(row, "brand", str(brands[3 * world.other(row) + rng.integers(2)])) for row in world.odd
    ]
    return {"group": world.labels, "brand": brands[3 * world.codes + own]}, edits


def _sentinels(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Half of the wrong amounts are the same code for unknown."""
    world = World(rng, rows)
    table, edits = _amounts(world, world.around)
    code = float(rng.choice([-1.0, 9999.0, 999999.0]))
    half = len(edits) // 2
    return table, [edit._replace(value=code, kind="code") for edit in edits[:half]] + edits[half:]


def _ungrouped(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """No column tells the groups apart: only gross errors can be seen, far above or negative."""
    world = World(rng, rows, minorities=1)
    amount = world.around(world.levels[world.codes]).round(2)
    top, common = float(amount.max()), float(world.levels[1:].max())
    values = [
        top * rng.uniform(5, 30) if place % 2 else -world.value(common)
        for place in range(len(world.odd))
    ]
    edits = [
        Edit(row, "amount", round(value, 2), "gross")
        for row, value in zip(world.odd, values, strict=True)
    ]
    return {"amount": amount}, edits


def _dates(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Each batch was made within some weeks; wrong days belong to another batch."""
    world = World(rng, rows)
    starts = rng.permutation(world.count) * 400 + rng.integers(0, 100, world.count)
    days = starts[world.codes] + rng.integers(0, 60, rows)
    wrong = [starts[world.other(row)] + rng.integers(0, 60) for row in world.odd]
    edits = [
        Edit(row, "made", EPOCH + np.timedelta64(int(d), "D"))
        for row, d in zip(world.odd, wrong, strict=True)
    ]
    return {"batch": world.labels, "made": EPOCH + days.astype("timedelta64[D]")}, edits


def _hours(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Each kind of shift begins at its own hour; wrong ones begin at that of another."""
    world = World(rng, rows)
    hours = rng.permutation([3.0, 9.0, 14.0, 20.0])
    day = rng.integers(0, 365, rows) * 1440

    def moment(row: int, group: int) -> Any:
        minutes = int(60 * hours[group] + rng.normal(0, 30))
        return EPOCH.astype("datetime64[m]") + np.timedelta64(int(day[row]) + minutes, "m")

    began = np.array([moment(row, world.codes[row]) for row in range(rows)])
    edits = [Edit(row, "began", moment(row, world.other(row))) for row in world.odd]
    return {"shift": world.labels, "began": began.astype("datetime64[s]")}, edits


def _whole_numbers(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Days of leave by country: two or three neighbouring whole numbers each."""
    world = World(rng, rows)
    base = rng.permutation([10, 20, 26, 33])
    leave = base[world.codes] + rng.choice(3, rows, p=[0.8, 0.15, 0.05])
    edits = [Edit(row, "leave", int(base[world.other(row)])) for row in world.odd]
    return {"country": world.labels, "leave": leave}, edits


def _missing(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Let only one minority fill a column; wrong: filled elsewhere, or empty there."""
    world = World(rng, rows, minorities=1)
    fee = np.where(world.codes == 0, rng.normal(40, 4, rows).round(2), np.nan)
    edits = [
        Edit(row, "fee", np.nan if world.codes[row] == 0 else round(rng.normal(40, 4), 2), "gap")
        for row in world.odd
    ]
    return {"plan": world.labels, "fee": fee}, edits


def _pairs(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Levels of two categories together: neither of them alone tells the range."""
    world = World(rng, rows, minorities=0, majorities=3)
    seasons = rng.integers(0, 3, rows)
    cell = (world.codes + seasons) % 3
    amount = world.around(world.levels[cell])
    edits = [
        Edit(row, "amount", world.value(world.levels[(cell[row] + 1) % 3])) for row in world.odd
    ]
    season = np.array(["spring", "summer", "autumn"], dtype=object)[seasons]
    return {"group": world.labels, "season": season, "amount": amount.round(2)}, edits


def _codes(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Give each country a currency; wrong ones are those of another country."""
    world = World(rng, rows, minorities=2, majorities=3)
    names = np.array(["EUR", "USD", "JPY", "PLN", "GBP"], dtype=object)
    pay = world.around(world.levels[world.codes]).round(0)
    edits = [Edit(row, "currency", str(names[world.other(row)])) for row in world.odd[:4]]
    edits += [Edit(row, "pay", round(world.value(world.away(row)))) for row in world.odd[4:]]
    return {"country": world.labels, "currency": names[world.codes], "pay": pay}, edits


def _decimals(rng: Rng, rows: int) -> tuple[Columns, list[Edit]]:
    """Shift decimal points: odd in the own group, and often ordinary over the table."""
    world = World(rng, rows)
    table, _ = _amounts(world, world.around)
    factors = rng.choice([10.0, 0.1, 100.0], len(world.odd))
    edits = [
        Edit(row, "amount", round(float(table["amount"][row] * factor), 2), "decimal")
        for row, factor in zip(world.odd, factors, strict=True)
    ]
    return table, edits


KINDS: dict[str, Kind] = {
    "two groups": _two_groups,
    "five groups": _five_groups,
    "lognormal": _lognormal,
    "heavy tails": _heavy,
    "zeros": _zeros,
    "nested": _nested,
    "covariate": _covariate,
    "seasons": _seasons,
    "counts": _counts,
    "labels": _labels,
    "sentinels": _sentinels,
    "no group column": _ungrouped,
    "dates": _dates,
    "hours": _hours,
    "whole numbers": _whole_numbers,
    "missing": _missing,
    "pairs": _pairs,
    "codes": _codes,
    "decimals": _decimals,
}
