"""Rows as a model knows them: numbers on the scales of its attributes, codes of its categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from outlying.search.attributes import Attribute, NumericAttribute
from outlying.search.cells import Numbers
from outlying.stream.contexts import Cells, CodedLabels, codes_of
from outlying.stream.profile import OTHER_LABEL
from outlying.table.columns import Column, Rows

_MOST = 1e100  # a value, however far off: products of it stay finite


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

    def of_cells(self, cells: Sequence[Cells]) -> list[Numbers]:
        """Return the numbers of rows, given the cells of each attribute."""
        return [self._numbers(place, own) for place, own in enumerate(cells)]

    def of_columns(self, columns: Sequence[Column], rows: Rows) -> list[Numbers]:
        """Return the numbers of some rows, given the column of each attribute."""
        return self.of_cells([_cells(column, rows) for column in columns])

    def _numbers(self, place: int, cells: Cells) -> Numbers:
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


def _cells(column: Column, rows: Rows) -> Cells:
    if column.is_numeric:
        return column.values[rows]
    return CodedLabels(column.codes[rows], column.labels)
