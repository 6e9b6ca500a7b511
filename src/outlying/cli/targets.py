"""Which rows the command line is asked about: --row, --where, --rows, --objects and the like."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from outlying.cli.options import all_of, assignment, grouped
from outlying.errors import ObjectError, OptionError, RowError
from outlying.table.table import Table
from outlying.table.targets import RowRequest, is_mark, no_mark, not_a_mark
from outlying.table.values import Value, read_text

_NUMBER_OR_RANGE = re.compile(r"([0-9]{1,15})(?:\s*-\s*([0-9]{1,15}))?")
_ONE = ("row", "where", "object_file")
_MANY_TIMES = ("where", "rows")
#: The ways to name what to explain: by which flag, with what, in words.
_WAYS = {
    "row": ("--row", "N", "The row to explain; the first row below the header is 1."),
    "where": ("--where", "COLUMN=VALUE", "The only row with this value; repeat to narrow."),
    "where_file": (
        "--where-file",
        "FILE",
        'Many rows by their values: JSON lines such as {"id": 17}, or - for standard input.',
    ),
    "object_file": (
        "--object",
        "FILE",
        "A new object, as JSON in a file or - for standard input.",
    ),
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
_FLAGS = {name: flag for name, (flag, _, _) in _WAYS.items()}
#: Gives a command the options that name what to explain.
naming_options = all_of(
    *(
        grouped(
            "Which rows",
            flag,
            name,
            type=int if name == "row" else str,
            multiple=name in _MANY_TIMES,
            metavar=metavar,
            help=words,
        )
        for name, (flag, metavar, words) in _WAYS.items()
    )
)


@dataclasses.dataclass(frozen=True, slots=True)
class Naming:
    """How the user names what to explain: by exactly one of these."""

    row: int | None
    where: tuple[str, ...]
    where_file: str | None
    object_file: str | None
    rows: tuple[str, ...]
    rows_file: str | None
    where_true: str | None
    objects_file: str | None

    @classmethod
    def taken_from(cls, given: dict[str, Any]) -> Naming:
        """Take the options that name rows out of all options given; exactly one must be there."""
        naming = cls(**{name: given.pop(name) for name in _FLAGS})
        used = [flag for name, flag in _FLAGS.items() if getattr(naming, name) not in (None, ())]
        if not used:
            raise OptionError(
                "which row? Name it by --row N, --where COLUMN=VALUE or --object FILE; many by "
                "--rows 3,17,40-60, --rows-file FILE, --where-file FILE, --where-true COLUMN or "
                "--objects FILE"
            )
        if len(used) > 1:
            raise OptionError(
                f"what to explain is named twice, by {' and '.join(used)}; use exactly one of "
                + ", ".join(_FLAGS.values())
            )
        return naming

    @classmethod
    def nothing(cls) -> Naming:
        """Name no row: rows are detected, be they many."""
        return cls(None, (), None, None, (), None, None, None)

    @property
    def is_many(self) -> bool:
        """Whether the answer is one for many, be there one only."""
        return all(getattr(self, name) in (None, ()) for name in _ONE)

    @property
    def are_new(self) -> bool:
        """Whether objects are explained that are not in the table."""
        return self.object_file is not None or self.objects_file is not None

    @property
    def is_repeatable(self) -> bool:
        """Whether the same command would name the same objects again."""
        return "-" not in (self.object_file, self.objects_file, self.where_file)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that name what to explain."""
        named = (self.object_file, self.objects_file, self.where_file, self.rows_file)
        return tuple(name for name in named if name is not None)

    def check_standard_input(self, source: str | None) -> None:
        """Refuse to read both the table and what is named from standard input."""
        if source == "-" and "-" in self.files:
            raise OptionError(
                "both SOURCE and what to explain are -, standard input; give one of them as a file"
            )

    def compared(self, table: Table) -> Table:
        """Leave out the column that marks the rows, and say so."""
        if self.where_true is None:
            return table
        return table.without(self.where_true, "names the rows to explain")

    @property
    def marks(self) -> list[str]:
        """The column that marks the rows to explain, if one does."""
        return [] if self.where_true is None else [self.where_true]

    def request(self, table: Table, is_streamed: bool) -> RowRequest:
        """Return what is named of a table; one that is read as a stream has no rows here.

        Errors name an item by where the user has written it.
        """
        if self.are_new:
            return self._new()
        if self.where_file is not None:
            places, keys = zip(*json_lines(self.where_file, "keys", RowError), strict=True)
            return RowRequest(wheres=keys, name=places.__getitem__)
        if self.where:
            return RowRequest(wheres=[dict(_condition(item, table) for item in self.where)])
        if self.where_true is not None and is_streamed:
            return RowRequest(marks=table.column(self.where_true).name)
        if is_streamed:
            raise OptionError(
                f"{table.source} is read as a stream, whose rows have no numbers; name them by "
                "--where COLUMN=VALUE, --where-file FILE or --where-true COLUMN"
            )
        if self.where_true is not None:
            return RowRequest(rows=marked(table, self.where_true))
        own = self._numbers(table) if self.row is None else [_checked(self.row, table)]
        return RowRequest(rows=own)

    def _new(self) -> RowRequest:
        """Return the new objects of a file."""
        if self.object_file is not None:
            return RowRequest(objects=[json_object(self.object_file)], name=lambda _: "--object")
        lines = json_lines(self.objects_file or "-", "objects", ObjectError)
        places, objects = zip(*lines, strict=True)
        return RowRequest(objects=objects, name=places.__getitem__)

    def _numbers(self, table: Table) -> list[int]:
        if self.rows_file is None:
            texts = [("--rows", text) for text in self.rows]
        else:
            texts = list(_lines(self.rows_file))
        found = [row for place, text in texts for row in numbers(text, place, table)]
        if not found:
            place = "--rows" if self.rows_file is None else self.rows_file
            raise RowError(f"{place} names no row; give numbers and ranges such as 3,17,40-60")
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
        yield from range(_checked(first, table, place), _checked(last, table, place) + 1)


