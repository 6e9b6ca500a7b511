"""Amounts and dates as texts, as people write them, and how they get them wrong.

- money: numbers of a real column, written as `$4,512.00` or `4.512,00 €`. The wrong cell is 100 or
  1,000 times too large, as by a decimal mark that was lost, or a text, or negative in parentheses.
- dates: `17/03/2014`, in the order of the rows but for some days, over a year or two, beside
  running numbers or months. In the wrong cell day and month change places, or the year is ten or a
  hundred years off, or two of its digits change places.
"""

from __future__ import annotations

import datetime

import numpy as np

from benchmarks.quality.cases import Array
from benchmarks.quality.errors.injector import Rng, is_known
from benchmarks.quality.errors.tables import Table

DISTINCT = 20  # numbers of a column that is written as money, at least
FACTORS = (100, 1000)
TEXTS = ("n.a.", "pending", "see note")
START = datetime.date(2013, 1, 25)  # no 29 February in two years: all dates stand in other years
SPANS = (365, 730)  # days
LATE = 4.0  # days, the standard deviation of dates around their places
FORM = "%d/%m/%Y"
YEARS = (-100, -10, 10, 90, 100)  # 2104 for 2014 is 90


# Money.


def with_amounts(table: Table, number: int, rng: Rng) -> Table:
    """Write a column of numbers as money, where the table has one that can be amounts."""
    names = [name for name, column in table.items() if _can_be_amounts(column)]
    if not names:
        return table
    written = names[rng.integers(len(names))]
    texts = [
        money(round(100 * value), is_euro=number % 2 == 1) if is_known(value) else None
        for value in table[written].tolist()
    ]
    others = {name: column for name, column in table.items() if name != written}
    return others | {"amount": np.array(texts, dtype=object)}


def _can_be_amounts(column: Array) -> bool:
    if column.dtype.kind != "f":
        return False
    known = column[np.isfinite(column)]
    return len(np.unique(known)) >= DISTINCT and bool(known.min() >= 1)


def money(cents: int, is_euro: bool) -> str:
    """Write an amount in dollars or euros, each with the marks that go with it."""
    text = f"{cents // 100:,}.{cents % 100:02d}"
    return text.translate(str.maketrans(",.", ".,")) + " €" if is_euro else f"${text}"


def wrong_amount(text: str, rng: Rng) -> str:
    """Lose a decimal mark, write words, or put an amount in parentheses."""
    kind = rng.integers(3)
    if kind == 0:
        cents = int("".join(filter(str.isdecimal, text)))
        return money(cents * int(rng.choice(FACTORS)), is_euro=text.endswith("€"))
    return str(rng.choice(TEXTS)) if kind == 1 else f"({text})"


# Dates.


def with_dates(table: Table, rows: int, number: int, rng: Rng) -> Table:
    """Add dates in the order of the rows, beside running numbers with gaps or the month."""
    days = np.sort(rng.integers(0, SPANS[rng.integers(len(SPANS))], rows))
    late = np.clip(np.round(rng.normal(0, LATE, rows)), -3 * LATE, 3 * LATE).astype(np.int64)
    dates = [START + datetime.timedelta(days=day) for day in (days + late).tolist()]
    invoiced = np.array([date.strftime(FORM) for date in dates], dtype=object)
    if number % 2 == 0:
        receipts = 5_000 + np.cumsum(rng.integers(1, 4, rows))
        return table | {"invoiced": invoiced, "receipt": receipts.astype(np.float64)}
    months = [(START + datetime.timedelta(days=day)).month for day in days.tolist()]
    return table | {"invoiced": invoiced, "period": np.array(months, dtype=np.float64)}


def wrong_date(texts: Array, rng: Rng) -> tuple[int, str]:
    """Misread one of some dates, as likely by its year as by its day and month; say which."""
    dates = [datetime.datetime.strptime(text, FORM).date() for text in texts.tolist()]
    if rng.integers(2) == 0:
        row = int(rng.integers(len(dates)))
        new = dates[row].replace(year=dates[row].year + int(rng.choice(YEARS)))
    else:
        row = int(rng.choice([place for place, date in enumerate(dates) if _can_swap(date)]))
        new = dates[row].replace(day=dates[row].month, month=dates[row].day)
    return row, new.strftime(FORM)


def _can_swap(date: datetime.date) -> bool:
    return date.day <= 12 and date.day != date.month
