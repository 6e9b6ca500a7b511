"""Several processes give what one gives, in order, and never outlive what they work for."""

from __future__ import annotations

import functools
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
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
    before = children()
    yield
    assert children() <= before


def children() -> set[int]:
    """The processes that this one has started, as far as the system tells."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(number) for task in tasks for number in task.read_text(encoding="utf-8").split()}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask other processes to help from the first item on."""
    monkeypatch.setattr(parallel, "PATIENCE", -1.0)


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


def slow_at_first(item: int) -> int:
    time.sleep(0.02 * (item < 4))
    return item


@pytest.mark.usefixtures("impatient")
def test_slow_items_keep_their_place() -> None:
    assert list(in_order(each(slow_at_first), range(50), 2)) == list(range(50))


@pytest.mark.parametrize("count", [0, 1, 8])
@pytest.mark.usefixtures("impatient")
def test_few_items_stay_here(count: int) -> None:
    found = list(in_order(each(squared), range(count), 2))
    assert found == [(item * item, os.getpid()) for item in range(count)]


def test_what_is_soon_done_stays_here() -> None:
    assert {process for _, process in in_order(each(squared), ITEMS, 2)} == {os.getpid()}


def slow(item: int) -> tuple[int, int]:
    time.sleep(0.02)
    return squared(item)


def test_what_takes_long_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first items are done here, the others elsewhere; none is lost, none is done twice."""
    monkeypatch.setattr(parallel, "PATIENCE", 0.05)
    found = list(in_order(each(slow), ITEMS, 2))
    assert [result for result, _ in found] == [item * item for item in ITEMS]
    here = [process == os.getpid() for _, process in found]
    assert here[0]
    assert not here[-1]
    assert here == sorted(here, reverse=True)


def fails_at_17(item: int) -> int:
    if item == 17:
        raise outlying.RowError(f"row 17 is at fault in process {os.getpid()}")
    return item


@pytest.mark.usefixtures("impatient")
def test_an_error_reaches_the_caller() -> None:
    before = children()  # those of other tests, such as a server that they share
    found = in_order(each(fails_at_17), ITEMS, 2)
    with pytest.raises(outlying.RowError, match="row 17 is at fault") as error:
        list(found)
    assert str(os.getpid()) not in str(error.value)
    assert "fails_at_17" in error.value.__notes__[0]
    assert children() <= before


def fails_oddly(item: int) -> int:
    raise OddError(lambda: item)


class OddError(Exception):
    """One that cannot be sent."""


@pytest.mark.usefixtures("impatient")
def test_an_error_that_cannot_be_sent_is_told() -> None:
    with pytest.raises(RuntimeError, match="OddError"):
        list(in_order(each(fails_oddly), ITEMS, 2))


def dies_at_17(item: int) -> int:
    if item == 17:
        os.kill(os.getpid(), signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    return item


@pytest.mark.usefixtures("impatient")
def test_a_process_that_dies_is_told_with_its_row() -> None:
    found = in_order(each(dies_at_17), ITEMS, 2, row_of=lambda item: item + 1000)
    with pytest.raises(outlying.WorkerError, match="died while it worked on row 1017 "):
        list(found)


@pytest.mark.usefixtures("impatient")
def test_who_stops_early_leaves_no_process() -> None:
    found = in_order(each(squared), range(500), 2)
    processes = {process for _, process in itertools.islice(found, 20)}
    assert all(map(is_running, processes))
    found.close()  # a generator
    assert not any(map(is_running, processes))


class Elsewhere:
    """What only the process that made it can read."""

    def __reduce__(self) -> tuple[Callable[[int], Elsewhere], tuple[int]]:
        return here_only, (os.getpid(),)


def here_only(process: int) -> Elsewhere:
    if process != os.getpid():
        raise AttributeError("no such class")
    return Elsewhere()


def where_read(item: object) -> tuple[str, int]:
    return type(item).__name__, os.getpid()


@pytest.mark.usefixtures("impatient")
def test_what_others_cannot_read_is_done_here() -> None:
    """Such as classes of the caller's script, which they do not run."""
    items = [*range(24), *(Elsewhere() for _ in range(12))]
    found = list(in_order(each(where_read), items, 2))
    assert [name for name, _ in found] == ["int"] * 24 + ["Elsewhere"] * 12
    assert {process for name, process in found if name == "Elsewhere"} == {os.getpid()}
    assert os.getpid() not in {process for name, process in found if name == "int"}


ORPHANS = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
from outlying import parallel
from tests.test_parallel import each, first_is_quick

parallel.PATIENCE = -1.0
found = parallel.in_order(each(first_is_quick), [0, 0, 0, 0, *range(1, 40)], 2, most=1)
print(*(next(found) for _ in range(4)), flush=True)
time.sleep(120)
"""


def first_is_quick(item: int) -> int:
    time.sleep(120 if item else 0.1)
    return os.getpid()


def test_children_end_with_a_parent_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        try:
            children = [int(child) for child in parent.stdout.readline().split()]
            assert len(set(children)) == 2
            assert all(map(is_running, children))
        finally:
            parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert within(10, lambda: not any(map(is_running, children)))


def each(work: Callable[[int], Result]) -> Callable[[Sequence[int]], Iterable[Result]]:
    """Return what works on several items, one after the other."""
    return functools.partial(map, work)


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
    before = children()
    first = found[0].to_json()
    assert len(children() - before) == 2
    texts = [item.to_json() for item in found]
    assert texts[0] == first
    return texts


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


def test_an_explainer_can_be_copied() -> None:
    explainer = outlying.Explainer(data())
    first = explainer.explain(row=1).to_json()
    copied = pickle.loads(pickle.dumps(explainer))  # noqa: S301 - our own
    assert copied.explain(row=1).to_json() == first
