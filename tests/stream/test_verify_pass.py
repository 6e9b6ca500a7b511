"""The verify pass counts what a loop over rows counts, however a table is cut and put together."""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlying.method.distribution import Distribution
from outlying.sources.columns import Field
from outlying.stream.histograms import CategoricalGroup, Grid, NumericGroup
from outlying.stream.judging import ColumnReader
from outlying.stream.verify import (
    Answers,
    ColumnPlan,
    Conjunction,
    Query,
    ValueTest,
    VerifyPass,
    VerifyState,
)
from outlying.table.values import Form

Row = dict[str, Any]

NUMBERS = [-2.5, -0.0, 0.0, 0.125, 1.0, 1.5, 7.0, 1e300, None, math.nan]
WHOLE = [-3, 0, 1, 2, 2, 9, None]
LABELS = ["a", "b", "ß", 'it\'s "x"', None]
NAMES = {"real": "a 'real'", "whole": "whole.number", "word": 'w"ord', "flag": "flag %"}


def reader(name: str, form: Form) -> ColumnReader:
    return ColumnReader(Field(name, form))


def grid(numbers: list[float], bins: int = 64) -> Grid:
    ordered = np.sort(np.array(numbers))
    return Grid.of(ordered, float(ordered[0]), float(ordered[-1]), bins)


KNOWN = [float(x) for x in NUMBERS if x is not None and not math.isnan(x)]
#: How many distinct values are counted one by one.
LIMITS = [0, 3, 100]

ROWS = st.fixed_dictionaries(
    {
        NAMES["real"]: st.sampled_from(NUMBERS),
        NAMES["whole"]: st.sampled_from(WHOLE),
        NAMES["word"]: st.sampled_from(LABELS),
        NAMES["flag"]: st.sampled_from([True, False, None]),
    }
)
SCHEMA = pa.schema(
    [
        (NAMES["real"], pa.float64()),
        (NAMES["whole"], pa.int32()),
        (NAMES["word"], pa.string()),
        (NAMES["flag"], pa.bool_()),
    ]
)

INTERVALS = st.builds(
    lambda column, ends: ValueTest(column, "interval", min(ends), max(ends)),
    st.sampled_from([NAMES["real"], NAMES["whole"]]),
    st.tuples(*[st.sampled_from([-math.inf, -2.5, 0.0, 1.0, 2.0, 1e300, math.inf])] * 2),
)
EQUALS = st.builds(
    lambda label: ValueTest(NAMES["word"], "equals", label=label), st.sampled_from(["a", "ß", "zz"])
) | st.builds(lambda label: ValueTest(NAMES["flag"], "equals", label=label), st.booleans())
GAPS = st.builds(ValueTest, st.sampled_from(list(NAMES.values())), st.just("missing"))
CONTEXTS = st.lists(INTERVALS | EQUALS | GAPS, max_size=4).map(frozenset)
QUERIES = st.lists(
    st.builds(Query, st.sampled_from([NAMES["real"], NAMES["whole"]]), st.just("numbers"), CONTEXTS)
    | st.builds(Query, st.sampled_from([NAMES["word"], NAMES["flag"]]), st.just("labels"), CONTEXTS)
    | st.builds(Query, st.sampled_from(list(NAMES.values())), st.just("missing"), CONTEXTS),
    max_size=6,
).map(tuple)


CONDITIONS = st.lists(INTERVALS | EQUALS | GAPS, max_size=6, unique=True).map(tuple)


def plan(queries: tuple[Query, ...], conditions: tuple[ValueTest, ...], limit: int) -> VerifyPass:
    columns = {
        NAMES["real"]: ColumnPlan(reader(NAMES["real"], "number"), grid(KNOWN), limit),
        NAMES["whole"]: ColumnPlan(reader(NAMES["whole"], "integer"), grid([-3.0, 9.0]), 13),
        NAMES["word"]: ColumnPlan(reader(NAMES["word"], "text")),
        NAMES["flag"]: ColumnPlan(reader(NAMES["flag"], "boolean")),
    }
    return VerifyPass(columns, queries, conditions)


