"""The model of a table: what every row is judged by, made once from all of them (method 5c to 5e).

Two kinds of evidence count for each property of a row: how far its value lies outside (value space)
and how badly it fits the other columns (rank space). Their sum is the strength of a finding. How
strong findings are on all rows tells which of them are exceptional.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from outlying.kernel.tally import MOST_CONDITIONS, Small
from outlying.method.dependence import NO_SCORES, Scores, rank_scores, residual_weights
from outlying.method.distances import EXPECTED
from outlying.method.measure import CONDITION_PENALTY
from outlying.method.surprise import FADES_TO
from outlying.options import Options
from outlying.parallel import thread_map
from outlying.search.cells import (
    Attribute,
    CategoricalAttribute,
    Cells,
    Codes,
    LazyValues,
    Numbers,
    NumericAttribute,
)
from outlying.search.evidence import LEEWAY, Evidence, Standing, chance_extreme, limited
from outlying.search.nearby import Nearby
from outlying.search.outside import CategoryJudge, Judge, NumberJudge
from outlying.search.sweep import (
    CategoryBins,
    NumericBins,
    RareCells,
    Sweep,
    Swept,
    lay_out,
    layout_of,
)
from outlying.table.columns import Column, Floats, Rows

Progress: TypeAlias = Callable[[int, int], None]

#: A table of more rows is represented by so many of them, drawn by what they hold.
MOST_ROWS = 262_144
#: What a residual need not exceed of what the most extreme of ordinary values shows: it is compared
#: over the whole table only, not in the best of thousands of contexts. Less of it where many
#: relations are compared, down to the least, and of categories, which contexts tell as well.
RESIDUAL_CREDIT, LEAST_CREDIT = 3.0, 1.0
#: So many rows are judged at once.
BATCH = 32_768


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


@dataclasses.dataclass(frozen=True, slots=True)
class EmptyCells:
    """What the empty cells of a table have in common, by place of the property about them."""

    rare: list[int]  # of columns that are empty in several rows, but in hardly any
    explained_by: dict[int, list[int]]  # columns that are empty in more rows, often the same

    @classmethod
    def of(cls, properties: Sequence[Property], numbers: Sequence[Numbers]) -> EmptyCells:
        """Compare which rows are empty."""
        rows = {
            place: np.flatnonzero(own.numbers(numbers))
            for place, own in enumerate(properties)
            if own.is_gap
        }
        total = len(numbers[0]) if rows else 0
        rare = [place for place, own in rows.items() if 1 < len(own) < FADES_TO * total]
        explained_by: dict[int, list[int]] = {}
        for place in rare:
            own = rows[place]
            for other, held in rows.items():
                both = len(np.intersect1d(own, held, assume_unique=True))
                if both > 1 and len(own) < len(held) < 4 * both:
                    explained_by.setdefault(place, []).append(other)
        return cls(rare, explained_by)


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
        self.cells = Cells.of(self.attributes, self.numbers, self.least(1), options.compares_by)
        self.codes = self.cells.codes(self.numbers)
        self.properties = tuple(self._properties())
        self.nearby = Nearby(self.attributes, self.cells, self.numbers, self.codes)
        self._once = LazyValues()
        self.progress = progress

    def _properties(self) -> list[Property]:
        found = []
        for place, attribute in enumerate(self.attributes):
            if not self._is_judged(attribute.column):
                continue
            family = int(self.cells.families[place])
            own = Property(place, attribute, family, is_gap=False)
            if own.told or not attribute.is_constant:  # a row to come may break a relation
                found.append(own)
            gap = dataclasses.replace(own, is_gap=True)
            if attribute.column.origin is None and gap.numbers(self.numbers).any():
                found.append(dataclasses.replace(gap, attribute=attribute.missingness))
        return found

    def _is_judged(self, column: Column) -> bool:
        given = () if column.origin is None else column.origin.given
        return self.options.judges(column.family) and all(map(self.options.compares_by, given))

    @property
    def credit(self) -> float:
        """What residuals need not exceed: less, the more relations there are beyond a pair."""
        relations = sum(own.told > 0 for own in self.properties)
        return max(RESIDUAL_CREDIT - math.log(max(relations, 2) / 2), LEAST_CREDIT)

    @functools.cached_property
    def evidence(self) -> Evidence:
        """What counts against the rows that the model is made of."""
        return self._judged(self.numbers, self.codes, self._fitted_now, self.progress)

    def _fitted_now(self, place: int) -> tuple[FittedProperty, Small]:
        # Where rows were drawn, others will be judged, too: one sweep for all.
        is_drawn = self.total > len(self.numbers[0])
        fitted, cells = FittedProperty.of(self, place, with_empty=is_drawn)
        if is_drawn:
            self._once(place, lambda: fitted)
        return fitted, cells

    def fitted(self, place: int) -> FittedProperty:
        """Return a property swept, for rows that the model need not know."""
        return self._once(place, lambda: FittedProperty.of(self, place, with_empty=True)[0])

    @functools.cached_property
    def weights(self) -> Floats:
        """What tells by the scores of a row how far each is from what the others say."""
        pairs = enumerate(self.properties)
        scores = [self.fitted(place).scores_of(own.numbers(self.numbers)) for place, own in pairs]
        return residual_weights(np.array(scores))

    def judged(self, numbers: Sequence[Numbers], progress: Progress | None = None) -> Evidence:
        """Judge rows that the model need not know."""
        codes = self.cells.codes(numbers)

        def one(place: int) -> tuple[FittedProperty, Small]:
            fitted, own = self.fitted(place), self.properties[place].numbers(numbers)
            return fitted, fitted.cells(own, codes, self.cells)

        return self._judged(numbers, codes, one, progress)

    def _judged(
        self,
        numbers: Sequence[Numbers],
        codes: tuple[Codes, ...],
        fit: Callable[[int], tuple[FittedProperty, Small]],
        progress: Progress | None,
    ) -> Evidence:
        """Put together what is found on each property."""
        width, rows = len(self.properties), len(numbers[0])
        floats = np.zeros((3, width, rows))
        small = np.full((3, width, rows), -1, dtype=np.int32)
        scores = np.zeros((width, rows), dtype=np.int8)
        swept: list[RareCells] = []
        coded: list[tuple[int, Rows]] = []  # families, and the rows that hold a code

        def one(place: int) -> RareCells:
            own, (fitted, kept) = self.properties[place], fit(place)
            values, cells, judge = own.numbers(numbers), fitted.swept.cells, fitted.judge
            outside = judge(values, codes)
            found = cells.strengths[kept], cells.members[kept], outside
            floats[2, place], floats[0, place] = self.nearby.confirmed(
                judge, values, numbers, codes, *found
            )
            if isinstance(judge, NumberJudge):
                coded.append((own.family, judge.shared_codes(values)))
            if not own.told:  # what is odd of a relation is odd of its columns
                floats[1, place], scores[place] = outside.surprise, fitted.scores_of(values)
            small[:, place] = outside.condition, outside.explained, kept
            return cells

        with thread_map(self.threads) as mapped:
            for done, found in enumerate(mapped(one, range(width)), start=1):
                swept.append(found)
                if progress is not None:
                    progress(done, width)
        if numbers is self.numbers:
            self.weights = residual_weights(scores)
        self._explain_gaps(numbers, floats)
        self._believe_the_better(numbers, floats)
        self._tell_patterns_last([*coded, *self._shared_gaps(numbers)], floats)
        outside, surprise, misfit = (matrix.T for matrix in floats)
        group, explained, cell = (matrix.T for matrix in small)
        of_rows = outside, group, explained, surprise, scores.T, misfit, cell
        return Evidence(*of_rows, tuple(swept), self.weights)

    def _tell_patterns_last(self, shared: Sequence[tuple[int, Rows]], floats: Floats) -> None:
        """Limit what counts against rows that hold what is odd of several others in the same way.

        A code for unknown is exceptional, and so is an empty cell where hardly any is, but many of
        them are one pattern: what is odd by itself comes before them.
        """
        most = chance_extreme(len(self.numbers[0])) + LEEWAY
        for family, rows in shared:
            for place, own in enumerate(self.properties):
                if own.family == family and len(rows):
                    parts = floats[0, place, rows], floats[2, place, rows]
                    floats[0, place, rows], floats[2, place, rows] = limited(*parts, most)

    @functools.cached_property
    def _gaps(self) -> EmptyCells:
        return EmptyCells.of(self.properties, self.numbers)

    def _explain_gaps(self, numbers: Sequence[Numbers], floats: Floats) -> None:
        """Leave nothing of an empty cell where another one says that it is."""
        for place, others in self._gaps.explained_by.items():
            is_empty = self.properties[place].numbers(numbers) > 0
            for other in others:
                rows = np.flatnonzero(is_empty & (self.properties[other].numbers(numbers) > 0))
                floats[0, place, rows] = np.minimum(floats[0, place, rows], 0.0)
                floats[2, place, rows] = 0.0

    @functools.cached_property
    def _better(self) -> list[tuple[int, int]]:
        """The relations of a column of which there is another one that explains more, and that.

        One by categories alone is never silenced: no number says which of these should be there.
        """
        fits = [
            (origin.explains, origin.parent, place, origin.says_more)
            for place, own in enumerate(self.properties)
            if (origin := own.attribute.column.origin) is not None and origin.explains
        ]
        pairs = itertools.combinations(sorted(fits), 2)
        return [(own[2], best[2]) for own, best in pairs if own[1] == best[1] and own[3]]

    def _believe_the_better(self, numbers: Sequence[Numbers], floats: Floats) -> None:
        """Leave nothing of a number that the better of its relations expects as it is."""
        for place, better in self._better:
            attribute = self.properties[better].attribute
            assert isinstance(attribute, NumericAttribute)  # noqa: S101 - as distances are
            most = EXPECTED * 2.0**-attribute.exponent
            with np.errstate(invalid="ignore"):
                is_ordinary = np.abs(self.properties[better].numbers(numbers)) <= most
            floats[0, place, is_ordinary] = np.minimum(floats[0, place, is_ordinary], 0.0)

    def _shared_gaps(self, numbers: Sequence[Numbers]) -> list[tuple[int, Rows]]:
        """Return the columns that are empty in a few rows, and these."""
        own = [self.properties[place] for place in self._gaps.rare]
        return [(item.family, np.flatnonzero(item.numbers(numbers))) for item in own]

    @functools.cached_property
    def standing(self) -> Standing:
        """How strong findings are on the rows of the model."""
        found = Standing.of(self.evidence.strongest)
        if not self.is_whole:  # evidence against so many: those asked for are judged like others
            del self.evidence
        return found


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class FittedProperty:
    """A property, swept over the table."""

    bins: NumericBins | CategoryBins
    swept: Swept
    judge: Judge
    scores: Scores  # of the rank of each bin, and of what is missing; 0 of all but plain numbers

    @classmethod
    def of(cls, model: Model, place: int, *, with_empty: bool) -> tuple[FittedProperty, Small]:
        """Sweep a property; return the cells of the model's own rows, too."""
        own, cells = model.properties[place], model.cells
        numbers = own.numbers(model.numbers)
        if own.told and isinstance(own.attribute, NumericAttribute):
            return cls._of_relation(own, own.attribute, model)
        cut: NumericBins | CategoryBins
        if isinstance(own.attribute, CategoricalAttribute):
            count = len(own.attribute.categories)
            cut = CategoryBins.cut(numbers, count, with_new=with_empty)
        else:
            cut = NumericBins.cut(np.sort(numbers[~np.isnan(numbers)]))
        held = cut.of(numbers)
        layout = layout_of(cut, held)
        words = lay_out(layout, cells, model.codes)
        free = cells.contexts_of(own.place)
        swept = Sweep(layout, cells, words, free, least=model.least, with_empty=with_empty).run(
            min(model.options.max_conditions, MOST_CONDITIONS)
        )
        scores = NO_SCORES.repeat(cut.count + 1)
        if isinstance(cut, NumericBins) and own.attribute.column.origin is None:
            scores = rank_scores(np.bincount(held[held >= 0], minlength=cut.count))
        judge: Judge
        if isinstance(cut, CategoryBins):
            judge = CategoryJudge(numbers, cells, model.codes, own.family, count)
        else:
            judge = NumberJudge(numbers, cells, model.codes, own.family, swept.lifts)
        return cls(cut, swept, judge, scores), swept.assigned(layout, words, len(numbers))

    @classmethod
    def _of_relation(
        cls, own: Property, attribute: NumericAttribute, model: Model
    ) -> tuple[FittedProperty, Small]:
        """Compare over the whole table only: the context of a relation is in it."""
        numbers, lifts = own.numbers(model.numbers), np.zeros(len(model.cells.spans))
        origin = attribute.column.origin
        credit = model.credit if origin is not None and origin.says_more else LEAST_CREDIT
        judge = NumberJudge(
            numbers,
            model.cells,
            model.codes,
            own.family,
            lifts,
            price=CONDITION_PENALTY * own.told - credit,
            usual=2.0**-attribute.exponent,
        )
        fitted = cls(NumericBins(np.zeros(0)), Swept.of([], lifts), judge, NO_SCORES.repeat(2))
        return fitted, fitted.cells(numbers, model.codes, model.cells)

    def scores_of(self, numbers: Numbers) -> Scores:
        """Return the score of each row."""
        return self.scores[self.bins.of(numbers)]

    def cells(self, numbers: Numbers, codes: tuple[Codes, ...], cells: Cells) -> Small:
        """Return the strongest rare cell of each row; -1 where there is none."""
        if not self.swept.ends:
            return np.full(len(numbers), -1, dtype=np.int32)
        layout = layout_of(self.bins, self.bins.of(numbers))
        return self.swept.assigned(layout, lay_out(layout, cells, codes), len(numbers))
