"""One-dimensional Gaussian mixture by EM with annihilation: arrays in, arrays out.

Figueiredo and Jain 2002, as the paper uses it (section 5.1), with the corrections of method 4: two
parameters per component in the annihilation term, the kernel's minus sign, a floor under the
widths. Few components are updated one at a time, so that the rows of a dying component pass to its
neighbours before anybody else dies; as long as they are many, all at once, which is faster.

Exponentials, logarithms and sums have the same bits everywhere, as kernel/mixture.c has them: those
of NumPy depend on the processor and on the libraries it was built with, and the fit amplifies
rounding, as components that are nearly the same go apart from the last bit on.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from outlying.kernel.library import compiled
from outlying.kernel.sweep import fit_mixture
from outlying.method.density import Counts, Floats

Number = TypeVar("Number", float, Floats)

PARAMETERS = 2  # of one component: its mean and its width
MOST_COMPONENTS = 64
MOST_ROWS = MOST_COMPONENTS**2  # more rows add weight to no fit: see docs/decisions
TOLERANCE = 0.5  # a sweep that shortens the message by less has converged
COARSE_TOLERANCE = 2.0  # enough to tell how many components are best
MOST_SWEEPS = 200
FEW_COMPONENTS = 8  # more of them are only thinned out: one sweep, then the lightest dies
#: Message lengths, responsibilities and weights closer than this are ties; the first one wins.
TIE = 1e-9
_LEAST_TOTAL = 1e-100
_HALF_LOG_TAU = 0.9189385332046727  # log(2 pi) / 2
#: Parts less than e to this power, beside the largest one, are zero; rather soon while there are so
#: many components that the next step computes all of them anew.
SMALLEST, NEGLIGIBLE = -700.0, -45.0

#: Weights, means and widths of components.
_Parameters: TypeAlias = tuple[Floats, Floats, Floats]

LANES = 8
_SHIFT = float.fromhex("0x1.8p52")  # a sum with it has a whole number in its last bits
_PER_LOG_2 = float.fromhex("0x1.71547652b82fep0")
_LOG_2, _LOG_2_REST = (float.fromhex(half) for half in ("0x1.62e42feep-1", "0x1.a39ef35793c76p-33"))
_FACTORIALS = [float(math.factorial(power)) for power in range(14)]
_ODD = [float(power) for power in range(3, 25, 2)]
_ROOT = np.uint64(0x3FE6A09E667F3BCD)  # of 1/2, as bits
_ROOT_OF_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")
_ONE, _TWO = np.uint64(0x3FF0000000000000), np.uint64(0x4000000000000000)
_WHOLE = np.uint64(0x4330000000000000)  # 2 to the power of 52, as bits
_MANTISSA, _MANTISSA_BITS = np.uint64(0x000FFFFFFFFFFFFF), np.uint64(52)


@dataclasses.dataclass(frozen=True, slots=True)
class Mixture:
    """Weights, means and widths of the components, ordered by mean."""

    weights: Floats
    means: Floats
    widths: Floats

    @classmethod
    def ordered(cls, weights: Floats, means: Floats, widths: Floats) -> Mixture:
        """Put components in order."""
        order = np.argsort(means, kind="stable")
        return cls(weights[order], means[order], widths[order])

    def assign(self, values: Floats) -> Counts:
        """Return the component with the largest responsibility for each value."""
        logs = _log_parts(self.weights, self.means, self.widths, values)
        best = logs.max(axis=0)
        return np.asarray(np.argmax(logs >= best - TIE, axis=0))


def fit(values: Floats, counts: Counts, floor: float, seed: int | None = None) -> Mixture:
    """Fit a mixture to distinct sorted values with their counts.

    `floor` is the least width of a component. The start is deterministic (evenly spaced quantiles)
    unless a seed asks for the paper's random one. The fit of least message length on the way down
    to a single component is kept.
    """
    rows, means = int(counts.sum()), _start(values, counts, seed)
    weighed = float(min(rows, MOST_ROWS))
    points = values, np.asarray(counts * (weighed / rows), dtype=np.float64)
    weights = np.full(len(means), 1 / len(means))
    start = weights, means.copy(), np.maximum(floor, _spacing(means) / 2)
    kernel = compiled()
    if kernel is not None:
        return Mixture.ordered(*fit_mixture(kernel, points, weighed, floor, start))
    return Mixture.ordered(*_fitted(points, weighed, floor, start))


def _fitted(
    points: tuple[Floats, Floats], rows: float, floor: float, start: _Parameters
) -> _Parameters:
    """Fit a mixture without compiled code."""
    state = _State(points, rows, floor, start)
    while len(state.weights) > FEW_COMPONENTS:
        state.thin_out()
    best, least = state.parameters(), math.inf
    while True:
        length = state.converge(COARSE_TOLERANCE)
        if length < least - TIE * abs(length):
            best, least = state.parameters(), length
        if len(state.weights) == 1:
            break
        state.kill(state.lightest())
    state.restore(best)
    state.converge(TOLERANCE)
    return state.parameters()


def message_length(weights: Floats, log_likelihood: float, rows: float) -> float:
    """Return the message length of a mixture (Figueiredo and Jain 2002, equation 15)."""
    count = len(weights)
    return (
        PARAMETERS / 2 * sum(logarithm_of(weight) for weight in (rows * weights / 12).tolist())
        + count / 2 * logarithm_of(rows / 12)
        + count * ((PARAMETERS + 1) / 2)
        - log_likelihood
    )


def _start(values: Floats, counts: Counts, seed: int | None) -> Floats:
    """Choose the first means: evenly spaced quantiles, or rows at random."""
    rows = int(counts.sum())
    number = min(MOST_COMPONENTS, math.ceil(math.sqrt(rows)))
    if seed is None:
        ranks = (2 * np.arange(number) + 1) * rows / (2 * number)
    else:
        drawn = np.random.default_rng(seed).integers(0, rows, size=number)
        ranks = np.sort(drawn) + np.float64(0.5)
    return values[np.searchsorted(np.cumsum(counts), ranks)]


def _spacing(means: Floats) -> Floats:
    """Return the mean distance of each start to its neighbours; at the ends, to the only one."""
    gaps = np.diff(means)
    if len(gaps) == 0:
        return np.zeros(1)
    return np.asarray((np.append(gaps[:1], gaps) + np.append(gaps, gaps[-1:])) / 2)


def _log_parts(weights: Floats, means: Floats, widths: Floats, values: Floats) -> Floats:
    """Return log(weight * density), without the constant, for each component and value."""
    scaled = (values[None, :] - means[:, None]) / widths[:, None]
    return np.asarray(np.log(weights / widths)[:, None] - 0.5 * scaled * scaled)


class _State:
    """The running fit, as kernel/mixture.c makes it.

    Weights are held up to a common factor, as responsibilities are ratios. Parts (weight times
    density) are held relative to each value's largest one, so that a far value never underflows.
    """

    def __init__(
        self, points: tuple[Floats, Floats], rows: float, floor: float, start: _Parameters
    ) -> None:
        values, counts = points
        more = -len(values) % LANES
        self.values = np.append(values, np.full(more, values[-1]))
        self.counts = np.append(counts, np.zeros(more))
        self.rows, self.floor = rows, floor
        self.weights, self.means, self.widths = start
        self.refresh()

    def refresh(self) -> None:
        """Compute all parts anew, with weights that sum to 1 and a fresh reference."""
        self.weights /= sum_in_turn(self.weights)
        scaled = (self.values - self.means[:, None]) * (1 / self.widths)[:, None]
        logs = logarithm(self.weights / self.widths)[:, None] - 0.5 * scaled * scaled
        self.reference = logs.max(axis=0)
        is_rough = len(self.weights) > FEW_COMPONENTS
        self.parts = _exponential(logs - self.reference, NEGLIGIBLE if is_rough else SMALLEST)
        self.total = np.add.reduce(self.parts, axis=0)

    def thin_out(self) -> None:
        """Update all components at once; kill those without rows, or else the lightest one."""
        shares = self.parts * (self.counts / self.total)
        mass = sum_in_lanes(shares)
        kept = mass > PARAMETERS / 2
        shares, mass = shares[kept], mass[kept]
        self.means = sum_in_lanes(shares * self.values) / mass
        shares *= np.square(self.values - self.means[:, None])
        self.widths = np.maximum(self.floor, np.sqrt(sum_in_lanes(shares) / mass))
        self.weights = (mass - PARAMETERS / 2) / self.rows
        if kept.all():
            self.kill(self.lightest())
        else:
            self.refresh()

    def length(self) -> float:
        logs = logarithm(self.total) + self.reference - _HALF_LOG_TAU
        likelihood = float(sum_in_lanes(logs * self.counts))
        return message_length(self.weights, likelihood, self.rows)

    def parameters(self) -> _Parameters:
        """Return weights, means and widths as they are now."""
        return self.weights.copy(), self.means.copy(), self.widths.copy()

    def restore(self, parameters: _Parameters) -> None:
        """Go back to earlier parameters."""
        self.weights, self.means, self.widths = parameters
        self.refresh()

    def converge(self, tolerance: float) -> float:
        """Sweep over the components until the message length stands still; give that length."""
        length = self.length()
        for _ in range(MOST_SWEEPS):
            before = length
            self.sweep()
            length = self.length()
            if abs(before - length) <= tolerance:
                break
        return length

    def sweep(self) -> None:
        """Update each component once, each with fresh responsibilities; kill those without rows."""
        index = 0
        while index < len(self.weights):
            index += self.update(index)
        self.normalise()

    def normalise(self) -> None:
        """Have weights that sum to 1; refresh where a value has fallen far from its reference."""
        whole = sum_in_turn(self.weights)
        self.weights /= whole
        self.parts *= 1 / whole
        self.total *= 1 / whole
        if self.total.min() < _LEAST_TOTAL:
            self.refresh()

    def update(self, index: int) -> int:
        """Update one component; give 1 if it lives, 0 if it was annihilated."""
        shares = self.parts[index] * (self.counts / self.total)
        mass = float(sum_in_lanes(shares))
        if mass <= PARAMETERS / 2 and len(self.weights) > 1:
            self.kill(index)
            return 0
        mean = float(sum_in_lanes(shares * self.values)) / mass
        squares = self.values - mean
        squares *= squares
        width = max(self.floor, math.sqrt(float(sum_in_lanes(shares * squares)) / mass))
        share = (mass - PARAMETERS / 2) / self.rows
        self.weights[index] = share * sum_in_turn(self.weights)
        self.means[index], self.widths[index] = mean, width
        self.replace(index, squares)
        return 1

    def replace(self, index: int, squares: Floats) -> None:
        """Put the part of an updated component in its place."""
        width = float(self.widths[index])
        squares *= -0.5 / (width * width)
        squares += logarithm_of(float(self.weights[index]) / width)
        squares -= self.reference
        if squares.max() > 300.0:  # the reference is stale: its exponential would overflow
            self.refresh()
            return
        self.parts[index] = _exponential(squares, SMALLEST)
        np.add.reduce(self.parts, axis=0, out=self.total)

    def lightest(self) -> int:
        return int(np.argmax(self.weights <= self.weights.min() + TIE))

    def kill(self, index: int) -> None:
        """Remove a component; its rows pass to the others."""
        self.keep(np.arange(len(self.weights)) != index)

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Remove all components but some."""
        self.weights, self.means, self.widths = (
            self.weights[kept],
            self.means[kept],
            self.widths[kept],
        )
        self.refresh()


