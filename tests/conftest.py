"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from outlying.cli import main as cli
from outlying.search import references

settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))

Run = Callable[..., tuple[int, str, str]]

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the paper's tables, which are not part of this repository."""
    folder = Path(os.environ.get("OUTLYING_DATA", SHARED))
    if not (folder / "ecoli.csv").exists():
        pytest.skip(f"the paper's tables are not in {folder} (set OUTLYING_DATA to their folder)")
    return folder


@pytest.fixture(autouse=True, scope="module")
def few_references(request: pytest.FixtureRequest) -> Iterator[tuple[int, int]]:
    """Compare with three rows only, also in fixtures of modules; see the marker `references`."""
    usual = references.MOST_ROWS, references.LEAST_ROWS
    if request.node.get_closest_marker("references") is None:
        references.MOST_ROWS = references.LEAST_ROWS = 3
    yield usual
    references.MOST_ROWS, references.LEAST_ROWS = usual


@pytest.fixture(autouse=True)
def as_many_references_as_usual(
    few_references: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """Compare with as many rows as users get where a test is about the comparison."""
    if request.node.get_closest_marker("references") is not None:
        most, least = few_references
        monkeypatch.setattr(references, "MOST_ROWS", most)
        monkeypatch.setattr(references, "LEAST_ROWS", least)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in this process; give exit code, standard output and error."""

    def call(*args: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["outlying", *map(str, args)])
        try:
            cli.main()
            code: object = 0
        except SystemExit as done:
            code = done.code
        said = capsys.readouterr()
        return int(str(code or 0)), said.out, said.err

    return call
