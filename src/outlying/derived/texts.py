"""Parts of texts: length, words, pattern, odd characters, spelling, and texts among numbers; keys.

What is rare is put into one category ("another" pattern, "misspelt"), so that a column where much
is rare says little, as it should; which it is, words say (`said`).
"""

from __future__ import annotations

import collections
import dataclasses
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from outlying import sentences as say
from outlying.derived.derivation import PartDerivation
from outlying.derived.spelling import (
    Intended,
    collapsed,
    folded,
    misspellings,
    odd_characters,
    patterns,
)
from outlying.parsing.reading import Reading, style_of
from outlying.table.columns import CategoricalColumn, Column, NumericColumn, frozen
from outlying.table.row_hash import label_hashes, splitmix64
from outlying.table.selection import IDENTIFIER_ROWS, MOST_TEXTS
from outlying.table.table import Part
from outlying.table.values import (
    LARGEST_EXACT_INTEGER,
    Counts,
    Floats,
    Value,
    is_gap,
    printable,
    text_of,
)

#: A column has many distinct texts from so many on, if they are this share of its rows.
MANY_TEXTS = IDENTIFIER_ROWS
MANY_SHARE = 0.2
#: Patterns that fewer rows have are put together; the others must be those of nearly all rows.
COMMON = 0.01
NEARLY_ALL = 0.9
#: What more rows have is no exception but a habit.
MOST_MISSPELT = 0.1

_WHOLE = re.compile("-?[0-9]{1,40}")

USUAL, ODD, MISSPELT, ANOTHER = "usual", "odd", "misspelt", "another"


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
        counts = {
            str(label): count
            for label, count in zip(column.labels, rows.tolist(), strict=True)
            if count
        }
        return cls(counts, len(counts), int(rows.sum()), is_whole=True)

    @property
    def has_many_texts(self) -> bool:
        """Whether texts are so many that their shape is worth more than they are."""
        return self.distinct >= MANY_TEXTS and self.distinct > MANY_SHARE * self.rows

    def joined(self, column: CategoricalColumn) -> TextFacts:
        """Take in the texts of further rows."""
        counts = dict(self.counts)
        more = TextFacts.of(column)
        for text, count in more.counts.items():
            counts[text] = counts.get(text, 0) + count
        distinct = self.distinct + len(counts) - len(self.counts)
        return TextFacts(counts, distinct, self.rows + more.rows, self.is_whole)

    def some(self) -> Mapping[str, int]:
        """Return the texts by which shapes are judged: all, or those with the least hashes."""
        if len(self.counts) <= MOST_TEXTS:
            return self.counts
        texts = list(self.counts)
        order = np.argsort(splitmix64(label_hashes(texts)))[:MOST_TEXTS]
        return {texts[place]: self.counts[texts[place]] for place in order.tolist()}


