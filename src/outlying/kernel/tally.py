"""Contexts counted in the bins of a property, by compiled code or by NumPy: the same numbers."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.kernel.library import Shared, address_of, compiled

Words: TypeAlias = npt.NDArray[np.uint64]
Small: TypeAlias = npt.NDArray[np.int32]
Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.uint16]

#: A lift is known where a typical member has so many rows of the table within its window.
ENOUGH = 5
#: So many conditions at most make up a context.
MOST_CONDITIONS = 4
_CHUNK = 1 << 22  # words that NumPy joins at once
_ROOM = 1 << 16  # cells, to begin with


class TallyStruct(Shared):
    """`struct tally` of tally.c."""

    c_name = "tally"
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("words", "bins", "windows", "known", "least")),
        ("with_empty", ctypes.c_int64),
        ("alike", ctypes.c_int64),
        ("rarity", ctypes.c_double),
        ("bar", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ("starts", "low", "high", "mass")),
        ("bases", ctypes.c_void_p),
        ("conditions", ctypes.c_void_p),
        ("room", ctypes.c_int64),
    )


class AroundStruct(Shared):
    """`struct around` of tally.c."""

    c_name = "around"
    arrays = (
        *("low", "high", "is_own", "skipped", "own", "codes"),
        *("offsets", "first", "listed", "from_", "to"),
    )
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("rows", "size", "attributes", "least")),
        ("concentration", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in arrays),
    )


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Rows in the order of a property, every bin beginning with a new word."""

    known: int  # rows that have the property
    words: int
    alike: int  # the first bins, whose rows are alike; those of a last one are not
    starts: Small  # the first word of each bin, and the end
    low: Small  # windows x bins: the window around a bin, from this bin
    high: Small  # up to but not including this one
    mass: Small  # windows x bins: the rows of the table in that window
    rows: Small  # the row of each bit; -1 where there is none

    @property
    def bins(self) -> int:
        """The number of bins."""
        return len(self.starts) - 1


class Tallied(NamedTuple):
    """What was counted of some contexts, and of their rare cells."""

    sizes: Small  # rows of each
    lifts: Floats  # how much tighter the property is there; 0 where that is not known
    context: Small  # of each cell
    bin: Small
    rarity: Floats


def lay_out(
    slots: Small,
    order: Small,
    codes: npt.NDArray[np.uint16],
    first: Small,
    listed: Small,
    bits: Words,
) -> None:
    """Mark the rows of conditions: a code has those listed from `first[code]` on."""
    kernel = compiled()
    if kernel is not None:
        given = len(slots), slots, order, codes, first, listed, bits.shape[1]
        kernel("tally_lay_out", *given, bits, result=None)
        return
    own = codes[order]
    for condition in np.unique(listed):
        held = np.searchsorted(first, np.flatnonzero(listed == condition), "right") - 1
        places = slots[np.isin(own, held)]
        marks = np.uint64(1) << (places & 63).astype(np.uint64)
        np.bitwise_or.at(bits[condition], places >> 6, marks)


def join(conditions: Words, members: Small) -> Words:
    """Return the rows that satisfy all conditions of each context; -1 stands for none."""
    joined = conditions[members[:, 0]]
    for column in members.T[1:]:
        has = column >= 0
        joined[has] &= conditions[column[has]]
    return joined


