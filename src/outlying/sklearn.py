"""OutlyingDetector: the engine as an outlier detector of scikit-learn."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, Self

import numpy as np

from outlying.api import Explainer
from outlying.errors import MissingExtraError, OutlyingError
from outlying.results.many import Explanations
from outlying.table.columns import Column, Floats
from outlying.table.row_hash import Hashes, row_hashes
from outlying.table.table import Table

try:
    from sklearn.base import BaseEstimator, OutlierMixin
    from sklearn.utils import Tags
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtraError("outlying.sklearn", "sklearn") from None


class OutlyingDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Find the odd rows of a table, of arrays or dataframes with categories and gaps.

    Rows are judged by the table that it was fitted on; one that is the same as a row there is
    judged as that row. By default (`contamination="auto"`) the outliers are the rows that `detect`
    calls exceptional, which may be none; a share marks so many of the training rows. The other
    parameters are the options of `outlying.explain`: `properties` are the columns that are judged,
    `contexts` those that say with which rows. Rows are not compared with those before and after
    them unless `entity` and `time` say so: a detector judges each row by itself.
    """

    def __init__(
        self,
        *,
        contamination: float | Literal["auto"] = "auto",
        columns: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        properties: Iterable[str] | None = None,
        contexts: Iterable[str] | None = None,
        types: Mapping[str, str] | None = None,
        min_support: float | None = None,
        max_conditions: int = 4,
        derive: bool = True,
        entity: str | None = None,
        time: str | None = None,
        infinite: str = "error",
    ) -> None:
        self.contamination = contamination
        self.columns, self.exclude, self.types = columns, exclude, types
        self.properties, self.contexts = properties, contexts
        self.min_support, self.max_conditions = min_support, max_conditions
        self.derive, self.entity, self.time, self.infinite = derive, entity, time, infinite

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803, ARG002 - as scikit-learn has it
        """Judge the rows of a table, and keep what new ones are judged by."""
        share = self.contamination
        if share != "auto" and not (isinstance(share, (int, float)) and 0 < share <= 0.5):
            raise ValueError(
                f'contamination is {share!r}; allowed: "auto", or a share above 0 and at most 0.5'
            )
        rows = self._checked(X, reset=True)
        options: dict[str, Any] = self.get_params(deep=False)
        del options["contamination"]
        with _as_value_errors():
            self.explainer_ = Explainer(rows, **options)
            strengths = self.explainer_.in_memory("fit").scores()[0]
            line = self.explainer_.standing().exceptional
            hashes = _hashes(self.explainer_.table)
        order = np.argsort(hashes, kind="stable")
        self._known, self._strengths = hashes[order], strengths[order]
        self.training_scores_ = -strengths
        if share == "auto":
            self.offset_ = -np.nextafter(max(line, np.finfo(float).tiny), 0.0)
        else:
            self.offset_ = float(np.quantile(-strengths, share, method="higher"))
        return self

    def score_samples(self, X: Any) -> Floats:  # noqa: N803
        """Return how ordinary rows are: the strength of the strongest finding of each, negative."""
        compared = self._compared(X)
        with _as_value_errors():
            strengths = compared.in_memory("score_samples").scores()[0]
            hashes = _hashes(compared.table)
        places = np.minimum(np.searchsorted(self._known, hashes), len(self._known) - 1)
        is_known = self._known[places] == hashes
        return np.asarray(-np.where(is_known, self._strengths[places], strengths))

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Return the same, shifted so that outliers are below 0."""
        return np.asarray(self.score_samples(X) - self.offset_)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return -1 of outliers and 1 of all others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def explain(self, X: Any, rows: Iterable[int] | None = None) -> Explanations:  # noqa: N803
        """Explain all or some rows of a table, by position, against that it was fitted on."""
        compared = self._compared(X)
        with _as_value_errors():
            return compared.explain_many(rows=range(compared.rows) if rows is None else rows)

    def _compared(self, rows: Any) -> Explainer:
        check_is_fitted(self)
        rows = self._checked(rows, reset=False)
        with _as_value_errors():
            return Explainer(rows, against=self.explainer_)

    def _checked(self, rows: Any, *, reset: bool) -> Any:
        """Check the rows as scikit-learn does; dataframes stay what they are."""
        if hasattr(rows, "columns") or hasattr(rows, "column_names"):
            validate_data(self, rows, reset=reset, skip_check_array=True)
            return rows
        least = 2 if reset else 1
        given: dict[str, Any] = {"dtype": None, "ensure_all_finite": "allow-nan"}
        return validate_data(self, rows, reset=reset, ensure_min_samples=least, **given)


@contextlib.contextmanager
def _as_value_errors() -> Iterator[None]:
    """Raise what scikit-learn expects of wrong data."""
    try:
        yield
    except OutlyingError as error:
        raise ValueError(str(error)) from error


def _hashes(table: Table) -> Hashes:
    """Return what tells rows apart, by what they hold."""
    columns: Iterator[Column] = (
        column if column.is_numeric else column.with_plain_labels() for column in table.columns
    )
    return row_hashes(columns, table.rows)
