"""Surprise: how far a value lies outside of a group, in nats (method 5d).

Counting alone cannot tell a value just outside from one far away: the rarity of a value is at most
the size of its group. Beyond the outer tenths of a group, its inner quantiles say what to expect
there: an exponential tail, a lighter or a heavier one. What lies further out than that is
surprising beyond what can be counted. Windows follow a spread that a few outliers do not change.
"""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np

from outlying.kernel.sweep import places_of
from outlying.method.density import Counts, Floats, bandwidth, mean_neighbours
from outlying.method.measure import SCALES
from outlying.table.columns import Mask

#: What the standard deviation of clipped normal values is to be multiplied by.
CLIPPED = 1.13
#: Beside a spike, values are clipped at so many times the typical distance from it.
SPIKE_REACH = 3.0
#: Where they are clipped.
OUTER_TWENTIETHS = (0.05, 0.95)
#: Nats from the median to the quartile, and on to the outer tenth, of an exponential tail.
TO_QUARTILE, TO_TENTH = math.log(2), math.log(2.5)
TENTH = math.log(10)
#: How often nats double from the quartile to the tenth, and to the twentieth, in powers of e.
TO_TENTH_POWER, TO_LAST_POWER = math.log(math.log2(5)), math.log(math.log2(10))
#: Distances count up to so many times the spread, so that their powers are finite.
FARTHEST = 1e100
#: What distance beyond what can be counted is worth.
DISTANCE = 1.5
#: Further out, what a tail is like is told by the last hundredth, or by so many rows.
LAST_SHARE, LAST_ROWS = 0.01, 20
#: A light tail ends where so few rows lie further out, and how sharply, so many rows tell.
RIM_ROWS, LEAST_RIM = (5, 25), 100
#: A light tail is no lighter than with this power of the distance, that of a Gaussian far out.
LIGHTEST = 2.0
#: Nats of a value off a spike that hardly any row of the table is off.
OFF_A_SPIKE = TENTH + math.expm1(3)
#: So many rows off a spike, besides those at the commonest distance, tell how far such rows lie.
VARIED = 20
#: Values further out than so many times the distance from the median to a tenth are no part of a
#: tail.
FAR = 10.0
#: A tail shared by a larger share of the table is no surprise; between both it fades out.
FADES_FROM, FADES_TO = 0.01, 0.03
GROUP_FADES_FROM, GROUP_FADES_TO = 0.05, 0.1
_QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


def quantiles(ordered: Floats, shares: tuple[float, ...] = _QUANTILES) -> list[float]:
    """Return quantiles of ascending values, by linear interpolation."""
    places = np.asarray(shares) * (len(ordered) - 1)
    low = np.floor(places).astype(int)
    high = np.minimum(low + 1, len(ordered) - 1)
    found: list[float] = (ordered[low] + (places - low) * (ordered[high] - ordered[low])).tolist()
    return found


def core(ordered: Floats) -> Floats:
    """Return ascending values without those far outside, which would make tails look heavy."""
    q10, q50, q90 = quantiles(ordered, (0.1, 0.5, 0.9))
    low = q10 - FAR * (q50 - q10) if q10 < q50 else -math.inf
    high = q90 + FAR * (q90 - q50) if q90 > q50 else math.inf
    start, end = np.searchsorted(ordered, low, "left"), np.searchsorted(ordered, high, "right")
    return ordered[start:end]


def _spread(ordered: Floats, step: float) -> Floats:
    """Return ascending values with copies of one spread evenly around it, over a step."""
    starts = np.flatnonzero(np.diff(ordered, prepend=-np.inf))
    copies = np.diff(np.append(starts, len(ordered)))
    place = np.arange(len(ordered)) - np.repeat(starts, copies)
    return np.sort(ordered + step * ((place + 0.5) / np.repeat(copies, copies) - 0.5))


def robust_width(ordered: Floats) -> float:
    """Return the Parzen bandwidth by a spread without the outer twentieths; 0 of equal values."""
    low, high = quantiles(ordered, OUTER_TWENTIETHS)
    # The mean of equal values may be off by a rounding error, and then so is their deviation.
    if low < high:
        spread = CLIPPED * np.clip(ordered, low, high).std()
    else:
        reach = SPIKE_REACH * distance_off(ordered, low)
        spread = np.clip(ordered, low - reach, low + reach).std() if reach else 0.0
    return bandwidth(float(spread), len(ordered))


