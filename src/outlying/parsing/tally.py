"""What styles the texts of a column have, counted in any part of its rows and put together."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from outlying.options import ColumnType
from outlying.parsing.dates import UNITS, DateStyle
from outlying.parsing.numbers import NumberStyle
from outlying.parsing.reading import Declared, Reading, Style, styles_of
from outlying.table.values import Mask, Rows, is_gap

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


class Texts(Protocol):
    """Texts that are looked at piece by piece."""

    def __len__(self) -> int: ...

    def __getitem__(self, places: slice, /) -> Sequence[str]: ...


@dataclasses.dataclass(slots=True)
class StyleCount:
    """Texts of one style: how many rows have one, each as long as they are few, and the first.

    `ends` are the least and the greatest number, by the mark or the order that they are read by;
    `firsts` and `lasts` have a bit for each number that dates such as 22-01-04 begin and end with;
    `firsts` of whole numbers that may be codes, for each digit that they begin with.
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
    """The styles of the texts of a column; the same in whatever parts and order they come.

    `declared` is what the user says that they are: then whatever Python reads fits, too.
    """

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

    def add(self, texts: Texts, rows_of: Callable[[], Rows]) -> None:
        """Take in texts, most of them distinct; `rows_of` counts the rows of each."""
        counts: Rows | None = None
        start, size = 0, _FIRST
        while start < len(texts) and not self.is_hopeless:
            some = texts[start : start + size]
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
