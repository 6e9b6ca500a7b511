"""How far rows lie from what their other columns together say."""

from __future__ import annotations

import numpy as np
import pytest

from outlying.method.dependence import rank_scores, residual_nats, residual_weights, total_nats


def scores_of(columns: list[np.ndarray]) -> np.ndarray:
    """Score each value in a bin of its own."""
    none = [rank_scores(np.ones(len(own), dtype=np.int64))[:-1] for own in columns]
    ranks = [np.argsort(np.argsort(own)) for own in columns]
    return np.array([own[rank] for own, rank in zip(none, ranks, strict=True)])


def test_scores_are_those_of_a_normal_distribution() -> None:
    scores = rank_scores(np.full(1_000, 3)) / 24
    assert scores[[22, 158, 499, 841, 977]] == pytest.approx([-2, -1, 0, 1, 2], abs=0.05)
    assert scores[-1] == 0
    assert rank_scores(np.array([5])).tolist() == [0, 0]
    assert rank_scores(np.array([1, 10**12]))[0] == -rank_scores(np.array([10**12, 1]))[1] > -128


def test_a_row_against_the_trend_counts_though_each_of_its_values_is_common() -> None:
    rng = np.random.default_rng(1)
    trend = rng.normal(size=500)
    columns = [trend + 0.2 * rng.normal(size=500) for _ in range(3)]
    columns[0][7], columns[1][7] = 1.0, -1.0
    scores = scores_of(columns)
    found = total_nats(scores.T, residual_weights(scores))
    assert found.argmax() == 7
    assert residual_nats(scores.T[[7]], residual_weights(scores)).sum() == pytest.approx(found[7])


def test_residuals_have_a_standard_deviation_of_1_whatever_is_copied_or_constant() -> None:
    rng = np.random.default_rng(2)
    scores = scores_of([rng.normal(size=300) for _ in range(4)])
    scores = np.array([*scores, scores[0], np.zeros(300, dtype=np.int8)])
    weights = residual_weights(scores)
    spread = (2 * residual_nats(scores.T, weights)).mean(axis=0)
    assert spread == pytest.approx([1, 1, 1, 1, 1, 0], abs=1e-5)
    assert not weights[:, 5].any()
    assert not weights[5].any()


def test_no_order_of_rows_changes_a_bit() -> None:
    rng = np.random.default_rng(3)
    scores = scores_of([rng.normal(size=40_000) for _ in range(20)])
    order = rng.permutation(40_000)
    weights, other = residual_weights(scores), residual_weights(scores[:, order])
    assert np.array_equal(weights, other)
    alone = np.concatenate([total_nats(scores.T[[row]], weights) for row in range(50)])
    assert np.array_equal(total_nats(scores.T, weights)[:50], alone)
