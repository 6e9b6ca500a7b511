"""Feature bagging: the same as the slow twin, whatever the order and the units; what it finds."""

from __future__ import annotations

import functools
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import outlying
from benchmarks.planted import plant
from outlying.detect import api, bagging
from outlying.detect.bagging import MOST_LABELS, Coordinates
from outlying.options import Bagging, Base, Combine
from outlying.sources import read
from outlying.table.columns import Column, categorical_column, numeric_column
from outlying.table.row_hash import sample_rows
from outlying.table.selection import select
from tests import naive, naive_detect, strategies
from tests.detect.tables import numbers

detect = functools.partial(outlying.detect, detector="feature-bagging")


ROUNDS = 6


def floats(table: strategies.Table) -> strategies.Table:
    """The columns that take part, with numbers as the twin knows them."""
    return {name: cells for name, cells in table.items() if naive.takes_part(cells)}


def rounds_of(names: list[str], seed: int) -> list[list[str]]:
    ordered = sorted(names)
    drawn_places = bagging.subsets(len(ordered), ROUNDS, seed)
    return [[ordered[place] for place in places] for places in drawn_places]


@settings(max_examples=60)
@given(
    table=strategies.tables(max_rows=14),
    base=st.sampled_from(["kth-neighbour", "radius"]),
    combine=st.sampled_from(["rank", "votes", "sum"]),
    scale=st.sampled_from(["deviation", "range"]),
    count=st.integers(1, 6),
    radius=st.sampled_from([None, 0.3, 1.0]),
    seed=st.integers(0, 50),
)
def test_the_slow_twin_agrees(
    table: strategies.Table,
    base: str,
    combine: str,
    scale: str,
    count: int,
    radius: float | None,
    seed: int,
) -> None:
    compared = floats(table)
    assume(compared)
    radius = radius if base == "radius" else None
    options: dict[str, Any] = {"base": base, "combine": combine, "scale": scale, "radius": radius}
    rows = len(next(iter(table.values())))
    found = detect(dict(table), top=rows, rounds=ROUNDS, neighbours=count, seed=seed, **options)
    slow = naive_detect.detect(
        compared, rounds_of(list(compared), seed), [range(rows)] * ROUNDS, count, **options
    )
    for item in found.rows:
        assert item.remoteness == pytest.approx(slow[item.row or 0].remoteness, rel=1e-6, abs=1e-8)
        assert item.votes == slow[item.row or 0].votes
        assert item.score == pytest.approx(slow[item.row or 0].score, rel=1e-6, abs=1e-8)


def bag(table: strategies.Table, limits: bagging.Limits, **options: Any) -> bagging.Bagged:
    """Score all rows within limits: few rows to compare with, as of a table that is large."""
    explainer = outlying.Explainer(dict(table))
    columns = select(explainer.table, explainer.options).columns
    return bagging.bagged(columns, Bagging.of(**options), limits=limits)


@pytest.mark.parametrize("digits", [9, 0])  # with copies in many rounds
@pytest.mark.parametrize("base", ["kth-neighbour", "radius"])
def test_the_slow_twin_agrees_on_a_sample(base: Base, digits: int) -> None:
    columns: strategies.Table = {
        name: list(map(float, cells.round(digits))) for name, cells in numbers(40, 4).items()
    }
    limits = bagging.Limits(1, references=12)
    found = bag(columns, limits, rounds=ROUNDS, base=base)
    table, own = read(columns), Bagging(rounds=ROUNDS)
    sample = bagging.Sample.of(table.columns, Coordinates.of(table.columns), own, limits)
    parts = [[int(row) for row in sample.rows_of(part)] for part in range(ROUNDS)]
    slow = naive_detect.detect(columns, rounds_of(list(columns), 0), parts, base=base)
    assert all(len(set(part)) == 12 for part in parts)
    assert parts[0] != parts[1]
    assert found.scores.tolist() == pytest.approx([slow[row].score for row in range(40)])
    assert found.votes.tolist() == [slow[row].votes for row in range(40)]
    assert (found.references, found.compared) == (12, 40)
    assert api._notes(found, own, 40) == [
        "Each of the 6 rounds scored all 40 rows by their distance to 12 of them, drawn by what "
        "they hold: 40 in all.",
    ]


