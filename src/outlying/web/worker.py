"""A worker process: it holds one table, prepared once, and explains or ranks its rows.

Tasks run in threads, which share what is prepared; each is stopped through its progress. Whatever a
table does to this process, the server lives on and starts another one.
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
from outlying.detect.rules import explained_set
from outlying.errors import OutlyingError, Setting, SourceError
from outlying.options import Options
from outlying.parsing.columns import as_read
from outlying.results.detections import Counts, Detection, Flagged
from outlying.results.findings import Findings
from outlying.results.sets import SetExplanation
from outlying.sources.passes import TooManyRowsError, collected
from outlying.table.selection import select_any
from outlying.table.table import SkippedColumn, SkipReason, Table
from outlying.table.targets import RowRequest, naming_columns
from outlying.web import LimitError
from outlying.web.browse import Browser, ColumnOverview, write_copy
from outlying.web.queries import TableQuery, own_values
from outlying.web.sourcing import Sourcing


@dataclasses.dataclass(frozen=True, slots=True)
class TableFacts:
    """What a page shows of a table before any row."""

    source: str = ""
    rows: int = 0
    columns: tuple[ColumnOverview, ...] = ()
    skipped: tuple[SkippedColumn, ...] = ()
    notes: tuple[str, ...] = ()
    is_streamed: bool = False
    choices: tuple[tuple[str, tuple[str, ...]], ...] = ()  # how else it could be read
    declarable: frozenset[str] = frozenset()  # skipped columns that are compared if declared
    naming: tuple[str, ...] = ()  # columns that name rows


@dataclasses.dataclass(frozen=True, slots=True)
class WorkerSpec:
    """The table that a worker holds, and its copy; where the facts are `known`, there is one."""

    task: str
    sourcing: Sourcing
    folder: Path
    copy: Path
    known: TableFacts | None
    most_rows: int
    most_columns: int


@dataclasses.dataclass(frozen=True, slots=True)
class ExplainTask:
    """Explain one row, by its position in the copy of the table, or a new object."""

    options: Options
    row: int | None = None
    object: tuple[tuple[str, Any], ...] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class DetectTask:
    """Find the rows that stand out, and explain them."""

    options: Options
    top: int


@dataclasses.dataclass(frozen=True, slots=True)
class CompareTask:
    """Say what sets some rows apart from all others; columns that name them are not compared."""

    options: Options
    rows: TableQuery

    @property
    def compared(self) -> Options:
        """The options, without the columns that name the rows."""
        named = (item.attribute for item in self.rows.filters)
        exclude = tuple(dict.fromkeys((*self.options.exclude, *named)))
        return dataclasses.replace(self.options, exclude=exclude)


Task = ExplainTask | DetectTask | CompareTask


@dataclasses.dataclass(frozen=True, slots=True)
class News:
    """What is told of a task: how far it is, what it has found so far, or what came of it."""

    task: str
    stage: str = ""
    done: int = 0
    total: int = 0
    found: Counts | Flagged | None = None  # how many rows are odd, or one of them
    result: TableFacts | Findings | Detection | SetExplanation | None = None
    error: str | None = None  # why there is no result
    remedies: tuple[Setting, ...] = ()  # options that would help


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
                name, task = connection.recv()
                if task is None:
                    worker.cancelled.add(name)
                else:
                    threading.Thread(target=worker.work, args=(name, task), daemon=True).start()
    os._exit(0)  # at once, whatever threads are at


class Worker:
    """The table, its populations by options, and what is being done."""

    def __init__(self, connection: Connection, spec: WorkerSpec) -> None:
        self._connection, self._spec = connection, spec
        self._sending, self._making = threading.Lock(), threading.Lock()
        self.cancelled: set[str] = set()
        self._data: Any = None
        self._facts = TableFacts()
        self._prepared = functools.lru_cache(_KEPT)(self._prepare)

    def work(self, name: str, task: Task) -> None:
        """Work on a task in a thread of its own."""
        if sys.platform == "linux":  # where each thread has a priority of its own
            os.nice(_POLITE)
        self.attempt(name, functools.partial(self._done, task))

    def attempt(self, name: str, work: Callable[[ProgressReporter], Any]) -> bool:
        """Work on a task, and send what comes of it, be it an error."""
        remedies: tuple[Setting, ...] = ()
        try:
            self.send(News(name, result=work(ProgressReporter(self, name))))
            return True
        except _CancelledError:
            said = "cancelled"
        except OutlyingError as error:
            said, remedies = self._without_paths(error.shell_message()), error.settings
        except MemoryError:
            said = "there is not enough memory for it"
        except Exception as error:
            said = f"failed unexpectedly: {type(error).__name__}: {error}"
            said = self._without_paths(said)[:500]
        self.send(News(name, error=said, remedies=remedies))
        return False

    def _without_paths(self, said: str) -> str:
        """Return a message of an engine without the places of our files, which are nobody's."""
        sourcing = self._spec.sourcing
        if sourcing.file is not None:
            said = said.replace(str(sourcing.file), sourcing.name)
        return said.replace(f"{self._spec.folder}/", "")

    def send(self, news: News) -> None:
        """Tell the server something; where it is gone, nobody needs this process."""
        try:
            with self._sending:
                self._connection.send(news)
        except OSError:
            os._exit(1)

    # --- reading --------------------------------------------------------------------------------

    def read(self, tell: ProgressReporter) -> TableFacts:
        """Read the table, and write a copy of it to look around in."""
        spec = self._spec
        tell.say(f"reading {spec.sourcing.size}".strip())
        self._check_header()
        self._data = spec.sourcing.open()
        if spec.known is not None:
            self._facts = spec.known
            return spec.known
        table = self._data
        if not isinstance(table, Table):
            try:
                table = collected(self._data, spec.most_rows, tell)
            except TooManyRowsError as error:
                raise LimitError(str(error), "rows") from None
        self._check_limit(table.source, "rows", table.rows, spec.most_rows)
        columns = len(table.columns) + len(table.skipped)
        self._check_limit(table.source, "columns", columns, spec.most_columns)
        self._facts = self._copied(table, tell)
        return self._facts

    def _check_header(self) -> None:
        """Refuse a text with far too many columns before it is read, which would take minutes."""
        path = self._spec.sourcing.file
        if path is None:
            return
        with path.open("rb") as stream:
            line = stream.readline(_LONGEST_HEADER)
        if b"\0" not in line:
            columns = 1 + max(line.count(delimiter) for delimiter in (b",", b";", b"\t"))
            most = self._spec.most_columns
            self._check_limit(self._spec.sourcing.name, "columns", columns, most)

    @staticmethod
    def _check_limit(name: str, what: str, count: int, most: int) -> None:
        if count > most:
            raise LimitError(f"{name} has {count:,} {what}, this server takes {most:,}", what)

    def _copied(self, table: Table, tell: ProgressReporter) -> TableFacts:
        """Write the copy; where that fails, nothing of it is left."""
        tell.say(f"preparing {table.rows:,} rows")
        is_streamed, copy = table is not self._data, self._spec.copy
        table = as_read(table, Options())  # as it is compared
        try:
            columns = write_copy(table, copy, tell, with_texts=is_streamed)
        except OSError as error:
            shutil.rmtree(copy, ignore_errors=True)
            raise SourceError(
                f"a copy of {table.source} cannot be written to the folder for temporary files: "
                f"{error.strerror or error}; start the server with TMPDIR set to one with more room"
            ) from None
        left_out = select_any(table, Options()).skipped
        return TableFacts(
            table.source,
            table.rows,
            columns,
            left_out,
            table.notes,
            is_streamed,
            choices=self._spec.sourcing.choices(),
            declarable=frozenset(item.name for item in left_out if item.why in _DECLARABLE),
            naming=naming_columns(table, left_out),
        )

    # --- explaining -----------------------------------------------------------------------------

    def _done(self, task: Task, tell: ProgressReporter) -> Findings | Detection | SetExplanation:
        is_copy = not isinstance(task, ExplainTask) and self._facts.is_streamed
        if isinstance(task, CompareTask):
            tell.say("comparing")
            inside = np.zeros(self._facts.rows, dtype=bool)
            with self._browser() as browser:
                inside[np.array(browser.numbers(task.rows), dtype=np.int64) - 1] = True
            with self._making:
                explainer = self._prepared(task.compared, is_copy)
            return explained_set(explainer, inside)
        with self._making:  # so that two tasks do not prepare the same
            explainer = self._prepared(task.options, is_copy)
        if isinstance(task, DetectTask):
            return detected(explainer, task, tell, is_copy=is_copy)
        tell.say("judging all rows")
        explainer.prepare(tell, workers=1)
        tell.say("explaining")
        asked = self._asked(task)
        return next(explainer.explained(explainer.targets(asked, tell, 1), 1, tell))

    def _asked(self, task: ExplainTask) -> RowRequest:
        """Name what to explain; rows of a stream have no position, and are named by values."""
        facts = self._facts
        if task.object is not None:
            return RowRequest(objects=[dict(task.object)])
        if not facts.is_streamed:
            return RowRequest(rows=[task.row])
        with self._browser() as browser:
            return RowRequest(wheres=[browser.key(int(task.row or 0) + 1)])

    def _browser(self) -> contextlib.closing[Browser]:
        facts = self._facts
        opened = Browser(self._spec.copy, facts.source, facts.rows, facts.columns)
        return contextlib.closing(opened)

    def _prepare(self, options: Options, is_copy: bool) -> Explainer:
        data = copied_table(self._spec.copy, self._facts) if is_copy else self._data
        return Explainer(data, **own_values(options))


