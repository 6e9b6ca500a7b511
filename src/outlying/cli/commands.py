"""`outlying explain`: why rows are odd. `detect`: which are. `compare`: what sets some apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from outlying import sentences as say
from outlying.api import Explainer
from outlying.checks import check_whole
from outlying.cli.options import (
    NAMING_COLUMNS,
    GroupedCommand,
    Naming,
    against_option,
    all_of,
    column_choices,
    declared,
    fdr_option,
    format_option,
    given_of,
    header_of,
    naming_options,
    open_source,
    output_option,
    reading_options,
    rows_option,
    set_options,
    table_options,
    take_reading,
    writing_option,
)
from outlying.cli.resume import line as json_line
from outlying.cli.terminal import DETECT, EXPLAIN, ProgressLine, progress_line
from outlying.cli.writing import (
    TABLES,
    Run,
    WriteJob,
    refuse_resuming,
    run,
    write_found,
    write_table,
    writing_options,
)
from outlying.detect import api as detecting
from outlying.detect.api import detect as find_odd_rows
from outlying.detect.given_scores import ColumnScores
from outlying.detect.rules import explained_set
from outlying.errors import OptionError, OptionName
from outlying.fitted.file import is_model
from outlying.options import BAGGING, EXPLAIN_OPTIONS, Options, ReadOptions
from outlying.render import listing
from outlying.render.files import Output
from outlying.render.predicates import DIALECTS
from outlying.render.text import wrapped
from outlying.results.detections import Detection, Flagged
from outlying.sources.passes import Feeder
from outlying.table.table import Table
from outlying.table.targets import Key, RowRequest, Targets


@click.command(cls=GroupedCommand)
@click.argument("source", required=False)
@naming_options
@declared(EXPLAIN_OPTIONS.values())
@reading_options
@against_option
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
    job = WriteJob.taken_from(given, source, reading, naming, EXPLAIN)
    against = given.pop("against")
    options = given_of(given)
    of_columns = (*NAMING_COLUMNS, "exclude", "types")  # the table is needed to read these
    Options.of(**{name: options[name] for name in options if name not in of_columns})

    def load(line: ProgressLine) -> Run:
        data = source if is_model(source) else open_source(source, reading)
        if isinstance(data, Table):
            whole, choices = data, column_choices(options, data)
            explainer = Explainer(naming.compared(data), against=against, **choices)
        else:
            whole = Explainer(data).table
            if not is_model(data):
                refuse_resuming(job, whole)
            choices = column_choices(options, whole, naming.marks)
            explainer = Explainer(data, against=against, **choices)
        request = naming.request(whole, explainer.is_streamed)
        return Run(job, explainer, explainer.targets(request, line.step, job.workers), line)

    run(job, load)


def _check_source(source: str | None, reading: ReadOptions) -> None:
    if source is None and reading.query is None:
        raise OptionError("which table? Name a file, a folder or a database as SOURCE")


_ranking_options = all_of(
    rows_option(
        "--top",
        type=int,
        help="This many rows, exceptional or not.  [default: all exceptional ones, 100 at most]",
    ),
    rows_option("--alerts", type=int, metavar="N", help="Exceptional are the N strongest."),
    rows_option(
        "--score-column", metavar="NAME", help="Rank rows by this column, which is not compared."
    ),
    rows_option("--lowest", is_flag=True, help="With --score-column: low scores are odd."),
    rows_option(
        "--detector",
        type=click.Choice(detecting.OWN_DETECTORS),
        help="Rank rows by what is found on them, or by their distance to neighbours.  "
        "[default: strength]",
    ),
    fdr_option,
    writing_option("--explain", is_flag=True, help="Tell the whole story of each row."),
    writing_option(
        "--pairs", type=int, help="With --explain: this many findings of each row.  [default: 10]"
    ),
)


@click.command(cls=GroupedCommand)
@click.argument("source", required=False)
@_ranking_options
@table_options
@declared([EXPLAIN_OPTIONS["references"]])
@against_option
@writing_options
@declared(BAGGING.values())
def detect(source: str | None, explain: bool, **given: Any) -> None:
    """List what is odd in a table, the oddest rows first.

    `outlying FILE` is short for `outlying detect FILE`. SOURCE is whatever `outlying explain`
    takes. Each row is told in a line: which cell is odd, what was expected, and where. --explain
    tells the whole story of each row, --all shows what is merely unusual, too.
    """
    reading = take_reading(given)
    _check_source(source, reading)
    given["resume"], resume = given["resume"] and explain, given["resume"]
    job = WriteJob.taken_from(given, source, reading, Naming(), DETECT)
    options = given_of(given)
    for_stories = [f"--{name}" for name in ("pairs", "references") if name in options]
    if (for_stories or resume) and not explain:
        flags = " and ".join(for_stories + ["--resume"] * resume)
        raise OptionError(f"for {flags} rows must be explained: add --explain")
    column, lowest = options.pop("score_column", None), options.pop("lowest", False)
    ranking = {name: options.pop(name) for name in ("top", "fdr", "alerts") if name in options}
    bagging = {name: options.pop(name) for name in BAGGING if name in options}
    if column is not None and "detector" in options:
        raise OptionError("--score-column ranks by itself; leave --detector out")
    detector = options.pop("detector", detecting.STRENGTH)
    settings = detecting.ranking(detector, column, bagging, lowest=lowest, **ranking)
    if "against" in options and not settings.by_strength:
        raise OptionError("--against ranks by strength; leave --score-column and --detector out")
    if "pairs" in options:
        options["top"] = check_whole(OptionName("pairs"), options.pop("pairs"), 1)

    def load(line: ProgressLine, watcher: _Printer | None = None) -> Run:
        explainer, scores = _opened(open_source(source, reading), options, column)
        if explainer.is_streamed:
            refuse_resuming(job, explainer.table)
        found = find_odd_rows(
            explainer,
            unusual=job.everything,
            detector=detector,
            watcher=watcher,
            scores=scores,
            lowest=lowest,
            workers=job.workers,
            progress=line.step,
            **ranking,
            **bagging,
        )
        is_told = explain or job.form == "html"
        targets = _targets(explainer, found, job.workers, line) if is_told else Targets(())
        return Run(job, explainer, targets, line, found)

    if explain or job.form == "html":
        run(job, load)
        return
    with Output.to(job.file, job.inputs) as out, progress_line(job.quiet) as line:
        printer = _Printer(out, job, line) if job.form == "text" else None
        found = load(line, printer).detection
        assert found is not None  # noqa: S101 - it has just been made
        if printer is not None:
            printer.finish(found)
        else:
            _write(job, out, found)


class _Printer:
    """Prints what is odd as soon as it is found: how many rows are, then a line for each."""

    def __init__(self, out: Output, job: WriteJob, line: ProgressLine) -> None:
        self.out, self.job, self.line = out, job, line
        self._lines: listing.Lines | None = None

    def begin(self, detection: Detection, rows: Sequence[tuple[int | None, Key]]) -> None:
        """Say how many rows are exceptional."""
        counts = detection.counts
        if counts is None:
            return
        look = self.job.look(detection.population.rows)
        told = min(counts.exceptional, len(rows))
        self._say(listing.titled(listing.counted(detection.population, counts, told), look))
        self._lines = listing.Lines(rows[:told], look)
        if told:
            self._say(self._lines.header)

    def add(self, flagged: Flagged) -> None:
        """Print an exceptional row; others follow when all are there."""
        if self._lines is None or flagged.word != "exceptional" or flagged.reason is None:
            return
        for told in self._lines.add(flagged, flagged.reason.sentence):
            self._say(told)

    def finish(self, detection: Detection) -> None:
        """Print what is known when all rows are explained."""
        self.line.clear()
        if self._lines is None:
            self.out.write_all(listing.parts(detection, self.job.look()))
            return
        look = self._lines.look
        why = (
            [f"\n{wrapped(say.MORE_ON_EACH, look.width)}"]
            if detection.rows and look.with_notes
            else []
        )
        self.out.write_all((*self._lines.rest(), *listing.after(detection, look), *why))

    def _say(self, part: str) -> None:
        self.line.clear()
        self.out.add(part)


def _targets(
    explainer: Explainer, detection: Detection, workers: int | None, line: ProgressLine
) -> Targets:
    """Name the rows to explain: by position, or, of a stream, by what they hold."""
    if not explainer.is_streamed:
        return Targets.of_rows(detection.positions).with_labels(explainer.table)
    wheres = [dict(item.key or item.values) for item in detection.rows]
    return explainer.targets(RowRequest(wheres=wheres), line.step, workers)


def _write(job: WriteJob, out: Output, detection: Detection) -> None:
    form, found = job.form, [item.findings for item in detection.rows if item.findings is not None]
    if job.brief and len(found) < len(detection.rows):
        raise OptionError("--brief tells findings, which these rows have not: add --explain")
    if job.brief or form in DIALECTS or (form in TABLES and found):
        write_found(job, out, found)
    elif form in TABLES:
        write_table(out, form, detection.columns(job.terms.first_row))
    elif form == "json":
        out.write(detection.to_json(indent=2))
    else:
        lines = [detection.heading(), *(item.to_dict() for item in detection.rows)]
        out.write_all(json_line(content).rstrip("\n") for content in lines)


def _opened(
    data: Table | Feeder, options: dict[str, Any], column: str | None
) -> tuple[Explainer, ColumnScores | None]:
    """Prepare the table; a column of scores is kept apart."""
    table, scores = header_of(data), None
    if column is not None:
        if not isinstance(data, Table):
            raise OptionError(
                f"--score-column needs all rows in memory; {table.source} is read as a stream"
            )
        scores = ColumnScores.of(table, column, options.get("infinite", "error"))
        data = table.without(column, detecting.HOLDS_SCORES)
    return Explainer(data, **column_choices(options, table)), scores


@click.command(cls=GroupedCommand)
@click.argument("source")
@set_options
@writing_option("--top", type=int, default=5, help="Most rules to tell.  [default: 5]")
@format_option(("text", "json"), "For people or for programs.")
@output_option
@table_options
def compare(source: str, top: int, form: str, output: str | None, **given: Any) -> None:
    """Say what sets some rows apart from all others, as rules.

    Each rule is told with how often it is right. Name the rows by --where-true COLUMN, by --where
    COLUMN=VALUE (all rows with these values), by --rows or by --rows-file. The columns that name
    them are not compared.
    """
    naming, most = Naming.taken_from(given), check_whole(OptionName("top"), top, 1)
    naming.check_standard_input(source)
    data = open_source(source, take_reading(given))
    whole = None
    if not isinstance(data, Table):
        columns = Explainer(data).table
        naming.request(columns, is_streamed=True)  # which refuses numbers of rows
        own = column_choices(given_of(given), columns)
        own = {name: own[name] for name in ("types", "infinite") if name in own}
        data, whole = Explainer(data, **own).drawn()
    request = naming.request(data, is_streamed=False)
    named = dict(request.wheres[0]) if request.wheres else {}
    with Output.to(output, (source, *naming.files)) as out:
        explainer = Explainer(
            data, **column_choices(given_of(given), data, (*naming.marks, *named))
        )
        table = explainer.table
        inside = np.zeros(table.rows, dtype=bool)
        inside[table.matching(named) if named else list(request.rows or ())] = True
        found = explained_set(explainer, inside, most, whole)
        out.write(found.to_json(indent=2) if form == "json" else found.text())
