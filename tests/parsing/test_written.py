"""Numbers and dates written for people: what is read, what stays text, whatever the order."""

from __future__ import annotations

import datetime as dt
import math
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlying
from outlying.options import Options
from outlying.parsing.columns import Decision, as_read, decide
from outlying.parsing.reading import Declared, Tally
from outlying.sources import read as sources_read
from outlying.table.values import value_of


def tally_of(texts: Sequence[str], wanted: Declared | None = None) -> Tally:
    counts = Counter(texts)
    labels = sorted(counts)
    tally = Tally(wanted, has_ends=True)
    tally.add(
        len(labels), labels.__getitem__, lambda: np.array([counts[label] for label in labels])
    )
    return tally


def decided(texts: Sequence[str], wanted: Declared | None = None) -> Decision | None:
    return decide(tally_of(texts, wanted))


def read(texts: Sequence[str], wanted: Declared | None = None) -> list[Any] | None:
    decision = decided(texts, wanted)
    if decision is None:
        return None
    numbers = decision.reading.numbers(texts)
    return [value_of(decision.reading.form, number) for number in numbers]


NUMBERS = {
    "thousands": (["4,512.00", "12.50", "1,000.00"], [4512.0, 12.5, 1000.0]),
    "no decimals": (["1,234", "12", "5,600"], [1234, 12, 5600]),
    "spaces": (["1 234,50", "12,5"], [1234.5, 12.5]),
    "narrow spaces": (["1\u202f234,50", "12,5"], [1234.5, 12.5]),
    "dots": (["1.234,50", "3,20"], [1234.5, 3.2]),
    "dots only": (["1.234.567", "2.000"], [1234567, 2000]),
    "points with three decimals": (["1.234", "0.5"], [1.234, 0.5]),
    "money with dots": (["€ 1.234", "€ 12.500"], [1234, 12500]),
    "apostrophes": (["1'234", "12", "5\u2019600"], [1234, 12, 5600]),
    "lakhs": (["12,34,567", "1,000"], [1234567, 1000]),
    "dollars": (["$9,999,999.00", "-$1.00", "$-2.00"], [9999999.0, -1.0, -2.0]),
    "codes of currencies": (["1.5 USD", "USD 2", "3"], [1.5, 2.0, 3.0]),
    "percent": (["10%", "12.5 %"], [10.0, 12.5]),
    "units": (["12.5 kg", "13kg"], [12.5, 13.0]),
    "plurals": (["1 year", "12 years"], [1, 12]),
    "short plurals": (["1 day", "5 days"], [1, 5]),
    "units in capitals": (["5.5 kg", "55 KG", "6 Kg"], [5.5, 55.0, 6.0]),
    "nothing is 0 %": (["12.5%", "0", "0.0", "3%"], [12.5, 0.0, 0.0, 3.0]),
    "losses without a mark": (["(1200)", "300"], [-1200, 300]),
    "exponents beside a comma": (["1,23E+05", "2,5", "1,234E-01"], [123000.0, 2.5, 0.1234]),
    "bounds": (["0.7", "<0.6", "1.5", "> 100", "≤2", "12"], [0.7, 0.6, 1.5, 100.0, 2.0, 12.0]),
    "scales": (["1.2M", "900k", "3 M", "15k"], [1.2e6, 900_000.0, 3e6, 15_000.0]),
    "thousands beside plain numbers": (["1.2k", "950", "3K", "12"], [1200.0, 950.0, 3000.0, 12.0]),
    "scales of money": (["$1.2M", "$900k", "$15,000"], [1.2e6, 900_000.0, 15_000.0]),
    "a scale that may be a unit": (["5 m", "6 m", "7.5 m"], [5.0, 6.0, 7.5]),
    "billions": (["1.5bn", "200M", "0.3bn"], [1.5e9, 2e8, 3e8]),
    "dots, with more digits or fewer": (["1.234.567", "12.345.678"], [1234567, 12345678]),
    "one of them long": (
        ["9" * 20, "n.a.", *map(str, range(7, 107))],
        [1e20, None, *range(7, 107)],
    ),
    "losses": (["(1,200)", "300"], [-1200, 300]),
    "trailing minus": (["1,200-", "300"], [-1200, 300]),
    "signs": (["+5", "-3", "\u22124"], [5, -3, -4]),
    "exponents": (["1e5", "-2.5E-3"], [1e5, -0.0025]),
    "gaps": (["1,000", "NA", " ", "-", "2,000"], [1000, None, None, None, 2000]),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers(case: str) -> None:
    texts, expected = NUMBERS[case]
    assert read(texts) == expected


TEXTS = {
    "codes": ["007", "008", "123"],
    "plain whole numbers, whose source knows types": ["1", "2", "30"],
    "postal codes with a typo": ["9021O", *(str(10000 + n) for n in range(99))],
    "phone numbers": ["555 123 456", "555 123 457"],
    "international phone numbers": ["+49 151 2345678", "+4930123456"],
    "keys": ["12345678901234567890", "n.a.", *(str(10**19 + n) for n in range(99))],
    "versions": ["1.2.3", "1.10.0"],
    "addresses of computers": [f"192.168.100.{n}" for n in range(100, 255)],
    "phone numbers with dots": ["612.345.678", "613.345.678"],
    "area codes": ["(212)", "(415)"],
    "codes with an e": ["12E5", "9E18", "1234"],
    "passports with a gap": ["n.a.", *(str(523456789 + n) for n in range(99))],
    "units whose case counts": ["5 MW", "5 mW"],
    "ranges": ["1-2", "3-4"],
    "addresses": ["12 Main", "14 Elm"],
    "two currencies": ["$1", "€2"],
    "two units": ["1 kg", "2 lb"],
    "letters before": ["A1", "A2"],
    "digits of other scripts": ["٣٤", "१२"],
    "marks of direction": ["\u200e1,000", "\u200e2,000"],
    "too long": ["1" * 60, "1,000" * 20],
    "one number": ["1,000", "a", "b"],
    "classes by a bound": ["<=50K", ">50K", "<=50K"],
    "sizes": ["3m", "4b", "room 5"],
    "nothing": ["", " "],
    "zero bytes": ["1\x002", "3,000\x00"],
}


@pytest.mark.parametrize("case", TEXTS)
def test_texts_stay_texts(case: str) -> None:
    assert read(TEXTS[case]) is None


JUNE = dt.date(2020, 6, 11)
DATES = {
    "day first": (["11/06/2020", "13/06/2020"], [JUNE, dt.date(2020, 6, 13)]),
    "month first": (["06/11/2020", "6/25/2020"], [JUNE, dt.date(2020, 6, 25)]),
    "nothing decides": (["11/06/2020", "01/02/2020"], [JUNE, dt.date(2020, 2, 1)]),
    "midnights": (
        ["06/11/2020 12:00:00 AM", "06/25/2020 12:00:00 AM"],
        [JUNE, dt.date(2020, 6, 25)],
    ),
    "afternoons": (
        ["06/11/2020 02:30:00 PM", "06/11/2020 12:05 pm"],
        [dt.datetime(2020, 6, 11, 14, 30), dt.datetime(2020, 6, 11, 12, 5)],
    ),
    "points": (
        ["11.06.2020 14:30", "11.06.2020 09:00:30"],
        [dt.datetime(2020, 6, 11, 14, 30), dt.datetime(2020, 6, 11, 9, 0, 30)],
    ),
    "names": (["11 Jun 2020", "June 11, 2020", "11-Jun-20", "Thu, 11 June 2020"], [JUNE] * 4),
    "names in other languages": (
        [
            "11. Juni 2020",
            "11 juin 2020",
            "11 de junio de 2020",
            "11 GIUGNO 2020",
            "11 czerwca 2020",
            "11 июня 2020",
        ],
        [JUNE] * 6,
    ),
    "letters beyond ASCII": (
        ["1. März 2020", "1er août 2020", "3 DÉC 2020"],
        [dt.date(2020, 3, 1), dt.date(2020, 8, 1), dt.date(2020, 12, 3)],
    ),
    "points behind the day": (["11. June 2020", "11. Jun 2020"], [JUNE] * 2),
    "short years first": (
        ["20-06-11", "20-06-12", "21-07-25"],
        [JUNE, dt.date(2020, 6, 12), dt.date(2021, 7, 25)],
    ),
    "short years last": (
        ["11-06-20", "12-06-20", "25-07-21"],
        [JUNE, dt.date(2020, 6, 12), dt.date(2021, 7, 25)],
    ),
    "short years first, with a day that is none": (
        [*(f"20-06-{day:02}" for day in range(1, 31)), "20-06-31"],
        [*(dt.date(2020, 6, day) for day in range(1, 31)), None],
    ),
    "year first": (["2020/06/11", "2020-6-11", "2020.06.11"], [JUNE] * 3),
    "leap years": (["29/02/2020", "13/02/2019"], [dt.date(2020, 2, 29), dt.date(2019, 2, 13)]),
    "fractions": (
        ["2020-06-11T14:30:00.25", "2020-06-11 00:00:01"],
        [dt.datetime(2020, 6, 11, 14, 30, 0, 250_000), dt.datetime(2020, 6, 11, 0, 0, 1)],
    ),
    "zones": (
        ["2020-06-11T14:30:00Z", "2020-06-11T14:30:00+02:00"],
        [dt.datetime(2020, 6, 11, h, 30, tzinfo=dt.UTC) for h in (14, 12)],
    ),
    "times": (["08:15", "23:59:59"], [dt.time(8, 15), dt.time(23, 59, 59)]),
}


@pytest.mark.parametrize("case", DATES)
def test_dates(case: str) -> None:
    texts, expected = DATES[case]
    assert read(texts) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["45:10", "9:58", "71:05"], [(45, 10), (9, 58), (71, 5)]),
        (["1:45:10", "59:58", "48:00", "4:20"], [(105, 10), (59, 58), (48, 0), (4, 20)]),
        (["26:00:00", "8:30:00", "30:15:30"], [(26 * 60, 0), (510, 0), (1815, 30)]),
        (["9:58:00"] * 40 + ["98:00"] * 3, [(598, 0)] * 40 + [(98, 0)] * 3),
    ],
)
def test_lengths_of_time(texts: list[str], expected: list[tuple[int, int]]) -> None:
    assert read(texts) == [dt.timedelta(minutes=m, seconds=s) for m, s in expected]


