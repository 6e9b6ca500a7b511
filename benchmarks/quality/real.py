"""Real tables with one wrong cell each: a value that fits the table but not its own row.

The tables ship inside packages, so nothing is downloaded: iris, wine, breast_cancer and diabetes
with scikit-learn, penguins (numbers, categories, dates and gaps) with palmerpenguins. Each is a
kind. Every case is a copy of a table in which one cell was replaced by the value of a row of
another group. Groups are the categories of a column, the class label among them, or fifths of a
number that is strongly related to the changed column. The new value is

- ordinary over the whole table: within its 5 to 95% range, or a category of a tenth of the rows;
- unusual in the group of its row: outside the 0.5 to 99.5% range of the other members by a quarter
  of the width of that range, or a category that at most 0.5% of them have.

Columns of real tables hang together in many ways, so nobody can say which context is *the* right
one. The first truth of a target is therefore the changed column alone, as column and property: an
answer that calls it the property, or names it among its columns, found the cell. Further truths
pair it with one other column each: with those by whose groups the value is unusual (their condition
is known) and with those that are strongly related to it (no condition is claimed). The row may have
been odd before in other ways, and some other row may be odder still.
"""

from __future__ import annotations

import dataclasses
import importlib
import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.quality.cases import Array, Case, Premise, Target, Truth

Rng: TypeAlias = np.random.Generator
Floats: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Table: TypeAlias = dict[str, Array]

COPIES = 8  # of each table
FIFTHS = (0.2, 0.4, 0.6, 0.8)
STRONG = 0.7
LEAST_MEMBERS = 20
ATTEMPTS = 100_000


def cases(seed: int) -> list[Case]:
    """Give some copies of every table, each with one wrong cell; the same seed, the same cases."""
    return [case for name in TABLES for case in _copies(name, seed)]


def _copies(name: str, seed: int) -> list[Case]:
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    table = TABLES[name]()
    partners = _partners(table)
    swaps = [_swap(rng, table, partners) for _ in range(COPIES)]
    return [
        Case("real", name, f"{name}-{seed}-{number}", swap.done(table), (_target(table, swap),))
        for number, swap in enumerate(swaps)
    ]


# Wrong cells.


@dataclasses.dataclass(frozen=True)
class Swap:
    """A cell, and the value of another row that goes there."""

    column: str
    row: int
    donor: int

    def done(self, table: Table) -> Table:
        """Return a copy of the table with the cell replaced."""
        changed = table[self.column].copy()
        changed[self.row] = changed[self.donor]
        return table | {self.column: changed}


def _swap(rng: Rng, table: Table, partners: dict[str, list[str]]) -> Swap:
    """Draw column, groups, row and donor blindly until the value is ordinary but unusual there."""
    rows = len(next(iter(table.values())))
    for _ in range(ATTEMPTS):
        column = str(rng.choice(list(partners)))
        by = str(rng.choice(partners[column]))
        row, donor = rng.choice(rows, size=2, replace=False).tolist()
        swap = Swap(column, row, donor)
        if _is_change(table[column], swap) and _is_unusual(table, swap, by):
            return swap
    raise RuntimeError(f"no wrong value found in {ATTEMPTS:,} attempts; give STRONG a lower value")


def _partners(table: Table) -> dict[str, list[str]]:
    """Return the columns whose groups may be used to change each column."""
    columns = [name for name in table if not _is_date(table[name])]
    partners = {
        name: [
            other
            for other in columns
            if other != name and (_is_label(table[other]) or _is_strong(table, name, other))
        ]
        for name in columns
    }
    return {name: others for name, others in partners.items() if others}


def _is_change(column: Array, swap: Swap) -> bool:
    """Return whether a known value becomes another one that is ordinary over the whole table."""
    old, new = column[[swap.row, swap.donor]]
    is_known = bool(_known(column)[[swap.row, swap.donor]].all())
    return is_known and old != new and _is_ordinary(column, new)


def _is_ordinary(column: Array, value: Any) -> bool:
    known = column[_known(column)]
    if _is_label(column):
        return bool(np.mean(known == value) >= 0.1)
    low, high = np.quantile(known, [0.05, 0.95])
    return bool(low <= value <= high)


def _is_unusual(table: Table, swap: Swap, by: str) -> bool:
    """Return whether the new value is unusual among the others of its row's group by a column."""
    column, value = table[swap.column], table[swap.column][swap.donor]
    others = _group(table[by], swap.row)
    others[swap.row] = False
    members = column[others & _known(column)]
    if others[swap.donor] or len(members) < LEAST_MEMBERS:
        return False
    if _is_label(column):
        return bool(np.mean(members == value) <= 0.005)
    low, high = np.quantile(members, [0.005, 0.995])
    margin = (high - low) / 4
    return bool(value < low - margin or value > high + margin)


def _group(column: Array, row: int) -> Mask:
    """Mark the rows of a row's group: its category, or its fifth; nobody where it is missing."""
    if not _known(column)[row]:
        return np.zeros(len(column), dtype=np.bool_)
    if _is_label(column):
        return np.asarray(column == column[row])
    low, high = _fifth(column, row)
    above = True if low is None else column > low
    below = True if high is None else column <= high
    return np.asarray(_known(column) & above & below)


