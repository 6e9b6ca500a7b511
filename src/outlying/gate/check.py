"""check(): may this batch pass? A verdict with an exit code, and why.

read the rows -> judge them by a model, or by each other -> leave out what was accepted -> verdict
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from outlying.api import Explainer
from outlying.detect.api import detect
from outlying.errors import NoRowsError, OptionError, shown
from outlying.gate import accepted as accepting
from outlying.gate.accepted import Accepted
from outlying.results.detections import Detection, Flagged, Reason
from outlying.results.findings import Findings
from outlying.sources import registry
from outlying.table.table import Table
from outlying.table.targets import is_mark, not_a_mark
from outlying.table.values import printable

if TYPE_CHECKING:
    from outlying.gate.drift import Drift

Verdict: TypeAlias = Literal["clean", "warning", "findings", "cannot judge"]

#: The exit code of each verdict; 2 is for what could not run at all.
EXIT_CODES: Mapping[Verdict, int] = {"clean": 0, "warning": 0, "findings": 1, "cannot judge": 3}
#: A table of fewer rows says too little of any of them.
LEAST_ROWS = 30
#: So many exceptional rows are compared with what was accepted, and told.
MOST_ROWS = 1_000


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """The verdict on a batch of rows.

    `exceptional` counts those that were not accepted, `accepted` those that were; `rows` are the
    former, told. `faults` say why it cannot be judged, `drifts` which columns have moved.
    """

    verdict: Verdict
    source: str
    count: int | None
    against: str | None = None
    exceptional: int = 0
    accepted: int = 0
    limit: int = 0
    rows: tuple[Flagged, ...] = ()
    drifts: tuple[Drift, ...] = ()
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 clean, 1 findings, 3 cannot judge."""
        return EXIT_CODES[self.verdict]

    @property
    def summary(self) -> str:
        """The verdict in a line."""
        source = printable(self.source)
        if self.verdict == "cannot judge":
            return f"{source}: cannot be judged: {'; '.join(map(printable, self.faults))}"
        base = "" if self.against is None else f" against {printable(self.against)}"
        allowed = f", at most {self.limit:,} allowed" if self.limit else ""
        known = f", {self.accepted:,} more accepted" if self.accepted else ""
        rows = f"{self.exceptional:,} of {self.count:,} rows exceptional{base}{known}{allowed}"
        return f"{source}: {self.verdict}: {rows}"

    def __str__(self) -> str:
        from outlying.gate.report import text

        return text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values; rows count from 1."""
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return own | {
            "exit_code": self.exit_code,
            "rows": [item.to_dict() for item in self.rows],
            "drifts": [item.to_dict() for item in self.drifts],
            **{name: list(own[name]) for name in ("faults", "warnings", "notes")},
        }

    def to_json(self, indent: int | None = None) -> str:
        """Return the verdict as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


def limit_of(name: str, given: Any, rows: int) -> int:
    """Return how many rows a limit allows: a number, a share below 1, or a text such as 0.5%."""
    number, is_share = given, False
    if isinstance(given, str):
        text, is_share = given.strip(), given.strip().endswith("%")
        try:
            number = float(text.removesuffix("%")) / (100 if is_share else 1)
        except ValueError:
            number = None
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    if not is_number or not 0 <= number < math.inf or (number > 1 and (is_share or number % 1)):
        raise OptionError(
            f"{name} is {shown(given)}; allowed: a number of rows, a share of them below 1, or a "
            "text such as 0.5%"
        )
    is_share = is_share or number < 1
    return math.floor(number * rows + 1e-9) if is_share else int(number)


