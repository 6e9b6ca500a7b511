"""Flagged rows as text for a terminal or a log."""

from __future__ import annotations

from outlying.options import DetectOptions
from outlying.render.text import Style, no_style, notes_paragraph, values
from outlying.render.text_width import wrapped
from outlying.results.detections import Detection, Flagged
from outlying.results.terms import PYTHON, Terms
from outlying.results.wording import figure
from outlying.table.values import number_text, printable


def render(
    detection: Detection, width: int = 88, style: Style = no_style, terms: Terms = PYTHON
) -> str:
    """Return a detection as text: the flagged rows, the oddest first, and what to know."""
    rows = [_row(item, detection, width, style, terms) for item in detection.rows]
    return _page(detection, rows, width, style)


def heading(
    detection: Detection,
    width: int = 88,
    style: Style = no_style,
    terms: Terms = PYTHON,  # noqa: ARG001 - as render; it names no row
) -> str:
    """Return the same without the rows, for where these follow with their explanations."""
    return _page(detection, [], width, style)


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
        return "the strongest finding of each row, or how rare its values are all together"
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
    said = f"{terms.row_name(item.row)}: {reason(item, settings)}"
    return wrapped(said, width, number, " " * len(number))


def _row(item: Flagged, detection: Detection, width: int, style: Style, terms: Terms) -> str:
    margin = " " * len(f"{item.rank}. ")
    return (
        line(item, detection.settings, width, terms)
        + "\n"
        + style(values(item.values, width, margin), "detail")
    )


def reason(item: Flagged, settings: DetectOptions) -> str:
    """Return in words why a row is flagged."""
    if settings.by_strength:
        return f"its strongest finding, or all of its values, has the strength {item.score:.2f}"
    if settings.bagging is None or item.remoteness is None:
        return f"score {number_text(item.score)}"
    rounds = settings.bagging.rounds
    first = f"; the oddest in {item.votes:,} of {rounds:,} rounds" if item.votes else ""
    if settings.bagging.base == "radius":
        return f"{figure(item.remoteness, 3)} times the score of an average row{first}"
    return f"{figure(item.remoteness, 3)} times as far from its neighbours as an average row{first}"
