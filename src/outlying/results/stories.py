"""Stories and the pairs that tell them, as people get them: frozen, with their JSON contract.

A pair is a property of the object and a context in which it is odd; a story is one thing that
stands out, told by pairs from one or several sides (method 5b).
"""

from __future__ import annotations

import builtins
import dataclasses
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from outlying.results import wording
from outlying.table.table import Condition
from outlying.table.values import Value, plain

if TYPE_CHECKING:
    from outlying.derived.relations import Breach
    from outlying.method.profiles import Picture, Ranges
    from outlying.render.axis import AxisChoice
    from outlying.render.plots import View
    from outlying.render.shapes import Theme
    from outlying.search.evidence import Standing

#: Weaker findings are none.
LEAST_STRENGTH = 1e-6
#: JSON names so many typical values: of hundreds of categories a reader wants to know the first.
MOST_TYPICAL = 20
#: So much of a typical text is in JSON; whole texts are those of the object and its conditions.
MOST_CHARACTERS = 200
#: What a pair is made of in JSON and in frames.
PAIR_FIELDS = (
    *("property", "column", "value", "given", "expected", "ordinary_at", "conditions"),
    *("outlierness", "rarity", "tail", "support", "group_size", "known", "lift", "strength"),
    *("overall_outlierness", "typical", "scale", "near", "reach", "gap", "bound"),
    *("exceptional", "unusual", "as_strong", "judged", "detail", "sentence", "standing"),
)


#: How a finding, or a row, stands among those of all rows.
STANDING = ("strength", "exceptional", "unusual", "as_strong", "judged")


class Shown:
    """What a notebook shows as HTML, and else as text."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        raise NotImplementedError

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the views that a notebook asks for; where it shows no HTML there is text."""
        views = {"text/html": self._repr_html_, "text/plain": self.__str__}
        wanted = (views.keys() if include is None else set(include)) - set(exclude or ())
        return {kind: write() for kind, write in views.items() if kind in wanted}


