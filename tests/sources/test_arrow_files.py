"""Arrow IPC (Feather) and ORC files: the same rows in memory and as streams; hostile files."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import outlying
from outlying.errors import ColumnError, OutlyingError, SourceError
from outlying.sources import copies, read
from tests.carriers import column_values, write_ipc, write_orc
from tests.feeding import rows_of, table_of

ROWS = [(n, f"t{n % 7}", n / 7) for n in range(300)]
TABLE = pa.table(dict(zip("abc", map(list, zip(*ROWS, strict=True)), strict=True)))
WRITERS: dict[str, Callable[[Path, pa.Table], Path]] = {
    "feather": lambda folder, table: write_ipc(folder / "t.feather", table, "zstd"),
    "lz4": lambda folder, table: write_ipc(folder / "t.arrow", table, "lz4"),
    "plain": lambda folder, table: write_ipc(folder / "t.ipc", table),
    "stream": lambda folder, table: write_ipc(folder / "t.arrows", table, "zstd"),
    "orc": lambda folder, table: write_orc(folder / "t.orc", table),
}
every_format = pytest.mark.parametrize("kind", WRITERS)


def values_of(path: Any) -> list[tuple[Any, ...]]:
    table = read(path)
    return list(zip(*(column_values(table, name) for name in table.names), strict=True))


@every_format
def test_the_same_rows_in_memory_and_as_a_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("outlying.sources.passes.BATCH_ROWS", 64)
    path = WRITERS[kind](tmp_path, TABLE)
    assert values_of(path) == ROWS
    feeder = outlying.scan(path)
    assert rows_of(feeder) == sorted(ROWS, key=repr)
    assert rows_of(feeder, ["c", "a"]) == sorted([(c, a) for a, _, c in ROWS], key=repr)
    assert feeder.fold(_Counted(), [], None) == 300
    other = path.rename(tmp_path / "whatever.bin")
    assert values_of(other) == ROWS


class _Counted:
    def start(self) -> int:
        return 0

    def add(self, state: int, batch: Any) -> int:
        assert batch.num_rows <= 64
        return state + int(batch.num_rows)

    def merge(self, state: int, other: int) -> int:
        return state + other


def test_files_of_polars(tmp_path: Path) -> None:
    path = tmp_path / "t.feather"
    pl.DataFrame({"a": [1, None], "b": pl.Series(["x", "y"], dtype=pl.Categorical)}).write_ipc(
        path, compression="zstd"
    )
    assert values_of(path) == [(1, "x"), (None, "y")]
    assert rows_of(outlying.scan(path)) == [(1, "x"), (None, "y")]


def test_columns_that_cannot_be_used_are_left_out(tmp_path: Path) -> None:
    table = TABLE.append_column("lists", pa.array([[1]] * 300))
    for kind in ("feather", "orc"):
        path = WRITERS[kind](tmp_path, table)
        assert [column.name for column in read(path).skipped] == ["lists"]
        assert [column.name for column in outlying.scan(path).skipped] == ["lists"]


@every_format
def test_folders(tmp_path: Path, kind: str) -> None:
    for place in range(2):
        folder = tmp_path / f"in{place}"
        folder.mkdir()
        WRITERS[kind](folder, TABLE.slice(place * 150, 150))
    assert rows_of(outlying.scan(tmp_path)) == sorted(ROWS, key=repr)
    WRITERS[kind](tmp_path / "in1", TABLE.select(["a"]))
    feeder = outlying.scan(tmp_path)
    assert feeder.schema().names == ["a", "b", "c"]
    assert "Column 'b': it is in 1 of 2 files, and counts as missing in the others." in feeder.notes
    assert len(rows_of(feeder, ["b"])) == 450
    keyed = tmp_path / "keys" / "year=2024"
    keyed.mkdir(parents=True)
    WRITERS[kind](keyed, TABLE)
    assert rows_of(outlying.scan(tmp_path / "keys"), ["a", "year"])[0] == (0, 2024)


@every_format
def test_a_file_that_changes_is_refused(tmp_path: Path, kind: str) -> None:
    path = WRITERS[kind](tmp_path, TABLE)
    feeder = outlying.scan(path)
    feeder.schema()
    WRITERS[kind](tmp_path, TABLE.select(["a"]))
    with pytest.raises(SourceError, match="has changed since"):
        table_of(feeder)


@every_format
def test_hostile_files(tmp_path: Path, kind: str) -> None:
    """Whatever is wrong, it is said: no crash, no other exception."""
    coded = TABLE.append_column("d", TABLE["b"].dictionary_encode())
    path = WRITERS[kind](tmp_path, TABLE if kind == "orc" else coded)
    good, draw = path.read_bytes(), random.Random(7)
    ways: list[Callable[[Path], Any]] = [read, lambda path: rows_of(outlying.scan(path))]
    for content in (good[: len(good) // 2], good[:20], b"hello, world", good[:8] + b"\xff" * 500):
        path.write_bytes(content)
        for way in ways:
            with pytest.raises(SourceError):
                way(path)
    refused = 0
    for _ in range(150):
        changed = bytearray(good)
        for _ in range(draw.choice([1, 2, 8])):
            place = draw.randrange(len(changed)) if draw.random() < 0.5 else -draw.randrange(1, 300)
            changed[place] = draw.choice([0, 127, 128, 255])
        path.write_bytes(changed)
        for way in ways:
            try:
                way(path)
            except OutlyingError:
                refused += 1
    assert refused > 20


@pytest.mark.parametrize("kind", ["feather", "lz4", "stream", "orc"])
def test_bombs_are_refused_before_they_go_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    rows = 3_000_000
    table = pa.table({f"x{place}": pa.nulls(rows, pa.int64()).fill_null(0) for place in range(3)})
    path = WRITERS[kind](tmp_path, table)
    assert path.stat().st_size * 50 < table.nbytes
    monkeypatch.setattr(copies, "BOUNDS", copies.UnpackingBounds(1 << 20, 50))
    for way in (read, lambda path: rows_of(outlying.scan(path))):
        with pytest.raises(SourceError, match=r"would take [\d,]+ bytes of memory"):
            way(path)


def test_words_for_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "t.feather"
    path.write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(SourceError, match=r"is not an Arrow file .*have to be written anew"):
        read(path)
    path.write_bytes(write_ipc(tmp_path / "x.arrow", TABLE).read_bytes()[:-10])
    with pytest.raises(SourceError, match="the Arrow file is cut off"):
        read(path)
    path = tmp_path / "t.orc"
    path.write_bytes(b"x" * 100)
    with pytest.raises(SourceError, match="is not an ORC file"):
        read(path)
    doubled = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(ColumnError, match="columns 1 and 2 are both called 'a'"):
        read(write_ipc(tmp_path / "t.arrow", doubled))


def test_text_that_begins_like_a_binary_file_is_text(tmp_path: Path) -> None:
    for name in ("ORC", "PAR1", "ARROW1", "BZh9"):
        path = tmp_path / "t.csv"
        path.write_text(f"{name},b\n1,2\n")
        assert read(path).names == [name, "b"]
