"""What a default is worth: the same tables under other choices, one changed at a time.

python -m benchmarks.choices --hics DIR -o benchmarks/results/choices.md
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import importlib
import math
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import outlying
from benchmarks.machine import header
from benchmarks.quality import hics, stories
from benchmarks.quality.cases import Case, Target, best_f1
from benchmarks.quality.ours import guess
from outlying.kernel.library import VARIABLE
from outlying.method.density import Floats
from outlying.search import scoring as search
from outlying.search import screening
from outlying.search.contexts import lengths

MOST_TARGETS = {"hics 030": 8, "hics 050": 5}
KINDS = (
    *stories.KINDS_CORE,
    *("three_conditions", "date", "missing", "rare_context", "rare_category", "heavy_tails"),
    *("rounded", "gaps", "correlated", "masking", "columns_5", "rows_200"),
)


@dataclasses.dataclass(frozen=True)
class Choice:
    """Options to pass, and constants (module.NAME) to change."""

    name: str
    options: tuple[tuple[str, Any], ...] = ()
    constants: tuple[tuple[str, Any], ...] = ()
    handicap: float | None = None  # see `_handicapped`


def _price(price: float) -> Choice:
    return _constant(
        f"a condition costs {price:g} (0.3)", "method.measure.CONDITION_PENALTY", price
    )


def _constant(told: str, place: str, value: Any) -> Choice:
    return Choice(told, constants=((place, value),))


def _option(told: str, **options: Any) -> Choice:
    return Choice(told, options=tuple(options.items()))


CHOICES = (
    Choice("defaults"),
    _price(0.0),
    _price(0.5),
    _price(0.7),
    _constant("5 leaders (15)", "search.limits.BEAM", 5),
    _constant("40 leaders (15)", "search.limits.BEAM", 40),
    _constant("triples never all screened", "search.limits.MOST_TRIPLES", 0),
    _constant("triples all screened up to 20,000 (2,000)", "search.limits.MOST_TRIPLES", 20_000),
    _option("at most 2 conditions (4)", max_conditions=2),
    _option("at most 3 conditions (4)", max_conditions=3),
    _option("at most 5 conditions (4)", max_conditions=5),
    _option("support 5% (10%)", min_support=0.05),
    _option("support 20% (10%)", min_support=0.2),
    _option("one scale (up to 3)", scales="one"),
    _constant("up to 2 scales (3)", "method.intervals.MOST_SCALES", 2),
    _constant("up to 6 scales (3)", "method.intervals.MOST_SCALES", 6),
    _constant("neighbourhood of 10% (20%)", "method.intervals.WINDOW_SHARE", 0.1),
    _constant("neighbourhood of 30% (20%)", "method.intervals.WINDOW_SHARE", 0.3),
    _constant("components of h/4 at least (h/2)", "method.intervals.NARROWEST", 0.25),
    _constant("components of h at least (h/2)", "method.intervals.NARROWEST", 1.0),
    Choice("categories as capped as numbers", handicap=0.0),
    Choice("categories 0.5 below numbers", handicap=0.5),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure other choices than the defaults.")
    parser.add_argument("--hics", type=Path, required=True, help="the folder with hics_*.csv")
    parser.add_argument("--seeds", type=int, default=1, help="planted tables per kind")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, help="write the report there, too")
    args = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(args.jobs, context) as pool:
        done = [pool.submit(measured, choice, args.hics, args.seeds) for choice in CHOICES]
        rows = [future.result() for future in done]
    text = "\n".join([header("Other choices than the defaults"), *_intro(args.seeds), *rows])
    print(text)
    if args.output:
        args.output.write_text(text + "\n", encoding="utf-8")


def _intro(seeds: int) -> list[str]:
    told = ", ".join(f"{count} rows of each {kind} table" for kind, count in MOST_TARGETS.items())
    return [
        f"Mean F1 on HiCS tables ({told}), and how often the first pair names exactly the planted "
        f"columns ({seeds} per kind, {len(KINDS)} kinds) or the planted property. The "
        "default stands in parentheses.\n",
        "| choice | HiCS 010 | 030 | 050 | planted columns first | planted property first "
        "| kinds below 90% | s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]


def measured(choice: Choice, folder: Path, seeds: int) -> str:
    """Explain all rows under a choice; give a line of the table."""
    start = time.perf_counter()
    with _changed(choice):
        options = dict(choice.options)
        subspaces = _by_kind(hics.cases(folder), options)
        planted = [stories.make(kind, 100 + seed) for kind in KINDS for seed in range(seeds)]
        found = _by_kind(planted, options)
    everything = [result for results in found.values() for result in results]
    weak = [
        f"{kind} {_mean([columns for _, columns, _ in results]):.0%}"
        for kind, results in found.items()
        if _mean([columns for _, columns, _ in results]) < 0.9
    ]
    f1 = [f"{_mean([value for value, _, _ in results]):.2f}" for results in subspaces.values()]
    shares = [f"{_mean([result[place] for result in everything]):.1%}" for place in (1, 2)]
    seconds = f"{time.perf_counter() - start:.0f}"
    return f"| {' | '.join([choice.name, *f1, *shares, ', '.join(weak), seconds])} |"


def _by_kind(
    cases: list[Case], options: dict[str, Any]
) -> dict[str, list[tuple[float, float, float]]]:
    """Give F1, right columns and right property of every row, by kind of table."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for case in cases:
        explainer = outlying.Explainer(case.data, references=0, **options)
        for target in case.targets[: MOST_TARGETS.get(case.kind)]:
            found.setdefault(case.kind, []).append(_result(explainer, target))
    return found


