"""Upper bounds of what counts against rows, looked up in tables: most rows need no closer look.

Where only the strongest rows of many are wanted, a row is judged only if it may be one of them. On
each property, the place of its value tells how surprising it may be, and that place together with
one other cell of the row in which cells of the sweep it may lie. Where these are strong, they are
looked at. A bound is never too low; if it is too high, the row is judged in vain.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.sweep import located
from outlying.method.dependence import Scores, total_nats
from outlying.search.cells import Cells, Codes, NumberCoder, Numbers
from outlying.search.evidence import joined
from outlying.search.nearby import least_asked
from outlying.search.outside import CategoryJudge, NumberJudge
from outlying.search.sweep import NumericBins
from outlying.table.columns import Floats, Rows

if TYPE_CHECKING:
    from outlying.search.model import FittedProperty, Model

#: Bounds this much below what is wanted are too low, whatever is lost by rounding.
ROUNDING = 1e-6
#: Towards the ends of a column, values have places of their own: so many of them.
END_VALUES = 64
#: From there on, a place is so much further from the end, in ranks.
END_STEP = 1.05
#: So many places between are equally wide.
EVEN_PLACES = 512
#: So many rows tell which condition of a cell is the rarest beside its bin.
ENOUGH_ROWS = 32_768

Places: TypeAlias = npt.NDArray[np.int32]
Table: TypeAlias = Floats  # bins, the last of which is none, or places x codes of an attribute


class StrengthBounds:
    """What at most counts against rows that are judged by a model."""

    def __init__(self, model: Model, strength: float, combination: float) -> None:
        """Look for rows of at least this strength, or with as much against all of it together."""
        self.model = model
        self.strength, self.combination = strength - ROUNDING, combination - ROUNDING
        fitted = [model.fitted(place) for place in range(len(model.properties))]
        self._axes = [_Axis.of(model, place, fitted) for place in range(len(model.attributes))]
        self._properties = [
            _PropertyBounds.of(model, place, own, self._axes, self.strength)
            for place, own in enumerate(fitted)
        ]

    def candidates(
        self, numbers: Sequence[Numbers], strength: float = 0.0, combination: float = 0.0
    ) -> Rows:
        """Return which rows may be strong enough, also for what has become the least since."""
        rows = len(numbers[0])
        if self.strength <= 0:  # nothing is known to be too weak
            return np.arange(rows)
        strength = max(self.strength, strength - ROUNDING)
        combination = max(self.combination, combination - ROUNDING)
        places = [axis.places(own) for axis, own in zip(self._axes, numbers, strict=True)]
        codes = functools.cache(lambda at: self._axes[at].codes[places[at]])
        is_strong = np.zeros(rows, dtype=bool)
        scores = np.array([own.scores[places[own.attribute]] for own in self._properties])
        total = total_nats(scores.T, self.model.weights)
        for number, own in enumerate(self._properties):
            place = places[own.attribute]
            if own.surprise.any():
                total += own.surprise[place]
            hot = np.flatnonzero((own.most >= strength)[place] & ~is_strong)
            hot = hot[own.bound(place[hot], hot, codes) >= strength] if len(hot) else hot
            if len(hot):
                most = self._most_of(number, place, hot, numbers, codes)
                is_strong[hot] = most >= strength
        return np.flatnonzero(is_strong | (total >= combination))

    def _most_of(
        self,
        number: int,
        places: Places,
        rows: Rows,
        numbers: Sequence[Numbers],
        codes: Callable[[int], Codes],
    ) -> Floats:
        """Find out how badly rows fit on a property, and with that how strong they are at most."""
        bounds, fitted = self._properties[number], self.model.fitted(number)
        values = self.model.properties[number].numbers(numbers)[rows]
        own = tuple(codes(at)[rows] for at in range(len(numbers)))
        found = fitted.cells(values, own, self.model.cells)
        misfits = fitted.swept.cells.strengths[found]
        contexts = fitted.swept.cells.members[found]
        outside = bounds.outside_bound(places[rows], rows, codes)
        if isinstance(fitted.judge, NumberJudge):  # the distance from that group knows no limit
            least = least_asked(self.model.cells.rows)
            outside[(misfits >= least) & (contexts[:, 1] >= 0)] = np.inf
        return joined(outside, misfits)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Axis:
    """The places of an attribute's values: no border between codes or bins lies inside of one."""

    edges: Floats | None  # where places but the first begin; None of categories
    examples: Numbers  # a value of each place; the last is missing
    codes: Codes  # of each place

    @classmethod
    def of(cls, model: Model, attribute: int, fitted: Sequence[FittedProperty]) -> _Axis:
        coder = model.cells.coders[attribute]
        if not isinstance(coder, NumberCoder):
            count = len(coder.places) - 2  # then comes what is new
            examples: Numbers = np.append(np.arange(count + 1), -1).astype(np.int32)
            return cls(None, examples, coder(examples))
        parts = [np.nextafter(coder.borders, np.inf)]  # a value on a border belongs below
        for own, item in zip(model.properties, fitted, strict=True):
            if own.place == attribute and isinstance(item.judge, NumberJudge):
                parts += [_edges_of(item), _fine_edges(item.judge.ordered)]
        edges = np.unique(np.concatenate(parts))
        before = np.nextafter(edges[:1], -np.inf) if len(edges) else np.zeros(1)
        examples = np.concatenate([before, edges, [np.nan]])
        return cls(edges, examples, coder(examples))

    def places(self, numbers: Numbers) -> Places:
        """Return the place of each value."""
        if self.edges is not None:
            return located(self.edges, numbers)
        last = len(self.examples) - 1
        return np.where(numbers < 0, last, np.minimum(numbers, last - 1)).astype(np.int32)


