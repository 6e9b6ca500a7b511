"""How wide a text is on a terminal, where East Asian characters take two cells."""

from __future__ import annotations

import textwrap
import unicodedata

_FILLER = "\uffff"  # stands for the second cell of a wide character; no text that is shown has it


def text_width(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    wide = sum(_is_wide(char) for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def cut(text: str, width: int) -> str:
    """Return a text of at most a width; one that was longer ends in an ellipsis."""
    if text_width(text) <= width:
        return text
    while text_width(text) >= width:
        text = text[:-1]
    return text + "…"


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> str:
    """Return a text in lines of at most a width; the first and the others have their own margin."""
    spread = "".join(char + _FILLER if _is_wide(char) else char for char in text)
    wrapper = _Wrapper(width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return wrapper.fill(spread).replace(_FILLER, "")


class _Wrapper(textwrap.TextWrapper):
    """Never parts the two cells of a wide character."""

    def _handle_long_word(
        self, reversed_chunks: list[str], cur_line: list[str], cur_len: int, width: int
    ) -> None:
        room = width - cur_len
        if reversed_chunks[-1][room : room + 1] == _FILLER:
            if room == 1 and cur_line:
                return  # the word begins on the next line
            width -= room > 1
        super()._handle_long_word(reversed_chunks, cur_line, cur_len, width)


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"
