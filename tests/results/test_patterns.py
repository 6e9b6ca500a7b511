"""Patterns: which columns explain how many of the objects."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import outlying
from outlying.cli.terminal import EXPLAIN
from outlying.render import text
from outlying.results.many import Pattern, Patterns
from outlying.results.stories import Rank

LOOK = text.Look(terms=EXPLAIN)
NAMES = st.sampled_from(["a", "b", "c"])


def entry(row: int | None, *pairs: tuple[str, tuple[str, ...], bool]) -> dict[str, Any]:
    return {
        "row": row,
        "pairs": [
            {
                "property": name,
                "column": name,
                "value": 1.0,
                "given": [],
                "conditions": [{"attribute": other} for other in attributes],
                "exceptional": stands_out,
                "unusual": False,
            }
            for name, attributes, stands_out in pairs
        ],
    }


def test_objects_share_a_pattern() -> None:
    items = [
        entry(3, ("temp", ("city",), True), ("day", (), True)),
        entry(4, ("city", ("temp",), True)),
        entry(5, ("temp", ("city",), True)),
        entry(9, ("temp", (), True)),
        entry(7, ("temp", ("city", "day"), False)),
        entry(8),
    ]
    told = outlying.patterns(items)
    assert [str(item) for item in told] == [
        "3 of 6: Temp does not fit the city",
        "2 of 6: Nothing odd",
        "1 of 6: Unusual temp",
    ]
    assert told[0] == Pattern("temp", ("city",), (2, 3, 4), 3, 6)
    assert (told[1].property, told[1].rows) == (None, (6, 7))
    assert told[0].to_dict() == {
        "name": "Temp does not fit the city",
        "property": "temp",
        "attributes": ["city"],
        "rows": [3, 4, 5],
        "count": 3,
        "total": 6,
        "sentence": "3 of 6: Temp does not fit the city",
    }


def test_empty_cells_are_a_pattern_of_their_own() -> None:
    empty, low = entry(2, ("temp", (), True)), entry(3, ("temp", (), True))
    empty["pairs"][0] |= {"value": None, "property": "temp (missing)"}
    assert [str(item) for item in outlying.patterns([empty, low])] == [
        "1 of 2: Unusual temp",
        "1 of 2: Empty temp",
    ]


def test_ties_are_settled_by_name() -> None:
    mirrored = [entry(1, ("b", ("a",), True)), entry(2, ("a", ("b",), True))]
    assert [str(item) for item in outlying.patterns(mirrored)] == ["2 of 2: a does not fit b"]
    three = [entry(1, ("c", (), True)), entry(2), entry(3, ("a", ("d", "b", "c"), True))]
    assert [str(item) for item in outlying.patterns(three)] == [
        "1 of 3: a does not fit b, c and d",
        "1 of 3: Unusual c",
        "1 of 3: Nothing odd",
    ]


def test_a_weak_first_pair_tells_nothing() -> None:
    weak = entry(1, ("a", (), False), ("b", ("a",), True))
    assert str(outlying.patterns([weak])[0]) == "1 of 1: b does not fit a"


def test_new_objects_are_counted_in_their_order() -> None:
    items = [entry(None, ("a", (), True)), entry(None), entry(None, ("a", (), True))]
    told = outlying.patterns(items)
    assert [item.rows for item in told] == [(0, 2), (1,)]
    assert "objects 1, 3" in text.summary(told, True, LOOK)[0]


def test_hostile_names_are_harmless() -> None:
    evil = "\x1b[31mred\u202e"
    told = outlying.patterns([entry(1, (evil, (evil + "2",), True))])
    shown = str(told[0]) + text.summary(told, False, LOOK)[0]
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[31mred\\u202e does not fit" in shown
    assert told[0].property == evil


def test_the_summary_names_some_rows() -> None:
    items = [entry(row, ("a", (), True)) for row in range(1, 21)]
    assert text.summary(outlying.patterns(items), False, LOOK) == [
        "What they share:\n  20 of 20: Unusual a (rows 1, 2, 3, 4, 5, 6, 7, 8 and 12 more)"
    ]
    assert text.summary(outlying.patterns(items), False, LOOK, least=21) == []


def test_what_stands_out_decides() -> None:
    data = {"a": ["x", "y"] * 20, "b": [*range(39), 400]}
    odd, ordinary = (outlying.explain(data, row=row) for row in (39, 3))
    for rank in (Rank(0, 40, exceptional=True), Rank(1, 40, unusual=True)):
        told = dataclasses.replace(odd, stories=tuple(each.ranked(rank) for each in odd.stories))
        assert [item.property for item in outlying.patterns([told])] == ["b"]
        assert [item.property for item in outlying.patterns(told.to_dict()["objects"])] == ["b"]
    quiet = tuple(each.ranked(Rank(30, 40)) for each in ordinary.stories)
    told = dataclasses.replace(ordinary, stories=quiet)
    assert [item.property for item in outlying.patterns([told])] == [None]


@given(st.lists(st.one_of(st.none(), st.tuples(NAMES, st.sets(NAMES, max_size=2)))))
def test_every_object_is_in_one_pattern(readings: list[tuple[str, set[str]] | None]) -> None:
    patterns = Patterns()
    for row, reading in enumerate(readings, start=1):
        pairs = [] if reading is None else [(reading[0], tuple(reading[1] - {reading[0]}), True)]
        patterns.add(entry(row, *pairs))
    told = patterns.told()
    members = [row for item in told for row in item.rows]
    assert sorted(members) == list(range(len(readings)))
    assert [item.count for item in told] == sorted((s.count for s in told), reverse=True)
    sets = [None if r is None else frozenset({r[0], *r[1]}) for r in readings]
    assert collections.Counter(sets) == {
        frozenset({s.property, *s.attributes}) if s.property else None: s.count for s in told
    }
