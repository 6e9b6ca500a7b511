"""Texts that are numbers, dates or times: decided here, for every source, and nowhere else.

Texts that are plain by every row (`plain`: whole numbers, decimals, ISO 8601) take a fast path by
Arrow. All others are counted by the style in which they are written (`reading`), and the whole
column decides what they mean (`columns`). Both kinds of counts merge in any order.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["pa", "pc"]

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:

    class _Module:
        """A module that is imported when something of it is asked for."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            found = getattr(importlib.import_module(self._name), name)
            setattr(self, name, found)
            return found

    pa, pc = _Module("pyarrow"), _Module("pyarrow.compute")
