"""What confused or hostile users do: odd names, huge cells, files that vanish, a full disk."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from outlying.sources.files import read as read_file
from outlying.web import worker
from outlying.web.browse import Browser
from outlying.web.queries import TableQuery
from outlying.web.sourcing import Sourcing
from outlying.web.worker import News, TableFacts, WorkerSpec, copied_table
from tests.serving import Served, finished, opened, served, uploaded

NAMES = [
    ("", "a"),
    ("a/b", "<script>alert(1)</script>"),
    ("x" * 300, "y" * 299),
    (" lead", "trail "),
    ("=cmd()", "a&b=c#d?e"),
    ("v.x", "from"),
    ("filter", "type"),
    ("n", "c0"),
    ("%41", "+"),
    ("a\nb", "\u202eabc"),
    ("when (hour)", "when"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served(options=("--max-tables", "60")) as found:
        yield found


@pytest.fixture(scope="module")
def reader(server: Served) -> Iterator[httpx.Client]:
    with server.client() as client:
        client.follow_redirects = True
        yield client


def table(names: tuple[str, ...], cell: str | None = None) -> bytes:
    """Write 80 rows of texts and numbers in turn; the eighth begins with a cell of one's own."""
    rng = np.random.default_rng(1)
    out = io.StringIO()
    lines = csv.writer(out)
    lines.writerow(names)
    for row in range(80):
        cells = [
            f"v{row % 4}" if place % 2 == 0 else f"{rng.normal():.3f}"
            for place in range(len(names))
        ]
        lines.writerow([cell, *cells[1:]] if row == 7 and cell else cells)
    return out.getvalue().encode()


def shown(client: httpx.Client, address: str) -> httpx.Response:
    """Return a page once nothing is in progress on it."""
    for _ in range(400):
        answer = client.get(address, headers={"Accept": "text/html"})
        if answer.status_code != 202 and 'class="job"' not in answer.text:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"{address} is still in progress")


def words(answer: httpx.Response) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", answer.text)))


@pytest.mark.parametrize("names", NAMES, ids=ascii)
def test_columns_may_be_called_anything(reader: httpx.Client, names: tuple[str, ...]) -> None:
    job, name = uploaded(reader, "t.csv", table(names))
    assert job["state"] == "done"
    columns = [item["name"] for item in reader.get(f"/api/v1/tables/{name}").json()["columns"]]
    views = [f"/t/{name}{view}" for view in ("", "/row/5", "/new?from=5", "/odd?top=3")]
    for place, column in enumerate(columns):
        filtered = json.dumps({"attribute": column, "kind": "present"})
        asked: list[dict[str, Any]] = [
            {"sort": column},
            {"filter": filtered},
            {"hide": column, "exclude": column},
            {"on": place, "rule": "contains", "to": "1"},
        ]
        views += [f"/t/{name}?{urlencode(query)}" for query in asked]
        views.append(f"/t/{name}/row/5?{urlencode({'type': f'{column}=categorical'})}")
    for view in views:
        answer = shown(reader, view)
        assert (view, answer.status_code) == (view, 200)
        assert "<script>alert" not in answer.text
    values = {f"v.{column}": "1" for column in columns if column == columns[1]}
    assert shown(reader, f"/t/{name}/new?{urlencode(values)}").status_code == 200


def test_names_that_occur_twice_are_told(reader: httpx.Client) -> None:
    job, name = uploaded(reader, "twice.csv", table(("a", "a")))
    assert job["state"] == "failed"
    said = words(shown(reader, f"/t/{name}"))
    assert "columns 1 and 2 are both called 'a'" in said
    assert "Encoding" in said
    assert "Sheet" not in said


def test_a_huge_cell_is_cut_in_the_table_and_left_out_of_forms(reader: httpx.Client) -> None:
    _, name = uploaded(reader, "huge.csv", table(("a", "b"), "x" * 1_500_000))
    for view in ("", "/row/8", "/odd?top=3", "/new?from=8"):
        answer = shown(reader, f"/t/{name}{view}")
        assert answer.status_code == 200
        assert len(answer.content) < 60_000
    assert "Left out, as too long to be typed: a." in words(reader.get(f"/t/{name}/new?from=8"))
    assert (
        reader.get(f"/t/{name}/row/8.json").json()["objects"][0]["values"]["a"] == "x" * 1_500_000
    )


