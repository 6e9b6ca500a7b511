"""How the texts of a column are read, once that is decided: what fits, and what it means."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from outlying.table.arrays import Floats
from outlying.table.values import Form, is_gap, number_of
from outlying.table.written.dates import DateShape, DateStyle, Order, moments_of
from outlying.table.written.numbers import NumberShape, NumberStyle, values_of
from outlying.table.written.styles import Style, shapes_by_text

Wanted: TypeAlias = Literal["numeric", "datetime"]

#: What a column is declared to be: the form that errors speak of.
FORMS: dict[Wanted, Form] = {"numeric": "number", "datetime": "datetime"}


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """How the texts of a column are read: what fits, and what it means."""

    form: Form
    affixes: tuple[str, ...] = ()  # of numbers: what may stand beside them
    point: str = "."
    order: Order = "dmy"
    is_declared: bool = False  # by the user: whatever Python reads is read, too
    right: int = 0  # rows of the whole table that fit
    wrong: int = 0  # rows that do not, although they hold a text that stands for something

    @property
    def is_of_dates(self) -> bool:
        """Whether texts are read as dates or times."""
        return self.form not in ("number", "integer")

    @property
    def noun(self) -> str:
        """What a text is that fits, in words."""
        return {"time": "time", "number": "number", "integer": "number"}.get(self.form, "date")

    def is_of_kind(self, style: Style) -> bool:
        """Return whether a style is one of what is read: of numbers, dates or times of day."""
        if isinstance(style, DateStyle):
            return self.is_of_dates and (style.form == "time") == (self.form == "time")
        return style is not None and not self.is_of_dates

    def fits(self, style: Style) -> bool:
        """Return whether texts of a style are read; nothing is nothing, with or without a %."""
        if isinstance(style, NumberStyle):
            is_right = style.affix in self.affixes or (style.is_zero and not style.affix)
            return not self.is_of_dates and is_right and style.point in ("", self.point)
        if style is None or not self.is_of_dates:
            return False
        is_timed = (style.form == "time", style.form == "instant")
        is_right = is_timed == (self.form == "time", self.form == "instant")
        return is_right and (not style.orders or self.order in style.orders)

    def numbers(self, texts: Sequence[str]) -> Floats:
        """Read texts; NaN stands for what does not fit."""
        plain, groups = shapes_by_text(texts, compact=self.is_declared and self.is_of_dates)
        values = np.full(len(texts), np.nan)
        for shape, places in groups:
            some = [plain[place] for place in places.tolist()]
            if isinstance(shape, NumberShape) and self.fits(shape.style):
                values[places] = values_of(some, shape, self.point)
            elif isinstance(shape, DateShape) and self._may_fit(shape):
                found = moments_of(some, shape, self._order_of(shape))
                values[places] = np.where(found.are_valid, found.values, np.nan)
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
        orders = shape.orders if shape.has_order else ()
        return self.fits(DateStyle(shape.form, orders))

    def _order_of(self, shape: DateShape) -> Order:
        return self.order if shape.has_order else "ymd"


def declared_reading(wanted: Wanted) -> Reading:
    """Return how texts are read of which none is written for people, but a type is declared."""
    return Reading(FORMS[wanted], ("",), is_declared=True)
