"""Findings in words, in the terms of who asks: the one place that knows how to say them."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlying.table.values import (
    Value,
    lies_between,
    number_text,
    printable,
    range_text,
    telling_digits,
    text_of,
    without_trailing_zero,
)

if TYPE_CHECKING:
    from outlying.results.findings import Findings
    from outlying.results.stories import Pair

#: Below this overall outlierness a value is called ordinary over the whole table.
ORDINARY = 0.5
_MOST_NAMED = 3
_SHORT = 24  # characters of a value that may be said twice

#: What the numbers of a pair mean, for those who have never heard of densities.
GLOSSARY = {
    "rarity": "how many times fewer rows lie near this value than near that of a typical member "
    "of the group; of categories: how many times fewer rows share it.",
    "outlierness": "the rarity on a scale from 0 to 1. 0.9 is ten times rarer than a typical "
    'member, 0.99 a hundred times. With preset="paper" it is the paper\'s own score, which depends '
    "on the unit of the column, so that scores of different columns do not compare.",
    "group": "how many rows satisfy the conditions, and their share of the table.",
    "tail": "the share of the group that is at least as rare as this row.",
    "lift": "how many times closer together the values are in the group than over the whole "
    "table. Near 1, the conditions have nothing to do with the property.",
    "overall": "the outlierness of the same value over the whole table, without any condition.",
    "strength": "what findings are ordered by, and compared with those of all other rows: how far "
    "the value lies outside, and how badly it fits the other columns.",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Hint:
    """What an option would change: `exact=True searches all rows`.

    Without a value, a higher one is meant.
    """

    option: str
    effect: str
    value: bool | str | tuple[str, ...] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Terms:
    """How rows and options are named by one who asks in Python, or in a shell.

    `flags` are the options of a command; None stands for the arguments of Python. What a command
    does not offer is not hinted at. `everything` shows the findings that are folded.
    """

    first_row: int = 0
    row: str = "row"
    everything: str = "text(all=True)"
    flags: Mapping[str, str] | None = None

    def row_name(self, position: int) -> str:
        """Name a row by its position from 0."""
        return f"{self.row} {position + self.first_row:,}"

    def hints(self, given: Sequence[Hint]) -> list[str]:
        """Write hints as sentences, without those that cannot be followed."""
        named = [(self._setting(hint), hint.effect) for hint in given]
        return [f"{setting} {effect}." for setting, effect in named if setting is not None]

    def _setting(self, hint: Hint) -> str | None:
        name = hint.option if self.flags is None else self.flags.get(hint.option)
        if name is None:
            return None
        if hint.value is None:
            return f"A higher {name}"
        if hint.value is True:
            return f"{name}=True" if self.flags is None else name
        if self.flags is None:
            return f"{name}={json.dumps(hint.value, ensure_ascii=False)}"
        import shlex

        names = [hint.value] if isinstance(hint.value, str) else hint.value or ()
        return " ".join(f"{name} {shlex.quote(item)}" for item in names)


#: What Python says; commands have terms of their own.
PYTHON = Terms()


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """One number of a pair: as people read it, and in full."""

    term: str
    text: str
    value: float


def figures(pair: Pair) -> list[Figure]:
    """Return the numbers of a pair, the most helpful first."""
    return [
        Figure("rarity", figure(pair.rarity, 4), pair.rarity),
        Figure("outlierness", f"{pair.outlierness:.3f}", pair.outlierness),
        Figure("group", f"{pair.group_size:,} ({percent(pair.support)})", pair.group_size),
        Figure("tail", percent(pair.tail), pair.tail),
        Figure("lift", figure(pair.lift, 3), pair.lift),
        Figure("overall", f"{pair.overall_outlierness:.3f}", pair.overall_outlierness),
        Figure("strength", f"{pair.strength:.2f}", pair.strength),
    ]


def figure(number: float, digits: int) -> str:
    """Write a number with so many digits, but never with an exponent: whole parts stay whole."""
    if number >= 10 ** (digits - 1):
        return f"{number:,.0f}"
    return f"{number:.{digits}g}"


def verdict(pair: Pair) -> str:
    """Judge a pair in a word or two."""
    if pair.exceptional:
        return "exceptional"
    return "unusual" if pair.unusual else "weak"


def sentence(pair: Pair) -> str:
    """Say a pair so that it is understood without knowing about densities."""
    if pair.detail is not None:
        return _detailed(pair)
    there = " there" if pair.conditions else ""
    said = (
        f"{claim(pair)}{', which' if pair.value is None else ''} {_degree(pair)} among "
        f"{group(pair)}: {printable(pair.property)} is typically {typical(pair)}{there}"
        f"{_how_rare(pair, there)}."
    )
    return said + (f" {overall(pair)}" if pair.conditions else "")


def _detailed(pair: Pair) -> str:
    """Say a pair whose value is one of several odd ones: how few there are of them."""
    like = "no other row is like that"
    as_far = round(pair.tail * pair.known)
    if pair.given:
        like = "no other row is as far off"
        if as_far > 1:
            like = f"{as_far:,} rows are as far off"
    elif pair.near > 1:
        like = f"{pair.near:,} are like that, {times(pair.rarity)} fewer than usual"
    return f"{pair.detail}. This {_degree(pair)} among {group(pair)}: {like}."


def _degree(pair: Pair) -> str:
    if pair.exceptional:
        return "is exceptional"
    return "is unusual" if pair.unusual else "is a little unusual"


def _how_rare(pair: Pair, there: str) -> str:
    """Say how rare the value is, and why where that does not show from what is typical."""
    rarer = f"{times(pair.rarity)} rarer than a typical value"
    if pair.value is None:
        return f", and a missing value is {times(pair.rarity)} rarer"
    value = value_text(pair) if len(value_text(pair)) <= _SHORT else "this value"
    if pair.is_finding and pair.gap is not None:
        low, high = _gap_texts(pair.gap, pair)
        gap = f"no other row{there} is between {low} and {high}"
        return f", but {value} is in a gap: {gap}, which makes it {rarer}"
    if pair.is_finding and _is_inside(pair):
        return f"; though {value} is inside this range, few rows are near it: it is {rarer}"
    if pair.scale > 1 and pair.near == 1 and pair.reach:
        return f", and {value} is {rarer}. No other row{there} is within {distance(pair)} of it"
    return f", and {value} is {rarer}"


def _is_inside(pair: Pair) -> bool:
    """Return whether a number lies inside one of the ranges that are typical."""
    ranges: list[Any] = [item for item in pair.typical if isinstance(item, tuple)]
    return any(lies_between(low, high, pair.value) for low, high in ranges)


def distance(pair: Pair) -> str:
    """Write how far off no other row is, rounded down; of times in words."""
    reach = pair.reach or 0.0
    if isinstance(pair.value, (dt.date, dt.time, dt.timedelta)):
        for unit, seconds in _UNITS.items():
            if reach >= seconds:
                count = math.floor(reach / seconds)
                return f"{count:,} {unit}{'' if count == 1 else 's'}"
        return f"{reach:.2g} seconds"
    step = 10.0 ** (math.floor(math.log10(reach)) - 1)  # two digits will do
    return without_trailing_zero(number_text(math.floor(reach / step + 1e-9) * step))


_UNITS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}


def headline(pair: Pair) -> tuple[str, str, str]:
    """Return the value, what was expected instead, and where: a finding in one line."""
    if pair.conditions:
        where = f"where {conditions(pair)}"
    else:
        known = "all " if pair.known == pair.group_size else ""
        where = f"among {known}{pair.known:,} rows"
    if pair.said is not None:
        return cell_of(pair, _SHORT), pair.said, where
    return claim(pair, _SHORT), _expected(pair), where


def _expected(pair: Pair) -> str:
    if pair.is_finding and pair.gap is not None:
        return "in a gap between {} and {}".format(*_gap_texts(pair.gap, pair))
    if pair.value is None:
        return "expected a value"
    if (span := _span(pair)) is not None:
        return f"expected {_range(span, _digits(pair))}"
    named = typical(pair, 2)
    if len(named) > _SHORT:
        named = typical(pair, 1)
    if _is_inside(pair):
        return f"{'rare ' if pair.is_finding else ''}within {named}"
    return f"expected {named}"


def _span(pair: Pair) -> tuple[Any, Any] | None:
    """Return what holds all ranges that are typical, if these are several and the value is outside.

    Where it is beyond all of them, the gaps between say nothing.
    """
    ranges: list[Any] = [item for item in pair.typical if isinstance(item, tuple)]
    if len(ranges) < 2 or pair.value is None:
        return None
    low, high = ranges[0][0], ranges[-1][1]
    return None if lies_between(low, high, pair.value) else (low, high)


def told_as(pair: Pair) -> str:
    """Name a telling of a story in a few words."""
    where = f" where {conditions(pair)}" if pair.conditions else ""
    return f"{claim(pair)}{where}"


def conditions(pair: Pair) -> str:
    """Write the conditions of a context as a list."""
    *most, last = (str(condition) for condition in pair.conditions)
    return f"{', '.join(most)} and {last}" if most else last


def name_of(findings: Findings, terms: Terms = PYTHON) -> str:
    """Name what is explained, and what it was compared with."""
    people = findings.population
    source = f"{printable(people.source)} ({people.rows:,} rows)"
    if findings.row is None:
        if findings.key:
            return f"The row with {key_of(findings.key)} in {source}"
        return f"The new object against {source}"
    row = terms.row_name(findings.row)
    named = f" ({key_of(findings.key)})" if findings.key else ""
    return f"{row[0].upper()}{row[1:]}{named} of {source}"


def key_of(key: Sequence[tuple[str, Value]]) -> str:
    """Write the values by which a row is known."""
    pairs = ((printable(name, 40) if name.strip() else "name", text_of(v)) for name, v in key)
    return " and ".join(f"{name} = {printable(text, 60)}" for name, text in pairs)


def title(findings: Findings) -> str:
    """Say how many things stand out, or how many rows have findings as strong as the closest."""
    told = [story for story in findings.stories if story.stands_out]
    if findings.unusual:
        return "Unusual"
    if told:
        return "One thing stands out" if len(told) == 1 else f"{len(told):,} things stand out"
    if not findings.stories or not findings.stories[0].as_strong:
        return "Nothing stands out"
    return f"Nothing stands out: {_others(findings.stories[0].headline)} at least as strong"


def standing(pair: Pair) -> str:
    """Say how many other rows have a finding as strong; nothing where rows are not judged."""
    if pair.rank is None:
        return ""
    if pair.rank.as_strong == 0:
        return f"No other row of the {_compared(pair)} has a finding this strong."
    return f"{_others(pair)} at least as strong."


def _others(pair: Pair) -> str:
    """Count the other rows with a finding as strong."""
    count = pair.as_strong or 0
    rows, have = ("row", "has") if count == 1 else ("rows", "have")
    return f"{count:,} other {rows} of the {_compared(pair)} {have} a finding"


def _compared(pair: Pair) -> str:
    """Name the rows that were judged: all of the table, or those drawn from it."""
    judged = pair.judged or 0
    return f"{judged:,}{' that were drawn' if judged < rows_of(pair) - 1 else ''}"


def cell_of(pair: Pair, most: int = 80) -> str:
    """Name the cell that a derived property comes from."""
    return f"{printable(pair.column, most)} = {printable(text_of(pair.parent_value), most)}"


def not_together(columns: Sequence[str]) -> str:
    """Say of columns that any of them may be the wrong one."""
    *most, last = (printable(name, 40) for name in columns)
    return f"{', '.join(most)} and {last} do not fit together: any of them may be wrong."


def joint(pair: Pair) -> str:
    """Return what joins a cell and what is said of it: a relation says what is expected."""
    return ", " if pair.given else " "


def claim(pair: Pair, most: int = 80) -> str:
    """Name what a pair is about, as a title: the cell, or what is odd of it."""
    if pair.detail is not None:
        return pair.detail
    name = printable(pair.property if pair.value is not None else pair.column, most)
    if pair.value is None:
        return f"{name} is missing"
    return f"{name} = {printable(value_text(pair), most)}"


def value_text(pair: Pair) -> str:
    """Write the object's value with as many digits as tell it from what is typical."""
    return text_of(pair.value, _digits(pair))


