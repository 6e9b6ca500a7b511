"""The files of the page: figures first, the page itself last, each whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from outlying.errors import OutputError
from outlying.output import Output
from outlying.paper import figures
from outlying.paper.document import html, markdown
from outlying.paper.page import document
from outlying.paper.results import Results

FOLDER = "figures"


def figures_of(found: Results) -> dict[str, str]:
    """Draw all figures, by file name."""
    drawn = {
        "heights.svg": figures.example(found.examples.centimetres),
        "gaussian.svg": figures.example(found.examples.gaussian),
        **{f"{item.claim.name.lower()}.svg": figures.explained(item) for item in found.tables},
        "times.svg": figures.times(found.times),
        "unif2-bins.svg": figures.bins(found.unif2),
        "unif2-histograms.svg": figures.histograms(found.unif2.histograms),
        "unif2-density.svg": figures.density(found.unif2),
        "unif2-seeds.svg": figures.seeds(found.unif2.samples),
    }
    return {name: figures.svg(figure) for name, figure in drawn.items()}


def files_of(found: Results) -> dict[str, str]:
    """Give the content of all files by their path in the output folder."""
    drawn, page = figures_of(found), document(found)
    named = {f"{FOLDER}/{name}": content for name, content in drawn.items()}
    return named | {"paper.md": markdown(page), "paper.html": html(page, drawn)}


def prepare(folder: Path) -> None:
    """Make the folder before the work begins, so that none is lost."""
    try:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {folder}: {error.strerror}") from None


def write(files: Mapping[str, str], folder: Path) -> None:
    """Write the files."""
    for name, content in files.items():
        with Output.to(str(folder / name)) as out:
            out.write(content)
