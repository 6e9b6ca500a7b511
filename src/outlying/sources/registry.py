"""Tables that are read as a stream: which are, and by whom.

A file that fits into memory is read into memory as ever; whatever is larger, or is no file at all
but a folder, a query or a database, is fed in batches to passes (`streams`).
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from outlying.errors import OptionError, SourceError
from outlying.options import Engine, check_choice

if TYPE_CHECKING:
    from outlying.sources.passes import Feeder

LARGE = 1 << 30
"""A file of more bytes is streamed unless told otherwise."""

_TEXTS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")


def scan(data: Any, *, table: str | None = None, query: str | None = None) -> Feeder:
    """Open a table as a stream, whatever its size.

    `data` is a path to a Parquet, CSV or TSV file, to a folder of them or a pattern like
    `data/*.parquet`, or a list of those; a database (a file of DuckDB or SQLite, an address like
    `postgresql://user@host/database`, an open connection of DuckDB or ADBC) with the name of a
    `table` or with a `query`; a relation of DuckDB, a LazyFrame of polars or a DataFrame of Spark.
    The result can be given to `explain` in place of data.
    """
    if table is not None and query is not None:
        raise OptionError("table= and query= are both given; one of them says what to read")
    found = _database(data, table, query)
    if found is not None:
        return found
    if table is not None or query is not None:
        raise OptionError(
            f"table= and query= are for databases, not for {_kind_of(data)}; allowed: a file of "
            "DuckDB or SQLite, a postgresql:// address, an open connection of DuckDB or ADBC"
        )
    found = _query_of(data)
    if found is None:
        found = _files(data)
    if found is None:
        raise SourceError(
            f"cannot scan {_kind_of(data)}; allowed: paths of Parquet, CSV or TSV files, folders "
            "and patterns of them, databases, DuckDB relations, polars LazyFrames and Spark frames"
        )
    return found


def feeder_of(data: Any, engine: Engine = "auto") -> Feeder | None:
    """Return who feeds these data; None: they are to be read into memory.

    "auto" streams what is larger than a gibibyte or no single file; "memory" streams nothing;
    "duckdb" streams every file it can; "spark" takes data of Spark only.
    """
    check_choice("engine", engine, get_args(Engine))
    if engine == "memory":
        _check_not_opened(data)
        return None
    if engine == "spark":
        return _only_spark(data)
    if engine == "auto" and not _is_streamed(data):
        return None
    return scan(data)


def opened(
    source: str,
    engine: Engine = "auto",
    *,
    table: str | None = None,
    query: str | None = None,
    master: str | None = None,
) -> Feeder | None:
    """Return who feeds what a command names; None: it is to be read into memory."""
    if master is not None or (engine == "spark" and not source.startswith("spark://")):
        if master is None or engine not in ("auto", "spark"):
            raise OptionError(
                "Spark needs both: --engine spark --master URL, such as spark://HOST:PORT or "
                "local[2]; or name the table spark://HOST:PORT/path-or-table"
            )
        from outlying.sources import spark

        return spark.connected(master, source if table is None else table)
    if table is not None or query is not None:
        return scan(source, table=table, query=query)
    return feeder_of(source, engine)


def _is_streamed(data: Any) -> bool:
    if not isinstance(data, (str, os.PathLike)):
        return _is_feeder(data) or _is_list_of_paths(data) or _is_query(data)
    text = os.fsdecode(data)
    if _is_address(text):
        return True
    from outlying.sources import paths
    from outlying.sources.databases import opening as databases

    path = Path(text).expanduser() if text.startswith("~/") else Path(text)
    try:
        if path.is_dir() or paths.is_pattern(text) or databases.is_database(path):
            return True
        return path.stat().st_size > LARGE and path.name.casefold().endswith(_TEXTS)
    except (OSError, ValueError):  # for the reader of files, which says what is wrong
        return False


def _check_not_opened(data: Any) -> None:
    if _is_feeder(data):
        raise OptionError('engine="memory" cannot hold what scan() opened; give the data itself')


def _only_spark(data: Any) -> Feeder:
    found = _spark(data)
    if found is None:
        raise OptionError(
            f'engine="spark" cannot read {_kind_of(data)}; give a Spark DataFrame or an address '
            "like spark://host:port/path"
        )
    return found


def _database(data: Any, table: str | None, query: str | None) -> Feeder | None:
    if isinstance(data, (str, os.PathLike)):
        return _database_at(os.fsdecode(data), table, query)
    if _is_of(data, "duckdb", "DuckDBPyConnection"):
        from outlying.sources.databases import opening as databases

        return databases.of_duckdb(data, table, query)
    if hasattr(data, "adbc_get_info") and hasattr(data, "cursor"):
        from outlying.sources.databases import opening as databases

        return databases.of_adbc(data, table, query)
    if hasattr(data, "cursor") and hasattr(data, "commit"):
        raise SourceError(
            f"{_kind_of(data)} gives no Arrow batches; give the path of a SQLite file, a "
            "postgresql:// address, or a connection of ADBC, such as adbc_driver_postgresql makes"
        )
    return None


def _database_at(text: str, table: str | None, query: str | None) -> Feeder | None:
    from outlying.sources.databases import opening as databases

    if re.match(r"postgres(ql)?://", text):
        from outlying.sources.databases import postgres

        return postgres.feeder(text, table, query)
    if table is None and query is None and not databases.is_database(Path(text).expanduser()):
        return None
    return databases.of_file(text, table, query)


def _query_of(data: Any) -> Feeder | None:
    """Feed from what is not a file: a query of an engine, or a feeder already."""
    if _is_feeder(data):
        feeder: Feeder = data
        return feeder
    if _is_of(data, "duckdb", "DuckDBPyRelation"):
        from outlying.sources.databases import opening as databases

        return databases.of_relation(data)
    if _is_of(data, "polars", "LazyFrame"):
        from outlying.sources import lazy_frames as lazy

        return lazy.LazyFeeder(data)
    return _spark(data)


def _spark(data: Any) -> Feeder | None:
    is_address = isinstance(data, str) and data.startswith("spark://")
    if not is_address and not type(data).__module__.startswith("pyspark."):
        return None
    spark: Any = importlib.import_module("outlying.sources.spark")
    fed: Feeder = spark.connected(data) if is_address else spark.SparkFeeder(data)
    return fed


def _files(data: Any) -> Feeder | None:
    if not isinstance(data, (str, os.PathLike)) and not _is_list_of_paths(data):
        return None
    if isinstance(data, str) and _is_address(data):
        raise SourceError(
            f"{data}: unknown kind of address; known: postgresql://, spark://; files are given by "
            "their path, without file://"
        )
    from outlying.sources import file_stream as files

    return files.feeder(data)


def _is_query(data: Any) -> bool:
    return (
        _is_of(data, "duckdb", "DuckDBPyRelation")
        or _is_of(data, "duckdb", "DuckDBPyConnection")
        or _is_of(data, "polars", "LazyFrame")
        or type(data).__module__.startswith("pyspark.")
        or (hasattr(data, "adbc_get_info") and hasattr(data, "cursor"))
    )


def _is_feeder(data: Any) -> bool:
    return all(hasattr(data, name) for name in ("fold", "schema", "traffic"))


def _is_list_of_paths(data: Any) -> bool:
    is_list = isinstance(data, Sequence) and not isinstance(data, (str, bytes))
    return is_list and bool(data) and all(isinstance(item, (str, os.PathLike)) for item in data)


def _is_address(text: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text) is not None


def _is_of(data: Any, package: str, name: str) -> bool:
    """Return what something is without importing the package that it comes from."""
    kind = type(data)
    return kind.__name__ == name and kind.__module__.split(".")[0].lstrip("_") == package


def _kind_of(data: Any) -> str:
    if isinstance(data, (str, os.PathLike)):
        return os.fsdecode(data)
    kind = type(data)
    return f"{kind.__module__.split('.')[0].lstrip('_')} {kind.__name__}"
