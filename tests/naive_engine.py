"""A slow, obvious twin of the engine that judges every row at once (method 5c to 5e).

Written from docs/method.md alone, in plain loops; nothing here is shared with the package, except
that the natural segments of a column (method 4, whose twin is in naive.py) are given. Rows are
compared by their cells: numbers, texts, booleans, None where missing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tests.naive_surprise import Group, bar_of, clip, quantile
from tests.naive_sweep import (
    Condition,
    Context,
    Segments,
    Sweep,
    Table,
    Value,
    bins_of,
    conditions_of,
)

# --- method 5d: outside, explained away ---


@dataclass(frozen=True)
class Outside:
    """How far a value lies outside; -1 stands for the whole table, and for no explanation."""

    strength: float = 0.0
    group: int = -1
    explained: int = -1
    surprise: float = 0.0


class NumberJudge:
    """Judges the numbers of a column by the groups of the table."""

    def __init__(
        self,
        cells: Sequence[Value],
        conditions: Sequence[Condition],
        own: str,
        lifts: Mapping[int, float],
    ) -> None:
        """Take the column, and how much tighter it is given each condition."""
        self.numbers = {row: float(cell) for row, cell in enumerate(cells) if cell is not None}
        self.conditions, self.own, self.lifts = conditions, own, lifts
        self.bar = bar_of(len(self.numbers))
        self.column = sorted(self.numbers.values())
        self.groups: dict[Context, Group] = {}

    def rows(self, context: Context) -> list[int]:
        """Return the rows of a group."""
        return [r for r in self.numbers if all(r in self.conditions[k].rows for k in context)]

    def group(self, context: Context) -> Group:
        """Return the values of a group."""
        if context not in self.groups:
            values = sorted(self.numbers[r] for r in self.rows(context))
            self.groups[context] = Group(values, self.column)
        return self.groups[context]

    def __call__(self, row: int) -> Outside:
        """Judge a row of the table."""
        x = self.numbers.get(row)
        if x is None:
            return Outside(min(-self.bar, 0.0))
        best, surprise = Outside(), 0.0
        related = [k for k, lift in sorted(self.lifts.items()) if lift >= math.exp(0.2)]
        contexts = [(), *((k,) for k in related if row in self.conditions[k].rows)]
        for context in contexts:
            values = self.group(context).values
            if len(values) < 20 or values[0] == values[-1]:
                continue
            own = self.group(context).surprise(x)
            surprise = surprise if context else own
            bonus = sum(0.5 * (math.log(self.lifts[k]) - 0.3) for k in context)
            if context and self.group(context).tail(x) <= 0:
                continue
            strength, rest, by = own + bonus - self.bar, *self._rest(context, row, x)
            left = min(strength, rest - self.bar)
            if left > best.strength:
                group = context[0] if context else -1
                best = Outside(left, group, by if rest - self.bar < strength else -1)
        if best.strength <= 0:
            return Outside(min(surprise - self.bar, 0.0), surprise=surprise)
        return Outside(best.strength, best.group, best.explained, surprise)

    def _rest(self, context: Context, row: int, x: float) -> tuple[float, int]:
        """Return what is left of the surprise in the row's own group, and its condition."""
        members = self.rows(context)
        others = [r for r in members if r != row]
        nearest = sorted(others, key=lambda r: (abs(self.numbers[r] - x), self.numbers[r]))[:10]
        near = {self.numbers[r] for r in nearest} | {x}
        around = [r for r in others if min(near) <= self.numbers[r] <= max(near)]
        taken = {self.own, *(self.conditions[k].column for k in context)}
        best = (math.inf, -1)
        for k, condition in enumerate(self.conditions):
            if condition.column in taken or row not in condition.rows:
                continue
            hits = sum(r in condition.rows for r in around)
            size = sum(r in condition.rows for r in members)
            if hits >= 5 and hits * len(members) >= 3 * size * len(around):
                best = min(best, (self._left(context, k, size, x), k), key=lambda pair: pair[0])
        return best

    def _left(self, context: Context, condition: int, size: int, x: float) -> float:
        narrower = (condition,) if size < 20 else tuple(sorted({*context, condition}))
        values = self.group(narrower).values
        if len(values) < 20:
            return math.inf
        if values[0] == values[-1]:
            return 0.0
        if self.group(narrower).log_rarity(x) < math.log(4):
            return 0.0
        return self.group(narrower).surprise(x)

    def among(self, rows: Sequence[int], x: float) -> float:
        """Return how much odder a number is among some rows; negative: less odd."""
        values = sorted(self.numbers[r] for r in rows)
        if values[0] == values[-1]:
            return -math.inf if values[0] == x else 0.0
        group = Group(values, self.column)
        return -math.inf if group.log_rarity(x) < math.log(4) else self._distance(group, x)

    def among_members(self, context: Context, x: float) -> float:
        """Return what the distance from a group adds, or what it lacks of lying far outside."""
        values = self.group(context).values
        if len(values) < 20 or values[0] == values[-1]:
            return 0.0
        return self._distance(self.group(context), x)

    def _distance(self, group: Group, x: float) -> float:
        nats = math.log(len(self.column))
        return 1.5 * math.log1p(max(group.tail(x) - nats, 0.0)) - group.lacks(x, nats)

    def most(self, context: Context, row: int) -> float:
        """Return how far outside a number is at most, as rows as far out share a condition."""
        x, values = self.numbers[row], self.group(context).values
        if len(values) < 20 or values[0] == values[-1]:
            return math.inf
        rest, by = self._rest(context, row, x)
        return rest - self.bar if by >= 0 and self._as_far(context, by, x) else math.inf

    def _as_far(self, context: Context, condition: int, x: float) -> bool:
        """Return whether five rows of a group with one more condition lie half as far out."""
        values = self.group(context).values
        if len(values) < 20 or values[0] == values[-1]:
            return False
        q10, q90 = (quantile(self.group(context).core, share) for share in (0.1, 0.9))
        alike = [r for r in self.rows(context) if r in self.conditions[condition].rows]
        above = [r for r in alike if self.numbers[r] - q90 >= 0.5 * (x - q90)]
        below = [r for r in alike if q10 - self.numbers[r] >= 0.5 * (q10 - x)]
        return (x > q90 and len(above) >= 5) or (x < q10 and len(below) >= 5)

    def is_explained(self, context: Context, row: int) -> bool:
        """Return whether one more condition of a row makes its number ordinary."""
        taken = {self.conditions[k].column for k in context} | {self.own}
        for k, lift in self.lifts.items():
            condition = self.conditions[k]
            if lift < math.exp(0.2) or condition.column in taken or row not in condition.rows:
                continue
            if not self._is_ordinary((k,), row):
                continue
            both = tuple(sorted((*context, k)))
            if len(self.group(both).values) >= 20:
                if self._is_ordinary(both, row):
                    return True
            elif self._tightness((k,)) >= self._tightness(context) or self._as_far(
                context, k, self.numbers[row]
            ):
                return True
        return False

    def _is_ordinary(self, context: Context, row: int) -> bool:
        group, x = self.group(context), self.numbers[row]
        if len(group.values) < 20:
            return False
        if group.values[0] == group.values[-1]:
            return x == group.values[0]
        return group.log_rarity(x) < math.log(4)

    def _tightness(self, context: Context) -> float:
        """Return how much closer in rank its members are to each other than to all rows."""
        values = self.group(context).values
        if len(values) < 20 or values[0] == values[-1]:
            return math.inf
        rank = {x: sum(y < x for y in self.column) for x in set(self.column)}
        reach = len(self.column) / 64

        def near(x: float, others: Sequence[float]) -> int:
            return sum(abs(rank[x] - rank[y]) <= reach for y in others)

        inside = sum(near(x, values) for x in values) / len(values)
        outside = sum(near(x, self.column) for x in values) / len(self.column)
        return inside / outside

    def is_code(self, row: int) -> bool:
        """Return whether a number is a code for unknown: far outside, as in several other rows."""
        x, group = self.numbers.get(row), self.group(())
        if x is None or group.values[0] == group.values[-1]:
            return False
        return self.column.count(x) >= 5 and group.beyond(x) >= math.log(len(self.column))


