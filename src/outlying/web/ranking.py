"""Finding what stands out: rank the rows of a table, explain the oddest of them.

A stream is not ranked by the library, as it may outgrow memory and its rows have no numbers. The
copy that pages show has both: it is read back, and ranked in place of the stream.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Protocol

import numpy as np

from outlying.api import Explainer
from outlying.detect.api import detect
from outlying.results.detections import Detection
from outlying.sources.duckdb.browse import read_copy
from outlying.table.columns import Rows
from outlying.table.sampling import sample_rows
from outlying.table.table import SkippedColumn, Table
from outlying.web.tasks import Detect, Detected, Facts

#: Of a stream with more rows, so many are ranked.
MOST_RANKED = 500_000


class Teller(Protocol):
    """Tells how far a task is, and what begins now."""

    def __call__(self, done: int, total: int) -> None:
        """Say how far this stage is."""

    def say(self, stage: str) -> None:
        """Say what begins now."""


def detected(explainer: Explainer, task: Detect, tell: Teller, *, is_copy: bool) -> Detected:
    """Rank all rows, or many of a stream's copy, and explain the oddest."""
    tell.say("ranking rows")
    ranked = _of_copy if is_copy else _of_table
    detection = ranked(explainer, task, tell)
    tell.say("comparing with ordinary rows")
    explainer.prepare(tell, workers=1)
    tell.say("explaining")
    found = explainer.explain_many(rows=detection.positions, workers=1, progress=tell)
    no_scores = np.zeros(0)  # of a million rows nobody asks for all
    detection = dataclasses.replace(detection, scores=no_scores)
    return Detected(detection, tuple(found), explainer.options)


def _of_table(explainer: Explainer, task: Detect, tell: Teller) -> Detection:
    return detect(explainer, top=task.top, workers=1, progress=tell)


def _of_copy(explainer: Explainer, task: Detect, tell: Teller) -> Detection:
    """Rank rows of a copy, drawn by what they hold where there are very many; say so."""
    rows, table = explainer.rows, explainer.table
    notes = ["The table is a stream: what was ranked is the copy of its rows that the page shows."]
    if rows <= MOST_RANKED:
        found = _of_table(explainer, task, tell)
        return dataclasses.replace(found, notes=(*notes, *found.notes))
    drawn = np.sort(sample_rows(table.columns, rows, MOST_RANKED))
    some = Explainer(_taken(table, drawn), **task.options.keywords)
    found = _of_table(some, task, tell)
    notes.append(f"Of its {rows:,} rows {len(drawn):,} were ranked, drawn by what they hold.")
    flagged = (dataclasses.replace(item, row=int(drawn[item.row])) for item in found.rows)
    return dataclasses.replace(found, rows=tuple(flagged), notes=(*notes, *found.notes))


def _taken(table: Table, rows: Rows) -> Table:
    columns = tuple(column.taken(rows) for column in table.columns)
    return dataclasses.replace(table, columns=columns, rows=len(rows))


def copied_table(folder: Path, facts: Facts) -> Table:
    """Read the copy of a table back; columns that cannot be used are not in it.

    It is read from texts once more, and tells that itself: notes of the table would be doubled.
    """
    names = {column.name for column in facts.columns}
    skipped = tuple(SkippedColumn(*item) for item in facts.skipped if item[0] not in names)
    columns = read_copy(folder, facts.columns)
    return Table(columns, facts.rows, facts.source, skipped)
