"""Pages in a real browser: at any width, light and dark, by keyboard, on paper, hostile or not."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys

import outlying
from benchmarks.paper import document
from tests import browser as browsers
from tests.browser import Browser

pytestmark = pytest.mark.slow

HOSTILE = [
    "<script>window.harmed = 1</script>",
    "<img src=x onerror='window.harmed = 1'>",
    "\"'><svg onload=window.harmed=1>",
    "</style></title><b>bold</b>",
    "{{ 7 * 7 }} {% raise %}",
    "\u202egnorw eht yaw dnuor",
    "\x00\x07\x1b[2Jcodes\r\n",
    "long" * 2500,
    "שלום עולם",
    "\ud800 half",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from browsers.started()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = resources.files("outlying") / "data"
    patient = json.loads((data / "patient.json").read_text(encoding="utf-8"))
    findings = outlying.explain(Path(str(data / "patients.csv")), object=patient)
    return written(tmp_path_factory, findings.to_html())


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(4)
    city = np.repeat(["A", "B"], 150)
    temp = np.where(city == "A", rng.normal(30, 1, 300), rng.normal(5, 1, 300))
    temp[:3] = 5.2
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, 300)
    table = {"city": city, "temp": temp, "pay": rng.lognormal(3, 2, 300), "day": days}
    found = outlying.explain_many(table, rows=[0, 1, 2, 200, 250])
    return written(tmp_path_factory, outlying.report(found))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A row of which nothing stands out."""
    values = np.random.default_rng(5).normal(size=(200, 3))
    table = {name: values[:, place] for place, name in enumerate("abc")}
    row = int(np.argsort(np.abs(values).sum(axis=1))[150])
    return written(tmp_path_factory, outlying.explain(table, row=row).to_html())


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    values = np.random.default_rng(5).normal(size=(200, 60))
    table = {f"column_{place:02}": values[:, place] for place in range(60)}
    table["column_30"][0] = 30.0
    return written(tmp_path_factory, outlying.explain(table, row=0).to_html())


def open_all(browser: Browser) -> None:
    browser.ask("document.querySelectorAll('details').forEach(item => item.open = true)")


def written(folders: pytest.TempPathFactory, page: str) -> Path:
    path = folders.mktemp("page") / "page.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("name", ["demo", "many", "plain", "wide"])
def test_pages_are_sound(
    browser: Browser, request: pytest.FixtureRequest, name: str, width: int, scheme: str
) -> None:
    path: Path = request.getfixturevalue(name)
    browser.open(path, width, scheme)
    open_all(browser)
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.all("article.card")
    assert browser.complaints() == []
    assert browser.requests() == [path.as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["demo", "many", "plain", "wide"])
def test_pages_are_accessible(
    browser: Browser, request: pytest.FixtureRequest, name: str, scheme: str
) -> None:
    browser.open(request.getfixturevalue(name), 400, scheme)
    open_all(browser)
    assert browser.violations() == []


def test_the_check_of_accessibility_checks(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page = "<!doctype html><html lang=en><title>t</title><p style='color:#ddd'>pale</p>"
    browser.open(written(tmp_path_factory, page))
    assert [item.split(":")[0] for item in browser.violations()] == ["color-contrast"]


def test_pictures_are_drawn(browser: Browser, demo: Path) -> None:
    """What is marked is where the label says, and labels stay inside of their picture."""
    browser.open(demo, 400)
    open_all(browser)
    for plot in browser.all(".plot:not(.strip):not(.cdf)"):
        box = plot.rect
        line = plot.find_element("css selector", "line.mark").rect
        assert box["x"] <= line["x"] <= box["x"] + box["width"]
        for label in plot.find_elements("css selector", ".at"):
            assert box["x"] - 1 <= label.rect["x"]
            assert label.rect["x"] + label.rect["width"] <= box["x"] + box["width"] + 1
        own = plot.find_element("css selector", ".at.mark").rect
        assert own["x"] - 2 <= line["x"] <= own["x"] + own["width"] + 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_the_strip_shows_what_is_odd(browser: Browser, many: Path, width: int, scheme: str) -> None:
    """The odd cell is seen without scrolling, by its shade, its frame, its weight, its number."""
    browser.open(many, width, scheme)
    cells = browser.all("#object-1 .cells li")
    assert [cell.text.split("\n")[0] for cell in cells] == ["city", "temp", "pay", "day"]
    (odd,) = (cell for cell in cells if cell.find_elements("css selector", ".number"))
    assert odd.text.split("\n")[:2] == ["temp", "5.2"]
    assert all(
        cell.is_displayed() and cell.rect["x"] + cell.rect["width"] <= width for cell in cells
    )
    ordinary = cells[2]
    for style in ("backgroundColor", "outlineStyle"):
        assert looks(browser, odd, style) != looks(browser, ordinary, style)
    value = [cell.find_element("css selector", ".value") for cell in (odd, ordinary)]
    assert [looks(browser, item, "fontWeight") for item in value] == ["700", "400"]
    assert odd.rect["y"] + odd.rect["height"] < 900


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["demo", "many", "plain"])
def test_texts_stand_out_from_every_shade(
    browser: Browser, request: pytest.FixtureRequest, name: str, scheme: str
) -> None:
    browser.open(request.getfixturevalue(name), 375, scheme)
    checked = 0
    for cell in browser.all(".cells li"):
        ground = colour(browser, looks(browser, cell, "backgroundColor"))
        for text in cell.find_elements("css selector", ".name, .value"):
            if ground is not None:
                ink = colour(browser, looks(browser, text, "color"))
                assert ink is not None
                assert contrast(ink, ground) >= 4.5
                checked += 1
        for number in cell.find_elements("css selector", ".number"):
            pair = [
                colour(browser, looks(browser, number, s)) for s in ("color", "backgroundColor")
            ]
            assert pair[0] is not None
            assert pair[1] is not None
            assert contrast(pair[0], pair[1]) >= 4.5
    assert checked >= 6


