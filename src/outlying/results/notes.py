"""What a reader must know to judge a result, and how it was computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from outlying import sentences as say
from outlying.derived.calendar import CalendarDerivation
from outlying.derived.past import OwnPast
from outlying.derived.relations import Relation, summaries
from outlying.options import DEPRECATED, Options, PaperOptions
from outlying.results.stories import Story
from outlying.results.wording import Hint
from outlying.search.cells import Attribute
from outlying.search.evidence import Standing
from outlying.search.memory import Searched
from outlying.table.selection import Selection
from outlying.table.values import printable

_NAMED = 3  # relations in a note


def notes_on(searched: Searched, found: int, options: Options) -> list[str]:
    """Say what a reader must know of the findings on one object."""
    outcome, notes = searched.outcome, list[str]()
    if not outcome.best:
        notes.append(say.NOTHING_RARE)
    elif not outcome.reported and options.paper is not None:
        notes.append(say.BELOW_THRESHOLD.format(threshold=options.paper.min_outlierness))
    elif not outcome.reported:
        notes.append(say.CLOSEST_ARE_GIVEN)
    if found > options.top:
        told = say.ONLY_THE_STRONGEST_ONE if options.top == 1 else say.ONLY_THE_STRONGEST
        notes.append(told.format(count=options.top))
    unknown = dict.fromkeys(item.unknown(searched.values) for item in _origins(searched.selection))
    notes += [said for said in unknown if said]
    is_joined = searched.is_new and searched.row is None  # others are compared with a model
    return notes + ([say.NEW_ROW_JOINED] if is_joined else [])


def table_notes(searched: Searched, options: Options) -> list[str]:
    """Say what a reader must know of all rows alike."""
    notes = [] if options.paper is None else _on_paper(searched.attributes, options.paper)
    notes += [*_not_compared_by(searched, options), *panel_notes(searched.selection)]
    return notes + [
        say.WITHOUT_EFFECT.format(option=name)
        for name in DEPRECATED
        if getattr(options, name) is not None
    ]


def how_computed(searched: Searched, stories: Sequence[Story]) -> list[str]:
    """Say how the findings were computed: for those who ask for everything."""
    panels = panel_notes(searched.selection, are_guesses=False)
    parts = _derived(searched.selection), _relations(searched.selection), panels
    notes = [note for part in parts for note in part]
    notes += drawn_note(searched.standing, searched.rows)
    bound = max((story.headline.bound for story in stories), default=0.0)
    return notes + ([say.IN_BINS.format(bound=bound)] if bound else [])


def _derived(selection: Selection) -> list[str]:
    """Say what was derived, and which columns take part by their parts alone."""
    if not selection.parts:
        return []
    by_value = {column.name for column in selection.columns}
    parts: dict[str, list[str]] = {}
    for column in selection.parts:
        word = column.name.removeprefix(column.family).strip(" ()")
        parts.setdefault(printable(column.family, 40), []).append(word)
    told = [say.PARTS_OF.format(parts=", ".join(words), column=n) for n, words in parts.items()]
    notes = [say.PARTS_COMPARED.format(parts="; ".join(told))]
    alone = [column for column in selection.parts if column.family not in by_value]
    circles = dict.fromkeys(column.family for column in alone if column.form == "time")
    texts = dict.fromkeys(column.family for column in alone if column.family not in circles)
    notes += [say.ONLY_PARTS.format(columns=_named(texts))] if texts else []
    clocks = [
        item.parent
        for item in (column.origin for column in selection.parts)
        if isinstance(item, CalendarDerivation) and item.is_clock
    ]
    notes += [say.HOURS_AND_MINUTES.format(columns=_named(clocks))] if clocks else []
    return notes + ([say.ON_A_CIRCLE.format(columns=_named(circles))] if circles else [])


def _named(columns: Iterable[str]) -> str:
    return ", ".join(printable(name, 40) for name in columns)


def _relations(selection: Selection) -> list[str]:
    """Say how many relations between columns were found, and name the first."""
    found = summaries(selection)
    if not found:
        return []
    named = "; ".join(item.sentence for item in found[:_NAMED])
    more = len(found) - _NAMED
    named += say.AND_MORE.format(count=more) if more > 0 else ""
    told = say.ONE_RELATION if len(found) == 1 else say.RELATIONS
    return [told.format(count=len(found), relations=named)]


def panel_notes(selection: Selection, *, are_guesses: bool = True) -> list[str]:
    """Say in which order rows were compared with others: by default, where that was guessed."""
    panels = (item.panel for item in _origins(selection) if isinstance(item, OwnPast))
    return [*dict.fromkeys(panel.note for panel in panels if panel.is_guess == are_guesses)]


def _origins(selection: Selection) -> list[Relation]:
    origins = (column.origin for column in selection.relations)
    return [item for item in origins if isinstance(item, Relation)]


def _not_compared_by(searched: Searched, options: Options) -> list[str]:
    """Say by which columns rows could not be compared in time, though that was asked for."""
    used = {column.name for column in searched.selection.columns}
    unused = [printable(name, 40) for name in options.panel if name not in used]
    return [say.NOT_COMPARED_BY.format(column=name) for name in unused]


def hints_on(found: int, options: Options) -> list[Hint]:
    """Say which options would show more."""
    return [Hint("top", say.SHOWS_MORE)] if found > options.top else []


def _on_paper(attributes: Sequence[Attribute], options: PaperOptions) -> list[str]:
    """Say what the paper's method makes of categories, and of numbers cut into bins."""
    notes = []
    if options.measure == "paper" and any(item.kind == "labels" for item in attributes):
        notes.append(say.PAPER_CATEGORIES)
    if options.discretise is None:
        return notes
    notes.append(say.PAPER_BINS.format(bins=options.bins, kind=options.discretise))
    alone = [attribute.column.name for attribute in attributes if attribute.is_constant]
    if alone:
        notes.append(say.PAPER_ONE_BIN.format(columns=", ".join(map(repr, alone))))
    return notes


def drawn_note(standing: Standing | None, rows: int) -> list[str]:
    """Say how many rows stood for all, where it was not all of them."""
    if standing is None or len(standing.ordered) >= rows:
        return []
    return [say.DRAWN.format(drawn=len(standing.ordered), rows=rows)]
