"""Options of commands, made from their one declaration, and shown in groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import click

from outlying.checks import Option
from outlying.errors import ColumnError, OptionError, unknown_name
from outlying.options import READ_OPTIONS, ReadOptions
from outlying.sources import registry
from outlying.sources.passes import Feeder
from outlying.table.table import Table

Command: TypeAlias = Callable[..., None]
Decorator: TypeAlias = Callable[[Command], Command]

#: Groups of options that few people need: `--help-all` shows them.
_SELDOM = ("The paper's method", "Feature bagging")
_ALL = "outlying.help_all"


class GroupedOption(click.Option):
    """An option that the help of its command shows below the name of a group."""

    group = ""


class GroupedCommand(click.Command):
    """A command whose help shows options in groups; those of no group come last.

    Groups that few people need are shown by `--help-all` only.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, with `--help-all` beside `--help`."""
        params = super().get_params(ctx)
        has_more = any(getattr(item, "group", "") in _SELDOM for item in params)
        return [*params, _HELP_ALL] if has_more else params

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, the groups in the order of their first ones."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for item in self.get_params(ctx):
            record = item.get_help_record(ctx) if isinstance(item, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(item, "group", ""), []).append(record)
        groups["Options"] = groups.pop("", [])
        for name, records in groups.items():
            if name in _SELDOM and not ctx.meta.get(_ALL):
                continue
            with formatter.section(name):
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
    help="Show all options: those of the paper's method, too.",
)


def grouped(group: str, *flags: str, **settings: Any) -> Decorator:
    """Return what gives a command an option of a group."""
    kind = type("Option", (GroupedOption,), {"group": group})
    return click.option(*flags, cls=kind, **settings)


def all_of(*options: Decorator) -> Decorator:
    """Return what gives a command several options, which its help shows in this order."""

    def give(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return give


def declared(options: Iterable[Option], **renamed: str) -> Decorator:
    """Return what gives a command options by their declaration, some under another flag.

    What is not given stays None, so that the library's defaults, or a preset's, take its place.
    """
    return all_of(*(_option(item, renamed.get(item.name, item.flag)) for item in options))


def _option(option: Option, flag: str) -> Decorator:
    kind, settings = option.kind, dict[str, Any]()
    if kind.base is bool:
        flag = f"{flag}/--no-{flag[2:]}" if option.default is True else flag
        settings["is_flag"] = True
    else:
        settings["type"] = click.Choice(kind.choices) if kind.choices else kind.base
    usual = option.usual or ("" if option.default in (None, False, ()) else str(option.default))
    words = option.help
    if option.metavar == "NAMES":
        words = f"{words.removesuffix('.')}; separate by commas or repeat."
    return grouped(
        option.group,
        flag,
        option.name,
        default=None,
        multiple=kind.is_many,
        metavar=option.metavar,
        hidden=option.is_deprecated,
        help=words + (f"  [default: {usual}]" if usual else ""),
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


def take_reading(given: dict[str, Any]) -> ReadOptions:
    """Take the options that say who reads the table, and how, out of all options given."""
    return ReadOptions(**given_of({name: given.pop(name) for name in READ_OPTIONS}))


def open_source(source: str | None, reading: ReadOptions) -> Table | Feeder:
    """Read the table into memory, or open what is read as a stream."""
    given = {name: getattr(reading, name) for name in READ_OPTIONS}
    return registry.named(source, **given)
