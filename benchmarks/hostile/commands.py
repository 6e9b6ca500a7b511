"""Random commands: exit code 0 or 2, no traceback, nothing that a terminal would obey, no remains.

Each runs in a process of its own, forked from one that has loaded everything.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.hostile import tables
from benchmarks.hostile.clock import TooLongError, limited
from benchmarks.hostile.report import tell
from outlying.cli import main as command_line


def files(folder: Path, rng: random.Random) -> list[str]:
    """Write some tables and other files that commands can name."""
    drawn = max((tables.columns(rng) for _ in range(rng.choice([1, 3]))), key=_size)
    made = drawn if rng.random() < 0.3 else {f"c{n}": c for n, c in enumerate(drawn.values())}
    encoded = tables.delimited(made, rng).encode(
        rng.choice(["utf-8"] * 9 + ["utf-16", "latin-1"]), "replace"
    )
    (folder / "t.csv").write_bytes(encoded)
    plain = {f"c{place}": cells for place, cells in enumerate(made.values())}
    rows = [dict(zip(plain, map(str, cells), strict=True)) for cells in _rows(plain)]
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "keys.jsonl").write_text(
        '{"c0": 1}\n' + rng.choice(["", "{", "[1]\n", '{"c1": "a"}\n'])
    )
    (folder / "rows.txt").write_text(rng.choice(["1\n", "1-3\n", "", "x", "\0", "2,1\n# 9\n"]))
    (folder / "empty.csv").write_text("")
    (folder / "folder").mkdir()
    (folder / "folder" / "a.csv").write_text("a,b\n1,2\n2,3\n3,9\n")
    with contextlib.suppress(UnicodeError):  # half a character
        pq.write_table(pa.Table.from_pylist(rows), folder / "t.parquet")
        with contextlib.closing(sqlite3.connect(folder / "t.db")) as database, database:
            database.execute(f"CREATE TABLE t ({', '.join(plain)})")
            cells = ", ".join(f":{name}" for name in plain)
            database.executemany(f"INSERT INTO t VALUES ({cells})", rows)  # noqa: S608 (our own)
    return [
        *["t.csv"] * 12,
        *["t.jsonl", "t.jsonl", "t.parquet", "t.db"],
        "folder",
        "empty.csv",
        "none.csv",
        "",
        "\x1b[2J.csv",
    ]


def _size(made: tables.Columns) -> int:
    return len(next(iter(made.values())))


def _rows(made: tables.Columns) -> list[tuple[object, ...]]:
    safe = {
        name: ["9" if type(c) is int and abs(c) > 2**64 else c for c in cells]
        for name, cells in made.items()
    }
    return list(zip(*safe.values(), strict=True))


def arguments(names: list[str], rng: random.Random) -> list[str]:
    """Draw a command."""
    command = rng.choice(["explain"] * 6 + ["detect"] * 2 + ["demo", "nonsense"])
    if command not in ("explain", "detect"):
        return [command, *rng.choice([[], ["--all"], ["--save", "saved"], ["--help"]])]
    args = [command, rng.choice(names)]
    if command == "explain":
        args += rng.choice(
            [
                *[["--row", "1"], ["--rows", "1-2"], ["--rows", "1"]] * 3,
                ["--row", str(rng.choice([0, 2, -1, 10**30]))],
                ["--rows", rng.choice(["1-3", "1,2", "3-1", "x", "1-99999"])],
                ["--rows-file", "rows.txt"],
                ["--where", rng.choice(["c0=1", "c0=", "c0", "=", "\x1b[31m=1"])],
                ["--where-file", "keys.jsonl"],
                ["--where-true", rng.choice(["c0", "c1", "none"])],
                ["--object", rng.choice(["keys.jsonl", "none", "t.csv"])],
                ["--objects", rng.choice(["t.jsonl", "keys.jsonl", "-"])],
                [],
            ]
        )
    extra = [
        ["--format", rng.choice(["text", "json", "jsonl", "html"])],
        ["-o", rng.choice(["out", "t.csv/out", "folder", ".", "", "x" * 300, "link", "/dev/null"])],
        ["--engine", rng.choice(["auto", "memory", "duckdb", "spark"])],
        ["--columns", rng.choice(["c0,c1", "none", ""])],
        ["--exclude", rng.choice(["c0", "none", ","])],
        ["--type", rng.choice(["c0=categorical", "c1=numeric", "c0=x", "c0"])],
        ["--infinite", "missing"],
        ["--references", rng.choice(["0", "2", "-1", "x"])],
        ["--workers", rng.choice(["1", "2", "0"])],
        ["--resume"],
        ["--all"],
        ["--top", rng.choice(["1", "0", "1000000"])],
        ["--table", rng.choice(["t", "\x1b"])],
        ["--query", rng.choice(["SELECT 1", "SELECT 1; DROP TABLE t", "SELECT * FROM t"])],
        ["--max-conditions", "99"] if command == "explain" else ["--rounds", "3"],
    ]
    if command == "detect":
        extra += [["--explain"], ["--score-column", rng.choice(["c0", "c1"])], ["--lowest"]]
    else:
        extra += [["--preset", "paper"], ["--exact"], ["--min-support", "0.1"], ["--seed", "3"]]
    if args[1] == "t.db":
        args += ["--table", "t"]
    for item in rng.sample(extra, rng.choice([0, 0, 1, 1, 2])):
        args += item
    return args


def attempt(seed: int) -> tuple[str, str]:
    """Run one command; return what became of it, and what is wrong with that, if anything is."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder = Path(name)
        args = arguments(files(folder, rng), rng)
        (folder / "link").symlink_to("link2")
        (folder / "link2").symlink_to("link")
        before = {path.name for path in folder.iterdir()}
        code, out, err = run(args, folder)
        new = {path.name for path in folder.iterdir()} - before
        wrong = fault_of(code, out, err, new)
    return f"exit code {code}", f"{args}: {wrong}\n{err[-800:]}" if wrong else ""


