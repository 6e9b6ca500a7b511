"""backtest(): how many rows each past day would have raised, had it been checked then."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from outlying.api import Explainer
from outlying.checks import check_whole
from outlying.detect.api import detect
from outlying.errors import OptionError
from outlying.gate.accepted import table_of
from outlying.gate.check import LEAST_ROWS, limit_of
from outlying.results.stories import Document
from outlying.sources import registry
from outlying.table.columns import Column, Rows
from outlying.table.table import Table
from outlying.table.values import label_text, printable

if TYPE_CHECKING:
    from outlying.search.memory import MemoryPopulation

#: So many periods are judged, the last ones: of dates the shortest kind of which there are no more.
MOST_PERIODS = 60
_KINDS: tuple[tuple[str, Callable[[dt.date], str]], ...] = (
    ("day", lambda date: f"{date:%Y-%m-%d}"),
    ("week", lambda date: f"{date - dt.timedelta(date.weekday()):%Y-%m-%d}"),
    ("month", lambda date: f"{date:%Y-%m}"),
    ("year", lambda date: f"{date:%Y}"),
)
_WIDEST = 40  # columns of a bar


@dataclasses.dataclass(frozen=True, slots=True)
class PastPeriod:
    """A day, or what else rows come in; `exceptional` is None where too few came before it."""

    name: str
    rows: int
    exceptional: int | None
    is_alarm: bool  # more rows than were allowed


@dataclasses.dataclass(frozen=True, slots=True)
class Backtest(Document):
    """How many rows each past period would have raised."""

    source: str
    by: str
    kind: str
    against: str | None
    periods: tuple[PastPeriod, ...]
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The outcome in a line."""
        judged = [item for item in self.periods if item.exceptional is not None]
        alarms = sum(item.is_alarm for item in judged)
        rows = sum(item.exceptional or 0 for item in judged)
        by = "the rows before it" if self.against is None else printable(self.against)
        return (
            f"{printable(self.source)}: {alarms:,} of {len(judged):,} {self.kind}s would have "
            f"raised an alarm, by {rows:,} exceptional rows in all; each judged by {by}"
        )

    def __str__(self) -> str:
        name = max((len(printable(item.name)) for item in self.periods), default=0)
        most = max((item.exceptional or 0 for item in self.periods), default=0)
        lines = [self.summary]
        for item in self.periods:
            count = (
                "too few rows before it" if item.exceptional is None else f"{item.exceptional:,}"
            )
            bar = "█" * -(-_WIDEST * (item.exceptional or 0) // max(most, _WIDEST))
            sign = " !" if item.is_alarm else ""
            lines.append(
                f"  {printable(item.name):{name}}  {item.rows:>9,} rows  {count} {bar}{sign}"
            )
        return "\n".join(line.rstrip() for line in (*lines, *(f"  - {x}" for x in self.notes)))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return dataclasses.asdict(self) | {"summary": self.summary}


def backtest(
    data: Any,
    *,
    by: str,
    against: Any = None,
    max_exceptional: Any = 0,
    fdr: float | None = None,
    most: int = MOST_PERIODS,
    engine: Any = "auto",
    **options: Any,
) -> Backtest:
    """Say how many rows each past period of a table would have raised.

    Rows with the same value of the column `by` make a period; of dates, those of a day, or of a
    week, month or year where there are more than `most` days. Each of the last `most` periods is
    judged as `check` would have done: by a model of all rows before it, or by `against`.
    """
    from outlying.fitted import newcomers
    from outlying.sources.passes import collected

    most = check_whole("most", most, 1)
    limit_of("max_exceptional", max_exceptional, 0)
    given = {name: options.pop(name) for name in registry.OPTIONS if name in options}
    found = data if isinstance(data, Table) else registry.open_source(data, engine, **given)
    table = found if isinstance(found, Table) else collected(found)
    column = table.column(by)
    kind, periods = _periods(column, most)
    if against is None and kind == "value":  # each period has one of its own
        table = table.without(by, "says which rows make a period")
    base = None if against is None else newcomers.base_of(against, options)
    skipped = max(0, len(periods) - most)
    before = np.concatenate([rows for _, rows in periods[:skipped]] or [np.zeros(0, dtype=int)])
    judged = []
    for name, rows in periods[skipped:]:
        own = base if base is not None else _base(table_of(table, before), options)
        count = None
        if own is not None:
            read = newcomers.new_table(table_of(table, rows), own).checked()
            batch = Explainer.of_population(newcomers.NewPopulation(own, read))
            counts = detect(batch, top=1, fdr=fdr).counts
            count = 0 if counts is None else counts.exceptional
        limit = limit_of("max_exceptional", max_exceptional, len(rows))
        judged.append(PastPeriod(name, len(rows), count, count is not None and count > limit))
        before = np.concatenate([before, rows])
    notes = (f"the first {skipped:,} {kind}s are only compared with",) if skipped else ()
    unknown = table.rows - len(before)
    if unknown:
        notes = (*notes, f"{unknown:,} rows have no {printable(by)} and are left out")
    compared = None if base is None else base.table.source
    return Backtest(table.source, by, kind, compared, tuple(judged), notes)


def _base(table: Table, options: dict[str, Any]) -> MemoryPopulation | None:
    """Return the model that `fit` would have kept of some rows; None where these are too few."""
    from outlying.fitted import newcomers

    if table.rows < LEAST_ROWS:
        return None
    explainer = Explainer(table, **options)
    return newcomers.KeptPopulation(newcomers.fitted(explainer.in_memory("backtest")))


def _periods(column: Column, most: int) -> tuple[str, list[tuple[str, Rows]]]:
    """Cut the rows that have a value into periods, in order; say of which kind these are."""
    rows = np.flatnonzero(~column.missing())
    if not len(rows):
        raise OptionError(f"--backtest: column {column.name!r} is empty; name another")
    keys = column.values if column.is_numeric else column.codes
    _, first, group = np.unique(keys[rows], return_index=True, return_inverse=True)
    cells: list[Any] = [column.cell(row) for row in rows[first].tolist()]
    kind, names = "value", list(map(label_text, cells))
    if all(isinstance(cell, dt.date) for cell in cells):
        for own, name in _KINDS:
            kind, names = own, list(map(name, cells))
            if len(set(names)) <= most:
                break
    starts = np.array([k == 0 or name != names[k - 1] for k, name in enumerate(names)])
    period = np.cumsum(starts)[group]
    order = np.argsort(period, kind="stable")
    cuts = np.flatnonzero(np.diff(period[order])) + 1
    some = [name for name, is_start in zip(names, starts, strict=True) if is_start]
    return kind, list(zip(some, np.split(rows[order], cuts), strict=True))
