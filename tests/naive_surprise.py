"""Surprise in a group of values (method 5d), slow and obvious: a part of the engine's twin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise


def quantile(ordered: Sequence[float], share: float) -> float:
    """Interpolate between the two nearest ranks."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def deviation(values: Sequence[float]) -> float:
    """Return the population standard deviation; 0 of equal values."""
    if min(values) == max(values):
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((x - mean) ** 2 for x in values) / len(values))


def width(ordered: Sequence[float]) -> float:
    """Return the Parzen window by a spread without the outer twentieths."""
    low, high = quantile(ordered, 0.05), quantile(ordered, 0.95)
    if low == high:
        reach = 3 * off_spike(ordered, low)
        spread = deviation([clip(x, low - reach, low + reach) for x in ordered])
    else:
        spread = 1.13 * deviation([clip(x, low, high) for x in ordered])
    return 1.06 * spread * math.pow(len(ordered), -0.2)


def off_spike(values: Sequence[float], spike: float) -> float:
    """Return the lower median of the distinct distances from a spike."""
    distances = sorted({abs(x - spike) for x in values} - {0.0})
    return distances[(len(distances) - 1) // 2] if distances else 0.0


@dataclass(frozen=True)
class Group:
    """Ascending values of a group, and those of the whole column."""

    values: Sequence[float]
    column: Sequence[float]

    def log_rarity(self, x: float) -> float:
        """Return what is counted: ln rarity, at least 0."""
        best = 1.0
        for scale in (1, 2, 4, 8, 16, 32):
            near = self._near(x, scale * self.width / 2)
            best = max(best, self._typical[scale] / max(near, 1))
        return math.log(best)

    @cached_property
    def width(self) -> float:
        """The window."""
        return width(self.values)

    @cached_property
    def _typical(self) -> dict[int, float]:
        """How many members a member has near it, on average, itself included, by scale."""
        found, n = {}, len(self.values)
        for scale in (1, 2, 4, 8, 16, 32):
            reach = scale * self.width / 2
            upward = sum(y <= x + reach for i, x in enumerate(self.values) for y in self.values[i:])
            found[scale] = (2 * upward - n) / n
        return found

    def _near(self, x: float, reach: float) -> int:
        return sum(x - reach <= other <= x + reach for other in self.values)

    @cached_property
    def step(self) -> float:
        """The resolution of the column."""
        distinct = sorted(set(self.column))
        enough = max(3, 0.01 * len(self.column))
        shared = [x for x in distinct if sum(other == x for other in self.column) >= enough]
        on_grid = sum(x in set(shared) for x in self.column)
        if len(shared) > 1 and on_grid >= len(self.column) / 2:
            return quantile(sorted(b - a for a, b in pairwise(shared)), 0.5)
        return 0.0

    def off(self, spike: float) -> float:
        """Return how far rows off a spike typically lie from it."""
        away = sorted(abs(x - spike) for x in self.column if x != spike)
        away = [distance for distance in away if distance <= 10 * off_spike(self.column, spike)]
        others = len(away) - max((away.count(distance) for distance in set(away)), default=0)
        is_enough = len(away) >= max(5, 0.03 * len(self.column)) or others >= 20
        return quantile(away, 0.5) if is_enough else 0.0

    @cached_property
    def core(self) -> Sequence[float]:
        """The values without those ten times as far out as the tenth."""
        q10, q50, q90 = (quantile(self.values, share) for share in (0.1, 0.5, 0.9))
        low = q10 - 10 * (q50 - q10) if q10 < q50 else -math.inf
        high = q90 + 10 * (q90 - q50) if q90 > q50 else math.inf
        return [x for x in self.values if low <= x <= high]

    @cached_property
    def _tails(self) -> tuple[_Tail, _Tail]:
        q25, q50, q75 = (quantile(self.core, share) for share in (0.25, 0.5, 0.75))
        off = self.off(q50) if q50 in (q25, q75) else 0.0
        return self._tail(1, off, q50 == q75), self._tail(-1, off, q50 == q25)

    def _tail(self, side: int, off: float, is_exact: bool) -> _Tail:
        """Return what lies above, or of the mirrored values what lies below."""
        step = 0.0 if is_exact else self.step
        core = self._spread if step else self.core
        core = sorted(side * x for x in core)
        share = _last_share(len(self.values))
        shares = (0.05, 0.5, 0.75, 0.9, 0.95, 1 - share)
        q05, q50, q75, q90, q95, last = (quantile(core, each) for each in shares)
        rim, before = (quantile(core, max(1 - rows / len(core), 0)) for rows in (5, 25))
        gap = max((y - x for x, y in pairwise(core) if q50 <= x and y <= rim), default=0.0)
        spacings = (q75 - q50, q90 - q75, q95 - q90, last - q95, rim - q90, rim - before, gap)
        return _Tail(*spacings, q90 + step / 2, (q95 - q05) / 10, off, len(self.values))

    @cached_property
    def _spread(self) -> Sequence[float]:
        """The values whose copies are spread evenly over a step."""
        found = []
        for value in sorted(set(self.core)):
            copies = self.core.count(value)
            found += [value + self.step * ((i + 0.5) / copies - 0.5) for i in range(copies)]
        return found

    def tail(self, x: float) -> float:
        """Return the tail M of a value, faded."""
        upper, lower = self._sides(x)
        copies = sum(other == x for other in self.values)
        larger = len({other for other in self.values if other > x})
        smaller = len({other for other in self.values if other < x})
        return max(upper * self._fade(copies + larger), lower * self._fade(copies + smaller))

    def _sides(self, x: float) -> tuple[float, float]:
        """Return how far a value lies above and below, however many rows share it."""
        above, below = self._tails
        upper, lower = above.nats(x - above.begin), below.nats(-x - below.begin)
        larger, smaller = self._beside
        if larger:
            upper = larger._sides(x)[0]
            upper += math.log(len(self.values) / len(larger.values)) if upper else 0.0
        if smaller:
            lower = smaller._sides(x)[1]
            lower += math.log(len(self.values) / len(smaller.values)) if lower else 0.0
        return upper, lower

    @cached_property
    def _beside(self) -> tuple[Group | None, Group | None]:
        """Return the values above and below a spike at the median, where enough of them differ."""
        q25, q50, q75 = (quantile(self.core, share) for share in (0.25, 0.5, 0.75))
        if q50 not in (q25, q75):
            return None, None
        above, below = ([x for x in self.values if (x - q50) * side > 0] for side in (1, -1))
        return self._part(above, q50), self._part(below, q50)

    def _part(self, part: Sequence[float], spike: float) -> Group | None:
        """Return one side of a spike without codes: far away, and more than a twentieth of it."""
        far = 10 * off_spike(part, spike)
        part = [x for x in part if abs(x - spike) <= far or part.count(x) <= 0.05 * len(part)]
        commonest = max((part.count(x) for x in set(part)), default=0)
        return Group(part, self.column) if len(part) - commonest >= 20 else None

    def lacks(self, x: float, nats: float) -> float:
        """Return what a value beyond the outer tenths lacks of so much surprise by its tail."""
        above, below = self._tails
        larger, smaller = self._beside
        has_tail = (x > self._tenth(0.9) and above.a > 0) or (x < self._tenth(0.1) and below.a > 0)
        has_tail |= larger is not None and x > larger._tenth(0.9)
        has_tail |= smaller is not None and x < smaller._tenth(0.1)
        return max(nats - self.beyond(x), 0.0) if has_tail else 0.0

    def _tenth(self, share: float) -> float:
        return quantile(self.core, share)

    def beyond(self, x: float) -> float:
        """Return the tail of a value, however many rows share it."""
        return max(self._sides(x))

    def _fade(self, as_far: int) -> float:
        others = max(as_far, 1) - 1
        s, r = others / len(self.column), others / len(self.values)
        return clip((0.03 - s) / 0.02, 0, 1) * clip((0.1 - r) / 0.05, 0, 1)

    def surprise(self, x: float) -> float:
        """Return S."""
        counted = self.log_rarity(x)
        return counted + 1.5 * math.log(1 + max(0.0, self.tail(x) - counted))


@dataclass(frozen=True)
class _Tail:
    a: float
    b: float
    c: float
    e: float
    rim: float
    edge: float
    gap: float
    begin: float
    floor: float
    off: float
    rows: int

    def nats(self, d: float) -> float:
        if d <= 0:
            return 0.0
        a, b, c, e = self.a, self.b, self.c, self.e
        ln2, ln25, ln10 = map(math.log, (2, 2.5, 10))
        scale = max(b / ln25, a / ln2, self.floor)
        if a == 0 and max(b / ln25, self.off / ln2) > 0:
            scale = max(b / ln25, self.off / ln2)
        if scale <= 0 or (a == 0 and b == 0 and self.off == 0):
            return ln10 + math.exp(3) - 1
        if a <= self.floor or b <= 0:
            return ln10 + d / scale
        share = _last_share(self.rows)
        slack = math.sqrt((20 + 20 / 3) / self.rows)
        last = math.log(c / b / (ln2 / ln25)) - slack if c else -9
        end = -9.0
        if c and e:
            slack = math.sqrt((1 / (0.05 - share) + 20) / self.rows)
            end = math.log(e / c / (math.log(0.05 / share) / ln2)) - slack
        xi = max(math.log(b / a / (ln25 / ln2)), last, end) / 0.8
        if xi > 0:
            xi = clip(xi, 0.01, 1.5)
            return ln10 + math.log(1 + xi * d / scale) / xi
        tenth = math.log(math.log(5) / ln2) / math.log((a + b) / a)
        twentieth = math.log(math.log(10) / ln2) / math.log((a + b + c) / a)
        power = clip(max(tenth, twentieth), 1, 2)
        power = 1 + self.rows / (self.rows + 50) * (power - 1)
        light = ln2 * (1 + math.pow((d + a + b) / a, power))
        beyond = d - self.rim - self.gap
        if self.rows < 100 or self.edge <= 0 or beyond <= 0:
            return light
        return max(light, math.log(self.rows / 5) + beyond / (self.edge / math.log(5)))


def _last_share(rows: int) -> float:
    """Return the share of rows beyond the outermost quantile that tells of a tail."""
    return min(max(0.01, 20 / rows), 0.05)


def clip(x: float, low: float, high: float) -> float:
    """Return the number nearest to x between two others."""
    return min(max(x, low), high)


def bar_of(known: int) -> float:
    """Return what the most extreme of so many ordinary values shows."""
    return max(0.8 * math.log(max(known, 2)) + math.log(0.3), 0.0)
