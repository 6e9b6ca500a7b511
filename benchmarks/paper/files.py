"""The files of the page: figures first, the page itself last, each whole or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.paper import figures
from benchmarks.paper.document import html, markdown
from benchmarks.paper.page import document
from benchmarks.paper.results import Results
from outlying.errors import OutputError
from outlying.render.files import Output

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
    """Return the content of all files by their path in the output folder."""
    drawn, page = figures_of(found), document(found)
    named = {f"{FOLDER}/{name}": content for name, content in drawn.items()}
    return named | {"paper.md": markdown(page), "paper.html": html(page, drawn)}


@contextlib.contextmanager
def prepared(folder: Path) -> Iterator[None]:
    """Make the folder before the work begins, so that none is lost; where it fails, leave none."""
    inner = folder / FOLDER
    new = [path for path in (inner, *inner.parents) if not path.exists()]
    try:
        _make(inner, folder)
        yield
    except BaseException:
        for path in new:
            with contextlib.suppress(OSError):  # it holds something, or was never made
                path.rmdir()
        raise


def _make(inner: Path, folder: Path) -> None:
    try:
        inner.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {folder}: {error.strerror}") from None
    for path in (folder, inner):
        with Output.to(str(path / "paper.html")):  # says where it cannot be written
            pass


def write(files: Mapping[str, str], folder: Path, data: Path) -> None:
    """Write the files, but not to one of those that the data are in."""
    for name, content in files.items():
        with Output.to(str(folder / name), [str(data)]) as out:
            out.write(content)
