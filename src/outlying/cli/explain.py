"""`outlying explain`: one row or many."""

from __future__ import annotations

from typing import Any, get_args

import click
from click.core import ParameterSource

from outlying import options as choices
from outlying.api import Explainer
from outlying.cli.options import (
    Decorator,
    Reading,
    column_options,
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


@click.command()
@click.argument("source")
@naming_options
@_choice("preset", choices.Preset, "All settings of the paper; others come on top.")
@click.option(
    "--min-support",
    type=float,
    help="Rows that a context must keep: a share below 1, or a number.  [default: 30 rows]",
)
@_number("min_outlierness", float, "Score from which a pair is exceptional.")
@_number("min_confidence", float, "Share of other rows whose findings must be weaker.")
@click.option(
    "--references",
    type=int,
    help="How many other rows to compare with; 0: none.  [default: 200, fewer in large tables]",
)
@_number("max_conditions", int, "Most conditions in a context.")
@_choice("search", choices.Search, "Guided beyond two conditions, or every context (slow).")
@_choice("minimality", choices.Minimality, "Larger contexts if much stronger, or never.")
@click.option("--exact", is_flag=True, help="Search all rows of a large table, not a sample.")
@_choice("measure", choices.Measure, "Free of units, or the paper's own.")
@_choice("scales", choices.Scales, "Intervals of several scales, or the paper's single one.")
@_choice("interval", choices.Interval, "A run of values, or the span of the whole component.")
@_choice("bandwidth", choices.Bandwidth, "One window for all rows, or wider ones in thin places.")
@column_options
@stream_options
@source_options
@_choice("infinite", choices.Infinite, "Refuse infinite values, or count them as missing.")
@_choice("discretise", choices.Discretise, "Cut numbers into bins first: the older method.")
@_number("bins", int, "How many bins, with --discretise.")
@click.option("--seed", type=int, help="Start the mixtures at random (the paper) from this seed.")
@_number("top", int, "Most pairs to show.")
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
    job = Job.of(naming, form, output, resume, workers, everything, EXPLAIN)
    if given["preset"] is not None:
        given = {name: value for name, value in given.items() if not _is_left_open(name)}
    choices.Options.of(**given)  # a wrong value is said before a large file is read

    run(job, lambda: _load(reading, job, given, (columns, exclude, types)))


def _is_left_open(name: str) -> bool:
    """Return whether an option has its default, which a preset replaces."""
    source = click.get_current_context().get_parameter_source(name)
    return name in choices.PAPER and source is ParameterSource.DEFAULT


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
