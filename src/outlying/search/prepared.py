"""A population made ready to be searched: its columns chosen, its rows drawn.

Of a large table the search knows only rows that were drawn: they give the natural intervals, the
conditions of an object and the estimates of pairs. All other rows are asked once it is known what
to ask, be they in memory or not.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from outlying.kernel.library import compiled
from outlying.method.density import density_at
from outlying.method.discretise import binned
from outlying.method.measure import Summary
from outlying.options import Options
from outlying.parallel import mapping
from outlying.search import limits
from outlying.search.attributes import Attribute, attribute_of
from outlying.search.batches import can_be_together
from outlying.search.cache import Cache
from outlying.search.compiled import CompiledExact
from outlying.search.exhaustive import exhaustive
from outlying.search.guided import (
    GuidedSearch,
    by_numpy,
    guided_together,
    searches_together,
    shortlisted_together,
)
from outlying.search.objects import CandidateCondition, ObjectProperty
from outlying.search.quick import QuickSearch
from outlying.search.references import Strongest
from outlying.search.scoring import Context, Evaluation, Exact, Outcome, Progress
from outlying.search.screen.neighbours import Sample
from outlying.search.shortlist import Shortlist
from outlying.search.verification import verified
from outlying.table.columns import Rows
from outlying.table.labels import lone_rows
from outlying.table.sampling import sample_rows
from outlying.table.selection import Selection, check_width, compared
from outlying.table.table import Table

#: Rows of a context, those of them that have the property, those that lie near the object.
Counter: TypeAlias = Callable[[int, Context], tuple[int, int, int]]
#: So many rows look at all columns often enough to sort these.
_MANY = 64
#: What is left of a search after the screen.
Searching: TypeAlias = Callable[[], tuple[Exact, Outcome]]


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
    cache: Cache

    @classmethod
    def of(
        cls, table: Table, options: Options, selection: Selection, *, has_new: bool = False
    ) -> Prepared:
        """Prepare chosen columns of a table in memory, whose last row may be a new object.

        Rows of a large table are drawn without it: so they are the same for all objects, and those
        that a pass draws, which never meets it.
        """
        asked = list(compared(table, options))
        known = table.rows - 1 if has_new and table.rows - 1 > limits.NEARBY else table.rows
        rows = sample_rows((column.first(known) for column in asked), known, limits.NEARBY)
        return cls.by(table, table.rows, options, selection, rows)

    @classmethod
    def by(
        cls, table: Table, rows: int, options: Options, selection: Selection, chosen: Rows
    ) -> Prepared:
        """Prepare chosen columns of a population by the rows that were drawn from it."""
        columns = (*selection.columns, *selection.derived)
        check_width(len(columns))
        sample = _sample(chosen, rows, options)
        some = None if len(sample.nearby) == rows else sample.nearby
        if options.discretise is not None:
            columns = tuple(binned(c, options.discretise, options.bins) for c in columns)
        ordered = sorted(columns, key=lambda column: column.name)
        attributes = tuple(attribute_of(column, some) for column in ordered)
        return cls(table, rows, options, selection, attributes, chosen, Cache(sample))

    @property
    def sample(self) -> Sample:
        """The rows by which contexts are screened."""
        return self.cache.sample

    @property
    def families(self) -> int:
        """How many columns of the table take part, each with what is derived from it."""
        return len({attribute.column.family for attribute in self.attributes})

    def lone_columns(self) -> tuple[tuple[int, str], ...]:
        """Return the columns in which a single row differs, by their places among all."""
        lone = lone_rows(self.table)
        families = sorted({attribute.column.family for attribute in self.attributes})
        return tuple((place, name) for place, name in enumerate(families) if name in lone)

    @property
    def is_large(self) -> bool:
        """Whether rows are left that were not drawn."""
        return len(self.sample.nearby) < self.rows

    def searched(
        self, row: int, progress: Progress | None = None, threads: int = 1
    ) -> tuple[Exact, Outcome]:
        """Search the pairs of one row of a table in memory."""
        exact = self.exact(row, progress)
        if self.options.search == "exhaustive":
            return exact, exhaustive(exact)
        top = self.options.top
        if self.sample.is_whole:
            return exact, next(guided_together([exact], self.cache, top, threads=threads))
        short = next(shortlisted_together([exact], self.cache, top, threads=threads))
        return exact, verified(short, exact, top)

    @property
    def goes_together(self) -> bool:
        """Whether several rows are searched faster together."""
        return self.options.search != "exhaustive" and can_be_together(self.options, self.sample)

    def screened_together(self, rows: Sequence[int], threads: int) -> list[Searching]:
        """Screen some rows together; return who does what is left of the search of each."""
        exacts = [self.exact(row) for row in rows]
        searches = searches_together(exacts, self.cache, threads=threads)
        if len(rows) >= _MANY:
            self._sort(threads)
        found = zip(exacts, searches, strict=True)
        return [functools.partial(self._finished, exact, search) for exact, search in found]

    def _sort(self, threads: int) -> None:
        """Sort all columns for many exact looks, before several processes do so."""
        kernel = compiled()
        if kernel is None:
            return
        looks = [self.cache.look(kernel, attribute.whole) for attribute in self.attributes]
        with mapping(threads) as mapped:
            for _ in mapped(lambda look: look.sort(), looks):
                pass

    def _finished(self, exact: Exact, search: GuidedSearch | QuickSearch) -> tuple[Exact, Outcome]:
        top = self.options.top
        if self.sample.is_whole:
            return exact, by_numpy(search.outcome, top)
        return exact, verified(by_numpy(search.shortlist, top), exact, top)

    def strongest(self, rows: Sequence[int]) -> Iterator[Strongest]:
        """Return what a quick search finds on rows of a table in memory."""
        if self.options.search == "exhaustive":
            yield from map(strongest_of, map(exhaustive, map(self.exact, rows)))
            return
        for search in self.quickly_screened(rows):
            yield search()

    def quickly_screened(
        self, rows: Sequence[int], threads: int = 1, progress: Progress | None = None
    ) -> list[Callable[[], Strongest]]:
        """Screen some rows together; return who does what is left of the quick search of each."""
        exacts = [self.exact(row) for row in rows]
        if exacts and progress is not None:
            exacts[0].progress = progress
        searches = searches_together(exacts, self.cache, quick=True, threads=threads)
        if len(rows) >= _MANY and self.is_large:
            self._sort(threads)
        found = zip(exacts, searches, strict=True)
        return [functools.partial(self._strongest, exact, search) for exact, search in found]

    def _strongest(self, exact: Exact, search: GuidedSearch | QuickSearch) -> Strongest:
        if not self.is_large:
            return strongest_of(by_numpy(search.outcome, 1))
        short = by_numpy(search.shortlist, 1)
        counted = Counted(exact, short, _InMemory(exact, short))
        return strongest_of(verified(short, counted, 1))

    def find_intervals(self, threads: int = 1) -> None:
        """Find the natural intervals of all columns, several at once."""
        with mapping(threads) as mapped:
            for _ in mapped(lambda item: item.find_intervals(self.options.seed), self.attributes):
                pass

    def exact(self, row: int, progress: Progress | None = None) -> Exact:
        """Make ready to score the pairs of a row by all rows, which are in memory."""
        properties, conditions = self.asked_of(row, progress)
        given = properties, conditions, self.rows, self.options, self.cache, progress
        kernel = compiled() if self.options.bandwidth == "fixed" else None
        return Exact(*given) if kernel is None else CompiledExact(kernel, *given)

    def _useful(self, conditions: list[CandidateCondition]) -> Iterator[CandidateCondition]:
        """Drop conditions that keep too few rows, or all: these say nothing.

        A few rows less may have been drawn; the exact look tells. A category of which too few rows
        were drawn to tell anything is a small group, to be read from the table itself.
        """
        known, least = len(self.sample.nearby), self.options.least_rows(self.rows)
        enough = self.sample.least_screened(least, 1) - limits.SAME_ROWS
        fewest = 0.0 if self.is_large else least - limits.SAME_ROWS
        for item in conditions:
            if not fewest <= item.rows < known:
                continue
            if self.sample.is_whole or self._screened(item, enough):
                yield item
            elif item.members is not None:
                yield dataclasses.replace(item, is_small=True)

    def _screened(self, item: CandidateCondition, enough: float) -> bool:
        """Return whether enough rows of a condition are among the screened ones."""
        expected = item.rows * len(self.sample.screened) / len(self.sample.nearby)
        if expected >= 2 * enough:
            return True
        return int(np.count_nonzero(item.test(self.sample.screened))) >= enough

    def asked_of(
        self, row: int, progress: Progress | None = None
    ) -> tuple[list[ObjectProperty], list[CandidateCondition]]:
        """Return the properties of a row and the conditions that it satisfies."""
        known = len(self.sample.nearby)
        properties = [ObjectProperty.of(item, row, self.options) for item in self.attributes]
        conditions: list[CandidateCondition] = []
        for place, attribute in enumerate(self.attributes):
            if progress is not None:  # the first object of a population waits for the mixtures
                progress(place, len(self.attributes))
            found = attribute.conditions(row, known, self.rows, self.options)
            conditions += self._useful(found)
        return properties, _with_few_small(conditions)


def _with_few_small(conditions: list[CandidateCondition]) -> list[CandidateCondition]:
    """Drop all but some of the small groups: those with the most rows, then by name."""
    small = [place for place, item in enumerate(conditions) if item.is_small]
    small.sort(key=lambda place: (-conditions[place].rows, place))
    dropped = set(small[limits.MOST_SMALL :])
    return [item for place, item in enumerate(conditions) if place not in dropped]


def _sample(rows: Rows, total: int, options: Options) -> Sample:
    """Choose the rows by which contexts are screened; all of a small table."""
    if total <= limits.SCREENED or options.exact or options.bandwidth == "adaptive":
        everything = np.arange(total)
        return Sample(total, everything, everything)
    if options.search == "exhaustive":  # nothing is screened
        return Sample(total, rows[: limits.SCREENED], np.arange(total))
    return Sample(total, rows[: limits.SCREENED], rows)


def strongest_of(outcome: Outcome) -> Strongest:
    """Return the strongest pair that reaches the threshold, and what to know beside it."""
    strength = max((hit.strength for hit in outcome.reported), default=-math.inf)
    glance = outcome.glance
    if glance is None or not outcome.reported:
        return Strongest(strength, strength, 0, 0.0 if glance is None else glance.surprise)
    return Strongest(strength, min(glance.rest, strength), glance.blamed, glance.surprise)


class Counted(Evaluation):
    """Scores by what is estimated to be typical, and by a true count of rows near the object."""

    def __init__(self, found: Evaluation, short: Shortlist, counter: Counter) -> None:
        super().__init__(found.properties, found.candidates, found.rows, found.options)
        self.found, self.estimates, self.counter = found, short.estimates, counter

    def measured(self, place: int, context: Context) -> tuple[int, Summary | None]:
        """Count the rows of a context and summarise a property there.

        What was not estimated, as the context is small, is computed.
        """
        estimate = self.estimates.get((place, context))
        if estimate is None:
            return self.found.measured(place, context)
        rows, known, near = self.counter(place, context)
        if not estimate.inside > 0 or not known or not near:
            return rows, None
        mean = density_at(estimate.inside * known, known, estimate.width)
        at_object = density_at(near, known, estimate.width)
        return rows, Summary(mean, at_object, estimate.unit, estimate.lift, estimate.scale, near)


class _InMemory:
    """Counts rows that are in memory."""

    def __init__(self, exact: Exact, short: Shortlist) -> None:
        self.exact, self.estimates = exact, short.estimates

    def __call__(self, place: int, context: Context) -> tuple[int, int, int]:
        """Count the rows of a context, those that have the property, those near the object."""
        exact, own = self.exact, self.exact.properties[place]
        rows, known = exact.cache.sizes(
            exact.key(place, context), lambda: exact.sizes(place, context)
        )
        scale = own.attribute.exponent - own.attribute.whole.exponent
        width = math.ldexp(2 * self.estimates[place, context].reach, scale)
        return rows, known, exact.near(place, context, width)
