"""The model of a table: what every row is judged by, made once from all of them (method 5c to 5e).

Two kinds of evidence count for each property of a row: how far its value lies outside (value space)
and how badly it fits the other columns (rank space). Their sum is the strength of a finding. How
strong findings are on all rows tells which of them are exceptional.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from outlying.kernel.tally import MOST_CONDITIONS, Small
from outlying.method.measure import CONDITION_PENALTY
from outlying.options import Options
from outlying.parallel import mapping
from outlying.search import bins, sweep
from outlying.search.attributes import Attribute, NumericAttribute
from outlying.search.category_attributes import CategoricalAttribute
from outlying.search.cells import Cells, Codes, Numbers
from outlying.search.outside import CategoryJudge, Judge, NumberJudge
from outlying.search.standing import Standing
from outlying.search.threads import Once
from outlying.table.columns import Floats, Rows

Progress: TypeAlias = Callable[[int, int], None]

#: A table of more rows is represented by so many of them, drawn by what they hold.
MOST_ROWS = 262_144
#: So many rows are judged at once.
BATCH = 65_536


def numbers_of(attribute: Attribute, rows: Rows | None = None) -> Numbers:
    """Return the numbers of an attribute's scale, or its codes, of all or some rows."""
    if isinstance(attribute, NumericAttribute):
        return attribute.rescaled(rows)
    return attribute.codes if rows is None else attribute.codes[rows]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Property:
    """A property that rows are judged by: an attribute, or whether it is missing."""

    place: int  # of the attribute
    attribute: Attribute
    family: int
    is_gap: bool

    @property
    def told(self) -> int:
        """How many other columns it tells of, as a relation does: then it needs no context."""
        origin = self.attribute.column.origin
        return 0 if origin is None else len(origin.given)

    def numbers(self, given: Sequence[Numbers]) -> Numbers:
        """Return what rows hold, given the numbers of all attributes."""
        own = given[self.place]
        if not self.is_gap:
            return own
        missing = own < 0 if own.dtype == np.int32 else np.isnan(own)
        return missing.astype(np.int32)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What counts against rows, by property: rows x properties."""

    outside: Floats  # how far the value lies outside; 0 or less where it does not
    misfit: Floats  # how badly it fits the other columns
    group: Small  # the condition in whose group it lies outside; -1 is the whole table
    explained: Small  # the condition that explains some of it away; -1 where none does
    contexts: Small  # rows x properties x 4: in which it does not fit; -1 stands for none
    surprise: Floats  # in the whole column, whatever explains it

    @property
    def strengths(self) -> Floats:
        """The strength of the finding on each property; 0 or less where there is none."""
        return np.where(self.misfit > 0, self.misfit + np.maximum(self.outside, 0.0), self.outside)

    @property
    def strongest(self) -> Floats:
        """The strength of each row: that of its strongest finding; 0 where nothing is judged."""
        strengths = self.strengths
        return np.asarray(strengths.max(axis=1)) if strengths.shape[1] else np.zeros(len(strengths))

    @property
    def combination(self) -> Floats:
        """How odd each row is all over: the sum of its small surprises, whatever explains them."""
        rows = len(self.surprise)  # added in a fixed order, however many rows there are
        total: Floats = functools.reduce(np.add, self.surprise.T, np.zeros(rows))
        return total


class Model:
    """A table, or what was drawn of it, made ready to judge rows."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        rows: Rows | None,
        total: int,
        options: Options,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> None:
        """Take the rows that stand for all, None for all of them, and how many there are in all."""
        self.attributes, self.options, self.threads = tuple(attributes), options, threads
        self.numbers = [numbers_of(item, rows) for item in attributes]
        self.total, self.is_whole = total, rows is None
        known = len(self.numbers[0])
        least = [max(2, round(options.least_rows(known, k))) for k in range(5)]
        self.least = least.__getitem__
        self.cells = Cells.of(self.attributes, self.numbers, self.least(1))
        self.codes = self.cells.codes(self.numbers)
        self.properties = tuple(self._properties())
        self._once = Once()
        self.progress = progress

    def _properties(self) -> list[Property]:
        found = []
        for place, attribute in enumerate(self.attributes):
            family = int(self.cells.families[place])
            own = Property(place, attribute, family, is_gap=False)
            if not attribute.is_constant:
                found.append(own)
            gap = dataclasses.replace(own, attribute=attribute.missingness, is_gap=True)
            if attribute.column.origin is None and gap.numbers(self.numbers).any():
                found.append(gap)
        return found

    def fitted(self, place: int, *, with_empty: bool = True) -> FittedProperty:
        """Return a property, swept once; with empty cells where rows are judged that are new."""
        return self._once((place, with_empty), lambda: FittedProperty.of(self, place, with_empty))

    @functools.cached_property
    def evidence(self) -> Evidence:
        """What counts against the rows that the model is made of."""
        with_empty = self.total > len(self.numbers[0])  # others will be judged: one sweep for all
        return self._judged(self.numbers, self.codes, with_empty=with_empty, progress=self.progress)

    def judged(self, numbers: Sequence[Numbers], progress: Progress | None = None) -> Evidence:
        """Judge rows that the model need not know."""
        codes = self.cells.codes(numbers)
        return self._judged(numbers, codes, with_empty=True, progress=progress)

    def _judged(
        self,
        numbers: Sequence[Numbers],
        codes: tuple[Codes, ...],
        *,
        with_empty: bool,
        progress: Progress | None,
    ) -> Evidence:
        rows, width = len(numbers[0]), len(self.properties)
        floats = np.zeros((3, width, rows))
        small = np.full((2, width, rows), -1, dtype=np.int32)
        contexts = np.full((width, rows, 4), -1, dtype=np.int32)

        def one(place: int) -> None:
            fitted = self.fitted(place, with_empty=with_empty)
            own = self.properties[place].numbers(numbers)
            is_own = codes is self.codes
            found = fitted.own if is_own else fitted.misfits(own, codes, self.cells)
            floats[1, place], contexts[place] = found
            outside = fitted.judge(own, codes, *found)
            floats[0, place] = outside.strengths
            if not self.properties[place].told:  # what is odd of a relation is odd of its columns
                floats[2, place] = outside.surprise
            small[0, place], small[1, place] = outside.condition, outside.explained

        with mapping(self.threads) as mapped:
            for done, _ in enumerate(mapped(one, range(width)), start=1):
                if progress is not None:
                    progress(done, width)
        return Evidence(
            floats[0].T, floats[1].T, small[0].T, small[1].T, contexts.swapaxes(0, 1), floats[2].T
        )

    @functools.cached_property
    def standing(self) -> Standing:
        """How strong findings are on the rows of the model."""
        return Standing.of(self.evidence.strongest)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class FittedProperty:
    """A property, swept over the table."""

    bins: bins.NumericBins | bins.CategoryBins
    swept: sweep.Swept
    judge: Judge
    own: tuple[Floats, Small]  # the misfits of the rows of the model

    @classmethod
    def of(cls, model: Model, place: int, with_empty: bool) -> FittedProperty:
        """Sweep a property of a model."""
        own, cells = model.properties[place], model.cells
        numbers = own.numbers(model.numbers)
        if own.told and isinstance(own.attribute, NumericAttribute):
            return cls._of_relation(own, own.attribute, model)
        cut: bins.NumericBins | bins.CategoryBins
        if isinstance(own.attribute, CategoricalAttribute):
            count = len(own.attribute.categories)
            cut = bins.CategoryBins.cut(numbers, count, with_new=with_empty)
        else:
            cut = bins.NumericBins.cut(np.sort(numbers[~np.isnan(numbers)]))
        layout = bins.layout_of(cut, cut.of(numbers))
        words = sweep.lay_out(layout, cells, model.codes)
        swept = sweep.Sweep(
            layout, cells, words, own.family, least=model.least, with_empty=with_empty
        ).run(min(model.options.max_conditions, MOST_CONDITIONS))
        judge: Judge
        if isinstance(cut, bins.CategoryBins):
            judge = CategoryJudge(numbers, cells, model.codes, own.family, count)
        else:
            judge = NumberJudge(numbers, cells, model.codes, own.family, swept.lifts)
        return cls(cut, swept, judge, swept.assigned(layout, words, len(numbers)))

    @classmethod
    def _of_relation(
        cls, own: Property, attribute: NumericAttribute, model: Model
    ) -> FittedProperty:
        """Compare over the whole table only: the context of a relation is in it."""
        numbers, count = own.numbers(model.numbers), len(model.cells.spans)
        judge = NumberJudge(
            numbers,
            model.cells,
            model.codes,
            own.family,
            np.zeros(count),
            price=CONDITION_PENALTY * own.told,
            usual=2.0**-attribute.exponent,
        )
        nothing = np.zeros(len(numbers)), np.full((len(numbers), 4), -1, dtype=np.int32)
        cut = bins.NumericBins(np.zeros(0))
        return cls(cut, sweep.Swept((), np.zeros(count)), judge, nothing)

    def misfits(
        self, numbers: Numbers, codes: tuple[Codes, ...], cells: Cells
    ) -> tuple[Floats, Small]:
        """Return the strongest finding of rows in rank space, and its context."""
        if not self.swept.levels:
            return np.zeros(len(numbers)), np.full((len(numbers), 4), -1, dtype=np.int32)
        layout = bins.layout_of(self.bins, self.bins.of(numbers))
        words = sweep.lay_out(layout, cells, codes)
        return self.swept.assigned(layout, words, len(numbers))
