"""Files of other machines: a web server and an S3 server on loopback, in parts and in full."""

from __future__ import annotations

import gzip
import io
import json
import logging
import random
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from moto.server import ThreadedMotoServer

import outlying
from outlying.errors import MissingExtraError, OutlyingError, SourceError
from outlying.sources import copies, read, registry, remote
from outlying.sources.recognise import without_secrets
from tests.carriers import column_values, write_ipc
from tests.conftest import Run
from tests.feeding import Count, rows_of
from tests.file_server import Server, running
from tests.sources.test_sources_agree import CSV as PATIENTS
from tests.sources.test_sources_agree import answer, as_arrow, copied

ROWS = [(n, f"t{n % 7}", n / 7) for n in range(300)]
TABLE = pa.table(dict(zip("abc", map(list, zip(*ROWS, strict=True)), strict=True)))
CSV = ("a,b,c\n" + "".join(f"{a},{b},{c!r}\n" for a, b, c in ROWS)).encode()
SECRET = "hunter2"  # noqa: S105


def parquet(table: pa.Table = TABLE, **options: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def values_of(data: Any) -> list[tuple[Any, ...]]:
    table = read(data)
    return list(zip(*(column_values(table, name) for name in table.names), strict=True))


@pytest.fixture
def web() -> Iterator[Server]:
    with running() as server:
        server.files = {
            "t.csv": CSV,
            "t.tsv": CSV.replace(b",", b"\t"),
            "t.csv.gz": gzip.compress(CSV),
            "t.parquet": parquet(),
            "download": CSV,
            "a b.csv": CSV,
        }
        yield server


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "LIMITS", remote.Timeouts(0.5, 0.5, 0.5, of_patience=0.3))


