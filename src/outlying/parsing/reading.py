"""How texts are written, and how a column of them is read once that is decided.

The shape of a text is what is left when digits do not count: a million amounts have a few dozen
shapes, and only these are looked at one by one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np

from outlying.options import ColumnType
from outlying.parsing.written import (
    CURRENCIES,
    FACTORS,
    UNITS,
    DateShape,
    DateStyle,
    NumberShape,
    NumberStyle,
    Order,
    date_shape,
    number_shape,
    read_moments,
    read_numbers,
    replaced,
)
from outlying.table.values import Floats, Form, Mask, Rows, is_gap, number_of

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
    """Return the style of a text, and whether it looks like a number or date, be it 31/02/2023."""
    shape, _ = next(_by_shape([text])[1])
    style, _ = next(styles_of([text]))
    return style, shape is not None


def _date_styles(
    texts: Sequence[str], shape: DateShape, places: Rows
) -> Iterator[tuple[Style, Rows]]:
    """Tell dates by the orders of day and month in which they make sense."""
    orders = shape.orders if shape.has_order else ("ymd",)
    if shape.may_be_length:
        is_time = read_moments(texts, shape, "ymd")[1]
        is_length = read_moments(texts, shape, "ymd", as_lengths=True)[1] & ~is_time
        yield DateStyle("duration", is_length=True), places[is_length]
        yield DateStyle("time"), places[is_time]
        yield None, places[~is_time & ~is_length]
        return
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
    has_lengths: bool = False  # whether 45:10 is 45 minutes and 10 seconds
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

    def is_bound(self, text: str) -> bool:
        """Return whether a text that is read bounds its number: <0.6."""
        style, _ = style_of(text)
        return isinstance(style, NumberStyle) and style.has_bound and self.fits(style)

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
        if self.has_lengths and style.form == "time" and not style.is_twelve_hours:
            return True
        if style.is_length and not self.has_lengths:
            return False
        is_right = style.form == self.form if "instant" in (style.form, self.form) else True
        is_right &= _kind_of(style.form) == _kind_of(self.form)
        return is_right and (not style.orders or self.order in style.orders)

    def numbers(self, texts: Sequence[str]) -> Floats:
        """Read texts; NaN stands for what does not fit."""
        plain, groups = _by_shape(texts, compact=self.is_declared and self.is_of_dates)
        values = np.full(len(texts), np.nan)
        for shape, places in groups:
            some = [plain[place] for place in places.tolist()]
            if isinstance(shape, NumberShape) and self.fits(shape.style):
                is_scaled = self.is_scaled or shape.style.affix in CURRENCIES
                factor = FACTORS[shape.style.scale if is_scaled else ""]
                factor = UNITS[shape.style.affix] if self.form == "duration" else factor
                values[places] = read_numbers(some, shape, self.point) * factor
            elif isinstance(shape, DateShape) and self.fits(
                DateStyle(
                    shape.form, shape.orders if shape.has_order else (), shape.is_pm is not None
                )
            ):
                order: Order = self.order if shape.has_order else "ymd"
                as_lengths = self.has_lengths and shape.may_be_length
                moments, are_valid = read_moments(some, shape, order, as_lengths=as_lengths)
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


#: A column with more distinct texts that do not fit is one of texts.
MOST_MISFITS = 1_000

#: The styles of what Python reads, but nobody writes for people: whole numbers, and the rest.
_PLAIN: dict[Declared, tuple[Style, Style]] = {
    "numeric": (NumberStyle(), NumberStyle(has_decimals=True)),
    "datetime": (DateStyle("datetime"), DateStyle("datetime")),
}
_DAY = re.compile("([0-9]{1,2})[^0-9][0-9]{1,2}[^0-9]([0-9]{2})")
_DIGIT = re.compile("[0-9]")
_FIRST = 2_048  # texts to look at before all
_MOST = 131_072  # texts looked at in one piece


def declared_kind(kind: ColumnType | None) -> Declared | None:
    """Return what texts are declared to be, if anything but texts."""
    return None if kind is None or kind == "categorical" else kind


@dataclasses.dataclass(slots=True)
class StyleCount:
    """Texts of one style: how many rows have one, each as long as they are few, and the first.

    `ends` are the least and the greatest number, by the mark or the order that they are read by;
    `firsts` and `lasts` have a bit for each number that short dates begin or end with, `firsts` for
    each digit that whole numbers begin with.
    """

    rows: int = 0
    example: str | None = None
    texts: Counter[str] | None = dataclasses.field(default_factory=Counter)
    ends: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    firsts: int = 0
    lasts: int = 0

    def add(self, other: StyleCount) -> None:
        """Take in further texts."""
        self.rows += other.rows
        self.firsts |= other.firsts
        self.lasts |= other.lasts
        known = [text for text in (self.example, other.example) if text is not None]
        self.example = min(known, default=None)
        for key, (low, high) in other.ends.items():
            least, most = self.ends.get(key, (low, high))
            self.ends[key] = min(least, low), max(most, high)
        if self.texts is None or other.texts is None:
            self.texts = None
            return
        self.texts.update(other.texts)
        if len(self.texts) > MOST_MISFITS:
            self.texts = None

    def ends_as(self, reading: Reading) -> tuple[float, float]:
        """Return the least and the greatest number, read as was decided."""
        point = f"{reading.point}*" if reading.is_scaled else reading.point
        keys = (reading.form, reading.order) if reading.is_of_dates else (point, reading.point)
        known = (self.ends[key] for key in keys if key in self.ends)
        return next(known, next(iter(self.ends.values())))


@dataclasses.dataclass(slots=True)
class Tally:
    """The styles of the texts of a column, in any order; if `declared`, what Python reads fits."""

    declared: Declared | None = None
    has_ends: bool = False  # whether the least and the greatest number are wanted
    knows_types: bool = True  # whether the table holds anything but texts
    styles: dict[Style, StyleCount] = dataclasses.field(default_factory=dict)
    gaps: Counter[str] = dataclasses.field(default_factory=Counter)  # rows by trimmed word

    @property
    def is_hopeless(self) -> bool:
        """Whether the column is one of texts, whatever the other rows hold."""
        other = self.styles.get(None)
        return other is not None and other.texts is None and self.declared is None

    def add(
        self, count: int, texts: Callable[[slice], Sequence[str]], rows_of: Callable[[], Rows]
    ) -> None:
        """Take in texts, most of them distinct; `rows_of` counts the rows of each."""
        counts: Rows | None = None
        start, size = 0, _FIRST
        while start < count and not self.is_hopeless:
            some = texts(slice(start, start + size))
            counts = rows_of() if counts is None else counts
            for style, places in styles_of(some, compact=self.declared == "datetime"):
                alike = [some[place] for place in places.tolist()]
                rows = counts[start : start + size][places]
                if style is None:
                    self._add_others(alike, rows)
                else:
                    self._add(style, alike, rows)
            start, size = start + size, min(4 * size, _MOST)

    def _add_others(self, texts: Sequence[str], counts: Rows) -> None:
        """Take in texts that are written like no number and no date."""
        are_gaps = np.fromiter(map(is_gap, texts), bool, len(texts))
        for place in np.flatnonzero(are_gaps).tolist():
            self.gaps[texts[place].strip()] += int(counts[place])
        groups: list[tuple[Style, Mask]] = [(None, ~are_gaps)]
        if self.declared is not None:
            numbers = Reading.declared(self.declared).numbers(texts)
            fits = ~np.isnan(numbers)
            are_whole = np.isfinite(numbers) & (np.floor(numbers) == numbers)
            whole, other = _PLAIN[self.declared]
            groups = [(whole, fits & are_whole), (other, fits & ~are_whole)]
            groups.append((None, ~fits & ~are_gaps))
        for style, some in groups:
            places = np.flatnonzero(some)
            self._add(style, [texts[place] for place in places.tolist()], counts[places])

    def _add(self, style: Style, texts: Sequence[str], counts: Rows) -> None:
        if not len(texts):
            return
        few: Counter[str] | None = None
        if len(texts) <= MOST_MISFITS or len(set(texts)) <= MOST_MISFITS:
            few = Counter()
            for text, rows in zip(texts, counts.tolist(), strict=True):
                few[text] += rows
        ends = self._ends(style, texts) if self.has_ends else {}
        new = StyleCount(int(counts.sum()), min(texts), few, ends, *_bits(style, texts))
        self.styles.setdefault(style, StyleCount()).add(new)

    def _ends(self, style: Style, texts: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Return the least and the greatest number, for each way to read texts of a style."""
        readings: dict[str, Reading] = {}
        if isinstance(style, DateStyle):
            readings = {o: Reading(style.form, order=o) for o in style.orders or ("ymd",)}
            if style.form == "time" or style.is_length:
                readings["duration"] = Reading("duration", has_lengths=True)
        elif style is not None:
            points = style.point or (".," if style.either else ".")
            plain = Reading("number", (style.affix,), has_bounds=True)
            readings = {point: dataclasses.replace(plain, point=point) for point in points}
            if style.scale:
                scaled = dataclasses.replace(plain, is_scaled=True)
                readings |= {f"{p}*": dataclasses.replace(scaled, point=p) for p in points}
            if style.affix in UNITS and style.point != ",":
                readings["duration"] = Reading("duration")
        ends = {}
        for key, reading in readings.items():
            is_declared = self.declared is not None
            values = dataclasses.replace(reading, is_declared=is_declared).numbers(texts)
            ends[key] = float(values.min()), float(values.max())
        return ends

    def merge(self, other: Tally) -> None:
        """Take in what was seen in another part of the table."""
        for style, count in other.styles.items():
            self.styles.setdefault(style, StyleCount()).add(count)
        self.gaps.update(other.gaps)


def _bits(style: Style, texts: Sequence[str]) -> tuple[int, int]:
    """Return which numbers stand where the year may be, first or last; of codes the first digit."""
    if isinstance(style, NumberStyle) and style.digits:
        digits = {match[0] for match in map(_DIGIT.search, texts) if match}
        return sum(1 << int(digit) for digit in digits), 0
    if not isinstance(style, DateStyle) or "ymd" not in style.orders:
        return 0, 0
    ends = {match.groups() for match in map(_DAY.search, texts) if match}
    firsts, lasts = ({int(pair[place]) for pair in ends} for place in (0, 1))
    return sum(1 << number for number in firsts), sum(1 << number for number in lasts)
