"""The search for minimal pairs (E, p) of one object, level by level (paper, section 5.2; method 5).

E is an ascending tuple of places in the list of conditions that o satisfies, p a place in the list
of properties. Both lists are ordered by name, so that places decide between ties. Reported is
(E, p) where E has at most k conditions, DB_E keeps sigma of the rows, p is not in E, its
outlierness reaches theta, and no proper subset of E reports p. p is *alive* in E as long as neither
E nor a subset reports it. A context of level j is visited only for the properties that are alive in
all its subsets of level j - 1 (a real apriori join); level 0, without conditions, counts.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import NoReturn, TypeAlias

import numpy as np

from outlying.errors import OptionError
from outlying.method.density import Floats, frequencies
from outlying.method.intervals import Segments, segments
from outlying.method.measure import SAME_SCORE, Summary, reaches
from outlying.method.profiles import NumericProfile, Profile
from outlying.options import Options, PaperOptions
from outlying.parallel import in_order, usable_workers
from outlying.parsing.columns import with_object
from outlying.reference.formulas import (
    OmegaSummary,
    binned,
    distribution,
    natural_intervals,
    score,
    window_rows,
)
from outlying.search.cells import Attribute, CategoricalAttribute, NumericAttribute, attribute_of
from outlying.search.evaluation import (
    CandidateCondition,
    Context,
    Evaluation,
    Hit,
    ObjectProperty,
    Outcome,
    Progress,
    no_progress,
)
from outlying.search.memory import MemoryPopulation, Result, Searched, Searching, row_of
from outlying.table.columns import Mask, Rows
from outlying.table.selection import Selection, check_width, not_empty
from outlying.table.table import Condition, Table
from outlying.table.targets import Target, Targets
from outlying.table.values import value_of

Alive: TypeAlias = Mapping[Context, frozenset[int]]  # properties by context

_NONE: frozenset[int] = frozenset()
_SAME_ROWS = 1e-9  # what rounding may add to a number of rows that is a share of all


def minimal_pairs(scores: Scores, progress: Progress) -> Outcome:
    """Find every minimal pair; where none reaches theta, the strongest of each property."""
    options, families = scores.options, scores.families
    family_of_condition = [families[k] for k in scores.property_of_condition]
    reported: list[Hit] = []
    closest: dict[int, Hit] = {}

    def is_reported(hit: Hit | None) -> bool:
        """Take a pair: report it if it reaches theta, or remember it as the closest."""
        if hit is None:
            return False
        if reaches(hit.outlierness, scores.paper.min_outlierness):
            reported.append(hit)
            return True
        best = closest.get(hit.property)
        if hit.outlierness > SAME_SCORE and (best is None or _rank(hit) < _rank(best)):
            closest[hit.property] = hit
        return False

    def visit(context: Context, living: Iterable[int]) -> frozenset[int]:
        """Score the living properties of a context; return those that stay alive."""
        mask = scores.mask(context)
        if np.count_nonzero(mask) < scores.least_rows(len(context)):
            return _NONE
        hits = {place: scores.scored(place, context, mask) for place in living}
        return frozenset(place for place, hit in hits.items() if not is_reported(hit))

    def living(context: Context, alive: Alive) -> frozenset[int]:
        """Return the properties that are alive in all subsets, and in none of the conditions."""
        own = {family_of_condition[item] for item in context}
        if len(own) < len(context):
            return _NONE  # one condition per attribute
        subsets = itertools.combinations(context, len(context) - 1)
        shared = frozenset.intersection(*(alive.get(subset, _NONE) for subset in subsets))
        return frozenset(p for p in shared if families[p] not in own)

    judged = [k for k, own in enumerate(scores.properties) if options.judges(own.family)]
    alive: Alive = {(): visit((), judged)}
    for _ in range(min(options.max_conditions, len(scores.candidates))):
        grown: dict[Context, frozenset[int]] = {}
        for done, context in enumerate(alive):
            progress(done, len(alive))
            for added in range(context[-1] + 1 if context else 0, len(scores.candidates)):
                joined = (*context, added)
                if properties := living(joined, alive):
                    grown[joined] = visit(joined, properties)
        alive = {context: properties for context, properties in grown.items() if properties}
    return Outcome(reported=tuple(reported), closest=tuple(closest.values()))


def _rank(hit: Hit) -> tuple[float, int, int, Context]:
    """Order pairs of one property: score, fewer conditions, more rows, names."""
    return -hit.score, len(hit.context), -hit.group, hit.context


class Scores(Evaluation):
    """All that belongs to one object o: what is given, and scores of pairs on demand."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        segments: Mapping[str, Segments],
        row: int,
        rows: int,
        options: Options,
    ) -> None:
        """Take attributes ordered by name, with the segments of those that are numeric."""
        self.rows, self.row, self.options = rows, row, options
        self.paper = options.paper or PaperOptions()
        self.segments = segments
        properties = [ObjectProperty.of(item, row, options) for item in attributes]
        given = [item for attribute in attributes for item in self._conditions(attribute)]
        self.masks = [mask for _, mask in given]
        places = {item.name: place for place, item in enumerate(properties)}
        own = [places[condition.attribute] for condition, _ in given]
        super().__init__(properties, [_candidate(*item) for item in given], own, rows)
        self._overall = functools.cache(lambda place: self._summary(place, self.mask(())))
        self._whole = functools.cache(lambda attribute: distribution(attribute.sorted, "fixed"))
        self._profile = functools.cache(self._described)

    def _conditions(self, attribute: Attribute) -> Iterator[tuple[Condition, Mask]]:
        """Return the conditions on an attribute that o satisfies, the finest first.

        Those that keep fewer rows than sigma asks for, or all of them, say nothing.
        """
        origin = attribute.column.origin
        if not self.options.compares_by(attribute.column.family):
            return
        if origin is not None and (
            not origin.gives_conditions or attribute.column.is_missing(self.row)
        ):
            return
        for condition, mask in self._satisfied(attribute):
            if self.least_rows(1) <= np.count_nonzero(mask) < self.rows:
                yield condition, mask

    def _satisfied(self, attribute: Attribute) -> Iterator[tuple[Condition, Mask]]:
        column, name = attribute.column, attribute.column.name
        if column.is_missing(self.row):
            yield Condition(name, "missing"), column.missing()
        elif isinstance(attribute, CategoricalAttribute):
            same = attribute.codes == attribute.codes[self.row]
            yield Condition(name, "equals", value=column.value(self.row)), same
        elif name in self.segments:  # values that are all equal have none
            window = window_rows(self.least_rows(1), self.rows)
            given = attribute.sorted, self.segments[name], attribute.scaled(self.row)
            for ends in natural_intervals(*given, window, self.paper):
                low, high = (attribute.unscaled(end) for end in ends)
                shown = (value_of(attribute.column.form, end) for end in (low, high))
                values = attribute.column.values
                yield Condition(name, "interval", *shown), (values >= low) & (values <= high)

    def least_rows(self, conditions: int) -> float:
        """Return how many rows DB_E must keep: sigma."""
        return self.options.least_rows(self.rows, conditions) - _SAME_ROWS

    def mask(self, context: Context) -> Mask:
        """Return which rows satisfy all conditions of E: DB_E."""
        mask = np.ones(self.rows, dtype=bool)
        for item in context:
            mask &= self.masks[item]
        return mask

    def scored(self, place: int, context: Context, mask: Mask) -> Hit | None:
        """Score a property among the rows of DB_E; None where there is nothing to compare."""
        summary, overall = self._summary(place, mask), self._overall(place)
        if summary is None or overall is None:
            return None
        rows, conditions = int(np.count_nonzero(mask)), len(context)
        given = summary.outlierness(), summary.strength(conditions), score(summary, conditions)
        return Hit(place, context, rows, summary, overall, *given)

    def _summary(self, place: int, mask: Mask) -> Summary | None:
        attribute = self.properties[place].attribute
        kind = OmegaSummary if self.paper.measure == "paper" else Summary
        if isinstance(attribute, CategoricalAttribute):
            return self._of_category(attribute, mask, kind)
        return self._of_number(attribute, mask, kind)

    def _of_category(
        self, attribute: CategoricalAttribute, mask: Mask, kind: type[Summary]
    ) -> Summary | None:
        """Summarise frequencies: mean(F) is the sum of their squares."""
        group, own = attribute.profile(mask), int(attribute.codes[self.row])
        lift = group.lift(attribute.profile(self.mask(())))
        if math.isnan(lift):
            return None
        f = frequencies(group.counts)
        return kind(float(f @ f), float(f[own]), 1.0, lift, near=int(group.counts[own]))

    def _of_number(
        self, attribute: NumericAttribute, mask: Mask, kind: type[Summary]
    ) -> Summary | None:
        """Summarise Parzen densities: F at the rows of DB_E, f_o at the object."""
        values = _values(attribute, mask)
        if len(values) == 0 or values[0] == values[-1]:
            return None
        found = distribution(values, self.paper.bandwidth)
        density = found.densities()
        own = int(np.searchsorted(found.values, attribute.scaled(self.row)))
        fixed = found if self.paper.bandwidth == "fixed" else distribution(values, "fixed")
        lift = fixed.lift(self._whole(attribute))
        given = found.mean(density), float(density[own]), attribute.unit, lift
        if fixed is not found:
            return kind(*given)
        near, reach = int(found.neighbours()[own]), attribute.unscaled(found.width / 2)
        return kind(*given, near=near, reach=reach)

    # --- what a description asks for --------------------------------------------------------------

    def profile(self, place: int, context: Context) -> Profile:
        """Describe a property in a context, once."""
        return self._profile(place, context)

    def _described(self, place: int, context: Context) -> Profile:
        attribute, mask = self.properties[place].attribute, self.mask(context)
        if isinstance(attribute, CategoricalAttribute):
            return attribute.profile(mask)
        found = distribution(_values(attribute, mask), self.paper.bandwidth)
        return NumericProfile(found, attribute.column.form, attribute.exponent)


