"""The fast path: texts that are plainly numbers, dates, times or booleans in every row.

Words for missing values stay categories in a column of texts, where NA may be Namibia and - a blood
group. Codes such as 007 and +5 stay texts. What is written for people is left to `reading`.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from outlying import sentences as say
from outlying.parsing import pa, pc
from outlying.parsing.columns import gaps_note
from outlying.table.values import LARGEST_EXACT_INTEGER, MISSING_WORDS, are_keys

_DAY = r"\d{4}-\d{2}-\d{2}"
_CLOCK = r"\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
_REAL = r"-?(?:(?:0|[1-9][0-9]*)(?:P[0-9]*)?|P[0-9]+)(?:[eE][-+]?[0-9]+)?|-?(?i:inf|infinity)"
#: What is read, from what fits least to what fits most.
_PATTERNS = {
    "boolean": "(?i:true|false)",
    "integer": "-?[1-9][0-9]*|0|-0[0-9]*",
    "number": _REAL.replace("P", "[.]"),
    "comma": _REAL.replace("P", ","),
    "thousands": r"-?(?:0|[1-9][0-9]{0,2}(?:[.][0-9]{3})?)",
    "date": _DAY,
    "datetime": rf"{_DAY}(?:[ T]{_CLOCK})?",
    "instant": rf"{_DAY}[ T]{_CLOCK}(?:Z|[+-]\d{{2}}(?::?\d{{2}})?)",
    "time": r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?",
}
TIMES = ("date", "datetime", "instant", "time")
ALL = tuple(_PATTERNS)

_LOOKED_AT = 256  # texts that rule types out before all are tried
_LONGER_FRACTION = r"(\.\d{6})\d+"  # beyond microseconds
_CUT = r"\.\d{6}\d*[1-9]"  # where they are more than zeros


@dataclasses.dataclass(slots=True)
class PlainTally:
    """Which types fit all texts of a column that were seen, and what counts as missing there."""

    kinds: tuple[str, ...] = ALL
    known: int = 0
    long: int = 0  # whole numbers beyond 2**53
    is_beyond: bool = False  # whether any is beyond 64 bits
    cut: int = 0  # times with decimals beyond microseconds
    gaps: Counter[str] = dataclasses.field(default_factory=Counter)  # rows by trimmed word

    @classmethod
    def of(cls, texts: Any) -> PlainTally:
        """Return which types fit the texts of a column in memory."""
        tally = cls()
        tally.add(texts)
        return tally

    def add(self, texts: Any) -> None:
        """Take in an Arrow array of texts; missing ones are null."""
        if not self.kinds or texts.null_count == len(texts):
            return
        known, gaps = texts, Counter[str]()
        for some in (texts.slice(0, _LOOKED_AT), texts):
            try:
                known, gaps = _without_gaps(some)
            except (pa.ArrowInvalid, UnicodeDecodeError):  # halves of characters
                self.kinds = ()
                return
            self.kinds = tuple(kind for kind in self.kinds if _fits(kind, known))
            if not self.kinds:
                return
        self.known += len(known)
        self.gaps.update(gaps)
        if "integer" in self.kinds:
            self._count_long(known)
        elif not set(TIMES).isdisjoint(self.kinds):
            self.cut += pc.sum(pc.match_substring_regex(known, _CUT), min_count=0).as_py()

    def _count_long(self, known: Any) -> None:
        try:
            numbers = pc.cast(known, pa.int64())
        except pa.ArrowInvalid:
            self.is_beyond = True
            numbers = pc.cast(known, pa.float64())
        ends = pa.py_buffer(np.array([-LARGEST_EXACT_INTEGER, LARGEST_EXACT_INTEGER]))
        limits = pa.Array.from_buffers(pa.int64(), 2, [None, ends]).cast(numbers.type)
        are_long = pc.or_(pc.less(numbers, limits[0]), pc.greater(numbers, limits[1]))
        self.long += pc.sum(are_long, min_count=0).as_py()

    def merge(self, other: PlainTally) -> None:
        """Take in what was seen in another part of the table."""
        self.kinds = tuple(kind for kind in self.kinds if kind in other.kinds)
        self.known += other.known
        self.long += other.long
        self.is_beyond |= other.is_beyond
        self.cut += other.cut
        self.gaps.update(other.gaps)


class TallyPass:
    """A pass that finds the types of all columns."""

    def start(self) -> list[PlainTally]:
        """Return nothing: the first batch tells how many columns there are."""
        return []

    def add(self, state: list[PlainTally], batch: Any) -> list[PlainTally]:
        """Look at the texts of a batch."""
        state = state or [PlainTally() for _ in batch.columns]
        for tally, array in zip(state, batch.columns, strict=True):
            tally.add(array)
        return state

    def merge(self, state: list[PlainTally], other: list[PlainTally]) -> list[PlainTally]:
        """Put what was seen in two parts together."""
        for one, two in zip(state, other, strict=False):
            one.merge(two)
        return state or other


@dataclasses.dataclass(frozen=True, slots=True)
class PlainType:
    """How the texts of a column are read, and what is said of it."""

    kind: str = "text"
    note: str | None = None

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type of what comes out."""
        return {
            "boolean": pa.bool_(),
            **dict.fromkeys(("integer", "thousands"), pa.int64()),
            **dict.fromkeys(("number", "comma"), pa.float64()),
            "date": pa.date32(),
            "datetime": pa.timestamp("us"),
            "instant": pa.timestamp("us", "UTC"),
            "time": pa.time64("us"),
        }.get(self.kind, pa.large_string())

    @property
    def are_keys(self) -> bool:
        """Whether these are whole numbers, too long for quantities."""
        return self.kind == "keys"

    def read(self, texts: Any) -> Any:
        """Return an array of texts with their type; words for missing values are missing."""
        if self.kind == "text":
            return texts
        trimmed, are_gaps = _trimmed(texts)
        known = pc.if_else(are_gaps, pa.nulls(1, trimmed.type)[0], trimmed)
        return known if self.kind == "keys" else _cast(self.kind, known)


