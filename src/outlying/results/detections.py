"""The rows that a detector flags: frozen values, and their JSON contract (docs/json.md)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from outlying.options import DetectOptions
from outlying.results.findings import Findings, Population
from outlying.results.stories import Document, Shown
from outlying.results.wording import headline, hint_of, line, short_name
from outlying.table.columns import Floats
from outlying.table.values import Value, plain

if TYPE_CHECKING:
    from outlying.table.targets import Key

#: What a row is among all rows; empty where it is neither.
Word: TypeAlias = Literal["exceptional", "unusual", ""]


@dataclasses.dataclass(frozen=True, slots=True)
class Reason:
    """Why a row is odd, in one line: the odd cell, what was expected instead, and where.

    Where its first story is told of another column, `hint` says which is most likely the odd one.
    """

    column: str
    value: Value
    cell: str
    expected: str
    context: str
    hint: str
    why: str
    sentence: str

    @classmethod
    def of(cls, findings: Findings) -> Reason | None:
        """Return the first story of a row in short; None where it has none."""
        if not findings.stories or not findings.stories[0].headline.is_finding:
            return None
        story = findings.odd_cells[0].story if findings.odd_cells else findings.stories[0]
        odd = story.culprit
        hint = hint_of(story)
        told = line(story.headline) + (f"; {hint}" if hint else "")
        value = findings.object.get(odd)
        return cls(odd, value, *headline(story.headline), hint, story.kind, told)

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as it stands in the JSON result."""
        return dataclasses.asdict(self) | {"value": plain(self.value)}


@dataclasses.dataclass(frozen=True, slots=True)
class Flagged:
    """A row that stands out. `row` is its position, from 0, None in a stream; `rank` is from 1.

    Ranked by strength, the score is that of its strongest finding, 0 or less if there is none. Of
    feature bagging: `votes`, the rounds in which it came first, and `remoteness`, how many times as
    abnormal as an average row it is, in the mean of all rounds.
    """

    row: int | None
    rank: int
    score: float
    word: Word
    reason: Reason | None
    values: tuple[tuple[str, Value], ...] = dataclasses.field(repr=False)
    votes: int | None = None
    remoteness: float | None = None
    key: Key = ()
    #: All that was found on the row, where rows are ranked by that.
    findings: Findings | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The values that name the row, as text; empty where there are none."""
        return short_name(self.key)

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
    """A row that is odd all over, in `columns` most: little in each, much in all together."""

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


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Detection(Shown, Document):
    """What is odd in a table: its flagged rows, the oddest first, and what a reader should know.

    `scores` holds a number per row, NaN where there is none; a stream has none. By strength only:
    `exceptional` and `unusual` are the positions of all such rows; `combination_scores` tells how
    odd a row is all over, `combinations` are those that stand out by it and are not exceptional
    anyway.
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
    how: tuple[str, ...] = ()  # the notes on how it was computed

    @property
    def positions(self) -> list[int]:
        """The positions of the flagged rows, as `explain_many(rows=...)` takes them."""
        return [item.row for item in self.rows if item.row is not None]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        from outlying.render.listing import heading

        return f"<Detection: {heading(self).rstrip(':')}>"

    def text(self, *, all: bool = False, width: int = 88) -> str:  # noqa: A002 - the plain word
        """Return the exceptional rows as text; with `all`, the merely unusual ones, too."""
        from outlying.render.listing import render
        from outlying.render.text import Look

        return render(self, Look(width, everything=all))

    def _repr_html_(self) -> str:
        from outlying.render.html import listing

        return listing(self)

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

    def to_frame(self) -> Any:
        """Return the flagged rows as a dataframe, of pandas or polars; `row` counts from 0."""
        from outlying.render.tables import frame

        return frame(self.columns(), self.population.frame_library)

    def columns(self, first_row: int = 0) -> dict[str, list[Any]]:
        """Return the flagged rows by what frames and tables hold of them."""
        reasons = [item.reason for item in self.rows]
        told = {
            "column": [item and item.column for item in reasons],
            "value": [item and item.value for item in reasons],
            "expected": [item and item.expected.removeprefix("expected ") for item in reasons],
            "where": [item and item.context.removeprefix("where ") for item in reasons],
            "why": [item and item.why for item in reasons],
            "sentence": [item and item.sentence for item in reasons],
        }
        own = {name: [getattr(item, name) for item in self.rows] for name in _FRAME_FIELDS}
        if not self.settings.bagging:
            del own["votes"], own["remoteness"]
        rows = [item.row if item.row is None else item.row + first_row for item in self.rows]
        return {"row": rows, "name": own.pop("name"), **told, **own}


_FRAME_FIELDS = ("name", "word", "rank", "score", "votes", "remoteness")
