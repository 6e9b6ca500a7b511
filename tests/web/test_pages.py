"""Pages as they are sent: what forms ask for, what is refused, what is too wide or streamed."""

from __future__ import annotations

import contextlib
import html
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outlying
from outlying.api import Explainer
from outlying.options import Options
from outlying.results.detections import Counts, Detection, Flagged
from outlying.sources import read
from outlying.web.browse import write_copy
from outlying.web.pages import column_texts
from outlying.web.queries import MOST_COLUMNS, Addresses, option_fields
from outlying.web.row_pages import odd_rows
from outlying.web.worker import DetectTask, ProgressReporter, TableFacts, copied_table, detected
from tests.serving import finished, opened, served, uploaded


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A program that reads pages of a wide table and of a folder."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(3)
    names = [f"c{place:03}" for place in range(150)]
    lines = [",".join(f"{number:.2f}" for number in line) for line in rng.normal(size=(40, 150))]
    (folder / "wide.csv").write_text("\n".join([",".join(names), *lines]), encoding="utf-8")
    (folder / "parts").mkdir()
    table = pa.table({"key": [f"k{row}" for row in range(60)], "v": rng.normal(size=60)})
    pq.write_table(table, folder / "parts" / "one.parquet")
    sources = folder / "wide.csv", folder / "parts", logins(folder / "logins.csv")
    with served(*sources) as server, server.client() as client:
        client.follow_redirects = True
        yield client


def logins(path: Path) -> Path:
    """Write a table of logins at Berlin by day and Paris by night, of which one is odd."""
    lines = ["when,site,size"]
    for row in range(400):
        site, hour = ("Paris", 1 + row % 4) if row % 2 else ("Berlin", 9 + row % 8)
        hour = 3 if row == 40 else hour
        day, minute = row % 28 + 1, row * 7 % 60
        lines.append(f"2025-0{row % 9 + 1}-{day:02}T{hour:02}:{minute:02}:00,{site},{row % 13}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def text(client: httpx.Client, address: str) -> str:
    """Return what a page says, once nothing is in progress on it."""
    for _ in range(200):
        page = client.get(address).text
        if 'class="job"' not in page:
            return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page)))
        time.sleep(0.05)
    raise AssertionError(f"{address} is still in progress")


def failed(client: httpx.Client, address: str) -> str:
    """Return the page of a table that cannot be read, once that is known."""
    text(client, address)
    page = client.get(address)
    assert page.status_code == 400
    return page.text


def test_numbers_of_a_column_have_the_same_decimals() -> None:
    assert column_texts([957.0, 1515206.0, None]) == ["957", "1515206", None]
    assert column_texts([957.0, 2.25, 1.5]) == ["957.00", "2.25", "1.50"]
    assert column_texts([1e-9, 5.0]) == ["1e-09", "5"]
    assert column_texts([1, 20]) == ["1", "20"]
    assert column_texts(["a", True, None]) == ["a", "true", None]
    assert column_texts([]) == []


def test_fields_stand_where_the_options_are() -> None:
    for options in (Options(), Options.of(min_support=0.3, max_conditions=9)):
        for field in option_fields(options, 1000):
            (chosen,) = (step for step in field["steps"] if step["is_chosen"])
            value = getattr(options, field["name"])
            is_usual = value == getattr(Options(), field["name"])
            assert chosen["value"] == ("" if is_usual else str(value))
    support, conditions = option_fields(Options.of(min_support=0.15), 1000)
    assert [step["label"] for step in conditions["steps"]] == ["none", "1", "2", "3", "4"]
    assert {"30 rows, the usual", "100 rows", "0.15"} <= {s["label"] for s in support["steps"]}


def test_wide_tables_are_shown_in_parts(reader: httpx.Client) -> None:
    said = text(reader, "/t/wide")
    assert f"Columns 1 to {MOST_COLUMNS} of 150" in said
    page = reader.get("/t/wide?left=120&hide=c121&hide=c001").text
    assert "Columns 121 to 150 of 150" in page
    heads = re.findall(r'title="(c\d+): sort"', page)
    assert heads == [f"c{place}" for place in range(120, 150) if place != 121]


