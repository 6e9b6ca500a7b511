"""The compiled screen against the one by NumPy: the same bits, whatever the table and the build."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import outlying
from outlying.kernel import build, library
from outlying.kernel.library import Kernel
from outlying.method.density import Floats
from outlying.search import batches, limits, quick
from outlying.search.batches import screened_together
from outlying.search.contexts import as_tuple
from outlying.search.prepared import Prepared
from outlying.search.screen import histograms as screen
from outlying.search.screen.bitsets import NONE, Contexts, Words, Workspace
from outlying.search.screen.categories import CategoricalHistogram
from outlying.search.screen.histograms import Histogram, NumericHistogram
from outlying.search.screen.neighbours import Sample
from outlying.search.screening import Asked, ScreenedProperty
from outlying.table.columns import Mask
from tests import naive, strategies
from tests.kernel.builds import LESS, SANITIZED

ROOT = Path(__file__).parents[2]
LONGEST = 4  # conditions of a context
SEEDS = st.integers(0, 2**32 - 1)

SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, rows: rng.normal(size=rows),
    "clusters": lambda rng, rows: rng.choice([0.0, 8.0, 9.5], rows) + rng.normal(0, 0.3, rows),
    "ties": lambda rng, rows: np.round(rng.normal(size=rows), 1),
    "whole numbers": lambda rng, rows: 1e6 + rng.integers(5, size=rows).astype(np.float64),
    "spike": lambda rng, rows: np.where(rng.random(rows) < 0.7, 0.0, rng.exponential(size=rows)),
    "huge": lambda rng, rows: np.append(rng.normal(size=rows - 1), 1e12),
    "tiny variance": lambda rng, rows: rng.choice([0.0, 1.0], rows) + rng.normal(0, 1e-9, rows),
    "heavy": lambda rng, rows: rng.standard_cauchy(rows),
    "one value": lambda rng, rows: np.full(rows, 3.25),
    "two values": lambda rng, rows: np.append(np.zeros(rows - 1), 1.0),
}


@pytest.fixture
def by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.VARIABLE, "numpy")


class Case:
    """A property, an object, and contexts of random conditions that it satisfies."""

    def __init__(self, seed: int, shape: str, rows: int, *, is_whole: bool) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.sample = _sample(rng, rows, is_whole=is_whole)
        self.histogram, self.value = self._property(shape, rows)
        conditions = int(rng.integers(1, 7))
        marks = rng.random((conditions + 1, len(self.sample.nearby))) < rng.random(
            (conditions + 1, 1)
        )
        marks[-1] = True
        self.marks: Mask = marks
        length = int(rng.integers(1, LONGEST + 1))
        contexts = np.sort(rng.integers(NONE, conditions, (int(rng.integers(1, 40)), length)))
        self.contexts: Contexts = contexts
        self.words: Words = np.array(self.histogram.layout.packed(list(marks)))

    def _property(self, shape: str, rows: int) -> tuple[Histogram, float]:
        rng, row = self.rng, int(self.rng.integers(rows))
        if shape == "labels":
            codes = np.minimum(rng.geometric(rng.choice([0.02, 0.5]), rows), 99).astype(np.int32)
            codes[rng.random(rows) < 0.1] = -1
            codes[row] = max(codes[row], 0)
            return CategoricalHistogram(codes, self.sample), float(codes[row])
        values = SHAPES[shape](rng, rows) / 2.0**45
        value = float(values[row])
        values[rng.random(rows) < rng.choice([0.0, 0.2])] = np.nan
        values[row] = value
        return NumericHistogram(values[self.sample.nearby], 1.0, self.sample), value


def _sample(rng: np.random.Generator, rows: int, *, is_whole: bool) -> Sample:
    order = np.arange(rows) if is_whole else rng.permutation(rows)
    if is_whole:
        return Sample(rows, order, order)
    return Sample(rows, order[: max(1, rows // 4)], order[: max(1, rows // 2)])


def same(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> None:
    """All bits, but those of NaN, of which there are many."""
    assert np.array_equal(np.isnan(one), np.isnan(other))
    known = ~np.isnan(one)
    assert one[known].tobytes() == other[known].tobytes()


@settings(max_examples=150 // LESS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=SEEDS,
    shape=st.sampled_from([*SHAPES, "labels"]),
    rows=st.sampled_from([2, 3, 30, 64, 65, 200, 700, 3000]),
    is_whole=st.booleans(),
)
@pytest.mark.usefixtures("by_numpy")
def test_estimates_have_the_same_bits(
    kernel: Kernel, seed: int, shape: str, rows: int, is_whole: bool
) -> None:
    case, work = Case(seed, shape, rows, is_whole=is_whole), Workspace()
    own = case.histogram.compiled
    assert own is not None
    expected = screen.figures(case.histogram, case.words, case.contexts, work)
    same(kernel.figures(own, case.words, case.contexts), expected)
    widths = expected[3]
    for scale in (1, 2, 32):
        wide = scale * np.where(np.isnan(widths), case.rng.random(len(widths)), widths)
        found = kernel.inside(own, case.words, case.contexts, wide)
        same(found, screen.rows_inside(case.histogram, case.words, case.contexts, wide, work))


ascending = st.lists(st.floats(-1e6, 1e6), max_size=300).map(sorted).map(np.array)


@settings(max_examples=100 // LESS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=ascending, points=ascending, reach=st.floats(0, 1e6), seed=SEEDS)
def test_sweeps_are_those_of_numpy(
    kernel: Kernel, values: Floats, points: Floats, reach: float, seed: int
) -> None:
    values, points = values.astype(float), points.astype(float)
    points = np.sort(np.concatenate([points, values[::3]]))  # ties
    for side in ("left", "right"):
        found = kernel.places(values, points, is_right=side == "right")
        assert found.tolist() == np.searchsorted(values, points, side).tolist()
    expected = np.searchsorted(values, values + reach, "right").sum()
    assert kernel.total(values, reach) == expected
    before = np.concatenate(
        [[0], np.cumsum(np.random.default_rng(seed).integers(1, 5, len(values)))]
    )
    around = before[np.searchsorted(values, values + reach, "right")]
    reached = [int(np.count_nonzero(values[:at] + reach < values[at])) for at in range(len(values))]
    around -= before[np.array(reached, dtype=np.int64)]
    assert kernel.around(values, before, reach).tolist() == around.tolist()
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(values))
    marks = rng.random(len(values)) < 0.5
    assert kernel.taken(values, rows, marks).tolist() == values[marks[rows]].tolist()


@settings(max_examples=50 // LESS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=SEEDS, rows=st.sampled_from([1, 63, 64, 65, 700]))
def test_rows_are_counted(kernel: Kernel, seed: int, rows: int) -> None:
    case = Case(seed, "normal", rows + 1, is_whole=True)
    inside = case.marks[case.contexts].all(axis=1)  # the last line of marks is for no condition
    found = kernel.rows(case.words, case.contexts)
    assert found.tolist() == np.count_nonzero(inside, axis=1).tolist()


def mixed_table(seed: int, rows: int, columns: int) -> dict[str, list[Any]]:
    """Return numbers of all shapes and labels, some of them missing, that hang together."""
    rng = np.random.default_rng(seed)
    table: dict[str, list[Any]] = {}
    group = rng.integers(3, size=rows)
    for number in range(columns):
        shape = str(rng.choice([*SHAPES, "labels"]))
        if shape == "labels":
            cells = rng.choice([*"abcdefgh"], rows).astype(object)
            cells[group == 1] = "a"
        else:
            cells = (SHAPES[shape](rng, rows) + 5 * (group == 1) * (number % 2)).astype(object)
        cells[rng.random(rows) < rng.choice([0.0, 0.1])] = None
        table[f"c{number}"] = cells.tolist()
    return table


def bits_of(numbers: npt.NDArray[Any]) -> bytes:
    """Return the bits of numbers; all that are not one are alike."""
    return np.where(np.isnan(numbers), np.nan, numbers).tobytes()


def screened(prepared: Prepared, rows: list[int], threads: int) -> list[tuple[object, ...]]:
    """Return all that the screen keeps of some rows, bit by bit."""
    asked = [Asked(prepared.exact(row), prepared.cache) for row in rows]
    found = []

    def take(some: ScreenedProperty) -> None:
        for number, here in zip(some.objects, some.slices, strict=True):
            own = some.scored[here]
            assert own.found is not None
            names = tuple(map(as_tuple, own.contexts))
            figures = (own.rows, own.found.near, own.found.inside, own.found.width)
            more = (own.found.lift, own.found.scale, own.found.known, own.keys, own.scores)
            found.append((number, some.place, names, *(bits_of(a) for a in (*figures, *more))))

    with np.errstate(all="ignore"):
        screened_together(asked, take, threads)
    return [*sorted(found), *((each.screened, each.unvisited) for each in asked)]


def set_low_limits(patch: pytest.MonkeyPatch, rows: int, *, is_whole: bool) -> None:
    """Let small tables be searched as large ones are."""
    patch.setattr(limits, "SCREENED", 10**6 if is_whole else rows // 2)
    patch.setattr(limits, "NEARBY", 10**6 if is_whole else rows * 3 // 4)
    patch.setattr(limits, "LEAST_SCREENED", 3)
    patch.setattr(limits, "MOST_TRIPLES", 40)
    patch.setattr(limits, "BEAM", 3)


@settings(max_examples=60 // LESS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=SEEDS,
    rows=st.sampled_from([12, 70, 300]),
    columns=st.integers(2, 7),
    most=st.integers(0, 5),
    is_whole=st.booleans(),
    is_wide=st.booleans(),
)
def test_objects_are_screened_together_as_alone(
    kernel: Kernel, seed: int, rows: int, columns: int, most: int, is_whole: bool, is_wide: bool
) -> None:
    """NumPy, one object after the other, and compiled code, all at once, keep the same."""
    with pytest.MonkeyPatch.context() as patch:
        set_low_limits(patch, rows, is_whole=is_whole)
        if is_wide:
            patch.setattr(limits, "WIDE", 1)
            patch.setattr(limits, "MOST_PAIRS", 30)
        table = mixed_table(seed, rows, columns)
        assume(any(naive.takes_part(cells) for cells in table.values()))
        explainer = outlying.Explainer(table, references=0, max_conditions=most)
        prepared = explainer.in_memory("this").prepared
        asked = [*range(8), 3]
        patch.setenv(library.VARIABLE, "numpy")
        expected = screened(prepared, asked, 1)
        patch.setattr(library, "_loaded", lambda _: kernel)
        patch.delenv(library.VARIABLE)
        patch.setattr(batches, "_FEW_PAIRS", 0)
        assert screened(prepared, asked, 1) == expected
        assert screened(prepared, asked, 3) == expected


@settings(max_examples=40 // LESS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=SEEDS,
    rows=st.sampled_from([30, 120, 300]),
    columns=st.integers(2, 7),
    most=st.integers(0, 5),
    is_whole=st.booleans(),
    theta=st.sampled_from([0.5, 0.8, 0.9]),
    off=st.sampled_from([-0.6, 0.0, 0.5]),
)
def test_bars_do_not_change_what_quick_searches_find(
    kernel: Kernel,
    seed: int,
    rows: int,
    columns: int,
    most: int,
    is_whole: bool,
    theta: float,
    off: float,
) -> None:
    """With weak contexts left out, also too many of them at first, as with all; and as by NumPy."""
    with pytest.MonkeyPatch.context() as patch:
        set_low_limits(patch, rows, is_whole=is_whole)
        table = mixed_table(seed, rows, columns)
        assume(any(naive.takes_part(cells) for cells in table.values()))
        options: dict[str, Any] = {"max_conditions": most, "min_outlierness": theta}
        population = outlying.Explainer(table, **options).in_memory("this")
        asked = [*range(12), 3]
        patch.setenv(library.VARIABLE, "numpy")
        expected = list(population.strongest(asked, 1))
        patch.setattr(library, "_loaded", lambda _: kernel)
        patch.delenv(library.VARIABLE)
        patch.setattr(batches, "_FEW_PAIRS", 0)
        patch.setattr(quick, "_OFF", off)
        assert list(population.strongest(asked, 1)) == expected
        assert list(population.strongest(asked, 3)) == expected
        patch.setattr(quick, "can_set_bars", lambda _: False)
        assert list(population.strongest(asked, 1)) == expected


@pytest.fixture
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SCREENED", 25)
    monkeypatch.setattr(limits, "NEARBY", 60)
    monkeypatch.setattr(limits, "LEAST_SCREENED", 3)


def answers(kernel: Kernel, table: strategies.Table, row: int) -> tuple[str, str]:
    """Return the answer as JSON, by NumPy and compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(library.VARIABLE, "numpy")
        by_numpy = outlying.explain(dict(table), row=row, references=5).to_json()
        patch.setattr(library, "_loaded", lambda _: kernel)
        patch.delenv(library.VARIABLE)
        return by_numpy, outlying.explain(dict(table), row=row, references=5).to_json()


