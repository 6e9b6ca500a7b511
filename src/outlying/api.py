"""explain() and Explainer: the pipeline as a few named steps.

source -> typed columns -> attributes made ready -> conditions of the object -> search -> findings
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt

from outlying import sources
from outlying.errors import InfiniteValueError, OptionError, RowError, SourceError
from outlying.options import Engine, Options, check_choice
from outlying.parallel import in_order, usable_workers
from outlying.results import assembly as describe
from outlying.results.findings import Findings, Population, population_of
from outlying.results.notes import JOINED, notes_on
from outlying.search.attributes import NumericAttribute
from outlying.search.prepared import Prepared
from outlying.search.references import References, Yardstick, enough_rows
from outlying.search.scoring import Progress
from outlying.stream.wanted import Wanted
from outlying.table.columns import infinities_note, retyped, without_infinities
from outlying.table.selection import is_asked_for, optional
from outlying.table.table import Table
from outlying.table.targets import Targets, Where, items, position

if TYPE_CHECKING:
    from outlying.stream.opening import Stream


def explain(
    data: Any,
    *,
    row: int | None = None,
    object: Mapping[str, Any] | None = None,  # noqa: A002 - the word users know
    where: Mapping[str, Any] | None = None,
    engine: Engine = "auto",
    progress: Progress | None = None,
    **options: Any,
) -> Findings:
    """Explain why one row of a table, or a new object against it, is an outlier.

    `data` is a path to a CSV, TSV, Parquet or JSON lines file, a pandas, polars or Arrow table, a
    dict of arrays or a NumPy array; or what is read as a stream because it may outgrow memory: a
    folder or pattern of files, a DuckDB relation, a polars LazyFrame, a Spark DataFrame, or what
    `outlying.scan` gives. `engine` says which way a file is read. Name the row by its position from
    0 (`row=`), by values that only it has (`where=`), or give a new object as a mapping of column
    to value (`object=`). Options are those of `outlying.Options`.
    """
    return Explainer(data, engine=engine, **options).explain(
        row=row, object=object, where=where, progress=progress
    )


def explain_many(
    data: Any,
    *,
    rows: Iterable[int] | None = None,
    where: Where | None = None,
    objects: Iterable[Mapping[str, Any]] | None = None,
    engine: Engine = "auto",
    workers: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Iterator[Findings]:
    """Explain many rows of a table, or many new objects against it; see Explainer.explain_many.

    `data` and the options are those of `explain`.
    """
    return Explainer(data, engine=engine, **options).explain_many(
        rows=rows, where=where, objects=objects, workers=workers, progress=progress
    )


class Explainer:
    """A population prepared once, to explain as many of its rows or new objects as wanted."""

    def __init__(self, data: Any, *, engine: Engine = "auto", **options: Any) -> None:
        self.options = Options.of(**options)
        self._ready: Prepared | None = None
        self._references: References | None = None
        self._is_of_stream = False  # whether all rows of a stream are this table
        self._stream = _stream(data, engine, self.options)
        if self._stream is not None:
            self.table: Table = self._stream.table
            return
        self.table = _typed(sources.read(data), self.options)
        if self.table.rows < 2:
            raise SourceError(
                f"{self.table.source} has one row only; a row is explained by comparing it with "
                "others, so at least two are needed"
            )

    @property
    def rows(self) -> int:
        """The number of rows of the population."""
        return self.table.rows

    @property
    def population(self) -> Population:
        """What rows are compared with, before any is."""
        return population_of(self.table, self.options)

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
        if self._stream is not None:
            if row is not None:
                raise self._no_positions()
            wanted = Wanted(where) if object is None else Wanted(objects=[object])
            return self._streamed(self._stream, wanted, None, progress)[0]
        if object is not None:
            return self._alone(object, progress).compared_by(self._yardstick(None))
        place = self.table.find(where) if where is not None else position(self.table, row)
        return self._alone(place, progress).compared_by(self._yardstick(place))

    def _alone(self, target: int | Mapping[str, Any], progress: Progress | None = None) -> Findings:
        """Explain a row or a new object, without a comparison with ordinary rows."""
        if isinstance(target, int):
            return self._findings(self._population(), target, progress)
        table = _with_object(self.table, target, self.options)
        ready = Prepared.of(table, self.options, has_new=True)
        return self._findings(ready, self.table.rows, progress, is_new=True)

    def _findings(
        self, ready: Prepared, row: int, progress: Progress | None, *, is_new: bool = False
    ) -> Findings:
        options, rows, sample = ready.options, ready.table.rows, ready.shelf.sample
        exact, outcome = ready.searched(row, progress)
        pairs = describe.best_pairs(outcome.best, exact, options.top)
        return Findings(
            row=None if is_new else row,
            values=tuple(ready.table.values(row).items()),
            population=Population(
                ready.table.source,
                rows - 1 if is_new else rows,
                tuple(column.name for column in ready.selection.columns),
                ready.selection.skipped,
                ready.table.frame_library,
            ),
            options=options,
            pairs=tuple(pairs),
            found=outcome.found,
            notes=(
                *ready.table.notes,
                *notes_on(
                    outcome, ready.attributes, sample, options, is_streamed=self._is_of_stream
                ),
                *([JOINED] if is_new else []),
            ),
            effort=outcome.effort,
        )

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
        if self._stream is not None:
            wanted = self._wanted(rows, where, objects)
            return iter(self._streamed(self._stream, wanted, workers, progress))
        targets = Targets.of(self.table, self.options, rows=rows, where=where, objects=objects)
        return self._explained(targets, usable_workers(workers), progress)

    def _wanted(
        self,
        rows: Iterable[int] | None,
        where: Where | None,
        objects: Iterable[Mapping[str, Any]] | None,
    ) -> Wanted:
        """Say what is wanted of a table that is read as a stream."""
        if sum(given is not None for given in (rows, where, objects)) != 1:
            raise OptionError("name exactly one of where= and objects=")
        if rows is not None:
            raise self._no_positions()
        if objects is not None:
            return Wanted(meaning="each", objects=items("objects", objects))
        if isinstance(where, Mapping):
            return Wanted(where, "every")
        return Wanted(items("where", where), "each")

    def _no_positions(self) -> RowError:
        return RowError(
            f"{self.table.source} is read as a stream, whose rows have no order and no position; "
            "name the row by values that only it has: where={column: value}"
        )

    def _streamed(
        self, stream: Stream, wanted: Wanted, workers: int | None, progress: Progress | None
    ) -> list[Findings]:
        def in_memory(table: Table) -> Explainer:
            explainer = Explainer(table)
            explainer.options, explainer._is_of_stream = self.options, True
            return explainer

        return stream.explained(wanted, usable_workers(workers), progress, in_memory)

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
        yardstick = None if self._stream is not None else self._yardstick(None)
        if yardstick is not None:
            yardstick.references.found(progress, workers)

    def strengths(
        self, *, workers: int | None = None, progress: Progress | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the strength of the strongest finding of each row, 0 where there is none.

        Every row is searched, which takes some ten milliseconds each, more in wide tables.
        """
        self.must_be_in_memory("strengths()")
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
        self.must_be_in_memory("find_intervals()")
        for attribute in self._population().attributes:
            if isinstance(attribute, NumericAttribute) and not attribute.is_constant:
                attribute.segments(self.options.seed)

    def must_be_in_memory(self, what: str) -> None:
        """Refuse what cannot be asked of a table that is read as a stream."""
        if self._stream is not None:
            raise OptionError(
                f"{what} needs all rows in memory; {self.table.source} is read as a stream"
            )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be prepared again, where another process needs a copy."""
        return self.__dict__ | {"_ready": None, "_references": None}

    def _population(self) -> Prepared:
        if self._ready is None:
            self._ready = Prepared.of(self.table, self.options)
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
        """Return those of some rows that hold the same values as a row."""
        places = np.array(rows, dtype=np.int64)
        for column in self._population().selection.columns:
            places = places[column.same(row, places)]
        return [int(place) for place in places]

    def _strongest(self, row: int) -> float:
        """Return the strength of the strongest pair of a row."""
        return self._population().strongest(row)


def _stream(data: Any, engine: Engine, options: Options) -> Stream | None:
    """Open what is read as a stream; None for what is read into memory."""
    check_choice("engine", engine, get_args(Engine))
    if isinstance(data, (Table, np.ndarray, Mapping)):
        return None
    from outlying.sources.registry import feeder_of

    feeder = feeder_of(data, engine)
    if feeder is None:
        return None
    from outlying.stream.opening import Stream

    return Stream(feeder, options)


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