PLANS = st.builds(plan, QUERIES, CONDITIONS, st.sampled_from(LIMITS))


def batch(rows: list[Row], schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def folded(work: VerifyPass, parts: list[list[Row]], schema: pa.Schema = SCHEMA) -> VerifyState:
    state = work.start()
    for part in parts:
        state = work.add(state, batch(part, schema))
    return state


def is_known(cell: Any) -> bool:
    return cell is not None and cell == cell


def satisfies(row: Row, rule: ValueTest) -> bool:
    cell = row[rule.column]
    if rule.kind == "missing":
        return not is_known(cell)
    if rule.kind == "equals":
        return bool(cell == rule.label)
    return is_known(cell) and rule.low <= cell <= rule.high


def naive(rows: list[Row], rules: Conjunction) -> list[Row]:
    return [row for row in rows if all(satisfies(row, rule) for rule in rules)]


def same_numbers(group: NumericGroup, cells: list[Any], own: ColumnPlan, distinct: int) -> None:
    seen = group.found
    assert np.all(seen.lows <= seen.values)
    assert np.all(seen.values <= seen.highs)
    assert np.all(np.diff(seen.values) >= 0)
    if distinct <= own.limit:
        counts = Counter(float(cell) + 0.0 for cell in cells)
        assert seen.lows is seen.values is seen.highs
        assert dict(zip(seen.values.tolist(), seen.rows.tolist(), strict=True)) == counts
        return
    assert own.grid is not None
    edges = own.grid.edges()
    codes = Counter(int(own.grid.codes(np.array([cell]))[0]) for cell in cells)
    expected = sorted((edges.values[c], edges.lows[c], edges.highs[c], n) for c, n in codes.items())
    assert [*zip(seen.values, seen.lows, seen.highs, seen.rows, strict=True)] == expected


def check(work: VerifyPass, verified: Answers, rows: list[Row]) -> None:
    """Compare with loops over rows."""
    assert verified.rows == len(rows)
    assert list(verified.counts) == list(work.conditions)
    for own, count in verified.counts.items():
        assert count == len(naive(rows, frozenset([own])))
    assert list(verified.ends) == [own for own in verified.counts if own.kind == "interval"]
    for own, (low, high) in verified.ends.items():
        numbers = [row[own.column] for row in naive(rows, frozenset([own]))]
        assert low == min(numbers, default=math.inf)
        assert high == max(numbers, default=-math.inf)
    assert set(verified.groups) == set(work.queries)
    for query, seen in verified.groups.items():
        inside = naive(rows, query.context)
        cells = [row[query.column] for row in inside if is_known(row[query.column])]
        assert seen.rows == len(inside)
        if query.kind == "missing":
            assert isinstance(seen, CategoricalGroup)
            expected = {"known": len(cells), "missing": len(inside) - len(cells)}
            assert seen.rows_of == {label: rows for label, rows in expected.items() if rows}
            continue
        if isinstance(seen, CategoricalGroup):
            assert [*zip(seen.labels, seen.counts, strict=True)] == sorted(Counter(cells).items())
            continue
        everything = {row[query.column] for row in rows if is_known(row[query.column])}
        same_numbers(seen, cells, work.plans[query.column], len(everything))


def same(one: Answers, other: Answers) -> bool:
    """Return whether two results are the same to the last bit."""
    return pickle.dumps(plain(one)) == pickle.dumps(plain(other))


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tobytes()
    if isinstance(value, dict):
        return sorted((repr(key), plain(part)) for key, part in value.items())
    if dataclasses.is_dataclass(value):
        return [plain(getattr(value, field.name)) for field in dataclasses.fields(value)]
    return repr(value)


def cut(data: st.DataObject, rows: list[Row]) -> list[list[Row]]:
    ends = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=5)))
    return [rows[a:b] for a, b in zip([0, *ends], [*ends, len(rows)], strict=True)]