def test_rare_labels_count_as_one_and_it_is_said() -> None:
    labels = [f"v{place:02d}" for place in range(40)]
    cells = [*labels, *labels[5:30], *labels[8:28]]
    table: strategies.Table = {
        "label": [*cells],
        "x": [float(place % 7) for place in range(len(cells))],
    }
    options: dict[str, Any] = {"types": {"label": "categorical"}, "rounds": ROUNDS}
    found = detect(table, top=len(cells), **options)
    rounds = rounds_of(["label", "x"], 0)
    slow = naive_detect.detect(table, rounds, [range(len(cells))] * ROUNDS)
    assert len(labels) > MOST_LABELS
    assert [item.score for item in found.rows] == pytest.approx(
        [slow[item.row or 0].score for item in found.rows]
    )
    assert found.notes == ("Column 'label': its rare labels count as one label in the comparison.",)


@pytest.mark.parametrize(
    ("attributes", "sizes"), [(1, {1}), (2, {1, 2}), (3, {1, 2}), (4, {2, 3}), (9, {4, 5, 6, 7, 8})]
)
def test_a_round_sees_half_of_the_attributes_to_all_but_one(
    attributes: int, sizes: set[int]
) -> None:
    drawn_sets = list(bagging.subsets(attributes, 300, seed=1))
    assert {len(chosen) for chosen in drawn_sets} == sizes
    assert {place for chosen in drawn_sets for place in chosen} == set(range(attributes))
    assert all(len(set(chosen)) == len(chosen) for chosen in drawn_sets)
    assert drawn_sets == list(bagging.subsets(attributes, 300, seed=1))
    if attributes > 1:
        assert drawn_sets != list(bagging.subsets(attributes, 300, seed=2))


def test_sizes_are_drawn_evenly() -> None:
    sizes = [len(chosen) for chosen in bagging.subsets(9, 5000, seed=0)]
    assert np.bincount(sizes)[4:] == pytest.approx(np.full(5, 1000), rel=0.1)


@settings(max_examples=30)
@given(
    table=strategies.tables(),
    order=st.randoms(use_true_random=False),
    combine=st.sampled_from(["rank", "votes", "sum"]),
    base=st.sampled_from(["kth-neighbour", "radius"]),
)
def test_the_order_of_rows_changes_no_score(
    table: strategies.Table, order: Any, combine: str, base: str
) -> None:
    assume(any(naive.takes_part(cells) for cells in table.values()))
    rows = len(next(iter(table.values())))
    places = list(range(rows))
    order.shuffle(places)
    shuffled = {name: [cells[old] for old in places] for name, cells in table.items()}
    options: dict[str, Any] = {"rounds": ROUNDS, "combine": combine, "base": base}
    before = detect(dict(table), **options)
    after = detect(shuffled, **options)
    assert after.scores.tolist() == before.scores[places].tolist()


@pytest.mark.parametrize("limits", [bagging.Limits(), bagging.Limits(1, references=20)])
@pytest.mark.parametrize("combine", ["rank", "votes", "sum"])
def test_orders_and_units_change_no_rank(limits: bagging.Limits, combine: str) -> None:
    planted = plant("category", 3, rows=250, noise=6).data
    order = np.random.default_rng(0).permutation(250)

    def scores(data: dict[str, Any]) -> Any:
        return bag(data, limits, combine=combine, rounds=20).scores

    before = scores(planted)
    assert scores(dict(reversed(planted.items()))).tolist() == before.tolist()
    shuffled = {name: column[order] for name, column in planted.items()}
    assert scores(shuffled).tolist() == before[order].tolist()
    factors = iter([1e9, 0.3048, 1e-3, 1.8, 7e3] * 10)
    scaled = {
        name: column if column.dtype == object else column.astype(float) * next(factors)
        for name, column in planted.items()
    }
    after = scores(scaled)
    ranks = [np.argsort(-own, kind="stable").tolist() for own in (after, before)]
    assert ranks[0] == ranks[1]
    assert after == pytest.approx(before, abs=1e-8)


