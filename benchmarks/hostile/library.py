"""Random tables through the library: an answer or one of our errors, nothing else.

Every answer is asked for twice, and once of the same rows in another order: all are equal.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import random
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import outlying
from benchmarks.hostile import tables

LONGEST = 30  # seconds


class _TooLongError(BaseException):
    """A call did not end in time."""


class _NotBuiltError(Exception):
    """A library refuses the table before it reaches ours."""


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Stop what takes longer."""

    def stop(*_: object) -> None:
        raise _TooLongError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def options(rng: random.Random, names: list[str]) -> dict[str, Any]:
    """Draw some options."""
    drawn: dict[str, Any] = {"references": rng.choice([0, 0, 0, 3])}
    choices: dict[str, list[Any]] = {
        "min_support": [None, 0.1, 0.5, 1, 30, 10**9],
        "min_outlierness": [0.5, 0.9, 1.0, 1e-9],
        "max_conditions": [0, 1, 2, 3, 10**6],
        "search": ["guided", "exhaustive"],
        "minimality": ["strict", "unless stronger"],
        "exact": [True],
        "measure": ["paper"],
        "scales": ["one"],
        "interval": ["span"],
        "bandwidth": ["adaptive"],
        "preset": ["paper"],
        "infinite": ["missing"],
        "discretise": ["equi-width", "equi-depth"],
        "seed": [0, 7],
        "top": [1, 3, 1000],
        "columns": [names[:1], names[:2]],
        "exclude": [names[:1], ["none"]],
        "types": [{names[0]: kind} for kind in ("numeric", "categorical", "datetime")],
    }
    for name in rng.sample([*choices], rng.choice([0, 0, 1, 2])):
        drawn[name] = rng.choice(choices[name])
    return drawn


def asked(rng: random.Random, made: tables.Columns) -> dict[str, Any]:
    """Draw what to explain."""
    rows = len(next(iter(made.values())))
    row = rng.randrange(rows)
    name = rng.choice([*made])
    how = rng.choice(["row", "row", "row", "where", "object"])
    if how == "row":
        return {"row": row}
    if how == "where":
        return {"where": {name: rng.choice([made[name][row], tables.KINDS["mixed"](rng)])}}
    values = {name: cells[rng.randrange(rows)] for name, cells in made.items()}
    if rng.random() < 0.3:
        values[name] = tables.KINDS[rng.choice([*tables.KINDS])](rng)
    return {"object": values}


def answer(data: Any, ask: dict[str, Any], chosen: dict[str, Any]) -> str:
    """Return an answer as JSON; all views of it are drawn, too."""
    found = outlying.explain(data, **ask, **chosen)
    str(found)
    found.text(all=True)
    found.to_html()
    found.to_frame()
    return found.to_json()


def _without_row(text: str) -> Any:
    whole = json.loads(text)
    for item in whole["objects"]:
        item["row"] = None
    return whole


def shuffled(made: tables.Columns, row: int, rng: random.Random) -> tuple[tables.Columns, int]:
    """Return a table with its rows in another order, and where a row is then."""
    order = rng.sample(range(len(next(iter(made.values())))), len(next(iter(made.values()))))
    moved = {name: [cells[place] for place in order] for name, cells in made.items()}
    return moved, order.index(row)


def attempt(seed: int) -> str:
    """Try one table; return what became of it, and raise what must not be."""
    rng = random.Random(seed)
    made = tables.columns(rng)
    ask, chosen = asked(rng, made), options(rng, [*made])
    try:
        data = tables.carried(made, rng)
    except (KeyboardInterrupt, _TooLongError):
        raise
    except BaseException as error:  # polars panics
        raise _NotBuiltError from error
    try:
        first = answer(data, ask, chosen)
    except outlying.OutlyingError as error:
        return type(error).__name__
    json.loads(first)
    assert answer(data, ask, chosen) == first, "the second answer differs"
    if data is made and "row" in ask:
        moved, row = shuffled(made, ask["row"], rng)
        again = answer(moved, {"row": row}, chosen)
        assert _without_row(again) == _without_row(first), "the order of rows counts"
    return "answer"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    given = parser.parse_args()
    warnings.simplefilter("error")
    counts: collections.Counter[str] = collections.Counter()
    begin, longest = time.monotonic(), 0.0
    for seed in range(given.seed, given.seed + given.tables):
        start = time.monotonic()
        try:
            with limited(LONGEST):
                counts[attempt(seed)] += 1
        except _NotBuiltError:
            counts["not built"] += 1
        except _TooLongError:
            counts["TOO LONG"] += 1
            print(f"seed {seed}: over {LONGEST} s", flush=True)
        except KeyboardInterrupt:
            break
        except BaseException as error:  # polars panics
            counts["FAULT"] += 1
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:200]}", flush=True)
            traceback.print_exc(limit=-4)
        longest = max(longest, time.monotonic() - start)
        if (seed - given.seed) % 1000 == 999:
            print(f"{seed + 1 - given.seed:,} tables, {dict(counts)}", flush=True)
    seconds = time.monotonic() - begin
    print(f"{counts.total():,} tables in {seconds:.0f} s, the longest {longest:.1f} s")
    for name, count in counts.most_common():
        print(f"  {count:7,}  {name}")
    sys.exit(1 if counts["FAULT"] or counts["TOO LONG"] else 0)


if __name__ == "__main__":
    main()
