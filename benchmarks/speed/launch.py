"""Start fresh processes, wait for them, and stop them when patience ends.

This module and those it needs import nothing large: on Linux the peak of a process counts what the
process that started it held at that moment.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.speed import memory
from benchmarks.speed.spec import Spec

#: What one run gave: seconds, CPU seconds, stages, MB and facts; or "stopped" (after how many
#: seconds); or "error".
Run: TypeAlias = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]


def worker(spec: Spec, patience: float) -> Run:
    """Run the job of a spec in a process of its own."""
    ended = process([sys.executable, "-m", "benchmarks.speed.measure", spec.written()], patience)
    if "error" in ended or "stopped" in ended:
        return ended
    found: Run = json.loads(ended["output"].splitlines()[-1])
    return found


def command(arguments: Sequence[str], patience: float) -> Run:
    """Time a command from its start to its end; the memory is all that it held."""
    ended = process(arguments, patience)
    if "error" in ended or "stopped" in ended:
        return ended
    kept = ("seconds", "cpu", "total_mb")
    return {**{name: ended[name] for name in kept}, "facts": {}}


def printed(arguments: Sequence[str], patience: float) -> Run:
    """Run a command that prints its own seconds."""
    ended = process(arguments, patience)
    if "error" in ended or "stopped" in ended:
        return ended
    return {"seconds": float(ended["output"]), "total_mb": ended["total_mb"], "facts": {}}


def process(arguments: Sequence[str], patience: float) -> Run:
    """Run a command to its end."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        started = subprocess.Popen(
            arguments, cwd=ROOT, stdout=out, stderr=err, start_new_session=True
        )
        is_late = threading.Event()
        timer = threading.Timer(patience, _stop, (started.pid, is_late))
        timer.start()
        try:
            _, status, used = os.wait4(started.pid, 0)
        except BaseException:  # Ctrl-C: nothing may go on working
            _stop(started.pid, is_late)
            raise
        finally:
            timer.cancel()
        seconds = time.perf_counter() - begin
        started.returncode = os.waitstatus_to_exitcode(status)
        if is_late.is_set():
            return {"stopped": patience}
        if started.returncode != 0:
            return {"error": _last_line(err) or f"exit code {started.returncode}"}
        out.seek(0)
        megabytes = memory.megabytes(used.ru_maxrss)
        cpu = used.ru_utime + used.ru_stime
        text = out.read().decode()
        return {"seconds": seconds, "cpu": cpu, "total_mb": megabytes, "output": text}


def _stop(group: int, is_late: threading.Event) -> None:
    """End a process and all that it started."""
    is_late.set()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _last_line(err: Any) -> str:
    err.seek(0)
    lines = err.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else ""
