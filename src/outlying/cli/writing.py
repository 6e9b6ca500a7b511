"""From what is asked on the command line to its output: one row or many, text or JSON."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import click

import outlying
from outlying.api import Explainer
from outlying.cli import resume as jsonlines
from outlying.cli.options import all_of, grouped
from outlying.cli.resume import Partial
from outlying.cli.targets import Naming
from outlying.cli.terminal import (
    ProgressLine,
    detected,
    flagged_line,
    progress_line,
    rendered,
    summed_up,
    width,
)
from outlying.errors import NoMemoryError, OptionError, WorkerError, harmless
from outlying.parallel import usable_workers
from outlying.render.files import Output
from outlying.results.detections import Detection, Flagged
from outlying.results.documents import Patterns, document, entry_beside
from outlying.results.findings import Findings
from outlying.results.wording import Terms
from outlying.table.table import Table
from outlying.table.targets import Targets

_GROUP = "Output"
#: Gives a command the options that say what is written, where, and by how many.
writing_options = all_of(
    grouped(
        _GROUP,
        "--format",
        "form",
        type=click.Choice(["text", "json", "jsonl", "html"]),
        default="text",
        show_default=True,
        help="For people (html: a page with pictures) or for programs (jsonl: a line per object).",
    ),
    grouped(
        _GROUP, "-o", "--output", metavar="FILE", help="Write to a file instead of standard output."
    ),
    grouped(
        _GROUP, "--all", "everything", is_flag=True, help="Text: weaker findings, all numbers."
    ),
    grouped(
        _GROUP, "--resume", is_flag=True, help="Continue an interrupted run with jsonl and -o."
    ),
    grouped(_GROUP, "--workers", type=int, help="Processes that work.  [default: one per core]"),
)


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded:
    """What is explained, and what has detected it, if anything has."""

    explainer: Explainer
    targets: Targets
    detection: Detection | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class WriteJob:
    """What is to be written, where, and by how many."""

    source: str
    naming: Naming
    form: str
    file: str | None
    resume: bool
    workers: int | None
    everything: bool
    terms: Terms

    @classmethod
    def of(
        cls,
        source: str,
        naming: Naming,
        form: str,
        output: str | None,
        resume: bool,
        workers: int | None,
        everything: bool,
        terms: Terms,
    ) -> WriteJob:
        """Check what can be checked before anything is read."""
        usable_workers(workers)
        if form == "html" and output is None and sys.stdout.isatty():
            raise OptionError("a page is for a browser, not a terminal: add -o report.html")
        if everything and form != "text":
            raise OptionError(f"--all is for text; --format {form} always holds all findings")
        file = None if output == "-" else output
        if resume and (form != "jsonl" or file is None):
            raise OptionError("--resume continues a file of JSON lines: add --format jsonl -o FILE")
        if resume and not naming.is_repeatable:
            raise OptionError(
                "--resume cannot read objects from standard input a second time; save them to a "
                "file and name it"
            )
        return cls(source, naming, form, file, resume, workers, everything, terms)

    @property
    def inputs(self) -> tuple[str, ...]:
        """What is read, which no result may take the place of."""
        return (self.source, *self.naming.files)

    def rendered(self, findings: Findings, is_terminal: bool) -> str:
        """Write findings as text, in the terms of the command."""
        return rendered(findings, is_terminal, self.terms, everything=self.everything)


def refuse_resuming(job: WriteJob, table: Table) -> None:
    """Refuse to continue what is read as a stream: its rows are explained all at once."""
    if job.resume:
        raise OptionError(
            f"{table.source} is read as a stream: all rows are explained at once, so that there "
            "is nothing to continue; leave --resume out"
        )


def run(job: WriteJob, load: Callable[[], Loaded]) -> None:
    """Explain what is named and write it."""
    if job.form == "jsonl" and job.file is not None:
        with Partial.beside(job.file, resume=job.resume, inputs=job.inputs) as partial:
            _continue(job, partial, load())
        return
    with Output.to(job.file, job.inputs) as out:
        loaded = load()
        if job.form != "jsonl" and not job.naming.is_many:
            _write_one(job, out, loaded.explainer, loaded.targets)
            return
        write = {"text": _texts, "json": _document, "jsonl": _lines, "html": _page}[job.form]
        with progress_line() as line, _says_how_far(job, loaded) as count:
            out.write_all(count(write(_Run.of(job, loaded, line), out.is_terminal)))


def _write_one(job: WriteJob, out: Output, explainer: Explainer, targets: Targets) -> None:
    with progress_line() as line:
        findings = next(explainer.explained(targets, job.workers, line.step))
    if job.form == "json":
        out.write(findings.to_json(indent=2))
    elif job.form == "html":
        out.write(findings.to_html().rstrip("\n"))
    else:
        out.write(job.rendered(findings, out.is_terminal))


@dataclasses.dataclass(frozen=True, slots=True)
class _Run:
    """Everything that is needed to explain many."""

    job: WriteJob
    explainer: Explainer
    targets: Targets
    detection: Detection | None
    line: ProgressLine

    @classmethod
    def of(cls, job: WriteJob, loaded: Loaded, line: ProgressLine) -> _Run:
        return cls(job, loaded.explainer, loaded.targets, loaded.detection, line)

    def findings(self, done: int = 0) -> Iterator[Findings]:
        """Explain what is left when the first ones are done."""
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
        return head | self.detected()

    def detected(self) -> dict[str, Any]:
        """Return what has detected the rows, if anything has, as JSON holds it."""
        return {} if self.detection is None else {"detection": self.detection.summary()}

    def flagged(self) -> Iterator[Flagged | None]:
        """Return what is known of each row from its detection."""
        rows = [None] * len(self.targets) if self.detection is None else self.detection.rows
        yield from rows

    def entries(self, done: int = 0) -> Iterator[dict[str, Any]]:
        """Return the objects of the JSON result."""
        population = self.explainer.population
        left = itertools.islice(self.flagged(), done, None)
        for item, findings in zip(left, self.findings(done), strict=True):
            yield entry_beside(findings, population, item)


def _texts(run: _Run, is_terminal: bool) -> Iterator[str]:
    patterns, rule = Patterns(), "-" * width(is_terminal)
    if run.detection is not None:
        yield f"{detected(run.detection, is_terminal, with_rows=False)}\n\n{rule}\n"
    for item, findings in zip(run.flagged(), run.findings(), strict=True):
        patterns.add(findings)
        why = ""
        if item is not None and run.detection is not None:
            why = flagged_line(item, run.detection, is_terminal)
        yield f"{why}{run.job.rendered(findings, is_terminal)}\n\n{rule}\n"
    yield summed_up(patterns.told(), run.job.naming.are_new, is_terminal)


def _document(run: _Run, is_terminal: bool) -> Iterator[str]:  # noqa: ARG001 - as the others
    explainer = run.explainer
    whole = document(explainer.population, explainer.options, run.entries(), run.detection)
    yield json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False)


def _page(run: _Run, is_terminal: bool) -> Iterator[str]:  # noqa: ARG001 - as the others
    from outlying.render.html import Report

    options = run.explainer.options
    report = Report(run.explainer.population, options, is_many=True, detection=run.detection)
    for item, findings in zip(run.flagged(), run.findings(), strict=True):
        report.add(findings, item)
    yield report.page().rstrip("\n")


def _lines(run: _Run, is_terminal: bool) -> Iterator[str]:  # noqa: ARG001 - as the others
    patterns = Patterns()
    yield jsonlines.line(run.header()).rstrip("\n")
    for content in run.entries():
        patterns.add(content)
        yield jsonlines.line(content).rstrip("\n")
    yield jsonlines.line({"patterns": [item.to_dict() for item in patterns.told()]}).rstrip("\n")


def _continue(job: WriteJob, partial: Partial, loaded: Loaded) -> None:
    """Write to the partial file what it lacks, then give it its final name."""
    with progress_line() as line:
        work, targets = _Run.of(job, loaded, line), loaded.targets
        if job.resume and partial.is_new and partial.target.exists():
            jsonlines.check_complete(partial.target, work.header())
            said = f"{partial.target} is complete already; nothing to do."
            click.echo(harmless(said), err=True)
            return
        with _says_how_to_continue(job, partial, len(targets)):
            partial.begin(work.header(), targets)
            if partial.done:
                click.echo(f"{partial.done:,} of {len(targets):,} are explained already.", err=True)
            for content in work.entries(partial.done):
                partial.add(content)
            partial.finish()


@contextlib.contextmanager
def _says_how_to_continue(job: WriteJob, partial: Partial, total: int) -> Iterator[None]:
    def kept() -> str:
        if not partial.done:
            return "nothing was written"
        how = "the same command with --resume continues"
        if not job.naming.is_repeatable:
            how = "objects from standard input cannot be continued"
        return f"{partial.done:,} of {total:,} are explained in {partial.path}; {how}"

    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"Interrupted; {kept()}.") from None
    except MemoryError:
        raise NoMemoryError(f"; {kept()}") from None
    except WorkerError as error:
        error.args = (*error.args, f"; {kept()}")
        raise


Count: TypeAlias = Callable[[Iterator[str]], Iterator[str]]


@contextlib.contextmanager
def _says_how_far(job: WriteJob, loaded: Loaded) -> Iterator[Count]:
    """Say when interrupted how much is on standard output; a file was not written at all."""
    written = 0

    def count(parts: Iterator[str]) -> Iterator[str]:
        nonlocal written
        for part in parts:
            yield part
            written += 1

    try:
        yield count
    except KeyboardInterrupt:
        if job.file is not None or job.form in ("json", "html") or not written:
            raise
        done = written - (job.form == "jsonl" or loaded.detection is not None)  # the heading
        raise KeyboardInterrupt(
            f"Interrupted; {done:,} of {len(loaded.targets):,} were explained and written."
        ) from None
