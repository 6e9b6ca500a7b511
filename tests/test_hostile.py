"""Whatever is given, there is an answer or an error of ours: no other exception, no warning."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

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
    explainer = outlying.Explainer(TABLE, references=0)
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
    for given in ({"scores": value}, {"detector": value}, {"lowest": value}, {"top": value}):
        with contextlib.suppress(outlying.OutlyingError):
            outlying.detect(TABLE, **given)


@odd
def test_data_of_any_kind(value: Any) -> None:
    with contextlib.suppress(outlying.OutlyingError):
        outlying.explain(value, row=0)
    for given in ({"table": value}, {"query": value}):
        with pytest.raises(outlying.OutlyingError):
            outlying.scan("none.duckdb", **given)


def test_names_of_columns_are_texts() -> None:
    number: Any = {5: 1}
    text: Any = "a"
    with pytest.raises(outlying.OptionError, match="types holds 1; allowed: column names"):
        outlying.explain(TABLE, row=0, types={1: "numeric"})
    with pytest.raises(outlying.ColumnError, match="unknown column 5; known: 'a'"):
        outlying.explain(TABLE, where=number)
    with pytest.raises(outlying.ObjectError, match="unknown column 5"):
        outlying.explain(TABLE, object=number)
    with pytest.raises(outlying.OptionError, match="where is 'a'; allowed: a mapping"):
        outlying.explain(TABLE, where=text)
    assert outlying.explain(TABLE, row=0, columns=np.array(["a", "b"])).population.columns


@pytest.mark.parametrize("search", ["guided", "exhaustive"])
def test_no_more_conditions_than_there_are_columns(search: str) -> None:
    asked: dict[str, Any] = {"row": 0, "references": 0, "search": search}
    many = outlying.explain(TABLE, max_conditions=2**62, **asked)
    few = outlying.explain(TABLE, max_conditions=3, **asked)
    assert [pair.sentence for pair in many.pairs] == [pair.sentence for pair in few.pairs]


def test_no_file_has_an_empty_name() -> None:
    for call in (outlying.scan, lambda name: outlying.explain(name, row=0)):
        with pytest.raises(outlying.SourceError, match="name of the file is empty"):
            call("")
