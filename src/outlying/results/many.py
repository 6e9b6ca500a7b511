"""Findings on many rows: a sequence, a list of odd cells, a JSON document, what they share.

A pattern is objects that stand out in the same columns, whichever side each is told from.
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, overload

from outlying import sentences as say
from outlying.errors import OptionError
from outlying.options import Options
from outlying.results.detections import Detection, Flagged
from outlying.results.findings import Findings, Population, entry, heading
from outlying.results.stories import OddCell, Shown
from outlying.results.wording import headline, kind_of, short_name
from outlying.table.values import plain

#: What the list of odd cells holds of each.
CELL_FIELDS = (
    *("row", "name", "column", "value", "expected", "where", "why", "word", "sentence"),
    *("strength", "exceptional", "story"),
)


def cell_table(findings: Iterable[Findings], first_row: int = 0) -> dict[str, list[Any]]:
    """Return the cells that stand out in some rows, the oddest of each row first, by field."""
    lines = [_cell_line(item, cell, first_row) for item in findings for cell in item.odd_cells]
    return {name: [line[place] for line in lines] for place, name in enumerate(CELL_FIELDS)}


def _cell_line(item: Findings, cell: OddCell, first_row: int) -> tuple[Any, ...]:
    _, expected, where = headline(cell.story.headline)
    return (
        None if item.row is None else item.row + first_row,
        short_name(item.key),
        cell.column,
        plain(item.object.get(cell.column)),
        expected.removeprefix("expected "),
        where.removeprefix("where "),
        cell.story.kind,
        "exceptional" if cell.exceptional else "unusual",
        cell.story.sentence,
        cell.story.strength,
        cell.exceptional,
        item.stories.index(cell.story) + 1,
    )


class Explanations(Sequence[Findings], Shown):
    """What `explain_many` returns: findings in the order asked for, each kept once explained.

    It is no iterator: after `next`, would `for` start over?
    """

    def __init__(self, found: Iterator[Findings], count: int) -> None:
        self._found, self._count = found, count
        self._known: list[Findings] = []

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Findings]:
        place = 0
        while place < len(self._known) or self._read_one():
            yield self._known[place]
            place += 1

    def _read_one(self) -> bool:
        item = next(self._found, None)
        if item is not None:
            self._known.append(item)
        return item is not None

    @overload
    def __getitem__(self, place: int) -> Findings: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Findings]: ...
    def __getitem__(self, place: int | slice) -> Findings | Sequence[Findings]:
        stop = self._count
        if isinstance(place, int) and 0 <= place < stop:
            stop = place + 1
        while len(self._known) < stop and self._read_one():
            pass
        return self._known[place]

    def close(self) -> None:
        """Stop what works ahead; what was read stays."""
        close = getattr(self._found, "close", None)
        if close is not None:
            close()

    def __repr__(self) -> str:
        return f"<Explanations: {len(self._known):,} of {self._count:,} rows explained>"

    def to_frame(self) -> Any:
        """Return the cells that stand out as a dataframe, one line each; `row` counts from 0."""
        from outlying.render.tables import frame

        found = list(self)
        library = found[0].population.frame_library if found else "pandas"
        return frame(cell_table(found), library)

    def to_html(self) -> str:
        """Return one HTML page on all rows, with what they share; it loads nothing."""
        return report(self)

    def _repr_html_(self) -> str:
        from outlying.render.html import explanations

        return explanations(self)


def report(findings: Findings | Iterable[Findings]) -> str:
    """Return an HTML page on many findings about one table, with the stories they share."""
    from outlying.render.report import Report

    found: Report | None = None
    if isinstance(findings, Findings):
        findings = [findings]
    if not isinstance(findings, Iterable):
        raise OptionError(f"findings is {findings!r}; allowed: a list of what explain() gives")
    for place, item in enumerate(findings):
        if not isinstance(item, Findings):
            raise OptionError(f"findings[{place}] is {item!r}; allowed: what explain() gives")
        if found is None:
            found = Report(item.population, item.options, is_many=True)
        people, first = item.population, found.population
        if (people.source, people.rows) != (first.source, first.rows):
            raise OptionError(
                f"findings[{place}] is about {people.source} with {people.rows:,} rows, the first "
                f"about {first.source} with {first.rows:,}; a report is about one table"
            )
        if item.options != found.options:
            raise OptionError(
                f"findings[{place}] has other options than the first; a report has one set of them"
            )
        found.add(item)
    if found is None:
        raise OptionError("there are no findings; a report needs at least one")
    return found.page()


# --- documents and patterns ----------------------------------------------------------------------

#: What a heading says of columns.
_COLUMNS = ("columns", "skipped_columns", "derived_columns")


def entry_beside(
    findings: Findings, population: Population, flagged: Flagged | None = None
) -> dict[str, Any]:
    """Return one object, with its own columns if it brings other ones, and what detected it."""
    content = entry(findings)
    if findings.population != population:
        own = heading(findings.population, findings.options)
        content |= {name: own[name] for name in _COLUMNS}
    return content if flagged is None else content | {"detection": flagged.summary()}


def document(
    population: Population,
    options: Options,
    entries: Iterable[dict[str, Any]],
    detection: Detection | None = None,
) -> dict[str, Any]:
    """Return the document on many objects; with a detection, what has found them."""
    patterns, objects = Patterns(), []
    for content in entries:
        patterns.add(content)
        objects.append(content)
    told = [item.to_dict() for item in patterns.told()]
    whole = heading(population, options)
    whole |= {} if detection is None else {"detection": detection.summary()}
    return whole | {"objects": objects, "patterns": told}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of all that is written as JSON: documents, and single JSON lines."""
    from importlib import resources  # not when the package is imported: it takes long

    file = resources.files("outlying") / "results" / "schema.json"
    return dict(json.loads(file.read_text(encoding="utf-8")))


