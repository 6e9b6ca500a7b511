"""What is to be explained of a table that is read as a stream."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

#: A where names one row, several name one each, or one stands for every row with its values.
Meaning: TypeAlias = Literal["one", "each", "every"]


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """Rows by their values, or new objects."""

    where: Any = None
    meaning: Meaning = "one"
    objects: Sequence[Mapping[str, Any]] = ()
