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
from outlying.render.text import render, text_width
from outlying.results.stories import Rank
from outlying.results.wording import Hint, figure, headline, percent, times
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
    assert pair().sentence == (
        "temp = 5.2 is exceptional among the 29,926 rows (30%) where city = A: temp is "
        "typically 27.0 to 33.0 there, and 5.2 is 310 times rarer than a typical value. Over the "
        "whole table, 5.2 is ordinary."
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"conditions": (), "group_size": 336, "known": 336},
            "among all 336 rows: temp is typically 27.0 to 33.0, and",
        ),
        ({"known": 100}, "(temp is known for 100 of them)"),
        ({"is_finding": False}, "is a little unusual among"),
        ({"rank": Rank(50, 100)}, "temp = 5.2 is a little unusual among"),
        ({"overall_outlierness": 0.8}, "Over the whole table, 5.2 stands out less."),
        ({"overall_outlierness": 0.999}, "Over the whole table, 5.2 stands out as well."),
        ({"rank": Rank(2, 100, unusual=True)}, "temp = 5.2 is unusual among"),
        ({"rank": Rank(0, 100, exceptional=True)}, "temp = 5.2 is exceptional among"),
        ({"value": None, "typical": ("known",)}, "temp is missing, which is exceptional among"),
        (
            {"value": None, "typical": ("known",)},
            "temp is typically known there, and a missing value is 310 times rarer.",
        ),
        ({"value": "x", "typical": ("a", "b")}, "temp is typically a or b there, and x is"),
        ({"value": "x", "typical": ("a", "b", "c", "d", "e")}, "typically a, b, c or 2 others"),
        ({"value": "x", "typical": ("a", "b", "c", "d")}, "typically a, b, c or 1 other there"),
        ({"value": "b", "typical": ("a", "b")}, "temp is typically a there, and b is"),
        ({"value": "x" * 30}, "and this value is 310 times rarer"),
        ({"typical": ((1.0, 1.0), (3.0, 4.5))}, "is typically 1.0 or 3.0 to 4.5 there,"),
        (
            {"typical": ((1.0, 1.0), (3.0, 4.5), (6.0, 6.0), (7.0, 7.0))},
            "is typically 1.0, 3.0 to 4.5, 6.0 or 1 other range there,",
        ),
        (
            {"typical": ((1.0, 9.0),), "gap": (4.9, 5.6), "is_finding": False},
            "1.0 to 9.0 there, and 5.2 is 310 times",
        ),
        ({"typical": ((2.483660, 4.512349),)}, "is typically 2.48 to 4.51 there,"),
        (
            {"typical": ((1.0, 9.0),)},
            "1.0 to 9.0 there; though 5.2 is inside this range, few rows are near it: it is 310 "
            "times rarer",
        ),
        ({"typical": ((1.0, 9.0),), "is_finding": False}, "there, and 5.2 is 310 times"),
        (
            {"typical": ((1.0, 9.0),), "gap": (4.9, 5.6)},
            "1.0 to 9.0 there, but 5.2 is in a gap: no other row there is between 4.9 and 5.6, "
            "which makes it 310 times rarer than a typical value.",
        ),
        (
            {"scale": 8, "near": 1, "reach": 1.2571},
            "310 times rarer than a typical value. No other row there is within 1.2 of it. Over",
        ),
        ({"scale": 8, "near": 1, "reach": 1299.0}, "within 1200 of it"),
        ({"scale": 8, "near": 2, "reach": 1.2571}, "310 times rarer than a typical value. Over"),
        (
            {"scale": 2, "near": 1, "reach": 86_400 * 45.9, "value": dt.date(2024, 5, 17)}
            | {"typical": ((dt.date(2020, 1, 1), dt.date(2020, 2, 1)),), "conditions": ()},
            "2020-01-01 to 2020-02-01, and 2024-05-17 is 310 times rarer than a typical value. No "
            "other row is within 45 days of it.",
        ),
        (
            {"scale": 2, "near": 1, "reach": 3_700.0, "value": dt.timedelta(hours=5)}
            | {"typical": ((dt.timedelta(0), dt.timedelta(minutes=9)),)},
            "No other row there is within 1 hour of it",
        ),
        (
            {
                "conditions": tuple(
                    outlying.Condition(name, "equals", value="x") for name in ("a", "b", "c")
                )
            },
            "where a = x, b = x and c = x:",
        ),
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


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0, 408_059.4, "0 to 408059"),
        (36.251234, 37.0912, "36.251 to 37.091"),
        (27.0, 33.0, "27.0 to 33.0"),
        (0.00012348, 0.00019876, "0.0001235 to 0.0001988"),
        (1234.5678, 99999.4, "1234.6 to 99999.4"),
        (5.0, 5.0, "5.0"),
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
    ("rank", "said"),
    [
        (None, ""),
        (Rank(0, 100_000), "No other row of the 100,000 has a finding this strong."),
        (Rank(1, 100_000), "1 other row of the 100,000 has a finding at least as strong."),
        (Rank(1200, 100_000), "1,200 other rows of the 100,000 have a finding at least as strong."),
        (Rank(0, 500), "No other row of the 500 that were drawn has a finding this strong."),
        (Rank(0, 99_999), "No other row of the 99,999 has a finding this strong."),  # of a new one
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
    lines = parts[1].splitlines()
    assert lines[0] == "2 things stand out:"
    assert len(lines) == 3
    for line, story in zip(lines[1:], findings.stories, strict=True):
        assert line.startswith(f"  {story.culprit} = ")
    assert len({line.index("  expected ") for line in lines[1:]}) == 1  # below each other
    assert any(line.endswith("  among all 300 rows") for line in lines)
    for number, (part, story) in enumerate(zip(parts[2:], findings.stories, strict=False), 1):
        assert part.startswith(f" {number}. {story.culprit} = ")
        assert " ".join(part.split()).startswith(f"{number}. {story.sentence} ")
        assert f"\n    {story.headline.standing}" in part
        assert ("Also told as: " in part) == (len(story.pairs) > 1)
    for term in ("strength", "lift", "tail", "outlierness"):
        assert term not in findings.text()
        assert term in findings.text(all=True)


def test_other_tellings_are_one_line(sick: outlying.Findings) -> None:
    (relation,) = (story for story in sick.stories if set(story.columns) == {"city", "temp"})
    other = relation.others[0]
    condition = other.conditions[0]
    said = f"Also told as: {other.property} = {text_of(other.value)} where {condition}"
    assert said in " ".join(sick.text().split())


@pytest.mark.parametrize(
    ("as_strong", "title", "folded"),
    [
        ((0, 50), "One thing stands out:", "1 weaker finding is no stronger than those of many"),
        ((2, 50), "Unusual:", "1 weaker finding is no stronger than those of many"),
        ((50, 50), "Nothing stands out: 50 other", "text(all=True) shows 1 weaker finding."),
        ((50,), "Nothing stands out: 50 other", ""),
    ],
)
def test_what_does_not_stand_out_is_folded(
    sick: outlying.Findings, as_strong: tuple[int, ...], title: str, folded: str
) -> None:
    findings = compared(sick, *as_strong)
    parts = findings.text().split("\n\n")
    assert parts[1].startswith(title)
    assert folded in findings.text()
    assert ("weaker" in findings.text()) == bool(folded)
    whole = findings.text(all=True)
    assert "weaker" not in whole
    assert all(story.sentence in " ".join(whole.split()) for story in findings.stories)
    if not findings.stands_out:
        first = findings.stories[0].headline
        assert f"The closest is {first.property} = {text_of(first.value)}, expected" in parts[1]
        assert "50 other rows of the 300 have a finding at least" in " ".join(parts[1].split())
    assert ("exceptional" in findings.text()) == findings.exceptional


def test_what_is_unusual_is_marked_beside_what_is_exceptional(sick: outlying.Findings) -> None:
    first, second = compared(sick, 0, 5).text().split("\n\n")[1].splitlines()[1:]
    assert not first.endswith("(unusual)")
    assert second.endswith("(unusual)")
    text = compared(sick, 3, 5).text()
    assert "\n\nUnusual:\n" in text
    assert "(unusual)" not in text
    assert "3 other rows of the 300 have a finding at least as strong." in text


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
    here, shell = findings.text(all=True), render(findings, everything=True, terms=EXPLAIN)
    assert here.startswith("Row 7 of")
    for said in (
        'exclude=["the label"] leaves',
        "A higher top",
        "exact=True",
    ):
        assert f"- {said}" in here
    assert shell.startswith("Data row 8 of")
    for said in (
        "--exclude 'the label' leaves",
        "A higher --top",
        "--exact s",
    ):
        assert f"- {said}" in shell
    found = render(findings, everything=True, terms=DETECT)
    assert "- A higher --pairs" in found
    assert "exact" not in found
    assert "text(all=True) shows it." in findings.text()
    assert "--all shows it." in render(findings, terms=EXPLAIN)


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
        assert "3 things stand out" in text
        assert max(text_width(line) for line in text.splitlines()) <= width
        assert "\x1b" not in text


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({}, ("temp = 5.2", "expected 27.0 to 33.0", "where city = A")),
        (
            {"conditions": (), "group_size": 90, "known": 90},
            ("temp = 5.2", "expected 27.0 to 33.0", "among all 90 rows"),
        ),
        (
            {"conditions": (), "group_size": 90, "known": 88, "value": None, "typical": ("known",)},
            ("temp is missing", "expected a value", "among 88 rows"),
        ),
        (
            {"value": "x", "typical": ("family medicine", "travel medicine", "b")},
            ("temp = x", "expected family medicine or 2 others", "where city = A"),
        ),
        (
            {"typical": ((1.0, 9.0),)},
            ("temp = 5.2", "rare within 1.0 to 9.0", "where city = A"),
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
    assert "\n  city = CHATHMA looks like a misspelling of CHATHAM (40 rows)\n" in findings.text()


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
    assert found.sentence.endswith(": no other row is like that.")


def test_the_closest_claim_has_no_stray_comma() -> None:
    cities = ["CHATHAM"] * 40 + ["LINCOLN"] * 60 + ["CHATHMA"]
    table = {"city": cities, "n": [i % 7 for i in range(101)]}
    quiet = compared(outlying.explain(table, row=100), 50)
    assert "The closest is city = CHATHMA looks like" in " ".join(quiet.text().split())