#: A property, the attributes of its conditions in the order of their names, whether it is empty.
Subject: TypeAlias = tuple[str, tuple[str, ...], bool]


@dataclasses.dataclass(frozen=True, slots=True)
class Pattern:
    """Objects whose strongest pair that stands out is about the same columns.

    `property` is None where nothing stands out. `rows` are positions from 0, or places among the
    explained ones (`are_places`) in a stream.
    """

    property: str | None
    attributes: tuple[str, ...]
    rows: tuple[int, ...]
    count: int
    total: int
    are_places: bool = False
    is_empty: bool = False

    @builtins.property
    def name(self) -> str:
        """The pattern without its numbers, such as "Temp does not fit the city"."""
        if self.property is None:
            return say.NOTHING_ODD
        return kind_of(self.property, self.attributes, is_empty=self.is_empty)

    def __str__(self) -> str:
        return say.SHARED_BY_ALL.format(count=self.count, total=self.total, pattern=self.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the pattern as it stands in the JSON result, where rows are counted from 1."""
        return {
            "name": self.name,
            "property": self.property,
            "attributes": list(self.attributes),
            "rows": [row + 1 for row in self.rows],
            "count": self.count,
            "total": self.total,
            "sentence": str(self),
        }


class Patterns:
    """Takes one explained object after the other and keeps no more than its row."""

    def __init__(self) -> None:
        self.total = 0
        self._are_places = False
        self._found: dict[frozenset[str | bool], list[tuple[int, Subject | None]]] = {}

    def add(self, item: Findings | Mapping[str, Any]) -> None:
        """Take findings, or one of the `objects` of a JSON result."""
        row, reading = _read(item)
        columns: frozenset[str | bool] = frozenset()
        if reading is not None:
            columns = frozenset((reading[0], *reading[1], reading[2]))
        self._are_places |= row is None
        place = self.total if row is None else row
        self._found.setdefault(columns, []).append((place, reading))
        self.total += 1

    def told(self) -> tuple[Pattern, ...]:
        """Return the patterns so far: the most frequent first, then by name."""
        return tuple(sorted(map(self._pattern, self._found.values()), key=_place))

    def _pattern(self, items: Sequence[tuple[int, Subject | None]]) -> Pattern:
        readings = collections.Counter(reading for _, reading in items if reading is not None)
        often = min(readings, key=lambda one: (-readings[one], one), default=None)
        name, attributes, is_empty = often or (None, (), False)
        rows = tuple(row for row, _ in items)
        more = self.total, self._are_places, is_empty
        return Pattern(name, attributes, rows, len(rows), *more)


def _place(one: Pattern) -> tuple[Any, ...]:
    return -one.count, one.property is None, one.property or "", one.attributes, one.is_empty


def patterns(findings: Iterable[Findings | Mapping[str, Any]]) -> tuple[Pattern, ...]:
    """Sum up many findings: which columns explain how many of the objects."""
    found = Patterns()
    for item in findings:
        found.add(item)
    return found.told()


def _read(item: Findings | Mapping[str, Any]) -> tuple[int | None, Subject | None]:
    """Return the row of an object, and what its strongest pair that stands out is about."""
    if isinstance(item, Findings):
        row, pairs = item.row, (pair.to_dict() for pair in item.pairs if pair.stands_out)
    else:
        row = None if item["row"] is None else item["row"] - 1
        pairs = iter(item["pairs"])
    pair = next((pair for pair in pairs if pair["exceptional"] or pair["unusual"]), None)
    if pair is None:
        return row, None
    others = (*pair["given"], *(condition["attribute"] for condition in pair["conditions"]))
    is_empty = pair["value"] is None
    name = pair["column"] if pair["given"] or is_empty else pair["property"]
    return row, (name, tuple(sorted(others)), is_empty)
