"""Imports point one way, from package to package, as CONTRIBUTING tells."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import outlying

ROOT = Path(outlying.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

#: From the ground up: a package may import only from floors below its own.
FLOORS: list[set[str]] = [
    {"errors", "loading", "sentences"},
    {"kernel"},
    {"checks", "parallel"},
    {"options"},
    {"keywords"},
    {"table"},
    {"parsing"},
    {"method", "sources"},
    {"derived"},
    {"search"},
    {"reference"},
    {"results"},
    {"stream", "render"},
    {"fitted"},
    {"api"},
    {"detect", "sklearn"},
    {"gate"},
    {"web"},
    {"cli"},
    {"__main__"},
]
#: Inside functions only: a result renders itself.
LAZY = {("results", "render")}
#: Who may know engines and dataframes.
ENGINES = {"pandas", "polars", "pyarrow", "pyspark", "duckdb", "narwhals"}


def package(path: Path) -> str:
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
    own = package(path)
    if own == "__init__":
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "outlying" or len(parts) == 1:
            continue
        other = parts[1]
        if other == "__version__" or other == own or (own, other) in LAZY:
            continue
        assert floor(other) < floor(own), f"{own} must not import {other}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_sources_know_engines(path: Path) -> None:
    engines = {name.split(".")[0] for name in imported(path)} & ENGINES
    assert not engines or package(path) in ("parsing", "sources", "stream", "web")


def test_every_package_has_a_floor() -> None:
    assert {package(path) for path in MODULES} - {"__init__"} == set().union(*FLOORS)