def colour(browser: Browser, text: str) -> list[float] | None:
    """Return a colour as the screen shows it, red, green and blue; None where it is transparent."""
    script = (
        "(c => {const x = document.createElement('canvas').getContext('2d');"
        "x.fillStyle = c; x.fillRect(0, 0, 1, 1); return [...x.getImageData(0, 0, 1, 1).data]})"
    )
    *found, alpha = browser.ask(f"{script}(arguments[0])", text)
    return found if alpha else None


def contrast(one: list[float], other: list[float]) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(parts: list[float]) -> float:
    linear = [
        part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in parts
    ]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def looks(browser: Browser, element: Any, style: str) -> Any:
    return browser.ask(f"getComputedStyle(arguments[0]).{style}", element)


def test_the_number_of_an_odd_cell_leads_to_its_card(browser: Browser, demo: Path) -> None:
    browser.open(demo)
    number = browser.all(".cells a.number")[0]
    number.send_keys(Keys.ENTER)
    card = browser.ask("document.querySelector(location.hash)")
    name = number.find_element("xpath", "../*[@class='name']").text
    assert card.find_element("css selector", "h3").text.startswith(name)
    assert 0 <= browser.ask("arguments[0].getBoundingClientRect().top", card) < 900


def test_keys_open_what_is_folded(browser: Browser, wide: Path) -> None:
    browser.open(wide)
    folds = browser.all("main .row summary, main article summary, main .weaker > summary")
    assert len(folds) >= 3
    for summary in folds:
        if summary.is_displayed():
            inside = summary.find_element("xpath", "following-sibling::*")
            assert not inside.is_displayed()
            summary.send_keys(Keys.ENTER)
            assert inside.is_displayed()


def test_that_nothing_stands_out_is_said_at_once(browser: Browser, plain: Path) -> None:
    browser.open(plain, 375)
    said = browser.all("main h3.headline")[0]
    assert said.text.startswith("Nothing in this row is out of the ordinary")
    assert said.rect["y"] < 900
    assert not any(card.is_displayed() for card in browser.all("article"))
    assert browser.all(".cells .odd") == []


