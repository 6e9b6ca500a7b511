"""From what is asked on the command line to its output: one row or many, for people or programs."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import click

import outlying
from outlying import sentences as say
from outlying.api import Explainer
from outlying.cli import resume as jsonlines
from outlying.cli.options import Naming, all_of, format_option, output_option, writing_option
from outlying.cli.resume import Partial
from outlying.cli.terminal import EXPLAIN, ProgressLine, header_lines, look, progress_line
from outlying.errors import NoMemoryError, OptionError, WorkerError, harmless
from outlying.options import ReadOptions
from outlying.parallel import usable_workers
from outlying.render import listing, tables
from outlying.render.files import Output
from outlying.render.predicates import DIALECTS, Dialect, as_code
from outlying.render.text import Look, notes_paragraph, render, summary
from outlying.results.detections import Detection, Flagged
from outlying.results.findings import Findings
from outlying.results.many import Patterns, cell_table, document, entry_beside
from outlying.results.wording import Terms
from outlying.sources import excel, frames
from outlying.sources.duckdb import files_of
from outlying.table.table import Table
from outlying.table.targets import Targets

#: Formats that list odd cells, a line each.
TABLES = ("md", "csv", "xlsx", "parquet")
_FORMATS = ("text", "json", "jsonl", "html", *TABLES)
#: Formats that are for files, and what each is.
_FOR_FILES = {
    "html": "a page is for a browser",
    "xlsx": "a workbook is for Excel",
    "parquet": "a Parquet file is for programs",
}
#: Gives a command the options that say what is written, where, and by how many.
writing_options = all_of(
    format_option(
        _FORMATS,
        "text; html: a page with pictures; md, csv, xlsx, parquet: the odd cells (xlsx of a "
        "workbook: itself, with these marked); json, jsonl (a line per row): for programs.",
    ),
    writing_option(
        "--as",
        "dialect",
        type=click.Choice(DIALECTS),
        help="What selects the odd rows: a condition of SQL, pandas or polars, a check of dbt, "
        "Great Expectations (gx) or pandera.",
    ),
    writing_option("--json", "is_json", is_flag=True, help="The same as --format json."),
    writing_option(
        "--brief",
        is_flag=True,
        help="With --format md: a short list for agents, a line for each odd cell.",
    ),
    output_option,
    writing_option(
        "--all", "everything", is_flag=True, help="Also what is merely unusual, and all figures."
    ),
    writing_option("--quiet", is_flag=True, help="The answer alone: no progress, no notes."),
    writing_option(
        "--resume", is_flag=True, help="Continue an interrupted run of --format jsonl -o FILE."
    ),
    writing_option("--workers", type=int, help="How many processes work.  [default: one per core]"),
)


@dataclasses.dataclass(frozen=True, slots=True)
class WriteJob:
    """What is to be written, where, and by how many."""

    source: str | None
    sheet: str | None
    tables: tuple[str, ...]
    naming: Naming
    form: str
    brief: bool
    file: str | None
    resume: bool
    workers: int | None
    everything: bool
    quiet: bool
    terms: Terms

    @classmethod
    def taken_from(
        cls,
        given: dict[str, Any],
        source: str | None,
        reading: ReadOptions,
        naming: Naming,
        terms: Terms,
    ) -> WriteJob:
        """Take the options of writing; check what can be checked before anything is read."""
        usable_workers(given["workers"])
        form, is_json, output = (given.pop(name) for name in ("form", "is_json", "output"))
        dialect, brief = given.pop("dialect"), given.pop("brief")
        if is_json and form not in ("text", "json"):
            raise OptionError(f"--json is --format json; leave --format {form} out, or --json")
        form = "json" if is_json else form
        if dialect is not None and form != "text":
            raise OptionError(f"--as {dialect} is a format of its own; leave --format {form} out")
        form = dialect or form
        if brief and form != "md":
            raise OptionError(f"--brief is for --format md, not {form}")
        if form in _FOR_FILES and output is None and sys.stdout.isatty():
            raise OptionError(f"{_FOR_FILES[form]}, not a terminal: add -o report.{form}")
        everything, resume = given.pop("everything"), given.pop("resume")
        if everything and form in ("json", "jsonl", "html") and terms == EXPLAIN:
            raise OptionError(f"--all is for text; --format {form} always holds all findings")
        file = None if output == "-" else output
        if resume and (form != "jsonl" or file is None):
            raise OptionError("--resume continues a file of JSON lines: add --format jsonl -o FILE")
        if resume and not naming.is_repeatable:
            raise OptionError(
                "--resume cannot read objects from standard input a second time; save them to a "
                "file and name it"
            )
        own = given.pop("workers"), everything, given.pop("quiet")
        tables = tuple(files_of(reading.query or "")) if source is None else (source,)
        return cls(source, reading.sheet, tables, naming, form, brief, file, resume, *own, terms)

    @property
    def inputs(self) -> tuple[str, ...]:
        """What is read, which no result may take the place of."""
        return (*self.tables, *self.naming.files)

    def look(self, rows: int | None = None) -> Look:
        """Return how text is written; by the number of rows, their lines in the file are known."""
        terms, is_terminal = self.terms, self.file is None and sys.stdout.isatty()
        if rows is not None and self.source is not None:
            terms = dataclasses.replace(terms, header=header_lines(self.source, rows))
        return look(is_terminal, terms, everything=self.everything, with_notes=not self.quiet)


def refuse_resuming(job: WriteJob, table: Table) -> None:
    """Refuse to continue what is read as a stream: its rows are explained all at once."""
    if job.resume:
        raise OptionError(
            f"{table.source} is read as a stream: all rows are explained at once, so that there "
            "is nothing to continue; leave --resume out"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """What is explained, and what has detected it, if anything has."""

    job: WriteJob
    explainer: Explainer
    targets: Targets
    line: ProgressLine
    detection: Detection | None = None

    def findings(self, done: int = 0) -> Iterator[Findings]:
        """Explain what is left when the first ones are done; a detection may hold it already."""
        known = [] if self.detection is None else [item.findings for item in self.detection.rows]
        if known and None not in known:
            yield from (item for item in known[done:] if item is not None)
            return
        left, total = self.targets.after(done), len(self.targets)
        if not len(left):
            return
        self.explainer.prepare(self.line.step, workers=self.job.workers)
        self.line.restart()
        told = self.line.step if self.explainer.is_streamed else None
        found = self.explainer.explained(left, self.job.workers, told)
        for now, findings in enumerate(found, start=done + 1):
            self.line.clear()
            yield findings
            self.line.objects(now, total, done)  # while the next one is explained

    def header(self) -> dict[str, Any]:
        """Describe what the lines answer."""
        found, version = self.explainer, outlying.__version__
        table = None if found.is_streamed else found.table
        head = jsonlines.header(found.population, found.options, table, self.targets, version)
        return head | ({} if self.detection is None else {"detection": self.detection.summary()})

    def flagged(self) -> Iterable[Flagged | None]:
        """Return what is known of each row from its detection."""
        return [None] * len(self.targets) if self.detection is None else self.detection.rows

    def entries(self, done: int = 0) -> Iterator[dict[str, Any]]:
        """Return the objects of the JSON result."""
        population = self.explainer.population
        left = itertools.islice(self.flagged(), done, None)
        for item, findings in zip(left, self.findings(done), strict=True):
            yield entry_beside(findings, population, item)


def run(job: WriteJob, load: Callable[[ProgressLine], Run]) -> None:
    """Explain what is named and write it."""
    with progress_line(job.quiet) as line:
        if job.form == "jsonl" and job.file is not None:
            with Partial.beside(job.file, resume=job.resume, inputs=job.inputs) as partial:
                _continue(partial, load(line))
            return
        with Output.to(job.file, job.inputs) as out:
            work = load(line)
            if job.form in ("text", "json", "html") and not job.naming.is_many:
                _write_one(out, work)
                return
            with _says_how_far(work) as count:
                if job.form in (*TABLES, *DIALECTS):
                    write_found(job, out, list(work.findings()))
                    return
                write = {"text": _texts, "json": _document, "jsonl": _lines, "html": _page}
                out.write_all(count(write[job.form](work)))


def write_found(job: WriteJob, out: Output, found: Sequence[Findings]) -> None:
    """Write a list of odd cells, into the workbook that they are of if it is one; or code."""
    if job.form in DIALECTS:
        out.write(as_code(found, cast(Dialect, job.form), table=Path(job.source or "data").stem))
        return
    if job.brief:
        out.write(listing.brief(found, job.terms.first_row))
        return
    cells = cell_table(found, job.terms.first_row)
    if job.form == "xlsx" and job.source is not None and None not in cells["row"]:
        marked = excel.marked_workbook(Path(job.source), job.sheet, cells)
        if marked is not None:
            out.write_bytes(marked)
            return
    write_table(out, job.form, cells)


def write_table(out: Output, form: str, columns: tables.Columns) -> None:
    """Write a table for other programs."""
    if form == "xlsx":
        out.write_bytes(tables.workbook(columns, shaded=("value",)))
    elif form == "parquet":
        out.write_bytes(frames.parquet_of(columns))
    elif form == "csv":
        out.write(tables.csv_text(columns).removesuffix("\r\n"), end="\r\n")
    else:
        out.write(tables.markdown(columns))


def _write_one(out: Output, work: Run) -> None:
    job = work.job
    findings = next(work.explainer.explained(work.targets, job.workers, work.line.step))
    work.line.clear()
    if job.form == "json":
        out.write(findings.to_json(indent=2))
    elif job.form == "html":
        out.write(findings.to_html().rstrip("\n"))
    else:
        out.write(render(findings, job.look(findings.population.rows)))


def _texts(work: Run) -> Iterator[str]:
    """Write each row in full, then once what they share and what is true of all."""
    whole = work.job.look(work.explainer.rows)
    one = dataclasses.replace(whole, with_notes=False)
    patterns, rule, shared = Patterns(), "-" * whole.width, dict[str, None]()
    detection = work.detection
    if detection is not None:
        yield f"{whole.style(listing.heading(detection), 'title')}\n\n{rule}\n"
    for item, findings in zip(work.flagged(), work.findings(), strict=True):
        patterns.add(findings)
        shared |= dict.fromkeys(findings.table_notes)
        if not whole.everything:
            shared = {note: None for note in shared if note not in findings.how}
        why = "" if item is None or detection is None else _ranked(item, detection)
        yield f"{why}{render(findings, one)}\n\n{rule}\n"
    least = 1 if detection is None else 2
    parts = summary(patterns.told(), work.job.naming.are_new, whole, least)
    if whole.with_notes:
        parts += notes_paragraph(work.explainer.population, list(shared), whole)
    yield "\n\n".join(parts)


def _ranked(item: Flagged, detection: Detection) -> str:
    """Say why a row was flagged, where its findings do not say it."""
    if detection.settings.by_strength:
        return f"{item.rank}. "
    return f"{item.rank}. {listing.reason(item, detection.settings)}\n\n"


def _document(work: Run) -> Iterator[str]:
    found = work.explainer
    whole = document(found.population, found.options, work.entries(), work.detection)
    yield json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False)


def _page(work: Run) -> Iterator[str]:
    from outlying.render.report import Report

    found = work.explainer
    report = Report(found.population, found.options, is_many=True, detection=work.detection)
    for item, findings in zip(work.flagged(), work.findings(), strict=True):
        report.add(findings, item)
    yield report.page().rstrip("\n")


def _lines(work: Run) -> Iterator[str]:
    patterns = Patterns()
    yield jsonlines.line(work.header()).rstrip("\n")
    for content in work.entries():
        patterns.add(content)
        yield jsonlines.line(content).rstrip("\n")
    yield jsonlines.line({"patterns": [item.to_dict() for item in patterns.told()]}).rstrip("\n")


def _continue(partial: Partial, work: Run) -> None:
    """Write to the partial file what it lacks, then give it its final name."""
    if work.job.resume and partial.is_new and partial.target.exists():
        jsonlines.check_complete(partial.target, work.header())
        click.echo(harmless(say.COMPLETE_ALREADY.format(file=partial.target)), err=True)
        return
    total = f"{len(work.targets):,}"
    with _says_how_to_continue(work.job, partial, total):
        partial.begin(work.header(), work.targets)
        if partial.done:
            said = say.EXPLAINED_ALREADY.format(done=f"{partial.done:,}", total=total)
            click.echo(said, err=True)
        for content in work.entries(partial.done):
            partial.add(content)
        partial.finish()


@contextlib.contextmanager
def _says_how_to_continue(job: WriteJob, partial: Partial, total: str) -> Iterator[None]:
    def kept() -> str:
        if not partial.done:
            return say.KEPT_NOTHING
        how = say.CONTINUES if job.naming.is_repeatable else say.CANNOT_CONTINUE
        done = f"{partial.done:,}"
        return say.KEPT_SOME.format(done=done, total=total, file=partial.path, how=how)

    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(say.INTERRUPTED_KEPT.format(kept=kept())) from None
    except MemoryError:
        raise NoMemoryError(f"; {kept()}") from None
    except WorkerError as error:
        error.args = (*error.args, f"; {kept()}")
        raise


@contextlib.contextmanager
def _says_how_far(work: Run) -> Iterator[Callable[[Iterator[str]], Iterator[str]]]:
    """Say when interrupted how much is on standard output; a file was not written at all."""
    job, written = work.job, 0

    def count(parts: Iterator[str]) -> Iterator[str]:
        nonlocal written
        for part in parts:
            yield part
            written += 1

    try:
        yield count
    except KeyboardInterrupt:
        if job.file is not None or job.form not in ("text", "jsonl") or not written:
            raise
        done = written - (job.form == "jsonl" or work.detection is not None)  # the heading
        total = f"{len(work.targets):,}"
        said = say.INTERRUPTED_AFTER.format(done=f"{done:,}", total=total)
        raise KeyboardInterrupt(said) from None