def test_columns_elsewhere_stay_as_they_were_chosen(reader: httpx.Client) -> None:
    text(reader, "/t/wide")
    shown = "&".join(f"show={place}" for place in range(60, 120) if place != 77)
    compared = "&".join(f"compare={place}" for place in range(60, 120) if place != 78)
    asked = "choosing=1&left=60&hide=c001&type=c002=categorical&exclude=c003&exclude=c079"
    page = reader.get(f"/t/wide?{asked}&{shown}&{compared}")
    assert dict(page.url.params)["left"] == "60"
    assert page.url.params.get_list("hide") == ["c001", "c077"]
    assert page.url.params.get_list("type") == ["c002=categorical"]
    assert page.url.params.get_list("exclude") == ["c003", "c078"]
    assert page.text.count(", not compared") == 1


def test_a_filter_that_makes_no_sense_is_said_beside_the_table(reader: httpx.Client) -> None:
    text(reader, "/t/wide")
    page = reader.get("/t/wide?on=3&rule=least&to=much")
    assert page.status_code == 400
    assert "allowed: a number" in page.text
    assert "Rows 1 to 40 of 40" in page.text
    assert reader.get("/t/wide?on=3&rule=least&to=0.5").status_code == 200
    assert reader.get("/t/wide?on=300&rule=least&to=0.5").status_code == 400


def test_a_filter_by_a_date_that_is_none_keeps_search_and_order(reader: httpx.Client) -> None:
    text(reader, "/t/logins")
    for rule in ("least", "most", "equals"):
        page = reader.get(f"/t/logins?on=0&rule={rule}&to=soon&search=Paris&sort=size")
        assert page.status_code == 400
        assert "value is 'soon'" in html.unescape(page.text)
        assert "that match, of 400 in all" in page.text
        assert page.text.count('aria-sort="ascending"') == 1
    page = reader.get("/t/logins?on=0&rule=least&to=2025-09-20")
    assert page.status_code == 200
    assert "that match, of 400 in all" in page.text


def test_a_filter_keeps_the_columns_that_are_shown(reader: httpx.Client) -> None:
    text(reader, "/t/wide")
    page = reader.get("/t/wide?on=3&rule=least&to=0.5&left=60")
    assert page.url.params["left"] == "60"


def test_options_keep_the_values_of_a_new_row(reader: httpx.Client) -> None:
    text(reader, "/t/logins")
    text(reader, "/t/logins/new?max_conditions=0&v.site=Paris")
    page = reader.get("/t/logins/new?max_conditions=0&v.site=Paris").text
    assert '<input type="hidden" name="v.site" value="Paris">' in page
    assert '<option value="0" selected>none</option>' in page
    assert '<input type="hidden" name="max_conditions"' not in page.partition('class="options"')[2]
    page = reader.get("/t/logins/new?max_conditions=0").text
    assert "Enter what you know" in page


def test_an_object_that_begins_with_a_row_is_that_row_in_json(reader: httpx.Client) -> None:
    text(reader, "/t/logins")
    found = reader.get("/t/logins/new.json?from=41").json()
    typed = {"v.when": "2025-05-13T03:40:00", "v.site": "Berlin", "v.size": "1"}
    assert found == reader.get("/t/logins/new.json", params=typed).json()
    assert found["objects"][0]["pairs"]
    assert reader.get("/t/logins/new.json?from=401").status_code == 404


def test_a_table_of_one_row_and_a_column_without_a_name(reader: httpx.Client) -> None:
    lines = [",city,size", *(f"{row * 7 % 30},Paris,{row}.5" for row in range(30))]
    _, table = uploaded(reader, "unnamed.csv", "\n".join(lines).encode())
    page = reader.get(f"/t/{table}?sort=&order=desc").text
    assert re.findall(r"Explain row (\d+)", page)[:3] == ["18", "5", "22"]
    _, table = uploaded(reader, "one.csv", b"a\n1\n")
    assert "1 row, 1 column." in text(reader, f"/t/{table}")


