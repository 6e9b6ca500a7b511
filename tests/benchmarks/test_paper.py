"""The paper's examples and experiments, computed again."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from benchmarks.paper import __main__ as command
from benchmarks.paper import detection, document, examples, figures, reasons, tables, timing, unif2
from benchmarks.paper.notation import context, interval, seconds, subject
from benchmarks.paper.published import CLAIMS, Claim
from benchmarks.paper.tables import Reproduced, ScoredPair
from outlying import OutlyingError, SourceError
from outlying.cli import terminal
from outlying.options import Discretise, Measure
from tests import naive

Run = Callable[..., tuple[int, str, str]]

ECOLI, YEAST, CLOUD = CLAIMS


@functools.cache
def reproduced(folder: Path, claim: Claim) -> Reproduced:
    return tables.reproduced(tables.load(folder, claim), claim, 2)


def numbers(pair: ScoredPair) -> tuple[int, ...]:
    return (pair.number, *(bound.number for _, bound in pair.conditions))


# --- the examples ---


def test_heights_have_a_unit_and_the_gaussian_example_its_number() -> None:
    found = examples.examples()
    ordinary, tall = found.centimetres.marks
    assert (ordinary.score.paper, ordinary.score.relative) == (0, 0)
    assert tall.score.paper == pytest.approx(0.019, abs=0.001)
    assert found.metres.marks[1].score.paper == pytest.approx(0.954, abs=0.001)
    far, middle = found.gaussian.marks
    assert far.score.paper == pytest.approx(0.908, abs=0.001)
    assert middle.score.paper == 0
    assert middle.score.areas == pytest.approx((0.320, 0.493), abs=0.001)
    assert found.averages.score == pytest.approx(0.905, abs=0.001)
    assert found.averages.joined == pytest.approx(0.874, abs=0.001)
    assert found.averages.lowest < 0.91 < found.averages.highest


# --- the tables ---


def test_ecoli_is_the_papers_pair(shared_data: Path) -> None:
    found = reproduced(shared_data, ECOLI)
    assert numbers(found.highest) == numbers(found.published) == (4,)
    assert found.highest.inside.paper == pytest.approx(1.0, abs=0.0005)
    assert found.highest.inside.relative == pytest.approx(0.997, abs=0.0005)
    assert numbers(found.defaults[0]) == (4,)
    assert reasons.of_pair(found) == "The same pair."
    assert set(found.starts) == {(4, ())}
    assert {older.property for older in found.older} == {4}
    spans = {natural.number: natural.span for natural in found.naturals}
    assert spans[1] == (0.61, 0.78)
    assert spans[4] is None


def test_yeast_differs_and_says_why(shared_data: Path) -> None:
    found = reproduced(shared_data, YEAST)
    said = found.published
    assert (said.rows, said.is_supported) == (231, False)
    assert said.inside.paper == pytest.approx(0.859, abs=0.001)
    assert numbers(found.highest) == (8,)
    assert found.same_property is not None
    assert numbers(found.same_property) == (3, 2)
    assert found.same_property.inside.paper == pytest.approx(0.991, abs=0.001)
    assert [numbers(pair) for pair in found.minimal] == [(8,), (3,), (7,)]
    why = reasons.of_pair(found)
    assert "231 of 1,484 rows (15.6%)" in why
    assert "0.991 with a2 (gvh) in [0.2, 0.58]" in why


def test_cloud_finds_the_papers_property_elsewhere(shared_data: Path) -> None:
    found = reproduced(shared_data, CLOUD)
    assert found.published.rows == 3
    assert numbers(found.highest) == (6, 3)
    assert found.highest.inside.paper == pytest.approx(1.0, abs=0.0005)
    assert found.highest.overall.paper == 0
    assert found.highest.rows == 480
    assert "3 of 1,024 rows (0.3%)" in reasons.of_pair(found)
    assert "same property, exceptional in another context" in reasons.of_pair(found)
    assert {number for number, _ in found.starts} == {6}
    assert {natural.number for natural in found.naturals if natural.support < 0.2} == {
        2,
        4,
        5,
        7,
        8,
        10,
    }


def test_feature_bagging_finds_the_papers_objects(shared_data: Path) -> None:
    steps: list[int] = []
    for claim in CLAIMS:
        table = tables.load(shared_data, claim)
        plain, scaled = detection.detected(table, claim, 2, lambda: steps.append(1))
        assert (plain.scale, plain.times_first, plain.winners) == ("none", 2, (claim.object,))
        assert plain.votes[0] > detection.ROUNDS / 2
        assert scaled.times_first == (0 if claim is CLOUD else 2)
        assert ("first is then 137" in reasons.of_detection(plain, scaled)) == (claim is CLOUD)
    assert len(steps) == 12


def test_times_are_told_apart(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "REPEATS", 1)
    steps: list[int] = []
    timed = timing.timed(tables.load(shared_data, ECOLI), ECOLI, lambda: steps.append(1))
    assert len(steps) == timing.measurements(ECOLI)
    assert len(timed.by_conditions) == len(timed.all_visited) == 7
    assert timed.paper.intervals > 0
    assert timed.paper.search == timed.by_conditions[2] > 0
    assert "28% of the time there" in reasons.of_times(timed)


def test_other_tables_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ecoli.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(SourceError, match=r"2 rows and 2 numeric columns.* has 336 and 7"):
        tables.load(tmp_path, ECOLI)
    with pytest.raises(OutlyingError, match=re.escape("yeast.csv does not exist")):
        tables.check_files(tmp_path)


@pytest.mark.parametrize("cells", [["1.5"] * 336, ["", *map(str, range(335))]])
def test_tables_of_the_same_shape_are_refused(cells: list[str], tmp_path: Path) -> None:
    lines = [",".join([cell, *[str(row)] * 6]) for row, cell in enumerate(cells)]
    (tmp_path / "ecoli.csv").write_text("\n".join(["a,b,c,d,e,f,g", *lines]) + "\n")
    with pytest.raises(SourceError, match=r"column 'a' has gaps, infinite values or one value"):
        tables.load(tmp_path, ECOLI)


# --- Unif2 ---


@pytest.mark.parametrize("kind", get_args(Discretise))
@pytest.mark.parametrize("bins", [2, 5, 11])
def test_scores_of_bins_are_those_of_the_twin(
    kind: Discretise, bins: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unif2, "VALUES", 200)
    values = unif2.sample(3)
    column = [float(value) for value in values]
    densities = naive.frequency_densities(list(map(str, naive.bin_numbers(column, kind, bins))))
    mean, own = sum(densities) / len(densities), densities[column.index(0.0)]
    expected = naive.omega(mean - own), max(0.0, 1 - own / mean)
    found = unif2.binned(values, kind, bins)
    assert (found.paper, found.relative) == pytest.approx(expected, abs=1e-9)


def test_bins_swing_and_the_density_does_not() -> None:
    samples = [unif2.drawn(seed) for seed in range(3)]
    assert [item.paper for item in samples] == pytest.approx([0.239] * 3, abs=0.001)
    assert [item.relative for item in samples] == pytest.approx([0.999] * 3, abs=0.0005)
    for item in samples:
        width, depth = (binned.scores("relative") for binned in item.binned)
        assert min(width) == pytest.approx(0, abs=0.01)
        assert max(width) > 0.99
        at_ten, at_eleven, at_twelve = (width[unif2.BINS.index(bins)] for bins in unif2.SHOWN)
        assert at_eleven > 0.99 > 0.6 > max(at_ten, at_twelve)
        assert max(depth) < 0.01


def test_histograms_mark_the_objects_bin() -> None:
    *_, score, shown = unif2.shown()
    assert score.at_object < 0.01 < 0.48 < score.mean
    for item in shown:
        assert item.edges[item.own] <= 0 <= item.edges[item.own + 1]
        assert item.shares.sum() == pytest.approx(1)


# --- the page ---


def test_hostile_texts_stay_texts() -> None:
    evil = "<script>alert(1)</script> | *x* [y](z) `c`"
    page = document.Document(
        evil,
        evil,
        (
            document.Section(
                evil,
                (
                    document.Text(evil),
                    document.Grid((evil,), ((evil,),)),
                    document.Figure("a.svg", evil, evil),
                ),
            ),
        ),
    )
    whole = document.html(page, {"a.svg": "<svg/>"})
    assert "<script>" not in whole
    assert 'src="data:image/svg+xml;base64,' in whole
    text = document.markdown(page)
    assert "<script>" not in text
    assert " | *x*" not in text
    assert "(figures/a.svg)" in text


def test_figures_are_the_same_each_time() -> None:
    found = examples.examples()
    first, second = (figures.svg(figures.example(found.gaussian)) for _ in range(2))
    assert first == second
    assert "dc:date" not in first


def test_words(shared_data: Path) -> None:
    pair = reproduced(shared_data, CLOUD).published
    assert subject(pair) == "a6 (visible_entropy) = 0.0145"
    assert context(pair).startswith("a1 (visible_min) in [1, 6.7] and a2 (visible_max) in [")
    assert context(dataclasses.replace(pair, conditions=())) == "no conditions"
    assert interval(None) == "-"
    assert (seconds(0.0123), seconds(6.44)) == ("12 ms", "6.4 s")


# --- the command ---


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process; give exit code, standard output and error."""

    def call(*args: object) -> tuple[int, str, str]:
        code: object = 0
        try:
            command.main([str(item) for item in args])
        except SystemExit as done:
            code = done.code
        said = capsys.readouterr()
        return int(str(code or 0)), said.out, said.err

    return call


