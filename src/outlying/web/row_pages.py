"""The pages of odd rows, of a row, and of a new object: reasons, stories, options."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from outlying import sentences as say
from outlying.checks import read_whole
from outlying.errors import INFINITE_AS_MISSING, ColumnError, ObjectError, OptionError
from outlying.options import Options
from outlying.render.html import terms
from outlying.render.listing import detector, most_in
from outlying.results.detections import Counts, Detection, Flagged, OddCombination, Word
from outlying.results.findings import Findings
from outlying.results.sets import Rule, SetExplanation
from outlying.results.stories import Pair, Story
from outlying.results.wording import PYTHON
from outlying.table.table import Condition, Part, part_of
from outlying.table.values import Value, printable, quantity_text, text_of
from outlying.web import NotReadyError, answers
from outlying.web.answers import Answer
from outlying.web.jobs import Job
from outlying.web.pages import (
    TablePage,
    column_texts,
    counted,
    finished,
    form,
    is_json,
    of_table,
    size_of,
    view,
)
from outlying.web.queries import (
    DETECT_OPTIONS,
    Addresses,
    Filter,
    Params,
    TableQuery,
    field_text,
    option_fields,
    own_values,
)
from outlying.web.tables import MOST_FLAGGED, Mark, TableEntry, Twins, service_of

# --- odd rows --------------------------------------------------------------------------------

#: Rows that a first look finds.
USUAL = 50
#: What rows of a word are called, and what that means.
_SECTIONS: dict[Word, tuple[str, str]] = {
    "exceptional": say.PAGE_EXCEPTIONAL,
    "unusual": say.PAGE_UNUSUAL,
    "": say.PAGE_ORDINARY,
}


def number_of(given: object) -> int:
    """Return how many odd rows are asked for."""
    return read_whole("top", given or USUAL, 1)


def odd_rows(entry: TableEntry, addresses: Addresses, top: int, job: Job) -> dict[str, Any]:
    """Return the odd rows found so far: exceptional, unusual, odd all over, marked as fine."""
    detection = job.result if isinstance(job.result, Detection) else None
    rows = listed(job.rows if detection is None else detection.rows)
    columns: dict[str, list[int]] = {}
    for item in rows:
        if item.reason is not None:
            columns.setdefault(item.reason.column, []).append(_number(item))
    left_out = {name: columns.pop(name) for name in addresses.hidden if name in columns}
    shown = [item for item in rows if item.reason is None or item.reason.column not in left_out]
    odd = [item for item in shown if _number(item) not in entry.fine]
    parts: list[tuple[str, tuple[str, str], Sequence[Sequence[Flagged | OddCombination]]]] = [
        (word or "ordinary", words, _told_alike([item for item in odd if item.word == word]))
        for word, words in _SECTIONS.items()
    ]
    if detection is not None:
        parts.append(("all-over", say.PAGE_ALL_OVER, [[item] for item in detection.combinations]))
    fine = [[item] for item in shown if _number(item) in entry.fine]
    parts.append(("fine", say.PAGE_FINE, fine))
    found: dict[str, Any] = {
        "sections": [
            {
                "kind": kind,
                "words": words,
                "numbers": [_number(item) for items in alike for item in items],
                "rows": [_odd_row(entry, items, top) for items in alike],
            }
            for kind, words, alike in parts
            if alike
        ],
        "summary": "" if job.counts is None else _summary(job.counts, entry.facts.rows),
    }
    if detection is None:
        return found
    counts = job.counts or Counts(0, 0)
    most = min(MOST_FLAGGED, counts.exceptional + counts.unusual)
    names = ", ".join(printable(name, 40) for name in addresses.hidden)
    count = counted(sum(map(len, left_out.values())), "row")
    return found | {
        "columns": sorted(columns.items(), key=lambda item: -len(item[1])),
        "hidden": say.PAGE_NOT_LISTED.format(rows=count, columns=names) if left_out else "",
        "more": None if len(detection.rows) >= most else most,
        "notes": (f"Ranked by {detector(detection.settings)}.", *detection.notes),
    }


def _odd_row(
    entry: TableEntry, alike: Sequence[Flagged | OddCombination], top: int
) -> dict[str, Any]:
    """Return a row, with others of which the same is told."""
    item = alike[0]
    words = f"score {item.score:.2f}" if isinstance(item, Flagged) else most_in(item)
    return {
        "reason": item.reason if isinstance(item, Flagged) else None,
        "words": words,
        "top": top if isinstance(item, Flagged) else None,
        "rank": item.rank,
        "number": _number(item),
        "name": entry.name_of(dict(item.values)),
        "alike": [_number(each) for each in alike],
    }


def listed(rows: Sequence[Flagged]) -> Sequence[Flagged]:
    """Return the rows that stand out; where none does, those that come closest."""
    return [item for item in rows if item.word] or rows


def _told_alike(items: Sequence[Flagged]) -> list[list[Flagged]]:
    """Put rows together of which the same is told: fifty copies of 999 would crowd out the rest."""
    found: dict[object, list[Flagged]] = {}
    for item in items:
        found.setdefault(item.rank if item.reason is None else str(item.reason), []).append(item)
    return list(found.values())


def _number(item: Flagged | OddCombination) -> int:
    return (item.row or 0) + 1  # pages rank tables and copies, whose rows have a position


def _summary(counts: Counts, rows: int) -> str:
    exceptional, unusual, whole = counts.exceptional, counts.unusual, counted(rows, "row")
    are = "is" if exceptional == 1 else "are"
    first = say.PAGE_NONE_EXCEPTIONAL.format(rows=whole)
    if exceptional:
        first = say.PAGE_SOME_EXCEPTIONAL.format(count=f"{exceptional:,}", rows=whole, are=are)
    more = f"{unusual:,} more" if exceptional else f"{unusual:,}"
    are = "is" if unusual == 1 else "are"
    rest = say.PAGE_MORE_UNUSUAL.format(count=more, are=are) if unusual else ""
    return f"{first}{rest}."


# --- a row, a new object -----------------------------------------------------------------------

#: Columns of the twins besides those of the story.
_OTHER_COLUMNS = 6
_LONGEST_FIELD = 20_000  # characters
_MOSTLY = 0.9  # of the values of a column differ, where they name its rows
#: Parts in words that tell what would be ordinary; of others, "usual" would say nothing.
_TELLING = (Part.WEEKDAY, Part.MONTH, Part.PATTERN)


def texts_of(values: Mapping[str, Value]) -> dict[str, str]:
    """Return values as a form holds them; a missing one is empty."""
    return {name: field_text(value) for name, value in values.items()}


def copied(values: Mapping[str, str], entry: TableEntry) -> dict[str, str]:
    """Return the values of a row for a new object, without names that only one row can have."""
    names = set(too_long(values))
    for column in entry.facts.columns:
        known = entry.facts.rows - column.missing
        if column.form == "text" and known > 1 and column.distinct >= _MOSTLY * known:
            names.add(column.name)
    return {name: "" if name in names else text for name, text in values.items()}


def too_long(values: Mapping[str, str]) -> list[str]:
    """Name the columns whose text is too long for a form, and for an address."""
    return [name for name, text in values.items() if len(text) > _LONGEST_FIELD]


@dataclasses.dataclass(frozen=True)
class RowPage:
    """What is explained, in words and links: a row by its number, or a new object by its texts."""

    entry: TableEntry
    addresses: Addresses
    values: Mapping[str, str]
    number: int | None = None
    top: int | None = None  # how many odd rows were asked for
    odd: tuple[int, ...] = ()  # their numbers, the oddest first
    name: str = ""

    @property
    def heading(self) -> str:
        """How the page calls it."""
        if self.number is None:
            return "A new row"
        return f"Row {self.number:,}: {self.name}" if self.name else f"Row {self.number:,}"

    def address(self, suffix: str = "", addresses: Addresses | None = None) -> str:
        """Return the address of its page."""
        if self.number is None:
            return (addresses or self.addresses).new(self.values, suffix)
        return (addresses or self.addresses).row(self.number, suffix, self.top)

    def pairs(self) -> Params:
        """Return what its address holds besides options."""
        if self.number is not None:
            return [] if self.top is None else [("odd", str(self.top))]
        return [(f"v.{name}", value) for name, value in self.values.items() if value != ""]

    @property
    def path(self) -> str:
        """Where its forms are sent to."""
        return self.addresses.path("/new" if self.number is None else f"/row/{self.number}")

    def context(self) -> dict[str, Any]:
        """Return what the template shows, explained or not."""
        rows, options = self.entry.facts.rows, self.addresses.options
        others = own_values(options).items()
        usual = Options.of(**{name: own for name, own in others if name not in say.PAGE_OPTIONS})
        plainly = dataclasses.replace(self.addresses, options=usual)
        about = f"compared with {counted(rows, 'row')} of {printable(self.entry.name, 60)}"
        if self.number in self.odd:
            place, count = self.odd.index(self.number) + 1, len(self.odd)
            about += f"; number {place:,} of {count:,} odd rows"
        return {
            "view": self,
            "about": about,
            "neighbours": [] if self.number is None else list(self._neighbours(self.number, rows)),
            "options": option_fields(options, rows),
            "options_kept": self.pairs() + plainly.kept,
            "reset": None if usual == options else self.address(addresses=plainly),
        }

    def _neighbours(self, number: int, rows: int) -> Iterator[tuple[str, str, str, str]]:
        """Yield the rows before and after (of the odd ones): key, relation, name and address."""
        is_odd, fine = number in self.odd, self.entry.fine.keys() - {number}
        order: Sequence[int] = range(1, rows + 1)
        if is_odd:
            order = [other for other in self.odd if other not in fine]
        kind, top = ("odd ", self.top) if is_odd else ("", None)
        place = order.index(number)
        for key, relation, way, to in (
            ("p", "prev", "Previous", place - 1),
            ("n", "next", "Next", place + 1),
        ):
            if 0 <= to < len(order):
                yield key, relation, f"{way} {kind}row", self.addresses.row(order[to], top=top)
        if top is not None:
            yield "o", "", "All odd rows", self.addresses.odd(top)

    def explained(self, findings: Findings, twins: Mapping[int, Twins]) -> dict[str, Any]:
        """Return what the template shows of findings; twins by the place of their story."""
        told = {
            id(story.headline): self._story(story, findings, twins.get(place))
            for place, story in enumerate(findings.stories)
        }
        return {
            "findings": findings,
            "context_of": lambda pair: told[id(pair)],
            "notes": (*findings.notes, *PYTHON.hints(findings.hints)),
            "terms": terms(),
        }

    # --- stories ----------------------------------------------------------------------------------

    def _story(self, story: Story, findings: Findings, twins: Twins | None) -> dict[str, Any]:
        """Return what a card says besides: the conditions with their rows, ordinary rows."""
        conditions = story.headline.conditions
        whys = [self._hidden(item.attribute) for item in conditions]
        found = {
            "conditions": [
                (str(item), None if why else self._group(item))
                for item, why in zip(conditions, whys, strict=True)
            ],
            "hidden": next(filter(None, whys), None),
            "group": None if any(whys) else self._group(*conditions),
            "ordinary": None,
            "twins": [],
        }
        return found if twins is None else found | self._alike(story, findings, twins)

    @property
    def _places(self) -> dict[str, int]:
        return {column.name: place for place, column in enumerate(self.entry.facts.columns)}

    def _hidden(self, attribute: str) -> str | None:
        """Say why rows cannot be found by an attribute; None where they can."""
        places, declared = self._places, dict(self.addresses.options.types)
        parent, part = part_of(attribute, places) or (attribute, None)
        if parent not in places or part is Part.WRITTEN:
            return f"The table cannot be filtered by {printable(attribute, 60)}."
        usual = self.entry.facts.columns[places[parent]].type
        kind = declared.get(parent, usual)
        if kind == usual or (part is None and kind != "datetime"):
            return None
        words = f"compared as {say.PAGE_TYPES[kind]}, but shown as it was read"
        return f"Rows cannot be shown by {printable(attribute, 60)}: it is {words}."

    def _group(self, *conditions: Condition) -> str:
        filters = tuple(map(Filter.of_condition, conditions))
        return self.addresses.table(TableQuery(filters=filters))

    def _alike(self, story: Story, findings: Findings, twins: Twins) -> dict[str, Any]:
        places = self._places
        told = [n for n in dict.fromkeys((story.culprit, *story.columns)) if n in places]
        names = [*told, *[name for name in places if name not in told][:_OTHER_COLUMNS]]
        own, odd = findings.object, story.headline.column
        columns = [
            column_texts([own.get(name), *(twin.values[places[name]] for twin in twins.twins)])
            for name in names
        ]
        lines = [[text or "missing" for text in line] for line in zip(*columns, strict=True)]
        return self._ordinary(story.headline, twins.ordinary_at) | {
            "twin_columns": [(printable(name, 40), name == odd) for name in names],
            "own_cells": lines[0],
            "twins": list(zip((twin.row for twin in twins.twins), lines[1:], strict=True)),
        }

    def _ordinary(self, pair: Pair, value: Value) -> dict[str, Any]:
        """Return at which value the odd cell would be ordinary, and the address to try that."""
        odd = pair.column
        if value is None or odd not in self._places:
            return {}
        if pair.property != odd and pair.expected is None:
            _, part = part_of(pair.property, self._places) or ("", Part.SPELLING)
            says_something = part.form != "text" or part in _TELLING
            said = f"{printable(pair.property, 60)} = {text_of(value)}"
            return {"ordinary": said, "change": None} if says_something else {}
        own = self.values if self.number is None else copied(self.values, self.entry)
        changed = {**own, odd: field_text(value)}
        return {"ordinary": quantity_text(value), "change": self.addresses.new(changed)}


# --- addresses ---------------------------------------------------------------------------------


def _ended(job: Job, remedy: Callable[[], str]) -> dict[str, Any]:
    """Say why a job has ended without a result, and where infinite values count as missing."""
    said = "It was cancelled." if job.state == "cancelled" else job.error or "It failed."
    is_infinite = INFINITE_AS_MISSING in job.remedies
    return {"problem": said, "again": True, "remedy": remedy() if is_infinite else None}


def _along(entry: TableEntry, job: Job, json: str) -> dict[str, Any]:
    """Return the ways to take a result along."""
    try:
        said = answers.reproduced(entry, job)
    except NotReadyError as error:
        said = {"instead": str(error)}
    return {"along": {"job": job, "json": json, **said}}


@of_table
async def odd(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show the odd rows of a table as they are found; a look at this page begins the search."""
    given = request.query_params.get("top") or ("10" if is_json(request) else None)
    top = number_of(given)
    looking = service_of(request).detect(entry, top, _of_detection(addresses))
    job = await finished(request, looking)
    if is_json(request):
        return Answer(answers.document(job))
    shown: dict[str, Any] = {"about": size_of(entry), "top": top, "job": job}
    if job.state in ("failed", "cancelled"):
        shown |= _ended(job, lambda: addresses.without_infinite.odd(top))
    else:
        shown |= odd_rows(entry, addresses, top, job)
    if job.state == "done":
        shown |= _along(entry, job, addresses.odd(top, ".json"))
    return view("odd.html", entry, addresses, "odd", waiting=not job.is_over, **shown)


