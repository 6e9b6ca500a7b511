"""The worker: one job, timed once in a process that has done nothing else.

    python -m benchmarks.speed.measure '{"job": "trees", "kind": "xor", "rows": 900, "columns": 9}'

It imports what the job needs and makes the table, then runs the job, and prints seconds and memory
as one line of JSON. `cpu` are the seconds that cores worked for it and for processes it started.
`total_mb` is the peak of the process while the job ran, `peak_mb` what of it came on top of what
was there before, `children_mb` the peak of the largest process it started.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.speed import memory
from benchmarks.speed.clock import Clock
from benchmarks.speed.jobs import JOBS
from benchmarks.speed.spec import Spec


def main() -> None:
    job = JOBS[(spec := Spec.read(sys.argv[1])).job](spec)
    print(json.dumps(measured(job)), flush=True)


def measured(job: Callable[[Clock], Callable[[], dict[str, Any]]]) -> dict[str, Any]:
    """Run a job once. What it found is looked at when the measurement is over."""
    before = memory.settle()
    clock = Clock()
    begin, worked = time.perf_counter(), cpu()
    facts = job(clock)
    seconds, worked = time.perf_counter() - begin, cpu() - worked
    total = memory.peak()
    return {
        "seconds": seconds,
        "cpu": worked,
        "stages": clock.stages,
        "peak_mb": max(0.0, total - before),
        "total_mb": total,
        "children_mb": memory.largest_child(),
        "facts": facts(),
    }


def cpu() -> float:
    """Return for how long cores worked for this process and for those that it started."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    main()
