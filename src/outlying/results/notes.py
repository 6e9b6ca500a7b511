"""What a reader must know to judge a result."""

from __future__ import annotations

from collections.abc import Sequence

from outlying.derived.past import OwnPast
from outlying.derived.relations import Relation, summaries
from outlying.options import DEPRECATED, Options, PaperOptions
from outlying.results.stories import Story
from outlying.results.wording import Hint
from outlying.search.attributes import Attribute
from outlying.search.population import Searched
from outlying.search.standing import Standing
from outlying.table.selection import Selection
from outlying.table.values import printable

_NAMED = 3  # relations in a note


def notes_on(
    searched: Searched, stories: Sequence[Story], found: int, options: Options
) -> list[str]:
    """Say what a reader must know to judge the result."""
    outcome, attributes = searched.outcome, searched.attributes
    notes = []
    if not outcome.best:
        notes.append("In no context is any value rarer than a typical one.")
    elif not outcome.reported:
        why = "Nothing in this row is odd"
        if options.paper is not None:
            why = f"Nothing reaches the threshold of {options.paper.min_outlierness:g}"
        notes.append(f"{why}; what comes closest is given instead.")
    if found > options.top:
        given = "finding is" if options.top == 1 else f"{options.top:,} findings are"
        notes.append(f"Only the strongest {given} given.")
    notes += _derived(searched.selection)
    notes += _relations(searched.selection)
    notes += _own_past(searched, options)
    if options.paper is not None:
        notes += _on_paper(attributes, options.paper)
    notes += drawn_note(searched.standing, searched.rows)
    notes += _without_effect(options)
    bound = max((story.headline.bound for story in stories), default=0.0)
    if bound:
        notes.append(
            "Columns of very many distinct values were counted in fine bins: outlierness, "
            f"rarity, tail and lift are within {bound:.2g} of exact."
        )
    if searched.is_new:
        notes.append("The new object joined the population as one more row.")
    return notes


def _derived(selection: Selection) -> list[str]:
    """Say what was derived, and which columns take part by their parts alone."""
    if not selection.parts:
        return []
    by_value = {column.name for column in selection.columns}
    parts: dict[str, list[str]] = {}
    for column in selection.parts:
        word = column.name.removeprefix(column.family).strip(" ()")
        parts.setdefault(printable(column.family, 40), []).append(word)
    told = "; ".join(f"{name} ({', '.join(words)})" for name, words in parts.items())
    notes = [f"Parts of columns were compared, too: {told}."]
    alone = [column for column in selection.parts if column.family not in by_value]
    circles = dict.fromkeys(column.family for column in alone if column.form == "time")
    texts = dict.fromkeys(column.family for column in alone if column.family not in circles)
    if texts:
        named = ", ".join(printable(name, 40) for name in texts)
        notes.append(f"Of {named} only parts were compared: the texts themselves are too many.")
    if circles:
        named = ", ".join(printable(name, 40) for name in circles)
        notes.append(f"Times of {named} were compared on a circle: 23:50 is near 00:10.")
    return notes


def _relations(selection: Selection) -> list[str]:
    """Say how many relations between columns were found, and name the first."""
    found = summaries(selection)
    if not found:
        return []
    count = "One relation" if len(found) == 1 else f"{len(found):,} relations"
    named = "; ".join(item.sentence for item in found[:_NAMED])
    more = f"; and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    were = "was" if len(found) == 1 else "were"
    return [f"{count} between columns {were} found, and compared: {named}{more}."]


def _own_past(searched: Searched, options: Options) -> list[str]:
    """Say whether rows were compared in time, and of what too little is known."""
    origins = [column.origin for column in searched.selection.relations]
    found = [item for item in origins if isinstance(item, Relation)]
    notes = list(dict.fromkeys(item.panel.note for item in found if isinstance(item, OwnPast)))
    unknown = dict.fromkeys(item.unknown(searched.values) for item in found)
    notes += [f"{said[0].upper()}{said[1:]}." for said in unknown if said]
    used = {column.name for column in searched.selection.columns}
    notes += [
        f"{printable(name, 40)} is named as entity or time, but takes no part: rows were not "
        "compared by it."
        for name in options.panel
        if name not in used
    ]
    return notes


def hints_on(found: int, options: Options) -> list[Hint]:
    """Say which options would show more."""
    return [Hint("top", "shows more findings")] if found > options.top else []


def _on_paper(attributes: Sequence[Attribute], options: PaperOptions) -> list[str]:
    """Say what the paper's method makes of categories, and of numbers cut into bins."""
    notes = []
    if options.measure == "paper" and any(item.kind == "labels" for item in attributes):
        notes.append("By the paper's measure a categorical property cannot exceed 0.46.")
    if options.discretise is None:
        return notes
    notes.append(
        f"Numbers were cut into {options.bins} {options.discretise} bins: the older method, for "
        "comparison; its scores change with the number of bins."
    )
    alone = [attribute.column.name for attribute in attributes if attribute.is_constant]
    if alone:
        notes.append(
            "All values fell into one bin, which leaves nothing to compare, of: "
            + ", ".join(map(repr, alone))
        )
    return notes


def drawn_note(standing: Standing | None, rows: int) -> list[str]:
    """Say how many rows stood for all, where it was not all of them."""
    if standing is None or len(standing.ordered) >= rows:
        return []
    return [
        f"What is odd was judged by {len(standing.ordered):,} of the {rows:,} rows, drawn "
        "by what they hold; the numbers of a finding are those of all rows."
    ]


def _without_effect(options: Options) -> list[str]:
    """Say which options that were given do nothing any more."""
    return [
        f"The option {name} has no effect any more: a finding is compared with those of all rows."
        for name in DEPRECATED
        if getattr(options, name) is not None
    ]
