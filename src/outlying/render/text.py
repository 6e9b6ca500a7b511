"""Findings as text for a terminal or a log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from outlying.render.sparkline import sparkline
from outlying.render.text_width import wrapped
from outlying.results.findings import Findings, Population
from outlying.results.pairs import Pair
from outlying.results.patterns import Pattern
from outlying.results.wording import figures, name_of
from outlying.table.values import Value, printable, text_of

Style: TypeAlias = Callable[[str, str], str]

_MOST_VALUES = 40
_UNBROKEN = "\N{NO-BREAK SPACE}"  # a name and its value stay on one line
_MOST_SKIPPED = 10
_MOST_ROWS = 8


def no_style(text: str, role: str) -> str:  # noqa: ARG001 - a style looks at both
    """Return the text as it is."""
    return text


def render(
    findings: Findings, width: int = 88, style: Style = no_style, *, with_sparks: bool = False
) -> str:
    """Return findings as text for people: the row, the ranked pairs, what to know.

    `with_sparks` adds small pictures, for terminals that have the characters.
    """
    pairs = _pairs(findings, width, style, with_sparks)
    notes = notes_paragraph(findings.population, findings.notes, width)
    return "\n\n".join([_object(findings, width, style), *pairs, *notes])


def _object(findings: Findings, width: int, style: Style) -> str:
    """Return the values of the object, so that a slip in the row number shows."""
    name = wrapped(name_of(findings), width, "", "  ")
    return style(name, "title") + "\n" + values(findings.values, width, "  ")


def values(row: Sequence[tuple[str, Value]], width: int, margin: str) -> str:
    """Return the values of a row, each with its column."""
    cells = [f"{printable(key, 40)}={printable(text_of(v), 40)}" for key, v in row]
    if len(cells) > _MOST_VALUES:
        cells = [*cells[:_MOST_VALUES], f"... and {len(cells) - _MOST_VALUES} more columns"]
    whole = "  ".join(cell.replace(" ", _UNBROKEN) for cell in cells)
    return wrapped(whole, width, margin, margin).replace(_UNBROKEN, " ")


def _pairs(findings: Findings, width: int, style: Style, with_sparks: bool) -> list[str]:
    lines = []
    for rank, pair in enumerate(findings.pairs, start=1):
        number = f"{rank:>2}. "
        role = "exceptional" if pair.exceptional else "ordinary"
        text = wrapped(pair.sentence, width, number, " " * len(number))
        margin = " " * len(number)
        drawn = sparkline(pair, width - len(margin)) if with_sparks else []
        picture = "".join(f"{style(margin + line, 'picture')}\n" for line in drawn)
        details = "\n".join(wrapped(line, width, margin, margin) for line in _details(pair))
        lines.append(f"{style(text, role)}\n{picture}{style(details, 'detail')}")
    return lines


def _details(pair: Pair) -> list[str]:
    known = {item.term: item.text for item in figures(pair)}
    shown = ("outlierness", "rarity", "tail", "lift", "strength")
    numbers = " | ".join(f"{term} {known[term]}" for term in shown)
    if pair.confidence is None:
        return [numbers]
    return [f"{pair.standing.removesuffix('.')} (confidence {known['confidence']}).", numbers]


def notes_paragraph(population: Population, notes: Sequence[str], width: int) -> list[str]:
    """Return a paragraph on the columns that took no part, and what else to know, if anything."""
    lines = [
        wrapped(printable(note, 400), width, "- ", "  ")
        for note in (*_skipped_lines(population), *notes)
    ]
    return ["\n".join(lines)] if lines else []


def _skipped_lines(population: Population) -> list[str]:
    skipped = population.skipped_columns
    lines = [f"Column {printable(item.name)} {item.reason}." for item in skipped[:_MOST_SKIPPED]]
    if len(skipped) > _MOST_SKIPPED:
        lines.append(f"{len(skipped) - _MOST_SKIPPED} more columns were skipped (see JSON).")
    return lines


def summary(
    patterns: Sequence[Pattern], are_new: bool, width: int = 88, style: Style = no_style
) -> str:
    """Return what many objects have in common, each with the first of its rows."""
    lines = [
        wrapped(f"{item} ({_members(item, are_new)})", width, "  ", "    ") for item in patterns
    ]
    return "\n".join([style("What they have in common", "title"), *lines])


def _members(pattern: Pattern, are_new: bool) -> str:
    kind = "object" if are_new else "row"
    named = ", ".join(str(row + 1) for row in pattern.rows[:_MOST_ROWS])
    more = pattern.count - _MOST_ROWS
    return f"{kind if pattern.count == 1 else kind + 's'} {named}" + (
        f" and {more:,} more" if more > 0 else ""
    )