@settings(max_examples=200)
@given(PLANS, st.lists(ROWS, max_size=40))
def test_it_counts_what_a_loop_counts(work: VerifyPass, rows: list[Row]) -> None:
    check(work, work.finish(folded(work, [rows])), rows)


@settings(max_examples=200)
@given(PLANS, st.lists(ROWS, max_size=40), st.data())
def test_cuts_order_and_merges_make_no_difference(
    work: VerifyPass, rows: list[Row], data: st.DataObject
) -> None:
    whole = work.finish(folded(work, [rows]))
    shuffled = data.draw(st.permutations(rows))
    states = [folded(work, cut(data, part)) for part in cut(data, shuffled)]
    while len(states) > 1:
        one = states.pop(data.draw(st.integers(0, len(states) - 1)))
        other = states.pop(data.draw(st.integers(0, len(states) - 1)))
        if data.draw(st.booleans()):
            other = pickle.loads(pickle.dumps(other))  # noqa: S301
        states.append(work.merge(one, other))
    assert same(work.finish(states[0]), whole)


@given(PLANS, st.lists(ROWS, max_size=20), st.lists(ROWS, max_size=20))
def test_a_plan_travels(work: VerifyPass, rows: list[Row], more: list[Row]) -> None:
    there = pickle.loads(pickle.dumps(work))  # noqa: S301
    state = pickle.loads(pickle.dumps(folded(there, [rows])))  # noqa: S301
    state = work.add(state, batch(more))
    assert same(work.finish(state), work.finish(folded(work, [rows + more])))


def test_nothing_is_asked() -> None:
    work = VerifyPass({})
    verified = work.finish(folded(work, [[], [], [dict.fromkeys(NAMES.values())]]))
    assert (verified.rows, verified.groups, verified.counts) == (1, {}, {})
    assert work.fields == []


def test_only_columns_that_are_asked_for_are_read() -> None:
    conditions = (ValueTest(NAMES["flag"], "missing"),)
    asked = plan((Query(NAMES["whole"], "numbers"),), conditions, 0)
    assert sorted(field.name for field in asked.fields) == sorted([NAMES["flag"], NAMES["whole"]])


def test_the_same_question_is_counted_once() -> None:
    one, other = ValueTest("x", "missing"), ValueTest("a", "interval", 1.0, 2.0)
    asked = [Query("x", "missing", frozenset(own)) for own in ((one, other), (other, one, other))]
    plans = {"x": ColumnPlan(reader("x", "text")), "a": ColumnPlan(reader("a", "number"))}
    assert VerifyPass(plans, asked).queries == (asked[0],)


# ---- one numeric column -------------------------------------------------------------------------

BINS = 131_072
ONE = pa.schema([("x", pa.float64())])


def histograms_of(state: VerifyState) -> Any:
    return state.histograms["x", False]


def one_column(grid: Grid, limit: int, *rules: ValueTest) -> VerifyPass:
    """Ask for one column in all rows, and where each of some predicates holds."""
    queries = [Query("x", "numbers"), *(Query("x", "numbers", frozenset([own])) for own in rules)]
    return VerifyPass({"x": ColumnPlan(reader("x", "number"), grid, limit)}, queries)


def numbers(work: VerifyPass, *parts: npt.NDArray[np.float64]) -> VerifyState:
    state = work.start()
    for part in parts:
        state = work.add(state, pa.record_batch([pa.array(part)], schema=ONE))
    return state


def seen(work: VerifyPass, state: VerifyState) -> Distribution:
    answer = work.finish(state).groups[work.queries[0]]
    assert isinstance(answer, NumericGroup)
    return answer.found


