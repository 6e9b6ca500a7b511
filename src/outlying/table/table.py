"""A table: typed columns of equal length, and names of conditions on them and of their parts."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal

import numpy as np

from outlying.errors import ColumnError, ObjectError, RowError, Setting, shown, unknown_name
from outlying.table.columns import Column
from outlying.table.values import Form, Value, plain, printable, range_text, text_of

FrameLibrary = Literal["pandas", "polars"]
ConditionKind = Literal["interval", "equals", "missing"]


class SkipReason(enum.Enum):
    """Why a column takes no part."""

    UNUSABLE_TYPE = enum.auto()
    OTHER_USE = enum.auto()  # it names the rows to explain, say, or holds the scores
    EMPTY = enum.auto()
    CONSTANT = enum.auto()
    IDENTIFIER = enum.auto()
    TOO_MANY_TEXTS = enum.auto()
    TOO_MANY_IN_STREAM = enum.auto()  # whatever type is declared
    ROW_NUMBER = enum.auto()
    COPY = enum.auto()


@dataclasses.dataclass(frozen=True, slots=True)
class SkippedColumn:
    """A column that takes no part; why, in words that follow its name, and for decisions."""

    name: str
    reason: str
    why: SkipReason = SkipReason.UNUSABLE_TYPE

    def to_dict(self) -> dict[str, str]:
        """Return the column as it stands in the JSON result."""
        return {"name": self.name, "reason": self.reason}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Typed columns of equal length, what could not be read, and what a reader should know."""

    columns: tuple[Column, ...]
    rows: int
    source: str
    skipped: tuple[SkippedColumn, ...] = ()
    notes: tuple[str, ...] = ()
    frame_library: FrameLibrary = "pandas"  # whose dataframes the user works with
    index: tuple[str, ...] = ()  # columns that name the rows, and say nothing about them

    @property
    def names(self) -> list[str]:
        """The names of the columns that could be read, in the order of the source."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> Column:
        """Return the column of this name; an error says which names are near."""
        for column in self.columns:
            if column.name == name:
                return column
        for skipped in self.skipped:
            if skipped.name == name:
                raise ColumnError(f"column {name!r} cannot be used: {skipped.reason}")
        raise ColumnError(unknown_name("column", name, self.names))

    def without(self, name: str, reason: str) -> Table:
        """Return the table without a column that has another use; the reason says which."""
        unwanted = self.column(name)
        skipped = SkippedColumn(name, reason, SkipReason.OTHER_USE)
        return dataclasses.replace(
            self,
            columns=tuple(column for column in self.columns if column is not unwanted),
            skipped=(*self.skipped, skipped),
        )

    def values(self, row: int) -> dict[str, Value]:
        """Return the values of one row by column, as they stand in the table."""
        return {column.name: column.cell(row) for column in self.columns}

    def find(self, where: Mapping[str, Any]) -> int:
        """Return the only row that holds all these values."""
        rows, wanted = self.matching(where), where_text(where)
        if len(rows) == 0:
            raise RowError(f"no row has {wanted}; check the value")
        if len(rows) > 1:
            first = ", ".join(str(row + 1) for row in rows[:5])
            raise RowError(
                f"{len(rows)} rows have {wanted} (data rows {first}"
                f"{', ...' if len(rows) > 5 else ''}, counted from 1); add a column to where, "
                "or name the row by its number"
            )
        return rows[0]

    def matching(self, where: Mapping[str, Any], *, at_least_one: bool = False) -> list[int]:
        """Return all rows that hold these values."""
        if not where:
            raise RowError("where is empty; give at least one column and its value")
        mask = np.ones(self.rows, dtype=bool)
        for name, value in where.items():
            try:
                mask &= self.column(name).matches(value)
            except ValueError as error:
                raise RowError(
                    f"where: column {name!r} expects {error}, got {shown(value)}"
                ) from None
        if at_least_one and not mask.any():
            raise RowError(f"no row has {where_text(where)}; check the value")
        return [int(row) for row in np.flatnonzero(mask)]

    def with_object(self, values: Mapping[str, Any], optional: Iterable[str] = ()) -> Table:
        """Return the table with a new object as one more row, so that both share one definition."""
        known = [*self.names, *(skipped.name for skipped in self.skipped)]
        unique = set(known)
        for name in values:
            if name not in unique:
                raise ObjectError("the object has an " + unknown_name("column", name, known))
        unneeded = set(optional)
        absent = [name for name in self.names if name not in values and name not in unneeded]
        if absent:
            raise ObjectError(
                f"the object has no value for {', '.join(map(repr, absent))}; give each column a "
                "value (null or None where it is missing), or leave the column out with ",
                Setting("exclude"),
            )
        columns = tuple(_extended(column, values.get(column.name)) for column in self.columns)
        return dataclasses.replace(self, columns=columns, rows=self.rows + 1)


def _extended(column: Column, value: object) -> Column:
    try:
        return column.with_value(value)
    except ValueError as error:
        raise ObjectError(
            f"the object's {column.name!r} is {shown(value)} ({type(value).__name__}); "
            f"this column expects {error}"
        ) from None


def where_text(where: Mapping[str, Any]) -> str:
    """Return the values that were looked for in words, for a message."""
    return " and ".join(f"{name} = {_value_text(value)}" for name, value in where.items())


def _value_text(value: object) -> str:
    try:
        return text_of(value) if isinstance(value, (str, int, float)) else str(value)
    except Exception:  # a class of the user's, or a number of thousands of digits
        return shown(value)


@dataclasses.dataclass(frozen=True, slots=True)
class Condition:
    """One condition on one attribute: it lies in an interval, equals a category, or is missing."""

    attribute: str
    kind: ConditionKind
    low: Value = None
    high: Value = None
    value: Value = None

    def __str__(self) -> str:
        name = printable(self.attribute)
        if self.kind == "missing":
            return f"{name} is empty"
        if self.kind == "equals" or self.low == self.high:
            return f"{name} = {text_of(self.low if self.kind == 'interval' else self.value)}"
        return f"{name} is {range_text(self.low, self.high)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as it stands in the JSON result."""
        return {
            "attribute": self.attribute,
            "kind": self.kind,
            "low": plain(self.low),
            "high": plain(self.high),
            "value": plain(self.value),
        }


# --- parts: the names of derived columns ---------------------------------------------------------


class Part(enum.Enum):
    """What is derived from a column; the value is how people call it."""

    HOUR = "hour"
    WEEKDAY = "weekday"
    DAY = "day of month"
    MONTH = "month"
    LENGTH = "length"
    WORDS = "words"
    PATTERN = "pattern"
    CHARACTERS = "characters"
    SPELLING = "spelling"
    REPEATED = "repeated"
    WRITTEN = "written as"

    @property
    def form(self) -> Form:
        """What its column holds: times of day, counts, or words."""
        if self is Part.HOUR:
            return "time"
        return "integer" if self in (Part.DAY, Part.LENGTH, Part.WORDS) else "text"

    def name_of(self, parent: str) -> str:
        """Return the name of the derived column: that of its parent, and the part."""
        return f"{parent} ({self.value})"


def part_of(name: str, columns: Collection[str]) -> tuple[str, Part] | None:
    """Return the column that a derived one of this name comes from, and its part; or None."""
    for part in () if name in columns else Part:
        parent = name.removesuffix(part.name_of(""))
        if parent != name and parent in columns:
            return parent, part
    return None


def is_part_name(name: str, columns: Collection[str]) -> bool:
    """Return whether this can be the name of a column that is derived from one of these."""
    return part_of(name, columns) is not None
