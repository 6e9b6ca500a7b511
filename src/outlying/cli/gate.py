"""`outlying fit`, `check` and `accept`: a model that is kept, a gate, findings that are fine."""

from __future__ import annotations

import datetime as dt
import functools
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from outlying.api import Explainer
from outlying.cli.options import (
    GroupedCommand,
    against_option,
    all_of,
    fdr_option,
    format_option,
    grouped,
    header_of,
    names,
    open_table,
    output_option,
    rows_option,
    table_options,
    writing_option,
)
from outlying.cli.terminal import progress_line
from outlying.errors import NoRowsError, OptionError, harmless, shown, unknown_name
from outlying.gate import accepted, report
from outlying.gate.accepted import Accepted
from outlying.gate.backtest import backtest
from outlying.gate.check import Check, exceptional_stories
from outlying.gate.check import check as judge
from outlying.render.files import Output


@click.command(cls=GroupedCommand)
@click.argument("source")
@writing_option("-o", "--output", metavar="FILE", required=True, help="The file to write.")
@writing_option(
    "--redact",
    multiple=True,
    metavar="NAMES",
    help="Keep no values of these columns: labels as hashes, numbers not at all.",
)
@writing_option("--min-group", type=int, help="Put labels of fewer rows together.  [default: none]")
@writing_option("--quiet", is_flag=True, help="Say nothing.")
@table_options
def fit(source: str, output: str, quiet: bool, **given: Any) -> None:
    """Keep a model of a table in a file, to judge new rows by.

    `outlying check NEW --against FILE` does so. The file holds up to 20,000 rows, drawn at random
    where there are more; see docs/pipeline.md.
    """
    redact, least = given.pop("redact"), given.pop("min_group")
    if output == "-":
        raise OptionError("a model is a file; name one by -o FILE")
    data, choices = open_table(source, given)
    explainer = Explainer(data, **choices)
    with progress_line(quiet) as line:
        explainer.standing(line.step)  # what cannot be judged is not kept
        redacted = names(redact, header_of(data))
        kept = explainer.save(output, redact=redacted, min_group=least, inputs=(source,))
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
        raise OptionError(f"{path}: is not valid TOML: {error}") from None
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


_verdict_option = functools.partial(grouped, "Verdict")
_entry_option = functools.partial(grouped, "Entry")
_verdict_options = all_of(
    _verdict_option(
        "--max-exceptional",
        default="0",
        metavar="N|SHARE",
        help="At most this many exceptional rows may pass: a number, or a share such as 0.1%.  "
        "[default: 0]",
    ),
    _verdict_option("--warn-above", metavar="N|SHARE", help="Warn of more than this."),
    _verdict_option(
        "--accept",
        metavar="FILE",
        help="Do not count findings that were looked at: a file of `outlying accept`.",
    ),
    _verdict_option(
        "--where-true",
        metavar="COLUMN",
        help="The wrong rows are those that this column marks; where there are none, all is well.",
    ),
    _verdict_option(
        "--config",
        is_eager=True,
        expose_value=False,
        callback=_configure,
        metavar="FILE",
        help="Options of this command.  [default: outlying.toml, or [tool.outlying] of "
        "pyproject.toml]",
    ),
    fdr_option,
    writing_option(
        "--backtest",
        metavar="COLUMN",
        help="No verdict, but how many rows each past day would have raised, judged by the rows "
        "before it. COLUMN holds the dates, or names of what rows come in.",
    ),
)
_FORMATS: dict[str, Callable[[Check], str]] = {
    "text": report.text,
    "json": lambda found: found.to_json(indent=2),
    "junit": report.junit,
    "md": report.table,
    "github": report.github,
}


