"""Rules that rows satisfy, tested for a batch of rows at a time.

What a rule says of the rows is kept as bits, 64 rows to a word.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.search.screen.bitsets import Words
from outlying.stream.counting.ranks import Interval, Ranks
from outlying.stream.counting.scratch import Memory
from outlying.table.columns import Codes, Floats, Mask

_BLOCK = 32_768  # rows tested at a time, so that their values stay in cache
_MANY = 10  # intervals of one column that are tested sooner by ranks


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """A test of one column.

    Intervals are closed, in the unit of the column; a missing value is in none. `label` is for
    "equals".
    """

    column: str
    kind: Literal["interval", "equals", "missing", "known"]
    low: float = -math.inf
    high: float = math.inf
    label: str | bool | None = None

    @property
    def order(self) -> tuple[str, str, float, float, str]:
        """Something to sort rules by."""
        return self.column, self.kind, self.low, self.high, repr(self.label)

    @property
    def interval(self) -> Interval:
        """The numbers that satisfy the rule; None: missing values do."""
        return None if self.kind == "missing" else (self.low, self.high)


Rules: TypeAlias = tuple[Rule, ...]  # without doubles, sorted


def rule_set(rules: Iterable[Rule]) -> Rules:
    """Give rules once each, in an order of their own."""
    return tuple(sorted(set(rules), key=lambda rule: rule.order))


@dataclasses.dataclass(frozen=True, slots=True)
class Labelled:
    """The cells of a column of categories in some rows: codes into labels, -1 where missing."""

    codes: Codes
    labels: Sequence[str | bool]

    def __len__(self) -> int:
        return len(self.codes)


Cells: TypeAlias = Floats | Labelled


class Rulebook:
    """Rules of one column, ready to be tested."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        numeric = [rule.interval for rule in rules if rule.kind != "equals"]
        self._ranks = Ranks(numeric) if len(numeric) >= _MANY else None

    def __len__(self) -> int:
        return len(self._rules)

    def run(self, cells: Cells, words: Words, memory: Memory | None = None) -> None:
        """Test the rules; a line of words, empty at first, takes the bits of each."""
        lines = words.view(np.uint8)
        if isinstance(cells, Labelled):
            _note((_label_marks(cells, rule) for rule in self._rules), lines)
        elif self._ranks is not None:
            self._ranks.run(cells, words, memory or Memory())
        else:
            for start in range(0, len(cells), _BLOCK):
                block = cells[start : start + _BLOCK]
                marks = (_number_marks(block, rule.interval) for rule in self._rules)
                _note(marks, lines[:, start // 8 :])


def _note(marks: Iterable[Mask], lines: npt.NDArray[np.uint8]) -> None:
    for line, each in zip(lines, marks, strict=True):
        bits = np.packbits(each, bitorder="little")
        line[: len(bits)] = bits


def _number_marks(numbers: Floats, interval: Interval) -> Mask:
    if interval is None:
        return np.isnan(numbers)
    low, high = interval
    marks = np.asarray(numbers <= high)  # never true of NaN
    if low > -math.inf:
        np.bitwise_and(marks, numbers >= low, out=marks)
    return marks


def _label_marks(cells: Labelled, rule: Rule) -> Mask:
    if rule.kind == "known":
        return np.asarray(cells.codes >= 0)
    if rule.kind == "missing":
        return np.asarray(cells.codes < 0)
    known = [code for code, label in enumerate(cells.labels) if label == rule.label]
    return np.asarray(cells.codes == (known[0] if known else len(cells.labels)))
