"""The parts that columns can have, and the names of derived columns."""

from __future__ import annotations

import enum
from collections.abc import Collection

from outlying.table.values import Form


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
    """Return the column that a derived column of this name comes from, and which part it is.

    None where none of these columns has such a part; a column that is called so comes first.
    """
    for part in () if name in columns else Part:
        parent = name.removesuffix(part.name_of(""))
        if parent != name and parent in columns:
            return parent, part
    return None


def is_part_name(name: str, columns: Collection[str]) -> bool:
    """Return whether this can be the name of a column that is derived from one of these."""
    return part_of(name, columns) is not None
