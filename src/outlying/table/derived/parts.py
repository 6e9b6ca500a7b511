"""The parts that columns can have, and the names of derived columns."""

from __future__ import annotations

import enum
from collections.abc import Collection


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

    def name_of(self, parent: str) -> str:
        """Return the name of the derived column: that of its parent, and the part."""
        return f"{parent} ({self.value})"


def is_part_name(name: str, columns: Collection[str]) -> bool:
    """Return whether this can be the name of a column that is derived from one of these."""
    return any(
        name.endswith(end := part.name_of("")) and name.removesuffix(end) in columns
        for part in Part
    )
