"""The objects of a stream: judged by a model of the rows drawn, told by what all rows answer."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from outlying.errors import SourceError
from outlying.method.density import Counts
from outlying.method.distribution import Bounds, Distribution
from outlying.method.profiles import CategoricalProfile, NumericProfile
from outlying.options import Options
from outlying.search.attributes import Attribute, attribute_of
from outlying.search.evaluation import Exact, Groups
from outlying.search.evidence import Claims, claims
from outlying.search.memory import Prepared, knows_column
from outlying.search.model import Model
from outlying.search.population import Searched
from outlying.search.scoring import CandidateCondition, Context, ContextView, Progress
from outlying.stream.cells import Numbering
from outlying.stream.histograms import Answer, LabelHistogram
from outlying.stream.planning import (
    Conjunction,
    Predicate,
    Query,
    Question,
    VerifyPlan,
    plan_verification,
)
from outlying.stream.profile import Profile
from outlying.stream.verify_pass import Verified, VerifyPass
from outlying.table.columns import Column, Mask
from outlying.table.table import Condition
from outlying.table.targets import Target
from outlying.table.values import Form, Value, value_of

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder


class Answers:
    """What all rows say to what was asked of them; what is made of it is made once."""

    def __init__(self, plan: VerifyPlan, verified: Verified) -> None:
        self.plan = plan
        self.histograms = dict(zip(plan.queries, verified.answers, strict=True))
        self.counts = dict(zip(plan.counts, verified.counts, strict=True))
        self.ranges = dict(zip(plan.ranges, verified.ranges, strict=True))
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

    def bounds(self, own: Predicate) -> tuple[float, float]:
        """Return the least and the greatest number of the rows in an interval."""
        return self.ranges[own]


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

    @functools.cached_property
    def rows_of(self) -> dict[Value, int]:
        """The rows of each category."""
        return dict(zip(self.labels, self.counts.tolist(), strict=True))

    def holds(self, place: Value) -> bool:
        """Return whether a row is like the object, as the object itself is."""
        return self.rows_of.get(place, 0) > 0

    def joined(self, place: Value) -> CategoricalGroup:
        """Take in one more row, a new object."""
        rows = self.rows_of | {place: self.rows_of.get(place, 0) + 1}
        labels = tuple(sorted(rows, key=str))
        return CategoricalGroup(self.rows + 1, labels, np.array([rows[label] for label in labels]))

    def view(self, overall: Group) -> ContextView:
        """Compare with all rows, whose categories are counted here as well."""
        assert isinstance(overall, CategoricalGroup)  # noqa: S101 - of the same column
        counts = np.array([self.rows_of.get(label, 0) for label in overall.labels], dtype=np.int64)
        profile = CategoricalProfile(counts, overall.labels)
        return ContextView.of(self.rows, profile, overall.profile)


@dataclasses.dataclass(frozen=True, eq=False)
class NumericGroup:
    """A numeric property in a context; values are divided by 2**exponent."""

    rows: int
    form: Form
    exponent: int
    found: Distribution

    @functools.cached_property
    def profile(self) -> NumericProfile | None:
        """What a description needs; None where all values are equal."""
        if len(self.found.values) < 2:
            return None
        return NumericProfile(self.found, self.form, self.exponent)

    def bounds(self, place: Value) -> Bounds:
        """Return what bins leave open."""
        return Bounds(self.found, self._scaled(place))

    def holds(self, place: Value) -> bool:
        """Return whether a row may be where the object is, as the object itself is."""
        value, found = self._scaled(place), self.found
        return bool(np.any((found.lows <= value) & (found.highs >= value)))

    def joined(self, place: Value) -> NumericGroup:
        """Take in one more row, a new object."""
        more = self.found.joined(self._scaled(place))
        return dataclasses.replace(self, rows=self.rows + 1, found=more)

    def view(self, overall: Group) -> ContextView:
        """Compare with all rows."""
        return ContextView.of(self.rows, self.profile, overall.profile)

    def _scaled(self, place: Value) -> float:
        return float(np.ldexp(float(place), -self.exponent))  # type: ignore[arg-type]


Group: TypeAlias = CategoricalGroup | NumericGroup


def group_of(seen: Answer, form: Form, exponent: int) -> Group:
    """Make a group of what was counted."""
    if isinstance(seen, LabelHistogram):
        return CategoricalGroup(seen.rows, seen.labels, seen.counts)
    found = Distribution(seen.values, seen.counts, seen.lows, seen.highs)
    return NumericGroup(seen.rows, form, exponent, found)


class VerifiedGroups(Groups):
    """The rows of a stream by the conditions of a model, as far as was asked for an object."""

    def __init__(self, question: Question, answers: Answers, rows: int) -> None:
        """Take how many rows there are in all."""
        super().__init__(question.attributes, question.model)
        self.question, self.answers = question, answers
        self.rows = rows + question.is_new

    def mask(self, condition: int) -> Mask:
        """Return which of the rows that the model is made of satisfy a condition."""
        return self.model.cells.mask(condition, self.model.codes)

    def _condition(self, number: int) -> CandidateCondition:
        own, is_new = self.question.predicate(number), self.question.is_new
        column = self.attributes[self.model.cells.spans[number].attribute].column
        bounds = (math.nan, math.nan)
        if own.kind == "missing":
            condition = Condition(column.name, "missing")
        elif own.kind == "interval":
            bounds = self.answers.bounds(own)
            if is_new:
                value = self.question.numeric_places[own.column]
                bounds = min(bounds[0], value), max(bounds[1], value)
            low, high = (value_of(column.form, bound) for bound in bounds)
            condition = Condition(column.name, "interval", low=low, high=high)
        else:
            condition = Condition(column.name, "equals", value=own.label)
        rows = self.answers.count((own,)) + is_new
        test = functools.partial(self._test, number)
        return CandidateCondition(condition, rows, test, bounds)

    def group(self, attribute: Attribute, context: Context) -> Group:
        """Return a property in a context, the object included."""
        query = self.question.query(attribute, context)
        group = self.answers.group(query, attribute.column.form)
        if self.question.is_new:
            group = group.joined(attribute.place(self.question.row))
        return group

    def _view(self, attribute: Attribute, context: Context) -> ContextView:
        return self.group(attribute, context).view(self.group(attribute, ()))


class Verification(Exact):
    """The pairs of an object that are told, evaluated by what was counted of all rows."""

    groups: VerifiedGroups

    def __init__(self, groups: VerifiedGroups) -> None:
        super().__init__(groups, groups.question.row, groups.question.claims)

    @property
    def hold_object(self) -> bool:
        """Whether the object is among the rows that were counted, as it must be."""
        question = self.groups.question
        return question.is_new or all(
            self._group(place, tuple(map(self.numbers.index, claim.context))).holds(
                self.properties[place].place
            )
            for place, claim in self._found
        )

    def _group(self, place: int, context: Context) -> Group:
        numbers = tuple(self.numbers[item] for item in context)
        return self.groups.group(self.properties[place].attribute, numbers)

    def bounds(self, place: int, context: Context) -> Bounds | None:
        """Return what is left open of a property in a context; None where all is counted."""
        overall, inside = self._group(place, ()), self._group(place, context)
        if isinstance(inside, CategoricalGroup) or isinstance(overall, CategoricalGroup):
            return None
        if overall.found.is_exact:
            return None
        return inside.bounds(self.properties[place].place)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class SampledTarget(Target):
    """A target that is a row of a profile's table, behind the rows that were drawn."""

    home: Profile | None = None
    notes: tuple[str, ...] = ()


