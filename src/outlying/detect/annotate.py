"""annotate(): a dataframe as it came, with columns that say which rows are odd, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from outlying.api import Explainer
from outlying.checks import check_flag
from outlying.detect.api import detect
from outlying.errors import SourceError
from outlying.keywords import ExplainKeywords
from outlying.results.detections import Reason
from outlying.results.findings import Findings

#: The columns that are added, in this order.
ANNOTATIONS = (
    "outlying_exceptional",
    "outlying_strength",
    "outlying_column",
    "outlying_expected",
    "outlying_reason",
)


def annotate(frame: Any, *, unusual: bool = False, **options: Unpack[ExplainKeywords]) -> Any:
    """Return a pandas, polars or Arrow table with columns that say which rows are odd, and why.

    `outlying_exceptional` is true of the rows that `detect` calls so, `outlying_strength` how
    strong the strongest finding on a row is, 0 where there is none. Of exceptional rows, with
    `unusual` of merely unusual ones, too, the odd column, what was expected there, and the reason
    in a sentence. The index and the order of rows stay as they are, and so does the given frame;
    columns of these names, of an earlier call, are made anew.
    """
    from outlying.sources import frames

    everything = check_flag("unusual", unusual)
    plain = frames.without_columns(frame, ANNOTATIONS)
    explainer = Explainer(plain, **options)
    found = detect(explainer, top=1)
    if len(found.scores) != len(plain):
        raise SourceError(
            f"{explainer.table.source} has {len(plain):,} rows, of which {len(found.scores):,} are "
            "compared; leave out the rows that are not of the table, as totals"
        )
    rows = [*found.exceptional, *(found.unusual if everything else ())]
    return frames.with_columns(plain, _columns(found, explainer.explain_many(rows=rows)))


def _columns(found: Any, told: Iterable[Findings]) -> dict[str, list[Any]]:
    count = len(found.scores)
    exceptional = np.zeros(count, dtype=bool)
    exceptional[list(found.exceptional)] = True
    texts: list[list[str | None]] = [[None] * count for _ in ANNOTATIONS[2:]]
    for findings in told:
        reason, row = Reason.of(findings), findings.row
        if reason is not None and row is not None:
            said = (reason.column, reason.expected.removeprefix("expected "), reason.sentence)
            for own, text in zip(texts, said, strict=True):
                own[row] = text
    strengths = np.maximum(found.scores, 0.0).tolist()
    return dict(zip(ANNOTATIONS, (exceptional.tolist(), strengths, *texts), strict=True))
