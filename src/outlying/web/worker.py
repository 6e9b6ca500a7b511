"""A worker process: it holds one table, prepared once, and explains or ranks its rows.

What it is asked to do and what it answers are values that can be pickled. Tasks run in threads,
which share what is prepared; each is stopped through its progress. Whatever a table does to this
process, the server lives on and starts another one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from outlying import sentences as say
from outlying.api import Explainer
from outlying.detect.api import detect
from outlying.errors import OutlyingError, Setting, SourceError
from outlying.options import Options
from outlying.parsing.columns import as_read
from outlying.results.detections import Counts, Detection, Flagged
from outlying.results.findings import Findings
from outlying.sources.local import TooManyRowsError, collected
from outlying.table.naming import naming_columns
from outlying.table.selection import select_any
from outlying.table.table import SkippedColumn, SkipReason, Table
from outlying.table.targets import RowRequest
from outlying.web import LimitError
from outlying.web.browse import Browser, ColumnOverview, read_copy, write_copy
from outlying.web.queries import OptionsQuery
from outlying.web.sourcing import Sourcing


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """What a page shows of a table before any row."""

    source: str
    rows: int
    columns: tuple[ColumnOverview, ...]
    skipped: tuple[SkippedColumn, ...]
    notes: tuple[str, ...]
    is_streamed: bool
    choices: tuple[tuple[str, tuple[str, ...]], ...] = ()  # how else it could be read
    declarable: frozenset[str] = frozenset()  # skipped columns that are compared if declared
    naming: tuple[str, ...] = ()  # columns that name rows


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


@dataclasses.dataclass(frozen=True, slots=True)
class Detected:
    """The rows that stand out, and why."""

    detection: Detection
    options: Options

    @property
    def explained(self) -> tuple[Findings, ...]:
        """The findings of all rows that stand out."""
        return tuple(row.findings for row in self.detection.rows if row.findings is not None)


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


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """How many rows are odd, or one of them, told before all are known."""

    task: str
    item: Counts | Flagged


Message = Progress | Found | Done | Failed

# --- the process -----------------------------------------------------------------------------

_POLITE = 5  # how far threads that explain stand back behind those who look around
_LONGEST_HEADER = 4 << 20  # bytes
_KEPT = 3  # populations, each prepared with options of its own
#: Why columns are skipped that take part where their type is declared.
_DECLARABLE = (
    SkipReason.IDENTIFIER,
    SkipReason.TOO_MANY_TEXTS,
    SkipReason.ROW_NUMBER,
    SkipReason.COPY,
)
_SELDOM = 0.1  # seconds between two words of progress


class _CancelledError(Exception):
    """Nobody wants the result any more."""


def main(connection: Connection, spec: WorkerSpec) -> None:
    """Hold the table until the server closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    tempfile.tempdir = str(spec.folder)
    worker = Worker(connection, spec)
    if worker.attempt(spec.task, worker.read):
        with contextlib.suppress(EOFError, OSError):
            while True:
                worker.take(*connection.recv())
    os._exit(0)  # at once, whatever threads are at


