"""The page: the paper's number, ours, and the reason for each difference, side by side."""

from __future__ import annotations

import collections
import os
import platform
from collections.abc import Iterator, Sequence
from typing import get_args

import numpy as np

import outlying
from benchmarks.paper import detection, examples, published, timing, unif2
from benchmarks.paper.document import Block, Document, Figure, Grid, Section, Text
from benchmarks.paper.examples import Example, Examples
from benchmarks.paper.notation import (
    context,
    interval,
    numbered,
    percent,
    seconds,
    short,
    spread,
    subject,
)
from benchmarks.paper.reasons import of_detection, of_pair, of_times, of_unif2
from benchmarks.paper.results import Results
from benchmarks.paper.tables import NaturalInterval, Reproduced, ScoredPair
from benchmarks.paper.unif2 import Histogram, Unif2
from outlying.options import Measure


def document(found: Results) -> Document:
    """Put all results on one page."""
    machine = f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores"
    return Document(
        title="Outlying Property Detection with Numerical Attributes, computed again",
        about=(
            "The examples and experiments of Angiulli, Fassetti, Manco and Palopoli (arXiv "
            f"1306.3558), made by outlying {outlying.__version__} ({machine}; {found.seeds} "
            "seeds). "
            "Rows and attributes are counted from 1. Scores are the paper's measure where nothing "
            "else is said; relative is the measure free of units, which outlying uses by default."
        ),
        sections=(
            Section("Side by side", (_side_by_side(found),)),
            Section("The measure: heights and a Gaussian sample", tuple(_examples(found.examples))),
            *(Section(_title(item), tuple(_table(item))) for item in found.tables),
            Section("Detection: are these the outliers?", tuple(_detection(found))),
            Section("Times", tuple(_times(found))),
            Section("Unif2: densities against bins", tuple(_unif2(found.unif2))),
        ),
    )


def _side_by_side(found: Results) -> Grid:
    averages = found.examples.averages
    gaussian = (
        "Gaussian example, v1",
        f"{published.GAUSSIAN:.2f}",
        f"{averages.score:.3f} on average ({spread(averages.lowest, averages.highest)})",
        f"It hangs on the sample of {examples.SAMPLE}. Where v1 joins the sample as one more row, "
        f"as new objects do here, it is {averages.joined:.3f}: v1 widens the window.",
    )
    first = found.unif2.first
    two_clusters = (
        "Unif2, o = 0",
        f"{published.UNIF2:.3f}",
        f"{first.paper:.3f}; relative {first.relative:.3f}",
        of_unif2(found.unif2),
    )
    return Grid(
        ("experiment", "paper", "here", "why it differs"),
        (
            gaussian,
            *(_pair_row(item) for item in found.tables),
            *_detection_rows(found),
            *(_time_row(found, place) for place in range(len(found.times))),
            two_clusters,
        ),
    )


def _pair_row(item: Reproduced) -> tuple[str, ...]:
    claim, best = item.claim, item.highest
    said = f"a{claim.property}, {context(item.published)}: {claim.outlierness:.3f}"
    ours = f"{subject(best)}, {context(best)}: {best.inside.paper:.3f}"
    return f"{claim.name}, object {claim.object}", said, ours, of_pair(item)


def _detection_rows(found: Results) -> Iterator[tuple[str, ...]]:
    for plain, scaled in zip(found.detections[::2], found.detections[1::2], strict=True):
        yield (
            f"{plain.claim.name}, detection",
            f"object {plain.claim.object} is an outlier",
            f"first with {plain.times_first} of {found.seeds} seeds",
            of_detection(plain, scaled),
        )


def _time_row(found: Results, place: int) -> tuple[str, ...]:
    timed = found.times[place]
    claim = timed.claim
    return (
        f"{claim.name}, intervals + search",
        f"{claim.interval_seconds:g} + {claim.search_seconds:g} s",
        f"{seconds(timed.paper.intervals)} + {seconds(timed.paper.search)}",
        of_times(timed),
    )


