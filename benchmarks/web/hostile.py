"""Hostile uploads: each must end in a clear error or a table, the server alive, memory bounded.

    python -m benchmarks.web.hostile [--only NAME]

A line of 1 GB, a bomb of a gzip and of a workbook, Parquet files that lie about their sizes,
100,000 columns, HTML in every cell and name. Told are what the server said, how long it took, and
the most memory that its processes held.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx

from tests.serving import Served, descendants, finished, served

_MEGABYTE = 1 << 20
_HTML = '<script>alert("x")</script><img src=x onerror=alert(1)>'


def one_line(size: int = 1 << 30) -> Iterator[bytes]:
    """Yield a file of one line that does not end."""
    for _ in range(size // _MEGABYTE):
        yield b"x" * _MEGABYTE


def gzip_bomb(size: int = 4 << 30) -> Iterator[bytes]:
    """Yield a gzip file of 6 MB that holds 4 GB, part by part the same bytes."""
    part = gzip.compress(b"1,2,3\n" * (_MEGABYTE * 8), 9)
    yield gzip.compress(b"a,b,c\n")
    for _ in range(size // (48 * _MEGABYTE)):
        yield part


def workbook_bomb(size: int = 1 << 30) -> Iterator[bytes]:
    """Yield a workbook whose sheet holds 1 GB of cells."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="xml" ContentType="application/xml"/></Types>',
        )
        book.writestr(
            "_rels/.rels",
            '<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/'
            'officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>'
            "</Relationships>",
        )
        book.writestr(
            "xl/workbook.xml",
            '<workbook xmlns:r="r"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets>'
            "</workbook>",
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/'
            'officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>'
            "</Relationships>",
        )
        with book.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(b"<worksheet><sheetData>")
            row = b"<row>" + b"<c><v>1</v></c>" * 60_000 + b"</row>"
            for _ in range(size // len(row)):
                sheet.write(row)
            sheet.write(b"</sheetData></worksheet>")
    yield out.getvalue()


def lying_parquet() -> Iterator[bytes]:
    """Yield a Parquet file whose pages claim to be far larger than they are."""
    import pyarrow
    import pyarrow.parquet

    out = io.BytesIO()
    table = pyarrow.table({"a": list(range(1000)), "b": [f"t{n}" for n in range(1000)]})
    pyarrow.parquet.write_table(table, out, compression="zstd")
    content = bytearray(out.getvalue())
    for place in range(60, len(content) - 8, 97):
        content[place] = 0xFF
    yield bytes(content)


def long_footer() -> Iterator[bytes]:
    """Yield a Parquet file whose footer claims to have 4 GB."""
    yield b"PAR1" + b"\0" * 1000 + b"\xff\xff\xff\xff" + b"PAR1"


def wide(columns: int = 100_000) -> Iterator[bytes]:
    """Yield a file of very many columns."""
    yield ",".join(f"c{place}" for place in range(columns)).encode() + b"\n"
    for row in range(50):
        yield ",".join([str(row)] * columns).encode() + b"\n"


def html_everywhere() -> Iterator[bytes]:
    """Yield a file with HTML in every name and cell."""
    quoted = '"' + _HTML.replace('"', '""') + '{}"'
    yield ",".join(quoted.format(place) for place in range(5)).encode() + b"\n"
    for row in range(300):
        yield ",".join(quoted.format(f"{row % 3}{place}") for place in range(5)).encode() + b"\n"


FILES: dict[str, tuple[str, Callable[[], Iterator[bytes]]]] = {
    "a line of 1 GB": ("line.csv", one_line),
    "more than allowed": ("more.csv", lambda: one_line(1100 << 20)),
    "a bomb of a gzip": ("bomb.csv.gz", gzip_bomb),
    "a bomb of a workbook": ("bomb.xlsx", workbook_bomb),
    "lying Parquet": ("lying.parquet", lying_parquet),
    "a long footer": ("footer.parquet", long_footer),
    "100,000 columns": ("wide.csv", wide),
    "HTML everywhere": ("html.csv", html_everywhere),
}


class Memory(threading.Thread):
    """The most memory that a server and its workers hold, watched."""

    def __init__(self, server: Served) -> None:
        super().__init__(daemon=True)
        self._server, self.most, self.is_over = server, 0, False

    def run(self) -> None:
        """Look ten times a second."""
        pid = self._server.process.pid
        while not self.is_over:
            held = sum(map(_resident, (pid, *descendants(pid))))
            self.most = max(self.most, held)
            time.sleep(0.1)


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 >> 20
    return 0


def said(client: httpx.Client, name: str, content: Iterator[bytes]) -> str:
    """Upload a file, and return what the server says."""
    try:
        answer = client.post("/api/v1/tables", params={"name": name}, content=content)
    except httpx.WriteError:
        return "refused while it was sent"
    if answer.status_code != 202:
        return f"{answer.status_code}: {answer.json()['error']}"
    found = answer.json()
    job = finished(client, found["job"], 600)
    client.delete(f"/api/v1/tables/{found['table']['id']}")
    return f"{job['state']}: {job['error'] or 'a table'}"


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--only", choices=list(FILES))
    given = reader.parse_args()
    for title, (name, content) in FILES.items():
        if given.only in (None, title):
            with served(options=("--max-memory", "4096")) as server, server.client() as client:
                client.timeout = httpx.Timeout(600)
                memory = Memory(server)
                memory.start()
                begin = time.perf_counter()
                words = said(client, name, content())
                seconds = time.perf_counter() - begin
                memory.is_over = True
                is_alive = client.get("/api/v1/tables").status_code == 200
                alive = "alive" if is_alive else "DEAD"
                print(
                    f"{title}: {seconds:.1f} s, at most {memory.most:,} MB, {alive}\n  {words}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
