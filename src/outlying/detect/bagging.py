"""Feature bagging (Lazarevic & Kumar 2005): many rounds, each of which sees some attributes only.

In a round every row gets the score of a distance-based detector; the rounds are combined. Nothing
here depends on the order of rows or columns: attributes are drawn from sorted names, the rows
to compare with by their hashes, and rows that tie are treated alike.

Rows are points whose Euclidean distance compares mixed rows, free of units: squared distances of
single attributes are summed (docs/detect.md). A number is measured in standard deviations of its
column. Two categories are one apart: each has a coordinate of its own, so that a k-d tree of plain
points serves mixed tables, too. A missing value stands in the middle of its column, half a squared
step away from every value; two missing values are alike.
"""

from __future__ import annotations

import collections
import dataclasses
import importlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np

from outlying.errors import MissingExtraError, OptionError, Setting
from outlying.method.density import Counts
from outlying.options import Bagging, Combine, Scale
from outlying.table.columns import (
    CategoricalColumn,
    Column,
    Floats,
    Mask,
    NumericColumn,
    Rows,
    numeric_column,
)
from outlying.table.row_hash import limit_copies, sample_rows

Progress: TypeAlias = Callable[[int, int], None]
Attributes: TypeAlias = tuple[int, ...]

#: The most coordinates that a round compares; beyond, it compares with a sample of the rows.
MOST_COMPARED = 2**28
#: The least rows that a round compares with.
LEAST_REFERENCES = 256
#: The share of rows that have enough neighbours within the radius where none is given.
INLIERS = 0.95

_DIGITS = 9  # scores that differ by less are the same
_ROUNDING = 1e-9  # what is beyond a radius by less is on it


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Bagged:
    """The outcome of all rounds: the scores that rank the rows, and what they are made of."""

    scores: Floats
    votes: Counts  # rounds in which a row was first
    best: Counts  # the best rank of a row in any round
    remoteness: Floats  # mean over rounds of a row's score, divided by that of an average row
    neighbours: int
    references: int  # rows that a round compared with
    compared: int  # rows that any round compared with
    lumped: tuple[str, ...]  # columns whose rare labels count as one


