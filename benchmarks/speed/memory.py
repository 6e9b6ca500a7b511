"""What a process holds in memory, in MB."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import re
import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_UNIT = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux kilobytes


def settle() -> float:
    """Give unused memory back, forget the peak so far, and tell what is held now.

    Making a table takes more than the table itself; without this the job would work in what was
    left over, and its own peak would vanish below that of the making.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status("VmRSS") or own_total()


def peak() -> float:
    """Return the most that was held since the last call of `settle`; since the start elsewhere."""
    return _status("VmHWM") or own_total()


def own_total() -> float:
    """Return the peak of this process as the system counts it."""
    return megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def largest_child() -> float:
    """Return the peak of the largest process that was started from here and has ended."""
    return megabytes(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def megabytes(maxrss: int) -> float:
    """Read what the system gives as ru_maxrss."""
    return maxrss * _UNIT / 2**20


def _status(name: str) -> float | None:
    if not _STATUS.exists():
        return None
    found = re.search(rf"{name}:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"))
    return int(found.group(1)) / 1024 if found else None
