"""The figures of a report: shares of rows, by group and method."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from benchmarks.quality.errors import dirty, habits, tables
from benchmarks.quality.errors.injector import GROSS, KINDS, SUBTLE
from benchmarks.quality.errors.run import Row, failures
from benchmarks.quality.ours import Ours
from benchmarks.quality.summary import mean

SETS = {"gross": GROSS, "subtle": SUBTLE, "code": ("code",)}
HALVES = ("choose", "report", "all")
JUDGED = ("named", "odd", "told", "claims", "stands_out")
FIELDS = ("part", "half", "source", "case", "kind", "row", *JUDGED)


@dataclasses.dataclass(frozen=True)
class Shares:
    """Shares of the wrong rows, and of the clean rows beside them that are called so."""

    rows: int
    named: float | None
    odd: float | None
    told: float | None
    claims: float | None
    stands_out: float | None
    clean_rows: int
    clean_claims: float | None
    clean_stands_out: float | None


Figures: TypeAlias = dict[str, dict[str, dict[str, Shares]]]  # part, group, method


def figures(rows: Iterable[Row]) -> Figures:
    """Return all figures; no times are among them."""
    members: dict[str, dict[str, dict[str, list[Row]]]] = {}
    for row in rows:
        for part, group in groups_of(row):
            of = members.setdefault(part, {}).setdefault(group, {})
            of.setdefault(row.method, []).append(row)
    return {
        part: {
            group: {method: shares(own) for method, own in groups[group].items()}
            for group in sorted(groups, key=_place)
        }
        for part, groups in members.items()
    }


def shares(rows: Sequence[Row]) -> Shares:
    """Average over rows of one method."""
    wrong, clean = ([r for r in rows if r.is_clean == is_clean] for is_clean in (False, True))
    return Shares(
        rows=len(wrong),
        named=mean(row.named for row in wrong),
        odd=mean(row.odd for row in wrong),
        told=mean(row.told for row in wrong),
        claims=mean(row.claims for row in wrong),
        stands_out=mean(row.stands_out for row in wrong),
        clean_rows=len(clean),
        clean_claims=mean(row.claims for row in clean),
        clean_stands_out=mean(row.stands_out for row in clean),
    )


def groups_of(row: Row) -> Iterator[tuple[str, str]]:
    """Yield the groups that a row counts in; a clean row counts in all groups of its tables."""
    if row.part == "errors":
        yield from _error_groups(row)
    elif row.part == "habits":
        yield from _habit_groups(row)
    elif row.source == "hospital":
        yield "hospital", row.kind
    elif row.part == "dirty":
        yield from (("data.gov", f"{row.kind}, {half}") for half in (row.half, "all"))
        yield "data.gov by table", f"{row.source}, {row.kind} ({row.half})"
    elif row.part == "relations":
        yield row.part, f"{row.kind} ({row.half})"
    else:
        yield row.part, f"{row.source}, {row.kind}" if row.part == "faint" else row.kind


def _error_groups(row: Row) -> Iterator[tuple[str, str]]:
    part = "batches" if "/batch/" in row.case else "copies"
    for name, kinds in SETS.items():
        if row.is_clean or row.kind in kinds:
            yield from ((part, f"{name}, {half}") for half in (row.half, "all"))
    if not row.is_clean:
        yield f"{part} by kind", row.kind
    if part == "copies":
        yield "copies by table", f"{row.source} ({row.half})"


def _habit_groups(row: Row) -> Iterator[tuple[str, str]]:
    for kind in (row.kind,) if not row.is_clean else habits.KINDS:
        yield from (("habits", f"{kind}, {half}") for half in (row.half, "all"))
    if not row.is_clean:
        yield "habits by table", f"{row.source} ({row.half})"


def _place(group: str) -> int:
    """Put sets of errors and halves in their order; other groups stay as they come."""
    known = [f"{name}, {half}" for name in (*SETS, *habits.KINDS, *dirty.PARTS) for half in HALVES]
    known += KINDS
    return known.index(group) if group in known else len(known)


def seconds(rows: Sequence[Row]) -> dict[str, float | None]:
    """Return the mean seconds of each method for a row, the preparation of its table included."""
    names = dict.fromkeys(row.method for row in rows)
    return {name: mean(row.seconds for row in rows if row.method == name) for name in names}


def to_json(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the split, the figures, and what ours makes of each row."""
    return {
        "schema": 1,
        "choose": [*tables.CHOOSE, *dirty.CHOOSE],
        "report": [*tables.REPORT, *dirty.REPORT],
        "figures": {
            part: {
                group: {method: _rounded(found) for method, found in of.items()}
                for group, of in groups.items()
            }
            for part, groups in figures(rows).items()
        },
        "failures": failures(rows),
        "row_fields": [*FIELDS, "wrong", "answer"],
        "rows": [
            [*(getattr(row, name) for name in FIELDS), row.wrong, row.answer]
            for row in rows
            if row.method == Ours.name
        ],
    }


def _rounded(found: Shares) -> dict[str, float | None]:
    fields = dataclasses.asdict(found).items()
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in fields}