def _checked(row: int, table: Table, place: str = "") -> int:
    if not 1 <= row <= table.rows:
        raise RowError(
            f"{place}{': ' if place else ''}row {row} does not exist: {table.source} has "
            f"{table.rows:,} data rows, counted from 1 to {table.rows}"
        )
    return row - 1


def marked(table: Table, name: str) -> list[int]:
    """Find the rows that a column marks; an error says what it cannot read as a mark."""
    column = table.column(name)
    marks = [is_mark(column.value(row)) for row in range(table.rows)]
    if None in marks:
        row = marks.index(None)
        place = f"data row {row + 1} (counted from 1)"
        raise RowError(not_a_mark(name, column.value(row), place))
    if not any(marks):
        raise RowError(no_mark(name))
    return [row for row, is_marked in enumerate(marks) if is_marked]


def _lines(file: str) -> Iterator[tuple[str, str]]:
    """Return the lines of a file of row numbers, each with its place."""
    for number, line in enumerate(_content(file, "row numbers", RowError).splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"line {number} of {_shown(file)}", line


def json_lines(
    file: str, what: str, kind: type[RowError | ObjectError]
) -> list[tuple[str, Mapping[str, Any]]]:
    """Read JSON objects, one per line, each with its place."""
    content = _content(file, what, kind)
    lines = [(n, line) for n, line in enumerate(content.split("\n"), start=1) if line.strip()]
    if not lines:
        raise kind(f"{_shown(file)} holds no object; needed is one JSON object per line")
    named = [(f"line {number} of {_shown(file)}", line) for number, line in lines]
    return [(place, _parsed(line, place)) for place, line in named]


def json_object(file: str) -> Mapping[str, Any]:
    """Read one new object."""
    return _parsed(_content(file, "the object", ObjectError), _shown(file))


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
        raise kind(f"cannot read {what} from {file}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8 text"


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
