"""Why our numbers differ from the paper's, in words made from what was computed."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.paper import published
from benchmarks.paper.detection import Detected
from benchmarks.paper.notation import context, percent, spread, subject
from benchmarks.paper.tables import Reproduced
from benchmarks.paper.timing import Timed
from benchmarks.paper.unif2 import Unif2


def of_pair(item: Reproduced) -> str:
    """Return why the pair of greatest outlierness is not the paper's."""
    return " ".join(_on_pair(item))


def _on_pair(item: Reproduced) -> Iterator[str]:
    said, best = item.published, item.highest
    if (best.number, best.conditions) == (said.number, said.conditions):
        yield "The same pair."
        return
    if not said.is_supported:
        yield (
            f"In the public file the paper's conditions keep {said.rows:,} of {item.claim.rows:,} "
            f"rows ({percent(said.support)}), below its own {published.SUPPORT:.0%}; the pair "
            f"scores {said.inside.paper:.3f} there."
        )
    if best.number != said.number:
        yield (
            f"By the same measure {subject(best)} scores higher ({best.inside.paper:.3f}): its "
            f"mean density is {best.inside.mean:.3g}, that of a{said.number} "
            f"{said.overall.mean:.3g}, and the measure has a unit."
        )
        yield from _on_property(item)
    else:
        yield f"The same property, exceptional in another context: {context(best)}."
    yield "The mixtures differ: the paper does not say how they start and when they stop."


def _on_property(item: Reproduced) -> Iterator[str]:
    same = item.same_property
    if same is not None:
        yield (
            f"The paper's property comes to {same.inside.paper:.3f} with {context(same)}, and to "
            f"{same.overall.paper:.3f} without conditions."
        )


def of_detection(plain: Detected, scaled: Detected) -> str:
    """Return what scaling the attributes changes; `plain` leaves them as they are."""
    best, worst = scaled.ranks
    ranks = f"rank {best}" if best == worst else f"ranks {best} to {worst}"
    if plain.times_first == scaled.times_first:
        return "The same, whether attributes are scaled or not."
    return (
        "Attributes as they are. Divided by their deviation, so that no unit decides, the object "
        f"has {ranks}; first is then {scaled.winners[0]}."
    )


def of_times(timed: Timed) -> str:
    """Return why the times differ, by the shares of both steps."""
    claim = timed.claim
    said = claim.interval_seconds / (claim.interval_seconds + claim.search_seconds)
    here = timed.paper.intervals / (timed.paper.intervals + timed.paper.search)
    return (
        f"Another machine and language. Intervals take {said:.0%} of the time there, {here:.0%} "
        "here: the search needs no single densities, as their mean is enough."
    )


def of_unif2(found: Unif2) -> str:
    """Return how our single value compares with the swings of the older method."""
    scores = found.first.binned[0].relative
    return (
        "No setting that the paper states gives its figure: by its own formula a mean density of "
        f"{found.score.mean:.2f} leads to {found.first.paper:.3f}. The contrast is the same: "
        f"bins of equal width score {spread(min(scores), max(scores))} (relative) with their "
        "number, the density has one value."
    )
