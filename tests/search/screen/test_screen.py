"""The screen: estimates of many contexts at once against exact densities."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import outlying
from outlying.method.density import Floats
from outlying.method.measure import Summary
from outlying.search import limits
from outlying.search.attributes import Attribute, attribute_of
from outlying.search.cache import Cache
from outlying.search.objects import CandidateCondition
from outlying.search.screen import histograms as screen
from outlying.search.screen.bitsets import NONE, Workspace
from outlying.search.screen.neighbours import NeighbourCounter, Sample
from outlying.table.columns import CategoricalColumn, Mask, NumericColumn, Rows
from outlying.table.conditions import Condition

ROWS = 1500

SHAPES: dict[str, Callable[[np.random.Generator], Floats]] = {
    "normal": lambda rng: rng.normal(size=ROWS),
    "clusters": lambda rng: rng.choice([0.0, 8.0, 9.5], ROWS) + rng.normal(0, 0.3, ROWS),
    "heavy": lambda rng: rng.standard_t(2, ROWS),
    "spike": lambda rng: np.where(rng.random(ROWS) < 0.5, 0.0, rng.exponential(size=ROWS)),
    "gaps": lambda rng: np.where(rng.random(ROWS) < 0.3, np.nan, rng.normal(size=ROWS)),
    "rounded": lambda rng: np.round(rng.normal(size=ROWS), 2),
    "far": lambda rng: 1e6 + rng.normal(size=ROWS),
}


def conditions(rng: np.random.Generator, values: Floats, row: int) -> list[Mask]:
    """Conditions of several sizes, one of them tied to the values; the row satisfies all."""
    masks = [rng.random(ROWS) < share for share in (0.5, 0.3, 0.2)]
    masks.append(values > np.nanmedian(values))
    for mask in masks:
        mask[row] = True
    return masks


def marked(mask: Mask, rows: Rows | None) -> Mask:
    return mask if rows is None else mask[rows]


def screened(
    attribute: Attribute, row: int, masks: list[Mask]
) -> list[tuple[Mask, float, float, Summary | None]]:
    """Give contexts of up to two conditions: rows, mean(F) and f_o as screened, both exactly."""
    whole = np.arange(ROWS)
    sample = Sample(ROWS, whole, whole)
    histogram, work = attribute.histogram(sample), Workspace()
    conditions = [
        CandidateCondition(
            Condition("m", "equals", value=str(place)), 1, functools.partial(marked, mask)
        )
        for place, mask in enumerate(masks)
    ]
    own = Cache(sample).own(conditions)
    pairs = itertools.combinations(range(len(masks)), 2)
    contexts = np.array([*((NONE, one) for one in range(NONE, len(masks))), *pairs])
    value = attribute.position(row)
    found = screen.Summaries.of(screen.figures(histogram, own.words(histogram), contexts, work))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = histogram.joined(found, value)
        near = NeighbourCounter(histogram, value, own.marks, sample, work).counted(
            contexts, histogram.radii(found.width)
        )
        mean = found.inside / (found.known * found.width)
        at_object = near / (found.known * found.width)
    everyone: list[Mask] = [*masks, np.ones(ROWS, dtype=bool)]
    inside = [everyone[first] & everyone[second] for first, second in contexts]
    assert found.rows.tolist() == [np.count_nonzero(mask) for mask in inside]
    exact = [attribute.summary(mask, row, "fixed") for mask in inside]
    return list(zip(inside, mean.tolist(), at_object.tolist(), exact, strict=True))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("groups", [64, 10**6])
def test_estimates_are_close(shape: str, groups: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a group for each value nothing is estimated; with 64 groups little is lost."""
    monkeypatch.setattr(screen, "GROUPS", groups)
    rng = np.random.default_rng(5)
    values = SHAPES[shape](rng)
    attribute = attribute_of(NumericColumn("x", "number", values))
    ranks = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]
    for place in (-1, 5, len(ranks) // 2) if groups == 64 else (-1,):
        row = int(ranks[place])
        for _, mean, at_object, exact in screened(attribute, row, conditions(rng, values, row)):
            assert exact is not None
            error = math.log(mean / at_object) - math.log(exact.rarity)
            if groups > 64:
                assert error == pytest.approx(0, abs=1e-9)
            elif exact.rarity < 20:  # where it decides what is looked at
                assert abs(error) < math.log(1.25)
            else:  # a neighbour more or less of a lonely object
                assert abs(error) < math.log(2.5)


@pytest.mark.parametrize("labels", [3, 60, 200])
def test_categories_are_counted(labels: int) -> None:
    """Exactly, but for the many categories that hardly any row has: these are left out."""
    rng = np.random.default_rng(7)
    codes = np.minimum(rng.geometric(min(0.6, 10 / labels), ROWS), labels).astype(np.int32) - 1
    codes[rng.random(ROWS) < 0.1] = -1
    codes[0] = labels - 1
    names = tuple(f"c{code:03d}" for code in range(labels))
    attribute = attribute_of(CategoricalColumn("x", "text", codes, names))
    masks = [*conditions(rng, codes.astype(float), 0), codes == labels - 1]
    alone = 0
    totals = np.bincount(codes[codes >= 0], minlength=labels)
    left_out = np.argsort(-totals, kind="stable")[screen.GROUPS :]
    assert totals[left_out].any() == (labels > screen.GROUPS)
    for inside, mean, at_object, exact in screened(attribute, 0, masks):
        if exact is None:  # a single category
            alone += 1
            assert np.isnan(mean)
            assert len(np.unique(codes[inside & (codes >= 0)])) == 1
            continue
        assert at_object == pytest.approx(exact.at_object, rel=1e-9)
        shares = np.bincount(codes[inside & (codes >= 0)], minlength=labels)[left_out]
        missed = float(np.sum((shares / np.count_nonzero(inside & (codes >= 0))) ** 2))
        assert mean == pytest.approx(exact.mean - missed, rel=1e-9)
        assert mean == pytest.approx(exact.mean, rel=0.1)
    assert alone


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_screened_search_finds_what_the_exact_one_finds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    level = rng.integers(3, size=600)
    table = {
        "a": level * 5 + rng.normal(size=600),
        "b": rng.normal(size=600),
        "c": level * -4 + rng.normal(size=600),
        "d": np.array(["p", "q", "r"])[level],
        "e": rng.exponential(size=600),
    }
    table["a"][:8] = table["a"][8:16]
    rows = list(range(5))
    found = [outlying.explain(table, row=row, top=1000, references=0) for row in rows]
    monkeypatch.setattr(screen, "GROUPS", 10**6)
    exact = [outlying.explain(table, row=row, top=1000, references=0) for row in rows]
    assert any(pair.reaches_threshold for sure in exact for pair in sure.pairs)
    for quick, sure in zip(found, exact, strict=True):
        reached = [pair for pair in quick.pairs if pair.reaches_threshold]
        assert reached == [pair for pair in sure.pairs if pair.reaches_threshold]


def effort(findings: outlying.Findings) -> dict[str, int] | None:
    """Return the counts of the note about the sample; None where there is none."""
    notes = [note for note in findings.notes if "screened by" in note]
    if not notes:
        return None
    assert len(notes) == 1
    assert any(hint.option == "exact" for hint in findings.hints)
    names = ("pairs", "screened", "rows", "verified", "dropped")
    counts = [int(count.replace(",", "")) for count in re.findall(r"\d[\d,]*", notes[0])]
    return dict(zip(names, counts, strict=True))


def told(findings: outlying.Findings) -> list[outlying.Pair]:
    """Return all tellings of all stories."""
    return [pair for story in findings.stories for pair in story.pairs]


def shape(pair: outlying.Pair) -> tuple[object, ...]:
    return pair.property, [condition.attribute for condition in pair.conditions]


def test_large_tables_are_screened_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given is computed from all rows."""
    monkeypatch.setattr(limits, "SCREENED", 500)
    monkeypatch.setattr(limits, "NEARBY", 1000)
    rng = np.random.default_rng(4)
    city = rng.choice(["A", "B", "C"], 3000)
    temp = np.where(city == "A", 30.0, 5.0) + rng.normal(size=3000)
    city[7], temp[7] = "A", 5.2
    table = {"city": city, "temp": temp, "z": rng.normal(size=3000)}
    findings = outlying.explain(table, row=7, references=0)
    counts = effort(findings)
    assert counts is not None
    assert (counts["screened"], counts["rows"]) == (500, 3000)
    assert counts["pairs"] >= counts["verified"] >= len(findings.pairs) > 0
    for pair in findings.pairs:
        assert pair.group_size == np.count_nonzero(mask_of(pair, table))
    pair = next(pair for pair in told(findings) if pair.property == "temp")
    assert [condition.attribute for condition in pair.conditions] == ["city"]
    assert pair.group_size == np.count_nonzero(city == "A")

    exact = outlying.explain(table, row=7, references=0, exact=True)
    assert effort(exact) is None
    assert shape(exact.pairs[0]) == shape(findings.pairs[0])
    assert exact.pairs[0].rarity == pytest.approx(findings.pairs[0].rarity, rel=0.1)
    small = outlying.explain({name: cells[:500] for name, cells in table.items()}, row=7)
    assert effort(small) is None


def mask_of(pair: outlying.Pair, table: dict[str, Any]) -> Mask:
    """The rows of a pair's context, read off its conditions."""
    mask = np.ones(len(next(iter(table.values()))), dtype=bool)
    for condition in pair.conditions:
        cells = table[condition.attribute]
        if condition.kind == "equals":
            mask &= cells == condition.value
        else:
            mask &= (cells >= condition.low) & (cells <= condition.high)
    return mask


LARGE = 20_000


def only_one_differs(kind: str, row: int, *, everywhere: bool = False) -> dict[str, Any]:
    """A column that is constant in one city, or everywhere, but for one row."""
    rng = np.random.default_rng(9)
    city = rng.choice(["A", "B", "C"], LARGE)
    city[row] = "A"
    others: dict[str, Any] = {
        "number": rng.normal(7.0, 1.0, LARGE),
        "whole number": rng.integers(10, size=LARGE),
        "label": rng.choice(["5", "7"], LARGE),
    }
    usual, unusual = ("5", "7") if kind == "label" else (5, 7)
    odd = np.where(everywhere | (city == "A"), usual, others[kind])
    odd[row] = unusual
    return {"city": city, "odd": odd, "noise": rng.normal(size=LARGE)}


def drawn_as(table: dict[str, Any], row: int) -> str:
    """Return whether the sample holds a row."""
    sample = outlying.Explainer(table).in_memory("").prepared.sample
    assert (len(sample.screened), len(sample.nearby)) == (2048, 16_384)
    if row in sample.screened:
        return "screened"
    return "nearby" if row in sample.nearby else "left out"


@pytest.mark.parametrize("kind", ["number", "whole number", "label"])
@pytest.mark.parametrize("place", ["screened", "nearby", "left out"])
@pytest.mark.parametrize("everywhere", [False, True], ids=["in a city", "everywhere"])
def test_the_only_row_that_differs_is_found(kind: str, place: str, everywhere: bool) -> None:
    """Even where all screened rows of the context are equal."""
    rows = range(0, LARGE, 100)
    tables = ((row, only_one_differs(kind, row, everywhere=everywhere)) for row in rows)
    row, table = next((row, data) for row, data in tables if drawn_as(data, row) == place)
    findings = outlying.explain(table, row=row, references=0)
    assert effort(findings) is not None
    found = {pair.property: pair for pair in findings.pairs}["odd"]
    assert [condition.value for condition in found.conditions] == ([] if everywhere else ["A"])
    assert found.group_size == (LARGE if everywhere else np.count_nonzero(table["city"] == "A"))
    assert found.rarity > 1000
    exact = outlying.explain(table, row=row, references=0, exact=True)
    assert shape(exact.pairs[0]) == shape(findings.pairs[0])


def nearly_enough(group: int) -> dict[str, Any]:
    """Two conditions that many rows satisfy each, and so many both; the first row is odd there."""
    rng = np.random.default_rng(11)
    place = rng.permutation(LARGE - 1) + 1
    first, second = np.zeros(LARGE, dtype=bool), np.zeros(LARGE, dtype=bool)
    first[place[:8000]] = True
    second[place[8001 - group : 16_001 - group]] = True
    first[0] = second[0] = True
    value = np.where(first == second, 0.0, 20.0) + rng.normal(size=LARGE)
    value[~first & ~second] += rng.choice([0.0, 20.0], np.count_nonzero(~first & ~second))
    value[0] = 20.0
    assert np.count_nonzero(first & second) == group
    return {
        "first": np.where(first, "yes", "no"),
        "second": np.where(second, "yes", "no"),
        "value": value,
    }


@pytest.mark.parametrize(("group", "is_enough"), [(2000, True), (1999, False), (1980, False)])
def test_what_all_rows_refute_is_dropped_and_counted(group: int, is_enough: bool) -> None:
    """By the sample 10% of the rows satisfy both conditions; all rows tell whether they do."""
    findings = outlying.explain(nearly_enough(group), row=0, references=0, min_support=0.1)
    counts = effort(findings)
    assert counts is not None
    both = [
        pair for pair in told(findings) if (pair.property, len(pair.conditions)) == ("value", 2)
    ]
    if is_enough:
        assert [pair.group_size for pair in both] == [group]
        assert both[0].reaches_threshold
        assert counts["dropped"] == 0
    else:
        assert both == []
        assert counts["dropped"] >= 1
    for pair in findings.pairs:
        assert pair.support >= 0.1


def test_a_long_table_of_few_distinct_rows_is_screened_fairly() -> None:
    """Copies are drawn one by one, or the sample would hold copies of one row."""
    rng = np.random.default_rng(0)
    rows = 20_000
    kind = rng.choice(list("abcd"), rows)
    size = np.where(kind == "a", "u", rng.choice(list("uvw"), rows))
    kind[7], size[7] = "a", "w"
    table = {"kind": kind, "place": rng.choice(list("xyz"), rows), "size": size}
    quick, sure = (outlying.explain(table, row=7, references=0, exact=e) for e in (False, True))
    assert quick.pairs == sure.pairs
    assert quick.pairs[0].property == "size"


def test_nothing_is_estimated_where_all_rows_are_equal() -> None:
    """Such a context has no window, and nothing about it is asked of all rows."""
    values = np.where(np.arange(ROWS) < 5, 1.0, 0.0)
    rows = np.arange(ROWS)
    sample = Sample(ROWS, rows, rows)
    histogram = attribute_of(NumericColumn("x", "number", values)).histogram(sample)
    item = CandidateCondition(
        Condition("m", "equals", value="a"), 1, functools.partial(marked, values == 0.0)
    )
    words = Cache(sample).own([item]).words(histogram)
    contexts = np.array([[NONE], [0]])
    found = screen.Summaries.of(screen.figures(histogram, words, contexts, Workspace()))
    assert np.isnan(found.inside).tolist() == np.isnan(found.width).tolist() == [False, True]