class Worker:
    """The table, its populations by options, and what is being done."""

    def __init__(self, connection: Connection, spec: WorkerSpec) -> None:
        self._connection, self._spec = connection, spec
        self._sending, self._making = threading.Lock(), threading.Lock()
        self._cancelled: set[str] = set()
        self._data: Any = None
        self._facts: Facts
        self._prepared = functools.lru_cache(_KEPT)(self._prepare)

    def take(self, name: str, task: Task | None) -> None:
        """Begin a task, or end one: that is what None means."""
        if task is None:
            self._cancelled.add(name)
            return
        threading.Thread(target=self._work, args=(name, task), daemon=True).start()

    def _work(self, name: str, task: Task) -> None:
        if sys.platform == "linux":  # where each thread has a priority of its own
            os.nice(_POLITE)
        self.attempt(name, lambda tell: self._done(task, tell))

    def attempt(self, name: str, work: Callable[[ProgressReporter], Any]) -> bool:
        """Work on a task, and send what comes of it, be it an error."""
        try:
            answer: Done | Failed = Done(name, work(ProgressReporter(self, name)))
        except _CancelledError:
            answer = Failed(name, "cancelled", is_cancelled=True)
        except LimitError as error:
            answer = Failed(name, str(error), limit=error.limit)
        except OutlyingError as error:
            said = self._without_paths(error.shell_message())
            answer = Failed(name, said, remedies=error.settings)
        except MemoryError:
            answer = Failed(name, "there is not enough memory for it")
        except Exception as error:
            said = f"failed unexpectedly: {type(error).__name__}: {error}"
            answer = Failed(name, self._without_paths(said)[:500])
        self.send(answer)
        return isinstance(answer, Done)

    def _without_paths(self, said: str) -> str:
        """Return a message of an engine without the places of our files, which are nobody's."""
        sourcing = self._spec.sourcing
        if sourcing.file is not None:
            said = said.replace(str(sourcing.file), sourcing.name)
        return said.replace(f"{self._spec.folder}/", "")

    def send(self, message: Message) -> None:
        """Tell the server something; where it is gone, nobody needs this process."""
        try:
            with self._sending:
                self._connection.send(message)
        except OSError:
            os._exit(1)

    def is_cancelled(self, name: str) -> bool:
        """Return whether the server wants a task no more."""
        return name in self._cancelled

    def read(self, tell: ProgressReporter) -> Facts:
        """Read the table, and write a copy of it to look around in."""
        tell.say(f"reading {self._spec.sourcing.size}".strip())
        self._check_header()
        self._data = self._spec.sourcing.open()
        known = self._spec.known
        if known is None:
            is_streamed = not isinstance(self._data, Table)
            known = self._copied(self._collected(tell) if is_streamed else self._data, tell)
        self._facts = known
        return known

    def _check_header(self) -> None:
        """Refuse a text with far too many columns before it is read, which would take minutes."""
        path, most = self._spec.sourcing.file, self._spec.most_columns
        if path is None:
            return
        with path.open("rb") as stream:
            line = stream.readline(_LONGEST_HEADER)
        columns = 1 + max(line.count(delimiter) for delimiter in (b",", b";", b"\t"))
        if b"\0" not in line and columns > most:
            name = self._spec.sourcing.name
            raise LimitError(
                f"{name} has {columns:,} columns, this server takes {most:,}", "columns"
            )

    def _copied(self, table: Table, tell: ProgressReporter) -> Facts:
        self._check_size(table)
        tell.say(f"preparing {table.rows:,} rows")
        is_streamed = not isinstance(self._data, Table)
        table = as_read(table, Options())  # as it is compared
        facts = self._written(table, tell, with_texts=is_streamed)
        left_out = select_any(table, Options()).skipped
        return Facts(
            table.source,
            table.rows,
            facts,
            left_out,
            table.notes,
            is_streamed,
            choices=self._spec.sourcing.choices(),
            declarable=frozenset(item.name for item in left_out if item.why in _DECLARABLE),
            naming=naming_columns(table, left_out),
        )

    def _written(
        self, table: Table, tell: ProgressReporter, *, with_texts: bool
    ) -> tuple[ColumnOverview, ...]:
        """Write the copy; where that fails, nothing of it is left."""
        copy = self._spec.copy
        try:
            return write_copy(table, copy, tell, with_texts=with_texts)
        except OSError as error:
            shutil.rmtree(copy, ignore_errors=True)
            raise SourceError(
                f"a copy of {table.source} cannot be written to the folder for temporary files: "
                f"{error.strerror or error}; start the server with TMPDIR set to one with more room"
            ) from None

    def _collected(self, tell: ProgressReporter) -> Table:
        try:
            return collected(self._data, self._spec.most_rows, tell)
        except TooManyRowsError as error:
            raise LimitError(str(error), "rows") from None

    def _check_size(self, table: Table) -> None:
        for what, count, most in (
            ("rows", table.rows, self._spec.most_rows),
            ("columns", len(table.columns) + len(table.skipped), self._spec.most_columns),
        ):
            if count > most:
                said = f"{table.source} has {count:,} {what}, this server takes {most:,}"
                raise LimitError(said, what)

    def _done(self, task: Task, tell: ProgressReporter) -> Findings | Detected:
        explainer = self._explainer(task)
        if isinstance(task, Explain):
            tell.say("judging all rows")
            explainer.prepare(tell, workers=1)
            tell.say("explaining")
            asked = self._asked(task)
            return next(explainer.explained(explainer.targets(asked, tell, 1), 1, tell))
        return detected(explainer, task, tell, is_copy=self._facts.is_streamed)

    def _asked(self, task: Explain) -> RowRequest:
        """Name what to explain; rows of a stream have no position, and are named by values."""
        if task.object is not None:
            return RowRequest(objects=[dict(task.object)])
        if not self._facts.is_streamed:
            return RowRequest(rows=[task.row])
        facts = self._facts
        with contextlib.closing(
            Browser(self._spec.copy, facts.source, facts.rows, facts.columns)
        ) as browser:
            return RowRequest(wheres=[browser.key(int(task.row or 0) + 1)])

    def _explainer(self, task: Task) -> Explainer:
        """Return the population with these options; the last few are kept."""
        with self._making:  # so that two tasks do not prepare the same
            return self._prepared(
                task.options, isinstance(task, Detect) and self._facts.is_streamed
            )

    def _prepare(self, options: OptionsQuery, is_copy: bool) -> Explainer:
        data = copied_table(self._spec.copy, self._facts) if is_copy else self._data
        return Explainer(data, **options.keywords)


