"""The verify pass: exact counts and distributions of columns inside contexts.

What is asked is known beforehand, by a search among a sample of the rows: histograms of columns,
each among the rows of a context, and numbers of such rows. One pass answers all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from outlying.method.density import Counts
from outlying.sources.arrow_types import Field, Numbers
from outlying.sources.passes import Batch
from outlying.stream.contexts import (
    BITS,
    Cells,
    CodedLabels,
    Conjunction,
    Contexts,
    conjunction,
    row_numbers,
)
from outlying.stream.counting import Codes, affordable_states
from outlying.stream.histograms import (
    Answer,
    Histograms,
    LabelHistograms,
    MissingCount,
    numeric_histograms,
)
from outlying.stream.planning import ColumnPlan, Query, VerifyPlan
from outlying.table.columns import CategoricalColumn, Column, Floats, NumericColumn

_AT_ONCE = 2  # columns whose answers are made at a time
_MOST_ROWS = 262_144  # of a batch that are worked on at a time
_LEAST_ROWS = 16_384
_CELLS = 2**22  # of all columns together; each takes 16 bytes while it is worked on


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Verified:
    """The answers, in the order of the plan's queries, the counts and the ranges."""

    rows: int
    answers: tuple[Answer, ...]
    counts: tuple[int, ...]
    ranges: tuple[tuple[float, float], ...]  # infinite where no row holds a number


@dataclasses.dataclass(slots=True, eq=False)
class VerifyState:
    """What is known of some of the rows."""

    rows: int
    counts: Counts  # of rows in each context
    histograms: dict[str, Histograms]
    lows: Floats  # the least number in each of the ranges
    highs: Floats  # and the greatest