def _examples(found: Examples) -> Iterator[Block]:
    height, gaussian = examples.HEIGHTS, examples.GAUSSIAN
    yield Text(
        f"Heights are normal with mean {height.mean:g} and standard deviation {height.stdev:g}. "
        "The number of people and the values looked at are our choice: the "
        f"{examples.PEOPLE:,} even quantiles, v1 = 170 cm and v2 = 200 cm. The Gaussian sample has "
        f"{examples.SAMPLE} values of standard deviation {gaussian.stdev:g} around 0; v1 = -1 lies "
        "far from all of them, v2 = 0 in their middle. The area above G, right of f(v), less the "
        "area below G, left of it, is mean(F) - f(v); the outlierness is Omega of that."
    )
    yield Grid(
        ("example", "value", "f(v)", "mean(F)", "above", "below", "outlierness", "relative"),
        tuple(
            row
            for shown in (found.centimetres, found.metres, found.gaussian)
            for row in _marks(shown)
        ),
    )
    by_unit = [shown.marks[1].score.paper for shown in (found.centimetres, found.metres)]
    yield Text(
        f"The same person scores {by_unit[0]:.2f} in centimetres and {by_unit[1]:.2f} in metres: "
        "densities are per unit, so the paper's measure has a unit too. That is why the measure "
        "free of units is the default here."
    )
    yield Figure(
        "heights.svg",
        "Density of heights with v1 = 170 and v2 = 200, and the cdf G of the densities for both",
        "Heights in centimetres: f, and G with the areas above (blue) and below (sand).",
    )
    yield Figure(
        "gaussian.svg",
        "Density of a Gaussian sample with v1 = -1 and v2 = 0, and the cdf G for both",
        "The Gaussian example, first sample.",
    )


def _marks(shown: Example) -> Iterator[tuple[str, ...]]:
    for mark in shown.marks:
        score = mark.score
        yield (
            f"{shown.name}{', ' + shown.unit if shown.unit else ''}",
            f"{mark.name} = {mark.value:g}",
            f"{score.at_object:.3g}",
            f"{score.mean:.3g}",
            *(f"{area:.3g}" for area in score.areas),
            f"{score.paper:.3f}",
            f"{score.relative:.3f}",
        )


def _title(item: Reproduced) -> str:
    claim = item.claim
    return (
        f"{claim.name}: {claim.rows:,} rows, {claim.attributes} attributes, object {claim.object}"
    )


def _table(item: Reproduced) -> Iterator[Block]:
    name = item.claim.name
    yield Text(of_pair(item))
    yield Grid(
        ("pair", "conditions", "rows kept", "outlierness", "relative", "without conditions"),
        tuple(_pair_rows(item)),
    )
    yield Text(
        f"Highest: the pair of greatest outlierness, whether minimal or not (support "
        f"{published.SUPPORT:.0%}, at most {published.CONDITIONS} conditions, one interval per "
        "attribute that spans its component, all contexts). Minimal: pairs that reach 0.9 while no "
        f"part of their conditions does; there are {item.found}. Default: what outlying says "
        "without any option, and how many other rows have a finding as strong."
    )
    yield Figure(
        f"{name.lower()}.svg",
        f"{name}: cdf G of the densities without and with the explanation",
        f"{name}: G without the explanation (left) and with it (right); a pair without conditions "
        "has one.",
    )
    yield Text(_on_starts(item))
    yield Text(
        f"Natural intervals of object {item.claim.object}. The paper's interval spans all values "
        "of the component; ours, by default, is the run of neighbouring values, so that a broad "
        "component does not swallow the domain. An interval takes part if it keeps "
        f"{published.SUPPORT:.0%} of the rows and not all of them."
    )
    yield Grid(
        ("attribute", "value", "segments", "interval (span)", "support", "takes part", "run"),
        tuple(_interval_row(natural) for natural in item.naturals),
    )
    yield Text("The older method: its strongest pair, free of units, by kind and number of bins.")
    yield Grid(
        ("bins", "property", "conditions on", "relative"),
        tuple(
            (
                f"{older.bins} {older.kind}",
                f"a{older.property} = {older.value}",
                numbered(older.conditions),
                f"{older.relative:.3f}",
            )
            for older in item.older
        ),
    )


def _on_starts(item: Reproduced) -> str:
    """Return what the paper's random start changes."""
    found = collections.Counter(item.starts)
    listed = "; ".join(
        f"a{number} with {numbered(others)} ({count} of {len(item.starts)})"
        for (number, others), count in found.most_common(4)
    )
    return f"With the paper's random start of the mixtures the highest pairs are: {listed}."


def _pair_rows(item: Reproduced) -> Iterator[tuple[str, ...]]:
    yield _pair_cells("paper's pair, in the public file", item.published)
    yield _pair_cells("highest", item.highest)
    if item.same_property is not None and item.same_property.number != item.highest.number:
        yield _pair_cells("highest with the paper's property", item.same_property)
    for place, pair in enumerate(item.minimal, start=1):
        yield _pair_cells(f"minimal {place}", pair)
    for place, pair in enumerate(item.defaults, start=1):
        sure = "" if pair.as_strong is None else f", other rows as strong: {pair.as_strong:,}"
        yield _pair_cells(f"default {place}{sure}", pair)


def _pair_cells(whose: str, pair: ScoredPair) -> tuple[str, ...]:
    kept = f"{pair.rows:,} ({percent(pair.support)})"
    return (
        f"{whose}: {subject(pair)}",
        context(pair),
        kept if pair.is_supported else f"{kept}, fewer than {published.SUPPORT:.0%}",
        f"{pair.inside.paper:.3f}",
        f"{pair.inside.relative:.3f}",
        f"{pair.overall.paper:.3f}",
    )