@settings(max_examples=40 // LESS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=strategies.tables(max_rows=80, max_columns=5), place=st.integers(0, 1000))
def test_answers_have_the_same_bytes(kernel: Kernel, table: strategies.Table, place: int) -> None:
    rows = len(next(iter(table.values())))
    assume(any(naive.takes_part(cells) for cells in table.values()))
    by_numpy, compiled = answers(kernel, table, place % rows)
    assert by_numpy == compiled


@settings(max_examples=40 // LESS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=strategies.tables(max_rows=200, max_columns=4), place=st.integers(0, 1000))
@pytest.mark.usefixtures("small_samples")
def test_answers_by_a_sample_have_the_same_bytes(
    kernel: Kernel, table: strategies.Table, place: int
) -> None:
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
    tests = (
        "same_bits",
        "look",
        "counts",
        "fits",
        "layouts",
        "sweeps",
        "rows_are_counted",
        "together or bars",
        f"(same_bytes and {build.names()[-1]})",
    )
    run = subprocess.run(
        [*pytest_command, str(Path(__file__).parent), "-k", " or ".join(tests)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    assert "skipped" not in run.stdout


def test_a_screen_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.VARIABLE, "cobol")
    with pytest.raises(outlying.OptionError, match="'cobol', and there is no such build"):
        library.compiled()


def test_it_says_which_screen_is_used(monkeypatch: pytest.MonkeyPatch, kernel: Kernel) -> None:
    monkeypatch.setenv(library.VARIABLE, "numpy")
    assert library.said().startswith("screen: NumPy;")
    monkeypatch.delenv(library.VARIABLE)
    monkeypatch.setattr(library, "_loaded", lambda _: kernel)
    assert library.said() == f"screen: compiled ({kernel.name})"


def test_without_a_compiler_nothing_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", str(tmp_path / "no-such-compiler"))
    assert build.main(["--folder", str(tmp_path)]) == 1
    assert "cannot be run" in capsys.readouterr().err
    assert build.main(["--folder", str(tmp_path), "--optional"]) == 0
    assert list(tmp_path.iterdir()) == []
