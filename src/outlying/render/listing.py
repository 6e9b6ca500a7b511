"""What is odd in a table, a line for each row: which cell, what was expected, where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outlying import sentences as say
from outlying.options import DetectOptions
from outlying.render.text import Look, notes_paragraph, summary, text_width, wrapped
from outlying.results.detections import Counts, Detection, Flagged, OddCombination, Word
from outlying.results.documents import Patterns
from outlying.results.findings import Population
from outlying.results.wording import figure, key_of, short_name
from outlying.table.values import number_text, printable

_MOST_NAME = 32  # cells of a name
_MOST_ALIKE = 10  # rows that are named of those of which the same is told
_BETWEEN = "  "
_WHAT = "what is odd"


def render(detection: Detection, look: Look) -> str:
    """Return a detection as text: how many rows stand out, these rows, and what to know."""
    return "\n".join(parts(detection, look))


def parts(detection: Detection, look: Look) -> Iterator[str]:
    """Write a detection part by part, each a line or more."""
    yield look.style(wrapped(heading(detection), look.width), "title")
    for word, items in shown(detection, look.everything):
        if word == "unusual" and detection.counts is not None:
            yield "\n" + look.style(others_heading(items, detection.counts), "title")
        yield from written(detection, items, look)
    yield from closing(detection, look)


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
    """Write rows, a line each; those of which the same is told as of another are listed after."""
    lines = Lines([(item.row, item.key) for item in items], look)
    yield lines.header
    for item in items:
        told = lines.line(item, reason(item, detection.settings))
        if told is not None:
            yield told
    yield from lines.alike()


class Lines:
    """Writes rows one below the other: number, name, what is odd.

    Numbers and names are known before the rest, so that a line is written as soon as it is there.
    """

    def __init__(self, rows: Sequence[tuple[int | None, Sequence[tuple[str, object]]]], look: Look):
        self.look = look
        self._has_numbers = any(row is not None for row, _ in rows)
        keys = [key for _, key in rows if key]
        self._id = printable(", ".join(name for name, _ in keys[0]), _MOST_NAME) if keys else ""
        named = [self._name(key) for key in keys]
        first = [f"{(row or 0) + look.terms.first_row:,}" for row, _ in rows] or [""]
        self._number_width = max(len("row"), *map(len, first)) if self._has_numbers else 0
        self._name_width = max(map(text_width, (*named, self._id)), default=0)
        self._alike: dict[str, list[Flagged]] = {}

    @staticmethod
    def _name(key: Sequence[tuple[str, object]]) -> str:
        return printable(short_name(key), _MOST_NAME)  # type: ignore[arg-type]

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

    def line(self, item: Flagged, said: str) -> str | None:
        """Write a row; None where the same was told of a row before."""
        told = self._alike.setdefault(said, [])
        told.append(item)
        if len(told) > 1 and item.reason is not None:
            return None
        number = "" if item.row is None else f"{item.row + self.look.terms.first_row:,}"
        start = self._cells(number, self._name(item.key))
        margin = " " * min(text_width(start), self.look.width // 2)
        text = wrapped(said, self.look.width, " " * text_width(start), margin)
        return start + text[text_width(start) :]

    def alike(self) -> Iterator[str]:
        """Name the rows of which the same was told as of another."""
        groups = [items for items in self._alike.values() if len(items) > 1 and items[0].reason]
        for place, (first, *others) in enumerate(groups):
            numbers = [item.row for item in (first, *others)]
            if None in numbers:  # rows of a stream have no numbers
                continue
            shown_rows = [f"{(row or 0) + self.look.terms.first_row:,}" for row in numbers]
            more = len(others) - _MOST_ALIKE
            rows = ", ".join(shown_rows[1 : 1 + _MOST_ALIKE])
            rows += f" and {more:,} more" if more > 0 else ""
            said = say.ALIKE.format(row=shown_rows[0], rows=rows)
            yield ("" if place else "\n") + wrapped(said, self.look.width, _BETWEEN, 2 * _BETWEEN)


def closing(detection: Detection, look: Look) -> Iterator[str]:
    """Write what rows share, those of an odd combination, what is not shown, and notes."""
    patterns = Patterns()
    for item in detection.rows:
        if item.findings is not None and (look.everything or item.word == "exceptional"):
            patterns.add(item.findings)
    for part in summary(patterns.told(), False, look, least=2):
        yield f"\n{part}"
    if look.everything and detection.combinations:
        yield "\n" + look.style(wrapped(say.ODD_COMBINATIONS, look.width), "title")
        yield from (
            wrapped(f"{row_name(item, look)}: {most_in(item)}", look.width, _BETWEEN, 2 * _BETWEEN)
            for item in detection.combinations
        )
    if hidden := _hidden(detection, look):
        yield f"\n{wrapped(hidden, look.width)}"
    if not look.everything and not shown(detection, False):
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
    return f"row {item.row + look.terms.first_row:,}{named}"


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
