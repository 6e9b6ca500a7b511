"""Relations that hold by rule: labels that follow from others, order, durations, own kind."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from outlying import sentences as say
from outlying.derived.calendar import DATES, DAY, MINUTE
from outlying.derived.relations import (
    QUANTITIES,
    SAMPLE,
    SHORT,
    Breach,
    Facts,
    Held,
    Keys,
    Relation,
    listed,
    nature_of,
    numbers_of,
)
from outlying.method import rules
from outlying.method.arithmetic import BROKEN
from outlying.method.relations import FARTHEST, least_logarithm, logarithm
from outlying.options import AUTO, Options
from outlying.table.columns import Column, NumericColumn, frozen
from outlying.table.values import (
    Floats,
    Form,
    Rows,
    Value,
    number_of,
    printable,
    quantity_text,
    range_text,
    telling_digits,
    text_of,
)

#: Rows on which it is found out whether labels follow from others.
_SCREENED = 8_192
#: The first rows tell most numbers that are in no order: so many of them break it.
_FIRST, _MOST_BROKEN = 128, 12
#: More columns of labels, or of moments, are not tried.
_MOST_LABELS = 40
#: What durations are told in: the greatest that they are twice as long as.
_UNITS = {"day": DAY, "hour": 60 * MINUTE, "minute": MINUTE, "second": MINUTE / 60}
#: So many relations of each kind tell of a column.
_MOST_EACH = 2


@dataclasses.dataclass(frozen=True, eq=False)
class Follows(Held):
    """Labels that follow from those of another column, with rare exceptions."""

    source: Keys
    own: Keys
    rule: rules.Dependency

    is_by_names: ClassVar[bool] = True
    kind: ClassVar[str] = "dependency"
    words: ClassVar[str] = say.FOLLOWS
    exception: ClassVar[str] = say.NOT_FOLLOWING
    title: ClassVar[str] = "{parent} as {given} says"

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Return how many rows say that a label should be another one."""
        given = self.source.codes(columns[self.source.name])
        parent = columns[self.parent]
        found = self.rule.residuals(given, self.own.codes(parent, with_new=True))
        return NumericColumn(self.name, "number", frozen(found), self)

    def by_all(self, columns: Mapping[str, Column]) -> Self:
        """Return what follows from each label by all of its rows."""
        given, parent = columns[self.source.name], columns[self.parent]
        source, own = _all_keys(given), _all_keys(parent)
        rule = rules.dependency(source.codes(given), own.codes(parent))
        if rule is None:
            return self.counted(*self.counts(columns))
        found = dataclasses.replace(self, source=source, own=own, rule=rule)
        return found.counted(rule.holding, rule.known)

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say which label is expected."""
        return say.EXPECTED.format(expected=self.own.text(self._code(values)))

    def expected(self, values: Mapping[str, Value]) -> tuple[Value, Value] | None:
        """Return the label that is expected, twice: a whole number where numbers are names."""
        label = self.own.value(self._code(values))
        return None if values[self.parent] is None else (label, label)

    def _code(self, values: Mapping[str, Value]) -> int:
        return int(self.rule.expected[self.source.code(values[self.source.name])])

    def where(self, values: Mapping[str, Value]) -> str:
        """Name the rows of the same source, and how many of them agree."""
        own = values[self.source.name]
        rows = int(self.rule.agreeing[self.source.code(own)])
        text = say.AS_IN_ONE if rows == 1 else say.AS_IN
        return text.format(conditions=self.source.said(own), rows=rows)


def _all_keys(column: Column) -> Keys:
    keys = Keys.of(column, np.arange(len(column)), is_declared=True)
    assert keys is not None  # noqa: S101 - of what is declared there always are
    return keys


@dataclasses.dataclass(frozen=True, eq=False)
class Ordered(Held):
    """A number, or a moment, that is hardly ever less than another one of its row."""

    rule: rules.Order

    kind: ClassVar[str] = "order"
    words: ClassVar[str] = say.ORDERED
    exception: ClassVar[str] = say.OUT_OF_ORDER_RULE
    title: ClassVar[str] = "{parent} beside {given}"

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Return how far the order is broken."""
        found = self.rule.residuals(
            *(numbers_of(columns[name]) for name in (*self.given, self.parent))
        )
        return NumericColumn(self.name, "number", frozen(found), self)

    @property
    def _word(self) -> str:
        return "before" if self.form in DATES else "less than"

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say that the order is broken, and how rarely that is."""
        other = f"{printable(self.given[0], SHORT)} = {text_of(values[self.given[0]])}"
        return say.OUT_OF_ORDER.format(
            side=self._word, other=other, holding=self.holding, known=self.known
        )

    def breach(self, values: Mapping[str, Value]) -> Breach | None:
        """Return that one is less than the other."""
        return _less(self, values)

    @property
    def facts(self) -> Facts:
        """Which order, and how often it holds."""
        return {"side": self._word, **super().facts}


@dataclasses.dataclass(frozen=True, eq=False)
class OneOf(Held):
    """One category in several columns of 0 and 1, of which exactly one is 1."""

    kind: ClassVar[str] = "one of"
    words: ClassVar[str] = say.EXACTLY_ONE
    exception: ClassVar[str] = say.NOT_ONE
    title: ClassVar[str] = "one of {parent}, {given}"

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Return how many too many are 1, or too few."""
        away = np.sum([flags_of(columns[name]) for name in self.used], axis=0) - 1
        found = np.clip(BROKEN * away, -FARTHEST, FARTHEST)
        return NumericColumn(self.name, "number", frozen(found), self)

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say which of them are 1 here."""
        ones = [printable(name, SHORT) for name in self.used if values[name]]
        text = say.SEVERAL_OF if ones else say.NONE_OF
        return text.format(columns=listed(ones or self._names), rule=self.sentence)

    @property
    def _names(self) -> list[str]:
        return [printable(name, SHORT) for name in self.used]

    @property
    def facts(self) -> Facts:
        """The columns, and how often exactly one is 1."""
        one, columns = "true" if self.form == "boolean" else "1", listed(self._names)
        return {"columns": columns, "one": one, **super().facts}


def flags_of(column: Column) -> Floats:
    """Return 0 and 1 of numbers, or of true and false; NaN is missing."""
    if column.is_numeric:
        return column.values
    return np.array([*(float(label is True) for label in column.labels), np.nan])[column.codes]


def _one_hot(columns: Sequence[Column], drawn: Rows) -> Iterator[OneOf]:
    """Return which columns of 0 and 1 are one category."""
    few = drawn[:_FIRST]
    flags = [
        (column, flags_of(column))
        for column in columns
        if (column.form in QUANTITIES or column.form == "boolean")
        and np.isin(flags_of(column.taken(few)), (0.0, 1.0)).all()
    ]
    flags = [(item, own) for item, own in flags if np.isin(own[drawn], (0.0, 1.0)).all()]
    if len(flags) < rules.LEAST_KINDS:
        return
    table = np.column_stack([own[drawn] for _, own in flags])
    for places in rules.one_hot(table[:SAMPLE]):
        ones = table[:, list(places)].sum(axis=1)
        holding = int(np.count_nonzero(ones == 1))
        if holding >= (1 - rules.MOST_BROKEN) * len(ones):
            first, *rest = (flags[place][0] for place in places)
            others = tuple(item.name for item in rest)
            yield OneOf(first.name, first.form, others, holding=holding, known=len(ones))


@dataclasses.dataclass(frozen=True, eq=False)
class Later(Held):
    """A moment that comes a usual time after another one of its row."""

    earlier_form: Form
    rule: rules.Duration

    runs_along: ClassVar[bool] = True
    is_both_ways: ClassVar[bool] = True
    kind: ClassVar[str] = "duration"
    words: ClassVar[str] = say.COMES_AFTER
    title: ClassVar[str] = "{parent} after {given}"

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Return how far durations are from the usual one."""
        moments = (numbers_of(columns[name]) for name in (*self.given, self.parent))
        return NumericColumn(self.name, "number", frozen(self.rule.residuals(*moments)), self)

    def off(self, columns: Mapping[str, Column]) -> Floats:
        """Return 0 of rows in which it does not come before the other moment."""
        earlier, later = (numbers_of(columns[name]) for name in (*self.given, self.parent))
        return np.minimum(later - earlier, 0.0)

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say how long after the other moment it is, and how long that usually is."""
        own = number_of(self.form, values[self.parent]) - self._start(values)
        never = say.NEVER_BEFORE if self.rule.ends[0] >= 0 else say.TOO_EARLY
        return (never if own < 0 else say.NOT_AFTER).format(
            length=_range_of(abs(own), abs(own)),
            other=f"{printable(self.given[0], SHORT)} = {text_of(values[self.given[0]])}",
            expected=_range_of(*self.rule.ends, own),
            holding=self.holding,
            known=self.known,
        )

    def ends_expected(self, values: Mapping[str, Value]) -> tuple[float, float] | None:
        """Return when it is expected."""
        if values[self.given[0]] is None:
            return None
        low, high = self.rule.ends
        return self._start(values) + low, self._start(values) + high

    def _start(self, values: Mapping[str, Value]) -> float:
        return number_of(self.earlier_form, values[self.given[0]])

    def breach(self, values: Mapping[str, Value]) -> Breach | None:
        """Return that one comes before the other, where it hardly ever does."""
        return _less(self, values) if self.rule.ends[0] >= 0 else None

    @property
    def facts(self) -> Facts:
        """How long after it."""
        return {"length": _range_of(*self.rule.ends)}


def _less(relation: Held, values: Mapping[str, Value]) -> Breach | None:
    """Return that the parent is less than what is given, if it is and any language says so."""
    own: Any = values[relation.parent]
    try:
        return Breach() if own < values[relation.given[0]] else None
    except TypeError:  # a day and a moment, or with a time zone and without
        return None


def _range_of(low: float, high: float, beside: float = math.nan) -> str:
    """Write durations in one unit."""
    longest = max(abs(low), abs(high))
    unit = next((name for name, size in _UNITS.items() if longest >= 2 * size), "second")
    unit = unit if longest else "second"
    ends, own = (low / _UNITS[unit], high / _UNITS[unit]), beside / _UNITS[unit]
    text = range_text(*ends, telling_digits(own, ends), own) if low < high else _short(ends[0])
    return f"{text} {unit}{'' if text == '1' else 's'}"


def _short(number: float) -> str:
    return quantity_text(round(number, 2))


@dataclasses.dataclass(frozen=True, eq=False)
class OfOwnKind(Relation):
    """A number beside those of other rows of the same thing: an account, a sensor."""

    things: Keys
    rule: rules.OwnKind
    _: dataclasses.KW_ONLY
    is_of_drawn: bool = False  # whether of a table that is not held only these rows were seen

    is_by_names: ClassVar[bool] = True
    kind: ClassVar[str] = "own kind"
    words: ClassVar[str] = say.OWN_LEVEL
    title: ClassVar[str] = "{parent} for its {given}"
    is_mutual: ClassVar[bool] = False

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Return how far values are from those of their own thing."""
        parent = numbers_of(columns[self.parent])
        things = self.things.codes(columns[self.things.name])
        found = self.rule.residuals(things, logarithm(parent, self.rule.least))
        return NumericColumn(self.name, "number", frozen(found), self)

    def by_all(self, columns: Mapping[str, Column]) -> Self:
        """Return what is usual of each thing by all of its rows."""
        column, least = columns[self.things.name], self.rule.least
        keys, values = _all_keys(column), logarithm(numbers_of(columns[self.parent]), least)
        rule = rules.own_kind(keys.codes(column), values, least, is_known=True)
        return self if rule is None else dataclasses.replace(self, things=keys, rule=rule)

    def where(self, values: Mapping[str, Value]) -> str:
        """Name the thing, and count its rows."""
        own = values[self.things.name]
        rows = int(self.rule.rows[self.things.code(own)])
        text = say.WHERE_ROWS_DRAWN if self.is_of_drawn else say.WHERE_ROWS
        return text.format(conditions=self.things.said(own), rows=rows)

    def ends_expected(self, values: Mapping[str, Value]) -> tuple[float, float]:
        """Return what is expected of this thing."""
        code = self.things.code(values[self.things.name])
        own = logarithm(np.array([number_of(self.form, values[self.parent])]), self.rule.least)
        return self.rule.range(np.array([code], dtype=np.int32), own)

    def unknown(self, values: Mapping[str, Value]) -> str | None:
        """Say that a thing has too few rows."""
        if values[self.things.name] is None or values[self.parent] is None:
            return None
        code = self.things.code(values[self.things.name])
        rows = int(self.rule.rows[code]) if 0 <= code < len(self.rule.rows) else 0
        if rows >= rules.LEAST_OWN:
            return None
        text = {0: say.NEW_THING, 1: say.ONE_ROW_OF_THING}.get(rows, say.FEW_ROWS_OF_THING)
        text = say.FEW_DRAWN_OF_THING if self.is_of_drawn else text
        thing = self.things.said(values[self.things.name])
        return text.format(thing=thing, rows=rows, needed=rules.LEAST_OWN)

    @property
    def facts(self) -> Facts:
        """How much is explained."""
        return {"share": math.floor(100 * self.rule.explained)}


