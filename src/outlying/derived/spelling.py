"""How texts are made: their shape, and labels that are written unlike a frequent one.

A rare label within one or two edits (optimal string alignment: a transposition counts as one) of a
frequent one looks misspelt; one that is the same but for capitals, spaces and punctuation is
written in another way ("I.T." beside 340 "IT"), however short. Much that differs by a letter is
neither: numbers and codes, plurals, genders, opposites, Roman numerals, letters that stand alone.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

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

#: A label and its misspelling occur in so many rows together, or more.
LEAST_TOGETHER = 5
#: Two edits away, the label itself occurs in so many: between rare names so much is chance.
LEAST_FOR_TWO_EDITS = 20
#: A misspelling occurs once, or in one of so many rows of the label.
RARER = 20
#: Letters that a label must have for one edit, and the words that differ for two.
LEAST_LETTERS = {1: 5, 2: 10}
#: The word that is misspelt has so many letters: shorter ones are codes, or abbreviations.
LEAST_WORD = 4
#: Beyond so many comparisons only labels with one edit are looked for, by their deletions.
MOST_COMPARISONS = 4_000_000

#: Marks that divide a label and say nothing: I.T., O'Brien, e-mail, and/or.
_DIVIDING = re.compile("(?<=\\w)(?:(?<!\\d)[.,'\u2019_/-](?=\\w)|[.,'\u2019_/-](?=[^\\W\\d]))")
_SPACES = re.compile(r"\s+(?!\d)|(?<!\d)\s+")
_WORD = re.compile(r"[^\W_]+")
_ROMAN = re.compile(r"[IVXLCDM]+")
#: Endings of plurals and genders: of any word, and of one that ends in a consonant; longer ones
#: are two edits at the end of a word.
_ENDINGS = ("s", "es")
_VOWEL_ENDINGS = ("a", "e", "\u0430", "\u044b", "\u0438")
_BEGINNINGS = ("un", "in", "im", "il", "ir", "non", "a")
_OPPOSITES = (
    ("hyper", "hypo"),
    ("inter", "intra"),
    ("micro", "macro"),
    ("ante", "anti"),
    ("pre", "pro"),
    ("ab", "ad"),
)
_LATIN_VOWELS = "aeiouy"
_CYRILLIC_VOWELS = "\u0430\u0435\u0451\u0438\u043e\u0443\u044b\u044d\u044e\u044f"
_GREEK_VOWELS = "\u03b1\u03b5\u03b7\u03b9\u03bf\u03c5\u03c9"
_VOWELS = frozenset(_LATIN_VOWELS + _CYRILLIC_VOWELS + _GREEK_VOWELS)
#: Scripts whose signs are words or syllables: another one is another word.
_WITHOUT_SPELLING = frozenset({"CJK", "HANGUL", "HIRAGANA", "KATAKANA", "YI"})


# --- shape ---------------------------------------------------------------------------------------


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
    """Return the pattern of each text: AA-9999 for XY-1234; collapsed, without lengths of runs."""
    if not texts:
        return []
    if any(_SEPARATOR in text for text in texts):
        texts = [text.replace(_SEPARATOR, " ") for text in texts]
    found = _SEPARATOR.join(texts).translate(_Classes())
    return (collapsed(found) if are_collapsed else found).split(_SEPARATOR)


def collapsed(pattern: str) -> str:
    """Return a pattern without lengths: Aa Aa for Aaaaa Aaaaaaa. O'Brien is Aa, 17B Oak 9 Aa."""
    for run, short in _COLLAPSED.items():
        while run in pattern:
            pattern = pattern.replace(run, short)
    return pattern


def odd_characters(counts: Mapping[str, int]) -> frozenset[str]:
    """Return signs, and letters of scripts not its own, that few rows of a column hold."""
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


# --- misspellings --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Intended:
    """The label that was probably meant, and how many rows have it."""

    label: str
    rows: int


