"""Changes of a table that should not matter, and how many answers change all the same.

Random tables are changed in ways that leave what is odd in them as it is (other signs, names,
units, a copy of a column, the same cells from a CSV file), or nearly so (a column of noise).
"""

from __future__ import annotations

import argparse
import collections
import csv
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import outlying
from benchmarks.hostile.report import tell
from benchmarks.hostile.tables import Columns

#: A story as it is compared: its columns, its strength to so many digits, whether it stands out.
Told: TypeAlias = tuple[frozenset[str], float, bool]
Answer: TypeAlias = Callable[[Columns, int], list[Told]]
DIGITS = 5

_KINDS: dict[str, Callable[[random.Random], Any]] = {
    "normal": lambda rng: round(rng.gauss(50, 9), 2),
    "skewed": lambda rng: round(rng.lognormvariate(3, 1), 2),
    "groups": lambda rng: round(rng.choice([10, 10, 70]) + rng.gauss(0, 3), 3),
    "counts": lambda rng: rng.randint(0, 9),
    "amounts": lambda rng: rng.randint(100, 9999),
    "letters": lambda rng: rng.choice("aabbbc"),
    "cities": lambda rng: rng.choice(["Bonn", "Trier", "Worms"]),
}
_TEXTS = ("letters", "cities")


def table(rng: random.Random) -> Columns:
    """Draw a table: some columns depend on the first one, some cells are missing, one is wrong."""
    rows = rng.choice([40, 80, 150])
    kinds = rng.sample([*_KINDS], rng.randint(2, 5))
    made = {
        f"c{place} {kind}": [_KINDS[kind](rng) for _ in range(rows)]
        for place, kind in enumerate(kinds)
    }
    numbers = [name for name in made if name.split()[1] not in _TEXTS]
    for name in numbers[1:]:
        if rng.random() < 0.5:
            made[name] = [round(2 * x + rng.gauss(0, 3), 2) for x in made[numbers[0]]]
    for name in made:
        if rng.random() < 0.2:
            made[name] = [None if rng.random() < 0.1 else cell for cell in made[name]]
    if numbers:
        made[rng.choice(numbers)][0] = rng.choice([-300, 500.25, 77777])
    return made


def told(data: Any, row: int, names: Mapping[str, str] | None = None) -> list[Told]:
    """Return the stories of a row; `names` give columns the names that they had before."""
    found = outlying.explain(data, row=row)
    return [
        (
            frozenset((names or {}).get(name, name) for name in story.columns),
            round(story.strength, DIGITS),
            story.exceptional,
        )
        for story in found.stories
    ]


def _are_numbers(cells: list[Any]) -> bool:
    return not any(isinstance(cell, str) for cell in cells)


def _times(factor: float) -> Answer:
    def answer(made: Columns, row: int) -> list[Told]:
        changed = {
            name: [None if x is None else x * factor for x in cells]
            if _are_numbers(cells)
            else cells
            for name, cells in made.items()
        }
        return told(changed, row)

    return answer


def _renamed(made: Columns, row: int) -> list[Told]:
    names = {name: f"{chr(ord('z') - place)}{place}" for place, name in enumerate(made)}
    changed = {names[name]: cells for name, cells in made.items()}
    return told(changed, row, {new: old for old, new in names.items()})


def _with_copy(made: Columns, row: int) -> list[Told]:
    return told(made | {"a copy": next(iter(made.values()))}, row)


def _with_noise(made: Columns, row: int) -> list[Told]:
    rng = random.Random(len(made))
    noise = [rng.random() for _ in next(iter(made.values()))]
    noise[row] = 0.5
    return [story for story in told(made | {"noise": noise}, row) if "noise" not in story[0]]


def _as_texts(made: Columns, row: int) -> list[Told]:
    texts = {n: [None if x is None else str(x) for x in cells] for n, cells in made.items()}
    return told(texts, row)


def _from_csv(made: Columns, row: int) -> list[Told]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(made)
            writer.writerows(zip(*made.values(), strict=True))
        return told(path, row)


#: What is changed, and what it is compared with.
CHANGES: dict[str, tuple[Answer, Answer]] = {
    "all numbers times -1": (_times(-1), told),
    "all numbers times 4": (_times(4), told),
    "all numbers times 2.54": (_times(2.54), told),
    "columns renamed": (_renamed, told),
    "a copy of the first column": (_with_copy, told),
    "a column of noise": (_with_noise, told),
    "texts in a dict, not in a CSV file": (_as_texts, _from_csv),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("-o", "--output", type=Path, help="write the counts to a file, too")
    given = parser.parse_args()
    begin = time.monotonic()
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(given.seed, given.seed + given.tables):
        made = table(random.Random(seed))
        for name, (changed, usual) in CHANGES.items():
            one, other = changed(made, 0), usual(made, 0)
            counts[f"{name}: another first story"] += one[:1] != other[:1]
            counts[f"{name}: some other story"] += one != other
            if one[:1] != other[:1]:
                print(f"seed {seed}: {name}", flush=True)
    summary = (
        f"{given.tables:,} tables from seed {given.seed} in {time.monotonic() - begin:.0f} s; "
        "how many have another answer when this is changed:"
    )
    tell("Changes that should not matter", summary, counts, given.output)


if __name__ == "__main__":
    main()
