"""Mixed tables with planted stories, and their truth down to the single conditions.

A story is a relation that every row obeys but a few, whose property was taken from rows of another
group. So the odd value is ordinary over the whole table and lies 6 to 10 standard deviations away
from its own group, unless the kind says otherwise. Around the story stand noise columns in which
the outlying rows are ordinary. Names, order, units and offsets are drawn at random.

Kinds of ``KINDS_CORE`` are those of ``benchmarks.planted`` (effects of 8 to 12). ``KINDS_ADDED``:

- ``three_conditions``: the level depends on three columns jointly, on no two of them.
- ``date``: another level within a range of dates; half of the tables have pauses between ranges.
- ``missing``: another level where a column is missing (15 to 30% of the rows).
- ``rare_context``: odd within a category of 11 to 13% of the rows.
- ``rare_category``: a category that its group nearly never has, and the others often.
- ``heavy_tails``: in a category or interval; property and noise have heavy tails, and the standard
  deviation that counts is that of the group as drawn.
- ``rounded``: in a category or interval, or off a line; at most about 100 distinct values a column.
- ``gaps``: in a category or interval; 30% of every column are missing at random.
- ``correlated``: the noise comes in blocks of 3 to 5 columns with correlations of 0.9.
- ``masking``: 5 to 12 rows tell the same story, near each other or anywhere 6 or more standard
  deviations away; up to 4 of them are to be explained.
- ``columns_N`` and ``rows_N``: a core story in a table of N columns, or of N rows and 8 to 10
  columns.

``none`` has no story: ten rows drawn blindly from a table whose rows all obey its relations.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks import planted
from benchmarks.quality.cases import Array, Case, Premise, Target, Truth

Rng: TypeAlias = np.random.Generator
Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]

ROWS = 1000
NOISE = 8
MOST_TARGETS = 4
ORDINARY_ROWS = 10
EFFECT = (6.5, 9.5)  # between levels; the odd value keeps within half a deviation of its level


def make(kind: str, seed: int) -> Case:
    """Make the table of one kind; the same arguments always give the same table."""
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; allowed: {', '.join(KINDS)}")
    if kind in KINDS_CORE:
        return _core(kind, seed, planted.plant(kind, seed))
    if kind in _SIZES:
        return _sized(kind, seed)
    return _ordinary_table(seed) if kind == NONE else _told(kind, seed)


def _rng(kind: str, seed: int) -> Rng:
    return np.random.default_rng([seed, zlib.crc32(kind.encode())])


# Core stories: the tables of the planted benchmark, with the conditions read off their columns.


def _sized(kind: str, seed: int) -> Case:
    """Draw a core story, each of them in turn, for a table of a certain size."""
    rows, columns = _SIZES[kind]
    relation = planted.KINDS[(seed + zlib.crc32(kind.encode())) % len(planted.KINDS)]
    noise = columns - _STORY_COLUMNS[relation] if columns else NOISE - 1
    drawn = int(_rng(kind, seed).integers(2**31))
    return _core(kind, seed, planted.plant(relation, drawn, rows, noise))


def _core(kind: str, seed: int, table: planted.Planted) -> Case:
    data = {name: _as_float(column) for name, column in table.data.items()}
    truth = Truth(table.columns, table.property)
    if table.kind == "linear":
        truth = Truth(table.columns)
    else:
        premises = (_read_premise(name, data[name], table.row) for name in sorted(table.context))
        truth = dataclasses.replace(truth, premises=tuple(premises))
    return Case("planted", kind, f"{kind}-{seed}", data, (Target(table.row, (truth,)),))


def _read_premise(name: str, column: Array, row: int) -> Premise:
    """Return the category of a row, or the cluster around it with open outer ends."""
    if column.dtype == object:
        return Premise(name, value=column[row])
    cuts = _cuts(column)
    below, above = cuts[cuts < column[row]], cuts[cuts > column[row]]
    return Premise(name, low=_last(below), high=_last(above[::-1]))


def _cuts(column: Floats, pieces: int = 1000, wide: float = 0.02, apart: float = 0.1) -> Floats:
    """Find the middles of the wide gaps between clusters that each hold a tenth of the rows.

    Gaps are looked for between evenly spaced ranks, so that strays of a long column fill none.
    """
    ranks = np.linspace(0, len(column) - 1, min(len(column), pieces)).astype(np.int64)
    grid = np.sort(column)[ranks]
    steps, margin = np.diff(grid), round(apart * len(grid))
    kept: list[int] = [0, len(steps)]
    for place in np.argsort(-steps, kind="stable")[: np.count_nonzero(steps > wide * np.ptp(grid))]:
        if min(abs(place - other) for other in kept) >= margin:
            kept.append(int(place))
    places = np.sort(kept[2:]).astype(np.int64)
    return np.asarray((grid[places] + grid[places + 1]) / 2)


def _last(ends: Floats) -> float | None:
    return float(ends[-1]) if len(ends) else None


# Added stories: a relation, the rows that may break it, and the values they break it with.


@dataclasses.dataclass(frozen=True, eq=False)
class Context:
    """A context column, the typical rows of the story's group, and its condition, yet nameless."""

    column: Array
    typical: Mask
    premise: Premise | None


