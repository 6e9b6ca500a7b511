"""What is measured: each part is a function that asks the laboratory for figures by name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from benchmarks.speed.lab import Figure, Lab
from benchmarks.speed.spec import Spec

STORIES = ("category", "interval", "xor")
STORY = "category"  # where one table is enough
ONE_THREAD: dict[str, Any] = {"nthreads": 1}
PAPER: dict[str, Any] = {"preset": "paper"}
#: The same for the naive twin, which has no preset.
TWIN: dict[str, Any] = {
    "search": "exhaustive",
    "minimality": "strict",
    "measure": "paper",
    "scales": "one",
    "interval": "span",
    "min_support": 0.2,
    "max_conditions": 3,
}
#: The paper's tables: the row it explains, from 0, and the columns it leaves out.
PAPER_ROWS: dict[str, tuple[int, list[str]]] = {
    "ecoli": (222, ["site"]),
    "yeast": (989, ["name", "site"]),
    "cloud": (353, []),
}
IMPORTS = 9  # rounds


def imports(lab: Lab) -> None:
    """Time the imports in fresh processes; the start of Python does not count."""
    code = "from time import perf_counter as t; a = t(); import {}; print(t() - a)"
    names = ("numpy", "outlying")
    commands = {name: [sys.executable, "-c", code.format(name)] for name in names}
    lab.turns(commands, IMPORTS)


def twin(lab: Lab) -> None:
    """Explain by the paper's own method, by the library and by the naive twin."""
    options = PAPER | {"top": 10_000}
    for rows, columns in lab.sizes.twin:
        name = f"{rows} x {columns}"
        table: dict[str, Any] = {"kind": "xor", "rows": rows, "columns": columns}
        lab.measure(f"{name}/outlying", Spec("explain", **table, options=options))
        lab.measure(
            f"{name}/twin",
            Spec("twin", **table, options=TWIN),
            repeats=1,
            patience=lab.sizes.twin_patience,
        )


def one(lab: Lab) -> None:
    """Explain one row of a mixed table in memory."""
    for kind in STORIES:
        table: dict[str, Any] = {
            "kind": kind,
            "rows": lab.sizes.rows,
            "columns": lab.sizes.columns,
        }
        lab.measure(f"{kind}/outlying", Spec("explain", **table, says=True))
        lab.measure(f"{kind}/OutlierTree", Spec("trees", **table))
        lab.measure(f"{kind}/IF + SHAP", Spec("forest", **table))


def fresh(lab: Lab) -> None:
    """Explain one row of a Parquet file by the command line."""
    for kind in STORIES:
        path, row = _written(lab, kind, lab.sizes.rows)
        begin = [sys.executable, "-m", "outlying", "explain", path, "--row", str(row + 1)]
        lab.command(f"{kind}/command line", begin)


def judged(lab: Lab) -> None:
    """Judge all rows of a long table, of a wide one and of a large one, by one thread."""
    sizes = lab.sizes
    tables: dict[str, dict[str, Any]] = {
        "long": {"kind": STORY, "rows": sizes.rows, "columns": sizes.columns},
        "wide": {"kind": "subspaces", "rows": 1000, "columns": sizes.middle},
        "large": {"kind": STORY, "rows": sizes.large, "columns": sizes.columns},
    }
    for name, table in tables.items():
        lab.measure(f"{name}/outlying", Spec("strengths", **table, workers=1))
        repeats = 1 if name == "large" else None
        trees = Spec("trees", **table, options=ONE_THREAD)
        lab.measure(f"{name}/OutlierTree", trees, repeats=repeats)


def million(lab: Lab) -> None:
    """Explain one row of a large table in memory, and see how the cost grew."""
    table: dict[str, Any] = {"kind": STORY, "columns": lab.sizes.columns, "says": True}
    for size, rows in (("small", lab.sizes.rows), ("large", lab.sizes.large)):
        lab.measure(f"{size}/outlying", Spec("explainer", **table, rows=rows))
    large = table | {"rows": lab.sizes.large}
    lab.measure("large/IF + SHAP", Spec("forest", **large))
    lab.measure("large/OutlierTree", Spec("trees", **large), repeats=1)


def limit(lab: Lab) -> None:
    """Compare with what merely reading and counting the columns of a file takes."""
    path, row = _written(lab, STORY, lab.sizes.large)
    lab.measure("outlying", Spec("explain", path=path, row=row, says=True))
    lab.measure("DuckDB", Spec("histograms", path=path))


def many(lab: Lab) -> None:
    """Explain many rows of one table, against the cost of one."""
    sizes = lab.sizes
    asked: dict[str, Any] = {"kind": STORY, "rows": sizes.rows, "columns": sizes.columns}
    asked |= {"says": True}
    lab.measure("one", Spec("explainer", **asked))
    lab.measure("many", Spec("many", **asked, objects=sizes.objects))
    lab.measure("many, 1 worker", Spec("many", **asked, objects=sizes.objects, workers=1))


