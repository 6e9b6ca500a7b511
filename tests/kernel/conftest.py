"""Builds of the present source."""

from __future__ import annotations

import os

import pytest

from outlying.kernel import build
from outlying.kernel.library import Kernel
from tests.kernel.builds import PORTABLE, SANITIZED


@pytest.fixture(scope="session", params=[*build.names(), PORTABLE])
def kernel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """A build of the present source; those that this processor cannot run are skipped."""
    name, folder = str(request.param), tmp_path_factory.mktemp("kernel")
    flags = ("-U__SSE2__",) if name == PORTABLE else build.flags_of(name)
    if os.environ.get(SANITIZED):
        flags = (*build.SANITIZED, *flags)
    path = build.path_of(name)
    if name == PORTABLE or os.environ.get(SANITIZED) or not path.exists() or build.fault_of(path):
        try:
            path = build.compile_to(build.path_of(name, folder), flags)
        except build.BuildError as error:
            pytest.skip(str(error))
    found = Kernel(name, path)
    if found.level() and found.level() < build.LEVELS.get(name, 0):
        pytest.skip(f"this processor cannot run {name}")
    return found
