"""Dates and times of day in the common styles: 11/06/2020, 11 Jun 2020, 2020-06-11T14:30Z.

Texts of one shape have their digits in the same places, so that all of them are read at once.
Whether 06/11/2020 is in June or in November is left to the whole column.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.table.values import Floats, Form, Mask

Order: TypeAlias = Literal["dmy", "mdy", "ymd"]
Whole: TypeAlias = npt.NDArray[np.int64]

IN_WORDS: dict[Order, str] = {
    "dmy": "day/month/year",
    "mdy": "month/day/year",
    "ymd": "year/month/day",
}

#: Months as the largest languages of the Latin and the Cyrillic script write them in dates.
_MONTHS = """
january jan januar januari jänner janvier janv enero ene gennaio gen janeiro stycznia января ocak,
february feb februar februari février févr fév febrero febbraio fevereiro fev lutego февраля şubat,
march mar märz mär mrz maart mrt mars marzo março marca марта mart,
april apr avril avr abril abr aprile kwietnia апреля nisan,
may mai mei maj mayo maggio mag maio maja мая mayıs,
june jun juni juin junio giugno giu junho czerwca июня haziran,
july jul juli juillet juil julio luglio lug julho lipca июля temmuz,
august aug augustus augusti août aoû agosto ago sierpnia августа ağustos,
september sept sep septembre septiembre settembre set setembro września сентября eylül,
october oct oktober okt octobre octubre ottobre ott outubro out października октября ekim,
november nov novembre noviembre novembro listopada ноября kasım,
december dec dezember dez desember décembre déc diciembre dic dicembre dezembro grudnia декабря
aralık
"""  # noqa: RUF001
_MONTH_OF = {
    name: number
    for number, names in enumerate(_MONTHS.split(","), start=1)
    for name in names.split()
}
_DAYS = "(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_MONTH_NAME = rf"(?P<name>{'|'.join(sorted(_MONTH_OF, key=len, reverse=True))})\.?"
_D = "[09]"
_HAS_DIGITS = frozenset("09")
_CLOCK = (
    rf"(?P<hour>{_D}{{1,2}}):(?P<minute>{_D}{{2}})"
    rf"(?::(?P<second>{_D}{{2}})(?:[.,](?P<fraction>{_D}{{1,9}}))?)?(?: ?(?P<half>[ap]\.?m\.?))?"
)
_ZONE = rf" ?(?P<zone>z|utc|gmt|(?P<ahead>[-+])(?P<zh>{_D}{{2}})(?::?(?P<zm>{_D}{{2}}))?)"
_TIME = rf"(?:(?:,? |t){_CLOCK}(?:{_ZONE})?)?"
_DAY_PREFIX = rf"(?:{_DAYS}\.?,? )?"

_YEAR_FIRST = (
    rf"(?P<year>{_D}{{4}})(?P<mark>[-/.])(?P<month>{_D}{{1,2}})(?P=mark)(?P<day>{_D}{{1,2}})"
)
_YEAR_LAST = (
    rf"(?P<first>{_D}{{1,2}})(?P<mark>[-/.])(?P<middle>{_D}{{1,2}})(?P=mark)(?P<last>{_D}{{4}})"
)
_SHORT = (
    rf"(?:(?P<first>{_D}{{2}})(?P<mark>[-/.])(?P<middle>{_D}{{2}})(?P=mark)(?P<last>{_D}{{2}})"
    rf"|(?P<first1>{_D}{{1,2}})/(?P<middle1>{_D}{{1,2}})/(?P<last1>{_D}{{2}}))"
)
_NAMED = (
    rf"(?P<day>{_D}{{1,2}})(?:st|nd|rd|th|er|\.)?[ -](?:de )?{_MONTH_NAME},?[ -](?:de )?"
    rf"(?P<year>{_D}{{4}}|{_D}{{2}})",
    rf"{_MONTH_NAME} (?P<day>{_D}{{1,2}})(?:st|nd|rd|th)?,? (?P<year>{_D}{{4}})",
    rf"(?P<year>{_D}{{4}})[ -]{_MONTH_NAME}[ -](?P<day>{_D}{{1,2}})",
)
_COMPACT = rf"(?P<year>{_D}{{4}})(?P<month>{_D}{{2}})(?P<day>{_D}{{2}})"

_LENGTHS = {"d": "ays?", "h": "(?:ou)?rs?", "m": "in(?:ute)?s?", "s": "ec(?:ond)?s?"}
_DURATION = "(?=[09]+ ?[a-z]+,? ?[09])" + " ?".join(  # of two parts at least: 1h 30m
    rf"(?:(?P<length_{unit}>{_D}{{1,4}}) ?{unit}(?:{rest})?,?)?" for unit, rest in _LENGTHS.items()
)
#: Units of durations as they are written behind a number, in microseconds.
UNITS: dict[str, float] = {
    **dict.fromkeys(("d", "day"), 86_400e6),
    **dict.fromkeys(("h", "hr", "hrs", "hour"), 3_600e6),
    **dict.fromkeys(("m", "min", "minute"), 60e6),
    **dict.fromkeys(("s", "sec", "second"), 1e6),
}
_DAY_US = 86_400_000_000
_PIVOT = 69  # two digits from here on are of the last century, as POSIX has it


@dataclasses.dataclass(frozen=True, slots=True)
class DateStyle:
    """How a date is written, as far as that decides how its column is read."""

    form: Form  # date, datetime, instant, time or duration
    orders: tuple[Order, ...] = ()  # those it makes sense in; none where only one is possible
    is_twelve_hours: bool = False
    at_midnight: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class DateShape:
    """Where the shape of a text has its parts."""

    form: Form
    spans: tuple[tuple[str, int, int], ...]  # first and last place of each part
    month: int | None = None  # where it has a name
    is_pm: bool | None = None  # None: all hours of the day have a number
    behind: int = 0  # 1 or -1: hours and minutes of the zone are to be taken away or added

    @property
    def has_order(self) -> bool:
        """Whether the order of day and month is open."""
        return any(name == "first" for name, _, _ in self.spans)

    @property
    def orders(self) -> tuple[Order, ...]:
        """The orders that may be meant."""
        last = next(end - start for name, start, end in self.spans if name == "last")
        return ("dmy", "mdy") if last == 4 else ("dmy", "mdy", "ymd")


@functools.cache
def _patterns(compact: bool) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of dates and times, the likeliest first; to compile them takes time."""
    days = [_DAY_PREFIX + day + _TIME for day in (_YEAR_FIRST, _YEAR_LAST, _SHORT, *_NAMED)]
    more = [_DAY_PREFIX + _COMPACT + _TIME] if compact else []
    return tuple(re.compile(pattern) for pattern in (*days, _CLOCK, _DURATION, *more))


