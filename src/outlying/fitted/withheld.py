"""What is withheld of a table: values of some columns, and labels of small groups."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from outlying.checks import check_whole
from outlying.table.columns import CategoricalColumn, Column, categorical_column
from outlying.table.table import SkippedColumn, SkipReason, Table

#: What is shown in place of a value, and of labels that few rows have.
WITHHELD, POOLED = "withheld", "(small groups)"
#: Why a column of numbers takes no part.
_NUMBERS = "is withheld: its numbers are not kept, and not compared"


@dataclasses.dataclass(frozen=True, slots=True)
class Withheld:
    """Columns whose values are withheld, and from how many rows on a label is kept.

    Labels become keyed hashes, so that rows of one label are still of one label. The key is in the
    file, or new rows could not be judged: whoever has it can try guesses.
    """

    columns: tuple[str, ...] = ()
    min_group: int = 0
    key: str = ""

    @classmethod
    def of(
        cls, table: Table, columns: Sequence[str] = (), min_group: int | None = None
    ) -> Withheld:
        """Check what is to be withheld of a table; its content gives the key."""
        names = tuple(sorted({table.column(name).name for name in columns}))
        least = 0 if min_group is None else check_whole("min_group", min_group, 1)
        key = hashlib.blake2b(digest_size=16)
        for column in table.columns if names else ():
            labels, cells = column.content()
            key.update(repr((column.name, labels)).encode(errors="replace") + cells.tobytes())
        return cls(names, least, key.hexdigest() if names else "")

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Withheld:
        """Return what a file says."""
        columns, least, key = tuple(given["columns"]), given["min_group"], given["key"]
        if not all(isinstance(item, str) for item in (*columns, key)) or type(least) is not int:
            raise ValueError("what is withheld is no list of columns")
        return cls(columns, least, key)

    def of_base(self, table: Table) -> Table:
        """Withhold values of the table that a model is made of."""
        return self.pooled(self.hashed(table), None)

    def hashed(self, table: Table, base: Table | None = None) -> Table:
        """Return a table with hashes for labels, and without numbers, of some columns.

        New rows hold numbers where the base has labels if all of them happen to be digits.
        """
        if not self.columns:
            return table
        labelled = set() if base is None else set(base.names)
        kept, skipped = list[Column](), list(table.skipped)
        for column in table.columns:
            if column.name in self.columns and column.name in labelled:
                column = column.retyped("categorical")
            if column.name in self.columns and column.is_numeric:
                skipped.append(SkippedColumn(column.name, _NUMBERS, SkipReason.OTHER_USE))
                continue
            if not column.is_numeric and column.name in self.columns:
                column = self._hashed(column)
            kept.append(column)
        notes = (f"values of {', '.join(map(repr, self.columns))} are withheld",)
        columns = tuple(kept)
        return dataclasses.replace(table, columns=columns, skipped=tuple(skipped), notes=notes)

    def of_object(self, values: Mapping[str, Any], base: Table) -> dict[str, Any]:
        """Withhold values of a new object, which is to be compared with the base."""
        found = dict(values)
        for column in base.columns:
            label = found.get(column.name)
            if column.is_numeric or not isinstance(label, str):
                continue
            if column.name in self.columns:
                found[column.name] = label = self._hash(label)
            if POOLED in column.labels and label not in column.labels:
                found[column.name] = POOLED
        return {
            name: found[name] for name in found if name in base.names or name not in self.columns
        }

    def pooled(self, table: Table, base: Table | None) -> Table:
        """Return a table with one label for those that few rows of the base have."""
        if not self.min_group:
            return table
        known = {} if base is None else {column.name: column for column in base.columns}
        columns = tuple(
            column
            if column.is_numeric or column.form != "text"
            else self._pooled(column, known.get(column.name))
            for column in table.columns
        )
        return dataclasses.replace(table, columns=columns)

    def _hashed(self, column: CategoricalColumn) -> CategoricalColumn:
        """Return a column with hashes for labels, from which no part is derived."""
        labels = [self._hash(str(label)) for label in column.labels]
        cells = [None if code < 0 else labels[code] for code in column.codes.tolist()]
        return categorical_column(column.name, cells, are_of_numbers=True)

    def _hash(self, label: str) -> str:
        if label.startswith(f"{WITHHELD} ") or label == POOLED:
            return label
        code = hashlib.blake2b(label.encode(errors="replace"), key=self.key.encode(), digest_size=6)
        return f"{WITHHELD} {code.hexdigest()}"

    def _pooled(self, column: CategoricalColumn, base: Column | None) -> CategoricalColumn:
        """Return a column with one label in place of those that few rows of the base have."""
        if base is None:
            known = column.codes[column.codes >= 0]
            counts = np.bincount(known, minlength=len(column.labels))
            rare = {
                k for k, n in zip(column.labels, counts.tolist(), strict=True) if n < self.min_group
            }
        elif base.is_numeric or POOLED not in base.labels:
            return column
        else:
            rare = set(column.labels).difference(base.labels)
        if not rare:
            return column
        labels = [POOLED if label in rare else label for label in column.labels]
        cells = [None if code < 0 else labels[code] for code in column.codes.tolist()]
        return categorical_column(column.name, cells, are_of_numbers=column.are_of_numbers)
