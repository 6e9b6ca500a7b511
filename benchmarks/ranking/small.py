"""Small groups: one of many accounts, or 0.8% of the rows that three categories single out."""

from __future__ import annotations

import numpy as np

from benchmarks.ranking import noise
from benchmarks.ranking.cases import Array, Case, Recipe, Rng, Settings, Wrong, seeded

TITLE = "Small groups: one wrong value"
SHOWN = ("ap", "first1", "first10", "worst", "exceptional", "hits", "named", "seconds")
ACCOUNTS = {"90 accounts x 60": (90, 60), "1,000 accounts x 100": (1_000, 100)}
TRIPLE = "three categories, 0.8%"
TRIPLES = 4  # tables of each half
TRIPLE_ROWS, LABELS = 20_000, 5


def recipes(settings: Settings) -> list[Recipe]:
    """Return accounts of two sizes, and eight tables of a group of three categories."""
    sizes = [kind for kind in ACCOUNTS if settings.large or "1,000" not in kind]
    return [
        *seeded("small", sizes, settings, seeds=2),
        *seeded("small", [TRIPLE], settings, TRIPLES, at_least=TRIPLES),
    ]


def make(recipe: Recipe, _: Settings) -> Case:
    """Return a table with one wrong amount."""
    rng = recipe.rng()
    if recipe.kind == TRIPLE:
        return _triple(rng)
    return _accounts(rng, *ACCOUNTS[recipe.kind])


def _accounts(rng: Rng, accounts: int, each: int) -> Case:
    """Give each account a level; one amount is 6 to 10 times what its account usually has."""
    levels = np.exp(rng.normal(np.log(200), 1.5, accounts))
    codes = rng.permutation(np.repeat(np.arange(accounts), each))
    amounts = levels[codes] * np.exp(rng.normal(0, 0.25, len(codes)))
    low, high = np.quantile(levels, [0.1, 0.7])
    account = rng.choice(np.flatnonzero((levels > low) & (levels < high)))
    row = int(rng.choice(np.flatnonzero(codes == account)))
    amounts[row] = levels[account] * rng.uniform(6, 10)
    names = np.array([f"AC{code:05d}" for code in range(accounts)], dtype=object)
    table: dict[str, Array] = {"account": names[codes], "amount": amounts.round(2)}
    table |= noise.columns(rng, len(codes), 4)
    return Case.of(noise.shuffled(rng, table), {row: Wrong("amount", "amount")})


def _triple(rng: Rng) -> Case:
    """Give one cell of three categories a level of its own; one member has that of all others."""
    codes = rng.integers(0, LABELS, (3, TRIPLE_ROWS))
    inside = np.flatnonzero((codes == rng.integers(0, LABELS, 3)[:, None]).all(axis=0))
    values = rng.normal(100, 10, TRIPLE_ROWS)
    values[inside] = rng.normal(rng.choice([100 + 120, 100 + 60]), 10, len(inside))
    row = int(rng.choice(inside))
    values[row] = rng.normal(100, 5)
    table: dict[str, Array] = {"value": values.round(1)}
    for name, column in zip(("region", "product", "channel"), codes, strict=True):
        table[name] = np.array([f"{name[0]}{code}" for code in column], dtype=object)
    table |= noise.columns(rng, TRIPLE_ROWS, 5)
    return Case.of(noise.shuffled(rng, table), {row: Wrong("value", "value")})
