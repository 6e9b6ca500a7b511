"""Findings in words: the one place that knows how to say them."""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outlying.results.terms import PYTHON, Terms
from outlying.table.values import (
    Value,
    lies_between,
    number_text,
    printable,
    range_text,
    text_of,
    without_trailing_zero,
)

if TYPE_CHECKING:
    from outlying.results.findings import Findings
    from outlying.results.pairs import Pair

#: Below this overall outlierness a value is called ordinary over the whole table.
ORDINARY = 0.5
_MOST_NAMED = 3
_MOST_ROWS = 1_000_000  # beyond, a tail is no more than a guess
_SHORT = 24  # characters of a value that may be said twice

#: What the numbers of a pair mean, for those who have never heard of densities.
GLOSSARY = {
    "rarity": "how many times fewer rows lie near this value than near that of a typical member "
    "of the group; of categories: how many times fewer rows share it.",
    "outlierness": "the rarity on a scale from 0 to 1. 0.9 is ten times rarer than a typical "
    "member, 0.99 a hundred times.",
    "confidence": "the share of other rows of this table whose strongest finding is weaker.",
    "group": "how many rows satisfy the conditions, and their share of the table.",
    "tail": "the share of the group that is at least as rare as this row.",
    "lift": "how many times closer together the values are in the group than over the whole "
    "table. Near 1, the conditions have nothing to do with the property.",
    "overall": "the outlierness of the same value over the whole table, without any condition.",
    "strength": "what the findings are ordered by. Rarity and lift add to it, each condition costs "
    "a little.",
}
_PAPER_OUTLIERNESS = (
    "the paper's own score, from 0 to 1. It depends on the unit of the column, so that scores of "
    "different columns do not compare."
)


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """One number of a pair: as people read it, and in full."""

    term: str
    text: str
    value: float


def figures(pair: Pair) -> list[Figure]:
    """Return the numbers of a pair, the most helpful first; confidence where it is known."""
    found = [
        Figure("rarity", figure(pair.rarity, 4), pair.rarity),
        Figure("outlierness", f"{pair.outlierness:.3f}", pair.outlierness),
        Figure("group", f"{pair.group_size:,} ({percent(pair.support)})", pair.group_size),
        Figure("tail", percent(pair.tail), pair.tail),
        Figure("lift", figure(pair.lift, 3), pair.lift),
        Figure("overall", f"{pair.overall_outlierness:.3f}", pair.overall_outlierness),
        Figure("strength", f"{pair.strength:.2f}", pair.strength),
    ]
    if pair.confidence is not None:
        found.insert(2, Figure("confidence", f"{pair.confidence:.2f}", pair.confidence))
    return found


def figure(number: float, digits: int) -> str:
    """Write a number with so many digits, but never with an exponent: whole parts stay whole."""
    if number >= 10 ** (digits - 1):
        return f"{number:,.0f}"
    return f"{number:.{digits}g}"


def glossary(measure: str) -> dict[str, str]:
    """Return the meaning of each term under the measure that was used."""
    return GLOSSARY | ({"outlierness": _PAPER_OUTLIERNESS} if measure == "paper" else {})


def verdict(pair: Pair) -> str:
    """Judge a pair in a word or two."""
    if pair.exceptional:
        return "exceptional"
    return "unusual" if pair.reaches_threshold else "below the threshold"


def claim(pair: Pair) -> str:
    """Name what a pair is about, as a title."""
    return _name_and_value(pair)


def sentence(pair: Pair) -> str:
    """Say a pair so that it is understood without knowing about densities."""
    if pair.detail is not None:
        return _detailed(pair)
    there = " there" if pair.conditions else ""
    said = (
        f"{_name_and_value(pair)}{', which' if pair.value is None else ''} {_degree(pair)} among "
        f"{group(pair)}: {printable(pair.property)} is typically {typical(pair)}{there}"
        f"{_how_rare(pair, there)}."
    )
    return said + (f" {overall(pair)}" if pair.conditions else "")


def _detailed(pair: Pair) -> str:
    """Say a pair whose value is one of several odd ones: how few there are of them."""
    like = "no other row is like that"
    if pair.near > 1:
        like = f"{pair.near:,} are like that, {times(pair.rarity)} fewer than usual"
    return f"{pair.detail}. This {_degree(pair)} among {group(pair)}: {like}."


