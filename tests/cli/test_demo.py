"""The demo tells the stories that were planted in it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

import outlying

DATA = resources.files("outlying") / "data"

STORIES = [
    ("haemoglobin_g_l", ("sex",)),
    ("resting_pulse", ("training",)),
    ("systolic_mmhg", ("age", "smoker")),
    ("last_ecg", ("clinic",)),
    ("temperature_c", ()),
]


@pytest.fixture(scope="module")
def findings() -> outlying.Findings:
    patient = json.loads((DATA / "patient.json").read_text(encoding="utf-8"))
    return outlying.explain(Path(str(DATA / "patients.csv")), object=patient)


@pytest.mark.parametrize(("name", "context"), STORIES)
def test_planted_story_is_told(
    findings: outlying.Findings, name: str, context: tuple[str, ...]
) -> None:
    told = {
        (pair.column, tuple(sorted(pair.others)))  # in a context, or by a relation
        for story in findings.stories
        for pair in story.pairs
        if pair.is_finding
    }
    assert (name, context) in told


def test_the_first_stories_are_exceptional(findings: outlying.Findings) -> None:
    """The others are told, too, but in 800 rows some ordinary ones have findings as strong."""
    assert all(pair.exceptional for pair in findings.pairs[:2])


def test_columns_are_mixed_and_have_gaps(findings: outlying.Findings) -> None:
    kinds = {type(value) for value in findings.object.values()}
    assert len(kinds) >= 5
    assert findings.object["last_ecg"] is None
    assert [item.name for item in findings.population.skipped_columns] == ["patient"]


def test_the_files_are_what_the_script_makes(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "scripts" / "make_demo.py"
    subprocess.run([sys.executable, str(script), "--out", str(tmp_path)], check=True)
    for name in ("patients.csv", "patient.json"):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes()


def test_the_gallery_is_what_the_script_makes(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    script = root / "scripts" / "make_gallery.py"
    subprocess.run([sys.executable, str(script), "--out", str(tmp_path)], check=True)
    assert (tmp_path / "gallery.md").read_text() == (root / "docs" / "gallery.md").read_text()
    made = {path.name: path.read_text() for path in (tmp_path / "pictures").iterdir()}
    kept = {path.name: path.read_text() for path in (root / "docs" / "pictures").glob("*.svg")}
    assert made == kept


def test_the_readme_shows_what_the_demo_prints(findings: outlying.Findings) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = readme.split("$ outlying demo\n")[1].split("```")[0]
    printed = str(findings).replace(findings.population.source, "patients.csv")
    assert (
        shown.strip().splitlines()[1:] == printed.splitlines()[1 : len(shown.strip().splitlines())]
    )
