"""Cells that are wrong by what other columns, or other rows of the same thing, say.

- arithmetic: orders with total = quantity x price x (1 - discount) + tax.
- order: shipped before ordered, hired before born.
- lines: one of two numbers on a line, so many residual deviations off.
- dependencies: a city that is not that of its zip code.
- panels: sensors that are read every hour; a jump inside of the usual range, a stuck one, a
  night value at noon; an odometer that shows less than before.
- entities: an amount that is six times that of its account, of so many rows each.

Even numbers are for choosing, odd ones for reporting.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.quality.cases import Array, Target
from benchmarks.quality.errors.copies import ErrorCase, rng_of, truths_of
from benchmarks.quality.errors.injector import Rng
from benchmarks.quality.errors.tables import Table

ROWS = 2_000
CLEAN = 20
DEVIATIONS = (3, 4, 5, 6)
MEMBERS = (6, 12, 24)
STUCK = 12  # equal readings

_Made = tuple[Table, dict[int, list[str]]]  # the wrong cells by row


def make(kind: str, number: int, seed: int = 0) -> ErrorCase:
    """Return a table with a wrong cell or a few of them, and clean rows."""
    rng = rng_of(seed, "relations", kind, number)
    table, wrong = KINDS[kind](rng)
    rows = len(next(iter(table.values())))
    clean = rng.permutation(np.setdiff1d(np.arange(rows), list(wrong)))[:CLEAN]
    targets = [Target(row, truths_of(names)) for row, names in wrong.items()]
    targets += [Target(int(row), ()) for row in clean]
    half = "report" if number % 2 else "choose"
    name = f"relations/{kind}/{seed}-{number}"
    return ErrorCase("relations", kind, name, table, tuple(targets), source=kind, half=half)  # type: ignore[arg-type]


def _orders(rng: Rng) -> Table:
    day = np.datetime64("2024-01-01") + rng.integers(0, 300, ROWS).astype("timedelta64[D]")
    quantity = 1.0 + rng.integers(0, 8, ROWS)
    price = np.round(rng.lognormal(3, 0.6, ROWS), 2)
    discount = rng.choice([0.0, 0.05, 0.1, 0.2], ROWS)
    tax = np.round(0.08 * quantity * price * (1 - discount), 2)
    return {
        "ordered": day.astype("datetime64[us]"),
        "quantity": quantity,
        "price": price,
        "discount": discount,
        "tax": tax,
        "total": np.round(quantity * price * (1 - discount) + tax, 2),
        "shipped": (day + rng.integers(0, 6, ROWS).astype("timedelta64[D]")).astype(
            "datetime64[us]"
        ),
        "channel": _words(rng, ["web", "shop", "app"]),
        "age": np.round(rng.normal(45, 14, ROWS)),
    }


def _words(rng: Rng, words: list[str], rows: int = ROWS) -> Array:
    return np.array(words, dtype=object)[rng.integers(len(words), size=rows)]


def _total(rng: Rng) -> _Made:
    table, row = _orders(rng), int(rng.integers(ROWS))
    table["total"][row] = round(table["total"][row] * 0.9, 2)
    return table, {row: ["total"]}


def _quantity(rng: Rng) -> _Made:
    table, row = _orders(rng), int(rng.integers(ROWS))
    table["quantity"][row] += 1
    return table, {row: ["quantity"]}


def _half(rng: Rng) -> _Made:
    quantity, price = 1.0 + rng.integers(0, 20, ROWS), np.round(rng.lognormal(2, 0.8, ROWS), 2)
    table = {"quantity": quantity, "price": price, "sum": np.round(quantity * price, 2)}
    table |= {"shop": _words(rng, ["A", "B", "C", "D"]), "hour": rng.integers(8, 20, ROWS) * 1.0}
    row = int(rng.choice(np.flatnonzero(table["sum"] > 20)))
    table["sum"][row] = round(table["sum"][row] / 2, 2)
    return table, {row: ["sum"]}


def _swapped(rng: Rng) -> _Made:
    table = _orders(rng)
    row = int(rng.choice(np.flatnonzero(table["shipped"] > table["ordered"])))
    first, last = table["ordered"][row], table["shipped"][row]
    table["ordered"][row], table["shipped"][row] = last, first
    return table, {row: ["ordered", "shipped"]}


def _born(rng: Rng) -> _Made:
    born = np.datetime64("1960-01-01") + rng.integers(0, 15_000, ROWS).astype("timedelta64[D]")
    hired = born + rng.integers(18 * 365, 40 * 365, ROWS).astype("timedelta64[D]")
    row = int(rng.integers(ROWS))
    born[row] = hired[row] + np.timedelta64(int(rng.integers(30, 2_000)), "D")
    table = {"born": born.astype("datetime64[us]"), "hired": hired.astype("datetime64[us]")}
    table |= {"site": _words(rng, ["north", "south", "west"])}
    table |= {"salary": np.round(rng.lognormal(10.8, 0.3, ROWS), -2)}
    return table, {row: ["born", "hired"]}


def _line(deviations: int) -> Callable[[Rng], _Made]:
    def made(rng: Rng) -> _Made:
        x, noise = rng.normal(100, 15, ROWS), rng.normal(0, 3, ROWS)
        row = int(rng.choice(np.flatnonzero(np.abs(x - 100) < 15)))
        noise[row] = deviations * 3 * rng.choice([-1, 1])
        table = {"x": np.round(x, 1), "y": np.round(0.8 * x + 20 + noise, 1)}
        table |= {"group": _words(rng, ["a", "b", "c", "d"]), "other": rng.gamma(2, 3, ROWS)}
        return table, {row: ["x", "y"]}

    return made


def _city(rng: Rng) -> _Made:
    zips = np.sort(rng.choice(np.arange(10_000, 99_999), 150, replace=False))
    homes = rng.integers(40, size=150)
    own = rng.integers(150, size=ROWS)
    city = homes[own]
    row = int(rng.integers(ROWS))
    city[row] = (city[row] + rng.integers(1, 40)) % 40
    table = {"zip": np.array([f"{code}" for code in zips[own]], dtype=object)}
    table |= {"city": np.array([f"city {code:02d}" for code in city], dtype=object)}
    table |= {"amount": np.round(rng.lognormal(3, 1, ROWS), 2)}
    return table, {row: ["zip", "city"]}


def _sensors(rng: Rng) -> Table:
    """Return 12 sensors, read every hour of 8 days: a day's swing around a level of their own."""
    sensors, hours = 12, 192
    own, hour = np.repeat(np.arange(sensors), hours), np.tile(np.arange(hours), sensors)
    drift = rng.normal(0, 0.15, (sensors, hours)).cumsum(axis=1)
    swing = 5 * np.sin(2 * np.pi * (hour - 9) / 24)
    value = 15 + 3 * rng.normal(size=sensors)[own] + swing + drift.ravel()
    when = np.datetime64("2024-03-01T00:00") + hour.astype("timedelta64[h]")
    order = rng.permutation(len(own))
    table = {
        "sensor": np.array([f"s{code:02d}" for code in own], dtype=object),
        "when": when.astype("datetime64[us]"),
        "celsius": np.round(value + rng.normal(0, 0.1, len(own)), 2),
        "humidity": np.round(rng.normal(60, 8, len(own)), 1),
    }
    return {name: column[order] for name, column in table.items()}


