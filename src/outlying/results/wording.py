"""Findings in words: the one place that knows how to say them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outlying.table.values import Value, printable, text_of

if TYPE_CHECKING:
    from outlying.results.findings import Findings
    from outlying.results.pairs import Pair

#: Below this overall outlierness a value is called ordinary over the whole table.
ORDINARY = 0.5
_MOST_NAMED = 3

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
        Figure("rarity", f"{pair.rarity:,.4g}", pair.rarity),
        Figure("outlierness", f"{pair.outlierness:.3f}", pair.outlierness),
        Figure("group", f"{pair.group_size:,} ({percent(pair.support)})", pair.group_size),
        Figure("tail", percent(pair.tail), pair.tail),
        Figure("lift", f"{pair.lift:.3g}", pair.lift),
        Figure("overall", f"{pair.overall_outlierness:.3f}", pair.overall_outlierness),
        Figure("strength", f"{pair.strength:.2f}", pair.strength),
    ]
    if pair.confidence is not None:
        found.insert(2, Figure("confidence", f"{pair.confidence:.2f}", pair.confidence))
    return found


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
    return subject(pair).removesuffix("; this")


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


def name_of(findings: Findings) -> str:
    """Name what is explained, and what it was compared with."""
    people = findings.population
    source = f"{printable(people.source)} ({people.rows:,} rows)"
    if findings.key:
        return f"The row with {key_of(findings.key)} in {source}"
    if findings.row is None:
        return f"The new object against {source}"
    return f"Data row {findings.row + 1:,} of {source}"


def key_of(key: Sequence[tuple[str, Value]]) -> str:
    """Write the values by which a row is known."""
    return " and ".join(f"{printable(name, 40)} = {printable(text_of(v), 60)}" for name, v in key)


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


def members(pair: Pair) -> str:
    """Name the rows that the property is compared with, shortly."""
    if not pair.conditions:
        return everyone(pair, pair.known)
    where = " and ".join(str(condition) for condition in pair.conditions)
    known = "" if pair.known == pair.group_size else f" and {printable(pair.property)} is known"
    return f"{pair.known:,} rows where {where}{known}"


def everyone(pair: Pair, known: int) -> str:
    """Name the rows of the whole table that have the property."""
    if known == rows_of(pair):
        return f"all {known:,} rows"
    return f"the {known:,} rows where {printable(pair.property)} is known"


def rows_of(pair: Pair) -> int:
    """Count the rows of the whole table."""
    return round(pair.group_size / pair.support)


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
    """Write a share in percent, with a digit only where it is needed; all but a few is not all."""
    if 0.995 <= share < 1:
        return f"{math.floor(1000 * share) / 10:.1f}%"
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"


def times(rarity: float) -> str:
    """Write how many times rarer, without false precision."""
    return f"{rarity:,.0f} times" if rarity >= 10 else f"{rarity:.1f} times"
