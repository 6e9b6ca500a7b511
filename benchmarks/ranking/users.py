"""Tables as users have them, read as files: payments, employees, laboratory results."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from benchmarks.ranking.cases import Case, Half, Recipe, Settings, Wrong, listed

TITLE = "Tables as users have them: kinds of planted problems among the first rows"
SHOWN = ("kinds", "first10", "first15", "first40", "exceptional", "hits", "ap", "seconds")
TABLES: dict[str, Half] = {"bank": "choose", "hr": "choose", "labs": "report"}
KEYS = {"bank": "tx_id", "hr": "emp_id"}  # of labs: the data row, from 1


def recipes(settings: Settings) -> list[Recipe]:
    """Return the tables whose files are there."""
    found = listed("users", TABLES, settings)
    return [recipe for recipe in found if _path(recipe, settings).exists()]


def make(recipe: Recipe, settings: Settings) -> Case:
    """Return a file, and its planted problems."""
    path = _path(recipe, settings)
    truth = json.loads(path.with_name("truth.json").read_text(encoding="utf-8"))[recipe.kind]
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter=";" if recipe.kind == "labs" else ","))
    key = KEYS.get(recipe.kind)
    places = {line[key] if key else str(row + 1): row for row, line in enumerate(lines)}
    wrong = {places[name]: Wrong(kind) for name, kind in truth.items()}
    return Case(path, len(lines), wrong)


def _path(recipe: Recipe, settings: Settings) -> Path:
    return settings.data / "groups" / f"{recipe.kind}.csv"
