"""Ecoli, Yeast and Cloud: natural intervals and pairs, by the paper's options and by ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np

from benchmarks.paper import published
from benchmarks.paper.density_score import DensityScore
from benchmarks.paper.published import CLAIMS, Bound, Claim
from outlying import sources
from outlying.api import Explainer
from outlying.errors import SourceError
from outlying.method.density import parzen
from outlying.method.intervals import segments
from outlying.options import Discretise, Interval, PaperOptions
from outlying.reference.formulas import natural_intervals
from outlying.results.stories import Pair
from outlying.search.cells import NumericAttribute
from outlying.table.columns import Mask
from outlying.table.table import Condition, Table

Numbers: TypeAlias = tuple[int, tuple[int, ...]]  # of the property and its conditions

_SHOWN = 3  # pairs of each search
_BINS = (5, 10, 20)


@dataclasses.dataclass(frozen=True, slots=True)
class NaturalInterval:
    """The natural interval that holds the object's value; no ends where there is none."""

    number: int
    name: str
    value: float
    segments: int
    span: tuple[float, float] | None  # the whole component, as in the paper
    run: tuple[float, float] | None  # neighbouring values of it
    support: float  # of the span; 1 without


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ScoredPair:
    """A property in a context, with its densities there and over the whole table."""

    number: int
    name: str
    value: float
    conditions: tuple[tuple[str, Bound], ...]
    rows: int
    support: float
    inside: DensityScore
    overall: DensityScore
    as_strong: int | None = None  # other rows with a finding as strong

    @property
    def is_supported(self) -> bool:
        """Whether it keeps as many rows as the paper asks for."""
        return self.support >= published.SUPPORT - 1e-9


@dataclasses.dataclass(frozen=True, slots=True)
class BinnedPair:
    """The strongest pair of the older method, by its attributes' numbers."""

    kind: Discretise
    bins: int
    property: int
    value: str  # the object's bin
    conditions: tuple[int, ...]
    relative: float


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Reproduced:
    """One table of the paper, explained again."""

    claim: Claim
    naturals: tuple[NaturalInterval, ...]
    published: ScoredPair  # the paper's own pair, computed from the public file
    highest: ScoredPair  # the pair of greatest outlierness by the paper's options
    same_property: ScoredPair | None  # the best pair with the property that the paper names
    minimal: tuple[ScoredPair, ...]  # minimal pairs that reach 0.9 by the paper's options
    found: int  # how many of these there are
    defaults: tuple[ScoredPair, ...]  # by our options
    starts: tuple[Numbers, ...]  # the highest pairs with the paper's random start, one a seed
    older: tuple[BinnedPair, ...]


def check_files(folder: Path) -> None:
    """Raise SourceError where a file is missing, before any work is done."""
    for claim in CLAIMS:
        if not (folder / claim.file).is_file():
            names = ", ".join(item.file for item in CLAIMS)
            raise SourceError(
                f"{folder / claim.file} does not exist; needed there are the paper's tables as "
                f"{names}, each with a header and one object per line"
            )


def load(folder: Path, claim: Claim) -> Table:
    """Return the numeric columns of a table; SourceError where it is not the paper's."""
    table = sources.read(folder / claim.file)
    columns = tuple(column for column in table.columns if column.is_numeric)
    if (table.rows, len(columns)) != (claim.rows, claim.attributes):
        raise SourceError(
            f"{folder / claim.file} has {table.rows:,} rows and {len(columns)} numeric columns; "
            f"the paper's {claim.name} has {claim.rows:,} and {claim.attributes}"
        )
    for column in columns:
        if not np.isfinite(column.values).all() or np.ptp(column.values) == 0:
            raise SourceError(
                f"{folder / claim.file}: column {column.name!r} has gaps, infinite values or one "
                f"value only; the paper's {claim.name} has no such column"
            )
    return dataclasses.replace(table, columns=columns)


def reproduced(table: Table, claim: Claim, seeds: int) -> Reproduced:
    """Return what is found on the paper's object, by the paper's options and by ours."""
    pairs = _ObjectPairs(table, claim.object - 1)
    exact = _highest(table, pairs.row)
    minimal = _pairs(table, pairs.row, preset="paper")
    wanted = table.columns[claim.property - 1].name
    same = next((pair for pair in (*exact, *minimal) if pair.property == wanted), None)
    return Reproduced(
        claim=claim,
        naturals=tuple(pairs.naturals()),
        published=pairs.published(claim),
        highest=pairs.scored(exact[0]),
        same_property=None if same is None else pairs.scored(same),
        minimal=tuple(map(pairs.scored, minimal[:_SHOWN])),
        found=len(minimal),
        defaults=tuple(map(pairs.scored, _pairs(table, pairs.row, top=_SHOWN))),
        starts=tuple(pairs.start(seed) for seed in range(seeds)),
        older=tuple(pairs.older(kind, bins) for kind in get_args(Discretise) for bins in _BINS),
    )


