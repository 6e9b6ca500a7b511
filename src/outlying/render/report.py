"""One HTML page on findings about one table: on a row, or on many with what they share."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from typing import Any

import outlying
from outlying import sentences as say
from outlying.options import Options
from outlying.render import html
from outlying.render import listing as lists
from outlying.render.text import Look
from outlying.results.detections import Detection, Flagged
from outlying.results.findings import Findings, Population
from outlying.results.many import Patterns
from outlying.results.wording import Terms, key_of, short_name
from outlying.table.values import Value, printable

_LOOK = Look(terms=Terms(1))


def page(findings: Findings) -> str:
    """Return a page on one object."""
    report = Report(findings.population, findings.options)
    report.add(findings)
    return report.page()


class Report:
    """A page on one object or many, each rendered as soon as it is added."""

    def __init__(
        self,
        population: Population,
        options: Options,
        *,
        is_many: bool = False,
        detection: Detection | None = None,
    ) -> None:
        self.population, self.options, self.is_many = population, options, is_many
        self.detection = detection
        self._objects: list[str] = []
        self._lines: list[html.RankingLine] = []
        self._strengths: list[float] = []
        self._notes: dict[str, list[int]] = {}
        self._rows: list[int | None] = []
        self._keys: list[tuple[tuple[str, Value], ...]] = []
        self._patterns = Patterns()

    def add(self, findings: Findings, flagged: Flagged | None = None) -> None:
        """Add one more object, with what has flagged it, if anything has."""
        self._patterns.add(findings)
        self._rows.append(findings.row)
        self._keys.append(findings.key)
        place = len(self._objects)
        self._strengths.append(findings.strength)
        self._lines.append(html.line_of(findings, target=f"object-{place + 1}"))
        for note in findings.notes:
            self._notes.setdefault(note, []).append(place)
        self._objects.append(
            html.rendered(
                "object.html",
                number=place + 1,
                title=self._name(place) if self.is_many else "The row",
                with_notes=not self.is_many,
                flagged=self._flagged(flagged),
                findings=findings,
                own_columns=findings.population != self.population,
            )
        )

    def _flagged(self, flagged: Flagged | None) -> str:
        if flagged is None or self.detection is None:
            return ""
        return f"Number {flagged.rank}: {lists.reason(flagged, self.detection.settings)}."

    def _name(self, place: int) -> str:
        row, key = self._rows[place], self._keys[place]
        if row is None:
            return f"The row with {key_of(key)}" if key else f"New row {place + 1:,}"
        return f"Row {row + 1}" + (f", {short_name(key)}" if key else "")

    def page(self) -> str:
        """Return the page on all objects so far."""
        people, found = self.population, self.detection
        source = printable(people.source, 200)
        about = say.ABOUT.format(source=source, rows=people.rows, columns=len(people.columns))
        return html.rendered(
            "page.html",
            title=self._title(),
            about=about,
            detection_notes=() if found is None else found.notes,
            summary="" if found is None else lists.heading(found),
            combinations=[] if found is None else list(lists.combinations(found, _LOOK)),
            odd_all_over=say.ODD_COMBINATIONS,
            stories=list(self._linked_patterns()) if self.is_many else [],
            objects=[html.safe(self._objects[place]) for place in self._order()],
            ranking=self._ranking() if self.is_many else [],
            ids=", ".join(dict.fromkeys(name for key in self._keys for name, _ in key)),
            notes=list(self._shared_notes()) if self.is_many else [],
            skipped=people.skipped_columns,
            options=[
                (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
                for name, value in self.options.to_dict().items()
            ],
            version=outlying.__version__,
            terms=html.terms(),
            style=html.style_sheet(),
        )

    def _order(self) -> list[int]:
        """Return the objects, the oddest first; those of a detection are ranked already."""
        places = range(len(self._objects))
        if self.detection is not None:
            return list(places)
        return sorted(places, key=lambda place: -self._strengths[place])

    def _ranking(self) -> list[html.RankingLine]:
        """Return a line for each object, in the order of the page."""
        lines = [self._lines[place] for place in self._order()]
        return [dataclasses.replace(line, rank=rank) for rank, line in enumerate(lines, start=1)]

    def _shared_notes(self) -> Iterator[str]:
        """Yield each note once, with the rows that it is about where these are not all."""
        for note, places in self._notes.items():
            named = ", ".join(self._name(place) for place in dict.fromkeys(places))
            yield note if len(set(places)) == len(self._objects) else f"{named}: {note}"

    def _title(self) -> str:
        source = printable(re.split(r"[/\\]", self.population.source)[-1])
        if self.detection is not None:
            return say.WHAT_IS_ODD.format(source=source)
        count = len(self._objects)
        if self.is_many and count != 1:
            are_new = None in self._rows and not any(self._keys)
            return (say.WHY_NEW_ROWS if are_new else say.WHY_ROWS).format(
                count=count, source=source
            )
        row = self._rows[0] if self._rows else None
        key = key_of(self._keys[0]) if any(self._keys) else ""
        if row is None:
            return (say.WHY_ROW_WITH if key else say.WHY_NEW_ROW).format(key=key, source=source)
        return say.WHY_ROW.format(row=row + 1, named=f" ({key})" if key else "", source=source)

    def _linked_patterns(self) -> Iterator[dict[str, Any]]:
        """Yield each story with links to its objects; a row that was asked for twice has two."""
        places: dict[int, list[int]] = {}
        for place, row in enumerate(self._rows):
            places.setdefault(place if row is None else row, []).append(place)
        for story in self._patterns.told():
            linked = [place for row in dict.fromkeys(story.rows) for place in places[row]]
            links = [
                {"number": place + 1, "name": self._name(place).removeprefix("Row ")}
                for place in linked
            ]
            if len(links) > 1:
                yield {"name": story.name, "count": story.count, "links": links}
