"""One page of Markdown from the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.machine import header
from benchmarks.quality import peers
from benchmarks.quality.errors import dirty, tables
from benchmarks.quality.errors.plan import Settings, left_out
from benchmarks.quality.errors.run import Row, failures
from benchmarks.quality.errors.summary import Figures, Shares, figures, seconds
from benchmarks.quality.ours import Ours
from benchmarks.quality.report import brief, table

MISSED = 20  # rows told at the end
HABITS = "Typos, wrong hours, keys that are given twice, money, misread dates"


def page(rows: Sequence[Row], settings: Settings) -> str:
    """Write the page."""
    found, methods = figures(rows), settings.methods
    parts = [
        header("Wrong cells: who finds them"),
        _intro(settings),
        *_section(found, methods, "copies", "Errors as people make them, one in a table", _cell),
        *_section(found, methods, "copies by kind", "By kind of error, both halves", _cell),
        *_section(found, methods, "copies by table", "By table, all kinds of error", _cell),
        *_section(found, methods, "batches", "1 to 3% of the rows wrong at once", _cell),
        *_section(found, methods, "batches by kind", "The same by kind of error", _cell),
        *_section(found, methods, "habits", HABITS, _cell),
        *_section(found, methods, "habits by table", "By table", _cell),
        *_section(found, methods, "data.gov", "Tables of data.gov, one wrong cell", _cell),
        *_section(found, methods, "data.gov by table", "By table", _cell),
        *_section(found, methods, "hospital", "The hospital table", _cell),
        *_section(found, methods, "groups", "Amounts wrong for their own account", _told),
        *_section(found, methods, "faint", "Faint stories", _told),
        *_section(found, methods, "relations", "What the other columns and rows say", _cell),
        *_section(found, methods, "examples", "Examples that anyone understands", _cell),
        *_times(rows),
        *_missed(rows),
        *_failures(rows),
    ]
    return "\n".join(parts)


def _intro(settings: Settings) -> str:
    lines = [
        "A cell reads: share of the wrong rows whose first answer **names** a wrong column in "
        "whichever role / calls it the **odd** one / that are called **exceptional** / exceptional "
        "or **unusual**; in brackets, the shares of clean rows of the same tables that are called "
        "exceptional / exceptional or unusual. Other tools know no such steps. "
        f"`{Ours.name}` runs with its defaults, the other tools with theirs. Those that only rank "
        "columns (IF + SHAP, ECOD, robust z) name as many as we do for the same row; a row that "
        "OutlierTree does not flag has no answer.",
        "Half of the tables are for choosing options and rules, half only for reporting; which is "
        "fixed:",
        f"- choose: {', '.join((*tables.CHOOSE, *dirty.CHOOSE))}\n"
        f"- report: {', '.join((*tables.REPORT, *dirty.REPORT))}",
        "Gross errors: decimal point, swapped columns, unit, sign. Subtle: wrong category, stale "
        "value. Code: a number that stands for unknown (0, -1, 99, 999, 9999). Cells and values "
        "are drawn at random; none is selected by how visible it is. Some wrong cells cannot be "
        "seen by anyone (the value of the row before may fit as well): 1.00 is out of reach.",
        _versions(settings),
        *left_out(settings),
    ]
    return "\n\n".join(line for line in lines if line) + "\n"


def _versions(settings: Settings) -> str:
    named = (f"{name} {version}" for name, version in peers.versions().items())
    return f"Other tools: {', '.join(named)}." if settings.has_peers else ""


def _section(
    found: Figures,
    methods: Sequence[str],
    part: str,
    title: str,
    written: Callable[[Shares], str],
) -> list[str]:
    if part not in found:
        return []
    rows = [
        [group, _counts(next(iter(of.values()))), *(written(of[name]) for name in methods)]
        for group, of in found[part].items()
    ]
    note = [TOLD_NOTE] if written is _told else []
    return [f"## {title}\n", *note, table(["", "rows (clean)", *methods], rows)]


TOLD_NOTE = (
    "The first figure of a cell is the share of rows that are **told** rightly here: the right "
    "column called odd, given just the columns of the story.\n"
)


def _counts(of: Shares) -> str:
    return f"{of.rows} ({of.clean_rows})" if of.clean_rows else f"{of.rows}"


def _cell(of: Shares) -> str:
    return _figures((of.named, of.odd, of.claims, of.stands_out), of)


def _told(of: Shares) -> str:
    return _figures((of.told, of.named, of.odd, of.claims, of.stands_out), of)


def _figures(values: Sequence[float | None], of: Shares) -> str:
    text = _shares(values)
    if not of.clean_rows:
        return text
    return f"{text} ({_shares((of.clean_claims, of.clean_stands_out))})"


def _shares(values: Sequence[float | None]) -> str:
    return " / ".join(_share(value) for value in values if value is not None)


def _share(value: float) -> str:
    """Write a share with two digits: .87, 1.00."""
    return f"{value:.2f}".removeprefix("0")


def _times(rows: Sequence[Row]) -> list[str]:
    told = [[name, brief(value)] for name, value in seconds(rows).items()]
    return ["## CPU seconds a row, with the preparation of its table\n", table(["", "s"], told)]


def _missed(rows: Sequence[Row]) -> list[str]:
    """Tell some rows of the half for choosing whose wrong column ours does not name."""
    missed = [
        [row.case, str(row.row + 1), ", ".join(row.wrong), row.answer.replace("|", "\\|")]
        for row in rows
        if row.method == Ours.name and row.named is False and row.half == "choose"
    ]
    if not missed:
        return []
    step = -(-len(missed) // MISSED)
    head = ["case", "row", "wrong", "first answer"]
    title = f"## Some of the {len(missed)} rows for choosing whose wrong column is not named\n"
    return [title, table(head, missed[::step])]


def _failures(rows: Sequence[Row]) -> list[str]:
    lines = [f"- {line}" for line in failures(rows)]
    return ["## Failures, counted as no answer\n", *lines, ""] if lines else []