def _exponential(x: Floats, least: float) -> Floats:
    """Return e to powers, 0 for those up to the least one."""
    if x.min() > least:
        return exponential(x)
    found, above = np.zeros_like(x), x > least
    found[above] = exponential(x[above])
    return found


# --- the same bits everywhere --------------------------------------------------------------------


def exponential(x: Floats) -> Floats:
    """Return e to powers between -700 and 700.

    A power of 2 by the bits of its exponent, times the series of what is left.
    """
    shifted = x * _PER_LOG_2 + _SHIFT
    power = shifted - _SHIFT
    rest = (x - power * _LOG_2) - power * _LOG_2_REST
    scale = (shifted.view(np.uint64) << _MANTISSA_BITS) + _ONE
    square = rest * rest
    fourth = square * square
    s0, s4, s8 = (_cubic(_FACTORIALS[at : at + 4], rest, square) for at in (0, 4, 8))
    s12 = 1 / _FACTORIALS[12] + 1 / _FACTORIALS[13] * rest
    series = (s0 + s4 * fourth) + (s8 + s12 * fourth) * (fourth * fourth)
    return np.asarray(series * scale.view(np.float64))


def logarithm(x: Floats) -> Floats:
    """Return the natural logarithms of positive, normal numbers.

    The exponent, and the series of the inverse hyperbolic tangent of what is left, which is between
    the roots of 1/2 and of 2.
    """
    bits = np.asarray(x, dtype=np.float64).view(np.uint64) - _ROOT + _TWO
    power = ((bits >> _MANTISSA_BITS) + _WHOLE).view(np.float64) - (2.0**52 + 1024)
    return np.asarray(_of_parts(((bits & _MANTISSA) + _ROOT).view(np.float64), power))


