"""How texts are written, and how a column of them is read once that is decided.

The shape of a text is what is left when digits do not count: a million amounts have a few dozen
shapes. All texts are handled in one piece by C code of str; only distinct shapes are ever looked
at one by one.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np

from outlying.parsing.dates import UNITS, DateShape, DateStyle, Order, date_shape, read_moments
from outlying.parsing.numbers import (
    CURRENCIES,
    FACTORS,
    NumberShape,
    NumberStyle,
    number_shape,
    read_numbers,
    replaced,
)
from outlying.table.values import Floats, Form, Rows, is_gap, number_of

Style: TypeAlias = NumberStyle | DateStyle | None  # None: neither a number nor a date
Declared: TypeAlias = Literal["numeric", "datetime"]

#: What a column is declared to be: the form that errors speak of.
FORMS: dict[Declared, Form] = {"numeric": "number", "datetime": "datetime"}

_LONGEST = 48  # longer texts are no numbers and no dates
_END = "\0"
_SPACES = "\u00a0\u2007\u2009\u202f\u2002\u2003\u2005\t"
_NORMAL = {**dict.fromkeys(_SPACES, " "), **dict.fromkeys("\u2212\u2013", "-"), "\u2019": "'"}
_NINES = dict.fromkeys("12345678", "9")


def _normalise(texts: Sequence[str]) -> list[str]:
    """Return texts trimmed, with one kind of space, minus and apostrophe; "" for long ones."""
    trimmed = [text.strip() if len(text) <= _LONGEST else "" for text in texts]
    joined = _END.join(trimmed)
    if joined.count(_END) != len(trimmed) - 1:
        joined = _END.join("" if _END in text else text for text in trimmed)
    return replaced(joined, _NORMAL).split(_END) if trimmed else []


def _shapes(texts: Sequence[str]) -> list[str]:
    """Return the shape of each normalised text: 9 for digits, but 0 where a run begins with it."""
    joined = replaced(_END.join(texts), _NINES)
    while "90" in joined:
        joined = joined.replace("90", "99")
    return joined.split(_END) if texts else []


def _by_shape(
    texts: Sequence[str], *, compact: bool = False
) -> tuple[list[str], Iterator[tuple[NumberShape | DateShape | None, Rows]]]:
    """Return the normalised texts, and the places of each shape."""
    plain = _normalise(texts)
    number: dict[str, int] = {}
    shapes = _shapes(plain)
    codes = np.fromiter((number.setdefault(s, len(number)) for s in shapes), np.int64, len(shapes))
    return plain, _grouped(list(number), codes, compact)


def _grouped(
    shapes: list[str], codes: Rows, compact: bool
) -> Iterator[tuple[NumberShape | DateShape | None, Rows]]:
    """Return the places of each distinct shape; of all that is no number and no date together."""
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(shapes)))
    others = []
    for place, shape in enumerate(shapes):
        rows = order[ends[place - 1] if place else 0 : ends[place]]
        known = (compact and date_shape(shape, compact=True)) or number_shape(shape)
        known = known or date_shape(shape)
        if known is None:
            others.append(rows)
        else:
            yield known, rows
    if others:
        yield None, np.concatenate(others)


def styles_of(texts: Sequence[str], *, compact: bool = False) -> Iterator[tuple[Style, Rows]]:
    """Return which texts have which style; a style may come several times."""
    plain, groups = _by_shape(texts, compact=compact)
    for shape, places in groups:
        if shape is None:
            yield None, places
        elif isinstance(shape, NumberShape):
            yield shape.style, places
        else:
            yield from _date_styles([plain[place] for place in places.tolist()], shape, places)


def style_of(text: str) -> tuple[Style, bool]:
    """Return the style of one text, and whether it is made like a number or a date at all.

    31/02/2023 is made like a date, but in no style: there is no such day.
    """
    shape, _ = next(_by_shape([text])[1])
    style, _ = next(styles_of([text]))
    return style, shape is not None


def _date_styles(
    texts: Sequence[str], shape: DateShape, places: Rows
) -> Iterator[tuple[Style, Rows]]:
    """Tell dates by the orders of day and month in which they make sense."""
    orders = shape.orders if shape.has_order else ("ymd",)
    moments = [read_moments(texts, shape, order) for order in orders]
    midnight = moments[0][0] % 86_400e6 == 0
    valid = np.array([are_valid for _, are_valid in moments])
    kinds = (1 << np.arange(len(orders))) @ valid * 2 + midnight
    for kind in np.unique(kinds).tolist():
        possible = tuple(order for bit, order in enumerate(orders) if kind >> (bit + 1) & 1)
        style = None
        if possible:
            style = DateStyle(
                shape.form,
                possible if shape.has_order else (),
                shape.is_pm is not None,
                bool(kind & 1) and shape.form != "time",
            )
        yield style, places[kinds == kind]


def _kind_of(form: Form) -> str:
    return form if form in ("time", "duration") else "date"


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """How the texts of a column are read: what fits, and what it means."""

    form: Form
    affixes: tuple[str, ...] = ()  # of numbers: what may stand beside them
    point: str = "."
    order: Order = "dmy"
    has_bounds: bool = False  # whether <0.6 is read as 0.6
    is_scaled: bool = False  # whether k is a thousand and M a million, not units
    is_declared: bool = False  # by the user: whatever Python reads is read, too
    right: int = 0  # rows of the whole table that fit
    wrong: int = 0  # rows that do not, although they hold a text that stands for something

    @classmethod
    def declared(cls, declared: Declared) -> Reading:
        """Return how texts of a declared type are read where none is written for people."""
        return cls(FORMS[declared], ("",), is_declared=True)

    @property
    def is_of_dates(self) -> bool:
        """Whether texts are read as dates or times."""
        return self.form not in ("number", "integer")

    @property
    def noun(self) -> str:
        """What a text is that fits, in words."""
        nouns = {"number": "number", "integer": "number", "time": "time", "duration": "duration"}
        return nouns.get(self.form, "date")

    def with_one_wrong(self) -> Reading:
        """Count one more row that does not fit."""
        return dataclasses.replace(self, wrong=self.wrong + 1)

    def is_of_kind(self, style: Style) -> bool:
        """Return whether a style is one of what is read: of numbers, dates or times of day."""
        if isinstance(style, DateStyle):
            return self.is_of_dates and _kind_of(style.form) == _kind_of(self.form)
        return style is not None and not self.is_of_dates

    def fits(self, style: Style) -> bool:
        """Return whether texts of a style are read; nothing is nothing, with or without a %."""
        if isinstance(style, NumberStyle):
            if self.form == "duration":
                return style.affix in UNITS and style.point != ","
            is_right = style.affix in self.affixes or (style.is_zero and not style.affix)
            is_right &= self.has_bounds or not style.has_bound
            return not self.is_of_dates and is_right and style.point in ("", self.point)
        if style is None or not self.is_of_dates:
            return False
        is_right = style.form == self.form if "instant" in (style.form, self.form) else True
        is_right &= _kind_of(style.form) == _kind_of(self.form)
        return is_right and (not style.orders or self.order in style.orders)

    def _factor(self, style: NumberStyle) -> float:
        if self.form == "duration":
            return UNITS[style.affix]
        return FACTORS[style.scale if self.is_scaled or style.affix in CURRENCIES else ""]

    def numbers(self, texts: Sequence[str]) -> Floats:
        """Read texts; NaN stands for what does not fit."""
        plain, groups = _by_shape(texts, compact=self.is_declared and self.is_of_dates)
        values = np.full(len(texts), np.nan)
        for shape, places in groups:
            some = [plain[place] for place in places.tolist()]
            if isinstance(shape, NumberShape) and self.fits(shape.style):
                values[places] = read_numbers(some, shape, self.point) * self._factor(shape.style)
            elif isinstance(shape, DateShape) and self._may_fit(shape):
                order: Order = self.order if shape.has_order else "ymd"
                moments, are_valid = read_moments(some, shape, order)
                values[places] = np.where(are_valid, moments, np.nan)
        if self.is_declared:
            for place in np.flatnonzero(np.isnan(values)).tolist():
                values[place] = self._plainly(texts[place])
        return values

    def _plainly(self, text: str) -> float:
        """Read what Python reads: codes such as 007, the rarer notations of ISO 8601."""
        if not is_gap(text):
            with contextlib.suppress(ValueError, OverflowError):
                return number_of(self.form, text) if self.is_of_dates else float(text)
        return np.nan

    def _may_fit(self, shape: DateShape) -> bool:
        return self.fits(DateStyle(shape.form, shape.orders if shape.has_order else ()))
