"""What objects share changes no result: not what was explained before, not what was forgotten."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.kernel.library import compiled
from outlying.search import limits
from outlying.search.cache import Cache, Group, LeastRecentlyUsed
from outlying.search.objects import CandidateCondition
from outlying.search.screen.neighbours import Sample
from outlying.table.conditions import Condition

ROWS = 900
ASKED = (0, 1, 2, 450, 899)

#: So little that what is shared is forgotten all the time.
LIMITS: dict[str, dict[str, int]] = {
    "as usual": {},
    "hardly any conditions": {"MOST_CONDITIONS": 2},
    "conditions": {"MOST_CONDITIONS": 24},
    "marks": {"MOST_MARKS": 0},
    "bytes": {"MOST_BYTES": 1},
    "some bytes": {"MOST_BYTES": 4 * ROWS},
    "groups": {"MOST_GROUPS": 1},
}
LIMITS["all"] = {
    name: value
    for some in ("conditions", "bytes", "groups")
    for name, value in LIMITS[some].items()
}


def table() -> dict[str, Any]:
    """Numbers, labels and gaps; some rows break what ties the columns."""
    rng = np.random.default_rng(6)
    level = rng.integers(3, size=ROWS)
    found = {
        "a": level * 6 + rng.normal(size=ROWS),
        "b": rng.normal(size=ROWS),
        "c": np.round(level * -4 + rng.normal(size=ROWS), 1),
        "d": np.array(["p", "q", "r"])[level],
        "e": np.where(rng.random(ROWS) < 0.2, np.nan, rng.exponential(size=ROWS)),
        "f": rng.choice(["x", "y"], ROWS),
    }
    found["a"][:3] = found["a"][::-1][:3] + 9
    return found


@pytest.mark.parametrize("chosen", LIMITS)
@pytest.mark.parametrize("screened", [300, ROWS], ids=["by a sample", "by all rows"])
def test_nothing_explained_before_changes_a_result(
    chosen: str, screened: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SCREENED", screened)
    monkeypatch.setattr(limits, "NEARBY", 600)
    data = table()
    fresh = [outlying.explain(data, row=row).to_json() for row in ASKED]
    for name, value in LIMITS[chosen].items():
        monkeypatch.setattr(limits, name, value)
    explainer = outlying.Explainer(data)
    for row in range(100, 130):
        explainer.explain(row=row)
    assert [explainer.explain(row=row).to_json() for row in ASKED] == fresh
    assert [explainer.explain(row=row).to_json() for row in reversed(ASKED)] == fresh[::-1]


@pytest.mark.parametrize(
    "options", [{"search": "exhaustive", "max_conditions": 2}, {"measure": "paper"}], ids=str
)
def test_other_searches_share_as_well(options: dict[str, Any]) -> None:
    data = {name: cells[:200] for name, cells in table().items()}
    explainer = outlying.Explainer(data, references=0, **options)
    for row in range(100, 110):
        explainer.explain(row=row)
    for row in (0, 1, 150):
        fresh = outlying.explain(data, row=row, references=0, **options)
        assert explainer.explain(row=row).to_json() == fresh.to_json()


@pytest.mark.parametrize("chosen", ["as usual", "all"])
def test_the_limits_above_are_reached(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the test above would say nothing."""
    for name, value in LIMITS[chosen].items():
        monkeypatch.setattr(limits, name, value)
    explainer = outlying.Explainer(table(), references=0)
    for row in range(100, 130):
        explainer.explain(row=row)
    prepared = explainer.in_memory("").prepared
    held, usual = prepared.cache, chosen == "as usual"
    assert (len(held._conditions) > 24) == usual
    rows: Any = held._masks if compiled() is None else held._bits
    for kept in (held._groups, rows, held._profiles):
        assert (len(kept) > 1) == usual


def test_limits_are_kept_and_what_was_not_used_for_longest_goes_first() -> None:
    store: LeastRecentlyUsed[int, bytes] = LeastRecentlyUsed(250, len)
    made = list[int]()

    def make(number: int) -> bytes:
        made.append(number)
        return bytes(100)

    def get(number: int) -> bytes:
        return store.get(number, functools.partial(make, number))

    for number in (1, 2, 1, 3, 1, 4, 1):
        assert get(number) is get(number)
        assert sum(map(len, store._things.values())) == store._size <= 250
    assert made == [1, 2, 3, 4]  # 1 was used again and again
    get(3)
    assert made == [1, 2, 3, 4, 3]


def test_one_thing_is_kept_however_large() -> None:
    store: LeastRecentlyUsed[int, bytes] = LeastRecentlyUsed(10, len)
    large = store.get(1, lambda: bytes(100))
    assert store.get(1, lambda: b"") is large
    store.get(2, lambda: b"")
    assert store.get(1, lambda: b"new") == b"new"


def condition(place: int) -> CandidateCondition:
    def test(rows: Any) -> Any:
        return np.arange(64)[rows] % (place + 2) == 0

    return CandidateCondition(Condition("x", "equals", value=str(place)), 1, test)


def sample() -> Sample:
    return Sample(64, np.arange(64), np.arange(64))


def test_a_number_is_never_given_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is kept under the number of a condition that was forgotten misleads nobody."""
    monkeypatch.setattr(limits, "MOST_CONDITIONS", 2)
    cache = Cache(sample())
    first = cache.numbers([condition(place) for place in range(3)])
    again = cache.numbers([condition(place) for place in (2, 0)])
    assert len({*first, *again}) == 4
    assert again[0] == first[2]
    own = cache.own([condition(place) for place in range(3)])
    assert own.numbers[-1] == 0
    assert own.marks[-1].all()
    assert np.flatnonzero(own.marks[1]).tolist() == list(range(0, 64, 3))


def test_copies_begin_anew() -> None:
    cache = Cache(sample())
    key: Any = ("x", (1,))
    cache.group(key, lambda: Group(1, None))
    copy = pickle.loads(pickle.dumps(cache))  # noqa: S301 - our own
    assert copy.group(key, lambda: Group(2, None)).rows == 2
    assert np.array_equal(copy.sample.nearby, cache.sample.nearby)


def test_a_copied_population_answers_alike() -> None:
    """Where processes are not forked, they get copies."""
    prepared = outlying.Explainer(table(), references=0).in_memory("").prepared
    _, outcome = prepared.searched(1)
    copy = pickle.loads(pickle.dumps(prepared))  # noqa: S301 - our own
    assert copy.searched(1)[1].best == outcome.best
