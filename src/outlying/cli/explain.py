"""`outlying explain`: one row or many."""

from __future__ import annotations

from typing import Any

import click

from outlying.api import Explainer
from outlying.cli.options import (
    GroupedCommand,
    column_choices,
    declared,
    given_of,
    open_source,
    reading_options,
    take_reading,
)
from outlying.cli.targets import Naming, naming_options
from outlying.cli.terminal import EXPLAIN, progress_line
from outlying.cli.writing import Job, Loaded, refuse_resuming, run, writing_options
from outlying.options import EXPLAIN_OPTIONS, Options, ReadOptions
from outlying.table.table import Table


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
    job = Job.of(source, naming, form, output, resume, workers, everything, EXPLAIN)
    options = given_of(given)
    of_columns = ("columns", "exclude", "types")  # the table is needed to read these
    Options.of(**{name: options[name] for name in options if name not in of_columns})
    run(job, lambda: _load(source, reading, job, options))


def _load(source: str, reading: ReadOptions, job: Job, options: dict[str, Any]) -> Loaded:
    """Open the table, and find what is named in it."""
    data = open_source(source, reading)
    if isinstance(data, Table):
        compared = job.naming.compared(data)
        explainer = Explainer(compared, **column_choices(options, data))
        targets = job.naming.targets(data, explainer.table, explainer.options)
        return Loaded(explainer, targets.with_labels(explainer.table))
    whole = Explainer(data).table
    refuse_resuming(job, whole)
    explainer = Explainer(data, **column_choices(options, whole, job.naming.marks))
    with progress_line() as line:
        return Loaded(explainer, explainer.targets(job.naming.asked(whole), line.step, job.workers))
