"""Rules that rows satisfy, and the contexts that sets of rules make: 64 rows at a time.

Every rule is tested once for a batch of rows. What it says is kept as bits, so that a context, the
rows that satisfy all of its rules, costs little, and less where it shares rules with others.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.bits import BITS, Words
from outlying.table import Codes, Floats, Mask

_BLOCK = 32_768  # rows tested at a time, so that their values stay in cache
_TOGETHER = 64  # contexts counted at a time


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


def tested(cells: Cells, rules: Sequence[Rule]) -> Words:
    """Test rules of one column: a line of bits for each, as many as fill whole words."""
    words = np.zeros((len(rules), -(-len(cells) // BITS)), dtype=np.uint64)
    packed = words.view(np.uint8)
    for start in range(0, len(cells), _BLOCK):
        for line, rule in zip(packed, rules, strict=True):
            bits = np.packbits(_marks(cells, rule, slice(start, start + _BLOCK)), bitorder="little")
            line[start // 8 : start // 8 + len(bits)] = bits
    return words


def _marks(cells: Cells, rule: Rule, rows: slice) -> Mask:
    if isinstance(cells, Labelled):
        return _label_marks(cells.codes[rows], cells.labels, rule)
    return _number_marks(cells[rows], rule)


def _number_marks(numbers: Floats, rule: Rule) -> Mask:
    if rule.kind == "missing":
        return np.isnan(numbers)
    marks = np.asarray(numbers <= rule.high)  # never true of NaN
    if rule.low > -math.inf:
        marks &= numbers >= rule.low
    return marks


def _label_marks(codes: Codes, labels: Sequence[str | bool], rule: Rule) -> Mask:
    if rule.kind == "known":
        return np.asarray(codes >= 0)
    if rule.kind == "missing":
        return np.asarray(codes < 0)
    places = [code for code, label in enumerate(labels) if label == rule.label]
    return np.asarray(codes == places[0]) if places else np.zeros(len(codes), dtype=np.bool_)


@dataclasses.dataclass(frozen=True, slots=True)
class _Step:
    """One more rule: where the rows of the rules before are, and what is reached."""

    depth: int
    rule: int
    context: int | None  # the number of the context, if rules end here


class Contexts:
    """Sets of rules, in an order in which neighbours share beginnings; the empty set is none."""

    def __init__(self, sets: Iterable[Rules]) -> None:
        self.sets = tuple(dict.fromkeys(rules for rules in sets if rules))
        uses = Counter(rule for rules in self.sets for rule in rules)
        self.rules = sorted(uses, key=lambda rule: (rule.column, rule.order))
        self.number = {rules: number for number, rules in enumerate(self.sets)}
        self._steps = tuple(self._walk(uses))
        self._depth = max((step.depth for step in self._steps), default=0)

    def _walk(self, uses: Counter[Rule]) -> Iterator[_Step]:
        """Go through all sets, the most used rules first; what two in a row share is kept."""
        ranked = sorted(self.rules, key=lambda rule: (-uses[rule], rule.order))
        rank = {rule: place for place, rule in enumerate(ranked)}
        place = {rule: place for place, rule in enumerate(self.rules)}
        paths = sorted((sorted(rank[rule] for rule in rules), rules) for rules in self.sets)
        before: list[int] = []
        for path, rules in paths:
            shared = _shared(before, path)
            for depth in range(shared, len(path)):
                is_end = depth == len(path) - 1
                context = self.number[rules] if is_end else None
                yield _Step(depth, place[ranked[path[depth]]], context)
            before = path

    def rows(self, words: Words) -> Iterator[tuple[npt.NDArray[np.int64], Words]]:
        """Give the rows of all contexts, some contexts at a time, by the bits of all rules.

        What is given holds until the next is asked for.
        """
        reached = np.empty((self._depth + 1, words.shape[1]), dtype=np.uint64)
        found = np.empty((_TOGETHER, words.shape[1]), dtype=np.uint64)
        numbers: list[int] = []
        for step in self._steps:
            own = words[step.rule]
            if step.depth == 0:
                reached[0] = own
            else:
                np.bitwise_and(reached[step.depth - 1], own, out=reached[step.depth])
            if step.context is None:
                continue
            found[len(numbers)] = reached[step.depth]
            numbers.append(step.context)
            if len(numbers) == _TOGETHER:
                yield np.array(numbers), found
                numbers = []
        if numbers:
            yield np.array(numbers), found[: len(numbers)]


def _shared(path: Sequence[int], other: Sequence[int]) -> int:
    """Count the elements at the beginning that are the same."""
    pairs = enumerate(zip(path, other, strict=False))
    return next((place for place, (one, two) in pairs if one != two), min(len(path), len(other)))


def row_numbers(words: Words) -> npt.NDArray[np.int64]:
    """Give the rows whose bits are set."""
    marks = np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)
    return np.flatnonzero(marks)
