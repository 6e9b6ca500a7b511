"""The pages of tables; one whose address ends with .json says the same as JSON."""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

import outlying
from outlying import sentences as say
from outlying.errors import OptionError
from outlying.render import html
from outlying.table.values import Value, printable, quantity_text, text_of
from outlying.web import LimitError, answers, tables
from outlying.web.answers import Answer, record
from outlying.web.browse import ColumnOverview
from outlying.web.jobs import Job
from outlying.web.queries import (
    MOST_COLUMNS,
    Addresses,
    Params,
    TableQuery,
    address_sent,
    columns_from,
    field_text,
    left_of,
)
from outlying.web.sourcing import SAID, bounded
from outlying.web.tables import TableEntry, service_of

if TYPE_CHECKING:
    from jinja2 import Environment

#: A page waits so many seconds for an answer before it shows progress instead.
PATIENCE = 0.7
_LARGEST_FORM, _MOST_FIELDS = 4 << 20, 100_000  # bytes; a new object has one for each column
#: What a page need not show.
_OF_JOBS = ("job", "waiting", "problem", "remedy", "again", "along", "findings", "welcome")
_OF_VIEWS = ("table", "accepts", "summary", "sections", "columns", "hidden", "more", "notes")
_OPTIONAL = dict.fromkeys((*_OF_JOBS, *_OF_VIEWS, "back"))


# --- the frame -------------------------------------------------------------------------------


def page(template: str, status: int = 200, **context: Any) -> Response:
    """Return a page."""
    text = _environment().get_template(template).render(**_OPTIONAL | context)
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)


def view(
    template: str,
    entry: TableEntry,
    addresses: Addresses,
    here: str,
    status: int = 200,
    **context: Any,
) -> Response:
    """Return a view of a table."""
    accepts = any(map(entry.accepts, entry.fine))
    shown = {"table": entry, "addresses": addresses, "here": here, "accepts": accepts}
    return page(template, status, **shown, **context)


async def style_sheet(request: Request) -> Response:  # noqa: ARG001 - as all routes are called
    """Send the style of all pages: that of the cards, and what is around them."""
    return Response(_style(), media_type="text/css")


@functools.cache
def _style() -> str:
    return _environment().get_template("page.css").render(cards=html.style_sheet())


@functools.cache
def _environment() -> Environment:
    found = html.with_cards(html.environment("outlying.web"))
    own = (counted, choices, hint)
    found.filters |= {work.__name__: work for work in own} | {"percent_of": _percent_of}
    script = (resources.files("outlying.web") / "static" / "page.js").read_bytes()
    digest = hashlib.blake2b(script, digest_size=4).hexdigest()
    found.globals |= {
        "say": say,
        "formats": answers.FORMATS,
        "version": outlying.__version__,
        "assets": {
            "style": f"/style.css?{outlying.__version__}",
            "script": f"/static/page.js?{digest}",
            "icon": "/static/icon.svg",
        },
    }
    return found


def _percent_of(number: float, name: str) -> Any:
    """Return a percentage as an attribute that the style sheet knows."""
    from markupsafe import Markup

    step = 1 if name == "heat" else 0.5
    return Markup('data-{}="{:g}"').format(name, round(number / step) * step)


def error_page(request: Request, status: int, message: str) -> Response:
    """Show what went wrong, and a way back."""
    table_id = request.path_params.get("table")
    back = None
    if table_id is not None and (request.url.query or request.url.path.count("/") > 2):
        back = Addresses(table_id).table()
    headings = {404: "There is no such page", 429: "Too much at once"}
    heading = headings.get(status, "That did not work")
    return page("error.html", status, heading=heading, problem=message, back=back)


def is_json(request: Request) -> bool:
    """Return whether a page is asked for as JSON."""
    return request.url.path.endswith(".json")


async def finished(request: Request, job: Job) -> Job:
    """Wait for a job: for JSON until it is over, for a page not longer than readers like."""
    await job.finished(service_of(request).limits.seconds if is_json(request) else PATIENCE)
    return job


