"""A table in memory made ready to be judged, and the population that it is."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

import numpy as np

from outlying.derived.choosing import with_derived, with_relations
from outlying.errors import SourceError
from outlying.options import Options
from outlying.parallel import in_order, usable_workers
from outlying.parsing.columns import as_declared, with_object
from outlying.search.cells import Attribute, LazyValues, Numbers, attribute_of
from outlying.search.evaluation import Evaluation, Exact, Groups, Outcome, Progress
from outlying.search.evidence import Claims, Evidence, Standing, claims
from outlying.search.model import BATCH, MOST_ROWS, Model, numbers_of
from outlying.table.columns import Floats, Rows
from outlying.table.row_hash import sample_rows
from outlying.table.selection import (
    Selection,
    check_width,
    compared,
    not_empty,
    select_any,
)
from outlying.table.table import SkipReason, Table
from outlying.table.targets import Key, RowRequest, Target, Targets, targets_in
from outlying.table.values import Value

Result = TypeVar("Result")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """An object that has been searched: what was found, and who measures it for a description."""

    row: int | None  # its position; None for a new object, and where rows have none
    key: Key
    values: Mapping[str, Value]
    table: Table  # the rows that are held in memory
    rows: int  # of the population, without a new object
    selection: Selection
    attributes: Sequence[Attribute]
    is_streamed: bool
    is_new: bool
    notes: tuple[str, ...]  # on the table and the object
    outcome: Outcome
    exact: Evaluation
    standing: Standing | None = None  # None where rows are not judged, as by the paper


class Searching(Protocol):
    """Searches objects, in order; what is done with each is told, and may be done by threads."""

    def __call__(self, finish: Callable[[Searched], Result]) -> Generator[Result, None, None]:
        """Return what `finish` makes of each object."""
        raise NotImplementedError


def row_of(target: Target) -> int | None:
    """Return the position of what was asked for, where it has one."""
    return target.row


class Searchable(Protocol):
    """What rows are compared with."""

    @property
    def options(self) -> Options:
        """How rows are explained."""

    @property
    def table(self) -> Table:
        """Its columns; with all rows where it is in memory, without any where it is a stream."""

    @property
    def is_streamed(self) -> bool:
        """Whether every question is a pass over all rows."""

    def count(self) -> int:
        """Return the number of rows, which may take a pass."""

    def selection(self) -> Selection:
        """Return which columns take part, which may take a pass."""

    def targets(
        self, asked: RowRequest, progress: Progress | None = None, workers: int | None = None
    ) -> Targets:
        """Find what is asked for, and check all of it."""

    def searching(
        self, targets: Targets, workers: int | None, progress: Progress | None
    ) -> Searching:
        """Do what these objects have in common, and return who searches and finishes each."""

    def standing(self, workers: int | None, progress: Progress | None) -> Standing:
        """Return how strong findings are on the rows of the population, judged once."""


_AT_ONCE = 4_096  # rows whose evidence is put together at once
_FINISHED = 16  # rows that a process evaluates before it returns them


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A table whose columns are chosen and prepared."""

    table: Table
    options: Options
    selection: Selection
    attributes: tuple[Attribute, ...]  # by name, so that the order of columns decides nothing
    drawn: Rows | None  # the rows that the model is made of, ascending; None for all
    total: int  # rows that these stand for
    _once: LazyValues = dataclasses.field(default_factory=LazyValues)

    @classmethod
    def of(
        cls,
        table: Table,
        options: Options,
        selection: Selection,
        *,
        has_new: bool = False,
        total: int | None = None,
    ) -> Prepared:
        """Prepare chosen columns; of a large table, rows are drawn by what they hold.

        They are drawn without a new object, which is its last row, and this one joins them.
        `total` says how many rows there are where the table itself was drawn of them.
        """
        columns = (*selection.columns, *selection.derived)
        check_width(len(columns))
        drawn = None
        if table.rows > MOST_ROWS and not options.exact:
            known = table.rows - has_new
            asked = (column.first(known) for column in compared(table, options))
            rows = np.sort(sample_rows(asked, known, MOST_ROWS))
            drawn = np.append(rows, known) if has_new else rows
        ordered = sorted(columns, key=lambda column: column.name)
        attributes = tuple(attribute_of(column, drawn) for column in ordered)
        return cls(table, options, selection, attributes, drawn, total or table.rows)

    def model(self, threads: int = 1) -> Model:
        """Return what rows are judged by, made once."""
        given = self.attributes, self.drawn, self.total, self.options, threads
        return self._once("model", lambda: Model(*given))

    def evidence(self, threads: int = 1, progress: Progress | None = None) -> Evidence:
        """Return what counts against the rows of the model, judged once."""
        return self._once("evidence", lambda: self._judged(self.model(threads), progress))

    @staticmethod
    def _judged(model: Model, progress: Progress | None) -> Evidence:
        model.progress = progress  # of whoever waits for it, also if another one has given up
        return model.evidence

    def standing(self, threads: int = 1, progress: Progress | None = None) -> Standing:
        """Return how strong findings are on the rows of the model, judged once."""
        return self._once("standing", lambda: self._compared(self.model(threads), progress))

    @staticmethod
    def _compared(model: Model, progress: Progress | None) -> Standing:
        model.progress = progress
        return model.standing

    @property
    def groups(self) -> Groups:
        """The rows of the table by the conditions of the model."""
        return self._once("groups", lambda: Groups(self.attributes, self.model()))

    def evidence_of(
        self, rows: Rows, threads: int = 1, progress: Progress | None = None
    ) -> Evidence:
        """Return what counts against some rows, whether or not the model is made of them."""
        if self.drawn is None:
            return self.evidence(threads, progress).of_rows(rows)
        numbers = [numbers_of(item, rows) for item in self.attributes]
        return self.model(threads).judged(numbers, progress)

    def all_evidence(
        self, threads: int = 1, progress: Progress | None = None
    ) -> Iterator[tuple[Rows, Evidence]]:
        """Return what counts against all rows, some of them at a time."""
        if self.drawn is None:
            yield np.arange(self.table.rows), self.evidence(threads, progress)
            return
        for start in range(0, self.table.rows, BATCH):
            rows = np.arange(start, min(start + BATCH, self.table.rows))
            yield rows, self.evidence_of(rows, threads, progress)

    def knows(self, other: Prepared, row: int) -> bool:
        """Return whether a row of the same table with a new object can be judged by this model.

        It cannot where other columns take part then, or where it is the first to lack a value.
        """
        if len(self.attributes) != len(other.attributes):
            return False
        pairs = zip(self.attributes, other.attributes, strict=True)
        return all(knows_column(own, new, row) for own, new in pairs)

    def numbers_of(self, other: Prepared, row: int) -> list[Numbers]:
        """Return the numbers of a row of another table on the scales of this one."""
        pairs = zip(self.attributes, other.attributes, strict=True)
        return [own.number_of(new.column, row) for own, new in pairs]


