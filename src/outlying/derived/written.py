"""How a cell is written, in a column of numbers or dates that were written for people.

The few texts that are no numbers are candidates for wrong cells. As numbers they are missing; this
part says what they are.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from outlying.table.columns import CategoricalColumn, Column, frozen
from outlying.table.parts import Part
from outlying.table.values import Value, is_gap
from outlying.table.written.reading import Reading
from outlying.table.written.styles import style_of


@dataclasses.dataclass(frozen=True, slots=True)
class WrittenAs:
    """Whether a text is read like the others of its column, or else which it is."""

    given: ClassVar[tuple[str, ...]] = ()

    parent: str
    reading: Reading

    @property
    def name(self) -> str:
        """The name of the derived column."""
        return Part.WRITTEN.name_of(self.parent)

    @property
    def key(self) -> str:
        """What tells it from the same part where other texts fit."""
        return f"{self.name} as {self.reading}"

    @property
    def ends(self) -> tuple[float, float]:
        """NaN: it gives categories."""
        return math.nan, math.nan

    @property
    def gives_conditions(self) -> bool:
        """False: that nearly all rows hold a number groups nothing."""
        return False

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Compute how each cell is written."""
        parent = columns[self.parent]
        assert parent.is_numeric  # noqa: S101 - it is read as numbers
        assert parent.written is not None  # noqa: S101 - from texts
        texts = parent.written.texts
        fits = ~np.isnan(self.reading.numbers([str(label) for label in texts.labels]))
        pairs = zip(texts.labels, fits.tolist(), strict=True)
        words = [self._word(str(label), is_right) for label, is_right in pairs]
        labels = sorted({self._right, *(word for word in words if word is not None)})
        code_of: dict[str | None, int] = {word: code for code, word in enumerate(labels)}
        ranks = np.array([*(code_of.get(word, -1) for word in words), -1], dtype=np.int32)
        ranked = ranks[texts.codes]
        is_read = ~np.isnan(parent.values)  # a new object may give a number, not a text
        ranked[is_read] = code_of[self._right]
        used, codes = np.unique(ranked, return_inverse=True)
        gaps = int(len(used) > 0 and used[0] < 0)
        kept = tuple(labels[code] for code in used[gaps:].tolist())
        found = frozen((codes - gaps).astype(np.int32))
        return CategoricalColumn(self.name, "text", found, kept, origin=self)

    @property
    def _right(self) -> str:
        return f"a {self.reading.noun}"

    def _word(self, text: str, is_right: bool) -> str | None:
        if is_right:
            return self._right
        return None if is_gap(text) else f"'{text}'"

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say that a text is alone, or one of few, among numbers; or that they look different."""
        value = values[self.parent]
        if not isinstance(value, str):
            return None
        noun, right, wrong = self.reading.noun, self.reading.right, self.reading.wrong
        style, has_shape = style_of(value)
        if self.reading.is_of_kind(style):
            return f"is written unlike the other {right:,} {noun}s"
        if has_shape:
            return f"is no {noun}, in a column of {right:,} {noun}s"
        which = "the only text" if wrong == 1 else f"one of {wrong:,} texts"
        return f"is {which} in a column of {right:,} {noun}s"


def written_derivations(column: Column) -> Iterator[WrittenAs]:
    """Return how the cells of a column are written, where some are written unlike the others."""
    if column.is_numeric and column.written is not None and column.written.reading.wrong:
        yield WrittenAs(column.name, column.written.reading)
