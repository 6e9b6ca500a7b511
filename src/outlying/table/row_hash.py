"""Row hashes: 64 bits for every row that depend on its values alone, wherever they are read.

Rows are sampled, counted and found again by these hashes, in memory and on engines alike. A cell
has a hash, which is salted by the name of its column; a row hash is the sum of its salted cells,
mixed by SplitMix64, so that the order of columns does not matter. Equal rows have equal hashes;
that others do too is as unlikely as two equal random numbers of 64 bits.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.table.values import LARGEST_EXACT_INTEGER, Codes, Floats, Mask, Rows

Hashes: TypeAlias = npt.NDArray[np.uint64]
Bytes: TypeAlias = npt.NDArray[np.uint8]

#: The hash of a cell without a value: the bits of NaN.
MISSING_HASH = np.uint64(0x7FF8000000000000)

_BLOCK = 16_384  # rows at a time: their hashes stay in the processor's cache
_HALF = np.uint64(32)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))

_LONG = 256  # bytes of a text that is not hashed word by word
_DIGITS = 19  # as many digits always fit into 64 bits
_PADDING = bytes(24)  # so that words and digits may be read beyond the last text
_KEPT_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of one column: their hashes, or codes into those of labels; -1 is missing."""

    name: str
    hashes: Hashes
    codes: Codes | None = None


def salted_sums(columns: Iterable[Cells], rows: int) -> Hashes:
    """Return the sum of the salted cell hashes of each row; mixed, this is a row hash."""
    total = np.zeros(rows, dtype=np.uint64)
    for column in columns:
        salt, codes = _salt(column.name), column.codes
        labels = (
            _salted(np.append(column.hashes, MISSING_HASH), salt) if codes is not None else None
        )
        for block in _blocks(rows):
            if codes is None or labels is None:
                total[block] += _salted(column.hashes[block], salt)
            else:
                total[block] += labels.take(codes[block], mode="wrap")
    return total


def splitmix64(numbers: Hashes) -> Hashes:
    """Mix 64-bit numbers, one to one: the outputs of SplitMix64 (Steele, Lea, Flood 2014)."""
    result = numbers * _GOLDEN
    for block in _blocks(len(result)):
        own = result[block]
        for shift, factor in zip(_SHIFTS, _FACTORS, strict=False):
            own ^= own >> shift
            own *= factor
        own ^= own >> _SHIFTS[2]
    return result


def _blocks(rows: int) -> list[slice]:
    return [slice(start, min(start + _BLOCK, rows)) for start in range(0, rows, _BLOCK)]


@functools.cache
def _salt(name: str) -> np.uint64:
    return np.uint64(_digest(name.encode("utf-8", "surrogatepass")) | 1)


def _salted(hashes: Hashes, salt: np.uint64) -> Hashes:
    """Multiply the hashes of a column by its salt, one to one, between two xor-shifts.

    Whole numbers differ in the upper bits only, so these are brought down first. The last step is
    not linear: or sums of small numbers would be equal as often as small sums are.
    """
    mixed = (hashes ^ (hashes >> _HALF)) * salt
    return np.asarray(mixed ^ (mixed >> _HALF))


