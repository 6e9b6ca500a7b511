"""The result: frozen values, and their JSON contract (documented in docs/json.md).

Text, JSON, frames and every later picture are views of these values; none of them computes.
"""

from __future__ import annotations

import builtins
import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from outlying.method.profiles import Ranges
from outlying.method.sketches import Picture
from outlying.options import Measure, Options
from outlying.results.wording import sentence, standing
from outlying.search.references import Comparison, References
from outlying.search.scoring import Effort
from outlying.table.conditions import Condition
from outlying.table.selection import Selection
from outlying.table.table import FrameLibrary, SkippedColumn, Table
from outlying.table.values import Value, plain

if TYPE_CHECKING:
    from outlying.render.axis import AxisChoice
    from outlying.render.palette import Theme
    from outlying.render.plots import View

SCHEMA = 1

#: Confidences closer than this are the same.
SAME_CONFIDENCE = 1e-9


@dataclasses.dataclass(frozen=True, slots=True)
class Pair:
    """A property of the object and the context in which it is exceptional.

    `typical` holds ranges for a numeric property, the most frequent categories for a categorical
    one. `known` counts the rows of the group that have the property at all. `bound` says how far
    outlierness and tail, and as shares of themselves rarity and lift, may be off: 0 where every
    value was counted, more where a table beyond memory was counted in bins.
    """

    property: str
    value: Value
    conditions: tuple[Condition, ...]
    outlierness: float
    rarity: float
    tail: float
    support: float
    group_size: int
    known: int
    lift: float
    strength: float
    overall_outlierness: float
    typical: Ranges | tuple[Value, ...]
    reaches_threshold: bool
    measure: Measure = dataclasses.field(default="relative", repr=False)
    min_confidence: float = dataclasses.field(default=0.0, repr=False)
    bound: float = dataclasses.field(default=0.0, repr=False)
    comparison: Comparison | None = dataclasses.field(default=None, repr=False, compare=False)
    picture: Picture | None = dataclasses.field(default=None, repr=False, compare=False)

    @builtins.property
    def confidence(self) -> float | None:
        """The share of ordinary rows without a finding this strong; None where none were asked."""
        return None if self.comparison is None else self.comparison.confidence

    @builtins.property
    def exceptional(self) -> bool:
        """Whether it reaches the threshold, and is not what an ordinary row shows."""
        if not self.reaches_threshold or self.confidence is None:
            return self.reaches_threshold
        return self.confidence >= self.min_confidence - SAME_CONFIDENCE

    @builtins.property
    def standing(self) -> str:
        """How it compares with findings on ordinary rows, in words; empty where none were asked."""
        if self.comparison is None:
            return ""
        return standing(self.comparison.as_strong, self.comparison.asked)

    @builtins.property
    def sentence(self) -> str:
        """The pair in words."""
        return sentence(self)

    def __str__(self) -> str:
        return self.sentence

    def plot(
        self,
        view: View = "all",
        *,
        axis: AxisChoice = "auto",
        theme: Theme = "light",
        width: int = 720,
    ) -> Any:
        """Draw the pair as a matplotlib figure: `.savefig("why.svg")` or `.savefig("why.png")`.

        `view` is "property", "context", "measure" (the paper's view) or "all" three; `axis` is
        "linear", "log", or "auto", where the data decide; `width` is in pixels.
        """
        from outlying.render.plots import plot

        return plot(self, view, axis=axis, theme=theme, width=width)

    def _repr_html_(self) -> str:
        from outlying.render.html import card

        return card(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return _bundle(
            {"text/html": self._repr_html_, "text/plain": self.__str__}, include, exclude
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as it stands in the JSON result."""
        fields = {name: getattr(self, name) for name in PAIR_FIELDS}
        return fields | {
            "value": plain(self.value),
            "conditions": [condition.to_dict() for condition in self.conditions],
            "typical": [_plain_typical(item) for item in self.typical],
        }


#: What a pair is made of in JSON and in frames.
PAIR_FIELDS = (
    "property",
    "value",
    "conditions",
    "outlierness",
    "rarity",
    "tail",
    "support",
    "group_size",
    "known",
    "lift",
    "strength",
    "overall_outlierness",
    "typical",
    "reaches_threshold",
    "bound",
    "confidence",
    "exceptional",
    "sentence",
    "standing",
)


def _plain_typical(item: Any) -> Any:
    return [plain(end) for end in item] if isinstance(item, tuple) else plain(item)


@dataclasses.dataclass(frozen=True, slots=True)
class Population:
    """What the object was compared with."""

    source: str
    rows: int
    columns: tuple[str, ...]
    skipped_columns: tuple[SkippedColumn, ...]
    #: Whose dataframes the user works with.
    frame_library: FrameLibrary = dataclasses.field(default="pandas", repr=False, compare=False)

    @classmethod
    def of(cls, table: Table, rows: int, selection: Selection) -> Population:
        """Describe what takes part and what does not."""
        names = tuple(column.name for column in selection.columns)
        return cls(table.source, rows, names, selection.skipped, table.frame_library)

    def to_dict(self) -> dict[str, Any]:
        """Return what stands first in every JSON result."""
        return {
            "schema": SCHEMA,
            "source": self.source,
            "rows": self.rows,
            "columns": list(self.columns),
            "skipped_columns": [item.to_dict() for item in self.skipped_columns],
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Findings:
    """Why a row is an outlier: its pairs, strongest first, and what a reader should know.

    `row` is the position of the object, from 0; None for a new object, and for a row of a table
    without order, which `key` names by its values. `found` counts the pairs before `top` cut them.
    """

    row: int | None
    values: tuple[tuple[str, Value], ...]
    population: Population
    options: Options
    pairs: tuple[Pair, ...]
    found: int
    notes: tuple[str, ...]
    effort: Effort | None = None  # None after an exhaustive search
    key: tuple[tuple[str, Value], ...] = ()
    #: What tells this row among others that are compared; None for a new object.
    row_hash: int | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def object(self) -> dict[str, Value]:
        """The values of the object by column."""
        return dict(self.values)

    @property
    def exceptional(self) -> bool:
        """Whether any pair is exceptional."""
        return any(pair.exceptional for pair in self.pairs)

    @property
    def confidence(self) -> float | None:
        """The confidence of the strongest pair; None where no rows were asked or nothing found."""
        known = [pair.confidence for pair in self.pairs if pair.confidence is not None]
        return max(known, default=None)

    def with_confidence(self, references: References) -> Findings:
        """Return the result compared with ordinary rows: those of `Explainer.references()`."""
        pairs = (
            dataclasses.replace(pair, comparison=references.compare(pair.strength, self.row_hash))
            for pair in self.pairs
        )
        return dataclasses.replace(self, pairs=tuple(pairs))

    def __str__(self) -> str:
        from outlying.render.text import render

        return render(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values; `row` counts from 1 there, as in a file."""
        return heading(self.population, self.options) | {"objects": [entry(self)]}

    def to_json(self, indent: int | None = None) -> str:
        """Return the result as JSON, always in the same order and valid everywhere."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_html(self) -> str:
        """Return the result as a page for a browser: one file that loads nothing."""
        from outlying.render.html import page

        return page(self)

    def plot(
        self,
        top: int = 3,
        *,
        axis: AxisChoice = "auto",
        theme: Theme = "light",
        width: int = 720,
    ) -> Any:
        """Draw the properties of the strongest pairs as one matplotlib figure; see Pair.plot."""
        from outlying.render.plots import plot_all

        return plot_all(self, top, axis=axis, theme=theme, width=width)

    def _repr_html_(self) -> str:
        from outlying.render.html import fragment

        return fragment(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return _bundle(
            {"text/html": self._repr_html_, "text/plain": self.__str__}, include, exclude
        )

    def to_frame(self) -> Any:
        """Return the pairs as a dataframe, one row each: pandas, or polars where it is alone.

        A population that came as a polars frame gives a polars frame.
        """
        from outlying.render.frames import frame

        rows = [pair.to_dict() for pair in self.pairs]
        for row, pair in zip(rows, self.pairs, strict=True):
            row["value"] = None if pair.value is None else str(plain(pair.value))
            row["conditions"] = " and ".join(str(condition) for condition in pair.conditions)
            row["typical"] = json.dumps(row["typical"], ensure_ascii=False)
        columns = {name: [row[name] for row in rows] for name in PAIR_FIELDS}
        return frame(columns, self.population.frame_library)


def _bundle(views: Mapping[str, Callable[[], str]], include: Any, exclude: Any) -> dict[str, str]:
    """Return the views that a notebook asks for; where it shows no HTML there is text."""
    wanted = set(views) if include is None else set(views) & set(include)
    return {kind: write() for kind, write in views.items() if kind in wanted - set(exclude or ())}


def heading(population: Population, options: Options) -> dict[str, Any]:
    """Return what all objects of a JSON result have in common."""
    return population.to_dict() | {"options": options.to_dict()}


def entry(findings: Findings) -> dict[str, Any]:
    """Return one object of a JSON result."""
    return {
        "row": None if findings.row is None else findings.row + 1,
        "key": {name: plain(value) for name, value in findings.key} or None,
        "values": {name: plain(value) for name, value in findings.values},
        "pairs": [pair.to_dict() for pair in findings.pairs],
        "notes": list(findings.notes),
        "effort": None if findings.effort is None else dataclasses.asdict(findings.effort),
    }
