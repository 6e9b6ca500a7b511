"""What a pass over a table is, and who feeds it: neither knows more of the other than this.

A pass is a plan that turns batches of rows into a state. States of parts of a table are merged in
any order and give the same result, here or on a cluster. Plans and states can be pickled.
"""

from __future__ import annotations

import _thread
import abc
import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from queue import SimpleQueue
from typing import Protocol, TypeAlias, TypeVar, cast

from outlying.errors import ColumnError, RowAt, SourceError, unknown_name
from outlying.parallel import usable_workers
from outlying.parsing import pa
from outlying.parsing.plain import ALL, TEXT, PlainTally, PlainType, TallyPass, decide, notes_of
from outlying.sources.arrow_arrays import as_type, is_plain_text, standard_type, unusable
from outlying.sources.columns import RawColumn, skipped, table_of, unique_names
from outlying.sources.recognise import Explain, translate_errors, unreadable
from outlying.table.table import FrameLibrary, SkippedColumn, Table

Batch: TypeAlias = "pa.RecordBatch"
Progress: TypeAlias = Callable[[int, int], None]  # rows done, of how many; 0: nobody knows

State = TypeVar("State")


class Pass(Protocol[State]):
    """One pass over all rows."""

    def start(self) -> State:
        """Return the state of no rows."""

    def add(self, state: State, batch: Batch) -> State:
        """Take in a batch of rows; the given state may be changed and must not be used again."""

    def merge(self, state: State, other: State) -> State:
        """Put the states of two parts of the table together; neither must be used again."""


Batches: TypeAlias = Callable[[Sequence[str]], Iterable[Batch]]

BATCH_ROWS = 131_072  # enough that the cost of a batch does not count, and few enough to stay small


def fold(
    batches: Iterable[Batch],
    work: Pass[State],
    workers: int | None = None,
    progress: Progress | None = None,
    total: int = 0,
) -> State:
    """Run a pass over batches that this thread reads and others take in, each into its own state.

    Whatever is raised, by the reader, by the pass or by Ctrl-C, stops all and is raised again;
    no thread is left behind. `progress` is told in this thread how many rows were handed out.

    This thread waits for queues in C only: an interrupt in Python's own locks, those of `threading`
    and `concurrent.futures`, would leave them locked, and a thread waiting for ever.
    """
    count, rows = usable_workers(workers), 0
    states: list[State | None] = [None] * count
    given: SimpleQueue[Batch | None] = SimpleQueue()
    idle: SimpleQueue[BaseException | None] = SimpleQueue()  # from each thread, or what it raised
    ended: SimpleQueue[int] = SimpleQueue()

    def take_in(place: int) -> None:
        try:
            states[place] = work.start()
            idle.put(None)
            while (batch := given.get()) is not None:
                states[place] = work.add(cast(State, states[place]), batch)
                idle.put(None)
        except BaseException as error:
            idle.put(error)
        finally:
            given.put(None)  # for the next thread
            ended.put(place)

    started = 0
    try:
        for place in range(count):
            _thread.start_new_thread(take_in, (place,))
            started = place + 1
        for batch in batches:
            _raise(idle.get())
            given.put(batch)
            rows += batch.num_rows
            if progress is not None:
                progress(rows, total)
    finally:
        given.put(None)
        for _ in range(started):
            ended.get()
    while not idle.empty():
        _raise(idle.get())
    return functools.reduce(work.merge, cast(list[State], states))


def _raise(error: BaseException | None) -> None:
    if error is not None:
        raise error


@dataclasses.dataclass(frozen=True, slots=True)
class SourceField:
    """A column that can be read: how to ask for it, what comes, and what is made of that."""

    name: str
    sql: str  # whatever asks the engine for the column; nothing but the engine's feeder reads it
    comes: pa.DataType
    type: pa.DataType
    reads: PlainType | None = None  # how texts are typed that come without a type


@dataclasses.dataclass(frozen=True, slots=True)
class SourceShape:
    """What a table looks like from outside, found once."""

    fields: tuple[SourceField, ...]
    skipped: tuple[SkippedColumn, ...] = ()
    notes: tuple[str, ...] = ()


