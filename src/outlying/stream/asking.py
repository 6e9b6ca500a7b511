"""The second half of the way: what the search in a sample asks of all rows, and their answers.

What is asked follows from the sample alone, so that one pass answers for all objects and for the
ordinary rows they are compared with.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from outlying.errors import SourceError
from outlying.options import Options
from outlying.search.batches import batches, most_at_once
from outlying.search.guided import shortlisted_together
from outlying.search.memory import row_hashes
from outlying.search.population import Searched
from outlying.search.prepared import Counted, Prepared, strongest_of
from outlying.search.references import References, Strongest, enough_rows
from outlying.search.scoring import Evaluation, Progress
from outlying.search.shortlist import Shortlist
from outlying.search.verification import verified
from outlying.stream.profile.profile import Profile
from outlying.stream.verify.answers import Answers, VerifiedCounts, VerifiedEvaluation
from outlying.stream.verify.planning import plan_verification
from outlying.stream.verify.questions import Question
from outlying.stream.verify.verify_pass import VerifyPass
from outlying.table.targets import Target

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Placed(Target):
    """A target that is a row of a profile's table, behind the rows that were drawn.

    Without a home of its own it is one of the rows drawn: an ordinary row to compare with.
    """

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


class Asking:
    """A sample of a table, and a feeder who reads all of its rows."""

    def __init__(self, feeder: Feeder, profile: Profile, options: Options) -> None:
        self.feeder, self.profile, self.options = feeder, profile, options

    @functools.cached_property
    def prepared(self) -> Prepared:
        """The rows that were drawn, made ready to be searched."""
        return self.prepared_with(self.profile, self.profile.rows)

    def prepared_with(self, home: Profile, rows: int) -> Prepared:
        """Make the rows drawn ready to be searched, with further rows behind them."""
        drawn = np.arange(home.drawn)
        return Prepared.by(home.table, rows, self.options, home.selection, drawn)

    @property
    def references(self) -> int:
        """How many rows to compare with."""
        return enough_rows(len(self.prepared.attributes), True, self.options)

    def ordinary(self) -> list[Placed]:
        """Return the rows to compare with, and one more, as an object may be among them."""
        return [Placed(row=row) for row in range(min(self.references + 1, self.profile.drawn))]

    def answered(
        self, targets: Sequence[Placed], workers: int, progress: Progress | None
    ) -> AllAnswered:
        """Search the sample for what to ask, and ask all rows in one pass."""
        homes = Homes(self, targets)
        questions = []
        for place, short in enumerate(homes.shortlists(workers)):
            is_new = targets[place].new is not None
            questions.append(Question(homes.evaluation(place), short, is_new))
            if progress is not None:
                progress(place + 1, len(targets))
        return AllAnswered(homes, questions, self._ask(questions, workers, progress))

    def _ask(
        self, questions: Sequence[Question], workers: int, progress: Progress | None
    ) -> Answers:
        plan = plan_verification(self.profile, questions)
        work = VerifyPass(plan)
        state = self.feeder.fold(work, work.columns, progress, work.affordable(workers))
        check_rows(self.feeder.source, self.profile.rows, state.rows, "in the second")
        return Answers(plan, work.finish(state))


class Homes:
    """The population as each object sees it: new objects may bring other columns into play.

    Objects are known by their places, so that other processes need no copies of them.
    """

    def __init__(self, asking: Asking, targets: Sequence[Placed]) -> None:
        self.asking, self.targets = asking, targets
        prepared: dict[int, Prepared] = {}
        for item in targets:
            if item.home is not None and id(item.home) not in prepared:
                rows = asking.profile.rows + (item.new is not None)
                prepared[id(item.home)] = asking.prepared_with(item.home, rows)
        self.prepared = [prepared.get(id(item.home), asking.prepared) for item in targets]

    def evaluation(self, place: int) -> Evaluation:
        """Return the properties and conditions of an object, to be scored by whoever counts."""
        prepared = self.prepared[place]
        properties, conditions = prepared.asked_of(int(self.targets[place].row or 0))
        return Evaluation(properties, conditions, prepared.rows, self.asking.options)

    def shortlists(self, threads: int) -> Iterator[Shortlist]:
        """Find by the sample what to ask of all rows; of ordinary rows, quickly.

        Objects that see the same population are screened together.
        """
        for (_, quick), places in itertools.groupby(
            range(len(self.targets)),
            lambda place: (id(self.prepared[place]), self._is_quick(place)),
        ):
            numbers = list(places)
            prepared = self.prepared[numbers[0]]
            top = 1 if quick else self.asking.options.top
            for some in batches(numbers, most_at_once(len(prepared.attributes))):
                found = [self.evaluation(place) for place in some]
                yield from shortlisted_together(
                    found, prepared.cache, top, quick=quick, threads=threads
                )

    def _is_quick(self, place: int) -> bool:
        return self.targets[place].home is None


class AllAnswered:
    """What all rows have answered, object by object."""

    def __init__(self, homes: Homes, questions: Sequence[Question], answers: Answers) -> None:
        self.homes, self.asking, self.answers = homes, homes.asking, answers
        self.questions = questions
        self._places = {id(item): place for place, item in enumerate(homes.targets)}

    def references(self, ordinary: Sequence[Placed]) -> References:
        """Return the strengths of ordinary rows: estimated, but for counts of all rows."""
        found = [self._strongest(self.questions[self._places[id(item)]]) for item in ordinary]
        rows = np.array([item.row for item in ordinary], dtype=np.int64)
        count = min(self.asking.references, len(found))
        prepared = self.asking.prepared
        hashes = row_hashes(prepared, rows)
        return References(tuple(found), tuple(hashes), count, prepared.families)

    def _strongest(self, question: Question) -> Strongest:
        exact = VerifiedEvaluation(question, self.answers)
        counted = Counted(exact, question.short, VerifiedCounts(question, self.answers))
        return strongest_of(verified(question.short, counted, 1))

    def searched(self, item: Target) -> Searched:
        """Choose among the pairs of an object by what all rows have answered."""
        assert isinstance(item, Placed)  # noqa: S101 - made by this population
        place = self._places[id(item)]
        question, prepared = self.questions[place], self.homes.prepared[place]
        exact, is_new, row = (
            VerifiedEvaluation(question, self.answers),
            item.new is not None,
            int(item.row or 0),
        )
        source, profile = self.asking.feeder.source, self.asking.profile
        if not exact.hold_object:
            raise changed(source, "a row of the first pass is not in the second")
        return Searched(
            row=None,
            key=item.key,
            values=prepared.table.values(row) if item.values is None else item.values,
            row_hash=None if is_new else row_hashes(prepared, np.array([row]))[0],
            table=profile.table,
            rows=profile.rows,
            selection=prepared.selection,
            attributes=prepared.attributes,
            sample=prepared.sample,
            is_streamed=True,
            is_new=is_new,
            notes=(*profile.table.notes, *item.notes),
            outcome=verified(question.short, exact, self.asking.options.top),
            exact=exact,
        )
