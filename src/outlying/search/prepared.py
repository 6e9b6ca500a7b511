"""A population made ready to be searched: its columns chosen, its rows drawn.

Of a large table the search knows only rows that were drawn: they give the natural intervals, the
conditions of an object and the estimates of pairs. All other rows are asked once it is known what
to ask, be they in memory or not.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from outlying.method.density import density_at
from outlying.method.discretise import binned
from outlying.method.intervals import candidates
from outlying.method.measure import Summary, Typical
from outlying.options import Options
from outlying.search.attributes import (
    Attribute,
    CategoricalAttribute,
    NumericAttribute,
    attribute_of,
)
from outlying.search.contexts import SPARE
from outlying.search.exhaustive import exhaustive
from outlying.search.guided import guided, shortlisted
from outlying.search.objects import Premise, Trait
from outlying.search.scoring import ROUNDING, Context, Evaluation, Exact, Outcome, Progress
from outlying.search.screen.neighbours import Sample
from outlying.search.shared import Shared
from outlying.search.shelf import Shelf
from outlying.search.shortlist import Shortlist, settled
from outlying.table.columns import Rows
from outlying.table.conditions import Condition
from outlying.table.sampling import sample_rows
from outlying.table.selection import Selection, is_asked_for, select
from outlying.table.table import Table
from outlying.table.values import value_of

#: Tables of more rows are screened by a sample of this many.
SCREENED = 2048
#: What is near the object is counted among this many, and intervals are found by them.
NEARBY = 16_384

#: Rows of a context, those of them that have the property, those that lie near the object.
Counter: TypeAlias = Callable[[int, Context], tuple[int, int, int]]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A table whose columns are chosen and prepared.

    `rows` counts the whole population, which may be more than the table holds.
    """

    table: Table
    rows: int
    options: Options
    selection: Selection
    attributes: tuple[Attribute, ...]  # by name, so that the order of columns decides nothing
    drawn: Rows  # some rows, in the order in which they were drawn
    shelf: Shelf
    shared: Shared

    @classmethod
    def of(cls, table: Table, options: Options, *, has_new: bool = False) -> Prepared:
        """Prepare a table in memory, whose last row may be a new object.

        Rows of a large table are drawn without it: so they are the same for all objects, and those
        that a pass draws, which never meets it.
        """
        asked = [column for column in table.columns if is_asked_for(column.name, options)]
        selection = select(table, options)
        known = table.rows - 1 if has_new and table.rows - 1 > NEARBY else table.rows
        rows = sample_rows((column.first(known) for column in asked), known, NEARBY)
        return cls.by(table, table.rows, options, selection, rows)

    @classmethod
    def by(
        cls, table: Table, rows: int, options: Options, selection: Selection, chosen: Rows
    ) -> Prepared:
        """Prepare chosen columns of a population by the rows that were drawn from it."""
        sample = _sample(chosen, rows, options)
        some = None if len(sample.nearby) == rows else sample.nearby
        columns = (binned(c, options.discretise, options.bins) for c in selection.columns)
        ordered = sorted(columns, key=lambda column: column.name)
        attributes = tuple(attribute_of(column, some) for column in ordered)
        shelf = Shelf(sample)
        return cls(table, rows, options, selection, attributes, chosen, shelf, Shared())

    @property
    def is_large(self) -> bool:
        """Whether rows are left that were not drawn."""
        return len(self.shelf.sample.nearby) < self.rows

    def searched(
        self, row: int, progress: Progress | None = None
    ) -> tuple[Exact[Trait, Premise], Outcome]:
        """Search the pairs of one row of a table in memory."""
        exact = self.exact(row, progress)
        if self.options.search == "exhaustive":
            return exact, exhaustive(exact)
        if self.shelf.sample.is_whole:
            return exact, guided(exact, self.shelf, self.options.top)
        return exact, settled(
            shortlisted(exact, self.shelf, self.options.top), exact, self.options.top
        )

    def strongest(self, row: int) -> float:
        """Return the strength of the strongest pair of a row of a table in memory."""
        exact = self.exact(row)
        if self.options.search == "exhaustive":
            outcome = exhaustive(exact)
        elif not self.is_large:
            outcome = guided(exact, self.shelf, 1, is_hasty=True)
        else:
            short = self.hasty(exact)
            outcome = settled(short, Counted(exact, short, _InMemory(exact, short)), 1)
        return strength_of(outcome)

    def hasty(self, found: Evaluation[Trait, Premise]) -> Shortlist:
        """Choose by estimates what may be the strongest pair of a row."""
        return shortlisted(found, self.shelf, 1, is_hasty=True)

    def exact(self, row: int, progress: Progress | None = None) -> Exact[Trait, Premise]:
        """Make ready to score the pairs of a row by all rows, which are in memory."""
        traits, premises = self.asked_of(row, progress)
        return Exact(traits, premises, self.rows, self.options, self.shared, progress)

    def _useful(self, premises: list[Premise]) -> list[Premise]:
        """Drop conditions that keep too few rows, or all: these say nothing.

        A few rows less may have been drawn; the exact look tells.
        """
        known = len(self.shelf.sample.nearby)
        share = self.options.min_support * (SPARE if self.is_large else 1.0)
        least = share * known - ROUNDING
        return [premise for premise in premises if least <= premise.group < known]

    def asked_of(
        self, row: int, progress: Progress | None = None
    ) -> tuple[list[Trait], list[Premise]]:
        """Return the properties of a row and the conditions that it satisfies."""
        traits = [_trait(attribute, row, self.options) for attribute in self.attributes]
        premises: list[Premise] = []
        known = len(self.shelf.sample.nearby)
        for place, attribute in enumerate(self.attributes):
            if progress is not None:  # the first object of a population waits for the mixtures
                progress(place, len(self.attributes))
            found = _premises(attribute, row, known, self.options, is_large=self.is_large)
            premises += self._useful(found)
        return traits, premises


