"""Why is this row an outlier? Ranked, readable pairs of context and property."""

from outlying.conditions import Condition
from outlying.detect import detect
from outlying.detections import Detection, Flagged
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
from outlying.explain import Explainer, explain, explain_many
from outlying.feeders import scan
from outlying.findings import Findings, Pair, Population
from outlying.options import Options
from outlying.report import report
from outlying.stories import Story, stories
from outlying.table import SkippedColumn

__version__ = "0.1.0"

__all__ = [
    "ColumnError",
    "Condition",
    "Detection",
    "Explainer",
    "Findings",
    "Flagged",
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
    "Story",
    "__version__",
    "detect",
    "explain",
    "explain_many",
    "report",
    "scan",
    "stories",
]