@dataclasses.dataclass(frozen=True, eq=False)
class Relation:
    """A property that obeys its contexts in all rows, and values that would be odd if it did not.

    `has_sides` is False where property and context are equal readings of the same relation.
    """

    property: Array
    contexts: tuple[Context, ...]
    pool: Array
    has_sides: bool = True

    def typical(self) -> Whole:
        """Return the positions of the rows that are typical members by every context."""
        return np.flatnonzero(np.logical_and.reduce([one.typical for one in self.contexts]))


Relate: TypeAlias = Callable[[Rng, int], Relation]


def _category(rng: Rng, rows: int) -> Relation:
    groups = _category_groups(rng, rows, 0.3)
    return _by_level(rng, groups, _label_context(rng, groups))


def _rare_context(rng: Rng, rows: int) -> Relation:
    groups = _category_groups(rng, rows, rng.uniform(0.11, 0.13))
    return _by_level(rng, groups, _label_context(rng, groups))


def _interval(rng: Rng, rows: int) -> Relation:
    groups = _interval_groups(rng, rows)
    return _by_level(rng, groups, _cluster_context(rng, groups))


def _two_conditions(rng: Rng, rows: int) -> Relation:
    return _joint(rng, rows, 2)


def _three_conditions(rng: Rng, rows: int) -> Relation:
    return _joint(rng, rows, 3)


def _joint(rng: Rng, rows: int, count: int) -> Relation:
    """Let the level depend on the parity of all bits, or on whether none of them is set.

    Cells have exact shares, so that no smaller set of bits tells the level.
    """
    is_parity = bool(rng.integers(2))
    unset = 0.5 if is_parity else rng.uniform(0.5, 0.58)
    cells = planted._groups(rng, rows, _cell_shares(unset, count))
    bits = [cells >> place & 1 for place in range(count)]
    groups = np.sum(bits, axis=0) % 2 if is_parity else (cells > 0).astype(np.int64)
    makers = [_label_context, _cluster_context, (_label_context, _cluster_context)[rng.integers(2)]]
    contexts = [maker(rng, _split(rng, bit)) for maker, bit in zip(makers, bits, strict=False)]
    return _by_level(rng, groups, *contexts)


def _cell_shares(unset: float, count: int) -> list[float]:
    """Return the share of each combination of independent bits, the lowest bit running fastest."""
    set_bits = [cell.bit_count() for cell in range(2**count)]
    return [unset ** (count - number) * (1 - unset) ** number for number in set_bits]


def _split(rng: Rng, bit: Whole) -> Whole:
    """Let a set bit take two groups now and then: a condition need not be binary."""
    return bit + bit * rng.integers(2, size=len(bit)) * int(rng.integers(2))


def _date(rng: Rng, rows: int) -> Relation:
    """Cut a stretch of time into two or three regimes; group 0 is any of them."""
    shares = ((0.4, 0.6), (0.6, 0.4), (0.3, 0.4, 0.3))[rng.integers(3)]
    days = _days(rng, rows)
    order = np.searchsorted(np.quantile(days, np.cumsum(shares)[:-1]), days, side="right")
    pause = rng.integers(2) * round(np.ptp(days) * rng.uniform(0.1, 0.3))
    groups = rng.permutation(len(shares))[order]
    return _by_level(rng, groups, _date_context(_dates(rng, days + pause * order), groups))


