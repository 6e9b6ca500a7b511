"""Other tools under test. They are optional: those that are not installed take no part.

OutlierTree explains by itself. The others only score columns, so they are told how many columns the
true answer has, which no user could tell them: an advantage. (`benchmarks.quality.errors` lets them
name as many as we do.)
"""

from __future__ import annotations

import importlib
import importlib.metadata
import warnings
from typing import Any

import numpy as np

from benchmarks.machine import is_installed
from benchmarks.quality.cases import Answer, Array, Case, Guess, Method, Target
from benchmarks.quality.encoding import Encoded, Floats, encode, is_text, numbers

MOST_DEVIATIONS = 3.5
INSTALL = "pip install -e '.[bench]'"


class OutlierTree:
    """The package outliertree: conditions found by decision trees, one explanation for a row."""

    name = "OutlierTree"
    packages = ("outliertree", "pandas")

    def __init__(self) -> None:
        self._package: Any = importlib.import_module("outliertree")
        self._pandas: Any = importlib.import_module("pandas")

    def fit(self, case: Case) -> None:
        """Grow the trees; that flags and explains all rows at once.

        The package leaves out columns of type `category` without a word, knows no `str`, and its
        dates fail with today's NumPy: labels go in as objects, dates as seconds.
        """
        frame = self._pandas.DataFrame(
            {name: self._series(column) for name, column in case.data.items()}
        )
        model = self._package.OutlierTree(nthreads=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # columns of two numbers are only warned about
            self._found = model.fit(frame, return_outliers=True, outliers_print=0)

    def explain(self, target: Target) -> Answer:
        """Name the suspicious column and those of its conditions, if the row is flagged."""
        found = self._found.iloc[target.row]
        if not found["suspicious_value"]:
            return Answer((), claims=False)
        odd = str(found["suspicious_value"]["column"])
        context = (str(condition["column"]) for condition in found["conditions"])
        return Answer((Guess(frozenset({odd, *context}), odd),), claims=True)

    def _series(self, column: Array) -> Any:
        if is_text(column):
            return self._pandas.Series(column, dtype=object)
        return self._pandas.Series(numbers(column))


class ForestShap:
    """Isolation forest, whose score SHAP values share out among the columns."""

    name = "IF + SHAP"
    packages = ("scikit-learn", "shap")

    def __init__(self) -> None:
        self._forests: Any = importlib.import_module("sklearn.ensemble")
        self._shap: Any = importlib.import_module("shap")

    def fit(self, case: Case) -> None:
        """Grow the forest and prepare its explainer."""
        self._encoded = encode(case.data)
        self._forest = self._forests.IsolationForest(random_state=0).fit(self._encoded.matrix)
        self._explainer = self._shap.TreeExplainer(self._forest)

    def explain(self, target: Target) -> Answer:
        """Rank the columns by what they add to the abnormality: negative SHAP values do."""
        row = self._encoded.matrix[target.row : target.row + 1]
        shares = -np.asarray(self._explainer.shap_values(row))[0]
        claims = bool(self._forest.predict(row)[0] == -1)
        return _ranked(self._encoded.by_column(shares, np.add), target, claims)


class Ecod:
    """The tails of each column by themselves, as pyod's ECOD scores them."""

    name = "ECOD"
    packages = ("pyod",)

    def __init__(self) -> None:
        self._package: Any = importlib.import_module("pyod.models.ecod")

    def fit(self, case: Case) -> None:
        """Score all rows."""
        self._encoded: Encoded = encode(case.data)
        self._model = self._package.ECOD().fit(self._encoded.matrix)

    def explain(self, target: Target) -> Answer:
        """Rank the columns by their scores; a label counts by its oddest dimension."""
        scores = np.nan_to_num(self._model.O[target.row])
        claims = bool(self._model.labels_[target.row] == 1)
        return _ranked(self._encoded.by_column(scores, np.maximum), target, claims)


class RobustZ:
    """How many robust standard deviations a number lies from the median of its column.

    The standard deviation is 1.4826 times the median absolute deviation or, where that is 0, 1.2533
    times the mean one; more than 3.5 is an outlier (Iglewicz and Hoaglin 1993). Labels have none.
    """

    name = "robust z"
    packages: tuple[str, ...] = ()

    def fit(self, case: Case) -> None:
        """Measure all numbers."""
        self._scores = {
            name: np.zeros(case.rows) if is_text(column) else _robust_z(numbers(column))
            for name, column in case.data.items()
        }

    def explain(self, target: Target) -> Answer:
        """Rank the columns."""
        scores = {name: float(column[target.row]) for name, column in self._scores.items()}
        return _ranked(scores, target, claims=max(scores.values()) > MOST_DEVIATIONS)


def _robust_z(column: Floats) -> Floats:
    known = column[np.isfinite(column)]
    away = np.abs(known - np.median(known)) if len(known) else np.zeros(1)
    deviation = 1.4826 * np.median(away) or 1.2533 * away.mean()
    if not deviation:
        return np.zeros(len(column))
    return np.asarray(np.nan_to_num(np.abs(column - np.median(known)) / deviation))


PEERS: tuple[type[OutlierTree] | type[ForestShap] | type[Ecod], ...] = (
    OutlierTree,
    ForestShap,
    Ecod,
)


def installed() -> dict[str, type[Method]]:
    """Return the peers that can run here, by name."""
    return {peer.name: peer for peer in PEERS if not lacking(peer.packages)}


def absent() -> dict[str, list[str]]:
    """Return the peers that cannot run here, each with the packages it lacks."""
    return {peer.name: lacking(peer.packages) for peer in PEERS if lacking(peer.packages)}


def versions() -> dict[str, str]:
    """Return the versions of the packages of all peers that are installed."""
    needed = {package for peer in PEERS for package in peer.packages}
    return {
        package: importlib.metadata.version(package)
        for package in sorted(needed)
        if not lacking((package,))
    }


def lacking(packages: tuple[str, ...]) -> list[str]:
    """Return those of some packages that are not installed."""
    return [package for package in packages if not is_installed(package)]


def _ranked(scores: dict[str, float], target: Target, claims: bool) -> Answer:
    """Name as many columns as the first truth does; one for an ordinary row."""
    wanted = len(target.truths[0].columns) if target.truths else 1
    ranked = sorted(scores, key=lambda name: -scores[name])
    guess = Guess(frozenset(ranked[:wanted]), ranked[0])
    return Answer((guess,), claims, ranking=tuple(ranked))
