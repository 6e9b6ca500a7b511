"""A fitted model as one file: the typed rows that it is made of, from which it is made again.

It is an Arrow IPC file without compression: nothing in it is executed, and nothing expands. What
Arrow has no words for is a JSON document in the metadata of its schema (docs/pipeline.md).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from outlying.errors import OutlyingError, SourceError
from outlying.fitted.withheld import Withheld
from outlying.options import Options
from outlying.parsing.reading import Reading
from outlying.sources.arrow_arrays import arrow, of_numbers
from outlying.table.columns import (
    CategoricalColumn,
    Column,
    NumericColumn,
    WrittenTexts,
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
#: Fields of a table beside its columns.
_TEXTS = ("source", "frame_library")
_LISTS = ("notes", "index")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What is kept of a table: some of its rows, how they are compared, how many there were."""

    table: Table
    options: Options
    total: int
    withheld: Withheld = dataclasses.field(default_factory=Withheld)

    @classmethod
    def of(cls, table: Table, options: Options, total: int, withheld: Withheld) -> Fitted:
        """Draw rows of a table that is read as declared, by what they hold; withhold values."""
        width = max(1, len(table.columns))
        most = min(MOST_ROWS, max(LEAST_ROWS, MOST_CELLS // width))
        if table.rows > most:
            rows = np.sort(sample_rows(compared(table, options), table.rows, most))
            columns = tuple(column.taken(rows) for column in table.columns)
            table = dataclasses.replace(table, columns=columns, rows=len(rows))
        return cls(withheld.of_base(table), options, total, withheld)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of results must know of the rows that new ones are compared with."""
        if self.total == self.table.rows:
            return ()
        return (f"the model keeps {self.table.rows:,} of {self.total:,} rows, drawn at random",)

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        pa = arrow()
        arrays = dict(_arrays(self.table))
        batch = pa.record_batch(list(arrays.values()), names=list(arrays))
        document = json.dumps(self._document() | {"sum": _checksum(batch)}).encode()
        sink = pa.BufferOutputStream()
        schema = batch.schema.with_metadata({MARK: document})
        with pa.ipc.new_file(sink, schema) as writer:
            writer.write_batch(batch.replace_schema_metadata({MARK: document}))
        return bytes(sink.getvalue())

    def _document(self) -> dict[str, Any]:
        own = self.table
        return {
            "version": VERSION,
            "rows": own.rows,
            "total": self.total,
            "columns": [_described(column) for column in own.columns],
            "skipped": [[item.name, item.reason, item.why.name] for item in own.skipped],
            "options": self.options.to_dict(),
            "withheld": dataclasses.asdict(self.withheld),
            **{name: getattr(own, name) for name in (*_TEXTS, *_LISTS)},
        }

    @classmethod
    def read(cls, path: str | Path) -> Fitted:
        """Read a file; whatever is wrong with it is said, and nothing in it is trusted."""
        if not is_model(path):
            raise SourceError(f"{path}: is no fitted model; `outlying fit TABLE -o FILE` makes one")
        try:
            if Path(path).stat().st_size > MOST_BYTES:
                raise ValueError("it is too large")
            batch, document = _content(path)
            if document["version"] > VERSION:
                raise _Newer
            return cls._of_content(batch, document)
        except _Newer:
            raise SourceError(
                f"{path}: was written by a newer version of outlying; update outlying, or fit the "
                "model again"
            ) from None
        except _faults() as error:
            raise SourceError(
                f"{path}: the fitted model is damaged ({type(error).__name__}: {error}); fit it "
                "again"
            ) from None

    @classmethod
    def _of_content(cls, batch: Any, document: Mapping[str, Any]) -> Fitted:
        _require(document["sum"] == _checksum(batch), "its checksum does not fit")
        rows, total = document["rows"], document["total"]
        _require(type(rows) is int and type(total) is int, "rows are no numbers")
        _require(2 <= rows == batch.num_rows <= total, "the number of rows does not fit")
        columns = tuple(_column(place, own, batch) for place, own in enumerate(document["columns"]))
        names = [column.name for column in columns]
        _require(len(set(names)) == len(names), "two columns have one name")
        skipped = tuple(
            SkippedColumn(_text(name), _text(reason), SkipReason[why])
            for name, reason, why in document["skipped"]
        )
        lists: dict[str, Any] = {name: tuple(map(_text, document[name])) for name in _LISTS}
        texts: dict[str, Any] = {name: _text(document[name]) for name in _TEXTS}
        _require(texts["frame_library"] in ("pandas", "polars"), "an unknown library")
        table = Table(columns, rows, skipped=skipped, **texts, **lists)
        return cls(
            table, Options.of(**document["options"]), total, Withheld.read(document["withheld"])
        )


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


def _faults() -> tuple[type[BaseException], ...]:
    """Return whatever reading forged content may raise."""
    of_values = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)
    return (*of_values, OSError, OutlyingError, arrow().ArrowException)


def _content(path: str | Path) -> tuple[Any, dict[str, Any]]:
    pa = arrow()
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
        if arrow().types.is_dictionary(array.type):
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
            yield f"{place}.exact", _dictionary_of_texts(list(map(str, column.exact.tolist())))
        if column.written is not None:
            yield f"{place}.texts", _dictionary(column.written.texts)


def _dictionary(column: CategoricalColumn) -> Any:
    pa = arrow()
    labels = pa.array([str(label) for label in column.labels], pa.string())
    codes = np.asarray(column.codes, dtype=np.int32)
    indices = of_numbers(codes, codes < 0)
    return pa.DictionaryArray.from_arrays(indices, labels)


def _dictionary_of_texts(texts: list[str]) -> Any:
    return arrow().array(texts, arrow().string()).dictionary_encode()


def _described(column: Column) -> dict[str, Any]:
    found: dict[str, Any] = {"name": column.name, "form": column.form, "kind": "labels"}
    if not column.is_numeric:
        return found | {"are_of_numbers": column.are_of_numbers}
    found |= {"kind": "numbers", "has_exact": column.exact is not None, "written": None}
    if column.written is not None:
        reading = column.written.reading
        assert isinstance(reading, Reading)  # noqa: S101 - the only kind there is
        found["written"] = dataclasses.asdict(reading)
    return found


def _column(place: int, own: Mapping[str, Any], batch: Any) -> Column:
    name, form, array = _text(own["name"]), own["form"], batch.column(f"{place}")
    _require(form in EXPECTS, "an unknown form of values")
    if own["kind"] == "labels":
        found = _categories(name, form, array)
        return dataclasses.replace(found, are_of_numbers=own["are_of_numbers"] is True)
    _require(own["kind"] == "numbers" and form not in ("text", "boolean"), "an unknown kind")
    _require(array.type == arrow().float64() and not array.null_count, "no numbers")
    values = frozen(np.array(array.to_numpy(zero_copy_only=False)))
    _require(not np.isinf(values).any(), "infinite numbers")
    column = NumericColumn(name, form, values)
    if own["has_exact"] is True:
        texts = batch.column(f"{place}.exact").to_pylist()
        _require(all(len(text) <= 24 for text in texts), "numbers that are too long")
        whole = np.array(list(map(int, texts)))
        _require(whole.dtype.kind in "iu", "whole numbers beyond 64 bits")
        column = dataclasses.replace(column, exact=frozen(whole))
    if own["written"] is not None:
        texts = _categories(name, "text", batch.column(f"{place}.texts"))
        column = dataclasses.replace(column, written=WrittenTexts(texts, _reading(own["written"])))
    return column


def _categories(name: str, form: Any, array: Any) -> CategoricalColumn:
    pa = arrow()
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
