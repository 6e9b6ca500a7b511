"""The command: measure, store as JSON, and write the report from what is stored.

    python -m benchmarks.speed --data ../shared/data -o benchmarks/results/speed.md

`--only PART` (repeat it for more) measures some parts again; the other figures stay as they are.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from benchmarks.machine import machine
from benchmarks.speed.lab import SHORT, Lab, Sizes
from benchmarks.speed.parts import PARTS
from benchmarks.speed.plot import plot
from benchmarks.speed.report import Part, page

OTHERS = ("pandas", "outliertree", "scikit-learn", "shap")
#: Which sizes a part says above its table, and how.
SAID = {
    "one": "{rows:,} x {columns}.",
    "fresh": "{rows:,} x {columns}.",
    "judged": "{rows:,} x {columns}; 1,000 x {wide[1]}; {large:,} x {columns}.",
    "million": "{large:,} x {columns}.",
    "limit": "{large:,} x {columns}.",
    "many": "{objects:,} rows of {rows:,} x {columns}.",
    "wide": "1,000 rows.",
    "detection": "1,000 x {wide[1]}; {rows:,} x {columns}; {large:,} x {columns}.",
    "scaling": "{columns} columns; 1,000 rows; {scaling_table[0]:,} x {scaling_table[1]}.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that are asked for."""
    args = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminated)
    store = args.output.with_suffix(".json") if args.output else None
    parts: dict[str, Part] = {}
    if args.only and store and store.exists():
        parts = json.loads(store.read_text(encoding="utf-8"))["parts"]
    sizes = _sizes(args)
    try:
        for name in args.only or PARTS:
            parts[name] = run(name, sizes, args.data, is_short=args.short)
            if store:  # what was measured is kept, whatever happens next
                _store(parts, store)
    except KeyboardInterrupt:
        print("interrupted; finished parts are kept", file=sys.stderr)
        return 130
    write(parts, args.output)
    return 0


def run(name: str, sizes: Sizes, data: Path | None, *, is_short: bool) -> Part:
    """Measure one part."""
    print(f"{name}:", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="outlying-speed-") as folder:
        lab = Lab(sizes, data, Path(folder))
        PARTS[name](lab)
    return {
        "machine": machine(*OTHERS),
        "sizes": SAID.get(name, "").format(**dataclasses.asdict(sizes)),
        "repeats": sizes.repeats,
        "is_short": is_short,
        "figures": lab.figures,
    }


def write(parts: dict[str, Part], output: Path | None) -> None:
    """Write the report, the picture beside it; without a place, print the report."""
    if output is None:
        print(page(parts, None))
        return
    picture = output.with_suffix(".svg")
    is_drawn = plot(parts.get("scaling", {}).get("figures", {}), picture)
    output.write_text(page(parts, picture.name if is_drawn else None), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed", description="Measure speed and memory."
    )
    parser.add_argument("--data", type=Path, help="folder with ecoli.csv, yeast.csv, cloud.csv")
    parser.add_argument("--short", action="store_true", help="small tables, for a quick look")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="repeat for more")
    parser.add_argument("--repeats", type=int, help="processes for each figure: 3, or 1 if short")
    parser.add_argument("--patience", type=float, help="seconds given to one measurement")
    parser.add_argument("-o", "--output", type=Path, help="the report; JSON and SVG go beside it")
    return parser


def _sizes(args: Any) -> Sizes:
    sizes = SHORT if args.short else Sizes()
    given = {"repeats": args.repeats, "patience": args.patience}
    return dataclasses.replace(sizes, **{name: value for name, value in given.items() if value})


def _store(parts: dict[str, Part], path: Path) -> None:
    ordered = {name: parts[name] for name in PARTS if name in parts}
    text = json.dumps({"parts": ordered}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def _terminated(*_: object) -> NoReturn:
    """Leave by an exception, so that what was started ends, too."""
    sys.exit(143)


if __name__ == "__main__":
    sys.exit(main())