def _digits(pair: Pair) -> int:
    ends: list[Any] = [*(pair.gap or ())]
    for item in pair.typical:
        ends += item if isinstance(item, tuple) else (item,)
    return telling_digits(pair.value, ends)


def _gap_texts(gap: tuple[Value, Value], pair: Pair) -> tuple[str, str]:
    digits = _digits(pair)
    return text_of(gap[0], digits), text_of(gap[1], digits)


def group(pair: Pair) -> str:
    """Name the rows of the context."""
    if not pair.conditions:
        rows = f"all {pair.group_size:,} rows"
    else:
        share = percent(pair.support)
        rows = f"the {pair.group_size:,} rows ({share}) where {conditions(pair)}"
    if pair.known == pair.group_size:
        return rows
    return f"{rows} ({printable(pair.property)} is known for {pair.known:,} of them)"


def members(pair: Pair) -> str:
    """Name the rows that the property is compared with, shortly."""
    if not pair.conditions:
        return everyone(pair, pair.known)
    known = "" if pair.known == pair.group_size else f" and {printable(pair.property)} is known"
    return f"{pair.known:,} rows where {conditions(pair)}{known}"


def everyone(pair: Pair, known: int) -> str:
    """Name the rows of the whole table that have the property."""
    if known == rows_of(pair):
        return f"all {known:,} rows"
    return f"the {known:,} rows where {printable(pair.property)} is known"


