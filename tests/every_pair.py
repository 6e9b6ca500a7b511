"""All pairs of a row as the fast code finds them, before they are joined into stories."""

from __future__ import annotations

from typing import Any

import outlying
from outlying.results import assembly
from outlying.search.scoring import Hit
from outlying.table.targets import Target
from tests import strategies


def fast_pairs(table: strategies.Table, row: int, options: dict[str, Any]) -> list[outlying.Pair]:
    """Return them in order; of several scales of intervals the first only, as the twin does."""
    types = {
        name: "categorical"
        for name, cells in table.items()
        if any(isinstance(cell, str) for cell in cells)
    }
    explainer = outlying.Explainer(dict(table), types=types, top=10_000, references=0, **options)
    searched = explainer.in_memory("searched()").searched(Target(row=row))
    hits, _ = assembly.grouped(searched.outcome.best, searched.exact, 10_000)
    best: dict[tuple[int, ...], Hit] = {}
    for hit in hits:
        best.setdefault(searched.exact.families_of(hit.property, hit.context), hit)
    return [assembly.pair_of(hit, searched.exact, searched.values) for hit in best.values()]
