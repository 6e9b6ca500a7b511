"""A fitted model as one file: the typed rows that it is made of, from which it is made again.

An Arrow IPC file without compression: nothing in it is executed, and nothing expands. What Arrow
has no words for is a JSON document in the metadata of its schema (docs/pipeline.md).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from outlying.checks import check_whole
from outlying.errors import OptionName, OutlyingError, SourceError
from outlying.options import Options
from outlying.parsing import pa
from outlying.parsing.reading import Reading
from outlying.sources.arrow_arrays import of_numbers
from outlying.table.columns import (
    CategoricalColumn,
    Column,
    NumericColumn,
    WrittenTexts,
    categorical_column,
    frozen,
)
from outlying.table.row_hash import sample_rows
from outlying.table.selection import compared
from outlying.table.table import SkippedColumn, SkipReason, Table
from outlying.table.values import EXPECTS

#: What marks a file as one of ours, and how it is laid out.
MARK, VERSION = b"outlying.model", 1
#: So many rows are kept, of wide tables fewer: so many cells, but so many rows at least.
MOST_ROWS, MOST_CELLS, LEAST_ROWS = 20_000, 2_000_000, 2_048
#: A file of more bytes is none of ours.
MOST_BYTES = 1 << 30
#: What is shown in place of a value, and of labels that few rows have.
WITHHELD, POOLED = "withheld", "(small groups)"
#: Why a column of numbers takes no part.
_NUMBERS = "is withheld: its numbers are not kept, and not compared"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class KeptModel:
    """What is kept of a table: some of its rows, how they are compared, how many there were."""

    table: Table
    options: Options
    total: int
    withheld: Withheld = dataclasses.field(default_factory=lambda: Withheld())

    @classmethod
    def of(cls, table: Table, options: Options, total: int, withheld: Withheld) -> KeptModel:
        """Draw rows of a table that is read as declared, by what they hold; withhold values."""
        most = min(MOST_ROWS, max(LEAST_ROWS, MOST_CELLS // max(1, len(table.columns))))
        if table.rows > most:
            rows = np.sort(sample_rows(compared(table, options), table.rows, most))
            columns = tuple(column.taken(rows) for column in table.columns)
            table = dataclasses.replace(table, columns=columns, rows=len(rows))
        return cls(withheld.pooled(withheld.hashed(table)), options, total, withheld)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of results must know of the rows that new ones are compared with."""
        if self.total == self.table.rows:
            return ()
        return (f"the model keeps {self.table.rows:,} of {self.total:,} rows, drawn at random",)

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        own = self.table
        batch = pa.RecordBatch.from_pydict(dict(_arrays(own)))
        document = {
            "version": VERSION,
            "sum": _checksum(batch),
            "rows": own.rows,
            "total": self.total,
            "columns": [_described(column) for column in own.columns],
            "skipped": [[item.name, item.reason, item.why.name] for item in own.skipped],
            "options": self.options.to_dict(),
            "withheld": dataclasses.asdict(self.withheld),
            "source": own.source,
            "frame_library": own.frame_library,
            "notes": own.notes,
            "index": own.index,
        }
        batch = batch.replace_schema_metadata({MARK: json.dumps(document).encode()})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return bytes(sink.getvalue())

    @classmethod
    def read(cls, path: str | Path) -> KeptModel:
        """Read a file; whatever is wrong with it is said, and nothing in it is trusted."""
        if not is_model(path):
            raise SourceError(
                f"{path}: is not a fitted model; `outlying fit TABLE -o FILE` makes one"
            )
        of_values = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
        faults = (*of_values, OverflowError, OSError, OutlyingError, pa.ArrowException)
        try:
            return cls._of_content(*_content(path))
        except _Newer:
            raise SourceError(
                f"{path}: was written by a newer version of outlying; update outlying, or fit the "
                "model again"
            ) from None
        except faults as error:
            raise SourceError(
                f"{path}: the fitted model is damaged ({type(error).__name__}: {error}); fit it "
                "again"
            ) from None

    @classmethod
    def _of_content(cls, batch: Any, document: Mapping[str, Any]) -> KeptModel:
        _require(document["sum"] == _checksum(batch), "its checksum does not fit")
        rows, total, library = document["rows"], document["total"], document["frame_library"]
        _require(type(rows) is int and type(total) is int, "rows are no numbers")
        _require(2 <= rows == batch.num_rows <= total, "the number of rows does not fit")
        _require(library in ("pandas", "polars"), "an unknown library")
        columns = tuple(_column(place, own, batch) for place, own in enumerate(document["columns"]))
        names = {column.name for column in columns}
        _require(len(names) == len(columns), "two columns have one name")
        skipped = tuple(
            SkippedColumn(_text(name), _text(reason), SkipReason[why])
            for name, reason, why in document["skipped"]
        )
        notes, index = (tuple(map(_text, document[name])) for name in ("notes", "index"))
        table = Table(columns, rows, _text(document["source"]), skipped, notes, library, index)
        options = Options.of(**document["options"])
        return cls(table, options, total, Withheld.read(document["withheld"]))


