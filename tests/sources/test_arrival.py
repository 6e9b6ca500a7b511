"""How bytes arrive: standard input, open files, compressed files, encodings."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outlying
from outlying.errors import OptionError, SourceError
from outlying.sources import copies, read, registry
from tests.carriers import column_values
from tests.conftest import Run
from tests.feeding import rows_of
from tests.sources.test_sources_agree import CSV as PATIENTS
from tests.sources.test_sources_agree import answer

ROWS = [(number, f"t{number % 3}") for number in range(40)]
CSV = ("a,b\n" + "".join(f"{a},{b}\n" for a, b in ROWS)).encode()
JSON_LINES = "".join(json.dumps({"a": a, "b": b}) + "\n" for a, b in ROWS).encode()


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}


@pytest.fixture(autouse=True)
def folder_of_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let copies be made in a folder of our own, and see that none is left."""
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    gc.collect()
    assert list(folder.iterdir()) == []


def parquet() -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"a": [a for a, _ in ROWS], "b": [b for _, b in ROWS]}), stream)
    return stream.getvalue()


CONTENTS: dict[str, Callable[[], bytes]] = {
    "csv": lambda: CSV,
    "json lines": lambda: JSON_LINES,
    "json": lambda: b" [" + JSON_LINES.strip().replace(b"\n", b",") + b"]",
    "parquet": parquet,
    "utf-16": lambda: CSV.decode().encode("utf-16"),
}


