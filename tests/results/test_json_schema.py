"""The JSON Schema that ships with the package describes what is written, all of it."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner

import outlying
from outlying.cli.main import cli
from outlying.results.stories import MOST_TYPICAL, PAIR_FIELDS
from tests.conftest import Run


def closed(schema: Any) -> Any:
    """Return a schema that allows no field beyond those that it describes."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {name: closed(item) for name, item in schema.items()}
    if "properties" in schema and isinstance(schema.get("required"), list):
        strict["additionalProperties"] = False
    return strict


STRICT = jsonschema.Draft202012Validator(closed(outlying.json_schema()))


def check(content: str | dict[str, Any]) -> None:
    whole = json.loads(content) if isinstance(content, str) else content
    errors = [f"{error.json_path}: {error.message}" for error in STRICT.iter_errors(whole)]
    assert errors == []


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    """Numbers, categories, dates, gaps; row 0 is odd in several ways."""
    rng = np.random.default_rng(2)
    city = np.repeat(["A", "B"], 60).astype(object)
    temp = np.where(city == "A", 30.0, 5.0) + rng.normal(size=120)
    temp[0] = 5.2
    day = np.datetime64("2024-01-01", "s") + rng.integers(0, 9_000_000, 120)
    day[0] = np.datetime64("2031-01-01", "s")
    gap = [None if row % 7 == 1 else float(rng.normal()) for row in range(120)]
    return {"id": [f"k{row}" for row in range(120)], "city": city, "temp": temp, "day": day} | {
        "gap": gap
    }


@pytest.fixture(scope="module")
def file(table: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("schema") / "weather.csv"
    rows = [
        ",".join("" if cell is None else str(cell) for cell in cells)
        for cells in zip(*table.values(), strict=True)
    ]
    path.write_text("\n".join([",".join(table), *rows]) + "\n")
    return str(path)


def test_the_schema_is_valid_and_says_its_number() -> None:
    schema = outlying.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$defs"]["result"]["properties"]["schema"]["const"] == 3
    assert set(schema["$defs"]["pair"]["properties"]) == {*PAIR_FIELDS, "typical_more"}


@pytest.mark.parametrize("options", [{}, {"preset": "paper"}], ids=str)
def test_one_row(table: dict[str, Any], options: dict[str, Any]) -> None:
    findings = outlying.explain(table, row=0, **options)
    assert findings.stories
    check(findings.to_json())
    check(outlying.explain(table, row=50, **options).to_json())


def test_new_objects_and_streams(table: dict[str, Any], file: str) -> None:
    new = {"city": "A", "temp": 5.0, "day": "2024-02-01", "gap": None}
    check(outlying.explain(table, object=new).to_json())
    check(outlying.explain(outlying.scan(file), where={"id": "k0"}).to_json())


COMMANDS = [
    ["explain", "--row", "1"],
    ["explain", "--rows", "1,2,50"],
    ["detect", "--top", "3"],
    ["detect", "--top", "3", "--explain"],
    ["detect", "--top", "3", "--detector", "strength"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands(command: list[str], file: str) -> None:
    args = [command[0], file, *command[1:], "--format"]
    done = CliRunner().invoke(cli, [*args, "json"])
    assert done.exit_code == 0, done.output
    check(done.stdout)
    lines = CliRunner().invoke(cli, [*args, "jsonl"]).stdout.splitlines()
    assert len(lines) > 1
    for line in lines:
        check(line)


def test_what_is_wrong_is_told(table: dict[str, Any]) -> None:
    whole = outlying.explain(table, row=0).to_dict()
    schema = jsonschema.Draft202012Validator(outlying.json_schema())
    assert schema.is_valid(whole)
    assert schema.is_valid(whole | {"later": "a field that is added"})
    damages: list[Callable[[Any], object]] = [
        lambda one: one.update(schema=1),
        lambda one: one.pop("columns"),
        lambda one: one["objects"][0].pop("blame"),
        lambda one: one["objects"][0]["stories"][0].update(culprit=None),
        lambda one: one["objects"][0]["pairs"][0].update(tail=2),
    ]
    for damage in damages:
        damaged = copy.deepcopy(whole)
        damage(damaged)
        assert not schema.is_valid(damaged)


def test_stories_and_headlines_belong_together(table: dict[str, Any]) -> None:
    findings = outlying.explain(table, row=0, derive=False)
    found = findings.to_dict()["objects"][0]
    assert len(found["stories"]) == len(found["pairs"]) > 1
    for told, story in zip(found["stories"], findings.stories, strict=True):
        pair = found["pairs"][told["headline"]]
        assert pair == story.headline.to_dict()
        assert {pair["property"], *(c["attribute"] for c in pair["conditions"])} == set(
            told["columns"]
        )
        assert (told["strength"], told["exceptional"]) == (story.strength, story.exceptional)
        rank = [told[name] for name in ("exceptional", "unusual", "as_strong", "judged")]
        assert rank == [pair[name] for name in ("exceptional", "unusual", "as_strong", "judged")]
        assert len(told["also"]) == len(story.pairs) - 1
    assert found["blame"] == findings.blame


def test_long_lists_are_cut(table: dict[str, Any]) -> None:
    pair = outlying.explain(table, row=0).pairs[0]
    assert pair.to_dict()["typical_more"] == 0
    labels = tuple(f"label {number:03d}" for number in range(100))
    plain = dataclasses.replace(pair, typical=labels).to_dict()
    assert (plain["typical"], plain["typical_more"]) == (list(labels[:MOST_TYPICAL]), 80)


def test_a_finding_does_not_grow_with_the_table(run: Run, tmp_path: Path) -> None:
    """The object's own values aside, no story takes more than documented: docs/json.md."""
    rng, path, rows, columns = np.random.default_rng(5), tmp_path / "wide.csv", 600, 40
    labels = np.arange(rows) % 10
    labels[:6] = 100 + np.arange(6)  # of their own
    texts = {f"text {place}": labels for place in range(columns // 2)}
    numbers = {f"number {place}": rng.normal(size=rows).round(2) for place in range(columns // 2)}
    for cells in numbers.values():
        cells[:6] = 99
    long = "ä" * 2000
    lines = [
        ",".join([*(f"{long}{label}" for label in cells[: len(texts)]), *cells[len(texts) :]])
        for cells in zip(*(map(str, cells) for cells in (texts | numbers).values()), strict=True)
    ]
    path.write_text("\n".join([",".join(texts | numbers), *lines]), encoding="utf-8")
    declared = (arg for name in texts for arg in ("--type", f"{name}=categorical"))  # copies stay
    args = ("--rows", "1-6", "--top", 40, "--format", "jsonl", *declared)
    code, out, _ = run("explain", path, *args)
    assert code == 0
    found = [json.loads(line) for line in out.splitlines()[1:-1]]
    cut = 0
    for item in found:
        assert len(item["pairs"]) > 10
        for story, pair in zip(item["stories"], item["pairs"], strict=True):
            cut += sum(str(value).endswith("ä…") for value in pair["typical"])
            named = [pair["value"], *(condition["value"] for condition in pair["conditions"])]
            named += [c["value"] for other in story["also"] for c in other["conditions"]]
            told = len(json.dumps([story, pair])) - sum(len(json.dumps(value)) for value in named)
            assert told < 30_000
        assert len(item["blame"]) == len(item["values"]) == columns
        rest = {name: item[name] for name in item.keys() - {"stories", "pairs", "values", "blame"}}
        assert len(json.dumps(rest)) < 2000
    assert cut > 1000
