"""Write the map of the packages into docs/modules.md, and count.

    python scripts/make_map.py
    python scripts/make_map.py --source OTHER/src

All of it is read from the code: first lines of docstrings, imports, and a run of `outlying explain`
that notes the modules it passes through. A test makes the parts anew and compares. With --source
the counts of another tree are printed and nothing is written.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
PAGE = ROOT / "docs" / "modules.md"

Graph: TypeAlias = Mapping[str, Iterable[str]]

_PACKAGE = "outlying"
_PART = re.compile(r"(<!-- map: (\w+) -->\n).*?(<!-- end of map -->)", re.DOTALL)
_ROWS = 60

#: Runs the command twice: nothing is loaded the second time, so that what runs is the work itself.
_RUNNER = """
import contextlib, io, json, os, runpy, sys, threading
root = os.path.join(sys.argv.pop(1), "outlying", "")
ran = set()
def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(root) and code.co_name != "<module>":
        ran.add(code.co_filename[len(root):])
for profile in (None, note):
    threading.setprofile(profile)
    sys.setprofile(profile)
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        runpy.run_module("outlying", run_name="__main__")
    sys.setprofile(None)
loaded = [name for name in sys.modules if name.partition(".")[0] == "outlying"]
print(json.dumps([sorted(ran), len(loaded)]))
"""


@dataclasses.dataclass(frozen=True)
class Module:
    """A module by its name below the package, with the modules that it imports."""

    name: str
    title: str  # the first line of its docstring
    lines: int
    is_package: bool
    imports: frozenset[str]  # while it is loaded
    later: frozenset[str]  # when a function of it runs

    @property
    def home(self) -> str:
        """The package, or the module of the root, that it belongs to."""
        return self.name.partition(".")[0]


@dataclasses.dataclass(frozen=True)
class Route:
    """What one explanation on the command line takes."""

    ran: frozenset[str]  # modules of which a function runs
    loaded: int  # modules that are imported


def modules(source: Path) -> dict[str, Module]:
    """Read all modules below a source folder; the package itself has the name ''."""
    root = source / _PACKAGE
    paths = {_name(path, root): path for path in sorted(root.rglob("*.py"))}
    return {name: _module(name, path, paths) for name, path in paths.items()}


def _name(path: Path, root: Path) -> str:
    return (
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix("__init__").strip(".")
    )


def _module(name: str, path: Path, known: Iterable[str]) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    found = {(_known(item, known), is_later) for item, is_later in imported(tree)}
    return Module(
        name=name,
        title=(ast.get_docstring(tree) or "").partition("\n")[0],
        lines=len(text.splitlines()),
        is_package=path.name == "__init__.py",
        imports=frozenset(item for item, is_later in found if item and not is_later),
        later=frozenset(item for item, is_later in found if item and is_later),
    )


def imported(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield what is imported, and whether a function has to run first; types alone do not count."""
    stack = [(tree, False)]
    while stack:
        node, is_later = stack.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        is_later |= isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if isinstance(node, ast.Import):
            yield from ((alias.name, is_later) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((f"{node.module}.{alias.name}", is_later) for alias in node.names)
        stack += [(child, is_later) for child in ast.iter_child_nodes(node)]


def _known(name: str, known: Iterable[str]) -> str:
    """Return the module of ours that holds an imported name, or '' where there is none."""
    name = name.removeprefix(f"{_PACKAGE}.")
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def levels(graph: Graph) -> dict[str, int]:
    """Return the longest chain of imports below each name, itself included.

    Names that import each other count as one (strongly connected components are contracted).
    """
    reached = {name: _reached(graph, name) for name in graph}

    @functools.cache
    def level(name: str) -> int:
        below = (other for other in reached[name] if name not in reached[other])
        return 1 + max(map(level, below), default=0)

    return {name: level(name) for name in graph}


def _reached(graph: Graph, start: str) -> set[str]:
    """Return all that a name imports, directly or through others."""
    found: set[str] = set()
    stack = [start]
    while stack:
        new = set(graph[stack.pop()]) - found
        found |= new
        stack += new
    return found


@dataclasses.dataclass(frozen=True)
class Order:
    """Packages and modules of the root, and what each imports."""

    graph: dict[str, set[str]]
    upwards: tuple[tuple[str, str], ...]  # inside functions, against the order

    @functools.cached_property
    def levels(self) -> list[list[str]]:
        """Names by the longest chain of imports below them, the ground first."""
        found: dict[int, list[str]] = {}
        for name, level in levels(self.graph).items():
            found.setdefault(level, []).append(name)
        return [sorted(found[level]) for level in sorted(found)]

    @property
    def names(self) -> list[str]:
        """All names, the ground first."""
        return [name for level in self.levels for name in level]


def order(found: Mapping[str, Module]) -> Order:
    """Put packages in the order of their imports.

    An import inside a function counts as long as it does not close a circle.
    """
    graph = _homes(found, lambda module: module.imports)
    upwards = []
    for own, others in sorted(_homes(found, lambda module: module.later).items()):
        for other in sorted(others - graph[own]):
            if own in _reached(graph, other):
                upwards.append((own, other))
            else:
                graph[own].add(other)
    return Order(graph, tuple(upwards))


def _homes(
    found: Mapping[str, Module], imports: Callable[[Module], Iterable[str]]
) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {module.home: set() for module in found.values() if module.home}
    for module in found.values():
        if module.home:
            graph[module.home] |= {found[name].home for name in imports(module)} - {module.home}
    return graph


def route(source: Path) -> Route:
    """Explain a row of a small table, and note the modules that this passes through."""
    lines = [f"{place % 7},{place * place % 11},{'abc'[place % 3]}" for place in range(_ROWS)]
    with tempfile.TemporaryDirectory() as folder:
        orders = Path(folder) / "orders.csv"
        orders.write_text("\n".join(["amount,items,country", *lines]), encoding="utf-8")
        done = subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", _RUNNER, source, "explain", orders, "--row", "17"],
            env=os.environ | {"PYTHONPATH": str(source), "OUTLYING_KERNEL": "numpy"},
            capture_output=True,
            check=True,
            text=True,
        )
    ran, loaded = json.loads(done.stdout)
    return Route(frozenset(_name(Path(path), Path()) for path in ran), loaded)


