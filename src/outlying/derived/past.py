"""A row's own past: what other rows of the same thing, before it and after it, say of it (6b).

A *panel* is an entity (an account, a sensor) and a time, both named or guessed: the time must
name the rows, alone or for each entity, and neighbours in time must say much more of some number
than the entity does.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from outlying import sentences as say
from outlying.derived.calendar import DATES, DAY
from outlying.derived.relations import (
    QUANTITIES,
    SHORT,
    Facts,
    Keys,
    Relation,
    nature_of,
    numbers_of,
)
from outlying.derived.rules import OfOwnKind
from outlying.errors import ColumnError, Setting
from outlying.method import past
from outlying.method.past import Timeline
from outlying.method.relations import (
    LEAST_EXPLAINED,
    LEAST_ROWS,
    MUCH_LESS,
    Codes,
    least_logarithm,
    logarithm,
)
from outlying.method.rules import LEAST_OWN, MOST_BY_NEXT, OwnKind
from outlying.options import AUTO, Options
from outlying.table.columns import Column, Derivation, NumericColumn, frozen
from outlying.table.values import (
    Floats,
    Form,
    Value,
    number_of,
    printable,
    quantity_text,
    text_of,
    value_of,
)

#: More columns are not tried as time, or as entity.
_MOST_TIMES, _MOST_ENTITIES = 3, 6
#: So many numbers, by name, tell whether a panel is one.
_MOST_TOLD = 20
#: Rows that are enough to tell.
_LOOKED_AT = 16_384
_HOUR = DAY / 24


@dataclasses.dataclass(frozen=True, eq=False)
class Panel:
    """Which column names things, and which the time of their rows."""

    entity: Keys | None  # None: all rows are of one thing
    time: str
    form: Form
    only_before: bool
    is_guess: bool

    @property
    def given(self) -> tuple[str, ...]:
        """The columns of the panel."""
        return (self.time,) if self.entity is None else (self.entity.name, self.time)

    def things(self, columns: Mapping[str, Column]) -> Codes:
        """Return the thing of each row; -1 where it is not known."""
        if self.entity is None:
            return np.zeros(len(columns[self.time]), dtype=np.int32)
        return self.entity.codes(columns[self.entity.name])

    def times(self, columns: Mapping[str, Column]) -> Floats:
        """Return the time of each row."""
        time = columns[self.time]
        assert time.is_numeric  # noqa: S101 - as it was when the panel was made
        return time.values

    def row(self, values: Mapping[str, Value]) -> tuple[Codes, Floats]:
        """Return thing and time of a single row."""
        code = 0 if self.entity is None else self.entity.code(values[self.entity.name])
        own = values[self.time]
        time = math.nan if own is None else number_of(self.form, own)
        return np.array([code], dtype=np.int32), np.array([time])

    def where(self, values: Mapping[str, Value]) -> str:
        """Name the thing of a row."""
        if self.entity is None:
            return ""
        return say.WHERE.format(conditions=self.entity.said(values[self.entity.name]))

    @property
    def words(self) -> str:
        """The order of rows in words."""
        each = "" if self.entity is None else f" for each {printable(self.entity.name, SHORT)}"
        return f"by {printable(self.time, SHORT)}{each}"

    @property
    def note(self) -> str:
        """What was compared, and how it can be chosen."""
        text = say.COMPARED_BEFORE if self.only_before else say.COMPARED_IN_TIME
        within = ""
        if self.entity is not None:
            within = say.WITHIN_EACH.format(entity=printable(self.entity.name, SHORT))
        guess = say.GUESSED if self.is_guess else ""
        return text.format(time=printable(self.time, SHORT), within=within, guess=guess)


@dataclasses.dataclass(frozen=True, eq=False)
class OwnPast(Relation):
    """What other rows of the same thing say of a cell."""

    panel: Panel

    is_mutual: ClassVar[bool] = False
    is_both_ways: ClassVar[bool] = True

    @property
    def follows(self) -> tuple[str, ...]:
        """The time that it runs along."""
        return (self.panel.time,) if self.runs_along else ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The column that names things, if there is one."""
        return () if self.panel.entity is None else (self.panel.entity.name,)

    @property
    def name(self) -> str:
        """The name of the derived column."""
        return self.title.format(parent=self.parent, order=self.panel.words)

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Return how far cells are from what other rows of their thing say."""
        things, times = self.panel.things(columns), self.panel.times(columns)
        found = self.residuals(things, times, columns[self.parent])
        return NumericColumn(self.name, "number", frozen(found), self)

    def residuals(self, things: Codes, times: Floats, parent: Column) -> Floats:
        """Return how far cells are off, in usual distances."""
        raise NotImplementedError

    def where(self, values: Mapping[str, Value]) -> str:
        """Name the thing."""
        return self.panel.where(values)

    @property
    def facts(self) -> Facts:
        """The order of rows."""
        return {"order": self.panel.words}


@dataclasses.dataclass(frozen=True, eq=False)
class Step(OwnPast):
    """A number beside those before and after it."""

    rule: past.Steps

    kind: ClassVar[str] = "step"
    words: ClassVar[str] = say.STEPS
    runs_along: ClassVar[bool] = True
    title: ClassVar[str] = "{parent} beside its neighbours {order}"

    def residuals(self, things: Codes, times: Floats, parent: Column) -> Floats:
        """Return how far numbers are from what their neighbours suggest."""
        near = self.rule.timeline.around(things, times)
        return self.rule.residuals(things, near, logarithm(numbers_of(parent), self.rule.least))

    def where(self, values: Mapping[str, Value]) -> str:
        """Say what the rows before and after hold."""
        things, times = self.panel.row(values)
        near = self.rule.timeline.around(things, times)
        before, after = (
            text_of(value_of(self.form, self._number(self.rule.values[place])))
            for place in (near.before[0], near.after[0])
        )
        text = say.BETWEEN_NEIGHBOURS
        if self.panel.only_before or near.after[0] < 0:
            text = say.AFTER_A_NEIGHBOUR
        elif near.before[0] < 0:
            text = say.BEFORE_A_NEIGHBOUR
        return f"{text.format(before=before, after=after)} {self.panel.where(values)}".rstrip()

    def ends_expected(self, values: Mapping[str, Value]) -> tuple[float, float]:
        """Return what the rows before and after suggest."""
        things, times = self.panel.row(values)
        own = logarithm(np.array([number_of(self.form, values[self.parent])]), self.rule.least)
        low, high = self.rule.range(things, self.rule.timeline.around(things, times), own)
        return self._number(low), self._number(high)

    def _number(self, number: float) -> float:
        """Return a number on the scale of the steps in units of the column."""
        least = self.rule.least
        if least is None:
            return float(number)
        found = math.exp(min(float(number), 700.0))
        return round(found / self.unit) * self.unit if self.unit > 0 else found

    def unknown(self, values: Mapping[str, Value]) -> str | None:
        """Say that there is no row before or after it."""
        things, times = self.panel.row(values)
        near = self.rule.timeline.around(things, times)
        if near.before[0] >= 0 or (near.after[0] >= 0 and not self.panel.only_before):
            return None
        text = say.NO_ROW_BEFORE if self.panel.only_before else say.NO_OTHER_ROW
        where = self.panel.where(values)
        return text.format(where=f" {where}" if where else "")

    @property
    def facts(self) -> Facts:
        """The order, and how much neighbours explain."""
        return {"order": self.panel.words, "share": math.floor(100 * self.rule.explained)}


@dataclasses.dataclass(frozen=True, eq=False)
class NeverFalls(OwnPast):
    """A number that never falls from one row to the next: that of a meter."""

    rule: past.Climb

    kind: ClassVar[str] = "order in time"
    words: ClassVar[str] = say.NEVER_MOVES
    runs_along: ClassVar[bool] = True
    title: ClassVar[str] = "{parent} in its order {order}"

    def residuals(self, things: Codes, times: Floats, parent: Column) -> Floats:
        """Return how far the order is broken."""
        near = self.rule.timeline.around(things, times)
        return self.rule.residuals(things, near, numbers_of(parent))

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say which row before or after it breaks the order, and how rarely that is."""
        things, times = self.panel.row(values)
        near = self.rule.timeline.around(things, times)
        own = np.array([number_of(self.form, values[self.parent])])
        is_below = self.rule.residuals(things, near, own)[0] < 0
        is_low = is_below == (self.rule.sign > 0)
        place = (near.before if is_low else near.after)[0]
        number = float(self.rule.sign * self.rule.values[place])
        other = quantity_text(value_of(self.form, number))
        return say.OUT_OF_LINE.format(
            side="below" if is_below else "above",
            other=other,
            when="before" if is_low else "after",
            moves="fall" if self.rule.sign > 0 else "rise",
            holding=self.rule.holding,
            known=self.rule.known,
        )

    @property
    def facts(self) -> Facts:
        """The order, what never happens, and in how many rows."""
        moves = "falls" if self.rule.sign > 0 else "rises"
        rows = {"holding": self.rule.holding, "known": self.rule.known}
        return {"order": self.panel.words, "moves": moves} | rows


