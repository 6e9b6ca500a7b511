"""detect(): for whoever has a table and no flagged row. source -> scores -> flagged rows."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from outlying import sources
from outlying.api import Explainer
from outlying.detect.bagging import Bagged, Progress, bagged
from outlying.detect.given_scores import ColumnScores, checked, judged, name_of
from outlying.errors import OptionError
from outlying.method.density import Counts
from outlying.options import BAGGING, Bagging, Settings, check_names, whole
from outlying.parallel import usable_workers
from outlying.results.detections import Detection, Flagged
from outlying.results.findings import Population
from outlying.table.columns import Floats, frozen
from outlying.table.selection import select
from outlying.table.values import printable

#: The names of our own detectors.
FEATURE_BAGGING = "feature-bagging"
STRENGTH = "strength"
OWN = (FEATURE_BAGGING, STRENGTH)
#: Why a column of scores is not compared.
HOLDS_SCORES = "holds the scores by which rows are ranked"

_COLUMNS = ("columns", "exclude", "types", "infinite")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Verdict:
    """One score for each row, and what is known beyond that."""

    scores: Floats
    notes: tuple[str, ...] = ()
    votes: Counts | None = None
    remoteness: Floats | None = None


def detect(
    data: Any,
    *,
    top: int = 10,
    detector: Any = FEATURE_BAGGING,
    scores: Any = None,
    lowest: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Detection:
    """Find the rows of a table that stand out; the oddest first.

    `data` is what `outlying.explain` takes, or an `Explainer`. `detector` is "feature-bagging" (its
    options: rounds, neighbours, base, radius, combine, scale, seed), "strength" (every row is
    explained, and ranked by its strongest finding: slow, but sees what is odd in its context only)
    or an object with the interface of scikit-learn or PyOD. `scores` ranks by what you have: one
    number per row, or the name of a column, which is then not compared; high scores are abnormal,
    or low ones with `lowest`.
    Further options: columns, exclude, types, infinite, as for `explain`.
    """
    settings = _settings(detector, scores, whole("top", top, 1), lowest, options)
    explainer, given = _prepared(data, scores, options)
    explainer.must_be_in_memory("detect")
    threads = usable_workers(workers)
    columns = select(explainer.table, explainer.options).columns
    if given is not None:
        verdict = _Verdict(given)
    elif settings.detector == STRENGTH:
        verdict = _Verdict(explainer.strengths(workers=workers, progress=progress))
    elif settings.bagging is None:
        verdict = _Verdict(judged(detector, columns))
    else:
        found = bagged(columns, settings.bagging, threads, progress)
        notes = tuple(_notes(found, settings.bagging, explainer.rows))
        verdict = _Verdict(found.scores, notes, found.votes, found.remoteness)
    return _detection(explainer, settings, verdict)


def _settings(
    detector: Any, scores: Any, top: int, lowest: bool, options: dict[str, Any]
) -> Settings:
    """Check what was asked for, before anything is read."""
    check_names(options, (*BAGGING, *_COLUMNS))
    own = {name: value for name, value in options.items() if name in BAGGING}
    is_ours = isinstance(detector, str) and detector == FEATURE_BAGGING
    if scores is None and lowest is not False:
        raise OptionError(f"lowest is {lowest!r}, which tells how to read scores: give scores=")
    if scores is None and is_ours:
        return Settings(FEATURE_BAGGING, top, bagging=Bagging.of(**own))
    if own:
        names = " and ".join(own)
        raise OptionError(f"{names} cannot be used here: for feature bagging only")
    if scores is None:
        is_named = isinstance(detector, str) and detector in OWN
        return Settings(detector if is_named else name_of(detector), top)
    if not is_ours:
        raise OptionError("both scores and a detector are given; use one of them")
    if not isinstance(lowest, bool):
        raise OptionError(f"lowest is {lowest!r}; allowed: True or False")
    return Settings(_named(scores), top, lowest)


def _named(scores: Any) -> str:
    name = scores.name if isinstance(scores, ColumnScores) else scores
    return f"the column {printable(name)!r}" if isinstance(name, str) else "given scores"


def _prepared(data: Any, scores: Any, options: dict[str, Any]) -> tuple[Explainer, Floats | None]:
    """Read the table, and the scores where they are given; their column is not compared."""
    own = {name: value for name, value in options.items() if name in _COLUMNS}
    if isinstance(data, Explainer):
        if own:
            names = " and ".join(own)
            raise OptionError(
                f"{names}: an Explainer has chosen its columns already; give it there"
            )
        return data, _scores(data, scores)
    if not isinstance(scores, str):
        explainer = Explainer(data, **own)
        return explainer, _scores(explainer, scores)
    table = sources.read(data)
    explainer = Explainer(table.without(scores, HOLDS_SCORES), **own)
    return explainer, ColumnScores.of(table, scores, explainer.options.infinite).values


def _scores(explainer: Explainer, scores: Any) -> Floats | None:
    if scores is None:
        return None
    if isinstance(scores, str):
        scores = ColumnScores.of(explainer.table, scores)
    if isinstance(scores, ColumnScores):
        return scores.values
    return checked(scores, explainer.rows, "scores")


def _detection(explainer: Explainer, settings: Settings, verdict: _Verdict) -> Detection:
    table, options = explainer.table, explainer.options
    selection = select(table, options)
    known = ~np.isnan(verdict.scores)
    unknown = table.rows - int(known.sum())
    notes = [*table.notes, *verdict.notes]
    if unknown:
        which = "1 row has" if unknown == 1 else f"{unknown:,} rows have"
        notes.append(f"{which} no score and cannot be ranked.")
    order = np.argsort(verdict.scores if settings.lowest else -verdict.scores, kind="stable")
    notes += _on_ties(verdict.scores[order][: table.rows - unknown], settings.top)
    return Detection(
        rows=tuple(
            _flagged(explainer, verdict, int(row), rank)
            for rank, row in enumerate(order[: min(settings.top, table.rows - unknown)], start=1)
        ),
        population=Population(
            table.source,
            table.rows,
            tuple(column.name for column in selection.columns),
            selection.skipped,
            table.frame_library,
        ),
        settings=settings,
        notes=tuple(notes),
        scores=np.asarray(frozen(verdict.scores)),
    )


def _on_ties(ranked: Floats, top: int) -> list[str]:
    """Say where the order of the table decides which rows are flagged."""
    if len(ranked) > 1 and ranked[0] == ranked[-1]:
        return ["All rows have the same score: none stands out."]
    same = int(np.count_nonzero(ranked[top:] == ranked[min(top, len(ranked)) - 1]))
    if not same:
        return []
    others = "1 more row has" if same == 1 else f"{same:,} more rows have"
    return [f"{others} the same score as the last one here, and come later in the table."]


def _flagged(explainer: Explainer, verdict: _Verdict, row: int, rank: int) -> Flagged:
    return Flagged(
        row=row,
        rank=rank,
        score=float(verdict.scores[row]),
        votes=None if verdict.votes is None else int(verdict.votes[row]),
        remoteness=None if verdict.remoteness is None else float(verdict.remoteness[row]),
        values=tuple(explainer.table.values(row).items()),
    )


def _notes(found: Bagged, settings: Bagging, rows: int) -> list[str]:
    """Say what a sample decided, and what else a reader must know to judge the ranking."""
    notes = []
    if found.references < rows:
        notes.append(
            f"Each of the {settings.rounds:,} rounds scored all {rows:,} rows by their distance to "
            f"{found.references:,} of them, drawn by what they hold: {found.compared:,} in all."
        )
    if found.neighbours < settings.neighbours:
        notes.append(
            f"There are few rows: the number of neighbours is {found.neighbours}, half of the "
            f"other rows, not {settings.neighbours}."
        )
    notes += [
        f"column {name!r}: its rare labels count as one label in the comparison"
        for name in found.lumped
    ]
    return notes
