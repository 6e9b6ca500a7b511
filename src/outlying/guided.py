"""The guided search: screen many contexts at once, look exactly at what is promising (method 5).

All contexts of up to two conditions are screened, those of three where they are not too many;
beyond, only extensions of the strongest ones of each property. The first column of all masks is the
context without conditions, so that those of none, one and two conditions are the cells of one
matrix product.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from outlying.density import Floats
from outlying.options import Options
from outlying.outlierness import CONDITION_PENALTY, SAME_DENSITY, SAME_SCORE, rounded
from outlying.population import Rows
from outlying.screen import Masks, Places
from outlying.search import (
    ROUNDING,
    Context,
    Evaluation,
    Hit,
    Outcome,
    proper_subsets,
)
from outlying.table import Mask

Rank: TypeAlias = tuple[float, int, float]  # score, conditions, rows: the less the better

PAIRS = 2  # contexts of so many conditions are all screened
BEAM = 15
#: Contexts of three conditions are all screened, too, if no more than these keep enough rows.
MOST_TRIPLES = 2000
_BLOCK = 256
#: A context is looked at exactly if it reaches the threshold when this many times rarer.
MARGIN = 1.5


def guided(exact: Evaluation, sample: Rows | None = None) -> Outcome:
    """Find the minimal pairs of up to two conditions, and longer ones grown from strong ones."""
    with _one_thread():
        run = _Guided(exact, sample)
        reported, closest = _explored(run)
    return Outcome(reported, closest, min(run.levels, run.most))


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Keep matrix products on one thread.

    Ours are small and many; threads that wait for each other make them many times slower wherever
    something else runs on the machine.
    """
    import threadpoolctl  # type: ignore[import-untyped]

    with threadpoolctl.ThreadpoolController().limit(limits=1, user_api="blas"):
        yield


def _explored(run: _Guided) -> tuple[tuple[Hit, ...], tuple[Hit, ...]]:
    """Search property by property."""
    reported: list[Hit] = []
    closest: list[Hit] = []
    for place in range(len(run.exact.properties)):
        run.exact.progress(place, len(run.exact.properties))
        if run.exact.overall[place] is None:  # a single value: nothing to compare
            continue
        found = _Property(run, place)
        found.explore()
        reported += found.reported.values()
        if found.closest is not None:
            closest.append(found.closest)
    return tuple(reported), tuple(closest)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """Contexts as cells of a matrix product: those of the left extended by those of the right."""

    left: Masks
    right: Masks
    left_contexts: list[Context]
    right_contexts: list[Context]
    cells: Places  # what is worth screening, by row and column of the product
    groups: Floats  # the rows in each of these cells

    def context(self, place: int) -> Context:
        """Give the context of a cell."""
        i, j = divmod(int(self.cells[place]), self.right.shape[1])
        return tuple(sorted(self.left_contexts[i] + self.right_contexts[j]))

    def lengths(self) -> Places:
        """Count the conditions of each cell."""
        left, right = (
            np.array([len(context) for context in contexts])
            for contexts in (self.left_contexts, self.right_contexts)
        )
        i, j = np.divmod(self.cells, self.right.shape[1])
        return np.asarray(left[i] + right[j])

    def free_of(self, columns: Mask) -> Mask:
        """Tell which cells use none of the marked columns; left and right are the same."""
        i, j = np.divmod(self.cells, self.right.shape[1])
        return ~(columns[i] | columns[j])

    def restricted(self, kept: Mask | Places) -> Crossing:
        """Keep some of the cells."""
        return dataclasses.replace(self, cells=self.cells[kept], groups=self.groups[kept])


