"""Columns of Python values: what they are is told by the values themselves.

Lists, object columns of pandas and JSON come without a type. Their values are sorted into kinds;
a column of one kind is read as that kind, a column of several as categories, and it is said.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import numbers
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal, TypeAlias

import numpy as np

from outlying.sources.columns import (
    Reading,
    read_form,
    read_integers,
    read_labels,
    read_reals,
    skip,
)
from outlying.sources.types.numpy import form_of_moments, microseconds
from outlying.table.values import Form, is_missing, number_of

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


def read_objects(name: str, values: Sequence[object]) -> Reading:
    """Read Python values, of one kind or mixed."""
    missing = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    known = [value for value, gap in zip(values, missing, strict=True) if not gap]
    kinds = _kinds_in(known)
    if "unusable" in kinds:
        return skip(name, _what_is_unusable(known))
    if kinds == {"integer", "number"}:
        kinds = {"number"}
    if len(kinds) > 1:
        return _mixed(name, values, known)
    kind = kinds.pop() if kinds else _kind_of_gaps(values)
    try:
        return _read_kind(name, kind, values, missing)
    except Exception:  # a class of the user's that is a number by its name only
        return skip(name, f"values of a class that does not let itself be read as {kind}")


def _read_kind(name: str, kind: Kind, values: Sequence[object], missing: Any) -> Reading:
    if kind == "boolean" or kind == "text":
        return read_labels(name, values, missing, kind)
    if kind == "integer":
        return read_integers(name, _integers(values, missing), missing)
    if kind == "number":
        return read_reals(name, _filled(values, missing, _number), missing)
    form: Form = kind  # type: ignore[assignment]
    return read_form(name, form, _filled(values, missing, lambda v: _time(form, v)), missing)


def _kind_of_gaps(values: Sequence[object]) -> Kind:
    """Return what a column without any value would hold: NaN is a missing number, None anything."""
    return "number" if any(isinstance(value, (float, np.floating)) for value in values) else "text"


def _filled(values: Sequence[object], missing: Any, convert: Any) -> Any:
    pairs = zip(values, missing, strict=True)
    return np.fromiter((0.0 if gap else convert(v) for v, gap in pairs), float, len(values))


def _integers(values: Sequence[Any], missing: Any) -> Any:
    whole = [0 if gap else int(value) for value, gap in zip(values, missing, strict=True)]
    return np.array(whole, dtype=object)


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
        return form_of_moments(value.dtype)
    return "datetime" if getattr(value, "tzinfo", None) is None else "instant"


def _mixed(name: str, values: Sequence[object], known: Sequence[object]) -> Reading:
    found = ", ".join(sorted({type(value).__name__ for value in known}))
    return read_labels(name, values).with_note(f"mixed values ({found}) taken as texts")


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
