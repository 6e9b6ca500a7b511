"""What is odd in a table: its odd rows, the oddest first, each with its name and its reason."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from typing import Any

from outlying import sentences as say
from outlying.checks import read_whole
from outlying.errors import OptionError
from outlying.render.listing import detector, most_in
from outlying.results.detections import Counts, Flagged, OddCombination, Word
from outlying.table.values import printable
from outlying.web.jobs import Job
from outlying.web.queries import DETECT_OPTIONS, Addresses, OptionsQuery
from outlying.web.table_page import counted
from outlying.web.tables import MOST_FLAGGED, TableEntry
from outlying.web.worker import Detected

#: Rows that a first look finds.
USUAL = 50

#: What rows of a word are called, and what that means.
_SECTIONS: dict[Word, tuple[str, str]] = {
    "exceptional": say.PAGE_EXCEPTIONAL,
    "unusual": say.PAGE_UNUSUAL,
    "": say.PAGE_ORDINARY,
}


def number_of(given: object) -> int:
    """Return how many rows are asked for."""
    top = read_whole("top", given or USUAL, 1)
    if top > MOST_FLAGGED:
        raise OptionError(f"top is {top:,}; allowed: 1 to {MOST_FLAGGED}")
    return top


def options_of(options: OptionsQuery) -> OptionsQuery:
    """Return the options that finding odd rows has."""
    return OptionsQuery(tuple(item for item in options.given if item[0] in DETECT_OPTIONS))


class OddPage:
    """The odd rows of a table in words and links, as far as they are known."""

    def __init__(self, entry: TableEntry, addresses: Addresses, top: int) -> None:
        self.entry, self.addresses, self.top = entry, addresses, top

    def found(self, job: Job) -> dict[str, Any]:
        """Return what was found so far: exceptional, unusual, odd all over, marked as fine."""
        counts = job.counts or Counts(0, 0)
        exceptional, unusual = counts.exceptional, counts.unusual
        summary = "" if job.counts is None else _summary(exceptional, unusual, self.entry.rows)
        if not isinstance(job.result, Detected):
            return {"sections": list(self._sections(listed(job.rows), ())), "summary": summary}
        detection = job.result.detection
        rows = listed(detection.rows)
        is_all = len(detection.rows) >= min(exceptional + unusual, MOST_FLAGGED)
        more = min(MOST_FLAGGED, exceptional + unusual)
        return {
            "sections": list(self._sections(rows, detection.combinations)),
            "columns": self._columns(rows),
            "hidden": self._hidden(rows),
            "summary": summary,
            "more": None if is_all else more,
            "notes": (f"Ranked by {detector(detection.settings)}.", *detection.notes),
        }

    def _sections(
        self, rows: Sequence[Flagged], combinations: Sequence[OddCombination]
    ) -> Iterator[dict[str, Any]]:
        hidden, fine = set(self.addresses.hidden), self.entry.fine
        shown = [item for item in rows if item.reason is None or item.reason.column not in hidden]
        for word, words in _SECTIONS.items():
            own = [item for item in shown if item.word == word and _number(item) not in fine]
            if own:
                yield self._section(word or "ordinary", words, own, _told_alike(own))
        if combinations:
            apart = [[item] for item in combinations]
            yield self._section("all-over", say.PAGE_ALL_OVER, combinations, apart)
        if marked := [item for item in shown if _number(item) in fine]:
            yield self._section("fine", say.PAGE_FINE, marked, [[item] for item in marked])

    def _section(
        self,
        kind: str,
        words: tuple[str, str],
        rows: Sequence[Flagged | OddCombination],
        alike: Sequence[Sequence[Flagged | OddCombination]],
    ) -> dict[str, Any]:
        numbers = [_number(item) for item in rows]
        lines = [self._row(items) for items in alike]
        return {"kind": kind, "words": words, "numbers": numbers, "rows": lines}

    def _row(self, alike: Sequence[Flagged | OddCombination]) -> dict[str, Any]:
        """Return a row, with others of which the same is told."""
        item = alike[0]
        flagged = item if isinstance(item, Flagged) else None
        return {
            "rank": item.rank,
            "number": _number(item),
            "name": self.entry.name_of(dict(item.values)),
            "reason": flagged and flagged.reason,
            "words": f"score {item.score:.2f}" if isinstance(item, Flagged) else most_in(item),
            "top": flagged and self.top,
            "alike": [_number(each) for each in alike],
        }

    def _columns(self, rows: Sequence[Flagged]) -> list[tuple[str, int]]:
        """Return the odd columns that are shown, with the number of their rows."""
        counts = collections.Counter(item.reason.column for item in rows if item.reason is not None)
        return [item for item in counts.most_common() if item[0] not in self.addresses.hidden]

    def _hidden(self, rows: Sequence[Flagged]) -> str:
        """Say how many rows are not listed as their odd column is hidden."""
        hidden = set(self.addresses.hidden)
        count = sum(item.reason is not None and item.reason.column in hidden for item in rows)
        names = ", ".join(printable(name, 40) for name in self.addresses.hidden)
        words = say.PAGE_NOT_LISTED.format(rows=counted(count, "row"), columns=names)
        return words if count else ""


def listed(rows: Sequence[Flagged]) -> Sequence[Flagged]:
    """Return the rows that stand out; where none does, those that come closest."""
    return [item for item in rows if item.word] or rows


def _told_alike(items: Sequence[Flagged]) -> list[list[Flagged]]:
    """Put rows together of which the same is told: fifty copies of 999 would crowd out the rest."""
    found: dict[object, list[Flagged]] = {}
    for item in items:
        found.setdefault(item.rank if item.reason is None else str(item.reason), []).append(item)
    return list(found.values())


def _number(item: Flagged | OddCombination) -> int:
    return (item.row or 0) + 1  # pages rank tables and copies, whose rows have a position


def _summary(exceptional: int, unusual: int, rows: int) -> str:
    """Say how many rows stand out."""
    whole = counted(rows, "row")
    are = "is" if exceptional == 1 else "are"
    first = say.PAGE_NONE_EXCEPTIONAL.format(rows=whole)
    if exceptional:
        first = say.PAGE_SOME_EXCEPTIONAL.format(count=f"{exceptional:,}", rows=whole, are=are)
    more = f"{unusual:,} more" if exceptional else f"{unusual:,}"
    are = "is" if unusual == 1 else "are"
    rest = say.PAGE_MORE_UNUSUAL.format(count=more, are=are) if unusual else ""
    return f"{first}{rest}."
