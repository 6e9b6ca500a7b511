"""The options of explanations and of detection: frozen, and checked once at the door."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, cast, get_args

from outlying.errors import OptionError, shown, unknown_name

Preset = Literal["paper"]
Measure = Literal["relative", "paper"]
Scales = Literal["several", "one"]
Interval = Literal["run", "span"]
Bandwidth = Literal["fixed", "adaptive"]
Infinite = Literal["error", "missing"]
Discretise = Literal["equi-width", "equi-depth"]
Engine = Literal["auto", "memory", "duckdb", "spark"]
ColumnType = Literal["numeric", "categorical", "datetime"]
Base = Literal["kth-neighbour", "radius"]
Combine = Literal["rank", "votes", "sum"]
Scale = Literal["deviation", "range", "none"]

#: Rows that a context must keep by default: fewer say little of what is typical there. In a small
#: table a tenth of all rows will do.
LEAST_ROWS = 30
_LEAST_SHARE = 0.1
#: Contexts of so many conditions, and of more, need these rows for each condition: among many small
#: contexts some look rare by chance, and crowd out those that are.
MANY_CONDITIONS = 3

#: Options of explanations that are still taken, but have no effect: a note says so.
DEPRECATED = ("references", "min_confidence")

#: Options that are whole numbers are no larger.
LARGEST = 2**63 - 1
#: So many rounds of feature bagging are no more use than fewer.
MOST_ROUNDS = 1_000_000
#: More bins would take memory, and hold a value each.
MOST_BINS = 1_000_000

#: Takes the name and the value of an option; returns the value to keep, or raises OptionError.
Check: TypeAlias = Callable[[str, Any], Any]


# --- explanations ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class PaperOptions:
    """What the paper leaves open, for `preset="paper"` alone: the default search knows none of it.

    The paper's sigma and k are `Options.min_support` and `Options.max_conditions`.
    """

    min_outlierness: float = 0.9  # theta
    measure: Measure = "paper"
    bandwidth: Bandwidth = "fixed"
    interval: Interval = "span"
    scales: Scales = "one"
    discretise: Discretise | None = None
    bins: int = 10
    seed: int | None = None

    @classmethod
    def of(cls, **given: Any) -> PaperOptions:
        """Check keyword options and freeze them; a wrong name or value raises OptionError."""
        options = cls(**_checked(given, _PAPER_ONLY))
        if options.bins > MOST_BINS:
            raise OptionError(f"bins is {options.bins}; allowed: 2 to {MOST_BINS:,}")
        if options.discretise is None and options.bins != cls().bins:
            raise OptionError(
                f"bins is {options.bins}, but nothing is cut into bins; add "
                f"discretise={' or '.join(map(repr, get_args(Discretise)))}, or leave bins out"
            )
        return options


#: The options that `preset="paper"` takes beside all others.
PAPER_OPTIONS = tuple(field.name for field in dataclasses.fields(PaperOptions))


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How to explain; the defaults are those of the docs' page on options.

    `paper` is there where the paper's own method is asked for, by `preset="paper"`.
    """

    min_support: float | None = None
    min_confidence: float | None = None  # without effect, as is `references`
    max_conditions: int = 4
    exact: bool = False
    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    types: tuple[tuple[str, ColumnType], ...] = ()
    infinite: Infinite = "error"
    derive: bool = True
    references: int | None = None
    top: int = 10
    paper: PaperOptions | None = None

    @classmethod
    def of(cls, **given: Any) -> Options:
        """Check keyword options and freeze them; a wrong name or value raises OptionError.

        `preset="paper"` begins with the settings of the paper's experiments; others come on top.
        """
        preset = given.pop("preset", None)
        own = {name: given.pop(name) for name in PAPER_OPTIONS if name in given}
        _refuse_gone(given)
        if preset is not None:
            check_choice("preset", preset, get_args(Preset))
            return cls(**_checked(PAPER | given, _EXPLANATION), paper=PaperOptions.of(**own))
        check_names(given, _EXPLANATION)
        for name in own:
            raise OptionError(
                f'{name} belongs to the paper\'s own method; add preset="paper" '
                f"(--preset paper), or leave {name} out"
            )
        return cls(**_checked(given, _EXPLANATION))

    @classmethod
    def of_paper(cls, **given: Any) -> Options:
        """Return the settings of the paper's experiments; options that are given come on top."""
        return cls.of(preset="paper", **given)

    def least_rows(self, rows: int, conditions: int = 1) -> float:
        """Return how many of all rows a context must keep (method 5, "Support").

        `min_support` is a share of the rows, or a number of them from 1 on.
        """
        if self.min_support is None:
            least = min(LEAST_ROWS, _LEAST_SHARE * rows)
            return least * conditions if conditions >= MANY_CONDITIONS else least
        return self.min_support * rows if self.min_support < 1 else self.min_support

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, as they stand in the JSON result.

        These are names and values that `Options.of` takes.
        """
        left_out = ("paper", *DEPRECATED)
        names = [item.name for item in dataclasses.fields(self) if item.name not in left_out]
        plain = {name: getattr(self, name) for name in names}
        plain["columns"] = None if self.columns is None else list(self.columns)
        plain["exclude"] = list(self.exclude)
        plain["types"] = dict(self.types)
        if self.paper is None:
            return {"preset": None} | plain
        return {"preset": "paper"} | plain | dataclasses.asdict(self.paper)


# --- detection ---------------------------------------------------------------------------------


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
        bagging = cls(**_checked(given, _BAGGING))
        if bagging.rounds > MOST_ROUNDS:
            raise OptionError(f"rounds is {bagging.rounds}; allowed: 1 to {MOST_ROUNDS:,}")
        if bagging.radius is not None and bagging.base != "radius":
            raise OptionError(
                f'radius is {shown(given["radius"])}, which needs base="radius" (--base radius)'
            )
        return bagging


#: The names of the options of feature bagging.
BAGGING = tuple(field.name for field in dataclasses.fields(Bagging))


@dataclasses.dataclass(frozen=True, slots=True)
class DetectOptions:
    """What ranked the rows: a detector in words, how many rows it was to flag, its options.

    `lowest` tells that low scores are abnormal; `bagging` is None where something else than feature
    bagging gave the scores; `by_strength` tells that these are strengths of findings.
    """

    detector: str
    top: int
    lowest: bool = False
    bagging: Bagging | None = None
    by_strength: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, as they stand in the JSON result."""
        plain = dataclasses.asdict(self)
        del plain["by_strength"]  # the detector's name says it
        return plain


