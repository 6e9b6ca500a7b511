"""How far values lie outside: of their column, and of groups that have to do with it (method 5d).

What the row's own group makes ordinary is explained away: a rent is no odd amount, though hardly
any payment is as large. Rows that are judged need not be those that groups are made of.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.tally import NearbyMembers, Small, shared
from outlying.method.distances import EXPECTED
from outlying.method.measure import CONDITION_PENALTY
from outlying.method.surprise import ColumnFacts, Group
from outlying.search.cells import Cells, Codes, Numbers
from outlying.search.evidence import chance_extreme
from outlying.table.columns import Floats, Mask

#: A context counts in value space if the property is so much tighter there.
TIGHTER = math.exp(0.2)
#: The lift counts in rank space; here, half of it.
SHARE_OF_LIFT = 0.5
#: Nearest values that are asked what they have in common, and how many must have it.
NEAREST, SHARED = 10, 5
#: How much more frequent a condition must be among them than in the group.
CONCENTRATED = 3.0
#: Others lie as far out as a value does if they are so much of the way.
AS_FAR = 0.5
#: A group of fewer rows explains nothing.
LEAST_GROUP = 20
#: ln of the rarity up to which a value is ordinary.
ORDINARY = math.log(4)

Places: TypeAlias = npt.NDArray[np.int64]
Context: TypeAlias = tuple[int, ...]


def expected_extreme(known: int) -> float:
    """Return ln rarity of the most extreme of so many ordinary values: what does not count.

    A Parzen window holds a share of about n**-0.2 of them, which leaves a rarity of 0.3 n**0.8.
    """
    return max(chance_extreme(known) + math.log(0.3), 0.0)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Outside:
    """How far the values of rows lie outside, on one property: the strongest finding of each."""

    strengths: Floats  # 0 or less where there is none: how far the value is from counting
    condition: Small  # its context; -1 is the whole table
    explained: Small  # the condition that explains some of it away; -1 where none does
    surprise: Floats  # in the whole column, whatever explains it
    bar: float  # what does not count of it

    @classmethod
    def of(cls, surprise: Floats, bar: float) -> Outside:
        """Begin without any finding."""
        condition, explained = np.full((2, len(surprise)), -1, dtype=np.int32)
        return cls(np.minimum(surprise - bar, 0.0), condition, explained, surprise, bar)

    def take(
        self, rows: Places, strengths: Floats, rest: Floats, by: Small, context: Context
    ) -> None:
        """Take findings, or what is left of them, where they are stronger."""
        left = np.minimum(strengths, rest)
        better = left > np.maximum(self.strengths[rows], 0.0)
        chosen = rows[better]
        self.strengths[chosen] = left[better]
        self.condition[chosen] = context[0] if context else -1
        self.explained[chosen] = np.where(rest < strengths, by, -1)[better]


class NumberJudge:
    """Judges numbers by the groups of a table."""

    def __init__(
        self,
        numbers: Floats,
        cells: Cells,
        codes: tuple[Codes, ...],
        family: int,
        lifts: Floats,
        *,
        price: float = 0.0,
        usual: float | None = None,
    ) -> None:
        """Take all rows of the table, and how much tighter the property is given a condition.

        Of a relation, `price` is what its columns cost, and `usual` the usual distance.
        """
        self.order = _by_value(numbers)
        self.numbers, self.ordered = numbers, numbers[self.order]
        self.is_known = ~np.isnan(numbers)
        self.cells, self.family, self.codes = cells, family, codes
        self.is_relation = usual is not None
        self.facts = ColumnFacts(self.ordered, usual)
        self.bar = expected_extreme(len(self.ordered)) + price
        self.lifts = lifts
        self.contexts: list[Context] = [()]
        related = np.flatnonzero(lifts >= TIGHTER)
        self.contexts += [(int(condition),) for condition in related]
        self._groups: dict[Context, tuple[Places, Group] | None] = {}
        self._constants: dict[Context, float] = {}  # the only value of a group
        self._tight: dict[Context, float] = {}

    def group(self, context: Context) -> tuple[Places, Group] | None:
        """Return the places of a group in the order of values, and the group; None if too small."""
        if context not in self._groups:
            places = self._members(context)
            values = self.ordered[places]
            is_large = len(values) >= LEAST_GROUP
            fits = is_large and (values[0] < values[-1] or (self.is_relation and not context))
            if is_large and not fits:
                self._constants[context] = float(values[0])
            self._groups[context] = (places, Group(values, self.facts)) if fits else None
        return self._groups[context]

    def _members(self, context: Context) -> Places:
        """Return the places of a group: those of a larger one, of the smallest that is known."""
        places, left = np.arange(len(self.ordered)), context
        for condition in context if len(context) > 1 else ():
            held = self.group((condition,))
            if held is not None and len(held[0]) < len(places):
                places, left = held[0], tuple(other for other in context if other != condition)
        for condition in left:
            places = places[self.cells.mask(condition, self.codes, self.order[places])]
        return places

    def among(self, rows: Places, value: float) -> float:
        """Return how much odder a number is among some rows; below 0: less odd, -inf: not at all.

        One in all rows may lie so far outside by chance: less is taken off, more counts beyond.
        """
        ordered = np.sort(self.numbers[rows])
        if ordered[0] == ordered[-1]:
            return -math.inf if ordered[0] == value else 0.0
        group, one = Group(ordered, self.facts), np.array([value])
        if group.log_rarity(one)[0] < ORDINARY:
            return -math.inf
        return float(group.distance(one, math.log(len(self.ordered)))[0])

    def among_members(self, context: Context, values: Numbers) -> Floats:
        """Return the same of numbers that do not fit in a context, by their distance from it."""
        held, order, found = self.group(context), np.argsort(values), np.zeros(len(values))
        if held is not None:
            found[order] = held[1].distance(values[order], math.log(len(self.ordered)))
        return found

    def shared_codes(self, numbers: Floats) -> Places:
        """Return the rows whose number is a code for unknown: far outside, as in several others.

        It lies further outside of the whole column than one in all rows would.
        """
        held = self.group(())
        if held is None or self.is_relation:
            return np.zeros(0, dtype=np.int64)
        values, counts = np.unique(self.ordered, return_counts=True)
        values = values[counts >= SHARED]
        is_far = np.maximum(*held[1].beyond(values)) >= math.log(len(self.ordered))
        return np.flatnonzero(np.isin(numbers, values[is_far]))

    def __call__(self, numbers: Numbers, codes: tuple[Codes, ...]) -> Outside:
        """Judge rows: in the whole column, and in groups in which it is tighter."""
        known = self.order if numbers is self.numbers else _by_value(numbers)
        surprise, whole = np.zeros(len(numbers)), self.group(())
        if whole is not None:
            surprise[known] = whole[1].surprise(numbers[known])[1]
        found = Outside.of(surprise, self.bar)
        for context in self.contexts if whole is not None else ():
            held = self.group(context)
            if held is None:
                continue
            some = known
            if context:  # distance counts there; what is rare inside of a group, rank space sees
                some = known[self.cells.mask(context[0], codes)[known]]
                below, above = held[1].outer(numbers[some])
                some = np.concatenate([some[:below], some[above:]])
                some = some[held[1].tail(numbers[some]) > 0]
            nats = held[1].surprise(numbers[some])[1] if context else surprise[some]
            strengths = nats + self.bonus(context) - self.bar
            hot = strengths > np.maximum(found.strengths[some], 0.0)
            if self.facts.usual is not None:  # what a relation expects is not odd
                hot &= np.abs(numbers[some]) > EXPECTED * self.facts.usual
            if hot.any():
                some = some[hot]
                rest, by = self._rest(context, held, some, numbers[some], codes)
                if self.is_relation:  # a group makes it ordinary, or says nothing
                    rest = np.where(rest > self.bar, np.inf, rest)
                found.take(some, strengths[hot], rest - self.bar, by, context)
        return found

    def bonus(self, context: Context) -> float:
        """Return what a context adds: its lift, less a price."""
        lift = self.lifts[context[0]] if context else 1.0
        return SHARE_OF_LIFT * (math.log(lift) - CONDITION_PENALTY * len(context))

    def _rest(
        self,
        context: Context,
        held: tuple[Places, Group],
        rows: Places,
        values: Floats,
        codes: tuple[Codes, ...],
    ) -> tuple[Floats, Small]:
        """Return what is left of surprise once told with one more condition of the row.

        It is one that rows with the nearest values share, more than others of the group; inf where
        there is none.
        """
        rest, by = np.full(len(rows), np.inf), np.full(len(rows), -1, dtype=np.int32)
        places, group = held
        taken = {self.family, *(int(self.cells.owners[c]) for c in context)}
        members = self.order[places]
        around = _Neighbourhoods.of(group.ordered, values).around(
            np.array([own[rows] for own in codes]), np.array([own[members] for own in self.codes])
        )
        skipped = np.isin(self.cells.families, list(taken))
        found, conditions = shared(
            around, self.cells.listing, skipped, least=SHARED, concentration=CONCENTRATED
        )
        for condition in np.unique(conditions).tolist():
            where = found[conditions == condition]
            left = self._left(context, condition, values[where])
            better = left < rest[where]
            rest[where[better]], by[where[better]] = left[better], condition
        return rest, by

    def most(
        self, context: Context, rows: Places, numbers: Floats, codes: tuple[Codes, ...]
    ) -> Floats:
        """Return how far outside rows are at most in a context, where they share a condition.

        So many of the context share it that lie as far out.
        """
        held, found = self.group(context), np.full(len(rows), np.inf)
        if held is None or not len(rows):
            return found
        order = np.argsort(numbers[rows], kind="stable")
        some = rows[order]
        rest, by = self._rest(context, held, some, numbers[some], codes)
        for place in np.flatnonzero(by >= 0).tolist():
            if self._as_far(context, int(by[place]), numbers[some[place : place + 1]])[0]:
                found[order[place]] = rest[place] - self.bar
        return found

    def _as_far(self, context: Context, condition: int, values: Floats) -> Mask:
        """Return whether rows of a group with one more condition lie as far out as values do."""
        held = self.group(context)
        if held is None:
            return np.zeros(len(values), dtype=bool)
        places, group = held
        alike = self.cells.mask(condition, self.codes, self.order[places])
        above, below = (np.sort(own) for own in group.excess(group.ordered[alike]))
        beyond = group.excess(values)
        return np.logical_or(
            *(
                (own > 0) & (len(some) - np.searchsorted(some, AS_FAR * own) >= SHARED)
                for some, own in zip((above, below), beyond, strict=True)
            )
        )

    def explained(self, context: Context, values: Numbers, codes: Sequence[Codes]) -> Mask:
        """Return which numbers, odd in a context, are ordinary given one more condition of the row.

        Where too few rows satisfy both to tell, it must tell more of the property than the context.
        """
        found, order = np.zeros(len(values), dtype=bool), np.argsort(values, kind="stable")
        if self.is_relation:
            return found
        taken = self.cells.owners[list(context)].tolist()
        is_asked = self.cells.held(codes) & (self.lifts >= TIGHTER)
        for condition in np.flatnonzero(is_asked).tolist():
            if self.cells.owners[condition] in taken:
                continue
            some = order[self.cells.mask(condition, codes)[order] & ~found[order]]
            some = some[self._are_ordinary((condition,), values[some])]
            if not len(some):
                continue
            own = tuple(sorted((*context, condition)))
            if self.group(own) is not None or own in self._constants:
                found[some] = self._are_ordinary(own, values[some])
            else:
                tells_more = self._tightness((condition,)) >= self._tightness(context)
                found[some] = tells_more or self._as_far(context, condition, values[some])
        return found

    def _are_ordinary(self, context: Context, values: Floats) -> Mask:
        """Return which values are ordinary in a group: of one that is always the same, only it."""
        held = self.group(context) if len(values) else None
        if held is None:
            return np.equal(values, self._constants.get(context, math.nan))
        return np.less(held[1].log_rarity(values), ORDINARY)

    def _surprise_left(self, context: Context, values: Floats) -> Floats:
        """Return the surprise of values in a group; 0 where they are ordinary."""
        held, is_ordinary = self.group(context), self._are_ordinary(context, values)
        surprise = np.inf if held is None else held[1].surprise(values)[1]
        return np.where(is_ordinary, 0.0, surprise)

    def _tightness(self, context: Context) -> float:
        """Return how much closer to each other the members of a group are, in ranks, than all."""
        if context not in self._tight:
            held, self._tight[context] = self.group(context), math.inf
            if held is not None:
                ranks, reach = self._ranks[held[0]], len(self.ordered) / 64
                near, every = (
                    np.searchsorted(some, ranks + reach, "right")
                    - np.searchsorted(some, ranks - reach, "left")
                    for some in (ranks, self._ranks)
                )
                share = near.sum() / len(ranks) * len(self._ranks) / every.sum()
                self._tight[context] = float(share)
        return self._tight[context]

    @functools.cached_property
    def _ranks(self) -> Places:
        """The rank of each value, in their order; equal ones have the same."""
        return np.searchsorted(self.ordered, self.ordered, "left")

    def _left(self, context: Context, condition: int, values: Floats) -> Floats:
        """Return the surprise of values in a group with one more condition.

        Where that group is too small to tell, the condition alone explains, or nothing does.
        What is always the same explains nothing but itself.
        """
        own = tuple(sorted((*context, condition)))
        if self.group(own) is None and own not in self._constants:
            own = (condition,)
        return self._surprise_left(own, values)


class CategoryJudge:
    """Judges categories, and gaps, by how often they occur in the whole table."""

    def __init__(
        self, numbers: Numbers, cells: Cells, codes: tuple[Codes, ...], family: int, count: int
    ) -> None:
        """Take all rows of the table, and the number of categories."""
        self.numbers, self.cells, self.codes, self.family = numbers, cells, codes, family
        totals = np.bincount(numbers[numbers >= 0], minlength=count + 1)
        self.totals, self.known, self.is_known = totals, int(totals.sum()), numbers >= 0
        self.bar = expected_extreme(self.known)

    def __call__(self, numbers: Numbers, codes: tuple[Codes, ...]) -> Outside:
        """Judge rows by the frequencies of their categories."""
        surprise = self.surprise(numbers)
        found, kinds = Outside.of(surprise, self.bar), np.minimum(numbers, len(self.totals) - 1)
        for kind in np.unique(kinds[surprise > self.bar]).tolist():
            rows = np.flatnonzero(kinds == kind)
            rest, by = self._rest(kind, rows, codes)
            found.take(rows, surprise[rows] - self.bar, rest - self.bar, by, ())
        return found

    def among(self, rows: Places, value: float) -> float:
        """Return -inf where a category is ordinary among some rows of the table, else 0."""
        counts = np.bincount(self.numbers[rows], minlength=len(self.totals))
        rarity = _log_rarities(counts)[min(int(value), len(counts) - 1)]
        return -math.inf if rarity < ORDINARY else 0.0

    def surprise(self, numbers: Numbers) -> Floats:
        """Return ln rarity of categories; 0 of what is missing."""
        if np.count_nonzero(self.totals) < 2:
            return np.zeros(len(numbers))
        kinds = np.minimum(numbers, len(self.totals) - 1)
        return np.where(numbers >= 0, _log_rarities(self.totals)[kinds], 0.0)

    def _rest(self, kind: int, rows: Places, codes: tuple[Codes, ...]) -> tuple[Floats, Small]:
        """Return what is left of the surprise of a category in a group that its rows share."""
        rest, by = np.full(len(rows), np.inf), np.full(len(rows), -1, dtype=np.int32)
        alike = np.flatnonzero(self.numbers == kind)
        if len(alike) <= SHARED:
            return rest, by
        for condition in range(len(self.cells.spans)):
            if int(self.cells.owners[condition]) == self.family:
                continue
            own = self.cells.mask(condition, self.codes)
            hits, size = int(np.count_nonzero(own[alike])) - 1, int(self.cells.sizes[condition])
            share = max(0.5, CONCENTRATED * size / self.cells.rows)
            if hits < SHARED or hits < share * (len(alike) - 1):
                continue
            inside = self.numbers[own]
            counts = np.bincount(inside[inside >= 0], minlength=len(self.totals))
            left = float(_log_rarities(counts)[kind])
            left = 0.0 if left < ORDINARY else left
            better = self.cells.mask(condition, codes)[rows] & (left < rest)
            rest[better], by[better] = left, condition
        return rest, by


Judge: TypeAlias = NumberJudge | CategoryJudge


def _by_value(numbers: Floats) -> Places:
    """Return the rows that have a number, in the order of these."""
    order = np.argsort(numbers)  # what is missing comes last
    return order[: len(numbers) - int(np.count_nonzero(np.isnan(numbers)))]


def _log_rarities(totals: npt.NDArray[np.int64]) -> Floats:
    """Return ln rarity of each category; one that does not occur would be the only one."""
    known = int(totals.sum())
    alike = int(np.dot(totals, totals)) / max(known, 1)
    return np.log(np.maximum(alike / np.maximum(totals, 1), 1.0))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Neighbourhoods:
    """The values of a group nearest to each of some values; equal ones are in or out together."""

    low: Places
    high: Places
    is_own: Mask  # whether the value itself is one of the group

    @classmethod
    def of(cls, ordered: Floats, values: Floats) -> _Neighbourhoods:
        own = np.searchsorted(ordered, values, "left")
        is_own = ordered[np.minimum(own, len(ordered) - 1)] == values
        places = own[:, None] + np.arange(-NEAREST, NEAREST + 1)
        fits = (places >= 0) & (places < len(ordered))
        safe = np.clip(places, 0, len(ordered) - 1)
        distances = np.where(fits, np.abs(ordered[safe] - values[:, None]), np.inf)
        count = NEAREST + is_own.astype(np.int64)
        order = np.argsort(distances, axis=1, kind="stable")
        rank = np.argsort(order, axis=1, kind="stable")
        near = fits & (rank < count[:, None])
        first = safe[np.arange(len(values)), near.argmax(axis=1)]
        last = safe[np.arange(len(values)), near.shape[1] - 1 - near[:, ::-1].argmax(axis=1)]
        low = np.searchsorted(ordered, ordered[first], "left")
        return cls(low, np.searchsorted(ordered, ordered[last], "right"), is_own)

    def around(self, own: Codes, codes: Codes) -> NearbyMembers:
        """Return the same with the codes of the rows, and of the group's members."""
        low, high = self.low.astype(np.int32), self.high.astype(np.int32)
        return NearbyMembers(low, high, self.is_own, own, codes)