def fault_of(code: int, out: str, err: str, new: set[str]) -> str:
    """Say what is wrong with how a command has ended; nothing where all is well."""
    if code not in (0, 2):
        return f"exit code {code}"
    if "Traceback" in err or "Warning" in err:
        return "traceback or warning"
    if code == 2 and not err.strip():
        return "no message"
    if "\x1b" in err or "\x1b" in out or "\u202e" in err:
        return "speaks to the terminal"
    if left := [name for name in new if name.startswith(".")]:
        return f"left behind: {left}"
    return ""


def run(args: list[str], folder: Path) -> tuple[int, str, str]:
    """Run a command in a folder; return its exit code and what it wrote."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _become(args, folder, out.fileno(), err.fileno())
        try:
            with limited():
                _, status = os.waitpid(child, 0)
            code = os.waitstatus_to_exitcode(status)
        except TooLongError:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            code = 999
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return code, texts[0], texts[1]


def _become(args: list[str], folder: Path, out: int, err: int) -> None:
    """Run the command in this process, which ends with it."""
    code = 1
    try:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.argv = ["outlying", *args]
        command_line.main()
        code = 0
    except SystemExit as done:
        code = int(done.code or 0)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def load() -> None:
    """Load everything that commands need, once for all of them."""
    import outlying.stream.population
    from outlying.sources import read

    read({"a": [1, 2]})
    outlying.explain({"a": [1, 2, 3, 9]}, row=3).to_html()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("-o", "--output", type=Path, help="write the counts to a file, too")
    given = parser.parse_args()
    load()
    counts: collections.Counter[str] = collections.Counter()
    begin = time.monotonic()
    last = given.seed + given.runs - 1
    for seed in range(given.seed, last + 1):
        outcome, wrong = attempt(seed)
        counts[outcome] += 1
        if wrong:
            counts["FAULT"] += 1
            print(f"seed {seed}: {wrong}", flush=True)
        if seed == last or (seed - given.seed) % 500 == 499:
            done, seconds = seed - given.seed + 1, time.monotonic() - begin
            summary = f"{done:,} commands from seed {given.seed} in {seconds:.0f} s."
            tell("Hostile commands", summary, dict(counts.most_common()), given.output)
    sys.exit(1 if counts["FAULT"] else 0)


if __name__ == "__main__":
    main()
