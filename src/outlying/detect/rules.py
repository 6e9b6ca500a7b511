"""The search for rules that tell the rows of a set from all others.

A rule is a group of rows by up to four conditions, those of the engine: natural intervals, windows
of ranks, categories, gaps; and that a relation between columns is broken. The conditions as rows
of 0 and 1 times themselves, over all rows and over those of the set, count every group of two
conditions at once; the best of these grow by further conditions, and the ends of their intervals
are moved to where they tell most. The best rule is taken, its rows are laid aside, and the next one
is sought among what is left.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.api import Explainer
from outlying.derived.relations import Relation
from outlying.errors import RowError
from outlying.method.distances import EXPECTED
from outlying.results.sets import RelationCondition, Rule, SetExplanation
from outlying.search.cells import NumericAttribute
from outlying.search.evaluation import Groups
from outlying.table.columns import Floats, Mask
from outlying.table.table import Condition
from outlying.table.values import value_of

#: A rule by chance alone is told in one of so many tables of noise.
LEVEL = 0.01
#: Conditions that are compared in pairs at most, and rules that grow at once.
MOST_CONDITIONS, BEAM = 600, 12
#: A further condition must tell so many nats more than it costs, or it is left out.
LEAST_GAIN = 2.0
#: Ends of an interval are tried at so many ranks, then at so many between the best.
ENDS = 48
_BLOCK = 16_384  # rows that are multiplied at once

Counts: TypeAlias = npt.NDArray[np.float64]
#: Conditions by number, after those of the table that relations are broken; or a numeric attribute
#: between two ends, both included.
Part: TypeAlias = int | tuple[int, float, float]
Parts: TypeAlias = tuple[Part, ...]


def explained_set(
    explainer: Explainer, inside: Mask, top: int = 5, whole: int | None = None
) -> SetExplanation:
    """Explain the rows of a mask; of a stream `whole` is how many rows there are."""
    count, total = int(inside.sum()), len(inside)
    if not 0 < count < total:
        none = "no row" if not count else "every row"
        raise RowError(f"{none} is in the set; some must be, and some not")
    search = _Search(explainer, inside)
    found = [] if search.is_empty else list(search.rules(top))
    told, covered = [], np.zeros(total, dtype=bool)
    for parts in found:
        mask = search.mask(parts)
        new = int((mask & inside & ~covered).sum())
        covered |= mask
        own = int(mask.sum()), int((mask & inside).sum())
        conditions = tuple(search.condition(part) for part in parts)
        width = -statistics.NormalDist().inv_cdf(0.025 / search.possible(len(parts)))
        told.append(Rule.of(conditions, *own, new, count, total, width))
    tried = sum(search.possible(size + 1) for size in range(search.depth))
    held = int((covered & inside).sum())
    return SetExplanation(tuple(told), explainer.population, count, held, tried, whole or total)


@dataclasses.dataclass(frozen=True, eq=False)
class _Exceptions:
    """The rows that break a relation, on one side or on any."""

    condition: RelationCondition
    rows: Mask
    owner: int


class _Search:
    """The conditions of a table, and the rows that are still to be told apart."""

    def __init__(self, explainer: Explainer, inside: Mask) -> None:
        prepared = explainer.in_memory("explain_set()").prepared
        self.groups: Groups = prepared.groups
        self.cells, self.attributes = prepared.model().cells, self.groups.attributes
        self.inside, self.left = inside, np.ones(len(inside), dtype=bool)
        self.depth = explainer.options.max_conditions
        self.exceptions = list(self._exceptions(explainer))
        own = np.array([item.owner for item in self.exceptions], dtype=np.int32)
        self.all_owners = np.concatenate([self.cells.owners, own]).astype(np.int32)
        self.numbers = self._numbers()
        self.owners = self.all_owners[self.numbers]
        self.price = math.log(max(len(self.numbers), 2))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to make rules of."""
        return not len(self.numbers) or self.depth == 0

    def possible(self, size: int) -> int:
        """Return how many rules of a size there are, with an interval of any ends in each."""
        return math.comb(len(self.numbers), size) * ENDS**2

    def _numbers(self) -> npt.NDArray[np.int64]:
        """Return the conditions that are tried; of too many, those that tell most alone."""
        every = np.arange(len(self.all_owners))
        if len(every) > MOST_CONDITIONS:
            masks = (self._mask(int(number)) for number in every)
            own = np.array([(m.sum(), (m & self.inside).sum()) for m in masks], dtype=float)
            told = gain(own[:, 0], own[:, 1], len(self.inside), int(self.inside.sum()))
            every = np.sort(np.argsort(-told, kind="stable")[:MOST_CONDITIONS])
        return every

    def _exceptions(self, explainer: Explainer) -> Iterator[_Exceptions]:
        """Return the rows that are not as relations say, of columns that rules may be made of."""
        for place, attribute in enumerate(self.attributes):
            relation = attribute.column.origin
            if not isinstance(relation, Relation) or not isinstance(attribute, NumericAttribute):
                continue
            if not all(map(explainer.options.compares_by, relation.used)):
                continue
            away = attribute.column.values
            for side in relation.sides:
                way = side.removeprefix("far ")
                least = EXPECTED if way == side else 2 * EXPECTED
                off = {"above": away, "below": -away, "off": np.abs(away)}[way] > least
                names = relation.parent, relation.given, side
                told = RelationCondition(*names, relation.exception_text(side), relation.sentence)
                if off.any() and not off.all():
                    yield _Exceptions(told, off, -1 - place)

    # --- rules ----------------------------------------------------------------------------------

    def rules(self, top: int) -> Iterator[Parts]:
        """Find rules one after the other, each among the rows that no other one covers."""
        for _ in range(top):
            best = self._best()
            if best is None:
                return
            yield best
            self.left &= ~self.mask(best)

    def _best(self) -> Parts | None:
        grown = [self._shortened(self._refined(parts)) for parts in self._grown()]
        if not grown:
            return None
        best = max(grown, key=lambda parts: (round(self._score(parts), 9), -len(parts)))
        is_found = chance(self._told(best)) * self.possible(len(best)) < LEVEL / self.depth
        return best if is_found else None

    def _score(self, parts: Parts) -> float:
        return self._told(parts) - self.price * len(parts)

    def _told(self, parts: Parts) -> float:
        mask = self.mask(parts) & self.left
        own = np.array([mask.sum()]), np.array([(mask & self.inside).sum()])
        return float(gain(*own, *self._totals())[0])

    def _totals(self) -> tuple[int, int]:
        return int(self.left.sum()), int((self.inside & self.left).sum())

    def _grown(self) -> list[Parts]:
        """Return the best rules of one and two conditions, and what they grow into."""
        totals, size = self._totals(), len(self.numbers)
        if not 0 < totals[1] < totals[0]:
            return []
        told = gain(*self._counted(), *totals)
        told[self.owners[:, None] == self.owners[None, :]] = 0.0
        alone = gain(*self._alone, *totals)
        np.fill_diagonal(told, alone)
        priced = told - self.price * (2 - np.eye(size))
        priced = np.where(np.tri(size, dtype=bool).T, priced, -np.inf)
        if self.depth < 2:
            priced = np.where(np.eye(size, dtype=bool), priced, -np.inf)
        order = np.argsort(-priced, axis=None, kind="stable")[:BEAM]
        beam: list[Parts] = []
        for place in order.tolist():
            first, second = divmod(place, size)
            both = (int(self.numbers[first]), int(self.numbers[second]))
            beam.append(both[:1] if first == second else both)
        single = int(self.numbers[int(np.argmax(alone))])
        found = dict.fromkeys([*beam, (single,)])
        for parts in beam:
            found |= dict.fromkeys(self._longer(parts))
        return list(found)

    def _longer(self, parts: Parts) -> Iterator[Parts]:
        """Add one condition after the other, as long as each tells more than it costs."""
        while len(parts) < self.depth:
            mask = self.mask(parts) & self.left
            used = {int(self._owner(part)) for part in parts}
            told = gain(*self._counts_of(mask), *self._totals())
            told[np.isin(self.owners, list(used))] = 0.0
            place = int(np.argmax(told))
            if told[place] < self._told(parts) + self.price + LEAST_GAIN:
                return
            parts = (*parts, int(self.numbers[place]))
            yield parts

    def _counted(self) -> tuple[Counts, Counts]:
        """Count all groups of two conditions, and those of the set among them: Gram products."""
        size = len(self.numbers)
        rows, hits = np.zeros((2, size, size))
        for matrix, is_in in self._blocks(self.left):
            rows += matrix @ matrix.T
            own = matrix[:, is_in]
            hits += own @ own.T
        self._alone = np.diag(rows).copy(), np.diag(hits).copy()
        return rows, hits

    def _counts_of(self, chosen: Mask) -> tuple[Counts, Counts]:
        rows, hits = np.zeros((2, len(self.numbers)))
        for matrix, is_in in self._blocks(chosen):
            rows += matrix.sum(1)
            hits += matrix[:, is_in].sum(1)
        return rows, hits

    def _blocks(self, chosen: Mask) -> Iterator[tuple[npt.NDArray[np.float32], Mask]]:
        """Return the conditions of some rows as 0 and 1, and which of these are in the set."""
        rows = np.flatnonzero(chosen)
        spans = self.cells.spans
        for start in range(0, len(rows), _BLOCK):
            some = rows[start : start + _BLOCK]
            matrix = np.empty((len(self.numbers), len(some)), dtype=np.float32)
            codes: dict[int, Any] = {}
            for place, number in enumerate(self.numbers.tolist()):
                if number >= len(spans):
                    matrix[place] = self._mask(number)[some]
                    continue
                span = spans[number]
                if span.attribute not in codes:
                    codes[span.attribute] = self.groups.codes(span.attribute)[some]
                own = codes[span.attribute]
                np.logical_and(
                    own >= span.low, own <= span.high, out=matrix[place], casting="unsafe"
                )
            yield matrix, self.inside[some]

    # --- parts of rules -------------------------------------------------------------------------

    def _owner(self, part: Part) -> int:
        owners = (
            (self.cells.families, part[0]) if isinstance(part, tuple) else (self.all_owners, part)
        )
        return int(owners[0][owners[1]])

    def _numeric(self, part: Part) -> int | None:
        """Return the attribute whose interval a part is; None where it is none."""
        if isinstance(part, tuple):
            return part[0]
        span = self.cells.spans[part] if part < len(self.cells.spans) else None
        if span is None or span.high == 0:
            return None
        is_numeric = isinstance(self.attributes[span.attribute], NumericAttribute)
        return span.attribute if is_numeric else None

    def _mask(self, number: int) -> Mask:
        known = len(self.cells.spans)
        return self.groups.mask(number) if number < known else self.exceptions[number - known].rows

    def mask(self, parts: Parts) -> Mask:
        """Return which rows a rule covers."""
        found = np.ones(len(self.inside), dtype=bool)
        for part in parts:
            if isinstance(part, tuple):
                own = self._values(part[0])
                found &= (own >= part[1]) & (own <= part[2])
            else:
                found &= self._mask(part)
        return found

    def _values(self, place: int) -> Floats:
        attribute = self.attributes[place]
        assert isinstance(attribute, NumericAttribute)  # noqa: S101 - or it had no ends
        return attribute.column.values

    def condition(self, part: Part) -> Condition | RelationCondition:
        """Describe a part of a rule by what the rows that satisfy it hold."""
        if not isinstance(part, tuple):
            known = len(self.cells.spans)
            if part >= known:
                return self.exceptions[part - known].condition
            return self.groups.condition(part).condition
        attribute = self.attributes[part[0]]
        values = self._values(part[0])
        held = values[(values >= part[1]) & (values <= part[2])]
        ends = (value_of(attribute.column.form, float(end)) for end in (held.min(), held.max()))
        return Condition(attribute.column.name, "interval", *ends)

    def _refined(self, parts: Parts) -> Parts:
        """Move the ends of intervals to where the rule tells most, twice round."""
        for _ in range(2):
            for number, part in enumerate(parts):
                place = self._numeric(part)
                if place is None:
                    continue
                others = (*parts[:number], *parts[number + 1 :])
                new = (*parts[:number], self._interval(place, others), *parts[number + 1 :])
                if self._told(new) > self._told(parts):
                    parts = new
        return parts

    def _interval(self, place: int, others: Parts) -> Part:
        """Return the interval of an attribute that tells most beside other parts of a rule."""
        rows = self.mask(others) & self.left & ~np.isnan(self._values(place))
        values, is_in = self._values(place)[rows], self.inside[rows]
        if not len(values):
            return place, -math.inf, math.inf
        order = np.argsort(values, kind="stable")
        values, hits = values[order], np.concatenate([[0], np.cumsum(is_in[order])])
        firsts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        borders = np.append(firsts, len(values))  # ranks at which a value begins
        lows = highs = _spread(np.arange(len(borders)))
        for _ in range(2):
            low, high = borders[lows][:, None], borders[highs][None, :]
            told = gain(high - low, hits[high] - hits[low], *self._totals())
            told[high <= low] = -1.0
            first, last = divmod(int(np.argmax(told)), len(highs))
            best = float(values[low[first, 0]]), float(values[high[0, last] - 1])
            lows, highs = _between(lows, first), _between(highs, last)
        return place, *best

    def _shortened(self, parts: Parts) -> Parts:
        """Leave out each condition without which a rule tells as much, or nearly."""
        while len(parts) > 1:
            shorter = [(*parts[:k], *parts[k + 1 :]) for k in range(len(parts))]
            best = max(shorter, key=self._told)
            if self._told(best) + self.price + LEAST_GAIN < self._told(parts):
                return parts
            parts = self._refined(best)
        return parts


