"""Every error that outlying raises on purpose.

OutlyingError
├── OptionError         an option has a value that is not allowed
├── SourceError         a file or object that cannot be read as a table
│   └── InfiniteValueError   a numeric column holds an infinite value
├── ColumnError         a column that is unknown, doubled or unusable
├── RowError            the row asked for does not exist, or is not the only one
├── ObjectError         a new object that does not fit the columns of the table
├── OutputError         a result that cannot be written
├── WorkerError         a process that worked on a part has died
└── MissingExtraError   an optional dependency is not installed

A message says what was given, what is allowed and what to try. The command line prints it and
exits with code 2.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping
from types import MappingProxyType


def harmless(text: str) -> str:
    """Return text that a terminal shows as it is; ordinary text is unchanged.

    Control codes, direction marks and other invisible characters are written as escapes: a name
    must not be able to move the cursor, hide text or turn its direction.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _is_visible(char) else _escape(char) for char in text)


def _is_visible(char: str) -> bool:
    return char == " " or unicodedata.category(char)[0] not in "CZ"


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii") if ord(char) != 0xA0 else " "


def shown(value: object, most: int = 200) -> str:
    """Write any value for a message: as Python does, but shortly, and whatever its class does."""
    try:
        text = repr(value)
    except Exception:  # a class of the user's, or a number of thousands of digits
        kind = type(value).__name__
        text = "a number of very many digits" if kind == "int" else f"an object of class {kind}"
    return text if len(text) <= most else f"{text[: most - 1]}…"


class OutlyingError(Exception):
    """The root of all errors that a user can cause and repair.

    Messages speak to users of Python. `in_shell` has the words that differ on the command line,
    where rows are counted from 1 and options have dashes. Names in messages come from files and
    tables: what a terminal would obey is escaped.
    """

    in_shell: Mapping[str, str] = MappingProxyType(
        {
            "with exclude=": "with --exclude",
            'scale="none"': "--scale none",
            'scale="deviation"': "--scale deviation",
        }
    )

    def __str__(self) -> str:
        return harmless(super().__str__())

    def shell_message(self) -> str:
        """Return the message in the words of the command line."""
        said = str(self)
        for python, shell in self.in_shell.items():
            said = said.replace(python, shell)
        return said


def row_words(row: int) -> tuple[str, dict[str, str]]:
    """Return how Python names a row by its position from 0, and the words for the shell."""
    return f"row {row} (counted from 0)", {f"row {row} (counted from 0)": f"data row {row + 1}"}


class OptionError(OutlyingError, ValueError):
    """An option has a value that is not allowed."""


class SourceError(OutlyingError):
    """A file or an object in memory cannot be read as a table."""


class InfiniteValueError(SourceError):
    """A numeric column holds an infinite value; names the column and the first such row.

    Without a row it is in the object, or elsewhere: `place` says where.
    """

    def __init__(self, column: str, row: int | None, place: str = "in the object") -> None:
        self.column = column
        self.row = row
        words = {"with exclude=": "with --exclude", 'infinite="missing"': "--infinite missing"}
        if row is not None:
            name, of_row = row_words(row)
            place, words = f"in {name}", words | of_row
        self.in_shell = words
        super().__init__(
            f"column {column!r} has an infinite value {place}; correct it, leave the column out "
            'with exclude=, or treat infinite values as missing with infinite="missing"'
        )


def not_its_own(source: str, kind: str, named: str = "") -> SourceError:
    """Make the error of a file that would have another one read, which its author may not choose.

    Whoever is given it would read for the author whatever the machine lets them read.
    """
    what = named and f" ({shown(named)})"
    error = SourceError(
        f"{source}: {kind} may read nothing but itself, and this names something else{what}; if "
        "you trust whoever made it, add allow_external=True"
    )
    error.in_shell = {"allow_external=True": "--allow-external"}
    return error


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


class MissingExtraError(OutlyingError, ImportError):
    """An optional dependency is not installed; the message gives the install line."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package: pip install 'outlying[{extra}]'")


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
