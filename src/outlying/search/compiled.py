"""Scores computed from all rows by compiled code: the same as by NumPy, bit by bit."""

from __future__ import annotations

import functools
from typing import Any

from outlying.kernel.library import Kernel
from outlying.kernel.look import Conditions
from outlying.method.measure import Summary
from outlying.method.profiles import Profile
from outlying.search.cache import Group
from outlying.search.looks import Look
from outlying.search.scoring import Context, Exact


class CompiledExact(Exact):
    """Scores of an object's pairs; rows that satisfy a condition are bits."""

    def __init__(self, kernel: Kernel, *given: Any) -> None:
        super().__init__(*given)
        self.kernel = kernel

    def _measured(self, place: int, context: Context) -> tuple[int, Summary | None]:
        """Count the rows of a context and summarise a property there; what is typical is shared."""
        own, look, conditions = self.properties[place], self._look(place), self._conditions(context)
        rows = self.rows if conditions is None else conditions.rows
        members = functools.cache(lambda: look.members(conditions))

        def group() -> Group:
            is_large = rows >= self.least_rows(len(context))
            return Group(rows, look.typical(members()) if is_large else None)

        typical = self.cache.group(self.key(place, context), group).typical
        if typical is None:
            return rows, None
        near = look.near(own.row, members(), typical, self.scales, self.needed)
        look.widen(typical, members(), self.scales[: len(near)])
        return rows, look.attribute.summary_with(typical, near)

    def near(self, place: int, context: Context, width: float) -> int:
        """Count the rows of a context that lie within a window around the object."""
        row, conditions = self.properties[place].row, self._conditions(context)
        return self._look(place).rows_near(row, conditions, width)

    def sizes(self, place: int, context: Context) -> tuple[int, int]:
        """Count the rows of a context, and those of them that have the property."""
        conditions, own = self._conditions(context), self.properties[place]
        rows = self.rows if conditions is None else conditions.rows
        if own.value is None:
            return rows, rows
        known = self.cache.known_words(own.attribute.whole)
        return rows, Conditions(self.kernel, [*self._words(context), known]).rows

    def profile(self, place: int, context: Context) -> Profile:
        """Return what a description needs of a property in a context, once for all objects."""
        look = self._look(place)
        return self.cache.profile(
            self.key(place, context),
            lambda: look.profile(look.members(self._conditions(context))),
        )

    def _look(self, place: int) -> Look:
        return self.cache.look(self.kernel, self.properties[place].attribute.whole)

    def _conditions(self, context: Context) -> Conditions | None:
        return Conditions(self.kernel, self._words(context)) if context else None

    def _words(self, context: Context) -> list[Any]:
        return [self.cache.words(self.numbers[item], self._test(item)) for item in context]
