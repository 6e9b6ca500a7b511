"""Words and text: readable, bounded, and harmless whatever a table holds."""

from __future__ import annotations

import dataclasses
import datetime as dt
import sys
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.cli.terminal import DETECT, EXPLAIN
from outlying.errors import installed_as
from outlying.render.text import Look, render, text_width
from outlying.results.stories import Rank
from outlying.results.wording import Hint, figure, headline, kind_of, line, percent, times
from outlying.table.values import Value, number_text, printable, range_text, text_of


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
    }
    return outlying.Pair(**(fields | given))


def test_the_sentence_of_the_readme() -> None:
    assert pair(beyond=1).sentence == (
        "temp = 5.2, expected 27 to 33 where city = A. None of the other 29,925 rows there has a "
        "value this small. Elsewhere in the table 5.2 is common."
    )


DAYS = {"value": dt.date(2024, 5, 17), "typical": ((dt.date(2020, 1, 1), dt.date(2020, 2, 1)),)}
HOURS = {
    "value": dt.timedelta(hours=5),
    "typical": ((dt.timedelta(0), dt.timedelta(minutes=9)),),
}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"conditions": (), "group_size": 336, "known": 336, "beyond": 1},
            "temp = 5.2, expected 27 to 33. None of the other 335 rows has a value this small.",
        ),
        ({"beyond": 3}, "Only 3 of the 29,926 rows there have a value this small."),
        ({"beyond": 3, "value": 52.0}, "Only 3 of the 29,926 rows there have a value this large."),
        ({"known": 100}, "where city = A (100 rows)."),
        ({"is_finding": False}, "temp = 5.2, expected 27 to 33 where"),
        ({"overall_outlierness": 0.8}, "It is 310 times rarer than a typical value there."),
        (
            {"value": None, "typical": ("known",), "near": 1},
            "temp is empty; it is filled in the other 29,925 rows where city = A.",
        ),
        (
            {"value": None, "typical": ("known",), "near": 6, "conditions": ()},
            "temp is empty; it is filled in 29,920 of the other 29,925 rows.",
        ),
        ({"value": None, "typical": ("known",)}, "Elsewhere in the table empty cells are common."),
        (
            {"value": 2.0, "typical": ("missing",), "near": 2, "group_size": 90, "conditions": ()},
            "temp = 2; it is empty in 88 of the other 89 rows.",
        ),
        ({"value": "x", "typical": ("a", "b")}, "temp = x, expected a or b where"),
        (
            {"value": "x", "typical": ("a",), "near": 1},
            "None of the other 29,925 rows there has x. Elsewhere in the table x is common.",
        ),
        (
            {"value": "x", "typical": ("a",), "near": 7},
            "Only 7 of the 29,926 rows there have x.",
        ),
        ({"value": "x", "typical": ("a", "b", "c", "d", "e")}, "expected a, b or 3 others where"),
        ({"value": "x", "typical": ("a", "b", "c")}, "expected a, b or c where"),
        ({"value": "b", "typical": ("a", "b")}, "temp = b, expected a where"),
        ({"value": "x" * 30, "typical": ("a",)}, "there. Elsewhere in the table it is common."),
        ({"typical": ((1.0, 1.0), (3.0, 4.5))}, "expected 1 to 4.5 where"),
        ({"typical": ((1.0, 4.5), (6.0, 6.0), (7.0, 7.0))}, "expected 1 to 4.5 or 6 to 7 where"),
        (
            {"typical": ((1.0, 1.0), (3.0, 4.5), (6.0, 6.0), (70.0, 71.0))},
            "expected 1 to 4.5 or 6 to 71 where",
        ),
        (
            {"typical": ((5.2, 9.0),), "neighbours": (None, 6.5), "beyond": 1},
            "expected 6.5 to 9 where city = A. None of the other",
        ),
        (
            {"typical": ((1.0, 5.2),), "neighbours": (4.0, None), "beyond": 2},
            "expected 1 to 4 where city = A. Only 2 of the",
        ),
        ({"typical": ((5.2, 5.2), (7.0, 8.0))}, "temp = 5.2, expected 7 to 8 where"),
        (
            {"typical": ((1.0, 9.0),), "gap": (4.9, 5.6), "is_finding": False},
            "temp = 5.2, within 1 to 9 where",
        ),
        ({"typical": ((2.483660, 4.512349),)}, "expected 2.48 to 4.51 where"),
        (
            {"typical": ((1.0, 9.0),)},
            "temp = 5.2 is rare where city = A (29,926 rows): few rows there are near it. Most are "
            "1 to 9.",
        ),
        (
            {"typical": ((1.0, 9.0),), "near": 1, "reach": 0.25},
            "is rare where city = A (29,926 rows): no other row there is within 0.25 of it.",
        ),
        (
            {"typical": ((1.0, 9.0),), "near": 3, "reach": 0.25},
            "is rare where city = A (29,926 rows): only 3 rows there are within 0.25 of it.",
        ),
        (
            {"typical": ((1.0, 9.0),), "gap": (4.9, 5.6)},
            "temp = 5.2 lies in a gap where city = A (29,926 rows): no other row there is between "
            "4.9 and 5.6.",
        ),
        ({"scale": 8, "near": 1, "reach": 1.2571}, "No other row there is within 1.2 of it."),
        ({"scale": 8, "near": 1, "reach": 12_999.0}, "within 12,000 of it"),
        ({"scale": 8, "near": 2, "reach": 1.2571}, "It is 310 times rarer than a typical value"),
        (
            {"scale": 2, "near": 1, "reach": 86_400 * 45.9, "conditions": ()} | DAYS,
            "expected 2020-01-01 to 2020-02-01. No other row is within 45 days of it.",
        ),
        (DAYS | {"beyond": 1}, "has a date this late."),
        ({"scale": 2, "near": 1, "reach": 3_700.0} | HOURS, "is within 1 hour of it"),
        (HOURS | {"beyond": 1}, "has a duration this long."),
        (
            {
                "conditions": tuple(
                    outlying.Condition(name, "equals", value="x") for name in ("a", "b", "c")
                )
            },
            "where a = x, b = x and c = x (29,926 rows).",
        ),
        (
            {
                "conditions": (
                    outlying.Condition("age", "interval", low=20, high=37),
                    outlying.Condition("ecg", "missing"),
                )
            },
            "where age is 20 to 37 and ecg is empty",
        ),
        ({"conditions": (outlying.Condition("z", "interval", low=0, high=0),)}, "where z = 0 ("),
    ],
)
def test_sentences(given: dict[str, Any], said: str) -> None:
    assert said in pair(**given).sentence


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (5.0, "5"),
        (0.1, "0.1"),
        (1234567.89, "1234568"),
        (123.456789, "123.457"),
        (-0.00001234567, "-1.23457e-05"),
        (1e20, "1e+20"),
        (0.0, "0"),
        (-0.0, "0"),
        (99999.99999, "100000"),
        (2.50, "2.5"),
    ],
)
def test_numbers_are_written_for_people(number: float, text: str) -> None:
    assert number_text(number) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0, 408_059.4, "0 to 408,059"),
        (36.251234, 37.0912, "36.251 to 37.091"),
        (27.0, 33.0, "27 to 33"),
        (0.00012348, 0.00019876, "0.0001235 to 0.0001988"),
        (1234.5678, 99999.4, "1,235 to 99,999"),
        (5.0, 5.0, "5"),
        (0.6, 300.2, "0.6 to 300"),
        (626500, 1990700, "626,500 to 1,990,700"),
        (1952, 2007, "1952 to 2007"),
        (20, 37, "20 to 37"),
        (-1e308, 1e308, "-1e+308 to 1e+308"),
        (dt.date(2024, 1, 8), dt.date(2024, 1, 9), "2024-01-08 to 2024-01-09"),
        (
            dt.datetime(2024, 1, 8, 17, 14),
            dt.datetime(2024, 1, 9, 20, 1),
            "2024-01-08 17:14 to 2024-01-09 20:01",
        ),
        (dt.datetime(2024, 1, 8, 17, 14), dt.datetime(2024, 12, 2), "2024-01-08 to 2024-12-02"),
    ],
)
def test_ranges_have_no_more_digits_than_they_need(low: Value, high: Value, text: str) -> None:
    assert range_text(low, high) == text


