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


class ExplainKeywords(TypedDict, total=False):
    """Options of explanations."""

    min_support: float | None
    min_confidence: float | None
    max_conditions: int
    exact: bool
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
    encoding: str | None
    sheet: str | None
    snapshot: Any
    allow_external: bool | None


class DetectKeywords(TypedDict, total=False):
    """Options of detection."""

    rounds: int
    neighbours: int
    base: Base
    radius: float | None
    combine: Combine
    scale: Scale
    seed: int
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
    min_support: float | None
    max_conditions: int
    encoding: str | None
    sheet: str | None
    snapshot: Any
    allow_external: bool | None
