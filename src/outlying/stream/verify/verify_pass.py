"""The verify pass: exact counts and distributions of columns inside contexts.

What is asked is known beforehand, by a search among a sample of the rows: looks at columns, each
among the rows that satisfy some rules, and numbers of such rows. One pass answers all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.method.density import Counts
from outlying.search.screen.bitsets import BITS, rows_in
from outlying.sources.passes import Batch
from outlying.sources.types.arrow import Field, Numbers
from outlying.stream.counting.grids import Codes, Coding
from outlying.stream.counting.scratch import Memory
from outlying.stream.verify.contexts import Contexts, row_numbers
from outlying.stream.verify.rules import Cells, Labelled, Rule, Rules, rule_set
from outlying.stream.verify.tallies import LabelTally, Seen, SeenLabels, Tally, numeric_tally

_AT_ONCE = 2  # columns whose answers are made at a time
_MOST_ROWS = 262_144  # of a batch that are worked on at a time
_LEAST_ROWS = 16_384
_BUDGET = 256 * 2**20  # bytes of all states together
_COUNT_BYTES = 8
_CELLS = 2**22  # of all columns together; each takes 16 bytes while it is worked on


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """A question: how a column is distributed among the rows that satisfy all rules.

    Asked for "gaps", it is only how many rows have a value and how many have none.
    """

    column: str
    asks: Literal["numbers", "labels", "gaps"]
    rules: Rules = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", rule_set(self.rules))

    @property
    def known(self) -> Rules:
        """The rules of the rows that also have a value in the column."""
        return rule_set((*self.rules, Rule(self.column, "known")))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColumnPlan:
    """How a column is read, and how its numbers are coded where a look asks for them."""

    field: Field
    coding: Coding | None = None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class VerifyPlan:
    """All that is asked of a table; `counts` are rules of which to count the rows."""

    columns: Mapping[str, ColumnPlan]
    looks: tuple[Look, ...] = ()
    counts: tuple[Rules, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class SeenGaps:
    """How many rows of a context have a value in a column, and how many have none."""

    known: int
    missing: int


Answer: TypeAlias = Seen | SeenLabels | SeenGaps


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Verified:
    """The answers, in the order of the plan's questions."""

    rows: int
    looks: tuple[Answer, ...]
    counts: tuple[int, ...]


@dataclasses.dataclass(slots=True, eq=False)
class VerifyState:
    """What is known of some of the rows."""

    rows: int
    counts: Counts  # of rows in each context
    tallies: dict[str, Tally]
    memory: Memory = dataclasses.field(default_factory=Memory)

    def __reduce__(self) -> tuple[type[VerifyState], tuple[Any, ...]]:
        return VerifyState, (self.rows, self.counts, self.tallies)


