"""One page of Markdown from the stored figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from benchmarks.speed.checks import Check, Figures, checks, ratio
from benchmarks.speed.lab import Figure
from benchmarks.speed.parts import METHODS, PARTS

#: As stored: the machine, whether the run was short, and the figures of a part.
Part: TypeAlias = dict[str, Any]

HEAD = (
    "",
    "s",
    "CPU s",
    "of which",
    "times as long",
    "MB on top",
    "MB in all",
    "MB of a child",
    "right columns",
)
INTRO = (
    "Every figure comes from processes that do nothing else: imports and the table come first, "
    "then one cold run is timed; the median of {repeats} such processes, of one where it takes a "
    "minute or more. *MB on top* is the peak during the run above what the process held before, "
    "*MB in all* the whole of it (Python, imports and the table included), *MB of a child* the "
    "largest process it started, in which Linux counts what it shares with its parent. *Times as "
    "long* compares with the first line of the same table, by CPU seconds, which other work on the "
    "machine hardly changes. Other tools run with their defaults, "
    "on all cores if that is one; their one-hot encoding counts, changing the type of columns does "
    "not.\n"
)
SHORT = "**A short run on small tables: a quick look, no result.**\n"

TITLES: dict[str, tuple[str, str]] = {
    "import": ("Import", "Medians of fresh processes, turn by turn."),
    "paper": (
        "The paper's tables",
        "One row, from a CSV file. The paper reports 6.4 + 16.8 s for Ecoli.",
    ),
    "twin": (
        "The naive twin",
        'The paper\'s own method (`preset="paper"`). The twin of the tests is written for clarity; '
        "it is stopped when it takes too long.",
    ),
    "one": (
        "One row of a table in memory",
        "A planted story each, in a pandas frame. To explain one row, all are judged once; "
        "OutlierTree explains all rows at once and has no way to explain one.",
    ),
    "fresh": (
        "One row by the command line",
        "`outlying explain FILE.parquet --row N`, start to end.",
    ),
    "judged": (
        "All rows judged",
        "`Explainer(data).strengths(workers=1)`, beside OutlierTree with one thread.",
    ),
    "million": (
        "One row of a large table in memory",
        "`small` is the table size of the parts above. The explainer's making counts.",
    ),
    "limit": (
        "The limit",
        "One row of a Parquet file, read and explained, beside what DuckDB takes to read the same "
        "columns and count a histogram of each (64 bins of equal width, or categories).",
    ),
    "many": ("Many rows of one table", "The explainer's making counts in all lines."),
    "wide": (
        "Wide tables",
        "Numeric columns in the manner of HiCS, rows that are odd in 2 to 5 of them jointly. "
        "`right columns`: rows whose first pair (or OutlierTree's only one) names exactly these.",
    ),
    "detection": (
        "Every row judged, to find the odd ones",
        "`detect(data)`. `right columns`: how many of the rows that are odd come first. `stream` "
        "is a Parquet file of the last size by `detect(scan(path))`, in passes by DuckDB, "
        "beside what DuckDB takes to read and count it.",
    ),
    "kept": (
        "New rows, judged by a model",
        "`Explainer(new, against=base).strengths()`: a fifth of the rows is the base, the others "
        "are new. Rows a second are those new rows by the seconds of the stage `score`.",
    ),
    "relations": (
        "Relations between columns",
        "Found in tables whose columns depend on four factors, or on nothing; CPU seconds count.",
    ),
    "scaling": (
        "What the cost depends on",
        "Seconds for one row, and for the other tools.",
    ),
}


def page(parts: dict[str, Part], picture: str | None) -> str:
    """Write the page; `picture` is the address of the plot, if there is one."""
    machines = {part["machine"] for part in parts.values()}
    lines = ["# Speed\n"]
    if len(machines) == 1:
        lines.append(f"{machines.pop()}\n")
    repeats = max(part["repeats"] for part in parts.values())
    lines.append(INTRO.format(repeats=repeats))
    lines += wanted(parts)
    for name in PARTS:
        if name in parts:
            lines += section(name, parts[name], with_machine=bool(machines), picture=picture)
    return "\n".join(lines)


def section(name: str, part: Part, *, with_machine: bool, picture: str | None) -> list[str]:
    """Write one part."""
    title, text = TITLES[name]
    figures: Figures = part["figures"]
    lines = [f"## {title}\n", f"{part['sizes']} {text}\n".lstrip()]
    if part["is_short"]:
        lines.append(SHORT)
    if with_machine:
        lines.append(f"{part['machine']}\n")
    if name == "scaling":
        return [*lines, *_scaling(figures), *_picture(picture)]
    groups: dict[str, list[str]] = {}
    for key in figures:
        if not key.endswith("written"):
            groups.setdefault(key.split("/")[0] if "/" in key else "", []).append(key)
    for group, keys in groups.items():
        lines.append(table((group, *HEAD[1:]), _rows(figures, keys)))
    return [*lines, *_notes(name, figures)]


def wanted(parts: dict[str, Part]) -> list[str]:
    """Write what is wanted beside what was measured, of full runs only."""
    found = [
        check
        for name in PARTS
        if name in parts and not parts[name]["is_short"]
        for check in checks(name, parts[name]["figures"])
    ]
    if not found:
        return []
    rows = ([one.what, _value(one), _limit(one), _met(one)] for one in found)
    note = (
        "Of several tables the worst counts; memory is all that the process and the largest one it "
        "started held.\n"
    )
    return ["## Wanted and measured\n", note, table(("", "measured", "at most", "met"), rows)]


def _value(check: Check) -> str:
    return f"{brief(check.value)} {check.unit}".strip()


def _limit(check: Check) -> str:
    return f"{check.limit:g} {check.unit}".strip()


def _met(check: Check) -> str:
    return {None: "not measured", True: "yes", False: "NO"}[check.is_met]


def _rows(figures: Figures, keys: Sequence[str]) -> Iterable[list[str]]:
    first = figures[keys[0]]
    for key in keys:
        figure = figures[key]
        yield [
            key.split("/")[-1],
            seconds(figure),
            brief(figure.get("cpu")),
            _stages(figure),
            _times(figure, first),
            *(whole(figure.get(name)) for name in ("peak_mb", "total_mb", "children_mb")),
            _right(figure.get("facts", {})),
        ]


def _times(figure: Figure, first: Figure) -> str:
    if figure is first:
        return "1"
    if "stopped" in figure and "seconds" in first:
        return f"more than {brief(figure['stopped'] / first['seconds'])}"
    return brief(ratio(figure, first))


def _stages(figure: Figure) -> str:
    stages = figure.get("stages", {})
    if len(stages) < 2:
        return "-"
    return ", ".join(f"{name} {brief(taken)}" for name, taken in stages.items())


def _right(facts: dict[str, Any]) -> str:
    right = facts.get("right")
    if right is None:
        return "-"
    if isinstance(right, bool):
        return "yes" if right else "no"
    return f"{right} of {facts['outlying']}"


def _notes(name: str, figures: Figures) -> list[str]:
    """Say which answers are the same."""
    if name == "twin":
        pairs = [(key, key.replace("outlying", "twin")) for key in figures if "outlying" in key]
        return _same(figures, pairs, "pairs", "the same pairs by both")
    if name == "many":
        pairs = [("many", "many, 1 worker")]
        return [
            *_same(figures, pairs, "answers", "the same JSON by one worker and by several"),
            *_alone(figures),
        ]
    return []


def _same(figures: Figures, pairs: Iterable[tuple[str, str]], fact: str, said: str) -> list[str]:
    lines = []
    for one, other in pairs:
        facts = [figures.get(key, {}).get("facts", {}).get(fact) for key in (one, other)]
        if None not in facts:
            is_same = "yes" if facts[0] == facts[1] else "NO"
            lines.append(f"{one.split('/')[0]}: {said}: {is_same}.\n")
    return lines


def _alone(figures: Figures) -> list[str]:
    facts = [figure.get("facts", {}).get("as_one_by_one") for figure in figures.values()]
    known = [fact for fact in facts if fact is not None]
    said = "yes" if all(known) else "NO"
    return [f"The first rows asked for one by one give the same JSON: {said}.\n"] if known else []


def _scaling(figures: Figures) -> list[str]:
    """Write a table for each panel: a line for each size, a column for each method."""
    lines = []
    for panel in ("rows", "columns", "conditions"):
        sizes = sorted({int(key.split("/")[2]) for key in figures if key.startswith(f"{panel}/")})
        rows = (
            [f"{size:,}", *(_at(figures, panel, method, size) for method in METHODS)]
            for size in sizes
        )
        lines.append(table((panel, *METHODS), rows))
    return lines


def _at(figures: Figures, panel: str, method: str, size: int) -> str:
    figure = figures.get(f"{panel}/{method}/{size}")
    return "" if figure is None else seconds(figure)


def _picture(picture: str | None) -> list[str]:
    return [f"![Seconds against rows, columns and conditions]({picture})\n"] if picture else []


# Bricks.


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def seconds(figure: Figure) -> str:
    """Write how long it took, or why that is not known."""
    if "seconds" in figure:
        return brief(figure["seconds"])
    if "stopped" in figure:
        return f"stopped after {figure['stopped']:.0f} s"
    if "skipped" in figure:
        return f"not run: {figure['skipped']}"
    return f"failed: {figure['error']}".replace("|", "/")


def brief(value: float | None) -> str:
    """Write a number with two or three digits that tell something."""
    if value is None:
        return "-"
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def whole(value: float | None) -> str:
    """Write a number without decimals."""
    return "-" if value is None else f"{value:,.0f}"