def rows_of(pair: Pair) -> int:
    """Count the rows of the whole table."""
    return round(pair.group_size / pair.support)


def typical(pair: Pair, most: int = _MOST_NAMED) -> str:
    """Name what is typical in the group; of categories, others than the object's own."""
    if pair.value is None:
        return "known"
    items: list[Any] = [item for item in pair.typical if item != pair.value] or [*pair.typical]
    digits = _digits(pair)
    named = [_range(item, digits) for item in items[:most]]
    more = len(items) - len(named)
    if more > 0:
        ranges, s = isinstance(items[0], tuple), "" if more == 1 else "s"
        return ", ".join(named) + f" or {more:,} other{f' range{s}' if ranges else s}"
    return named[0] if len(named) == 1 else ", ".join(named[:-1]) + " or " + named[-1]


def _range(item: Any, digits: int) -> str:
    if isinstance(item, tuple):
        low, high = item
        return range_text(low, high, digits)
    return text_of(item, digits)


def overall(pair: Pair) -> str:
    """Say how the same value looks without the context."""
    value = "a missing value" if pair.value is None else value_text(pair)
    if pair.overall_outlierness < ORDINARY:
        return f"Over the whole table, {value} is ordinary."
    less = "less" if pair.overall_outlierness < pair.outlierness else "as well"
    return f"Over the whole table, {value} stands out {less}."


def percent(share: float) -> str:
    """Write a share in percent, with a digit only where it is needed; all but a few is not all."""
    if 0.995 <= share < 1:
        return f"{math.floor(1000 * share) / 10:.1f}%"
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"


def times(rarity: float) -> str:
    """Write how many times rarer, without false precision."""
    return f"{rarity:,.0f} times" if rarity >= 10 else f"{rarity:.1f} times"
