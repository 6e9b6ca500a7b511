"""Findings as HTML: one file that loads nothing, and cards for notebooks.

Templates escape whatever comes from a table. Besides, a page forbids scripts and requests, so that
even a slip could do no harm.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import outlying
from outlying import sentences as say
from outlying.options import Options
from outlying.render import listing as lists
from outlying.render import scene, svg
from outlying.render.cells import cell_strip, numbered
from outlying.render.scene import PALETTE
from outlying.render.text import Look
from outlying.results.detections import Detection, Flagged, Reason
from outlying.results.documents import Patterns
from outlying.results.findings import Findings, Population
from outlying.results.stories import Pair
from outlying.results.wording import (
    GLOSSARY,
    PYTHON,
    Figure,
    Terms,
    everyone,
    figures,
    headline,
    key_of,
    line,
    members,
    name_of,
    percent,
    rows_of,
    short_name,
    title,
    verdict,
)
from outlying.table.values import Value, printable

if TYPE_CHECKING:
    from jinja2 import Environment


_SHARED = "outlying.render"


@functools.cache
def environment(package: str = _SHARED) -> Environment:
    """Return the environment with the templates of a package, and those that all pages share."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, _SHARED))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+(?: [\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+)*"
)
#: Terms that the page calls by a longer name.
_NAMES = {"overall": "overall outlierness", "group": "group size"}
_LOOK = Look(terms=Terms(1))