def _sample(rows: Rows, total: int, options: Options) -> Sample:
    """Choose the rows by which contexts are screened; all of a small table."""
    if total <= SCREENED or options.exact or options.bandwidth == "adaptive":
        everything = np.arange(total)
        return Sample(total, everything, everything)
    if options.search == "exhaustive":  # nothing is screened
        return Sample(total, rows[:SCREENED], np.arange(total))
    return Sample(total, rows[:SCREENED], rows)


def _trait(attribute: Attribute, row: int, options: Options) -> Trait:
    """Return the property of the object in an attribute: its value, or that it has none."""
    if attribute.column.is_missing(row):
        attribute = attribute.missingness
    return Trait(attribute.column.name, attribute, row, options)


def _premises(
    attribute: Attribute, row: int, rows: int, options: Options, *, is_large: bool
) -> list[Premise]:
    """Return the conditions of one attribute that the object satisfies, from fine to coarse."""
    name = attribute.column.name
    if attribute.column.is_missing(row):
        gaps = attribute.missingness
        test = functools.partial(gaps.equal, 1)
        return [Premise(Condition(name, "missing"), int(gaps.totals[1]), test)]
    if isinstance(attribute, CategoricalAttribute):
        condition = Condition(name, "equals", value=attribute.column.value(row))
        code = int(attribute.codes[row])
        test = functools.partial(attribute.equal, code)
        return [Premise(condition, int(attribute.totals[code]), test)]
    if attribute.is_constant:
        return []
    found = attribute.segments(options.seed)
    value = attribute.scaled(row)
    return [
        _interval_premise(attribute, low, high)
        for low, high in candidates(
            attribute.sorted, found, value, rows, options, is_sample=is_large
        )
    ]


def _interval_premise(attribute: NumericAttribute, low: float, high: float) -> Premise:
    form = attribute.column.form
    bounds = attribute.unscaled(low), attribute.unscaled(high)
    ends = [value_of(form, bound) for bound in bounds]
    condition = Condition(attribute.column.name, "interval", low=ends[0], high=ends[1])
    test = functools.partial(attribute.between, low, high)
    return Premise(condition, attribute.rows_between(low, high), test, bounds)


def strength_of(outcome: Outcome) -> float:
    """Return the strength of the strongest pair; the least of all numbers where there is none."""
    return max((hit.strength for hit in outcome.best), default=-math.inf)


class Counted(Evaluation[Trait, Premise]):
    """Scores by what is estimated to be typical, and by a true count of rows near the object."""

    def __init__(
        self, found: Evaluation[Trait, Premise], short: Shortlist, counter: Counter
    ) -> None:
        super().__init__(found.properties, found.candidates, found.rows, found.options)
        self.estimates, self.counter = short.estimates, counter

    def measured(self, place: int, context: Context) -> tuple[int, Summary | None]:
        """Count the rows of a context and summarise a property there."""
        estimate = self.estimates[place, context]
        rows, known, near = self.counter(place, context)
        if not estimate.mean > 0 or not known or not near:
            return rows, None
        at_object = density_at(near, known, estimate.width)
        return rows, Summary(estimate.mean, at_object, estimate.unit)


class _InMemory:
    """Counts rows that are in memory."""

    def __init__(self, exact: Exact[Trait, Premise], short: Shortlist) -> None:
        self.exact, self.estimates = exact, short.estimates

    def __call__(self, place: int, context: Context) -> tuple[int, int, int]:
        """Count the rows of a context, those that have the property, those near the object."""
        exact, trait = self.exact, self.exact.properties[place]
        rows, known = exact.shared.sizes(
            exact.key(place, context), lambda: self._sizes(trait, context)
        )
        scale = trait.attribute.exponent - trait.attribute.whole.exponent
        width = math.ldexp(2 * self.estimates[place, context].reach, scale)
        return rows, known, exact.near(place, context, Typical(known, math.nan, width))

    def _sizes(self, trait: Trait, context: Context) -> tuple[int, int]:
        mask = self.exact.mask(context)
        rows = int(np.count_nonzero(mask))
        if trait.value is not None:
            mask &= ~trait.attribute.column.missing()
        return rows, int(np.count_nonzero(mask))
