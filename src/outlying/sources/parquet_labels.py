"""Texts of few kinds come as numbers: the engine looks them up, which costs a tenth.

Most columns of texts hold a handful of labels, which Parquet keeps in a dictionary. The engine
evaluates a look-up once for each entry of that dictionary, but writes every text out when it makes
an Arrow array of them. So the labels of the first rows are looked up in a list; texts that are not
in it come as they are, beside the numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlying.sources import duckdb as engine
from outlying.sources.local import Field
from outlying.sources.types import arrow_numpy as arrays

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_FIRST_ROWS = 20_000
_MOST_LABELS = 64


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """The expressions that ask for one column, and how its arrays become one."""

    field: Field
    labels: tuple[str, ...] = ()

    @property
    def sql(self) -> list[str]:
        """What to select."""
        if not self.labels:
            return [self.field.sql]
        found = f"list_position([{', '.join(map(engine.quoted, self.labels))}], {self.field.sql})"
        other = f"CASE WHEN {found} IS NULL THEN {self.field.sql} END"
        return [f"CAST({found} - 1 AS UTINYINT)", other]

    def joined(self, arrays: Sequence[Any]) -> Any:
        """Return the column: texts, or a dictionary of them."""
        if not self.labels:
            return arrays[0]
        places, others = arrays
        return _dictionary(places, others, self.labels)


def _dictionary(places: Any, others: Any, labels: tuple[str, ...]) -> Any:
    """Put places in a list, and texts that are not in it, together."""
    import pyarrow
    import pyarrow.compute

    texts = arrays.of_texts(labels).cast(others.type)
    if others.null_count < len(others):
        rest = others.dictionary_encode()
        added = pyarrow.compute.add(rest.indices, len(labels))
        places = pyarrow.compute.coalesce(places.cast(pyarrow.int32()), added)
        texts = pyarrow.concat_arrays([texts, rest.dictionary])
    return pyarrow.DictionaryArray.from_arrays(places, texts)


def frequent(relation: DuckDBPyRelation, fields: Sequence[Field]) -> Mapping[str, tuple[str, ...]]:
    """Find the labels of the columns of texts that seem to have few."""
    import pyarrow

    texts = [field for field in fields if field.type in (pyarrow.string(), pyarrow.large_string())]
    if not texts:
        return {}
    wanted = ", ".join(f"{field.sql} AS c{place}" for place, field in enumerate(texts))
    first = relation.limit(_FIRST_ROWS).project(wanted)
    read = first.to_arrow_table if hasattr(first, "to_arrow_table") else first.fetch_arrow_table
    columns = read().columns
    found = {
        field.name: sorted(set(column.unique().to_pylist()) - {None})
        for field, column in zip(texts, columns, strict=True)
    }
    return {name: tuple(some) for name, some in found.items() if 0 < len(some) <= _MOST_LABELS}
