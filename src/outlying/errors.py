"""Every error that outlying raises on purpose.

OutlyingError
├── OptionError         an option has a value that is not allowed
├── SourceError         a file or object that cannot be read as a table
│   ├── InfiniteValueError   a numeric column holds an infinite value
│   └── NoRowsError          a table has columns, but no rows
├── ColumnError         a column that is unknown, doubled or unusable
├── RowError            the row asked for does not exist, or is not the only one
├── ObjectError         a new object that does not fit the columns of the table
├── OutputError         a result that cannot be written
├── WorkerError         a process that worked on a part has died
├── NoMemoryError       there is not enough memory
└── MissingExtraError   an optional dependency is not installed

A message says what was given, what is allowed and what to try. What Python and the command line
call by different names is a part of it with a class of its own (`RowAt`, `OptionName`, `Setting`),
so that each gets its own words; these parts, the column and the row can be asked of the error. The
command line prints the message and exits with code 2.
"""

from __future__ import annotations

import dataclasses
import difflib
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar


def harmless(text: str) -> str:
    """Return text with control codes, direction marks and other invisible characters as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char == " " or unicodedata.category(char)[0] not in "CZ":
        return char
    return " " if ord(char) == 0xA0 else char.encode("unicode_escape").decode("ascii")


def shown(value: object, most: int = 200) -> str:
    """Write any value for a message: as Python does, but shortly, and whatever its class does."""
    try:
        text = repr(value)
    except Exception:  # a class of the user's, or a number of thousands of digits
        kind = type(value).__name__
        text = "a number of very many digits" if kind == "int" else f"an object of class {kind}"
    text = " ".join(text.split()) if "\n" in text else text  # of a table, or a series
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclasses.dataclass(frozen=True, slots=True)
class RowAt:
    """A row by its position; Python counts from 0, people who look at a file from 1."""

    position: int

    def __str__(self) -> str:
        return f"row {self.position} (counted from 0)"

    @property
    def in_shell(self) -> str:
        """What the command line and pages call it."""
        return f"data row {self.position + 1}"


@dataclasses.dataclass(frozen=True, slots=True)
class OptionName:
    """An option by its name; `flag` is there where the command line has another one."""

    name: str
    flag: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def in_shell(self) -> str:
        """The flag of the command line."""
        return self.flag or "--" + self.name.replace("_", "-")


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """An option that would help, with the value to give it; None: whatever fits."""

    name: str
    value: str | int | bool | None = None
    flag: str = ""

    def __str__(self) -> str:
        value = f'"{self.value}"' if isinstance(self.value, str) else self.value
        return f"{self.name}={'' if value is None else value}"

    @property
    def in_shell(self) -> str:
        """The flag of the command line."""
        flag = OptionName(self.name, self.flag).in_shell
        return flag if self.value is None or self.value is True else f"{flag} {self.value}"


@dataclasses.dataclass(frozen=True, slots=True)
class InPython:
    """Words that only Python has a use for: the command line leaves out what is None."""

    text: str
    in_shell: ClassVar[str] = ""

    def __str__(self) -> str:
        return self.text


OR_NONE = InPython(", or None")

#: The only way out where infinite values are meant.
INFINITE_AS_MISSING = Setting("infinite", "missing")


class OutlyingError(Exception):
    """The root of all errors that a user can cause and repair.

    A message is made of texts, rows and settings, said as Python does by `str` and as the command
    line does by `shell_message`, with escapes; `column`, `row`, `got`, `allowed` if known.
    """

    column: str | None = None
    got: object = None
    allowed: str | None = None

    @property
    def row(self) -> int | None:
        """The position of the row that is meant, if one is."""
        return next((part.position for part in self.args if isinstance(part, RowAt)), None)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The options that would help."""
        return tuple(part for part in self.args if isinstance(part, Setting))

    def __str__(self) -> str:
        return harmless("".join(map(str, self.args)))

    def shell_message(self) -> str:
        """Return the message in the words of the command line, which are those of pages, too."""
        return harmless("".join(getattr(part, "in_shell", str(part)) for part in self.args))

    def __reduce__(self) -> Any:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[OutlyingError], parts: tuple[Any, ...], state: Any) -> OutlyingError:
    """Make an error anew that comes from another process, whatever its class is made from."""
    error = kind.__new__(kind, *parts)
    error.__dict__.update(state)
    return error


