"""The score pass: every row of a stream judged by the model, and the strongest kept.

Neither the order of rows nor how they come in batches decides anything: rows that are equally
strong are told apart by their hashes.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outlying.search.evidence import Evidence
from outlying.search.model import BATCH, Model
from outlying.search.standing import Standing
from outlying.sources.passes import Batch
from outlying.sources.types.arrow import Field, arrow
from outlying.sources.types.arrow_numpy import of_numbers
from outlying.stream.numbers import Numbering
from outlying.stream.profile.column_facts import cells_of
from outlying.stream.profile.profile import Profile, values_of
from outlying.stream.profile.profile_pass import copied, takeable
from outlying.stream.verify.plan import ColumnPlan
from outlying.stream.verify.verify_pass import cells_in
from outlying.table.columns import Floats, Rows
from outlying.table.row_hash import Hashes, salted_sums, splitmix64
from outlying.table.targets import Key
from outlying.table.values import Value

if TYPE_CHECKING:
    import pyarrow

#: Scores count in an order up to so many decimals.
_DECIMALS = 9
#: Strengths are counted in steps of a hundredth, up to the greatest.
STEPS, MOST_STEPS = 100, 10_000


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
class Ranked:
    """What a pass over all rows found: the first by either score, and how all rows stand."""

    by_strength: RankedRows
    by_combination: RankedRows
    rows: int  # that were judged
    exceptional: int  # of these
    histogram: Rows  # rows by strength, in steps of 1 / STEPS
    standing: Standing  # of the rows that were drawn
    combinations: Floats  # the second score of these
    home: Profile  # with the first rows by strength behind those that were drawn

    def stronger_than(self, strength: float) -> int:
        """Count the rows that are stronger, up to a step of the histogram."""
        return int(self.histogram[min(int(strength * STEPS) + 1, MOST_STEPS) :].sum())


def scores_of(evidence: Evidence) -> tuple[Floats, Floats]:
    """Return of each row its strength, and how much counts against all of it together."""
    strengths = np.maximum(evidence.strongest, 0.0)
    return strengths.round(_DECIMALS), evidence.combination.round(_DECIMALS)


@dataclasses.dataclass(slots=True, eq=False)
class TopRows:
    """The rows with the greatest scores so far; the second score and the hash decide on ties."""

    most: int
    scores: Floats = dataclasses.field(default_factory=lambda: np.zeros((2, 0)))
    hashes: Hashes = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    table: Any = None

    def candidates(self, scores: Floats) -> Rows:
        """Return which of some rows may be among the first."""
        places = np.arange(scores.shape[1])
        if len(self.hashes) == self.most:
            places = np.flatnonzero(scores[0] >= self.scores[0, -1])
        if len(places) <= self.most:
            return places
        order = places[np.lexsort((-scores[1, places], -scores[0, places]))]
        last = scores[:, order[self.most - 1]]
        is_tied = (scores[0, places] == last[0]) & (scores[1, places] >= last[1])
        return np.asarray(places[(scores[0, places] > last[0]) | is_tied])

    def add(self, scores: Floats, hashes: Hashes, table: pyarrow.Table) -> None:
        """Take in rows with both scores, the one that decides first."""
        if not len(hashes):
            return
        both, known = np.concatenate([self.scores, scores], axis=1), [self.hashes, hashes]
        joined, tables = np.concatenate(known), [t for t in (self.table, table) if t is not None]
        order = np.lexsort((joined, -both[1], -both[0]))[: self.most]
        self.scores, self.hashes = both[:, order], joined[order]
        merged = arrow().concat_tables(tables, promote_options="permissive")
        self.table = merged.combine_chunks().take(of_numbers(order))


@dataclasses.dataclass(slots=True, eq=False)
class ScoreState:
    """What is known of some of the rows."""

    by_strength: TopRows
    by_combination: TopRows
    histogram: Rows
    rows: int = 0
    exceptional: int = 0


class ScorePass:
    """One pass that judges every row."""

    def __init__(
        self,
        model: Model,
        fields: Sequence[Field],
        plans: Sequence[ColumnPlan],
        line: float,
        most: int,
    ) -> None:
        """Take how each attribute of the model is read, and from where on rows are exceptional."""
        self.model = copy.copy(model)
        self.model.threads, self.model.progress = 1, None  # batches are judged side by side
        for name in ("evidence", "standing"):  # of the rows drawn, which nobody asks for elsewhere
            self.model.__dict__.pop(name, None)
        self.fields, self.plans, self.most = tuple(fields), tuple(plans), most
        self.line = round(line, _DECIMALS)  # as scores are
        self._numbering = Numbering(model.attributes)

    @classmethod
    def of(cls, model: Model, profile: Profile, line: float, most: int) -> ScorePass:
        """Plan by a model of the rows that were drawn."""
        fields = {field.name: field for field in profile.fields}
        plans = []
        for attribute in model.attributes:
            origin = attribute.column.origin
            name = attribute.column.key if origin is None else origin.parent
            plans.append(ColumnPlan(fields[name], derivation=origin))
        return cls(model, profile.fields, plans, line, most)

    def __getstate__(self) -> dict[str, Any]:
        """Send what was fitted, too: elsewhere it would be fitted again in every part."""
        places = range(len(self.model.properties))
        fitted = [self.model.fitted(place) for place in places]
        return self.__dict__ | {"fitted": fitted}

    def __setstate__(self, state: dict[str, Any]) -> None:
        fitted = state.pop("fitted")
        self.__dict__.update(state)
        for place, own in enumerate(fitted):
            self.model._once(place, lambda own=own: own)  # type: ignore[misc]

    @property
    def columns(self) -> list[str]:
        """The columns to be read: all that name a row or say what it holds."""
        return [field.name for field in self.fields]

    def start(self) -> ScoreState:
        """Return the state of no rows."""
        histogram = np.zeros(MOST_STEPS + 1, dtype=np.int64)
        return ScoreState(TopRows(self.most), TopRows(self.most), histogram)

    def add(self, state: ScoreState, batch: Batch) -> ScoreState:
        """Take in a batch of rows."""
        for start in range(0, batch.num_rows, BATCH):
            self._add(state, batch.slice(start, BATCH))
        return state

    def _add(self, state: ScoreState, batch: Batch) -> None:
        cells = [cells_in(batch.column(plan.field.name), plan) for plan in self.plans]
        scores = np.stack(scores_of(self.model.judged(self._numbering.of_cells(cells))))
        strengths = scores[0]
        steps = np.minimum(strengths * STEPS, MOST_STEPS).astype(np.int64)
        state.histogram += np.bincount(steps, minlength=MOST_STEPS + 1)
        state.rows += batch.num_rows
        state.exceptional += int(np.count_nonzero(strengths >= self.line))
        arrays = takeable(batch, self.fields)
        for top, order in ((state.by_strength, [0, 1]), (state.by_combination, [1, 0])):
            places = top.candidates(scores[order])
            if len(places):
                table = copied(self.fields, arrays, places)
                top.add(scores[order][:, places], self._hashes(table), table)

    def _hashes(self, table: pyarrow.Table) -> Hashes:
        arrays = [table.column(field.name).combine_chunks() for field in self.fields]
        plain = [dataclasses.replace(field, written=None) for field in self.fields]
        cells = [cells_of(field, array) for field, array in zip(plain, arrays, strict=True)]
        return splitmix64(salted_sums(cells, len(table)))

    def merge(self, state: ScoreState, other: ScoreState) -> ScoreState:
        """Put the states of two parts of the table together."""
        for own, more in (
            (state.by_strength, other.by_strength),
            (state.by_combination, other.by_combination),
        ):
            own.add(more.scores, more.hashes, more.table)
        state.histogram += other.histogram
        state.rows += other.rows
        state.exceptional += other.exceptional
        return state

    def finish(self, state: ScoreState, profile: Profile, standing: Standing) -> Ranked:
        """Return what was found, with what the first rows hold."""
        return Ranked(
            by_strength=self._ranked(state.by_strength, profile, [0, 1]),
            by_combination=self._ranked(state.by_combination, profile, [1, 0]),
            rows=state.rows,
            exceptional=state.exceptional,
            histogram=state.histogram,
            standing=standing,
            combinations=scores_of(self.model.evidence)[1],
            home=profile.with_rows(state.by_strength.table, []),
        )

    def _ranked(self, top: TopRows, profile: Profile, order: list[int]) -> RankedRows:
        values = tuple(values_of(self.fields, top.table))
        strengths, combinations = top.scores[order]
        return RankedRows(values, tuple(map(profile.key, values)), strengths, combinations)
