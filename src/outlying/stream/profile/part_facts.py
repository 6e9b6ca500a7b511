"""What decides on derived columns, counted in the first pass: mergeable in any order, and bounded.

Days and minutes of moments are few. Texts are kept with their counts up to a limit; of more, those
with the least hashes, which show shapes, but not which labels are near each other. Whole numbers
are counted as long as they may be keys.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from outlying.derived.calendar import DATES, CalendarFacts
from outlying.derived.choosing import Facts
from outlying.derived.keys import MOST_ODD, MOST_REPEATED, KeyFacts
from outlying.derived.texts import TextFacts
from outlying.sources.types.arrow import Coded, Field, arrow
from outlying.sources.types.arrow_numpy import of_numbers
from outlying.stream.profile.bottom_k import RowSketch, estimated_count
from outlying.table.columns import Floats
from outlying.table.row_hash import Hashes, splitmix64
from outlying.table.selection import MOST_TEXTS

#: More keys than this are not counted; nor are numbers of which more than this occur twice.
MOST_KEYS = MOST_TEXTS
_MOST_TWICE = MOST_REPEATED * MOST_KEYS
#: In more rows there are more keys, or more of them occur twice.
_MOST_KEY_ROWS = MOST_KEYS / (1 - MOST_ODD)


@dataclasses.dataclass(slots=True, eq=False)
class PartCounts:
    """Counts of one column, of any part of its rows."""

    days: CalendarFacts | None = None
    keys: KeyFacts | None = None
    are_no_keys: bool = False  # numbers are not whole, or many occur twice
    are_many_keys: bool = False
    texts: RowSketch | None = None

    def add_numbers(self, field: Field, values: Floats) -> None:
        """Take in numbers; NaN is missing."""
        if field.read_as in DATES:
            found = CalendarFacts.of(values)
            self.days = found if self.days is None else self.days.merged(found)
        elif field.read_as in ("integer", "number"):
            self._add_keys(values)

    def _add_keys(self, values: Floats) -> None:
        if self.are_no_keys or self.are_many_keys:
            return
        known = values[~np.isnan(values)]
        rows = len(known) + (0 if self.keys is None else self.keys.rows)
        if rows > _MOST_KEY_ROWS or not bool(np.all(np.floor(known) == known)):
            self._take_no_keys()
        else:
            self._take_keys(KeyFacts.of(known))

    def _take_no_keys(self) -> None:
        self.keys, self.are_no_keys = None, True

    def _take_keys(self, found: KeyFacts) -> None:
        """Take in keys, as long as they may be some, and are few enough."""
        keys = found if self.keys is None else self.keys.merged(found)
        self.are_no_keys |= bool(np.count_nonzero(keys.counts > 1) > _MOST_TWICE)
        self.are_many_keys |= len(keys.values) > MOST_KEYS
        self.keys = None if self.are_no_keys or self.are_many_keys else keys

    def add_texts(self, coded: Coded, hashes: Hashes) -> None:
        """Take in texts with their hashes."""
        if self.texts is None:
            self.texts = RowSketch(MOST_TEXTS + 1)
        rows = np.bincount(coded.codes[coded.codes >= 0], minlength=len(hashes))
        self.texts.add_counted(
            splitmix64(hashes),
            rows,
            lambda places: arrow().table({"text": coded.texts.take(of_numbers(places))}),
        )

    def merge(self, other: PartCounts) -> None:
        """Take in the counts of other rows."""
        if other.days is not None:
            self.days = other.days if self.days is None else self.days.merged(other.days)
        self.are_many_keys |= other.are_many_keys
        if other.are_no_keys or self.are_no_keys:
            self._take_no_keys()
        elif other.keys is not None and not self.are_many_keys:
            self._take_keys(other.keys)
        elif self.are_many_keys:
            self.keys = None
        if other.texts is not None:
            if self.texts is None:
                self.texts = RowSketch(MOST_TEXTS + 1)
            self.texts.merge(other.texts)

    def facts(self, known: int) -> Facts | None:
        """Return the facts of a column with so many known values."""
        if self.days is not None:
            return self.days
        if self.keys is not None:
            return self.keys
        if self.texts is None or not len(self.texts.hashes):
            return None
        hashes, texts = self.texts.hashes, self.texts.rows().column("text").to_pylist()
        is_whole = len(hashes) <= MOST_TEXTS
        counts = dict(zip(texts, self.texts.copies.tolist(), strict=True))
        distinct = len(hashes) if is_whole else estimated_count(hashes)
        return TextFacts(counts, distinct, known, is_whole)
