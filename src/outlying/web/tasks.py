"""What a worker process is asked to do, and what it answers: values that can be pickled."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from outlying.errors import Setting
from outlying.options import Options
from outlying.results.detections import Detection
from outlying.results.findings import Findings
from outlying.table.values import plain
from outlying.web.cells import ColumnOverview
from outlying.web.queries import OptionsQuery, encoded
from outlying.web.sourcing import Sourcing


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """What a page shows of a table before any row."""

    source: str
    rows: int
    columns: tuple[ColumnOverview, ...]
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    is_streamed: bool
    choices: tuple[tuple[str, tuple[str, ...]], ...] = ()  # how else it could be read
    declarable: frozenset[str] = frozenset()  # skipped columns that are compared if declared


@dataclasses.dataclass(frozen=True, slots=True)
class WorkerSpec:
    """The table that a worker process holds, and where its copy to look around in is.

    `task` names the reading of it; where the facts are `known`, there is a copy already.
    """

    task: str
    sourcing: Sourcing
    folder: Path
    copy: Path
    known: Facts | None
    most_rows: int
    most_columns: int


@dataclasses.dataclass(frozen=True, slots=True)
class Explain:
    """Explain one row, by its position in the copy of the table, or a new object."""

    options: OptionsQuery
    row: int | None = None
    object: tuple[tuple[str, Any], ...] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Detect:
    """Find the rows that stand out, and explain them."""

    options: OptionsQuery
    top: int


Task = Explain | Detect


def address(table: str, task: Task | None) -> str:
    """Return the address of the page that shows a task."""
    base = f"/t/{table}"
    if isinstance(task, Detect):
        return f"{base}/odd{encoded([('top', str(task.top)), *task.options.to_params()])}"
    if task is None:
        return base
    params = task.options.to_params()
    if task.object is None:
        return f"{base}/row/{(task.row or 0) + 1}{encoded(params)}"
    values = [(f"v.{name}", _typed(value)) for name, value in task.object if value is not None]
    return f"{base}/new{encoded([*values, *params])}"


def _typed(value: Any) -> str:
    """Write a value as people type it."""
    return str(value).lower() if isinstance(value, bool) else str(plain(value))


@dataclasses.dataclass(frozen=True, slots=True)
class Detected:
    """The rows that stand out, and why."""

    detection: Detection
    explained: tuple[Findings, ...]
    options: Options


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """How far a task is."""

    task: str
    stage: str
    done: int
    total: int


@dataclasses.dataclass(frozen=True, slots=True)
class Done:
    """What a task has found."""

    task: str
    result: Facts | Findings | Detected


@dataclasses.dataclass(frozen=True, slots=True)
class Failed:
    """Why a task found nothing; `is_cancelled`: somebody wanted it no more."""

    task: str
    why: str
    is_cancelled: bool = False
    limit: str | None = None  # the limit that was hit
    remedies: tuple[Setting, ...] = ()  # options that would help


Message = Progress | Done | Failed
