"""What a reader must know to judge a result."""

from __future__ import annotations

from collections.abc import Sequence

from outlying.options import Options
from outlying.results.stories import Story
from outlying.search.attributes import Attribute
from outlying.search.limits import BEAM
from outlying.search.population import Searched
from outlying.search.scoring import Outcome
from outlying.search.screen.neighbours import Sample


def notes_on(
    searched: Searched, stories: Sequence[Story], found: int, options: Options
) -> list[str]:
    """Say what a reader must know to judge the result."""
    outcome, attributes, is_streamed = searched.outcome, searched.attributes, searched.is_streamed
    notes = []
    if not outcome.best:
        notes.append("Nothing stands out: in no context is any value rarer than a typical member.")
    elif not outcome.reported:
        notes.append(
            f"Nothing reaches the threshold of {options.min_outlierness:g}; "
            "the closest pair of each property is given instead."
        )
    if found > options.top or _unseen(searched):
        notes.append("Weaker findings were left out; raise top to see more of them.")
    notes += _binned(attributes, options)
    notes += _visited(outcome, len(attributes), options, is_streamed)
    notes += _sampled(outcome, searched.sample, is_streamed)
    if options.measure == "paper" and any(item.kind == "labels" for item in attributes):
        notes.append("By the paper's measure a categorical property cannot exceed 0.46.")
    bound = max((story.headline.bound for story in stories), default=0.0)
    if bound:
        notes.append(
            "Columns of very many distinct values were counted in fine bins: outlierness, "
            f"rarity, tail and lift of these pairs are within {bound:.2g} of exact."
        )
    if searched.is_new:
        notes.append("The new object joined the population as one more row.")
    return notes


def _unseen(searched: Searched) -> bool:
    """Return whether more was found than was computed exactly."""
    outcome, exact = searched.outcome, searched.exact
    seen = {exact.attributes(hit.property, hit.context) for hit in outcome.best}
    return outcome.found > len(seen)


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


def _visited(outcome: Outcome, attributes: int, options: Options, is_streamed: bool) -> list[str]:
    """Say which contexts were not all visited."""
    effort, notes = outcome.effort, []
    longest = min(options.max_conditions, attributes - 1)
    if effort is None or outcome.levels is None:
        return []
    if effort.unvisited:
        pairs = effort.unvisited / attributes
        notes.append(
            f"The table is wide: for each property about {pairs:,.0f} pairs of conditions, those "
            "least promising alone, were not visited."
        )
    if outcome.levels < longest:
        complete = 1 if effort.unvisited else outcome.levels
        conditions = "condition" if complete == 1 else "conditions"
        remedy = "" if is_streamed else ' (search="exhaustive" visits all)'
        notes.append(
            f"Contexts of up to {complete} {conditions} were all searched; longer ones, up to "
            f"{longest}, only as extensions of the {BEAM} strongest of each property{remedy}."
        )
    return notes


def _sampled(outcome: Outcome, sample: Sample, is_streamed: bool) -> list[str]:
    """Say what a sample decided, and what was verified."""
    effort, drawn = outcome.effort, len(sample.nearby)
    if effort is None or sample.is_whole:
        return []
    remedy = "" if is_streamed else " (exact=True searches all rows)"
    notes = [
        f"{effort.screened:,} pairs of context and property were screened by "
        f"{len(sample.screened):,} of the {sample.rows:,} rows, {effort.verified:,} of the "
        f"strongest were computed from all rows, {effort.dropped:,} of these dropped{remedy}."
    ]
    if drawn < sample.rows:
        notes.append(f"Intervals of numeric columns were found in {drawn:,} of the rows.")
    return notes
