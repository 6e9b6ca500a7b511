"""New rows judged by a model that they are no part of, all at once; told as new objects are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from outlying import sentences as say
from outlying.errors import OptionError
from outlying.fitted.file import KeptModel, Withheld, is_model
from outlying.fitted.reading import NewTable, read_as
from outlying.options import Options
from outlying.parallel import usable_workers
from outlying.render.files import Output
from outlying.search.cells import Numbers, attribute_of
from outlying.search.evaluation import Exact, Groups, Progress
from outlying.search.evidence import Claims, Evidence, Standing
from outlying.search.memory import MemoryPopulation, Prepared, Searched
from outlying.search.model import Model, Property
from outlying.sources import registry
from outlying.sources.passes import collected
from outlying.stream.judging import numbering
from outlying.stream.population import StreamedPopulation
from outlying.table.columns import Column, Floats, Rows, frozen
from outlying.table.selection import Selection
from outlying.table.table import Table
from outlying.table.targets import RowRequest, Target, Targets, targets_in

if TYPE_CHECKING:
    from outlying.options import Engine
    from outlying.search.memory import Searchable

Result = TypeVar("Result")

_DATES = ("date", "datetime", "instant")


class KeptPopulation(MemoryPopulation):
    """The rows of a fitted model, which are as declared already."""

    def __init__(self, fitted: KeptModel, options: Options | None = None) -> None:
        super().__init__(fitted.table, options or fitted.options, is_of_stream=True)
        self.is_of_stream, self.withheld, self.notes = False, fitted.withheld, fitted.notes
        notes = (*fitted.notes, *self.table.notes)
        self.table = dataclasses.replace(self.table, notes=notes)

    def targets(
        self, asked: RowRequest, progress: Progress | None = None, workers: int | None = None
    ) -> Targets:
        """Find what is asked for; of new objects, too, values are withheld."""
        if asked.objects is not None:
            objects = [self.withheld.of_object(item, self.table) for item in asked.objects]
            asked = dataclasses.replace(asked, objects=objects)
        return super().targets(asked, progress, workers)


class OpenModel(Model):
    """A model that asks of every column whether a cell is empty, be it the first one."""

    def _properties(self) -> list[Property]:
        found = super()._properties()
        known = {item.place for item in found if item.is_gap}
        for place, attribute in enumerate(self.attributes):
            column = attribute.column
            if column.origin is None and place not in known and self._is_judged(column):
                family = int(self.cells.families[place])
                found.append(Property(place, attribute.missingness, family, is_gap=True))
        return found


class _Base(Prepared):
    """The table of a model, which is to judge others."""

    def model(self, threads: int = 1) -> Model:
        given = self.attributes, self.drawn, self.total, self.options, threads
        return self._once("model", lambda: OpenModel(*given))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _New(Prepared):
    """New rows, and who judges them: all of them by the model of the base."""

    base: Prepared | None = None
    ahead: tuple[str, ...] = ()  # columns that go on beyond the base

    @property
    def by(self) -> Prepared:
        """The table of the model."""
        assert self.base is not None  # noqa: S101 - given by whoever makes it
        return self.base

    @property
    def columns(self) -> list[Column]:
        """The column of each attribute in the new rows, derived ones computed from these."""
        known = {column.name: column for column in self.table.columns}
        own = [item.column for item in self.attributes]
        return self._once(
            "columns",
            lambda: [known[c.name] if c.origin is None else c.origin.column(known) for c in own],
        )

    def model(self, threads: int = 1) -> Model:
        return self.by.model(threads)

    def standing(self, threads: int = 1, progress: Progress | None = None) -> Standing:
        return self.by.standing(threads, progress)

    def evidence_of(
        self, rows: Rows, threads: int = 1, progress: Progress | None = None
    ) -> Evidence:
        numbers, unknown = self._once("numbers", self._numbers)
        model = self.model(threads)
        found = model.judged([own[rows] for own in numbers], progress)
        for number, own in enumerate(model.properties):
            if own.place in unknown:  # nothing is said of it, nor that it is empty
                for array in (found.outside, found.surprise, found.misfit):
                    array[:, number] = 0
        return found

    def _numbers(self) -> tuple[list[Numbers], set[int]]:
        """Return the numbers of all rows on the scales of the model, unknown where they go on."""
        numbers = numbering(self.attributes)(self.columns)
        unknown = set()
        for place, (own, new) in enumerate(zip(self.attributes, self.columns, strict=True)):
            is_part = new.origin is None or not new.origin.given
            if is_part and own.column.family in self.ahead and _goes_on(own.column, new):
                numbers[place] = np.full(len(new), np.nan)
                unknown.add(place)
        return numbers, unknown


class NewPopulation(MemoryPopulation):
    """New rows as a population whose yardstick is another one."""

    def __init__(self, base: MemoryPopulation, table: Table) -> None:
        """Take a base, and rows that were read as its own (`fitted.reading`)."""
        super().__init__(base.table, base.options, is_of_stream=True)
        self.ahead = columns_ahead(base.table, table)
        compared = say.COMPARED_WITH.format(rows=base.table.rows, source=base.table.source)
        notes = [*table.notes, compared]
        notes += [
            say.COLUMN_HOLDS.format(column=repr(name), said=say.GOES_ON) for name in self.ahead
        ]
        notes += base.notes if isinstance(base, KeptPopulation) else ()
        self.is_of_stream, self.base, self.yardstick = False, base, base.table
        self.table = dataclasses.replace(table, notes=tuple(dict.fromkeys(notes)))

    @property
    def prepared(self) -> _New:
        """The new rows, and who judges them."""
        return self._once("prepared", self._prepared)

    def _prepared(self) -> _New:
        own = self.base.prepared
        base = _Base(own.table, own.options, own.selection, own.attributes, own.drawn, own.total)
        none = np.arange(0)  # of the new rows the model is made
        given = self.options, own.selection, own.attributes, none, self.table.rows
        return _New(self.table, *given, base=base, ahead=self.ahead)

    def selection(self) -> Selection:
        """Return which columns take part: those of the model."""
        return self.base.selection()

    def targets(
        self,
        asked: RowRequest,
        progress: Progress | None = None,  # noqa: ARG002 - this takes no pass
        workers: int | None = None,  # noqa: ARG002
    ) -> Targets:
        """Find what is asked for among the new rows; objects are compared with the base, too."""
        if asked.objects is not None:
            return self.base.targets(asked)
        return targets_in(self.table, self.options, asked)

    def usual_combinations(self) -> Floats:
        """Return how much counts against each row of the base in all its columns together."""
        found = self.prepared.by.all_evidence(usable_workers(None))
        return self._once(
            "combinations", lambda: np.concatenate([own.combination for _, own in found])
        )

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
                yield finish(self.base._new(target, standing, threads, progress))
                continue
            joined = self._joined(int(target.row or 0))
            base = self.prepared.by
            exact = Exact(
                Groups(joined.attributes, base.model(), base.groups), base.table.rows, told
            )
            found = self._searched(joined, target, exact, standing)
            yield finish(dataclasses.replace(found, row=target.row, is_new=True))

    def _joined(self, row: int) -> Prepared:
        """Return the table of the model with a new row as its last one."""
        new, base = self.prepared, self.prepared.by
        known = {column.name: column for column in self.table.columns}
        columns = {own.name: _with_row(own, known[own.name], row) for own in base.table.columns}
        table = dataclasses.replace(
            base.table,
            columns=tuple(columns.values()),
            rows=base.table.rows + 1,
            source=self.table.source,
            notes=self.table.notes,
        )
        for own, computed in zip(base.attributes, new.columns, strict=True):
            if own.column.origin is not None:
                columns[own.column.name] = _with_row(own.column, computed, row)
        selection = dataclasses.replace(
            base.selection,
            columns=tuple(columns[column.name] for column in base.selection.columns),
            derived=tuple(columns[column.name] for column in base.selection.derived),
        )
        drawn = None if base.drawn is None else np.append(base.drawn, base.table.rows)
        attributes = tuple(attribute_of(columns[a.column.name], drawn) for a in base.attributes)
        return Prepared(table, self.options, selection, attributes, drawn, base.total)


def columns_ahead(base: Table, new: Table) -> tuple[str, ...]:
    """Return the columns that only go on: that tonight is later is nothing odd."""
    known = {column.name: column for column in new.columns}
    pairs = ((own, known[own.name]) for own in base.columns if own.name in known)
    return tuple(own.name for own, other in pairs if _runs(own, other) and _goes_on(own, other))


def _runs(own: Column, new: Column) -> bool:
    if own.form in _DATES:
        return True
    return own.form == "integer" and not (_is_repeated(own) or _is_repeated(new))


def _is_repeated(column: Column) -> bool:
    known = column.values[~column.missing()] if column.is_numeric else np.zeros(2)
    return len(np.unique(known)) < len(known)


def _goes_on(own: Column, new: Column) -> bool:
    """Return whether most of the new numbers are greater than all others, or less."""
    if not (own.is_numeric and new.is_numeric) or own.missing().all() or new.missing().all():
        return False
    least, most = float(np.nanmin(own.values)), float(np.nanmax(own.values))
    known = new.values[~new.missing()]
    return bool(np.mean(known > most) > 0.5 or np.mean(known < least) > 0.5)


def _with_row(own: Column, new: Column, row: int) -> Column:
    """Return a column with what another one of its kind holds in a row."""
    if own.is_numeric and new.is_numeric:
        if own.origin is not None:
            return dataclasses.replace(own, values=frozen(np.append(own.values, new.values[row])))
        if own.written is None:
            return own.with_value(new.value(row))
        return own.with_value(new.bound(row) or new.cell(row))
    return own.with_value(new.value(row))


# --- from what the user names to populations -----------------------------------------------------

#: Options that may differ from those of the model: they choose what is shown.
OWN = ("top", "id")


def save(
    population: Searchable,
    path: str | Path,
    redact: Sequence[str] = (),
    min_group: int | None = None,
    inputs: Sequence[str] = (),
) -> KeptModel:
    """Write the model of a table to a file, whole or not at all."""
    kept = fitted(population, redact, min_group)
    with Output.to(str(path), inputs) as out:
        out.write_bytes(kept.to_bytes())
    return kept


def fitted(
    population: Searchable, redact: Sequence[str] = (), min_group: int | None = None
) -> KeptModel:
    """Return what is kept of a population."""
    options, table, total = population.options, population.table, population.count()
    if isinstance(population, KeptPopulation | NewPopulation):
        raise OptionError("this is a fitted model already, or compared with one; fit a table")
    if options.paper is not None:
        raise OptionError('preset="paper" has no model that could be kept; leave it out')
    if isinstance(population, StreamedPopulation):
        table = population.drawn
    return KeptModel.of(table, options, total, Withheld.of(table, redact, min_group))


def open_model(path: str | Path, given: Mapping[str, Any] | None = None) -> KeptPopulation:
    """Make the population of a file again; options that are given choose what is shown."""
    kept = KeptModel.read(path)
    chosen = {name: value for name, value in (given or {}).items() if value}
    for name in chosen:
        if name not in OWN:
            raise OptionError(f"{name} was chosen when the model was fitted; leave it out")
    own = kept.options.values() | {"types": dict(kept.options.types)} | chosen
    return KeptPopulation(kept, Options.of(**own))


def new_table(
    data: Any,
    base: MemoryPopulation,
    engine: Engine = "auto",
    given: Mapping[str, Any] | None = None,
) -> NewTable:
    """Read new rows as those of a base were read, and say what does not fit."""
    found = data if isinstance(data, Table) else registry.open_source(data, engine, **(given or {}))
    table = found if isinstance(found, Table) else collected(found)
    withheld = base.withheld if isinstance(base, KeptPopulation) else Withheld()
    read = read_as(base.table, withheld.hashed(table, base.table), base.options)
    return dataclasses.replace(read, table=withheld.pooled(read.table, base.table))


def base_of(against: Any, given: Mapping[str, Any]) -> MemoryPopulation:
    """Return the population that new rows are compared with: a model, or a table."""
    if is_model(against):
        return open_model(against, given)
    options = Options.of(**given)
    found = registry.open_source(against)
    if isinstance(found, Table):
        return MemoryPopulation(found, options)
    return KeptPopulation(fitted(StreamedPopulation(found, options)))