def find_rules(columns: Sequence[Column], drawn: Rows, options: Options) -> Iterator[Relation]:
    """Return the rules of columns in the order of their names, as the rows drawn show them."""
    screened = drawn[:_SCREENED]
    found = ((column, Keys.of(column, screened)) for column in columns)
    keyed = [(column, keys) for column, keys in found if keys is not None][:_MOST_LABELS]
    names = names_of(keyed, columns, screened)
    yield from _dependencies(keyed, names, drawn)
    yield from _one_hot(columns, drawn)
    yield from _orders(columns, drawn)
    yield from _durations(columns, drawn)
    if options.entity is None:
        return
    if options.entity != AUTO:
        named = [column for column in columns if column.name == options.entity]
        declared = ((item, Keys.of(item, drawn, is_declared=True)) for item in named)
        yield from _own_kinds(columns, [(item, keys) for item, keys in declared if keys], drawn)
        return
    yield from _own_kinds(columns, [pair for pair in keyed if pair[1].name in names], drawn)


def names_of(
    keyed: Sequence[tuple[Column, Keys]], columns: Sequence[Column], drawn: Rows
) -> frozenset[str]:
    """Return which columns name things: those of labels, and numbers that are names."""
    numeric = [column for column, keys in keyed if keys.numbers is not None]
    names = {keys.name for _, keys in keyed if keys.numbers is None}
    others = {
        column.name: rules.ranked(column.values[drawn])
        if column.is_numeric
        else column.codes[drawn]
        for column in columns
        if numeric
    }
    for column in numeric:
        beside = (values for name, values in others.items() if name != column.name)
        if rules.are_names(numbers_of(column)[drawn], beside):
            names.add(column.name)
    return frozenset(names)


