"""Which findings tell the same story, and which of its columns is the odd one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.results.culprits import (
    MOST_ABSORBED,
    Grouping,
    Kind,
    Telling,
    Told,
    blame,
    culprit,
    culprits,
    rest,
)

A, B, C, D, E = range(5)
NUMBERS = [Kind.NUMBER] * 5


def telling(name: int, *conditions: int, strength: float, group: str | None = None) -> Telling:
    return Telling(name, frozenset((name, *conditions)), strength, group=group)


def grouped(*tellings: Telling) -> list[Told]:
    grouping = Grouping()
    for item in tellings:
        grouping.add(item)
    return grouping.stories


def test_both_sides_of_a_relation_are_one_story() -> None:
    first, mirror = telling(A, B, strength=6), telling(B, A, strength=5)
    (told,) = grouped(first, mirror)
    assert (told.columns, told.tellings) == (frozenset({A, B}), [first, mirror])
    assert told.absorbed == []
    assert told.strength == 6
    assert told.headline(B) == mirror
    assert told.headline(C) == first  # there is no telling of it


def test_of_several_scales_the_strongest_is_kept() -> None:
    (told,) = grouped(telling(A, B, strength=6), telling(A, B, strength=5))
    assert [item.strength for item in told.tellings] == [6]


def test_what_has_further_columns_joins_the_strongest_story_that_it_contains() -> None:
    alone, other = telling(A, strength=6), telling(C, strength=5)
    both = telling(A, C, strength=4)
    stories = grouped(alone, other, both, telling(A, C, strength=3))
    assert [told.tellings for told in stories] == [[alone], [other]]
    assert [told.absorbed for told in stories] == [[both], []]


def test_a_wider_story_that_comes_first_stays_one() -> None:
    """A weaker telling of its odd value alone is part of it, that of another value is not."""
    wide, narrow, other, again = (
        telling(A, B, strength=6),
        telling(A, strength=5),
        telling(B, strength=4),
        telling(B, A, strength=3),
    )
    stories = grouped(wide, narrow, other, again)
    assert [told.tellings for told in stories] == [[wide, again], [other]]
    assert stories[0].absorbed == [narrow]


def test_few_of_those_that_add_nothing_are_kept() -> None:
    more = [telling(column, A, strength=3) for column in range(1, 20)]
    (told,) = grouped(telling(A, strength=6), *more)
    assert told.absorbed == more[:MOST_ABSORBED]


def test_the_same_of_the_same_rows_is_one_story() -> None:
    """As by a label and by what it follows from; whichever side of it comes first."""
    first = telling(A, B, strength=6, group="rows")
    mirror = telling(C, A, strength=5.5)
    again = telling(A, C, strength=5, group="rows")
    other = telling(A, D, strength=4, group="others")
    stories = grouped(first, mirror, again, other, telling(D, A, C, strength=3))
    assert [told.tellings for told in stories] == [[first], [other]]
    assert [item.strength for item in stories[0].absorbed] == [5.5, 5, 3]
    (told,) = grouped(again, telling(A, C, strength=3), telling(B, A, strength=2), first)
    assert (told.tellings[0], len(told.tellings)) == (again, 1)


def test_what_is_left_without_a_column() -> None:
    found = [telling(A, B, strength=6), telling(A, C, strength=5), telling(D, strength=2)]
    assert [rest(found, column) for column in (A, B, C, D)] == [2, 5, 6, 6]
    assert blame(found, range(5)) == [4, 1, 0, 0, 0]
    assert rest([telling(A, strength=6)], A) == 0
    assert blame([telling(A, strength=6)], range(2)) == [6, 0]
    assert blame([], range(2)) == [0, 0]


def test_the_culprit_is_the_column_without_which_least_is_left() -> None:
    found = [telling(B, A, strength=8), telling(A, B, strength=7.9), telling(C, A, strength=7)]
    assert culprit(grouped(*found)[0], found, NUMBERS) == A
    assert culprit(grouped(*found)[0], found[:2], NUMBERS) == B  # nothing else: the stronger one


def test_a_rest_far_below_the_story_does_not_decide() -> None:
    found = [telling(B, A, strength=10), telling(A, B, strength=9.9), telling(C, A, strength=5.9)]
    assert culprit(grouped(*found)[0], found, NUMBERS) == B


def test_other_columns_bear_witness() -> None:
    found = [telling(B, A, strength=8), telling(A, B, strength=7.9)]
    alone = np.full((5, 5), -math.inf)
    alone[A, C] = 6.0
    assert culprit(grouped(*found)[0], found, NUMBERS, alone) == A
    alone[B, A] = 9.0  # the story itself is no witness
    assert culprit(grouped(*found)[0], found, NUMBERS, alone) == A
    alone[C, B] = alone[D, B] = 6.0  # what is odd given a column tells against it as well
    assert culprit(grouped(*found)[0], found, NUMBERS, alone) == B
    alone[A, C] = 1.4  # what ordinary rows show does not count
    alone[C, B] = alone[D, B] = 0.9
    assert culprit(grouped(*found)[0], found, NUMBERS, alone) == B


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((Kind.NUMBER, Kind.CATEGORY), A),
        ((Kind.CATEGORY, Kind.NUMBER), B),
        ((Kind.TIME, Kind.CATEGORY), B),
        ((Kind.TIME, Kind.MISSING), A),
        ((Kind.NUMBER, Kind.NUMBER), B),  # the stronger telling
    ],
)
def test_where_nothing_decides_numbers_come_first(kinds: tuple[Kind, Kind], expected: int) -> None:
    found = [telling(B, A, strength=8), telling(A, B, strength=7)]
    assert culprit(grouped(*found)[0], found, kinds) == expected


def test_a_much_weaker_telling_is_not_the_odd_side() -> None:
    found = [telling(B, A, strength=8), telling(A, B, strength=6)]
    assert culprit(grouped(*found)[0], found, [Kind.NUMBER, Kind.CATEGORY]) == B
    assert culprit(grouped(found[0])[0], found[:1], [Kind.NUMBER, Kind.CATEGORY]) == B


def test_equals_are_settled_by_name() -> None:
    found = [telling(B, A, strength=8), telling(A, B, strength=8)]
    assert culprit(grouped(*found)[0], found, NUMBERS) == A


def test_a_later_story_has_the_culprit_of_an_earlier_one() -> None:
    found = [
        telling(B, A, strength=8),
        telling(A, B, strength=7.9),
        telling(A, C, strength=7),
        telling(C, A, strength=7),
        telling(D, E, strength=5),
        telling(E, D, strength=4.9),
        telling(E, A, strength=4.8),
        telling(E, C, strength=4.8),
    ]
    stories = grouped(*found)
    assert [set(told.columns) for told in stories] == [{A, B}, {A, C}, {D, E}, {A, E}, {C, E}]
    # without A, which is known to be odd, E is what tells {D, E} and {C, E} apart from ordinary
    assert culprits(stories, found, NUMBERS) == [A, A, E, A, E]


COLUMNS = st.sets(st.integers(0, 4), min_size=1, max_size=3)


@given(st.lists(st.tuples(COLUMNS, st.floats(0.1, 20)), max_size=30))
def test_every_finding_is_told_once_at_most(drawn: list[tuple[set[int], float]]) -> None:
    ordered = sorted(drawn, key=lambda item: -item[1])
    found = [
        Telling(min(columns), frozenset(columns), strength, number)
        for number, (columns, strength) in enumerate(ordered)
    ]
    stories = grouped(*found)
    sets = [told.columns for told in stories]
    assert len(set(sets)) == len(sets)
    told = [item.number for story in stories for item in (*story.tellings, *story.absorbed)]
    assert len(set(told)) == len(told)
    for place, wide in enumerate(sets):  # no story repeats a stronger one with further columns
        assert not any(narrow < wide for narrow in sets[:place])
    for story, column in zip(stories, culprits(stories, found, NUMBERS), strict=True):
        assert column in story.columns
    shares = blame(found, range(5))
    assert all(share >= 0 for share in shares)
    if stories:
        assert all(shares[column] == 0 for column in range(5) if column not in sets[0])
