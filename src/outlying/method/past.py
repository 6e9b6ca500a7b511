"""A row beside others of its thing in time: steps, runs of equal values, gaps, first times (6b).

A *timeline* holds the moments of each thing in order. Any row has its place there, whether or not
it is one of those that the timeline was made of: so cells of batches and new objects are compared
like those of the table. Looking back only, nothing that comes later is used.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

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
    spread,
)
from outlying.method.rules import (
    LEAST_CHANCE,
    LEAST_COVERED,
    LEAST_OWN,
    MOST_BROKEN,
    OwnKind,
    known_codes,
    own_kind,
)
from outlying.method.rules import MOST_OF_CHANCE as MOST_BY_CHANCE

#: A time names rows, alone or with a thing, if so many of them have a moment of their own.
NAMED = 0.98
#: How far rows of a thing usually are is known by its own rows, and by so many of all others.
PULL = 10.0
#: Numbers that never fall begin anew in so few rows: more of them, and that is their way.
MOST_ANEW, LEAST_ANEW = 1e-3, 2
#: Readings repeat by chance in no more than this share of all runs.
MOST_REPEATED = 0.3
#: So few runs that are too long are expected by chance.
BY_CHANCE = 1e-3
#: A value that stood still this often before may do so again, for twice as long.
OFTEN = 3
#: The share of rows that may be far from those before them: a wrong row is, and the one after it.
MOST_JUMPS = 2 * MOST_EXCEPTIONS
#: Gaps are told by their logarithm; the usual distance is no less than this.
LEAST_GAP = 0.2
#: Rows of a thing from which on a label that it never had is told.
LEAST_SEEN = 8
#: New labels are no surprise where they are no rarer than this share of what chance would give.
MOST_OF_CHANCE = 0.2
#: What the hour of the day must explain of what things leave; of no time, the hour is behind them.
LEAST_SEASON, HOURS = 0.5, 24

Places: TypeAlias = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class Around:
    """The places before and after rows on a timeline, of the same thing; -1 where there is none."""

    before: Places
    after: Places


@dataclasses.dataclass(frozen=True, eq=False)
class Timeline:
    """The moments of each thing, in order, each once."""

    things: Codes  # of each place
    times: Floats
    moments: Floats  # of all things
    keys: Counts  # by thing, then by moment

    @classmethod
    def of(cls, things: Codes, times: Floats) -> Timeline:
        """Put rows that have a thing and a time in order."""
        moments = np.unique(times)
        keys = np.unique(things.astype(np.int64) * len(moments) + np.searchsorted(moments, times))
        own, rank = np.divmod(keys, max(len(moments), 1))
        return cls(own.astype(np.int32), moments[rank], moments, keys)

    def __len__(self) -> int:
        return len(self.keys)

    def located(self, things: Codes, times: Floats) -> tuple[Places, npt.NDArray[np.bool_]]:
        """Return where rows are, or would be, and whether there is a place of theirs."""
        if not len(self):
            return np.zeros(len(things), dtype=np.int64), np.zeros(len(things), dtype=bool)
        rank = np.searchsorted(self.moments, times)
        keys = things.astype(np.int64) * len(self.moments) + rank
        places = np.searchsorted(self.keys, keys)
        inside = np.minimum(places, len(self) - 1)
        return places, (self.keys[inside] == keys) & (self.times[inside] == times)

    def around(self, things: Codes, times: Floats) -> Around:
        """Return the places before and after rows, of their own thing."""
        places, is_own = self.located(things, times)
        return Around(self.within(things, places - 1), self.within(things, places + is_own))

    def within(self, things: Codes, places: Places) -> Places:
        """Return places of the same thing; -1 for others."""
        inside = np.clip(places, 0, max(len(self) - 1, 0))
        fits = (places >= 0) & (places < len(self)) & (things >= 0)
        return (
            np.where(fits & (self.things[inside] == things), inside, -1)
            if len(self)
            else inside - 1
        )

    def rows_before(self, things: Codes, times: Floats) -> Counts:
        """Return how many moments of their own thing lie before rows."""
        places, _ = self.located(things, times)
        starts = np.searchsorted(self.things, things)
        return np.where(things >= 0, places - starts, 0)

    def values(self, things: Codes, times: Floats, values: Floats) -> Floats:
        """Return what each place holds: the median where several rows have the same moment."""
        places, _ = self.located(things, times)
        order = np.lexsort((values, places))
        starts = np.searchsorted(places[order], np.arange(len(self)))
        counts = np.diff(np.append(starts, len(order)))
        low, high = starts + (counts - 1) // 2, starts + counts // 2
        return np.asarray((values[order[low]] + values[order[high]]) / 2)


def names_rows(things: Codes, times: Floats) -> bool:
    """Return whether nearly every row has a moment of its own."""
    known = (things >= 0) & ~np.isnan(times)
    if np.count_nonzero(known) < max(LEAST_ROWS, NAMED * len(things)):
        return False
    return len(Timeline.of(things[known], times[known])) >= NAMED * len(things)


def medians(things: Codes, values: Floats, least: int) -> Floats:
    """Return the median of each thing's values; NaN where these are fewer than the least."""
    rows = np.bincount(things)
    starts = np.cumsum(rows) - rows
    ordered = values[np.lexsort((values, things))]
    has = np.flatnonzero(rows >= least)
    found = np.full(len(rows), np.nan)
    low, high = starts[has] + (rows[has] - 1) // 2, starts[has] + rows[has] // 2
    found[has] = (ordered[low] + ordered[high]) / 2
    return found


