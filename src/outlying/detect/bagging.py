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
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from outlying.errors import MissingExtraError, OptionError, Setting
from outlying.method.density import Counts
from outlying.options import Bagging, Combine, Scale
from outlying.parallel import thread_map
from outlying.table.columns import CategoricalColumn, Column, Floats, Rows, numeric_column
from outlying.table.row_hash import limit_copies, sample_rows

Progress: TypeAlias = Callable[[int, int], None]


class Limits(NamedTuple):
    """How much a round compares."""

    coordinates: int = 2**28  # beyond, it compares with a sample of the rows
    references: int = 256  # with no fewer rows than these

    def of_references(self, rows: int, width: int) -> int:
        """Return the number of rows with which each row may be compared."""
        return max(self.references, self.coordinates // (rows * width))


#: The share of rows that have enough neighbours within the radius where none is given.
INLIERS = 0.95
#: The rare labels of a column with more labels count as one, as each costs a coordinate.
MOST_LABELS = 32
#: Sums of squares of larger numbers would overflow.
LARGEST = 1e100

_DIGITS = 9  # scores that differ by less are the same
_ROUNDING = 1e-9  # what is beyond a radius by less is on it
_HALF = math.sqrt(0.5)  # two categories differ in two coordinates: half a squared step in each
_LEAF = 64  # with many coordinates a tree saves few comparisons: more than SciPy's 10
_AT_ONCE = 2**20  # distances asked for at once: an interrupt waits for no more than these


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
    columns: Sequence[Column],
    settings: Bagging,
    workers: int = 1,
    progress: Progress | None = None,
    limits: Limits = Limits(),  # noqa: B008 - a value
) -> Bagged:
    """Score all rows by feature bagging."""
    coordinates = Coordinates.of(columns, settings.scale)
    sample, rows = Sample.of(columns, coordinates, settings, limits), coordinates.rows
    references = sample.size if sample.is_part else rows
    count = max(1, min(settings.neighbours, (references - 1) // 2))  # near ones, not all
    chosen = subsets(len(columns), settings.rounds, settings.seed)
    rounds = collections.Counter(
        (attributes, place * sample.is_part) for place, attributes in enumerate(chosen)
    )
    votes, best = np.zeros(rows, dtype=np.int64), np.full(rows, rows, dtype=np.int64)
    total = np.zeros(rows)
    for done, ((attributes, part), times) in enumerate(rounds.items()):
        if progress is not None:
            progress(done, len(rounds))
        points = coordinates.points(attributes, sample.scored)
        found = nearest_distances(points, sample.rows_of(part), count, workers)[sample.places]
        scores = round_scores(found / len(attributes) ** 0.5, settings)
        ranks = round_ranks(scores, count)
        votes += times * (ranks == 1)
        best = np.minimum(best, ranks)
        total += times * scores
    remoteness = np.round(total / settings.rounds, _DIGITS)
    return Bagged(
        combined(votes, best, remoteness, settings.combine),
        votes,
        best,
        remoteness,
        count,
        references,
        min(len(sample.drawn), sample.size * settings.rounds),
        coordinates.lumped,
    )


def subsets(attributes: int, rounds: int, seed: int) -> Iterator[tuple[int, ...]]:
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
    scored: Rows | slice  # all, or those without further copies
    places: Rows | slice  # of all rows among those that are scored

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        coordinates: Coordinates,
        settings: Bagging,
        limits: Limits,
    ) -> Sample:
        """Draw no more rows than can be compared in reasonable time."""
        rows, width = coordinates.rows, sum(block.shape[1] for block in coordinates.blocks)
        size = limits.of_references(rows, width)
        if size >= rows:
            return cls(np.arange(rows), rows, slice(None), slice(None))
        kept, places = limit_copies(columns, rows, settings.neighbours + 1)
        few = len(kept)
        if few < rows and limits.of_references(few, width) >= few:
            return cls(np.arange(few), few, kept, places)
        drawn = sample_rows(map(_ranked, columns), rows, size * settings.rounds)
        return cls(drawn, size, slice(None), slice(None))

    @property
    def is_part(self) -> bool:
        """Whether a round compares with less than everything."""
        return self.size < len(self.drawn)

    def rows_of(self, part: int) -> Rows:
        """Return the rows of a part; after the last one, the first ones follow again."""
        places = np.arange(part * self.size, (part + 1) * self.size)
        return self.drawn[places % len(self.drawn)]


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
        radius = settings.radius
        if radius is None:  # the least one in which enough rows have all their neighbours
            radius = float(np.quantile(last, INLIERS, method="inverted_cdf"))
        missing = np.count_nonzero(distances > radius * (1 + _ROUNDING), axis=1)
        last = missing + last / (1 + last)
    mean = float(np.sort(last).mean())
    return np.round(last / mean, _DIGITS) if mean > 0 else np.zeros(len(last))


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


def nearest_distances(
    points: Floats, references: Rows, count: int, workers: int, at_once: int = _AT_ONCE
) -> Floats:
    """Return the distances of each row to its nearest reference rows, the nearest first.

    A row is not its own neighbour: its distance to itself is left out. Needs more references than
    neighbours. SciPy's own `workers` would leave its threads behind after an interrupt, at work on
    memory that is freed meanwhile, and the process would crash.
    """
    tree = kd_tree()(points[references], leafsize=_LEAF)
    size = max(1, at_once // len(references))
    parts = [points[start : start + size] for start in range(0, len(points), size)]
    with thread_map(min(workers, len(parts))) as mapped:
        found = list(mapped(lambda part: tree.query(part, k=range(1, count + 2)), parts))
    distances, places = (np.vstack(each) for each in zip(*found, strict=True))
    is_itself = distances[:, 0] == 0
    if len(references) < len(points):
        # only where all copies of the row are references: where some are, another sample would
        # hold other ones, and all copies are treated alike, as if they were not drawn
        _, kind = np.unique(points[references], axis=0, return_inverse=True)
        kind = kind.reshape(-1)
        own, size = kind[places[:, 0]], len(references)
        copies = np.bincount(own[is_itself], minlength=size)
        is_itself &= (copies == np.bincount(kind, minlength=size))[own]
    return np.asarray(np.where(is_itself[:, None], distances[:, 1:], distances[:, :-1]))


def kd_tree() -> Any:
    """Return the class of SciPy's k-d tree, or say what to install."""
    try:
        return importlib.import_module("scipy.spatial").KDTree
    except ImportError:
        raise MissingExtraError("feature bagging", "detect") from None


# --- rows as points ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """One block of coordinates per attribute, in the order of the names."""

    blocks: tuple[Floats, ...]
    lumped: tuple[str, ...]  # columns with more labels than coordinates

    @classmethod
    def of(cls, columns: Iterable[Column], scale: Scale = "deviation") -> Coordinates:
        """Return the coordinates of every row."""
        ordered = sorted(columns, key=lambda column: column.name)
        lumped = (c.name for c in ordered if not c.is_numeric and len(c.labels) > MOST_LABELS)
        return cls(tuple(_block(column, scale) for column in ordered), tuple(lumped))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.blocks[0])

    def points(
        self, attributes: Sequence[int] | None = None, rows: Rows | slice = slice(None)
    ) -> Floats:
        """Return the coordinates in some attributes, or in all; of some rows, or of all."""
        chosen = range(len(self.blocks)) if attributes is None else attributes
        return np.hstack([self.blocks[place][rows] for place in chosen])


def _block(column: Column, scale: Scale) -> Floats:
    """Return numbers divided by the spread of the known ones, whatever their size; or labels."""
    if not column.is_numeric:
        return _indicators(column)
    known = ~column.missing()
    largest, values = float(np.abs(column.values[known]).max()), column.values
    if scale != "none":
        parts = values / (largest or 1.0)
        ordered = np.sort(parts[known])  # so that the order of rows moves no digit
        spread = float(np.ptp(ordered) if scale == "range" else (ordered - ordered[0]).std())
        values = (parts - np.median(ordered)) / (spread or 1.0)
    elif largest > LARGEST:
        raise OptionError(
            Setting("scale", "none"),
            f" cannot compare column {column.name!r}, which holds numbers as large as {largest:g} "
            f"(allowed: up to {LARGEST:g}); use ",
            Setting("scale", "deviation"),
            " or leave the column out with ",
            Setting("exclude"),
        )
    filled = np.where(known, values, float(np.median(values[known])))
    gaps = [] if known.all() else [np.where(known, 0.0, _HALF)]
    return np.column_stack([filled, *gaps])


def _indicators(column: CategoricalColumn) -> Floats:
    """Return a coordinate for each label; a missing value is at the origin of all."""
    width = min(len(column.labels), MOST_LABELS)
    frequent = np.argsort(-np.bincount(column.codes[column.codes >= 0]), kind="stable")[:width]
    place = np.full(len(column.labels) + 1, width - 1)  # the last one is shared by rare labels
    place[frequent] = np.arange(width)
    place[-1] = width
    return np.asarray(np.eye(width + 1, width)[place[column.codes]] * _HALF)
