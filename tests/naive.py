"""A slow, obvious twin of the method, written from its specification alone.

Nothing here is shared with the package: the formulas of docs/method.md (sections 1 to 6) and of the
decisions 0002 (natural intervals) and 0003 (search) are written out as loops, so that the fast code
can be compared with something that has no reason to make the same mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

Value = float | str | bool | None
Table = Mapping[str, Sequence[Value]]
Component = tuple[float, float, float]  # weight, mean, width
Segment = tuple[float, float, int, int]  # least value, greatest value, rows, component
Context = tuple[int, ...]  # positions in the list of conditions, ascending

EPSILON = 1e-9
MANY_POINTS = 512
BINS = 256
MANY_ROWS = 4096
MANY_COMPONENTS = 64
FEW_COMPONENTS = 8
MANY_SWEEPS = 200
ROUNDING = 1e-9
FRONTIER = 15
MANY_TRIPLES = 2000
SCALES = (1, 2, 4, 8, 16, 32)
MUCH_STRONGER = math.log(3)
FEW_ROWS = 30


# --- method, section 2: densities ---


def bandwidth(values: Sequence[float]) -> float:
    """Width of the Parzen window, with the population standard deviation (method 2)."""
    n = len(values)
    mean = math.fsum(values) / n
    variance = math.fsum((x - mean) ** 2 for x in values) / n
    return 1.06 * math.sqrt(variance) * math.pow(n, -0.2)


def kernel(u: float) -> float:
    """Box kernel: 1 for |u| <= 1/2, else 0 (method 2)."""
    return 1.0 if abs(u) <= 0.5 else 0.0


def parzen(x: float, values: Sequence[float], widths: Sequence[float]) -> float:
    """Parzen density at x: (1/n) sum_i (1/b_i) K((x - x_i)/b_i) (method 2)."""
    terms = [(1 / b_i) * kernel((x - x_i) / b_i) for x_i, b_i in zip(values, widths, strict=True)]
    return math.fsum(terms) / len(values)


def parzen_densities(values: Sequence[float], kind: str = "fixed") -> list[float]:
    """Parzen density at each value, with equal or with Abramson's windows (method 2)."""
    n = len(values)
    h = bandwidth(values)
    if h == 0:
        raise ValueError("values without spread have no Parzen density")
    fixed = [parzen(x, values, [h] * n) for x in values]
    if kind == "fixed":
        return fixed
    if kind != "adaptive":
        raise ValueError(f"unknown kind of bandwidth: {kind}")
    raw = [pilot**-0.5 for pilot in fixed]
    geometric_mean = math.exp(math.fsum(math.log(r) for r in raw) / n)
    widths = [h * (r / geometric_mean) for r in raw]
    return [parzen(x, values, widths) for x in values]


def frequency_densities(labels: Sequence[Value]) -> list[float]:
    """Relative frequency of each row's category (method 2)."""
    return [sum(1 for other in labels if other == label) / len(labels) for label in labels]


# --- method, section 3: outlierness ---


def cdf(densities: Sequence[float], t: float) -> float:
    """G(t): share of the rows whose density is at most t (method 3)."""
    return sum(1 for d in densities if d <= t) / len(densities)


def areas(densities: Sequence[float], f_o: float) -> tuple[float, float]:
    """Area of 1 - G above f_o and of G below it, step by step between the jumps of G (method 3)."""
    above: list[float] = []
    below: list[float] = []
    for left, right in pairwise(sorted({0.0, f_o, *densities})):
        height = cdf(densities, left)  # G is constant on [left, right)
        if right <= f_o:
            below.append(height * (right - left))
        else:
            above.append((1 - height) * (right - left))
    return math.fsum(above), math.fsum(below)


def omega(x: float) -> float:
    """Squash the difference of the areas into [0, 1) (method 3)."""
    return (1 - math.exp(-x)) / (1 + math.exp(-x)) if x >= 0 else 0.0


def near(x: float, values: Sequence[float], reach: float) -> int:
    """How many values lie within a distance of x (method 3)."""
    return sum(1 for v in values if abs(v - x) <= reach)


