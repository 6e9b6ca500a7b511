"""Several processes give what one gives, in order, and never outlive what they work for."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

import outlying
from outlying import parallel
from outlying.parallel import in_order

Result = TypeVar("Result")
ITEMS = range(30)


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    """Whatever a test does, its processes are gone afterwards."""
    yield
    assert multiprocessing.active_children() == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask other processes to help from the first item on."""
    monkeypatch.setattr(parallel, "PATIENCE", -1.0)


@pytest.fixture
def spawning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start processes as where they cannot be forked."""
    monkeypatch.setattr(parallel, "sys", types.SimpleNamespace(platform="elsewhere"))


def data() -> dict[str, list[object]]:
    rng = np.random.default_rng(8)
    city = rng.choice(["A", "B", "C"], 90)
    temp = np.where(city == "A", 30.0, 5.0) + rng.normal(size=90)
    temp[:4] = 30.0 - 25.0 * (city[:4] == "A")
    noise = rng.normal(size=90)
    noise[::9] = np.nan
    return {"city": city.tolist(), "temp": temp.tolist(), "noise": noise.tolist()}


def squared(item: int) -> tuple[int, int]:
    return item * item, os.getpid()


@pytest.mark.usefixtures("impatient")
def test_the_same_results_in_the_same_order() -> None:
    alone, together = (list(in_order(each(squared), ITEMS, number)) for number in (1, 2))
    assert [result for result, _ in together] == [result for result, _ in alone]
    assert {process for _, process in alone} == {os.getpid()}
    assert os.getpid() not in {process for _, process in together}


@pytest.mark.usefixtures("impatient")
def test_slow_items_keep_their_place() -> None:
    def slow_at_first(item: int) -> int:
        time.sleep(0.02 * (item < 4))
        return item

    assert list(in_order(each(slow_at_first), range(50), 2)) == list(range(50))


@pytest.mark.parametrize("count", [0, 1, 8])
@pytest.mark.usefixtures("impatient")
def test_few_items_stay_here(count: int) -> None:
    found = list(in_order(each(squared), range(count), 2))
    assert found == [(item * item, os.getpid()) for item in range(count)]


def test_what_is_soon_done_stays_here() -> None:
    assert {process for _, process in in_order(each(squared), ITEMS, 2)} == {os.getpid()}


def test_what_takes_long_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first items are done here, the others elsewhere; none is lost, none is done twice."""
    monkeypatch.setattr(parallel, "PATIENCE", 0.05)

    def slow(item: int) -> tuple[int, int]:
        time.sleep(0.02)
        return squared(item)

    found = list(in_order(each(slow), ITEMS, 2))
    assert [result for result, _ in found] == [item * item for item in ITEMS]
    here = [process == os.getpid() for _, process in found]
    assert here[0]
    assert not here[-1]
    assert here == sorted(here, reverse=True)


@pytest.mark.usefixtures("impatient")
def test_an_error_reaches_the_caller() -> None:
    def fails(item: int) -> int:
        if item == 17:
            raise outlying.RowError("row 17 is at fault")
        return item

    found = in_order(each(fails), ITEMS, 2)
    with pytest.raises(outlying.RowError, match="row 17 is at fault"):
        list(found)
    assert multiprocessing.active_children() == []


@pytest.mark.usefixtures("impatient")
def test_who_stops_early_leaves_no_process() -> None:
    found = in_order(each(squared), range(500), 2)
    children = {process for _, process in itertools.islice(found, 20)}
    assert multiprocessing.active_children()
    found.close()  # a generator
    assert multiprocessing.active_children() == []
    assert not any(map(is_running, children))


ORPHANS = """
import os, sys, time
from outlying import parallel

def work(item):
    if item:
        time.sleep(120)
    return os.getpid()

parallel.PATIENCE = -1.0
found = parallel.in_order(lambda some: map(work, some), [0, 0, 0, 0, *range(1, 40)], 2)
next(found)
import multiprocessing
print(*(child.pid for child in multiprocessing.active_children()), flush=True)
time.sleep(120)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_children_end_with_a_parent_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        try:
            children = [int(child) for child in parent.stdout.readline().split()]
            assert len(children) == 2
            assert all(map(is_running, children))
        finally:
            parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert within(10, lambda: not any(map(is_running, children)))


def each(work: Callable[[int], Result]) -> Callable[[Sequence[int]], Iterable[Result]]:
    """Return what works on several items, one after the other."""
    return lambda items: map(work, items)


def is_running(process: int) -> bool:
    """Whether a process runs; one that nobody has buried yet does not."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def within(seconds: float, is_true: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.usefixtures("impatient")
def test_many_rows_give_the_same_bytes() -> None:
    rows = [*range(20), 3]
    alone = [outlying.explain(data(), row=row).to_json() for row in rows]
    one = outlying.Explainer(data()).explain_many(rows=rows, workers=1)
    assert [item.to_json() for item in one] == alone
    assert in_processes(outlying.Explainer(data()), rows=rows) == alone


@pytest.mark.usefixtures("impatient")
def test_many_objects_give_the_same_bytes() -> None:
    objects = [{"city": "A", "temp": temp, "noise": None} for temp in range(12)]
    explainer = outlying.Explainer(data())
    alone = [explainer.explain(object=item).to_json() for item in objects]
    assert in_processes(outlying.Explainer(data()), objects=objects) == alone


def in_processes(explainer: outlying.Explainer, **targets: object) -> list[str]:
    """Explain by two other processes."""
    found = explainer.explain_many(**targets, workers=2)  # type: ignore[arg-type]
    first = next(found)
    assert len(multiprocessing.active_children()) == 2
    return [first.to_json(), *(item.to_json() for item in found)]


@pytest.mark.usefixtures("impatient")
def test_an_error_in_many_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ArithmeticError(f"in process {os.getpid()}")

    explainer = outlying.Explainer(data())
    monkeypatch.setattr(explainer.in_memory("").__class__, "_searched", fails)
    with pytest.raises(ArithmeticError) as error:
        list(explainer.explain_many(rows=range(20), workers=2))
    assert str(os.getpid()) not in str(error.value)


@pytest.mark.usefixtures("impatient")
def test_strengths_are_the_same() -> None:
    alone, together = (outlying.Explainer(data()) for _ in range(2))
    alone.prepare(workers=1)
    helped: list[int] = []
    together.prepare(lambda *_: helped.append(threading.active_count()), workers=2)
    assert max(helped) > 1
    assert together.strengths().tolist() == alone.strengths().tolist()
    assert together.standing().exceptional == alone.standing().exceptional
    assert together.explain(row=1).to_json() == alone.explain(row=1).to_json()


@pytest.mark.slow
@pytest.mark.usefixtures("impatient", "spawning")
def test_processes_need_not_be_forked() -> None:
    rows = list(range(12))
    explainer = outlying.Explainer(data())
    alone = [explainer.explain(row=row).to_json() for row in rows]
    explainer.explain(row=0)  # what was prepared stays here
    assert in_processes(explainer, rows=rows) == alone


@pytest.mark.usefixtures("spawning")
def test_where_processes_are_not_forked_they_have_to_be_asked_for() -> None:
    assert parallel.usable_workers(None) == 1
    assert parallel.usable_workers(2) == 2


def test_an_explainer_can_be_copied() -> None:
    explainer = outlying.Explainer(data())
    first = explainer.explain(row=1).to_json()
    copied = pickle.loads(pickle.dumps(explainer))  # noqa: S301 - our own
    assert copied.explain(row=1).to_json() == first
