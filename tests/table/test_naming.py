"""Which columns name rows: an index, a key, a name; or two together; or none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import outlying

ROWS = 120
RNG = np.random.default_rng(0)
SIZE = RNG.normal(size=ROWS).round(3).tolist()
KIND = RNG.choice(["a", "b"], ROWS).tolist()
KEYS = [f"E{place:05d}" for place in range(ROWS)]
NUMBERS = (1_000_000 + RNG.permutation(ROWS) * 37).tolist()
YEARS = [1950 + place % 12 for place in range(ROWS)]
COUNTRIES = [f"land {place // 12}" for place in range(ROWS)]


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ({"size": SIZE, "kind": KIND}, ()),
        ({"size": SIZE, "ref": KEYS, "kind": KIND}, ("ref",)),
        ({"size": SIZE, "text": KEYS, "emp_id": KEYS[::-1]}, ("emp_id",)),
        ({"patient": NUMBERS, "size": SIZE}, ("patient",)),
        ({"size": SIZE, "order_id": NUMBERS}, ("order_id",)),
        ({"patient": [*NUMBERS[:-1], NUMBERS[0]], "kind": KIND, "size": SIZE}, ("patient",)),
        ({"size": SIZE, "amount": NUMBERS}, ()),
        ({"rank": list(range(1, ROWS + 1)), "size": SIZE}, ("rank",)),
        ({"country": COUNTRIES, "year": YEARS, "size": SIZE}, ("country", "year")),
        ({"country": COUNTRIES, "year": [1950] * ROWS, "size": SIZE}, ()),
        ({"country": ["here"] * ROWS, "day": NUMBERS[::-1], "size": SIZE}, ()),
        ({"country": COUNTRIES, "year": [None, *YEARS[1:]], "size": SIZE}, ()),
    ],
)
def test_what_names_rows_is_found(table: dict[str, Any], named: tuple[str, ...]) -> None:
    explainer = outlying.Explainer(table)
    assert explainer.naming == named
    found = explainer.explain(row=5)
    assert found.key == tuple((name, table[name][5]) for name in named)
    assert found.to_dict()["objects"][0]["key"] == (dict(found.key) or None)
    for name in named:
        assert f"{name} = {table[name][5]}" in str(found).split("\n")[0]


def test_an_index_is_the_name_and_others_can_be_asked_for() -> None:
    frame = pd.DataFrame({"size": SIZE, "ref": KEYS}, index=[f"i{place}" for place in range(ROWS)])
    assert outlying.explain(frame, row=7).key[0][1] == "i7"
    found = outlying.explain(frame, row=7, id=["ref", "size"])
    assert found.key == (("ref", "E00007"), ("size", SIZE[7]))
    with pytest.raises(outlying.ColumnError, match="did you mean 'ref'"):
        outlying.explain(frame, row=7, id=["reff"])


def test_detected_rows_have_names() -> None:
    sizes = [*SIZE]
    sizes[9] = 900.0
    detection = outlying.detect({"ref": KEYS, "size": sizes})
    first = detection.rows[0]
    assert (first.row, first.name, first.key) == (9, "E00009", (("ref", "E00009"),))
    assert detection.to_dict()["flagged"][0]["key"] == {"ref": "E00009"}
    assert "  9  E00009  size = 900, expected " in str(detection)