def logarithm_of(number: float) -> float:
    """Return the natural logarithm of one positive, normal number: the same bits, sooner."""
    left, power = math.frexp(number)
    if left < _ROOT_OF_HALF:
        left, power = 2 * left, power - 1
    return _of_parts(left, float(power))


def _of_parts(left: Number, power: Number) -> Number:
    """Return the logarithms of numbers between the roots of 1/2 and 2, times powers of 2."""
    tangent = (left - 1.0) / (left + 1.0)
    t = tangent * tangent
    square = t * t
    fourth = square * square
    s0, s4 = _cubic(_ODD[:4], t, square), _cubic(_ODD[4:8], t, square)
    s8 = (1 / _ODD[8] + 1 / _ODD[9] * t) + 1 / _ODD[10] * square
    series = tangent * ((s0 + (s4 + s8 * fourth) * fourth) * t)
    return power * _LOG_2 + (power * _LOG_2_REST + 2.0 * (tangent + series))


def _cubic(parts: Sequence[float], x: Number, square: Number) -> Number:
    """Sum up four powers, divided by four numbers (Estrin's scheme)."""
    a, b, c, d = parts
    return (1 / a + 1 / b * x) + (1 / c + 1 / d * x) * square


def sum_in_lanes(numbers: Floats) -> Floats:
    """Sum up along the last axis, a multiple of eight long, in eight lanes."""
    found = np.add.reduce(numbers.reshape(*numbers.shape[:-1], -1, LANES), axis=-2)
    found = found[..., :4] + found[..., 4:]
    found = found[..., :2] + found[..., 2:]
    return np.asarray(found[..., 0] + found[..., 1])


def sum_in_turn(numbers: Floats) -> float:
    """Sum up one number after the other."""
    return float(np.add.accumulate(numbers)[-1])
