"""How options are declared: each with a kind, which checks its values, reads and writes texts."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast, get_args

from outlying.errors import (
    OR_NONE,
    InPython,
    OptionError,
    OptionName,
    not_allowed,
    shown,
    unknown_name,
)

ColumnType = Literal["numeric", "categorical", "datetime"]
#: What options are about; the help of commands shows them in such groups.
Group = Literal["How strict", "Columns", "Reading", "The paper's method", "Feature bagging"]
Schema: TypeAlias = dict[str, Any]
#: Of an option, or of a field of an address.
Name: TypeAlias = str | OptionName
#: Takes the name and the value of an option; returns the value to keep, or raises OptionError.
Check: TypeAlias = Callable[[Name, Any], Any]

#: Options that are whole numbers are no larger.
LARGEST = 2**63 - 1


# --- single values -----------------------------------------------------------------------------


def check_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an option that does not exist, and say which are near."""
    for name in given:
        if name not in known:
            raise OptionError(unknown_name("option", name, known))


def check_choice(name: Name, value: object, choices: tuple[str, ...]) -> object:
    """Refuse what is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        raise not_allowed(name, value, _either(choices))
    return value


def check_whole(name: Name, value: object, least: int) -> int:
    """Return a whole number that is not below the least, nor beyond 64 bits."""
    number = None
    with contextlib.suppress(Exception):  # whatever a class of the user's raises
        number = None if isinstance(value, bool) else int(operator.index(cast(Any, value)))
    if number is None or not least <= number <= LARGEST:
        most = "" if number is None or number < least else f" and at most {LARGEST}"
        raise not_allowed(name, value, f"a whole number, at least {least}{most}")
    return number


def check_flag(name: Name, value: object) -> bool:
    """Return True or False, and refuse what is neither."""
    if not isinstance(value, bool):
        raise not_allowed(name, value, "True or False")
    return value


def read_whole(name: Name, text: object, least: int) -> int:
    """Read a whole number of an address."""
    digits = str(text).strip()
    is_number = digits.isascii() and digits.isdigit() and len(digits) < 19
    return check_whole(name, int(digits) if is_number else text, least)


def read_real(name: Name, text: object) -> float:
    """Read a number of an address."""
    try:
        return float(str(text))
    except ValueError:
        raise not_allowed(name, text, "a number") from None


def _either(choices: Iterable[str]) -> str:
    return " or ".join(map(repr, choices))


def _real(value: object) -> float:
    """Return a number as floating point; NaN where there is none."""
    if isinstance(value, (bool, str, bytes)):
        return math.nan
    try:
        return float(cast(Any, value))
    except OverflowError:
        return math.inf
    except Exception:  # whatever a class of the user's raises
        return math.nan


# --- kinds -------------------------------------------------------------------------------------


def _last(name: str, texts: Sequence[str]) -> str:  # noqa: ARG001 - other kinds name it
    return texts[-1]


def _one(value: Any) -> list[str]:
    return [str(value)]


@dataclasses.dataclass(frozen=True, slots=True)
class ValueKind:
    """What an option takes.

    `check` looks at a value of Python. `read` and `write` are for texts: the fields of an address,
    the values of a flag. `base` and `choices` tell what the command line takes, `schema` what
    programs may send. `keyword` annotates what callers may give, where that is not what is kept.
    """

    check: Check
    schema: Schema
    base: type = str
    choices: tuple[str, ...] = ()
    is_many: bool = False  # given once for each of several items
    keyword: str = ""
    read: Callable[[str, Sequence[str]], Any] = _last
    write: Callable[[Any], list[str]] = _one

    def or_none(self) -> ValueKind:
        """Return the kind that may also be None, which stands for unset."""
        check = self.check
        return dataclasses.replace(
            self, check=lambda name, value: None if value is None else check(name, value)
        )

    def or_empty(self, empty: Any) -> ValueKind:
        """Return the kind of which None stands for nothing at all."""
        check = self.check
        return dataclasses.replace(
            self, check=lambda name, value: check(name, empty if value is None else value)
        )


def choice(literal: Any) -> ValueKind:
    """Return the kind of one of the texts of a `Literal`."""
    choices = get_args(literal)
    return ValueKind(
        lambda name, value: check_choice(name, value, choices),
        {"enum": list(choices)},
        choices=choices,
    )


def whole(least: int, most: int | None = None) -> ValueKind:
    """Return the kind of whole numbers from one on, up to another."""

    def check(name: Name, value: object) -> int:
        number = check_whole(name, value, least)
        if most is not None and number > most:
            raise not_allowed(name, number, f"{least} to {most:,}")
        return number

    schema = {"type": "integer", "minimum": least} | ({} if most is None else {"maximum": most})
    return ValueKind(
        check, schema, int, read=lambda name, texts: read_whole(name, texts[-1], least)
    )


def _number(
    is_allowed: Callable[[float], bool], allowed: str, *more: InPython, **schema: Any
) -> ValueKind:
    def check(name: Name, value: object) -> float:
        number = _real(value)
        if not is_allowed(number):
            raise not_allowed(name, value, allowed, *more)
        return number

    return ValueKind(
        check,
        {"type": "number"} | schema,
        float,
        read=lambda name, texts: read_real(name, texts[-1]),
        write=lambda value: [repr(value).removesuffix(".0")],
    )


SHARE = _number(
    lambda number: 0.0 < number <= 1.0, "a number above 0, at most 1", exclusiveMinimum=0, maximum=1
)
SUPPORT = _number(
    lambda number: 0 < number < 1 or (1 <= number < math.inf and number % 1 == 0),
    "a share of the rows (above 0, below 1), or a number of rows (1 or more)",
    OR_NONE,
    exclusiveMinimum=0,
)
ABOVE_0 = _number(
    lambda number: 0 < number < math.inf, "a number above 0", OR_NONE, exclusiveMinimum=0
)
TEXT = ValueKind(lambda _, value: value, {"type": "string"})
FLAG = ValueKind(
    check_flag,
    {"type": "boolean"},
    bool,
    read=lambda _, texts: texts[-1] not in ("0", "false"),
    write=lambda value: ["1" if value else "0"],
)


def _check_column_or_none(name: Name, value: object) -> str | None:
    if not isinstance(value, str | None):
        raise not_allowed(name, value, 'the name of a column, "auto", or None')
    return None if value == "none" else value


COLUMN_OR_NONE = ValueKind(
    _check_column_or_none,
    {"type": ["string", "null"]},
    keyword="str | None",
    write=lambda value: ["none" if value is None else value],
)


def _check_columns(name: Name, value: object) -> tuple[str, ...]:
    names: tuple[Any, ...] | None = None
    with contextlib.suppress(Exception):  # a class that says it can be iterated, and cannot
        names = None if isinstance(value, (str, bytes)) else tuple(cast(Any, value))
    if names is None:
        raise not_allowed(name, value, "a list of column names")
    for item in names:
        if not isinstance(item, str):
            raise OptionError(name, f" holds {shown(item)}; allowed: column names, which are texts")
    return names


def _check_some_columns(name: Name, value: object) -> tuple[str, ...]:
    names = _check_columns(name, value)
    if not names:
        raise OptionError(name, " is empty; leave it out to use every column")
    return names


def _check_types(name: Name, value: object) -> tuple[tuple[str, ColumnType], ...]:
    if not isinstance(value, Mapping):
        raise not_allowed(name, value, "a mapping of column name to type")
    for column, kind in value.items():
        if not isinstance(column, str):
            raise OptionError(
                name, f" holds {shown(column)}; allowed: column names, which are texts"
            )
        if not isinstance(kind, str) or kind not in get_args(ColumnType):
            allowed = _either(get_args(ColumnType))
            raise OptionError(
                name, f" gives {shown(kind)} for column {column!r}; allowed: {allowed}"
            )
    return tuple(value.items())


def _read_types(name: str, texts: Sequence[str]) -> dict[str, str]:
    """Split each COLUMN=TYPE at its last equals sign: no type holds one."""
    found = {}
    for text in texts:
        column, sign, kind = text.rpartition("=")
        if not sign:
            raise not_allowed(name, text, "COLUMN=TYPE")
        found[column] = kind
    return found


COLUMNS = ValueKind(
    _check_columns,
    {"type": "array", "items": {"type": "string"}},
    is_many=True,
    keyword="Iterable[str] | None",
    read=lambda _, texts: list(texts),
    write=list,
)
SOME_COLUMNS = dataclasses.replace(COLUMNS, check=_check_some_columns)
TYPES = ValueKind(
    _check_types,
    {"type": "object", "additionalProperties": {"enum": list(get_args(ColumnType))}},
    is_many=True,
    keyword="Mapping[str, str] | None",
    read=_read_types,
    write=lambda value: [f"{column}={kind}" for column, kind in dict(value).items()],
)


# --- declarations ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """One option as all who offer it see it; `docs` says what the help has no room for."""

    name: str
    kind: ValueKind
    default: Any
    annotation: str  # of the value that is kept
    group: Group
    help: str
    docs: str = ""
    usual: str = ""  # the default in words, where it is not a value
    metavar: str | None = None
    one: str = ""  # how one item of several is called
    beside_rows: str = ""  # its name where the same word asks for rows
    is_deprecated: bool = False  # still taken, but without effect: a note says so

    @property
    def flag(self) -> str:
        """What the command line calls it."""
        return "--" + (self.one or self.name).replace("_", "-")

    @property
    def field(self) -> str:
        """What addresses of pages call it, where one word asks for rows."""
        return self.beside_rows or self.one or self.name

    @property
    def schema(self) -> Schema:
        """The JSON Schema of what programs may send."""
        return self.kind.schema | ({"deprecated": True} if self.is_deprecated else {})


def option(default: Any, kind: ValueKind, words: str, **more: Any) -> Any:
    """Declare the option of a field."""
    return dataclasses.field(default=default, metadata={"kind": kind, "help": words, **more})


#: Declares an option on which columns are compared, and how.
column_option = functools.partial(option, group="Columns")


def declared(owner: type[Any], group: Group) -> dict[str, Option]:
    """Return the options that a class declares, by name, with the group of most of them."""
    return {
        field.name: Option(
            **{
                "name": field.name,
                "default": field.default,
                "annotation": str(field.type),
                "group": group,
                **field.metadata,
            }
        )
        for field in dataclasses.fields(owner)
        if field.metadata
    }


def checked(given: Mapping[str, Any], options: Mapping[str, Option]) -> dict[str, Any]:
    """Return the values to keep of the options that were given."""
    check_names(given, options)
    return {
        name: options[name].kind.check(OptionName(name, options[name].flag), value)
        for name, value in given.items()
    }