@dataclasses.dataclass(frozen=True, eq=False)
class StandsStill(OwnPast):
    """A number that is the same in several rows, one after the other."""

    rule: past.Runs

    kind: ClassVar[str] = "run"
    words: ClassVar[str] = say.RUNS
    title: ClassVar[str] = "{parent} unchanged {order}"

    def residuals(self, things: Codes, times: Floats, parent: Column) -> Floats:
        """Return how much too long numbers stand still."""
        return self.rule.residuals(things, times, numbers_of(parent))

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say in how many rows it is the same."""
        own = np.array([number_of(self.form, values[self.parent])])
        row = self.panel.row(values)
        length = int(self.rule.lengths(*row, own)[0])
        start = text_of(value_of(self.panel.form, self.rule.start(*row, own)))
        most = math.floor(self.rule.most(row[0], own)[0])
        return say.STANDS_STILL.format(rows=length, start=start, most=most)

    @property
    def facts(self) -> Facts:
        """The order, and in how many rows it stays the same."""
        return {"order": self.panel.words, "most": math.floor(self.rule.limits[-1])}


@dataclasses.dataclass(frozen=True, eq=False)
class SinceLast(OwnPast):
    """The time since the row before."""

    rule: past.Gaps

    kind: ClassVar[str] = "gap"
    words: ClassVar[str] = say.REGULAR
    title: ClassVar[str] = "{parent} since the row before {order}"

    def residuals(self, things: Codes, times: Floats, parent: Column) -> Floats:  # noqa: ARG002
        """Return how much longer or shorter than usual it is."""
        return self.rule.residuals(things, times)

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say how long it is, and how long it usually is."""
        things, times = self.panel.row(values)
        form: Form = "duration" if self.form in DATES else "number"
        lengths = (
            float(self.rule.lengths(things, times)[0]),
            math.exp(float(self.rule.middle[things[0]])),
        )
        own, usual = (text_of(value_of(form, length)) for length in lengths)
        return say.SINCE_LAST.format(length=own, usual=usual)


