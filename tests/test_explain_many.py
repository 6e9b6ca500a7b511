"""Many rows or objects in one call: the same answers, and nothing begins before all is checked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlying
from outlying.options import Options
from outlying.parallel import usable_workers
from outlying.results.many import Patterns
from outlying.sources import read
from outlying.table.targets import RowRequest, Target, Targets, targets_in
from tests.strategies import Table, tables


@pytest.fixture(scope="module")
def explainer() -> outlying.Explainer:
    rng = np.random.default_rng(3)
    city = np.repeat(["A", "B"], 30)
    temp = np.where(city == "A", rng.normal(30, 1, 60), rng.normal(5, 1, 60))
    temp[:3] = 5.2
    data = {"key": np.arange(60), "city": city, "temp": temp, "day": np.arange(60) % 7}
    return outlying.Explainer(data, exclude=["key"])


def texts(findings: Iterable[outlying.Findings]) -> list[str]:
    return [item.to_json() for item in findings]


def test_rows_give_what_each_gives_alone(explainer: outlying.Explainer) -> None:
    rows: list[Any] = [5, 0, 5, np.int64(59), 1]
    alone = [explainer.explain(row=row).to_json() for row in rows]
    assert texts(explainer.explain_many(rows=rows)) == alone
    assert texts(explainer.explain_many(rows=iter(rows), workers=1)) == alone


def test_objects_give_what_each_gives_alone(explainer: outlying.Explainer) -> None:
    objects = [
        {"city": "A", "temp": 5.2, "day": None},
        {"city": "C", "temp": 30, "day": 1},
        {"city": "B", "temp": math.nan, "day": 2.5, "key": 7},
    ]
    alone = [explainer.explain(object=item).to_json() for item in objects]
    assert texts(explainer.explain_many(objects=iter(objects))) == alone


def test_one_mapping_is_every_row_with_its_values(explainer: outlying.Explainer) -> None:
    found = list(explainer.explain_many(where={"city": "A", "day": 3}))
    assert [item.row for item in found] == [3, 10, 17, 24]
    keys = list(explainer.explain_many(where=[{"key": 7}, {"key": 3}]))
    assert [item.row for item in keys] == [7, 3]


def test_the_function_is_the_method() -> None:
    data = {"a": ["x", "y"] * 10, "b": list(range(20))}
    alone = outlying.explain(data, row=4).to_json()
    assert texts(outlying.explain_many(data, rows=[4])) == [alone]


def test_nothing_is_explained_before_it_is_asked_for(explainer: outlying.Explainer) -> None:
    seen: list[tuple[int, int]] = []
    found = explainer.explain_many(rows=range(3), progress=lambda *now: seen.append(now))
    assert seen == []
    assert found[0].row == 0
    assert seen == [(1, 3)]
    list(found)
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_no_rows_are_no_findings(explainer: outlying.Explainer) -> None:
    assert list(explainer.explain_many(rows=[])) == []
    assert outlying.patterns([]) == ()


GOOD = {"city": "A", "temp": 1.0, "day": 1}
BAD: list[tuple[dict[str, Any], type[Exception], list[str]]] = [
    ({}, outlying.OptionError, ["exactly one", "rows=", "where=", "objects="]),
    ({"rows": [1], "objects": []}, outlying.OptionError, ["exactly one"]),
    ({"rows": 3}, outlying.OptionError, ["rows is 3", "positions"]),
    ({"rows": "12"}, outlying.OptionError, ["rows is '12'"]),
    ({"rows": [0, 60]}, outlying.RowError, ["rows[1]: row 60", "0 to 59"]),
    ({"rows": [0, -1]}, outlying.RowError, ["rows[1]: row -1"]),
    ({"rows": [0, 1.5]}, outlying.RowError, ["rows[1]: row is 1.5"]),
    ({"rows": [0, True]}, outlying.RowError, ["rows[1] is True"]),
    ({"rows": [True, False]}, outlying.RowError, ["rows[0] is True", "flatnonzero"]),
    ({"rows": np.array([False, True])}, outlying.RowError, ["rows[0] is False", "flatnonzero"]),
    ({"where": {"city": "C"}}, outlying.RowError, ["no row has city = C", "check the value"]),
    ({"where": {}}, outlying.RowError, ["where is empty"]),
    ({"where": "city"}, outlying.OptionError, ["where is 'city'", "mappings"]),
    ({"where": [{"key": 1}, {"city": "A"}]}, outlying.RowError, ["where[1]: 30 rows"]),
    ({"where": [{"key": 1}, {"key": 99}]}, outlying.RowError, ["where[1]: no row"]),
    ({"where": [{"key": 1}, {"tmp": 9}]}, outlying.ColumnError, ["where[1]: unknown", "'temp'"]),
    ({"where": [{"key": 1}, 2]}, outlying.OptionError, ["where[1] is 2"]),
    ({"objects": GOOD}, outlying.OptionError, ["objects is", "mappings"]),
    ({"objects": [GOOD, 5]}, outlying.ObjectError, ["objects[1]: the object is 5"]),
    ({"objects": [GOOD, {"city": "A"}]}, outlying.ObjectError, ["objects[1]:", "'temp', 'day'"]),
    ({"objects": [GOOD | {"temp": "x"}]}, outlying.ObjectError, ["objects[0]:", "a number"]),
    ({"objects": [GOOD | {"tmp": 1}]}, outlying.ObjectError, ["objects[0]:", "'temp'"]),
    (
        {"objects": [GOOD, GOOD | {"temp": math.inf}]},
        outlying.InfiniteValueError,
        ["objects[1]:", "'temp'", "in the object"],
    ),
    ({"rows": [1], "workers": 0}, outlying.OptionError, ["workers is 0", "at least 1"]),
    ({"rows": [1], "workers": True}, outlying.OptionError, ["workers is True"]),
    ({"rows": [1], "workers": 1.5}, outlying.OptionError, ["workers is 1.5"]),
]


@pytest.mark.parametrize(("asked", "kind", "said"), BAD, ids=[str(case[0])[:60] for case in BAD])
def test_all_is_checked_before_the_first(
    explainer: outlying.Explainer, asked: dict[str, Any], kind: type[Exception], said: list[str]
) -> None:
    with pytest.raises(kind) as error:
        explainer.explain_many(**asked)  # not even iterated
    for part in said:
        assert part in str(error.value)


def test_infinite_values_may_count_as_missing() -> None:
    data = {"a": ["x", "y"] * 10, "b": list(range(20))}
    explainer = outlying.Explainer(data, infinite="missing")
    item = {"a": "x", "b": math.inf}
    alone = explainer.explain(object=item).to_json()
    assert texts(explainer.explain_many(objects=[item])) == [alone]


def test_workers_default_to_the_usable_cores() -> None:
    assert usable_workers(None) >= 1
    assert usable_workers(np.int64(3)) == 3


def test_what_is_left() -> None:
    targets = Targets.of_rows((4, 2, 4))
    assert [len(targets.after(done)) for done in range(4)] == [3, 2, 1, 0]
    assert targets.after(1).rows == [2, 4]
    assert [targets.number(place) for place in range(3)] == [5, 3, 5]
    objects = Targets((Target(new={"a": 1}), Target(new={"a": 2})))
    assert objects.after(1).objects == [{"a": 2}]
    assert (len(objects.after(2)), objects.number(0)) == (0, None)


@given(tables(max_rows=12, max_columns=3), st.data())
@settings(max_examples=25)
def test_many_is_one_after_the_other(data: Table, draw: st.DataObject) -> None:
    size = len(next(iter(data.values())))
    rows = draw.draw(st.lists(st.integers(0, size - 1), max_size=4))
    try:
        explainer = outlying.Explainer(data, max_conditions=1)
        found = list(explainer.explain_many(rows=rows))
    except outlying.ColumnError:  # no column is left
        return
    assert texts(iter(found)) == [explainer.explain(row=row).to_json() for row in rows]
    from_entries = Patterns()
    for item in found:
        from_entries.add(item.to_dict()["objects"][0])
    assert from_entries.told() == outlying.patterns(found)


@given(tables(max_rows=8, max_columns=3), st.data())
@settings(max_examples=25)
def test_values_find_their_rows(data: Table, draw: st.DataObject) -> None:
    table, name = read(data), draw.draw(st.sampled_from(sorted(data)))
    row = draw.draw(st.integers(0, len(data[name]) - 1))
    value = table.column(name).value(row)
    asked = RowRequest.many(rows=None, where={name: value}, objects=None)
    found = targets_in(table, Options(), asked)
    assert found.rows is not None
    assert row in found.rows
    assert {table.column(name).value(other) for other in found.rows} == {value}
