"""`outlying explain`: why rows are odd. `outlying detect`: which are, explained if asked for."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from outlying.api import Explainer
from outlying.checks import check_whole
from outlying.cli.options import (
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
from outlying.cli.terminal import DETECT, EXPLAIN, detected, progress_line
from outlying.cli.writing import Loaded, WriteJob, refuse_resuming, run, writing_options
from outlying.detect.api import FEATURE_BAGGING, HOLDS_SCORES, OWN_DETECTORS, STRENGTH
from outlying.detect.api import detect as find_odd_rows
from outlying.detect.given_scores import ColumnScores
from outlying.detect.strength import Progress
from outlying.errors import OptionError
from outlying.options import BAGGING, COLUMN_OPTIONS, EXPLAIN_OPTIONS, Bagging, Options, ReadOptions
from outlying.render.files import Output
from outlying.results.detections import Detection
from outlying.sources.passes import Feeder
from outlying.table.table import Table
from outlying.table.targets import RowRequest, Targets


@click.command(cls=GroupedCommand)
@click.argument("source")
@naming_options
@declared(EXPLAIN_OPTIONS.values())
@reading_options
@writing_options
def explain(
    source: str,
    form: str,
    output: str | None,
    resume: bool,
    workers: int | None,
    everything: bool,
    **given: Any,
) -> None:
    """Explain one row of SOURCE, or many: a CSV, TSV, JSON, Parquet, Arrow, ORC or Excel file.

    SOURCE may be compressed, an address (https://, s3://, gs://, az://), or - for standard input.
    Or what is read as a stream: a folder or pattern of such files, a Delta Lake or Iceberg table,
    a database (DuckDB, SQLite, postgresql://...) with --table, spark://HOST:PORT/path-or-table.
    Name the row by --row, by --where, or give a new object by --object; name many by --rows,
    --rows-file, --where-file, --where-true or --objects.
    """
    naming = Naming.taken_from(given)
    naming.check_standard_input(source)
    reading = take_reading(given)
    job = WriteJob.of(source, naming, form, output, resume, workers, everything, EXPLAIN)
    options = given_of(given)
    of_columns = ("columns", "exclude", "types")  # the table is needed to read these
    Options.of(**{name: options[name] for name in options if name not in of_columns})
    run(job, lambda: _load(source, reading, job, options))


def _load(source: str, reading: ReadOptions, job: WriteJob, options: dict[str, Any]) -> Loaded:
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
    with progress_line() as line:
        return Loaded(explainer, explainer.targets(request, line.step, job.workers))


_MORE = "More on each row: add --explain."
#: Options of explanations that count with --explain only, beside those of columns.
_FOR_EXPLAIN = ("top", "references")
_ranking_options = all_of(
    grouped("Ranking", "--top", type=int, default=10, show_default=True, help="Rows to flag."),
    grouped(
        "Ranking",
        "--detector",
        type=click.Choice(OWN_DETECTORS),
        help="Rank by the findings of every row, or by the distance to neighbours.  "
        "[default: strength]",
    ),
    grouped(
        "Ranking", "--score-column", metavar="NAME", help="Rank by this column; it is not compared."
    ),
    grouped(
        "Ranking", "--lowest", is_flag=True, help="With --score-column: low ones are abnormal."
    ),
    grouped("Ranking", "--explain", is_flag=True, help="Explain each flagged row."),
    grouped(
        "Ranking", "--pairs", type=int, help="With --explain: most pairs to show.  [default: 10]"
    ),
)


@click.command(cls=GroupedCommand)
@click.argument("source")
@_ranking_options
@declared(BAGGING.values())
@declared((*COLUMN_OPTIONS.values(), EXPLAIN_OPTIONS["references"]))
@reading_options
@writing_options
def detect(
    source: str,
    explain: bool,
    form: str,
    output: str | None,
    resume: bool,
    workers: int | None,
    everything: bool,
    **given: Any,
) -> None:
    """Find the rows of SOURCE that stand out: any file or address that `explain` takes.

    Rows are ranked by their strongest findings, each with its reason; by feature bagging
    (--detector); or by the scores of a column (--score-column). --explain adds all findings.
    """
    resumed = resume and explain
    job = WriteJob.of(source, Naming.nothing(), form, output, resumed, workers, everything, DETECT)
    reading = take_reading(given)
    request = _Request.of(given, explain, ["--resume"] * resume + ["--all"] * everything)
    if form == "html" and not explain:
        raise OptionError("--format html is a page of explanations: add --explain")

    def load() -> Loaded:
        explainer = request.explainer(open_source(source, reading))
        if explainer.is_streamed:
            refuse_resuming(job, explainer.table)
        with progress_line() as line:
            detection = request.detection(explainer, workers, line.step)
            targets = _targets(explainer, detection, workers, line.step) if explain else Targets(())
        return Loaded(explainer, targets, detection)

    if explain:
        run(job, load)
        return
    with Output.to(job.file, job.inputs) as out:
        _write(form, out, load().detection)


def _targets(
    explainer: Explainer, detection: Detection, workers: int | None, progress: Progress
) -> Targets:
    """Name the rows to explain: by position, or, of a stream, by what they hold."""
    if not explainer.is_streamed:
        return Targets.of_rows(detection.positions).with_labels(explainer.table)
    wheres = [dict(item.key or item.values) for item in detection.rows]
    return explainer.targets(RowRequest(wheres=wheres), progress, workers)


def _write(form: str, out: Output, detection: Detection | None) -> None:
    assert detection is not None  # noqa: S101 - load has just made it
    if form == "text":
        out.write(detected(detection, out.is_terminal) + f"\n\n{_MORE}")
    elif form == "json":
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
    top: int
    detector: str
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
        top = check_whole("top", known.pop("top"), 1)
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

    def detection(self, explainer: Explainer, workers: int | None, progress: Any) -> Detection:
        """Find the rows."""
        return find_odd_rows(
            explainer,
            top=self.top,
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