def test_a_missing_cell_is_called_missing_before_it_is_explained(reader: httpx.Client) -> None:
    lines = ["a,b", *(f"{'inf' if row == 5 else row},{row % 9}.5" for row in range(40)), "7,"]
    _, table = uploaded(reader, "gaps.csv", "\n".join(lines).encode())
    said = text(reader, f"/t/{table}/row/41")
    assert "has an infinite value" in said
    assert re.search("a 7(.0)? ?b ?missing", said)


def test_infinite_values_can_be_counted_as_missing(reader: httpx.Client) -> None:
    lines = ["a,b", *(f"{'inf' if row == 5 else row * 7 % 40},{row % 9}.5" for row in range(40))]
    _, table = uploaded(reader, "infinite.csv", "\n".join(lines).encode())
    for view in ("row/3", "odd?top=3"):
        assert "has an infinite value" in text(reader, f"/t/{table}/{view}")
        page = reader.get(f"/t/{table}/{view}").text
        (remedy,) = re.findall(r'href="([^"]*infinite=missing[^"]*)" data-swap', page)
        assert "has an infinite value" not in text(reader, html.unescape(remedy))


def test_a_database_of_several_tables_is_read_once_one_is_named(
    reader: httpx.Client, tmp_path: Path
) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "two.db")) as database:
        database.execute("CREATE TABLE first (a INTEGER, b TEXT)")
        database.execute("CREATE TABLE second (c INTEGER, d TEXT)")
        database.executemany("INSERT INTO second VALUES (?, 'x')", [(row,) for row in range(40)])
        database.commit()
    job, table = uploaded(reader, "two.db", (tmp_path / "two.db").read_bytes())
    assert job["state"] == "failed"
    page = reader.get(f"/t/{table}")
    assert page.status_code == 400
    assert [name in page.text for name in ("first", "second", 'name="table"')] == [True] * 3
    reader.post(f"/t/{table}", data={"table": "nowhere", "sheet": "", "encoding": ""})
    assert 'value="nowhere"' in failed(reader, f"/t/{table}")
    reader.post(f"/t/{table}", data={"table": "second", "sheet": "", "encoding": ""})
    assert "40 rows, 2 columns" in text(reader, f"/t/{table}")


def test_uploads_can_be_forgotten_and_nothing_else(reader: httpx.Client) -> None:
    _, table = uploaded(reader, "passing.csv", b"a,b\n1,2\n3,4\n")
    page = reader.get("/").text
    assert f'action="/t/{table}/forget"' in page
    assert 'action="/t/wide/forget"' not in page
    assert "passing.csv" not in reader.post(f"/t/{table}/forget").text
    assert reader.post("/t/wide/forget").status_code == 409
    assert "wide.csv" in reader.get("/").text


def test_an_identifier_is_compared_all_the_same(reader: httpx.Client) -> None:
    """Its type is declared on the page, and it can be left out again."""
    lines = ["name,size", *(f"name {row},{row % 9}" for row in range(60))]
    _, table = uploaded(reader, "named.csv", "\n".join(lines).encode())
    assert "no, it differs in every row" in text(reader, f"/t/{table}/columns")
    form = "choosing=1&show=0&show=1&compare=1&type0=categorical&type1="
    page = reader.get(f"/t/{table}?{form}")
    assert page.url.params.get_list("type") == ["name=categorical"]
    assert ", not compared" not in page.text
    assert page.url.params.get_list("exclude") == []
    assert (
        "name" in reader.get(f"/t/{table}/row/3.json?{page.url.query.decode()}").json()["columns"]
    )
    page = reader.get(f"/t/{table}?{form}&declared=0")
    assert page.url.params.get_list("exclude") == ["name"]
    page = reader.get(f"/t/{table}?{form}&declared=0&compare=0")
    assert page.url.params.get_list("exclude") == []


