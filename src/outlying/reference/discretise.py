"""Numeric columns cut into bins: the older, categorical method, for comparison.

The method of 2009 that the paper compares itself with (Angiulli, Fassetti, Palopoli) knows
categories only, so numbers have to be cut into bins first. The user has to choose how many;
that the answers depend on this choice is why the paper uses densities. Bins are closed on the
right, the first one on both sides; equal values are never separated.
"""

from __future__ import annotations

import numpy as np

from outlying.method.density import Floats
from outlying.options import Discretise
from outlying.table.columns import CategoricalColumn, Codes, Column, frozen
from outlying.table.values import Form, text_of, value_of


def binned(column: Column, kind: Discretise | None, bins: int) -> Column:
    """Return a numeric column cut into bins; without a kind, and if categorical, as it is.

    A bin is named by the least and the greatest value in it, so that it reads like any other
    interval here; a bin without rows is left out.
    """
    if kind is None or not column.is_numeric:
        return column
    known = ~column.missing()
    values = column.values[known] + 0.0  # no negative zero
    ordered = np.sort(values)
    edges = inner_edges(ordered, kind, bins)
    used, firsts = np.unique(bin_numbers(ordered, edges), return_index=True)
    lasts = np.append(firsts[1:], len(ordered)) - 1
    codes: Codes = np.full(len(column), -1, dtype=np.int32)
    codes[known] = np.searchsorted(used, bin_numbers(values, edges))
    labels = _bin_labels(column.form, ordered[firsts], ordered[lasts])
    return CategoricalColumn(column.name, "text", frozen(codes), labels)


def inner_edges(ordered: Floats, kind: Discretise, bins: int) -> Floats:
    """Return the inner edges of bins: where they end, the last one excepted.

    Equi-width: at even distances between the least and the greatest value. Equi-depth: at the
    values of ranks N/bins, 2 N/bins, ..., rounded up; where several are equal, bins merge.
    """
    numbers = np.arange(1, bins)
    if kind == "equi-depth":
        return np.unique(ordered[-(-len(ordered) * numbers // bins) - 1])
    exponent = int(np.frexp(np.max(np.abs(ordered[[0, -1]])))[1])  # huge values do not overflow
    low, high = np.ldexp(ordered[[0, -1]], -exponent)
    return np.asarray(np.ldexp(low + (high - low) * numbers / bins, exponent))


def bin_numbers(values: Floats, edges: Floats) -> Codes:
    """Return the bin of each value: the first one that does not end before it."""
    return np.searchsorted(edges, values, side="left").astype(np.int32)


def histogram(ordered: Floats, kind: Discretise, bins: int) -> tuple[Floats, Floats]:
    """Return the edges of a histogram, outer ones included, and the share of rows in each bin."""
    edges = inner_edges(ordered, kind, bins)
    shares = np.bincount(bin_numbers(ordered, edges), minlength=len(edges) + 1) / len(ordered)
    return np.concatenate((ordered[:1], edges, ordered[-1:])), shares


def _bin_labels(form: Form, lows: Floats, highs: Floats) -> tuple[str, ...]:
    """Return bins named by their ends; in full where short names would be the same."""
    names = tuple(
        _range(*(text_of(value_of(form, float(end))) for end in ends))
        for ends in zip(lows, highs, strict=True)
    )
    if len(set(names)) == len(names):
        return names
    return tuple(
        _range(repr(float(low)), repr(float(high))) for low, high in zip(lows, highs, strict=True)
    )


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