def test_one_hour_that_does_not_exist_makes_no_lengths_of_times() -> None:
    assert read([*["9:58"] * 40, "25:10"]) == [*[dt.time(9, 58)] * 40, None]
    assert read(["1:02 pm"] * 30) == [dt.time(13, 2)] * 30


def test_orders_are_said() -> None:
    decision = decided(["11/06/2020", "13/06/2020"])
    assert decision is not None
    assert decision.note == "read as day/month/year; 13/06/2020 fits no other order"
    decision = decided(["11/06/2020", "01/02/2020"])
    assert decision is not None
    assert decision.note.endswith("nothing rules out month/day/year")


def test_what_does_not_fit_is_said() -> None:
    decision = decided([*(f"{n}.5" for n in range(99)), "n.a."])
    assert decision is not None
    assert decision.misfits == {"n.a.": 1}
    assert decision.note == "read as numbers; 1 row holds no number: 'n.a.'"
    assert decision.missing == 1
    assert decision.ends == (0.5, 98.5)


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (["12.5 kg"] * 60 + ["98.6 °F"], "1 row is written unlike the rest: '98.6 °F'"),
        (["$5"] * 60 + ["USD 44"] * 2, "2 rows are written unlike the rest: 'USD 44'"),
        (["02/15/2023"] * 60 + ["15/02/2023"], "1 row is written unlike the rest: '15/02/2023'"),
        (["02/15/2023"] * 60 + ["31/02/2023"], "1 row holds no date: '31/02/2023'"),
        (["22:00"] * 60 + ["24:00"], "1 row holds no time: '24:00'"),
    ],
)
def test_numbers_in_another_style_are_numbers(texts: list[str], note: str) -> None:
    decision = decided(texts)
    assert decision is not None
    assert decision.note.endswith(f"; {note}")


