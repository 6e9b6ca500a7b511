"""What all derivations have in common: how a column is computed from another one, its parent."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from outlying.table.columns import CategoricalColumn, Column, frozen
from outlying.table.table import Part
from outlying.table.values import Value


@dataclasses.dataclass(frozen=True, slots=True)
class PartDerivation:
    """How a part of each cell is computed; most parts are categories that group no rows."""

    given: ClassVar[tuple[str, ...]] = ()
    follows: ClassVar[tuple[str, ...]] = ()
    keys: ClassVar[tuple[str, ...]] = ()
    is_both_ways: ClassVar[bool] = False
    says_more: ClassVar[bool] = False
    explains: ClassVar[float] = 0.0

    parent: str
    part: Part

    @property
    def name(self) -> str:
        """The name of the derived column."""
        return self.part.name_of(self.parent)

    @property
    def key(self) -> str:
        """What tells it from a part of the same name that follows from other facts."""
        return f"{self.name} by {hashlib.blake2b(repr(self).encode(errors='replace')).hexdigest()}"

    @property
    def gives_conditions(self) -> bool:
        """Whether it groups rows."""
        return False

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest number that it gives; NaN where it gives categories."""
        return math.nan, math.nan

    def column(self, columns: Mapping[str, Column]) -> Column:
        """Compute the part of each cell of the parent."""
        return self.computed(columns[self.parent])

    def computed(self, parent: Column) -> Column:
        """Compute the part of each cell."""
        raise NotImplementedError

    def said(self, values: Mapping[str, Value]) -> str | None:
        """Say what is odd of the parent's value, in words that follow it."""
        return self.remark(values[self.parent])

    def expected(self, values: Mapping[str, Value]) -> tuple[Value, Value] | None:  # noqa: ARG002
        """Return the least and the greatest value of the parent that are expected; None: unknown.

        One label is both.
        """
        return None

    def remark(self, value: Value) -> str | None:  # noqa: ARG002
        """Return None: the part itself says it."""
        return None

    def _labelled(
        self, words: Sequence[str | None], codes: npt.NDArray[np.integer]
    ) -> CategoricalColumn:
        """Return the word of each code as sorted labels, of those that occur; None is missing."""
        occurring = {words[code] for code in np.unique(codes[codes >= 0]).tolist()}
        used = sorted(word for word in occurring if word is not None)
        ranks: dict[str | None, int] = {word: rank for rank, word in enumerate(used)}
        rank_of = np.array([*(ranks.get(word, -1) for word in words), -1], dtype=np.int32)
        return CategoricalColumn(
            self.name, "text", frozen(rank_of[codes]), tuple(used), origin=self
        )
