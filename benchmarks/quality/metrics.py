"""How good an answer is."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.quality.cases import (
    Answer,
    Array,
    Case,
    Guess,
    Premise,
    Target,
    Truth,
    best_f1,
)

Mask: TypeAlias = npt.NDArray[np.bool_]

FIRST = 5
FEW = 3  # truths that are told in words
DROPPED = 0.1  # the share of the rows that a thinned table loses


@dataclasses.dataclass(frozen=True)
class Score:
    """What an answer is worth. None: the question does not arise, as for an ordinary row.

    - `f1`, `f1_five`: F1 of the columns of the first guess, and of the best of the first five.
    - `exact`, `exact_five`: whether the first guess, or one of five, names just the true columns.
    - `property`: whether the first guess calls the true column the odd one.
    - `named`: whether the first guess names the odd column in whichever role.
    - `overlap`, `overlap_five`: how far the conditions of the first guess, or of the best of five,
      keep the rows of the true ones.
    - `claims`, `stands_out`: whether the row is called exceptional, or at least unusual.
    - `columns`, `truth`, `guess`: the first guess's columns, and both stories in words.
    """

    row: int
    is_ordinary: bool
    claims: bool
    stands_out: bool | None
    seconds: float
    f1: float | None
    f1_five: float | None
    exact: bool | None
    exact_five: bool | None
    property: bool | None
    named: bool | None
    overlap: float | None
    overlap_five: float | None
    columns: tuple[str, ...]
    truth: str
    guess: str


def score(case: Case, target: Target, answer: Answer, seconds: float) -> Score:
    """Measure an answer."""
    first, five, truths = answer.guesses[:1], answer.guesses[:FIRST], target.truths
    return Score(
        row=target.row,
        is_ordinary=not truths,
        claims=answer.claims,
        stands_out=answer.stands_out,
        seconds=seconds,
        f1=best_f1(first, truths) if truths else None,
        f1_five=best_f1(five, truths) if truths else None,
        exact=is_exact(first, truths) if truths else None,
        exact_five=is_exact(five, truths) if truths else None,
        property=is_right_property(first, truths),
        named=names_property(first, truths),
        overlap=overlap(case.data, first, truths),
        overlap_five=overlap(case.data, five, truths),
        columns=tuple(sorted(first[0].columns)) if first else (),
        truth=_all_words(truths),
        guess=words(first[0]) if first else "nothing",
    )


# Columns.


def is_exact(guesses: Sequence[Guess], truths: Sequence[Truth]) -> bool:
    """Return whether a guess names the columns of a truth, no more and no less."""
    return any(guess.columns == truth.columns for guess in guesses for truth in truths)


def is_right_property(first: Sequence[Guess], truths: Sequence[Truth]) -> bool | None:
    """Return whether the guess calls the planted property the odd one, where that is known."""
    known = {truth.property for truth in truths} - {None}
    return any(guess.property in known for guess in first) if known else None


def names_property(first: Sequence[Guess], truths: Sequence[Truth]) -> bool | None:
    """Return whether the planted property is among the columns that the guess names."""
    known = {truth.property for truth in truths} - {None}
    return any(known & guess.columns for guess in first) if known else None


# Conditions, measured in rows of the table: units and shapes of columns play no part.


def overlap(
    data: dict[str, Array], guesses: Sequence[Guess], truths: Sequence[Truth]
) -> float | None:
    """Return the best overlap of a guess with a truth; None where no truth has conditions."""
    told = [truth for truth in truths if truth.premises]
    if not told:
        return None
    if not guesses:
        return 0.0
    shares = (_overlap(data, guess, truth) for guess in guesses for truth in told)
    return max((share for share in shares if share is not None), default=None)


def _overlap(data: dict[str, Array], guess: Guess, truth: Truth) -> float | None:
    """Average over the true conditions, but for one on the column that the guess calls odd.

    That guess tells the relation from its other side, and has no condition to compare. A
    condition on a column that the guess does not name counts as 0.
    """
    shares = [
        jaccard(data[true.column], true, guess.premises)
        for true in truth.premises
        if true.column != guess.property
    ]
    return float(np.mean(shares)) if shares else None


def jaccard(column: Array, true: Premise, guessed: Iterable[Premise]) -> float:
    """Return the rows that satisfy both conditions among those that satisfy either."""
    same = [premise for premise in guessed if premise.column == true.column]
    if not same:
        return 0.0
    ours = np.logical_and.reduce([holds(column, premise) for premise in same])
    theirs = holds(column, true)
    either = np.count_nonzero(ours | theirs)
    return float(np.count_nonzero(ours & theirs) / either) if either else 0.0


def holds(column: Array, premise: Premise) -> Mask:
    """Return the rows that satisfy a condition; the ends of an interval belong to it."""
    if premise.is_missing:
        return _is_missing(column)
    if premise.value is not None:
        return np.array([value == premise.value for value in column.tolist()], dtype=np.bool_)
    inside = ~_is_missing(column)
    if premise.low is not None:
        inside &= column >= _end(column, premise.low)
    if premise.high is not None:
        inside &= column <= _end(column, premise.high)
    return inside


def _is_missing(column: Array) -> Mask:
    if column.dtype == object:
        return np.array([value is None for value in column], dtype=np.bool_)
    return np.asarray(np.isnat(column) if column.dtype.kind == "M" else np.isnan(column))


def _end(column: Array, end: Any) -> Any:
    """Return an end of an interval as the column holds its values."""
    return np.datetime64(end) if column.dtype.kind == "M" else end


# Words.


def words(story: Guess | Truth) -> str:
    """Tell a guess or a truth: "c01 where c02 is 3 to 4"."""
    if story.property is None:
        return ", ".join(sorted(story.columns))
    told = {premise.column: _condition(premise) for premise in story.premises}
    rest = sorted(story.columns - {story.property} - set(told))
    context = " and ".join([*told.values(), *rest])
    return f"{story.property} where {context}" if context else story.property


def _all_words(truths: Sequence[Truth]) -> str:
    more = f" or one of {len(truths) - FEW} more" if len(truths) > FEW else ""
    return " or ".join(words(truth) for truth in truths[:FEW]) + more


def _condition(premise: Premise) -> str:
    if premise.is_missing:
        return f"{premise.column} is missing"
    if premise.value is not None:
        return f"{premise.column} = {premise.value}"
    if premise.low is None:
        return f"{premise.column} is at most {_number(premise.high)}"
    if premise.high is None:
        return f"{premise.column} is at least {_number(premise.low)}"
    return f"{premise.column} is {_number(premise.low)} to {_number(premise.high)}"


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (int, float)) else str(value)


# Stability.


def thinned(case: Case, seed: int) -> Case:
    """Drop a tenth of the rows at random, but none that is to be explained."""
    rng = np.random.default_rng([seed, zlib.crc32(case.name.encode())])
    rows = [target.row for target in case.targets]
    others = np.setdiff1d(np.arange(case.rows), rows)
    kept = np.ones(case.rows, dtype=np.bool_)
    dropped = min(len(others), round(DROPPED * case.rows))
    kept[rng.choice(others, dropped, replace=False)] = False
    places = np.cumsum(kept) - 1
    return dataclasses.replace(
        case,
        data={name: column[kept] for name, column in case.data.items()},
        targets=tuple(
            dataclasses.replace(target, row=int(places[target.row])) for target in case.targets
        ),
    )
