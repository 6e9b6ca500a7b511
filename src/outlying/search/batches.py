"""Objects screened together by compiled code: what is typical in a context is found once for all.

The conditions of all objects are put into a pool, and their short contexts into one list in which
each context has the objects that lie in it. Properties are searched one after the other, or by
several threads at once. The results are those of NumPy, bit by bit.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from outlying.kernel.library import MOST_CONDITIONS, Kernel, compiled
from outlying.method.measure import SAME_DENSITY
from outlying.options import Options
from outlying.parallel import mapping
from outlying.search import limits
from outlying.search.cache import lay_out
from outlying.search.contexts import lengths
from outlying.search.property_screen import Rarest
from outlying.search.screen.bitsets import BITS, NONE, Layout, Places, packed
from outlying.search.screen.histograms import Histogram
from outlying.search.screen.neighbours import Sample
from outlying.search.screen.pairs import MOST_ROWS
from outlying.search.screening import (
    Asked,
    Bars,
    ScreenedProperty,
    Take,
    discounts,
    screened_by_numpy,
)

#: Pairs of context and property below which threads are not worth their start.
_FEW_PAIRS = 100_000
#: A context of so many conditions has few enough parts to look at all of them.
_MOST_IN_PARTS = 6
_LEAST_OBJECTS, _MOST_OBJECTS, _OBJECTS_BY_COLUMNS = 16, 512, 16_000
#: Quick searches keep little of each object.
_MOST_QUICK, _QUICK_BY_COLUMNS = 1024, 51_200

Item = TypeVar("Item")


def screened_together(
    asked: Sequence[Asked], take: Take, threads: int = 1, bars: Bars | None = None
) -> None:
    """Screen objects of one population; let `take` have what may be reported, by property.

    With bars, only what reaches the threshold and them, and parts of it that reach the threshold.
    """
    kernel = compiled()
    if kernel and asked and can_be_together(asked[0].exact.options, asked[0].sample):
        _Batch(asked, kernel, bars).screen(take, threads)
        return
    for number, each in enumerate(asked):
        screened_by_numpy(each, number, take)


def can_be_together(options: Options, sample: Sample) -> bool:
    """Return whether compiled code knows what is asked for."""
    return (
        compiled() is not None
        and options.measure == "relative"
        and options.bandwidth == "fixed"
        and options.minimality != "strict"
        and options.max_conditions <= MOST_CONDITIONS
        and len(sample.screened) <= MOST_ROWS
    )


def can_set_bars(asked: Sequence[Asked]) -> bool:
    """Return whether weak contexts can be left out: all parts of the others must be known."""
    exact = asked[0].exact
    return (
        can_be_together(exact.options, asked[0].sample)
        and not asked[0].is_wide
        and exact.options.max_conditions <= _MOST_IN_PARTS
    )


def most_at_once(columns: int, *, quick: bool = False) -> int:
    """Return how many objects to screen together: memory is bounded."""
    most, in_all = _MOST_OBJECTS, _OBJECTS_BY_COLUMNS
    if quick:
        most, in_all = _MOST_QUICK, _QUICK_BY_COLUMNS
    return max(_LEAST_OBJECTS, min(most, in_all // max(1, columns)))


def batches(items: Sequence[Item], most: int) -> Iterator[Sequence[Item]]:
    """Cut items into batches."""
    for start in range(0, len(items), most):
        yield items[start : start + most]


class _Batch:
    """Objects, and what they have in common."""

    def __init__(self, asked: Sequence[Asked], kernel: Kernel, bars: Bars | None = None) -> None:
        self.asked, self.kernel, self.sample = asked, kernel, asked[0].sample
        self.bars = bars
        exact = asked[0].exact
        self.total = len(exact.properties)
        self.most = min(exact.options.max_conditions, self.total)
        pool = {item.number: item for each in asked for item in each.conditions.known[:-1]}
        self.pool = [*pool.values(), asked[0].conditions.known[-1]]
        places = {number: place for place, number in enumerate(pool)}
        self.own = [
            np.array([places[n] for n in each.conditions.numbers[:-1].tolist()], dtype=np.int32)
            for each in asked
        ]
        attribute_of = np.full(len(self.pool), NONE, dtype=np.int32)
        own_places = np.full((len(asked), len(self.pool)), NONE, dtype=np.int32)
        has = np.ones((len(self.pool), -(-len(asked) // BITS) * BITS), dtype=bool)
        has[:, len(asked) :] = False
        has[:-1] = False
        for number, (each, own) in enumerate(zip(asked, self.own, strict=True)):
            attribute_of[own] = each.exact.condition_families
            own_places[number, own] = np.arange(len(own))
            has[own, number] = True
        starts = np.cumsum([0, *map(len, self.own)], dtype=np.int64)
        self.arrays: dict[str, npt.NDArray[Any]] = {
            "attribute_of": attribute_of,
            "least_rows": np.array([asked[0].contexts.least_rows(n) for n in range(self.most + 2)]),
            "discounts": discounts(self.most + 1),
            "levels": np.zeros(len(asked), dtype=np.int64),
            "has": packed(has),
            "own": starts,
            "own_conditions": np.concatenate([np.empty(0, np.int32), *self.own]),
            "own_places": own_places,
            "row_words": self._addresses(self.sample.layout),
        }
        self.numbers: dict[str, float] = {
            "objects": len(asked),
            "conditions": len(self.pool),
            "row_stride": self.sample.layout.words,
            "object_words": has.shape[1] // BITS,
            "beam": limits.BEAM,
            "is_quick": bars is not None,
            "strongest": limits.CLOSEST if bars is None else 0,
            "close": asked[0].needed * (1 / limits.MARGIN if bars is None else 1 - SAME_DENSITY),
            "needed": exact.needed * (1 - SAME_DENSITY),
            "share_near": len(self.sample.screened) / len(self.sample.nearby),
        }

    def screen(self, take: Take, threads: int) -> None:
        """Search all properties for all objects."""
        is_wide = self.asked[0].is_wide
        if is_wide:
            self.arrays["levels"][:] = [each.levels for each in self.asked]
        else:
            self.shared = self._listed()

        def search(place: int) -> list[ScreenedProperty]:
            return self._property(place, self._chosen(place) if is_wide else self.shared)

        is_small = not is_wide and len(self.shared["context"]) * self.total < _FEW_PAIRS
        with mapping(1 if is_small else threads) as mapped:
            for place, some in enumerate(mapped(search, range(self.total))):
                self.asked[0].exact.progress(place, self.total)
                for each in some:
                    take(each)

    def _listed(self) -> dict[str, npt.NDArray[Any]]:
        """List the short contexts of all objects, each once."""
        names = ("conditions", "objects", "row_stride", "object_words")
        found = self.kernel.contexts(
            self.arrays,
            **{name: int(self.numbers[name]) for name in names},
            most=self.most,
            most_triples=limits.MOST_TRIPLES,
        )
        for each, level in zip(self.asked, self.arrays["levels"].tolist(), strict=True):
            each.levels = level
        return {"context": found}

    def _contexts(self, short: Sequence[Places]) -> dict[str, npt.NDArray[Any]]:
        """List the contexts of all objects, given by their own conditions, each once."""
        base, length = len(self.pool), max(contexts.shape[1] for contexts in short)
        keys = []
        for own, contexts in zip(self.own, short, strict=True):
            in_pool = np.append(own, NONE)[contexts]  # NONE is the last one
            in_pool.sort(axis=1)
            key = np.zeros(len(contexts), dtype=np.int64)
            for column in in_pool.T:
                key = key * base + (column + 1)
            keys.append(key)
        objects = np.repeat(np.arange(len(keys), dtype=np.int32), [len(key) for key in keys])
        joined = np.concatenate(keys)
        order = np.argsort(joined, kind="stable")
        joined = joined[order]
        first = np.flatnonzero(np.diff(joined, prepend=-1))
        context = np.empty((len(first), length), dtype=np.int32)
        rest = joined[first]
        for column in reversed(range(length)):
            rest, place = np.divmod(rest, base)
            context[:, column] = place - 1
        return {
            "context": context,
            "first": np.append(first, len(joined)),
            "object_of": objects[order],
        }

    def _chosen(self, place: int) -> dict[str, npt.NDArray[Any]]:
        """Choose contexts for a property: in wide tables not all of two conditions."""
        single = [each.contexts.short[lengths(each.contexts.short) <= 1] for each in self.asked]
        kept: dict[int, Places] = {}
        for some in self._property(place, self._contexts(single), most=1):
            for number, here in zip(some.objects, some.slices, strict=True):
                contexts = self.asked[number].contexts
                without = np.flatnonzero(contexts.without(self.asked[number].exact.families[place]))
                chosen = self.asked[number].promising(without, some.scored[here])
                kept[number] = contexts.short[chosen]
        return self._contexts([kept[number] for number in range(len(self.asked))])

    def _property(
        self, place: int, contexts: dict[str, npt.NDArray[Any]], most: int | None = None
    ) -> list[ScreenedProperty]:
        """Search one property; objects without a value have a property of their own."""
        groups: dict[Histogram, list[int]] = collections.defaultdict(list)
        for number, each in enumerate(self.asked):
            groups[each.exact.properties[place].histogram(self.sample)].append(number)
        most = self.most if most is None else most
        return [self._of(place, *group, contexts, most) for group in groups.items()]

    def _of(
        self,
        place: int,
        histogram: Histogram,
        objects: Sequence[int],
        contexts: dict[str, npt.NDArray[Any]],
        most: int,
    ) -> ScreenedProperty:
        made, values = histogram.compiled, np.full(len(self.asked), np.nan)
        assert made is not None  # noqa: S101 - asked for before
        for number in objects:
            values[number] = histogram.placed(self.asked[number].exact.properties[place].position)
        words = self._addresses(histogram.layout)
        one_layout = histogram.near_layout is histogram.layout
        screened = np.zeros(len(self.asked), dtype=np.int64)
        figures, own = self.kernel.search(
            made,
            most,
            {
                **self.arrays,
                **contexts,
                "values": values,
                "bars": np.zeros(0) if self.bars is None else self.bars.products,
                "words": words,
                "near_words": words if one_layout else self._addresses(histogram.near_layout),
                "screened": screened,
            },
            **self.numbers,
            contexts=len(contexts["context"]),
            length=contexts["context"].shape[1],
            scales=min(histogram.scales, len(self.asked[0].exact.scales)),
            attribute=self.asked[0].exact.families[place],
        )
        order = np.lexsort((*own.T[::-1], figures[:, 0]))
        figures, own = figures[order], own[order]
        if self.bars is not None:  # parts of several contexts
            is_new = np.ones(len(own), dtype=bool)
            is_new[1:] = (np.diff(own, axis=0) != 0).any(axis=1) | (np.diff(figures[:, 0]) != 0)
            figures, own = figures[is_new], own[is_new]
        figures = np.ascontiguousarray(figures.T)
        with np.errstate(divide="ignore", invalid="ignore"):
            scored = self.asked[0].scored(own.astype(np.int64), Rarest(figures[1:]), histogram)
        ends = np.searchsorted(figures[0], [*objects, len(self.asked)]).tolist()
        for number in objects:
            self.asked[number].screened += int(screened[number])
        slices = [slice(first, end) for first, end in itertools.pairwise(ends)]
        return ScreenedProperty(place, histogram, objects, slices, scored)

    def _addresses(self, layout: Layout) -> npt.NDArray[np.uint64]:
        """Return where the rows of each condition are, laid out for a property."""
        lay_out(self.pool, layout)
        return np.array([item.laid_out[layout][1] for item in self.pool], dtype=np.uint64)
