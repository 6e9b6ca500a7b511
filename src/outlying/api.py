"""explain(), explain_many() and Explainer: from a table to findings in a few named steps.

open the population -> find what is asked for -> judge the rows -> tell what counts against each

What a step needs is imported when it is taken, so that `import outlying` takes no longer than it
must.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, get_args

import numpy as np
import numpy.typing as npt

from outlying import sources
from outlying.checks import check_choice
from outlying.errors import OptionError
from outlying.options import Engine, Options
from outlying.parallel import usable_workers
from outlying.results.findings import Findings, Population
from outlying.results.many import Explanations
from outlying.sources import registry
from outlying.table.table import Table
from outlying.table.targets import lone_rows, lone_values, naming_columns
from outlying.table.values import Value

if TYPE_CHECKING:
    from outlying.fitted.file import KeptModel
    from outlying.keywords import ExplainKeywords
    from outlying.search.evaluation import Progress
    from outlying.search.evidence import Standing
    from outlying.search.memory import MemoryPopulation, Searchable, Searched
    from outlying.stream.judging import StreamRanking
    from outlying.table.targets import RowRequest, Targets, Where


def explain(
    data: Any,
    *,
    row: int | None = None,
    object: Mapping[str, Any] | None = None,  # noqa: A002 - the word users know
    where: Mapping[str, Any] | None = None,
    index: Any = None,
    engine: Engine = "auto",
    progress: Progress | None = None,
    **options: Unpack[ExplainKeywords],
) -> Findings:
    """Explain why one row of a table, or a new object against it, is an outlier.

    `data` is a path or an address of a file (docs/sources.md), "-" (standard input), an open file,
    a pandas, polars or Arrow table, a dict of arrays or a NumPy array; or what is read as a stream
    because it may outgrow memory: a folder or pattern of files, a Delta Lake or Iceberg table, a
    DuckDB relation, a polars LazyFrame, an Ibis table, a Spark DataFrame, or what `outlying.scan`
    gives. `engine` says which way a file is read, `encoding` how text is written that is not UTF-8,
    `sheet` which sheet of a workbook, `snapshot` which state of a lake's table is meant. Name the
    row by its position from 0 (`row=`), by its label in the index of a pandas frame (`index=`), by
    values that only it has (`where=`), or give a new object as a mapping of column to value
    (`object=`). Further options are those of `outlying.Options`.
    """
    return Explainer(data, engine=engine, **options).explain(
        row=row, object=object, where=where, index=index, progress=progress
    )


def explain_many(
    data: Any,
    *,
    rows: Iterable[int] | None = None,
    where: Where | Iterable[Where] | None = None,
    objects: Iterable[Mapping[str, Any]] | None = None,
    engine: Engine = "auto",
    workers: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[ExplainKeywords],
) -> Explanations:
    """Explain many rows of a table, or many new objects against it; see Explainer.explain_many.

    `data` and the options are those of `explain`.
    """
    return Explainer(data, engine=engine, **options).explain_many(
        rows=rows, where=where, objects=objects, workers=workers, progress=progress
    )


class Explainer:
    """A population prepared once, to explain as many of its rows or new objects as wanted.

    Of a table that is read as a stream, the first pass is made when it is first needed, and kept.
    """

    def __init__(
        self,
        data: Any,
        *,
        engine: Engine = "auto",
        against: Any = None,
        **options: Unpack[ExplainKeywords],
    ) -> None:
        """Open a table, or the file of a fitted model.

        `against`, a model, another table or its Explainer, is what the rows are compared with in
        place of each other (docs/pipeline.md).
        """
        own: dict[str, Any] = {**options}
        given = {name: own.pop(name) for name in registry.OPTIONS if name in own}
        self._population = _open_population(data, engine, against, own, given)
        self.options = self._population.options

    @classmethod
    def of_population(cls, population: Searchable) -> Explainer:
        """Return an Explainer of a population that is there."""
        explainer = cls.__new__(cls)
        explainer._population, explainer.options = population, population.options
        return explainer

    @property
    def table(self) -> Table:
        """The table; of a stream its columns only, without rows."""
        return self._population.table

    @property
    def rows(self) -> int:
        """The number of rows of the population."""
        return self._population.count()

    @property
    def population(self) -> Population:
        """What rows are compared with, before any is."""
        selection = self._population.selection()
        return Population.of(self.table, self.rows, selection)

    @property
    def is_streamed(self) -> bool:
        """Whether the table is read as a stream, in passes over all its rows."""
        return self._population.is_streamed

    def explain(
        self,
        *,
        row: int | None = None,
        object: Mapping[str, Any] | None = None,  # noqa: A002
        where: Mapping[str, Any] | None = None,
        index: Any = None,
        progress: Progress | None = None,
    ) -> Findings:
        """Explain one row (by position, index or values) or one new object."""
        from outlying.table.targets import RowRequest

        asked = RowRequest.one(row=row, where=where, object=object, index=index)
        return next(self.explained(self.targets(asked, progress), progress=progress))

    def explain_many(
        self,
        *,
        rows: Iterable[int] | None = None,
        where: Where | Iterable[Where] | None = None,
        objects: Iterable[Mapping[str, Any]] | None = None,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> Explanations:
        """Explain many rows or new objects; each result is that of `explain`, in the order given.

        `rows` are positions from 0. One mapping as `where` stands for every row with these values;
        several name one row each. All are checked now; each is explained when it is asked for, or
        somewhat ahead of that by other processes: `workers` of them, by default one for each core.
        `progress` is told how many are done, of how many.
        """
        from outlying.table.targets import RowRequest

        usable_workers(workers)
        asked = RowRequest.many(rows=rows, where=where, objects=objects)
        targets = self.targets(asked, progress, workers)
        return Explanations(self.explained(targets, workers, progress), len(targets))

    def targets(
        self, asked: RowRequest, progress: Progress | None = None, workers: int | None = None
    ) -> Targets:
        """Find what is asked for, and check all of it."""
        found = self._population.targets(asked, progress, workers)
        return found if self.is_streamed else found.with_labels(self.table)

    def explained(
        self, targets: Targets, workers: int | None = None, progress: Progress | None = None
    ) -> Iterator[Findings]:
        """Explain what was found, one after the other."""
        from outlying.results import assembly

        usable_workers(workers)
        if not len(targets):
            return
        each = self._population.searching(targets, workers, progress)
        explain = functools.partial(assembly.explained, options=self.options)
        with contextlib.closing(each(explain)) as work:
            for done, findings in enumerate(work, start=1):
                if progress is not None and len(targets) > 1:
                    progress(done, len(targets))
                lone = [name for name, row in self._lone_rows.items() if row == findings.row]
                findings = findings.with_labels(targets.labels).with_lone_columns(lone)
                if findings.row is not None or self.options.id is not None:
                    findings = findings.named(self.naming)
                yield findings.with_lone_values(lone_values(self.table, lone))

    def save(
        self,
        path: str | Path,
        *,
        redact: Iterable[str] = (),
        min_group: int | None = None,
        inputs: Iterable[str] = (),
    ) -> KeptModel:
        """Keep what rows are judged by in a file, for `load` and `against`.

        It holds up to 20,000 rows. Of columns in `redact` no values are kept: labels as hashes
        only, and numbers not at all; labels of fewer than `min_group` rows are put together. No
        file of `inputs` is written over.
        """
        from outlying.fitted import newcomers

        return newcomers.save(self._population, path, tuple(redact), min_group, tuple(inputs))

    @functools.cached_property
    def naming(self) -> tuple[str, ...]:
        """The columns whose values name rows: those that are called so, or found to do so.

        None are found in a stream, whose rows are not here.
        """
        if self.options.id is not None:
            return tuple(self.table.column(name).name for name in self.options.id)
        if self.is_streamed:
            return ()
        people = self.in_memory("naming")
        return naming_columns(people.yardstick, people.selection().skipped)

    def name_of(self, row: int) -> tuple[tuple[str, Value], ...]:
        """Return the values that name a row of a table in memory."""
        return tuple((name, self.table.column(name).cell(row)) for name in self.naming)

    @functools.cached_property
    def _lone_rows(self) -> Mapping[str, int]:
        """The columns in which a single row differs; none of a stream, whose rows are not here."""
        return lone_rows(self.table)

    def standing(self, progress: Progress | None = None, workers: int | None = None) -> Standing:
        """Return how strong findings are on the rows of the population, judged once."""
        return self._population.standing(workers, progress)

    def prepare(self, progress: Progress | None = None, workers: int | None = None) -> None:
        """Judge the rows of the table now, not when the first object is explained.

        Nothing is done where the table is read as a stream: there, the pass that explains the first
        objects counts for all rows, too.
        """
        if not self._population.is_streamed:
            self.in_memory("prepare()").prepare(workers, progress)

    def strengths(
        self, *, workers: int | None = None, progress: Progress | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the strength of the strongest finding of each row, 0 where there is none."""
        usable_workers(workers)
        return np.maximum(self.in_memory("strengths()").scores(workers, progress)[0], 0.0)

    def combination_scores(
        self, *, workers: int | None = None, progress: Progress | None = None
    ) -> npt.NDArray[np.float64]:
        """Return how much counts against each row in all its columns together.

        The sum of how rare each value is in its column and of how badly it fits the others: for
        rows of which no single value stands out.
        """
        usable_workers(workers)
        return self.in_memory("combination_scores()").scores(workers, progress)[1]

    def blame(
        self,
        rows: Iterable[int] | None = None,
        *,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> npt.NDArray[np.float64]:
        """Return how much each cell of some rows, or of all, is to blame; see Findings.blame.

        One line for each row, one column for each of `population.columns`.
        """
        from outlying.table.targets import RowRequest

        population = self.in_memory("blame()")
        usable_workers(workers)
        asked = range(population.count()) if rows is None else rows
        targets = self.targets(RowRequest.many(rows=asked, where=None, objects=None))
        each = population.searching(targets, workers, None)
        found = np.zeros((len(targets), len(self.population.columns)))
        with contextlib.closing(each(_shares)) as shares:
            for place, share in enumerate(shares):
                found[place] = share
                if progress is not None:
                    progress(place + 1, len(targets))
        return found

    def ranked(
        self, top: int, *, workers: int | None = None, progress: Progress | None = None
    ) -> tuple[StreamRanking, Targets]:
        """Judge every row of a stream; return the first, and those as what can be explained."""
        from outlying.stream.population import StreamedPopulation

        if not isinstance(self._population, StreamedPopulation):
            raise OptionError(f"{self.table.source} is in memory: see detect")
        found = self._population.ranked(top, workers, progress)
        return found, self._population.targets_of(found, top)

    def drawn(self) -> tuple[Table, int]:
        """Return rows drawn from a stream, with all their columns, and how many rows it has."""
        from outlying.stream.population import StreamedPopulation

        assert isinstance(self._population, StreamedPopulation)  # noqa: S101 - ask is_streamed
        every = Options(types=self.options.types, infinite=self.options.infinite, derive=False)
        whole = StreamedPopulation(self._population.feeder, every)
        return whole.drawn, whole.count()

    def in_memory(self, what: str) -> MemoryPopulation:
        """Return the population; refuse what cannot be asked of one that is read as a stream."""
        from outlying.search.memory import MemoryPopulation

        if isinstance(self._population, MemoryPopulation):
            return self._population
        raise OptionError(
            f"{what} needs all rows in memory; {self.table.source} is read as a stream"
        )


def _shares(searched: Searched) -> list[float]:
    from outlying.results import assembly

    return list(assembly.blamed(searched).values())


def load(path: str | Path) -> Explainer:
    """Open a fitted model: an Explainer of the table that it is of, for new objects."""
    from outlying.fitted.file import KeptModel, is_model

    if not is_model(path):
        KeptModel.read(path)  # says what is wrong
    return Explainer(path)


def _open_population(
    data: Any, engine: Engine, against: Any, own: Mapping[str, Any], given: Mapping[str, Any]
) -> Searchable:
    """Open a table: as a stream, or read into memory; or a model, or new rows beside one."""
    options = Options.of(**own)
    check_choice("engine", engine, get_args(Engine))
    from outlying.fitted.file import is_model

    if against is not None:
        from outlying.fitted import newcomers

        is_ready = isinstance(against, Explainer)
        base = against.in_memory("against") if is_ready else newcomers.base_of(against, own)
        table = newcomers.new_table(data, base, engine, given).checked()
        return newcomers.NewPopulation(base, table)
    if is_model(data):
        from outlying.fitted import newcomers

        return newcomers.open_model(data, own)
    if isinstance(data, (Table, np.ndarray, Mapping)):
        return _in_memory(sources.read(data, **given), options)
    found = registry.open_source(data, engine, **given)
    if isinstance(found, Table):
        return _in_memory(found, options)
    from outlying.stream.population import StreamedPopulation

    return StreamedPopulation(found, options)


def _in_memory(table: Table, options: Options) -> MemoryPopulation:
    """Return a table in memory, to be explained by the default search or by the paper's."""
    if options.paper is None:
        from outlying.search.memory import MemoryPopulation

        return MemoryPopulation(table, options)
    from outlying.reference.search import PaperPopulation

    return PaperPopulation(table, options)