def _dependencies(
    keyed: Sequence[tuple[Column, Keys]], names: Collection[str], drawn: Rows
) -> Iterator[Follows]:
    some = [keys.codes(column, drawn[:_SCREENED]) for column, keys in keyed]
    pairs = [rules.neighbours(codes) for codes in some]
    for own, (column, keys) in enumerate(keyed):
        found = []
        for place, (source, others) in enumerate(keyed):
            if place == own or others.name not in names:
                continue
            if not rules.may_follow(pairs[place], some[own]):
                continue
            if rules.dependency(some[place], some[own]) is None:
                continue
            codes = others.codes(source, drawn), keys.codes(column, drawn)
            rule = rules.dependency(*codes)
            if rule is not None:
                made = Follows(column.name, column.form, (others.name,), others, keys, rule)
                found.append(made.counted(rule.holding, rule.known))
        yield from sorted(found, key=lambda item: -item.holding)[:_MOST_EACH]


def _orders(columns: Sequence[Column], drawn: Rows) -> Iterator[Ordered]:
    """Return which columns are never less than others, but for numbers that a third one is between.

    Of a least, a mean and a greatest number, two orders say it all.
    """
    found = [*_all_orders(columns, drawn)]
    above: dict[str, set[str]] = {}
    for item in found:
        above.setdefault(item.given[0], set()).add(item.parent)
    for item in found:
        between = above[item.given[0]] & {own for own in above if item.parent in above[own]}
        if item.form in DATES or not between:
            yield item


