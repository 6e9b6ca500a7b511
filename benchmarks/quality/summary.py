"""The figures of a report: means over rows, by suite, kind and method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from benchmarks.quality.metrics import Score
from benchmarks.quality.run import Run

CALLED = ("claims", "stands_out")
METRICS = ("f1", "f1_five", "exact", "exact_five", "property", "named", "overlap", "overlap_five")
HARDEST = 10

Figures: TypeAlias = dict[str, dict[str, dict[str, dict[str, float | None]]]]


def figures(runs: Sequence[Run]) -> Figures:
    """Return all figures by part of the report, group and method; no times are among them."""
    plain = [run for run in runs if not run.is_thinned]
    hics = [run for run in plain if run.suite == "hics"]
    parts = {suite: [run for run in plain if run.suite == suite] for suite in _suites(plain)}
    return {
        **{suite: _grouped(part, [run.kind for run in part]) for suite, part in parts.items()},
        "hics files": _grouped(hics, [run.name for run in hics]),
        "ordinary": _ordinary(plain),
        "stability": _stability(runs),
    }


def seconds(runs: Sequence[Run]) -> Figures:
    """Return the mean seconds to prepare a table and to explain a row: any, the first, a further.

    What a method prepares only when it is asked falls into the first row of a table.
    """
    plain = [run for run in runs if not run.is_thinned and not run.error]
    groups = [(run.suite, run.kind) for run in plain]
    found: Figures = {}
    for suite, kind in dict.fromkeys(groups):
        for method in _methods(plain):
            own = [r for r in plain if (r.suite, r.kind, r.method) == (suite, kind, method)]
            values = {
                "fit": mean(run.fit_seconds for run in own),
                "explain": mean(score.seconds for run in own for score in run.scores),
                "first": mean(score.seconds for run in own for score in run.scores[:1]),
                "further": mean(score.seconds for run in own for score in run.scores[1:]),
            }
            found.setdefault(suite, {}).setdefault(kind, {})[method] = values
    return found


def hardest(runs: Sequence[Run], method: str) -> list[tuple[Run, Score]]:
    """Return the rows that a method explains worst; none that it explains rightly."""
    found = [
        (run, score)
        for run in runs
        if run.method == method and not run.is_thinned
        for score in run.scores
        if score.f1 is not None and score.f1 < 1
    ]
    return sorted(found, key=lambda pair: pair[1].f1 or 0.0)[:HARDEST]


def failures(runs: Sequence[Run]) -> list[str]:
    """Name the tables on which a method failed."""
    return [f"{run.method} on {run.name}: {run.error}" for run in runs if run.error]


def to_json(runs: Sequence[Run], method: str) -> dict[str, Any]:
    """Give figures, times, and what one method makes of each row, for comparison by machine."""
    return {
        "schema": 1,
        "figures": _rounded(figures(runs)),
        "seconds": _rounded(seconds(runs)),
        "failures": failures(runs),
        "rows": [
            [run.name, score.row, *(_rounded(getattr(score, name)) for name in ROW_FIELDS)]
            for run in runs
            if run.method == method and not run.is_thinned
            for score in run.scores
        ],
        "row_fields": ["name", "row", *ROW_FIELDS],
    }


ROW_FIELDS = ("f1", "f1_five", "overlap", "claims", "stands_out")


def mean(values: Iterable[float | bool | None]) -> float | None:
    """Average what there is; None where there is nothing."""
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_rounded(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value


def _suites(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(run.suite for run in runs))


def _methods(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(run.method for run in runs))


def _grouped(
    runs: Sequence[Run], groups: Sequence[str]
) -> dict[str, dict[str, dict[str, float | None]]]:
    """Average over the outlying rows of each group."""
    found: dict[str, dict[str, list[Score]]] = {}
    for run, group in zip(runs, groups, strict=True):
        scores = [score for score in run.scores if not score.is_ordinary]
        if scores:
            found.setdefault(group, {}).setdefault(run.method, []).extend(scores)
    return {
        group: {method: _means(scores) for method, scores in of.items()}
        for group, of in found.items()
    }


def _means(scores: Sequence[Score]) -> dict[str, float | None]:
    values = {name: mean(getattr(score, name) for score in scores) for name in METRICS}
    return {"rows": float(len(scores)), **values, **_called(scores)}


def _called(scores: Sequence[Score]) -> dict[str, float | None]:
    return {name: mean(getattr(score, name) for score in scores) for name in CALLED}


def _ordinary(runs: Sequence[Run]) -> dict[str, dict[str, dict[str, float | None]]]:
    """Shares of ordinary and of planted rows that are called exceptional, or stand out."""
    planted = [run for run in runs if run.suite == "planted"]
    found: dict[str, dict[str, float | None]] = {}
    for method in _methods(planted):
        scores = [score for run in planted if run.method == method for score in run.scores]
        ordinary = [score for score in scores if score.is_ordinary]
        false = {f"ordinary {name}": share for name, share in _called(ordinary).items()}
        called = _called([score for score in scores if not score.is_ordinary])
        found[method] = {"rows": float(len(ordinary)), **false, **called}
    return {"planted": found} if found else {}


def _stability(runs: Sequence[Run]) -> dict[str, dict[str, dict[str, float | None]]]:
    """Share of rows whose first guess names the same columns after a tenth of the rows is gone."""
    full = {(run.name, run.method): run for run in runs if not run.is_thinned}
    same: dict[str, dict[str, list[bool]]] = {}
    for run in runs:
        if run.is_thinned:
            pairs = zip(full[run.name, run.method].scores, run.scores, strict=True)
            kept = same.setdefault(run.kind, {}).setdefault(run.method, [])
            kept += [before.columns == after.columns for before, after in pairs]
    return {
        kind: {
            method: {"rows": float(len(kept)), "same": mean(kept)} for method, kept in of.items()
        }
        for kind, of in same.items()
    }