def check(
    data: Any,
    *,
    against: Any = None,
    max_exceptional: Any = 0,
    warn_above: Any = None,
    accept: Any = None,
    where_true: str | None = None,
    engine: Any = "auto",
    today: dt.date | None = None,
    **options: Any,
) -> Check:
    """Say whether a batch of rows may pass: how many are exceptional, and whether they are allowed.

    `data` and `against` are those of `Explainer`; without `against` the table is judged by itself.
    More exceptional rows than `max_exceptional` (a number, or a share) are findings, more than
    `warn_above` a warning. `accept` names a file of accepted findings. `where_true` names a column
    that marks the rows that are wrong: none is clean, others are told with their reasons. `today`
    is the day on which accepted findings may have expired. What cannot be judged (columns that are
    missing or changed, too few rows) is a verdict, not an error.
    """
    for name, limit in (("max_exceptional", max_exceptional), ("warn_above", warn_above or 0)):
        limit_of(name, limit, 0)
    entries = accepting.read(accept) if isinstance(accept, str) else list(accept or ())
    today = today or dt.date.today()
    current = [item for item in entries if not item.is_expired(today)]
    given = {name: options.pop(name) for name in registry.OPTIONS if name in options}
    try:
        batch = _opened(data, against, engine, given, options, current, where_true)
    except NoRowsError as error:
        return Check("cannot judge", _name(data), 0, faults=(str(error),))
    if isinstance(batch, Check):
        return batch
    if batch.marked is not None and not batch.marked:
        return Check("clean", batch.explainer.table.source, batch.count, batch.against)
    found = _judged(batch, current)
    wanted = limit_of("max_exceptional", max_exceptional, batch.count)
    noted = math.inf if warn_above is None else limit_of("warn_above", warn_above, batch.count)
    warnings = [*_stale(entries, current, found.used), *found.warnings]
    verdict: Verdict = "findings" if found.exceptional > wanted else "clean"
    if verdict == "clean" and (found.exceptional > noted or found.drifts or warnings):
        verdict = "warning"
    return Check(
        verdict,
        batch.explainer.table.source,
        batch.count,
        batch.against,
        found.exceptional,
        found.accepted + batch.wrong,
        wanted,
        found.rows,
        found.drifts,
        (),
        tuple(warnings),
        found.notes,
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Batch:
    """Rows that can be judged."""

    explainer: Explainer
    count: int
    against: str | None
    wrong: int = 0  # that were confirmed as wrong, and left out
    marked: list[int] | None = None


def _opened(
    data: Any,
    against: Any,
    engine: Any,
    given: Mapping[str, Any],
    options: dict[str, Any],
    entries: Sequence[Accepted],
    where_true: str | None,
) -> _Batch | Check:
    """Read the rows; return a verdict where they cannot be judged."""
    from outlying.fitted import opening
    from outlying.sources.passes import collected

    found = data if isinstance(data, Table) else registry.opened(data, engine, **given)
    marked = None
    if not isinstance(found, Table) and (against is not None or where_true or entries):
        found = collected(found)
    if not isinstance(found, Table):
        return _Batch(Explainer(found, **options), Explainer(found).rows, None)
    if where_true is not None:
        marked = _marked(found, where_true)
        found = found.without(where_true, "names the rows that are wrong")
    wrong = 0
    if against is None and marked is None:  # confirmed wrong rows are no yardstick
        found, wrong = accepting.without_wrong(found, entries)
    if against is None:
        if found.rows < LEAST_ROWS:
            said = f"{found.rows} rows are too few to judge them by each other; name a model"
            return Check("cannot judge", found.source, found.rows, faults=(said,))
        return _Batch(Explainer(found, **options), found.rows + wrong, None, wrong, marked)
    base = opening.base_of(against, options)
    if base.table.rows < LEAST_ROWS:
        said = f"the {base.table.rows} rows of {base.table.source} are too few to compare with"
        return Check("cannot judge", found.source, found.rows, faults=(said,))
    read = opening.new_table(found, base, engine)
    if read.faults:
        faults = tuple(map(str, read.faults))
        return Check("cannot judge", found.source, found.rows, base.table.source, faults=faults)
    explainer = Explainer.of_population(opening.NewPopulation(base, read.table))
    return _Batch(explainer, found.rows, base.table.source, wrong, marked)


@dataclasses.dataclass(slots=True)
class _Judged:
    exceptional: int = 0
    accepted: int = 0
    rows: tuple[Flagged, ...] = ()
    drifts: tuple[Drift, ...] = ()
    warnings: list[str] = dataclasses.field(default_factory=list)
    notes: tuple[str, ...] = ()
    used: set[int] = dataclasses.field(default_factory=set)


def _judged(batch: _Batch, entries: Sequence[Accepted]) -> _Judged:
    """Find the exceptional rows, and leave out those that were accepted."""
    from outlying.gate.drift import drifts

    found = _Judged()
    detection = _detection(batch)
    counts = detection.counts
    total = 0 if counts is None else counts.exceptional
    total = total if batch.marked is None else len(batch.marked)
    rows = []
    for item in detection.rows:
        if batch.marked is None and item.word != "exceptional":
            continue
        if item.findings is not None and _is_accepted(item.findings, entries, found.used):
            found.accepted += 1
        else:
            rows.append(item)
    found.exceptional, found.rows = total - found.accepted, tuple(rows)
    if total > len(detection.rows) and entries:
        found.warnings.append(
            f"the {len(detection.rows):,} oddest rows were compared with what is accepted, not all"
        )
    population = None if batch.explainer.is_streamed else batch.explainer.in_memory("check")
    if population is not None:
        found.drifts = drifts(population)
    found.notes = tuple(note for note in detection.notes if note not in detection.how)
    return found


def _detection(batch: _Batch) -> Detection:
    """Rank the rows; where some are marked, take these, whatever they are."""
    if batch.marked is None:
        found = detect(batch.explainer)
        counts = found.counts
        if counts is None or counts.exceptional <= len(found.rows):
            return found
        return detect(batch.explainer, top=min(counts.exceptional, MOST_ROWS))
    found = detect(batch.explainer, top=1)
    order = sorted(batch.marked, key=lambda row: -found.scores[row])[:MOST_ROWS]
    told = batch.explainer.explain_many(rows=order)
    rows = tuple(
        Flagged(
            row=row,
            rank=rank,
            score=float(found.scores[row]),
            word="exceptional" if exceptional_stories(findings) else "",
            reason=Reason.of(findings),
            votes=None,
            remoteness=None,
            values=findings.values,
            key=findings.key,
            findings=findings,
        )
        for rank, (row, findings) in enumerate(zip(order, told, strict=True), start=1)
    )
    return dataclasses.replace(found, rows=rows)


def _is_accepted(findings: Findings, entries: Sequence[Accepted], used: set[int]) -> bool:
    """Return whether each exceptional story of a row was accepted."""
    stories = exceptional_stories(findings)
    are_known = []
    for story in stories:
        places = [k for k, item in enumerate(entries) if item.covers(findings, story)]
        used.update(map(id, (entries[k] for k in places)))
        are_known.append(bool(places))
    return bool(are_known) and all(are_known)


def exceptional_stories(findings: Findings) -> list[Any]:
    """Return what makes a row exceptional."""
    return [story for story in findings.stories if story.exceptional]


def _stale(entries: Sequence[Accepted], current: Sequence[Accepted], used: set[int]) -> list[str]:
    """Say which accepted findings have expired, and which were not met."""
    kept = {id(item) for item in current}
    expired = [item for item in entries if id(item) not in kept]
    unused = [item for item in current if id(item) not in used and item.verdict == "fine"]
    said = [f"accepted until {item.expires}, which is over: {item}" for item in expired]
    return said + [f"accepted, but not met: {item}" for item in unused]


def _marked(table: Table, name: str) -> list[int]:
    """Find the rows that a column marks; there may be none."""
    column, rows = table.column(name), []
    for row in range(table.rows):
        mark = is_mark(column.value(row))
        if mark is None:
            place = f"data row {row + 1} (counted from 1)"
            raise OptionError(not_a_mark(name, column.value(row), place))
        if mark:
            rows.append(row)
    return rows


def _name(data: Any) -> str:
    from outlying.sources.recognise import name_of

    return name_of(data)
