"""A population in memory."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from outlying.errors import SourceError
from outlying.options import Options
from outlying.parallel import in_order, usable_workers
from outlying.search.population import Searched
from outlying.search.prepared import Prepared
from outlying.search.references import References, Strongest, enough_rows
from outlying.search.scoring import Progress
from outlying.search.threads import Once
from outlying.table import row_hash
from outlying.table.columns import Rows
from outlying.table.selection import Selection, as_declared, select_any, with_object
from outlying.table.table import Table
from outlying.table.targets import Asked, Target, Targets, targets_in


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
        return self._once("prepared", lambda: Prepared.of(self.table, self.options))

    def count(self) -> int:
        """Return the number of rows."""
        return self.table.rows

    def selection(self) -> Selection:
        """Return which columns take part, be it none."""
        return select_any(self.table, self.options)

    def targets(
        self,
        asked: Asked,
        progress: Progress | None = None,  # noqa: ARG002 - this takes no pass
        workers: int | None = None,  # noqa: ARG002
    ) -> Targets:
        """Find what is asked for, and check all of it."""
        return targets_in(self.table, self.options, asked)

    def searching(
        self,
        targets: Targets,
        workers: int,  # noqa: ARG002 - processes are the caller's
        progress: Progress | None,
    ) -> Callable[[Target], Searched]:
        """Prepare the table once, before there are several processes."""
        if any(target.row is not None for target in targets):
            _ = self.prepared
        alone = progress if len(targets) == 1 else None
        return functools.partial(self.searched, progress=alone)

    def searched(self, target: Target, progress: Progress | None = None) -> Searched:
        """Search one object; a new one joins the table as one more row."""
        if target.new is not None:
            return self._searched_new(target.new, progress)
        return self._searched(self.prepared, target, int(target.row or 0), progress)

    def _searched_new(self, new: Mapping[str, Any], progress: Progress | None) -> Searched:
        table = with_object(self.table, new, self.options)
        prepared = Prepared.of(table, self.options, has_new=True)
        return self._searched(prepared, Target(new=new), self.table.rows, progress)

    def _searched(
        self, prepared: Prepared, target: Target, row: int, progress: Progress | None
    ) -> Searched:
        exact, outcome = prepared.searched(row, progress)
        is_new, table = target.new is not None, prepared.table
        return Searched(
            row=None if is_new or target.key else row,
            key=target.key,
            values=table.values(row) if target.values is None else target.values,
            row_hash=None if is_new else row_hashes(prepared, np.array([row]))[0],
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
        count = usable_workers(workers)
        return self._once("references", lambda: self._searched_references(count, progress))

    def _searched_references(self, workers: int, progress: Progress | None) -> References:
        prepared = self.prepared
        is_large = not prepared.sample.is_whole
        count = enough_rows(len(prepared.attributes), is_large, self.options)
        rows = prepared.drawn[: count + 1]
        found = []
        with contextlib.closing(in_order(self.strongest, rows.tolist(), workers)) as work:
            for done in range(len(rows)):
                if progress is not None:
                    progress(done, len(rows))
                found.append(next(work))
        hashes = tuple(row_hashes(prepared, rows))
        return References(tuple(found), hashes, count, len(prepared.attributes))

    def strongest(self, row: int) -> Strongest:
        """Return what a quick search finds on a row."""
        return self.prepared.strongest(row)

    def find_intervals(self) -> None:
        """Find the natural intervals of all columns."""
        for attribute in self.prepared.attributes:
            attribute.find_intervals(self.options.seed)


def row_hashes(prepared: Prepared, rows: Rows) -> list[int]:
    """Return the hashes of some rows by their compared values."""
    columns = [column.taken(rows) for column in prepared.selection.columns]
    return [int(number) for number in row_hash.row_hashes(columns, len(rows))]
