"""Runs rankers over the tables of suites, in this process or in several."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, cast

from benchmarks.ranking import (
    adbench,
    clean,
    everyday,
    gross,
    groups,
    hics,
    masking,
    small,
    stories,
    users,
)
from benchmarks.ranking.cases import Case, Ranked, Recipe, Settings, Suite, load_ranker
from benchmarks.ranking.metrics import Outcome, order, outcome

SUITES: dict[str, Suite] = cast(
    "dict[str, Suite]",
    {
        "groups": groups,
        "users": users,
        "everyday": everyday,
        "gross": gross,
        "masking": masking,
        "clean": clean,
        "hics": hics,
        "adbench": adbench,
        "small": small,
        "planted": stories,
    },
)


@dataclasses.dataclass(frozen=True)
class Task:
    """A table, and the rankers that are to rank it."""

    recipe: Recipe
    settings: Settings
    rankers: tuple[str, ...]
    read: int  # so many rows above the planted ones are told for reading


@dataclasses.dataclass(frozen=True)
class Done:
    """What came of a table: outcomes, lines for reading, and failures."""

    recipe: Recipe
    outcomes: tuple[Outcome, ...]
    lines: tuple[str, ...]
    failures: tuple[str, ...]


def run(tasks: Sequence[Task], jobs: int) -> Iterator[Done]:
    """Run tasks in their order."""
    if jobs <= 1:
        yield from map(run_task, tasks)
        return
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(run_task, tasks)


def run_task(task: Task) -> Done:
    """Make a table, and have it ranked by every ranker; what fails is told, not raised."""
    case = SUITES[task.recipe.suite].make(task.recipe, task.settings)
    outcomes, lines, failures = [], [], []
    for name in task.rankers:
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ranked = load_ranker(name)(case.data)
            spent = time.perf_counter() - start
            outcomes.append(outcome(task.recipe, name, case, ranked, spent))
        except Exception as error:
            failures.append(f"{name} on {task.recipe.kind}: {type(error).__name__}: {error}")
            traceback.print_exc()
            continue
        if task.read:
            lines += reading(case, ranked, task.read, f"{task.recipe.kind} ({name})")
    return Done(task.recipe, tuple(outcomes), tuple(lines), tuple(failures))


def reading(case: Case, ranked: Ranked, most: int, title: str) -> list[str]:
    """Tell the first unplanted rows above the last planted one, and those among them."""
    frame, rows = case.frame(), order(ranked.scores).tolist()
    last = max((rank for rank, row in enumerate(rows) if row in case.wrong), default=len(rows))
    lines, told = [f"\n{title}"], 0
    for rank, row in enumerate(rows[: last + 1]):
        told += row not in case.wrong
        if told > most:
            break
        lines.append(_line(rank + 1, row, case, ranked, frame))
    return lines


def _line(rank: int, row: int, case: Case, ranked: Ranked, frame: Any) -> str:
    odd = None if ranked.columns is None else ranked.columns[row]
    wrong = case.wrong.get(row)
    mark = f"PLANTED {wrong.kind} in {wrong.column}" if wrong else "unplanted"
    called = "!" if ranked.exceptional is not None and ranked.exceptional[row] else " "
    values = ", ".join(f"{name}={value}" for name, value in frame.iloc[row].items())
    return f"{rank:4d}{called} {ranked.scores[row]:8.3f} row {row + 1} {mark}; odd {odd}: {values}"
