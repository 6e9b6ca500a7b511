"""The verify pass: exact counts and distributions of columns inside contexts.

What is asked is known beforehand, by a search among a sample of the rows: histograms of columns,
each among the rows of a context, and numbers of such rows. One pass answers all.
"""

from __future__ import annotations

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from outlying.method.density import Counts
from outlying.sources.passes import Batch
from outlying.stream.cells import ColumnReader, columns_in
from outlying.stream.histograms import (
    Codes,
    Dictionary,
    Group,
    Histograms,
    NumericGroup,
    affordable_states,
    histograms_of,
)
from outlying.stream.planning import Conjunction, Predicate, Query, VerifyPlan
from outlying.table.columns import CategoricalColumn, Column
from outlying.table.values import Form

_AT_ONCE = 2  # columns whose answers are made at a time
_MOST_ROWS = 262_144  # of a batch that are worked on at a time
_LEAST_ROWS = 16_384
_CELLS = 2**22  # of all columns together; each takes 16 bytes while it is worked on


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What all rows say to what was asked of them."""

    rows: int
    groups: dict[Query, Group]
    counts: dict[Predicate, int]
    ends: dict[Predicate, tuple[float, float]]  # infinite where no row holds a number

    def group(self, query: Query, form: Form) -> Group:
        """Return the rows that were asked about, of a column that may be read as another form."""
        found = self.groups[query]
        if isinstance(found, NumericGroup) and found.form != form:
            return dataclasses.replace(found, form=form)
        return found


@dataclasses.dataclass(slots=True, eq=False)
class VerifyState:
    """What is known of some of the rows."""

    rows: int
    counts: Counts  # of rows in each context
    histograms: dict[_Key, Histograms]
    ends: dict[Predicate, tuple[float, float]]  # the least and the greatest number in intervals


#: A column, and whether it is only counted how many rows have no value there.
_Key: TypeAlias = tuple[str, bool]
_NO_ENDS = math.inf, -math.inf


class VerifyPass:
    """One pass that answers all queries of a plan."""

    def __init__(self, plan: VerifyPlan) -> None:
        self.plan = plan
        contexts = [query.context for query in plan.queries] + [(own,) for own in plan.conditions]
        self._number = {
            each: place for place, each in enumerate(dict.fromkeys(filter(None, contexts)))
        }
        self._predicates = dict.fromkeys(own for each in self._number for own in each)
        self._queries: dict[_Key, list[Query]] = {}  # those of each histogram
        self._asked: dict[Conjunction, list[tuple[_Key, int]]] = {}  # what to count in a context
        for query in dict.fromkeys(plan.queries):
            key = query.column, query.kind == "missing"
            own = self._queries.setdefault(key, [])
            self._asked.setdefault(query.context, []).append((key, len(own)))
            own.append(query)

    def __reduce__(self) -> tuple[type[VerifyPass], tuple[VerifyPlan]]:
        return VerifyPass, (self.plan,)

    @property
    def columns(self) -> list[str]:
        """The columns that are read; derived ones by their parents."""
        return sorted({name for reader in self._readers for name in reader.names})

    @property
    def _readers(self) -> list[ColumnReader]:
        """How the columns are read that are asked about."""
        tested = {own.column for own in self._predicates}
        asked = tested | {query.column for query in self.plan.queries}
        return [self.plan.columns[name].reader for name in sorted(asked)]

    def affordable(self, workers: int) -> int:
        """Return how many threads may work, each with a state of its own, within the budget.

        How finely numbers are counted does not depend on it, and so no answer does.
        """
        numbers = [query.column for query in self.plan.queries if query.kind == "numbers"]
        encodings = (self.plan.columns[name].encoding for name in numbers)
        counts = sum(encoding.most_codes for encoding in encodings)
        return min(workers, affordable_states(counts))

    def start(self) -> VerifyState:
        """Return the state of no rows."""
        histograms = {}
        for (name, is_missing), queries in self._queries.items():
            encoding = Dictionary() if is_missing else self.plan.columns[name].encoding
            histograms[name, is_missing] = histograms_of(encoding, len(queries))
        ends = {own: _NO_ENDS for own in self.plan.conditions if own.kind == "interval"}
        return VerifyState(0, np.zeros(len(self._number), dtype=np.int64), histograms, ends)

    def add(self, state: VerifyState, batch: Batch) -> VerifyState:
        """Take in a batch of rows."""
        rows = _rows_at_once(len(self._readers))
        for start in range(0, batch.num_rows, rows):
            self._add(state, batch.slice(start, rows))
        return state

    def merge(self, state: VerifyState, other: VerifyState) -> VerifyState:
        """Put the states of two parts of the table together."""
        merged: dict[_Key, Any] = state.histograms
        for key, histograms in other.histograms.items():
            merged[key] = merged[key].merged(histograms)
        ends = {own: _wider(state.ends[own], other.ends[own]) for own in state.ends}
        rows, counts = state.rows + other.rows, state.counts + other.counts
        return VerifyState(rows, counts, merged, ends)

    def finish(self, state: VerifyState) -> Answers:
        """Return the answers."""
        groups: dict[Query, Group] = {}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for queries, found in pool.map(partial(self._groups, state), self._queries):
                groups.update(zip(queries, found, strict=True))
        counts = {own: self._count(state, (own,)) for own in self.plan.conditions}
        return Answers(state.rows, groups, counts, state.ends)

    def _groups(self, state: VerifyState, key: _Key) -> tuple[list[Query], list[Group]]:
        """Return the answers to the queries about a column."""
        queries, plan = self._queries[key], self.plan.columns[key[0]]
        rows = [self._count(state, query.context) for query in queries]
        return queries, state.histograms[key].groups(rows, plan.form, plan.exponent)

    def _count(self, state: VerifyState, context: Conjunction) -> int:
        return int(state.counts[self._number[context]]) if context else state.rows

    def _add(self, state: VerifyState, batch: Batch) -> None:
        readers = self._readers
        keys = (reader.key for reader in readers)
        cells = dict(zip(keys, columns_in(batch, readers), strict=True))
        state.rows += batch.num_rows
        masks = {own: own.test(cells[own.column]) for own in self._predicates}
        for own, ends in state.ends.items():
            values = cells[own.column].values[masks[own]]  # type: ignore[union-attr]
            if len(values):
                found = float(values.min()) + 0.0, float(values.max()) + 0.0  # there is one zero
                state.ends[own] = _wider(ends, found)
        codes = {key: self._encoded(state, key, cells[key[0]]) for key in self._queries}
        for key, place in self._asked.get((), ()):
            state.histograms[key].matrix.count(place, codes[key])
        for context, number in self._number.items():
            rows = np.flatnonzero(np.logical_and.reduce([masks[own] for own in context]))
            state.counts[number] += len(rows)
            for key, place in self._asked.get(context, ()):
                state.histograms[key].matrix.count(place, codes[key][rows])

    @staticmethod
    def _encoded(state: VerifyState, key: _Key, cells: Column) -> Codes:
        """Encode the cells of a column; its histograms may become others."""
        if key[1]:
            codes = cells.missing().astype(np.int32)
            cells = CategoricalColumn(cells.name, "text", codes, ("known", "missing"))
        state.histograms[key], found = state.histograms[key].encode(cells)
        return found


def _wider(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return min(one[0], other[0]), max(one[1], other[1])


def _rows_at_once(columns: int) -> int:
    """Choose how many rows to work on at a time: the fewer, the more columns there are."""
    rows = _CELLS // max(1, columns)
    return max(_LEAST_ROWS, min(_MOST_ROWS, rows - rows % _LEAST_ROWS))