class Feeder(abc.ABC):
    """A table that is read as a stream of batches, in no particular order."""

    frame_library: FrameLibrary = "pandas"  # whose dataframes the user works with
    knows_types: bool | None = None  # None: a table that holds nothing but texts has no types
    commas = False  # whether a comma may divide off decimals

    def __init__(self, source: str) -> None:
        """Feed from what results call `source`."""
        self.source = source
        self.scans = 0  # how often passes have read the rows
        self._rows = 0  # found by the last scan

    @abc.abstractmethod
    def _inspect(self) -> SourceShape:
        """Look at the table."""

    def _read(self, fields: Sequence[SourceField]) -> Generator[Batch, None, None]:
        """Read batches with these fields in this order, their names left to the caller."""
        raise NotImplementedError  # by who has passes run elsewhere

    def _total(self) -> int:
        """Say how many rows there are; 0: nobody knows before the first scan."""
        return self._rows

    def _scan(
        self,
        work: Pass[State],
        fields: Sequence[SourceField],
        progress: Progress | None = None,
        workers: int | None = None,
    ) -> State:
        """Run a pass over all rows of columns, typed or as they come."""
        with contextlib.closing(self._counted(fields)) as batches:
            return fold(batches, work, workers, progress, self._total())

    @functools.cached_property
    def raw_shape(self) -> SourceShape:
        """The columns as they come, looked at once; a table without usable ones is refused."""
        shape = self._inspect()
        if not shape.fields:
            reasons = "; ".join(f"{column.name!r} {column.reason}" for column in shape.skipped[:5])
            what = f"no column can be used: {reasons}" if reasons else "there are no columns"
            raise SourceError(f"{self.source}: {what}")
        return shape

    @property
    def has_types(self) -> bool:
        """Whether any column has a type."""
        if self.knows_types is not None:
            return self.knows_types
        return not all(is_plain_text(field.type) for field in self.raw_shape.fields)

    @functools.cached_property
    def shape(self) -> SourceShape:
        """The columns with their types; where there are none, one scan finds them."""
        shape = self.raw_shape
        if self.has_types:
            return shape
        return self._typed(shape, [f for f in shape.fields if is_plain_text(f.type)], ALL)

    def _typed(
        self, shape: SourceShape, texts: Sequence[SourceField], kinds: Sequence[str]
    ) -> SourceShape:
        """Return the shape with types for some columns of texts, found by one scan."""
        tallies = self._scan(TallyPass(), texts) or [PlainTally() for _ in texts]
        found = decide(tallies, kinds, commas=self.commas)
        typed = {
            field.name: dataclasses.replace(field, type=kind.arrow, reads=kind)
            for field, kind in zip(texts, found, strict=True)
            if kind.kind != TEXT.kind
        }
        fields = tuple(typed.get(field.name, field) for field in shape.fields)
        notes = (*shape.notes, *notes_of([field.name for field in texts], found))
        return SourceShape(fields, shape.skipped, notes)

    @property
    def skipped(self) -> tuple[SkippedColumn, ...]:
        """The columns that cannot be used, with the reason."""
        return self.shape.skipped

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of results should know about how the table was read."""
        return self.shape.notes

    def schema(self) -> pa.Schema:
        """Return the names of usable columns and their types; texts may come as dictionaries."""
        return pa.schema([(field.name, field.type) for field in self.shape.fields])

    def fold(
        self,
        work: Pass[State],
        columns: Sequence[str],
        progress: Progress | None = None,
        workers: int | None = None,
    ) -> State:
        """Run a pass over all rows, of which only these columns are read; one scan."""
        known = {field.name: field for field in self.shape.fields}
        for name in columns:
            if name not in known:
                raise ColumnError(f"{self.source}: {unknown_name('column', name, known)}")
        self.scans += 1
        return self._scan(work, [known[name] for name in columns], progress, workers)

    def collect(self, most_rows: float = math.inf, progress: Progress | None = None) -> list[Batch]:
        """Return all batches as they come, in their order; by one scan."""
        self.scans += 1
        work = Collect(self.source, most_rows)
        return self._scan(work, self.raw_shape.fields, progress, 1)

    def _counted(self, fields: Sequence[SourceField]) -> Generator[Batch, None, None]:
        """Read batches as the schema promises; what comes must be what was seen."""
        rows = 0
        with contextlib.closing(self._read(fields)) as batches:
            for batch in batches:
                rows += batch.num_rows
                arrays = []
                for field, array in zip(fields, batch.columns, strict=bool(fields)):
                    if array.type != field.comes and not pa.types.is_dictionary(array.type):
                        how = f"column {field.name!r} is now of type {array.type}"
                        raise changed(self.source, how)
                    reads = field.reads
                    arrays.append(reads.read(array) if reads else as_type(array, field.type))
                names = [field.name for field in fields]
                yield pa.RecordBatch.from_arrays(arrays, names) if fields else batch.select([])
        self._rows = rows


def check_batch(source: str, batch: Batch, names: Sequence[str], first_row: int) -> None:
    """Refuse a batch that is damaged; of texts that are not UTF-8, say in which row."""
    try:
        batch.validate(full=True)  # or else its bytes are taken as they are
    except pa.ArrowInvalid:
        for name, column in zip(names, batch.columns, strict=True):
            for row, text in enumerate(_bytes_of(column), start=first_row):
                try:
                    (text or b"").decode()
                except UnicodeDecodeError as error:
                    raise SourceError(
                        f"{source}: column {name!r} holds text that is not UTF-8 in ",
                        RowAt(row),
                        f" (byte 0x{error.object[error.start]:02x}); write it as UTF-8 there, or "
                        "leave the column out",
                    ) from None
        raise


def _bytes_of(column: pa.Array) -> list[bytes | None]:
    """Return texts as they are written, nothing of other columns; Arrow says what more is wrong."""
    is_coded = pa.types.is_dictionary(column.type)
    texts = column.dictionary if is_coded else column
    kinds = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    if texts.type not in kinds:
        return []
    texts = texts.view(kinds[texts.type])
    texts.validate(full=True)
    if is_coded:
        column.indices.validate(full=True)
        texts = pa.DictionaryArray.from_arrays(column.indices, texts).dictionary_decode()
    found: list[bytes | None] = texts.to_pylist()
    return found


def shape_of(
    source: str,
    kinds: Mapping[str, pa.DataType | str] | pa.Schema,
    asks: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> SourceShape:
    """Describe columns by what comes, or why it cannot be used; `asks` are SQL, if not names."""
    if not isinstance(kinds, Mapping):
        kinds = dict(zip(unique_names(source, kinds.names), kinds.types, strict=True))
    reasons = {n: kind if isinstance(kind, str) else unusable(kind) for n, kind in kinds.items()}
    fields = [
        SourceField(name, asks[name] if asks else name, kind, standard_type(kind))
        for name, kind in kinds.items()
        if reasons[name] is None
    ]
    unused = [skipped(name, what) for name, what in reasons.items() if what is not None]
    return SourceShape(tuple(fields), tuple(unused), tuple(notes))


class BatchFeeder(Feeder):
    """A table that some library brings as batches of Arrow, as often as it is asked to."""

    def __init__(
        self,
        source: str,
        schema: Callable[[], pa.Schema | Mapping[str, pa.DataType | str]],
        batches: Batches,
        explain: Explain = unreadable,
    ) -> None:
        """Feed what `batches` brings of some columns; `explain` makes its errors ours."""
        super().__init__(source)
        self._schema, self._batches, self._explain = schema, batches, explain

    def _inspect(self) -> SourceShape:
        with translate_errors(self.source, explain=self._explain):
            return shape_of(self.source, self._schema())

    def _read(self, fields: Sequence[SourceField]) -> Generator[Batch, None, None]:
        names = [field.name for field in fields or self.raw_shape.fields[:1]]
        with translate_errors(self.source, explain=self._explain):
            rows = 0
            for batch in self._batches(names):
                yield from pieces(self.source, batch.select(names), rows)
                rows += batch.num_rows


def pieces(source: str, batch: Batch, first_row: int) -> Generator[Batch, None, None]:
    """Check a batch, whose bytes are taken as they are, and cut it into some not too large."""
    check_batch(source, batch, batch.schema.names, first_row)
    for start in range(0, batch.num_rows, BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)


def completed(batch: Batch, fields: Sequence[SourceField], keys: Mapping[str, pa.Scalar]) -> Batch:
    """Return a batch with columns that its folder gives, and gaps for those of other files."""
    arrays = []
    for field in fields:
        if field.name in keys:
            arrays.append(pa.repeat(keys[field.name], batch.num_rows))
        elif field.name not in batch.schema.names:
            arrays.append(pa.nulls(batch.num_rows, field.comes))
        else:
            arrays.append(as_type(batch.column(field.name), field.comes))
    names = [field.name for field in fields]
    return pa.RecordBatch.from_arrays(arrays, names) if fields else batch


class TooManyRowsError(SourceError):
    """A stream has more rows than were wanted."""


@dataclasses.dataclass(frozen=True, slots=True)
class Collect:
    """A pass that keeps all batches, up to a number of rows."""

    source: str = ""
    most_rows: float = math.inf

    def start(self) -> list[Batch]:
        """Return no batches."""
        return []

    def add(self, state: list[Batch], batch: Batch) -> list[Batch]:
        """Keep a batch."""
        state.append(batch)
        if sum(item.num_rows for item in state) > self.most_rows:
            raise TooManyRowsError(f"{self.source} has more than {self.most_rows:,} rows")
        return state

    def merge(self, state: list[Batch], other: list[Batch]) -> list[Batch]:
        """Put the batches of two parts of the table together."""
        return [*state, *other]


def collected(
    feeder: Feeder, most_rows: float = math.inf, progress: Progress | None = None
) -> Table:
    """Read all rows of a stream into memory, in the order they come, by one scan."""
    shape, knows_types = feeder.raw_shape, feeder.has_types
    batches = feeder.collect(most_rows, progress)
    parts = [[batch.column(place) for batch in batches] for place in range(len(shape.fields))]
    del batches
    columns: dict[str, RawColumn | str] = {}
    for field in shape.fields:
        arrays = parts.pop(0)
        # texts may come as dictionaries, or not; those of which nothing is known are written out
        if len({array.type for array in arrays}) > 1 or not knows_types:
            arrays = [array.cast(field.comes) for array in arrays]
        kind = arrays[0].type if arrays else field.comes
        columns[field.name] = RawColumn(pa.chunked_array(arrays, kind))
    return table_of(
        feeder.source,
        columns,
        shape.notes,
        feeder.frame_library,
        left_out=shape.skipped,
        knows_types=knows_types,
        commas=feeder.commas,
    )


def changed(source: str, how: str) -> SourceError:
    """Make the error of a table that is no longer what it was when it was first looked at."""
    return SourceError(
        f"{source}: has changed since it was first looked at: {how}; start again, and let nobody "
        "write to it meanwhile"
    )
