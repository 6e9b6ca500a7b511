"""The sources there are: how each is recognised, and who reads it into memory or streams it.

A new file format is a module and a line in FORMATS, a new source a module and a line in SOURCES;
modules are imported when they are needed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import re
import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from outlying.checks import check_choice, check_names
from outlying.errors import OptionError, OutlyingError, Setting, SourceError, shown
from outlying.options import Engine
from outlying.sources import copies, recognise
from outlying.sources.copies import PrivateCopy, materialize
from outlying.sources.recognise import Test, name_of, package_of
from outlying.table.table import Table

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder

_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{")

LARGE = 1 << 30  # a file of more bytes is streamed unless told otherwise


@dataclasses.dataclass(frozen=True, slots=True)
class Format:
    """A file format: how names of its files end, and the modules that read it.

    `read` names the module with `read(file: InputFile) -> Table`, `stream` the one with
    `stream(files: Files) -> Feeder`. `takes` names the options of both.
    """

    name: str
    endings: tuple[str, ...]
    read: str
    stream: str | None = None
    magic: tuple[bytes, ...] = ()  # how its files begin, and those of no other format
    takes: tuple[str, ...] = ()
    is_text: bool = False  # which may be compressed, and in any encoding
    may_be_empty: bool = False  # a file without a byte is a table without rows

    @property
    def suffixes(self) -> tuple[str, ...]:
        """All endings, those of compressed files too."""
        packed = copies.ENDINGS.values() if self.is_text else ()
        return self.endings + tuple(f"{end}{more}" for more in packed for end in self.endings)


CSV = Format(
    "CSV", (".csv", ".tsv"), "csv", "csv", takes=("encoding",), is_text=True, may_be_empty=True
)
JSON = Format("JSON", (".json", ".jsonl", ".ndjson"), "json", takes=("encoding",), is_text=True)
FORMATS = (
    CSV,
    JSON,
    Format("Parquet", (".parquet",), "arrow_files", "arrow_files", (b"PAR1",)),
    Format(
        "Arrow",
        (".feather", ".arrow", ".arrows", ".ipc"),
        "arrow_files",
        "arrow_files",
        (b"ARROW1", b"\xff\xff\xff\xff"),
    ),
    Format("ORC", (".orc",), "arrow_files", "arrow_files", (b"ORC",)),
    Format(
        "a workbook",
        (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
        "excel",
        magic=(b"PK\3\4", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        takes=("sheet",),
    ),
)
SUFFIXES = tuple(suffix for form in FORMATS for suffix in form.suffixes)
STREAMED_SUFFIXES = tuple(s for form in FORMATS if form.stream is not None for s in form.suffixes)


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """A kind of data, and the modules that read it.

    `read` names the module with `read(data) -> Table`, `stream` the one with `stream(data) ->
    Feeder`, of a database `stream(data, table, query)`. `takes` names the options of both.
    """

    recognises: Test
    read: str | None = None
    stream: str | None = None
    is_database: bool = False
    is_streamed: bool = False  # unless told otherwise, although it could be read
    takes: tuple[str, ...] = ()


def _database(recognises: Test, module: str, *takes: str) -> Source:
    return Source(recognises, stream=module, is_database=True, takes=takes)


def _streamed(recognises: Test, module: str, *takes: str) -> Source:
    return Source(recognises, read=module, stream=module, is_streamed=True, takes=takes)


#: What options are for; each is a text, but allow_external is True or False.
OPTIONS = {
    "encoding": "text files (CSV, TSV, JSON)",
    "sheet": "workbooks (xlsx, xls, ods)",
    "snapshot": "Delta Lake and Iceberg tables",
    "allow_external": "DuckDB files and folders of Iceberg tables",
}
OF_FILES = ("encoding", "sheet")

SPARK = Source(
    lambda data: recognise.scheme_of(data) == "spark" or package_of(data) == "pyspark",
    stream="spark",
)

#: The first that recognises the data, and can do what is asked for, does it.
SOURCES = (
    Source(lambda data: isinstance(data, (np.ndarray, Mapping)), read="frames"),
    _streamed(recognise.is_a("ibis", "Table"), "lazy"),
    _database(recognise.has_scheme("postgresql", "postgres"), "databases"),
    SPARK,
    Source(recognise.has_scheme(*recognise.REMOTE), read="arrow_files", stream="arrow_files"),
    Source(recognise.is_address, stream="files"),  # which says which addresses are known
    _database(recognise.begins_with(b"SQLite format 3\0"), "databases"),
    _database(recognise.begins_with(b"DUCK", offset=8), "duckdb", "allow_external"),
    _database(recognise.is_a("duckdb", "DuckDBPyConnection"), "duckdb"),
    # an open connection by the rules of Python's DB-API
    _database(lambda data: hasattr(data, "cursor") and hasattr(data, "commit"), "databases"),
    Source(recognise.is_a("duckdb", "DuckDBPyRelation"), stream="duckdb"),
    Source(recognise.is_a("polars", "LazyFrame"), stream="lazy"),
    _streamed(recognise.is_delta, "lazy", "snapshot"),
    _streamed(recognise.is_iceberg, "lazy", "snapshot", "allow_external"),
    Source(recognise.are_files, stream="files", takes=OF_FILES),
    Source(recognise.is_path, read="files", stream="files", takes=OF_FILES),
    Source(lambda _: True, read="frames"),
)


def read(data: Any, **given: Any) -> Table:
    """Read a file, a dataframe, a dict of columns or an array; a Table passes through.

    Options that are given say how it is read; see OPTIONS. Raises SourceError for what cannot be
    read and ColumnError for names that are not unique.
    """
    return data if isinstance(data, Table) else _read(materialize(data), given)


def _read(data: Any, given: dict[str, Any]) -> Table:
    source = next(source for source in _sources_of(data) if source.read is not None)
    table: Table = module(source.read).read(
        data, **check_options(given, source.takes, name_of(data))
    )
    return table


def scan(data: Any, *, table: str | None = None, query: str | None = None, **given: Any) -> Feeder:
    """Open a table as a stream, whatever its size.

    `data` is a path to a Parquet, CSV or TSV file, to a folder of them or a pattern like
    `data/*.parquet`, or a list of those; a database (a file of DuckDB or SQLite, an address like
    `postgresql://user@host/database`, an open connection of DuckDB or ADBC) with the name of a
    `table` or with a `query`; a Delta Lake or Iceberg table; a relation of DuckDB, a LazyFrame of
    polars, a table of Ibis or a DataFrame of Spark. Further options: encoding, snapshot,
    allow_external, as for `explain`. The result can be given to `explain` in place of data.
    """
    for option, text in (("table", table), ("query", query)):
        # Python's texts also hold halves of characters, no engine's do
        is_text = isinstance(text, str) and not re.search("[\ud800-\udfff]", text)
        if text is not None and not is_text:
            raise OptionError(f"{option} is {shown(text)}; allowed: a text")
    if table is not None and query is not None:
        raise OptionError("table= and query= are both given; one of them says what to read")
    return _scanned(materialize(data), table, query, given)


def _scanned(data: Any, table: str | None, query: str | None, given: dict[str, Any]) -> Feeder:
    source = next((source for source in _sources_of(data) if source.stream is not None), None)
    options = check_options(given, () if source is None else source.takes, name_of(data))
    feeder: Feeder
    if source is not None and source.is_database:
        feeder = module(source.stream).stream(data, table, query, **options)
    elif table is not None or query is not None:
        raise _no_database(data)
    elif source is not None:
        feeder = module(source.stream).stream(data, **options)
    elif recognise.is_feeder(data):
        feeder = data
    else:
        raise SourceError(
            f"cannot scan {name_of(data)}; allowed: paths of {', '.join(STREAMED_SUFFIXES)} files, "
            "folders and patterns of them, databases, DuckDB relations, polars LazyFrames, Ibis "
            "tables and Spark frames"
        )
    if isinstance(data, PrivateCopy):
        weakref.finalize(feeder, id, data)  # so that the copy lives as long as its feeder
    return feeder


def feeder_of(data: Any, engine: Engine = "auto", **given: Any) -> Feeder | None:
    """Return who feeds data that have landed; None: they are to be read into memory."""
    check_choice("engine", engine, get_args(Engine))
    if engine == "memory":
        if recognise.is_feeder(data):
            raise OptionError(
                'engine="memory" cannot hold what scan() opened; give the data itself'
            )
        return None
    if engine == "spark" and not SPARK.recognises(data):
        raise OptionError(
            f'engine="spark" cannot read {name_of(data)}; give a Spark DataFrame or an address '
            "like spark://host:port/path"
        )
    is_streamed = engine != "auto" or _is_streamed(data)
    return _scanned(data, None, None, given) if is_streamed else None


def open_source(data: Any, engine: Engine = "auto", **given: Any) -> Table | Feeder:
    """Read a table into memory, or open it as a stream: the one door for whatever is given."""
    data = materialize(data)
    feeder = feeder_of(data, engine, **given)
    return _read(data, given) if feeder is None else feeder


def open_named(
    source: str | None,
    engine: Engine = "auto",
    *,
    table: str | None = None,
    query: str | None = None,
    master: str | None = None,
    **given: Any,
) -> Table | Feeder:
    """Open what a command names: any source, a table of a database, or one of a cluster."""
    if master is not None or (engine == "spark" and not SPARK.recognises(source)):
        if master is None or engine not in ("auto", "spark"):
            raise OptionError(
                "Spark needs both: --engine spark --master URL, such as spark://HOST:PORT or "
                "local[2]; or name the table spark://HOST:PORT/path-or-table"
            )
        from outlying.sources import spark

        return spark.connected(master, source if table is None else table)
    if source is None and query is not None:
        from outlying.sources import duckdb

        if table is not None:
            raise OptionError("--table and --query are both given; one of them says what to read")
        name, rows = duckdb.result_of(query)
        return dataclasses.replace(read(rows, **given), source=name)
    if table is not None or query is not None:
        return scan(source, table=table, query=query, **given)
    return open_source(source, engine, **given)


def check_options(given: dict[str, Any], takes: tuple[str, ...], source: str) -> dict[str, Any]:
    """Return the options that are given; refuse those that have no meaning for the source."""
    known = {name: value for name, value in given.items() if value is not None}
    check_names(known, tuple(OPTIONS))
    for name in known:
        if name not in takes:
            raise OptionError(f"the option {name} is for {OPTIONS[name]}, not for {source}")
    return known


def suffix_of(name: str, known: tuple[str, ...]) -> str | None:
    """Return which of the known suffixes the name of a file ends with."""
    name = name.rstrip("/").casefold()
    return next((suffix for suffix in known if name.endswith(suffix)), None)


def format_of(suffix: str) -> Format:
    """Return the format of files that end so."""
    return next(item for item in FORMATS if suffix in item.suffixes)


def format_by_content(head: bytes) -> Format | None:
    """Return the format of a file that begins so; texts are JSON or CSV; None: nobody knows."""
    for item in FORMATS:
        if any(map(head.startswith, item.magic)) and b"\0" in head:  # a column may be called ORC
            return item
    wide = copies.wide_encoding(head)
    text = head if wide is None else head.decode(wide, "ignore").encode()
    if b"\0" in text:
        return None
    return JSON if _JSON.match(text) else CSV


def module(name: str | None) -> Any:
    """Import a module that the tables above name."""
    return importlib.import_module(f"outlying.sources.{name}")


def _sources_of(data: Any) -> Iterator[Source]:
    if isinstance(data, str) and not data:
        raise SourceError("the name of the file is empty; give a path, or . for this folder")
    return (source for source in SOURCES if source.recognises(data))


def _is_streamed(data: Any) -> bool:
    """Return whether data are streamed unless told otherwise; of files, the large ones are."""
    source = next(_sources_of(data))
    if source.is_streamed or source.read is None or source.stream is None:
        return recognise.is_feeder(data) or source.stream is not None
    if recognise.is_address(data):
        return bool(module(source.stream).is_large(data))
    path = recognise.path_of(data)
    with contextlib.suppress(OSError, ValueError):  # for the reader, which says what is wrong
        if path.stat().st_size > LARGE:
            suffix = suffix_of(path.name, SUFFIXES)
            if suffix is not None:
                return suffix in STREAMED_SUFFIXES
            with path.open("rb") as stream:
                form = format_by_content(stream.read(1 << 16))
            return form is None or form.stream is not None  # nobody knows: it may be compressed
    return False


_OF_DATABASES = Setting("table"), " and ", Setting("query"), " are for databases"


def _no_database(data: Any) -> OutlyingError:
    """Say that table= and query= have no meaning for these data."""
    if recognise.is_path(data) and not recognise.is_address(data):
        from outlying.sources.files import check_readable

        source = name_of(data)
        check_readable(source, recognise.path_of(data))
        said = f"{source}: is not a database of DuckDB or SQLite; "
        return SourceError(
            said, *_OF_DATABASES, "; give no source where a query names files: FROM 'a.csv'"
        )
    return OptionError(
        *_OF_DATABASES,
        f", not for {name_of(data)}; allowed: a file of DuckDB or SQLite, a postgresql:// "
        "address, an open connection of DuckDB or ADBC",
    )