def bagged(
    columns: Sequence[Column], settings: Bagging, workers: int = 1, progress: Progress | None = None
) -> Bagged:
    """Score all rows by feature bagging."""
    coordinates = Coordinates.of(columns, settings.scale)
    sample = Sample.of(columns, coordinates, settings)
    references = sample.size if sample.is_part else coordinates.rows
    count = max(1, min(settings.neighbours, (references - 1) // 2))  # near ones, not all
    tally = Tally(coordinates.rows, count)
    chosen = subsets(len(coordinates.names), settings.rounds, settings.seed)
    rounds = collections.Counter(zip(chosen, sample.parts(), strict=False))
    for done, ((attributes, part), times) in enumerate(rounds.items()):
        if progress is not None:
            progress(done, len(rounds))
        points = coordinates.points(attributes, sample.scored)
        found = nearest_distances(points, sample.rows_of(part), count, workers)[sample.places]
        tally.add(round_scores(found / len(attributes) ** 0.5, settings), times)
    return Bagged(
        combined(tally.votes, tally.best, tally.remoteness, settings.combine),
        tally.votes,
        tally.best,
        tally.remoteness,
        count,
        references,
        min(len(sample.drawn), sample.size * settings.rounds),
        coordinates.lumped,
    )


def subsets(attributes: int, rounds: int, seed: int) -> Iterator[Attributes]:
    """Draw the attributes of each round: between half of them, rounded down, and all but one.

    Of two attributes sometimes both: one at a time, no odd combination would ever be seen.
    """
    rng = np.random.default_rng(seed)
    least, most = max(1, attributes // 2), attributes - (attributes > 2)
    for _ in range(rounds):
        size = int(rng.integers(least, most, endpoint=True))
        chosen = rng.choice(attributes, size, replace=False)
        yield tuple(sorted(int(place) for place in chosen))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Rows to compare with: all of them, or in each round another part of those drawn.

    Of many copies of a row a few are enough: as many as there are neighbours, and the row itself.
    Where a table is small without its further copies, it is compared as a whole.
    """

    drawn: Rows  # by their place among the rows that are scored
    size: int  # of a part
    scored: Rows | None  # None: all
    places: Rows  # of all rows among those that are scored

    @classmethod
    def of(cls, columns: Sequence[Column], coordinates: Coordinates, settings: Bagging) -> Sample:
        """Draw no more rows than can be compared in reasonable time."""
        rows, width = coordinates.rows, coordinates.width
        every, size = np.arange(rows), most_references(rows, width)
        if size >= rows:
            return cls(every, rows, None, every)
        kept, places = limit_copies(columns, rows, settings.neighbours + 1)
        if len(kept) < rows and most_references(len(kept), width) >= len(kept):
            return cls(np.arange(len(kept)), len(kept), kept, places)
        several = sample_rows(map(_ranked, columns), rows, size * settings.rounds)
        return cls(several, size, None, every)

    @property
    def is_part(self) -> bool:
        """Whether a round compares with less than everything."""
        return self.size < len(self.drawn)

    def parts(self) -> Iterator[int]:
        """Return the part of each round; without a sample it is always the same."""
        part = 0
        while True:
            yield part
            part += self.is_part

    def rows_of(self, part: int) -> Rows:
        """Return the rows of a part; after the last one, the first ones follow again."""
        places = np.arange(part * self.size, (part + 1) * self.size)
        return self.drawn[places % len(self.drawn)]


def most_references(rows: int, width: int) -> int:
    """Return the number of rows with which each row may be compared."""
    return max(LEAST_REFERENCES, MOST_COMPARED // (rows * width))


def _ranked(column: Column) -> Column:
    """Return the column with numbers replaced by ranks, so that a change of unit draws the same."""
    if not column.is_numeric:
        return column
    _, ranks = np.unique(column.values, return_inverse=True)
    return numeric_column(column.name, np.where(column.missing(), np.nan, ranks))


def round_scores(distances: Floats, settings: Bagging) -> Floats:
    """Score the rows of one round, as multiples of the average score.

    `kth-neighbour`: the distance to the last neighbour. `radius` (Angiulli & Fassetti 2009): how
    many neighbours are missing within the radius, and less than one for the distance to the last.
    """
    last = distances[:, -1]
    if settings.base == "radius":
        radius = usual_radius(last) if settings.radius is None else settings.radius
        missing = np.count_nonzero(distances > radius * (1 + _ROUNDING), axis=1)
        last = missing + last / (1 + last)
    mean = float(np.sort(last).mean())
    return np.round(last / mean, _DIGITS) if mean > 0 else np.zeros(len(last))


def usual_radius(last: Floats) -> float:
    """Return the least radius in which enough rows have all their neighbours."""
    return float(np.quantile(last, INLIERS, method="inverted_cdf"))


class Tally:
    """Adds up the rounds in no more than three numbers for each row."""

    def __init__(self, rows: int, neighbours: int) -> None:
        self.rounds, self._neighbours = 0, neighbours
        self.votes: Counts = np.zeros(rows, dtype=np.int64)
        self.best: Counts = np.full(rows, rows, dtype=np.int64)
        self._total: Floats = np.zeros(rows)

    def add(self, scores: Floats, times: int) -> None:
        """Add the scores of a round as many times as it was drawn."""
        ranks = round_ranks(scores, self._neighbours)
        self.votes += times * (ranks == 1)
        self.best = np.minimum(self.best, ranks)
        self._total += times * scores
        self.rounds += times

    @property
    def remoteness(self) -> Floats:
        """The mean score of each row over all rounds."""
        return np.round(self._total / self.rounds, _DIGITS)


def round_ranks(scores: Floats, neighbours: int) -> Counts:
    """Return the ranks of the rows in one round; 1 is the most abnormal.

    Copies of an odd row tie, and share the better rank, as long as they are too few to be enough
    neighbours of one another. More rows than that are merely alike, say in a round that sees a few
    categories only: they share the worse rank, so that such a round raises none of them.
    """
    ordered = np.sort(scores)
    above = len(scores) - np.searchsorted(ordered, scores, side="right")
    worse = len(scores) - np.searchsorted(ordered, scores, side="left")
    return np.where(worse - above <= neighbours, above + 1, worse)


def combined(votes: Counts, best: Counts, remoteness: Floats, combine: Combine) -> Floats:
    """Return one score for each row; ties of ranks and votes are broken by the remoteness.

    `rank` (breadth first): one divided by the best rank in any round. `votes`: the rounds in which
    the row was first. `sum`: the remoteness itself.
    """
    if combine == "sum":
        return remoteness
    if combine == "votes":
        return votes + remoteness / (1 + remoteness)
    return 1 / (best + 1 / (1 + remoteness))


_Found: TypeAlias = tuple[Floats, Rows]  # distances, and to which references

#: Larger leaves than SciPy's default of 10: with many coordinates a tree saves few comparisons.
_LEAF = 64
#: Distances asked for at once: an interrupt waits for no more than these.
_AT_ONCE = 2**20


def nearest_distances(points: Floats, references: Rows, count: int, workers: int) -> Floats:
    """Return the distances of each row to its nearest reference rows, the nearest first.

    A row is not its own neighbour: its distance to itself is left out. Needs more references than
    neighbours.
    """
    tree = kd_tree()(points[references], leafsize=_LEAF)
    size = max(1, _AT_ONCE // len(references))
    parts = [points[start : start + size] for start in range(0, len(points), size)]
    asked = _in_threads(lambda part: tree.query(part, k=range(1, count + 2)), parts, workers)
    found = np.vstack([distances for distances, _ in asked])
    nearest = np.concatenate([places[:, 0] for _, places in asked])
    itself = _is_itself(points[references], found[:, 0] == 0, nearest)
    return np.asarray(np.where(itself[:, None], found[:, 1:], found[:, :-1]))


def _is_itself(references: Floats, is_copy: Mask, nearest: Rows) -> Mask:
    """Return a mask of the rows whose nearest reference, at no distance, is the row itself.

    That is so where all copies of the row are references. Where only some are, another sample would
    hold other ones: all copies are treated alike, as if they were not drawn.
    """
    if len(references) == len(is_copy):
        return is_copy
    _, place = np.unique(references, axis=0, return_inverse=True)
    place = place.reshape(-1)
    own = place[nearest]
    copies = np.bincount(own[is_copy], minlength=len(references))
    return np.asarray(is_copy & (copies == np.bincount(place, minlength=len(references)))[own])


def _in_threads(
    work: Callable[[Floats], _Found], parts: list[Floats], workers: int
) -> list[_Found]:
    """Return the results of the parts in order, several of which are worked on at once.

    SciPy's own `workers` would leave its threads behind after an interrupt, at work on memory that
    is freed meanwhile, and the process would crash.
    """
    if workers == 1 or len(parts) == 1:
        return [work(part) for part in parts]
    pool = ThreadPoolExecutor(workers)
    try:
        return list(pool.map(work, parts))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def kd_tree() -> Any:
    """Return the class of SciPy's k-d tree, or say what to install."""
    try:
        return importlib.import_module("scipy.spatial").KDTree
    except ImportError:
        raise MissingExtraError("feature bagging", "detect") from None


# --- rows as points ------------------------------------------------------------------------------

#: The rare labels of a column with more labels count as one, as each costs a coordinate.
MOST_LABELS = 32
#: Sums of squares of larger numbers would overflow.
LARGEST = 1e100

_HALF = math.sqrt(0.5)  # two categories differ in two coordinates: half a squared step in each


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """One block of coordinates per attribute, in the order of the names."""

    names: tuple[str, ...]
    blocks: tuple[Floats, ...]
    lumped: tuple[str, ...]  # columns with more labels than coordinates

    @classmethod
    def of(cls, columns: Iterable[Column], scale: Scale = "deviation") -> Coordinates:
        """Return the coordinates of every row."""
        ordered = sorted(columns, key=lambda column: column.name)
        return cls(
            tuple(column.name for column in ordered),
            tuple(_block(column, scale) for column in ordered),
            tuple(column.name for column in ordered if _is_lumped(column)),
        )

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.blocks[0])

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return sum(block.shape[1] for block in self.blocks)

    def points(self, attributes: Sequence[int] | None = None, rows: Rows | None = None) -> Floats:
        """Return the coordinates in some attributes, or in all; of some rows, or of all."""
        if attributes is None:
            attributes = range(len(self.blocks))
        blocks = [self.blocks[place] for place in attributes]
        return np.hstack(blocks if rows is None else [block[rows] for block in blocks])


def _block(column: Column, scale: Scale) -> Floats:
    if not column.is_numeric:
        return _indicators(column)
    known = ~column.missing()
    scaled = _scaled(column, known, scale)
    middle = float(np.median(scaled[known]))
    values = np.where(known, scaled, middle)
    return np.column_stack([values] if known.all() else [values, np.where(known, 0.0, _HALF)])


def _is_lumped(column: Column) -> bool:
    return not column.is_numeric and len(column.labels) > MOST_LABELS


def _indicators(column: CategoricalColumn) -> Floats:
    """Return a coordinate for each label; a missing value is at the origin of all."""
    width = min(len(column.labels), MOST_LABELS)
    frequent = np.argsort(-np.bincount(column.codes[column.codes >= 0]), kind="stable")[:width]
    place = np.full(len(column.labels) + 1, width - 1)  # the last one is shared by rare labels
    place[frequent] = np.arange(width)
    place[-1] = width
    return np.asarray(np.eye(width + 1, width)[place[column.codes]] * _HALF)


def _scaled(column: NumericColumn, known: Mask, scale: Scale) -> Floats:
    """Return the numbers divided by the spread of the known ones, whatever their size."""
    largest = float(np.abs(column.values[known]).max())
    if scale == "none":
        return _as_they_are(column, largest)
    parts = column.values / (largest or 1.0)
    ordered = np.sort(parts[known])  # so that the order of rows moves no digit
    spread = float(np.ptp(ordered) if scale == "range" else (ordered - ordered[0]).std())
    return np.asarray((parts - np.median(ordered)) / (spread or 1.0))


def _as_they_are(column: NumericColumn, largest: float) -> Floats:
    if largest > LARGEST:
        raise OptionError(
            Setting("scale", "none"),
            f" cannot compare column {column.name!r}, which holds numbers as large as {largest:g} "
            f"(allowed: up to {LARGEST:g}); use ",
            Setting("scale", "deviation"),
            " or leave the column out with ",
            Setting("exclude"),
        )
    return column.values