@dataclasses.dataclass(frozen=True, slots=True)
class TextDerivation(PartDerivation):
    """How a part is computed of each distinct text."""

    def computed(self, parent: Column) -> Column:
        """Compute the part of each text."""
        assert not parent.is_numeric  # noqa: S101 - texts are categories
        parts = self.parts([str(label) for label in parent.labels])
        if self.part in (Part.LENGTH, Part.WORDS):
            values = np.array([*parts, np.nan])[parent.codes]
            return NumericColumn(self.name, "integer", frozen(values), self)
        return self._labelled(list(map(str, parts)), parent.codes)

    def parts(self, texts: Sequence[str]) -> Sequence[float] | Sequence[str]:
        """Return the part of each text: numbers, or words for categories."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, slots=True)
class Length(TextDerivation):
    """How many characters a text has, or words; as many at most as have been seen."""

    most: int

    @property
    def ends(self) -> tuple[float, float]:
        """From none to the most that were seen."""
        return 0.0, float(self.most)

    def parts(self, texts: Sequence[str]) -> list[float]:
        """Count characters, or what white space separates."""
        return [float(min(_length(text, self.part), self.most)) for text in texts]


@dataclasses.dataclass(frozen=True, slots=True)
class WrittenPattern(TextDerivation):
    """Which of the common patterns a text has."""

    common: tuple[str, ...]
    is_collapsed: bool

    @property
    def gives_conditions(self) -> bool:
        """Whether it groups rows: patterns of codes do, those of names and addresses do not."""
        return not self.is_collapsed

    def patterns(self, texts: Sequence[str]) -> list[str]:
        """Return the patterns of texts, with or without the lengths of runs."""
        return patterns(texts, are_collapsed=self.is_collapsed)

    def parts(self, texts: Sequence[str]) -> list[str]:
        """Return common patterns; others are put together."""
        common = frozenset(self.common)
        return [text if text in common else ANOTHER for text in self.patterns(texts)]

    def remark(self, value: Value) -> str | None:
        """Name a pattern that is not common."""
        pattern = self.patterns([str(value)])[0]
        if pattern in self.common:
            return None
        usual = " or ".join(printable(common, 40) for common in self.common[:2])
        return say.RARE_PATTERN.format(pattern=printable(pattern, 40), usual=usual)


@dataclasses.dataclass(frozen=True, slots=True)
class Characters(TextDerivation):
    """Whether a text has characters that are odd in its column."""

    odd: str

    def parts(self, texts: Sequence[str]) -> list[str]:
        """Look for odd characters."""
        found = re.compile(f"[{re.escape(self.odd)}]").search
        return [ODD if found(text) else USUAL for text in texts]

    def remark(self, value: Value) -> str | None:
        """Name the odd characters."""
        found = sorted(set(self.odd).intersection(str(value)))
        if not found:
            return None
        named = ", ".join(_sign(char) for char in found[:3])
        text = say.ODD_CHARACTER if len(found) == 1 else say.SOME_ODD_CHARACTERS
        return text.format(characters=named)


@dataclasses.dataclass(frozen=True, slots=True)
class Spelling(TextDerivation):
    """Whether a text looks like a misspelling of a frequent one."""

    meant: tuple[tuple[str, Intended], ...]

    def parts(self, texts: Sequence[str]) -> list[str]:
        """Look texts up."""
        meant = dict(self.meant)
        return [MISSPELT if text in meant else USUAL for text in texts]

    def remark(self, value: Value) -> str | None:
        """Say what was probably meant."""
        meant = self._meant(value)
        if meant is None:
            return None
        named = printable(text_of(meant.label), 60)
        return _slip(str(value), meant.label).format(meant=named, rows=meant.rows)

    def expected(self, values: Mapping[str, Value]) -> tuple[str, str] | None:
        """Return the label that was probably meant, twice."""
        meant = self._meant(values[self.parent])
        return None if meant is None else (meant.label, meant.label)

    def _meant(self, value: Value) -> Intended | None:
        return dict(self.meant).get(str(value))


def _slip(text: str, meant: str) -> str:
    """Say how a text differs from the one that was meant; spaces and capitals are hard to see."""
    if text.rstrip() == meant:
        return say.SPACE_AT_THE_END
    if text.lstrip() == meant:
        return say.SPACE_AT_THE_BEGINNING
    if "".join(text.split()) == "".join(meant.split()):
        return say.OTHER_SPACES
    if text.casefold() == meant.casefold():
        return say.OTHER_CAPITALS
    if folded(text) == folded(meant):
        return say.WRITTEN_DIFFERENTLY
    return say.LOOKS_MISSPELT


def text_derivations(parent: str, facts: TextFacts) -> Iterator[PartDerivation]:
    """Return the parts of a column of texts that may say something."""
    if _are_long_numbers(facts.some()):
        return
    if facts.is_whole:
        meant = misspellings(facts.counts)
        if meant and sum(facts.counts[text] for text in meant) <= MOST_MISSPELT * facts.rows:
            yield Spelling(
                parent, Part.SPELLING, tuple(sorted(meant.items(), key=operator.itemgetter(0)))
            )
        yield from repeated_texts(parent, facts.counts)
    if facts.has_many_texts:
        yield from _shapes(parent, facts.some())


def _are_long_numbers(texts: Iterable[str]) -> bool:
    """Return whether these are whole numbers, some beyond floating point: they have no shape."""
    is_long = False
    for text in texts:
        if not _WHOLE.fullmatch(text):
            return False
        is_long |= abs(int(text)) > LARGEST_EXACT_INTEGER
    return is_long


def _shapes(parent: str, counts: Mapping[str, int]) -> Iterator[TextDerivation]:
    rows = sum(counts.values())
    full, short = collections.Counter[str](), collections.Counter[str]()
    for shape, count in zip(patterns(list(counts)), counts.values(), strict=True):
        full[shape] += count
    for shape, count in full.items():
        short[collapsed(shape)] += count
    # Numbers that count on have lengths of their own, which say nothing of a row.
    are_codes = len(short) == 1 and "9" in next(iter(short))
    pattern = _pattern(parent, rows, full, short)
    if pattern is not None:
        yield pattern
    else:
        yield from _lengths(parent, counts, Part.WORDS)
    if not are_codes and (pattern is None or pattern.is_collapsed):
        yield from _lengths(parent, counts, Part.LENGTH)
    odd = odd_characters(counts)
    if odd:
        found = Characters(parent, Part.CHARACTERS, "".join(sorted(odd)))
        parts = zip(counts.values(), found.parts(list(counts)), strict=True)
        if sum(count for count, part in parts if part == ODD) <= MOST_ODD * rows:
            yield found


def _pattern(
    parent: str, rows: int, full: collections.Counter[str], short: collections.Counter[str]
) -> WrittenPattern | None:
    """Return the pattern; with the lengths of runs, if no common ones differ by these alone."""
    for found in (full, short):
        common = [text for text, count in found.items() if count >= COMMON * rows]
        alike = len({collapsed(text) for text in common})
        if sum(found[text] for text in common) < NEARLY_ALL * rows or alike < len(common):
            continue
        common.sort(key=lambda text: (-found[text], text))
        is_pattern = len(found) > 1
        return (
            WrittenPattern(parent, Part.PATTERN, tuple(common), found is short)
            if is_pattern
            else None
        )
    return None


def _lengths(parent: str, counts: Mapping[str, int], part: Part) -> Iterator[Length]:
    """Return the lengths of texts, where they differ."""
    lengths = {_length(text, part) for text in counts}
    if len(lengths) > 1:
        yield Length(parent, part, max(lengths))


def _length(text: str, part: Part) -> int:
    return len(text.split()) if part is Part.WORDS else len(text)


def _sign(char: str) -> str:
    return f"{printable(char)!r}" if char.isprintable() else f"U+{ord(char):04X}"


# --- texts among numbers -------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class WrittenAs(PartDerivation):
    """Whether a text is read like the others of its column, or else which it is."""

    reading: Reading

    def computed(self, parent: Column) -> Column:
        """Compute how each cell is written."""
        assert parent.is_numeric  # noqa: S101 - it is read as numbers
        words, codes = list[str | None](), np.full(len(parent), -1, dtype=np.int32)
        if parent.written is not None:  # new rows may be plain numbers, beside a model of texts
            texts, codes = parent.written.texts.labels, parent.written.texts.codes
            fits = ~np.isnan(self.reading.numbers([*map(str, texts)]))
            pairs = zip(texts, fits.tolist(), strict=True)
            words = [self._word(str(label), is_right) for label, is_right in pairs]
        is_read = ~np.isnan(parent.values)  # a new object may give a number, not a text
        return self._labelled([*words, self._right], np.where(is_read, len(words), codes))

    @property
    def _right(self) -> str:
        return f"a {self.reading.noun}"

    def _word(self, text: str, is_right: bool) -> str | None:
        if is_right:
            return self._right
        return None if is_gap(text) else f"'{text}'"

    def remark(self, value: Value) -> str | None:
        """Say that a text is alone, or one of few, among numbers; or that they look different."""
        if not isinstance(value, str):
            return None
        noun, right, wrong = self.reading.noun, self.reading.right, self.reading.wrong
        style, has_shape = style_of(value)
        if self.reading.is_of_kind(style):
            text = say.WRITTEN_UNLIKE
        elif has_shape:
            text = say.NO_SUCH_THING
        else:
            text = say.ONLY_TEXT if wrong == 1 else say.ONE_OF_THE_TEXTS
        return text.format(noun=noun, right=right, wrong=wrong)


def written_derivations(column: Column) -> Iterator[WrittenAs]:
    """Return how the cells of a column are written, where some are written unlike the others."""
    reading = column.written.reading if column.is_numeric and column.written is not None else None
    if isinstance(reading, Reading) and reading.wrong:
        yield WrittenAs(column.name, Part.WRITTEN, reading)


# --- keys: values that are given once ------------------------------------------------------------

#: What more values, or rows, have is no exception.
MOST_REPEATED = 0.001
MOST_ODD = 0.02
#: Numbers drawn at random would give so many equal pairs, or more, where they are in fact keys; or
#: so few that even one pair is no chance.
_MANY_PAIRS = 10.0
_NO_PAIRS = 0.02
#: The density of numbers is that of so many parts of equally many rows, or parts of so many rows.
_PARTS = 10
_LEAST_ROWS = 4
#: Codes are texts of which this share is made like codes.
_NEARLY_ALL = 0.9

_NUMBER = re.compile(r"(?=.{1,48}$)[0-9]+(?:[-./ ][0-9]+)*")
_CODE = re.compile(r"(?=.*[0-9@])\S+")

_ONCE, _REPEATED = "once", "repeated"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class KeyFacts:
    """Distinct whole numbers in order, and how many rows each has."""

    values: Floats
    counts: Counts

    @classmethod
    def of(cls, values: Floats, rows: Counts | None = None) -> KeyFacts:
        """Count whole numbers, or `rows` of each; NaN is missing."""
        known = ~np.isnan(values)
        if rows is None:
            return cls(*np.unique(values[known], return_counts=True))
        distinct, places = np.unique(values[known], return_inverse=True)
        return cls(distinct, np.bincount(places, rows[known], len(distinct)).astype(np.int64))

    def merged(self, other: KeyFacts) -> KeyFacts:
        """Return the facts of the rows of both."""
        values = np.concatenate([self.values, other.values])
        return KeyFacts.of(values, np.concatenate([self.counts, other.counts]))

    @property
    def rows(self) -> int:
        """How many rows have a number."""
        return int(self.counts.sum())

    @property
    def repeated(self) -> dict[float, int]:
        """The numbers that occur more than once, and how often."""
        places = self.counts > 1
        return dict(zip(self.values[places].tolist(), self.counts[places].tolist(), strict=True))


@dataclasses.dataclass(frozen=True, slots=True)
class Repeated(PartDerivation):
    """Whether a value occurs more than once, where nearly all occur once."""

    counts: tuple[tuple[float | str, int], ...]

    def computed(self, parent: Column) -> Column:
        """Look values up."""
        known = dict(self.counts)
        if parent.is_numeric:
            codes = np.isin(parent.values, list(known)).astype(np.int32)
            codes[np.isnan(parent.values)] = -1
        else:
            found = [str(label) in known for label in parent.labels]
            codes = np.array([*found, -1], dtype=np.int32)[parent.codes]
        return CategoricalColumn(self.name, "text", frozen(codes), (_ONCE, _REPEATED), origin=self)

    def remark(self, value: Value) -> str | None:
        """Say how often it occurs, and whether it is the only one."""
        cell = float(value) if isinstance(value, (int, float)) else str(value)
        count = dict(self.counts).get(cell)
        if count is None:
            return None
        times = say.TWICE if count == 2 else say.SO_MANY_TIMES.format(count=count)
        return (say.ONLY_ONE_TO_REPEAT if len(self.counts) == 1 else say.REPEATS).format(
            times=times
        )


def key_derivations(parent: str, facts: KeyFacts) -> Iterator[Repeated]:
    """Return whether whole numbers occur more than once, where few do and keys are given once."""
    repeated = facts.repeated
    if _are_exceptions(repeated, len(facts.values), facts.rows) and _are_keys(
        facts.values, facts.counts
    ):
        yield Repeated(parent, Part.REPEATED, tuple(repeated.items()))


def repeated_texts(parent: str, counts: Mapping[str, int]) -> Iterator[Repeated]:
    """Return whether texts occur more than once, where few do and they are made like codes."""
    repeated = {text: count for text, count in counts.items() if count > 1}
    rows = sum(counts.values())
    if _are_exceptions(repeated, len(counts), rows) and _are_key_texts(counts):
        yield Repeated(parent, Part.REPEATED, tuple(sorted(repeated.items())))


def _are_exceptions(
    repeated: Mapping[float, int] | Mapping[str, int], distinct: int, rows: int
) -> bool:
    """Return whether what occurs more than once is so little that nothing should."""
    return (
        rows >= IDENTIFIER_ROWS
        and 0 < len(repeated) <= max(1, MOST_REPEATED * distinct)
        and sum(repeated.values()) <= max(3, MOST_ODD * rows)
    )


def _are_keys(values: Floats, counts: Counts) -> bool:
    """Return whether equal numbers would be no chance: keys have fewer than amounts."""
    pairs = _pairs_by_chance(values, counts)
    return pairs >= _MANY_PAIRS or 0 < pairs <= _NO_PAIRS


def _pairs_by_chance(values: Floats, counts: Counts) -> float:
    """Return how many pairs of numbers that are drawn at random would be equal.

    Of n numbers from a range, n^2 / 2 range (the birthday problem); that of several parts, as one
    wild value stretches a range.
    """
    rows = int(counts.sum())
    if rows < 2:
        return 0.0
    parts = max(1, min(_PARTS, rows // _LEAST_ROWS))
    ranks = np.arange(parts) * rows // parts
    starts = values[np.searchsorted(np.cumsum(counts), ranks, side="right")]
    widths = np.maximum(np.diff(np.append(starts, values[-1] + 1)), 1.0)
    shares = np.diff(np.append(ranks, rows)) / rows
    return float(rows * (rows - 1) / 2 * (shares**2 / widths).sum())


def _are_key_texts(counts: Mapping[str, int]) -> bool:
    """Return whether equal texts would be no chance: those of codes, not those of free text."""
    if all(map(_NUMBER.fullmatch, counts)):
        numbers = np.array([float(re.sub("[^0-9]", "", text)) for text in counts])
        values, places = np.unique(numbers, return_inverse=True)
        rows = np.bincount(places, weights=list(counts.values())).astype(np.int64)
        return _are_keys(values, rows)
    enough = _NEARLY_ALL * len(counts)
    if sum(map(bool, map(_CODE.fullmatch, counts))) >= enough:
        return True
    shapes, times = np.unique(patterns(list(counts), are_collapsed=True), return_counts=True)
    usual = str(shapes[np.argmax(times)])
    return bool(times.max() >= enough) and "9" in usual and "a" not in usual
