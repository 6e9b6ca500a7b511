"""The rows that a detector flags: frozen values, and their JSON contract (docs/json.md)."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from outlying.options import DetectOptions
from outlying.results.findings import Findings, Population
from outlying.results.wording import headline, key_of
from outlying.table.columns import Floats
from outlying.table.values import Value, plain, printable

if TYPE_CHECKING:
    from outlying.table.targets import Key

#: What a row is among all rows; empty where it is neither.
Word: TypeAlias = Literal["exceptional", "unusual", ""]


@dataclasses.dataclass(frozen=True, slots=True)
class Reason:
    """Why a row is odd, in one line: the odd cell, what was expected instead, and among which rows.

    `column` is the odd one of the row's first story, `value` what stands there. Where the story is
    told of another column, `hint` says which is the odd one.
    """

    column: str
    value: Value
    cell: str
    expected: str
    context: str
    hint: str = ""

    @classmethod
    def of(cls, findings: Findings) -> Reason | None:
        """Return the first story of a row in short; None where it has none."""
        if not findings.stories or not findings.stories[0].headline.is_finding:
            return None
        story, odd = findings.stories[0], findings.stories[0].culprit
        hint = (
            ""
            if odd == story.headline.column or (story.undecided and story.headline.given)
            else f"most likely {printable(odd)} is the odd one"
        )
        return cls(odd, findings.object.get(odd), *headline(story.headline), hint)

    def __str__(self) -> str:
        said = f"{self.cell}, {self.expected} {self.context}"
        return f"{said}; {self.hint}" if self.hint else said

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as it stands in the JSON result."""
        return dataclasses.asdict(self) | {"value": plain(self.value), "sentence": str(self)}


@dataclasses.dataclass(frozen=True, slots=True)
class Flagged:
    """A row that stands out. `row` is its position, from 0; `rank` counts from 1.

    Rows of a stream have no position: `row` is None, and `key` holds values that name the row.
    Where rows are ranked by strength, the score is the strength of the row's strongest finding, 0
    or less if there is none; `word` says what that makes it among all rows, `reason` why, in one
    line. Of feature bagging: `votes`, the rounds in which it came first, and `remoteness`, how many
    times as abnormal as an average row it is, in the mean of all rounds. None of others.
    """

    row: int | None
    rank: int
    score: float
    word: Word
    reason: Reason | None
    votes: int | None
    remoteness: float | None
    values: tuple[tuple[str, Value], ...] = dataclasses.field(repr=False)
    key: Key = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the row as it stands in the JSON result, where rows are counted from 1."""
        return self.summary() | {"values": {name: plain(value) for name, value in self.values}}

    def summary(self) -> dict[str, Any]:
        """Return the same without the row's values, for where these are given anyway."""
        fields = {name: getattr(self, name) for name in FLAGGED_FIELDS}
        reason = None if self.reason is None else self.reason.to_dict()
        return fields | _named(self.row, self.key) | {"reason": reason}


def _named(row: int | None, key: Key) -> dict[str, Any]:
    return {
        "row": None if row is None else row + 1,
        "key": {name: plain(value) for name, value in key} or None,
    }


#: What a flagged row is made of in JSON and in frames.
FLAGGED_FIELDS = ("row", "key", "rank", "score", "word", "reason", "votes", "remoteness")


@dataclasses.dataclass(frozen=True, slots=True)
class OddCombination:
    """A row that is odd all over: little in each column, much in all of them together.

    `columns` are those that add most, the first most of all; none of a stream.
    """

    row: int | None
    rank: int
    score: float
    columns: tuple[str, ...]
    values: tuple[tuple[str, Value], ...] = dataclasses.field(repr=False)
    key: Key = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the row as it stands in the JSON result, where rows are counted from 1."""
        return _named(self.row, self.key) | {
            "rank": self.rank,
            "score": self.score,
            "columns": list(self.columns),
            "values": {name: plain(value) for name, value in self.values},
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """How many rows stand out, and by which word."""

    exceptional: int
    unusual: int


@dataclasses.dataclass(frozen=True, slots=True)
class Detection:
    """What is odd in a table: its flagged rows, the oddest first, and what a reader should know.

    `scores` holds one number per row of the table, NaN where there is none; it is empty for a
    stream, whose rows have no position. By strength only: `counts` tells how many rows are
    exceptional, and how many unusual; `exceptional` and `unusual` are the positions of all such
    rows, the strongest first; `combination_scores` tells of each row how odd it is all over, and
    `unusual_combinations` are the positions of the rows that stand out by it, `combinations` the
    first of these that are not exceptional anyway.
    """

    rows: tuple[Flagged, ...]
    population: Population
    settings: DetectOptions
    notes: tuple[str, ...]
    scores: Floats = dataclasses.field(repr=False, compare=False)
    counts: Counts | None = None
    exceptional: tuple[int, ...] = dataclasses.field(default=(), repr=False)
    unusual: tuple[int, ...] = dataclasses.field(default=(), repr=False)
    combinations: tuple[OddCombination, ...] = dataclasses.field(default=(), repr=False)
    unusual_combinations: tuple[int, ...] = dataclasses.field(default=(), repr=False)
    combination_scores: Floats | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def positions(self) -> list[int]:
        """The positions of the flagged rows, as `explain_many(rows=...)` takes them."""
        return [item.row for item in self.rows if item.row is not None]

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
        """Return what detected the rows, how many stand out, and what to know of it."""
        return self.settings.to_dict() | {
            "exceptional": None if self.counts is None else self.counts.exceptional,
            "unusual": None if self.counts is None else self.counts.unusual,
            "combinations": [item.to_dict() for item in self.combinations],
            "notes": list(self.notes),
        }

    def to_json(self, indent: int | None = None) -> str:
        """Return the result as JSON, always in the same order and valid everywhere."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_frame(self) -> Any:
        """Return the flagged rows as a dataframe; `row` counts from 0, as everywhere in Python.

        It is pandas, or polars for a table that came as polars or where only that is there.
        """
        from outlying.render.report import frame

        columns = {name: [getattr(item, name) for item in self.rows] for name in FLAGGED_FIELDS}
        columns["key"] = [key_of(item) or None for item in columns["key"]]
        columns["reason"] = [None if item is None else str(item) for item in columns["reason"]]
        columns["column"] = [item.reason and item.reason.column for item in self.rows]
        return frame(columns, self.population.frame_library)
