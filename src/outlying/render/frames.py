"""Findings as a dataframe of the library that the user has."""

from __future__ import annotations

import importlib
from typing import Any, get_args

from outlying.errors import MissingExtraError
from outlying.table.table import FrameLibrary


def frame(columns: dict[str, list[Any]], preferred: FrameLibrary) -> Any:
    """Return a dataframe of the preferred library, or of another where that is not installed."""
    for name in (preferred, *get_args(FrameLibrary)):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return library.DataFrame(
            {name: list(map(_whole, cells)) for name, cells in columns.items()}
        )
    raise MissingExtraError("to_frame()", "pandas")


def _whole(cell: Any) -> Any:
    """Return a text without halves of characters, which no library takes; others as they are."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell
