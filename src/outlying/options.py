"""Every option, declared once: checks, flags, fields, schemas and docs are made from this."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, get_args

from outlying import checks
from outlying.checks import ColumnType as ColumnType
from outlying.checks import (
    Option,
    check_choice,
    check_names,
    checked,
    choice,
    column_option,
    declared,
    option,
    whole,
)
from outlying.errors import OptionError, OptionName, Setting, shown

Preset = Literal["paper"]
Measure = Literal["relative", "paper"]
Scales = Literal["several", "one"]
Interval = Literal["run", "span"]
Bandwidth = Literal["fixed", "adaptive"]
Infinite = Literal["error", "missing"]
Past = Literal["both", "before"]
Discretise = Literal["equi-width", "equi-depth"]
Engine = Literal["auto", "memory", "duckdb", "spark"]
Base = Literal["kth-neighbour", "radius"]
Combine = Literal["rank", "votes", "sum"]
Scale = Literal["deviation", "range", "none"]

#: Stands for a column that is guessed.
AUTO = "auto"

#: Rows that a context must keep by default: fewer say little of what is typical there. In a small
#: table a tenth of all rows will do.
LEAST_ROWS = 30
_LEAST_SHARE = 0.1
#: Contexts of so many conditions, and of more, need these rows for each condition: among many small
#: contexts some look rare by chance, and crowd out those that are.
MANY_CONDITIONS = 3

#: So many rounds of feature bagging are no more use than fewer.
MOST_ROUNDS = 1_000_000
#: More bins would take memory, and hold a value each.
MOST_BINS = 1_000_000


def _some_columns(words: str, usual: str, docs: str = "") -> Any:
    """Declare an option that names columns; not given, it stands for what is usual."""
    kind = checks.SOME_COLUMNS.or_none()
    return column_option(None, kind, words, metavar="NAMES", usual=usual, docs=docs)


# --- explanations ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class PaperOptions:
    """What the paper leaves open beside `Options.min_support` (sigma) and `max_conditions` (k)."""

    min_outlierness: float = option(
        0.9, checks.SHARE, "Score from which a pair is exceptional (theta)."
    )
    measure: Measure = option("paper", choice(Measure), "Its own score, or one free of units.")
    bandwidth: Bandwidth = option(
        "fixed", choice(Bandwidth), "One window, or wider ones in thin places."
    )
    interval: Interval = option(
        "span", choice(Interval), "The span of a component, or a run of neighbouring values of it."
    )
    scales: Scales = option(
        "one",
        choice(Scales),
        "A single interval, or several from fine to coarse, and windows of ranks.",
    )
    discretise: Discretise | None = option(
        None, choice(Discretise).or_none(), "Cut numbers into bins first: the older method."
    )
    bins: int = option(10, whole(2, MOST_BINS), "How many bins, with discretise.")
    seed: int | None = option(
        None, whole(0).or_none(), "Start the mixtures at random, as the paper does, from this seed."
    )

    @classmethod
    def of(cls, **given: Any) -> PaperOptions:
        """Check keyword options and freeze them; a wrong name or value raises OptionError."""
        options = cls(**checked(given, PAPER_OPTIONS))
        if options.discretise is None and options.bins != cls().bins:
            raise OptionError(
                f"bins is {options.bins}, but nothing is cut into bins; add "
                f"discretise={' or '.join(map(repr, get_args(Discretise)))}, or leave bins out"
            )
        return options


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How to explain; `paper` is there where `preset="paper"` asks for the paper's own method."""

    min_support: float | None = option(
        None,
        checks.SUPPORT.or_none(),
        "Compare with groups of at least so many rows: a number, or a share below 1.",
        docs="By default 30, in a table of fewer than 300 rows a tenth, from three conditions on "
        "30 for each.",
        usual="30 rows",
    )
    min_confidence: float | None = option(
        None,
        checks.SHARE.or_none(),
        "Without effect.",
        docs="Rows are no longer compared with a few drawn ones; a note says so where it is given.",
        is_deprecated=True,
    )
    max_conditions: int = option(
        4,
        whole(0),
        "Describe such a group by at most so many conditions.",
        docs="More than 4 only in the paper's method.",
    )
    exact: bool = option(
        False,
        checks.FLAG,
        "Judge by all rows of a large table, not by a sample of them.",
        docs="That is one of more than 262,144 rows; what is told is computed from all rows in "
        "either case.",
    )
    columns: tuple[str, ...] | None = _some_columns("Only these columns.", "all")
    exclude: tuple[str, ...] = column_option(
        (), checks.COLUMNS.or_empty(()), "Not these columns.", metavar="NAMES", usual="none"
    )
    properties: tuple[str, ...] | None = _some_columns(
        "Judge the cells of these columns only; others are what they are compared by.",
        "all",
        docs="A row is odd only where one of these is.",
    )
    contexts: tuple[str, ...] | None = _some_columns(
        "Compare with rows that are alike in these columns only.",
        "all",
        docs="Of relations and own pasts, too, only those between the judged column and these.",
    )
    types: tuple[tuple[str, ColumnType], ...] = column_option(
        (),
        checks.TYPES.or_empty({}),
        "Read a column as numeric, categorical or datetime.",
        metavar="COLUMN=TYPE",
        one="type",
        usual="as read",
    )
    id: tuple[str, ...] | None = _some_columns(
        "The columns that name a row.",
        "a key that is found",
        docs="An index, or a key or name that is found in the table. They are compared as others.",
    )
    infinite: Infinite = column_option(
        "error", choice(Infinite), "Refuse infinite values, or count them as missing."
    )
    derive: bool = column_option(
        True,
        checks.FLAG,
        "Compare parts of columns, too: hours, patterns, spelling.",
        docs="See [columns.md](columns.md#what-derived-columns-do).",
    )
    entity: str | None = column_option(
        AUTO,
        checks.COLUMN_OR_NONE,
        "What several rows belong to, such as an account or a sensor; or none.",
        metavar="NAME",
        usual="guessed",
        docs="By default it is guessed, and a note says so; `None` (in commands `none`) compares "
        "no row with others of the same thing. See [relations.md](relations.md#own-past).",
    )
    time: str | None = column_option(
        AUTO,
        checks.COLUMN_OR_NONE,
        "What orders them: each is compared with those before and after it; or none.",
        metavar="NAME",
        usual="guessed",
        docs="By default it is guessed; `None` (in commands `none`) compares no row with those "
        "before and after it.",
    )
    past: Past = column_option(
        "both",
        choice(Past),
        "Compare with rows before and after, or only with those before.",
        docs='`"before"` is for rows that are judged as they come.',
    )
    references: int | None = option(
        None,
        whole(0).or_none(),
        "Without effect.",
        docs="Rows are no longer compared with a few drawn ones; a note says so where it is given.",
        is_deprecated=True,
    )
    top: int = option(10, whole(1), "Show at most so many findings.", beside_rows="pairs")
    paper: PaperOptions | None = None

    @classmethod
    def of(cls, **given: Any) -> Options:
        """Check keyword options and freeze them; a wrong name or value raises OptionError.

        `preset="paper"` begins with the settings of the paper's experiments; others come on top.
        """
        preset = given.pop("preset", None)
        own = {name: given.pop(name) for name in PAPER_OPTIONS if name in given}
        for name in given:
            if name in _GONE:
                raise OptionError(f"{name} is no longer an option: {_GONE[name]}; leave {name} out")
        if preset is not None:
            check_choice("preset", preset, get_args(Preset))
            return cls(**checked(PAPER | given, _GENERAL), paper=PaperOptions.of(**own))
        check_names(given, _GENERAL)
        for name in own:
            raise OptionError(
                OptionName(name),
                " belongs to the paper's own method; add ",
                Setting("preset", "paper"),
                ", or leave ",
                OptionName(name),
                " out",
            )
        return cls(**checked(given, _GENERAL))

    @property
    def panel(self) -> tuple[str, ...]:
        """The columns that are named as entity and time."""
        return tuple(name for name in (self.entity, self.time) if name not in (None, AUTO))

    @property
    def declared(self) -> frozenset[str]:
        """The columns that take part as they are declared, whatever they look like."""
        return frozenset((*dict(self.types), *self.panel))

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that any option names."""
        some = (self.columns, self.exclude, self.properties, self.contexts)
        return (*dict(self.types), *(name for own in some for name in own or ()), *self.panel)

    def judges(self, column: str) -> bool:
        """Return whether cells of a column are judged."""
        return self.properties is None or column in self.properties

    def compares_by(self, column: str) -> bool:
        """Return whether rows are compared with those that are alike in a column."""
        return self.contexts is None or column in self.contexts

    def least_rows(self, rows: int, conditions: int = 1) -> float:
        """Return how many of all rows a context must keep (method 5, "Support")."""
        if self.min_support is None:
            least = min(LEAST_ROWS, _LEAST_SHARE * rows)
            return least * conditions if conditions >= MANY_CONDITIONS else least
        return self.min_support * rows if self.min_support < 1 else self.min_support

    def values(self) -> dict[str, Any]:
        """Return the value of each option, those of the paper's method where it is asked for."""
        own = {} if self.paper is None else dataclasses.asdict(self.paper)
        return {name: getattr(self, name) for name in _GENERAL} | own

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, as JSON has them and `Options.of` takes them."""
        plain = {"preset": None if self.paper is None else "paper"} | self.values()
        for name in ("columns", "exclude", "properties", "contexts", "id"):
            plain[name] = None if plain[name] is None else list(plain[name])
        plain["types"] = dict(self.types)
        return {name: value for name, value in plain.items() if name not in DEPRECATED}


#: The options that `preset="paper"` takes beside all others.
PAPER_OPTIONS = declared(PaperOptions, "The paper's method")
_GENERAL = declared(Options, "How strict")
_PRESET = Option(
    name="preset",
    kind=choice(Preset).or_none(),
    default=None,
    annotation="Preset | None",
    group="The paper's method",
    help="The paper's own method, with the settings of its experiments.",
    docs="It has [options of its own](paper.md#definitions-and-the-functions-that-compute-them); "
    "those given beside it come on top.",
)
#: All options of explanations.
EXPLAIN_OPTIONS: dict[str, Option] = {**_GENERAL, "preset": _PRESET, **PAPER_OPTIONS}
#: Options of explanations that are still taken, but have no effect: a note says so.
DEPRECATED = tuple(name for name, option in EXPLAIN_OPTIONS.items() if option.is_deprecated)
#: Options that say which columns are compared, and how.
COLUMN_OPTIONS = {name: item for name, item in _GENERAL.items() if item.group == "Columns"}
#: Options that say with which rows a row is compared.
CONTEXT_OPTIONS = {name: _GENERAL[name] for name in ("min_support", "max_conditions")}
#: The settings of the paper's experiments: sigma, k, and columns as they are.
PAPER: dict[str, Any] = {"min_support": 0.2, "max_conditions": 3, "derive": False}
#: Options of former versions, and what is done now.
_GONE = {
    "search": 'all rows are judged at once; preset="paper" visits every context',
    "minimality": 'what adds nothing is told as one story; preset="paper" is strict',
}


# --- reading -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a table is read, as commands are told; sources say which of these they take."""

    engine: Engine = option(
        "auto",
        choice(Engine),
        "How SOURCE is read: by default large files are streamed, others held in memory.",
    )
    table: str | None = option(None, checks.TEXT, "The table of a database.", metavar="NAME")
    query: str | None = option(
        None,
        checks.TEXT,
        "A query of a database, or of files: FROM 'a.csv' JOIN 'b.csv' USING (id).",
        metavar="SQL",
    )
    master: str | None = option(
        None,
        checks.TEXT,
        "Where Spark runs: spark://HOST:PORT, local[2] or sc://HOST.",
        metavar="URL",
    )
    snapshot: Any = option(
        None,
        checks.TEXT,
        "The state of a Delta Lake or Iceberg table: its number, or a moment.",
        metavar="VERSION",
    )
    sheet: str | None = option(
        None, checks.TEXT, "The sheet of a workbook.", metavar="NAME", usual="the first"
    )
    encoding: str | None = option(
        None,
        checks.TEXT,
        "How a text file is written that is not UTF-8: cp1252, utf-16, shift_jis, ...",
        metavar="NAME",
    )
    allow_external: bool | None = option(
        None,
        checks.FLAG,
        "Let a DuckDB file or an Iceberg table that you trust read files elsewhere.",
    )


