"""What is odd in a table: its odd rows, the oddest first, each with its name and its reason."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence
from typing import Any

from outlying import sentences as say
from outlying.checks import read_whole
from outlying.errors import OptionError
from outlying.render.listing import detector, most_in
from outlying.results.detections import Counts, Flagged, OddCombination, Word
from outlying.table.values import printable
from outlying.web.jobs import Job
from outlying.web.queries import DETECT_OPTIONS, Addresses, OptionsQuery, TableQuery
from outlying.web.table_page import counted, size_of
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

    def context(self) -> dict[str, Any]:
        """Return what the template shows before anything was found."""
        return {
            "about": size_of(self.entry),
            "path": self.addresses.path("/odd"),
            "mark": self.addresses.path("/fine"),
            "kept": self.addresses.kept,
            "top": self.top,
            "more": None,
            "summary": "",
            "columns": [],
            "hidden": None,
            "notes": (),
            "sections": [],
            "along": None,
            "problem": "",
            "state": "running",
            "job": None,
            "remedy": None,
        }

    def found(self, job: Job) -> dict[str, Any]:
        """Return what was found so far: exceptional, unusual, odd all over, marked as fine."""
        counts = job.counts or Counts(0, 0)
        exceptional, unusual = counts.exceptional, counts.unusual
        summary = "" if job.counts is None else _summary(exceptional, unusual, self.entry.rows)
        if not isinstance(job.result, Detected):
            return {"sections": self._sections(listed(job.rows), ()), "summary": summary}
        detection = job.result.detection
        rows = listed(detection.rows)
        is_all = len(detection.rows) >= min(exceptional + unusual, MOST_FLAGGED)
        more = min(MOST_FLAGGED, exceptional + unusual)
        return {
            "sections": self._sections(rows, detection.combinations),
            "columns": self._columns(rows),
            "hidden": self._hidden(rows),
            "summary": summary,
            "more": None
            if is_all
            else {
                "name": say.PAGE_SHOW_MORE.format(count=f"{more:,}"),
                "href": self.addresses.odd(more),
            },
            "notes": (f"Ranked by {detector(detection.settings)}.", *detection.notes),
        }

    def _sections(
        self, rows: Sequence[Flagged], combinations: Sequence[OddCombination]
    ) -> list[dict[str, Any]]:
        hidden, fine = set(self.addresses.hidden), self.entry.fine
        shown = [item for item in rows if item.reason is None or item.reason.column not in hidden]
        sections = []
        for word, words in _SECTIONS.items():
            own = [item for item in shown if item.word == word and _number(item) not in fine]
            if own:
                lines = [self._row(alike) for alike in _told_alike(own)]
                sections.append(self._section(word or "ordinary", words, lines, own))
        if combinations:
            lines = [self._combination(item) for item in combinations]
            sections.append(self._section("all-over", say.PAGE_ALL_OVER, lines, combinations))
        if marked := [item for item in shown if _number(item) in fine]:
            lines = [self._row([item]) for item in marked]
            sections.append(self._section("fine", say.PAGE_FINE, lines, marked))
        return sections

    def _section(
        self,
        kind: str,
        words: tuple[str, str],
        lines: Sequence[dict[str, Any]],
        rows: Sequence[Flagged | OddCombination],
    ) -> dict[str, Any]:
        return {
            "kind": kind,
            "name": words[0],
            "means": words[1],
            "count": counted(len(rows), "row"),
            "href": self._in_table(rows),
            "rows": lines,
        }

    def _in_table(self, rows: Iterable[Flagged | OddCombination]) -> str:
        return self.addresses.table(TableQuery(rows=tuple(map(_number, rows))))

    def _row(self, alike: Sequence[Flagged]) -> dict[str, Any]:
        item, others = alike[0], alike[1:]
        also = None
        if others:
            words = say.PAGE_MORE_LIKE_IT.format(count=f"{len(others):,}")
            words = say.PAGE_ONE_MORE_LIKE_IT if len(others) == 1 else words
            also = {"text": words, "href": self._in_table(alike)}
        words = reason_words(item)
        return self._line(item, words, self.top) | {"reason": item.reason, "also": also}

    def _combination(self, item: OddCombination) -> dict[str, Any]:
        return self._line(item, most_in(item)) | {"reason": None, "also": None}

    def _line(
        self, item: Flagged | OddCombination, words: str, top: int | None = None
    ) -> dict[str, Any]:
        number = _number(item)
        return {
            "rank": item.rank,
            "number": number,
            "name": self.entry.name_of(dict(item.values)),
            "href": self.addresses.row(number, top=top),
            "words": words,
            "is_fine": number in self.entry.fine,
        }

    def _columns(self, rows: Sequence[Flagged]) -> list[dict[str, Any]]:
        """Return the odd columns that are shown, with their rows, and how to hide each."""
        counts = collections.Counter(item.reason.column for item in rows if item.reason is not None)
        return [
            {
                "name": printable(name, 40),
                "count": f"{count:,}",
                "hide": self.addresses.hiding(name).odd(self.top),
            }
            for name, count in counts.most_common()
            if name not in self.addresses.hidden
        ]

    def _hidden(self, rows: Sequence[Flagged]) -> dict[str, Any] | None:
        """Return how many rows are not listed as their odd column is hidden."""
        hidden = set(self.addresses.hidden)
        count = sum(item.reason is not None and item.reason.column in hidden for item in rows)
        if not count:
            return None
        names = ", ".join(printable(name, 40) for name in self.addresses.hidden)
        words = say.PAGE_NOT_LISTED.format(rows=counted(count, "row"), columns=names)
        return {"about": words, "href": self.addresses.showing_all.odd(self.top)}


def listed(rows: Sequence[Flagged]) -> Sequence[Flagged]:
    """Return the rows that stand out; where none does, those that come closest."""
    return [item for item in rows if item.word] or rows


def _told_alike(items: Sequence[Flagged]) -> list[list[Flagged]]:
    """Put rows together of which the same is told: fifty copies of 999 would crowd out the rest."""
    found: dict[object, list[Flagged]] = {}
    for item in items:
        found.setdefault(item.rank if item.reason is None else str(item.reason), []).append(item)
    return list(found.values())


def reason_words(item: Flagged) -> str:
    """Say why a row is listed of which nothing was found."""
    return "" if item.reason is not None else f"score {item.score:.2f}"


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
