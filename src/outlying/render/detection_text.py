"""Flagged rows as text for a terminal or a log."""

from __future__ import annotations

from collections.abc import Sequence

from outlying.options import DetectOptions
from outlying.render.text import Style, no_style, notes_paragraph, values, wrapped
from outlying.results.detections import Detection, Flagged, OddCombination, Word
from outlying.results.wording import PYTHON, Terms, figure, key_of
from outlying.table.values import number_text, printable


def render(
    detection: Detection, width: int = 88, style: Style = no_style, terms: Terms = PYTHON
) -> str:
    """Return a detection as text: the flagged rows, the oddest first, and what to know."""
    parts = []
    for title, items in _groups(detection):
        parts += [style(wrapped(title, width), "title")] if title else []
        parts += [_row(alike, detection, width, style, terms) for alike in told_alike(items)]
    if detection.combinations:
        parts.append(style(wrapped(ODD_ALL_OVER, width), "title"))
        parts += [_combination(item, width, style, terms) for item in detection.combinations]
    return _page(detection, parts, width, style)


#: What the second list is.
ODD_ALL_OVER = "Odd all over: much is a little odd, though no single value is exceptional:"


def _groups(detection: Detection) -> list[tuple[str, list[Flagged]]]:
    """Return the rows that are shown, those of the same word together, each group with its title.

    Rows that do not stand out are shown only where no other does.
    """
    if (counts := detection.counts) is None:
        return [("", list(detection.rows))]
    found: dict[Word, list[Flagged]] = {"exceptional": [], "unusual": [], "": []}
    for item in detection.rows:
        found[item.word].append(item)
    groups = []
    if first := found["exceptional"]:
        groups.append((_counted(first, counts.exceptional, "exceptional"), first))
    if others := found["unusual"]:
        none = "" if first else "No row is exceptional. "
        groups.append((none + _counted(others, counts.unusual, "unusual"), others))
    if not groups:
        closest = [item for item in found[""] if item.reason is not None]
        title = "No row stands out." + (" These come closest:" if closest else "")
        groups.append((title, closest))
    return groups


def _counted(shown: Sequence[Flagged], count: int, word: Word) -> str:
    """Return how many rows are of a word, and how many of these are shown."""
    if count == 1:
        return f"1 row is {word}:"
    most = "the first of them" if len(shown) == 1 else f"the first {len(shown):,} of them"
    return f"{count:,} rows are {word}{'' if len(shown) == count else f', {most}'}:"


def most_in(item: OddCombination) -> str:
    """Name the columns that make a row odd all over; of a stream they are not known."""
    if not item.columns:
        return f"score {item.score:.2f}"
    *most, last = (printable(name, 40) for name in item.columns)
    return f"most in {', '.join(most)} and {last}" if most else f"most in {last}"


def _combination(item: OddCombination, width: int, style: Style, terms: Terms) -> str:
    number = f"{item.rank}. "
    margin = " " * len(number)
    said = wrapped(f"{_name(item, terms)}: {most_in(item)}", width, number, margin)
    return said + "\n" + style(values(item.values, width, margin), "detail")


def heading(
    detection: Detection, width: int = 88, style: Style = no_style, terms: Terms = PYTHON
) -> str:
    """Return the same without the flagged rows, for where their explanations follow."""
    lines = [wrapped(said, width, "  ", "    ") for said in combination_lines(detection, terms)]
    parts = ["\n".join([style(ODD_ALL_OVER, "title"), *lines])] if lines else []
    return _page(detection, parts, width, style)


def combination_lines(detection: Detection, terms: Terms = PYTHON) -> list[str]:
    """Return the rows that are odd all over, a line each."""
    return [f"{_name(item, terms)}: {most_in(item)}" for item in detection.combinations]


def _page(detection: Detection, rows: list[str], width: int, style: Style) -> str:
    notes = notes_paragraph(detection.population, detection.notes, width)
    return "\n\n".join([_title(detection, width, style), *rows, *notes])


def _title(detection: Detection, width: int, style: Style) -> str:
    people = detection.population
    title = f"What is odd in {printable(people.source)} ({people.rows:,} rows)"
    how = f"By {detector(detection.settings)}."
    return style(title, "title") + "\n" + wrapped(how, width, "  ", "  ")


def detector(settings: DetectOptions) -> str:
    """Return in words what has ranked the rows."""
    bagging = settings.bagging
    if settings.by_strength:
        return "the strongest finding of each row"
    if bagging is None:
        order = ", the lowest first" if settings.lowest else ""
        return printable(settings.detector, 200) + order
    return (
        f"feature bagging: {bagging.rounds:,} rounds on random attributes, {bagging.base} with "
        f"{bagging.neighbours} neighbours, combined by {bagging.combine}"
    )


def line(item: Flagged, settings: DetectOptions, width: int, terms: Terms = PYTHON) -> str:
    """Return the rank of a row and why it is flagged."""
    number = f"{item.rank}. "
    said = f"{_name(item, terms)}: {reason(item, settings)}"
    return wrapped(said, width, number, " " * len(number))


def _name(item: Flagged | OddCombination, terms: Terms) -> str:
    """Name a row: by its number, or, of a stream, by what names it there."""
    if item.row is not None:
        return terms.row_name(item.row)
    return f"the row with {key_of(item.key)}" if item.key else "a row"


def told_alike(items: Sequence[Flagged]) -> list[list[Flagged]]:
    """Put rows together of which the same is told, such as all with one code for unknown.

    Fifty copies of 999 would crowd out what else there is.
    """
    found: dict[object, list[Flagged]] = {}
    for item in items:
        why = item.reason
        key = item.rank if why is None else (why.cell, why.expected, why.context, why.hint)
        found.setdefault(key, []).append(item)
    return list(found.values())


#: So many rows are named of those of which the same is told as of another.
_MOST_ALIKE = 10


def _row(
    alike: Sequence[Flagged], detection: Detection, width: int, style: Style, terms: Terms
) -> str:
    item, *others = alike
    margin = " " * len(f"{item.rank}. ")
    parts = [line(item, detection.settings, width, terms)]
    if others:
        parts.append(wrapped(_also(others, terms), width, margin, margin))
    return "\n".join([*parts, style(values(item.values, width, margin), "detail")])


def _also(others: Sequence[Flagged], terms: Terms) -> str:
    """Name the other rows of which the same is told."""
    count = "1 more row" if len(others) == 1 else f"{len(others):,} more rows"
    named = [f"{item.row + terms.first_row:,}" for item in others if item.row is not None]
    if len(named) < len(others):  # rows of a stream are not numbered
        return f"and {count}"
    more = ", ..." if len(named) > _MOST_ALIKE else ""
    return f"and {count}: {', '.join(named[:_MOST_ALIKE])}{more}"


def reason(item: Flagged, settings: DetectOptions) -> str:
    """Return in words why a row is flagged."""
    if settings.by_strength:
        return "no finding" if item.reason is None else f"{item.reason} (strength {item.score:.2f})"
    if settings.bagging is None or item.remoteness is None:
        return f"score {number_text(item.score)}"
    rounds = settings.bagging.rounds
    first = f"; the oddest in {item.votes:,} of {rounds:,} rounds" if item.votes else ""
    if settings.bagging.base == "radius":
        return f"{figure(item.remoteness, 3)} times the score of an average row{first}"
    return f"{figure(item.remoteness, 3)} times as far from its neighbours as an average row{first}"