def test_huge_and_tiny_numbers() -> None:
    table = numbers(60, 3)
    before = detect(table, top=60).positions
    table["x0"] = table["x0"] * 1e307
    table["x1"] = table["x1"] * 1e-300
    assert detect(table, top=60).positions == before
    with pytest.raises(outlying.OptionError, match=r"'x0'.*allowed: up to 1e\+100"):
        detect(table, scale="none")


def test_the_same_seed_gives_the_same_bytes_and_another_other_rounds() -> None:
    table = numbers()
    first = detect(table).to_json()
    assert detect(table, workers=1).to_json() == first
    assert detect(table, seed=1).to_json() != first


def copied(rare: int, common: int, rows: int) -> tuple[strategies.Table, np.ndarray[Any, Any]]:
    """A table of few distinct rows, the first of which come once each, and which row is which."""
    rng = np.random.default_rng(0)
    kinds = np.array([[a, b, c] for a in "abcd" for b in "uvw" for c in "xyz"])
    which = np.concatenate((np.arange(rare), rare + rng.integers(0, common, rows - rare)))
    table = {name: list(map(str, kinds[which][:, k])) for k, name in enumerate("abc")}
    table["a"][:rare] = ["odd"] * rare
    return {name: list(cells) for name, cells in table.items()}, which


def test_copies_have_the_same_score_in_a_sample() -> None:
    """A common row is not odd only because a few of its many copies were drawn."""
    table, which = copied(0, 30, 3000)
    limits = bagging.Limits(1, references=100)
    found = bag(table, limits)
    assert found.references == 100
    for kind in range(30):
        assert len(set(found.scores[which == kind].tolist())) == 1
    order = np.random.default_rng(1).permutation(3000)
    shuffled = {name: [cells[old] for old in order] for name, cells in table.items()}
    assert bag(shuffled, limits).scores.tolist() == found.scores[order].tolist()


@pytest.mark.parametrize(("rare", "common"), [(2, 20), (1, 1)])
@pytest.mark.parametrize("combine", ["rank", "votes", "sum"])
@pytest.mark.parametrize("base", ["kth-neighbour", "radius"])
def test_a_table_of_few_distinct_rows_needs_no_sample(
    base: str, combine: str, rare: int, common: int
) -> None:
    table, _ = copied(rare, common, 1500)
    options: dict[str, Any] = {"base": base, "combine": combine}
    whole = bag(table, bagging.Limits(), **options)
    found = bag(table, bagging.Limits(1, references=140), **options)
    assert found.scores.tolist() == whole.scores.tolist()
    assert found.votes.tolist() == whole.votes.tolist()
    first = np.argsort(-found.scores, kind="stable")[:rare]
    assert sorted(first.tolist()) == list(range(rare))
    assert found.votes[first[0]]
    assert found.references == whole.references == 1500


def test_copies_are_drawn_one_by_one() -> None:
    """In a table of few distinct rows, a sample still holds all of them."""
    columns = [categorical_column("a", ["x", "y", "z", "w"] * 500)]
    evenly = sample_rows(columns, 2000, 100)
    assert np.bincount(evenly % 4) == pytest.approx(np.full(4, 25), abs=12)
    assert len(set(evenly.tolist())) == 100


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("combine", ["rank", "votes", "sum"])
def test_planted_rows_are_found(seed: int, combine: Combine) -> None:
    planted = plant("global", seed, rows=500, noise=5)
    assert planted.row in detect(planted.data, combine=combine).positions


PAPER = [("ecoli", 223, ["site"]), ("yeast", 990, ["name", "site"])]


