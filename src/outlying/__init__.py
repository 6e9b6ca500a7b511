"""Why is this row an outlier? Ranked, readable pairs of context and property."""

from outlying.conditions import Condition
from outlying.errors import (
    ColumnError,
    InfiniteValueError,
    MissingExtraError,
    ObjectError,
    OptionError,
    OutlyingError,
    OutputError,
    RowError,
    SourceError,
)
from outlying.explain import Explainer, explain
from outlying.findings import Findings, Pair, Population
from outlying.options import Options
from outlying.table import SkippedColumn

__version__ = "0.1.0"

__all__ = [
    "ColumnError",
    "Condition",
    "Explainer",
    "Findings",
    "InfiniteValueError",
    "MissingExtraError",
    "ObjectError",
    "OptionError",
    "Options",
    "OutlyingError",
    "OutputError",
    "Pair",
    "Population",
    "RowError",
    "SkippedColumn",
    "SourceError",
    "__version__",
    "explain",
]
