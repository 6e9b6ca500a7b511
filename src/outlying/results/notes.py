"""What a reader must know to judge a result."""

from __future__ import annotations

from collections.abc import Sequence

from outlying.options import Options
from outlying.results.stories import Story
from outlying.results.terms import Hint
from outlying.search.attributes import Attribute
from outlying.search.population import Searched
from outlying.search.scoring import Outcome
from outlying.search.screen.neighbours import Sample
from outlying.table.selection import Selection
from outlying.table.values import printable


def notes_on(
    searched: Searched, stories: Sequence[Story], found: int, options: Options
) -> list[str]:
    """Say what a reader must know to judge the result."""
    outcome, attributes = searched.outcome, searched.attributes
    notes = []
    if not outcome.best:
        notes.append("In no context is any value rarer than a typical one.")
    elif not outcome.reported:
        notes.append(
            f"Nothing reaches the threshold of {options.min_outlierness:g}; "
            "what comes closest is given instead."
        )
    if found > options.top or searched.outcome.is_cut:
        given = "finding is" if options.top == 1 else f"{options.top:,} findings are"
        notes.append(f"Only the strongest {given} given.")
    notes += _derived(searched.selection)
    notes += _binned(attributes, options)
    notes += _visited(outcome, attributes, options)
    notes += _sampled(outcome, searched.sample)
    if options.measure == "paper" and any(item.kind == "labels" for item in attributes):
        notes.append("By the paper's measure a categorical property cannot exceed 0.46.")
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
    if not selection.derived:
        return []
    by_value = {column.name for column in selection.columns}
    parts: dict[str, list[str]] = {}
    for column in selection.derived:
        word = column.name.removeprefix(column.family).strip(" ()")
        parts.setdefault(printable(column.family, 40), []).append(word)
    told = "; ".join(f"{name} ({', '.join(words)})" for name, words in parts.items())
    notes = [f"Parts of columns were compared, too: {told}."]
    alone = [column for column in selection.derived if column.family not in by_value]
    circles = dict.fromkeys(column.family for column in alone if column.form == "time")
    texts = dict.fromkeys(column.family for column in alone if column.family not in circles)
    if texts:
        named = ", ".join(printable(name, 40) for name in texts)
        notes.append(f"Of {named} only parts were compared: the texts themselves are too many.")
    if circles:
        named = ", ".join(printable(name, 40) for name in circles)
        notes.append(f"Times of {named} were compared on a circle: 23:50 is near 00:10.")
    return notes


def hints_on(searched: Searched, found: int, options: Options) -> list[Hint]:
    """Say which options would show or search more."""
    outcome, hints = searched.outcome, []
    if found > options.top or searched.outcome.is_cut:
        hints.append(Hint("top", "shows more findings"))
    if outcome.effort is None or searched.is_streamed:
        return hints
    if outcome.levels is not None and outcome.levels < _longest(searched.attributes, options):
        hints.append(Hint("search", "visits all contexts, which takes long", "exhaustive"))
    if not searched.sample.is_whole:
        hints.append(Hint("exact", "searches all rows", True))
    return hints


def _longest(attributes: Sequence[Attribute], options: Options) -> int:
    """Return how many conditions a context may have."""
    return min(options.max_conditions, len(attributes) - 1)


def _binned(attributes: Sequence[Attribute], options: Options) -> list[str]:
    """Say that numbers were cut into bins, and which columns are left without a difference."""
    if options.discretise is None:
        return []
    notes = [
        f"Numbers were cut into {options.bins} {options.discretise} bins: the older method, for "
        "comparison; its scores change with the number of bins."
    ]
    alone = [attribute.column.name for attribute in attributes if attribute.is_constant]
    if alone:
        notes.append(
            "All values fell into one bin, which leaves nothing to compare, of: "
            + ", ".join(map(repr, alone))
        )
    return notes


def _visited(outcome: Outcome, attributes: Sequence[Attribute], options: Options) -> list[str]:
    """Say which contexts were not all visited."""
    effort, notes = outcome.effort, []
    longest = _longest(attributes, options)
    if effort is None or outcome.levels is None:
        return []
    if effort.unvisited:
        pairs = effort.unvisited / len(attributes)
        notes.append(
            f"The table is wide: for each property about {pairs:,.0f} pairs of conditions, those "
            "least promising alone, were not visited."
        )
    if outcome.levels < longest:
        complete = 1 if effort.unvisited else outcome.levels
        conditions = "condition" if complete == 1 else "conditions"
        notes.append(
            f"Contexts of up to {complete} {conditions} were all searched; longer ones, up to "
            f"{longest}, only where a part of them was promising."
        )
    return notes


def _sampled(outcome: Outcome, sample: Sample) -> list[str]:
    """Say what a sample decided, and what was verified."""
    effort, drawn = outcome.effort, len(sample.nearby)
    if effort is None or sample.is_whole:
        return []
    verified, dropped = (
        "1 was" if count == 1 else f"{count:,} were" for count in (effort.verified, effort.dropped)
    )
    notes = [
        f"{effort.screened:,} pairs of context and property were screened by "
        f"{len(sample.screened):,} of the {sample.rows:,} rows; {verified} then computed from all "
        f"rows, and {dropped} dropped."
    ]
    if drawn < sample.rows:
        notes.append(f"Intervals of numeric columns were found in {drawn:,} of the rows.")
    return notes
