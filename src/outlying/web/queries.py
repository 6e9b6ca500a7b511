"""What an address asks for: rows of a table, options of an explanation; read and written."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args
from urllib.parse import quote, urlencode

from starlette.datastructures import ImmutableMultiDict, QueryParams

from outlying import sentences as say
from outlying.checks import check_choice, check_names, read_real, read_whole
from outlying.errors import OptionError, not_allowed, shown
from outlying.kernel.tally import MOST_CONDITIONS
from outlying.options import COLUMN_OPTIONS, EXPLAIN_OPTIONS, Options
from outlying.results.findings import Findings
from outlying.results.stories import Pair
from outlying.table.table import Condition, Part, part_of
from outlying.table.values import (
    Form,
    Value,
    number_of,
    plain,
    printable,
    range_text,
    read_text,
    text_of,
)

if TYPE_CHECKING:
    from outlying.web.browse import ColumnOverview
    from outlying.web.worker import TableFacts

FilterKind = Literal["equals", "interval", "missing", "present", "contains"]
_FIELDS = ("attribute", "kind", "low", "high", "value")
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
class Filter:
    """One condition on rows, as JSON in an address; an end of an interval that is None is open."""

    attribute: str
    kind: FilterKind
    low: Value = None
    high: Value = None
    value: Value = None

    @classmethod
    def of_condition(cls, condition: Condition) -> Filter:
        """Return the filter that finds the rows of a condition."""
        ends = plain(condition.low), plain(condition.high)
        return cls(condition.attribute, condition.kind, *ends, plain(condition.value))

    @classmethod
    def read(cls, given: object) -> Filter:
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

    def to_json(self) -> str:
        """Write the filter as it stands in an address."""
        values = {name: getattr(self, name) for name in _FIELDS}
        known = {name: value for name, value in values.items() if value is not None}
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
        rows = given.get("rows") or ""
        numbers = tuple(read_whole("rows", part, 1) for part in rows.split(",") if part.strip())
        if len(numbers) > MOST_NAMED:
            raise OptionError(f"rows names {len(numbers):,} rows; allowed: {MOST_NAMED:,}")
        return cls(
            offset=read_whole("offset", given.get("offset") or 0, 0),
            limit=limit,
            sort=given.get("sort"),
            descending=order == "desc",
            search=str(given.get("search") or "")[:200],
            filters=tuple(map(Filter.read, filters)),
            rows=numbers if rows else None,
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
    def rows_alone(self) -> TableQuery:
        """Which rows are meant, whatever the page."""
        return TableQuery(search=self.search, filters=self.filters, rows=self.rows)

    @property
    def is_whole(self) -> bool:
        """Whether all rows are meant."""
        return not self.search and not self.filters and self.rows is None


def options_of(params: Given) -> Options:
    """Read the options of an explanation from a query string; others are the library's."""
    given = {}
    for name, option in EXPLAIN_OPTIONS.items():
        texts = params.getlist(option.field)
        if texts and (texts[-1] or option.kind.is_many):
            given[name] = option.kind.read(option.field, texts)
    return Options.of(**given)


def own_values(options: Options) -> dict[str, Any]:
    """Return the options that are not as usual, as Explainer takes them."""
    preset = {} if options.paper is None else {"preset": "paper"}
    usual, own = Options.of(**preset).values(), options.values()
    found = preset | {name: value for name, value in own.items() if value != usual[name]}
    return found | ({"types": dict(found["types"])} if "types" in found else {})


