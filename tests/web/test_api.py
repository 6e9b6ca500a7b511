"""The API does what pages do: upload, look, explain, detect, cancel, export."""

from __future__ import annotations

import csv
import datetime as dt
import html
import io
import json
import re
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import numpy as np
import openpyxl
import pytest

import outlying
from outlying.gate import accepted
from tests.serving import PATIENTS, finished, uploaded

EXPLANATIONS = "/api/v1/tables/patients/explanations"


def explained(client: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = client.post(EXPLANATIONS, json=body)
    assert answer.status_code == 202, answer.text
    return finished(client, answer.json())


def test_tables_say_what_they_hold(client: httpx.Client) -> None:
    table = client.get("/api/v1/tables/patients").json()
    assert (table["state"], table["rows"], table["is_upload"]) == ("ready", 800, False)
    columns = {column["name"]: column for column in table["columns"]}
    assert columns["age"]["type"] == "numeric"
    assert columns["examined"]["type"] == "datetime"
    assert columns["sex"]["categories"] == ["female", "male"]
    assert columns["age"]["low"] < columns["age"]["high"]


def test_rows_are_paged_sorted_filtered_and_searched(client: httpx.Client) -> None:
    def rows(**given: Any) -> dict[str, Any]:
        answer = client.get("/api/v1/tables/patients/rows", params=given)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    first = rows(limit=3)
    assert [row["row"] for row in first["rows"]] == [1, 2, 3]
    assert first["total"] == 800
    assert [row["row"] for row in rows(offset=799)["rows"]] == [800]
    place = first["columns"].index("age")
    ages = [row["values"][place] for row in rows(sort="age", order="desc", limit=20)["rows"]]
    assert ages == sorted(ages, reverse=True)
    women = rows(filter=json.dumps({"attribute": "sex", "kind": "equals", "value": "female"}))
    assert 0 < women["total"] < 800
    old = rows(filter=json.dumps({"attribute": "age", "kind": "interval", "low": 60}))
    assert all(row["values"][place] >= 60 for row in old["rows"])
    assert rows(search="P0042")["total"] == 1
    assert [row["row"] for row in rows(rows="7,3")["rows"]] == [3, 7]


@pytest.mark.parametrize(
    "query",
    [
        "sort=nothing",
        "limit=0",
        "limit=501",
        "offset=-1",
        "offset=x",
        "order=up",
        "filter={",
        "filter=[]",
        'filter={"attribute":"age","kind":"near"}',
        'filter={"attribute":"age","kind":"interval","low":"old"}',
        'filter={"attribute":"age","kind":"equals","value":[1]}',
        "rows=0",
    ],
)
def test_wrong_queries_are_refused_in_words(client: httpx.Client, query: str) -> None:
    answer = client.get(f"/api/v1/tables/patients/rows?{query}")
    assert answer.status_code == 400
    assert len(answer.json()["error"]) > 10


def test_an_explanation_is_that_of_the_library(client: httpx.Client) -> None:
    job = explained(client, row=17, options={"max_conditions": 2})
    found = client.get(job["result"]).json()
    own = outlying.explain(PATIENTS, row=16, max_conditions=2)
    assert found == json.loads(own.to_json()) | {"source": found["source"]}
    jsonschema.validate(found, outlying.json_schema())
    assert job["page"] == "/t/patients/row/17?max_conditions=2"


def test_the_same_request_has_the_same_job(client: httpx.Client) -> None:
    assert explained(client, row=3)["id"] == explained(client, row=3)["id"]
    assert explained(client, row=3)["id"] != explained(client, row=4)["id"]


def test_an_explained_row_is_shaded(client: httpx.Client) -> None:
    explained(client, row=5)
    (row,) = client.get("/api/v1/tables/patients/rows?rows=5").json()["rows"]
    assert row["blame"] is not None
    assert all(0 <= share <= 1 for share in row["blame"].values())


def test_rows_are_marked_as_fine_and_no_more(client: httpx.Client) -> None:
    """What a page marks, a program can mark and see; marks are in what is saved."""
    address = "/api/v1/tables/patients/marks"
    assert client.post(address, json={"row": 9, "fine": True}).json() == {"fine": [9]}
    assert client.post(address, json={"row": 7, "fine": True}).json() == {"fine": [7, 9]}
    job = explained(client, row=9)
    saved = client.get(f"/api/v1/jobs/{job['id']}/export?format=csv").text
    assert all(line["marked"] == "fine" for line in csv.DictReader(io.StringIO(saved)))
    assert "Odd after all" in client.get("/t/patients/row/9").text
    for row in (7, 9):
        client.post(address, json={"row": row, "fine": False})
    assert client.get(address).json() == {"fine": []}
    for body, status in (
        ({"row": 801, "fine": True}, 404),
        ({"row": 0, "fine": True}, 400),
        ({"row": 7}, 400),
        ({"row": 7, "fine": 1}, 400),
    ):
        assert client.post(address, json=body).status_code == status


def test_marks_are_accepted_findings_of_the_gate(client: httpx.Client, tmp_path: Path) -> None:
    """What a reader marks as fine is silent in `check`, with its reason, author and last day."""
    address = "/api/v1/tables/patients"
    assert client.get(f"{address}/accepted").status_code == 409
    before = outlying.check(PATIENTS)
    first = before.rows[0].row
    assert first is not None
    mark = {"row": first + 1, "fine": True, "reason": 'a "known" case', "author": "Ida"}
    client.post(f"{address}/marks", json=mark | {"expires": "2999-12-31"})
    client.post(f"{address}/marks", json={"row": 800, "fine": True})
    explained(client, row=first + 1)
    answer = client.get(f"{address}/accepted")
    assert answer.headers["content-disposition"] == 'attachment; filename="accepted.toml"'
    assert "# Nothing exceptional is known in row 800" in answer.text
    path = tmp_path / "accepted.toml"
    path.write_bytes(answer.content)
    entries = accepted.read(path)
    assert {(item.reason, item.author, item.expires) for item in entries} == {
        ('a "known" case', "Ida", dt.date(2999, 12, 31))
    }
    after = outlying.check(PATIENTS, accept=str(path))
    assert (after.accepted, after.exceptional) == (1, before.exceptional - 1)
    assert first not in [item.row for item in after.rows]
    assert after.warnings == before.warnings
    hostile = '\ud800"\n[[accepted]]\n\x7f\x1b\\'
    client.post(f"{address}/marks", content=json.dumps(mark | {"reason": hostile}))
    path.write_bytes(client.get(f"{address}/accepted").content)
    assert {item.reason for item in accepted.read(path)} == {hostile.replace("\ud800", "?")}
    assert client.get(f"/t/patients/row/{first + 1}").status_code == 200
    for wrong in ({"expires": "soon"}, {"reason": 1}, {"author": "x" * 1001}):
        assert client.post(f"{address}/marks", json=mark | wrong).status_code == 400
    for row in (first + 1, 800):
        client.post(f"{address}/marks", json={"row": row, "fine": False})
    assert client.get(f"{address}/accepted").status_code == 409


def patient() -> dict[str, Any]:
    return dict(json.loads(PATIENTS.with_name("patient.json").read_text()))


def test_a_new_object_has_twins_that_are_ordinary(client: httpx.Client) -> None:
    job = explained(client, object=patient())
    result = client.get(job["result"]).json()["objects"][0]
    assert result["stories"]
    headline = result["pairs"][0]
    found = client.get(f"/api/v1/jobs/{job['id']}/stories/1").json()
    assert 1 <= len(found["twins"]) <= 3
    names = [column["name"] for column in client.get("/api/v1/tables/patients").json()["columns"]]
    lows, highs = zip(*headline["typical"], strict=True)
    for twin in found["twins"]:
        values = dict(zip(names, twin["values"], strict=True))
        assert min(lows) <= values[headline["property"]] <= max(highs)
    assert found["ordinary_at"] in [*lows, *highs]
    filters = [json.dumps(item) for item in found["filters"]]
    group = client.get("/api/v1/tables/patients/rows", params={"filter": filters}).json()
    assert group["total"] in (headline["group_size"], headline["group_size"] - 1)
    assert client.get(f"/api/v1/jobs/{job['id']}/stories/99").status_code == 404


def test_what_breaks_a_relation_would_be_ordinary_where_it_holds(client: httpx.Client) -> None:
    """The value that the other columns lead to is offered; with it nothing is odd."""
    rng = np.random.default_rng(2)
    net, tax = rng.lognormal(5, 0.6, (2, 400)).round(2)
    gross = (net + tax).round(2)
    expected, gross[9] = gross[9], gross[9] * 10
    lines = [f"{a},{b},{c:.2f}" for a, b, c in zip(net, tax, gross, strict=True)]
    lines = ["net,tax,gross", *lines]
    _, table = uploaded(client, "bills.csv", "\n".join(lines).encode())
    address = f"/api/v1/tables/{table}"
    job = finished(client, client.post(f"{address}/explanations", json={"row": 10}).json())
    told = client.get(f"/api/v1/jobs/{job['id']}/stories/1").json()
    assert told["ordinary_at"] == pytest.approx(expected, abs=0.02)
    page = html.unescape(client.get(f"/t/{table}/row/10").text)
    change = re.search(
        r"Would be ordinary at <strong><bdi>\S+</bdi></strong> <a href=\"(\S+)\"", page
    )
    assert change is not None
    (again,) = client.get(change[1].replace("/new?", "/new.json?")).json()["objects"]
    assert not any(story["exceptional"] for story in again["stories"])
    client.delete(f"/api/v1/tables/{table}")


def test_in_place_of_a_gap_no_value_is_nearest(client: httpx.Client) -> None:
    job = explained(client, object=dict.fromkeys(patient()) | {"sex": "male"})
    stories = client.get(job["result"]).json()["objects"][0]["stories"]
    assert stories
    for place in range(1, len(stories) + 1):
        answer = client.get(f"/api/v1/jobs/{job['id']}/stories/{place}")
        assert answer.status_code == 200, answer.text
        assert answer.json()["ordinary_at"] is None
        assert answer.json()["twins"]
    assert client.get("/t/patients/new?v.sex=male").status_code == 200


@pytest.mark.parametrize("gap", ["number", "day", "kind"])
def test_a_row_with_a_gap_is_explained(client: httpx.Client, gap: str) -> None:
    lines = ["number,day,kind"]
    for row in range(300):
        cells = {
            "number": row * 7 % 83,
            "day": f"2024-03-{row % 28 + 1:02}",
            "kind": "abc"[row % 3],
        }
        lines.append(
            ",".join(str(cell) for cell in (cells | ({gap: ""} if row == 9 else {})).values())
        )
    job, table = uploaded(client, "gaps.csv", "\n".join(lines).encode())
    assert job["state"] == "done", job
    asked = client.post(f"/api/v1/tables/{table}/explanations", json={"row": 10}).json()
    assert finished(client, asked)["state"] == "done"
    page = client.get(f"/t/{table}/row/10")
    assert page.status_code == 200, page.text
    assert "ordinary at known" not in page.text
    client.delete(f"/api/v1/tables/{table}")


def test_numbers_and_dates_written_for_people_are_shown_as_they_are_compared(
    client: httpx.Client,
) -> None:
    lines = ["Amount;Day;Rate"]
    for row in range(200):
        amount = 9000 if row == 7 else row % 50 + 1000.5
        rate = "inf" if row == 3 else row % 9
        lines.append(f"${amount:,.2f};{row % 28 + 1:02}.03.2024;{rate}")
    job, table = uploaded(client, "written.csv", "\n".join(lines).encode())
    assert job["state"] == "done", job
    address = f"/api/v1/tables/{table}"
    found = client.get(address).json()
    assert [column["type"] for column in found["columns"]] == ["numeric", "datetime", "numeric"]
    assert not found["skipped"]
    assert found["notes"]
    rows = client.get(f"{address}/rows?sort=Amount&order=desc&limit=1").json()["rows"]
    assert rows[0]["values"][:2] == [9000.0, "2024-03-08"]
    many = json.dumps({"attribute": "Amount", "kind": "interval", "low": 5000})
    assert client.get(f"{address}/rows", params={"filter": many}).json()["total"] == 1
    infinite = client.get(f"{address}/rows?sort=Rate&order=desc&limit=1").json()["rows"]
    assert infinite[0]["row"] == 4
    assert infinite[0]["values"][2] is not None
    client.delete(address)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"row": 0},
        {"row": "x"},
        {"row": 1, "object": {}},
        {"row": 1, "options": {"min_support": -1}},
        {"row": 1, "options": {"nothing": 1}},
        {"row": 1, "options": [1]},
        {"row": 1, "what": 1},
        {"object": {"age": "old"}},
        {"object": {"age": {"deep": 1}}},
        {"object": 3},
    ],
)
def test_wrong_requests_are_refused_in_words(client: httpx.Client, body: Any) -> None:
    answer = client.post(EXPLANATIONS, json=body)
    assert answer.status_code == 400, answer.text
    assert len(answer.json()["error"]) > 10


