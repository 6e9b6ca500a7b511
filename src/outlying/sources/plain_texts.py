"""Texts that are plainly numbers, dates, times or booleans: the types of sources that have none.

A type is taken only if every known text of the column survives it; known is what is neither empty
nor one of the usual words for a missing value. Those words stay categories in a column of texts,
where NA may be Namibia and - a blood group. Codes such as 007 and +5 stay texts. What is written
for people (1,234.50 or 5 June 2020) stays text here: `table.written` reads it.

What fits is found in any part of the rows and put together, so that a table in memory and a stream
of batches are typed alike.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outlying.sources import arrow_arrays as arrays
from outlying.sources import arrow_types as types
from outlying.table.row_hash import are_long
from outlying.table.values import LARGEST_EXACT_INTEGER, MISSING_WORDS, are_keys, is_gap
from outlying.table.written.decision import POINTS_IN_DOUBT, gaps_note

if TYPE_CHECKING:
    import pyarrow

_DAY = r"\d{4}-\d{2}-\d{2}"
_CLOCK = r"\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
_WHOLE = "-?[1-9][0-9]*|0|-0[0-9]*"
_FRACTION = "[0-9]*(?:{}[0-9]*)?"
_REAL = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|-?(?i:inf|infinity)"
#: What is read, from what fits least to what fits most; each for Python and for RE2.
PATTERNS = {
    "boolean": "(?i:true|false)",
    "integer": _WHOLE,
    "number": _REAL,
    "comma": r"-?(?:(?:0|[1-9][0-9]*)(?:,[0-9]*)?|,[0-9]+)(?:[eE][-+]?[0-9]+)?|-?(?i:inf|infinity)",
    "thousands": r"-?(?:0|[1-9][0-9]{0,2}(?:[.][0-9]{3})?)",
    "date": _DAY,
    "datetime": rf"{_DAY}(?:[ T]{_CLOCK})?",
    "instant": rf"{_DAY}[ T]{_CLOCK}(?:Z|[+-]\d{{2}}(?::?\d{{2}})?)",
    "time": r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?",
}
NUMBERS = ("integer", "number", "comma", "thousands")
TIMES = ("date", "datetime", "instant", "time")
ALL = tuple(PATTERNS)

_GAPS = ("", *MISSING_WORDS)
_LOOKED_AT = 64  # texts that rule types out before all are tried
_LONGER_FRACTION = r"(\.\d{6})\d+"  # beyond microseconds


@dataclasses.dataclass(slots=True)
class PlainTally:
    """Which types fit all texts of a column that were seen, and what counts as missing there."""

    kinds: tuple[str, ...] = ALL
    known: int = 0
    long: int = 0  # whole numbers beyond 2**53
    is_beyond: bool = False  # whether any is beyond 64 bits
    gaps: dict[str, int] = dataclasses.field(default_factory=dict)  # rows by trimmed word

    def add(self, texts: types.Array) -> None:
        """Take in texts; missing ones are null."""
        if not self.kinds or texts.null_count == len(texts):
            return
        known, gaps = _known(texts, self.kinds)  # nothing of texts that UTF-8 does not hold
        if known is None:
            self.kinds = ()
            return
        self.known += len(known)
        for word, rows in gaps.items():
            self.gaps[word] = self.gaps.get(word, 0) + rows
        self.kinds = tuple(kind for kind in self.kinds if _fits(kind, known))
        if "integer" in self.kinds:
            self._count_long(known)

    def _count_long(self, known: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            long = are_long(arrays.held(types.arrow().compute.cast(known, pa.int64())))
        except pa.ArrowInvalid:
            self.is_beyond = True
            long = np.abs(arrays.held(pc.cast(known, pa.float64()))) > LARGEST_EXACT_INTEGER
        self.long += int(np.count_nonzero(long))

    def merge(self, other: PlainTally) -> None:
        """Take in what was seen in another part of the table."""
        self.kinds = tuple(kind for kind in self.kinds if kind in other.kinds)
        self.known += other.known
        self.long += other.long
        self.is_beyond |= other.is_beyond
        for word, rows in other.gaps.items():
            self.gaps[word] = self.gaps.get(word, 0) + rows


@dataclasses.dataclass(frozen=True, slots=True)
class PlainType:
    """How the texts of a column are read, and what is said of it."""

    kind: str = "text"
    note: str | None = None

    @property
    def arrow(self) -> pyarrow.DataType:
        """The Arrow type of what comes out."""
        import pyarrow as pa

        return {
            "boolean": pa.bool_(),
            "integer": pa.int64(),
            **dict.fromkeys(("number", "comma"), pa.float64()),
            "thousands": pa.int64(),
            "date": pa.date32(),
            "datetime": pa.timestamp("us"),
            "instant": pa.timestamp("us", "UTC"),
            "time": pa.time64("us"),
        }.get(self.kind, pa.large_string())

    @property
    def are_keys(self) -> bool:
        """Whether these are whole numbers, too long for quantities."""
        return self.kind == "keys"

    def read(self, texts: types.Array) -> Any:
        """Return texts with their type; words for missing values are missing."""
        if self.kind == "text":
            return texts
        import pyarrow as pa

        if pa.types.is_dictionary(texts.type):
            texts = texts.cast(texts.type.value_type)
        known = _without_gaps(texts)
        return known if self.kind == "keys" else _cast(self.kind, known, self.arrow)


TEXT = PlainType()


def tally_of(texts: Any) -> PlainTally:
    """Return which types fit the texts of a column in memory."""
    tally = PlainTally()
    tally.add(texts)
    return tally


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


def decide(
    tallies: Sequence[PlainTally], kinds: Sequence[str] = ALL, *, commas: bool = False
) -> list[PlainType]:
    """Return how each column is read, the types chosen from these.

    Commas divide off decimals only where they do not divide fields. Nobody writes both points and
    commas for decimals: beside these, 3.335 is a large number.
    """
    allowed = [kind for kind in kinds if commas or kind != "comma"]
    found = [_kind(tally, allowed) for tally in tallies]
    has_commas = "comma" in found
    decided = []
    for tally, kind in zip(tallies, found, strict=True):
        notes = []
        if kind == "comma":
            notes.append("decimal commas read as decimal points")
        elif kind == "number" and "thousands" in tally.kinds and "integer" not in tally.kinds:
            kind = "thousands" if has_commas else kind
            notes.append(_THOUSANDS if has_commas else POINTS_IN_DOUBT)
        elif kind == "keys":
            notes.append("whole numbers beyond 2**53 read as categories")
        if kind != "text" and tally.gaps:
            notes.append(gaps_note(tally.gaps))
        decided.append(PlainType(kind, "; ".join(notes) or None))
    return decided


_THOUSANDS = "points read as marks of thousands, as there are decimal commas in other columns"


def _kind(tally: PlainTally, allowed: Sequence[str]) -> str:
    """Return the narrowest type that fits; numbers of which most are too long are keys."""
    fitting = [kind for kind in tally.kinds if kind in allowed and kind != "thousands"]
    if not tally.known or not fitting:
        return "text"
    kind = fitting[0]
    if kind == "integer" and tally.is_beyond:
        return "keys" if are_keys(tally.long, tally.known) else "number"
    return kind


def _known(texts: Any, kinds: Sequence[str]) -> tuple[Any, dict[str, int]]:
    """Return the distinct texts that stand for something, and the rows of words for gaps.

    Nothing where the first texts rule out all types.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    first = (text for text in arrays.labels(texts.slice(0, 4 * _LOOKED_AT)) if text is not None)
    known = [text.strip(" ") for text in first if not is_gap(text)][:_LOOKED_AT]
    if not any(all(re.fullmatch(PATTERNS[k], x, re.ASCII) for x in known) for k in kinds):
        return None, {}
    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    texts = types.joined(texts).drop_null()
    try:
        trimmed = pc.utf8_trim(texts, characters=" ")
    except pa.ArrowInvalid:
        return None, {}
    are_gaps = pc.is_in(trimmed, value_set=arrays.of_texts(_GAPS).cast(trimmed.type))
    if not are_gaps.true_count:
        return trimmed, {}
    words = trimmed.filter(are_gaps).value_counts().to_pylist()
    return trimmed.filter(pc.invert(are_gaps)), {w["values"]: w["counts"] for w in words}


