"""How well odd rows are found, beside other detectors, and how fast.

python -m benchmarks.detection --data ../shared/data -o benchmarks/results/detection.md
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, get_args

import numpy as np

import outlying
from benchmarks import machine
from benchmarks.planted import KINDS, Array, plant
from benchmarks.quality import hics
from benchmarks.quality.cases import Case
from benchmarks.quality.errors import dirty
from outlying.detect.bagging import Limits, bagged, combined
from outlying.options import Bagging, Combine
from outlying.parallel import usable_workers
from outlying.table.selection import select

SEEDS = 20
PEERS = {
    "PyOD KNN": ("pyod.models.knn", "KNN", {}),
    "PyOD FeatureBagging": ("pyod.models.feature_bagging", "FeatureBagging", {"random_state": 0}),
    "PyOD IForest": ("pyod.models.iforest", "IForest", {"random_state": 0}),
}
PAPER = (("ecoli", 223, ("site",)), ("yeast", 990, ("name", "site")), ("cloud", 354, ()))
COMBINATIONS: tuple[Combine, ...] = get_args(Combine)
RUNS: dict[str, dict[str, Any]] = {
    "kth-neighbour": {},
    "radius": {"base": "radius"},
    "kth-neighbour, own units": {"scale": "none"},
}
CHOICES: dict[str, dict[str, Any]] = {
    "scale by the range": {"scale": "range"},
    "1 neighbour (5)": {"neighbours": 1},
    "10 neighbours (5)": {"neighbours": 10},
    "20 rounds (50)": {"rounds": 20},
}
MOST_EXPLAINED = 30  # columns
SAMPLED = f"{Limits().references} rows to compare with (all)"


class Known(NamedTuple):
    """A table and which of its rows are odd."""

    kind: str
    data: dict[str, Array]
    odd: Array


# --- tables with known answers ---------------------------------------------------------------


def tables(folder: Path | None, seeds: int = 3) -> Iterator[Known]:
    """Make every table, one after the other."""
    for seed in range(seeds):
        yield from _blobs(seed)
        yield _thinned("breast_cancer", 0, 10, seed)
        yield _thinned("wine", 0, 6, seed)
    for kind in KINDS:
        for seed in range(2 * seeds):
            planted = plant(kind, seed, rows=600)
            yield Known(f"planted {kind}", planted.data, np.arange(600) == planted.row)
    for case in hics.cases(folder) if folder is not None else ():
        rows = len(next(iter(case.data.values())))
        odd = np.isin(np.arange(rows), [target.row for target in case.targets])
        yield Known(case.kind, case.data, odd)


def dirty_tables(folder: Path, copies: int = 3) -> Iterator[Known]:
    """Make tables with one wrong cell each, and the hospital table with some of its dirty rows."""
    for part in dirty.PARTS:
        for name in dirty.names(folder, part):
            for number in range(copies):
                yield _asked(f"a wrong cell, {part}", dirty.copy(folder, part, name, number))
    for draw in range(copies):
        kind = f"hospital, {dirty.DIRTY_ROWS} dirty rows"
        yield _asked(kind, dirty.thinned(folder, draw))


def _asked(kind: str, case: Case) -> Known:
    wrong = [target.row for target in case.targets if target.truths]
    return Known(kind, case.data, np.isin(np.arange(case.rows), wrong))


def _blobs(seed: int) -> Iterator[Known]:
    """Four clusters in eight columns, and rows anywhere; then four of the columns among noise."""
    rng = np.random.default_rng(seed)
    make_blobs = importlib.import_module("sklearn.datasets").make_blobs
    points, _ = make_blobs(950, 8, centers=4, random_state=seed)
    anywhere = rng.uniform(points.min(axis=0), points.max(axis=0), size=(50, 8))
    together, odd = np.vstack([points, anywhere]), np.arange(1000) >= 950
    yield Known("blobs", _columns(together), odd)
    noise = rng.normal(0, 10, size=(1000, 8))
    yield Known("blobs, 8 noise columns", _columns(np.hstack([together[:, :4], noise])), odd)


def _thinned(name: str, rare: int, count: int, seed: int) -> Known:
    """Keep a few rows of one class among all of the others."""
    bunch = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")()
    few = np.random.default_rng(seed).permutation(np.flatnonzero(bunch.target == rare))[:count]
    rows = np.concatenate([np.flatnonzero(bunch.target != rare), few])
    return Known(f"{name}, class {rare} thinned", _columns(bunch.data[rows]), np.isin(rows, few))


def _columns(points: Array) -> dict[str, Array]:
    return {f"c{place:02d}": column for place, column in enumerate(points.T)}


# --- measuring -------------------------------------------------------------------------------


def auc(scores: Array, odd: Array) -> float:
    """Return the area under the ROC curve: how often an odd row outscores an ordinary one."""
    ordinary = np.sort(scores[~odd])
    below = np.searchsorted(ordinary, scores[odd], side="left")
    equal = np.searchsorted(ordinary, scores[odd], side="right") - below
    return float((below + equal / 2).mean() / len(ordinary))


Method: TypeAlias = Callable[[dict[str, Array]], dict[str, Array]]


def bag(
    explainer: outlying.Explainer, limits: Limits | None = None, **options: Any
) -> dict[str, Array]:
    """Run the rounds once, and combine them in every way."""
    columns = select(explainer.table, explainer.options).columns
    found = bagged(columns, Bagging.of(**options), usable_workers(None), None, limits or Limits())
    parts = (found.votes, found.best, found.remoteness)
    return {how: combined(*parts, how) for how in COMBINATIONS}


def ours(name: str, **options: Any) -> Method:
    def scores(data: dict[str, Array]) -> dict[str, Array]:
        found = bag(outlying.Explainer(data), **options)
        return {f"{how}, {name}": scores for how, scores in found.items()}

    return scores


def default(name: str, **options: Any) -> Method:
    return lambda data: {name: bag(outlying.Explainer(data), **options)["rank"]}


def sampled(data: dict[str, Array]) -> dict[str, Array]:
    """Compare as in a large table: with as few rows in each round as there ever are."""
    return {SAMPLED: bag(outlying.Explainer(data), Limits(coordinates=1))["rank"]}


def peer(title: str) -> Method:
    """Return a detector of PyOD the same coordinates that our own compares."""
    module, name, options = PEERS[title]
    kind = getattr(importlib.import_module(module), name)
    return lambda data: {title: outlying.detect(data, detector=kind(**options)).scores}


def strength(data: dict[str, Array]) -> dict[str, Array]:
    """Explain every row."""
    return {"strength": outlying.detect(data, detector="strength").scores}


def few(known: list[Known]) -> list[Known]:
    """Keep two tables of each kind that are not too wide to explain every row."""
    narrow = [table for table in known if len(table.data) <= MOST_EXPLAINED]
    kinds = dict.fromkeys(table.kind for table in narrow)
    return [
        table
        for kind in kinds
        for table in itertools.islice((one for one in narrow if one.kind == kind), 2)
    ]


def quality(methods: list[Method], known: list[Known]) -> dict[str, dict[str, float]]:
    """Return the mean AUC of each method on each kind of table."""
    found: dict[str, dict[str, list[float]]] = {}
    for method in methods:
        for table in known:
            for name, scores in method(table.data).items():
                by_kind = found.setdefault(name, {}).setdefault(table.kind, [])
                by_kind.append(auc(scores, table.odd))
    return {
        name: {kind: float(np.mean(values)) for kind, values in by_kind.items()}
        for name, by_kind in found.items()
    }


def paper(folder: Path, seeds: int) -> dict[str, dict[str, list[int]]]:
    """Return the rank of the paper's rows for each setting and seed."""
    found: dict[str, dict[str, list[int]]] = {}
    for name, row, exclude in PAPER:
        explainer = outlying.Explainer(folder / f"{name}.csv", exclude=exclude)
        for (setting, options), seed in itertools.product(RUNS.items(), range(seeds)):
            for how, scores in bag(explainer, seed=seed, **options).items():
                ranks = found.setdefault(f"{how}, {setting}", {}).setdefault(f"{name} {row}", [])
                ranks.append(_rank(scores, row - 1))
    return found


