"""From what the user names to populations: models saved and opened, new rows beside a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlying.errors import OptionError
from outlying.fitted.file import Fitted, is_model
from outlying.fitted.newcomers import KeptPopulation as KeptPopulation
from outlying.fitted.newcomers import NewPopulation as NewPopulation
from outlying.fitted.reading import NewTable, read_as
from outlying.fitted.withheld import Withheld
from outlying.options import Options
from outlying.render.files import Output
from outlying.search.memory import MemoryPopulation
from outlying.sources import registry
from outlying.sources.passes import collected
from outlying.stream.population import StreamedPopulation
from outlying.table.table import Table

if TYPE_CHECKING:
    from outlying.options import Engine
    from outlying.search.population import Population

#: Options that may differ from those of the model: they choose what is shown.
OWN = ("top", "id")


def save(
    population: Population,
    path: str | Path,
    redact: Sequence[str] = (),
    min_group: int | None = None,
    inputs: Sequence[str] = (),
) -> Fitted:
    """Write the model of a table to a file, whole or not at all."""
    kept = fitted(population, redact, min_group)
    with Output.to(str(path), inputs) as out:
        out.write_bytes(kept.to_bytes())
    return kept


def fitted(
    population: Population, redact: Sequence[str] = (), min_group: int | None = None
) -> Fitted:
    """Return what is kept of a population."""
    options, table, total = population.options, population.table, population.count()
    if isinstance(population, KeptPopulation | NewPopulation):
        raise OptionError("this is a fitted model already, or compared with one; fit a table")
    if options.paper is not None:
        raise OptionError('preset="paper" has no model that could be kept; leave it out')
    if isinstance(population, StreamedPopulation):
        table = population.drawn
    return Fitted.of(table, options, total, Withheld.of(table, redact, min_group))


def open_model(path: str | Path, given: Mapping[str, Any] | None = None) -> KeptPopulation:
    """Make the population of a file again; options that are given choose what is shown."""
    kept = Fitted.read(path)
    chosen = {name: value for name, value in (given or {}).items() if value}
    for name in chosen:
        if name not in OWN:
            raise OptionError(f"{name} was chosen when the model was fitted; leave it out")
    own = kept.options.values() | {"types": dict(kept.options.types)} | chosen
    return KeptPopulation(kept, Options.of(**own))


def compared_with(
    data: Any, base: MemoryPopulation, engine: Engine, given: Mapping[str, Any]
) -> NewPopulation:
    """Return new rows beside the population that is their yardstick."""
    return NewPopulation(base, new_table(data, base, engine, given).checked())


def new_table(
    data: Any,
    base: MemoryPopulation,
    engine: Engine = "auto",
    given: Mapping[str, Any] | None = None,
) -> NewTable:
    """Read new rows as those of a base were read, and say what does not fit."""
    found = data if isinstance(data, Table) else registry.opened(data, engine, **(given or {}))
    table = found if isinstance(found, Table) else collected(found)
    withheld = base.withheld if isinstance(base, KeptPopulation) else Withheld()
    read = read_as(base.table, withheld.hashed(table, base.table), base.options)
    return dataclasses.replace(read, table=withheld.pooled(read.table, base.table))


def base_of(against: Any, given: Mapping[str, Any]) -> MemoryPopulation:
    """Return the population that new rows are compared with: a model, or a table."""
    if is_model(against):
        return open_model(against, given)
    options = Options.of(**given)
    found = registry.opened(against)
    if isinstance(found, Table):
        return MemoryPopulation(found, options)
    return KeptPopulation(fitted(StreamedPopulation(found, options)))