def knows_column(own: Attribute, new: Attribute, row: int) -> bool:
    """Return whether a model with one attribute can judge a row of the same with a new object.

    That a derived column has no value is no property: its own columns say it.
    """
    if (own.column.name, own.kind) != (new.column.name, new.kind):
        return False
    is_derived = own.column.origin is not None
    return is_derived or not new.column.is_missing(row) or bool(own.column.missing().any())


class MemoryPopulation:
    """A table in memory, prepared once for all objects; several threads may share it."""

    def __init__(self, table: Table, options: Options, *, is_of_stream: bool = False) -> None:
        """Take a table; `is_of_stream` tells that a stream turned out to be so small.

        Then its columns are as declared already, and those left out are not there.
        """
        self.options, self.is_of_stream = options, is_of_stream
        self.table = table if is_of_stream else as_declared(table, options)
        self.yardstick = self.table  # what rows are compared with, and named as
        if self.table.rows < 2:
            raise SourceError(
                f"{self.table.source} has one row only; a row is explained by comparing it with "
                "others, so at least two are needed"
            )
        self._once = LazyValues()  # what can be made again is not copied to other processes

    is_streamed = False

    @property
    def prepared(self) -> Prepared:
        """The table with its columns chosen and its attributes made ready."""
        return self._once("prepared", self._prepared)

    def _prepared(self) -> Prepared:
        return Prepared.of(self.table, self.options, not_empty(self.selection()))

    def count(self) -> int:
        """Return the number of rows."""
        return self.table.rows

    def selection(self) -> Selection:
        """Return which columns take part, be it none."""
        return self._once("selection", lambda: self._selected(self.table))

    def _selected(self, table: Table) -> Selection:
        """Choose columns; of a table with a new object, row numbers are those of the others."""
        counting, known = None, None
        if table is not self.table:
            skipped = self.selection().skipped
            counting = {item.name for item in skipped if item.why is SkipReason.ROW_NUMBER}
            known = self.selection().relations
        chosen = with_derived(select_any(table, self.options, counting), table, self.options)
        return with_relations(chosen, table, self.options, MOST_ROWS, known)

    def targets(
        self,
        asked: RowRequest,
        progress: Progress | None = None,  # noqa: ARG002 - this takes no pass
        workers: int | None = None,  # noqa: ARG002
    ) -> Targets:
        """Find what is asked for, and check all of it."""
        return targets_in(self.table, self.options, asked)

    def standing(self, workers: int | None = None, progress: Progress | None = None) -> Standing:
        """Judge the rows of the table, once: how strong findings are on them."""
        return self.prepared.standing(usable_workers(workers), progress)

    def prepare(self, workers: int | None = None, progress: Progress | None = None) -> None:
        """Do what all objects have in common."""
        self.standing(workers, progress)

    @property
    def _is_compared(self) -> bool:
        """Whether any column takes part, be it by its parts alone."""
        return bool(self.selection().columns or self.selection().derived)

    def searching(
        self, targets: Targets, workers: int | None, progress: Progress | None
    ) -> Searching:
        """Make the model once; return who searches the targets and finishes each."""
        told = progress if len(targets) == 1 else None
        standing = self.standing(workers, told) if self._is_compared else None
        return functools.partial(self._each, targets.items, standing, workers, told)

    def _each(
        self,
        items: Sequence[Target],
        standing: Standing | None,
        workers: int | None,
        progress: Progress | None,
        finish: Callable[[Searched], Result],
    ) -> Generator[Result, None, None]:
        """Put the evidence against rows together, some at a time; finish each, by processes."""
        threads = usable_workers(workers)
        work = functools.partial(self._finished, finish, standing, threads, progress)
        for start in range(0, len(items), _AT_ONCE):
            some = items[start : start + _AT_ONCE]
            found = self._claims(some, threads, progress)
            pairs = list(zip(some, found, strict=True))
            most = 1 if any(item.new is not None for item in some) else _FINISHED
            yield from in_order(
                work, pairs, usable_workers(workers), lambda pair: row_of(pair[0]), most
            )

    def _claims(
        self, items: Sequence[Target], threads: int, progress: Progress | None
    ) -> list[Claims | None]:
        """Return what is to be told of rows; None for a new object, which is judged later."""
        rows = [item.row for item in items if item.row is not None]
        if not rows:
            return [None] * len(items)
        found = iter(claims(self.prepared.evidence_of(np.array(rows), threads, progress)))
        return [None if item.row is None else next(found) for item in items]

    def _finished(
        self,
        finish: Callable[[Searched], Result],
        standing: Standing | None,
        threads: int,
        progress: Progress | None,
        pairs: Sequence[tuple[Target, Claims | None]],
    ) -> Iterator[Result]:
        for target, told in pairs:
            if told is None or standing is None:
                yield finish(self._new(target, standing, threads, progress))
            else:
                exact = Exact(self.prepared.groups, int(target.row or 0), told)
                yield finish(self._searched(self.prepared, target, exact, standing))

    def _new(
        self, target: Target, standing: Standing | None, threads: int, progress: Progress | None
    ) -> Searched:
        """Judge a new object by the model of the table, or by one of which it is a row itself."""
        table, row = with_object(self.table, target.new or {}, self.options), self.table.rows
        selection = not_empty(self._selected(table))
        joined = Prepared.of(table, self.options, selection, has_new=True)
        if standing is not None and self.prepared.knows(joined, row):
            model = self.prepared.model(threads)
            evidence = model.judged(self.prepared.numbers_of(joined, row), progress)
            groups = Groups(joined.attributes, model, self.prepared.groups)
        else:
            evidence = joined.evidence_of(np.array([row]), threads, progress)
            groups, standing = joined.groups, joined.standing(threads, progress)
        exact = Exact(groups, row, claims(evidence)[0])
        return self._searched(joined, target, exact, standing)

    def _searched(
        self, prepared: Prepared, target: Target, exact: Exact, standing: Standing
    ) -> Searched:
        is_new, table, row = target.new is not None, prepared.table, exact.row
        return Searched(
            row=None if is_new or target.key else row,
            key=target.key,
            values=table.values(row) if target.values is None else target.values,
            table=dataclasses.replace(table, notes=self.table.notes),  # others are on the object
            rows=self.table.rows,
            selection=prepared.selection,
            attributes=prepared.attributes,
            standing=standing,
            is_streamed=self.is_of_stream,
            is_new=is_new,
            notes=table.notes,
            outcome=exact.outcome(),
            exact=exact,
        )

    def scores(
        self, workers: int | None = None, progress: Progress | None = None
    ) -> tuple[Floats, Floats]:
        """Return of each row its strength, and how much counts against all of it together."""
        strengths, combinations = np.zeros((2, self.table.rows))
        for rows, found in self.prepared.all_evidence(usable_workers(workers), progress):
            strengths[rows] = found.strongest
            combinations[rows] = found.combination
        return strengths, combinations

    def usual_combinations(self) -> Floats | None:
        """Return the second scores of other rows that these are compared with; None: their own."""
        return None
