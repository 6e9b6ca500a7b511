"""The pairs of an object, scored by what a pass over all rows has counted."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from outlying.describe import Premise, Trait
from outlying.distribution import Distribution
from outlying.population import NumericAttribute, Summary, exponent_of, unit_of
from outlying.profiles import CategoricalProfile, NumericProfile, Profile
from outlying.search import Context, Evaluation
from outlying.sketches import Sketch, categorical_sketch, shown_categories
from outlying.streams.questions import Question
from outlying.streams.rules import Look, Rule
from outlying.streams.verify import Gaps, Labels, Seen, Verified
from outlying.values import Form, Value


class Answers:
    """What all rows say to what was asked of them; what is made of it is made once."""

    def __init__(self, verified: Verified, ranges: Mapping[str, float]) -> None:
        """Take the largest number of each column, without its sign."""
        self.verified = verified
        self.exponents = {name: exponent_of(largest) for name, largest in ranges.items()}
        self._groups: dict[Look, Group] = {}

    def group(self, look: Look, form: Form) -> Group:
        """Give the rows that were looked at."""
        if look not in self._groups:
            exponent = self.exponents.get(look.column, 0)
            self._groups[look] = group_of(self.verified.looks[look], form, exponent)
        return self._groups[look]

    def count(self, rules: tuple[Rule, ...]) -> int:
        """Give how many rows satisfy all of some rules."""
        return self.verified.counts[rules]


@dataclasses.dataclass(frozen=True, eq=False)
class Group:
    """A property in a context: how many rows there are, and what they hold."""

    rows: int
    form: Form
    exponent: int
    found: Distribution | None  # None for categories, and where all numbers are equal
    labels: Sequence[Value] = ()
    counts: np.ndarray[tuple[int], np.dtype[np.int64]] = dataclasses.field(
        default_factory=lambda: np.zeros(0, dtype=np.int64)
    )

    @functools.cached_property
    def profile(self) -> Profile:
        """What a description needs."""
        if self.found is None:
            return CategoricalProfile(self.counts, self.labels)
        return NumericProfile(self.found, self.form, self.exponent)

    def summary(self, trait: Trait) -> Summary | None:
        """Summarise the group for an object; None where there is nothing to compare."""
        if isinstance(trait.attribute, NumericAttribute):
            return None if self.found is None else self._of_numbers(self.found, trait)
        if np.count_nonzero(self.counts) < 2:
            return None
        shares = self.counts / self.counts.sum()
        own = shares[self.labels.index(trait.place)]
        return Summary(float(np.add.reduce(shares * shares)), float(own), 1.0)

    def _of_numbers(self, found: Distribution, trait: Trait) -> Summary:
        value = float(np.ldexp(trait.attribute.column.values[trait.row], -self.exponent))
        near = max(1, found.near(value, found.width / 2))
        at_object = near * (1 / (found.known * found.width))
        return Summary(found.mean, at_object, unit_of(self.form, self.exponent))


def group_of(seen: Seen | Labels | Gaps, form: Form, exponent: int) -> Group:
    """Make a group of what was counted."""
    if isinstance(seen, Gaps):
        counts = np.array([seen.known, seen.missing])
        return Group(seen.rows, form, 0, None, ("known", "missing"), counts)
    if isinstance(seen, Labels):
        return Group(seen.rows, form, 0, None, seen.labels, seen.counts)
    if len(seen.values) < 2:
        return Group(seen.rows, form, exponent, None)
    values = np.ldexp(seen.values, -exponent)
    if seen.is_exact:
        return Group(seen.rows, form, exponent, Distribution(values, seen.counts, values, values))
    lows, highs = np.ldexp(seen.lows, -exponent), np.ldexp(seen.highs, -exponent)
    return Group(seen.rows, form, exponent, Distribution(values, seen.counts, lows, highs))


class Answered(Evaluation[Trait, Premise]):
    """Scores of the pairs of one object by what all rows have answered."""

    def __init__(self, question: Question, answers: Answers) -> None:
        asked = question.asked
        super().__init__(asked.properties, asked.candidates, asked.rows, asked.options)
        self.question, self.answers = question, answers

    def group(self, place: int, context: Context) -> Group:
        """Give a property in a context."""
        form = self.properties[place].attribute.column.form
        return self.answers.group(self.question.look(place, context), form)

    def measured(self, place: int, context: Context) -> tuple[int, Summary | None]:
        """Count the rows of a context and summarise a property there."""
        group = self.group(place, context)
        if group.rows < self.least_rows:
            return group.rows, None
        return group.rows, group.summary(self.properties[place])

    def profile(self, place: int, context: Context) -> Profile:
        """Describe a property in a context."""
        return self.group(place, context).profile

    def sketch(self, place: int, shown: Sequence[Value] | None = None) -> Sketch:
        """Sketch a property over the whole table, with the given categories or the usual ones."""
        profile = self.profile(place, ())
        if isinstance(profile, NumericProfile):
            return profile.sketch
        if shown is None:
            own = profile.labels.index(self.properties[place].place)
            codes = shown_categories(profile.counts, own)
        else:
            codes = [profile.labels.index(label) for label in shown]
        return categorical_sketch(profile.counts, profile.labels, codes)


def counter_of(
    question: Question, answers: Answers
) -> Callable[[int, Context], tuple[int, int, int]]:
    """Give who counts rows for an object whose pairs are estimated otherwise."""

    def count(place: int, context: Context) -> tuple[int, int, int]:
        rows, known, near = (answers.count(rules) for rules in question.sizes(place, context))
        return rows, known, near

    return count
