"""The pairs of an object, scored by what a pass over all rows has counted."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np

from outlying.method.density import Counts
from outlying.method.distribution import Bounds, Distribution, typical_categories
from outlying.method.measure import Summary, Typical, counted_near
from outlying.method.profiles import CategoricalProfile, NumericProfile, Profile
from outlying.method.sketches import (
    NumericSketch,
    Sketch,
    categorical_sketch,
    numeric_sketch,
    shown_categories,
)
from outlying.search.attributes import unit_of
from outlying.search.objects import ObjectProperty
from outlying.search.scoring import Context, Evaluation
from outlying.search.shortlist import Key
from outlying.stream.verify.histograms import Answer, LabelHistogram, MissingCount
from outlying.stream.verify.plan import Query, VerifyPlan
from outlying.stream.verify.predicates import Conjunction
from outlying.stream.verify.questions import Question
from outlying.stream.verify.verify_pass import Verified
from outlying.table.values import Form, Value


class Answers:
    """What all rows say to what was asked of them; what is made of it is made once."""

    def __init__(self, plan: VerifyPlan, verified: Verified) -> None:
        self.plan = plan
        self.histograms: dict[Query, Answer] = {}
        for query, answer in zip((*plan.queries, *plan.small), verified.answers, strict=True):
            if not query.is_coarse:
                self.histograms[query] = answer
            else:  # whoever asks does not know how finely all was counted
                fine = dataclasses.replace(query, is_coarse=False)
                self.histograms.setdefault(fine, answer)
        self.counts = dict(zip(plan.counts, verified.counts, strict=True))
        self._groups: dict[tuple[Query, Form], Group] = {}

    def group(self, query: Query, form: Form) -> Group:
        """Return the rows that were asked about."""
        if (query, form) not in self._groups:
            exponent = self.plan.columns[query.column].exponent
            group = group_of(self.histograms[query], form, exponent)
            if query.context:
                group = group.within(self.group(Query(query.column, query.kind), form))
            self._groups[query, form] = group
        return self._groups[query, form]

    def count(self, context: Conjunction) -> int:
        """Return how many rows are in a context."""
        return self.counts[context]


@dataclasses.dataclass(frozen=True, eq=False)
class CategoricalGroup:
    """A property in a context by its categories, or by the question whether it is missing.

    `overall` is the same property among all rows; None where these are all rows.
    """

    rows: int
    labels: Sequence[Value]
    counts: Counts
    overall: CategoricalGroup | None = None

    @functools.cached_property
    def profile(self) -> CategoricalProfile:
        """What a description needs."""
        return CategoricalProfile(self.counts, self.labels)

    def bounds(self, own: ObjectProperty) -> Bounds | None:  # noqa: ARG002
        """Return None: categories are counted."""
        return None

    @functools.cached_property
    def typical(self) -> Typical | None:
        """What is typical of the group; None where there is only one category."""
        overall = self.overall or self
        totals = np.array([overall.rows_of.get(label, 0) for label in self.labels])
        return typical_categories(self.counts, totals, int(overall.counts.sum()))

    def summary(self, own: ObjectProperty, asked: Evaluation) -> Summary | None:  # noqa: ARG002
        """Summarise the group for an object; None where there is only one category."""
        if self.typical is None:
            return None
        return self.typical.summary([self.rows_of[own.place]], 1.0)

    @functools.cached_property
    def rows_of(self) -> dict[Value, int]:
        """The rows of each category."""
        return dict(zip(self.labels, self.counts.tolist(), strict=True))

    def holds(self, own: ObjectProperty) -> bool:
        """Return whether a row is like the object, as the object itself is."""
        return self.rows_of.get(own.place, 0) > 0

    def joined(self, own: ObjectProperty) -> CategoricalGroup:
        """Take in one more row, a new object."""
        rows = self.rows_of | {own.place: self.rows_of.get(own.place, 0) + 1}
        labels = tuple(sorted(rows, key=str))
        return CategoricalGroup(self.rows + 1, labels, np.array([rows[label] for label in labels]))

    def within(self, overall: Group) -> CategoricalGroup:
        """Return the group as one of all rows."""
        assert isinstance(overall, CategoricalGroup)  # noqa: S101 - of the same column
        return dataclasses.replace(self, overall=overall)


@dataclasses.dataclass(frozen=True, eq=False)
class NumericGroup:
    """A numeric property in a context; values are divided by 2**exponent.

    `overall` is the same property among all rows; None where these are all rows.
    """

    rows: int
    form: Form
    exponent: int
    found: Distribution
    overall: NumericGroup | None = None

    @functools.cached_property
    def profile(self) -> NumericProfile:
        """What a description needs."""
        return NumericProfile(self.found, self.form, self.exponent)

    @functools.cached_property
    def sketch(self) -> NumericSketch:
        """What a picture needs."""
        return numeric_sketch(self.found, self.form, self.exponent, "fixed")

    def bounds(self, own: ObjectProperty) -> Bounds | None:
        """Return what bins leave open; None where every value was counted."""
        is_exact = (self.overall or self).found.is_exact
        return None if is_exact else Bounds(self.found, self._scaled(own))

    @functools.cached_property
    def typical(self) -> Typical | None:
        """What is typical of the group; None where all values are equal."""
        return self.found.typical((self.overall or self).found)

    def summary(self, own: ObjectProperty, asked: Evaluation) -> Summary | None:
        """Summarise the group for an object; None where all values are equal."""
        typical, found, value = self.typical, self.found, self._scaled(own)
        if typical is None:
            return None
        reach = found.width / 2
        near = counted_near(
            asked.scales,
            typical.known,
            asked.needed,
            lambda scale: max(1.0, found.near(value, scale * reach)),
        )
        found.widen(typical, asked.scales[: len(near)])
        unit = unit_of(self.form, self.exponent)
        return typical.summary(near, unit, float(np.ldexp(reach, self.exponent)))

    def holds(self, own: ObjectProperty) -> bool:
        """Return whether a row may be where the object is, as the object itself is."""
        value, found = self._scaled(own), self.found
        return bool(np.any((found.lows <= value) & (found.highs >= value)))

    def joined(self, own: ObjectProperty) -> NumericGroup:
        """Take in one more row, a new object."""
        more = self.found.joined(self._scaled(own))
        return dataclasses.replace(self, rows=self.rows + 1, found=more)

    def within(self, overall: Group) -> NumericGroup:
        """Return the group as one of all rows."""
        assert isinstance(overall, NumericGroup)  # noqa: S101 - of the same column
        return dataclasses.replace(self, overall=overall)

    def _scaled(self, own: ObjectProperty) -> float:
        return float(np.ldexp(cast(float, own.place), -self.exponent))


Group: TypeAlias = CategoricalGroup | NumericGroup


def group_of(seen: Answer, form: Form, exponent: int) -> Group:
    """Make a group of what was counted."""
    if isinstance(seen, MissingCount):
        counts = np.array([seen.known, seen.missing])
        return CategoricalGroup(seen.known + seen.missing, ("known", "missing"), counts)
    if isinstance(seen, LabelHistogram):
        return CategoricalGroup(seen.rows, seen.labels, seen.counts)
    found = Distribution(seen.values, seen.counts, seen.lows, seen.highs)
    return NumericGroup(seen.rows, form, exponent, found)


class VerifiedEvaluation(Evaluation):
    """Scores of the pairs of one object by what all rows have answered."""

    def __init__(self, question: Question, answers: Answers) -> None:
        asked = question.asked
        super().__init__(asked.properties, asked.candidates, asked.rows, asked.options)
        self.question, self.answers = question, answers
        self._groups: dict[Key, Group] = {}

    def group(self, place: int, context: Context) -> Group:
        """Return a property in a context."""
        if (place, context) not in self._groups:
            own = self.properties[place]
            query = self.question.query(place, context)
            group = self.answers.group(query, own.attribute.column.form)
            if self.question.is_new:
                group = group.joined(own)
                group = group.within(self.group(place, ())) if context else group
            self._groups[place, context] = group
        return self._groups[place, context]

    @property
    def hold_object(self) -> bool:
        """Whether the object is among the rows that were counted, as it must be."""
        return self.question.is_new or all(
            self.group(place, context).holds(self.properties[place])
            for place, context in self.question.short.pairs
        )

    def measured(self, place: int, context: Context) -> tuple[int, Summary | None]:
        """Count the rows of a context and summarise a property there."""
        group = self.group(place, context)
        if group.rows < self.least_rows(len(context)):
            return group.rows, None
        return group.rows, group.summary(self.properties[place], self)

    def profile(self, place: int, context: Context) -> Profile:
        """Describe a property in a context."""
        return self.group(place, context).profile

    def bounds(self, place: int, context: Context) -> Bounds | None:
        """Return what is left open of a property in a context; None where all is counted."""
        return self.group(place, context).bounds(self.properties[place])

    def sketch(self, place: int, shown: Sequence[Value] | None = None) -> Sketch:
        """Sketch a property over the whole table, with the given categories or the usual ones."""
        group = self.group(place, ())
        if isinstance(group, NumericGroup):
            return group.sketch
        profile = group.profile
        if shown is None:
            code = profile.labels.index(self.properties[place].place)
            codes = shown_categories(profile.counts, code)
        else:
            codes = [profile.labels.index(label) for label in shown]
        return categorical_sketch(profile.counts, profile.labels, codes)


class VerifiedCounts:
    """Counts of rows for an object whose pairs are estimated otherwise."""

    def __init__(self, question: Question, answers: Answers) -> None:
        self.question, self.answers = question, answers

    def __call__(self, place: int, context: Context) -> tuple[int, int, int]:
        """Count the rows of a context, those that have the property, those near the object."""
        rows, known, near = self.question.sizes(place, context)
        return self.answers.count(rows), self.answers.count(known), self.answers.count(near)