def _rank(scores: Array, row: int) -> int:
    """Count the rows with higher scores; copies tie."""
    return int(np.count_nonzero(scores > scores[row])) + 1


def large_table(rows: int, columns: int) -> dict[str, Array]:
    """Three numeric columns in four, some of them in clusters; the others labels."""
    rng = np.random.default_rng(0)
    table: dict[str, Array] = {}
    for place in range(columns):
        values = rng.normal(size=rows) + 8 * (rng.random(rows) < 0.4) * (place % 3 == 0)
        labels = np.array(["ash", "birch", "elm", "fir", "oak"], dtype=object)
        chosen = labels[rng.integers(5, size=rows)]
        table[f"c{place:02d}"] = chosen if place % 4 == 3 else values * 10.0**place
    return table


def measure(rows: int, columns: int, method: str) -> None:
    """Measure one detection in this process and print it."""
    table = large_table(rows, columns)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run = ours("kth-neighbour") if method == "ours" else peer(method)
    start = time.perf_counter()
    run(table)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "mb": (after - before) / 1024}))


def speed() -> list[dict[str, Any]]:
    """Measure large tables, each in a fresh process."""
    plan = [(10_000, 20, "ours"), (100_000, 20, "ours"), (100_000, 20, "PyOD IForest")]
    found = []
    for rows, columns, method in plan:
        command = [sys.executable, "-m", "benchmarks.detection", "--measure", method]
        command += ["--rows", str(rows), "--columns", str(columns)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        figures = json.loads(done.stdout)
        found.append({"rows": rows, "columns": columns, "method": method} | figures)
        print(found[-1], file=sys.stderr)
    return found


# --- the report ------------------------------------------------------------------------------


def report(results: dict[str, Any]) -> str:
    """Write all figures."""
    parts = [
        f"# Detection\n\n{machine.machine('scipy', 'scikit-learn', 'pyod')}\n",
        *(_paper_part(results["paper"]) if "paper" in results else []),
        *(
            line
            for part, title in TITLES.items()
            if part in results
            for line in _quality_part(results[part], *title)
        ),
        *(_speed_part(results["speed"]) if "speed" in results else []),
    ]
    return "\n".join(parts)


QUALITY = """Area under the ROC curve, mean over tables of a kind: 1 is perfect, 0.5 is chance.
The detectors of PyOD, in their defaults, get the coordinates that our own compares (`detector=`).
The planted rows are ordinary in each column (except `global`) and odd in two or three columns
jointly, among eight columns of noise."""
STRENGTH = f"""The same, on two tables of each kind with at most {MOST_EXPLAINED} columns: every row
is judged, and ranked by its strongest finding (`detector="strength"`)."""
DIRTY = """Real tables with known errors: do the rows with a wrong cell come first? Tables of
data.gov with one wrong cell each, and a table of hospitals with some of its dirty rows."""
OTHER = """The same tables, combined by rank; the default in parentheses."""
TITLES = {
    "quality": ("Known odd rows, beside other detectors", QUALITY),
    "strength": ("By strength", STRENGTH),
    "dirty": ("Wrong cells", DIRTY),
    "choices": ("Other choices than the defaults", OTHER),
}
PARTS = ("speed", "paper", *TITLES)


def _paper_part(found: dict[str, dict[str, list[int]]]) -> list[str]:
    settings = next(iter(found.values()))
    rows, seeds = list(settings), len(next(iter(settings.values())))
    return [
        "## The paper's rows\n",
        f"Rank among all rows (1 is the oddest) over {seeds} seeds: how often first, the median, "
        "the worst.\n",
        _row("combination, base", *rows),
        _row(*["---"] * (len(rows) + 1)),
        *(_row(name, *(_ranks(ranks[row]) for row in rows)) for name, ranks in found.items()),
        "",
    ]


def _ranks(ranks: list[int]) -> str:
    return f"{ranks.count(1)} times, {np.median(ranks):g}, {max(ranks)}"


def _quality_part(found: dict[str, dict[str, float]], title: str, text: str) -> list[str]:
    kinds = list(next(iter(found.values())))
    means = (f"{np.mean(list(values.values())):.3f}" for values in found.values())
    return [
        f"## {title}\n",
        text + "\n",
        _row("tables", *found),
        _row(*["---"] * (len(found) + 1)),
        *(_row(kind, *(f"{values[kind]:.3f}" for values in found.values())) for kind in kinds),
        _row("mean of the kinds", *means),
        "",
    ]


def _speed_part(found: list[dict[str, Any]]) -> list[str]:
    lines = ["## Large tables\n", "In memory, each in a fresh process; memory is what was added.\n"]
    lines += [_row("rows", "columns", "detector", "seconds", "MB"), _row(*["---"] * 5)]
    lines += [
        _row(
            f"{item['rows']:,}",
            item["columns"],
            item["method"],
            f"{item['seconds']:.1f}",
            f"{item['mb']:.0f}",
        )
        for item in found
    ]
    return [*lines, ""]


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def computed(parts: Sequence[str], folder: Path | None) -> dict[str, Any]:
    """Compute some parts of the report."""
    results: dict[str, Any] = {}
    if "speed" in parts:
        results["speed"] = speed()
    if folder and "paper" in parts:
        results["paper"] = paper(folder, SEEDS)
    needs_tables = {"quality", "strength", "choices"}.intersection(parts)
    known = list(tables(folder and folder / "hics")) if needs_tables else []
    peers = [peer(name) for name in PEERS if machine.is_installed("pyod")]
    if "quality" in parts:
        methods = [ours("kth-neighbour"), ours("radius", base="radius")]
        results["quality"] = quality([*methods, *peers], known)
    if "strength" in parts:
        results["strength"] = quality([strength, default("feature bagging"), *peers], few(known))
    if folder and "dirty" in parts:
        methods = [strength, default("feature bagging"), *peers]
        results["dirty"] = quality(methods, list(dirty_tables(folder)))
    if "choices" in parts:
        changed = [default(name, **options) for name, options in CHOICES.items()]
        results["choices"] = quality([default("defaults"), *changed, sampled], known)
    return results


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with ecoli.csv, ... and hics/")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--measure", help="measure one detector on one large table")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=20)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning)
    if given.measure:
        measure(given.rows, given.columns, given.measure)
        return
    results = computed(given.only, given.data)
    text = report(results)
    print(text)
    if given.output:
        given.output.write_text(text, encoding="utf-8")
        whole = json.dumps(results, indent=1)
        given.output.with_suffix(".json").write_text(whole + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
