"""Exact results that objects of one population share: who is in a context, what is typical there.

Both depend on the conditions alone. Memory is bounded: everything is forgotten when it grows too
large, and found again when needed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar, cast

from outlying.conditions import Condition
from outlying.population import Attribute, Typical
from outlying.table import Mask

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


Kind = TypeVar("Kind", bound=Profile)


class Shared:
    """Masks of conditions, and what is typical of properties in contexts."""

    def __init__(self) -> None:
        self._numbers: dict[Condition, int] = {}
        self._masks: dict[int, Mask] = {}
        self._groups: dict[Key, Group] = {}
        self._profiles: dict[Key, Profile] = {}
        self._profile_bytes = 0

    def number(self, condition: Condition) -> int:
        """Give a condition a number: quicker to look up than what it says."""
        return self._numbers.setdefault(condition, len(self._numbers))

    def mask(self, condition: int, make: Callable[[], Mask]) -> Mask:
        """Give the rows that satisfy a condition."""
        mask = self._masks.get(condition)
        if mask is None:
            mask = make()
            if (len(self._masks) + 1) * len(mask) > MOST_BYTES:
                self._masks.clear()
            self._masks[condition] = mask
        return mask

    def group(self, key: Key, make: Callable[[], Group]) -> Group:
        """Give a context as one property sees it."""
        group = self._groups.get(key)
        if group is None:
            group = make()
            if len(self._groups) >= MOST_GROUPS:
                self._groups.clear()
            self._groups[key] = group
        return group

    def profile(self, key: Key, make: Callable[[], Kind]) -> Kind:
        """Give what is needed to describe a property in a context."""
        known = self._profiles.get(key)
        if known is None:
            known = make()
            if self._profile_bytes + known.nbytes > MOST_BYTES:
                self._profiles.clear()
                self._profile_bytes = 0
            self._profiles[key] = known
            self._profile_bytes += known.nbytes
        return cast(Kind, known)
