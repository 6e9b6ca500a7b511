"""Tools that recipes are tried with, in environments of their own: scripts/tools installs them."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def tool(name: str) -> str:
    """Return the command of a tool; skip, and say why, where it could not be installed."""
    folder = ROOT / (".venv-dbt" if name == "dbt" else ".venv-tools")
    missing = folder / "missing"
    if missing.exists():
        pytest.skip(f"{name} could not be installed: {missing.read_text('utf-8').strip()}")
    if not (folder / "bin" / name).exists():
        pytest.skip(f"{name} is not in {folder.name}; scripts/test installs it")
    return str(folder / "bin" / name)