def _result(explainer: outlying.Explainer, target: Target) -> tuple[float, float, float]:
    first = [guess(pair) for pair in explainer.explain(row=target.row).pairs[:1]]
    f1 = best_f1(first, target.truths)
    named = bool(first) and first[0].property == target.truths[0].property
    return f1, float(f1 == 1), float(f1 == 1 and named)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


@contextlib.contextmanager
def _changed(choice: Choice) -> Iterator[None]:
    """Set constants for a while."""
    with contextlib.ExitStack() as stack:
        for place, value in choice.constants:
            name, constant = place.rsplit(".", 1)
            stack.enter_context(_set(importlib.import_module(f"outlying.{name}"), constant, value))
        if choice.handicap is not None:  # of the screen by NumPy, which can be changed
            stack.enter_context(_set(os, "environ", os.environ | {VARIABLE: "numpy"}))
            hit, scored = _handicapped(choice.handicap)
            stack.enter_context(_set(search.Evaluation, "hit", hit))
            stack.enter_context(_set(screening.PropertyScreening, "scored", scored))
        yield


@contextlib.contextmanager
def _set(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    yield
    setattr(owner, name, before)


def _handicapped(more: float) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Lower the strength of categorical properties in a context.

    A category alone in a group of n rows is up to n times rarer than the others, a number about
    0.3 n**0.8 times; the difference of the logarithms is taken away, and something more.
    """
    hit, scored = search.Evaluation.hit, screening.PropertyScreening.scored

    def cost(own: Any, rows: Any, conditions: Any) -> Floats:
        is_category = own.attribute.kind != "numbers"
        lowered = 0.2 * np.log(rows) - math.log(0.3) + more
        return np.asarray(np.where(np.asarray(conditions) > 0, lowered, 0.0) * is_category)

    def lower_hit(self: Any, place: int, context: Any, group: int, summary: Any) -> Any:
        found = hit(self, place, context, group, summary)
        if found is None:
            return None
        power = found.strength - float(cost(self.properties[place], group, len(context)))
        return dataclasses.replace(found, strength=power, score=round(power, 9))

    def lower_scored(self: Any, contexts: Any) -> Any:
        found = scored(self, contexts)
        sample = self.asked.sample
        rows = np.maximum(found.rows, 1) * (sample.rows / len(sample.screened))
        costs = cost(self.exact.properties[self.place], rows, lengths(contexts))
        scores = np.round(found.scores - costs, 9)
        return dataclasses.replace(found, scores=scores, keys=scores)

    return lower_hit, lower_scored


if __name__ == "__main__":
    main()
