"""The row as a strip of cells: where to look, before anything is read (method 5b)."""

from __future__ import annotations

import dataclasses

from outlying.results.findings import Findings
from outlying.results.stories import OddCell, Story, odd_cells
from outlying.table.values import printable, text_of

#: In a row of more columns ordinary cells stand behind a click.
MANY_COLUMNS = 40

_FULL = 100  # percent of the strongest shade: the cell most to blame
_ODD = 45  # at least, for each cell that a story that stands out calls odd
_FAINT = 25  # at most, where nothing stands out


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """An odd cell with its number on the page, from 1: those that stand out come first.

    `story` tells most of it, `also` are the others on the same cell.
    """

    number: int
    story: Story
    also: tuple[Story, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the row: its shade in percent, and the number of the story that calls it odd."""

    name: str
    value: str
    heat: int
    odd: int | None
    is_compared: bool


@dataclasses.dataclass(frozen=True, slots=True)
class CellStrip:
    """The cells of a row in the order of the table; of a wide row the ordinary ones apart."""

    shown: tuple[Cell, ...]
    folded: tuple[Cell, ...]


def numbered(findings: Findings) -> tuple[Told, ...]:
    """Return the odd cells in the order of the page: one cell, one card."""
    cells = odd_cells(findings.stories)
    return tuple(Told(number, *_apart(cell)) for number, cell in enumerate(cells, start=1))


def _apart(cell: OddCell) -> tuple[Story, tuple[Story, ...]]:
    return cell.story, cell.stories[1:]


def cell_strip(findings: Findings) -> CellStrip:
    """Return the cells of the row, shaded by blame; a wide row folds what is ordinary."""
    stories = numbered(findings)
    odd: dict[str, int] = {}
    for told in stories:
        if told.story.stands_out:
            odd.setdefault(told.story.culprit, told.number)
    blame, heats = findings.blame, _heats(findings)
    cells = tuple(
        Cell(
            printable(name, 60),
            printable(text_of(value), 80),
            max(heats.get(name, 0), _ODD if name in odd else 0),
            odd.get(name),
            name in blame,
        )
        for name, value in findings.values
    )
    if len(cells) <= MANY_COLUMNS:
        return CellStrip(cells, ())
    named = {name for name, heat in heats.items() if heat}
    for told in stories:
        if told.number == 1 or told.story.stands_out:
            named.update(told.story.columns)
    kept = [name in named for name, _ in findings.values]
    return CellStrip(
        tuple(cell for cell, is_kept in zip(cells, kept, strict=True) if is_kept),
        tuple(cell for cell, is_kept in zip(cells, kept, strict=True) if not is_kept),
    )


def _heats(findings: Findings) -> dict[str, int]:
    """Return the shade of each compared column: its blame as a share of the greatest."""
    blame = findings.blame
    most, full = max(blame.values(), default=0.0), _FULL if findings.stands_out else _FAINT
    return {name: round(full * number / most) if most > 0 else 0 for name, number in blame.items()}