@pytest.mark.parametrize(
    "text", ["10 Apr\u0131l 2023", "10 \u017fept 2023", "10 April 2023 5:00 PM \u0130"]
)
def test_letters_that_only_look_like_others_are_no_dates(text: str) -> None:
    decision = decided(["10 April 2023"] * 40 + [text])
    assert decision is not None
    assert decision.misfits == {text: 1}


def test_at_least_95_percent_must_fit_but_for_words() -> None:
    numbers = [f"{n}.5" for n in range(90)]
    assert decided([*numbers, *(f"x{n}" for n in range(10))]) is None
    assert decided([*numbers, *["unknown"] * 10]) is not None
    assert decided([*numbers, *["unknown"] * 30]) is None


def test_compact_dates_are_to_be_declared() -> None:
    texts = ["20200611", "20200612"]
    assert read(texts) is None
    assert read(texts, "datetime") == [JUNE, dt.date(2020, 6, 12)]


def test_declared_numbers_may_be_codes() -> None:
    assert read(["007", "$1,200", "NA"], "numeric") == [7.0, 1200.0, None]


def test_declared_whole_numbers_are_shown_whole() -> None:
    found = read(["01234", "87218", "N/A"], "numeric")
    assert found is not None
    assert [type(value) for value in found] == [int, int, type(None)]
    assert read(["00.50", "12"], "numeric") == [0.5, 12.0]
    decision = decided(["007", "inf"], "numeric")
    assert decision is not None
    assert decision.reading.form == "number"


