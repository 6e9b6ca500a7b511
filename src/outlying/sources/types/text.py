"""Types that texts show: dates and times by ISO 8601, in formats that have no type for them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from outlying.table.columns import Floats
from outlying.table.values import Form, number_of

_DAY = r"\d{4}-\d{2}-\d{2}"
_CLOCK = r"\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
ISO_PATTERNS: dict[Form, str] = {
    "date": _DAY,
    "datetime": rf"{_DAY}(?:[ T]{_CLOCK})?",
    "instant": rf"{_DAY}[ T]{_CLOCK}(?:Z|[+-]\d{{2}}(?::?\d{{2}})?)",
    "time": _CLOCK,
}
"""How they look, for Python and for RE2."""


def form_and_times(texts: Sequence[str | None]) -> tuple[Form, Floats] | None:
    """Read texts as times of the first form that fits all; None: there is no such form."""
    for form in ISO_PATTERNS:
        numbers = _times(form, texts)
        if numbers is not None:
            return form, numbers
    return None


def _times(form: Form, texts: Sequence[str | None]) -> Floats | None:
    matches = re.compile(ISO_PATTERNS[form]).fullmatch
    numbers = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        if text is None:
            continue
        if not matches(text):
            return None
        try:
            numbers[row] = number_of(form, text)
        except (ValueError, OverflowError):  # looks like a date but is none: 2024-02-30
            return None
    return numbers
