"""Outputs onto inputs, and files from others that would read more than themselves.

Whatever a command is asked to write, what it reads is the same afterwards; whatever a database or
a lake names, a canary that lies beside it is never shown. Exit code 0 or 2, no traceback.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.hostile import commands
from benchmarks.hostile.report import tell

CANARY = "canary-666"
FORMS = ("text", "json", "jsonl", "html")
Trial = Callable[[random.Random, Path], tuple[list[str], str]]
"""Prepares a folder; returns a command, and what kind of trial it is."""


def onto_input(rng: random.Random, folder: Path) -> tuple[list[str], str]:
    """Name a file that is read as the one to write, in some way or other."""
    rows = "".join(f"{row},{row * row % 7},{int(row == 3)}\n" for row in range(40))
    (folder / "parts").mkdir()
    for name in ("p.csv", "parts/a.csv", "parts/b.csv"):
        (folder / name).write_text(f"a,b,odd\n{rows}")
    (folder / "object.json").write_text('{"a": 3, "b": 5, "odd": 0}\n')
    (folder / "rows.txt").write_text("1\n2\n")
    with duckdb.connect(str(folder / "d.duckdb")) as made:
        made.execute(f"CREATE TABLE t AS FROM '{folder / 'p.csv'}'")
    with contextlib.closing(sqlite3.connect(folder / "s.db")) as lite, lite:
        lite.execute("CREATE TABLE t AS SELECT 3 AS a, 1 AS odd UNION SELECT 4, 0")
    where = ["--where-true", "odd"]
    read, args = rng.choice(
        [
            ("p.csv", ["explain", "p.csv", "--row", "3"]),
            ("p.csv", ["detect", "p.csv", *rng.choice([[], ["--explain"]])]),
            ("object.json", ["explain", "p.csv", "--object", "object.json"]),
            ("object.json", ["explain", "p.csv", "--objects", "object.json"]),
            ("rows.txt", ["explain", "p.csv", "--rows-file", "rows.txt"]),
            ("d.duckdb", ["explain", "d.duckdb", "--table", "t", *where]),
            ("s.db", ["explain", "s.db", "--table", "t", *where]),
            ("parts/b.csv", ["explain", rng.choice(["parts", "parts/*.csv", "**/b.csv"]), *where]),
        ]
    )
    form = rng.choice(FORMS)
    if form == "html" and args[0] == "detect" and "--explain" not in args:
        args.append("--explain")
    how = rng.choice(["same", "dot", "up", "absolute", "link", "link to link", "hard link"])
    target = _alias(how, folder, read)
    (folder / "kept").mkdir()
    shutil.copytree(folder, folder / "kept" / "all", ignore=lambda *_: ["kept"], symlinks=True)
    return [*args, "--format", form, "-o", target], f"output onto input ({how})"


def _alias(how: str, folder: Path, read: str) -> str:
    """Name a file in another way."""
    if how in ("link", "link to link"):
        (folder / "link").symlink_to(read)
        (folder / "link2").symlink_to("link")
        return how.replace("link to link", "link2")
    if how == "hard link":
        os.link(folder / read, folder / "hard")
        return "hard"
    names = {"same": read, "dot": f"./{read}", "up": f"../{folder.name}/{read}"}
    return names.get(how, str(folder / read))


def partial_link(rng: random.Random, folder: Path) -> tuple[list[str], str]:
    """Put something in the place where lines are kept."""
    args, _ = onto_input(rng, folder)
    args = [*args[: args.index("--format")], "--format", "jsonl", "-o", "out"]
    precious = folder / "precious"
    precious.write_text(rng.choice(["", CANARY]))
    if rng.random() < 0.5:
        (folder / "out.partial").symlink_to("precious")
    else:
        os.link(precious, folder / "out.partial")
    shutil.copy(precious, folder / "kept" / "all" / "precious")
    return [*args, *rng.choice([[], ["--resume"]])], "lines through a link"


_VIEWS = (
    "SELECT content AS a, 1 AS b FROM read_text('{c}')",
    "SELECT CAST(content AS VARCHAR) AS a, 1 AS b FROM read_blob('{c}')",
    "SELECT * FROM read_csv('{c}')",
    "SELECT * FROM '{c}'",
    "SELECT file AS a, 1 AS b FROM glob('{f}/*')",
    "SELECT * FROM read_parquet('{f}/other.parquet')",
    "SELECT a, b FROM own WHERE a IN (SELECT content FROM read_text('{c}')) OR 1 = 1",
    "SELECT * FROM hidden()",
    "SELECT * FROM own",
)


def duckdb_view(rng: random.Random, folder: Path) -> tuple[list[str], str]:
    """Make a database whose view reads other files, or only itself."""
    canary = folder / f"{CANARY}.csv"
    canary.write_text(f"a,b\n{CANARY},1\n{CANARY},2\n")
    pq.write_table(pa.table({"a": [CANARY] * 3, "b": [1, 2, 3]}), folder / "other.parquet")
    with duckdb.connect(str(folder / "d.duckdb")) as made:
        made.execute("CREATE TABLE own AS SELECT 'x' || i AS a, i AS b FROM range(40) t(i)")
        made.execute(f"CREATE MACRO hidden() AS TABLE FROM read_csv('{canary}')")
        view = rng.choice(_VIEWS).format(c=canary, f=folder)
        made.execute(f"CREATE VIEW v AS {view}")
    named = rng.choice(
        [["--table", "v"]] * 4
        + [["--query", "SELECT * FROM v"], ["--table", str(canary)], ["--query", view]]
    )
    form = rng.choice(FORMS)
    return ["explain", "d.duckdb", *named, "--where", "b=1", "--format", form], "views of DuckDB"


def sqlite_view(rng: random.Random, folder: Path) -> tuple[list[str], str]:
    """Make a database of SQLite whose view calls what may reach files."""
    canary = folder / f"{CANARY}.csv"
    canary.write_text(f"a,b\n{CANARY},1\n")
    call = rng.choice([f"readfile('{canary}')", f"load_extension('{canary}')", "'x'"])
    with contextlib.closing(sqlite3.connect(folder / "s.db")) as made, made:
        made.execute(f"CREATE VIEW v AS SELECT {call} AS a, 1 AS b UNION SELECT 'y', 2")
    attach = ["--query", f"ATTACH '{canary}' AS other"]
    named = rng.choice([["--table", "v"], ["--query", "SELECT * FROM v"], attach])
    return ["explain", "s.db", *named, "--where", "b=1"], "views of SQLite"


def delta_log(rng: random.Random, folder: Path) -> tuple[list[str], str]:
    """Write a lake whose log names a file elsewhere, by hand: its library does not like forks."""
    other, log = folder / "other.parquet", folder / "lake" / "_delta_log"
    log.mkdir(parents=True)
    pq.write_table(pa.table({"a": [CANARY] * 3, "b": [1, 2, 3]}), other)
    pq.write_table(
        pa.table({"a": ["x", "y", "z"], "b": [1, 2, 3]}), folder / "lake" / "own.parquet"
    )
    names = ["../other.parquet", str(other), other.as_uri(), "%2E%2E/other.parquet", "own.parquet"]
    name = rng.choice(names)
    size = (folder / "lake" / "own.parquet" if name == "own.parquet" else other).stat().st_size
    columns = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("a", "string"), ("b", "long"))
    ]
    meta = {"id": "hostile", "format": {"provider": "parquet", "options": {}}}
    meta |= {"schemaString": json.dumps({"type": "struct", "fields": columns})}
    lines = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": meta | {"partitionColumns": [], "configuration": {}, "createdTime": 0}},
        {
            "add": {"path": name, "size": size, "partitionValues": {}}
            | {"modificationTime": 0, "dataChange": True}
        },
    ]
    (log / f"{0:020}.json").write_text("\n".join(map(json.dumps, lines)))
    return ["explain", "lake", "--where", "b=1"], "logs of Delta Lake"


def iceberg_metadata(rng: random.Random, folder: Path) -> tuple[list[str], str]:
    """Write metadata of Iceberg that name files elsewhere."""
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("hostile", warehouse=folder.as_uri())
    catalog.create_namespace("lake")
    data = pa.table({"a": [CANARY] * 3, "b": [1, 2, 3]})
    elsewhere = (folder / "elsewhere").as_uri()
    properties = {"write.data.path": elsewhere} if rng.random() < 0.5 else {}
    catalog.create_table("lake.t", data.schema, properties=properties).append(data)
    if not properties:
        path = folder / "lake" / "t"
        path.rename(folder / "elsewhere")
        (path / "metadata").mkdir(parents=True)
        last = max((folder / "elsewhere" / "metadata").glob("*.metadata.json"))
        text = last.read_text().replace(path.as_uri(), elsewhere)
        (path / "metadata" / last.name).write_text(text)
    return ["explain", "lake/t", "--where", "b=1"], "metadata of Iceberg"


TRIALS: tuple[Trial, ...] = (
    *(onto_input, onto_input, duckdb_view, duckdb_view),
    *(partial_link, sqlite_view, delta_log, iceberg_metadata),
)


def attempt(seed: int) -> tuple[str, str]:
    """Run one command; return what became of it, and what is wrong with that, if anything is."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder = Path(name)
        args, kind = TRIALS[seed % len(TRIALS)](rng, folder)
        code, out, err = commands.run(args, folder)
        wrong = commands.fault_of(code, out, err, set())
        if CANARY in out:
            wrong = "shows a file that is not its own"
        kept = folder / "kept" / "all"
        for path in (path for path in kept.rglob("*") if path.is_file()):
            now = folder / path.relative_to(kept)
            if not now.exists() or now.read_bytes() != path.read_bytes():
                wrong = f"{path.name} has been changed"
    outcome = "answered" if code == 0 else "refused" if code == 2 else f"exit code {code}"
    return f"{kind}: {outcome}", f"{args}: {wrong}\n{err[-800:]}" if wrong else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("-o", "--output", type=Path, help="write the counts to a file, too")
    given = parser.parse_args()
    commands.load()
    counts: collections.Counter[str] = collections.Counter()
    faults = 0
    for seed in range(given.seed, given.seed + given.runs):
        outcome, wrong = attempt(seed)
        counts[outcome] += 1
        if wrong:
            faults += 1
            print(f"seed {seed}: {wrong}", flush=True)
    summary = f"{given.runs:,} commands from seed {given.seed}, {faults} faults of ours."
    found = dict(sorted(counts.items())) | ({"FAULT": faults} if faults else {})
    tell("Files from others, outputs onto inputs", summary, found, given.output)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