class _Newer(Exception):  # noqa: N818 - never seen by anyone
    """The file is of a version that this one does not know."""


def is_model(data: object) -> bool:
    """Return whether data is the path of a file that claims to be a fitted model."""
    if not isinstance(data, (str, Path)) or not str(data):
        return False
    try:
        if not Path(data).is_file():  # a pipe is read once, by whoever reads the table
            return False
        with Path(data).open("rb") as stream:
            is_named = str(data).endswith(".outlying")
            return stream.read(6) == b"ARROW1" and (is_named or MARK in stream.read(1 << 20))
    except (OSError, ValueError):
        return False


def _content(path: str | Path) -> tuple[Any, dict[str, Any]]:
    _require(Path(path).stat().st_size <= MOST_BYTES, "it is too large")
    with pa.OSFile(str(path), "rb") as file:  # no memory map: the file may change
        reader = pa.ipc.open_file(pa.BufferReader(file.read()))
    document = json.loads((reader.schema.metadata or {})[MARK])
    _require(isinstance(document, dict) and type(document["version"]) is int, "no version")
    if document["version"] > VERSION:
        raise _Newer
    _require(reader.num_record_batches == 1, "not one batch of rows")
    batch = reader.get_batch(0)
    batch.validate(full=True)  # offsets and indices, too
    return batch, document


def _require(is_right: bool, what: str) -> None:
    if not is_right:
        raise ValueError(what)


def _text(value: Any) -> str:
    _require(isinstance(value, str), "a text is none")
    return str(value)


def _checksum(batch: Any) -> str:
    """Return what tells whether cells were changed by accident."""
    sums = hashlib.blake2b(digest_size=16)
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        sums.update(f"{name} {array.type} {len(array)} {array.null_count}".encode())
        if pa.types.is_dictionary(array.type):
            sums.update("\0".join(array.dictionary.to_pylist()).encode())
            array = array.indices.fill_null(-1)
        sums.update(np.ascontiguousarray(array.to_numpy(zero_copy_only=False)).tobytes())
    return sums.hexdigest()


# --- columns -------------------------------------------------------------------------------------


def _arrays(table: Table) -> Iterator[tuple[str, Any]]:
    """Return the Arrow arrays of a table: by place, as names may be anything."""
    for place, column in enumerate(table.columns):
        if not column.is_numeric:
            yield f"{place}", _dictionary(column)
            continue
        yield f"{place}", of_numbers(np.asarray(column.values, dtype=np.float64))
        if column.exact is not None:
            texts = pa.array(list(map(str, column.exact.tolist())), pa.string())
            yield f"{place}.exact", texts.dictionary_encode()
        if column.written is not None:
            yield f"{place}.texts", _dictionary(column.written.texts)


def _dictionary(column: CategoricalColumn) -> Any:
    labels = pa.array([str(label) for label in column.labels], pa.string())
    codes = np.asarray(column.codes, dtype=np.int32)
    return pa.DictionaryArray.from_arrays(of_numbers(codes, codes < 0), labels)


def _described(column: Column) -> dict[str, Any]:
    found: dict[str, Any] = {"name": column.name, "form": column.form, "kind": "labels"}
    if not column.is_numeric:
        return found | {"are_of_numbers": column.are_of_numbers}
    reading: Any = None if column.written is None else column.written.reading
    written = None if reading is None else dataclasses.asdict(reading)
    return found | {"kind": "numbers", "has_exact": column.exact is not None, "written": written}


def _column(place: int, own: Mapping[str, Any], batch: Any) -> Column:
    name, form, array = _text(own["name"]), own["form"], batch.column(f"{place}")
    _require(form in EXPECTS, "an unknown form of values")
    if own["kind"] == "labels":
        found = _categories(name, form, array)
        return dataclasses.replace(found, are_of_numbers=own["are_of_numbers"] is True)
    _require(own["kind"] == "numbers" and form not in ("text", "boolean"), "an unknown kind")
    _require(array.type == pa.float64() and not array.null_count, "no numbers")
    values = frozen(np.array(array.to_numpy(zero_copy_only=False)))
    _require(not np.isinf(values).any(), "infinite numbers")
    exact, written = None, None
    if own["has_exact"] is True:
        texts = batch.column(f"{place}.exact").to_pylist()
        _require(all(len(text) <= 24 for text in texts), "numbers that are too long")
        exact = frozen(np.array(list(map(int, texts))))
        _require(exact.dtype.kind in "iu", "whole numbers beyond 64 bits")
    if own["written"] is not None:
        cells = _categories(name, "text", batch.column(f"{place}.texts"))
        written = WrittenTexts(cells, _reading(own["written"]))
    return NumericColumn(name, form, values, exact=exact, written=written)