class VerifyPass:
    """One pass that answers all queries of a plan."""

    def __init__(self, plan: VerifyPlan) -> None:
        self.plan = plan
        self._contexts = Contexts(_contexts_of(plan))
        self._queries = _by_column(plan.queries)
        self._asked = self._by_context()

    def __reduce__(self) -> tuple[type[VerifyPass], tuple[VerifyPlan]]:
        return VerifyPass, (self.plan,)

    @property
    def columns(self) -> list[str]:
        """The columns that are read; derived ones by their parents."""
        return sorted({n for key in self._asked_columns for n in self.plan.columns[key].names})

    @property
    def _asked_columns(self) -> list[str]:
        """What the plan knows the columns by that are asked about."""
        ranges = (each.column for each in self.plan.ranges)
        return sorted({*self._contexts.columns, *self._queries, *ranges})

    def affordable(self, workers: int) -> int:
        """Return how many threads may work, each with a state of its own, within the budget.

        How finely numbers are counted does not depend on it, and so no answer does.
        """
        encodings = {key: self.plan.columns[key].encoding for key in self._queries}
        counts = sum(
            len(self._queries[key]) * encoding.most_codes
            for key, encoding in encodings.items()
            if encoding is not None
        )
        return min(workers, affordable_states(counts))

    def start(self) -> VerifyState:
        """Return the state of no rows."""
        histograms = {key: self._empty(key, asked) for key, asked in self._queries.items()}
        counts = np.zeros(len(self._contexts.number), dtype=np.int64)
        lows, highs = (np.full(len(self.plan.ranges), end) for end in (np.inf, -np.inf))
        return VerifyState(0, counts, histograms, lows, highs)

    def add(self, state: VerifyState, batch: Batch) -> VerifyState:
        """Take in a batch of rows."""
        rows = _rows_at_once(len(self._asked_columns))
        for start in range(0, batch.num_rows, rows):
            self._add(state, batch.slice(start, rows))
        return state

    def merge(self, state: VerifyState, other: VerifyState) -> VerifyState:
        """Put the states of two parts of the table together."""
        merged: dict[str, Any] = state.histograms
        for key, histograms in other.histograms.items():
            merged[key] = merged[key].merged(histograms)
        lows, highs = np.minimum(state.lows, other.lows), np.maximum(state.highs, other.highs)
        rows, counts = state.rows + other.rows, state.counts + other.counts
        return VerifyState(rows, counts, merged, lows, highs)

    def finish(self, state: VerifyState) -> Verified:
        """Return the answers."""
        answers: dict[Query, Answer] = {}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for queries, found in pool.map(partial(self._results, state), self._queries):
                answers.update(zip(queries, found, strict=True))
        for query in self.plan.queries:
            if query.kind == "missing":
                known = self._count(state, query.known)
                answers[query] = MissingCount(known, self._count(state, query.context) - known)
        counts = tuple(self._count(state, conjunction(each)) for each in self.plan.counts)
        ends = state.lows + 0.0, state.highs + 0.0  # the two zeros are one
        ranges = tuple(zip(*(each.tolist() for each in ends), strict=True))
        found = tuple(answers[each] for each in self.plan.queries)
        return Verified(state.rows, found, counts, ranges)

    def _results(self, state: VerifyState, key: str) -> tuple[list[Query], Sequence[Answer]]:
        """Return the answers to the queries about a column."""
        queries, exponent = self._queries[key], self.plan.columns[key].exponent
        rows = [self._count(state, query.context) for query in queries]
        return queries, state.histograms[key].results(rows, exponent)

    def _empty(self, key: str, queries: Sequence[Query]) -> Histograms:
        if queries[0].kind == "labels":
            return LabelHistograms.empty(len(queries))
        encoding = self.plan.columns[key].encoding
        if encoding is None:
            raise ValueError(f"column {key!r} is asked for, so its plan needs an encoding")
        return numeric_histograms(encoding, len(queries))

    def _count(self, state: VerifyState, context: Conjunction) -> int:
        return int(state.counts[self._contexts.number[context]]) if context else state.rows

    def _add(self, state: VerifyState, batch: Batch) -> None:
        plans = self.plan.columns
        cells = {key: cells_in(batch, plans[key]) for key in self._asked_columns}
        codes = {key: _encoded(state, key, cells[key]) for key in self._queries}
        self._widen(state, cells)
        state.rows += batch.num_rows
        for key, query in self._asked.get(None, ()):
            state.histograms[key].matrix.count(query, codes[key])
        bits = np.empty((len(state.counts), -(-batch.num_rows // BITS)), dtype=np.uint8)
        contexts = self._contexts.rows(cells, batch.num_rows)
        for number, words in enumerate(contexts):
            np.bitwise_count(words, out=bits[number])
            if number in self._asked:
                self._count_in(state, self._asked[number], codes, row_numbers(words))
        state.counts += np.add.reduce(bits, axis=1, dtype=np.int64)

    def _widen(self, state: VerifyState, cells: Mapping[str, Any]) -> None:
        """Take in the least and the greatest number of each range."""
        for place, each in enumerate(self.plan.ranges):
            values = cells[each.column]
            inside = values[(values >= each.low) & (values <= each.high)]
            state.lows[place] = inside.min(initial=state.lows[place])
            state.highs[place] = inside.max(initial=state.highs[place])

    def _count_in(
        self,
        state: VerifyState,
        asked: Iterable[tuple[str, int]],
        codes: Mapping[str, Codes],
        rows: npt.NDArray[np.int64],
    ) -> None:
        """Count the codes of some columns in the rows of a context."""
        for key, query in asked:
            state.histograms[key].matrix.count(query, codes[key], rows)

    def _by_context(self) -> dict[int | None, list[tuple[str, int]]]:
        """Return the queries in each context, by column and place among those about it."""
        asked: dict[int | None, list[tuple[str, int]]] = {}
        for key, queries in self._queries.items():
            for place, query in enumerate(queries):
                number = self._contexts.number[query.context] if query.context else None
                asked.setdefault(number, []).append((key, place))
        return asked


def _contexts_of(plan: VerifyPlan) -> Iterator[Conjunction]:
    """Return all contexts whose rows are counted."""
    yield from (query.context for query in plan.queries)
    yield from (query.known for query in plan.queries if query.kind == "missing")
    yield from (conjunction(each) for each in plan.counts)


def _by_column(queries: Iterable[Query]) -> dict[str, list[Query]]:
    """Return the queries that need a histogram, by column."""
    by_column: dict[str, list[Query]] = {}
    for query in dict.fromkeys(queries):
        if query.kind != "missing":
            by_column.setdefault(query.column, []).append(query)
    return by_column


def _encoded(state: VerifyState, key: str, cells: Any) -> Codes:
    """Encode the cells of a column; its histograms may become others."""
    state.histograms[key], codes = state.histograms[key].encode(cells)
    return codes


def _rows_at_once(columns: int) -> int:
    """Choose how many rows to work on at a time: the fewer, the more columns there are."""
    rows = _CELLS // max(1, columns)
    return max(_LEAST_ROWS, min(_MOST_ROWS, rows - rows % _LEAST_ROWS))


def cells_in(batch: Batch, plan: ColumnPlan) -> Cells:
    """Return the cells of a column in a batch, be it derived from those that were read."""
    field = plan.field
    if plan.derivation is None:
        own = field.read(batch.column(field.name))
        return own.values if isinstance(own, Numbers) else CodedLabels(own.codes, own.labels)
    read = (field, *plan.given)
    column = plan.derivation.column({own.name: _column(own, batch) for own in read})
    return column.values if column.is_numeric else CodedLabels(column.codes, column.labels)


def _column(field: Field, batch: Batch) -> Column:
    """Return a column of a batch as derived ones are computed from it."""
    array = batch.column(field.name)
    if field.written is not None:
        return field.column(array)
    cells = field.read(array)
    if isinstance(cells, Numbers):
        return NumericColumn(field.name, field.read_as, cells.values)
    labels: Any = tuple(cells.labels)
    return CategoricalColumn(field.name, field.read_as, cells.codes, labels)
