"""Addresses hold what is asked for: read, written, and read again, it is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from outlying.errors import OptionError
from outlying.options import EXPLAIN_OPTIONS, Options
from outlying.sources import read as read_arrays
from outlying.web.browse import Browser, write_copy
from outlying.web.queries import Addresses, Filter, TableQuery, options_of

ALL: dict[str, Any] = {
    "preset": "paper",
    "min_support": 0.0125,
    "min_outlierness": 0.75,
    "min_confidence": 0.5,
    "max_conditions": 2,
    "exact": True,
    "measure": "relative",
    "scales": "several",
    "interval": "run",
    "bandwidth": "adaptive",
    "columns": ("a", "b=c"),
    "exclude": ("d & e",),
    "properties": ("n", "o,p"),
    "contexts": ("q",),
    "types": {"f=g": "categorical"},
    "id": ("h", "i,j"),
    "infinite": "missing",
    "derive": False,
    "entity": "k",
    "time": "l=m",
    "past": "before",
    "discretise": "equi-width",
    "bins": 7,
    "references": 5,
    "seed": 3,
    "top": 4,
}


def test_every_option_has_a_place_in_addresses() -> None:
    assert set(ALL) == set(EXPLAIN_OPTIONS)
    for asked in (Options.of(**ALL), Options.of(preset="paper", top=3)):
        written = urlencode(Addresses("t", asked).kept)
        assert options_of(QueryParams(written)) == asked
    assert options_of(QueryParams("hide=a&unknown=1")) == Options()


def test_no_option_is_mistaken_for_what_is_asked_of_a_table() -> None:
    of_table = {"offset", "limit", "sort", "order", "search", "filter", "rows", "top", "odd"}
    of_page = {"hide", "left", "from", "on", "rule", "to", "show", "choosing", "declared"}
    named = {name for name, _ in Addresses("t", Options.of(**ALL)).kept}
    assert not named & (of_table | of_page)


def test_a_query_is_read_as_it_was_written() -> None:
    filters = (Filter("a b", "interval", 1, None), Filter("c", "equals", value="x & y"))
    query = TableQuery(100, 20, "a=b", True, "text & more", filters, (3, 7))
    assert TableQuery.of(QueryParams(urlencode(query.to_params()))) == query
    assert [str(item) for item in filters] == ["a b is at least 1", "c = x & y"]


@pytest.mark.parametrize("text", ["min_support=x", "max_conditions=-1", "type=a", "pairs=0"])
def test_wrong_options_are_refused(text: str) -> None:
    with pytest.raises(OptionError):
        options_of(QueryParams(text))


NUMBERS = st.one_of(st.none(), st.integers(-3, 3).map(float))
TEXTS = st.one_of(st.none(), st.sampled_from(["a", "B", "ab", "", "%", "_", "'", "\ud800"]))
TABLES = st.integers(2, 12).flatmap(
    lambda rows: st.tuples(
        st.lists(NUMBERS, min_size=rows, max_size=rows).filter(any_known),
        st.lists(TEXTS, min_size=rows, max_size=rows).filter(any_known),
    )
)


def any_known(values: list[Any]) -> bool:
    return any(value is not None for value in values)


@settings(max_examples=25, deadline=None)
@given(TABLES, st.sampled_from(["x", "t"]), st.booleans(), st.sampled_from(["", "a", "1", "%"]))
def test_pages_are_those_of_a_plain_loop(
    tmp_path_factory: pytest.TempPathFactory,
    columns: tuple[list[Any], list[Any]],
    sort: str,
    descending: bool,
    search: str,
) -> None:
    """Sort, search and filter as loops would; gaps stand last, ties in the order of the table."""
    numbers, texts = columns
    table = read_arrays({"x": np.array(numbers, dtype=float), "t": np.array(texts, dtype=object)})
    folder: Path = tmp_path_factory.mktemp("copy") / "copy"
    browser = Browser(folder, "", table.rows, write_copy(table, folder))
    rows = list(enumerate(zip(numbers, texts, strict=True), start=1))
    forms = browser.columns[0].form

    def shown(cell: Any) -> str:
        if cell is None:
            return ""
        whole = forms == "integer" and isinstance(cell, float)
        return str(int(cell) if whole else cell).casefold()

    kept = [row for row in rows if not search or holds(row[1], search, shown)]
    place = 0 if sort == "x" else 1
    known = [row for row in kept if row[1][place] is not None]
    known.sort(key=lambda row: row[1][place] if place == 0 else written(row[1][1]))
    if descending:
        known = sorted(
            known,
            key=lambda row: row[1][place] if place == 0 else written(row[1][1]),
            reverse=True,
        )
    wanted = [row[0] for row in known] + [row[0] for row in kept if row[1][place] is None]
    found = browser.page(TableQuery(0, 50, sort, descending, search))
    assert found.numbers == wanted
    assert found.total == len(kept)
    assert [cells[1] for cells in found.cells] == [texts[number - 1] for number in wanted]
    browser.close()


def holds(cells: tuple[Any, Any], search: str, shown: Any) -> bool:
    is_number = search in "0123456789"
    return search in shown(cells[1]) or (is_number and search in shown(cells[0]))


def written(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def test_filters_find_what_conditions_mean(tmp_path: Path) -> None:
    table = read_arrays({"x": np.array([1.0, 2.0, np.nan, 4.0]), "t": np.array(list("aabc"))})
    browser = Browser(tmp_path / "c", "", 4, write_copy(table, tmp_path / "c"))

    def rows(**fields: Any) -> list[int]:
        item = Filter.read(json.dumps(fields))
        return browser.page(TableQuery(filters=(item,))).numbers

    assert rows(attribute="x", kind="interval", low=2, high=4) == [2, 4]
    assert rows(attribute="x", kind="interval", low="2") == [2, 4]
    assert rows(attribute="x", kind="missing") == [3]
    assert rows(attribute="x", kind="present") == [1, 2, 4]
    assert rows(attribute="x", kind="equals", value=4) == [4]
    assert rows(attribute="t", kind="equals", value="a") == [1, 2]
    assert rows(attribute="t", kind="contains", value="C") == [4]
    assert browser.key(4) == {"x": 4.0}
    browser.close()


@pytest.mark.parametrize("text", ["Straße", "STRASSE", "ẞ", "İzmir", "ΣΟΦΟΣ", "ÉTÉ"])
def test_a_text_is_found_by_itself_in_any_case(tmp_path: Path, text: str) -> None:
    table = read_arrays({"t": np.array([text, "x", "x"], dtype=object)})
    browser = Browser(tmp_path / "c", "", 3, write_copy(table, tmp_path / "c"))
    containing = TableQuery(filters=(Filter("t", "contains", value=text),))
    for view in (TableQuery(search=text), containing):
        assert browser.page(view).numbers == [1]
    browser.close()
