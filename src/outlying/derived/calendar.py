"""Parts of dates and times: hour of day, day of week, day of month, month.

A column of moments is one long line, on which 03:12 is like any other time. Only what repeats in
the data is a part of its own: within a day the hour tells no more than the moment itself.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.derived.derivation import PartDerivation
from outlying.sentences import MONTHS, WEEKDAYS
from outlying.table.columns import Column, NumericColumn, frozen
from outlying.table.table import Part
from outlying.table.values import Counts, Floats, Form, Value

#: Forms that have parts; a date has no hour, a time of day nothing else.
DATES: tuple[Form, ...] = ("date", "datetime", "instant", "time")
#: Fewer rows show no habit.
LEAST_ROWS = 30
#: An hour is a whole number of minutes: finer times are told by the moment itself.
MINUTE = 60_000_000.0
MINUTES = 24 * 60
DAY = MINUTE * MINUTES
_FARTHEST = 10_000 * 365.25 * DAY  # moments beyond have no date
#: The circle of the day is searched for its emptiest place in steps of so many minutes, and where
#: none is empty, by the rows within so many steps.
_STEP = 5
_WINDOW = 24

#: Whole numbers are hours and minutes (517, 2359) if so many of 100 or more differ, with so many
#: minutes, one of them so late, in so many hours, one after noon; and so few cannot be.
LEAST_CLOCK, LEAST_MINUTES, LATE_MINUTE, LEAST_HOURS, AFTERNOON = 30, 4, 45, 3, 13
MOST_OTHERS, MOST_OTHERS_SHARE = 1_000, 0.02
_FOUR_DIGITS = re.compile("[0-9]{4}")  # hours and minutes as texts have zeros in front: 0312

Days: TypeAlias = npt.NDArray[np.int64]


#: In how many days, weeks, months and years there must be rows, that a part of them repeats.
LEAST_PERIODS = {Part.HOUR: 7, Part.WEEKDAY: 4, Part.DAY: 4, Part.MONTH: 3}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class CalendarFacts:
    """The days on which there are rows, and how many rows each minute of the day has."""

    days: Days
    minutes: Counts
    others: int = 0  # rows with a whole number that is no hour and minute

    @classmethod
    def of(cls, values: Floats, rows: Counts | None = None) -> CalendarFacts:
        """Count moments in microseconds, or `rows` of each; NaN is missing."""
        known = _in_calendar(values)
        days, minutes = _split(values[known])
        counts = np.bincount(minutes, None if rows is None else rows[known], MINUTES)
        return cls(_distinct(days), counts.astype(np.int64))

    def merged(self, other: CalendarFacts) -> CalendarFacts:
        """Return the facts of the rows of both."""
        return CalendarFacts(
            np.union1d(self.days, other.days),
            self.minutes + other.minutes,
            self.others + other.others,
        )

    @classmethod
    def of_clock(cls, values: Floats, rows: Counts | None = None) -> CalendarFacts:
        """Count whole numbers that may be hours and minutes, or `rows` of each."""
        minutes = _clock_minutes(values)
        is_time, weights = ~np.isnan(minutes), np.ones(len(values)) if rows is None else rows
        counts = np.bincount(minutes[is_time].astype(int), weights[is_time], minlength=MINUTES)
        others = int(weights[~is_time & ~np.isnan(values)].sum())
        return cls(np.zeros(0, dtype=np.int64), counts.astype(np.int64), others)

    @classmethod
    def of_texts(cls, rows: Mapping[str, int]) -> CalendarFacts:
        """Count texts that may be hours and minutes, by the rows of each."""
        return cls.of_clock(_four_digits(rows), np.array([*rows.values()], dtype=np.int64))

    @property
    def is_clock(self) -> bool:
        """Whether whole numbers are hours and minutes: none has a minute of 60 or later.

        Rooms and courses count on from 1, and hardly reach the last minutes of an hour.
        """
        rows = int(self.minutes.sum())
        if self.others > min(MOST_OTHERS, MOST_OTHERS_SHARE * rows) or rows < LEAST_ROWS:
            return False
        hours, minutes = np.divmod(np.flatnonzero(self.minutes[60:]) + 60, 60)
        return (
            len(hours) >= LEAST_CLOCK
            and len(np.unique(minutes)) >= LEAST_MINUTES
            and int(minutes.max()) >= LATE_MINUTE
            and len(np.unique(hours)) >= LEAST_HOURS
            and int(hours.max()) >= AFTERNOON
        )

    def parts(self, form: Form) -> Iterator[Part]:
        """Return the parts that repeat, and differ."""
        if self.minutes.sum() < LEAST_ROWS:
            return
        if form not in DATES:
            if self.is_clock:
                yield Part.HOUR
            return
        if form == "time":
            if self.is_across_midnight:
                yield Part.HOUR
            return
        months = _months(self.days)
        have_hours = form != "date" and np.count_nonzero(self.minutes) > 1
        if have_hours and len(self.days) >= LEAST_PERIODS[Part.HOUR]:
            yield Part.HOUR
        for part, numbers, periods in (
            (Part.WEEKDAY, _weekdays(self.days), (self.days + 3) // 7),
            (Part.DAY, _days_of_month(self.days), months),
            (Part.MONTH, months % 12, months // 12),
        ):
            if len(np.unique(periods)) >= LEAST_PERIODS[part] and len(np.unique(numbers)) > 1:
                yield part

    @property
    def is_across_midnight(self) -> bool:
        """Whether hours that belong together lie at both ends of the day."""
        cut = self.cut
        return bool(self.minutes[:cut].any() and self.minutes[cut:].any())

    @property
    def cut(self) -> int:
        """The minute where the circle of the day is cut: in the middle of its emptiest place."""
        steps = self.minutes.reshape(-1, _STEP).sum(axis=1)
        start, length = _longest_empty(steps)
        if not length:
            sums = np.convolve(np.concatenate([steps, steps[: _WINDOW - 1]]), np.ones(_WINDOW))
            start, length = int(np.argmin(sums[_WINDOW - 1 : _WINDOW - 1 + len(steps)])), _WINDOW
        return (start + length // 2) % len(steps) * _STEP


@dataclasses.dataclass(frozen=True, slots=True)
class CalendarDerivation(PartDerivation):
    """How a part of moments is computed."""

    cut: int = 0  # the minute at which the line of the hours begins
    is_exact: bool = False  # whether hours are not rounded to minutes: those of times of day
    is_clock: bool = False  # whether the parent holds whole numbers such as 517 for 05:17

    @property
    def replaces_parent(self) -> bool:
        """Whether the parent itself is not compared: its circle is."""
        return self.is_exact or self.is_clock

    @property
    def gives_conditions(self) -> bool:
        """True: all parts of dates and times group rows."""
        return True

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last minute of the line; the days of a month."""
        if self.part is Part.HOUR:
            last = DAY - (1 if self.is_exact else MINUTE)
            return self.cut * MINUTE, self.cut * MINUTE + last
        return (1.0, 31.0) if self.part is Part.DAY else (math.nan, math.nan)

    def computed(self, parent: Column) -> Column:
        """Compute the part of each moment."""
        values = MINUTE * _clock_minutes(_numbers(parent)) if self.is_clock else _numbers(parent)
        known = _in_calendar(values)
        days, minutes = _split(values[known])
        if self.part in (Part.WEEKDAY, Part.MONTH):
            of_week = self.part is Part.WEEKDAY
            codes = np.full(len(known), -1, dtype=np.int32)
            codes[known] = _by_day(_weekdays if of_week else _months_of_year, days)
            return self._labelled(WEEKDAYS if of_week else MONTHS, codes)
        found = np.full(len(known), np.nan)
        if self.part is Part.DAY:
            found[known] = _by_day(_days_of_month, days)
            return NumericColumn(self.name, "integer", frozen(found), self)
        times = values[known] if self.is_exact else MINUTE * minutes
        found[known] = times + np.where(minutes < self.cut, DAY, 0.0)
        return NumericColumn(self.name, "time", frozen(found), self)


