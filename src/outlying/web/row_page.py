"""What the page of a row, or of a new object, shows: its cells, its stories, its sliders."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from outlying import sentences as say
from outlying.kernel.tally import MOST_CONDITIONS
from outlying.options import EXPLAIN_OPTIONS, Options
from outlying.render.html import terms
from outlying.results.findings import Findings
from outlying.results.stories import Pair, Story
from outlying.results.wording import PYTHON
from outlying.table.table import Condition, Part, part_of
from outlying.table.values import Value, printable, text_of
from outlying.web.browse import ColumnOverview
from outlying.web.queries import Addresses, Filter, OptionsQuery, Params, TableQuery, field_text
from outlying.web.table_page import KINDS, cell_text, column_texts, counted
from outlying.web.tables import TableEntry, Twins

_GROUPS = (5, 10, 20, 30, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000)


def option_fields(options: Options, rows: int) -> list[dict[str, Any]]:
    """Return the options that readers change, each with its choices; the usual one is empty."""
    usual = Options()
    least = usual.least_rows(rows)
    scales: dict[str, dict[Any, str]] = {
        "min_support": {None: f"{least:,.0f} rows, the usual"}
        | {count: f"{count:,} rows" for count in _GROUPS if count < rows / 2 and count != least},
        "max_conditions": {n: str(n) if n else "none" for n in range(MOST_CONDITIONS + 1)},
    }
    fields = []
    for name, (label, words) in say.PAGE_OPTIONS.items():
        value, scale = getattr(options, name), scales[name]
        scale |= {} if value in scale else {value: f"{value:g}"}
        steps = [
            {
                "value": "" if step == getattr(usual, name) else str(step),
                "label": text,
                "is_chosen": step == value,
            }
            for step, text in scale.items()
        ]
        own = EXPLAIN_OPTIONS[name].field
        fields.append({"name": own, "label": label, "help": words, "steps": steps})
    return fields


# --- the page --------------------------------------------------------------------------------

#: Columns of the twins besides those of the story.
_OTHER_COLUMNS = 6
_LONGEST_FIELD, _LONGEST_CHOICE = 20_000, 200  # characters
_MOSTLY = 0.9  # of the values of a column differ, where they name its rows
_MOST_HINTS, _SHORT, _MANY_CATEGORIES = 3, 16, 100  # categories that a form names
#: Parts in words that tell what would be ordinary; of others, "usual" would say nothing.
_TELLING = (Part.WEEKDAY, Part.MONTH, Part.PATTERN)


@dataclasses.dataclass(frozen=True, slots=True)
class Subject:
    """What is explained: a row by its number, or a new object by its texts.

    A row that was picked among the odd ones of a table is seen together with these.
    """

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

    def address(self, addresses: Addresses, suffix: str = "") -> str:
        """Return the address of its page."""
        if self.number is None:
            return addresses.new(self.values, suffix)
        return addresses.row(self.number, suffix, self.top)

    def pairs(self) -> Params:
        """Return what its address holds besides options."""
        if self.number is not None:
            return [] if self.top is None else [("odd", str(self.top))]
        return [(f"v.{name}", value) for name, value in self.values.items() if value != ""]


def texts_of(values: Mapping[str, Value]) -> dict[str, str]:
    """Return values as a form holds them; a missing one is empty."""
    return {name: field_text(value) for name, value in values.items()}


def copied(values: Mapping[str, str], entry: TableEntry) -> dict[str, str]:
    """Return the values of a row for a new object, without names that only one row can have."""
    names = {column.name for column in entry.columns if _is_identifier(column, entry.rows)}
    names.update(too_long(values))
    return {name: "" if name in names else text for name, text in values.items()}


def too_long(values: Mapping[str, str]) -> list[str]:
    """Name the columns whose text is too long for a form, and for an address."""
    return [name for name, text in values.items() if len(text) > _LONGEST_FIELD]


def _is_identifier(column: ColumnOverview, rows: int) -> bool:
    known = rows - column.missing
    return column.form == "text" and known > 1 and column.distinct >= _MOSTLY * known


class RowPage:
    """A row or a new object in words and links."""

    def __init__(self, entry: TableEntry, subject: Subject, addresses: Addresses) -> None:
        self.entry, self.subject, self.addresses = entry, subject, addresses

    @property
    def path(self) -> str:
        """Where its forms are sent to."""
        number = self.subject.number
        return self.addresses.path("/new" if number is None else f"/row/{number}")

    def context(self) -> dict[str, Any]:
        """Return what the template shows, explained or not."""
        number, rows = self.subject.number, self.entry.rows or 0
        options = self.addresses.options
        usual = OptionsQuery(
            tuple(item for item in options.given if item[0] not in say.PAGE_OPTIONS)
        )
        plainly = dataclasses.replace(self.addresses, options=usual)
        return {
            "view": self,
            "subject": self.subject,
            "about": self._about(rows),
            "neighbours": [] if number is None else list(self._neighbours(number, rows)),
            "options": option_fields(options.options, rows),
            "options_kept": self.subject.pairs() + plainly.kept,
            "reset": self.subject.address(plainly) if options != usual else None,
            "plain": [
                {"name": printable(name, 60), "value": printable(text, 80) if text else "missing"}
                for name, text in self.subject.values.items()
            ],
        }

    def _about(self, rows: int) -> str:
        compared = f"compared with {counted(rows, 'row')} of {printable(self.entry.name, 60)}"
        if self.subject.number not in self.subject.odd:
            return compared
        place, count = self.subject.odd.index(self.subject.number) + 1, len(self.subject.odd)
        return f"{compared}; number {place:,} of {count:,} odd rows"

    def _neighbours(self, number: int, rows: int) -> Iterator[tuple[str, str, str, str]]:
        """Yield the ways to the rows before and after: of the odd ones, where it was picked.

        Each has its key, its relation, its name and its address.
        """
        is_odd, fine = number in self.subject.odd, self.entry.fine - {number}
        order: Sequence[int] = range(1, rows + 1)
        if is_odd:
            order = [other for other in self.subject.odd if other not in fine]
        kind, top = ("odd ", self.subject.top) if is_odd else ("", None)
        place = order.index(number)
        if place > 0:
            href = self.addresses.row(order[place - 1], top=top)
            yield "p", "prev", f"Previous {kind}row", href
        if place + 1 < len(order):
            href = self.addresses.row(order[place + 1], top=top)
            yield "n", "next", f"Next {kind}row", href
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
    def _known(self) -> dict[str, int]:
        """The place of each column of the table."""
        return {column.name: place for place, column in enumerate(self.entry.columns)}

    def _hidden(self, attribute: str) -> str | None:
        """Say why rows cannot be found by an attribute; None where they can."""
        known, declared = self._known, dict(self.addresses.options.options.types)
        parent, part = part_of(attribute, known) or (attribute, None)
        if parent not in known or part is Part.WRITTEN:
            return f"The table cannot be filtered by {printable(attribute, 60)}."
        usual = self.entry.columns[known[parent]].type
        kind = declared.get(parent, usual)
        if kind == usual or (part is None and kind != "datetime"):
            return None
        words = f"compared as {KINDS[kind]}, but shown as it was read"
        return f"Rows cannot be shown by {printable(attribute, 60)}: it is {words}."

    def _group(self, *conditions: Condition) -> str:
        filters = tuple(map(Filter.of_condition, conditions))
        return self.addresses.table(TableQuery(filters=filters))

    def _alike(self, story: Story, findings: Findings, twins: Twins) -> dict[str, Any]:
        places = self._known
        told = [n for n in dict.fromkeys((story.culprit, *story.columns)) if n in places]
        names = [*told, *[name for name in places if name not in told][:_OTHER_COLUMNS]]
        own, odd = findings.object, story.headline.column
        columns = [
            column_texts([own.get(name), *(twin.values[places[name]] for twin in twins.twins)])
            for name in names
        ]
        lines = [[text or "missing" for text in line] for line in zip(*columns, strict=True)]
        return self._ordinary(story.headline, twins) | {
            "twin_columns": [(printable(name, 40), name == odd) for name in names],
            "own_cells": lines[0],
            "twins": list(zip((twin.row for twin in twins.twins), lines[1:], strict=True)),
        }

    def _ordinary(self, pair: Pair, twins: Twins) -> dict[str, Any]:
        """Return at which value the odd cell would be ordinary, and the address to try that.

        Of a derived column there is none to try: many moments have the same hour.
        """
        value, odd = twins.ordinary_at, pair.column
        if value is None or odd not in self._known:
            return {}
        if pair.property != odd:
            _, part = part_of(pair.property, self._known) or ("", Part.SPELLING)
            says_something = part.form != "text" or part in _TELLING
            said = f"{printable(pair.property, 60)} = {text_of(value)}"
            return {"ordinary": said, "change": None} if says_something else {}
        values, is_row = self.subject.values, self.subject.number is not None
        own = copied(values, self.entry) if is_row else values
        changed = {**own, odd: field_text(value)}
        return {"ordinary": cell_text(value), "change": self.addresses.new(changed)}


# --- the form ------------------------------------------------------------------------------------


def choices(column: ColumnOverview) -> list[str]:
    """Return the categories that a field offers, those that can be read at a glance."""
    texts = map(field_text, column.categories)
    return [text for text in texts if 0 < len(text) <= _LONGEST_CHOICE]


def hint(column: ColumnOverview) -> str:
    """Return what a field takes: a range, or the commonest categories."""
    if column.low is not None and column.high is not None:
        return f"{cell_text(column.low)} to {cell_text(column.high)}"
    named = [printable(str(item), _SHORT) for item in column.categories[:_MOST_HINTS]]
    if not named or column.distinct > _MANY_CATEGORIES:
        return KINDS[column.type]
    return ", ".join(named) + (", …" if column.distinct > len(named) else "")
