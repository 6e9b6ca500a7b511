"""The shape of a text: what is left when digits do not count, so that few shapes stand for many.

A million amounts have a few dozen shapes. All texts are handled in one piece by C code of str;
only distinct shapes are ever looked at one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: Longer texts are no numbers and no dates.
LONGEST = 48

_END = "\0"
_SPACES = "\u00a0\u2007\u2009\u202f\u2002\u2003\u2005\t"
_NORMAL = {**dict.fromkeys(_SPACES, " "), **dict.fromkeys("\u2212\u2013", "-"), "\u2019": "'"}
_NINES = dict.fromkeys("12345678", "9")


def normalised(texts: Sequence[str]) -> list[str]:
    """Return texts trimmed, with one kind of space, minus and apostrophe; "" for long ones."""
    trimmed = [text.strip() if len(text) <= LONGEST else "" for text in texts]
    joined = _END.join(trimmed)
    if joined.count(_END) != len(trimmed) - 1:
        joined = _END.join("" if _END in text else text for text in trimmed)
    return replaced(joined, _NORMAL).split(_END) if trimmed else []


def shapes_of(texts: Sequence[str]) -> list[str]:
    """Return the shape of each normalised text: 9 for digits, but 0 where a run begins with it."""
    if not texts:
        return []
    joined = replaced(_END.join(texts), _NINES)
    while "90" in joined:
        joined = joined.replace("90", "99")
    return joined.split(_END)


def replaced(text: str, marks: Mapping[str, str]) -> str:
    """Replace single characters; unlike str.translate quick for all texts, not for ASCII only."""
    for mark, other in marks.items():
        text = text.replace(mark, other)
    return text
