"""Errors in texts, times and keys: typos, wrong hours, keys given twice, money, misread dates.

- typo: one edit (a letter replaced, left out, put in, or two that change places) in a label of five
  letters or more that occurs five times or more, in any column of labels of a real table.
- hour: a moment twelve hours off, as AM for PM. Each table gets a column of moments with a habit of
  its own: office hours, evenings until after midnight, early shifts.
- key: the key of another row. Each table gets a column of keys: numbers in order, codes, or long
  random numbers.
- money, date: amounts and dates that are written as texts; `written` makes them.

Cells and edits are drawn at random; none is selected by how visible it is.
"""

from __future__ import annotations

import collections
import string
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.quality.cases import Array, Target
from benchmarks.quality.errors import dirty, tables, written
from benchmarks.quality.errors.copies import ErrorCase, rng_of, target
from benchmarks.quality.errors.injector import ATTEMPTS, Rng, Wrong
from benchmarks.quality.errors.tables import Half, Table

KINDS = ("typo", "hour", "key", "money", "date")
LETTERS, ROWS = 5, 5  # of a label that is misspelt, at least
DAYS = 180
HABITS = ((8.0, 18.0), (17.0, 25.5), (4.0, 10.0))  # hours between which things happen


def load(name: str, data: Path | None = None) -> Table:
    """Return a real table, or one of data.gov, which `data` holds."""
    if data is None:
        return tables.load(name)
    part = next(part for part in dirty.PARTS if name in dirty.names(data, part))
    return dirty.clean_table(data, part, name)


def copy(
    name: str, kind: str, number: int, seed: int, data: Path | None = None
) -> ErrorCase | None:
    """Return a copy of a table with one error; None where no column can have such an error."""
    rng = rng_of(seed, name, kind, number)
    table = with_habit(load(name, data), kind, number, rng)
    wrong = _MAKERS[kind](table, rng)
    if wrong is None:
        return None
    case = f"{name}/{kind}/{seed}-{number}"
    return _case(name, kind, case, wrong.planted(table), (target(wrong),), data)


def clean(name: str, seed: int, most: int, data: Path | None = None, number: int = 0) -> ErrorCase:
    """Return a table with all habits and nothing wrong, with some of its rows to explain."""
    rng = rng_of(seed, name, "habits", number)
    table = load(name, data)
    for kind in KINDS:
        table = with_habit(table, kind, number, rng)
    drawn = rng.permutation(_rows(table))[:most]
    targets = tuple(Target(int(row), ()) for row in drawn)
    return _case(name, "clean", f"{name}/habits-clean/{seed}", table, targets, data)


def with_habit(table: Table, kind: str, number: int, rng: Rng) -> Table:
    """Return a table with moments, keys, amounts or dates, where a kind of error needs them."""
    if kind == "hour":
        return table | {"entered": moments(_rows(table), HABITS[number % len(HABITS)], rng)}
    if kind == "key":
        return table | {"key": keys(_rows(table), number, rng)}
    if kind == "money":
        return written.with_amounts(table, number, rng)
    if kind == "date":
        return written.with_dates(table, _rows(table), number, rng)
    return table


def moments(rows: int, hours: tuple[float, float], rng: Rng) -> Array:
    """Draw moments on any day, most of them in the middle of the hours of a habit."""
    days = rng.integers(0, DAYS, rows)
    minutes = 60 * (hours[0] + (hours[1] - hours[0]) * rng.beta(2, 2, rows))
    start = np.datetime64("2024-01-01T00:00:00")
    return start + (86_400 * days + np.floor(60 * minutes)).astype("timedelta64[s]")


def keys(rows: int, number: int, rng: Rng) -> Array:
    """Draw keys: numbers in order, codes of letters and digits, or long random numbers."""
    order = rng.permutation(rows)
    if number % 3 == 0:
        return 100_000 + order
    if number % 3 == 1:
        return np.array([f"KX-{place:06d}" for place in order.tolist()], dtype=object)
    return rng.choice(10**10, rows, replace=False).astype(np.int64)


def _rows(table: Table) -> int:
    return len(next(iter(table.values())))


# Errors.


def _typo(table: Table, rng: Rng) -> Wrong | None:
    """Misspell a label, drawn by rows, as people do."""
    places = {name: _misspellable(column) for name, column in table.items()}
    names = [name for name, rows in places.items() if len(rows)]
    if not names:
        return None
    for _ in range(ATTEMPTS):
        name = names[rng.integers(len(names))]
        row = int(rng.choice(places[name]))
        new = edited(str(table[name][row]), rng)
        if new not in set(table[name].tolist()):
            return Wrong("typo", row, {name: new})
    raise RuntimeError(f"no typo made another label in {ATTEMPTS:,} attempts")


def _misspellable(column: Array) -> Array:
    """Return the rows whose labels have letters enough, and occur often enough."""
    if column.dtype.kind != "O":
        return np.zeros(0, dtype=np.int64)
    counts = collections.Counter(column.tolist())
    labels = {
        label
        for label, count in counts.items()
        if label is not None and count >= ROWS and sum(map(str.isalpha, label)) >= LETTERS
    }
    return np.array([row for row, value in enumerate(column) if value in labels], dtype=np.int64)


def edited(text: str, rng: Rng) -> str:
    """Make one edit at a letter of a text."""
    letters = [place for place, char in enumerate(text) if char.isalpha()]
    at = letters[rng.integers(len(letters))]
    others = string.ascii_uppercase if text[at].isupper() else string.ascii_lowercase
    letter = others[rng.integers(len(others))]
    kind = rng.integers(4)
    if kind == 0:
        return text[:at] + letter + text[at + 1 :]
    if kind == 1:
        return text[:at] + text[at + 1 :]
    if kind == 2:
        return text[:at] + letter + text[at:]
    return text[:at] + text[at + 1 : at + 2] + text[at] + text[at + 2 :]


def _hour(table: Table, rng: Rng) -> Wrong:
    row = int(rng.integers(_rows(table)))
    return Wrong("hour", row, {"entered": table["entered"][row] + np.timedelta64(12, "h")})


def _key(table: Table, rng: Rng) -> Wrong:
    row, other = rng.choice(_rows(table), 2, replace=False).tolist()
    return Wrong("key", row, {"key": table["key"][other]})


def _money(table: Table, rng: Rng) -> Wrong | None:
    if "amount" not in table:
        return None
    rows = [row for row, text in enumerate(table["amount"]) if text is not None]
    row = int(rng.choice(rows))
    return Wrong("money", row, {"amount": written.wrong_amount(table["amount"][row], rng)})


def _date(table: Table, rng: Rng) -> Wrong:
    row, new = written.wrong_date(table["invoiced"], rng)
    return Wrong("date", row, {"invoiced": new})


_MAKERS: dict[str, Callable[[Table, Rng], Wrong | None]] = {
    "typo": _typo,
    "hour": _hour,
    "key": _key,
    "money": _money,
    "date": _date,
}


def _case(
    name: str,
    kind: str,
    full: str,
    table: Table,
    targets: tuple[Target, ...],
    data: Path | None,
) -> ErrorCase:
    half: Half = tables.half_of(name) if data is None else dirty.half_of(name)
    return ErrorCase("habits", kind, full, table, targets, source=name, half=half)
