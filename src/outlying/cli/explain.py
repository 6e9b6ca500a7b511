"""`outlying explain`: one row or many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import click
from click.core import ParameterSource

from outlying import options as choices
from outlying.api import Explainer
from outlying.cli.options import (
    Decorator,
    Reading,
    column_options,
    decorated,
    names,
    source_options,
    stream_options,
)
from outlying.cli.options import types as read_types
from outlying.cli.targets import Naming, naming_options
from outlying.cli.terminal import EXPLAIN, progress_line
from outlying.cli.writing import Job, Loaded, run, writing_options
from outlying.errors import OptionError
from outlying.table.table import Table


def _choice(name: str, kind: Any, help_text: str) -> Decorator:
    default = getattr(choices.Options(), name, None)
    values = click.Choice(get_args(kind))
    return click.option(
        f"--{name}", type=values, default=default, show_default=True, help=help_text
    )


def _number(name: str, kind: Any, help_text: str) -> Decorator:
    default = getattr(choices.Options(), name)
    flag = "--" + name.replace("_", "-")
    return click.option(flag, type=kind, default=default, show_default=True, help=help_text)


def _of_paper(name: str, kind: Any, help_text: str) -> Decorator:
    """Return an option that counts with --preset paper only."""
    default = getattr(choices.PaperOptions(), name)
    usual = "" if default is None else f"  [default: {default}]"
    flag, values = "--" + name.replace("_", "-"), get_args(kind)
    said = f"With --preset paper: {help_text}{usual}"
    return click.option(flag, type=click.Choice(values) if values else kind, help=said)


_PAPER_OPTIONS: tuple[Decorator, ...] = (
    _of_paper("min_outlierness", float, "score from which a pair is exceptional."),
    _of_paper("measure", choices.Measure, "its own score, or one free of units."),
    _of_paper("scales", choices.Scales, "a single interval, or some of several scales."),
    _of_paper("interval", choices.Interval, "the span of a component, or a run of values."),
    _of_paper("bandwidth", choices.Bandwidth, "one window, or wider ones in thin places."),
    _of_paper("discretise", choices.Discretise, "cut numbers into bins first: the older method."),
    _of_paper("bins", int, "how many bins, with --discretise."),
    _of_paper("seed", int, "start the mixtures at random from this seed."),
)


def _paper_options(command: Callable[..., None]) -> Callable[..., None]:
    return decorated(command, _PAPER_OPTIONS)


@click.command()
@click.argument("source")
@naming_options
@_choice("preset", choices.Preset, "The paper's own method and settings.")
@click.option(
    "--min-support",
    type=float,
    help="Rows that a context must keep: a share below 1, or a number.  [default: 30 rows]",
)
@click.option("--min-confidence", type=float, hidden=True)  # without effect: a note says so
@click.option("--references", type=int, hidden=True)
@_number("max_conditions", int, "Most conditions in a context.")
@click.option("--exact", is_flag=True, help="Judge by all rows of a large table, not by a sample.")
@column_options
@stream_options
@source_options
@_choice("infinite", choices.Infinite, "Refuse infinite values, or count them as missing.")
@_number("top", int, "Most pairs to show.")
@_paper_options
@writing_options
def explain(
    source: str,
    columns: tuple[str, ...],
    exclude: tuple[str, ...],
    types: tuple[str, ...],
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
    reading = Reading.taken_from(source, given)
    job = Job.of(source, naming, form, output, resume, workers, everything, EXPLAIN)
    is_paper = given["preset"] is not None
    given = {name: value for name, value in given.items() if not _is_left_open(name, is_paper)}
    choices.Options.of(**given)  # a wrong value is said before a large file is read

    run(job, lambda: _load(reading, job, given, (columns, exclude, types)))


def _is_left_open(name: str, is_paper: bool) -> bool:
    """Return whether an option has its default, which a preset replaces or knows itself."""
    source = click.get_current_context().get_parameter_source(name)
    is_open = name in choices.PAPER_OPTIONS or (is_paper and name in choices.PAPER)
    return is_open and source is ParameterSource.DEFAULT


def _load(
    reading: Reading, job: Job, given: dict[str, Any], columns: tuple[tuple[str, ...], ...]
) -> Loaded:
    """Open the table, and find what is named in it."""
    data = reading.opened()
    if isinstance(data, Table):
        explainer = _explainer(job.naming.compared(data), data, given, columns, [])
        targets = job.naming.targets(data, explainer.table, explainer.options)
        return Loaded(explainer, targets.with_labels(explainer.table))
    whole = Explainer(data).table
    if job.resume:
        raise OptionError(
            f"{whole.source} is read as a stream: all rows are explained at once, so that there "
            "is nothing to continue; leave --resume out"
        )
    explainer = _explainer(data, whole, given, columns, job.naming.marks)
    with progress_line() as line:
        return Loaded(explainer, explainer.targets(job.naming.asked(whole), line.step, job.workers))


def _explainer(
    data: Any,
    whole: Table,
    given: dict[str, Any],
    columns: tuple[tuple[str, ...], ...],
    marks: list[str],
) -> Explainer:
    chosen, excluded, types = columns
    return Explainer(
        data,
        **given,
        columns=names(chosen, whole) or None,
        exclude=[*names(excluded, whole), *marks],
        types=read_types(types, whole),
    )