def _values(attribute: NumericAttribute, mask: Mask) -> Floats:
    return np.asarray(attribute.sorted[mask[attribute.order]])


def _candidate(condition: Condition, mask: Mask) -> CandidateCondition:
    def test(rows: Rows | None) -> Mask:
        return mask if rows is None else mask[rows]

    return CandidateCondition(condition, int(np.count_nonzero(mask)), test)


class PaperPopulation(MemoryPopulation):
    """The population DB; all its rows are compared, and none is judged beforehand."""

    def prepare(self, workers: int | None = None, progress: Progress | None = None) -> None:  # noqa: ARG002
        """Find the natural intervals of all columns now, not when a row is first explained."""
        _ = self.ready

    def standing(self, workers: int | None = None, progress: Progress | None = None) -> NoReturn:  # noqa: ARG002
        """Refuse: the paper judges one object, not all rows."""
        raise OptionError(
            'rows are judged by the default search only; leave preset="paper" (--preset paper) out'
        )

    def scores(self, workers: int | None = None, progress: Progress | None = None) -> NoReturn:
        """Refuse, as above."""
        self.standing(workers, progress)

    def searching(
        self, targets: Targets, workers: int | None, progress: Progress | None
    ) -> Searching:
        """Return who searches the targets and finishes each."""
        told = progress if len(targets) == 1 else None
        return functools.partial(self._all, targets.items, workers, told)

    def _all(
        self,
        items: Sequence[Target],
        workers: int | None,
        progress: Progress | None,
        finish: Callable[[Searched], Result],
    ) -> Generator[Result, None, None]:
        if any(item.new is None for item in items):
            self.prepare()  # before there are several processes
        work = functools.partial(self._finished_by, finish, progress)
        yield from in_order(work, items, usable_workers(workers), row_of, most=1)

    def _finished_by(
        self,
        finish: Callable[[Searched], Result],
        progress: Progress | None,
        items: Sequence[Target],
    ) -> Iterator[Result]:
        return (finish(self.searched(item, progress)) for item in items)

    @property
    def ready(self) -> PaperTable:
        """The table made ready, once."""
        return self._once(
            "paper", lambda: PaperTable(self.table, not_empty(self.selection()), self.options)
        )

    def searched(self, target: Target, progress: Progress | None = None) -> Searched:
        """Search one object; a new one joins the population as one more row."""
        is_new = target.new is not None
        if target.new is None:
            found, row = self.ready, int(target.row or 0)
        else:
            table, row = with_object(self.table, target.new, self.options), self.table.rows
            found = PaperTable(table, not_empty(self._selected(table)), self.options)
        scores = Scores(found.attributes, found.segments, row, found.table.rows, self.options)
        return Searched(
            row=None if is_new or target.key else row,
            key=target.key,
            values=found.table.values(row) if target.values is None else target.values,
            table=found.table,
            rows=self.table.rows,
            selection=found.selection,
            attributes=found.attributes,
            is_streamed=False,
            is_new=is_new,
            notes=found.table.notes,
            outcome=minimal_pairs(scores, progress or no_progress),
            exact=scores,
        )


class PaperTable:
    """A table with its columns chosen, cut into bins if that is asked for, and segmented."""

    def __init__(self, table: Table, selection: Selection, options: Options) -> None:
        paper = options.paper or PaperOptions()
        columns = (*selection.columns, *selection.derived)
        check_width(len(columns))
        made = (binned(column, paper.discretise, paper.bins) for column in columns)
        self.table, self.selection = table, selection
        self.attributes: tuple[Attribute, ...] = tuple(
            attribute_of(column) for column in sorted(made, key=lambda column: column.name)
        )
        self.segments: dict[str, Segments] = {
            item.column.name: segments(item.sorted, paper.seed)
            for item in self.attributes
            if isinstance(item, NumericAttribute) and not item.is_constant
        }
