"""Parts of texts: length, words, pattern, odd characters, spelling, and what occurs twice.

A column of many distinct texts divides rows too finely to be compared by them; how its texts are
made can be compared. What is rare is put into one category ("another" pattern, "misspelt"), so that
a column in which much is rare says little, as it should; which it is, words say (`said`).
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from outlying.table.columns import CategoricalColumn, Column, NumericColumn, frozen
from outlying.table.derived.parts import Part
from outlying.table.derived.shape import collapsed, odd_characters, patterns
from outlying.table.derived.spelling import Intended, misspellings
from outlying.table.row_hash import label_hashes, splitmix64
from outlying.table.selection import IDENTIFIER_ROWS, MOST_TEXTS
from outlying.table.values import Value, printable

#: A column has many distinct texts from so many on, if they are this share of its rows.
MANY_TEXTS = 50
MANY_SHARE = 0.2
#: Patterns that fewer rows have are put together; the others must be those of nearly all rows.
COMMON = 0.01
NEARLY_ALL = 0.9
#: What more rows have is no exception: odd characters, misspellings, repeated keys.
MOST_ODD = 0.02
MOST_REPEATED = 0.001

USUAL, ODD, MISSPELT, ANOTHER = "usual", "odd", "misspelt", "another"
ONCE, REPEATED = "once", "repeated"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class TextFacts:
    """How many rows each text of a column has; of very many texts, those with the least hashes."""

    counts: Mapping[str, int]
    distinct: int
    rows: int  # that have a text
    is_whole: bool  # whether all texts are among them

    @classmethod
    def of(cls, column: CategoricalColumn) -> TextFacts:
        """Count the texts of a column in memory."""
        rows = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels))
        counts = {str(label): count for label, count in zip(column.labels, rows.tolist()) if count}
        return cls(counts, len(counts), int(rows.sum()), is_whole=True)

    @property
    def has_many_texts(self) -> bool:
        """Whether texts are so many that their shape is worth more than they are."""
        return self.distinct >= min(MANY_TEXTS, IDENTIFIER_ROWS) and (
            self.distinct > MANY_SHARE * self.rows
        )

    def some(self) -> Mapping[str, int]:
        """Return the texts by which shapes are judged: all, or those with the least hashes."""
        if len(self.counts) <= MOST_TEXTS:
            return self.counts
        texts = list(self.counts)
        order = np.argsort(splitmix64(label_hashes(texts)))[:MOST_TEXTS]
        return {texts[place]: self.counts[texts[place]] for place in order.tolist()}


@dataclasses.dataclass(frozen=True, slots=True)
class TextDerivation:
    """How a part is computed of each distinct text."""

    parent: str

    part = Part.LENGTH
    gives_conditions = False

    @property
    def name(self) -> str:
        """The name of the derived column."""
        return self.part.name_of(self.parent)

    def column(self, parent: Column) -> Column:
        """Compute the part of each text."""
        assert not parent.is_numeric  # noqa: S101 - texts are categories
        return self._column(parent, self.parts([str(label) for label in parent.labels]))

    def parts(self, texts: Sequence[str]) -> Sequence[float] | Sequence[str]:
        """Return the part of each text: numbers, or words for categories."""
        raise NotImplementedError

    def said(self, value: Value) -> str | None:  # noqa: ARG002
        """Return None: the part itself says it."""
        return None

    def _column(
        self, parent: CategoricalColumn, parts: Sequence[float] | Sequence[str]
    ) -> Column:
        if self.part in (Part.LENGTH, Part.WORDS):
            values = np.array([*parts, np.nan])[parent.codes]
            return NumericColumn(self.name, "integer", frozen(values), self)
        labels = sorted(set(map(str, parts)))
        code_of = {label: code for code, label in enumerate(labels)}
        codes = np.array([*(code_of[str(part)] for part in parts), -1], dtype=np.int32)
        found = frozen(codes[parent.codes])
        return CategoricalColumn(self.name, "text", found, tuple(labels), origin=self)


class Length(TextDerivation):
    """How many characters a text has."""

    def parts(self, texts: Sequence[str]) -> list[float]:
        """Count characters."""
        return [float(len(text)) for text in texts]


class Words(TextDerivation):
    """How many words a text has."""

    part = Part.WORDS

    def parts(self, texts: Sequence[str]) -> list[float]:
        """Count what white space separates."""
        return [float(len(text.split())) for text in texts]


@dataclasses.dataclass(frozen=True, slots=True)
class Pattern(TextDerivation):
    """Which of the common patterns a text has."""

    common: frozenset[str]
    is_collapsed: bool
    part = Part.PATTERN
    gives_conditions = True

    def patterns(self, texts: Sequence[str]) -> list[str]:
        """Return the patterns of texts, with or without the lengths of runs."""
        found = patterns(texts)
        return [collapsed(pattern) for pattern in found] if self.is_collapsed else found

    def parts(self, texts: Sequence[str]) -> list[str]:
        """Return common patterns; others are put together."""
        return [text if text in self.common else ANOTHER for text in self.patterns(texts)]

    def said(self, value: Value) -> str | None:
        """Name a pattern that is not common."""
        pattern = self.patterns([str(value)])[0]
        if pattern in self.common:
            return None
        usual = sorted(self.common, key=lambda common: (len(common), common))[:2]
        return (
            f"{_claim(self.parent, value)} has a rare pattern, {printable(pattern, 40)} "
            f"instead of {' or '.join(printable(common, 40) for common in usual)}"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Characters(TextDerivation):
    """Whether a text has characters that are odd in its column."""

    odd: frozenset[str]
    part = Part.CHARACTERS

    def parts(self, texts: Sequence[str]) -> list[str]:
        """Look for odd characters."""
        found = re.compile(f"[{re.escape(''.join(sorted(self.odd)))}]").search
        return [ODD if found(text) else USUAL for text in texts]

    def said(self, value: Value) -> str | None:
        """Name the odd characters."""
        found = sorted(self.odd.intersection(str(value)))
        if not found:
            return None
        named = ", ".join(_sign(char) for char in found[:3])
        which = "a character that is" if len(found) == 1 else "characters that are"
        return f"{_claim(self.parent, value)} has {which} odd in this column: {named}"


@dataclasses.dataclass(frozen=True, slots=True)
class Spelling(TextDerivation):
    """Whether a text looks like a misspelling of a frequent one."""

    meant: Mapping[str, Intended]
    part = Part.SPELLING

    def parts(self, texts: Sequence[str]) -> list[str]:
        """Look texts up."""
        return [MISSPELT if text in self.meant else USUAL for text in texts]

    def said(self, value: Value) -> str | None:
        """Say what was probably meant."""
        meant = self.meant.get(str(value))
        if meant is None:
            return None
        return (
            f"{_claim(self.parent, value)} looks like a misspelling of "
            f"{printable(meant.label, 60)} ({meant.rows:,} rows)"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class RepeatedTexts(TextDerivation):
    """Whether a text occurs more than once, where nearly all occur once."""

    counts: Mapping[str, int]
    part = Part.REPEATED

    def parts(self, texts: Sequence[str]) -> list[str]:
        """Look texts up."""
        return [REPEATED if text in self.counts else ONCE for text in texts]

    def said(self, value: Value) -> str | None:
        """Say how often it occurs."""
        return repeated_claim(self.parent, value, self.counts.get(str(value)), len(self.counts))


def repeated_claim(parent: str, value: Value, count: int | None, others: int) -> str | None:
    """Say that a value occurs more than once, and whether it is the only one."""
    if count is None:
        return None
    times = "twice" if count == 2 else f"{count:,} times"
    claim = f"{_claim(parent, value)}"
    if others == 1:
        return f"{claim} is the only one that occurs {times}"
    return f"{claim} occurs {times}, as few others do: nearly all occur once"


def text_derivations(parent: str, facts: TextFacts) -> Iterator[TextDerivation]:
    """Return the parts of a column of texts that may say something."""
    if facts.is_whole:
        meant = misspellings(facts.counts)
        if meant and _rows(facts, meant) <= MOST_ODD * facts.rows:
            yield Spelling(parent, meant)
        repeated = {text: count for text, count in facts.counts.items() if count > 1}
        if are_exceptions(repeated, facts.distinct, facts.rows):
            yield RepeatedTexts(parent, repeated)
    if facts.has_many_texts:
        yield from _shapes(parent, facts.some())


def are_exceptions(repeated: Mapping[object, int], distinct: int, rows: int) -> bool:
    """Return whether what occurs more than once is so little that nothing should."""
    return (
        rows >= IDENTIFIER_ROWS
        and 0 < len(repeated) <= max(1, MOST_REPEATED * distinct)
        and sum(repeated.values()) <= max(3, MOST_ODD * rows)
    )


def _shapes(parent: str, counts: Mapping[str, int]) -> Iterator[TextDerivation]:
    rows = sum(counts.values())
    pattern = _pattern(parent, counts, rows)
    if pattern is not None:
        yield pattern
    elif _differ(counts, lambda text: len(text.split())):
        yield Words(parent)
    if (pattern is None or pattern.is_collapsed) and _differ(counts, len):
        yield Length(parent)
    odd = odd_characters(counts)
    if odd:
        found = Characters(parent, odd)
        flagged = [t for t, part in zip(counts, found.parts(list(counts))) if part == ODD]
        if sum(counts[text] for text in flagged) <= MOST_ODD * rows:
            yield found


def _pattern(parent: str, counts: Mapping[str, int], rows: int) -> Pattern | None:
    """Return the pattern, with lengths of runs where few have nearly all rows, or without."""
    full = collections.Counter[str]()
    for pattern, count in zip(patterns(list(counts)), counts.values(), strict=True):
        full[pattern] += count
    short = collections.Counter[str]()
    for pattern, count in full.items():
        short[collapsed(pattern)] += count
    for found, is_collapsed in ((full, False), (short, True)):
        common = frozenset(text for text, count in found.items() if count >= COMMON * rows)
        if sum(found[text] for text in common) >= NEARLY_ALL * rows:
            return Pattern(parent, common, is_collapsed) if len(found) > 1 else None
    return None


def _differ(counts: Mapping[str, int], of: Callable[[str], int]) -> bool:
    return len({of(text) for text in counts}) > 1


def _rows(facts: TextFacts, texts: Mapping[str, object]) -> int:
    return sum(facts.counts[text] for text in texts)


def _claim(parent: str, value: Value) -> str:
    return f"{printable(parent)} = {printable(str(value))}"


def _sign(char: str) -> str:
    return f"{printable(char)!r}" if char.isprintable() else f"U+{ord(char):04X}"
