"""Whether new rows as a whole have moved away from those of a model, column by column."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from outlying.fitted.newcomers import NewPopulation
from outlying.search.memory import MemoryPopulation
from outlying.table.columns import Column, Floats
from outlying.table.values import plain, printable, text_of, value_of

#: Fewer new rows say nothing of a whole; so many shares of a column are compared.
LEAST_ROWS, BINS, MOST_LABELS = 30, 10, 12
#: From this population stability index on a column has moved, as is usual to say.
MOVED = 0.2
#: And more than chance moves one of a hundred columns: so many standard deviations.
_SURE = 4.5
_LEAST_SHARE = 1e-4
_BLOCKS = "▁▂▃▄▅▆▇█"


@dataclasses.dataclass(frozen=True, slots=True)
class Drift:
    """A column that has moved: shares of the rows of the model, and of the new ones."""

    column: str
    index: float  # of population stability
    labels: tuple[str, ...]
    before: tuple[float, ...]
    now: tuple[float, ...]

    @property
    def most(self) -> int:
        """The place where the shares differ most."""
        return max(range(len(self.now)), key=lambda k: abs(self.now[k] - self.before[k]))

    def __str__(self) -> str:
        k = self.most
        shares = f"{self.before[k]:.1%} before, {self.now[k]:.1%} now"
        name = printable(self.column)
        return f"{name} has moved: {self.labels[k]} in {shares} {self.picture}"

    @property
    def picture(self) -> str:
        """The shares before and now as block characters."""
        top = max(*self.before, *self.now)
        both = (
            "".join(_BLOCKS[round(7 * x / top)] for x in own) for own in (self.before, self.now)
        )
        return " > ".join(both)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as it stands in the JSON result."""
        return {
            "column": self.column,
            "stability_index": self.index,
            "groups": list(self.labels),
            "before": list(self.before),
            "now": list(self.now),
        }


def drifts(population: MemoryPopulation) -> tuple[Drift, ...]:
    """Return the columns that have moved, the farthest first; none of rows judged by themselves."""
    found, new = [], population.table
    if not isinstance(population, NewPopulation) or new.rows < LEAST_ROWS:
        return ()
    for own in population.base.selection().columns:
        if own.name in population.ahead:
            continue
        moved = _drift(own, new.column(own.name))
        if moved is not None:
            found.append(moved)
    return tuple(sorted(found, key=lambda item: (-item.index, item.column)))


def _drift(own: Column, new: Column) -> Drift | None:
    labels, before, now = _counts(own, new)
    old, fresh = before.sum(), now.sum()
    shares = [np.maximum(counts / counts.sum(), _LEAST_SHARE) for counts in (before, now)]
    index = float(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum())
    # Where nothing has moved, the index times the rows is as chi-square (Yurdakul 2018).
    free = max(1, len(labels) - 1)
    usual = free * (1 - 2 / (9 * free) + _SURE * math.sqrt(2 / (9 * free))) ** 3
    if index < MOVED or index * old * fresh / (old + fresh) < usual:
        return None
    both = (tuple((counts / counts.sum()).tolist()) for counts in (before, now))
    return Drift(own.name, index, tuple(labels), *both)


def _counts(own: Column, new: Column) -> tuple[list[str], Floats, Floats]:
    """Count the rows of both in the same groups: tenths of numbers, frequent labels, gaps."""
    names = [*(_ranges(own) if own.is_numeric else _frequent(own)), "no value"]
    counts = []
    for column in (own, new):
        if own.is_numeric and column.is_numeric:
            places = np.searchsorted(_borders(own), column.values, "right")
        else:
            known = {name: k for k, name in enumerate(names[:-2])}
            assert not column.is_numeric  # noqa: S101 - as the column of the model is none
            codes = [known.get(str(label), len(names) - 2) for label in column.labels]
            places = np.array([*codes, 0])[column.codes]
        places = np.where(column.missing(), len(names) - 1, places)
        counts.append(np.bincount(places, minlength=len(names)).astype(np.float64))
    kept = np.flatnonzero(counts[0] + counts[1])
    return [names[k] for k in kept.tolist()], counts[0][kept], counts[1][kept]


def _borders(own: Column) -> Floats:
    assert own.is_numeric  # noqa: S101 - asked of such only
    known = own.values[~own.missing()]
    cuts = np.quantile(known, np.arange(1, BINS) / BINS) if len(known) else np.zeros(1)
    return np.unique(cuts)


def _ranges(own: Column) -> Iterator[str]:
    borders = [text_of(value_of(own.form, float(x))) for x in _borders(own)]
    yield f"below {borders[0]}"
    for low, high in itertools.pairwise(borders):
        yield f"{low} to {high}"
    yield f"{borders[-1]} and more"


def _frequent(own: Column) -> Iterator[str]:
    assert not own.is_numeric  # noqa: S101 - asked of such only
    totals = np.bincount(own.codes[own.codes >= 0], minlength=len(own.labels))
    order = np.argsort(-totals, kind="stable")[:MOST_LABELS]
    yield from (str(plain(own.labels[k])) for k in order.tolist())
    yield "other labels"
