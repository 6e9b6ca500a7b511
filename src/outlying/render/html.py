"""Findings as HTML: one file that loads nothing, and cards for notebooks.

Templates escape whatever comes from a table. Besides, a page forbids scripts and requests, so that
even a slip could do no harm.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from outlying import sentences as say
from outlying.render import listing as lists
from outlying.render import scene, shapes
from outlying.render.shapes import PALETTE
from outlying.results.detections import Detection, Reason
from outlying.results.findings import Findings
from outlying.results.stories import Pair, odd_cells
from outlying.results.wording import (
    PYTHON,
    everyone,
    figures,
    headline,
    members,
    name_of,
    percent,
    rows_of,
    short_name,
    title,
)
from outlying.sentences import GLOSSARY
from outlying.table.targets import Key
from outlying.table.values import printable, text_of

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


def fragment(findings: Findings) -> str:
    """Return what the page says of one object as a fragment for others, such as a notebook."""
    return rendered(
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
    return rendered("card.html", pair=pair, said=said, terms=terms(), style=style_sheet())


@dataclasses.dataclass(frozen=True, slots=True)
class RankingLine:
    """A row in a ranking: what names it, and its oddest cell with what was expected, and why."""

    rank: int
    row: int | None
    name: str
    reason: Reason | None
    words: str = ""  # where there is no reason
    is_unusual: bool = False
    target: str = ""  # where the page tells more


def line_of(findings: Findings, rank: int = 0, first_row: int = 1, target: str = "") -> RankingLine:
    """Return the line of a row that is explained."""
    row = None if findings.row is None else findings.row + first_row
    reason = Reason.of(findings) if findings.stands_out else None
    name = short_name(findings.key)
    return RankingLine(rank, row, name, reason, f"{say.NOTHING_ODD}.", findings.unusual, target)


def listing(detection: Detection) -> str:
    """Return the rows that a notebook shows of a detection, a line each; rows count from 0."""
    rows = [item for _, items in lists.shown(detection, everything=True) for item in items]
    lines = [
        RankingLine(
            item.rank,
            item.row,
            item.name,
            item.reason,
            lists.reason(item, detection.settings),
            item.word == "unusual",
        )
        for item in rows
    ]
    return _ranking(lists.heading(detection), lines, [item.key for item in rows])


def explanations(found: Sequence[Findings]) -> str:
    """Return the rows that a notebook shows of many explanations, a line each."""
    lines = [line_of(item, place, 0) for place, item in enumerate(found, start=1)]
    return _ranking(say.EXPLAINED.format(count=len(lines)), lines, [item.key for item in found])


def _ranking(title: str, lines: Sequence[RankingLine], keys: Iterable[Key]) -> str:
    named = ", ".join(dict.fromkeys(name for key in keys for name, _ in key))
    return rendered("listing.html", title=title, id=named, lines=lines, style=style_sheet())


# --- the row as a strip of cells: where to look, before anything is read (method 5b) ------------

#: In a row of more columns ordinary cells stand behind a click.
MANY_COLUMNS = 40

_FULL = 100  # percent of the strongest shade: the cell most to blame
_ODD = 45  # at least, for each cell that a story that stands out calls odd
_FAINT = 25  # at most, where nothing stands out


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the row: its shade in percent, and the number of the story that calls it odd."""

    name: str
    value: str
    heat: int
    odd: int | None
    is_compared: bool


@dataclasses.dataclass(frozen=True, slots=True)
class CellStrip:
    """The cells of a row in the order of the table; of a wide row the ordinary ones apart."""

    shown: tuple[Cell, ...]
    folded: tuple[Cell, ...]


def cell_strip(findings: Findings) -> CellStrip:
    """Return the cells of the row, shaded by blame; a wide row folds what is ordinary."""
    found = odd_cells(findings.stories)
    odd = {cell.column: cell.number for cell in found if cell.story.stands_out}
    blame, heats = findings.blame, _heats(findings)
    cells = tuple(
        Cell(
            printable(name, 60),
            printable(text_of(value), 80),
            max(heats.get(name, 0), _ODD if name in odd else 0),
            odd.get(name),
            name in blame,
        )
        for name, value in findings.values
    )
    if len(cells) <= MANY_COLUMNS:
        return CellStrip(cells, ())
    named = {name for name, heat in heats.items() if heat}
    for cell in found:
        if cell.number == 1 or cell.story.stands_out:
            named.update(cell.story.columns)
    parts: tuple[list[Cell], list[Cell]] = [], []
    for (name, _), shown in zip(findings.values, cells, strict=True):
        parts[name not in named].append(shown)
    return CellStrip(*map(tuple, parts))


