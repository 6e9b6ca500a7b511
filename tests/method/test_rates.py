"""An error rate that one can choose: among rows that are called exceptional, few are ordinary."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.method.rates import discovery_line, p_values


def test_the_rate_is_kept_where_tails_are_exponential() -> None:
    rng = np.random.default_rng(1)
    rates, power = list[float](), list[float]()
    for wrong in [0, 10, 30] * 70:
        strengths = rng.exponential(1.2, 1000)
        strengths[:wrong] += 14
        line = discovery_line(strengths, strengths, 0.1)
        found = np.flatnonzero(strengths >= line)
        rates.append(float(np.mean(found >= wrong)) if len(found) else 0.0)
        power.append(float(np.sum(found < wrong)) / wrong if wrong else 1.0)
    assert np.mean(rates) <= 0.1
    assert np.mean(power) > 0.9


def test_p_values_fall_with_strength() -> None:
    usual = np.random.default_rng(2).exponential(1.0, 500)
    p = p_values(np.linspace(0, 30, 200), usual)
    assert (np.diff(p) <= 0).all()
    assert (p >= 0).all()
    assert (p <= 1).all()
    assert p_values(np.array([3.0]), np.zeros(5)).tolist() == [1.0]
    assert discovery_line(np.zeros(5), np.zeros(5), 0.1) == math.inf


def test_detect_takes_a_rate_or_a_number_of_alerts() -> None:
    rng = np.random.default_rng(3)
    table = {"a": rng.normal(size=400), "b": rng.normal(size=400)}
    table["a"][7] = 40.0
    found = outlying.detect(table, fdr=0.1)
    assert found.exceptional == (7,)
    assert any("false discovery rate of 10%" in note for note in found.notes)
    assert found.settings.to_dict()["fdr"] == 0.1
    some = outlying.detect(table, alerts=5)
    assert len(some.exceptional) == len(some.rows) == 5
    assert some.rows[0].row == 7
    given: list[dict[str, Any]] = [{"fdr": 0}, {"fdr": 2}, {"alerts": 0}, {"fdr": 0.1, "alerts": 3}]
    for wrong in given:
        with pytest.raises(outlying.OptionError, match=r"fdr|alerts"):
            outlying.detect(table, **wrong)
