"""report(): one HTML page on many findings about one table; and results as a dataframe."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any, get_args

from outlying.errors import MissingExtraError, OptionError
from outlying.results.findings import Findings
from outlying.table.table import FrameLibrary


def frame(columns: dict[str, list[Any]], preferred: FrameLibrary) -> Any:
    """Return a dataframe of the preferred library, or of another where that is not installed."""
    for name in (preferred, *get_args(FrameLibrary)):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return library.DataFrame(
            {name: list(map(_whole, cells)) for name, cells in columns.items()}
        )
    raise MissingExtraError("to_frame()", "pandas")


def _whole(cell: Any) -> Any:
    """Return a text without halves of characters, which no library takes; others as they are."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell


def report(findings: Findings | Iterable[Findings]) -> str:
    """Return an HTML page on many findings about one table, with the stories they share.

    The page is one file that loads nothing; `Findings.to_html` writes one on a single object.
    """
    from outlying.render.html import Report

    found: Report | None = None
    if isinstance(findings, Findings):
        findings = [findings]
    if not isinstance(findings, Iterable):
        raise OptionError(f"findings is {findings!r}; allowed: a list of what explain() gives")
    for place, item in enumerate(findings):
        if not isinstance(item, Findings):
            raise OptionError(f"findings[{place}] is {item!r}; allowed: what explain() gives")
        if found is None:
            found = Report(item.population, item.options, is_many=True)
        people, first = item.population, found.population
        if (people.source, people.rows) != (first.source, first.rows):
            raise OptionError(
                f"findings[{place}] is about {people.source} with {people.rows:,} rows, the first "
                f"about {first.source} with {first.rows:,}; a report is about one table"
            )
        if item.options != found.options:
            raise OptionError(
                f"findings[{place}] has other options than the first; a report has one set of them"
            )
        found.add(item)
    if found is None:
        raise OptionError("there are no findings; a report needs at least one")
    return found.page()
