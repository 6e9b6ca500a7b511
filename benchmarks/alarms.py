"""False alarms: how well a chosen rate is kept, and how many clean tables may pass.

    python -m benchmarks.alarms [--tables N] [--rows N] [--kinds KIND ...] [--levels .1 .05]
                                [--ways WAY ...] [--first SEED] [--clean N] [--clean-rows N]

Simulated tables of seven columns, of several kinds of margins, with 0, 1, 2 and 3% planted rows: in
one cell of each stands a number beyond all of its column, or, where columns belong together, one
of another group. Told for each kind and level: the mean share of false ones among the rows found
(a table where none is found counts as 0), and the share of planted rows found. `outlying` judges
each table by itself, `outlying, model` by a clean one of the same kind, three times as large,
which is what nonconform needs, too: half of it fits an isolation forest, half calibrates.
nonconform runs in a Python of its own, which the variable OUTLYING_NONCONFORM names. `--clean`
counts how many clean tables `check` lets pass, by itself and by the first level as `--fdr`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

import outlying

Rows: TypeAlias = npt.NDArray[np.intp]
Found: TypeAlias = list[Rows]
Levels: TypeAlias = Sequence[float]
COLUMNS = 6
SHARES = (0.0, 0.01, 0.02, 0.03)
BASE = 3  # times as many rows has the clean table


def _several(draw: Callable[[np.random.Generator, int], Any]) -> Callable[..., pd.DataFrame]:
    def table(random: np.random.Generator, rows: int) -> pd.DataFrame:
        data = {f"x{k}": draw(random, rows) for k in range(COLUMNS)}
        return pd.DataFrame({"label": random.choice(list("ABCDE"), rows), **data})

    return table


def _grouped(random: np.random.Generator, rows: int) -> pd.DataFrame:
    """Cities with a climate of their own, and counts and amounts that know nothing of them."""
    city = random.integers(0, 5, rows)
    data = {"label": np.array(list("ABCDE"))[city]}
    for k in range(3):
        mean = random.normal(0, 10, 5)
        data[f"x{k}"] = random.normal(mean[city], 1).round(2)
    data |= {"x3": random.gamma(2, 3, rows), "x4": random.poisson(6, rows)}
    return pd.DataFrame(data | {"x5": random.uniform(0, 100, rows).round(1)})


def _related(random: np.random.Generator, rows: int) -> pd.DataFrame:
    """Two factors behind six numbers."""
    factors = random.normal(size=(rows, 2))
    data = factors @ random.normal(size=(2, COLUMNS)) + random.normal(0, 0.4, (rows, COLUMNS))
    whole = pd.DataFrame(data.round(3), columns=[f"x{k}" for k in range(COLUMNS)])
    return whole.assign(label=random.choice(list("ABCDE"), rows))


KINDS: dict[str, Callable[[np.random.Generator, int], pd.DataFrame]] = {
    "normal": _several(lambda random, rows: random.normal(size=rows).round(3)),
    "skewed": _several(lambda random, rows: random.gamma(2, 3, rows).round(2)),
    "grouped": _grouped,
    "related": _related,
    "t3": _several(lambda random, rows: random.standard_t(3, rows).round(3)),
    "lognormal": _several(lambda random, rows: random.lognormal(3, 1.2, rows).round(2)),
    "Pareto": _several(lambda random, rows: (random.pareto(2.5, rows) + 1).round(3)),
}


def plant(data: pd.DataFrame, kind: str, count: int, random: np.random.Generator) -> Rows:
    """Make some rows wrong, in a cell each; return which."""
    rows = random.choice(len(data), count, replace=False)
    before = data.copy()
    for place, row in enumerate(rows):
        name = f"x{random.integers(0, COLUMNS)}"
        own = before[name]
        if kind == "grouped" and place % 2:
            name = f"x{random.integers(0, 3)}"
            others = before.loc[before["label"] != before["label"][row], name]
            far = (others - before[name][row]).abs() > 6
            if far.any():
                data.loc[row, name] = random.choice(others[far])
                continue
        farthest = own.max() if random.random() < 0.5 or own.min() > 0 else own.min()
        value = own.median() + (farthest - own.median()) * random.uniform(1.5, 2.5)
        data.loc[row, name] = round(value) if own.dtype.kind == "i" else value
    return np.asarray(rows)


def by_outlying(data: pd.DataFrame, _base: pd.DataFrame, levels: Levels) -> Found:
    """Return the rows of a table, judged by itself, that detect(fdr=) calls exceptional."""
    explainer = outlying.Explainer(data)
    return [_exceptional(explainer, level) for level in levels]


def by_model(data: pd.DataFrame, base: pd.DataFrame, levels: Levels) -> Found:
    """Return the rows that a clean table of the same kind calls exceptional."""
    explainer = outlying.Explainer(data, against=outlying.Explainer(base))
    return [_exceptional(explainer, level) for level in levels]


def _exceptional(explainer: outlying.Explainer, level: float) -> Rows:
    return np.array(outlying.detect(explainer, fdr=level, top=1).exceptional, dtype=np.intp)


#: Run by a Python that has nonconform, which may be another one than this.
_NONCONFORM = """
import sys
import numpy as np
from nonconform import ConformalDetector, Split
from sklearn.ensemble import IsolationForest

