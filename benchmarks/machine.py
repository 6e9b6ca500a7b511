"""What a result was measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path


def header(title: str) -> str:
    """Name hardware and versions above a report."""
    return f"# {title}\n\n{machine()}\n"


def machine(*others: str) -> str:
    """Name hardware and versions, those of other packages as far as they are installed."""
    names = ("numpy", "duckdb", "pyarrow", *(name for name in others if is_installed(name)))
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    return (
        f"{_processor()}, {os.cpu_count()} cores; {platform.system()}; "
        f"Python {platform.python_version()}; {versions}; "
        f"outlying {importlib.metadata.version('outlying')}."
    )


def is_installed(package: str) -> bool:
    """Return whether a package is there."""
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
