"""What a picture of a relation needs: some rows, what is expected of them, and the row itself.

A cell that breaks a relation is best seen among the rows that keep it: beside the column that
predicts it, beside what is computed from several, or among the other rows of its own thing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from outlying.derived.past import OwnPast, Step
from outlying.derived.relations import Computed, Fitted, Prediction, Relation
from outlying.derived.rules import Follows, Later, OfOwnKind, Ordered
from outlying.method.profiles import (
    CategoricalSketch,
    RelationSketch,
    categorical_sketch,
    shown_categories,
)
from outlying.method.relations import Values, logarithm
from outlying.table.columns import Column
from outlying.table.values import Floats, Rows

_MOST_ROWS = 300
_BAND_POINTS = 60
_MOST_STEPS = 120  # of a series


def relation_sketch(
    relation: Relation, columns: Mapping[str, Column], row: int
) -> RelationSketch | CategoricalSketch | None:
    """Sketch what a row says against a relation; None where there is no picture of it."""
    if not {relation.parent, *relation.given} <= columns.keys():
        return None
    parent = columns[relation.parent]
    if isinstance(relation, Follows):
        return _labels(relation, columns, row)
    if not parent.is_numeric:
        return None
    if isinstance(relation, Prediction):
        only = columns[relation.given[0]]
        if len(relation.given) == 1 and only.is_numeric:
            return _along(relation, only.values, parent.values, row)
        return _predicted(relation, columns, parent.values, row)
    if isinstance(relation, (Later, Ordered)):
        return _beside(relation, columns, parent.values, row)
    if isinstance(relation, OfOwnKind):
        return _own_kind(relation, columns, row)
    if isinstance(relation, OwnPast) and relation.parent != relation.panel.time:
        return _series(relation, columns, parent.values, row)
    return None


def _labels(relation: Follows, columns: Mapping[str, Column], row: int) -> CategoricalSketch | None:
    """Count the labels of the rows that are given the same."""
    parent = columns[relation.parent]
    given = relation.source.codes(columns[relation.source.name])
    if parent.is_numeric or given[row] < 0 or parent.codes[row] < 0:
        return None
    codes = parent.codes[given == given[row]]
    counts = np.bincount(codes[codes >= 0], minlength=len(parent.labels))
    shown = shown_categories(counts, int(parent.codes[row]))
    return categorical_sketch(counts, parent.labels, shown)


def _along(relation: Prediction, x: Floats, y: Floats, row: int) -> RelationSketch | None:
    """Sketch two numbers, with what is expected of one along the other."""
    rows = _drawn(x, y, row)
    if not np.isfinite([x[row], y[row]]).all() or len(rows) < 2:
        return None
    points = np.unique(np.append(np.quantile(x[rows], np.linspace(0, 1, _BAND_POINTS)), x[row]))
    low, high = _expected(relation, [points])
    return RelationSketch(
        relation.given[0], x[rows], y[rows], (points, low, high), (x[row], y[row])
    )


def _predicted(
    relation: Prediction, columns: Mapping[str, Column], y: Floats, row: int
) -> RelationSketch | None:
    """Sketch a number beside what several columns, or categories, say it should be."""
    numbers = [columns[name] for name in relation.given]
    if not any(item.is_numeric for item in numbers):
        return _same_labels(relation, columns, y, row)
    keys = (item.values if item.is_numeric else item.codes.astype(np.float64) for item in numbers)
    rows = np.append(_drawn(sum(keys, np.zeros(len(y))), y, row), row)
    inputs = [item.values(columns[item.name], rows) for item in relation.inputs]
    low, high = _expected(relation, inputs)
    middle = low / 2 + high / 2
    known = np.isfinite(middle) & np.isfinite(y[rows])
    if not known[-1] or np.count_nonzero(known) < 3:
        return None
    order = np.lexsort((high, low, middle))
    order = order[known[order]]
    band = middle[order], low[order], high[order]
    kept = known[:-1]
    return RelationSketch(
        "", middle[:-1][kept], y[rows][:-1][kept], band, (float(middle[-1]), float(y[row]))
    )


def _same_labels(
    relation: Prediction, columns: Mapping[str, Column], y: Floats, row: int
) -> RelationSketch | None:
    """Sketch the other rows with the same labels along the number itself, and what is expected."""
    own = [item.values(columns[item.name]) for item in relation.inputs]
    same = np.logical_and.reduce([codes == codes[row] for codes in own]) & np.isfinite(y)
    same[row] = False
    values = np.sort(y[same])
    values = values[np.linspace(0, len(values) - 1, min(len(values), _MOST_ROWS)).astype(np.int64)]
    low, high = _expected(relation, [codes[row : row + 1] for codes in own])
    if not np.isfinite([low[0], high[0], y[row]]).all():
        return None
    band = np.zeros(1), low, high
    return RelationSketch(None, np.zeros(len(values)), values, band, (0.0, float(y[row])))


def _expected(relation: Prediction, inputs: list[Values]) -> tuple[Floats, Floats]:
    with np.errstate(all="ignore"):
        if isinstance(relation, Fitted):
            return relation.fit.expected(inputs)
        assert isinstance(relation, Computed)  # noqa: S101 - there are no others
        return relation.formula.expected([np.asarray(own, dtype=np.float64) for own in inputs])


def _beside(
    relation: Later | Ordered, columns: Mapping[str, Column], y: Floats, row: int
) -> RelationSketch | None:
    """Sketch two numbers of which one comes after the other; the line is where it is expected."""
    other = columns[relation.given[0]]
    if not other.is_numeric or not np.isfinite([other.values[row], y[row]]).all():
        return None
    x = other.values
    rows = _drawn(x, y, row)
    ends = np.array([min(x[rows].min(), x[row]), max(x[rows].max(), x[row])])
    low, high = relation.rule.ends if isinstance(relation, Later) else (0.0, 0.0)
    return RelationSketch(
        other.name, x[rows], y[rows], (ends, ends + low, ends + high), (x[row], y[row])
    )


def _own_kind(
    relation: OfOwnKind, columns: Mapping[str, Column], row: int
) -> RelationSketch | None:
    """Sketch the other rows of the same thing along the number itself, and what is expected."""
    parent = columns[relation.parent]
    things = relation.things.codes(columns[relation.things.name])
    if not parent.is_numeric or things[row] < 0:
        return None
    others = np.flatnonzero(things == things[row])
    values = np.sort(parent.values[others[others != row]])
    values = values[~np.isnan(values)][:_MOST_ROWS]
    own = parent.values[row]
    scaled = logarithm(np.array([own]), relation.rule.least)
    ends = np.array(relation.rule.range(things[row : row + 1], scaled))
    band = np.zeros(1), ends[:1], ends[1:]
    return RelationSketch(None, np.zeros(len(values)), values, band, (0.0, float(own)))


def _series(
    relation: OwnPast, columns: Mapping[str, Column], y: Floats, row: int
) -> RelationSketch | None:
    """Sketch the rows of the same thing in time, those next to the row."""
    things, times = relation.panel.things(columns), relation.panel.times(columns)
    if things[row] < 0 or not np.isfinite([times[row], y[row]]).all():
        return None
    rows = np.flatnonzero((things == things[row]) & np.isfinite(times) & np.isfinite(y))
    rows = rows[rows != row]
    rows = rows[np.lexsort((y[rows], times[rows]))]
    at = int(np.searchsorted(times[rows], times[row]))
    rows = rows[max(0, at - _MOST_STEPS // 2) :][:_MOST_STEPS]
    low = high = np.full(1, np.nan)
    if isinstance(relation, Step):
        near = relation.rule.timeline.around(things[row : row + 1], times[row : row + 1])
        scaled = logarithm(y[row : row + 1], relation.rule.least)
        ends = np.array(relation.rule.range(things[row : row + 1], near, scaled))
        ends = ends if relation.rule.least is None else np.exp(np.minimum(ends, 700.0))
        low, high = ends[:1], ends[1:]
    own = float(times[row]), float(y[row])
    band = np.array([own[0]]), low, high
    return RelationSketch(relation.panel.time, times[rows], y[rows], band, own, is_series=True)


def _drawn(x: Floats, y: Floats, row: int) -> Rows:
    """Draw rows other than one by what they hold, whatever their order in the table."""
    known = np.isfinite(x) & np.isfinite(y)
    known[row] = False
    rows = np.flatnonzero(known)
    if len(rows) <= _MOST_ROWS:
        return rows[np.lexsort((y[rows], x[rows]))]
    bits = [numbers[rows].view(np.uint64) for numbers in (x + 0.0, y + 0.0)]
    mixed = bits[0] * np.uint64(0x9E3779B97F4A7C15) ^ bits[1] * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    rows = rows[np.argpartition(mixed, _MOST_ROWS)[:_MOST_ROWS]]
    return rows[np.lexsort((y[rows], x[rows]))]
