"""Words and text: readable, bounded, and harmless whatever a table holds."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import outlying
from outlying.render.text import render
from outlying.results.wording import percent, standing, times
from outlying.table.values import number_text, printable


def pair(**given: Any) -> outlying.Pair:
    fields: dict[str, Any] = {
        "property": "temp",
        "value": 5.2,
        "conditions": (outlying.Condition("city", "equals", value="A"),),
        "outlierness": 0.9968,
        "rarity": 310.4,
        "tail": 0.001,
        "support": 0.29926,
        "group_size": 29926,
        "known": 29926,
        "lift": 2.0,
        "strength": 6.1,
        "overall_outlierness": 0.1,
        "typical": ((27.0, 33.0),),
        "reaches_threshold": True,
    }
    return outlying.Pair(**(fields | given))


def test_the_sentence_of_the_readme() -> None:
    assert pair().sentence == (
        "temp = 5.2 is exceptional among the 29,926 rows (30%) where city = A: typical there is "
        "27.0 to 33.0, and it is 310 times rarer than a typical member of that group. Over the "
        "whole table, 5.2 is ordinary."
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"conditions": (), "group_size": 336, "known": 336}, "among all 336 rows: typical is"),
        ({"known": 100}, "(temp is known for 100 of them)"),
        ({"reaches_threshold": False}, "is below the threshold, though unusual, among"),
        ({"overall_outlierness": 0.8}, "stands out less (outlierness 0.80)"),
        ({"value": None, "typical": ("known",)}, "temp is missing; this is exceptional among"),
        ({"value": None, "typical": ("known",)}, "typical there is a known value"),
        ({"value": "x", "typical": ("a", "b")}, "typical there is a or b,"),
        ({"value": "x", "typical": ("a", "b", "c", "d", "e")}, "is a, b, c or 2 more,"),
        ({"typical": ((1.0, 1.0), (3.0, 4.5))}, "is 1.0 or 3.0 to 4.5,"),
        (
            {
                "conditions": (
                    outlying.Condition("age", "interval", low=20, high=37),
                    outlying.Condition("ecg", "missing"),
                )
            },
            "where age is 20 to 37 and ecg is missing",
        ),
        ({"conditions": (outlying.Condition("z", "interval", low=0, high=0),)}, "where z = 0:"),
    ],
)
def test_sentences(given: dict[str, Any], said: str) -> None:
    assert said in pair(**given).sentence


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (5.0, "5.0"),
        (0.1, "0.1"),
        (1234567.89, "1234568"),
        (123.456789, "123.457"),
        (-0.00001234567, "-1.23457e-05"),
        (1e20, "1e+20"),
        (0.0, "0.0"),
        (-0.0, "0.0"),
        (99999.99999, "100000.0"),
        (2.50, "2.5"),
    ],
)
def test_numbers_are_written_for_people(number: float, text: str) -> None:
    assert number_text(number) == text


def test_shares_and_times() -> None:
    assert [percent(x) for x in (1.0, 0.99999, 0.995, 0.994, 0.299, 0.1, 0.019, 0.0027)] == [
        "100%",
        "99.9%",
        "99.5%",
        "99%",
        "30%",
        "10%",
        "1.9%",
        "0.27%",
    ]
    assert [times(x) for x in (2.14, 9.96, 44.1, 12345.6)] == [
        "2.1 times",
        "10.0 times",
        "44 times",
        "12,346 times",
    ]


def test_hostile_text_cannot_move_the_cursor() -> None:
    evil = "\x1b[2J\x07\u202eabc\u200b\n<script>" + "x" * 10_000
    shown = printable(evil)
    assert len(shown) <= 80
    assert shown.isprintable()
    assert shown.startswith("\\x1b[2J\\x07\\u202eabc\\u200b\\n<script>")
    assert pair(property=evil, value=evil, typical=(evil,)).sentence.isprintable()


def test_wide_rows_are_folded() -> None:
    data = {f"column {i}": [float(i), float(i + 1), 3.0] for i in range(200)}
    text = render(outlying.explain(data, row=2, max_conditions=1), width=60)
    assert "and 160 more columns" in text
    assert max(len(line) for line in text.splitlines()) <= 60


def test_names_with_spaces_stay_whole() -> None:
    data = {f"mean fractal dimension {i}": [0.5, 1.5, 2.5] for i in range(9)}
    text = render(outlying.explain(data, row=2, max_conditions=1), width=60)
    echo = text.split("\n\n")[0].splitlines()[1:]
    assert all(line.count("=") == line.count("mean fractal dimension") for line in echo)


def test_a_missing_library_names_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = outlying.explain({"a": [1.0, 2.0, 9.0]}, row=2)
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(outlying.MissingExtraError) as caught:
        findings.to_frame()
    assert "pip install 'outlying[pandas]'" in str(caught.value)


@pytest.mark.parametrize(
    ("as_strong", "asked", "said"),
    [
        (0, 100, "Of 100 other rows, none has a finding this strong."),
        (1, 100, "Of 100 other rows, one has a finding at least this strong."),
        (12, 1000, "Of 1,000 other rows, 12 have findings at least this strong."),
        (0, 1, "Of 1 other row, none has a finding this strong."),
    ],
)
def test_standing(as_strong: int, asked: int, said: str) -> None:
    assert standing(as_strong, asked) == said
