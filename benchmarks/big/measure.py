"""One measurement in a process of its own: seconds, CPU, peak memory, and what came out."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.big.tables import LABELS, NUMERIC, ODD

_BINS = 1000


def histograms(path: str, **_: Any) -> dict[str, Any]:
    """Scan all columns into histograms by DuckDB, column after column."""
    import duckdb

    with duckdb.connect() as connected:
        for name in (*NUMERIC, "id"):
            number = f"epoch({name})" if name == "day" else name
            low, high = connected.execute(
                f"SELECT min({number}), max({number}) FROM '{path}'"  # noqa: S608
            ).fetchall()[0]
            width = (high - low) / _BINS or 1
            connected.execute(
                f"SELECT CAST(floor(({number} - {low}) / {width}) AS INTEGER) AS bin, count(*) "  # noqa: S608
                f"FROM '{path}' GROUP BY bin"
            ).fetchall()
        for name in LABELS:
            connected.execute(f"SELECT {name}, count(*) FROM '{path}' GROUP BY 1").fetchall()  # noqa: S608
    return {}


def explain(path: str, objects: int = 1, **options: Any) -> dict[str, Any]:
    """Explain the odd row, and further rows in the same two passes."""
    import outlying

    wheres = [{"id": ODD + place} for place in range(objects)]
    feeder = outlying.scan(path)
    found = list(outlying.explain_many(feeder, where=wheres, exclude=["id"], **options))
    pair = found[0].pairs[0]
    return {
        "first": str(pair),
        "columns": [pair.column, *pair.others],
        "exceptional": pair.exceptional,
        "bound": max(pair.bound for item in found for pair in item.pairs),
        "scans": feeder.scans,
    }


def detect(path: str, **options: Any) -> dict[str, Any]:
    """Judge every row, and explain the oddest."""
    import outlying

    feeder = outlying.scan(path)
    found = outlying.detect(feeder, exclude=["id"], **options)
    return {"rows": len(found.rows), "scans": feeder.scans}


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "histograms": histograms,
    "explain": explain,
    "detect": detect,
}


def main() -> None:
    spec = json.loads(sys.argv[1])
    begin = time.perf_counter()
    facts = JOBS[spec.pop("job")](**spec)
    seconds = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_SELF)
    figures = {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime}
    print(json.dumps(figures | {"megabytes": used.ru_maxrss / 1000, "facts": facts}))


if __name__ == "__main__":
    main()
