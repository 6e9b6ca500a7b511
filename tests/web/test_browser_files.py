"""Files in a real browser: dropped, read in another way, ranked; and what people do by mistake."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.browser import Browser
from tests.serving import Served, served
from tests.visiting import Visitor, strangers

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("tables")
    with served(logins(folder / "logins.csv"), parts(folder / "parts")) as found:
        yield found


@pytest.fixture(autouse=True)
def _is_quiet(browser: Browser, server: Served) -> Iterator[None]:
    """No test leaves a message in the console, or asks anybody else for anything."""
    yield
    assert browser.complaints() == []
    assert strangers(browser, server) == []


def logins(path: Path) -> Path:
    """Write a table of logins at Paris by night and Berlin at other hours, of which one is odd."""
    lines = ["when,site,size"]
    for row in range(400):
        turn = row // 2
        site, hour = ("Paris", 1 + turn % 4) if row % 2 else ("Berlin", 6 + turn % 18)
        moment = dt.datetime(
            2025, row % 9 + 1, row % 28 + 1, 3 if row == 40 else hour, row * 7 % 60
        )
        lines.append(f"{moment.isoformat()},{site},{row % 13}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def parts(folder: Path) -> Path:
    """Write a folder of two files, with one odd row."""
    folder.mkdir()
    rng = np.random.default_rng(4)
    for number in range(2):
        values = rng.normal(20, 2, 150)
        values[40] = 20.0 if number else 95.0
        keys = [f"k{number}-{row}" for row in range(150)]
        table = pa.table({"key": keys, "size": values, "kind": ["a", "b", "c"] * 50})
        pq.write_table(table, folder / f"{number}.parquet")
    return folder


def dropped(visitor: Visitor, *paths: Path, on: str = ".drop") -> None:
    """Drag files over the page and drop them, as a hand does."""
    place = visitor.one(on).rect
    at = {"x": place["x"] + place["width"] / 2, "y": place["y"] + place["height"] / 2}
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        visitor.browser.tell("Input.dispatchDragEvent", type=kind, data=data, **at)
        if kind == "dragOver" and on == ".drop":
            visitor.one(".drop.over")


@contextlib.contextmanager
def slow_line(visitor: Visitor, upload: int) -> Iterator[None]:
    """Send no more than so many bytes a second."""
    tell, usual = visitor.browser.tell, {"offline": False, "latency": 0, "downloadThroughput": -1}
    tell("Network.enable")
    tell("Network.emulateNetworkConditions", **usual, uploadThroughput=upload)
    try:
        yield
    finally:
        tell("Network.emulateNetworkConditions", **usual, uploadThroughput=-1)


def read_again(visitor: Visitor, name: str, choice: str) -> None:
    """Choose how a file is read; the drawer may be open from before."""
    visitor.settled()
    if not visitor.one(f"select[name={name}]").is_displayed():
        visitor.click(".tools summary", "Reading")
    visitor.one(f"select[name={name}]").send_keys(choice)
    visitor.click(".panel button", "Read again")


def test_a_file_is_dropped(visitor: Visitor, tmp_path: Path) -> None:
    path = tmp_path / "dropped here.csv"
    path.write_text("a,b\n" + "\n".join(f"{row},{row % 3}" for row in range(60)), encoding="utf-8")
    visitor.open("/")
    dropped(visitor, path)
    visitor.arrive("/t/dropped-here/odd")
    visitor.click(".tabs a", "Table")
    visitor.arrive("/t/dropped-here")
    visitor.says("60 rows, 2 columns")
    visitor.open("/")
    visitor.says("dropped here.csv", ".sources")


def test_several_files_are_refused_in_words(visitor: Visitor, tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n", encoding="utf-8")
    visitor.open("/")
    dropped(visitor, tmp_path / "one.csv", tmp_path / "two.csv")
    visitor.says("Drop one file at a time", ".drop .error")
    assert visitor.path == "/"


def test_a_file_dropped_elsewhere_leaves_the_page_as_it_is(
    visitor: Visitor, tmp_path: Path
) -> None:
    path = tmp_path / "elsewhere.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    visitor.open("/t/logins")
    dropped(visitor, path, on=".grid")
    visitor.says("Files are opened on the start page", ".error")
    assert visitor.path == "/t/logins"


def test_another_sheet_of_a_workbook_is_chosen(visitor: Visitor, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    first, second = book.active, book.create_sheet("Sales & <more>")
    for row in range(40):
        first.append(["town", "people"] if row == 0 else [f"t{row % 4}", row])
    for row in range(61):
        second.append(["shop", "amount", "tax"] if row == 0 else [f"s{row % 4}", row * 2, row % 7])
    book.save(tmp_path / "book.xlsx")
    visitor.open("/")
    dropped(visitor, tmp_path / "book.xlsx")
    visitor.arrive("/t/book/odd")
    visitor.click(".tabs a", "Table")
    visitor.arrive("/t/book")
    visitor.says("39 rows, 2 columns")
    read_again(visitor, "sheet", "Sales")
    visitor.says("60 rows, 3 columns")
    assert visitor.cells("shop")[0] == "s1"
    chosen = visitor.browser.ask("document.querySelector('select[name=sheet]').value")
    assert chosen == "Sales & <more>"
    visitor.open("/t/book/row/7")
    visitor.says("compared with 60 rows")


def test_the_encoding_of_a_text_is_chosen(visitor: Visitor, tmp_path: Path) -> None:
    """It is taken for Western European; whoever knows better says so."""
    words = ["Köln", "Åre", "Évry"] * 20
    path = tmp_path / "places.csv"
    path.write_bytes(
        "\n".join(["place,n", *(f"{w},{n}" for n, w in enumerate(words))]).encode("latin-1")
    )
    visitor.open("/")
    dropped(visitor, path)
    visitor.arrive("/t/places/odd")
    visitor.click(".tabs a", "Table")
    visitor.arrive("/t/places")
    visitor.says("read as cp1252 text")
    assert visitor.cells("place")[:3] == words[:3]
    read_again(visitor, "encoding", "iso8859-1")
    visitor.browser.until(lambda: visitor.all(".grid") and not visitor.all(".note"))
    visitor.browser.until(lambda: visitor.cells("place")[:3] == words[:3])
    read_again(visitor, "encoding", "cp1251")
    visitor.says("Kцln")


def test_a_condition_on_an_hour_leads_to_its_rows(visitor: Visitor) -> None:
    visitor.open("/t/logins/row/41")
    visitor.says("exceptional", ".answer")
    visitor.click("a.chip", "when (hour) is 01")
    visitor.arrive("/t/logins")
    visitor.says("that match, of 400 in all")
    hours = {int(cell.split(" ")[1][:2]) for cell in visitor.cells("when")}
    assert max(hours) < 6
    assert visitor.text(".chips li").startswith("when (hour) is 0")
    visitor.click(".chips a")
    visitor.says("Rows 1 to 50 of 400")


def test_a_folder_is_ranked(visitor: Visitor) -> None:
    visitor.open("/t/parts")
    visitor.click(".heading a", "Find odd rows")
    visitor.click(".notes summary")
    visitor.says("what was ranked is the copy of its rows")
    visitor.click(".odd-rows a", "size = 95")
    visitor.says(" odd rows", ".heading")
    visitor.says("size = 95", ".answer")


def test_impatient_clicks_begin_one_upload(
    visitor: Visitor, server: Served, tmp_path: Path
) -> None:
    """A file is sent once, however often the button is pressed or the file dropped meanwhile."""
    path = tmp_path / "impatient.csv"
    lines = ",".join("0123456789" for _ in range(20))
    path.write_text("\n".join([",".join(f"c{n}" for n in range(20)), *[lines] * 60_000]))
    visitor.open("/")
    with slow_line(visitor, 2_000_000):
        dropped(visitor, path)
        dropped(visitor, path)
        visitor.browser.ask("document.querySelector('.drop')?.requestSubmit()")
    visitor.arrive("/t/impatient/odd")
    visitor.settled()
    with server.client() as client:
        names = [item["id"] for item in client.get("/api/v1/tables").json()["tables"]]
    assert [name for name in names if "impatient" in name] == ["impatient"]


def test_an_upload_is_cancelled(visitor: Visitor, server: Served, tmp_path: Path) -> None:
    """By its button, over a slow line; the same file can be sent again."""
    path = tmp_path / "slow.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n2,3\n" * 500_000)
    visitor.open("/")
    with slow_line(visitor, 400_000):
        dropped(visitor, path)
        bar = visitor.one("progress")
        visitor.browser.until(lambda: float(bar.get_attribute("value") or 0) > 0)
        visitor.says("of 3.8 MB", ".sending")
        dropped(visitor, path)  # one at a time
        visitor.click("[data-abort]")
        visitor.says("The file was not sent.", ".drop .error")
    with server.client() as client:
        names = [item["name"] for item in client.get("/api/v1/tables").json()["tables"]]
    assert "slow.csv" not in names
    dropped(visitor, path)
    visitor.arrive("/t/slow/odd")


def test_back_during_an_upload_leaves_nothing(
    visitor: Visitor, server: Served, tmp_path: Path
) -> None:
    path = tmp_path / "leaving.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 8_000_000)
    visitor.open("/t/logins")
    visitor.click(".brand")
    visitor.arrive("/")
    dropped(visitor, path)
    visitor.browser.driver.back()
    visitor.arrive("/t/logins")
    visitor.says("Rows 1 to 50 of 400")
    with server.client() as client:
        tables = client.get("/api/v1/tables").json()["tables"]
    left = [item for item in tables if item["name"] == "leaving.csv"]
    assert [item["state"] for item in left] in ([], ["reading"], ["ready"])


def test_seconds_pass_while_a_file_is_read(visitor: Visitor, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    lines = "\n".join(f"id{row},{row % 97},{row * 7 % 1013}" for row in range(2_000_000))
    path.write_text(f"key,a,b\n{lines}", encoding="utf-8")
    visitor.open("/")
    dropped(visitor, path)
    visitor.arrive("/t/long/odd")
    seen: set[str] = set()

    def done() -> bool:
        seen.update(item.text.lower() for item in visitor.all("[data-progress]"))
        return not visitor.all(".job")

    visitor.browser.until(done, 240)
    visitor.says("of 2,000,000 rows")
    assert [words for words in seen if words.startswith("reading ") and " mb" in words], seen
