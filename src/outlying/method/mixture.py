"""One-dimensional Gaussian mixture by EM with annihilation: arrays in, arrays out.

Figueiredo and Jain 2002, as the paper uses it (section 5.1), with the corrections of method 4: two
parameters per component in the annihilation term, the kernel's minus sign, a floor under the
widths. Few components are updated one at a time, so that the rows of a dying component pass to its
neighbours before anybody else dies; as long as they are many, all at once, which is faster.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

from outlying.method.density import Counts, Floats

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


@dataclasses.dataclass(frozen=True, slots=True)
class Mixture:
    """Weights, means and widths of the components, ordered by mean."""

    weights: Floats
    means: Floats
    widths: Floats

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
    state = _State(values, counts, floor, _start(values, counts, seed))
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
    return state.snapshot()


def message_length(weights: Floats, log_likelihood: float, rows: float) -> float:
    """Return the message length of a mixture (Figueiredo and Jain 2002, equation 15)."""
    count = len(weights)
    logs = float(np.add.reduce(np.log(rows * weights / 12)))
    return (
        PARAMETERS / 2 * logs
        + count / 2 * math.log(rows / 12)
        + count * (PARAMETERS + 1) / 2
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
    """The running fit.

    Weights are held up to a common factor, as responsibilities are ratios. Parts (weight times
    density) are held relative to each value's largest one, so that a far value never underflows.
    """

    def __init__(self, values: Floats, counts: Counts, floor: float, means: Floats) -> None:
        rows = int(counts.sum())
        self.rows = float(min(rows, MOST_ROWS))
        self.values, self.counts, self.floor = values, counts * (self.rows / rows), floor
        self.weights: Floats = np.full(len(means), 1 / len(means))
        self.means = means.copy()
        self.widths = np.maximum(floor, _spacing(means) / 2)
        self.refresh()

    def refresh(self) -> None:
        """Compute all parts anew, with weights that sum to 1 and a fresh reference."""
        self.weights /= np.add.reduce(self.weights)
        logs = _log_parts(self.weights, self.means, self.widths, self.values)
        self.reference = logs.max(axis=0)
        self.parts = np.exp(logs - self.reference)
        self.total = np.add.reduce(self.parts, axis=0)

    def thin_out(self) -> None:
        """Update all components at once; kill those without rows, or else the lightest one."""
        shares = self.parts * (self.counts / self.total)
        mass = np.add.reduce(shares, axis=1)
        self.means = shares @ self.values / mass
        shares *= np.square(self.values - self.means[:, None])
        self.widths = np.maximum(self.floor, np.sqrt(np.add.reduce(shares, axis=1) / mass))
        self.weights = (mass - PARAMETERS / 2) / self.rows
        doomed = self.weights <= 0
        if not doomed.any():
            doomed = np.arange(len(mass)) == self.lightest()
        self.keep(~doomed)

    def snapshot(self) -> Mixture:
        order = np.argsort(self.means, kind="stable")
        return Mixture(self.weights[order], self.means[order], self.widths[order])

    def length(self) -> float:
        logs = np.log(self.total) + self.reference - 0.5 * math.log(2 * math.pi)
        return message_length(self.weights, float(np.add.reduce(logs * self.counts)), self.rows)

    def parameters(self) -> tuple[Floats, Floats, Floats]:
        """Return weights, means and widths as they are now."""
        return self.weights.copy(), self.means.copy(), self.widths.copy()

    def restore(self, parameters: tuple[Floats, Floats, Floats]) -> None:
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
        whole = float(np.add.reduce(self.weights))
        self.weights /= whole
        self.parts /= whole
        self.total /= whole
        if self.total.min() < _LEAST_TOTAL:
            self.refresh()

    def update(self, index: int) -> int:
        """Update one component; give 1 if it lives, 0 if it was annihilated."""
        shares = self.parts[index] / self.total
        shares *= self.counts
        mass = float(np.add.reduce(shares))
        if mass <= PARAMETERS / 2 and len(self.weights) > 1:
            self.kill(index)
            return 0
        mean = float(shares @ self.values) / mass
        squares = self.values - mean
        squares *= squares
        width = max(self.floor, math.sqrt(float(shares @ squares) / mass))
        share = (mass - PARAMETERS / 2) / self.rows
        self.weights[index] = share * float(np.add.reduce(self.weights))
        self.means[index], self.widths[index] = mean, width
        self.replace(index, squares)
        return 1

    def replace(self, index: int, squares: Floats) -> None:
        """Put the part of an updated component in its place."""
        width = float(self.widths[index])
        squares *= -0.5 / (width * width)
        squares += math.log(float(self.weights[index]) / width)
        squares -= self.reference
        if squares.max() > 300.0:  # the reference is stale: exp would overflow
            self.refresh()
            return
        np.exp(squares, out=self.parts[index])
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
