"""Findings as text for a terminal or a log, with small pictures of block characters."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from outlying.render import scene
from outlying.render.axis import short
from outlying.results.documents import Pattern
from outlying.results.findings import Findings, Population
from outlying.results.stories import Pair, Story
from outlying.results.wording import (
    PYTHON,
    Terms,
    figures,
    headline,
    joint,
    name_of,
    percent,
    title,
    told_as,
)
from outlying.table.values import Value, printable, text_of

_FILLER = "\uffff"  # stands for the second cell of a wide character; no text that is shown has it


def text_width(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    wide = sum(_is_wide(char) for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def cut(text: str, width: int) -> str:
    """Return a text of at most a width; one that was longer ends in an ellipsis."""
    if text_width(text) <= width:
        return text
    while text_width(text) >= width:
        text = text[:-1]
    return text + "…"


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> str:
    """Return a text in lines of at most a width; the first and the others have their own margin."""
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
    """Return the group of a pair and where the object is, in lines of at most a width.

    Empty where there is nothing to draw, or no room for it.
    """
    if pair.picture is None:
        return []
    chart = scene.property_chart(pair, pair.picture)
    lines = _density(chart, width) if isinstance(chart, scene.DensityChart) else _bars(chart, width)
    return lines if all(text_width(line) <= width for line in lines) else []


def _density(chart: scene.DensityChart, width: int) -> list[str]:
    low, high = chart.axis.ends
    count = min(_MOST_CELLS, width - text_width(low) - text_width(high) - 2)
    if count < 10:
        return []
    at = min(int(chart.axis.place(chart.mark) * count), count - 1)
    margin = " " * (text_width(low) + 1)
    label = _marked(at, chart.mark_text, count)
    return [f"{low} {_levels(chart.inside, count)} {high}", margin + label]


def _levels(line: scene.Line, count: int) -> str:
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
    """Return bars for the most frequent categories, and the object's."""
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
_MOST_TELLINGS = 2
_BETWEEN = "  "  # the cells of a line on what stands out


def no_style(text: str, role: str) -> str:  # noqa: ARG001 - a style looks at both
    """Return the text as it is."""
    return text


def render(
    findings: Findings,
    width: int = 88,
    style: Style = no_style,
    *,
    everything: bool = False,
    with_sparks: bool = False,
    terms: Terms = PYTHON,
) -> str:
    """Return findings as text for people: the row, what stands out, each thing in full, notes.

    Weaker findings are folded to a line, and numbers that a newcomer does not know are left out,
    unless `everything` is asked for. `with_sparks` adds small pictures, for terminals that have
    the characters.
    """
    told = [story for story in findings.stories if everything or story.stands_out]
    draw = _Drawing(width, style, everything, with_sparks)
    notes = (*findings.notes, *terms.hints(findings.hints))
    parts = [
        _object(findings, width, style, terms),
        *_headlines(findings, width, style),
        *(draw.story(rank, story) for rank, story in enumerate(told, start=1)),
        *_folded(findings, len(told), width, terms),
        *notes_paragraph(findings.population, notes, width),
    ]
    return "\n\n".join(parts)


def _object(findings: Findings, width: int, style: Style, terms: Terms) -> str:
    """Return the values of the object, so that a slip in the row number shows."""
    name = wrapped(name_of(findings, terms), width, "", "  ")
    return style(name, "title") + "\n" + values(findings.values, width, "  ")


def values(row: Sequence[tuple[str, Value]], width: int, margin: str) -> str:
    """Return the values of a row, each with its column."""
    cells = [f"{printable(key, 40)}={printable(text_of(v), 40)}" for key, v in row]
    if len(cells) > _MOST_VALUES:
        cells = [*cells[:_MOST_VALUES], f"... and {len(cells) - _MOST_VALUES} more columns"]
    whole = "  ".join(cell.replace(" ", _UNBROKEN) for cell in cells)
    return wrapped(whole, width, margin, margin).replace(_UNBROKEN, " ")


def _headlines(findings: Findings, width: int, style: Style) -> list[str]:
    """Return what stands out, a line each; or that nothing does, and what comes closest."""
    told = [story.headline for story in findings.stories if story.stands_out]
    if not told:
        return [style(wrapped(f"{title(findings)}.", width), "title") + _closest(findings, width)]
    with_marks = findings.exceptional  # where all are unusual, the title says it
    aligned = iter(
        _aligned([_cells(pair, with_marks) for pair in told if pair.said is None], width)
    )
    lines = (
        next(aligned) if pair.said is None else _claim(pair, width, with_marks) for pair in told
    )
    return [style(f"{title(findings)}:", "title") + "\n" + "\n".join(lines)]


def _cells(pair: Pair, with_mark: bool) -> tuple[str, str, str]:
    value, expected, where = headline(pair)
    return value, expected, where + _mark(pair, with_mark)


def _mark(pair: Pair, with_mark: bool) -> str:
    """Mark what is unusual beside what is exceptional."""
    return " (unusual)" if with_mark and pair.unusual else ""


