"""`outlying fit`, `check` and `accept`: a model that is kept, a gate, findings that are fine."""

from __future__ import annotations

import datetime as dt
import os
import tomllib
from pathlib import Path
from typing import Any

import click

from outlying.api import Explainer
from outlying.cli.options import (
    GroupedCommand,
    against_option,
    all_of,
    column_choices,
    declared,
    fdr_option,
    given_of,
    grouped,
    names,
    open_source,
    reading_options,
    take_reading,
)
from outlying.cli.terminal import progress_line
from outlying.errors import NoRowsError, OptionError, harmless, shown, unknown_name
from outlying.gate import accepted, report
from outlying.gate.accepted import Accepted
from outlying.gate.backtest import backtest
from outlying.gate.check import Check, exceptional_stories
from outlying.gate.check import check as judge
from outlying.options import COLUMN_OPTIONS, CONTEXT_OPTIONS
from outlying.render.files import Output
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


#: Where options of `check` stand that are not given on the command line.
CONFIG_FILES = ("outlying.toml", "pyproject.toml")


def _configure(ctx: click.Context, _: click.Parameter, file: str | None) -> None:
    """Take options from a file: all of `outlying.toml`, `[tool.outlying]` of `pyproject.toml`."""
    path = Path(file) if file else next((p for p in map(Path, CONFIG_FILES) if p.is_file()), None)
    if path is None:
        return
    try:
        content: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise OptionError(f"{path}: is no TOML: {error}") from None
    if path.name == "pyproject.toml":
        content = content.get("tool", {}).get("outlying", {})
    known = {param.opts[0].removeprefix("--"): param for param in ctx.command.params}
    del known["config"]
    found = {}
    for given, value in content.items():
        flag = given.replace("_", "-")
        if flag not in known:
            raise OptionError(f"{path}: {unknown_name('option', given, known)}")
        param = known[flag]
        is_list = isinstance(value, list)
        if isinstance(value, dict) or (is_list and not param.multiple):
            raise OptionError(f"{path}: {given} is {shown(value)}; allowed: a single value")
        if isinstance(param, click.Option) and param.is_flag and not isinstance(value, bool):
            raise OptionError(f"{path}: {given} is {shown(value)}; allowed: true or false")
        found[param.name] = [value] if param.multiple and not is_list else value
    ctx.default_map = {**(ctx.default_map or {}), **found}


_check_options = all_of(
    grouped(
        "Verdict",
        "--max-exceptional",
        default="0",
        metavar="N|SHARE",
        help="So many exceptional rows may pass: a number, or a share such as 0.1%.  [default: 0]",
    ),
    grouped("Verdict", "--warn-above", metavar="N|SHARE", help="More are a warning."),
    fdr_option,
    grouped(
        "Verdict",
        "--backtest",
        metavar="COLUMN",
        help="Tell how many rows each past day would have raised, or each value of a column that "
        "is no date: judged by the rows before it. No verdict: exit code 0.",
    ),
    grouped(
        "Verdict",
        "--accept",
        metavar="FILE",
        help="Findings that were looked at (TOML) are silent.",
    ),
    grouped(
        "Verdict",
        "--where-true",
        metavar="COLUMN",
        help="The rows that this column marks are the wrong ones; none is clean.",
    ),
    grouped(
        "Verdict",
        "--config",
        is_eager=True,
        expose_value=False,
        callback=_configure,
        metavar="FILE",
        help="Options of this command.  [default: outlying.toml, or [tool.outlying] of "
        "pyproject.toml]",
    ),
    grouped(
        "Output",
        "--format",
        "form",
        type=click.Choice(("text", "json", "junit", "md", "github")),
        default="text",
        help="text; json; JUnit XML; md: for the page of a job; github: annotations.  "
        "[default: text]",
    ),
    grouped(
        "Output", "-o", "--output", metavar="FILE", help="Write to a file, not standard output."
    ),
    grouped("Output", "--quiet", is_flag=True, help="The summary line alone; no progress."),
)