def _digest(text: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


# --- hashes of single cells -----------------------------------------------------------------


@np.errstate(invalid="ignore")  # NaN may come in a form that signals
def float_hashes(values: Floats) -> Hashes:
    """Return the bits of numbers; the two zeros have the same, as has all that is missing."""
    hashes = (values + 0.0).view(np.uint64)
    hashes[np.isnan(values)] = MISSING_HASH
    return hashes


def integer_hashes(values: npt.NDArray[Any]) -> Hashes:
    """Return the hashes of whole numbers of at most 64 bits: those of their texts.

    Those that floating point holds have the hash they have there. Beyond, a column is read as
    texts; which of both it is, an engine knows only at the end.
    """
    if values.dtype == np.uint64:
        return _unsigned_hashes(values)
    hashes = float_hashes(values.astype(np.float64))
    beyond = are_long(values)
    if beyond.any():
        hashes[beyond] = splitmix64(values[beyond].astype(np.int64).view(np.uint64))
    return hashes


def are_long(values: npt.NDArray[Any]) -> Mask:
    """Mark whole numbers that are beyond what floating point holds one by one."""
    is_above = values > LARGEST_EXACT_INTEGER
    is_below = values < -LARGEST_EXACT_INTEGER if values.dtype.kind != "u" else False
    return np.asarray(is_above | is_below, dtype=bool)


def whole_hashes(values: npt.NDArray[Any], missing: Mask) -> Hashes:
    """Return the hashes of whole numbers of any type, some of which may be missing."""
    is_object = values.dtype.kind == "O"
    texts = [str(value) for value in values.tolist()] if is_object else []
    hashes = label_hashes(texts) if is_object else integer_hashes(values)
    hashes[missing] = MISSING_HASH
    return hashes


def _unsigned_hashes(values: Hashes) -> Hashes:
    hashes = _signed_hashes(values, np.zeros(len(values), dtype=bool))
    long = values >= np.uint64(10**_DIGITS)
    if long.any():
        hashes[long] = label_hashes([str(value) for value in values[long].tolist()])
    return hashes


def label_hashes(labels: Sequence[str] | Sequence[bool]) -> Hashes:
    """Return the hashes of the texts of labels."""
    texts = [str(label).encode("utf-8", "surrogatepass") for label in labels]
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return text_hashes(b"".join(texts), offsets)


def text_hashes(buffer: Any, offsets: Rows) -> Hashes:
    """Return the hashes of texts: UTF-8, one after the other, each from one offset to the next.

    The text of a whole number has the hash that it has in a column of whole numbers. All others
    are hashed together, word by word; very long ones by BLAKE2b.
    """
    first, last = (int(offsets[0]), int(offsets[-1])) if len(offsets) else (0, 0)
    text = b"".join((memoryview(buffer)[first:last], _PADDING))
    starts, lengths = offsets[:-1] - first, np.diff(offsets)
    padded = np.frombuffer(text, dtype=np.uint8)
    hashes = _hashed_by_words(padded, starts, np.where(lengths > _LONG, 0, lengths))
    for place in np.flatnonzero(lengths > _LONG):
        start = starts[place]
        hashes[place] = _digest(text[start : start + lengths[place]])
    _rehash_whole_numbers(hashes, padded, starts, lengths)
    return hashes


def _hashed_by_words(padded: Bytes, starts: Rows, lengths: Rows) -> Hashes:
    words = np.ndarray((len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    hashes = splitmix64(lengths.astype(np.uint64) + _GOLDEN)  # the empty text is not zero
    for done in range(0, int(lengths.max(initial=0)), 8):
        longer = np.flatnonzero(lengths > done)
        word = words[starts[longer] + done].astype(np.uint64)
        word &= _KEPT_BYTES[np.minimum(lengths[longer] - done, 8)]
        hashes[longer] = splitmix64(hashes[longer] ^ word)
    return hashes


def _rehash_whole_numbers(hashes: Hashes, padded: Bytes, starts: Rows, lengths: Rows) -> None:
    """Replace the hashes of texts that are whole numbers, without a plus or leading zeros."""
    is_negative = padded[starts] == ord("-")
    starts, lengths = starts + is_negative, lengths - is_negative
    first = padded[starts]
    may_be = (first >= ord("1")) & (first <= ord("9")) & (lengths <= _DIGITS) & (lengths > 0)
    may_be |= (first == ord("0")) & (lengths == 1) & ~is_negative
    places = np.flatnonzero(may_be)
    sizes, are_whole = _parsed(padded, starts[places], lengths[places])
    places = places[are_whole]
    hashes[places] = _signed_hashes(sizes[are_whole], is_negative[places])


def _parsed(padded: Bytes, starts: Rows, lengths: Rows) -> tuple[Hashes, Mask]:
    """Read digits, and tell whether there was nothing else."""
    sizes, are_whole = np.zeros(len(starts), dtype=np.uint64), np.ones(len(starts), dtype=bool)
    for place in range(int(lengths.max(initial=0))):
        digits = padded[starts + place] - np.uint8(ord("0"))
        inside = place < lengths
        are_whole &= ~inside | (digits < 10)
        sizes = np.where(inside, sizes * np.uint64(10) + digits, sizes)
    return sizes, are_whole


def _signed_hashes(sizes: Hashes, is_negative: Mask) -> Hashes:
    """Return the hashes of whole numbers, given by size and sign."""
    hashes = float_hashes(np.where(is_negative, -1.0, 1.0) * sizes)
    beyond = sizes > LARGEST_EXACT_INTEGER
    if beyond.any():
        hashes[beyond] = splitmix64(np.where(is_negative, np.uint64(0) - sizes, sizes)[beyond])
    return hashes