def misspellings(
    counts: Mapping[str, int], most_comparisons: int = MOST_COMPARISONS
) -> dict[str, Intended]:
    """Return the labels that look misspelt; the nearest, then the most frequent label was meant."""
    return _slips(counts, most_comparisons) | _variants(counts)


def folded(label: str) -> str:
    """Return a label without capitals, spaces, and marks that only divide it, but no digits."""
    return _DIVIDING.sub("", _SPACES.sub("", label).rstrip(".")).casefold()


def _variants(counts: Mapping[str, int]) -> dict[str, Intended]:
    """Return the labels that are written unlike a frequent one, but read the same."""
    alike: dict[str, list[str]] = {}
    for label in counts:
        key = folded(label)
        if sum(map(str.isalpha, key)) > 1:
            alike.setdefault(key, []).append(label)
    found = {}
    for labels in alike.values():
        meant = max(sorted(labels), key=counts.__getitem__)
        for label in labels:
            if label != meant and _is_rare_beside(counts[label], counts[meant]):
                found[label] = Intended(meant, counts[meant])
    return found


def _is_rare_beside(rows: int, usual: int) -> bool:
    return rows <= _most_misspelt(usual) and rows + usual >= LEAST_TOGETHER


def _slips(counts: Mapping[str, int], most_comparisons: int) -> dict[str, Intended]:
    words = {label: rows for label, rows in counts.items() if not label.isdigit()}
    often = [label for label, rows in words.items() if rows + 1 >= LEAST_TOGETHER]
    frequent = sorted(label for label in often if _letters(label) >= LEAST_LETTERS[1])
    most = _most_misspelt(max((words[label] for label in frequent), default=0))
    rare = sorted(label for label, rows in words.items() if frequent and rows <= most)
    found: dict[str, tuple[int, int, str]] = {}
    for label, other, edits in _near(rare, frequent, most_comparisons):
        if _looks_misspelt(label, other, edits, counts):
            order = edits, -counts[other], other
            found[label] = min(found.get(label, order), order)
    return {label: Intended(other, -rows) for label, (_, rows, other) in found.items()}


