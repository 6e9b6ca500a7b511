"""Rows of a table that outgrows memory, explained: a pass, a search among a sample, another pass.

The search is that of tables in memory, by the rows that the first pass has drawn. What it asks of
all rows, for all objects and for the ordinary rows they are compared with, the second pass answers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from outlying.errors import SourceError
from outlying.options import Options
from outlying.parallel import in_order
from outlying.results.assembly import best_pairs
from outlying.results.findings import Findings, Pair, Population
from outlying.results.notes import JOINED, notes_on
from outlying.search.guided import shortlisted
from outlying.search.objects import Premise, Trait
from outlying.search.prepared import Counted, Prepared, strength_of
from outlying.search.references import References, Yardstick, enough_rows
from outlying.search.scoring import Evaluation, Outcome, Progress
from outlying.search.shortlist import Shortlist, settled
from outlying.stream.counting.choice import codings
from outlying.stream.profile.profile import Profile
from outlying.stream.verify.answers import Answered, Answers, Counting
from outlying.stream.verify.questions import Question
from outlying.stream.verify.verify_pass import VerifyPass, VerifyPlan
from outlying.table.values import Value

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder


@dataclasses.dataclass(frozen=True, slots=True)
class Named:
    """An object: its row in the table of a profile, and the values that name it in the source."""

    row: int
    key: tuple[tuple[str, Value], ...] = ()
    home: Profile | None = None  # of a new object, which is not in the source
    notes: tuple[str, ...] = ()

    @property
    def is_new(self) -> bool:
        """Whether it is no row of the source."""
        return self.home is not None


class Streamed:
    """A population of which the rows that were drawn, and the objects, are known."""

    def __init__(self, feeder: Feeder, profile: Profile, options: Options) -> None:
        self.feeder, self.profile, self.options = feeder, profile, options
        self.ready = self._prepared(profile, profile.rows)
        self._homes: dict[int, Prepared] = {}

    def _prepared(self, profile: Profile, rows: int) -> Prepared:
        drawn = np.arange(profile.drawn)
        return Prepared.by(profile.table, rows, self.options, profile.selection, drawn)

    def _ready_for(self, item: Named) -> Prepared:
        """Return the population as an object sees it."""
        if item.home is None:
            return self.ready
        if id(item.home) not in self._homes:
            self._homes[id(item.home)] = self._prepared(item.home, self.profile.rows + 1)
        return self._homes[id(item.home)]

    def explained(
        self, objects: Sequence[Named], workers: int, progress: Progress | None
    ) -> list[Findings]:
        """Explain objects in one pass over all rows."""
        asked, compared = self._asked(objects, workers, progress)
        answers = self._answers((*asked, *compared), progress)
        yardstick = self._references(compared, answers)
        found = zip(objects, asked, strict=True)
        return [self._findings(item, question, answers, yardstick) for item, question in found]

    def _asked(
        self, objects: Sequence[Named], workers: int, progress: Progress | None
    ) -> tuple[list[Question], list[Question]]:
        """Search the sample for what to ask, of objects and of ordinary rows."""
        items = [*((item, False) for item in objects), *((row, True) for row in self._ordinary())]
        found = []
        for done, short in enumerate(in_order(self._shortlist, items, workers), start=1):
            item = items[done - 1][0]
            found.append(Question(self._evaluation(item), short, item.is_new))
            if progress is not None:
                progress(done, len(items))
        return found[: len(objects)], found[len(objects) :]

    def _ordinary(self) -> list[Named]:
        """Return the rows to compare with, and one more, as an object may be among them."""
        count = enough_rows(len(self.ready.attributes), True, self.options)
        return [Named(row) for row in range(min(count + 1, self.profile.drawn))] if count else []

    def _shortlist(self, item: tuple[Named, bool]) -> Shortlist:
        named, is_hasty = item
        evaluation = self._evaluation(named)
        if is_hasty:
            return self.ready.hasty(evaluation)
        return shortlisted(evaluation, self._ready_for(named).shelf, self.options.top)

    def _evaluation(self, item: Named) -> Evaluation[Trait, Premise]:
        traits, premises = self._ready_for(item).asked_of(item.row)
        return Evaluation(traits, premises, self.profile.rows + item.is_new, self.options)

    def _answers(self, questions: Iterable[Question], progress: Progress | None) -> Answers:
        """Ask all rows."""
        some = list(questions)
        looks = tuple(dict.fromkeys(look for question in some for look in question.looks()))
        counts = tuple(dict.fromkeys(rules for question in some for rules in question.counts()))
        plan = VerifyPlan(codings(self.profile, looks, counts, some), looks, counts)
        work = VerifyPass(plan)
        state = self.feeder.fold(work, work.columns, progress)
        if state.rows != self.profile.rows:
            raise self._changed(
                f"{self.profile.rows:,} rows in the first pass, {state.rows:,} in the second"
            )
        largest = {
            name: max(map(abs, self.profile.ends(name)))
            for name, column in plan.columns.items()
            if column.coding is not None
        }
        return Answers(plan, work.finish(state), largest)

    def _changed(self, how: str) -> SourceError:
        return SourceError(
            f"{self.feeder.source} has changed while it was read: {how}; try again when nobody "
            "writes"
        )

    def _references(self, compared: Sequence[Question], answers: Answers) -> References | None:
        """Return the strengths of ordinary rows."""
        if not compared:
            return None
        found = {
            row: strength_of(
                settled(
                    question.short,
                    Counted(question.asked, question.short, Counting(question, answers)),
                    1,
                )
            )
            for row, question in enumerate(compared)
        }
        count = min(enough_rows(len(self.ready.attributes), True, self.options), len(found))
        return References.known(found, count, self._copies)

    def _copies(self, row: int, rows: Sequence[int]) -> list[int]:
        """Return those of some rows that hold the same values as a row."""
        places = np.array(rows, dtype=np.int64)
        for column in self.ready.selection.columns:
            places = places[column.same(row, places)]
        return [int(place) for place in places]

    def _findings(
        self, item: Named, question: Question, answers: Answers, references: References | None
    ) -> Findings:
        exact = Answered(question, answers)
        if not exact.hold_object:
            raise self._changed("a row of the first pass is not in the second")
        outcome = settled(question.short, exact, self.options.top)
        pairs = best_pairs(outcome.best, exact, self.options.top)
        found = Findings(
            row=None,
            key=item.key,
            values=tuple(self._values(item).items()),
            population=self._population(item),
            options=self.options,
            pairs=tuple(pairs),
            found=outcome.found,
            notes=tuple(self._notes(item, outcome, pairs)),
            effort=outcome.effort,
        )
        own = None if item.is_new else item.row
        return found.compared_by(None if references is None else Yardstick(references, own))

    def _values(self, item: Named) -> dict[str, Value]:
        if item.home is not None:
            return item.home.table.values(item.row)
        return self.profile.values(item.row - self.profile.drawn)

    def _population(self, item: Named) -> Population:
        selection = self._ready_for(item).selection
        names = tuple(column.name for column in selection.columns)
        source, library = self.feeder.source, self.feeder.frame_library
        return Population(source, self.profile.rows, names, selection.skipped, library)

    def _notes(self, item: Named, outcome: Outcome, pairs: Sequence[Pair]) -> Iterator[str]:
        bound = max((pair.bound for pair in pairs), default=0.0)
        ready = self._ready_for(item)
        yield from (*self.profile.table.notes, *item.notes)
        sample = ready.shelf.sample
        yield from notes_on(outcome, ready.attributes, sample, self.options, is_streamed=True)
        if bound:
            yield (
                "Columns of very many distinct values were counted in fine bins: outlierness, "
                f"rarity, tail and lift of these pairs are within {bound:.2g} of exact."
            )
        if item.is_new:
            yield JOINED
