"""Typed columns: what they hold, how they grow, how rows are found, how types are overruled."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying import sources
from outlying.errors import ColumnError, InfiniteValueError, ObjectError, RowError
from outlying.sources.columns import Field
from outlying.table.columns import (
    CategoricalColumn,
    NumericColumn,
    categorical_column,
    integer_column,
    numeric_column,
)
from outlying.table.row_hash import row_hashes
from outlying.table.table import SkippedColumn, Table

AGE = integer_column("age", np.array([31, 0, 31, 47]), np.array([False, True, False, False]))
CITY = categorical_column("city", ["Rome", "Oslo", None, "Rome"])
FLAG = categorical_column("flag", [True, False, None, True], "boolean")
BORN = numeric_column("born", [0.0, 86_400_000_000.0, np.nan, 0.0], "date")
TABLE = Table((AGE, CITY, FLAG, BORN), 4, "here", (SkippedColumn("tags", "holds lists"),))


def values_of(column: NumericColumn | CategoricalColumn) -> list[Any]:
    return [column.value(row) for row in range(len(column))]


def test_columns_give_values_as_people_know_them() -> None:
    assert values_of(AGE) == [31, None, 31, 47]
    assert values_of(CITY) == ["Rome", "Oslo", None, "Rome"]
    assert values_of(FLAG) == [True, False, None, True]
    assert values_of(BORN) == [dt.date(1970, 1, 1), dt.date(1970, 1, 2), None, dt.date(1970, 1, 1)]
    assert TABLE.names == ["age", "city", "flag", "born"]
    assert TABLE.values(1) == {
        "age": None, "city": "Oslo", "flag": False, "born": dt.date(1970, 1, 2),
    }  # fmt: skip


def test_labels_are_sorted_and_codes_point_to_them() -> None:
    assert isinstance(CITY, CategoricalColumn)
    assert CITY.labels == ("Oslo", "Rome")
    assert CITY.codes.tolist() == [1, 0, -1, 1]
    assert CITY.missing().tolist() == [False, False, True, False]


def test_arrays_are_read_only() -> None:
    source = np.array([1.0, 2.0])
    column = numeric_column("a", source)
    source[0] = 9.0
    assert column.values.tolist() == [1.0, 2.0]
    for array in (column.values, CITY.codes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


@pytest.mark.parametrize("limit", [2**53, -(2**53)])
def test_whole_numbers_are_quantities_up_to_the_last_exact_one(limit: int) -> None:
    inside = integer_column("a", np.array([limit, 0]))
    beyond = integer_column("a", np.array([limit + (1 if limit > 0 else -1), 0]))
    assert (inside.form, values_of(inside)) == ("integer", [limit, 0])
    assert (beyond.form, values_of(beyond)[1]) == ("text", "0")


@given(
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6)
    | st.lists(st.none() | st.integers(2**60, 2**70), min_size=1, max_size=6)
)
def test_whole_numbers_of_64_bits_and_keys_are_always_exact(values: list[int | None]) -> None:
    column = sources.read({"a": values, "b": [1.5] * len(values)}).column("a")
    got = values_of(column)
    assert [None if value is None else int(value) for value in got] == values
    assert column.missing().tolist() == [value is None for value in values]


@pytest.mark.parametrize("long", [2**53 + 1, -(2**63), 10**17 - 1])
def test_one_long_number_leaves_a_column_of_amounts(long: int) -> None:
    column = integer_column("a", np.array([5, 6, long, 7]))
    assert (column.form, values_of(column)) == ("integer", [5, 6, long, 7])
    assert isinstance(column, NumericColumn)
    for some in (column.taken(np.array([2, 0])), column.first(3).taken(np.array([2, 1]))):
        assert some.value(0) == long
    longer = column.with_value(2**60 + 1)
    assert values_of(longer) == [5, 6, long, 7, 2**60 + 1]
    assert values_of(column.with_value(1.5)) == [5, 6, float(long), 7, 1.5]
    assert values_of(column.with_value(None))[2:] == [long, 7, None]
    keys = categorical_column("a", [str(value) for value in (5, 6, long, 7)])
    assert row_hashes([column], 4).tolist() == row_hashes([keys], 4).tolist()


@pytest.mark.parametrize(
    ("long", "number"), [(10**23 - 1, 1e23), (-(10**400), -np.finfo(float).max)]
)
def test_numbers_beyond_64_bits_are_the_nearest(long: int, number: float) -> None:
    column = sources.read({"a": [5, 6, long, 7]}).column("a")
    assert (column.form, values_of(column)) == ("number", [5, 6, number, 7])


def test_a_missing_code_does_not_make_categories() -> None:
    column = integer_column("a", np.array([2**60, 5]), np.array([True, False]))
    assert (column.form, values_of(column)) == ("integer", [None, 5])


# New objects -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (5, "integer", 5),
        (2.5, "number", 2.5),
        (None, "integer", None),
        (math.inf, "number", math.inf),
    ],
)
def test_a_whole_column_stays_whole_as_long_as_it_is(
    value: float | None, form: str, shown: float | None
) -> None:
    column = AGE.with_value(value)
    assert (column.form, column.value(4), len(column)) == (form, shown, 5)
    assert values_of(column)[:4] == values_of(AGE)
    assert len(AGE) == 4


def test_a_new_category_finds_its_place() -> None:
    column = CITY.with_value("Paris")
    assert column.labels == ("Oslo", "Paris", "Rome")
    assert values_of(column) == ["Rome", "Oslo", None, "Rome", "Paris"]
    assert values_of(CITY.with_value(None))[-1] is None
    assert values_of(FLAG.with_value(np.bool_(False)))[-1] is False


def test_a_table_with_an_object() -> None:
    given = {"age": 5, "city": "Bern", "flag": None, "born": "1970-01-03", "tags": [1]}
    grown = TABLE.with_object(given)
    assert (grown.rows, TABLE.rows) == (5, 4)
    assert grown.values(4) == {
        "age": 5, "city": "Bern", "flag": None, "born": dt.date(1970, 1, 3),
    }  # fmt: skip
    partly = TABLE.with_object({"age": 5, "city": "Bern"}, optional=["flag", "born"])
    assert partly.values(4)["born"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agee": 1}, "the object has an unknown column 'agee'; did you mean 'age'"),
        ({"age": "old"}, r"the object's 'age' is 'old' \(str\); this column expects a number"),
        ({"age": True}, "this column expects a number"),
        ({"age": 10**400}, "this column expects a number"),
        ({"city": 5}, r"'city' is 5 \(int\); this column expects a text"),
        ({"flag": "yes"}, "this column expects true or false"),
        ({"born": 5}, "this column expects a date such as"),
    ],
)
def test_objects_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    good = {"age": 5, "city": "Bern", "flag": True, "born": None}
    with pytest.raises(ObjectError, match=message):
        TABLE.with_object({**good, **change})


def test_an_object_without_all_values() -> None:
    with pytest.raises(ObjectError, match="the object has no value for 'flag', 'born'; give"):
        TABLE.with_object({"age": 5, "city": "Bern"})


# Finding columns and rows ------------------------------------------------------------------------


def test_columns_by_name() -> None:
    assert TABLE.column("city") is CITY
    with pytest.raises(ColumnError, match="unknown column 'citi'; did you mean 'city'"):
        TABLE.column("citi")
    with pytest.raises(ColumnError, match="column 'tags' cannot be used: holds lists"):
        TABLE.column("tags")


@pytest.mark.parametrize(
    ("where", "row"),
    [
        ({"age": 47}, 3),
        ({"age": 31, "city": None}, 2),
        ({"city": "Oslo"}, 1),
        ({"flag": False}, 1),
        ({"born": dt.date(1970, 1, 2)}, 1),
        ({"born": "1970-01-02"}, 1),
        ({"age": None}, 1),
    ],
)
def test_rows_by_value(where: dict[str, Any], row: int) -> None:
    assert TABLE.find(where) == row


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({}, "where is empty"),
        ({"age": 5}, "no row has age = 5; check the value"),
        ({"city": "Bern"}, "no row has city = Bern"),
        ({"age": 31}, r"2 rows have age = 31 \(data rows 1, 3, counted from 1\); add a column"),
        ({"age": "x"}, "where: column 'age' expects a number, got 'x'"),
        ({"flag": 1}, "where: column 'flag' expects true or false, got 1"),
    ],
)
def test_rows_that_cannot_be_found(where: dict[str, Any], message: str) -> None:
    with pytest.raises(RowError, match=message):
        TABLE.find(where)


# Types and infinities ----------------------------------------------------------------------------


def test_types_that_change_nothing() -> None:
    assert AGE.retyped("numeric") is AGE
    assert CITY.retyped("categorical") is CITY
    assert BORN.retyped("datetime") is BORN
    assert BORN.retyped("numeric") is BORN


def test_numbers_as_categories() -> None:
    column = AGE.retyped("categorical")
    assert isinstance(column, CategoricalColumn)
    assert values_of(column) == ["31", None, "31", "47"]
    assert values_of(BORN.retyped("categorical"))[0] == "1970-01-01"


def test_texts_as_numbers_or_times() -> None:
    numbers = categorical_column("a", ["1.5", None, "-2"]).retyped("numeric")
    assert (numbers.form, values_of(numbers)) == ("number", [1.5, None, -2.0])
    times = categorical_column("a", ["2024-05-17", None, "2024-05-17T08:30"]).retyped("datetime")
    assert values_of(times) == [dt.datetime(2024, 5, 17), None, dt.datetime(2024, 5, 17, 8, 30)]
    assert values_of(FLAG.retyped("numeric")) == [1.0, 0.0, None, 1.0]


@pytest.mark.parametrize(
    ("column", "kind", "message"),
    [
        (CITY, "numeric", r"column 'city' cannot be read as number: row 0 .*'Rome'"),
        (CITY, "datetime", "'city' cannot be read as datetime"),
        (AGE, "datetime", "'age' cannot be read as datetime"),
        (numeric_column("x", [0.5]), "datetime", "'x' cannot be read as datetime"),
    ],
)
def test_types_that_do_not_fit(column: Any, kind: Any, message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        column.retyped(kind)


def test_infinite_values() -> None:
    column = numeric_column("x", [1.0, math.inf, -math.inf])
    with pytest.raises(
        InfiniteValueError, match="column 'x' has an infinite value in row 1"
    ) as got:
        column.without_infinities(as_missing=False)
    assert (got.value.column, got.value.row) == ("x", 1)
    cleaned, note = column.without_infinities(as_missing=True)
    said = "Column 'x': 2 infinite values count as missing."
    assert (values_of(cleaned), note) == ([1.0, None, None], said)
    assert CITY.without_infinities(as_missing=False) == (CITY, None)
    assert AGE.without_infinities(as_missing=False) == (AGE, None)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_numbers_declared_categories_are_as_distinct_as_they_were(numbers: list[float]) -> None:
    column = numeric_column("x", numbers).retyped("categorical")
    assert isinstance(column, CategoricalColumn)
    assert len(column.labels) == len({number + 0.0 for number in numbers})
    streamed = Field("x", "number", "categorical").column(pa.array(numbers))
    assert values_of(streamed) == values_of(column)


def test_close_numbers_declared_categories_keep_short_labels_where_they_can() -> None:
    column = numeric_column("x", [1234567.1, 1234567.2, 0.1, 3.0]).retyped("categorical")
    assert values_of(column) == ["1234567.1", "1234567.2", "0.1", "3.0"]
