"""A page as plain values, and its two forms: Markdown with files beside it, HTML in one file."""

from __future__ import annotations

import base64
import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from outlying.render.html import environment
from outlying.render.shapes import PALETTE


@dataclasses.dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    words: str
    kind: str = "text"


@dataclasses.dataclass(frozen=True, slots=True)
class Grid:
    """A table with a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    kind: str = "grid"


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """A figure by its file, what it shows for those who cannot see it, and its caption."""

    file: str
    words: str
    caption: str
    kind: str = "figure"


Block: TypeAlias = Text | Grid | Figure


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """A title and what follows it."""

    title: str
    blocks: tuple[Block, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Document:
    """A page."""

    title: str
    about: str
    sections: tuple[Section, ...]


def markdown(page: Document) -> str:
    """Write the page as Markdown; figures are files beside it."""
    parts = [f"# {_plain(page.title)}", _plain(page.about)]
    for section in page.sections:
        parts.append(f"## {_plain(section.title)}")
        parts += [_block(block) for block in section.blocks]
    return "\n\n".join(parts)


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return _plain(block.words)
    if isinstance(block, Figure):
        return f"![{_plain(block.words)}](figures/{block.file})\n\n*{_plain(block.caption)}*"
    return "\n".join(_lines(block))


def _lines(grid: Grid) -> Iterator[str]:
    yield _row(grid.head)
    yield _row(("---",) * len(grid.head))
    for row in grid.rows:
        yield _row(row)


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(_plain(cell) for cell in cells) + " |"


def _plain(text: str) -> str:
    """Keep a text from being read as Markdown or HTML."""
    return re.sub(r"([\\`*|~\[\]])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))


def html(page: Document, figures: Mapping[str, str]) -> str:
    """Write the page as one HTML file that loads nothing; figures, given as SVG, are inside."""
    inside = {name: _data(content) for name, content in figures.items()}
    template = environment("benchmarks.paper").get_template("page.html")
    colours = {"light": PALETTE["light"], "dark": PALETTE["dark"]}
    return template.render(page=page, figures=inside, **colours)


def _data(svg: str) -> str:
    content = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    return f"data:image/svg+xml;base64,{content}"
