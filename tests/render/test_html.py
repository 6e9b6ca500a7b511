"""Pages and cards: complete, harmless, the same each time. A browser looks at them elsewhere."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.render import scene
from outlying.render.html import cell_strip
from outlying.results.stories import Rank
from tests.conftest import Run

HOSTILE = "</style><script>alert(1)</script>\"'&\u202e\x1b[2J" + "x" * 10_000


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    rng = np.random.default_rng(9)
    city = np.repeat(["A", "B"], 150)
    temp = np.where(city == "A", rng.normal(30, 1, 300), rng.normal(5, 1, 300))
    temp[:3] = 5.2
    return {"city": city, "temp": temp, "wind": rng.normal(size=300), "same": ["x"] * 300}


@pytest.fixture(scope="module")
def findings(table: dict[str, Any]) -> outlying.Findings:
    return outlying.explain(table, row=0)


def test_a_page_says_it_all(findings: outlying.Findings) -> None:
    page = findings.to_html()
    assert page.startswith("<!doctype html>")
    assert f"Why is row 1 of {findings.population.source} an outlier?" in page
    for pair in findings.pairs:
        assert pair.sentence in html.unescape(page)
    for said in ("How to read this", "Columns that were not compared", "min_support", "same"):
        assert said in page


def test_a_page_loads_nothing_and_runs_nothing(findings: outlying.Findings) -> None:
    page = findings.to_html()
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r"(?:src|href)=\"(?!#|data:,)", page)
    assert "http:" not in page
    assert "https:" not in page


def test_the_same_bytes_each_time(table: dict[str, Any], findings: outlying.Findings) -> None:
    assert outlying.explain(table, row=0).to_html() == findings.to_html()


@pytest.mark.parametrize("derive", [True, False])
def test_hostile_texts_are_escaped(derive: bool) -> None:
    """As a condition of a group, and as what another column says."""
    rng = np.random.default_rng(1)
    data = {HOSTILE: [HOSTILE] * 60 + ["b"] * 60 + [HOSTILE], "v": [*rng.normal(size=120), 9.0]}
    data["v"][:60] = list(rng.normal(50, 1, 60))
    findings = outlying.explain(data, row=120, derive=derive)
    named = [pair for pair in findings.pairs if (pair.given if derive else pair.conditions)]
    cards = [pair._repr_html_() for pair in named]
    assert cards
    for page in (findings.to_html(), findings._repr_html_(), *cards):
        assert "<script" not in page
        assert "&lt;script&gt;" in page
        assert page.count("</style>") == 1
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert "x" * 500 not in page


@pytest.fixture(scope="module")
def many(table: dict[str, Any]) -> list[outlying.Findings]:
    return list(outlying.explain_many(table, rows=[0, 1, 200, 2]))


def test_a_report_groups_rows_with_the_same_story(many: list[outlying.Findings]) -> None:
    page = outlying.report(many)
    assert f"Why are these 4 rows of {many[0].population.source} outliers?" in page
    nav = page.split("<nav")[1].split("</nav>")[0]
    for story in outlying.patterns(many):
        assert (story.name in nav) is (story.count > 1)
    assert re.findall(r'href="#object-(\d)">([\d,]+)<', nav)[:2] == [("1", "1"), ("2", "2")]
    for number in range(1, 5):
        assert f'id="object-{number}"' in page


def test_a_report_begins_with_the_oddest(table: dict[str, Any]) -> None:
    """A line each with rank, row, odd cell and what was expected; a note on all of them is once."""
    found = list(outlying.explain_many(table, rows=[200, 0, 1]))
    noted = [dataclasses.replace(item, notes=("Said of all.",)) for item in found]
    noted[1] = dataclasses.replace(noted[1], notes=("Said of all.", "Said of one."))
    page = outlying.report(noted)
    ranking = page.split('class="plain ranking"')[1].split("</table>")[0]
    assert re.findall(r'<td class="number-of">(\d)</td>', ranking) == ["1", "2", "3"]
    ranked = [int(place) for place in re.findall(r'href="#object-(\d)"', ranking)]
    assert ranked == [2, 3, 1]
    assert re.findall(r'<section class="object" id="object-(\d)"', page) == ["2", "3", "1"]
    assert "<strong>temp = 5.2</strong>" in ranking
    assert page.count("Said of all.") == 1
    assert "<li>Row 1: Said of one.</li>" in page


def test_a_row_that_was_asked_for_twice_is_shown_twice(table: dict[str, Any]) -> None:
    page = outlying.report(outlying.explain_many(table, rows=[0, 0]))
    nav = page.split("<nav")[1].split("</nav>")[0]
    assert re.findall(r'href="#object-(\d)"', nav) == ["1", "2"]


def test_new_objects_are_counted(table: dict[str, Any]) -> None:
    objects = [{"city": "A", "temp": 5.0, "wind": 0.0, "same": "x"}] * 2
    page = outlying.report(outlying.explain_many(table, objects=objects))
    assert "New row 2" in page
    assert "Why are these 2 new rows outliers against" in page


def test_a_report_is_about_one_table(many: list[outlying.Findings]) -> None:
    other = outlying.explain({"a": [1.0, 2.0, 9.0]}, row=2)
    with pytest.raises(outlying.OptionError, match="a report is about one table"):
        outlying.report([many[0], other])
    with pytest.raises(outlying.OptionError, match="needs at least one"):
        outlying.report([])
    with pytest.raises(outlying.OptionError, match="a list of what explain"):
        outlying.report(None)  # type: ignore[arg-type]
    other = dataclasses.replace(many[1], options=outlying.Options(top=1))
    with pytest.raises(outlying.OptionError, match=r"findings\[1\] has other options"):
        outlying.report([many[0], other])
    with pytest.raises(outlying.OptionError, match="what explain"):
        outlying.report([many[0].pairs[0]])  # type: ignore[list-item]


def test_a_report_on_one_row(findings: outlying.Findings) -> None:
    page = outlying.report(findings)
    assert page == outlying.report([findings])
    assert f"Why is row 1 of {findings.population.source} an outlier?" in page


def test_rows_without_the_property_are_not_counted() -> None:
    """A picture says how many rows it is drawn from, and why not from all."""
    rng = np.random.default_rng(2)
    city = np.repeat(["A", "B"], 150)
    temp = np.where(city == "A", rng.normal(30, 1, 300), rng.normal(5, 1, 300))
    temp[:2], temp[2::3] = 5.2, np.nan
    findings = outlying.explain({"city": city, "temp": temp}, row=0, derive=False)
    pair = next(pair for pair in findings.pairs if pair.property == "temp" and pair.conditions)
    assert pair.known < pair.group_size
    card = pair._repr_html_()
    known = np.count_nonzero(~np.isnan(temp))
    assert f"{pair.known} rows where city = A and temp is filled" in card
    assert f"the {known} rows where temp is filled" in card
    title = pair.plot("property").axes[0].get_title("left").replace("\n", " ")
    assert f"{pair.known} rows where city = A and temp is filled" in title


def cells_of(page: str) -> list[list[tuple[str, str]]]:
    """Return the lists of cells of a page: the attributes of each, and its name."""
    lists = re.findall(r'<ul class="cells".*?</ul>', page, re.DOTALL)
    return [re.findall(r'<li([^>]*)><bdi class="name">([^<]*)', item) for item in lists]


def test_a_page_begins_with_the_row(table: dict[str, Any], findings: outlying.Findings) -> None:
    """The cells stand in the order of the table; what is odd is told by more than its colour."""
    for page in (findings.to_html(), findings._repr_html_()):
        (cells,) = cells_of(page)
        assert [name for _, name in cells] == list(table)
        attributes = {name: attribute for attribute, name in cells}
        assert 'class="odd"' in attributes["temp"]
        assert "--heat:100%" in attributes["temp"]
        assert attributes["wind"] == ""
        assert 'class="out"' in attributes["same"]
        assert "odd, see finding 1" in page
        assert page.index('class="cells"') < page.index("exceptional<") < page.index("<article")


def test_shades_are_blame() -> None:
    rng = np.random.default_rng(8)
    table = {
        name: [*rng.normal(size=199), value] for name, value in zip("abc", (0, 9, 0), strict=True)
    }
    findings = outlying.explain(table, row=199)
    strip = cell_strip(findings)
    assert strip.folded == ()
    assert {cell.name: cell.odd for cell in strip.shown} == {"a": None, "b": 1, "c": None}
    most = max(findings.blame.values())
    for cell in strip.shown:
        assert cell.heat == round(100 * findings.blame[cell.name] / most)


def test_each_odd_cell_is_shaded_though_none_alone_is_to_blame() -> None:
    """Of two findings as strong as each other, neither column makes the row ordinary."""
    rng = np.random.default_rng(8)
    own = [*rng.normal(size=199), 9.0]
    findings = outlying.explain({"a": own, "b": [*reversed(own[:-1]), 9.0]}, row=199)
    assert len([story for story in findings.stories if story.exceptional]) == 2
    assert max(findings.blame.values()) < 0.5
    assert [(cell.odd, cell.heat >= 45) for cell in cell_strip(findings).shown] == [
        (1, True),
        (2, True),
    ]


def weakened(story: outlying.Story) -> outlying.Story:
    """Return the same story as if many rows had one as strong."""
    return story.ranked(Rank(50, 300))


def test_a_row_of_which_nothing_stands_out(findings: outlying.Findings) -> None:
    """What comes closest is behind a click, and no cell is marked."""
    stories = tuple(map(weakened, findings.stories))
    page = dataclasses.replace(findings, stories=stories).to_html()
    said = "Nothing in this row is out of the ordinary: 50 other rows are at least as odd."
    assert f">{said}<" in page
    before = page.split("<summary>What comes closest</summary>")[0]
    assert f"{stories[0].headline.property} = " not in before.split('class="headline"')[1]
    assert page.index('<details class="weaker">') < page.index("<article")
    assert 'class="odd"' not in page
    shades = [int(heat) for heat in re.findall(r"--heat:(\d+)%", page)]
    assert shades
    assert max(shades) <= 25


def test_a_row_without_any_finding() -> None:
    findings = outlying.explain({"a": ["x"] * 20 + ["y"]}, row=0)
    assert findings.stories == ()
    for page in (findings.to_html(), findings._repr_html_()):
        assert ">Nothing in this row is out of the ordinary.<" in page
        assert "<article" not in page
        assert 'class="name">a<' in page


def test_what_stands_out_leads_to_its_card(many: list[outlying.Findings]) -> None:
    page = outlying.report([*many, many[0]])
    targets = re.findall(r'href="#(object-\d+-finding-\d+)"', page)
    ids = re.findall(r'id="([^"]+)"', page)
    assert targets
    assert set(targets) <= set(ids)
    assert len(ids) == len(set(ids))


def test_other_tellings_and_weaker_findings_are_folded(many: list[outlying.Findings]) -> None:
    """A story without its usual place is numbered after those that stand out."""
    first, *_ = many[0].stories
    weak = weakened(dataclasses.replace(first, culprit="city"))
    stories = (weak, dataclasses.replace(first, columns=("temp", "city")))
    page = html.unescape(dataclasses.replace(many[0], stories=stories).to_html())
    assert "One cell is exceptional" in page
    assert "<summary>1 more finding, of a kind that many rows have</summary>" in page
    full, folded = page.split('<details class="weaker">')
    assert full.count("<article") == folded.count("<article") == 1
    for part, story in ((full, stories[1]), (folded, stories[0])):
        assert story.sentence in part.split('class="sentence">')[1].split("</p>")[0]
    assert "The measure behind it" in full
    assert "The measure behind it" not in folded
    assert "<svg" in folded
    others = [pair for story in stories for pair in story.others]
    assert others
    assert all(f"<li>{pair.sentence}</li>" in page for pair in others)


def test_numbers_are_folded(findings: outlying.Findings) -> None:
    """Strength, lift and the like are for those who ask: outside of the folds none is named."""
    page = findings.to_html().split("</header>")[1].split('<section aria-labelledby="read"')[0]
    page = re.sub(r' title="[^"]*"', "", page)
    while "<details" in page:
        page = re.sub(r"<details(?:(?!<details).)*?</details>", "", page, flags=re.DOTALL)
    assert "<svg" in page
    assert not re.search(r"\b(strength|lift|tail|outlierness|rarity)\b", page)


def test_a_wide_row_begins_with_what_matters() -> None:
    rng = np.random.default_rng(3)
    table = {f"c{place:03}": [*rng.normal(size=99), 0.1] for place in range(100)}
    table["c050"][-1] = 9.0
    findings = outlying.explain(table, row=99, top=3)
    page = findings.to_html()
    shown, folded = cells_of(page)
    assert len(shown) < 10
    assert 'class="odd"' in {name: attribute for attribute, name in shown}["c050"]
    assert {name for name, blame in findings.blame.items() if blame} <= {n for _, n in shown}
    assert f"<summary>and {len(folded)} ordinary columns</summary>" in page
    assert len(shown) + len(folded) == 100


def test_outlierness_is_explained_also_that_of_the_paper() -> None:
    findings = outlying.explain({"v": [1.0, 2.0, 3.0, 2.0, 1.5, 9.0]}, row=5, preset="paper")
    for page in (findings._repr_html_(), findings.pairs[0]._repr_html_(), findings.to_html()):
        target = re.findall(r'popovertarget="(outlying-outlierness[^"]*)"', page)[0]
        tip = page.split(f'id="{target}"')[1].split("</div>")[0]
        assert "rarity on a scale" in tip
        assert "the paper's own score" in html.unescape(tip)


def test_empty_texts_can_be_seen() -> None:
    table = {" ": [""] * 30 + ["a"], "": [float(place) for place in range(31)]}
    findings = outlying.explain(table, row=30)
    assert '" " = a' in findings.pairs[0].sentence
    assert 'expected ""' in findings.pairs[0].sentence


def test_a_pair_made_by_hand_has_no_picture(findings: outlying.Findings) -> None:
    pair = dataclasses.replace(findings.pairs[0], picture=None)
    card = pair._repr_html_()
    assert html.escape(pair.sentence) in card
    assert "<svg" not in card
    with pytest.raises(outlying.OptionError, match="nothing to draw"):
        pair.plot()


class TestNotebooks:
    """IPython's own machinery chooses what is shown."""

    def shown(self, thing: Any, **wishes: Any) -> dict[str, str]:
        from IPython.core.formatters import DisplayFormatter

        formatter: Any = DisplayFormatter()
        return dict(formatter.format(thing, **wishes)[0])

    def test_cards_and_text(self, findings: outlying.Findings) -> None:
        shown = self.shown(findings)
        assert shown["text/html"].count('<article class="card') == len(findings.pairs)
        assert shown["text/plain"] == str(findings)

    def test_a_detection_is_a_short_table(self) -> None:
        rng = np.random.default_rng(4)
        name = [f"E{place:03}" for place in range(300)]
        name[7] = "<b>E007</b>"
        found = outlying.detect({"id": name, "v": [*rng.normal(size=299), 40.0]})
        shown = self.shown(found)["text/html"]
        assert shown.count("<table") == 1
        assert "<strong>v = 40</strong>" in shown
        assert "E299" in shown
        assert "<b>" not in shown

    def test_one_pair(self, findings: outlying.Findings) -> None:
        shown = self.shown(findings.pairs[0])
        assert shown["text/html"].count("<article") == 1
        assert shown["text/plain"] == findings.pairs[0].sentence

    def test_text_alone_where_nothing_else_is_shown(self, findings: outlying.Findings) -> None:
        assert set(self.shown(findings, include={"text/plain"})) == {"text/plain"}
        assert "text/html" not in self.shown(findings, exclude={"text/html"})


