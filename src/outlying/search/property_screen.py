"""Estimates for one property of an object: how rare it is in many contexts, at several scales."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from outlying.method.density import Floats, density_at
from outlying.method.measure import SAME_DENSITY, may_reach, rarity
from outlying.search.cache import OwnConditions
from outlying.search.objects import ObjectProperty
from outlying.search.scoring import Evaluation
from outlying.search.screen.bitsets import Contexts, Places, Words, Workspace
from outlying.search.screen.histograms import (
    Summaries,
    figures,
    rows_inside,
)
from outlying.search.screen.neighbours import NeighbourCounter, Sample


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Rarest:
    """An object in contexts, at the scale at which it is rarest; NaN where nothing compares."""

    figures: Floats  # one row for each kind

    def __getitem__(self, places: Places | slice) -> Rarest:
        """Choose some of the contexts."""
        return Rarest(self.figures[:, places])

    @classmethod
    def together(cls, some: Sequence[Rarest]) -> Rarest:
        """Put contexts together."""
        return cls(np.concatenate([each.figures for each in some], axis=1))

    def _of(self, kind: int) -> Floats:
        found: Floats = self.figures[kind]
        return found

    @property
    def rows(self) -> Floats:
        """Rows of the context among the screened ones."""
        return self._of(0)

    @property
    def known(self) -> Floats:
        """Those of them that have a value."""
        return self._of(1)

    @property
    def inside(self) -> Floats:
        """Rows near a typical member."""
        return self._of(2)

    @property
    def near(self) -> Floats:
        """Rows near the object."""
        return self._of(3)

    @property
    def width(self) -> Floats:
        """The width of the window at that scale."""
        return self._of(4)

    @property
    def lift(self) -> Floats:
        """How much tighter the property is than around the same values in all rows."""
        return self._of(5)

    @property
    def scale(self) -> Floats:
        """By how much the window is wider than the first."""
        return self._of(6)

    @property
    def rarity(self) -> Floats:
        """How many times rarer the object is than a typical member."""
        return rarity(self.inside, self.near)

    @property
    def mean(self) -> Floats:
        """The mean density over the rows of each context."""
        return density_at(self.inside, self.known, self.width)

    @property
    def at_object(self) -> Floats:
        """The density at the object."""
        return density_at(self.near, self.known, self.width)


class PropertyScreen:
    """Screens contexts for one property."""

    def __init__(
        self,
        own: ObjectProperty,
        exact: Evaluation,
        conditions: OwnConditions,
        sample: Sample,
        work: Workspace,
    ) -> None:
        self.own, self.conditions, self.work = own, conditions, work
        self.needed = exact.needed
        self.histogram = own.histogram(sample)
        self.is_exact = self.histogram.is_exact and sample.is_whole
        self.scales = exact.scales[: self.histogram.scales]
        self.counters = [
            NeighbourCounter(self.histogram, own.position, conditions.marks, sample, work)
            for _ in self.scales
        ]

    def _words(self) -> Words:
        return self.conditions.words(self.histogram)

    def rarest(self, contexts: Contexts) -> Rarest:
        """Look at contexts at each scale that may show the needed rarity.

        Windows are nested: where a wider one holds no more rows near the object, it shows a rarity
        at least as large, and the narrower one need not be looked at.
        """
        own = Summaries.of(figures(self.histogram, self._words(), contexts, self.work))
        found = self.histogram.joined(own, self.own.position)
        near = self.counters[0].counted(contexts, self.histogram.radii(found.width))
        scale = np.ones(len(contexts))
        best = Rarest(
            np.array([found.rows, found.known, found.inside, near, found.width, found.lift, scale])
        )
        if len(self.scales) > 1:
            self._widen(best, contexts, np.flatnonzero(~np.isnan(own.width)))
        return best

    def _widen(self, best: Rarest, contexts: Contexts, alive: Places) -> None:
        width, narrow = best.width.copy(), best.near.copy()
        for place, scale in enumerate(self.scales[1:], start=1):
            alive = alive[may_reach(narrow[alive], best.known[alive], self.needed)]
            if len(alive) == 0:
                return
            radii = self.histogram.radii(scale * width[alive])
            near = self.counters[place].counted(contexts[alive], radii)
            counts = may_reach(near, best.known[alive], self.needed)
            if place > 1:  # the scale before, where this one holds more rows
                more = (near > narrow[alive]) | ~counts
                self._look(best, contexts, alive[more], narrow, width, self.scales[place - 1])
            alive, near = alive[counts], near[counts]
            narrow[alive] = near
        self._look(best, contexts, alive, narrow, width, self.scales[-1])

    def _look(
        self,
        best: Rarest,
        contexts: Contexts,
        places: Places,
        near: Floats,
        width: Floats,
        scale: int,
    ) -> None:
        """Keep a scale where the object is rarer at it."""
        known = best.known[places] / near[places]  # no rarity is larger
        places = places[known > best.rarity[places] * (1 + SAME_DENSITY)]
        if len(places) == 0:
            return
        wide = scale * width[places]
        inside = rows_inside(self.histogram, self._words(), contexts[places], wide, self.work)
        rarer = rarity(inside, near[places]) > best.rarity[places] * (1 + SAME_DENSITY)
        places = places[rarer]
        best.inside[places], best.near[places] = inside[rarer], near[places]
        best.width[places], best.scale[places] = wide[rarer], scale
