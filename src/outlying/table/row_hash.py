"""A number for every row that depends on its values alone, wherever and however they are read.

Rows are drawn, counted and found again by these numbers, in memory and on engines alike. A cell
has a number, a column of a certain name scatters it, a row has the scattered sum of its cells: the
order of columns does not matter. Equal rows have equal marks; that others do too is as unlikely as
two equal random numbers of 64 bits.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.table.columns import LARGEST_EXACT_INTEGER, Codes, Column, Floats, NumericColumn, Rows

Marks: TypeAlias = npt.NDArray[np.uint64]

#: The number of a cell without a value.
MISSING = np.uint64(0x7FF8000000000000)

_BLOCK = 16_384  # rows at a time: their numbers stay in the processor's cache
_HALF = np.uint64(32)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))

_LONG = 256  # bytes of a text that is not hashed word by word
_DIGITS = 19  # as many digits always fit into 64 bits
_PADDING = bytes(24)  # so that words and digits may be read beyond the last text
_KEPT_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)


class Cells(Protocol):
    """The cells of one column, as far as marks need them."""

    def scatter(self, block: slice, out: Marks, spare: Marks) -> None:
        """Write the share of some cells in the marks of their rows; `spare` may be used up."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NumberCells:
    """Numbers, NaN where one is missing."""

    name: str
    values: Floats
    has_gaps: bool

    def scatter(self, block: slice, out: Marks, spare: Marks) -> None:
        """Write the shares of numbers by their bits, of which the two zeros have the same."""
        values = self.values[block]
        np.add(values, 0.0, out=out.view(np.float64))
        if self.has_gaps:
            out[np.isnan(values)] = MISSING
        _salted(out, _salt(self.name), spare)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NumberedCells:
    """Cells whose numbers are known already."""

    name: str
    numbers: Marks

    def scatter(self, block: slice, out: Marks, spare: Marks) -> None:
        """Write the shares of the numbers."""
        out[:] = self.numbers[block]
        _salted(out, _salt(self.name), spare)


class CodedCells:
    """Categories as codes into numbers of labels; -1 is missing."""

    def __init__(self, name: str, codes: Codes, numbers: Marks) -> None:
        self.codes = codes
        self.shares = np.append(numbers, MISSING)  # the last one is that of -1
        _salted(self.shares, _salt(name), np.empty_like(self.shares))

    def scatter(self, block: slice, out: Marks, spare: Marks) -> None:  # noqa: ARG002
        """Write the shares of the labels."""
        self.shares.take(self.codes[block], out=out, mode="wrap")


def marks(columns: Iterable[Column], rows: int) -> Marks:
    """Give each row of a table in memory its mark."""
    return mixed(sums([_cells(column) for column in columns], rows))


@np.errstate(invalid="ignore")  # NaN may come in a form that signals
def sums(columns: Sequence[Cells], rows: int) -> Marks:
    """Add up the shares of columns; scattered once more, this is a mark."""
    total = np.zeros(rows, dtype=np.uint64)
    share, spare = (np.empty(min(rows, _BLOCK), dtype=np.uint64) for _ in range(2))
    for block in _blocks(rows):
        own, size = total[block], block.stop - block.start
        for column in columns:
            column.scatter(block, share[:size], spare[:size])
            np.add(own, share[:size], out=own)
    return total


def mixed(numbers: Marks) -> Marks:
    """Scatter 64-bit numbers one to one (the finaliser of SplitMix64)."""
    result = numbers * _GOLDEN
    spare = np.empty(min(len(result), _BLOCK), dtype=np.uint64)
    for block in _blocks(len(result)):
        _mix(result[block], spare[: block.stop - block.start])
    return result


def _mix(numbers: Marks, spare: Marks) -> None:
    for shift, factor in zip(_SHIFTS, _FACTORS, strict=False):
        np.right_shift(numbers, shift, out=spare)
        numbers ^= spare
        numbers *= factor
    np.right_shift(numbers, _SHIFTS[2], out=spare)
    numbers ^= spare


def _blocks(rows: int) -> list[slice]:
    return [slice(start, min(start + _BLOCK, rows)) for start in range(0, rows, _BLOCK)]


def _cells(column: Column) -> Cells:
    if isinstance(column, NumericColumn):
        return NumberCells(column.name, column.values, bool(column.missing().any()))
    return CodedCells(column.name, column.codes, label_numbers(column.labels))


@functools.cache
def _salt(name: str) -> np.uint64:
    return np.uint64(_digest(name.encode("utf-8", "surrogatepass")) | 1)


def _salted(numbers: Marks, salt: np.uint64, spare: Marks) -> None:
    """Scatter the numbers of a column in place, one to one.

    Whole numbers differ in the upper bits only, so these are brought down first. The last step is
    not linear: or sums of small numbers would be equal as often as small sums are.
    """
    np.right_shift(numbers, _HALF, out=spare)
    numbers ^= spare
    numbers *= salt
    np.right_shift(numbers, _HALF, out=spare)
    numbers ^= spare


