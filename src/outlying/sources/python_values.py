"""Columns of Python values as Arrow arrays: what they are is told by the values themselves.

Lists, object columns of pandas, JSON and workbooks come without a type. Their values are sorted
into kinds; a column of one kind becomes an array of that kind, a column of several one of texts,
and it is said. Arrow's own conversion raises on mixed values, and makes dates of moments beside
dates.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import numbers
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from outlying.sources.arrow_arrays import microseconds, of_mask, of_numbers, of_texts
from outlying.sources.columns import Made, text_of_any
from outlying.table.columns import Floats, Mask
from outlying.table.row_hash import are_long
from outlying.table.values import Form, are_keys, is_missing, number_of

if TYPE_CHECKING:
    import pyarrow

Kind: TypeAlias = Form | Literal["unusable"]

_KINDS: tuple[tuple[Any, Kind], ...] = (
    ((bool, np.bool_), "boolean"),
    (np.timedelta64, "duration"),  # to NumPy it is an integer, so it comes before these
    (numbers.Integral, "integer"),
    ((numbers.Real, decimal.Decimal), "number"),
    ((str, uuid.UUID), "text"),
    ((dt.datetime, np.datetime64), "datetime"),
    (dt.date, "date"),
    (dt.time, "time"),
    (dt.timedelta, "duration"),
)
_DAY_US = 86_400_000_000
_DAYS_ONLY = ("Y", "M", "W", "D")  # resolutions of NumPy that know no time of day


def array_of(values: Sequence[object]) -> Made | str:
    """Return Python values, of one kind or mixed, as an array; or say why they cannot be used."""
    missing = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    known = [value for value, gap in zip(values, missing, strict=True) if not gap]
    kinds = _kinds_in(known)
    if "unusable" in kinds:
        return _what_is_unusable(known)
    if kinds == {"integer", "number"}:
        kinds = {"number"}
    if len(kinds) > 1:
        found = ", ".join(sorted({type(value).__name__ for value in known}))
        note = f"mixed values ({found}) taken as texts"
        return Made(_texts(values, missing), note)
    kind = kinds.pop() if kinds else _kind_of_gaps(values)
    try:
        return _of_kind(kind, values, missing)
    except Exception:  # a class of the user's that is a number by its name only
        return f"values of a class that does not let itself be read as {kind}"


def _of_kind(kind: Kind, values: Sequence[Any], missing: Mask) -> Made:
    if kind == "integer":
        pairs = zip(values, missing.tolist(), strict=True)
        return _integers([0 if gap else int(value) for value, gap in pairs], missing)
    if kind == "text":
        array = _texts(values, missing)
    elif kind == "boolean":
        pairs = zip(values, missing.tolist(), strict=True)
        bits = np.fromiter((not gap and bool(value) for value, gap in pairs), bool, len(values))
        array = of_mask(bits, missing)
    elif kind == "number":
        array = of_numbers(_filled(values, missing, _number), missing)
    else:
        form: Form = kind  # type: ignore[assignment]
        array = moments(form, _filled(values, missing, lambda v: _time(form, v)), missing)
    return Made(array)


def _texts(values: Sequence[object], missing: Mask) -> pyarrow.Array:
    pairs = zip(values, missing.tolist(), strict=True)
    return of_texts([None if gap else v if type(v) is str else text_of_any(v) for v, gap in pairs])


def _integers(whole: list[int], missing: Mask) -> Made:
    """Return whole numbers; those beyond 64 bits are keys, or rounded where they are few."""
    try:
        array = of_numbers(np.array(whole, dtype=np.int64), missing)
    except OverflowError:
        values = np.array(whole, dtype=object)
        known = values[~missing]
        if are_keys(int(np.count_nonzero(are_long(known))), len(known)):
            array = _texts(whole, missing)
            note = "whole numbers beyond 2**53 read as categories"
            return Made(array, note, are_keys=True)
        most = int(np.finfo(np.float64).max)
        array = of_numbers(
            np.array([min(max(v, -most), most) for v in whole], dtype=float), missing
        )
    return Made(array)


def moments(form: Form, counts: Floats, missing: Mask) -> pyarrow.Array:
    """Return dates, times or durations that are counted as microseconds; far ones by seconds."""
    import pyarrow as pa

    far = bool((np.abs(counts) >= 2.0**63).any())
    unit, step = ("s", 10**6) if far else ("us", 1)
    kinds = {
        "datetime": pa.timestamp(unit),
        "instant": pa.timestamp(unit, "UTC"),
        "duration": pa.duration(unit),
        "time": pa.time64("us"),
        "date": pa.timestamp(unit) if far else pa.date32(),
    }
    if form == "date" and not far:
        return of_numbers((counts // _DAY_US).astype(np.int32), missing).view(kinds[form])
    return of_numbers((counts // step).astype(np.int64), missing).view(kinds[form])


def _kind_of_gaps(values: Sequence[object]) -> Kind:
    """Return what a column without any value would hold: NaN is a missing number, None anything."""
    return "number" if any(isinstance(value, (float, np.floating)) for value in values) else "text"


def _filled(values: Sequence[object], missing: Mask, convert: Any) -> Floats:
    pairs = zip(values, missing.tolist(), strict=True)
    return np.fromiter((0.0 if gap else convert(v) for v, gap in pairs), float, len(values))


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number that floating point cannot hold
        return math.inf if value > 0 else -math.inf


def _time(form: Form, value: object) -> float:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(microseconds(np.array([value]))[0])
    return number_of(form, value)


def _kinds_in(known: Iterable[object]) -> set[Kind]:
    kinds: set[Kind] = set()
    of_type: dict[type, Kind] = {}
    for value in known:
        kind = of_type.get(type(value))
        if kind is None:
            kind = of_type[type(value)] = _kind_of(value)
        kinds.add(_zoned(value) if kind == "datetime" else kind)
    return kinds


def _kind_of(value: object) -> Kind:
    for types, kind in _KINDS:
        if isinstance(value, types):
            return kind
    return "unusable"


def _zoned(value: object) -> Kind:
    if isinstance(value, np.datetime64):
        return "date" if np.datetime_data(value.dtype)[0] in _DAYS_ONLY else "datetime"
    return "datetime" if getattr(value, "tzinfo", None) is None else "instant"


def _what_is_unusable(known: Iterable[object]) -> str:
    """Name what cannot be compared: of several things the first by name, not the first in a row."""
    return min({_described(value) for value in known if _kind_of(value) == "unusable"})


def _described(value: object) -> str:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "bytes"
    if isinstance(value, Mapping):
        return "records"
    if isinstance(value, (Sequence, Set, np.ndarray)):
        return "lists"
    return f"{type(value).__name__} objects"
