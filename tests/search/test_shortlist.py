"""Pairs by their estimates, as arrays."""

from __future__ import annotations

import itertools

import numpy as np

from outlying.search.screen.bitsets import NONE
from outlying.search.shortlist import RankedPairs


def pairs() -> RankedPairs:
    """Return two pairs of far more properties than there are conditions."""
    places, contexts = np.array([4, 0]), np.array([[NONE, 1], [0, 1]])
    return RankedPairs(
        places, contexts, np.array([5.0, 4.0]), np.ones(2), np.array([7, 8, NONE]), np.arange(9)
    )


def test_they_know_which_they_hold() -> None:
    found = pairs()
    contexts = [(), (0,), (1,), (0, 1), (0, 1, 2)]
    held = [key for key in itertools.product(range(9), contexts) if found.has(*key)]
    assert held == [(0, (0, 1)), (4, (1,))]
    assert [(place, rank[-1]) for rank, place in found] == [(4, (1,)), (0, (0, 1))]


def test_what_tells_more() -> None:
    found = pairs()
    assert found.tell_more([])
    assert found.tell_more([{7, 8}, {4, 7}])
    assert not found.tell_more([{8}])
    assert not found.tell_more([{4}, {0, 30}, {7}])
    assert found.without(8) is None
    assert found.without(4) == 1