class CategoryJudge:
    """Judges categories by how often they occur."""

    def __init__(self, cells: Sequence[Value], conditions: Sequence[Condition], own: str) -> None:
        """Take the column."""
        self.cells, self.conditions, self.own = cells, conditions, own
        self.known = [row for row, cell in enumerate(cells) if cell is not None]
        self.bar = bar_of(len(self.known))

    def _log_rarity(self, rows: Sequence[int], value: Value) -> float:
        counts: dict[Value, int] = {}
        for row in rows:
            counts[self.cells[row]] = counts.get(self.cells[row], 0) + 1
        alike = sum(count**2 for count in counts.values()) / max(len(rows), 1)
        return math.log(max(1.0, alike / max(counts.get(value, 0), 1)))

    def __call__(self, row: int) -> Outside:
        """Judge a row of the table."""
        value = self.cells[row]
        if value is None or len({self.cells[r] for r in self.known}) < 2:
            return Outside(min(-self.bar, 0.0))
        surprise = self._log_rarity(self.known, value)
        rest, by = self._rest(row, value)
        left = min(surprise - self.bar, rest - self.bar)
        if left <= 0:
            return Outside(min(surprise - self.bar, 0.0), surprise=surprise)
        return Outside(left, -1, by if rest < surprise else -1, surprise)

    def _rest(self, row: int, value: Value) -> tuple[float, int]:
        others = [r for r in self.known if self.cells[r] == value and r != row]
        best = (math.inf, -1)
        for k, condition in enumerate(self.conditions):
            if condition.column == self.own or row not in condition.rows:
                continue
            hits = sum(r in condition.rows for r in others)
            share = max(0.5, 3 * len(condition.rows) / len(self.cells))
            if hits >= 5 and hits >= share * len(others):
                inside = [r for r in self.known if r in condition.rows]
                left = self._log_rarity(inside, value)
                left = 0.0 if left < math.log(4) else left
                best = min(best, (left, k), key=lambda pair: pair[0])
        return best

    def among(self, rows: Sequence[int], value: Value) -> float:
        """Return whether a category is ordinary for some rows."""
        return -math.inf if self._log_rarity(rows, value) < math.log(4) else 0.0

    def among_members(self, context: Context, value: Value) -> float:
        """Return nothing: categories know no distance."""
        return 0.0

    def most(self, context: Context, row: int) -> float:
        """Return no bound: categories know no distance."""
        return math.inf

    def is_explained(self, context: Context, row: int) -> bool:
        """Return that it is not: categories are rare by counting."""
        return False

    def is_code(self, row: int) -> bool:
        """Return that it is none."""
        return False


