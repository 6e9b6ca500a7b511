"""How much room a text takes where every character is one or two cells wide."""

from __future__ import annotations

import textwrap
import unicodedata

_FILLER = "\uffff"  # no text that is shown has it


def cells(text: str) -> int:
    """Count the columns that a text takes on a terminal."""
    wide = sum(_is_wide(char) for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> str:
    """Fill lines, the first and the others with a margin of their own."""
    spread = "".join(char + _FILLER if _is_wide(char) else char for char in text)
    return textwrap.fill(
        spread, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    ).replace(_FILLER, "")


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"
