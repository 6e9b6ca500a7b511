"""What an address asks for: rows of a table, options of an explanation; read and written."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast, get_args

from starlette.datastructures import ImmutableMultiDict

from outlying.checks import check_choice, check_names, read_whole
from outlying.errors import OptionError, not_allowed, shown
from outlying.options import COLUMN_OPTIONS, EXPLAIN_OPTIONS, Options
from outlying.sources.duckdb import filters
from outlying.sources.duckdb.browse import View
from outlying.sources.duckdb.filters import FilterKind
from outlying.table.conditions import Condition
from outlying.table.values import plain, printable, range_text, text_of

Params: TypeAlias = list[tuple[str, str]]
#: A query string, or a form.
Given: TypeAlias = ImmutableMultiDict[Any, Any]

MOST_ROWS = 500
"""Rows on one page."""
MOST_NAMED = 5_000
"""Rows that an address may name."""
MOST_FILTERS = 50
_PAGE = 50
_FIELDS = ("attribute", "kind", "low", "high", "value")
#: Options of `outlying detect`; its explanations have no others.
DETECT_OPTIONS = (*COLUMN_OPTIONS, "references", "top")


class QueryFilter(filters.Filter):
    """A condition on rows as an address holds it: JSON with the fields of a finding's condition."""

    __slots__ = ()

    @classmethod
    def of_condition(cls, condition: Condition) -> QueryFilter:
        """Return the filter that finds the rows of a condition."""
        ends = plain(condition.low), plain(condition.high)
        return cls(condition.attribute, condition.kind, *ends, plain(condition.value))

    @classmethod
    def read(cls, given: object) -> QueryFilter:
        """Check a filter that comes from outside: JSON, or what was read from it."""
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except (ValueError, RecursionError):
                raise not_allowed("filter", given, "a JSON object") from None
        if not isinstance(given, Mapping) or not isinstance(given.get("attribute"), str):
            raise OptionError(f"filter is {shown(given)}; needed: an object with an attribute")
        check_names(given, _FIELDS)
        check_choice("filter's kind", given.get("kind"), get_args(FilterKind))
        found = cls(*(cast(Any, given.get(name)) for name in _FIELDS))
        for end in (found.low, found.high, found.value):
            if not isinstance(end, (str, int, float, bool, type(None))):
                raise OptionError(f"filter holds {shown(end)}; allowed: a text or a number")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the filter as plain values."""
        return {name: getattr(self, name) for name in _FIELDS}

    def to_json(self) -> str:
        """Write the filter as it stands in an address."""
        known = {name: value for name, value in self.to_dict().items() if value is not None}
        return json.dumps(known, ensure_ascii=False)

    def __str__(self) -> str:
        name = printable(self.attribute)
        if self.kind in ("missing", "present"):
            return f"{name} is {'missing' if self.kind == 'missing' else 'known'}"
        if self.kind == "contains":
            return f"{name} contains {text_of(self.value)}"
        if self.kind == "equals":
            return f"{name} = {text_of(self.value)}"
        if self.low is None or self.high is None:
            end = self.high if self.low is None else self.low
            return f"{name} is at {'most' if self.low is None else 'least'} {text_of(end)}"
        if self.low == self.high:
            return f"{name} = {text_of(self.low)}"
        return f"{name} is {range_text(self.low, self.high)}"


@dataclasses.dataclass(frozen=True, slots=True)
class TableQuery:
    """Which rows of a table, in which order, and how many of them."""

    offset: int = 0
    limit: int = _PAGE
    sort: str | None = None
    descending: bool = False
    search: str = ""
    filters: tuple[QueryFilter, ...] = ()
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
            filters=tuple(map(QueryFilter.read, filters)),
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
    def view(self) -> View:
        """The rows that are meant, page or not."""
        return View(self.sort, self.descending, self.search, self.filters, self.rows)


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