def distance_off(values: Floats, spike: float) -> float:
    """Return the typical distance of values off a spike; 0 if all are equal.

    Values count once each, so that copies of a code for unknown do not change it.
    """
    away = np.unique(np.abs(values - spike))
    away = away[away > 0]
    return float(away[(len(away) - 1) // 2]) if len(away) else 0.0


@dataclasses.dataclass(frozen=True, eq=False)
class ColumnFacts:
    """What the whole column says of the scale on which distances in its groups count."""

    ordered: Floats  # all known values
    usual: float | None = None  # how far rows off a spike lie from it, where that is known

    @functools.cached_property
    def step(self) -> float:
        """The resolution: the typical gap between values that several rows share.

        0 where it is not known: most rows must hold such values.
        """
        starts = np.flatnonzero(np.diff(self.ordered, prepend=-np.inf))
        values = self.ordered[starts]
        counts = np.diff(np.append(starts, len(self.ordered)))
        is_shared = counts >= max(3, 0.01 * len(self.ordered))
        if np.count_nonzero(is_shared) < 2 or 2 * counts[is_shared].sum() < len(self.ordered):
            return 0.0  # a code that many rows share and a round value are no grid
        return float(np.median(np.diff(values[is_shared])))

    @functools.cache  # noqa: B019 - lives as long as the column
    def off(self, spike: float) -> float:
        """Return how far rows off a spike typically lie from it; 0 if hardly any row does.

        Codes for unknown, far away, do not count. A few percent of the rows are enough, or fewer
        that do not all lie equally far: copies of one code tell of no scale.
        """
        if self.usual is not None:
            return self.usual
        away = np.abs(self.ordered - spike)
        away = away[(away > 0) & (away <= FAR * distance_off(self.ordered, spike))]
        copies = np.unique(away, return_counts=True)[1].max(initial=0)
        has_many = len(away) >= max(5, 0.03 * len(self.ordered))
        is_varied = len(away) - copies >= VARIED
        return float(np.median(away)) if has_many or is_varied else 0.0


class Group:
    """The values of a property in a context: what is typical there, and what is surprising."""

    def __init__(self, ordered: Floats, facts: ColumnFacts) -> None:
        """Take ascending values, not all equal, and facts about the whole column."""
        self.ordered, self.facts = ordered, facts

    @functools.cached_property
    def width(self) -> float:
        """The Parzen window, which outliers do not widen."""
        return robust_width(self.ordered)

    @functools.cached_property
    def _typical(self) -> Floats:
        """How many values a member has around itself on average, at each scale."""
        return mean_neighbours(self.ordered, np.multiply(SCALES, self.width))

    @functools.cached_property
    def _quantiles(self) -> list[float]:
        return quantiles(self._core)

    @functools.cached_property
    def _core(self) -> Floats:
        return core(self.ordered)

    def outer(self, values: Floats) -> tuple[int, int]:
        """Return how many of ascending values lie below the lower tenth, and from where on above.

        Only these have a tail.
        """
        _, q10, _, _, _, q90, _ = self._quantiles
        return int(np.searchsorted(values, q10, "left")), int(np.searchsorted(values, q90, "right"))

    def log_rarity(self, values: Floats) -> Floats:
        """Return ln rarity at the scale at which each of ascending values is rarest (method 3)."""
        best = np.ones(len(values))
        for scale, typical in zip(SCALES, self._typical, strict=True):
            near = np.maximum(self._near(values, scale * self.width / 2), 1)
            best = np.maximum(best, typical / near)
        return np.log(best)

    def _near(self, values: Floats, reach: float) -> Counts:
        right = places_of(self.ordered, values + reach, "right")
        return right - places_of(self.ordered, values - reach, "left")

    def tail(self, values: Floats) -> Floats:
        """Return the surprise of ascending values by the tails that inner quantiles tell of.

        It fades out where many rows share a tail: what a few percent of a table have is no error.
        """
        nats = np.zeros(len(values))
        is_outer = np.ones(len(values), dtype=bool)
        is_outer[slice(*self.outer(values))] = False
        values = values[is_outer]
        first = places_of(self.ordered, values, "left")
        last = places_of(self.ordered, values, "right")
        below = np.searchsorted(self._starts, first, "left")
        above = len(self._starts) - np.searchsorted(self._starts, last, "left")
        upper, lower = self.beyond(values)
        copies = last - first
        upper, lower = upper * self._fade(copies + above), lower * self._fade(copies + below)
        nats[is_outer] = np.maximum(upper, lower)
        return nats

    def is_outside(self, values: Floats) -> tuple[Mask, Mask]:
        """Return which values lie below the lower tenth, and which above the upper one."""
        _, q10, _, _, _, q90, _ = self._quantiles
        return values < q10, values > q90

    def excess(self, values: Floats) -> tuple[Floats, Floats]:
        """Return how far values lie above the upper tenth, and below the lower one."""
        _, q10, _, _, _, q90, _ = self._quantiles
        return np.maximum(values - q90, 0.0), np.maximum(q10 - values, 0.0)

    def distance(self, values: Floats, nats: float) -> Floats:
        """Return what the distance of ascending values is worth whose tail exceeds so much.

        Below 0 is what the tail of values beyond the outer tenths lacks of it. Beside a spike there
        is no tail: what is off it is odd, however far it lies.
        """
        _, q10, q25, q50, q75, q90, _ = self._quantiles
        below, above = self._beside
        has_tail = ((values < q10) & (q25 < q50)) | ((values > q90) & (q50 < q75))
        has_tail |= above.is_outside(values)[1] if above else False
        has_tail |= below.is_outside(values)[0] if below else False
        most = np.maximum(*self.beyond(values))
        lacking = np.where(has_tail, np.maximum(nats - most, 0.0), 0.0)
        if (most <= nats).all():
            return -lacking
        return DISTANCE * np.log1p(np.maximum(self.tail(values) - nats, 0.0)) - lacking

    def beyond(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the surprise of values above the upper tenth, and below the lower one.

        Values beside a spike are compared with others on their side: it tells of no tail.
        """
        upper, lower = self._tails(values)
        below, above = self._beside
        if above is not None:
            share = math.log(len(self.ordered) / len(above.ordered))
            own = above.beyond(values)[0]
            upper = np.where(own > 0, own + share, 0.0)
        if below is not None:
            share = math.log(len(self.ordered) / len(below.ordered))
            own = below.beyond(values)[1]
            lower = np.where(own > 0, own + share, 0.0)
        return upper, lower

    @functools.cached_property
    def _beside(self) -> tuple[Group | None, Group | None]:
        """What lies below and above a spike, where enough does; of a relation, nothing does."""
        if self.facts.usual is not None or not self._has_spike:
            return None, None
        q50 = self._quantiles[3]
        low, high = np.searchsorted(self.ordered, q50), np.searchsorted(self.ordered, q50, "right")
        return self._part(self.ordered[:low], q50), self._part(self.ordered[high:], q50)

    def _part(self, ordered: Floats, spike: float) -> Group | None:
        """Return a side of a spike, without codes that would make its tail look heavy."""
        values, counts = np.unique(ordered, return_counts=True)
        is_far = np.abs(values - spike) > FAR * distance_off(ordered, spike)
        is_code = is_far & (counts > OUTER_TWENTIETHS[0] * len(ordered))
        ordered = np.repeat(values[~is_code], counts[~is_code])
        varied = len(ordered) - counts[~is_code].max(initial=0)
        return Group(ordered, self.facts) if varied >= VARIED else None

    def _tails(self, values: Floats) -> tuple[Floats, Floats]:
        (upper, above), (lower, below) = self._shapes
        return upper.beyond(values - above), lower.beyond(-values - below)

    @property
    def _has_spike(self) -> bool:
        _, _, q25, q50, q75, _, _ = self._quantiles
        return q50 in (q25, q75)

    @functools.cached_property
    def _shapes(self) -> tuple[tuple[Tail, float], tuple[Tail, float]]:
        """The tail above, and that of the mirrored values, which is the one below.

        With each, how far inward a value begins: on a grid, half a step, as if all were rounded.
        """
        _, _, q25, q50, q75, _, _ = self._quantiles
        exact, step = self._core, self.facts.step
        spread = _spread(exact, step) if step else exact
        upper = (spread, step / 2) if q50 < q75 else (exact, 0.0)
        lower = (spread, step / 2) if q25 < q50 else (exact, 0.0)
        return (self._shape(upper[0]), upper[1]), (self._shape(-lower[0][::-1]), lower[1])

    def _shape(self, ordered: Floats) -> Tail:
        # What lies far out among residuals are rows that break the relation, not its tail, and
        # noise has no rim.
        is_residual, known = self.facts.usual is not None, len(self.ordered)
        off = self.facts.off(self._quantiles[3]) if self._has_spike else 0.0
        share = OUTER_TWENTIETHS[1] if is_residual else 1 - last_share(known)
        has_rim = not is_residual and known >= LEAST_RIM
        return Tail.of(ordered, share, off / TO_QUARTILE, known, has_rim)

    @functools.cached_property
    def _starts(self) -> Counts:
        """The places where a new value begins."""
        return np.flatnonzero(np.diff(self.ordered, prepend=-np.inf))

    def _fade(self, as_far: Counts) -> Floats:
        """Return what is left of surprise, given the copies of a value and the values beyond.

        Values beyond count once: many copies of one code for unknown hide nothing.
        """
        rows = np.maximum(as_far, 1) - 1  # a value alone shares its tail with nobody
        table = _ramp(rows / len(self.facts.ordered), FADES_FROM, FADES_TO)
        return table * _ramp(rows / len(self.ordered), GROUP_FADES_FROM, GROUP_FADES_TO)

    def surprise(self, values: Floats) -> tuple[Floats, Floats]:
        """Return ln rarity of ascending values, and their surprise: distance counts, too."""
        counted = self.log_rarity(values)
        return counted, _joined(counted, self.tail(values))

    def most_surprise(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return upper bounds of tail and surprise of all values between ascending limits.

        Whatever the value, its windows hold what those of both limits share; a tail is longest at
        the outer limit, where it is shared least.
        """
        best = np.ones(len(low))
        for scale, typical in zip(SCALES, self._typical, strict=True):
            reach = scale * self.width / 2
            right = places_of(self.ordered, low + reach, "right")
            near = right - places_of(self.ordered, high - reach, "left")
            best = np.maximum(best, typical / np.maximum(near, 1))
        starts = self._starts
        below = np.searchsorted(starts, places_of(self.ordered, low, "left"), "left")
        above = len(starts) - np.searchsorted(starts, places_of(self.ordered, high, "left"), "left")
        upper, _ = self.beyond(high)
        _, lower = self.beyond(low)
        tail = np.maximum(upper * self._fade(above), lower * self._fade(below))
        counted = np.log(best)
        # Just below the tail, a little less that is counted leaves more surprise.
        less = np.clip(tail - (DISTANCE - 1), 0.0, counted)
        return tail, np.maximum(_joined(counted, tail), _joined(less, tail))


def _joined(counted: Floats, tail: Floats) -> Floats:
    """Return the surprise of what is counted and of distance beyond."""
    return counted + DISTANCE * np.log1p(np.maximum(tail - counted, 0.0))


def _ramp(share: Floats, begin: float, end: float) -> Floats:
    return np.clip((end - share) / (end - begin), 0.0, 1.0)


def last_share(known: int) -> float:
    """Return the share of rows beyond the outermost quantile that tells of a tail."""
    return min(max(LAST_SHARE, LAST_ROWS / known), OUTER_TWENTIETHS[0])


@dataclasses.dataclass(frozen=True, slots=True)
class Tail:
    """What lies above the upper tenth of a group, by places further in and further out."""

    begin: float  # the tenth
    inner: float  # from the median to the quartile
    outer: float  # on to the tenth
    last: float  # on to the twentieth
    end: float  # on to the last quantile
    rim: float  # from the tenth to where hardly any row lies further out
    edge: float  # and how far a few more rows lie from there
    gap: float  # the widest one between neighbours from the median to the rim
    floor: float
    spike: float  # the scale beside a spike
    known: int

    @classmethod
    def of(cls, ordered: Floats, share: float, spike: float, known: int, has_rim: bool) -> Tail:
        """Measure ascending values, the outermost quantile of which leaves such a share below."""
        few, more = (max(1 - rows / len(ordered), 0.0) for rows in RIM_ROWS)
        shares = 0.05, 0.5, 0.75, 0.9, 0.95, share, few, more
        q05, q50, q75, q90, q95, last, rim, before = quantiles(ordered, shares)
        between = ordered[np.searchsorted(ordered, q50) : np.searchsorted(ordered, rim, "right")]
        edge = rim - before if has_rim else 0.0
        gap = float(np.diff(between).max(initial=0.0))
        spacings = q75 - q50, q90 - q75, q95 - q90, last - q95, rim - q90, edge, gap
        return cls(q90, *spacings, (q95 - q05) / 10, spike, known)

    def beyond(self, values: Floats) -> Floats:
        """Return the surprise of values; 0 inside."""
        distance = np.maximum(values - self.begin, 0.0)
        scale = max(self.outer / TO_TENTH, self.inner / TO_QUARTILE, self.floor)
        if self.inner == 0 and self.outer + self.spike > 0:
            scale = max(self.outer / TO_TENTH, self.spike)
        if scale <= 0 or (self.inner == 0 and self.outer == 0 and self.spike == 0):
            return np.where(distance > 0, OFF_A_SPIKE, 0.0)
        distance = np.minimum(distance, FARTHEST * scale)
        nats = TENTH + distance / scale
        if self.inner > self.floor and self.outer > 0:
            shape = self._heaviness
            if shape > 0:
                shape = min(max(shape, 0.01), 1.5)
                nats = TENTH + np.log1p(shape * distance / scale) / shape
            else:
                nats = np.maximum(self._light(distance), self._off_the_rim(distance))
        return np.where(distance > 0, nats, 0.0)

    @property
    def _heaviness(self) -> float:
        """The shape of a tail that is heavier than an exponential one, and not by chance."""
        shares = 0.25, 0.1, 0.05, last_share(self.known)
        shape = max(
            _shape(self.outer / self.inner, TO_TENTH / TO_QUARTILE),
            _shape(self.last / self.outer, _at_most(*shares[:3], self.known)),
        )
        if self.last > 0 and self.end > 0:
            shape = max(shape, _shape(self.end / self.last, _at_most(*shares[1:], self.known)))
        return shape

    def _light(self, distance: Floats) -> Floats:
        by_tenth = TO_TENTH_POWER / math.log1p(self.outer / self.inner)
        by_last = TO_LAST_POWER / math.log1p((self.outer + self.last) / self.inner)
        power = min(max(by_tenth, by_last, 1.0), LIGHTEST)
        power = 1 + self.known / (self.known + 50) * (power - 1)
        return TO_QUARTILE * (1 + ((distance + self.inner + self.outer) / self.inner) ** power)

    def _off_the_rim(self, distance: Floats) -> Floats:
        """Return the surprise of values beyond those where a light tail ends, as ratings do.

        An exponential tail through the outermost rows, of which a few may be wrong. It begins
        beyond a gap as wide as there is one inside: what comes in clusters may go on.
        """
        few, more = RIM_ROWS
        if self.edge <= 0:
            return np.zeros(len(distance))
        beyond, scale = distance - (self.rim + self.gap), self.edge / math.log(more / few)
        over = np.minimum(np.maximum(beyond, 0.0) / scale, FARTHEST)
        return np.where(beyond > 0, math.log(self.known / few) + over, 0.0)


def _at_most(inner: float, middle: float, outer: float, known: int) -> float:
    """Return the ratio of two spacings of an exponential tail that chance may show.

    These are the distances between the values beyond which such shares of the rows lie. The
    standard error of the logarithm of each is that of a count of the rows in it.
    """
    ratio = math.log(middle / outer) / math.log(inner / middle)
    rows = known * (middle - outer), known * (inner - middle)
    return ratio * math.exp(math.sqrt(1 / rows[0] + 1 / rows[1]))


def _shape(ratio: float, exponential: float) -> float:
    """Return the shape of a generalised Pareto tail by two spacings of quantiles; 0: not heavy.

    The ratio grows with the shape as exp(0.8 shape), nearly.
    """
    return math.log(ratio / exponential) / 0.8 if ratio > exponential else 0.0
