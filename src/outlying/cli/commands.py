"""`outlying explain`: why rows are odd. `outlying detect`: which are, explained if asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import click

from outlying import sentences as say
from outlying.api import Explainer
from outlying.checks import check_whole
from outlying.cli.options import (
    NAMING_COLUMNS,
    GroupedCommand,
    all_of,
    column_choices,
    declared,
    given_of,
    grouped,
    open_source,
    reading_options,
    take_reading,
)
from outlying.cli.resume import line as json_line
from outlying.cli.targets import Naming, naming_options
from outlying.cli.terminal import DETECT, EXPLAIN, ProgressLine, progress_line
from outlying.cli.writing import (
    TABLES,
    Loaded,
    WriteJob,
    refuse_resuming,
    run,
    write_table,
    writing_options,
)
from outlying.detect.api import FEATURE_BAGGING, HOLDS_SCORES, OWN_DETECTORS, STRENGTH
from outlying.detect.api import detect as find_odd_rows
from outlying.detect.given_scores import ColumnScores
from outlying.detect.strength import Progress
from outlying.errors import OptionError
from outlying.options import (
    BAGGING,
    COLUMN_OPTIONS,
    CONTEXT_OPTIONS,
    EXPLAIN_OPTIONS,
    Bagging,
    Options,
    ReadOptions,
)
from outlying.render import listing
from outlying.render.files import Output
from outlying.render.text import wrapped
from outlying.results.detections import Detection, Flagged
from outlying.results.many import cell_table
from outlying.sources.passes import Feeder
from outlying.table.table import Table
from outlying.table.targets import Key, RowRequest, Targets


@click.command(cls=GroupedCommand)
@click.argument("source", required=False)
@naming_options
@declared(EXPLAIN_OPTIONS.values())
@reading_options
@writing_options
def explain(source: str | None, **given: Any) -> None:
    """Explain why a row of SOURCE is odd, or many rows, or a new one.

    SOURCE is a CSV, TSV, JSON, Parquet, Arrow, ORC or Excel file, which may be compressed; an
    address (https://, s3://, gs://, az://); or - for standard input. Or what is read as a stream: a
    folder or pattern of such files, a Delta Lake or Iceberg table, a database (DuckDB, SQLite,
    postgresql://...) with --table, spark://HOST:PORT/path-or-table. It may be left out where
    --query names files.

    Name the row by --row or by --where, or give a new one by --object; name many by --rows,
    --rows-file, --where-file, --where-true or --objects.
    """
    naming = Naming.taken_from(given)
    naming.check_standard_input(source)
    reading = take_reading(given)
    _check_source(source, reading)
    job = WriteJob.taken_from(given, source, reading.query, naming, EXPLAIN)
    options = given_of(given)
    of_columns = (*NAMING_COLUMNS, "exclude", "types")  # the table is needed to read these
    Options.of(**{name: options[name] for name in options if name not in of_columns})
    run(job, lambda: _load(source, reading, job, options))


def _check_source(source: str | None, reading: ReadOptions) -> None:
    if source is None and reading.query is None:
        raise OptionError("which table? Name a file, a folder or a database as SOURCE")


def _load(
    source: str | None, reading: ReadOptions, job: WriteJob, options: dict[str, Any]
) -> Loaded:
    """Open the table, and find what is named in it."""
    data = open_source(source, reading)
    naming = job.naming
    if isinstance(data, Table):
        whole = data
        explainer = Explainer(naming.compared(data), **column_choices(options, data))
    else:
        whole = Explainer(data).table
        refuse_resuming(job, whole)
        explainer = Explainer(data, **column_choices(options, whole, naming.marks))
    request = naming.request(whole, explainer.is_streamed)
    with progress_line(job.quiet) as line:
        return Loaded(explainer, explainer.targets(request, line.step, job.workers))


#: Options of explanations that count with --explain only, beside those of columns.
_FOR_EXPLAIN = ("top", "references")
_ranking_options = all_of(
    grouped(
        "Which rows",
        "--top",
        type=int,
        help="So many rows, whatever they are.  [default: all exceptional ones, 100 at most]",
    ),
    grouped(
        "Which rows",
        "--score-column",
        metavar="NAME",
        help="Rank by this column; it is not compared.",
    ),
    grouped(
        "Which rows", "--lowest", is_flag=True, help="With --score-column: low scores are odd."
    ),
    grouped(
        "Which rows",
        "--detector",
        type=click.Choice(OWN_DETECTORS),
        help="Rank by the findings of every row, or by the distance to neighbours.  "
        "[default: strength]",
    ),
)
_telling_options = all_of(
    grouped("Output", "--explain", is_flag=True, help="Tell the whole story of each row."),
    grouped(
        "Output",
        "--pairs",
        type=int,
        help="With --explain: most findings of a row.  [default: 10]",
    ),
)


@click.command(cls=GroupedCommand)
@click.argument("source", required=False)
@_ranking_options
@declared(CONTEXT_OPTIONS.values())
@declared((*COLUMN_OPTIONS.values(), EXPLAIN_OPTIONS["references"]))
@reading_options
@_telling_options
@writing_options
@declared(BAGGING.values())
def detect(source: str | None, explain: bool, **given: Any) -> None:
    """List what is odd in a table: the exceptional rows of SOURCE, the oddest first.

    `outlying FILE` is short for `outlying detect FILE`. SOURCE is whatever `outlying explain`
    takes. Each row is told in a line: which cell is odd, what was expected, and where. --explain
    tells the whole story of each row, --all shows what is merely unusual, too.
    """
    reading = take_reading(given)
    _check_source(source, reading)
    given["resume"], resume = given["resume"] and explain, given["resume"]
    job = WriteJob.taken_from(given, source, reading.query, Naming.nothing(), DETECT)
    request = _Request.of(given, explain, ["--resume"] * resume)
    request.with_unusual = job.everything

    def load(watcher: _Printer | None = None) -> Loaded:
        explainer = request.explainer(open_source(source, reading))
        if explainer.is_streamed:
            refuse_resuming(job, explainer.table)
        with progress_line(job.quiet) as line:
            if watcher is not None:
                watcher.line = line
            detection = request.detection(explainer, job.workers, line.step, watcher)
            is_told = explain or job.form == "html"
            targets = Targets(())
            if is_told:
                targets = _targets(explainer, detection, job.workers, line.step)
        return Loaded(explainer, targets, detection)

    if explain or job.form == "html":
        run(job, load)
        return
    with Output.to(job.file, job.inputs) as out:
        if job.form == "text":
            printer = _Printer(out, job)
            printer.finish(load(printer).detection)
        else:
            _write(job, out, load().detection)


class _Printer:
    """Prints what is odd as soon as it is found: how many rows are, then a line for each."""

    def __init__(self, out: Output, job: WriteJob) -> None:
        self.out, self.job = out, job
        self.look = job.look(out.is_terminal)
        self.line: ProgressLine | None = None
        self._lines: listing.Lines | None = None

    def begin(self, detection: Detection, rows: Sequence[tuple[int | None, Key]]) -> None:
        """Say how many rows are exceptional."""
        counts = detection.counts
        if counts is None:
            return
        self.look = self.job.look(self.out.is_terminal, detection.population.rows)
        told = min(counts.exceptional, len(rows))
        self._say(self._title(listing.counted(detection.population, counts, told)))
        self._lines = listing.Lines(rows[:told], self.look)
        if told:
            self._say(self._lines.header)

    def add(self, flagged: Flagged) -> None:
        """Print an exceptional row; others follow when all are there."""
        if self._lines is None or flagged.word != "exceptional" or flagged.reason is None:
            return
        for told in self._lines.add(flagged, flagged.reason.sentence):
            self._say(told)

    def finish(self, detection: Detection | None) -> None:
        """Print what is known when all rows are explained."""
        assert detection is not None  # noqa: S101 - it has just been made
        if self._lines is None:
            self.out.write_all(listing.parts(detection, self.look))
            return
        self.out.write_all((*self._lines.rest(), *self._rest(detection)))

    def _rest(self, detection: Detection) -> Iterator[str]:
        for word, items in listing.shown(detection, self.look.everything):
            if word == "unusual" and detection.counts is not None:
                yield "\n" + self._title(listing.others_heading(items, detection.counts))
                yield from listing.written(detection, items, self.look)
        yield from listing.closing(detection, self.look)
        if detection.rows and self.look.with_notes:
            yield f"\n{say.MORE_ON_EACH}"

    def _title(self, said: str) -> str:
        return self.look.style(wrapped(said, self.look.width), "title")

    def _say(self, part: str) -> None:
        if self.line is not None:
            self.line.clear()
        self.out.add(part)


def _targets(
    explainer: Explainer, detection: Detection, workers: int | None, progress: Progress
) -> Targets:
    """Name the rows to explain: by position, or, of a stream, by what they hold."""
    if not explainer.is_streamed:
        return Targets.of_rows(detection.positions).with_labels(explainer.table)
    wheres = [dict(item.key or item.values) for item in detection.rows]
    return explainer.targets(RowRequest(wheres=wheres), progress, workers)


def _write(job: WriteJob, out: Output, detection: Detection | None) -> None:
    assert detection is not None  # noqa: S101 - load has just made it
    if job.form in TABLES:
        found = [item.findings for item in detection.rows if item.findings is not None]
        columns = cell_table(found, 1) if found else detection.columns()
        write_table(out, job.form, columns)
    elif job.form == "json":
        out.write(detection.to_json(indent=2))
    else:
        lines = [detection.heading(), *(item.to_dict() for item in detection.rows)]
        out.write_all(json_line(content).rstrip("\n") for content in lines)


@dataclasses.dataclass(slots=True)
class _Request:
    """The options of a command, apart by what they are about."""

    bagging: dict[str, Any]
    explaining: dict[str, Any]
    score_column: str | None
    lowest: bool
    top: int | None
    detector: str
    with_unusual: bool = False
    _scores: ColumnScores | None = None

    @classmethod
    def of(cls, given: dict[str, Any], explain: bool, flags: list[str]) -> _Request:
        """Check what can be checked before a large file is read."""
        known = given_of(given)
        bagging = {name: known.pop(name) for name in BAGGING if name in known}
        useless = [f"--{name}" for name in ("pairs", "references") if name in known] + flags
        if useless and not explain:
            raise OptionError(f"for {' and '.join(useless)} rows must be explained: add --explain")
        Bagging.of(**bagging)
        top = check_whole("top", known.pop("top"), 1) if "top" in known else None
        if "pairs" in known:
            known["top"] = check_whole("pairs", known.pop("pairs"), 1)
        score_column, lowest = known.pop("score_column", None), known.pop("lowest")
        _check_scores(score_column, lowest, bagging)
        detector = _checked_detector(known.pop("detector", None), score_column, bagging)
        Options.of(**{name: known[name] for name in _FOR_EXPLAIN if name in known})
        return cls(bagging, known, score_column, lowest, top, detector)

    def explainer(self, data: Table | Feeder) -> Explainer:
        """Prepare the table; a column of scores is kept apart."""
        table = data if isinstance(data, Table) else Explainer(data).table
        compared = data
        if self.score_column is not None:
            if not isinstance(data, Table):
                raise OptionError(
                    f"--score-column needs all rows in memory; {table.source} is read as a stream"
                )
            infinite = self.explaining.get("infinite", "error")
            self._scores = ColumnScores.of(table, self.score_column, infinite)
            compared = table.without(self.score_column, HOLDS_SCORES)
        return Explainer(compared, **column_choices(self.explaining, table))

    def detection(
        self, explainer: Explainer, workers: int | None, progress: Any, watcher: _Printer | None
    ) -> Detection:
        """Find the rows."""
        return find_odd_rows(
            explainer,
            top=self.top,
            unusual=self.with_unusual,
            watcher=watcher,
            detector=self.detector,
            scores=self._scores,
            lowest=self.lowest,
            workers=workers,
            progress=progress,
            **self.bagging,
        )


def _checked_detector(given: str | None, column: str | None, bagging: dict[str, Any]) -> str:
    if given is not None and column is not None:
        raise OptionError("--score-column ranks by itself; leave --detector out")
    detector = STRENGTH if given is None else given
    if detector != FEATURE_BAGGING and bagging:
        flags = " and ".join(f"--{name}" for name in bagging)
        raise OptionError(f"{flags}: for feature bagging only; add --detector {FEATURE_BAGGING}")
    return detector


def _check_scores(column: str | None, lowest: bool, bagging: dict[str, Any]) -> None:
    if column is None and lowest:
        raise OptionError("--lowest tells how to read scores: add --score-column NAME")
    if column is not None and bagging:
        flags = " and ".join(f"--{name}" for name in bagging)
        raise OptionError(f"{flags}: for feature bagging only; --score-column ranks without it")
