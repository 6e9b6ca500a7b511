"""Relations of numbers (method 6b), slow and obvious: lists, loops, and elimination by hand.

A column is a list of numbers, or of categories (whole numbers from 0 on); None is missing. The
order of the rows is that of the sample: every other row is in the same half.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, median

from tests.naive_surprise import deviation, quantile

Column = Sequence[float | int | None]
Matrix = list[list[float]]


def is_number(column: Column) -> bool:
    return any(isinstance(value, float) for value in column)


def known(column: Column) -> list[float]:
    return [value for value in column if value is not None]


def quantiles(values: Sequence[float], *shares: float) -> list[float]:
    ordered = sorted(values)
    return [quantile(ordered, share) for share in shares]


def spread(values: Sequence[float]) -> float:
    """Mean distance from the median without the outermost 2.5%."""
    if len(values) < 8:
        return 0.0
    middle = median(values)
    away = sorted(abs(value - middle) for value in values)
    return fmean(away[: max(1, int(0.975 * len(away)))])


def clipped(values: Sequence[float]) -> list[float]:
    """Five ranges between quartiles around the median, or five sixths of q01 to q99."""
    q01, q25, q50, q75, q99 = quantiles(values, 0.01, 0.25, 0.5, 0.75, 0.99)
    width = max(q75 - q25, (q99 - q01) / 6)
    if width <= 0:
        return list(values)
    return [min(max(value, q50 - 5 * width), q50 + 5 * width) for value in values]


def least(column: Column) -> float | None:
    """What stands for what is not positive; None where no logarithm is taken."""
    positive = [value for value in known(column) if value > 0]
    if not positive or len(positive) < 0.98 * len(known(column)):
        return None
    low, high = quantiles(positive, 0.01, 0.99)
    return min(positive) / 10 if high >= 1.5 * low else None


def logarithms(column: Column, is_log: bool) -> Column:
    floor = least(column) if is_log and is_number(column) else None
    if floor is None:
        return column
    return [None if value is None else math.log(max(value, floor)) for value in column]


def scaled(column: Column, is_log: bool) -> list[float] | None:
    """Clipped, of mean 0 and deviation 1; 0 where missing."""
    own = logarithms(column, is_log)
    values = clipped(known(own))
    middle, width = fmean(values), deviation(values)
    if width <= 0:
        return None
    each = iter(values)
    return [0.0 if value is None else (next(each) - middle) / width for value in own]


def bins(column: Column) -> list[int]:
    """Twelve quantile bins, or categories; 0 is missing."""
    if not is_number(column):
        return [0 if value is None else int(value) + 1 for value in column]
    values = known(column)
    cuts = sorted(set(quantiles(values, *(place / 12 for place in range(1, 12)))))
    return [0 if value is None else 1 + sum(cut <= value for cut in cuts) for value in column]


def errors(column: Column, left: Sequence[float], is_log: bool) -> float:
    """Squared errors if half of the rows predicts the other half: by a line, or by bins."""
    places = [range(half, len(left), 2) for half in (0, 1)]
    own, found = bins(column), 0.0
    for mine, other in ((0, 1), (1, 0)):
        said = {}
        for kind in set(own):
            members = [left[row] for row in places[other] if own[row] == kind]
            said[kind] = math.fsum(members) / (len(members) + 1)
        found += math.fsum((left[row] - said[own[row]]) ** 2 for row in places[mine])
    line = scaled(column, is_log) if is_number(column) else None
    if line is None:
        return found
    by_line = 0.0
    for mine, other in ((0, 1), (1, 0)):
        squares = max(1e-9, math.fsum(line[row] ** 2 for row in places[other]))
        slope = math.fsum(line[row] * left[row] for row in places[other]) / squares
        by_line += math.fsum((left[row] - slope * line[row]) ** 2 for row in places[mine])
    return min(found, by_line)


def solved(matrix: Matrix, wanted: Sequence[float]) -> list[float]:
    """Gaussian elimination with pivoting."""
    size = len(wanted)
    rows = [[*row, value] for row, value in zip(matrix, wanted, strict=True)]
    for place in range(size):
        pivot = max(range(place, size), key=lambda row: abs(rows[row][place]))
        rows[place], rows[pivot] = rows[pivot], rows[place]
        for row in range(size):
            if row != place:
                factor = rows[row][place] / rows[place][place]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[place], strict=True)]
    return [rows[place][size] / rows[place][place] for place in range(size)]


@dataclasses.dataclass
class Term:
    """A line bent at knots, or a step for each category."""

    column: Column
    count: int
    is_log: bool

    def cells(self) -> Matrix:
        """Return the part of the design matrix, row by row."""
        if not is_number(self.column):
            kinds = range(max(int(value) for value in known(self.column)) + 1)
            return [[float(value == kind) for kind in kinds] for value in self.column]
        own = logarithms(self.column, self.is_log)
        low, middle, high = quantiles(known(own), 0.02, 0.5, 0.98)
        width = (high - low) or 1.0
        shares = [place / (self.count + 1) for place in range(1, self.count + 1)]
        knots = [cut for cut in sorted(set(quantiles(known(own), *shares))) if low < cut < high]
        found = []
        for value in own:
            x = 0.0 if value is None else (value - middle) / width
            found.append([x, *(max(0.0, x - (knot - middle) / width) for knot in knots)])
        return found


def design(columns: Sequence[Column], count: int, is_log: bool) -> Matrix:
    parts = [Term(column, count, is_log).cells() for column in columns]
    return [[1.0, *(x for cells in row for x in cells)] for row in zip(*parts, strict=True)]


def least_squares(
    cells: Matrix, wanted: Sequence[float], weights: Sequence[float], ridge: Sequence[float]
) -> tuple[list[float], Matrix]:
    """Return the coefficients, and the weighted squares."""
    size = range(len(cells[0]))
    triples = list(zip(cells, wanted, weights, strict=True))
    gram = [
        [math.fsum(w * x[i] * x[j] for x, _, w in triples) + ridge[i] * (i == j) for j in size]
        for i in size
    ]
    beta = solved(gram, [math.fsum(w * x[i] * y for x, y, w in triples) for i in size])
    return beta, gram


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def chosen(table: Sequence[Column], target: int, is_log: bool) -> tuple[int, ...]:
    """Choose up to three predictors, each explaining 15% of what is left."""
    if is_log and least(table[target]) is None:
        return ()
    wanted = scaled(table[target], is_log)
    if wanted is None:
        return ()
    left = wanted
    places: tuple[int, ...] = ()
    for _ in range(3):
        others = [place for place in range(len(table)) if place not in (target, *places)]
        if not others or dot(left, left) <= 1e-6 * dot(wanted, wanted):
            break
        costs = {place: errors(table[place], left, is_log) for place in others}
        best = min(others, key=lambda place: costs[place])
        if costs[best] > 0.85 * dot(left, left):
            break
        places = (*places, best)
        cells = design([table[place] for place in places], 4, is_log)
        ones = [1.0] * len(cells)
        beta, _ = least_squares(cells, wanted, ones, [1e-3] * len(cells[0]))
        left = [
            0.0 if own is None else value - dot(row, beta)
            for own, value, row in zip(table[target], wanted, cells, strict=True)
        ]
    return places if dot(left, left) <= 0.55 * dot(wanted, wanted) else ()


@dataclasses.dataclass
class Fitted:
    """What is left of each known row, in usual distances, how much is explained, and exceptions.

    Also the nats that a value takes, given what is expected, with the tails of a Cauchy.
    """

    explained: float
    exceptions: float
    code_length: float
    residuals: list[float]


def fitted(target: Column, given: Sequence[Column], is_log: bool) -> Fitted:
    """Fit with six knots and with none; knots must leave less than 80% unexplained."""
    rows = [
        row
        for row in range(len(target))
        if target[row] is not None and all(column[row] is not None for column in given)
    ]
    bent, straight = (_fitted(target, given, is_log, count, rows) for count in (6, 0))
    return bent if 1 - bent.explained <= 0.8 * (1 - straight.explained) else straight


def _fitted(
    target: Column, given: Sequence[Column], is_log: bool, count: int, rows: Sequence[int]
) -> Fitted:
    own = logarithms(target, is_log)
    values = [float(own[row] or 0.0) for row in rows]
    whole = design(given, count, is_log)
    cells = [whole[row] for row in rows]
    centre, scale = median(values), spread(values)
    wanted = [(value - centre) / scale for value in values]
    ridge = [0.0, *[1e-6 * len(rows)] * (len(cells[0]) - 1)]
    weights, first = [1.0] * len(rows), clipped(wanted)
    for number in range(6):
        before = weights
        beta, gram = least_squares(cells, wanted if number else first, weights, ridge)
        expected = [dot(row, beta) for row in cells]
        away = [value - said for value, said in zip(wanted, expected, strict=True)]
        robust = max(1.4826 * median([abs(value) for value in away]), 1e-9)
        weights = [max(1e-6, (1 - min(1, (value / 4.685 / robust) ** 2)) ** 2) for value in away]
    left_out = []
    for row, value, weight in zip(cells, away, before, strict=True):
        leverage = weight * dot(row, solved(gram, row))
        left_out.append(value / (1 - min(0.9, leverage)))
    explained = 1 - (spread(left_out) / spread(wanted)) ** 2
    points = local(expected, [abs(value) for value in left_out])
    low, high = quantiles(expected, 0.01, 0.99)
    usual = [between(said, points) + max(low - said, said - high, 0.0) for said in expected]
    far = [abs(value) > 5 * own for value, own in zip(left_out, usual, strict=True)]
    exceptions = sum(far) / len(far)
    wider = [1.0] * len(rows)
    for column in given:
        labels = [] if is_number(column) else [column[row] for row in rows]
        for label in set(labels):
            members = [place for place, other in enumerate(labels) if other == label]
            if sum(far[place] for place in members) > len(members) / 2:
                exceptions = 1.0
            factor = least_usual([abs(left_out[place]) / usual[place] for place in members])
            for place in members:
                wider[place] = max(wider[place], factor)
    found = [
        0.0 if abs(value) <= 1e-7 else value / own / more
        for value, own, more in zip(away, usual, wider, strict=True)
    ]
    nats, counted = 0.0, 0
    has_logarithm = logarithms(target, True) is not target
    for place, value in enumerate(left_out):
        if has_logarithm and float(target[rows[place]] or 0.0) <= 0:
            continue
        counted += 1
        width = usual[place] * wider[place]
        nats += math.log(width * scale) + math.log(1 + (value / width) ** 2)
        nats += values[place] if own is not target else 0.0
    return Fitted(explained, exceptions, nats / counted, found)


def least_usual(away: Sequence[float]) -> float:
    """Two standard errors below the 60% quantile of the distances in a category, but 1 at least."""
    share = 0.6 - len(away) ** -0.5
    return max(1.0, next(iter(quantiles(away, share)))) if share > 0 else 1.0


def local(expected: Sequence[float], away: Sequence[float]) -> list[tuple[float, float]]:
    """Return places along what is expected, each with the 60% quantile of distances there."""
    (overall,) = quantiles(away, 0.6)
    count = max(4, min(12, len(away) // 40))
    rounded = sorted(round(value, 9) for value in expected)
    cuts = sorted({rounded[part * len(away) // count] for part in range(1, count)})
    places, spreads = [], []
    for low, high in pairwise([-math.inf, *cuts, math.inf]):
        members = [row for row in range(len(away)) if low <= round(expected[row], 9) < high]
        if not members:
            continue
        places.append(median([expected[row] for row in members]))
        (own,) = quantiles([away[row] for row in members], 0.6)
        spreads.append(max(own, 0.2 * max(overall, 1e-7)))
    if len(places) < 3:
        return list(zip(places, spreads, strict=True))
    smooth = [median(spreads[place - 1 : place + 2]) for place in range(1, len(places) - 1)]
    smooth = [max(spreads[:2]), *smooth, max(spreads[-2:])]
    return list(zip(places, smooth, strict=True))


def between(place: float, points: Sequence[tuple[float, float]]) -> float:
    """Interpolate; constant beyond the ends."""
    if place <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in pairwise(points):
        if place <= x1:
            return y0 + (y1 - y0) * (place - x0) / (x1 - x0) if x1 > x0 else y1
    return points[-1][1]


# --- own past -----------------------------------------------------------------------------------

Event = tuple[int, float, float]  # thing, time, value


def moments(rows: Sequence[Event], thing: int) -> list[tuple[float, float]]:
    """The times of a thing in order, each with the median of what it holds then."""
    times = sorted({time for own, time, _ in rows if own == thing})
    return [(t, median([v for own, at, v in rows if own == thing and at == t])) for t in times]


def suggested(rows: Sequence[Event], thing: int, time: float, *, back: bool) -> list[float]:
    """What the neighbours of a row suggest, in every way to see it."""
    others = moments(rows, thing)
    before = [value for at, value in others if at < time][::-1]
    after = [] if back else [value for at, value in others if at > time]
    found = before[:1] + after[:1]
    found += [2 * side[0] - side[1] for side in (before, after) if len(side) > 1]
    if back:
        return found + before[1:2]
    if before and after:
        found.append((before[0] + after[0]) / 2)
    if len(before) > 1 and len(after) > 1:
        return [*found, (before[1] + after[1]) / 2]
    return found + before[1:2] + after[1:2]


def closest(rows: Sequence[Event], row: Event, *, back: bool) -> float | None:
    """The suggestion that is closest to what a row holds."""
    found = suggested(rows, row[0], row[1], back=back)
    return min((abs(value - row[2]), value) for value in found)[1] if found else None


def run_length(rows: Sequence[Event], row: Event, *, back: bool) -> int:
    """How many equal values one after the other there are, with the row itself."""
    thing, time, own = row
    others = [(at, value) for at, value in moments(rows, thing) if at != time]
    length = 1
    for side in ([x for x in others if x[0] < time][::-1], [x for x in others if x[0] > time]):
        for _, value in side:
            if value != own:
                break
            length += 1
        if back:
            break
    return length


def since_last(rows: Sequence[Event], row: Event) -> float | None:
    """How long before it the last row of the same thing is."""
    before = [time for thing, time, _ in rows if thing == row[0] and time < row[1]]
    return row[1] - max(before) if before else None


def out_of_order(rows: Sequence[Event], row: Event, *, back: bool) -> float:
    """How far a number that never falls is below the one before it, or above the one after it.

    Of a fall, the row before is wrong if order returns without it, and not without the later one.
    """
    thing, time, own = row
    others = moments(rows, thing)
    before = [value for at, value in others if at < time]
    after = [value for at, value in others if at > time]
    if before and own < before[-1]:
        returns = len(before) < 2 or before[-2] <= own
        if back or not (after and after[0] < before[-1] and returns):
            return own - before[-1]
    is_high = not back and len(after) > 1 and own > max(after[:2])
    return own - after[0] if is_high and not (before and before[-1] > after[0]) else 0.0


Seen = tuple[int, float, str]  # thing, time, label


def is_first(rows: Sequence[Seen], row: Seen, *, back: bool) -> tuple[bool, int]:
    """Whether no other row of the thing (looking back: none before) has a label; of how many."""
    thing, time, label = row
    if back:
        before = {at for own, at, _ in rows if own == thing and at < time}
        return not any(r[0] == thing and r[1] < time and r[2] == label for r in rows), len(before)
    alike = [other for other in rows if other[0] == thing and other[2] == label]
    return alike in ([], [row]), sum(other[0] == thing for other in rows)


def profile(rows: Sequence[Event], hours: Sequence[int]) -> dict[int, float]:
    """The median at each hour, of 8 rows or more, of numbers without the median of their thing."""
    levels = {k: median([v for own, _, v in rows if own == k]) for k in {row[0] for row in rows}}
    found: dict[int, float] = {}
    for hour in set(hours):
        left = [v - levels[k] for (k, _, v), own in zip(rows, hours, strict=True) if own == hour]
        if len(left) >= 8:
            found[hour] = median(left)
    return found


def are_names(numbers: Sequence[float], others: Sequence[float]) -> bool:
    """Whether rows with the same number tell much more of another column than those beside it.

    Each row is compared with the row after it in its group, and with the rows at the same place in
    the groups before and after. Labels (whole numbers, -1 is missing) differ or do not; of numbers
    ranks count. 1 is what chance gives.
    """
    rows = [row for row, value in enumerate(numbers) if not math.isnan(value)]
    levels = sorted({numbers[row] for row in rows})
    groups = [[row for row in rows if numbers[row] == level] for level in levels]
    are_labels = all(isinstance(value, int) for value in others)
    if len(rows) < 60 or (len(levels) < 10 and not are_labels):
        return False
    values = [others[row] for row in rows]
    told = [value for value in values if not math.isnan(value) and value != -1]
    ranks = {
        value: sum(other < value for other in told) + told.count(value) / 2 for value in set(told)
    }
    width = deviation([ranks[value] for value in told]) ** 2
    shares = [told.count(label) / len(told) for label in set(told)]
    by_chance = 1 - sum(share**2 for share in shares)
    by_two = sum(share * (1 - share) ** 2 for share in shares)
    same, beside, by_group = [], [], []
    for place, group in enumerate(groups):
        if not 0 < place < len(groups) - 1 or len(group) < 2:
            continue
        found = 0.0
        for at, row in enumerate(group):
            own, other = others[row], others[group[(at + 1) % len(group)]]
            near = [others[side[at % len(side)]] for side in (groups[place - 1], groups[place + 1])]
            if any(math.isnan(value) or value == -1 for value in (own, other, *near)):
                continue
            if are_labels:
                same.append((own != other) / by_chance)
                beside.append(all(own != value for value in near) / by_two)
            else:
                same.append((ranks[own] - ranks[other]) ** 2 / (2 * width))
                middle = fmean(ranks[value] for value in near)
                beside.append((ranks[own] - middle) ** 2 / (1.5 * width))
            found += beside[-1] - same[-1]
        by_group.append(found)
    if len(same) < 60:
        return False
    explained, by_next = 1 - fmean(same), 1 - fmean(beside)
    if explained < 0.15 or by_next > 0.9 * explained:
        return False
    is_sure = sum(by_group) >= 2.5 * math.sqrt(sum(value**2 for value in by_group))
    return is_sure or (explained >= 0.9 and by_next <= 0.5)