def calendar_derivations(
    parent: str, form: Form, facts: CalendarFacts
) -> Iterator[CalendarDerivation | NoTime]:
    """Return the parts of a column of moments that may say something."""
    is_clock = form not in DATES
    for part in facts.parts(form):
        cut = facts.cut if part is Part.HOUR else 0
        yield CalendarDerivation(parent, part, cut, is_exact=form == "time", is_clock=is_clock)
        if is_clock and facts.others:
            yield NoTime(parent, Part.WRITTEN, int(facts.minutes.sum()))


@dataclasses.dataclass(frozen=True, slots=True)
class NoTime(PartDerivation):
    """Which whole number among hours and minutes is none: 1275."""

    times: int

    def computed(self, parent: Column) -> Column:
        """Name the numbers that are no time of day."""
        if not parent.is_numeric:
            are_times = ~np.isnan(_clock_minutes(_four_digits(parent.labels)))
            pairs = zip(parent.labels, are_times.tolist(), strict=True)
            return self._labelled(
                ["a time" if is_time else f"'{text}'" for text, is_time in pairs], parent.codes
            )
        is_time = ~np.isnan(_clock_minutes(parent.values))
        others, places = np.unique(parent.values[~is_time], return_inverse=True)
        words = [None if np.isnan(other) else f"'{int(other)}'" for other in others.tolist()]
        codes = np.full(len(parent.values), len(words))
        codes[~is_time] = places
        return self._labelled([*words, "a time"], codes)

    def remark(self, value: Value) -> str | None:
        """Say that a number is no time of day."""
        number = _four_digits([value]) if isinstance(value, str) else np.array([value], dtype=float)
        is_time = not np.isnan(_clock_minutes(number))[0]
        return None if is_time else f"is no time of day, in a column of {self.times:,} times"