@dataclasses.dataclass(frozen=True, slots=True)
class Term:
    """A number's name and what it means."""

    tip: str
    name: str
    words: str


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
        self._lines: list[Line] = []
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
        self._lines.append(_line_of(findings, f"object-{place + 1}"))
        for note in findings.notes:
            self._notes.setdefault(note, []).append(place)
        self._objects.append(
            _rendered(
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
        people = self.population
        compared = f"{people.rows:,} rows, {len(people.columns):,} columns compared"
        return _rendered(
            "page.html",
            title=self._title(),
            about=f"{printable(people.source, 200)}: {compared}",
            detection="" if self.detection is None else lists.detector(self.detection.settings),
            detection_notes=() if self.detection is None else self.detection.notes,
            summary="" if self.detection is None else lists.heading(self.detection),
            combinations=[]
            if self.detection is None
            else [
                f"{lists.row_name(item, _LOOK)}: {lists.most_in(item)}"
                for item in self.detection.combinations
            ],
            odd_all_over=say.ODD_COMBINATIONS,
            stories=list(self._linked_patterns()) if self.is_many else [],
            objects=[_safe(self._objects[place]) for place in self._order()],
            ranking=self._ranking() if self.is_many else [],
            ids=", ".join(dict.fromkeys(name for key in self._keys for name, _ in key)),
            notes=list(self._shared_notes()) if self.is_many else [],
            skipped=people.skipped_columns,
            options=_option_texts(self.options),
            version=outlying.__version__,
            terms=terms(),
            style=style_sheet(),
        )

    def _order(self) -> list[int]:
        """Return the objects, the oddest first; those of a detection are ranked already."""
        places = range(len(self._objects))
        if self.detection is not None:
            return list(places)
        return sorted(places, key=lambda place: -self._strengths[place])

    def _ranking(self) -> list[Line]:
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
            return f"What is odd in {source}, and why?"
        count = len(self._objects)
        if self.is_many and count != 1:
            if None in self._rows and not any(self._keys):
                return f"Why are these {count:,} new rows outliers against {source}?"
            return f"Why are these {count:,} rows of {source} outliers?"
        row = self._rows[0] if self._rows else None
        if any(self._keys) and row is None:
            return f"Why is the row with {key_of(self._keys[0])} of {source} an outlier?"
        if row is None:
            return f"Why is the new row an outlier against {source}?"
        named = f" ({key_of(self._keys[0])})" if any(self._keys) else ""
        return f"Why is row {row + 1}{named} of {source} an outlier?"

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


def fragment(findings: Findings) -> str:
    """Return what the page says of one object as a fragment for others, such as a notebook."""
    return _rendered(
        "fragment.html",
        title=f"{name_of(findings)}.",
        anchor=f"outlying-{_digest(findings)}",
        findings=findings,
        hints=tuple(PYTHON.hints(findings.hints)),
        terms=terms(),
        style=style_sheet(),
    )


def _digest(findings: Findings) -> str:
    """Return a short text that tells this fragment from others of the same notebook."""
    content = repr((findings.population.source, findings.row, findings.values))
    return hashlib.blake2b(content.encode("utf-8", "backslashreplace"), digest_size=4).hexdigest()


def card(pair: Pair, said: str | None = None) -> str:
    """Return the card of one pair as a fragment for other pages."""
    return _rendered("card.html", pair=pair, said=said, terms=terms(), style=style_sheet())


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """A row in a ranking: what names it, its oddest cell, what was expected, and where."""

    rank: int
    row: int | None
    name: str
    cell: str
    expected: str = ""
    where: str = ""
    why: str = ""
    is_unusual: bool = False
    target: str = ""  # where the page tells more


def _line_of(findings: Findings, target: str) -> Line:
    """Return the line of a row that is explained; the page counts rows from 1."""
    row, name = findings.row, short_name(findings.key)
    number = None if row is None else row + 1
    reason = Reason.of(findings) if findings.stands_out else None
    if reason is None:
        return Line(0, number, name, "nothing stands out", target=target)
    told = reason.cell, reason.expected, reason.context, reason.why
    return Line(0, number, name, *told, findings.unusual, target)


def listing(detection: Detection) -> str:
    """Return the rows that a notebook shows of a detection, a line each; rows count from 0."""
    rows = [item for _, items in lists.shown(detection, everything=True) for item in items]
    lines = []
    for item in rows:
        told = (lists.reason(item, detection.settings), "", "", "")
        if item.reason is not None:
            told = item.reason.cell, item.reason.expected, item.reason.context, item.reason.why
        lines.append(Line(item.rank, item.row, item.name, *told, item.word == "unusual"))
    named = next((item.key for item in rows if item.key), ())
    return _rendered(
        "listing.html",
        title=lists.heading(detection),
        id=", ".join(name for name, _ in named),
        lines=lines,
        style=style_sheet(),
    )


def cells(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return the list of odd cells that a notebook shows of many rows."""
    rows = list(zip(*columns.values(), strict=True))
    return _rendered("cells.html", names=list(columns), rows=rows, style=style_sheet())


@dataclasses.dataclass(frozen=True, slots=True)
class CardView:
    """A pair as its card shows it."""

    kind: str
    badge: str
    title: str
    expected: str
    standing: str
    figures: tuple[dict[str, Any], ...]
    group: str
    rows: str = ""
    whole: str = ""
    words: str = ""
    chart: scene.PropertyChart | None = None
    strips: tuple[scene.Strip, ...] = ()
    cdf: scene.CdfChart | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether the property is a number."""
        return not isinstance(self.chart, scene.BarChart)


def view(pair: Pair, in_full: bool = True) -> CardView:
    """Return what the card of a pair shows; not in full, its picture without context and measure.

    Many weak findings make most of a page: they are kept light.
    """
    cell, expected, _ = headline(pair)
    plain = CardView(
        kind="exceptional" if pair.exceptional else "ordinary",
        badge="" if pair.exceptional else verdict(pair),
        title=cell,
        expected=expected,
        standing=pair.standing,
        figures=tuple(_figure(item) for item in figures(pair)),
        group=members(pair),
        rows=f"{rows_of(pair):,}",
    )
    picture = pair.picture
    if picture is None:
        return plain
    chart = scene.property_chart(pair, picture)
    return dataclasses.replace(
        plain,
        whole=everyone(pair, picture.overall.known),
        words=_words(chart, members(pair)),
        chart=chart,
        strips=scene.strips(pair, picture) if in_full else (),
        cdf=scene.cdf_chart(pair, picture) if in_full else None,
    )


def _words(chart: scene.PropertyChart, group: str) -> str:
    """Return what a picture shows in words, for those who cannot see it."""
    if isinstance(chart, scene.BarChart):
        return f"{chart.text} among {group}"
    if isinstance(chart, scene.ScatterChart):
        return f"Some rows beside what is expected of them, by {chart.name}. {chart.mark_text}."
    low, high = chart.axis.ends
    return (
        f"How {chart.name} is spread among {group}, from {low} to {high}. "
        f"Expected: {chart.typical_text}. This row: {chart.mark_text}"
        f"{', ' if chart.window_text else ''}{chart.window_text}."
    )


def _figure(item: Figure) -> dict[str, Any]:
    name = _NAMES.get(item.term, item.term)
    return {"tip": item.term, "name": name, "text": item.text, "value": repr(item.value)}


def terms() -> list[Term]:
    """Return what the numbers of a card mean."""
    return [Term(term, _NAMES.get(term, term), words) for term, words in GLOSSARY.items()]


def _option_texts(options: Options) -> list[tuple[str, str]]:
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in options.to_dict().items()
    ]


def _directed(text: str) -> Any:
    """Return a text whose right-to-left words do not turn around what stands beside them."""
    from markupsafe import escape

    return _safe(_RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", str(escape(text))))


def _safe(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - written by a template that escapes


@functools.cache
def style_sheet() -> Any:
    """Return the style of all cards and pictures, light and dark."""
    return _safe(_rendered("style.css", light=PALETTE["light"], dark=PALETTE["dark"]))


def with_cards(found: Environment) -> Environment:
    """Return an environment whose templates can show findings as cards."""
    found.filters.update(_FILTERS)
    found.globals["blame"] = GLOSSARY["blame"]
    return found


@functools.cache
def _environment() -> Environment:
    return with_cards(environment())


def _percent_of(number: float, name: str) -> Any:
    """Return an attribute that tells the style sheet a percentage, such as where a label stands."""
    return _safe(f'style="--{name}:{round(number, 2):g}%"')


def _rendered(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


_FILTERS: dict[str, Any] = {
    "view": view,
    "numbered": numbered,
    "cell_strip": cell_strip,
    "headline": headline,
    "outcome": lambda findings: title(findings).rstrip(":"),
    "line": line,
    "short": lambda text: printable(text, 60),
    "printable": printable,
    "directed": _directed,
    "percent": percent,
    "percent_of": _percent_of,
    "three": "{:.3f}".format,
    "multiple": "{:.3g}".format,
    "drawn": svg.drawn,
}