def test_streams_are_ranked_by_their_copy_and_explained(reader: httpx.Client) -> None:
    assert "Find odd rows" in text(reader, "/t/parts")
    said = text(reader, "/t/parts/odd?top=5")
    assert "The table is a stream: what was ranked is the copy of its rows" in said
    assert "This page ranks its copy of the stream" in said
    found = reader.get("/t/parts/odd.json?top=5").json()
    values = [item["values"]["v"] for item in found["objects"]]
    assert abs(values[0]) == max(map(abs, values))
    oddest = found["objects"][0]["row"]
    said = text(reader, f"/t/parts/row/{oddest}?odd=5")
    assert f"Row {oddest}: k{oddest - 1} compared with 60 rows" in said
    jobs = reader.get("/api/v1/jobs").json()["jobs"]
    (job,) = (item for item in jobs if (item["kind"], item["table"]) == ("detect", "parts"))
    answer = reader.get(f"/api/v1/jobs/{job['id']}/reproduce")
    assert answer.status_code == 409
    assert "This page ranks its copy of the stream" in answer.json()["error"]
    for form in ("html", "json", "csv"):
        assert reader.get(f"/api/v1/jobs/{job['id']}/export?format={form}").status_code == 200


def test_streams_are_shown_as_they_are_compared(reader: httpx.Client, tmp_path: Path) -> None:
    """Amounts that were written for people are numbers, of which rows are named and found."""
    rng = np.random.default_rng(2)
    (tmp_path / "money").mkdir()
    lines = ["shop,amount"]
    for row in range(300):
        amount = rng.normal(1200, 50) if row % 2 else rng.normal(300, 20)
        lines.append(f'{"ab"[row % 2]},"${1210 if row == 78 else amount:,.2f}"')
    lines[60] = "a,unknown"
    (tmp_path / "money" / "one.csv").write_text("\n".join(lines), encoding="utf-8")
    with served(tmp_path / "money") as server, server.client() as client:
        client.follow_redirects = True
        table = opened(client, "money")
        assert [(item["form"], item["unread"]) for item in table["columns"]] == [
            ("text", 0),
            ("number", 1),
        ]
        rows = client.get("/api/v1/tables/money/rows?search=1210").json()["rows"]
        odd = next(item["row"] for item in rows if item["values"] == ["a", 1210.0])
        said = text(client, f"/t/money/row/{odd}")
        assert "amount = 1,210" in said
        assert "--where amount=1210.0" in said
        found = client.get("/t/money/odd.json?top=10").json()["objects"]
        assert {1210.0, "unknown"} <= {item["values"]["amount"] for item in found}
        asked = '{"attribute": "amount", "kind": "interval", "low": 1000}'
        at_least = client.get("/api/v1/tables/money/rows", params={"filter": asked}).json()
        assert 140 < at_least["total"] < 160


def test_the_copy_of_a_stream_is_ranked(tmp_path: Path) -> None:
    """The rows are those of the whole table, and explained by all of it."""
    rng = np.random.default_rng(8)
    numbers = np.where(np.arange(400) % 150 == 0, 90.0, rng.normal(size=400))
    table = read({"v": numbers, "kind": np.array(list("ab") * 200)})
    facts = TableFacts("t", 400, write_copy(table, tmp_path / "copy"), (), (), is_streamed=True)
    explainer = Explainer(copied_table(tmp_path / "copy", facts))
    task = DetectTask(Options(), 3)
    found = detected(explainer, task, Silent(), is_copy=True)
    assert found.notes[0].startswith("The table is a stream: what was ranked is the copy")
    assert [numbers[row] for row in found.positions] == [90.0] * 3
    explained = [row.findings for row in found.rows if row.findings is not None]
    assert [item.population.rows for item in explained] == [400] * 3
    assert [item.object["v"] for item in explained] == [90.0] * 3


