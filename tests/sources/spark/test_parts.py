"""What travels between executors: states in pieces, errors as they were raised."""

from __future__ import annotations

import itertools
import pickle
import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlying.errors import ColumnError, InfiniteValueError, MissingExtraError, OutlyingError
from outlying.sources.spark import FAN_IN, Failure, connected, merge_pieces, pieces_of, widths
from outlying.sources.spark_session import words
from tests.toy_pass import Rows


@given(st.lists(st.integers(0, 2**70), min_size=1), st.integers(1, 50), st.randoms())
def test_pieces_in_any_order_give_the_sum_of_states(
    states: list[int], size: int, order: random.Random
) -> None:
    pieces = [piece for part, state in enumerate(states) for piece in pieces_of(state, part, size)]
    order.shuffle(pieces)
    assert all(len(some) <= size for *_, some in pieces)
    assert merge_pieces(pieces, Rows()) == [sum(states)]


def test_no_pieces_give_no_state() -> None:
    assert merge_pieces([], Rows()) == []


@pytest.mark.parametrize(
    "error",
    [
        InfiniteValueError("a", None),
        InfiniteValueError("a", 3),
        ColumnError("words"),
        MissingExtraError("x", "y"),
    ],
)
def test_errors_come_out_as_they_were(error: OutlyingError) -> None:
    failure, later = Failure(2, error), Failure(5, ColumnError("later"))
    states: list[tuple[int, object]] = [(0, 1), (5, later), (2, failure), (3, 4)]
    pieces = [piece for part, state in states for piece in pieces_of(state, part, 9)]
    (kept,) = merge_pieces(pieces, Rows())
    again = pickle.loads(pickle.dumps(kept)).error  # noqa: S301 (our own)
    assert (type(again), str(again)) == (type(error), str(error))
    assert again.__dict__ == error.__dict__


@given(st.integers(1, 100_000))
def test_a_tree_of_merges_narrows_to_one_task(cores: int) -> None:
    found = widths(cores)
    assert (found[0], found[-1]) == (cores, 1)
    assert all(one <= other * FAN_IN for one, other in itertools.pairwise(found))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "An error occurred while calling o1.parquet.\n: java.lang.RuntimeException: x\n"
            "\tat a.b(C.java:1)\nCaused by: java.io.FileNotFoundException: /data/a.parquet "
            "(Permission denied)\n\tat d.e(F.java:2)",
            "permission denied for /data/a.parquet; ask for the right to read it",
        ),
        (
            "An error occurred while calling o1.parquet.\n: org.apache.hadoop.security."
            "AccessControlException: Permission denied: user=me, access=READ, inode=/data",
            "permission denied (user=me, access=READ, inode=/data); ask for the right to read it",
        ),
        (
            "An error occurred while calling o7.collectToPython.\n: org.apache.spark."
            "SparkException: Job aborted due to stage failure: Task 0 in stage 8.0 failed 4 times, "
            "most recent failure: Lost task 0.0 in stage 8.0 (TID 13) (host executor driver): "
            "ExecutorLostFailure (executor 2 exited)\n\tat a.b(C.java:1)",
            "Spark cannot read it: ExecutorLostFailure (executor 2 exited)",
        ),
        (
            "[DIVIDE_BY_ZERO] Division by zero. Use `try_divide`. SQLSTATE: 22012\n"
            "== SQL (line 1, position 1) ==\n1/id as x\n^^^^\n",
            "Spark cannot read it: Division by zero. Use `try_divide`.",
        ),
        ("", "Spark cannot read it: no reason is given"),
    ],
)
def test_words_for_errors_that_are_hard_to_cause(text: str, said: str) -> None:
    assert words(text) == said


def test_a_missing_library_names_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingExtraError, match=r"pip install '.*\[spark\]'"):
        connected("spark://127.0.0.1:1/table")
