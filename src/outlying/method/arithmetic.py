"""Exact relations: a column that is computed from others, to rounding (method 6b)."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from outlying.method.density import Floats
from outlying.method.distances import MOST_EXCEPTIONS, unit_of
from outlying.method.relations import (
    FARTHEST,
    LEAST_ROWS,
    Places,
    Related,
    Variable,
    clipped,
    spread,
)

#: So many rows are looked at first, of which fewer may hold.
LOOKED_AT, PROMISING = 128, 0.8
#: Half of them are no farther off, as a share of what is to be explained.
NEARLY = 0.05
#: A formula of rounded numbers says something if their spread is so many units.
LEAST_UNITS = 20
#: What is always so, and is not here, is so many usual distances off, and more the farther it is.
BROKEN = 30.0
#: Digits of a constant factor: as few as do.
DIGITS = (2, 3, 4)
#: Products are tried that rise or fall with a number so steadily, the steadiest first.
STEADY, MOST_PRODUCTS = 0.95, 8
#: A whole has so many parts at most; its parts count alike, to this share.
MOST_PARTS, ALIKE = 24, 0.02
#: The rows nearest to a sum tell its parts: wrong cells are not among them.
NEAREST, ROUNDS = 0.8, 5

Shape: TypeAlias = tuple[str, Callable[..., Any]]
Part: TypeAlias = tuple[int, Variable]

#: What stands in parentheses, or is a factor.
_OF_PARTS = re.compile(r"\([^)]*\)")

#: How a number may follow from one, two or three others; simple ones first.
SHAPES: dict[int, tuple[Shape, ...]] = {
    1: (("{0}", lambda a: a),),
    2: (
        ("{0} + {1}", lambda a, b: a + b),
        ("{0} - {1}", lambda a, b: a - b),
        ("{0} x {1}", lambda a, b: a * b),
        ("{0} x (1 - {1})", lambda a, b: a * (1 - b)),
        ("{0} x (1 + {1})", lambda a, b: a * (1 + b)),
        ("{0} x (1 - {1} / 100)", lambda a, b: a * (1 - b / 100)),
        ("{0} x (1 + {1} / 100)", lambda a, b: a * (1 + b / 100)),
        ("{0} / {1}", lambda a, b: a / b),
        ("{0} / {1}^2", lambda a, b: a / (b * b)),
    ),
    3: (
        ("{0} + {1} + {2}", lambda a, b, c: a + b + c),
        ("{0} + {1} - {2}", lambda a, b, c: a + b - c),
        ("{0} - {1} - {2}", lambda a, b, c: a - b - c),
        ("{0} x {1} x {2}", lambda a, b, c: a * b * c),
        ("{0} x {1} x (1 - {2})", lambda a, b, c: a * b * (1 - c)),
        ("{0} x {1} x (1 + {2})", lambda a, b, c: a * b * (1 + c)),
        ("{0} x {1} x (1 - {2} / 100)", lambda a, b, c: a * b * (1 - c / 100)),
        ("{0} x {1} x (1 + {2} / 100)", lambda a, b, c: a * b * (1 + c / 100)),
        ("{0} x {1} + {2}", lambda a, b, c: a * b + c),
        ("{0} x {1} - {2}", lambda a, b, c: a * b - c),
        ("({0} + {1}) x {2}", lambda a, b, c: (a + b) * c),
        ("({0} - {1}) x {2}", lambda a, b, c: (a - b) * c),
        ("{0} x {1} / {2}", lambda a, b, c: a * b / c),
        ("({0} - {1}) / {2}", lambda a, b, c: (a - b) / c),
    ),
}

#: What a rate, a share or a percentage, makes of an amount.
RATES: tuple[Shape, ...] = (
    ("(1 - {2})", lambda c: 1 - c),
    ("(1 + {2})", lambda c: 1 + c),
    ("(1 - {2} / 100)", lambda c: 1 - c / 100),
    ("(1 + {2} / 100)", lambda c: 1 + c / 100),
)


def _bill(rate: Shape, sign: int) -> Shape:
    """Return the shape of a price with a rate, and a fee that is added or taken off."""
    text, change = rate
    mark = "+" if sign > 0 else "-"
    return f"{{0}} x {{1}} x {text} {mark} {{3}}", lambda a, b, c, d: a * b * change(c) + sign * d


BILLS = tuple(_bill(rate, sign) for sign in (1, -1) for rate in RATES)


def shapes(count: int) -> tuple[Shape, ...]:
    """Return how a number may follow from so many others; from more than three as their sum."""
    if count in SHAPES:
        return SHAPES[count]
    parts = " + ".join(f"{{{place}}}" for place in range(count))
    total = (parts, lambda *numbers: np.add.reduce(np.array(numbers)))
    return (total, *BILLS) if count == 4 else (total,)


@dataclasses.dataclass(frozen=True)
class Formula:
    """How a number is computed from others, and to which unit it is rounded.

    The unit is 0 where nothing is rounded: sums of prices are sums of prices.
    """

    shape: int
    factor: float
    unit: float
    scale: float  # the spread of the column
    constant: float = 0.0

    def computed(self, inputs: Sequence[Floats]) -> Floats:
        """Return what each row should hold."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = shapes(len(inputs))[self.shape][1](*inputs) * self.factor + self.constant
        return np.where(np.isfinite(found), found, np.nan)

    def off(self, values: Floats, inputs: Sequence[Floats]) -> Floats:
        """Return by how much values differ from what they should be; 0 within rounding.

        What is rounded may be off by a whole unit: parts of it may have been rounded before.
        """
        wanted = self.computed(inputs)
        away = values - wanted
        slack = self.unit * (1 + 1e-6) + 1e-9 * np.maximum(np.abs(values), np.abs(wanted))
        return np.where(np.abs(away) <= slack, 0.0, away)

    def residuals(self, values: Floats, inputs: Sequence[Floats]) -> Floats:
        """Return how far off values are, in usual distances: 0, or many."""
        away = self.off(values, inputs)
        usual = max(self.unit, 1e-6 * self.scale)
        return np.clip(np.sign(away) * BROKEN + away / usual, -FARTHEST, FARTHEST)

    def expected(self, inputs: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Return the only number that is expected of each row, twice."""
        wanted = self.computed(inputs)
        if self.unit:
            wanted = np.round(wanted / self.unit) * self.unit
        return wanted, wanted

    @property
    def complexity(self) -> tuple[int, int]:
        """How long it is to write: 1.8 x C + 32 is simpler than 0.556 x F - 17.8."""
        return self.shape, len(f"{self.factor:g}{self.constant:g}")

    def code(self, count: int) -> str | None:
        """Return the formula of so many columns as SQL and Python read it; None: it divides by one.

        The first factor is floating point: products of whole numbers overflow.
        """
        shape = shapes(count)[self.shape][0].replace(" / 100", " * 0.01").replace(" x ", " * ")
        if " / " in shape:
            return None
        if self.factor != 1:
            shape = f"{_real(self.factor)} * ({shape})"
        elif "*" in shape:
            shape = f"{_real(1.0)} * {shape}"
        return f"{shape} + {_real(self.constant)}" if self.constant else shape

    @property
    def tolerance(self) -> float:
        """By how much a value is off, at least, where it is not rounding."""
        return float(f"{self.unit * (1 + 1e-6) + 1e-9 * self.scale:.8g}")

    def text(self, names: Sequence[str]) -> str:
        """Write the formula with the names of its columns."""
        shape, size = shapes(len(names))[self.shape][0], abs(self.factor)
        plain = _OF_PARTS.sub("", shape)
        is_sum, is_negative = " + " in plain or " - " in plain, self.factor < 0
        if is_negative and " - " in plain:
            shape, is_negative = _turned(shape), False
        product = shape.format(*names)
        if size != 1:
            product = f"({product})" if is_sum else product
            parts = round(1 / size)
            is_share = is_sum and parts > 1 and size == 1 / parts
            product = f"{product} / {parts}" if is_share else f"{size:g} x {product}"
        elif is_negative and is_sum:
            product = f"({product})"
        if is_negative:
            return f"{self.constant:.10g} - {product}" if self.constant else f"-{product}"
        sign = "-" if self.constant < 0 else "+"
        return f"{product} {sign} {abs(self.constant):.10g}" if self.constant else product


def _real(number: float) -> str:
    """Write a number that is floating point in SQL, too."""
    text = repr(float(number))
    return text if "e" in text else f"{text}e0"


def _turned(shape: str) -> str:
    """Return a difference with all signs turned: b - a for a - b."""
    terms = re.split(r" ([+-]) ", f"{shape} + ")[:-1]
    signs = ["-", *("-" if sign == "+" else "+" for sign in terms[1::2])]
    pairs = sorted(zip(signs, terms[::2], strict=False), key=lambda pair: pair[0])
    return " ".join(f"{sign} {term}" for sign, term in pairs).removeprefix("+ ")


def recognise(
    target: Variable, given: Sequence[Variable], places: Places
) -> tuple[Places, Formula] | None:
    """Return the formula that holds in most rows of a sample, and the order of what it is of.

    Of several the simplest is taken; some of the predictors may do.
    """
    usable = [pair for pair in zip(places, given, strict=True) if pair[1].is_numeric]
    if not target.is_quantity or not all(item.is_quantity for _, item in usable):
        return None
    values = target.numbers
    unit, scale = unit_of(values[target.known]), spread(values[target.known])
    units = (0.0, unit) if unit and scale >= LEAST_UNITS * unit else (0.0,)
    for formulas in (_proportional, _shifted):
        for some in _choices(usable):
            inputs = [item.numbers for _, item in some]
            for shape in range(len(shapes(len(some)))):
                for formula in formulas(shape, values, inputs, units, scale):
                    if _holds(formula, values, inputs):
                        return tuple(place for place, _ in some), formula
    return None


def _choices(usable: Sequence[Part]) -> Iterator[tuple[Part, ...]]:
    """Yield what a number may follow from: some of three columns in any order, or all of more."""
    if len(usable) > max(SHAPES):
        yield tuple(usable)
        return
    usable = sorted(usable, key=lambda pair: pair[0])
    for count in range(1, len(usable) + 1):
        yield from itertools.permutations(usable, count)


def _proportional(
    shape: int, values: Floats, inputs: Sequence[Floats], units: Sequence[float], scale: float
) -> Iterator[Formula]:
    """Return formulas of a shape that may hold: as it is, and with a constant factor."""
    yield from (Formula(shape, 1.0, unit, scale) for unit in units)
    computed, known = _computed(shape, values, inputs)
    if len(computed) < LOOKED_AT / 2:
        return
    size = np.abs(computed)
    ratios = known / computed
    factor = _middle(ratios[size >= _middle(size)])
    if _middle(np.abs(ratios - factor)) <= NEARLY * abs(factor):
        yield from (Formula(shape, own, unit, scale) for own in _rounded(factor) for unit in units)


def _shifted(
    shape: int, values: Floats, inputs: Sequence[Floats], units: Sequence[float], scale: float
) -> Iterator[Formula]:
    """Return formulas with a constant that is added, such as a fee, by the median slope."""
    computed, known = _computed(shape, values, inputs)
    half = len(computed) // 2
    if len(computed) < LOOKED_AT / 2:
        return
    order = np.argsort(computed, kind="stable")
    low, high = order[: len(order) - half], order[half:]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = _middle((known[high] - known[low]) / (computed[high] - computed[low]))
        left = known - slope * computed
        away = _middle(np.abs(left - _middle(left)))
    if not away <= NEARLY * _middle(np.abs(known - _middle(known))):
        return
    for factor in _rounded(slope):
        constant = _middle(known - factor * computed)
        for unit in units:
            whole = round(constant / unit) * unit if unit else _rounded(constant)[-1]
            yield Formula(shape, factor, unit, scale, float(f"{whole:.10g}"))


def _computed(shape: int, values: Floats, inputs: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return what a shape gives for the first rows, and their values; not what is 0."""
    first = values[:LOOKED_AT]
    found = Formula(shape, 1.0, 0.0, 1.0).computed([own[:LOOKED_AT] for own in inputs])
    usable = (found != 0) & ~np.isnan(found) & ~np.isnan(first)
    return found[usable], first[usable]


def _middle(values: Floats) -> float:
    """Return the median of a few numbers, quicker than NumPy does; NaN where there is one."""
    ordered = np.sort(values)
    found = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return math.nan if math.isnan(ordered[-1]) else float(found)


def _rounded(number: float) -> list[float]:
    """Return a number with few digits, the fewest first; before them the share of a mean."""
    found = [float(f"{number:.{digits}g}") for digits in DIGITS]
    parts = round(1 / number) if abs(number) > 1 / (MOST_PARTS + 1) else 0
    if abs(parts) > 1 and abs(parts * number - 1) < ALIKE / 4:
        found.insert(0, 1 / parts)
    return [*dict.fromkeys(found)]


def _holds(formula: Formula, values: Floats, inputs: Sequence[Floats]) -> bool:
    """Return whether a formula holds in nearly all rows; the first tell most of those that do not.

    What is 0 on both sides is no evidence.
    """
    first = formula.off(values[:LOOKED_AT], [own[:LOOKED_AT] for own in inputs])
    if np.mean(np.isnan(first) | (first == 0)) < PROMISING:
        return False
    away = formula.off(values, inputs)
    known = away[~np.isnan(away) & ((values != 0) | (away != 0))]
    return len(known) >= LEAST_ROWS and bool(np.mean(known != 0) <= MOST_EXCEPTIONS)


@dataclasses.dataclass(frozen=True, eq=False)
class ExactRelation:
    """A number that is computed from others."""

    target: int
    given: Places
    formula: Formula


def _products(variables: Sequence[Variable]) -> Iterator[tuple[int, Places]]:
    """Return numbers and pairs of others whose product they follow, by ranks of the first rows.

    A fit adds up what its predictors say: `used x price + fee` is no sum, nor is its logarithm.
    With a pair go a rate and a fee that make up what is left.
    """
    places = _quantities(variables)
    pairs = [*itertools.combinations(places, 2)]
    if not pairs or len(variables[places[0]].values) < LOOKED_AT:
        return
    numbers = {place: np.nan_to_num(variables[place].numbers[:LOOKED_AT]) for place in places}
    with np.errstate(over="ignore"):
        ranked = _ranks(np.array([numbers[left] * numbers[right] for left, right in pairs]))
    each = np.abs(_ranks(np.array(list(numbers.values()))) @ ranked.T)
    for target, alike in zip(places, each, strict=True):
        if variables[target].can_be_predicted:
            best = np.argsort(-alike, kind="stable")
            tried = [pairs[place] for place in best if alike[place] >= STEADY]
            tried = [pair for pair in tried if target not in pair][:MOST_PRODUCTS]
            for pair in tried:
                yield target, pair
                others = [place for place in places if place not in (target, *pair)]
                rest = _rest(numbers, target, pair, others)
                if rest:
                    yield target, (*pair, *rest)


def _rest(
    numbers: Mapping[int, Floats], target: int, pair: Places, others: Sequence[int]
) -> Places:
    """Return the rate, or rate and fee, that make a product the target in most of the first rows.

    A share is no bill, nor is what is far from the product.
    """
    values, product = numbers[target], numbers[pair[0]] * numbers[pair[1]]
    slack = max(unit_of(values), 1e-9 * spread(values)) * (1 + 1e-6)
    if np.median(np.abs(values - product)) > np.median(np.abs(values)) / 2 or values.max() <= 1:
        return ()
    found: Places = ()
    best = PROMISING
    for rate in others:
        fees = [place for place in others if place != rate]
        amounts = np.abs([np.zeros(len(values)), *(numbers[place] for place in fees)])
        most = numbers[rate].max()
        if numbers[rate].min() < 0 or not 0 < most <= 100:
            continue
        for _, change in RATES[:2] if most <= 1 else RATES[2:]:
            left = np.abs(values - product * change(numbers[rate]))
            shares = np.mean(np.abs(left - amounts) <= slack, axis=1)
            fee = int(shares.argmax())
            if shares[fee] > best:
                best, found = shares[fee], (rate, *fees[fee - 1 : fee])
    return found


def _quantities(variables: Sequence[Variable]) -> list[int]:
    """Return which columns are quantities, known in nearly all rows."""
    return [
        place
        for place, item in enumerate(variables)
        if item.is_numeric and item.is_quantity and item.known[:LOOKED_AT].mean() > STEADY
    ]


def _sums(variables: Sequence[Variable]) -> Iterator[tuple[int, Places]]:
    """Return numbers and more than three others whose sum or mean they are, as far as fits tell.

    What all others explain of a column follows from one inverse of their correlations; only where
    that is nearly everything, a fit to the rows nearest to it tells which ones are its parts.
    """
    places = _quantities(variables)
    if len(places) <= max(SHAPES) + 1:
        return
    numbers = np.column_stack([variables[place].numbers for place in places])
    numbers = numbers[~np.isnan(numbers).any(axis=1)]
    if len(numbers) < max(LEAST_ROWS, 3 * len(places)):
        return
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        bounded = np.column_stack([clipped(own) for own in numbers.T])
        related = np.nan_to_num(np.corrcoef(bounded, rowvar=False)) + 1e-9 * np.eye(len(places))
        left = 1 / np.diag(np.linalg.pinv(related, hermitian=True))
    for place in np.flatnonzero(left < 1 - STEADY).tolist():
        target = variables[places[place]]
        others = [own for own in range(len(places)) if own != place]
        parts = _parts(numbers[:, place], numbers[:, others]) if target.can_be_predicted else []
        if max(SHAPES) < len(parts) <= MOST_PARTS:
            yield places[place], tuple(places[others[part]] for part in parts)


def _parts(values: Floats, others: Floats) -> list[int]:
    """Return which columns add up to a number, each counted alike; none where they do not."""
    centre, scale = np.median(others, axis=0), np.maximum(others.std(axis=0), 1e-300)
    inputs = np.column_stack([(others - centre) / scale, np.ones(len(values))])
    nearest = np.arange(len(values))
    for _ in range(ROUNDS):
        found = np.linalg.lstsq(inputs[nearest], values[nearest], rcond=None)[0]
        away = np.abs(values - inputs @ found)
        nearest = np.sort(np.argsort(away, kind="stable")[: int(NEAREST * len(values))])
    counts = found[:-1] / scale
    parts = np.flatnonzero(np.abs(found[:-1]) > ALIKE * np.abs(found[:-1]).max())
    usual = np.median(counts[parts]) if len(parts) else 0.0
    is_alike = np.abs(counts[parts] - usual) <= ALIKE * abs(usual)
    return parts.tolist() if len(parts) and bool(is_alike.all()) else []


def _ranks(rows: Floats) -> Floats:
    """Return the ranks of each row, of mean 0 and length 1, so that products are correlations."""
    order = np.argsort(np.argsort(rows, axis=1, kind="stable"), axis=1).astype(np.float64)
    order -= order.mean(axis=1, keepdims=True)
    lengths: Floats = np.sqrt((order**2).sum(axis=1, keepdims=True))
    return order / lengths


def with_exact(
    variables: Sequence[Variable], found: Sequence[Related]
) -> list[Related | ExactRelation]:
    """Replace fits by exact relations where there are some: one for each set of columns."""
    exact: dict[frozenset[int], ExactRelation] = {}
    candidates = [(item.target, item.given) for item in found]
    for target, given in dict.fromkeys([*candidates, *_products(variables), *_sums(variables)]):
        recognised = recognise(variables[target], [variables[place] for place in given], given)
        if recognised is not None:
            own = ExactRelation(target, *recognised)
            columns = frozenset((own.target, *own.given))
            known = exact.setdefault(columns, own)
            if own.formula.complexity < known.formula.complexity:
                exact[columns] = own
    # What a fit says of the result of a formula and its parts, the formula says better.
    kept: list[Related | ExactRelation] = list(exact.values())
    for item in found:
        both = frozenset((item.target, *item.given))
        if not any(whole <= both or one.target in both <= whole for whole, one in exact.items()):
            kept.append(item)
    return kept