# --- checks ------------------------------------------------------------------------------------


def check_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an option that does not exist, and say which are near."""
    for name in given:
        if name not in known:
            raise OptionError(unknown_name("option", name, known))


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> object:
    """Refuse what is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        raise OptionError(f"{name} is {shown(value)}; allowed: {' or '.join(map(repr, choices))}")
    return value


def check_whole(name: str, value: object, least: int) -> int:
    """Return a whole number that is not below the least, nor beyond 64 bits."""
    number = None if isinstance(value, bool) else _whole(value)
    if number is None or not least <= number <= LARGEST:
        most = "" if number is None or number < least else f" and at most {LARGEST}"
        raise OptionError(
            f"{name} is {shown(value)}; allowed: a whole number, at least {least}{most}"
        )
    return number


def _whole(value: object) -> int | None:
    try:
        return int(operator.index(cast(Any, value)))
    except Exception:  # whatever a class of the user's raises
        return None


def _real(value: object) -> float:
    """Return a number as floating point; NaN where there is none."""
    if isinstance(value, (bool, str, bytes)):
        return math.nan
    try:
        return float(cast(Any, value))
    except OverflowError:
        return math.inf
    except Exception:  # whatever a class of the user's raises
        return math.nan


def check_flag(name: str, value: object) -> bool:
    """Return True or False, and refuse what is neither."""
    if not isinstance(value, bool):
        raise OptionError(f"{name} is {shown(value)}; allowed: True or False")
    return value


def _share(name: str, value: object) -> float:
    number = _real(value)
    if not 0.0 < number <= 1.0:
        raise OptionError(f"{name} is {shown(value)}; allowed: a number above 0, at most 1")
    return number


