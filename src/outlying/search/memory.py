"""A population in memory."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar

import numpy as np

from outlying.errors import SourceError
from outlying.kernel.library import compiled
from outlying.options import Options
from outlying.parallel import (
    in_order,
    processes_share_memory,
    usable_threads,
    usable_workers,
)
from outlying.search.batches import batches, most_at_once
from outlying.search.population import Searched, Searching, row_of
from outlying.search.prepared import Prepared
from outlying.search.references import References, Strongest, enough_rows
from outlying.search.scoring import Exact, Outcome, Progress, no_progress
from outlying.search.threads import Once
from outlying.table import row_hash
from outlying.table.asked import Asked
from outlying.table.columns import Rows
from outlying.table.derived.choosing import with_derived
from outlying.table.selection import Selection, as_declared, not_empty, select_any, with_object
from outlying.table.table import SkipReason, Table
from outlying.table.targets import Key, Target, Targets, targets_in

Result = TypeVar("Result")

_FINISHED = 16  # searches that a process does the rest of before it returns them
_MUCH = 4_096  # quick searches times columns: then what is left is worth other processes


class MemoryPopulation:
    """A table in memory, prepared once for all objects; several threads may share it."""

    def __init__(self, table: Table, options: Options, *, is_of_stream: bool = False) -> None:
        """Take a table; `is_of_stream` tells that a stream turned out to be so small.

        Then its columns are as declared already, and those left out are not there.
        """
        self.options, self.is_of_stream = options, is_of_stream
        self.table = table if is_of_stream else as_declared(table, options)
        if self.table.rows < 2:
            raise SourceError(
                f"{self.table.source} has one row only; a row is explained by comparing it with "
                "others, so at least two are needed"
            )
        self._once = Once()  # what can be made again is not copied to other processes

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
        counting = None
        if table is not self.table:
            skipped = self.selection().skipped
            counting = {item.name for item in skipped if item.why is SkipReason.ROW_NUMBER}
        return with_derived(select_any(table, self.options, counting), table, self.options)

    def targets(
        self,
        asked: Asked,
        progress: Progress | None = None,  # noqa: ARG002 - this takes no pass
        workers: int | None = None,  # noqa: ARG002
    ) -> Targets:
        """Find what is asked for, and check all of it."""
        return targets_in(self.table, self.options, asked)

    def searching(
        self, targets: Targets, workers: int | None, progress: Progress | None
    ) -> Searching:
        """Prepare the table once; return who searches the targets and finishes each."""
        if any(target.row is not None for target in targets):
            self._once("ready", lambda: self._make_ready(usable_threads(workers)))
        return functools.partial(self._each, targets.items, workers, progress)

    def _make_ready(self, threads: int) -> None:
        """Prepare the table before there are several processes.

        Compiled code finds the intervals of several columns at once; without it, that takes long
        enough for a search to tell how far it is.
        """
        if compiled() is None:
            _ = self.prepared
        else:
            self.prepared.find_intervals(threads)

    def _each(
        self,
        items: Sequence[Target],
        workers: int | None,
        progress: Progress | None,
        finish: Callable[[Searched], Result],
    ) -> Generator[Result, None, None]:
        if len(items) == 1:
            yield finish(self.searched(items[0], progress, usable_threads(workers)))
            return
        is_shared = processes_share_memory() or usable_workers(workers) == 1
        if not (is_shared and self._goes_together(items)):
            search = functools.partial(self._one_by_one, finish)
            yield from in_order(search, items, usable_workers(workers), row_of, most=1)
            return
        for some in batches(items, most_at_once(len(self.prepared.attributes))):
            yield from self._together(some, workers, finish)

    def _one_by_one(
        self, finish: Callable[[Searched], Result], items: Sequence[Target]
    ) -> Iterator[Result]:
        return map(finish, map(self.searched, items))

    def _goes_together(self, items: Sequence[Target]) -> bool:
        return all(item.row is not None for item in items) and self.prepared.goes_together

    def _together(
        self, items: Sequence[Target], workers: int | None, finish: Callable[[Searched], Result]
    ) -> Generator[Result, None, None]:
        """Screen some objects together, by threads, and finish each, by processes."""
        prepared, rows = self.prepared, [int(item.row or 0) for item in items]
        hashes = row_hashes(prepared, np.array(rows))
        screened = prepared.screened_together(rows, usable_threads(workers))

        def work(places: Sequence[int]) -> Iterator[Result]:
            for place in places:
                found, own = screened[place](), (rows[place], hashes[place])
                yield finish(self._described(prepared, items[place], *own, *found))

        places, workers = range(len(items)), usable_workers(workers)
        yield from in_order(work, places, workers, lambda place: row_of(items[place]), _FINISHED)

    def searched(
        self, target: Target, progress: Progress | None = None, threads: int = 1
    ) -> Searched:
        """Search one object; a new one joins the table as one more row."""
        if target.new is None:
            prepared, row = self.prepared, int(target.row or 0)
        else:
            table = with_object(self.table, target.new, self.options)
            selection, row = not_empty(self._selected(table)), self.table.rows
            prepared = Prepared.of(table, self.options, selection, has_new=True)
        own_hash = None if target.new is not None else row_hashes(prepared, np.array([row]))[0]
        found = prepared.searched(row, progress, threads)
        return self._described(prepared, target, row, own_hash, *found)

    def _described(
        self,
        prepared: Prepared,
        target: Target,
        row: int,
        own_hash: int | None,
        exact: Exact,
        outcome: Outcome,
    ) -> Searched:
        is_new, table = target.new is not None, prepared.table
        return Searched(
            row=None if is_new or target.key else row,
            key=target.key or (() if is_new else _name_of(prepared, row)),
            values=table.values(row) if target.values is None else target.values,
            row_hash=own_hash,
            table=table,
            rows=self.table.rows,
            selection=prepared.selection,
            attributes=prepared.attributes,
            sample=prepared.sample,
            is_streamed=self.is_of_stream,
            is_new=is_new,
            notes=table.notes,
            outcome=outcome,
            exact=exact,
        )

    def references(
        self, workers: int | None = None, progress: Progress | None = None
    ) -> References:
        """Search some rows, and one more, as an object may be among them; once."""
        return self._once("references", lambda: self._searched_references(workers, progress))

    def _searched_references(self, workers: int | None, progress: Progress | None) -> References:
        prepared = self.prepared
        is_large = not prepared.sample.is_whole
        count = enough_rows(len(prepared.attributes), is_large, self.options)
        rows = prepared.drawn[: count + 1]
        found = tuple(self.strongest(rows.tolist(), workers, progress))
        hashes = tuple(row_hashes(prepared, rows))
        lone = () if is_large else prepared.lone_columns()
        return References(found, hashes, count, prepared.families, lone)

    def strongest(
        self, rows: Sequence[int], workers: int | None = None, progress: Progress | None = None
    ) -> Iterator[Strongest]:
        """Return what a quick search finds on each of some rows."""
        prepared, told = self.prepared, progress or no_progress
        if not prepared.goes_together:
            work = in_order(prepared.strongest, rows, usable_workers(workers), int)
            with contextlib.closing(work) as searched:
                for done, found in enumerate(searched):
                    told(done, len(rows))
                    yield found
            return
        done, threads = 0, usable_threads(workers)
        for some in batches(rows, most_at_once(len(prepared.attributes), quick=True)):

            def tell(place: int, total: int, done: int = done, count: int = len(some)) -> None:
                told(done + count * place // total, len(rows))

            yield from self._strongest(prepared.quickly_screened(some, threads, tell), workers)
            done += len(some)

    def _strongest(
        self, screened: Sequence[Callable[[], Strongest]], workers: int | None
    ) -> Generator[Strongest, None, None]:
        """Do what is left of quick searches, of many rows by processes."""

        def work(places: Sequence[int]) -> Iterator[Strongest]:
            for place in places:
                yield screened[place]()

        much = len(screened) * len(self.prepared.attributes) > _MUCH
        is_shared = processes_share_memory() and much
        processes = usable_workers(workers) if is_shared else 1
        yield from in_order(work, range(len(screened)), processes, most=_FINISHED)

    def find_intervals(self) -> None:
        """Find the natural intervals of all columns."""
        self.prepared.find_intervals()


def _name_of(prepared: Prepared, row: int) -> Key:
    """Return the values of a row in columns that name rows."""
    skipped = prepared.selection.skipped
    names = [item.name for item in skipped if item.why is SkipReason.ROW_NUMBER]
    return tuple((name, prepared.table.column(name).value(row)) for name in names)


def row_hashes(prepared: Prepared, rows: Rows) -> list[int]:
    """Return the hashes of some rows by their compared values."""
    chosen = prepared.selection
    columns = [column.taken(rows) for column in (*chosen.columns, *chosen.derived)]
    return [int(number) for number in row_hash.row_hashes(columns, len(rows))]