def _claim(pair: Pair, width: int, with_mark: bool) -> str:
    """Return what a derived column says in words, whole: it would not fit into a cell."""
    cell, said, where = headline(pair)
    among = f", {where}" if pair.conditions else ""
    return wrapped(
        f"{cell}{joint(pair)}{said}{among}{_mark(pair, with_mark)}", width, _BETWEEN, 2 * _BETWEEN
    )


def _aligned(lines: Sequence[tuple[str, str, str]], width: int) -> list[str]:
    """Return lines of three cells below each other; one long cell does not push the others out."""
    first, second, third = _widths(lines)
    if first + second + third + 3 * len(_BETWEEN) > width:
        most = int(0.35 * width), int(0.42 * width)
        lines = [(cut(one, most[0]), cut(two, most[1]), three) for one, two, three in lines]
        first, second, third = _widths(lines)
    if first + second + third + 3 * len(_BETWEEN) > width:
        second = min(second, int(0.3 * width))
    return [_line(line, (first, second), width) for line in lines]


def _widths(lines: Sequence[tuple[str, str, str]]) -> list[int]:
    """Return how wide the longest cell of each column is."""
    return [max((text_width(line[place]) for line in lines), default=0) for place in range(3)]


def _line(cells: tuple[str, str, str], widths: tuple[int, int], width: int) -> str:
    padded = [_padded(cell, least) for cell, least in zip(cells, widths, strict=False)]
    start = _BETWEEN.join(("", *padded, ""))
    margin, rest = " " * text_width(start), " " * (sum(widths) + 3 * len(_BETWEEN))
    return start + wrapped(cells[2], width, margin, rest).removeprefix(margin)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - text_width(text))


def _closest(findings: Findings, width: int) -> str:
    if not findings.stories:
        return ""
    pair = findings.stories[0].headline
    cell, expected, where = headline(pair)
    between = ", " if pair.said is None else joint(pair)
    said = f"The closest is {cell}{between}{expected}, {where}."
    return "\n" + wrapped(said, width, "  ", "  ")


def _folded(findings: Findings, shown: int, width: int, terms: Terms) -> list[str]:
    """Return a line on the findings that are not shown."""
    left, is_quiet = len(findings.stories) - shown, not findings.stands_out
    left -= is_quiet  # the closest is named
    if left <= 0 or shown == len(findings.stories):
        return []
    weaker = "1 weaker finding" if left == 1 else f"{left:,} weaker findings"
    it = "it" if left == 1 else "them"
    if is_quiet:
        return [wrapped(f"{terms.everything} shows {weaker}.", width)]
    those = "is no stronger than those" if left == 1 else "are no stronger than those"
    return [wrapped(f"{weaker} {those} of many rows; {terms.everything} shows {it}.", width)]


class _Drawing:
    """How a story is written in full."""

    def __init__(self, width: int, style: Style, everything: bool, with_sparks: bool) -> None:
        self.width, self.style = width, style
        self.everything, self.with_sparks = everything, with_sparks

    def story(self, rank: int, story: Story) -> str:
        """Return a story with its standing and its picture."""
        number, pair = f"{rank:>2}. ", story.headline
        margin = " " * len(number)
        role = "exceptional" if story.stands_out else "ordinary"
        text = wrapped(story.sentence, self.width, number, margin)
        drawn = sparkline(pair, self.width - len(margin)) if self.with_sparks else []
        picture = "".join(f"{self.style(margin + line, 'picture')}\n" for line in drawn)
        details = "\n".join(
            wrapped(line, self.width, margin, margin) for line in self._details(story)
        )
        return f"{self.style(text, role)}\n{picture}{self.style(details, 'detail')}".rstrip("\n")

    def _details(self, story: Story) -> list[str]:
        """Return how a story compares with others, and what else it is told as.

        Tellings with further columns than its own are for those who want everything.
        """
        others = [
            told_as(pair)
            for pair in story.others
            if self.everything or len(pair.conditions) < len(story.columns)
        ]
        shown = others if self.everything else others[:_MOST_TELLINGS]
        more = f"; and {len(others) - len(shown):,} more" if len(others) > len(shown) else ""
        also = [f"Also told as: {'; '.join(shown)}{more}."] if others else []
        standing = [story.headline.standing] if story.headline.standing else []
        return [*standing, *([_numbers(story)] if self.everything else []), *also]


def _numbers(story: Story) -> str:
    """Return the numbers of a story; it is as strong as any telling."""
    known = {item.term: item.text for item in figures(story.headline)}
    known["strength"] = f"{story.strength:.2f}"
    shown = ("outlierness", "rarity", "tail", "lift", "strength")
    return " | ".join(f"{term} {known[term]}" for term in shown)


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
    said = f"{kind if pattern.count == 1 else kind + 's'} {named}" + (
        f" and {more:,} more" if more > 0 else ""
    )
    return f"{said} of those above" if pattern.are_places and not are_new else said
