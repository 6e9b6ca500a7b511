"""The rows that a detector flags: frozen values, and their JSON contract (docs/json.md)."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from outlying.options import DetectOptions
from outlying.results.findings import Population
from outlying.table.columns import Floats
from outlying.table.values import Value, plain


@dataclasses.dataclass(frozen=True, slots=True)
class Flagged:
    """A row that stands out. `row` is its position, from 0; `rank` counts from 1.

    Of feature bagging: `votes`, the rounds in which it came first, and `remoteness`, how
    many times as abnormal as an average row it is, in the mean of all rounds. Where every row was
    explained: `strength`, that of its strongest finding, 0 if there is none, and `rarer_than`, how
    many rows have values that are less rare all together. None of others.
    """

    row: int
    rank: int
    score: float
    votes: int | None
    remoteness: float | None
    strength: float | None
    rarer_than: int | None
    values: tuple[tuple[str, Value], ...] = dataclasses.field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as it stands in the JSON result, where rows are counted from 1."""
        return self.summary() | {"values": {name: plain(value) for name, value in self.values}}

    def summary(self) -> dict[str, Any]:
        """Return the same without the row's values, for where these are given anyway."""
        fields = {name: getattr(self, name) for name in FLAGGED_FIELDS}
        return fields | {"row": self.row + 1}


#: What a flagged row is made of in JSON and in frames.
FLAGGED_FIELDS = ("row", "rank", "score", "votes", "remoteness", "strength", "rarer_than")


@dataclasses.dataclass(frozen=True, slots=True)
class Detection:
    """What is odd in a table: its flagged rows, the oddest first, and what a reader should know.

    `scores` holds one number per row of the table; NaN where there is none.
    """

    rows: tuple[Flagged, ...]
    population: Population
    settings: DetectOptions
    notes: tuple[str, ...]
    scores: Floats = dataclasses.field(repr=False, compare=False)

    @property
    def positions(self) -> list[int]:
        """The positions of the flagged rows, as `explain_many(rows=...)` takes them."""
        return [item.row for item in self.rows]

    def __str__(self) -> str:
        from outlying.render.detection_text import render

        return render(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values; rows count from 1 there, as in a file."""
        return self.heading() | {"flagged": [item.to_dict() for item in self.rows]}

    def heading(self) -> dict[str, Any]:
        """Return what all rows of a JSON result have in common."""
        return self.population.to_dict() | {"detection": self.summary()}

    def summary(self) -> dict[str, Any]:
        """Return what detected the rows, and what to know of it."""
        return self.settings.to_dict() | {"notes": list(self.notes)}

    def to_json(self, indent: int | None = None) -> str:
        """Return the result as JSON, always in the same order and valid everywhere."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_frame(self) -> Any:
        """Return the flagged rows as a dataframe; `row` counts from 0, as everywhere in Python.

        It is pandas, or polars for a table that came as polars or where only that is there.
        """
        from outlying.render.frames import frame

        columns = {name: [getattr(item, name) for item in self.rows] for name in FLAGGED_FIELDS}
        return frame(columns, self.population.frame_library)
