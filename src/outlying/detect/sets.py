"""explain_set(): what sets some rows of a table apart from all others, as rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

import numpy as np

from outlying.api import Explainer
from outlying.checks import check_whole
from outlying.errors import OptionError, RowError, shown
from outlying.keywords import ExplainKeywords
from outlying.results.sets import SetExplanation
from outlying.sources import registry


def explain_set(
    data: Any,
    *,
    rows: Iterable[int] | Any = None,
    where: Mapping[str, Any] | None = None,
    most: int = 5,
    **options: Unpack[ExplainKeywords],
) -> SetExplanation:
    """Say what sets some rows of a table apart: rules with coverage, precision and risk ratio.

    `data` is what `outlying.explain` takes; of a stream too large to be held, rules are found on
    up to 262,144 rows that are drawn by what they hold, and counted in these. The set is all rows
    with the values of `where`, whose columns are then not compared; or `rows`: positions, or a mask
    with True or False for each row. `most` is how many rules are told at most. Further options are
    those of `outlying.explain`: `contexts=` names the columns of which rules may be made.
    """
    from outlying.detect.rules import explained_set

    most = check_whole("most", most, 1)
    if (rows is None) == (where is None):
        raise OptionError("which rows? Give exactly one of rows= and where=")
    if where is not None:
        if not isinstance(where, Mapping):
            raise OptionError(
                f"where is {shown(where, 60)}; allowed: a mapping of column to value, such as "
                "{'late': True}; positions and masks are given as rows="
            )
        options["exclude"] = [*(options.get("exclude") or ()), *where]
    explainer, total = Explainer(data, **options), None
    if explainer.is_streamed:
        if rows is not None:
            raise OptionError(
                f"{explainer.table.source} is read as a stream, whose rows have no positions: "
                "name them by where={column: value}"
            )
        found, total = explainer.drawn()
        own: Any = {name: value for name, value in options.items() if name not in registry.OPTIONS}
        explainer = Explainer(found, **own)
    table = explainer.table
    held = table.matching(where) if where is not None else _positions(rows, table.rows)
    inside = np.zeros(table.rows, dtype=bool)
    inside[held] = True
    return explained_set(explainer, inside, most, total)


def _positions(rows: Any, count: int) -> list[int]:
    given = np.asarray(rows if hasattr(rows, "__array__") else list(rows))
    given = given if len(given) else given.astype(np.int64)
    if given.dtype == bool:
        if len(given) != count:
            raise RowError(f"rows is a mask of {len(given):,} values; the table has {count:,} rows")
        return [int(row) for row in np.flatnonzero(given)]
    if given.dtype.kind not in "iu" or (given < 0).any() or (given >= count).any():
        raise RowError(f"rows must be positions from 0 to {count - 1:,}, or a mask")
    return sorted({int(row) for row in given})
