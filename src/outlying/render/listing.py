"""What is odd in a table, a line for each row: which cell, what was expected, where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outlying import sentences as say
from outlying.options import DetectOptions
from outlying.render.text import Look, notes_paragraph, summary, text_width, wrapped
from outlying.results.detections import Counts, Detection, Flagged, OddCombination, Word
from outlying.results.findings import Findings, Population
from outlying.results.many import Patterns
from outlying.results.wording import figure, key_of, short_name
from outlying.table.values import number_text, printable

_MOST_NAME = 32  # cells of a name, and no more than a quarter of a line
_MOST_ALIKE = 10  # rows that are named of those of which the same is told
#: Rows, odd cells of a row, and characters of each, in brief: at most 400 tokens for a row.
_MOST_BRIEF, _MOST_CELLS, _LONGEST_SENTENCE = 20, 5, 200
_BETWEEN = "  "
_WHAT = "what is odd"


def render(detection: Detection, look: Look) -> str:
    """Return a detection as text: how many rows stand out, these rows, and what to know."""
    return "\n".join(parts(detection, look))


def parts(detection: Detection, look: Look) -> Iterator[str]:
    """Write a detection part by part, each a line or more."""
    yield titled(heading(detection), look)
    for word, items in shown(detection, look.everything):
        if word != "unusual":
            yield from written(detection, items, look)
    yield from after(detection, look)


def after(detection: Detection, look: Look) -> Iterator[str]:
    """Write what follows the exceptional rows: the merely unusual ones, and what to know."""
    for word, items in shown(detection, look.everything):
        if word == "unusual" and detection.counts is not None:
            yield "\n" + titled(others_heading(items, detection.counts), look)
            yield from written(detection, items, look)
    yield from closing(detection, look)


def titled(said: str, look: Look) -> str:
    """Write a title."""
    return look.style(wrapped(said, look.width), "title")


def shown(detection: Detection, everything: bool) -> list[tuple[Word, list[Flagged]]]:
    """Return the rows to show by their word: exceptional ones, and if asked for unusual ones.

    Where rows are not judged, as by scores, all are shown.
    """
    if detection.counts is None:
        return [("", list(detection.rows))]
    words: tuple[Word, ...] = ("exceptional", "unusual") if everything else ("exceptional",)
    found = [(word, [item for item in detection.rows if item.word == word]) for word in words]
    return [(word, items) for word, items in found if items]


def heading(detection: Detection) -> str:
    """Say how many rows are exceptional, and how many of these are shown."""
    people, counts = detection.population, detection.counts
    if counts is None:
        return say.RANKED_BY.format(
            count=f"{len(detection.rows):,}",
            rows=f"{people.rows:,}",
            source=printable(people.source),
            detector=detector(detection.settings),
        )
    told = sum(item.word == "exceptional" for item in detection.rows)
    return counted(people, counts, told)


def counted(people: Population, counts: Counts, told: int) -> str:
    """Say how many rows of a table are exceptional, of which so many are told."""
    source, rows = printable(people.source), f"{people.rows:,}"
    count = counts.exceptional
    if not count:
        return say.NO_ROW_IS.format(source=source, rows=rows)
    if count == 1:
        return say.ONE_ROW_IS.format(rows=rows, source=source, word="exceptional") + ":"
    first = _first(told, count)
    said = say.ROWS_ARE.format(
        count=f"{count:,}", rows=rows, source=source, word="exceptional", first=first
    )
    return said + (say.ODDEST_FIRST if told > 1 else ":")


def _first(told: int, count: int) -> str:
    """Say how many of some rows are told, where that is not all of them."""
    if told >= count:
        return ""
    return say.THE_FIRST_ONE if told == 1 else say.THE_FIRST.format(count=f"{told:,}")


def others_heading(items: Sequence[Flagged], counts: Counts) -> str:
    """Say how many more rows are unusual."""
    if counts.unusual == 1:
        return say.ONE_OTHER_IS.format(word="unusual") + ":"
    first = _first(len(items), counts.unusual)
    said = say.OTHERS_ARE.format(count=f"{counts.unusual:,}", word="unusual", first=first)
    return said + say.ODDEST_FIRST


def written(detection: Detection, items: Sequence[Flagged], look: Look) -> Iterator[str]:
    """Write rows, a line each; those of which the same is told are one line."""
    lines = Lines([(item.row, item.key) for item in items], look)
    yield lines.header
    for item in items:
        yield from lines.add(item, reason(item, detection.settings))
    yield from lines.rest()


class Lines:
    """Writes rows one below the other: number, name, what is odd.

    Numbers and names are known before the rest, so that a line is written as soon as it is there.
    """

    def __init__(self, rows: Sequence[tuple[int | None, Sequence[tuple[str, object]]]], look: Look):
        self.look = look
        self._has_numbers = any(row is not None for row, _ in rows)
        keys = [key for _, key in rows if key]
        self._most = min(_MOST_NAME, look.width // 4)
        self._id = printable(", ".join(name for name, _ in keys[0]), self._most) if keys else ""
        named = [self._name(key) for key in keys]
        first = [str((row or 0) + look.terms.first_row) for row, _ in rows] or [""]
        self._number_width = max(len("row"), *map(len, first)) if self._has_numbers else 0
        self._name_width = max(map(text_width, (*named, self._id)), default=0)
        self._open: list[tuple[Flagged, str]] = []

    def _name(self, key: Sequence[tuple[str, object]]) -> str:
        return printable(short_name(key), self._most)  # type: ignore[arg-type]

    @property
    def header(self) -> str:
        """The names of the columns."""
        return "\n" + self.look.style(self._cells("row", self._id) + _WHAT, "detail")

    def _cells(self, number: str, name: str) -> str:
        start = _BETWEEN
        if self._has_numbers:
            start += number.rjust(self._number_width) + _BETWEEN
        if self._name_width:
            start += name + " " * (self._name_width - text_width(name)) + _BETWEEN
        return start

    def add(self, item: Flagged, said: str) -> Iterator[str]:
        """Take a row; write the ones before it of which all is known.

        Copies of one finding, such as a code for unknown, follow each other, as they are equally
        odd. They are one line: fifty of them would crowd out what else there is.
        """
        if self._open and (said != self._open[0][1] or item.reason is None):
            yield from self.rest()
        self._open.append((item, said))

    def rest(self) -> Iterator[str]:
        """Write the rows that were taken last."""
        if self._open:
            (item, said), *others = self._open
            self._open = []
            number = "" if item.row is None else self._number(item)
            start = self._cells(number, self._name(item.key))
            margin = " " * min(text_width(start), self.look.width // 2)
            told = said + self._others([other for other, _ in others])
            text = wrapped(told, self.look.width, " " * text_width(start), margin)
            yield start + text[text_width(start) :]

    def _number(self, item: Flagged) -> str:
        return str((item.row or 0) + self.look.terms.first_row)

    def _others(self, items: Sequence[Flagged]) -> str:
        """Count and name the other rows of which the same is told."""
        if not items:
            return ""
        numbers = [self._number(item) for item in items if item.row is not None]
        more = len(items) - _MOST_ALIKE
        named = ", ".join(numbers[:_MOST_ALIKE]) + (say.AND_SO_ON if more > 0 else "")
        told = say.IN_ROWS if numbers else say.IN_UNNAMED_ROWS
        return told.format(count=f"{len(items) + 1:,}", rows=named)


def closing(detection: Detection, look: Look) -> Iterator[str]:
    """Write what rows share, those of an odd combination, what is not shown, and notes."""
    patterns = Patterns()
    for item in detection.rows:
        if item.findings is not None and (look.everything or item.word == "exceptional"):
            patterns.add(item.findings)
    for part in summary(patterns.told(), False, look, least=2):
        yield f"\n{part}"
    if look.everything and detection.combinations:
        yield "\n" + titled(say.ODD_COMBINATIONS, look)
        yield from (
            wrapped(f"{row_name(item, look)}: {most_in(item)}", look.width, _BETWEEN, 2 * _BETWEEN)
            for item in detection.combinations
        )
    if hidden := _hidden(detection, look):
        yield f"\n{wrapped(hidden, look.width)}"
    if not look.with_notes or not (look.everything or shown(detection, False)):
        return
    notes = [note for note in detection.notes if look.everything or note not in detection.how]
    lines = (
        [] if look.terms.header is None else [say.LINE_OF_ROW.format(line=look.terms.header + 1)]
    )
    for part in notes_paragraph(detection.population, [*lines, *notes], look):
        yield f"\n{part}"


def _hidden(detection: Detection, look: Look) -> str:
    """Say how many rows are unusual and not shown."""
    counts = detection.counts
    if counts is None or look.everything or not counts.unusual:
        return ""
    told = say.ONE_UNUSUAL_ROW if counts.unusual == 1 else say.UNUSUAL_ROWS
    return told.format(count=f"{counts.unusual:,}", everything=look.terms.unusual)


def row_name(item: Flagged | OddCombination, look: Look) -> str:
    """Name a row: by its number, and by what names it in the table."""
    if item.row is None:
        return f"the row with {key_of(item.key)}" if item.key else "a row"
    named = f" ({short_name(item.key)})" if item.key else ""
    return f"row {item.row + look.terms.first_row}{named}"


def most_in(item: OddCombination) -> str:
    """Name the columns that make a row odd all over; of a stream they are not known."""
    if not item.columns:
        return say.SCORE.format(score=f"{item.score:.2f}")
    *most, last = (printable(name, 40) for name in item.columns)
    return say.MOSTLY.format(columns=f"{', '.join(most)} and {last}" if most else last)


def detector(settings: DetectOptions) -> str:
    """Return in words what has ranked the rows."""
    bagging = settings.bagging
    if settings.by_strength:
        return say.BY_FINDINGS
    if bagging is None:
        return printable(settings.detector, 200) + (say.LOWEST_FIRST if settings.lowest else "")
    return say.BY_BAGGING.format(
        rounds=f"{bagging.rounds:,}",
        base=bagging.base,
        neighbours=bagging.neighbours,
        combine=bagging.combine,
    )


def reason(item: Flagged, settings: DetectOptions) -> str:
    """Return in words why a row is flagged."""
    if settings.by_strength:
        return say.NO_FINDING if item.reason is None else item.reason.sentence
    if settings.bagging is None or item.remoteness is None:
        return say.SCORE.format(score=number_text(item.score))
    rounds = f"{settings.bagging.rounds:,}"
    first = say.FIRST_IN_ROUNDS.format(votes=f"{item.votes:,}", rounds=rounds) if item.votes else ""
    is_score = settings.bagging.base == "radius"
    told = say.TIMES_THE_SCORE if is_score else say.TIMES_AS_FAR
    return told.format(times=figure(item.remoteness, 3)) + first


def brief(found: Sequence[Findings], first_row: int) -> str:
    """Return Markdown of bounded length, a line for each odd cell, for agents.

    All that came from the table stands in code spans, which no text of a cell can end.
    """
    lines = [say.BRIEF] if any(item.odd_cells for item in found) else [f"{say.NOTHING_ODD}."]
    for item in found[:_MOST_BRIEF]:
        cells, name = item.odd_cells, short_name(item.key)
        row = "new row" if item.row is None else f"row {item.row + first_row}"
        row = f"{row} {_span(name, 40)}" if name else row
        for cell in cells[:_MOST_CELLS]:
            word = "exceptional" if cell.exceptional else "unusual"
            lines.append(f"- {row}, {word}: {_span(cell.story.sentence, _LONGEST_SENTENCE)}")
        if len(cells) > _MOST_CELLS:
            lines.append(f"- {row}: {say.BRIEF_CELLS.format(count=len(cells) - _MOST_CELLS)}")
    if len(found) > _MOST_BRIEF:
        lines.append(say.BRIEF_ROWS.format(count=f"{len(found) - _MOST_BRIEF:,}"))
    return "\n".join(lines)


def _span(text: str, limit: int) -> str:
    """Return text as a code span of Markdown, within which a backtick cannot be escaped."""
    inner = printable(text, limit).replace("`", "\u02cb")
    return f"`{inner}`"
