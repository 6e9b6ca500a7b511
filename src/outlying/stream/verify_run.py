"""Rows of a stream judged by a model of those drawn, and what is told of them verified by a pass.

What is asked of all rows follows from the model alone, so that one pass answers for all objects.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from outlying.errors import SourceError
from outlying.options import Options
from outlying.search.attributes import Attribute, attribute_of
from outlying.search.evidence import Claims, claims
from outlying.search.memory import Prepared, knows_column
from outlying.search.model import Model
from outlying.search.population import Searched
from outlying.search.scoring import Progress
from outlying.stream.answers import Answers, Verification, VerifiedGroups
from outlying.stream.numbers import Numbering
from outlying.stream.planning import Question, plan_verification
from outlying.stream.profile import Profile
from outlying.stream.verify_pass import VerifyPass
from outlying.table.columns import Column
from outlying.table.targets import Target

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder


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

    def results(
        self, targets: Sequence[SampledTarget], workers: int, progress: Progress | None
    ) -> Results:
        """Judge objects, and ask all rows in one pass about what is told of them."""
        self.model(workers, progress)
        views = Views(self, targets)
        questions = list(views.questions())
        plan = plan_verification(self.profile, questions)
        work = VerifyPass(plan)
        state = self.feeder.fold(work, work.columns, progress, work.affordable(workers))
        check_rows(self.feeder.source, self.profile.rows, state.rows, "in the second")
        return Results(views, questions, Answers(plan, work.finish(state)))


class Views:
    """The population as each object sees it: new objects may bring other columns into play."""

    def __init__(self, run: VerifyRun, targets: Sequence[SampledTarget]) -> None:
        self.run, self.targets = run, targets
        homes = {id(item.home): item.home for item in targets if item.home is not None}
        self._attributes = {key: attributes_of(home) for key, home in homes.items()}

    def attributes(self, item: SampledTarget) -> tuple[Attribute, ...]:
        """Return the attributes of the table that an object is a row of."""
        return self._attributes[id(item.home)]

    def questions(self) -> Iterator[Question]:
        """Judge all objects; return what is to be told of each."""
        known = self._judged()
        for item in self.targets:
            attributes, row = self.attributes(item), int(item.row or 0)
            model, told = self.run.model(), known.get(id(item))
            if told is None:
                own = self._own(item)
                last = np.array([own.table.rows - 1])
                model, told = own.model(), claims(own.evidence_of(last))[0]
            yield Question(model, attributes, row, told, item.new is not None)

    def _judged(self) -> dict[int, Claims]:
        """Judge the objects of which the model of the rows drawn knows all columns."""
        by_home: dict[int, list[SampledTarget]] = {}
        for item in filter(self._fits, self.targets):
            by_home.setdefault(id(item.home), []).append(item)
        found: dict[int, Claims] = {}
        for items in by_home.values():
            columns = [own.column for own in self.attributes(items[0])]
            rows = np.array([item.row for item in items])
            evidence = self.run.model().judged(self.run.numbering.of_columns(columns, rows))
            found.update(zip(map(id, items), claims(evidence), strict=True))
        return found

    def _fits(self, item: SampledTarget) -> bool:
        """Return whether the model of the rows drawn can judge an object.

        It cannot where other columns take part, or where a new one is the first to lack a value.
        """
        if item.new is None:
            return True
        own, new = self.run.prepared.attributes, self.attributes(item)
        return len(own) == len(new) and all(
            knows_column(one, other, int(item.row or 0))
            for one, other in zip(own, new, strict=True)
        )

    def _own(self, item: SampledTarget) -> Prepared:
        """Return a table of the rows drawn and a new object, made ready to be judged."""
        assert item.home is not None  # noqa: S101 - of a new object
        home = item.home.only(int(item.row or 0))
        return Prepared.of(home.table, self.run.options, home.selection, has_new=True)


def attributes_of(profile: Profile) -> tuple[Attribute, ...]:
    """Return the attributes of a table, by name."""
    chosen = profile.selection
    columns: list[Column] = sorted((*chosen.columns, *chosen.derived), key=lambda own: own.name)
    return tuple(map(attribute_of, columns))


class Results:
    """What was found, object by object, by what all rows have answered."""

    def __init__(self, views: Views, questions: Sequence[Question], answers: Answers) -> None:
        self.views, self.run, self.answers = views, views.run, answers
        self._questions = {
            id(item): question for item, question in zip(views.targets, questions, strict=True)
        }

    def searched(self, item: Target) -> Searched:
        """Return what is told of an object, in numbers of all rows."""
        assert isinstance(item, SampledTarget)  # noqa: S101 - made by this population
        assert item.home is not None  # noqa: S101
        question, profile = self._questions[id(item)], self.run.profile
        exact = Verification(VerifiedGroups(question, self.answers, profile.rows))
        if not exact.hold_object:
            source = self.run.feeder.source
            raise changed(source, "a row of the first pass is not in the second")
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
