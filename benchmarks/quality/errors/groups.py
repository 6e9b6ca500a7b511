"""Amounts that are wrong for their own account, and ordinary over the whole table.

Each account has a level of its own; the levels spread over several decades, the amounts of an
account by a fifth. A wrong amount is drawn from the amounts of another account, six standard
deviations or more (of the logarithm) from the level of its own, and between the 5% and the 95%
quantile of all amounts. It counts as told if the amount is called odd given the account.
"""

from __future__ import annotations

import numpy as np

from benchmarks.quality.cases import Array, Premise, Target, Truth
from benchmarks.quality.errors.copies import ErrorCase, rng_of
from benchmarks.quality.errors.injector import Rng

SIZES = {"90 accounts x 60 rows": (90, 60), "1,000 accounts x 100 rows": (1000, 100)}
LEVEL = (np.log(300), 1.6)  # of the logarithm: mean and standard deviation of the levels
SPREAD = 0.2
FAR = 6  # spreads
WRONG = 5  # rows of a table, in different accounts
CLEAN = 10


def make(kind: str, number: int, seed: int = 0) -> ErrorCase:
    """Return a table of accounts with some wrong amounts."""
    accounts, each = SIZES[kind]
    rng = rng_of(seed, "groups", kind, number)
    levels = rng.normal(*LEVEL, accounts)
    codes = rng.permutation(np.repeat(np.arange(accounts), each))
    amounts = np.round(np.exp(rng.normal(levels[codes], SPREAD)), 2)
    rows = rng.permutation(len(codes))
    wrong = _in_different_accounts(rows, codes)
    for row in wrong:
        amounts[row] = _wrong_amount(rng, levels, codes, amounts, row)
    table = _shuffled({"account": _names(codes), "amount": amounts} | _others(rng, len(codes)), rng)
    targets = [Target(row, (_truth(table["account"][row]),)) for row in wrong]
    clean = np.setdiff1d(rows, wrong, assume_unique=True)[:CLEAN]
    targets += [Target(int(row), ()) for row in clean]
    name = f"groups/{accounts}x{each}/{seed}-{number}"
    return ErrorCase("groups", kind, name, table, tuple(targets), source=kind, half="report")


def _in_different_accounts(rows: Array, codes: Array) -> list[int]:
    first = {int(codes[row]): int(row) for row in reversed(rows)}
    return list(first.values())[-WRONG:]


def _wrong_amount(rng: Rng, levels: Array, codes: Array, amounts: Array, row: int) -> float:
    """Draw the amount of another account until it is far from the own level, and ordinary."""
    low, high = np.quantile(amounts, [0.05, 0.95])
    while True:
        amount = float(amounts[rng.integers(len(amounts))])
        is_far = abs(np.log(amount) - levels[codes[row]]) >= FAR * SPREAD
        if is_far and low <= amount <= high:
            return amount


def _names(codes: Array) -> Array:
    return np.array([f"A{code:04d}" for code in codes], dtype=object)


def _others(rng: Rng, rows: int) -> dict[str, Array]:
    """Return columns that have nothing to do with the amounts."""
    channels = np.array(["app", "branch", "card", "web"], dtype=object)
    return {
        "channel": channels[rng.choice(4, rows, p=[0.3, 0.1, 0.4, 0.2])],
        "hour": np.clip(np.round(rng.normal(14, 4, rows)), 0, 23),
        "items": 1.0 + rng.poisson(2, rows),
        "distance": np.round(rng.gamma(2, 5, rows), 1),
    }


def _shuffled(table: dict[str, Array], rng: Rng) -> dict[str, Array]:
    return {name: table[name] for name in rng.permutation(list(table)).tolist()}


def _truth(account: str) -> Truth:
    premise = Premise("account", value=account)
    return Truth(frozenset({"account", "amount"}), "amount", (premise,))
