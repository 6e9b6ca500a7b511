"""Tables with a known answer: one story is planted around one row, everything else is ordinary.

A story is a relation between a property and at most two context columns that every row obeys
except one. Around it stand noise columns of many shapes. Nothing but the relation gives the story
away: names, column order, row position, labels, units and offsets are all drawn at random.

What is to be found is the *set* of columns, ``Planted.columns``. A broken relation can be read from
each side: a temperature that is odd among the men is also a sex that is odd among those with that
temperature, and both readings are right. ``property`` and ``context`` tell how it was planted.
"""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Groups: TypeAlias = npt.NDArray[np.int64]

KINDS: tuple[str, ...] = ("category", "interval", "xor", "gap", "linear", "global")

LABELS = ("ash", "birch", "cedar", "elm", "fir", "larch", "maple", "oak", "pine", "rowan", "yew")
XOR_CONTEXTS = (("labels", "labels"), ("labels", "clusters"), ("clusters", "clusters"))
MISSING_SHARE = 0.04


@dataclasses.dataclass(frozen=True, eq=False)
class Planted:
    """A table, its outlying row, and why that row is outlying."""

    kind: str
    seed: int
    data: dict[str, Array]
    row: int
    property: str
    context: frozenset[str]

    # The field above hides the decorator of the same name from type checkers.
    @builtins.property
    def columns(self) -> frozenset[str]:
        """All columns of the story: what a correct answer names, in whichever role."""
        return self.context | {self.property}


@dataclasses.dataclass(frozen=True, eq=False)
class Story:
    """A relation between columns, with what the outlying row is to hold in each of them.

    The context values are those of an ordinary member; only the property decides: ``odd`` breaks
    the relation, ``fitting`` obeys it.
    """

    property: Floats
    context: tuple[Array, ...]
    context_values: tuple[Any, ...]
    odd: float
    fitting: float


def plant(kind: str, seed: int, rows: int = 1000, noise: int = 8) -> Planted:
    """Make the table of one kind of story; the same arguments always give the same table.

    - ``category``: odd within one category, ordinary overall because other categories live there.
    - ``interval``: the same, with a cluster of a numeric column in place of the category.
    - ``xor``: the level depends on two columns jointly and on neither of them alone.
    - ``gap``: between the two modes of one category, where the other categories live.
    - ``linear``: off the line that ties two columns, ordinary in each of them. Which of the two is
      the property is a matter of taste; compare ``columns`` only.
    - ``global``: odd over the whole table; the context is empty.
    """
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; allowed: {', '.join(KINDS)}")
    return _assembled(kind, seed, rows, noise)


def _assembled(kind: str, seed: int, rows: int, noise: int) -> Planted:
    rng = np.random.default_rng([seed, KINDS.index(kind), rows, noise])
    row = int(rng.integers(rows))
    story = _STORIES[kind](rng, rows, seed)
    values = [story.odd, *story.context_values]
    columns = [
        _in_some_unit(rng, _with(column, row, value))
        for column, value in zip([story.property, *story.context], values, strict=True)
    ]
    columns += [_noise_column(rng, shape, rows, row) for shape in _noise_shapes(rng, noise)]
    places = rng.permutation(len(columns))
    names = [f"c{place:02d}" for place in places]
    return Planted(
        kind=kind,
        seed=seed,
        data=dict(sorted(zip(names, columns, strict=True))),
        row=row,
        property=names[0],
        context=frozenset(names[1 : 1 + len(story.context)]),
    )


# Stories. All are written in standard deviations of one group; units come later.


def _category(rng: np.random.Generator, rows: int, _seed: int) -> Story:
    groups = _groups(rng, rows, (0.3, *_shares(rng, int(rng.integers(2, 5)), 0.7)))
    labels = _labels(rng, groups)
    return _by_level(rng, groups, _levels(rng, groups), labels, _label_of(labels, groups, 0))


def _interval(rng: np.random.Generator, rows: int, _seed: int) -> Story:
    shares = ((0.4, 0.6), (0.35, 0.35, 0.3))[int(rng.integers(2))]
    groups = _groups(rng, rows, shares)
    centres = _levels(rng, groups)
    context = _around(rng, centres, groups)
    return _by_level(rng, groups, _levels(rng, groups), context, _near(rng, centres[0]))


