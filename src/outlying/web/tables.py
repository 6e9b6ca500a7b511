"""The tables of a server: each read by a process of its own, and copied once to be looked at."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio.to_thread
from starlette.requests import Request

from outlying.checks import check_names, check_whole
from outlying.errors import ObjectError, OptionError
from outlying.results.findings import Findings
from outlying.results.wording import short_name
from outlying.table.table import SkippedColumn
from outlying.table.values import Form, Value, read_text
from outlying.web import BusyError, Limits, NotFoundError, NotReadyError
from outlying.web.browse import Browser, ColumnOverview, Rows
from outlying.web.jobs import Job, Jobs, Process
from outlying.web.queries import DETECT_OPTIONS, Filter, OptionsQuery, TableQuery, Wanted
from outlying.web.sourcing import Sourcing, Workspace
from outlying.web.worker import Detect, Explain, Facts, Failed, Message, Task, WorkerSpec

State = Literal["closed", "reading", "ready", "failed"]
Result = TypeVar("Result")

_AGAIN = "again"  # the reading of a table that is known already
TWINS = 3
"""Rows alike that are shown."""
MOST_FLAGGED = 200
"""Rows that one detection explains."""
_PROCESSES = 6  # that hold tables at the same time
_EXPLAINED = 5_000  # rows of a table whose blame is remembered
_FAINT = 4  # a row of which nothing stands out has a quarter of the shade
_THREADS = anyio.CapacityLimiter(8)  # that look around in copies at the same time


@dataclasses.dataclass(frozen=True, slots=True)
class PageRow:
    """A row as a page shows it; `blame`: how much each cell is to blame, as a share of the most.

    `odd` names the columns that stand out, of a row that was explained.
    """

    row: int
    values: list[Value]
    blame: dict[str, float] | None = None
    odd: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a table, of `total` that were asked for."""

    total: int
    offset: int
    limit: int
    columns: list[str]
    rows: list[PageRow]


@dataclasses.dataclass(frozen=True, slots=True)
class Twins:
    """What an ordinary row looks like: the nearest typical value, and rows alike that have one."""

    ordinary_at: Value
    twins: list[PageRow]
    filters: list[Filter]
    sentence: str


@dataclasses.dataclass(frozen=True, slots=True)
class RowBlame:
    """What is remembered of an explained row; see PageRow."""

    shares: dict[str, float]
    odd: tuple[str, ...]


