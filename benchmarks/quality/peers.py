"""Other tools under test. They are optional: those that are not installed take no part.

OutlierTree explains by itself. The other two only score columns, so they are told how many columns
the true answer has, which no user could tell them: an advantage.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import warnings
from typing import Any

import numpy as np

from benchmarks.machine import is_installed
from benchmarks.quality.cases import Answer, Array, Case, Guess, Method, Target
from benchmarks.quality.encoding import Encoded, encode, is_text, numbers

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
        return Answer(_top(self._encoded.by_column(shares, np.add), target), claims)


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
        return Answer(_top(self._encoded.by_column(scores, np.maximum), target), claims)


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


def _top(scores: dict[str, float], target: Target) -> tuple[Guess, ...]:
    """Name as many columns as the first truth does; one for an ordinary row."""
    wanted = len(target.truths[0].columns) if target.truths else 1
    ranked = sorted(scores, key=lambda name: -scores[name])
    return (Guess(frozenset(ranked[:wanted]), ranked[0]),)
