"""Contexts: the rows that satisfy all rules of a set, for many sets of rules at once."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from outlying.search.screen.bitsets import BITS, Words
from outlying.stream.counting.scratch import Memory
from outlying.stream.verify.rules import Cells, Rule, Rulebook, Rules, rule_set


@dataclasses.dataclass(frozen=True, slots=True)
class _Step:
    """One more rule: how many came before it, and what is reached."""

    depth: int
    rule: int
    is_end: bool  # a context is complete


class Contexts:
    """Sets of rules, in an order in which neighbours share beginnings; the empty set is none."""

    def __init__(self, sets: Iterable[Rules]) -> None:
        wanted = {rules for rules in sets if rules}
        uses = Counter(rule for rules in wanted for rule in rules)
        self._rules = sorted(uses, key=lambda rule: rule.order)
        self._books = {name: Rulebook(rules) for name, rules in _by_column(self._rules).items()}
        paths = _paths(wanted, uses)
        self._steps = tuple(self._walk(paths))
        self._depth = max(map(len, paths), default=0)
        self.number = {rule_set(path): number for number, path in enumerate(paths)}

    @property
    def columns(self) -> list[str]:
        """The columns that rules are about."""
        return list(self._books)

    def rows(self, cells: Mapping[str, Cells], rows: int, memory: Memory) -> Iterator[Words]:
        """Give for each context, by its number, the rows as bits, which hold until the next."""
        words = self._tested(cells, rows, memory)
        reached = memory.array("reached", (self._depth, words.shape[1]), np.uint64)
        for step in self._steps:
            own = words[step.rule]
            if step.depth == 0:
                reached[0] = own
            else:
                np.bitwise_and(reached[step.depth - 1], own, out=reached[step.depth])
            if step.is_end:
                yield reached[step.depth]

    def _tested(self, cells: Mapping[str, Cells], rows: int, memory: Memory) -> Words:
        """Test all rules: a line of bits for each, as many as fill whole words."""
        words: Words = memory.array("words", (len(self._rules), -(-rows // BITS)), np.uint64)
        words[:] = 0
        first = 0
        for name, book in self._books.items():
            book.run(cells[name], words[first : first + len(book)], memory)
            first += len(book)
        return words

    def _walk(self, paths: Iterable[Rules]) -> Iterator[_Step]:
        """Go along all paths; what one shares with the one before is not gone again."""
        place = {rule: place for place, rule in enumerate(self._rules)}
        before: Rules = ()
        for path in paths:
            for depth in range(_shared(before, path), len(path)):
                yield _Step(depth, place[path[depth]], is_end=depth == len(path) - 1)
            before = path


def _paths(sets: Iterable[Rules], uses: Mapping[Rule, int]) -> list[Rules]:
    """Order the rules of each set, the most used first, and then the sets."""
    ranked = sorted(uses, key=lambda rule: (-uses[rule], rule.order))
    rank = {rule: place for place, rule in enumerate(ranked)}
    numbers = sorted(sorted(rank[rule] for rule in rules) for rules in sets)
    return [tuple(ranked[number] for number in path) for path in numbers]


def _shared(path: Rules, other: Rules) -> int:
    """Count the elements at the beginning that are the same."""
    pairs = enumerate(zip(path, other, strict=False))
    return next((place for place, (one, two) in pairs if one != two), min(len(path), len(other)))


def _by_column(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        groups.setdefault(rule.column, []).append(rule)
    return groups


def row_numbers(words: Words) -> npt.NDArray[np.int64]:
    """Return the rows whose bits are set."""
    marks = np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)
    return np.flatnonzero(marks)
