"""The command line: arguments -> explain -> render. Errors of the user exit with code 2."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias, get_args

import click
from click.shell_completion import get_completion_class

import outlying
from outlying import options as choices
from outlying import sources
from outlying.errors import ColumnError, ObjectError, OptionError, RowError, unknown_name
from outlying.explain import Explainer
from outlying.findings import Findings
from outlying.output import Output
from outlying.render import text
from outlying.search import Progress
from outlying.table import Table
from outlying.values import Value, read_text

Decorator: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]

_STYLES: dict[str, dict[str, Any]] = {
    "title": {"bold": True},
    "exceptional": {},
    "ordinary": {"dim": True},
    "detail": {"dim": True},
}
_PATIENCE = 1.0  # seconds before a progress line appears


def main() -> None:
    """Run the command line."""
    try:
        cli.main(standalone_mode=False)
    except outlying.OutlyingError as error:
        _fail(click.ClickException(str(error)))
    except click.ClickException as error:
        _fail(error)
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted; nothing was written.", err=True)
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

    Try `outlying demo` first, then `outlying explain FILE --row N` on a file of your own.
    """


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


def _repeated(flag: str, metavar: str, help_text: str, name: str | None = None) -> Decorator:
    names = (flag,) if name is None else (flag, name)
    return click.option(*names, multiple=True, metavar=metavar, help=help_text)


@cli.command()
@click.argument("source")
@click.option("--row", type=int, help="The row to explain: data rows are counted from 1.")
@_repeated("--where", "COLUMN=VALUE", "The only row with this value; repeat to narrow.")
@click.option(
    "--object",
    "object_file",
    metavar="FILE",
    help="A new object, as JSON in a file or - for standard input.",
)
@_number("min_support", float, "Share of all rows that a context must keep.")
@_number("min_outlierness", float, "Score from which a pair is exceptional.")
@_number("min_confidence", float, "Share of other rows whose findings must be weaker.")
@click.option(
    "--references",
    type=int,
    help="How many other rows to compare with; 0: none.  [default: 200, fewer in wide tables]",
)
@_number("max_conditions", int, "Most conditions in a context.")
@_choice("search", choices.Search, "Guided beyond two conditions, or every context (slow).")
@_choice("measure", choices.Measure, "Free of units, or the paper's own.")
@_choice("scales", choices.Scales, "Intervals of several scales, or the paper's single one.")
@_choice("interval", choices.Interval, "A run of values, or the span of the whole component.")
@_choice("bandwidth", choices.Bandwidth, "One window for all rows, or wider ones in thin places.")
@_repeated("--columns", "NAMES", "Only these columns; separate by commas or repeat.")
@_repeated("--exclude", "NAMES", "Not these columns; separate by commas or repeat.")
@_repeated("--type", "COLUMN=TYPE", "Read a column as numeric, categorical or datetime.", "types")
@_choice("infinite", choices.Infinite, "Refuse infinite values, or count them as missing.")
@click.option("--seed", type=int, help="Start the mixtures at random (the paper) from this seed.")
@_number("top", int, "Most pairs to show.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for programs.",
)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
def explain(
    source: str,
    row: int | None,
    where: tuple[str, ...],
    object_file: str | None,
    columns: tuple[str, ...],
    exclude: tuple[str, ...],
    types: tuple[str, ...],
    form: str,
    output: str | None,
    **given: Any,
) -> None:
    """Explain one row of SOURCE: a CSV, TSV, Parquet or JSON lines file.

    Name the row by --row, by --where, or give a new object by --object.
    """
    ways = sum([row is not None, bool(where), object_file is not None])
    if ways == 0:
        raise OptionError("which row? Name it by --row N, --where COLUMN=VALUE or --object FILE")
    if ways > 1:
        raise OptionError("the row is named twice; use exactly one of --row, --where and --object")
    choices.Options.of(**given)  # a wrong value is said before a large file is read
    with Output.to(output) as out:
        table = sources.read(source)
        given |= {"columns": _names(columns, table) or None, "exclude": _names(exclude, table)}
        explainer = Explainer(table, **given, types=_types(types, table))
        target = _target(explainer, row, where, object_file)
        with _progress() as progress:
            findings = explainer.explain(**target, progress=progress)
            explainer.prepare(progress)
        out.write(_rendered(findings, form, out.is_terminal))


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
    click.echo(_rendered(findings, "text", sys.stdout.isatty()))
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


def _names(given: Sequence[str], table: Table) -> list[str]:
    """Split lists of names at commas, except in names that hold commas themselves."""
    known = {*table.names, *(item.name for item in table.skipped)}
    return [
        name.strip() if name not in known else name
        for text_given in given
        for name in ([text_given] if text_given in known else text_given.split(","))
    ]


def _types(given: Sequence[str], table: Table) -> dict[str, str]:
    return dict(_assignment(item, table, "--type") for item in given)


def _assignment(item: str, table: Table, flag: str) -> tuple[str, str]:
    """Split COLUMN=VALUE at the equals sign behind a known column."""
    if "=" not in item:
        raise OptionError(f"{flag} is {item!r}; allowed: COLUMN=VALUE")
    places = [place for place, char in enumerate(item) if char == "="]
    for place in places:
        if item[:place] in table.names:
            return item[:place], item[place + 1 :]
    raise ColumnError(unknown_name("column", item[: places[0]], table.names))


def _target(
    explainer: Explainer, row: int | None, where: Sequence[str], object_file: str | None
) -> dict[str, Any]:
    if object_file is not None:
        return {"object": _json_object(object_file)}
    if where:
        return {"where": dict(_condition(item, explainer.table) for item in where)}
    if row is None or not 1 <= row <= explainer.rows:
        raise RowError(
            f"row {row} does not exist: {explainer.table.source} has {explainer.rows:,} data rows, "
            f"counted from 1 to {explainer.rows}"
        )
    return {"row": row - 1}


def _condition(item: str, table: Table) -> tuple[str, Value]:
    name, value = _assignment(item, table, "--where")
    try:
        return name, read_text(table.column(name).form, value)
    except ValueError as error:
        raise RowError(f"--where: column {name!r} expects {error}, got {value!r}") from None


def _json_object(file: str) -> Mapping[str, Any]:
    try:
        content = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        value = json.loads(content)
    except (OSError, UnicodeDecodeError) as error:
        raise ObjectError(f"cannot read the object from {file}: {_reason(error)}") from None
    except json.JSONDecodeError as error:
        raise ObjectError(f"{file} does not hold valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise ObjectError(
            f"{file} holds a JSON {type(value).__name__}; needed is one object, "
            'such as {"age": 40, "sex": "female"}'
        )
    return value


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8 text"


def _rendered(findings: Findings, form: str, is_terminal: bool) -> str:
    if form == "json":
        return findings.to_json(indent=2)
    width = min(100, shutil.get_terminal_size((88, 24)).columns) if is_terminal else 88
    return text.render(findings, width, _coloured if is_terminal else text.no_style)


def _coloured(content: str, role: str) -> str:
    return click.style(content, **_STYLES[role])


@contextlib.contextmanager
def _progress() -> Iterator[Progress | None]:
    """Show how far the search is, on a terminal only, and only when it takes a while."""
    if not sys.stderr.isatty():
        yield None
        return
    begin = time.monotonic()

    def show(done: int, total: int) -> None:
        if time.monotonic() - begin > _PATIENCE:
            click.echo(
                f"\r  working: {100 * done // max(1, total):3d}% of this step", nl=False, err=True
            )

    yield show
    if time.monotonic() - begin > _PATIENCE:
        click.echo("\r" + " " * 40 + "\r", nl=False, err=True)
