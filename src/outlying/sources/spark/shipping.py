"""Work that executors can do, even where this package is not installed on them.

Spark's own ways of sending a package (addPyFile, addArtifacts) change the user's session for good
and are not open in every kind of session. Here the sources travel with the task and are loaded
from memory, only where the same version is not installed. Executors need numpy and pyarrow.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterator
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from outlying.sources.passes import Batch

Task: TypeAlias = "Callable[[Iterator[Batch]], Iterator[Batch]]"

PACKAGE = "outlying"


def task_of(step: Callable[..., Iterator[Batch]], *given: object) -> Task:
    """Wrap a step and what it is given for executors: step(batches, *given).

    Step and arguments are unpickled only after their modules can be found there.
    """
    return _self_contained(PACKAGE, sources(), pickle.dumps((step, given)))


@functools.cache
def sources() -> dict[str, tuple[bool, str]]:
    """Return for each module of this package whether it is a package, and its source."""
    return dict(_modules(PACKAGE, resources.files(PACKAGE)))


def _modules(name: str, folder: Traversable) -> Iterator[tuple[str, tuple[bool, str]]]:
    for entry in folder.iterdir():
        if entry.is_dir() and (entry / "__init__.py").is_file():
            yield from _modules(f"{name}.{entry.name}", entry)
        elif entry.name == "__init__.py":
            yield name, (True, entry.read_text(encoding="utf-8"))
        elif entry.name.endswith(".py"):
            stem = entry.name.removesuffix(".py")
            yield f"{name}.{stem}", (False, entry.read_text(encoding="utf-8"))


def _self_contained(package: str, modules: dict[str, tuple[bool, str]], work: bytes) -> Task:
    """Make a function that is pickled by value: it names nothing of this module."""

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib.abc
        import importlib.util
        import pickle
        import sys

        class Shipped(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
            def find_spec(self, name: str, *_: Any) -> Any:
                known = name in modules
                return importlib.util.spec_from_loader(name, self) if known else None

            def is_package(self, name: str) -> bool:
                return modules[name][0]

            def get_source(self, name: str) -> str:
                return modules[name][1]

        def installed() -> bool:
            spec = importlib.util.find_spec(package)
            loader: Any = spec and spec.loader
            return bool(loader) and loader.get_source(package) == modules[package][1]

        if not installed():
            for name in [name for name in sys.modules if name.split(".")[0] == package]:
                del sys.modules[name]
            sys.meta_path.insert(0, Shipped())
        step, given = pickle.loads(work)  # noqa: S301 (pickled by the driver)
        yield from step(batches, *given)

    return task
