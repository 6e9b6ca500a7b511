"""Options of commands, made from their one declaration; and the rows that they name."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click

from outlying.api import Explainer
from outlying.checks import Option
from outlying.errors import ColumnError, ObjectError, OptionError, RowError, unknown_name
from outlying.options import COLUMN_OPTIONS, CONTEXT_OPTIONS, READ_OPTIONS, ReadOptions
from outlying.sources import registry
from outlying.sources.passes import Feeder
from outlying.table.table import Table
from outlying.table.targets import RowRequest, marked_rows, no_mark
from outlying.table.values import Value, read_text

Command: TypeAlias = Callable[..., None]
Decorator: TypeAlias = Callable[[Command], Command]

#: The groups of options, as help shows them; the last ones by `--help-all` only.
_GROUPS = (
    *("Which rows", "Verdict", "Entry", "How strict", "Columns", "Reading", "Output", "At most"),
    *(_SELDOM := ("The paper's method", "Feature bagging")),
)
_ABOUT = {"Columns": "NAMES are separated by commas; an option may be repeated, too."}
_ALL = "outlying.help_all"


class GroupedOption(click.Option):
    """An option that the help of its command shows below the name of a group."""

    def __init__(self, *given: Any, group: str, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose help shows options in groups; those of no group come last."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, with `--help-all` beside `--help`."""
        params = super().get_params(ctx)
        has_more = any(getattr(item, "group", "") in _SELDOM for item in params)
        return [*params, _HELP_ALL] if has_more else params

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        groups: dict[str, list[tuple[str, str]]] = {name: [] for name in (*_GROUPS, "Options")}
        for item in self.get_params(ctx):
            record = item.get_help_record(ctx) if isinstance(item, click.Option) else None
            if record is not None:
                groups[getattr(item, "group", "Options")].append(record)
        for name, records in groups.items():
            if records and (name not in _SELDOM or ctx.meta.get(_ALL)):
                with formatter.section(name):
                    if name in _ABOUT:
                        formatter.write_text(_ABOUT[name])
                    formatter.write_dl(records)


def _show_all(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show all options, also those that few people need.",
)


def grouped(group: str, *flags: str, **settings: Any) -> Decorator:
    """Return what gives a command an option of a group."""
    return click.option(*flags, cls=GroupedOption, group=group, **settings)


rows_option = functools.partial(grouped, "Which rows")
writing_option = functools.partial(grouped, "Output")