# --- addresses -------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Addresses:
    """The views of one table under the same options, with the same columns switched off."""

    table_id: str
    options: Options = dataclasses.field(default_factory=Options)
    hidden: tuple[str, ...] = ()

    @classmethod
    def of(cls, table_id: str, given: Given) -> Addresses:
        """Read what all views of a table have in common from an address, or a form."""
        hidden = tuple(dict.fromkeys(map(str, given.getlist("hide"))))
        return cls(table_id, options_of(given), hidden)

    @property
    def kept(self) -> Params:
        """What every address of these views holds."""
        return [
            *(
                (EXPLAIN_OPTIONS[name].field, text)
                for name, value in own_values(self.options).items()
                for text in EXPLAIN_OPTIONS[name].kind.write(value)
            ),
            *(("hide", name) for name in self.hidden),
        ]

    def hiding(self, name: str) -> Addresses:
        """Return the same views with one more column switched off."""
        return dataclasses.replace(self, hidden=tuple(dict.fromkeys((*self.hidden, name))))

    @property
    def showing_all(self) -> Addresses:
        """The same views with all columns."""
        return dataclasses.replace(self, hidden=())

    @property
    def without_infinite(self) -> Addresses:
        """The same views where infinite values count as missing."""
        options = dataclasses.replace(self.options, infinite="missing")
        return dataclasses.replace(self, options=options)

    def path(self, view: str = "") -> str:
        """Return the address of a view without its query."""
        return f"/t/{quote(self.table_id)}{view}"

    def to(self, view: str = "", pairs: Iterable[tuple[str, str]] = (), suffix: str = "") -> str:
        """Return the address of a view."""
        query = urlencode([*pairs, *self.kept])
        return f"{self.path(view)}{suffix}{'?' if query else ''}{query}"

    def table(self, query: TableQuery | None = None, suffix: str = "") -> str:
        """Return the address of the table, or of a part of it."""
        return self.to(pairs=() if query is None else query.to_params(), suffix=suffix)

    def rows(self, numbers: Iterable[int]) -> str:
        """Return the address of some rows of the table."""
        return self.table(TableQuery(rows=tuple(numbers)))

    def row(self, number: int, suffix: str = "", top: int | None = None) -> str:
        """Return the address of an explained row, from 1; picked among so many odd ones or not."""
        pairs = () if top is None else (("odd", str(top)),)
        return self.to(f"/row/{number}", pairs, suffix)

    def odd(self, top: int | None = None, suffix: str = "") -> str:
        """Return the address of what stands out: to be asked for, or so many rows of it."""
        return self.to("/odd", () if top is None else (("top", str(top)),), suffix)

    def apart(self, query: TableQuery, suffix: str = "") -> str:
        """Return the address of what sets some rows apart."""
        return self.to("/apart", query.rows_alone.to_params(), suffix)

    def new(self, values: Mapping[str, Value], suffix: str = "") -> str:
        """Return the address of a new object."""
        texts = {f"v.{name}": field_text(value) for name, value in values.items()}
        return self.to("/new", [item for item in texts.items() if item[1]], suffix)


def field_text(value: Value) -> str:
    """Write a value as people type it; nothing where it is missing."""
    found = plain(value)
    if found is None:
        return ""
    return str(found).lower() if isinstance(found, bool) else str(found)


# --- forms -------------------------------------------------------------------------------------

#: A page of more columns is slow to draw; the others are some steps to the right.
MOST_COLUMNS = 60
_GROUPS = (5, 10, 20, 30, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000)


def columns_from(facts: TableFacts, left: int) -> list[tuple[int, ColumnOverview]]:
    """Return the columns that are on a page, each with its place in the table."""
    return list(enumerate(facts.columns))[left : left + MOST_COLUMNS]


def left_of(params: QueryParams) -> int:
    """Return the first column that a page shows."""
    return read_whole("left", params.get("left") or 0, 0)


def option_fields(options: Options, rows: int) -> list[dict[str, Any]]:
    """Return the options that readers change, each with its choices; the usual one is empty."""
    usual = Options()
    least = usual.least_rows(rows)
    groups = (count for count in _GROUPS if count < rows / 2 and count != least)
    scales: dict[str, dict[Any, str]] = {
        "min_support": {None: f"{least:,.0f} rows, the usual"}
        | {count: f"{count:,} rows" for count in groups},
        "max_conditions": {n: str(n) if n else "none" for n in range(MOST_CONDITIONS + 1)},
    }
    fields = []
    for name, (label, words) in say.PAGE_OPTIONS.items():
        value, own = getattr(options, name), getattr(usual, name)
        scale = scales[name] if value in scales[name] else scales[name] | {value: f"{value:g}"}
        steps = [
            {"value": "" if step == own else str(step), "label": text, "is_chosen": step == value}
            for step, text in scale.items()
        ]
        field = EXPLAIN_OPTIONS[name].field
        fields.append({"name": field, "label": label, "help": words, "steps": steps})
    return fields