@pytest.mark.parametrize("distinct", [999, 1000, 1001])
@pytest.mark.parametrize("way", ["one batch", "batches", "merge", "merge with bins"])
def test_values_are_kept_up_to_a_limit(distinct: int, way: str) -> None:
    column = np.random.default_rng(3).permutation(np.repeat(np.arange(distinct) / 7, 4))
    work = one_column(grid([0.0, 50.0, 150.0]), 1000)
    half = len(column) // 2
    ways: dict[str, Callable[[], VerifyState]] = {
        "one batch": lambda: numbers(work, column),
        "batches": lambda: numbers(work, *np.array_split(column, 9)),
        "merge": lambda: work.merge(numbers(work, column[:half]), numbers(work, column[half:])),
        "merge with bins": lambda: work.merge(numbers(work, column[:5]), numbers(work, column[5:])),
    }
    state = ways[way]()
    assert histograms_of(state).is_binned == (distinct > 1000)
    answer = seen(work, state)
    assert (answer.lows is answer.highs) == (distinct <= 1000)
    assert answer.rows.sum() == 4 * distinct
    binned = seen(one := one_column(grid([0.0, 50.0, 150.0]), 0), numbers(one, column))
    if distinct > 1000:
        assert np.array_equal(answer.rows, binned.rows)
        assert np.array_equal(answer.lows, binned.lows)


def test_gaps_and_zeros_of_any_sign() -> None:
    column = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 5.0])
    work = one_column(grid(KNOWN), 100, ValueTest("x", "missing"))
    state = numbers(work, column[:3], column[3:], column)
    answer = seen(work, state)
    assert dict(zip(answer.values, answer.rows, strict=True)) == {0.0: 4, 5.0: 2}
    groups = work.finish(state).groups
    assert [groups[query].rows for query in work.queries] == [14, 8]


def test_large_batches_are_worked_on_in_parts() -> None:
    rng = np.random.default_rng(4)
    column = rng.normal(size=600_001)
    rule = ValueTest("x", "interval", -0.5, 0.75)
    bins = Grid.of(np.sort(column[:5000]), column.min(), column.max(), BINS)
    work = one_column(bins, 0, rule)
    groups = work.finish(numbers(work, column)).groups
    whole, inside = (groups[query] for query in work.queries)
    assert isinstance(whole, NumericGroup)
    assert isinstance(inside, NumericGroup)
    assert whole.found.known == len(column)
    assert inside.rows == inside.found.known == np.count_nonzero(np.abs(column - 0.125) <= 0.625)
    assert np.all(inside.found.highs >= -0.5)
    assert np.all(inside.found.lows <= 0.75)


def test_a_state_of_few_rows_is_small_on_a_journey() -> None:
    column = np.random.default_rng(5).normal(size=2000)
    rules = [ValueTest("x", "interval", -3.0, float(high)) for high in range(-2, 3)]
    work = one_column(Grid.of(np.sort(column), column.min(), column.max(), BINS), 0, *rules)
    state = numbers(work, column)
    assert len(pickle.dumps(state)) < 200_000
    assert same(work.finish(pickle.loads(pickle.dumps(state))), work.finish(state))  # noqa: S301


def test_many_contexts_share_predicates() -> None:
    rng = np.random.default_rng(6)
    column = rng.integers(0, 100, 5000).astype(np.float64)
    rules = [ValueTest("x", "interval", float(a), float(a + 40)) for a in range(0, 60, 3)]
    sets = [frozenset(rng.choice(np.array(rules), rng.integers(1, 6))) for _ in range(400)]
    columns = {"x": ColumnPlan(reader("x", "number"), grid([0.0, 99.0]), 100)}
    asked = {each: Query("x", "numbers", each) for each in sets}
    work = VerifyPass(columns, asked.values())
    rows = [{"x": cell} for cell in column.tolist()]
    verified = work.finish(folded(work, [rows[:1111], rows[1111:]], ONE))
    for each, query in asked.items():
        assert verified.groups[query].rows == len(naive(rows, each))