@dataclasses.dataclass(frozen=True, eq=False)
class FirstSeen(OwnPast):
    """A label that a thing never had before, or has in no other row."""

    own: Keys
    rule: past.FirstTimes

    kind: ClassVar[str] = "first seen"
    words: ClassVar[str] = say.HARDLY_NEW
    title: ClassVar[str] = "{parent} seen {order}"

    def residuals(self, things: Codes, times: Floats, parent: Column) -> Floats:
        """Return how many rows the thing had without this label."""
        return self.rule.residuals(things, times, self.own.codes(parent, with_new=True))

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say among how many rows it is new."""
        rows = int(self.rule.rows_of(*self.panel.row(values))[0])
        return (say.FIRST_TIME if self.panel.only_before else say.IN_NO_OTHER).format(rows=rows)


@dataclasses.dataclass(frozen=True, eq=False)
class AtThisHour(OwnPast):
    """A number beside those of the same hour of the day, and of the same thing."""

    rule: past.Season

    kind: ClassVar[str] = "season"
    words: ClassVar[str] = say.SEASON
    title: ClassVar[str] = "{parent} at this hour {order}"

    @property
    def _kind(self) -> OwnKind:
        return self.rule.kind

    def residuals(self, things: Codes, times: Floats, parent: Column) -> Floats:
        """Return how far numbers are from those of the same hour."""
        own = logarithm(numbers_of(parent), self._kind.least)
        return self._kind.residuals(things, self.rule.without(_hours(times), own))

    def where(self, values: Mapping[str, Value]) -> str:
        """Name the hour, and the thing."""
        hour = int(_hours(self.panel.row(values)[1])[0])
        return f"{say.AT_HOUR.format(hour=hour)} {self.panel.where(values)}".rstrip()

    def ends_expected(self, values: Mapping[str, Value]) -> tuple[float, float]:
        """Return what is expected at this hour."""
        things, times = self.panel.row(values)
        own = np.array([number_of(self.form, values[self.parent])])
        hours = _hours(times)
        level = self.rule.without(hours, logarithm(own, self._kind.least))
        return self._kind.range(things, level, float(self.rule.profile[hours[0]]))


def _hours(times: Floats) -> Codes:
    """Return the hour of the day of moments, or the one behind them for none."""
    known = ~np.isnan(times)
    hours = np.floor(np.where(known, times, 0.0) / _HOUR).astype(np.int64) % past.HOURS
    return np.where(known, hours, past.HOURS).astype(np.int32)


# --- which panel ------------------------------------------------------------------------------


def may_have_past(drawn: Sequence[Column], options: Options, found: Sequence[Derivation]) -> bool:
    """Return whether there may be a panel: its columns are named, or things or a time known."""
    is_off = not options.derive or None in (options.entity, options.time)
    if is_off or not {column.name for column in drawn}.issuperset(options.panel):
        return False
    if options.panel:
        return True
    by_name, times = {column.name: column for column in drawn}, list(_times(drawn, AUTO))
    panels = (
        Panel(keys, time.name, time.form, only_before=False, is_guess=True)
        for time in times
        for keys in _entities(drawn, AUTO)
    )
    has_things = any(isinstance(item, OfOwnKind) for item in found)
    return bool(times) and (
        has_things
        or any(past.names_rows(own.things(by_name), own.times(by_name)) for own in panels)
    )


def find_past(
    columns: Sequence[Column], options: Options, kinds: Sequence[Keys]
) -> Iterator[OwnPast]:
    """Return what the past of rows says of them, by one panel; `kinds` are things found before."""
    panel = _panel(columns, options, kinds)
    if panel is None:
        return
    by_name = {column.name: column for column in columns}
    things, times = panel.things(by_name), panel.times(by_name)
    known = (things >= 0) & ~np.isnan(times)
    if not known.any():
        return
    timeline = Timeline.of(things[known], times[known])
    yield from _of_numbers(columns, panel, things, times, timeline)
    time = by_name[panel.time]
    gaps = past.gaps(timeline)
    if gaps is not None:
        yield SinceLast(time.name, time.form, panel.given[:-1] or panel.given, panel, gaps)
    if panel.entity is not None:
        yield from _first_seen(columns, panel, things, times)


def _of_numbers(
    columns: Sequence[Column], panel: Panel, things: Codes, times: Floats, whole: Timeline
) -> Iterator[OwnPast]:
    back = panel.only_before
    for column in columns:
        if not column.is_numeric or column.form not in QUANTITIES or column.name in panel.given:
            continue
        known = (things >= 0) & ~np.isnan(times) & ~np.isnan(column.values)
        own = things[known], times[known], column.values[known]
        timeline = Timeline.of(*own[:2]) if len(own[0]) < np.count_nonzero(things >= 0) else whole
        if len(timeline) < past.NAMED * len(own[0]):
            continue
        values = timeline.values(*own)
        target = column.name, column.form, panel.given, panel
        nature = nature_of(column, np.arange(len(column)))
        rule = _steps(timeline, values, only_before=back)
        if rule is not None:
            yield Step(*target, rule, **nature)
        climb = past.climb(timeline, values, only_before=back)
        if climb is not None:
            yield NeverFalls(*target, climb, **nature)
        still = past.runs(timeline, values, only_before=back)
        if still is not None:
            yield StandsStill(*target, still, **nature)
        if panel.form in ("datetime", "instant") and not back:
            season = past.season(things, _hours(times), column.values, None)
            if season is not None:
                yield AtThisHour(*target, season, **nature)


def _steps(timeline: Timeline, values: Floats, *, only_before: bool) -> past.Steps | None:
    """Return steps in plain space, or in logarithms where these leave much less."""
    found = past.steps(timeline, values, None, only_before=only_before)
    least = least_logarithm(values)
    if least is None:
        return found
    other = past.steps(timeline, logarithm(values, least), least, only_before=only_before)
    if found is None or other is None:
        return found or other
    return other if 1 - other.explained < MUCH_LESS * (1 - found.explained) else found


def _first_seen(
    columns: Sequence[Column], panel: Panel, things: Codes, times: Floats
) -> Iterator[FirstSeen]:
    for column in columns:
        if column.is_numeric or column.name in panel.given:
            continue
        keys = Keys.of(column, np.arange(len(column)))
        if keys is not None:
            codes = keys.codes(column)
            count, back = len(column.labels), panel.only_before
            rule = past.first_times(things, times, codes, count, only_before=back)
            if rule is not None:
                yield FirstSeen(column.name, column.form, panel.given, panel, keys, rule)


def _panel(columns: Sequence[Column], options: Options, kinds: Sequence[Keys]) -> Panel | None:
    """Return the panel that the user names, or the one in which neighbours explain most."""
    if options.entity is None or options.time is None:
        return None
    times = list(_times(columns, options.time))
    is_guess = AUTO in (options.entity, options.time)
    best, left = None, 1.0
    for time in times:
        for keys in _entities(columns, options.entity):
            panel = Panel(keys, time.name, time.form, options.past == "before", is_guess)
            if not is_guess:
                return panel
            own = 1 - _explained(panel, columns)
            if own < (1.0 if best is None else MUCH_LESS * left):
                best, left = panel, own
    if best is not None or not times:
        return best
    # Events of things known otherwise: their neighbours say nothing of numbers, gaps may.
    known = list(kinds) if options.entity == AUTO else list(_entities(columns, options.entity))
    if not known:
        return None
    return Panel(known[0], times[0].name, times[0].form, options.past == "before", is_guess)


def _times(columns: Sequence[Column], wanted: str) -> Iterator[NumericColumn]:
    if wanted == AUTO:
        dated = (item for item in columns if item.form in DATES and item.form != "time")
        yield from [item for item in dated if item.is_numeric][:_MOST_TIMES]
        return
    column = next((item for item in columns if item.name == wanted), None)
    if column is not None and not column.is_numeric:
        raise ColumnError(
            f"time is column {wanted!r}, which holds texts, not numbers or moments; name "
            "another column, or read it as moments with ",
            Setting("types"),
        )
    if column is not None:
        yield column


def _entities(columns: Sequence[Column], wanted: str) -> Iterator[Keys | None]:
    """Return what may name things: nothing, or a column; those of few things first."""
    if wanted != AUTO:
        named = (item for item in columns if item.name == wanted)
        yield from (Keys.of(item, np.arange(len(item)), is_declared=True) for item in named)
        return
    yield None
    found = (Keys.of(item, np.arange(len(item))) for item in columns)
    several = [keys for keys in found if keys is not None and LEAST_OWN * len(keys) <= keys.rows]
    yield from sorted(several, key=len)[:_MOST_ENTITIES]


def _explained(panel: Panel, columns: Sequence[Column]) -> float:
    """Return what neighbours explain of numbers, on average; 0 where time does not name rows."""
    by_name = {column.name: column for column in columns}
    things, times = panel.things(by_name), panel.times(by_name)
    if not past.names_rows(things, times):
        return 0.0
    may_measure = panel.entity is not None and panel.entity.numbers is not None
    rows = np.lexsort((times, things))
    rows = rows[(things[rows] >= 0) & ~np.isnan(times[rows])][:_LOOKED_AT]
    numeric = (item for item in columns if item.is_numeric and item.form in QUANTITIES)
    shares = [0.0]
    for column in [item for item in numeric if item.name not in panel.given][:_MOST_TOLD]:
        some = rows[~np.isnan(column.values[rows])]
        own = things[some], times[some]
        if len(some) >= LEAST_ROWS:
            timeline = Timeline.of(*own)
            values = timeline.values(*own, column.values[some])
            share = past.explained_by_neighbours(timeline, values)
            if may_measure:  # an age, say: what is so at 40 is so at 39 and 41, too
                beside = past.explained_by_neighbours(timeline, values, (-1, 1))
                share = share if beside <= MOST_BY_NEXT * share else 0.0
            shares.append(share if share >= LEAST_EXPLAINED else 0.0)
    return max(shares)