# --- method 5d: soft borders ---


@dataclass(frozen=True)
class Nearby:
    """Asks the rows next to a row about what is found on one property."""

    table: Table
    conditions: Sequence[Condition]
    judge: NumberJudge | CategoryJudge
    cells: Sequence[Value]

    def confirmed(self, row: int, judged: Judged) -> Judged:
        """Return what is left of the findings on a row."""
        outside, misfit = judged.outside, judged.misfit
        least = 0.4 * math.log(max(len(self.cells), 2))
        if judged.strength < least:
            return judged
        if misfit > 0:
            misfit = self._left(row, judged.context, misfit, least)
        if outside.strength > 0 and outside.group != -1:
            left = self._left(row, (outside.group,), outside.strength)
            left = left or min(outside.surprise - self.judge.bar, 0.0)
            outside = replace(outside, strength=left)
        return Judged(outside, misfit, judged.context)

    def _left(self, row: int, context: Context, found: float, least: float = math.nan) -> float:
        """Return what is left of a finding; a misfit has a least strength."""
        intervals = [
            k for k in context if isinstance(self.table[self.conditions[k].column][row], float)
        ]
        if intervals:
            more = self._among_next(row, context, intervals)
        elif math.isnan(least):
            more = 0.0
        else:
            more = self.judge.among_members(context, self.cells[row])  # type: ignore[arg-type]
        if more > 0 and not (found >= least and len(context) > 1):  # never of what lies outside
            more = 0.0
        left = min(found + more, self.judge.most(context, row)) if more > 0 else found + more
        if left > 0 and self.judge.is_explained(context, row):
            return 0.0
        return max(left, 0.0)

    def _among_next(self, row: int, context: Context, intervals: Sequence[int]) -> float:
        value, found = self.cells[row], []
        for k in intervals:
            near = self._next(row, self.conditions[k].column, set(context) - {k})
            if len(near) >= 20:
                found.append(self.judge.among(near, value))  # type: ignore[arg-type]
        more = min(found, default=0.0)
        return max(more - 1.5 * len(intervals), 0.0) if more > 0 else more

    def _next(self, row: int, column: str, rest: set[int]) -> list[int]:
        """Return the hundred rows next to a row on a column, and those equal to the outermost.

        They are no more than half of the rows that there are, but twenty. If outermost numbers go
        on beyond and are not the row's own, they are left out, as long as twenty rows remain.
        """
        numbers = self.table[column]
        others = [
            r
            for r, cell in enumerate(self.cells)
            if cell is not None
            and numbers[r] is not None
            and all(r in self.conditions[k].rows for k in rest)
        ]
        at = _number(numbers[row])
        ordered = sorted(_number(numbers[r]) for r in others)
        below, equal = sum(x < at for x in ordered), sum(x == at for x in ordered)
        size = min(100, max(len(ordered) // 2, 20))
        first = max(min((below + below + equal) // 2 - size // 2, len(ordered) - size), 0)
        window = ordered[first : first + size]
        ends = {min(*window, at), max(*window, at)}
        beyond = {x for x in ends - {at} if ordered.count(x) > window.count(x)}
        near = [r for r in others if min(ends) <= _number(numbers[r]) <= max(ends)]
        off = [r for r in near if _number(numbers[r]) not in beyond]
        return off if len(off) >= 20 else near


def _number(cell: Value) -> float:
    assert isinstance(cell, float)
    return cell


# --- strength and standing ---


@dataclass(frozen=True)
class Judged:
    """A property of a row, judged."""

    outside: Outside
    misfit: float
    context: Context

    @property
    def strength(self) -> float:
        """The strength of the finding; 0 or less where there is none."""
        if self.misfit > 0:
            weaker, stronger = sorted((self.misfit, max(self.outside.strength, 0.0)))
            return stronger + max(weaker - math.log(2), 0.0)
        return self.outside.strength

    def counted_once(self, bar: float) -> Judged:
        """Return less of the weaker part where a value lies outside of a group and misfits, too."""
        outside, misfit = self.outside.strength, self.misfit
        if min(outside, misfit) <= 0 or self.outside.group == -1:
            return self
        weaker = max(min(outside, misfit) - (2 - math.log(2)), 0.0)
        if outside >= misfit:
            return replace(self, misfit=weaker)
        left = weaker or min(self.outside.surprise - bar, 0.0)
        return replace(self, outside=replace(self.outside, strength=left))

    def limited(self, most: float) -> Judged:
        """Return what is told of a pattern: no more than so much, less of the weaker part first."""
        if self.strength <= most:
            return self
        outside, misfit = self.outside.strength, self.misfit
        stronger = max(outside, misfit)
        rest = 0.0 if stronger >= most else most - stronger + math.log(2)
        if outside >= misfit:
            outside, misfit = min(outside, most), min(misfit, rest)
        else:
            outside, misfit = min(outside, rest), min(misfit, most)
        return replace(self, outside=replace(self.outside, strength=outside), misfit=misfit)


def properties_of(table: Table) -> list[tuple[str, bool, list[Value]]]:
    """Return the properties of a table: a column, whether it is about gaps, and its cells."""
    found = []
    for name in sorted(table):
        cells = list(table[name])
        if len({cell for cell in cells if cell is not None}) > 1:
            found.append((name, False, cells))
        if None in cells:
            found.append((name, True, [cell is None for cell in cells]))
    return found


def combinations(table: Table, surprise: Sequence[Sequence[float]]) -> list[float]:
    """Return what counts against each row all over, given the surprise of its properties."""
    columns = [
        _rank_scores(cells)
        for _, is_gap, cells in properties_of(table)
        if not is_gap and any(isinstance(cell, float) for cell in cells)
    ]
    columns = [scores for scores in columns if any(scores)]
    rows = range(len(surprise))
    found = [sum(own) for own in surprise]
    scale = [math.sqrt(sum(x * x for x in own) / len(rows)) for own in columns]
    units = [[x / s for x in own] for own, s in zip(columns, scale, strict=True)]
    exact = [[sum(map(operator.mul, a, b)) / len(rows) for b in units] for a in units]
    each = range(len(units))
    shrunk = [[1.0 if i == j else exact[i][j] / 2 for j in each] for i in each]
    for own in each:
        weights = _solved(shrunk, [float(i == own) for i in each])
        expected = [sum(weights[i] * units[i][row] for i in each) for row in rows]
        spread = math.sqrt(sum(x * x for x in expected) / len(rows))
        for row in rows:
            found[row] += (expected[row] / spread) ** 2 / 2
    return found


def _rank_scores(cells: Sequence[Value]) -> list[int]:
    """Return the normal score of each number, by the middle rank of its bin."""
    of_row = bins_of(cells).of_row
    known = [own for own in of_row if own is not None]
    found = []
    for own in of_row:
        if own is None:
            found.append(0)
            continue
        share = (sum(k < own for k in known) + known.count(own) / 2) / len(known)
        found.append(round(24 * (share**0.135 - (1 - share) ** 0.135) / 0.1975))
    return found


def _solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Solve linear equations by elimination."""
    rows = [[*own, x] for own, x in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [own[-1] for own in rows]


def judged(
    table: Table,
    least: Callable[[int], int],
    depth: int,
    segments: Callable[[list[float]], Segments],
) -> list[list[Judged]]:
    """Judge all rows of a table: rows x properties."""
    conditions = conditions_of(table, least(1), segments)
    columns, coded = [], []
    for name, _, cells in properties_of(table):
        sweep = Sweep(bins_of(cells), conditions, name, least)
        sweep.run(depth)
        judge: NumberJudge | CategoryJudge = CategoryJudge(cells, conditions, name)
        if any(isinstance(cell, float) for cell in cells):
            judge = NumberJudge(cells, conditions, name, sweep.lifts)
        rows = range(len(cells))
        misfits = [sweep.misfit(row) for row in rows]
        nearby = Nearby(table, conditions, judge, cells)
        found = [Judged(judge(row), *misfits[row]) for row in rows]
        columns.append(
            [nearby.confirmed(row, own).counted_once(judge.bar) for row, own in enumerate(found)]
        )
        coded.append((name, [judge.is_code(row) for row in rows]))
    _explain_gaps(table, columns)
    for name in table:
        empty = [cell is None for cell in table[name]]
        if 1 < sum(empty) < 0.03 * len(empty):
            coded.append((name, empty))
    most = 0.8 * math.log(max(len(cells), 2)) + 0.5
    for name, codes in coded:
        for place, (other, _, _) in enumerate(properties_of(table)):
            if other == name:
                columns[place] = [
                    one.limited(most) if is_code else one
                    for one, is_code in zip(columns[place], codes, strict=True)
                ]
    return [list(row) for row in zip(*columns, strict=True)]


def _explain_gaps(table: Table, columns: list[list[Judged]]) -> None:
    """Leave nothing of an empty cell where another column, empty in more rows, explains it."""
    properties = properties_of(table)
    for place, (name, is_gap, _) in enumerate(properties):
        own = {row for row, cell in enumerate(table[name]) if cell is None}
        if not is_gap or not 1 < len(own) < 0.03 * len(table[name]):
            continue
        for other in sorted(table):
            held = {row for row, cell in enumerate(table[other]) if cell is None}
            both = own & held
            if len(own) < len(held) < 4 * len(both) and len(both) > 1:
                for row in both:
                    one = columns[place][row]
                    outside = min(one.outside.strength, 0.0)
                    none = replace(one.outside, strength=outside)
                    columns[place][row] = replace(one, outside=none, misfit=0.0)


def lines(strengths: Sequence[float]) -> tuple[float, float]:
    """Return from which strength on a row is exceptional, and unusual (method 5e)."""
    unusual = quantile(sorted(strengths), 0.97)
    rows, inner = max(len(strengths), 2), quantile(sorted(strengths), 0.9)
    slope = (unusual - inner) / math.log(0.1 / 0.03)
    strongest = unusual + slope * math.log(0.03 * rows)
    line = 0.8 * math.log(rows)
    if inner <= 0:
        return line, max(unusual, 1e-9)
    return clip((line + strongest) / 2, line, line + 0.5), max(unusual, 1e-9)
