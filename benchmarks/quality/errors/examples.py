"""Four examples that anyone understands: the right column must come first, called exceptional.

- fever: the patient of the demo, 39.6 degrees, beside 800 healthy people.
- degrees: 368 among 50 temperatures.
- penguin: one of 37,000 g.
- night flag: "Y" at 13 h, in a table in which the flag says whether it is night.
"""

from __future__ import annotations

import importlib
import importlib.resources
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality.cases import Target
from benchmarks.quality.errors.copies import ErrorCase, rng_of, truths_of
from benchmarks.quality.errors.csv_table import read_texts, typed
from benchmarks.quality.errors.tables import Table

ROWS = 2700
NIGHT = 0.06  # of the rows


def make(name: str, number: int = 0, seed: int = 0) -> ErrorCase:
    """Return an example; another number, other chance."""
    table, row, column = _MAKERS[name](number, seed)
    full = f"{name}/{seed}-{number}"
    target = Target(row, truths_of([column]))
    return ErrorCase("examples", name, full, table, (target,), source=name, half="choose")


def _fever(*_: int) -> tuple[Table, int, str]:
    folder = Path(str(importlib.resources.files("outlying") / "data"))
    texts = read_texts(folder / "patients.csv")
    patient = json.loads((folder / "patient.json").read_text(encoding="utf-8"))
    table = {name: typed([*column, _text(patient[name])]) for name, column in texts.items()}
    return table, len(texts["patient"]), "temperature_c"


def _text(value: Any) -> str:
    """Write a JSON value as a CSV file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _degrees(number: int, seed: int) -> tuple[Table, int, str]:
    rng = rng_of(seed, "degrees", "", number)
    values = np.round(rng.normal(36.8, 0.4, 50), 1)
    row = int(rng.integers(51))
    return {"temperature": np.insert(values, row, 368.0)}, row, "temperature"


def _penguin(number: int, seed: int) -> tuple[Table, int, str]:
    frame = importlib.import_module("palmerpenguins").load_penguins()
    table = {
        name: np.asarray(column, dtype=np.float64)
        if column.dtype.kind in "iuf"
        else np.array([text if isinstance(text, str) else None for text in column], dtype=object)
        for name, column in frame.items()
    }
    mass = table["body_mass_g"]
    adelie = np.flatnonzero((table["species"] == "Adelie") & (mass >= 3600) & (mass <= 3800))
    row = int(rng_of(seed, "penguin", "", number).choice(adelie))
    mass = mass.copy()
    mass[row] = 37_000
    return table | {"body_mass_g": mass}, row, "body_mass_g"


def _night_flag(number: int, seed: int) -> tuple[Table, int, str]:
    rng = rng_of(seed, "night flag", "", number)
    is_night = rng.random(ROWS) < NIGHT
    night, day = np.array([22, 23, 0, 1, 2, 3, 4, 5]), np.arange(6, 22)
    hour = np.where(is_night, rng.choice(night, ROWS), rng.choice(day, ROWS)).astype(np.float64)
    flag = np.where(is_night, "Y", "N").astype(object)
    row = int(rng.choice(np.flatnonzero(hour == 13)))
    flag[row] = "Y"
    channels = np.array(["app", "card", "web"], dtype=object)
    table = {
        "hour": hour,
        "is_night": flag,
        "amount": np.round(rng.lognormal(3.5, 0.9, ROWS), 2),
        "channel": channels[rng.integers(3, size=ROWS)],
        "age": np.round(rng.uniform(18, 80, ROWS)),
    }
    return table, row, "is_night"


_MAKERS: dict[str, Callable[[int, int], tuple[Table, int, str]]] = {
    "fever": _fever,
    "degrees": _degrees,
    "penguin": _penguin,
    "night flag": _night_flag,
}
NAMES = tuple(_MAKERS)