@click.command(cls=GroupedCommand)
@click.argument("source")
@against_option
@_verdict_options
@format_option(
    tuple(_FORMATS), "text; json; junit: XML; md: for the page of a job; github: annotations."
)
@output_option
@writing_option("--quiet", is_flag=True, help="The summary line alone; no progress.")
@table_options
@click.pass_context
def check(ctx: click.Context, /, source: str, **given: Any) -> None:
    """Say whether a table may pass, for a nightly job.

    It may where no row is exceptional. SOURCE is compared with a model of good rows (--against), or
    without one its rows with each other.

    \b
      outlying fit good.csv -o base.outlying
      outlying check tonight.csv --against base.outlying

    Exit code 0: clean, 1: findings, 2: could not run, 3: cannot judge (columns are missing or
    changed, too few rows).
    """  # noqa: D301 - click wants a backspace
    form, output, quiet, by = (given.pop(k) for k in ("form", "output", "quiet", "backtest"))
    own = {name: given.pop(name) for name in (*_OF_BACKTEST, *_OF_VERDICT)}
    inputs = [name for name in (source, own["against"], own["accept"]) if name is not None]
    with Output.to(output, inputs) as out:
        try:
            data, choices = open_table(source, given)
        except NoRowsError as error:
            found = Check("cannot judge", source, 0, faults=(str(error),))
        else:
            if by is not None:
                out.write(_past(data, by, form, quiet, own, choices))
                return
            found = judge(data, **own, **choices)
        is_short = quiet and form == "text"
        out.write(harmless(found.summary) if is_short else _FORMATS[form](found))
    ctx.exit(found.exit_code)


#: Options of a verdict: those that count for past days, too, and the others.
_OF_BACKTEST = ("against", "max_exceptional", "fdr")
_OF_VERDICT = ("warn_above", "accept", "where_true")


def _past(
    data: Any, by: str, form: str, quiet: bool, own: dict[str, Any], choices: dict[str, Any]
) -> str:
    if form not in ("text", "json"):
        raise OptionError(f"--backtest is told as text or json; leave --format {form} out")
    useless = [f"--{name.replace('_', '-')}" for name in _OF_VERDICT if own[name] is not None]
    if useless:
        flags = " and ".join(useless)
        raise OptionError(f"{flags}: for a verdict, which --backtest does not give; leave it out")
    found = backtest(data, by=by, **{name: own[name] for name in _OF_BACKTEST}, **choices)
    if form == "json":
        return found.to_json(indent=2)
    return found.summary if quiet else str(found)


@click.command(cls=GroupedCommand)
@click.argument("source")
@rows_option("--row", type=int, required=True, help="The row, counted from 1.")
@against_option
@writing_option("-o", "--output", metavar="FILE", required=True, help="accepted.toml.")
@_entry_option("--reason", required=True, help="Why it is fine, or what is wrong with it.")
@_entry_option("--author", default="", help="Who has looked at it.")
@_entry_option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="Until when it counts.")
@_entry_option(
    "--wrong", is_flag=True, help="The row is wrong: nothing is compared with it any more."
)
@table_options
def accept(
    source: str,
    row: int,
    against: str | None,
    output: str,
    reason: str,
    author: str,
    expires: dt.datetime | None,
    wrong: bool,
    **given: Any,
) -> None:
    """Write what is exceptional in a row to a file of accepted findings.

    `outlying check --accept FILE` counts such findings, and is silent about them. The entries can
    be changed by hand: in place of a value a range (low, high), without an entity any row.
    """
    data, choices = open_table(source, given)
    explainer = Explainer(data, against=against, **choices)
    if not 1 <= row <= explainer.rows:
        raise OptionError(
            f"row {row} does not exist: {explainer.table.source} has rows 1 to {explainer.rows:,}"
        )
    findings = explainer.explain(row=row - 1)
    new = [
        Accepted.of(
            findings,
            story,
            verdict="wrong" if wrong else "fine",
            reason=reason,
            author=author,
            date=dt.date.today(),
            expires=expires and expires.date(),
        )
        for story in exceptional_stories(findings)
    ]
    inputs = [name for name in (source, against) if name is not None]
    with Output.to(output, inputs) as out:
        out.write(accepted.added(output, new).rstrip("\n"))
    click.echo(harmless(f"{output}: {', '.join(dict.fromkeys(map(str, new)))}"), err=True)