class _Guided:
    """What is fixed for one object: masks of its conditions, and which of them go together."""

    def __init__(self, exact: Evaluation, sample: Rows | None) -> None:
        self.exact, self.sample = exact, sample
        masks = [exact.everything, *(item.mask for item in exact.candidates)]
        taken = [mask if sample is None else mask[sample] for mask in masks]
        self.masks: Masks = np.stack(taken, axis=1).astype(np.float32)
        self.columns = np.ascontiguousarray(self.masks.T)
        self.least_rows = exact.options.min_support * len(self.masks) - ROUNDING
        self.own = np.array([-1, *exact.own])
        self.contexts: list[Context] = [(), *((number,) for number in range(len(exact.own)))]
        self.most = exact.options.max_conditions
        self.short = self._short()
        self.triples = self._triples() if self.most > PAIRS else None
        self.levels = PAIRS if self.triples is None else PAIRS + 1

    def _short(self) -> Crossing:
        """Cross all conditions with all: contexts of up to two."""
        columns = np.arange(len(self.own)) if self.most > 0 else np.zeros(1, dtype=np.int64)
        left, right = np.meshgrid(columns, columns, indexing="ij")
        rows = self.masks.T @ self.masks
        kept = (left < right) & (self.own[left] != self.own[right]) | (left + right == 0)
        if self.most == 1:
            kept &= left == 0
        kept &= rows[: len(columns), : len(columns)] >= self.least_rows
        cells = left[kept] * len(self.own) + right[kept]
        groups = rows.ravel()[cells].astype(np.float64)
        return Crossing(self.masks, self.masks, self.contexts, self.contexts, cells, groups)

    def _triples(self) -> Crossing | None:
        """Give all contexts of three conditions that keep enough rows; None if they are many."""
        left, right = np.divmod(self.short.cells, len(self.own))
        left, right = left[left > 0], right[left > 0]
        numbers = np.arange(len(self.own))
        contexts: list[Context] = []
        for start in range(0, len(left), _BLOCK):
            first, second = left[start : start + _BLOCK], right[start : start + _BLOCK]
            rows = (self.columns[first] * self.columns[second]) @ self.masks
            kept = (rows >= self.least_rows) & (numbers > second[:, np.newaxis])
            kept &= self.own != self.own[second][:, np.newaxis]  # the first comes before both
            for pair, third in zip(*np.nonzero(kept), strict=True):
                contexts.append((int(first[pair]) - 1, int(second[pair]) - 1, int(third) - 1))
            if len(contexts) > MOST_TRIPLES:
                return None
        marked = self._marked(contexts)
        groups = np.add.reduce(marked, dtype=np.float64)
        cells = np.arange(len(contexts))
        return Crossing(marked, self.masks[:, :1], contexts, [()], cells, groups)

    def _marked(self, contexts: list[Context]) -> Masks:
        """Mark the rows of each context."""
        length = len(contexts[0]) if contexts else 0
        numbers = np.array(contexts, dtype=np.int64).reshape(len(contexts), length) + 1
        marked = np.ones((len(contexts), len(self.masks)), dtype=np.float32)
        for column in numbers.T:
            marked *= self.columns[column]
        return np.ascontiguousarray(marked.T)

    def extended(self, leaders: list[Context], place: int, known: set[Context]) -> Crossing:
        """Cross contexts with all conditions on attributes that neither they nor the property use.

        Each context once; none of which a part is known to be enough.
        """
        left, right = self._marked(leaders), self.masks[:, 1:]
        rows = left.T @ right
        kept = rows >= self.least_rows
        kept &= self.own[1:] != place
        for number, context in enumerate(leaders):
            for item in context:
                kept[number, self.own[1:] == self.own[item + 1]] = False
        cells = np.flatnonzero(kept)
        groups = rows.ravel()[cells].astype(np.float64)
        crossing = Crossing(left, right, leaders, self.contexts[1:], cells, groups)
        fresh: dict[Context, int] = {}
        for number in range(len(cells)):
            fresh.setdefault(crossing.context(number), number)
        numbers = [
            number
            for context, number in fresh.items()
            if not known or known.isdisjoint(proper_subsets(context))
        ]
        return crossing.restricted(np.array(numbers, dtype=np.int64))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Contexts of one property with what the screen says of them; comparable ones only."""

    crossing: Crossing
    scores: Floats
    is_promising: Mask  # may reach the threshold
    is_rarer: Mask  # the object seems rarer than a typical member

    def restricted(self, kept: Mask) -> Scored:
        """Keep some of the contexts."""
        return Scored(
            self.crossing.restricted(kept),
            self.scores[kept],
            self.is_promising[kept],
            self.is_rarer[kept],
        )

    def strongest(self, count: int) -> list[tuple[Rank, Context]]:
        """Choose contexts by score; ties: fewer conditions, more rows, then the conditions."""
        least = -math.inf
        if len(self.scores) > count:
            least = np.partition(self.scores, -count)[-count]
        return sorted(self._ranked(int(place)) for place in np.flatnonzero(self.scores >= least))

    def _ranked(self, place: int) -> tuple[Rank, Context]:
        context = self.crossing.context(place)
        rows = float(self.crossing.groups[place])
        return (-float(self.scores[place]), len(context), -rows), context


class _Property:
    """The search for one property."""

    def __init__(self, run: _Guided, place: int) -> None:
        self.run, self.exact, self.place = run, run.exact, place
        self.reported: dict[Context, Hit] = {}
        self.looked_at: set[Context] = set()
        self.below: list[tuple[Rank, Context]] = []  # the strongest so far below the threshold
        self.closest: Hit | None = None
        self.overall_mean = math.nan
        self.needed = _needed(run.exact.options)
        self.screen = run.exact.properties[place].screen(run.sample)

    def explore(self) -> None:
        """Search short contexts, extend the strongest; where nothing is found, keep the closest."""
        leaders = self.short_contexts()
        if self.run.triples is not None and () not in self.reported:
            leaders = self.three_conditions(self.run.triples)
        for _ in range(self.run.levels, self.run.most):
            if leaders:
                leaders = self.longer_contexts(leaders)
        if self.below and not self.reported:
            hit = self.look(self.below[0][1])
            if hit is not None and not self.exact.reaches(hit) and hit.outlierness > SAME_SCORE:
                self.closest = hit

    def short_contexts(self) -> list[Context]:
        """Look through all contexts of up to two conditions; give the strongest of two."""
        short = self.run.short
        scored = self.scored(short.restricted(short.free_of(self.run.own == self.place)))
        self.look_through(scored.restricted(scored.crossing.lengths() == 0), self.look)
        if () in self.reported:
            return []
        self.look_through(scored.restricted(scored.crossing.lengths() == 1), self.look)
        found = np.zeros(len(self.run.own), dtype=bool)
        found[[number + 1 for (number,) in self.reported]] = True
        alive = scored.restricted(scored.crossing.free_of(found))
        return self.strongest(self.look_through(alive, self.look), PAIRS)

    def three_conditions(self, triples: Crossing) -> list[Context]:
        """Look through all contexts of three conditions; give the strongest."""
        members = np.array(triples.left_contexts, dtype=np.int64).reshape(-1, PAIRS + 1)
        dead = (self.run.own[members + 1] == self.place).any(axis=1)
        for context in self.reported:
            dead |= np.logical_and.reduce([(members == item).any(axis=1) for item in context])
        scored = self.scored(triples.restricted(~dead))
        return self.strongest(self.look_through(scored, self.look), PAIRS + 1)

    def longer_contexts(self, leaders: list[Context]) -> list[Context]:
        """Extend contexts by one condition; give the strongest of the new ones."""
        known = set(self.reported)  # the order of visits must not matter
        scored = self.scored(self.run.extended(leaders, self.place, known))
        left = self.look_through(scored, self.look_minimal)
        self.reported = {
            context: hit
            for context, hit in self.reported.items()
            if self.reported.keys().isdisjoint(proper_subsets(context))
        }
        return self.strongest(left, len(leaders[0]) + 1)

    def scored(self, crossing: Crossing) -> Scored:
        """Score all contexts of a crossing by estimates."""
        mean, at_object = self.screen.estimate(crossing.left, crossing.right, crossing.cells)
        if math.isnan(self.overall_mean):  # the first context of all is the one without conditions
            self.overall_mean = float(mean[0])
        comparable = ~np.isnan(mean)
        mean, at_object = mean[comparable], at_object[comparable]
        crossing = crossing.restricted(comparable)
        is_rarer = at_object < mean * (1 - SAME_DENSITY)
        if self.exact.options.measure == "paper":
            excess = (mean - at_object) * self.screen.unit
            return Scored(crossing, _nine_digits(excess), excess * MARGIN >= self.needed, is_rarer)
        strengths = np.log(mean / at_object) + np.log(mean / self.overall_mean)
        scores = np.round(strengths - CONDITION_PENALTY * crossing.lengths(), 9)
        return Scored(crossing, scores, at_object <= mean / self.needed * MARGIN, is_rarer)

    def strongest(self, scored: Scored, length: int) -> list[Context]:
        """Choose the contexts to extend; remember the strongest of all below the threshold."""
        rarer = scored.restricted(scored.is_rarer).strongest(1)
        self.below = sorted([*self.below, *rarer])[:1]
        longest = scored.restricted(scored.crossing.lengths() == length).strongest(BEAM)
        return [context for _, context in longest][:BEAM]

    def look_through(self, scored: Scored, look: Callable[[Context], object]) -> Scored:
        """Look exactly at what is promising; give what does not reach the threshold."""
        is_left = np.ones(len(scored.scores), dtype=bool)
        for place in np.flatnonzero(scored.is_promising):
            context = scored.crossing.context(int(place))
            if context not in self.looked_at:
                look(context)
            is_left[place] = context not in self.reported
        return scored.restricted(is_left)

    def look(self, context: Context) -> Hit | None:
        """Evaluate a context exactly, and report it where it reaches the threshold."""
        self.looked_at.add(context)
        mask = self.exact.mask(context)
        group = int(np.count_nonzero(mask))
        if group < self.exact.least_rows:
            return None
        hit = self.exact.hit(self.place, context, mask, group)
        if hit is not None and self.exact.reaches(hit):
            self.reported[context] = hit
        return hit

    def look_minimal(self, context: Context) -> None:
        """Evaluate a context; where it reaches the threshold, its parts not yet seen, too."""
        self.look(context)
        if context in self.reported:
            for size in range(self.run.levels + 1, len(context)):
                for part in itertools.combinations(context, size):
                    if part not in self.looked_at:
                        self.look_minimal(part)


def _nine_digits(numbers: Floats) -> Floats:
    """Round as far as the paper's score counts in an order."""
    return np.array([rounded(float(number), "paper") for number in numbers])


def _needed(options: Options) -> float:
    """Give the rarity, or the paper's difference of areas, that the threshold asks for."""
    least = options.min_outlierness - SAME_SCORE
    return 2 * math.atanh(least) if options.measure == "paper" else 1 / (1 - least)
