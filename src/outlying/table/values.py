"""How a single value is held, written and read: numbers inside, dates and words outside.

A column's *form* says what a number of it means: times are microseconds (since 1970 in UTC, since
midnight, or of a duration), whatever the resolution of the source.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import math
import re
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from outlying.errors import harmless

# What columns and kernels are made of.
Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.int32]
Mask: TypeAlias = npt.NDArray[np.bool_]
Counts: TypeAlias = npt.NDArray[np.int64]
Rows: TypeAlias = npt.NDArray[np.int64]

Form = Literal[
    "number", "integer", "boolean", "text", "date", "datetime", "instant", "time", "duration"
]
Value: TypeAlias = bool | int | float | str | dt.date | dt.time | dt.timedelta | None

#: Floating point holds all whole numbers up to this one, and not all beyond.
LARGEST_EXACT_INTEGER = 2**53
#: What the text of a whole number ends in where its column holds others, too: a pattern.
TRAILING_ZERO = r"\.0$"
#: Forms whose numbers are microseconds.
TIMES: tuple[Form, ...] = ("date", "datetime", "instant", "time", "duration")

#: Significant digits of a number in words, unless more are needed to tell it from another.
FEW_DIGITS = 6

_ALL_DIGITS = 17  # tell any two numbers apart
_YEARS = 3_000  # below it a whole number may be a year
_UNREADABLE = 19  # digits of a key rather than of a quantity
_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)
_DAYS = dt.timedelta(days=10)  # in a longer range the time of day does not matter
_HOURS = dt.timedelta(hours=3)  # in a longer one the seconds do not
DAY = 86_400_000_000  # microseconds
_UNITS = (1, 10**3, 10**6, 60 * 10**6, 3600 * 10**6, DAY)
_MOST = 1.7e308
_MOST_DAYS = 10**12  # that NumPy writes as a date
_ONE_DIGIT_HOUR = re.compile(r"^(?=[0-9]:)")  # 6:22, as people write it
_WHOLE = re.compile("-?[0-9]{1,40}")
_ISO_DURATION = re.compile(r"(-?)P(\d+)DT(\d+)H(\d+)M(\d+(?:\.\d+)?)S", re.ASCII)

EXPECTS: dict[Form, str] = {
    "number": "a number",
    "integer": "a number",
    "boolean": "true or false",
    "text": "a text",
    "date": "a date such as 2024-05-17",
    "datetime": "a date and time such as 2024-05-17T08:30:00",
    "instant": "a date and time with a zone such as 2024-05-17T08:30:00+00:00",
    "time": "a time of day such as 08:30:00",
    "duration": "a duration: a number of seconds, or a timedelta",
}

#: Words for a missing value, in a column that otherwise holds numbers or dates.
MISSING_WORDS = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A", "?", "-")
_GAPS = frozenset(("", *MISSING_WORDS))


def is_gap(text: str) -> bool:
    """Return whether a text stands for a missing value."""
    return text.strip() in _GAPS


def is_missing(value: object) -> bool:
    """Return whether a single value counts as missing: None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    if isinstance(value, (str, bytes)):
        return False
    try:
        return bool(value != value)
    except decimal.InvalidOperation:  # a signalling NaN refuses to be compared
        return True
    except Exception:  # pandas.NA refuses to be a truth value, others to be compared at all
        return type(value).__name__ == "NAType"