def scaled_rarity(
    values: Sequence[float], x: float, needed: float, windows: Sequence[int] = SCALES
) -> tuple[float, int]:
    """Rarity at the scale at which x is rarest, and that scale, the first of equals (method 3).

    A scale beyond the first counts if it can show the needed rarity: no member has more neighbours
    than there are members.
    """
    w = bandwidth(values)
    found: list[tuple[float, int]] = []
    for d in windows:
        own = near(x, values, d * w / 2)
        if d > 1 and own * needed * (1 - EPSILON) > len(values):
            continue
        counts = [near(v, values, d * w / 2) for v in values]
        found.append((sum(counts) / len(counts) / own, d))
    most = max(rarity for rarity, _ in found)
    return next((rarity, d) for rarity, d in found if rarity >= most * (1 - EPSILON))


def numeric_lift(inside: Sequence[float], everywhere: Sequence[float]) -> float:
    """How much tighter a group is than the table around its values, at its window (method 5)."""
    reach = bandwidth(inside) / 2
    own = sum(near(x, inside, reach) for x in inside) / len(inside)
    others = sum(near(x, everywhere, reach) for x in inside) / len(everywhere)
    return own / others


def label_lift(inside: Sequence[Value], everywhere: Sequence[Value]) -> float:
    """The same for categories: sum p_C(v)**2 / sum p_C(v) p(v) (method 5)."""
    own = sum(1 for x in inside for y in inside if x == y) / len(inside)
    others = sum(1 for x in inside for y in everywhere if x == y) / len(everywhere)
    return own / others


def tail(densities: Sequence[float], f_o: float) -> float:
    """G(f_o): share of the group at least as rare; equal up to rounding is equal (method 3)."""
    return cdf(densities, f_o * (1 + EPSILON))


# --- method, section 4, decision 0002: natural intervals ---


