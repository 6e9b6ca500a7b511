"""This package under test: with its defaults, and with the settings of the paper."""

from __future__ import annotations

import dataclasses
from typing import Any

import outlying
from benchmarks.quality.cases import Answer, Case, Guess, Premise, Target

FIRST = 5  # how many pairs are looked at


class Ours:
    """The default options."""

    name = "outlying"
    options: dict[str, Any] = {}  # noqa: RUF012 - a constant

    def fit(self, case: Case) -> None:
        """Prepare the population."""
        self._explainer = outlying.Explainer(case.data, **self.options)

    def explain(self, target: Target) -> Answer:
        """Return the first pairs as guesses."""
        findings = self._explainer.explain(row=target.row)
        return Answer(guesses(findings), findings.exceptional, findings.stands_out)


class Paper(Ours):
    """The method of the paper; what reaches its threshold is exceptional."""

    name = "paper's settings"
    options = {"preset": "paper"}  # noqa: RUF012 - a constant


def guesses(findings: outlying.Findings) -> tuple[Guess, ...]:
    """Read the first pairs, by columns of the table: the culprit of a story is the odd one."""
    pairs = [guess(pair) for pair in findings.pairs[:FIRST]]
    blamed = map(_blamed, pairs, findings.stories)
    return (*blamed, *pairs[len(findings.stories) :])


def _blamed(guess: Guess, story: outlying.Story) -> Guess:
    """Name the columns of a story; what is derived from them is none of the table."""
    columns = frozenset({*story.columns, story.culprit})
    return dataclasses.replace(guess, columns=columns, property=story.culprit)


def guess(pair: outlying.Pair) -> Guess:
    """Read a pair as a guess."""
    name = pair.column if pair.given else pair.property
    return Guess(
        columns=frozenset({name, *pair.others}),
        property=name,
        premises=tuple(premise(condition) for condition in pair.conditions),
    )


def premise(condition: outlying.Condition) -> Premise:
    """Read a condition as a premise."""
    return Premise(
        column=condition.attribute,
        low=condition.low,
        high=condition.high,
        value=condition.value,
        is_missing=condition.kind == "missing",
    )