def _categories(name: str, form: Any, array: Any) -> CategoricalColumn:
    _require(array.type == pa.dictionary(pa.int32(), pa.string()), "no labels")
    _require(form in ("text", "boolean"), "an unknown form of labels")
    labels: Any = tuple(array.dictionary.to_pylist())
    _require(all(isinstance(label, str) for label in labels), "a label that is no text")
    if form == "boolean":
        _require(set(labels) <= {"False", "True"}, "labels that are neither true nor false")
        labels = tuple(label == "True" for label in labels)
    _require(labels == tuple(sorted(set(labels))), "labels that are not in order")
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return CategoricalColumn(name, form, frozen(np.array(codes, dtype=np.int32)), labels)


def _reading(own: Mapping[str, Any]) -> Reading:
    """Return how texts are read; each field is of the type that it has by default."""
    usual = Reading("number")
    given = dict(own) | {"affixes": tuple(map(_text, own["affixes"]))}
    for field in dataclasses.fields(Reading):
        kind = type(getattr(usual, field.name))
        _require(type(given[field.name]) is kind, f"a reading whose {field.name} is none")
    _require(given["form"] in EXPECTS, "a reading of an unknown form")
    return Reading(**given)


# --- what is withheld ----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Withheld:
    """Columns whose values are withheld, and from how many rows on a label is kept.

    Labels become keyed hashes. The key is in the file, or new rows could not be judged: whoever has
    it can try guesses.
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
        least = 0 if min_group is None else check_whole(OptionName("min_group"), min_group, 1)
        key = hashlib.blake2b(digest_size=16)
        for column in table.columns if names else ():
            labels, cells = column.content()
            key.update(repr((column.name, labels)).encode(errors="replace") + cells.tobytes())
        return cls(names, least, key.hexdigest() if names else "")

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Withheld:
        """Return what a file says."""
        columns, least, key = tuple(map(_text, given["columns"])), given["min_group"], given["key"]
        _require(type(least) is int, "a least number of rows that is none")
        return cls(columns, least, _text(key))

    def hashed(self, table: Table, base: Table | None = None) -> Table:
        """Return a table with hashes for labels, as the base has them, and without numbers."""
        if not self.columns:
            return table
        labelled = set() if base is None else set(base.names)
        kept, skipped = list[Column](), list(table.skipped)
        for column in table.columns:
            if column.name in self.columns:
                column = column.retyped("categorical") if column.name in labelled else column
                if column.is_numeric:
                    skipped.append(SkippedColumn(column.name, _NUMBERS, SkipReason.OTHER_USE))
                    continue
                column = _relabelled(column, self._hash, are_of_numbers=True)  # without parts
            kept.append(column)
        notes = (f"values of {', '.join(map(repr, self.columns))} are withheld",)
        given = {"columns": tuple(kept), "skipped": tuple(skipped), "notes": notes}
        return dataclasses.replace(table, **given)  # type: ignore[arg-type]

    def pooled(self, table: Table, base: Table | None = None) -> Table:
        """Return a table with one label for those that few of its rows have, or of the base's."""
        known = {} if base is None else {column.name: column for column in base.columns}
        columns = []
        for column in table.columns if self.min_group else ():
            if not column.is_numeric and column.form == "text":
                rare = self._rare(column, known.get(column.name))
                column = _relabelled(column, lambda own, rare=rare: POOLED if own in rare else own)  # type: ignore[misc]
            columns.append(column)
        return dataclasses.replace(table, columns=tuple(columns)) if columns else table

    def _rare(self, column: CategoricalColumn, base: Column | None) -> set[object]:
        if base is None:
            counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels))
            return {column.labels[place] for place in np.flatnonzero(counts < self.min_group)}
        if base.is_numeric or POOLED not in base.labels:
            return set()
        return set(column.labels).difference(base.labels)

    def of_object(self, values: Mapping[str, Any], base: Table) -> dict[str, Any]:
        """Withhold values of a new object, which is to be compared with the base."""
        columns = {column.name: column for column in base.columns}
        found = {}
        for name, value in values.items():
            column = columns.get(name)
            if column is None and name in self.columns:
                continue
            if column is not None and not column.is_numeric and isinstance(value, str):
                value = self._hash(value) if name in self.columns else value
                value = POOLED if POOLED in column.labels and value not in column.labels else value
            found[name] = value
        return found

    def _hash(self, label: str) -> str:
        if label.startswith(f"{WITHHELD} ") or label == POOLED:
            return label
        code = hashlib.blake2b(label.encode(errors="replace"), key=self.key.encode(), digest_size=6)
        return f"{WITHHELD} {code.hexdigest()}"


def _relabelled(
    column: CategoricalColumn, label: Callable[[str], str], *, are_of_numbers: bool | None = None
) -> CategoricalColumn:
    """Return a column with other labels, some of which may become one."""
    labels = [label(str(own)) for own in column.labels]
    cells = [None if code < 0 else labels[code] for code in column.codes.tolist()]
    as_before = column.are_of_numbers if are_of_numbers is None else are_of_numbers
    return categorical_column(column.name, cells, are_of_numbers=as_before)
