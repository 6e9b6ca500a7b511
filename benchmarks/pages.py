"""How large pages are, and how soon a browser shows them.

    python -m benchmarks.pages -o benchmarks/results/pages.md

A page on one row, on 50 and on 200 rows of a table of 2,000 x 20: how long it takes to write beside
the explanations, how large it is, and how long a headless Chromium takes from the request to the
first picture and to the end of loading (the median of five fresh visits).
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import outlying
from benchmarks.machine import header
from benchmarks.speed.spec import Spec
from benchmarks.speed.tables import make
from tests.browser import Browser, started

ROWS = (1, 50, 200)
VISITS = 5


@dataclasses.dataclass(frozen=True)
class Measured:
    """One page: seconds but for its size."""

    rows: int
    cards: int
    explaining: float
    writing: float
    megabytes: float
    painted: float
    loaded: float
    scrolled: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure pages.")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="rows on a page")
    parser.add_argument("-o", "--output", type=Path, help="write the report there, too")
    args = parser.parse_args(arguments)
    table = make(Spec(job="page", kind="interval", rows=2_000, columns=20, seed=0))
    explainer = outlying.Explainer(table.data)
    explainer.prepare()
    text = report([measured(explainer, table.drawn(rows)) for rows in args.rows])
    print(text)
    if args.output:
        args.output.write_text(text, encoding="utf-8")


def measured(explainer: outlying.Explainer, rows: Sequence[int]) -> Measured:
    begin = time.perf_counter()
    findings = list(explainer.explain_many(rows=rows))
    explained = time.perf_counter()
    page = findings[0].to_html() if len(rows) == 1 else outlying.report(findings)
    written = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page, encoding="utf-8")
        visits = [visit(path) for _ in range(VISITS)]
        size = path.stat().st_size
    return Measured(
        len(rows),
        sum(len(item.pairs) for item in findings),
        explained - begin,
        written - explained,
        size / 1e6,
        *(statistics.median(times) for times in zip(*visits, strict=True)),
    )


def visit(path: Path) -> tuple[float, float, float]:
    """Open a page in a fresh browser; give when it was painted, loaded, and seen to its end."""
    for browser in started():
        browser.open(path)
        painted = wait_for(browser, "performance.getEntriesByType('paint')[0]?.startTime")
        loaded = browser.ask("performance.getEntriesByType('navigation')[0].loadEventEnd")
        begin = time.perf_counter()
        browser.ask("window.scrollTo(0, document.documentElement.scrollHeight)")
        browser.driver.execute_async_script(
            "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
        )
        return painted / 1000, loaded / 1000, time.perf_counter() - begin
    raise RuntimeError("no browser was started")


def wait_for(browser: Browser, script: str) -> Any:
    while (value := browser.ask(script)) is None:
        time.sleep(0.01)
    return value


def report(found: Sequence[Measured]) -> str:
    lines = [
        header("Pages"),
        "`python -m benchmarks.pages`: pages on rows of a table of 2,000 x 20, up to ten findings "
        "for each row. Times of the browser are medians of five visits by a fresh process.",
        "",
        "| rows | findings | explaining, s | writing, s | size, MB | first paint, s | loaded, s "
        "| to the end, s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for item in found:
        values = dataclasses.astuple(item)[2:]
        cells = " | ".join(f"{value:.2f}" for value in values)
        lines.append(f"| {item.rows} | {item.cards} | {cells} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