@pytest.mark.slow
def test_one_command_makes_the_page(
    run: Run, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "REPEATS", 1)
    monkeypatch.setattr(terminal, "_SELDOM", math.inf)  # no progress, however slow the machine
    code, out, err = run("--data", shared_data, "-o", tmp_path / "new", "--seeds", 1)
    assert (code, err) == (0, "")
    assert "paper.html" in out
    text = (tmp_path / "new" / "paper.md").read_text("utf-8")
    named = re.findall(r"\(figures/([\w-]+\.svg)\)", text)
    assert sorted(named) == sorted(file.name for file in (tmp_path / "new/figures").iterdir())
    page = (tmp_path / "new" / "paper.html").read_text("utf-8")
    assert page.count("<img ") == len(named) == 10
    assert "nan" not in re.sub(r'src="[^"]*"', "", page)
    for measure in get_args(Measure):
        assert f"| {measure} | density |" in text
    for said in ("0.997", "0.775", "703 + 91 s", "15.6%", "| 0.859 |"):
        assert said in text


def test_a_missing_table_is_named(run: Run, tmp_path: Path) -> None:
    code, out, err = run("--data", tmp_path, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert f"{tmp_path / 'ecoli.csv'} does not exist" in err
    assert not (tmp_path / "out").exists()


def test_a_file_is_no_folder(run: Run, shared_data: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    code, _, err = run("--data", shared_data, "-o", tmp_path / "out")
    assert code == 2
    assert "cannot make the folder" in err
    assert (tmp_path / "out").read_text() == "mine"


def test_without_matplotlib_the_install_line_is_said(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name.startswith(("outlying.render.plots", "benchmarks.paper")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = run("--data", tmp_path, "-o", tmp_path / "out")
    assert code == 2
    assert "[plot]'" in err


def test_an_interrupted_run_leaves_no_page(
    run: Run, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(detection, "detected", stop)
    (tmp_path / "mine.txt").write_text("mine")
    for folder in (tmp_path, tmp_path / "new", tmp_path / "several" / "new" / "ones"):
        code, _, err = run("--data", shared_data, "-o", folder)
        assert code == 130
        assert "nothing was written" in err
        assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_folder_that_cannot_be_written_to_is_said_before_the_work(
    run: Run, shared_data: Path, tmp_path: Path
) -> None:
    (tmp_path / "paper.html").mkdir()
    code, _, err = run("--data", shared_data, "-o", tmp_path)
    assert code == 2
    assert "paper.html: it is a directory" in err
    assert [path.name for path in tmp_path.iterdir()] == ["paper.html"]
