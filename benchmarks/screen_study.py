"""How far the estimates of the screen are off, and what that would decide.

    python -m benchmarks.screen_study --hics DIR -o benchmarks/results/screen.md

Contexts are screened as for an answer, and all is left to the estimates; then some of the contexts
are computed exactly from all rows.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import outlying
from benchmarks import planted
from benchmarks.machine import header
from benchmarks.quality import hics
from benchmarks.quality.cases import Case
from outlying.method.measure import least_rarity
from outlying.search import limits
from outlying.search.contexts import as_tuple
from outlying.search.prepared import Prepared
from outlying.search.scoring import Evaluation
from outlying.search.screening import Asked, PropertyScreening
from outlying.search.threads import one_blas_thread

Floats: TypeAlias = npt.NDArray[np.float64]
Table: TypeAlias = tuple[dict[str, Any], list[int]]  # columns, and the rows to look at

SIZES = (1_000, 2_000, 5_000, 20_000, 100_000)
HICS = ("hics 010", "hics 030")
ORDINARY = 2  # rows beside the planted one
ODD = 4  # rows of a HiCS table
RANDOM = 6  # contexts of each property and number of conditions
CLOSE = 6  # more of them, where the estimate is not far from the threshold
MATTERS = (3.0, 30.0)
NOT_FAR = (2.0, 45.0)
QUANTILES = (0.01, 0.05, 0.5, 0.95, 0.99)


@dataclasses.dataclass(frozen=True)
class Errors:
    """Estimated and exact rarity in contexts; which contexts were drawn blindly."""

    estimated: Floats
    exact: Floats
    is_random: npt.NDArray[np.bool_]
    needed: float  # the rarity that the threshold asks for
    is_whole: bool  # whether all rows are screened

    @property
    def logs(self) -> Floats:
        """The errors of ln(rarity)."""
        return np.asarray(np.log(self.estimated / self.exact))

    @property
    def matters(self) -> npt.NDArray[np.bool_]:
        """Where the object is neither ordinary nor far beyond any doubt."""
        return (self.exact > MATTERS[0]) & (self.exact < MATTERS[1])

    def wrong(self) -> npt.NDArray[np.bool_]:
        """Where the estimate alone would decide otherwise."""
        return np.asarray((self.estimated >= self.needed) != (self.exact >= self.needed))

    def is_looked_at(self) -> npt.NDArray[np.bool_]:
        """Where the estimate is so close to the threshold that a look at all rows decides."""
        ratio = self.estimated / self.needed
        return (ratio >= 1 / limits.MARGIN) & (ratio < limits.MARGIN)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the screen with exact densities.")
    parser.add_argument("--hics", type=Path, help="the folder with hics_*.csv")
    parser.add_argument("--seeds", type=int, default=4, help="planted tables per kind and size")
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES, help="of planted tables")
    parser.add_argument("-o", "--output", type=Path, help="write the report there, too")
    args = parser.parse_args()
    begin = time.perf_counter()
    found = {name: joined(map(errors, of)) for name, of in _tables(args)}
    text = page(found, time.perf_counter() - begin)
    print(text)
    if args.output:
        args.output.write_text(text + "\n", encoding="utf-8")


def _tables(args: argparse.Namespace) -> Iterator[tuple[str, Iterator[Table]]]:
    for rows in args.rows:
        yield f"planted, {rows:,} rows", _planted(rows, args.seeds)
    if args.hics is not None:
        cases = [case for case in hics.cases(args.hics) if case.kind in HICS]
        for kind in HICS:
            yield kind, _odd_rows([case for case in cases if case.kind == kind][:2])


def _planted(rows: int, seeds: int) -> Iterator[Table]:
    for kind, seed in itertools.product(planted.KINDS, range(seeds)):
        made = planted.plant(kind, seed, rows=rows, noise=8)
        others = np.random.default_rng(seed).choice(rows, ORDINARY, replace=False)
        yield made.data, [made.row, *others.tolist()]


def _odd_rows(cases: Iterable[Case]) -> Iterator[Table]:
    for case in cases:
        yield case.data, [target.row for target in case.targets[:ODD]]


# Errors.


def errors(table: Table) -> Errors:
    """Screen contexts of some rows, and compute some of these contexts exactly."""
    data, rows = table
    ready = outlying.Explainer(data, references=0).in_memory("the study").prepared
    rng = np.random.default_rng(0)
    found = [pair for row in rows for pair in _of_row(ready, row, rng)]
    estimated, exact, is_random = np.array(found).reshape(-1, 3).T
    needed = least_rarity(ready.options.min_outlierness, ready.options.measure)
    is_whole = ready.sample.is_whole
    return Errors(estimated, exact, is_random.astype(bool), needed, is_whole)


def _of_row(ready: Any, row: int, rng: np.random.Generator) -> Iterator[tuple[float, float, bool]]:
    """Give estimated and exact rarity in some contexts, and whether they were drawn blindly."""
    with one_blas_thread, np.errstate(divide="ignore", invalid="ignore"):
        exact = evaluation(ready, row)
        asked = Asked(exact, ready.cache)
        for number in range(len(exact.properties)):
            screen = PropertyScreening(asked, number)
            if screen.is_exact:  # nothing is estimated
                continue
            scored = screen.short_contexts()
            for place, is_random in _chosen(scored.rarity, rng):
                hit = exact.look(number, as_tuple(scored.contexts[place]))
                if hit is not None:
                    yield float(scored.rarity[place]), hit.summary.rarity, is_random


def evaluation(ready: Prepared, row: int) -> Evaluation:
    """Prepare the properties and conditions of a row, as for an answer."""
    return ready.exact(row)


def _chosen(rarity: Floats, rng: np.random.Generator) -> Iterator[tuple[int, bool]]:
    """Draw contexts blindly, and more of those not far from the threshold."""
    known = np.isfinite(rarity)
    close = known & (rarity > NOT_FAR[0]) & (rarity < NOT_FAR[1])
    for kept, most, is_random in ((known, RANDOM, True), (close, CLOSE, False)):
        places = np.flatnonzero(kept)
        for place in rng.choice(places, min(len(places), most), replace=False):
            close[place] = False  # each once
            yield int(place), is_random


def joined(parts: Iterable[Errors]) -> Errors:
    """Put the errors of several tables together."""
    some = list(parts)
    return Errors(
        np.concatenate([part.estimated for part in some]),
        np.concatenate([part.exact for part in some]),
        np.concatenate([part.is_random for part in some]),
        some[0].needed,
        some[0].is_whole,
    )


# The report.


def page(found: dict[str, Errors], seconds: float) -> str:
    """Write the report."""
    needed = next(iter(found.values())).needed
    low, high = MATTERS
    lines = [
        header("The screen"),
        "Error of ln(rarity), estimated against exact, where anything is estimated. *Random "
        "contexts* were drawn blindly. The second table holds contexts in which the object is "
        f"truly {low:g} to {high:g} times rarer than a typical member; more of them were drawn. "
        f"Tables of more than {limits.SCREENED:,} rows are screened by so many, and neighbours "
        f"counted among {limits.NEARBY:,} ({seconds:.0f} s in all).\n",
        "## Random contexts\n",
        *_quantiles({name: of.logs[of.is_random] for name, of in found.items()}),
        f"\n## Where the exact rarity lies between {low:g} and {high:g}\n",
        *_quantiles({name: of.logs[of.matters] for name, of in found.items()}),
        "\n## Decisions\n",
        f"The threshold asks for a rarity of {needed:.3g}. Without a look at all rows the estimate "
        "would decide wrongly so often, among the contexts of the second table. Where all rows are "
        f"screened, estimates within a factor of {limits.MARGIN:g} of the threshold are looked at: "
        "*still wrong* are those further off. Larger tables leave it to the estimates; what is "
        "given is verified there, what is missed is not seen.\n",
        *_decisions(found),
    ]
    return "\n".join(lines)


def _quantiles(found: dict[str, Floats]) -> list[str]:
    head = ["table", "contexts", "sd", *(f"{share:.0%}" for share in QUANTILES), "largest"]
    rows = []
    for name, logs in found.items():
        cells = ["" for _ in head[2:]]
        if len(logs):
            figures = [logs.std(), *np.quantile(logs, QUANTILES), np.abs(logs).max()]
            cells = [f"{figure:.3f}" for figure in figures]
        rows.append([name, str(len(logs)), *cells])
    return _table(head, rows)


def _decisions(found: dict[str, Errors]) -> list[str]:
    head = ["table", "contexts", "wrong", "taken for rarer", "for less rare", "still wrong"]
    rows = []
    for name, of in found.items():
        wrong = of.wrong() & of.matters
        rarer = wrong & (of.estimated >= of.needed)
        kinds = [of.matters, wrong, rarer, wrong & ~rarer, wrong & ~of.is_looked_at()]
        counts = [str(np.count_nonzero(kept)) for kept in kinds]
        rows.append([name, *counts[:-1], counts[-1] if of.is_whole else ""])
    return _table(head, rows)


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *rows]]


if __name__ == "__main__":
    main()
