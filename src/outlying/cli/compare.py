"""`outlying compare`: what sets some rows of a table apart from all others."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from outlying.api import Explainer
from outlying.checks import check_whole
from outlying.cli.options import (
    GroupedCommand,
    Naming,
    column_choices,
    declared,
    given_of,
    grouped,
    naming_options,
    open_source,
    reading_options,
    take_reading,
)
from outlying.detect.rules import explained_set
from outlying.errors import OptionError
from outlying.options import COLUMN_OPTIONS, CONTEXT_OPTIONS
from outlying.render.files import Output
from outlying.table.table import Table

_WAYS = ("where", "where_true", "rows", "rows_file")


@click.command(cls=GroupedCommand)
@click.argument("source")
@naming_options
@grouped("Output", "--top", type=int, default=5, help="Most rules to tell.  [default: 5]")
@grouped(
    "Output",
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    help="For people or for programs.  [default: text]",
)
@grouped("Output", "-o", "--output", metavar="FILE", help="Write to a file.")
@declared(CONTEXT_OPTIONS.values())
@declared(COLUMN_OPTIONS.values())
@reading_options
def compare(source: str, top: int, form: str, output: str | None, **given: Any) -> None:
    """Say what sets some rows of SOURCE apart: rules, with how often each is right.

    Name the rows by --where-true COLUMN, by --where COLUMN=VALUE (all rows with these values), by
    --rows or by --rows-file. The columns that name them are not compared.
    """
    naming, most = Naming.taken_from(given), check_whole("top", top, 1)
    if naming.way not in _WAYS:
        raise OptionError(
            "which rows? Name them by --where-true COLUMN, --where COLUMN=VALUE, --rows or "
            "--rows-file"
        )
    naming.check_standard_input(source)
    data = open_source(source, take_reading(given))
    if not isinstance(data, Table):
        raise OptionError(
            f"compare needs all rows in memory; {source} is read as a stream: add --engine memory"
        )
    asked = naming.request(data, is_streamed=False)
    named = dict(asked.wheres[0]) if asked.wheres else {}
    with Output.to(output, (source, *naming.files)) as out:
        choices = column_choices(given_of(given), data, [*naming.marks, *named])
        explainer = Explainer(data, **choices)
        table = explainer.table
        rows = table.matching(named) if named else list(asked.rows or ())
        inside = np.zeros(table.rows, dtype=bool)
        inside[rows] = True
        found = explained_set(explainer, inside, most)
        out.write(found.to_json(indent=2) if form == "json" else found.text())
