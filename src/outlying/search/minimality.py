"""Minimal, unless much stronger: which of the contexts that reach the threshold are reported.

The paper reports a context only if no part of it is enough. Then a weak pair hides the story: by
default a larger context is reported, too, if it is much stronger than each reported part of it
(method 5).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from outlying.method.density import Floats
from outlying.method.measure import MUCH_STRONGER
from outlying.search import limits
from outlying.search.contexts import keys
from outlying.search.scoring import Context, Hit
from outlying.search.screen.bitsets import Contexts
from outlying.table.columns import Mask


def parts(context: Context) -> Iterator[Context]:
    """Return the proper parts of a context, the one without conditions first."""
    for size in range(len(context)):
        yield from itertools.combinations(context, size)


def reported(hits: Iterable[Hit]) -> list[Hit]:
    """Choose among all pairs that reach the threshold, in the order given."""
    known = {(hit.property, hit.context): hit for hit in hits}
    chosen = Chosen(lambda place, context: known.get((place, context)))
    return [hit for hit in known.values() if chosen(hit)]


class Chosen:
    """Tells of one pair after the other whether it is reported."""

    def __init__(self, look: Callable[[int, Context], Hit | None]) -> None:
        """Take who knows the pairs that reach the threshold; None for others."""
        self._look = look
        self._known: dict[tuple[int, Context], bool] = {}

    def __call__(self, hit: Hit) -> bool:
        """Return whether a pair is much stronger than all reported ones with parts of its context.

        By the definition: first of the smaller contexts, then of the larger ones.
        """
        key = hit.property, hit.context
        if key not in self._known:
            least = -math.inf
            for context in parts(hit.context):
                part = self._look(hit.property, context)
                if part is not None and self(part):
                    least = max(least, part.strength + MUCH_STRONGER - limits.SAME_STRENGTH)
            self._known[key] = hit.strength >= least
        return self._known[key]


class ReportedContexts:
    """The contexts of one property that are reported by estimates, and those that may be.

    Of several objects at once: the first number of each context is that of its object.
    """

    def __init__(self, base: int, slip: float) -> None:
        """Take the number of conditions or of objects, and how far estimates may be off."""
        self.base, self.slip = base, slip
        self.known: dict[int, tuple[Contexts, Floats]] = {}  # by length: contexts and strengths

    def possible(self, contexts: Contexts, strengths: Floats) -> Mask:
        """Tell which contexts of one length may be reported if they reach the threshold."""
        return np.asarray(strengths >= self._least(contexts) + MUCH_STRONGER - self.slip)

    def learn(self, contexts: Contexts, strengths: Floats) -> None:
        """Take contexts of one length that reach the threshold, shorter ones first."""
        surely = strengths >= self._least(contexts) + MUCH_STRONGER - limits.SAME_STRENGTH
        if surely.any():
            length, more = contexts.shape[1], (contexts[surely], strengths[surely])
            earlier = self.known.get(length)
            if earlier is not None:
                more = np.concatenate([earlier[0], more[0]]), np.concatenate([earlier[1], more[1]])
            self.known[length] = more

    def _least(self, contexts: Contexts) -> Floats:
        """Return the strength of the strongest reported part of each context."""
        length = contexts.shape[1]
        least = np.full(len(contexts), -math.inf)
        for size, (known, strengths) in self.known.items():
            if size >= length:
                continue
            wanted = keys(known, self.base)
            order = np.argsort(wanted, kind="stable")
            ordered, values = wanted[order], strengths[order]
            for columns in itertools.combinations(range(1, length), size - 1):
                own = keys(contexts[:, (0, *columns)], self.base)
                place = np.minimum(np.searchsorted(ordered, own), len(ordered) - 1)
                found = np.where(ordered[place] == own, values[place], -math.inf)
                np.maximum(least, found, out=least)
        return least