def _most_misspelt(rows: int) -> int:
    """Return in how many rows a label may be misspelt in the same way."""
    return max(1, rows // RARER)


def _letters(label: str) -> int:
    return sum(map(str.isalpha, label))


def _looks_misspelt(label: str, other: str, edits: int, counts: Mapping[str, int]) -> bool:
    rows, usual = counts[label], counts[other]
    return (
        label != other
        and _is_rare_beside(rows, usual)
        and (edits == 1 or usual >= LEAST_FOR_TWO_EDITS)
        and _letters(other) >= LEAST_LETTERS[1]
        and is_slip(label, other, edits)
    )


def is_slip(label: str, other: str, edits: int = 1) -> bool:
    """Return whether one text is likely another one with a slip, not a word of its own."""
    start, stop, stop_other = _changed(label, other)
    changed, meant = label[start:stop], other[start:stop_other]
    if "@" in other or any(map(str.isdigit, meant)):
        return False
    if any(map(str.isdigit, changed)) and len(changed) != len(meant):
        return False
    words = list(_words_at(other, start, stop_other))
    if not words or not all(map(_can_be_misspelt, words)):
        return False
    if edits > 1 and sum(map(_letters, words)) < LEAST_LETTERS[edits]:
        return False
    return not _are_two_words(label, other, edits)


def _changed(label: str, other: str) -> tuple[int, int, int]:
    """Return where two texts differ: the start, and both ends."""
    start, most = 0, min(len(label), len(other))
    while start < most and label[start] == other[start]:
        start += 1
    behind = 0
    while behind < most - start and label[-1 - behind] == other[-1 - behind]:
        behind += 1
    return start, len(label) - behind, len(other) - behind


def _words_at(text: str, start: int, stop: int) -> Iterator[str]:
    for match in _WORD.finditer(text):
        if match.start() <= stop and match.end() >= start:
            yield match[0]


def _can_be_misspelt(word: str) -> bool:
    """Return whether a word is one of a language rather than a code."""
    if len(word) < LEAST_WORD or any(map(str.isdigit, word)) or _ROMAN.fullmatch(word):
        return False
    if not word.isascii() and not _WITHOUT_SPELLING.isdisjoint(map(script_of, word)):
        return False
    return any(char in _VOWELS or not char.isascii() for char in word.casefold())


def _are_two_words(label: str, other: str, edits: int) -> bool:
    """Return whether the words in which two texts differ are likely two of a language.

    People see another first letter of its kind; a vowel for a consonant, or a small letter for a
    capital, does not make another word. Another last vowel does: of another gender, say.
    """
    start, stop, stop_other = _changed(label, other)
    first, last = start, stop_other
    while first > 0 and other[first - 1].isalnum():
        first -= 1
    while last < len(other) and other[last].isalnum():
        last += 1
    word, meant = label[first : stop + last - stop_other], other[first:last]
    folded_word, folded_meant = word.casefold(), meant.casefold()
    if folded_word == folded_meant:
        return False
    at, most = start - first, max(stop, stop_other) - first
    is_at_an_end = most <= 2 or at >= max(len(word), len(meant)) - 2
    if edits > 1 and (folded_word[:1] != folded_meant[:1] or is_at_an_end):
        return True
    replaced = (word[at] + meant[at]).casefold() if stop == stop_other == start + 1 else ""
    has_another_initial = (
        at == 0
        and replaced.isalpha()
        and len({char in _VOWELS for char in replaced}) == 1
        and word[0].isupper() == meant[0].isupper()
    )
    is_last = at == len(meant) - 1 and replaced != ""
    return (
        has_another_initial
        or (is_last and _VOWELS.issuperset(replaced))
        or _are_inflected(folded_word, folded_meant)
        or _are_opposites(folded_word, folded_meant)
    )


def _are_inflected(word: str, other: str) -> bool:
    """Return whether words differ by an ending or a beginning that makes another word."""
    short, long = sorted((word, other), key=len)
    if long.startswith(short):
        ending = long[len(short) :]
        if ending in _VOWEL_ENDINGS:
            return short[-1:] not in _VOWELS
        return ending in _ENDINGS or (long.endswith("en") and ending == "n")
    return any(long == beginning + short for beginning in _BEGINNINGS)


def _are_opposites(word: str, other: str) -> bool:
    """Return whether words differ by beginnings that are much alike, and mean the opposite."""
    return any(
        first.startswith(one) and second == two + first.removeprefix(one)
        for one, two in _OPPOSITES
        for first, second in ((word, other), (other, word))
    )


def _near(
    rare: Sequence[str], frequent: Sequence[str], most_comparisons: int
) -> Iterator[tuple[str, str, int]]:
    """Return the pairs of labels within two edits; of very many labels, within one."""
    if not rare:
        return
    if len(rare) * len(frequent) > most_comparisons:
        yield from _one_deletion_apart(rare, frequent)
        return
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    edits = process.cdist(rare, frequent, scorer=OSA.distance, score_cutoff=2, dtype=np.uint8)
    for place, other in np.argwhere((edits > 0) & (edits <= 2)).tolist():
        yield rare[place], frequent[other], int(edits[place, other])


def _one_deletion_apart(
    rare: Iterable[str], frequent: Iterable[str]
) -> Iterator[tuple[str, str, int]]:
    """Return the pairs of labels that share a deletion of one character, by an index (SymSpell)."""
    from rapidfuzz.distance import OSA

    index: dict[int, list[str]] = collections.defaultdict(list)
    for other in frequent:
        for key in _deletions(other):
            index[key].append(other)
    for label in rare:
        near = {other for key in _deletions(label) for other in index.get(key, ())}
        for other in sorted(near):
            if label != other and OSA.distance(label, other, score_cutoff=1) <= 1:
                yield label, other, 1


def _deletions(label: str) -> set[int]:
    """Return hashes of a label, and of it without each of its characters."""
    return {hash(label), *(hash(label[:at] + label[at + 1 :]) for at in range(len(label)))}
