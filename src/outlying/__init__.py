"""Why is this row an outlier? Ranked, readable pairs of context and property."""

from outlying import loading as _loading  # noqa: F401 (before all others)
from outlying.api import Explainer, explain, explain_many, load
from outlying.detect.annotate import annotate
from outlying.detect.api import detect
from outlying.detect.sets import explain_set
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
    WorkerError,
)
from outlying.gate.backtest import Backtest, backtest
from outlying.gate.check import Check, check
from outlying.options import Options
from outlying.render.predicates import as_code
from outlying.results.detections import Detection, Flagged
from outlying.results.findings import Findings, Population
from outlying.results.many import Pattern, json_schema, patterns, report
from outlying.results.sets import Rule, SetExplanation
from outlying.results.stories import Pair, Story
from outlying.sources.registry import scan
from outlying.table.table import Condition, SkippedColumn

__version__ = "0.1.0"

__all__ = [
    "Backtest",
    "Check",
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
    "Pattern",
    "Population",
    "RowError",
    "Rule",
    "SetExplanation",
    "SkippedColumn",
    "SourceError",
    "Story",
    "WorkerError",
    "__version__",
    "annotate",
    "as_code",
    "backtest",
    "check",
    "detect",
    "explain",
    "explain_many",
    "explain_set",
    "json_schema",
    "load",
    "patterns",
    "report",
    "scan",
]
