"""Exponentials, logarithms and sums with the same bits everywhere, as kernel/mixture.c has them.

Those of NumPy depend on the processor and on the libraries that it was built with. The fit of a
mixture amplifies rounding: components that are nearly the same go apart from the last bit on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from outlying.method.density import Floats

Number = TypeVar("Number", float, Floats)

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
