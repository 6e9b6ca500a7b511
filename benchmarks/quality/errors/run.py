"""Run all methods over the cases, in processes that can be interrupted."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterable, Sequence

from benchmarks.quality.cases import Answer, Guess, Method, Target
from benchmarks.quality.errors.copies import ErrorCase
from benchmarks.quality.errors.plan import Recipe, Settings, methods, plan
from benchmarks.quality.metrics import words
from benchmarks.quality.ours import Ours
from benchmarks.quality.run import in_processes


@dataclasses.dataclass(frozen=True)
class Row:
    """What a method says of a row.

    - `named`: whether the first answer names a wrong column, in whichever role.
    - `odd`: whether it calls a wrong column the odd one.
    - `told`: whether it names all columns of the story and none else, and calls the right one odd.
    - `claims`: whether the row is called exceptional.
    - `stands_out`: whether it is called exceptional or unusual, where there is such a step.

    All but the last two are None for a clean row.
    """

    part: str
    half: str
    source: str
    case: str
    kind: str
    method: str
    row: int
    named: bool | None
    odd: bool | None
    told: bool | None
    claims: bool
    stands_out: bool | None
    wrong: tuple[str, ...]
    answer: str
    seconds: float
    error: str | None = None

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong with the row."""
        return not self.wrong


@dataclasses.dataclass(frozen=True)
class Task:
    """All methods over one case; ours is the first."""

    recipe: Recipe
    methods: tuple[str, ...]


def run_all(settings: Settings, jobs: int) -> list[Row]:
    """Run all cases; the rows stand in the order of the plan."""
    tasks = [Task(recipe, settings.methods) for recipe in plan(settings)]
    order = sorted(range(len(tasks)), key=lambda place: -tasks[place].recipe.weight)
    found: dict[int, list[Row]] = {}
    for place, rows in in_processes(run_task, tasks, order, jobs):
        found[place] = rows
        _tell(len(found), len(tasks), rows)
    return [row for place in range(len(tasks)) for row in found[place]]


def _tell(done: int, of: int, rows: Sequence[Row]) -> None:
    if rows:
        seconds = sum(row.seconds for row in rows)
        print(f"{done}/{of} {rows[0].case}: {seconds:.1f} s", file=sys.stderr, flush=True)


def run_task(task: Task) -> list[Row]:
    """Run the methods over the rows of a case."""
    case = task.recipe.case()
    if case is None:
        return []
    rows: list[Row] = []
    allowed: list[int] = []  # how many columns ours names, row by row
    for name in task.methods:
        answers, seconds, error = _answers(methods()[name](), case)
        if name == Ours.name:
            allowed = [
                len(answer.guesses[0].columns) if answer.guesses else 1 for answer in answers
            ]
        rows += [
            _row(case, target, name, answer, most, seconds, error)
            for target, answer, most in zip(case.targets, answers, allowed, strict=True)
        ]
    return rows


def _answers(method: Method, case: ErrorCase) -> tuple[list[Answer], float, str | None]:
    """Return the answers and the CPU seconds for each; a method that fails says why."""
    start = time.process_time()
    error = None
    try:
        method.fit(case)
        answers = [method.explain(target) for target in case.targets]
    except Exception as failure:  # one method must not end the run of all; it is reported
        error = f"{type(failure).__name__}: {[*str(failure).splitlines(), ''][0][:200]}"
        answers = [Answer((), claims=False) for _ in case.targets]
    return answers, (time.process_time() - start) / max(1, len(case.targets)), error


def _row(
    case: ErrorCase,
    target: Target,
    method: str,
    answer: Answer,
    most: int,
    seconds: float,
    error: str | None,
) -> Row:
    first = first_guess(answer, most)
    named, odd, told = _judged(target, first)
    return Row(
        part=case.suite,
        half=case.half,
        source=case.source,
        case=case.name,
        kind=target.kind or case.kind,
        method=method,
        row=target.row,
        named=named,
        odd=odd,
        told=told,
        claims=answer.claims,
        stands_out=answer.stands_out,
        wrong=tuple(sorted({truth.property or "" for truth in target.truths})),
        answer=words(first) if first else "nothing",
        seconds=seconds,
        error=error,
    )


def first_guess(answer: Answer, most: int) -> Guess | None:
    """Return the first answer; a method that only ranks columns names as many as it may."""
    if answer.ranking:
        return Guess(frozenset(answer.ranking[:most]), answer.ranking[0])
    return answer.guesses[0] if answer.guesses else None


def _judged(target: Target, first: Guess | None) -> tuple[bool | None, bool | None, bool | None]:
    if not target.truths:
        return None, None, None
    if first is None:
        return False, False, False
    named = any(truth.property in first.columns for truth in target.truths)
    odd = any(truth.property == first.property for truth in target.truths)
    told = any(
        truth.property == first.property and truth.columns == first.columns
        for truth in target.truths
    )
    return named, odd, told


def failures(rows: Iterable[Row]) -> list[str]:
    """Name the cases on which a method failed."""
    return list(dict.fromkeys(f"{r.method} on {r.case}: {r.error}" for r in rows if r.error))
