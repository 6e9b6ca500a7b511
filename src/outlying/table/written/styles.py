"""Which texts have which style: grouped by shape first, dates then by the orders that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from outlying.table.arrays import Rows
from outlying.table.written.dates import DateShape, DateStyle, date_shape, moments_of
from outlying.table.written.numbers import NumberShape, NumberStyle, number_shape
from outlying.table.written.shapes import normalised, shapes_of

Style: TypeAlias = NumberStyle | DateStyle | None  # None: neither a number nor a date


def shapes_by_text(
    texts: Sequence[str], *, compact: bool = False
) -> tuple[list[str], Iterator[tuple[NumberShape | DateShape | None, Rows]]]:
    """Return the normalised texts, and which places have which shape."""
    plain = normalised(texts)
    shapes = shapes_of(plain)
    number: dict[str, int] = {}
    codes = np.fromiter(
        (number.setdefault(shape, len(number)) for shape in shapes), np.int64, len(shapes)
    )
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
        found = _known_shape(shape, compact)
        if found is None:
            others.append(rows)
        else:
            yield found, rows
    if others:
        yield None, np.concatenate(others)


def _known_shape(shape: str, compact: bool) -> NumberShape | DateShape | None:
    if compact:
        return date_shape(shape, compact=True) or number_shape(shape)
    return number_shape(shape) or date_shape(shape)


def styles(texts: Sequence[str], *, compact: bool = False) -> Iterator[tuple[Style, Rows]]:
    """Return which texts have which style; a style may come several times."""
    plain, groups = shapes_by_text(texts, compact=compact)
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
    _, groups = shapes_by_text([text])
    shape, _ = next(groups)
    style, _ = next(styles([text]))
    return style, shape is not None


def _date_styles(
    texts: Sequence[str], shape: DateShape, places: Rows
) -> Iterator[tuple[Style, Rows]]:
    """Tell dates by the orders of day and month in which they make sense."""
    orders = shape.orders if shape.has_order else ("ymd",)
    found = [moments_of(texts, shape, order) for order in orders]
    valid = np.array([moments.are_valid for moments in found])
    midnight = found[0].values % 86_400e6 == 0
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
