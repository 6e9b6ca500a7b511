"""Scores computed from all rows by compiled code: the same as by NumPy, bit by bit."""

from __future__ import annotations

import math
from typing import Any, cast

from outlying.kernel.library import Kernel
from outlying.kernel.look import Bits, Conditions
from outlying.method.measure import Summary, reaches
from outlying.method.profiles import Profile
from outlying.search.cache import Group
from outlying.search.looks import Look
from outlying.search.scoring import Context, Exact, Hit


class CompiledExact(Exact):
    """Scores of an object's pairs; rows that satisfy a condition are bits."""

    def __init__(self, kernel: Kernel, *given: Any) -> None:
        super().__init__(*given)
        self.kernel = kernel

    def _measured(self, place: int, context: Context) -> tuple[int, Summary | None]:
        """Count the rows of a context and summarise a property there; what is typical is shared."""
        seen = _Seen(self, place, context)
        return seen.rows, seen.summary()

    def reaching(self, place: int, context: Context) -> Hit | None:
        """Score a property in a context; None, too, where the threshold is not reached.

        Most pairs do not; of these it does not matter how much tighter the property is there.
        """
        if self._is_small(context):
            return super().reaching(place, context)
        seen = _Seen(self, place, context)
        if seen.rows < self.least_rows(len(context)) or not self._reaches(seen.sketched()):
            return None
        return self.hit(place, context, seen.rows, seen.summary())

    def _reaches(self, summary: Summary | None) -> bool:
        if summary is None:
            return False
        score = summary.outlierness(self.options.measure)
        return reaches(score, self.options.min_outlierness)

    def near(self, place: int, context: Context, width: float) -> int:
        """Count the rows of a context that lie within a window around the object."""
        row, bits = self.properties[place].row, self._bits(context) or [self.cache.all_bits]
        return self.look_of(place).rows_near(row, Conditions(self.kernel, bits), width)

    def sizes(self, place: int, context: Context) -> tuple[int, int]:
        """Count the rows of a context, and those of them that have the property."""
        conditions, own = self.conditions(context), self.properties[place]
        rows = self.rows if conditions is None else conditions.rows
        if own.value is None:
            return rows, rows
        known = self.cache.known_bits(own.attribute.whole)
        return rows, Conditions(self.kernel, [*self._bits(context), known]).rows

    def profile(self, place: int, context: Context) -> Profile:
        """Return what a description needs of a property in a context, once for all objects."""
        look = self.look_of(place)
        return self.cache.profile(
            self.key(place, context),
            lambda: look.profile(self.conditions(context)),
        )

    def look_of(self, place: int) -> Look:
        """Return who looks at a property."""
        return self.cache.look(self.kernel, self.properties[place].attribute.whole)

    def conditions(self, context: Context) -> Conditions | None:
        """Return the conditions of a context; None where there are none."""
        return Conditions(self.kernel, self._bits(context)) if context else None

    def _bits(self, context: Context) -> list[Bits]:
        return [self.cache.bits(self.numbers[item], self._test(item)) for item in context]


class _Seen:
    """A property in a context as the object sees it, looked at once."""

    def __init__(self, exact: CompiledExact, place: int, context: Context) -> None:
        self.look, key = exact.look_of(place), exact.key(place, context)
        conditions = exact.conditions(context)
        self.rows = exact.rows if conditions is None else conditions.rows
        known = exact.cache.known_group(key)
        typical, self._near = None if known is None else known.typical, list[int]()
        if typical is None if known else self.rows < exact.least_rows(len(context)):
            self._group = known or exact.cache.group(key, lambda: Group(self.rows, None))
            return
        self._members = cast(Any, self.look.members(conditions))  # each look knows its own
        row = exact.properties[place].row
        typical, self._near = self.look.seen(
            row, self._members, typical, exact.scales, exact.needed
        )
        self._group = known or exact.cache.group(key, lambda: Group(self.rows, typical))
        shared = self._group.typical
        if shared is not None and typical is not None:  # of a thread that was here meanwhile
            shared.neighbours.update(typical.neighbours)

    def sketched(self) -> Summary | None:
        """Summarise the property, perhaps without its lift."""
        typical = self._group.typical
        return None if typical is None else self.look.attribute.summary_with(typical, self._near)

    def summary(self) -> Summary | None:
        """Summarise the property."""
        group = self._group
        if group.typical is not None and math.isnan(group.typical.lift):
            group.typical = self.look.with_lift(group.typical, self._members)
        return self.sketched()