def _spread(places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return at most so many of the places, evenly, both ends among them."""
    if len(places) <= ENDS:
        return places
    some: npt.NDArray[np.int64] = places[
        np.unique(np.linspace(0, len(places) - 1, ENDS).round().astype(int))
    ]
    return some


def _between(places: npt.NDArray[np.int64], best: int) -> npt.NDArray[np.int64]:
    """Return places from the one before the best to the one after it."""
    low, high = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]
    return _spread(np.arange(low, high + 1))


def gain(rows: Any, hits: Any, total: int, count: int) -> Counts:
    """Return the nats by which knowing a group tells who is in the set; 0 where it has fewer."""
    rows, hits = np.asarray(rows, dtype=float), np.asarray(hits, dtype=float)
    others, missed = total - rows, count - hits
    told = _likelihood(hits, rows) + _likelihood(missed, others)
    told -= _likelihood(np.array(count, dtype=float), np.array(total, dtype=float))
    return np.where(hits * total > rows * count, np.maximum(told, 0.0), 0.0)


def _likelihood(hits: Counts, rows: Counts) -> Counts:
    """Return the log-likelihood of so many hits among rows at their own rate."""
    rate = hits / np.maximum(rows, 1.0)
    other = 1.0 - rate
    first = hits * np.log(np.where(rate > 0, rate, 1.0))
    return first + (rows - hits) * np.log(np.where(other > 0, other, 1.0))


def chance(told: float) -> float:
    """Return how probable so many nats are by chance, at most (Chernoff 1952)."""
    return math.exp(-told)
