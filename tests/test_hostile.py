"""Whatever is given, there is an answer or an error of ours: no other exception, no warning."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import outlying
from outlying.options import Bagging, Options

ROWS = 40
TABLE: dict[str, Any] = {
    "a": [number * number % 17 / 3 for number in range(ROWS)],
    "b": list(range(ROWS)),
    "c": [f"t{number % 3}" for number in range(ROWS)],
}


class Awkward:
    """An object that refuses everything."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("no")

    __float__ = __int__ = __index__ = __repr__ = __str__ = __bool__ = _refuse
    __eq__ = __ne__ = __lt__ = __hash__ = __iter__ = _refuse


ODD: dict[str, Any] = {
    "huge": 10**400,
    "very long": 10**5000,
    "negative": -(10**400),
    "array": np.array([1, 2]),
    "array without dimension": np.array(3),
    "array of texts": np.array(["a", "b"]),
    "nan": float("nan"),
    "inf": float("inf"),
    "mapping of numbers": {1: "numeric"},
    "mapping of lists": {"a": ["numeric"]},
    "bytes": b"x",
    "half a character": "\ud800",
    "complex": 1j,
    "not a time": np.datetime64("NaT"),
    "awkward": Awkward(),
}
odd = pytest.mark.parametrize("value", ODD.values(), ids=ODD.keys())


@odd
@pytest.mark.parametrize("name", Options.__dataclass_fields__)
def test_an_option_of_any_value(name: str, value: object) -> None:
    with contextlib.suppress(outlying.OutlyingError):
        Options.of(**{name: value})


@odd
@pytest.mark.parametrize("name", Bagging.__dataclass_fields__)
def test_an_option_of_detection_of_any_value(name: str, value: object) -> None:
    with contextlib.suppress(outlying.OutlyingError):
        Bagging.of(**{name: value})


@odd
def test_whatever_is_asked_for(value: Any) -> None:
    explainer = outlying.Explainer(TABLE)
    for asked in (
        {"row": value},
        {"where": value},
        {"where": {"a": value}},
        {"where": {"c": value}},
        {"object": value},
        {"object": {**{name: cells[0] for name, cells in TABLE.items()}, "a": value}},
        {"object": {**{name: cells[0] for name, cells in TABLE.items()}, "c": value}},
    ):
        with contextlib.suppress(outlying.OutlyingError):
            explainer.explain(**asked)
    for several in ({"rows": value}, {"rows": [value]}, {"where": [value]}, {"objects": value}):
        with contextlib.suppress(outlying.OutlyingError):
            list(explainer.explain_many(**several))
    with contextlib.suppress(outlying.OutlyingError):
        list(explainer.explain_many(rows=[1], workers=value))
    for asked_of in ({"scores": value}, {"detector": value}, {"lowest": value}, {"top": value}):
        with contextlib.suppress(outlying.OutlyingError):
            outlying.detect(TABLE, **asked_of)


@odd
def test_data_of_any_kind(value: Any) -> None:
    with contextlib.suppress(outlying.OutlyingError):
        outlying.explain(value, row=0)
    for named in ({"table": value}, {"query": value}):
        with pytest.raises(outlying.OutlyingError):
            outlying.scan("none.duckdb", **named)


def test_names_of_columns_are_texts() -> None:
    number: Any = {5: 1}
    text: Any = "a"
    with pytest.raises(outlying.OptionError, match="types holds 1; allowed: column names"):
        outlying.explain(TABLE, row=0, types={1: "numeric"})  # type: ignore[dict-item]
    with pytest.raises(outlying.ColumnError, match="unknown column 5; known: 'a'"):
        outlying.explain(TABLE, where=number)
    with pytest.raises(outlying.ObjectError, match="unknown column 5"):
        outlying.explain(TABLE, object=number)
    with pytest.raises(outlying.OptionError, match="where is 'a'; allowed: a mapping"):
        outlying.explain(TABLE, where=text)
    assert outlying.explain(TABLE, row=0, columns=np.array(["a", "b"])).population.columns


@pytest.mark.parametrize("preset", [None, "paper"])
def test_no_more_conditions_than_there_are_columns(preset: str | None) -> None:
    asked: dict[str, Any] = {"row": 0, "preset": preset} if preset else {"row": 0}
    many = outlying.explain(TABLE, max_conditions=2**62, **asked)
    few = outlying.explain(TABLE, max_conditions=3, **asked)
    assert [pair.sentence for pair in many.pairs] == [pair.sentence for pair in few.pairs]