def _jump(rng: Rng) -> _Made:
    table = _sensors(rng)
    low, high = np.quantile(table["celsius"], [0.3, 0.7])
    inside = np.flatnonzero((table["celsius"] > low) & (table["celsius"] < high))
    row = int(rng.choice(inside))
    table["celsius"][row] += 4 * rng.choice([-1, 1])
    return table, {row: ["celsius"]}


def _night(rng: Rng) -> _Made:
    """Give a reading of the early afternoon the value of twelve hours before."""
    table = _sensors(rng)
    hour = (table["when"] - table["when"].astype("datetime64[D]")).astype("timedelta64[h]")
    late = np.isin(hour.astype(int), (13, 14, 15)) & (table["when"] >= np.datetime64("2024-03-02"))
    row = int(rng.choice(np.flatnonzero(late)))
    before = table["when"][row] - np.timedelta64(12, "h")
    other = (table["sensor"] == table["sensor"][row]) & (table["when"] == before)
    table["celsius"][row] = table["celsius"][other][0]
    return table, {row: ["celsius"]}


def _stuck(rng: Rng) -> _Made:
    table = _sensors(rng)
    own = np.flatnonzero(table["sensor"] == "s03")
    own = own[np.argsort(table["when"][own])]
    start = int(rng.integers(20, 150))
    run = own[start : start + STUCK]
    table["celsius"][run] = table["celsius"][run[0]]
    return table, {int(run[STUCK // 2]): ["celsius"]}


def _meter(rng: Rng) -> _Made:
    """Return fillings of vehicles; an odometer goes back by less than it usually moves."""
    vehicles, fillings = 40, 50
    own = np.repeat(np.arange(vehicles), fillings)
    days = [np.sort(rng.choice(700, fillings, replace=False)) for _ in range(vehicles)]
    driven = np.round(rng.gamma(1.2, 250, (vehicles, fillings))).cumsum(axis=1)
    shown = (rng.integers(0, 120_000, vehicles)[:, None] + driven).ravel()
    row = int(rng.integers(vehicles)) * fillings + int(rng.integers(3, fillings - 3))
    shown[row] = shown[row - 1] - int(rng.integers(20, 100))
    when = np.datetime64("2023-01-01") + np.concatenate(days).astype("timedelta64[D]")
    order = rng.permutation(ROWS)
    table = {
        "vehicle": np.array([f"V{code:02d}" for code in own], dtype=object),
        "filled": when.astype("datetime64[us]"),
        "odometer": shown,
        "litres": np.round(rng.normal(45, 9, ROWS), 1),
    }
    place = int(np.flatnonzero(order == row)[0])
    return {name: column[order] for name, column in table.items()}, {place: ["odometer"]}


def _entities(members: int) -> Callable[[Rng], _Made]:
    def made(rng: Rng) -> _Made:
        accounts = ROWS // members
        own = np.repeat(np.arange(accounts), members)
        level = rng.normal(5, 1.2, accounts)
        amount = np.round(np.exp(rng.normal(level[own], 0.25)), 2)
        low, high = np.quantile(amount, [0.1, 0.9])
        fits = (amount * 6 < high) & (amount * 6 > low)
        row = int(rng.choice(np.flatnonzero(fits)))
        amount[row] = round(amount[row] * 6, 2)
        order = rng.permutation(len(own))
        table = {
            "account": np.array([f"A{code:04d}" for code in own], dtype=object),
            "amount": amount,
            "channel": _words(rng, ["app", "card", "web"], len(own)),
            "distance": np.round(rng.gamma(2, 5, len(own)), 1),
        }
        place = int(np.flatnonzero(order == row)[0])
        return {name: column[order] for name, column in table.items()}, {place: ["amount"]}

    return made


KINDS: dict[str, Callable[[Rng], _Made]] = {
    "total 10% off": _total,
    "quantity off by one": _quantity,
    "half of a product": _half,
    "swapped dates": _swapped,
    "born after hired": _born,
    **{f"{count} deviations off a line": _line(count) for count in DEVIATIONS},
    "city of another zip": _city,
    "jump of a sensor": _jump,
    "stuck sensor": _stuck,
    "night value at noon": _night,
    "meter that goes back": _meter,
    **{f"6 times its account, {count} rows": _entities(count) for count in MEMBERS},
}
