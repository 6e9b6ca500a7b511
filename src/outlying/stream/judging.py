"""Rows of batches as a model judges them, and the score pass: all of them judged, the first kept.

The rows that were drawn tell how strong the first are at least: others are not looked at more
closely. Rows that are equally strong are told apart by their hashes, not by their order.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from outlying.parsing import pa
from outlying.search.bounds import StrengthBounds
from outlying.search.cells import Attribute, Numbers, NumericAttribute
from outlying.search.evidence import Evidence, Standing
from outlying.search.model import BATCH, Model
from outlying.sources.columns import Field
from outlying.sources.passes import Batch
from outlying.stream.counting import hashes_of_rows, joined_rows, taken
from outlying.stream.profile import OTHER_LABEL, Profile, copied, takeable, values_of
from outlying.table.columns import (
    CategoricalColumn,
    Column,
    Derivation,
    Floats,
    NumericColumn,
    Rows,
)
from outlying.table.row_hash import Hashes
from outlying.table.targets import Key
from outlying.table.values import Value

#: Scores count in an order up to so many decimals.
_DECIMALS = 9
#: So many rows are looked up at once.
_SLICE = 4 * BATCH
_MOST = 1e100  # a value, however far off: products of it stay finite


# --- columns of batches --------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColumnReader:
    """How a column is read, be it one that is derived from columns of the table."""

    field: Field
    derivation: Derivation | None = None  # of a derived column, whose parent the field reads
    given: tuple[Field, ...] = ()  # the other columns that it needs

    @classmethod
    def of(cls, column: Column, fields: Mapping[str, Field]) -> ColumnReader:
        """Return how a column of a model is read, given how those of the table are."""
        derivation = column.origin
        if derivation is None:
            return cls(fields[column.name])
        given = tuple(fields[name] for name in derivation.given)
        return cls(fields[derivation.parent], derivation, given)

    @property
    def key(self) -> str:
        """What questions know the column by."""
        return self.field.name if self.derivation is None else self.derivation.key


def columns_in(batch: Batch, readers: Iterable[ColumnReader]) -> list[Column]:
    """Return columns of a batch, each read once; the labels of categories are not sorted."""
    known: dict[tuple[str, bool], Column] = {}

    def column(field: Field, *, has_texts: bool) -> Column:
        key = field.name, has_texts and field.written is not None
        if key not in known:
            array = batch.column(field.name)
            known[key] = field.column(array) if key[1] else _plain(field, array)
        return known[key]

    found = []
    for reader in readers:
        if reader.derivation is None:
            found.append(column(reader.field, has_texts=False))
        else:
            read = [column(field, has_texts=True) for field in (reader.field, *reader.given)]
            found.append(reader.derivation.column({own.name: own for own in read}))
    return found


def _plain(field: Field, array: Any) -> Column:
    if field.is_numeric:
        return NumericColumn(field.name, field.read_as, field.numbers(array).values)
    cells = field.coded(array)
    labels: Any = tuple(cells.labels)
    return CategoricalColumn(field.name, field.read_as, cells.codes, labels)


def numbering(attributes: Sequence[Attribute]) -> Callable[[Sequence[Column]], list[Numbers]]:
    """Return what numbers the cells of any rows, by columns as a model has them."""
    known: list[dict[Any, int]] = [
        {}
        if isinstance(item, NumericAttribute)
        else {label: code for code, label in enumerate(item.categories)}
        for item in attributes
    ]
    return functools.partial(_numbered, attributes, known)


def _numbered(
    attributes: Sequence[Attribute], known: Sequence[dict[Any, int]], columns: Sequence[Column]
) -> list[Numbers]:
    return [_numbers(*own) for own in zip(attributes, columns, known, strict=True)]


def _numbers(attribute: Attribute, column: Column, known: Mapping[Any, int]) -> Numbers:
    if column.is_numeric:
        assert isinstance(attribute, NumericAttribute)  # noqa: S101 - of the same column
        factor, exponent = attribute.factor, attribute.exponent
        values = column.values
        values = np.ldexp(values, -exponent) if factor is None else values * factor
        return np.clip(values, -_MOST, _MOST) + 0.0  # there is one zero
    other = known.get(OTHER_LABEL, len(known))
    found = map(known.get, column.labels, itertools.repeat(other))
    codes = np.fromiter(itertools.chain(found, (-1,)), np.int32, len(column.labels) + 1)
    return codes.take(column.codes, mode="wrap")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RankedRows:
    """Rows, the first ones first: what they hold, what names them, and how they score."""

    values: tuple[Mapping[str, Value], ...]
    keys: tuple[Key, ...]
    strengths: Floats
    combinations: Floats

    def __len__(self) -> int:
        return len(self.values)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class StreamRanking:
    """What a pass over all rows found: the first by either score, and how all rows stand."""

    by_strength: RankedRows
    by_combination: RankedRows
    rows: int  # that were judged
    exceptional: int  # of these
    standing: Standing  # of the rows that were drawn
    combinations: Floats  # the second score of these
    home: Profile  # with the first rows by strength behind those that were drawn

    @property
    def unusual(self) -> int:
        """How many rows are unusual and not exceptional, by their share of the rows drawn."""
        ordered = self.standing.ordered
        drawn = len(ordered) - int(np.searchsorted(ordered, self.standing.unusual, "right"))
        return max(round(self.rows * drawn / len(ordered)) - self.exceptional, 0)


def _scores(evidence: Evidence) -> Floats:
    """Return of each row its strength, and how much counts against all of it together."""
    strengths = np.maximum(evidence.strongest, 0.0)
    return np.stack([strengths, evidence.combination]).round(_DECIMALS)


@dataclasses.dataclass(slots=True, eq=False)
class TopRows:
    """The rows with the greatest scores so far; the second score and the hash decide on ties."""

    most: int
    scores: Floats = dataclasses.field(default_factory=lambda: np.zeros((2, 0)))
    hashes: Hashes = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    table: Any = None

    @property
    def least(self) -> float:
        """What a row must score to be among the first."""
        return float(self.scores[0, -1]) if len(self.hashes) == self.most else 0.0

    def candidates(self, scores: Floats) -> Rows:
        """Return which of some rows may be among the first."""
        places = np.flatnonzero(scores[0] >= self.least)
        if len(places) <= self.most:
            return places
        order = places[np.lexsort((-scores[1, places], -scores[0, places]))]
        last = scores[:, order[self.most - 1]]
        is_tied = (scores[0, places] == last[0]) & (scores[1, places] >= last[1])
        return np.asarray(places[(scores[0, places] > last[0]) | is_tied])

    def add(self, scores: Floats, hashes: Hashes, table: pa.Table) -> None:
        """Take in rows with both scores, the one that decides first."""
        if not len(hashes):
            return
        both, known = np.concatenate([self.scores, scores], axis=1), [self.hashes, hashes]
        joined, tables = np.concatenate(known), [t for t in (self.table, table) if t is not None]
        order = np.lexsort((joined, -both[1], -both[0]))[: self.most]
        self.scores, self.hashes = both[:, order], joined[order]
        self.table = taken(joined_rows(tables), order)


@dataclasses.dataclass(slots=True, eq=False)
class ScoreState:
    """What is known of some of the rows."""

    by_strength: TopRows
    by_combination: TopRows
    rows: int = 0
    exceptional: int = 0
    waiting: list[tuple[list[Numbers], pa.Table]] = dataclasses.field(default_factory=list)

    @property
    def tops(self) -> tuple[tuple[TopRows, list[int]], ...]:
        """Both lists, and in which order the scores of rows decide there."""
        return (self.by_strength, [0, 1]), (self.by_combination, [1, 0])


class ScorePass:
    """One pass that judges every row that may be one of the strongest."""

    def __init__(self, model: Model, profile: Profile, most: int) -> None:
        """Plan by a model of the rows that were drawn, and by how many rows are kept."""
        self.fields, self.most = profile.fields, most  # of all that names a row or says what it is
        self._plain = [dataclasses.replace(field, written=None) for field in profile.fields]
        known = {field.name: field for field in profile.fields}
        self.readers = [ColumnReader.of(own.column, known) for own in model.attributes]
        self.drawn = _scores(model.evidence)
        self.line = round(model.standing.exceptional, _DECIMALS)  # as scores are
        least = [_at_least(own, most) for own in self.drawn]
        self.model = copy.copy(model)
        self.model.threads, self.model.progress = 1, None  # batches are judged side by side
        for name in ("evidence", "standing"):  # of the rows drawn, which nobody asks for elsewhere
            self.model.__dict__.pop(name, None)
        self.bounds = StrengthBounds(self.model, min(self.line, least[0]), least[1])
        self._numbers_in = numbering(model.attributes)

    def __getstate__(self) -> dict[str, Any]:
        """Send what was fitted, too: elsewhere it would be fitted again in every part."""
        places = range(len(self.model.properties))
        return self.__dict__ | {"fitted": list(map(self.model.fitted, places))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        fitted = state.pop("fitted")
        self.__dict__.update(state)
        for place, own in enumerate(fitted):
            self.model._once(place, lambda own=own: own)  # type: ignore[misc]

    def start(self) -> ScoreState:
        """Return the state of no rows."""
        return ScoreState(TopRows(self.most), TopRows(self.most))

    def add(self, state: ScoreState, batch: Batch) -> ScoreState:
        """Take in a batch of rows."""
        for start in range(0, batch.num_rows, _SLICE):
            some = batch.slice(start, _SLICE)
            numbers = self._numbers_in(columns_in(some, self.readers))
            state.rows += some.num_rows
            strength = min(self.line, state.by_strength.least)
            places = self.bounds.candidates(numbers, strength, state.by_combination.least)
            if len(places):
                table = copied(self.fields, takeable(some, self.fields), places)
                state.waiting.append(([own[places] for own in numbers], table))
                self._judge(state, BATCH)
        return state

    def _judge(self, state: ScoreState, least: int) -> None:
        if sum(len(table) for _, table in state.waiting) < least:
            return
        parts = zip(*(numbers for numbers, _ in state.waiting), strict=True)
        numbers = [np.concatenate(own) for own in parts]
        table = joined_rows([own for _, own in state.waiting])
        state.waiting.clear()
        scores = _scores(self.model.judged(numbers))
        state.exceptional += int(np.count_nonzero(scores[0] >= self.line))
        for top, order in state.tops:
            places = top.candidates(scores[order])
            if len(places):
                kept = taken(table, places)
                top.add(scores[order][:, places], hashes_of_rows(self._plain, kept), kept)

    def merge(self, state: ScoreState, other: ScoreState) -> ScoreState:
        """Put the states of two parts of the table together."""
        for (own, _), (more, _) in zip(state.tops, other.tops, strict=True):
            own.add(more.scores, more.hashes, more.table)
        state.rows += other.rows
        state.exceptional += other.exceptional
        state.waiting += other.waiting
        self._judge(state, BATCH)
        return state

    def finish(self, state: ScoreState, profile: Profile, standing: Standing) -> StreamRanking:
        """Return what was found, with what the first rows hold."""
        self._judge(state, 1)
        first, second = (self._ranked(top, profile, order) for top, order in state.tops)
        home = profile.with_rows(state.by_strength.table, [])
        counts = state.rows, state.exceptional
        return StreamRanking(first, second, *counts, standing, self.drawn[1], home)

    def _ranked(self, top: TopRows, profile: Profile, order: list[int]) -> RankedRows:
        values = tuple(values_of(self.fields, top.table))
        return RankedRows(values, tuple(map(profile.key, values)), *top.scores[order])


def _at_least(scores: Floats, most: int) -> float:
    """Return the least score of so many highest; no row needs more if these are all."""
    return float(np.partition(scores, -most)[-most]) if len(scores) >= most else 0.0