def _interval_row(natural: NaturalInterval) -> tuple[str, ...]:
    takes_part = natural.span is not None and published.SUPPORT <= natural.support < 1
    return (
        f"a{natural.number} ({natural.name})",
        short(natural.value),
        str(natural.segments),
        interval(natural.span),
        percent(natural.support),
        "yes" if takes_part else "no",
        interval(natural.run),
    )


def _detection(found: Results) -> Iterator[Block]:
    yield Text(
        f"Feature bagging: {detection.ROUNDS} rounds, each on a random half or more of the "
        "attributes; each votes for the row farthest from its fifth nearest neighbour. Rows are "
        f"ranked by votes, over {found.seeds} seeds. The paper does not say whether attributes are "
        "scaled first."
    )
    yield Grid(
        ("table", "object", "attributes", "first", "rank", "votes", "first objects"),
        tuple(
            (
                item.claim.name,
                str(item.claim.object),
                "as they are" if item.scale == "none" else "divided by their deviation",
                f"{item.times_first} of {len(item.results)}",
                _range(*item.ranks),
                f"{_range(*item.votes)} of {detection.ROUNDS}",
                ", ".join(map(str, item.winners[:5])),
            )
            for item in found.detections
        ),
    )


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _times(found: Results) -> Iterator[Block]:
    yield Text(
        f"The least of {timing.REPEATS} runs each. Condition building (natural intervals) and "
        "outlier computation (search) apart, as in the paper, whose machine and programming "
        "language were others: only proportions compare. Default: outlying's options, all rows "
        "judged and the object explained."
    )
    yield Grid(
        ("table", "paper: intervals", "search", "here: intervals", "search", "default: all"),
        tuple(
            (
                timed.claim.name,
                f"{timed.claim.interval_seconds:g} s",
                f"{timed.claim.search_seconds:g} s",
                seconds(timed.paper.intervals),
                seconds(timed.paper.search),
                seconds(timed.defaults),
            )
            for timed in found.times
        ),
    )
    yield Figure(
        "times.svg",
        "Time of the search against the greatest number of conditions, for the three tables",
        f"Time of the search against the most conditions, support {published.SUPPORT:.0%}, one "
        "interval per attribute: only intervals that keep enough rows take part.",
    )


def _unif2(found: Unif2) -> Iterator[Block]:
    yield Text(
        f"{unif2.VALUES:,} values in two uniform clusters, [-1.1, -0.1] and [0.1, 1.1], and o = 0 "
        "between them. The older method cuts the values into bins: whether o looks exceptional "
        "hangs on whether a border happens to fall near 0. Bins of equal depth have equal "
        "frequencies by construction, so that nothing is exceptional in any of them."
    )
    yield Grid(
        ("measure", "method", "first sample", "over samples", "spread within a sample"),
        tuple(_unif2_rows(found)),
    )
    yield Figure(
        "unif2-bins.svg",
        "Outlierness of the object against the number of bins, and by the density",
        "The older method for 2 to 50 bins, and the density's single value.",
    )
    yield Figure(
        "unif2-histograms.svg",
        "Histograms of 10, 11 and 12 bins, with the bin of the object marked",
        "Bins of equal width. Rows in the object's bin: "
        + ", ".join(_own_rows(item) for item in found.histograms)
        + ".",
    )
    yield Figure(
        "unif2-density.svg",
        "The density of the sample with the object marked, and its G",
        "The density: no number of bins to choose.",
    )
    yield Figure(
        "unif2-seeds.svg",
        "For each sample the range of scores over numbers of bins, and the density's value",
        f"{len(found.samples)} samples: the range over 2 to 50 bins of equal width (lines), and "
        "the density's value (dots).",
    )


def _own_rows(item: Histogram) -> str:
    rows = round(float(item.shares[item.own]) * unif2.VALUES)
    return f"{rows:,} with {item.bins} bins"


def _unif2_rows(found: Unif2) -> Iterator[tuple[str, ...]]:
    for measure in get_args(Measure):
        ours = [item.score(measure) for item in found.samples]
        for place, binned in enumerate(found.first.binned):
            every = [item.binned[place].scores(measure) for item in found.samples]
            first = binned.scores(measure)
            yield (
                measure,
                f"{binned.kind} bins, 2 to 50",
                spread(min(first), max(first)),
                spread(min(map(min, every)), max(map(max, every))),
                _swing(every),
            )
        yield measure, "density", f"{ours[0]:.3f}", spread(min(ours), max(ours), 4), "one value"


def _swing(every: Sequence[Sequence[float]]) -> str:
    swings = [max(scores) - min(scores) for scores in every]
    return spread(min(swings), max(swings))
