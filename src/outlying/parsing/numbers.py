"""Numbers written for people: 1,234.50, 1 234,50, $5, 12.5 kg, (1,200), 30 %, 1.2M, <0.6.

What a text can mean follows from its shape. Some shapes are ambiguous: 1,234 has a separator of
thousands or three decimals. What the other texts of the column hold decides.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from outlying.table.values import Floats

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
    has_sign = found["sign"] or found["inner"] or found["minus"] or _has_sign(found["exponent"])
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


def _has_sign(exponent: str | None) -> bool:
    return exponent is not None and not exponent.isalnum()


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
