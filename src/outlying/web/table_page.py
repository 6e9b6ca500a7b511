"""What the page of a table shows: one part of its rows, ways to see others, what columns hold."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

from starlette.datastructures import QueryParams

from outlying.checks import read_real, read_whole
from outlying.errors import OptionError, not_allowed
from outlying.table.values import Form, Value, printable, read_text, text_of
from outlying.web.browse import ColumnOverview
from outlying.web.queries import Addresses, Filter, OptionsQuery, Params, TableQuery
from outlying.web.sourcing import SAID
from outlying.web.tables import Page, PageRow, TableEntry

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


class TablePage:
    """One page of a table in words and links."""

    def __init__(
        self, entry: TableEntry, query: TableQuery, addresses: Addresses, left: int = 0
    ) -> None:
        self.entry, self.query, self.addresses = entry, query, addresses
        self._excluded = set(addresses.options.options.exclude)
        self._types = dict(addresses.options.options.types)
        self._declarable = frozenset() if entry.facts is None else entry.facts.declarable
        declared = self._declarable.intersection(self._types)
        self._skipped = {
            item.name: item.reason for item in entry.skipped if item.name not in declared
        }
        self._left = min(left, max(0, len(entry.columns) - 1))
        self._columns = _window(entry, self._left)

    def context(self, page: Page) -> dict[str, Any]:
        """Return what the template shows."""
        query, hidden = self.query, self.addresses.hidden
        shown = [column for _, column in self._columns if column.name not in hidden]
        return {
            "about": _about(self.entry),
            "notes": [*self.entry.notes, *_unusable(self.entry)],
            "path": self.addresses.path(),
            "reading": _reading(self.entry),
            "query": query,
            "kept": self._kept(),
            "names": [column.name for column in self.entry.columns],
            "rules": [{"name": name, "label": label} for name, label in RULES.items()],
            "chips": list(self._chips()),
            "all_rows": self._to(TableQuery(limit=query.limit)),
            "columns": [self._head(column) for column in shown],
            "hidden": self._hidden(),
            "rows": self._rows(page, shown),
            "pager": self._pager(page),
            "json": self.addresses.table(query, ".json"),
            "aside": self._aside(),
            "left": self._left,
        }

    def _kept(self) -> dict[str, Params]:
        """Return for each form what else its address has to hold."""
        first = dataclasses.replace(self.query, offset=0)
        everything = [*self.addresses.kept, *self._at_left]
        return {
            "search": dataclasses.replace(first, search="").to_params() + everything,
            "filter": first.to_params() + everything,
        }

    def _hidden(self) -> dict[str, Any] | None:
        """Return how many columns are hidden, and the address that shows them again."""
        known = {column.name for column in self.entry.columns}
        count = len(known.intersection(self.addresses.hidden))
        shown = dataclasses.replace(self.addresses, hidden=())
        href = shown.to(pairs=[*self.query.to_params(), *self._at_left])
        return {"about": f"{counted(count, 'column')} hidden", "href": href} if count else None

    @property
    def _at_left(self) -> Params:
        return [("left", str(self._left))] if self._left else []

    def _aside(self) -> dict[str, Any] | None:
        """Return the ways to columns further left and right, where there are too many."""
        count, left = len(self.entry.columns), self._left
        if count <= MOST_COLUMNS:
            return None
        last = left + len(self._columns)
        steps = [
            ("Columns to the left", max(0, left - MOST_COLUMNS) if left else None),
            ("Columns to the right", last if last < count else None),
        ]
        return {
            "about": f"Columns {left + 1:,} to {last:,} of {count:,}",
            "steps": [
                {"name": name, "rel": "", "href": None if at is None else self._beside(at)}
                for name, at in steps
            ],
        }

    def _beside(self, left: int) -> str:
        return self.addresses.to(pairs=[*self.query.to_params(), ("left", str(left))])

    def _chips(self) -> Iterator[dict[str, str]]:
        query = dataclasses.replace(self.query, offset=0)
        if query.search:
            without = self._to(dataclasses.replace(query, search=""))
            yield {"text": f"contains “{printable(query.search, 60)}”", "without": without}
        for item in query.filters:
            left = tuple(other for other in query.filters if other is not item)
            without = self._to(dataclasses.replace(query, filters=left))
            yield {"text": printable(str(item), 120), "without": without}
        if query.rows is not None:
            without = self._to(dataclasses.replace(query, rows=None))
            yield {"text": _these(len(query.rows)), "without": without}

    def _head(self, column: ColumnOverview) -> dict[str, Any]:
        is_sorted = self.query.sort == column.name
        down = is_sorted and not self.query.descending
        again = dataclasses.replace(self.query, sort=column.name, descending=down, offset=0)
        kind = self._types.get(column.name, column.type)
        return {
            "name": column.name,
            "kind": KINDS[kind],
            "look": "right" if column.type == "numeric" else "",
            "order": ("descending" if self.query.descending else "ascending") * is_sorted,
            "arrow": ("▼" if self.query.descending else "▲") * is_sorted,
            "sort": self._to(again),
            "hide": self.addresses.hiding(column.name).to(
                pairs=[*self.query.to_params(), *self._at_left]
            ),
            "is_skipped": column.name in self._skipped or column.name in self._excluded,
        }

    def _rows(self, page: Page, shown: list[ColumnOverview]) -> list[dict[str, Any]]:
        places = {column.name: place for place, column in enumerate(self.entry.columns)}
        texts = [
            column_texts([row.values[places[column.name]] for row in page.rows]) for column in shown
        ]
        return [
            self._row(row, shown, [column[place] for column in texts])
            for place, row in enumerate(page.rows)
        ]

    def _row(
        self, row: PageRow, shown: list[ColumnOverview], texts: list[str | None]
    ) -> dict[str, Any]:
        blame = row.blame or {}
        return {
            "number": f"{row.row:,}",
            "href": self.addresses.row(row.row),
            "is_explained": row.blame is not None,
            "is_fine": row.row in self.entry.fine,
            "cells": [
                {
                    "text": text,
                    "heat": round(100 * blame.get(column.name, 0)),
                    "look": ("right " if column.type == "numeric" else "")
                    + ("odd" if column.name in row.odd else ""),
                }
                for column, text in zip(shown, texts, strict=True)
            ],
        }

    def _pager(self, page: Page) -> dict[str, Any]:
        limit, offset = page.limit, page.offset
        last = max(0, (page.total - 1) // limit * limit)
        places = [
            ("First", 0 if offset else None, ""),
            ("Previous", max(0, offset - limit) if offset else None, "prev"),
            ("Next", offset + limit if offset < last else None, "next"),
            ("Last", last if offset < last else None, ""),
        ]
        return {
            "about": _range(page, self.entry.rows or 0),
            "steps": [
                {"name": name, "rel": rel, "href": None if at is None else self._at(at)}
                for name, at, rel in places
            ],
        }

    def _at(self, offset: int) -> str:
        return self._to(dataclasses.replace(self.query, offset=offset))

    def _to(self, query: TableQuery) -> str:
        """Return the address of other rows, with the same columns."""
        return self.addresses.to(pairs=[*query.to_params(), *self._at_left])


class ColumnsPage(TablePage):
    """What the columns of a table hold, how each was read, and whether it is compared."""

    def context(self, page: Page | None = None) -> dict[str, Any]:  # noqa: ARG002 - no rows
        """Return what the template shows."""
        options = self.addresses.options
        untyped = OptionsQuery(tuple(item for item in options.given if item[0] != "types"))
        odd = collections.Counter(
            name for known in self.entry.explained.values() for name in known.odd
        )
        compared = len(self.entry.columns) - len(
            self._excluded.union(self._skipped).intersection(c.name for c in self.entry.columns)
        )
        return {
            "about": f"{size_of(self.entry)}, {compared:,} of them compared.",
            "notes": [*self.entry.notes, *_unusable(self.entry)],
            "path": self.addresses.path(),
            "kept": [*untyped.to_params(), *self._elsewhere()],
            "choices": [self._choice(*item, odd[item[1].name]) for item in self._columns],
            "aside": self._aside(),
        }

    def _beside(self, left: int) -> str:
        return self.addresses.to("/columns", [("left", str(left))])

    def _elsewhere(self) -> Params:
        """Return what was chosen for columns that are not on this page."""
        here = {column.name for _, column in self._columns}
        hidden = [("hide", name) for name in self.addresses.hidden if name not in here]
        types = [("type", f"{n}={kind}") for n, kind in self._types.items() if n not in here]
        return [*hidden, *types, *self._at_left]

    def _choice(self, place: int, column: ColumnOverview, odd: int) -> dict[str, Any]:
        chosen = self._types.get(column.name, "")
        usual = f"{KINDS[column.type]} (as read)"
        kinds = [("", usual), *(item for item in KINDS.items() if item[0] != column.type)]
        if column.name in self._declarable:
            kinds.insert(1, (column.type, f"{KINDS[column.type]}, compared all the same"))
        reason = self._skipped.get(column.name)
        return {
            "place": place,
            "name": column.name,
            "read_as": FORMS[column.form],
            "unread": f"{counted(column.unread, 'text')} among them" if column.unread else "",
            "holds": _held(column, self.entry.rows),
            "picture": picture(column.bars) if max(column.bars, default=0) > 1 else "",
            "is_shown": column.name not in self.addresses.hidden,
            "missing": _share(column.missing, self.entry.rows) if column.missing else "",
            "odd": f"{odd:,}" if odd else "",
            "is_compared": column.name not in self._excluded,
            "is_declared": reason is None and column.name in self._declarable,
            "skipped": None if reason is None else f"no, it {printable(reason, 120)}",
            "kinds": [
                {"value": value, "label": label, "is_chosen": value == chosen}
                for value, label in kinds
            ],
        }


def _held(column: ColumnOverview, rows: int) -> str:
    """Say what a column holds: its range, or its commonest categories."""
    if column.low is not None and column.high is not None:
        ends = cell_text(column.low), cell_text(column.high)
        return f"{ends[0]} to {ends[1]}" if ends[0] != ends[1] else f"always {ends[0]}"
    if not column.categories:
        return "nothing"
    if column.distinct > _MOST_LISTED and column.bars[0] <= rows * _COMMON:
        return f"{column.distinct:,} different texts"
    most = [
        f"{printable(name, 24)} {_share(count, rows)}"
        for name, count in zip(column.categories[:_MOST_NAMED], column.bars, strict=False)
    ]
    more = column.distinct - len(most)
    return ", ".join(most) + (f" and {more:,} more" if more else "")


def _share(count: int, rows: int) -> str:
    """Return a number of rows as a share; a few are not none, and nearly all are not all."""
    percent = 100 * count / max(rows, 1)
    if percent < 1:
        return f"{count:,} {'row' if count == 1 else 'rows'}"
    return "99.9%" if 99.95 <= percent < 100 else f"{percent:.3g}%"


#: The size of the small picture of a column.
PICTURE_WIDTH, PICTURE_HEIGHT = 120, 28


def picture(bars: Sequence[int]) -> str:
    """Return the bars of a column as the path of an SVG; nothing where there are none."""
    most, step = max(bars, default=0), PICTURE_WIDTH / max(len(bars), 1)
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


def _about(entry: TableEntry) -> str:
    return f"{size_of(entry)}. Click a row to see why it is odd, or that it is not."


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


def _these(count: int) -> str:
    return "one chosen row" if count == 1 else f"{count:,} chosen rows"


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