def parts() -> dict[str, str]:
    """Return the parts of the page that are made here, by their names."""
    found = modules(SOURCE)
    known = order(found)
    return {
        "modules": _modules_part(found, known),
        "order": _order_part(known),
        "imports": _imports_part(known),
        "route": _route_part(route(SOURCE).ran, known),
    }


def page(made: Mapping[str, str]) -> str:
    """Return the page with its parts replaced by those that were made."""
    text = PAGE.read_text(encoding="utf-8")
    return _PART.sub(lambda part: f"{part[1]}{made[part[2]]}\n{part[3]}", text)


def _modules_part(found: Mapping[str, Module], known: Order) -> str:
    rows = [("module", "what it holds"), ("---", "---")]
    for home in known.names:
        inner = (module for module in found.values() if module.home == home)
        rows += map(_row, sorted(inner, key=_place))
    return "\n".join(f"| {name} | {title} |" for name, title in rows)


def _place(module: Module) -> tuple[str, str]:
    """Sort the modules of a package before the packages inside it."""
    inside, _, own = module.name.rpartition(".")
    return (module.name, "") if module.is_package else (inside, own)


def _row(module: Module) -> tuple[str, str]:
    path = module.name.replace(".", "/")
    title = module.title.replace("|", r"\|")
    return (f"**`{path}/`**", f"**{title}**") if module.is_package else (f"`{path}`", title)


def _order_part(known: Order) -> str:
    lines = [", ".join(names) for names in reversed(known.levels)]
    upwards = [
        f"Inside functions only, against this order: `{own}` imports `{other}`."
        for own, other in known.upwards
    ]
    return "\n\n".join(["```text\n" + "\n  |\n".join(lines) + "\n```", *upwards])


def _imports_part(known: Order) -> str:
    rows = ["| package | imports |", "| --- | --- |"]
    for own in known.names:
        others = [f"`{other}`" for other in known.names if other in known.graph[own]]
        rows.append(f"| `{own}` | {', '.join(others) or '-'} |")
    return "\n".join(rows)


def _route_part(ran: Iterable[str], known: Order) -> str:
    rows = ["| package | modules |", "| --- | --- |"]
    for home in reversed(known.names):
        inner = sorted(name for name in ran if name.partition(".")[0] == home)
        shown = ", ".join(f"`{name.partition('.')[2].replace('.', '/') or name}`" for name in inner)
        rows += [f"| `{home}` | {shown} |"] if inner else []
    return "\n".join(rows)


def counts(source: Path) -> dict[str, int]:
    """Count what a newcomer has to find the way through."""
    found = modules(source)
    homes = _homes(found, lambda module: module.imports | module.later)
    chains = levels({name: module.imports for name, module in found.items()})
    taken = route(source)
    roots = [name for name, module in found.items() if not (name and module.is_package)]
    return {
        "modules in the root": sum("." not in name for name in roots),
        "import levels (chain of packages and root modules)": max(levels(homes).values()),
        "longest chain of modules that load each other": max(chains.values()),
        "modules": len(found),
        "lines": sum(module.lines for module in found.values()),
        "modules that an explanation passes through": len(taken.ran),
        "modules that it loads": taken.loaded,
    }


def main() -> None:
    """Write the parts, or only count."""
    parser = argparse.ArgumentParser(description="Write the map of the packages, and count.")
    parser.add_argument("--source", type=Path, help="count there, and write nothing")
    source = parser.parse_args().source
    if source is None:
        PAGE.write_text(page(parts()), encoding="utf-8")
    for name, count in counts((source or SOURCE).resolve()).items():
        sys.stdout.write(f"{count:>7,}  {name}\n")


if __name__ == "__main__":
    main()