def _digest(text: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


# --- numbers of single cells ----------------------------------------------------------------


@np.errstate(invalid="ignore")
def float_numbers(values: Floats) -> Marks:
    """Return numbers their bits; those that are missing share one number, as the zeros do."""
    numbers = (values + 0.0).view(np.uint64)
    numbers[np.isnan(values)] = MISSING
    return numbers


def whole_numbers(values: npt.NDArray[Any]) -> Marks:
    """Give whole numbers of at most 64 bits the numbers of their texts.

    Those that floating point holds have the number they have there. Beyond, a column is read as
    texts; which of both it is, an engine knows only at the end.
    """
    if values.dtype == np.uint64:
        return _unsigned_numbers(values)
    numbers = float_numbers(values.astype(np.float64))
    beyond = (values > LARGEST_EXACT_INTEGER) | (values < -LARGEST_EXACT_INTEGER)
    if beyond.any():
        numbers[beyond] = mixed(values[beyond].astype(np.int64).view(np.uint64))
    return numbers


def _unsigned_numbers(values: Marks) -> Marks:
    numbers = _numbers_of_whole(values, np.zeros(len(values), dtype=bool))
    long = values >= np.uint64(10**_DIGITS)
    if long.any():
        numbers[long] = label_numbers([str(value) for value in values[long].tolist()])
    return numbers


def label_numbers(labels: Sequence[str] | Sequence[bool]) -> Marks:
    """Give labels the numbers of their texts."""
    texts = [str(label).encode("utf-8", "surrogatepass") for label in labels]
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return text_numbers(b"".join(texts), offsets)


def text_numbers(buffer: Any, offsets: Rows) -> Marks:
    """Give texts their numbers: UTF-8, one after the other, each from one offset to the next.

    The text of a whole number has the number that it has in a column of whole numbers. All others
    are hashed, all texts at once, word by word; very long ones with a hash function of a library.
    """
    first, last = (int(offsets[0]), int(offsets[-1])) if len(offsets) else (0, 0)
    text = b"".join((memoryview(buffer)[first:last], _PADDING))
    starts, lengths = offsets[:-1] - first, np.diff(offsets)
    padded = np.frombuffer(text, dtype=np.uint8)
    numbers = _hashed(padded, starts, np.where(lengths > _LONG, 0, lengths))
    for place in np.flatnonzero(lengths > _LONG):
        start = starts[place]
        numbers[place] = _digest(text[start : start + lengths[place]])
    _number_whole(numbers, padded, starts, lengths)
    return numbers


def _hashed(padded: npt.NDArray[np.uint8], starts: Rows, lengths: Rows) -> Marks:
    words = np.ndarray((len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    numbers = mixed(lengths.astype(np.uint64) + _GOLDEN)  # the empty text is not zero
    for done in range(0, int(lengths.max(initial=0)), 8):
        longer = np.flatnonzero(lengths > done)
        word = words[starts[longer] + done].astype(np.uint64)
        word &= _KEPT_BYTES[np.minimum(lengths[longer] - done, 8)]
        numbers[longer] = mixed(numbers[longer] ^ word)
    return numbers


def _number_whole(
    numbers: Marks, padded: npt.NDArray[np.uint8], starts: Rows, lengths: Rows
) -> None:
    """Renumber the texts of whole numbers: without a plus, without leading zeros."""
    is_negative = padded[starts] == ord("-")
    starts, lengths = starts + is_negative, lengths - is_negative
    first = padded[starts]
    has_form = (first >= ord("1")) & (first <= ord("9")) & (lengths <= _DIGITS) & (lengths > 0)
    has_form |= (first == ord("0")) & (lengths == 1) & ~is_negative
    places = np.flatnonzero(has_form)
    values, are_whole = _parsed(padded, starts[places], lengths[places])
    places = places[are_whole]
    numbers[places] = _numbers_of_whole(values[are_whole], is_negative[places])


def _parsed(
    padded: npt.NDArray[np.uint8], starts: Rows, lengths: Rows
) -> tuple[Marks, npt.NDArray[np.bool_]]:
    """Read digits, and tell whether there was nothing else."""
    values, are_whole = np.zeros(len(starts), dtype=np.uint64), np.ones(len(starts), dtype=bool)
    for place in range(int(lengths.max(initial=0))):
        digits = padded[starts + place] - np.uint8(ord("0"))
        inside = place < lengths
        are_whole &= ~inside | (digits < 10)
        values = np.where(inside, values * np.uint64(10) + digits, values)
    return values, are_whole


def _numbers_of_whole(sizes: Marks, is_negative: npt.NDArray[np.bool_]) -> Marks:
    exact = float_numbers(np.where(is_negative, -1.0, 1.0) * sizes)
    beyond = sizes > LARGEST_EXACT_INTEGER
    if beyond.any():
        exact[beyond] = mixed(np.where(is_negative, np.uint64(0) - sizes, sizes)[beyond])
    return exact
