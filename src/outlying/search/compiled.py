"""Scores computed from all rows by compiled code: the same as by NumPy, bit by bit."""

from __future__ import annotations

import math
from typing import Any, cast

from outlying.kernel.library import Kernel
from outlying.kernel.look import Bits, Conditions, WholeColumn
from outlying.method.measure import SAME_DENSITY, SCALES, Summary, reaches
from outlying.method.profiles import Profile
from outlying.search.cache import Group, Key
from outlying.search.looks import AnyMembers, Look
from outlying.search.scoring import Context, Exact, Hit


class CompiledExact(Exact):
    """Scores of an object's pairs; rows that satisfy a condition are bits."""

    def __init__(self, kernel: Kernel, *given: Any) -> None:
        super().__init__(*given)
        self.kernel = kernel
        self._looks: dict[int, Look] = {}

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
        if seen.rows < self.least_rows(len(context)) or not self._may_reach(seen):
            return None
        hit = self.hit(place, context, seen.rows, seen.summary())
        return hit if self.reaches(hit) else None

    def _may_reach(self, seen: _Seen) -> bool:
        if self.options.measure == "relative":
            return seen.is_rare(self.needed)
        summary = seen.sketched()
        score = 0.0 if summary is None else summary.outlierness(self.options.measure)
        return reaches(score, self.options.min_outlierness)

    def near(self, place: int, context: Context, width: float) -> int:
        """Count the rows of a context that lie within a window around the object."""
        look = self.look_of(place)
        conditions = self.conditions(context, look.by_value)
        return look.rows_near(self.properties[place].row, conditions, width)

    def sizes(self, place: int, context: Context) -> tuple[int, int]:
        """Count the rows of a context, and those of them that have the property."""
        conditions, own = self.conditions(context), self.properties[place]
        rows = self.rows if conditions is None else conditions.rows()
        if own.value is None:
            return rows, rows
        known = self.cache.known_bits(own.attribute.whole)
        return rows, Conditions(self.kernel, [*self._bits(context), known]).rows()

    def profile(self, place: int, context: Context) -> Profile:
        """Return what a description needs of a property in a context, once for all objects."""
        look, key = self.look_of(place), self.key(place, context)
        return self.cache.profile(
            key, lambda: look.profile(cast(Any, self.members(look, key, context)))
        )

    def members(self, look: Look, key: Key, context: Context, least: float = 0.0) -> AnyMembers:
        """Return the rows of a context as a look sees them, as others have seen them if they did.

        Only their number where they are too few.
        """
        kept = self.cache.known_members(key)
        if kept is not None:
            return kept.kept()
        found = look.members(self.conditions(context, look.by_value), least)
        if context and found.rows >= least:
            self.cache.keep_members(key, found.kept())
        return found

    def look_of(self, place: int) -> Look:
        """Return who looks at a property."""
        look = self._looks.get(place)
        if look is None:
            look = self.cache.look(self.kernel, self.properties[place].attribute.whole)
            self._looks[place] = look
        return look

    def key(self, place: int, context: Context) -> Key:
        """Return what names a property in a context among all objects."""
        numbers = self.numbers
        return self.look_of(place).attribute, tuple([numbers[item] for item in context])

    def conditions(self, context: Context, column: WholeColumn | None = None) -> Conditions | None:
        """Return the conditions of a context, perhaps laid out by a column; None for none."""
        return Conditions(self.kernel, self._bits(context, column), column) if context else None

    def _bits(self, context: Context, column: WholeColumn | None = None) -> list[Bits]:
        if column is None:
            return [self._own_bits(item) for item in context]
        return [self._bits_by_value(item, column) for item in context]

    def _own_bits(self, item: int) -> Bits:
        return self.cache.bits(self.numbers[item], self._test(item))

    def _bits_by_value(self, item: int, column: WholeColumn) -> Bits:
        number, laid_out = self.numbers[item], self.cache.laid_out
        found = laid_out.find((number, column))
        if found is None:
            found = laid_out.keep((number, column), column.laid_out(self._own_bits(item)))
        return found


class _Seen:
    """A property in a context as the object sees it, looked at once."""

    def __init__(self, exact: CompiledExact, place: int, context: Context) -> None:
        self.look, key = exact.look_of(place), exact.key(place, context)
        known, self._near = exact.cache.known_group(key), list[int]()
        typical = None if known is None else known.typical
        if known is None or typical is not None:
            least = exact.least_rows(len(context))
            self._members = cast(Any, exact.members(self.look, key, context, least))
            if known or self._members.rows >= least:  # each look knows its own
                typical, self._near = self.look.seen(
                    exact.properties[place].row, self._members, typical, exact.scales, exact.needed
                )
        self._group = known or exact.cache.group(key, lambda: Group(self._members.rows, typical))
        self.rows = self._group.rows
        shared = self._group.typical
        if shared is not None and typical is not None:  # of a thread that was here meanwhile
            shared.neighbours.update(typical.neighbours)

    def sketched(self) -> Summary | None:
        """Summarise the property, perhaps without its lift."""
        typical = self._group.typical
        return None if typical is None else self.look.attribute.summary_with(typical, self._near)

    def is_rare(self, needed: float) -> bool:
        """Return whether the object is as rare as needed at any scale, up to rounding."""
        typical = self._group.typical
        if typical is None:
            return False
        neighbours, least = typical.neighbours, needed * (1 - SAME_DENSITY)
        return any(neighbours[SCALES[i]] >= least * rows for i, rows in enumerate(self._near))

    def summary(self) -> Summary | None:
        """Summarise the property."""
        group = self._group
        if group.typical is not None and math.isnan(group.typical.lift):
            group.typical = self.look.with_lift(group.typical, self._members)
        return self.sketched()
