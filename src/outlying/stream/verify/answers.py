"""The pairs of an object, scored by what a pass over all rows has counted."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np

from outlying.method.density import Counts, density_at, frequencies, frequency_mean
from outlying.method.distribution import Bounds, Distribution
from outlying.method.measure import Summary
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
from outlying.stream.verify.histograms import LabelHistogram
from outlying.stream.verify.plan import Query, VerifyPlan
from outlying.stream.verify.predicates import Conjunction
from outlying.stream.verify.questions import Question
from outlying.stream.verify.verify_pass import Answer, MissingCount, Verified
from outlying.table.values import Form, Value


class Answers:
    """What all rows say to what was asked of them; what is made of it is made once."""

    def __init__(self, plan: VerifyPlan, verified: Verified) -> None:
        self.plan = plan
        self.histograms = dict(zip(plan.queries, verified.answers, strict=True))
        self.counts = dict(zip(plan.counts, verified.counts, strict=True))
        self._groups: dict[tuple[Query, Form], Group] = {}

    def group(self, query: Query, form: Form) -> Group:
        """Return the rows that were asked about."""
        if (query, form) not in self._groups:
            exponent = self.plan.columns[query.column].exponent
            self._groups[query, form] = group_of(self.histograms[query], form, exponent)
        return self._groups[query, form]

    def count(self, context: Conjunction) -> int:
        """Return how many rows are in a context."""
        return self.counts[context]


@dataclasses.dataclass(frozen=True, eq=False)
class CategoricalGroup:
    """A property in a context by its categories, or by the question whether it is missing."""

    rows: int
    labels: Sequence[Value]
    counts: Counts

    @functools.cached_property
    def profile(self) -> CategoricalProfile:
        """What a description needs."""
        return CategoricalProfile(self.counts, self.labels)

    def bounds(self, own: ObjectProperty) -> Bounds | None:  # noqa: ARG002
        """Return None: categories are counted."""
        return None

    def summary(self, own: ObjectProperty) -> Summary | None:
        """Summarise the group for an object; None where there is only one category."""
        if np.count_nonzero(self.counts) < 2:
            return None
        at_object = frequencies(self.counts)[self.labels.index(own.place)]
        return Summary(frequency_mean(self.counts), float(at_object), 1.0)

    def holds(self, own: ObjectProperty) -> bool:
        """Return whether a row is like the object, as the object itself is."""
        return own.place in self._held

    @functools.cached_property
    def _held(self) -> frozenset[Value]:
        rows = zip(self.labels, self.counts.tolist(), strict=True)
        return frozenset(label for label, count in rows if count)

    def joined(self, own: ObjectProperty) -> CategoricalGroup:
        """Take in one more row, a new object."""
        rows = dict(zip(self.labels, self.counts.tolist(), strict=True))
        rows[own.place] = rows.get(own.place, 0) + 1
        labels = tuple(sorted(rows, key=str))
        return CategoricalGroup(self.rows + 1, labels, np.array([rows[label] for label in labels]))


@dataclasses.dataclass(frozen=True, eq=False)
class NumericGroup:
    """A numeric property in a context; values are divided by 2**exponent."""

    rows: int
    form: Form
    exponent: int
    found: Distribution

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
        return None if self.found.is_exact else Bounds(self.found, self._scaled(own))

    def summary(self, own: ObjectProperty) -> Summary | None:
        """Summarise the group for an object; None where all values are equal."""
        found = self.found
        if len(found.values) < 2:
            return None
        near = max(1, found.near(self._scaled(own), found.width / 2))
        at_object = density_at(near, found.known, found.width)
        return Summary(found.mean, at_object, unit_of(self.form, self.exponent))

    def holds(self, own: ObjectProperty) -> bool:
        """Return whether a row may be where the object is, as the object itself is."""
        value, found = self._scaled(own), self.found
        return bool(np.any((found.lows <= value) & (found.highs >= value)))

    def joined(self, own: ObjectProperty) -> NumericGroup:
        """Take in one more row, a new object."""
        more = self.found.joined(self._scaled(own))
        return dataclasses.replace(self, rows=self.rows + 1, found=more)

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
            self._groups[place, context] = group.joined(own) if self.question.is_new else group
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
        if group.rows < self.least_rows:
            return group.rows, None
        return group.rows, group.summary(self.properties[place])

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
