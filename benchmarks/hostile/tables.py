"""Generators of hostile tables: values at the ends of their types, names and texts of all kinds."""

from __future__ import annotations

import csv
import datetime as dt
import decimal
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Columns: TypeAlias = dict[str, list[Any]]
Draw: TypeAlias = Callable[[random.Random], Any]

FLOATS = (0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1e308, -1.7e308, 1.0, -1.0, 1e-300, 0.1, 1e16)
INTEGERS = (0, 1, -1, 2**31, 2**53, 2**53 + 1, -(2**63), 2**63 - 1, 2**64, 10**30, 10**400)
TEXTS = (
    *("", " ", "\0", "\n", "\t", "\x1b[31mred", "\u202eturned", "ä", "漢字", "😀", "\ud800"),
    *("NaN", "nan", "NA", "None", "null", "true", "1", "1.0", "01", "-", "<b>&amp;", "'", '"'),
    *("${7*7}", "{{x}}", "%s", "=1+1", "a" * 300, "a,b;c|d", "2024-02-30", "1e5", "\ufeff"),
)
MOMENTS = (
    *(dt.datetime.min, dt.datetime.max, dt.datetime(1970, 1, 1), dt.datetime(2024, 2, 29, 12)),
    dt.datetime(1, 1, 2, 3, 4, 5, 6),
)
OTHERS = (b"x", [1], {"a": 1}, (), {1}, 1j, object, float, NotImplemented, range(3))


def _some(values: Sequence[Any]) -> Draw:
    return lambda rng: rng.choice(values)


def _zoned(rng: random.Random) -> dt.datetime:
    zone = dt.timezone(dt.timedelta(minutes=rng.randint(-1439, 1439)))
    return rng.choice(MOMENTS).replace(tzinfo=zone)


def _duration(rng: random.Random) -> dt.timedelta:
    ends = (dt.timedelta.min, dt.timedelta.max, dt.timedelta(0), dt.timedelta(microseconds=-1))
    return rng.choice([*ends, dt.timedelta(seconds=rng.gauss(0, 1e5))])


def _decimal(rng: random.Random) -> decimal.Decimal:
    return decimal.Decimal(rng.choice(["0", "1.50", "1E+400", "-1E-400", "NaN", "sNaN", "7"]))


#: How a cell of each kind of column is drawn.
KINDS: dict[str, Draw] = {
    "normal": lambda rng: rng.gauss(0, 1),
    "clusters": lambda rng: rng.choice([0, 0, 100]) + rng.gauss(0, 1),
    "far": lambda rng: 1e9 + rng.gauss(0, 1e-3),
    "counts": lambda rng: rng.randint(0, 9),
    "constant": _some((7,)),
    "floats": _some(FLOATS),
    "integers": _some(INTEGERS),
    "letters": _some("aabbbc"),
    "texts": _some(TEXTS),
    "flags": lambda rng: rng.random() < 0.3,
    "moments": _some(MOMENTS),
    "days": lambda rng: dt.date(2024, 1, 1) + dt.timedelta(days=rng.randint(0, 99)),
    "zoned": _zoned,
    "durations": _duration,
    "times": lambda rng: dt.time(rng.randint(0, 23), rng.randint(0, 59)),
    "decimals": _decimal,
    "infinite": _some((1.0, 2.0, float("inf"), float("-inf"))),
    "others": _some(OTHERS),
    "nothing": _some((None,)),
    "mixed": lambda rng: rng.choice([1, "1", 1.0, True, None, dt.date.min, b"1", 2**70]),
}
_USUAL = ("normal", "clusters", "counts", "letters", "flags", "days")


def columns(rng: random.Random) -> Columns:
    """Draw a table: of few rows most often, some columns ordinary, some not."""
    rows = rng.choice([1, 2, 3, 5, 8, 20, 60, 150])
    names = [
        rng.choice([f"c{place}", f"c{place}", _name(rng)]) for place in range(rng.randint(1, 6))
    ]
    made: Columns = {}
    for name in names:
        draw = KINDS[rng.choice([*_USUAL, rng.choice([*KINDS])])]
        gaps = rng.choice([0, 0, 0, 0.1, 0.9])
        made[name] = [None if rng.random() < gaps else draw(rng) for _ in range(rows)]
    return made


