"""Tables to detect odd rows in."""

from __future__ import annotations

from typing import Any

import numpy as np


def numbers(rows: int = 200, columns: int = 6, seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    """Return columns of normal numbers, x0, x1 and so on."""
    rng = np.random.default_rng(seed)
    return {f"x{place}": rng.normal(size=rows) for place in range(columns)}
