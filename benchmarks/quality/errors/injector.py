"""Errors as people make them: seven kinds, each changing a cell of one row (a swap changes two).

- decimal: a digit too many or too few (times 10 or 100, or divided by them).
- swap: the values of two numeric columns of the row change places.
- unit: centimetres for inches, kilograms for pounds, Fahrenheit for Celsius, grams for kilograms,
  and back.
- sign: the minus forgotten, or one too many.
- category: another label of the column, each of its labels being equally likely.
- stale: the value of the row before, or of any other row, in the same column.
- code: a number that stands for "unknown": 0, -1, 99, 999 or 9999.

Column, row and value are drawn at random. Nothing is selected by how visible the error is; what is
drawn again is only a cell that is empty, or a value that equals the old one. Columns of whole
numbers stay whole.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from benchmarks.quality.cases import Array
from benchmarks.quality.errors.tables import Table

Rng: TypeAlias = np.random.Generator

SHIFTS = (10.0, 100.0, 0.1, 0.01)
FACTORS = (2.54, 1 / 2.54, 0.4536, 1 / 0.4536, 1000.0, 0.001)
CODES = (0.0, -1.0, 99.0, 999.0, 9999.0)
ATTEMPTS = 10_000


@dataclasses.dataclass(frozen=True)
class Wrong:
    """Wrong values for some cells of a row."""

    kind: str
    row: int
    values: dict[str, Any]

    def planted(self, table: Table) -> Table:
        """Return a copy of the table with the wrong cells; columns that stay are shared."""
        return table | {name: self._changed(table[name], name) for name in self.values}

    def _changed(self, column: Array, name: str) -> Array:
        changed = column.copy()
        changed[self.row] = self.values[name]
        return changed


def inject(table: Table, kind: str, rng: Rng) -> Wrong | None:
    """Draw an error of a kind; None where no column of the table can have it."""
    columns = eligible(table, kind)
    if len(columns) < (2 if kind == "swap" else 1):
        return None
    for _ in range(ATTEMPTS):
        wrong = _draw(table, kind, columns, rng)
        if wrong is not None:
            return wrong
    raise RuntimeError(f"no error of the kind {kind} changed a value in {ATTEMPTS:,} attempts")


def eligible(table: Table, kind: str) -> list[str]:
    """Return the columns that can have an error of a kind: numbers, labels, or all."""
    if kind == "stale":
        return list(table)
    wanted = "O" if kind == "category" else "f"
    return [name for name, column in table.items() if column.dtype.kind == wanted]


def is_known(value: Any) -> bool:
    """Return whether a cell holds something: neither None, NaN nor NaT."""
    return value is not None and bool(value == value)


def is_whole(column: Array) -> bool:
    """Return whether all numbers of a column are whole."""
    known = column[np.isfinite(column)]
    return bool((known == np.round(known)).all())


def _draw(table: Table, kind: str, columns: list[str], rng: Rng) -> Wrong | None:
    """Draw a row and its new values; None where they are no change, or a cell is empty."""
    drawn = rng.choice(columns, 2 if kind == "swap" else 1, replace=False).tolist()
    row = int(rng.integers(len(table[drawn[0]])))
    old = {name: table[name][row] for name in drawn}
    if not all(map(is_known, old.values())):
        return None
    if kind == "swap":
        new = dict(zip(drawn, reversed(old.values()), strict=True))
    else:
        new = {name: _MAKERS[kind](table[name], row, rng) for name in drawn}
    is_change = all(is_known(new[name]) and new[name] != old[name] for name in drawn)
    return Wrong(kind, row, new) if is_change else None


# New values.


def _decimal(column: Array, row: int, rng: Rng) -> float:
    """Shift the decimal point; whole numbers lose their last digits."""
    value = column[row] * rng.choice(SHIFTS)
    return float(np.trunc(value) if is_whole(column) else value)


def _unit(column: Array, row: int, rng: Rng) -> float:
    """Convert by one of the factors or, as likely as each of them, between degrees."""
    values = [column[row] * factor for factor in FACTORS]
    values += [column[row] * 1.8 + 32, (column[row] - 32) / 1.8]
    value = values[rng.integers(len(values))]
    return float(np.round(value) if is_whole(column) else value)


def _sign(column: Array, row: int, _: Rng) -> float:
    return float(-column[row])


def _category(column: Array, _: int, rng: Rng) -> str:
    labels = sorted({value for value in column if value is not None})
    return str(labels[rng.integers(len(labels))])


def _stale(column: Array, row: int, rng: Rng) -> Any:
    if rng.random() < 0.5 and row > 0:
        return column[row - 1]
    return column[rng.integers(len(column))]


def _code(_: Array, __: int, rng: Rng) -> float:
    return float(rng.choice(CODES))


_MAKERS: dict[str, Callable[[Array, int, Rng], Any]] = {
    "decimal": _decimal,
    "unit": _unit,
    "sign": _sign,
    "category": _category,
    "stale": _stale,
    "code": _code,
}
GROSS = ("decimal", "swap", "unit", "sign")
SUBTLE = ("category", "stale")
KINDS = (*GROSS, *SUBTLE, "code")
