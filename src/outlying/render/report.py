"""report(): one HTML page on many findings about one table."""

from __future__ import annotations

from collections.abc import Iterable

from outlying.errors import OptionError
from outlying.results.findings import Findings


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
