"""Every fault of a source has its own message: what is wrong, where, and what to do."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import random
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from outlying.errors import ColumnError, SourceError
from outlying.sources import duckdb as engine
from outlying.sources import read
from tests.carriers import write_parquet


def parquet_bytes(**columns: list[Any]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


GOOD = parquet_bytes(a=list(range(1000)))
BROKEN = GOOD[:4] + b"\xff" * 200 + GOOD[204:]

FAULTS: list[tuple[str, bytes, str]] = [
    ("t.csv", b"", "t.csv: the file is empty"),
    ("t.csv", b" \n\n", "nothing but blank lines"),
    ("t.csv.gz", gzip.compress(b"", mtime=0), "nothing but blank lines"),
    ("t.csv", b"a,b\n", "there are no rows"),
    (
        "t.csv",
        "a,b\nx,1\nиюль,2\n".encode("cp1251"),
        r'line 3 is not UTF-8 text \(byte 0xe8\); name its encoding.*encoding="cp1252"',
    ),
    ("t.csv", "a,b\né,è\n".encode() + b"\xe9,1\n", "line 3 is not UTF-8 text"),
    (
        "t.csv",
        b"a,b\n1,2\n3," + b"x" * 3_000_000 + b"\n",
        "line 3 has 3,000,000 characters in column 'b'; a line may have 2,000,000 bytes: shorten",
    ),
    ("t.csv", b"a,b\n1,2\n3,4,5\n", "line 3 has 3 fields, the first line has 2"),
    ("t.csv", b"a,b\n1,2\n3\n", "line 3 has 1 fields, the first line has 2"),
    ("t.csv", b"a,b\n" + b"1,2\n" * 50 + b"1,2,3\n", "line 52 has 3 fields"),
    ("t.csv", b'a,b\n1,"x\n\ny"\n1,2,3\n', "line 5 has 3 fields"),
    ("t.csv", b"A report\na,b\n1,2,3\n1,2\n", "line 2 has 2 fields, the first line has 1"),
    ("t.tsv", b"a\tb\n1\t2\t3\n", "line 2 has 3 fields"),
    ("t.csv", b'a,b\n1,"x\n2,y\n', "line 2 has a fault in its quotes"),
    ("t.csv", b'a,b\n1,"x" y\n2,y\n', "line 2 has a fault in its quotes"),
    ("t.csv.gz", b"a,b\n1,2\n", "not a complete gzip file"),
    (
        "t.csv.gz",
        gzip.compress(random.Random(0).randbytes(500), mtime=0)[:-20],
        "not a complete gzip file",
    ),
    ("t.jsonl", b'{"a": 1}\n{"a": 2\n{"a": 3}\n', "is not valid JSON: line 3, column 1"),
    ("t.json", b'[{"a": 1}, {"a": 2]', "is not valid JSON: line 1"),
    ("t.json", b"[1, 2]", "value 1 is of type int; allowed: an array of objects"),
    ("t.json", b"[]", "there are no rows"),
    ("t.json", b"[{}]", "there are no columns"),
    (
        "t.json",
        b'{"a": [1, 2], "b": {"x": 1}}',
        "no column can be used: 'a' holds lists.*'b' holds records",
    ),
    ("t.json", b"[" * 100_000, "cannot be read"),
    ("t.jsonl", b'{"a": "\x81"}', "line 1 is not UTF-8 text"),
    ("t.parquet", b"hello, world", "is not a Parquet file"),
    ("t.parquet", GOOD[:-100], "the Parquet file is cut off"),
    ("t.parquet", BROKEN, "t.parquet: cannot be read: "),
    ("t.parquet", b"PAR1" + b"x" * 100 + b"PAR1", "t.parquet: cannot be read: "),
    ("t.parquet", parquet_bytes(a=[]), "there are no rows"),
    ("t", b"x\0y\0\0z", r"unknown kind of file; known suffixes: \.csv, \.tsv"),
    ("t.doc", b"\xd0\xcf\0\1", "unknown kind of file"),
]
IDS = [f"{place}-{name}" for place, (name, *_) in enumerate(FAULTS)]  # contents are no names


@pytest.mark.parametrize(("name", "content", "message"), FAULTS, ids=IDS)
def test_faults_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    with pytest.raises(SourceError, match=f"^t[^ ]*: .*{message}|^{message}") as caught:
        read(name)
    for engine_talk in ("duckdb", "Possible", "ignore_errors", "LINE 1", "\n"):
        assert engine_talk not in str(caught.value)


def test_a_missing_file_names_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("a\n1\n")
    with pytest.raises(SourceError, match=r"no such file; did you mean 'patients\.csv'\?"):
        read(tmp_path / "patient.csv")
    with pytest.raises(SourceError, match="no such file; check the path"):
        read(tmp_path / "zzz")
    with pytest.raises(SourceError, match=r"the folder .* does not exist"):
        read(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(SourceError, match="cannot be opened"):
        read("a\0b.csv")
    with pytest.raises(SourceError, match="the name is not valid UTF-8; rename the file"):
        read("a\udce9.csv")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a folder; give the path of one file"):
        read(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="rights work otherwise there")
def test_a_file_without_rights(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    root = os.geteuid() == 0
    if root:  # root may read everything
        os.seteuid(65534)
    try:
        with pytest.raises(SourceError, match="no permission to read it"):
            read(path)
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize("address", ["file:///a.csv", "ftp://me:secret@host/a.parquet?secret"])
def test_unknown_addresses_are_refused(address: str) -> None:
    with pytest.raises(SourceError, match=r"(?!.*secret).*is an address, not a file; give the"):
        read(address)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, r"cannot read NoneType; allowed: a path to a file \(\.csv"),
        ([{"a": 1}], r"cannot read list; allowed: a path to a file \(\.csv"),
        (pd.Series([1]), "cannot read pandas Series; allowed"),
        (
            pl.LazyFrame({"a": [1]}),
            "polars LazyFrame holds no rows yet, only a query; collect it first",
        ),
        (np.array([1.0]), r"NumPy array: 1 dimensions \(1\); allowed: two.*reshape"),
        (np.zeros((1, 2, 3)), r"NumPy array: 3 dimensions \(1x2x3\)"),
        (np.array(5), r"0 dimensions \(a single value\)"),
        (np.zeros((2, 2), dtype=[("a", "i4")]), "structured array of 2 dimensions"),
        ({"a": [1, 2], "b": [1]}, "column 'a' has 2 values but 'b' has 1"),
        ({"a": "text"}, "column 'a' is str; allowed: a list"),
        ({"a": 5}, "column 'a' is int; allowed: a list"),
        ({"a": np.zeros((2, 2))}, "column 'a' is an array of 2 dimensions"),
        ({}, "there are no columns"),
        (pd.DataFrame(), "there are no columns"),
        (np.zeros((3, 0)), "there are no columns"),
        ({"a": []}, "there are no rows"),
        (pd.DataFrame({"a": []}), "there are no rows"),
        (np.zeros((0, 3)), "there are no rows"),
        (pa.table({"a": pa.array([[1]])}), "no column can be used: 'a' holds lists"),
    ],
)
def test_faults_of_data_in_memory(data: object, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read(data)


def doubled(name: str, folder: Path) -> object:
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "b", "a"])
    path = folder / name
    if name == "t.parquet":
        return write_parquet(path, table)
    path.write_text("a,b,a\n1,2,3\n" if name == "t.csv" else '{"a": 1, "b": 2, "a": 3}')
    return path


def test_doubled_names_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "b", "a"])
    for data in (frame, table, doubled("t.csv", tmp_path), doubled("t.parquet", tmp_path)):
        with pytest.raises(ColumnError, match="columns 1 and 3 are both called 'a'; rename one"):
            read(data)
    with pytest.raises(ColumnError, match="the key 'a' twice"):
        read(doubled("t.json", tmp_path))


def test_names_are_doubled_also_after_becoming_texts() -> None:
    datas: Iterable[object] = ({1: [1], "1": [2]}, pd.DataFrame([[1, 2]], columns=[1, "1"]))
    for data in datas:
        with pytest.raises(ColumnError, match="columns 1 and 2 are both called '1'"):
            read(data)
    assert read(pd.DataFrame([[1, 2]])).names == ["0", "1"]


LONG = "SELECT count(*) FROM range(200000000) WHERE hash(range) = 1"


def test_an_interrupt_that_the_engine_notices_is_one() -> None:
    """DuckDB turns whatever a signal raises into a RuntimeError."""
    with pytest.raises(KeyboardInterrupt), engine.connection() as connected, interrupted_soon():
        connected.execute(LONG)
    with (
        pytest.raises(KeyboardInterrupt),
        duckdb.connect() as own,
        engine.plain_errors("own"),
        interrupted_soon(),
    ):
        own.execute(LONG)


@contextlib.contextmanager
def interrupted_soon() -> Iterator[None]:
    """Interrupt what runs inside, at the next moment at which it looks for signals."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
