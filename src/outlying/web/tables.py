"""The tables of a server: each read by a process of its own, and copied once to be looked at."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import functools
import itertools
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio.to_thread
from starlette.requests import Request

from outlying import sentences as say
from outlying.checks import check_names, check_whole
from outlying.errors import ObjectError, OptionError, not_allowed
from outlying.gate import accepted
from outlying.gate.accepted import Accepted
from outlying.gate.check import exceptional_stories
from outlying.options import Options
from outlying.results.findings import Findings
from outlying.results.wording import short_name
from outlying.table.values import Form, Value, read_text
from outlying.web import BusyError, NotFoundError, NotReadyError, ServerLimits
from outlying.web.browse import Browser, FoundRows
from outlying.web.jobs import Job, Jobs, Process
from outlying.web.queries import (
    DETECT_OPTIONS,
    Filter,
    TableQuery,
    nearest_typical,
    own_values,
    values_beside,
)
from outlying.web.sourcing import Sourcing, new_path
from outlying.web.worker import (
    CompareTask,
    DetectTask,
    ExplainTask,
    News,
    TableFacts,
    Task,
    WorkerSpec,
)

TableState = Literal["closed", "reading", "ready", "failed"]
Result = TypeVar("Result")

_AGAIN = "again"  # the reading of a table that is known already
TWINS = 3
"""Rows alike that are shown."""
MOST_FLAGGED = 200
"""Rows that one detection explains."""
_PROCESSES = 6  # that hold tables at the same time
MARK_TEXTS = ("reason", "author", "expires")
_LONGEST_REASON = 1_000  # characters
_EXPLAINED = 5_000  # rows of a table that are remembered: their blame, their marks
_FAINT = 4  # a row of which nothing stands out has a quarter of the shade
_THREADS = anyio.CapacityLimiter(8)  # that look around in copies at the same time


# --- records, as the API gives them ----------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A row by its number from 1; `blame` is a share of that of the cell most to blame."""

    row: int
    values: list[Value]
    blame: dict[str, float] | None
    odd: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a table, of `total` that were asked for."""

    total: int
    offset: int
    limit: int
    columns: list[str]
    rows: list[Row]


@dataclasses.dataclass(frozen=True, slots=True)
class Twins:
    """What would be ordinary in place of the odd value, and rows alike that are."""

    sentence: str
    ordinary_at: Value
    filters: list[Filter]
    twins: list[Row]


# --- tables ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """What a reader says of a row with which nothing is wrong."""

    reason: str = ""
    author: str = ""
    expires: dt.date | None = None
    date: dt.date = dataclasses.field(default_factory=dt.date.today)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Mark:
        """Read the texts of a form, or of a request."""
        reason, author, until = texts = [given.get(name) or "" for name in MARK_TEXTS]
        for name, text in zip(MARK_TEXTS, texts, strict=True):
            if not isinstance(text, str) or len(text) > _LONGEST_REASON:
                raise not_allowed(name, text, f"a text of up to {_LONGEST_REASON:,} characters")
        try:
            return cls(reason, author, dt.date.fromisoformat(until) if until else None)
        except ValueError:
            raise not_allowed("expires", until, "a day such as 2027-01-31") from None


@dataclasses.dataclass(eq=False, slots=True)
class TableEntry:
    """A table that the server knows, whether it has been read or not."""

    id: str
    sourcing: Sourcing
    copy: Path
    held: object = None
    reading: Job | None = None
    browser: Browser | None = None
    process: Process | None = None
    explained: dict[int, Row] = dataclasses.field(default_factory=dict)  # without their values
    #: What is exceptional in explained rows, to be accepted by whoever marks them as fine.
    exceptional: dict[int, list[Accepted]] = dataclasses.field(default_factory=dict)
    fine: dict[int, Mark] = dataclasses.field(default_factory=dict)  # rows marked as such

    @property
    def name(self) -> str:
        """What people call it: text of unknown origin."""
        return self.sourcing.title

    @property
    def state(self) -> TableState:
        """Whether it was read."""
        if self.reading is None:
            return "closed"
        if not self.reading.is_over:
            return "reading"
        return "ready" if self.reading.state == "done" else "failed"

    @property
    def error(self) -> str | None:
        """Why it could not be read."""
        return None if self.reading is None else self.reading.error

    @property
    def job(self) -> str | None:
        """The job that reads it."""
        return None if self.reading is None else self.reading.id

    @property
    def facts(self) -> TableFacts:
        """What it holds; nothing before it is read."""
        found = None if self.reading is None else self.reading.result
        return found if isinstance(found, TableFacts) else TableFacts()

    def name_of(self, values: Mapping[str, Value]) -> str:
        """Return what names a row; nothing where no column does."""
        return short_name([(name, values[name]) for name in self.facts.naming if name in values])

    def ready(self) -> Browser:
        """Return the copy to look around in."""
        if self.browser is None:
            raise NotReadyError(self.error or f"{self.name} is {self.state}; open it first")
        return self.browser

    def check_number(self, number: int) -> None:
        """Refuse the number of a row that does not exist."""
        rows = self.facts.rows
        if not 1 <= number <= rows:
            raise NotFoundError(f"row {number} does not exist: {self.name} has {rows:,} rows")

    def rows_of(self, found: FoundRows) -> list[Row]:
        """Return rows that were found, with what is known of those that were explained."""
        rows = []
        for number, cells in zip(found.numbers, found.cells, strict=True):
            known = self.explained.get(number, Row(number, [], None, []))
            rows.append(dataclasses.replace(known, values=cells))
        return rows

    def remember(self, number: int, findings: Findings) -> None:
        """Keep how much each cell of an explained row is to blame."""
        most = max(findings.blame.values(), default=0.0) * (1 if findings.stands_out else _FAINT)
        shares = {
            name: round(blame / most, 3) for name, blame in findings.blame.items() if blame > 0
        }
        odd = dict.fromkeys(story.culprit for story in findings.stories if story.stands_out)
        self.explained.pop(number, None)
        self.explained[number] = Row(number, [], shares, list(odd))
        told = [Accepted.of(findings, story) for story in exceptional_stories(findings)]
        self.exceptional[number] = told
        while len(self.explained) > _EXPLAINED:
            oldest = next(iter(self.explained))
            del self.explained[oldest]
            if oldest not in self.fine:
                self.exceptional.pop(oldest, None)

    def accepted(self) -> str:
        """Return what is exceptional in the rows marked as fine, as `outlying check` takes it."""
        entries, without = list[Accepted](), list[int]()
        for number, mark in sorted(self.fine.items()):
            own = [
                dataclasses.replace(item, **dataclasses.asdict(mark))
                for item in self.accepts(number)
            ]
            entries += [item for item in own if item not in entries]
            without += [] if own else [number]
        if not entries:
            raise NotReadyError("nothing exceptional is marked as fine; explain and mark a row")
        lines = [f"# {say.PAGE_NOTHING_TO_ACCEPT.format(row=number)}\n" for number in without]
        return accepted.content(entries) + "".join(["\n" if lines else "", *lines])

    def accepts(self, number: int) -> list[Accepted]:
        """Return what is exceptional in a row, as far as it was explained."""
        return self.exceptional.get(number, [])

    def close(self) -> None:
        """End what works on it, and forget what it was read as."""
        if self.process is not None:
            self.process.stop()
        if self.browser is not None:
            self.browser.close()
        self.reading = self.browser = self.process = None
        for known in (self.explained, self.exceptional, self.fine):
            known.clear()


class Service:
    """One server: its private folder, its tables, its jobs, its limits."""

    def __init__(
        self,
        folder: Path,
        limits: ServerLimits | None = None,
        sources: Sequence[tuple[Sourcing, Any]] = (),
    ) -> None:
        self.folder, self.limits = folder, limits or ServerLimits()
        self.jobs = Jobs(self.limits, self._finished)
        self._entries: dict[str, TableEntry] = {}
        self._expected = 0  # tables that are being sent
        for sourcing, held in sources:
            self.add(sourcing, held)

    def list(self) -> list[TableEntry]:
        """Return all tables: those given first, then uploads."""
        return list(self._entries.values())

    def get(self, name: str) -> TableEntry:
        """Return a table by its id."""
        if name not in self._entries:
            raise NotFoundError("there is no such table (any more)")
        return self._entries[name]

    def _check_room(self) -> None:
        """Refuse one more table where there are as many as allowed; failed uploads make way."""
        count = len(self._entries) - len(self._failed_uploads()) + self._expected
        if count >= self.limits.tables:
            raise BusyError(f"{count:,} tables are open or being sent", "tables")

    @contextlib.contextmanager
    def expecting(self) -> Iterator[None]:
        """Keep a place for a table while it is sent."""
        self._check_room()
        self._expected += 1
        try:
            yield
        finally:
            self._expected -= 1

    def _failed_uploads(self) -> Sequence[str]:
        entries = self._entries.values()
        return [each.id for each in entries if each.sourcing.is_upload and each.state == "failed"]

    def add(self, sourcing: Sourcing, held: object = None) -> TableEntry:
        """Take in a table; it is read when it is opened."""
        self._check_room()
        if len(self._entries) >= self.limits.tables:
            self.remove(self._failed_uploads()[0])
        slug = _slug(sourcing.title)
        names = itertools.chain((slug,), (f"{slug}-{number}" for number in itertools.count(2)))
        name = next(name for name in names if name not in self._entries)
        entry = TableEntry(name, sourcing, new_path(self.folder, ".copy"), held)
        self._entries[name] = entry
        return entry

    def remove(self, name: str) -> TableEntry:
        """Forget an upload, and all that was made of it."""
        entry = self.get(name)
        if not entry.sourcing.is_upload:
            raise NotReadyError(f"{entry.name} was given when the server was started: it stays")
        del self._entries[name]
        self.jobs.forget(name)
        entry.close()
        shutil.rmtree(entry.copy, ignore_errors=True)
        if entry.sourcing.file is not None:
            entry.sourcing.file.unlink(missing_ok=True)
        return entry

    def close(self) -> None:
        """End all processes."""
        for entry in self.list():
            if entry.process is not None:
                entry.process.kill("the server was stopped")
        for entry in self.list():
            entry.close()

    def open(self, name: str, *, again: bool = False) -> TableEntry:
        """Begin to read a table, unless that was done; `again` where it has failed, too."""
        entry = self.get(name)
        if entry.reading is None or (again and entry.state == "failed"):
            start = functools.partial(self._started, entry)
            entry.reading = self.jobs.job_for(name, None, start)
        return entry

    def read_as(self, name: str, said: Mapping[str, str | None]) -> TableEntry:
        """Read a table once more in another way; one that could not be read also in the same."""
        entry = self.get(name)
        sourcing = entry.sourcing.read_as(said)
        if entry.state == "ready" and sourcing != entry.sourcing:
            self.jobs.forget(name)
            entry.close()
        if entry.state in ("closed", "failed"):
            entry.sourcing = sourcing
        return self.open(name, again=True)

    # --- what is asked of a table ---------------------------------------------------------------

    async def page(self, entry: TableEntry, query: TableQuery) -> Page:
        """Return a page of rows."""
        found = await _apart(entry.ready().page, query)
        names = [column.name for column in entry.facts.columns]
        return Page(found.total, query.offset, query.limit, names, entry.rows_of(found))

    async def values(self, entry: TableEntry, number: int) -> dict[str, Value]:
        """Return the values of a row by column."""
        browser = entry.ready()
        entry.check_number(number)
        found = await _apart(browser.some, [number])
        names = (column.name for column in entry.facts.columns)
        return dict(zip(names, found.cells[0], strict=True))

    def mark(self, entry: TableEntry, number: int, mark: Mark | None) -> None:
        """Take note that a reader finds nothing wrong with a row, or does so no more."""
        entry.ready()
        entry.check_number(number)
        entry.fine.pop(number, None)  # the last mark comes last
        if mark is not None:
            if len(entry.fine) >= _EXPLAINED:
                raise OptionError(f"{_EXPLAINED:,} rows are marked as fine; no more are kept")
            entry.fine[number] = mark

    async def twins(self, entry: TableEntry, findings: Findings, place: int) -> Twins:
        """Return what would be ordinary in place of a story, and rows that are."""
        browser = entry.ready()
        if not 0 <= place < len(findings.stories):
            raise NotFoundError(f"there is no story {place + 1}")
        story = findings.stories[place]
        pair = story.headline
        forms = {column.name: column.form for column in entry.facts.columns}
        group = [Filter.of_condition(condition) for condition in pair.conditions]
        value, typical = nearest_typical(pair, forms)
        near, row = values_beside(findings, pair, forms), findings.row
        number = 0 if row is None else row + 1
        found = await _apart(browser.first_by, [*group, typical], near, number, TWINS)
        return Twins(story.sentence, value, group, entry.rows_of(found))

    def explain(
        self,
        entry: TableEntry,
        what: int | Mapping[str, Any],
        options: Options,
        *,
        again: bool = False,
    ) -> Job:
        """Explain a row by its number from 1, or a new object, once for the same request."""
        entry.ready()
        if isinstance(what, int):
            entry.check_number(what)
            return self._job_for(entry, ExplainTask(options, row=what - 1), again=again)
        typed = tuple(_typed(what, entry.facts, options).items())
        return self._job_for(entry, ExplainTask(options, object=typed), again=again)

    def detect(self, entry: TableEntry, top: int, options: Options, *, again: bool = False) -> Job:
        """Find the rows that stand out, and explain them."""
        check_names(own_values(options), DETECT_OPTIONS)
        if check_whole("top", top, 1) > MOST_FLAGGED:
            raise OptionError(f"top is {top:,}; allowed: 1 to {MOST_FLAGGED}")
        return self._job_for(entry, DetectTask(options, top), again=again)

    def compare(
        self, entry: TableEntry, query: TableQuery, options: Options, *, again: bool = False
    ) -> Job:
        """Say what sets some rows apart."""
        check_names(own_values(options), DETECT_OPTIONS)
        if query.is_whole:
            raise OptionError("all rows are meant: name some by filter, search or rows")
        for item in query.filters:
            entry.ready().place(item.attribute)
        for number in query.rows or ():
            entry.check_number(number)
        return self._job_for(entry, CompareTask(options, query.rows_alone), again=again)

    # --- processes ------------------------------------------------------------------------------

    def _job_for(self, entry: TableEntry, task: Task, *, again: bool) -> Job:
        """Return the job that works on a task, begun unless there is one."""
        entry.ready()
        start = functools.partial(self._begun, entry, task)
        return self.jobs.job_for(entry.id, task, start, again=again)

    def _begun(self, entry: TableEntry, task: Task, job: Job) -> Process:
        """Give a task to the process of a table; where that is gone, another reads it again."""
        process = entry.process
        if process is None or not process.is_alive:
            process = self._started(entry)
        process.send(job.id, task)
        return process

    def _started(self, entry: TableEntry, job: Job | None = None) -> Process:
        """Start the process of a table, in place of idle ones, to read it or read it again."""
        busy = {job.table for job in self.jobs.list() if not job.is_over}
        alive = [each for each in self.list() if each.process is not None]
        idle = [each for each in alive if each.id not in busy]
        for each in idle[: max(0, len(alive) - _PROCESSES + 1)]:
            if each.process is not None:
                each.process.kill("it was idle")
            each.process = None
        if job is not None:
            shutil.rmtree(entry.copy, ignore_errors=True)
        task, known = (_AGAIN, entry.facts) if job is None else (job.id, None)
        most, folder = (self.limits.rows, self.limits.columns), self.folder
        spec = WorkerSpec(task, entry.sourcing, folder, entry.copy, known, *most)
        entry.process = Process(spec, self._heard, self._died)
        return entry.process

    def _heard(self, process: Process, news: News) -> None:
        if news.task == _AGAIN and news.error is not None:
            process.kill(news.error)
        else:
            self.jobs.heard(process, news)

    def _died(self, process: Process, why: str) -> None:
        for entry in self.list():
            if entry.process is process:
                entry.process = None
        self.jobs.died(process, why)

    def _finished(self, job: Job) -> None:
        entry = self._entries.get(job.table)
        if entry is None:
            return
        if isinstance(job.result, TableFacts):
            found = job.result
            entry.browser = Browser(entry.copy, found.source, found.rows, found.columns)
            return
        for findings in () if job.kind == "compare" else job.explained:
            if findings.row is not None:
                entry.remember(findings.row + 1, findings)


def service_of(request: Request) -> Service:
    """Return the service that answers a request."""
    found: Service = request.app.state.service
    return found


async def _apart(work: Callable[..., Result], *given: Any) -> Result:
    """Work in a thread, so that others are served meanwhile; a server that ends leaves it alone."""
    return await anyio.to_thread.run_sync(work, *given, limiter=_THREADS, abandon_on_cancel=True)


def _slug(title: str) -> str:
    """Return a name for addresses: short, lower case, nothing but letters, digits and dashes."""
    stem = re.sub(r"(\.[A-Za-z0-9]{1,8}){1,2}$", "", title)
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:40] or "table"


def _typed(values: Mapping[str, Any], facts: TableFacts, options: Options) -> dict[str, Any]:
    """Read texts as what their columns hold; other values stay as they are."""
    declared = dict(options.types)
    forms: dict[str, Form] = {}
    for column in facts.columns:
        kind = declared.get(column.name, column.type)
        is_number = kind == "numeric" and column.type == "categorical"
        is_text = kind == "categorical" != column.type
        forms[column.name] = "number" if is_number else "text" if is_text else column.form
    mixed = {column.name for column in facts.columns if column.unread}
    found = dict(values)
    for name, value in values.items():
        try:
            if isinstance(value, str) and name in forms:
                found[name] = read_text(forms[name], value.strip())
        except ValueError as error:
            if name not in mixed:  # a text among numbers is what some rows hold, and can be odd
                said = f"the object's {name!r} is {value!r}; it expects {error}"
                raise ObjectError(said) from None
        if not isinstance(value, (str, int, float, bool, type(None))):
            raise ObjectError(f"the object's {name!r} is not a text, number, true, false or null")
    return found
