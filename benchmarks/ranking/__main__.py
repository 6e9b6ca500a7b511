"""The command line: python -m benchmarks.ranking."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import machine
from benchmarks.ranking import rankers
from benchmarks.ranking.cases import HALVES, Recipe, Settings, load_ranker
from benchmarks.ranking.metrics import Outcome
from benchmarks.ranking.report import section
from benchmarks.ranking.run import SUITES, Task, run


def main() -> None:
    """Run the benchmark."""
    parser = _parser()
    given = parser.parse_args()
    settings = Settings(
        data=given.data,
        halves=HALVES if given.half == "both" else (given.half,),
        seeds=given.seeds,
        rows=given.rows,
        large=not given.no_large,
    )
    chosen = (*given.ranker, *(rankers.peers() if given.peers else ()))
    try:
        for name in chosen:
            load_ranker(name)
    except ValueError as error:
        parser.error(str(error))
    parts = [machine.header("Ranking")]
    for suite in given.only:
        tasks = [
            Task(one, settings, chosen, given.read) for one in _recipes(suite, settings, given)
        ]
        parts.append(section(suite, _outcomes(tasks, given.jobs), given.brief))
        print(parts[-1], flush=True)
    if given.output:
        given.output.write_text("\n".join(parts), encoding="utf-8")


def _recipes(suite: str, settings: Settings, given: argparse.Namespace) -> list[Recipe]:
    found = SUITES[suite].recipes(settings)
    if given.kinds:
        found = [one for one in found if any(word in one.kind for word in given.kinds)]
    if not found:
        print(f"{suite}: no tables for these options; --data is {settings.data}", flush=True)
    return found


def _outcomes(tasks: list[Task], jobs: int) -> list[Outcome]:
    """Run tasks; what is to be read, and what failed, is printed at once."""
    outcomes: list[Outcome] = []
    for done in run(tasks, jobs):
        outcomes += done.outcomes
        for line in (*done.lines, *(f"FAILED: {failure}" for failure in done.failures)):
            print(line, flush=True)
    return outcomes


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.ranking", description=__doc__)
    add = parser.add_argument
    add("--only", nargs="+", choices=SUITES, default=list(SUITES), metavar="SUITE")
    add("--kinds", nargs="+", help="only kinds whose name contains one of these words")
    add("--half", choices=(*HALVES, "both"), default="both")
    add("--ranker", nargs="+", default=[rankers.OURS], metavar="MODULE:FUNCTION")
    add("--peers", action="store_true", help="other tools beside it, as far as installed")
    add("--seeds", type=int, help="tables of each kind and half (default: by suite)")
    add("--rows", type=int, help="at most so many rows of a real table (gross, adbench); 0: all")
    add("--no-large", action="store_true", help="leave out tables of more than 20,000 rows")
    add("--read", type=int, default=0, metavar="N", help="tell N unplanted rows above planted ones")
    add("--brief", action="store_true", help="means of all kinds only")
    add("--jobs", type=int, default=1, help="processes")
    add("--data", type=Path, default=Path("../shared/data"))
    add("-o", "--output", type=Path)
    return parser


if __name__ == "__main__":
    main()
