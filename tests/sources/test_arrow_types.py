"""Arrow arrays as cells: the forms, numbers and labels that the same values have in memory."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying import sources
from outlying.errors import ColumnError
from outlying.parsing.columns import decision_on
from outlying.sources import arrow_arrays as cells
from outlying.sources.arrow_arrays import Coded
from outlying.sources.columns import Field, Numbers
from outlying.table.row_hash import label_hashes
from outlying.table.values import Form
from tests.carriers import same

D = decimal.Decimal


def coded(array: Any) -> tuple[Any, list[Any]]:
    """Read categories as codes into labels."""
    found = cells.categories(array, "boolean" if pa.types.is_boolean(array.type) else "text")
    return found.codes, list(found.labels)


DAY = 86_400_000_000.0
_NEWER = [
    (getattr(pa, name)(), form)
    for name, form in {"json_": "text", "uuid": "text"}.items()
    if hasattr(pa, name)  # from Arrow 18 and 19
]


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (pa.int8(), "integer"),
        (pa.uint64(), "integer"),
        (pa.float16(), "number"),
        (pa.float64(), "number"),
        (pa.decimal128(5, 2), "number"),
        (pa.decimal256(50, 2), "number"),
        (pa.bool_(), "boolean"),
        (pa.string(), "text"),
        (pa.large_string(), "text"),
        (pa.string_view(), "text"),
        (pa.dictionary(pa.int8(), pa.string()), "text"),
        (pa.dictionary(pa.int8(), pa.int64()), "text"),
        (pa.dictionary(pa.int8(), pa.binary()), "bytes"),
        (pa.null(), "text"),
        (pa.date32(), "date"),
        (pa.date64(), "date"),
        (pa.timestamp("ns"), "datetime"),
        (pa.timestamp("s", "Asia/Tokyo"), "instant"),
        (pa.time32("s"), "time"),
        (pa.time64("ns"), "time"),
        (pa.duration("ms"), "duration"),
        (pa.list_(pa.int8()), "lists"),
        (pa.large_list(pa.int8()), "lists"),
        (pa.list_(pa.int8(), 2), "lists"),
        (pa.list_view(pa.int8()), "lists"),
        (pa.struct({"a": pa.int8()}), "records"),
        (pa.map_(pa.string(), pa.int8()), "records"),
        (pa.binary(), "bytes"),
        (pa.large_binary(), "bytes"),
        (pa.binary(4), "bytes"),
        (pa.binary_view(), "bytes"),
        (pa.month_day_nano_interval(), "duration"),
        *_NEWER,
    ],
    ids=str,
)
def test_every_type_has_a_form_or_a_reason(kind: pa.DataType, form: str) -> None:
    assert cells.form_of(kind) == form


@pytest.mark.parametrize(
    ("array", "form", "expected"),
    [
        (pa.array([1, None, -3], pa.int16()), "integer", [1.0, None, -3.0]),
        (pa.array([2**64 - 1, 0], pa.uint64()), "integer", [2.0**64, 0.0]),
        (pa.array([0.1, None], pa.float32()), "number", [float(np.float32(0.1)), None]),
        (pa.array([1.5, math.nan, None]), "number", [1.5, None, None]),
        (pa.array([D("0.10"), None, D("-7.00")], pa.decimal128(9, 2)), "number", [0.1, None, -7.0]),
        (pa.array([D("0.000000001")], pa.decimal128(38, 12)), "number", [1e-9]),
        (pa.array([-1, None, 1], pa.date32()), "date", [-DAY, None, DAY]),
        (pa.array([-86_400_000, 0], pa.date64()), "date", [-DAY, 0.0]),
        (pa.array([-1, 1999, None], pa.timestamp("ns")), "datetime", [-1.0, 1.0, None]),
        (pa.array([7], pa.timestamp("ms", "Asia/Tokyo")), "instant", [7000.0]),
        (pa.array([300_000_000_000], pa.timestamp("s")), "datetime", [3e17]),
        (pa.array([1500, None], pa.time64("ns")), "time", [1.0, None]),
        (pa.array([2, 3], pa.time32("s")), "time", [2e6, 3e6]),
        (pa.array([-1500], pa.duration("ns")), "duration", [-2.0]),
        (pa.array([], pa.timestamp("us")), "datetime", []),
        (pa.array([None], pa.float64()), "number", [None]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else None,
)
def test_numbers_are_those_of_the_core(
    array: pa.Array, form: Form, expected: list[float | None]
) -> None:
    for given_as in (array, pa.chunked_array([array.slice(0, 1), array.slice(1)])):
        found = cells.numbers(given_as, form)
        assert found.dtype == np.float64
        assert [None if number != number else number for number in found] == expected


@given(st.decimals(-(10**15), 10**15, places=4, allow_nan=False))
def test_decimals_become_the_nearest_number(value: decimal.Decimal) -> None:
    array = pa.array([value], pa.decimal128(38, 4))
    assert cells.numbers(array, "number").tolist() == [float(value)]


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["b", None, "a", "b"]),
        pa.array(["b", None, "a", "b"], pa.large_string()),
        pa.array(["b", None, "a", "b"], pa.string_view()),
        pa.array(["b", None, "a", "b"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(
            pa.array([3, 1, 2, 0], pa.uint8()), pa.array(["b", None, "a", "b", "unused"])
        ),
        pa.array(["z", "b", None, "a", "b"]).slice(1),
        pa.array(["z", "b", None, "a", "b"]).dictionary_encode().slice(1),
        pa.chunked_array([["b", None], [], ["a", "b"]]),
        pa.chunked_array(
            [pa.array(["b", None]).dictionary_encode(), pa.array(["a", "b"]).dictionary_encode()]
        ),
    ],
    ids=lambda array: str(array.type),
)
def test_texts_of_all_kinds_are_coded(array: Any) -> None:
    codes, labels = coded(array)
    assert codes.dtype == np.int32
    assert sorted(labels) == ["a", "b"]
    assert [None if code < 0 else labels[code] for code in codes] == ["b", None, "a", "b"]


def test_booleans_are_coded() -> None:
    codes, labels = coded(pa.array([True, None, False, True]))
    assert [None if code < 0 else labels[code] for code in codes] == [True, None, False, True]
    assert coded(pa.array([True, True]))[1] == [True]
    assert coded(pa.array([None], pa.bool_()))[1] == []


@pytest.mark.parametrize(
    ("values", "texts"),
    [([1, 2, None, 1], ["1", "2", None, "1"]), ([1.5, math.nan, 2.0], ["1.5", None, "2.0"])],
)
def test_categories_of_numbers_are_texts(values: list[Any], texts: list[Any]) -> None:
    codes, labels = coded(pa.array(values).dictionary_encode())
    assert [None if code < 0 else labels[code] for code in codes] == texts


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_texts_that_nearly_all_differ_may_come_as_they_are(gaps: bool, kind: pa.DataType) -> None:
    texts: list[Any] = ["first", *(f"t{place}" for place in range(6000)), "t5"]
    if gaps:
        texts[3:10] = [None] * 7
    found = cells.categories(pa.array(["x", *texts], kind).slice(1), are_distinct=False)
    assert len(found.texts) == 6002 - 7 * gaps
    labels = found.labels
    assert [None if code < 0 else labels[code] for code in found.codes] == texts
    assert found.numbers().tolist() == label_hashes([t for t in texts if t is not None]).tolist()
    assert len(cells.categories(pa.array(texts, kind)).texts) < len(found.texts) + gaps


def test_texts_have_the_numbers_of_their_labels() -> None:
    array = pa.array(["skipped", "ä", "", "12", "long enough for several words", "ä"]).slice(1)
    found = cells.categories(array)
    assert found.numbers().tolist() == label_hashes(found.labels).tolist()
    assert Coded(np.zeros(0, np.int32), pa.array([], pa.string())).numbers().tolist() == []


def test_numbers_are_looked_at_once() -> None:
    plain = Numbers.of(np.array([2.0, -1.0]))
    assert (plain.missing, plain.infinite, plain.low, plain.high) == (0, 0, -1.0, 2.0)
    odd = Numbers.of(np.array([2.0, np.nan, np.inf, -np.inf, 1.0]))
    assert (odd.missing, odd.infinite, odd.low, odd.high) == (1, 2, 1.0, 2.0)
    assert np.isnan(odd.values).tolist() == [False, True, True, True, False]
    kept = Numbers.of(np.array([2.0, np.nan, np.inf]), is_finite=False)
    assert (kept.missing, kept.infinite, kept.low, kept.high) == (1, 0, 2.0, math.inf)
    none = Numbers.of(np.array([]))
    assert math.isnan(none.low)


# --- declared types -------------------------------------------------------------------------

DECLARED = {
    "numbers as categories": (pa.array([1.5, 2.0, None, 1e20, 2.0]), "categorical"),
    "numbers that differ in the seventh digit": (pa.array([1.0000001, 1.0000002]), "categorical"),
    "integers as categories": (pa.array([7, None, -3, 7]), "categorical"),
    "dates as categories": (pa.array([dt.date(2024, 5, 17), None]), "categorical"),
    "moments as categories": (pa.array([dt.datetime(2024, 5, 17, 8)]), "categorical"),
    "decimals as categories": (pa.array([D("1.50"), D("2.25")]), "categorical"),
    "texts as categories": (pa.array(["a", None]), "categorical"),
    "flags as categories": (pa.array([True, False]), "categorical"),
    "texts as numbers": (pa.array(["1", " 2.5 ", None, "1e3", "nan", "1"]), "numeric"),
    "flags as numbers": (pa.array([True, None, False]), "numeric"),
    "integers as numbers": (pa.array([1, 2]), "numeric"),
    "dates as numbers": (pa.array([dt.date(2024, 5, 17)]), "numeric"),
    "texts as moments": (pa.array(["2024-05-17", None, "2024-05-17T08:30"]), "datetime"),
    "dates as moments": (pa.array([dt.date(2024, 5, 17)]), "datetime"),
    "nothing as moments": (pa.array([None, None], pa.int64()), "datetime"),
}


@pytest.mark.parametrize("case", DECLARED)
def test_declared_types_read_as_in_memory(case: str) -> None:
    array, kind = DECLARED[case]
    beside = pa.array(range(len(array)))  # the table knows types
    column = sources.read(pa.table({"x": array, "n": beside})).column("x")
    form = cells.form_of(array.type)
    field = Field("x", "integer" if column.form == "integer" else form, kind)  # type: ignore[arg-type]
    expected = column.retyped(kind)  # type: ignore[arg-type]
    if form == "text" and kind != "categorical":  # all texts together show how they are read
        assert not column.is_numeric
        decision = decision_on(column, kind)  # type: ignore[arg-type]
        assert decision is not None
        field = dataclasses.replace(field, written=decision.reading)
    assert same(field.column(array), expected)
    assert field.read_as == expected.form
    assert same(field.column(array.slice(0, 0)), field.empty())


def test_whole_numbers_beyond_2_53_keep_their_digits_as_categories() -> None:
    array = pa.array([2**53 + 1, None, 5])
    column = Field("x", "integer", "categorical").column(array)
    assert [column.value(row) for row in range(3)] == [str(2**53 + 1), None, "5"]


@pytest.mark.parametrize(
    ("array", "kind", "value"),
    [
        (pa.array([None, 5]), "datetime", "5"),
        (pa.array([True]), "datetime", "true"),
    ],
)
def test_what_cannot_be_read_as_declared_is_named(array: pa.Array, kind: Any, value: str) -> None:
    form: Any = cells.form_of(array.type)
    with pytest.raises(ColumnError, match="column 'my column' cannot be read as") as raised:
        Field("my column", form, kind).numbers(array)
    assert f"'{value}'" in str(raised.value)


def test_months_of_intervals_have_thirty_days() -> None:
    some = [None, pa.MonthDayNano([1, 2, 3_500]), pa.MonthDayNano([-12, 0, -1_000])]
    array = pa.array(some, pa.month_day_nano_interval()).slice(1)
    day = 86_400_000_000
    assert cells.numbers(array, "duration").tolist() == [32 * day + 3, -360 * day - 1]
    assert cells.standard_type(array.type) == pa.duration("us")
    missing = cells.numbers(pa.array(some, pa.month_day_nano_interval()), "duration")
    assert np.isnan(missing).tolist() == [True, False, False]
