"""The command line: arguments -> explain -> render. Errors of the user exit with code 2."""

from __future__ import annotations

import dataclasses
import json
import sys
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import click
from click.shell_completion import get_completion_class

import outlying
from outlying import options as choices
from outlying import sources
from outlying.api import Explainer
from outlying.cli.columns import Decorator, column_options, names
from outlying.cli.columns import types as read_types
from outlying.cli.detect import command as detect
from outlying.cli.jobs import Job, Loaded, run, writing_options
from outlying.cli.paper import paper
from outlying.cli.reading import Reading, stream_options, streamed
from outlying.cli.targets import Naming, naming_options
from outlying.cli.terminal import rendered
from outlying.errors import OptionError
from outlying.render.files import Output


def main() -> None:
    """Run the command line."""
    try:
        cli.main(standalone_mode=False)
    except outlying.OutlyingError as error:
        _fail(click.ClickException(str(error)))
    except click.ClickException as error:
        _fail(error)
    except (KeyboardInterrupt, click.Abort) as stop:
        said = str(stop.__cause__ or "")  # what the interrupted work has to say
        click.echo(said or "Interrupted; nothing was written.", err=True)
        sys.exit(130)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        sys.stderr.close()
        sys.exit(0)


def _fail(error: click.ClickException) -> None:
    """Show what the user can repair: a message, no traceback, exit code 2."""
    error.show()
    sys.exit(2)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(outlying.__version__, prog_name="outlying")
def cli() -> None:
    """Why is this row an outlier? Ranked, readable pairs of context and property.

    Try `outlying demo` first, then `outlying explain FILE --row N` on a file of your own, or
    `outlying detect FILE` where no row is known to be odd.
    """


cli.add_command(detect)
cli.add_command(paper)


def _choice(name: str, kind: Any, help_text: str) -> Decorator:
    default = getattr(choices.Options(), name)
    values = click.Choice(get_args(kind))
    return click.option(
        f"--{name}", type=values, default=default, show_default=True, help=help_text
    )


def _number(name: str, kind: Any, help_text: str) -> Decorator:
    default = getattr(choices.Options(), name)
    flag = "--" + name.replace("_", "-")
    return click.option(flag, type=kind, default=default, show_default=True, help=help_text)


@cli.command()
@click.argument("source")
@naming_options
@_number("min_support", float, "Share of all rows that a context must keep.")
@_number("min_outlierness", float, "Score from which a pair is exceptional.")
@_number("min_confidence", float, "Share of other rows whose findings must be weaker.")
@click.option(
    "--references",
    type=int,
    help="How many other rows to compare with; 0: none.  [default: 200, fewer in large tables]",
)
@_number("max_conditions", int, "Most conditions in a context.")
@_choice("search", choices.Search, "Guided beyond two conditions, or every context (slow).")
@click.option("--exact", is_flag=True, help="Search all rows of a large table, not a sample.")
@_choice("measure", choices.Measure, "Free of units, or the paper's own.")
@_choice("scales", choices.Scales, "Intervals of several scales, or the paper's single one.")
@_choice("interval", choices.Interval, "A run of values, or the span of the whole component.")
@_choice("bandwidth", choices.Bandwidth, "One window for all rows, or wider ones in thin places.")
@column_options
@stream_options
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
    **given: Any,
) -> None:
    """Explain one row of SOURCE, or many: a CSV, TSV, Parquet or JSON lines file.

    Or of what is read as a stream: a folder or pattern of such files, a database (DuckDB, SQLite,
    postgresql://...) with --table, spark://HOST:PORT/path-or-table. Name the row by --row, by
    --where, or give a new object by --object; name many by --rows, --rows-file, --where-file,
    --where-true or --objects.
    """
    naming = Naming.taken_from(given)
    reading = Reading.taken_from(source, given)
    job = Job.of(naming, form, output, resume, workers)
    choices.Options.of(**given)  # a wrong value is said before a large file is read

    def load() -> Loaded:
        feeder = reading.feeder()
        if feeder is not None:
            return streamed(feeder, job, given, columns, exclude, types)
        table = sources.read(source)
        chosen: dict[str, Any] = {
            "columns": names(columns, table) or None,
            "exclude": names(exclude, table),
        }
        kept = naming.compared(table)
        explainer = Explainer(kept, **given, **chosen, types=read_types(types, table))
        return Loaded(explainer, naming.targets(table, explainer.table, explainer.options))

    run(job, load)


@cli.command()
@click.option(
    "--save", metavar="FOLDER", help="Write the example's two files there instead of explaining it."
)
def demo(save: str | None) -> None:
    """Explain a sick patient against 800 healthy people: an example that is built in."""
    files = resources.files("outlying") / "data"
    if save is not None:
        for name in ("patients.csv", "patient.json"):
            with Output.to(str(Path(save) / name)) as out:
                out.write((files / name).read_text(encoding="utf-8").rstrip("\n"))
        click.echo(
            f"Saved. Now try: outlying explain {Path(save) / 'patients.csv'} "
            f"--object {Path(save) / 'patient.json'}"
        )
        return
    patient = json.loads((files / "patient.json").read_text(encoding="utf-8"))
    with resources.as_file(files / "patients.csv") as path:
        table = dataclasses.replace(sources.read(path), source="patients.csv")
    findings = Explainer(table).explain(object=patient)
    click.echo(rendered(findings, sys.stdout.isatty()))
    click.echo(
        "\nThe same on a file of your own:\n"
        "  outlying explain FILE.csv --row 17           (data rows are counted from 1)\n"
        "  outlying explain FILE.csv --where id=A17     (the only row with that value)\n"
        "  outlying demo --save .                       (the files of this example)"
    )


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for a shell; see docs/cli.md for where to put it."""
    kind = get_completion_class(shell)
    if kind is None:
        raise OptionError(f"no completion for {shell!r}; allowed: bash, zsh or fish")
    click.echo(kind(cli, {}, "outlying", "_OUTLYING_COMPLETE").source())
