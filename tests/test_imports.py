"""Imports point one way: cli -> explain -> (sources, search, ...) -> table."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import outlying

ROOT = Path(outlying.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

#: From the ground up: a module may import only from floors below its own.
FLOORS: list[set[str]] = [
    {"errors", "values"},
    {"options", "workers"},
    {"table", "density", "conditions", "settings"},
    {"outlierness", "mixture", "wording", "bits", "sketches", "bins", "coordinates"},
    {"intervals", "findings", "output", "vicinity", "judges"},
    {"screen", "joins", "sources", "selection", "stories", "detections"},
    {"population", "many", "render", "streams"},
    {"feeders"},
    {"shelf", "shared", "sampling", "jsonlines", "terminal", "report", "neighbours"},
    {"search", "bagging"},
    {"scored", "describe", "references"},
    {"guided"},
    {"notes", "cli_targets"},
    {"explain", "cli_columns"},
    {"cli_many", "detect"},
    {"cli_detect", "paper"},
    {"cli_paper"},
    {"cli"},
    {"__main__"},
]
#: Inside functions only: a result renders itself, a frame is made where frames are known.
LAZY = {(own, other) for own in ("findings", "detections") for other in ("render", "sources")}
#: Seen by the type checker only.
TYPES_ONLY = {("wording", "findings")}
ENGINES = {"pandas", "polars", "pyarrow", "duckdb", "narwhals"}


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def floor(name: str) -> int:
    return next(level for level, names in enumerate(FLOORS) if name in names)


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
            assert node.level == 0, "imports are absolute"
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    own = room(path)
    if own == "__init__":
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "outlying" or len(parts) == 1:
            continue
        other = parts[1]
        if other == "__version__" or other == own or (own, other) in LAZY | TYPES_ONLY:
            continue
        if own == "cli" and not (ROOT / f"{other}.py").exists() and not (ROOT / other).exists():
            continue  # a name of the public surface
        assert floor(other) < floor(own), f"{own} must not import {other}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_sources_know_engines(path: Path) -> None:
    engines = {name.split(".")[0] for name in imported(path)} & ENGINES
    assert not engines or room(path) in ("sources", "streams", "feeders")


def test_every_module_has_a_floor() -> None:
    rooms = {room(path) for path in MODULES} - {"__init__"}
    assert rooms == set().union(*FLOORS)
