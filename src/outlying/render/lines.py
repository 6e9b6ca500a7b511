"""Stand-in for the headline in words."""

from __future__ import annotations

import math

from outlying.results.pairs import Pair
from outlying.results.wording import claim, typical
from outlying.table.values import number_text


def headline(pair: Pair) -> tuple[str, str, str]:
    """Return the value, what was expected instead, and among whom: a finding in one line."""
    rows = f"{pair.known:,} rows"
    if pair.conditions:
        among = f"among {rows} where " + " and ".join(map(str, pair.conditions))
    else:
        among = f"among all {rows}" if pair.known == pair.group_size else f"among {rows}"
    return claim(pair), f"expected {typical(pair)}", among


def distance(pair: Pair) -> str:
    """Write how far off no other row is."""
    reach = pair.reach or 0.0
    step = 10.0 ** (math.floor(math.log10(reach)) - 1)
    return number_text(math.floor(reach / step + 1e-9) * step).removesuffix(".0")
