"""How often wrong cells are named, beside other tools.

python -m benchmarks.quality.errors --data ../shared/data -o benchmarks/results/errors.md
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

from benchmarks.quality.errors.plan import FULL, MIDDLE, PARTS, SHORT, Settings, left_out
from benchmarks.quality.errors.report import page
from benchmarks.quality.errors.run import Row, failures, run_all
from benchmarks.quality.errors.summary import to_json


def main() -> int:
    args = _parser().parse_args()
    settings = Settings(
        parts=tuple(args.only),
        data=args.data,
        amounts=SHORT if args.short else MIDDLE if args.middle else FULL,
        has_peers=not args.short if args.peers is None else args.peers,
        seed=args.seed,
    )
    signal.signal(signal.SIGTERM, _terminated)
    for note in left_out(settings):
        print(note, file=sys.stderr)
    try:
        rows = run_all(settings, args.jobs)
    except KeyboardInterrupt:
        print("interrupted; nothing is written", file=sys.stderr)
        return 130
    text = page(rows, settings)
    print(text)
    if args.output:
        args.output.write_text(text, encoding="utf-8")
        args.output.with_suffix(".json").write_text(_json(rows), encoding="utf-8")
    return 1 if failures(rows) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.errors", description="Find wrong cells."
    )
    parser.add_argument("--data", type=Path, help="the folder with dirty/")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART",
                        help=f"some of {', '.join(PARTS)}")  # fmt: skip
    parser.add_argument("--short", action="store_true", help="a few rows of each, without peers")
    parser.add_argument("--middle", action="store_true", help="about a third of a full run")
    parser.add_argument(
        "--peers",
        action=argparse.BooleanOptionalAction,
        help="with the other tools; by default in a full run",
    )
    parser.add_argument("--seed", type=int, default=0, help="other errors in the same tables")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("-o", "--output", type=Path, help="the report; JSON goes beside it")
    return parser


def _terminated(*_: object) -> NoReturn:
    """Leave by an exception, so that the workers end, too."""
    sys.exit(143)


def _json(rows: Sequence[Row]) -> str:
    """Write one line for each row that was explained, and indent the rest."""
    content = to_json(rows)
    lines = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in content.pop("rows"))
    head = json.dumps(content, indent=1, ensure_ascii=False)
    return f'{head[:-2]},\n "rows": [\n  {lines}\n ]\n}}\n'


if __name__ == "__main__":
    sys.exit(main())
