"""The cells of batches: as they are read or derived, and as a model numbers them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from outlying.search.attributes import Attribute, NumericAttribute
from outlying.search.cells import Numbers as ModelNumbers
from outlying.sources.arrow_types import Field, Numbers
from outlying.sources.passes import Batch
from outlying.stream.profile import OTHER_LABEL
from outlying.table.columns import (
    CategoricalColumn,
    Codes,
    Column,
    Derivation,
    Floats,
    NumericColumn,
    Rows,
)

Label: TypeAlias = str | bool
_MOST = 1e100  # a value, however far off: products of it stay finite


@dataclasses.dataclass(frozen=True, slots=True)
class CodedLabels:
    """The cells of a column of categories in some rows: codes into labels, -1 where missing."""

    codes: Codes
    labels: Sequence[Label]

    def __len__(self) -> int:
        return len(self.codes)


Cells: TypeAlias = Floats | CodedLabels


def codes_of(
    labels: Sequence[Label], codes: Mapping[Label, int], other: int
) -> npt.NDArray[np.int64]:
    """Look up the codes of labels, many at a time; `other` is that of those without one."""
    found = map(codes.get, labels, itertools.repeat(other))
    return np.fromiter(found, dtype=np.int64, count=len(labels))


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColumnReader:
    """How a column is read, be it one that is derived from columns of the table."""

    field: Field
    derivation: Derivation | None = None  # of a derived column, whose parent the field reads
    given: tuple[Field, ...] = ()  # the other columns that it needs

    @classmethod
    def of(cls, derivation: Derivation, fields: Mapping[str, Field]) -> ColumnReader:
        """Return how a derived column is read, given how those of the table are."""
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

    def cells(self, batch: Batch) -> Cells:
        """Return the cells of a batch."""
        if self.derivation is None:
            own = self.field.read(batch.column(self.field.name))
            return own.values if isinstance(own, Numbers) else CodedLabels(own.codes, own.labels)
        read = (self.field, *self.given)
        column = self.derivation.column({own.name: _column(own, batch) for own in read})
        return column.values if column.is_numeric else CodedLabels(column.codes, column.labels)


def _column(field: Field, batch: Batch) -> Column:
    """Return a column of a batch as derived ones are computed from it."""
    array = batch.column(field.name)
    if field.written is not None:
        return field.column(array)
    cells = field.read(array)
    if isinstance(cells, Numbers):
        return NumericColumn(field.name, field.read_as, cells.values)
    labels: Any = tuple(cells.labels)
    return CategoricalColumn(field.name, field.read_as, cells.codes, labels)


def readers_of(attributes: Iterable[Attribute], fields: Iterable[Field]) -> Iterator[ColumnReader]:
    """Return how the column of each attribute is read."""
    known = {field.name: field for field in fields}
    for attribute in attributes:
        column = attribute.column
        if column.origin is None:
            yield ColumnReader(known[column.key])
        else:
            yield ColumnReader.of(column.origin, known)


class Numbering:
    """Numbers the cells of rows that a model need not have seen."""

    def __init__(self, attributes: Iterable[Attribute]) -> None:
        """Take the attributes of the model."""
        self.attributes = tuple(attributes)
        self._codes = [
            {}
            if isinstance(item, NumericAttribute)
            else {label: code for code, label in enumerate(item.categories)}
            for item in self.attributes
        ]

    def of_cells(self, cells: Sequence[Cells]) -> list[ModelNumbers]:
        """Return the numbers of rows, given the cells of each attribute."""
        return [self._numbers(place, own) for place, own in enumerate(cells)]

    def of_columns(self, columns: Sequence[Column], rows: Rows) -> list[ModelNumbers]:
        """Return the numbers of some rows, given the column of each attribute."""
        return self.of_cells(
            [
                own.values[rows] if own.is_numeric else CodedLabels(own.codes[rows], own.labels)
                for own in columns
            ]
        )

    def _numbers(self, place: int, cells: Cells) -> ModelNumbers:
        attribute = self.attributes[place]
        if not isinstance(cells, CodedLabels):
            assert isinstance(attribute, NumericAttribute)  # noqa: S101 - of the same column
            factor, exponent = attribute.factor, attribute.exponent
            values = np.ldexp(cells, -exponent) if factor is None else cells * factor
            return np.clip(values, -_MOST, _MOST) + 0.0  # there is one zero
        known = self._codes[place]
        other = known.get(OTHER_LABEL, len(known))
        codes = np.append(codes_of(cells.labels, known, other), -1)  # type: ignore[arg-type]
        return codes.astype(np.int32).take(cells.codes, mode="wrap")
