"""From findings to stories: which belong together, which column is the odd one (method 5b).

A broken relation is told from each of its sides: "temp = 5.2 is odd where city = A", "city = A is
odd where temp is 2 to 8". Columns are numbers by name, so that the lower one wins where nothing
else decides; what is derived from a column counts as that column.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

#: So many findings that add nothing are kept: there may be hundreds.
MOST_ABSORBED = 5
#: What is left without a column counts as equal below this share of the whole: by then, the row is
#: ordinary either way.
ORDINARY_REST = 0.6
#: Findings of so many nats say which column is wrong of a broken formula, which is as strong as can
#: be, and a value of so many which is wrong of all: weaker ones are chance.
EVIDENT_REST = 5.0
#: What is left is equal if it differs by no more: such differences are chance.
SAME_REST = 0.02
#: A column whose own finding is weaker by more is not the odd one: it is what the odd one is
#: compared with.
WEAKER_FINDING = 1.5


class CellKind(enum.IntEnum):
    """What a property is; where nothing else decides, the first of these is the odd one."""

    NUMBER = 0
    CATEGORY = 1
    TIME = 2
    MISSING = 3
    CONTEXT = 4  # never: it is only what others are compared by


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """A finding; those on the same `group` say the same of the same rows."""

    property: int
    columns: frozenset[int]
    strength: float
    number: int = 0
    group: Hashable = None  # None: nothing is known of it
    is_relation: bool = False  # told by what other columns say, not in a context
    is_mutual: bool = False  # a relation of which any column may be wrong


@dataclasses.dataclass(slots=True, eq=False)
class StoryBuilder:
    """A story in the making: findings with exactly its columns, and those that add nothing."""

    columns: frozenset[int]
    findings: list[Finding]
    absorbed: list[Finding] = dataclasses.field(default_factory=list)

    @property
    def strength(self) -> float:
        """The strength of its strongest finding."""
        return self.findings[0].strength

    def holds(self, finding: Finding) -> bool:
        """Return whether the strongest finding is of the same property, and of more columns."""
        is_part = finding.columns < self.columns
        return is_part and finding.property == self.findings[0].property

    def headline(self, culprit: int) -> Finding:
        """Return the finding that calls the culprit odd, a relation first; else the strongest."""
        own = [item for item in self.findings if item.property == culprit] or self.findings[:1]
        return next((item for item in own if item.is_relation), own[0])


class Grouping:
    """Takes findings, the strongest first, and joins those that tell the same story."""

    def __init__(self) -> None:
        self.stories: list[StoryBuilder] = []
        self._by_columns: dict[frozenset[int], StoryBuilder] = {}
        self._by_group: dict[Hashable, StoryBuilder] = {}

    def add(self, finding: Finding) -> None:
        """Join a story of the same columns; or the first that it adds nothing to; or begin one.

        Nothing is added by further columns, by the same said of the same rows by other columns, by
        a weaker finding of the odd value of a story by some of its columns, or by another scale.
        """
        story = self._by_columns.get(finding.columns)
        if story is None:
            known = self._by_columns.items()
            story = next((each for own, each in known if own < finding.columns), None)
        if story is None:
            story = next((each for each in self.stories if each.holds(finding)), None)
        if story is None:
            story = self._by_columns[finding.columns] = StoryBuilder(finding.columns, [])
            self.stories.append(story)
        first = story if finding.group is None else self._by_group.setdefault(finding.group, story)
        if first is not story:
            self._merge(story, first)
        self._join(first, finding)

    def _merge(self, story: StoryBuilder, first: StoryBuilder) -> None:
        """Give all findings of a story to an earlier one, which says the same."""
        for finding in (*story.findings, *story.absorbed):
            self._join(first, finding)
        self.stories.remove(story)
        self._by_columns |= {own: first for own, each in self._by_columns.items() if each is story}
        self._by_group |= {own: first for own, each in self._by_group.items() if each is story}

    def _join(self, story: StoryBuilder, finding: Finding) -> None:
        if story.columns == finding.columns:
            known = {(item.property, item.is_relation) for item in story.findings}
            if (finding.property, finding.is_relation) not in known:
                story.findings.append(finding)
        elif len(story.absorbed) < MOST_ABSORBED and not any(
            (item.property, item.columns) == (finding.property, finding.columns)
            for item in story.absorbed
        ):
            story.absorbed.append(finding)


@dataclasses.dataclass(frozen=True, slots=True)
class Clues:
    """What is known of the columns of a row; those `joined` by a formula are one witness."""

    found: Sequence[Finding]
    kinds: Sequence[CellKind] = ()
    joined: Mapping[int, frozenset[int]] = dataclasses.field(default_factory=dict)
    surprise: Mapping[int, float] = dataclasses.field(default_factory=dict)  # whatever the context

    def rest(self, column: int) -> float:
        """Return the strength of the strongest finding without a column; 0 if there is none."""
        own = self.joined.get(column, frozenset((column,)))
        return max(
            (item.strength for item in self.found if item.columns.isdisjoint(own)), default=0.0
        )

    def without(self, columns: Collection[int]) -> Clues:
        """Return what findings without any of these columns tell."""
        others = [item for item in self.found if item.columns.isdisjoint(columns)]
        return dataclasses.replace(self, found=others)


def joined_columns(formulas: Iterable[Iterable[int]]) -> dict[int, frozenset[int]]:
    """Return for each column of a formula all that formulas join it with."""
    joined: dict[int, frozenset[int]] = {}
    for columns in formulas:
        own = frozenset(columns)
        own = own.union(*(joined.get(column, own) for column in own))
        joined |= dict.fromkeys(own, own)
    return joined


def blame(evidence: Clues, columns: Iterable[int]) -> list[float]:
    """Return for each column how much weaker the strongest finding would be without it."""
    top = max((item.strength for item in evidence.found), default=0.0)
    involved = frozenset().union(*(item.columns for item in evidence.found))
    return [max(0.0, top - evidence.rest(item)) if item in involved else 0.0 for item in columns]


def culprits(stories: Sequence[StoryBuilder], evidence: Clues) -> list[int]:
    """Return the odd column of each story; what an earlier one blames, a later one does as well."""
    chosen: list[int] = []
    for story in stories:
        known = next((culprit for culprit in chosen if culprit in story.columns), None)
        if known is None:
            known = culprit(story, evidence.without(chosen))
        chosen.append(known)
    return chosen


def culprit(story: StoryBuilder, evidence: Clues) -> int:
    """Return the column of a story without which the row is most ordinary.

    Then their own findings count, and a number is odd rather than a category, a time, a gap.
    """
    own = {item.property: item.strength for item in reversed(story.findings)}
    left, kinds = _least_left(story, evidence), evidence.kinds
    strongest = max(own.get(column, -math.inf) for column in left)
    left = [item for item in left if own.get(item, -math.inf) >= strongest - WEAKER_FINDING]
    return min(left, key=lambda item: (kinds[item], -own.get(item, -math.inf), item))


def undecided(story: StoryBuilder, evidence: Clues) -> Sequence[int]:
    """Return the columns of a broken relation of which nothing says which one is wrong."""
    if not any(item.is_mutual for item in story.findings):
        return []
    left = _least_left(story, evidence)
    return left if len(left) > 1 else ()


def _least_left(story: StoryBuilder, evidence: Clues) -> Sequence[int]:
    """Keep the columns without which least is left, of those that are judged.

    Of a broken relation, any may be wrong. Else, one that no finding of the story calls odd is left
    only if the row is ordinary without it, and none that is called odd is so in its whole column.
    """
    is_mutual = any(item.is_mutual for item in story.findings)
    floor = ORDINARY_REST * story.strength
    floor = min(floor, EVIDENT_REST) if is_mutual else floor
    judged = (
        item for item in sorted(story.columns) if evidence.kinds[item] is not CellKind.CONTEXT
    )
    rests = {column: max(evidence.rest(column), floor) for column in judged}
    odd = {item.property for item in story.findings}
    is_plain = any(evidence.surprise.get(column, 0.0) >= EVIDENT_REST for column in odd)
    likely = {
        column: rest
        for column, rest in rests.items()
        if is_mutual or column in odd or (rest == floor and not is_plain)
    } or rests
    least = min(likely.values())
    left = [column for column, value in likely.items() if value <= least + SAME_REST]
    return _odd_by_themselves(story, evidence, left)


def _odd_by_themselves(story: StoryBuilder, evidence: Clues, left: Sequence[int]) -> Sequence[int]:
    """Keep columns of a broken relation that are odd by themselves, too, if any evidently is."""
    if len(left) < 2 or not any(item.is_mutual for item in story.findings):
        return left
    own = dict.fromkeys(left, 0.0)
    for item in evidence.found:
        if item.property in own and not item.is_mutual:
            own[item.property] = max(own[item.property], item.strength)
    most = max(own.values())
    if most < EVIDENT_REST:
        return left
    return [column for column in left if own[column] >= most - WEAKER_FINDING]
