"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from outlying.cli import main as cli

settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("few", settings.get_profile("house"), max_examples=15)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))

Run = Callable[..., tuple[int, str, str]]

TESTS = Path(__file__).resolve().parent
SHARED = TESTS.parent.parent / "shared" / "data"


#: The core tier, `pytest -m core`: what explains, without files, servers and engines.
CORE = {"method", "derived", "table", "results", "search", "reference"} | {
    f"test_{name}.py" for name in ("blame", "explain", "exports", "imports", "options")
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the core tier by folder, slow tests excepted."""
    for item in items:
        home = item.path.relative_to(TESTS).parts[0] if TESTS in item.path.parents else ""
        if home in CORE and item.get_closest_marker("slow") is None:
            item.add_marker("core")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the paper's tables, which are not part of this repository."""
    folder = Path(os.environ.get("OUTLYING_DATA", SHARED))
    if not (folder / "ecoli.csv").exists():
        pytest.skip(f"the paper's tables are not in {folder} (set OUTLYING_DATA to their folder)")
    return folder


@pytest.fixture
def few_drawn(monkeypatch: pytest.MonkeyPatch) -> int:
    """Draw fewer rows of tables, so that tables of a test are large; tell how many."""
    from outlying.search import memory, model

    for module in (model, memory):
        monkeypatch.setattr(module, "MOST_ROWS", 3000)
    return 3000


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
