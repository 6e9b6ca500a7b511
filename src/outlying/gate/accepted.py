"""Findings that were looked at: what is fine is counted and silent, wrong rows are left out.

A finding is known by the columns of its story, the odd cell's column and value (or range), and what
names its row. The file is TOML, for people to read and to change.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from outlying.errors import OptionError, SourceError, shown
from outlying.results.findings import Findings
from outlying.results.stories import Story
from outlying.table.columns import Mask, Rows
from outlying.table.table import Table
from outlying.table.values import plain

Verdict = Literal["fine", "wrong"]
_FIELDS = (
    *("columns", "column", "value", "low", "high", "entity"),
    *("verdict", "reason", "author", "date", "expires"),
)
_HEAD = "# Findings that were looked at; see docs/pipeline.md. `outlying check` takes them.\n"


@dataclasses.dataclass(frozen=True, slots=True)
class Accepted:
    """A finding that was looked at: which one, and by whom, when, why, until when."""

    columns: tuple[str, ...]
    column: str
    value: Any = None
    low: Any = None
    high: Any = None
    entity: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    verdict: Verdict = "fine"
    reason: str = ""
    author: str = ""
    date: dt.date | None = None
    expires: dt.date | None = None

    @classmethod
    def of(cls, findings: Findings, story: Story, **said: Any) -> Accepted:
        """Return a story of a row as it is accepted."""
        entity = {name: plain(value) for name, value in findings.key}
        value = plain(findings.object.get(story.culprit))
        return cls(tuple(sorted(story.columns)), story.culprit, value, None, None, entity, **said)

    def is_expired(self, today: dt.date) -> bool:
        """Return whether it counts no more."""
        return self.expires is not None and self.expires < today

    def covers(self, findings: Findings, story: Story) -> bool:
        """Return whether a story of a row is this one."""
        row = findings.object
        return (
            story.culprit == self.column
            and set(story.columns) == set(self.columns)
            and self.holds(plain(row.get(self.column)))
            and all(_same(plain(row.get(name)), value) for name, value in self.entity.items())
        )

    def holds(self, value: Any) -> bool:
        """Return whether the odd cell is the accepted one, or in the accepted range."""
        if self.low is None and self.high is None:
            return _same(value, self.value)
        try:
            return (self.low is None or value >= self.low) and (
                self.high is None or value <= self.high
            )
        except TypeError:
            return False

    def mask(self, table: Table) -> Mask:
        """Return which rows of a table hold it: those that were confirmed as wrong."""
        found = np.ones(table.rows, dtype=bool)
        for name, value in self.entity.items():
            found &= _cells(table, name, lambda cell, value=value: _same(cell, value))
        return found & _cells(table, self.column, self.holds)

    def __str__(self) -> str:
        cell = f"{self.column} = {shown(self.value)}"
        if self.low is not None or self.high is not None:
            cell = f"{self.column} from {shown(self.low)} to {shown(self.high)}"
        named = ", ".join(f"{name} = {shown(value)}" for name, value in self.entity.items())
        return f"{cell}{f' ({named})' if named else ''}"

    def to_toml(self) -> str:
        """Return the entry as it stands in the file."""
        lines = ["[[accepted]]"]
        for name in _FIELDS:
            value = getattr(self, name)
            is_needed = name == "column" or (name == "value" and self.low is self.high is None)
            if is_needed or value not in (None, "", {}):
                lines.append(f"{name} = {_toml(value)}")
        return "\n".join(lines) + "\n"


def _cells(table: Table, name: str, test: Any) -> Mask:
    """Return which rows have a cell of which something is true; none where there is no column."""
    if name not in table.names:
        return np.zeros(table.rows, dtype=bool)
    column = table.column(name)
    return np.array([test(plain(column.cell(row))) for row in range(table.rows)], dtype=bool)


def _same(one: Any, other: Any) -> bool:
    """Return whether two plain values are the same; a missing one is an empty text in TOML."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return bool(abs(one - other) <= 1e-9 * max(1.0, abs(one), abs(other)))
    return (one or "") == (other or "") if None in (one, other) else bool(one == other)


def _toml(value: Any) -> str:
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        pairs = (f"{_toml(str(name))} = {_toml(own)}" for name, own in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    text = "" if value is None else value
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def read(path: str | Path) -> list[Accepted]:
    """Read a file of accepted findings; an error says which entry is wrong, and how."""
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SourceError(f"{path}: is not a file of accepted findings: {error}") from None
    entries = content.get("accepted", [])
    if set(content) - {"accepted"} or not isinstance(entries, list):
        raise SourceError(f"{path}: holds {', '.join(content)}; allowed: [[accepted]] entries")
    return [_entry(own, f"{path}: entry {place}") for place, own in enumerate(entries, start=1)]


def _entry(own: Any, place: str) -> Accepted:
    if not isinstance(own, dict) or set(own) - set(_FIELDS):
        raise SourceError(f"{place}: allowed are {', '.join(_FIELDS)}")
    kinds: dict[str, Any] = {"columns": list, "column": str, "entity": dict, "verdict": str}
    kinds |= {"reason": str, "author": str, "date": dt.date, "expires": dt.date}
    for name, kind in kinds.items():
        if name in own and not isinstance(own[name], kind):
            raise SourceError(f"{place}: {name} is {shown(own[name])}, which is of another type")
    if "column" not in own:
        raise SourceError(f"{place}: names no column, which is needed")
    if own.get("verdict", "fine") not in ("fine", "wrong"):
        raise SourceError(f"{place}: verdict is {shown(own['verdict'])}; allowed: fine or wrong")
    columns = tuple(map(str, own.get("columns", [own["column"]])))
    return Accepted(**own | {"columns": columns})


def added(path: str | Path, new: Sequence[Accepted]) -> str:
    """Return the content of a file with new entries; those that it has already stay as they are."""
    known = read(path) if Path(path).exists() else []
    if not new:
        raise OptionError("nothing in this row is exceptional, so that there is nothing to accept")
    undated = [dataclasses.replace(item, date=None) for item in known]
    fresh = [item for item in new if dataclasses.replace(item, date=None) not in undated]
    return content([*known, *fresh])


def content(entries: Sequence[Accepted]) -> str:
    """Return entries as they stand in a file."""
    return _HEAD + "\n".join(["", *(item.to_toml() for item in entries)])


def without_wrong(table: Table, entries: Sequence[Accepted]) -> tuple[Table, int]:
    """Leave out the rows that were confirmed as wrong; return the others, and how many went."""
    wrong = np.zeros(table.rows, dtype=bool)
    for item in entries:
        if item.verdict == "wrong":
            wrong |= item.mask(table)
    return (table_of(table, np.flatnonzero(~wrong)) if wrong.any() else table), int(wrong.sum())


def table_of(table: Table, rows: Rows) -> Table:
    """Return some rows of a table."""
    columns = tuple(column.taken(rows) for column in table.columns)
    return dataclasses.replace(table, columns=columns, rows=len(rows))
