"""What the screen shares between objects: conditions, rows they mark, what is typical in contexts.

Objects with the same condition on an attribute ask the same questions. Contexts of up to three
conditions are answered once for all of them; memory stays bounded, as everything is forgotten when
it grows too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from outlying.method.density import Floats
from outlying.search.screen.bitsets import Contexts, Places, Words
from outlying.search.screen.histograms import FIGURES, Property, Summaries, figures
from outlying.search.screen.neighbours import Sample
from outlying.table.columns import Mask, Rows
from outlying.table.conditions import Condition

MOST_CONDITIONS = 4096
MOST_MARKS = 200_000_000  # conditions times rows
MOST_FIGURES = 4_000_000  # contexts times properties
_LONGEST = 3  # contexts of more conditions are seldom shared
_KEY_BITS = 20  # enough for the numbers of conditions, three times in one key


class Marking(Protocol):
    """What is asked of a condition: what it says, and which rows satisfy it."""

    @property
    def condition(self) -> Condition:
        """What it says."""

    def marked(self, rows: Rows) -> Mask:
        """Mark those of some rows that satisfy it."""


class Shelf:
    """Conditions by number, 0 for none; their marks; figures of properties in contexts."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._numbers: dict[Condition, int] = {}
        self._marks = np.ones((64, len(self.sample.nearby)), dtype=bool)
        self._words: dict[Property, Words] = {}
        self._places: dict[int, int] = {}  # of contexts, by key
        self._figures: dict[Property, Floats] = {}

    def numbers_of(self, conditions: Sequence[Marking]) -> Places:
        """Return the numbers of conditions, behind that of none; new ones are marked."""
        most = min(MOST_CONDITIONS, MOST_MARKS // len(self.sample.nearby))
        if len(self._numbers) + len(conditions) >= most:
            self.clear()
        return np.array([0, *(self._number(item) for item in conditions)])

    def _number(self, item: Marking) -> int:
        number = self._numbers.get(item.condition)
        if number is None:
            number = len(self._numbers) + 1
            if number == len(self._marks):
                self._marks = np.concatenate([self._marks, np.empty_like(self._marks)])
            self._numbers[item.condition] = number
            self._marks[number] = item.marked(self.sample.nearby)
        return number

    @property
    def marks(self) -> Mask:
        """Which of the rows near objects satisfy each condition."""
        return self._marks

    def words(self, found: Property) -> Words:
        """Return the screened rows that satisfy each condition as bits, laid out for a property."""
        known = self._words.get(found)
        if known is None:
            known = np.zeros((0, len(found.layout.group_of_word)), dtype=np.uint64)
        if len(known) <= len(self._numbers):
            fresh = found.layout.packed(self._unmarked_end(len(known), len(self._numbers) + 1))
            known = self._words[found] = np.concatenate([known, fresh])
        return known

    def _unmarked_end(self, start: int, end: int) -> Mask:
        """Return marks with one more row that is never marked: what unused bits are filled from."""
        rows = len(self.sample.screened)
        marks = np.zeros((end - start, rows + 1), dtype=bool)
        marks[:, :rows] = self._marks[start:end, :rows]
        return marks

    def places_of(self, contexts: Contexts, properties: int) -> Places | None:
        """Give contexts, by the numbers of their conditions, places; None for too many."""
        if contexts.shape[1] > _LONGEST or len(contexts) * properties > MOST_FIGURES // 2:
            return None
        if (len(self._places) + len(contexts)) * properties > MOST_FIGURES:
            self._places.clear()
            self._figures.clear()
        keys = np.zeros(len(contexts), dtype=np.int64)
        for column in contexts.T:
            keys = (keys << _KEY_BITS) + column
        places, known = np.empty(len(keys), dtype=np.int64), self._places
        for number, key in enumerate(keys.tolist()):
            places[number] = known.setdefault(key, len(known))
        return places

    def summaries(self, found: Property, contexts: Contexts, places: Places | None) -> Summaries:
        """Return what is typical of a property in contexts; what is known is not computed again."""
        if places is None:
            return Summaries.of(figures(found, self.words(found), contexts))
        known = self._figures.get(found, np.empty((FIGURES, 0)))
        if known.shape[1] < len(self._places):
            more = np.full((FIGURES, 2 * len(self._places) - known.shape[1]), np.nan)
            known = self._figures[found] = np.concatenate([known, more], axis=1)
        chosen = known.take(places, axis=1)
        new = np.flatnonzero(np.isnan(chosen[0]))
        if len(new):
            fresh = figures(found, self.words(found), contexts[new])
            chosen[:, new] = fresh
            known[:, places[new]] = fresh
        return Summaries.of(chosen)
