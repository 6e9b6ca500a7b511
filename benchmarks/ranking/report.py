"""Tables of figures, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.ranking.masking import SPIKE
from benchmarks.ranking.metrics import Outcome
from benchmarks.ranking.run import SUITES

Figure = Callable[[Outcome], float | None]


def _first(most: int) -> Figure:
    """Count the kinds of errors among the first rows."""
    return lambda found: float(sum(rank <= most for rank in found.kind_ranks.values()))


def _hits(found: Outcome) -> float | None:
    return None if found.called is None else float(sum(found.called))


def _spikes(found: Outcome) -> float | None:
    if found.called is None:
        return None
    kinds = [kind for kind, _ in found.ranks]
    return float(sum(c for k, c in zip(kinds, found.called, strict=True) if k == SPIKE))


def _worst(found: Outcome) -> float | None:
    kinds = {kind for kind, _ in found.ranks}
    ranks = [rank for kind, rank in found.ranks if kind == SPIKE or SPIKE not in kinds]
    return float(max(ranks)) if ranks else None


def _better(one: str, other: str) -> Figure:
    def better(found: Outcome) -> float | None:
        values = [
            value for value in (getattr(found, one), getattr(found, other)) if value is not None
        ]
        return max(values) if values else None

    return better


def _field(name: str) -> Figure:
    return lambda found: getattr(found, name)


FIGURES: dict[str, tuple[str, Figure]] = {
    "planted": ("planted", lambda found: float(found.planted)),
    "kinds": ("kinds", lambda found: float(len(found.kind_ranks))),
    "ap": ("AP", _field("ap")),
    "auc": ("AUC", _field("auc")),
    "ap_gross": ("AP gross", _field("ap_gross")),
    "ap_combination": ("AP comb.", _field("ap_combination")),
    "auc_combination": ("AUC comb.", _field("auc_combination")),
    "ap_better": ("AP better", _better("ap", "ap_combination")),
    "auc_better": ("AUC better", _better("auc", "auc_combination")),
    "exceptional": ("exceptional", _field("exceptional")),
    "unusual": ("unusual", _field("unusual")),
    "hits": ("of them wrong", _hits),
    "spikes": ("20 sigma exceptional", _spikes),
    "worst": ("worst rank", _worst),
    "named": ("column right", _field("named")),
    "seconds": ("s", _field("seconds")),
    "rows20": ("first 20", lambda found: float(sum(rank <= 20 for _, rank in found.ranks))),
    **{f"first{most}": (f"first {most}", _first(most)) for most in (1, 10, 15, 20, 40)},
}
COUNTS = {"planted", "kinds", "exceptional", "unusual", "hits", "spikes", "worst", "rows20"}


def section(suite: str, outcomes: Sequence[Outcome], brief: bool = False) -> str:
    """Return the table of one suite: a line for each ranker, half and kind, and means."""
    shown = SUITES[suite].SHOWN
    heads = ["ranker", "half", "kind", "tables", *(FIGURES[name][0] for name in shown)]
    lines = [f"## {SUITES[suite].TITLE}\n", _row(heads), _row(["---"] * len(heads))]
    totals: list[str] = []
    for ranker, half in dict.fromkeys((o.ranker, o.recipe.half) for o in outcomes):
        mine = [o for o in outcomes if (o.ranker, o.recipe.half) == (ranker, half)]
        for kind in () if brief else dict.fromkeys(o.recipe.kind for o in mine):
            same = [o for o in mine if o.recipe.kind == kind]
            lines.append(_line(ranker, half, kind, same, shown))
        lines.append(_line(ranker, half, "**mean**", mine, shown))
        totals += _totals(ranker, half, mine)
        if suite == "gross":
            totals.append(_by_kind(ranker, half, mine))
    lines += ["", *totals]
    if suite == "users":
        lines += map(_ranks, outcomes)
    return "\n".join(lines) + "\n"


def _line(ranker: str, half: str, kind: str, same: Sequence[Outcome], shown: Sequence[str]) -> str:
    cells = [ranker.partition(":")[2], half, kind, str(len(same))]
    return _row([*cells, *(_cell(name, same) for name in shown)])


def _cell(name: str, same: Sequence[Outcome]) -> str:
    values = [value for value in map(FIGURES[name][1], same) if value is not None]
    if not values:
        return "-"
    mean = float(np.mean(values))
    if name in COUNTS or name.startswith("first"):
        return f"{mean:.1f}".removesuffix(".0")
    return f"{mean:.2f}" if name == "seconds" else f"{mean:.3f}"


def _totals(ranker: str, half: str, mine: Sequence[Outcome]) -> list[str]:
    """Tell recall and precision of what was called exceptional, over all tables."""
    called = sum(o.exceptional or 0 for o in mine)
    wrong = sum(o.planted for o in mine)
    hits = sum(sum(o.called or ()) for o in mine)
    if not wrong or all(o.called is None for o in mine):
        return []
    precision = f"{hits / called:.2f}" if called else "-"
    name = ranker.partition(":")[2]
    return [f"- {name}, {half}: exceptional recall {hits / wrong:.2f}, precision {precision}"]


def _by_kind(ranker: str, half: str, mine: Sequence[Outcome]) -> str:
    """Tell the average precision of each kind of error, over the tables that have it."""
    told = []
    for kind in sorted({kind for o in mine for kind in o.ap_by_kind}):
        values = [o.ap_by_kind[kind] for o in mine if kind in o.ap_by_kind]
        told.append(f"{kind} {np.mean(values):.2f}")
    return f"- {ranker.partition(':')[2]}, {half}: AP by kind: {', '.join(told)}"


def _ranks(found: Outcome) -> str:
    """Tell the rank of each kind; a star marks what is called exceptional."""
    stars = {
        kind
        for (kind, _), called in zip(
            found.ranks, found.called or [False] * found.planted, strict=True
        )
        if called
    }
    told = (f"{kind} {rank}{'*' * (kind in stars)}" for kind, rank in found.kind_ranks.items())
    name = found.ranker.partition(":")[2]
    return f"- {name}, {found.recipe.kind}: {'; '.join(told)}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
