"""How good a ranking is."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from benchmarks.ranking.cases import Case, Floats, Mask, Ranked, Recipe, Rows


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one ranker made of one table. None: it does not say, or there is nothing to find.

    `ranks` are those of the wrong rows, from 1, each with its kind of error; `called` tells which
    of them were called exceptional; `named`, the share of them whose odd column was the wrong one.
    `ap_gross` and `ap_by_kind` leave the other wrong rows out.
    """

    recipe: Recipe
    ranker: str
    rows: int
    seconds: float
    ap: float | None
    ap_gross: float | None
    ap_by_kind: dict[str, float]
    auc: float | None
    ap_combination: float | None
    auc_combination: float | None
    exceptional: int | None
    unusual: int | None
    ranks: tuple[tuple[str, int], ...]
    called: tuple[bool, ...] | None
    named: float | None

    @property
    def planted(self) -> int:
        """The number of wrong rows."""
        return len(self.ranks)

    @property
    def kind_ranks(self) -> dict[str, int]:
        """The best rank of each kind of error, best first."""
        best: dict[str, int] = {}
        for kind, rank in sorted(self.ranks, key=lambda item: item[1]):
            best.setdefault(kind, rank)
        return best


def outcome(recipe: Recipe, ranker: str, case: Case, ranked: Ranked, seconds: float) -> Outcome:
    """Measure a ranking against what is known of its table."""
    _check(case, ranked)
    wrong, rows = case.is_wrong, sorted(case.wrong)
    ranks = positions(ranked.scores)
    second = ranked.combination
    called = ranked.exceptional
    return Outcome(
        recipe=recipe,
        ranker=ranker,
        rows=case.rows,
        seconds=seconds,
        ap=average_precision(ranked.scores, wrong),
        ap_gross=_ap_among(case, ranked.scores, [r for r in rows if case.wrong[r].is_gross]),
        ap_by_kind=_ap_by_kind(case, ranked.scores),
        auc=auc(ranked.scores, wrong),
        ap_combination=None if second is None else average_precision(second, wrong),
        auc_combination=None if second is None else auc(second, wrong),
        exceptional=None if called is None else int(called.sum()),
        unusual=None if ranked.unusual is None else int(ranked.unusual.sum()),
        ranks=tuple((case.wrong[row].kind, int(ranks[row])) for row in rows),
        called=None if called is None else tuple(bool(called[row]) for row in rows),
        named=_named(case, ranked),
    )


def average_precision(scores: Floats, wrong: Mask) -> float | None:
    """Return the mean, over the wrong rows, of the precision down to each; ties come together."""
    if not wrong.any():
        return None
    found, all_rows = _at_thresholds(scores, wrong)
    gained = np.diff(found, prepend=0)
    return float((gained * found / all_rows).sum() / found[-1])


def _ap_among(case: Case, scores: Floats, rows: Sequence[int]) -> float | None:
    """Return the average precision of some wrong rows, without the other wrong ones."""
    kept = ~case.is_wrong
    kept[list(rows)] = True
    return average_precision(scores[kept], case.is_wrong[kept])


def _ap_by_kind(case: Case, scores: Floats) -> dict[str, float]:
    found = {}
    for kind in sorted({wrong.kind for wrong in case.wrong.values()}):
        rows = [row for row, wrong in case.wrong.items() if wrong.kind == kind]
        found[kind] = _ap_among(case, scores, rows) or 0.0
    return found


def auc(scores: Floats, wrong: Mask) -> float | None:
    """Return how often a wrong row outscores another one; ties count half."""
    if not wrong.any() or wrong.all():
        return None
    known = _filled(scores)
    others = np.sort(known[~wrong])
    below = np.searchsorted(others, known[wrong], side="left")
    equal = np.searchsorted(others, known[wrong], side="right") - below
    return float((below + equal / 2).mean() / len(others))


def order(scores: Floats) -> Rows:
    """Return the rows, the oddest first; ties in the order of the table, as `detect` lists them."""
    return np.argsort(-_filled(scores), kind="stable")


def positions(scores: Floats) -> Rows:
    """Return the rank of each row, from 1."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order(scores)] = np.arange(1, len(scores) + 1)
    return ranks


def _at_thresholds(scores: Floats, wrong: Mask) -> tuple[Rows, Rows]:
    """Return how many wrong rows, and how many of all, reach each distinct score."""
    rows = order(scores)
    falling = _filled(scores)[rows]
    ends = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(falling) - 1)
    return np.cumsum(wrong[rows])[ends], ends + 1


def _filled(scores: Floats) -> Floats:
    return np.where(np.isnan(scores), -math.inf, scores)


def _named(case: Case, ranked: Ranked) -> float | None:
    known = {row: wrong.column for row, wrong in case.wrong.items() if wrong.column is not None}
    if ranked.columns is None or not known:
        return None
    return float(np.mean([ranked.columns[row] == column for row, column in known.items()]))


def _check(case: Case, ranked: Ranked) -> None:
    for field in dataclasses.fields(ranked):
        value = getattr(ranked, field.name)
        if value is not None and len(value) != case.rows:
            raise ValueError(f"{field.name} has {len(value)} entries for {case.rows} rows")