READ_OPTIONS = declared(ReadOptions, "Reading")


# --- detection ---------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Bagging:
    """How feature bagging is done; docs/detect.md says why these are the defaults."""

    rounds: int = option(
        50, whole(1, MOST_ROUNDS), "How often to compare rows, each time by other columns."
    )
    neighbours: int = option(
        5,
        whole(1),
        "How many neighbours a row is compared with.",
        docs="Fewer in tables of fewer than 11 rows.",
    )
    base: Base = option(
        "kth-neighbour",
        choice(Base),
        "Distance to the last neighbour, or neighbours in a radius.",
        docs='The score of a round is the distance to the k-th neighbour; with "radius" it is how '
        "many of the k nearest lie beyond a radius (Angiulli and Fassetti 2009), plus d/(1+d) for "
        "the distance d to the k-th, which decides ties.",
    )
    radius: float | None = option(
        None,
        checks.ABOVE_0.or_none(),
        "That radius, per attribute.",
        docs="By default, in each round the least one in which 95% of the rows have k neighbours.",
        usual="enough for 95% of rows",
    )
    combine: Combine = option(
        "rank",
        choice(Combine),
        "By the best rank, by first places, or by the mean score.",
        docs="See below.",
    )
    scale: Scale = option(
        "deviation",
        choice(Scale),
        "What makes numbers comparable; none: their own units.",
        docs="By default the standard deviation of the column.",
    )
    seed: int = option(0, whole(0), "Another seed draws other attributes in each round.")

    @classmethod
    def of(cls, **given: Any) -> Bagging:
        """Check keyword options and freeze them; a wrong name or value raises OptionError."""
        bagging = cls(**checked(given, BAGGING))
        if bagging.radius is not None and bagging.base != "radius":
            raise OptionError(
                OptionName("radius"),
                f" is {shown(given['radius'])}, which needs ",
                Setting("base", "radius"),
            )
        return bagging


#: The options of feature bagging.
BAGGING = declared(Bagging, "Feature bagging")


@dataclasses.dataclass(frozen=True, slots=True)
class DetectOptions:
    """What ranked the rows: a detector in words, how many rows it was to flag, its options."""

    detector: str
    top: int | None  # None: all exceptional rows
    lowest: bool = False  # whether low scores are abnormal
    bagging: Bagging | None = None  # None: something else gave the scores
    by_strength: bool = False  # whether these are strengths of findings
    fdr: float | None = None  # the share of false ones among exceptional rows
    alerts: int | None = None  # so many rows are exceptional

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, as they stand in the JSON result."""
        plain = dataclasses.asdict(self)
        del plain["by_strength"]  # the detector's name says it
        for name in ("fdr", "alerts"):
            if plain[name] is None:
                del plain[name]
        return plain