def _edges_of(fitted: FittedProperty) -> Floats:
    assert isinstance(fitted.bins, NumericBins)  # noqa: S101 - of a number
    return fitted.bins.edges


def _fine_edges(ordered: Floats) -> Floats:
    """Return borders between ascending values: by value inside, by rank towards both ends."""
    known = len(ordered)
    if not known:
        return ordered
    steps = max(0, math.ceil(math.log(max(known / END_VALUES, 1)) / math.log(END_STEP)))
    ranks = np.append(np.arange(END_VALUES), END_VALUES * END_STEP ** np.arange(steps))
    ranks = ranks[ranks < known].astype(int)
    middle = ordered[known // 1000], ordered[known - 1 - known // 1000]
    even = np.linspace(*middle, EVEN_PLACES)
    end = np.nextafter(ordered[-1:], np.inf)
    return np.concatenate([ordered[ranks], ordered[known - 1 - ranks], even, end])


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _PropertyBounds:
    """What at most counts against rows on one property."""

    attribute: int
    bins: Rows  # of each place of the attribute
    surprise: Floats  # of each place, in the whole column, as far as it adds to the combination
    scores: Scores  # the same of its rank
    whole: Floats  # of each place: how far outside of the whole column
    misfit: Mapping[int, Table]  # by another attribute: bins x codes
    outside: Mapping[int, Table]  # the same, places x codes: how far outside of a group
    most: Floats  # of each place, whatever the other attributes are

    @classmethod
    def of(
        cls,
        model: Model,
        place: int,
        fitted: FittedProperty,
        axes: Sequence[_Axis],
        strength: float,
    ) -> _PropertyBounds:
        own, cells = model.properties[place], model.cells
        axis = axes[own.place]
        examples = own.numbers({own.place: axis.examples})  # type: ignore[arg-type]
        bins, judge = fitted.bins.of(examples), fitted.judge
        if isinstance(judge, NumberJudge):
            surprise, outside = _of_numbers(judge, axis), _of_groups(judge, axis)
        else:
            assert isinstance(judge, CategoryJudge)  # noqa: S101 - there is no other
            surprise, outside = judge.surprise(examples), {}
        whole = np.maximum(surprise - judge.bar, 0.0)
        far = functools.reduce(np.maximum, (own.max(axis=1) for own in outside.values()), whole)
        misfit = _misfits(model, place, fitted)
        farthest = np.zeros(len(misfit))  # by bin
        np.maximum.at(farthest, bins, np.where(np.isfinite(far), far, 0.0))
        misfit[joined(farthest[:, None], misfit) < strength] = 0.0
        worst = misfit.max(axis=1, initial=0.0)
        combined = np.zeros(len(surprise)) if own.told else surprise
        tables = _by_attribute(cells, misfit)
        most = joined(far, worst[bins])
        scores = fitted.scores[bins]
        return cls(own.place, bins, combined, scores, whole, tables, outside, most)

    def bound(self, places: Places, rows: Rows, codes: Callable[[int], Codes]) -> Floats:
        """Return the most that counts against some rows, given all places and codes of these."""
        misfit = _largest(self.misfit, self.bins[places], rows, codes)
        return joined(self.outside_bound(places, rows, codes), misfit)

    def outside_bound(self, places: Places, rows: Rows, codes: Callable[[int], Codes]) -> Floats:
        """Return how far outside some rows are at most, of the column and of single conditions."""
        return np.maximum(
            self.whole[places], _largest(self.outside, places.astype(np.int64), rows, codes)
        )


def _largest(
    tables: Mapping[int, Table],
    lines: Rows,
    rows: Rows,
    codes: Callable[[int], Codes],
) -> Floats:
    """Look rows up in tables, given the line of each, and return the largest of what is found."""
    found = np.zeros(len(rows))
    for attribute, table in tables.items():
        own = codes(attribute)
        own = own if len(own) == len(rows) else own[rows]
        np.maximum(found, table.ravel().take(lines * table.shape[1] + own), out=found)
    return found


def _of_numbers(judge: NumberJudge, axis: _Axis) -> Floats:
    """Return the most surprise of numbers at each place; beyond all that is known, no limit."""
    found = np.zeros(len(axis.examples))
    held = judge.group(())
    if held is not None and axis.edges is not None:
        first, last = np.searchsorted(axis.edges, judge.ordered[[0, -1]], "right")
        inner = slice(first, last + 1)
        _, found[inner] = held[1].most_surprise(axis.edges[first - 1 : last], axis.edges[inner])
        found[:first] = found[last + 1 : -1] = np.inf
    return found


def _of_groups(judge: NumberJudge, axis: _Axis) -> dict[int, Table]:
    """Return how far outside of the groups of single conditions the values of places may be."""
    assert axis.edges is not None  # noqa: S101 - of a number
    table = np.zeros((len(axis.examples), len(judge.cells.spans)))
    for context in judge.contexts[1:]:
        held = judge.group(context)
        if held is not None:
            tail, surprise = held[1].most_surprise(axis.edges[:-1], axis.edges[1:])
            counts = np.where(tail > 0, surprise + judge.bonus(context) - judge.bar, 0.0)
            table[1:-2, context[0]] = np.maximum(counts, 0.0)
    return _by_attribute(judge.cells, table)


def _misfits(model: Model, place: int, fitted: FittedProperty) -> Table:
    """Return how badly the rows of a bin that satisfy a condition may fit: bins x conditions.

    Each cell counts at that of its conditions which is rarest among the rows of its bin. The
    distance of a number from a group of several conditions that it does not fit knows no limit.
    """
    own, cells = model.properties[place], model.cells
    table = np.zeros((fitted.bins.count + 1, len(cells.spans)))
    bins = fitted.bins.of(own.numbers([numbers[:ENOUGH_ROWS] for numbers in model.numbers]))
    some = [codes[:ENOUGH_ROWS] for codes in model.codes]
    shares = np.zeros(table.shape)
    for condition in range(len(cells.spans)):
        held = bins[cells.mask(condition, some)]
        shares[:-1, condition] = np.bincount(held[held >= 0], minlength=fitted.bins.count)
    has_limit = not isinstance(fitted.judge, NumberJudge)
    for level in fitted.swept.levels:
        counts = np.where(level.members >= 0, shares[level.bins[:, None], level.members], np.inf)
        rarest = level.members[np.arange(len(level.bins)), counts.argmin(axis=1)]
        is_judged = (level.strengths >= least_asked(cells.rows)) & (level.members[:, 1] >= 0)
        strengths = np.where(is_judged & (not has_limit), np.inf, level.strengths)
        np.maximum.at(table, (level.bins, rarest), strengths)
    return table


def _by_attribute(cells: Cells, table: Table) -> dict[int, Table]:
    """Turn what is known of conditions into what is known of codes, attribute by attribute."""
    found = {}
    for attribute, coder in enumerate(cells.coders):
        own = [c for c, span in enumerate(cells.spans) if span.attribute == attribute]
        if own and table[:, own].any():
            codes = np.zeros((len(table), coder.count))
            for condition in own:
                span = cells.spans[condition]
                part = codes[:, span.low : span.high + 1]
                np.maximum(part, table[:, [condition]], out=part)
            found[attribute] = codes
    return found
