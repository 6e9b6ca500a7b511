"""All pairs of a row as the fast code finds them, before they are joined into stories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import outlying
from outlying.results import assembly
from outlying.search.evaluation import Hit
from outlying.table.targets import Targets
from tests import strategies


def _type_of(cells: Sequence[Any]) -> str:
    is_label = any(isinstance(cell, (str, bool)) for cell in cells)
    return "categorical" if is_label else "numeric"


def fast_pairs(table: strategies.Table, row: int, options: dict[str, Any]) -> list[outlying.Pair]:
    """Return them in order; of several scales of intervals the first only, as the twin does."""
    types = {name: _type_of(cells) for name, cells in table.items()}  # so that copies stay
    explainer = outlying.Explainer(dict(table), types=types, top=10_000, **options)
    targets = Targets.of_rows([row])
    each = explainer.in_memory("searching()").searching(targets, 1, None)
    searched = next(each(lambda found: found))
    hits, _ = assembly.grouped(searched.outcome.best, searched.exact, 10_000)
    best: dict[tuple[int, ...], Hit] = {}
    for hit in hits:
        best.setdefault(searched.exact.families_of(hit.property, hit.context), hit)
    is_finding = bool(searched.outcome.reported)
    return [
        assembly.pair_of(hit, searched.exact, searched.values, is_finding=is_finding)
        for hit in best.values()
    ]
