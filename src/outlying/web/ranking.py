"""Finding what stands out: rank the rows of a table, explain the oddest of them.

Rows of a stream have no numbers, by which pages name rows. The copy that pages show has them: it is
read back, and ranked in place of the stream.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Protocol

import numpy as np

from outlying.api import Explainer
from outlying.detect.api import detect
from outlying.sources.duckdb.browse import read_copy
from outlying.table.table import SkippedColumn, Table
from outlying.web.tasks import Detect, Detected, Facts

_OF_COPY = "The table is a stream: what was ranked is the copy of its rows that the page shows."


class Teller(Protocol):
    """Tells how far a task is, and what begins now."""

    def __call__(self, done: int, total: int) -> None:
        """Say how far this stage is."""

    def say(self, stage: str) -> None:
        """Say what begins now."""


def detected(explainer: Explainer, task: Detect, tell: Teller, *, is_copy: bool) -> Detected:
    """Rank all rows, or those of a stream's copy, and explain the oddest."""
    tell.say("ranking rows")
    detection = detect(explainer, top=task.top, workers=1, progress=tell)
    tell.say("explaining")
    found = explainer.explain_many(rows=detection.positions, workers=1, progress=tell)
    notes = (_OF_COPY, *detection.notes) if is_copy else detection.notes
    no_scores = np.zeros(0)  # of a million rows nobody asks for all
    detection = dataclasses.replace(
        detection, notes=notes, scores=no_scores, combination_scores=no_scores
    )
    return Detected(detection, tuple(found), explainer.options)


def copied_table(folder: Path, facts: Facts) -> Table:
    """Read the copy of a table back; columns that cannot be used are not in it.

    It is read from texts once more, and tells that itself: notes of the table would be doubled.
    """
    names = {column.name for column in facts.columns}
    skipped = tuple(SkippedColumn(*item) for item in facts.skipped if item[0] not in names)
    columns = read_copy(folder, facts.columns)
    return Table(columns, facts.rows, facts.source, skipped)