def test_figures_have_no_exponent() -> None:
    assert [figure(x, 4) for x in (39455.3, 1000.0, 798.26, 1.02949)] == [
        "39,455",
        "1,000",
        "798.3",
        "1.029",
    ]


def test_shares_and_times() -> None:
    assert percent(486 / 487) == "99.8%"
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
    text = render(outlying.explain(data, row=2, max_conditions=1), Look(60))
    assert "and 160 more columns" in text
    assert max(len(line) for line in text.splitlines()) <= 60


def test_names_with_spaces_stay_whole() -> None:
    data = {f"mean fractal dimension {i}": [0.5, 1.5, 2.5] for i in range(9)}
    text = render(outlying.explain(data, row=2, max_conditions=1), Look(60))
    echo = text.split("\n\n")[0].splitlines()[1:]
    assert all(line.count("=") == line.count("mean fractal dimension") for line in echo)


def test_a_missing_library_names_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = outlying.explain({"a": [1.0, 2.0, 9.0]}, row=2)
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(outlying.MissingExtraError) as caught:
        findings.to_frame()
    assert f"pip install {installed_as('pandas')}" in str(caught.value)
    assert installed_as("pandas").endswith("[pandas]'")


@pytest.mark.parametrize(
    ("rank", "said"),
    [
        (None, ""),
        (Rank(0, 100_000), "No other row is as odd."),
        (Rank(1, 100_000), "1 other row is at least as odd."),
        (Rank(1200, 100_000), "1,200 other rows are at least as odd."),
        (Rank(0, 500), "No other row of the 500 compared is as odd."),
        (Rank(0, 99_999), "No other row is as odd."),  # of a new one
    ],
)
def test_standing(rank: Rank | None, said: str) -> None:
    assert pair(rank=rank, group_size=50_000, support=0.5).standing == said