def test_what_does_not_exist_is_not_found(client: httpx.Client) -> None:
    assert client.post(EXPLANATIONS, json={"row": 801}).status_code == 404
    for path in ("/api/v1/tables/none", "/api/v1/jobs/none", "/api/v1/none", "/static/none"):
        assert client.get(path).status_code == 404
    assert client.delete("/api/v1/tables/patients").status_code == 409
    assert client.put("/api/v1/tables").status_code == 405


def test_an_object_that_does_not_fit_fails_with_its_reason(client: httpx.Client) -> None:
    job = explained(client, object={"age": 40})
    assert job["state"] == "failed"
    assert "no value for 'sex'" in job["error"]


def test_odd_rows_are_found_explained_and_exported(client: httpx.Client) -> None:
    answer = client.post("/api/v1/tables/patients/detections", json={"top": 3})
    job = finished(client, answer.json())
    found = client.get(job["result"]).json()
    jsonschema.validate(found, outlying.json_schema())
    assert [item["detection"]["rank"] for item in found["objects"]] == [1, 2, 3]
    assert found["patterns"]
    address = f"/api/v1/jobs/{job['id']}/export"
    page = client.get(address, params={"format": "html"})
    assert page.headers["content-disposition"].startswith("attachment")
    assert "What is odd in" in page.text
    assert client.get(address, params={"format": "json"}).json() == found
    picture = client.get(address, params={"format": "png"}).content
    assert picture.startswith(b"\x89PNG")
    assert client.get(address, params={"format": "exe"}).status_code == 400


