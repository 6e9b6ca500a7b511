"""How to detect: one frozen set of settings, validated once at the door."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any, Literal, get_args

from outlying.errors import OptionError, unknown_name
from outlying.options import check_choice, whole

Base = Literal["kth-neighbour", "radius"]
Combine = Literal["rank", "votes", "sum"]
Scale = Literal["deviation", "range", "none"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "base": get_args(Base),
    "combine": get_args(Combine),
    "scale": get_args(Scale),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Bagging:
    """How feature bagging is done; docs/detect.md says why these are the defaults."""

    rounds: int = 50
    neighbours: int = 5
    base: Base = "kth-neighbour"
    radius: float | None = None
    combine: Combine = "rank"
    scale: Scale = "deviation"
    seed: int = 0

    @classmethod
    def of(cls, **given: Any) -> Bagging:
        """Check keyword options and freeze them; a wrong name or value raises OptionError."""
        check_names(given, BAGGING)
        for name, choices in _CHOICES.items():
            if name in given:
                check_choice(name, given[name], choices)
        for name, least in (("rounds", 1), ("neighbours", 1), ("seed", 0)):
            if name in given:
                given[name] = whole(name, given[name], least)
        if given.get("radius") is not None:
            given["radius"] = _radius(given["radius"], given.get("base"))
        return cls(**given)


#: The names of the options of feature bagging.
BAGGING = tuple(field.name for field in dataclasses.fields(Bagging))


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """What ranked the rows: a detector in words, how many rows it was to flag, its options.

    `lowest` tells that low scores are abnormal; `bagging` is None where something else than feature
    bagging gave the scores.
    """

    detector: str
    top: int
    lowest: bool = False
    bagging: Bagging | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the settings as plain values, as they stand in the JSON result."""
        return dataclasses.asdict(self)


def check_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an option that does not exist, and say which are near."""
    for name in given:
        if name not in known:
            raise OptionError(unknown_name("option", name, known))


def _radius(value: object, base: object) -> float:
    if base != "radius":
        raise OptionError(f'radius is {value!r}, which needs base="radius" (--base radius)')
    number = float(value) if isinstance(value, (int, float)) else math.nan
    if isinstance(value, bool) or not 0 < number < math.inf:
        raise OptionError(f"radius is {value!r}; allowed: a number above 0, or None")
    return number