def _by_level(
    rng: np.random.Generator, groups: Groups, levels: Floats, context: Array, value: object
) -> Story:
    """Give each group its own level; the outlying row, of group 0, sits at another group's."""
    wrong = levels[int(rng.integers(1, len(levels)))]
    return Story(
        property=_around(rng, levels, groups),
        context=(context,),
        context_values=(value,),
        odd=_near(rng, wrong),
        fitting=_near(rng, levels[0]),
    )


def _xor(rng: np.random.Generator, rows: int, seed: int) -> Story:
    """Balance the four cells exactly, so that neither bit alone leaves a trace in the property."""
    cells = rng.permutation(rows) % 4
    bits = (cells % 2, cells // 2)
    levels = rng.permutation([0.0, rng.uniform(8, 12)])
    context = [
        _bit_column(rng, how, bit)
        for how, bit in zip(XOR_CONTEXTS[seed % len(XOR_CONTEXTS)], bits, strict=True)
    ]
    return Story(
        property=_around(rng, levels, bits[0] ^ bits[1]),
        context=tuple(column for column, _ in context),
        context_values=tuple(value for _, value in context),
        odd=_near(rng, levels[1]),
        fitting=_near(rng, levels[0]),
    )


def _bit_column(rng: np.random.Generator, how: str, bit: Groups) -> tuple[Array, Any]:
    """Show a bit as labels or as clusters, and give an ordinary value whose bit is 0.

    Now and then bit 1 takes two labels or clusters: a context need not be binary to be half.
    """
    groups = bit * (1 + rng.integers(2, size=len(bit)) * rng.integers(2))
    if how == "labels":
        labels = _labels(rng, groups)
        return labels, _label_of(labels, groups, 0)
    centres = _levels(rng, groups)
    return _around(rng, centres, groups), _near(rng, centres[0])


def _gap(rng: np.random.Generator, rows: int, _seed: int) -> Story:
    """Let category 0 avoid the middle, where all the others are."""
    groups = _groups(rng, rows, (0.35, *_shares(rng, int(rng.integers(1, 4)), 0.65)))
    labels = _labels(rng, groups)
    mode = rng.uniform(5, 6)
    modes = rng.choice([-mode, mode], size=rows)
    middle = rng.normal(0, mode / 2, size=rows)
    return Story(
        property=np.where(groups == 0, modes + rng.normal(size=rows), middle),
        context=(labels,),
        context_values=(_label_of(labels, groups, 0),),
        odd=_near(rng, 0.0),
        fitting=_near(rng, mode),
    )


def _linear(rng: np.random.Generator, rows: int, _seed: int) -> Story:
    """Put the outlying row on the other side of both middles than the line would."""
    x = rng.normal(size=rows) if rng.integers(2) else rng.uniform(-1.7, 1.7, size=rows)
    sign = rng.choice([-1.0, 1.0])
    y = sign * x + rng.normal(0, rng.uniform(0.05, 0.1), size=rows)
    at = float(np.quantile(x, rng.uniform(0.72, 0.85)))
    across = float(np.quantile(x, rng.uniform(0.15, 0.28)))
    mirror = rng.choice([-1.0, 1.0])
    return Story(
        property=y,
        context=(x,),
        context_values=(mirror * at,),
        odd=float(sign * mirror * across),
        fitting=float(sign * mirror * at),
    )


def _global(rng: np.random.Generator, rows: int, _seed: int) -> Story:
    """Take a plain or a two-humped column, and go beyond its end."""
    levels = np.array([0.0, rng.uniform(4, 8) * rng.integers(2)])
    groups = _groups(rng, rows, (0.5, 0.5))
    side = rng.choice([-1.0, 1.0])
    away = levels[1] + rng.uniform(9, 12)
    return Story(
        property=side * _around(rng, levels, groups),
        context=(),
        context_values=(),
        odd=float(side * away),
        fitting=float(side * _near(rng, levels[0])),
    )


_STORIES: dict[str, Callable[[np.random.Generator, int, int], Story]] = {
    "category": _category,
    "interval": _interval,
    "xor": _xor,
    "gap": _gap,
    "linear": _linear,
    "global": _global,
}


# Noise: columns that have nothing to do with anything, in which the outlying row is ordinary.


def _noise_shapes(rng: np.random.Generator, count: int) -> list[str]:
    """Use every shape once before any of them comes again."""
    shapes: list[str] = []
    while len(shapes) < count:
        shapes += rng.permutation(list(_NUMERIC_SHAPES) + list(_LABEL_SHARES)).tolist()
    return shapes[:count]


def _noise_column(rng: np.random.Generator, shape: str, rows: int, row: int) -> Array:
    column: Array
    if shape in _LABEL_SHARES:
        groups = _groups(rng, rows, _LABEL_SHARES[shape])
        column = _labels(rng, groups)
        column = _with(column, row, _label_of(column, groups, int(rng.integers(2))))
    else:
        values = _NUMERIC_SHAPES[shape](rng, rows)
        column = _in_some_unit(rng, _with(values, row, rng.choice(_ordinary(values))))
    if column.dtype != np.int64 and rng.random() < 0.4:
        column = _with_missing(rng, column, row)
    return column


def _bimodal(rng: np.random.Generator, rows: int) -> Floats:
    return rng.normal(size=rows) + rng.uniform(4, 9) * (rng.random(rows) < rng.uniform(0.3, 0.7))


_NUMERIC_SHAPES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda rng, rows: rng.normal(size=rows),
    "uniform": lambda rng, rows: rng.uniform(size=rows),
    "exponential": lambda rng, rows: rng.exponential(size=rows),
    "lognormal": lambda rng, rows: rng.lognormal(0, 0.7, size=rows),
    "bimodal": _bimodal,
    "counts": lambda rng, rows: rng.poisson(rng.uniform(3, 30), size=rows),
    "rounded": lambda rng, rows: np.round(rng.normal(size=rows), 1),
}
_LABEL_SHARES: dict[str, tuple[float, ...]] = {
    "balanced": (0.25, 0.25, 0.25, 0.25),
    "unbalanced": (0.5, 0.28, 0.12, 0.07, 0.03),
}


