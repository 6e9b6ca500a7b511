"""The minimum versions that are declared are those that are tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_constraints_are_the_declared_minimums() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    tested = ("pandas", "polars", "plot", "detect", "big")
    wanted = [*project["dependencies"], *(item for name in tested for item in extras[name])]
    declared = dict(item.split(">=") for item in wanted)
    lines = (ROOT / "scripts" / "minimum.txt").read_text().splitlines()
    exact = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert {name: re.sub(r"(\.0)+$", "", version) for name, version in exact.items()} == {
        name: re.sub(r"(\.0)+$", "", version) for name, version in declared.items()
    }
