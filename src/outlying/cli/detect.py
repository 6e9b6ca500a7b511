"""The command `detect`: arguments -> detect -> flagged rows, explained where asked for."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import click

from outlying import options as choices
from outlying.api import Explainer
from outlying.cli.options import (
    Decorator,
    Reading,
    column_options,
    names,
    source_options,
    stream_options,
    types,
)
from outlying.cli.resume import line as json_line
from outlying.cli.targets import Naming
from outlying.cli.terminal import DETECT, detected, progress_line
from outlying.cli.writing import Job, Loaded, run, writing_options
from outlying.detect.api import FEATURE_BAGGING, HOLDS_SCORES, OWN_DETECTORS, STRENGTH
from outlying.detect.api import detect as find_odd_rows
from outlying.detect.given_scores import ColumnScores
from outlying.detect.strength import Progress
from outlying.errors import OptionError
from outlying.options import BAGGING, Bagging, Infinite, Options, check_whole
from outlying.render.files import Output
from outlying.results.detections import Detection
from outlying.sources.passes import Feeder
from outlying.table.table import Table
from outlying.table.targets import RowRequest, Targets

_OF_COLUMNS = ("columns", "exclude", "types", "infinite", "derive")
_MORE = "More on each row: add --explain."
_FOR_EXPLAIN = ("pairs", "references")


def _choice(name: str, kind: Any, help_text: str) -> Decorator:
    """Offer a choice; what is not given stays unknown, so that a useless one can be refused."""
    default = getattr(Bagging(), name)
    return click.option(
        f"--{name}", type=click.Choice(get_args(kind)), help=f"{help_text}  [default: {default}]"
    )


def _number(name: str, kind: Any, help_text: str, default: object = None) -> Decorator:
    shown = getattr(Bagging(), name) if default is None else default
    return click.option(f"--{name}", type=kind, help=f"{help_text}  [default: {shown}]")


@click.command()
@click.argument("source")
@click.option("--top", type=int, default=10, show_default=True, help="How many rows to flag.")
@click.option(
    "--detector",
    type=click.Choice(OWN_DETECTORS),
    help="Rank by the findings of every row, or by the distance to neighbours.  "
    "[default: strength]",
)
@_number("rounds", int, "How often to compare rows, each time by other columns.")
@_number("neighbours", int, "How many neighbours a row is compared with.")
@_choice("base", choices.Base, "Distance to the last neighbour, or neighbours in a radius.")
@_number("radius", float, "That radius, per attribute.", "one that is enough for 95% of rows")
@_choice("combine", choices.Combine, "By the best rank, by first places, or by the mean score.")
@_choice("scale", choices.Scale, "What makes numbers comparable; none: their own units.")
@_number("seed", int, "Another seed draws other attributes in each round.")
@click.option("--score-column", metavar="NAME", help="Rank by this column; it is not compared.")
@click.option("--lowest", is_flag=True, help="With --score-column: low scores are abnormal.")
@column_options
@stream_options
@source_options
@click.option(
    "--infinite",
    type=click.Choice(get_args(Infinite)),
    default="error",
    show_default=True,
    help="Refuse infinite values, or count them as missing.",
)
@click.option("--explain", is_flag=True, help="Explain each flagged row.")
@click.option("--pairs", type=int, help="With --explain: most pairs to show.  [default: 10]")
@click.option("--references", type=int, hidden=True)  # without effect: a note says so
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
    job = Job.of(source, Naming.found(), form, output, resumed, workers, everything, DETECT)
    reading = Reading.taken_from(source, given)
    request = _Request.of(given, explain, ["--resume"] * resume + ["--all"] * everything)
    if form == "html" and not explain:
        raise OptionError("--format html is a page of explanations: add --explain")

    def load() -> Loaded:
        explainer = request.explainer(reading.opened())
        if explainer.is_streamed and resumed:
            raise OptionError(
                f"{explainer.table.source} is read as a stream: all rows are explained at once, so "
                "that there is nothing to continue; leave --resume out"
            )
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
    columns: dict[str, Any]
    score_column: str | None
    lowest: bool
    top: int
    detector: str
    _scores: ColumnScores | None = None

    @classmethod
    def of(cls, given: dict[str, Any], explain: bool, flags: list[str]) -> _Request:
        """Check what can be checked before a large file is read."""
        known = {name: value for name, value in given.items() if value is not None}
        bagging = {name: known.pop(name) for name in BAGGING if name in known}
        explaining = {name: known.pop(name) for name in _FOR_EXPLAIN if name in known}
        useless = [f"--{name}" for name in explaining] + flags
        if useless and not explain:
            raise OptionError(f"for {' and '.join(useless)} rows must be explained: add --explain")
        Bagging.of(**bagging)
        check_whole("top", known["top"], 1)
        if "pairs" in explaining:
            explaining["top"] = check_whole("pairs", explaining.pop("pairs"), 1)
        Options.of(**explaining)
        columns = {name: known.pop(name) for name in _OF_COLUMNS}
        score_column, lowest = known.pop("score_column", None), known.pop("lowest")
        _check_scores(score_column, lowest, bagging)
        detector = _checked_detector(known.pop("detector", None), score_column, bagging)
        own = score_column, lowest, known.pop("top"), detector
        return cls(bagging, explaining, columns, *own)

    def explainer(self, data: Table | Feeder) -> Explainer:
        """Prepare the table; a column of scores is kept apart."""
        table = data if isinstance(data, Table) else Explainer(data).table
        compared = data
        if self.score_column is not None:
            if not isinstance(data, Table):
                raise OptionError(
                    f"--score-column needs all rows in memory; {table.source} is read as a stream"
                )
            self._scores = ColumnScores.of(table, self.score_column, self.columns["infinite"])
            compared = table.without(self.score_column, HOLDS_SCORES)
        return Explainer(compared, **self.explaining, **self._columns(table))

    def _columns(self, table: Table) -> dict[str, Any]:
        return {
            "columns": names(self.columns["columns"], table) or None,
            "exclude": names(self.columns["exclude"], table),
            "types": types(self.columns["types"], table),
            "infinite": self.columns["infinite"],
            "derive": self.columns["derive"],
        }

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
