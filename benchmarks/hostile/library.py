"""Random tables through the library: an answer or one of our errors, nothing else.

Every answer is asked for twice, and once of the same rows in another order: all are equal.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import outlying
from benchmarks.hostile import tables
from benchmarks.hostile.clock import LONGEST, TooLongError, limited
from benchmarks.hostile.report import tell


class _NotBuiltError(Exception):
    """A library refuses the table before it reaches ours."""


#: Options of the paper's own method.
_PAPER: dict[str, list[Any]] = {
    "min_outlierness": [0.5, 0.9, 1.0, 1e-9],
    "measure": ["paper", "relative"],
    "scales": ["one", "several"],
    "interval": ["span", "run"],
    "bandwidth": ["fixed", "adaptive"],
    "discretise": ["equi-width", "equi-depth"],
    "seed": [0, 7],
}


def options(rng: random.Random, names: list[str]) -> dict[str, Any]:
    """Draw some options."""
    drawn: dict[str, Any] = {}
    choices: dict[str, list[Any]] = {
        "min_support": [None, 0.1, 0.5, 1, 30, 10**9],
        "max_conditions": [0, 1, 2, 3, 10**6],
        "search": ["exhaustive"],
        "references": [0, 3],
        "min_confidence": [0.9],
        "exact": [True],
        "preset": ["paper"],
        "infinite": ["missing"],
        "top": [1, 3, 1000],
        "columns": [names[:1], names[:2]],
        "exclude": [names[:1], ["none"]],
        "types": [{names[0]: kind} for kind in ("numeric", "categorical", "datetime")],
    }
    for name in rng.sample([*choices], rng.choice([0, 0, 1, 2])):
        drawn[name] = rng.choice(choices[name])
    if "preset" in drawn or rng.random() < 0.1:  # without the preset, these are refused
        name = rng.choice([*_PAPER])
        drawn[name] = rng.choice(_PAPER[name])
    return drawn


def asked(rng: random.Random, made: tables.Columns, *, by_place: bool) -> dict[str, Any]:
    """Draw what to explain: arguments of `explain` or `explain_many`; none to detect rows."""
    rows = len(next(iter(made.values())))
    row, name = rng.randrange(rows), rng.choice([*made])
    by_value = ["where", "object", "objects"]
    how = rng.choice([*by_value, "row", "row", "row", "rows", "nothing"] if by_place else by_value)
    if how == "where" and rng.random() < 0.7:
        return {"where": {name: cells[row] for name, cells in made.items()}}
    if how == "where":
        return {"where": {name: rng.choice([made[name][row], tables.KINDS["mixed"](rng)])}}
    if how == "object":
        return {"object": _drawn(rng, made)}
    if how == "objects":
        return {"objects": [_drawn(rng, made) for _ in range(rng.randint(0, 3))]}
    given = {"row": row, "rows": [rng.randrange(rows) for _ in range(rng.randint(0, 3))]}
    return {how: given[how]} if how in given else {}


def _drawn(rng: random.Random, made: tables.Columns) -> dict[str, Any]:
    """Draw a new object, at times with a value of another kind."""
    values = {name: rng.choice(cells) for name, cells in made.items()}
    if rng.random() < 0.3:
        values[rng.choice([*made])] = tables.KINDS[rng.choice([*tables.KINDS])](rng)
    return values


def answer(data: Any, ask: dict[str, Any], chosen: dict[str, Any]) -> list[str]:
    """Return answers as JSON; all views of them are drawn, too."""
    if not ask:
        found = outlying.detect(data, workers=1, **chosen)
        str(found)
        found.to_frame()
        return [found.to_json()]
    if "rows" in ask or "objects" in ask:
        many = [*outlying.explain_many(data, workers=1, **ask, **chosen)]
    else:
        many = [outlying.explain(data, **ask, **chosen)]
    for findings in many:
        str(findings)
        findings.text(all=True)
        findings.to_html()
        findings.to_frame()
    if many:
        outlying.report(many)
    str(outlying.patterns(many))
    return [findings.to_json() for findings in many]


def _without_rows(answers: list[str]) -> list[Any]:
    """Return answers without what may differ where rows have other places."""
    many = [*map(json.loads, answers)]
    for item in (item for whole in many for item in whole["objects"]):
        item["row"] = None
    return many


def shuffled(
    made: tables.Columns, ask: dict[str, Any], rng: random.Random
) -> tuple[tables.Columns, dict[str, Any]]:
    """Return a table with its rows in another order, and what is then asked."""
    rows = len(next(iter(made.values())))
    order = rng.sample(range(rows), rows)
    moved = {name: [cells[place] for place in order] for name, cells in made.items()}
    if "row" in ask:
        return moved, {"row": order.index(ask["row"])}
    return moved, ask | {"rows": [*map(order.index, ask["rows"])]} if "rows" in ask else ask


def attempt(seed: int, folder: Path) -> str:
    """Try one table; return what became of it, and raise what must not be."""
    rng = random.Random(seed)
    made, carrier = tables.columns(rng), rng.choice([*tables.CARRIERS])
    ask = asked(rng, made, by_place=carrier not in tables.STREAMS)
    chosen = options(rng, [*made])
    if not ask:
        chosen = {name: chosen[name] for name in chosen if name in ("top", "seed", "types")}
        chosen |= {"detector": rng.choice(["strength", "feature-bagging", "feature-bagging", "x"])}
    data = _built(made, carrier, folder)
    try:
        first = answer(data, ask, chosen)
    except outlying.OutlyingError as error:
        return type(error).__name__
    assert answer(data, ask, chosen) == first, "the second answer differs"
    if ask and carrier in tables.KEEPS_TYPES:
        moved, again = shuffled(made, ask, rng)
        other = answer(_built(moved, carrier, folder), again, chosen)
        assert _without_rows(other) == _without_rows(first), "the order of rows counts"
    return "answer"


def _built(made: tables.Columns, carrier: str, folder: Path) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tables.CARRIERS[carrier](made, folder)
    except (KeyboardInterrupt, TooLongError):
        raise
    except BaseException as error:  # polars panics
        raise _NotBuiltError from error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("-o", "--output", type=Path, help="write the counts to a file, too")
    given = parser.parse_args()
    warnings.simplefilter("error")
    counts: collections.Counter[str] = collections.Counter()
    begin, took = time.monotonic(), (0.0, given.seed)
    last = given.seed + given.tables - 1
    for seed in range(given.seed, last + 1):
        work = time.process_time()
        try:
            with tempfile.TemporaryDirectory() as folder, limited():
                counts[attempt(seed, Path(folder))] += 1
        except _NotBuiltError:
            counts["not built"] += 1
        except TooLongError:
            counts["TOO LONG"] += 1
            print(f"seed {seed}: over {LONGEST} s", flush=True)
        except KeyboardInterrupt:
            break
        except BaseException as error:  # polars panics
            counts["FAULT"] += 1
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:200]}", flush=True)
            traceback.print_exc(limit=-4)
        took = max(took, (time.process_time() - work, seed))
        if seed == last or (seed - given.seed) % 1000 == 999:
            seconds = time.monotonic() - begin
            longest = f"at most {took[0]:.1f} s of work each (seed {took[1]})"
            summary = (
                f"{counts.total():,} tables from seed {given.seed} in {seconds:.0f} s, {longest}."
            )
            tell("Hostile tables", summary, dict(counts.most_common()), given.output)
    sys.exit(1 if counts["FAULT"] or counts["TOO LONG"] else 0)


if __name__ == "__main__":
    main()