def _without_gaps(texts: Any) -> Any:
    """Return trimmed texts, null where a word stands for a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim(texts, characters=" ")
    are_gaps = pc.is_in(trimmed, value_set=arrays.of_texts(_GAPS).cast(trimmed.type))
    return pc.if_else(are_gaps, pa.nulls(1, trimmed.type)[0], trimmed)


def _fits(kind: str, known: Any) -> bool:
    """Return whether all texts are of a type: they look so, and make sense."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(known, f"^(?:{PATTERNS[kind]})$"), min_count=0).as_py():
        return False
    if kind not in TIMES:
        return True
    try:
        _cast(kind, known, PlainType(kind).arrow)
    except pa.ArrowInvalid:  # looks like a date but is none: 2024-02-30
        return False
    return True


def _cast(kind: str, texts: Any, wanted: Any) -> Any:
    """Return texts that fit a type as values of it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == "comma":
        texts = pc.replace_substring(texts, ",", ".")
    elif kind == "thousands":
        texts = pc.replace_substring(texts, ".", "")
    elif kind in ("datetime", "instant"):
        texts = pc.replace_substring_regex(texts, _LONGER_FRACTION, r"\1")
    elif kind == "time":
        texts = pc.replace_substring_regex(texts, "^([0-9]:)", r"0\1")
        texts = pc.replace_substring_regex(texts, _LONGER_FRACTION, r"\1")
        first, nothing = arrays.of_texts(["1970-01-01 ", ""]).cast(texts.type)
        day = pc.binary_join_element_wise(first, texts, nothing)
        return pc.cast(pc.cast(day, pa.timestamp("us")), wanted)
    return pc.cast(texts, wanted)


def notes_of(names: Sequence[str], decided: Sequence[PlainType]) -> list[str]:
    """Return what is said of columns, with their names."""
    return [f"column {n!r}: {t.note}" for n, t in zip(names, decided, strict=True) if t.note]


def type_keys(files: Sequence[Mapping[str, str | None]]) -> dict[str, Any]:
    """Type the columns that folders of files give: for each key, an array of a value per file."""
    columns = {key: arrays.of_texts([keys[key] for keys in files]) for key in files[0]}
    return type_texts(columns, ("integer", "date"))


def type_texts(values: Mapping[str, Any], kinds: Sequence[str]) -> dict[str, Any]:
    """Type columns of texts that are in memory; each by itself, as one of these types."""
    decided = {name: decide([tally_of(texts)], kinds)[0] for name, texts in values.items()}
    return {name: decided[name].read(texts) for name, texts in values.items()}
