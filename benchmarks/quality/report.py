"""One page of Markdown from the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchmarks.machine import header
from benchmarks.quality import peers, stories
from benchmarks.quality.ours import Ours, Paper
from benchmarks.quality.plan import Settings, left_out, seeds_of
from benchmarks.quality.run import LARGE, Run
from benchmarks.quality.summary import (
    Figures,
    failures,
    figures,
    hardest,
    mean,
    seconds,
)

OWN_HEAD = (
    "",
    "F1",
    "right columns first",
    "in the first five",
    "right property",
    "overlap",
    "overlap, best of five",
    "called exceptional",
    "s per row",
)
#: Figures of ordinary rows beside planted ones, and what they are.
ORDINARY = {
    "ordinary claims": "of them called exceptional",
    "ordinary stands_out": "exceptional or unusual",
    "claims": "planted rows called exceptional",
    "stands_out": "exceptional or unusual",
}


def page(runs: Sequence[Run], settings: Settings, picture: str | None) -> str:
    """Write the page; `picture` is the address of the plot, if there is one."""
    numbers, times, methods = figures(runs), seconds(runs), settings.methods
    parts = [
        header("Explanations against known answers") + _versions(settings),
        _intro(settings),
        *_hics(numbers, methods, picture),
        *_planted(numbers, times, methods),
        *_ordinary(numbers),
        *_real(numbers, methods),
        *_stability(numbers),
        *_times(times, methods),
        *_hardest(runs),
        *_failures(runs),
    ]
    return "\n".join(parts)


def _versions(settings: Settings) -> str:
    named = (f"{name} {version}" for name, version in peers.versions().items())
    return f"Other tools: {', '.join(named)}.\n" if settings.has_peers else ""


def _intro(settings: Settings) -> str:
    lines = [
        f"Planted tables: {_counts(settings.seeds)}. F1 compares the columns that the "
        "first explanation names with the true ones; where a row has several true answers, the "
        "nearest counts. "
        f"`{Ours.name}` runs with its defaults, `{Paper.name}` with the method "
        "of the paper. IF + SHAP and ECOD only rank columns: they are told how many to "
        "name. A row that OutlierTree does not flag has no explanation, hence an F1 of 0.",
        *left_out(settings),
    ]
    return "\n\n".join(lines) + "\n"


def _counts(seeds: int) -> str:
    large, ordinary = (seeds_of(kind, seeds) for kind in (LARGE[0], stories.NONE))
    return f"{seeds} of each kind, {large} of each large one, {ordinary} for ordinary rows"


# Tables.


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def decimal(value: float | None) -> str:
    """Write a mean with two digits."""
    return "-" if value is None else f"{value:.2f}"


def percent(value: float | None) -> str:
    """Write a share."""
    return "-" if value is None else f"{value:.0%}"


def brief(value: float | None) -> str:
    """Write seconds with two digits that tell something."""
    if value is None:
        return "-"
    if value < 0.01:
        return "<0.01"
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def by_method(
    part: dict[str, dict[str, dict[str, float | None]]],
    methods: Sequence[str],
    metric: str,
    written: Callable[[float | None], str],
) -> str:
    """Write one figure of every group and method."""
    rows = (
        [group, _count(of), *(written(of.get(name, {}).get(metric)) for name in methods)]
        for group, of in part.items()
    )
    return table(["", "rows", *methods], rows)


def _count(of: dict[str, dict[str, float | None]]) -> str:
    return f"{next(iter(of.values()))['rows'] or 0:.0f}"


# Parts.


def _hics(numbers: Figures, methods: Sequence[str], picture: str | None) -> list[str]:
    if "hics" not in numbers:
        return []
    parts = [
        "## HiCS tables: mean F1",
        "By the number of columns:\n",
        by_method(numbers["hics"], methods, "f1", decimal),
        "By file:\n",
        by_method(numbers["hics files"], methods, "f1", decimal),
    ]
    if picture:
        parts.append(f"![Mean F1 against the number of columns]({picture})\n")
    return parts


def _planted(numbers: Figures, times: Figures, methods: Sequence[str]) -> list[str]:
    part = numbers.get("planted", {})
    if not part:
        return []
    return [
        "## Planted stories",
        "How often the first explanation names exactly the true columns. The kinds are described "
        "in `benchmarks/quality/stories.py`.\n",
        by_method(part | _averages(part), methods, "exact", percent),
        f"More about `{Ours.name}`. Overlap: rows that satisfy both the true and the found "
        "condition among those that satisfy either, averaged over the true conditions; where the "
        "first pair tells a relation from its other side, it has none to compare.\n",
        table(
            OWN_HEAD,
            (_own_row(kind, of[Ours.name], times["planted"][kind]) for kind, of in part.items()),
        ),
    ]


def _averages(
    part: dict[str, dict[str, dict[str, float | None]]],
) -> dict[str, dict[str, dict[str, float | None]]]:
    """Average over kinds, the core kinds and the added ones apart."""
    groups = {"*core kinds*": stories.KINDS_CORE, "*added kinds*": stories.KINDS_ADDED}
    return {
        name: _average([part[kind] for kind in kinds if kind in part])
        for name, kinds in groups.items()
    }


def _average(
    kinds: Sequence[dict[str, dict[str, float | None]]],
) -> dict[str, dict[str, float | None]]:
    return {
        method: {
            "rows": sum(kind[method]["rows"] or 0.0 for kind in kinds),
            "exact": mean(kind[method]["exact"] for kind in kinds),
        }
        for method in kinds[0]
    }


def _own_row(
    kind: str, own: dict[str, float | None], times: dict[str, dict[str, float | None]]
) -> list[str]:
    shares = [percent(own[name]) for name in ("exact", "exact_five", "property")]
    overlaps = [decimal(own[name]) for name in ("overlap", "overlap_five")]
    rest = [percent(own["claims"]), brief(times[Ours.name]["explain"])]
    return [kind, decimal(own["f1"]), *shares, *overlaps, *rest]


def _ordinary(numbers: Figures) -> list[str]:
    part = numbers["ordinary"].get("planted", {})
    if not part:
        return []
    rows = (
        [name, f"{of['rows']:.0f}", *(percent(of[figure]) for figure in ORDINARY)]
        for name, of in part.items()
    )
    return ["## Ordinary rows", table(["", "ordinary rows", *ORDINARY.values()], rows)]


def _real(numbers: Figures, methods: Sequence[str]) -> list[str]:
    part = numbers.get("real", {})
    if not part:
        return []
    return [
        "## Real tables with one wrong cell",
        "How often the first explanation names the column of that cell, in whichever role; "
        "naming more columns makes that easier, and IF + SHAP and ECOD name one:\n",
        by_method(part, methods, "named", percent),
        "How often it calls that column the odd one:\n",
        by_method(part, methods, "property", percent),
        "How often the row is called exceptional:\n",
        by_method(part, methods, "claims", percent),
    ]


def _stability(numbers: Figures) -> list[str]:
    part = numbers["stability"]
    if not part:
        return []
    return [
        "## Stability",
        "How often the first explanation names the same columns after a tenth of the other rows "
        "was dropped at random:\n",
        by_method(part, [Ours.name], "same", percent),
    ]


def _times(times: Figures, methods: Sequence[str]) -> list[str]:
    rows = (
        [kind, *(_all_times(of.get(name, {})) for name in methods)]
        for part in times.values()
        for kind, of in part.items()
    )
    told = (
        "Seconds to prepare a table + to explain its first row / each further row, with other "
        "processes beside:\n"
    )
    return ["## Times", told, table(["", *methods], rows)]


def _all_times(of: dict[str, float | None]) -> str:
    fit, first, further = (brief(of.get(name)) for name in ("fit", "first", "further"))
    return f"{fit} + {first} / {further}"


def _hardest(runs: Sequence[Run]) -> list[str]:
    rows = [
        [run.name, str(score.row + 1), decimal(score.f1), *map(_cell, (score.truth, score.guess))]
        for run, score in hardest(runs, Ours.name)
    ]
    if not rows:
        return []
    told = f"The rows with the lowest F1 of `{Ours.name}`; rows count from 1:\n"
    return ["## Hardest rows", told, table(["table", "row", "F1", "truth", "first pair"], rows)]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _failures(runs: Sequence[Run]) -> list[str]:
    lines = [f"- {line}" for line in failures(runs)]
    return ["## Failures, counted as no answer", *lines, ""] if lines else []
