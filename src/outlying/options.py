"""One frozen set of options, validated once at the door."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast, get_args

from outlying.errors import OptionError, unknown_name

Search = Literal["guided", "exhaustive"]
Measure = Literal["relative", "paper"]
Scales = Literal["several", "one"]
Interval = Literal["run", "span"]
Bandwidth = Literal["fixed", "adaptive"]
Infinite = Literal["error", "missing"]
Discretise = Literal["equi-width", "equi-depth"]
Engine = Literal["auto", "memory", "duckdb", "spark"]
ColumnType = Literal["numeric", "categorical", "datetime"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "search": get_args(Search),
    "measure": get_args(Measure),
    "scales": get_args(Scales),
    "interval": get_args(Interval),
    "bandwidth": get_args(Bandwidth),
    "infinite": get_args(Infinite),
}


#: More bins would take memory, and hold a value each.
MOST_BINS = 1_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How to explain; the defaults are those of the docs' page on options."""

    min_support: float = 0.1
    min_outlierness: float = 0.9
    min_confidence: float = 0.97
    max_conditions: int = 4
    search: Search = "guided"
    exact: bool = False
    measure: Measure = "relative"
    scales: Scales = "several"
    interval: Interval = "run"
    bandwidth: Bandwidth = "fixed"
    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    types: tuple[tuple[str, ColumnType], ...] = ()
    infinite: Infinite = "error"
    discretise: Discretise | None = None
    bins: int = 10
    references: int | None = None
    seed: int | None = None
    top: int = 10

    @classmethod
    def of(cls, **given: Any) -> Options:
        """Check keyword options and freeze them; a wrong name or value raises OptionError."""
        known = [field.name for field in dataclasses.fields(cls)]
        for name in given:
            if name not in known:
                raise OptionError(unknown_name("option", name, known))
        for name, choices in _CHOICES.items():
            if name in given:
                check_choice(name, given[name], choices)
        checked = dict(given)
        for name in ("min_support", "min_outlierness", "min_confidence"):
            if name in given:
                checked[name] = _share(name, given[name])
        if given.get("discretise") is not None:
            check_choice("discretise", given["discretise"], get_args(Discretise))
        for name, least in (("max_conditions", 0), ("top", 1), ("bins", 2)):
            if name in given:
                checked[name] = whole(name, given[name], least)
        for name in ("seed", "references"):
            if given.get(name) is not None:
                checked[name] = whole(name, given[name], 0)
        if "exact" in given and not isinstance(given["exact"], bool):
            raise OptionError(f"exact is {given['exact']!r}; allowed: True or False")
        if given.get("columns") is not None:
            checked["columns"] = _names("columns", given["columns"])
        if "exclude" in given:
            checked["exclude"] = _names("exclude", given["exclude"] or ())
        if "types" in given:
            checked["types"] = _types(given["types"] or {})
        options = cls(**checked)
        if options.bins > MOST_BINS:
            raise OptionError(f"bins is {options.bins}; allowed: 2 to {MOST_BINS:,}")
        if options.discretise is None and options.bins != cls().bins:
            raise OptionError(
                f"bins is {options.bins}, but nothing is cut into bins; add "
                f"discretise={' or '.join(map(repr, get_args(Discretise)))}, or leave bins out"
            )
        return options

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, as they stand in the JSON result."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        plain["columns"] = None if self.columns is None else list(self.columns)
        plain["exclude"] = list(self.exclude)
        plain["types"] = dict(self.types)
        return plain


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse what is not among the choices."""
    if value not in choices:
        allowed = " or ".join(repr(choice) for choice in choices)
        raise OptionError(f"{name} is {value!r}; allowed: {allowed}")


def _share(name: str, value: object) -> float:
    try:
        number = float(cast(Any, value))
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not 0.0 < number <= 1.0:
        raise OptionError(f"{name} is {value!r}; allowed: a number above 0, at most 1")
    return number


def whole(name: str, value: object, least: int) -> int:
    """Check a whole number."""
    number = getattr(value, "__index__", None)
    if number is None or isinstance(value, bool) or number() < least:
        raise OptionError(f"{name} is {value!r}; allowed: a whole number, at least {least}")
    return int(number())


def _names(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise OptionError(f"{name} is {value!r}; allowed: a list of column names")
    names = tuple(value)
    for item in names:
        if not isinstance(item, str):
            raise OptionError(f"{name} holds {item!r}; allowed: column names, which are texts")
    if name == "columns" and not names:
        raise OptionError("columns is empty; leave it out to use every column")
    return names


def _types(value: object) -> tuple[tuple[str, ColumnType], ...]:
    if not isinstance(value, Mapping):
        raise OptionError(f"types is {value!r}; allowed: a mapping of column name to type")
    for column, kind in value.items():
        if kind not in get_args(ColumnType):
            allowed = " or ".join(repr(choice) for choice in get_args(ColumnType))
            raise OptionError(f"types gives {kind!r} for column {column!r}; allowed: {allowed}")
    return tuple(value.items())


# --- detection ---------------------------------------------------------------------------------

Base = Literal["kth-neighbour", "radius"]
Combine = Literal["rank", "votes", "sum"]
Scale = Literal["deviation", "range", "none"]

_BAGGING_CHOICES: dict[str, tuple[str, ...]] = {
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
        for name, choices in _BAGGING_CHOICES.items():
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
        """Return the settings as plain values, as they stand in the JSON result."""
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
