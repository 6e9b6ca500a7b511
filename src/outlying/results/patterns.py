"""What many explanations have in common: objects that stand out in the same columns.

Two readings of one oddity (temp given city, city given temp) are one pattern, as both come from the
same columns: which of the two is told may differ from row to row.
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from outlying.results.findings import Findings
from outlying.results.pairs import Pair
from outlying.table.values import printable

#: A property and the attributes of its conditions, in the order of their names.
Reading: TypeAlias = tuple[str, tuple[str, ...]]


@dataclasses.dataclass(frozen=True, slots=True)
class Pattern:
    """Objects whose strongest pair that stands out is about the same columns.

    `property` is None where nothing stands out. `rows` are positions from 0: of the rows in
    the table, or of new objects among those given. Rows of a stream have no position; theirs are
    places among those explained, as `are_places` tells.
    """

    property: str | None
    attributes: tuple[str, ...]
    rows: tuple[int, ...]
    count: int
    total: int
    are_places: bool = False

    @builtins.property
    def name(self) -> str:
        """The pattern without its numbers, such as `temp given city`."""
        if self.property is None:
            return "nothing stands out"
        return f"{printable(self.property)} {_given(self.attributes)}"

    def __str__(self) -> str:
        return f"{self.count:,} of {self.total:,}: {self.name}"

    def to_dict(self) -> dict[str, Any]:
        """Return the pattern as it stands in the JSON result, where rows are counted from 1."""
        return {
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
        self._rows: dict[frozenset[str], list[int]] = {}
        self._readings: dict[frozenset[str], collections.Counter[Reading]] = {}

    def add(self, item: Findings | Mapping[str, Any]) -> None:
        """Take findings, or one of the `objects` of a JSON result."""
        row, reading = _of_findings(item) if isinstance(item, Findings) else _of_entry(item)
        columns = frozenset() if reading is None else frozenset((reading[0], *reading[1]))
        self._are_places |= row is None
        self._rows.setdefault(columns, []).append(self.total if row is None else row)
        counter = self._readings.setdefault(columns, collections.Counter())
        if reading is not None:
            counter[reading] += 1
        self.total += 1

    def told(self) -> tuple[Pattern, ...]:
        """Return the patterns so far: the most frequent first, then by name."""
        found = [self._pattern(columns) for columns in self._rows]
        return tuple(sorted(found, key=_order))

    def _pattern(self, columns: frozenset[str]) -> Pattern:
        rows, readings = self._rows[columns], self._readings[columns]
        often = sorted(readings, key=lambda reading: (-readings[reading], reading))
        name, attributes = often[0] if often else (None, ())
        told = tuple(rows), len(rows), self.total, self._are_places
        return Pattern(name, attributes, *told)


def patterns(findings: Iterable[Findings | Mapping[str, Any]]) -> tuple[Pattern, ...]:
    """Sum up many findings: which columns explain how many of the objects."""
    found = Patterns()
    for item in findings:
        found.add(item)
    return found.told()


def _order(pattern: Pattern) -> tuple[Any, ...]:
    return -pattern.count, pattern.property is None, pattern.property or "", pattern.attributes


def _of_findings(findings: Findings) -> tuple[int | None, Reading | None]:
    pair = next((pair for pair in findings.pairs if pair.stands_out), None)
    return findings.row, None if pair is None else _reading(pair)


def _reading(pair: Pair) -> Reading:
    return pair.property, tuple(sorted(condition.attribute for condition in pair.conditions))


def _of_entry(entry: Mapping[str, Any]) -> tuple[int | None, Reading | None]:
    row = None if entry["row"] is None else entry["row"] - 1
    pair = next((pair for pair in entry["pairs"] if pair["exceptional"] or pair["unusual"]), None)
    if pair is None:
        return row, None
    return row, (pair["property"], tuple(sorted(c["attribute"] for c in pair["conditions"])))


def _given(attributes: tuple[str, ...]) -> str:
    if not attributes:
        return "alone"
    names = [printable(name) for name in attributes]
    return "given " + " and ".join([", ".join(names[:-1]), names[-1]] if names[:-1] else names)
