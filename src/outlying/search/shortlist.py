"""What the screen has found promising: pairs in the order of their estimates.

The estimates say what is to be computed, whatever comes out: so all of it can be computed in one
pass over a table that is not in memory.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import TypeAlias, overload

import numpy as np

from outlying.method.density import Floats
from outlying.search.contexts import as_tuple, keys, lengths
from outlying.search.minimality import parts
from outlying.search.scoring import Context, Evaluation, Glance
from outlying.search.screen.bitsets import NONE, Contexts, Places
from outlying.search.screen.histograms import Estimate
from outlying.search.screening import Rank, ScreenedContexts

Key: TypeAlias = tuple[int, Context]  # property and context
Ranked: TypeAlias = tuple[Rank, int]  # what orders a context, and the property


class RankedPairs:
    """Pairs by their estimates, the strongest first; ties: fewer conditions, more rows, names."""

    def __init__(
        self,
        places: Places,
        contexts: Contexts,
        scores: Floats,
        rows: Floats,
        own: Places,
        families: Places,
    ) -> None:
        """Take pairs and their estimates in order, the family of each condition and property."""
        self.places, self.contexts, self.scores, self.rows = places, contexts, scores, rows
        self.own, self.families = own, families  # own: NONE behind the last one

    @classmethod
    def of(
        cls, found: Iterable[tuple[int, ScreenedContexts]], own: Places, families: Sequence[int]
    ) -> RankedPairs:
        """Put the contexts of properties in order."""
        some = [(place, scored) for place, scored in found if len(scored.rows)]
        width = max((scored.contexts.shape[1] for _, scored in some), default=1)
        counts = [len(scored.rows) for _, scored in some]
        contexts = np.full((sum(counts), width), NONE, dtype=np.int64)
        for (_, scored), end in zip(some, itertools.accumulate(counts), strict=True):
            contexts[end - len(scored.rows) : end, -scored.contexts.shape[1] :] = scored.contexts
        places = np.repeat(np.array([place for place, _ in some], dtype=np.int64), counts)
        scores = np.concatenate([np.zeros(0), *(scored.scores for _, scored in some)])
        rows = np.concatenate([np.zeros(0), *(scored.rows for _, scored in some)])
        order = np.lexsort((places, *contexts.T[::-1], -rows, lengths(contexts), -scores))
        return cls(
            places[order],
            contexts[order],
            scores[order],
            rows[order],
            own,
            np.array(families, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> Ranked: ...

    @overload
    def __getitem__(self, place: slice | Places) -> RankedPairs: ...

    def __getitem__(self, place: int | slice | Places) -> Ranked | RankedPairs:
        """Return a pair, or some of them."""
        if not isinstance(place, int):
            scores, rows, families = self.scores[place], self.rows[place], self.families
            places, contexts = self.places[place], self.contexts[place]
            return RankedPairs(places, contexts, scores, rows, self.own, families)
        context = as_tuple(self.contexts[place])
        rank = -float(self.scores[place]), len(context), -float(self.rows[place]), context
        return rank, int(self.places[place])

    def __iter__(self) -> Iterator[Ranked]:
        return map(self.__getitem__, range(len(self)))

    def has(self, place: int, context: Context) -> bool:
        """Return whether a property and a context are among them."""
        if len(context) > self.contexts.shape[1] or place > self._last:
            return False
        number = place * self._base ** (self.contexts.shape[1] - len(context))
        for item in context:
            number = number * self._base + item + 1
        return number in self._numbers

    @functools.cached_property
    def _numbers(self) -> frozenset[int]:
        """A number for each pair; NONE counts as 0."""
        lines = np.concatenate([self.places[:, np.newaxis], self.contexts + 1], axis=1)
        return frozenset(keys(lines, self._base).tolist())

    @functools.cached_property
    def _base(self) -> int:
        return max(len(self.own), self._last) + 1

    @functools.cached_property
    def _last(self) -> int:
        return int(self.places.max(initial=-1))

    @property
    def columns(self) -> Places:
        """The families of each pair, its property's first; NONE where there are fewer."""
        first = self.families[self.places][:, np.newaxis]
        return np.concatenate([first, self.own[self.contexts]], axis=1)

    def without(self, column: int) -> int | None:
        """Return where the strongest pair without a column is."""
        places = np.flatnonzero((self.columns != column).all(axis=1))
        return int(places[0]) if len(places) else None

    def tell_more(self, stories: Iterable[Set[int]]) -> bool:
        """Return whether there are pairs whose columns contain none of these sets."""
        columns, sets = self.columns, [list(story) for story in stories]
        most = max([int(columns.max(initial=0)), *map(max, sets)])
        has = np.zeros((len(columns), most + 2), dtype=bool)  # the last one stands for NONE
        np.put_along_axis(has, columns, values=True, axis=1)
        told = np.zeros(len(columns), dtype=bool)
        for story in sets:
            told |= has[:, story].all(axis=1)
        return not told.all()