ZIPS = [str(10007 + 457 * n) for n in range(190)]  # up to 96380


@pytest.mark.parametrize(
    ("texts", "are_codes"),
    [
        ([*ZIPS, "n.a."], True),
        ([*ZIPS, "01234", "n.a."], True),
        ([f"0{n}" for n in range(1000, 1100)] + ["n.a."], True),
        ([*ZIPS[:80], "n.a."], False),  # up to 46110
        ([*ZIPS, "100250", "n.a."], False),
        ([str(year) for year in range(1950, 2020)] + ["n.a."], False),
        (["1000"] * 9 + ["9000"] * 9 + ["n.a."], False),  # few rows
    ],
)
def test_postal_codes_beside_a_text(texts: list[str], are_codes: bool) -> None:
    assert (read(texts) is None) == are_codes


@pytest.mark.parametrize(
    ("texts", "is_in_doubt"),
    [
        (["1.234", "12.345"], True),
        (["1.234 kg", "12.345 kg", "950 kg"], True),
        (["1.234", "12", "n.a.", *["3.456"] * 60], True),
        (["1.234", "0.345"], False),
        (["1.234", "12.34"], False),
        (["1.234", "1234", "x"], False),
        (["€ 1.234", "€ 12.345"], False),
        (["1,234", "12,345"], False),
        (["1.234.567", "12.345"], False),
    ],
)
def test_points_that_may_mark_thousands(texts: list[str], is_in_doubt: bool) -> None:
    decision = decided([*texts, *texts[:1] * 20])
    assert decision is not None
    assert ("though they may mark thousands" in decision.note) == is_in_doubt


STYLES = {
    "plain": ("", ".", "", ""),
    "English": (",", ".", "", ""),
    "German": (".", ",", "", ""),
    "French": ("\u202f", ",", "", " €"),
    "Swiss": ("'", ".", "CHF ", ""),
    "dollars": (",", ".", "$", ""),
    "unit": (",", ".", "", " km/h"),
    "percent": ("", ",", "", " %"),
}


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=30),
    st.sampled_from(sorted(STYLES)),
    st.sampled_from(["-x", "(x)", "x-"]),
)
def test_round_trip(numbers: list[float], style: str, negative: str) -> None:
    """A number that is written in some style is read again."""
    thousands, point, before, after = STYLES[style]
    numbers = [round(number, 2) + 0.0 for number in numbers]

    def written(number: float) -> str:
        text = f"{abs(number):,.2f}".translate({ord(","): thousands, ord("."): point})
        text = f"{before}{text}{after}"
        return negative.replace("x", text) if number < 0 else text

    assert read([written(number) for number in numbers]) == numbers