def grouped(values: Sequence[float]) -> list[list[float]]:
    """The sorted values, one list per point of the fit (0002, "The points of the fit")."""
    ordered = sorted(values)
    total = len(ordered)
    distinct = sorted(set(ordered))
    least, greatest = distinct[0], distinct[-1]
    points: list[list[float]] = []
    previous: tuple[int, int] | None = None
    for x in distinct:
        ties = [v for v in ordered if v == x]
        below = sum(1 for v in ordered if v < x)
        if len(distinct) <= MANY_POINTS:
            points.append(ties)
            continue
        width = (greatest - least) / BINS
        current = (BINS * below // total, math.floor((x - least) / width))
        if current == previous:
            points[-1].extend(ties)
        else:
            points.append(ties)
        previous = current
    return points


def starts(points: Sequence[float], counts: Sequence[int], seed: int | None) -> list[float]:
    """Means that the fit starts from (0002, "The fit", start)."""
    total = sum(counts)
    k0 = min(MANY_COMPONENTS, math.ceil(math.sqrt(total)))
    if seed is not None:
        import numpy as np

        held = [x for x, count in zip(points, counts, strict=True) for _ in range(count)]
        drawn = np.random.default_rng(seed).integers(0, total, size=k0)
        return [held[r] for r in sorted(int(r) for r in drawn)]
    found: list[float] = []
    for j in range(k0):
        cumulative = 0
        for x, count in zip(points, counts, strict=True):
            cumulative += count
            if cumulative * 2 * k0 >= (2 * j + 1) * total:
                found.append(x)
                break
    return found


def start_widths(means: Sequence[float], floor: float) -> list[float]:
    """Half the mean distance to the neighbouring starts, at least the floor (0002, "The fit")."""
    widths: list[float] = []
    for j, mean in enumerate(means):
        near = [abs(mean - means[i]) for i in (j - 1, j + 1) if 0 <= i < len(means)]
        widths.append(max(floor, math.fsum(near) / len(near) / 2 if near else 0.0))
    return widths


def log_terms(x: float, components: Sequence[Component]) -> list[float]:
    """ln(weight * Gaussian density) of each component at x."""
    return [
        math.log(w) - math.log(b) - math.log(2 * math.pi) / 2 - ((x - m) / b) ** 2 / 2
        for w, m, b in components
    ]


def log_sum_exp(terms: Sequence[float]) -> float:
    """ln(sum of exponentials) without underflow."""
    top = max(terms)
    return top + math.log(math.fsum(math.exp(t - top) for t in terms))


def scaled(components: Sequence[Component]) -> list[Component]:
    """The components with weights scaled to sum 1."""
    total = math.fsum(w for w, _, _ in components)
    return [(w / total, m, b) for w, m, b in components]


def message_length(
    points: Sequence[float], counts: Sequence[float], components: Sequence[Component]
) -> float:
    """Message length of a fit (0002, "The fit")."""
    total = math.fsum(counts)
    k = len(components)
    likelihood = math.fsum(
        c * log_sum_exp(log_terms(x, components)) for x, c in zip(points, counts, strict=True)
    )
    weights = math.fsum(math.log(total * w / 12) for w, _, _ in components)
    return weights + k / 2 * math.log(total / 12) + 3 * k / 2 - likelihood


def mean_and_width(
    points: Sequence[float], shares: Sequence[float], floor: float
) -> tuple[float, float]:
    """Weighted mean and width of a component, the width at least the floor (method 4)."""
    mass = math.fsum(shares)
    mean = math.fsum(s * x for s, x in zip(shares, points, strict=True)) / mass
    variance = math.fsum(s * (x - mean) ** 2 for s, x in zip(shares, points, strict=True))
    return mean, max(floor, math.sqrt(variance / mass))


def sweep(
    points: Sequence[float],
    counts: Sequence[float],
    components: Sequence[Component],
    floor: float,
) -> list[Component]:
    """Update the components one after the other (method 4; 0002, "The fit")."""
    total = math.fsum(counts)
    current = list(components)
    j = 0
    while j < len(current):
        shares: list[float] = []  # c_i gamma_ij
        for x, c in zip(points, counts, strict=True):
            terms = log_terms(x, current)
            shares.append(c * math.exp(terms[j] - log_sum_exp(terms)))
        mass = math.fsum(shares)
        if mass <= 1 and len(current) > 1:
            del current[j]
            current = scaled(current)
            continue
        weight = (mass - 1) / total if len(current) > 1 else 1.0
        current[j] = (weight, *mean_and_width(points, shares, floor))
        current = scaled(current)
        j += 1
    return current


def thinned(
    points: Sequence[float],
    counts: Sequence[float],
    components: Sequence[Component],
    floor: float,
) -> list[Component]:
    """Update many components at once and let some die (0002, "The fit")."""
    total = math.fsum(counts)
    shares: list[list[float]] = [[] for _ in components]
    for x, c in zip(points, counts, strict=True):
        terms = log_terms(x, components)
        whole = log_sum_exp(terms)
        for own, term in zip(shares, terms, strict=True):
            own.append(c * math.exp(term - whole))
    updated: list[Component] = []
    for own in shares:
        weight = (math.fsum(own) - 1) / total
        updated.append((weight, *mean_and_width(points, own, floor)))
    living = [component for component in updated if component[0] > 0]
    if len(living) == len(updated):
        del living[lightest(living)]
    return scaled(living)


def lightest(components: Sequence[Component]) -> int:
    """The first of the components whose weights lie within 1e-9 of the least."""
    least = min(w for w, _, _ in components)
    return next(j for j, c in enumerate(components) if c[0] <= least + EPSILON)


def mixture(
    points: Sequence[float], counts: Sequence[int], floor: float, seed: int | None = None
) -> list[Component]:
    """Gaussian mixture of least message length: (weight, mean, width) by mean (method 4; 0002)."""
    rows = sum(counts)
    weighted = [c * min(1.0, MANY_ROWS / rows) for c in counts]
    means = starts(points, counts, seed)
    widths = start_widths(means, floor)
    components = [(1 / len(means), m, b) for m, b in zip(means, widths, strict=True)]
    while len(components) > FEW_COMPONENTS:
        components = thinned(points, weighted, components, floor)
    best: list[Component] = []
    least = math.inf
    while True:
        components, length = converged(points, weighted, components, floor, 2.0)
        if not best or length < least - EPSILON * abs(least):
            best, least = components, length
        if len(components) == 1:
            break
        dying = lightest(components)
        components = scaled([c for j, c in enumerate(components) if j != dying])
    best, _ = converged(points, weighted, best, floor, 0.5)
    return sorted(best, key=lambda component: component[1])


def converged(
    points: Sequence[float],
    counts: Sequence[float],
    components: list[Component],
    floor: float,
    tolerance: float,
) -> tuple[list[Component], float]:
    """Sweep until the message length stands still (0002, "The fit")."""
    length = message_length(points, counts, components)
    for _ in range(MANY_SWEEPS):
        before = length
        components = sweep(points, counts, components, floor)
        length = message_length(points, counts, components)
        if abs(length - before) <= tolerance:
            break
    return components, length


def owner(x: float, components: Sequence[Component]) -> int:
    """The first component whose log responsibility is within 1e-9 of the largest (0002)."""
    terms = log_terms(x, components)
    return next(j for j, t in enumerate(terms) if t >= max(terms) - EPSILON)


def is_backwards(values: Sequence[float]) -> bool:
    """Whether values are taken from the greatest one on, so that their sign does not matter."""
    ordered = sorted(values)
    gaps = [b - a for a, b in pairwise(ordered)]
    for one, other in zip(gaps, reversed(gaps), strict=True):
        if abs(one - other) > EPSILON * (ordered[-1] - ordered[0]):
            return one > other
    return False


def segments(values: Sequence[float], seed: int | None = None) -> list[Segment]:
    """Maximal runs of consecutive points of one component (0002, "From points to conditions")."""
    if is_backwards(values):
        parts = reversed(segments([-x for x in values], seed))
        return [(-high, -low, rows, label) for low, high, rows, label in parts]
    h = bandwidth(values)
    if len(set(values)) < 2 or h == 0:
        return [(min(values), max(values), len(values), 0)]
    groups = grouped(values)
    points = [math.fsum(group) / len(group) for group in groups]
    components = mixture(points, [len(group) for group in groups], h / 2, seed)
    found: list[Segment] = []
    for x, group in zip(points, groups, strict=True):
        label = owner(x, components)
        if found and found[-1][3] == label:
            low, _, rows, _ = found[-1]
            found[-1] = (low, max(group), rows + len(group), label)
        else:
            found.append((min(group), max(group), len(group), label))
    return found


def merged(parts: Sequence[Segment]) -> list[Segment]:
    """One merge of the two neighbours whose average densities are most alike (method 4; 0002)."""
    inner = [(left[1] + right[0]) / 2 for left, right in pairwise(parts)]
    borders = [parts[0][0], *inner, parts[-1][1]]
    logs = [
        math.log(part[2] / (right - left))
        for part, (left, right) in zip(parts, pairwise(borders), strict=True)
    ]
    gaps = [abs(d1 - d2) for d1, d2 in pairwise(logs)]
    at = next(j for j, gap in enumerate(gaps) if gap <= min(gaps) + EPSILON)
    left, right = parts[at], parts[at + 1]
    union = (left[0], right[1], left[2] + right[2], left[3])
    return [*parts[:at], union, *parts[at + 2 :]]


def least_rows(min_support: float | None, n: int, conditions: int = 1) -> float:
    """How many rows a context must keep: a share of them, or a number (method 5, "Support").

    By default contexts of three conditions and more need more rows.
    """
    if min_support is None:
        return min(FEW_ROWS, 0.1 * n) * (conditions if conditions > 2 else 1)
    return min_support * n if min_support < 1 else min_support


def window(
    values: Sequence[float], o_value: float, n: int, min_support: float | None
) -> tuple[float, float]:
    """The fixed window nearest to the object, where there is one segment only (method 4; 0002)."""
    ordered = sorted(values)
    known = len(ordered)
    w = min(known, math.ceil(max(least_rows(min_support, n), 0.2 * n) - ROUNDING))
    ranks = [rank for rank, x in enumerate(ordered) if x == o_value]
    middle = (ranks[0] + ranks[-1]) / 2
    starts = [math.floor((known - w) * j / 16) for j in range(17)]
    start = min(starts, key=lambda s: (abs(middle - (s + (w - 1) / 2)), s))
    return ordered[start], ordered[start + w - 1]


def intervals(
    values: Sequence[float],
    o_value: float,
    n: int,
    min_support: float | None = 0.1,
    scales: str = "several",
    interval: str = "run",
    seed: int | None = None,
) -> list[tuple[float, float]]:
    """Candidate intervals of the object, fine to coarse, before those of no use are dropped (0002).

    values are the known ones, n counts all rows of the population (method 4).
    """
    if len(set(values)) < 2 or bandwidth(values) == 0:
        return []
    if is_backwards(values):
        mirrored = [-x for x in values]
        found = intervals(mirrored, -o_value, n, min_support, scales, interval, seed)
        return [(-high, -low) for low, high in found]
    parts = segments(values, seed)
    if len(parts) == 1:
        return [window(values, o_value, n, min_support)] if scales == "several" else []

    def holding(some: Sequence[Segment]) -> Segment:
        return next(part for part in some if part[0] <= o_value <= part[1])

    own = holding(parts)
    found = [own[:2]]
    span = [part for part in parts if part[3] == own[3]]
    if scales == "several":
        while len(parts) > 2:
            parts = merged(parts)
            if holding(parts)[:2] not in found:
                found.append(holding(parts)[:2])
        if len(found) > 3:
            found = [found[0], *found[-2:]]
    if interval == "span":
        found[0] = (min(part[0] for part in span), max(part[1] for part in span))
    return list(dict.fromkeys(found))


# --- the older method: numbers cut into bins (docs/paper.md, "The older method") ---


def bin_numbers(values: Sequence[float], kind: str, bins: int) -> list[int]:
    """The bin of each value, the first one 0: it ends at the first edge that is not below it."""
    ordered = sorted(values)
    n, low, high = len(ordered), ordered[0], ordered[-1]
    if kind == "equi-width":
        edges = [low + (high - low) * j / bins for j in range(1, bins)]
    elif kind == "equi-depth":
        edges = sorted({ordered[math.ceil(n * j / bins) - 1] for j in range(1, bins)})
    else:
        raise ValueError(f"unknown kind of bins: {kind}")
    return [sum(1 for edge in edges if edge < x) for x in values]


def binned(column: Sequence[Value], kind: str, bins: int) -> list[Value]:
    """A numeric column as categories; gaps stay."""
    if not is_numeric(column) or not known_of(column):
        return list(column)
    known = [number(x) for x in known_of(column)]
    numbers = dict(zip(known, bin_numbers(known, kind, bins), strict=True))
    return [None if x is None else f"bin {numbers[number(x)]}" for x in column]


# --- method, sections 1, 5 and 6, decision 0003: the search ---


@dataclass(frozen=True)
class Condition:
    """One condition of an explanation: "interval", "equals" or "missing" (method 1 and 6)."""

    attribute: str
    kind: str
    low: float | None = None
    high: float | None = None
    value: Value = None

    def holds(self, x: Value) -> bool:
        """Whether a value satisfies it; a missing value satisfies only "is missing" (method 6)."""
        if x is None or self.kind == "missing":
            return x is None and self.kind == "missing"
        if self.kind == "equals":
            return x == self.value
        return number(self.low) <= number(x) <= number(self.high)


@dataclass(frozen=True)
class Pair:
    """An explanation and a property, with its figures (method 1, 3 and 5)."""

    property: str
    value: Value
    conditions: tuple[Condition, ...]
    outlierness: float
    rarity: float
    tail: float
    support: float
    group_size: int
    known: int
    lift: float
    strength: float
    overall_outlierness: float
    exceptional: bool


@dataclass(frozen=True)
class Judged:
    """A pair, and what the results are ordered by."""

    pair: Pair
    context: Context
    score: float
    measure: str


def number(x: Value) -> float:
    """A value known to be a number."""
    assert isinstance(x, int | float)
    return float(x)


def known_of(column: Sequence[Value]) -> list[Value]:
    """The values that are not missing."""
    return [x for x in column if x is not None]


def is_numeric(column: Sequence[Value]) -> bool:
    """Whether all known values are numbers; truth values are categories (method 6)."""
    return all(isinstance(x, int | float) and not isinstance(x, bool) for x in known_of(column))


def takes_part(column: Sequence[Value]) -> bool:
    """Whether a column has something to tell: two values, or one value and gaps."""
    known = known_of(column)
    return len(set(known)) > 1 or 0 < len(known) < len(column)


def subsets(context: Context) -> list[Context]:
    """All proper subsets of a context, the empty one included."""
    return [subset for size in range(len(context)) for subset in combinations(context, size)]


def nine_digits(judged: Judged) -> float:
    """A score as far as it counts in comparisons (0003, "Order")."""
    score = judged.score
    return round(score, 9) if judged.measure == "relative" else float(f"{score:.8e}")


def frontier_key(judged: Judged) -> tuple[float, int, Context]:
    """Order in the choice of the contexts to extend (0003, "Guided search")."""
    return -nine_digits(judged), -judged.pair.group_size, judged.context


def closest_key(judged: Judged) -> tuple[float, int, int, Context]:
    """Order in the choice of the pair that stands for its property (0003, "Nothing reaches")."""
    score, size = -nine_digits(judged), -judged.pair.group_size
    return score, len(judged.context), size, judged.context


def order_key(
    judged: Judged,
) -> tuple[float, int, float, int, str, tuple[str, ...], Context]:
    """Order of the results (0003, "Order")."""
    pair = judged.pair
    names = tuple(c.attribute for c in pair.conditions)
    score, size = -nine_digits(judged), -pair.group_size
    return score, len(names), pair.tail, size, pair.property, names, judged.context


@dataclass
class Search:
    """All that belongs to one question: table, object, options, and what was worked out so far."""

    table: Table
    row: int
    min_support: float | None
    min_outlierness: float
    max_conditions: int
    minimality: str
    measure: str
    scales: str
    interval: str
    bandwidth: str
    seed: int | None
    windows: Sequence[int] = SCALES  # the paper looks through one window only

    def __post_init__(self) -> None:
        self.n = len(next(iter(self.table.values())))
        self.least_rows = least_rows(self.min_support, self.n) - ROUNDING
        self.table = {
            a: list(self.table[a]) for a in sorted(self.table) if takes_part(self.table[a])
        }
        self.groups: dict[Context, list[int]] = {}
        self.memory: dict[tuple[Context, str], Judged | None] = {}
        self.conditions = [c for a in self.table for c in self.conditions_of(a)]

    def conditions_of(self, attribute: str) -> list[Condition]:
        """The useful conditions of an attribute, fine to coarse (method 4 and 6; 0002, end)."""
        column = self.table[attribute]
        x = column[self.row]
        if x is None:
            candidates = [Condition(attribute, "missing")]
        elif not is_numeric(column):
            candidates = [Condition(attribute, "equals", value=x)]
        else:
            known = [number(v) for v in known_of(column)]
            options = (self.n, self.min_support, self.scales, self.interval, self.seed)
            found = intervals(known, number(x), *options)
            candidates = [Condition(attribute, "interval", low, high) for low, high in found]
        kept: list[Condition] = []
        for condition in candidates:
            rows = sum(1 for v in column if condition.holds(v))
            if rows < self.n and rows >= self.least_rows:
                kept.append(condition)
        return kept

    def attributes(self, context: Context) -> list[str]:
        """The attributes of a context's conditions, by name."""
        return [self.conditions[c].attribute for c in context]

    def group(self, context: Context) -> list[int]:
        """DB_E: the rows that satisfy all conditions (method 1)."""
        if context not in self.groups:
            some = [self.conditions[c] for c in context]
            self.groups[context] = [
                r for r in range(self.n) if all(c.holds(self.table[c.attribute][r]) for c in some)
            ]
        return self.groups[context]

    def allowed(self, context: Context, p: str) -> bool:
        """One condition per attribute, none on p, and enough rows (method 1; 0003)."""
        names = self.attributes(context)
        if p in names or len(set(names)) < len(names):
            return False
        least = least_rows(self.min_support, self.n, len(context)) - ROUNDING
        return len(self.group(context)) >= least

    def judge(self, context: Context, p: str) -> Judged | None:
        """Figures of the pair; None where there is nothing to compare (method 2, 3, 5; 0003)."""
        if (context, p) not in self.memory:
            self.memory[context, p] = self.judge_afresh(context, p)
        return self.memory[context, p]

    def judge_afresh(self, context: Context, p: str) -> Judged | None:
        """Work out the figures of one pair, from its rows."""
        column = self.table[p]
        group = self.group(context)
        missing = column[self.row] is None
        # Where o lacks p, the property is "missing or known?", over all rows of the context.
        rows = [r for r in group if missing or column[r] is not None]
        values: list[Value] = [column[r] is None if missing else column[r] for r in rows]
        if len(set(values)) < 2:
            return None
        if missing or not is_numeric(column):
            densities = frequency_densities(values)
        elif bandwidth([number(x) for x in values]) == 0:
            return None
        else:
            densities = parzen_densities([number(x) for x in values], self.bandwidth)
        f_o = densities[rows.index(self.row)]
        mean = math.fsum(densities) / len(densities)
        rarity, rare_densities = mean / f_o, densities
        everywhere: list[Value] = [x is None for x in column] if missing else known_of(column)
        if missing or not is_numeric(column):
            lift = label_lift(values, everywhere)
        else:
            numbers, own = [number(x) for x in values], number(column[self.row])
            lift = numeric_lift(numbers, [number(x) for x in everywhere])
            if self.bandwidth == "fixed" and self.measure == "relative":
                needed = 1 / (1 - self.min_outlierness + ROUNDING)
                rarity, d = scaled_rarity(numbers, own, needed, self.windows)
                reach = d * bandwidth(numbers) / 2
                rare_densities = [float(near(x, numbers, reach)) for x in numbers]
        at_object = rare_densities[rows.index(self.row)]
        overall = self.judge((), p) if context else None
        strength = math.log(rarity) + math.log(lift) - 0.3 * len(context)
        if self.measure == "paper":
            above, below = areas(densities, f_o)
            score, outlierness = above - below, omega(above - below)
        else:
            score, outlierness = strength, max(0.0, 1 - 1 / rarity)
        if rarity <= 1 + EPSILON:  # the same density, up to rounding (0003)
            outlierness = 0.0
        pair = Pair(
            property=p,
            value=column[self.row],
            conditions=tuple(self.conditions[c] for c in context),
            outlierness=outlierness,
            rarity=rarity,
            tail=tail(rare_densities, at_object),
            support=len(group) / self.n,
            group_size=len(group),
            known=len(rows),
            lift=lift,
            strength=strength,
            overall_outlierness=overall.pair.outlierness if overall else outlierness,
            exceptional=outlierness >= self.min_outlierness - ROUNDING,
        )
        return Judged(pair, context, score, self.measure)

    def reaches(self, context: Context, p: str) -> bool:
        """Whether the pair reaches the threshold (0003, "Reading of the definition")."""
        judged = self.judge(context, p)
        return judged is not None and judged.pair.exceptional

    def exhaustive(self, p: str, depth: int) -> tuple[list[Context], set[Context]]:
        """Contexts visited for p and those that reach the threshold, by definition (method 1)."""
        sizes = range(depth + 1)
        every = [c for size in sizes for c in combinations(range(len(self.conditions)), size)]
        visited = [context for context in every if self.allowed(context, p)]
        return visited, {context for context in visited if self.reaches(context, p)}

    def complete_levels(self) -> int:
        """Up to how many conditions all contexts are visited (0003, "Guided search")."""
        triples = combinations(range(len(self.conditions)), 3)
        return 3 if sum(self.allowed(triple, "") for triple in triples) <= MANY_TRIPLES else 2

    def guided(self, p: str) -> tuple[list[Context], set[Context]]:
        """The same two for the guided search (method 5; 0003, "Guided search")."""
        depth = min(self.complete_levels(), self.max_conditions)
        visited, reached = self.exhaustive(p, depth)
        level: list[Context] = [context for context in visited if len(context) == depth]
        for _ in range(depth + 1, self.max_conditions + 1):
            leaders: list[Judged] = []
            for context in level:
                judged = self.judge(context, p)
                if judged is None or self.is_dead(context, reached):
                    continue
                least = least_rows(self.min_support, self.n, len(context) + 1) - ROUNDING
                if len(self.group(context)) >= least:  # rows enough for one more condition
                    leaders.append(judged)
            extended: set[Context] = set()
            for judged in sorted(leaders, key=frontier_key)[:FRONTIER]:
                for c in range(len(self.conditions)):
                    if c not in judged.context:
                        extended.add(tuple(sorted((*judged.context, c))))
            level = []
            for context in sorted(extended):
                dead = self.minimality == "strict" and any(s in reached for s in subsets(context))
                if self.allowed(context, p) and not dead:
                    level.append(context)
            visited = visited + level
            for context in level:
                if self.reaches(context, p):
                    reached.add(context)
                    if self.minimality == "strict":  # its unvisited subsets are evaluated, too
                        reached.update(s for s in subsets(context) if self.reaches(s, p))
        return visited, reached

    def is_dead(self, context: Context, reached: set[Context]) -> bool:
        """Whether strict minimality leaves nothing to find beyond a context (method 5)."""
        enough = any(c in reached for c in [context, *subsets(context)])
        return self.minimality == "strict" and enough

    def kept(self, p: str, reached: set[Context]) -> list[Judged]:
        """Those that are minimal, or much stronger than what they contain (method 5)."""
        found: dict[Context, Judged] = {}
        for context in sorted(reached, key=lambda c: (len(c), c)):
            judged = self.judge(context, p)
            if judged is None:
                continue
            if self.minimality == "strict":
                if not any(self.reaches(subset, p) for subset in subsets(context)):
                    found[context] = judged
                continue
            smaller = [
                found[subset].pair.strength for subset in subsets(context) if subset in found
            ]
            least = max(smaller, default=-math.inf) + MUCH_STRONGER - ROUNDING
            if judged.pair.strength >= least:
                found[context] = judged
        return list(found.values())

    def results(self, search: str) -> list[Pair]:
        """Minimal pairs that reach the threshold, else the closest ones (method 1 and 5; 0003)."""
        reported: list[Judged] = []
        closest: list[Judged] = []
        for p in self.table:
            if search == "exhaustive":
                visited, reached = self.exhaustive(p, self.max_conditions)
            else:
                visited, reached = self.guided(p)
            reported += self.kept(p, reached)
            every = [self.judge(context, p) for context in visited]
            positive = [j for j in every if j is not None and j.pair.outlierness > ROUNDING]
            if positive:
                closest.append(min(positive, key=closest_key))
        given: dict[tuple[str, ...], Pair] = {}  # the first of each property and attributes
        for judged in sorted(reported or closest, key=order_key):
            names = [condition.attribute for condition in judged.pair.conditions]
            given.setdefault((judged.pair.property, *names), judged.pair)
        return list(given.values())


def explain(
    table: Table,
    row: int,
    *,
    min_support: float | None = None,
    min_outlierness: float = 0.9,
    max_conditions: int = 4,
    minimality: str = "unless stronger",
    search: str = "guided",
    measure: str = "relative",
    scales: str = "several",
    interval: str = "run",
    bandwidth: str = "fixed",
    seed: int | None = None,
    discretise: str | None = None,
    bins: int = 10,
    windows: Sequence[int] = SCALES,
) -> list[Pair]:
    """The full ordered list of pairs that explain a row (method 1 to 6; 0002; 0003)."""
    for option, choices in (
        (search, ("guided", "exhaustive")),
        (minimality, ("strict", "unless stronger")),
        (measure, ("relative", "paper")),
        (scales, ("several", "one")),
        (interval, ("run", "span")),
        (bandwidth, ("fixed", "adaptive")),
    ):
        if option not in choices:
            raise ValueError(f"{option!r} is not one of {choices}")
    if discretise is not None:
        table = {name: binned(column, discretise, bins) for name, column in table.items()}
    limits = (min_support, min_outlierness, max_conditions, minimality)
    question = Search(table, row, *limits, measure, scales, interval, bandwidth, seed, windows)
    return question.results(search)
