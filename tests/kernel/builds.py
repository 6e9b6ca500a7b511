"""What tests of compiled code share: how much is tried, which builds there are, which is used."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest

from outlying.kernel import library
from outlying.kernel.library import Kernel

SANITIZED = "OUTLYING_TEST_SANITIZED"
PORTABLE = "portable"  # without instructions of x86
LESS = 20 if os.environ.get(SANITIZED) else 1  # such a build is slow


@contextlib.contextmanager
def used(kernel: Kernel | None) -> Iterator[None]:
    """Compute by this build; by NumPy without one."""
    with pytest.MonkeyPatch.context() as patch:
        if kernel is None:
            patch.setenv(library.VARIABLE, "numpy")
        else:
            patch.setattr(library, "_loaded", lambda _: kernel)
            patch.delenv(library.VARIABLE, raising=False)
        yield