def _degree(pair: Pair) -> str:
    if pair.exceptional:
        return "is exceptional"
    return "is unusual" if pair.reaches_threshold else "is a little unusual, below the threshold,"


def _how_rare(pair: Pair, there: str) -> str:
    """Say how rare the value is, and why where that does not show from what is typical."""
    rarer = f"{times(pair.rarity)} rarer than a typical value"
    if pair.value is None:
        return f", and a missing value is {times(pair.rarity)} rarer"
    value = text_of(pair.value) if len(text_of(pair.value)) <= _SHORT else "this value"
    if pair.reaches_threshold and pair.gap is not None:
        low, high = (text_of(end) for end in pair.gap)
        gap = f"no other row{there} is between {low} and {high}"
        return f", but {value} is in a gap: {gap}, which makes it {rarer}"
    if pair.reaches_threshold and _is_inside(pair):
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
    return _name_and_value(pair, _SHORT), _expected(pair), where


def _expected(pair: Pair) -> str:
    if pair.reaches_threshold and pair.gap is not None:
        return f"in a gap between {text_of(pair.gap[0])} and {text_of(pair.gap[1])}"
    if pair.value is None:
        return "expected a value"
    named = typical(pair, 2)
    if len(named) > _SHORT:
        named = typical(pair, 1)
    if _is_inside(pair):
        return f"{'rare ' if pair.reaches_threshold else ''}within {named}"
    return f"expected {named}"


def told_as(pair: Pair) -> str:
    """Name a telling of a story in a few words."""
    where = f" where {conditions(pair)}" if pair.conditions else ""
    return f"{_name_and_value(pair)}{where}"


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


def summed_up(findings: Findings) -> str:
    """Say how many findings are exceptional."""
    if not findings.pairs:
        return "There is no finding."
    count = sum(pair.exceptional for pair in findings.pairs)
    if count == 0:
        return "Nothing is exceptional; the strongest findings are listed all the same."
    shown = len(findings.pairs)
    if shown == 1:
        return "There is one finding, and it is exceptional."
    return f"Of {shown} findings, {count} {'is' if count == 1 else 'are'} exceptional."


def standing(as_strong: int, asked: int, chance: float = 1.0) -> str:
    """Say how a finding compares with those on reference rows, and by their tail with all rows."""
    if asked == 1:
        has = (
            "has no finding this strong" if not as_strong else "has a finding at least this strong"
        )
        return f"The only other row compared {has}."
    if as_strong == 0:
        return f"None of {asked:,} other rows has a finding this strong{_tail(asked, chance)}."
    if as_strong == 1:
        return f"1 of {asked:,} other rows has a finding at least this strong."
    which = f"All {asked:,}" if as_strong == asked else f"{as_strong:,} of {asked:,}"
    return f"{which} other rows have findings at least this strong."


def _tail(asked: int, chance: float) -> str:
    """Say how many of all rows would have such a finding, on the safe side."""
    rows = min(1 / max(chance, 1e-9), _MOST_ROWS)
    step = 10.0 ** math.floor(math.log10(rows))
    one_in = int(math.floor(rows / step) * step)
    if one_in <= 2 * asked:
        return ""
    return f"; judging by the strongest of theirs, at most 1 row in {one_in:,} would"


def cell_of(pair: Pair, most: int = 80) -> str:
    """Name the cell that a derived property comes from."""
    return f"{printable(pair.column, most)} = {printable(text_of(pair.parent_value), most)}"


def _name_and_value(pair: Pair, most: int = 80) -> str:
    if pair.detail is not None:
        return pair.detail
    name = printable(pair.property if pair.value is not None else pair.column, most)
    if pair.value is None:
        return f"{name} is missing"
    return f"{name} = {printable(text_of(pair.value), most)}"


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
    named = [_range(item) for item in items[:most]]
    more = len(items) - len(named)
    if more > 0:
        ranges, s = isinstance(items[0], tuple), "" if more == 1 else "s"
        return ", ".join(named) + f" or {more:,} other{f' range{s}' if ranges else s}"
    return named[0] if len(named) == 1 else ", ".join(named[:-1]) + " or " + named[-1]


def _range(item: Any) -> str:
    return range_text(*item) if isinstance(item, tuple) else text_of(item)


def overall(pair: Pair) -> str:
    """Say how the same value looks without the context."""
    value = "a missing value" if pair.value is None else text_of(pair.value)
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
