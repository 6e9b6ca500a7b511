"""Tables of data.gov with one wrong cell each, and the hospital table as published and thinned.

`dirty/numeric` and `dirty/dependency` hold a folder for each table: `clean.csv`, and
`wrong_cells.csv` with the cells that were wrong when the table was collected. One of them at a time
goes into the clean table. `dirty/published/hospital` is a whole dirty table beside its clean twin:
as it is, and thinned, the clean table with only some of the dirty rows.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.quality.cases import Target
from benchmarks.quality.errors.copies import ErrorCase, rng_of, truths_of
from benchmarks.quality.errors.csv_table import read_texts, typed
from benchmarks.quality.errors.tables import Half, Table

PARTS = ("numeric", "dependency")
CHOOSE = (
    "environmental_justice_block_groups_2021",
    "grocery_stores_2013",
    "la_county_covid_cases",
    "mrsa_in_hospitals_2013",
    "hospital",
)
REPORT = (
    "allegheny_county_tobacco_vendors",
    "medicare_part_d_opioid_prescribing_rates",
    "roadway_overlaps",
    "obesity_among_children_and_adolescents_a",
    "s_firm_pan",
)
CELLS = 20  # wrong cells of a table, each in a copy of its own
CLEAN = 20  # rows of a table
DIRTY_ROWS = 15  # of the thinned hospital table
DRAWS = 6  # of them
AS_PUBLISHED = 100  # dirty rows, and as many clean ones


@dataclasses.dataclass(frozen=True)
class WrongCell:
    """A value as it was collected; the row counts from 0."""

    row: int
    column: str
    wrong: str
    right: str


def cases(
    data: Path, half: Half | None = None, seed: int = 0, cells: int = CELLS
) -> Iterator[ErrorCase]:
    """Yield tables with one wrong cell each; `data` is the folder that holds `dirty`."""
    for part in PARTS:
        for name in names(data, part, half):
            for number in range(min(cells, len(wrong_cells(data, part, name)))):
                yield copy(data, part, name, number, seed)


def names(data: Path, part: str, half: Half | None = None) -> list[str]:
    """Return the tables of a part that are there."""
    folders = sorted(path.parent.name for path in (data / "dirty" / part).glob("*/clean.csv"))
    return [name for name in folders if half is None or half_of(name) == half]


def half_of(name: str) -> Half:
    """Return whether a table is for choosing; tables that nobody named here are for reporting."""
    return "choose" if name in CHOOSE else "report"


def copy(data: Path, part: str, name: str, number: int, seed: int = 0) -> ErrorCase:
    """Return the clean table with one of its wrong cells, each number another one."""
    cells = wrong_cells(data, part, name)
    cell = cells[rng_of(seed, name, part, 0).permutation(len(cells))[number]]
    texts = list(_texts(data, part, name, "clean")[cell.column])
    texts[cell.row] = cell.wrong
    table = clean_table(data, part, name) | {cell.column: typed(texts)}
    target = Target(cell.row, truths_of([cell.column]))
    return _case(name, part, f"{name}/{part}/{seed}-{number}", table, (target,))


def clean(data: Path, part: str, name: str, seed: int = 0, most: int = CLEAN) -> ErrorCase:
    """Return the clean table with some of its rows to explain."""
    table = clean_table(data, part, name)
    rows = len(next(iter(table.values())))
    drawn = rng_of(seed, name, "clean", 0).permutation(rows)[:most]
    targets = tuple(Target(int(row), ()) for row in drawn)
    return _case(name, part, f"{name}/{part}-clean/{seed}", table, targets)


@functools.cache
def clean_table(data: Path, part: str, name: str) -> Table:
    """Return the clean table."""
    return {key: typed(texts) for key, texts in _texts(data, part, name, "clean").items()}


@functools.cache
def wrong_cells(data: Path, part: str, name: str) -> tuple[WrongCell, ...]:
    """Return the wrong cells of a table that differ from the right ones."""
    texts = _texts(data, part, name, "wrong_cells")
    columns = (texts[key] for key in ("data_row", "column", "wrong", "right"))
    cells = (
        WrongCell(int(row) - 1, column, wrong, right)
        for row, column, wrong, right in zip(*columns, strict=True)
    )
    return tuple(cell for cell in cells if cell.wrong != cell.right)


@functools.cache
def _texts(data: Path, part: str, name: str, file: str) -> dict[str, list[str]]:
    return read_texts(data / "dirty" / part / name / f"{file}.csv")


def _case(name: str, kind: str, full: str, table: Table, targets: tuple[Target, ...]) -> ErrorCase:
    return ErrorCase("dirty", kind, full, table, targets, source=name, half=half_of(name))


# The hospital table.


def hospital(data: Path, seed: int = 0, most: int = AS_PUBLISHED) -> ErrorCase:
    """Return the table as published, with some dirty and as many clean rows to explain."""
    wrong = _differences(data)
    table = {key: typed(column) for key, column in _hospital_texts(data, "dirty").items()}
    rng = rng_of(seed, "hospital", "published", 0)
    return _hospital("as published", f"hospital/published/{seed}", table, _asked(wrong, most, rng))


def thinned(data: Path, draw: int, seed: int = 0) -> ErrorCase:
    """Return the clean table with some of the dirty rows; all of them are to be explained."""
    wrong = _differences(data)
    clean, dirty = _hospital_texts(data, "clean"), _hospital_texts(data, "dirty")
    targets = _asked(wrong, DIRTY_ROWS, rng_of(seed, "hospital", "thinned", draw))
    kept = {target.row for target in targets if target.truths}
    table = {key: typed(_mixed(clean[key], dirty[key], kept)) for key in clean}
    return _hospital("thinned", f"hospital/thinned/{seed}-{draw}", table, targets)


def _mixed(clean: list[str], dirty: list[str], rows: set[int]) -> list[str]:
    return [dirty[row] if row in rows else text for row, text in enumerate(clean)]


def _asked(wrong: dict[int, list[str]], most: int, rng: np.random.Generator) -> tuple[Target, ...]:
    """Draw dirty rows, and as many clean ones."""
    dirty, clean = (
        rng.permutation([row for row in wrong if bool(wrong[row]) == is_dirty])[:most].tolist()
        for is_dirty in (True, False)
    )
    return tuple(Target(row, truths_of(wrong[row])) for row in [*dirty, *clean])


@functools.cache
def _differences(data: Path) -> dict[int, list[str]]:
    """Return the wrong columns of every row."""
    clean, dirty = _hospital_texts(data, "clean"), _hospital_texts(data, "dirty")
    rows = len(next(iter(clean.values())))
    return {
        row: [key for key in clean if clean[key][row] != dirty[key][row]] for row in range(rows)
    }


def _hospital_texts(data: Path, file: str) -> dict[str, list[str]]:
    """Return the columns of either table by the names of the clean one, in whose order they are."""
    names = _texts(data, "published", "hospital", "clean")
    columns = _texts(data, "published", "hospital", file).values()
    return dict(zip(names, columns, strict=True))


def _hospital(kind: str, full: str, table: Table, targets: tuple[Target, ...]) -> ErrorCase:
    return _case("hospital", kind, full, table, targets)