class TestCommandLine:
    def file(self, folder: Path, table: dict[str, Any]) -> Path:
        path = folder / "t.csv"
        names = list(table)
        lines = [
            ",".join(names),
            *(",".join(map(str, row)) for row in zip(*table.values(), strict=True)),
        ]
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    def test_one_row(self, run: Run, tmp_path: Path, table: dict[str, Any]) -> None:
        source, target = self.file(tmp_path, table), tmp_path / "why.html"
        code, out, err = run("explain", source, "--row", 1, "--format", "html", "-o", target)
        assert (code, out, err) == (0, "", "")
        assert "Why is row 1 of t.csv an outlier?" in target.read_text(encoding="utf-8")
        assert target.read_text(encoding="utf-8") == outlying.explain(str(source), row=0).to_html()

    def test_many_rows(self, run: Run, tmp_path: Path, table: dict[str, Any]) -> None:
        source = self.file(tmp_path, table)
        code, out, _ = run("explain", source, "--rows", "1-2,201", "--format", "html")
        assert code == 0
        assert out == outlying.report(outlying.explain_many(str(source), rows=[0, 1, 200]))

    def test_a_page_is_not_for_a_terminal(
        self, run: Run, tmp_path: Path, table: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        code, _, err = run("explain", self.file(tmp_path, table), "--row", 1, "--format", "html")
        assert code == 2
        assert "add -o report.html" in err


def test_all_views_have_the_same_numbers(findings: outlying.Findings) -> None:
    """Text, JSON, HTML and plots are views of one value."""
    content = json.loads(findings.to_json())["objects"][0]["pairs"]
    page = findings.to_html()
    terms = {"overall": "overall_outlierness", "group": "group_size"}
    shown = [
        {terms.get(term, term): float(value) for term, value in re.findall(pattern, card)}
        for card in page.split("<article")[1:]
        for pattern in [r'popovertarget="outlying-(\w+)">.*?<data value="([^"]+)">']
    ]
    assert len(shown) == len(content) == len(findings.pairs)
    for pair, entry, numbers in zip(findings.pairs, content, shown, strict=True):
        assert len(numbers) == 7
        for name, number in numbers.items():
            assert number == entry[name] == getattr(pair, name)
        text = findings.text(all=True)
        assert f"outlierness {pair.outlierness:.3f} | rarity {pair.rarity:,.4g}" in text
        check_plot(pair)


def check_plot(pair: outlying.Pair) -> None:
    """The lines and labels of a plot are at the numbers of the pair."""
    pair = dataclasses.replace(pair, scale=1)  # without the window around it
    assert pair.picture is not None
    axes = pair.plot().axes
    measure, high = axes[-1], scene.cdf_chart(pair, pair.picture).axis.high
    marks = [line.get_xdata()[0] for line in measure.lines if len(line.get_xdata()) == 2]
    assert any(high * mark == pytest.approx(1 / pair.rarity) for mark in marks)
    assert f"{1 / pair.rarity:.3g}" in {text.get_text() for text in measure.texts}
    chart = scene.property_chart(pair, pair.picture)
    if chart.kind == "density" and isinstance(pair.value, float):
        assert isinstance(chart, scene.Chart)
        own = [line.get_xdata()[0] for line in axes[0].lines if len(line.get_xdata()) == 2]
        assert chart.axis.place(pair.value) in own
        assert chart.kept == pair.typical
        spans = [patch.get_xy()[:, 0] for patch in axes[0].patches[: len(chart.kept)]]
        for item, span in zip(chart.kept, spans, strict=True):
            assert span.min() == pytest.approx(chart.axis.place(item[0]), abs=0.002)
            assert span.max() == pytest.approx(chart.axis.place(item[1]), abs=0.002)


def test_a_page_on_what_is_odd(run: Run, tmp_path: Path, table: dict[str, Any]) -> None:
    """What was detected is explained on one page, with the reason why it was flagged."""
    source, target = TestCommandLine().file(tmp_path, table), tmp_path / "odd.html"
    options = ["--top", 3, "--format", "html", "-o", target]
    code, _, err = run("detect", source, *options)
    assert (code, err) == (0, "")
    page = target.read_text(encoding="utf-8")
    code, _, err = run("detect", source, "--explain", *options)
    assert (code, err) == (0, "")
    assert target.read_text(encoding="utf-8") == page
    assert "What is odd in t.csv, and why?" in page
    assert re.search(r"<p>\d+ of 300 rows of .*t\.csv (is|are) exceptional", page)
    assert len(re.findall(r'<p class="flagged">Number \d: .* = .*\.</p>', page)) == 3
    assert page.count('<section class="object"') == 3
