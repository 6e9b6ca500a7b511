"""explain() and Explainer: the pipeline as a few named steps.

source -> typed columns -> attributes made ready -> conditions of the object -> search -> findings
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from outlying import describe, sources
from outlying.bins import binned
from outlying.conditions import Condition
from outlying.describe import Premise, Trait
from outlying.errors import InfiniteValueError, OptionError, SourceError
from outlying.findings import Findings, Population
from outlying.guided import guided
from outlying.intervals import candidates
from outlying.many import Targets, Where, position
from outlying.notes import notes_on
from outlying.options import Options
from outlying.population import Attribute, CategoricalAttribute, NumericAttribute, attribute_of
from outlying.references import References, Yardstick, enough_rows
from outlying.sampling import drawn
from outlying.search import ROUNDING, Evaluation, Outcome, Progress, exhaustive
from outlying.selection import Selection, is_asked_for, optional, select
from outlying.shared import Shared
from outlying.shelf import Shelf
from outlying.table import Rows, Table, infinities_note, retyped, without_infinities
from outlying.values import value_of
from outlying.vicinity import Sample
from outlying.workers import in_order, usable_workers

#: Tables of more rows are screened by a sample of this many.
SCREENED = 2048
#: What is near the object is counted among this many.
NEARBY = 16_384


def explain(
    data: Any,
    *,
    row: int | None = None,
    object: Mapping[str, Any] | None = None,  # noqa: A002 - the word users know
    where: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Findings:
    """Explain why one row of a table, or a new object against it, is an outlier.

    `data` is a path to a CSV, TSV, Parquet or JSON lines file, a pandas, polars or Arrow table, a
    dict of arrays or a NumPy array. Name the row by its position from 0 (`row=`), by values that
    only it has (`where=`), or give a new object as a mapping of column to value (`object=`).
    Options are those of `outlying.Options`.
    """
    return Explainer(data, **options).explain(
        row=row, object=object, where=where, progress=progress
    )


def explain_many(
    data: Any,
    *,
    rows: Iterable[int] | None = None,
    where: Where | None = None,
    objects: Iterable[Mapping[str, Any]] | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Iterator[Findings]:
    """Explain many rows of a table, or many new objects against it; see Explainer.explain_many.

    `data` and the options are those of `explain`.
    """
    return Explainer(data, **options).explain_many(
        rows=rows, where=where, objects=objects, workers=workers, progress=progress
    )


class Explainer:
    """A population prepared once, to explain as many of its rows or new objects as wanted."""

    def __init__(self, data: Any, **options: Any) -> None:
        self.options = Options.of(**options)
        self.table = _typed(sources.read(data), self.options)
        if self.table.rows < 2:
            raise SourceError(
                f"{self.table.source} has one row only; a row is explained by comparing it with "
                "others, so at least two are needed"
            )
        self._ready: _Ready | None = None
        self._references: References | None = None

    @property
    def rows(self) -> int:
        """The number of rows of the population."""
        return self.table.rows

    def explain(
        self,
        *,
        row: int | None = None,
        object: Mapping[str, Any] | None = None,  # noqa: A002
        where: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> Findings:
        """Explain one row (by position or by values) or one new object."""
        if sum(given is not None for given in (row, object, where)) != 1:
            raise OptionError("name exactly one of row=, object= and where=")
        if object is not None:
            return self._alone(object, progress).compared_by(self._yardstick(None))
        place = self.table.find(where) if where is not None else position(self.table, row)
        return self._alone(place, progress).compared_by(self._yardstick(place))

    def _alone(self, target: int | Mapping[str, Any], progress: Progress | None = None) -> Findings:
        """Explain a row or a new object, without a comparison with ordinary rows."""
        if isinstance(target, int):
            return _findings(self._population(), target, progress)
        ready = _Ready.of(_with_object(self.table, target, self.options), self.options)
        return _findings(ready, self.table.rows, progress, is_new=True)

    def explain_many(
        self,
        *,
        rows: Iterable[int] | None = None,
        where: Where | None = None,
        objects: Iterable[Mapping[str, Any]] | None = None,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Findings]:
        """Explain many rows or new objects; each result is that of `explain`, in the order given.

        `rows` are positions from 0. One mapping as `where` stands for every row with these values;
        several name one row each. All are checked now; each is explained when it is asked for, or
        somewhat ahead of that by other processes: `workers` of them, by default one for each core.
        `progress` is told how many are done, of how many.
        """
        targets = Targets.of(self.table, self.options, rows=rows, where=where, objects=objects)
        return self._explained(targets, usable_workers(workers), progress)

    def _explained(
        self, targets: Targets, workers: int, progress: Progress | None
    ) -> Iterator[Findings]:
        if targets.rows is not None:
            self._population()  # once, before there are several processes
        items: Sequence[Any] = targets.rows or targets.objects or ()
        for done, findings in enumerate(in_order(self._alone, items, workers), start=1):
            if progress is not None:
                progress(done, len(items))
            yield findings.compared_by(self._yardstick(findings.row))

    def prepare(self, progress: Progress | None = None, workers: int | None = None) -> None:
        """Explain the reference rows now, not when a confidence is first asked for."""
        yardstick = self._yardstick(None)
        if yardstick is not None:
            yardstick.references.found(progress, workers)

    def strengths(
        self, *, workers: int | None = None, progress: Progress | None = None
    ) -> npt.NDArray[np.float64]:
        """Give the strength of the strongest finding of each row, 0 where there is none.

        Every row is searched, which takes some ten milliseconds each, more in wide tables.
        """
        rows = range(self.table.rows)
        found = np.zeros(self.table.rows)
        self._population()  # once, before there are several processes
        with contextlib.closing(in_order(self._strongest, rows, usable_workers(workers))) as work:
            for row, strength in enumerate(work):
                found[row] = max(0.0, strength)
                if progress is not None:
                    progress(row + 1, len(rows))
        return found

    def find_intervals(self) -> None:
        """Find the natural intervals of all columns now, not when a row is first explained."""
        for attribute in self._population().attributes:
            if isinstance(attribute, NumericAttribute) and not attribute.is_constant:
                attribute.segments(self.options.seed)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be prepared again, where another process needs a copy."""
        return self.__dict__ | {"_ready": None, "_references": None}

    def _population(self) -> _Ready:
        if self._ready is None:
            self._ready = _Ready.of(self.table, self.options)
        return self._ready

    def _yardstick(self, row: int | None) -> Yardstick | None:
        """Compare with reference rows, the same for all objects; None where none are wanted."""
        if self.options.references == 0:
            return None
        if self._references is None:
            self._references = References(self._reference_rows, self._strongest, self._copies)
        return Yardstick(self._references, row)

    def _reference_rows(self) -> tuple[list[int], int]:
        """Choose the rows to compare with, and one more, as an object may be among them."""
        ready = self._population()
        is_large = not ready.shelf.sample.is_whole
        count = enough_rows(len(ready.attributes), is_large, self.options)
        return [int(row) for row in ready.drawn[: count + 1]], count

    def _copies(self, row: int, rows: Sequence[int]) -> list[int]:
        """Give those of some rows that hold the same values as a row."""
        places = np.array(rows, dtype=np.int64)
        for column in self._population().selection.columns:
            places = places[column.same(row, places)]
        return [int(place) for place in places]

    def _strongest(self, row: int) -> float:
        """Give the strength of the strongest pair of a row."""
        _, outcome = _searched(self._population(), row, only_strongest=True)
        return max((hit.strength for hit in outcome.best), default=-math.inf)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Ready:
    """A table whose columns are chosen and prepared."""

    table: Table
    options: Options
    selection: Selection
    attributes: tuple[Attribute, ...]  # by name, so that the order of columns decides nothing
    drawn: Rows  # some rows, in the order in which they were drawn
    shelf: Shelf
    shared: Shared

    @classmethod
    def of(cls, table: Table, options: Options) -> _Ready:
        selection = select(table, options)
        columns = (binned(c, options.discretise, options.bins) for c in selection.columns)
        ordered = sorted(columns, key=lambda column: column.name)
        attributes = tuple(attribute_of(column) for column in ordered)
        asked = [column for column in table.columns if is_asked_for(column.name, options)]
        rows = drawn(asked, table.rows, NEARBY)
        shelf = Shelf(_sample(rows, table.rows, options))
        return cls(table, options, selection, attributes, rows, shelf, Shared())