def test_a_new_object_of_two_thousand_columns_has_an_address(
    reader: httpx.Client, server: Served
) -> None:
    names = [f"a rather long name of a column {place}" for place in range(1990)]
    lines = [",".join(names), *[",".join(map(str, range(row, row + 1990))) for row in range(40)]]
    _, name = uploaded(reader, "wide.csv", "\n".join(lines).encode())
    query = urlencode({f"v.{column}": "123.456" for column in names} | {"max_conditions": 0})
    assert len(query) > 80_000
    request = urllib.request.Request(  # noqa: S310 - our own server
        f"{server.origin}/t/{name}/new?{query}",
        headers={"Authorization": f"Bearer {server.token}"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        assert answer.status == 200
        assert b"A new row" in answer.read()


def test_texts_among_numbers_are_shown_and_found(reader: httpx.Client) -> None:
    """They count as missing, but it is they that are odd."""
    lines = ["name,amount"] + [f'n{row % 5},"${1000 + row * 3:,}.50"' for row in range(300)]
    lines[50] = "n2,about Ten"
    _, name = uploaded(reader, "money.csv", "\n".join(lines).encode())
    (row,) = reader.get(f"/api/v1/tables/{name}/rows?offset=49&limit=1").json()["rows"]
    assert row["values"] == ["n2", "about Ten"]
    for query in (
        "search=ABOUT",
        urlencode({"filter": '{"attribute": "amount", "kind": "missing"}'}),
    ):
        found = reader.get(f"/api/v1/tables/{name}/rows?{query}").json()["rows"]
        assert [item["row"] for item in found] == [50]
    assert "about Ten" in words(shown(reader, f"/t/{name}?offset=49"))
    assert 'value="about Ten"' in reader.get(f"/t/{name}/new?from=50").text
    again = words(shown(reader, f"/t/{name}/new?v.name=n2&v.amount=about+Ten"))
    assert "in a column of 299 numbers" in again
    for number in (49, 50):
        assert "ordinary" in words(shown(reader, f"/t/{name}/row/{number}"))


def test_files_that_vanish_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    (folder / "parts").mkdir(parents=True)
    for name in ("read", "unread"):
        (folder / f"{name}.csv").write_bytes(table(("a", "b")))
    parts = pa.table({"k": [f"k{row}" for row in range(60)], "v": np.arange(60.0) ** 2})
    pq.write_table(parts, folder / "parts" / "0.parquet")
    sources = folder / "read.csv", folder / "unread.csv", folder / "parts"
    with served(*sources) as server, server.client() as client:
        opened(client, "read")
        opened(client, "parts")
        shutil.rmtree(folder)
        for view in (
            "/t/read",
            "/t/read/row/3",
            "/t/read/odd?top=3",
            "/t/parts",
            "/t/parts/odd?top=3",
        ):
            answer = shown(client, view)
            assert (view, answer.status_code) == (view, 200)
            assert 'class="error"' not in answer.text
        assert "is now gone" in words(shown(client, "/t/parts/row/3"))
        answer = shown(client, "/t/unread")
        assert answer.status_code == 400
        assert "no such file" in words(answer)
        assert "say so" not in words(answer)
        (folder / "parts").mkdir(parents=True)
        (folder / "unread.csv").write_bytes(table(("a", "b")))
        client.post("/t/unread")
        assert "80 rows" in words(shown(client, "/t/unread"))


def test_a_table_is_read_in_another_way(reader: httpx.Client) -> None:
    content = "\n".join(["place,n", *(f"Köln,{row % 7}" for row in range(50))]).encode("cp1252")
    _, name = uploaded(reader, "places.csv", content)
    job = reader.post(f"/api/v1/tables/{name}/explanations", json={"row": 3}).json()
    finished(reader, job)
    reader.post(f"/t/{name}", data={"encoding": "cp1251"})
    assert "Kцln" in words(shown(reader, f"/t/{name}"))
    assert reader.get(f"/api/v1/jobs/{job['id']}").status_code == 404  # it is of another table now
    told = shown(reader, f"/t/{name}/row/3").text
    assert "Kцln" in told
    assert "--encoding cp1251" in told
    reader.post(f"/t/{name}", data={"encoding": "cp1251"})  # as it is: nothing is read again
    assert reader.get(f"/api/v1/tables/{name}").json()["state"] == "ready"
    reader.post(f"/t/{name}", data={"encoding": "klingon"})
    answer = shown(reader, f"/t/{name}")
    assert answer.status_code == 400
    assert "allowed: an encoding of text" in words(answer)
    reader.post(f"/t/{name}", data={"encoding": ""})
    assert "Köln" in words(shown(reader, f"/t/{name}"))


def test_forms_are_bounded_and_may_be_broken(reader: httpx.Client) -> None:
    _, name = uploaded(reader, "plain.csv", table(("a", "b")))
    long = {f"field {number}": "x" * 900_000 for number in range(6)}
    answer = reader.post(f"/t/{name}/odd", data={"top": "3"} | long)
    assert answer.status_code == 413
    assert "the form has more than 4 MB" in words(answer)
    many = {f"v.{number}": "1" for number in range(3_000)}
    assert reader.post(f"/t/{name}/new", data={"v.b": "1"} | many).status_code in (200, 202)
    for kind in ("multipart/form-data", "multipart/form-data; boundary=x", "text/plain"):
        answer = reader.post(f"/t/{name}/odd", content=b"\xff--y", headers={"Content-Type": kind})
        assert answer.status_code in (200, 400)
    assert "80 rows" in words(shown(reader, f"/t/{name}"))


class Sent:
    """A connection that keeps what a worker says."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def send(self, message: Any) -> None:
        self.messages.append(message)


def read_by_worker(tmp_path: Path) -> list[Any]:
    """Let a worker read a table, in this process."""
    path, sent = tmp_path / "t.csv", Sent()
    path.write_bytes(table(("a", "b")))
    sourcing = Sourcing("t.csv", path, is_upload=True)
    spec = WorkerSpec("job", sourcing, tmp_path, tmp_path / "copy", None, 1_000, 100)
    at_work = worker.Worker(sent, spec)  # type: ignore[arg-type]
    at_work.attempt("job", at_work.read)
    return sent.messages


def test_a_copy_without_room_is_told_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(_: Any, folder: Path, *__: Any, **___: Any) -> Any:
        folder.mkdir()
        (folder / "half").touch()
        raise OSError("Not enough free space to write 32000640 bytes")

    monkeypatch.setattr(worker, "write_copy", full)
    news = read_by_worker(tmp_path)[-1]
    assert news.result is None
    assert "a copy of t.csv cannot be written" in news.error
    assert "TMPDIR" in news.error
    assert not (tmp_path / "copy").exists()


def test_reading_tells_sizes(tmp_path: Path) -> None:
    *told, last = read_by_worker(tmp_path)
    assert isinstance(last, News)
    assert isinstance(last.result, TableFacts)
    stages = [news.stage for news in told]
    assert re.fullmatch(r"reading [0-9,.]+ (bytes|KB)", stages[0])
    assert stages[-1] == "preparing 80 rows"


def test_a_copy_holds_what_the_table_holds(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "\n".join(f"{row},x{row}" for row in range(30)), encoding="utf-8")
    from outlying.web.browse import write_copy

    before = read_file(path)
    facts = write_copy(before, tmp_path / "copy")
    after = copied_table(tmp_path / "copy", TableFacts("t", 30, facts))
    for column, again in zip(before.columns, after.columns, strict=True):
        assert [column.value(row) for row in range(30)] == [again.value(row) for row in range(30)]
    browser = Browser(tmp_path / "copy", "t", 30, facts)
    assert browser.page(TableQuery(search="x29")).numbers == [30]
    browser.close()