def _name(rng: random.Random) -> str:
    return str(rng.choice(TEXTS)) + rng.choice(["", " ", "x"])


def _pandas(made: Columns, folder: Path) -> Any:  # noqa: ARG001 - as the others
    import pandas as pd

    return pd.DataFrame({name: _array(cells) for name, cells in made.items()})


def _typed_pandas(made: Columns, folder: Path) -> Any:
    """Return a frame with types of pandas' own, the first column as categories."""
    frame = _pandas(made, folder).convert_dtypes()
    first = frame.columns[0]
    return frame.assign(**{first: frame[first].astype("category")})


def _polars(made: Columns, folder: Path) -> Any:  # noqa: ARG001 - as the others
    import polars as pl

    return pl.DataFrame(made, strict=False)


def _arrow(made: Columns, folder: Path) -> Any:  # noqa: ARG001 - as the others
    import pyarrow as pa

    return pa.table(made)


def _parquet(made: Columns, folder: Path) -> Any:
    import pyarrow.parquet as pq

    pq.write_table(_arrow(made, folder), folder / "t.parquet", row_group_size=7)
    return folder / "t.parquet"


def _scanned(made: Columns, folder: Path) -> Any:
    import outlying

    return outlying.scan(_parquet(made, folder))


def _csv(made: Columns, folder: Path) -> Any:
    with (folder / "t.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(made)
        writer.writerows(zip(*made.values(), strict=True))
    return folder / "t.csv"


def _json_lines(made: Columns, folder: Path) -> Any:
    rows = (dict(zip(made, cells, strict=True)) for cells in zip(*made.values(), strict=True))
    text = "".join(json.dumps(row, default=str) + "\n" for row in rows)
    (folder / "t.jsonl").write_text(text)
    return folder / "t.jsonl"


Carry: TypeAlias = Callable[[Columns, Path], Any]

#: Whatever holds a table: dicts, arrays, frames of libraries that take it, files, streams.
CARRIERS: dict[str, Carry] = {
    "dict": lambda made, _: made,
    "arrays": lambda made, _: {name: _array(cells) for name, cells in made.items()},
    "one array": lambda made, _: np.array([*zip(*made.values(), strict=True)], dtype=object),
    "pandas": _pandas,
    "pandas, typed": _typed_pandas,
    "polars": _polars,
    "polars, lazy": lambda made, folder: _polars(made, folder).lazy(),
    "arrow": _arrow,
    "parquet": _parquet,
    "parquet, streamed": _scanned,
    "csv": _csv,
    "json lines": _json_lines,
}
STREAMS = ("polars, lazy", "parquet, streamed")

#: Of these the order of rows does not decide which types the columns have.
KEEPS_TYPES = ("dict", "arrays", "pandas", "arrow", "parquet", "parquet, streamed")


def _array(cells: list[Any]) -> Any:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def delimited(made: Columns, rng: random.Random) -> str:
    """Write a table as text of some kind of CSV, at times with a fault."""
    mark = rng.choice(",,,;\t|")
    write: Callable[[Any], str] = rng.choice([_plain, _plain, _quoted])
    lines = [mark.join(map(write, made))]
    lines += [
        mark.join("" if cell is None else _cell(cell, write) for cell in cells)
        for cells in zip(*made.values(), strict=True)
    ]
    if rng.random() < 0.1:
        lines.insert(rng.randrange(len(lines)), rng.choice(["", "a" + mark, '"', mark * 9, "\0"]))
    end = rng.choice(["\n", "\n", "\n", "\r\n", "\r"])
    return end.join(lines) + rng.choice(["", end])


def _plain(cell: Any) -> str:
    return str(cell)


def _quoted(cell: Any) -> str:
    return '"' + str(cell).replace('"', '""') + '"'


def _cell(cell: Any, write: Callable[[Any], str]) -> str:
    try:
        return write(cell)
    except ValueError:  # more digits than Python writes
        return write("9" * 50)
