"""What styles the texts of a column have, counted in any part of its rows and put together."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from outlying.table.arrays import Mask, Rows
from outlying.table.values import is_gap
from outlying.table.written.dates import DateStyle, Order
from outlying.table.written.numbers import NumberStyle
from outlying.table.written.reading import Reading, Wanted, declared_reading
from outlying.table.written.styles import Style, styles

#: A column with more distinct texts that do not fit is one of texts.
MOST_MISFITS = 1_000

#: The styles of what Python reads, but nobody writes for people: whole numbers, and the rest.
_PLAIN: dict[Wanted, tuple[Style, Style]] = {
    "numeric": (NumberStyle(), NumberStyle(has_decimals=True)),
    "datetime": (DateStyle("datetime"), DateStyle("datetime")),
}
_DAY = re.compile("([0-9]{1,2})[^0-9][0-9]{1,2}[^0-9]([0-9]{2})")
_FIRST = 2_048  # texts to look at before all
_MOST = 131_072  # texts looked at in one piece


class Texts(Protocol):
    """Texts that are looked at piece by piece."""

    def __len__(self) -> int: ...

    def __getitem__(self, places: slice, /) -> Sequence[str]: ...


@dataclasses.dataclass(slots=True)
class Seen:
    """Texts of one style: how many rows have one, each as long as they are few, and the first.

    `ends` are the least and the greatest number, by the mark or the order that they are read by;
    `firsts` and `lasts` have a bit for each number that dates such as 22-01-04 begin and end with;
    `firsts` of whole numbers that may be codes, for each digit that they begin with.
    """

    rows: int = 0
    example: str | None = None
    texts: dict[str, int] | None = dataclasses.field(default_factory=dict)
    ends: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    firsts: int = 0
    lasts: int = 0

    def add(self, other: Seen) -> None:
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
        for text, count in other.texts.items():
            self.texts[text] = self.texts.get(text, 0) + count
        if len(self.texts) > MOST_MISFITS:
            self.texts = None


@dataclasses.dataclass(slots=True)
class Tally:
    """The styles of the texts of a column; the same in whatever parts and order they come.

    `wanted` is what the user has declared them to be: then whatever Python reads fits, too.
    """

    wanted: Wanted | None = None
    has_ends: bool = False  # whether the least and the greatest number are wanted
    knows_types: bool = True  # whether the table holds anything but texts
    seen: dict[Style, Seen] = dataclasses.field(default_factory=dict)
    gaps: dict[str, int] = dataclasses.field(default_factory=dict)  # rows by trimmed word

    @property
    def is_hopeless(self) -> bool:
        """Whether the column is one of texts, whatever the other rows hold."""
        other = self.seen.get(None)
        return other is not None and other.texts is None and self.wanted is None

    def add(self, texts: Texts, rows_of: Callable[[], Rows]) -> None:
        """Take in texts, most of them distinct; `rows_of` counts the rows of each."""
        counts: Rows | None = None
        start, size = 0, _FIRST
        while start < len(texts) and not self.is_hopeless:
            some = texts[start : start + size]
            counts = rows_of() if counts is None else counts
            for style, places in styles(some, compact=self.wanted == "datetime"):
                found = [some[place] for place in places.tolist()]
                self._take_in(style, found, counts[start : start + size][places])
            start, size = start + size, min(4 * size, _MOST)

    def _take_in(self, style: Style, texts: Sequence[str], counts: Rows) -> None:
        if style is not None:
            self._add(style, texts, counts)
            return
        are_gaps = np.fromiter(map(is_gap, texts), bool, len(texts))
        for place in np.flatnonzero(are_gaps).tolist():
            word = texts[place].strip()
            self.gaps[word] = self.gaps.get(word, 0) + int(counts[place])
        groups: list[tuple[Style, Mask]] = [(None, ~are_gaps)]
        if self.wanted is not None:
            numbers = declared_reading(self.wanted).numbers(texts)
            fits, are_whole = (
                ~np.isnan(numbers),
                np.isfinite(numbers) & (np.floor(numbers) == numbers),
            )
            whole, other = _PLAIN[self.wanted]
            groups = [(whole, fits & are_whole), (other, fits & ~are_whole)]
            groups.append((None, ~fits & ~are_gaps))
        for own, some in groups:
            places = np.flatnonzero(some)
            self._add(own, [texts[place] for place in places.tolist()], counts[places])

    def _add(self, style: Style, texts: Sequence[str], counts: Rows) -> None:
        if len(texts):
            ends = _ends(style, texts, self.wanted is not None) if self.has_ends else {}
            few = _few(zip(texts, counts.tolist(), strict=True))
            new = Seen(int(counts.sum()), min(texts), few, ends, *_bits(style, texts))
            self.seen.setdefault(style, Seen()).add(new)

    def merge(self, other: Tally) -> None:
        """Take in what was seen in another part of the table."""
        for style, seen in other.seen.items():
            self.seen.setdefault(style, Seen()).add(seen)
        for word, rows in other.gaps.items():
            self.gaps[word] = self.gaps.get(word, 0) + rows


def _few(counted: Iterable[tuple[str, int]]) -> dict[str, int] | None:
    """Return the rows of each text; None where there are too many."""
    few: dict[str, int] = {}
    for text, count in counted:
        few[text] = few.get(text, 0) + count
        if len(few) > MOST_MISFITS:
            return None
    return few


def _bits(style: Style, texts: Sequence[str]) -> tuple[int, int]:
    """Return which numbers stand where the year may be, first or last; of codes the first digit."""
    if isinstance(style, NumberStyle) and style.digits:
        return sum(1 << int(digit) for digit in {*map(_first_digit, texts)}), 0
    if not isinstance(style, DateStyle) or "ymd" not in style.orders:
        return 0, 0
    ends = {found.groups() for found in map(_DAY.search, texts) if found is not None}
    firsts, lasts = ({int(pair[place]) for pair in ends} for place in (0, 1))
    return sum(1 << number for number in firsts), sum(1 << number for number in lasts)


def _first_digit(text: str) -> str:
    return next(mark for mark in text if mark in "0123456789")


def _ends(style: Style, texts: Sequence[str], is_declared: bool) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest number, for each way to read texts of a style."""
    if style is None:
        return {}
    ends = {}
    for key, reading in _readings(style).items():
        values = dataclasses.replace(reading, is_declared=is_declared).numbers(texts)
        ends[key] = float(values.min()), float(values.max())
    return ends


def _readings(style: Style) -> Mapping[str, Reading]:
    if isinstance(style, DateStyle):
        orders: tuple[Order, ...] = style.orders or ("ymd",)
        return {order: Reading(style.form, order=order) for order in orders}
    assert style is not None  # noqa: S101 - nothing is read of what has no style
    points = style.point or (".," if style.either else ".")
    return {point: Reading("number", (style.affix,), point) for point in points}


def ends_of(seen: Seen, reading: Reading) -> tuple[float, float]:
    """Return the least and the greatest number of texts of one style, read as was decided."""
    key = reading.order if reading.is_of_dates else reading.point
    return seen.ends[key] if key in seen.ends else next(iter(seen.ends.values()))