def check_rows(source: str, expected: int, rows: int, when: str) -> None:
    """Refuse a table that has become another one between two passes."""
    if rows != expected:
        raise changed(source, f"{expected:,} rows in the first pass, {rows:,} {when}")


def changed(source: str, how: str) -> SourceError:
    """Return the error about a table that changes while it is read."""
    return SourceError(
        f"{source} has changed while it was read: {how}; try again when nobody writes"
    )


#: An object, and the attributes of the table that it is a row of: a new one may see others.
Seen: TypeAlias = tuple[SampledTarget, tuple[Attribute, ...]]


class VerifyRun:
    """The rows drawn from a table, and a feeder who reads all of its rows."""

    def __init__(self, feeder: Feeder, profile: Profile, options: Options) -> None:
        self.feeder, self.profile, self.options = feeder, profile, options
        chosen = profile.known_selection
        self.prepared = Prepared.of(profile.table, options, chosen, total=profile.rows)
        self.numbering = Numbering(self.prepared.attributes)

    def model(self, threads: int = 1, progress: Progress | None = None) -> Model:
        """Return what rows are judged by, made of the rows that were drawn and judged, once."""
        self.prepared.evidence(threads, progress)
        return self.prepared.model()

    def searched(
        self, targets: Sequence[SampledTarget], workers: int, progress: Progress | None
    ) -> list[Callable[[], Searched]]:
        """Judge objects, and ask all rows in one pass about what is told of them.

        Return for each what makes its answer, in numbers of all rows.
        """
        self.model(workers, progress)
        homes = {id(item.home): item.home for item in targets if item.home is not None}
        attributes = {key: attributes_of(home) for key, home in homes.items()}
        seen = [(item, attributes[id(item.home)]) for item in targets]
        questions = list(self._questions(seen))
        plan = plan_verification(self.profile, questions)
        work = VerifyPass(plan)
        state = self.feeder.fold(work, work.columns, progress, work.affordable(workers))
        check_rows(self.feeder.source, self.profile.rows, state.rows, "in the second")
        answers = Answers(plan, work.finish(state))
        pairs = zip(targets, questions, strict=True)
        return [functools.partial(self._answer, *pair, answers) for pair in pairs]

    def _questions(self, seen: Sequence[Seen]) -> Iterator[Question]:
        """Judge all objects; return what is to be told of each."""
        known = self._judged([pair for pair in seen if self._fits(*pair)])
        for item, attributes in seen:
            model, told = self.model(), known.get(id(item))
            if told is None:  # a new object that brings other columns into play
                assert item.home is not None  # noqa: S101
                home = item.home.only(int(item.row or 0))
                own = Prepared.of(home.table, self.options, home.selection, has_new=True)
                last = np.array([own.table.rows - 1])
                model, told = own.model(), claims(own.evidence_of(last))[0]
            yield Question(model, attributes, int(item.row or 0), told, item.new is not None)

    def _judged(self, seen: Sequence[Seen]) -> dict[int, Claims]:
        """Judge objects of which the model of the rows drawn knows all columns."""
        by_home: dict[int, list[Seen]] = {}
        for pair in seen:
            by_home.setdefault(id(pair[0].home), []).append(pair)
        found: dict[int, Claims] = {}
        for pairs in by_home.values():
            columns = [own.column for own in pairs[0][1]]
            rows = np.array([item.row for item, _ in pairs])
            evidence = self.model().judged(self.numbering.of_columns(columns, rows))
            found.update(zip((id(item) for item, _ in pairs), claims(evidence), strict=True))
        return found

    def _fits(self, item: SampledTarget, new: Sequence[Attribute]) -> bool:
        """Return whether the model of the rows drawn can judge an object.

        It cannot where other columns take part, or where a new one is the first to lack a value.
        """
        own = self.prepared.attributes
        return item.new is None or (
            len(own) == len(new)
            and all(map(knows_column, own, new, itertools.repeat(int(item.row or 0))))
        )

    def _answer(self, item: SampledTarget, question: Question, answers: Answers) -> Searched:
        """Return what is told of an object, in numbers of all rows."""
        assert item.home is not None  # noqa: S101 - made by this population
        profile = self.profile
        exact = Verification(VerifiedGroups(question, answers, profile.rows))
        if not exact.hold_object:
            raise changed(self.feeder.source, "a row of the first pass is not in the second")
        table, row = item.home.table, question.row
        return Searched(
            row=None,
            key=item.key,
            values=table.values(row) if item.values is None else item.values,
            table=profile.table,
            rows=profile.rows,
            selection=item.home.selection,
            attributes=question.attributes,
            standing=question.model.standing,
            is_streamed=True,
            is_new=question.is_new,
            notes=(*profile.table.notes, *item.notes),
            outcome=exact.outcome(),
            exact=exact,
        )


def attributes_of(profile: Profile) -> tuple[Attribute, ...]:
    """Return the attributes of a table, by name."""
    chosen = profile.selection
    columns: list[Column] = sorted((*chosen.columns, *chosen.derived), key=lambda own: own.name)
    return tuple(map(attribute_of, columns))
