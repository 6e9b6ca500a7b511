"""A table in memory whose rows are explained by the paper's method."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NoReturn

from outlying.errors import OptionError
from outlying.method.intervals import Segments, segments
from outlying.options import Options, PaperOptions
from outlying.parallel import in_order, usable_workers
from outlying.parsing.columns import with_object
from outlying.reference.formulas import binned
from outlying.reference.search import Scores, minimal_pairs
from outlying.search.attributes import Attribute, NumericAttribute, attribute_of
from outlying.search.memory import MemoryPopulation
from outlying.search.population import Result, Searched, Searching, row_of
from outlying.search.scoring import Progress, no_progress
from outlying.table.selection import Selection, check_width, not_empty
from outlying.table.table import Table
from outlying.table.targets import Target, Targets


class PaperPopulation(MemoryPopulation):
    """The population DB; all its rows are compared, and none is judged beforehand."""

    def prepare(self, workers: int | None = None, progress: Progress | None = None) -> None:  # noqa: ARG002
        """Find the natural intervals of all columns now, not when a row is first explained."""
        _ = self.ready

    def standing(self, workers: int | None = None, progress: Progress | None = None) -> NoReturn:  # noqa: ARG002
        """Refuse: the paper judges one object, not all rows."""
        raise OptionError(
            'rows are judged by the default search only; leave preset="paper" (--preset paper) out'
        )

    def scores(self, workers: int | None = None, progress: Progress | None = None) -> NoReturn:
        """Refuse, as above."""
        self.standing(workers, progress)

    def searching(
        self, targets: Targets, workers: int | None, progress: Progress | None
    ) -> Searching:
        """Return who searches the targets and finishes each."""
        told = progress if len(targets) == 1 else None
        return functools.partial(self._all, targets.items, workers, told)

    def _all(
        self,
        items: Sequence[Target],
        workers: int | None,
        progress: Progress | None,
        finish: Callable[[Searched], Result],
    ) -> Generator[Result, None, None]:
        if any(item.new is None for item in items):
            self.prepare()  # before there are several processes
        work = functools.partial(self._finished_by, finish, progress)
        yield from in_order(work, items, usable_workers(workers), row_of, most=1)

    def _finished_by(
        self,
        finish: Callable[[Searched], Result],
        progress: Progress | None,
        items: Sequence[Target],
    ) -> Iterator[Result]:
        return (finish(self.searched(item, progress)) for item in items)

    @property
    def ready(self) -> PaperTable:
        """The table made ready, once."""
        return self._once(
            "paper", lambda: PaperTable(self.table, not_empty(self.selection()), self.options)
        )

    def searched(self, target: Target, progress: Progress | None = None) -> Searched:
        """Search one object; a new one joins the population as one more row."""
        is_new, row, ready = target.new is not None, int(target.row or 0), None
        if target.new is not None:
            table = with_object(self.table, target.new, self.options)
            ready = PaperTable(table, not_empty(self._selected(table)), self.options)
            row = self.table.rows
        found = ready or self.ready
        scores = Scores(found.attributes, found.segments, row, found.table.rows, self.options)
        return Searched(
            row=None if is_new or target.key else row,
            key=target.key,
            values=found.table.values(row) if target.values is None else target.values,
            table=found.table,
            rows=self.table.rows,
            selection=found.selection,
            attributes=found.attributes,
            is_streamed=False,
            is_new=is_new,
            notes=found.table.notes,
            outcome=minimal_pairs(scores, progress or no_progress),
            exact=scores,
        )


class PaperTable:
    """A table with its columns chosen, cut into bins if that is asked for, and segmented."""

    def __init__(self, table: Table, selection: Selection, options: Options) -> None:
        paper = options.paper or PaperOptions()
        columns = (*selection.columns, *selection.derived)
        check_width(len(columns))
        made = (binned(column, paper.discretise, paper.bins) for column in columns)
        self.table, self.selection = table, selection
        self.attributes: tuple[Attribute, ...] = tuple(
            attribute_of(column) for column in sorted(made, key=lambda column: column.name)
        )
        self.segments: dict[str, Segments] = {
            item.column.name: segments(item.sorted, paper.seed)
            for item in self.attributes
            if isinstance(item, NumericAttribute) and not item.is_constant
        }