@given(st.lists(st.datetimes(dt.datetime(1000, 1, 1)), min_size=2, max_size=30), st.data())
def test_round_trip_of_moments(moments: list[dt.datetime], data: st.DataObject) -> None:
    style = data.draw(
        st.sampled_from(["%d/%m/%Y %H:%M:%S", "%d %b %Y %H:%M:%S", "%Y/%m/%d %H:%M:%S"])
    )
    moments = [moment.replace(microsecond=0) for moment in moments] + [dt.datetime(2020, 1, 31, 5)]
    assert read([moment.strftime(style) for moment in moments]) == moments


ANY = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.text(alphabet="0123456789.,-/ ()$€%:kgAPMTZ", max_size=14),
        st.sampled_from([text for texts, _ in NUMBERS.values() for text in texts]),
        st.sampled_from([text for texts, _ in DATES.values() for text in texts]),
    ),
    max_size=40,
)


@given(ANY, st.integers(1, 5))
def test_parts_put_together_decide_alike(texts: list[str], parts: int) -> None:
    """The decision depends on which texts there are and how often, not on order or batches."""
    whole, tally = tally_of(texts), Tally(has_ends=True)
    for start in range(parts):
        tally.merge(tally_of(texts[::-1][start::parts]))
    assert decide(tally) == decide(whole)


@given(ANY)
def test_what_fits_is_read(texts: list[str]) -> None:
    decision = decided(texts)
    if decision is not None:
        numbers = decision.reading.numbers(texts)
        assert np.isfinite(numbers[~np.isnan(numbers)]).all()
        assert int(np.isnan(numbers).sum()) == decision.missing
        known = numbers[~np.isnan(numbers)]
        assert decision.ends == (known.min(), known.max())
        assert len(known) == decision.reading.right


@pytest.mark.parametrize("text", ["9" * 48, "1," * 24, "(" * 40, "1 " * 24, "1e" * 20, "-" * 48])
def test_hostile_texts_take_no_time(text: str) -> None:
    start = time.process_time()
    for _ in range(200):
        decided([text, text + "x", "$" + text])
    assert time.process_time() - start < 2


def test_a_million_texts_take_seconds() -> None:
    texts = [f"{n * 7.25:,.2f}" for n in range(200_000)]
    start = time.process_time()
    decision = decided(texts)
    assert decision is not None
    assert math.isclose(decision.reading.numbers(texts)[-1], 199_999 * 7.25)
    assert time.process_time() - start < 4


def test_a_table_of_texts_alone_knows_no_types(tmp_path: Path) -> None:
    """Rows of Python's csv module are read as the file is; beside numbers, texts were wanted."""
    texts = {"n": [str(7 * place % 31) for place in range(40)], "k": ["007", "12"] * 20}
    alone = as_read(sources_read(texts), Options.of())
    assert [column.form for column in alone.columns] == ["integer", "text"]
    pd.DataFrame(texts).to_parquet(tmp_path / "t.parquet")
    for columns in (["n", "k"], ["n"]):
        for data in (texts, tmp_path / "t.parquet", outlying.scan(tmp_path / "t.parquet")):
            found = outlying.explain(data, where={"n": 14, "k": "12"}, columns=columns)
            assert dict(found.values)["n"] == 14
    typed = as_read(sources_read({**texts, "x": [1.5] * 40}), Options.of())
    assert [column.form for column in typed.columns] == ["text", "text", "number"]


def test_durations() -> None:
    texts = ["1h 30m", "45m", "2 hours 5 min", "1d 2h", "90 s", "2h"]
    minutes = [90, 45, 125, 26 * 60, 1.5, 120]
    assert read(texts) == [dt.timedelta(minutes=n) for n in minutes]
    decision = decided(texts)
    assert decision is not None
    assert decision.note == "read as durations, '1d 2h' as 1 day, 2:00:00"
    assert decision.ends == (90e6, 26 * 3_600e6)
    assert read(["2 h", "3 h"]) == [2, 3]  # a unit like any other


def test_bounds_are_said() -> None:
    decision = decided(["0.7", "1.5", "<0.6", "2.5", "<0.6"])
    assert decision is not None
    assert decision.note.endswith("; 2 rows hold a bound such as '<0.6'")
    assert decision.ends == (0.6, 2.5)


def test_ends_of_scaled_numbers() -> None:
    decision = decided(["1.2M", "900k", "15k"])
    assert decision is not None
    assert decision.ends == (15_000, 1.2e6)