class OptionError(OutlyingError, ValueError):
    """An option has a value that is not allowed."""


def not_allowed(
    name: str | OptionName, value: object, allowed: str, *more: InPython
) -> OptionError:
    """Make the error of an option that has a value of another kind."""
    error = OptionError(name, f" is {shown(value)}; allowed: {allowed}", *more)
    error.got, error.allowed = value, "".join(map(str, (allowed, *more)))
    return error


class SourceError(OutlyingError):
    """A file or an object in memory cannot be read as a table."""


class NoRowsError(SourceError):
    """A table has columns, but no rows."""


class InfiniteValueError(SourceError):
    """A numeric column holds an infinite value; names the column, and the first row or place."""

    column: str

    def __init__(self, column: str, row: int | None, place: str = "in the object") -> None:
        self.column = column
        super().__init__(
            f"column {column!r} has an infinite value ",
            *((place,) if row is None else ("in ", RowAt(row))),
            "; correct it, leave the column out with ",
            Setting("exclude"),
            ", or treat infinite values as missing with ",
            INFINITE_AS_MISSING,
        )


def not_its_own(source: str, kind: str, named: str = "") -> SourceError:
    """Make the error of a file that would have another one read, with the rights of its reader."""
    what = named and f" ({shown(named)})"
    return SourceError(
        f"{source}: {kind} may read nothing but itself, and this names something else{what}; if "
        "you trust whoever made it, add ",
        Setting("allow_external", True),
    )


class ColumnError(OutlyingError):
    """A column is unknown, doubled or cannot be used as asked."""


class RowError(OutlyingError, LookupError):
    """The row asked for does not exist, or several rows match."""


class ObjectError(OutlyingError):
    """A new object does not fit the columns of the table."""


class OutputError(OutlyingError):
    """A result cannot be written where it was asked for."""


class WorkerError(OutlyingError):
    """A process that worked on some of many objects has died; what is finished is kept."""


class NoMemoryError(OutlyingError):
    """There is not enough memory for a command; says what needs less."""

    def __init__(self, *more: str) -> None:
        super().__init__(
            "there is not enough memory; ",
            Setting("engine", "duckdb"),
            " reads a large file as a stream, ",
            Setting("workers", 1),
            " needs the least, ",
            Setting("columns"),
            " or ",
            Setting("exclude"),
            " leave columns out",
            *more,
        )


class MissingExtraError(OutlyingError, ImportError):
    """An optional dependency is not installed; the message gives the install line."""

    def __init__(self, what: str, extra: str) -> None:
        line = f"pip install {installed_as(extra)}"
        super().__init__(f"{what} needs an optional package: {line}")


def installed_as(extra: str) -> str:
    """Return what pip is to install for an extra: the clone this runs from, or the package."""
    clone = Path(__file__).resolve().parents[2]
    if not (clone / "pyproject.toml").is_file():
        return f"'outlying[{extra}]'"
    here = "." if Path.cwd() == clone else str(clone)
    return f"'{here}[{extra}]'"


def unknown_name(kind: str, given: object, known: Iterable[str]) -> str:
    """Say that a name is unknown, with the nearest known names or, failing those, all of them."""
    names = list(known)
    name = given if isinstance(given, str) else shown(given)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if not near:
        folded = {other.casefold(): other for other in names}
        near = [folded[name.casefold()]] if name.casefold() in folded else []
    if near:
        hint = "did you mean " + " or ".join(repr(other) for other in near) + "?"
    elif len(names) <= 20:
        hint = "known: " + ", ".join(repr(other) for other in names)
    else:
        hint = f"{len(names)} are known, the first: " + ", ".join(repr(o) for o in names[:10])
    return f"unknown {kind} {shown(given)}; {hint}"
