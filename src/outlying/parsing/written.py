"""Numbers and dates written for people: 1,234.50, $5, 12.5 kg, (1,200), 1.2M; 11 Jun 2020."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.table.values import DAY, Floats, Form, Mask

_SYMBOLS = "$€£¥₹₽₩₪₺₫₴₦฿₱¢₿"
_CODES = (
    "USD EUR GBP JPY CHF CNY RMB INR AUD CAD NZD SEK NOK DKK PLN CZK HUF RON BGN TRY RUB UAH ILS "
    "ZAR BRL MXN ARS CLP COP PEN KRW TWD HKD SGD THB MYR IDR PHP VND AED SAR EGP NGN KES ISK BTC"
)
_DOLLARS = "US$ A$ AU$ C$ CA$ NZ$ HK$ S$ R$"
_WORDS = "Rs kr Kr zł Kč Ft Fr SFr lei лв"
CURRENCIES = frozenset([*_SYMBOLS, *_CODES.split(), *_DOLLARS.split(), *_WORDS.split()])

_CURRENCY = "|".join(re.escape(word) for word in sorted(CURRENCIES, key=len, reverse=True))
_UNIT = r"(?:[^\W\d_]|[°²³/·]){1,12}"
_NUMBER = re.compile(
    r"(?P<bound>[<>]=? ?|[≤≥] ?)?(?P<open>\()?(?P<sign>[-+] ?)?"
    rf"(?P<before>{_CURRENCY})? ?(?P<inner>[-+])?"
    r"(?P<body>[09][09.,' ]*|[.,][09]+)(?P<exponent>[eE][-+]?[09]{1,2})?"
    rf"(?: ?(?P<after>%|{_CURRENCY}|{_UNIT}))?(?P<minus> ?-)?(?P<close>\))?"
)
_ONE_MARK = re.compile(r"(?P<whole>[09]*)(?P<mark>[.,])(?P<rest>[09]+)")
_GROUPED = re.compile(
    r"9[09]{0,2}(?:(?P<mark>[,.' ])[09]{3}(?:(?P=mark)[09]{3})*|(?:,[09]{2})+,[09]{3})"
    r"(?P<decimals>(?P<point>[.,])[09]+)?"
)
#: What may stand behind a number to make it larger, and what it is multiplied by.
_SCALES = {**dict.fromkeys("kK", "k"), **dict.fromkeys(("M", "m", "mn", "mln", "mio"), "m")}
_SCALES |= dict.fromkeys(("B", "b", "bn"), "b")
FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9}
_LEAST_WORD = 3  # letters of a unit that has a plural
_IS_SCALED = re.compile("[mMpP].{1,2}|.{0,2}[bB].{0,2}")  # mW and MW, Mb and MB: case counts


@dataclasses.dataclass(frozen=True, slots=True)
class NumberStyle:
    """How a number is written, as far as that decides how its column is read."""

    affix: str = ""  # a currency, a unit or %
    point: str = ""  # what divides off its decimals for certain; "" where nothing tells
    either: str = ""  # a mark that may divide off thousands or three decimals
    has_decimals: bool = False  # for certain
    digits: int = 0  # of a whole number without sign, affix or commas: it may be a code
    is_spaced: bool = False  # whether such a number is divided, as phone numbers are
    notation: Literal["", "(", "e"] = ""  # of such a number: (212) and 12E5 may be codes, too
    is_zero: bool = False  # which needs no sign for percent
    has_bound: bool = False  # <0.6 or >100: the number is a limit
    scale: str = ""  # of 1.2M and 900k; without a currency it may be a unit as well


@dataclasses.dataclass(frozen=True, slots=True)
class NumberShape:
    """What the shape of a text tells: its style, and how to read it."""

    style: NumberStyle
    is_negative: bool
    has_exponent: bool
    marks: str  # what is there beside digits


@dataclasses.dataclass(frozen=True, slots=True)
class _Body:
    """The digits of a number and what divides them."""

    point: str = ""
    either: str = ""
    has_decimals: bool = False
    is_grouped: bool = False
    has_comma: bool = False


@functools.lru_cache(maxsize=65_536)
def number_shape(shape: str) -> NumberShape | None:
    """Return what a shape tells of a number; None: it is none, or a code such as 007."""
    found = _NUMBER.fullmatch(shape)
    if found is None:
        return None
    signs = [found[name] for name in ("open", "sign", "inner", "minus") if found[name]]
    body = _body(found["body"].rstrip(" "))
    affixes = [found[name] for name in ("before", "after") if found[name]]
    scale = _SCALES.get(found["after"] or "", "")
    if scale and found["before"]:
        affixes = affixes[:1]
    is_unbalanced = bool(found["open"]) != bool(found["close"])
    if body is None or len(signs) > 1 or len(affixes) > 1 or is_unbalanced:
        return None
    has_exponent = found["exponent"] is not None
    if has_exponent and (affixes or found["open"] or body.is_grouped):
        return None
    digits = len(re.sub("[^09]", "", found["body"]))
    is_phone = bool(found["sign"]) and found["sign"][0] == "+" and digits > 6 and not body.point
    if is_phone:
        return None
    notation: Literal["", "(", "e"] = "e" if has_exponent else "(" if found["open"] else ""
    has_marks = body.has_decimals or body.either or body.has_comma
    has_sign = found["sign"] or found["inner"] or found["minus"]
    has_sign = has_sign or not (found["exponent"] or "e").isalnum()
    is_bare = not (affixes or has_marks or has_sign or found["bound"])
    style = NumberStyle(
        affix=_unit(affixes[0]) if affixes else "",
        point=body.point or body.either if has_exponent else body.point,
        either="" if has_exponent else body.either,
        has_decimals=body.has_decimals or has_exponent,
        digits=digits if is_bare else 0,
        is_spaced=is_bare and body.is_grouped,
        notation=notation if is_bare else "",
        is_zero=not (signs or affixes or has_exponent or "9" in found["body"]),
        has_bound=found["bound"] is not None,
        scale=scale,
    )
    is_negative = any("+" not in sign for sign in signs)
    return NumberShape(style, is_negative, has_exponent, "".join(sorted(set(shape) - set("09"))))


def _unit(affix: str) -> str:
    """Return a unit without case and without the s of its plural: 1 year, 2 Years."""
    if affix in CURRENCIES or _IS_SCALED.fullmatch(affix):
        return affix
    unit = affix.casefold()
    return unit[:-1] if len(unit) > _LEAST_WORD and unit.endswith("s") else unit


def _body(text: str) -> _Body | None:
    """Tell decimals from thousands; None where digits are divided as in no number."""
    if not re.search("[^09]", text):
        return _Body() if len(text) == 1 or text[0] == "9" else None
    found = _ONE_MARK.fullmatch(text)
    if found is not None:
        whole, mark = found["whole"], found["mark"]
        if len(whole) > 1 and whole[0] == "0":
            return None
        if len(found["rest"]) == 3 and 1 <= len(whole) <= 3 and whole != "0":
            return _Body(either=mark)
        return _Body(mark, has_decimals=True)
    found = _GROUPED.fullmatch(text)
    if found is None:
        return None
    mark, point = found["mark"] or ",", found["point"] or ""
    if mark == point:
        return None
    if not point and mark in ",.":
        point = "." if mark == "," else ","
    return _Body(point, "", found["decimals"] is not None, True, mark == ",")


def replaced(text: str, marks: Mapping[str, str]) -> str:
    """Replace single characters; unlike str.translate quick for all texts, not for ASCII only."""
    for mark, other in marks.items():
        text = text.replace(mark, other)
    return text


def read_numbers(texts: Sequence[str], shape: NumberShape, point: str) -> Floats:
    """Read normalised texts of one shape, all in one piece; `point` divides off decimals."""
    if shape.has_exponent:
        stripped = (text.strip("+-<>=≤≥ ").replace(",", ".") for text in texts)
        values = np.array(list(map(float, stripped)))
    else:
        marks = {mark: "" for mark in shape.marks if mark != point} | {point: "."}
        values = np.array(list(map(float, replaced("\0".join(texts), marks).split("\0"))))
    return -values if shape.is_negative else values


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
_PIVOT = 69  # two digits from here on are of the last century, as POSIX has it


@dataclasses.dataclass(frozen=True, slots=True)
class DateStyle:
    """How a date is written, as far as that decides how its column is read."""

    form: Form  # date, datetime, instant, time or duration
    orders: tuple[Order, ...] = ()  # those it makes sense in; none where only one is possible
    is_twelve_hours: bool = False
    at_midnight: bool = False
    is_length: bool = False  # 45:10 or 26:00:00: no time of day, but minutes or hours that passed


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
    def may_be_length(self) -> bool:
        """Whether this may be a length of time, such as 45:10, as well as a time of day."""
        return self.form == "time" and self.is_pm is None

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


def read_moments(
    texts: Sequence[str], shape: DateShape, order: Order, *, as_lengths: bool = False
) -> tuple[Floats, Mask]:
    """Read texts of one shape: microseconds, and which make sense; 45:10 as a length is minutes."""
    letters = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32)
    table = letters.reshape(len(texts), -1).astype(np.int64) - ord("0")
    part = {name: _number(table[:, start:end]) for name, start, end in shape.spans}
    if shape.form == "duration":
        lengths = sum(number * UNITS[name[-1]] for name, number in part.items())
        return np.asarray(lengths, dtype=np.float64), np.ones(len(texts), dtype=bool)
    clock, is_clock = _clock(part, shape, len(texts), as_lengths=as_lengths)
    if shape.form == "time":
        return clock.astype(np.float64), is_clock
    year, month, day = _day(part, shape, order)
    days, is_day = _days(year, month, day)
    behind = (_or_zero(part, "zh", len(texts)) * 60 + _or_zero(part, "zm", len(texts))) * 60_000_000
    values = days * DAY + clock - shape.behind * behind
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


def _clock(
    part: dict[str, Whole], shape: DateShape, rows: int, *, as_lengths: bool
) -> tuple[Whole, Mask]:
    """Return microseconds since midnight, and whether there is such a time of day."""
    hour, minute, second = (_or_zero(part, name, rows) for name in ("hour", "minute", "second"))
    is_valid = (minute < 60) & (second < 60) & (as_lengths | (hour < 24))
    if as_lengths and "second" not in part:
        hour, minute, second = np.zeros_like(hour), hour, minute
    is_valid &= (_or_zero(part, "zh", rows) < 24) & (_or_zero(part, "zm", rows) < 60)
    if shape.is_pm is not None:
        is_valid &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + 12 * int(shape.is_pm)
    width = next((end - start for name, start, end in shape.spans if name == "fraction"), 0)
    fraction = _or_zero(part, "fraction", rows) * 1_000_000 // 10**width
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction, is_valid