class Document:
    """What is written as JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values; rows count from 1 there, as in a file."""
        raise NotImplementedError

    def to_json(self, indent: int | None = None) -> str:
        """Return the result as JSON, always in the same order and valid everywhere."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Rank:
    """Where a finding stands among the strongest findings of all rows that were judged."""

    as_strong: int  # other rows with a finding at least as strong
    judged: int  # the rows of the table, or those drawn from it where it is large
    exceptional: bool = False
    unusual: bool = False

    @classmethod
    def of(cls, standing: Standing, strength: float, is_judged: bool) -> Rank:
        """Rank a finding; 0 is the strength of none. `is_judged` tells that its row is counted."""
        found = strength > 0
        as_strong = standing.at_least(max(strength, LEAST_STRENGTH))
        exceptional = found and strength >= standing.exceptional
        return cls(
            as_strong=as_strong - (found and is_judged and as_strong > 0),
            judged=len(standing.ordered),
            exceptional=exceptional,
            unusual=found and not exceptional and strength > standing.unusual,
        )


class Judged(Shown):
    """What is compared with the findings of all rows: a pair, or a story by its headline."""

    __slots__ = ()

    @property
    def rank(self) -> Rank | None:
        """Where it stands; None where no rows were judged."""
        raise NotImplementedError

    @property
    def is_finding(self) -> bool:
        """Whether it is one; if not, it is what comes closest."""
        raise NotImplementedError

    @property
    def as_strong(self) -> int | None:
        """How many other rows have a finding at least as strong; None where none were judged."""
        return None if self.rank is None else self.rank.as_strong

    @property
    def judged(self) -> int | None:
        """How many rows it is compared with; None where none were judged."""
        return None if self.rank is None else self.rank.judged

    @property
    def exceptional(self) -> bool:
        """Whether hardly any ordinary row has a finding as strong; by the paper, any finding."""
        return self.is_finding if self.rank is None else self.rank.exceptional

    @property
    def unusual(self) -> bool:
        """Whether it is not exceptional, but stronger than the findings of nearly all rows."""
        return self.rank is not None and self.rank.unusual

    @property
    def stands_out(self) -> bool:
        """Whether it is exceptional or unusual."""
        return self.exceptional or self.unusual


@dataclasses.dataclass(frozen=True, slots=True)
class Pair(Judged):
    """A property of the object and the context in which it is exceptional.

    `known` counts the rows of the group that have the property at all. `is_finding` is False of
    what comes closest where there is nothing to tell. `bound` says how far outlierness and tail,
    and as shares rarity and lift, may be off, where a table beyond memory was counted in bins.
    `scale` says at how many times the usual window the object is rarest; `near` counts the rows of
    the group there, the object included, `reach` how far that is (of times in seconds). `gap` holds
    the nearest values of other rows on both sides, where the object lies between common values.
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
    is_finding: bool = dataclasses.field(default=True, repr=False)
    bound: float = dataclasses.field(default=0.0, repr=False)
    scale: int = dataclasses.field(default=1, repr=False)
    near: int = dataclasses.field(default=0, repr=False)
    reach: float | None = dataclasses.field(default=None, repr=False)
    gap: tuple[Value, Value] | None = dataclasses.field(default=None, repr=False)
    #: Of a number: how many rows of the group are as far out, this one included, towards the nearer
    #: end; None where that was not counted.
    beyond: int | None = dataclasses.field(default=None, repr=False)
    #: The nearest other values of the group on both sides of a number.
    neighbours: tuple[Value, Value] = dataclasses.field(default=(None, None), repr=False)
    rank: Rank | None = dataclasses.field(default=None, repr=False, compare=False)
    picture: Picture | None = dataclasses.field(default=None, repr=False, compare=False)
    #: Of a derived property: the column of the table that it comes from, the value there, and what
    #: is odd of it, in words that follow it.
    parent: str | None = dataclasses.field(default=None, repr=False)
    parent_value: Value = dataclasses.field(default=None, repr=False)
    said: str | None = dataclasses.field(default=None, repr=False)
    #: Of a relation: by what, or among which rows, that is expected, in words.
    group: str = dataclasses.field(default="", repr=False)
    #: Of a relation: the other columns by which the value is expected to be another one.
    given: tuple[str, ...] = dataclasses.field(default=(), repr=False)
    #: The least and the greatest value that these expect, or the label that was meant, twice; None
    #: where that is no range.
    expected: tuple[Value, Value] | None = dataclasses.field(default=None, repr=False)
    #: Of a bound that is read as its number, the cell as it is written: <0.6.
    as_written: str | None = dataclasses.field(default=None, repr=False)
    #: How code finds the rows that break a relation, where that is simple.
    breach: Breach | None = dataclasses.field(default=None, repr=False)

    @builtins.property
    def column(self) -> str:
        """The column of the table whose cell the property tells of."""
        return self.property if self.parent is None else self.parent

    @builtins.property
    def others(self) -> tuple[str, ...]:
        """What the property is told beside: attributes of conditions, or columns of a relation."""
        return (*self.given, *(condition.attribute for condition in self.conditions))

    @builtins.property
    def detail(self) -> str | None:
        """What is odd of a derived property, in words; None where property and value say it."""
        if self.said is None:
            return None
        cell, where = wording.cell_of(self), f" {self.group}" if self.group else ""
        return f"{cell}{wording.joint(self)}{self.said}{where}"

    @builtins.property
    def ordinary_at(self) -> Value:
        """The nearest value that would be ordinary instead; None where no single one is known."""
        return wording.ordinary_at(self)

    @builtins.property
    def standing(self) -> str:
        """How it compares with the findings of other rows, in words; empty where none is known."""
        return wording.standing(self)

    @builtins.property
    def sentence(self) -> str:
        """The pair in words."""
        return wording.sentence(self)

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

        `view` is "property", "context", "measure" (the paper's) or "all" three; `width` is in
        pixels.
        """
        from outlying.render.plots import plot

        return plot(self, view, axis=axis, theme=theme, width=width)

    def _repr_html_(self) -> str:
        from outlying.render.html import card

        return card(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as it stands in the JSON result."""
        fields = {name: getattr(self, name) for name in PAIR_FIELDS}
        return fields | {
            "value": plain(self.value),
            "given": list(self.given),
            "ordinary_at": plain(self.ordinary_at),
            "expected": _plain(self.expected),
            "conditions": [condition.to_dict() for condition in self.conditions],
            "typical": [_plain(item) for item in self.typical[:MOST_TYPICAL]],
            "typical_more": max(0, len(self.typical) - MOST_TYPICAL),
            "gap": _plain(self.gap),
        }

    def short(self) -> dict[str, Any]:
        """Return what JSON holds of a telling that is not the headline."""
        whole = self.to_dict()
        return {name: whole[name] for name in ("property", "conditions", "strength", "sentence")}


def _plain(item: Any) -> Any:
    """Return a value, or the ends of a range, as JSON holds it; long texts are cut."""
    if isinstance(item, tuple):
        return [plain(end) for end in item]
    if isinstance(value := plain(item), str) and len(value) > MOST_CHARACTERS:
        return f"{value[: MOST_CHARACTERS - 1]}…"
    return value


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Story(Judged):
    """One thing that stands out: a set of columns, told from one or several sides.

    The value of `culprit` is the odd one: without it, the row would be most ordinary. `headline`
    tells of it; where none does, it is the strongest. `pairs` are all tellings of exactly these
    columns, then some that add nothing. Nothing says which of `undecided` columns is wrong.
    """

    columns: tuple[str, ...]
    culprit: str
    headline: Pair
    pairs: tuple[Pair, ...]
    undecided: tuple[str, ...] = ()

    @property
    def strength(self) -> float:
        """The strength of its strongest telling."""
        return self.pairs[0].strength

    @property
    def rank(self) -> Rank | None:
        """Where it stands among the findings of all rows."""
        return self.headline.rank

    @property
    def is_finding(self) -> bool:
        """Whether there is anything to tell."""
        return self.headline.is_finding

    @property
    def is_aside(self) -> bool:
        """Whether the headline tells of another column than the one that is most likely wrong."""
        return not self.undecided and self.headline.column != self.culprit

    @property
    def sentence(self) -> str:
        """The story in words, as its headline tells it."""
        return wording.story_sentence(self)

    @property
    def kind(self) -> str:
        """What kind of finding it is, in a few words: "Currency does not fit the country"."""
        return wording.story_kind(self)

    @property
    def others(self) -> tuple[Pair, ...]:
        """What it is also told as."""
        return tuple(pair for pair in self.pairs if pair != self.headline)

    def to_dict(self, place: int) -> dict[str, Any]:
        """Return the story as it stands in the JSON result; its headline is a place in `pairs`."""
        return {
            "columns": list(self.columns),
            "culprit": self.culprit,
            "kind": self.kind,
            "undecided": list(self.undecided),
            "headline": place,
            **{name: getattr(self, name) for name in STANDING},
            "also": [pair.short() for pair in self.others],
        }

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<Story: {self.kind}; {self.sentence}>"

    def _repr_html_(self) -> str:
        from outlying.render.html import card

        return card(self.headline, self.sentence)

    def ranked(self, rank: Rank) -> Story:
        """Return the story with where it stands among the findings of all rows."""
        place = self.pairs.index(self.headline)
        pairs = tuple(dataclasses.replace(pair, rank=rank) for pair in self.pairs)
        return dataclasses.replace(self, headline=pairs[place], pairs=pairs)


@dataclasses.dataclass(frozen=True, slots=True)
class OddCell:
    """One cell, the `number`th of its row, and all that makes it odd: its best story first."""

    number: int
    column: str
    stories: tuple[Story, ...]

    @property
    def story(self) -> Story:
        """What tells most."""
        return self.stories[0]

    @property
    def also(self) -> tuple[Story, ...]:
        """The other stories on it."""
        return self.stories[1:]

    @property
    def exceptional(self) -> bool:
        """Whether it is exceptional, not merely unusual."""
        return any(story.exceptional for story in self.stories)


def odd_cells(stories: Iterable[Story]) -> tuple[OddCell, ...]:
    """Group stories by the cell that each calls odd: exceptional ones, then unusual ones.

    What calls this very cell odd comes before a broken relation that another column of it tells.
    """
    found: dict[str, list[Story]] = {}
    for story in sorted(stories, key=lambda item: (not item.exceptional, not item.unusual)):
        found.setdefault(story.culprit, []).append(story)
    cells = []
    for number, (column, own) in enumerate(found.items(), start=1):
        own.sort(key=lambda item: (not item.exceptional, not item.unusual, item.is_aside))
        cells.append(OddCell(number, column, tuple(own)))
    return tuple(cells)
