"""Rows by what is derived from a column: a condition leads to the rows that it means."""

from __future__ import annotations

import datetime as dt
import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlying
from outlying.errors import OptionError
from outlying.sources import read
from outlying.table.values import number_of, plain, read_text
from outlying.web.browse import Browser, write_copy
from outlying.web.queries import Filter, TableQuery
from tests.serving import finished, opened, served, uploaded

#: Rows, from 1, whose amount is odd for the hour and the code.
BY_DAY, BY_NIGHT = 100, 200
FIRST = dt.datetime(2024, 1, 1)


def receipts() -> list[tuple[dt.datetime, str, float]]:
    """Return receipts: small ones by day, large ones around midnight with codes of their own."""
    rng = np.random.default_rng(3)
    found = []
    for row in range(1200):
        is_night = row % 4 == 0
        hour = int(rng.normal(23.5, 1.2)) % 24 if is_night else int(rng.normal(13, 2))
        day = dt.timedelta(days=int(rng.integers(0, 1400)), hours=hour)
        when = FIRST + day + dt.timedelta(minutes=int(rng.integers(0, 60)))
        code = f"N-{row:04}" if is_night else f"{'AB'[row % 2]}{row % 90 + 10}-{row:04}"
        amount = rng.normal(400, 20) if is_night else rng.normal(50, 5)
        found.append((when, code, round(float(amount), 2)))
    found[BY_DAY - 1] = (dt.datetime(2024, 5, 5, 12, 30), "A55-9999", 410.0)
    found[BY_NIGHT - 1] = (dt.datetime(2024, 5, 5, 23, 45), "N-9999", 50.0)
    return found


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [f"{when.isoformat()},{code},{amount}" for when, code, amount in receipts()]
    found = tmp_path_factory.mktemp("tables") / "receipts.csv"
    found.write_text("\n".join(["when,code,amount", *lines]), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def reader(path: Path) -> Iterator[httpx.Client]:
    with served(path) as server, server.client() as client:
        opened(client, "receipts")
        yield client


@pytest.fixture(scope="module")
def browser(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    table, folder = read(path), tmp_path_factory.mktemp("copy") / "copy"
    found = Browser(folder, "receipts", table.rows, write_copy(table, folder))
    yield found
    found.close()


def rows_of(browser: Browser, **fields: Any) -> list[int]:
    item = Filter.read(json.dumps(fields))
    return browser.page(TableQuery(0, 5_000, filters=(item,))).numbers


@pytest.mark.parametrize("row", [BY_DAY, BY_NIGHT])
@pytest.mark.parametrize(
    ("query", "part"), [("", "code (pattern)"), ("?exclude=code", "when (hour)")]
)
def test_every_condition_leads_to_as_many_rows_as_it_keeps(
    reader: httpx.Client, row: int, query: str, part: str
) -> None:
    """All conditions of the findings on a row, those on a part of a column among them."""
    answer = reader.get(f"/t/receipts/row/{row}.json{query}").json()["objects"][0]
    conditions = [item for pair in answer["pairs"] for item in pair["conditions"]]
    assert part in {item["attribute"] for item in conditions}
    for pair in answer["pairs"]:
        filters = urlencode([("filter", json.dumps(item)) for item in pair["conditions"]])
        found = reader.get(f"/api/v1/tables/receipts/rows?{filters}").json()
        assert found["total"] == round(pair["support"] * 1200)
    page = reader.get(f"/t/receipts/row/{row}{query}").text
    links = [html.unescape(item) for item in re.findall(r'class="chip" href="([^"]*)"', page)]
    assert links
    assert not re.search(r'<span class="chip"', page)
    for link in links:
        asked = parse_qs(urlsplit(link).query)
        shown = reader.get(link).text
        assert "that match, of 1,200 in all" in shown
        assert Filter.read(asked["filter"][0]).attribute in html.unescape(shown)


def test_hours_across_midnight(browser: Browser) -> None:
    times = [when.time().replace(second=0) for when, _, _ in receipts()]
    late, early = dt.time(22), dt.time(2, 30)
    wanted = [n for n, time in enumerate(times, 1) if time >= late or time <= early]
    found = rows_of(browser, attribute="when (hour)", kind="interval", low="22:00", high="02:30")
    assert found == wanted
    assert rows_of(browser, attribute="when (hour)", kind="missing") == []
    assert len(rows_of(browser, attribute="when (hour)", kind="present")) == 1200


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["when (weekday)", "when (month)", "when (day of month)"]), st.data())
def test_parts_are_those_of_a_plain_loop(browser: Browser, name: str, data: st.DataObject) -> None:
    loops: dict[str, Callable[[dt.datetime], Any]] = {
        "when (weekday)": lambda when: f"{when:%A}",
        "when (month)": lambda when: f"{when:%B}",
        "when (day of month)": lambda when: when.day,
    }
    parts = [loops[name](when) for when, _, _ in receipts()]
    value = data.draw(st.sampled_from(sorted(set(parts))))
    wanted = [number for number, part in enumerate(parts, 1) if part == value]
    assert rows_of(browser, attribute=name, kind="equals", value=value) == wanted