def paper(lab: Lab) -> None:
    """Explain the paper's objects from CSV files, at its settings; Ecoli at ours, too."""
    for name, (row, exclude) in PAPER_ROWS.items():
        path = lab.data / f"{name}.csv" if lab.data else None
        if path is None or not path.exists():
            lab.skip(name, f"--data names no folder with {name}.csv")
            continue
        table: dict[str, Any] = {"path": str(path.resolve()), "row": row}
        excluded: dict[str, Any] = {"exclude": exclude}
        lab.measure(name, Spec("explain", **table, options=excluded | PAPER))
        if name == "ecoli":
            lab.measure(f"{name}, defaults", Spec("explain", **table, options=excluded))


def wide(lab: Lab) -> None:
    """Explain all outlying rows of a table of many columns; one row of other widths."""
    for columns in lab.sizes.wide:
        table: dict[str, Any] = {"kind": "subspaces", "rows": 1000, "columns": columns}
        lab.measure(f"{columns}/outlying, one row", Spec("explain", **table, says=True))
        lab.measure(f"{columns}/OutlierTree", Spec("trees", **table))
        if columns == lab.sizes.middle:
            lab.measure(f"{columns}/outlying, all outlying rows", Spec("many", **table))
            path, row = _written(lab, "subspaces", 1000, columns)
            begin = [sys.executable, "-m", "outlying", "explain", path, "--row", str(row + 1)]
            lab.command(f"{columns}/command line", begin)


def detection(lab: Lab) -> None:
    """Rank the rows of a wide table, of a long one, and of a file that is read as a stream."""
    sizes = lab.sizes
    wide = Spec("detect", kind="subspaces", rows=1000, columns=sizes.middle)
    lab.measure("wide/outlying", wide)
    lab.measure("long/outlying", Spec("detect", kind=STORY, rows=sizes.rows, columns=sizes.columns))
    path, _ = _written(lab, STORY, sizes.large)
    lab.measure("stream/outlying", Spec("detect_stream", path=path))
    lab.measure("stream/DuckDB", Spec("histograms", path=path))


def kept(lab: Lab) -> None:
    """Judge new rows by a model that they are no part of; by one thread and by all."""
    table: dict[str, Any] = {"kind": STORY, "rows": lab.sizes.rows, "columns": lab.sizes.columns}
    for workers in (1, None):
        name = "one thread" if workers else "all threads"
        lab.measure(name, Spec("against", **table, workers=workers))


def relations(lab: Lab) -> None:
    """Find relations between columns, of tables that have many; by one thread."""
    for rows, columns in lab.sizes.related:
        table: dict[str, Any] = {"kind": "related", "rows": rows, "columns": columns}
        lab.measure(f"{rows} x {columns}", Spec("relations", **table))


def scaling(lab: Lab) -> None:
    """See what rows, columns and conditions cost; a method that was stopped goes no further."""
    sizes = lab.sizes
    for rows in sizes.scaling_rows:
        _scaled(lab, "rows", rows, {"kind": "xor", "rows": rows, "columns": sizes.columns})
    for columns in sizes.scaling_columns:
        _scaled(lab, "columns", columns, {"kind": "xor", "rows": 1000, "columns": columns})
    rows, columns = sizes.scaling_table
    table = {"kind": "xor", "rows": rows, "columns": columns}
    for most in sizes.scaling_conditions:
        _scaled(lab, "conditions", most, table, {"max_conditions": most})


#: Method: job, options. Other tools know no number of conditions: they are asked once.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "outlying": ("explain", {}),
    "outlying, the paper's method": ("explain", PAPER),
    "OutlierTree": ("trees", {}),
    "IF + SHAP": ("forest", {}),
}


def _scaled(
    lab: Lab, panel: str, at: int, table: dict[str, Any], options: dict[str, Any] | None = None
) -> None:
    for method, (job, own) in METHODS.items():
        before = [key for key in lab.figures if key.startswith(f"{panel}/{method}/")]
        if options is not None and job != "explain" and before:
            continue
        name = f"{panel}/{method}/{at}"
        if before and _has_ended(lab.figures[before[-1]]):
            lab.skip(name, "a smaller one was stopped")
            continue
        given = own | options if options and job == "explain" else own
        spec = Spec(job, **table, options=given)
        lab.measure(name, spec, patience=lab.sizes.scaling_patience)


def _has_ended(figure: Figure) -> bool:
    return "stopped" in figure or "skipped" in figure


def _written(lab: Lab, kind: str, rows: int, columns: int | None = None) -> tuple[str, int]:
    """Write a made table as Parquet; give its path and its first outlying row."""
    path = str(lab.folder / f"{kind}-{rows}.parquet")
    spec = Spec("write", kind=kind, rows=rows, columns=columns or lab.sizes.columns, path=path)
    figure = lab.measure(f"{kind}/written", spec, repeats=1)
    return path, int(figure["facts"]["row"])


PARTS: dict[str, Callable[[Lab], None]] = {
    "import": imports,
    "paper": paper,
    "twin": twin,
    "one": one,
    "fresh": fresh,
    "judged": judged,
    "million": million,
    "limit": limit,
    "many": many,
    "wide": wide,
    "detection": detection,
    "kept": kept,
    "relations": relations,
    "scaling": scaling,
}
