"""Findings as a dataframe of the library that the user has."""

from __future__ import annotations

import importlib
from typing import Any

from outlying.errors import MissingExtraError


def frame(columns: dict[str, list[Any]], source: str) -> Any:
    """Make a dataframe: polars for data that came from polars, otherwise pandas if it is there."""
    order = ("polars", "pandas") if source.startswith("polars") else ("pandas", "polars")
    for name in order:
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return library.DataFrame(columns)
    raise MissingExtraError("to_frame()", "pandas")
