"""The first pass over a stream: the same as in memory, however rows are ordered, cut and merged."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import math
import pickle
import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlying
from outlying import sources
from outlying.errors import ColumnError, InfiniteValueError, OptionError, RowError, SourceError
from outlying.options import Options
from outlying.stream import counting
from outlying.stream.counting import Sketch
from outlying.stream.lookups import Lookup
from outlying.stream.profile import Profile, ProfilePass, ProfileState, fields_of, finish
from outlying.table import row_hash, selection
from outlying.table.columns import Column
from outlying.table.row_hash import splitmix64
from outlying.table.selection import is_asked_for, select_any
from outlying.table.table import SkippedColumn, SkipReason, Table
from outlying.table.targets import RowRequest

REALS = [0.0, -0.0, 1.0, 2.5, 1e300, math.nan]
DAY = dt.datetime(2024, 5, 17, 8, 30)
CELLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "whole": (pa.int64(), [0, 1, -5, 7]),
    "amount": (pa.int64(), [1, 2, 3, 4, 5, 6, 7, 2**53 + 1, 10**17 - 1]),
    "key": (pa.int64(), [1, 2**53 + 1, 2**53 + 2, -(2**60)]),
    "long key": (pa.uint64(), [1, 2**53 + 1, 2**64 - 1]),
    "small": (pa.uint8(), [0, 1, 255]),
    "real": (pa.float64(), REALS),
    "whole real": (pa.float64(), [0.0, 1.0, 7.0, math.nan]),
    "huge real": (pa.float64(), [0.0, 1e17, math.nan]),
    "infinite": (pa.float64(), [0.0, 2.0, math.inf, -math.inf]),
    "single": (pa.float32(), [0.1, 0.5, 2.0]),
    "decimal": (pa.decimal128(20, 2), [decimal.Decimal("1.10"), decimal.Decimal("3.00")]),
    "text": (pa.string(), ["a", "b", "12", "", "ß", "x" * 20]),
    "long text": (pa.large_string(), ["a", "b"]),
    "label": (pa.dictionary(pa.int32(), pa.string()), ["a", "b", "c"]),
    "flag": (pa.bool_(), [True, False]),
    "date": (pa.date32(), [dt.date(1969, 1, 1), dt.date(2024, 5, 17)]),
    "moment": (pa.timestamp("ms"), [DAY, dt.datetime(1960, 1, 1)]),
    "instant": (pa.timestamp("us", "Europe/Rome"), [DAY, DAY.replace(year=1950)]),
    "time": (pa.time64("us"), [dt.time(8, 30), dt.time(23, 59, 59, 5)]),
    "duration": (pa.duration("us"), [dt.timedelta(days=-1), dt.timedelta(seconds=3)]),
    "nothing": (pa.null(), [None]),
    "list": (pa.list_(pa.int64()), [[1], []]),
}


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 30) -> pa.Table:
    """A table of at least two rows, some of them copies, of columns of any type."""
    rows = draw(st.integers(2, max_rows))
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5, unique=True))
    if names == ["list"]:
        names.append("flag")
    columns = {}
    for name in names:
        kind, values = CELLS[name]
        cells = (
            st.sampled_from(values) | st.none() if draw(st.booleans()) else st.sampled_from(values)
        )
        columns[name] = pa.array(draw(st.lists(cells, min_size=rows, max_size=rows)), kind)
    return pa.table(columns)


@st.composite
def types(draw: st.DrawFn) -> dict[str, str]:
    return draw(
        st.fixed_dictionaries(
            {},
            optional={
                "whole": st.sampled_from(["categorical", "numeric"]),
                "key": st.sampled_from(["categorical", "numeric"]),
                "amount": st.sampled_from(["categorical", "numeric"]),
                "real": st.just("categorical"),
                "flag": st.sampled_from(["numeric", "categorical"]),
                "date": st.sampled_from(["categorical", "datetime"]),
                "decimal": st.just("categorical"),
                "label": st.just("categorical"),
            },
        )
    )


def states_of(
    plan: ProfilePass, table: pa.Table, chance: random.Random, *, pickled: bool = False
) -> ProfileState:
    """Shuffle rows, cut them anywhere, give the parts to several states, merge in any order."""
    order = list(range(len(table)))
    chance.shuffle(order)
    cuts = sorted(chance.randint(0, len(table)) for _ in range(chance.randint(0, 6)))
    shuffled = table.take(pa.array(order, pa.int64()))
    states = [plan.start() for _ in range(chance.randint(1, 4))]
    for start, end in zip([0, *cuts], [*cuts, len(table)], strict=True):
        part = shuffled.slice(start, end - start).combine_chunks()
        place = chance.randrange(len(states))
        for batch in part.to_batches() or [pa.RecordBatch.from_pylist([], part.schema)]:
            states[place] = plan.add(states[place], batch)
    while len(states) > 1:
        chance.shuffle(states)
        one, other = states.pop(), states.pop()
        if pickled:
            one, other = pickle.loads(pickle.dumps((one, other)))  # noqa: S301
        states.append(plan.merge(one, other))
    return states[0]


def profile_of(
    table: pa.Table,
    options: Options,
    *,
    seed: int | None = None,
    most: int | None = None,
    sample: int | None = None,
    where: Any = None,
    meaning: str = "one",
) -> Profile:
    plan = plan_of(table.schema, options)
    if most is not None and sample is not None:
        plan = dataclasses.replace(plan, sketch_size=most, sample_size=sample)
    fields = fields_of("t", table.schema, options)[0]
    lookup = None
    if where is not None:  # checked before any row is read
        lookup = Lookup.of(asked_of(where, meaning), fields, plan.unread)
    profile = finish(plan, state_of(plan, table, seed), named(plan))
    if lookup is None:
        return profile
    return lookup.finish(state_of(lookup, table, seed), profile)


def plan_of(schema: pa.Schema, options: Options, skipped: Any = ()) -> ProfilePass:
    fields, unusable = fields_of("t", schema, options)
    return ProfilePass.of(options, fields, [*skipped, *unusable])


def named(plan: ProfilePass) -> Table:
    return Table((), 0, "t", plan.unread)


def asked_of(where: Any, meaning: str) -> RowRequest:
    if meaning == "every":
        return RowRequest(every=where)
    if meaning == "each":
        return RowRequest.many(rows=None, where=where, objects=None)
    return RowRequest.one(row=None, where=where, object=None)


def state_of(plan: Any, table: pa.Table, seed: int | None) -> Any:
    plan = pickle.loads(pickle.dumps(plan))  # noqa: S301
    if seed is not None:
        return states_of(plan, table, random.Random(seed), pickled=True)
    state = plan.start()
    for batch in table.to_batches():
        state = plan.add(state, batch)
    return state


def in_memory(table: pa.Table, options: Options) -> Table:
    return outlying.Explainer(table, **options.to_dict()).table


def cells_of(columns: Any, rows: Any) -> dict[str, Any]:
    """Return what some rows of columns hold, those of columns without values apart."""

    def plain(value: Any) -> Any:
        return ("zero",) if isinstance(value, float) and value == 0 else value

    found = {c.name: (c.form, [plain(c.value(int(row))) for row in rows]) for c in columns}
    return {
        name: (form if any(value is not None for value in values) else None, values)
        for name, (form, values) in found.items()
    }


def seen(profile: Profile) -> Any:
    rows = range(profile.table.rows)
    facts = {name: repr(found) for name, found in profile.facts.items()}
    counts = (
        profile.rows,
        profile.drawn,
        profile.skipped,
        profile.table.notes,
        profile.other_values,
    )
    return cells_of(profile.table.columns, rows), facts, counts, profile.fields


# --- as in memory ---------------------------------------------------------------------------


@settings(max_examples=300)
@given(tables(), types(), st.sampled_from([(65_536, 16_384), (12, 7), (6, 6), (3, 3), (40, 5)]))
def test_a_stream_gives_what_memory_gives(
    table: pa.Table, declared: dict[str, str], sizes: tuple[int, int]
) -> None:
    kept = {name: kind for name, kind in declared.items() if name in table.column_names}
    options = Options.of(types=kept, infinite="missing")
    most, sample = sizes
    found = profile_of(table, options, most=most, sample=sample)
    memory = in_memory(table, options)
    asked = [column for column in memory.columns if is_asked_for(column.name, options)]
    rows = row_hash.sample_rows(asked, memory.rows, sample, most)
    drawn = cells_of(found.table.columns, range(found.drawn))
    assert drawn == cells_of(asked, rows)
    assert found.rows == len(table)
    assert found.is_whole == (sample >= len(table) and most >= len(table))
    assert found.skipped == select_any(memory, options).skipped
    assert set(found.table.notes) >= set(memory.notes)
    for column in asked:
        assert found.facts[column.name].missing == np.count_nonzero(column.missing())
        check_range(column, found)


def check_range(column: Column, found: Profile) -> None:
    facts = found.facts[column.name]
    if facts.distinct is not None:
        values = {column.value(row) for row in range(len(column))} - {None}
        assert (facts.distinct, facts.is_exact) == (len(values), True)
    elif facts.missing < found.rows:
        known = column.values[~column.missing()]  # type: ignore[union-attr]
        assert (facts.low, facts.high) == (known.min(), known.max())


@settings(max_examples=200)
@given(
    tables(), types(), st.integers(0, 10**6), st.sampled_from([(65_536, 16_384), (9, 6), (4, 4)])
)
def test_order_cuts_and_merges_change_nothing(
    table: pa.Table, declared: dict[str, str], seed: int, sizes: tuple[int, int]
) -> None:
    kept = {name: kind for name, kind in declared.items() if name in table.column_names}
    options = Options.of(types=kept, infinite="missing")
    most, sample = sizes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "MOST_TEXTS", 2)
        plain = profile_of(table, options, most=most, sample=sample)
        mixed = profile_of(table, options, most=most, sample=sample, seed=seed)
    assert seen(plain) == seen(mixed)


def test_a_large_table_is_sampled_as_in_memory() -> None:
    rng = np.random.default_rng(3)
    rows = 90_000
    table = pa.table(
        {
            "x": rng.normal(size=rows).round(3),
            "k": rng.integers(40, size=rows),
            "c": rng.choice(["a", "b", "c"], rows),
            "id": [f"id {number}" for number in range(rows)],
        }
    )
    for exclude in ([], ["id"], ["id", "x"]):
        options = Options.of(exclude=exclude)
        memory = in_memory(table, options)
        asked = [column for column in memory.columns if is_asked_for(column.name, options)]
        given: dict[str, Any] = {"most": row_hash.SKETCH_SIZE, "sample": 16_384}
        found = profile_of(table, options, seed=len(exclude), **given)
        expected = cells_of(asked, row_hash.sample_rows(asked, rows, 16_384))
        assert cells_of(found.table.columns, range(found.drawn)) == expected
        assert (found.drawn, found.rows, found.is_whole) == (16_384, rows, False)
        assert found.skipped == select_any(memory, options).skipped
        assert found.table.notes == ()


def test_odd_names_are_names() -> None:
    names = ['a"b', "a'b", "sel ect", "%s", "ü", "", "a.b", "`x`"]
    table = pa.table([pa.array([place, 1, 2]) for place in range(len(names))], names=names)
    found = profile_of(table, Options.of(), where={'a"b': 0})
    assert found.table.names == names
    assert found.table.values(3) == {name: place for place, name in enumerate(names)}


def test_texts_of_all_kinds_are_the_same_texts() -> None:
    cells = ["a", None, "b", "12", "a"]
    kinds_of_text = [pa.string(), pa.large_string(), pa.string_view()]
    kinds_of_text += [pa.dictionary(pa.int8(), pa.string())]
    found = []
    for kind in kinds_of_text:
        table = pa.table({"c": pa.array(cells, type=kind), "n": range(5)})
        found.append(seen(profile_of(table, Options.of(), where={"c": "b"})))
    assert all(other == found[0] for other in found)


# --- what all rows tell ---------------------------------------------------------------------


def test_a_column_is_left_out_by_what_all_rows_hold() -> None:
    rows = 1000
    table = pa.table(
        {
            "nearly": [1] * (rows - 1) + [2],
            "same": ["x"] * rows,
            "nothing": pa.array([None] * rows, pa.int64()),
            "name": [f"n{row}" for row in range(rows)],
            "list": [[1]] * rows,
            "unasked": [[2]] * rows,
            "x": range(0, 2 * rows, 2),
        }
    )
    options = Options.of(exclude=["unasked"])
    found = profile_of(table, options, most=20, sample=5)
    names = ("list", "same", "nothing", "name")
    assert [column.name for column in found.skipped] == list(names)
    assert found.skipped == select_any(in_memory(table, options), options).skipped
    assert [column.name for column in found.selection.columns] == ["nearly", "x"]


def test_many_texts_are_counted_up_to_a_limit_and_then_estimated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counting, "MOST_TEXTS", 1000)
    monkeypatch.setattr(selection, "MOST_TEXTS", 1000)
    texts = [f"text {number}" for number in range(20_000)] * 2
    few = [f"t{number % 1000}" for number in range(40_000)]
    table = pa.table({"many": texts, "few": few, "declared": texts, "x": range(40_000)})
    options = Options.of(types={"declared": "categorical"})
    found = profile_of(table, options, seed=2)
    assert (found.facts["few"].distinct, found.facts["few"].is_exact) == (1000, True)
    many = found.facts["many"]
    assert not many.is_exact
    assert many.distinct == pytest.approx(20_000, rel=0.15)
    skipped = {column.name: column for column in found.skipped}
    assert set(skipped) == {"many", "declared"}
    for column in skipped.values():  # to declare a type is no remedy, and is not said to be one
        assert column.reason.startswith("has about ")
        assert "in a stream (at most 1,000, whatever type is declared)" in column.reason
        assert column.why is SkipReason.TOO_MANY_IN_STREAM
    in_all = select_any(in_memory(table, options), options)
    assert [(column.name, column.why) for column in in_all.skipped if column.name != "x"] == [
        ("many", SkipReason.TOO_MANY_TEXTS)
    ]


def test_keys_beyond_2_53_are_texts_and_said_so() -> None:
    table = pa.table({"key": [5, 2**53 + 1, 2**53 + 3, None], "x": [1.0, 2.0, 3.0, 4.0]})
    found = profile_of(table, Options.of(), where={"key": 2**53 + 3}, seed=1)
    assert found.table.values(4) == {"key": str(2**53 + 3), "x": 3.0}
    assert found.table.notes == (
        "Column 'key': whole numbers beyond 2**53 were read as categories.",
    )
    assert profile_of(table, Options.of(), where={"key": str(2**53 + 1)}).table.values(4)["x"] == 2
    number = profile_of(table, Options.of(types={"key": "numeric"}))
    assert number.table.column("key").form == "number"


def test_infinite_values_are_refused_or_counted() -> None:
    table = pa.table({"a": [1.0, 2.0, 3.0], "b": [math.inf, 1.0, -math.inf], "c": [1, 1, 2]})
    with pytest.raises(InfiniteValueError, match="column 'b' has an infinite value in some row"):
        profile_of(table, Options.of())
    found = profile_of(table, Options.of(infinite="missing"))
    assert found.table.notes == ("Column 'b': 2 infinite values count as missing.",)
    assert found.facts["b"].missing == 2
    excluded = profile_of(table, Options.of(exclude=["b"]), where={"b": math.inf})
    assert excluded.other_values == ({"b": math.inf},)


def test_rows_that_are_repeated_very_often_are_spoken_of() -> None:
    rng = np.random.default_rng(1)
    often = np.where(rng.random(20_000) < 0.5, 0.0, rng.normal(size=20_000))
    evenly = rng.integers(5000, size=20_000)
    options = Options.of()
    said = profile_of(pa.table({"x": often}), options, most=500, sample=100).table.notes
    assert len(said) == 1
    assert "repeated very often" in said[0]
    assert "500 of about 10," in said[0] or "500 of about 9," in said[0]
    for cells in (evenly, rng.normal(size=20_000), rng.integers(100, size=20_000)):
        assert profile_of(pa.table({"x": cells}), options, most=500, sample=100).table.notes == ()


def test_a_table_without_rows_is_refused() -> None:
    table = pa.table({"x": pa.array([], pa.int64())})
    with pytest.raises(SourceError, match="t: there are no rows"):
        profile_of(table, Options.of())


# --- the plan -------------------------------------------------------------------------------


def test_only_what_is_asked_for_is_read() -> None:
    table = pa.table({"a": [1, 2], "b": [1, 2], "key": ["x", "y"], "list": [[1], [2]]})
    options = Options.of(columns=["a", "list"])
    assert [field.name for field in plan_of(table.schema, options).fields] == ["a"]
    found = profile_of(table, options, where={"key": "y"})
    assert found.table.names == ["a"]
    assert found.other_values == ({"key": "y"},)
    reason = "holds lists, which cannot be compared"
    assert found.skipped[0] == SkippedColumn("list", reason)


@pytest.mark.parametrize(
    "option", [{"exclude": ["y"]}, {"columns": ["y"]}, {"types": {"y": "numeric"}}]
)
def test_unknown_columns_are_refused(option: Any) -> None:
    schema = pa.schema({"x": pa.int64()})
    with pytest.raises(ColumnError, match="unknown column 'y'"):
        plan_of(schema, Options.of(**option))


def test_there_must_be_something_to_compare() -> None:
    schema = pa.schema({"x": pa.int64(), "list": pa.list_(pa.int64())})
    with pytest.raises(ColumnError, match="no column is left to compare: 'list' holds lists"):
        plan_of(schema, Options.of(columns=["list"]))
    with pytest.raises(ColumnError, match="columns 1 and 2 are both called 'x'"):
        plan_of(pa.schema([("x", pa.int64()), ("x", pa.int64())]), Options.of())


def test_columns_that_the_feeder_left_out_are_listed() -> None:
    gone = SkippedColumn("point", "holds records, which cannot be compared")
    plan = plan_of(pa.schema({"x": pa.int64()}), Options.of(), [gone])
    state = plan.add(plan.start(), pa.record_batch({"x": [1, 2]}))
    assert finish(plan, state, named(plan)).skipped == (gone,)


def test_a_wrong_type_names_column_and_value() -> None:
    table = pa.table({"x": ["1", "zwei", "3"]})
    with pytest.raises(ColumnError, match=r"column 'x' cannot be read as number.*'zwei'"):
        profile_of(table, Options.of(types={"x": "numeric"}))
    with pytest.raises(ColumnError, match=r"cannot be read as datetime.*'5'"):
        profile_of(pa.table({"x": [5, 6]}), Options.of(types={"x": "datetime"}))


# --- rows that are looked for ---------------------------------------------------------------

PEOPLE = pa.table(
    {
        "id": pa.array([10, 11, 12, 13, 13, None], pa.int64()),
        "city": ["Rom", "Bari", "Rom", "Rom", "Rom", None],
        "size": [1.5, 0.0, math.nan, 2.0, 2.0, 7.0],
        "flag": [True, False, True, None, None, True],
        "day": pa.array([dt.date(2024, 1, day) for day in range(1, 7)]),
    }
)


@pytest.mark.parametrize(
    ("where", "row"),
    [
        ({"id": 10}, 0),
        ({"id": 11.0}, 1),
        ({"id": np.int64(12)}, 2),
        ({"id": None}, 5),
        ({"city": "Bari"}, 1),
        ({"city": None}, 5),
        ({"size": -0.0}, 1),
        ({"size": 0}, 1),
        ({"size": math.nan}, 2),
        ({"flag": False}, 1),
        ({"flag": np.False_}, 1),
        ({"day": dt.date(2024, 1, 4)}, 3),
        ({"day": "2024-01-05"}, 4),
        ({"city": "Rom", "flag": True, "size": 1.5}, 0),
    ],
)
def test_a_row_is_found_by_what_it_holds(where: dict[str, Any], row: int) -> None:
    found = profile_of(PEOPLE, Options.of(), where=where, seed=row)
    memory = in_memory(PEOPLE, Options.of())
    assert memory.find(where) == row
    assert found.table.rows == found.drawn + 1
    assert cells_of(found.table.columns, [found.drawn]) == cells_of(memory.columns, [row])


@pytest.mark.parametrize(
    "where", [{"id": "x"}, {"id": "10"}, {"id": True}, {"city": 1.5}, {"flag": 1}, {"day": 3}, {}]
)
def test_wrong_values_are_refused_as_in_memory(where: dict[str, Any]) -> None:
    with pytest.raises(RowError) as expected:
        sources.read(PEOPLE).find(where)
    with pytest.raises(RowError) as raised:
        profile_of(PEOPLE, Options.of(), where=where)
    assert str(raised.value) == str(expected.value)


def test_exactly_one_row_must_be_found() -> None:
    with pytest.raises(RowError, match="no row has id = 99; check the value"):
        profile_of(PEOPLE, Options.of(), where={"id": 99})
    with pytest.raises(RowError, match=r"^2 rows have id = 13; add a column to where"):
        profile_of(PEOPLE, Options.of(), where={"id": 13})
    with pytest.raises(RowError, match=r"^where\[1\]: no row has id = 9; check the value"):
        profile_of(PEOPLE, Options.of(), where=[{"id": 10}, {"id": 9}], meaning="each")
    with pytest.raises(RowError, match=r"^where\[0\]: where: column 'id' expects a number"):
        profile_of(PEOPLE, Options.of(), where=[{"id": "a"}], meaning="each")
    with pytest.raises(OptionError, match=r"where\[0\].*allowed: a mapping"):
        profile_of(PEOPLE, Options.of(), where=[3], meaning="each")
    with pytest.raises(ColumnError, match="unknown column 'idd'; did you mean 'id'"):
        profile_of(PEOPLE, Options.of(), where={"idd": 3})


def test_several_rows_come_in_the_order_of_the_wheres() -> None:
    asked = [{"id": 12}, {"city": "Bari"}, {"id": 10}, {"id": 12}, {"city": "Rom", "size": 1.5}]
    found = profile_of(PEOPLE, Options.of(), where=asked, meaning="each", seed=5)
    ids = [found.table.values(row)["id"] for row in range(found.drawn, found.table.rows)]
    assert ids == [12, 11, 10, 12, 10]
    none = profile_of(PEOPLE, Options.of(), where=[], meaning="each")
    assert none.table.rows == none.drawn


def test_one_where_may_stand_for_every_row_with_its_values() -> None:
    options = Options.of(exclude=["city"])
    found = profile_of(PEOPLE, options, where={"city": "Rom"}, meaning="every", seed=8)
    rows = [found.table.values(row) for row in range(found.drawn, found.table.rows)]
    assert sorted(row["id"] for row in rows) == [10, 12, 13, 13]  # type: ignore[type-var]
    assert found.other_values == ({"city": "Rom"},) * 4
    with pytest.raises(RowError, match="no row has id = 1; check the value"):
        profile_of(PEOPLE, Options.of(), where={"id": 1}, meaning="every")


@pytest.mark.parametrize("seed", range(3))
def test_one_where_may_not_stand_for_too_many(seed: int) -> None:
    table = pa.table({"c": ["a"] * 10_001 + ["b"] * 10_000, "x": range(20_001)})
    found = profile_of(table, Options.of(), where={"c": "b"}, meaning="every", seed=seed)
    assert found.table.rows - found.drawn == 10_000
    with pytest.raises(RowError, match="10,001 rows have c = a; at most 10,000"):
        profile_of(table, Options.of(), where={"c": "a"}, meaning="every", seed=seed)


def test_a_thousand_wheres_are_found() -> None:
    rows = 30_000
    table = pa.table({"id": [f"k{row}" for row in range(rows)], "n": range(rows)})
    asked = [{"id": f"k{row}"} for row in range(0, rows, 25)]
    found = profile_of(table, Options.of(), where=asked, meaning="each", seed=1)
    numbers = [found.table.values(row)["n"] for row in range(found.drawn, found.table.rows)]
    assert numbers == list(range(0, rows, 25))


def test_declared_columns_are_looked_up_as_declared() -> None:
    table = pa.table({"code": [1.0, 2.0, None, 2.5], "n": ["1", "2", "x", "4"], "i": [1, 2, 3, 4]})
    options = Options.of(types={"code": "categorical", "i": "categorical"})
    for where, row in (({"code": "2.5"}, 3), ({"i": "2"}, 1), ({"i": 3}, 2), ({"code": "1.0"}, 0)):
        found = profile_of(table, options, where=where)
        assert found.table.values(4) == in_memory(table, options).values(row)
    codes = pa.table({"code": [1.0, 2.0, None]})
    found = profile_of(codes, Options.of(types={"code": "categorical"}), where={"code": "2"})
    assert found.table.values(3) == {"code": "2"}


# --- what is kept ---------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(0, 200), max_size=30), max_size=6), st.integers(1, 40))
def test_distinct_things_are_counted_or_estimated(parts: list[list[int]], most: int) -> None:
    total = Sketch(most)
    for part in parts:
        one = Sketch(most)
        one.add(splitmix64(np.array(part, dtype=np.uint64)))
        total.merge(one)
    together = Sketch(most)
    numbers = [number for part in parts for number in part]
    together.add(splitmix64(np.array(numbers, dtype=np.uint64)))
    distinct = Counter(splitmix64(np.array(numbers, dtype=np.uint64)).tolist())
    assert total.hashes.tolist() == together.hashes.tolist() == sorted(distinct)[:most]
    assert total.copies.tolist() == [distinct[own] for own in total.hashes.tolist()]
    assert together.copies.tolist() == total.copies.tolist()
    assert total.is_whole == (len(distinct) < most)
    assert total.distinct == len(distinct) or not total.is_whole


def test_a_state_on_its_way_holds_no_more_than_it_keeps() -> None:
    rng = np.random.default_rng(0)
    plan = dataclasses.replace(
        plan_of(pa.schema({"x": pa.float64()}), Options.of()), sketch_size=100, sample_size=50
    )
    state = plan.start()
    for _ in range(20):
        state = plan.add(state, pa.record_batch({"x": rng.normal(size=5000)}))
    sent = pickle.dumps(state)
    assert len(sent) < 100 * 8 * 4 + 4000
    again = pickle.loads(sent)  # noqa: S301
    assert seen(finish(plan, again, named(plan))) == seen(finish(plan, state, named(plan)))
