"""CSV files as typed columns, so that one changed cell can change the type of its column."""

from __future__ import annotations

import contextlib
import csv
import datetime
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.quality.cases import Array

DATES = ("%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%m/%d/%Y %I:%M:%S %p")
LEADING_ZERO = re.compile(r"[+-]?0\d")


def read_texts(path: Path) -> dict[str, list[str]]:
    """Return the columns of a file as they are written."""
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


def typed(texts: Sequence[str]) -> Array:
    """Return numbers or dates where all values that are not empty are such, else labels."""
    known = [text for text in texts if text]
    if not any(LEADING_ZERO.match(text) for text in known):
        with contextlib.suppress(ValueError):
            return np.array([float(text) if text else np.nan for text in texts])
    for form in DATES if known else ():
        with contextlib.suppress(ValueError):
            return np.array([_date(text, form) for text in texts], dtype="datetime64[s]")
    return np.array([text or None for text in texts], dtype=object)


def _date(text: str, form: str) -> datetime.datetime | None:
    return datetime.datetime.strptime(text, form) if text else None