class VerifyPass:
    """One pass that answers all questions of a plan."""

    def __init__(self, plan: VerifyPlan) -> None:
        self.plan = plan
        self._contexts = Contexts(_sets(plan))
        self._lines = _lines_of(plan.looks)
        self._asked = self._by_context()

    def __reduce__(self) -> tuple[type[VerifyPass], tuple[VerifyPlan]]:
        return VerifyPass, (self.plan,)

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return sorted({*self._contexts.columns, *self._lines})

    def affordable(self, workers: int) -> int:
        """Return how many threads may work, each with a state of its own, within the budget.

        How finely numbers are counted does not depend on it, and so no answer does.
        """
        codings = {name: self.plan.columns[name].coding for name in self._lines}
        codes = sum(
            len(self._lines[name]) * coding.most_codes
            for name, coding in codings.items()
            if coding is not None
        )
        return max(1, min(workers, _BUDGET // max(1, codes * _COUNT_BYTES)))

    def start(self) -> VerifyState:
        """Return the state of no rows."""
        tallies = {name: self._empty(name, looks) for name, looks in self._lines.items()}
        return VerifyState(0, np.zeros(len(self._contexts.number), dtype=np.int64), tallies)

    def add(self, state: VerifyState, batch: Batch) -> VerifyState:
        """Take in a batch of rows."""
        rows = _rows_at_once(len(self.columns))
        for start in range(0, batch.num_rows, rows):
            self._add(state, batch.slice(start, rows))
        return state

    def merge(self, state: VerifyState, other: VerifyState) -> VerifyState:
        """Put the states of two parts of the table together."""
        tallies: dict[str, Any] = state.tallies
        for name, tally in other.tallies.items():
            tallies[name] = tallies[name].merged(tally)
        return VerifyState(state.rows + other.rows, state.counts + other.counts, tallies)

    def finish(self, state: VerifyState) -> Verified:
        """Return the answers."""
        seen: dict[Look, Answer] = {}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for looks, found in pool.map(partial(self._seen, state), self._lines):
                seen.update(zip(looks, found, strict=True))
        for look in self.plan.looks:
            if look.asks == "gaps":
                known = self._count(state, look.known)
                seen[look] = SeenGaps(known, self._count(state, look.rules) - known)
        answers = tuple(seen[look] for look in self.plan.looks)
        counts = tuple(self._count(state, rule_set(rules)) for rules in self.plan.counts)
        return Verified(state.rows, answers, counts)

    def _seen(self, state: VerifyState, name: str) -> tuple[list[Look], Sequence[Answer]]:
        """Return what the looks at a column have seen."""
        looks = self._lines[name]
        rows = [self._count(state, look.rules) for look in looks]
        return looks, state.tallies[name].seen(rows)

    def _empty(self, name: str, looks: Sequence[Look]) -> Tally:
        if looks[0].asks == "labels":
            return LabelTally.empty(len(looks))
        coding = self.plan.columns[name].coding
        if coding is None:
            raise ValueError(f"column {name!r} is looked at, so its plan needs a coding")
        return numeric_tally(coding, len(looks))

    def _count(self, state: VerifyState, rules: Rules) -> int:
        return int(state.counts[self._contexts.number[rules]]) if rules else state.rows

    def _add(self, state: VerifyState, batch: Batch) -> None:
        columns, memory = self.plan.columns, state.memory
        cells = {name: _cells(batch.column(name), columns[name]) for name in self.columns}
        codes = {name: _coded(state, name, cells[name]) for name in self._lines}
        state.rows += batch.num_rows
        for name, line in self._asked.get(None, ()):
            state.tallies[name].lines.count(line, codes[name])
        bits = memory.array("bits", (len(state.counts), -(-batch.num_rows // BITS)), np.uint8)
        contexts = self._contexts.rows(cells, batch.num_rows, memory)
        for number, words in enumerate(contexts):
            np.bitwise_count(words, out=bits[number])
            if number in self._asked:
                self._look(state, self._asked[number], codes, row_numbers(words))
        state.counts += rows_in(bits)

    def _look(
        self,
        state: VerifyState,
        asked: Iterable[tuple[str, int]],
        codes: Mapping[str, Codes],
        rows: npt.NDArray[np.int64],
    ) -> None:
        """Count what the looks at a context want to know of its rows."""
        inside = state.memory.array("inside", rows.shape, np.int64)
        for name, line in asked:
            codes[name].take(rows, out=inside, mode="clip")
            state.tallies[name].lines.count(line, inside)

    def _by_context(self) -> dict[int | None, list[tuple[str, int]]]:
        """Give for each context the columns that are looked at in it, and their lines."""
        asked: dict[int | None, list[tuple[str, int]]] = {}
        for name, looks in self._lines.items():
            for line, look in enumerate(looks):
                number = self._contexts.number[look.rules] if look.rules else None
                asked.setdefault(number, []).append((name, line))
        return asked


def _sets(plan: VerifyPlan) -> Iterator[Rules]:
    """Return the rules of all rows that are counted."""
    yield from (look.rules for look in plan.looks)
    yield from (look.known for look in plan.looks if look.asks == "gaps")
    yield from (rule_set(rules) for rules in plan.counts)


def _lines_of(looks: Iterable[Look]) -> dict[str, list[Look]]:
    """Return the looks at each column, whose places are the lines of its tally."""
    lines: dict[str, list[Look]] = {}
    for look in dict.fromkeys(looks):
        if look.asks != "gaps":
            lines.setdefault(look.column, []).append(look)
    return lines


def _coded(state: VerifyState, name: str, cells: Any) -> Codes:
    """Code the cells of a column; its tally may become another one."""
    codes = state.memory.array(f"codes of {name}", (len(cells),), np.int64)
    state.tallies[name] = state.tallies[name].code(cells, codes)
    return codes


def _rows_at_once(columns: int) -> int:
    """Choose how many rows to work on at a time: the fewer, the more columns there are."""
    rows = _CELLS // max(1, columns)
    return max(_LEAST_ROWS, min(_MOST_ROWS, rows - rows % _LEAST_ROWS))


def _cells(array: Any, plan: ColumnPlan) -> Cells:
    cells = plan.field.read(array)
    if isinstance(cells, Numbers):
        return cells.values
    return Labelled(cells.codes, cells.labels)
