"""Flagged rows as text for a terminal or a log."""

from __future__ import annotations

from outlying.options import DetectOptions
from outlying.render.cells import wrapped
from outlying.render.text import Style, no_style, skipped_lines, values
from outlying.results.detections import Detection, Flagged
from outlying.table.values import number_text, printable


def render(detection: Detection, width: int = 88, style: Style = no_style) -> str:
    """Write a detection for people: the flagged rows, the oddest first, and what to know."""
    rows = [_row(item, detection, width, style) for item in detection.rows]
    return "\n\n".join([_title(detection, width, style), *rows, *_notes(detection, width)])


def heading(detection: Detection, width: int = 88, style: Style = no_style) -> str:
    """Write the same without the rows, for where these follow with their explanations."""
    return "\n\n".join([_title(detection, width, style), *_notes(detection, width)])


def _title(detection: Detection, width: int, style: Style) -> str:
    people = detection.population
    title = f"What is odd in {printable(people.source)} ({people.rows:,} rows)"
    how = f"By {detector(detection.settings)}."
    return style(title, "title") + "\n" + wrapped(how, width, "  ", "  ")


def _notes(detection: Detection, width: int) -> list[str]:
    notes = [*skipped_lines(detection.population), *detection.notes]
    lines = [wrapped(printable(note, 400), width, "- ", "  ") for note in notes]
    return ["\n".join(lines)] if lines else []


def detector(settings: DetectOptions) -> str:
    """Name what has ranked the rows."""
    bagging = settings.bagging
    if settings.by_strength:
        return "the strength of the strongest finding of each row"
    if bagging is None:
        order = ", the lowest first" if settings.lowest else ""
        return printable(settings.detector, 200) + order
    return (
        f"feature bagging: {bagging.rounds:,} rounds on random attributes, {bagging.base} with "
        f"{bagging.neighbours} neighbours, combined by {bagging.combine}"
    )


def line(item: Flagged, settings: DetectOptions, width: int) -> str:
    """Say why a row is flagged, and how it ranks."""
    number = f"{item.rank}. "
    said = f"data row {item.row + 1:,}: {reason(item, settings)}"
    return wrapped(said, width, number, " " * len(number))


def _row(item: Flagged, detection: Detection, width: int, style: Style) -> str:
    margin = " " * len(f"{item.rank}. ")
    return (
        line(item, detection.settings, width)
        + "\n"
        + style(values(item.values, width, margin), "detail")
    )


def reason(item: Flagged, settings: DetectOptions) -> str:
    """Say why a row is flagged."""
    if settings.by_strength:
        return f"its strongest finding has the strength {item.score:.2f}"
    if settings.bagging is None or item.remoteness is None:
        return f"score {number_text(item.score)}"
    rounds = settings.bagging.rounds
    first = f"; the oddest in {item.votes:,} of {rounds:,} rounds" if item.votes else ""
    if settings.bagging.base == "radius":
        return f"{item.remoteness:.3g} times the score of an average row{first}"
    return f"{item.remoteness:.3g} times as far from its neighbours as an average row{first}"
