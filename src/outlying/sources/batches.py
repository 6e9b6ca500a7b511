"""Batches of Arrow, whoever brings them: checked, cut to size, fed to passes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from outlying.errors import RowAt, SourceError
from outlying.sources.arrow_types import standard_type, unusable
from outlying.sources.columns import skipped, unique_names
from outlying.sources.faults import Explain, translate_errors, unreadable
from outlying.sources.local import BATCH_ROWS, Field, LocalFeeder, Shape
from outlying.sources.passes import Batch
from outlying.table.table import SkippedColumn

if TYPE_CHECKING:
    import pyarrow

Batches: TypeAlias = Callable[[Sequence[str]], Iterable[Batch]]


def check_batch(source: str, batch: Batch, names: Sequence[str], first_row: int) -> None:
    """Refuse a batch that is damaged; of texts that are not UTF-8, say in which row.

    Its rows are counted on from the first one.
    """
    import pyarrow

    try:
        batch.validate(full=True)  # or else its bytes are taken as they are
    except pyarrow.ArrowInvalid:
        for name, column in zip(names, batch.columns, strict=True):
            for row, text in enumerate(_bytes_of(column), start=first_row):
                _check_utf8(source, name, row, text)
        raise


def _bytes_of(column: pyarrow.Array) -> list[bytes | None]:
    """Return texts as they are written; nothing of other columns.

    Where more than the encoding is wrong, Arrow's error says so: places outside are never read.
    """
    import pyarrow

    is_coded = pyarrow.types.is_dictionary(column.type)
    texts = column.dictionary if is_coded else column
    kinds = {pyarrow.string(): pyarrow.binary(), pyarrow.large_string(): pyarrow.large_binary()}
    if texts.type not in kinds:
        return []
    texts = texts.view(kinds[texts.type])
    texts.validate(full=True)
    if is_coded:
        column.indices.validate(full=True)
        texts = pyarrow.DictionaryArray.from_arrays(column.indices, texts).dictionary_decode()
    found: list[bytes | None] = texts.to_pylist()
    return found


def _check_utf8(source: str, name: str, row: int, text: bytes | None) -> None:
    try:
        (text or b"").decode()
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{source}: column {name!r} holds text that is not UTF-8 in ",
            RowAt(row),
            f" (byte 0x{error.object[error.start]:02x}); write it as UTF-8 there, or leave the "
            "column out",
        ) from None


def usable(source: str, schema: pyarrow.Schema) -> tuple[list[str], list[SkippedColumn]]:
    """Return the names of columns that can be used, and why others cannot."""
    unique_names(source, schema.names)
    reasons = {field.name: unusable(field.type) for field in schema}
    names = [name for name, what in reasons.items() if what is None]
    return names, [skipped(name, what) for name, what in reasons.items() if what is not None]


class BatchFeeder(LocalFeeder):
    """A table that some library brings as batches of Arrow, as often as it is asked to."""

    def __init__(
        self,
        source: str,
        schema: Callable[[], pyarrow.Schema],
        batches: Batches,
        explain: Explain = unreadable,
    ) -> None:
        """Feed what `batches` brings of some columns; `explain` makes its errors ours."""
        super().__init__(source)
        self._schema, self._batches, self._explain = schema, batches, explain

    def _inspect(self) -> Shape:
        with translate_errors(self.source, explain=self._explain):
            schema = self._schema()
            names, unused = usable(self.source, schema)
        return Shape(fields_of(schema, names), tuple(unused))

    def _read(self, fields: Sequence[Field]) -> Generator[Batch, None, None]:
        names = [field.name for field in fields or self.raw_shape.fields[:1]]
        with translate_errors(self.source, explain=self._explain):
            rows = 0
            for batch in self._batches(names):
                yield from pieces(self.source, batch.select(names), rows)
                rows += batch.num_rows


def fields_of(schema: Any, names: Sequence[str]) -> tuple[Field, ...]:
    """Describe columns that come as they are."""
    kinds = {name: schema.field(name).type for name in names}
    return tuple(Field(name, name, kind, standard_type(kind)) for name, kind in kinds.items())


def pieces(source: str, batch: Batch, first_row: int) -> Generator[Batch, None, None]:
    """Check a batch, whose bytes are taken as they are, and cut it into some not too large."""
    check_batch(source, batch, batch.schema.names, first_row)
    for start in range(0, batch.num_rows, BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)