def test_no_file_has_an_empty_name() -> None:
    for call in (outlying.scan, lambda name: outlying.explain(name, row=0)):
        with pytest.raises(outlying.SourceError, match="name of the file is empty"):
            call("")


# --- values at the ends of what types hold --------------------------------------------------


def told(data: Any, **asked: Any) -> outlying.Findings:
    """Explain a row, and write the answer in every form."""
    found = outlying.explain(data, **asked)
    found.to_html()
    json.loads(found.to_json())
    found.to_frame()
    str(found)
    return found


EAST, WEST = (dt.timezone(dt.timedelta(hours=hours)) for hours in (5, -5))
DAYS = [dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days=day) for day in range(ROWS)]
FAR = {
    "last in the west": dt.datetime.max.replace(tzinfo=WEST),
    "first in the east": dt.datetime.min.replace(tzinfo=EAST),
    "last": dt.datetime.max.replace(tzinfo=dt.UTC),
    "first": dt.datetime.min.replace(tzinfo=dt.UTC),
}


@pytest.mark.parametrize("moment", FAR.values(), ids=FAR.keys())
def test_moments_at_the_end_of_time(moment: dt.datetime) -> None:
    numbers = list(range(ROWS))
    ends = {"a": [*DAYS[:-1], moment], "b": numbers}
    for data in (ends, pd.DataFrame(ends, dtype=object), pd.DataFrame(ends)):
        shown = dict(told(data, row=ROWS - 1).values)["a"]
        assert isinstance(shown, dt.datetime)
        assert abs(shown.replace(tzinfo=None) - moment.replace(tzinfo=None)) < dt.timedelta(days=1)
    told({"a": DAYS, "b": numbers}, object={"a": moment, "b": 3})
    told({"a": DAYS, "b": numbers}, object={"a": moment.isoformat(), "b": 3})
    for data in ({"a": DAYS, "b": numbers}, pl.LazyFrame({"a": DAYS, "b": numbers})):
        with pytest.raises(outlying.RowError, match="no row has"):
            told(data, where={"a": moment})


@pytest.mark.parametrize("unit", ["Y", "D", "s", "ms", "us", "ns", "as"])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
@pytest.mark.parametrize("far", [2**63 - 1, 1 - 2**63, 10**15])
def test_times_of_numpy_out_of_bounds(unit: str, kind: str, far: int) -> None:
    times = np.array([far, 0, 1, 2, 3, 4, 5], dtype=np.int64).view(f"{kind}[{unit}]")
    with contextlib.suppress(outlying.OutlyingError):
        told({"a": times, "b": [1, 2, 3, 4, 5, 6, 7]}, row=0)


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64(), pa.timestamp("s"), pa.duration("s")])
@pytest.mark.parametrize("far", [2**31 - 1, -(2**31)])
def test_times_of_arrow_out_of_bounds(kind: Any, far: int) -> None:
    plain = pa.int32() if kind == pa.date32() else pa.int64()
    scale = 86_400_000 if kind == pa.date64() else 1
    times = pa.array([far * scale, 0, scale, 2 * scale, 3 * scale], plain).view(kind)
    table = pa.table({"a": times, "b": [1, 2, 3, 4, 9]})
    frames = (table, pl.from_arrow(table), table.to_pandas(types_mapper=pd.ArrowDtype))
    for data in frames:
        assert told(data, row=0).population.columns


@pytest.mark.parametrize("value", [10**400, 10**5000, -(10**5000)], ids=["400", "5000", "-5000"])
def test_whole_numbers_of_any_length(value: int) -> None:
    numbers = list(range(ROWS - 1))
    durations = [dt.timedelta(hours=hour) for hour in range(ROWS)]
    for cells in (
        [*numbers, value],
        [*map(str, numbers), value],
        [value] * ROWS,
        [*DAYS[1:], value],
    ):
        told({"a": cells, "b": list(range(ROWS))}, row=ROWS - 1)
    for asked in ({"where": {"a": value}}, {"object": {"a": value, "b": 1}}):
        with pytest.raises(outlying.OutlyingError):
            told({"a": durations, "b": list(range(ROWS))}, **asked)


