"""Contexts with their estimated scores, and what orders them."""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.method.density import Floats
from outlying.search.scoring import Context
from outlying.search.screen.bitsets import NONE, Contexts
from outlying.table.columns import Mask

Rank: TypeAlias = tuple[float, int, float, Context]  # score, conditions, rows: the less the better


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ScreenedContexts:
    """Contexts of one property with what the screen says of them."""

    contexts: Contexts
    rows: Floats
    scores: Floats  # -inf where there is nothing to compare
    rarity: Floats  # or the paper's difference of areas

    def strongest(self, number: int, kept: Mask) -> list[tuple[Rank, int]]:
        """Choose some of the contexts by score; ties: fewer conditions, more rows, their names."""
        scores = np.where(kept, self.scores, -math.inf)
        least = -sys.float_info.max
        if len(scores) > number:
            least = max(least, float(np.partition(scores, -number)[-number]))
        best = (self.ranked(place) for place in np.flatnonzero(scores >= least).tolist())
        return sorted(best)[:number]

    def ranked(self, place: int) -> tuple[Rank, int]:
        """Return what orders a context, and its place."""
        context = as_tuple(self.contexts[place])
        rank = (-float(self.scores[place]), len(context), -float(self.rows[place]), context)
        return rank, place


def least_where_nan(numbers: Floats) -> Floats:
    """Put what is not comparable last in an order."""
    return np.where(np.isnan(numbers), -math.inf, numbers)


def as_tuple(context: npt.NDArray[np.int64]) -> Context:
    """Return a line of contexts as exact scores know it."""
    return tuple(context[context != NONE].tolist())
