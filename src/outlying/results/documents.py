"""Many objects as one JSON document, with what they have in common (docs/json.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from outlying.options import Options
from outlying.results.detections import Detection, Flagged
from outlying.results.findings import Findings, Population, entry, heading
from outlying.results.patterns import Patterns

#: What a heading says of columns.
_COLUMNS = ("columns", "skipped_columns", "derived_columns")


def entry_beside(
    findings: Findings, population: Population, flagged: Flagged | None = None
) -> dict[str, Any]:
    """Return one object, with its own columns where a new object brings other ones into play.

    Where it was detected, what is known of it from there stands beside.
    """
    content = entry(findings)
    if findings.population != population:
        own = heading(findings.population, findings.options)
        content |= {name: own[name] for name in _COLUMNS}
    return content if flagged is None else content | {"detection": flagged.summary()}


def document(
    population: Population,
    options: Options,
    entries: Iterable[dict[str, Any]],
    detection: Detection | None = None,
) -> dict[str, Any]:
    """Return the document on many objects; with a detection, what has found them."""
    patterns, objects = Patterns(), []
    for content in entries:
        patterns.add(content)
        objects.append(content)
    told = [item.to_dict() for item in patterns.told()]
    whole = heading(population, options)
    whole |= {} if detection is None else {"detection": detection.summary()}
    return whole | {"objects": objects, "patterns": told}
