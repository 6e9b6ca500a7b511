"""Exact results that objects of one population share: who is in a context, what is typical there.

Both depend on the conditions alone. Memory is bounded: everything is forgotten when it grows too
large, and found again when needed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from typing import Protocol, TypeAlias, TypeVar, cast

from outlying.method.measure import Typical
from outlying.search.attributes import Attribute
from outlying.table.columns import Mask
from outlying.table.conditions import Condition

Key: TypeAlias = tuple[Attribute, tuple[int, ...]]  # a property and the numbers of conditions

MOST_BYTES = 64_000_000  # of masks, and again of profiles
MOST_GROUPS = 100_000


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """A context as one property sees it."""

    rows: int
    typical: Typical | None  # None where all values are equal


class Profile(Protocol):
    """Everything about a property in a context that a description needs, whatever the object."""

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""


Name = TypeVar("Name", bound=Hashable)
Thing = TypeVar("Thing")
Kind = TypeVar("Kind", bound=Profile)


class _Memory(dict[Name, Thing]):
    """Things by name, made when first asked for; all are forgotten when they grow too large."""

    size = 0

    def give(
        self, name: Name, make: Callable[[], Thing], size: Callable[[Thing], int], most: int
    ) -> Thing:
        """Return a thing, of which so much may be kept."""
        thing = self.get(name)
        if thing is None:
            thing = make()
            if self.size + size(thing) > most:
                self.clear()
                self.size = 0
            self[name] = thing
            self.size += size(thing)
        return thing


class Shared:
    """Masks of conditions, and what is typical of properties in contexts."""

    def __init__(self) -> None:
        self._numbers: dict[Condition, int] = {}
        self._masks: _Memory[int, Mask] = _Memory()
        self._groups: _Memory[Key, Group] = _Memory()
        self._profiles: _Memory[Key, Profile] = _Memory()
        self._sizes: _Memory[Key, tuple[int, int]] = _Memory()

    def number(self, condition: Condition) -> int:
        """Return a condition a number: quicker to look up than what it says."""
        return self._numbers.setdefault(condition, len(self._numbers))

    def mask(self, condition: int, make: Callable[[], Mask]) -> Mask:
        """Return the rows that satisfy a condition."""
        return self._masks.give(condition, make, len, MOST_BYTES)

    def group(self, key: Key, make: Callable[[], Group]) -> Group:
        """Return a context as one property sees it."""
        return self._groups.give(key, make, lambda _: 1, MOST_GROUPS)

    def sizes(self, key: Key, make: Callable[[], tuple[int, int]]) -> tuple[int, int]:
        """Return the rows of a context, and those of them that have a property."""
        return self._sizes.give(key, make, lambda _: 1, MOST_GROUPS)

    def profile(self, key: Key, make: Callable[[], Kind]) -> Kind:
        """Return what is needed to describe a property in a context."""
        known = self._profiles.give(key, make, lambda profile: profile.nbytes, MOST_BYTES)
        return cast(Kind, known)
