"""Rank all rows by their strongest findings, and by how odd they are all over (method 5e)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from outlying import sentences as say
from outlying.method.rates import discovery_line, p_values
from outlying.parallel import usable_workers
from outlying.results.detections import Counts, Detection, Flagged, OddCombination, Reason, Word
from outlying.results.findings import Findings
from outlying.results.notes import drawn_note, panel_notes
from outlying.search.evidence import Standing
from outlying.table.columns import Floats, Rows, frozen
from outlying.table.targets import Key, Targets

if TYPE_CHECKING:
    from outlying.api import Explainer
    from outlying.options import DetectOptions
    from outlying.search.memory import MemoryPopulation
    from outlying.stream.judging import StreamRanking

Progress: TypeAlias = Callable[[int, int], None]
#: A row before it is explained: its position, its name, its strength.
Place: TypeAlias = tuple[int | None, Key, float]

#: So many rows that are odd all over are shown.
MOST_COMBINATIONS = 5
#: So many exceptional rows are told at most, unless a number is asked for; of a stream, whose rows
#: must be kept while it is read, fewer.
MOST_FLAGGED, MOST_OF_STREAM = 100, 50
#: So many columns are named of each.
MOST_COLUMNS = 3
#: The tail of combination scores is fitted between these quantiles.
INNER, OUTER = 0.5, 0.95
#: Less than this, in nats, is no oddity.
LEAST_COMBINATION = 1.0


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """All rows, the strongest first, and which of them stand out: positions, in this order."""

    strengths: Floats
    combinations: Floats
    order: Rows
    exceptional: Rows
    unusual: Rows
    odd_all_over: Rows  # by their combination scores

    @classmethod
    def of(
        cls,
        strengths: Floats,
        combinations: Floats,
        standing: Standing,
        usual: Floats | None = None,
    ) -> Ranking:
        """Rank rows; of those with the same strength, the rarer ones all over come first.

        `usual` are the combination scores of other rows that these are compared with.
        """
        order = np.lexsort((-combinations, -strengths))
        ranked = strengths[order]
        exceptional = int(np.count_nonzero((ranked > 0) & (ranked >= standing.exceptional)))
        unusual = max(int(np.count_nonzero(ranked > standing.unusual)), exceptional)
        usual = combinations if usual is None else usual
        line = combination_line(usual, len(usual))
        by_combination = np.argsort(-combinations, kind="stable")
        odd = by_combination[: int(np.count_nonzero(combinations >= line))]
        top, rest = order[:exceptional], order[exceptional:unusual]
        return cls(strengths, combinations, order, top, rest, odd)


def word_of(strength: float, standing: Standing) -> Word:
    """Return what a row of a strength is among all rows."""
    if 0 < strength >= standing.exceptional:
        return "exceptional"
    return "unusual" if strength > standing.unusual else ""


def combination_line(scores: Floats, rows: int) -> float:
    """Return from which score on a row of so many is odd all over.

    Sums of surprises have tails that are no heavier than exponential ones. The slope is fitted
    below the top twentieth, which odd rows do not change; one ordinary row, or fewer, is expected
    beyond the line.
    """
    inner, outer = np.quantile(scores, [INNER, OUTER]).tolist()
    slope = (outer - inner) / math.log((1 - INNER) / (1 - OUTER))
    line = outer + slope * math.log(max(rows * (1 - OUTER), 1.0))
    return max(float(line), LEAST_COMBINATION)


class Watcher(Protocol):
    """Is told what is found as soon as it is: how many rows stand out, then each of them."""

    def begin(self, detection: Detection, rows: Sequence[tuple[int | None, Key]]) -> None:
        """Take what is known before any row is explained: all but the rows, which follow."""

    def add(self, flagged: Flagged) -> None:
        """Take one more row."""


def by_strength(
    explainer: Explainer,
    settings: DetectOptions,
    workers: int | None,
    progress: Progress | None,
    watcher: Watcher | None = None,
    with_unusual: bool = False,
) -> Detection:
    """Judge all rows of a table, rank them, and say of the first ones why they are odd."""
    has_rate = settings.fdr is not None or settings.alerts is not None
    if explainer.is_streamed and has_rate:
        explainer.in_memory("a chosen error rate")
    if explainer.is_streamed:
        return _of_stream(explainer, settings, workers, progress, watcher, with_unusual)
    population = explainer.in_memory("detect")
    standing = population.standing(workers, progress)
    scores, usual = population.scores(workers, progress), population.usual_combinations()
    chosen: list[str] = []
    if has_rate:
        standing = _with_rate(standing, scores[0], settings, chosen)
    ranking = Ranking.of(*scores, standing, usual)
    counts = Counts(len(ranking.exceptional), len(ranking.unusual))
    how = tuple(drawn_note(standing, explainer.rows))
    rows = ranking.order[: _number(settings.top, counts, with_unusual)].tolist()
    guessed = panel_notes(population.selection())
    detection = Detection(
        rows=(),
        population=explainer.population,
        settings=settings,
        notes=(*explainer.table.notes, *guessed, *chosen, *how),
        scores=np.asarray(frozen(ranking.strengths)),
        counts=counts,
        exceptional=tuple(ranking.exceptional.tolist()),
        unusual=tuple(ranking.unusual.tolist()),
        unusual_combinations=tuple(ranking.odd_all_over.tolist()),
        combination_scores=np.asarray(frozen(ranking.combinations)),
        how=how,
    )
    places = [(row, explainer.name_of(row), float(ranking.strengths[row])) for row in rows]
    found = explainer.explained(Targets.of_rows(rows), workers)
    flagged = _flagged(detection, places, found, standing, watcher)
    combinations = tuple(_combinations(explainer, ranking, flagged))
    return dataclasses.replace(detection, rows=flagged, combinations=combinations)


def _with_rate(
    standing: Standing, strengths: Floats, settings: DetectOptions, notes: list[str]
) -> Standing:
    """Draw the line of exceptional rows where it was chosen, and note what that means."""
    if settings.fdr is not None:
        line = discovery_line(strengths, standing.ordered, settings.fdr)
        notes.append(say.BY_FDR.format(fdr=settings.fdr))
        return dataclasses.replace(standing, exceptional=line)
    ranked = np.sort(strengths[strengths > 0])[::-1][: settings.alerts]
    line = float(ranked[-1]) if len(ranked) else math.inf
    chance = float(p_values(np.array([line]), standing.ordered)[0]) * len(strengths)
    notes.append(say.BY_ALERTS.format(count=len(ranked), chance=chance))
    return dataclasses.replace(standing, exceptional=line)


def _number(top: int | None, counts: Counts, with_unusual: bool) -> int:
    """Return how many rows to flag: as many as were asked for, or all that stand out."""
    if top is not None:
        return top
    return min(counts.exceptional + with_unusual * counts.unusual, MOST_FLAGGED)


def _flagged(
    detection: Detection,
    places: Sequence[Place],
    found: Iterable[Findings],
    standing: Standing,
    watcher: Watcher | None,
) -> tuple[Flagged, ...]:
    if watcher is not None:
        watcher.begin(detection, [(row, key) for row, key, _ in places])
    flagged = []
    for rank, (place, findings) in enumerate(zip(places, found, strict=True), start=1):
        row, key, strength = place
        item = Flagged(
            row=row,
            rank=rank,
            score=strength,
            word=word_of(strength, standing),
            reason=Reason.of(findings),
            values=findings.values,
            key=key,
            findings=findings,
        )
        flagged.append(item)
        if watcher is not None:
            watcher.add(item)
    return tuple(flagged)


def _combinations(
    explainer: Explainer, ranking: Ranking, flagged: Sequence[Flagged]
) -> list[OddCombination]:
    """Return the first rows that are odd all over and not among the others that stand out."""
    population = explainer.in_memory("detect")
    known = {*ranking.exceptional.tolist(), *(item.row for item in flagged if item.word)}
    rows = [row for row in ranking.odd_all_over.tolist() if row not in known][:MOST_COMBINATIONS]
    columns = _columns_that_add_most(population, rows)
    return [
        OddCombination(
            row=row,
            rank=rank,
            score=float(ranking.combinations[row]),
            columns=names,
            values=tuple(population.table.values(row).items()),
            key=explainer.name_of(row),
        )
        for rank, (row, names) in enumerate(zip(rows, columns, strict=True), start=1)
    ]


def _columns_that_add_most(
    population: MemoryPopulation, rows: Sequence[int]
) -> list[tuple[str, ...]]:
    """Return of each row the columns that add most to its combination score."""
    if not rows:
        return []
    prepared, threads = population.prepared, usable_workers(None)
    parts = prepared.evidence_of(np.array(rows), threads).added
    families = [item.attribute.column.family for item in prepared.model().properties]
    names = sorted(set(families))
    added = [parts[:, [own == name for own in families]].sum(axis=1) for name in names]
    order = np.argsort(-np.array(added), axis=0, kind="stable")
    return [tuple(names[place] for place in own) for own in order[:MOST_COLUMNS].T]


def _of_stream(
    explainer: Explainer,
    settings: DetectOptions,
    workers: int | None,
    progress: Progress | None,
    watcher: Watcher | None,
    with_unusual: bool,
) -> Detection:
    """Rank the rows of a stream, which are named by what they hold."""
    top = MOST_OF_STREAM if settings.top is None else settings.top
    most = max(top, MOST_COMBINATIONS) + MOST_COMBINATIONS
    ranked, targets = explainer.ranked(most, workers=workers, progress=progress)
    standing, first = ranked.standing, ranked.by_strength
    counts = Counts(ranked.exceptional, ranked.unusual)
    some = min(_number(settings.top, counts, with_unusual), top, len(first))
    how = tuple(drawn_note(standing, ranked.rows))
    detection = Detection(
        rows=(),
        population=explainer.population,
        settings=settings,
        notes=(*explainer.table.notes, *how),
        scores=np.zeros(0),
        counts=counts,
        how=how,
    )
    places = [(None, first.keys[at], float(first.strengths[at])) for at in range(some)]
    found = explainer.explained(
        dataclasses.replace(targets, items=targets.items[:some]), workers, progress
    )
    flagged = _flagged(detection, places, found, standing, watcher)
    combinations = tuple(_combinations_of_stream(ranked, flagged))
    return dataclasses.replace(detection, rows=flagged, combinations=combinations)


def _combinations_of_stream(
    ranked: StreamRanking, flagged: Sequence[Flagged]
) -> Iterator[OddCombination]:
    line = combination_line(ranked.combinations, ranked.rows)
    known = [item.values for item in flagged if item.word]
    both = ranked.by_combination
    odd = [
        place
        for place in range(len(both))
        if both.combinations[place] >= line
        and word_of(float(both.strengths[place]), ranked.standing) != "exceptional"
        and tuple(both.values[place].items()) not in known
    ]
    for rank, place in enumerate(odd[:MOST_COMBINATIONS], start=1):
        yield OddCombination(
            row=None,
            rank=rank,
            score=float(both.combinations[place]),
            columns=(),
            values=tuple(both.values[place].items()),
            key=both.keys[place],
        )