class TestWeb:
    @pytest.mark.parametrize(
        "name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "download", "t.csv?x=1", "a%20b.csv"]
    )
    @pytest.mark.parametrize("knows_ranges", [True, False])
    def test_the_same_rows(self, web: Server, name: str, knows_ranges: bool) -> None:
        web.knows_ranges = knows_ranges
        assert values_of(web.at(name)) == ROWS
        assert rows_of(outlying.scan(web.at(name))) == sorted(ROWS, key=repr)
        assert read(web.at(name)).source == web.at(name.split("?")[0])

    def test_only_what_is_needed_of_parquet(self, web: Server) -> None:
        draw = random.Random(5)
        fat = pa.array([draw.randbytes(2000) for _ in ROWS])
        words = pa.array([draw.randbytes(500).hex() for _ in ROWS])
        content = parquet(TABLE.append_column("fat", fat).append_column("words", words))
        web.files["fat.parquet"] = content
        table = read(web.at("fat.parquet"))  # what cannot be compared is not fetched
        assert [column.name for column in table.skipped] == ["fat"]
        assert web.sent < len(content) - 500_000
        web.sent = 0
        feeder = outlying.scan(web.at("fat.parquet"))
        assert feeder.fold(Count(), ["a"], None) == 300
        assert web.sent < len(content) / 3
        assert all("bytes=" in asked for asked in web.asked if asked.startswith("GET"))

    def test_large_files_are_streamed(self, web: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        assert isinstance(registry.open_source(web.at("t.parquet")), type(read(TABLE)))
        monkeypatch.setattr(registry, "LARGE", 10)
        for name in ("t.parquet", "t.csv"):
            feeder: Any = registry.open_source(web.at(name))
            assert rows_of(feeder) == sorted(ROWS, key=repr)

    def test_a_file_that_changes(self, web: Server) -> None:
        feeder = outlying.scan(web.at("t.parquet"))
        feeder.schema()
        web.files["t.parquet"] = parquet(TABLE.slice(0, 10))
        with pytest.raises(SourceError, match="has changed since it was first looked at"):
            rows_of(feeder)

    def test_redirects(self, web: Server) -> None:
        web.redirects = {"old.csv": "/t.csv", "old.parquet": "/t.parquet", "loop.csv": "/loop.csv"}
        assert values_of(web.at("old.csv")) == ROWS
        assert values_of(web.at("old.parquet")) == ROWS
        with pytest.raises(SourceError, match="redirects more than 5 times"):
            read(web.at("loop.csv"))
        assert sum("loop" in asked for asked in web.asked) <= 2 * (remote.MOST_REDIRECTS + 1)

    def test_passwords_stay_with_their_server(self, web: Server) -> None:
        with running() as other:
            other.files["t.csv"] = CSV
            web.redirects["t.csv"] = f"http://{other.address}/t.csv"
            assert values_of(web.at("t.csv", f"me:{SECRET}@")) == ROWS
            assert all(web.authorizations)
            assert len(other.authorizations) > 0
            assert not any(other.authorizations)

    def test_servers_that_compress(self, web: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        web.is_compressed = True
        web.files["t.csv"] = gzip.compress(CSV)
        assert values_of(web.at("t.csv")) == ROWS
        web.files["t.csv"] = gzip.compress(CSV + bytes(1 << 24))
        monkeypatch.setattr(copies, "BOUNDS", copies.UnpackingBounds(1 << 20))
        with pytest.raises(SourceError, match="which no table does"):
            read(web.at("t.csv"))

    def test_faults(self, web: Server, impatient: None) -> None:
        web.files |= {"empty.csv": b"", "page.csv": b"<!DOCTYPE html>\n<html></html>"}
        cases = {
            "none.csv": "no such file there; check the address",
            "none.parquet": "no such file there",
            "empty.csv": "the file is empty",
            "page.csv": "holds a web page, not a table",
        }
        for name, words in cases.items():
            with pytest.raises(SourceError, match=f"{name}: {words}"):
                read(web.at(name))
        with pytest.raises(SourceError, match=r"no connection to the server|in time"):
            read("http://127.0.0.1:9/t.csv")

    @pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
    def test_a_server_that_hangs(self, web: Server, impatient: None, name: str) -> None:
        web.silent = {name}
        with pytest.raises(SourceError, match="did not answer in time"):
            read(web.at(name))

    @pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
    @pytest.mark.parametrize("knows_ranges", [True, False])
    def test_a_server_that_breaks_off(self, web: Server, name: str, knows_ranges: bool) -> None:
        web.breaks_off, web.knows_ranges = {name}, knows_ranges
        with pytest.raises(SourceError, match="broke off before the whole file had come; try"):
            read(web.at(name))

    @pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
    def test_a_server_that_drips(self, web: Server, impatient: None, name: str) -> None:
        web.drips = {name}
        with pytest.raises(SourceError, match=r"only [0-9]+ bytes came in|did not answer in time"):
            read(web.at(name))


class TestHostileParquet:
    def test_footers_that_lie(self, web: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        good, draw = parquet(), random.Random(11)
        lies = [
            good[:-8] + (10**9).to_bytes(4, "little") + b"PAR1",
            good[:-8] + bytes(4) + b"PAR1",
            good[:-4] + b"XXXX",
            good[: len(good) // 2],
            b"PAR1" + bytes(100) + b"PAR1",
            b"hello, world",
        ]
        for content in lies:
            web.files["t.parquet"] = content
            for way in (read, lambda address: rows_of(outlying.scan(address))):
                with pytest.raises(SourceError, match=r"t\.parquet: (?!.*Error)"):
                    way(web.at("t.parquet"))
        for _ in range(60):
            changed = bytearray(good)
            for _ in range(draw.choice([1, 3, 9])):
                changed[-draw.randrange(1, 700)] = draw.choice([0, 127, 128, 255])
            web.files["t.parquet"] = bytes(changed)
            try:
                read(web.at("t.parquet"))
            except OutlyingError:
                continue

    def test_more_rows_than_memory(self, web: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        zeros = pa.table({"x": pa.nulls(3_000_000, pa.int64()).fill_null(0), "y": [0] * 3_000_000})
        web.files["t.parquet"] = parquet(zeros)
        monkeypatch.setattr(copies, "BOUNDS", copies.UnpackingBounds(1 << 20))
        with pytest.raises(SourceError, match="bytes would take 48,000,000 bytes of memory"):
            read(web.at("t.parquet"))
        assert web.sent < 100_000


class TestSecrets:
    @pytest.mark.parametrize(
        ("address", "shown"),
        [
            ("https://me:hunter2@host:8/a/t.csv?sig=hunter2#x", "https://host:8/a/t.csv"),
            ("https://hunter2@host", "https://host"),
            ("s3://bucket/a@b.csv", "s3://bucket/a@b.csv"),
            ("t.csv?x", "t.csv?x"),
        ],
    )
    def test_addresses_are_shown_without(self, address: str, shown: str) -> None:
        assert without_secrets(address) == shown

    def test_never_in_results_errors_or_logs(
        self,
        web: Server,
        run: Run,
        caplog: pytest.LogCaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
        impatient: None,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        web.password = f"me:{SECRET}"
        web.files["bad.parquet"] = b"PAR1" + bytes(100) + b"PAR1"
        web.files["page.csv"] = b"<html>"
        web.redirects["loop.csv"] = f"/loop.csv?token={SECRET}"
        web.silent = {"silent.csv"}
        said = []
        for name in ("t.csv", "t.parquet"):
            address = web.at(name, f"me:{SECRET}@") + f"?token={SECRET}"
            for form in ("json", "html"):
                call = ("explain", address, "--row", 3, "--format", form)
                code, out, err = run(*call)
                assert code == 0, err
                said += [out, err]
            assert json.loads(said[0])["source"].endswith("/t.csv")
        wrong = ["none.csv", "none.parquet", "bad.parquet", "page.csv", "loop.csv", "silent.csv"]
        for name in [*wrong, "t.csv", "t.parquet"]:
            user = f"me:{SECRET}@" if name in wrong else f"you:{SECRET}@"
            address = web.at(name, user) + f"?token={SECRET}"
            for more in (("--engine", "duckdb"), ("--table", "t", "--sheet", "x")):
                code, out, err = run("explain", address, "--where", "a=1", *more)
                assert code == 2
                said += [out, err]
            with pytest.raises(OutlyingError) as caught:
                outlying.explain(address, row=0)
            said += traceback.format_exception(caught.value)
        code, out, err = run("explain", f"ftp://me:{SECRET}@host/t.csv", "--row", 1)
        said += [out, err, caplog.text]
        assert code == 2
        assert [text for text in said if SECRET in text] == []
        assert "no permission to read it; check the credentials" in "".join(said)


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    patch = pytest.MonkeyPatch()
    patch.setenv("AWS_ACCESS_KEY_ID", "key")
    patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    client = boto3.client("s3")
    client.create_bucket(Bucket="bucket")
    for name, content in {
        "t.csv": CSV,
        "t.parquet": parquet(),
        "in/1.parquet": parquet(TABLE.slice(0, 100)),
        "in/2.parquet": parquet(TABLE.slice(100)),
        "in/_log/x.parquet": b"",
        "csv/1.csv": CSV,
        "csv/2.csv": b"a,b,c\n300,t0,1.5\n",
        "keys/year=2024/1.parquet": parquet(),
        "other/1.parquet": parquet(),
        "other/2.parquet": parquet(TABLE.select(["a"])),
    }.items():
        client.put_object(Bucket="bucket", Key=name, Body=content)
    yield client
    client.close()
    patch.undo()
    server.stop()


def test_the_same_answer_as_from_a_file(web: Server, s3: Any, tmp_path: Path) -> None:
    files = {"p.csv": PATIENTS.read_bytes()}
    files["p.parquet"] = copied(tmp_path, "p.parquet", "FORMAT parquet").read_bytes()
    files["p.feather"] = write_ipc(tmp_path / "p.feather", as_arrow(tmp_path)).read_bytes()
    expected = answer(PATIENTS)
    for name, content in files.items():
        web.files[name] = content
        s3.put_object(Bucket="bucket", Key=f"patients/{name}", Body=content)
        assert answer(web.at(name)) == expected
        assert answer(f"s3://bucket/patients/{name}") == expected


class TestBuckets:
    def test_files(self, s3: Any) -> None:
        for name in ("t.csv", "t.parquet"):
            assert values_of(f"s3://bucket/{name}") == ROWS
            assert rows_of(outlying.scan(f"s3://bucket/{name}")) == sorted(ROWS, key=repr)

    def test_patterns_and_folders(self, s3: Any) -> None:
        for name in ("in/*.parquet", "in/", "in"):
            feeder: Any = registry.open_source(f"s3://bucket/{name}")
            assert rows_of(feeder) == sorted(ROWS, key=repr)
        for name in ("csv/*.csv", "csv/"):
            feeder = registry.open_source(f"s3://bucket/{name}")
            assert len(rows_of(feeder)) == 301

    def test_a_table_of_delta(self, s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        write_deltalake("s3://bucket/delta", TABLE)
        write_deltalake("s3://bucket/delta", TABLE, mode="append")
        feeder: Any = registry.open_source("s3://bucket/delta", snapshot=0)
        assert rows_of(feeder) == sorted(ROWS, key=repr)
        assert feeder.source == "s3://bucket/delta"
        assert len(rows_of(outlying.scan("s3://bucket/delta"))) == 600

    def test_refusals(self, s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, words in {
            "none.csv": "no such file there",
            "none.parquet": "no such file there",
            "none/*.parquet": "no table is there",
            "keys/": "folders give keys",
        }.items():
            with pytest.raises(SourceError, match=words):
                rows_of(outlying.scan(f"s3://bucket/{name}"))
        with pytest.raises(SourceError, match="the list holds addresses"):
            outlying.scan(["s3://bucket/t.csv"])

    def test_the_missing_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module, address in {
            "s3fs": "s3://bucket/t.csv",
            "gcsfs": "gs://bucket/t.csv",
            "adlfs": "az://bucket/t.csv",
            "fsspec": "s3://bucket/t.csv",
            "aiohttp": "https://host/t.csv",
        }.items():
            with monkeypatch.context() as patch:
                patch.setitem(sys.modules, module, None)
                patch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
                with pytest.raises(MissingExtraError, match=r"pip install '.*\[remote\]'"):
                    read(address)