class Silent(ProgressReporter):
    """Nobody listens."""

    def __init__(self) -> None:
        pass

    def __call__(self, done: int, total: int) -> None:
        """Say nothing."""

    def say(self, stage: str, total: int = 0) -> None:
        """Say nothing."""

    def begin(self, detection: Detection, rows: Sequence[Any]) -> None:
        """Keep how many rows are odd."""
        self.told: list[object] = [detection.counts, len(rows)]

    def add(self, flagged: Flagged) -> None:
        """Keep an odd row."""
        self.told.append(flagged)


def test_odd_rows_are_told_one_by_one_and_shown_while_others_are_sought() -> None:
    """First how many there are, then each, the oddest first; the page lists what it knows."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=500)
    values[[20, 70]] = [400.0, -90.0]
    table = read({"key": np.array([f"k{row}" for row in range(500)]), "v": values})
    silent = Silent()
    found = detected(Explainer(table), DetectTask(Options(), 6), silent, is_copy=False)
    counts, number, *rows = silent.told
    assert counts == found.counts
    assert number == 6
    assert rows == list(found.rows)
    facts = SimpleNamespace(rows=500)
    entry: Any = SimpleNamespace(facts=facts, fine={}, name_of=lambda values: values["key"])
    job: Any = SimpleNamespace(result=None, counts=counts, rows=rows[:1])
    shown = odd_rows(entry, Addresses("t"), 6, job)
    (section,) = shown["sections"]
    assert section["kind"] == "exceptional"
    assert [(row["rank"], row["number"], row["name"]) for row in section["rows"]] == [
        (1, 21, "k20")
    ]
    assert isinstance(counts, Counts)
    assert shown["summary"].startswith(f"{counts.exceptional} of 500 rows are exceptional")


def test_rows_that_a_filter_shows_are_told_apart(reader: httpx.Client) -> None:
    """By the page that the table leads to, by its JSON and by the API: what the library says."""
    opened(reader, "logins")
    query = {"filter": '{"attribute": "site", "kind": "equals", "value": "Paris"}'}
    page = reader.get("/t/logins", params=query).text
    assert "/t/logins/apart?filter=" in page
    assert "/apart" not in reader.get("/t/logins").text
    found = reader.get("/t/logins/apart.json", params=query).json()
    jsonschema.validate(found, outlying.json_schema())
    assert found["set"]["rows"] == 200
    assert [item["attribute"] for item in found["rules"][0]["conditions"]] == ["when (hour)"]
    assert "site" not in found["columns"]
    page = html.unescape(reader.get("/t/logins/apart", params=query).text)
    assert "200 of 400 rows (50%) are in the set." in page
    assert found["rules"][0]["sentence"].partition(": ")[2] in page
    (shown,) = re.findall(r'<a href="(/t/logins\?filter=[^"]*hour[^"]*)"', page)
    assert "Rows 1 to 50 of 201" in reader.get(shown).text
    begin = "/api/v1/tables/logins/comparisons"
    body = {"filter": [{"attribute": "site", "kind": "equals", "value": "Paris"}]}
    job = finished(reader, reader.post(begin, json=body).json())
    assert job["kind"] == "compare"
    assert reader.get(job["result"]).json() == found
    assert reader.get(f"/api/v1/jobs/{job['id']}/reproduce").status_code == 409
    assert reader.get(f"/api/v1/jobs/{job['id']}/export?format=csv").status_code == 409
    for wrong in (
        {},
        {"rows": [401]},
        {"rows": "3"},
        {"search": 3},
        {"filter": [{"attribute": "x"}]},
    ):
        assert reader.post(begin, json=wrong).status_code in (400, 404), wrong
    nowhere = {"search": "nowhere"}
    assert reader.get("/t/logins/apart.json", params=nowhere).status_code == 409  # once it is over
    none = reader.get("/t/logins/apart", params=nowhere).text
    assert "no row is in the set" in none
    assert "Try again" in none