@pytest.mark.parametrize("combine", ["rank", "votes", "sum"])
@pytest.mark.parametrize(("name", "row", "exclude"), PAPER)
def test_rows_of_the_paper_come_first(
    name: str, row: int, exclude: list[str], combine: Combine, shared_data: Path
) -> None:
    detection = detect(shared_data / f"{name}.csv", exclude=exclude, combine=combine)
    assert detection.positions[0] + 1 == row


def test_the_papers_row_of_cloud_is_first_in_its_own_units_only(shared_data: Path) -> None:
    path = shared_data / "cloud.csv"
    raw = detect(path, scale="none", combine="votes")
    assert raw.positions[0] + 1 == 354
    assert 354 - 1 in detect(path, top=40).positions


def test_progress_counts_the_rounds() -> None:
    seen: list[tuple[int, int]] = []
    detect(numbers(50, 6), rounds=5, progress=lambda *step: seen.append(step))
    assert seen == [(place, 5) for place in range(5)]


def test_few_rows_have_few_neighbours_and_it_is_said() -> None:
    detection = detect({"x": [1.0, 2.0, 50.0]})
    assert detection.positions[0] == 2
    assert len(detection.rows) == 3
    assert detection.notes == (
        "There are few rows: each was compared with its 1 nearest, half of the other rows, not 5.",
    )


def test_import_loads_no_index() -> None:
    code = "import sys, outlying; print([m for m in sys.modules if m.split('.')[0] == 'scipy'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_ends_it_without_a_crash(workers: int) -> None:
    code = (
        "import numpy as np, outlying\n"
        "table = {f'x{i}': np.random.default_rng(i).normal(size=40_000) for i in range(12)}\n"
        "say = lambda done, total: print(done, flush=True)\n"
        f"options = dict(detector='feature-bagging', rounds=1000, workers={workers})\n"
        "outlying.detect(table, progress=say, **options)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        while child.stdout.readline().strip() != "1":
            assert child.poll() is None
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert child.returncode == -signal.SIGINT


def test_threads_change_nothing() -> None:
    points = np.random.default_rng(0).normal(size=(500, 3))
    alone = bagging.nearest_distances(points, np.arange(500), 4, 1)
    for workers in (1, 3):
        found = bagging.nearest_distances(points, np.arange(500), 4, workers, at_once=500 * 7)
        assert (found == alone).all()


def test_a_row_is_not_its_own_neighbour() -> None:
    points = np.array([[0.0], [1.0], [1.0], [5.0]])
    everything = bagging.nearest_distances(points, np.arange(4), 2, 1)
    assert everything.tolist() == [[1, 1], [0, 1], [0, 1], [4, 4]]
    some = bagging.nearest_distances(points, np.array([0, 1, 2]), 2, 1)
    assert some[3].tolist() == [4, 4]


@pytest.mark.parametrize("drawn_rows", [[0, 1, 2, 4], [3, 0, 4, 2], [1, 3, 4, 0]])
def test_which_of_several_copies_is_drawn_does_not_matter(drawn_rows: list[int]) -> None:
    points = np.array([[0.0], [1.0], [1.0], [1.0], [5.0]])
    found = bagging.nearest_distances(points, np.array(drawn_rows), 2, 1)
    assert found.tolist() == [[1, 1], [0, 0], [0, 0], [0, 0], [4, 4]]


def test_coordinates_of_mixed_columns() -> None:
    columns: list[Column] = [
        numeric_column("n", [0.0, 2.0, np.nan, 2.0]),
        categorical_column("c", ["a", "b", None, "a"]),
    ]
    points = Coordinates.of(columns).points()
    steps = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    spread = np.std([0, 2, 2])
    assert steps[0, 1] == pytest.approx((2 / spread) ** 2 + 1)
    assert steps[0, 2] == pytest.approx((2 / spread) ** 2 + 0.5 + 0.5)
    assert steps[1, 2] == pytest.approx(0.5 + 0.5)
    assert steps[1, 3] == pytest.approx(1)


def test_settings_have_the_documented_defaults() -> None:
    assert Bagging.of() == Bagging()
    assert Bagging().combine == "rank"