@pytest.fixture(scope="module")
def sick() -> outlying.Findings:
    """Two things stand out, one of them a relation of two columns; another is weaker."""
    rng = np.random.default_rng(4)
    city = np.repeat(["A", "B"], 150).astype(object)
    temp = np.where(city == "A", 30.0, 5.0) + rng.normal(size=300)
    weight = rng.normal(70, 3, 300)
    city[7], temp[7], weight[7] = "A", 5.2, 900.0
    size = np.round(rng.normal(size=300), 2)
    size[7] = 4.0
    table = {"city": city, "temp": temp, "weight": weight, "size": size}
    return outlying.explain(table, row=7)


def compared(findings: outlying.Findings, *as_strong: int) -> outlying.Findings:
    """Return findings as if so many of the 300 rows had such strong ones; a few are unusual."""
    stories = tuple(
        story.ranked(Rank(number, 300, exceptional=number < 2, unusual=2 <= number < 9))
        for story, number in zip(findings.stories, as_strong, strict=False)
    )
    return dataclasses.replace(findings, stories=stories)


def test_what_stands_out_comes_first(sick: outlying.Findings) -> None:
    findings = compared(sick, 0, 1)
    assert len(findings.stories) == 2
    parts = findings.text().split("\n\n")
    assert parts[1] == "2 cells are exceptional:"
    for number, (part, story) in enumerate(zip(parts[2:], findings.stories, strict=False), 1):
        assert part.startswith(f" {number}. {story.culprit} = ")
        assert " ".join(part.split()).startswith(f"{number}. {story.sentence} ")
        assert f"\n    {story.headline.standing}" in part
        assert ("The same from the other side: " in part) == (len(story.pairs) > 1)
    for term in ("strength", "lift", "tail", "outlierness"):
        assert term not in findings.text()
        assert term in findings.text(all=True)


def test_other_tellings_are_one_line(sick: outlying.Findings) -> None:
    (relation,) = (story for story in sick.stories if set(story.columns) == {"city", "temp"})
    other = relation.others[0]
    condition = other.conditions[0]
    said = f"The same from the other side: {other.property} = {text_of(other.value)}, expected "
    text = " ".join(sick.text().split())
    assert said in text
    assert f" where {condition}" in text


