"""The options as keywords that editors know; made by scripts/make_options.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from outlying.options import (
    Bandwidth,
    Base,
    Combine,
    Discretise,
    Infinite,
    Interval,
    Measure,
    Past,
    Preset,
    Scale,
    Scales,
)


class TableKeywords(TypedDict, total=False):
    """Options of reading and comparing a table."""

    min_support: float | None
    max_conditions: int
    columns: Iterable[str] | None
    exclude: Iterable[str] | None
    properties: Iterable[str] | None
    contexts: Iterable[str] | None
    types: Mapping[str, str] | None
    id: Iterable[str] | None
    infinite: Infinite
    derive: bool
    entity: str | None
    time: str | None
    past: Past
    encoding: str | None
    sheet: str | None
    snapshot: Any
    allow_external: bool | None


class ExplainKeywords(TableKeywords, total=False):
    """Options of explanations."""

    min_confidence: float | None
    exact: bool
    references: int | None
    top: int
    preset: Preset | None
    min_outlierness: float
    measure: Measure
    bandwidth: Bandwidth
    interval: Interval
    scales: Scales
    discretise: Discretise | None
    bins: int
    seed: int | None


class DetectKeywords(TableKeywords, total=False):
    """Options of detection."""

    rounds: int
    neighbours: int
    base: Base
    radius: float | None
    combine: Combine
    scale: Scale
    seed: int
