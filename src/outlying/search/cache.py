"""What the objects of one population share: its conditions, and what was found in contexts of them.

Objects with the same condition on an attribute ask the same questions; what is typical in a context
depends on its conditions alone. A condition has one number in its population, an object knows the
numbers of its own. Memory is bounded: what was not used for longest is forgotten first, and found
again when it is needed. Several threads may share a cache; a number is never given twice, so that
nothing that one thread forgets can mislead another.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from outlying.kernel.library import Kernel
from outlying.kernel.look import Bits, WholeColumn
from outlying.method.measure import Typical
from outlying.method.profiles import Profile
from outlying.search import limits
from outlying.search.attributes import Attribute
from outlying.search.looks import AnyMembers, Look, look_at
from outlying.search.objects import CandidateCondition
from outlying.search.screen.bitsets import Layout, Places, Words
from outlying.search.screen.histograms import Histogram
from outlying.search.screen.neighbours import Sample
from outlying.search.threads import Lock, Once
from outlying.table.columns import Mask
from outlying.table.conditions import Condition

Key: TypeAlias = tuple[Attribute, tuple[int, ...]]  # a property and the numbers of conditions
Name = TypeVar("Name", bound=Hashable)
Thing = TypeVar("Thing")

_AT_HAND = 1 << 20  # bytes of bits for one property that a search does not put together again


@dataclasses.dataclass(slots=True)
class Group:
    """A context as one property sees it."""

    rows: int
    #: None where all values are equal; its lift is NaN until it is needed.
    typical: Typical | None


class LeastRecentlyUsed(Generic[Name, Thing]):
    """Things by name, made when first asked for; what was not used for longest goes first."""

    def __init__(self, most: int, size: Callable[[Thing], int] = lambda _: 1) -> None:
        """Take how much may be kept, and how much a thing takes; one thing is always kept."""
        self._most, self._size_of = most, size
        self._things: collections.OrderedDict[Name, Thing] = collections.OrderedDict()
        self._size, self._lock = 0, Lock()

    def __len__(self) -> int:
        return len(self._things)

    def find(self, name: Name) -> Thing | None:
        """Return a thing that is there.

        Each step is one of the interpreter's; a thing may be forgotten between both.
        """
        known = self._things.get(name)
        if known is not None:
            try:  # noqa: SIM105 - asked for too often for more
                self._things.move_to_end(name)
            except KeyError:
                pass
        return known

    def get(self, name: Name, make: Callable[[], Thing]) -> Thing:
        """Return a thing; two threads that make the same one at once both get the first."""
        known = self.find(name)
        if known is not None:
            return known
        return self.keep(name, make())

    def keep(self, name: Name, made: Thing) -> Thing:
        """Keep a thing, or return the one that is there already."""
        with self._lock:
            if name not in self._things:
                self._size += self._size_of(made)
                self._things[name] = made
                self._shrink()
            return self._things[name]

    def _shrink(self) -> None:
        while self._size > self._most and len(self._things) > 1:
            _, forgotten = self._things.popitem(last=False)
            self._size -= self._size_of(forgotten)


class KnownCondition:
    """A condition of the population: its number, and which of the rows nearby satisfy it."""

    __slots__ = ("laid_out", "marks", "number")

    def __init__(self, number: int, marks: Mask | None = None) -> None:
        self.number, self.marks = number, marks
        #: Rows as bits, in a property's order, and the address of these.
        self.laid_out: dict[Layout, tuple[Words, int]] = {}


def lay_out(known: Sequence[KnownCondition], layout: Layout) -> None:
    """Lay out the rows of conditions where no object has asked for it before."""
    new = [item for item in known if layout not in item.laid_out]
    if not new:
        return
    marks = [item.marks for item in new if item.marks is not None]  # of objects, all are marked
    for item, words in zip(new, layout.packed(marks), strict=True):
        item.laid_out.setdefault(layout, (words, words.__array_interface__["data"][0]))


class OwnConditions:
    """The conditions of one object, and behind them none, in the order in which it has them."""

    def __init__(self, known: Sequence[KnownCondition]) -> None:
        self.known = known
        self.numbers: Places = np.array([item.number for item in known])
        self._at_hand: dict[Histogram, Words] = {}

    @functools.cached_property
    def marks(self) -> Mask:
        """Which of the rows nearby, the first of them screened, satisfy each."""
        return np.array([item.marks for item in self.known])

    def words(self, histogram: Histogram) -> Words:
        """Return the screened rows that satisfy each condition as bits, laid out for a property."""
        words, layout = self._at_hand.get(histogram), histogram.layout
        if words is None:
            lay_out(self.known, layout)
            lines = [item.laid_out[layout][0] for item in self.known]
            words = np.concatenate(lines).reshape(len(lines), -1)
            if words.nbytes <= _AT_HAND:
                self._at_hand[histogram] = words
        return words


class Cache:
    """Conditions by number, their rows, and what is typical of properties in contexts."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        most = min(limits.MOST_CONDITIONS, limits.MOST_MARKS // len(sample.nearby))
        self._conditions: LeastRecentlyUsed[Condition, KnownCondition] = LeastRecentlyUsed(most)
        self._next_number = itertools.count(1)
        self._none = KnownCondition(0, np.ones(len(sample.nearby), dtype=bool))
        self._masks: LeastRecentlyUsed[int, Mask] = LeastRecentlyUsed(limits.MOST_BYTES, len)
        self._groups: LeastRecentlyUsed[Key, Group] = LeastRecentlyUsed(limits.MOST_GROUPS)
        self._sizes: LeastRecentlyUsed[Key, tuple[int, int]] = LeastRecentlyUsed(limits.MOST_GROUPS)
        self._bits: LeastRecentlyUsed[int, Bits] = LeastRecentlyUsed(
            limits.MOST_BYTES, lambda bits: bits.nbytes
        )
        #: Which of all rows satisfy a condition, as bits laid out by a column.
        self.laid_out: LeastRecentlyUsed[tuple[int, WholeColumn], Bits] = LeastRecentlyUsed(
            limits.MOST_BYTES, lambda bits: bits.nbytes
        )
        self._members: LeastRecentlyUsed[Key, AnyMembers] = LeastRecentlyUsed(
            limits.MOST_MEMBERS, lambda members: members.nbytes
        )
        self._once = Once()
        self._profiles: LeastRecentlyUsed[Key, Profile] = LeastRecentlyUsed(
            limits.MOST_BYTES, lambda profile: profile.nbytes
        )

    def __reduce__(self) -> tuple[type[Cache], tuple[Sample]]:
        """Begin anew where another process gets a copy."""
        return Cache, (self.sample,)

    def _known(self, item: CandidateCondition) -> KnownCondition:
        return self._conditions.get(item.condition, lambda: KnownCondition(next(self._next_number)))

    def numbers(self, candidates: Sequence[CandidateCondition]) -> list[int]:
        """Return the numbers of conditions."""
        return [self._known(item).number for item in candidates]

    def own(self, candidates: Sequence[CandidateCondition]) -> OwnConditions:
        """Return the conditions of one object, marked."""
        known = [*map(self._known, candidates), self._none]
        for place, item in enumerate(known):
            if item.marks is None:
                item.marks = candidates[place].test(self.sample.nearby)
        return OwnConditions(known)

    def mask(self, condition: int, make: Callable[[], Mask]) -> Mask:
        """Return which of all rows satisfy a condition."""
        return self._masks.get(condition, make)

    def bits(self, condition: int, make: Callable[[], Mask]) -> Bits:
        """Return which of all rows satisfy a condition, as bits."""
        return self._bits.get(condition, lambda: Bits.of(make()))

    def known_bits(self, attribute: Attribute) -> Bits:
        """Return which of all rows have a value of an attribute, as bits."""
        return self._once(("known", attribute), lambda: Bits.of(~attribute.column.missing()))

    def look(self, kernel: Kernel, attribute: Attribute) -> Look:
        """Return who looks at an attribute by compiled code."""
        return self._once(("look", attribute), lambda: look_at(kernel, attribute))

    def group(self, key: Key, make: Callable[[], Group]) -> Group:
        """Return a context as one property sees it."""
        return self._groups.get(key, make)

    def known_group(self, key: Key) -> Group | None:
        """Return a context as one property sees it, where that is known."""
        return self._groups.find(key)

    def known_members(self, key: Key) -> AnyMembers | None:
        """Return the rows of a context as one property sees them, where they are at hand."""
        return self._members.find(key)

    def keep_members(self, key: Key, members: AnyMembers) -> None:
        """Keep the rows of a context at hand."""
        self._members.keep(key, members)

    def sizes(self, key: Key, make: Callable[[], tuple[int, int]]) -> tuple[int, int]:
        """Return the rows of a context, and those of them that have a property."""
        return self._sizes.get(key, make)

    def profile(self, key: Key, make: Callable[[], Profile]) -> Profile:
        """Return what is needed to describe a property in a context."""
        return self._profiles.get(key, make)
