"""Findings in words: the one place that knows how to say them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlying.values import printable, text_of

if TYPE_CHECKING:
    from outlying.findings import Pair

#: Below this overall outlierness a value is called ordinary over the whole table.
ORDINARY = 0.5
_MOST_NAMED = 3


def sentence(pair: Pair) -> str:
    """Say a pair so that it is understood without knowing about densities."""
    if pair.exceptional:
        verdict = "is exceptional among"
    elif pair.reaches_threshold:
        verdict = "is unusual, but no more than what ordinary rows show, among"
    else:
        verdict = "is below the threshold, though unusual, among"
    there = "there " if pair.conditions else ""
    member = "member of that group" if pair.conditions else "row"
    said = (
        f"{subject(pair)} {verdict} {group(pair)}: typical {there}is {typical(pair)}, "
        f"and it is {times(pair.rarity)} rarer than a typical {member}."
    )
    return said + (f" {overall(pair)}" if pair.conditions else "")


def standing(as_strong: int, asked: int) -> str:
    """Say how a finding compares with those on reference rows."""
    others = f"Of {asked:,} other {'row' if asked == 1 else 'rows'}"
    if as_strong == 0:
        return f"{others}, none has a finding this strong."
    if as_strong == 1:
        return f"{others}, one has a finding at least this strong."
    return f"{others}, {as_strong:,} have findings at least this strong."


def subject(pair: Pair) -> str:
    """Name the property with its value."""
    name = printable(pair.property)
    return f"{name} is missing; this" if pair.value is None else f"{name} = {text_of(pair.value)}"


def group(pair: Pair) -> str:
    """Name the rows of the context."""
    if not pair.conditions:
        rows = f"all {pair.group_size:,} rows"
    else:
        where = " and ".join(str(condition) for condition in pair.conditions)
        rows = f"the {pair.group_size:,} rows ({percent(pair.support)}) where {where}"
    if pair.known == pair.group_size:
        return rows
    return f"{rows} ({printable(pair.property)} is known for {pair.known:,} of them)"


def typical(pair: Pair) -> str:
    """Name what is typical in the group."""
    if pair.value is None:
        return "a known value"
    named = [_range(item) for item in pair.typical[:_MOST_NAMED]]
    more = len(pair.typical) - len(named)
    if more > 0:
        return ", ".join(named) + f" or {more} more"
    return named[0] if len(named) == 1 else ", ".join(named[:-1]) + " or " + named[-1]


def _range(item: Any) -> str:
    if not isinstance(item, tuple):
        return text_of(item)
    low, high = text_of(item[0]), text_of(item[1])
    return low if low == high else f"{low} to {high}"


def overall(pair: Pair) -> str:
    """Say how the same value looks without the context."""
    value = "a missing value" if pair.value is None else text_of(pair.value)
    if pair.overall_outlierness < ORDINARY:
        return f"Over the whole table, {value} is ordinary."
    score = f"outlierness {pair.overall_outlierness:.2f}"
    return f"Over the whole table, {value} stands out less ({score})."


def percent(share: float) -> str:
    """Write a share in percent, with a digit only where it is needed."""
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"


def times(rarity: float) -> str:
    """Write how many times rarer, without false precision."""
    return f"{rarity:,.0f} times" if rarity >= 10 else f"{rarity:.1f} times"