@pytest.mark.parametrize("names", [[1, True], [0, False], [1, "a"]])
def test_columns_of_pandas_that_are_equal_but_not_the_same(names: list[Any]) -> None:
    data = pd.DataFrame([[row, row * row % 7] for row in range(9)], columns=names)
    assert told(data, row=3).population.columns == tuple(map(str, names))


ADAPTIVE = {"preset": "paper", "bandwidth": "adaptive"}
EXTREME = [0.0, -0.0, 5e-324, -5e-324, 1e-308, 2.3e-308, 1e308, -1.7e308, 1.0, -1.0, 1e-300, 1e300]


@given(
    st.integers(3, 12).flatmap(
        lambda rows: st.lists(
            st.lists(
                st.sampled_from([*EXTREME, 1 + 2e-16, float("nan")]), min_size=rows, max_size=rows
            ),
            min_size=1,
            max_size=3,
        )
    ),
    st.sampled_from([{}, ADAPTIVE, {"preset": "paper"}]),
)
@example([[0.0, -5e-324, 0.0, 0.0, 1.0], [10.0, -10.0, 0.0, 0.0, 0.0]], {})
@example([[0.0, -5e-324, 0.0, 0.0, 1.0], [10.0, -10.0, 0.0, 0.0, 0.0]], ADAPTIVE)
def test_numbers_at_the_ends_of_floating_point(
    columns: list[list[float]], options: dict[str, Any]
) -> None:
    table = {f"x{place}": cells for place, cells in enumerate(columns)}
    for data in (table, {name: np.array(c, np.longdouble) for name, c in table.items()}):
        with contextlib.suppress(outlying.OutlyingError):
            told(data, row=1, **options)


def test_numbers_longer_than_ours() -> None:
    longer = np.array([1, 2, 3, 4, 5], dtype=np.longdouble) * np.longdouble(1e308) * 10
    with pytest.raises(outlying.InfiniteValueError):
        told({"a": longer, "b": [1, 2, 3, 4, 5]}, row=0)


# --- names and objects that do not behave ---------------------------------------------------


class Text(str):
    """A text that cannot be hashed, compared or written."""

    __str__ = __hash__ = __eq__ = __ne__ = __lt__ = Awkward._refuse


class Whole(int):
    """A whole number that is none."""

    __int__ = __float__ = __index__ = __ne__ = Awkward._refuse


@pytest.mark.parametrize("item", [Awkward(), Text("x"), Whole(3)], ids=["any", "text", "whole"])
def test_cells_that_do_not_behave(item: object) -> None:
    for cells in ([item] * 6, [item, 1, "x", None, 2, 3], [item, 1, 2, 3, 4, 5], [item, *"abcde"]):
        told({"a": cells, "b": [1, 2, 3, 4, 5, 9]}, row=0)


def test_a_name_that_does_not_behave() -> None:
    class Name:
        def __str__(self) -> str:
            raise RuntimeError("no")

        __repr__ = __str__

    assert told({Name(): [1, 2, 3], "b": [1, 2, 4]}, row=0).population.columns


NAMES = ["\ud800", "\0", "", "\n", "a\0b", "^.*$", "*", "é" * 300, "a" * 10_000, "$"]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_names_and_labels_of_any_text(name: str) -> None:
    data = {name: [1.0, 2, 3, 4, 5, 6], "b": [2.0, 3, 4, 5, 6, 99], "c": [name, *"xxxxx"]}
    told(data, row=0)
    told(data, row=5)
    if name != "\ud800":  # no other library takes it
        for frame in (pl.DataFrame(data, strict=False), pd.DataFrame(data), pa.table(data)):
            told(frame, row=0)
        with contextlib.suppress(outlying.ColumnError):
            told(pl.LazyFrame(data, strict=False), where={"b": 99.0})


def test_infinite_numbers_that_are_not_compared_are_texts_in_json() -> None:
    data = {"a": [1, 2, 3, 9], "b": [1.0, float("inf"), float("-inf"), 2.0]}
    for row, text in ((1, "inf"), (2, "-inf"), (3, 2.0)):
        found = told(data, row=row, exclude=["b"])
        assert found.to_dict()["objects"][0]["values"]["b"] == text
