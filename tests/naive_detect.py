"""A slow, obvious twin of feature bagging, written from docs/detect.md alone.

Nothing here is shared with the package. What is random, the attributes of each round and the rows
that a round compares with, is an argument: both sides are given the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Value = float | str | bool | None
Table = Mapping[str, Sequence[Value]]

HALF = 0.5
MOST_LABELS = 32
INLIERS = 0.95
DIGITS = 9
EPSILON = 1e-9


@dataclass(frozen=True)
class Verdict:
    """What all rounds say of one row."""

    score: float
    votes: int
    remoteness: float


# --- distances ---


def is_number(value: Value) -> bool:
    return isinstance(value, float)


def spread(values: Sequence[float], scale: str) -> float:
    """What one unit of distance is in a column."""
    if scale == "none":
        return 1.0
    if scale == "range":
        return max(values) - min(values)
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((x - mean) ** 2 for x in values) / len(values))


def median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def numeric_steps(a: Value, b: Value, known: Sequence[float], scale: str) -> float:
    """Squared distance of two cells of a column of numbers; a gap stands in the middle."""
    unit, middle = spread(known, scale), median(known)
    x, y = (middle if cell is None else float(cell) for cell in (a, b))
    steps = 0.0 if unit == 0 else ((x - y) / unit) ** 2
    return steps + (HALF if (a is None) != (b is None) else 0.0)


def label_steps(a: Value, b: Value, often: Sequence[Value]) -> float:
    """Squared distance of two labels; those that are not frequent count as one."""
    if a is None or b is None:
        return 0.0 if a is b else HALF
    a, b = (cell if cell in often else "the rare ones" for cell in (a, b))
    return 0.0 if a == b else 1.0


def frequent(cells: Sequence[Value]) -> list[Value]:
    """The labels with a coordinate of their own."""
    labels = sorted({cell for cell in cells if cell is not None}, key=str)
    if len(labels) <= MOST_LABELS:
        return list(labels)
    labels.sort(key=lambda label: -sum(1 for cell in cells if cell == label))
    return list(labels[: MOST_LABELS - 1])


def distances_by_column(cells: Sequence[Value], scale: str) -> list[list[float]]:
    known = [cell for cell in cells if cell is not None]
    if all(is_number(cell) for cell in known):
        numbers = [float(cell) for cell in known]
        return [[numeric_steps(a, b, numbers, scale) for b in cells] for a in cells]
    often = frequent(cells)
    return [[label_steps(a, b, often) for b in cells] for a in cells]


# --- rounds ---


def distance(steps: Sequence[list[list[float]]], row: int, other: int) -> float:
    return math.sqrt(math.fsum(column[row][other] for column in steps) / len(steps))


def neighbours(
    steps: Sequence[list[list[float]]], row: int, others: Sequence[int], count: int
) -> list[float]:
    """Distances to the nearest other rows, per attribute.

    A row is no neighbour of itself; but it is as good as its copies that are not compared with.
    """
    found = sorted(distance(steps, row, other) for other in others)
    everywhere = [distance(steps, row, other) for other in range(len(steps[0]))]
    if found.count(0) == everywhere.count(0):
        del found[0]
    return found[:count]


def base_scores(found: Sequence[list[float]], base: str, radius: float | None) -> list[float]:
    if base == "kth-neighbour":
        return [distances[-1] for distances in found]
    if radius is None:
        ordered = sorted(distances[-1] for distances in found)
        radius = next(
            r for r in ordered if sum(1 for d in ordered if d <= r) >= INLIERS * len(ordered)
        )
    scores = []
    for distances in found:
        missing = sum(1 for distance in distances if distance > radius * (1 + EPSILON))
        scores.append(missing + distances[-1] / (1 + distances[-1]))
    return scores


def relative(scores: Sequence[float]) -> list[float]:
    """Scores as multiples of the average."""
    mean = math.fsum(scores) / len(scores)
    return [round(score / mean, DIGITS) if mean > 0 else 0.0 for score in scores]


def rank(scores: Sequence[float], row: int, count: int) -> int:
    """The place of a row; few that tie share the better one, many the worse one."""
    above = sum(1 for score in scores if score > scores[row])
    ties = sum(1 for score in scores if score == scores[row])
    return above + 1 if ties <= count else above + ties


def detect(
    table: Table,
    rounds: Sequence[Sequence[str]],
    references: Sequence[Sequence[int]],
    count: int = 5,
    base: str = "kth-neighbour",
    radius: float | None = None,
    combine: str = "rank",
    scale: str = "deviation",
) -> list[Verdict]:
    """Score every row: one list of column names, and of rows to compare with, for each round."""
    size = len(next(iter(table.values())))
    others_of_a_row = min(len(others) for others in references) - 1
    count = max(1, min(count, others_of_a_row // 2))
    steps = {name: distances_by_column(cells, scale) for name, cells in table.items()}
    votes, best, totals = [0] * size, [size] * size, [0.0] * size
    for names, others in zip(rounds, references, strict=True):
        chosen = [steps[name] for name in names]
        found = [neighbours(chosen, row, others, count) for row in range(size)]
        scores = relative(base_scores(found, base, radius))
        for row in range(size):
            place = rank(scores, row, count)
            votes[row] += place == 1
            best[row] = min(best[row], place)
            totals[row] += scores[row]
    means = [round(total / len(rounds), DIGITS) for total in totals]
    return [
        Verdict(combined(combine, votes[row], best[row], means[row]), votes[row], means[row])
        for row in range(size)
    ]


def combined(how: str, votes: int, best: int, mean: float) -> float:
    if how == "sum":
        return mean
    if how == "votes":
        return votes + mean / (1 + mean)
    return 1 / (best + 1 / (1 + mean))
