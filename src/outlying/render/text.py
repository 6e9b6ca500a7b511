"""Findings as text for a terminal or a log, with small pictures of block characters."""

from __future__ import annotations

import dataclasses
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from outlying import sentences as say
from outlying.render import scene
from outlying.render.axis import short
from outlying.render.shapes import Line
from outlying.results.findings import Findings, Population
from outlying.results.many import Pattern
from outlying.results.stories import OddCell, Pair, odd_cells
from outlying.results.wording import (
    PYTHON,
    Terms,
    figures,
    line,
    name_of,
    percent,
    title,
    where_else,
)
from outlying.table.table import SkipReason
from outlying.table.values import Value, printable, text_of

_FILLER = "\uffff"  # stands for the second cell of a wide character; no text that is shown has it


def text_width(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    wide = sum(_is_wide(char) for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> str:
    """Return a text in lines of at most a width; the first and the others have their own margin."""
    spread = text
    if not text.isascii():
        spread = "".join(char + _FILLER if _is_wide(char) else char for char in text)
    wrapper = _Wrapper(width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return wrapper.fill(spread).replace(_FILLER, "")


class _Wrapper(textwrap.TextWrapper):
    """Never parts the two cells of a wide character."""

    def _handle_long_word(
        self, reversed_chunks: list[str], cur_line: list[str], cur_len: int, width: int
    ) -> None:
        room = width - cur_len
        if reversed_chunks[-1][room : room + 1] == _FILLER:
            if room == 1 and cur_line:
                return  # the word begins on the next line
            width -= room > 1
        super()._handle_long_word(reversed_chunks, cur_line, cur_len, width)


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"


#: What a terminal must be able to show.
CHARACTERS = "▁▂▃▄▅▆▇█▲◀▏▎▍▌▋▊▉"

_LEVELS = " ▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_MOST_CELLS = 48
_MOST_BARS = 4
_BAR_CELLS = 24
_LEAST_BAR_CELLS = 6
_BESIDE_BAR = 10  # a share and a mark
_LABEL_CELLS = 20


def sparkline(pair: Pair, width: int) -> list[str]:
    """Return the group of a pair and where the object is; nothing where there is no room for it."""
    if pair.picture is None:
        return []
    chart = scene.property_chart(pair, pair.picture)
    if isinstance(chart, scene.BarChart):
        lines = _bars(chart, width)
    elif chart.kind == "scatter" or pair.given:
        return []  # how far rows are from what is expected says nothing without a page
    else:
        lines = _density(chart, width)
    return lines if all(text_width(line) <= width for line in lines) else []


def _density(chart: scene.Chart, width: int) -> list[str]:
    low, high = chart.axis.ends
    count = min(_MOST_CELLS, width - text_width(low) - text_width(high) - 2)
    if count < 10:
        return []
    at = min(int(chart.mark_place * count), count - 1)
    margin = " " * (text_width(low) + 1)
    label = _marked(at, chart.mark_text, count)
    (inside,) = chart.of_role("inside")
    return [f"{low} {_levels(inside, count)} {high}", margin + label]


def _levels(line: Line, count: int) -> str:
    """Return a curve as blocks of eight heights; whatever is not empty shows."""
    fine = np.interp((np.arange(8 * count) + 0.5) / (8 * count), line.x, line.y)
    heights = fine.reshape(count, 8).max(axis=1)
    levels = np.where(heights > 0, np.maximum(np.rint(heights * 8), 1), 0).astype(int)
    return "".join(_LEVELS[level] for level in levels)


def _marked(at: int, text: str, count: int) -> str:
    """Return a line that marks a place, the label on the side where there is room."""
    if at > count // 2 and at > text_width(text):
        return " " * (at - text_width(text) - 1) + f"{text} ▲"
    return " " * at + f"▲ {text}"


def _bars(chart: scene.BarChart, width: int) -> list[str]:
    shown = list(chart.bars[:_MOST_BARS])
    if not any(bar.is_object for bar in shown):
        shown[-1:] = [bar for bar in chart.bars if bar.is_object]
    labels = [short(bar.label, _LABEL_CELLS) for bar in shown]
    widest = max(text_width(label) for label in labels)
    most = min(_BAR_CELLS, width - widest - _BESIDE_BAR)
    if most < _LEAST_BAR_CELLS:
        return []
    return [
        label
        + " " * (widest - text_width(label))
        + f" {_bar(bar.inside, most)} {percent(bar.inside)}"
        + (" ◀" if bar.is_object else "")
        for label, bar in zip(labels, shown, strict=True)
    ]


def _bar(share: float, most: int) -> str:
    eighths = max(1, round(share * 8 * most))
    full, part = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[part] if part else "")


Style: TypeAlias = Callable[[str, str], str]

_MOST_VALUES = 40
_UNBROKEN = "\N{NO-BREAK SPACE}"  # a name and its value stay on one line
_MOST_SKIPPED = 10
_MOST_ROWS = 8
#: The numbers of a story, where all are asked for.
_FIGURES = ("outlierness", "rarity", "tail", "lift", "strength")
_MOST_FOLDED = 2  # of the other findings on a cell, unless everything is asked for
#: A column that is left out for one of these takes part if its type is declared.
_DECLARABLE = {
    SkipReason.IDENTIFIER: "categorical",
    SkipReason.TOO_MANY_TEXTS: "categorical",
    SkipReason.ROW_NUMBER: "numeric",
}


def no_style(text: str, role: str) -> str:  # noqa: ARG001 - a style looks at both
    """Return the text as it is."""
    return text


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """How text is written; `with_notes` adds what is true of all rows alike, said once of many."""

    width: int = 88
    style: Style = no_style
    everything: bool = False
    with_sparks: bool = False
    with_notes: bool = True
    terms: Terms = PYTHON


def render(findings: Findings, look: Look) -> str:
    """Return findings as text for people; weaker ones in a line unless everything is asked for."""
    stories = [story for story in findings.stories if look.everything or story.stands_out]
    cells, has_marks = odd_cells(stories), findings.exceptional  # else the title says it
    parts = [
        _object(findings, look),
        look.style(wrapped(title(findings), look.width), "title"),
        *(_cell(cell, look, has_marks) for cell in cells),
        *_folded(findings, len(stories), look),
        *_notes(findings, look),
    ]
    return "\n\n".join(parts)


def _object(findings: Findings, look: Look) -> str:
    """Return the values of the object, so that a slip in the row number shows."""
    name = wrapped(name_of(findings, look.terms), look.width, "", "  ")
    return look.style(name, "title") + "\n" + values(findings.values, look.width, "  ")


def values(row: Sequence[tuple[str, Value]], width: int, margin: str) -> str:
    """Return the values of a row, each with its column."""
    cells = [
        f"{printable(key, 40)}={say.EMPTY_VALUE if v is None else printable(text_of(v), 40)}"
        for key, v in row
    ]
    more = len(cells) - _MOST_VALUES
    cells[_MOST_VALUES:] = [say.MORE_COLUMNS.format(count=more)] if more > 0 else []
    whole = "  ".join(cell.replace(" ", _UNBROKEN) for cell in cells)
    return wrapped(whole, width, margin, margin).replace(_UNBROKEN, " ")


def _cell(cell: OddCell, look: Look, has_marks: bool) -> str:
    """Return what makes a cell odd: its best story in full, and the others in short."""
    first, story = f"{cell.number:>2}. ", cell.story
    margin = " " * len(first)
    width = look.width
    marked = say.MARKED_UNUSUAL if has_marks and story.unusual else ""
    text = wrapped(f"{marked}{story.sentence}", width, first, margin)
    drawn = sparkline(story.headline, width - len(margin)) if look.with_sparks else []
    picture = "".join(f"{look.style(margin + line, 'picture')}\n" for line in drawn)
    lines = [wrapped(line, width, margin, margin) for line in _details(cell, look.everything)]
    role = "exceptional" if story.stands_out else "ordinary"
    details = look.style("\n".join(lines), "detail")
    return f"{look.style(text, role)}\n{picture}{details}".rstrip("\n")


def _details(cell: OddCell, everything: bool) -> list[str]:
    """Return how a story compares with others, in which other contexts the cell is odd, too."""
    story = cell.story
    lines = [story.headline.standing] if story.headline.standing else []
    if everything:
        known = {term: text for term, (text, _) in figures(story.headline).items()}
        known["strength"] = f"{story.strength:.2f}"  # as strong as any telling
        lines.append(" | ".join(f"{term} {known[term]}" for term in _FIGURES))
    pairs = [(say.ALSO_ODD, other.headline) for other in cell.also]
    pairs += [
        (say.ALSO_ODD if pair.column == story.headline.column else say.OTHER_SIDE, pair)
        for pair in story.others
        if everything or len(pair.conditions) < len(story.columns)
    ]
    told = {_subject(story.headline)}
    found: dict[str, list[str]] = {say.ALSO_ODD_WHERE: [], say.ALSO_ODD: [], say.OTHER_SIDE: []}
    for text, pair in pairs:
        if _subject(pair) not in told:  # a relation and a context of the same columns say the same
            where = where_else(story.headline, pair)
            found[say.ALSO_ODD_WHERE if where else text].append(where or line(pair))
        told.add(_subject(pair))
    for text, some in found.items():
        shown = some if everything else some[:_MOST_FOLDED]
        more = len(some) - len(shown)
        findings = "; ".join(shown) + (say.AND_MORE.format(count=more) if more else "")
        lines += [text.format(findings=findings)] if some else []
    return lines


def _subject(pair: Pair) -> tuple[str, frozenset[str]]:
    return pair.column, frozenset(pair.others)


def _folded(findings: Findings, shown: int, look: Look) -> list[str]:
    left = len(findings.stories) - shown
    if left <= 0:
        return []
    text = say.ONE_WEAKER if left == 1 else say.WEAKER
    text = text if findings.stands_out else say.SHOWS_THE_CLOSEST
    return [wrapped(text.format(everything=look.terms.everything, count=left), look.width)]


def _notes(findings: Findings, look: Look) -> list[str]:
    notes = findings.notes if look.with_notes else findings.own_notes
    is_quiet = not findings.stands_out and not look.everything
    hidden = {say.CLOSEST_ARE_GIVEN} if is_quiet else set()  # what is given is not shown
    hidden |= set() if look.everything else set(findings.how)
    told = [note for note in notes if note not in hidden]
    told += look.terms.hints(findings.hints)
    return notes_paragraph(findings.population if look.with_notes else None, told, look)


def notes_paragraph(people: Population | None, notes: Sequence[str], look: Look) -> list[str]:
    """Return a paragraph on the columns that took no part, and what else to know, if anything."""
    skipped = [] if people is None else skipped_lines(people, look.terms)
    lines = [wrapped(printable(note, 400), look.width, "- ", "  ") for note in (*skipped, *notes)]
    return ["\n".join(lines)] if lines else []


def skipped_lines(people: Population, terms: Terms) -> list[str]:
    """Say which columns were not compared, why, and how they would be."""
    skipped = people.skipped_columns
    lines = []
    for item in skipped[:_MOST_SKIPPED]:
        said = say.NOT_COMPARED.format(column=printable(item.name), reason=item.reason)
        if item.why in _DECLARABLE:
            setting = printable(terms.declared(item.name, _DECLARABLE[item.why]))
            said += " " + say.COMPARES_IT.format(setting=setting)
        lines.append(said)
    if len(skipped) > _MOST_SKIPPED:
        lines.append(say.MORE_NOT_COMPARED.format(count=len(skipped) - _MOST_SKIPPED))
    return lines


def summary(patterns: Sequence[Pattern], are_new: bool, look: Look, least: int = 1) -> list[str]:
    """Return what many objects have in common, each with the first of its rows."""
    lines = [
        wrapped(f"{item} ({_members(item, are_new, look)})", look.width, "  ", "    ")
        for item in patterns
        if item.count >= least
    ]
    return ["\n".join([look.style(say.SHARED, "title"), *lines])] if lines else []


def _members(pattern: Pattern, are_new: bool, look: Look) -> str:
    first = 1 if are_new or pattern.are_places else look.terms.first_row
    named = ", ".join(str(row + first) for row in pattern.rows[:_MOST_ROWS])
    text = say.SHARED_ROW if pattern.count == 1 else say.SHARED_ROWS
    said = text.format(kind="object" if are_new else "row", rows=named)
    more = pattern.count - _MOST_ROWS
    said += say.SHARED_MORE.format(count=more) if more > 0 else ""
    return said + (say.SHARED_PLACES if pattern.are_places and not are_new else "")
