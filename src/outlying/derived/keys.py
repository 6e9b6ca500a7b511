"""Keys: what occurs twice among them is an exception.

Values that occur twice do so by chance where they are amounts and remarks, but not where they are
keys, which are given once: whole numbers, or texts that are made like codes.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping

import numpy as np

from outlying import sentences as say
from outlying.derived.derivation import PartDerivation
from outlying.derived.spelling import patterns
from outlying.table.columns import CategoricalColumn, Column, frozen
from outlying.table.selection import IDENTIFIER_ROWS
from outlying.table.table import Part
from outlying.table.values import Counts, Floats, Value

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
        counts = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(counts, places, rows[known])
        return cls(distinct, counts)

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
    """Return whether equal numbers would be no chance, of distinct numbers in order.

    Amounts and counts have about as many equal pairs as chance gives; keys have fewer, as they are
    given once.
    """
    pairs = _pairs_by_chance(values, counts)
    return pairs >= _MANY_PAIRS or 0 < pairs <= _NO_PAIRS


def _pairs_by_chance(values: Floats, counts: Counts) -> float:
    """Return how many pairs of numbers that are drawn at random would be equal.

    Of n numbers from a range, n^2 / 2 range (the birthday problem). One wild value stretches a
    range, and few numbers are spread evenly; so it is that of each of several parts.
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