def test_one_cell_is_told_once(sick: outlying.Findings) -> None:
    first, second = compared(sick, 0, 1).stories
    other = dataclasses.replace(second, culprit=first.culprit)
    findings = dataclasses.replace(compared(sick, 0, 1), stories=(first, other))
    (cell,) = findings.odd_cells
    assert (cell.column, cell.stories) == (first.culprit, (first, other))
    parts = findings.text().split("\n\n")
    assert parts[1] == "One cell is exceptional:"
    assert f"Also odd: {line(other.headline)}." in " ".join(parts[2].split())


@pytest.mark.parametrize(
    ("as_strong", "title", "folded"),
    [
        (
            (0, 50),
            "One cell is exceptional:",
            "text(all=True) shows 1 more finding, of a kind that many rows",
        ),
        (
            (2, 50),
            "Nothing is exceptional, but one cell is unusual:",
            "text(all=True) shows 1 more finding, of a kind that many rows",
        ),
        ((50, 50), "Nothing in this row is out of the ordinary: 50 other", "what comes closest."),
        ((50,), "Nothing in this row is out of the ordinary: 50 other", "what comes closest."),
    ],
)
def test_what_does_not_stand_out_is_folded(
    sick: outlying.Findings, as_strong: tuple[int, ...], title: str, folded: str
) -> None:
    findings = compared(sick, *as_strong)
    parts = findings.text().split("\n\n")
    assert parts[1].startswith(title)
    assert folded in findings.text()
    whole = findings.text(all=True)
    assert "shows" not in whole
    assert all(story.sentence in " ".join(whole.split()) for story in findings.stories)
    if not findings.stands_out:
        assert "50 other rows are at least as odd." in " ".join(parts[1].split())
        assert "expected" not in findings.text(), "nothing odd is named below such a title"
    assert ("exceptional:" in findings.text()) == findings.exceptional


def test_what_is_unusual_is_marked_beside_what_is_exceptional(sick: outlying.Findings) -> None:
    first, second = compared(sick, 0, 5).text().split("\n\n")[2:4]
    assert not first.startswith(" 1. Unusual: ")
    assert second.startswith(" 2. Unusual: ")
    text = compared(sick, 3, 5).text()
    assert "\n\nNothing is exceptional, but 2 cells are unusual:\n" in text
    assert "3 other rows are at least as odd." in text


def test_findings_have_the_rank_of_their_strongest_story(sick: outlying.Findings) -> None:
    for as_strong, exceptional, unusual in ((1, True, False), (5, False, True), (9, False, False)):
        findings = compared(sick, as_strong, 50)
        assert (findings.as_strong, findings.judged) == (as_strong, 300)
        assert (findings.exceptional, findings.unusual) == (exceptional, unusual)
        assert findings.strength == max(story.strength for story in findings.stories)


def test_each_interface_has_its_words(sick: outlying.Findings) -> None:
    hints = (
        Hint("exclude", "leaves it out", ("the label",)),
        Hint("top", "shows more findings"),
        Hint("exact", "searches all rows", True),
    )
    findings = dataclasses.replace(compared(sick, 0, 50), hints=hints)
    here, shell = findings.text(all=True), render(findings, Look(everything=True, terms=EXPLAIN))
    assert here.startswith("Row 7 of")
    for said in (
        'exclude=["the label"] leaves',
        "A higher top",
        "exact=True",
    ):
        assert f"- {said}" in here
    assert shell.startswith("Row 8 of")
    for said in (
        "--exclude 'the label' leaves",
        "A higher --top",
        "--exact s",
    ):
        assert f"- {said}" in shell
    found = render(findings, Look(everything=True, terms=DETECT))
    assert "- A higher --pairs" in found
    assert "exact" not in found
    assert "text(all=True) shows 1 more" in findings.text()
    assert "--all shows 1 more" in render(findings, Look(terms=EXPLAIN))
    lined = dataclasses.replace(EXPLAIN, header=1)
    assert render(findings, Look(terms=lined)).startswith("Row 8 (line 9) of")


