"""All pairs that a search reports, before they become stories."""

from __future__ import annotations

import outlying
from outlying.results import assembly
from outlying.search.scoring import Hit
from outlying.table.targets import Target


def all_pairs(explainer: outlying.Explainer, row: int) -> list[outlying.Pair]:
    """Return the pairs of a row, strongest first; of several scales the strongest."""
    searched = explainer.in_memory("all_pairs()").searched(Target(row=row))
    hits, _ = assembly.grouped(searched.outcome.best, searched.exact, explainer.options.top)
    best: dict[tuple[int, ...], Hit] = {}
    for hit in hits:
        best.setdefault(searched.exact.attributes(hit.property, hit.context), hit)
    return [assembly.pair_of(hit, searched.exact) for hit in best.values()]