class ProgressReporter:
    """Tells the server how far a task is; ends it where nobody wants it any more."""

    def __init__(self, worker: Worker, name: str) -> None:
        self._worker, self._name, self._stage, self._last = worker, name, "", 0.0

    def __call__(self, done: int, total: int) -> None:
        """Say how far this stage is."""
        if self._name in self._worker.cancelled:
            raise _CancelledError
        now = time.monotonic()
        if now - self._last > _SELDOM:
            self._last = now
            self._worker.send(News(self._name, self._stage, int(done), int(total)))

    def say(self, stage: str, total: int = 0) -> None:
        """Say what begins now."""
        if stage != self._stage:
            self._stage, self._last = stage, 0.0
        self(0, total)

    def begin(self, detection: Detection, rows: Sequence[Any]) -> None:
        """Tell how many rows are odd before any is explained."""
        if detection.counts is not None:
            self._worker.send(News(self._name, found=detection.counts))
        self.say("explaining", len(rows))

    def add(self, flagged: Flagged) -> None:
        """Tell an odd row before the others are explained."""
        self._worker.send(News(self._name, found=dataclasses.replace(flagged, findings=None)))


def detected(
    explainer: Explainer, task: DetectTask, tell: ProgressReporter, *, is_copy: bool
) -> Detection:
    """Rank all rows, or those of a stream's copy, and explain the oddest; each is told at once."""
    tell.say("judging all rows")
    detection = detect(explainer, top=task.top, workers=1, progress=tell, watcher=tell)
    notes = (say.PAGE_OF_COPY, *detection.notes) if is_copy else detection.notes
    no_scores = np.zeros(0)  # of a million rows nobody asks for all
    return dataclasses.replace(
        detection, notes=notes, scores=no_scores, combination_scores=no_scores
    )


def copied_table(folder: Path, facts: TableFacts) -> Table:
    """Read the copy of a table back, without its notes: texts are read once more, and noted."""
    names = {column.name for column in facts.columns}
    skipped = tuple(item for item in facts.skipped if item.name not in names)
    with contextlib.closing(Browser(folder, "", 0, facts.columns)) as browser:
        columns = tuple(browser.source_column(place) for place in range(len(facts.columns)))
    return Table(columns, facts.rows, facts.source, skipped)