def _numbers(column: Column) -> Floats:
    """Return the numbers of a column, or of its texts of four digits; -1 of other texts."""
    if column.is_numeric:
        return column.values
    return np.append(_four_digits(column.labels), math.nan)[column.codes]


def _four_digits(texts: Iterable[object]) -> Floats:
    words = map(str, texts)
    return np.array([float(word) if _FOUR_DIGITS.fullmatch(word) else -1.0 for word in words])


@np.errstate(invalid="ignore")  # infinite numbers of columns that are not compared
def _clock_minutes(values: Floats) -> Floats:
    """Return the minute of the day of numbers such as 517 and 2359; NaN of what is none."""
    hours = np.floor(values / 100)
    minutes = values - 100 * hours
    is_time = (values >= 0) & (values <= 2400) & (minutes < 60) & (np.floor(values) == values)
    return np.where(is_time, (60 * hours + minutes) % MINUTES, np.nan)


def _in_calendar(values: Floats) -> npt.NDArray[np.bool_]:
    """Return which moments are known, and not so far away that no calendar has them."""
    return np.abs(values) < _FARTHEST


def _split(values: Floats) -> tuple[Days, npt.NDArray[np.int64]]:
    """Return the day of each moment, since 1970, and the minute of that day."""
    minutes = np.floor(values).astype(np.int64) // int(MINUTE)
    days = minutes // MINUTES
    return days, minutes - days * MINUTES


def _distinct(days: Days) -> Days:
    """Return each day once; where they lie close together, without sorting."""
    if not len(days):
        return days
    first, last = int(days.min()), int(days.max())
    if last - first > 4 * len(days):
        return np.unique(days)
    return np.flatnonzero(np.bincount(days - first)) + first


def _by_day(part_of: Callable[[Days], Days], days: Days) -> Days:
    """Return a part of each day; where they lie close together, each day is looked at once."""
    first, last = (int(days.min()), int(days.max())) if len(days) else (0, 0)
    if last - first >= len(days):
        return part_of(days)
    return part_of(np.arange(first, last + 1))[days - first]


def _weekdays(days: Days) -> Days:
    """Return 0 for Monday; the first of January 1970 was a Thursday."""
    return np.asarray((days + 3) % 7)


def _months(days: Days) -> Days:
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _months_of_year(days: Days) -> Days:
    """Return 0 for January."""
    return _months(days) % 12


def _days_of_month(days: Days) -> Days:
    first = _months(days).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return np.asarray(days - first + 1)


def _longest_empty(counts: Counts) -> tuple[int, int]:
    """Return start and length of the longest run of zeros on a circle, the first of equals."""
    full = np.flatnonzero(counts)
    if not len(full):
        return 0, len(counts)
    gaps = np.diff(full, append=full[0] + len(counts)) - 1
    longest = int(np.argmax(gaps))
    return int(full[longest]) + 1, int(gaps[longest])