given = np.load(sys.argv[1])
forest = IsolationForest(random_state=0)
detector = ConformalDetector(
    detector=forest, strategy=Split(n_calib=0.5), score_polarity="auto", seed=0
)
detector.fit(given["base"])
for level in given["levels"]:
    rows = np.flatnonzero(detector.select(given["data"], alpha=float(level)))
    print(" ".join(map(str, rows)))
"""
PYTHON = "OUTLYING_NONCONFORM"


def by_nonconform(data: pd.DataFrame, base: pd.DataFrame, levels: Levels) -> Found:
    """Return the discoveries of an isolation forest that the clean table has calibrated."""
    whole = pd.get_dummies(pd.concat([data, base])).to_numpy(float)
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/tables.npz"
        cells = {"data": whole[: len(data)], "base": whole[len(data) :]}
        np.savez(file, **cells, levels=levels)
        call = [os.environ[PYTHON], "-W", "ignore", "-c", _NONCONFORM, file]
        done = subprocess.run(call, capture_output=True, text=True, check=True)
    return [np.array(line.split(), dtype=np.intp) for line in done.stdout.split("\n")[:-1]]


WAYS: dict[str, Callable[[pd.DataFrame, pd.DataFrame, Levels], Found]] = {
    "outlying": by_outlying,
    "outlying, model": by_model,
    "nonconform": by_nonconform,
}


def rates(kind: str, given: argparse.Namespace) -> dict[str, list[tuple[float, float]]]:
    """Return the false share and the power of each table, by way and level."""
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(given.first, given.first + given.tables):
        random = np.random.default_rng([list(KINDS).index(kind), seed])
        both = KINDS[kind](random, (1 + BASE) * given.rows)
        base, data = both[given.rows :].reset_index(drop=True), both[: given.rows].copy()
        planted = plant(data, kind, round(SHARES[seed % len(SHARES)] * given.rows), random)
        for way in given.ways:
            for level, rows in zip(given.levels, WAYS[way](data, base, given.levels), strict=True):
                right = len(np.intersect1d(rows, planted))
                false = (len(rows) - right) / max(len(rows), 1)
                power = right / len(planted) if len(planted) else np.nan
                found.setdefault(f"{way} {level:g}", []).append((false, power))
    return found


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tables", type=int, default=29, help="of each kind")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--levels", nargs="+", type=float, default=[0.1, 0.05])
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--clean", type=int, default=0, help="clean tables to check")
    parser.add_argument("--clean-rows", type=int, default=100_000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if "nonconform" in given.ways and PYTHON not in os.environ:
        print(f"{PYTHON} does not name a Python that has nonconform: left out\n")
        given.ways.remove("nonconform")
    if given.tables:
        columns = [f"{way} {level:g}" for way in given.ways for level in given.levels]
        print(f"| kind | {' | '.join(f'{name}: FDR, power' for name in columns)} |")
        print(f"| --- |{' --- |' * len(columns)}")
        whole: dict[str, list[tuple[float, float]]] = {}
        for kind in given.kinds:
            found = rates(kind, given)
            print(f"| {kind} | {' | '.join(_cell(found[name]) for name in columns)} |", flush=True)
            for name, runs in found.items():
                whole.setdefault(name, []).extend(runs)
        print(f"| all | {' | '.join(_cell(whole[name]) for name in columns)} |\n", flush=True)
    if given.clean:
        clean(given)


def _cell(runs: Sequence[tuple[float, float]]) -> str:
    false, power = np.array(runs).T
    return f"{false.mean():.3f} {np.nanmean(power):.2f}"


def clean(given: argparse.Namespace) -> None:
    """Count the clean tables that pass, as they are and with a chosen rate."""
    level = given.levels[0]
    print(f"| kind | tables | passed | exceptional rows | passed, --fdr {level:g} | s |")
    print("| --- |" + " --- |" * 5)
    total = np.zeros(5)
    for number, kind in enumerate(given.kinds):
        own = np.zeros(5)
        for seed in range(number, given.clean, len(given.kinds)):
            random = np.random.default_rng([7, list(KINDS).index(kind), given.first + seed])
            data = KINDS[kind](random, given.clean_rows)
            begin = time.process_time()
            found = outlying.check(data)
            rate = outlying.check(data, fdr=level)
            seconds = time.process_time() - begin
            own += (1, found.exit_code == 0, found.exceptional, rate.exit_code == 0, seconds)
        total += own
        print(_counts(kind, own), flush=True)
    print(_counts("all", total))


def _counts(kind: str, own: Any) -> str:
    each = max(own[0], 1)
    return (
        f"| {kind} | {own[0]:.0f} | {own[1]:.0f} | {own[2] / each:.2f} | {own[3]:.0f} | "
        f"{own[4] / each:.1f} |"
    )


if __name__ == "__main__":
    main()
