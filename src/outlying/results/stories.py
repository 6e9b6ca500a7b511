"""A story: one thing that stands out, told from one or several sides (method 5b)."""

from __future__ import annotations

import dataclasses
from typing import Any

from outlying.results.pairs import Pair, Rank
from outlying.table.values import printable


@dataclasses.dataclass(frozen=True, slots=True)
class Story:
    """One thing that stands out: a set of columns, told from one or several sides.

    `columns` stand by name. The value of `culprit` is the odd one: without it, the row would be
    most ordinary. `headline` is the telling whose property is the culprit; where there is none, the
    strongest. `pairs` are all tellings of exactly these columns, strongest first, the headline
    among them; then some with further columns, or of the same rows by others, which add nothing.
    """

    columns: tuple[str, ...]
    culprit: str
    headline: Pair
    pairs: tuple[Pair, ...]

    @property
    def strength(self) -> float:
        """The strength of its strongest telling."""
        return self.pairs[0].strength

    @property
    def exceptional(self) -> bool:
        """Whether hardly any ordinary row is expected to have a finding as strong."""
        return self.headline.exceptional

    @property
    def unusual(self) -> bool:
        """Whether it is not exceptional, but stronger than the findings of nearly all rows."""
        return self.headline.unusual

    @property
    def stands_out(self) -> bool:
        """Whether it is exceptional or unusual."""
        return self.headline.stands_out

    @property
    def as_strong(self) -> int | None:
        """How many other rows have a finding at least as strong; None where none were judged."""
        return self.headline.as_strong

    @property
    def judged(self) -> int | None:
        """How many rows it is compared with; None where none were judged."""
        return self.headline.judged

    @property
    def sentence(self) -> str:
        """The story in words, as its headline tells it."""
        if self.culprit == self.headline.column:
            return self.headline.sentence
        return (
            f"{self.headline.sentence} Most likely {printable(self.culprit)} is the odd one: "
            "without it, less stands out in this row."
        )

    @property
    def others(self) -> tuple[Pair, ...]:
        """What it is also told as."""
        return tuple(pair for pair in self.pairs if pair != self.headline)

    def to_dict(self, place: int) -> dict[str, Any]:
        """Return the story as it stands in the JSON result; its headline is a place in `pairs`."""
        return {
            "columns": list(self.columns),
            "culprit": self.culprit,
            "headline": place,
            "strength": self.strength,
            "exceptional": self.exceptional,
            "unusual": self.unusual,
            "as_strong": self.as_strong,
            "judged": self.judged,
            "also": [pair.short() for pair in self.others],
        }

    def __str__(self) -> str:
        return self.sentence

    def ranked(self, rank: Rank) -> Story:
        """Return the story with where it stands among the findings of all rows."""
        place = self.pairs.index(self.headline)
        pairs = tuple(dataclasses.replace(pair, rank=rank) for pair in self.pairs)
        return dataclasses.replace(self, headline=pairs[place], pairs=pairs)
