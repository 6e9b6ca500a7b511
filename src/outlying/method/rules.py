"""Rules with few exceptions: columns that follow from others, order, durations, own kind (6b).

All work on codes and numbers of the rows drawn, in an order as if at random.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

import numpy as np

from outlying.method.arithmetic import BROKEN
from outlying.method.density import Counts, Floats
from outlying.method.distances import (
    DUST,
    EXPECTED,
    MOST_EXCEPTIONS,
    USUAL,
    Distances,
    share_of_exceptions,
)
from outlying.method.relations import (
    FARTHEST,
    LEAST_DISTINCT,
    LEAST_EXPLAINED,
    LEAST_ROWS,
    Codes,
    least_logarithm,
    logarithm,
    spread,
)

#: What rows with the same number must explain of a column.
LEAST_NAMED = 0.15
#: Rows with the next numbers explain no more of it, as a share, where numbers are names.
MOST_BY_NEXT = 0.9
#: What is nearly exact, and of which the next numbers say so little, leaves no doubt.
NEARLY_EXACT, HALF = 0.9, 0.5
#: How sure that must be, in standard errors over the distinct numbers; so many for other numbers.
SURE, LEAST_LEVELS = 2.5, 10
#: Rows of a group by which the others of it tell what to expect, and how many must agree.
LEAST_GROUP, AGREEMENT = 3, 0.9
#: A dependency holds in so many rows of such groups, which are so many of all rows.
LEAST_FOLLOWING, LEAST_COVERED = 0.98, 0.3
#: Two rows have the same label by chance in no more than this share; there are so many groups.
MOST_CHANCE, LEAST_KINDS = 0.7, 3
#: Each row that agrees on another label is worth so many usual distances, up to the most.
AGREEING, MOST_AGREEING = 4.0, 100.0
#: An order is broken in no more than these shares: of all rows, and of what chance would break.
MOST_BROKEN, MOST_OF_CHANCE, LEAST_CHANCE = 0.01, 0.03, 0.03
#: Chance would break an order of numbers in so many rows, at the least.
LEAST_BY_CHANCE = 15
#: This share of what breaks an order is nearest to it: for each of them so many rows lie as near
#: inside of it, or so many times fewer, where they are apart from all that hold.
NEAREST, LEAST_EDGE = 0.25, 10.0
#: So far, in medians, they are apart at least; if none is outside: so near to the order lies a
#: tenth of what even differences would give.
AT_EDGE = 0.1
#: A duration is expected between these quantiles; it is fixed if so many rows have the same one.
DURATIONS, FIXED = (0.025, 0.5, 0.975), 0.98
#: Logarithms of durations must be so much less skewed.
LESS_SKEWED = 1 / 3
#: Rows of its own by which something is known.
LEAST_OWN = 4
#: The variance of a median of normal values, in that of their mean.
OF_MEDIAN = math.pi / 2
#: So many things have as many rows; these must explain so much.
LEAST_THINGS, LEAST_OWN_EXPLAINED = 10, 0.3
#: What a first look at ranks must show of it, and how many neighbours of a group may differ.
LEAST_AT_FIRST, MOST_DIFFERENT = 0.1, 0.1
#: Things that explain less than this are taken to explain as much.
LEAST_SHARE = 0.01


def are_names(numbers: Floats, others: Iterable[Floats | Codes]) -> bool:
    """Return whether numbers name things (accounts, stores, flights) rather than measure or count.

    A measure is smooth: what another column holds at 210 mm it holds at 209 and 211, too. The rows
    of a store are alike, and those of the next store may be anything. So numbers are names where
    rows with the same one tell much more of some column than rows with those beside it do.
    `others` are ranks of numbers and codes of categories.
    """
    rows = np.flatnonzero(~np.isnan(numbers))
    group = np.unique(numbers[rows], return_inverse=True)[1]
    order = np.argsort(group, kind="stable")
    rows, group = rows[order], group[order]
    size = np.bincount(group, minlength=1)
    start, last = np.cumsum(size) - size, len(size) - 1
    place = np.arange(len(rows)) - start[group]
    inner = np.flatnonzero((size[group] > 1) & (group > 0) & (group < last))
    if len(rows) < LEAST_ROWS or not len(inner):
        return False
    near = group[inner], group[inner] - 1, group[inner] + 1
    same, before, after = (
        start[own] + (place[inner] + step) % size[own]
        for own, step in zip(near, (1, 0, 0), strict=True)
    )
    for column in others:
        if column.dtype.kind != "f" or last + 1 >= LEAST_LEVELS:
            left = _left_by_groups(column[rows], inner, same, before, after)
            if left is not None and _is_rough(*left, group[inner]):
                return True
    return False


def _left_by_groups(
    values: Floats | Codes, rows: Counts, same: Counts, before: Counts, after: Counts
) -> tuple[Floats, Floats] | None:
    """Return how far rows are from one of their own group, and from those beside: 1 by chance."""
    if values.dtype.kind == "f":
        width = float(np.nanvar(values))
        if not width > 0:
            return None
        beside = (values[before] + values[after]) / 2
        return (values[rows] - values[same]) ** 2 / (2 * width), (
            (values[rows] - beside) ** 2 / (1.5 * width)
        )
    known = values[values >= 0]
    shares = np.bincount(known, minlength=1) / max(1, len(known))
    by_chance, by_two = 1 - float(shares @ shares), float(shares @ (1 - shares) ** 2)
    if not (len(known) and by_two > 0):
        return None
    differ = [
        np.where((values[rows] < 0) | (values[other] < 0), np.nan, values[rows] != values[other])
        for other in (same, before, after)
    ]
    return differ[0] / by_chance, differ[1] * differ[2] / by_two


def _is_rough(same: Floats, beside: Floats, group: Counts) -> bool:
    known = ~np.isnan(same + beside)
    if np.count_nonzero(known) < LEAST_ROWS:
        return False
    explained, by_next = 1 - same[known].mean(), 1 - beside[known].mean()
    if explained < LEAST_NAMED or by_next > MOST_BY_NEXT * explained:
        return False
    sums = np.bincount(group[known], weights=(beside - same)[known])
    is_sure = sums.sum() >= SURE * math.sqrt(float(sums @ sums))
    return bool(is_sure or (explained >= NEARLY_EXACT and by_next <= HALF))


def ranked(values: Floats) -> Floats:
    """Return the ranks of numbers; equal ones have the middle of theirs, NaN none."""
    known = ~np.isnan(values)
    found = np.full(len(values), np.nan)
    _, places, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    found[known] = (np.cumsum(counts) - counts / 2)[places]
    return found


def known_codes(codes: Codes, count: int) -> Codes:
    """Return -1 in place of codes that no row had of which a rule was made."""
    return np.where(codes < count, codes, -1)


@dataclasses.dataclass(frozen=True, eq=False)
class Dependency:
    """What each code of one column goes with in another; -1 where that is open."""

    expected: Codes
    agreeing: Counts
    holding: int
    known: int

    def residuals(self, given: Codes, own: Codes) -> Floats:
        """Return 0 where rows are as expected, else how many agree on something else."""
        given = known_codes(given, len(self.expected))
        wanted = np.where(given >= 0, self.expected[given], -1)
        away = np.minimum(AGREEING * self.agreeing[given], MOST_AGREEING)
        found = np.where(wanted == own, 0.0, away)
        return np.where((wanted < 0) | (own < 0), np.nan, found)


def dependency(given: Codes, own: Codes) -> Dependency | None:
    """Return what codes from 0 on follow from others, if they do with rare exceptions."""
    known = (given >= 0) & (own >= 0)
    x, p = given[known].astype(np.int64), own[known].astype(np.int64)
    if len(x) < LEAST_ROWS or not _varies(p):
        return None
    width = int(p.max()) + 1
    pairs, counts = np.unique(x * width + p, return_counts=True)
    kinds, labels = np.divmod(pairs, width)
    size = np.bincount(kinds, weights=counts, minlength=int(given.max()) + 1)
    order = np.lexsort((labels, -counts, kinds))
    first = order[np.searchsorted(kinds[order], np.unique(kinds), "left")]
    expected, top = np.full(len(size), -1, dtype=np.int32), np.zeros(len(size))
    expected[kinds[first]], top[kinds[first]] = labels[first], counts[first]
    firm = (size >= LEAST_GROUP) & (top >= AGREEMENT * (size - 1))
    grouped = size[size >= LEAST_GROUP].sum()
    held = top[firm].sum()
    if (
        np.count_nonzero(firm) < LEAST_KINDS
        or grouped < LEAST_COVERED * len(given)
        or held < LEAST_FOLLOWING * grouped
    ):
        return None
    expected[~firm] = -1
    return Dependency(expected, top.astype(np.int64), int(held), int(size[firm].sum()))


def neighbours(given: Codes) -> tuple[Counts, Counts]:
    """Return rows one after the other in groups of rows with the same code."""
    order = np.argsort(given, kind="stable")
    rows = np.bincount(given[given >= 0], minlength=1)
    inside = given[order]
    alike = (inside[1:] == inside[:-1]) & (inside[1:] >= 0) & (rows[inside[1:]] >= LEAST_GROUP)
    return order[:-1][alike], order[1:][alike]


def may_follow(pairs: tuple[Counts, Counts], own: Codes) -> bool:
    """Return whether neighbours in groups mostly have the same code: a first look."""
    one, other = own[pairs[0]], own[pairs[1]]
    known = (one >= 0) & (other >= 0)
    different = np.count_nonzero((one != other) & known)
    return bool(different <= MOST_DIFFERENT * np.count_nonzero(known))


def _varies(labels: Counts) -> bool:
    """Return whether there are several labels, and no single one that most rows have."""
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return len(shares) > 1 and float(shares @ shares) <= MOST_CHANCE


def one_hot(flags: Floats) -> list[tuple[int, ...]]:
    """Return sets of columns of 0 and 1 of which exactly one is 1 in nearly every row.

    From the most frequent one on, the flag joins that covers most of the rows left, and hardly any
    that others have covered.
    """
    known = flags[~np.isnan(flags).any(axis=1)]
    if len(known) < LEAST_ROWS:
        return []
    found = []
    open_flags = [int(place) for place in np.argsort(-known.sum(axis=0), kind="stable")]
    for first in list(open_flags):
        covered, own = np.zeros(len(known), dtype=bool), list[int]()
        best: int | None = first
        while best is not None and best in open_flags:
            own.append(best)
            covered |= known[:, best] > 0
            others = [place for place in open_flags if place not in own]
            both = {k: int(np.count_nonzero(covered & (known[:, k] > 0))) for k in others}
            apart = [k for k in others if both[k] <= MOST_BROKEN * len(known)]
            gain = {k: int(known[:, k].sum()) - 2 * both[k] for k in apart}
            best = max(apart, key=lambda k: (gain[k], -k), default=None)
            best = best if best is not None and gain[best] >= LEAST_GROUP else None
        is_one = known[:, own].sum(axis=1) == 1
        if len(own) >= LEAST_KINDS and np.mean(is_one) >= 1 - MOST_BROKEN:
            found.append(tuple(sorted(own)))
            open_flags = [place for place in open_flags if place not in own]
    return found


@dataclasses.dataclass(frozen=True)
class Order:
    """That one number is hardly ever greater than another, and how far both usually are apart."""

    usual: float
    holding: int
    known: int

    def residuals(self, least: Floats, greatest: Floats) -> Floats:
        """Return 0 where the order holds, else how far it is broken."""
        away = least - greatest
        broken = BROKEN + np.maximum(away, 0.0) / self.usual
        found = np.where(away > 0, -broken, 0.0)
        return np.where(np.isnan(away), np.nan, np.clip(found, -FARTHEST, FARTHEST))


def order(least: Floats, greatest: Floats, *, are_moments: bool) -> Order | None:
    """Return that numbers are not greater than others of their rows, unless chance does it.

    Other numbers than moments have an order only if it has an edge, with many rows just inside for
    each that breaks it: without one, these are no more than the tail of the differences.
    """
    known = ~np.isnan(least) & ~np.isnan(greatest)
    one, other = least[known], greatest[known]
    if len(one) < LEAST_ROWS:
        return None
    broken = int(np.count_nonzero(one > other))
    chance = int(np.count_nonzero(one > np.roll(other, 1)))
    usual = float(np.median(np.abs(other - one)))
    if (
        broken > MOST_BROKEN * len(one)
        or chance < LEAST_CHANCE * len(one)
        or broken > MOST_OF_CHANCE * chance
        or usual <= 0
        or not (are_moments or (chance >= LEAST_BY_CHANCE and _has_edge(other - one)))
    ):
        return None
    return Order(usual, len(one) - broken, len(one))


def _has_edge(differences: Floats) -> bool:
    """Return whether differences end at 0, but for a few that are wrong."""
    broken = -differences[differences < 0]
    if not len(broken):
        reach = AT_EDGE * float(np.median(differences))
        at_edge = np.count_nonzero(differences <= reach)
        return bool(at_edge >= AT_EDGE / LEAST_EDGE * len(differences))
    near = float(np.quantile(broken, NEAREST))
    inside = np.count_nonzero((differences > 0) & (differences <= near))
    outside = np.count_nonzero(broken <= near)
    is_far = near >= AT_EDGE * np.median(differences)
    return bool(inside >= LEAST_EDGE * outside or (is_far and inside * LEAST_EDGE <= outside))


@dataclasses.dataclass(frozen=True)
class Duration:
    """How long after one moment of a row another one usually is."""

    ends: tuple[float, float]  # the shortest and the longest that is expected
    middle: float  # on the scale of the usual distances below it and above it
    below: float
    above: float
    least: float | None  # of logarithms; None in plain space
    width: float  # how much durations differ

    def residuals(self, earlier: Floats, later: Floats) -> Floats:
        """Return how far durations are from the usual one."""
        away = logarithm(later - earlier, self.least) - self.middle
        return np.clip(away / np.where(away < 0, self.below, self.above), -FARTHEST, FARTHEST)


def duration(earlier: Floats, later: Floats, units: tuple[float, ...]) -> Duration | None:
    """Return how far apart moments are, if that differs much less than the moments do.

    What rounding to the greatest of some units may do is usual.
    """
    known = ~np.isnan(earlier) & ~np.isnan(later)
    if np.count_nonzero(known) < LEAST_ROWS:
        return None
    one, other = earlier[known], later[known]
    lengths = other - one
    width = spread(lengths)
    if width**2 > (1 - LEAST_EXPLAINED) * min(spread(one), spread(other)) ** 2:
        return None
    low, middle, high = np.quantile(lengths, DURATIONS).tolist()
    is_fixed = np.mean(lengths == middle) >= FIXED
    whole = (unit for unit in units if np.mean(lengths % unit == 0) >= FIXED)
    rounding = next(whole, 1.0) / (BROKEN if is_fixed else EXPECTED)
    least = least_logarithm(lengths)
    logs = logarithm(np.array([low, middle, high]), least)
    if least is not None and abs(_skew(*logs)) < LESS_SKEWED * abs(_skew(low, middle, high)):
        rounding /= middle
    else:
        logs, least = np.array([low, middle, high]), None
    below, above = np.maximum(np.diff(logs) / EXPECTED, rounding).tolist()
    found = Duration((low, high), float(logs[1]), below, above, least, width)
    exceptions = share_of_exceptions(found.residuals(one, other))
    return found if exceptions <= MOST_EXCEPTIONS else None


def _skew(low: float, middle: float, high: float) -> float:
    """Return the logarithm of how much longer the upper tail is than the lower one."""
    above, below = max(high - middle, 0.0), max(middle - low, 0.0)
    return math.log((above + DUST) / (below + DUST))


@dataclasses.dataclass(frozen=True, eq=False)
class OwnKind:
    """What is usual of a number for each thing that has several rows.

    The median of the *other* rows of a thing follows from the three values in its middle.
    """

    rows: Counts  # of each thing
    middle: Floats  # things x 3: the values in the middle, and those beside it
    overall: float
    pull: float  # how many rows of its own the whole table stands for
    distances: Distances | None  # None until they are known
    explained: float
    least: float | None  # of logarithms; None in plain space

    def expected(self, things: Codes, values: Floats) -> Floats:
        """Return the median of the other rows of each thing, drawn towards that of all rows."""
        things = known_codes(things, len(self.rows))
        count = np.where(things >= 0, self.rows[things], 0)
        low, mid, high = self.middle[things].T
        odd = np.where(values < mid, mid + high, np.where(values > mid, low + mid, low + high)) / 2
        even = np.where(values <= low, mid, low)
        others = np.where(count % 2 == 1, odd, even)
        weight = count - 1
        found = (weight * others + self.pull * self.overall) / np.maximum(weight + self.pull, 1)
        return np.where(count >= LEAST_OWN, found, np.nan)

    def residuals(self, things: Codes, values: Floats) -> Floats:
        """Return how far values, on the scale of the kind, are from those of their own thing."""
        away = values - self.expected(things, values)
        return np.clip(away / self.usual(things, values), -FARTHEST, FARTHEST)

    def usual(self, things: Codes, values: Floats) -> Floats:
        """Return how far rows usually are from what is expected: more, the fewer others tell it."""
        known = known_codes(things, len(self.rows))
        others = np.where(known >= 0, self.rows[known], 0) - 1 + self.pull
        wider = np.sqrt(1 + OF_MEDIAN / np.maximum(others, 1))
        assert self.distances is not None  # noqa: S101 - known once it is found
        return wider * self.distances.usual(self.expected(things, values))

    def range(self, things: Codes, values: Floats, shift: float = 0.0) -> tuple[float, float]:
        """Return the least and the greatest number that is expected of one row.

        A shift is what was taken from values before, on the scale of the kind.
        """
        middle = self.expected(things, values)[0] + shift
        reach = EXPECTED * self.usual(things, values)[0]
        ends = float(middle - reach), float(middle + reach)
        if self.least is None:
            return ends
        return math.exp(min(ends[0], 700.0)), math.exp(min(ends[1], 700.0))


def may_be_kinds(things: Codes, ranks: Floats) -> bool:
    """Return whether the other rows of each thing, by their means, say something of ranks.

    These rise and fall alike in plain space and in logarithms: a first look, at little cost.
    """
    known = (things >= 0) & ~np.isnan(ranks)
    own, ranks = things[known], ranks[known]
    rows, sums, squares = (np.bincount(own, weights=ranks**power) for power in (0, 1, 2))
    told = rows >= LEAST_OWN
    if np.count_nonzero(told) < LEAST_THINGS:
        return False
    rows, sums, squares = rows[told], sums[told], squares[told]
    left = float(((rows / (rows - 1)) ** 2 * (squares - sums**2 / rows)).sum())
    total = float(squares.sum() - sums.sum() ** 2 / rows.sum())
    return left <= (1 - LEAST_AT_FIRST) * total


def own_kind(
    things: Codes, values: Floats, least: float | None, *, is_known: bool = False
) -> OwnKind | None:
    """Return what is usual of numbers for each thing, if that explains enough of them.

    Where it is known that these are things, they need not be many, nor explain anything.
    """
    known = (things >= 0) & ~np.isnan(values)
    if np.count_nonzero(known) < LEAST_ROWS or len(np.unique(values[known])) < LEAST_DISTINCT:
        return None
    rows = np.bincount(things[known], minlength=int(things.max()) + 1)
    if np.count_nonzero(rows >= LEAST_OWN) < (1 if is_known else LEAST_THINGS):
        return None
    order = np.argsort(values[known])  # equal values are alike: no slower, stable sort is needed
    own = things[known][order].astype(np.min_scalar_type(len(rows)))  # few things sort by radix
    ordered = values[known][order[np.argsort(own, kind="stable")]]
    starts = np.cumsum(rows) - rows
    middle = np.stack([_around(ordered, starts, rows, step) for step in (-1, 0, 1)], axis=1)
    overall = float(np.median(values[known]))
    found = OwnKind(rows, middle, overall, 0.0, None, 0.0, least)
    for _ in range(2):
        expected = found.expected(things, values)
        told = ~np.isnan(values - expected)
        own, expected = values[told], expected[told]
        if len(own) < max(LEAST_ROWS, LEAST_COVERED * len(values)):
            return None
        away, width = own - expected, spread(own)
        if width <= 0 or np.quantile(np.abs(away), USUAL) <= DUST * width:
            return None
        explained = 1 - (spread(away) / width) ** 2
        if explained < LEAST_OWN_EXPLAINED and not is_known:
            return None
        # The less things differ, the more the whole table says of each (empirical Bayes).
        share = max(explained, LEAST_SHARE)
        pull = (1 - share) / share if found.pull == 0 else found.pull
        distances = Distances.of(expected, np.abs(away))
        found = dataclasses.replace(found, pull=pull, distances=distances, explained=explained)
    exceptions = share_of_exceptions(found.residuals(things, values)[told])
    return found if exceptions <= MOST_EXCEPTIONS else None


def _around(ordered: Floats, starts: Counts, rows: Counts, step: int) -> Floats:
    """Return the value in the middle of each thing's rows, or one beside it.

    Of an even number of rows, the two in the middle come first.
    """
    place = np.where(rows % 2 == 1, rows // 2 + step, rows // 2 + min(step, 0))
    place = np.clip(place, 0, np.maximum(rows - 1, 0))
    return np.where(rows > 0, ordered[np.minimum(starts + place, len(ordered) - 1)], np.nan)
