"""Reference rows: how strong the findings are that the same search makes on ordinary rows.

Among thousands of pairs something always looks rare. How strong a finding has to be to mean
something, the table itself tells: rows drawn from it are explained in the same way, once for all
objects (method 5, "Confidence"; in the spirit of conformal p-values).
"""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Collection, Sequence

import numpy as np

from outlying.method.density import Counts, Floats
from outlying.options import Options
from outlying.search import limits

MOST_ROWS = 200
LEAST_ROWS = 50
#: The fewest rows of which one may be as strong as an exceptional finding, and yet no more than 3%
#: of ordinary rows are called so: 2 in 67. One in 50 would be 2 in 51, nearly 4%.
_EVEN_ROWS = 66
_CELLS = 4_000
#: Fewer rows than these say little of how many there are.
_FEW = 5
#: The share of the rows whose strengths are the tail, and the least mean of its excesses.
_TAIL = 0.1
_LEAST_EXCESS = 0.05
#: A row has one odd cell if its strongest finding is stronger by this than what is left without
#: that cell, and than findings that ordinary rows have.
_ODD_CELL = 1.5
_ORDINARY_STRENGTH = 3.0
#: A table is dirty if this share of its rows have one odd cell, in this many columns (evenly) and
#: this share of them.
_MANY_SUSPECTS = 0.15
_SOME_COLUMNS = 5
_MANY_COLUMNS = 1 / 3


def enough_rows(columns: int, is_large: bool, options: Options) -> int:
    """Return how many rows to compare with: by default fewer where each takes long."""
    if options.references is not None:
        return options.references
    if options.search == "exhaustive":
        return LEAST_ROWS
    affordable = _CELLS // max(1, columns)
    least = max(LEAST_ROWS, min(_EVEN_ROWS, MOST_ROWS, affordable))
    return max(least, min(MOST_ROWS, affordable // 4 if is_large else affordable))


@dataclasses.dataclass(frozen=True, slots=True)
class Strongest:
    """The strongest finding of a row, and what to know beside it."""

    strength: float  # -inf where nothing reaches the threshold
    rest: float  # the strongest finding without the column most to blame
    blamed: int  # that column
    surprise: float  # mean over all columns of the logarithm of the rarity without conditions


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """How a finding compares with those on ordinary rows."""

    as_strong: int  # rows with a finding at least this strong
    asked: int  # rows that were searched
    #: The share of ordinary rows with a finding this strong: counted, or where these are few, by
    #: the tail of their strengths, on the safe side.
    chance: float = 1.0
    is_robust: bool = False  # the rows are compared without their oddest cells

    @property
    def confidence(self) -> float:
        """The share of rows whose strongest finding is weaker."""
        return (self.asked - self.as_strong) / self.asked


@dataclasses.dataclass(frozen=True, slots=True)
class References:
    """The strongest findings of some rows of a population: plain values, the same for all objects.

    There is one row more than count, as the object itself may be among them.
    """

    rows: tuple[Strongest, ...]
    hashes: tuple[int, ...]  # of the rows' values
    count: int
    columns: int  # that are compared
    #: Columns in which a single row differs, by number and name: many of them mark many rows, and
    #: no finding on other columns would be exceptional beside these.
    lone: tuple[tuple[int, str], ...] = ()

    @property
    def is_robust(self) -> bool:
        """Whether so many rows have a single odd cell that these are the table's errors.

        Then a finding is compared with what the rows show without that cell: with the ordinary part
        of the table. A table whose outliers lie in one or two columns has heavy tails there, not
        errors.
        """
        suspects = [row.blamed for row in self.rows if _has_one_odd_cell(row)]
        if len(suspects) < _MANY_SUSPECTS * len(self.rows):
            return False
        counts = collections.Counter(suspects).values()
        spread = len(suspects) ** 2 / sum(count * count for count in counts)
        return spread >= max(_SOME_COLUMNS, _MANY_COLUMNS * self.columns)

    def strengths(self, columns: Collection[str] = ()) -> list[float]:
        """Return what findings on some columns are compared with.

        Those on columns in which a single row differs are compared with each other, too; findings
        on other columns with what rows show without them.
        """
        is_alone = any(name in columns for _, name in self.lone)
        without = set() if is_alone else {place for place, _ in self.lone}
        is_robust = self.is_robust
        return [
            row.rest if is_robust or row.blamed in without else row.strength for row in self.rows
        ]

    def compare(
        self, strength: float, row_hash: int | None = None, columns: Collection[str] = ()
    ) -> Comparison:
        """Compare a finding on a row, known by the hash of its values, with those on other rows.

        One row with the object's own values is left out. Which of several equal rows was drawn
        depends on their order; the answer does not.
        """
        others = self.strengths(columns)
        if row_hash in self.hashes:
            del others[self.hashes.index(row_hash)]
        others = others[: self.count]
        least = strength - limits.SAME_STRENGTH
        as_strong = sum(other >= least for other in others)
        chance = chance_of(strength, sorted(others, reverse=True), as_strong)
        return Comparison(as_strong, len(others), chance, self.is_robust)


def _has_one_odd_cell(row: Strongest) -> bool:
    return row.strength - max(row.rest, _ORDINARY_STRENGTH) >= _ODD_CELL


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Oddness:
    """How odd each row of a table is: its strongest finding, or how rare its values are."""

    scores: Floats
    strengths: Floats
    rarer_than: Counts  # how many rows have values that are less rare all together

    @classmethod
    def of(cls, found: Sequence[Strongest]) -> Oddness:
        """Compare all rows.

        A row whose values are rarer all together (by the mean logarithm of their rarities without
        conditions) than those of 99% of the rows counts as one whose finding is stronger than
        those of 99%. Rows without a finding come behind all others, those with rare values first.
        """
        strengths = np.array([max(0.0, each.strength) for each in found])
        surprises = np.array([each.surprise for each in found]).round(9)
        ranks = np.searchsorted(np.sort(surprises), surprises)
        scores = np.maximum(strengths, np.sort(strengths)[ranks])
        least = scores[scores > 0].min(initial=1.0)
        behind = least * surprises / (1 + surprises)
        return cls(np.where(scores > 0, scores, behind), strengths, ranks)


def chance_of(strength: float, others: Sequence[float], as_strong: int) -> float:
    """Estimate how many ordinary rows have a finding this strong, by the strengths of some.

    Where fewer than five of them have, an exponential tail is laid through the strongest tenth
    (peaks over a threshold), with the upper end of the 95% confidence interval of its mean.
    """
    count = len(others)
    tail = max(_FEW, round(_TAIL * count))
    if as_strong >= _FEW or count <= tail or not math.isfinite(strength):
        return as_strong / count
    start = others[tail]
    if strength <= start or not math.isfinite(start):
        return (as_strong + 1) / (count + 1)
    excess = math.fsum(other - start for other in others[:tail]) / tail
    excess = max(excess * (1 + 1.64 / math.sqrt(tail)), _LEAST_EXCESS)
    return (tail + 1) / (count + 1) * math.exp(-(strength - start) / excess)