def _sample(rows: Rows, total: int, options: Options) -> Sample:
    """Choose the rows by which contexts are screened; all of a small table."""
    if total <= SCREENED or options.exact or options.bandwidth == "adaptive":
        everything = np.arange(total)
        return Sample(total, everything, everything)
    return Sample(total, rows[:SCREENED], rows)


def _typed(table: Table, options: Options) -> Table:
    """Apply the user's types, and refuse infinite values or count them as missing."""
    wanted = dict(options.types)
    for name in (*wanted, *options.exclude, *(options.columns or ())):
        if name not in [skipped.name for skipped in table.skipped]:
            table.column(name)
    columns = [
        retyped(column, wanted[column.name]) if column.name in wanted else column
        for column in table.columns
    ]
    return _finite(dataclasses.replace(table, columns=tuple(columns)), options)


def _finite(table: Table, options: Options) -> Table:
    """Refuse infinite values in what is compared, or count them as missing and say so."""
    columns, notes = [], list(table.notes)
    for column in table.columns:
        kept, count = column, 0
        if is_asked_for(column.name, options):
            as_missing = options.infinite == "missing"
            kept, count = without_infinities(column, as_missing=as_missing)
        if count:
            notes.append(infinities_note(column.name, count))
        columns.append(kept)
    return dataclasses.replace(table, columns=tuple(columns), notes=tuple(notes))


