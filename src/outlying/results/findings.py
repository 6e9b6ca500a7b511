"""The result: frozen values, and their JSON contract (documented in docs/json.md)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlying import sentences as say
from outlying.options import Options
from outlying.results.stories import (
    PAIR_FIELDS,
    STANDING,
    Document,
    OddCell,
    Pair,
    Shown,
    Story,
    odd_cells,
)
from outlying.results.wording import Hint, line, name_of, title
from outlying.table.table import FrameLibrary, SkippedColumn, Table
from outlying.table.values import Value, plain, printable

if TYPE_CHECKING:
    from outlying.derived.relations import RelationSummary
    from outlying.render.axis import AxisChoice
    from outlying.render.shapes import Theme
    from outlying.table.selection import Selection

SCHEMA = 3


@dataclasses.dataclass(frozen=True, slots=True)
class DerivedColumn:
    """A column that was computed from another one, which findings on it are blamed on."""

    name: str
    column: str


@dataclasses.dataclass(frozen=True, slots=True)
class Population:
    """What the object was compared with."""

    source: str
    rows: int
    columns: tuple[str, ...]
    skipped_columns: tuple[SkippedColumn, ...]
    derived_columns: tuple[DerivedColumn, ...] = ()
    relations: tuple[RelationSummary, ...] = ()
    #: Whose dataframes the user works with.
    frame_library: FrameLibrary = dataclasses.field(default="pandas", repr=False, compare=False)

    @classmethod
    def of(cls, table: Table, rows: int, selection: Selection) -> Population:
        """Describe what takes part and what does not."""
        from outlying.derived.choosing import left_out, taking_part
        from outlying.derived.relations import summaries

        return cls(
            table.source,
            rows,
            taking_part(selection, table.names),
            left_out(selection),
            tuple(DerivedColumn(item.name, item.family) for item in selection.parts),
            summaries(selection),
            table.frame_library,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what stands first in every JSON result."""
        return {
            "schema": SCHEMA,
            "source": self.source,
            "rows": self.rows,
            "columns": list(self.columns),
            "skipped_columns": [item.to_dict() for item in self.skipped_columns],
            "derived_columns": [dataclasses.asdict(item) for item in self.derived_columns],
            "relations": [item.to_dict() for item in self.relations],
        }


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Findings(Shown, Document):
    """Why a row is an outlier: its stories, strongest first, and what a reader should know.

    `row` is its position, from 0; None for a new object, and in a stream. `key` holds the values
    that name the row. `found` counts the stories, cut by `top` or not. Of the notes, `table_notes`
    are the same for every row, `how` tell how it was computed.
    """

    row: int | None
    values: tuple[tuple[str, Value], ...]
    population: Population
    options: Options
    stories: tuple[Story, ...]
    found: int
    notes: tuple[str, ...]
    hints: tuple[Hint, ...] = ()  # what options would show
    key: tuple[tuple[str, Value], ...] = ()
    blamed: tuple[tuple[str, float], ...] = ()
    table_notes: tuple[str, ...] = ()
    how: tuple[str, ...] = ()

    def __repr__(self) -> str:
        cells = self.odd_cells
        told = line(cells[0].story.headline) if cells else title(self).rstrip(".")
        more = f"; and {len(cells) - 1:,} more" if len(cells) > 1 else ""
        return f"<Findings: {name_of(self)}: {told}{more}>"

    @property
    def odd_cells(self) -> tuple[OddCell, ...]:
        """The cells that stand out, the oddest first, each with all stories on it."""
        return odd_cells(story for story in self.stories if story.stands_out)

    @property
    def own_notes(self) -> tuple[str, ...]:
        """The notes on this row alone."""
        return tuple(note for note in self.notes if note not in self.table_notes)

    @property
    def object(self) -> dict[str, Value]:
        """The values of the object by column."""
        return dict(self.values)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The headline of each story: no two are about the same set of columns."""
        return tuple(story.headline for story in self.stories)

    @property
    def blame(self) -> Mapping[str, float]:
        """How much weaker the strongest finding would be without each compared column."""
        return dict(self.blamed)

    @property
    def strength(self) -> float:
        """The strength of the strongest story; 0 where there is no finding."""
        strengths = (story.strength for story in self.stories if story.is_finding)
        return max(strengths, default=0.0)

    @property
    def exceptional(self) -> bool:
        """Whether any story is exceptional."""
        return any(story.exceptional for story in self.stories)

    @property
    def unusual(self) -> bool:
        """Whether no story is exceptional, but one is unusual."""
        return not self.exceptional and any(story.unusual for story in self.stories)

    @property
    def stands_out(self) -> bool:
        """Whether any story is exceptional or unusual."""
        return any(story.stands_out for story in self.stories)

    @property
    def as_strong(self) -> int | None:
        """How many other rows have a finding at least as strong; None where none were judged."""
        strongest = max(self.stories, key=lambda story: story.strength, default=None)
        return None if strongest is None else strongest.as_strong

    @property
    def judged(self) -> int | None:
        """How many rows it is compared with; None where none were judged."""
        return self.stories[0].judged if self.stories else None

    def with_labels(self, names: Iterable[str]) -> Findings:
        """Return the result with stories on labels of the rows asked for last, and a warning."""
        labels = self._told(names)
        stories = sorted(self.stories, key=lambda story: not set(labels).isdisjoint(story.columns))
        found = dataclasses.replace(self, stories=tuple(stories))
        return found._with_warning(labels, say.SEEMS_A_LABEL)

    def with_lone_columns(self, names: Iterable[str]) -> Findings:
        """Return the result with a warning of columns in which only this row differs."""
        return self._with_warning(self._told(names), say.DIFFERS_HERE_ONLY)

    def with_lone_values(self, names: Collection[str]) -> Findings:
        """Return the result with a note on columns in which only this row has a value."""
        compared = [name for name, _ in self.blamed if name in names]
        notes = [say.FILLED_HERE_ONLY.format(column=printable(name)) for name in compared]
        return dataclasses.replace(self, notes=(*self.notes, *notes))

    def named(self, columns: Sequence[str]) -> Findings:
        """Return the result with the row's values in some columns as its name."""
        values = self.object
        key = tuple((name, values[name]) for name in columns if values.get(name) is not None)
        return dataclasses.replace(self, key=key) if key else self

    def _told(self, names: Iterable[str]) -> list[str]:
        told = {name for story in self.stories for name in story.columns}
        return [name for name in names if name in told]

    def _with_warning(self, columns: Sequence[str], said: str) -> Findings:
        """Warn of columns, and say how to leave them out."""
        if not columns:
            return self
        notes = [said.format(column=printable(name)) for name in columns]
        effect = say.LEAVES_IT_OUT if len(columns) == 1 else say.LEAVES_THEM_OUT
        hint = Hint("exclude", effect, tuple(columns))
        return dataclasses.replace(self, notes=(*self.notes, *notes), hints=(*self.hints, hint))

    def __str__(self) -> str:
        return self.text()

    def text(self, *, all: bool = False, width: int = 88) -> str:  # noqa: A002 - the plain word
        """Return the result as text: what stands out; with `all`, all findings and numbers."""
        from outlying.render.text import Look, render

        return render(self, Look(width, everything=all))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values; `row` counts from 1 there, as in a file."""
        return heading(self.population, self.options) | {"objects": [entry(self)]}

    def to_html(self) -> str:
        """Return the result as a page for a browser: one file that loads nothing."""
        from outlying.render.report import page

        return page(self)

    def plot(
        self, top: int = 3, *, axis: AxisChoice = "auto", theme: Theme = "light", width: int = 720
    ) -> Any:
        """Draw the properties of the strongest stories as one matplotlib figure; see Pair.plot."""
        from outlying.render.plots import plot_all

        return plot_all(self, top, axis=axis, theme=theme, width=width)

    def _repr_html_(self) -> str:
        from outlying.render.html import fragment

        return fragment(self)

    def to_frame(self) -> Any:
        """Return the headlines as a dataframe, one row each, of pandas or polars."""
        from outlying.render.tables import frame

        rows = [pair.to_dict() for pair in self.pairs]
        for row, story in zip(rows, self.stories, strict=True):
            pair = story.headline
            for name in ("value", "ordinary_at"):  # of several types
                row[name] = None if row[name] is None else str(row[name])
            row["conditions"] = " and ".join(str(condition) for condition in pair.conditions)
            row["culprit"], row["columns"] = story.culprit, ", ".join(story.columns)
            for name in ("typical", "gap"):
                row[name] = json.dumps(row[name], ensure_ascii=False)
        fields = (*PAIR_FIELDS, "culprit", "columns")
        columns = {name: [row[name] for row in rows] for name in fields}
        return frame(columns, self.population.frame_library)


def heading(population: Population, options: Options) -> dict[str, Any]:
    """Return what all objects of a JSON result have in common."""
    return population.to_dict() | {"options": options.to_dict()}


def entry(findings: Findings) -> dict[str, Any]:
    """Return one object of a JSON result."""
    return {
        "row": None if findings.row is None else findings.row + 1,
        "key": {name: plain(value) for name, value in findings.key} or None,
        "values": {name: plain(value) for name, value in findings.values},
        **{name: getattr(findings, name) for name in STANDING},
        "stories": [story.to_dict(place) for place, story in enumerate(findings.stories)],
        "pairs": [pair.to_dict() for pair in findings.pairs],
        "blame": dict(findings.blame),
        "notes": list(findings.notes),
    }
