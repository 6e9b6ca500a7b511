"""The verify pass: exact counts and distributions of columns inside contexts.

What is asked is known beforehand, by a search among a sample of the rows: histograms of columns,
each among the rows of a context, and numbers of such rows. One pass answers all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from outlying.method.density import Counts
from outlying.sources.passes import Batch
from outlying.stream.histograms import (
    Answer,
    Codes,
    Histograms,
    LabelHistograms,
    MissingHistograms,
    affordable_states,
    numeric_histograms,
)
from outlying.stream.planning import Conjunction, Query, VerifyPlan, conjunction
from outlying.table.columns import Floats

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
    histograms: dict[_Key, Histograms]
    lows: Floats  # the least number in each of the ranges
    highs: Floats  # and the greatest


#: A column, and what is counted of it.
_Key: TypeAlias = tuple[str, str]


class VerifyPass:
    """One pass that answers all queries of a plan."""

    def __init__(self, plan: VerifyPlan) -> None:
        self.plan = plan
        contexts = [query.context for query in plan.queries] + [*map(conjunction, plan.counts)]
        self._number = {
            each: place for place, each in enumerate(dict.fromkeys(filter(None, contexts)))
        }
        self._predicates = dict.fromkeys(own for each in self._number for own in each)
        self._queries: dict[_Key, list[Query]] = {}  # those of each histogram
        self._asked: dict[
            Conjunction, list[tuple[_Key, int]]
        ] = {}  # what is counted in each context
        for query in dict.fromkeys(plan.queries):
            own = self._queries.setdefault((query.column, query.kind), [])
            self._asked.setdefault(query.context, []).append(((query.column, query.kind), len(own)))
            own.append(query)

    def __reduce__(self) -> tuple[type[VerifyPass], tuple[VerifyPlan]]:
        return VerifyPass, (self.plan,)

    @property
    def columns(self) -> list[str]:
        """The columns that are read; derived ones by their parents."""
        readers = (self.plan.columns[name].reader for name in self._asked_columns)
        return sorted({name for reader in readers for name in reader.names})

    @property
    def _asked_columns(self) -> list[str]:
        """What the plan knows the columns by that are asked about."""
        tested = {own.column for own in [*self._predicates, *self.plan.ranges]}
        return sorted(tested | {query.column for query in self.plan.queries})

    def affordable(self, workers: int) -> int:
        """Return how many threads may work, each with a state of its own, within the budget.

        How finely numbers are counted does not depend on it, and so no answer does.
        """
        numbers = [query.column for query in self.plan.queries if query.kind == "numbers"]
        encodings = (self.plan.columns[name].encoding for name in numbers)
        counts = sum(encoding.most_codes for encoding in encodings if encoding is not None)
        return min(workers, affordable_states(counts))

    def start(self) -> VerifyState:
        """Return the state of no rows."""
        histograms = {key: self._empty(key, asked) for key, asked in self._queries.items()}
        counts = np.zeros(len(self._number), dtype=np.int64)
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
        merged: dict[_Key, Any] = state.histograms
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
        counts = tuple(self._count(state, conjunction(each)) for each in self.plan.counts)
        ends = state.lows + 0.0, state.highs + 0.0  # the two zeros are one
        ranges = tuple(zip(*(each.tolist() for each in ends), strict=True))
        found = tuple(answers[each] for each in self.plan.queries)
        return Verified(state.rows, found, counts, ranges)

    def _results(self, state: VerifyState, key: _Key) -> tuple[list[Query], Sequence[Answer]]:
        """Return the answers to the queries about a column."""
        queries, exponent = self._queries[key], self.plan.columns[key[0]].exponent
        rows = [self._count(state, query.context) for query in queries]
        return queries, state.histograms[key].results(rows, exponent)

    def _empty(self, key: _Key, queries: Sequence[Query]) -> Histograms:
        name, kind = key
        if kind == "missing":
            return MissingHistograms(len(queries))
        if kind == "labels":
            return LabelHistograms.empty(len(queries))
        encoding = self.plan.columns[name].encoding
        if encoding is None:
            raise ValueError(f"column {name!r} is asked for, so its plan needs an encoding")
        return numeric_histograms(encoding, len(queries))

    def _count(self, state: VerifyState, context: Conjunction) -> int:
        return int(state.counts[self._number[context]]) if context else state.rows

    def _add(self, state: VerifyState, batch: Batch) -> None:
        readers = {name: self.plan.columns[name].reader for name in self._asked_columns}
        cells: dict[str, Any] = {name: reader.cells(batch) for name, reader in readers.items()}
        self._widen(state, cells)
        state.rows += batch.num_rows
        masks = {own: own.test(cells[own.column]) for own in self._predicates}
        codes = {key: self._encoded(state, key, cells[key[0]]) for key in self._queries}
        for key, place in self._asked.get((), ()):
            state.histograms[key].matrix.count(place, codes[key])
        for context, number in self._number.items():
            rows = np.flatnonzero(np.logical_and.reduce([masks[own] for own in context]))
            state.counts[number] += len(rows)
            for key, place in self._asked.get(context, ()):
                state.histograms[key].matrix.count(place, codes[key][rows])

    @staticmethod
    def _encoded(state: VerifyState, key: _Key, cells: Any) -> Codes:
        """Encode the cells of a column; its histograms may become others."""
        state.histograms[key], codes = state.histograms[key].encode(cells)
        return codes

    def _widen(self, state: VerifyState, cells: Mapping[str, Any]) -> None:
        """Take in the least and the greatest number of each range."""
        for place, each in enumerate(self.plan.ranges):
            values = cells[each.column]
            inside = values[(values >= each.low) & (values <= each.high)]
            state.lows[place] = inside.min(initial=state.lows[place])
            state.highs[place] = inside.max(initial=state.highs[place])


def _rows_at_once(columns: int) -> int:
    """Choose how many rows to work on at a time: the fewer, the more columns there are."""
    rows = _CELLS // max(1, columns)
    return max(_LEAST_ROWS, min(_MOST_ROWS, rows - rows % _LEAST_ROWS))
