"""`outlying fit`: keep what rows are judged by."""

from __future__ import annotations

import os
from typing import Any

import click

from outlying.api import Explainer
from outlying.cli.options import (
    GroupedCommand,
    column_choices,
    declared,
    given_of,
    grouped,
    names,
    open_source,
    reading_options,
    take_reading,
)
from outlying.cli.terminal import progress_line
from outlying.errors import OptionError, harmless
from outlying.options import COLUMN_OPTIONS, CONTEXT_OPTIONS
from outlying.table.table import Table


@click.command(cls=GroupedCommand)
@click.argument("source")
@grouped("Output", "-o", "--output", metavar="FILE", required=True, help="The file to write.")
@grouped(
    "Output",
    "--redact",
    multiple=True,
    metavar="NAMES",
    help="Keep no values of these columns: labels as hashes, numbers not at all.",
)
@grouped(
    "Output", "--min-group", type=int, help="Put labels of fewer rows together.  [default: none]"
)
@grouped("Output", "--quiet", is_flag=True, help="Say nothing.")
@declared(CONTEXT_OPTIONS.values())
@declared(COLUMN_OPTIONS.values())
@reading_options
def fit(source: str, output: str, **given: Any) -> None:
    """Keep what rows are judged by: a model of SOURCE, for `--against`.

    The file holds up to 20,000 rows, drawn at random where there are more; see docs/pipeline.md.
    """
    reading = take_reading(given)
    quiet, redact, least = given.pop("quiet"), given.pop("redact"), given.pop("min_group")
    if output == "-":
        raise OptionError("a model is a file; name one by -o FILE")
    data = open_source(source, reading)
    table = data if isinstance(data, Table) else Explainer(data).table
    explainer = Explainer(data, **column_choices(given_of(given), table))
    with progress_line(quiet) as line:
        explainer.standing(line.step)  # what cannot be judged is not kept
        kept = explainer.save(
            output, redact=names(redact, table), min_group=least, inputs=(source,)
        )
    if not quiet:
        size = os.path.getsize(output)  # noqa: PTH202 - it may be a device
        said = f"{output}: {kept.table.rows:,} of {kept.total:,} rows, {size:,} bytes"
        click.echo(harmless(said), err=True)