def _with_object(table: Table, values: Mapping[str, Any], options: Options) -> Table:
    joined = table.with_object(values, optional(table, options))
    try:
        return _finite(joined, options)
    except InfiniteValueError as error:  # all rows but the last one are known to be finite
        raise InfiniteValueError(error.column, None) from None


def _findings(
    ready: _Ready, row: int, progress: Progress | None, *, is_new: bool = False
) -> Findings:
    options, rows = ready.options, ready.table.rows
    exact, outcome = _searched(ready, row, progress)
    pairs = describe.best_pairs(outcome.best, exact, options.top)
    return Findings(
        row=None if is_new else row,
        values=tuple(ready.table.values(row).items()),
        population=Population(
            ready.table.source,
            rows - 1 if is_new else rows,
            tuple(column.name for column in ready.selection.columns),
            ready.selection.skipped,
        ),
        options=options,
        pairs=tuple(pairs),
        found=outcome.found,
        notes=(
            *ready.table.notes,
            *notes_on(outcome, ready.attributes, ready.shelf.sample, options),
            *(["The new object joined the population as one more row."] if is_new else []),
        ),
        effort=outcome.effort,
    )


def _searched(
    ready: _Ready, row: int, progress: Progress | None = None, *, only_strongest: bool = False
) -> tuple[Evaluation[Trait, Premise], Outcome]:
    """Search the pairs of one row."""
    options, rows = ready.options, ready.table.rows
    traits = [_trait(attribute, row, options) for attribute in ready.attributes]
    premises: list[Premise] = []
    for place, attribute in enumerate(ready.attributes):
        if progress is not None:  # the first object of a population waits for the mixtures
            progress(place, len(ready.attributes))
        premises += _useful(_premises(attribute, row, rows, options), rows, options)
    exact = Evaluation(traits, premises, rows, options, ready.shared, progress)
    if options.search == "exhaustive":
        return exact, exhaustive(exact)
    if only_strongest:
        return exact, guided(exact, ready.shelf, 1, is_hasty=True)
    return exact, guided(exact, ready.shelf, options.top)


def _trait(attribute: Attribute, row: int, options: Options) -> Trait:
    """Give the property of the object in an attribute: its value, or that it has none."""
    if attribute.column.is_missing(row):
        attribute = attribute.missingness
    return Trait(attribute.column.name, attribute, row, options)


def _premises(attribute: Attribute, row: int, rows: int, options: Options) -> list[Premise]:
    """Give the conditions of one attribute that the object satisfies, from fine to coarse."""
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
        for low, high in candidates(attribute.sorted, found, value, rows, options)
    ]


def _useful(premises: list[Premise], rows: int, options: Options) -> list[Premise]:
    """Drop conditions that keep too few rows, or all: these say nothing."""
    least = options.min_support * rows - ROUNDING
    return [premise for premise in premises if least <= premise.group < rows]


def _interval_premise(attribute: NumericAttribute, low: float, high: float) -> Premise:
    form = attribute.column.form
    ends = [value_of(form, attribute.unscaled(bound)) for bound in (low, high)]
    condition = Condition(attribute.column.name, "interval", low=ends[0], high=ends[1])
    test = functools.partial(attribute.between, low, high)
    return Premise(condition, attribute.rows_between(low, high), test)
