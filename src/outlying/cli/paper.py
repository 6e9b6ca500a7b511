"""`outlying paper`: the paper's examples and experiments on one page."""

from __future__ import annotations

from pathlib import Path

import click

from outlying.cli.terminal import progress_line
from outlying.errors import harmless


@click.command()
@click.option(
    "--data",
    required=True,
    metavar="FOLDER",
    help="Where ecoli.csv, yeast.csv and cloud.csv are.",
)
@click.option("-o", "--output", required=True, metavar="FOLDER", help="Where the page goes.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Seeds for detection, samples of Unif2.",
)
def paper(data: str, output: str, seeds: int) -> None:
    """Compute the paper's examples and experiments again.

    Writes paper.md, paper.html and figures: the paper's numbers, ours, and why they differ. Takes
    one to two minutes.
    """
    from outlying.paper import files, results, tables  # they need matplotlib

    folder = Path(output)
    with progress_line() as line:
        tables.check_files(Path(data))
        with files.prepared(folder):
            found = results.compute(Path(data), seeds, line.stage)
            written = files.files_of(found)
    try:
        files.write(written, folder, Path(data))
    except KeyboardInterrupt:
        said = f"Interrupted; some files in {folder} are new, others not. Run it again."
        raise KeyboardInterrupt(said) from None
    said = f"Wrote {folder / 'paper.html'}, {folder / 'paper.md'} and their figures."
    click.echo(harmless(said))