@dataclasses.dataclass(eq=False, slots=True)
class TableEntry:
    """A table that the server knows, whether it has been read or not."""

    id: str
    sourcing: Sourcing
    copy: Path
    held: object = None
    state: State = "closed"
    error: str | None = None
    job: str | None = None
    facts: Facts | None = None
    browser: Browser | None = None
    process: Process | None = None
    explained: dict[int, RowBlame] = dataclasses.field(default_factory=dict)
    fine: set[int] = dataclasses.field(default_factory=set)  # rows that a reader marked as such

    @property
    def name(self) -> str:
        """What people call it: text of unknown origin."""
        return self.sourcing.title

    @property
    def is_upload(self) -> bool:
        """Whether a client has sent it."""
        return self.sourcing.is_upload

    @property
    def rows(self) -> int:
        """The number of rows; 0 before it is read."""
        return 0 if self.facts is None else self.facts.rows

    @property
    def columns(self) -> tuple[ColumnOverview, ...]:
        """The columns that can be used."""
        return () if self.facts is None else self.facts.columns

    @property
    def skipped(self) -> tuple[SkippedColumn, ...]:
        """The columns that are not compared unless that is asked for, and why."""
        return () if self.facts is None else self.facts.skipped

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know about how it was read."""
        return () if self.facts is None else self.facts.notes

    @property
    def is_streamed(self) -> bool:
        """Whether it is explained in passes over all its rows."""
        return self.facts is not None and self.facts.is_streamed

    def name_of(self, values: Mapping[str, Value]) -> str:
        """Return what names a row; nothing where no column does."""
        names = () if self.facts is None else self.facts.naming
        return short_name([(name, values[name]) for name in names if name in values])

    def ready(self) -> Browser:
        """Return the copy to look around in."""
        if self.browser is None:
            raise NotReadyError(self.error or f"{self.name} is {self.state}; open it first")
        return self.browser


class Tables:
    """All tables of a server."""

    def __init__(self, workspace: Workspace, limits: Limits, jobs: Jobs) -> None:
        self._workspace, self._limits, self._jobs = workspace, limits, jobs
        self._entries: dict[str, TableEntry] = {}
        self._expected = 0  # tables that are being sent
        jobs.on_done = self._finished

    def list(self) -> list[TableEntry]:
        """Return all tables: those given first, then uploads."""
        return list(self._entries.values())

    def get(self, name: str) -> TableEntry:
        """Return a table by its id."""
        if name not in self._entries:
            raise NotFoundError("there is no such table (any more)")
        return self._entries[name]

    def check_room(self) -> None:
        """Refuse one more table where there are as many as allowed; failed uploads make way."""
        count = len(self._entries) - len(self._failed_uploads()) + self._expected
        if count >= self._limits.tables:
            raise BusyError(f"{count:,} tables are open or being sent", "tables")

    @contextlib.contextmanager
    def expecting(self) -> Iterator[None]:
        """Keep a place for a table while it is sent."""
        self.check_room()
        self._expected += 1
        try:
            yield
        finally:
            self._expected -= 1

    def _failed_uploads(self) -> Sequence[str]:
        entries = self._entries.values()
        return [entry.id for entry in entries if entry.is_upload and entry.state == "failed"]

    def add(self, sourcing: Sourcing, held: object = None) -> TableEntry:
        """Take in a table; it is read when it is opened."""
        self.check_room()
        if len(self._entries) >= self._limits.tables:
            self.remove(self._failed_uploads()[0])
        name = _unused(_slug(sourcing.title), self._entries)
        entry = TableEntry(name, sourcing, self._workspace.new_path(".copy"), held)
        self._entries[name] = entry
        return entry

    def remove(self, name: str) -> TableEntry:
        """Forget an upload, and all that was made of it."""
        entry = self.get(name)
        if not entry.is_upload:
            raise NotReadyError(f"{entry.name} was given when the server was started: it stays")
        del self._entries[name]
        self._jobs.forget(name)
        self._close(entry)
        shutil.rmtree(entry.copy, ignore_errors=True)
        if entry.sourcing.file is not None:
            entry.sourcing.file.unlink(missing_ok=True)
        return entry

    def close(self) -> None:
        """End all processes."""
        for entry in self._entries.values():
            if entry.process is not None:
                entry.process.kill("the server was stopped")
        for entry in self._entries.values():
            self._close(entry)

    def _close(self, entry: TableEntry) -> None:
        if entry.process is not None:
            entry.process.stop()
        if entry.browser is not None:
            entry.browser.close()

    def open(self, name: str) -> TableEntry:
        """Begin to read a table, unless that was done."""
        entry = self.get(name)
        if entry.state == "closed":
            entry.state, entry.error = "reading", None
            try:
                job = self._jobs.job_for("read", name, None, lambda job: self._reading(entry, job))
            except BusyError:
                entry.state = "closed"
                raise
            entry.job = job.id
        return entry

    def read_as(self, name: str, said: Mapping[str, str | None]) -> TableEntry:
        """Read a table once more in another way; one that could not be read also in the same."""
        entry = self.get(name)
        sourcing = entry.sourcing.read_as(said)
        if entry.state == "ready" and sourcing != entry.sourcing:
            self._jobs.forget(name)
            self._close(entry)
            entry.facts = entry.browser = entry.process = None
            entry.explained.clear()
            entry.fine.clear()
            entry.state = "closed"
        if entry.state in ("closed", "failed"):
            entry.sourcing = sourcing
        return self.reopen(name)

    def reopen(self, name: str) -> TableEntry:
        """Read a table whose reading has failed once more."""
        entry = self.get(name)
        if entry.state == "failed":
            entry.state = "closed"
        return self.open(name)

    async def page(self, name: str, query: TableQuery) -> Page:
        """Return a page of rows."""
        entry = self.get(name)
        found = await _apart(entry.ready().page, query)
        names = [column.name for column in entry.columns]
        return Page(found.total, query.offset, query.limit, names, _page_rows(entry, found))

    async def values(self, name: str, number: int) -> dict[str, Value]:
        """Return the values of a row by column."""
        entry = self.get(name)
        browser = entry.ready()
        check_number(entry, number)
        found = await _apart(browser.some, [number])
        return dict(zip((column.name for column in entry.columns), found.cells[0], strict=True))

    def mark(self, name: str, number: int, *, is_fine: bool) -> None:
        """Take note that a reader finds nothing wrong with a row, or does so no more."""
        entry = self.get(name)
        check_number(entry, number)
        (entry.fine.add if is_fine else entry.fine.discard)(number)

    async def twins(self, name: str, findings: Findings, place: int) -> Twins:
        """Return what would be ordinary in place of a story, and rows that are."""
        entry = self.get(name)
        browser = entry.ready()
        if not 0 <= place < len(findings.stories):
            raise NotFoundError(f"there is no story {place + 1}")
        story = findings.stories[place]
        forms = {column.name: column.form for column in entry.columns}
        wanted = Wanted.of(findings, story, forms)
        found = await _apart(browser.first_by, wanted.filters, wanted.distance, wanted.row, TWINS)
        return Twins(wanted.value, _page_rows(entry, found), wanted.group, story.sentence)

    def explain(
        self,
        table: str,
        *,
        number: int | None = None,
        values: Mapping[str, Any] | None = None,
        options: OptionsQuery | None = None,
        again: bool = False,
    ) -> Job:
        """Explain a row by its number from 1, or a new object by its values.

        The same request has the same job; `again` begins one that has failed once more.
        """
        chosen, entry = options or OptionsQuery(), self.get(table)
        entry.ready()
        if values is not None:
            typed = tuple(_typed(values, entry, chosen).items())
            return self._job_for(table, Explain(chosen, object=typed), again=again)
        check_number(entry, number)
        return self._job_for(table, Explain(chosen, row=int(number or 0) - 1), again=again)

    def detect(
        self,
        table: str,
        *,
        top: int = 10,
        options: OptionsQuery | None = None,
        again: bool = False,
    ) -> Job:
        """Find the rows that stand out, and explain them."""
        chosen = options or OptionsQuery()
        check_names(dict(chosen.given), DETECT_OPTIONS)
        if check_whole("top", top, 1) > MOST_FLAGGED:
            raise OptionError(f"top is {top}; allowed: 1 to {MOST_FLAGGED}")
        return self._job_for(table, Detect(chosen, top), again=again)

    def _job_for(self, name: str, task: Task, *, again: bool) -> Job:
        """Return the job that works on a task, begun unless there is one."""
        entry = self.get(name)
        entry.ready()
        kind: Literal["explain", "detect"] = "explain" if isinstance(task, Explain) else "detect"
        start = functools.partial(self._begun, entry, task)
        return self._jobs.job_for(kind, name, task, start, again=again)

    # --- processes ------------------------------------------------------------------------------

    def _reading(self, entry: TableEntry, job: Job) -> Process:
        shutil.rmtree(entry.copy, ignore_errors=True)
        entry.process = self._started(entry, job.id)
        return entry.process

    def _begun(self, entry: TableEntry, task: Task, job: Job) -> Process:
        """Give a task to the process of a table; where that is gone, another reads it again."""
        if entry.process is None or not entry.process.is_alive:
            entry.process = self._started(entry, _AGAIN)
        entry.process.run(job.id, task)
        return entry.process

    def _started(self, entry: TableEntry, task: str) -> Process:
        self._make_room()
        most, folder = (self._limits.rows, self._limits.columns), self._workspace.folder
        spec = WorkerSpec(task, entry.sourcing, folder, entry.copy, entry.facts, *most)
        return Process(spec, self._heard, self._died)

    def _make_room(self) -> None:
        """End processes that are idle where there are many; their tables are read again."""
        busy = {job.table for job in self._jobs.list() if not job.is_over}
        alive = [entry for entry in self._entries.values() if entry.process is not None]
        idle = [entry for entry in alive if entry.id not in busy]
        for entry in idle[: max(0, len(alive) - _PROCESSES + 1)]:
            if entry.process is not None:
                entry.process.kill("it was idle")
            entry.process = None

    def _heard(self, process: Process, message: Message) -> None:
        if isinstance(message, Failed) and message.task == _AGAIN:
            process.kill(message.why)
            return
        self._jobs.heard(process, message)
        self._see_failed()

    def _died(self, process: Process, why: str) -> None:
        for entry in self._entries.values():
            if entry.process is process:
                entry.process = None
        self._jobs.died(process, why)
        self._see_failed()

    def _see_failed(self) -> None:
        """Say of tables whose reading came to nothing why that is."""
        for entry in self._entries.values():
            if entry.state != "reading" or entry.job is None:
                continue
            with contextlib.suppress(NotFoundError):
                job = self._jobs.get(entry.job)
                if job.state in ("failed", "cancelled"):
                    entry.state, entry.error = "failed", job.error

    def _finished(self, job: Job) -> None:
        """Keep what a job has found out about its table."""
        entry = self._entries.get(job.table)
        if entry is None:
            return
        if isinstance(job.result, Facts):
            entry.facts = job.result
            found = job.result
            entry.browser = Browser(entry.copy, found.source, found.rows, found.columns)
            entry.state = "ready"
            return
        for findings in job.explained:
            if findings.row is not None:
                _remember(entry, findings.row + 1, findings)


def check_number(entry: TableEntry, number: int | None) -> None:
    """Refuse the number of a row that does not exist."""
    if number is None or not 1 <= number <= entry.rows:
        raise NotFoundError(f"row {number} does not exist: {entry.name} has {entry.rows:,} rows")


def _remember(entry: TableEntry, number: int, findings: Findings) -> None:
    most = max(findings.blame.values(), default=0.0) * (1 if findings.stands_out else _FAINT)
    shares = {name: round(share / most, 3) for name, share in findings.blame.items() if share > 0}
    odd = dict.fromkeys(story.culprit for story in findings.stories if story.stands_out)
    entry.explained.pop(number, None)
    entry.explained[number] = RowBlame(shares if most > 0 else {}, tuple(odd))
    while len(entry.explained) > _EXPLAINED:
        entry.explained.pop(next(iter(entry.explained)))


def _page_rows(entry: TableEntry, found: Rows) -> list[PageRow]:
    rows = []
    for number, cells in zip(found.numbers, found.cells, strict=True):
        known = entry.explained.get(number)
        told = (None, ()) if known is None else (known.shares, known.odd)
        rows.append(PageRow(number, cells, *told))
    return rows


async def _apart(work: Callable[..., Result], *given: Any) -> Result:
    """Work in a thread, so that others are served meanwhile; a server that ends leaves it alone."""
    return await anyio.to_thread.run_sync(work, *given, limiter=_THREADS, abandon_on_cancel=True)


def _slug(title: str) -> str:
    """Return a name for addresses: short, lower case, nothing but letters, digits and dashes."""
    stem = re.sub(r"(\.[A-Za-z0-9]{1,8}){1,2}$", "", title)
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:40] or "table"


def _unused(name: str, taken: Iterable[str]) -> str:
    names: Sequence[str] = list(taken)
    number = 2
    found = name
    while found in names:
        found, number = f"{name}-{number}", number + 1
    return found


def _typed(values: Mapping[str, Any], entry: TableEntry, options: OptionsQuery) -> dict[str, Any]:
    """Read texts as what their columns hold; other values stay as they are."""
    declared = dict(options.options.types)
    forms: dict[str, Form] = {}
    mixed = {facts.name for facts in entry.columns if facts.unread}
    for facts in entry.columns:
        kind = declared.get(facts.name, facts.type)
        is_number = kind == "numeric" and facts.type == "categorical"
        forms[facts.name] = "number" if is_number else facts.form
        if kind == "categorical" and facts.type != "categorical":
            forms[facts.name] = "text"
    found = {}
    for name, value in values.items():
        try:
            is_text = isinstance(value, str) and name in forms
            found[name] = read_text(forms[name], value.strip()) if is_text else value
        except ValueError as error:
            if name in mixed:  # a text among numbers is what some rows hold, and can be odd
                found[name] = value
                continue
            raise ObjectError(f"the object's {name!r} is {value!r}; it expects {error}") from None
        if not isinstance(value, (str, int, float, bool, type(None))):
            raise ObjectError(f"the object's {name!r} is no text, number, true, false or null")
    return found


# --- the server as pages and API see it ------------------------------------------------------


class Service:
    """One server: its private folder, its tables, its jobs, its limits."""

    def __init__(
        self,
        workspace: Workspace,
        limits: Limits | None = None,
        sources: Sequence[tuple[Sourcing, Any]] = (),
    ) -> None:
        self.workspace, self.limits = workspace, limits or Limits()
        self.jobs = Jobs(self.limits)
        self.tables = Tables(workspace, self.limits, self.jobs)
        for sourcing, held in sources:
            self.tables.add(sourcing, held)

    def close(self) -> None:
        """End all that runs."""
        self.tables.close()


def service_of(request: Request) -> Service:
    """Return the service that answers a request."""
    found: Service = request.app.state.service
    return found