def test_derived_conditions_go_with_others_and_twins(browser: Browser) -> None:
    at_night = Filter("when (hour)", "interval", "21:00", "04:00")
    coded = Filter("code (pattern)", "equals", value="A-9999")
    dear = Filter("amount", "interval", 400, None)
    found = browser.page(TableQuery(0, 2_000, "amount", True, "N-0", (at_night, coded, dear)))
    wanted = [
        row
        for row, (when, code, amount) in enumerate(receipts(), 1)
        if (when.hour >= 21 or when.hour < 4) and code.startswith("N-0") and amount >= 400
    ]
    assert sorted(found.numbers) == wanted
    near = browser.first_by((at_night, coded), {"amount": 400.0}, 0, 3)
    amounts = sorted(abs(receipts()[row - 1][2] - 400) for row in wanted)
    assert abs(receipts()[near.numbers[0] - 1][2] - 400) <= amounts[0]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"attribute": "when (hour)", "kind": "interval", "low": "noon"}, "a time of day"),
        ({"attribute": "when (hour)", "kind": "contains", "value": "1"}, "a range"),
        ({"attribute": "code (pattern)", "kind": "interval", "low": 1}, "one of its values"),
        (
            {"attribute": "code (spelling)", "kind": "equals", "value": "usual"},
            "nothing is derived",
        ),
        ({"attribute": "amount (written as)", "kind": "missing"}, "only by 'amount'"),
        ({"attribute": "where (hour)", "kind": "missing"}, "unknown column"),
    ],
)
def test_what_cannot_be_asked_is_said(browser: Browser, fields: Any, said: str) -> None:
    with pytest.raises((OptionError, outlying.OutlyingError), match=said):
        rows_of(browser, **fields)


def test_what_is_ordinary_of_a_derived_value(reader: httpx.Client) -> None:
    """A receipt at noon, where such codes come by night: its hour is told, and rows like it.

    Its amount is not known: one that is odd by day would be told instead.
    """
    given = {"when": "2024-05-05T12:30:00", "code": "N-1234", "amount": None}
    job = reader.post("/api/v1/tables/receipts/explanations", json={"object": given}).json()
    assert finished(reader, job)["state"] == "done"
    pairs = reader.get(f"/api/v1/jobs/{job['id']}/result").json()["objects"][0]["pairs"]
    place = next(n for n, pair in enumerate(pairs, 1) if pair["property"] == "when (hour)")
    told = reader.get(f"/api/v1/jobs/{job['id']}/stories/{place}").json()
    hours = [dt.datetime.fromisoformat(twin["values"][0]).hour for twin in told["twins"]]
    assert len(hours) == 3
    assert all(hour >= 19 or hour < 5 for hour in hours)
    assert told["ordinary_at"]
    page = reader.get(job["page"]).text
    assert re.search(r"ordinary with <strong><bdi>when \(hour\) = \d\d:\d\d</bdi>", page)


def test_a_column_that_is_compared_as_another_type_says_why_it_has_no_rows(
    reader: httpx.Client,
) -> None:
    rng = np.random.default_rng(5)
    lines = []
    for row in range(400):
        is_late = row % 2 == 1 or row == 30
        size = rng.normal(500, 10) if is_late and row != 30 else rng.normal(50, 10)
        heat = rng.normal(30, 1) if is_late else rng.normal(5, 1)
        lines.append(
            f"{20240601 + row % 25 if is_late else 20240101 + row % 25},{size:.1f},{heat:.2f}"
        )
    _, table = uploaded(reader, "days.csv", "\n".join(["day,size,heat", *lines]).encode())
    for kind in ("numeric", "datetime"):
        address = f"/t/{table}/row/31{{}}?type=day%3D{kind}&derive=false"
        told = reader.get(address.format(".json")).json()["objects"][0]["pairs"]
        assert "day" in {item["attribute"] for pair in told for item in pair["conditions"]}
        page = html.unescape(reader.get(address.format("")).text)
        said = "Rows cannot be shown by day: it is compared as date, but shown as it was read."
        assert (said in page) == (kind == "datetime")
        assert ('<span class="chip">day' in page) == (kind == "datetime")


@given(st.timedeltas(dt.timedelta(-9999), dt.timedelta(9999)))
def test_durations_are_read_as_they_are_written(value: dt.timedelta) -> None:
    again = read_text("duration", str(plain(value)))
    assert number_of("duration", again) == pytest.approx(number_of("duration", value), abs=1)