def number_of(form: Form, value: object) -> float:
    """Turn a Python value of this form into a number; ValueError if it is of another kind."""
    if form in ("number", "integer"):
        if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
            raise ValueError(EXPECTS[form])
        try:
            return float(value)
        except Exception:  # too large, or whatever a class of the user's raises
            raise ValueError(EXPECTS[form]) from None
    if form == "time":
        return _microseconds_of_day(value)
    if form == "duration":
        return _microseconds_of_duration(value)
    moment = _moment(value, form)
    offset = moment.utcoffset() or dt.timedelta(0)  # in UTC it may be beyond the year 9999
    return float((moment.replace(tzinfo=None) - _EPOCH - offset) // _MICROSECOND)


def are_keys(long: int, known: int) -> bool:
    """Return whether whole numbers are keys or hashes: half are long, not just one by a slip."""
    return 0 < known <= 2 * long


def day_of(number: float) -> float:
    """Read a whole number such as 20240517 as the day that it writes."""
    if not (number == number // 1 and 10**7 <= number < 10**8):
        raise ValueError(EXPECTS["datetime"])
    year, rest = divmod(int(number), 10_000)
    return number_of("date", dt.date(year, *divmod(rest, 100)))


def value_of(form: Form, number: float) -> Value:
    """Turn a number of the core back into the value that people know."""
    if math.isnan(number):
        return None
    if form == "integer":
        return int(number)
    if form == "number":
        return float(number)
    try:
        if form == "duration":
            return dt.timedelta(microseconds=round(number))
        moment = _EPOCH + dt.timedelta(microseconds=round(number))
    except OverflowError:  # outside the years 1 to 9999: no Python date exists
        nearest = dt.datetime.max if number > 0 else dt.datetime.min
        if form == "duration" or abs(number - (nearest - _EPOCH) / _MICROSECOND) > DAY:
            return _far_text(form, number)
        moment = nearest  # in floating point, or in another zone, it is there
    if form == "date":
        return moment.date()
    if form == "time":
        return moment.time()
    return moment.replace(tzinfo=dt.UTC) if form == "instant" else moment


def _far_text(form: Form, number: float) -> str:
    """Write a moment outside the years 1 to 9999, or a duration that Python does not hold."""
    days, rest = divmod(number, DAY)
    if not math.isfinite(number) or abs(days) > _MOST_DAYS:
        return f"{number / DAY:.6g} days" + ("" if form == "duration" else " from 1970-01-01")
    clock = (dt.datetime.min + dt.timedelta(microseconds=round(rest))).time()
    if form == "duration":
        return f"{int(days)} days" + (f", {clock}" if rest else "")
    year, month, place = str(np.datetime64(int(days), "D")).rsplit("-", 2)
    day = f"{f'-{year[1:]:0>4}' if year[0] == '-' else year}-{month}-{place}"
    return day if form == "date" else f"{day} {text_of(clock)}{' UTC' * (form == 'instant')}"


def limits_of(form: Form) -> tuple[float, float]:
    """Return the first and the last number that is a value of this form."""
    if form in ("date", "datetime", "instant"):
        return number_of("date", dt.date.min), number_of("date", dt.date.max)
    if form == "time":
        return 0.0, float(DAY - 1)
    return -_MOST, _MOST


def coarse(form: Form, number: float, step: float) -> Value:
    """Return a time rounded to what a step needs: to hours, minutes, and so on; or to a date."""
    unit = max((unit for unit in _UNITS if unit <= step), default=1)
    rounded = float(round(number / unit) * unit)
    last = limits_of(form)[1]
    if number <= last < rounded:
        rounded = float(last // unit * unit)
    value = value_of(form, rounded)
    if unit == DAY and form == "datetime" and isinstance(value, dt.datetime):
        return value.date()
    return value


def plain(value: Value) -> bool | int | float | str | None:
    """Return a value as JSON holds it: times as ISO 8601 texts, infinite numbers as texts."""
    if isinstance(value, float) and math.isinf(value):
        return repr(value)
    if isinstance(value, dt.timedelta):
        return _iso_duration(value)
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return value


def text_of(value: Value, digits: int = FEW_DIGITS) -> str:
    """Write a value for people, safe to print, to six digits; quoted, if it has outer spaces."""
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return whole_text(value)
    if isinstance(value, float):
        return number_text(value, digits)
    if isinstance(value, dt.datetime):
        return _moment_text(value)
    if isinstance(value, dt.timedelta):
        return _duration_text(value)
    if isinstance(value, dt.time):
        return value.isoformat("auto" if value.second or value.microsecond else "minutes")
    if not isinstance(value, str):
        return value.isoformat()
    has_spaces = value.strip() not in ("", value)
    return f'"{printable(value, 78)}"' if has_spaces else printable(value)


def telling_digits(value: Value, others: Iterable[Value]) -> int:
    """Return with how many digits a number is told from others that differ, six at least."""
    different = [x for x in others if type(x) is type(value) is float and x != value]
    for digits in range(FEW_DIGITS, _ALL_DIGITS):
        if all(text_of(value, digits) != text_of(other, digits) for other in different):
            return digits
    return _ALL_DIGITS


def number_text(number: float, digits: int = FEW_DIGITS) -> str:
    """Write a number to six digits, but all of its whole part; with an exponent if need be."""
    if number == 0 or not math.isfinite(number):
        return without_trailing_zero(repr(number + 0.0))
    exponent = math.floor(math.log10(abs(number)))
    if exponent >= 15 or exponent < -4:
        return f"{number:.{digits if digits <= FEW_DIGITS else _ALL_DIGITS}g}"
    short = f"{number:.{max(0, digits - 1 - exponent)}f}"
    return short.rstrip("0").rstrip(".") if "." in short else short


def quantity_text(value: Value, digits: int = FEW_DIGITS, beside: Iterable[Value] = ()) -> str:
    """Write a value in a sentence: 1,890.5 and 7,900 with separators, but no year is 1,952.

    What stands `beside` it is written alike: 1,890, expected 56 to 3,100.
    """
    text = text_of(value, digits)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text
    whole, point, rest = text.removeprefix("-").partition(".")
    may_be_years = all(map(may_be_year, (value, *beside)))
    if not whole.isdigit() or len(whole) >= _UNREADABLE or may_be_years:
        return text
    return f"{'-' * text.startswith('-')}{int(whole):,}{point}{rest}"


def may_be_year(value: Value) -> bool:
    """Return whether nothing tells that a value is no year."""
    return not isinstance(value, int | float) or (abs(value) < _YEARS and value == int(value))


def whole_text(number: int) -> str:
    """Write a whole number; one with more digits than Python turns into a text in hexadecimal."""
    try:
        return str(number)
    except ValueError:
        return hex(number)


def label_text(value: Value) -> str:
    """Write a value as the label of a category, never the same for two; whole ones end in ".0"."""
    short = text_of(value)
    if not isinstance(value, float):
        return short
    if float(short) != value:
        return repr(value)
    has_zero = value == 0 or (value.is_integer() and abs(value) < 10 ** (FEW_DIGITS - 1))
    return f"{short}.0" if has_zero else short


def range_text(low: Value, high: Value, digits: int = FEW_DIGITS, beside: Value = None) -> str:
    """Write a range for people: with no more decimals than tell three digits of its width.

    More digits may be needed to tell a value `beside` it, which must not seem to lie inside.
    """
    is_small = isinstance(low, int | float) and abs(low) < 1000  # and no year
    is_split = isinstance(beside, float) and not beside.is_integer()
    near = (low, high, beside) if is_small or is_split else (low, high)
    if type(low) is type(high) is float and low < high and math.isfinite(high - low):
        digits = max(digits, telling_digits(low, [high]))
        low, high = _rounded_ends(low, high, digits, beside)
    elif isinstance(low, dt.datetime) and isinstance(high, dt.datetime):
        low, high = _moment_range(low, high, beside)
    elif isinstance(beside, dt.time | dt.timedelta) and _in_seconds(beside) == beside:
        low, high = _in_seconds(low), _in_seconds(high)
    first, last = (quantity_text(end, digits, near) for end in (low, high))
    return first if first == last else f"{first} to {last}"


def _in_seconds(value: Value) -> Value:
    """Return a time, or a length of time, without what is less than a second."""
    if isinstance(value, dt.time):
        return value.replace(microsecond=0)
    if isinstance(value, dt.timedelta):
        return dt.timedelta(seconds=round(value / dt.timedelta(seconds=1)))
    return value


def _moment_range(low: dt.datetime, high: dt.datetime, beside: Value) -> tuple[Value, Value]:
    """Return two moments as finely as their distance, and a value beside them, ask for."""
    if high - low > _DAYS:
        return low.date(), high.date()
    own = beside if isinstance(beside, dt.datetime) else None
    if high - low > _HOURS or (own is not None and not own.second and not own.microsecond):
        low, high = (end.replace(second=0, microsecond=0) for end in (low, high))
    elif own is not None and not own.microsecond:
        low, high = (end.replace(microsecond=0) for end in (low, high))
    return low, high


def _rounded_ends(low: float, high: float, digits: int, beside: Value) -> tuple[float, float]:
    decimals = max(0, 2 - math.floor(math.log10(high - low)))
    ends = (low, high) if digits > FEW_DIGITS else (_coarse(low, decimals), _coarse(high, decimals))
    if isinstance(beside, float) and (ends[0] <= beside <= ends[1]) != (low <= beside <= high):
        ends = low, high
    return ends


def _coarse(number: float, decimals: int) -> float:
    """Round a number to so many decimals, but never to fewer than three digits."""
    own = 2 - math.floor(math.log10(abs(number))) if number else 0
    return round(number, max(decimals, own))


def lies_between(low: Value, high: Value, value: Value) -> bool:
    """Return whether a value lies in a closed range, be it across midnight; no, if incomparable."""
    first, last, place = cast(Any, low), cast(Any, high), cast(Any, value)
    if not type(first) is type(place) is type(last) or isinstance(place, str):
        return False
    if isinstance(place, dt.time) and last < first:
        return bool(place >= first or place <= last)
    return bool(first <= place <= last)


def without_trailing_zero(label: str) -> str:
    """Return the text of a number, of a whole one without a fraction: "3" for "3.0"."""
    return re.sub(TRAILING_ZERO, "", label)


def printable(text: str, limit: int = 80) -> str:
    """Return text that is short and harmless on a terminal; spaces alone are quoted."""
    safe = harmless(text)
    if not safe.strip():
        safe = f'"{safe}"'
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"


def read_text(form: Form, text: str) -> Value:
    """Read a value of this form as a person types it; ValueError says what was expected."""
    if text == "":
        return None
    if form == "text":
        return text
    if form == "boolean":
        folded = text.casefold()
        if folded not in ("true", "false"):
            raise ValueError(EXPECTS[form])
        return folded == "true"
    if form in ("number", "integer", "duration"):
        if form == "integer" and _WHOLE.fullmatch(text):
            return int(text)  # digit by digit
        try:
            number = _iso_seconds(text) if form == "duration" else float(text)
            return dt.timedelta(seconds=number) if form == "duration" else number
        except (ValueError, OverflowError):
            raise ValueError(EXPECTS[form]) from None
    number_of(form, text)
    return text


def _moment(value: object, form: Form) -> dt.datetime:
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(EXPECTS[form]) from None
    if isinstance(value, dt.datetime):
        moment = value
    elif isinstance(value, dt.date):
        moment = dt.datetime(value.year, value.month, value.day)
    else:
        raise ValueError(EXPECTS[form])
    if moment.tzinfo is not None:
        if form != "instant":
            raise ValueError(EXPECTS[form] + ", without a zone")
    elif form == "instant":
        raise ValueError(EXPECTS[form])
    return moment


def _microseconds_of_day(value: object) -> float:
    if isinstance(value, str):
        try:
            value = dt.time.fromisoformat(_ONE_DIGIT_HOUR.sub("0", value))
        except ValueError:
            raise ValueError(EXPECTS["time"]) from None
    if not isinstance(value, dt.time):
        raise ValueError(EXPECTS["time"])
    return float((dt.datetime.combine(_EPOCH, value.replace(tzinfo=None)) - _EPOCH) // _MICROSECOND)


def _microseconds_of_duration(value: object) -> float:
    if isinstance(value, dt.timedelta):
        return float(value // _MICROSECOND)
    if isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError, ValueError):  # too large, or a NaN that signals
            return float(value) * 1e6
    raise ValueError(EXPECTS["duration"])


def _iso_seconds(text: str) -> float:
    """Read seconds, or a duration as `plain` writes it."""
    found = _ISO_DURATION.fullmatch(text)
    if found is None:
        return float(text)
    days, hours, minutes, seconds = map(float, found.groups()[1:])
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return -total if found[1] else total


def _iso_duration(value: dt.timedelta) -> str:
    sign = "-" if value < dt.timedelta(0) else ""
    value = abs(value)
    hours, minutes, seconds = str(dt.timedelta(seconds=value.seconds)).split(":")
    fraction = f".{value.microseconds:06d}".rstrip("0") if value.microseconds else ""
    return f"{sign}P{value.days}DT{hours}H{int(minutes)}M{int(seconds)}{fraction}S"


def _moment_text(value: dt.datetime) -> str:
    if value.microsecond:
        finest = "microseconds" if value.microsecond % 1000 else "milliseconds"
    else:
        finest = "seconds" if value.second else "minutes"
    zone = " UTC" if value.tzinfo is not None else ""
    return value.replace(tzinfo=None).isoformat(sep=" ", timespec=finest) + zone


def _duration_text(value: dt.timedelta) -> str:
    """Write a duration with its sign in front, unlike Python; whole days need no clock."""
    if value < dt.timedelta(0):
        return f"-{_duration_text(-value)}"
    text = str(value).removesuffix("000") if value.microseconds else str(value)
    return text.removesuffix(", 0:00:00")