def all_of(*options: Decorator) -> Decorator:
    """Return what gives a command several options, which its help shows in this order."""

    def give(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return give


def declared(options: Iterable[Option]) -> Decorator:
    """Return what gives a command options by their declaration; None stands for the default."""
    return all_of(*map(_option, options))


def _option(option: Option) -> Decorator:
    kind, flag, settings = option.kind, option.flag, dict[str, Any]()
    if kind.base is bool:
        flag = f"{flag}/--no-{flag[2:]}" if option.default is True else flag
        settings["is_flag"] = True
    else:
        settings["type"] = click.Choice(kind.choices) if kind.choices else kind.base
    usual = option.usual or ("" if option.default in (None, False, ()) else str(option.default))
    usual = "yes" if option.default is True else usual
    return grouped(
        option.group,
        flag,
        option.name,
        default=None,
        multiple=kind.is_many,
        metavar=option.metavar,
        hidden=option.is_deprecated,
        help=option.help + (f"  [default: {usual}]" if usual else ""),
        **settings,
    )


def given_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given on the command line."""
    return {name: value for name, value in options.items() if value not in (None, ())}


# --- values that need the table ------------------------------------------------------------------


def assignment(item: str, table: Table, flag: str) -> tuple[str, str]:
    """Split COLUMN=VALUE at the equals sign behind a known column."""
    if "=" not in item:
        raise OptionError(f"{flag} is {item!r}; allowed: COLUMN=VALUE")
    places = [place for place, char in enumerate(item) if char == "="]
    for place in places:
        if item[:place] in table.names:
            return item[:place], item[place + 1 :]
    raise ColumnError(unknown_name("column", item[: places[0]], table.names))


def names(given: Sequence[str], table: Table) -> list[str]:
    """Split lists of names at commas, except in names that hold commas themselves."""
    known = {*table.names, *(item.name for item in table.skipped)}
    return [
        name.strip() if name not in known else name
        for text_given in given
        for name in ([text_given] if text_given in known else text_given.split(","))
    ]


#: Options that are lists of columns, or everything where they are not given.
NAMING_COLUMNS = ("columns", "properties", "contexts", "id")


def column_choices(given: Mapping[str, Any], table: Table, left_out: Sequence[str] = ()) -> Any:
    """Return options of explanations with the columns that they name found in a table."""
    return {
        **given,
        "exclude": [*names(given.get("exclude", ()), table), *left_out],
        **{name: names(given.get(name, ()), table) or None for name in NAMING_COLUMNS},
        "types": dict(assignment(item, table, "--type") for item in given.get("types", ())),
    }


# --- reading -------------------------------------------------------------------------------------

reading_options = declared(READ_OPTIONS.values())
#: Gives a command the options that say how a table is read, and what is compared in it.
table_options = all_of(
    declared(CONTEXT_OPTIONS.values()), declared(COLUMN_OPTIONS.values()), reading_options
)
against_option = grouped(
    "Reading",
    "--against",
    metavar="MODEL",
    help="Compare with a fitted model (outlying fit), or a table, not with each other.",
)
fdr_option = grouped(
    "How strict",
    "--fdr",
    type=float,
    metavar="SHARE",
    help="Choose which rows are exceptional so that this share of them is false, say 0.1.",
)
output_option = writing_option(
    "-o", "--output", metavar="FILE", help="Write to a file, not standard output."
)


def format_option(forms: Sequence[str], words: str) -> Decorator:
    """Return what gives a command the choice of a format, the first one by default."""
    words = f"{words}  [default: {forms[0]}]"
    kind = click.Choice(forms)
    return writing_option("--format", "form", type=kind, default=forms[0], help=words)


def take_reading(given: dict[str, Any]) -> ReadOptions:
    """Take the options that say who reads the table, and how, out of all options given."""
    return ReadOptions(**given_of({name: given.pop(name) for name in READ_OPTIONS}))


def open_source(source: str | None, reading: ReadOptions) -> Table | Feeder:
    """Read the table into memory, or open what is read as a stream."""
    given = {name: getattr(reading, name) for name in READ_OPTIONS}
    return registry.open_named(source, **given)


def open_table(source: str, given: dict[str, Any]) -> tuple[Table | Feeder, dict[str, Any]]:
    """Open a source, and take the options of explanations out of those given."""
    data = open_source(source, take_reading(given))
    return data, column_choices(given_of(given), header_of(data))


def header_of(data: Table | Feeder) -> Table:
    """Return a table, or the columns of a stream."""
    return data if isinstance(data, Table) else Explainer(data).table


# --- which rows -----------------------------------------------------------------------------------

_NUMBER_OR_RANGE = re.compile(r"([0-9]{1,15})(?:\s*-\s*([0-9]{1,15}))?")
#: The ways to name what to explain: by which flag, with what, in words.
_WAYS = {
    "row": ("--row", "N", "The row to explain; the first row below the header is 1."),
    "where": ("--where", "COLUMN=VALUE", "The only row with this value; repeat to narrow."),
    "where_file": (
        "--where-file",
        "FILE",
        'Many rows by their values: JSON lines such as {"id": 17}, or - for standard input.',
    ),
    "object_file": ("--object", "FILE", "A new object, as JSON in a file or - for standard input."),
    "rows": ("--rows", "NUMBERS", "Many rows, counted from 1, such as 3,17,40-60."),
    "rows_file": (
        "--rows-file",
        "FILE",
        "Many rows: their numbers in a file or - for standard input.",
    ),
    "where_true": (
        "--where-true",
        "COLUMN",
        "Every row that this column marks (true, yes, 1); it is not compared.",
    ),
    "objects_file": (
        "--objects",
        "FILE",
        "Many new objects, as JSON lines in a file or - for standard input.",
    ),
}
#: Those that name a set of rows, to be compared with all others, in words of their own.
_OF_SETS = {
    "where_true": "All rows that this column marks (true, yes, 1).",
    "where": "All rows with this value; repeat to narrow.",
    "rows": None,
    "rows_file": None,
}


def _naming_options(ways: Mapping[str, str | None]) -> Callable[[Any], Any]:
    return all_of(
        *(
            rows_option(
                _WAYS[name][0],
                name,
                type=int if name == "row" else str,
                multiple=name in ("where", "rows"),
                metavar=_WAYS[name][1],
                help=words or _WAYS[name][2],
            )
            for name, words in ways.items()
        )
    )


naming_options, set_options = _naming_options(dict.fromkeys(_WAYS)), _naming_options(_OF_SETS)


@dataclasses.dataclass(frozen=True, slots=True)
class Naming:
    """How the user names what to explain: in one of the ways; in none where rows are detected."""

    way: str = ""
    given: Any = None

    @classmethod
    def taken_from(cls, given: dict[str, Any]) -> Naming:
        """Take the options that name rows out of all options given; exactly one must be there."""
        ways = [name for name in _WAYS if name in given]
        used = given_of({name: given.pop(name) for name in ways})
        if not used and len(ways) < len(_WAYS):
            raise OptionError(
                "which rows? Name them by --where-true COLUMN, --where COLUMN=VALUE, --rows or "
                "--rows-file"
            )
        if not used:
            raise OptionError(
                "which row? Name it by --row N, --where COLUMN=VALUE or --object FILE; many by "
                "--rows 3,17,40-60, --rows-file FILE, --where-file FILE, --where-true COLUMN or "
                "--objects FILE"
            )
        if len(used) > 1:
            raise OptionError(
                f"what to explain is named twice, by {' and '.join(_WAYS[n][0] for n in used)}; "
                f"use exactly one of {', '.join(_WAYS[name][0] for name in ways)}"
            )
        return cls(*next(iter(used.items())))

    @property
    def is_many(self) -> bool:
        """Whether the answer is one for many, be there one only."""
        return self.way not in ("row", "where", "object_file")

    @property
    def are_new(self) -> bool:
        """Whether objects are explained that are not in the table."""
        return self.way in ("object_file", "objects_file")

    @property
    def is_repeatable(self) -> bool:
        """Whether the same command would name the same objects again."""
        return "-" not in self.files or self.way == "rows_file"

    @property
    def files(self) -> tuple[str, ...]:
        """The files that name what to explain."""
        return (self.given,) if self.way.endswith("_file") else ()

    @property
    def marks(self) -> list[str]:
        """The column that marks the rows to explain, if one does."""
        return [self.given] if self.way == "where_true" else []

    def check_standard_input(self, source: str | None) -> None:
        """Refuse to read both the table and what is named from standard input."""
        if source == "-" and "-" in self.files:
            raise OptionError(
                "both SOURCE and what to explain are -, standard input; give one of them as a file"
            )

    def compared(self, table: Table) -> Table:
        """Leave out the column that marks the rows, and say so."""
        return table.without(self.given, "names the rows to explain") if self.marks else table

    def request(self, table: Table, is_streamed: bool) -> RowRequest:
        """Return what is named of a table, each item by where the user has written it."""
        if self.way == "object_file":
            text = _content(self.given, "the object", ObjectError)
            return RowRequest(
                objects=[_parsed(text, _shown(self.given))], name=lambda _: "--object"
            )
        if self.way == "objects_file":
            places, objects = zip(*_json_lines(self.given, "objects", ObjectError), strict=True)
            return RowRequest(objects=objects, name=places.__getitem__)
        if self.way == "where_file":
            places, keys = zip(*_json_lines(self.given, "keys", RowError), strict=True)
            return RowRequest(wheres=keys, name=places.__getitem__)
        if self.way == "where":
            return RowRequest(wheres=[dict(_condition(item, table) for item in self.given)])
        if self.way == "where_true" and is_streamed:
            return RowRequest(marks=table.column(self.given).name)
        if is_streamed:
            raise OptionError(
                f"{table.source} is read as a stream, whose rows have no numbers; name them by "
                "--where COLUMN=VALUE, --where-file FILE or --where-true COLUMN"
            )
        if self.way == "where_true":
            rows = marked_rows(table, self.given)
            if not rows:
                raise RowError(no_mark(self.given))
            return RowRequest(rows=rows)
        own = self._numbers(table) if self.is_many else [position_of(self.given, table)]
        return RowRequest(rows=own)

    def _numbers(self, table: Table) -> list[int]:
        texts = [("--rows", text) for text in self.given]
        if self.files:
            lines = _lines(self.given, "row numbers", RowError)
            texts = [(place, text) for place, text in lines if not text.lstrip().startswith("#")]
        found = [row for place, text in texts for row in numbers(text, place, table)]
        if not found:
            named = self.given if self.files else "--rows"
            raise RowError(f"{named} names no row; give numbers and ranges such as 3,17,40-60")
        return found


def numbers(text: str, place: str, table: Table) -> Iterator[int]:
    """Read numbers and ranges, counted from 1, as positions; `place` says where they stand."""
    for item in filter(None, (part.strip() for part in text.split(","))):
        match = _NUMBER_OR_RANGE.fullmatch(item)
        if match is None:
            raise RowError(
                f"{place}: {item[:40]!r} is not a row; allowed: numbers and ranges, counted from "
                "1, such as 3,17,40-60"
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise RowError(f"{place}: the range {item!r} runs backwards; write {last}-{first}")
        yield from range(position_of(first, table, place), position_of(last, table, place) + 1)


def position_of(row: int, table: Table, place: str = "") -> int:
    """Return the position from 0 of a row that is counted from 1."""
    if not 1 <= row <= table.rows:
        raise RowError(
            f"{place}{': ' if place else ''}row {row} does not exist: {table.source} has "
            f"{table.rows:,} data rows, counted from 1 to {table.rows}"
        )
    return row - 1


def _lines(file: str, what: str, kind: type[RowError | ObjectError]) -> list[tuple[str, str]]:
    """Read the lines of a file that are not empty, each with its place."""
    lines = enumerate(_content(file, what, kind).split("\n"), start=1)
    return [(f"line {number} of {_shown(file)}", line) for number, line in lines if line.strip()]


def _json_lines(
    file: str, what: str, kind: type[RowError | ObjectError]
) -> list[tuple[str, Mapping[str, Any]]]:
    """Read JSON objects, one per line, each with its place."""
    lines = _lines(file, what, kind)
    if not lines:
        raise kind(f"{_shown(file)} holds no object; needed is one JSON object per line")
    return [(place, _parsed(line, place)) for place, line in lines]


def _parsed(text: str, place: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ObjectError(f"{place} does not hold valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise ObjectError(
            f"{place} holds a JSON {type(value).__name__}; needed is one object, "
            'such as {"age": 40, "sex": "female"}'
        )
    return value


def _content(file: str, what: str, kind: type[RowError | ObjectError]) -> str:
    try:
        if file == "-":
            return sys.stdin.read()
        return Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = (
            error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
        )
        raise kind(f"cannot read {what} from {file}: {reason}") from None


def _shown(file: str) -> str:
    return "standard input" if file == "-" else file


def _condition(item: str, table: Table) -> tuple[str, Value]:
    name, value = assignment(item, table, "--where")
    column = table.column(name)
    if column.is_numeric and column.written is not None:
        return name, value or None  # read as the texts of the column are
    try:
        return name, read_text(column.form, value)
    except ValueError as error:
        raise RowError(f"--where: column {name!r} expects {error}, got {value!r}") from None
