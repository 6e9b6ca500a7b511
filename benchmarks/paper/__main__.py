"""Do the paper's examples and experiments come out? One page with its numbers beside ours.

    python -m benchmarks.paper --data FOLDER -o page

Writes paper.md, paper.html and figures: the paper's numbers, ours, and why they differ. FOLDER
holds ecoli.csv, yeast.csv and cloud.csv. Takes one to two minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from outlying import OutlyingError
from outlying.cli.terminal import progress_line


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the page; what the user can repair exits with code 2."""
    parser = argparse.ArgumentParser(prog="benchmarks.paper", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="where the paper's tables are")
    parser.add_argument("-o", "--output", type=Path, required=True, help="where the page goes")
    parser.add_argument("--seeds", type=int, default=20, help="of detection, samples of Unif2")
    given = parser.parse_args(arguments)
    if given.seeds < 1:
        parser.error(f"--seeds is {given.seeds}; allowed: 1 or more")
    try:
        make_page(given.data, given.output, given.seeds)
    except OutlyingError as error:
        parser.error(str(error))
    except KeyboardInterrupt as stop:
        print(str(stop) or "Interrupted; nothing was written.", file=sys.stderr)
        sys.exit(130)


def make_page(data: Path, folder: Path, seeds: int) -> None:
    """Compute everything, then write the files."""
    from benchmarks.paper import files, results, tables  # they need matplotlib

    with progress_line() as line:
        tables.check_files(data)
        with files.prepared(folder):
            written = files.files_of(results.compute(data, seeds, line.stage))
    try:
        files.write(written, folder, data)
    except KeyboardInterrupt:
        partly = f"Interrupted; some files in {folder} are new, others not. Run it again."
        raise KeyboardInterrupt(partly) from None
    print(f"Wrote {folder / 'paper.html'}, {folder / 'paper.md'} and their figures.")


if __name__ == "__main__":
    main()
