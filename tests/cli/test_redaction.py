"""What a model withholds is in no output: of commands in every format, of checks, of agents."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import outlying
from tests.conftest import Run

#: In each value that is withheld: of labels, and of numbers, as digits.
SECRETS = ("Zebedee", "zebedee", "7531", "7,531")
OUTPUTS = [
    *(("--format", form) for form in ("text", "json", "jsonl", "md", "csv")),
    *(("--format", form, "-o", "FILE") for form in ("html", "xlsx", "parquet")),
    ("--format", "md", "--brief"),
    *(("--as", name) for name in ("sql", "pandas", "polars", "dbt", "gx", "pandera")),
    ("--all", "--format", "text"),
]


def people(seed: int, count: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    team = rng.choice(["north", "south"], count)
    age = np.where(team == "north", 30, 50) + rng.normal(0, 2, count).round(1)
    boss = np.where(team == "north", "Zebedee Nord", "Zebedee Sued")
    paid = rng.normal(0, 1, count).round(3) + 7531
    name = [f"Zebedee {k % 90}" for k in range(count)]
    return pd.DataFrame({"name": name, "boss": boss, "team": team, "age": age, "paid": paid})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people")
    people(1, 600).to_csv(path / "base.csv", index=False)
    new = people(2, 60)
    new.loc[3, ["age", "paid"]] = [99.0, 75310.75]
    new.loc[5, "boss"] = "Zebedee Sued" if new["team"][5] == "north" else "Zebedee Nord"
    new.to_csv(path / "new.csv", index=False)
    withheld = ["name", "boss", "paid"]
    outlying.Explainer(path / "base.csv").save(path / "base.outlying", redact=withheld)
    return path


def content(text: str, file: Path) -> str:
    """Return all that was written, and what stands in an archive or a Parquet file."""
    if not file.is_file():
        return text
    if file.suffix == ".xlsx":
        with zipfile.ZipFile(file) as archive:
            return text + "".join(archive.read(name).decode() for name in archive.namelist())
    if file.suffix == ".parquet":
        return text + str(pd.read_parquet(file).to_json())
    return text + file.read_text("utf-8")


def assert_withheld(text: str) -> None:
    assert not [word for word in SECRETS if word in text]


@pytest.mark.parametrize("words", OUTPUTS, ids=" ".join)
def test_no_output_has_what_is_withheld(
    run: Run, folder: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    file = tmp_path / f"odd.{words[1]}" if "-o" in words else tmp_path / "none"
    given = [str(file) if word == "FILE" else word for word in words]
    against = ("--against", str(folder / "base.outlying"))
    for command, rows in (("detect", ()), ("explain", ("--rows", "4,6"))):
        code, out, err = run(command, str(folder / "new.csv"), *against, *rows, *given)
        assert code == 0, err
        whole = content(out, file)
        assert "age" in whole
        assert_withheld(whole + err)


@pytest.mark.parametrize("form", ["text", "json", "junit", "md", "github"])
def test_no_verdict_has_what_is_withheld(run: Run, folder: Path, form: str) -> None:
    model = str(folder / "base.outlying")
    code, out, err = run("check", str(folder / "new.csv"), "--against", model, "--format", form)
    assert (code, err) == (1, "")
    assert "99" in out
    assert_withheld(out)


def test_no_accepted_finding_has_what_is_withheld(run: Run, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "accepted.toml"
    model, table = str(folder / "base.outlying"), str(folder / "new.csv")
    words = ("--against", model, "--row", "6", "-o", str(file), "--reason", "moved")
    code, out, err = run("accept", table, *words)
    assert code == 0, err
    assert_withheld(out + err + file.read_text("utf-8"))
    assert "boss" in file.read_text("utf-8")
    code, out, err = run("check", table, "--against", model, "--accept", str(file))
    assert "1 more accepted" in out


def test_what_is_added_to_a_frame_has_nothing_that_is_withheld(folder: Path) -> None:
    explainer = outlying.Explainer(folder / "new.csv", against=folder / "base.outlying")
    found = outlying.detect(explainer, unusual=True)
    for text in (
        found.text(),
        found.to_json(),
        found.to_frame().to_json(),
        found._repr_html_(),
        repr(found),
        explainer.explain(row=5).to_html(),
        explainer.explain_many(rows=[3, 5]).to_frame().to_json(),
    ):
        assert_withheld(text)


def test_agents_see_nothing_that_is_withheld(folder: Path) -> None:
    pytest.importorskip("mcp", reason="mcp is not installed")
    from tests.cli.test_agents import asked

    source = {"source": str(folder / "base.outlying")}
    new: dict[str, Any] = {"name": "Zebedee 3", "boss": "Zebedee Nord", "team": "north"}
    tools, found = asked(
        [folder / "base.outlying"],
        [
            ("columns", source),
            ("detect", source | {"top": 5}),
            ("explain_row", source | {"row": 8}),
            ("explain_object", source | {"object": new | {"age": 99}}),
            ("explain_object", source | {"object": new | {"age": "old", "paid": 7531.5}}),
            ("compare", source | {"where": {"team": "north"}}),
        ],
    )
    assert len(tools) == 5
    answers = [json.dumps(item.model_dump(mode="json"), ensure_ascii=False) for item in found]
    for answer in answers:
        assert_withheld(answer)
    assert [item.is_error for item in found[:4]] == [False] * 4
    assert "withheld" in answers[0]
    assert "age = 99" in answers[3]