def test_headlines_fit_whatever_they_hold() -> None:
    rng = np.random.default_rng(0)
    wide = "\u6771\u4eac" * 30
    table = {
        wide: [*rng.normal(size=100), 50.0],
        "x" * 90: [*["y" * 200] * 100, "z" * 200],
        "b": [*["\x1b[2J" * 9] * 99, "c", "d"],
    }
    for width in (60, 88):
        text = outlying.explain(table, row=100).text(width=width)
        assert "3 cells are exceptional:" in text
        assert max(text_width(line) for line in text.splitlines()) <= width
        assert "\x1b" not in text


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({}, ("temp = 5.2", "expected 27 to 33", "where city = A")),
        (
            {"conditions": (), "group_size": 90, "known": 90},
            ("temp = 5.2", "expected 27 to 33", ""),
        ),
        (
            {"conditions": (), "group_size": 90, "known": 88, "value": None, "typical": ("known",)},
            ("temp is empty", "expected a value", ""),
        ),
        (
            {"value": "x", "typical": ("the family medicine ward", "travel medicine in town", "b")},
            ("temp = x", "expected the family medicine ward or 2 others", "where city = A"),
        ),
        (
            {"typical": ((1.0, 9.0),)},
            ("temp = 5.2", "rare within 1 to 9", "where city = A"),
        ),
        (
            {"typical": ((1.0, 9.0),), "gap": (4.9, 5.6)},
            ("temp = 5.2", "in a gap between 4.9 and 5.6", "where city = A"),
        ),
    ],
)
def test_headlines(given: dict[str, Any], line: tuple[str, str, str]) -> None:
    assert headline(pair(**given)) == line


def test_a_claim_about_a_cell_is_told_whole() -> None:
    cities = ["CHATHAM"] * 40 + ["LINCOLN"] * 60 + ["CHATHMA"]
    findings = outlying.explain({"city": cities, "n": [i % 7 for i in range(101)]}, row=100)
    assert "1. city = CHATHMA looks like a misspelling of CHATHAM (40 rows)." in findings.text()


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Weekly ", 'kind = "Weekly " has a space at the end, unlike Weekly (40 rows)'),
        (" Weekly", 'kind = " Weekly" has a space at the beginning, unlike Weekly (40 rows)'),
        ("weekly", "kind = weekly differs in capitals from Weekly (40 rows)"),
        ("Week ly", "kind = Week ly differs in its spaces from Weekly (40 rows)"),
    ],
)
def test_what_is_hard_to_see_is_said(text: str, claim: str) -> None:
    kinds = ["Weekly"] * 40 + ["Monthly"] * 60 + [text]
    findings = outlying.explain({"kind": kinds, "n": [i % 7 for i in range(101)]}, row=100)
    found = findings.stories[0]
    assert found.headline.detail == claim
    assert found.sentence == f"{claim}. No other row is like that."


def test_a_line_has_no_stray_comma() -> None:
    cities = ["CHATHAM"] * 40 + ["LINCOLN"] * 60 + ["CHATHMA"]
    table = {"city": cities, "n": [i % 7 for i in range(101)]}
    found = outlying.explain(table, row=100).stories[0].headline
    assert line(found) == "city = CHATHMA looks like a misspelling of CHATHAM (40 rows)"
    assert line(pair()) == "temp = 5.2, expected 27 to 33 where city = A"


@pytest.mark.parametrize(
    ("column", "others", "said"),
    [
        ("salary", (), "Unusual salary"),
        ("currency", ("country",), "Currency does not fit the country"),
        ("currency_code", ("country", "job"), "currency_code does not fit country and job"),
        ("job (spelling)", (), "Misspelt job"),
        ("zip (pattern)", (), "Oddly written zip"),
        ("paid (hour)", (), "Unusual hour of paid"),
        ("paid (hour)", ("kind",), "Hour of paid does not fit the kind"),
        ("amount", ("paid_at (hour)",), "Amount does not fit the hour of paid_at"),
        ("tx (repeated)", (), "Repeated tx"),
    ],
)
def test_kinds_of_findings_in_a_few_words(column: str, others: tuple[str, ...], said: str) -> None:
    assert kind_of(column, others) == said
    assert kind_of(column, others, is_empty=True).startswith("Empty ")
