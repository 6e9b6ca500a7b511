"""Findings on many rows: a sequence that is explained as it is read, and the list of odd cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

from outlying.results.findings import Findings
from outlying.results.wording import headline, short_name
from outlying.table.values import plain

#: What the list of odd cells holds of each.
CELL_FIELDS = (
    *("row", "name", "column", "value", "expected", "where", "why", "word", "sentence"),
    *("strength", "exceptional", "story"),
)


def cell_table(findings: Iterable[Findings], first_row: int = 0) -> dict[str, list[Any]]:
    """Return the cells that stand out in some rows, the oddest of each row first, by field."""
    columns: dict[str, list[Any]] = {name: [] for name in CELL_FIELDS}
    for item in findings:
        values = item.object
        for cell in item.odd_cells:
            _, expected, where = headline(cell.story.headline)
            told = (
                None if item.row is None else item.row + first_row,
                short_name(item.key),
                cell.column,
                plain(values.get(cell.column)),
                expected.removeprefix("expected "),
                where.removeprefix("where "),
                cell.story.kind,
                "exceptional" if cell.exceptional else "unusual",
                cell.story.sentence,
                cell.story.strength,
                cell.exceptional,
                item.stories.index(cell.story) + 1,
            )
            for name, value in zip(CELL_FIELDS, told, strict=True):
                columns[name].append(value)
    return columns


class Explanations(Sequence[Findings]):
    """What `explain_many` returns: findings in the order asked for.

    Each is explained when it is first read, or somewhat ahead of that by other processes, and then
    kept. Read it by `for`, as often as needed and from the first on each time, by place, or as a
    whole by `to_frame` and `to_html`. It is no iterator: after `next`, would `for` start over?
    """

    def __init__(self, found: Iterator[Findings], count: int) -> None:
        self._found, self._count = found, count
        self._known: list[Findings] = []

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Findings]:
        place = 0
        while place < len(self._known) or self._read_one():
            yield self._known[place]
            place += 1

    def _read_one(self) -> bool:
        item = next(self._found, None)
        if item is not None:
            self._known.append(item)
        return item is not None

    @overload
    def __getitem__(self, place: int) -> Findings: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Findings]: ...
    def __getitem__(self, place: int | slice) -> Findings | Sequence[Findings]:
        stop = self._count
        if isinstance(place, int) and 0 <= place < stop:
            stop = place + 1
        while len(self._known) < stop and self._read_one():
            pass
        return self._known[place]

    def close(self) -> None:
        """Stop what works ahead; what was read stays."""
        close = getattr(self._found, "close", None)
        if close is not None:
            close()

    def __repr__(self) -> str:
        return f"<Explanations: {len(self._known):,} of {self._count:,} rows explained>"

    def to_frame(self) -> Any:
        """Return the cells that stand out as a dataframe, one line each; `row` counts from 0."""
        from outlying.render.report import frame

        found = list(self)
        library = found[0].population.frame_library if found else "pandas"
        return frame(cell_table(found), library)

    def to_html(self) -> str:
        """Return one HTML page on all rows, with what they share; it loads nothing."""
        from outlying.render.report import report

        return report(self)

    def _repr_html_(self) -> str:
        from outlying.render.html import cells

        return cells(cell_table(self))
