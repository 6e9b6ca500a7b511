"""check(): may this batch pass? A verdict with an exit code, and why.

read the rows -> judge them by a model, or by each other -> leave out what was accepted -> verdict
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from outlying.api import Explainer
from outlying.detect.api import detect
from outlying.errors import NoRowsError, OptionError, shown
from outlying.gate import accepted as accepting
from outlying.gate.accepted import Accepted
from outlying.results.detections import Counts, Detection, Flagged, Reason
from outlying.results.findings import Findings
from outlying.results.stories import Document, Story
from outlying.sources import registry
from outlying.table.table import Table
from outlying.table.targets import marked_rows
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
class Check(Document):
    """The verdict on a batch of rows; `exceptional` ones are without those `accepted`.

    `faults` say why it cannot be judged, `drifts` which columns have moved.
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
    fdr: float | None = None,
    accept: Any = None,
    where_true: str | None = None,
    engine: Any = "auto",
    today: dt.date | None = None,
    **options: Any,
) -> Check:
    """Say whether a batch of rows may pass: how many are exceptional, and whether they are allowed.

    `data` and `against` are those of `Explainer`; without `against` the table is judged by itself.
    More exceptional rows than `max_exceptional` (a number, or a share) are findings, more than
    `warn_above` a warning; `fdr` chooses which rows are exceptional as `detect` does. `accept`
    names a file of accepted findings. `where_true` names a column that marks the rows that are
    wrong: none is clean, others are listed with their reasons. `today` is the day on which accepted
    findings may have expired. What cannot be judged (columns that are missing or changed, too few
    rows) is a verdict, not an error.
    """
    for name, limit in (("max_exceptional", max_exceptional), ("warn_above", warn_above or 0)):
        limit_of(name, limit, 0)
    entries = accepting.read(accept) if isinstance(accept, str) else list(accept or ())
    today = today or dt.date.today()
    current = [item for item in entries if not item.is_expired(today)]
    batch = _open(data, against, engine, options, current, where_true)
    if isinstance(batch, Check):
        return batch
    detection = _detection(batch, fdr)
    new, accepted, unused = _sorted_out(detection, current)
    counted = detection.counts.exceptional if detection.counts is not None else 0
    exceptional = counted - len(accepted)
    warnings = [
        f"accepted until {item.expires}, which is over: {item}"
        for item in entries
        if item.is_expired(today)
    ] + [f"accepted, but not met: {item}" for item in unused]
    if counted > len(detection.rows) and current:
        warnings.append(
            f"the {len(detection.rows):,} oddest rows were compared with what is accepted, not all"
        )
    drifts = _drifts(batch.explainer)
    wanted = limit_of("max_exceptional", max_exceptional, batch.count)
    noted = math.inf if warn_above is None else limit_of("warn_above", warn_above, batch.count)
    verdict: Verdict = "findings" if exceptional > wanted else "clean"
    if verdict == "clean" and (exceptional > noted or drifts or warnings):
        verdict = "warning"
    return Check(
        verdict,
        batch.explainer.table.source,
        batch.count,
        batch.against,
        exceptional=exceptional,
        accepted=len(accepted) + batch.wrong,
        limit=wanted,
        rows=tuple(new),
        drifts=drifts,
        warnings=tuple(warnings),
        notes=tuple(note for note in detection.notes if note not in detection.how),
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Batch:
    """Rows that can be judged."""

    explainer: Explainer
    count: int
    against: str | None = None
    wrong: int = 0  # that were confirmed as wrong, and left out
    marked: Sequence[int] | None = None


def _open(
    data: Any,
    against: Any,
    engine: Any,
    options: dict[str, Any],
    entries: Sequence[Accepted],
    where_true: str | None,
) -> _Batch | Check:
    """Read the rows; return a verdict where they cannot be judged, or need not be."""
    from outlying.fitted import newcomers
    from outlying.sources.passes import collected
    from outlying.sources.recognise import name_of

    given = {name: options.pop(name) for name in registry.OPTIONS if name in options}
    try:
        table = data if isinstance(data, Table) else registry.open_source(data, engine, **given)
        if not isinstance(table, Table):
            if against is None and where_true is None and not entries:
                explainer = Explainer(table, **options)
                return _Batch(explainer, explainer.rows)
            table = collected(table)
    except NoRowsError as error:
        return Check("cannot judge", name_of(data), 0, faults=(str(error),))
    source, count, marked, wrong = table.source, table.rows, None, 0
    if where_true is not None:
        marked = marked_rows(table, where_true)
        table = table.without(where_true, "names the rows that are wrong")
        if not marked:
            return Check("clean", source, count)
    if against is None:
        if marked is None:  # confirmed wrong rows are no yardstick
            table, wrong = accepting.without_wrong(table, entries)
        if table.rows < LEAST_ROWS:
            fault = f"{table.rows} rows are too few to judge them by each other; name a model"
            return Check("cannot judge", source, table.rows, faults=(fault,))
        return _Batch(Explainer(table, **options), count, None, wrong, marked)
    base = newcomers.base_of(against, options)
    read = newcomers.new_table(table, base, engine)
    faults = tuple(map(str, read.faults))
    if base.table.rows < LEAST_ROWS:
        few = f"the {base.table.rows} rows of {base.table.source} are too few to compare with"
        faults = (few, *faults)
    if faults:
        return Check("cannot judge", source, count, base.table.source, faults=faults)
    explainer = Explainer.of_population(newcomers.NewPopulation(base, read.table))
    return _Batch(explainer, count, base.table.source, marked=marked)


def _detection(batch: _Batch, fdr: float | None) -> Detection:
    """Rank the rows; where some are marked, these are the exceptional ones, whatever they are."""
    if batch.marked is None:
        found = detect(batch.explainer, fdr=fdr)
        counts = found.counts
        if counts is None or counts.exceptional <= len(found.rows):
            return found
        return detect(batch.explainer, fdr=fdr, top=min(counts.exceptional, MOST_ROWS))
    found = detect(batch.explainer, top=1)
    order = sorted(batch.marked, key=lambda row: -found.scores[row])[:MOST_ROWS]
    explained = zip(order, batch.explainer.explain_many(rows=order), strict=True)
    rows = tuple(
        Flagged(
            row=row,
            rank=rank,
            score=float(found.scores[row]),
            word="exceptional" if exceptional_stories(findings) else "",
            reason=Reason.of(findings),
            values=findings.values,
            key=findings.key,
            findings=findings,
        )
        for rank, (row, findings) in enumerate(explained, start=1)
    )
    return dataclasses.replace(found, rows=rows, counts=Counts(len(batch.marked), 0))


def _sorted_out(
    detection: Detection, entries: Sequence[Accepted]
) -> tuple[list[Flagged], list[Flagged], list[Accepted]]:
    """Return the exceptional rows: new ones, those of which all is accepted, and unused entries."""
    new, accepted, used = list[Flagged](), list[Flagged](), set[int]()
    for item in detection.rows:
        findings = item.findings
        assert findings is not None  # noqa: S101 - as rows are ranked by strength
        covered = [
            {k for k, entry in enumerate(entries) if entry.covers(findings, story)}
            for story in exceptional_stories(findings)
        ]
        used.update(*covered)
        (accepted if covered and all(covered) else new).append(item)
    fine = [item for k, item in enumerate(entries) if k not in used and item.verdict == "fine"]
    return new, accepted, fine


def exceptional_stories(findings: Findings) -> list[Story]:
    """Return what makes a row exceptional."""
    return [story for story in findings.stories if story.exceptional]


def _drifts(explainer: Explainer) -> tuple[Drift, ...]:
    if explainer.is_streamed:
        return ()
    from outlying.gate.drift import drifts

    return drifts(explainer.in_memory("check"))