TEXT = PlainType()


def decide(
    tallies: Sequence[PlainTally], kinds: Sequence[str] = ALL, *, commas: bool = False
) -> list[PlainType]:
    """Return how each column is read; with `commas`, these may divide off decimals."""
    allowed = [kind for kind in kinds if commas or kind != "comma"]
    narrowest = [_narrowest(tally, allowed) for tally in tallies]
    has_commas = "comma" in narrowest
    decided = []
    for tally, kind in zip(tallies, narrowest, strict=True):
        notes = []
        if kind == "comma":
            notes.append(say.COMMAS)
        elif kind == "number" and "thousands" in tally.kinds and "integer" not in tally.kinds:
            kind = "thousands" if has_commas else kind
            notes.append(say.POINTS_OF_THOUSANDS if has_commas else say.POINTS_IN_DOUBT)
        elif kind == "keys":
            notes.append(say.LONG_NUMBERS)
        elif kind in TIMES and tally.cut:
            notes.append(say.FINE_SECONDS[tally.cut > 1].format(rows=tally.cut))
        if kind != "text" and tally.gaps:
            notes.append(gaps_note(tally.gaps))
        decided.append(PlainType(kind, "; ".join(notes) or None))
    return decided


def _narrowest(tally: PlainTally, allowed: Sequence[str]) -> str:
    """Return the narrowest type that fits; numbers of which most are too long are keys."""
    fitting = [kind for kind in tally.kinds if kind in allowed and kind != "thousands"]
    if not tally.known or not fitting:
        return "text"
    if fitting[0] == "integer" and tally.is_beyond:
        return "keys" if are_keys(tally.long, tally.known) else "number"
    return fitting[0]


def type_texts(values: Mapping[str, Any], kinds: Sequence[str]) -> dict[str, Any]:
    """Type columns of texts that are in memory; each by itself, as one of these types."""
    decided = {name: decide([PlainTally.of(texts)], kinds)[0] for name, texts in values.items()}
    return {name: decided[name].read(texts) for name, texts in values.items()}


def notes_of(names: Sequence[str], decided: Sequence[PlainType]) -> list[str]:
    """Return what is said of columns, with their names; the same of several once."""
    named: dict[str, list[str]] = {}
    for name, item in zip(names, decided, strict=True):
        if item.note:
            named.setdefault(item.note, []).append(repr(name))
    return [
        say.COLUMN_HOLDS.format(column=columns[0], said=said)
        if len(columns) == 1
        else say.COLUMNS_HOLD.format(columns=", ".join(columns), said=said)
        for said, columns in named.items()
    ]


def _trimmed(texts: Any) -> tuple[Any, Any]:
    """Return texts without spaces around them, and which stand for a missing value."""
    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    trimmed = pc.utf8_trim(texts, characters=" ")
    return trimmed, pc.is_in(trimmed, value_set=_missing_words().cast(trimmed.type))


def _missing_words() -> pa.Array:
    """Return the words for missing values, without `pyarrow.array`, which imports pandas."""
    words = ["", *MISSING_WORDS]
    ends = pa.py_buffer(np.cumsum([0, *map(len, words)], dtype=np.int64))
    text = pa.py_buffer("".join(words).encode("ascii"))
    return pa.Array.from_buffers(pa.large_string(), len(words), [None, ends, text])


def _without_gaps(texts: Any) -> tuple[Any, Counter[str]]:
    """Return the texts that stand for something, and the rows of words for missing values."""
    trimmed, are_gaps = _trimmed(texts.drop_null())
    if not pc.any(are_gaps, min_count=0).as_py():
        return trimmed, Counter()
    words = trimmed.filter(are_gaps).value_counts().to_pylist()
    gaps = Counter({word["values"]: word["counts"] for word in words})
    return trimmed.filter(pc.invert(are_gaps)), gaps


def _fits(kind: str, known: Any) -> bool:
    """Return whether all texts are of a type: they look so, and make sense."""
    alike = pc.match_substring_regex(known, f"^(?:{_PATTERNS[kind]})$")
    if not pc.all(alike, min_count=0).as_py():
        return False
    try:
        if kind in TIMES:
            _cast(kind, known)
    except pa.ArrowInvalid:  # looks like a date but is none: 2024-02-30
        return False
    return True


def _cast(kind: str, texts: Any) -> Any:
    if kind == "comma":
        texts = pc.replace_substring(texts, ",", ".")
    elif kind == "thousands":
        texts = pc.replace_substring(texts, ".", "")
    elif kind in ("datetime", "instant"):
        texts = pc.replace_substring_regex(texts, _LONGER_FRACTION, r"\1")
    elif kind == "time":
        texts = pc.replace_substring_regex(texts, "^([0-9]:)", r"0\1")
        texts = pc.replace_substring_regex(texts, _LONGER_FRACTION, r"\1")
        texts = pc.replace_substring_regex(texts, "^", "1970-01-01 ", max_replacements=1)
        texts = pc.cast(texts, pa.timestamp("us"))
    return pc.cast(texts, PlainType(kind).arrow)
