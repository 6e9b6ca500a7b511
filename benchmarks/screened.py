"""How often the screened answer equals the exact one.

    python -m benchmarks.screened --seeds 3 -o benchmarks/results/screened.md

Long tables are screened by samples before anything is computed from all rows. Here the same row is
explained twice, as usual and with `exact=True`, which screens by all rows:

- planted stories of all kinds, in tables of 20,000 and 100,000 rows (`--rows`);
- scikit-learn's tables with one wrong cell as in `benchmarks.quality.real`, blown up to 60,000 rows
  that are drawn from the table and moved a little.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import outlying
from benchmarks import planted
from benchmarks.machine import header
from benchmarks.quality import real, stories
from benchmarks.quality.cases import Array

Shape: TypeAlias = tuple[str, frozenset[str]]  # a property, and the columns of its conditions

ROWS = (20_000, 100_000)
KINDS = (*stories.KINDS_CORE, *stories._RECIPES)
REAL = ("iris", "wine", "breast_cancer", "diabetes")
REAL_ROWS = 60_000
MOVED = 0.02  # standard deviations of a column
FIRST = 5
COUNTS = ("screened", "verified", "dropped")
HEAD = ("", "rows", "objects", "same first pair", "same columns", f"same first {FIRST}")
TIMES = ("s", "s, exact")


@dataclasses.dataclass(frozen=True)
class Compared:
    """The two answers for one row, compared; counts are those of the screened one."""

    group: str
    rows: int
    name: str
    same_first: bool
    same_columns: bool
    same_five: bool
    seconds: float
    exact_seconds: float
    first: str
    exact_first: str
    counts: dict[str, int]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Compare screened answers with exact ones.")
    parser.add_argument("--seeds", type=int, default=3, help="tables per kind and size")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="of planted tables")
    parser.add_argument("--real-rows", type=int, default=REAL_ROWS, help="of real tables")
    parser.add_argument("--kinds", nargs="+", default=(*KINDS, *REAL), choices=(*KINDS, *REAL))
    parser.add_argument("-o", "--output", type=Path, help="write the report there, too")
    args = parser.parse_args(arguments)
    found = [_told(one) for one in _all(args.kinds, args.seeds, args.rows, args.real_rows)]
    text = page(found)
    print(text)
    if args.output:
        args.output.write_text(text, encoding="utf-8")


def _all(
    kinds: Iterable[str], seeds: int, sizes: Sequence[int], real_rows: int
) -> Iterator[Compared]:
    for kind in kinds:
        for rows in (real_rows,) if kind in REAL else sizes:
            for seed in range(seeds):
                data, row = (blown_up if kind in REAL else enlarged)(kind, seed, rows)
                yield compared(kind, f"{kind}-{seed}", data, row)


# Tables.


def enlarged(kind: str, seed: int, rows: int) -> tuple[dict[str, Array], int]:
    """Return a planted table of this many rows, and the first of its outlying rows."""
    if kind in planted.KINDS:
        made = planted.plant(kind, seed, rows=rows)
        return made.data, made.row
    with _story_rows(rows):
        case = stories.make(kind, seed)
    return case.data, case.targets[0].row


@contextlib.contextmanager
def _story_rows(rows: int) -> Iterator[None]:
    """Let the added stories, all of one size elsewhere, have more rows."""
    before, stories.ROWS = stories.ROWS, rows
    try:
        yield
    finally:
        stories.ROWS = before


def blown_up(name: str, seed: int, rows: int) -> tuple[dict[str, Array], int]:
    """Draw rows from a real table and move them a little; one row has a wrong cell.

    The cell is chosen in the table as it is, where values are known to be usual or not.
    """
    rng = np.random.default_rng([seed, rows, zlib.crc32(name.encode())])
    table = real.TABLES[name]()
    swap = real._swap(rng, table, real._partners(table))
    drawn = rng.integers(len(table[swap.column]), size=rows)
    place = int(rng.integers(rows))
    drawn[place] = swap.row
    data = {column: _moved(rng, values, drawn) for column, values in table.items()}
    data[swap.column][place] = table[swap.column][swap.donor]
    return data, place


def _moved(rng: np.random.Generator, values: Array, drawn: Array) -> Array:
    """Add noise to numbers, and keep whole ones of few values as they are, like labels."""
    if values.dtype == object or len(np.unique(values)) <= 10:
        return np.asarray(values[drawn])
    return np.asarray(values[drawn] + rng.normal(0, MOVED * np.nanstd(values), size=len(drawn)))


# Answers.


def compared(group: str, name: str, data: dict[str, Array], row: int) -> Compared:
    """Explain a row both ways."""
    usual, seconds = _timed(lambda: explained(data, row))
    exact, exact_seconds = _timed(lambda: explained(data, row, exact=True))
    ours, theirs = _shapes(usual), _shapes(exact)
    return Compared(
        group=group,
        rows=len(next(iter(data.values()))),
        name=name,
        same_first=ours[:1] == theirs[:1],
        same_columns=[_columns(one) for one in ours[:1]] == [_columns(one) for one in theirs[:1]],
        same_five=set(ours[:FIRST]) == set(theirs[:FIRST]),
        seconds=seconds,
        exact_seconds=exact_seconds,
        first=_written(ours),
        exact_first=_written(theirs),
        counts=_counts(usual),
    )


def explained(data: dict[str, Array], row: int, **options: Any) -> outlying.Findings:
    """Explain a row without reference rows."""
    return outlying.explain(data, row=row, references=0, **options)


def _timed(call: Callable[[], outlying.Findings]) -> tuple[outlying.Findings, float]:
    begin = time.perf_counter()
    found = call()
    return found, time.perf_counter() - begin


def _shapes(found: outlying.Findings) -> list[Shape]:
    return [
        (pair.property, frozenset(condition.attribute for condition in pair.conditions))
        for pair in found.pairs
    ]


def _columns(shape: Shape) -> frozenset[str]:
    return shape[1] | {shape[0]}


def _written(shapes: Sequence[Shape]) -> str:
    if not shapes:
        return "nothing"
    odd, context = shapes[0]
    return f"{odd} by {', '.join(sorted(context))}" if context else odd


def _counts(found: outlying.Findings) -> dict[str, int]:
    """Return how many contexts were screened and so on, where the findings tell."""
    return {} if found.effort is None else {name: getattr(found.effort, name) for name in COUNTS}


def _told(one: Compared) -> Compared:
    said = "same" if one.same_first else f"{one.first} / {one.exact_first}"
    line = f"{one.name}, {one.rows:,} rows: {said}; {one.seconds:.1f} s, {one.exact_seconds:.1f} s"
    print(line, file=sys.stderr, flush=True)
    return one


# The report.


def page(found: Sequence[Compared]) -> str:
    """Write the report."""
    groups: dict[tuple[str, int], list[Compared]] = {}
    for one in found:
        groups.setdefault((one.group, one.rows), []).append(one)
    counts = [name for name in COUNTS if any(name in one.counts for one in found)]
    rows = [_line(group, f"{rows:,}", of, counts) for (group, rows), of in groups.items()]
    rows.append(_line("*all*", "", found, counts))
    head = [*HEAD, *TIMES, *(f"{name}, mean" for name in counts)]
    lines = [head, ["---"] * len(head), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    text = (
        "The same row explained as usual and with `exact=True`. A pair is the same if its property "
        "and the columns of its conditions are; *same columns* does not ask which of them is the "
        "property; *same first "
        f"{FIRST}* does not ask for their order.\n"
    )
    return "\n".join([header("Screened and exact answers"), text, table, "", *_different(found)])


def _line(group: str, rows: str, of: Sequence[Compared], counts: Sequence[str]) -> list[str]:
    shares = [
        np.mean([getattr(one, name) for one in of])
        for name in ("same_first", "same_columns", "same_five")
    ]
    times = [np.mean([getattr(one, name) for one in of]) for name in ("seconds", "exact_seconds")]
    means = [np.mean([one.counts.get(name, 0) for one in of]) for name in counts]
    return [
        group,
        rows,
        str(len(of)),
        *(f"{share:.0%}" for share in shares),
        *(f"{taken:.2f}" for taken in times),
        *(f"{mean:,.0f}" for mean in means),
    ]


def _different(found: Sequence[Compared]) -> list[str]:
    """List the rows whose first pair is another one."""
    others = [one for one in found if not one.same_first]
    if not others:
        return []
    lines = [
        f"- {one.name}, {one.rows:,} rows: {one.first}; exact: {one.exact_first}." for one in others
    ]
    return ["Another first pair:\n", *lines, ""]


if __name__ == "__main__":
    main()
