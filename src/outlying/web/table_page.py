"""What the page of a table shows: one part of its rows, ways to see others, what columns hold."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from starlette.datastructures import QueryParams

from outlying.checks import read_real, read_whole
from outlying.errors import OptionError, not_allowed
from outlying.table.values import Form, Value, printable, read_text, text_of
from outlying.web.browse import ColumnOverview
from outlying.web.queries import Addresses, Filter, OptionsQuery, Params, TableQuery
from outlying.web.sourcing import SAID
from outlying.web.tables import Page, TableEntry

#: A page of more columns is slow to draw; the others are some steps to the right.
MOST_COLUMNS = 60
_LONGEST = 80  # characters of a cell
_MOST_NAMED = 3  # columns that cannot be shown, categories
_MOST_LISTED, _COMMON = 100, 0.02  # of more categories, so rare, none is worth to be named

KINDS = {"numeric": "number", "categorical": "category", "datetime": "date"}
FORMS: dict[Form, str] = {
    "number": "numbers",
    "integer": "whole numbers",
    "boolean": "yes or no",
    "text": "texts",
    "date": "dates",
    "datetime": "dates with a time",
    "instant": "moments in time",
    "time": "times of day",
    "duration": "durations",
}
RULES = {
    "equals": "is",
    "contains": "contains",
    "least": "is at least",
    "most": "is at most",
    "missing": "is missing",
    "present": "is known",
}


#: A way to another part of what a page shows: its name, its relation, its address if there is one.
Step: TypeAlias = tuple[str, str, str | None]


class TablePage:
    """One page of a table, as its template sees it."""

    name = ""

    def __init__(
        self, entry: TableEntry, query: TableQuery, addresses: Addresses, left: int = 0
    ) -> None:
        self.entry, self.query, self.addresses = entry, query, addresses
        self.excluded = set(addresses.options.options.exclude)
        self.types = dict(addresses.options.options.types)
        self.declarable = frozenset() if entry.facts is None else entry.facts.declarable
        declared = self.declarable.intersection(self.types)
        self.skipped = {
            item.name: item.reason for item in entry.skipped if item.name not in declared
        }
        self.left = min(left, max(0, len(entry.columns) - 1))
        self.columns = _window(entry, self.left)
        self.notes = [*entry.notes, *_unusable(entry)]

    def leaves_out(self, name: str) -> bool:
        """Return whether a column is not compared."""
        return name in self.skipped or name in self.excluded

    def context(self, page: Page) -> dict[str, Any]:
        """Return what the template shows."""
        hidden = self.addresses.hidden
        places = [(place, column) for place, column in self.columns if column.name not in hidden]
        return {
            "view": self,
            "page": page,
            "query": self.query,
            "about": size_of(self.entry),
            "range": _range(page, self.entry.rows),
            "reading": _reading(self.entry),
            "rules": RULES,
            "kinds": KINDS,
            "chips": list(self._chips()),
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

    @property
    def _at_left(self) -> Params:
        return [("left", str(self.left))] if self.left else []

    @property
    def range_of_columns(self) -> str:
        """Which columns are shown, where there are too many for one page."""
        count = len(self.entry.columns)
        last = self.left + len(self.columns)
        return f"Columns {self.left + 1:,} to {last:,} of {count:,}" * (count > MOST_COLUMNS)

    def columns_aside(self) -> Iterator[Step]:
        """Yield the ways to columns further left and right."""
        last, left = self.left + len(self.columns), self.left
        yield "Columns to the left", "", self._beside(max(0, left - MOST_COLUMNS)) if left else None
        has_more = last < len(self.entry.columns)
        yield "Columns to the right", "", self._beside(last) if has_more else None

    def _beside(self, left: int) -> str:
        return self.addresses.to(self.name, [*self.query.to_params(), ("left", str(left))])

    def _chips(self) -> Iterator[tuple[str, str]]:
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

    def steps(self, page: Page) -> Iterator[Step]:
        """Yield the ways to other pages of the same rows."""
        offset, limit = page.offset, page.limit
        last = max(0, (page.total - 1) // limit * limit)
        is_later, has_more = offset > 0, offset < last
        yield "First", "", self.to(offset=0) if is_later else None
        yield "Previous", "prev", self.to(offset=max(0, offset - limit)) if is_later else None
        yield "Next", "next", self.to(offset=offset + limit) if has_more else None
        yield "Last", "", self.to(offset=last) if has_more else None


class ColumnsPage(TablePage):
    """What the columns of a table hold, how each was read, and whether it is compared."""

    name = "/columns"

    def context(self, page: Page | None = None) -> dict[str, Any]:  # noqa: ARG002 - no rows
        """Return what the template shows."""
        options = self.addresses.options
        untyped = OptionsQuery(tuple(item for item in options.given if item[0] != "types"))
        odd = collections.Counter(
            name for known in self.entry.explained.values() for name in known.odd
        )
        compared = [column for column in self.entry.columns if not self.leaves_out(column.name)]
        return {
            "view": self,
            "about": f"{size_of(self.entry)}, {len(compared):,} of them compared.",
            "forms": FORMS,
            "kept": [*untyped.to_params(), *self._elsewhere()],
            "odd": odd,
        }

    def _elsewhere(self) -> Params:
        """Return what was chosen for columns that are not on this page."""
        here = {column.name for _, column in self.columns}
        hidden = [("hide", name) for name in self.addresses.hidden if name not in here]
        types = [("type", f"{n}={kind}") for n, kind in self.types.items() if n not in here]
        return [*hidden, *types, *self._at_left]

    def kinds(self, column: ColumnOverview) -> list[tuple[str, str]]:
        """Return the types that can be declared of a column, in words; none is as it was read."""
        kinds = [("", f"{KINDS[column.type]} (as read)")]
        if column.name in self.declarable:
            kinds.append((column.type, f"{KINDS[column.type]}, compared all the same"))
        return kinds + [item for item in KINDS.items() if item[0] != column.type]

    def held(self, column: ColumnOverview) -> str:
        """Say what a column holds: its range, or its commonest categories."""
        if column.low is not None and column.high is not None:
            ends = cell_text(column.low), cell_text(column.high)
            return f"{ends[0]} to {ends[1]}" if ends[0] != ends[1] else f"always {ends[0]}"
        if not column.categories:
            return "nothing"
        if column.distinct > _MOST_LISTED and column.bars[0] <= self.entry.rows * _COMMON:
            return f"{column.distinct:,} different texts"
        most = [
            f"{printable(name, 24)} {self.share(count)}"
            for name, count in zip(column.categories[:_MOST_NAMED], column.bars, strict=False)
        ]
        more = column.distinct - len(most)
        return ", ".join(most) + (f" and {more:,} more" if more else "")

    def share(self, count: int) -> str:
        """Return a number of rows as a share; a few are not none, and nearly all are not all."""
        percent = 100 * count / max(self.entry.rows, 1)
        if percent < 1:
            return counted(count, "row")
        return "99.9%" if 99.95 <= percent < 100 else f"{percent:.3g}%"


#: The size of the small picture of a column.
PICTURE_WIDTH, PICTURE_HEIGHT = 120, 28


def picture(bars: Sequence[int]) -> str:
    """Return the bars of a column as the path of an SVG; nothing where all are low."""
    most, step = max(bars, default=0), PICTURE_WIDTH / max(len(bars), 1)
    if most <= 1:
        return ""
    parts = []
    for place, count in enumerate(bars):
        if count:
            height = max(1.0, PICTURE_HEIGHT * count / most)
            left = f"{place * step:.4g}"
            parts.append(f"M{left} {PICTURE_HEIGHT}v-{height:.4g}h{step * 0.86:.4g}v{height:.4g}z")
    return "".join(parts)


def cell_text(value: Value) -> str | None:
    """Return a cell as text; None where it is missing."""
    return None if value is None else printable(text_of(value), _LONGEST)


def column_texts(values: Sequence[Value]) -> list[str | None]:
    """Return the cells of a column as texts, its numbers with the same number of decimals."""
    texts = [cell_text(value) for value in values]
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
    return f"{counted(entry.rows, 'row')}, {counted(len(entry.columns), 'column')}"


def _reading(entry: TableEntry) -> list[dict[str, Any]]:
    """Return the ways in which the file could be read instead."""
    given = dict(entry.sourcing.given)
    return [
        {
            "name": name,
            "label": SAID[name],
            "value": given.get(name, ""),
            "choices": list(dict.fromkeys([given[name], *choices] if name in given else choices)),
        }
        for name, choices in (() if entry.facts is None else entry.facts.choices)
    ]


def _unusable(entry: TableEntry) -> list[str]:
    """Name the columns that are not shown, as they cannot be read."""
    shown = {column.name for column in entry.columns}
    left = [item for item in entry.skipped if item.name not in shown]
    more = [f"{len(left) - _MOST_NAMED:,} more columns are not shown."] * (len(left) > _MOST_NAMED)
    named = left[:_MOST_NAMED]
    return [
        f"Column {printable(item.name, 60)} is not shown: it {item.reason}." for item in named
    ] + more


def _window(entry: TableEntry, left: int) -> list[tuple[int, ColumnOverview]]:
    """Return the columns that are on a page, each with its place in the table."""
    return list(enumerate(entry.columns))[left : left + MOST_COLUMNS]


def _range(page: Page, rows: int) -> str:
    if not page.total:
        return "No rows"
    first, last = page.offset + 1, page.offset + len(page.rows)
    said = f"Rows {first:,} to {last:,} of {page.total:,}"
    return said if page.total == rows else f"{said} that match, of {rows:,} in all"


# --- forms -------------------------------------------------------------------------------------


def left_of(params: QueryParams) -> int:
    """Return the first column that a page shows."""
    return read_whole("left", params.get("left") or 0, 0)


def sent(entry: TableEntry, params: QueryParams, addresses: Addresses) -> str | None:
    """Return the address that a form of the page asks for; None where no form was sent."""
    left = [("left", params["left"])] if left_of(params) else []
    if "on" in params:
        query = TableQuery.of(params)
        added = _filter(entry, params)
        filters = (*(item for item in query.filters if item != added), added)
        query = dataclasses.replace(query, filters=filters, offset=0)
        return addresses.to(pairs=[*query.to_params(), *left])
    if "choosing" in params:
        pairs = [*TableQuery.of(params).to_params(), *left]
        return _chosen(entry, params, addresses).to(pairs=pairs)
    return None


def _filter(entry: TableEntry, params: QueryParams) -> Filter:
    place = read_whole("on", params["on"], 0)
    if place >= len(entry.columns):
        raise OptionError(f"on is {place}; allowed: 0 to {len(entry.columns) - 1}")
    column, rule, text = entry.columns[place], params.get("rule", ""), params.get("to", "")
    if rule in ("missing", "present"):
        return Filter.read({"attribute": column.name, "kind": rule})
    if rule in ("least", "most"):
        end = _end(column, text)
        ends = (end, None) if rule == "least" else (None, end)
        return Filter(column.name, "interval", *ends)
    if rule == "equals" and column.type != "categorical":
        end = _end(column, text)
        return Filter(column.name, "interval", end, end)
    return Filter(column.name, "equals" if rule == "equals" else "contains", value=text)


def _end(column: ColumnOverview, text: str) -> str | float:
    """Return the end of a range as an address holds it; refuse what the column cannot hold."""
    form: Form = "number" if column.type == "categorical" else column.form
    if form in ("number", "integer"):
        return read_real("value", text)
    try:
        read_text(form, text)
    except ValueError as error:
        raise not_allowed("value", text, str(error)) from None
    return text


def _chosen(entry: TableEntry, params: QueryParams, addresses: Addresses) -> Addresses:
    """Return the addresses with the columns and types that were chosen."""
    shown, columns = set(params.getlist("show")), _window(entry, left_of(params))
    hidden = tuple(column.name for place, column in columns if str(place) not in shown)
    types = {
        column.name: params[f"type{place}"]
        for place, column in columns
        if params.get(f"type{place}")
    }
    found = addresses.options.keywords
    found["types"] = found.get("types", {}) | types
    found["exclude"] = _excluded(entry, params, found.get("exclude", ()))
    return Addresses(addresses.table_id, OptionsQuery.checked(found), (*addresses.hidden, *hidden))


def _excluded(entry: TableEntry, params: QueryParams, before: Sequence[str]) -> list[str]:
    """Return the columns that are not to be compared; those that never are have no box to tick.

    Those that are only compared as their type was declared have one that says so.
    """
    compared, skipped = set(params.getlist("compare")), {item.name for item in entry.skipped}
    declared = set(params.getlist("declared"))
    asked = {
        column.name: str(place) in compared
        for place, column in _window(entry, left_of(params))
        if column.name not in skipped or str(place) in declared
    }
    elsewhere = [name for name in before if name not in asked]
    return elsewhere + [name for name, is_compared in asked.items() if not is_compared]
