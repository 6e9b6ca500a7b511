"""The pages in a real browser, used as a person would: by mouse, by keyboard, in two tabs."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser import Browser
from tests.serving import PATIENTS, Served, served, uploaded
from tests.visiting import Visitor, strangers

pytestmark = pytest.mark.slow

HOSTILE = [
    "<script>window.harmed = 1</script>",
    "<img src=x onerror='window.harmed = 1'>",
    "\"'><svg onload=window.harmed=1>",
    "</title></style><b>bold</b>",
    "{{ 7 * 7 }}{% raise %}",
    "javascript:window.harmed=1//",
    "\u202egnorw eht yaw dnuor",
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("tables")
    with served(
        PATIENTS, hostile_table(folder / "hostile.csv"), wide_table(folder / "wide.csv")
    ) as found:
        yield found


@pytest.fixture(autouse=True)
def _is_quiet(browser: Browser, server: Served) -> Iterator[None]:
    """No test leaves a message in the console, or asks anybody else for anything."""
    yield
    assert browser.complaints() == []
    assert strangers(browser, server) == []


def patient() -> dict[str, Any]:
    data = resources.files("outlying") / "data" / "patient.json"
    found: dict[str, Any] = json.loads(data.read_text(encoding="utf-8"))
    return found


def new_patient() -> str:
    """Return the address of the patient of the demo."""
    texts = {
        f"v.{name}": str(value).lower() if isinstance(value, bool) else value
        for name, value in patient().items()
        if value is not None
    }
    return f"/t/patients/new?{urlencode(texts)}"


def wide_table(path: Path) -> Path:
    """Write a table of more columns than a page shows."""
    names = ",".join(f"c{place:03}" for place in range(150))
    lines = [",".join(str(row * place % 97) for place in range(1, 151)) for row in range(1, 41)]
    path.write_text("\n".join([names, *lines]), encoding="utf-8")
    return path


def hostile_table(path: Path) -> Path:
    rng = np.random.default_rng(6)
    names = [*HOSTILE, "kind"]
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(names)
        for row in range(121):
            last = 30.0 if row == 120 else 0.0
            numbers = [round(float(rng.normal()) + last, 3) for _ in names[:-2]]
            out.writerow([*numbers, HOSTILE[row % 5], HOSTILE[row % 2]])
    return path


# --- the whole job ------------------------------------------------------------------------------


def test_a_file_is_uploaded_read_and_looked_through(visitor: Visitor, tmp_path: Path) -> None:
    lines = ["shop,amount,day"]
    lines += [f"shop {row % 3},{20 + row % 40},2024-01-{row % 28 + 1:02}" for row in range(240)]
    lines[18] = "shop 2,,2024-01-18"
    lines[42] = "shop 0,4512,2024-01-14"
    path = tmp_path / "spending.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    visitor.open("/")
    visitor.one("input[type=file]").send_keys(str(path))
    visitor.arrive("/t/spending/odd")  # it opens with what is odd
    visitor.says("amount = 4,512", ".story.exceptional")
    visitor.click(".tabs a", "Table")
    visitor.arrive("/t/spending")
    visitor.says("Rows 1 to 50 of 240")
    assert visitor.all(".grid tbody .missing")[0].text == "missing"
    visitor.click(".grid thead a", "amount")
    visitor.arrive("/t/spending", sort="amount")
    visitor.click(".grid thead a", "amount")
    visitor.browser.until(lambda: visitor.cells("amount")[0] == "4512")
    visitor.click("summary", "Filter")
    visitor.one("select[name=on]").send_keys("shop")
    visitor.one("select[name=rule]").send_keys("contains")
    visitor.one("input[name=to]").send_keys("shop 1")
    visitor.click(".filter button")
    visitor.says("Rows 1 to 50 of 80 that match, of 240")
    assert set(visitor.cells("shop")) == {"shop 1"}
    visitor.click(".pager a", "Next")
    visitor.arrive("/t/spending", offset="50")
    visitor.says("Rows 51 to 80 of 80")
    visitor.browser.driver.back()
    visitor.says("Rows 1 to 50 of 80")
    visitor.click(".chips a")
    visitor.says("Rows 1 to 50 of 240")
    visitor.click(".tabs a", "Columns")
    visitor.click(".columns input[name=show][value='2']")
    visitor.one("select[name=type1]").send_keys("category")
    visitor.click(".columns button")
    visitor.arrive("/t/spending", hide="day", type="amount=categorical")
    assert [item.text for item in visitor.all(".grid thead small")] == ["category", "category"]


def test_odd_rows_are_found_through_a_reload_and_in_two_tabs(visitor: Visitor) -> None:
    driver = visitor.browser.driver
    visitor.open("/t/patients")
    visitor.click(".heading a", "Find odd rows")
    visitor.arrive("/t/patients/odd")
    visitor.open("/t/patients/odd?top=20")
    driver.refresh()
    assert visitor.one(".job progress, .story")  # it may be done by then
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    driver.get(f"{visitor.origin}/t/patients/row/1")
    visitor.says("Row 1")
    driver.get(f"{visitor.origin}/t/patients/odd?top=20")
    visitor.one(".story")
    seen = [item.text for item in visitor.all(".odd-rows li")]
    driver.close()
    driver.switch_to.window(first)
    visitor.one(".story")
    assert [item.text for item in visitor.all(".odd-rows li")] == seen
    counts = [int(item.text.split()[0]) for item in visitor.all(".story .badge")]
    assert sum(counts) >= 20  # and those that are odd all over
    assert any("resting_pulse = 79.6, expected" in item for item in seen)

    story = next(item for item in visitor.all(".story") if "resting_pulse = 79.6" in item.text)
    count = int(story.find_element("css selector", ".badge").text.split()[0])
    story.find_element("css selector", ".head a").click()
    visitor.says(f"Rows 1 to {count} of {count} that match, of 800")
    shaded = [item.get_attribute("data-heat") for item in visitor.all("td[data-heat]")]
    assert "100" in shaded
    driver.back()
    visitor.click(".odd-rows a", "resting_pulse = 79.6")
    visitor.arrive("/t/patients/row/323")
    visitor.says("exceptional", ".answer")
    odd = visitor.one(".upright .odd")
    assert odd.text.split() == ["resting_pulse", "79.6", "1"]
    visitor.says(" odd rows", ".heading")
    visitor.browser.ask("window.same = true")
    visitor.click(".actions a", "Next odd row")
    visitor.browser.until(lambda: visitor.path != "/t/patients/row/323")
    assert visitor.browser.ask("window.same") is True  # without a reload
    visitor.click(".actions a", "Previous odd row")
    visitor.arrive("/t/patients/row/323", odd="20")
    visitor.click(".actions a", "All odd rows")
    visitor.arrive("/t/patients/odd", top="20")


def test_the_demo_is_told_and_followed(visitor: Visitor) -> None:
    """Its stories, their groups in the table, back and forward, and what would be ordinary."""
    driver = visitor.browser.driver
    visitor.open(new_patient())
    told = stories(visitor)
    assert told[0] == "temperature_c"
    assert {"haemoglobin_g_l", "resting_pulse", "age"} < set(told)
    pressure = f"#finding-{told.index('age') + 1}"
    visitor.click(f"{pressure} summary", "The same from the other side")
    visitor.says("systolic_mmhg = 146.3, expected 99.6 to 137.6 given age = 28", pressure)
    numbers = [name for name in told if name not in ("clinic", "smoker", "training", "sex")]
    plots = visitor.all(".answer > .cards .plot:not(.strip):not(.cdf) line.mark")
    assert len(plots) == len(numbers)
    number = told.index("resting_pulse") + 1
    visitor.browser.ask("window.same = true")
    visitor.click(".lines a.number", str(number))
    top = f"document.querySelector('#finding-{number}').getBoundingClientRect().top"
    assert 0 <= visitor.browser.ask(top) < 400
    assert visitor.browser.ask("window.same && !document.querySelector('.busy')")
    visitor.click("a.chip", "training = intense")
    visitor.arrive("/t/patients")
    assert set(visitor.cells("training")) == {"intense"}
    visitor.says("of 211 that match, of 800")
    driver.back()
    visitor.says("cells are exceptional")
    driver.forward()
    visitor.says("of 211 that match, of 800")
    driver.back()
    visitor.click(f"#finding-{number} summary", "ordinary rows like this one")
    twins = visitor.all(f"#finding-{number} .twins tbody tr")
    assert len(twins) == 4
    assert twins[0].text.startswith("this row")
    assert all("intense" in item.text for item in twins)
    visitor.click(f"#finding-{number} .ordinary a", "try it")
    visitor.browser.until(lambda: visitor.query["v.resting_pulse"] == ["51.8"])
    visitor.browser.until(lambda: 0 < len(stories(visitor)) < len(told))
    assert "resting_pulse" not in stories(visitor)


def stories(visitor: Visitor) -> list[str]:
    """Return the columns that are told to stand out, in their order."""
    return [item.text.split(" =")[0] for item in visitor.all(".answer > .cards h3")]


def test_options_are_followed_at_once(visitor: Visitor) -> None:
    """Such a pulse is common, and odd only in a group; a relation would tell it without one."""
    driver = visitor.browser.driver
    visitor.open("/t/patients/row/323?derive=0")
    visitor.says("cell is exceptional")
    visitor.one("#option-max_conditions").send_keys(Keys.HOME)
    visitor.arrive("/t/patients/row/323", max_conditions="0", derive="0")
    visitor.says("Nothing in this row is out of the ordinary")
    assert visitor.text("#option-max_conditions option:checked") == "none"
    assert visitor.browser.ask("document.activeElement.id") == "option-max_conditions"
    driver.refresh()
    visitor.says("Nothing in this row is out of the ordinary")
    driver.back()
    visitor.says("cell is exceptional")
    assert visitor.text("#option-max_conditions option:checked") == "4"
    driver.forward()
    visitor.says("Nothing in this row is out of the ordinary")
    visitor.click(".options a", "Back to the usual")
    visitor.says("cell is exceptional")
    assert visitor.query == {"derive": ["0"]}  # the rest of the address stays


def test_options_explain_a_new_row_as_it_is_typed(visitor: Visitor) -> None:
    visitor.open("/t/patients/new")
    visitor.one("[name='v.age']").send_keys("34")
    visitor.one("#option-max_conditions").send_keys(Keys.HOME)
    visitor.arrive("/t/patients/new", max_conditions="0")
    assert visitor.query["v.age"] == ["34"]
    visitor.settled()
    field = visitor.one("[name='v.age']")
    field.clear()
    field.send_keys("35")
    visitor.one("#option-max_conditions").send_keys(Keys.END)
    visitor.browser.until(lambda: "max_conditions" not in visitor.query)
    assert visitor.query["v.age"] == ["35"]
    visitor.settled()


def test_columns_to_the_right_are_shown_from_their_first(visitor: Visitor) -> None:
    visitor.open("/t/wide")
    visitor.browser.ask("document.querySelector('.grid').scrollLeft = 900")
    visitor.click("#step-columns-to-the-right")
    visitor.arrive("/t/wide", left="60")
    visitor.settled()
    assert visitor.browser.ask("document.querySelector('.grid').scrollLeft") == 0
    visitor.browser.ask("document.querySelector('.grid').scrollLeft = 300")
    visitor.one("#search").send_keys("1")
    visitor.browser.ask("document.getElementById('sort-2').click()")  # before the search begins
    visitor.arrive("/t/wide", sort="c061", left="60")
    visitor.settled()
    assert visitor.browser.ask("document.querySelector('.grid').scrollLeft") == 300


def test_a_new_object_is_typed_in(visitor: Visitor) -> None:
    visitor.open("/t/patients/row/86")
    visitor.click(".actions a", "Change values")
    fields = {str(item.get_attribute("name")): item for item in visitor.all(".object input")}
    fields = {name: item for name, item in fields.items() if name.startswith("v.")}
    assert fields["v.resting_pulse"].get_attribute("value") == "64.7"
    assert fields["v.patient"].get_attribute("value") == ""  # no other row has this name
    fields["v.resting_pulse"].clear()
    fields["v.resting_pulse"].send_keys("48")
    fields["v.temperature_c"].clear()
    fields["v.temperature_c"].send_keys("hot", Keys.ENTER)
    visitor.says("'temperature_c'", ".error")
    field = next(
        item
        for item in visitor.all(".object input")
        if item.get_attribute("name") == "v.temperature_c"
    )
    field.clear()
    field.send_keys("40.1", Keys.ENTER)
    visitor.says("temperature_c = 40.1", ".answer")
    assert "temperature_c" in visitor.text(".object .odd")
    assert "resting_pulse" not in stories(visitor)


def test_work_is_cancelled_and_begun_again(visitor: Visitor, server: Served) -> None:
    """In a table that takes a while."""
    numbers = np.random.default_rng(5).normal(size=(14, 150_000))
    content = pa.BufferOutputStream()
    pq.write_table(pa.table({f"c{place}": row for place, row in enumerate(numbers)}), content)
    with server.client() as client:
        uploaded(client, "long.parquet", content.getvalue().to_pybytes())
    visitor.browser.open(f"{visitor.origin}/t/long/odd?top=37")
    visitor.arrive("/t/long/odd", top="37")
    visitor.click(".job button", "Cancel")
    visitor.says("It was cancelled.")
    visitor.browser.driver.refresh()
    visitor.says("It was cancelled.")
    visitor.click(".ask button", "Try again")
    visitor.one(".job")
    visitor.click(".job button", "Cancel")
    visitor.says("It was cancelled.")
    with server.client() as client:
        assert client.delete("/api/v1/tables/long").status_code == 200


def test_keys_are_enough(visitor: Visitor) -> None:
    driver = visitor.browser.driver

    def press(*keys: str) -> None:
        driver.switch_to.active_element.send_keys(*keys)

    visitor.open("/t/patients")
    press(Keys.TAB)
    assert visitor.browser.ask("document.activeElement.textContent") == "Skip to the content"
    press(Keys.ENTER, "/")
    assert visitor.browser.ask("document.activeElement.id") == "search"
    press("P08")
    visitor.browser.until(lambda: visitor.cells("patient") == ["P0800"])
    press(Keys.CONTROL, "a", Keys.NULL, "P007")
    visitor.browser.until(lambda: len(visitor.cells("patient")) == 10)
    press(Keys.ARROW_DOWN)
    press(Keys.ARROW_DOWN)
    press(Keys.ARROW_DOWN)
    press(Keys.ARROW_UP)
    assert driver.switch_to.active_element.text == "71"
    visitor.one("#sort-3").send_keys(Keys.ENTER)
    visitor.arrive("/t/patients", sort="age", search="P007")
    visitor.browser.until(lambda: driver.switch_to.active_element.get_attribute("id") == "sort-3")
    driver.back()
    visitor.browser.until(lambda: "sort" not in visitor.query)
    visitor.browser.until(lambda: visitor.cells("Row")[1] == "71")
    visitor.all("[data-row]")[1].send_keys(Keys.ENTER)
    visitor.arrive("/t/patients/row/71")
    visitor.settled()
    summary = visitor.one(".along summary")
    summary.send_keys(Keys.ENTER)
    assert visitor.one(".along .panel").is_displayed()
    press(Keys.ESCAPE)
    assert not visitor.one(".along .panel").is_displayed()
    visitor.open("/t/patients")
    visitor.one("[data-row]").send_keys(Keys.PAGE_DOWN)
    visitor.arrive("/t/patients", offset="50")
    visitor.browser.until(lambda: driver.switch_to.active_element.text == "51")


def test_findings_are_taken_along(visitor: Visitor, server: Served) -> None:
    visitor.open("/t/patients/row/86?max_conditions=3")
    visitor.click(".along summary")
    visitor.click(".copied button", "Copy as command line")
    visitor.says("Copied", ".copied button")
    command, python = (item.text for item in visitor.all(".copied pre"))
    assert "--row 86" in command
    assert "--max-conditions 3" in command
    assert "row=85" in python
    page = {"html": b"<!doctype html>", "json": b"{", "png": b"\x89PNG"}
    starts = {"csv": b"\xef\xbb\xbfrow,", "xlsx": b"PK", **page}
    links = [str(item.get_attribute("href")) for item in visitor.all(".along .buttons a")]
    twin = str(visitor.one(".along .panel > .quiet a").get_attribute("href"))
    with server.client() as client:
        for link, (kind, start) in zip(links, starts.items(), strict=True):
            answer = client.get(link)
            assert f"format={kind}" in link
            assert answer.status_code == 200
            assert answer.content.startswith(start)
            assert "attachment" in answer.headers["content-disposition"]
        assert client.get(twin).json() == client.get(links[3]).json()


# --- how it looks -------------------------------------------------------------------------------

VIEWS = [
    "/",
    "/t/patients",
    "/t/patients?search=P00&sort=age&hide=sex",
    "/t/patients?search=nobody",
    "/t/patients/odd",
    "/t/patients/odd?top=20&hide=resting_pulse",
    "/t/patients/columns",
    "/t/patients/apart?search=P00",
    "/t/patients?hide=age",
    "/t/patients/row/86",
    "/t/patients/row/3",
    "/t/patients/new",
    new_patient(),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_sound(visitor: Visitor, scheme: str) -> None:
    for view in VIEWS:
        visitor.open(view, 1280, scheme)
        visitor.browser.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert visitor.browser.ask("document.querySelectorAll('[style]').length") == 0
        assert (view, visitor.browser.complaints()) == (view, [])
        rules = () if scheme == "light" else ("color-contrast",)  # nothing else is a matter of it
        assert (view, visitor.browser.violations(*rules)) == (view, [])


@pytest.mark.parametrize("width", [400, 2560])
def test_every_view_fits(visitor: Visitor, width: int) -> None:
    for view in VIEWS:
        visitor.open(view, width)
        visitor.browser.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
        wide = visitor.browser.ask("document.documentElement.scrollWidth")
        assert (view, wide <= width) == (view, True)


def test_tables_that_cannot_be_read_ask_how_to(visitor: Visitor, server: Served) -> None:
    with server.client() as client:
        _, table = uploaded(client, "broken.parquet", b"nothing of that kind")
    visitor.open(f"/t/{table}", 400)
    visitor.browser.driver.get_log("browser")  # that the answer is an error
    assert len(visitor.all(".again label input")) == 1
    assert visitor.browser.violations() == []
    assert visitor.browser.ask("document.documentElement.scrollWidth") <= 400
    visitor.open("/", 400)
    assert visitor.browser.violations() == []
    assert visitor.browser.ask("document.documentElement.scrollWidth") <= 400
    visitor.click(".sources button[aria-label='Forget broken.parquet']")
    visitor.browser.until(lambda: not visitor.all("button[aria-label='Forget broken.parquet']"))


def test_the_cards_are_those_of_the_report(visitor: Visitor) -> None:
    """Pictures are drawn as in the file, though nothing has a style of its own."""
    visitor.open("/t/patients/row/86")
    bars = [item.rect["width"] for item in visitor.all("#finding-1 .bar i")]
    wholes = [item.rect["width"] for item in visitor.all("#finding-1 .bar")]
    shares = [float(item.text.rstrip("%")) / 100 for item in visitor.all("#finding-1 .share")]
    assert len(shares) == 3
    assert np.divide(bars, wholes) == pytest.approx(shares, abs=0.01)
    label, line = (visitor.one(f"#finding-1 .plot {kind}.mark").rect for kind in (".at", "line"))
    assert label["x"] - 2 <= line["x"] <= label["x"] + label["width"] + 2
    assert label["x"] > visitor.one("#finding-1 .plot").rect["x"] + 50


def test_pages_are_readable_without_scripts(visitor: Visitor) -> None:
    tell = visitor.browser.tell
    visitor.open("/t/patients/row/323")
    tell("Emulation.setScriptExecutionDisabled", value=True)
    try:
        visitor.browser.driver.get(f"{visitor.origin}/t/patients?derive=0")
        assert visitor.one(".search button").is_displayed()
        visitor.one("#search").send_keys("P0323")
        visitor.click(".search button")
        visitor.says("Rows 1 to 1 of 1 that match")
        visitor.click("[data-row]")
        visitor.says("cell is exceptional")
        visitor.one("#option-max_conditions").send_keys(Keys.HOME)
        visitor.click(".options button", "Apply")
        visitor.says("Nothing in this row is out of the ordinary")
    finally:
        tell("Emulation.setScriptExecutionDisabled", value=False)


def test_hostile_texts_are_shown_as_texts(visitor: Visitor) -> None:
    for view in (
        "/t/hostile",
        "/t/hostile/columns",
        "/t/hostile/row/121",
        "/t/hostile/new?from=121",
    ):
        visitor.open(view, 400)
        visitor.browser.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
        shown = visitor.browser.ask("document.querySelector('main').textContent")
        for text in HOSTILE[:6]:
            assert text in shown
        assert "\\u202egnorw" in shown
        assert visitor.browser.ask("window.harmed") is None
        strange = "main script, main img, main b:not(.bar b), [onload], [onerror], iframe"
        assert visitor.all(strange) == []
        assert visitor.browser.ask("document.documentElement.scrollWidth") <= 400
        links = [str(item.get_attribute("href")) for item in visitor.all("a[href]")]
        assert [link for link in links if not link.startswith(visitor.origin)] == []
        assert visitor.browser.violations() == []
    visitor.open("/t/hostile")
    visitor.click(".grid thead a", HOSTILE[0])
    visitor.browser.until(lambda: visitor.query.get("sort") == [HOSTILE[0]])
    visitor.open("/t/hostile/row/121")
    visitor.says("exceptional")
    assert visitor.browser.ask("window.harmed") is None


def test_wrong_addresses_are_explained(visitor: Visitor, server: Served) -> None:
    with server.client() as client:
        for path, words in (
            ("/t/nothing", "no such table"),
            ("/t/patients/row/801", "does not exist"),
            ("/t/patients?sort=colour", "colour"),
            ("/t/patients/row/1?max_conditions=-7", "max_conditions"),
        ):
            answer: httpx.Response = client.get(path, headers={"Accept": "text/html"})
            assert answer.status_code in (400, 404)
            assert words in answer.text
            assert "<h1>" in answer.text


# --- reviewing what is odd ----------------------------------------------------------------------


def test_odd_rows_have_ranks_names_and_a_place_by_how_odd_they_are(visitor: Visitor) -> None:
    visitor.open("/t/patients/odd")
    said = visitor.text("#summary")
    counts = [int(word.replace(",", "")) for word in re.findall(r"[\d,]+", said)]
    kinds = [str(item.get_attribute("class")).split()[1] for item in visitor.all(".story")]
    assert kinds[0] == "exceptional"
    assert kinds == [kind for kind in ("exceptional", "unusual", "all-over") if kind in kinds]
    assert counts[1] == 800
    assert visitor.text(".story.exceptional .badge") == f"{counts[0]} rows"
    ranks = [int(item.text) for item in visitor.all(".story:not(.all-over) .rank")]
    assert ranks[:3] == [1, 2, 3]
    assert ranks == sorted(set(ranks))  # those of rows that are odd in the same way stand together
    names = [item.text.split() for item in visitor.all(".exceptional .rowname")]
    assert all(name == f"P{int(number):04}" and word == "row" for name, word, number in names)
    first = visitor.all(".exceptional .rowname bdi")[0].text
    visitor.click(".exceptional .why")
    visitor.says(first, "h1")


def test_a_row_is_marked_as_fine_until_it_is_odd_after_all(
    visitor: Visitor, server: Served
) -> None:
    visitor.open("/t/patients/odd")
    before = [item.text for item in visitor.all(".exceptional .rowname bdi")]
    visitor.browser.ask("window.same = true")
    visitor.click(".exceptional form button", "Mark as fine")
    visitor.browser.until(
        lambda: [item.text for item in visitor.all(".exceptional .rowname bdi")] == before[1:]
    )
    assert visitor.browser.ask("window.same") is True
    visitor.browser.driver.refresh()
    visitor.settled()
    visitor.click(".fine summary")
    assert [item.text for item in visitor.all(".fine .rowname bdi")] == before[:1]
    visitor.click(".exceptional .why")
    visitor.says(before[1], "h1")
    assert visitor.all("[rel=prev]") == []  # the one before is fine
    visitor.one("body").send_keys("f")
    visitor.says("Odd after all", ".actions")
    visitor.one("body").send_keys("n")
    visitor.says(before[2], "h1")
    visitor.click(".actions a", "All odd rows")
    visitor.arrive("/t/patients/odd")
    visitor.browser.ask("document.querySelector('details.fine').open = true")
    for name, text in (("reason", "was <b>measured</b> twice"), ("author", "Ida")):
        visitor.one(f".fine [name={name}]").send_keys(text)
    visitor.one(".fine [name=author]").send_keys(Keys.ENTER)
    value = ".fine [name=reason][value='was <b>measured</b> twice']"
    visitor.one(value)
    assert visitor.all(".fine [name=author]")[1].get_attribute("value") == "Ida"  # as last time
    assert visitor.browser.violations() == []
    link = str(visitor.one(".fine a[download]").get_attribute("href"))
    visitor.click(".along summary")
    assert [str(a.get_attribute("href")) for a in visitor.all(".along a[href$=accepted]")] == [link]
    with server.client() as client:
        saved = tomllib.loads(client.get(link).text)["accepted"]
    by_name = {item["entity"]["patient"]: item for item in saved}
    assert set(by_name) == set(before[:2])
    told = by_name[before[0]]
    assert (told["reason"], told["author"]) == ("was <b>measured</b> twice", "Ida")
    visitor.click("h1")
    for left in (1, 0):
        visitor.one(".fine summary")
        visitor.browser.ask("document.querySelector('details.fine').open = true")
        visitor.click(".fine form button", "Odd after all")
        visitor.browser.until(lambda left=left: len(visitor.all(".fine li")) == left)  # type: ignore[misc]
    assert [item.text for item in visitor.all(".exceptional .rowname bdi")] == before


def test_a_column_is_hidden_everywhere_and_shown_again(visitor: Visitor) -> None:
    visitor.open("/t/patients/odd")
    name = visitor.text(".chips bdi")
    rows = len(visitor.all(".why"))
    visitor.click(f".chips a[aria-label='Hide {name}']")
    visitor.says("not listed", ".chips")
    assert len(visitor.all(".why")) < rows
    assert not any(f"{name} =" in item.text for item in visitor.all(".why"))
    visitor.click(".tabs a", "Table")
    visitor.says("1 column hidden")
    assert visitor.cells(name) == visitor.cells("there is none")
    visitor.click(".hidden-columns a")
    visitor.browser.until(lambda: "hide" not in visitor.query)
    visitor.one("a[aria-label='Hide age']").send_keys(Keys.ENTER)
    visitor.browser.until(lambda: visitor.query.get("hide") == ["age"])
    visitor.click(".tabs a", "What is odd")
    visitor.arrive("/t/patients/odd", hide="age")


def test_odd_cells_are_shaded_and_reached_by_a_key(visitor: Visitor) -> None:
    visitor.open("/t/patients/odd?top=20")
    names = (item.get_attribute("textContent") for item in visitor.all(".why .rowname"))
    odd = {int(str(name).split()[-1]) for name in names}  # those marked as fine are folded
    visitor.open("/t/patients?limit=500")
    cells = visitor.all("td.odd[data-heat]")
    assert cells
    visitor.one("body").send_keys("n")
    assert int(visitor.browser.ask("document.activeElement.textContent")) == min(odd)
    assert visitor.browser.ask(
        "document.activeElement.closest('tr').querySelector('td.odd') !== null"
    )


def test_columns_are_told_with_a_picture_and_how_they_were_read(visitor: Visitor) -> None:
    visitor.open("/t/patients/odd?top=20")
    visitor.click(".tabs a", "Columns")
    visitor.arrive("/t/patients/columns")
    lines = {
        item.text.split("\n")[0].split()[0]: item for item in visitor.all(".overview tbody tr")
    }
    assert "whole numbers" in lines["age"].text or "numbers" in lines["age"].text
    assert "dates" in lines["examined"].text
    assert "female" in lines["sex"].text
    assert "%" in lines["sex"].text
    assert len(visitor.all(".overview svg path")) >= 5
    assert int(lines["resting_pulse"].find_element("css selector", ".marked").text) >= 1


def test_a_row_has_one_number_per_column(visitor: Visitor) -> None:
    visitor.open("/t/patients/row/323")
    visitor.click(".blame summary")
    lines = [item.text.rsplit(maxsplit=1) for item in visitor.all(".blame tr")]
    numbers = [float(number) for _, number in lines]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > 1
    assert numbers[-1] == 0
    assert "resting_pulse" in {name for name, number in lines if float(number) > 0}
    widths = [item.rect["width"] for item in visitor.all(".blame i")]
    assert widths[0] > 50
    assert widths[-1] == 0