@dataclasses.dataclass(frozen=True, slots=True)
class Shortlist:
    """What a sample leaves to be computed exactly, in the order of its estimates.

    `closest` are pairs to fall back on where none of the ranked ones reaches the threshold. `parts`
    are needed to tell whether a larger context is much stronger; `small` ones could not be
    estimated, as too few of their rows were drawn.
    """

    ranked: RankedPairs
    closest: tuple[Ranked, ...]
    parts: tuple[Key, ...]
    small: tuple[Key, ...]
    others: RankedPairs  # that are too weak to be computed
    levels: int
    screened: int
    unvisited: int
    alone: Floats | None
    glance: Glance
    estimates: dict[Key, Estimate]  # of a quick search only, which relies on them

    @property
    def estimated(self) -> list[Key]:
        """The property and the context of the pairs that were estimated."""
        return [*((place, rank[-1]) for rank, place in (*self.ranked, *self.closest)), *self.parts]

    @property
    def pairs(self) -> list[Key]:
        """The property and the context of all that may be computed exactly."""
        return [*self.estimated, *self.small]

    def may_report(self, place: int, context: Context) -> bool:
        """Return whether a pair may be reported, or be a part that is."""
        return not context or self.ranked.has(place, context) or (place, context) in self.parts


def parts_of(ranked: RankedPairs, chosen: RankedPairs) -> tuple[Key, ...]:
    """Return what else must be known to tell whether chosen pairs are much stronger than parts."""
    if len(chosen) == len(ranked):
        return ()
    own = {(place, rank[-1]) for rank, place in chosen}
    needed = {(place, part) for place, context in own for part in parts(context) if part}
    return tuple(key for key in sorted(needed - own) if ranked.has(*key))


def small_pairs(exact: Evaluation) -> tuple[Key, ...]:
    """Return the pairs whose context is a group too small to be drawn, for all properties."""
    items = [place for place, item in enumerate(exact.candidates) if item.is_small]
    families = exact.condition_families
    return tuple(
        (place, (item,))
        for item in items
        for place, family in enumerate(exact.families)
        if family != families[item]
    )


def glance_of(found: Iterable[tuple[float, Iterable[int]]], rarities: Floats) -> Glance:
    """Look at the strengths and columns of pairs, the strongest first, and at rarities alone."""
    known = np.maximum(np.where(np.isfinite(rarities), rarities, 1.0), 1.0)
    surprise = float(np.add.reduce(np.log(known)) / len(known))
    rests: dict[int, float] = {}  # by column of the strongest pair: the strongest one without it
    left: set[int] | None = None
    for strength, columns in found:
        left = set(columns) if left is None else left
        for column in left.difference(columns):
            rests[column] = strength
        left -= rests.keys()
        if not left:
            break
    rests |= dict.fromkeys(left or (), 0.0)
    rest, blamed = min(((rest, column) for column, rest in rests.items()), default=(0.0, 0))
    return Glance(rest, blamed, surprise)
