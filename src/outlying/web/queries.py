"""What an address asks for: rows of a table, options of an explanation; read and written.

Every view of a table has an address that says all that is shown.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import quote

from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request

from outlying.checks import check_choice, read_whole
from outlying.errors import OptionError, shown
from outlying.options import COLUMN_OPTIONS, EXPLAIN_OPTIONS, Options
from outlying.web.browse import RowView
from outlying.web.filters import Filter

Params: TypeAlias = list[tuple[str, str]]
#: A query string, or a form.
Given: TypeAlias = ImmutableMultiDict[Any, Any]

MOST_ROWS = 500
"""Rows on one page."""
MOST_NAMED = 5_000
"""Rows that an address may name."""
MOST_FILTERS = 50
_PAGE = 50
#: Options of `outlying detect`; its explanations have no others.
DETECT_OPTIONS = (*COLUMN_OPTIONS, "references", "top")


@dataclasses.dataclass(frozen=True, slots=True)
class TableQuery:
    """Which rows of a table, in which order, and how many of them."""

    offset: int = 0
    limit: int = _PAGE
    sort: str | None = None
    descending: bool = False
    search: str = ""
    filters: tuple[Filter, ...] = ()
    rows: tuple[int, ...] | None = None

    @classmethod
    def of(cls, given: Given) -> TableQuery:
        """Read and check a query string."""
        order = given.get("order") or "asc"
        check_choice("order", order, ("asc", "desc"))
        limit = read_whole("limit", given.get("limit") or _PAGE, 1)
        if limit > MOST_ROWS:
            raise OptionError(f"limit is {limit}; allowed: 1 to {MOST_ROWS}")
        filters = given.getlist("filter")
        if len(filters) > MOST_FILTERS:
            raise OptionError(f"there are {len(filters)} filters; allowed: {MOST_FILTERS}")
        rows = given.get("rows")
        return cls(
            offset=read_whole("offset", given.get("offset") or 0, 0),
            limit=limit,
            sort=given.get("sort"),
            descending=order == "desc",
            search=str(given.get("search") or "")[:200],
            filters=tuple(map(Filter.read, filters)),
            rows=None if not rows else _numbers(rows),
        )

    def to_params(self) -> Params:
        """Write the query as pairs of an address, without what is as ever."""
        pairs: Params = [("offset", str(self.offset))] if self.offset else []
        pairs += [("limit", str(self.limit))] if self.limit != _PAGE else []
        if self.sort is not None:
            pairs += [("sort", self.sort)] + ([("order", "desc")] if self.descending else [])
        pairs += [("search", self.search)] if self.search else []
        pairs += [("filter", item.to_json()) for item in self.filters]
        return pairs + ([("rows", ",".join(map(str, self.rows)))] if self.rows is not None else [])

    @property
    def view(self) -> RowView:
        """The rows that are meant, page or not."""
        return RowView(self.sort, self.descending, self.search, self.filters, self.rows)


@dataclasses.dataclass(frozen=True, slots=True)
class OptionsQuery:
    """The options of an explanation that an address can hold; those not given are the library's."""

    given: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, params: Given) -> OptionsQuery:
        """Read the options of a query string."""
        given = {name: params.getlist(item.field) for name, item in EXPLAIN_OPTIONS.items()}
        return cls.checked(
            {
                name: EXPLAIN_OPTIONS[name].kind.read(EXPLAIN_OPTIONS[name].field, texts)
                for name, texts in given.items()
                if texts and (texts[-1] or EXPLAIN_OPTIONS[name].kind.is_many)
            }
        )

    @classmethod
    def checked(cls, given: Mapping[str, Any]) -> OptionsQuery:
        """Take options by the names of the library; wrong ones are refused here."""
        for name in given:
            if not isinstance(name, str):
                raise OptionError(f"options holds {shown(name)}; allowed: names of options")
        preset = {"preset"} & set(given)
        options = Options.of(**given).values()
        default = Options.of(**({"preset": given["preset"]} if preset else {})).values()
        own = tuple((name, value) for name, value in options.items() if value != default[name])
        return cls(((("preset", given["preset"]),) if preset else ()) + own)

    @property
    def keywords(self) -> dict[str, Any]:
        """The options as Explainer takes them."""
        found = dict(self.given)
        return found | ({"types": dict(found["types"])} if "types" in found else {})

    @property
    def options(self) -> Options:
        """All options."""
        return Options.of(**self.keywords)

    def to_params(self) -> Params:
        """Write the options as pairs of an address."""
        return [
            (EXPLAIN_OPTIONS[name].field, text)
            for name, value in self.given
            for text in EXPLAIN_OPTIONS[name].kind.write(value)
        ]


def _numbers(text: str) -> tuple[int, ...]:
    numbers = tuple(read_whole("rows", part, 1) for part in text.split(",") if part.strip())
    if len(numbers) > MOST_NAMED:
        raise OptionError(f"rows names {len(numbers):,} rows; allowed: {MOST_NAMED:,}")
    return numbers


def encoded(pairs: Sequence[tuple[str, str]]) -> str:
    """Write pairs as a query string with its question mark; nothing where there are none."""
    from urllib.parse import urlencode

    return f"?{urlencode(pairs)}" if pairs else ""


# --- addresses -------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Addresses:
    """The views of one table under the same options, with the same columns switched off."""

    table_id: str
    options: OptionsQuery = dataclasses.field(default_factory=OptionsQuery)
    hidden: tuple[str, ...] = ()

    @classmethod
    def of(cls, request: Request) -> Addresses:
        """Read what all views of a table have in common."""
        return cls.posted(request, request.query_params)

    @classmethod
    def posted(cls, request: Request, form: Given) -> Addresses:
        """Read the same from a form that was sent."""
        hidden = tuple(dict.fromkeys(map(str, form.getlist("hide"))))
        return cls(request.path_params["table"], OptionsQuery.of(form), hidden)

    @property
    def kept(self) -> Params:
        """What every address of these views holds."""
        return self.options.to_params() + [("hide", name) for name in self.hidden]

    @property
    def without_infinite(self) -> Addresses:
        """The same views where infinite values count as missing."""
        options = OptionsQuery.checked(self.options.keywords | {"infinite": "missing"})
        return dataclasses.replace(self, options=options)

    def path(self, view: str = "") -> str:
        """Return the address of a view without its query."""
        return f"/t/{quote(self.table_id)}{view}"

    def to(self, view: str = "", pairs: Iterable[tuple[str, str]] = (), suffix: str = "") -> str:
        """Return the address of a view."""
        return f"{self.path(view)}{suffix}{encoded([*pairs, *self.kept])}"

    def table(self, query: TableQuery | None = None, suffix: str = "") -> str:
        """Return the address of the table, or of a part of it."""
        return self.to(pairs=() if query is None else query.to_params(), suffix=suffix)

    def row(self, number: int, suffix: str = "", top: int | None = None) -> str:
        """Return the address of an explained row, from 1; picked among so many odd ones or not."""
        pairs = () if top is None else (("odd", str(top)),)
        return self.to(f"/row/{number}", pairs, suffix)

    def odd(self, top: int | None = None, suffix: str = "") -> str:
        """Return the address of what stands out: to be asked for, or so many rows of it."""
        return self.to("/odd", () if top is None else (("top", str(top)),), suffix)

    def new(self, values: Mapping[str, str], suffix: str = "") -> str:
        """Return the address of a new object."""
        pairs = [(f"v.{name}", value) for name, value in values.items() if value != ""]
        return self.to("/new", pairs, suffix)
