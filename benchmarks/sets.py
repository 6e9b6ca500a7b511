"""Planted sets: are they told apart by the right rules? Beside a decision tree and pysubgroup.

    python -m benchmarks.sets [--seeds N] [--rows N] [--ways outlying tree pysubgroup]

Each table holds mixed columns with gaps and a set whose rows follow a planted rule, or none; 85% of
the rows of a rule are in the set, and 2% of all others. Told for each kind, as means over seeds:
how well the best of the first five rules matches a planted one (rows in both by rows in either,
Jaccard), the share of planted rules whose columns are named exactly, how many rules are told where
nothing is planted, and seconds of processor time. The tree says the paths to leaves where the set
is at least twice as frequent; pysubgroup searches by beam for weighted relative accuracy.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

import outlying
from outlying.table.table import Condition

Mask: TypeAlias = npt.NDArray[np.bool_]
Found: TypeAlias = list[tuple[Mask, frozenset[str]]]
Planted: TypeAlias = list[tuple[Mask, frozenset[str]]]
MOST = 5


def table(rows: int, random: np.random.Generator) -> pd.DataFrame:
    """Mixed columns, some of them with gaps."""
    data = pd.DataFrame(
        {
            "carrier": random.choice(list("ABCDEF"), rows),
            "airport": random.choice([f"P{k}" for k in range(15)], rows),
            "hour": random.integers(0, 24, rows),
            "way": random.lognormal(6, 1, rows).round(),
            "weight": random.normal(70, 10, rows),
            **{f"x{k}": random.normal(0, 1, rows) for k in range(5)},
        }
    )
    data.loc[random.random(rows) < 0.1, "weight"] = np.nan
    return data


def _rule(data: pd.DataFrame, *names: str) -> tuple[Mask, frozenset[str]]:
    tests = {
        "carrier": data["carrier"] == "B",
        "airport": data["airport"] == "P3",
        "hour": data["hour"] >= 18,
        "way": data["way"].between(300, 600),
        "weight": data["weight"].isna(),
        "x0": data["x0"] > 1.5,
        "x1": data["x1"].between(-0.2, 0.2),
    }
    mask = np.logical_and.reduce([tests[name].to_numpy() for name in names])
    return mask, frozenset(names)


KINDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "a category": (("carrier",),),
    "an interval": (("x1",),),
    "gaps": (("weight",),),
    "category and interval": (("carrier", "hour"),),
    "two intervals": (("hour", "x0"),),
    "category and gaps": (("carrier", "weight"),),
    "three conditions": (("carrier", "hour", "x0"),),
    "rare": (("airport", "way"),),
    "two rules": (("carrier", "hour"), ("airport", "way")),
    "nothing": (),
}


def by_outlying(data: pd.DataFrame, inside: Mask) -> Found:
    """Return the rules of explain_set."""
    found: Found = []
    for rule in outlying.explain_set(data, rows=inside, most=MOST).rules:
        mask = np.ones(len(data), dtype=bool)
        for item in rule.conditions:
            assert isinstance(item, Condition)  # nothing is planted that other columns say
            cells = data[item.attribute]
            if item.kind == "missing":
                mask &= cells.isna().to_numpy()
            elif item.kind == "equals":
                mask &= (cells == item.value).to_numpy()
            else:
                mask &= cells.between(item.low, item.high).to_numpy()
        found.append((mask, frozenset(item.attribute for item in rule.conditions)))
    return found


def by_tree(data: pd.DataFrame, inside: Mask) -> Found:
    """Return the leaves of a decision tree in which the set is twice as frequent, best first."""
    from sklearn.tree import DecisionTreeClassifier

    coded = pd.get_dummies(data, columns=["carrier", "airport"], prefix_sep="=")
    coded["weight=missing"] = coded["weight"].isna()
    coded = coded.fillna(coded["weight"].median())
    tree = DecisionTreeClassifier(max_depth=4, min_samples_leaf=20, random_state=0)
    leaves = tree.fit(coded, inside).apply(coded)
    found = []
    paths = tree.decision_path(coded)
    for leaf in np.unique(leaves):
        mask = leaves == leaf
        nodes = paths[np.flatnonzero(mask)[0]].indices[:-1]
        names = {coded.columns[tree.tree_.feature[node]].split("=")[0] for node in nodes}
        if inside[mask].mean() >= 2 * inside.mean():
            found.append((inside[mask].sum(), mask, frozenset(names)))
    found.sort(key=lambda item: -item[0])
    return [(mask, names) for _, mask, names in found[:MOST]]


def by_subgroups(data: pd.DataFrame, inside: Mask) -> Found:
    """Return the subgroups of pysubgroup with the best weighted relative accuracy."""
    import pysubgroup as ps

    whole = data.assign(inside=inside)
    space = ps.create_selectors(whole, nbins=10, ignore=["inside"])
    given = ps.BinaryTarget("inside", True), space
    task = ps.SubgroupDiscoveryTask(whole, *given, result_set_size=MOST, depth=3, qf=ps.WRAccQF())
    found: Found = []
    for _, group, _ in ps.BeamSearch().execute(task).results:
        names = frozenset(item.attribute_name for item in group.selectors)
        found.append((np.asarray(group.covers(whole)), names))
    return found


WAYS: dict[str, Callable[[pd.DataFrame, Mask], Found]] = {
    "outlying": by_outlying,
    "tree": by_tree,
    "pysubgroup": by_subgroups,
}


def measured(way: str, kind: str, rows: int, seed: int) -> tuple[float, float, int, float]:
    """Return how well the planted rules are found, the exact ones, how many are told, seconds."""
    random = np.random.default_rng(seed)
    data = table(rows, random)
    planted: Planted = [_rule(data, *names) for names in KINDS[kind]]
    any_rule = np.logical_or.reduce([np.zeros(rows, dtype=bool), *(mask for mask, _ in planted)])
    inside = random.random(rows) < np.where(any_rule, 0.85, 0.02)
    start = time.process_time()
    found = WAYS[way](data, inside)
    seconds = time.process_time() - start
    match = [
        max(((mask & own).sum() / (mask | own).sum() for own, _ in found), default=0.0)
        for mask, _ in planted
    ]
    exact = [any(names == own for _, own in found) for _, names in planted]
    mean: Callable[[Any], float] = lambda some: float(np.mean(some)) if some else np.nan  # noqa: E731
    return mean(match), mean(exact), len(found), seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    given = parser.parse_args()
    if "pysubgroup" in given.ways and importlib.util.find_spec("pysubgroup") is None:
        print("pysubgroup is not installed (it asks for NumPy below 2): left out\n")
        given.ways.remove("pysubgroup")
    warnings.simplefilter("ignore")
    print(f"| kind | {' | '.join(f'{way}: Jaccard, columns, rules, s' for way in given.ways)} |")
    print(f"| --- |{' --- |' * len(given.ways)}")
    for kind in KINDS:
        cells = []
        for way in given.ways:
            runs = [measured(way, kind, given.rows, seed) for seed in range(given.seeds)]
            match, exact, count, seconds = np.mean(runs, axis=0)
            cells.append(f"{match:.2f} {exact:.2f} {count:.1f} {seconds:.2f}")
        print(f"| {kind} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