@functools.lru_cache(maxsize=65_536)
def date_shape(shape: str, *, compact: bool = False) -> DateShape | None:
    """Return what a shape tells of a date or a time of day; `compact`: 20200611, too."""
    if _HAS_DIGITS.isdisjoint(shape) or len(shape.lower()) != len(shape):
        return None
    for pattern in _patterns(compact):
        found = pattern.fullmatch(shape.lower())
        if found is not None:
            return _shape_of(found)
    return None


def _shape_of(found: re.Match[str]) -> DateShape:
    parts = found.groupdict()
    wanted = ("year", "month", "day", "first", "middle", "last", "hour", "minute", "second")
    lengths = [name for name in parts if name.startswith("length_")]
    names = (*wanted, "first1", "middle1", "last1", "fraction", "zh", "zm", *lengths)
    spans = [(n.rstrip("1"), *found.span(n)) for n in names if parts.get(n) is not None]
    is_dated = any(name in ("year", "last") for name, _, _ in spans)
    form: Form = "duration" if lengths else "time"
    if is_dated:
        form = "date" if parts.get("hour") is None else "datetime"
        form = form if parts.get("zone") is None else "instant"
    name, half, ahead = parts.get("name"), parts.get("half"), parts.get("ahead")
    return DateShape(
        form,
        tuple(spans),
        None if name is None else _MONTH_OF[name],
        None if half is None else half[0] == "p",
        0 if ahead is None else 1 if ahead == "+" else -1,
    )


