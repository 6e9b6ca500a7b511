"""The columns of batches: as they are read or derived, and as a model numbers their cells."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from outlying.search.attributes import Attribute, NumericAttribute
from outlying.search.cells import Numbers as ModelNumbers
from outlying.sources.arrow_types import Field, Numbers
from outlying.sources.passes import Batch
from outlying.stream.profile import OTHER_LABEL
from outlying.table.columns import CategoricalColumn, Column, Derivation, NumericColumn

_MOST = 1e100  # a value, however far off: products of it stay finite


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColumnReader:
    """How a column is read, be it one that is derived from columns of the table."""

    field: Field
    derivation: Derivation | None = None  # of a derived column, whose parent the field reads
    given: tuple[Field, ...] = ()  # the other columns that it needs

    @classmethod
    def of(cls, column: Column, fields: Mapping[str, Field]) -> ColumnReader:
        """Return how a column of a model is read, given how those of the table are."""
        derivation = column.origin
        if derivation is None:
            return cls(fields[column.name])
        given = tuple(fields[name] for name in derivation.given)
        return cls(fields[derivation.parent], derivation, given)

    @property
    def key(self) -> str:
        """What questions know the column by."""
        return self.field.name if self.derivation is None else self.derivation.key

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table that are read for it."""
        return (self.field.name, *(field.name for field in self.given))


def columns_in(batch: Batch, readers: Iterable[ColumnReader]) -> list[Column]:
    """Return columns of a batch; those that several are derived from are read once.

    The labels of categories are not sorted.
    """
    known: dict[tuple[str, bool], Column] = {}

    def column(field: Field, *, has_texts: bool) -> Column:
        key = field.name, has_texts and field.written is not None
        if key not in known:
            array = batch.column(field.name)
            known[key] = field.column(array) if key[1] else _plain(field, array)
        return known[key]

    found = []
    for reader in readers:
        if reader.derivation is None:
            found.append(column(reader.field, has_texts=False))
        else:
            read = [column(field, has_texts=True) for field in (reader.field, *reader.given)]
            found.append(reader.derivation.column({own.name: own for own in read}))
    return found


def _plain(field: Field, array: Any) -> Column:
    cells = field.read(array)
    if isinstance(cells, Numbers):
        return NumericColumn(field.name, field.read_as, cells.values)
    labels: Any = tuple(cells.labels)
    return CategoricalColumn(field.name, field.read_as, cells.codes, labels)


def numbering(attributes: Sequence[Attribute]) -> Callable[[Sequence[Column]], list[ModelNumbers]]:
    """Return what numbers the cells of rows, given the column of each attribute of a model.

    The model need not have seen these rows.
    """
    known: list[dict[Any, int]] = [
        {}
        if isinstance(item, NumericAttribute)
        else {label: code for code, label in enumerate(item.categories)}
        for item in attributes
    ]
    return functools.partial(_numbered, attributes, known)


def _numbered(
    attributes: Sequence[Attribute], known: Sequence[dict[Any, int]], columns: Sequence[Column]
) -> list[ModelNumbers]:
    return [_numbers(*own) for own in zip(attributes, columns, known, strict=True)]


def _numbers(attribute: Attribute, column: Column, known: Mapping[Any, int]) -> ModelNumbers:
    if column.is_numeric:
        assert isinstance(attribute, NumericAttribute)  # noqa: S101 - of the same column
        factor, exponent = attribute.factor, attribute.exponent
        values = column.values
        values = np.ldexp(values, -exponent) if factor is None else values * factor
        return np.clip(values, -_MOST, _MOST) + 0.0  # there is one zero
    other = known.get(OTHER_LABEL, len(known))
    found = map(known.get, column.labels, itertools.repeat(other))
    codes = np.fromiter(itertools.chain(found, (-1,)), np.int32, len(column.labels) + 1)
    return codes.take(column.codes, mode="wrap")