def test_the_window_of_a_far_value_is_drawn(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rng = np.random.default_rng(2)
    findings = outlying.explain({"v": [*rng.normal(size=199), 9.0]}, row=199)
    pair = dataclasses.replace(findings.pairs[0], scale=16, near=1, reach=4.0)
    browser.open(written(tmp_path_factory, pair._repr_html_()))
    (window,), (mark,) = browser.all("path.window"), browser.all("line.mark:not(.cdf line)")
    assert "no other row within 4" in browser.all(".at.mark")[0].text
    left, right = window.rect["x"], window.rect["x"] + window.rect["width"]
    assert left < mark.rect["x"] < right
    (typical,) = browser.all("path.typical")
    assert typical.rect["x"] + typical.rect["width"] < left


@pytest.mark.parametrize("width", [320, 400])
def test_long_values_stay_on_their_card(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, width: int
) -> None:
    rng = np.random.default_rng(7)
    moments = np.datetime64("2024-01-01", "us") + rng.integers(0, 10**10, 200)
    moments[-1] += 10**11
    table = {
        "at": moments,
        "name": ["W" * 60 + str(place % 7) for place in range(199)] + ["W" * 99],
    }
    findings = outlying.explain(table, row=199)
    assert {pair.property for pair in findings.pairs} == set(table)
    browser.open(written(tmp_path_factory, findings.to_html()), width)
    open_all(browser)
    for element in browser.all(".card, .at, .ends, h3, table, .item"):
        box = element.rect
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    for word in browser.all(".cdf .ends span"):
        assert word.rect["height"] < 20 or " " in word.text


def test_terms_are_explained_by_keyboard(browser: Browser, demo: Path) -> None:
    browser.open(demo)
    button = browser.all("article button.term")[0]
    tip = browser.all("#outlying-rarity")[0]
    assert not button.is_displayed()
    button.find_element("xpath", "ancestor::details/summary").send_keys(Keys.ENTER)
    assert button.is_displayed()
    assert not tip.is_displayed()
    button.send_keys(Keys.ENTER)
    assert tip.is_displayed()
    assert "typical one of the group" in tip.text
    button.send_keys(Keys.ESCAPE)
    assert not tip.is_displayed()


def test_the_first_key_skips_to_the_findings(browser: Browser, demo: Path) -> None:
    browser.open(demo)
    browser.all("body")[0].send_keys(Keys.TAB)
    skip = browser.all("a.skip")[0]
    assert browser.ask("document.activeElement === arguments[0]", skip)
    skip.send_keys(Keys.ENTER)
    assert browser.ask("location.hash") == "#findings"


def test_stories_lead_to_their_rows(browser: Browser, many: Path) -> None:
    browser.open(many)
    links = browser.all("nav a")
    assert len(links) == 5
    links[-1].click()
    target = browser.ask("document.querySelector(location.hash)")
    assert abs(browser.ask("arguments[0].getBoundingClientRect().top", target)) < 220


def test_paper_shows_everything(browser: Browser, demo: Path) -> None:
    browser.open(demo, 1280, "dark")
    browser.prefer("dark", media="print")
    assert browser.all("details")[0].get_attribute("open") is None
    assert browser.all(".plot.cdf")[0].rect["height"] > 60
    page = browser.ask("getComputedStyle(document.body).backgroundColor")
    assert page == "rgb(255, 255, 255)"
    browser.prefer()
    pdf = base64.b64decode(browser.tell("Page.printToPDF")["data"])
    assert pdf.startswith(b"%PDF")


def hostile_table() -> dict[str, Any]:
    rng = np.random.default_rng(6)
    table: dict[str, Any] = {name: list(rng.normal(size=121)) for name in HOSTILE[:-1]}
    for place, name in enumerate(HOSTILE[:-1]):
        table[name][120] = 30.0 + place
    table[HOSTILE[-1]] = [HOSTILE[row % 5] for row in range(120)] + [HOSTILE[7]]
    table["kind"] = [HOSTILE[row % 2] for row in range(121)]
    return table


@pytest.mark.parametrize("width", [375, 1280])
def test_hostile_texts_are_shown_as_texts(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, width: int
) -> None:
    findings = outlying.explain(hostile_table(), row=120, top=30)
    path = written(tmp_path_factory, findings.to_html())
    browser.open(path, width)
    strip = browser.all(".cells")[0].text
    assert all(text in strip for text in (HOSTILE[0], "\\u202egnorw", "\\x1b[2Jcodes", "longlong"))
    assert "long" * 30 not in strip
    open_all(browser)
    shown = browser.ask("document.body.innerText")
    for text in HOSTILE[:5]:
        assert text in shown
    for code in ("\\u202egnorw", "\\x00\\x07\\x1b[2Jcodes\\r\\n", "\\ud800 half", "longlong"):
        assert code in shown
    assert "שלום עולם" in shown
    assert browser.ask("window.harmed") is None
    assert browser.ask("document.querySelectorAll('script, img, b:not(.bar b)').length") == 0
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []
    assert browser.requests() == [path.as_uri()]


@pytest.mark.parametrize(
    ("theme", "ink"), [("true", "rgb(27, 31, 36)"), ("false", "rgb(232, 234, 237)")]
)
def test_cards_in_a_notebook_follow_its_theme(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, theme: str, ink: str
) -> None:
    findings = outlying.explain({"v": [*[1.0, 2.0, 3.0, 2.0] * 5, 9.0]}, row=20)
    cards = [findings._repr_html_(), findings.pairs[0]._repr_html_()]
    body = f'<!doctype html><meta charset="utf-8"><body data-jp-theme-light="{theme}">'
    path = written(tmp_path_factory, body + "".join(cards))
    browser.open(path, 700, "dark" if theme == "true" else "light")
    colours = [
        browser.ask("getComputedStyle(arguments[0]).color", e) for e in browser.all(".outlying")
    ]
    assert colours == [ink, ink]
    open_all(browser)
    browser.all("button.term")[-1].click()
    assert sum(tip.is_displayed() for tip in browser.all("[popover]")) == 1


def test_the_papers_page_is_readable_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    """Wide tables and figures scroll by themselves; they are not squeezed."""
    words = "a sentence that is long enough to be wrapped " * 5
    blocks = (document.Grid(("a", "b", "c"), ((words, words, words),)),)
    figure = document.Figure("a.svg", "a figure", "its caption")
    page = document.Document("Title", words, (document.Section("One", (*blocks, figure)),))
    svg = "<svg xmlns='http://www.w3.org/2000/svg' width='800' height='300'/>"
    path = tmp_path / "page.html"
    path.write_text(document.html(page, {"a.svg": svg}), encoding="utf-8")
    for width, least in ((400, 600), (1280, 700)):
        browser.open(path, width)
        assert browser.ask("document.documentElement.scrollWidth") <= width
        assert browser.ask("document.images[0].clientWidth") >= least
        assert browser.ask("document.querySelector('table').clientWidth") >= least
        assert browser.complaints() == []
        assert browser.ask("document.querySelectorAll('.scroll[tabindex]').length") == 2