class ProgressReporter:
    """Tells the server how far a task is; ends it where nobody wants it any more."""

    def __init__(self, worker: Worker, name: str) -> None:
        self._worker, self._name, self._stage, self._last = worker, name, "", 0.0

    def __call__(self, done: int, total: int) -> None:
        """Say how far this stage is."""
        if self._worker.is_cancelled(self._name):
            raise _CancelledError
        now = time.monotonic()
        if now - self._last > _SELDOM:
            self._last = now
            self._worker.send(Progress(self._name, self._stage, int(done), int(total)))

    def say(self, stage: str) -> None:
        """Say what begins now."""
        self.stage(stage, 0, 0)

    def begin(self, detection: Detection, rows: Sequence[Any]) -> None:
        """Tell how many rows are odd before any is explained."""
        if detection.counts is not None:
            self._worker.send(Found(self._name, detection.counts))
        self.stage("explaining", 0, len(rows))

    def add(self, flagged: Flagged) -> None:
        """Tell an odd row before the others are explained."""
        self._worker.send(Found(self._name, dataclasses.replace(flagged, findings=None)))

    def stage(self, stage: str, done: int, total: int) -> None:
        """Say what begins now, and how far the whole is."""
        if stage != self._stage:
            self._stage, self._last = stage, 0.0
        self(done, total)


def detected(
    explainer: Explainer, task: Detect, tell: ProgressReporter, *, is_copy: bool
) -> Detected:
    """Rank all rows, or those of a stream's copy, and explain the oddest; each is told at once."""
    tell.say("judging all rows")
    detection = detect(explainer, top=task.top, workers=1, progress=tell, watcher=tell)
    notes = (say.PAGE_OF_COPY, *detection.notes) if is_copy else detection.notes
    no_scores = np.zeros(0)  # of a million rows nobody asks for all
    detection = dataclasses.replace(
        detection, notes=notes, scores=no_scores, combination_scores=no_scores
    )
    return Detected(detection, explainer.options)


def copied_table(folder: Path, facts: Facts) -> Table:
    """Read the copy of a table back; columns that cannot be used are not in it.

    It is read from texts once more, and tells that itself: notes of the table would be doubled.
    """
    names = {column.name for column in facts.columns}
    skipped = tuple(item for item in facts.skipped if item.name not in names)
    return Table(read_copy(folder, facts.columns), facts.rows, facts.source, skipped)