async def find_odd(request: Request) -> Response:
    """Start to look for odd rows, also where that was cancelled before."""
    params, addresses = await form(request)
    top, service = number_of(params.get("top")), service_of(request)
    entry = service.get(addresses.table_id)
    service.detect(entry, top, _of_detection(addresses), again=True)
    return RedirectResponse(addresses.odd(top), 303)


@of_table
async def apart(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show what sets some rows of a table apart; a look at this page begins the search."""
    query = TableQuery.of(request.query_params)
    comparing = service_of(request).compare(entry, query, _of_detection(addresses))
    job = await finished(request, comparing)
    if is_json(request):
        return Answer(answers.document(job))
    chosen = TablePage(entry, addresses, request.query_params)
    chips = list(chosen.chips())
    shown: dict[str, Any] = {"job": job, "query": query, "chips": chips, "rules": (), "told": ()}
    if job.state in ("failed", "cancelled"):
        shown |= _ended(job, lambda: addresses.without_infinite.apart(query))
    if isinstance(job.result, SetExplanation):
        first, *parts = job.result.paragraphs()
        shown |= {"summary": first, "told": parts[len(job.result.rules) :]}
        shown["rules"] = [
            (rule.name, str(rule).removeprefix(f"{rule.name}: "), _rows_of(rule, addresses))
            for rule in job.result.rules
        ]
        shown |= _along(entry, job, addresses.apart(query, ".json"))
    return view("apart.html", entry, addresses, "apart", waiting=not job.is_over, **shown)


def _rows_of(rule: Rule, addresses: Addresses) -> str | None:
    """Return the address of the rows of a rule; None where the table cannot be filtered so."""
    found = [item for item in rule.conditions if isinstance(item, Condition)]
    if len(found) < len(rule.conditions):
        return None
    return addresses.table(TableQuery(filters=tuple(map(Filter.of_condition, found))))


async def compare_again(request: Request) -> Response:
    """Compare rows once more where that was cancelled or has failed."""
    params, addresses = await form(request)
    query, service = TableQuery.of(params), service_of(request)
    entry = service.get(addresses.table_id)
    service.compare(entry, query, _of_detection(addresses), again=True)
    return RedirectResponse(addresses.apart(query), 303)


async def mark(request: Request) -> Response:
    """Mark a row as fine, or take that back, and show the page that it was marked on."""
    params, addresses = await form(request)
    number, service = read_whole("row", params.get("row"), 1), service_of(request)
    mark = Mark.of(params) if params.get("fine") else None
    service.mark(service.get(addresses.table_id), number, mark)
    top = number_of(params["odd"]) if params.get("odd") else None
    is_row = params.get("back") == "row"
    return RedirectResponse(addresses.row(number, top=top) if is_row else addresses.odd(top), 303)


def _of_detection(addresses: Addresses) -> Options:
    given = own_values(addresses.options).items()
    return Options.of(**{name: own for name, own in given if name in DETECT_OPTIONS})


@of_table
async def row(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show a row, and why it is odd; one that was picked among the odd rows, together with them."""
    number = read_whole("row", request.path_params["number"], 1)
    values = await service_of(request).values(entry, number)
    shown = RowPage(entry, addresses, texts_of(values), number, name=entry.name_of(values))
    if (given := request.query_params.get("odd")) is not None:
        top, service = number_of(given), service_of(request)
        job = service.detect(entry, top, _of_detection(addresses))
        if isinstance(job.result, Detection):
            rows = listed(job.result.rows)
            odd = tuple(item.row + 1 for item in rows if item.row is not None)
            shown = dataclasses.replace(shown, top=top, odd=odd)
    return await _explained(request, shown, "")


@of_table
async def new(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show a form for a new object, and why that is odd."""
    params, welcome = request.query_params, say.PAGE_WELCOME
    if params.get("from"):
        number = read_whole("from", params["from"], 1)
        found = texts_of(await service_of(request).values(entry, number))
        values = copied(found, entry)
        left_out = ", ".join(printable(name, 60) for name in too_long(found)[:5])
        welcome += say.PAGE_LEFT_OUT.format(columns=left_out) if left_out else ""
    else:
        values = _typed(entry, params)
    shown = RowPage(entry, addresses, values)
    is_empty = params.get("from") or not any(values.values())
    if is_empty and not is_json(request):
        return view("row.html", entry, addresses, "new", welcome=welcome, **shown.context())
    return await _explained(request, shown, "new")


def _typed(entry: TableEntry, params: QueryParams) -> dict[str, str]:
    return {column.name: params.get(f"v.{column.name}", "") for column in entry.facts.columns}


async def _explained(request: Request, shown: RowPage, here: str) -> Response:
    entry, addresses = shown.entry, shown.addresses
    context = shown.context()
    try:
        job = _job_of(request, shown)
    except ObjectError as error:
        if is_json(request):
            raise
        context["problem"] = error.shell_message()
        return view("row.html", entry, addresses, here, **context)
    await finished(request, job)
    if is_json(request):
        return Answer(answers.document(job))
    if job.state == "done":
        context |= shown.explained(job.explained[0], await _twins(request, entry, job))
        context |= _along(entry, job, shown.address(".json"))
    elif job.is_over:
        context |= _ended(job, lambda: shown.address(addresses=addresses.without_infinite))
    else:
        context |= {"job": job, "waiting": True}
    return view("row.html", entry, addresses, here, **context)


def _job_of(request: Request, shown: RowPage, again: bool = False) -> Job:
    typed = {name: text or None for name, text in shown.values.items()}
    what = typed if shown.number is None else shown.number
    return service_of(request).explain(shown.entry, what, shown.addresses.options, again=again)


async def _twins(request: Request, entry: TableEntry, job: Job) -> dict[int, Twins]:
    """Return ordinary rows like this one for each story that is told in full."""
    service, (findings, *_) = service_of(request), job.explained
    found: dict[int, Twins] = {}
    for place, story in enumerate(findings.stories):
        if story.stands_out:
            # the page explains the row without them, too, where its columns cannot be filtered by
            with contextlib.suppress(OptionError, ColumnError):
                found[place] = await service.twins(entry, findings, place)
    return found


async def explain_again(request: Request) -> Response:
    """Explain once more what was cancelled or has failed."""
    params, addresses = await form(request)
    entry = service_of(request).get(addresses.table_id)
    given = request.path_params.get("number")
    number = None if given is None else read_whole("row", given, 1)
    shown = RowPage(entry, addresses, _typed(entry, params), number)
    _job_of(request, shown, again=True)
    return RedirectResponse(shown.address(), 303)


ROUTES: Sequence[BaseRoute] = [
    Route("/t/{table}/odd.json", odd),
    Route("/t/{table}/apart.json", apart),
    Route("/t/{table}/apart", apart, methods=["GET"]),
    Route("/t/{table}/apart", compare_again, methods=["POST"]),
    Route("/t/{table}/row/{number}.json", row),
    Route("/t/{table}/new.json", new),
    Route("/t/{table}/fine", mark, methods=["POST"]),
    Route("/t/{table}/odd", odd, methods=["GET"]),
    Route("/t/{table}/odd", find_odd, methods=["POST"]),
    Route("/t/{table}/row/{number}", row, methods=["GET"]),
    Route("/t/{table}/row/{number}", explain_again, methods=["POST"]),
    Route("/t/{table}/new", new, methods=["GET"]),
    Route("/t/{table}/new", explain_again, methods=["POST"]),
]