def _all_orders(columns: Sequence[Column], drawn: Rows) -> Iterator[Ordered]:
    numeric = [item for item in columns if item.is_numeric]
    for one, other in itertools.permutations(numeric, 2):
        are_dates = one.form in DATES, other.form in DATES
        if are_dates[0] != are_dates[1] or (one.form == "time") != (other.form == "time"):
            continue
        first, rows = drawn[:_FIRST], drawn[:SAMPLE]
        if np.count_nonzero(one.values[first] > other.values[first]) > _MOST_BROKEN:
            continue
        if rules.order(one.values[rows], other.values[rows], are_moments=all(are_dates)) is None:
            continue
        rule = rules.order(one.values[drawn], other.values[drawn], are_moments=all(are_dates))
        if rule is not None:
            made = Ordered(other.name, other.form, (one.name,), rule)
            yield made.counted(rule.holding, rule.known)


def _durations(columns: Sequence[Column], drawn: Rows) -> Iterator[Later]:
    """Return for each moment the one before it that it is closest to in most rows."""
    dated = [item for item in columns if item.form in DATES and item.form != "time"]
    moments = [item for item in dated if item.is_numeric][:_MOST_LABELS]
    units, rows = tuple(_UNITS.values()), drawn[:SAMPLE]
    for later in moments:
        best: Later | None = None
        for other in moments:
            lengths = later.values[rows] - other.values[rows]
            is_later = (float(np.nansum(np.sign(lengths))), later.name) > (0.0, other.name)
            if other is later or not is_later:
                continue
            if rules.duration(other.values[rows], later.values[rows], units) is None:
                continue
            rule = rules.duration(other.values[drawn], later.values[drawn], units)
            if rule is not None and (best is None or rule.width < best.rule.width):
                best = Later(later.name, later.form, (other.name,), other.form, rule)
        if best is not None:
            by_name = {item.name: item.taken(drawn) for item in moments if item.name in best.used}
            yield best.counted(*best.counts(by_name))


def _own_kinds(
    columns: Sequence[Column], keyed: Sequence[tuple[Column, Keys]], drawn: Rows
) -> Iterator[OfOwnKind]:
    things = [(keys, keys.codes(column, drawn)) for column, keys in keyed]
    for column in columns:
        if not column.is_numeric or column.form not in QUANTITIES:
            continue
        values = column.values[drawn]
        floor = least_logarithm(values)
        ranks = np.where(np.isnan(values), np.nan, np.unique(values, return_inverse=True)[1])
        ranks /= max(float(np.nanmax(ranks, initial=0)), 1.0)
        best: OfOwnKind | None = None
        for keys, codes in things:
            if keys.name == column.name or not rules.may_be_kinds(codes, ranks):
                continue
            for least in (None, floor)[: 1 if floor is None else 2]:
                rule = rules.own_kind(codes, logarithm(values, least), least)
                if rule is not None and (
                    best is None or 1 - rule.explained < 0.8 * (1 - best.rule.explained)
                ):
                    nature = nature_of(column, drawn[:SAMPLE])
                    best = OfOwnKind(column.name, column.form, (keys.name,), keys, rule, **nature)
        if best is not None:
            yield best
