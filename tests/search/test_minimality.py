"""Minimal, unless much stronger."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.method.measure import MUCH_STRONGER, Summary
from outlying.search import minimality
from outlying.search.scoring import Context, Hit

SUMMARY = Summary(1.0, 0.1, 1.0, 1.0)


def hit(context: Context, strength: float, place: int = 0) -> Hit:
    return Hit(place, context, 50, SUMMARY, SUMMARY, 0.95, strength, strength)


def by_definition(hits: list[Hit]) -> list[Context]:
    """Of smaller contexts first: reported if much stronger than all reported parts."""
    told: dict[Context, float] = {}
    for one in sorted(hits, key=lambda each: (len(each.context), each.context)):
        parts = [told[part] for part in told if set(part) < set(one.context)]
        if one.strength >= max(parts, default=-math.inf) + MUCH_STRONGER - 1e-9:
            told[one.context] = one.strength
    return sorted(told)


def test_a_weak_pair_does_not_hide_a_strong_one() -> None:
    hits = [hit((), 2.7), hit((0,), 3.0), hit((0, 1), 7.5), hit((2,), 3.9)]
    assert [one.context for one in minimality.reported(hits)] == [(), (0, 1), (2,)]


def test_properties_do_not_hide_each_other() -> None:
    hits = [hit((), 9.0, place=1), hit((0,), 2.4, place=0)]
    assert minimality.reported(hits) == hits


contexts = st.lists(st.integers(0, 4), max_size=3, unique=True).map(lambda x: tuple(sorted(x)))
strengths = st.integers(20, 60).map(lambda number: number / 10)


@given(known=st.dictionaries(contexts, strengths, max_size=20))
def test_the_definition(known: dict[Context, float]) -> None:
    hits = [hit(context, strength) for context, strength in known.items()]
    expected = by_definition(hits)
    assert sorted(one.context for one in minimality.reported(hits)) == expected
    found = minimality.ReportedContexts(base=6, slip=1e-9)
    told: list[Context] = []
    for length in range(4):
        some = [context for context in known if len(context) == length]
        table = np.array(some, dtype=np.int64).reshape(len(some), length)
        values = np.array([known[context] for context in some])
        told += [one for one, keep in zip(some, found.possible(table, values), strict=True) if keep]
        found.learn(table, values)
    assert sorted(told) == expected


def test_estimates_leave_a_margin() -> None:
    found = minimality.ReportedContexts(base=6, slip=0.25)
    found.learn(np.zeros((1, 0), dtype=np.int64), np.array([3.0]))
    single = np.array([[0], [1], [2]])
    least = 3.0 + MUCH_STRONGER
    likely = found.possible(single, np.array([least - 0.3, least - 0.2, least]))
    assert likely.tolist() == [False, True, True]


@pytest.mark.parametrize("size", [0, 1, 3])
def test_parts_of_a_context(size: int) -> None:
    context = tuple(range(size))
    found = list(minimality.parts(context))
    assert len(found) == len(set(found)) == 2**size - 1
    assert all(set(part) < set(context) for part in found)
