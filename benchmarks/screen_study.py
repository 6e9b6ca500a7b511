"""How far the estimates of the screen are off, and what that changes in the answers.

python -m benchmarks.screen_study -o benchmarks/results/screen.md
"""

from __future__ import annotations

import argparse
import importlib
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import outlying
from benchmarks.machine import header
from benchmarks.quality import stories
from benchmarks.quality.cases import Case
from outlying import guided
from outlying.describe import Trait
from outlying.population import ExactScreen
from outlying.search import Evaluation

explain: Any = importlib.import_module(
    "outlying.explain"
)  # the package's name for it is the function

ESTIMATED = ("category", "linear", "heavy_tails", "rounded", "gaps", "rows_200")
COMPARED = (*stories.KINDS_CORE, "heavy_tails", "rounded", "gaps", "masking")
SAMPLED = ("rows_10000", "rows_100000")
ORDINARY = 3  # ordinary rows beside the planted one
CONTEXTS = 60  # drawn for each property
EVERY = 10**9


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the screen with exact densities.")
    parser.add_argument("--seeds", type=int, default=2, help="tables per kind")
    parser.add_argument("-o", "--output", type=Path, help="write the report there, too")
    args = parser.parse_args()
    lines = [header("The screen"), *_estimates(args.seeds), *_answers(args.seeds)]
    text = "\n".join([*lines, *_samples(args.seeds)])
    print(text)
    if args.output:
        args.output.write_text(text + "\n", encoding="utf-8")


def _estimates(seeds: int) -> list[str]:
    lines = [
        "Error of ln(rarity) in random contexts of up to two conditions; the last column looks at "
        "those in which the object is truly 7 times rarer or more, and counts what the screen "
        f"makes it less rare than it is (a context is looked at up to {guided.MARGIN:g} times).\n",
        "| kind | contexts | standard deviation | 1% and 99% | largest | times too common |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for kind in ESTIMATED:
        found = [_errors(stories.make(kind, seed)) for seed in range(seeds)]
        error, rarity = (np.concatenate([pair[place] for pair in found]) for place in (0, 1))
        low, high = np.quantile(error, [0.01, 0.99])
        missed = float(np.exp((-error[rarity > 2]).max(initial=0.0)))
        largest = float(np.abs(error).max())
        lines.append(
            f"| {kind} | {len(error)} | {error.std():.3f} | {low:.2f}, {high:.2f} | {largest:.2f} "
            f"| {missed:.2f} |"
        )
    return [*lines, ""]


def _errors(case: Case) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Give the error of ln(rarity), and what it truly is, in random contexts."""
    ready = outlying.Explainer(case.data)._population()
    rng = np.random.default_rng(0)
    errors, true = [], []
    for row in (case.targets[0].row, *rng.choice(case.rows, ORDINARY)):
        traits, premises, _ = explain._searched(ready, int(row), None)
        run = guided._Guided(Evaluation(traits, premises, case.rows, ready.options), ready.sample)
        for place in rng.choice(len(traits), 4):
            short = run.short.restricted(run.short.free_of(run.own == place))
            estimate = traits[place].screen(ready.sample).estimate
            mean, at_object = estimate(short.left, short.right, short.cells)
            for cell in rng.choice(len(mean), CONTEXTS):
                exact = traits[place].summary(run.exact.mask(short.context(int(cell))))
                if exact is not None and not np.isnan(mean[cell]):
                    true.append(np.log(exact.rarity))
                    errors.append(np.log(mean[cell] / at_object[cell]) - true[-1])
    return np.array(errors), np.array(true)


def _answers(seeds: int) -> list[str]:
    cases = [stories.make(kind, seed) for kind in COMPARED for seed in range(seeds)]
    same, pairs, missed, quick, slow = 0, 0, 0, 0.0, 0.0
    for case in cases:
        begin = time.perf_counter()
        found = _reached(case)
        middle = time.perf_counter()
        exact = _exact(case)
        quick, slow = quick + middle - begin, slow + time.perf_counter() - middle
        same += found[:1] == exact[:1]
        pairs, missed = pairs + len(exact), missed + len([p for p in exact if p not in found])
    return [
        f"{len(cases)} planted rows, screened and with every context evaluated exactly: the "
        f"same first pair for {same}; of {pairs} pairs that reach the threshold {missed} were "
        f"missed; {quick:.0f} s against {slow:.0f} s, mixtures included in both.\n",
    ]


def _exact(case: Case) -> list[outlying.Pair]:
    """Evaluate every context exactly instead of screening."""
    before = Trait.screen

    def exactly(self: Trait, sample: object) -> ExactScreen:  # noqa: ARG001 - as the original
        return ExactScreen(self.attribute, self.row, self.options.bandwidth)

    Trait.screen = exactly  # type: ignore[method-assign]
    found = _reached(case)
    Trait.screen = before  # type: ignore[method-assign]
    return found


def _reached(case: Case) -> list[outlying.Pair]:
    found = outlying.explain(case.data, row=case.targets[0].row, references=0, top=10_000)
    return [pair for pair in found.pairs if pair.reaches_threshold]


def _samples(seeds: int) -> list[str]:
    lines = [
        f"The first pair by a sample of {explain.SCREENED:,} rows, and by all rows:\n",
        "| kind | tables | same columns | same pair | s by the sample | s by all rows |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for kind in SAMPLED:
        columns = pair = 0
        quick = slow = 0.0
        for seed in range(seeds * 3):
            case = stories.make(kind, seed)
            begin = time.perf_counter()
            found = _reached(case)[0]
            middle = time.perf_counter()
            explain.SCREENED, before = EVERY, explain.SCREENED
            exact = _reached(case)[0]
            explain.SCREENED = before
            quick, slow = quick + middle - begin, slow + time.perf_counter() - middle
            pair += found == exact
            columns += _columns(found) == _columns(exact)
        count = seeds * 3
        lines.append(
            f"| {kind} | {count} | {columns} | {pair} | {quick / count:.1f} | {slow / count:.1f} |"
        )
    return [*lines, ""]


def _columns(pair: outlying.Pair) -> set[str]:
    return {pair.property, *(condition.attribute for condition in pair.conditions)}


if __name__ == "__main__":
    main()