def _at(values: Floats, places: Places) -> Floats:
    """Return the values of places; NaN where there is none."""
    return np.where(places >= 0, values[places], np.nan)


def _neighbours(
    timeline: Timeline, values: Floats, things: Codes, near: Around
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return what the second row before holds, the one before, the one after, and the second."""
    two_before = timeline.within(things, np.where(near.before < 0, -1, near.before - 1))
    two_after = timeline.within(things, np.where(near.after < 0, -1, near.after + 1))
    second, first, third, fourth = (
        _at(values, places) for places in (two_before, near.before, near.after, two_after)
    )
    return second, first, third, fourth


@dataclasses.dataclass(frozen=True, eq=False)
class Steps:
    """What the rows before and after say of a number."""

    timeline: Timeline
    values: Floats  # of each place, on the scale of the steps
    least: float | None  # of logarithms; None in plain space
    only_before: bool
    explained: float
    distances: Distances | None = None  # None until they are known
    factors: Floats = dataclasses.field(default_factory=lambda: np.ones(1))  # of each thing
    at_ends: float = 1.0  # how much farther rows are that have neighbours on one side only

    def suggested(self, things: Codes, near: Around, *, only_before: bool) -> Floats:
        """Return what neighbours suggest: rows x ways to see it, NaN where there is none."""
        second, first, third, fourth = _neighbours(self.timeline, self.values, things, near)
        if only_before:
            return np.column_stack([first, second, 2 * first - second])
        both = [(first + third) / 2, (second + fourth) / 2]
        lines = [2 * first - second, 2 * third - fourth]
        second, fourth = (
            np.where(np.isnan(fourth), second, np.nan),
            np.where(np.isnan(second), fourth, np.nan),
        )
        return np.column_stack([first, third, *both, *lines, second, fourth])

    def expected(self, things: Codes, near: Around, values: Floats) -> Floats:
        """Return the closest of what neighbours suggest: those of a wrong row are not wrong."""
        return _closest(self.suggested(things, near, only_before=self.only_before), values)

    def usual(self, things: Codes, near: Around, expected: Floats) -> Floats:
        """Return how far rows usually are from it: more at the ends, where one side is missing."""
        assert self.distances is not None  # noqa: S101 - known once it is found
        factors = np.append(self.factors, 1.0)[np.clip(things, -1, len(self.factors))]
        if not self.only_before:
            factors = factors * np.where((near.before < 0) | (near.after < 0), self.at_ends, 1.0)
        return np.asarray(self.distances.usual(expected) * factors)

    def range(self, things: Codes, near: Around, values: Floats) -> tuple[float, float]:
        """Return the least and the greatest number that is expected of one row, on its scale.

        It reaches from one neighbour to the other, unless these are so far apart that a number
        between them is odd.
        """
        expected = self.expected(things, near, values)
        sides = [_at(self.values, near.before)[0], _at(self.values, near.after)[0], expected[0]]
        if self.only_before:
            del sides[1]
        reach = EXPECTED * float(self.usual(things, near, expected)[0])
        low, high = float(np.nanmin(sides)) - reach, float(np.nanmax(sides)) + reach
        middle = float(expected[0])
        if low <= values[0] <= high and abs(values[0] - middle) > reach:
            return middle - reach, middle + reach
        return low, high

    def residuals(self, things: Codes, near: Around, values: Floats) -> Floats:
        """Return how far values are from what neighbours suggest, in usual distances."""
        expected = self.expected(things, near, values)
        found = (values - expected) / self.usual(things, near, expected)
        return np.clip(found, -FARTHEST, FARTHEST)


def _closest(suggested: Floats, values: Floats) -> Floats:
    away = np.abs(suggested - values[:, None])
    best = np.argmin(np.where(np.isnan(away), np.inf, away), axis=1)
    return np.asarray(suggested[np.arange(len(values)), best])


def steps(
    timeline: Timeline, values: Floats, least: float | None, *, only_before: bool
) -> Steps | None:
    """Return what neighbours in time say of numbers, if that is much more than their thing says."""
    if len(values) < LEAST_ROWS or len(np.unique(values)) < LEAST_DISTINCT:
        return None
    explained = explained_by_neighbours(timeline, values)
    if explained < LEAST_EXPLAINED:
        return None
    things, near = timeline.things, timeline.around(timeline.things, timeline.times)
    found = Steps(timeline, values, least, only_before, explained)
    expected = found.expected(things, near, values)
    told = ~np.isnan(expected)
    away = np.abs(values - expected)
    if np.count_nonzero(told) < LEAST_COVERED * len(values) or away[told].max() <= 0:
        return None
    distances = Distances.of(expected[told], away[told])
    relative = away[told] / distances.usual(expected[told])
    before = _closest(found.suggested(things, near, only_before=True), values)
    one_sided = np.abs(values - before) / distances.usual(before)
    one_sided = one_sided[~np.isnan(one_sided)]
    at_ends = float(np.quantile(one_sided, USUAL))
    # What often jumps and stays there, as an hour that begins again at 0, is no slow number.
    if share_of_exceptions(one_sided / max(1.0, at_ends)) > MOST_JUMPS:
        return None
    found = dataclasses.replace(
        found,
        distances=distances,
        factors=_factors(things[told], np.minimum(relative, EXPECTED)),
        at_ends=max(1.0, at_ends),
    )
    residuals = found.residuals(things, near, values)[told]
    return found if share_of_exceptions(residuals) <= MOST_EXCEPTIONS else None


def _factors(things: Codes, relative: Floats) -> Floats:
    """Return how much farther than others the rows of each thing are, drawn towards 1."""
    rows = np.bincount(things)
    sums = np.bincount(things, weights=relative)
    return (sums / max(float(relative.mean()), DUST) + PULL) / (rows + PULL)


def explained_by_neighbours(
    timeline: Timeline, values: Floats, things_away: Sequence[int] = (0,)
) -> float:
    """Return what the mean of both neighbours explains of what a thing's own level leaves.

    By default neighbours of the thing itself; else those of things so many codes away.
    """
    near = [timeline.around(timeline.things + step, timeline.times) for step in things_away]
    sides = [_at(values, places) for item in near for places in (item.before, item.after)]
    away = values - np.mean(sides, axis=0)
    told = ~np.isnan(away)
    level = medians(timeline.things, values, 1)
    width = spread((values - level[timeline.things])[told])
    return 1 - (spread(away[told]) / width) ** 2 if width > 0 else 0.0


@dataclasses.dataclass(frozen=True, eq=False)
class Climb:
    """That a number never falls from one row to the next, such as that of a meter."""

    timeline: Timeline
    values: Floats  # of each place, times the sign
    sign: float  # -1: it never rises
    only_before: bool
    usual: float = 1.0  # how far it moves
    holding: int = 0
    known: int = 0

    def residuals(self, things: Codes, near: Around, values: Floats) -> Floats:
        """Return 0 where the order holds, else how far values are below those before them.

        Or above those after them, where order returns without this row.
        """
        own = self.sign * values
        second, first, third, fourth = _neighbours(self.timeline, self.values, things, near)
        is_low, is_high = own < first, np.zeros(len(own), dtype=bool)
        if not self.only_before:
            is_low &= ~((first > third) & ~(second > own))
            is_high = (own > third) & (own > fourth) & ~(first > third)
        away = np.where(is_low, own - first, np.where(is_high, own - third, 0.0))
        found = self.sign * (np.sign(away) * BROKEN + away / self.usual)
        is_alone = np.isnan(first) & (np.isnan(third) | self.only_before)
        return np.where(is_alone | np.isnan(own), np.nan, np.clip(found, -FARTHEST, FARTHEST))


def climb(timeline: Timeline, values: Floats, *, only_before: bool) -> Climb | None:
    """Return that numbers never fall, or never rise, from row to row of a thing.

    Not where chance would leave them in order, nor where they often begin anew.
    """
    things, places = timeline.things, np.arange(len(values))
    moves = values - _at(values, timeline.within(things, places - 1))
    known = int(np.count_nonzero(~np.isnan(moves)))
    starts, ends = (np.searchsorted(things, things, side) for side in ("left", "right"))
    chance = np.count_nonzero(values != values[starts + ends - 1 - places]) / 2
    if known < LEAST_ROWS or chance < LEAST_CHANCE * known:
        return None
    for sign in (1.0, -1.0):
        falls = int(np.count_nonzero(sign * moves < 0))
        if falls > min(MOST_BROKEN * known, MOST_BY_CHANCE * chance):
            continue
        after = _at(values, timeline.within(things, places + 1))
        stays = np.count_nonzero((sign * moves < 0) & (sign * (after - values + moves) < 0))
        if stays > max(MOST_ANEW * known, LEAST_ANEW):
            continue
        usual = float(np.nanmean(np.abs(moves[moves * sign >= 0])))
        return Climb(timeline, sign * values, sign, only_before, usual, known - falls, known)
    return None


@dataclasses.dataclass(frozen=True, eq=False)
class Runs:
    """How long numbers stand still, and from which length on that is no chance."""

    timeline: Timeline
    values: Floats
    before: Counts  # equal values up to each place, itself included
    after: Counts  # from each place on
    limits: Floats  # of each thing; the last is that of a new one
    often: dict[float, float]  # limits of values that stand still often
    only_before: bool

    def most(self, things: Codes, values: Floats) -> Floats:
        """Return how many equal values in a row may be chance."""
        found = self.limits[known_codes(things, len(self.limits) - 1)]
        for value, limit in self.often.items():
            found[values == value] = np.maximum(found[values == value], limit)
        return found

    def lengths(self, things: Codes, times: Floats, values: Floats) -> Counts:
        """Return how many equal values in a row there are, with the row itself."""
        return self._lengths(things, times, values)[0]

    def _lengths(self, things: Codes, times: Floats, values: Floats) -> tuple[Counts, Counts]:
        """Return how many equal values in a row there are, and how many of them up to here."""
        near = self.timeline.around(things, times)
        so_far = 1 + np.where(_at(self.values, near.before) == values, self.before[near.before], 0)
        if self.only_before:
            return so_far, so_far
        after = np.where(_at(self.values, near.after) == values, self.after[near.after], 0)
        return so_far + after, so_far

    def start(self, things: Codes, times: Floats, values: Floats) -> float:
        """Return when the run of a single row begins."""
        place = int(self.timeline.around(things, times).before[0])
        if place < 0 or self.values[place] != values[0]:
            return float(times[0])
        return float(self.timeline.times[place - self.before[place] + 1])

    def residuals(self, things: Codes, times: Floats, values: Floats) -> Floats:
        """Return 0 where values change, as usual, else how much too long they stand still.

        A run is one event, so that its rows must not make each other look common: they differ by
        how long it has lasted.
        """
        lengths, so_far = self._lengths(things, times, values)
        limits = self.most(things, values)
        found = np.where(lengths > limits, BROKEN * (lengths + so_far) / limits, 0.0)
        return np.where((things < 0) | np.isnan(times) | np.isnan(values), np.nan, found)


def runs(timeline: Timeline, values: Floats, *, only_before: bool) -> Runs | None:
    """Return how long numbers stand still; None where they do so by chance."""
    if len(values) < LEAST_ROWS or len(np.unique(values)) < LEAST_DISTINCT:
        return None
    is_new = np.ones(len(values), dtype=bool)
    is_new[1:] = (values[1:] != values[:-1]) | (timeline.things[1:] != timeline.things[:-1])
    starts = np.flatnonzero(is_new)
    lengths = np.diff(np.append(starts, len(values)))
    repeated = (np.count_nonzero(lengths > 1) + 1) / (len(starts) + 2)
    if repeated > MOST_REPEATED:
        return None
    things = timeline.things[starts]
    more = np.bincount(things, lengths > 1) - 1  # but one, which may be the one that is too long
    share = (more + PULL * repeated) / (np.bincount(things) - 1 + PULL)
    share = np.append(np.maximum(share, repeated), repeated)
    limits = 1 + math.log(len(values) / BY_CHANCE) / -np.log(share)
    own = np.repeat(np.arange(len(starts)), lengths)
    before = np.arange(len(values)) - starts[own] + 1
    often = {}
    long = lengths > 1
    for value in np.unique(values[starts[long]]).tolist():
        same = np.sort(lengths[long & (values[starts] == value)])
        if len(same) >= OFTEN:
            often[value] = 2.0 * float(same[-OFTEN])
    found = Runs(
        timeline, values, before, lengths[own] - before + 1, limits, often, only_before=only_before
    )
    broken = found.residuals(timeline.things, timeline.times, values)
    return found if np.mean(broken > 0) <= MOST_EXCEPTIONS else None


@dataclasses.dataclass(frozen=True, eq=False)
class Gaps:
    """How long after the row before of the same thing a row comes, usually."""

    timeline: Timeline
    middle: Floats  # of the logarithms of the gaps of each thing; NaN where these are few
    usual: float

    def lengths(self, things: Codes, times: Floats) -> Floats:
        """Return the time since the row before, of the same thing; NaN where there is none."""
        return times - _at(self.timeline.times, self.timeline.around(things, times).before)

    def residuals(self, things: Codes, times: Floats) -> Floats:
        """Return how much longer or shorter than usual the gap before a row is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.log(self.lengths(things, times))
        things = known_codes(things, len(self.middle))
        found = (own - np.append(self.middle, np.nan)[things]) / self.usual
        return np.asarray(np.clip(found, -FARTHEST, FARTHEST))


def gaps(timeline: Timeline) -> Gaps | None:
    """Return how far apart the rows of things usually are, where that is regular."""
    found = Gaps(timeline, np.zeros(int(timeline.things.max(initial=0)) + 1), 1.0)
    own = found.residuals(timeline.things, timeline.times)
    known = np.isfinite(own)
    if np.count_nonzero(known) < max(LEAST_ROWS, LEAST_COVERED * len(timeline)):
        return None
    middle = np.full(len(found.middle), np.nan)
    medians_known = medians(timeline.things[known], own[known], LEAST_OWN)
    middle[: len(medians_known)] = medians_known
    away = own - middle[timeline.things]
    away = np.abs(away[~np.isnan(away)])
    if len(away) < max(LEAST_ROWS, LEAST_COVERED * len(timeline)):
        return None
    usual = max(LEAST_GAP, float(np.quantile(away, 0.975)) / EXPECTED)
    if usual > math.log(2) or np.mean(away > 2 * EXPECTED * usual) > MOST_EXCEPTIONS:
        return None
    return Gaps(timeline, middle, usual)


@dataclasses.dataclass(frozen=True, eq=False)
class FirstTimes:
    """Which labels each thing has had, and since when."""

    timeline: Timeline
    rows: Counts  # of each thing
    labels: int
    pairs: Counts  # things and labels that occur together
    counts: Counts
    first: Floats  # the first time of each pair
    only_before: bool

    def rows_of(self, things: Codes, times: Floats) -> Counts:
        """Return how many rows of its thing tell what is new to it."""
        if self.only_before:
            return self.timeline.rows_before(things, times)
        return np.where(things >= 0, self.rows[things], 0)

    def residuals(self, things: Codes, times: Floats, labels: Codes) -> Floats:
        """Return 0 where a thing has had a label, else how many rows it had without it."""
        pairs = things.astype(np.int64) * (self.labels + 1) + np.minimum(labels, self.labels)
        places = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        is_known = self.pairs[places] == pairs
        is_first = self.first[places] >= times
        if not self.only_before:
            is_first = (self.counts[places] < 2) & (self.first[places] == times)
        rows = self.rows_of(things, times)
        found = np.where(~is_known | is_first, BROKEN + rows, 0.0)
        is_told = (things >= 0) & (labels >= 0) & (rows >= LEAST_SEEN) & ~np.isnan(times)
        return np.where(is_told, found, np.nan)


def first_times(
    things: Codes, times: Floats, labels: Codes, count: int, *, only_before: bool
) -> FirstTimes | None:
    """Return which of so many labels things have, if hardly ever one has a new one.

    Hardly ever: in few rows, and in far fewer than if labels had nothing to do with things.
    """
    known = (things >= 0) & (labels >= 0) & ~np.isnan(times)
    own, when, own_labels = things[known], times[known], labels[known]
    if len(own) < LEAST_ROWS:
        return None
    keys = own.astype(np.int64) * (count + 1) + own_labels
    order = np.lexsort((when, keys))
    pairs, first, counts = np.unique(keys[order], return_index=True, return_counts=True)
    rows = np.bincount(own, minlength=int(things.max()) + 1)
    timeline = Timeline.of(own, when)
    found = FirstTimes(timeline, rows, count, pairs, counts, when[order][first], only_before)
    residuals = found.residuals(own, when, own_labels)
    told = residuals[~np.isnan(residuals)]
    if len(told) < LEAST_COVERED * len(things) or np.mean(told > 0) > MOST_EXCEPTIONS:
        return None
    by_chance = 1 - np.bincount(own_labels, minlength=count)[own_labels] / len(own_labels)
    by_chance = (by_chance ** found.rows_of(own, when))[~np.isnan(residuals)]
    if np.mean(told > 0) > MOST_OF_CHANCE * np.mean(by_chance):
        return None
    # Where each thing has one label, that follows from the thing, and a rule says so.
    several = np.count_nonzero(np.bincount(pairs // (count + 1)) > 1)
    return found if several >= LEAST_OWN else None


@dataclasses.dataclass(frozen=True, eq=False)
class Season:
    """What is usual of a number at each hour of the day, beside the level of its own thing."""

    profile: Floats  # of each hour, and of none; NaN where there are few rows
    kind: OwnKind

    def without(self, hours: Codes, values: Floats) -> Floats:
        """Return values without what the hour adds to them."""
        return values - self.profile[hours]


def season(things: Codes, hours: Codes, values: Floats, least: float | None) -> Season | None:
    """Return what the hour of the day says of numbers, if that is much of what things leave."""
    known = (things >= 0) & (hours < HOURS) & ~np.isnan(values)
    own, at, left = things[known], hours[known], values[known]
    if len(own) < LEAST_ROWS or len(np.unique(at)) < LEAST_DISTINCT:
        return None
    left = left - medians(own, left, 1)[own]
    profile = np.append(medians(at, left, LEAST_SEEN), np.full(HOURS + 1, np.nan))[: HOURS + 1]
    told = left - profile[at]
    width = spread(left)
    if width <= 0 or np.isnan(told).any():
        return None
    if 1 - (spread(told) / width) ** 2 < LEAST_SEASON:
        return None
    kind = own_kind(things, values - profile[hours], least, is_known=True)
    return None if kind is None else Season(profile, kind)