def _days(rng: Rng, rows: int) -> Floats:
    """Spread rows evenly over one to eight years, by whole days or by seconds."""
    days = rng.uniform(0, 365 * rng.uniform(1, 8), size=rows)
    return np.floor(days) if rng.integers(2) else days


def _dates(rng: Rng, days: Floats) -> Array:
    start = np.datetime64("2000-01-01", "s") + np.timedelta64(int(rng.integers(7000)), "D")
    return np.asarray(start + (days * 86400).astype(np.int64).astype("timedelta64[s]"))


def _date_context(dates: Array, groups: Whole) -> Context:
    inside = dates[groups == 0]
    low, high = np.sort(inside)[[len(inside) // 10, -len(inside) // 10]]
    premise = Premise(
        "",
        low=inside.min() if inside.min() > dates.min() else None,
        high=inside.max() if inside.max() < dates.max() else None,
    )
    return Context(dates, (groups == 0) & (dates >= low) & (dates <= high), premise)


def _missing(rng: Rng, rows: int) -> Relation:
    groups = _category_groups(rng, rows, rng.uniform(0.15, 0.3), most=2)
    shape = planted._noise_shapes(rng, 1)[0]
    column = _lost(_noise_column(rng, shape, rows, _NOBODY), groups == 0)
    return _by_level(rng, groups, Context(column, groups == 0, Premise("", is_missing=True)))


def _rare_category(rng: Rng, rows: int) -> Relation:
    groups = _category_groups(rng, rows, 0.3)
    chance = np.where(groups == 0, rng.uniform(0, 0.005), rng.uniform(0.3, 0.45))
    others = rng.integers(1, rng.integers(3, 6), size=rows)
    colours = np.where(rng.random(rows) < chance, 0, others)
    labels = planted._labels(rng, colours)
    return Relation(labels, (_label_context(rng, groups),), labels[colours == 0][:1])


def _linear(rng: Rng, rows: int) -> Relation:
    """Tie two columns by a line; what is odd is the value of the line on the other side."""
    x = rng.normal(size=rows) if rng.integers(2) else rng.uniform(-1.7, 1.7, size=rows)
    sides = rng.permutation([_between(x, 0.75, 0.82), _between(x, 0.18, 0.25)])
    away = abs(x[sides[0]].mean() - x[sides[1]].mean())
    slope = rng.choice([-1.0, 1.0])
    y = slope * x + rng.normal(0, away / rng.uniform(7.2, 8.6), size=rows)
    return Relation(y, (Context(x, sides[0], None),), slope * x[sides[1]], has_sides=False)


def _heavy(rng: Rng, rows: int) -> Relation:
    if rng.integers(2):
        groups = _category_groups(rng, rows, 0.3)
        context = _label_context(rng, groups)
    else:
        groups = _interval_groups(rng, rows)
        context = _cluster_context(rng, groups)
    deviates = _heavy_tailed(rng, rows)
    return _by_level(rng, groups, context, deviates=deviates / deviates[groups == 0].std())


def _heavy_tailed(rng: Rng, rows: int) -> Floats:
    draws = (
        lambda: rng.standard_t(rng.uniform(2, 3), size=rows),
        lambda: rng.lognormal(0, 1.5, size=rows),
        lambda: rng.pareto(rng.uniform(2, 3), size=rows),
    )
    return np.asarray(rng.choice([-1.0, 1.0]) * draws[rng.integers(3)]())


def _masked(rng: Rng, rows: int) -> Relation:
    """Take the odd values from one level, or from wherever 6 or more deviations lie between."""
    relation = _one_of(_category, _interval)(rng, rows)
    if rng.integers(2):
        return relation
    ordinary = relation.property[_between(relation.property, 0.05, 0.95)]
    away = abs(ordinary - np.median(relation.property[relation.typical()]))
    return dataclasses.replace(relation, pool=ordinary[away >= 6])


def _one_of(*relations: Relate) -> Relate:
    return lambda rng, rows: relations[rng.integers(len(relations))](rng, rows)


# Bricks of relations. Group 0 is the group of the story.


def _by_level(
    rng: Rng, groups: Whole, *contexts: Context, deviates: Floats | None = None
) -> Relation:
    """Give each group its own level; odd is what is usual at a level next to that of group 0."""
    ranks = rng.permutation(int(groups.max()) + 1)
    levels = np.cumsum(rng.uniform(*EFFECT, size=len(ranks)))[ranks]
    wrong = rng.choice(np.flatnonzero(abs(ranks - ranks[0]) == 1))
    if deviates is None:
        deviates = rng.normal(size=len(groups))
    values = np.asarray(levels[groups] + deviates)
    others = values[groups == wrong]
    return Relation(values, contexts, others[_between(others, 0.3, 0.7)])


def _between(values: Floats, low: float, high: float) -> Mask:
    """Mark the values between two quantiles."""
    ends = np.quantile(values, [low, high])
    return np.asarray((values >= ends[0]) & (values <= ends[1]))


def _category_groups(rng: Rng, rows: int, share: float, most: int = 4) -> Whole:
    others = int(rng.integers(2 if most > 2 else 1, most + 1))
    return planted._groups(rng, rows, (share, *planted._shares(rng, others, 1 - share)))


def _interval_groups(rng: Rng, rows: int) -> Whole:
    shares = ((0.4, 0.6), (0.35, 0.35, 0.3))[rng.integers(2)]
    return planted._groups(rng, rows, shares)


def _label_context(rng: Rng, groups: Whole) -> Context:
    labels = planted._labels(rng, groups)
    inside = groups == 0
    return Context(labels, inside, Premise("", value=labels[int(np.argmax(inside))]))


def _cluster_context(rng: Rng, groups: Whole) -> Context:
    """Show groups as clusters; the true interval ends half way to the next of them."""
    centres = planted._levels(rng, groups)
    column = planted._around(rng, centres, groups)
    own = centres[0]
    below, above = np.sort(centres[centres < own]), np.sort(centres[centres > own])[::-1]
    premise = Premise("", low=_last((below + own) / 2), high=_last((above + own) / 2))
    return Context(column, (groups == 0) & (abs(column - own) <= 1), premise)


# Noise: columns that have nothing to do with anything, in which the outlying rows are ordinary.

_NOBODY: Whole = np.array([], dtype=np.int64)


def _plain_noise(rng: Rng, rows: Whole, count: int = NOISE) -> list[Array]:
    """Draw columns of many shapes; some lose a few values, never those of the outlying rows."""
    columns = _full_noise(rng, rows, count)
    shares = np.where(rng.random(count) < 0.4, planted.MISSING_SHARE, 0.0)
    return [_holed(rng, column, share, rows) for column, share in zip(columns, shares, strict=True)]


def _gappy_noise(rng: Rng, rows: Whole) -> list[Array]:
    """Let missing values be as common as in the story, in the outlying rows, too."""
    shares = np.where(rng.random(NOISE) < 0.5, rng.uniform(0.15, 0.3, NOISE), 0.0)
    columns = _full_noise(rng, rows, NOISE)
    return [
        _holed(rng, column, share, _NOBODY) for column, share in zip(columns, shares, strict=True)
    ]


def _holed_noise(rng: Rng, rows: Whole) -> list[Array]:
    return [_holed(rng, column, 0.3, _NOBODY) for column in _full_noise(rng, rows, NOISE)]


def _dated_noise(rng: Rng, rows: Whole) -> list[Array]:
    days = _days(rng, ROWS)
    days[rows] = rng.choice(planted._ordinary(days), len(rows))
    return [_dates(rng, days), *_plain_noise(rng, rows, NOISE - 1)]


def _heavy_noise(rng: Rng, rows: Whole) -> list[Array]:
    columns = [_heavy_tailed(rng, ROWS) for _ in range(NOISE - 2)]
    for column in columns:
        column[rows] = rng.choice(planted._ordinary(column), len(rows))
    labels = [_noise_column(rng, shape, ROWS, rows) for shape in planted._LABEL_SHARES]
    return [*columns, *labels]


def _block_noise(rng: Rng, rows: Whole) -> list[Array]:
    blocks = [_block(rng, rows) for _ in range(rng.integers(2, 4))]
    return [column for block in blocks for column in block] + _plain_noise(rng, rows, 3)


def _block(rng: Rng, rows: Whole) -> list[Array]:
    """Draw columns that share nine tenths of their variance."""
    shared = _settled(rng, rows)
    own = [_settled(rng, rows) for _ in range(rng.integers(3, 6))]
    return [rng.choice([-1, 1]) * (np.sqrt(0.9) * shared + np.sqrt(0.1) * part) for part in own]


def _settled(rng: Rng, rows: Whole) -> Floats:
    """Draw normal values that keep near the middle in the outlying rows."""
    values = rng.normal(size=ROWS)
    values[rows] = rng.uniform(-1, 1, size=len(rows))
    return values


def _full_noise(rng: Rng, rows: Whole, count: int) -> list[Array]:
    shapes = planted._noise_shapes(rng, count)
    return [_noise_column(rng, shape, ROWS, rows) for shape in shapes]


def _noise_column(rng: Rng, shape: str, count: int, rows: Whole) -> Array:
    if shape in planted._LABEL_SHARES:
        groups = planted._groups(rng, count, planted._LABEL_SHARES[shape])
        groups[rows] = rng.integers(2, size=len(rows))
        return planted._labels(rng, groups)
    values = _as_float(planted._NUMERIC_SHAPES[shape](rng, count))
    values[rows] = rng.choice(planted._ordinary(values), len(rows))
    return values


def _holed(rng: Rng, column: Array, share: float, kept: Whole) -> Array:
    """Lose a share of the values at random, but none of some rows."""
    lost = rng.random(len(column)) < share
    lost[kept] = False
    return _lost(column, lost)


def _lost(column: Array, lost: Mask) -> Array:
    left = column.copy()
    left[lost] = None if column.dtype == object else np.nan
    return left


# Tables.


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What a kind of table is made of; `told` bounds how many rows tell the story."""

    relation: Relate
    noise: Callable[[Rng, Whole], list[Array]] = _plain_noise
    told: tuple[int, int] = (1, 1)
    lost: float = 0.0  # of the columns of the story
    is_rounded: bool = False


@dataclasses.dataclass(frozen=True)
class Unit:
    """What a column is measured in, and to how many digits, if that is few."""

    scale: float
    shift: float
    digits: int | None = None

    def of(self, values: Any) -> Any:
        """Express one value or many in this unit."""
        changed = values * self.scale + self.shift
        return changed if self.digits is None else np.round(changed, self.digits)


def _told(kind: str, seed: int) -> Case:
    """Plant a story of the added kinds."""
    recipe, rng = _RECIPES[kind], _rng(kind, seed)
    relation = recipe.relation(rng, ROWS)
    count = int(rng.integers(recipe.told[0], recipe.told[1] + 1))
    rows = rng.choice(relation.typical(), count, replace=False)
    odd = relation.property.copy()
    odd[rows] = rng.choice(relation.pool, count)
    story = [odd, *(context.column for context in relation.contexts)]
    if recipe.lost:
        story = [_holed(rng, column, recipe.lost, rows) for column in story]
    columns = story + recipe.noise(rng, rows)
    units = [_unit(rng, column, recipe.is_rounded) for column in columns]
    names = _names(rng, len(columns))
    targets = tuple(Target(int(row), (_truth(relation, names, units),)) for row in rows)
    data = _table(columns, units, names)
    return Case("planted", kind, f"{kind}-{seed}", data, targets[:MOST_TARGETS])


def _truth(relation: Relation, names: Sequence[str], units: Sequence[Unit | None]) -> Truth:
    places = range(1, len(relation.contexts) + 1)
    premises = [
        _named(context.premise, names[place], units[place])
        for place, context in zip(places, relation.contexts, strict=True)
        if context.premise is not None
    ]
    columns = frozenset(names[: len(relation.contexts) + 1])
    return Truth(columns, names[0] if relation.has_sides else None, tuple(premises))


def _named(premise: Premise, name: str, unit: Unit | None) -> Premise:
    """Return a condition the name of its column, and the column's unit."""
    ends = [premise.low, premise.high]
    if unit is not None:
        ends = [None if end is None else float(unit.of(end)) for end in ends]
    return dataclasses.replace(premise, column=name, low=ends[0], high=ends[1])


def _ordinary_table(seed: int) -> Case:
    """Let three relations of different kinds stand among noise, and break none of them."""
    rng = _rng(NONE, seed)
    kinds = rng.choice([*planted.KINDS, *_RELATIONS], size=3, replace=False)
    columns = [column for kind in kinds for column in _obeyed(rng, str(kind))]
    columns += _plain_noise(rng, _NOBODY, 5)
    units = [_unit(rng, column, is_rounded=False) for column in columns]
    data = _table(columns, units, _names(rng, len(columns)))
    rows = rng.choice(ROWS, ORDINARY_ROWS, replace=False)
    targets = tuple(Target(int(row), ()) for row in rows)
    return Case("planted", NONE, f"{NONE}-{seed}", data, targets)


def _obeyed(rng: Rng, kind: str) -> list[Array]:
    if kind in planted.KINDS:
        story = planted._STORIES[kind](rng, ROWS, int(rng.integers(6)))
        return [story.property, *story.context]
    relation = _RELATIONS[kind](rng, ROWS)
    return [relation.property, *(context.column for context in relation.contexts)]


def _table(
    columns: Sequence[Array], units: Sequence[Unit | None], names: Sequence[str]
) -> dict[str, Array]:
    measured = [
        column if unit is None else np.asarray(unit.of(column))
        for column, unit in zip(columns, units, strict=True)
    ]
    return dict(sorted(zip(names, measured, strict=True)))


def _names(rng: Rng, count: int) -> list[str]:
    return [f"c{place:03d}" for place in rng.permutation(count)]


def _unit(rng: Rng, column: Array, is_rounded: bool) -> Unit | None:
    """Draw a unit over six decades; whole numbers stay whole, labels and dates have none."""
    if column.dtype != np.float64:
        return None
    known = column[~np.isnan(column)]
    scale, shift = 10 ** rng.uniform(-3, 3), rng.normal(0, 10)
    if is_rounded:
        digits = int(rng.integers(-1, 3))
        step = np.ptp(known) / rng.uniform(40, 100)
        return Unit(10.0**-digits / step, round(10 * shift) * 10.0**-digits, digits)
    if np.array_equal(known, np.round(known)):
        return Unit(max(1, round(scale)), round(shift * max(1, round(scale))))
    return Unit(scale, shift * scale)


def _as_float(column: Array) -> Array:
    return column.astype(np.float64) if column.dtype == np.int64 else column


_RELATIONS: dict[str, Relate] = {
    "three_conditions": _three_conditions,
    "date": _date,
    "missing": _missing,
    "rare_context": _rare_context,
    "rare_category": _rare_category,
    "heavy_tails": _heavy,
}
_RECIPES: dict[str, Recipe] = {
    "three_conditions": Recipe(_three_conditions),
    "date": Recipe(_date, _dated_noise),
    "missing": Recipe(_missing, _gappy_noise),
    "rare_context": Recipe(_rare_context),
    "rare_category": Recipe(_rare_category),
    "heavy_tails": Recipe(_heavy, _heavy_noise),
    "rounded": Recipe(_one_of(_category, _interval, _linear), is_rounded=True),
    "gaps": Recipe(_one_of(_category, _interval), _holed_noise, lost=0.3),
    "correlated": Recipe(_one_of(_category, _interval, _two_conditions, _linear), _block_noise),
    "masking": Recipe(_masked, told=(5, 12)),
}
_SIZES: dict[str, tuple[int, int | None]] = {
    **{f"columns_{columns}": (ROWS, columns) for columns in (5, 50, 100, 200)},
    **{f"rows_{rows}": (rows, None) for rows in (200, 10_000, 100_000, 1_000_000)},
}
_STORY_COLUMNS = {"category": 2, "interval": 2, "xor": 3, "gap": 2, "linear": 2, "global": 1}

NONE = "none"
KINDS_CORE: tuple[str, ...] = planted.KINDS
KINDS_ADDED: tuple[str, ...] = (*_RECIPES, *_SIZES)
KINDS: tuple[str, ...] = (*KINDS_CORE, *KINDS_ADDED, NONE)
