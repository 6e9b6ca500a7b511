"""Row hashes, 64 bits for every row that depend on its values alone, and samples drawn by them.

A cell has a hash, which is salted by the name of its column; a row hash is the sum of its salted
cells, mixed by SplitMix64 (Steele, Lea, Flood 2014), so that the order of columns does not matter.

The distinct rows with the least hashes (a bottom-k sketch, also known as k minimum values) are a
uniform sample of all distinct rows. Each is kept with the number of its copies, and rows are drawn
from these by systematic sampling: the same ones whatever the order, in memory or by a pass.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.table.values import LARGEST_EXACT_INTEGER, Codes, Floats, Mask, Rows

if TYPE_CHECKING:
    from outlying.table.columns import Column

Hashes: TypeAlias = npt.NDArray[np.uint64]
Bytes: TypeAlias = npt.NDArray[np.uint8]

#: The hash of a cell without a value: the bits of NaN.
MISSING_HASH = np.uint64(0x7FF8000000000000)
#: How many distinct rows the sketch keeps.
SKETCH_SIZE = 65_536

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
class HashedCells:
    """The cells of one column: their hashes, or codes into those of labels; -1 is missing."""

    name: str
    hashes: Hashes
    codes: Codes | None = None


def salted_sums(columns: Iterable[HashedCells], rows: int) -> Hashes:
    """Return the sum of the salted cell hashes of each row; mixed, this is a row hash."""
    total = np.zeros(rows, dtype=np.uint64)
    for column in columns:
        salt, codes = _salt(column.name), column.codes
        hashes = column.hashes
        if codes is not None:
            hashes = _salted(np.append(hashes, MISSING_HASH), salt)
        for block in _blocks(rows):
            if codes is None:
                total[block] += _salted(hashes[block], salt)
            else:
                total[block] += hashes.take(codes[block], mode="wrap")
    return total


def splitmix64(numbers: Hashes) -> Hashes:
    """Mix 64-bit numbers, one to one: the outputs of SplitMix64."""
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


# --- hashes of single cells ----------------------------------------------------------------------


@np.errstate(invalid="ignore")  # NaN may come in a form that signals
def float_hashes(values: Floats) -> Hashes:
    """Return the bits of numbers; the two zeros have the same, as has all that is missing."""
    hashes = (values + 0.0).view(np.uint64)
    hashes[np.isnan(values)] = MISSING_HASH
    return hashes


def whole_hashes(values: npt.NDArray[Any], missing: Mask | None = None) -> Hashes:
    """Return the hashes of whole numbers of any type: as floating point, or beyond, as texts."""
    if values.dtype.kind == "O":
        hashes = label_hashes([str(value) for value in values.tolist()])
    else:
        long = are_long(values)
        hashes = _hashes_of_whole(values.astype(np.float64), values.astype(np.uint64), long)
        if values.dtype == np.uint64:
            longest = values >= np.uint64(10**_DIGITS)
            hashes[longest] = label_hashes([str(value) for value in values[longest].tolist()])
    if missing is not None:
        hashes[missing] = MISSING_HASH
    return hashes


def are_long(values: npt.NDArray[Any]) -> Mask:
    """Mark whole numbers that are beyond what floating point holds one by one."""
    is_above = values > LARGEST_EXACT_INTEGER
    is_below = values < -LARGEST_EXACT_INTEGER if values.dtype.kind != "u" else False
    return np.asarray(is_above | is_below, dtype=bool)


def _hashes_of_whole(numbers: Floats, complements: Hashes, long: Mask) -> Hashes:
    """Return the bits of numbers; of long ones, their two's complement, mixed."""
    hashes = float_hashes(numbers)
    if long.any():
        hashes[long] = splitmix64(complements[long])
    return hashes


def label_hashes(labels: Sequence[str] | Sequence[bool]) -> Hashes:
    """Return the hashes of the texts of labels."""
    texts = [str(label).encode("utf-8", "surrogatepass") for label in labels]
    return text_hashes(b"".join(texts), np.cumsum([0, *map(len, texts)], dtype=np.int64))


