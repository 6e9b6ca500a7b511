"""Threads do not disturb each other: the answers of eight are those of one."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlying

THREADS = 8
ROWS = 200
DEMO = Path(outlying.__file__).parent / "data" / "patients.csv"

Answer = Callable[[int], str]


def mixed() -> dict[str, Any]:
    """Numbers, few and many, labels and gaps; some rows break what ties the columns."""
    rng = np.random.default_rng(8)
    level = rng.integers(3, size=400)
    found = {
        "a": level * 6 + rng.normal(size=400),
        "b": np.round(level * -4 + rng.normal(size=400), 1),
        "c": np.array(["p", "q", "r"])[level],
        "d": np.where(rng.random(400) < 0.2, np.nan, rng.exponential(size=400)),
    }
    found["a"][:9] = found["a"][::-1][:9] + 9
    return found


TABLES: dict[str, Any] = {"mixed": mixed(), "demo": str(DEMO)}


@pytest.fixture(autouse=True)
def _impatient() -> Iterator[None]:
    """Let threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def explainer(data: Any, **options: Any) -> Answer:
    made = outlying.Explainer(data, **{"references": 0} | options)
    return lambda row: made.explain(row=row).to_json()


def by_threads(answers: Sequence[Answer], rows: Sequence[int]) -> list[str]:
    """Let each thread answer for some of the rows, all at once."""
    start = threading.Barrier(len(answers))
    found: dict[int, str] = {}

    def work(number: int) -> None:
        start.wait()
        for row in rows[number :: len(answers)]:
            found[row] = answers[number](row)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(answers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found.get(row, "") for row in rows]


@functools.cache
def alone(name: str) -> list[str]:
    """The answers of one thread."""
    answer = explainer(TABLES[name])
    return [answer(row) for row in range(ROWS)]


@pytest.mark.parametrize("shared", [False, True], ids=["own", "shared"])
@pytest.mark.parametrize("name", TABLES)
def test_threads_answer_as_one_does(name: str, shared: bool) -> None:
    one = explainer(TABLES[name])
    answers = [one if shared else explainer(TABLES[name]) for _ in range(THREADS)]
    found = by_threads(answers, range(ROWS))
    wrong = [row for row, told in enumerate(alone(name)) if found[row] != told]
    assert not wrong, f"{len(wrong)} of {ROWS} answers differ"
