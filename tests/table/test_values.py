"""Single values: held as numbers, shown as people know them, read as people type them."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import unicodedata
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.table.values import (
    EXPECTS,
    Form,
    Value,
    coarse,
    is_missing,
    limits_of,
    number_of,
    number_text,
    plain,
    printable,
    quantity_text,
    range_text,
    read_text,
    telling_digits,
    text_of,
    value_of,
)

D = decimal.Decimal
UTC = dt.UTC
PARIS = dt.timezone(dt.timedelta(hours=2))
DAY = 86_400_000_000.0


@pytest.mark.parametrize(
    "value",
    [None, math.nan, np.float32("nan"), D("NaN"), D("sNaN"), pd.NA, pd.NaT, np.datetime64("NaT")],
)
def test_missing(value: object) -> None:
    assert is_missing(value)


@pytest.mark.parametrize(
    "value", [0, False, "", "nan", b"", math.inf, [], {}, np.array([1, 2]), dt.date(2024, 1, 1)]
)
def test_not_missing(value: object) -> None:
    assert not is_missing(value)


@pytest.mark.parametrize(
    ("form", "value", "number"),
    [
        ("number", 1.5, 1.5),
        ("number", D("0.1"), 0.1),
        ("integer", np.int64(7), 7.0),
        ("date", dt.date(1970, 1, 2), DAY),
        ("date", "1969-12-31", -DAY),
        ("datetime", dt.datetime(1970, 1, 1, 0, 0, 0, 1), 1.0),
        ("datetime", "1970-01-02T00:00:00", DAY),
        ("datetime", dt.date(1970, 1, 2), DAY),
        ("datetime", pd.Timestamp(-1, unit="ns"), -1.0),
        ("instant", dt.datetime(1970, 1, 1, 2, tzinfo=PARIS), 0.0),
        ("instant", "1970-01-01T00:00:01Z", 1e6),
        ("instant", pd.Timestamp(1_999, unit="ns", tz="Europe/Paris"), 1.0),
        ("time", dt.time(0, 1, 0, 5), 60_000_005.0),
        ("time", "08:30", 30_600_000_000.0),
        ("time", "8:30", 30_600_000_000.0),
        ("duration", dt.timedelta(days=-1), -DAY),
        ("duration", 1.5, 1.5e6),
        ("duration", D(2), 2e6),
    ],
)
def test_values_as_numbers(form: Form, value: object, number: float) -> None:
    assert number_of(form, value) == number


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("number", True),
        ("number", "1.5"),
        ("number", np.str_("1.5")),
        ("number", 10**400),
        ("integer", [1]),
        ("date", 5),
        ("date", "17.5.2024"),
        ("datetime", dt.datetime(2024, 1, 1, tzinfo=UTC)),
        ("instant", dt.datetime(2024, 1, 1)),
        ("instant", "2024-01-01"),
        ("time", dt.datetime(2024, 1, 1)),
        ("time", "25:00"),
        ("duration", True),
        ("duration", "PT1S"),
    ],
)
def test_values_of_another_kind_are_refused(form: Form, value: object) -> None:
    with pytest.raises(ValueError, match=EXPECTS[form].split(" such")[0]):
        number_of(form, value)


MOMENTS = st.datetimes(dt.datetime(1800, 1, 1), dt.datetime(2200, 1, 1))


@given(
    st.one_of(
        st.tuples(st.just("integer"), st.integers(-(2**53), 2**53)),
        st.tuples(st.just("number"), st.floats(allow_nan=False)),
        st.tuples(st.just("date"), st.dates()),
        st.tuples(st.just("datetime"), MOMENTS),
        st.tuples(st.just("instant"), MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC))),
        st.tuples(st.just("time"), st.times()),
        st.tuples(st.just("duration"), st.timedeltas(dt.timedelta(-99_999), dt.timedelta(99_999))),
    )
)
def test_a_value_comes_back_from_its_number(case: tuple[Form, Value]) -> None:
    form, value = case
    back = value_of(form, number_of(form, value))
    assert back == value
    assert type(back) is type(value)


def test_numbers_without_a_value() -> None:
    assert all(value_of(form, math.nan) is None for form in get_args(Form))
    assert value_of("date", 1e18) == "33658-09-27"  # no Python date


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (dt.date(2024, 5, 17), "2024-05-17"),
        (dt.datetime(2024, 5, 17, 8, 30, tzinfo=UTC), "2024-05-17T08:30:00+00:00"),
        (dt.time(8, 30), "08:30:00"),
        (dt.timedelta(days=1, hours=2, seconds=3, microseconds=500_000), "P1DT2H0M3.5S"),
        (dt.timedelta(hours=-1), "-P0DT1H0M0S"),
        (None, None),
        (True, True),
        (5, 5),
        (0.5, 0.5),
        ("x", "x"),
    ],
)
def test_values_in_json(value: Value, expected: object) -> None:
    assert plain(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "missing"),
        (True, "true"),
        (False, "false"),
        (12345678901234567890, "12345678901234567890"),
        (0.0, "0"),
        (-0.0, "0"),
        (math.inf, "inf"),
        (1.0, "1"),
        (0.1, "0.1"),
        (-1234567.89, "-1234568"),
        (1 / 3, "0.333333"),
        (2e-7, "2e-07"),
        (1e15, "1e+15"),
        ("a\x1b[31mb\u202ec", "a\\x1b[31mb\\u202ec"),
        ("yes ", '"yes "'),
        (" a b", '" a b"'),
        ("DE\u00a0", '"DE "'),
        ("a b", "a b"),
        ("", '""'),
        ("  ", '"  "'),
        (" " + 90 * "x", '" ' + 76 * "x" + '…"'),
        (dt.date(2024, 5, 17), "2024-05-17"),
        (dt.datetime(2024, 5, 17, 8, 30), "2024-05-17 08:30"),
        (dt.datetime(2024, 5, 17, 8, 30, 5, tzinfo=UTC), "2024-05-17 08:30:05 UTC"),
        (dt.datetime(2024, 5, 17, 8, 30, 0, 5), "2024-05-17 08:30:00.000005"),
        (dt.time(8, 30), "08:30"),
        (dt.datetime(2024, 5, 17, 8, 30, 0, 5000), "2024-05-17 08:30:00.005"),
        (dt.timedelta(hours=36), "1 day, 12:00:00"),
        (dt.timedelta(days=20), "20 days"),
        (dt.timedelta(hours=-36), "-1 day, 12:00:00"),
        (dt.timedelta(seconds=-90.5), "-0:01:30.500"),
        (dt.timedelta(microseconds=1), "0:00:00.000001"),
    ],
)
def test_values_for_people(value: Value, expected: str) -> None:
    assert text_of(value) == expected


@pytest.mark.parametrize("form", ["date", "datetime", "instant", "time"])
def test_limits_are_values(form: Form) -> None:
    for number in limits_of(form):
        value = value_of(form, number)
        assert not isinstance(value, float)
        assert number_of(form, value) == number
        assert not isinstance(coarse(form, number, DAY), float)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_number_is_right_to_six_digits(number: float) -> None:
    text = number_text(number)
    assert float(text) == pytest.approx(number, rel=5.1e-6, abs=1e-300)
    if 1e-4 <= abs(number) < 1e14:
        assert "e" not in text
        assert len(text.strip("-")) <= 17


@given(st.text(), st.integers(2, 100))
def test_printable_texts_are_harmless_and_short(text: str, limit: int) -> None:
    safe = printable(text, limit)
    assert len(safe) <= limit
    assert all(char == " " or unicodedata.category(char)[0] not in "CZ" for char in safe)
    assert printable(safe, limit) == safe


def test_ordinary_texts_are_unchanged() -> None:
    for text in ("São Paulo", "5 > 3 \\ 'x'", "日本", "a" * 80):
        assert printable(text) == text
    assert printable("a" * 81) == "a" * 79 + "…"
    assert printable("a\u00a0b\n") == "a b\\n"


@pytest.mark.parametrize(
    ("form", "text", "value"),
    [
        ("number", "1e3", 1000.0),
        ("integer", " 7 ", 7.0),
        ("text", "null", "null"),
        ("boolean", "TRUE", True),
        ("boolean", "false", False),
        ("duration", "90", dt.timedelta(seconds=90)),
        ("date", "2024-05-17", "2024-05-17"),
        ("instant", "2024-05-17T08:30:00Z", "2024-05-17T08:30:00Z"),
        ("time", "08:30", "08:30"),
        *[(form, "", None) for form in get_args(Form)],
    ],
)
def test_typed_texts(form: Form, text: str, value: Any) -> None:
    assert read_text(form, text) == value


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("number", "five"),
        ("integer", "1,5"),
        ("boolean", "yes"),
        ("duration", "1 hour"),
        ("duration", "1e300"),
        ("duration", "nan"),
        ("date", "17.5.2024"),
        ("datetime", "2024-05-17T08:30:00Z"),
        ("instant", "2024-05-17T08:30:00"),
        ("time", "8 o'clock"),
    ],
)
def test_texts_that_are_no_value(form: Form, text: str) -> None:
    with pytest.raises(ValueError, match=EXPECTS[form].split(" such")[0]):
        read_text(form, text)


@pytest.mark.parametrize(
    ("form", "number", "text"),
    [
        ("date", -62_167_219_200e6, "0000-01-01"),
        ("date", -62_198_755_200e6, "-0001-01-01"),
        ("datetime", -62_167_215_600e6, "0000-01-01 01:00"),
        ("instant", 3e17, "11476-08-15 05:20 UTC"),
        ("duration", 9e20, "10416666666 days, 16:00:00"),
        ("date", 1e300, "1.15741e+289 days from 1970-01-01"),
    ],
)
def test_moments_that_python_does_not_know_are_shown_as_such(
    form: Form, number: float, text: str
) -> None:
    assert text_of(value_of(form, number)) == text


def test_digits_tell_values_apart() -> None:
    assert telling_digits(39.62, [36.25, 37.09, 39.62]) == 6
    value, usual = 1e16 + 4, 1e16
    digits = telling_digits(value, [usual, value])
    assert text_of(value, digits) != text_of(usual, digits)
    assert range_text(123456.001, 123456.002) == "123,456.001 to 123,456.002"
    ends = dt.time(3, 55, 47, 802348), dt.time(4, 15, 22, 873968)
    assert range_text(*ends, beside=dt.time(2, 48, 53)) == "03:55:47 to 04:15:22"
    assert range_text(*ends, beside=dt.time(2, 48, 53, 5)).endswith(".873968")
    spans = dt.timedelta(seconds=59.6), dt.timedelta(seconds=181.2)
    assert range_text(*spans, beside=dt.timedelta(seconds=5)) == "0:01:00 to 0:03:01"
    assert range_text(1e16, 1e16 + 2) == "10,000,000,000,000,000 to 10,000,000,000,000,002"


@pytest.mark.parametrize(
    ("value", "beside", "said"),
    [
        (1952, (), "1952"),
        (1952, (1950, 2007), "1952"),
        (1890, (2950, 13_000), "1,890"),
        (1890.0, (6.81, 66.9), "1,890"),
        (1890.5, (), "1,890.5"),
        (7900, (), "7,900"),
        (-7900, (), "-7,900"),
        (float("inf"), (), "inf"),
    ],
)
def test_what_may_be_a_year_has_no_separator(
    value: Value, beside: tuple[Value, ...], said: str
) -> None:
    assert quantity_text(value, beside=beside) == said


@pytest.mark.parametrize(
    ("low", "high", "beside", "said"),
    [
        (1952, 2007, None, "1952 to 2007"),
        (1890, 2020, 99_999, "1890 to 2020"),
        (172, 6115, None, "172 to 6,115"),
        (422.37, 1227.4, None, "422 to 1,227"),
        (425.0, 1660.0, 116_500.0, "425 to 1,660"),
        (1000.0, 1200.0, 1890.5, "1,000 to 1,200"),
    ],
)
def test_the_ends_of_a_range_are_written_alike(
    low: Value, high: Value, beside: Value, said: str
) -> None:
    assert range_text(low, high, beside=beside) == said


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1e6, 1e6))
def test_separators_change_no_number(value: float, beside: float) -> None:
    said = quantity_text(value, beside=[beside])
    assert said.replace(",", "") == text_of(value)
    assert quantity_text(-0.82) == "-0.82"