def text_hashes(buffer: Any, offsets: Rows) -> Hashes:
    """Return the hashes of texts: UTF-8, one after the other, each from one offset to the next.

    A whole number has the hash that it has in a column of them. All others are hashed together,
    word by word; very long ones by BLAKE2b.
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
    starts, lengths = starts[places], lengths[places]
    sizes, are_whole = np.zeros(len(places), dtype=np.uint64), np.ones(len(places), dtype=bool)
    for place in range(int(lengths.max(initial=0))):
        digits = padded[starts + place] - np.uint8(ord("0"))
        inside = place < lengths
        are_whole &= ~inside | (digits < 10)
        sizes = np.where(inside, sizes * np.uint64(10) + digits, sizes)
    places, sizes = places[are_whole], sizes[are_whole]
    is_below = is_negative[places]
    hashes[places] = _hashes_of_whole(
        np.where(is_below, -1.0, 1.0) * sizes,
        np.where(is_below, np.uint64(0) - sizes, sizes),
        sizes > LARGEST_EXACT_INTEGER,
    )


# --- samples -------------------------------------------------------------------------------------


def row_hashes(columns: Iterable[Column], rows: int) -> Hashes:
    """Return the hash of each row of a table in memory."""
    return splitmix64(salted_sums((column.cells() for column in columns), rows))


def sample_rows(
    columns: Iterable[Column], rows: int, count: int, sketch_size: int = SKETCH_SIZE
) -> Rows:
    """Draw rows as if at random, but always the same ones; all where there are no more."""
    hashes = row_hashes((c if c.is_numeric else c.with_plain_labels() for c in columns), rows)
    least, counts = _bottom_k(hashes, max(sketch_size, count))
    places = systematic_sample(least, counts, count)
    kept = np.flatnonzero(hashes <= least[-1]) if len(least) else np.arange(0)
    ordered = kept[np.argsort(hashes[kept], kind="stable")]
    starts = np.cumsum(counts) - counts
    return np.asarray(ordered[starts[places] + _occurrences_before(places)], dtype=np.int64)


def shuffle_by_ranks(columns: Iterable[Column], rows: Rows) -> Rows:
    """Return rows in an order as if at random: by ranks of numbers, and by labels."""
    total = np.zeros(len(rows), dtype=np.uint64)
    for column in columns:
        if column.is_numeric:
            _, ranks = np.unique(column.values[rows], return_inverse=True)
            total += splitmix64(ranks.astype(np.uint64))
        else:
            labels = label_hashes(column.with_plain_labels().labels)
            total += splitmix64(np.append(labels, MISSING_HASH))[column.codes[rows]]
    return np.asarray(rows[np.argsort(splitmix64(total), kind="stable")], dtype=np.int64)


def systematic_sample(hashes: Hashes, counts: Rows, wanted: int) -> Rows:
    """Draw from distinct rows, given by ascending hashes and numbers of copies; return places.

    Rows are taken at equal steps through all copies, so that each distinct row has its share, and
    shuffled by their hashes: any number of the first ones is a fair sample as well.
    """
    total = int(counts.sum())
    if total <= wanted:
        places = np.repeat(np.arange(len(hashes)), counts)
    else:
        places = np.searchsorted(np.cumsum(counts), _midpoints(total, wanted), side="right")
    copies = _occurrences_before(places)
    order = splitmix64(hashes[places] + splitmix64(copies.astype(np.uint64)))
    return np.asarray(places[np.lexsort((copies, hashes[places], order))], dtype=np.int64)


def limit_copies(columns: Iterable[Column], rows: int, most: int) -> tuple[Rows, Rows]:
    """Return rows without copies beyond a number, and for each row its place among these."""
    hashes = row_hashes(columns, rows)
    kept = np.flatnonzero(_occurrences_before(hashes) < most)
    order = np.argsort(hashes[kept], kind="stable")
    return kept, order[np.searchsorted(hashes[kept], hashes, sorter=order)]


def _bottom_k(hashes: Hashes, k: int) -> tuple[Hashes, Rows]:
    """Return the k least of the distinct hashes, and how many rows have each."""
    if k < len(hashes):  # without copies, so many rows are enough
        some = hashes[hashes <= np.partition(hashes, k)[k]]
        least, counts = np.unique(some, return_counts=True)
        if len(least) >= k:
            return least[:k], counts[:k]
    least, counts = np.unique(hashes, return_counts=True)
    return least[:k], counts[:k]


def _midpoints(total: int, parts: int) -> Rows:
    """Return the middles of equal parts, rounded down: floor((2i + 1) total / (2 parts))."""
    odd = 2 * np.arange(parts, dtype=np.int64) + 1
    halves = max(1, 2 * parts)
    whole, rest = divmod(total, halves)  # in two steps, as the product may be too large
    return odd * whole + odd * rest // halves


def _occurrences_before(numbers: Hashes | Rows) -> Rows:
    """Return for each number how many equal ones come before it."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    before = np.empty(len(numbers), dtype=np.int64)
    sizes = np.diff(np.append(begins, len(numbers)))
    before[order] = np.arange(len(numbers)) - np.repeat(begins, sizes)
    return before
