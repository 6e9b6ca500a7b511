"""Rows as bits: contexts are intersected and counted 64 rows at a time.

The rows are laid out in words of 64 bits, in an order of the property's own, so that the rows of a
group of neighbouring values fill words of their own. What a context keeps of each group is then the
number of bits in its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.bits import laid_out
from outlying.kernel.library import compiled
from outlying.table.columns import Mask

Words: TypeAlias = npt.NDArray[np.uint64]  # conditions or contexts by words
Bits: TypeAlias = npt.NDArray[np.uint8]  # how many bits are set in each of these words
Places: TypeAlias = npt.NDArray[np.int64]
#: Contexts of one object, one a row: the places of their conditions among its own, ascending; NONE
#: stands for no condition, and for the last of the rows of bits, where all are set.
Contexts: TypeAlias = npt.NDArray[np.int64]

NONE = -1
BITS = 64
_ONE = np.uint64(1)


class Layout:
    """Places for rows in words; each group begins a new word, unused bits stay empty."""

    def __init__(self, order: Places, starts: Places, rows: int) -> None:
        """Take rows by group, where in that order the groups begin, and how many rows there are."""
        self.rows = rows
        sizes = np.diff(np.append(starts, len(order)))
        words = -(-sizes // BITS)
        first_slots = (np.cumsum(words) - words) * BITS
        self.slots: Places = np.repeat(first_slots - starts, sizes) + np.arange(len(order))
        self.group_of_word: Places = np.repeat(np.arange(len(starts)), words)
        self._sources = np.full(len(self.group_of_word) * BITS, rows)  # one beyond: no row
        self._sources[self.slots] = order

    @property
    def words(self) -> int:
        """How many words there are."""
        return len(self.group_of_word)

    def packed(self, conditions: Sequence[Mask]) -> list[Words]:
        """Return conditions, by their marks of these rows and maybe of others behind, as bits."""
        kernel = compiled()
        if kernel is not None:
            return laid_out(kernel, conditions, self.rows, self._sources)
        marks = np.zeros((len(conditions), self.rows + 1), dtype=bool)  # the last one is no row
        for line, own in zip(marks, conditions, strict=True):
            line[:-1] = own[: self.rows]
        return [line.copy() for line in packed(np.take(marks, self._sources, axis=1))]


def packed(marks: Mask) -> Words:
    """Return marks as bits, as many as fill whole words."""
    return np.packbits(marks, axis=1, bitorder="little").view(np.uint64)


class Workspace:
    """Scratch memory of one search: asking the system anew would take longer than to count.

    What is in it holds until the next call.
    """

    def __init__(self) -> None:
        self._words = np.zeros(0, dtype=np.uint64)
        self._bits = np.zeros(0, dtype=np.uint8)

    def intersected(self, words: Words, contexts: Contexts) -> Words:
        """Return the rows that are in all conditions of each context."""
        shape = (len(contexts), words.shape[1])
        size = shape[0] * shape[1]
        if len(self._words) < 2 * size:
            self._words = np.zeros(2 * size, dtype=np.uint64)
        found, other = self._words[: 2 * size].reshape(2, *shape)
        words.take(contexts[:, 0], axis=0, out=found, mode="wrap")
        for column in contexts.T[1:]:
            words.take(column, axis=0, out=other, mode="wrap")
            np.bitwise_and(found, other, out=found)
        return found

    def counted(self, words: Words) -> Bits:
        """Count the bits of each word."""
        if len(self._bits) < words.size:
            self._bits = np.zeros(words.size, dtype=np.uint8)
        return np.bitwise_count(words, out=self._bits[: words.size].reshape(words.shape))


def rows_in(bits: Bits) -> Places:
    """Count the rows of each context."""
    return np.asarray(np.add.reduce(bits, axis=1, dtype=np.int64))


def rows_below(words: Words, bits: Bits, ends: Places) -> Places:
    """Count the rows of each context before an end; there is a word for each end."""
    totals = np.zeros((len(words), words.shape[1] + 1), dtype=np.int32)
    np.cumsum(bits, axis=1, out=totals[:, 1:])
    contexts, word = np.arange(len(words)), ends >> 6
    rest = words.ravel().take(contexts * words.shape[1] + word)
    rest &= (_ONE << (ends & (BITS - 1)).view(np.uint64)) - _ONE
    whole = totals.ravel().take(contexts * totals.shape[1] + word)
    return np.asarray(whole + np.bitwise_count(rest))
