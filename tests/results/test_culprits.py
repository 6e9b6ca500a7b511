"""Which findings tell the same story, and which of its columns is the odd one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.results.culprits import (
    MOST_ABSORBED,
    CellKind,
    Clues,
    Finding,
    Grouping,
    StoryBuilder,
    blame,
    culprit,
    culprits,
    joined_columns,
)

A, B, C, D, E = range(5)
NUMBERS = [CellKind.NUMBER] * 5


def finding(name: int, *conditions: int, strength: float, group: str | None = None) -> Finding:
    return Finding(name, frozenset((name, *conditions)), strength, group=group)


def grouped(*findings: Finding) -> list[StoryBuilder]:
    grouping = Grouping()
    for item in findings:
        grouping.add(item)
    return grouping.stories


def test_both_sides_of_a_relation_are_one_story() -> None:
    first, mirror = finding(A, B, strength=6), finding(B, A, strength=5)
    (story,) = grouped(first, mirror)
    assert (story.columns, story.findings) == (frozenset({A, B}), [first, mirror])
    assert story.absorbed == []
    assert story.strength == 6
    assert story.headline(B) == mirror
    assert story.headline(C) == first  # there is no finding of it


def test_of_several_scales_the_strongest_is_kept() -> None:
    (story,) = grouped(finding(A, B, strength=6), finding(A, B, strength=5))
    assert [item.strength for item in story.findings] == [6]


def test_what_has_further_columns_joins_the_strongest_story_that_it_contains() -> None:
    alone, other = finding(A, strength=6), finding(C, strength=5)
    both = finding(A, C, strength=4)
    stories = grouped(alone, other, both, finding(A, C, strength=3))
    assert [story.findings for story in stories] == [[alone], [other]]
    assert [story.absorbed for story in stories] == [[both], []]


def test_a_wider_story_that_comes_first_stays_one() -> None:
    """A weaker finding of its odd value alone is part of it, that of another value is not."""
    wide, narrow, other, again = (
        finding(A, B, strength=6),
        finding(A, strength=5),
        finding(B, strength=4),
        finding(B, A, strength=3),
    )
    stories = grouped(wide, narrow, other, again)
    assert [story.findings for story in stories] == [[wide, again], [other]]
    assert stories[0].absorbed == [narrow]


def test_few_of_those_that_add_nothing_are_kept() -> None:
    more = [finding(column, A, strength=3) for column in range(1, 20)]
    (story,) = grouped(finding(A, strength=6), *more)
    assert story.absorbed == more[:MOST_ABSORBED]


def test_the_same_of_the_same_rows_is_one_story() -> None:
    """As by a label and by what it follows from; whichever side of it comes first."""
    first = finding(A, B, strength=6, group="rows")
    mirror = finding(C, A, strength=5.5)
    again = finding(A, C, strength=5, group="rows")
    other = finding(A, D, strength=4, group="others")
    stories = grouped(first, mirror, again, other, finding(D, A, C, strength=3))
    assert [story.findings for story in stories] == [[first], [other]]
    assert [item.strength for item in stories[0].absorbed] == [5.5, 5, 3]
    (story,) = grouped(again, finding(A, C, strength=3), finding(B, A, strength=2), first)
    assert (story.findings[0], len(story.findings)) == (again, 1)


def test_what_is_left_without_a_column() -> None:
    found = [finding(A, B, strength=6), finding(A, C, strength=5), finding(D, strength=2)]
    evidence = Clues(found)
    assert [evidence.rest(column) for column in (A, B, C, D)] == [2, 5, 6, 6]
    assert blame(evidence, range(5)) == [4, 1, 0, 0, 0]
    assert Clues([finding(A, strength=6)]).rest(A) == 0
    assert blame(Clues([finding(A, strength=6)]), range(2)) == [6, 0]
    assert blame(Clues([]), range(2)) == [0, 0]


def test_columns_that_a_kept_formula_joins_are_one_witness() -> None:
    """A fare that is too high for its route makes tax and total too high, not the route wrong."""
    fare, total, route, miles, tax = range(5)
    found = [
        finding(total, miles, strength=9),
        finding(total, route, strength=8.8),
        finding(fare, miles, strength=8.7),
        finding(fare, route, strength=8.6),
        finding(miles, total, strength=8),
    ]
    first = grouped(*found)[0]
    assert culprit(first, Clues(found, NUMBERS)) == total  # the stronger finding, by chance
    assert Clues(found).rest(total) == 8.7
    joined = joined_columns([(total, fare, tax)])
    assert Clues(found, NUMBERS, joined).rest(total) == 0
    assert culprit(first, Clues(found, NUMBERS, joined)) == total
    others = [*found[:1], *found[2:]]  # without miles, nothing but fare and route would be left
    stories = grouped(*others)
    weaker = [
        item if item.columns != {fare, route} else finding(fare, route, strength=3)
        for item in others
    ]
    assert culprit(stories[0], Clues(weaker, NUMBERS)) == miles
    assert culprit(stories[0], Clues(weaker, NUMBERS, joined)) == total


def test_formulas_that_share_columns_join_all_of_them() -> None:
    joined = joined_columns([(A, B), (C, D), (B, C)])
    assert joined == dict.fromkeys(range(4), frozenset(range(4)))


def test_the_culprit_is_the_column_without_which_least_is_left() -> None:
    found = [finding(B, A, strength=8), finding(A, B, strength=7.9), finding(C, A, strength=7)]
    assert culprit(grouped(*found)[0], Clues(found, NUMBERS)) == A
    assert (
        culprit(grouped(*found)[0], Clues(found[:2], NUMBERS)) == B
    )  # nothing else: the stronger one


def test_a_rest_far_below_the_story_does_not_decide() -> None:
    found = [finding(B, A, strength=10), finding(A, B, strength=9.9), finding(C, A, strength=5.9)]
    assert culprit(grouped(*found)[0], Clues(found, NUMBERS)) == B


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((CellKind.NUMBER, CellKind.CATEGORY), A),
        ((CellKind.CATEGORY, CellKind.NUMBER), B),
        ((CellKind.TIME, CellKind.CATEGORY), B),
        ((CellKind.TIME, CellKind.MISSING), A),
        ((CellKind.NUMBER, CellKind.NUMBER), B),  # the stronger finding
    ],
)
def test_where_nothing_decides_numbers_come_first(
    kinds: tuple[CellKind, CellKind], expected: int
) -> None:
    found = [finding(B, A, strength=8), finding(A, B, strength=7)]
    assert culprit(grouped(*found)[0], Clues(found, kinds)) == expected


def test_a_much_weaker_telling_is_not_the_odd_side() -> None:
    found = [finding(B, A, strength=8), finding(A, B, strength=6)]
    assert culprit(grouped(*found)[0], Clues(found, [CellKind.NUMBER, CellKind.CATEGORY])) == B
    assert (
        culprit(grouped(found[0])[0], Clues(found[:1], [CellKind.NUMBER, CellKind.CATEGORY])) == B
    )


def test_what_others_are_compared_by_is_blamed_only_if_the_rest_is_ordinary() -> None:
    some = [finding(A, B, strength=9), finding(C, B, strength=9)]
    told = grouped(*some)[0]
    assert culprit(told, Clues(some, NUMBERS)) == B
    odd = Clues(some, NUMBERS, surprise={A: 8.0, B: 1.0})  # a zero among sizes, whatever B
    assert culprit(told, odd) == A
    others = [*some, finding(D, strength=8)]
    assert culprit(told, Clues(others, NUMBERS)) == A


def test_equals_are_settled_by_name() -> None:
    found = [finding(B, A, strength=8), finding(A, B, strength=8)]
    assert culprit(grouped(*found)[0], Clues(found, NUMBERS)) == A


def test_a_later_story_has_the_culprit_of_an_earlier_one() -> None:
    found = [
        finding(B, A, strength=8),
        finding(A, B, strength=7.9),
        finding(A, C, strength=7),
        finding(C, A, strength=7),
        finding(D, E, strength=5),
        finding(E, D, strength=4.9),
        finding(E, A, strength=4.8),
        finding(E, C, strength=4.8),
    ]
    stories = grouped(*found)
    assert [set(story.columns) for story in stories] == [{A, B}, {A, C}, {D, E}, {A, E}, {C, E}]
    # without A, which is known to be odd, E is what tells {D, E} and {C, E} apart from ordinary
    assert culprits(stories, Clues(found, NUMBERS)) == [A, A, E, A, E]


COLUMNS = st.sets(st.integers(0, 4), min_size=1, max_size=3)


@given(st.lists(st.tuples(COLUMNS, st.floats(0.1, 20)), max_size=30))
def test_every_finding_is_told_once_at_most(drawn: list[tuple[set[int], float]]) -> None:
    ordered = sorted(drawn, key=lambda item: -item[1])
    found = [
        Finding(min(columns), frozenset(columns), strength, number)
        for number, (columns, strength) in enumerate(ordered)
    ]
    stories = grouped(*found)
    sets = [story.columns for story in stories]
    assert len(set(sets)) == len(sets)
    told = [item.number for story in stories for item in (*story.findings, *story.absorbed)]
    assert len(set(told)) == len(told)
    for place, wide in enumerate(sets):  # no story repeats a stronger one with further columns
        assert not any(narrow < wide for narrow in sets[:place])
    for story, column in zip(stories, culprits(stories, Clues(found, NUMBERS)), strict=True):
        assert column in story.columns
    shares = blame(Clues(found), range(5))
    assert all(share >= 0 for share in shares)
    if stories:
        assert all(shares[column] == 0 for column in range(5) if column not in sets[0])
