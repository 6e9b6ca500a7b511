"""Compile the kernel when the package is built; without a C compiler it works by NumPy.

OUTLYING_BUILD_KERNEL=required makes a failure an error, OUTLYING_BUILD_KERNEL=skip does not try.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_VARIABLE = "OUTLYING_BUILD_KERNEL"
_KERNEL = Path("outlying", "kernel")


class KernelBuildHook(BuildHookInterface[Any]):
    """Puts the builds of the kernel beside its source: in the wheel, or in place for work on it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell what is to be shipped, for which platform."""
        wanted = os.environ.get(_VARIABLE, "")
        if wanted not in ("", "required", "skip"):
            raise ValueError(f"{_VARIABLE} is {wanted!r}; allowed: 'required' or 'skip'")
        if self.target_name != "wheel" or wanted == "skip":
            return
        source = Path(self.root, "src", _KERNEL)
        build = _module(source / "build.py")
        folder = build.BUILDS if version == "editable" else Path(self.root, "build", "kernel")
        try:
            paths = build.built(folder)
        except build.BuildError as error:
            if wanted == "required":
                raise
            self.app.display_warning(f"{error}\noutlying works without, by NumPy, but slower")
            return
        if version != "editable":
            build_data["force_include"].update(
                {
                    str(p): str(_KERNEL / "builds" / p.name)
                    for path in paths
                    for p in (path, build.record_of(path))
                }
            )
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{_platform()}"


def _platform() -> str:
    """Return the platform of what was compiled: one processor, also where Python is for several."""
    name = sysconfig.get_platform().replace("universal2", platform.machine())
    return name.replace("-", "_").replace(".", "_")


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_kernel", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
