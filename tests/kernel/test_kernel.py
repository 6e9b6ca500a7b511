"""The compiled kernel against NumPy: the same bits, whatever the table and the build."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import outlying
from outlying.kernel import build, library
from outlying.kernel.library import Kernel
from outlying.search import memory
from tests import naive, strategies
from tests.kernel.builds import LESS, SANITIZED, used

ROOT = Path(__file__).parents[2]
SEEDS = st.integers(0, 2**32 - 1)


def answers(kernel: Kernel, table: strategies.Table, row: int) -> tuple[str, str]:
    """Return the answer as JSON, by NumPy and compiled."""
    with used(None):
        by_numpy = outlying.explain(dict(table), row=row).to_json()
    with used(kernel):
        return by_numpy, outlying.explain(dict(table), row=row).to_json()


@settings(max_examples=40 // LESS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=strategies.tables(max_rows=80, max_columns=5), place=st.integers(0, 1000))
def test_answers_have_the_same_bytes(kernel: Kernel, table: strategies.Table, place: int) -> None:
    rows = len(next(iter(table.values())))
    assume(any(naive.takes_part(cells) for cells in table.values()))
    by_numpy, compiled = answers(kernel, table, place % rows)
    assert by_numpy == compiled


@settings(max_examples=40 // LESS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=strategies.tables(max_rows=200, max_columns=4), place=st.integers(0, 1000))
def test_answers_by_a_sample_have_the_same_bytes(
    kernel: Kernel, table: strategies.Table, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MOST_ROWS", 60)
    rows = len(next(iter(table.values())))
    assume(any(naive.takes_part(cells) for cells in table.values()))
    by_numpy, compiled = answers(kernel, table, place % rows)
    assert by_numpy == compiled


@pytest.mark.slow
def test_nothing_is_read_or_written_out_of_bounds() -> None:
    """The tests above with a build that checks every access, and all arithmetic."""
    if os.environ.get(SANITIZED):
        pytest.skip("this is that run")
    try:
        command = [*build.compiler(), "-print-file-name=libasan.so"]
        checker = Path(subprocess.run(command, capture_output=True, text=True).stdout.strip())
    except (build.BuildError, OSError) as error:
        pytest.skip(str(error))
    if not checker.is_absolute():
        pytest.skip(f"{command[0]} has no address sanitizer")
    environment = os.environ | {
        "LD_PRELOAD": str(checker),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        SANITIZED: "1",
    }
    pytest_command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0"]
    best = build.names()[-1]  # and one without vectors: both branches of what is in C
    tests = f"(test_tally or test_mixture or test_sweep) and ({best} or portable)"
    tests += f" or (same_bytes and {best})"
    run = subprocess.run(
        [*pytest_command, str(Path(__file__).parent), "-k", tests],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    assert "skipped" not in run.stdout


def test_a_kernel_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.VARIABLE, "cobol")
    with pytest.raises(outlying.OptionError, match="'cobol', and there is no such build"):
        library.compiled()


def test_it_says_which_kernel_is_used(kernel: Kernel) -> None:
    with used(None):
        assert library.describe_kernel().startswith("kernel: NumPy;")
    with used(kernel):
        assert library.describe_kernel() == f"kernel: compiled ({kernel.name})"


def test_without_a_compiler_nothing_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", str(tmp_path / "no-such-compiler"))
    assert build.main(tmp_path) == 1
    assert "cannot be run" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
