"""What is odd in a table, a line for each row: which cell, what was expected, where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from outlying import sentences as say
from outlying.options import DetectOptions
from outlying.render.text import Look, notes_paragraph, summary, text_width, wrapped
from outlying.results.detections import Counts, Detection, Flagged, OddCombination, Word
from outlying.results.findings import Findings, Population
from outlying.results.many import Patterns
from outlying.results.wording import figure, joined, key_of, short_name
from outlying.table.targets import Key
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
            yield from _written(detection, items, look)
    yield from after(detection, look)


def after(detection: Detection, look: Look) -> Iterator[str]:
    """Write what follows the exceptional rows: the merely unusual ones, and what to know."""
    counts = detection.counts
    for word, items in shown(detection, look.everything):
        if word == "unusual" and counts is not None:
            first = _first(len(items), counts.unusual)
            text = say.ONE_OTHER_IS if counts.unusual == 1 else say.OTHERS_ARE
            yield "\n" + titled(text.format(count=counts.unusual, first=first), look)
            yield from _written(detection, items, look)
    yield from _closing(detection, look)


def titled(said: str, look: Look) -> str:
    """Write a title."""
    return look.style(wrapped(said, look.width), "title")


def shown(detection: Detection, everything: bool) -> list[tuple[Word, list[Flagged]]]:
    """Return the rows to show by their word; where rows are not judged, as by scores, all."""
    if detection.counts is None:
        return [("", list(detection.rows))]
    words: tuple[Word, ...] = ("exceptional", "unusual") if everything else ("exceptional",)
    found = [(word, [item for item in detection.rows if item.word == word]) for word in words]
    return [(word, items) for word, items in found if items]


def heading(detection: Detection) -> str:
    """Say how many rows are exceptional, and how many of these are shown."""
    people = detection.population
    if detection.counts is not None:
        told = sum(item.word == "exceptional" for item in detection.rows)
        return counted(people, detection.counts, told)
    return say.RANKED_BY.format(
        count=len(detection.rows),
        rows=people.rows,
        source=printable(people.source),
        detector=detector(detection.settings),
    )


def counted(people: Population, counts: Counts, told: int) -> str:
    """Say how many rows of a table are exceptional, of which so many are told."""
    count = counts.exceptional
    text = {0: say.NO_ROW_IS, 1: say.ONE_ROW_IS}.get(count, say.ROWS_ARE)
    said = text.format(
        count=count, rows=people.rows, source=printable(people.source), first=_first(told, count)
    )
    if count < 2:
        return said
    return said + (say.ODDEST_FIRST if told > 1 else ":")


def _first(told: int, count: int) -> str:
    """Say how many of some rows are told, where that is not all of them."""
    if told >= count:
        return ""
    return say.THE_FIRST_ONE if told == 1 else say.THE_FIRST.format(count=told)


def _written(detection: Detection, items: Sequence[Flagged], look: Look) -> Iterator[str]:
    """Write rows, a line each; those of which the same is told are one line."""
    lines = Lines([(item.row, item.key) for item in items], look)
    yield lines.header
    for item in items:
        yield from lines.add(item, reason(item, detection.settings))
    yield from lines.rest()


class Lines:
    """Writes rows one below the other, each as soon as it is there: number, name, what is odd."""

    def __init__(self, rows: Sequence[tuple[int | None, Key]], look: Look) -> None:
        self.look = look
        self._most = min(_MOST_NAME, look.width // 4)
        keys = [key for _, key in rows if key]
        names = printable(", ".join(name for name, _ in keys[0]), self._most) if keys else ""
        numbers = [self._number(row) for row, _ in rows if row is not None]
        self._widths = (
            max(map(text_width, ("row", *numbers))) if numbers else 0,
            max(map(text_width, (names, *map(self._name, keys)))) if keys else 0,
        )
        #: The names of the columns.
        self.header = "\n" + look.style(self._cells("row", names) + _WHAT, "detail")
        self._open: list[Flagged] = []
        self._said = ""

    def _name(self, key: Key) -> str:
        return printable(short_name(key), self._most)

    def _number(self, row: int | None) -> str:
        return "" if row is None else str(row + self.look.terms.first_row)

    def _cells(self, number: str, name: str) -> str:
        start = _BETWEEN
        if self._widths[0]:
            start += number.rjust(self._widths[0]) + _BETWEEN
        if self._widths[1]:
            start += name + " " * (self._widths[1] - text_width(name)) + _BETWEEN
        return start

    def add(self, item: Flagged, said: str) -> Iterator[str]:
        """Take a row; write the ones before it of which all is known.

        Copies of one finding, such as a code for unknown, are one line: they would crowd out the
        rest.
        """
        if said != self._said or item.reason is None:
            yield from self.rest()
        self._open.append(item)
        self._said = said

    def rest(self) -> Iterator[str]:
        """Write the rows that were taken last."""
        if self._open:
            item, *others = self._open
            self._open = []
            start = self._cells(self._number(item.row), self._name(item.key))
            margin = " " * min(text_width(start), self.look.width // 2)
            told = self._said + self._also([self._number(other.row) for other in others])
            text = wrapped(told, self.look.width, " " * text_width(start), margin)
            yield start + text[text_width(start) :]

    def _also(self, numbers: Sequence[str]) -> str:
        """Count and name the other rows of which the same is told."""
        if not numbers:
            return ""
        named = ", ".join(numbers[:_MOST_ALIKE])
        named += say.AND_SO_ON if len(numbers) > _MOST_ALIKE else ""
        if not numbers[0]:
            return say.ALSO_IN_UNNAMED.format(count=len(numbers) + 1)
        text = say.ALSO_IN_ROW if len(numbers) == 1 else say.ALSO_IN_ROWS
        return text.format(count=len(numbers), rows=named)


def _closing(detection: Detection, look: Look) -> Iterator[str]:
    """Write what rows share, those of an odd combination, what is not shown, and notes."""
    patterns, counts = Patterns(), detection.counts
    for item in detection.rows:
        if item.findings is not None and (look.everything or item.word == "exceptional"):
            patterns.add(item.findings)
    for part in summary(patterns.told(), False, look, least=2):
        yield f"\n{part}"
    if look.everything and detection.combinations:
        yield "\n" + titled(say.ODD_COMBINATIONS, look)
        lines = combinations(detection, look)
        yield from (wrapped(line, look.width, _BETWEEN, 2 * _BETWEEN) for line in lines)
    if counts is not None and counts.unusual and not look.everything:
        text = say.ONE_UNUSUAL_ROW if counts.unusual == 1 else say.UNUSUAL_ROWS
        said = text.format(count=counts.unusual, everything=look.terms.unusual)
        yield f"\n{wrapped(said, look.width)}"
    if not look.with_notes:
        return
    has_rows, header = bool(look.everything or shown(detection, False)), look.terms.header
    notes = [say.LINE_OF_ROW.format(line=header + 1)] if has_rows and header is not None else []
    notes += [note for note in detection.notes if look.everything or note not in detection.how]
    people = detection.population if has_rows else None  # how it was read, or what was left out
    for part in notes_paragraph(people, notes, look):
        yield f"\n{part}"


def combinations(detection: Detection, look: Look) -> Iterator[str]:
    """Say which rows are odd all over, and in which columns most."""
    for item in detection.combinations:
        named = f" ({short_name(item.key)})" if item.key else ""
        row = f"row {item.row + look.terms.first_row}{named}" if item.row is not None else "a row"
        if item.row is None and item.key:
            row = f"the row with {key_of(item.key)}"
        yield f"{row}: {most_in(item)}"


def most_in(item: OddCombination) -> str:
    """Name the columns that make a row odd all over; of a stream they are not known."""
    if not item.columns:
        return say.SCORE.format(score=f"{item.score:.2f}")
    return say.MOSTLY.format(columns=joined([printable(name, 40) for name in item.columns]))


def detector(settings: DetectOptions) -> str:
    """Return in words what has ranked the rows."""
    bagging = settings.bagging
    if settings.by_strength:
        return say.BY_FINDINGS
    if bagging is None:
        return printable(settings.detector, 200) + (say.LOWEST_FIRST if settings.lowest else "")
    return say.BY_BAGGING.format(
        rounds=bagging.rounds,
        base=bagging.base,
        neighbours=bagging.neighbours,
        combine=bagging.combine,
    )


def reason(item: Flagged, settings: DetectOptions) -> str:
    """Return in words why a row is flagged."""
    bagging = settings.bagging
    if settings.by_strength:
        return say.NO_FINDING if item.reason is None else item.reason.sentence
    if bagging is None or item.remoteness is None:
        return say.SCORE.format(score=number_text(item.score))
    text = say.TIMES_THE_SCORE if bagging.base == "radius" else say.TIMES_AS_FAR
    said = text.format(times=figure(item.remoteness, 3))
    if item.votes:
        said += say.FIRST_IN_ROUNDS.format(votes=item.votes, rounds=bagging.rounds)
    return said


def brief(found: Sequence[Findings], first_row: int) -> str:
    """Return Markdown of bounded length for agents, with all that came from the table as code."""
    lines = [say.BRIEF] if any(item.odd_cells for item in found) else [f"{say.NOTHING_ODD}."]
    lines += (f"- {line}" for item in found[:_MOST_BRIEF] for line in _brief_row(item, first_row))
    if len(found) > _MOST_BRIEF:
        lines.append(say.BRIEF_ROWS.format(count=len(found) - _MOST_BRIEF))
    return "\n".join(lines)


def _brief_row(item: Findings, first_row: int) -> Iterable[str]:
    cells, name = item.odd_cells, short_name(item.key)
    row = "new row" if item.row is None else f"row {item.row + first_row}"
    row = f"{row} {_span(name, 40)}" if name else row
    for cell in cells[:_MOST_CELLS]:
        word = "exceptional" if cell.exceptional else "unusual"
        yield f"{row}, {word}: {_span(cell.story.sentence, _LONGEST_SENTENCE)}"
    if len(cells) > _MOST_CELLS:
        yield f"{row}: {say.BRIEF_CELLS.format(count=len(cells) - _MOST_CELLS)}"


def _span(text: str, limit: int) -> str:
    """Return text as a code span of Markdown, within which a backtick cannot be escaped."""
    inner = printable(text, limit).replace("`", "\u02cb")
    return f"`{inner}`"