def of_table(
    show: Callable[[Request, TableEntry, Addresses], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Return a page of a table that is read first; until then, how far that is."""

    async def answer(request: Request) -> Response:
        table_id, service = request.path_params["table"], service_of(request)
        addresses = Addresses.of(table_id, request.query_params)
        entry = service.open(table_id)
        if entry.reading is not None and entry.state == "reading":
            await finished(request, entry.reading)
            entry = service.get(entry.id)
        if is_json(request):
            entry.ready()
        heading = printable(entry.name, 60)
        if entry.state == "failed":
            again = {"path": addresses.path(), "names": entry.sourcing.sayable, "said": SAID}
            again |= {"given": dict(entry.sourcing.given)}
            heading = f"{heading} could not be read"
            return page("error.html", 400, again=again, heading=heading, problem=entry.error or "")
        if entry.state != "ready":
            shown = {"heading": heading, "words": "Reading the table"}
            return page("waiting.html", 202, job=entry.reading, waiting=True, **shown)
        return await show(request, entry, addresses)

    return answer


async def form(request: Request) -> tuple[QueryParams, Addresses]:
    """Return the texts of a form that was sent, and the views that it was sent from."""
    error = LimitError(f"the form has more than {_LARGEST_FORM >> 20} MB", "upload")
    whole = bounded(request, _LARGEST_FORM, error, service_of(request).limits.pause)
    form = await whole.form(max_fields=_MOST_FIELDS)
    texts = QueryParams([item for item in form.multi_items() if isinstance(item[1], str)])
    return texts, Addresses.of(request.path_params["table"], texts)


# --- the start, the table ----------------------------------------------------------------------


async def start(request: Request) -> Response:
    """Show the tables that can be opened, and a place to drop another."""
    words = {"reading": "being read", "failed": "could not be read"}
    known = [
        (
            entry,
            Addresses(entry.id),
            size_of(entry) if entry.state == "ready" else words.get(entry.state, ""),
        )
        for entry in service_of(request).list()
    ]
    promise, stays = say.PAGE_STAYS if request.app.state.is_local else say.PAGE_GOES
    return page("start.html", tables=known, kinds=f"{say.PAGE_KINDS} {stays}", promise=promise)


async def forget(request: Request) -> Response:
    """Forget a table that was uploaded."""
    service_of(request).remove(request.path_params["table"])
    return RedirectResponse("/", 303)


@of_table
async def table(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show a part of a table."""
    problem = ""
    try:
        moved_to = address_sent(entry.facts, request.query_params, addresses)
        if moved_to is not None:
            return RedirectResponse(moved_to, 303)
    except OptionError as error:
        problem = error.shell_message()
    shown = TablePage(entry, addresses, request.query_params)
    rows = await service_of(request).page(entry, shown.query)
    if is_json(request):
        return Answer(record(tables.Page, rows))
    status, context = 400 if problem else 200, shown.of_rows(rows)
    return view("table.html", entry, addresses, "table", status, problem=problem, **context)


@of_table
async def columns(request: Request, entry: TableEntry, addresses: Addresses) -> Response:
    """Show what the columns of a table hold, and how each was read."""
    shown = TablePage(entry, addresses, request.query_params, "/columns").of_columns()
    return view("columns.html", entry, addresses, "columns", **shown)


async def read_again(request: Request) -> Response:
    """Read a table once more: one that could not be read, or in another way than before."""
    params, _ = await form(request)
    said = {name: params.get(name) for name in SAID}
    entry = service_of(request).read_as(request.path_params["table"], said)
    return RedirectResponse(Addresses(entry.id).table(), 303)


async def cancel(request: Request) -> Response:
    """Cancel a job, and show the page that waited for it."""
    jobs = service_of(request).jobs
    return RedirectResponse(jobs.cancel(jobs.get(request.path_params["job"])).page, 303)


ROUTES: Sequence[BaseRoute] = [
    Route("/", start),
    Route("/style.css", style_sheet),
    Route("/t/{table}.json", table),
    Route("/t/{table}", table, methods=["GET"]),
    Route("/t/{table}", read_again, methods=["POST"]),
    Route("/t/{table}/forget", forget, methods=["POST"]),
    Route("/t/{table}/columns", columns),
    Route("/jobs/{job}/cancel", cancel, methods=["POST"]),
]


# --- what these pages show -----------------------------------------------------------------------

_LONGEST = 80  # characters of a cell
_MOST_NAMED = 3  # columns that cannot be shown, categories
_MOST_LISTED, _COMMON = 100, 0.02  # of more categories, so rare, none is worth to be named
_LONGEST_CHOICE, _SHORT, _MANY_CATEGORIES = 200, 16, 100  # categories that a form names

#: A way to another part of what a page shows: its name, its relation, its address if there is one.
PageLink: TypeAlias = tuple[str, str, str | None]


class TablePage:
    """Some rows of a table, or what its columns hold, as a template sees it."""

    def __init__(
        self, entry: TableEntry, addresses: Addresses, params: QueryParams, path: str = ""
    ) -> None:
        self.entry, self.facts, self.addresses, self._path = entry, entry.facts, addresses, path
        self.query, options = TableQuery.of(params), addresses.options
        self.excluded, self.types = set(options.exclude), dict(options.types)
        declared = self.facts.declarable.intersection(self.types)
        skipped = (item for item in self.facts.skipped if item.name not in declared)
        self.skipped = {item.name: item.reason for item in skipped}
        self.left = min(left_of(params), max(0, len(self.facts.columns) - 1))
        self._at_left: Params = [("left", str(self.left))] if self.left else []
        self.columns = columns_from(self.facts, self.left)
        self.last = self.left + len(self.columns)
        self.notes = [*self.facts.notes, *self._unusable()]

    def _unusable(self) -> Iterator[str]:
        """Name the columns that are not shown, as they cannot be read."""
        shown = {column.name for column in self.facts.columns}
        left = [item for item in self.facts.skipped if item.name not in shown]
        for item in left[:_MOST_NAMED]:
            yield f"Column {printable(item.name, 60)} is not shown: it {item.reason}."
        if len(left) > _MOST_NAMED:
            yield f"{len(left) - _MOST_NAMED:,} more columns are not shown."

    def leaves_out(self, name: str) -> bool:
        """Return whether a column is not compared."""
        return name in self.skipped or name in self.excluded

    def of_rows(self, page: tables.Page) -> dict[str, Any]:
        """Return what the page of some rows shows."""
        hidden = self.addresses.hidden
        places = [(place, column) for place, column in self.columns if column.name not in hidden]
        return {
            "view": self,
            "page": page,
            "query": self.query,
            "about": size_of(self.entry),
            "range": _range(page, self.facts.rows),
            "said": SAID,
            "rules": say.PAGE_RULES,
            "kinds": say.PAGE_TYPES,
            "chips": list(self.chips()),
            "all_rows": self._address(TableQuery(limit=self.query.limit)),
            "columns": [column for _, column in places],
            "texts": [
                column_texts([row.values[place] for row in page.rows]) for place, _ in places
            ],
        }

    def to(self, addresses: Addresses | None = None, **changes: Any) -> str:
        """Return the address of this page with another query, or with other columns hidden."""
        return self._address(dataclasses.replace(self.query, **changes), addresses)

    def _address(self, query: TableQuery, addresses: Addresses | None = None) -> str:
        return (addresses or self.addresses).to(pairs=[*query.to_params(), *self._at_left])

    def kept(self, **changes: Any) -> Params:
        """Return what else the address of a form has to hold, with some of it changed."""
        first = dataclasses.replace(self.query, offset=0, **changes)
        return [*first.to_params(), *self.addresses.kept, *self._at_left]

    def chips(self) -> Iterator[tuple[str, str]]:
        """Yield in words what the table is filtered by, each with the address without it."""
        query = self.query
        if query.search:
            yield f"contains “{printable(query.search, 60)}”", self.to(search="", offset=0)
        for item in query.filters:
            left = tuple(other for other in query.filters if other is not item)
            yield printable(str(item), 120), self.to(filters=left, offset=0)
        if query.rows is not None:
            count = len(query.rows)
            words = "one chosen row" if count == 1 else f"{count:,} chosen rows"
            yield words, self.to(rows=None, offset=0)

    def steps(self, page: tables.Page) -> Iterator[PageLink]:
        """Yield the ways to other pages of the same rows."""
        offset, limit = page.offset, page.limit
        last = max(0, (page.total - 1) // limit * limit)
        for name, rel, to, is_there in (
            ("First", "", 0, offset > 0),
            ("Previous", "prev", max(0, offset - limit), offset > 0),
            ("Next", "next", offset + limit, offset < last),
            ("Last", "", last, offset < last),
        ):
            yield name, rel, self.to(offset=to) if is_there else None

    @property
    def range_of_columns(self) -> str:
        """Which columns are shown, where there are too many for one page."""
        count = len(self.facts.columns)
        words = f"Columns {self.left + 1:,} to {self.last:,} of {count:,}"
        return words if count > MOST_COLUMNS else ""

    def columns_aside(self) -> Iterator[PageLink]:
        """Yield the ways to columns further left and right."""
        for name, left, is_there in (
            ("Columns to the left", max(0, self.left - MOST_COLUMNS), self.left > 0),
            ("Columns to the right", self.last, self.last < len(self.facts.columns)),
        ):
            pairs = [*self.query.to_params(), ("left", str(left))]
            yield name, "", self.addresses.to(self._path, pairs) if is_there else None

    def of_columns(self) -> dict[str, Any]:
        """Return what the page of the columns shows."""
        here = {column.name for _, column in self.columns}
        untyped = dataclasses.replace(
            self.addresses,
            options=dataclasses.replace(self.addresses.options, types=()),
            hidden=tuple(name for name in self.addresses.hidden if name not in here),
        )
        types = [("type", f"{n}={kind}") for n, kind in self.types.items() if n not in here]
        compared = sum(not self.leaves_out(column.name) for column in self.facts.columns)
        return {
            "view": self,
            "about": f"{size_of(self.entry)}, {compared:,} of them compared.",
            "forms": say.PAGE_FORMS,
            "kept": [*untyped.kept, *types, *self._at_left],
            "odd": collections.Counter(n for row in self.entry.explained.values() for n in row.odd),
        }

    def kinds(self, column: ColumnOverview) -> list[tuple[str, str]]:
        """Return the types that can be declared of a column, in words; none is as it was read."""
        kinds = [("", f"{say.PAGE_TYPES[column.type]} (as read)")]
        if column.name in self.facts.declarable:
            kinds.append((column.type, f"{say.PAGE_TYPES[column.type]}, compared all the same"))
        return kinds + [item for item in say.PAGE_TYPES.items() if item[0] != column.type]

    def held(self, column: ColumnOverview) -> str:
        """Say what a column holds: its range, or its commonest categories."""
        if column.low is not None and column.high is not None:
            low, high = _ends(column)
            return f"{low} to {high}" if low != high else f"always {low}"
        if not column.categories:
            return "nothing"
        if column.distinct > _MOST_LISTED and column.bars[0] <= self.facts.rows * _COMMON:
            return f"{column.distinct:,} different texts"
        most = [
            f"{printable(name, 24)} {self.share(count)}"
            for name, count in zip(column.categories[:_MOST_NAMED], column.bars, strict=False)
        ]
        more = column.distinct - len(most)
        return ", ".join(most) + (f" and {more:,} more" if more else "")

    def share(self, count: int) -> str:
        """Return a number of rows as a share; a few are not none, and nearly all are not all."""
        percent = 100 * count / max(self.facts.rows, 1)
        if percent < 1:
            return counted(count, "row")
        return "99.9%" if 99.95 <= percent < 100 else f"{percent:.3g}%"


def column_texts(values: Sequence[Value]) -> list[str | None]:
    """Return the cells of a column as texts, its numbers with the same number of decimals."""
    texts = [None if value is None else printable(text_of(value), _LONGEST) for value in values]
    fractions = [isinstance(value, float) and math.isfinite(value) for value in values]
    plain = [text or "" for text, is_one in zip(texts, fractions, strict=True) if is_one]
    if any("e" in text for text in plain):
        return texts
    decimals = max((len(text.removesuffix(".0").partition(".")[2]) for text in plain), default=0)
    return [
        f"{value:.{decimals}f}" if is_one else text
        for value, text, is_one in zip(values, texts, fractions, strict=True)
    ]


def counted(count: int, name: str) -> str:
    """Return a number of things in words."""
    return f"{count:,} {name}" if count == 1 else f"{count:,} {name}s"


def size_of(entry: TableEntry) -> str:
    """Return how large a table is in words."""
    facts = entry.facts
    return f"{counted(facts.rows, 'row')}, {counted(len(facts.columns), 'column')}"


def _range(page: tables.Page, rows: int) -> str:
    if not page.total:
        return "No rows"
    first, last = page.offset + 1, page.offset + len(page.rows)
    said = f"Rows {first:,} to {last:,} of {page.total:,}"
    return said if page.total == rows else f"{said} that match, of {rows:,} in all"


# --- forms -------------------------------------------------------------------------------------


def _ends(column: ColumnOverview) -> list[str]:
    both = column.low, column.high
    return [quantity_text(end, beside=both) for end in both]


def choices(column: ColumnOverview) -> list[str]:
    """Return the categories that the field of a new row offers, those that are short."""
    texts = map(field_text, column.categories)
    return [text for text in texts if 0 < len(text) <= _LONGEST_CHOICE]


def hint(column: ColumnOverview) -> str:
    """Return what the field of a new row takes: a range, or the commonest categories."""
    if column.low is not None and column.high is not None:
        return " to ".join(_ends(column))
    named = [printable(str(item), _SHORT) for item in column.categories[:_MOST_NAMED]]
    if not named or column.distinct > _MANY_CATEGORIES:
        return say.PAGE_TYPES[column.type]
    return ", ".join(named) + (", …" if column.distinct > len(named) else "")
