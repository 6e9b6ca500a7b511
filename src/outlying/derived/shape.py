"""The shape of texts: their pattern of character classes, and characters that are odd in them."""

from __future__ import annotations

import collections
import functools
import unicodedata
from collections.abc import Mapping, Sequence

_SEPARATOR = "\x1f"
#: What is ordinary in any text, beside letters, digits and spaces.
_PUNCTUATION = frozenset(" .,'-&/()#\":;!?+%*@_\u2019\u2013")
#: Letters of a script that fewer of the rows hold are odd, as are other signs.
_FEW = 0.01
#: What a pattern without lengths has instead of some parts, one after the other.
_COLLAPSED = {
    **{"AA": "A", "aa": "a", "99": "9"},
    **{"A'A": "A", "A\u2019A": "A", "Aa-Aa": "Aa", "AaAa": "Aa"},
    **{"9A Aa": "9 Aa", "9a Aa": "9 Aa"},
}


class _Classes(dict[int, str]):
    """A table for str.translate that finds the class of a character when it first meets it."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _class_of(chr(code))
        return found


def _class_of(char: str) -> str:
    """Return A for a capital, a for another letter, 9 for a digit, a space for any white space."""
    if char.isalpha():
        return "A" if char.isupper() else "a"
    if char.isdigit():
        return "9"
    return " " if char.isspace() and char != _SEPARATOR else char


def patterns(texts: Sequence[str], *, are_collapsed: bool = False) -> list[str]:
    """Return the pattern of each text: AA-9999 for XY-1234; collapsed, without lengths of runs.

    All are translated at once, which is many times faster than one after the other.
    """
    if not texts:
        return []
    if any(_SEPARATOR in text for text in texts):
        texts = [text.replace(_SEPARATOR, " ") for text in texts]
    found = _SEPARATOR.join(texts).translate(_Classes())
    return (collapsed(found) if are_collapsed else found).split(_SEPARATOR)


def collapsed(pattern: str) -> str:
    """Return a pattern without the lengths of its runs: Aa Aa for Aaaaa Aaaaaaa.

    Names of several parts are names (O'Brien, McDonald, Smith-Jones), as are house numbers with a
    letter numbers (17B Oak).
    """
    for run, short in _COLLAPSED.items():
        while run in pattern:
            pattern = pattern.replace(run, short)
    return pattern


def odd_characters(counts: Mapping[str, int]) -> frozenset[str]:
    """Return signs, and letters of other scripts, that few rows of a column of texts hold.

    Letters of the column's own scripts are not odd, however rare: names begin with X as well.
    """
    known = {char for char in set("".join(counts)) - _PUNCTUATION if not char.isdigit()}
    script = {char: script_of(char) if char.isalpha() else char for char in known}
    if all(map(str.isalpha, known)) and len(set(script.values())) < 2:
        return frozenset()
    rows: collections.Counter[str] = collections.Counter()
    for text, count in counts.items():
        for kind in {script[char] for char in known.intersection(text)}:
            rows[kind] += count
    few = _FEW * sum(counts.values())
    return frozenset(char for char in known if rows[script[char]] <= few)


@functools.cache
def script_of(char: str) -> str:
    """Return the script of a letter, by the first word of its Unicode name."""
    return unicodedata.name(char, "UNKNOWN").split(" ")[0]
