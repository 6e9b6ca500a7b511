"""What counts against rows, and what is told of each (method 5c to 5e).

A property that does not fit the other columns is told in the context in which it does not; one
whose value lies outside, in the group in which it does. Where nothing counts, what is most
surprising in its whole column is given instead, so that there is always an answer.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from outlying.kernel.tally import Small
from outlying.method.dependence import Scores, residual_nats, total_nats
from outlying.method.measure import MUCH_STRONGER
from outlying.search.sweep import RareCells
from outlying.table.columns import Floats, Rows

#: A row that is not exceptional is unusual if it is stronger than this share of all rows.
UNUSUAL = 0.97
#: With it, the slope of the tail of strengths is told by this one.
INNER = 0.9
#: What the tail raises the line of exceptional rows by, at most, in nats: many wrong rows make a
#: tail look heavy, and must not hide each other.
LEEWAY = 0.5
#: Strengths closer than this are the same.
SAME_STRENGTH = 1e-9


def chance_extreme(rows: int) -> float:
    """Return how strong, in nats, the most extreme of so many ordinary rows is by counting."""
    return 0.8 * math.log(max(rows, 2))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """The strengths of all rows, and from which on a row is exceptional or unusual."""

    ordered: Floats
    exceptional: float
    unusual: float

    @classmethod
    def of(cls, strengths: Floats) -> Standing:
        """Draw the lines."""
        ordered = np.sort(strengths)
        inner, unusual = np.quantile(ordered, [INNER, UNUSUAL]).tolist()
        line = _raised(chance_extreme(len(ordered)), inner, unusual, len(ordered))
        return cls(ordered, line, max(unusual, SAME_STRENGTH))

    def at_least(self, strength: float) -> int:
        """Count the rows with a finding at least this strong."""
        return len(self.ordered) - int(
            np.searchsorted(self.ordered, strength - SAME_STRENGTH, "left")
        )


def _raised(line: float, inner: float, outer: float, rows: int) -> float:
    """Raise a line halfway to the strongest of so many rows, by an exponential tail of strengths.

    There is one where a tenth of the rows has a finding; less than 0 is no finding. It is never
    lowered: verdicts must not depend on how many weak findings other properties have.
    """
    if inner <= 0:
        return line
    slope = (outer - inner) / math.log((1 - INNER) / (1 - UNUSUAL))
    strongest = outer + slope * math.log((1 - UNUSUAL) * rows)
    return line + min(max((strongest - line) / 2, 0.0), LEEWAY)


Context: TypeAlias = tuple[int, ...]

#: The weaker of two kinds of evidence counts beyond this: whoever looks twice sees twice as much.
PRICE_OF_TWO = math.log(2)


def joined(outside: Floats, misfit: Floats) -> Floats:
    """Return what both kinds of evidence are worth together: their sum, less a price."""
    outside = np.maximum(outside, 0.0)
    return np.maximum(outside + misfit - PRICE_OF_TWO, np.maximum(outside, misfit))


def limited(outside: Floats, misfit: Floats, most: float) -> tuple[Floats, Floats]:
    """Return both kinds of evidence, worth no more than so much together: the weaker goes first."""
    is_outside = outside >= misfit
    stronger, weaker = np.minimum(np.maximum(outside, misfit), most), np.minimum(outside, misfit)
    is_more = joined(outside, misfit) > most
    left = np.where(stronger < most, np.minimum(weaker, most - stronger + PRICE_OF_TWO), 0.0)
    weaker = np.where(is_more, left, weaker)
    return np.where(is_outside, stronger, weaker), np.where(is_outside, weaker, stronger)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What counts against rows, by property: rows x properties."""

    outside: Floats  # how far the value lies outside; 0 or less where it does not
    group: Small  # the condition in whose group it lies outside; -1 is the whole table
    explained: Small  # the condition that explains some of it away; -1 where none does
    surprise: Floats  # in the whole column, whatever explains it
    scores: Scores  # its rank
    misfit: Floats  # how badly it fits the other columns; 0 where it does
    cell: Small  # the rare cell that it lies in; -1 where there is none
    cells: tuple[RareCells, ...]  # of each property
    weights: Floats  # what tells by scores how far a rank is from what the others say

    def context(self, row: int, place: int) -> Context:
        """Return the context that a property of a row does not fit."""
        own = self.cells[place].members[self.cell[row, place]]
        return tuple(own[own >= 0].tolist())

    def strengths(self, place: int) -> Floats:
        """Return the strength of findings on a property; 0 or less where there is none."""
        misfits, outside = self.misfit[:, place], self.outside[:, place]
        return np.where(misfits > 0, joined(outside, misfits), outside)

    @property
    def strongest(self) -> Floats:
        """The strength of each row: that of its strongest finding; 0 where nothing is judged."""
        each = map(self.strengths, range(len(self.cells)))  # one at a time, as rows are many
        return functools.reduce(np.maximum, each) if self.cells else np.zeros(len(self.outside))

    @property
    def combination(self) -> Floats:
        """How odd each row is all over: what all properties add, whatever explains it."""
        given = total_nats(self.scores, self.weights)
        total: Floats = functools.reduce(np.add, self.surprise.T, given)
        return total

    @property
    def added(self) -> Floats:
        """What each property adds: its surprise, and that of its rank given all others."""
        return self.surprise + residual_nats(self.scores, self.weights)

    def of_rows(self, rows: Rows) -> Evidence:
        """Return the evidence against some rows."""
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in _ARRAYS}
        return dataclasses.replace(self, **arrays)


_ARRAYS = ("outside", "group", "explained", "surprise", "scores", "misfit", "cell")


class Claim(NamedTuple):
    """A property of the model that is odd in a context of conditions of the model."""

    property: int
    context: Context
    strength: float


class Claims(NamedTuple):
    """What is to be told of a row: what was found, and the surprise of each property."""

    found: tuple[Claim, ...]
    surprise: tuple[tuple[int, float], ...]  # property and ln rarity, the rarest first


def claims(evidence: Evidence) -> list[Claims]:
    """Return what is to be told of each row."""
    return [_claims(evidence, row) for row in range(len(evidence.outside))]


def _claims(evidence: Evidence, row: int) -> Claims:
    surprise, misfit = evidence.surprise[row], evidence.misfit[row]
    outside = np.maximum(evidence.outside[row], 0.0)  # less than 0: not outside at all
    strongest = joined(outside, misfit)
    found: dict[tuple[int, Context], Claim] = {}
    for place in np.flatnonzero(outside + misfit > 0).tolist():
        parts = []
        if misfit[place] > 0:
            parts.append((float(misfit[place]), evidence.context(row, place)))
        if outside[place] > 0:
            parts.append((float(outside[place]), _group(evidence, row, place)))
        # The stronger part tells of all that counts; where a value is not much rarer than in its
        # whole column, it needs no context.
        if outside[place] > misfit[place] or surprise[place] + MUCH_STRONGER >= misfit[place]:
            parts.reverse()
        strengths = [float(strongest[place]), parts[-1][0]]
        for strength, (_, context) in zip(strengths, parts, strict=False):
            found.setdefault((place, context), Claim(place, context, strength))
    order = np.argsort(-surprise, kind="stable")
    order = order[surprise[order] > 0]
    rarest = zip(order.tolist(), surprise[order].tolist(), strict=True)
    return Claims(tuple(found.values()), tuple(rarest))


def _group(evidence: Evidence, row: int, place: int) -> Context:
    """Return the group in which a value lies outside: what explains some of it, first of all."""
    named = evidence.explained[row, place], evidence.group[row, place]
    return next(((int(item),) for item in named if item >= 0), ())