def read_moments(texts: Sequence[str], shape: DateShape, order: Order) -> tuple[Floats, Mask]:
    """Read normalised texts of one shape: microseconds, and which of them make sense."""
    letters = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32)
    table = letters.reshape(len(texts), -1).astype(np.int64) - ord("0")
    part = {name: _number(table[:, start:end]) for name, start, end in shape.spans}
    if shape.form == "duration":
        lengths = sum(number * UNITS[name[-1]] for name, number in part.items())
        return np.asarray(lengths, dtype=np.float64), np.ones(len(texts), dtype=bool)
    clock, is_clock = _clock(part, shape, len(texts))
    if shape.form == "time":
        return clock.astype(np.float64), is_clock
    year, month, day = _day(part, shape, order)
    days, is_day = _days(year, month, day)
    behind = (_or_zero(part, "zh", len(texts)) * 60 + _or_zero(part, "zm", len(texts))) * 60_000_000
    values = days * _DAY_US + clock - shape.behind * behind
    return values.astype(np.float64), is_clock & is_day


def _number(digits: Whole) -> Whole:
    number = np.zeros(len(digits), dtype=np.int64)
    for place in range(digits.shape[1]):
        number = number * 10 + digits[:, place]
    return number


def _or_zero(part: dict[str, Whole], name: str, rows: int) -> Whole:
    return part.get(name, np.zeros(rows, dtype=np.int64))


def _day(part: dict[str, Whole], shape: DateShape, order: Order) -> tuple[Whole, Whole, Whole]:
    if shape.has_order:
        by_letter = dict(zip(order, ("first", "middle", "last"), strict=True))
        names = {letter: part[name] for letter, name in by_letter.items()}
        widths = {name: end - start for name, start, end in shape.spans}
        year = names["y"]
        is_short = widths[by_letter["y"]] == 2
        return _full(year) if is_short else year, names["m"], names["d"]
    width = next(end - start for name, start, end in shape.spans if name == "year")
    year = _full(part["year"]) if width == 2 else part["year"]
    month = np.full(len(year), shape.month) if shape.month is not None else part["month"]
    return year, month, part["day"]


def _full(year: Whole) -> Whole:
    return np.where(year < _PIVOT, year + 2000, year + 1900)


def _days(year: Whole, month: Whole, day: Whole) -> tuple[Whole, Mask]:
    """Return days since 1970, and whether there is such a day."""
    is_month = (month >= 1) & (month <= 12) & (year >= 1)
    months = np.where(is_month, (year - 1970) * 12 + month - 1, 0)
    first = months.astype("M8[M]").astype("M8[D]")
    length = ((months + 1).astype("M8[M]").astype("M8[D]") - first).astype(np.int64)
    is_day = is_month & (day >= 1) & (day <= length)
    return first.astype(np.int64) + day - 1, is_day


def _clock(part: dict[str, Whole], shape: DateShape, rows: int) -> tuple[Whole, Mask]:
    """Return microseconds since midnight, and whether there is such a time of day."""
    hour, minute, second = (_or_zero(part, name, rows) for name in ("hour", "minute", "second"))
    is_valid = (minute < 60) & (second < 60) & (hour < 24)
    is_valid &= (_or_zero(part, "zh", rows) < 24) & (_or_zero(part, "zm", rows) < 60)
    if shape.is_pm is not None:
        is_valid &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + 12 * int(shape.is_pm)
    width = next((end - start for name, start, end in shape.spans if name == "fraction"), 0)
    fraction = _or_zero(part, "fraction", rows) * 1_000_000 // 10**width
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction, is_valid
