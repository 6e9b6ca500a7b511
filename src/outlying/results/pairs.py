"""A pair of context and property as people get it: frozen, with its JSON contract."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from outlying.options import Measure
from outlying.results.wording import cell_of, sentence, standing
from outlying.table.conditions import Condition
from outlying.table.values import Value, plain

if TYPE_CHECKING:
    from outlying.method.profiles import Ranges
    from outlying.method.sketches import Picture
    from outlying.render.axis import AxisChoice
    from outlying.render.palette import Theme
    from outlying.render.plots import View
    from outlying.search.references import Comparison

#: Confidences closer than this are the same.
SAME_CONFIDENCE = 1e-9


@dataclasses.dataclass(frozen=True, slots=True)
class Pair:
    """A property of the object and the context in which it is exceptional.

    `typical` holds ranges for a numeric property, the most frequent categories for a categorical
    one. `known` counts the rows of the group that have the property at all. `bound` says how far
    outlierness and tail, and as shares of themselves rarity and lift, may be off: 0 where every
    value was counted, more where a table beyond memory was counted in bins.

    `scale` says at how many times the usual window the object is rarest: 1 is near by, more is far
    and wide. `near` counts the rows of the group there, the object included, `reach` how far that
    is (of dates, times and durations in seconds). `gap` holds the nearest values of other rows on
    both sides, where the object lies between common values; None where that is not known.
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
    scale: int = dataclasses.field(default=1, repr=False)
    near: int = dataclasses.field(default=0, repr=False)
    reach: float | None = dataclasses.field(default=None, repr=False)
    gap: tuple[Value, Value] | None = dataclasses.field(default=None, repr=False)
    comparison: Comparison | None = dataclasses.field(default=None, repr=False, compare=False)
    picture: Picture | None = dataclasses.field(default=None, repr=False, compare=False)
    #: Of a derived property: the column of the table that it comes from, the value there, and what
    #: is odd of it, in words that follow it.
    parent: str | None = dataclasses.field(default=None, repr=False)
    parent_value: Value = dataclasses.field(default=None, repr=False)
    said: str | None = dataclasses.field(default=None, repr=False)

    @builtins.property
    def column(self) -> str:
        """The column of the table whose cell the property tells of."""
        return self.property if self.parent is None else self.parent

    @builtins.property
    def detail(self) -> str | None:
        """What is odd of a derived property, in words; None where property and value say it."""
        return None if self.said is None else f"{cell_of(self)} {self.said}"

    @builtins.property
    def confidence(self) -> float | None:
        """The share of ordinary rows without a finding this strong; None where none were asked."""
        return None if self.comparison is None else self.comparison.confidence

    @builtins.property
    def chance(self) -> float | None:
        """The estimated share of ordinary rows with a finding this strong, on the safe side."""
        return None if self.comparison is None else self.comparison.chance

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
        compared = self.comparison
        return standing(compared.as_strong, compared.asked, compared.chance)

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
        return bundle({"text/html": self._repr_html_, "text/plain": self.__str__}, include, exclude)

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as it stands in the JSON result."""
        fields = {name: getattr(self, name) for name in PAIR_FIELDS}
        return fields | {
            "value": plain(self.value),
            "conditions": [condition.to_dict() for condition in self.conditions],
            "typical": [_plain_typical(item) for item in self.typical[:MOST_TYPICAL]],
            "typical_more": max(0, len(self.typical) - MOST_TYPICAL),
            "gap": None if self.gap is None else [plain(end) for end in self.gap],
        }

    def short(self) -> dict[str, Any]:
        """Return what JSON holds of a telling that is not the headline."""
        whole = self.to_dict()
        return {name: whole[name] for name in ("property", "conditions", "strength", "sentence")}


#: JSON names so many typical values: of hundreds of categories a reader wants to know the first.
MOST_TYPICAL = 20

#: So much of a typical text is in JSON; whole texts are those of the object and its conditions.
MOST_CHARACTERS = 200

#: What a pair is made of in JSON and in frames.
PAIR_FIELDS = (
    "property",
    "column",
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
    "scale",
    "near",
    "reach",
    "gap",
    "reaches_threshold",
    "bound",
    "confidence",
    "chance",
    "exceptional",
    "detail",
    "sentence",
    "standing",
)


def _plain_typical(item: Any) -> Any:
    if isinstance(item, tuple):
        return [plain(end) for end in item]
    if isinstance(value := plain(item), str) and len(value) > MOST_CHARACTERS:
        return f"{value[: MOST_CHARACTERS - 1]}…"
    return value


def bundle(views: Mapping[str, Callable[[], str]], include: Any, exclude: Any) -> dict[str, str]:
    """Return the views that a notebook asks for; where it shows no HTML there is text."""
    wanted = set(views) if include is None else set(views) & set(include)
    return {kind: write() for kind, write in views.items() if kind in wanted - set(exclude or ())}
