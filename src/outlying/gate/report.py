"""The verdict of a check for those who read it: people, CI servers, pages of jobs."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from outlying.errors import harmless
from outlying.gate.check import Check
from outlying.render.tables import Columns, markdown, markdown_text
from outlying.results.detections import Flagged
from outlying.table.values import printable

#: So many rows are told; the JSON result holds all.
MOST_TOLD = 50


def text(check: Check) -> str:
    """Return the verdict as text: the summary, then what was found."""
    lines = [
        check.summary,
        *(f"  {_place(item)}: {_why(item)}" for item in check.rows[:MOST_TOLD]),
        *(f"  {more}" for more in _more(check)),
        *(f"  warning: {warning}" for warning in _warnings(check)),
        *(f"  - {note}" for note in check.notes if check.verdict != "clean"),
    ]
    return "\n".join(map(harmless, lines))


def _place(item: Flagged) -> str:
    return f"row {_number(item)}" if item.row is not None else f"the row ({item.name})"


def _number(item: Flagged) -> str:
    number = "" if item.row is None else str(item.row + 1)
    return f"{number} ({item.name})" if item.name else number


def _why(item: Flagged) -> str:
    return "marked; nothing in it is odd" if item.reason is None else item.reason.sentence


def _more(check: Check) -> list[str]:
    count = check.exceptional - len(check.rows[:MOST_TOLD])
    return [f"and {count:,} more"] if count > 0 else []


def _warnings(check: Check) -> list[str]:
    return [*map(str, check.drifts), *check.warnings]


def table(check: Check) -> str:
    """Return the verdict as Markdown, for the page of a job."""
    sign = {"clean": "✅", "warning": "⚠️", "findings": "❌", "cannot judge": "❓"}[check.verdict]
    parts = [f"**{sign} {markdown_text(check.summary)}**"]
    items = check.rows[:MOST_TOLD]
    if items:
        columns: Columns = {
            "row": [_number(item) for item in items],
            "column": [item.reason and item.reason.column for item in items],
            "value": [item.reason and item.reason.value for item in items],
            "why": [_why(item) for item in items],
        }
        parts.append(markdown(columns))
    parts += map(markdown_text, _more(check))
    warnings = [f"- {markdown_text(told)}" for told in _warnings(check)]
    return "\n\n".join([*parts, *(["\n".join(warnings)] if warnings else [])])


def junit(check: Check) -> str:
    """Return the verdict as JUnit XML: a test case for the whole, and one for each odd row."""
    suites = Element("testsuites")
    suite = SubElement(suites, "testsuite", name="outlying")
    whole = _case(suite, check.source)
    faults = {"cannot judge": "error", "findings": "failure"}
    if check.verdict in faults:
        SubElement(whole, faults[check.verdict], message=_valid(check.summary))
    if warnings := _warnings(check):
        SubElement(whole, "system-out").text = _valid("\n".join(warnings))
    for item in check.rows[:MOST_TOLD] if check.verdict == "findings" else ():
        SubElement(_case(suite, _place(item)), "failure", message=_valid(_why(item)))
    counts = {"tests": "*", "failures": "*/failure", "errors": "*/error"}
    for part in (suites, suite):
        part.attrib |= {name: str(len(suite.findall(path))) for name, path in counts.items()}
    indent(suites, "")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, "unicode")


def _case(suite: Element, name: str) -> Element:
    return SubElement(suite, "testcase", classname="outlying", name=_valid(name))


def _valid(said: str) -> str:
    """Return text without characters that XML has not."""
    return "\n".join(map(harmless, said.split("\n"))).encode("utf-8", "backslashreplace").decode()


def github(check: Check) -> str:
    """Return the verdict as annotations of GitHub's workflows."""
    if check.verdict in ("findings", "cannot judge"):
        lines = [_annotation("error", check.source, check.summary)]
        lines += [
            _annotation("error", check.source, f"{_place(item)}: {_why(item)}")
            for item in check.rows[:MOST_TOLD]
        ]
    else:
        lines = [_annotation("notice", check.source, check.summary)]
    return "\n".join(
        [*lines, *(_annotation("warning", check.source, told) for told in _warnings(check))]
    )


def _annotation(kind: str, source: str, said: str) -> str:
    title = printable(source, 80)
    for char, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")):
        title = title.replace(char, code)
    message = harmless(said).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{kind} title=outlying {title}::{message}"
