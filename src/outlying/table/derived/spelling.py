"""Labels that look like a misspelling of a frequent one.

A rare label within one or two edits (optimal string alignment: a transposition counts as one) of a
frequent one. Much that differs by a letter is not misspelt: numbers and codes, plurals, Roman
numerals, letters that stand alone. Better to say nothing of these.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

#: A label and its misspelling occur in so many rows together, or more.
LEAST_TOGETHER = 5
#: A misspelling occurs once, or in one of so many rows of the label.
RARER = 20
#: Letters that a label must have for one edit, and for two.
LEAST_LETTERS = {1: 5, 2: 10}
#: The word that is misspelt has so many letters: shorter ones are codes, or abbreviations.
LEAST_WORD = 4
#: Beyond so many comparisons only labels with one edit are looked for, by their deletions.
MOST_COMPARISONS = 4_000_000

_WORD = re.compile(r"[^\W_]+")
_ROMAN = re.compile(r"[IVXLCDM]+")
_ENDINGS = ("s", "es")
_BEGINNINGS = ("un", "in", "im", "il", "ir", "non", "a")
_VOWELS = frozenset("aeiouyAEIOUY")


@dataclasses.dataclass(frozen=True, slots=True)
class Intended:
    """The label that was probably meant, and how many rows have it."""

    label: str
    rows: int


def misspellings(counts: Mapping[str, int]) -> dict[str, Intended]:
    """Return the labels that look misspelt; the nearest, then the most frequent label was meant."""
    frequent = sorted(label for label, rows in counts.items() if _is_frequent(label, rows))
    if not frequent:
        return {}
    most = max(counts[label] for label in frequent)
    rare = sorted(
        label for label, rows in counts.items() if rows <= _most_misspelt(most) and _is_word(label)
    )
    found: dict[str, tuple[int, int, str]] = {}
    for label, other, edits in _near(rare, frequent):
        if _looks_misspelt(label, other, edits, counts):
            order = edits, -counts[other], other
            found[label] = min(found.get(label, order), order)
    return {label: Intended(other, -rows) for label, (_, rows, other) in found.items()}


def _is_frequent(label: str, rows: int) -> bool:
    return rows + 1 >= LEAST_TOGETHER and _is_word(label) and _letters(label) >= LEAST_LETTERS[1]


def _most_misspelt(rows: int) -> int:
    """Return in how many rows a label may be misspelt in the same way."""
    return max(1, rows // RARER)


def _is_word(label: str) -> bool:
    return not label.isdigit()


def _letters(label: str) -> int:
    return sum(map(str.isalpha, label))


def _looks_misspelt(label: str, other: str, edits: int, counts: Mapping[str, int]) -> bool:
    rows, usual = counts[label], counts[other]
    return (
        label != other
        and rows <= _most_misspelt(usual)
        and rows + usual >= LEAST_TOGETHER
        and _letters(other) >= LEAST_LETTERS[edits]
        and is_slip(label, other)
    )


def is_slip(label: str, other: str) -> bool:
    """Return whether one text is likely another one with a slip, not a word of its own."""
    start, stop, stop_other = _changed(label, other)
    changed, meant = label[start:stop], other[start:stop_other]
    if any(map(str.isdigit, meant)):
        return False
    if any(map(str.isdigit, changed)) and len(changed) != len(meant):
        return False
    words = list(_words_at(other, start, stop_other))
    if not words or not all(map(_can_be_misspelt, words)):
        return False
    return not _is_inflected(label.casefold(), other.casefold()) and not _is_other_ending(
        changed, meant, other, stop_other
    )


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
    """Return the words that a part of a text touches."""
    for match in _WORD.finditer(text):
        if match.start() <= stop and match.end() >= start:
            yield match[0]


def _can_be_misspelt(word: str) -> bool:
    """Return whether a word is one of a language rather than a code."""
    if len(word) < LEAST_WORD or any(map(str.isdigit, word)) or _ROMAN.fullmatch(word):
        return False
    return any(char in _VOWELS or not char.isascii() for char in word)


def _is_inflected(label: str, other: str) -> bool:
    """Return whether texts differ by an ending or a beginning that makes another word."""
    short, long = sorted((label, other), key=len)
    return any(long == short + ending for ending in _ENDINGS) or any(
        long == beginning + short for beginning in _BEGINNINGS
    )


def _is_other_ending(changed: str, meant: str, other: str, stop: int) -> bool:
    """Return whether the last vowel of a word is another one: of another gender, say."""
    is_end = stop == len(other) or not other[stop].isalnum()
    return is_end and len(changed) == len(meant) == 1 and {changed, meant} <= _VOWELS


def _near(rare: Sequence[str], frequent: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """Return the pairs of labels within two edits; of very many labels, within one."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    if len(rare) * len(frequent) > MOST_COMPARISONS:
        yield from _one_deletion_apart(rare, frequent)
        return
    if not rare:
        return
    edits = process.cdist(rare, frequent, scorer=OSA.distance, score_cutoff=2, dtype=np.uint8)
    for place, other in np.argwhere((edits > 0) & (edits <= 2)).tolist():
        yield rare[place], frequent[other], int(edits[place, other])


def _one_deletion_apart(
    rare: Iterable[str], frequent: Iterable[str]
) -> Iterator[tuple[str, str, int]]:
    """Return the pairs of labels within one edit: those that share a deletion of one character.

    A symmetric-delete index (as of SymSpell): its cost grows with the labels, not with their pairs.
    """
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
