"""How good the explanations are, beside those of other tools.

python -m benchmarks.quality --hics DIR -o benchmarks/results/quality.md \
    --plot benchmarks/results/quality.svg
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from benchmarks.quality import peers
from benchmarks.quality.ours import Ours
from benchmarks.quality.plan import SUITES, Settings, left_out, plan
from benchmarks.quality.plot import plot
from benchmarks.quality.report import page
from benchmarks.quality.run import Run, run_all
from benchmarks.quality.summary import failures, figures, to_json


def main() -> int:
    args = _parser().parse_args()
    settings = _settings(args)
    signal.signal(signal.SIGTERM, _terminated)
    for note in left_out(settings):
        print(note, file=sys.stderr)
    try:
        runs = run_all(plan(settings), args.jobs)
    except KeyboardInterrupt:
        print("interrupted; nothing is written", file=sys.stderr)
        return 130
    _write(runs, settings, args.output, args.plot)
    return 1 if failures(runs) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality", description="Measure explanations by known answers."
    )
    parser.add_argument("--hics", type=Path, help="the folder with hics_*.csv")
    parser.add_argument("--short", action="store_true", help="a few small tables, without peers")
    parser.add_argument(
        "--peers",
        action=argparse.BooleanOptionalAction,
        help="with the other tools; by default in a full run",
    )
    parser.add_argument("--seeds", type=int, help="planted tables per kind: 12, in a short run 1")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--only", type=_suites, default=SUITES, help=f"some of {','.join(SUITES)}")
    parser.add_argument("-o", "--output", type=Path, help="the report; JSON goes beside it")
    parser.add_argument("--plot", type=Path, help="an SVG of F1 against the number of columns")
    return parser


def _suites(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - set(SUITES):
        raise argparse.ArgumentTypeError(f"{sorted(unknown)}; allowed: {', '.join(SUITES)}")
    return names


def _settings(args: argparse.Namespace) -> Settings:
    return Settings(
        suites=args.only,
        hics=args.hics,
        seeds=args.seeds or (1 if args.short else 12),
        is_short=args.short,
        has_peers=not args.short if args.peers is None else args.peers,
    )


def _terminated(*_: object) -> NoReturn:
    """Leave by an exception, so that the workers end, too."""
    sys.exit(143)


def _write(
    runs: Sequence[Run], settings: Settings, output: Path | None, picture: Path | None
) -> None:
    address = None
    if picture and plot(figures(runs), settings.methods, picture):
        address = os.path.relpath(picture, output.parent if output else Path())
    elif picture:
        print(f"no plot: it needs HiCS tables and matplotlib: {peers.INSTALL}", file=sys.stderr)
    text = page(runs, settings, address)
    if output is None:
        print(text)
        return
    output.write_text(text, encoding="utf-8")
    output.with_suffix(".json").write_text(_json(runs), encoding="utf-8")


def _json(runs: Sequence[Run]) -> str:
    """Write one line for each row that was explained, and indent the rest."""
    content = to_json(runs, Ours.name)
    rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in content.pop("rows"))
    head = json.dumps(content, indent=1, ensure_ascii=False)
    return f'{head[:-2]},\n "rows": [\n  {rows}\n ]\n}}\n'


if __name__ == "__main__":
    sys.exit(main())
