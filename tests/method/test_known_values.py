"""Values known from the paper, from its tables and from calculation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import outlying
from outlying.method.density import Floats, bandwidth_of, parzen
from outlying.options import Measure
from outlying.reference.formulas import outlierness


def score(values: Floats, row: int, by: Measure = "paper") -> float:
    """Score one of the rows of a column."""
    densities = parzen(np.sort(values))
    at_object = float(densities[np.searchsorted(np.sort(values), values[row])])
    return outlierness(float(np.mean(densities)), at_object, by)


def pairs(findings: outlying.Findings) -> dict[tuple[str, int], outlying.Pair]:
    return {(pair.property, len(pair.conditions)): pair for pair in findings.pairs}


def test_ecoli_223(shared_data: Path) -> None:
    file = shared_data / "ecoli.csv"
    first = outlying.explain(file, row=222, exclude=["site"]).pairs[0]
    assert (first.property, first.conditions) == ("chg", ())
    assert first.outlierness == pytest.approx(0.997, abs=0.0005)
    assert first.rarity == pytest.approx(334, rel=0.01)
    assert first.typical == ((0.5, 0.5),)
    paper = outlying.explain(file, row=222, exclude=["site"], preset="paper").pairs[0]
    assert (paper.property, paper.conditions) == ("chg", ())
    assert paper.outlierness == pytest.approx(1.0, abs=0.0005)


def test_yeast_990(shared_data: Path) -> None:
    """The paper names nuc and alm; among rows with such a vac, nuc is no surprise."""
    file, left_out = shared_data / "yeast.csv", ["name", "site"]
    found = pairs(outlying.explain(file, row=989, exclude=left_out))
    assert found["alm", 0].outlierness == pytest.approx(0.9984, abs=0.0005)
    assert found["vac", 0].outlierness == pytest.approx(0.9962, abs=0.0005)
    assert found["alm", 0].unusual
    alone = pairs(outlying.explain(file, row=989, exclude=[*left_out, "alm", "vac"]))
    assert alone["nuc", 0].outlierness == pytest.approx(0.9967, abs=0.0005)
    paper = outlying.explain(file, row=989, exclude=left_out, preset="paper")
    assert {"nuc", "alm"} <= {pair.property for pair in paper.pairs if not pair.conditions}


def test_cloud_354(shared_data: Path) -> None:
    findings = outlying.explain(shared_data / "cloud.csv", row=353, top=100)
    contrast = [pair for pair in findings.pairs if pair.property == "visible_contrast"]
    assert contrast[0].overall_outlierness == pytest.approx(0.9966, abs=0.0005)
    entropy = [pair for pair in findings.pairs if pair.property == "visible_entropy"]
    assert entropy
    assert all(pair.outlierness > 0.9 and pair.conditions for pair in entropy)
    assert all(pair.overall_outlierness < 0.9 for pair in entropy)


def test_the_gaussian_example() -> None:
    """A Gaussian sample of 100 with std 0.1, the object at -1 (paper, section 4).

    The paper takes f and G from the sample; where the object joins it as one more row, it widens
    the bandwidth, and the figures are 2.90 and 0.875.
    """
    means, scores, joined = [], [], []
    for seed in range(1000):
        sample = np.sort(np.random.default_rng(seed).normal(0, 0.1, 100))
        at_object = float(np.mean(np.abs(sample + 1.0) <= bandwidth_of(sample) / 2))
        mean = float(np.mean(parzen(sample)))
        means.append(mean)
        scores.append(outlierness(mean, at_object, "paper"))
        joined.append(score(np.append(-1.0, sample), 0))
    assert np.mean(joined) == pytest.approx(0.875, abs=0.005)
    assert np.mean(means) == pytest.approx(3.06, rel=0.02)
    assert np.mean(scores) == pytest.approx(0.91, abs=0.01)


def test_unif2() -> None:
    """Two uniform clusters of 10,000 values each, the object between them."""
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.uniform(-1.1, -0.1, 10_000), rng.uniform(0.1, 1.1, 9_999), [0.0]])
    assert score(values, len(values) - 1) == pytest.approx(0.239, abs=0.01)
    assert score(values, len(values) - 1, "relative") == pytest.approx(0.999, abs=0.001)


def test_units_change_the_papers_measure_only() -> None:
    """The same heights score differently in centimetres and in metres (method 3)."""
    heights = np.append(np.random.default_rng(2).normal(170, 7.5, 2000), 120.0)
    scores = {}
    for unit, factor in (("cm", 1.0), ("m", 0.01)):
        for measure in ("paper", "relative"):
            data = {"height": heights * factor}
            pair = outlying.explain(data, row=2000, preset="paper", measure=measure).pairs[0]
            scores[unit, measure] = pair.outlierness
    assert scores["cm", "paper"] == pytest.approx(0.02, abs=0.005)
    assert scores["m", "paper"] == pytest.approx(0.95, abs=0.02)
    assert scores["cm", "relative"] == pytest.approx(scores["m", "relative"], abs=1e-9)