def _ordinary(values: Array) -> Array:
    """Return the 80% of values whose neighbours are nearest: no tail, and no gap between modes."""
    ordered = np.sort(values)
    reach = max(1, len(ordered) // 20)
    ranks = np.arange(len(ordered))
    above = ordered[np.minimum(ranks + reach, len(ordered) - 1)]
    below = ordered[np.maximum(ranks - reach, 0)]
    width = np.maximum(above - ordered, ordered - below)
    return np.asarray(ordered[width <= np.quantile(width, 0.8)])


def _with_missing(rng: np.random.Generator, column: Array, row: int) -> Array:
    """Lose a few values, never that of the outlying row: its being missing would be a story."""
    lost = rng.random(len(column)) < MISSING_SHARE
    lost[row] = False
    holed = column.copy()
    holed[lost] = None if column.dtype == object else np.nan
    return holed


# Bricks.


def _groups(rng: np.random.Generator, rows: int, shares: Sequence[float]) -> Groups:
    """Split the rows at random into groups of exactly these shares, as far as rows divide."""
    edges = np.round(np.cumsum(shares) * rows)[:-1]
    return np.searchsorted(edges, rng.permutation(rows), side="right").astype(np.int64)


def _shares(rng: np.random.Generator, parts: int, total: float) -> list[float]:
    """Split a share into parts of uneven size, none of them tiny."""
    weights = rng.uniform(1, 2, size=parts)
    return list(total * weights / weights.sum())


def _levels(rng: np.random.Generator, groups: Groups) -> Floats:
    """Give each group a level, 8 to 12 standard deviations from the next, in no order."""
    steps = rng.uniform(8, 12, size=int(groups.max()) + 1)
    return rng.permutation(np.cumsum(steps))


def _around(rng: np.random.Generator, levels: Floats, groups: Groups) -> Floats:
    return np.asarray(levels[groups] + rng.normal(size=len(groups)))


def _near(rng: np.random.Generator, level: float) -> float:
    """Draw a value that is ordinary for a group of this level."""
    return float(level + rng.uniform(-1, 1))


def _labels(rng: np.random.Generator, groups: Groups) -> Array:
    names = rng.choice(LABELS, size=int(groups.max()) + 1, replace=False)
    return np.array(names.tolist(), dtype=object)[groups]


def _label_of(labels: Array, groups: Groups, group: int) -> str:
    return str(labels[int(np.argmax(groups == group))])


def _with(column: Array, row: int, value: object) -> Array:
    changed = column.copy()
    changed[row] = value
    return changed


def _in_some_unit(rng: np.random.Generator, column: Array) -> Array:
    """Scale and shift a numeric column; whole numbers stay whole, labels stay as they are."""
    unit = 10 ** rng.uniform(-3, 3)
    shift = rng.normal(0, 10)
    if column.dtype == object:
        return column
    if column.dtype == np.int64:
        whole = max(1, round(unit))
        return column * whole + round(shift * whole)
    return column * unit + shift * unit
