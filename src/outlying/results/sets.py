"""What sets some rows apart: rules, frozen, in words and as JSON."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from outlying import sentences as say
from outlying.results.findings import Population
from outlying.results.stories import Document
from outlying.results.wording import figure, percent
from outlying.table.table import Condition


@dataclasses.dataclass(frozen=True, slots=True)
class RelationCondition:
    """The rows of a group break a relation: their column is more than others say, less, or off."""

    attribute: str
    given: tuple[str, ...]
    side: str
    text: str
    relation: str  # that is broken, in words

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as it stands in the JSON result."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return fields | {"kind": "relation", "given": list(self.given)}


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """A group of rows that are in the set more often than others.

    `rows` are in the group, `hits` of them in the set, `new` of these in no group of a rule before.
    `risk_ratio` is how many times as often a row of the group is in the set as another row, with
    95% confidence in `risk_interval`, whichever group had been told.
    """

    conditions: tuple[Condition | RelationCondition, ...]
    rows: int
    hits: int
    new: int
    coverage: float
    precision: float
    risk_ratio: float | None  # None: no row outside the group is in the set
    risk_interval: tuple[float, float | None]

    @classmethod
    def of(
        cls,
        conditions: tuple[Condition | RelationCondition, ...],
        rows: int,
        hits: int,
        new: int,
        count: int,
        total: int,
        width: float,
    ) -> Rule:
        """Compute the figures of a group by its counts (Katz et al. 1978 for the interval)."""
        others, missed = total - rows, count - hits
        ratio = hits / rows / (missed / others) if missed else None
        a, b = (hits + 0.5, missed + 0.5) if not missed else (hits, missed)
        middle = math.log(a / rows / (b / max(others, 1)))
        off = width * math.sqrt(max(1 / a - 1 / rows, 0.0) + max(1 / b - 1 / max(others, 1), 0.0))
        ends = math.exp(middle - off), None if not missed else math.exp(middle + off)
        return cls(conditions, rows, hits, new, hits / count, hits / rows, ratio, ends)

    @property
    def name(self) -> str:
        """The rule itself: its conditions."""
        return " and ".join(map(str, self.conditions))

    def __str__(self) -> str:
        low, high = self.risk_interval
        ratio = say.SET_ONLY_HERE
        if self.risk_ratio is not None and high is not None:
            ends = [figure(number, 2) for number in (self.risk_ratio, low, high)]
            ratio = say.SET_RATIO.format(ratio=ends[0], low=ends[1], high=ends[2])
        return say.SET_RULE.format(
            rule=self.name,
            hits=self.hits,
            rows=self.rows,
            precision=percent(self.precision),
            coverage=percent(self.coverage),
            ratio=ratio,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as it stands in the JSON result."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        own = {"conditions": [item.to_dict() for item in self.conditions], "sentence": str(self)}
        return fields | {"risk_interval": list(self.risk_interval)} | own


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class SetExplanation(Document):
    """What sets some rows apart; no rule where nothing does that chance would not.

    `rows` are in the set, `covered` of them in the group of a rule; `tried` is how many groups
    there are to choose from, `whole` how many rows the table has, where `population.rows` were
    drawn.
    """

    rules: tuple[Rule, ...]
    population: Population
    rows: int
    covered: int
    tried: int
    whole: int

    def __repr__(self) -> str:
        return f"<SetExplanation: {self.rows:,} rows, {len(self.rules)} rules>"

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """Return the rules as text."""
        return "\n\n".join(self.paragraphs())

    def paragraphs(self) -> list[str]:
        """Say how many rows are in the set, each rule, and what a reader should know."""
        total = self.population.rows
        parts = [
            say.SET_ROWS.format(rows=self.rows, total=total, share=percent(self.rows / total)),
            *(f"{place}. {rule}" for place, rule in enumerate(self.rules, start=1)),
        ]
        if self.rules:
            covered = say.SET_COVERED.format(covered=self.covered, rows=self.rows)
            parts.append(f"{covered} {say.SET_TRIED.format(tried=self.tried)}")
        else:
            parts.append(say.SET_NOTHING.format(tried=self.tried))
        told = (item for rule in self.rules for item in rule.conditions)
        broken = dict.fromkeys(
            item.relation for item in told if isinstance(item, RelationCondition)
        )
        if self.whole > total:
            parts.append(say.SET_DRAWN.format(rows=total, whole=self.whole))
        if broken:
            parts.append(say.SET_RELATIONS.format(relations="; ".join(broken)))
        return parts

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return self.population.to_dict() | {
            "set": {
                "rows": self.rows,
                "covered": self.covered,
                "tried": self.tried,
                "drawn_from": self.whole if self.whole > self.population.rows else None,
            },
            "rules": [rule.to_dict() for rule in self.rules],
        }