def feed(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def values_of(data: Any, **given: Any) -> list[tuple[Any, ...]]:
    table = read(data, **given)
    return list(zip(*(column_values(table, name) for name in table.names), strict=True))


class TestStandardInput:
    @pytest.mark.parametrize("packer", ["", *PACKERS])
    @pytest.mark.parametrize("kind", CONTENTS)
    def test_every_format_is_recognised_by_its_content(
        self, monkeypatch: pytest.MonkeyPatch, kind: str, packer: str
    ) -> None:
        content = CONTENTS[kind]()
        feed(monkeypatch, PACKERS[packer](content) if packer else content)
        assert values_of("-") == ROWS

    def test_the_result_names_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        feed(monkeypatch, CSV)
        findings = outlying.explain("-", row=3)
        assert (findings.population.source, findings.population.rows) == ("standard input", 40)

    def test_the_same_answer_as_from_a_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        feed(monkeypatch, PATIENTS.read_bytes())
        assert answer("-") == answer(PATIENTS)

    def test_large_input_is_streamed_and_its_copy_lives_as_long(
        self, monkeypatch: pytest.MonkeyPatch, folder_of_copies: Path
    ) -> None:
        monkeypatch.setattr(registry, "LARGE", 5)
        for content in (CSV, gzip.compress(CSV), lzma.compress(CSV), parquet()):
            feed(monkeypatch, content)
            feeder = registry.open_source("-")
            assert len(list(folder_of_copies.iterdir())) >= 1
            assert rows_of(feeder) == sorted(ROWS, key=repr)  # type: ignore[arg-type]
            del feeder
            gc.collect()
            assert list(folder_of_copies.iterdir()) == []

    def test_a_database(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        path = tmp_path / "t.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE t AS SELECT 7 AS a")
        feed(monkeypatch, path.read_bytes())
        assert rows_of(outlying.scan("-", table="t")) == [(7,)]

    def test_on_the_command_line(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        feed(monkeypatch, CSV)
        code, out, _ = run("explain", "-", "--row", 3, "--format", "json")
        assert (code, json.loads(out)["source"]) == (0, "standard input")
        feed(monkeypatch, CSV)
        assert run("detect", "-", "--top", 1)[0] == 0
        feed(monkeypatch, b"{}")
        code, out, err = run("explain", "-", "--object", "-")
        assert (code, out) == (2, "")
        assert "both SOURCE and what to explain are -" in err

    @pytest.mark.parametrize(
        ("content", "words"),
        [(b"", "standard input: the file is empty"), (b"\0\1\2", "unknown kind of file")],
    )
    def test_faults(self, monkeypatch: pytest.MonkeyPatch, content: bytes, words: str) -> None:
        feed(monkeypatch, content)
        with pytest.raises(SourceError, match=words):
            read("-")

    def test_a_real_pipe_and_a_closed_stream(self, tmp_path: Path) -> None:
        call = [sys.executable, "-m", "outlying", "explain", "-", "--row", "3"]
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        done = subprocess.run(call, input=CSV, capture_output=True, env=environment)
        assert done.returncode == 0, done.stderr
        assert [path for path in tmp_path.iterdir() if path.name != "copies"] == []
        closed = subprocess.run(
            ["/bin/sh", "-c", f"{sys.executable} -m outlying explain - --row 1 <&-"],
            capture_output=True,
            text=True,
        )
        assert (closed.returncode, closed.stdout) == (2, "")
        assert "standard input: cannot be read: standard input is closed" in closed.stderr


class TestOpenFiles:
    def test_bytes_and_texts(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_bytes(CSV)
        with path.open("rb") as stream:
            assert values_of(stream) == ROWS
        assert values_of(io.StringIO(CSV.decode())) == ROWS
        assert read(io.BytesIO(CSV)).source == "open file"

    def test_a_named_pipe(self, tmp_path: Path) -> None:
        path = tmp_path / "pipe"
        os.mkfifo(path)
        writer = subprocess.Popen(["/bin/sh", "-c", f"printf 'a\\n1\\n2\\n' > {path}"])
        assert values_of(path) == [(1,), (2,)]
        assert writer.wait() == 0

    def test_faults(self) -> None:
        closed = io.BytesIO(CSV)
        closed.close()
        with pytest.raises(SourceError, match=r"open file: cannot be read: .*closed"):
            read(closed)

        class Odd:
            def read(self, size: int) -> int:
                return 5

        with pytest.raises(SourceError, match="read\\(\\) gives int; allowed: bytes or text"):
            read(Odd())

    def test_a_full_disk_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(copies, "LEAST_ROOM", 1 << 62)
        with pytest.raises(SourceError, match=r"too little room is left in .*set TMPDIR"):
            read(io.BytesIO(CSV))


class TestCompression:
    @pytest.mark.parametrize("ending", PACKERS)
    @pytest.mark.parametrize("name", ["t.csv{}", "t.csv", "t", "T.CSV{}", "t.jsonl{}"])
    def test_known_by_content(self, tmp_path: Path, ending: str, name: str) -> None:
        path = tmp_path / name.format(ending)
        path.write_bytes(PACKERS[ending](JSON_LINES if "json" in name else CSV))
        assert values_of(path) == ROWS
        if "json" not in name:
            assert rows_of(outlying.scan(path)) == sorted(ROWS, key=repr)

    def test_folders_of_compressed_files(self, tmp_path: Path) -> None:
        for ending, packer in PACKERS.items():
            folder = tmp_path / f"in{ending}"
            folder.mkdir()
            for place in range(2):
                half = "a,b\n" + "".join(f"{a},{b}\n" for a, b in ROWS[place::2])
                (folder / f"{place}.csv{ending}").write_bytes(packer(half.encode()))
            assert rows_of(outlying.scan(folder)) == sorted(ROWS, key=repr)

    def test_what_is_right_counts_more_than_a_name(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_bytes(parquet())
        assert values_of(path) == ROWS
        assert read(path).notes == ("The file holds Parquet, whatever its name says.",)
        path.write_bytes(gzip.compress(parquet()))
        assert values_of(path) == ROWS

    @pytest.mark.parametrize("ending", PACKERS)
    def test_cut_off_or_damaged(self, tmp_path: Path, ending: str) -> None:
        packed = PACKERS[ending](os.urandom(3000).hex().encode())
        words = "is not a complete (gzip|zstd|bzip2|xz) file"
        contents = [packed[:-9], packed[: len(packed) // 2], b"a,b\n1,2\n"]
        if ending != ".zst":  # whose check sums are optional
            contents.append(packed[:40] + bytes(300) + packed[340:])
        for content in contents:
            path = tmp_path / f"t.csv{ending}"
            path.write_bytes(content)
            for way in (read, lambda path: outlying.scan(path).schema()):
                with pytest.raises(SourceError, match=words):
                    way(path)

    @pytest.mark.parametrize("ending", PACKERS)
    def test_bombs_are_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
    ) -> None:
        monkeypatch.setattr(copies, "BOUNDS", copies.UnpackingBounds(1 << 20))
        path = tmp_path / f"t.csv{ending}"
        path.write_bytes(PACKERS[ending](b"a,b\n" + bytes(1 << 23)))
        for way in (read, lambda path: outlying.scan(path).schema()):
            with pytest.raises(SourceError, match="unpack to more than 1,048,576, which no table"):
                way(path)

    @pytest.mark.slow
    @pytest.mark.parametrize("ending", PACKERS)
    def test_bombs_go_off_in_little_memory(self, tmp_path: Path, ending: str) -> None:
        """As users meet them: more than a gibibyte of zeros, and a process of 768 MiB."""
        path, pack = tmp_path / f"t.csv{ending}", PACKERS[ending]
        path.write_bytes(pack(b"a,b\n1,2\n") + pack(bytes(1 << 27)) * 9)
        code = (
            "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3 << 28,) * 2); "
            "from outlying.cli.main import main; main()"
        )
        call = [sys.executable, "-c", code, "explain", str(path), "--row", "1"]
        done = subprocess.run(call, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert "bytes unpack to more than 1,073,741,824, which no table does" in done.stderr

    def test_a_line_without_an_end_is_not_read_to_its_end(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv.gz"
        path.write_bytes(gzip.compress(b"a" * 5_000_000))
        with pytest.raises(SourceError, match="its first line is longer than 2,000,000"):
            read(path)


WESTERN = "name,n\nZoë,1\nRené,2\nÅsa,3\nJosé €,4\n"
NAMES = ["Zoë", "René", "Åsa", "José €"]


class TestEncodings:
    @pytest.mark.parametrize(
        ("encoding", "said"),
        [
            ("utf-8", None),
            ("utf-8-sig", None),
            ("utf-16", "utf-16"),
            ("utf-16-le", "utf-16-le"),
            ("utf-16-be", "utf-16-be"),
            ("utf-32", "utf-32"),
            ("cp1252", "cp1252"),
        ],
    )
    @pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.csv.gz"])
    def test_found(self, tmp_path: Path, encoding: str, said: str | None, name: str) -> None:
        text = WESTERN
        if name == "t.jsonl":
            rows = ({"name": word, "n": n} for n, word in enumerate(NAMES, start=1))
            text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        content = text.encode(encoding)
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        table = read(path)
        assert column_values(table, "name") == NAMES
        note = f"The file was read as {said} text; if that is wrong, name its encoding."
        assert table.notes == ((note,) if said else ())
        if name != "t.jsonl":
            feeder = outlying.scan(path)
            assert [row[0] for row in rows_of(feeder)] == sorted(NAMES, key=repr)
            assert feeder.notes == ((note,) if said else ())

    @pytest.mark.parametrize(
        ("encoding", "names"),
        [
            ("latin-1", ["Zoë", "René"]),
            ("cp1251", ["Анна", "Пётр"]),
            ("shift_jis", ["花子", "太郎"]),
        ],
    )
    def test_given(self, tmp_path: Path, run: Run, encoding: str, names: list[str]) -> None:
        path = tmp_path / "t.csv"
        path.write_bytes(("name,n\n" + "".join(f"{name},1\n" for name in names)).encode(encoding))
        table = read(path, encoding=encoding)
        assert (column_values(table, "name"), table.notes) == (names, ())
        assert [row[0] for row in rows_of(outlying.scan(path, encoding=encoding))] == sorted(names)
        findings = outlying.explain(path, row=0, encoding=encoding)
        assert findings.object["name"] == names[0]
        call = ("explain", path, "--row", 1, "--encoding", encoding)
        assert names[0] in run(*call)[1]

    def test_not_guessed_where_bytes_do_not_tell(self, tmp_path: Path, run: Run) -> None:
        path = tmp_path / "t.csv"
        path.write_bytes("n,имя\n1,Любовь\n2,Жюль\n".encode("koi8-r"))
        for way in (read, lambda path: outlying.scan(path).schema()):
            with pytest.raises(SourceError, match=r"line 1 is not UTF-8 .*name its encoding"):
                way(path)
        code, _, err = run("explain", path, "--row", 1)
        assert code == 2
        assert "for example with --encoding cp1252" in err

    def test_a_byte_far_down(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_bytes(b"a,b\n" + b"xyz,1\n" * 50_000 + b"Ren\xe9,2\n")
        assert column_values(read(path), "a")[-1] == "René"
        with pytest.raises(SourceError, match=r"line 50002 is not UTF-8 .*0xe9"):
            rows_of(outlying.scan(path))
        assert rows_of(outlying.scan(path, encoding="latin-1"))[0] == ("René", 2)

    @pytest.mark.parametrize("encoding", ["klingon", "hex", "", 5, "utf-8\0", "rot13"])
    def test_unknown_encodings(self, tmp_path: Path, encoding: Any) -> None:
        path = tmp_path / "t.csv"
        path.write_bytes(CSV)
        with pytest.raises(OptionError, match=r"encoding is .*; allowed: an encoding of text"):
            read(path, encoding=encoding)

    def test_wrong_encodings(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_bytes("a,b\n1,é\n2,ü\n".encode("cp1252"))
        with pytest.raises(SourceError, match="line 2 is not UTF-8"):
            read(path, encoding="utf-8")
        with pytest.raises(SourceError, match=r"is not ascii text \(ordinal not in range"):
            read(path, encoding="ascii")
        with pytest.raises(SourceError, match="is not utf-16 text"):
            read(path, encoding="utf-16")

    def test_an_option_that_means_nothing_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        path.write_bytes(parquet())
        words = r"the option encoding is for text files \(CSV, TSV, JSON\), not for"
        for data in (path, {"a": [1, 2]}, pa.table({"a": [1, 2]})):
            with pytest.raises(OptionError, match=words):
                outlying.explain(data, row=0, encoding="cp1252")
        with pytest.raises(OptionError, match=words):
            outlying.scan(path, encoding="cp1252")
        with pytest.raises(OptionError, match="unknown option 'encodin'"):
            outlying.scan(path, encodin="cp1252")


def test_what_a_killed_process_leaves_is_taken_away(tmp_path: Path) -> None:
    """A copy of the data, and the engine's folder, by the next process that makes such a folder."""
    program = (
        "import os, signal, outlying; from outlying.sources.copies import PrivateCopy; "
        "from outlying.sources import duckdb as engine; "
        "copy = PrivateCopy('x', [b'a,b']); kept = engine.streaming_connection(); "
        "kept.__enter__(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    env = os.environ | {"TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], env=env, check=False)
    assert len(list(tmp_path.glob("outlying-*"))) == 2
    again = "from outlying.sources.copies import PrivateCopy; PrivateCopy('x', [b'a,b'])"
    subprocess.run([sys.executable, "-c", again], env=env, check=True)
    assert not list(tmp_path.glob("outlying-*"))