def test_odd_cells_are_saved_with_names_reasons_and_marks(client: httpx.Client) -> None:
    """As CSV and as a workbook whose odd values are shaded; rows marked as fine say so."""
    job = finished(
        client, client.post("/api/v1/tables/patients/detections", json={"top": 5}).json()
    )
    found = client.get(job["result"]).json()["objects"]
    first = found[0]["row"]
    client.post("/t/patients/fine", data={"row": str(first), "fine": "1"})
    address = f"/api/v1/jobs/{job['id']}/export"
    text = client.get(address, params={"format": "csv"}).text
    lines = list(csv.DictReader(io.StringIO(text[1:])))
    assert {int(line["row"]) for line in lines} == {item["row"] for item in found}
    for line in lines:
        assert line["name"] == f"P{int(line['row']):04}"
        assert line["column"]
        assert line["value"]
        assert line["expected"]
        assert line["word"] in ("exceptional", "unusual")
        assert (line["marked"] == "fine") == (int(line["row"]) == first)
    book = client.get(address, params={"format": "xlsx"}).content
    sheet = openpyxl.load_workbook(io.BytesIO(book)).active
    assert sheet is not None
    heads, *rows = sheet.iter_rows()
    names = [cell.value for cell in heads]
    assert names == list(lines[0])
    value = names.index("value")
    assert len(rows) == len(lines)
    for row, line in zip(rows, lines, strict=True):
        assert str(row[names.index("name")].value) == line["name"]
        assert row[value].fill.fgColor.rgb == "FFF7B27E"
        assert row[0].fill.fill_type is None
    client.post("/t/patients/fine", data={"row": str(first), "fine": ""})
    assert "fine" not in client.get(address, params={"format": "csv"}).text
    assert client.post("/t/patients/fine", data={"row": "801", "fine": "1"}).status_code == 404


