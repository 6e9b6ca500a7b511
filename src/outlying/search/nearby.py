"""The rows next to a row on a column: what they share is no oddity (method 5d, soft borders).

An interval has to end somewhere. A row just inside of it resembles those just outside, and is odd
in the interval only because of where the border was drawn.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence

import numpy as np

from outlying.kernel.tally import Small
from outlying.search.cells import MISSING, Attribute, Cells, Codes, Numbers, NumericAttribute
from outlying.search.evidence import PRICE_OF_TWO, chance_extreme, joined
from outlying.search.outside import LEAST_GROUP, Context, Judge, NumberJudge, Outside, Places
from outlying.table.columns import Floats

#: So many rows next to a row are asked, but no more than half of those that there are: all of them
#: are not nearby, and say nothing of a value that is odd only there.
NEXT = 100
#: Nats of distance that do not count for each interval of a context: it was chosen where it suits.
CHOSEN = 1.5
#: What lies outside of a group fits badly, too: there, less of the weaker evidence counts.
PRICE_IN_GROUP = 2.0
#: From this share of the strength of exceptional rows on: weaker findings are many, and never
#: come first.
SHARE_ASKED = 0.5


def least_asked(rows: int) -> float:
    """Return from which strength on findings are asked about, in a table of so many rows."""
    return SHARE_ASKED * chance_extreme(rows)


@dataclasses.dataclass(frozen=True, eq=False)
class Nearby:
    """The rows of a table, in the order of each numeric attribute."""

    attributes: Sequence[Attribute]
    cells: Cells
    numbers: Sequence[Numbers]  # of each attribute
    codes: tuple[Codes, ...]

    def confirmed(
        self,
        judge: Judge,
        numbers: Numbers,
        given: Sequence[Numbers],
        codes: tuple[Codes, ...],
        misfits: Floats,
        members: Small,
        found: Outside,
    ) -> tuple[Floats, Floats]:
        """Return misfits and how far outside rows are, less what is doubtful or explained away.

        `numbers` and `codes` are those of the property, `given` those of all attributes; `members`
        are the contexts of misfits, rows x 4, -1 standing for none.
        """
        misfits, outside = misfits.copy(), found.strengths.copy()
        least = least_asked(self.cells.rows)
        hot = np.flatnonzero(joined(outside, misfits) >= least)
        own = hot[misfits[hot] > 0]
        for context, rows in _by_context(own, members[own]):
            more = self._among_next(judge, context, numbers, given, rows, misfits[rows])
            if isinstance(judge, NumberJudge) and not self.intervals(context):
                more = judge.among_members(context, numbers[rows])
            counts = (more < 0) | ((misfits[rows] >= least) & (len(context) > 1))
            left = misfits[rows] + np.where(counts, more, 0.0)
            if isinstance(judge, NumberJudge):  # how far it lies may be ordinary in its own group
                far = np.flatnonzero(left > misfits[rows])
                most = judge.most(context, rows[far], numbers, codes)
                left[far] = np.minimum(left[far], most)
            misfits[rows] = _unexplained(judge, context, numbers, codes, rows, left)
        own = hot[(outside[hot] > 0) & (found.condition[hot] >= 0)]
        for context, rows in _by_context(own, found.condition[own, None]):
            more = self._among_next(judge, context, numbers, given, rows, outside[rows])
            left = outside[rows] + np.minimum(more, 0.0)
            outside[rows] = _unexplained(judge, context, numbers, codes, rows, left)
        is_one = (outside > 0) & (misfits > 0) & (found.condition >= 0)
        weaker = np.minimum(outside, misfits) - np.where(is_one, PRICE_IN_GROUP - PRICE_OF_TWO, 0.0)
        weaker, is_outside = np.maximum(weaker, 0.0), outside >= misfits
        outside = np.where(is_outside, outside, weaker)
        misfits = np.where(is_outside, weaker, misfits)
        below = np.minimum(found.surprise - found.bar, 0.0)
        return misfits, np.where(outside > 0, outside, below)

    def _among_next(
        self,
        judge: Judge,
        context: Context,
        numbers: Numbers,
        given: Sequence[Numbers],
        rows: Places,
        strengths: Floats,
    ) -> Floats:
        """Return how much more findings in a context are worth, were its intervals elsewhere."""
        more = np.full(len(rows), np.inf)
        for rest, attribute in self.intervals(context):
            odd = np.flatnonzero(strengths + more > 0)
            for place, near in self.around(rest, attribute, judge, given[attribute][rows[odd]]):
                at = odd[place]
                more[at] = min(more[at], judge.among(near, numbers[rows[at]]))
        price = CHOSEN * len(self.intervals(context))
        more = np.where(more < np.inf, more, 0.0)
        return np.where(more > 0, np.maximum(more - price, 0.0), more)

    def intervals(self, context: Context) -> list[tuple[Context, int]]:
        """Return the attribute of each interval of a context, and the other conditions."""
        return [
            (tuple(other for other in context if other != condition), span.attribute)
            for condition in context
            if (span := self.cells.spans[condition]).high > MISSING
            and isinstance(self.attributes[span.attribute], NumericAttribute)
        ]

    def around(
        self, rest: Context, attribute: int, judge: Judge, at: Floats
    ) -> Iterator[tuple[int, Places]]:
        """Return the rows next to each number of an attribute, where there are enough.

        They satisfy the other conditions, and know the property; equal numbers are in together, or
        out if they go on beyond.
        """
        order = self._order(attribute)
        is_in = judge.is_known.copy()
        for condition in rest:
            is_in &= self.cells.mask(condition, self.codes)
        order = order[is_in[order]]
        ordered = self.numbers[attribute][order]
        if len(ordered) < LEAST_GROUP:
            return
        middle = (np.searchsorted(ordered, at, "left") + np.searchsorted(ordered, at, "right")) // 2
        size = min(NEXT, max(len(ordered) // 2, LEAST_GROUP))
        first = np.clip(middle - size // 2, 0, len(ordered) - size)
        last = first + size - 1
        low, high = np.minimum(ordered[first], at), np.maximum(ordered[last], at)
        begins, ends = np.searchsorted(ordered, low), np.searchsorted(ordered, high, "right")
        # A spike that goes on beyond is not nearby for those off it, unless little else is left.
        after, until = np.searchsorted(ordered, low, "right"), np.searchsorted(ordered, high)
        after = np.where((begins < first) & (low < at), after, begins)
        until = np.where((ends > last + 1) & (high > at), until, ends)
        is_enough = until - after >= LEAST_GROUP
        begins, ends = np.where(is_enough, after, begins), np.where(is_enough, until, ends)
        for place, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
            yield place, order[begin:end]

    @functools.cache  # noqa: B019 - lives as long as the model
    def _order(self, attribute: int) -> Places:
        numbers = self.numbers[attribute]
        order = np.argsort(numbers, kind="stable")
        return order[: len(numbers) - int(np.count_nonzero(np.isnan(numbers)))]


def _unexplained(
    judge: Judge,
    context: Context,
    numbers: Numbers,
    codes: tuple[Codes, ...],
    rows: Places,
    left: Floats,
) -> Floats:
    """Return what is left of findings once those that one more condition explains are gone."""
    odd = np.flatnonzero(left > 0)
    if isinstance(judge, NumberJudge):  # a category is rare by counting, whatever it lies near to
        some = rows[odd]
        left[odd[judge.explained(context, numbers[some], [own[some] for own in codes])]] = 0.0
    return np.maximum(left, 0.0)


def _by_context(rows: Places, members: Small) -> Iterator[tuple[Context, Places]]:
    """Return the contexts in which rows are odd, and these rows."""
    kinds, which = np.unique(members, axis=0, return_inverse=True)
    for place, kind in enumerate(kinds):
        yield tuple(kind[kind >= 0].tolist()), rows[which.ravel() == place]
