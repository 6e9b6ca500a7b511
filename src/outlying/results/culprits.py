"""From findings to stories: which belong together, which column is the odd one (method 5b).

A broken relation can be told from each of its sides: "temp = 5.2 is odd where city = A", "city = A
is odd where temp is 2 to 8". Both are tellings of one story. Its culprit is the column without
which the row is most ordinary. Columns are numbers by name, so that the lower one wins where
nothing else decides; what is derived from a column counts as that column.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Collection, Hashable, Iterable, Sequence

import numpy as np

from outlying.table.columns import Floats

#: So many tellings that add nothing are kept: there may be hundreds.
MOST_ABSORBED = 5
#: What is left without a column counts as equal below this share of the whole: by then, the row is
#: ordinary either way.
ORDINARY_REST = 0.6
#: What is left is equal if it differs by no more: such differences are chance.
SAME_REST = 0.02
#: What a single condition must give to count as evidence: ordinary rows show less than this.
LEAST_EVIDENCE = 2.0
#: Evidence is equal if it differs by no more.
SAME_EVIDENCE = 1.0
#: So many other columns bear witness against a column; more of them would favour wide relations.
WITNESSES = 2
#: A column whose own telling is weaker by more is not the odd one: it is what the odd one is
#: compared with.
WEAKER_TELLING = 1.5


class Kind(enum.IntEnum):
    """What a property is; where nothing else decides, the first of these is the odd one."""

    NUMBER = 0
    CATEGORY = 1
    TIME = 2
    MISSING = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Telling:
    """A finding as these rules see it; `number` is its place in the order of findings.

    Findings on the same `group` say the same of the same rows, be they selected by other columns.
    """

    property: int
    columns: frozenset[int]
    strength: float
    number: int = 0
    group: Hashable = None  # None: nothing is known of it


@dataclasses.dataclass(slots=True, eq=False)
class Told:
    """A story in the making: tellings with exactly its columns, and those that add nothing."""

    columns: frozenset[int]
    tellings: list[Telling]
    absorbed: list[Telling] = dataclasses.field(default_factory=list)

    @property
    def strength(self) -> float:
        """The strength of its strongest telling."""
        return self.tellings[0].strength

    def by(self, column: int) -> Telling | None:
        """Return the telling with this property, if there is one."""
        return next((item for item in self.tellings if item.property == column), None)

    def holds(self, telling: Telling) -> bool:
        """Return whether the strongest telling is of the same property, and of more columns."""
        is_part = telling.columns < self.columns
        return is_part and telling.property == self.tellings[0].property

    def headline(self, culprit: int) -> Telling:
        """Return the telling that calls the culprit odd; where there is none, the strongest."""
        return self.by(culprit) or self.tellings[0]


class Grouping:
    """Takes findings, the strongest first, and joins those that tell the same story."""

    def __init__(self) -> None:
        self.stories: list[Told] = []
        self._by_columns: dict[frozenset[int], Told] = {}
        self._by_group: dict[Hashable, Told] = {}

    def add(self, telling: Telling) -> None:
        """Join a story of the same columns; or the first that it adds nothing to; or begin one.

        What has further columns than a story came later: it is weaker, and adds nothing. Nor does
        what says the same of the same rows by other columns, as a label beside what it follows
        from; then these columns stand for those of the story. Nor does a weaker telling of the odd
        value of a story by some of its columns. Of a telling with several scales the first is kept.
        """
        told = self._by_columns.get(telling.columns)
        if told is None:
            known = self._by_columns.items()
            told = next((each for own, each in known if own < telling.columns), None)
        if told is None:
            told = next((each for each in self.stories if each.holds(telling)), None)
        if told is None:
            told = self._by_columns[telling.columns] = Told(telling.columns, [])
            self.stories.append(told)
        first = told if telling.group is None else self._by_group.setdefault(telling.group, told)
        if first is not told:
            self._merge(told, first)
        self._join(first, telling)

    def _merge(self, told: Told, first: Told) -> None:
        """Give all tellings of a story to an earlier one, which says the same."""
        for telling in (*told.tellings, *told.absorbed):
            self._join(first, telling)
        self.stories.remove(told)
        self._by_columns |= {own: first for own, each in self._by_columns.items() if each is told}
        self._by_group |= {own: first for own, each in self._by_group.items() if each is told}

    def _join(self, told: Told, telling: Telling) -> None:
        if told.columns == telling.columns:
            if told.by(telling.property) is None:
                told.tellings.append(telling)
        elif len(told.absorbed) < MOST_ABSORBED and not any(
            (item.property, item.columns) == (telling.property, telling.columns)
            for item in told.absorbed
        ):
            told.absorbed.append(telling)


def rest(found: Iterable[Telling], column: int) -> float:
    """Return the strength of the strongest finding without a column; 0 if there is none."""
    return max((item.strength for item in found if column not in item.columns), default=0.0)


def blame(found: Collection[Telling], columns: Iterable[int]) -> list[float]:
    """Return for each column how much weaker the strongest finding would be without it."""
    top = max((item.strength for item in found), default=0.0)
    involved = frozenset().union(*(item.columns for item in found))
    return [max(0.0, top - rest(found, item)) if item in involved else 0.0 for item in columns]


def culprits(
    stories: Sequence[Told],
    found: Sequence[Telling],
    kinds: Sequence[Kind],
    alone: Floats | None = None,
) -> list[int]:
    """Return the odd column of each story, the strongest story first.

    What an earlier story blames on a column, a later one does as well. `alone[p, b]` is the
    strength of property p given the best single condition on b, -inf where there is none.
    """
    chosen: list[int] = []
    for told in stories:
        known = next((culprit for culprit in chosen if culprit in told.columns), None)
        if known is None:
            others = [item for item in found if item.columns.isdisjoint(chosen)]
            known = culprit(told, others, kinds, alone)
        chosen.append(known)
    return chosen


def culprit(
    told: Told, found: Sequence[Telling], kinds: Sequence[Kind], alone: Floats | None = None
) -> int:
    """Return the column of a story without which the row is most ordinary.

    Where several are, other columns bear witness; then their own tellings count; then a number is
    odd rather than a category, that rather than a time, that rather than a missing value.
    """
    own = {item.property: item.strength for item in told.tellings}
    left = _least_left(told, found)
    if alone is not None:
        left = _most_evident(left, told.columns, alone)
    strongest = max(own.get(column, -math.inf) for column in left)
    left = [item for item in left if own.get(item, -math.inf) >= strongest - WEAKER_TELLING]
    return min(left, key=lambda item: (kinds[item], -own.get(item, -math.inf), item))


def _least_left(told: Told, found: Sequence[Telling]) -> list[int]:
    """Keep the columns without which least is left."""
    floor = ORDINARY_REST * told.strength
    rests = {column: max(rest(found, column), floor) for column in sorted(told.columns)}
    least = min(rests.values())
    return [column for column, value in rests.items() if value <= least + SAME_REST]


def _most_evident(columns: Sequence[int], story: frozenset[int], alone: Floats) -> list[int]:
    """Keep the columns that disagree most with columns outside of the story."""
    excess = np.maximum(0.0, alone - LEAST_EVIDENCE)
    both = excess + excess.T
    both[:, sorted(story)] = 0.0
    evidence = {item: float(np.sort(both[item])[-WITNESSES:].sum()) for item in columns}
    least = max(evidence.values()) - SAME_EVIDENCE
    return [column for column in columns if evidence[column] >= least]
