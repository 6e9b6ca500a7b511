"""Pairs in the paper's notation: a6 (visible_entropy) given a10 (ir_mean) in [80.3, 211.8]."""

from __future__ import annotations

from benchmarks.paper.tables import ScoredPair
from outlying.table.values import number_text, printable


def short(number: float) -> str:
    """Return a number with five digits at most."""
    return number_text(number, 5)


def subject(pair: ScoredPair) -> str:
    """Return the property with its value."""
    return f"a{pair.number} ({printable(pair.name)}) = {short(pair.value)}"


def context(pair: ScoredPair) -> str:
    """Return the conditions."""
    if not pair.conditions:
        return "no conditions"
    return " and ".join(
        f"a{bound.number} ({printable(name)}) in {interval((bound.low, bound.high))}"
        for name, bound in pair.conditions
    )


def numbered(numbers: tuple[int, ...]) -> str:
    """Return the attributes of conditions by their numbers."""
    return " and ".join(f"a{number}" for number in numbers) or "no conditions"


def interval(ends: tuple[float, float] | None) -> str:
    """Return an interval; a dash where there is none."""
    return "-" if ends is None else f"[{short(ends[0])}, {short(ends[1])}]"


def percent(share: float) -> str:
    """Return a share in percent with one decimal."""
    return f"{100 * share:.1f}%"


def seconds(time: float) -> str:
    """Return a time, in milliseconds below a second."""
    return f"{1000 * time:.0f} ms" if time < 1 else f"{time:.1f} s"


def spread(low: float, high: float, digits: int = 3) -> str:
    """Return a range of scores."""
    return f"{low:.{digits}f} to {high:.{digits}f}"
