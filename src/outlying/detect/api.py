"""detect(): which rows of a table are odd. source -> a score for each row -> flagged rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from outlying import sentences as say
from outlying import sources
from outlying.api import Explainer
from outlying.checks import check_flag, check_names, check_whole
from outlying.detect.given_scores import (
    ColumnScores,
    checked_scores,
    detector_name,
    detector_scores,
)
from outlying.errors import OptionError, OptionName, Setting, not_allowed
from outlying.options import BAGGING, COLUMN_OPTIONS, CONTEXT_OPTIONS, Bagging, DetectOptions
from outlying.parallel import usable_workers
from outlying.results.detections import Detection, Flagged
from outlying.results.findings import Population
from outlying.sources import registry
from outlying.table.columns import Floats, frozen
from outlying.table.values import printable

if TYPE_CHECKING:
    from outlying.detect.bagging import Bagged, Progress
    from outlying.detect.strength import Watcher
    from outlying.keywords import DetectKeywords
    from outlying.method.density import Counts
    from outlying.table.selection import Selection

#: The names of our own detectors.
AUTO = "auto"
FEATURE_BAGGING = "feature-bagging"
STRENGTH = "strength"
OWN_DETECTORS = (STRENGTH, FEATURE_BAGGING, AUTO)
_BY_STRENGTH = (STRENGTH, AUTO)  # an older name
#: Why a column of scores is not compared.
HOLDS_SCORES = "holds the scores by which rows are ranked"

#: So many rows are ranked first where scores do not tell who stands out.
USUAL_TOP = 10

_SCORES = Setting("scores", flag="--score-column NAME")
_COLUMNS = (*COLUMN_OPTIONS, *CONTEXT_OPTIONS, *registry.OPTIONS)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """One score for each row, and what it is made of; see Flagged."""

    scores: Floats
    notes: tuple[str, ...] = ()
    votes: Counts | None = None
    remoteness: Floats | None = None


def detect(
    data: Any,
    *,
    top: int | None = None,
    unusual: bool = False,
    detector: Any = STRENGTH,
    scores: Any = None,
    lowest: bool = False,
    fdr: float | None = None,
    alerts: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    watcher: Watcher | None = None,
    **options: Unpack[DetectKeywords],
) -> Detection:
    """Find the rows of a table that stand out; the oddest first.

    By default all exceptional rows, a hundred at most, and with `unusual` the merely unusual ones
    after them; `top` asks for so many rows, whatever they are.
    `data` is what `outlying.explain` takes, or an `Explainer`. `detector` is "strength" (all rows
    are judged, and ranked by their strongest findings: sees also what is odd in its context only),
    "feature-bagging" (its options: rounds, neighbours, base, radius, combine, scale, seed) or an
    object with the interface of scikit-learn or PyOD. `scores` ranks by what you have: one
    number per row, or the name of a column, which is then not compared; high scores are abnormal,
    or low ones with `lowest`.
    `fdr` chooses which rows are exceptional by the share of false ones among them, `alerts` by how
    many rows somebody can look at (docs/pipeline.md).
    Further options: columns, exclude, types, infinite, encoding, sheet, as for `explain`. A
    `watcher` is told of each row as soon as it is explained.
    """
    settings = ranking(
        detector, scores, {**options}, top=top, lowest=lowest, fdr=fdr, alerts=alerts
    )
    threads = usable_workers(workers)
    explainer, given = _prepared(data, scores, {**options})
    if settings.by_strength:
        from outlying.detect.strength import by_strength

        everything = check_flag("unusual", unusual)
        return by_strength(explainer, settings, workers, progress, watcher, everything)
    from outlying.table.selection import select

    explainer.in_memory("detect")
    selection = select(explainer.table, explainer.options)
    if given is not None:
        scored = _Scored(given)
    elif settings.bagging is None:
        scored = _Scored(detector_scores(detector, selection.columns))
    else:
        from outlying.detect.bagging import bagged

        bags = bagged(selection.columns, settings.bagging, threads, progress)
        notes = tuple(_notes(bags, settings.bagging, explainer.rows))
        scored = _Scored(bags.scores, notes, bags.votes, bags.remoteness)
    return _detection(explainer, selection, settings, scored)


def ranking(
    detector: Any,
    scores: Any,
    options: Mapping[str, Any],
    *,
    top: int | None = None,
    lowest: bool = False,
    fdr: float | None = None,
    alerts: int | None = None,
) -> DetectOptions:
    """Check how rows are to be ranked, before anything is read."""
    check_names(options, (*BAGGING, *_COLUMNS))
    own = {name: value for name, value in options.items() if name in BAGGING}
    is_named = isinstance(detector, str)
    by_strength = scores is None and is_named and detector in _BY_STRENGTH
    by_bagging = scores is None and is_named and detector == FEATURE_BAGGING
    lowest = check_flag("lowest", lowest)
    if lowest and scores is None:
        raise OptionError(OptionName("lowest"), " tells how to read scores; add ", _SCORES)
    if own and not by_bagging:
        names = [part for name in own for part in (" and ", OptionName(name))][1:]
        raise OptionError(
            *names,
            ": for feature bagging only; add ",
            Setting("detector", FEATURE_BAGGING),
            *(() if scores is None else (" in place of scores",)),
        )
    if scores is not None and not (is_named and detector in _BY_STRENGTH):
        raise OptionError("scores rank by themselves; leave ", OptionName("detector"), " out")
    number = None if top is None else check_whole(OptionName("top"), top, 1)
    if by_strength:
        return DetectOptions(STRENGTH, number, by_strength=True, **_rate(fdr, alerts))
    if fdr is not None or alerts is not None:
        raise OptionError("fdr and alerts are for rows ranked by strength; leave them out")
    number = USUAL_TOP if number is None else number  # scores say nothing of who stands out
    if by_bagging:
        return DetectOptions(FEATURE_BAGGING, number, bagging=Bagging.of(**own))
    name = detector_name(detector) if scores is None else _named(scores)
    return DetectOptions(name, number, lowest)


def _rate(fdr: float | None, alerts: int | None) -> dict[str, Any]:
    """Check how the line of exceptional rows is chosen, if it is."""
    if fdr is not None and alerts is not None:
        raise OptionError(
            "both ", OptionName("fdr"), " and ", OptionName("alerts"), " are given; use one of them"
        )
    if alerts is not None:
        return {"alerts": check_whole(OptionName("alerts"), alerts, 1)}
    if fdr is None:
        return {}
    if isinstance(fdr, bool) or not isinstance(fdr, (int, float)) or not 0 < fdr < 1:
        raise not_allowed(OptionName("fdr"), fdr, "a share between 0 and 1, such as 0.1")
    return {"fdr": float(fdr)}


def _named(scores: Any) -> str:
    name = scores.name if isinstance(scores, ColumnScores) else scores
    return f"the column {printable(name)!r}" if isinstance(name, str) else "given scores"


def _prepared(data: Any, scores: Any, options: dict[str, Any]) -> tuple[Explainer, Floats | None]:
    """Return the table ready to be compared, and the scores where these are given."""
    own = {name: value for name, value in options.items() if name in _COLUMNS}
    if isinstance(data, Explainer):
        if own:
            names = " and ".join(own)
            raise OptionError(f"{names}: an Explainer has chosen its columns; give it there")
        return data, _scores(data, scores)
    if not isinstance(scores, str):
        explainer = Explainer(data, **own)
        return explainer, _scores(explainer, scores)
    table = sources.read(data, **{name: own.pop(name, None) for name in registry.OPTIONS})
    explainer = Explainer(table.without(scores, HOLDS_SCORES), **own)
    return explainer, ColumnScores.of(table, scores, explainer.options.infinite).values


def _scores(explainer: Explainer, scores: Any) -> Floats | None:
    if scores is None:
        return None
    if isinstance(scores, str):
        scores = ColumnScores.of(explainer.table, scores)
    if isinstance(scores, ColumnScores):
        return scores.values
    return checked_scores(scores, explainer.rows, "scores")


def _detection(
    explainer: Explainer, selection: Selection, settings: DetectOptions, scored: _Scored
) -> Detection:
    table = explainer.table
    known = ~np.isnan(scored.scores)
    unknown = table.rows - int(known.sum())
    notes = [*table.notes, *scored.notes]
    if unknown:
        notes.append(say.NO_SCORE[unknown > 1].format(rows=unknown))
    order = np.argsort(scored.scores if settings.lowest else -scored.scores, kind="stable")
    top = settings.top or USUAL_TOP
    notes += _on_ties(scored.scores[order][: table.rows - unknown], top)
    return Detection(
        rows=tuple(
            _flagged(explainer, scored, int(row), rank)
            for rank, row in enumerate(order[: min(top, table.rows - unknown)], start=1)
        ),
        population=Population.of(table, table.rows, selection),
        settings=settings,
        notes=tuple(notes),
        scores=np.asarray(frozen(scored.scores)),
    )


def _on_ties(ranked: Floats, top: int) -> list[str]:
    """Return a note where the order of the table decides which rows are flagged."""
    if len(ranked) > 1 and ranked[0] == ranked[-1]:
        return [say.ALL_TIED]
    same = int(np.count_nonzero(ranked[top:] == ranked[min(top, len(ranked)) - 1]))
    return [say.TIED[same > 1].format(rows=same)] if same else []


def _flagged(explainer: Explainer, scored: _Scored, row: int, rank: int) -> Flagged:
    return Flagged(
        row=row,
        rank=rank,
        score=float(scored.scores[row]),
        word="",
        reason=None,
        votes=None if scored.votes is None else int(scored.votes[row]),
        remoteness=None if scored.remoteness is None else float(scored.remoteness[row]),
        values=tuple(explainer.table.values(row).items()),
        key=explainer.name_of(row),
    )


def _notes(found: Bagged, settings: Bagging, rows: int) -> list[str]:
    """Return notes: what a sample decided, and what else a reader must know of the ranking."""
    notes = []
    if found.references < rows:
        notes.append(
            say.DRAWN_IN_ROUNDS.format(
                rounds=settings.rounds,
                rows=rows,
                drawn=found.references,
                compared=found.compared,
            )
        )
    if found.neighbours < settings.neighbours:
        notes.append(
            say.FEW_NEIGHBOURS.format(neighbours=found.neighbours, wanted=settings.neighbours)
        )
    notes += [
        say.COLUMN_HOLDS.format(column=repr(name), said=say.RARE_LABELS) for name in found.lumped
    ]
    return notes