def _heats(findings: Findings) -> dict[str, int]:
    """Return the shade of each compared column: its blame as a share of the greatest."""
    blame = findings.blame
    most, full = max(blame.values(), default=0.0), _FULL if findings.stands_out else _FAINT
    return {name: round(full * number / most) if most > 0 else 0 for name, number in blame.items()}


# --- cards ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class CardPictures:
    """The pictures of a card, the first one also in words; in full, context and measure, too."""

    words: str
    whole: str  # the rows of the whole table
    chart: scene.AnyChart
    strips: tuple[scene.AnyChart, ...] = ()
    cdf: scene.Chart | None = None


def pictures(pair: Pair, in_full: bool = True) -> CardPictures | None:
    """Return the pictures of a pair, if it has any; many weak findings are kept light."""
    if pair.picture is None:
        return None
    chart = scene.property_chart(pair, pair.picture)
    whole = everyone(pair, pair.picture.overall.known)
    found = CardPictures(_words(chart, members(pair)), whole, chart)
    if not in_full:
        return found
    strips, cdf = scene.strips(pair, pair.picture), scene.cdf_chart(pair, pair.picture)
    return dataclasses.replace(found, strips=strips, cdf=cdf)


def _words(chart: scene.AnyChart, group: str) -> str:
    """Return what a picture shows in words, for those who cannot see it."""
    if isinstance(chart, scene.BarChart):
        return say.PICTURE_OF_SHARES.format(name=chart.text, group=group)
    if chart.kind == "scatter":
        return say.PICTURE_OF_ROWS.format(name=chart.name, mark=chart.mark_text)
    low, high = chart.axis.ends
    window = f", {chart.window_text}" if chart.window_text else ""
    return say.PICTURE_OF_SPREAD.format(
        name=chart.name,
        group=group,
        low=low,
        high=high,
        expected=chart.kept_text,
        mark=chart.mark_text,
        window=window,
    )


def terms() -> list[tuple[str, str, str]]:
    """Return the numbers of a card: their terms, their names, and what they mean."""
    return [(term, _NAMES.get(term, term), words) for term, words in GLOSSARY.items()]


def _directed(text: str) -> Any:
    """Return a text whose right-to-left words do not turn around what stands beside them."""
    from markupsafe import escape

    return safe(_RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", str(escape(text))))


def safe(text: str) -> Any:
    """Return markup that needs no escaping."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - written by a template that escapes


@functools.cache
def style_sheet() -> Any:
    """Return the style of all cards and pictures, light and dark."""
    return safe(rendered("style.css", light=PALETTE["light"], dark=PALETTE["dark"]))


def with_cards(found: Environment) -> Environment:
    """Return an environment whose templates can show findings as cards."""
    found.filters.update(_FILTERS)
    found.globals |= {"blame": GLOSSARY["blame"], "say": say}
    return found


@functools.cache
def _environment() -> Environment:
    return with_cards(environment())


def _percent_of(number: float, name: str) -> Any:
    """Return an attribute that tells the style sheet a percentage, such as where a label stands."""
    return safe(f'style="--{name}:{round(number, 2):g}%"')


def rendered(template: str, **values: Any) -> str:
    """Fill in a template, which escapes."""
    return _environment().get_template(template).render(**values)


_FILTERS: dict[str, Any] = {
    "pictures": pictures,
    "members": members,
    "rows_of": rows_of,
    "figures": lambda pair: [
        (term, _NAMES.get(term, term), *known) for term, known in figures(pair).items()
    ],
    "numbered": lambda findings: odd_cells(findings.stories),
    "cell_strip": cell_strip,
    "headline": headline,
    "outcome": lambda findings: title(findings).rstrip(":"),
    "short": lambda text: printable(text, 60),
    "printable": printable,
    "directed": _directed,
    "percent": percent,
    "percent_of": _percent_of,
    "three": "{:.3f}".format,
    "multiple": "{:.3g}".format,
    "drawn": shapes.drawn,
}