def count(
    layout: Layout,
    bases: Words,
    conditions: Words,
    base_of: Small,
    condition_of: Small,
    *,
    least: int,
    rarity: float,
    bar: float,
    with_empty: bool = False,
) -> Tallied:
    """Count contexts; list the cells whose rarity, and its product with the lift, are enough.

    Cells that hold no row are listed if asked for: a new row would be alone there.
    """
    kernel = compiled()
    limits: dict[str, Any] = {"least": least, "rarity": rarity, "bar": bar}
    if kernel is None:
        some, parts = max(1, _CHUNK // layout.words), []
        for start in range(0, max(1, len(base_of)), some):
            chosen = slice(start, start + some)
            joined = bases[base_of[chosen]] & conditions[condition_of[chosen]]
            part = _counted(layout, joined, with_empty, **limits)
            parts.append(part._replace(context=part.context + np.int32(start)))
        return Tallied(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    sizes, lifts = np.zeros(len(base_of), dtype=np.int32), np.zeros(len(base_of))
    room = _ROOM
    while True:
        context, own = np.empty((2, room), dtype=np.int32)
        rarities = np.empty(room)
        struct = _struct(layout, conditions, bases, room=room, with_empty=with_empty, **limits)
        given = struct, len(base_of), base_of, condition_of
        found = kernel("tally_count", *given, sizes, lifts, context, own, rarities)
        if found < 0:
            raise MemoryError
        if found <= room:
            return Tallied(sizes, lifts, context[:found], own[:found], rarities[:found])
        room = found


def _counted(
    layout: Layout, joined: Words, with_empty: bool, *, least: int, rarity: float, bar: float
) -> Tallied:
    """Count some contexts by NumPy, given their rows."""
    counts = np.bitwise_count(joined).cumsum(axis=1, dtype=np.int64)
    before = np.concatenate([np.zeros((len(joined), 1), np.int64), counts], axis=1)
    before = before[:, layout.starts]
    here, sizes = np.diff(before, axis=1), before[:, -1]
    near = before[:, layout.high] - before[:, layout.low]  # contexts x windows x bins
    alike = here[:, : layout.alike]
    pairs = np.einsum("eb,ewb->ew", alike, near[:, :, : layout.alike]).astype(float)
    expected = (alike @ layout.mass.T[: layout.alike].astype(np.int64)).astype(float)
    is_large, size = sizes >= least, sizes.astype(float)[:, None]
    useful = pairs >= rarity * size
    goes_on = useful | (expected >= 2 * ENOUGH * layout.known)
    reached = np.logical_and.accumulate(goes_on, axis=1)  # windows that are looked at
    reached = np.concatenate([np.ones((len(sizes), 1), bool), reached[:, :-1]], axis=1)
    known = reached & (expected >= ENOUGH * layout.known)
    with np.errstate(divide="ignore", invalid="ignore"):
        lifts = np.where(known, pairs * layout.known / (size * expected), 0.0)
        most = np.where(sizes > 0, layout.known / size[:, 0], 0.0)
    lift = np.where(is_large, np.minimum(lifts.max(axis=1), most), 0.0)
    ratios = pairs[:, :, None] / np.maximum(near, 1)
    ratios[~(reached & useful)] = 0.0
    best = ratios.max(axis=1)
    rare = is_large[:, None] & (best >= rarity * size) & (best * lift[:, None] >= bar * size)
    if not with_empty:
        rare &= here > 0
    context, own = np.nonzero(rare)
    found = context.astype(np.int32), own.astype(np.int32), best[rare] / size[context, 0]
    return Tallied(sizes.astype(np.int32), lift, *found)


class Listing(NamedTuple):
    """The conditions of each code of each attribute."""

    offsets: Small  # where the codes of each attribute begin in `first`, and where they end
    first: Small  # where the conditions of a code begin in `listed`
    listed: Small
    low: Small  # the first code of each condition
    high: Small  # the last one


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NearbyMembers:
    """Rows, and the members of a group whose values are nearest to theirs."""

    low: Small  # of each row: from this member on, in the order of values
    high: Small  # up to but not including this one
    is_own: npt.NDArray[np.bool_]  # whether the row itself is one of them
    own: Codes  # attributes x rows
    codes: Codes  # attributes x members


def shared(
    around: NearbyMembers,
    listing: Listing,
    skipped: npt.NDArray[np.bool_],
    *,
    least: int,
    concentration: float,
) -> tuple[Small, Small]:
    """List the rows, and their conditions, that enough of those around them share.

    These are at least so many others, and so many times as frequent there as in the group.
    """
    kernel = compiled()
    if kernel is None:
        return _shared(around, listing, skipped, least, concentration)
    first, offsets = listing.first, listing.offsets[:-1, None].astype(np.int64)
    places = around.own + offsets
    room = int((first[places + 1] - first[places])[~skipped].sum())
    row, condition = np.empty((2, room), dtype=np.int32)
    given = (around.low, around.high, around.is_own, skipped, around.own, around.codes, *listing)
    arrays = dict(zip(AroundStruct.arrays, map(np.ascontiguousarray, given), strict=True))
    struct = AroundStruct(
        rows=len(around.low),
        size=around.codes.shape[1],
        attributes=len(around.codes),
        least=least,
        concentration=concentration,
        **{name: address_of(array) for name, array in arrays.items()},
    )
    found = kernel("tally_shared", struct, row, condition)
    if found < 0:
        raise MemoryError
    return row[:found], condition[:found]


def _shared(
    around: NearbyMembers,
    listing: Listing,
    skipped: npt.NDArray[np.bool_],
    least: int,
    concentration: float,
) -> tuple[Small, Small]:
    found = []
    others = around.high - around.low - around.is_own
    for attribute in np.flatnonzero(~skipped):
        codes = around.codes[attribute]
        first = listing.first[listing.offsets[attribute] :]
        for row, own in enumerate(around.own[attribute].tolist()):
            nearby = codes[around.low[row] : around.high[row]]
            for number in listing.listed[first[own] : first[own + 1]].tolist():
                low, high = listing.low[number], listing.high[number]
                size = np.count_nonzero((codes >= low) & (codes <= high))
                hits = np.count_nonzero((nearby >= low) & (nearby <= high)) - around.is_own[row]
                if hits >= least and hits * len(codes) >= concentration * size * others[row]:
                    found.append((row, number))
    pairs = np.array(found, dtype=np.int32).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def assign(layout: Layout, conditions: Words, bins: Small, members: Small, rows: int) -> Small:
    """Return for each row the first cell that holds it; -1 where there is none."""
    found = np.full(rows, -1, dtype=np.int32)
    kernel = compiled()
    if kernel is not None:
        given = _struct(layout, conditions, conditions), len(bins), bins, members, layout.rows
        if kernel("tally_assign", *given, found) < 0:
            raise MemoryError
        return found
    for place, (own, context) in enumerate(zip(bins, members, strict=True)):
        start, end = layout.starts[own], layout.starts[own + 1]
        words = np.bitwise_and.reduce(conditions[context[context >= 0], start:end], axis=0)
        marks = np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)
        held = layout.rows[start * 64 : end * 64][marks]
        held = held[held >= 0]  # the last word of a bin may have no rows
        found[held[found[held] < 0]] = place
    return found


def _struct(layout: Layout, conditions: Words, bases: Words, **numbers: Any) -> TallyStruct:
    arrays = {name: getattr(layout, name) for name in ("starts", "low", "high", "mass")}
    return TallyStruct(
        words=layout.words,
        bins=layout.bins,
        windows=len(layout.mass),
        known=layout.known,
        alike=layout.alike,
        conditions=address_of(conditions),
        bases=address_of(bases),
        **{name: address_of(array) for name, array in arrays.items()},
        **numbers,
    )