@click.command(cls=GroupedCommand)
@click.argument("source")
@against_option
@_check_options
@declared(CONTEXT_OPTIONS.values())
@declared(COLUMN_OPTIONS.values())
@reading_options
@click.pass_context
def check(ctx: click.Context, /, source: str, **given: Any) -> None:
    """Say whether the rows of SOURCE may pass, for a nightly job.

    Exit code 0: clean, 1: findings, 2: could not run, 3: cannot judge (columns are missing or
    changed, too few rows). Without --against the table is judged by itself.
    """
    reading = take_reading(given)
    form, output, quiet = (given.pop(name) for name in ("form", "output", "quiet"))
    own = {name: given.pop(name) for name in _GATE}
    by = given.pop("backtest")
    inputs = [name for name in (source, own["against"], own["accept"]) if name is not None]
    with Output.to(output, inputs) as out:
        try:
            data = open_source(source, reading)
        except NoRowsError as error:
            found = Check("cannot judge", source, 0, faults=(str(error),))
        else:
            table = data if isinstance(data, Table) else Explainer(data).table
            choices = column_choices(given_of(given), table)
            if by is not None:
                out.write(_past(data, by, form, quiet, own, choices))
                return
            found = judge(data, **own, **choices)
        out.write(_written(found, form, quiet))
    ctx.exit(found.exit_code)


_GATE = ("against", "max_exceptional", "warn_above", "fdr", "accept", "where_true")
#: Options of a verdict that count for past days, too.
_OF_BACKTEST = ("against", "max_exceptional", "fdr")


def _past(
    data: Any, by: str, form: str, quiet: bool, own: dict[str, Any], choices: dict[str, Any]
) -> str:
    """Return how many rows each past day would have raised."""
    useless = [name for name in _GATE if own[name] is not None and name not in _OF_BACKTEST]
    if form not in ("text", "json"):
        raise OptionError(f"--backtest is told as text or json; leave --format {form} out")
    if useless:
        flags = " and ".join(f"--{name.replace('_', '-')}" for name in useless)
        raise OptionError(f"{flags}: for a verdict, which --backtest does not give; leave it out")
    found = backtest(data, by=by, **{name: own[name] for name in _OF_BACKTEST}, **choices)
    if form == "json":
        return found.to_json(indent=2)
    return found.summary if quiet else str(found)


def _written(found: Check, form: str, quiet: bool) -> str:
    if form == "json":
        return found.to_json(indent=2)
    if form == "text":
        return report.text(found, quiet=quiet)
    return {"junit": report.junit, "md": report.table, "github": report.github}[form](found)


@click.command(cls=GroupedCommand)
@click.argument("source")
@grouped("Which rows", "--row", type=int, required=True, help="The row, counted from 1.")
@against_option
@grouped("Output", "-o", "--output", metavar="FILE", required=True, help="accepted.toml.")
@grouped("Entry", "--reason", required=True, help="Why it is fine, or what is wrong with it.")
@grouped("Entry", "--author", default="", help="Who has looked at it.")
@grouped("Entry", "--expires", type=click.DateTime(["%Y-%m-%d"]), help="Until when it counts.")
@grouped(
    "Entry", "--wrong", is_flag=True, help="The row is wrong: nothing is compared with it any more."
)
@declared(CONTEXT_OPTIONS.values())
@declared(COLUMN_OPTIONS.values())
@reading_options
def accept(source: str, row: int, against: str | None, output: str, **given: Any) -> None:
    """Write what is exceptional in a row of SOURCE to a file of accepted findings.

    `outlying check --accept FILE` counts such findings, and is silent about them. The entries can
    be changed by hand: in place of a value a range (low, high), without an entity any row.
    """
    reading = take_reading(given)
    said = {name: given.pop(name) for name in ("reason", "author")}
    expires, is_wrong = given.pop("expires"), given.pop("wrong")
    said |= {"date": dt.date.today()}
    said |= {"expires": expires.date()} if expires else {}
    said |= {"verdict": "wrong"} if is_wrong else {}
    data = open_source(source, reading)
    table = data if isinstance(data, Table) else Explainer(data).table
    explainer = Explainer(data, against=against, **column_choices(given_of(given), table))
    if not 1 <= row <= explainer.rows:
        raise OptionError(
            f"row {row} does not exist: {explainer.table.source} has rows 1 to {explainer.rows:,}"
        )
    findings = explainer.explain(row=row - 1)
    new = [Accepted.of(findings, story, **said) for story in exceptional_stories(findings)]
    inputs = [name for name in (source, against) if name is not None]
    with Output.to(output, inputs) as out:
        out.write(accepted.added(output, new).rstrip("\n"))
    click.echo(harmless(f"{output}: {', '.join(dict.fromkeys(map(str, new)))}"), err=True)