def address_sent(facts: TableFacts, params: QueryParams, addresses: Addresses) -> str | None:
    """Return the address that a form of the page asks for; None where no form was sent."""
    if not {"on", "choosing"} & set(params):
        return None
    left = [("left", params["left"])] if left_of(params) else []
    query = TableQuery.of(params)
    if "on" in params:
        added = _filter(facts.columns, params)
        filters = (*(item for item in query.filters if item != added), added)
        query = dataclasses.replace(query, filters=filters, offset=0)
    else:
        addresses = _chosen(facts, params, addresses)
    return addresses.to(pairs=[*query.to_params(), *left])


def _filter(columns: Sequence[ColumnOverview], params: QueryParams) -> Filter:
    place = read_whole("on", params["on"], 0)
    if place >= len(columns):
        raise OptionError(f"on is {place}; allowed: 0 to {len(columns) - 1}")
    column, rule, text = columns[place], params.get("rule", ""), params.get("to", "")
    if rule in ("missing", "present"):
        return Filter.read({"attribute": column.name, "kind": rule})
    if rule in ("least", "most") or (rule == "equals" and column.type != "categorical"):
        end = _end(column, text)
        low, high = None if rule == "most" else end, None if rule == "least" else end
        return Filter(column.name, "interval", low, high)
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


def _chosen(facts: TableFacts, params: QueryParams, addresses: Addresses) -> Addresses:
    """Return the addresses with the columns and types that were chosen.

    Of columns that are skipped only those have a box to tick that are compared if declared.
    """
    columns, found = columns_from(facts, left_of(params)), own_values(addresses.options)
    shown, compared, declared = (set(params.getlist(n)) for n in ("show", "compare", "declared"))
    hidden = tuple(column.name for place, column in columns if str(place) not in shown)
    kinds = {column.name: params.get(f"type{place}") for place, column in columns}
    found["types"] = found.get("types", {}) | {name: kind for name, kind in kinds.items() if kind}
    skipped = {item.name for item in facts.skipped}
    asked = {
        column.name: str(place) in compared
        for place, column in columns
        if column.name not in skipped or str(place) in declared
    }
    elsewhere = [name for name in found.get("exclude", ()) if name not in asked]
    found["exclude"] = [*elsewhere, *(name for name, is_one in asked.items() if not is_one)]
    return Addresses(addresses.table_id, Options.of(**found), (*addresses.hidden, *hidden))


# --- what would be ordinary ------------------------------------------------------------------


def values_beside(findings: Findings, pair: Pair, forms: Mapping[str, Form]) -> dict[str, Value]:
    """Return the values of an object by which its ordinary twins are near: those not told of."""
    told = {pair.column, pair.property, *(condition.attribute for condition in pair.conditions)}
    names = (name for name in findings.population.columns if name in forms and name not in told)
    return {name: findings.object.get(name) for name in names}


def nearest_typical(pair: Pair, forms: Mapping[str, Form]) -> tuple[Value, Filter]:
    """Return the typical value that is nearest to the odd one, and what rows it stands for."""
    if pair.expected is not None:  # what other columns of the row lead to
        low, high = pair.expected
        if isinstance(low, str):
            return pair.ordinary_at, Filter(pair.column, "equals", value=plain(low))
        return pair.ordinary_at, Filter(pair.column, "interval", plain(low), plain(high))
    _, part = part_of(pair.property, forms) or (None, None)
    form = forms.get(pair.property) or ("number" if part is None else part.form)
    if part is Part.WRITTEN:  # typical is whatever could be read
        return None, Filter(pair.column, "present")
    if pair.value is None:  # in place of a gap any value would do, and none is nearest
        return None, Filter(pair.property, "present")
    ranges = [item for item in pair.typical if isinstance(item, tuple)]
    if not ranges:
        common = next((item for item in pair.typical if not isinstance(item, tuple)), None)
        return common, Filter(pair.property, "equals", value=plain(common))
    low, high = min(ranges, key=lambda ends: min(_apart(form, pair.value, end) for end in ends))
    end = min((low, high), key=lambda each: _apart(form, pair.value, each))
    return end, Filter(pair.property, "interval", plain(low), plain(high))


def _apart(form: Form, value: Value, other: Value) -> float:
    """Return how far two values are apart; 0 where one of them is missing."""
    with contextlib.suppress(ValueError):
        if value is not None and other is not None:
            return abs(number_of(form, value) - number_of(form, other))
    return 0.0