def _highest(table: Table, row: int, seed: int | None = None) -> tuple[Pair, ...]:
    """Return the best pair of each property: hardly any reaches 1, so that all are compared."""
    return _pairs(table, row, preset="paper", min_outlierness=1.0, seed=seed)


def _pairs(table: Table, row: int, top: int = 1000, **options: Any) -> tuple[Pair, ...]:
    return Explainer(table, top=top, **options).explain(row=row).pairs


class _ObjectPairs:
    """The attributes of a table, and pairs of its object scored by their densities."""

    def __init__(self, table: Table, row: int) -> None:
        self.table, self.row = table, row
        numeric = (column for column in table.columns if column.is_numeric)
        self.attributes = tuple(NumericAttribute(column) for column in numeric)
        self.numbers = {name: place for place, name in enumerate(table.names, start=1)}

    def naturals(self) -> Iterator[NaturalInterval]:
        """Yield the natural interval of each attribute."""
        for number, attribute in enumerate(self.attributes, start=1):
            span, run = self._interval(attribute, "span"), self._interval(attribute, "run")
            within = (-np.inf, np.inf) if span is None else span
            values = attribute.rescaled()
            rows = int(np.count_nonzero((values >= within[0]) & (values <= within[1])))
            yield NaturalInterval(
                number=number,
                name=attribute.column.name,
                value=float(attribute.column.values[self.row]),
                segments=len(segments(attribute.sorted)),
                span=_unscaled(attribute, span),
                run=_unscaled(attribute, run),
                support=rows / self.table.rows,
            )

    def _interval(self, attribute: NumericAttribute, kind: Interval) -> tuple[float, float] | None:
        options = PaperOptions(interval=kind)
        found, value = segments(attribute.sorted), attribute.scaled(self.row)
        return next(iter(natural_intervals(attribute.sorted, found, value, 0, options)), None)

    def published(self, claim: Claim) -> ScoredPair:
        """Return the paper's own pair."""
        return self._pair(claim.property, claim.conditions)

    def scored(self, pair: Pair) -> ScoredPair:
        """Return a pair that was found with its densities."""
        bounds = tuple(self._bound(condition) for condition in pair.conditions)
        found = self._pair(self.numbers[pair.property], bounds)
        return dataclasses.replace(found, as_strong=pair.as_strong)

    def start(self, seed: int) -> Numbers:
        """Return the highest pair with a random start of the mixtures."""
        return self._numbers(_highest(self.table, self.row, seed)[0])

    def older(self, kind: Discretise, bins: int) -> BinnedPair:
        """Return the strongest pair of the older method, by the measure free of units."""
        options = {"preset": "paper", "measure": "relative", "discretise": kind, "bins": bins}
        best = _pairs(self.table, self.row, top=1, **options)[0]
        number, others = self._numbers(best)
        return BinnedPair(kind, bins, number, str(best.value), others, best.outlierness)

    def _numbers(self, pair: Pair) -> Numbers:
        others = (self.numbers[condition.attribute] for condition in pair.conditions)
        return self.numbers[pair.property], tuple(sorted(others))

    def _bound(self, condition: Condition) -> Bound:
        low, high = (float(str(end)) for end in (condition.low, condition.high))
        return Bound(self.numbers[condition.attribute], low, high)

    def _pair(self, number: int, bounds: tuple[Bound, ...]) -> ScoredPair:
        mask = np.ones(self.table.rows, dtype=bool)
        for bound in bounds:
            values = self.attributes[bound.number - 1].column.values
            mask &= (values >= bound.low) & (values <= bound.high)
        attribute = self.attributes[number - 1]
        return ScoredPair(
            number=number,
            name=attribute.column.name,
            value=float(attribute.column.values[self.row]),
            conditions=tuple((self.table.names[bound.number - 1], bound) for bound in bounds),
            rows=int(mask.sum()),
            support=float(mask.mean()),
            inside=self._score(attribute, mask),
            overall=self._score(attribute, np.ones(self.table.rows, dtype=bool)),
        )

    def _score(self, attribute: NumericAttribute, mask: Mask) -> DensityScore:
        """Return the score of a group; where it has a single value, one density, the object's."""
        values = attribute.sorted[mask[attribute.order]]
        if values[0] == values[-1]:
            return DensityScore(np.ones(1), 1.0)
        densities = parzen(values) * attribute.unit
        own = np.searchsorted(values, attribute.scaled(self.row))
        return DensityScore(np.sort(densities), float(densities[own]))


def _unscaled(
    attribute: NumericAttribute, ends: tuple[float, float] | None
) -> tuple[float, float] | None:
    return None if ends is None else (attribute.unscaled(ends[0]), attribute.unscaled(ends[1]))