def _support(name: str, value: object) -> float:
    number = _real(value)
    is_share, is_count = 0 < number < 1, 1 <= number < math.inf and number % 1 == 0
    if not (is_share or is_count):
        raise OptionError(
            f"{name} is {shown(value)}; allowed: a share of the rows (above 0, below 1), a number "
            "of rows (1 or more), or None"
        )
    return number


def _radius(name: str, value: object) -> float:
    number = _real(value)
    if not 0 < number < math.inf:
        raise OptionError(f"{name} is {shown(value)}; allowed: a number above 0, or None")
    return number


def _names(name: str, value: object) -> tuple[str, ...]:
    names = None if isinstance(value, (str, bytes)) else _items(value)
    if names is None:
        raise OptionError(f"{name} is {shown(value)}; allowed: a list of column names")
    for item in names:
        if not isinstance(item, str):
            raise OptionError(f"{name} holds {shown(item)}; allowed: column names, which are texts")
    return names


def _items(value: object) -> tuple[Any, ...] | None:
    try:
        return tuple(cast(Any, value))
    except Exception:  # a class that says it can be iterated, and cannot
        return None


def _some_names(name: str, value: object) -> tuple[str, ...]:
    names = _names(name, value)
    if not names:
        raise OptionError(f"{name} is empty; leave it out to use every column")
    return names


def _types(name: str, value: object) -> tuple[tuple[str, ColumnType], ...]:
    if not isinstance(value, Mapping):
        raise OptionError(f"{name} is {shown(value)}; allowed: a mapping of column name to type")
    for column, kind in value.items():
        if not isinstance(column, str):
            raise OptionError(
                f"{name} holds {shown(column)}; allowed: column names, which are texts"
            )
        if not isinstance(kind, str) or kind not in get_args(ColumnType):
            allowed = " or ".join(map(repr, get_args(ColumnType)))
            raise OptionError(
                f"{name} gives {shown(kind)} for column {column!r}; allowed: {allowed}"
            )
    return tuple(value.items())


def _one_of(choices: Any) -> Check:
    return functools.partial(check_choice, choices=get_args(choices))


def _at_least(least: int) -> Check:
    return functools.partial(check_whole, least=least)


def _or_none(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


_EXPLANATION: dict[str, Check] = {
    "min_support": _or_none(_support),
    "min_confidence": _or_none(_share),
    "max_conditions": _at_least(0),
    "exact": check_flag,
    "columns": _or_none(_some_names),
    "exclude": lambda name, value: _names(name, () if value is None else value),
    "types": lambda name, value: _types(name, {} if value is None else value),
    "infinite": _one_of(Infinite),
    "derive": check_flag,
    "references": _or_none(_at_least(0)),
    "top": _at_least(1),
}
_PAPER_ONLY: dict[str, Check] = {
    "min_outlierness": _share,
    "measure": _one_of(Measure),
    "bandwidth": _one_of(Bandwidth),
    "interval": _one_of(Interval),
    "scales": _one_of(Scales),
    "discretise": _or_none(_one_of(Discretise)),
    "bins": _at_least(2),
    "seed": _or_none(_at_least(0)),
}
#: The settings of the paper's experiments: sigma, k, and columns as they are.
PAPER: dict[str, Any] = {"min_support": 0.2, "max_conditions": 3, "derive": False}
#: Options of former versions, and what is done now.
_GONE = {
    "search": 'all rows are judged at once; preset="paper" visits every context',
    "minimality": 'what adds nothing is told as one story; preset="paper" is strict',
}
_BAGGING: dict[str, Check] = {
    "rounds": _at_least(1),
    "neighbours": _at_least(1),
    "base": _one_of(Base),
    "radius": _or_none(_radius),
    "combine": _one_of(Combine),
    "scale": _one_of(Scale),
    "seed": _at_least(0),
}


def _checked(given: Mapping[str, Any], checks: Mapping[str, Check]) -> dict[str, Any]:
    """Return the values to keep of the options that were given."""
    check_names(given, checks)
    return {name: checks[name](name, value) for name, value in given.items()}


def _refuse_gone(given: Iterable[str]) -> None:
    """Refuse options that there were, and say what replaces them."""
    for name in given:
        if name in _GONE:
            raise OptionError(f"{name} is no option any more: {_GONE[name]}; leave {name} out")