def test_detection_refuses_options_that_its_command_does_not_have(client: httpx.Client) -> None:
    body = {"top": 3, "options": {"max_conditions": 2}}
    answer = client.post("/api/v1/tables/patients/detections", json=body)
    assert answer.status_code == 400
    assert "max_conditions" in answer.json()["error"]


def test_progress_is_told_until_the_end(client: httpx.Client) -> None:
    job = client.post(EXPLANATIONS, json={"row": 9}).json()
    with client.stream("GET", f"/api/v1/jobs/{job['id']}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in stream.iter_lines() if line.startswith("data: ")]
    assert json.loads(lines[-1].removeprefix("data: "))["state"] == "done"


def test_a_job_is_cancelled_and_begun_again(client: httpx.Client) -> None:
    slow = {"preset": "paper", "scales": "several", "min_support": 2, "max_conditions": 8}
    body = {"row": 11, "options": slow}
    job = client.post(EXPLANATIONS, json=body).json()
    assert client.get(f"/api/v1/jobs/{job['id']}/result").status_code == 409
    assert client.delete(f"/api/v1/jobs/{job['id']}").json()["state"] == "cancelled"
    assert finished(client, job)["state"] == "cancelled"
    assert explained(client, row=12)["state"] == "done"
    again = client.post(EXPLANATIONS, json=body).json()
    assert again["id"] != job["id"]
    client.delete(f"/api/v1/jobs/{again['id']}")


def test_an_upload_is_read_and_forgotten(client: httpx.Client) -> None:
    rows = "".join(f"{number},{number % 7}\n" for number in range(200))
    job, table = uploaded(client, "my numbers.csv", b"a,b\n" + rows.encode())
    assert job["state"] == "done"
    found = client.get(f"/api/v1/tables/{table}").json()
    assert (found["name"], found["rows"], found["is_upload"]) == ("my numbers.csv", 200, True)
    assert table == "my-numbers"
    assert client.delete(f"/api/v1/tables/{table}").status_code == 200
    assert client.get(f"/api/v1/tables/{table}").status_code == 404


def test_a_form_uploads_too_and_leads_to_the_page(client: httpx.Client) -> None:
    content = b"a,b\n" + b"".join(b"%d,%d\n" % (n, n % 5) for n in range(50))
    answer = client.post(
        "/api/v1/tables", files={"file": ("small.csv", content)}, headers={"Accept": "text/html"}
    )
    assert answer.status_code == 303
    assert answer.headers["location"] == "/t/small/odd"
    assert client.get("/t/small.json").json()["total"] == 50
    assert client.post("/api/v1/tables", files={"other": (None, "text")}).status_code == 400
    client.delete("/api/v1/tables/small")


def test_every_page_has_a_twin_in_json(client: httpx.Client) -> None:
    assert client.get("/index.json").json()["tables"]
    assert client.get("/t/patients.json?limit=2").json()["total"] == 800
    one = client.get("/t/patients/row/17.json?max_conditions=2").json()
    assert one["objects"][0]["row"] == 17
    odd = client.get("/t/patients/odd.json?top=2").json()
    assert len(odd["objects"]) == 2
    known = {name: value for name, value in patient().items() if value is not None}
    values = {f"v.{name}": str(value) for name, value in known.items()}
    new = client.get("/t/patients/new.json", params=values).json()
    assert new["objects"][0]["stories"]


def test_the_document_describes_what_is_there(client: httpx.Client) -> None:
    from outlying.web import api

    paths = client.get("/openapi.json").json()["paths"]
    routes = {
        (route.path, method.lower())
        for route in api.ROUTES
        if route.path.startswith("/api/")
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert {(path, method) for path, methods in paths.items() for method in methods} == routes