def _fifth(column: Floats, row: int) -> tuple[float | None, float | None]:
    """Return the ends of a value's fifth, the lower one excluded; the outer ends are open."""
    cuts = np.quantile(column[_known(column)], FIFTHS)
    place = int(np.searchsorted(cuts, column[row], side="left"))
    ends = [None, *cuts.tolist(), None]
    return ends[place], ends[place + 1]


# Truths.


def _target(table: Table, swap: Swap) -> Target:
    truths = [Truth(frozenset({swap.column}), swap.column)]
    for other in table:
        if other == swap.column or _is_date(table[other]):
            continue
        pair = Truth(frozenset({swap.column, other}), swap.column)
        if _is_unusual(table, swap, other):
            premise = _premise(other, table[other], swap.row)
            truths.append(dataclasses.replace(pair, premises=(premise,)))
        elif _is_strong(table, swap.column, other):
            truths.append(pair)
    return Target(swap.row, tuple(truths))


def _premise(name: str, column: Array, row: int) -> Premise:
    """Return the condition of a row's group; ends are values of members, outer ends are open."""
    members = column[_group(column, row)]
    if _is_label(column):
        return Premise(name, value=column[row])
    low, high = _fifth(column, row)
    return Premise(
        name,
        low=None if low is None else float(members.min()),
        high=None if high is None else float(members.max()),
    )


def _is_strong(table: Table, one: str, other: str) -> bool:
    """Return whether two columns are strongly related, over the rows that have both."""
    both = _known(table[one]) & _known(table[other])
    first, second = table[one][both], table[other][both]
    if _is_label(first) and _is_label(second):
        return _cramers_v(first, second) >= STRONG
    if _is_label(first) or _is_label(second):
        labels, numbers = (first, second) if _is_label(first) else (second, first)
        return _correlation_ratio(labels, _ranks(numbers)) >= STRONG
    return bool(abs(np.corrcoef(_ranks(first), _ranks(second))[0, 1]) >= STRONG)


def _ranks(values: Floats) -> Floats:
    """Give ranks, the same for equal values."""
    ordered = np.sort(values)
    ends = [np.searchsorted(ordered, values, side=side) for side in ("left", "right")]
    return np.asarray((ends[0] + ends[1]) / 2)


def _correlation_ratio(labels: Array, numbers: Floats) -> float:
    means = np.empty(len(numbers))
    for label in set(labels):
        means[labels == label] = numbers[labels == label].mean()
    return float(means.std() / numbers.std())


def _cramers_v(one: Array, other: Array) -> float:
    rows, columns = sorted(set(one)), sorted(set(other))
    counts = np.array([[np.sum((one == r) & (other == c)) for c in columns] for r in rows])
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    excess = float(((counts - expected) ** 2 / expected).sum() / counts.sum())
    return float(np.sqrt(excess / max(1, min(counts.shape) - 1)))


def _is_label(column: Array) -> bool:
    return column.dtype == object


def _is_date(column: Array) -> bool:
    return column.dtype.kind == "M"


def _known(column: Array) -> Mask:
    if _is_label(column):
        return np.array([value is not None for value in column], dtype=np.bool_)
    return np.asarray(~np.isnan(column))


# Tables.


def _classified(name: str) -> Table:
    """Return the features of a table of scikit-learn, and its class as one more column."""
    bunch = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")()
    features = zip(bunch.feature_names, bunch.data.T, strict=True)
    classes = np.array([str(one) for one in bunch.target_names], dtype=object)
    return {str(key): column.astype(np.float64) for key, column in features} | {
        "class": classes[bunch.target]
    }


def _diabetes() -> Table:
    bunch = importlib.import_module("sklearn.datasets").load_diabetes(scaled=False)
    features = zip(bunch.feature_names, bunch.data.T, strict=True)
    table = {str(key): column.astype(np.float64) for key, column in features}
    sex = np.array(["first", "second"], dtype=object)[(table["sex"] == 2).astype(np.int64)]
    return table | {"sex": sex, "progression": bunch.target.astype(np.float64)}


def _penguins() -> Table:
    """Return the raw table without identifiers, comments and columns of one value only."""
    frame = importlib.import_module("palmerpenguins").load_penguins_raw()
    numbers = [name for name in frame if name.endswith(("(mm)", "(g)", "(o/oo)"))]
    labels = ["Species", "Island", "Clutch Completion", "Sex"]
    table: Table = {name: frame[name].to_numpy(np.float64) for name in numbers}
    table |= {name: _texts(frame[name].tolist()) for name in labels}
    return table | {"Date Egg": np.array(frame["Date Egg"].tolist(), dtype="datetime64[D]")}


def _texts(values: list[object]) -> Array:
    texts = [value if isinstance(value, str) else None for value in values]
    return np.array(texts, dtype=object)


TABLES: dict[str, Callable[[], Table]] = {
    "iris": lambda: _classified("iris"),
    "wine": lambda: _classified("wine"),
    "breast_cancer": lambda: _classified("breast_cancer"),
    "diabetes": _diabetes,
    "penguins": _penguins,
}
KINDS: tuple[str, ...] = tuple(TABLES)
